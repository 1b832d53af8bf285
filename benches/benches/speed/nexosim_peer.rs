//! The E830's stages as four models of the general engine NeXosim, with nicsim's stage rules inside.

use std::time::{Duration, Instant};

use nexosim::model::{Context, Model, schedulable};
use nexosim::ports::{EventSource, Output};
use nexosim::simulation::{Mailbox, SimInit};
use nexosim::time::MonotonicTime;
use nicsim_core::grid::Grid;
use nicsim_core::noise::{Noise, NoiseSpec};
use nicsim_core::rng::Key;
use nicsim_core::stats::{Recorder, Unit};
use nicsim_core::time::SimTime;
use nicsim_models::driver::{self, View};
use nicsim_models::launch::{self, Decision, LaunchParameters};
use nicsim_models::mac;
use nicsim_models::observer::{Observer, ObserverParameters, Unwrap};
use nicsim_models::oscillator::{Oscillator, OscillatorSpec};
use nicsim_models::phc::{Osc, Phc};
use nicsim_models::registry;
use nicsim_models::release::Release;
use nicsim_models::spec::{NicSpec, SpecFile};
use nicsim_models::stamp;
use serde::{Deserialize, Serialize};

const START_NS: u64 = 1_790_000_000_000_000_000;
const INTERVAL_NS: u64 = 100_000;
const LEAD_NS: u64 = 100_000;

/// A frame on its way between the models.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Frame {
    number: u64,
    launch_ns: u64,
    word: u32,
    /// The instant in picoseconds; the engine's clock has nanoseconds.
    at_ps: i64,
}

fn spec() -> NicSpec {
    registry::read_nic(&SpecFile::parse("e830", registry::nic_text("e830").unwrap()).unwrap()).unwrap()
}

fn clocks() -> (Phc, Oscillator<Osc>) {
    (Phc::new(spec().phc_parameters(), START_NS).unwrap(), Oscillator::new(OscillatorSpec::default()))
}

#[derive(Default, Serialize, Deserialize)]
struct Submit {
    output: Output<Frame>,
    frames: u64,
    number: u64,
}

#[Model]
impl Submit {
    #[nexosim(schedulable)]
    async fn submit(&mut self, _: (), context: &Context<Self>) {
        let launch_ns = START_NS + LEAD_NS + self.number * INTERVAL_NS;
        let view = View { now_ns: launch_ns - LEAD_NS, tail: 1, ring_len: 1_024 };
        let driver = driver::find("ice-fixed").unwrap().driver;
        let word = driver.encode_launch(&view, launch_ns).unwrap().word;
        let at_ps = (self.number * INTERVAL_NS * 1_000) as i64;
        self.output.send(Frame { number: self.number, launch_ns, word, at_ps }).await;
        self.number += 1;
        if self.number < self.frames {
            context.schedule_event(Duration::from_nanos(INTERVAL_NS), schedulable!(Self::submit), ()).unwrap();
        }
    }
}

#[derive(Default, Serialize, Deserialize)]
struct Fetch {
    output: Output<Frame>,
}

#[Model]
impl Fetch {
    fn input(&mut self, frame: Frame, context: &Context<Self>) {
        let frame = Frame { at_ps: frame.at_ps + 1_000_000, ..frame };
        context.schedule_event(Duration::from_nanos(1_000), schedulable!(Self::fetched), frame).unwrap();
    }

    #[nexosim(schedulable)]
    async fn fetched(&mut self, frame: Frame) {
        self.output.send(frame).await;
    }
}

struct ReleaseStage {
    launch: LaunchParameters,
    release: Release,
    phc: Phc,
    oscillator: Oscillator<Osc>,
}

#[derive(Default, Serialize, Deserialize)]
struct Hold {
    output: Output<Frame>,
    #[serde(skip)]
    stage: Option<Box<ReleaseStage>>,
}

