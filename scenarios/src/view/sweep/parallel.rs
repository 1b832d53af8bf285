//! Parallel coordinates: each point of a sweep as a line through all its settings and figures.

use super::super::sheet::{LABEL, Sheet, colour};
use super::super::text::{elide, width};
use super::super::ticks::Axis;
use super::measure::{Measure, blue_to_orange, shown};
use crate::sweep::survey::Survey;

/// Most columns: more have no room for their names.
const MOST_COLUMNS: usize = 9;
/// Most names beside a column.
const MOST_NAMED: usize = 8;

/// A column: its quantity and where its values lie, 0 to 1.
struct Column {
    measure: Measure,
    values: Vec<f64>,
}

impl Column {
    /// Names stand beside each other with half a step beyond their ends, numbers reach from end to end.
    fn share(&self, value: f64) -> f64 {
        match self.measure.names() {
            Some(names) => 1.0 - (value + 0.5) / names.len().max(1) as f64,
            None => self.measure.share(value),
        }
    }
}

/// Draws the points of a survey's sample; none where there are fewer than two columns.
pub(super) fn parallel(survey: &Survey) -> Option<String> {
    let axes = survey.axes.iter().enumerate().filter(|(_, axis)| axis.count() > 1);
    let axes = axes.map(|(place, axis)| Column {
        measure: Measure::of_axis(axis),
        values: survey.sample.iter().map(|point| point.settings[place]).collect(),
    });
    let figures = survey.figures.iter().enumerate().filter(|(_, figure)| figure.varies());
    let figures = figures.map(|(place, figure)| Column {
        measure: Measure::of_figure(figure),
        values: survey.sample.iter().map(|point| point.figures[place]).collect(),
    });
    let (axes, figures): (Vec<Column>, Vec<Column>) = (axes.collect(), figures.collect());
    let all = axes.len() + figures.len();
    // At least three figures stay, if there are, since they are what a sweep is about.
    let most_axes = MOST_COLUMNS - figures.len().min(3);
    let coloured = axes.len().min(most_axes);
    let columns: Vec<Column> = axes.into_iter().take(most_axes).chain(figures).take(MOST_COLUMNS).collect();
    let by = columns.get(coloured).filter(|_| columns.len() > 1)?;
    let y = Axis { label: String::new(), from: -0.1, to: 1.24, ticks: Vec::new() };
    let last = columns.len() as f64 - 1.0;
    let x = Axis { label: String::new(), from: -0.5, to: last + 0.5, ticks: Vec::new() };
    let mut notes = Vec::new();
    if survey.points > survey.sample.len() as u64 {
        notes.push(format!("{} of {} points, chosen by a hash of their numbers.", survey.sample.len(), survey.points));
    }
    if columns.len() < all {
        notes.push(format!("{} columns have no room here.", all - columns.len()));
    }
    let sheet = Sheet {
        title: "All settings and figures of each point",
        subtitle: "A line is a point of the sweep; each vertical has its own scale",
        legend: Vec::new(),
        ramp: Some(by.measure.ramp("colour: ", blue_to_orange)),
        notes,
        height: 420.0,
        x,
        y,
    };
    let opacity = (60.0 / survey.sample.len().max(1) as f64).clamp(0.25, 0.75);
    let svg = sheet.draw(|area| {
        for (place, value) in by.values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
            let through = columns.iter().enumerate().map(|(k, column)| (k as f64, column.values[place], column));
            let through = through.filter(|(_, value, _)| value.is_finite());
            let points = through.map(|(k, value, column)| (k, column.share(value)));
            area.thread(points, blue_to_orange(by.measure.share(*value)), opacity)?;
        }
        let room = 1.0 / area.scale.0 - 10.0;
        for (k, column) in columns.iter().enumerate() {
            let k = k as f64;
            area.line([(k, 0.0), (k, 1.0)], colour::INK, 1.2)?;
            for (line, text) in heading(&column.measure.label, room).iter().enumerate() {
                area.words(text, (k, 1.2 - 0.045 * line as f64), 0, colour::INK)?;
            }
            let Some(names) = column.measure.names() else {
                area.words(&shown(column.measure.high), (k, 1.03), 0, colour::MUTED)?;
                area.words(&shown(column.measure.low), (k, -0.035), 0, colour::MUTED)?;
                continue;
            };
            let most = (room / (LABEL * 0.66)) as usize;
            for (place, name) in names.iter().enumerate().take(MOST_NAMED) {
                // What stands right of the last column would leave the picture.
                let side = if k == last { -1 } else { 1 };
                let at = (k + f64::from(side) * 6.0 * area.scale.0, column.share(place as f64));
                area.words(&elide(name, most), at, side, colour::INK)?;
            }
        }
        Ok(())
    });
    Some(svg)
}

/// A name in up to three lines, broken after its dots and before its unit.
fn heading(label: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut rest = label;
    while !rest.is_empty() {
        let end = rest.find(['.', ' ']).map_or(rest.len(), |place| place + 1);
        let (part, after) = rest.split_at(end);
        rest = after;
        match lines.last_mut() {
            Some(line) if width(line, LABEL - 1.0) + width(part, LABEL - 1.0) <= room => line.push_str(part),
            _ => lines.push(part.to_owned()),
        }
    }
    let most = (room / (LABEL * 0.6)).max(4.0) as usize;
    let fits = |line: &str| width(line, LABEL - 1.0) <= room;
    lines
        .iter()
        .map(|line| line.trim())
        .map(|line| if fits(line) { line.to_owned() } else { elide(line, most) })
        .collect()
}
