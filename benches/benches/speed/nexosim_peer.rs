//! The E830's stages as four models of the general engine NeXosim, with nicsim's stage rules inside and one metric of
//! its seven: the observed interval. [`check`] holds that against the product's report.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nexosim::model::{Context, Model, schedulable};
use nexosim::ports::{EventSource, Output};
use nexosim::simulation::{Mailbox, SimInit};
use nexosim::time::MonotonicTime;
use nicsim_core::grid::Grid;
use nicsim_core::noise::Noise;
use nicsim_core::rng::Key;
use nicsim_core::stats::{Recorder, Summary, Unit};
use nicsim_core::time::SimTime;
use nicsim_models::driver::{Driver, View};
use nicsim_models::launch::{self, Decision, LaunchParameters};
use nicsim_models::mac;
use nicsim_models::nic::NicSetup;
use nicsim_models::observer::Observer;
use nicsim_models::oscillator::Oscillator;
use nicsim_models::phc::{Osc, Phc};
use nicsim_models::release::Release;
use nicsim_models::source::Timing;
use nicsim_models::stamp;
use nicsim_models::world::KernelKind;
use nicsim_scenarios::scenario::Scenario;
use serde::{Deserialize, Serialize};

use crate::bare;

/// Size of every frame with FCS \[octets\].
const SIZE: u32 = 64;

/// A frame on its way between the models.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Frame {
    number: u64,
    word: u32,
    /// The instant in picoseconds; the engine's clock has nanoseconds.
    at_ps: i64,
}

/// The driver and the schedule.
struct SubmitStage {
    driver: &'static dyn Driver,
    phc: Phc,
    oscillator: Oscillator<Osc>,
    first_launch_ns: u64,
    interval_ns: u64,
    lead: nicsim_core::time::Span,
    frames: u64,
    number: u64,
}

impl SubmitStage {
    /// When frame `number` reaches the driver, and its launch time.
    fn due(&self, number: u64) -> (SimTime, u64) {
        let launch_ns = self.first_launch_ns + number * self.interval_ns;
        let on_phc = self.phc.time_of(launch_ns) - self.lead;
        (self.oscillator.map().when(self.phc.line().when(on_phc)), launch_ns)
    }
}

#[derive(Default, Serialize, Deserialize)]
struct Submit {
    output: Output<Frame>,
    #[serde(skip)]
    stage: Option<Box<SubmitStage>>,
}

#[Model]
impl Submit {
    #[nexosim(schedulable)]
    async fn submit(&mut self, _: (), context: &Context<Self>) {
        let stage = self.stage.as_mut().unwrap();
        let number = stage.number;
        let (now, launch_ns) = stage.due(number);
        let now_ns = stage.phc.register(stage.oscillator.map().at(now)).ns;
        let view = View { now_ns, tail: 1, ring_len: 1_024 };
        let word = stage.driver.encode_launch(&view, launch_ns).unwrap().word;
        stage.number += 1;
        if stage.number < stage.frames {
            let wait = wait(now, stage.due(stage.number).0);
            context.schedule_event(wait, schedulable!(Self::submit), ()).unwrap();
        }
        self.output.send(Frame { number, word, at_ps: now.as_ps() }).await;
    }
}

/// From `now` to `later`, in whole nanoseconds of the engine's clock.
fn wait(now: SimTime, later: SimTime) -> Duration {
    Duration::from_nanos(((later - now).as_ps() / 1_000).max(1) as u64)
}

#[derive(Default, Serialize, Deserialize)]
struct Fetch {
    output: Output<Frame>,
    #[serde(skip)]
    latency: Option<Box<Noise>>,
}

#[Model]
impl Fetch {
    fn input(&mut self, frame: Frame, context: &Context<Self>) {
        let now = SimTime::from_ps(frame.at_ps);
        let fetched = now + self.latency.as_mut().unwrap().sample(frame.number, SIZE);
        let frame = Frame { at_ps: fetched.as_ps(), ..frame };
        context.schedule_event(wait(now, fetched), schedulable!(Self::fetched), frame).unwrap();
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
        let ready = stage.release.at(stage.phc.time_of(ns), 0, frame.number, SIZE, &stage.phc, &stage.oscillator);
        let ready = ready.max(now);
        let frame = Frame { at_ps: ready.as_ps(), ..frame };
        context.schedule_event(wait(now, ready), schedulable!(Self::ready), frame).unwrap();
    }

    #[nexosim(schedulable)]
    async fn ready(&mut self, frame: Frame) {
        self.output.send(frame).await;
    }
}

/// Where the last frame leaves the figures.
type Figures = Arc<Mutex<Option<Summary>>>;

