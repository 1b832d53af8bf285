//! `--dry-run`: what a sweep would take.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use nicsim_core::sink::Null;
use nicsim_scenarios::run::{RunOptions, run};
use nicsim_scenarios::scenario::{Loader, Scenario};
use nicsim_scenarios::sweep::{Shard, Sweep};

use super::folder::peak_memory;
use crate::failure::Failure;

/// Points that are looked at one by one for their number and their frames; beyond, a part of them stands for all.
const LOOKED_AT: u64 = 10_000;
/// The probe runs this long at most.
const PROBE: Duration = Duration::from_millis(500);

/// What was found out about the points.
#[derive(Default)]
struct Survey {
    /// Points that were looked at, those that the constraints leave in, and those that cannot be run.
    seen: u64,
    admitted: u64,
    failing: u64,
    frames: u64,
    resolving: Duration,
    first: Option<Scenario>,
}

/// Number of points, runs and frames; time and memory as the first point lets expect them.
pub(super) fn estimate(sweep: &Sweep, shard: Shard, threads: usize, load: Loader<'_>) -> Result<String, Failure> {
    let points = shard.points(sweep.plan().points());
    let survey = survey(sweep, shard, points, load);
    let scale = points as f64 / survey.seen.max(1) as f64;
    let about = if survey.seen < points { "about " } else { "" };
    let whole = |value: f64| format!("{about}{}", grouped(value.round() as u64));
    let repeat = sweep.plan().repeat() as f64;
    let runs = survey.admitted as f64 * scale * repeat;
    let frames = survey.frames as f64 * scale * repeat;
    let mut text = String::new();
    let left_out = points as f64 - survey.admitted as f64 * scale;
    let _ = writeln!(text, "scenario  {}", sweep.definition().scenario);
    let _ = writeln!(
        text,
        "points    {}{}",
        grouped(points),
        if sweep.plan().is_constrained() {
            format!(", {} of them left out by constraints", whole(left_out))
        } else {
            String::new()
        }
    );
    let _ = writeln!(text, "runs      {}", whole(runs));
    let _ = writeln!(text, "frames    {}", whole(frames));
    if survey.failing > 0 {
        let _ = writeln!(
            text,
            "failing   {} points cannot be run; their rows will say why",
            whole(survey.failing as f64 * scale)
        );
    }
    if let Some(scenario) = &survey.first {
        let per_frame = probe(scenario)?;
        let resolving = survey.resolving.as_secs_f64() / survey.seen.max(1) as f64;
        let work = frames * per_frame + runs * resolving;
        let _ = writeln!(
            text,
            "time      about {} on {threads} threads ({:.0} ns per frame of the first point)",
            duration(work / threads as f64),
            per_frame * 1e9
        );
    }
    if let Some(peak) = peak_memory() {
        let memory = peak + (threads as u64) * PER_THREAD + RESULTS;
        let _ = writeln!(text, "memory    about {} MiB, whatever the number of points", memory.div_ceil(1 << 20));
    }
    Ok(text)
}

/// What a thread keeps of a run \[bytes\], and what the writers of results keep.
const PER_THREAD: u64 = 4 << 20;
const RESULTS: u64 = 8 << 20;

fn survey(sweep: &Sweep, shard: Shard, points: u64, load: Loader<'_>) -> Survey {
    let step = points.div_ceil(LOOKED_AT).max(1);
    let started = Instant::now();
    let mut survey = Survey::default();
    for place in (0..points).step_by(usize::try_from(step).unwrap_or(usize::MAX)) {
        let point = shard.point(place);
        survey.seen += 1;
        if !sweep.plan().admits(point) {
            continue;
        }
        survey.admitted += 1;
        match sweep.scenario_at(point, survey.first.as_ref(), load) {
            Ok(scenario) => {
                survey.frames += scenario.frames();
                survey.first.get_or_insert(scenario);
            }
            Err(_) => survey.failing += 1,
        }
    }
    survey.resolving = started.elapsed();
    survey
}

/// Seconds per frame of the first point: it is run for a moment.
fn probe(scenario: &Scenario) -> Result<f64, Failure> {
    let started = Instant::now();
    let mut frames = 0;
    let ran = run(scenario, RunOptions::default(), &mut Null, &mut |so_far| {
        frames = so_far;
        started.elapsed() < PROBE
    });
    match ran {
        Ok(_) | Err(nicsim_scenarios::run::RunError::Stopped) => {
            Ok(started.elapsed().as_secs_f64() / frames.max(1) as f64)
        }
        Err(error) => Err(Failure::input(error)),
    }
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.0} ms", (s * 1e3).max(1.0)),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7_200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3_600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

/// `1234567` as `1,234,567`.
fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
