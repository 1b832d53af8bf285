//! The published figures of the E830, held by the built-in scenarios: with the default seed, and with most of twenty others.
//!
//! Numbers that `validate` judges stand in `nicsim_validate::tolerance` with their reasons. What stands here is exact:
//! counts, the moduli of the drivers, and bounds that follow from the parameters of the model. Each scenario runs once
//! per seed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use nicsim_core::sink::{Null, Sink};
use nicsim_core::stats::Summary;
use nicsim_models::frame::FrameRecord;
use nicsim_models::launch::Decision;
use nicsim_scenarios::report::{ClockFit, Report};
use nicsim_scenarios::run::{self, Outcome, RunOptions, StampPoint};
use nicsim_scenarios::scenario::{DEFAULT_SEED, Scenario};
use nicsim_validate::tolerance::{Figure, MOST_SEEDS, OTHER_SEEDS, SAME_RANGE_NS, figures_of};
use nicsim_validate::{published, stamps, verdict};

/// The scenarios that the tests below judge.
const JUDGED: [&str; 16] = [
    "e830/sched-64b-100us",
    "e830/sched-64b-99968ns",
    "e830/sched-64b-100096ns",
    "e830/sched-1518b-100us",
    "e830/sched-1518b-99968ns",
    "e830/sched-1518b-100096ns",
    "e830/rx-stamps-64b",
    "e830/rx-stamps-1518b",
    "e830/tx-stamps-10us",
    "e830/tx-stamps-100us",
    "e830/tx-stamps-1ms",
    "e830/tx-stamps-busy-loop",
    "e830/fault-modulo-dpdk",
    "e830/fault-modulo-linux",
    "e830/fault-zero-field",
    "e830/fault-beyond-window",
];

#[test]
fn every_scenario_with_a_published_figure_is_judged() {
    assert_eq!(BTreeSet::from(JUDGED), published::scenarios().into_iter().collect());
}

// ---- runs ----

fn open(name: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Scenario::open(name, &sets, &|file| Err(format!("{file}: these scenarios read no files"))).unwrap()
}

fn run_into(scenario: &Scenario, seed: u64, sink: &mut impl Sink<FrameRecord>) -> Outcome {
    run::run(scenario, RunOptions { seed, ..RunOptions::default() }, sink, &mut |_| true).unwrap()
}

/// The default seed, then the others.
fn seeds() -> RangeInclusive<u64> {
    DEFAULT_SEED..=DEFAULT_SEED + OTHER_SEEDS
}

fn outcomes(name: &str) -> Vec<Outcome> {
    let scenario = open(name, &[]);
    seeds().map(|seed| run_into(&scenario, seed, &mut Null)).collect()
}

fn reports(name: &str) -> Vec<Report> {
    outcomes(name).into_iter().map(|outcome| outcome.report).collect()
}

fn records(scenario: &Scenario, seed: u64) -> (Vec<FrameRecord>, Report) {
    let mut records = Vec::new();
    let report = run_into(scenario, seed, &mut records).report;
    (records, report)
}

fn summary<'a>(report: &'a Report, metric: &str) -> &'a Summary {
    &report.metrics[metric].summary
}

// ---- judging ----

/// All published figures of a scenario; what does not hold is shown together.
fn judge(name: &str, reports: &[Report]) {
    assert!(JUDGED.contains(&name));
    assert_eq!(reports.len() as u64, 1 + OTHER_SEEDS, "{name}");
    let verdicts = published::judge_reports(name, &reports[0], &reports[1..]);
    assert_eq!(verdicts.len(), 2 * figures_of(name).count());
    let mut misses = String::new();
    for v in verdicts.iter().filter(|v| v.verdict != verdict::Outcome::Pass) {
        writeln!(misses, "{name}, {}: {}, allowed {} ({})", v.figure, v.simulated, v.tolerance, v.reason).unwrap();
    }
    assert!(misses.is_empty(), "\n{misses}");
}

/// What holds with the default seed must hold with most of the others.
fn most(what: &str, held: &[bool]) {
    assert_eq!(held.len() as u64, 1 + OTHER_SEEDS, "{what}");
    let others = held[1..].iter().filter(|held| **held).count();
    assert!(held[0] && others >= MOST_SEEDS as usize, "{what}: default {}, {others} of the others", held[0]);
}

/// The one figure of a scenario whose name begins so.
fn figure(name: &str, begins: &str) -> &'static Figure {
    let found: Vec<&Figure> = figures_of(name).filter(|figure| figure.name.starts_with(begins)).collect();
    assert_eq!(found.len(), 1, "{begins} of {name}");
    found[0]
}

