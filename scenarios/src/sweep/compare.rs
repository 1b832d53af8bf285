//! Two tables of results side by side: rows are matched by the values of the swept paths that both have, and by their
//! repetition.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde::Serialize;

use super::survey::levels::Domain;
use super::table::{Cell, Column, Role, Row};

/// Version of the form of `compare.json`.
pub const SCHEMA: &str = "nicsim.sweep_comparison/1";
/// Most rows of either table.
pub const MOST_ROWS: u64 = 1_000_000;

/// What one of the tables is of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// The scenario.
    pub scenario: String,
    /// Digest of the scenario and its files.
    pub scenario_hash: String,
    /// Version of nicsim.
    pub version: String,
    /// Master seed.
    pub seed: u64,
    /// Digest of the sweep.
    pub hash: String,
    /// The part, such as 1/3; none where it is the whole.
    pub part: Option<String>,
}

/// One of the tables and what became of its rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Side {
    /// What it is of.
    #[serde(flatten)]
    pub source: Source,
    /// Rows.
    pub runs: u64,
    /// Rows with an error.
    pub failed: u64,
    /// Rows without a match in the other table.
    pub unmatched: u64,
    /// The first of those.
    pub first_unmatched: Option<Place>,
    /// Swept paths that the other table lacks; rows that differ in them alone are averaged.
    pub only_paths: Vec<String>,
    /// Figures that the other table lacks.
    pub only_figures: Vec<String>,
}

/// Settings and repetition of a matched row.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Place {
    /// Column names of the shared paths and their values.
    pub settings: BTreeMap<String, serde_json::Value>,
    /// Which run of the point.
    pub repetition: u64,
}

/// How a figure differs, B − A.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Name of the figure.
    pub figure: String,
    /// Its unit.
    pub unit: String,
    /// Matched runs that have it in both.
    pub matched: u64,
    /// Mean.
    pub mean: Option<f64>,
    /// Median.
    pub median: Option<f64>,
    /// The one with the largest absolute value, with its sign.
    pub largest: Option<f64>,
    /// Where that is; the first of equals.
    pub largest_at: Option<Place>,
    /// 95 % interval of the mean, from repetitions.
    pub interval: Option<Interval>,
}

/// A paired interval: the mean over points is taken for each repetition, and Student's t of these means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Repetitions.
    pub repetitions: u64,
    /// Points that have all of them in both tables; others are left out here.
    pub points: u64,
}

/// A matched run: its settings as places along the shared paths, and its figures in both tables.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Settings.
    pub settings: Vec<f64>,
    /// Shared figures in A and in B; not a number where there is none.
    pub figures: Vec<[f64; 2]>,
}

/// The comparison.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// Version of this form.
    pub schema: &'static str,
    /// The first table.
    pub a: Side,
    /// The second.
    pub b: Side,
    /// Columns of the swept paths that both have.
    pub shared_paths: Vec<String>,
    /// Matched points.
    pub points: u64,
    /// Matched runs.
    pub runs: u64,
    /// Figures that both have.
    pub figures: Vec<Difference>,
    /// Values of the shared paths.
    #[serde(skip)]
    pub axes: Vec<Domain>,
    /// The matched runs, in order of their settings.
    #[serde(skip)]
    pub pairs: Vec<Pair>,
}

/// Why two tables cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// A table cannot be read.
    #[error("{0}")]
    Read(#[from] io::Error),
    /// A sentence.
    #[error("{0}")]
    Apart(String),
}

/// A value by which rows are matched; numbers by their bits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Missing,
    Number(i64),
    Text(String),
}

impl Part {
    fn of(cell: &Cell) -> Self {
        // Bits in the order of the numbers: those of negative ones run backwards.
        let number = |value: f64| {
            let bits = (value + 0.0).to_bits() as i64;
            Self::Number(if bits < 0 { bits ^ i64::MAX } else { bits })
        };
        match cell {
            Cell::Missing => Self::Missing,
            Cell::Integer(value) => number(*value as f64),
            Cell::Real(value) => number(*value),
            other => Self::Text(other.text()),
        }
    }

    fn json(&self) -> serde_json::Value {
        match self {
            Self::Missing => serde_json::Value::Null,
            Self::Number(_) => self.number().into(),
            Self::Text(text) => text.clone().into(),
        }
    }

