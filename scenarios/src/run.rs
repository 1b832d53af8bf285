//! A scenario and a run number become a report: the one path from what was written to what came out.

use std::collections::BTreeMap;

use nicsim_core::sink::{Sink, Tee};
use nicsim_core::stats::Recorder;
use nicsim_models::frame::{Direction, FrameRecord, TxStamp};
use nicsim_models::observer::SetupError;
use nicsim_models::world::{KernelKind, World};

use crate::metric::Meter;
use crate::report::{FrameCounts, MetricSummary, Provenance, Report, SCHEMA, ScenarioId, StampCounts, StreamReport};
use crate::scenario::{DEFAULT_SEED, Scenario};
use crate::series::Series;

/// Regressions of stamps over the observer use at most this many frames.
pub const STAMP_TRACE: usize = 1 << 17;

/// Identity and options of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunOptions {
    /// Master seed.
    pub seed: u64,
    /// Run number under it.
    pub run: u64,
    /// Which kernel.
    pub kernel: KernelKind,
    /// Keep what plots over time need.
    pub series: bool,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self { seed: DEFAULT_SEED, run: 0, kernel: KernelKind::Slots, series: false }
    }
}

/// Why a run did not come about.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The world cannot be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A stream waits for frames that nobody hands in.
    #[error(
        "a stream has `from = \"external\"`: its frames come from a program that uses the step-wise interface; \
         give it an `interval` and `from = \"nic\"` to run the scenario by itself"
    )]
    External,
    /// The progress callback said stop.
    #[error("the run was stopped")]
    Stopped,
}

/// One stamped and observed frame, as software and the instrument know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StampPoint {
    /// Number in its stream.
    pub frame: u64,
    /// Transmit stamp as read [PHC ns].
    pub stamp_ns: u64,
    /// Observer minus stamp, from the first frame on \[ps\].
    pub apparent_delay_ps: i64,
}

/// What comes out of a run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The report, without the regressions of [`Outcome::stamps`].
    pub report: Report,
    /// The first stamped and observed frames of the first stream that has both.
    pub stamps: Vec<StampPoint>,
    /// The place of that stream in the report.
    pub stamps_of: Option<u16>,
    /// The interval over the frame number, if it was asked for.
    pub series: Option<Series>,
}