// ---- scheduled transmission ----

static SCHED_64B_99968: LazyLock<Vec<Report>> = LazyLock::new(|| reports("e830/sched-64b-99968ns"));
static SCHED_64B_100096: LazyLock<Vec<Report>> = LazyLock::new(|| reports("e830/sched-64b-100096ns"));

fn judge_64b(name: &str, reports: &[Report]) {
    judge(name, reports);
    for report in reports {
        assert_eq!((report.counts.sent, report.counts.immediate, report.counts.late), (50_000, 0, 0));
    }
}

/// The shape that is published is that of one run: each part of it in most runs would not do.
fn judge_shape(name: &str, parts: usize, reports: &[Report]) {
    let shape: Vec<&Figure> = figures_of(name).filter(|figure| figure.name.contains("peak")).collect();
    assert_eq!(shape.len(), parts, "{name}");
    let whole = |report: &Report| shape.iter().all(|figure| figure.allows(report));
    most(&format!("{name}: peaks"), &reports.iter().map(whole).collect::<Vec<bool>>());
    for report in reports {
        let histogram = summary(report, "observed_interval").histogram.as_ref().unwrap();
        assert!((histogram.bin_ns - 6.4).abs() < 1e-9, "one tick a bin");
        assert_eq!(histogram.below + histogram.above, 0);
    }
}

#[test]
fn scheduled_64b_every_100_us() {
    judge_64b("e830/sched-64b-100us", &reports("e830/sched-64b-100us"));
}

#[test]
fn scheduled_64b_every_99968_ns() {
    judge_64b("e830/sched-64b-99968ns", &SCHED_64B_99968);
    judge_shape("e830/sched-64b-99968ns", 4, &SCHED_64B_99968);
}

#[test]
fn scheduled_64b_every_100096_ns() {
    judge_64b("e830/sched-64b-100096ns", &SCHED_64B_100096);
    judge_shape("e830/sched-64b-100096ns", 2, &SCHED_64B_100096);
}

#[test]
fn the_deviations_at_multiples_of_128_ns_are_alike_and_the_smaller_is_at_100096_ns() {
    let std = figure("e830/sched-64b-99968ns", "standard deviation of the observed");
    let alike: Vec<bool> = SCHED_64B_100096.iter().map(|report| std.allows(report)).collect();
    most("100,096 ns within the band of 99,968 ns", &alike);
    let value = |report: &Report| (std.value)(report).unwrap();
    let pairs = SCHED_64B_100096.iter().zip(SCHED_64B_99968.iter());
    let smaller: Vec<bool> = pairs.map(|(at_100096, at_99968)| value(at_100096) < value(at_99968)).collect();
    most("smaller at 100,096 ns", &smaller);
}

#[test]
fn scheduled_1518b_every_100_us() {
    judge("e830/sched-1518b-100us", &reports("e830/sched-1518b-100us"));
}

#[test]
fn scheduled_1518b_every_99968_ns() {
    judge("e830/sched-1518b-99968ns", &reports("e830/sched-1518b-99968ns"));
}

#[test]
fn scheduled_1518b_every_100096_ns() {
    judge("e830/sched-1518b-100096ns", &reports("e830/sched-1518b-100096ns"));
}

// ---- receive stamps ----

fn judge_rx(name: &str) {
    let reports = reports(name);
    judge(name, &reports);
    for report in &reports {
        assert_eq!((report.stamps.requested, report.stamps.read), (50_000, 50_000));
    }
}

#[test]
fn receive_stamps_of_64b() {
    judge_rx("e830/rx-stamps-64b");
}

#[test]
fn receive_stamps_of_1518b() {
    judge_rx("e830/rx-stamps-1518b");
}

// ---- transmit stamps over the capture ----

/// Fits of the observer's time minus the stamp over the stamp, written down a second time and plainly.
struct Fits {
    drift_ppb: f64,
    linear_range: f64,
    isotonic_range: f64,
}