    fn number(&self) -> f64 {
        match self {
            Self::Number(bits) => f64::from_bits((if *bits < 0 { bits ^ i64::MAX } else { *bits }) as u64),
            _ => f64::NAN,
        }
    }

    fn cell(&self) -> Cell {
        match self {
            Self::Missing => Cell::Missing,
            Self::Number(_) => Cell::Real(self.number()),
            Self::Text(text) => Cell::Text(text.clone()),
        }
    }
}

/// Settings and repetition.
type Key = (Vec<Part>, u64);

/// Rows of one table by their key: number of rows, and sum and count of each shared figure.
type Rows = BTreeMap<Key, (u64, Vec<(f64, u64)>)>;

/// What both tables have.
struct Shared {
    paths: Vec<String>,
    figures: Vec<(String, String)>,
}

fn names(columns: &[Column], role: Role) -> Vec<&str> {
    columns.iter().filter(|column| column.role == role).map(|column| column.name.as_str()).collect()
}

fn only(columns: &[Column], other: &[Column], role: Role) -> Vec<String> {
    let others = names(other, role);
    names(columns, role).into_iter().filter(|name| !others.contains(name)).map(str::to_owned).collect()
}

/// Compares table A with table B.
///
/// # Errors
/// What the rows say; a sentence where there is nothing in common.
pub fn compare(
    (a, a_columns): (Source, &[Column]),
    a_rows: impl Iterator<Item = io::Result<Row>>,
    (b, b_columns): (Source, &[Column]),
    b_rows: impl Iterator<Item = io::Result<Row>>,
) -> Result<Comparison, CompareError> {
    let shared = shared(&a, a_columns, &b, b_columns)?;
    let mut sides = [side(a, a_columns, b_columns), side(b, b_columns, a_columns)];
    let a_rows = gather(&shared, a_columns, a_rows, &mut sides[0])?;
    let b_rows = gather(&shared, b_columns, b_rows, &mut sides[1])?;
    note_unmatched(&shared, &mut sides[0], &a_rows, &b_rows);
    note_unmatched(&shared, &mut sides[1], &b_rows, &a_rows);
    let [a, b] = sides;
    let mut axes: Vec<Domain> =
        a_columns.iter().filter(|column| shared.paths.contains(&column.name)).map(Domain::new).collect();
    let matched: Vec<(&Key, Vec<[f64; 2]>)> =
        a_rows.iter().filter_map(|(key, (_, sums))| Some((key, figures(sums, &b_rows.get(key)?.1)))).collect();
    if matched.is_empty() {
        let first = |side: &Side| side.first_unmatched.as_ref().map(place_text).unwrap_or_default();
        return Err(CompareError::Apart(format!(
            "{} and {} have no point in common; the first are {} and {}",
            a.source.name,
            b.source.name,
            first(&a),
            first(&b)
        )));
    }
    let settings = |key: &Key, axes: &mut [Domain]| {
        axes.iter_mut().zip(&key.0).map(|(axis, part)| axis.take(&part.cell())).collect()
    };
    let pairs =
        matched.iter().map(|(key, figures)| Pair { settings: settings(key, &mut axes), figures: figures.clone() });
    let pairs: Vec<Pair> = pairs.collect();
    for (place, axis) in axes.iter_mut().enumerate() {
        axis.look(pairs.iter().map(|pair| pair.settings[place]).collect());
    }
    let figures = shared.figures.iter().enumerate().map(|(place, named)| difference(&shared, named, place, &matched));
    Ok(Comparison {
        schema: SCHEMA,
        points: matched.iter().map(|(key, _)| &key.0).collect::<BTreeSet<_>>().len() as u64,
        runs: matched.len() as u64,
        figures: figures.collect(),
        shared_paths: shared.paths,
        a,
        b,
        axes,
        pairs,
    })
}

