//! Values that a sweep gives to a path of the scenario: exact numbers with their unit, or anything else TOML can write.

use std::cmp::Ordering;
use std::fmt;

use nicsim_core::quantity::Kind as Units;
use nicsim_core::time::TIME;

/// What kind of value stands at a path; the unit of its column in results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A time \[ns in columns\].
    Time,
    /// A frequency offset \[ppm in columns\].
    Offset,
    /// A size \[bytes\].
    Size,
    /// A bit rate \[bit/s\].
    BitRate,
    /// A whole number.
    Integer,
    /// A number.
    Decimal,
    /// True or false.
    Switch,
    /// A name, or an expression as it was written.
    Text,
}

/// How a kind of quantity is read, written and shown.
struct Dimension {
    units: Units,
    /// Unit in which exact values are written into the scenario, and base units per one of it.
    written: (&'static str, i128),
    /// Ending of column names, unit as metadata say it, and base units per one of it.
    shown: (&'static str, &'static str, i128),
}

// The scenario file's own units (`docs/scenario.md`); each base unit is the finest that its keys hold.
const TIMES: Dimension = Dimension { units: TIME, written: ("ps", 1), shown: ("_ns", "ns", 1_000) };
const OFFSETS: Dimension = Dimension {
    units: Units {
        base: "1e-15",
        example: "7.55ppm",
        units: &[("ppm", 1_000_000_000, 1), ("ppb", 1_000_000, 1), ("ppt", 1_000, 1)],
    },
    written: ("ppt", 1_000),
    shown: ("_ppm", "ppm", 1_000_000_000),
};
const SIZES: Dimension = Dimension {
    units: Units { base: "B", example: "64B", units: &[("B", 1, 1), ("kB", 1_000, 1), ("KiB", 1_024, 1)] },
    written: ("B", 1),
    shown: ("_b", "B", 1),
};
const BIT_RATES: Dimension = Dimension {
    units: Units {
        base: "bit/s",
        example: "10Gbps",
        units: &[("bps", 1, 1), ("kbps", 1_000, 1), ("Mbps", 1_000_000, 1), ("Gbps", 1_000_000_000, 1)],
    },
    written: ("bps", 1),
    shown: ("_bps", "bit/s", 1),
};
const QUANTITIES: [Kind; 4] = [Kind::Time, Kind::Offset, Kind::Size, Kind::BitRate];

impl Kind {
    fn dimension(self) -> Option<&'static Dimension> {
        match self {
            Self::Time => Some(&TIMES),
            Self::Offset => Some(&OFFSETS),
            Self::Size => Some(&SIZES),
            Self::BitRate => Some(&BIT_RATES),
            Self::Integer | Self::Decimal | Self::Switch | Self::Text => None,
        }
    }

    /// Ending of the names of columns of this kind.
    pub fn suffix(self) -> &'static str {
        self.dimension().map_or("", |dimension| dimension.shown.0)
    }

    /// Unit of columns of this kind; `1` for plain numbers, nothing for texts.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Integer | Self::Decimal => "1",
            Self::Switch | Self::Text => "",
            quantity => quantity.dimension().map_or("", |dimension| dimension.shown.1),
        }
    }

    /// Is it a number or a quantity?
    pub fn is_numeric(self) -> bool {
        !matches!(self, Self::Switch | Self::Text)
    }

    /// The kind that a column of both has.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (Self::Integer, Self::Decimal) | (Self::Decimal, Self::Integer) => Self::Decimal,
            _ => Self::Text,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "a time",
            Self::Offset => "a frequency offset",
            Self::Size => "a size",
            Self::BitRate => "a bit rate",
            Self::Integer => "a whole number",
            Self::Decimal => "a number",
            Self::Switch => "true or false",
            Self::Text => "a text",
        })
    }
}

/// An exact number of base units: `num / den`, `den` > 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// What it counts.
    pub kind: Kind,
    /// Numerator \[base units\].
    pub num: i128,
    /// Denominator.
    pub den: i128,
}

impl Number {
    /// The number nearest to `value` base units that is a multiple of `grid`.
    pub fn nearest(value: f64, grid: Self) -> Option<Self> {
        let steps = libm::round(value * grid.den as f64 / grid.num as f64);
        let num = (steps.abs() < 1e30).then_some(steps as i128)?.checked_mul(grid.num)?;
        Some(Self { num, ..grid })
    }

    /// The multiple of `grid` nearest to it; halves go up.
    pub fn rounded(self, grid: Self) -> Option<Self> {
        let (a, b) = (self.num.checked_mul(grid.den)?, self.den.checked_mul(grid.num)?);
        let steps = a.checked_mul(2)?.checked_add(b)?.div_euclid(b.checked_mul(2)?);
        Some(Self { num: steps.checked_mul(grid.num)?, ..grid })
    }

    /// `self + other · times`.
    pub fn plus(self, other: Self, times: i128) -> Option<Self> {
        let left = self.num.checked_mul(other.den)?;
        let right = other.num.checked_mul(self.den)?.checked_mul(times)?;
        Some(Self { num: left.checked_add(right)?, den: self.den.checked_mul(other.den)?, ..self }.reduced())
    }

    /// `self · num / den`, `den` > 0.
    pub fn times(self, num: i128, den: i128) -> Option<Self> {
        Some(Self { num: self.num.checked_mul(num)?, den: self.den.checked_mul(den)?, ..self }.reduced())
    }

