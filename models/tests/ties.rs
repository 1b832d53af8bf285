//! What happens at one and the same instant: clock changes first, then submits stream by stream, then fetches queue by
//! queue, then the transmitter. Random mixtures of noisy streams hardly ever meet these cases, so they are made here
//! on an ideal card, where every instant is a whole number of nanoseconds. Both kernels run each.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{START_NS, ideal, nic, ns, paced, ps, run_both, scheduled, stream, with_kernel, world_of};
use nicsim_core::sink::Null;
use nicsim_core::time::{SimTime, Span};
use nicsim_models::frame::FrameRecord;
use nicsim_models::launch::{Compare, Decision};
use nicsim_models::nic::{ClockAction, NicSetup};
use nicsim_models::oscillator::OscillatorSpec;
use nicsim_models::source::{StreamSetup, Timing};
use nicsim_models::world::{KernelKind, World, WorldSetup};

/// A frame of this size holds the line for 128 ns, one unit of launch times.
const UNIT_SIZE: u32 = 140;

fn card(fetch_ns: i64) -> NicSetup {
    nic(ideal(fetch_ns), "ice-fixed", START_NS)
}

fn run(nic: NicSetup, streams: Vec<StreamSetup>) -> Vec<FrameRecord> {
    run_both(&world_of(nic, streams))
}

fn stepped(fetch_ns: i64, actions: &[(i64, ClockAction)]) -> NicSetup {
    let clock_actions = actions.iter().map(|&(at, action)| (ns(at), action)).collect();
    NicSetup { clock_actions, ..card(fetch_ns) }
}

fn starts(records: &[FrameRecord]) -> Vec<(u16, i64)> {
    records.iter().map(|record| (record.id.stream, record.started_at.as_ps())).collect()
}

/// Hands in frames of external streams, each at its instant \[ns\], and answers the records of both kernels.
fn hand_in(setup: &WorldSetup, frames: &[(i64, usize)]) -> Vec<FrameRecord> {
    let run = |kernel| {
        let mut world = World::new(&with_kernel(setup, kernel)).unwrap();
        let mut records = Vec::new();
        for &(at, stream) in frames {
            world.advance_to(ns(at), &mut records);
            world.submit(stream, setup.streams[stream].size, None).unwrap();
        }
        world.advance_to(SimTime::NEVER, &mut records);
        records
    };
    let slots = run(KernelKind::Slots);
    assert_eq!(slots, run(KernelKind::Reference));
    slots
}

#[test]
fn two_submits_at_once_into_one_queue_go_stream_by_stream() {
    let records = run(card(100), vec![stream(0, 3, 64, paced(1_000)), stream(0, 3, 64, paced(1_000))]);
    assert_eq!(
        starts(&records),
        [(0, 100_000), (1, 167_200), (0, 1_100_000), (1, 1_167_200), (0, 2_100_000), (1, 2_167_200)]
    );
    assert!(records.chunks(2).all(|pair| pair[0].submitted_at == pair[1].submitted_at));
    assert!(records.chunks(2).all(|pair| pair[0].fetched_at == pair[1].fetched_at));
}

#[test]
fn two_submits_at_once_into_two_queues_leave_the_lowest_queue_first() {
    let records = run(card(100), vec![stream(3, 2, 64, paced(1_000)), stream(1, 2, 64, paced(1_000))]);
    assert_eq!(starts(&records), [(1, 100_000), (0, 167_200), (1, 1_100_000), (0, 1_167_200)]);
}

#[test]
fn many_slots_have_the_same_order() {
    let streams: Vec<StreamSetup> = (0..12).map(|k| stream(11 - k, 2, 64, paced(10_000))).collect();
    let records = run(card(100), streams);
    let order: Vec<u16> = records.iter().map(|record| record.queue).collect();
    assert_eq!(order, (0..12).chain(0..12).collect::<Vec<u16>>());
}

/// One frame every 10,240 ns, handed in 5,120 ns ahead: submits at 5,120, 15,360 and 25,600 ns.
fn launches() -> Vec<StreamSetup> {
    vec![stream(0, 3, UNIT_SIZE, scheduled(10_240, 10_240, 5_120))]
}

fn submits(records: &[FrameRecord]) -> Vec<SimTime> {
    records.iter().map(|record| record.submitted_at).collect()
}

#[test]
fn without_a_step_frames_start_at_their_launch_times() {
    let records = run(card(1_024), launches());
    assert_eq!(submits(&records), [ns(5_120), ns(15_360), ns(25_600)]);
    assert_eq!(starts(&records), [(0, 10_240_000), (0, 20_480_000), (0, 30_720_000)]);
    assert!(records.iter().all(|record| record.launch_error == Some(Span::ZERO) && !record.late));
}