struct LineStage {
    phc: Phc,
    oscillator: Oscillator<Osc>,
    blocks: Grid,
    stamp: Noise,
    observer: Observer,
    last: Option<u32>,
    recorder: Recorder,
    frames: u64,
    figures: Figures,
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
        std::hint::black_box(stamp::capture(osc + stage.stamp.sample(frame.number, SIZE), &stage.phc));
        let count = stage.observer.see(frame.number, SIZE, start).count;
        if let Some(last) = stage.last.replace(count) {
            stage.recorder.record(i64::from(count.wrapping_sub(last)), frame.number);
        }
        if frame.number + 1 == stage.frames {
            *stage.figures.lock().unwrap() = Some(stage.recorder.summary());
        }
    }
}

/// Ends the bench when the observed intervals are not the product's, to the last bit.
pub(crate) fn check(scenario: &Scenario) {
    let report = nicsim_benches::scenarios::report(scenario, KernelKind::Slots);
    let product = &report.metrics["observed_interval"].summary;
    assert_eq!(format!("{:?}", run(scenario).0), format!("{product:?}"), "NeXosim does not do the product's work");
}

fn clocks(nic: &NicSetup) -> (Phc, Oscillator<Osc>) {
    (Phc::new(nic.spec.phc_parameters(), nic.phc_start_ns).unwrap(), Oscillator::new(nic.oscillator))
}

fn submit(scenario: &Scenario, nic: &NicSetup) -> SubmitStage {
    let stream = &scenario.setup.streams[0];
    let Timing::Scheduled { first_launch_ns, interval, lead } = stream.timing else {
        panic!("these models know scheduled frames only");
    };
    let (phc, oscillator) = clocks(nic);
    let (driver, interval_ns) = (nic.driver.driver, interval.as_ps() as u64 / 1_000);
    SubmitStage { driver, phc, oscillator, first_launch_ns, interval_ns, lead, frames: stream.frames, number: 0 }
}

fn release(nic: &NicSetup, key: Key, stream: Key) -> ReleaseStage {
    let (phc, oscillator) = clocks(nic);
    let release = Release::new(&nic.spec.jitter[nic.jitter].release.value, key, &[stream], &phc).unwrap();
    ReleaseStage { launch: nic.spec.launch.as_ref().unwrap().parameters(), release, phc, oscillator }
}

fn line(scenario: &Scenario, submit: &SubmitStage, key: Key, stream: Key, figures: &Figures) -> LineStage {
    let (nic, observer) = (scenario.setup.nic.as_ref().unwrap(), scenario.setup.observer.as_ref().unwrap());
    let (phc, oscillator) = clocks(nic);
    let (grid, tick) = (nic.spec.mac.start_grid.as_ref().unwrap().value, observer.parameters.tick);
    let instrument = Key::root(scenario.setup.seed, scenario.setup.run).named("instrument");
    let (num, den) = (i128::from(tick.num()), i128::from(tick.den()));
    let nominal = (i128::from(submit.interval_ns) * 1_000 * den + num / 2) / num;
    LineStage {
        phc,
        oscillator,
        blocks: Grid::new(grid, bare::phase(key.named("start grid"), grid)),
        stamp: Noise::new(&nic.spec.tx_stamp.as_ref().unwrap().jitter.value, stream.named("tx stamp")).unwrap(),
        observer: Observer::new(&observer.parameters, observer.oscillator, 0, instrument).unwrap(),
        last: None,
        recorder: Recorder::new(Unit::Ticks(tick), nominal as i64),
        frames: submit.frames,
        figures: Arc::clone(figures),
    }
}

/// Runs the scenario (one stream); answers the observed intervals and the time without set-up.
pub(crate) fn run(scenario: &Scenario) -> (Summary, Duration) {
    let nic = scenario.setup.nic.as_ref().unwrap();
    let key = Key::root(scenario.setup.seed, scenario.setup.run).named("nic");
    let stream = key.named("stream").child(0);
    let figures = Figures::default();
    let stage = submit(scenario, nic);
    let (frames, interval_ns) = (stage.frames, stage.interval_ns);
    let latency = Noise::new(&nic.spec.fetch.latency.value, stream.named("fetch")).unwrap();
    let line = Line { stage: Some(Box::new(line(scenario, &stage, key, stream, &figures))) };
    let mut hold = Hold { stage: Some(Box::new(release(nic, key, stream))), ..Hold::default() };
    let mut fetch = Fetch { latency: Some(Box::new(latency)), ..Fetch::default() };
    let mut submit = Submit { stage: Some(Box::new(stage)), ..Submit::default() };
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
    simulation.step_until(Duration::from_nanos((frames + 10) * interval_ns)).unwrap();
    let elapsed = start.elapsed();
    let summary = figures.lock().unwrap().take().unwrap();
    (summary, elapsed)
}
