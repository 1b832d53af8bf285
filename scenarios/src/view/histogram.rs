//! Number of frames over the interval: Figures 2 to 7 of the E830 paper.

use nicsim_core::stats::DenseHistogram;

use super::sheet::{Drawn, Key, LABEL, Mark, Plot, Sheet, colour};
use super::text::{count, frames, short};
use super::ticks::{Axis, widened};

/// At most this many bars stand side by side; more bins than that share bars.
const MOST_BARS: i64 = 640;
/// With at most this many bars there is a gap between them.
const SEPARATE_BARS: usize = 90;
/// Where bars of a logarithmic axis begin: below one frame, so that one frame is seen.
const LOG_FLOOR: f64 = 0.7;

/// A histogram and how it is to be read.
#[derive(Debug, Clone, Copy)]
pub struct Bars<'a> {
    /// What was counted, for the legend.
    pub label: &'a str,
    /// The counts.
    pub histogram: &'a DenseHistogram,
    /// Do the values lie on the bins' grid (an instrument's ticks)? Bars then stand around their value, and otherwise
    /// begin at it.
    pub on_grid: bool,
}

/// The axis of the number of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CountScale {
    /// From 0.
    #[default]
    Linear,
    /// Decades, for tails of few frames.
    Log,
}

/// What [`interval_histogram`] draws.
#[derive(Debug, Clone, Copy)]
pub struct HistogramPlot<'a> {
    /// Title of the plot.
    pub title: &'a str,
    /// Second line.
    pub subtitle: &'a str,
    /// What the horizontal axis shows, without its unit.
    pub quantity: &'a str,
    /// Marked by a vertical line \[ns\].
    pub target_ns: Option<f64>,
    /// Drawn as bars.
    pub bars: Bars<'a>,
    /// Drawn over them as an outline, scaled to as many frames.
    pub outline: Option<Bars<'a>>,
    /// Axis of the number of frames.
    pub scale: CountScale,
    /// Ends of the horizontal axis \[ns\]; by default those of the body, with some room beside it.
    pub range_ns: Option<(f64, f64)>,
}

impl<'a> HistogramPlot<'a> {
    /// A plot of one histogram of an instrument's ticks, with a linear axis.
    pub fn new(title: &'a str, histogram: &'a DenseHistogram) -> Self {
        Self {
            title,
            subtitle: "",
            quantity: "frame interval",
            target_ns: None,
            bars: Bars { label: "observed", histogram, on_grid: true },
            outline: None,
            scale: CountScale::Linear,
            range_ns: None,
        }
    }
}

/// Draws a histogram as SVG.
///
/// The default range is that of the body: from the 0.1st to the 99.9th percentile, with some room beside it and the
/// target in it where that is near. What lies outside is counted in a note below.
pub fn interval_histogram(plot: &HistogramPlot<'_>) -> String {
    let sets: Vec<Counts<'_>> = std::iter::once(plot.bars).chain(plot.outline).filter_map(Counts::of).collect();
    let range = plot.range_ns.filter(|(from, to)| from.is_finite() && to.is_finite() && from < to);
    let (from, to) = range.unwrap_or_else(|| body(&sets, plot.target_ns));
    let merged = sets.iter().map(|set| set.merging(from, to)).max().unwrap_or(1);
    let shown: Vec<Shown> = sets.iter().map(|set| set.shown(from, to, merged)).collect();
    let factor = scaling(&sets);
    let highest = shown
        .iter()
        .enumerate()
        .flat_map(|(k, s)| s.bars.iter().map(move |b| b.count * if k > 0 { factor } else { 1.0 }));
    let y = count_axis(plot.scale, highest.fold(0.0, f64::max), sets.first(), merged);
    let x = Axis::across(format!("{} [ns]", plot.quantity), (from, to), Sheet::room(&y), LABEL);
    let target = plot.target_ns.filter(|target| (from..=to).contains(target));
    let sheet = Sheet {
        title: plot.title,
        subtitle: plot.subtitle,
        legend: vec![legend(&sets, target)],
        ramp: None,
        notes: notes(plot, &sets, &shown, merged, factor, target),
        height: 330.0,
        x,
        y,
    };
    sheet.draw(|area| {
        match shown.first() {
            Some(first) if !first.bars.is_empty() => draw_bars(area, &first.bars, plot.scale)?,
            _ => area.message("no frames in this range")?,
        }
        if let Some(second) = shown.get(1) {
            draw_outline(area, &second.bars, factor, plot.scale)?;
        }
        match target {
            Some(target) => area.dashes([(target, f64::MIN), (target, f64::MAX)], colour::INK, 1.3),
            None => Ok(()),
        }
    })
}

/// Counts that can be drawn.
#[derive(Clone, Copy)]
struct Counts<'a> {
    set: Bars<'a>,
    total: u128,
}