fn shared(a: &Source, a_columns: &[Column], b: &Source, b_columns: &[Column]) -> Result<Shared, CompareError> {
    let common = |role: Role| {
        let others = names(b_columns, role);
        a_columns.iter().filter(move |column| column.role == role && others.contains(&column.name.as_str()))
    };
    let paths: Vec<String> = common(Role::Axis).map(|column| column.name.clone()).collect();
    let figures: Vec<_> = common(Role::Figure).map(|column| (column.name.clone(), column.unit.clone())).collect();
    let listed = |columns: &[Column], role: Role| match names(columns, role) {
        none if none.is_empty() => "nothing".to_owned(),
        some => some.join(", "),
    };
    let swept = |columns: &[Column]| !names(columns, Role::Axis).is_empty();
    let apart = |what: &str, role: Role| {
        CompareError::Apart(format!(
            "{} and {} have no {what} in common: the first has {}, the second {}",
            a.name,
            b.name,
            listed(a_columns, role),
            listed(b_columns, role)
        ))
    };
    if paths.is_empty() && (swept(a_columns) || swept(b_columns)) {
        return Err(apart("swept path", Role::Axis));
    }
    if figures.is_empty() {
        return Err(apart("figure", Role::Figure));
    }
    Ok(Shared { paths, figures })
}

fn side(source: Source, columns: &[Column], other: &[Column]) -> Side {
    Side {
        source,
        only_paths: only(columns, other, Role::Axis),
        only_figures: only(columns, other, Role::Figure),
        ..Side::default()
    }
}

/// The rows of a table by their keys; those with one key are averaged later.
fn gather(
    shared: &Shared,
    columns: &[Column],
    rows: impl Iterator<Item = io::Result<Row>>,
    side: &mut Side,
) -> Result<Rows, CompareError> {
    let place = |name: &str| columns.iter().position(|column| column.name == name).unwrap_or(usize::MAX);
    let paths: Vec<usize> = shared.paths.iter().map(|path| place(path)).collect();
    let figures: Vec<usize> = shared.figures.iter().map(|(name, _)| place(name)).collect();
    let (repetition, error) = (place("repetition"), place("error"));
    let mut gathered = Rows::new();
    for row in rows {
        let row = row?;
        side.runs += 1;
        if side.runs > MOST_ROWS {
            return Err(CompareError::Apart(format!("{} has more than {MOST_ROWS} runs", side.source.name)));
        }
        let cell = |place: usize| row.get(place).unwrap_or(&Cell::Missing);
        side.failed += u64::from(*cell(error) != Cell::Missing);
        let number = match cell(repetition) {
            Cell::Integer(value) => value.unsigned_abs(),
            _ => 0,
        };
        let key = (paths.iter().map(|&place| Part::of(cell(place))).collect(), number);
        let entry = gathered.entry(key).or_insert_with(|| (0, vec![(0.0, 0); figures.len()]));
        entry.0 += 1;
        for (sum, &place) in entry.1.iter_mut().zip(&figures) {
            let value = Part::of(cell(place)).number();
            if value.is_finite() {
                *sum = (sum.0 + value, sum.1 + 1);
            }
        }
    }
    Ok(gathered)
}

fn note_unmatched(shared: &Shared, side: &mut Side, rows: &Rows, other: &Rows) {
    let mut unmatched = rows.iter().filter(|(key, _)| !other.contains_key(*key)).peekable();
    side.first_unmatched = unmatched.peek().map(|(key, _)| place_of(shared, key));
    side.unmatched = unmatched.map(|(_, (count, _))| count).sum();
}

fn figures(a: &[(f64, u64)], b: &[(f64, u64)]) -> Vec<[f64; 2]> {
    let mean = |(sum, count): &(f64, u64)| if *count > 0 { sum / *count as f64 } else { f64::NAN };
    a.iter().zip(b).map(|(a, b)| [mean(a), mean(b)]).collect()
}

fn place_of(shared: &Shared, key: &Key) -> Place {
    let settings = shared.paths.iter().cloned().zip(key.0.iter().map(Part::json)).collect();
    Place { settings, repetition: key.1 }
}

/// A place in words.
pub fn place_text(place: &Place) -> String {
    let value = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string().strip_suffix(".0").map_or(other.to_string(), str::to_owned),
    };
    let settings = place.settings.iter().map(|(path, set)| format!("{path} = {}", value(set)));
    settings.chain([format!("repetition {}", place.repetition)]).collect::<Vec<_>>().join(", ")
}

