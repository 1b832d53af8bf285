//! Values of a column along an axis: names in order of appearance, numbers one by one, or in bins where they are many.

use std::collections::BTreeSet;

use super::super::table::{Cell, CellKind, Column};

/// Most numbers that are told apart.
pub const MOST_NUMBERS: usize = 600;
/// Most names that are told apart.
pub const MOST_NAMES: usize = 24;

/// What values a column has, as far as they were seen.
#[derive(Debug, Clone)]
pub struct Domain {
    /// Name of the column.
    pub name: String,
    /// Its unit; `1` for plain numbers, empty for texts.
    pub unit: String,
    /// Texts in order of appearance; the last one stands for the others where there are more. None for numbers.
    pub names: Option<Vec<String>>,
    /// Distinct numbers; one more than [`MOST_NUMBERS`] where there are more.
    distinct: BTreeSet<u64>,
    /// Smallest and largest number.
    pub ends: Option<(f64, f64)>,
    /// Do they lie evenly in their logarithms rather than in themselves?
    pub is_log: bool,
}

/// What stands for all names beyond the first ones.
const OTHERS: &str = "others";

impl Domain {
    /// Nothing seen yet.
    pub fn new(column: &Column) -> Self {
        let is_number = matches!(column.cells, CellKind::Integer | CellKind::Real);
        Self {
            name: column.name.clone(),
            unit: column.unit.clone(),
            names: (!is_number).then(Vec::new),
            distinct: BTreeSet::new(),
            ends: None,
            is_log: false,
        }
    }

    /// Takes a cell and answers its place along the axis; not a number where there is none.
    pub fn take(&mut self, cell: &Cell) -> f64 {
        let value = self.learn(cell);
        if value.is_finite() {
            let (low, high) = self.ends.unwrap_or((value, value));
            self.ends = Some((low.min(value), high.max(value)));
            if self.distinct.len() <= MOST_NUMBERS {
                self.distinct.insert(ordered(value));
            }
        }
        value
    }

    fn learn(&mut self, cell: &Cell) -> f64 {
        let Some(names) = &mut self.names else {
            return number(cell);
        };
        if *cell == Cell::Missing {
            return f64::NAN;
        }
        let text = cell.text();
        if !names.contains(&text) {
            if names.len() >= MOST_NAMES {
                if names.last().is_some_and(|last| last != OTHERS) {
                    names.push(OTHERS.to_owned());
                }
                return MOST_NAMES as f64;
            }
            names.push(text.clone());
        }
        place_of(names, &text)
    }

    /// The place of a cell that was seen.
    pub fn place(&self, cell: &Cell) -> f64 {
        match &self.names {
            None => number(cell),
            Some(_) if *cell == Cell::Missing => f64::NAN,
            Some(names) => place_of(names, &cell.text()),
        }
    }

    /// Number of distinct values; one more than [`MOST_NUMBERS`] where there are more.
    pub fn count(&self) -> usize {
        self.names.as_ref().map_or(self.distinct.len(), Vec::len)
    }

    /// Looks whether `values` lie evenly in their logarithms: their median tells.
    pub fn look(&mut self, mut values: Vec<f64>) {
        values.retain(|value| value.is_finite());
        values.sort_by(f64::total_cmp);
        let Some((low, high)) =
            self.ends.filter(|(low, high)| self.names.is_none() && *low > 0.0 && *high >= 20.0 * low)
        else {
            return;
        };
        if values.len() >= 3 {
            let median = super::pick::quantile(&values, 0.5);
            let linear = (median - low) / (high - low);
            let log = libm::log(median / low) / libm::log(high / low);
            self.is_log = (log - 0.5).abs() < (linear - 0.5).abs();
        }
    }

    /// Its values one by one if `each`, and there are at most `most`; else in so many bins.
    pub fn levels(&self, each: bool, most: usize, bins: usize) -> Levels {
        if self.names.is_some() || each && self.distinct.len() <= most {
            return Levels::Each(match &self.names {
                Some(names) => (0..names.len()).map(|place| place as f64).collect(),
                None => self.distinct.iter().map(|bits| from_ordered(*bits)).collect(),
            });
        }
        let (from, to) = self.ends.unwrap_or((0.0, 1.0));
        Levels::Bins { from, to, count: bins.max(1), is_log: self.is_log }
    }
}