/// What of a histogram lies within a range.
struct Shown {
    bars: Vec<Bar>,
    below: u64,
    above: u64,
}

#[derive(Clone, Copy)]
struct Bar {
    left: f64,
    right: f64,
    count: f64,
}

impl<'a> Counts<'a> {
    /// `None` for bins that no file should hold.
    fn of(set: Bars<'a>) -> Option<Self> {
        let DenseHistogram { bin_ns, first_ns, counts, below, above } = set.histogram;
        let total = counts.iter().chain([below, above]).map(|n| u128::from(*n)).sum();
        (bin_ns.is_finite() && *bin_ns > 0.0 && first_ns.is_finite()).then_some(Self { set, total })
    }

    fn bin(&self) -> f64 {
        self.set.histogram.bin_ns
    }

    /// Left edge of the bin `index` places after the first one.
    fn edge(&self, index: i64) -> f64 {
        let half = if self.set.on_grid { 0.5 } else { 0.0 };
        self.set.histogram.first_ns + (index as f64 - half) * self.bin()
    }

    /// Left edge of the bin of the 0.1st, right edge of that of the 99.9th percentile.
    fn body(&self) -> Option<(f64, f64)> {
        let counts = &self.set.histogram.counts;
        let tail = self.total / 1_000;
        let first = index_beyond(self.set.histogram.below, counts.iter(), tail)?;
        let last = index_beyond(self.set.histogram.above, counts.iter().rev(), tail)?;
        Some((self.edge(first as i64), self.edge((counts.len() - last) as i64)))
    }

    /// How many bins share a bar.
    fn merging(&self, from: f64, to: f64) -> i64 {
        let visible = self.visible(from, to);
        ((visible.end - visible.start + MOST_BARS - 1) / MOST_BARS).max(1)
    }

    /// Places of the bins whose middle lies within a range.
    fn visible(&self, from: f64, to: f64) -> std::ops::Range<i64> {
        let place = |value: f64| ((value - self.edge(0)) / self.bin() - 0.5).ceil();
        let most = self.set.histogram.counts.len() as f64;
        let start = place(from).clamp(0.0, most);
        start as i64..place(to).clamp(start, most) as i64
    }

    fn shown(&self, from: f64, to: f64, merged: i64) -> Shown {
        let histogram = self.set.histogram;
        let visible = self.visible(from, to);
        // Bars are aligned to multiples of their width, so that those of two histograms coincide.
        let offset = ((histogram.first_ns / self.bin()).round() as i64).rem_euclid(merged);
        let mut bars: Vec<Bar> = Vec::new();
        let mut group = None;
        for index in visible.clone() {
            let count = histogram.counts[index as usize] as f64;
            let this = (offset + index).div_euclid(merged);
            if let (true, Some(bar)) = (group == Some(this), bars.last_mut()) {
                bar.count += count;
                continue;
            }
            group = Some(this);
            let left = this * merged - offset;
            bars.push(Bar { left: self.edge(left), right: self.edge(left + merged), count });
        }
        let sum = |counts: &[u64]| counts.iter().fold(0, |sum: u64, n| sum.saturating_add(*n));
        let (start, end) = (visible.start as usize, visible.end as usize);
        Shown {
            bars,
            below: histogram.below.saturating_add(sum(&histogram.counts[..start])),
            above: histogram.above.saturating_add(sum(&histogram.counts[end..])),
        }
    }
}

/// Place of the first count that takes the sum, begun with `before`, beyond `tail`.
fn index_beyond<'c>(before: u64, counts: impl Iterator<Item = &'c u64>, tail: u128) -> Option<usize> {
    let mut sum = u128::from(before);
    let mut last = None;
    for (index, count) in counts.enumerate() {
        sum += u128::from(*count);
        last = Some(index);
        if *count > 0 && sum > tail {
            break;
        }
    }
    last
}

