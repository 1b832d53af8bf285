//! Which axes and figures are drawn against each other: those axes that matter most for a figure.

use std::collections::BTreeSet;

use super::cells::{Bands, Map};
use super::levels::{Levels, MOST_NUMBERS};
use super::{Point, Survey};

/// Figures that have charts of their own, the first ones that vary.
pub const MOST_FIGURES: usize = 6;
/// Charts of a figure over a numeric axis.
const MOST_LINES: usize = 2;
/// Lines of such a chart.
const MOST_SPLIT: usize = 5;
/// Heat maps of a page.
const MOST_MAPS: usize = 6;
/// Cells of a heat map along an axis.
const MOST_CELLS: usize = 100;
/// Groups in which it is looked whether an axis matters.
const GROUPS: usize = 12;

/// Charts of the survey's figures, still empty.
pub(super) fn choose(survey: &Survey) -> (Vec<Bands>, Vec<Map>) {
    let figures: Vec<usize> =
        (0..survey.figures.len()).filter(|&figure| survey.figures[figure].varies()).take(MOST_FIGURES).collect();
    let axes: Vec<usize> = (0..survey.axes.len()).filter(|&axis| survey.axes[axis].count() > 1).collect();
    let choice = Choice { survey, axes };
    let orders: Vec<Vec<usize>> = figures.iter().map(|figure| choice.by_effect(*figure)).collect();
    let bands = figures.iter().zip(&orders).flat_map(|(figure, order)| choice.bands(*figure, order)).collect();
    (bands, choice.maps(&figures, &orders))
}

struct Choice<'a> {
    survey: &'a Survey,
    /// Axes with more than one value.
    axes: Vec<usize>,
}

