//! Repetitions of a point that need not be run, since a figure is known well enough already.

use serde::Deserialize;
use toml::Spanned;

use super::figure::Figure;
use super::file::Source;
use crate::file::ScenarioError;

/// `[sweep.stop]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopSection {
    /// One of the figures in `metrics`.
    pub figure: Spanned<String>,
    /// Half of the 95 % interval that is narrow enough, in the figure's unit.
    pub within: Spanned<f64>,
    /// Repetitions that are run in any case.
    #[serde(default = "four")]
    pub at_least: u64,
}

fn four() -> u64 {
    4
}

/// When a point has been run often enough.
///
/// Repetitions are independent, so the interval of their mean is Student's; whether it is narrow enough is asked after
/// each of them. Stopping at the first narrow one favours narrow ones: the intervals cover a little less than 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    figure: usize,
    within: f64,
    at_least: u64,
}

impl Stop {
    /// Checks what was written.
    ///
    /// # Errors
    /// [`ScenarioError`] with the place.
    pub fn read(
        section: &StopSection,
        figures: &[Figure],
        repeat: u64,
        source: &Source<'_>,
    ) -> Result<Self, ScenarioError> {
        let name = section.figure.as_ref();
        let Some(figure) = figures.iter().position(|figure| figure.name == *name) else {
            let all: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
            let reason = format!("`{name}` is none of the sweep's figures; they are {}", all.join(", "));
            return Err(source.error(&section.figure, reason));
        };
        let within = *section.within.as_ref();
        if !(within > 0.0 && within.is_finite()) {
            return Err(source.error(&section.within, format!("`within` is {within}; write a width above 0")));
        }
        if section.at_least < 3 || section.at_least >= repeat {
            let reason = format!(
                "repetitions can end early only between `at_least` = {} (3 or more) and `repeat` = {repeat}, the most; make `repeat` larger",
                section.at_least
            );
            return Err(source.error(&section.figure, reason));
        }
        Ok(Self { figure, within, at_least: section.at_least })
    }

    /// Do the figures of the repetitions so far suffice? Not where one of them does not exist.
    pub fn is_reached(&self, repetitions: &[Vec<Option<f64>>]) -> bool {
        let values: Option<Vec<f64>> = repetitions.iter().map(|figures| *figures.get(self.figure)?).collect();
        values.is_some_and(|values| {
            values.len() as u64 >= self.at_least && half_width(&values).is_some_and(|half| half <= self.within)
        })
    }
}

/// Half of the 95 % interval of the mean of three values or more.
fn half_width(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n - 1.0);
    (values.len() >= 3).then(|| student_97_5(n - 1.0) * libm::sqrt(variance / n))
}

/// The 97.5 % quantile of Student's law with 2 or more degrees of freedom (Abramowitz and Stegun 26.7.5, to 1 %).
fn student_97_5(freedom: f64) -> f64 {
    const Z: f64 = 1.959_963_984_540_054;
    let g = [
        (Z.powi(3) + Z) / 4.0,
        (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / 96.0,
        (3.0 * Z.powi(7) + 19.0 * Z.powi(5) + 17.0 * Z.powi(3) - 15.0 * Z) / 384.0,
        (79.0 * Z.powi(9) + 776.0 * Z.powi(7) + 1_482.0 * Z.powi(5) - 1_920.0 * Z.powi(3) - 945.0 * Z) / 92_160.0,
    ];
    g.iter().rev().fold(0.0, |sum, term| (sum + term) / freedom) + Z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_student_s() {
        // Table of the 97.5 % quantiles.
        for (freedom, quantile) in [(2.0, 4.303), (3.0, 3.182), (4.0, 2.776), (10.0, 2.228), (30.0, 2.042)] {
            assert!((student_97_5(freedom) / quantile - 1.0).abs() < 0.03, "{freedom}: {}", student_97_5(freedom));
        }
        // 1, 2, 3: mean 2, deviation 1, so 4.303 / √3.
        assert!((half_width(&[1.0, 2.0, 3.0]).unwrap() - 2.484).abs() < 0.07);
        assert_eq!(half_width(&[1.0, 2.0]), None);
    }

    #[test]
    fn it_is_reached_when_values_agree_and_not_before() {
        let stop = Stop { figure: 1, within: 1.0, at_least: 3 };
        let repetition = |value: Option<f64>| vec![Some(0.0), value];
        let of = |values: &[Option<f64>]| values.iter().map(|v| repetition(*v)).collect::<Vec<_>>();
        assert!(!stop.is_reached(&of(&[Some(5.0), Some(5.0)])));
        assert!(stop.is_reached(&of(&[Some(5.0), Some(5.1), Some(4.9)])));
        assert!(!stop.is_reached(&of(&[Some(5.0), Some(9.0), Some(1.0)])));
        assert!(!stop.is_reached(&of(&[Some(5.0), None, Some(5.0)])));
    }
}
