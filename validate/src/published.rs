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
    let mut names: Vec<&str> = FIGURES.iter().map(|figure| figure.scenario).collect();
    names.dedup();
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
    let figures = FIGURES.iter().filter(|figure| figure.scenario == name);
    Ok(figures.flat_map(|figure| verdicts(figure, &default, &others)).collect())
}

fn report(scenario: &Scenario, seed: u64) -> Result<Report, RunError> {
    let mut outcome = run(scenario, RunOptions { seed, ..RunOptions::default() }, &mut Null, &mut |_| true)?;
    stamps::complete(&mut outcome);
    Ok(outcome.report)
}

fn verdicts(figure: &Figure, default: &Report, others: &[Report]) -> Vec<Verdict> {
    let mut verdicts = vec![of_default_seed(figure, default)];
    if !others.is_empty() {
        verdicts.push(of_other_seeds(figure, others));
    }
    verdicts
}

fn of_default_seed(figure: &Figure, report: &Report) -> Verdict {
    let value = (figure.value)(report);
    let (low, high) = figure.allowed;
    Verdict {
        simulated: value.map_or_else(|| "none".to_owned(), number),
        tolerance: band(low, high),
        verdict: outcome(value.is_some_and(|value| within(value, low, high))),
        ..base(figure)
    }
}

fn of_other_seeds(figure: &Figure, reports: &[Report]) -> Verdict {
    let (low, high, needed) = figure.others;
    let values: Vec<f64> = reports.iter().filter_map(figure.value).collect();
    let hold = values.iter().filter(|value| within(**value, low, high)).count();
    let (least, most) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
    Verdict {
        figure: format!("{}, {} other seeds", figure.name, reports.len()),
        simulated: format!("{hold} of {} hold ({} to {})", reports.len(), number(least), number(most)),
        tolerance: format!("{} in {needed} of {}", band(low, high), tolerance::OTHER_SEEDS),
        verdict: outcome(hold as u64 * tolerance::OTHER_SEEDS >= u64::from(needed) * reports.len() as u64),
        ..base(figure)
    }
}

fn base(figure: &Figure) -> Verdict {
    Verdict {
        name: figure.scenario.to_owned(),
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

/// Bounds are inclusive; figures come from decimal ticks, so the last bit of a bound must not decide.
fn within(value: f64, low: f64, high: f64) -> bool {
    (low - 1e-9..=high + 1e-9).contains(&value)
}

fn band(low: f64, high: f64) -> String {
    if low == high { number(low) } else { format!("{} to {}", number(low), number(high)) }
}
