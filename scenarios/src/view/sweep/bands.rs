//! A figure over one axis: lines with bands over numbers, strips over names.

use plotters::style::RGBColor;

use super::super::sheet::{Drawn, Key, Mark, Plot, Sheet, colour};
use super::measure::Measure;
use crate::sweep::survey::cells::Bands;
use crate::sweep::survey::pick::{Values, mix};

/// Up to so many levels have a dot each.
const DOTTED: usize = 60;
/// From so many values per cell on, a band leaves the outermost tenths out.
const MANY: u64 = 20;

/// Colours of lines: they differ in lightness too, and every second one is dashed.
const LINES: [RGBColor; 5] = [colour::BLUE, colour::RED, colour::PURPLE, colour::OLIVE, colour::MUTED];

/// What is drawn.
pub(super) struct BandsPlot<'a> {
    pub(super) title: &'a str,
    pub(super) bands: &'a Bands,
    pub(super) x: Measure,
    pub(super) y: Measure,
    /// Names of the lines; none where there is one.
    pub(super) lines: Vec<String>,
    /// Runs or pairs: what the values are.
    pub(super) of: &'a str,
}

impl BandsPlot<'_> {
    /// Do bands go from the first to the last tenth, and not from the smallest to the largest value?
    fn tenths(&self) -> bool {
        let filled = || self.bands.cells.iter().flatten().filter(|cell| cell.count > 0);
        filled().map(|cell| cell.count).sum::<u64>() >= MANY * filled().count().max(1) as u64
    }

    fn subtitle(&self) -> String {
        if !self.bands.cells.iter().flatten().any(|cell| cell.count > 1) {
            return String::new();
        }
        let band = if self.tenths() { "10 % to 90 %" } else { "smallest to largest" };
        format!("Median; shaded: {band} of the {} with this value (repetitions and whatever else was swept)", self.of)
    }

    fn notes(&self) -> Vec<String> {
        let sampled = self.bands.cells.iter().flatten().any(|cell| cell.count > self.bands.exact as u64);
        let sampled = sampled.then(|| {
            format!(
                "Medians and bands of more than {} values come from so many of them, chosen by a hash.",
                self.bands.exact
            )
        });
        sampled.into_iter().collect()
    }

    /// What of a cell is drawn: its middle and its band.
    fn cell(&self, cell: &Values, tenths: bool) -> Option<(f64, f64, f64)> {
        let [low, median, high] = cell.quantiles([0.1, 0.5, 0.9])?;
        let (low, high) = if tenths { (low, high) } else { (cell.low, cell.high) };
        Some((self.y.at(median), self.y.at(low), self.y.at(high)))
    }

    /// Ends of the figure in the cells that are drawn.
    fn fitted(&self, all: bool) -> Measure {
        let tenths = !all && self.tenths();
        let ends = |cell: &Values| {
            let [low, high] = cell.quantiles([0.1, 0.9]).unwrap_or([f64::NAN; 2]);
            if tenths { [low, high] } else { [cell.low, cell.high] }
        };
        self.y.clone().between(self.bands.cells.iter().flatten().flat_map(ends))
    }
}

/// Lines with bands.
pub(super) fn lines(plot: &BandsPlot<'_>) -> String {
    let plot = &BandsPlot { y: plot.fitted(false), lines: plot.lines.clone(), x: plot.x.clone(), ..*plot };
    let y = plot.y.up(0.05, 8);
    let x = plot.x.across(0.02, &y);
    let keys = plot.lines.iter().enumerate().map(|(line, name)| {
        let mark = if line % 2 == 1 { Mark::Dashes } else { Mark::Line };
        Key::new(mark, LINES[line % LINES.len()], name.as_str())
    });
    let tenths = plot.tenths();
    let sheet = Sheet {
        title: plot.title,
        subtitle: &plot.subtitle(),
        legend: vec![keys.collect()],
        ramp: None,
        notes: plot.notes(),
        height: 330.0,
        x,
        y,
    };
    sheet.draw(|area| {
        if plot.bands.cells.iter().flatten().all(|cell| cell.count == 0) {
            area.message("no values")?;
        }
        let mut lines = Vec::new();
        for cells in &plot.bands.cells {
            let places = cells.iter().enumerate().map(|(level, cell)| {
                plot.cell(cell, tenths).map(|(y, low, high)| (plot.x.middle(&plot.bands.levels, level), y, low, high))
            });
            lines.push(runs(places, cells.len() <= DOTTED));
        }
        for (line, runs) in lines.iter().enumerate() {
            runs.iter().try_for_each(|run| draw_band(area, run, LINES[line % LINES.len()]))?;
        }
        for (line, runs) in lines.iter().enumerate() {
            let dotted = plot.bands.levels.count() <= DOTTED;
            runs.iter().try_for_each(|run| draw_line(area, run, LINES[line % LINES.len()], line % 2 == 1, dotted))?;
        }
        Ok(())
    })
}

