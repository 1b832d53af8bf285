//! Conditions on swept values: `stream.0.lead < stream.0.interval && nic.driver != "ice-linux-6.18"`.
//!
//! ```text
//! any     = all { "||" all }
//! all     = one { "&&" one }
//! one     = "(" any ")" | operand ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) operand
//! operand = path with dots | number | number with unit | true | false | text, with or without quotes
//! ```
//!
//! Quantities are compared exactly, whatever their units; a path that is not swept has its value in the scenario.

use std::cmp::Ordering;

use super::value::{Kind, Value, decimal, quantity};

/// A condition that a point must meet to be run.
#[derive(Debug, Clone, PartialEq)]
pub enum Constraint {
    /// One of them holds.
    Any(Vec<Constraint>),
    /// All of them hold.
    All(Vec<Constraint>),
    /// A comparison.
    Compare(Operand, Test, Operand),
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// The value of the axis with this number and kind.
    Axis(usize, Kind),
    /// The same for all points.
    Constant(Value),
}

/// A kind of comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `==`
    Equal,
    /// `!=`
    Different,
}

/// What a path stands for, or why it stands for nothing.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Result<Operand, String>;

/// Longest first, so that `<=` is not read as `<`.
const TESTS: [(&str, Test); 6] = [
    ("<=", Test::LessOrEqual),
    (">=", Test::GreaterOrEqual),
    ("==", Test::Equal),
    ("!=", Test::Different),
    ("<", Test::Less),
    (">", Test::Greater),
];

/// Conditions nest at most this deep.
const MOST_PARENTHESES: u32 = 32;

impl Constraint {
    /// Reads a condition.
    ///
    /// # Errors
    /// A sentence on what is wrong and what would be right.
    pub fn read(text: &str, lookup: Lookup<'_>) -> Result<Self, String> {
        let mut reader = Reader { rest: text, depth: 0, lookup };
        let constraint = reader.any()?;
        match reader.rest.trim_start() {
            "" => Ok(constraint),
            rest => Err(format!("`{rest}` is left over; comparisons are joined by && or ||")),
        }
    }

    /// Does a point meet it? `axis` gives the value of an axis there.
    pub fn holds(&self, axis: &dyn Fn(usize) -> Value) -> bool {
        match self {
            Self::Any(parts) => parts.iter().any(|part| part.holds(axis)),
            Self::All(parts) => parts.iter().all(|part| part.holds(axis)),
            Self::Compare(left, test, right) => test.passes(&left.value(axis), &right.value(axis)),
        }
    }
}

impl Operand {
    fn kind(&self) -> Kind {
        match self {
            Self::Axis(_, kind) => *kind,
            Self::Constant(value) => value.kind(),
        }
    }

    fn value(&self, axis: &dyn Fn(usize) -> Value) -> Value {
        match self {
            Self::Axis(number, _) => axis(*number),
            Self::Constant(value) => value.clone(),
        }
    }
}

impl Test {
    fn is_order(self) -> bool {
        !matches!(self, Self::Equal | Self::Different)
    }