/// Runs a scenario. Every frame's record also goes to `sink`; `progress` gets the number of frames so far now and
/// then and says whether to go on.
///
/// # Errors
/// [`RunError`].
pub fn run(
    scenario: &Scenario,
    options: RunOptions,
    sink: &mut impl Sink<FrameRecord>,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<Outcome, RunError> {
    if scenario.needs_frames_from_outside() {
        return Err(RunError::External);
    }
    let mut setup = scenario.setup.clone();
    (setup.seed, setup.run, setup.kernel) = (options.seed, options.run, options.kernel);
    let mut world = World::new(&setup)?;
    let mut recorders = Recorders::new(scenario, options.series);
    let mut frames = 0;
    while world.has_frames() {
        let until = world.next_at() + CHUNK;
        let mut both = Counted { frames: 0, to: Tee(&mut recorders, &mut *sink) };
        world.advance_to(until, &mut both);
        frames += both.frames;
        if !progress(frames) {
            return Err(RunError::Stopped);
        }
    }
    Ok(recorders.finish(scenario, options, &world))
}

/// How much simulated time passes between two calls of the progress callback.
const CHUNK: nicsim_core::time::Span = nicsim_core::time::Span::from_ns(1_000_000_000);

struct Counted<T> {
    frames: u64,
    to: T,
}

impl<S: Sink<FrameRecord>> Sink<FrameRecord> for Counted<S> {
    #[inline]
    fn take(&mut self, record: &FrameRecord) {
        self.frames += 1;
        self.to.take(record);
    }
}

/// Statistics of one stream.
struct StreamRecorder {
    meters: Vec<Meter>,
    counts: FrameCounts,
    stamps: StampCounts,
    no_register: u64,
}

/// All that a run keeps of its frames: memory that does not depend on their number.
pub struct Recorders {
    streams: Vec<StreamRecorder>,
    /// Places of the metrics that the trace and the series come from.
    vs_observer: Option<usize>,
    series: Option<(usize, Series)>,
    stamps: Vec<StampPoint>,
    traced_stream: Option<u16>,
}

impl Recorders {
    /// Empty recorders for a scenario.
    pub fn new(scenario: &Scenario, series: bool) -> Self {
        let streams = scenario.stream_setups().map(|stream| StreamRecorder {
            meters: scenario.metrics.iter().map(|metric| metric.meter(stream, &scenario.setup)).collect(),
            counts: FrameCounts::default(),
            stamps: StampCounts::default(),
            no_register: 0,
        });
        let place = |name: &str| scenario.metrics.iter().position(|metric| metric.name == name);
        let vs_observer = place("tx_stamp_vs_observer");
        let plotted = ["observed_interval", "rx_stamp_interval", "wire_interval"]
            .into_iter()
            .find_map(|name| Some((place(name)?, name)));
        let first = scenario.stream_setups().next().map_or(0, |stream| stream.frames);
        Self {
            streams: streams.collect(),
            vs_observer,
            series: plotted.filter(|_| series).map(|(place, name)| (place, Series::new(name, first))),
            stamps: Vec::with_capacity(if vs_observer.is_some() {
                STAMP_TRACE.min(scenario.frames() as usize)
            } else {
                0
            }),
            traced_stream: None,
        }
    }

    fn trace(&mut self, record: &FrameRecord, apparent_delay_ps: Option<i64>) {
        if let (TxStamp::Read(stamp), Some(_), Some(apparent_delay_ps)) =
            (record.tx_stamp, record.observed, apparent_delay_ps)
            && *self.traced_stream.get_or_insert(record.id.stream) == record.id.stream
            && self.stamps.len() < STAMP_TRACE
        {
            self.stamps.push(StampPoint { frame: record.id.number, stamp_ns: stamp.ns, apparent_delay_ps });
        }
    }

    fn finish(mut self, scenario: &Scenario, options: RunOptions, world: &World) -> Outcome {
        for (index, stream) in self.streams.iter_mut().enumerate() {
            let counts = world.counts(index);
            if index < scenario.setup.streams.len() {
                stream.counts.submitted = counts.submitted + counts.refused;
                if counts.refused > 0 {
                    stream.counts.dropped.insert("refused-by-driver".to_owned(), counts.refused);
                }
            } else {
                stream.counts.submitted = stream.counts.sent;
            }
            if stream.no_register > 0 {
                stream.stamps.lost.insert("no-register".to_owned(), stream.no_register);
            }
        }
        let report = self.report(scenario, options, world.malicious_driver_events());
        Outcome {
            report,
            stamps: self.stamps,
            stamps_of: self.traced_stream,
            series: self.series.map(|(_, series)| series),
        }
    }

    fn report(&self, scenario: &Scenario, options: RunOptions, malicious_driver_events: u64) -> Report {
        let mut counts = FrameCounts { malicious_driver_events, ..FrameCounts::default() };
        let mut stamps = StampCounts::default();
        self.streams.iter().for_each(|stream| {
            counts.add(&stream.counts);
            stamps.add(&stream.stamps);
        });
        let names: Vec<&str> = scenario.metrics.iter().map(|metric| metric.name).collect();
        Report {
            schema: SCHEMA.to_owned(),
            scenario: ScenarioId { name: scenario.file.name.clone(), hash: scenario.hash.clone() },
            seed: options.seed,
            run: options.run,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            kernel: match options.kernel {
                KernelKind::Slots => "slots".to_owned(),
                KernelKind::Reference => "reference".to_owned(),
            },
            counts,
            stamps,
            metrics: self.pooled(&names),
            streams: scenario
                .stream_setups()
                .zip(&self.streams)
                .map(|(setup, s)| s.report(&setup.name, &names))
                .collect(),
            provenance: Provenance::of(&scenario.parameters),
        }
    }

    /// Figures over all streams: their recorders merged.
    fn pooled(&self, names: &[&str]) -> BTreeMap<String, MetricSummary> {
        let pooled = |index: usize| {
            let mut recorders = self.streams.iter().map(|stream| stream.meters[index].recorder());
            let first: Recorder = recorders.next().cloned()?;
            Some(recorders.fold(first, |mut sum, recorder| {
                sum.merge(recorder);
                sum
            }))
        };
        let summary = |index| pooled(index).map(|r| r.summary()).unwrap_or_default();
        names
            .iter()
            .enumerate()
            .map(|(k, name)| ((*name).to_owned(), MetricSummary { summary: summary(k), clocks: None }))
            .collect()
    }
}

impl StreamRecorder {
    fn report(&self, name: &str, names: &[&str]) -> StreamReport {
        let metrics = names.iter().zip(&self.meters).map(|(name, meter)| {
            ((*name).to_owned(), MetricSummary { summary: meter.recorder().summary(), clocks: None })
        });
        StreamReport {
            name: name.to_owned(),
            counts: self.counts.clone(),
            stamps: self.stamps.clone(),
            metrics: metrics.collect(),
        }
    }

    fn count(&mut self, record: &FrameRecord) {
        self.counts.sent += 1;
        self.counts.immediate += u64::from(record.decision.is_immediate());
        self.counts.late += u64::from(record.late);
        let (requested, read) = match (record.direction, record.tx_stamp) {
            (Direction::Received, _) => (record.rx_stamp.is_some(), record.rx_stamp.is_some()),
            (Direction::Sent, TxStamp::Read(_)) => (true, true),
            (Direction::Sent, TxStamp::NoRegister) => (true, false),
            (Direction::Sent, TxStamp::NotRequested) => (false, false),
        };
        self.stamps.requested += u64::from(requested);
        self.stamps.read += u64::from(read);
        self.no_register += u64::from(requested && !read);
    }
}

impl Sink<FrameRecord> for Recorders {
    #[inline]
    fn take(&mut self, record: &FrameRecord) {
        let index = usize::from(record.id.stream);
        let Some(stream) = self.streams.get_mut(index) else {
            return;
        };
        stream.count(record);
        stream.meters.iter_mut().for_each(|meter| meter.take(record));
        if let (0, Some((place, series))) = (index, &mut self.series) {
            let recorder = stream.meters[*place].recorder();
            if let Some(value) = recorder.latest() {
                series.take(record.id.number, recorder.unit().to_ns(i128::from(value)));
            }
        }
        if let Some(place) = self.vs_observer {
            let apparent_delay = stream.meters[place].recorder().latest();
            self.trace(record, apparent_delay);
        }
    }
}
