//! Simulations against recorded captures of the same set-up, through the same analysis.

use std::collections::BTreeMap;

use nicsim_core::grid::Period;
use nicsim_core::stats::{Summary, Unit};
use nicsim_models::frame::FrameRecord;
use nicsim_models::observer::CaptureRecord;
use nicsim_scenarios::run::{RunOptions, run};
use nicsim_scenarios::scenario::{DEFAULT_SEED, Scenario};
use rayon::prelude::*;
use serde::Deserialize;

use crate::analyse::{Analysis, analyse};
use crate::compare::{Counts, Standing, standings};
use crate::published::JudgeError;
use crate::recording::{Capture, Captured, Kind, ReadOptions, efcc, read};
use crate::tolerance::{RARE_SHARE, RUNS, STANDARD_ERRORS, WIDEST_ERROR};
use crate::verdict::{Outcome, Verdict, number};

const LIST: &str = include_str!("../../data/recordings.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    recording: Vec<Recording>,
}

/// A recorded capture and the simulation of its set-up.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// Its name.
    pub name: String,
    /// File below the traces folder.
    pub capture: String,
    /// A second capture of the same frames.
    pub against: Option<String>,
    /// Frames left out at the start.
    #[serde(default)]
    pub skip: u64,
    /// The metric that is compared.
    pub metric: String,
    /// The scenario.
    pub scenario: String,
    /// What differs in it from run to run.
    #[serde(default)]
    pub set: Vec<String>,
    /// What of the simulation was fitted to this very recording.
    pub fitted: String,
}

/// Gives the bytes of a file below the traces folder.
pub type Traces<'a> = &'a (dyn Fn(&str) -> std::io::Result<Vec<u8>> + Sync);

/// All recorded captures.
///
/// # Errors
/// [`JudgeError::List`] when the list itself is wrong.
pub fn recordings() -> Result<Vec<Recording>, JudgeError> {
    toml::from_str::<List>(LIST).map(|list| list.recording).map_err(|error| JudgeError::List(error.to_string()))
}

/// Judges one recording.
///
/// # Errors
/// [`JudgeError`] when its scenario cannot be run.
pub fn judge(recording: &Recording, traces: Traces<'_>) -> Result<Verdict, JudgeError> {
    let measured = match measured(recording, traces) {
        Ok(analysis) => analysis,
        Err(reason) => return Ok(skipped(recording, reason)),
    };
    let Some(summary) = measured.metrics.get(&recording.metric) else {
        return Ok(skipped(recording, format!("the capture has no {}", recording.metric)));
    };
    let scenario = Scenario::open(&recording.scenario, &recording.set, &|path| Err(format!("{path}: not read here")))?;
    let runs: Vec<Counts> = (0..RUNS)
        .into_par_iter()
        .map(|k| Ok(counts(simulated(&scenario, DEFAULT_SEED + k)?.metrics.get(&recording.metric))))
        .collect::<Result<_, JudgeError>>()?;
    Ok(verdict(recording, &counts(Some(summary)), &runs))
}

fn measured(recording: &Recording, traces: Traces<'_>) -> Result<Analysis, String> {
    let open = |file: &str, skip: u64| {
        let bytes = traces(file).map_err(|error| format!("{file}: {error}"))?;
        read(&bytes, file, &ReadOptions { skip, ..ReadOptions::default() }).map_err(|error| error.to_string())
    };
    let capture = open(&recording.capture, recording.skip)?;
    let against = recording.against.as_deref().map(|file| open(file, recording.skip)).transpose()?;
    Ok(analyse(&capture, None, against.as_ref()))
}

/// What instruments and software hold after a run: ground truth is dropped here.
fn simulated(scenario: &Scenario, seed: u64) -> Result<Analysis, JudgeError> {
    let mut records: Vec<FrameRecord> = Vec::new();
    run(scenario, RunOptions { seed, ..RunOptions::default() }, &mut records, &mut |_| true)?;
    let observer = scenario.setup.observer.as_ref().map(|observer| observer.parameters.tick);
    let sender = scenario.setup.sender.as_ref().and_then(|sender| sender.parameters.clock);
    let sent = instrument("sent", sender, records.iter().filter_map(|record| record.sent));
    let observed = instrument("observed", observer, records.iter().filter_map(|record| record.observed));
    let stamps = stamps(&records);
    let (capture, against) = match (observed, stamps, sent) {
        (Some(observed), _, sent) => (observed, sent),
        (None, Some(stamps), sent) => (stamps, sent),
        (None, None, Some(sent)) => (sent, None),
        (None, None, None) => return Err(JudgeError::List(format!("{} records nothing", scenario.file.name))),
    };
    Ok(analyse(&capture, None, against.as_ref()))
}

