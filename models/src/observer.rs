//! (h) The FPGA capture on the cable (EFCC): a free-running 32-bit counter on an oscillator of its own.
//!
//! It emits what the instrument's file holds and nothing else: a 3-bit port, a 29-bit frame number from the payload,
//! and the wrapped count at the frame's start (`docs/ef_capture/specification.md` of CCIRT/aist-tsn-efcc).

use nicsim_core::clock::RateOutOfRange;
use nicsim_core::grid::{Grid, Period};
use nicsim_core::noise::{Noise, NoiseError, NoiseSpec};
use nicsim_core::rng::Key;
use nicsim_core::time::{Domain, SimTime};

use crate::bits::Field;
use crate::oscillator::{Oscillator, OscillatorSpec};

/// The FPGA's oscillator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fpga {}

impl Domain for Fpga {
    const NAME: &'static str = "the FPGA's oscillator";
}

const PORT: Field = Field::new(29, 3);
const NUMBER: Field = Field::new(0, 29);

/// One row of the instrument's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CaptureRecord {
    /// Port (3 bits) and frame number (29 bits).
    pub id: u32,
    /// Ticks of the instrument's counter, modulo 2^32.
    pub count: u32,
}

impl CaptureRecord {
    /// The id of frame `number` at `port`; numbers beyond 29 bits start over.
    pub fn id(port: u8, number: u64) -> u32 {
        (PORT.place(u64::from(port)) | NUMBER.place(number)) as u32
    }
}

/// A kind of capture instrument.
#[derive(Debug, Clone, PartialEq)]
pub struct ObserverParameters {
    /// Tick of its counter.
    pub tick: Period,
    /// Jitter of the capture before the counter is read.
    pub jitter: NoiseSpec,
}

/// A running capture instrument at one port.
#[derive(Debug, Clone)]
pub struct Observer {
    oscillator: Oscillator<Fpga>,
    ticks: Grid,
    jitter: Noise,
    /// The counter at the scenario's start.
    start: u32,
    port: u8,
}

/// Why an instrument cannot be set up.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SetupError {
    /// A rate beyond ±25 %.
    #[error(transparent)]
    Rate(#[from] RateOutOfRange),
    /// A wrong noise expression.
    #[error(transparent)]
    Noise(#[from] NoiseError),
}

impl Observer {
    /// An instrument at `port`; `key` draws the counter's start, the phase of its ticks and its jitter.
    ///
    /// # Errors
    /// [`SetupError`] when the oscillator's rate or the noise is out of range.
    pub fn new(parameters: &ObserverParameters, spec: OscillatorSpec, port: u8, key: Key) -> Result<Self, SetupError> {
        let phase = crate::release::uniform_below(key.named("phase"), parameters.tick);
        Ok(Self {
            oscillator: Oscillator::new(spec),
            ticks: Grid::new(parameters.tick, phase),
            jitter: Noise::new(&parameters.jitter, key.named("jitter"))?,
            start: key.named("counter").bits(0) as u32,
            port,
        })
    }

    /// The record of frame `number` whose start passes at `now`; instants come in order.
    #[inline]
    pub fn see(&mut self, number: u64, size: u32, now: SimTime) -> CaptureRecord {
        let reading = self.oscillator.map_at(now).at(now) + self.jitter.sample(number, size);
        let ticks = self.ticks.floor_index(reading.as_ps());
        CaptureRecord { id: CaptureRecord::id(self.port, number), count: self.start.wrapping_add(ticks as u32) }
    }

    /// Tick of the counter.
    pub fn tick(&self) -> Period {
        self.ticks.period()
    }
}

/// Unwraps the counter of an instrument whose frames come less than one turn apart.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwrap {
    last: Option<(u32, i64)>,
}

impl Unwrap {
    /// Ticks since the first count given.
    pub fn next(&mut self, count: u32) -> i64 {
        let total = self.last.map_or(0, |(last, total)| total + i64::from(count.wrapping_sub(last)));
        self.last = Some((count, total));
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_hold_three_bits_of_port_and_29_of_number() {
        assert_eq!(CaptureRecord::id(0, 5), 5);
        assert_eq!(CaptureRecord::id(7, 1), 0xe000_0001);
        assert_eq!(CaptureRecord::id(1, 1 << 29), 0x2000_0000, "the number starts over");
    }

    #[test]
    fn a_fast_counter_counts_more_and_wraps() {
        let parameters = ObserverParameters { tick: "6.4ns".parse().unwrap(), jitter: NoiseSpec::NONE };
        let spec = OscillatorSpec { offset: "7.55ppm".parse().unwrap(), ..OscillatorSpec::default() };
        let mut observer = Observer::new(&parameters, spec, 0, Key::root(3, 0)).unwrap();
        let mut unwrap = Unwrap::default();
        let second = 1_000_000_000_000;
        let ticks: Vec<i64> =
            (0..100).map(|k| unwrap.next(observer.see(k, 64, SimTime::from_ps(k as i64 * second)).count)).collect();
        // 99 s are 15,468,750,000 ticks of 6.4 ns, and 7.55 ppm of them more; the counter wrapped three times.
        assert!((ticks[99] - (15_468_750_000 + 116_789)).abs() <= 1, "{}", ticks[99]);
    }
}
