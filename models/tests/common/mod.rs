//! Worlds for the tests: the built-in E830, an ideal card without noise, and random mixtures of streams.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use nicsim_core::noise::{Exponential, NoiseSpec};
use nicsim_core::sink::{Fingerprint, Sink};
use nicsim_core::time::{SimTime, Span};
use nicsim_models::driver;
use nicsim_models::frame::FrameRecord;
use nicsim_models::launch::Compare;
use nicsim_models::nic::{ClockAction, NicSetup};
use nicsim_models::observer::ObserverParameters;
use nicsim_models::oscillator::OscillatorSpec;
use nicsim_models::registry;
use nicsim_models::release::ReleaseSpec;
use nicsim_models::source::{StreamSetup, Timing};
use nicsim_models::spec::{NicSpec, SpecFile};
use nicsim_models::world::{KernelKind, ObserverSetup, World, WorldSetup};
use proptest::prelude::*;

pub(crate) const ICE_DRIVERS: [&str; 4] = ["ice-fixed", "ice-linux-6.18", "ice-oot-1.16.3", "ice-dpdk-26.07"];

/// What the PHC of [`ideal`] cards reads at the start [ns]: far from a time field of 0.
pub(crate) const START_NS: u64 = (1 << 40) + (1 << 20);

pub(crate) fn ps(ps: i64) -> SimTime {
    SimTime::from_ps(ps)
}

pub(crate) fn ns(ns: i64) -> SimTime {
    SimTime::ZERO + Span::from_ns(ns)
}

/// The built-in E830.
pub(crate) fn e830() -> NicSpec {
    registry::read_nic(&SpecFile::parse("e830", registry::nic_text("e830").unwrap()).unwrap()).unwrap()
}

/// An E830 without noise: frames start anywhere and are let go at their launch times, the PHC counts whole
/// nanoseconds of true time, and a fetch takes `fetch_ns`. What happens at which picosecond can be written down.
pub(crate) fn ideal(fetch_ns: i64) -> NicSpec {
    let mut spec = e830();
    spec.phc.tick.value = "1ns".parse().unwrap();
    spec.phc.increment.value = 1 << 32;
    spec.mac.start_grid = None;
    spec.fetch.latency.value = NoiseSpec::Constant(Span::from_ns(fetch_ns));
    for jitter in &mut spec.jitter {
        jitter.release.value = ReleaseSpec { poll: None, before: NoiseSpec::NONE, after: NoiseSpec::NONE };
    }
    if let Some(stamps) = &mut spec.tx_stamp {
        stamps.jitter.value = NoiseSpec::NONE;
        stamps.stall = None;
    }
    spec
}

pub(crate) fn nic(spec: NicSpec, driver: &str, phc_start_ns: u64) -> NicSetup {
    NicSetup {
        jitter: 0,
        driver: driver::find(driver).unwrap(),
        speed: spec.mac.speeds.value[0],
        ring_len: spec.queue.default_ring.value,
        phc_start_ns,
        oscillator: OscillatorSpec::default(),
        clock_actions: Vec::new(),
        spec,
    }
}

pub(crate) fn world_of(nic: NicSetup, streams: Vec<StreamSetup>) -> WorldSetup {
    WorldSetup {
        seed: 1,
        run: 0,
        kernel: KernelKind::Slots,
        nic: Some(nic),
        streams,
        sender: None,
        observer: None,
        link_delay: Span::ZERO,
    }
}

/// The FPGA capture, a little fast.
pub(crate) fn capture() -> ObserverSetup {
    ObserverSetup {
        parameters: ObserverParameters { tick: "6.4ns".parse().unwrap(), jitter: NoiseSpec::NONE },
        oscillator: OscillatorSpec { offset: "7.55ppm".parse().unwrap(), ..OscillatorSpec::default() },
    }
}

pub(crate) fn stream(queue: u16, frames: u64, size: u32, timing: Timing) -> StreamSetup {
    StreamSetup { name: format!("queue {queue}"), frames, size, queue, timing, tx_stamps: false }
}

/// Launch times from `first_ns` after [`START_NS`] on.
pub(crate) fn scheduled(first_ns: u64, interval_ns: i64, lead_ns: i64) -> Timing {
    Timing::Scheduled {
        first_launch_ns: START_NS + first_ns,
        interval: Span::from_ns(interval_ns),
        lead: Span::from_ns(lead_ns),
    }
}

