//! Shapes side by side: peaks of a histogram, and whether counts agree.

use std::collections::BTreeMap;

use nicsim_core::stats::DenseHistogram;

use crate::tolerance::{PEAK_HEIGHT, VALLEY};

/// The peaks of a histogram, in bins from its first one.
///
/// Counts are summed over three neighbours; a peak is a local maximum above `height` of the highest, and two
/// peaks with a valley above `valley` of the lower one count as one, the higher.
pub fn peaks(counts: &[u64], height: f64, valley: f64) -> Vec<usize> {
    let smooth: Vec<u64> =
        (0..counts.len()).map(|i| counts[i.saturating_sub(1)..(i + 2).min(counts.len())].iter().sum()).collect();
    let top = smooth.iter().copied().max().unwrap_or(0) as f64;
    let is_peak =
        |i: &usize| smooth[*i] >= smooth[i - 1] && smooth[*i] > smooth[i + 1] && smooth[*i] as f64 > height * top;
    let mut kept: Vec<usize> = Vec::new();
    for peak in (1..smooth.len().saturating_sub(1)).filter(is_peak) {
        match kept.last_mut() {
            Some(last) if between(&smooth, *last, peak) > valley * smooth[*last].min(smooth[peak]) as f64 => {
                if smooth[peak] > smooth[*last] {
                    *last = peak;
                }
            }
            _ => kept.push(peak),
        }
    }
    kept
}

fn between(smooth: &[u64], left: usize, right: usize) -> f64 {
    smooth[left..=right].iter().copied().min().unwrap_or(0) as f64
}

/// The valley between the first two peaks as a share of the lower one; `None` with fewer than two.
pub fn valley(counts: &[u64], peaks: &[usize]) -> Option<f64> {
    let &[left, right, ..] = peaks else {
        return None;
    };
    let smooth = |i: usize| counts[i.saturating_sub(1)..(i + 2).min(counts.len())].iter().sum::<u64>();
    let lowest = (left..=right).map(smooth).min()? as f64;
    Some(lowest / smooth(left).min(smooth(right)) as f64)
}

/// Peaks of a histogram in bins from `target_ns`, of the acceptance's height and valley.
pub fn peaks_from(histogram: &DenseHistogram, target_ns: f64) -> Vec<i64> {
    let place = |peak: usize| (histogram.first_ns + peak as f64 * histogram.bin_ns - target_ns) / histogram.bin_ns;
    peaks(&histogram.counts, PEAK_HEIGHT, VALLEY).into_iter().map(|peak| place(peak).round() as i64).collect()
}

/// The share of values within `reach_ns` of `target_ns`; values outside the histogram's bins count as further away.
pub fn share_within(histogram: &DenseHistogram, target_ns: f64, reach_ns: f64) -> f64 {
    let total: u64 = histogram.counts.iter().sum::<u64>() + histogram.below + histogram.above;
    let near = |bin: usize| (histogram.first_ns + bin as f64 * histogram.bin_ns - target_ns).abs() <= reach_ns;
    let within: u64 = histogram.counts.iter().enumerate().filter(|(bin, _)| near(*bin)).map(|(_, count)| count).sum();
    within as f64 / total as f64
}

/// Counts by value.
pub type Counts = BTreeMap<i64, u64>;

/// How a recorded count stands among simulated ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// The value [units of the capture].
    pub value: i64,
    /// How often it was recorded.
    pub recorded: u64,
    /// How often it is simulated, on average over the runs.
    pub mean: f64,
    /// Standard deviation over the runs, at least that of a Poisson count of one.
    pub error: f64,
    /// Share of the runs in which it occurs.
    pub occurs: f64,
}

impl Standing {
    /// Distance in standard errors.
    pub fn z(&self) -> f64 {
        (self.recorded as f64 - self.mean) / self.error
    }
}

/// Holds recorded counts against those of several simulated runs, value by value over both supports.
pub fn standings(recorded: &Counts, runs: &[Counts]) -> Vec<Standing> {
    let mut values: Vec<i64> = recorded.keys().chain(runs.iter().flat_map(BTreeMap::keys)).copied().collect();
    values.sort_unstable();
    values.dedup();
    let n = runs.len() as f64;
    values
        .into_iter()
        .map(|value| {
            let counts: Vec<f64> = runs.iter().map(|run| run.get(&value).copied().unwrap_or(0) as f64).collect();
            let mean = counts.iter().sum::<f64>() / n;
            let variance = counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / (n - 1.0).max(1.0);
            Standing {
                value,
                recorded: recorded.get(&value).copied().unwrap_or(0),
                mean,
                error: variance.sqrt().max(1.0),
                occurs: counts.iter().filter(|c| **c > 0.0).count() as f64 / n,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_need_height_and_a_valley() {
        assert_eq!(peaks(&[0, 0, 1, 9, 1, 0, 0, 1, 8, 1, 0, 0], 0.2, 0.8), [3, 8]);
        assert_eq!(peaks(&[0, 0, 1, 9, 1, 0, 0, 0, 1, 0, 0], 0.2, 0.8), [3], "too low");
        assert_eq!(peaks(&[0, 0, 6, 9, 6, 9, 9, 6, 9, 10, 6, 0, 0], 0.2, 0.8).len(), 1, "no valley");
        assert!(peaks(&[], 0.2, 0.8).is_empty() && peaks(&[3], 0.2, 0.8).is_empty());
        let counts = [0, 0, 1, 9, 1, 0, 0, 1, 8, 1, 0, 0];
        assert_eq!(valley(&counts, &peaks(&counts, 0.2, 0.8)), Some(0.1));
    }

    #[test]
    fn counts_stand_among_those_of_the_runs() {
        let counts = |pairs: &[(i64, u64)]| pairs.iter().copied().collect::<Counts>();
        let runs = [counts(&[(1, 90), (2, 10)]), counts(&[(1, 110), (2, 30)])];
        let found = standings(&counts(&[(1, 100), (3, 5)]), &runs);
        assert_eq!(found.iter().map(|s| s.value).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!((found[0].mean, found[0].z()), (100.0, 0.0));
        assert!((found[1].z() + 20.0 / 200_f64.sqrt()).abs() < 1e-12);
        assert_eq!((found[2].z(), found[2].occurs), (5.0, 0.0));
    }
}
