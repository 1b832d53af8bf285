//! Evenly spaced instants with a rational period: the ticks of a counter, the blocks of a line code.
//!
//! A period is a ratio of picoseconds, since 812.5 MHz (16/13 ns) or 644.53125 MHz (1.5515… ns) are not
//! whole numbers of them. Tick `k` is at `phase + k · period`, exactly.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::quantity::{self, Kind, QuantityError};
use crate::time::{Span, TIME};

/// A frequency as people write it; the base unit is the hertz.
const FREQUENCY: Kind = Kind {
    base: "Hz",
    example: "812.5MHz",
    units: &[("Hz", 1, 1), ("kHz", 1_000, 1), ("MHz", 1_000_000, 1), ("GHz", 1_000_000_000, 1)],
};

/// A length of time as an exact ratio of picoseconds: `num / den` ps in lowest terms, more than 1 ps.
///
/// Both are below 2^40, so that the tick index of any instant within 53 days follows from 128-bit products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    num: i64,
    den: i64,
}

impl Period {
    const LIMIT: i128 = 1 << 40;

    /// `num / den` picoseconds.
    ///
    /// Returns `None` unless the period is longer than 1 ps and both are, in lowest terms, below 2^40
    /// (1.1 s of picoseconds).
    pub fn new(num: i128, den: i128) -> Option<Self> {
        if den <= 0 || num <= den {
            return None;
        }
        let (num, den) = quantity::reduce(num, den);
        (num < Self::LIMIT).then_some(Self { num: num as i64, den: den as i64 })
    }

    /// The period that is as long as `span`; `None` as for [`Period::new`].
    pub const fn from_span(span: Span) -> Option<Self> {
        Self::whole(span.as_ps())
    }

    /// A period of `ps` whole picoseconds; `None` as for [`Period::new`].
    pub const fn whole(ps: i64) -> Option<Self> {
        if ps > 1 && (ps as i128) < Self::LIMIT { Some(Self { num: ps, den: 1 }) } else { None }
    }

    /// Numerator \[ps\].
    pub const fn num(self) -> i64 {
        self.num
    }

    /// Denominator.
    pub const fn den(self) -> i64 {
        self.den
    }

    /// `ticks` periods in whole picoseconds, rounded towards 0.
    #[inline]
    pub fn ticks_to_ps(self, ticks: i64) -> i64 {
        match ticks.checked_mul(self.num) {
            Some(product) if self.den == 1 => product,
            Some(product) => product / self.den,
            None => (i128::from(ticks) * i128::from(self.num) / i128::from(self.den)) as i64,
        }
    }

    /// `ticks` periods in nanoseconds, for reports.
    pub fn ticks_to_ns(self, ticks: i128) -> f64 {
        (ticks * i128::from(self.num)) as f64 / (i128::from(self.den) * 1_000) as f64
    }

    /// The period in nanoseconds, for reports.
    pub fn as_ns_f64(self) -> f64 {
        self.ticks_to_ns(1)
    }
}

impl FromStr for Period {
    type Err = QuantityError;
    /// Reads a time (`"6.4ns"`, `"16/13ns"`) or a frequency (`"812.5MHz"`).
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let (num, den) = if text.trim().ends_with("Hz") {
            let (hertz, den) = FREQUENCY.ratio(text)?;
            (1_000_000_000_000 * den, hertz)
        } else {
            TIME.ratio(text)?
        };
        Self::new(num, den).ok_or_else(|| QuantityError::OutOfRange {
            text: text.to_owned(),
            limit: "1 ps to 1.09 s, with numerator and denominator below 2^40 ps",
        })
    }
}
impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.den {
            1 => write!(f, "{}", Span::from_ps(self.num)),
            // A decimal where it ends, as it was written; a ratio of nanoseconds where it does not.
            den if 1_000_000 % den == 0 => {
                let digits = format!("{:.9}", self.as_ns_f64());
                write!(f, "{}ns", digits.trim_end_matches('0'))
            }
            den if self.num % 1_000 == 0 => write!(f, "{}/{den}ns", self.num / 1_000),
            den => write!(f, "{}/{den}ps", self.num),
        }
    }
}
impl<'de> Deserialize<'de> for Period {
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        quantity::deserialize_quantity(deserializer, "6.4ns")
    }
}
impl Serialize for Period {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Ticks of one period from a phase on; positions are picoseconds of whatever clock counts them.
#[derive(Debug, Clone, Copy)]
pub struct Grid {
    period: Period,
    /// Position of tick 0 \[ps\].
    phase: i64,
    /// floor(2^64 · den / num): an estimate of the index that exact products correct.
    reciprocal: u64,
}

impl Grid {
    /// Ticks every `period`, tick 0 at `phase` ps.
    pub fn new(period: Period, phase: i64) -> Self {
        // Below 2^64, since a period is longer than 1 ps.
        let reciprocal = ((i128::from(period.den) << 64) / i128::from(period.num)) as u64;
        Self { period, phase, reciprocal }
    }

    /// The period.
    pub fn period(&self) -> Period {
        self.period
    }

