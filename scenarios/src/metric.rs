//! The one list of metrics. Reports, `nicsim list metrics` and the docs are made from it; a metric is added here.

use nicsim_core::grid::Period;
use nicsim_core::stats::{Recorder, Unit};
use nicsim_core::time::Span;
use nicsim_models::frame::{Direction, FrameRecord, TxStamp};
use nicsim_models::source::{StreamSetup, Timing};
use nicsim_models::world::WorldSetup;

/// A quantity that reports summarise.
pub struct Metric {
    /// Its key in reports.
    pub name: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// What must be in the scenario for it to exist.
    pub needs: &'static str,
    exists: fn(&WorldSetup) -> bool,
    unit: fn(&WorldSetup) -> Unit,
    nominal: fn(&StreamSetup, &WorldSetup) -> Span,
    reading: Reading,
}

impl std::fmt::Debug for Metric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// How a metric's values come out of frame records.
#[derive(Clone, Copy)]
enum Reading {
    /// One value per frame.
    Value(fn(&FrameRecord) -> Option<i64>),
    /// The difference of successive readings of one stream, modulo 2^64.
    Interval(fn(&FrameRecord) -> Option<u64>),
    /// The same, modulo 2^32 (a 32-bit counter).
    WrappedInterval(fn(&FrameRecord) -> Option<u32>),
    /// Observer minus stamp, from the first frame's on \[ps\]; the counter is unwrapped.
    StampVsObserver,
}

/// All metrics.
pub const LIST: &[Metric] = &[
    Metric {
        name: "observed_interval",
        about: "difference of successive counts of the capture instrument times its nominal tick",
        needs: "an [observer], or a [sender] that stamps",
        exists: |setup| instrument_tick(setup).is_some(),
        unit: |setup| Unit::Ticks(instrument_tick(setup).unwrap_or(NANOSECOND)),
        nominal: interval_of,
        reading: Reading::WrappedInterval(|record| record.observed.or(record.sent).map(|seen| seen.count)),
    },
    Metric {
        name: "wire_interval",
        about: "start of frame to start of frame, in true time",
        needs: "nothing",
        exists: |_| true,
        unit: |_| Unit::Picoseconds,
        nominal: interval_of,
        reading: Reading::Interval(|record| Some(record.started_at.as_ps() as u64)),
    },
    Metric {
        name: "launch_error",
        about: "start of frame minus the launch time asked for, both on the PHC, read without its tick",
        needs: "a stream with launch times (`lead`)",
        exists: |setup| setup.streams.iter().any(|s| matches!(s.timing, Timing::Scheduled { .. } | Timing::External)),
        unit: |_| Unit::Picoseconds,
        nominal: |_, _| Span::ZERO,
        reading: Reading::Value(|record| record.launch_error.map(Span::as_ps)),
    },
    Metric {
        name: "tx_stamp_interval",
        about: "difference of successive hardware transmit stamps as software reads them",
        needs: "a stream with `tx_stamps = true`",
        exists: has_tx_stamps,
        unit: |_| Unit::Ticks(NANOSECOND),
        nominal: interval_of,
        reading: Reading::Interval(tx_stamp_ns),
    },
    Metric {
        name: "tx_stamp_error",
        about: "transmit stamp as read minus the true time on the PHC at the reference plane",
        needs: "a stream with `tx_stamps = true`",
        exists: has_tx_stamps,
        unit: |_| Unit::Picoseconds,
        nominal: |_, _| Span::ZERO,
        reading: Reading::Value(|record| match record.tx_stamp {
            TxStamp::Read(stamp) => Some(stamp.error.as_ps()),
            _ => None,
        }),
    },
    Metric {
        name: "tx_stamp_vs_observer",
        about: "capture instrument's count times its tick minus the transmit stamp, from the first frame on",
        needs: "a stream with `tx_stamps = true` and an [observer]",
        exists: |setup| has_tx_stamps(setup) && setup.observer.is_some(),
        unit: |_| Unit::Picoseconds,
        nominal: |_, _| Span::ZERO,
        reading: Reading::StampVsObserver,
    },
    Metric {
        name: "rx_stamp_interval",
        about: "difference of successive hardware receive stamps as software reads them",
        needs: "a [sender] and a NIC that stamps what it receives",
        exists: has_rx_stamps,
        unit: |_| Unit::Ticks(NANOSECOND),
        nominal: interval_of,
        reading: Reading::Interval(|record| record.rx_stamp.map(|stamp| stamp.ns)),
    },
    Metric {
        name: "queueing_delay",
        about: "hand-over to the driver to start of frame",
        needs: "a stream that the NIC sends",
        exists: |setup| !setup.streams.is_empty(),
        unit: |_| Unit::Picoseconds,
        nominal: |_, _| Span::ZERO,
        reading: Reading::Value(|record| {
            (record.direction == Direction::Sent).then(|| (record.started_at - record.submitted_at).as_ps())
        }),
    },
];

/// One nanosecond, in which software reads stamps.
const NANOSECOND: Period = match Period::whole(1_000) {
    Some(period) => period,
    None => unreachable!(),
};

