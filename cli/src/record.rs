//! `--record`: frame by frame, while the run goes on. An error is kept and told at the end; the run is not disturbed.

use std::io::{self, BufWriter};

use nicsim_core::grid::Period;
use nicsim_core::noise::{Bytes, NoiseSpec};
use nicsim_core::sink::Sink;
use nicsim_models::frame::FrameRecord;
use nicsim_models::observer::Unwrap;
use nicsim_models::source::{StreamSetup, Timing};
use nicsim_scenarios::frames::FrameTable;
use nicsim_scenarios::scenario::Scenario;
use nicsim_validate::plan::{Plan, Stream};
use nicsim_validate::recording::pcapng::Resolution;
use nicsim_validate::recording::{Kind, efcc, pcapng};
use tempfile::NamedTempFile;

use crate::failure::Failure;
use crate::files::OutputFolder;
use crate::run::Record;

type File = BufWriter<NamedTempFile>;

/// Whatever is recorded of a run.
#[derive(Default)]
pub(crate) struct Recording {
    frames: Option<FrameTable<File>>,
    capture: Option<Capture>,
    error: Option<(&'static str, io::Error)>,
}

/// The instrument's view.
struct Capture {
    tick: Option<Period>,
    /// All streams of the scenario, to number frames on the line.
    streams: u64,
    counts: Option<efcc::Writer<File>>,
    unwrap: Unwrap,
    packets: pcapng::Writer<File>,
}

impl Recording {
    /// Opens what `records` names in `folder`.
    pub(crate) fn start(
        records: &[Record],
        scenario: &Scenario,
        folder: Option<&OutputFolder>,
    ) -> Result<Self, Failure> {
        let mut recording = Self::default();
        let Some(folder) = folder else {
            return Ok(recording);
        };
        if records.contains(&Record::Frames) {
            let table = FrameTable::new(folder.writer()?).map_err(|error| folder.error("frames.parquet", &error))?;
            recording.frames = Some(table);
        }
        if records.contains(&Record::Capture) {
            recording.capture = Some(Capture::start(scenario, folder)?);
        }
        Ok(recording)
    }

    /// Completes the files.
    pub(crate) fn finish(mut self, scenario: &Scenario, folder: &mut OutputFolder) -> Result<(), Failure> {
        if let Some((name, error)) = self.error.take() {
            return Err(folder.error(name, &error));
        }
        if let Some(frames) = self.frames {
            let file = frames.finish(&scenario.file.name, &scenario.hash).and_then(into_file);
            folder.keep("frames.parquet", file.map_err(|error| folder.error("frames.parquet", &error))?);
        }
        match self.capture {
            Some(capture) => capture.finish(scenario, folder),
            None => Ok(()),
        }
    }

    fn note(&mut self, name: &'static str, result: io::Result<()>) {
        if let (None, Err(error)) = (&self.error, result) {
            self.error = Some((name, error));
        }
    }
}

impl Sink<FrameRecord> for Recording {
    #[inline]
    fn take(&mut self, record: &FrameRecord) {
        if let Some(frames) = &mut self.frames {
            let taken = frames.frame(record);
            self.note("frames.parquet", taken);
        }
        if let Some(capture) = &mut self.capture {
            let taken = capture.take(record);
            self.note("capture", taken);
        }
    }
}

fn into_file(writer: File) -> io::Result<NamedTempFile> {
    writer.into_inner().map_err(io::IntoInnerError::into_error)
}

impl Capture {
    fn start(scenario: &Scenario, folder: &OutputFolder) -> Result<Self, Failure> {
        let setup = &scenario.setup;
        let sender = setup.sender.as_ref().and_then(|sender| sender.parameters.clock);
        let tick = setup.observer.as_ref().map(|observer| observer.parameters.tick).or(sender);
        let stamps = setup.sender.is_some() && setup.nic.as_ref().is_some_and(|nic| nic.spec.rx_stamp.is_some());
        if tick.is_none() && !stamps {
            return Err(Failure::Input(anyhow::anyhow!(
                "{}: --record capture needs something that captures: an [observer], a [sender] that stamps, or a NIC that \
                 stamps what it receives",
                scenario.file.name
            )));
        }
        let counts = tick.map(|_| folder.writer().map(efcc::Writer::new)).transpose()?;
        // Receive stamps are whole nanoseconds since the PHC's epoch; an instrument's times picoseconds since its start.
        let resolution = if stamps { Resolution::Nanoseconds } else { Resolution::Picoseconds };
        let packets = pcapng::Writer::new(folder.writer()?, resolution, 0);
        Ok(Self {
            tick: tick.filter(|_| !stamps),
            streams: scenario.stream_setups().count().max(1) as u64,
            counts,
            unwrap: Unwrap::default(),
            packets: packets.map_err(|error| folder.error("capture.pcapng", &error))?,
        })
    }

    fn take(&mut self, record: &FrameRecord) -> io::Result<()> {
        let seen = record.observed.or(record.sent);
        if let (Some(seen), Some(counts)) = (seen, &mut self.counts) {
            counts.frame(seen.id, seen.count)?;
        }
        let number = record.id.number * self.streams + u64::from(record.id.stream);
        match (record.rx_stamp, seen, self.tick) {
            (Some(stamp), _, None) => self.packets.frame(efcc::number(number as u32), stamp.ns, record.size),
            (_, Some(seen), Some(tick)) => {
                let ticks = i128::from(self.unwrap.next(seen.count));
                let ps = ticks * i128::from(tick.num()) / i128::from(tick.den());
                self.packets.frame(seen.id, ps as u64, record.size)
            }
            _ => Ok(()),
        }
    }

    fn finish(self, scenario: &Scenario, folder: &mut OutputFolder) -> Result<(), Failure> {
        if let Some(counts) = self.counts {
            let file = counts.finish().and_then(into_file);
            folder.keep("capture.csv", file.map_err(|error| folder.error("capture.csv", &error))?);
        }
        let file = self.packets.finish().and_then(into_file);
        folder.keep("capture.pcapng", file.map_err(|error| folder.error("capture.pcapng", &error))?);
        let plan = plan(scenario, self.tick).to_toml().map_err(|error| Failure::Output(anyhow::anyhow!("{error}")))?;
        folder.add("capture.toml", &plan)
    }
}

/// What the person at the instrument knows: its tick and port, and the schedule as planned.
fn plan(scenario: &Scenario, tick: Option<Period>) -> Plan {
    let stream = |stream: &StreamSetup| {
        let (interval, first_launch_ns) = match stream.timing {
            Timing::Scheduled { first_launch_ns, interval, .. } => {
                (Some(interval), i64::try_from(first_launch_ns).ok())
            }
            Timing::Paced { interval, ref jitter } if *jitter == NoiseSpec::NONE => (Some(interval), None),
            Timing::Paced { .. } | Timing::BackToBack | Timing::External => (None, None),
        };
        Stream {
            name: Some(stream.name.clone()),
            size: Bytes(stream.size),
            frames: stream.frames,
            interval,
            first_launch_ns,
            first_number: None,
        }
    };
    Plan {
        kind: tick.map(|_| Kind::Efcc),
        tick,
        port: Some(0),
        streams: scenario.stream_setups().map(stream).collect(),
    }
}