    /// Index of the last tick at or before `position` \[ps\], and how far beyond it that lies, in ps / den.
    #[inline]
    fn split(&self, position: i64) -> (i64, i64) {
        let from_phase = position - self.phase;
        let estimate = ((i128::from(from_phase) * i128::from(self.reciprocal)) >> 64) as i64;
        // The estimate is off by one at most, so the rest is below 2^42 and right in 64 bits, whatever its terms wrap to.
        let rest = from_phase.wrapping_mul(self.period.den).wrapping_sub(estimate.wrapping_mul(self.period.num));
        if rest < 0 {
            (estimate - 1, rest + self.period.num)
        } else if rest >= self.period.num {
            (estimate + 1, rest - self.period.num)
        } else {
            (estimate, rest)
        }
    }

    /// Index of the last tick at or before `position` \[ps\].
    #[inline]
    pub fn floor_index(&self, position: i64) -> i64 {
        self.split(position).0
    }

    /// Index of the first tick at or after `position` \[ps\].
    #[inline]
    pub fn ceil_index(&self, position: i64) -> i64 {
        let (index, rest) = self.split(position);
        index + i64::from(rest > 0)
    }

    /// The first whole picosecond at or after tick `index`.
    pub fn position(&self, index: i64) -> i64 {
        let scaled = i128::from(index) * i128::from(self.period.num);
        self.phase - (-scaled).div_euclid(i128::from(self.period.den)) as i64
    }

    /// The first whole picosecond at or after the last tick at or before `position`, and that tick's index.
    #[inline]
    pub fn floor(&self, position: i64) -> (i64, i64) {
        let (index, rest) = self.split(position);
        (position - self.whole(rest), index)
    }

    /// The first whole picosecond at or after the first tick at or after `position`.
    #[inline]
    pub fn ceil(&self, position: i64) -> i64 {
        match self.split(position) {
            (_, 0) => position,
            (_, rest) => self.after(position, rest),
        }
    }

    /// The first whole picosecond at or after the first tick after `position`.
    #[inline]
    pub fn next(&self, position: i64) -> i64 {
        self.after(position, self.split(position).1)
    }

    /// The first whole picosecond at or after the tick that follows the one `rest` before `position`.
    #[inline]
    fn after(&self, position: i64, rest: i64) -> i64 {
        position + self.whole(self.period.num - rest + self.period.den - 1)
    }

    /// The whole picoseconds in `parts` / den of them, `parts` not negative. Most periods are whole themselves.
    #[inline]
    fn whole(&self, parts: i64) -> i64 {
        if self.period.den == 1 { parts } else { parts / self.period.den }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_field_s_periods_are_exact() {
        let period = |text: &str| text.parse::<Period>().unwrap();
        assert_eq!((period("812.5MHz").num, period("812.5MHz").den), (16_000, 13));
        assert_eq!(period("812.5MHz"), period("16/13ns"));
        assert_eq!(period("156.25MHz"), period("6.4ns"));
        assert_eq!((period("644.53125MHz").num, period("644.53125MHz").den), (51_200, 33));
        assert_eq!(period("125MHz"), period("8ns"));
        assert_eq!(period("128ns").num, 128_000);
        for text in ["16/13ns", "6.4ns", "51200/33ps", "70.4902ns", "8ns"] {
            assert_eq!(period(text).to_string(), text);
        }
        for bad in ["0ns", "-1ns", "0Hz", "2s", "6.4"] {
            assert!(bad.parse::<Period>().is_err(), "{bad}");
        }
    }

    #[test]
    fn thirteen_ticks_of_812_5_mhz_are_sixteen_nanoseconds() {
        let grid = Grid::new("812.5MHz".parse().unwrap(), 0);
        assert_eq!(grid.floor_index(16_000), 13);
        assert_eq!(grid.floor_index(15_999), 12);
        assert_eq!(grid.position(1), 1_231);
        assert_eq!(grid.ceil_index(1_231), 2);
        assert_eq!(grid.floor_index(-1), -1);
    }

    proptest! {
        #[test]
        fn floor_brackets_every_position(
            num in 2_i128..1 << 40, den in 1_i128..1 << 20, phase in -(1_i64 << 50)..(1_i64 << 50),
            position in -(1_i64 << 61)..(1_i64 << 61),
        ) {
            prop_assume!(num > den);
            let period = Period::new(num, den).unwrap();
            let grid = Grid::new(period, phase);
            let index = grid.floor_index(position);
            let scaled = i128::from(position - phase) * i128::from(period.den);
            prop_assert!(i128::from(index) * i128::from(period.num) <= scaled);
            prop_assert!((i128::from(index) + 1) * i128::from(period.num) > scaled);
            prop_assert_eq!(grid.floor(position), (grid.position(index), index));
            prop_assert_eq!(grid.ceil(position), grid.position(grid.ceil_index(position)));
            prop_assert_eq!(grid.next(position), grid.position(index + 1));
        }

        #[test]
        fn quantising_is_idempotent_and_monotone(
            num in 1_000_i128..1 << 30, den in 1_i128..100, phase in -1_000_000_i64..1_000_000,
            a in -(1_i64 << 50)..(1_i64 << 50), b in -(1_i64 << 50)..(1_i64 << 50),
        ) {
            let grid = Grid::new(Period::new(num, den).unwrap(), phase);
            prop_assert_eq!(grid.ceil(a.min(b)).min(grid.ceil(a.max(b))), grid.ceil(a.min(b)));
            prop_assert!(grid.ceil(a) >= a);
            prop_assert_eq!(grid.floor_index(grid.position(grid.floor_index(a))), grid.floor_index(a));
        }
    }
}
