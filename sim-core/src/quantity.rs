//! Numbers with units, as people write them: `"100us"`, `"6.4ns"`, `"7.55ppm"`, `"16/13ns"`.
//!
//! Everything is exact: a decimal is an integer over a power of ten, and a value that is not a whole
//! number of the wanted base unit is refused, never rounded. A number without a unit is refused too.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserializer, Visitor};

/// Why a text is not a quantity of the wanted kind. Each message says what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// There is no number at the start.
    #[error("`{text}` does not start with a number; write for example \"{example}\"")]
    NotANumber {
        /// What was written.
        text: String,
        /// A right value of the same kind.
        example: &'static str,
    },
    /// A number without a unit.
    #[error("`{text}` has no unit; write for example \"{example}\" (units: {units})")]
    MissingUnit {
        /// What was written.
        text: String,
        /// A right value of the same kind.
        example: &'static str,
        /// The units that are known for this kind.
        units: String,
    },
    /// A unit that this kind of quantity does not have.
    #[error("`{text}` has the unknown unit `{unit}`; the units here are {units}")]
    UnknownUnit {
        /// What was written.
        text: String,
        /// The unit in it.
        unit: String,
        /// The units that are known for this kind.
        units: String,
    },
    /// More digits than the base unit can hold.
    #[error("`{text}` is not a whole number of {base}; the finest step here is 1 {base}")]
    TooFine {
        /// What was written.
        text: String,
        /// The base unit.
        base: &'static str,
    },
    /// Too large for a 64-bit number of base units.
    #[error("`{text}` is out of range; it must lie within {limit}")]
    OutOfRange {
        /// What was written.
        text: String,
        /// The range.
        limit: &'static str,
    },
}

/// A kind of quantity: its units in terms of a base unit.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Name of the base unit, as error texts say it.
    pub base: &'static str,
    /// A right value, for error texts.
    pub example: &'static str,
    /// `(unit, numerator, denominator)`: one unit is numerator / denominator base units.
    pub units: &'static [(&'static str, i128, i128)],
}

impl Kind {
    fn names(&self) -> String {
        self.units.iter().map(|u| u.0).collect::<Vec<_>>().join(", ")
    }

    /// Reads `text` as an exact ratio of base units, `(numerator, denominator)`, denominator > 0.
    ///
    /// Accepts an optional sign, digits with `_` between them, a decimal point, a `/` with a second
    /// whole number (`16/13ns`), and a unit, with or without a blank before it.
    ///
    /// # Errors
    /// [`QuantityError`] with the reason.
    pub fn ratio(&self, text: &str) -> Result<(i128, i128), QuantityError> {
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| !(c.is_ascii_digit() || "+-._/".contains(c))).unwrap_or(trimmed.len());
        let (number, unit) = (&trimmed[..split], trimmed[split..].trim());
        let not_a_number = || QuantityError::NotANumber { text: text.to_owned(), example: self.example };
        let (num, den) = parse_number(number).ok_or_else(not_a_number)?;
        if unit.is_empty() {
            return Err(QuantityError::MissingUnit {
                text: text.to_owned(),
                example: self.example,
                units: self.names(),
            });
        }
        let Some(&(_, unit_num, unit_den)) = self.units.iter().find(|u| u.0 == unit) else {
            return Err(QuantityError::UnknownUnit {
                text: text.to_owned(),
                unit: unit.to_owned(),
                units: self.names(),
            });
        };
        let num = num.checked_mul(unit_num);
        let den = den.checked_mul(unit_den);
        match (num, den) {
            (Some(num), Some(den)) => Ok(reduce(num, den)),
            _ => Err(self.out_of_range(text)),
        }
    }

    /// Reads `text` as a whole number of base units.
    ///
    /// # Errors
    /// [`QuantityError`] with the reason.
    pub fn whole(&self, text: &str) -> Result<i64, QuantityError> {
        let (num, den) = self.ratio(text)?;
        if den != 1 {
            return Err(QuantityError::TooFine { text: text.to_owned(), base: self.base });
        }
        i64::try_from(num).ok().filter(|n| n.unsigned_abs() <= 1 << 62).ok_or_else(|| self.out_of_range(text))
    }

    fn out_of_range(&self, text: &str) -> QuantityError {
        QuantityError::OutOfRange { text: text.to_owned(), limit: "2^62 base units either way (53 days for a time)" }
    }
}