impl Fits {
    fn of(points: &[StampPoint]) -> Self {
        assert_eq!(points.len(), 10_000);
        let first = points[0].stamp_ns;
        let x: Vec<f64> = points.iter().map(|point| (point.stamp_ns - first) as f64).collect();
        let y: Vec<f64> = points.iter().map(|point| point.apparent_delay_ps as f64 / 1_000.0).collect();
        let n = x.len() as f64;
        let (mean_x, mean_y) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
        let products: f64 = x.iter().zip(&y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let slope = products / x.iter().map(|x| (x - mean_x).powi(2)).sum::<f64>();
        let line: Vec<f64> = x.iter().map(|x| mean_y + slope * (x - mean_x)).collect();
        Self {
            drift_ppb: slope * 1e9,
            linear_range: residual_range(&y, &line),
            isotonic_range: residual_range(&y, &isotonic(&y)),
        }
    }
}

/// The non-decreasing sequence nearest to `y` in squares: neighbours that violate the order are pooled.
fn isotonic(y: &[f64]) -> Vec<f64> {
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for &value in y {
        blocks.push((value, 1));
        while blocks.len() > 1 && blocks[blocks.len() - 2].0 > blocks[blocks.len() - 1].0 {
            let (last, before) = (blocks.pop().unwrap(), blocks.pop().unwrap());
            let count = last.1 + before.1;
            blocks.push(((last.0 * last.1 as f64 + before.0 * before.1 as f64) / count as f64, count));
        }
    }
    blocks.into_iter().flat_map(|(value, count)| std::iter::repeat_n(value, count)).collect()
}

fn residual_range(y: &[f64], fit: &[f64]) -> f64 {
    let residuals = || y.iter().zip(fit).map(|(y, fit)| y - fit);
    residuals().fold(f64::NEG_INFINITY, f64::max) - residuals().fold(f64::INFINITY, f64::min)
}

/// Runs with the regressions of their stamps.
fn tx_outcomes(name: &str) -> Vec<Outcome> {
    let mut outcomes = outcomes(name);
    for outcome in &mut outcomes {
        stamps::complete(outcome).unwrap();
    }
    outcomes
}

fn judge_tx(name: &str, outcomes: &[Outcome]) {
    for outcome in outcomes {
        let stamps = &outcome.report.stamps;
        assert_eq!((stamps.requested, stamps.read), (10_000, 10_000), "none is lost");
        assert!(stamps.lost.is_empty());
        let (plain, reported) = (Fits::of(&outcome.stamps), clocks(&outcome.report));
        let differences = [
            plain.drift_ppb - reported.drift_ppb,
            plain.linear_range - reported.linear_residual_range_ns,
            plain.isotonic_range - reported.isotonic_residual_range_ns,
        ];
        // What double precision leaves of sums over 10,000 squares of up to 1e10 ns.
        assert!(differences.iter().all(|difference| difference.abs() < 1e-5), "{differences:?}");
    }
    judge(name, &outcomes.iter().map(|outcome| outcome.report.clone()).collect::<Vec<Report>>());
}

fn clocks(report: &Report) -> ClockFit {
    report.metrics["tx_stamp_vs_observer"].clocks.unwrap()
}

static TX_10US: LazyLock<Vec<Outcome>> = LazyLock::new(|| tx_outcomes("e830/tx-stamps-10us"));

fn judge_tx_against_10us(name: &str) {
    let outcomes = tx_outcomes(name);
    judge_tx(name, &outcomes);
    let linear = |outcome: &Outcome| clocks(&outcome.report).linear_residual_range_ns;
    let pairs = outcomes.iter().zip(TX_10US.iter());
    let same: Vec<bool> = pairs.map(|(a, b)| (linear(a) - linear(b)).abs() <= SAME_RANGE_NS).collect();
    most(&format!("{name}: linear residual range as at 10 us"), &same);
}

#[test]
fn transmit_stamps_every_10_us() {
    judge_tx("e830/tx-stamps-10us", &TX_10US);
}

#[test]
fn transmit_stamps_every_100_us() {
    judge_tx_against_10us("e830/tx-stamps-100us");
}

#[test]
fn transmit_stamps_every_1_ms() {
    judge_tx_against_10us("e830/tx-stamps-1ms");
}

#[test]
fn transmit_stamps_of_a_busy_loop_are_lost_for_want_of_registers() {
    let reports = reports("e830/tx-stamps-busy-loop");
    for report in &reports {
        assert_eq!(report.stamps.requested, 10_000);
        let missing = report.stamps.requested - report.stamps.read;
        assert_eq!(report.stamps.lost, BTreeMap::from([("no-register".to_owned(), missing)]));
    }
    judge("e830/tx-stamps-busy-loop", &reports);
}

// ---- faults ----

/// D(s) = s · STEP mod TURN: how much later than asked a launch of second s is planned \[ns\] (arithmetic: 15 · 2^26 −
/// 10^9 = 6,632,960).
const STEP: u64 = 6_632_960;
const TURN: u64 = 1 << 26;
const UNIT: u64 = 128;
/// Planned intervals at a second: 100,000 + STEP on the grid of 128 ns, by the phase.
const BOUNDARY_PLANNED: [u64; 2] = [6_732_928, 6_733_056];
/// All observed intervals of the repaired driver \[ns\]: two frames' jitter is far less than 1 us.
const REPAIRED_OBSERVED: RangeInclusive<f64> = 99_000.0..=101_000.0;
/// How far a start can be from its plan \[ns\]: a poll period, the normal part, the late tail's end, a block.
const JITTER_NS: i64 = 70 + 6 * 6 + 350 + 7;

fn launch(record: &FrameRecord) -> u64 {
    record.launch_ns.unwrap()
}

/// When the hardware means to let the frame go [PHC ns].
fn planned(record: &FrameRecord) -> u64 {
    match record.decision {
        Decision::Held(ns) => ns,
        other => panic!("not held but {other:?}: {record:?}"),
    }
}

fn shift(second: u64) -> u64 {
    (u128::from(second) * u128::from(STEP) % u128::from(TURN)) as u64
}

fn planned_intervals(records: &[FrameRecord]) -> Vec<u64> {
    records.windows(2).map(|pair| planned(&pair[1]) - planned(&pair[0])).collect()
}

fn judge_modulo(name: &str) {
    let scenario = open(name, &[]);
    let mut reports = Vec::new();
    for seed in seeds() {
        let (records, report) = records(&scenario, seed);
        assert_eq!((records.len(), report.counts.immediate), (50_000, 0));
        for record in &records {
            let expected = launch(record) / UNIT * UNIT + shift(launch(record) / 1_000_000_000);
            assert_eq!(planned(record), expected, "the shift of its second: {record:?}");
        }
        let seconds: BTreeSet<u64> = records.iter().map(|record| launch(record) / 1_000_000_000).collect();
        assert_eq!(seconds.len(), 6, "five boundaries");
        let long: Vec<u64> = planned_intervals(&records).into_iter().filter(|interval| *interval > 1_000_000).collect();
        assert!(long.len() == 5 && long.iter().all(|interval| BOUNDARY_PLANNED.contains(interval)), "{long:?}");
        reports.push(report);
    }
    judge(name, &reports);
}

#[test]
fn the_double_modulo_of_dpdk() {
    judge_modulo("e830/fault-modulo-dpdk");
}

#[test]
fn the_double_modulo_of_linux() {
    judge_modulo("e830/fault-modulo-linux");
}

#[test]
fn without_the_double_modulo_no_interval_differs_by_more_than_the_jitter() {
    let scenario = open("e830/fault-modulo-dpdk", &["nic.driver=ice-fixed"]);
    for s in seeds().take(6) {
        let (records, report) = records(&scenario, s);
        for record in &records {
            let floor = launch(record) / UNIT * UNIT;
            let expected = if floor.is_multiple_of(TURN) { floor + UNIT } else { floor };
            assert_eq!(planned(record), expected);
        }
        for (pair, planned) in records.windows(2).zip(planned_intervals(&records)) {
            let difference = (pair[1].started_at - pair[0].started_at).as_ps() / 1_000 - planned as i64;
            assert!(difference.abs() <= JITTER_NS, "seed {s}: {difference} ns, {:?}", pair[1]);
        }
        let observed = summary(&report, "observed_interval");
        assert!(REPAIRED_OBSERVED.contains(&observed.min_ns.unwrap()), "seed {s}");
        assert!(REPAIRED_OBSERVED.contains(&observed.max_ns.unwrap()), "seed {s}");
    }
}

/// Hardware that compares at the head of the queue: each second is late by the sum of all steps before it.
#[test]
fn compared_at_the_head_the_lateness_grows() {
    let sets = ["stream.0.frames=150000", "nic.ring=4096", "nic.parameters.launch.compare=head"];
    let (records, report) = records(&open("e830/fault-modulo-dpdk", &sets), DEFAULT_SEED);
    assert_eq!(report.counts.immediate, 0, "none goes at once");
    let first_second = launch(&records[0]) / 1_000_000_000;
    for record in &records {
        let passed = launch(record) / 1_000_000_000 - first_second;
        assert_eq!(planned(record), launch(record) / UNIT * UNIT + passed * STEP);
    }
    let longest = summary(&report, "launch_error").max_ns.unwrap();
    assert!((99_494_000.0..=99_495_000.0).contains(&longest), "15 seconds on, 99.494 ms late: {longest}");
    // Compared at the fetch, the same frames go at once from the sixth second on.
    let (_, report) = records_of_compare_at_fetch();
    assert!(report.counts.immediate > 0);
}

fn records_of_compare_at_fetch() -> (Vec<FrameRecord>, Report) {
    records(&open("e830/fault-modulo-dpdk", &["stream.0.frames=150000", "nic.ring=4096"]), DEFAULT_SEED)
}

#[test]
fn a_field_of_zero_sends_every_512th_frame_at_once() {
    let scenario = open("e830/fault-zero-field", &[]);
    let mut reports = Vec::new();
    for s in seeds() {
        let (records, report) = records(&scenario, s);
        assert_eq!((records.len(), report.counts.immediate), (7_630, 15));
        let at_once: Vec<u64> =
            records.iter().filter(|r| r.decision == Decision::Unset).map(|record| record.id.number).collect();
        assert_eq!(at_once, (0..15).map(|k| k * 512).collect::<Vec<u64>>());
        // All others are held until their time, which lies on the unit's grid.
        assert!(records.iter().filter(|r| r.decision != Decision::Unset).all(|r| planned(r) == launch(r)));
        let ticks = |pair: &[FrameRecord]| {
            let count = |record: &FrameRecord| record.observed.unwrap().count;
            count(&pair[1]).wrapping_sub(count(&pair[0]))
        };
        let mut back_to_back = 0;
        for pair in records.windows(2) {
            if pair[1].decision == Decision::Unset {
                back_to_back += 1;
                assert_eq!((pair[1].started_at - pair[0].started_at).as_ps(), 70_400);
                // 70.4 ns and 7.55 ppm of it, which now and then crosses a tick more.
                assert!([11, 12].contains(&ticks(pair)), "seed {s}: {} ticks", ticks(pair));
                let error = pair[1].launch_error.unwrap().as_ps() / 1_000;
                assert!((error + 131_002).abs() <= JITTER_NS, "seed {s}: {error}");
            } else {
                assert!(ticks(pair) > 15_000, "seed {s}: {} ticks", ticks(pair));
            }
        }
        assert_eq!(back_to_back, 14, "the first frame has none before it");
        reports.push(report);
    }
    judge("e830/fault-zero-field", &reports);
}

#[test]
fn the_repaired_driver_has_no_field_of_zero() {
    let (records, report) = records(&open("e830/fault-zero-field", &["nic.driver=ice-fixed"]), DEFAULT_SEED);
    assert_eq!(report.counts.immediate, 0);
    let moved: Vec<u64> = records.iter().filter(|r| planned(r) != launch(r)).map(|r| r.id.number).collect();
    assert!(!moved.is_empty() && records.iter().all(|r| [0, UNIT].contains(&(planned(r) - launch(r)))), "{moved:?}");
}

#[test]
fn launch_times_beyond_the_window_count_as_past() {
    let lead = |lead: &str| format!("stream.0.lead={lead}");
    for compare in ["fetch", "head"] {
        let compare = format!("nic.parameters.launch.compare={compare}");
        // Held until 2^25 ns, less the fetch of 1 us and the floor to 128 ns.
        for held in ["33.5ms", "33.554ms"] {
            let (records, report) = records(&open("e830/fault-beyond-window", &[&lead(held), &compare]), DEFAULT_SEED);
            assert_eq!(report.counts.immediate, 0, "lead {held}");
            assert!(records.iter().all(|record| launch(record) - planned(record) < UNIT));
        }
        for at_once in ["33.5556ms", "33.6ms"] {
            let (records, report) =
                records(&open("e830/fault-beyond-window", &[&lead(at_once), &compare]), DEFAULT_SEED);
            assert_eq!(report.counts.immediate, 3_000, "lead {at_once}");
            assert!(records.iter().all(|record| record.decision == Decision::Past));
        }
    }
}

#[test]
fn beyond_the_window_only_the_launch_error_tells() {
    let reports = reports("e830/fault-beyond-window");
    judge("e830/fault-beyond-window", &reports);
    for (report, s) in reports.iter().zip(seeds()) {
        assert_eq!(report.counts.immediate, 3_000);
        let error = summary(report, "launch_error");
        // 33.6 ms ahead but for the fetch of 1 us and the wait for a block.
        let expected = -33_599_000.0..=-33_598_990.0;
        assert!(expected.contains(&error.min_ns.unwrap()) && expected.contains(&error.max_ns.unwrap()), "{error:?}");
        let observed = summary(report, "observed_interval");
        assert!(observed.min_ns.unwrap() >= 99_987.0 && observed.max_ns.unwrap() <= 100_014.0, "seed {s}");
    }
}
