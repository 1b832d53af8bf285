//! What a table of results shows at large: ends, medians, bands, cells, the front of two figures, and a picked number of
//! its points. Rows are read twice and none is kept, so that memory does not depend on their number.
//!
//! | module | holds |
//! |---|---|
//! | [`pick`] | a bounded number of many values, by their hashes |
//! | [`levels`] | values of a column along an axis |
//! | [`front`] | points that no other beats in two figures |
//! | [`cells`] | values by the levels of one or two axes |
//! | [`choice`] | which axes and figures are drawn against each other |

pub mod cells;
pub mod choice;
pub mod front;
pub mod levels;
pub mod pick;

use std::collections::BTreeMap;
use std::io;

use super::table::{Cell, Column, Role, Row};
use cells::{Bands, Map};
use front::Front;
use levels::Domain;
use pick::{Pick, Values, mix};

/// Most points that are drawn one by one.
pub const MOST_POINTS: usize = 2_000;
/// Medians of figures over points are exact up to so many points.
pub const EXACT: usize = 4_096;
/// Most reasons of failed runs that are told apart.
const MOST_REASONS: usize = 200;

/// A figure over all points; the value of a point is the mean of its runs.
#[derive(Debug, Clone)]
pub struct FigureSpread {
    /// Its name.
    pub name: String,
    /// Its unit; `1` for plain numbers.
    pub unit: String,
    /// Its values.
    pub values: Values,
    /// Points with the smallest and the largest value: number and settings; the first ones of equals.
    pub ends: Option<[(u64, Vec<f64>); 2]>,
}

/// A point, its settings as places along the axes and its figures; not a number where there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Its number.
    pub number: u64,
    /// Settings.
    pub settings: Vec<f64>,
    /// Figures, means of its runs.
    pub figures: Vec<f64>,
}

/// What a table shows at large.
#[derive(Debug, Clone)]
pub struct Survey {
    /// The swept paths.
    pub axes: Vec<Domain>,
    /// The figures.
    pub figures: Vec<FigureSpread>,
    /// Number of points that have a row.
    pub points: u64,
    /// Number of rows.
    pub runs: u64,
    /// Most rows of a point.
    pub repeat: u64,
    /// Number of rows with an error.
    pub failed: u64,
    /// Reasons with their numbers, the most frequent first.
    pub reasons: Vec<(String, u64)>,
    /// Failed runs with a reason that is not among them.
    pub other_reasons: u64,
    /// At most [`MOST_POINTS`] points, in order.
    pub sample: Vec<Point>,
    /// The best points in two figures, where there are two of which it is known what is better.
    pub front: Option<Front>,
    /// Figures over one axis.
    pub bands: Vec<Bands>,
    /// Figures over two axes.
    pub maps: Vec<Map>,
}

/// Places of the columns.
struct Places {
    point: usize,
    repetition: usize,
    axes: Vec<usize>,
    figures: Vec<usize>,
    error: Option<usize>,
}

impl Places {
    fn of(columns: &[Column]) -> Self {
        let role = |role| (0..columns.len()).filter(move |&place| columns[place].role == role);
        let named = |name: &str| columns.iter().position(|column| column.name == name).unwrap_or(usize::MAX);
        Self {
            point: named("point"),
            repetition: named("repetition"),
            axes: role(Role::Axis).collect(),
            figures: role(Role::Figure).collect(),
            error: role(Role::Error).next(),
        }
    }

    fn whole(row: &Row, place: usize) -> u64 {
        match row.get(place) {
            Some(Cell::Integer(value)) => value.unsigned_abs(),
            _ => 0,
        }
    }

    fn figures(&self, row: &Row) -> Vec<f64> {
        let number = |place: &usize| match row.get(*place) {
            Some(Cell::Integer(value)) => *value as f64,
            Some(Cell::Real(value)) if value.is_finite() => *value,
            _ => f64::NAN,
        };
        self.figures.iter().map(number).collect()
    }
}

/// What is better of a figure, by the last part of its name; none where neither is.
pub fn more_is_better(name: &str, unit: &str) -> Option<bool> {
    const MORE: [&str; 2] = ["sent", "read"];
    const LESS: [&str; 5] = ["immediate", "late", "dropped", "lost", "malicious_driver_events"];
    let last = name.rsplit('.').next().unwrap_or(name);
    match last {
        last if MORE.contains(&last) => Some(true),
        last if LESS.contains(&last) || unit == "ns" => Some(false),
        _ => None,
    }
}

/// Means of the runs of one point, in the making.
struct Draft {
    number: u64,
    settings: Vec<f64>,
    sums: Vec<(f64, u64)>,
    runs: u64,
}

impl Draft {
    fn point(&self) -> Point {
        let mean = |(sum, count): &(f64, u64)| if *count > 0 { sum / *count as f64 } else { f64::NAN };
        Point { number: self.number, settings: self.settings.clone(), figures: self.sums.iter().map(mean).collect() }
    }
}

impl Survey {
    /// Surveys a table. `rows` begins at its first row each time; rows of one point follow each other.
    ///
    /// # Errors
    /// What the rows say.
    pub fn of<I: Iterator<Item = io::Result<Row>>>(columns: &[Column], rows: impl Fn() -> I) -> io::Result<Self> {
        let places = Places::of(columns);
        let mut first = FirstPass::new(columns, &places);
        for row in rows() {
            first.take(&places, &row?);
        }
        let mut survey = first.finish();
        (survey.bands, survey.maps) = choice::choose(&survey);
        if survey.bands.is_empty() && survey.maps.is_empty() {
            return Ok(survey);
        }
        for row in rows() {
            survey.take(&places, &row?);
        }
        Ok(survey)
    }

