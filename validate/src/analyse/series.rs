//! Values in a row, and their summary.

use nicsim_core::stats::{Recorder, Summary, Unit};

use crate::recording::unit;

/// Values of one stream, in its frames' order.
pub(super) type Series = Vec<Value>;

/// A value and the number of the frame that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) value: i64,
    pub(super) frame: u64,
}

impl Value {
    /// What the later value is more than the earlier one; `None` beyond 64 bits.
    pub(super) fn difference(earlier: &Self, later: &Self) -> Option<Self> {
        later.value.checked_sub(earlier.value).map(|value| Self { value, frame: later.frame })
    }
}

/// A recorder counts deviations below this one by one.
const EXACT: i128 = 1 << 16;

/// The summary of all series, whose values are whole `unit`s; in `bin`s where all values lie on them.
///
/// `None` without a value.
pub(super) fn summary(series: &[Series], unit: Unit, bin: Unit) -> Option<Summary> {
    let per_bin = unit::multiple(bin, unit).filter(|per_bin| values(series).all(|value| value % per_bin == 0));
    let (unit, per_bin) = per_bin.map_or((unit, 1), |per_bin| (bin, per_bin));
    let mut recorder = Recorder::new(unit, nominal(series)? / per_bin);
    for stream in series {
        stream.iter().for_each(|value| recorder.record(value.value / per_bin, value.frame));
        recorder.interrupt();
    }
    Some(recorder.summary())
}

fn values(series: &[Series]) -> impl Iterator<Item = i64> + '_ {
    series.iter().flatten().map(|value| value.value)
}

/// The value about which most can be counted exactly: the middle of the range if that covers all, else the median.
fn nominal(series: &[Series]) -> Option<i64> {
    let (low, high) = (values(series).min()?, values(series).max()?);
    let width = i128::from(high) - i128::from(low);
    if width < 2 * EXACT {
        return i64::try_from(i128::from(low) + width / 2).ok();
    }
    let mut sorted: Vec<i64> = values(series).collect();
    let middle = sorted.len() / 2;
    Some(*sorted.select_nth_unstable(middle).1)
}

/// The most frequent value, the lowest where several are; `None` unless it is positive and at least half of the
/// values are within `reach` of it.
pub(super) fn period(series: &Series, reach: u64) -> Option<i64> {
    let mut sorted: Vec<i64> = series.iter().map(|value| value.value).collect();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b);
    let mode = *runs.max_by_key(|run| (run.len(), std::cmp::Reverse(run[0])))?.first()?;
    let near = sorted.iter().filter(|value| value.abs_diff(mode) <= reach).count();
    (mode > 0 && 2 * near >= sorted.len()).then_some(mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[i64]) -> Series {
        values.iter().enumerate().map(|(frame, &value)| Value { value, frame: frame as u64 }).collect()
    }

    #[test]
    fn the_most_frequent_value_must_dominate() {
        assert_eq!(period(&series(&[84, 84, 85, 84, 200]), 2), Some(84));
        assert_eq!(period(&series(&[1, 50, 100, 150]), 2), None);
        assert_eq!(period(&series(&[0, 0, 0]), 2), None);
        assert_eq!(period(&series(&[]), 2), None);
    }

    #[test]
    fn bins_are_used_where_all_values_lie_on_them() {
        let (ns, bin) = (Unit::Ticks("1ns".parse().unwrap()), Unit::Ticks("8ns".parse().unwrap()));
        let on_it = summary(&[series(&[-8, 0, 16])], ns, bin).unwrap();
        assert_eq!(on_it.histogram.unwrap().bin_ns, 8.0);
        assert_eq!((on_it.min_ns, on_it.max_ns), (Some(-8.0), Some(16.0)));
        let off_it = summary(&[series(&[-8, 1])], ns, bin).unwrap();
        assert_eq!(off_it.histogram.unwrap().bin_ns, 1.0);
        assert_eq!(summary(&[vec![]], ns, bin), None);
    }

    #[test]
    fn wide_values_are_counted_about_the_median() {
        assert_eq!(nominal(&[series(&[0, 131_000])]), Some(65_500));
        assert_eq!(nominal(&[series(&[i64::MIN, 5, i64::MAX])]), Some(5));
    }
}
