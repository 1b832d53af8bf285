//! The interval over the frame number: Figures 8 to 13 of the E830 paper.

use super::sheet::{Drawn, Key, LABEL, Mark, Plot, Sheet, colour};
use super::text::{count, grouped, short};
use super::ticks::{Axis, widened};
use crate::series::Series;

/// At most this many columns, so that one with an outlier is a line thick enough to be seen.
const MOST_COLUMNS: usize = 600;
/// Values this many times farther apart than those of the body leave the axis to the body.
const FAR: f64 = 60.0;

/// What [`series`] draws.
#[derive(Debug, Clone, Copy)]
pub struct SeriesPlot<'a> {
    /// Title of the plot.
    pub title: &'a str,
    /// Second line.
    pub subtitle: &'a str,
    /// What the vertical axis shows, without its unit.
    pub quantity: &'a str,
    /// Marked by a horizontal line \[ns\].
    pub target_ns: Option<f64>,
    /// The values.
    pub series: &'a Series,
    /// Ends of the vertical axis \[ns\]; by default all values, unless some lie so far out that the others would be a
    /// line.
    pub range_ns: Option<(f64, f64)>,
}

impl<'a> SeriesPlot<'a> {
    /// A plot of a series of intervals.
    pub fn new(title: &'a str, series: &'a Series) -> Self {
        Self { title, subtitle: "", quantity: "frame interval", target_ns: None, series, range_ns: None }
    }
}

/// One column of the series: its frames and what they reach.
#[derive(Clone, Copy)]
struct Column {
    left: f64,
    right: f64,
    low: f64,
    high: f64,
}

/// Draws a quantity over the frame number as SVG.
///
/// Columns of several frames are drawn from their smallest to their largest value, so that no outlier is lost. Values
/// far beyond all others are triangles at the edge and said in a note.
pub fn series(plot: &SeriesPlot<'_>) -> String {
    let (columns, per_column) = columns(plot.series);
    let range = plot.range_ns.filter(|(from, to)| from.is_finite() && to.is_finite() && from < to);
    let target = plot.target_ns.filter(|target| target.is_finite());
    let (from, to) = range.unwrap_or_else(|| default_range(&columns, target));
    let outside: Vec<Column> = columns.iter().filter(|c| c.low < from || c.high > to).copied().collect();
    let y = Axis::up(format!("{} [ns]", plot.quantity), (from, to), 8);
    let last = plot.series.columns.len() as f64 * plot.series.per_column as f64;
    let x = Axis::across("frame number", (0.0, last.max(1.0)), Sheet::room(&y), LABEL).whole();
    let target_inside = target.filter(|target| (from..=to).contains(target));
    let sheet = Sheet {
        title: plot.title,
        subtitle: plot.subtitle,
        legend: vec![legend(per_column, target_inside, !outside.is_empty())],
        ramp: None,
        notes: notes(&columns, per_column, (from, to), target, target_inside),
        height: 330.0,
        x,
        y,
    };
    sheet.draw(|area| {
        if columns.is_empty() {
            area.message("no frames")?;
        }
        match per_column {
            1 => {
                let radius = if columns.len() > 400 { 1.5 } else { 2.2 };
                area.dots(columns.iter().map(|c| (c.left, c.low)), colour::BLUE, radius)?
            }
            _ => draw_band(area, &columns)?,
        }
        draw_triangles(area, &outside, (from, to))?;
        match target_inside {
            Some(target) => area.dashes([(f64::MIN, target), (f64::MAX, target)], colour::INK, 1.3),
            None => Ok(()),
        }
    })
}

/// The columns drawn, each of as many of the series' as make it wide enough, and the number of frames in one.
fn columns(series: &Series) -> (Vec<Column>, u64) {
    let merged = series.columns.len().div_ceil(MOST_COLUMNS).max(1);
    let merged = if series.per_column <= 1 && merged <= 2 { 1 } else { merged };
    let frames = series.per_column.max(1).saturating_mul(merged as u64);
    let width = frames as f64;
    let finite = |column: &Option<(f64, f64)>| column.filter(|(low, high)| low.is_finite() && high.is_finite());
    let both = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
    let groups = series.columns.chunks(merged).enumerate();
    let reached = groups.filter_map(|(k, group)| Some((k as f64, group.iter().filter_map(finite).reduce(both)?)));
    let columns = reached.map(|(k, (low, high))| Column { left: k * width, right: (k + 1.0) * width, low, high });
    (columns.collect(), frames)
}

