//! Both kernels give the same records on random mixtures of streams, and the records keep the laws of a port.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeMap;

use common::{Mixture, mixture, run, run_both, with_kernel};
use nicsim_core::noise::NoiseSpec;
use nicsim_core::time::{SimTime, Span};
use nicsim_models::frame::{FrameRecord, TxStamp};
use nicsim_models::launch::Decision;
use nicsim_models::nic::NicSetup;
use nicsim_models::world::{KernelKind, World, WorldSetup};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn slots_and_reference_agree_frame_by_frame(mixture in mixture()) {
        let setup = mixture.setup();
        let slots = run(&with_kernel(&setup, KernelKind::Slots));
        let reference = run(&with_kernel(&setup, KernelKind::Reference));
        for (slots, reference) in slots.iter().zip(&reference) {
            prop_assert_eq!(slots, reference);
        }
        prop_assert_eq!(slots.len(), reference.len());
        prop_assert_eq!(common::fingerprint(&slots), common::fingerprint(&reference));
    }

    #[test]
    fn records_keep_the_laws_of_a_port(mixture in mixture()) {
        let setup = mixture.setup();
        let records = run(&setup);
        let nic = setup.nic.as_ref().unwrap();
        all_frames_are_sent_in_the_order_of_their_streams(&setup, &records)?;
        a_frame_s_life_has_its_order(&records)?;
        queues_are_first_in_first_out_and_never_hold_more_than_the_ring(nic, &records)?;
        the_line_carries_one_frame_at_a_time_and_is_not_idle(&mixture, nic, &records)?;
        a_stamp_needs_a_free_register(&setup, &records)?;
    }

    #[test]
    fn time_never_runs_backwards(mixture in mixture(), reference: bool) {
        let kernel = if reference { KernelKind::Reference } else { KernelKind::Slots };
        let mut world = World::new(&with_kernel(&mixture.setup(), kernel)).unwrap();
        let mut records: Vec<FrameRecord> = Vec::new();
        while world.has_frames() {
            let (now, seen) = (world.next_at(), records.len());
            // First what precedes submits, then the rest of the instant.
            world.advance_to(now, &mut records);
            prop_assert!(world.next_at() >= now, "{:?} after {now:?}", world.next_at());
            let now = now + Span::from_ps(1);
            world.advance_to(now, &mut records);
            prop_assert!(world.next_at() >= now, "{:?} after {now:?}", world.next_at());
            for record in &records[seen..] {
                prop_assert!(record.submitted_at < now && record.fetched_at < now && record.ready_at < now);
                prop_assert!(record.started_at + Span::from_ps(1) >= now);
            }
        }
    }
}

type Law = Result<(), TestCaseError>;

/// How long after it is free the line starts a frame: up to one block, by an oscillator at most 0.1 % off.
fn alignment(nic: &NicSetup) -> Span {
    nic.spec.mac.start_grid.as_ref().map_or(Span::ZERO, |_| Span::from_ps(6_410))
}

/// The end of a frame on the line in true time, and how far off that can be: the line runs by the card's oscillator,
/// whose rate is known but for rounding, unless it drifts (by less than 0.2 ppm of 1.3 us per 1 ppm of drift).
fn end_of(mixture: &Mixture, nic: &NicSetup, record: &FrameRecord) -> (SimTime, Span) {
    let wire = nic.speed.wire_time(record.size);
    let by_true_time = wire.as_ps() as f64 / (1.0 + mixture.offset_ppb as f64 * 1e-9);
    let slack = match (mixture.offset_ppb, mixture.drift_ppb) {
        (0, 0) => 0,
        (_, 0) => 2,
        _ => 300,
    };
    (record.started_at + Span::from_ps(by_true_time.round() as i64), Span::from_ps(slack))
}

fn all_frames_are_sent_in_the_order_of_their_streams(setup: &WorldSetup, records: &[FrameRecord]) -> Law {
    let mut next = vec![0; setup.streams.len()];
    for record in records {
        let stream = usize::from(record.id.stream);
        prop_assert_eq!(record.id.number, next[stream]);
        prop_assert_eq!(record.queue, setup.streams[stream].queue);
        prop_assert_eq!(record.size, setup.streams[stream].size);
        next[stream] += 1;
    }
    let frames: Vec<u64> = setup.streams.iter().map(|stream| stream.frames).collect();
    prop_assert_eq!(next, frames);
    Ok(())
}

fn a_frame_s_life_has_its_order(records: &[FrameRecord]) -> Law {
    for record in records {
        prop_assert!(record.submitted_at <= record.fetched_at, "{record:?}");
        prop_assert!(record.fetched_at <= record.ready_at, "{record:?}");
        prop_assert!(record.due_at <= record.ready_at, "{record:?}");
        prop_assert!(record.ready_at <= record.started_at, "{record:?}");
        match record.decision {
            Decision::Held(held_ns) => {
                prop_assert!(record.launch_ns.is_some() && held_ns > record.compared_ns, "{record:?}");
                prop_assert!(held_ns - record.compared_ns < 1 << 25, "{record:?}");
            }
            _ => {
                prop_assert_eq!(record.due_at, record.fetched_at);
                prop_assert!(!record.late);
            }
        }
        prop_assert_eq!(record.launch_ns.is_none(), record.decision == Decision::Unscheduled);
    }
    Ok(())
}

