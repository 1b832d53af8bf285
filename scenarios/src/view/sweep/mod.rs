//! The page of a sweep and its pictures, and the page of two sweeps side by side.
//!
//! | module | holds |
//! |---|---|
//! | `measure` | quantities along axes and colours |
//! | `bands` | lines with bands, strips |
//! | `heat` | heat maps |
//! | `parallel` | parallel coordinates |
//! | `pareto` | the points that no other beats in two figures |
//! | `comparison` | two sweeps side by side |

mod bands;
mod comparison;
mod heat;
mod measure;
mod parallel;
mod pareto;

use super::page::{Cell, Page, Section};
use super::text::count;
use crate::sweep::survey::cells::{Bands, Map};
use crate::sweep::survey::choice::MOST_FIGURES;
use crate::sweep::survey::levels::{Domain, MOST_NAMES};
use crate::sweep::survey::{EXACT, Survey};
use crate::sweep::{Shard, Sweep};
use bands::BandsPlot;
use measure::{Measure, axis_label, labelled, shown};

pub use comparison::{comparison, notes as comparison_notes};

/// What a page says of a sweep besides its table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepHead {
    /// Name of the scenario.
    pub scenario: String,
    /// Purpose.
    pub about: String,
    /// Master seed.
    pub seed: u64,
    /// Version of nicsim.
    pub version: String,
    /// Digest of all that results depend on.
    pub digest: String,
    /// The part that was run, where it is not the whole.
    pub part: Option<String>,
    /// Number of points, those that constraints leave out included.
    pub planned: u64,
}

impl SweepHead {
    /// Of a sweep or a part of it.
    pub fn of(sweep: &Sweep, shard: Shard) -> Self {
        let definition = sweep.definition();
        let file: Option<toml::Table> = definition.sweep_file.parse().ok();
        let about = file.as_ref().and_then(|file| file.get("about")).and_then(toml::Value::as_str);
        Self {
            scenario: definition.scenario.clone(),
            about: about.unwrap_or_default().to_owned(),
            seed: definition.seed,
            version: definition.version.clone(),
            digest: format!("{:016x}", sweep.hash()),
            part: (shard.count > 1).then(|| shard.to_string()),
            planned: shard.points(sweep.plan().points()),
        }
    }
}

/// A page and the files of its pictures.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pictures {
    /// The page, its pictures among its sections.
    pub page: Page,
    /// File name and content of each picture.
    pub files: Vec<(String, String)>,
}

impl Pictures {
    fn add(&mut self, file: String, caption: String, svg: String) {
        self.files.push((file, svg.clone()));
        self.page.sections.push(Section::Figure { caption, svg });
    }
}

/// The page of a sweep.
pub fn sweep(survey: &Survey, head: &SweepHead) -> Pictures {
    let mut pictures = Pictures::default();
    pictures.page.title = format!("Sweep of {}", head.scenario);
    pictures.page.lead.clone_from(&head.about);
    let sections = &mut pictures.page.sections;
    sections.push(facts(survey, head));
    if !survey.axes.is_empty() {
        sections.push(swept(survey));
    }
    sections.push(figures(survey));
    sections.extend(failures(survey));
    sections.extend(remarks(survey));
    let numbers = |kind: &str, number: usize| format!("{kind}-{}.svg", number + 1);
    let (mut lines, mut strips) = (0, 0);
    for bands in &survey.bands {
        let (figure, axis) = (&survey.figures[bands.figure], &survey.axes[bands.axis]);
        let split = bands.split.map(|split| format!(", a line for each {}", survey.axes[split].name));
        let caption = format!("{} over {}{}.", figure.name, axis.name, split.unwrap_or_default());
        let (file, svg) = if axis.names.is_some() {
            strips += 1;
            (numbers("strips", strips - 1), strip_chart(survey, bands))
        } else {
            lines += 1;
            (numbers("lines", lines - 1), line_chart(survey, bands))
        };
        pictures.add(file, caption, svg);
    }
    for (number, map) in survey.maps.iter().enumerate() {
        let [x, y] = map.axes.map(|axis| &survey.axes[axis].name);
        let figure = &survey.figures[map.figure].name;
        pictures.add(numbers("heat", number), format!("Mean of {figure} over {x} and {y}."), heat_map(survey, map));
    }
    if let Some(svg) = parallel::parallel(survey) {
        pictures.add("parallel.svg".to_owned(), "Settings and figures together, point by point.".to_owned(), svg);
    }
    if let Some(front) = survey.front.as_ref().filter(|front| !front.points.is_empty()) {
        pictures.add(
            "pareto.svg".to_owned(),
            format!("{}.", pareto::meaning(survey, front)),
            pareto::scatter(survey, front),
        );
        pictures.page.sections.push(pareto::table(survey, front));
    }
    pictures
}