impl Choice<'_> {
    /// The axes in order of their effect on a figure, those with more effect first.
    fn by_effect(&self, figure: usize) -> Vec<usize> {
        let effects = self.axes.iter().map(|&axis| (axis, self.effect(axis, figure)));
        let mut effects: Vec<(usize, f64)> = effects.collect();
        effects.sort_by(|a, b| b.1.total_cmp(&a.1));
        effects.into_iter().map(|(axis, _)| axis).collect()
    }

    /// Share of the variance of a figure's ranks that the groups of an axis explain (correlation ratio), in the sample.
    fn effect(&self, axis: usize, figure: usize) -> f64 {
        let groups = self.groups(axis);
        let mut values: Vec<(f64, usize)> = (self.survey.sample.iter())
            .filter(|point| point.figures[figure].is_finite())
            .filter_map(|point| Some((point.figures[figure], groups.of(point.settings[axis])?)))
            .collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sums = vec![(0.0, 0.0); groups.count()];
        let mut rank = 0.0;
        for (place, (value, group)) in values.iter().enumerate() {
            // Equal values have the rank of their first.
            if place == 0 || values[place - 1].0 < *value {
                rank = place as f64;
            }
            sums[*group] = (sums[*group].0 + rank, sums[*group].1 + 1.0);
        }
        let count = values.len() as f64;
        let mean = sums.iter().map(|(sum, _)| sum).sum::<f64>() / count.max(1.0);
        let between = |(sum, count): &(f64, f64)| if *count > 0.0 { count * (sum / count - mean).powi(2) } else { 0.0 };
        sums.iter().map(between).sum::<f64>() / (count.powi(3) / 12.0).max(1.0)
    }

    fn groups(&self, axis: usize) -> Levels {
        self.survey.axes[axis].levels(true, GROUPS, GROUPS)
    }

    /// Has the axis values that come again, or is each of them another place in a sampled range?
    fn is_discrete(&self, axis: usize) -> bool {
        let distinct = self.survey.axes[axis].count();
        distinct <= MOST_NUMBERS && (self.axes.len() == 1 || distinct as f64 <= 0.6 * self.survey.points as f64)
    }

    /// Charts over numeric axes, the long ones first, and one over texts.
    fn bands(&self, figure: usize, order: &[usize]) -> Vec<Bands> {
        let domain = |axis: usize| &self.survey.axes[axis];
        let is_text = |axis: usize| domain(axis).names.is_some();
        // A number that only moves with a name (drivers zipped with their rings) would draw the name's effect as its own.
        let is_named = |axis: usize| order.iter().any(|&other| is_text(other) && self.go_together(axis, other));
        let numeric = || order.iter().copied().filter(|&axis| !is_text(axis) && !is_named(axis));
        let long = numeric().filter(|&axis| domain(axis).count() > MOST_SPLIT);
        let short = numeric().filter(|&axis| domain(axis).count() <= MOST_SPLIT);
        let mut charts: Vec<Bands> = Vec::new();
        for axis in long.chain(short) {
            // What has its own lines in a chart was seen.
            let seen = charts.iter().any(|chart| chart.split == Some(axis));
            if charts.len() < MOST_LINES && !seen {
                let split = order.iter().copied().find(|&split| {
                    split != axis && domain(split).count() <= MOST_SPLIT && !self.go_together(split, axis)
                });
                charts.push(self.chart(figure, axis, split));
            }
        }
        let text = order.iter().copied().find(|&axis| is_text(axis));
        charts.extend(text.map(|axis| self.chart(figure, axis, None)));
        charts
    }

    fn chart(&self, figure: usize, axis: usize, split: Option<usize>) -> Bands {
        let lines = split.map(|split| (split, self.survey.axes[split].levels(true, MOST_SPLIT, MOST_SPLIT)));
        let share = lines.as_ref().map_or(1, |(_, lines)| lines.count()).max(1) as u64;
        let bins = usize::try_from(self.survey.points / (8 * share)).unwrap_or(usize::MAX).clamp(5, 200);
        let levels = self.survey.axes[axis].levels(self.is_discrete(axis), MOST_NUMBERS, bins);
        Bands::new(figure, (axis, levels), lines)
    }

    /// Heat maps: the two axes that matter most, for each figure; then the next pairs, as far as there is room.
    fn maps(&self, figures: &[usize], orders: &[Vec<usize>]) -> Vec<Map> {
        let pairs: Vec<Vec<[usize; 2]>> = orders.iter().map(|order| self.pairs(order)).collect();
        let most = pairs.iter().map(Vec::len).max().unwrap_or(0);
        let turns =
            (0..most).flat_map(|turn| figures.iter().zip(&pairs).map(move |(figure, pairs)| (figure, pairs.get(turn))));
        let maps = turns.filter_map(|(figure, pair)| Some(self.map(*figure, *pair?)));
        maps.take(MOST_MAPS).collect()
    }

    /// Pairs of axes that do not advance together, those that matter more first.
    fn pairs(&self, order: &[usize]) -> Vec<[usize; 2]> {
        let all = (1..order.len()).flat_map(|second| (0..second).map(move |first| [order[first], order[second]]));
        all.filter(|[a, b]| !self.go_together(*a, *b)).take(MOST_MAPS).collect()
    }

    /// Do two axes advance together, so that most of their combinations do not exist?
    fn go_together(&self, a: usize, b: usize) -> bool {
        let groups = [self.groups(a), self.groups(b)];
        let cell = |point: &Point| Some((groups[0].of(point.settings[a])?, groups[1].of(point.settings[b])?));
        let cells: BTreeSet<(usize, usize)> = self.survey.sample.iter().filter_map(cell).collect();
        cells.len() <= groups[0].count().max(groups[1].count())
    }

    /// The longer axis goes across, names go up, where they have room.
    fn map(&self, figure: usize, [a, b]: [usize; 2]) -> Map {
        let rank = |axis: usize| {
            let domain = &self.survey.axes[axis];
            (domain.names.is_none(), domain.count())
        };
        let axes = if rank(a) >= rank(b) { [a, b] } else { [b, a] };
        let each = axes.map(|axis| self.is_discrete(axis) && self.survey.axes[axis].count() <= MOST_CELLS);
        // So many bins that about four points fall into a cell.
        let cells = self.survey.points as f64 / 4.0;
        let bins = |side: usize| {
            let other = axes[1 - side];
            let bins = if each[1 - side] { cells / self.survey.axes[other].count() as f64 } else { cells.sqrt() };
            (bins as usize).clamp(4, MOST_CELLS)
        };
        let levels = [0, 1].map(|side| self.survey.axes[axes[side]].levels(each[side], MOST_CELLS, bins(side)));
        Map::new(figure, axes, levels)
    }
}
