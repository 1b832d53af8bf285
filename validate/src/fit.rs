//! Straight lines and rising (or falling) steps through measured times.
//!
//! Times are large (10^18 ns since 1970) and what matters in them is small, so points come as integers that the
//! caller has already freed of a nominal line: `y` is the deviation from it, exactly. Floating point begins only
//! with differences from the middle of the data.

use nalgebra::{DMatrix, DVector};

/// A point of a regression: `y` is a deviation from a nominal line at `x`, both in units of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// Position on the nominal line.
    pub x: i128,
    /// Deviation from it.
    pub y: i128,
}

/// A straight line with one slope and an intercept for each group of points.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    /// Deviation per unit of position.
    pub slope: f64,
    /// Deviation of each group at position 0.
    pub intercepts: Vec<f64>,
    /// Deviation of each point less that of its line, group by group.
    pub residuals: Vec<f64>,
}

impl Linear {
    /// Largest residual less the smallest.
    pub fn residual_range(&self) -> f64 {
        range(&self.residuals)
    }
}

/// Least-squares line through one group of points; `None` below two different positions.
pub fn linear(points: &[Point]) -> Option<Linear> {
    linear_in_groups(&[points])
}

/// Least-squares lines of equal slope through groups of points, each with its own intercept.
///
/// `None` unless some group has two different positions. Empty groups have no line and must not be given.
pub fn linear_in_groups(groups: &[&[Point]]) -> Option<Linear> {
    let origins: Option<Vec<Point>> = groups.iter().map(|group| middle(group)).collect();
    let origins = origins?;
    let scale = groups.iter().flat_map(|group| spread(group)).fold(0.0, f64::max) / 2.0;
    if scale <= 0.0 {
        return None;
    }
    let centred: Vec<Vec<(f64, f64)>> =
        groups.iter().zip(&origins).map(|(group, origin)| centre(group, *origin, scale)).collect();
    let unknowns = solve(&centred)?;
    let residuals = residuals(&centred, &unknowns);
    let slope = unknowns[0] / scale;
    let intercepts = origins
        .iter()
        .zip(unknowns.iter().skip(1))
        .map(|(origin, at_middle)| at_middle + origin.y as f64 - slope * origin.x as f64)
        .collect();
    Some(Linear { slope, intercepts, residuals })
}

/// The middle of the bounding box, from which positions and deviations are counted.
fn middle(points: &[Point]) -> Option<Point> {
    let half = |low: Option<i128>, high: Option<i128>| Some(low? + (high? - low?) / 2);
    Some(Point {
        x: half(points.iter().map(|p| p.x).min(), points.iter().map(|p| p.x).max())?,
        y: half(points.iter().map(|p| p.y).min(), points.iter().map(|p| p.y).max())?,
    })
}

fn spread(points: &[Point]) -> Option<f64> {
    let (low, high) = (points.iter().map(|p| p.x).min()?, points.iter().map(|p| p.x).max()?);
    Some((high - low) as f64)
}

/// Positions within ±1, so that the normal equations are well conditioned.
fn centre(points: &[Point], origin: Point, scale: f64) -> Vec<(f64, f64)> {
    points.iter().map(|point| ((point.x - origin.x) as f64 / scale, (point.y - origin.y) as f64)).collect()
}

/// The slope and the intercepts: normal equations, refined once with the residuals of their own solution.
fn solve(groups: &[Vec<(f64, f64)>]) -> Option<DVector<f64>> {
    let size = groups.len() + 1;
    let mut normal = DMatrix::zeros(size, size);
    let mut right = DVector::zeros(size);
    for (group, points) in groups.iter().enumerate() {
        normal[(group + 1, group + 1)] = points.len() as f64;
        for &(x, y) in points {
            normal[(0, 0)] += x * x;
            normal[(0, group + 1)] += x;
            normal[(group + 1, 0)] += x;
            right[0] += x * y;
            right[group + 1] += y;
        }
    }
    let factors = normal.cholesky()?;
    let mut unknowns = factors.solve(&right);
    unknowns += factors.solve(&right_of(groups, &residuals(groups, &unknowns)));
    Some(unknowns)
}

fn right_of(groups: &[Vec<(f64, f64)>], values: &[f64]) -> DVector<f64> {
    let mut right = DVector::zeros(groups.len() + 1);
    let mut values = values.iter();
    for (group, points) in groups.iter().enumerate() {
        for (&(x, _), value) in points.iter().zip(values.by_ref()) {
            right[0] += x * value;
            right[group + 1] += value;
        }
    }
    right
}

fn residuals(groups: &[Vec<(f64, f64)>], unknowns: &DVector<f64>) -> Vec<f64> {
    let lines = groups.iter().zip(unknowns.iter().skip(1));
    lines.flat_map(|(points, at)| points.iter().map(move |&(x, y)| y - (unknowns[0] * x + at))).collect()
}

/// Way that an isotonic fit goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// No value is below the one before.
    Rising,
    /// No value is above the one before.
    Falling,
}

impl Direction {
    /// The way of a line with this slope.
    pub fn of_slope(slope: f64) -> Self {
        if slope < 0.0 { Self::Falling } else { Self::Rising }
    }
}

/// Least-squares monotone values for `values` in their order, by pooling adjacent violators
/// (M. Ayer et al., Annals of Mathematical Statistics 26, 1955).
pub fn isotonic(values: &[f64], direction: Direction) -> Vec<f64> {
    let sign = match direction {
        Direction::Rising => 1.0,
        Direction::Falling => -1.0,
    };
    let mut pools: Vec<Pool> = Vec::new();
    for value in values {
        let mut pool = Pool { sum: sign * value, count: 1 };
        while let Some(before) = pools.pop_if(|before| before.mean() >= pool.mean()) {
            pool = Pool { sum: before.sum + pool.sum, count: before.count + pool.count };
        }
        pools.push(pool);
    }
    pools.iter().flat_map(|pool| std::iter::repeat_n(sign * pool.mean(), pool.count)).collect()
}