fn line_chart(survey: &Survey, chart: &Bands) -> String {
    let lines = chart.split.map_or_else(Vec::new, |split| {
        let axis = &survey.axes[split];
        let label = axis_label(axis);
        let (path, unit) = label.split_once(" [").map_or((label.as_str(), ""), |(path, unit)| (path, unit));
        let value = |line: usize| Measure::of_axis(axis).value(chart.lines.span(line).0);
        let name = |line: usize| format!("{path} {} {}", value(line), unit.trim_end_matches(']')).trim_end().to_owned();
        (0..chart.lines.count()).map(name).collect()
    });
    bands::lines(&bands_plot(survey, chart, lines))
}

fn bands_plot<'a>(survey: &'a Survey, chart: &'a Bands, lines: Vec<String>) -> BandsPlot<'a> {
    let figure = &survey.figures[chart.figure];
    let (x, y) = (Measure::of_axis(&survey.axes[chart.axis]), Measure::of_figure(figure));
    BandsPlot { title: &figure.name, bands: chart, x, y, lines, of: "runs" }
}

fn strip_chart(survey: &Survey, chart: &Bands) -> String {
    let point =
        |point: &crate::sweep::survey::Point| (point.number, point.settings[chart.axis], point.figures[chart.figure]);
    let points: Vec<(u64, f64, f64)> = survey.sample.iter().map(point).collect();
    bands::strips(&bands_plot(survey, chart, Vec::new()), &points)
}

fn heat_map(survey: &Survey, map: &Map) -> String {
    let figure = &survey.figures[map.figure];
    let axes = map.axes.map(|axis| Measure::of_axis(&survey.axes[axis]));
    heat::heat(&figure.name, map, &axes, &Measure::of_figure(figure))
}

fn facts(survey: &Survey, head: &SweepHead) -> Section {
    let mut facts = vec![("scenario".to_owned(), Cell::Name(head.scenario.clone()))];
    let mut fact = |name: &str, cell: Cell| facts.push((name.to_owned(), cell));
    fact("points", Cell::count(survey.points));
    fact("runs", Cell::count(survey.runs));
    if survey.repeat > 1 {
        fact("runs per point, at most", Cell::count(survey.repeat));
    }
    fact("failed runs", Cell::count(survey.failed));
    if head.planned > survey.points {
        fact("points left out", Cell::count(head.planned - survey.points));
    }
    fact("seed", Cell::Number(head.seed.to_string()));
    fact("nicsim", Cell::Text(head.version.clone()));
    fact("sweep", Cell::Name(head.digest.clone()));
    if let Some(part) = &head.part {
        fact("part", Cell::Text(part.clone()));
    }
    Section::Facts { heading: "What was run".to_owned(), facts, note: String::new() }
}

fn swept(survey: &Survey) -> Section {
    let columns = ["path", "values", "from", "to"].map(str::to_owned).to_vec();
    let row = |axis: &Domain| {
        let most = if axis.names.is_some() { MOST_NAMES } else { crate::sweep::survey::levels::MOST_NUMBERS };
        let values = match axis.count() {
            many if many > most => Cell::Text(format!("more than {most}")),
            some => Cell::count(some as u64),
        };
        let (low, high) = match &axis.names {
            Some(names) => (Cell::Text(names.join(", ")), Cell::Missing),
            None => {
                let end = |end: Option<f64>| end.map_or(Cell::Missing, |value| Cell::Number(shown(value)));
                (end(axis.ends.map(|ends| ends.0)), end(axis.ends.map(|ends| ends.1)))
            }
        };
        vec![Cell::Name(axis_label(axis)), values, low, high]
    };
    Section::Table {
        heading: "What was swept".to_owned(),
        columns,
        rows: survey.axes.iter().map(row).collect(),
        note: String::new(),
    }
}

