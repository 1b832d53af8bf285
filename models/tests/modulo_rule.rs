//! The double modulo of the ice drivers against a rule in closed form.
//!
//! A driver that drops the seconds before it drops the bits beyond 2^26 ns shifts every launch time of PHC second s by
//! D(s) = s · 6,632,960 mod 2^26 ns (10^9 = 15 · 2^26 − 6,632,960). What the hardware makes of that, by
//! the second in which the launch time lies and by how far ahead it is when the hardware judges it, is written down
//! here a second time without any loop over frames, and the simulation is held against it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeMap;

use common::{ICE_DRIVERS, ideal, nic, run, stream, world_of};
use nicsim_core::rng::Key;
use nicsim_core::time::{SimTime, Span};
use nicsim_models::frame::FrameRecord;
use nicsim_models::launch::{Compare, Decision};
use nicsim_models::source::Timing;
use nicsim_models::spec::NicSpec;

const SECOND: i64 = 1_000_000_000;
/// A turn of the 19-bit field of 128 ns, and the half of it that counts as future.
const TURN: i64 = 1 << 26;
const WINDOW: i64 = 1 << 25;
const UNIT: i64 = 128;
/// Growth of the shift from one second to the next.
const STEP: i64 = 6_632_960;
/// D(s) repeats after this many seconds: STEP = 2^9 · 12,955.
const PERIOD: i64 = 1 << 17;

const INTERVAL: i64 = 100_000;
const FETCH: i64 = 1_000;
/// Back to back, 64 octets at 10 Gb/s \[ps\].
const WIRE_PS: i64 = 67_200;

fn shift(second: i64) -> i64 {
    // In 128 bits: seconds since 1970 times the step do not fit into 63.
    (i128::from(second) * i128::from(STEP)).rem_euclid(i128::from(TURN)) as i64
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// Launch error \[ns\], before the floor to 128 ns.
    Held(i64),
    AtOnce,
}

/// What becomes of the frames of a second with this lead; `None` where the floors to 128 ns decide.
fn fate(second: i64, lead: i64) -> Option<Fate> {
    let shift = shift(second);
    let ahead = (shift + lead - FETCH).rem_euclid(TURN);
    if [0, WINDOW, TURN].iter().any(|edge| (ahead - edge).abs() <= 2 * UNIT) {
        return None;
    }
    if ahead >= WINDOW {
        return Some(Fate::AtOnce);
    }
    Some(Fate::Held(if shift + lead < TURN { shift } else { shift - TURN }))
}

/// When a frame with this launch time starts, relative to it \[ns\], if nothing is in its way.
fn error(fate: Fate, lead: i64) -> i64 {
    match fate {
        Fate::Held(error) => error,
        Fate::AtOnce => FETCH - lead,
    }
}

fn card() -> NicSpec {
    ideal(FETCH)
}

/// Records of `frames` frames from `first_ns` on.
fn frames(spec: NicSpec, driver: &str, first_ns: i64, frames: u64, lead: i64) -> Vec<FrameRecord> {
    let start_ns = first_ns - lead;
    let mut nic = nic(spec, driver, start_ns as u64);
    // Room for all that can wait, so that the application is never held up.
    nic.ring_len = 8_000;
    let timing = Timing::Scheduled {
        first_launch_ns: first_ns as u64,
        interval: Span::from_ns(INTERVAL),
        lead: Span::from_ns(lead),
    };
    run(&world_of(nic, vec![stream(0, frames, 64, timing)]))
}

fn launch(record: &FrameRecord) -> i64 {
    record.launch_ns.unwrap() as i64
}

fn intervals(records: &[FrameRecord]) -> Vec<i64> {
    records.windows(2).map(|pair| (pair[1].started_at - pair[0].started_at).as_ps()).collect()
}

/// Frames before and after a boundary: more than can be held at once by the longest shift.
const BEFORE: i64 = 450;
const AFTER: i64 = 450;

/// One boundary between `second` and the next; answers the kind that it was, or `None` where a floor decides.
fn boundary(second: i64, lead: i64, driver: &str) -> Option<String> {
    let (old, new) = (fate(second, lead)?, fate(second + 1, lead)?);
    // 50 us past the marks of 100 us, so that no launch time has a field of 0.
    let first = (second + 1) * SECOND - BEFORE * INTERVAL + 50_000;
    let records = frames(card(), driver, first, (BEFORE + AFTER) as u64, lead);
    for record in &records {
        let fate = if launch(record) < (second + 1) * SECOND { old } else { new };
        match (fate, record.decision) {
            (Fate::Held(error), Decision::Held(held_ns)) => {
                assert_eq!(held_ns as i64, launch(record) / UNIT * UNIT + error, "second {second}, lead {lead}");
            }
            (Fate::AtOnce, Decision::Past) => {}
            _ => panic!("second {second}, lead {lead}: {fate:?} but {record:?}"),
        }
    }
    check_intervals(&records, second, lead, old, new);
    let name = |fate| match fate {
        Fate::Held(error) if error < 0 => "early",
        Fate::Held(_) => "held",
        Fate::AtOnce => "at once",
    };
    Some(format!("{} -> {}", name(old), name(new)))
}