#[test]
fn a_step_back_at_a_submit_puts_it_off() {
    let records = run(stepped(1_024, &[(15_360, ClockAction::Adjtime(-2_048))]), launches());
    assert_eq!(submits(&records), [ns(5_120), ns(17_408), ns(27_648)]);
    assert_eq!(starts(&records), [(0, 10_240_000), (0, 22_528_000), (0, 32_768_000)]);
}

#[test]
fn a_step_forward_at_a_submit_leaves_it_where_it_is() {
    let records = run(stepped(1_024, &[(15_360, ClockAction::Adjtime(2_048))]), launches());
    assert_eq!(submits(&records), [ns(5_120), ns(15_360), ns(23_552)]);
    assert_eq!(starts(&records), [(0, 10_240_000), (0, 18_432_000), (0, 28_672_000)]);
}

#[test]
fn a_step_forward_over_a_submit_makes_it_happen_at_the_step() {
    // The second frame, by the new clock, was due at 10,240 ns and is launched at 15,360 ns, if it is fetched before.
    for (at, second) in [(12_000, 15_360), (14_000, 15_360), (15_000, 16_024)] {
        let records = run(stepped(1_024, &[(at, ClockAction::Adjtime(5_120))]), launches());
        assert_eq!(submits(&records), [ns(5_120), ns(at), ns(20_480)]);
        assert_eq!(starts(&records), [(0, 10_240_000), (0, second * 1_000), (0, 25_600_000)]);
    }
}

#[test]
fn a_step_at_a_fetch_is_seen_by_the_comparison() {
    for compare in [Compare::Fetch, Compare::Head] {
        for (at, seen) in [(6_143, 512), (6_144, 512), (6_145, 0)] {
            let mut nic = stepped(1_024, &[(at, ClockAction::Adjtime(512))]);
            nic.spec.launch.as_mut().unwrap().compare.value = compare;
            let records = run(nic, launches());
            assert_eq!(records[0].fetched_at, ns(6_144));
            assert_eq!(records[0].compared_ns, START_NS + 6_144 + seen, "step at {at} ns");
            assert_eq!(records[0].decision, Decision::Held(START_NS + 10_240));
            assert_eq!(records[0].started_at, ns(10_240 - 512));
        }
    }
}

#[test]
fn a_step_at_a_fetch_can_turn_the_future_into_the_past() {
    for (at, decision, start) in [
        (6_144, Decision::Past, 6_144),
        // One nanosecond later the frame has been found to be in the future; the step lets it go.
        (6_145, Decision::Held(START_NS + 10_240), 6_145),
    ] {
        let records = run(stepped(1_024, &[(at, ClockAction::Adjtime(10_000))]), launches());
        assert_eq!((records[0].decision, records[0].started_at), (decision, ns(start)));
    }
}

#[test]
fn a_step_back_before_a_launch_holds_the_frame_longer() {
    for at in [10_000, 10_239] {
        let records = run(stepped(1_024, &[(at, ClockAction::Adjtime(-1_024))]), launches());
        assert_eq!(records[0].started_at, ns(11_264), "step at {at} ns");
        assert!(!records[0].late);
    }
}

#[test]
fn a_step_back_at_a_launch_is_seen_by_it() {
    let records = run(stepped(1_024, &[(10_240, ClockAction::Adjtime(-1_024))]), launches());
    assert_eq!(records[0].started_at, ns(11_264));
}

#[test]
fn a_step_back_after_a_launch_comes_too_late() {
    let records = run(stepped(1_024, &[(10_241, ClockAction::Adjtime(-1_024))]), launches());
    assert_eq!(records[0].started_at, ns(10_240));
    assert_eq!(records[1].started_at, ns(20_480 + 1_024));
}

#[test]
fn a_step_forward_over_a_launch_lets_the_frame_go_at_the_step() {
    for (at, start) in [(9_000, 9_216), (9_216, 9_216), (9_500, 9_500), (10_239, 10_239), (10_240, 10_240)] {
        let records = run(stepped(1_024, &[(at, ClockAction::Adjtime(1_024))]), launches());
        assert_eq!(records[0].started_at, ns(start), "step at {at} ns");
    }
}

#[test]
fn a_frame_that_waits_for_the_line_stays_let_go() {
    // Queue 0 holds the line from 10,240 to 11,470.4 ns; queue 1 is let go at 10,368 ns and waits.
    let streams = vec![
        stream(0, 1, 1_518, scheduled(10_240, 10_240, 5_120)),
        stream(1, 1, UNIT_SIZE, scheduled(10_368, 10_240, 5_120)),
    ];
    let records = run(stepped(1_024, &[(11_000, ClockAction::Adjtime(-5_120))]), streams);
    assert_eq!(starts(&records), [(0, 10_240_000), (1, 11_470_400)]);
    assert_eq!(records[1].ready_at, ns(10_368));
    assert!(records[1].late);
}