fn difference(
    shared: &Shared,
    (figure, unit): &(String, String),
    place: usize,
    matched: &[(&Key, Vec<[f64; 2]>)],
) -> Difference {
    let differences = matched.iter().map(|(key, figures)| (*key, figures[place][1] - figures[place][0]));
    let differences: Vec<(&Key, f64)> = differences.filter(|(_, difference)| difference.is_finite()).collect();
    let mut sorted: Vec<f64> = differences.iter().map(|(_, difference)| *difference).collect();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let largest = differences.iter().copied().reduce(|a, b| if b.1.abs() > a.1.abs() { b } else { a });
    Difference {
        figure: figure.clone(),
        unit: unit.clone(),
        matched: count as u64,
        mean: (count > 0).then(|| differences.iter().map(|(_, difference)| difference).sum::<f64>() / count as f64),
        median: (count > 0).then(|| super::survey::pick::quantile(&sorted, 0.5)),
        largest: largest.map(|(_, difference)| difference),
        largest_at: largest.map(|(key, _)| place_of(shared, key)),
        interval: interval(&differences),
    }
}

/// Needs two repetitions, and points that have all of them. Differences of one repetition may depend on each other, as they
/// do with common random numbers; means of different repetitions do not.
fn interval(differences: &[(&Key, f64)]) -> Option<Interval> {
    let repetitions: BTreeSet<u64> = differences.iter().map(|(key, _)| key.1).collect();
    let count = repetitions.len();
    if count < 2 {
        return None;
    }
    let mut sums: BTreeMap<u64, f64> = repetitions.iter().map(|repetition| (*repetition, 0.0)).collect();
    let mut points = 0;
    // Keys are sorted, so that the runs of a point follow each other.
    for runs in differences.chunk_by(|(a, _), (b, _)| a.0 == b.0).filter(|runs| runs.len() == count) {
        points += 1;
        for (key, difference) in runs {
            *sums.entry(key.1).or_default() += difference;
        }
    }
    if points == 0 {
        return None;
    }
    let means: Vec<f64> = sums.values().map(|sum| sum / points as f64).collect();
    let mean = means.iter().sum::<f64>() / count as f64;
    let variance = means.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1) as f64;
    let reach = student_95(count - 1) * (variance / count as f64).sqrt();
    Some(Interval { low: mean - reach, high: mean + reach, repetitions: count as u64, points })
}

/// Two-sided 95 % point of Student's t (scipy.stats.t.ppf(0.975, df)); beyond the table by the expansion of Cornish and
/// Fisher, which is right to 1e-4 there.
fn student_95(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706_20, 4.302_65, 3.182_45, 2.776_45, 2.570_58, 2.446_91, 2.364_62, 2.306_00, 2.262_16, 2.228_14, 2.200_99,
        2.178_81, 2.160_37, 2.144_79, 2.131_45, 2.119_91, 2.109_82, 2.100_92, 2.093_02, 2.085_96, 2.079_61, 2.073_87,
        2.068_66, 2.063_90, 2.059_54, 2.055_53, 2.051_83, 2.048_41, 2.045_23, 2.042_27,
    ];
    const Z: f64 = 1.959_964;
    let inverse = 1.0 / degrees.max(1) as f64;
    let expansion =
        Z + (Z.powi(3) + Z) / 4.0 * inverse + (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / 96.0 * inverse * inverse;
    degrees.checked_sub(1).and_then(|place| TABLE.get(place)).copied().unwrap_or(expansion)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_t_goes_on_beyond_its_table() {
        // scipy.stats.t.ppf(0.975, [31, 100]) is 2.03951 and 1.98397.
        assert!((student_95(31) - 2.039_51).abs() < 1e-4 && (student_95(100) - 1.983_97).abs() < 1e-4);
    }

    #[test]
    fn keys_are_in_the_order_of_their_numbers() {
        let numbers = [-1e9, -2.5, -0.0, 0.5, 3.0, 1e300];
        let parts = numbers.map(|value| Part::of(&Cell::Real(value)));
        assert!(parts.is_sorted());
        assert_eq!(parts.map(|part| part.number()), [-1e9, -2.5, 0.0, 0.5, 3.0, 1e300]);
        assert_eq!(Part::of(&Cell::Integer(3)), Part::of(&Cell::Real(3.0)));
    }
}