/// `12.5` → (125, 10), `16/13` → (16, 13); `None` when it is not a number or has over 30 digits.
fn parse_number(text: &str) -> Option<(i128, i128)> {
    if let Some((num, den)) = text.split_once('/') {
        let (num, num_scale) = parse_decimal(num)?;
        let (den, den_scale) = parse_decimal(den)?;
        return (den > 0 && num_scale == 1 && den_scale == 1).then_some((num, den));
    }
    parse_decimal(text)
}

fn parse_decimal(text: &str) -> Option<(i128, i128)> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let starts_right = whole.starts_with(|c: char| c.is_ascii_digit());
    if !starts_right || !is_digits(whole) || !is_digits(fraction) || whole.ends_with('_') || digits.ends_with('.') {
        return None;
    }
    let joined: String = whole.chars().chain(fraction.chars()).filter(|c| *c != '_').collect();
    let fraction_digits = fraction.bytes().filter(u8::is_ascii_digit).count();
    if joined.len() > 30 {
        return None;
    }
    let magnitude: i128 = joined.parse().ok()?;
    let scale = 10_i128.checked_pow(u32::try_from(fraction_digits).ok()?)?;
    Some((if negative { -magnitude } else { magnitude }, scale))
}

/// Lowest terms; the denominator stays positive.
pub(crate) fn reduce(num: i128, den: i128) -> (i128, i128) {
    let divisor = gcd(num.unsigned_abs(), den.unsigned_abs()).max(1);
    let divisor = i128::try_from(divisor).unwrap_or(1);
    (num / divisor, den / divisor)
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Deserialises a type that is written as a quantity string; a bare number gets an error of its own.
pub(crate) fn deserialize_quantity<'de, D, T>(deserializer: D, example: &'static str) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr,
    T::Err: fmt::Display,
{
    struct QuantityVisitor<T> {
        example: &'static str,
        marker: std::marker::PhantomData<T>,
    }
    impl<T> Visitor<'_> for QuantityVisitor<T>
    where
        T: FromStr,
        T::Err: fmt::Display,
    {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a number with its unit in quotes, such as \"{}\"", self.example)
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(|error| E::custom(error))
        }

        fn visit_i64<E: de::Error>(self, value: i64) -> Result<T, E> {
            Err(E::custom(format!("{value} has no unit; write it in quotes with one, such as \"{}\"", self.example)))
        }

        fn visit_f64<E: de::Error>(self, value: f64) -> Result<T, E> {
            Err(E::custom(format!("{value} has no unit; write it in quotes with one, such as \"{}\"", self.example)))
        }
    }
    deserializer.deserialize_any(QuantityVisitor { example, marker: std::marker::PhantomData })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Kind =
        Kind { base: "ps", example: "100us", units: &[("ps", 1, 1), ("ns", 1_000, 1), ("s", 1_000_000_000_000, 1)] };

    #[test]
    fn decimals_and_ratios_are_exact() {
        assert_eq!(TIME.ratio("6.4ns"), Ok((6_400, 1)));
        assert_eq!(TIME.ratio("70.4902 ns"), Ok((352_451, 5)));
        assert_eq!(TIME.ratio("16/13ns"), Ok((16_000, 13)));
        assert_eq!(TIME.whole("-99_968ns"), Ok(-99_968_000));
    }

    #[test]
    fn every_refusal_says_what_would_be_right() {
        let text = |r: Result<i64, QuantityError>| r.unwrap_err().to_string();
        assert_eq!(text(TIME.whole("100")), "`100` has no unit; write for example \"100us\" (units: ps, ns, s)");
        assert_eq!(text(TIME.whole("100m")), "`100m` has the unknown unit `m`; the units here are ps, ns, s");
        assert_eq!(text(TIME.whole("0.5ps")), "`0.5ps` is not a whole number of ps; the finest step here is 1 ps");
        assert!(text(TIME.whole("9e9s")).contains("unknown unit `e9s`"));
        assert!(text(TIME.whole("5000000000s")).contains("out of range"));
        for bad in ["", "ns", ".5ns", "1.ns", "1..2ns", "--1ns", "1/0ns", "1/2.5ns", "_1ns"] {
            assert!(matches!(TIME.ratio(bad), Err(QuantityError::NotANumber { .. })), "{bad}");
        }
    }
}