fn figures(survey: &Survey) -> Section {
    let columns = ["figure", "points", "min", "median", "max", "min at", "max at"].map(str::to_owned).to_vec();
    let place = |place: Option<&(u64, Vec<f64>)>| match place {
        Some((number, settings)) => Cell::Text(format!("point {number}: {}", settings_text(survey, settings))),
        None => Cell::Missing,
    };
    let rows = survey.figures.iter().map(|figure| {
        let values = &figure.values;
        let number = |value: f64| if value.is_finite() { Cell::Number(shown(value)) } else { Cell::Missing };
        let median = values.quantiles([0.5]).map_or(Cell::Missing, |[median]| number(median));
        let ends = figure.ends.as_ref().filter(|_| figure.varies());
        vec![
            Cell::Name(labelled(&figure.name, &figure.unit)),
            Cell::count(values.count),
            number(values.low),
            median,
            number(values.high),
            place(ends.map(|ends| &ends[0])),
            place(ends.map(|ends| &ends[1])),
        ]
    });
    let mut note = "A point's value is the mean of its runs; of equal points the first is named.".to_owned();
    if survey.points > EXACT as u64 {
        note += &format!(" Medians are those of {EXACT} points, chosen by a hash of their numbers.");
    }
    Section::Table { heading: "Figures".to_owned(), columns, rows: rows.collect(), note }
}

/// Settings in words; a path's last part says which.
fn settings_text(survey: &Survey, settings: &[f64]) -> String {
    let one = |(axis, value): (&Domain, &f64)| {
        let label = axis_label(axis);
        let path = label.split(' ').next().unwrap_or_default();
        let unit = label.split_once('[').map_or("", |(_, unit)| unit.trim_end_matches(']'));
        let name = path.rsplit('.').next().unwrap_or(path);
        format!("{name} {} {unit}", Measure::of_axis(axis).value(*value)).trim_end().to_owned()
    };
    survey.axes.iter().zip(settings).map(one).collect::<Vec<_>>().join(", ")
}

/// Reasons of failures that are told.
const MOST_REASONS: usize = 10;

fn failures(survey: &Survey) -> Option<Section> {
    if survey.failed == 0 {
        return None;
    }
    let row = |(reason, number): &(String, u64)| vec![Cell::count(*number), Cell::Text(reason.clone())];
    let rest: u64 =
        survey.reasons.iter().skip(MOST_REASONS).map(|(_, number)| number).sum::<u64>() + survey.other_reasons;
    let mut note = format!("{} of {} runs failed; they have no figures.", count(survey.failed), count(survey.runs));
    if rest > 0 {
        note += &format!(" {} of them have other reasons.", count(rest));
    }
    Some(Section::Table {
        heading: "Failed runs".to_owned(),
        columns: vec!["runs".to_owned(), "reason".to_owned()],
        rows: survey.reasons.iter().take(MOST_REASONS).map(row).collect(),
        note,
    })
}

/// What has no picture, and why.
fn remarks(survey: &Survey) -> Option<Section> {
    let list = |names: Vec<&str>| names.join(", ");
    let same = survey.figures.iter().filter(|figure| figure.values.count > 0 && !figure.varies());
    let same: Vec<&str> = same.map(|figure| figure.name.as_str()).collect();
    let none = survey.figures.iter().filter(|figure| figure.values.count == 0);
    let none: Vec<&str> = none.map(|figure| figure.name.as_str()).collect();
    let rest = survey.figures.iter().filter(|figure| figure.varies()).skip(MOST_FIGURES);
    let rest: Vec<&str> = rest.map(|figure| figure.name.as_str()).collect();
    let mut paragraphs = Vec::new();
    if !same.is_empty() {
        paragraphs.push(format!("The same at all points, and so without a picture: {}.", list(same)));
    }
    if !none.is_empty() {
        paragraphs.push(format!("Without a value at any point: {}.", list(none)));
    }
    if !rest.is_empty() {
        paragraphs
            .push(format!("Only the first {MOST_FIGURES} figures have charts of their own, not: {}.", list(rest)));
    }
    (!paragraphs.is_empty()).then(|| Section::Text { heading: String::new(), paragraphs })
}
