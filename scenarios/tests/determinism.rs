//! A report is a function of scenario, seed and run: the same bytes again, from either kernel, and others for others.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{open, run, runnable, seed, shortened};
use nicsim_core::sink::Null;
use nicsim_models::world::KernelKind;
use nicsim_scenarios::report::Report;
use nicsim_scenarios::run::{RunError, RunOptions};

/// Enough for 1.2 s at 100 us, so that the first boundary of the faults lies within.
const FRAMES: u64 = 12_000;

fn json(report: &Report) -> String {
    report.to_json().unwrap()
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    for name in runnable() {
        let first = json(&run(&shortened(name, FRAMES), seed(7)).report);
        let again = json(&run(&shortened(name, FRAMES), seed(7)).report);
        assert!(first == again, "{name}");
    }
}

#[test]
fn both_kernels_give_the_same_bytes_but_for_their_name() {
    for name in runnable() {
        let scenario = shortened(name, FRAMES);
        let slots = run(&scenario, RunOptions { kernel: KernelKind::Slots, ..seed(7) });
        let reference = run(&scenario, RunOptions { kernel: KernelKind::Reference, ..seed(7) });
        assert_eq!((slots.report.kernel.as_str(), reference.report.kernel.as_str()), ("slots", "reference"));
        let renamed = Report { kernel: slots.report.kernel.clone(), ..reference.report };
        assert!(json(&slots.report) == json(&renamed), "{name}");
        assert!(slots.stamps == reference.stamps, "{name}");
    }
}

#[test]
fn other_seeds_and_other_runs_give_other_values() {
    for name in runnable() {
        let scenario = shortened(name, FRAMES);
        let values = |options: RunOptions| {
            let report = run(&scenario, options).report;
            assert_eq!((report.seed, report.run), (options.seed, options.run));
            json(&Report { seed: 0, run: 0, ..report })
        };
        let all = [seed(7), seed(8), RunOptions { run: 1, ..seed(7) }, RunOptions { run: 1, ..seed(8) }].map(values);
        for (k, one) in all.iter().enumerate() {
            assert!(all[k + 1..].iter().all(|other| other != one), "{name}");
        }
    }
}

#[test]
fn plots_and_sinks_change_no_value() {
    let scenario = shortened("e830/sched-64b-99968ns", FRAMES);
    let plain = run(&scenario, seed(7));
    let plotted = run(&scenario, RunOptions { series: true, ..seed(7) });
    assert!(plain.series.is_none() && plotted.series.is_some());
    assert!(json(&plain.report) == json(&plotted.report));
    let mut records = Vec::new();
    let recorded = common::run_into(&scenario, seed(7), &mut records);
    assert!(json(&plain.report) == json(&recorded.report));
    assert_eq!(records.len() as u64, FRAMES);
}

#[test]
fn the_default_seed_is_part_of_the_report() {
    let report = run(&shortened("e830/fault-zero-field", 10), RunOptions::default()).report;
    assert_eq!((report.seed, report.run), (nicsim_scenarios::scenario::DEFAULT_SEED, 0));
}

/// Progress tells the number of frames so far, and its answer stops a run.
#[test]
fn a_run_stops_when_it_is_told_to() {
    let scenario = open("e830/sched-64b-100us", &[]);
    let mut told = Vec::new();
    let stopped = nicsim_scenarios::run::run(&scenario, seed(1), &mut Null, &mut |frames| {
        told.push(frames);
        told.len() < 3
    });
    assert!(matches!(stopped, Err(RunError::Stopped)));
    assert!(told.len() == 3 && told.is_sorted() && told[2] < scenario.frames(), "{told:?}");
}

#[test]
fn a_scenario_whose_oscillator_drifts_comes_to_its_end() {
    let mut scenario = shortened("e830/tx-stamps-10us", 100);
    scenario.setup.nic.as_mut().unwrap().oscillator.drift_per_second = "1ppb".parse().unwrap();
    // 1 ms of traffic; a run that goes on for minutes of simulated time has no end.
    let mut calls = 0;
    let outcome = nicsim_scenarios::run::run(&scenario, seed(1), &mut Null, &mut |_| {
        calls += 1;
        calls < 1_000
    });
    assert_eq!(outcome.unwrap().report.counts.sent, 100);
}
