//! Clocks as exact straight lines: the map between two clocks and its inverse.
//!
//! Between two rate changes the reading of clock `D` as a function of clock `S` is
//!
//! ```text
//! at(s)   = floor( d0 + (s − s0) · r )          r = 1 + deviation / 2^64
//! when(d) = the least s with at(s) ≥ d
//! ```
//!
//! so that `at(when(d)) ≥ d > at(when(d) − 1 ps)` for every `d` (the property test below). Nothing is
//! approximated: a first-order inverse is wrong by 10 ns at 100 ppm after one second, more than a tick of
//! the instruments that are simulated here.
//!
//! A clock whose rate changes or that is stepped gets a new line from that instant on; no event per tick exists.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::quantity::{self, Kind, QuantityError};
use crate::time::{ClockTime, Domain, True};

/// A frequency offset as people write it; the base unit is a part in 10^15.
const OFFSET: Kind = Kind {
    base: "ppq (1e-15)",
    example: "7.55ppm",
    units: &[("ppm", 1_000_000_000, 1), ("ppb", 1_000_000, 1), ("ppt", 1_000, 1)],
};

/// How fast one clock runs by another: 1 + deviation / 2^64, the deviation a signed 64-bit integer.
///
/// One unit is 5.4e-20: over 106 days it amounts to less than a picosecond. Deviations are kept
/// within ±1/4, far beyond any clock's adjustment range (the Linux `ice` driver allows ±10 %).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rate {
    deviation: i64,
}

/// The deviation is beyond ±1/4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a clock rate must lie within ±25 % of nominal")]
pub struct RateOutOfRange;

impl Rate {
    /// Both clocks run alike.
    pub const ONE: Self = Self { deviation: 0 };
    const LIMIT: i128 = 1 << 62;

    /// The rate `num / den`, rounded down to 2^-64.
    ///
    /// # Errors
    /// [`RateOutOfRange`] when it is not within ±25 % of 1, or `den` is not positive.
    pub fn from_ratio(num: i128, den: i128) -> Result<Self, RateOutOfRange> {
        let excess = num.checked_sub(den).ok_or(RateOutOfRange)?;
        if den <= 0 || excess.unsigned_abs() > den.unsigned_abs() / 4 {
            return Err(RateOutOfRange);
        }
        // Long division: 2^64 · excess / den in two steps of 32 bits, so that any den below 2^94 is exact.
        let (high, rest) = (excess.div_euclid(den), excess.rem_euclid(den));
        let step = rest.checked_shl(32).filter(|_| den < 1 << 94).ok_or(RateOutOfRange)?;
        let (middle, rest) = (step / den, step % den);
        let low = (rest << 32) / den;
        Self::from_wide((high << 64) + (middle << 32) + low)
    }

    fn from_wide(deviation: i128) -> Result<Self, RateOutOfRange> {
        if deviation.abs() > Self::LIMIT {
            return Err(RateOutOfRange);
        }
        Ok(Self { deviation: deviation as i64 })
    }

    /// The rate of a clock that runs at `self` by a clock that runs at `other`: the product, rounded down.
    ///
    /// # Errors
    /// [`RateOutOfRange`] when the product is.
    pub fn compose(self, other: Self) -> Result<Self, RateOutOfRange> {
        let (a, b) = (i128::from(self.deviation), i128::from(other.deviation));
        Self::from_wide(a + b + ((a * b) >> 64))
    }

    /// The rate with an `n`-th of the deviation.
    #[must_use]
    pub const fn fraction(self, n: i64) -> Self {
        Self { deviation: self.deviation / n }
    }

    /// The deviation from 1 in parts per million, for reports.
    pub fn ppm(self) -> f64 {
        self.deviation as f64 / 18_446_744_073_709_551_616.0 * 1e6
    }

    /// Deviation of 1/rate in units of 2^-64, rounded down; an estimate that [`ClockMap::when`] corrects.
    fn reciprocal_deviation(self) -> i64 {
        let a = i128::from(self.deviation);
        ((-a << 64) / ((1_i128 << 64) + a)) as i64
    }
}

impl FromStr for Rate {
    type Err = QuantityError;
    /// Reads `"7.55ppm"` or `"-7550ppb"` as the offset from nominal: positive is fast.
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let parts = OFFSET.whole(text)?;
        let base = 1_000_000_000_000_000_i128;
        Self::from_ratio(base + i128::from(parts), base)
            .map_err(|_| QuantityError::OutOfRange { text: text.to_owned(), limit: "±250,000 ppm" })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounded = (self.ppm() * 1e6).round() / 1e6;
        write!(f, "{}ppm", if rounded == 0.0 { 0.0 } else { rounded })
    }
}
impl<'de> Deserialize<'de> for Rate {
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        quantity::deserialize_quantity(deserializer, OFFSET.example)
    }
}
impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One straight piece of clock `D` as a function of clock `S` (true time unless said).
pub struct ClockMap<D: Domain, S: Domain = True> {
    source: i64,
    reading: i64,
    /// What the reading is beyond `reading` at `source`, in 2^-64 ps.
    fraction: u64,
    rate: Rate,
    reciprocal: i64,
    domains: PhantomData<fn() -> (D, S)>,
}

impl<D: Domain, S: Domain> Clone for ClockMap<D, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<D: Domain, S: Domain> Copy for ClockMap<D, S> {}
impl<D: Domain, S: Domain> fmt::Debug for ClockMap<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} reads {} ps when {} reads {} ps, at {}", D::NAME, self.reading, S::NAME, self.source, self.rate)
    }
}