    /// The second reading: each run goes to its cells.
    fn take(&mut self, places: &Places, row: &Row) {
        let hash = mix(Places::whole(row, places.point), Places::whole(row, places.repetition));
        let cells = places.axes.iter().map(|place| row.get(*place).unwrap_or(&Cell::Missing));
        let settings: Vec<f64> = self.axes.iter().zip(cells).map(|(axis, cell)| axis.place(cell)).collect();
        let figures = places.figures(row);
        self.bands.iter_mut().for_each(|bands| bands.take(hash, &settings, &figures));
        self.maps.iter_mut().for_each(|map| map.take(&settings, &figures));
    }
}

/// What the first reading gathers.
struct FirstPass {
    survey: Survey,
    sample: Pick<(u64, Vec<u64>)>,
    reasons: BTreeMap<String, u64>,
    draft: Option<Draft>,
}

impl FirstPass {
    fn new(columns: &[Column], places: &Places) -> Self {
        let spread = |place: &usize| FigureSpread {
            name: columns[*place].name.clone(),
            unit: columns[*place].unit.clone(),
            values: Values::new(EXACT),
            ends: None,
        };
        let figures: Vec<FigureSpread> = places.figures.iter().map(spread).collect();
        let judged = figures.iter().enumerate();
        let mut judged =
            judged.filter_map(|(place, figure)| Some((place, more_is_better(&figure.name, &figure.unit)?)));
        let front = match (judged.next(), judged.next()) {
            (Some((a, more_a)), Some((b, more_b))) => Some(Front::new([a, b], [more_a, more_b])),
            _ => None,
        };
        let survey = Survey {
            axes: places.axes.iter().map(|place| Domain::new(&columns[*place])).collect(),
            figures,
            points: 0,
            runs: 0,
            repeat: 0,
            failed: 0,
            reasons: Vec::new(),
            other_reasons: 0,
            sample: Vec::new(),
            front,
            bands: Vec::new(),
            maps: Vec::new(),
        };
        Self { survey, sample: Pick::new(MOST_POINTS), reasons: BTreeMap::new(), draft: None }
    }

    fn take(&mut self, places: &Places, row: &Row) {
        self.survey.runs += 1;
        if let Some(Cell::Text(reason)) = places.error.and_then(|place| row.get(place)) {
            self.take_failure(reason);
        }
        let number = Places::whole(row, places.point);
        if self.draft.as_ref().is_none_or(|draft| draft.number != number) {
            self.end_point();
            let cells = places.axes.iter().map(|place| row.get(*place).unwrap_or(&Cell::Missing));
            let settings = self.survey.axes.iter_mut().zip(cells).map(|(axis, cell)| axis.take(cell)).collect();
            self.draft = Some(Draft { number, settings, sums: vec![(0.0, 0); places.figures.len()], runs: 0 });
        }
        if let Some(draft) = &mut self.draft {
            draft.runs += 1;
            for ((sum, count), value) in draft.sums.iter_mut().zip(places.figures(row)) {
                if value.is_finite() {
                    *sum += value;
                    *count += 1;
                }
            }
        }
    }

    fn take_failure(&mut self, reason: &str) {
        self.survey.failed += 1;
        if self.reasons.len() < MOST_REASONS || self.reasons.contains_key(reason) {
            *self.reasons.entry(reason.to_owned()).or_default() += 1;
        } else {
            self.survey.other_reasons += 1;
        }
    }

    /// All runs of a point are there.
    fn end_point(&mut self) {
        let Some(draft) = self.draft.take() else {
            return;
        };
        let point = draft.point();
        let survey = &mut self.survey;
        survey.points += 1;
        survey.repeat = survey.repeat.max(draft.runs);
        let hash = mix(point.number, 0);
        for (figure, value) in survey.figures.iter_mut().zip(&point.figures) {
            figure.take(hash, *value, &point);
        }
        if let Some(front) = &mut survey.front {
            let figures = front.figures.map(|place| point.figures.get(place).copied().unwrap_or(f64::NAN));
            front.take(point.number, &point.settings, figures);
        }
        // Bits and not numbers, since those have no order.
        let bits = || point.settings.iter().chain(&point.figures).map(|value| value.to_bits()).collect();
        self.sample.take(hash, || (point.number, bits()));
    }

    fn finish(mut self) -> Survey {
        self.end_point();
        let mut survey = self.survey;
        let axes = survey.axes.len();
        let point = |(number, bits): &(u64, Vec<u64>)| {
            let (settings, figures) = bits.split_at(axes.min(bits.len()));
            let values = |bits: &[u64]| bits.iter().map(|bits| f64::from_bits(*bits)).collect();
            Point { number: *number, settings: values(settings), figures: values(figures) }
        };
        survey.sample = self.sample.iter().map(point).collect();
        survey.sample.sort_by_key(|point| point.number);
        for (place, axis) in survey.axes.iter_mut().enumerate() {
            axis.look(survey.sample.iter().map(|point| point.settings[place]).collect());
        }
        survey.reasons = self.reasons.into_iter().collect();
        survey.reasons.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        survey
    }
}

impl FigureSpread {
    fn take(&mut self, hash: u64, value: f64, point: &Point) {
        if !value.is_finite() {
            return;
        }
        let here = || (point.number, point.settings.clone());
        let [low, high] = self.ends.get_or_insert_with(|| [here(), here()]);
        if value < self.values.low {
            *low = here();
        }
        if value > self.values.high {
            *high = here();
        }
        self.values.take(hash, value);
    }

    /// Has it more than one value?
    pub fn varies(&self) -> bool {
        self.values.low < self.values.high
    }
}