/// All values, or the body alone where the others are [`FAR`] away from it.
fn default_range(columns: &[Column], target: Option<f64>) -> (f64, f64) {
    let mut lows: Vec<f64> = columns.iter().map(|c| c.low).collect();
    let mut highs: Vec<f64> = columns.iter().map(|c| c.high).collect();
    lows.sort_by(f64::total_cmp);
    highs.sort_by(f64::total_cmp);
    let (Some(&low), Some(&high)) = (lows.first(), highs.last()) else {
        let middle = target.unwrap_or(0.0);
        return widened(middle, middle, 0.0, 100.0);
    };
    let (body_low, body_high) = (lows[lows.len() / 20], highs[highs.len() - 1 - highs.len() / 20]);
    let body = body_high - body_low;
    let far = body > 0.0 && high - low > FAR * body;
    let (low, high) = if far { ((body_low - body).max(low), (body_high + body).min(high)) } else { (low, high) };
    let (low, high) = match target {
        Some(target) if (low - body..=high + body).contains(&target) => (low.min(target), high.max(target)),
        _ => (low, high),
    };
    widened(low, high, 0.06, 0.5)
}

fn legend(per_column: u64, target: Option<f64>, outside: bool) -> Vec<Key> {
    let mut keys = vec![match per_column {
        1 => Key::new(Mark::Dot, colour::BLUE, "one frame"),
        several => Key::new(Mark::Bar, colour::BLUE, format!("smallest to largest of {} frames", count(several))),
    }];
    keys.extend(target.map(|target| Key::new(Mark::Dashes, colour::INK, format!("target {} ns", short(target)))));
    keys.extend(outside.then(|| Key::new(Mark::Triangle, colour::RED, "beyond the axis")));
    keys
}

/// One note for each end of the axis beyond which values lie, and one for a target that does.
fn notes(
    columns: &[Column],
    per_column: u64,
    (from, to): (f64, f64),
    target: Option<f64>,
    target_inside: Option<f64>,
) -> Vec<String> {
    let places = |column: &Column| match per_column {
        1 => format!("frame {}", grouped(column.left, 0)),
        _ => format!("frames {} to {}", grouped(column.left, 0), grouped(column.right - 1.0, 0)),
    };
    let note = |end: &str, number: usize, value: f64, column: &Column| {
        let columns = if number == 1 { "1 column reaches".to_owned() } else { format!("{number} columns reach") };
        format!("{columns} {end} the axis: to {} ns in {}.", short(value), places(column))
    };
    let below = columns.iter().filter(|c| c.low < from);
    let above = columns.iter().filter(|c| c.high > to);
    let (numbers, lowest) = (below.clone().count(), below.min_by(|a, b| a.low.total_cmp(&b.low)));
    let low = lowest.map(|column| note("below", numbers, column.low, column));
    let (numbers, highest) = (above.clone().count(), above.max_by(|a, b| a.high.total_cmp(&b.high)));
    let high = highest.map(|column| note("above", numbers, column.high, column));
    let target = target.filter(|_| target_inside.is_none());
    let target = target.map(|target| format!("The target, {} ns, lies outside this range.", short(target)));
    low.into_iter().chain(high).chain(target).collect()
}

/// Runs of neighbouring columns, each as one shape at least a pixel and a half thick.
fn draw_band(area: &mut Plot<'_, '_>, columns: &[Column]) -> Drawn {
    let thin = area.scale.1 * 0.75;
    let mut rest = columns;
    while !rest.is_empty() {
        let length = 1 + rest.windows(2).take_while(|pair| pair[0].right == pair[1].left).count();
        let (run, after) = rest.split_at(length);
        rest = after;
        let edge = |c: &Column, y: f64| [(c.left, y), (c.right, y)];
        let middle = |c: &Column| (c.low / 2.0 + c.high / 2.0, ((c.high - c.low) / 2.0).max(thin));
        let top = run.iter().flat_map(|c| edge(c, middle(c).0 + middle(c).1));
        let bottom = run.iter().rev().flat_map(|c| {
            let [left, right] = edge(c, middle(c).0 - middle(c).1);
            [right, left]
        });
        area.polygon(top.chain(bottom), colour::BLUE)?;
    }
    Ok(())
}

fn draw_triangles(area: &mut Plot<'_, '_>, outside: &[Column], (from, to): (f64, f64)) -> Drawn {
    let (wide, tall) = (area.scale.0 * 5.0, area.scale.1 * 9.0);
    let (start, end) = area.ends();
    for column in outside {
        let middle = f64::midpoint(column.left, column.right).min(end - wide).max(start + wide);
        let mut triangle = |tip: f64, foot: f64| {
            area.polygon([(middle - wide, foot), (middle + wide, foot), (middle, tip)], colour::RED)
        };
        if column.high > to {
            triangle(to, to - tall)?;
        }
        if column.low < from {
            triangle(from, from + tall)?;
        }
    }
    Ok(())
}
