//! The step-wise interface: the same frames handed in one by one give the same records as sources of the world's own,
//! events come in the order of time, and what is refused changes nothing.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{
    Mixture, START_NS, capture, e830, ideal, mixture, nic, ns, paced, run, scheduled, stream, with_kernel, world_of,
};
use nicsim_core::noise::NoiseSpec;
use nicsim_core::rng::Key;
use nicsim_core::sink::Null;
use nicsim_core::time::{SimTime, Span};
use nicsim_models::frame::{FrameId, FrameRecord, Refused, TxStamp};
use nicsim_models::nic::ClockAction;
use nicsim_models::oscillator::OscillatorSpec;
use nicsim_models::phc::PhcError;
use nicsim_models::sender::SenderParameters;
use nicsim_models::source::{StreamSetup, Timing};
use nicsim_models::world::{ClockError, ClockId, Event, KernelKind, SenderSetup, World, WorldSetup};
use proptest::prelude::*;

const PHC: ClockId = ClockId::Phc { port: 0 };
const KERNELS: [KernelKind; 2] = [KernelKind::Slots, KernelKind::Reference];

/// The same world with nothing of its own: its streams take frames from outside, its clock is left alone.
fn external(setup: &WorldSetup) -> WorldSetup {
    let mut setup = setup.clone();
    setup.streams.iter_mut().for_each(|stream| stream.timing = Timing::External);
    setup.nic.as_mut().unwrap().clock_actions.clear();
    setup
}

/// Hands in the frames of `records` and does the clock actions, each at its instant.
fn replay(world: &mut World, records: &[FrameRecord], actions: &[(SimTime, ClockAction)], into: &mut Vec<FrameRecord>) {
    let mut frames: Vec<&FrameRecord> = records.iter().collect();
    frames.sort_by_key(|record| (record.submitted_at, record.id));
    let mut actions = actions.iter().peekable();
    for frame in frames {
        while let Some((at, action)) = actions.next_if(|action| action.0 <= frame.submitted_at) {
            world.advance_to(*at, into);
            world.adjust_clock(PHC, *action).unwrap();
        }
        world.advance_to(frame.submitted_at, into);
        assert_eq!(world.now(), frame.submitted_at);
        let id = world.submit(usize::from(frame.id.stream), frame.size, frame.launch_ns).unwrap();
        assert_eq!(id, frame.id);
    }
    for (at, action) in actions {
        world.advance_to(*at, into);
        world.adjust_clock(PHC, *action).unwrap();
    }
    world.advance_to(SimTime::NEVER, into);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn frames_handed_in_one_by_one_fare_as_those_of_internal_sources(mixture in mixture(), reference: bool) {
        // A ring that never fills: an application outside would have to wait for a descriptor by itself.
        let mixture = Mixture { ring: 512, ..mixture };
        let internal = mixture.setup();
        let records = run(&internal);
        let kernel = if reference { KernelKind::Reference } else { KernelKind::Slots };
        let mut world = World::new(&with_kernel(&external(&internal), kernel)).unwrap();
        let mut stepped = Vec::new();
        replay(&mut world, &records, &mixture.actions(), &mut stepped);
        for (stepped, record) in stepped.iter().zip(&records) {
            prop_assert_eq!(stepped.observed, record.observed);
            prop_assert_eq!(stepped, record);
        }
        prop_assert_eq!(stepped.len(), records.len());
    }

    #[test]
    fn small_steps_and_one_great_step_are_the_same(mixture in mixture(), reference: bool, seed: u64) {
        let kernel = if reference { KernelKind::Reference } else { KernelKind::Slots };
        let setup = with_kernel(&mixture.setup(), kernel);
        let mut world = World::new(&setup).unwrap();
        world.enable_events();
        let key = Key::root(seed, 0);
        let (mut records, mut events, mut step) = (Vec::new(), Vec::new(), 0);
        while world.has_frames() {
            // To the next instant, a little further, or over many.
            let bits = key.bits(step);
            step += 1;
            let further = match bits % 3 {
                0 => 0,
                1 => (bits >> 8) % 3_000,
                _ => (bits >> 8) % 20_000_000,
            };
            let now = world.now().max(world.next_at()) + Span::from_ps(further as i64);
            world.advance_to(now, &mut records);
            events.extend(world.events());
            prop_assert!(events.iter().all(|event: &Event| event.at() <= now));
            // At the present, submits and what follows them are still to be done.
            let next = world.next_at();
            prop_assert!(next >= now, "{:?} at {:?}", next, now);
            if next == now {
                world.advance_to(now + Span::from_ps(1), &mut records);
            }
        }
        let acted_until = world.now();
        world.advance_to(SimTime::NEVER, &mut records);
        events.extend(world.events());
        prop_assert_eq!(&records, &run(&setup));
        check_events(&mixture, acted_until, &records, &events)?;
    }

    #[test]
    fn a_clone_continues_identically(mixture in mixture(), reference: bool, part in 0_u64..100) {
        let kernel = if reference { KernelKind::Reference } else { KernelKind::Slots };
        let setup = with_kernel(&mixture.setup(), kernel);
        let whole = run(&setup);
        let end = whole.last().unwrap().started_at;
        let mut world = World::new(&setup).unwrap();
        let mut records = Vec::new();
        world.advance_to(SimTime::from_ps(end.as_ps() / 100 * part as i64), &mut records);
        let (mut clone, mut cloned) = (world.clone(), records.clone());
        clone.advance_to(SimTime::NEVER, &mut cloned);
        prop_assert_eq!(&cloned, &whole);
        // What the clone did has not touched the original.
        world.advance_to(SimTime::NEVER, &mut records);
        prop_assert_eq!(&records, &whole);
    }
}