fn queues_are_first_in_first_out_and_never_hold_more_than_the_ring(nic: &NicSetup, records: &[FrameRecord]) -> Law {
    let mut queues: BTreeMap<u16, Vec<&FrameRecord>> = BTreeMap::new();
    records.iter().for_each(|record| queues.entry(record.queue).or_default().push(record));
    let ring = nic.ring_len as usize;
    for queue in queues.values() {
        for pair in queue.windows(2) {
            prop_assert!(pair[0].submitted_at <= pair[1].submitted_at);
            prop_assert!(pair[0].fetched_at <= pair[1].fetched_at);
        }
        for (first, last) in queue.iter().zip(queue.iter().skip(ring)) {
            // A descriptor comes free when its frame takes the line, which is a block before its start at most.
            prop_assert!(last.submitted_at + alignment(nic) >= first.started_at, "{last:?}\n{first:?}");
        }
    }
    Ok(())
}

fn the_line_carries_one_frame_at_a_time_and_is_not_idle(
    mixture: &Mixture,
    nic: &NicSetup,
    records: &[FrameRecord],
) -> Law {
    let (mut free_at, mut slack) = (SimTime::ZERO, Span::ZERO);
    for record in records {
        prop_assert!(record.started_at + slack >= free_at, "{record:?}, but the line is free at {free_at:?}");
        let takes_line = record.ready_at.max(free_at);
        prop_assert!(record.started_at - takes_line <= alignment(nic) + slack, "{record:?}");
        if let Decision::Held(_) = record.decision {
            let certain = free_at + slack < record.due_at || free_at - slack > record.due_at || slack == Span::ZERO;
            prop_assert!(!certain || record.late == (takes_line > record.due_at), "{record:?}");
        }
        (free_at, slack) = end_of(mixture, nic, record);
    }
    Ok(())
}

fn a_stamp_needs_a_free_register(setup: &WorldSetup, records: &[FrameRecord]) -> Law {
    let registers = setup.nic.as_ref().unwrap().spec.tx_stamp.as_ref().unwrap().registers.value;
    let read_at = |record: &FrameRecord| match record.tx_stamp {
        TxStamp::Read(stamp) => Some(stamp.read_at),
        _ => None,
    };
    for record in records {
        let asked = setup.streams[usize::from(record.id.stream)].tx_stamps;
        prop_assert_eq!(record.tx_stamp == TxStamp::NotRequested, !asked);
        let taken = |before: &dyn Fn(&FrameRecord) -> bool| {
            let others = records.iter().filter(|other| other.id != record.id && before(other));
            others.filter(|other| read_at(other).is_some_and(|read_at| read_at > record.submitted_at)).count()
        };
        match record.tx_stamp {
            TxStamp::Read(stamp) => {
                prop_assert!(stamp.read_at > record.started_at);
                prop_assert!(taken(&|other| other.submitted_at < record.submitted_at) < registers, "{record:?}");
            }
            // Of frames handed in at the same instant it is not known here which came first.
            TxStamp::NoRegister => {
                prop_assert!(taken(&|other| other.submitted_at <= record.submitted_at) >= registers, "{record:?}");
            }
            TxStamp::NotRequested => {}
        }
    }
    Ok(())
}

/// A noise expression can be negative; what it stands for, a length of time, cannot.
#[test]
fn a_fetch_does_not_end_before_the_submit() {
    let mut spec = common::e830();
    spec.fetch.latency.value = NoiseSpec::Normal(Span::from_ns(300));
    let nic = common::nic(spec, "ice-fixed", common::START_NS);
    let setup = common::world_of(nic, vec![common::stream(0, 100, 64, common::paced(1_000))]);
    for record in run_both(&setup) {
        assert!(record.fetched_at >= record.submitted_at, "{record:?}");
    }
}

/// The mixtures are of use only if they reach what the kernels could get wrong.
#[test]
fn the_mixtures_reach_the_hard_cases() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..300 {
        let mixture: Mixture = mixture().new_tree(&mut runner).unwrap().current();
        let records = run_both(&mixture.setup());
        let mut note = |name, found: bool| *seen.entry(name).or_default() += usize::from(found);
        let pairs = || records.windows(2);
        note("full ring", records.iter().any(|r| r.ready_at > r.fetched_at && r.late));
        note("lost stamp", records.iter().any(|r| r.tx_stamp == TxStamp::NoRegister));
        note("held", records.iter().any(|r| matches!(r.decision, Decision::Held(_))));
        note("at once", records.iter().any(|r| r.decision == Decision::Past));
        note("unset", records.iter().any(|r| r.decision == Decision::Unset));
        note("equal submits", pairs().any(|p| p[0].submitted_at == p[1].submitted_at && p[0].queue != p[1].queue));
        note("equal releases", pairs().any(|p| p[0].ready_at == p[1].ready_at && p[0].queue != p[1].queue));
        let end = |r: &FrameRecord| r.started_at + mixture.setup().nic.unwrap().speed.wire_time(r.size);
        note("ready as the line comes free", pairs().any(|p| p[1].ready_at == end(&p[0])));
        note("waits for the line", pairs().any(|p| p[1].ready_at < end(&p[0])));
        note("drift", mixture.drift_ppb != 0 && records.iter().any(|r| r.started_at > common::ns(10_000_000)));
        note("several queues", records.iter().any(|r| r.queue != records[0].queue));
        note("change while running", mixture.actions().iter().any(|a| records.iter().any(|r| r.submitted_at > a.0)));
    }
    assert!(seen.values().all(|count| *count >= 4), "{seen:?}");
}