/// Successive values that share a fitted one.
#[derive(Debug, Clone, Copy)]
struct Pool {
    sum: f64,
    count: usize,
}

impl Pool {
    fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }
}

/// Largest value less the smallest; 0 for none.
pub fn range(values: &[f64]) -> f64 {
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
    (high - low).max(0.0)
}

/// How one clock's times run away from another's: a line through the deviations, and the best monotone curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Deviation per unit of position.
    pub slope: f64,
    /// Range of the residuals about the line [units of the deviation].
    pub linear_residual_range: f64,
    /// Range of the residuals about the monotone curve that goes the way of the slope.
    pub isotonic_residual_range: f64,
}

impl Trend {
    /// The trend of `points` in their order; `None` below two different positions.
    pub fn of(points: &[Point]) -> Option<Self> {
        let line = linear(points)?;
        let origin = middle(points)?;
        let values: Vec<f64> = points.iter().map(|point| (point.y - origin.y) as f64).collect();
        let curve = isotonic(&values, Direction::of_slope(line.slope));
        let residuals: Vec<f64> = values.iter().zip(&curve).map(|(value, fitted)| value - fitted).collect();
        Some(Self {
            slope: line.slope,
            linear_residual_range: line.residual_range(),
            isotonic_residual_range: range(&residuals),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points(values: &[(i128, i128)]) -> Vec<Point> {
        values.iter().map(|&(x, y)| Point { x, y }).collect()
    }

    #[test]
    fn a_small_slope_survives_a_large_offset() {
        // 20 ppb and one unit of noise, at positions near 1.75e18 ns and deviations near 3e18, as at 0.
        let (x0, y0) = (1_753_933_177_308_521_943, 3_000_000_000_000_000_000);
        let at = |x0: i128, y0: i128| {
            let point = |k: i128| Point { x: x0 + k * 100_000, y: y0 + k / 500 + k % 2 };
            (0_i128..10_001).map(point).collect::<Vec<_>>()
        };
        let (near, far) = (linear(&at(0, 0)).unwrap(), linear(&at(x0, y0)).unwrap());
        assert_eq!((near.slope, &near.residuals), (far.slope, &far.residuals));
        // numpy's polyfit of the same points.
        assert!((near.slope * 1e9 - 19.950_314_506_6).abs() < 1e-9, "{}", near.slope);
        assert!((near.residual_range() - 2.038_731_849_67).abs() < 1e-9, "{}", near.residual_range());
    }

    #[test]
    fn a_known_line() {
        // Least squares of (0,0) (1,1) (2,1) (3,3): slope 0.9, intercept -0.1.
        let fit = linear(&points(&[(0, 0), (1, 1), (2, 1), (3, 3)])).unwrap();
        assert!((fit.slope - 0.9).abs() < 1e-12 && (fit.intercepts[0] + 0.1).abs() < 1e-12);
        let expected = [0.1, 0.2, -0.7, 0.4];
        assert!(fit.residuals.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn groups_share_a_slope() {
        let first = points(&[(0, 10), (10, 12), (20, 14)]);
        let second = points(&[(5, 101), (15, 103)]);
        let fit = linear_in_groups(&[&first, &second]).unwrap();
        assert!((fit.slope - 0.2).abs() < 1e-12);
        assert!((fit.intercepts[0] - 10.0).abs() < 1e-12 && (fit.intercepts[1] - 100.0).abs() < 1e-12);
        assert!(fit.residual_range() < 1e-12);
    }

    #[test]
    fn no_line_through_one_position() {
        assert_eq!(linear(&[]), None);
        assert_eq!(linear(&points(&[(3, 4)])), None);
        assert_eq!(linear(&points(&[(3, 4), (3, 5)])), None);
        assert_eq!(Trend::of(&points(&[(3, 4)])), None);
    }

    #[test]
    fn pooling_gives_the_textbook_answer() {
        assert_eq!(isotonic(&[1.0, 3.0, 2.0, 4.0], Direction::Rising), [1.0, 2.5, 2.5, 4.0]);
        assert_eq!(isotonic(&[4.0, 1.0, 3.0, 0.0], Direction::Falling), [4.0, 2.0, 2.0, 0.0]);
        assert!(isotonic(&[], Direction::Rising).is_empty());
        let trend = Trend::of(&points(&[(0, 0), (1, -8), (2, 0), (3, -8)])).unwrap();
        assert!(trend.slope < 0.0 && (trend.isotonic_residual_range - 8.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn isotonic_values_are_monotone_and_keep_the_sum(values in proptest::collection::vec(-1e3..1e3_f64, 0..200)) {
            let fitted = isotonic(&values, Direction::Rising);
            prop_assert!(fitted.is_sorted());
            prop_assert!((fitted.iter().sum::<f64>() - values.iter().sum::<f64>()).abs() < 1e-6);
        }

        #[test]
        fn residuals_sum_to_nothing(values in proptest::collection::vec(-1_000_i64..1_000, 2..200)) {
            let points: Vec<Point> =
                values.iter().enumerate().map(|(x, y)| Point { x: x as i128, y: i128::from(*y) }).collect();
            let fit = linear(&points).unwrap();
            let along: f64 = fit.residuals.iter().enumerate().map(|(x, r)| x as f64 * r).sum();
            prop_assert!(fit.residuals.iter().sum::<f64>().abs() < 1e-6 && along.abs() < 1e-4);
        }
    }
}
