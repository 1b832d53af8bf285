//! The full E830 model without a simulator: one stream in one loop, the same stage rules, no slot, queue or record.
//!
//! It is what a simulator of this model can at best cost, and only a measure of that if it does the same work:
//! [`check`] holds its figures against the product's report, to the last bit.

use nicsim_core::grid::{Grid, Period};
use nicsim_core::noise::Noise;
use nicsim_core::rng::Key;
use nicsim_core::stats::{Recorder, Summary, Unit};
use nicsim_core::time::{SimTime, Span};
use nicsim_models::driver::{Driver, TimeRing, View, WrapRule};
use nicsim_models::launch::{self, Decision, LaunchParameters};
use nicsim_models::mac::{self, Speed};
use nicsim_models::observer::Observer;
use nicsim_models::oscillator::Oscillator;
use nicsim_models::phc::{Osc, Phc};
use nicsim_models::release::Release;
use nicsim_models::source::Timing;
use nicsim_models::stamp::{self, CachedPhc, Readout};
use nicsim_models::world::KernelKind;
use nicsim_scenarios::scenario::Scenario;

/// The figures of every metric, by name.
pub(crate) type Figures = Vec<(&'static str, Summary)>;

/// Ends the bench when the figures of the bare loop are not those of the report.
pub(crate) fn check(scenario: &Scenario) {
    let report = nicsim_benches::scenarios::report(scenario, KernelKind::Slots);
    let figures = run(scenario);
    assert_eq!(figures.len(), report.metrics.len(), "the bare loop records every metric");
    for (name, summary) in &figures {
        // The printed form of a float is unique, so this compares bits.
        let (bare, product) = (format!("{summary:?}"), format!("{:?}", report.metrics[*name].summary));
        assert_eq!(bare, product, "{name}: the bare loop does not do the product's work");
    }
}

/// A phase in picoseconds, uniform below `period`, as the models draw it.
pub(crate) fn phase(key: Key, period: Period) -> i64 {
    let whole = (period.num() / period.den()).max(1);
    ((u128::from(key.bits(0)) * whole as u128) >> 64) as i64
}

/// The stages of one port and one stream.
struct Stages {
    phc: Phc,
    oscillator: Oscillator<Osc>,
    driver: &'static dyn Driver,
    wrap: WrapRule,
    ring_len: u32,
    time_ring: TimeRing,
    readout: Readout,
    fetch: Noise,
    launch: LaunchParameters,
    release: Release,
    blocks: Grid,
    speed: Speed,
    stamp: Noise,
    cached: CachedPhc,
    observer: Observer,
}

impl Stages {
    fn new(scenario: &Scenario) -> Self {
        let setup = &scenario.setup;
        let (nic, observer) = (setup.nic.as_ref().unwrap(), setup.observer.as_ref().unwrap());
        let (spec, root) = (&nic.spec, Key::root(setup.seed, setup.run));
        let key = root.named("nic");
        let stream = key.named("stream").child(0);
        let phc = Phc::new(spec.phc_parameters(), nic.phc_start_ns).unwrap();
        let (launch, stamps) = (spec.launch.as_ref().unwrap(), spec.tx_stamp.as_ref().unwrap());
        let tick = spec.mac.start_grid.as_ref().unwrap().value;
        Self {
            oscillator: Oscillator::new(nic.oscillator),
            driver: nic.driver.driver,
            wrap: nic.driver.driver.time_ring_wrap().unwrap(),
            ring_len: nic.ring_len,
            time_ring: TimeRing::new(nic.ring_len, launch.descriptor_fetch.value),
            readout: Readout::new(stamps.readout(), key.named("readout")),
            fetch: Noise::new(&spec.fetch.latency.value, stream.named("fetch")).unwrap(),
            launch: launch.parameters(),
            release: Release::new(&spec.jitter[nic.jitter].release.value, key, &[stream], &phc).unwrap(),
            blocks: Grid::new(tick, phase(key.named("start grid"), tick)),
            speed: nic.speed,
            stamp: Noise::new(&stamps.jitter.value, stream.named("tx stamp")).unwrap(),
            cached: CachedPhc::new(spec.phc.cache_refresh.value, &phc),
            observer: Observer::new(&observer.parameters, observer.oscillator, 0, root.named("instrument")).unwrap(),
            phc,
        }
    }
}

/// The seven metrics of one stream.
struct Recorders {
    observed_interval: Recorder,
    wire_interval: Recorder,
    launch_error: Recorder,
    tx_stamp_interval: Recorder,
    tx_stamp_error: Recorder,
    tx_stamp_vs_observer: Recorder,
    queueing_delay: Recorder,
}

impl Recorders {
    fn new(tick: Period, interval: Span) -> Self {
        let ticks = |tick: Period| {
            let (num, den) = (i128::from(tick.num()), i128::from(tick.den()));
            let nominal = (i128::from(interval.as_ps()) * den + num / 2) / num;
            Recorder::new(Unit::Ticks(tick), nominal as i64)
        };
        let deviation = || Recorder::new(Unit::Picoseconds, 0);
        Self {
            observed_interval: ticks(tick),
            wire_interval: Recorder::new(Unit::Picoseconds, interval.as_ps()),
            launch_error: deviation(),
            tx_stamp_interval: ticks(Period::whole(1_000).unwrap()),
            tx_stamp_error: deviation(),
            tx_stamp_vs_observer: deviation(),
            queueing_delay: deviation(),
        }
    }

    fn figures(&self) -> Figures {
        vec![
            ("observed_interval", self.observed_interval.summary()),
            ("wire_interval", self.wire_interval.summary()),
            ("launch_error", self.launch_error.summary()),
            ("tx_stamp_interval", self.tx_stamp_interval.summary()),
            ("tx_stamp_error", self.tx_stamp_error.summary()),
            ("tx_stamp_vs_observer", self.tx_stamp_vs_observer.summary()),
            ("queueing_delay", self.queueing_delay.summary()),
        ]
    }
}

/// What instruments read of the frame before.
#[derive(Clone, Copy)]
struct Readings {
    count: u32,
    start: SimTime,
    stamp_ns: u64,
}

/// Runs the scenario: one stream of scheduled frames that asks for stamps, one observer.
pub(crate) fn run(scenario: &Scenario) -> Figures {
    let stream = &scenario.setup.streams[0];
    let Timing::Scheduled { first_launch_ns, interval, lead } = stream.timing else {
        panic!("the bare loop knows scheduled frames only");
    };
    let (size, delay) = (stream.size, scenario.setup.link_delay);
    let mut stages = Stages::new(scenario);
    let tick = stages.observer.tick();
    let mut recorders = Recorders::new(tick, interval);
    let wire = stages.speed.wire_time(size);
    let (mut submitted_at, mut fetched_at, mut free_at) = (SimTime::ZERO, SimTime::ZERO, SimTime::ZERO);
    let (mut tail, mut before) = (0, None::<Readings>);
    let (mut ticks, mut first_difference) = (0_i64, None);
    for number in 0..stream.frames {
        let (phc, oscillator) = (&stages.phc, &stages.oscillator);
        // Source and driver.
        let launch_ns = first_launch_ns + number * interval.as_ps() as u64 / 1_000;
        submitted_at = oscillator.map().when(phc.line().when(phc.time_of(launch_ns) - lead)).max(submitted_at);
        let view = View {
            now_ns: phc.register(oscillator.map().at(submitted_at)).ns,
            tail: tail + 1,
            ring_len: stages.ring_len,
        };
        tail = if view.tail == stages.ring_len { 0 } else { view.tail };
        let word = stages.driver.encode_launch(&view, launch_ns).unwrap().word;
        std::hint::black_box(stages.time_ring.post(stages.wrap));
        assert!(stages.readout.request(submitted_at), "a register is free");
        // Fetch, comparison, release.
        fetched_at = (submitted_at + stages.fetch.sample(number, size)).max(submitted_at).max(fetched_at);
        let compared_ns = phc.register(oscillator.map().at(fetched_at)).ns;
        let due_at = match launch::decode(&stages.launch, u64::from(word), compared_ns) {
            Decision::Held(ns) => stages.release.at(phc.time_of(ns), 0, number, size, phc, oscillator),
            _ => fetched_at,
        };
        // Line and stamp.
        let turn = due_at.max(fetched_at).max(free_at);
        let start = mac::start_at(turn, Some(&stages.blocks), oscillator.map());
        let osc = oscillator.map().at(start);
        free_at = oscillator.map().when(osc + wire);
        let raw = stamp::capture(osc + stages.stamp.sample(number, size), phc);
        let read_at = stages.readout.captured(free_at);
        let stamp_ns = stamp::extend(raw.ns(), stages.cached.at(read_at, phc, oscillator));
        let on_phc = phc.line().at(osc);
        // Observer.
        let count = stages.observer.see(number, size, start + delay).count;
        // Records.
        if let Some(before) = before {
            let counts = count.wrapping_sub(before.count);
            ticks += i64::from(counts);
            recorders.observed_interval.record(i64::from(counts), number);
            recorders.wire_interval.record((start - before.start).as_ps(), number);
            recorders.tx_stamp_interval.record(stamp_ns.wrapping_sub(before.stamp_ns) as i64, number);
        }
        before = Some(Readings { count, start, stamp_ns });
        let difference = tick.ticks_to_ps(ticks).wrapping_sub((stamp_ns as i64).wrapping_mul(1_000));
        let vs_observer = difference.wrapping_sub(*first_difference.get_or_insert(difference));
        recorders.launch_error.record((on_phc - phc.time_of(launch_ns)).as_ps(), number);
        recorders.tx_stamp_error.record((phc.time_of(stamp_ns) - on_phc).as_ps(), number);
        recorders.tx_stamp_vs_observer.record(vs_observer, number);
        recorders.queueing_delay.record((start - submitted_at).as_ps(), number);
    }
    recorders.figures()
}
