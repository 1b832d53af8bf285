//! Values of a figure by the levels of one or two axes.

use super::levels::Levels;
use super::pick::Values;

/// Values that all cells of a chart keep together, about; so many per cell that even the smallest have a median.
const KEPT: usize = 20_000;

/// A figure over one axis, its runs split by the values of a second one.
#[derive(Debug, Clone)]
pub struct Bands {
    /// Place of the figure.
    pub figure: usize,
    /// Place of the axis.
    pub axis: usize,
    /// The axis whose values have a line each.
    pub split: Option<usize>,
    /// Levels of the axis.
    pub levels: Levels,
    /// Levels of the split; a single one without.
    pub lines: Levels,
    /// Values by line and level.
    pub cells: Vec<Vec<Values>>,
    /// A cell's median is exact up to so many values.
    pub exact: usize,
}

impl Bands {
    /// Empty ones.
    pub fn new(figure: usize, (axis, levels): (usize, Levels), split: Option<(usize, Levels)>) -> Self {
        let (split, lines) = split.map_or((None, Levels::Each(vec![0.0])), |(split, lines)| (Some(split), lines));
        let exact = (KEPT / (levels.count() * lines.count()).max(1)).clamp(9, 101);
        let cells = vec![vec![Values::new(exact); levels.count()]; lines.count()];
        Self { figure, axis, split, levels, lines, cells, exact }
    }

    /// Takes a run with its settings and figures.
    pub fn take(&mut self, hash: u64, settings: &[f64], figures: &[f64]) {
        let place = |axis: usize| settings.get(axis).copied().unwrap_or(f64::NAN);
        let line = self.split.map_or(Some(0), |split| self.lines.of(place(split)));
        let value = figures.get(self.figure).copied().unwrap_or(f64::NAN);
        if let (Some(line), Some(level)) = (line, self.levels.of(place(self.axis))) {
            self.cells[line][level].take(hash, value);
        }
    }
}

/// Means of a figure over two axes.
#[derive(Debug, Clone)]
pub struct Map {
    /// Place of the figure.
    pub figure: usize,
    /// Places of the axes: across, up.
    pub axes: [usize; 2],
    /// Their levels.
    pub levels: [Levels; 2],
    /// Sum and count by row, from the lowest, and column.
    cells: Vec<(f64, u64)>,
}

impl Map {
    /// An empty one.
    pub fn new(figure: usize, axes: [usize; 2], levels: [Levels; 2]) -> Self {
        let cells = vec![(0.0, 0); levels[0].count() * levels[1].count()];
        Self { figure, axes, levels, cells }
    }

    pub(super) fn take(&mut self, settings: &[f64], figures: &[f64]) {
        let [column, row] =
            [0, 1].map(|side| settings.get(self.axes[side]).and_then(|value| self.levels[side].of(*value)));
        let value = figures.get(self.figure).copied().unwrap_or(f64::NAN);
        if let (Some(column), Some(row), true) = (column, row, value.is_finite()) {
            let cell = &mut self.cells[row * self.levels[0].count() + column];
            *cell = (cell.0 + value, cell.1 + 1);
        }
    }

    /// Mean of a cell; none where it is empty.
    pub fn mean(&self, column: usize, row: usize) -> Option<f64> {
        let (sum, count) = self.cells.get(row * self.levels[0].count() + column)?;
        (*count > 0).then(|| sum / *count as f64)
    }
}
