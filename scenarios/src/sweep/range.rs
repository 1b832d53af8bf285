//! The values of one swept path: a list, or a range whose n-th value is computed from n.

use serde::Deserialize;
use toml::Value as Written;

use super::value::{Kind, Number, Value};

/// The values of a path, in order. Their number does not show in the memory that a range takes.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Written one by one.
    List(Vec<Value>),
    /// `from`, `from + step`, …
    Steps {
        /// The first.
        from: Number,
        /// From one to the next.
        step: Number,
        /// How many.
        count: u64,
    },
    /// `count` values from one end to the other.
    Spread {
        /// The ends, and how values lie between them.
        span: Interval,
        /// How many; the first is `from`, the last `to`.
        count: u64,
    },
}

/// From one number to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// One end.
    from: Number,
    /// The other end.
    to: Number,
    /// Values grow by a factor instead of a difference.
    log: bool,
    /// Values are rounded to multiples of this; without it plain numbers stay as they come out.
    grid: Option<Number>,
}

/// A range as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RangeFile {
    from: Written,
    to: Written,
    step: Option<Written>,
    count: Option<i64>,
    scale: Option<String>,
    round: Option<Written>,
}

impl Values {
    /// Reads a list or a range.
    ///
    /// # Errors
    /// A sentence on what is wrong and what would be right.
    pub fn read(written: &Written) -> Result<Self, String> {
        match written {
            Written::Array(list) if list.is_empty() => {
                Err("the list is empty, so there is no point to run; write at least one value".to_owned())
            }
            Written::Array(list) => Ok(Self::List(list.iter().map(Value::read).collect())),
            Written::Table(table) => Self::read_range(table),
            other => Err(format!(
                "`{other}` is one value; write a list such as [{other}], or a range such as {{ from = …, to = …, step = … }}, \
                 or put it under [set] if it is the same everywhere"
            )),
        }
    }

    fn read_range(table: &toml::Table) -> Result<Self, String> {
        let file = RangeFile::read(table)?;
        let span = Interval::read(&file)?;
        match (&file.step, file.count) {
            (Some(step), None) => span.steps(step),
            (None, Some(count)) => span.spread(count),
            _ => Err("a range has either `step` or `count` beside `from` and `to`".to_owned()),
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        match self {
            Self::List(list) => list.len() as u64,
            Self::Steps { count, .. } | Self::Spread { count, .. } => *count,
        }
    }

    /// Value `index`; beyond the end the last one.
    pub fn at(&self, index: u64) -> Value {
        let index = index.min(self.count().saturating_sub(1));
        match self {
            Self::List(list) => list[index as usize].clone(),
            Self::Steps { from, step, .. } => Value::Number(from.plus(*step, i128::from(index)).unwrap_or(*from)),
            Self::Spread { span, count } => span.part(index, count - 1),
        }
    }

    /// The kind that all of them have.
    pub fn kind(&self) -> Kind {
        match self {
            Self::List(list) => list.iter().map(Value::kind).reduce(Kind::with).unwrap_or(Kind::Text),
            Self::Steps { from, step, .. } => from.kind.with(step.kind),
            Self::Spread { span, .. } => span.kind(),
        }
    }
}

impl RangeFile {
    fn read(table: &toml::Table) -> Result<Self, String> {
        let file: Result<Self, _> = Written::Table(table.clone()).try_into();
        file.map_err(|error: toml::de::Error| match error.message() {
            message if message.starts_with("missing field") => {
                format!("{message}; a range is {{ from = …, to = …, step = … }} or {{ from = …, to = …, count = … }}, and a path is one key in quotes, such as \"stream.0.interval\"")
            }
            message => format!("{}; a path is one key in quotes, such as \"stream.0.interval\"", crate::file::with_near_keys(message)),
        })
    }
}

fn number(key: &str, written: &Written) -> Result<Number, String> {
    match Value::read(written) {
        Value::Number(number) => Ok(number),
        other => {
            Err(format!("`{key}` is `{other}`, which is no number with a known unit; write for example \"100us\""))
        }
    }
}

impl Interval {
    /// Reads the ends of a sampled path, `{ from, to, scale, round }`.
    ///
    /// # Errors
    /// A sentence on what is wrong and what would be right.
    pub fn read_sampled(written: &Written) -> Result<Self, String> {
        let Written::Table(table) = written else {
            return Err("a sampled path has two ends; write { from = …, to = … }".to_owned());
        };
        let file = RangeFile::read(table)?;
        if file.step.is_some() || file.count.is_some() {
            return Err(
                "a sampled path has no `step` or `count`; the number of points is that of [sweep.sample]".to_owned()
            );
        }
        Self::read(&file)
    }

    fn read(file: &RangeFile) -> Result<Self, String> {
        let (from, to) = (number("from", &file.from)?, number("to", &file.to)?);
        let kind = from.kind.with(to.kind);
        if kind == Kind::Text {
            return Err(format!("`from` is {}, `to` is {}; write both in units of one kind", from.kind, to.kind));
        }
        let log = match file.scale.as_deref() {
            None | Some("linear") => false,
            Some("log") => true,
            Some(other) => return Err(format!("there is no scale `{other}`; write \"linear\" or \"log\"")),
        };
        if log && (from.num <= 0 || to.num <= 0) {
            return Err("a log scale needs both ends above 0".to_owned());
        }
        if log && file.step.is_some() {
            return Err("a log scale goes with `count`, since its steps are factors".to_owned());
        }
        let grid = match &file.round {
            Some(round) => Some(number("round", round)?),
            // The finest step of the kind: a picosecond, a byte, a whole number.
            None => (kind != Kind::Decimal).then_some(Number { kind, num: 1, den: 1 }),
        };
        if let Some(grid) = grid.filter(|grid| grid.kind.with(kind) == Kind::Text || grid.num <= 0) {
            return Err(format!("`round` is {}; it must be {kind} above 0", Value::Number(grid)));
        }
        Ok(Self { from, to, log, grid })
    }