#[test]
fn steps_at_one_instant_act_in_their_order() {
    let set = ClockAction::Settime(START_NS + 8_192);
    let step = ClockAction::Adjtime(1_024);
    // Set to 8,192 and 1,024 more: 9,216 at 8,000 ns, so 10,240 at 9,024 ns. The other way round the step is lost.
    let records = run(stepped(1_024, &[(8_000, set), (8_000, step)]), launches());
    assert_eq!(records[0].started_at, ns(9_024));
    let records = run(stepped(1_024, &[(8_000, step), (8_000, set)]), launches());
    assert_eq!(records[0].started_at, ns(10_048));
}

#[test]
fn a_step_where_a_drifting_oscillator_s_piece_begins() {
    // Pieces begin every 10 ms; frames are due, fetched and launched around that instant.
    for at in [9_999_999, 10_000_000, 10_000_001] {
        for step in [-1_024, 1_024, 100_000] {
            let mut nic = stepped(0, &[(at, ClockAction::Adjtime(step))]);
            nic.oscillator =
                OscillatorSpec { offset: "20ppm".parse().unwrap(), drift_per_second: "50ppm".parse().unwrap() };
            let streams =
                vec![stream(0, 2_000, 64, scheduled(10_240, 10_240, 5_120)), stream(1, 100, 64, paced(200_000))];
            assert_eq!(run(nic, streams).len(), 2_100);
        }
    }
}

#[test]
fn a_frame_that_becomes_ready_as_the_line_comes_free_starts_there_and_is_not_late() {
    let streams = vec![
        stream(0, 1, UNIT_SIZE, scheduled(10_240, 10_240, 5_120)),
        stream(1, 1, UNIT_SIZE, scheduled(10_368, 10_240, 5_120)),
    ];
    let records = run(card(1_024), streams);
    assert_eq!(starts(&records), [(0, 10_240_000), (1, 10_368_000)]);
    assert!(!records[1].late);
}

#[test]
fn as_the_line_comes_free_whoever_was_let_go_first_starts_then_the_lowest_queue() {
    let at = |queue, first| stream(queue, 1, UNIT_SIZE, scheduled(first, 10_240, 5_120));
    // Queues 0 and 3 are let go together; queues 1 and 2 at the very instant at which queue 0 has left.
    let records = run(card(1_024), vec![at(0, 10_240), at(1, 10_368), at(2, 10_368), at(3, 10_240)]);
    assert_eq!(starts(&records), [(0, 10_240_000), (3, 10_368_000), (1, 10_496_000), (2, 10_624_000)]);
    let late: Vec<bool> = records.iter().map(|record| record.late).collect();
    assert_eq!(late, [false, true, true, true]);
}

#[test]
fn a_frame_fetched_as_the_line_comes_free_competes_for_it() {
    let external = |queue| stream(queue, 2, UNIT_SIZE, Timing::External);
    let setup = world_of(card(100), vec![external(0), external(1), external(2)]);
    // Stream 1 holds the line from 100 to 228 ns, when both others arrive on the chip.
    let records = hand_in(&setup, &[(0, 1), (128, 2), (128, 0)]);
    assert_eq!(starts(&records), [(1, 100_000), (0, 228_000), (2, 356_000)]);
    // One nanosecond earlier, stream 2 is let go first.
    let records = hand_in(&setup, &[(0, 1), (127, 2), (128, 0)]);
    assert_eq!(starts(&records), [(1, 100_000), (2, 228_000), (0, 356_000)]);
}

#[test]
fn without_a_fetch_time_all_stages_happen_at_one_instant() {
    let records = run(card(0), vec![stream(0, 3, 64, Timing::BackToBack)]);
    assert_eq!(starts(&records), [(0, 0), (0, 67_200), (0, 134_400)]);
    assert!(records.iter().all(|record| record.submitted_at == ns(0) && record.fetched_at == ns(0)));
    // Two streams of 128 ns frames every 128 ns: each instant has submits, fetches, and a line that comes free.
    let streams = vec![stream(1, 2, UNIT_SIZE, paced(128)), stream(0, 2, UNIT_SIZE, paced(128))];
    let records = run(card(0), streams);
    assert_eq!(starts(&records), [(1, 0), (0, 128_000), (1, 256_000), (0, 384_000)]);
}