/// Every frame is announced once, every stamp once, every clock action once, and time does not run backwards.
fn check_events(
    mixture: &Mixture,
    acted_until: SimTime,
    records: &[FrameRecord],
    events: &[Event],
) -> Result<(), TestCaseError> {
    for pair in events.windows(2) {
        prop_assert!(pair[0].at() <= pair[1].at(), "{:?} before {:?}", pair[0], pair[1]);
    }
    let sent: Vec<(FrameId, SimTime)> = events.iter().filter_map(sent).collect();
    let expected: Vec<(FrameId, SimTime)> = records.iter().map(|record| (record.id, record.started_at)).collect();
    prop_assert_eq!(sent, expected);
    let mut stamps: Vec<(FrameId, Option<u64>, SimTime)> = events.iter().filter_map(stamp).collect();
    stamps.sort_by_key(|stamp| stamp.0);
    let mut expected: Vec<_> = records
        .iter()
        .filter_map(|record| match record.tx_stamp {
            TxStamp::Read(stamp) => Some((record.id, Some(stamp.ns), stamp.read_at)),
            TxStamp::NoRegister => Some((record.id, None, record.started_at)),
            TxStamp::NotRequested => None,
        })
        .collect();
    expected.sort_by_key(|stamp| stamp.0);
    prop_assert_eq!(stamps, expected);
    let changes: Vec<SimTime> =
        events.iter().filter(|e| matches!(e, Event::ClockChanged { .. })).map(Event::at).collect();
    // Actions at one instant are one change; a drifting oscillator changes the clock too.
    let actions: Vec<_> = mixture.actions().into_iter().filter(|action| action.0 <= acted_until).collect();
    prop_assert!(actions.iter().all(|action| changes.contains(&action.0)), "{changes:?}");
    prop_assert!(mixture.drift_ppb != 0 || changes.len() <= actions.len());
    Ok(())
}

fn sent(event: &Event) -> Option<(FrameId, SimTime)> {
    match *event {
        Event::Sent { frame, at } => Some((frame, at)),
        _ => None,
    }
}

fn stamp(event: &Event) -> Option<(FrameId, Option<u64>, SimTime)> {
    match *event {
        Event::StampReady { frame, ns, at } => Some((frame, Some(ns), at)),
        Event::StampLost { frame, at } => Some((frame, None, at)),
        _ => None,
    }
}

#[test]
fn worlds_can_be_sent_to_threads_and_cloned() {
    fn needs<T: Send + Clone + 'static>() {}
    needs::<World>();
    let setup = world_of(nic(ideal(100), "ice-fixed", START_NS), vec![stream(0, 10, 64, paced(1_000))]);
    let mut world = World::new(&setup).unwrap();
    let elsewhere = std::thread::spawn(move || {
        let mut records = Vec::new();
        world.advance_to(SimTime::NEVER, &mut records);
        records
    });
    assert_eq!(elsewhere.join().unwrap(), run(&setup));
}