fn check_intervals(records: &[FrameRecord], second: i64, lead: i64, old: Fate, new: Fate) {
    let intervals = intervals(records);
    let at = BEFORE as usize - 1;
    // Two floors to 128 ns, the start of the last frame on the line.
    let slack = (UNIT + 1) * 1_000;
    let near = |ps: i64, ns: i64| (ps - ns * 1_000).abs() <= slack;
    let context = || format!("second {second}, lead {lead}, {old:?} -> {new:?}: {} ps", intervals[at]);
    let expected = INTERVAL + error(new, lead) - error(old, lead);
    if expected * 1_000 <= WIRE_PS {
        assert_eq!(intervals[at], WIRE_PS, "{}", context());
    } else {
        assert!(near(intervals[at], expected), "{}, expected {expected} ns", context());
    }
    match (old, new) {
        (Fate::Held(_), Fate::Held(_)) => {
            // 6,732,960 on the grid of 128 ns.
            assert!([6_732_928_000, 6_733_056_000].contains(&intervals[at]), "{}", context());
        }
        (Fate::AtOnce, Fate::Held(_)) => {
            // At once means a fetch after the submit, so that an early launch can come that much sooner.
            let range = (INTERVAL - FETCH) * 1_000 - slack..=(INTERVAL + STEP) * 1_000 + slack;
            assert!(range.contains(&intervals[at]), "{}", context());
        }
        (Fate::AtOnce, Fate::AtOnce) => assert_eq!(intervals[at], INTERVAL * 1_000, "{}", context()),
        (Fate::Held(error), Fate::AtOnce) => {
            // Frames of the new second wait behind the queue of the old one, then leave back to back.
            let waiting = (error + lead) / INTERVAL;
            let back_to_back = intervals[at..].iter().filter(|interval| **interval == WIRE_PS).count() as i64;
            assert!((back_to_back - waiting).abs() <= 2, "{}: {back_to_back} for {waiting}", context());
        }
    }
    // Away from the boundary and from what waits behind it, all is as planned.
    for (k, interval) in intervals.iter().enumerate() {
        let waiting = k >= at && k <= at + 400 && new == Fate::AtOnce && old != Fate::AtOnce;
        assert!(k == at || waiting || near(*interval, INTERVAL), "{}: interval {k} is {interval} ps", context());
    }
}

/// Seconds of which half are random and half lie around the places where the kind changes.
fn seconds(count: u64, lead: i64) -> impl Iterator<Item = i64> {
    let key = Key::root(lead as u64, 0).named("seconds");
    (0..count).map(move |n| {
        let second = (key.bits(2 * n) % PERIOD as u64) as i64;
        if n % 2 == 0 {
            return second;
        }
        // Walk to the next second whose fate differs from its successor's, or which is close to an edge.
        (second..second + PERIOD).find(|s| fate(*s, lead) != fate(*s + 1, lead)).unwrap_or(second)
    })
}

fn boundaries(lead: i64, count: u64) -> BTreeMap<String, u64> {
    let mut kinds = BTreeMap::new();
    for (n, second) in seconds(count, lead).enumerate() {
        // All three faulty drivers, at dates of today.
        let driver = ICE_DRIVERS[1 + n % 3];
        let second = second + 13_657 * PERIOD;
        let kind = boundary(second, lead, driver).unwrap_or_else(|| "a floor decides".to_owned());
        *kinds.entry(kind).or_default() += 1;
    }
    kinds
}

fn expect_kinds(lead: i64, count: u64, names: &[&str]) {
    let kinds = boundaries(lead, count);
    for name in names {
        assert!(kinds.get(*name).is_some_and(|seen| *seen >= 10), "lead {lead}: {kinds:?}");
    }
    assert!(kinds.get("a floor decides").is_none_or(|unjudged| *unjudged < count / 10), "lead {lead}: {kinds:?}");
}

#[test]
fn the_rule_holds_at_a_lead_of_50_us() {
    expect_kinds(50_000, 350, &["held -> held", "held -> at once", "at once -> held", "at once -> at once"]);
}

#[test]
fn the_rule_holds_at_a_lead_of_100_us() {
    expect_kinds(100_000, 350, &["held -> held", "held -> at once", "at once -> held", "at once -> at once"]);
}

#[test]
fn the_rule_holds_at_a_lead_of_1_ms() {
    let kinds = ["held -> held", "held -> at once", "at once -> held", "at once -> at once", "at once -> early"];
    expect_kinds(1_000_000, 350, &kinds);
}