#[test]
fn a_descriptor_that_comes_free_as_a_submit_is_due_is_taken_at_once() {
    let nic = NicSetup { ring_len: 1, ..card(1_024) };
    // Frame k takes the line at k · 10,240 ns, when frame k + 1 is due.
    let records = run(nic, vec![stream(0, 5, UNIT_SIZE, scheduled(10_240, 10_240, 10_240))]);
    for (k, record) in records.iter().enumerate() {
        assert_eq!((record.submitted_at, record.started_at), (ns(10_240 * k as i64), ns(10_240 * (k as i64 + 1))));
    }
}

#[test]
fn of_two_streams_that_wait_for_one_descriptor_the_first_takes_it() {
    let nic = NicSetup { ring_len: 1, ..card(1_024) };
    let streams = || vec![stream(0, 2, UNIT_SIZE, Timing::BackToBack), stream(0, 2, UNIT_SIZE, Timing::BackToBack)];
    let records = run(nic.clone(), streams());
    let order: Vec<(u16, u64)> = records.iter().map(|record| (record.id.stream, record.id.number)).collect();
    assert_eq!(order, [(0, 0), (0, 1), (1, 0), (1, 1)]);
    for pair in records.windows(2) {
        assert_eq!(pair[1].submitted_at, pair[0].started_at, "the descriptor is taken as it comes free");
    }
    // With two descriptors both are served before either comes again.
    let records = run(NicSetup { ring_len: 2, ..nic }, vec![streams().remove(0), stream(0, 2, UNIT_SIZE, paced(1))]);
    assert_eq!(records.len(), 4);
}

#[test]
fn a_step_while_a_stream_waits_for_a_descriptor_leaves_it_waiting() {
    for step in [-50_000, 50_000] {
        let nic = NicSetup { ring_len: 1, ..stepped(1_024, &[(9_000, ClockAction::Adjtime(step))]) };
        // The second frame is due at 5,248 ns, when the first still waits for 10,240 ns.
        let records = run(nic, vec![stream(0, 3, UNIT_SIZE, scheduled(10_240, 128, 5_120))]);
        assert_eq!(records[0].submitted_at, ns(5_120));
        let launched = if step > 0 { 9_000 } else { 60_240 };
        assert_eq!(records[0].started_at, ns(launched));
        assert_eq!(records[1].submitted_at, ns(launched), "when the first has left");
    }
}

#[test]
fn a_register_that_comes_free_as_a_frame_asks_is_given_to_it() {
    let mut nic = card(1_000);
    let stamps = nic.spec.tx_stamp.as_mut().unwrap();
    stamps.registers.value = 1;
    // Handed in at 0, starts at 1,000, has left at 1,128, wake-up 6,000, read 1,500: free at 8,628 ns.
    for (interval, reads) in [(8_627, 1), (8_628, 2)] {
        let stamped = StreamSetup { tx_stamps: true, ..stream(0, 2, UNIT_SIZE, paced(interval)) };
        let records = run(nic.clone(), vec![stamped]);
        let read = records.iter().filter(|r| matches!(r.tx_stamp, nicsim_models::frame::TxStamp::Read(_))).count();
        assert_eq!(read, reads, "interval {interval} ns");
    }
}

#[test]
fn after_advancing_to_an_instant_a_submit_there_still_gets_the_line() {
    // Stream 1 is let go at 10,240 ns in queue 1; a frame handed in then to queue 0, without a fetch time, is ahead of it.
    let streams =
        vec![stream(0, 1, UNIT_SIZE, Timing::External), stream(1, 1, UNIT_SIZE, scheduled(10_240, 10_240, 5_120))];
    for kernel in [KernelKind::Slots, KernelKind::Reference] {
        let setup = with_kernel(&world_of(card(0), streams.clone()), kernel);
        let mut world = World::new(&setup).unwrap();
        let mut records = Vec::new();
        world.advance_to(ns(10_240), &mut records);
        assert!(records.is_empty(), "nothing is decided yet");
        assert_eq!(world.next_at(), ns(10_240));
        world.submit(0, UNIT_SIZE, None).unwrap();
        world.advance_to(SimTime::NEVER, &mut records);
        assert_eq!(starts(&records), [(0, 10_240_000), (1, 10_368_000)]);
        // One picosecond later it is decided.
        let mut world = World::new(&setup).unwrap();
        world.advance_to(ns(10_240) + Span::from_ps(1), &mut Null);
        world.submit(0, UNIT_SIZE, None).unwrap();
        let mut later = Vec::new();
        world.advance_to(SimTime::NEVER, &mut later);
        assert_eq!(starts(&later), [(0, 10_368_000)]);
        assert_eq!(later[0].submitted_at, ps(10_240_001));
    }
}