/// Two frames of an external stream through a ring of two, and one stream of the world's own.
fn small(kernel: KernelKind) -> World {
    let mut nic = nic(ideal(1_000), "ice-fixed", START_NS);
    nic.ring_len = 2;
    let streams = vec![stream(0, 5, 64, Timing::External), stream(1, 1, 64, scheduled(500_000, 1_000, 1_000))];
    World::new(&WorldSetup { observer: Some(capture()), ..with_kernel(&world_of(nic, streams), kernel) }).unwrap()
}

fn launch(after_start_ns: u64) -> Option<u64> {
    Some(START_NS + after_start_ns)
}

#[test]
fn what_is_refused_is_an_error_and_changes_nothing() {
    for kernel in KERNELS {
        let frames = |refusals: bool| {
            let mut world = small(kernel);
            let mut records = Vec::new();
            world.advance_to(ns(5_000), &mut records);
            world.submit(0, 64, launch(100_096)).unwrap();
            world.submit(0, 64, launch(110_080)).unwrap();
            if refusals {
                let clone = world.clone();
                assert_eq!(world.submit(0, 64, launch(120_064)), Err(Refused::RingFull { queue: 0 }));
                assert_eq!(world.submit(1, 64, None), Err(Refused::NotExternal { stream: 1 }));
                assert_eq!(world.submit(2, 64, None), Err(Refused::NotExternal { stream: 2 }));
                assert_eq!(world.counts(0).submitted, 2);
                assert_eq!(world.counts(0).refused, 0, "the driver refused none: its ring was full");
                assert_eq!(world.counts(1), clone.counts(1));
            }
            world.advance_to(ns(105_000), &mut records);
            for launch_ns in [120_064, 130_048, 140_032] {
                world.advance_to(ns(launch_ns as i64 - 10_000), &mut records);
                world.submit(0, 64, launch(launch_ns)).unwrap();
            }
            if refusals {
                assert_eq!(world.submit(0, 64, None), Err(Refused::Complete { stream: 0 }));
            }
            world.advance_to(SimTime::NEVER, &mut records);
            records
        };
        let plain = frames(false);
        assert_eq!(plain.iter().filter(|record| record.id.stream == 0).count(), 5);
        assert_eq!(frames(true), plain);
    }
}

#[test]
fn a_driver_without_launch_times_refuses_them() {
    let nic = nic(ideal(1_000), "generic", START_NS);
    let mut world = World::new(&world_of(nic, vec![stream(0, 5, 64, Timing::External)])).unwrap();
    assert_eq!(world.submit(0, 64, launch(10_240)), Err(Refused::Driver));
    let id = world.submit(0, 64, None).unwrap();
    assert_eq!(id, FrameId { port: 0, stream: 0, number: 0 }, "the refused frame has taken no number");
    let mut records = Vec::new();
    world.advance_to(SimTime::NEVER, &mut records);
    assert_eq!((records.len(), records[0].started_at), (1, ns(1_000)));
}

#[test]
fn a_world_without_a_card_takes_no_frames_and_has_no_clock() {
    let setup = WorldSetup { nic: None, ..world_of(nic(ideal(0), "ice-fixed", START_NS), Vec::new()) };
    let mut world = World::new(&setup).unwrap();
    assert_eq!(world.submit(0, 64, None), Err(Refused::NotExternal { stream: 0 }));
    assert_eq!(world.read_clock(PHC), Err(ClockError::NoClock(PHC)));
    assert_eq!(world.adjust_clock(PHC, ClockAction::Adjtime(1)), Err(ClockError::NoClock(PHC)));
    assert_eq!(world.next_at(), SimTime::NEVER);
}