    fn reduced(self) -> Self {
        let divisor = gcd(self.num.unsigned_abs(), self.den.unsigned_abs()).max(1);
        let divisor = i128::try_from(divisor).unwrap_or(1);
        Self { num: self.num / divisor, den: self.den / divisor, ..self }
    }

    /// In base units.
    pub fn base(self) -> f64 {
        self.num as f64 / self.den as f64
    }

    /// In the unit of its column.
    pub fn shown(self) -> f64 {
        let per_unit = self.kind.dimension().map_or(1, |dimension| dimension.shown.2);
        let exact = Self { den: self.den.saturating_mul(per_unit), ..self }.reduced();
        exact.num as f64 / exact.den as f64
    }

    /// Order of two numbers of one dimension.
    pub fn order(self, other: Self) -> Ordering {
        match (self.num.checked_mul(other.den), other.num.checked_mul(self.den)) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => self.base().total_cmp(&other.base()),
        }
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A value of a swept path.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number or a quantity.
    Number(Number),
    /// True or false.
    Switch(bool),
    /// A text that is no quantity.
    Text(String),
    /// A table or a list, such as a noise expression.
    Tree(toml::Value),
}

impl Value {
    /// What was written in a file.
    pub fn read(written: &toml::Value) -> Self {
        match written {
            toml::Value::Integer(value) => Self::integer(i128::from(*value)),
            toml::Value::Float(value) => {
                decimal(&value.to_string()).map_or_else(|| Self::Tree(written.clone()), Self::Number)
            }
            toml::Value::Boolean(value) => Self::Switch(*value),
            toml::Value::String(text) => quantity(text).map_or_else(|| Self::Text(text.clone()), Self::Number),
            other => Self::Tree(other.clone()),
        }
    }

    fn integer(value: i128) -> Self {
        Self::Number(Number { kind: Kind::Integer, num: value, den: 1 })
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Number(number) => number.kind,
            Self::Switch(_) => Kind::Switch,
            Self::Text(_) | Self::Tree(_) => Kind::Text,
        }
    }

    /// As it is set in the scenario: quantities exactly, in their finest unit.
    pub fn to_toml(&self) -> toml::Value {
        match self {
            Self::Number(number) => number_to_toml(*number),
            Self::Switch(value) => toml::Value::Boolean(*value),
            Self::Text(text) => toml::Value::String(text.clone()),
            Self::Tree(value) => value.clone(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{}{}", number.shown(), shown_unit(number.kind)),
            Self::Switch(value) => write!(f, "{value}"),
            Self::Text(text) => f.write_str(text),
            Self::Tree(value) => write!(f, "{value}"),
        }
    }
}

fn shown_unit(kind: Kind) -> &'static str {
    match kind {
        Kind::BitRate => "bps",
        other => other.dimension().map_or("", |dimension| dimension.shown.1),
    }
}

/// Reads `text` as a number with a unit, of whichever dimension has the unit.
pub fn quantity(text: &str) -> Option<Number> {
    QUANTITIES.into_iter().find_map(|kind| {
        let (num, den) = kind.dimension()?.units.ratio(text).ok()?;
        Some(Number { kind, num, den })
    })
}

/// Reads `text` as a plain number, exactly.
pub fn decimal(text: &str) -> Option<Number> {
    const PLAIN: Units = Units { base: "1", example: "1", units: &[("#", 1, 1)] };
    let (num, den) = PLAIN.ratio(&format!("{text}#")).ok()?;
    let kind = if text.contains(['.', '/']) { Kind::Decimal } else { Kind::Integer };
    Some(Number { kind, num, den })
}

fn number_to_toml(number: Number) -> toml::Value {
    let Some(dimension) = number.kind.dimension() else {
        return match (number.kind, i64::try_from(number.num)) {
            (Kind::Integer, Ok(value)) if number.den == 1 => toml::Value::Integer(value),
            _ => toml::Value::Float(number.base()),
        };
    };
    let (unit, per_unit) = dimension.written;
    let exact = Number { den: number.den.saturating_mul(per_unit), ..number }.reduced();
    toml::Value::String(match exact.den {
        1 => format!("{}{unit}", exact.num),
        den => format!("{}/{den}{unit}", exact.num),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nicsim_core::clock::Rate;
    use nicsim_core::time::Span;

    #[test]
    fn quantities_keep_their_value_through_the_scenario() {
        let set = |text: &str| match Value::read(&toml::Value::String(text.to_owned())).to_toml() {
            toml::Value::String(text) => text,
            other => other.to_string(),
        };
        assert_eq!(set("100.032us"), "100032000ps");
        assert_eq!(set("7.55ppm").parse::<Rate>(), "7.55ppm".parse::<Rate>());
        assert_eq!(set("0.001ppt").parse::<Rate>(), "0.001ppt".parse::<Rate>());
        assert_eq!(set("10Gbps"), "10000000000bps");
        assert_eq!(set("1518B"), "1518B");
        assert_eq!(set("ice-fixed"), "ice-fixed");
        assert_eq!(set("100us").parse::<Span>(), "100us".parse::<Span>());
    }

    #[test]
    fn columns_show_quantities_in_their_unit() {
        let shown = |text: &str| quantity(text).map(|number| (number.kind.suffix(), number.shown()));
        assert_eq!(shown("100.032us"), Some(("_ns", 100_032.0)));
        assert_eq!(shown("7.55ppm"), Some(("_ppm", 7.55)));
        assert_eq!(shown("1.5kB"), Some(("_b", 1_500.0)));
        assert_eq!(shown("ice-fixed"), None);
    }
}