/// Place, median, and ends of the band.
type Place = (f64, f64, f64, f64);

/// Places without a gap between them, or all of them where dots show the gaps.
fn runs(places: impl Iterator<Item = Option<Place>>, across_gaps: bool) -> Vec<Vec<Place>> {
    let mut runs: Vec<Vec<Place>> = vec![Vec::new()];
    for place in places {
        match (place, runs.last_mut()) {
            (Some(place), Some(run)) => run.push(place),
            (None, Some(run)) if !across_gaps && !run.is_empty() => runs.push(Vec::new()),
            _ => {}
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

fn draw_band(area: &mut Plot<'_, '_>, run: &[Place], colour: RGBColor) -> Drawn {
    if run.iter().all(|(_, _, low, high)| low == high) {
        return Ok(());
    }
    match run {
        [(x, _, low, high)] => area.line([(*x, *low), (*x, *high)], colour, 1.0),
        _ => {
            let top = run.iter().map(|(x, _, _, high)| (*x, *high));
            area.veil(top.chain(run.iter().rev().map(|(x, _, low, _)| (*x, *low))), colour)
        }
    }
}

fn draw_line(area: &mut Plot<'_, '_>, run: &[Place], colour: RGBColor, dashed: bool, dotted: bool) -> Drawn {
    let points = || run.iter().map(|(x, y, _, _)| (*x, *y));
    if dotted || run.len() == 1 {
        area.dots(points(), colour, 2.8)?;
    }
    match (run.len(), dashed) {
        (1, _) => Ok(()),
        (_, true) => area.dashes(points(), colour, 1.7),
        (_, false) => area.line(points(), colour, 1.7),
    }
}

/// Strips: a row for each name with its points, its median and its band.
pub(super) fn strips(plot: &BandsPlot<'_>, points: &[(u64, f64, f64)]) -> String {
    let plot = &BandsPlot { y: plot.fitted(true), lines: Vec::new(), x: plot.x.clone(), ..*plot };
    let count = plot.bands.levels.count();
    let y = plot.x.up(0.0, 8);
    let x = plot.y.across(0.03, &y);
    let keys = vec![
        Key::new(Mark::Dot, colour::BLUE, "a point, beside its row so that equal ones are seen"),
        Key::new(Mark::Bar, colour::RED, "median"),
    ];
    let tenths = plot.tenths();
    let subtitle = format!("Thin line: smallest to largest; shaded: 10 % to 90 % of the {}", plot.of);
    let height = (count as f64 * 40.0).clamp(60.0, 900.0);
    let sheet = Sheet {
        title: plot.title,
        subtitle: &subtitle,
        legend: vec![keys],
        ramp: None,
        notes: plot.notes(),
        height,
        x,
        y,
    };
    sheet.draw(|area| {
        if plot.bands.cells.iter().flatten().all(|cell| cell.count == 0) {
            area.message("no values")?;
        }
        let row = |level: f64| count as f64 - 1.0 - level;
        for (level, cell) in plot.bands.cells.iter().flatten().enumerate() {
            let Some((_, low, high)) = plot.cell(cell, true) else { continue };
            let at = row(level as f64);
            area.veil([(low, at - 0.3), (high, at - 0.3), (high, at + 0.3), (low, at + 0.3)], colour::BLUE)?;
            area.line([(plot.y.at(cell.low), at), (plot.y.at(cell.high), at)], colour::BLUE, 1.0)?;
        }
        let jittered = points.iter().filter(|(_, level, value)| level.is_finite() && value.is_finite());
        let jittered = jittered.map(|(number, level, value)| {
            let shift = (mix(*number, 1) % 1_000) as f64 / 1_000.0 - 0.5;
            (plot.y.at(*value), row(*level) + 0.44 * shift)
        });
        area.haze(jittered, colour::BLUE, 2.0)?;
        for (level, cell) in plot.bands.cells.iter().flatten().enumerate() {
            let Some((median, _, _)) = plot.cell(cell, tenths) else { continue };
            let (at, wide) = (row(level as f64), area.scale.0 * 1.5);
            area.bar((median - wide, at - 0.34), (median + wide, at + 0.34), colour::RED)?;
        }
        Ok(())
    })
}
