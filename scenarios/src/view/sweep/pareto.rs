//! Two figures against each other, with the points that no other beats in both.

use super::super::page::{Cell, Section};
use super::super::sheet::{Key, Mark, Sheet, colour};
use super::super::text::count;
use super::measure::{Measure, axis_label, shown};
use crate::sweep::survey::Survey;
use crate::sweep::survey::front::{Best, Front};

/// Rows of the table.
const MOST_ROWS: usize = 50;
/// Points of the front that are drawn.
const MOST_DRAWN: usize = 500;

fn direction(more: bool) -> &'static str {
    if more { "more is better" } else { "less is better" }
}

/// What "best" means here.
pub(super) fn meaning(survey: &Survey, front: &Front) -> String {
    let [a, b] =
        [0, 1].map(|side| format!("{} ({})", survey.figures[front.figures[side]].name, direction(front.more[side])));
    format!("Best: no other point is at least as good in both {a} and {b}, and better in one")
}

/// Draws the scatter.
pub(super) fn scatter(survey: &Survey, front: &Front) -> String {
    let [a, b] = front.figures;
    let measure = |side: usize| Measure::of_figure(&survey.figures[front.figures[side]]);
    let (x, y) = (measure(0), measure(1));
    let up = y.up(0.05, 8);
    let across = x.across(0.03, &up);
    let points = survey.sample.iter().map(|point| (point.figures[a], point.figures[b]));
    let points: Vec<(f64, f64)> = points.filter(|(a, b)| a.is_finite() && b.is_finite()).collect();
    let shown_points = match points.len() {
        some if (some as u64) < survey.points => format!("{} of {} points", count(some as u64), count(survey.points)),
        all => format!("{} points", count(all as u64)),
    };
    let keys = vec![
        Key::new(Mark::Dot, colour::BLUE, shown_points),
        Key::new(Mark::Dot, colour::RED, format!("best ({})", count(front.points.len() as u64))),
    ];
    let sheet = Sheet {
        title: "Best points in two figures",
        subtitle: &meaning(survey, front),
        legend: vec![keys],
        ramp: None,
        notes: Vec::new(),
        height: 360.0,
        x: across,
        y: up,
    };
    sheet.draw(|area| {
        if front.points.is_empty() {
            area.message("no point has both figures")?;
        }
        area.haze(points.iter().map(|(a, b)| (x.at(*a), y.at(*b))), colour::BLUE, 2.6)?;
        let best: Vec<(f64, f64)> =
            thinned(&front.points, MOST_DRAWN).map(|best| (x.at(best.figures[0]), y.at(best.figures[1]))).collect();
        // Between two best points lies what the one before reaches.
        let mut steps = Vec::new();
        for pair in best.windows(2) {
            steps.extend([pair[0], (pair[1].0, pair[0].1)]);
        }
        steps.extend(best.last().copied());
        if steps.len() > 1 {
            area.line(steps, colour::RED, 1.2)?;
        }
        area.dots(best.iter().copied(), colour::RED, 4.0)
    })
}

/// At most `most` of them, evenly, both ends among them.
fn thinned(points: &[Best], most: usize) -> impl Iterator<Item = &Best> {
    let shown = points.len().min(most);
    let place = move |k: usize| if shown > 1 { k * (points.len() - 1) / (shown - 1) } else { 0 };
    (0..shown).filter_map(move |k| points.get(place(k)))
}

/// The best points with their settings.
pub(super) fn table(survey: &Survey, front: &Front) -> Section {
    let figure = |side: usize| {
        let figure = &survey.figures[front.figures[side]];
        super::measure::labelled(&figure.name, &figure.unit)
    };
    let mut columns = vec!["point".to_owned(), figure(0), figure(1)];
    columns.extend(survey.axes.iter().map(axis_label));
    let row = |best: &Best| {
        let mut row = vec![Cell::Number(best.point.to_string())];
        row.extend(best.figures.map(|value| Cell::Number(shown(value))));
        row.extend(survey.axes.iter().zip(&best.settings).map(|(axis, value)| setting(axis, *value)));
        row
    };
    let rows: Vec<Vec<Cell>> = thinned(&front.points, MOST_ROWS).map(row).collect();
    let mut note = format!("{}.", meaning(survey, front));
    if front.points.len() > rows.len() {
        note += &format!(" {} of {} are shown, evenly along them.", rows.len(), front.points.len());
    }
    if front.is_thinned {
        note += " There are so many that only a part of them was kept.";
    }
    let equal: u64 = front.points.iter().map(|best| best.equal).sum();
    if equal > 0 {
        note += &format!(
            " {} more points have just the same figures as one of them, the first of which is named.",
            count(equal)
        );
    }
    Section::Table { heading: "Best points".to_owned(), columns, rows, note }
}

/// A setting as a cell of a table.
pub(super) fn setting(axis: &crate::sweep::survey::levels::Domain, value: f64) -> Cell {
    let measure = Measure::of_axis(axis);
    match (measure.is_named(), value.is_finite()) {
        (_, false) => Cell::Missing,
        (true, true) => Cell::Name(measure.value(value)),
        (false, true) => Cell::Number(shown(value)),
    }
}