#[Model]
impl Hold {
    fn input(&mut self, frame: Frame, context: &Context<Self>) {
        let stage = self.stage.as_mut().unwrap();
        let now = SimTime::from_ps(frame.at_ps);
        let phc_ns = stage.phc.register(stage.oscillator.map().at(now)).ns;
        let Decision::Held(ns) = launch::decode(&stage.launch, u64::from(frame.word), phc_ns) else {
            panic!("every frame of this schedule is held");
        };
        let ready = stage.release.at(stage.phc.time_of(ns), 0, frame.number, 64, &stage.phc, &stage.oscillator);
        let wait = ((ready - now).as_ps() / 1_000).max(1) as u64;
        let frame = Frame { at_ps: ready.as_ps(), ..frame };
        context.schedule_event(Duration::from_nanos(wait), schedulable!(Self::ready), frame).unwrap();
    }

    #[nexosim(schedulable)]
    async fn ready(&mut self, frame: Frame) {
        self.output.send(frame).await;
    }
}

struct LineStage {
    phc: Phc,
    oscillator: Oscillator<Osc>,
    blocks: Grid,
    stamp: Noise,
    observer: Observer,
    unwrap: Unwrap,
    last: Option<i64>,
    recorder: Recorder,
}

#[derive(Default, Serialize, Deserialize)]
struct Line {
    #[serde(skip)]
    stage: Option<Box<LineStage>>,
}

#[Model]
impl Line {
    fn input(&mut self, frame: Frame) {
        let stage = self.stage.as_mut().unwrap();
        let start = mac::start_at(SimTime::from_ps(frame.at_ps), Some(&stage.blocks), stage.oscillator.map());
        let osc = stage.oscillator.map().at(start);
        std::hint::black_box(stamp::capture(osc + stage.stamp.sample(frame.number, 64), &stage.phc));
        let ticks = stage.unwrap.next(stage.observer.see(frame.number, 64, start).count);
        if let Some(last) = stage.last.replace(ticks) {
            stage.recorder.record(ticks - last, frame.number);
        }
    }
}

/// Simulates `frames` frames; the set-up is not counted.
pub(crate) fn simulate(frames: u64) -> Duration {
    let (mut submit, mut fetch) = (Submit { frames, ..Submit::default() }, Fetch::default());
    let (mut hold, mut line) = (Hold::default(), Line::default());
    let spec = spec();
    let root = Key::root(1, 0);
    let (phc, oscillator) = clocks();
    let release = Release::new(&spec.jitter[0].release.value, root, &[root.child(0)], &phc).unwrap();
    let launch = spec.launch.as_ref().unwrap().parameters();
    hold.stage = Some(Box::new(ReleaseStage { launch, release, phc, oscillator }));
    let (phc, oscillator) = clocks();
    let tick = "6.4ns".parse().unwrap();
    let observer = ObserverParameters { tick, jitter: NoiseSpec::NONE };
    let offset = OscillatorSpec { offset: "7.55ppm".parse().unwrap(), ..OscillatorSpec::default() };
    line.stage = Some(Box::new(LineStage {
        phc,
        oscillator,
        blocks: Grid::new(tick, 0),
        stamp: Noise::new(&spec.tx_stamp.as_ref().unwrap().jitter.value, root).unwrap(),
        observer: Observer::new(&observer, offset, 0, root).unwrap(),
        unwrap: Unwrap::default(),
        last: None,
        recorder: Recorder::new(Unit::Ticks(tick), 15_625),
    }));
    let (submit_box, fetch_box, hold_box, line_box) = (Mailbox::new(), Mailbox::new(), Mailbox::new(), Mailbox::new());
    submit.output.connect(Fetch::input, &fetch_box);
    fetch.output.connect(Hold::input, &hold_box);
    hold.output.connect(Line::input, &line_box);
    let mut init = SimInit::with_num_threads(1);
    let first = EventSource::new().connect(Submit::submit, &submit_box).register(&mut init);
    let mut simulation = init
        .add_model(submit, submit_box, "submit")
        .add_model(fetch, fetch_box, "fetch")
        .add_model(hold, hold_box, "hold")
        .add_model(line, line_box, "line")
        .init(MonotonicTime::EPOCH)
        .unwrap();
    simulation.process_event(&first, ()).unwrap();
    let start = Instant::now();
    simulation.step_until(Duration::from_nanos((frames + 10) * INTERVAL_NS)).unwrap();
    start.elapsed()
}
