//! Built-in scenarios opened and run for the tests.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use nicsim_core::sink::{Null, Sink};
use nicsim_models::frame::FrameRecord;
use nicsim_scenarios::file::ScenarioFile;
use nicsim_scenarios::library;
use nicsim_scenarios::run::{self, Outcome, RunOptions};
use nicsim_scenarios::scenario::Scenario;

/// Built-in scenarios name no files.
fn no_files(name: &str) -> Result<String, String> {
    Err(format!("{name}: tests load no files"))
}

pub(crate) fn open(name: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Scenario::open(name, &sets, &no_files).unwrap_or_else(|error| panic!("{error}"))
}

/// A built-in scenario of which every stream sends at most `frames` frames.
pub(crate) fn shortened(name: &str, frames: u64) -> Scenario {
    let mut file = ScenarioFile::parse(name, library::text(name).unwrap(), &[]).unwrap();
    file.stream.iter_mut().for_each(|stream| stream.frames = stream.frames.min(frames));
    Scenario::resolve(file, &no_files).unwrap_or_else(|error| panic!("{error}"))
}

/// Names of the built-in scenarios that run by themselves.
pub(crate) fn runnable() -> impl Iterator<Item = &'static str> {
    library::names().filter(|name| !shortened(name, 1).needs_frames_from_outside())
}

pub(crate) fn run_into(scenario: &Scenario, options: RunOptions, sink: &mut impl Sink<FrameRecord>) -> Outcome {
    run::run(scenario, options, sink, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn run(scenario: &Scenario, options: RunOptions) -> Outcome {
    run_into(scenario, options, &mut Null)
}

pub(crate) fn seed(seed: u64) -> RunOptions {
    RunOptions { seed, ..RunOptions::default() }
}