/// The instrument that records frames: the observer, or the sender where it stamps and nobody observes.
fn instrument_tick(setup: &WorldSetup) -> Option<Period> {
    let sender = setup.sender.as_ref().and_then(|sender| sender.parameters.clock);
    setup.observer.as_ref().map(|observer| observer.parameters.tick).or(sender)
}

fn has_tx_stamps(setup: &WorldSetup) -> bool {
    setup.streams.iter().any(|stream| stream.tx_stamps)
}

fn has_rx_stamps(setup: &WorldSetup) -> bool {
    setup.sender.is_some() && setup.nic.as_ref().is_some_and(|nic| nic.spec.rx_stamp.is_some())
}

fn tx_stamp_ns(record: &FrameRecord) -> Option<u64> {
    match record.tx_stamp {
        TxStamp::Read(stamp) => Some(stamp.ns),
        _ => None,
    }
}

/// The interval around which a stream's frames are expected: its own, or the time that a frame holds the line.
fn interval_of(stream: &StreamSetup, setup: &WorldSetup) -> Span {
    let speed = setup.nic.as_ref().map(|nic| nic.speed).or(setup.sender.as_ref().map(|s| s.parameters.speed));
    match stream.timing {
        Timing::Scheduled { interval, .. } | Timing::Paced { interval, .. } => interval,
        _ => speed.map_or(Span::ZERO, |speed| speed.wire_time(stream.size)),
    }
}

/// What a scenario lacks for metric `name`.
pub fn missing_part(name: &str) -> String {
    LIST.iter().find(|m| m.name == name).map_or_else(String::new, |m| format!("it needs {}", m.needs))
}

impl Metric {
    /// Do its parts exist in a scenario?
    pub fn exists(&self, setup: &WorldSetup) -> bool {
        (self.exists)(setup)
    }

    /// A meter of this metric for one stream.
    pub fn meter(&self, stream: &StreamSetup, setup: &WorldSetup) -> Meter {
        let unit = (self.unit)(setup);
        let nominal = (self.nominal)(stream, setup).as_ps();
        let nominal = match unit {
            Unit::Picoseconds => nominal,
            Unit::Ticks(tick) => {
                let (num, den) = (i128::from(tick.num()), i128::from(tick.den()));
                ((i128::from(nominal) * den + num / 2) / num) as i64
            }
        };
        let tick = setup.observer.as_ref().map(|observer| observer.parameters.tick);
        Meter { reading: self.reading, recorder: Recorder::new(unit, nominal), last: None, turns: Turns::new(tick) }
    }
}

/// Unwraps the observer's counter and takes a stamp from it.
#[derive(Clone, Copy)]
struct Turns {
    tick: Period,
    count: u32,
    ticks: i64,
    first: Option<i64>,
}

impl Turns {
    fn new(tick: Option<Period>) -> Self {
        Self { tick: tick.unwrap_or(NANOSECOND), count: 0, ticks: 0, first: None }
    }

    /// count · tick − stamp − the same of the first frame \[ps\].
    fn difference(&mut self, count: u32, stamp_ns: u64) -> i64 {
        if self.first.is_none() {
            self.count = count;
        }
        self.ticks += i64::from(count.wrapping_sub(self.count));
        self.count = count;
        // Modulo 2^64: nanoseconds since 1970 do not fit in picoseconds, differences do.
        let difference = self.tick.ticks_to_ps(self.ticks).wrapping_sub((stamp_ns as i64).wrapping_mul(1_000));
        difference.wrapping_sub(*self.first.get_or_insert(difference))
    }
}

/// A running metric of one stream.
#[derive(Clone)]
pub struct Meter {
    reading: Reading,
    recorder: Recorder,
    last: Option<u64>,
    turns: Turns,
}

impl Meter {
    /// Takes one frame.
    #[inline]
    pub fn take(&mut self, record: &FrameRecord) {
        if let Some(value) = self.value(record) {
            self.recorder.record(value, record.id.number);
        }
    }

    /// The frame's value, in the metric's unit.
    #[inline]
    fn value(&mut self, record: &FrameRecord) -> Option<i64> {
        match self.reading {
            Reading::Value(read) => read(record),
            Reading::Interval(read) => self.interval(read(record), u64::MAX),
            Reading::WrappedInterval(read) => self.interval(read(record).map(u64::from), u64::from(u32::MAX)),
            Reading::StampVsObserver => {
                let (count, stamp) = (record.observed?.count, tx_stamp_ns(record)?);
                Some(self.turns.difference(count, stamp))
            }
        }
    }

    /// The difference to the frame before; none after a frame without a reading.
    #[inline]
    fn interval(&mut self, reading: Option<u64>, mask: u64) -> Option<i64> {
        let last = std::mem::replace(&mut self.last, reading);
        let (Some(reading), Some(last)) = (reading, last) else {
            self.recorder.interrupt();
            return None;
        };
        Some((reading.wrapping_sub(last) & mask) as i64)
    }

    /// What was recorded.
    #[inline]
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }
}