fn number(cell: &Cell) -> f64 {
    match cell {
        Cell::Integer(value) => *value as f64,
        Cell::Real(value) if value.is_finite() => *value,
        _ => f64::NAN,
    }
}

fn place_of(names: &[String], text: &str) -> f64 {
    names.iter().position(|name| name == text).unwrap_or(names.len().saturating_sub(1)) as f64
}

/// Bits whose order is that of the numbers.
fn ordered(value: f64) -> u64 {
    // Zero has two signs and is one value.
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn from_ordered(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits })
}

/// Where values fall.
#[derive(Debug, Clone, PartialEq)]
pub enum Levels {
    /// On these, in increasing order.
    Each(Vec<f64>),
    /// Into bins of equal width.
    Bins {
        /// Start of the first.
        from: f64,
        /// End of the last.
        to: f64,
        /// How many.
        count: usize,
        /// Equal in their logarithms.
        is_log: bool,
    },
}

impl Levels {
    /// How many.
    pub fn count(&self) -> usize {
        match self {
            Self::Each(values) => values.len(),
            Self::Bins { count, .. } => *count,
        }
    }

    /// Which one `value` belongs to.
    pub fn of(&self, value: f64) -> Option<usize> {
        if !value.is_finite() {
            return None;
        }
        match self {
            Self::Each(values) => values.binary_search_by(|level| level.total_cmp(&(value + 0.0))).ok(),
            Self::Bins { from, to, count, is_log } => {
                let share =
                    if *is_log { libm::log(value / from) / libm::log(to / from) } else { (value - from) / (to - from) };
                let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
                Some(((share * *count as f64) as usize).min(count - 1))
            }
        }
    }

    /// Start and end of a bin, or the value twice.
    pub fn span(&self, level: usize) -> (f64, f64) {
        match self {
            Self::Each(values) => values.get(level).map_or((0.0, 0.0), |value| (*value, *value)),
            Self::Bins { from, to, count, is_log } => {
                let edge = |k: usize| {
                    let share = k as f64 / *count as f64;
                    if *is_log { from * libm::pow(to / from, share) } else { from + (to - from) * share }
                };
                (edge(level), edge(level + 1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::table::Role;
    use super::*;

    fn domain(cells: CellKind) -> Domain {
        Domain::new(&Column { name: "x".to_owned(), unit: "ns".to_owned(), cells, role: Role::Axis })
    }

    #[test]
    fn numbers_are_told_apart_or_binned() {
        let mut axis = domain(CellKind::Real);
        for value in [3.0, -1.0, 0.0, -0.0, 3.0] {
            axis.take(&Cell::Real(value));
        }
        assert_eq!(axis.levels(true, 10, 5), Levels::Each(vec![-1.0, 0.0, 3.0]));
        assert_eq!(axis.levels(true, 10, 5).of(-0.0), Some(1));
        let bins = axis.levels(true, 2, 4);
        assert_eq!([-1.0, 0.0, 3.0].map(|value| bins.of(value)), [Some(0), Some(1), Some(3)]);
        assert_eq!(bins.span(1), (0.0, 1.0));
        assert_eq!(bins.of(f64::NAN), None);
    }

    #[test]
    fn names_keep_their_order_and_too_many_are_others() {
        let mut axis = domain(CellKind::Text);
        for k in 0..40 {
            axis.take(&Cell::Text(format!("n{k}")));
        }
        assert_eq!(axis.count(), MOST_NAMES + 1);
        assert_eq!(axis.place(&Cell::Text("n3".to_owned())), 3.0);
        assert_eq!(axis.place(&Cell::Text("n39".to_owned())), MOST_NAMES as f64);
    }

    #[test]
    fn factors_are_seen_as_such() {
        let seen = |values: &[f64]| {
            let mut axis = domain(CellKind::Real);
            for value in values {
                axis.take(&Cell::Real(*value));
            }
            axis.look(values.to_vec());
            axis.is_log
        };
        assert!(seen(&[1.0, 10.0, 100.0, 1_000.0]));
        assert!(!seen(&[1.0, 250.0, 500.0, 750.0, 1_000.0]));
        assert!(!seen(&[-1.0, 10.0, 100.0]));
    }
}