impl<D: Domain, S: Domain> ClockMap<D, S> {
    /// The line that reads `reading` (plus `fraction` / 2^64 ps) at `source` and runs at `rate`.
    pub fn new(source: ClockTime<S>, reading: ClockTime<D>, fraction: u64, rate: Rate) -> Self {
        Self {
            source: source.as_ps(),
            reading: reading.as_ps(),
            fraction,
            rate,
            reciprocal: rate.reciprocal_deviation(),
            domains: PhantomData,
        }
    }

    /// A clock that starts with its source and runs at `rate`.
    pub fn starting(rate: Rate) -> Self {
        Self::new(ClockTime::ZERO, ClockTime::ZERO, 0, rate)
    }

    /// What clock `D` reads when `S` reads `source`, rounded down to a picosecond.
    #[inline]
    pub fn at(&self, source: ClockTime<S>) -> ClockTime<D> {
        let elapsed = source.as_ps() - self.source;
        ClockTime::from_ps(self.reading + elapsed + (self.excess(elapsed) >> 64) as i64)
    }

    /// elapsed · deviation + fraction, what the rate adds to the reading [2^-64 ps].
    #[inline]
    fn excess(&self, elapsed: i64) -> i128 {
        i128::from(elapsed) * i128::from(self.rate.deviation) + i128::from(self.fraction)
    }

    /// The least instant of `S` at which `D` reads `reading` or more.
    ///
    /// The reciprocal gives an estimate; the map itself decides, so the answer is exact.
    #[inline]
    pub fn when(&self, reading: ClockTime<D>) -> ClockTime<S> {
        let wanted = reading.as_ps() - self.reading;
        if self.rate == Rate::ONE {
            return ClockTime::from_ps(self.source + wanted);
        }
        let mut elapsed = wanted + ((i128::from(wanted) * i128::from(self.reciprocal)) >> 64) as i64;
        // One picosecond of the source adds `deviation` to the excess: no further product is needed.
        let deviation = i128::from(self.rate.deviation);
        let mut excess = self.excess(elapsed);
        while elapsed + ((excess >> 64) as i64) < wanted {
            elapsed += 1;
            excess += deviation;
        }
        while elapsed - 1 + ((excess - deviation) >> 64) as i64 >= wanted {
            elapsed -= 1;
            excess -= deviation;
        }
        ClockTime::from_ps(self.source + elapsed)
    }

    /// The line from `source` on with another rate; the reading is continuous there, to 2^-64 ps.
    #[must_use]
    pub fn with_rate(&self, source: ClockTime<S>, rate: Rate) -> Self {
        let elapsed = source.as_ps() - self.source;
        Self::new(source, self.at(source), self.excess(elapsed) as u64, rate)
    }

    /// How fast `D` runs by `S` on this line.
    #[inline]
    pub fn rate(&self) -> Rate {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{SimTime, Span};
    use proptest::prelude::*;

    struct Card;
    impl Domain for Card {
        const NAME: &'static str = "card";
    }

    fn map(deviation: i64, source: i64, reading: i64, fraction: u64) -> ClockMap<Card> {
        ClockMap::new(ClockTime::from_ps(source), ClockTime::from_ps(reading), fraction, Rate { deviation })
    }

    const DAY_PS: i64 = 86_400_000_000_000_000;

    proptest! {
        #[test]
        fn when_is_the_exact_inverse(
            deviation in -(1_i64 << 62)..=(1_i64 << 62),
            source in -DAY_PS..DAY_PS, reading in -DAY_PS..DAY_PS, fraction: u64,
            wanted in -DAY_PS..DAY_PS,
        ) {
            let map = map(deviation, source, reading, fraction);
            let wanted = ClockTime::<Card>::from_ps(wanted);
            let instant = map.when(wanted);
            prop_assert!(map.at(instant) >= wanted);
            prop_assert!(map.at(instant - Span::from_ps(1)) < wanted);
        }

        #[test]
        fn a_rate_change_is_continuous(
            first in -(1_i64 << 50)..(1_i64 << 50), second in -(1_i64 << 50)..(1_i64 << 50), at in 0..DAY_PS,
        ) {
            let before = map(first, 0, 0, 0);
            let instant = SimTime::from_ps(at);
            let after = before.with_rate(instant, Rate { deviation: second });
            prop_assert_eq!(after.at(instant), before.at(instant));
            // Changing the rate to itself, however often, loses nothing.
            let mut same = before;
            for k in 1..20 {
                same = same.with_rate(SimTime::from_ps(at / 20 * k), before.rate());
            }
            prop_assert_eq!(same.at(instant), before.at(instant));
        }
    }

    #[test]
    fn offsets_are_read_exactly() {
        // 7.55 ppm over 1 s is 7.55 us.
        let map = ClockMap::<Card>::starting("7.55ppm".parse().unwrap());
        assert_eq!(map.at(SimTime::from_ps(1_000_000_000_000)).as_ps(), 1_000_007_549_999);
        assert_eq!(map.when(ClockTime::from_ps(1_000_007_550_000)).as_ps(), 1_000_000_000_000 + 1);
        assert_eq!("-7550ppb".parse::<Rate>().unwrap().to_string(), "-7.55ppm");
        assert!("300000ppm".parse::<Rate>().is_err());
    }

    #[test]
    fn ratios_round_down_to_two_to_the_minus_64() {
        // 3/4: the deviation −1/4 is exact.
        assert_eq!(Rate::from_ratio(3, 4).unwrap().deviation, -(1 << 62));
        // 1 + 1/3e9: 2^64 / 3e9 = 6148914691.236…
        assert_eq!(Rate::from_ratio(3_000_000_001, 3_000_000_000).unwrap().deviation, 6_148_914_691);
        assert!(Rate::from_ratio(2, 1).is_err());
        assert!(Rate::from_ratio(1, 0).is_err());
    }
}