    fn kind(&self) -> Kind {
        self.grid.map_or(Kind::Decimal, |grid| grid.kind)
    }

    fn steps(self, step: &Written) -> Result<Values, String> {
        let step = number("step", step)?;
        if step.kind.with(self.from.kind) == Kind::Text {
            return Err(format!(
                "`from` is {}, `step` is {}; write both in units of one kind",
                self.from.kind, step.kind
            ));
        }
        let way = self.to.plus(self.from, -1).ok_or(OUT_OF_RANGE)?;
        if step.num == 0 || way.num.signum() * step.num.signum() < 0 {
            return Err(format!(
                "the range never ends: from {} by steps of {} one does not come to {}",
                Value::Number(self.from),
                Value::Number(step),
                Value::Number(self.to)
            ));
        }
        let steps = way.num.checked_mul(step.den).zip(way.den.checked_mul(step.num)).ok_or(OUT_OF_RANGE)?;
        let count = u64::try_from(steps.0 / steps.1).ok().and_then(|steps| steps.checked_add(1)).ok_or(OUT_OF_RANGE)?;
        // Beside a fraction, whole numbers are numbers too.
        let kind = self.from.kind.with(step.kind);
        Ok(Values::Steps { from: Number { kind, ..self.from }, step: Number { kind, ..step }, count })
    }

    fn spread(self, count: i64) -> Result<Values, String> {
        match u64::try_from(count) {
            Ok(count) if count >= 2 => Ok(Values::Spread { span: self, count }),
            _ => Err(format!("`count` is {count}; a range has at least its two ends, 2 values")),
        }
    }

    /// The value `part` of `of` on the way, ends exact.
    fn part(&self, part: u64, of: u64) -> Value {
        let exact = match part {
            0 => Some(self.from),
            _ if part == of => Some(self.to),
            _ if self.log => None,
            _ => self
                .to
                .plus(self.from, -1)
                .and_then(|way| way.times(i128::from(part), i128::from(of)))
                .and_then(|way| self.from.plus(way, 1)),
        };
        match (exact, self.grid) {
            (Some(end), _) if part == 0 || part == of => Value::Number(Number { kind: self.kind(), ..end }),
            (Some(exact), None) => Value::Number(Number { kind: Kind::Decimal, ..exact }),
            (Some(exact), Some(grid)) => Value::Number(exact.rounded(grid).unwrap_or(self.from)),
            (None, _) => self.at(part as f64 / of as f64),
        }
    }

    /// The value at share `u` of the way, 0 ≤ u ≤ 1.
    pub fn at(&self, u: f64) -> Value {
        let (from, to) = (self.from.base(), self.to.base());
        let value = if self.log { from * libm::exp(u * libm::log(to / from)) } else { from + u * (to - from) };
        match self.grid {
            Some(grid) => Value::Number(Number::nearest(value, grid).unwrap_or(self.from)),
            None => Value::read(&Written::Float(value)),
        }
    }

    /// The kind of its values.
    pub fn sampled_kind(&self) -> Kind {
        self.kind()
    }
}

const OUT_OF_RANGE: &str = "its numbers are out of range";

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Result<Vec<String>, String> {
        let table: toml::Table = format!("v = {text}").parse().map_err(|error: toml::de::Error| error.to_string())?;
        let values = Values::read(&table["v"])?;
        Ok((0..values.count()).map(|index| values.at(index).to_string()).collect())
    }

    #[test]
    fn ranges_are_exact_and_end_where_they_say() {
        assert_eq!(
            values(r#"{ from = "99.968us", to = "100.032us", step = "32ns" }"#).unwrap(),
            ["99968ns", "100000ns", "100032ns"]
        );
        assert_eq!(values(r#"{ from = "1us", to = "0.5us", step = "-0.3us" }"#).unwrap(), ["1000ns", "700ns"]);
        assert_eq!(values(r#"{ from = 0.1, to = 0.5, step = 0.1 }"#).unwrap(), ["0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(values(r#"{ from = 1, to = 10, count = 4 }"#).unwrap(), ["1", "4", "7", "10"]);
        assert_eq!(
            values(r#"{ from = "1us", to = "1ms", count = 4, scale = "log" }"#).unwrap(),
            ["1000ns", "10000ns", "100000ns", "1000000ns"]
        );
        assert_eq!(
            values(r#"{ from = "0ns", to = "10ns", count = 4, round = "1ns" }"#).unwrap(),
            ["0ns", "3ns", "7ns", "10ns"]
        );
        assert_eq!(values(r#"["a", "1ns", 3]"#).unwrap(), ["a", "1ns", "3"]);
    }

    #[test]
    fn wrong_ranges_say_what_would_be_right() {
        let error = |text: &str| values(text).unwrap_err();
        assert!(error(r#"{ from = "1us", to = "2us", step = "0ns" }"#).starts_with("the range never ends"));
        assert!(error(r#"{ from = "1us", to = "2us", step = "-1ns" }"#).starts_with("the range never ends"));
        assert!(error(r#"{ from = "1us", to = "2B", step = "1ns" }"#).contains("units of one kind"));
        assert!(error(r#"{ from = "1us", to = "2us" }"#).contains("either `step` or `count`"));
        assert!(error(r#"{ from = "1us", to = "2us", cuont = 3 }"#).contains("near it are `count`"));
        assert!(error(r#"{ from = "0us", to = "2us", count = 3, scale = "log" }"#).contains("above 0"));
        assert!(error("[]").contains("empty"));
        assert!(error("7").contains("write a list such as [7]"));
    }
}