/// The range that shows the bodies of all sets.
fn body(sets: &[Counts<'_>], target: Option<f64>) -> (f64, f64) {
    let bodies = sets.iter().filter(|set| set.total > 0).filter_map(Counts::body);
    let both = bodies.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let bin = sets.first().map_or(1.0, Counts::bin);
    let target = target.filter(|target| target.is_finite());
    let Some((low, high)) = both else {
        let middle = target.unwrap_or(0.0);
        return widened(middle, middle, 0.0, 20.0 * bin);
    };
    let near = (high - low).max(20.0 * bin);
    let (low, high) = match target {
        Some(target) if (low - near..=high + near).contains(&target) => (low.min(target), high.max(target)),
        _ => (low, high),
    };
    widened(low, high, 0.08, 4.0 * bin)
}

/// By what the outline's counts are multiplied so that equal distributions coincide.
fn scaling(sets: &[Counts<'_>]) -> f64 {
    match sets {
        [bars, outline] if bars.total > 0 && outline.total > 0 => {
            bars.total as f64 / outline.total as f64 * (bars.bin() / outline.bin())
        }
        _ => 1.0,
    }
}

impl CountScale {
    fn place(self, count: f64) -> f64 {
        match self {
            Self::Linear => count,
            Self::Log => count.max(LOG_FLOOR).log10(),
        }
    }
}

fn count_axis(scale: CountScale, highest: f64, first: Option<&Counts<'_>>, merged: i64) -> Axis {
    let label = match first {
        Some(set) => format!("number of frames per {} ns", short(set.bin() * merged as f64)),
        None => "number of frames".to_owned(),
    };
    let highest = highest.max(1.0);
    match scale {
        CountScale::Linear if highest < 5.0 => {
            let ticks = (0..=highest.ceil() as u64).map(|n| (n as f64, count(n))).collect();
            Axis { label, from: 0.0, to: highest.ceil() * 1.07, ticks }
        }
        CountScale::Linear => Axis::up(label, (0.0, highest * 1.07), 7),
        CountScale::Log => {
            let decades = 0..=highest.log10().floor() as u32;
            let ticks = decades.map(|k| (f64::from(k), count(10_u64.saturating_pow(k)))).collect();
            Axis { label, from: LOG_FLOOR.log10(), to: (highest * 2.0).log10(), ticks }
        }
    }
}

fn legend(sets: &[Counts<'_>], target: Option<f64>) -> Vec<Key> {
    let marks = [(Mark::Bar, colour::SKY), (Mark::Line, colour::RED)];
    let mut keys: Vec<Key> = sets
        .iter()
        .zip(marks)
        .map(|(set, (mark, colour))| {
            let total = u64::try_from(set.total).unwrap_or(u64::MAX);
            Key::new(mark, colour, format!("{} ({})", set.set.label, frames(total)))
        })
        .collect();
    keys.extend(target.map(|target| Key::new(Mark::Dashes, colour::INK, format!("target {} ns", short(target)))));
    keys
}

fn notes(
    plot: &HistogramPlot<'_>,
    sets: &[Counts<'_>],
    shown: &[Shown],
    merged: i64,
    factor: f64,
    target: Option<f64>,
) -> Vec<String> {
    let mut notes = Vec::new();
    for (set, shown) in sets.iter().zip(shown) {
        let outside = shown.below.saturating_add(shown.above);
        if outside > 0 {
            let whose = if sets.len() > 1 { format!("{}: ", set.set.label) } else { String::new() };
            let (below, above) = (count(shown.below), count(shown.above));
            notes.push(format!("{whose}{} outside this range ({below} below, {above} above).", frames(outside)));
        }
    }
    if let (true, Some(set)) = (merged > 1, sets.first()) {
        notes.push(format!("Each bar stands for {merged} bins of {} ns.", short(set.bin())));
    }
    if let (true, [_, outline]) = (factor != 1.0, sets) {
        let by = if factor < 0.01 { format!("{factor:.2e}") } else { short(factor) };
        notes.push(format!("{}: counts multiplied by {by}, to the same number of frames and bin.", outline.set.label));
    }
    if let (Some(wanted), None) = (plot.target_ns.filter(|t| t.is_finite()), target) {
        notes.push(format!("The target, {} ns, lies outside this range.", short(wanted)));
    }
    notes
}

fn draw_bars(area: &mut Plot<'_, '_>, bars: &[Bar], scale: CountScale) -> Drawn {
    if bars.len() > SEPARATE_BARS {
        return area.polygon(outline(bars, 1.0, scale), colour::SKY);
    }
    let gap = area.scale.0.min(bars.iter().map(|bar| bar.right - bar.left).fold(f64::MAX, f64::min) / 6.0) / 2.0;
    for bar in bars.iter().filter(|bar| bar.count > 0.0) {
        area.bar((bar.left + gap, f64::MIN), (bar.right - gap, scale.place(bar.count)), colour::SKY)?;
    }
    Ok(())
}

fn draw_outline(area: &mut Plot<'_, '_>, bars: &[Bar], factor: f64, scale: CountScale) -> Drawn {
    area.line(outline(bars, factor, scale), colour::RED, 1.6)
}

/// The steps along the tops of bars, down to the axis at both ends.
fn outline(bars: &[Bar], factor: f64, scale: CountScale) -> Vec<(f64, f64)> {
    let ends = bars.first().map(|bar| (bar.left, f64::MIN)).zip(bars.last().map(|bar| (bar.right, f64::MIN)));
    let tops = bars.iter().flat_map(|bar| {
        let top = scale.place(bar.count * factor);
        [(bar.left, top), (bar.right, top)]
    });
    let Some((start, end)) = ends else {
        return Vec::new();
    };
    std::iter::once(start).chain(tops).chain([end]).collect()
}
