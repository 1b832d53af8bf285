//! (a) A free-running oscillator: its frequency offset, and a drift of it in time.
//!
//! A drifting oscillator is a sequence of straight pieces; [`Oscillator::next_change`] says when the next one
//! begins, and nothing happens in between.

use nicsim_core::clock::{ClockMap, Rate};
use nicsim_core::time::{ClockTime, Domain, SimTime, Span};
use serde::{Deserialize, Serialize};

/// Length of the straight pieces of a drifting oscillator. At 1 ppb/s one piece is off by at most
/// 10 ms · 10 ms · 1e-9 / s / 8 = 0.0125 ps from the parabola.
const PIECE: Span = Span::from_ns(10_000_000);

/// An oscillator as a scenario describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OscillatorSpec {
    /// Frequency offset from true time; positive is fast.
    #[serde(default)]
    pub offset: Rate,
    /// Change of the offset per second.
    #[serde(default)]
    pub drift_per_second: Rate,
}

/// A running oscillator of domain `D`.
#[derive(Debug, Clone)]
pub struct Oscillator<D: Domain> {
    map: ClockMap<D>,
    /// Factor of the rate from one piece to the next.
    change: Rate,
    next_change: SimTime,
}

impl<D: Domain> Oscillator<D> {
    /// An oscillator that starts with the scenario.
    pub fn new(spec: OscillatorSpec) -> Self {
        // One piece is a hundredth of a second.
        let change = spec.drift_per_second.fraction(100);
        let next_change = if change == Rate::ONE { SimTime::NEVER } else { SimTime::ZERO + PIECE };
        Self { map: ClockMap::starting(spec.offset), change, next_change }
    }

    /// The present piece.
    pub fn map(&self) -> &ClockMap<D> {
        &self.map
    }

    /// When the next piece begins.
    pub fn next_change(&self) -> SimTime {
        self.next_change
    }

    /// Goes over to the piece that begins at `now`; a rate at the limit stays there.
    pub fn change(&mut self, now: SimTime) {
        let rate = self.map.rate();
        self.map = self.map.with_rate(now, rate.compose(self.change).unwrap_or(rate));
        self.next_change = now + PIECE;
    }

    /// When the oscillator reads `reading`, which is not earlier than any it was asked for before.
    pub fn when(&mut self, reading: ClockTime<D>) -> SimTime {
        loop {
            let at = self.map.when(reading);
            if at < self.next_change {
                return at;
            }
            self.change(self.next_change);
        }
    }

    /// The piece that holds `now`, for an observer whose clock no event depends on.
    pub fn map_at(&mut self, now: SimTime) -> &ClockMap<D> {
        while self.next_change <= now {
            self.change(self.next_change);
        }
        &self.map
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phc::Osc;

    #[test]
    fn a_drift_is_a_parabola() {
        let spec = OscillatorSpec { offset: "1ppm".parse().unwrap(), drift_per_second: "1ppb".parse().unwrap() };
        let mut oscillator = Oscillator::<Osc>::new(spec);
        let second = 1_000_000_000_000_i64;
        let now = SimTime::from_ps(10 * second);
        // 10 s at +1 ppm, and 1 ppb/s · 10² s² / 2 less half a piece: 10 us + 50 ns − 0.05 ns.
        let gained = oscillator.map_at(now).at(now).as_ps() - 10 * second;
        assert!((gained - (10_000_000 + 49_950)).abs() <= 2, "{gained}");
        let mut inverse = Oscillator::<Osc>::new(spec);
        assert_eq!(inverse.when(oscillator.map().at(now)), now);
    }
}
