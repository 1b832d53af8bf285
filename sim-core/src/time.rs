//! Instants and lengths of time: whole picoseconds, one type per clock.
//!
//! An instant is a number of picoseconds since that clock's reading at the scenario's start. The epoch
//! (TAI since 1970, say) is kept apart and added when an instant is printed: picoseconds since 1970 do
//! not fit into 64 bits, and ±106 days from the start do.
//!
//! Every octet time from 1 Gb/s (8,000 ps) to 400 Gb/s (20 ps) is a whole number of picoseconds, and so
//! are the capture ticks of 8 ns and 6.4 ns.
//!
//! ```compile_fail
//! use nicsim_core::time::{ClockTime, Domain};
//! struct Host;
//! struct Card;
//! impl Domain for Host { const NAME: &'static str = "host"; }
//! impl Domain for Card { const NAME: &'static str = "card"; }
//! // Times of two clocks cannot be compared or subtracted: a `ClockMap` has to convert one of them.
//! let _ = ClockTime::<Host>::from_ps(5) - ClockTime::<Card>::from_ps(3);
//! ```

use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::quantity::{self, Kind, QuantityError};

/// Time as people write it; the base unit is the picosecond.
pub const TIME: Kind = Kind {
    base: "ps",
    example: "100us",
    units: &[
        ("ps", 1, 1),
        ("ns", 1_000, 1),
        ("us", 1_000_000, 1),
        ("µs", 1_000_000, 1),
        ("ms", 1_000_000_000, 1),
        ("s", 1_000_000_000_000, 1),
        ("min", 60_000_000_000_000, 1),
    ],
};

/// A clock of its own: times of different domains do not mix.
pub trait Domain {
    /// How messages name the clock.
    const NAME: &'static str;
}

/// True time, the time in which the simulation orders what happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum True {}

impl Domain for True {
    const NAME: &'static str = "true time";
}

/// A length of time \[ps\], positive or negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(i64);

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A span of `ps` picoseconds.
    pub const fn from_ps(ps: i64) -> Self {
        Self(ps)
    }

    /// A span of `ns` nanoseconds.
    pub const fn from_ns(ns: i64) -> Self {
        Self(ns * 1_000)
    }

    /// The span in picoseconds.
    pub const fn as_ps(self) -> i64 {
        self.0
    }

    /// The span in nanoseconds, for reports.
    pub fn as_ns_f64(self) -> f64 {
        self.0 as f64 / 1_000.0
    }
}

/// An instant on the clock of domain `D` [ps since that clock's reading at the scenario's start].
pub struct ClockTime<D: Domain> {
    ps: i64,
    domain: PhantomData<fn() -> D>,
}

/// An instant of true time: picoseconds since the scenario's start.
pub type SimTime = ClockTime<True>;

impl<D: Domain> ClockTime<D> {
    /// The scenario's start on this clock.
    pub const ZERO: Self = Self::from_ps(0);

    /// Later than every instant: what a source without a next event answers.
    pub const NEVER: Self = Self::from_ps(i64::MAX);

    /// The instant `ps` picoseconds after the start.
    pub const fn from_ps(ps: i64) -> Self {
        Self { ps, domain: PhantomData }
    }

    /// Picoseconds since the start.
    pub const fn as_ps(self) -> i64 {
        self.ps
    }

    /// The later of two instants.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        if self.ps >= other.ps { self } else { other }
    }

    /// The earlier of two instants.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        if self.ps <= other.ps { self } else { other }
    }
}

impl<D: Domain> Clone for ClockTime<D> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<D: Domain> Copy for ClockTime<D> {}
impl<D: Domain> PartialEq for ClockTime<D> {
    fn eq(&self, other: &Self) -> bool {
        self.ps == other.ps
    }
}
impl<D: Domain> Eq for ClockTime<D> {}
impl<D: Domain> PartialOrd for ClockTime<D> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<D: Domain> Ord for ClockTime<D> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.ps.cmp(&other.ps)
    }
}
impl<D: Domain> Default for ClockTime<D> {
    fn default() -> Self {
        Self::ZERO
    }
}
impl<D: Domain> fmt::Debug for ClockTime<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ps ({})", self.ps, D::NAME)
    }
}
impl<D: Domain> fmt::Display for ClockTime<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NEVER { f.write_str("never") } else { Span(self.ps).fmt(f) }
    }
}
impl<D: Domain> Add<Span> for ClockTime<D> {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self::from_ps(self.ps + span.0)
    }
}
impl<D: Domain> AddAssign<Span> for ClockTime<D> {
    fn add_assign(&mut self, span: Span) {
        self.ps += span.0;
    }
}
impl<D: Domain> Sub<Span> for ClockTime<D> {
    type Output = Self;
    fn sub(self, span: Span) -> Self {
        Self::from_ps(self.ps - span.0)
    }
}
impl<D: Domain> Sub for ClockTime<D> {
    type Output = Span;
    fn sub(self, other: Self) -> Span {
        Span(self.ps - other.ps)
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}
impl Sub for Span {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
impl Neg for Span {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}
impl Mul<i64> for Span {
    type Output = Self;
    fn mul(self, factor: i64) -> Self {
        Self(self.0 * factor)
    }
}

impl FromStr for Span {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        TIME.whole(text).map(Self)
    }
}

impl fmt::Display for Span {
    /// The largest unit in which at most three decimals are needed: `100us`, `99968ns`, `6.4ns`, `1234.567us`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.unsigned_abs();
        let (unit, size) = [("s", 1_000_000_000_000_u64), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000)]
            .into_iter()
            .find(|&(_, size)| magnitude >= size && magnitude.is_multiple_of(size / 1_000))
            .unwrap_or(if magnitude == 0 { ("s", 1_000_000_000_000) } else { ("ps", 1) });
        let (whole, rest) = (magnitude / size, magnitude % size);
        if self.0 < 0 {
            f.write_str("-")?;
        }
        if rest == 0 {
            return write!(f, "{whole}{unit}");
        }
        let decimals = format!("{:03}", rest / (size / 1_000));
        write!(f, "{whole}.{}{unit}", decimals.trim_end_matches('0'))
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        quantity::deserialize_quantity(deserializer, TIME.example)
    }
}
impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_print_as_they_are_written() {
        for text in ["100us", "6.4ns", "99.968us", "1ps", "-37s", "128ns", "70.49us", "1.5ms", "0s"] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn printing_and_reading_are_inverse(ps in -(1_i64 << 62)..(1_i64 << 62)) {
            let span = Span::from_ps(ps);
            proptest::prop_assert_eq!(span.to_string().parse::<Span>().unwrap(), span);
        }
    }
}