#[test]
fn the_rule_holds_at_a_lead_of_5_ms() {
    let kinds = ["held -> held", "held -> at once", "at once -> held", "at once -> early", "early -> held"];
    expect_kinds(5_000_000, 350, &kinds);
}

/// How often each kind comes in a whole period of D, by the rule; counted with integers, so exact.
#[test]
fn held_seconds_come_five_or_six_in_a_row() {
    let held = |s: i64| matches!(fate(s, 100_000), Some(Fate::Held(_)));
    let pairs = (0..PERIOD).filter(|s| held(*s) && held(*s + 1)).count();
    let begins = (0..PERIOD).filter(|s| !held(*s) && held(*s + 1)).count();
    // 52,581 and 12,955, but for seconds that a floor decides.
    assert!(pairs.abs_diff(52_581) <= 3 && begins.abs_diff(12_955) <= 3, "{pairs} {begins}");
    assert_eq!(shift(PERIOD), 0);
}

/// 25 s from a second that is 0 modulo 131,072, across 13 held boundaries and two seconds of each other kind.
#[test]
fn twenty_five_seconds_judged_at_the_fetch() {
    let start = 13_657 * PERIOD * SECOND + 500_050_000;
    let records = frames(card(), "ice-dpdk-26.07", start, 250_000, 100_000);
    let intervals = intervals(&records);
    let mut long: Vec<i64> = intervals.iter().copied().filter(|interval| *interval > 1_000_000_000).collect();
    long.sort_unstable();
    let (after_at_once, held) = long.split_at(2);
    assert!(held.len() == 13 && held.iter().all(|i| [6_732_928_000, 6_733_056_000].contains(i)), "{long:?}");
    for (interval, expected) in after_at_once.iter().zip([5_273_352_000_i64, 6_052_616_000]) {
        assert!((interval - expected).abs() <= 128_000, "{long:?}");
    }
    let at_once = records.iter().filter(|record| record.decision == Decision::Past).count();
    assert_eq!(at_once, 100_000);
    let back_to_back = intervals.iter().filter(|interval| **interval == WIRE_PS).count();
    assert!(back_to_back.abs_diff(657) <= 4, "{back_to_back}");
}

/// Hardware that compares at the head of the queue sees a late second's successor as future again.
#[test]
fn judged_at_the_head_the_lateness_grows_without_end() {
    let mut spec = card();
    spec.launch.as_mut().unwrap().compare.value = Compare::Head;
    let start_second = 13_657 * PERIOD;
    let records = frames(spec, "ice-dpdk-26.07", start_second * SECOND + 500_050_000, 250_000, 100_000);
    for record in &records {
        let passed = launch(record) / SECOND - start_second;
        let Decision::Held(held_ns) = record.decision else {
            panic!("at once: {record:?}");
        };
        // No modulus any more: the lateness is the sum of all steps.
        assert_eq!(held_ns as i64, launch(record) / UNIT * UNIT + passed * STEP);
    }
    let last = records.last().unwrap();
    assert!((last.launch_error.unwrap().as_ps() - 165_824_000_000).abs() <= 128_000, "{:?}", last.launch_error);
    let queued = records.iter().filter(|record| record.submitted_at <= last.submitted_at);
    let deepest = queued.filter(|record| record.started_at > last.submitted_at).count();
    assert!(deepest.abs_diff(1_660) <= 2, "{deepest}");
}

/// From a second that is 0 modulo 131,072 both readings of the hardware agree for five boundaries.
#[test]
fn both_readings_agree_from_the_start_of_a_period() {
    let start = 13_657 * PERIOD * SECOND + 500_050_000;
    let at_fetch = frames(card(), "ice-linux-6.18", start, 50_000, 100_000);
    let mut spec = card();
    spec.launch.as_mut().unwrap().compare.value = Compare::Head;
    let at_head = frames(spec, "ice-linux-6.18", start, 50_000, 100_000);
    let starts = |records: &[FrameRecord]| records.iter().map(|record| record.started_at).collect::<Vec<SimTime>>();
    assert_eq!(starts(&at_fetch), starts(&at_head));
}

#[test]
fn the_repaired_driver_keeps_every_launch_time() {
    for lead in [50_000, 100_000, 1_000_000, 5_000_000] {
        for second in seconds(20, lead) {
            let first = (second + 1) * SECOND - 100 * INTERVAL + 50_000;
            for record in frames(card(), "ice-fixed", first, 200, lead) {
                let floor = launch(&record) / UNIT * UNIT;
                // A field of 0 would mean no launch time; the driver writes 1.
                let planned = if floor % TURN == 0 { floor + UNIT } else { floor };
                assert_eq!(record.decision, Decision::Held(planned as u64));
            }
        }
    }
}
