//! A sender on the other end of the cable: the FPGA crafter (EFCC), or an ideal line-rate sender.
//!
//! The crafter lays frames on whole ticks of its clock with a constant gap, rounded up (it has no deficit idle
//! count), and stamps each when it leaves. Behind it a copper PHY may take the frame over into a clock of its own.

use nicsim_core::clock::Rate;
use nicsim_core::grid::{Grid, Period};
use nicsim_core::noise::{Noise, NoiseError, NoiseSpec};
use nicsim_core::rng::Key;
use nicsim_core::time::{ClockTime, SimTime, Span};

use crate::mac::Speed;
use crate::observer::{CaptureRecord, Fpga, SetupError};
use crate::oscillator::{Oscillator, OscillatorSpec};
use crate::release::uniform_below;
use crate::source::{StreamSetup, Timing};
use crate::stamp::WordClock;

/// What a kind of sender is.
#[derive(Debug, Clone, PartialEq)]
pub struct SenderParameters {
    /// Frames start on ticks of this clock and take whole ticks; `None`: anywhere, with ideal lengths.
    pub clock: Option<Period>,
    /// Speed of its line.
    pub speed: Speed,
    /// A PHY with its own word clock behind the sender.
    pub phy: Option<PhyParameters>,
}

/// A PHY whose transmit clock is not the sender's.
#[derive(Debug, Clone, PartialEq)]
pub struct PhyParameters {
    /// Its word clock.
    pub word: Period,
    /// How fast that runs by the sender's clock.
    pub rate: Rate,
    /// Jitter of the crossing.
    pub jitter: NoiseSpec,
}

/// One frame on its way from the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    /// Stream, in the sender's order.
    pub stream: usize,
    /// Number in the stream.
    pub number: u64,
    /// Frame with FCS \[octets\].
    pub size: u32,
    /// Start of frame on the line.
    pub at: SimTime,
    /// The sender's own stamp of it.
    pub stamp: Option<CaptureRecord>,
}

#[derive(Debug, Clone)]
struct Lane {
    frames: u64,
    size: u32,
    interval: Span,
    jitter: Noise,
    next: u64,
    /// When the next frame is due, by the sender's clock.
    due: ClockTime<Fpga>,
}

/// A running sender.
#[derive(Debug, Clone)]
pub struct Sender {
    oscillator: Oscillator<Fpga>,
    clock: Option<Grid>,
    counter_start: u32,
    speed: Speed,
    phy: Option<(WordClock<Fpga>, Noise)>,
    lanes: Vec<Lane>,
    free: ClockTime<Fpga>,
    /// Number of streams in the scenario and index of the first of them here, for frame numbers.
    numbering: (u64, u64),
}

impl Sender {
    /// A sender of `streams`. `instrument` draws the phase and the start of its counter; the capture of the same
    /// instrument has the same, so that both stamp with one counter. `first_stream` and `all_streams` number the frames.
    ///
    /// # Errors
    /// [`SetupError`] when a rate or a noise is out of range.
    pub fn new(
        parameters: &SenderParameters,
        oscillator: OscillatorSpec,
        streams: &[StreamSetup],
        numbering: (u64, u64),
        instrument: Key,
        key: Key,
    ) -> Result<Self, SetupError> {
        let clock = parameters.clock.map(|tick| Grid::new(tick, uniform_below(instrument.named("phase"), tick)));
        let phy = parameters.phy.as_ref().map(|phy| {
            let word = WordClock::new(phy.word, phy.rate, key.named("phy phase"));
            Ok::<_, NoiseError>((word, Noise::new(&phy.jitter, key.named("phy jitter"))?))
        });
        let lane = |(index, stream): (usize, &StreamSetup)| lane(stream, key.child(index as u64));
        Ok(Self {
            oscillator: Oscillator::new(oscillator),
            clock,
            counter_start: instrument.named("counter").bits(0) as u32,
            speed: parameters.speed,
            phy: phy.transpose()?,
            lanes: streams.iter().enumerate().map(lane).collect::<Result<_, _>>()?,
            free: ClockTime::ZERO,
            numbering,
        })
    }

    /// The stream whose frame is next, and its start: the earliest due, the first of several.
    fn next_start(&self) -> Option<(usize, ClockTime<Fpga>)> {
        let waiting = self.lanes.iter().enumerate().filter(|(_, lane)| lane.next < lane.frames);
        let (index, lane) = waiting.min_by_key(|(index, lane)| (lane.due, *index))?;
        Some((index, self.on_clock(lane.due.max(self.free))))
    }

    fn on_clock(&self, due: ClockTime<Fpga>) -> ClockTime<Fpga> {
        self.clock.map_or(due, |clock| ClockTime::from_ps(clock.ceil(due.as_ps())))
    }

    /// Sends the next frame.
    pub fn send(&mut self) -> Option<Departure> {
        let (stream, start) = self.next_start()?;
        let lane = &mut self.lanes[stream];
        let (number, size) = (lane.next, lane.size);
        lane.next += 1;
        lane.due = (start + lane.interval + lane.jitter.sample(lane.next, size)).max(start);
        self.free = start + self.speed.wire_time(size);
        let global = number * self.numbering.1 + self.numbering.0 + stream as u64;
        let stamp = self.clock.map(|clock| CaptureRecord {
            id: CaptureRecord::id(0, global),
            count: self.counter_start.wrapping_add(clock.floor_index(start.as_ps()) as u32),
        });
        let line = match &mut self.phy {
            Some((word, jitter)) => word.edge(start + jitter.sample(global, size)),
            None => start,
        };
        let at = self.oscillator.when(line);
        Some(Departure { stream, number, size, at, stamp })
    }
}

fn lane(stream: &StreamSetup, key: Key) -> Result<Lane, NoiseError> {
    let (interval, jitter) = match &stream.timing {
        Timing::Paced { interval, jitter } => (*interval, Noise::new(jitter, key.named("interval"))?),
        _ => (Span::ZERO, Noise::new(&NoiseSpec::NONE, key)?),
    };
    Ok(Lane { frames: stream.frames, size: stream.size, interval, jitter, next: 0, due: ClockTime::ZERO })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn departures(clock: Option<&str>, size: u32) -> Vec<Departure> {
        let stream = StreamSetup {
            name: "s".into(),
            frames: 1_000,
            size,
            queue: 0,
            timing: Timing::BackToBack,
            tx_stamps: false,
        };
        let parameters = SenderParameters {
            clock: clock.map(|tick| tick.parse().unwrap()),
            speed: "10Gbps".parse().unwrap(),
            phy: None,
        };
        let key = Key::root(1, 0);
        let spec = OscillatorSpec::default();
        let mut sender = Sender::new(&parameters, spec, &[stream], (0, 1), key, key).unwrap();
        std::iter::from_fn(|| sender.send()).collect()
    }

    #[test]
    fn the_crafter_takes_whole_clocks_and_an_ideal_line_does_not() {
        for (clock, size, spacing) in [
            (Some("6.4ns"), 64, 70_400),
            (Some("6.4ns"), 1_518, 1_235_200),
            (None, 64, 67_200),
            (None, 1_518, 1_230_400),
        ] {
            let frames = departures(clock, size);
            assert_eq!(frames.len(), 1_000);
            assert!(frames.windows(2).all(|w| (w[1].at - w[0].at).as_ps() == spacing), "{size}");
            assert_eq!(frames[0].stamp.is_some(), clock.is_some());
        }
    }
}