pub(crate) fn paced(interval_ns: i64) -> Timing {
    Timing::Paced { interval: Span::from_ns(interval_ns), jitter: NoiseSpec::NONE }
}

/// All records of a run to the end.
pub(crate) fn run(setup: &WorldSetup) -> Vec<FrameRecord> {
    let mut records = Vec::new();
    World::new(setup).unwrap().advance_to(SimTime::NEVER, &mut records);
    records
}

pub(crate) fn with_kernel(setup: &WorldSetup, kernel: KernelKind) -> WorldSetup {
    WorldSetup { kernel, ..setup.clone() }
}

/// The records of a run to the end, which must be the same from both kernels.
pub(crate) fn run_both(setup: &WorldSetup) -> Vec<FrameRecord> {
    let slots = run(&with_kernel(setup, KernelKind::Slots));
    assert_eq!(slots, run(&with_kernel(setup, KernelKind::Reference)), "the kernels disagree");
    slots
}

pub(crate) fn fingerprint(records: &[FrameRecord]) -> u64 {
    let mut digest = Fingerprint::default();
    records.iter().for_each(|record| digest.take(record));
    digest.value()
}

/// A random mixture of streams on one port.
#[derive(Debug, Clone)]
pub(crate) struct Mixture {
    pub(crate) seed: u64,
    pub(crate) driver: usize,
    pub(crate) jitter: usize,
    /// Without noise, so that many instants are equal.
    pub(crate) ideal: bool,
    pub(crate) compare_at_head: bool,
    pub(crate) fetch: usize,
    pub(crate) ring: u32,
    pub(crate) registers: usize,
    pub(crate) offset_ppb: i64,
    pub(crate) drift_ppb: i64,
    pub(crate) phc_start_ns: u64,
    pub(crate) actions: Vec<(i64, Change)>,
    pub(crate) streams: Vec<Traffic>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Change {
    Adjfine(i64),
    Adjtime(i64),
    /// To what it reads at the start, plus this.
    Settime(i64),
}

#[derive(Debug, Clone)]
pub(crate) struct Traffic {
    pub(crate) frames: u64,
    pub(crate) size: u32,
    pub(crate) queue: u16,
    pub(crate) tx_stamps: bool,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Scheduled { first: i64, interval: i64, lead: i64 },
    Paced { interval: i64, jitter: usize },
    BackToBack,
}

/// Times are multiples of this, so that without noise they often coincide \[ns\].
const QUANTUM: i64 = 64;

fn kind() -> impl Strategy<Value = Kind> {
    let interval = prop_oneof![6 => 1_i64..60, 2 => 60_i64..1_600, 1 => 1_600_i64..16_000];
    prop_oneof![
        4 => (0_i64..200, interval.clone(), prop_oneof![Just(0_i64), 0_i64..800])
            .prop_map(|(first, interval, lead)| Kind::Scheduled { first: first + lead, interval, lead }),
        2 => (interval, 0_usize..3).prop_map(|(interval, jitter)| Kind::Paced { interval, jitter }),
        1 => Just(Kind::BackToBack),
    ]
}

fn traffic() -> impl Strategy<Value = Traffic> {
    // Wire times that are whole quanta, the shortest and the longest frame, and any.
    let size = prop_oneof![Just(64_u32), Just(140), Just(300), Just(1_518), 64_u32..1_519];
    let queue = prop_oneof![6 => 0_u16..3, 3 => 0_u16..8, 1 => 0_u16..30];
    (1_u64..50, size, queue, any::<bool>(), kind()).prop_map(|(frames, size, queue, tx_stamps, kind)| Traffic {
        frames,
        size,
        queue,
        tx_stamps,
        kind,
    })
}

fn change() -> impl Strategy<Value = Change> {
    let ppb = prop_oneof![-50_000_i64..50_000, -100_000_000_i64..100_000_000];
    let step = prop_oneof![-300_i64..300, -800_000_i64..800_000];
    prop_oneof![
        ppb.prop_map(Change::Adjfine),
        step.clone().prop_map(|quanta| Change::Adjtime(quanta * QUANTUM)),
        step.prop_map(|quanta| Change::Settime(quanta * QUANTUM)),
    ]
}

pub(crate) fn mixture() -> impl Strategy<Value = Mixture> {
    // Before a second, before the end of a turn of the time field, and anywhere; all are whole quanta.
    let start = prop_oneof![
        Just(1_790_050_304_999_990_016_u64),
        Just((1 << 60) + (1 << 26) - (1 << 14)),
        (1_u64 << 30..1 << 54).prop_map(|quanta| quanta * QUANTUM as u64),
    ];
    let card = (0_usize..4, 0_usize..3, any::<bool>(), any::<bool>(), 0_usize..3, 1_u32..9, 1_usize..5);
    let clock = (
        prop_oneof![Just(0_i64), -100_000_i64..100_000],
        prop_oneof![3 => Just(0_i64), 1 => -1_000_000_i64..1_000_000],
        start,
        proptest::collection::vec((0_i64..1_000, change()), 0..4),
    );
    (any::<u64>(), card, clock, proptest::collection::vec(traffic(), 1..9)).prop_map(
        |(seed, (driver, jitter, ideal, compare_at_head, fetch, ring, registers), clock, streams)| {
            let (offset_ppb, drift_ppb, phc_start_ns, mut actions) = clock;
            actions.sort_by_key(|action| action.0);
            Mixture {
                seed,
                driver,
                jitter,
                ideal,
                compare_at_head,
                fetch,
                ring,
                registers,
                // An ideal card keeps true time.
                offset_ppb: if ideal { 0 } else { offset_ppb },
                drift_ppb: if ideal { 0 } else { drift_ppb },
                phc_start_ns,
                actions,
                streams,
            }
        },
    )
}

impl Mixture {
    pub(crate) fn actions(&self) -> Vec<(SimTime, ClockAction)> {
        let action = |change: Change| match change {
            Change::Adjfine(ppb) => ClockAction::Adjfine(nicsim_models::phc::scaled_ppm_of_ppb(ppb)),
            Change::Adjtime(step) => ClockAction::Adjtime(step),
            Change::Settime(step) => ClockAction::Settime(self.phc_start_ns.wrapping_add_signed(step)),
        };
        self.actions.iter().map(|&(quanta, change)| (ns(quanta * QUANTUM), action(change))).collect()
    }

