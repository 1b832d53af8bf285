//! Transmit stamps against the capture instrument: the two regressions of the E830 paper's Figure 1.

use nicsim_scenarios::report::{ClockFit, Report};
use nicsim_scenarios::run::{Outcome, StampPoint};

use crate::fit::{self, Direction, Linear, Point};

/// Both regressions with all their values, for plots \[ns\].
#[derive(Debug, Clone, PartialEq)]
pub struct StampFits {
    /// The figures that a report prints.
    pub clocks: ClockFit,
    /// The straight line at each point.
    pub linear: Vec<f64>,
    /// The monotone curve at each point.
    pub isotonic: Vec<f64>,
}

/// Fits the apparent delay over the stamp; the isotonic curve goes the way of the slope. `None` below two points.
pub fn fit(points: &[StampPoint]) -> Option<StampFits> {
    let first = i128::from(points.first()?.stamp_ns);
    // Positions and deviations in picoseconds.
    let trend: Vec<Point> = points
        .iter()
        .map(|p| Point { x: (i128::from(p.stamp_ns) - first) * 1_000, y: i128::from(p.apparent_delay_ps) })
        .collect();
    let Linear { slope, residuals, .. } = fit::linear(&trend)?;
    let delays: Vec<f64> = points.iter().map(|p| p.apparent_delay_ps as f64 / 1_000.0).collect();
    let isotonic = fit::isotonic(&delays, Direction::of_slope(slope));
    let linear: Vec<f64> = delays.iter().zip(&residuals).map(|(delay, r)| delay - r / 1_000.0).collect();
    let left: Vec<f64> = delays.iter().zip(&isotonic).map(|(delay, fitted)| delay - fitted).collect();
    let clocks = ClockFit {
        drift_ppb: slope * 1e9,
        linear_residual_range_ns: fit::range(&residuals) / 1_000.0,
        isotonic_residual_range_ns: fit::range(&left),
    };
    Some(StampFits { clocks, linear, isotonic })
}

/// Adds the regressions to the report of a run; answers them for plots.
pub fn complete(outcome: &mut Outcome) -> Option<StampFits> {
    let fits = fit(&outcome.stamps)?;
    add(&mut outcome.report, usize::from(outcome.stamps_of?), fits.clocks);
    Some(fits)
}

/// The fit is of one stream's stamps; it also stands for all, as the first of them.
fn add(report: &mut Report, stream: usize, clocks: ClockFit) {
    const METRIC: &str = "tx_stamp_vs_observer";
    let streams = report.streams.iter_mut().skip(stream).take(1);
    let places = std::iter::once(&mut report.metrics).chain(streams.map(|stream| &mut stream.metrics));
    for metric in places.filter_map(|metrics| metrics.get_mut(METRIC)) {
        metric.clocks = Some(clocks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_staircase_has_its_slope_and_its_steps() {
        // A clock that loses 7.55 ppm against a 6.4 ns counter, 10 us per frame, no jitter: steps of 6.4 ns.
        let points: Vec<StampPoint> = (0..10_000)
            .map(|k| StampPoint {
                frame: k,
                stamp_ns: 5_000_000 + k * 10_000,
                apparent_delay_ps: (k as i64 * 755 / 64_000) * 6_400,
            })
            .collect();
        let fits = fit(&points).unwrap();
        assert!((fits.clocks.drift_ppb - 7_550.0).abs() < 1.0, "{:?}", fits.clocks);
        assert!((fits.clocks.linear_residual_range_ns - 6.4).abs() < 0.1, "{:?}", fits.clocks);
        assert!(fits.clocks.isotonic_residual_range_ns < 1e-9, "{:?}", fits.clocks);
        assert!(fit(&points[..1]).is_none());
    }
}