    fn passes(self, left: &Value, right: &Value) -> bool {
        let order = match (left, right) {
            (Value::Number(left), Value::Number(right)) => left.order(*right),
            (left, right) if left == right => Ordering::Equal,
            // Texts have no order here; anything but equal will do.
            _ => Ordering::Less,
        };
        match self {
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
            Self::Equal => order.is_eq(),
            Self::Different => order.is_ne(),
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
    depth: u32,
    lookup: Lookup<'a>,
}

impl<'a> Reader<'a> {
    /// Takes `token` if it comes next.
    fn takes(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        rest.strip_prefix(token).inspect(|rest| self.rest = rest).is_some()
    }

    fn any(&mut self) -> Result<Constraint, String> {
        let mut parts = vec![self.all()?];
        while self.takes("||") {
            parts.push(self.all()?);
        }
        Ok(Constraint::Any(parts))
    }

    fn all(&mut self) -> Result<Constraint, String> {
        let mut parts = vec![self.one()?];
        while self.takes("&&") {
            parts.push(self.one()?);
        }
        Ok(Constraint::All(parts))
    }

    fn one(&mut self) -> Result<Constraint, String> {
        if !self.takes("(") {
            return self.comparison();
        }
        self.depth += 1;
        if self.depth > MOST_PARENTHESES {
            return Err("parentheses are nested too deeply".to_owned());
        }
        let inner = self.any()?;
        self.depth -= 1;
        if self.takes(")") { Ok(inner) } else { Err("a `)` is missing".to_owned()) }
    }

    fn comparison(&mut self) -> Result<Constraint, String> {
        let left = self.operand()?;
        let test = TESTS.iter().find(|(token, _)| self.takes(token)).map(|(_, test)| *test).ok_or_else(|| {
            format!("a comparison is missing before `{}`; write one of < <= > >= == !=", self.rest.trim_start())
        })?;
        let right = self.operand()?;
        let (a, b) = (left.kind(), right.kind());
        let comparable =
            if a.is_numeric() && b.is_numeric() { a.with(b) != Kind::Text } else { a == b && !test.is_order() };
        if comparable {
            return Ok(Constraint::Compare(left, test, right));
        }
        Err(if a == b {
            format!("{a} is equal or different, but has no order; write == or !=")
        } else {
            format!("it compares {a} with {b}; both sides must be of one kind")
        })
    }

    fn operand(&mut self) -> Result<Operand, String> {
        let rest = self.rest.trim_start();
        if let Some(quoted) = rest.strip_prefix(['"', '\'']) {
            let (text, after) = quoted.split_once(&rest[..1]).ok_or("a quote is not closed")?;
            self.rest = after;
            return Ok(Operand::Constant(Value::Text(text.to_owned())));
        }
        let is_word = |c: char| c.is_alphanumeric() || "._-+/".contains(c);
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        self.rest = after;
        match word {
            "" => Err(format!(
                "a path or a value is missing before `{rest}`; write for example stream.0.lead < stream.0.interval"
            )),
            "true" | "false" => Ok(Operand::Constant(Value::Switch(word == "true"))),
            word => match quantity(word).or_else(|| decimal(word)) {
                Some(number) => Ok(Operand::Constant(Value::Number(number))),
                None if word.contains('.') && !word.ends_with(".toml") => (self.lookup)(word),
                None => Ok(Operand::Constant(Value::Text(word.to_owned()))),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(path: &str) -> Result<Operand, String> {
        match path {
            "a.time" => Ok(Operand::Axis(0, Kind::Time)),
            "a.name" => Ok(Operand::Axis(1, Kind::Text)),
            "a.fixed" => Ok(Operand::Constant(Value::Number(quantity("2us").unwrap()))),
            _ => Err(format!("there is no `{path}`")),
        }
    }

    fn holds(text: &str, time: &str, name: &str) -> bool {
        let values = [Value::Number(quantity(time).unwrap()), Value::Text(name.to_owned())];
        Constraint::read(text, &lookup).unwrap().holds(&|axis| values[axis].clone())
    }

    #[test]
    fn quantities_are_compared_across_units() {
        assert!(holds("a.time <= 1us", "1000ns", ""));
        assert!(!holds("a.time < 1us", "1000ns", ""));
        assert!(holds("a.time<a.fixed", "1.999us", ""));
        assert!(holds("a.time != 1us && (a.name == fast || a.name == \"quite slow\")", "1ns", "quite slow"));
        assert!(!holds("a.name == fast || a.time > 1s && a.time < 2s", "1ns", "slow"));
    }

    #[test]
    fn wrong_conditions_say_what_would_be_right() {
        let error = |text: &str| Constraint::read(text, &lookup).unwrap_err();
        assert!(error("a.time < 64B").contains("compares a time with a size"));
        assert!(error("a.name < fast").contains("no order"));
        assert!(error("a.time").contains("write one of <"));
        assert!(error("a.time < 1us and").contains("left over"));
        assert!(error("(a.time < 1us").contains("`)` is missing"));
        assert!(error("a.tim < 1us").contains("no `a.tim`"));
        assert!(error("< 1us").contains("is missing before"));
        assert!(error(&"(".repeat(10_000)).contains("too deeply"));
    }
}