    pub(crate) fn setup(&self) -> WorldSetup {
        let mut spec = if self.ideal { ideal(1_024) } else { e830() };
        spec.fetch.latency.value = match self.fetch {
            0 => spec.fetch.latency.value.clone(),
            1 => NoiseSpec::NONE,
            _ => NoiseSpec::Uniform([Span::ZERO, Span::from_ns(3_000)]),
        };
        if let Some(launch) = spec.launch.as_mut().filter(|_| self.compare_at_head) {
            launch.compare.value = Compare::Head;
        }
        if let Some(stamps) = &mut spec.tx_stamp {
            stamps.registers.value = self.registers;
        }
        let mut nic = nic(spec, ICE_DRIVERS[self.driver], self.phc_start_ns);
        nic.jitter = self.jitter;
        nic.ring_len = self.ring;
        nic.oscillator = OscillatorSpec {
            offset: format!("{}ppb", self.offset_ppb).parse().unwrap(),
            drift_per_second: format!("{}ppb", self.drift_ppb).parse().unwrap(),
        };
        nic.clock_actions = self.actions();
        let streams = self.streams.iter().map(|traffic| self.stream(traffic)).collect();
        WorldSetup { seed: self.seed, observer: Some(capture()), ..world_of(nic, streams) }
    }

    fn stream(&self, traffic: &Traffic) -> StreamSetup {
        let timing = match traffic.kind {
            Kind::Scheduled { first, interval, lead } => Timing::Scheduled {
                first_launch_ns: self.phc_start_ns + (first * QUANTUM) as u64,
                interval: Span::from_ns(interval * QUANTUM),
                lead: Span::from_ns(lead * QUANTUM),
            },
            Kind::Paced { interval, jitter } => {
                let jitter = match jitter {
                    0 => NoiseSpec::NONE,
                    1 => NoiseSpec::Exponential(Exponential { mean: Span::from_ns(300), cut: None }),
                    _ => NoiseSpec::Normal(Span::from_ns(50)),
                };
                Timing::Paced { interval: Span::from_ns(interval * QUANTUM), jitter }
            }
            Kind::BackToBack => Timing::BackToBack,
        };
        StreamSetup { tx_stamps: traffic.tx_stamps, ..stream(traffic.queue, traffic.frames, traffic.size, timing) }
    }
}