#[test]
fn clocks_are_read_adjusted_stepped_and_set_at_the_present() {
    for kernel in KERNELS {
        let mut world = small(kernel);
        world.enable_events();
        let read = |world: &World| world.read_clock(PHC).unwrap() - START_NS;
        assert_eq!(read(&world), 0);
        world.advance_to(ns(1_000), &mut Null);
        assert_eq!(read(&world), 1_000);
        world.adjust_clock(PHC, ClockAction::Adjtime(-300)).unwrap();
        assert_eq!(read(&world), 700);
        world.advance_to(ns(2_000), &mut Null);
        assert_eq!(read(&world), 1_700);
        world.adjust_clock(PHC, ClockAction::Settime(START_NS + 50)).unwrap();
        assert_eq!(read(&world), 50);
        // 10 % fast: 65,536 · 100,000 scaled ppm. The increment is 2^32 · 1.1 per nanosecond.
        world.adjust_clock(PHC, ClockAction::Adjfine(65_536 * 100_000)).unwrap();
        world.advance_to(ns(12_000), &mut Null);
        assert!((11_049..=11_050).contains(&read(&world)), "{}", read(&world));
        let wrong = ClockError::Refused(PhcError::OutOfRange { asked: 100_000_001, max: 100_000_000 });
        let before = world.clone();
        assert_eq!(world.adjust_clock(PHC, ClockAction::Adjfine(65_536 * 100_000 + 66)), Err(wrong));
        assert_eq!(read(&world), read(&before), "a refused adjustment changes nothing");
        let other = ClockId::Phc { port: 1 };
        assert_eq!(world.read_clock(other), Err(ClockError::NoClock(other)));
        assert_eq!(world.adjust_clock(other, ClockAction::Adjtime(1)), Err(ClockError::NoClock(other)));
        let changes: Vec<Event> = world.events().collect();
        let at = [ns(1_000), ns(2_000), ns(2_000)];
        assert_eq!(changes, at.map(|at| Event::ClockChanged { clock: PHC, at }), "refused ones are none");
    }
}

#[test]
fn an_adjustment_by_hand_is_that_of_the_scenario() {
    let actions = vec![
        (ns(40_000), ClockAction::Adjfine(65_536 * 50)),
        (ns(130_000), ClockAction::Adjtime(-7_000)),
        (ns(130_000), ClockAction::Adjtime(2_000)),
        (ns(300_000), ClockAction::Adjtime(40_000)),
    ];
    let streams = || vec![stream(0, 60, 64, scheduled(10_000, 10_000, 7_000)), stream(1, 100, 300, paced(5_000))];
    let mut card = nic(e830(), "ice-fixed", START_NS);
    let by_hand = world_of(card.clone(), streams());
    card.clock_actions = actions.clone();
    let expected = run(&world_of(card, streams()));
    for kernel in KERNELS {
        let mut world = World::new(&with_kernel(&by_hand, kernel)).unwrap();
        let mut records = Vec::new();
        for &(at, action) in &actions {
            world.advance_to(at, &mut records);
            world.adjust_clock(PHC, action).unwrap();
        }
        world.advance_to(SimTime::NEVER, &mut records);
        assert_eq!(records, expected);
    }
}

#[test]
fn a_world_with_a_drifting_oscillator_comes_to_its_end() {
    for kernel in KERNELS {
        let mut card = nic(e830(), "ice-fixed", START_NS);
        card.oscillator = OscillatorSpec { drift_per_second: "1ppb".parse().unwrap(), ..OscillatorSpec::default() };
        let setup =
            with_kernel(&world_of(card, vec![stream(0, 10, 64, scheduled(1_000_000, 1_000_000, 50_000))]), kernel);
        let mut world = World::new(&setup).unwrap();
        let mut records = Vec::new();
        // A thousand steps of at most a second suffice for 10 ms, or it never ends.
        let mut steps = 0;
        while world.has_frames() && steps < 1_000 {
            let until = world.next_at() + Span::from_ns(1_000_000_000);
            world.advance_to(until, &mut records);
            steps += 1;
        }
        assert_eq!(records.len(), 10);
        assert!(!world.has_frames(), "nothing is to come but pieces of the oscillator");
        assert_eq!(run(&setup), records, "to the end at once");
    }
}

