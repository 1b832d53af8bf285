//! Round values along an axis.

use super::text::{grouped, width};

/// From here on (11 days in nanoseconds) digits would crowd the plot out, and ticks are written with a power of ten.
const WORDY: f64 = 1e15;

/// An axis: what stands at it, its ends and its ticks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    /// What is plotted, with the unit in square brackets.
    pub(super) label: String,
    /// Value at its start.
    pub(super) from: f64,
    /// Value at its end, above `from`.
    pub(super) to: f64,
    /// Where a tick is, and what stands at it.
    pub(super) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// A horizontal axis `room` long: as many ticks as their labels leave air between, at most ten.
    pub(super) fn across(label: impl Into<String>, (from, to): (f64, f64), room: f64, font: f64) -> Self {
        let fits = |ticks: &[(f64, String)]| {
            let widest = ticks.iter().map(|(_, text)| width(text, font)).fold(0.0, f64::max);
            ticks.len() as f64 * (widest + 1.6 * font) <= room
        };
        let ticks = (2..=10).rev().map(|most| ticks(from, to, most)).find(|t| fits(t)).unwrap_or_default();
        Self { label: label.into(), from, to, ticks }
    }

    /// A vertical axis with at most `most` ticks.
    pub(super) fn up(label: impl Into<String>, (from, to): (f64, f64), most: usize) -> Self {
        Self { label: label.into(), from, to, ticks: ticks(from, to, most) }
    }

    /// The same axis with ticks at whole numbers only, as for numbers of frames.
    pub(super) fn whole(mut self) -> Self {
        self.ticks.retain(|(value, _)| value.fract() == 0.0);
        self.ticks.iter_mut().for_each(|(value, text)| *text = grouped(*value, 0));
        self
    }

    /// Room that the widest tick label takes.
    pub(super) fn label_width(&self, font: f64) -> f64 {
        self.ticks.iter().map(|(_, text)| width(text, font)).fold(0.0, f64::max)
    }

    /// `value`, or the end of the axis beyond which it lies.
    pub(super) fn clamp(&self, value: f64) -> f64 {
        value.max(self.from).min(self.to)
    }
}

/// Ends of an axis that shows `low..=high` with `share` of their distance, and at least `least`, free on both sides;
/// always finite and wide enough for floating point to tell its ticks apart.
pub(super) fn widened(low: f64, high: f64, share: f64, least: f64) -> (f64, f64) {
    let (low, high) = (low.clamp(-1e300, 1e300), high.clamp(-1e300, 1e300));
    let resolvable = low.abs().max(high.abs()) * 1e-9;
    let margin = ((high - low) * share).max(least).max(resolvable).max(1e-6);
    (low - margin, high + margin)
}

/// Multiples of 1, 2 or 5 times a power of ten within `from..=to`, at most `most`, with as many decimals as they need.
fn ticks(from: f64, to: f64, most: usize) -> Vec<(f64, String)> {
    let spacing = (to - from) / most as f64;
    let mut size = Step::at_least(spacing);
    if size.multiples(from, to).is_empty() {
        // The axis lies between two multiples; a step below half its length has one.
        size = Step::at_least(spacing / 4.0);
    }
    let mut multiples = size.multiples(from, to);
    while multiples.len() > most {
        let coarser = size.next().multiples(from, to);
        if coarser.is_empty() {
            // The same with the next step: some of this one's have to do.
            multiples.truncate(most);
            break;
        }
        size = size.next();
        multiples = coarser;
    }
    let text = |value: f64| {
        if value.abs() < WORDY { grouped(value, size.decimals()) } else { format!("{value:.3e}").replace('-', "−") }
    };
    multiples.into_iter().map(|k| size.times(k)).map(|value| (value, text(value))).collect()
}

/// `digit` · 10^`power`, digit being 1, 2 or 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    digit: u8,
    power: i32,
}

impl Step {
    fn at_least(wanted: f64) -> Self {
        let wanted = if wanted.is_finite() { wanted.max(1e-9) } else { 1.0 };
        let mut step = Self { digit: 1, power: wanted.log10().floor() as i32 - 1 };
        while step.times(1.0) < wanted {
            step = step.next();
        }
        step
    }

    fn next(self) -> Self {
        match self.digit {
            1 => Self { digit: 2, ..self },
            2 => Self { digit: 5, ..self },
            _ => Self { digit: 1, power: self.power + 1 },
        }
    }

    fn times(self, k: f64) -> f64 {
        let scale = 10_f64.powi(self.power.abs());
        let digits = k * f64::from(self.digit);
        // Dividing by a whole power rounds once, multiplying by 0.1 twice.
        if self.power < 0 { digits / scale } else { digits * scale }
    }

    fn multiples(self, from: f64, to: f64) -> Vec<f64> {
        let size = self.times(1.0);
        let first = (from / size - 1e-9).ceil();
        let last = (to / size + 1e-9).floor();
        // A step that floating point cannot add gives no ticks rather than many equal ones.
        let distinct = first.abs() < 1e15 && last.abs() < 1e15;
        if !distinct || last < first {
            return Vec::new();
        }
        (0..=((last - first) as usize).min(1_000)).map(|k| first + k as f64).collect()
    }

    fn decimals(self) -> usize {
        (-self.power).max(0) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(from: f64, to: f64, most: usize) -> Vec<String> {
        ticks(from, to, most).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(words(99_871.0, 100_130.0, 6), ["99,900", "99,950", "100,000", "100,050", "100,100"]);
        assert_eq!(words(0.0, 1.0, 6), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(words(-7.3, 41.0, 6), ["0", "10", "20", "30", "40"]);
    }

    #[test]
    fn an_axis_between_two_coarse_multiples_has_ticks() {
        assert_eq!(words(462.005, 462.497, 2).len(), 2);
    }

    #[test]
    fn labels_of_a_horizontal_axis_do_not_touch() {
        let axis = Axis::across("x [ns]", (123_456_789.0, 123_456_989.0), 300.0, 12.0);
        assert!(axis.ticks.len() >= 2);
        assert!(axis.ticks.len() as f64 * axis.label_width(12.0) < 300.0);
    }

    proptest! {
        #[test]
        fn ticks_stay_within_the_axis(low in -1e12..1e12_f64, width in 0.0..1e9_f64, most in 2_usize..12) {
            let (from, to) = widened(low, low + width, 0.05, 0.0);
            let ticks = ticks(from, to, most);
            prop_assert!(!ticks.is_empty() && ticks.len() <= most, "{} of {}", ticks.len(), most);
            let slack = (to - from) * 1e-6;
            prop_assert!(ticks.iter().all(|(value, _)| (from - slack..=to + slack).contains(value)));
            prop_assert!(ticks.windows(2).all(|pair| pair[0].1 != pair[1].1), "{:?}", ticks);
        }
    }
}
