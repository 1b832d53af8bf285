//! W1 on NeXosim, as four models and as one, with the shared rules inside.
//!
//! The engine's clock counts nanoseconds; the exact instant travels with the frame.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nexosim::model::{Context, Model, schedulable};
use nexosim::ports::{EventSource, Output};
use nexosim::simulation::{Mailbox, SimInit};
use nexosim::time::MonotonicTime;
use nicsim_core::stats::Summary;
use nicsim_core::time::SimTime;
use serde::{Deserialize, Serialize};

use crate::w1::{FETCH_NS, INTERVAL_NS, Intervals, Rules};

/// Where the last frame leaves the figures.
type Figures = Arc<Mutex<Option<Summary>>>;

/// A frame on its way between the models.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Frame {
    number: u64,
    at_ps: i64,
}

impl Frame {
    fn submitted(number: u64) -> Self {
        Self { number, at_ps: (number * INTERVAL_NS * 1_000) as i64 }
    }

    fn fetched(self) -> Self {
        Self { at_ps: self.at_ps + (FETCH_NS * 1_000) as i64, ..self }
    }
}

/// From `frame` to `later`, in whole nanoseconds of the engine's clock.
fn wait(frame: Frame, later: Frame) -> Duration {
    Duration::from_nanos(((later.at_ps - frame.at_ps) / 1_000).max(1) as u64)
}

/// What knows the intervals.
struct Stamps {
    rules: Rules,
    intervals: Intervals,
    frames: u64,
    figures: Figures,
}

impl Stamps {
    fn take(&mut self, frame: Frame) {
        self.intervals.take(frame.number, self.rules.stamp(SimTime::from_ps(frame.at_ps)));
        if frame.number + 1 == self.frames {
            *self.figures.lock().unwrap() = Some(self.intervals.summary());
        }
    }
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
        self.output.send(Frame::submitted(self.number)).await;
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
        let fetched = frame.fetched();
        context.schedule_event(wait(frame, fetched), schedulable!(Self::fetched), fetched).unwrap();
    }

    #[nexosim(schedulable)]
    async fn fetched(&mut self, frame: Frame) {
        self.output.send(frame).await;
    }
}

#[derive(Default, Serialize, Deserialize)]
struct Hold {
    output: Output<Frame>,
    #[serde(skip)]
    rules: Option<Box<Rules>>,
}

#[Model]
impl Hold {
    fn input(&mut self, frame: Frame, context: &Context<Self>) {
        let at = self.rules.as_mut().unwrap().release(frame.number, SimTime::from_ps(frame.at_ps));
        let released = Frame { at_ps: at.as_ps(), ..frame };
        context.schedule_event(wait(frame, released), schedulable!(Self::released), released).unwrap();
    }

    #[nexosim(schedulable)]
    async fn released(&mut self, frame: Frame) {
        self.output.send(frame).await;
    }
}

#[derive(Default, Serialize, Deserialize)]
struct Stamp {
    #[serde(skip)]
    stamps: Option<Box<Stamps>>,
}

#[Model]
impl Stamp {
    fn input(&mut self, frame: Frame) {
        self.stamps.as_mut().unwrap().take(frame);
    }
}

fn stamps(frames: u64, figures: &Figures) -> Option<Box<Stamps>> {
    let (rules, intervals) = (Rules::new(), Intervals::new());
    Some(Box::new(Stamps { rules, intervals, frames, figures: Arc::clone(figures) }))
}

/// Runs W1 as four models; answers the figures and the time without set-up.
pub(crate) fn four_models(frames: u64) -> (Summary, Duration) {
    let figures = Figures::default();
    let (mut submit, mut fetch) = (Submit { frames, ..Submit::default() }, Fetch::default());
    let mut hold = Hold { rules: Some(Box::new(Rules::new())), ..Hold::default() };
    let stamp = Stamp { stamps: stamps(frames, &figures) };
    let (submit_box, fetch_box, hold_box, stamp_box) = (Mailbox::new(), Mailbox::new(), Mailbox::new(), Mailbox::new());
    submit.output.connect(Fetch::input, &fetch_box);
    fetch.output.connect(Hold::input, &hold_box);
    hold.output.connect(Stamp::input, &stamp_box);
    let mut init = SimInit::with_num_threads(1);
    let first = EventSource::new().connect(Submit::submit, &submit_box).register(&mut init);
    let mut simulation = init
        .add_model(submit, submit_box, "submit")
        .add_model(fetch, fetch_box, "fetch")
        .add_model(hold, hold_box, "hold")
        .add_model(stamp, stamp_box, "stamp")
        .init(MonotonicTime::EPOCH)
        .unwrap();
    simulation.process_event(&first, ()).unwrap();
    let start = Instant::now();
    simulation.step_until(Duration::from_nanos((frames + 1) * INTERVAL_NS)).unwrap();
    let elapsed = start.elapsed();
    let summary = figures.lock().unwrap().take().unwrap();
    (summary, elapsed)
}

#[derive(Default, Serialize, Deserialize)]
struct Card {
    frames: u64,
    number: u64,
    #[serde(skip)]
    stages: Option<Box<(Rules, Stamps)>>,
}

#[Model]
impl Card {
    #[nexosim(schedulable)]
    fn submit(&mut self, _: (), context: &Context<Self>) {
        let frame = Frame::submitted(self.number);
        let fetched = frame.fetched();
        context.schedule_event(wait(frame, fetched), schedulable!(Self::fetched), fetched).unwrap();
        self.number += 1;
        if self.number < self.frames {
            context.schedule_event(Duration::from_nanos(INTERVAL_NS), schedulable!(Self::submit), ()).unwrap();
        }
    }

    #[nexosim(schedulable)]
    fn fetched(&mut self, frame: Frame, context: &Context<Self>) {
        let (rules, _) = &mut **self.stages.as_mut().unwrap();
        let at = rules.release(frame.number, SimTime::from_ps(frame.at_ps));
        let released = Frame { at_ps: at.as_ps(), ..frame };
        context.schedule_event(wait(frame, released), schedulable!(Self::released), released).unwrap();
    }

    #[nexosim(schedulable)]
    fn released(&mut self, frame: Frame) {
        self.stages.as_mut().unwrap().1.take(frame);
    }
}

/// Runs W1 as one model; answers the figures and the time without set-up.
pub(crate) fn one_model(frames: u64) -> (Summary, Duration) {
    let figures = Figures::default();
    let stages = stamps(frames, &figures).map(|stamps| Box::new((Rules::new(), *stamps)));
    let card = Card { frames, stages, ..Card::default() };
    let card_box = Mailbox::new();
    let mut init = SimInit::with_num_threads(1);
    let first = EventSource::new().connect(Card::submit, &card_box).register(&mut init);
    let mut simulation = init.add_model(card, card_box, "card").init(MonotonicTime::EPOCH).unwrap();
    simulation.process_event(&first, ()).unwrap();
    let start = Instant::now();
    simulation.step_until(Duration::from_nanos((frames + 1) * INTERVAL_NS)).unwrap();
    let elapsed = start.elapsed();
    let summary = figures.lock().unwrap().take().unwrap();
    (summary, elapsed)
}
