//! Observer minus stamp over the frame number: Figure 1 of the E830 paper.

use super::sheet::{Key, LABEL, Mark, Sheet, colour};
use super::text::{count, frames, grouped};
use super::ticks::{Axis, widened};
use crate::run::StampPoint;

/// Regressions of the apparent delay, one value for each point \[ns\].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fits {
    /// Straight line.
    pub linear: Vec<f64>,
    /// Monotone steps.
    pub isotonic: Vec<f64>,
    /// Smallest and largest residual of the straight line, over all points and not only those drawn.
    pub linear_residuals: (f64, f64),
    /// The same of the steps.
    pub isotonic_residuals: (f64, f64),
}

/// What [`staircase`] draws.
#[derive(Debug, Clone, Copy)]
pub struct StaircasePlot<'a> {
    /// Title of the plot.
    pub title: &'a str,
    /// Second line.
    pub subtitle: &'a str,
    /// The points, in order.
    pub points: &'a [StampPoint],
    /// Their regressions.
    pub fits: Option<&'a Fits>,
    /// Only so many of the first points are drawn: a staircase of 6.4 ns is not seen along a slope of 755 ns.
    pub first: usize,
}

impl<'a> StaircasePlot<'a> {
    /// A plot of the first 500 points, as in the paper.
    pub fn new(title: &'a str, points: &'a [StampPoint]) -> Self {
        Self { title, subtitle: "", points, fits: None, first: 500 }
    }
}

/// One regression, as far as it is drawn.
struct Fit {
    name: &'static str,
    colour: plotters::style::RGBColor,
    line: Vec<(f64, f64)>,
    residuals: (f64, f64),
}

/// Draws the apparent delay relative to the first frame as SVG, with its regressions as solid lines and the ranges of
/// their residuals as dashed ones.
pub fn staircase(plot: &StaircasePlot<'_>) -> String {
    let shown = &plot.points[..plot.points.len().min(plot.first)];
    let points: Vec<(f64, f64)> =
        shown.iter().map(|point| (point.frame as f64, point.apparent_delay_ps as f64 / 1_000.0)).collect();
    let fits = plot.fits.map_or_else(Vec::new, |fits| fits.drawn(&points));
    let reached = fits.iter().flat_map(|fit| [0, 1].into_iter().flat_map(|side| fit.bound(side)));
    let ys: Vec<f64> = points.iter().copied().chain(reached).map(|(_, y)| y).collect();
    let y = Axis::up("apparent delay relative to the first frame [ns]", span(&ys, 0.04, 0.5), 9);
    let xs: Vec<f64> = points.iter().map(|(x, _)| *x).collect();
    let x = Axis::across("frame number", span(&xs, 0.01, 0.5), Sheet::room(&y), LABEL).whole();
    let dots = match shown.len() {
        all if all == plot.points.len() => frames(all as u64),
        some => format!("the first {} of {} frames", count(some as u64), count(plot.points.len() as u64)),
    };
    let mut legend = vec![vec![Key::new(Mark::Dot, colour::SKY, dots)]];
    legend.extend(fits.iter().map(Fit::keys));
    let sheet = Sheet {
        title: plot.title,
        subtitle: plot.subtitle,
        legend,
        ramp: None,
        notes: Vec::new(),
        height: 400.0,
        x,
        y,
    };
    sheet.draw(|area| {
        if points.is_empty() {
            area.message("no stamped and observed frames")?;
        }
        area.dots(points.iter().copied(), colour::SKY, 2.2)?;
        // The straight line comes last: it is the thinner one and would vanish under the steps.
        for fit in fits.iter().rev() {
            area.dashes(fit.bound(0), fit.colour, 1.2)?;
            area.dashes(fit.bound(1), fit.colour, 1.2)?;
            area.line(fit.line.iter().copied(), fit.colour, 1.7)?;
        }
        Ok(())
    })
}

impl Fits {
    /// Those regressions that have a value for the points drawn.
    fn drawn(&self, points: &[(f64, f64)]) -> Vec<Fit> {
        let fit = |name, colour, values: &[f64], residuals: (f64, f64)| {
            let line: Vec<(f64, f64)> =
                points.iter().zip(values).map(|((x, _), y)| (*x, *y)).filter(|(_, y)| y.is_finite()).collect();
            let finite = residuals.0.is_finite() && residuals.1.is_finite();
            (line.len() > 1).then_some(Fit {
                name,
                colour,
                line,
                residuals: if finite { residuals } else { (0.0, 0.0) },
            })
        };
        let linear = fit("linear regression", colour::RED, &self.linear, self.linear_residuals);
        let isotonic = fit("isotonic regression", colour::PURPLE, &self.isotonic, self.isotonic_residuals);
        linear.into_iter().chain(isotonic).collect()
    }
}

impl Fit {
    /// The regression moved by its smallest (`side` 0) or largest residual.
    fn bound(&self, side: usize) -> Vec<(f64, f64)> {
        let by = if side == 0 { self.residuals.0 } else { self.residuals.1 };
        self.line.iter().map(|(x, y)| (*x, y + by)).collect()
    }

    fn keys(&self) -> Vec<Key> {
        let (low, high) = self.residuals;
        let sign = |value: f64| if value > 0.0 { "+" } else { "" };
        let residuals = format!(
            "residuals {}{} to {}{} ns (range {} ns)",
            sign(low),
            grouped(low, 1),
            sign(high),
            grouped(high, 1),
            grouped(high - low, 1)
        );
        vec![Key::new(Mark::Line, self.colour, self.name), Key::new(Mark::Dashes, self.colour, residuals)]
    }
}

fn span(values: &[f64], share: f64, least: f64) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if low <= high { widened(low, high, share, least) } else { (0.0, 1.0) }
}