#[test]
fn the_last_frame_s_events_are_pending_until_their_instants() {
    // On 6.4 ns blocks a frame takes the line up to a block before it starts, and its stamp comes 7.5 us after.
    for kernel in KERNELS {
        for seed in 0..20 {
            let stamped = StreamSetup { tx_stamps: seed % 2 == 0, ..stream(0, 1, 64, Timing::External) };
            let setup = with_kernel(&world_of(nic(e830(), "ice-fixed", START_NS), vec![stamped]), kernel);
            let mut world = World::new(&WorldSetup { seed, ..setup }).unwrap();
            world.enable_events();
            world.submit(0, 64, None).unwrap();
            let mut events = Vec::new();
            while world.next_at() != SimTime::NEVER {
                let now = world.next_at() + Span::from_ps(1);
                world.advance_to(now, &mut Null);
                events.extend(world.events());
            }
            let names: Vec<bool> = events.iter().map(|event| sent(event).is_some()).collect();
            let expected: &[bool] = if seed % 2 == 0 { &[true, false] } else { &[true] };
            assert_eq!(names, expected, "seed {seed}: {events:?}");
        }
    }
}

#[test]
fn a_clock_change_between_a_frame_s_turn_and_its_start_is_told_first() {
    // The frame takes the line at 1,000 ns and starts on the next block, up to 6.4 ns later; the clock is stepped
    // every nanosecond in between.
    for seed in 0..10 {
        let mut card = nic(e830(), "ice-fixed", START_NS);
        card.clock_actions = (1..8).map(|k| (ns(1_000 + k), ClockAction::Adjtime(1))).collect();
        let setup = WorldSetup { seed, ..world_of(card, vec![stream(0, 1, 64, paced(1_000))]) };
        let mut world = World::new(&setup).unwrap();
        world.enable_events();
        world.advance_to(ns(10_000), &mut Null);
        let events: Vec<Event> = world.events().collect();
        assert_eq!(events.len(), 8);
        assert!(events.windows(2).all(|pair| pair[0].at() <= pair[1].at()), "seed {seed}: {events:?}");
    }
}

/// A sender at the other end of a cable on which frames travel for 500 ns, and a stream of the card's own.
fn with_sender(link_delay: Span) -> WorldSetup {
    let sender = SenderSetup {
        parameters: SenderParameters {
            clock: Some("6.4ns".parse().unwrap()),
            speed: "10Gbps".parse().unwrap(),
            phy: None,
        },
        oscillator: OscillatorSpec { offset: "7.55ppm".parse().unwrap(), ..OscillatorSpec::default() },
        streams: vec![stream(
            0,
            200,
            64,
            Timing::Paced { interval: Span::from_ns(300), jitter: NoiseSpec::Uniform([Span::ZERO, Span::from_ns(50)]) },
        )],
    };
    let card = nic(e830(), "ice-fixed", START_NS);
    WorldSetup {
        sender: Some(sender),
        link_delay,
        ..world_of(card, vec![StreamSetup { tx_stamps: true, ..stream(0, 100, 64, paced(450)) }])
    }
}

#[test]
fn received_frames_are_told_when_they_arrive() {
    for link_delay in [Span::ZERO, Span::from_ns(500)] {
        for kernel in KERNELS {
            let setup = with_kernel(&with_sender(link_delay), kernel);
            let mut world = World::new(&setup).unwrap();
            world.enable_events();
            let (mut records, mut events): (Vec<FrameRecord>, Vec<Event>) = (Vec::new(), Vec::new());
            for step in 0..400 {
                world.advance_to(ns(step * 250), &mut records);
                events.extend(world.events());
            }
            let received = events.iter().filter(|event| matches!(event, Event::Received { .. })).count();
            assert_eq!((received, records.len()), (200, 300));
            for pair in events.windows(2) {
                assert!(pair[0].at() <= pair[1].at(), "delay {link_delay}: {:?} before {:?}", pair[0], pair[1]);
            }
        }
    }
}

#[test]
fn a_receive_stamp_is_of_the_clock_at_the_arrival() {
    // A frame is sent at 0 and arrives after 1 ms; in between the clock is set forward by a second.
    let mut setup = with_sender(Span::from_ns(1_000_000));
    setup.streams.clear();
    setup.nic.as_mut().unwrap().clock_actions = vec![(ns(500_000), ClockAction::Adjtime(1_000_000_000))];
    for record in run(&setup) {
        let stamp = record.rx_stamp.unwrap();
        let arrives = record.started_at + setup.link_delay;
        let stepped = if arrives >= ns(500_000) { 1_000_000_000 } else { 0 };
        let expected = START_NS as i64 + arrives.as_ps() / 1_000 + stepped;
        assert!((stamp.ns as i64 - expected).abs() <= 6, "{} instead of {expected}", stamp.ns);
    }
}
