//! Deep tails: the estimate from strata against brute force.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test fails by panicking")]

mod common;

use common::open;
use nicsim_core::stats::Recorder;
use nicsim_scenarios::metric::{self, Metric};
use nicsim_scenarios::scenario::Scenario;
use nicsim_scenarios::tail::{self, Tail, TailError, TailOptions};

const SCENARIO: &str = "e830/sched-1518b-100us";

/// What brute force gives for p99.9999 of SCENARIO's launch error from 100,000,000 frames \[ns\]: the values that 120, 100
/// and 80 frames exceed; 20 are two standard deviations of the number of frames beyond. Printed by
/// `cargo test --release -p nicsim-scenarios --test tail -- --ignored --nocapture`.
const BRUTE_FORCE: (f64, f64, f64) = (1_987.328, 1_996.032, 2_002.688);
const BRUTE_FORCE_FRAMES: u64 = 100_000_000;

fn launch_error() -> &'static Metric {
    metric::LIST.iter().find(|metric| metric.name == "launch_error").unwrap()
}

fn estimate(scenario: &Scenario, beyond: f64, frames: u64, seed: u64) -> Result<Tail, TailError> {
    let options = TailOptions { metric: launch_error(), beyond, frames, seed, run: 0 };
    tail::estimate(scenario, &options, &mut |_| true)
}

/// The values that `ranks` values exceed \[ns\].
fn from_above(recorder: &Recorder, ranks: [u64; 3]) -> [f64; 3] {
    let distribution = recorder.distribution();
    ranks.map(|rank| {
        let mut beyond = 0;
        let value = distribution.iter().rev().find(|(_, count)| {
            beyond += count;
            beyond > rank
        });
        recorder.unit().to_ns(i128::from(value.unwrap().0))
    })
}

#[test]
#[ignore = "a minute in a release build: prints the figures of BRUTE_FORCE"]
fn brute_force() {
    let recorder = tail::brute_force(&open(SCENARIO, &[]), launch_error(), BRUTE_FORCE_FRAMES, 1).unwrap();
    println!("{:?}", from_above(&recorder, [120, 100, 80]));
}

#[test]
fn the_millionth_part_agrees_with_brute_force_from_a_hundredth_of_the_frames() {
    let (low, value, high) = BRUTE_FORCE;
    let tail = estimate(&open(SCENARIO, &[]), 1e-6, BRUTE_FORCE_FRAMES / 100, 1).unwrap();
    println!("{tail:?}");
    assert!(tail.frames <= BRUTE_FORCE_FRAMES / 20);
    assert!(tail.high_ns - tail.low_ns < high - low, "narrower than brute force's own: {tail:?}");
    // Both have an uncertainty: the intervals' halves, added in squares, are two standard deviations of the difference.
    let half = ((tail.high_ns - tail.low_ns).powi(2) + (high - low).powi(2)).sqrt() / 2.0;
    assert!((tail.value_ns - value).abs() <= half, "{tail:?}, brute force {low} {value} {high}");
}

#[test]
fn a_tail_that_can_be_counted_agrees_with_the_count() {
    for name in [SCENARIO, "e830/sched-64b-99968ns"] {
        let scenario = open(name, &[]);
        let recorder = tail::brute_force(&scenario, launch_error(), 1_000_000, 7).unwrap();
        let [low, value, high] = from_above(&recorder, [120, 100, 80]);
        let tail = estimate(&scenario, 1e-4, 400_000, 8).unwrap();
        assert!(tail.high_ns >= low && tail.low_ns <= high, "{name}: {tail:?}, counted {low} {value} {high}");
    }
}

#[test]
fn the_same_seed_gives_the_same_estimate_and_another_another() {
    let scenario = open(SCENARIO, &[]);
    let first = estimate(&scenario, 1e-5, 100_000, 3).unwrap();
    assert_eq!(first, estimate(&scenario, 1e-5, 100_000, 3).unwrap());
    assert_ne!(first, estimate(&scenario, 1e-5, 100_000, 4).unwrap());
    assert!(first.low_ns <= first.value_ns && first.value_ns <= first.high_ns);
}

#[test]
fn frames_that_meet_are_refused() {
    // 1518 B every 1.5 us: an outlier of up to 1.9 us holds up the next frame.
    let close = open(SCENARIO, &["stream.0.interval=1536ns"]);
    assert!(matches!(estimate(&close, 1e-6, 100_000, 1), Err(TailError::FramesMeet { .. })));
    assert!(matches!(estimate(&open(SCENARIO, &[]), 1e-6, 1_000, 1), Err(TailError::Range { .. })));
    assert!(matches!(estimate(&open(SCENARIO, &[]), 0.5, 100_000, 1), Err(TailError::Range { .. })));
}
