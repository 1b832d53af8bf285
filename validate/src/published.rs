//! Simulations against published figures.

use nicsim_core::sink::Null;
use nicsim_scenarios::file::ScenarioError;
use nicsim_scenarios::report::Report;
use nicsim_scenarios::run::{RunError, RunOptions, run};
use nicsim_scenarios::scenario::{DEFAULT_SEED, Scenario};
use rayon::prelude::*;

use crate::stamps;
use crate::tolerance::{self, FIGURES, Figure};
use crate::verdict::{Outcome, Verdict, number};

/// Why a judgement did not come about.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// The scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The list of recordings is wrong.
    #[error("the list of recorded captures: {0}")]
    List(String),
}

/// Scenarios with published figures, each once.
pub fn scenarios() -> Vec<&'static str> {
    let mut names = Vec::new();
    for name in FIGURES.iter().flat_map(|figure| figure.scenarios) {
        if !names.contains(name) {
            names.push(*name);
        }
    }
    names
}

/// Judges all figures of scenario `name`; with `more_seeds` also over twenty other seeds.
///
/// # Errors
/// [`JudgeError`] when the scenario cannot be run.
pub fn judge(name: &str, more_seeds: bool) -> Result<Vec<Verdict>, JudgeError> {
    let scenario = Scenario::open(name, &[], &|path| Err(format!("{path}: published scenarios read no files")))?;
    let default = report(&scenario, DEFAULT_SEED)?;
    let seeds = if more_seeds { tolerance::OTHER_SEEDS } else { 0 };
    let others: Vec<Report> =
        (1..=seeds).into_par_iter().map(|k| report(&scenario, DEFAULT_SEED + k)).collect::<Result<_, _>>()?;
    Ok(judge_reports(name, &default, &others))
}

/// Judges all figures of scenario `name` by reports that have their regressions: that of the default seed, and those of
/// other seeds or none.
pub fn judge_reports(name: &str, default: &Report, others: &[Report]) -> Vec<Verdict> {
    let of_default = |figure: &Figure| of_default_seed(figure, name, default);
    let of_others = |figure: &Figure| (!others.is_empty()).then(|| of_other_seeds(figure, name, others));
    tolerance::figures_of(name)
        .flat_map(|figure| std::iter::once(of_default(figure)).chain(of_others(figure)))
        .collect()
}

fn report(scenario: &Scenario, seed: u64) -> Result<Report, RunError> {
    let mut outcome = run(scenario, RunOptions { seed, ..RunOptions::default() }, &mut Null, &mut |_| true)?;
    stamps::complete(&mut outcome);
    Ok(outcome.report)
}

fn of_default_seed(figure: &Figure, scenario: &str, report: &Report) -> Verdict {
    let value = (figure.value)(report);
    let (low, high) = figure.allowed;
    Verdict {
        simulated: value.map_or_else(|| "none".to_owned(), number),
        tolerance: band(low, high),
        verdict: outcome(figure.allows(report)),
        ..base(figure, scenario)
    }
}

fn of_other_seeds(figure: &Figure, scenario: &str, reports: &[Report]) -> Verdict {
    let (low, high, needed) = figure.others;
    let values: Vec<f64> = reports.iter().filter_map(figure.value).collect();
    let hold = values.iter().filter(|value| tolerance::within(**value, low, high)).count();
    let (least, most) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
    Verdict {
        figure: format!("{}, {} other seeds", figure.name, reports.len()),
        simulated: format!("{hold} of {} hold ({} to {})", reports.len(), number(least), number(most)),
        tolerance: format!("{} in {needed} of {}", band(low, high), tolerance::OTHER_SEEDS),
        verdict: outcome(hold as u64 * tolerance::OTHER_SEEDS >= u64::from(needed) * reports.len() as u64),
        ..base(figure, scenario)
    }
}

fn base(figure: &Figure, scenario: &str) -> Verdict {
    Verdict {
        name: scenario.to_owned(),
        figure: figure.name.to_owned(),
        unit: figure.unit.to_owned(),
        measured: figure.measured.to_owned(),
        simulated: String::new(),
        tolerance: String::new(),
        verdict: Outcome::Skipped,
        reason: figure.reason.to_owned(),
        source: format!("{}, {}", tolerance::PAPER, figure.section),
    }
}

fn outcome(holds: bool) -> Outcome {
    if holds { Outcome::Pass } else { Outcome::Fail }
}

fn band(low: f64, high: f64) -> String {
    if low == high { number(low) } else { format!("{} to {}", number(low), number(high)) }
}