fn instrument(name: &str, tick: Option<Period>, records: impl Iterator<Item = CaptureRecord>) -> Option<Capture> {
    efcc::from_records(name, tick?, records.map(|record| (record.id, record.count))).ok()
}

/// Receive stamps as a plain list of nanoseconds.
fn stamps(records: &[FrameRecord]) -> Option<Capture> {
    let stamps: Vec<u64> = records.iter().filter_map(|record| record.rx_stamp.map(|stamp| stamp.ns)).collect();
    let first = *stamps.first()?;
    let frame = |ns: &u64| Captured { id: None, at: ns.wrapping_sub(first) as i64, size: None };
    Some(Capture {
        file: "receive stamps".to_owned(),
        kind: Kind::Csv,
        unit: Unit::Ticks(Period::whole(1_000)?),
        origin: i128::from(first),
        frames: stamps.iter().map(frame).collect(),
        left_out: BTreeMap::new(),
        notes: Vec::new(),
    })
}

/// Counts by value in picoseconds, from a summary's bins.
fn counts(summary: Option<&Summary>) -> Counts {
    let Some(histogram) = summary.and_then(|summary| summary.histogram.as_ref()) else {
        return Counts::new();
    };
    let value = |bin: usize| ((histogram.first_ns + bin as f64 * histogram.bin_ns) * 1_000.0).round() as i64;
    let filled = histogram.counts.iter().enumerate().filter(|(_, count)| **count > 0);
    filled.map(|(bin, count)| (value(bin), *count)).collect()
}

fn verdict(recording: &Recording, recorded: &Counts, runs: &[Counts]) -> Verdict {
    let standings = standings(recorded, runs);
    // A value that hardly a run shows, and the recording does not, says nothing.
    let told: Vec<&Standing> = standings.iter().filter(|s| s.recorded > 0 || s.occurs >= 1.0 - RARE_SHARE).collect();
    let same_support = standings.iter().all(|s| if s.recorded > 0 { s.occurs > 0.0 } else { s.occurs < RARE_SHARE });
    let frames: u64 = recorded.values().sum();
    let telling = told.iter().all(|s| s.error <= WIDEST_ERROR * frames as f64);
    let near = told.iter().all(|s| s.z().abs() <= STANDARD_ERRORS);
    let list = |text: fn(&Standing) -> String| {
        told.iter().map(|s| format!("{}: {}", number(s.value as f64 / 1_000.0), text(s))).collect::<Vec<_>>().join(", ")
    };
    let rare: Vec<String> = standings
        .iter()
        .filter(|s| s.occurs > 0.0 && s.occurs < RARE_SHARE)
        .map(|s| format!("{} ns occurs in {:.0} % of the runs", number(s.value as f64 / 1_000.0), s.occurs * 100.0))
        .collect();
    let rare = if rare.is_empty() { String::new() } else { format!("; {}", rare.join(", ")) };
    Verdict {
        measured: list(|s| s.recorded.to_string()),
        simulated: list(|s| format!("{:.1} +- {:.1} (z {:+.1})", s.mean, s.error, s.z())),
        verdict: match (same_support && near, telling) {
            (true, true) => Outcome::Pass,
            (true, false) => Outcome::Inconclusive,
            (false, _) => Outcome::Fail,
        },
        reason: format!(
            "same values, each count within {STANDARD_ERRORS} standard errors of {RUNS} runs{rare}; fitted: {}",
            recording.fitted
        ),
        ..base(recording)
    }
}

fn skipped(recording: &Recording, reason: String) -> Verdict {
    Verdict { verdict: Outcome::Skipped, reason, ..base(recording) }
}

fn base(recording: &Recording) -> Verdict {
    let settings = if recording.set.is_empty() { String::new() } else { format!(" with {}", recording.set.join(", ")) };
    Verdict {
        name: recording.name.clone(),
        figure: format!("counts of {}", recording.metric),
        unit: "frames".to_owned(),
        measured: String::new(),
        simulated: String::new(),
        tolerance: format!("{STANDARD_ERRORS} standard errors"),
        verdict: Outcome::Skipped,
        reason: String::new(),
        source: format!("recorded capture {}; simulated by {}{settings}", recording.capture, recording.scenario),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_scatter_too_much_judge_nothing() {
        let recording = recordings().unwrap().remove(0);
        let counts = |near: u64| Counts::from([(672_000, 9_000 - near), (680_000, near)]);
        let outcome = |runs: &[Counts]| verdict(&recording, &counts(100), runs).verdict;
        assert_eq!(outcome(&[counts(95), counts(105)]), Outcome::Pass);
        assert_eq!(outcome(&[counts(1), counts(900)]), Outcome::Inconclusive);
        assert_eq!(outcome(&[counts(300), counts(310)]), Outcome::Fail);
    }
}
