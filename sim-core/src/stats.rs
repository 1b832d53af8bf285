//! Exact, mergeable statistics of integer values.
//!
//! A [`Recorder`] takes values as whole numbers of a unit (an instrument's tick, or the picosecond) and keeps
//! integer sums of their deviations from a nominal value, so that recording in parts and merging gives the same
//! bits as recording in one go. Its histogram is exact within 2^16 units of the nominal value and keeps 11 bits
//! of the deviation beyond (0.05 %), in memory that depends on the spread of the values and not on their number.

use serde::{Deserialize, Serialize};

use crate::grid::Period;

/// What a whole number means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Ticks of an instrument: the values lie on its grid.
    Ticks(Period),
    /// Picoseconds of something that lies on no grid.
    Picoseconds,
}

impl Unit {
    /// `value` units in nanoseconds.
    pub fn to_ns(self, value: i128) -> f64 {
        match self {
            Self::Ticks(period) => period.ticks_to_ns(value),
            Self::Picoseconds => value as f64 / 1_000.0,
        }
    }
}

/// Deviations below this are counted one by one.
const EXACT: u64 = 1 << 16;
/// Beyond, the leading 1 and this many bits after it are kept.
const SUB_BITS: u32 = 11;
/// Counts per page: 2 KiB.
const PAGE: usize = 256;

/// Counts of signed integers, exact near 0 and log-linear beyond; pages appear when first touched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Pages of values of 0 and more at even places, of values below 0 at odd ones.
    pages: Vec<Option<Box<[u64; PAGE]>>>,
}

/// One bucket of a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bucket {
    /// The value in it, or the middle of the values in it.
    value: i64,
    count: u64,
}

impl Histogram {
    /// Counts `value` once.
    #[inline]
    pub fn record(&mut self, value: i64) {
        let (page, slot) = place_of(value);
        match self.pages.get_mut(page) {
            Some(Some(page)) => page[slot] += 1,
            _ => self.add(value, 1),
        }
    }

    /// Counts `value` `count` times, in a new page if need be.
    #[cold]
    fn add(&mut self, value: i64, count: u64) {
        let (page, slot) = place_of(value);
        if page >= self.pages.len() {
            self.pages.resize(page + 1, None);
        }
        self.pages[page].get_or_insert_with(|| Box::new([0; PAGE]))[slot] += count;
    }

    /// Adds the counts of `other`, each value moved by `shift`.
    fn merge_shifted(&mut self, other: &Self, shift: i64) {
        for bucket in other.buckets() {
            self.add(bucket.value.saturating_add(shift), bucket.count);
        }
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        if self.pages.len() < other.pages.len() {
            self.pages.resize(other.pages.len(), None);
        }
        for (page, theirs) in self.pages.iter_mut().zip(&other.pages).filter_map(|(a, b)| Some((a, b.as_ref()?))) {
            let page = page.get_or_insert_with(|| Box::new([0; PAGE]));
            page.iter_mut().zip(theirs.iter()).for_each(|(count, more)| *count += more);
        }
    }

    /// Buckets that hold something, in ascending order.
    fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        // Pages of one sign that exist, each with its first bucket's number.
        let pages = |below_0: usize| {
            let pages = self.pages.iter().enumerate().skip(below_0).step_by(2);
            pages.filter_map(|(page, counts)| Some((page / 2 * PAGE, counts.as_deref()?)))
        };
        let held = |(_, count): &(usize, &u64)| **count > 0;
        let negative = pages(1).rev().flat_map(move |(first, counts)| {
            let counts = counts.iter().enumerate().rev().filter(held);
            counts.map(move |(slot, &count)| Bucket { value: -representative(first + slot), count })
        });
        let positive = pages(0).flat_map(move |(first, counts)| {
            let counts = counts.iter().enumerate().filter(held);
            counts.map(move |(slot, &count)| Bucket { value: representative(first + slot), count })
        });
        negative.chain(positive)
    }
}

/// Page and slot of a value.
#[inline]
fn place_of(value: i64) -> (usize, usize) {
    let bucket = bucket_of(value.unsigned_abs());
    ((bucket / PAGE) << 1 | usize::from(value < 0), bucket % PAGE)
}

#[inline]
fn bucket_of(magnitude: u64) -> usize {
    if magnitude < EXACT {
        return magnitude as usize;
    }
    let octave = 63 - magnitude.leading_zeros();
    let sub = (magnitude >> (octave - SUB_BITS)) & ((1 << SUB_BITS) - 1);
    EXACT as usize + (((octave - EXACT.ilog2()) as usize) << SUB_BITS) + sub as usize
}

fn representative(bucket: usize) -> i64 {
    let Some(beyond) = (bucket as u64).checked_sub(EXACT) else {
        return bucket as i64;
    };
    let shift = (beyond >> SUB_BITS) as u32 + EXACT.ilog2() - SUB_BITS;
    let lowest = ((1 << SUB_BITS) + (beyond & ((1 << SUB_BITS) - 1))) << shift;
    i64::try_from(lowest + (1 << shift) / 2).unwrap_or(i64::MAX)
}

/// Integer sums of runs of successive deviations, from which mean, deviation and lag-1 autocorrelation follow. They
/// count modulo 2^128: whoever reads them knows that they stayed in range ([`Recorder::sums_fit`]).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sums {
    count: u64,
    sum: i128,
    squares: i128,
    /// Sum of the products of all that follow each other.
    products: i128,
    runs: u64,
    /// Sum of the first and the last one of every run.
    ends: i128,
}

impl Sums {
    /// Adds a deviation that follows `previous`, or begins a run.
    #[inline]
    fn add(&mut self, deviation: i64, previous: Option<i64>) {
        let wide = i128::from(deviation);
        self.count += 1;
        self.sum += wide;
        self.squares = self.squares.wrapping_add(wide * wide);
        match previous {
            Some(previous) => self.products = self.products.wrapping_add(wide * i128::from(previous)),
            None => {
                self.runs += 1;
                self.ends += wide;
            }
        }
    }

    /// Ends the run whose last deviation is `last`.
    fn end_run(&mut self, last: Option<i64>) {
        self.ends += last.map_or(0, i128::from);
    }

    /// Number of pairs of successive deviations.
    fn pairs(&self) -> u64 {
        self.count - self.runs
    }

    /// Sum over these pairs of both members: all count twice but for the ends.
    fn pair_sum(&self) -> i128 {
        2 * self.sum - self.ends
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares = self.squares.wrapping_add(other.squares);
        self.products = self.products.wrapping_add(other.products);
        self.runs += other.runs;
        self.ends += other.ends;
    }

    /// The sums of the same deviations, each larger by `shift`.
    fn shifted(&self, shift: i64) -> Self {
        let (shift, n, pairs) = (i128::from(shift), i128::from(self.count), i128::from(self.pairs()));
        let moved =
            |sum: i128, number: i128| shift.wrapping_mul(sum).wrapping_add((shift * shift).wrapping_mul(number));
        Self {
            sum: self.sum + n * shift,
            squares: self.squares.wrapping_add(moved(2 * self.sum, n)),
            products: self.products.wrapping_add(moved(self.pair_sum(), pairs)),
            ends: self.ends + 2 * i128::from(self.runs) * shift,
            ..*self
        }
    }

    /// Sum of the squared deviations from the mean.
    fn centred_squares(&self) -> Option<f64> {
        let n = i128::from(self.count);
        let mean = self.sum.div_euclid(n);
        let rest = self.sum.rem_euclid(n);
        let about_mean = self.squares.checked_sub(mean.checked_mul(2 * self.sum - n * mean)?)?;
        Some(about_mean as f64 - rest as f64 * (rest as f64 / n as f64))
    }

    fn lag1(&self) -> Option<f64> {
        let spread = self.centred_squares().filter(|s| *s > 0.0)?;
        let (n, pairs) = (i128::from(self.count), i128::from(self.pairs()));
        let (mean, rest) = (self.sum.div_euclid(n), self.sum.rem_euclid(n) as f64 / n as f64);
        // Sums about the whole part of the mean are exact; what its fraction adds is small.
        let products = self.products.checked_sub(mean.checked_mul(self.pair_sum() - pairs * mean)?)?;
        let sum = self.pair_sum() - 2 * pairs * mean;
        (pairs > 0).then_some((products as f64 - rest * sum as f64 + pairs as f64 * rest * rest) / spread)
    }
}

/// An extreme value and the number of the frame that had it first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Extreme {
    value: i64,
    frame: u64,
}

/// Statistics of one quantity, in whole units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorder {
    unit: Unit,
    nominal: i64,
    sums: Sums,
    /// The ends of the range when nothing was recorded.
    lowest: Extreme,
    highest: Extreme,
    histogram: Histogram,
    previous: Option<i64>,
}

impl Recorder {
    /// A recorder of values in `unit` that are expected near `nominal`.
    pub fn new(unit: Unit, nominal: i64) -> Self {
        Self {
            unit,
            nominal,
            sums: Sums::default(),
            lowest: Extreme { value: i64::MAX, frame: 0 },
            highest: Extreme { value: i64::MIN, frame: 0 },
            histogram: Histogram::default(),
            previous: None,
        }
    }

    /// The unit of the values.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.sums.count
    }

    /// Records `value` of frame `frame` as the successor of the value before it.
    #[inline]
    pub fn record(&mut self, value: i64, frame: u64) {
        let deviation = value.saturating_sub(self.nominal);
        self.sums.add(deviation, self.previous.replace(deviation));
        if value < self.lowest.value {
            self.lowest = Extreme { value, frame };
        }
        if value > self.highest.value {
            self.highest = Extreme { value, frame };
        }
        self.histogram.record(deviation);
    }

    /// The value recorded last; none at the start, and after an interruption.
    #[inline]
    pub fn latest(&self) -> Option<i64> {
        self.previous.map(|deviation| self.nominal.saturating_add(deviation))
    }

    /// Says that the next value does not follow the last one (a frame between them is missing).
    #[inline]
    pub fn interrupt(&mut self) {
        self.sums.end_run(self.previous.take());
    }

    /// Did the sums of squares and products stay within 127 bits? None of them exceeds the number of values times
    /// the square of the greatest deviation.
    fn sums_fit(&self) -> bool {
        let reach = |extreme: Extreme| i128::from(extreme.value) - i128::from(self.nominal);
        let greatest = reach(self.lowest).unsigned_abs().max(reach(self.highest).unsigned_abs());
        let bound = greatest.checked_mul(greatest).and_then(|square| square.checked_mul(u128::from(self.sums.count)));
        bound.is_some_and(|bound| bound < 1 << 126)
    }

    /// The sums with the present run ended.
    fn ended_sums(&self) -> Sums {
        let mut sums = self.sums;
        sums.end_run(self.previous);
        sums
    }

    /// Adds all that `other` recorded in the same unit, as a sequence of its own. Around another nominal value its sums
    /// stay exact, and so does its histogram where it was.
    pub fn merge(&mut self, other: &Self) {
        debug_assert!(self.unit == other.unit, "recorders of different quantities");
        self.interrupt();
        match other.nominal.saturating_sub(self.nominal) {
            0 => {
                self.sums.merge(&other.ended_sums());
                self.histogram.merge(&other.histogram);
            }
            shift => {
                self.sums.merge(&other.ended_sums().shifted(shift));
                self.histogram.merge_shifted(&other.histogram, shift);
            }
        }
        // The earlier one stays where values are equal.
        if other.lowest.value < self.lowest.value {
            self.lowest = other.lowest;
        }
        if other.highest.value > self.highest.value {
            self.highest = other.highest;
        }
    }

    /// The values in ascending order with their counts; beyond 2^16 units from the nominal value, the middles of buckets.
    pub fn distribution(&self) -> Vec<(i64, u64)> {
        self.histogram.buckets().map(|bucket| (self.value_of(&bucket), bucket.count)).collect()
    }

    /// The summary that reports print.
    pub fn summary(&self) -> Summary {
        let (lowest, highest, count) = (self.lowest, self.highest, self.sums.count);
        if count == 0 {
            return Summary::default();
        }
        let sums = self.ended_sums();
        let spread = self.sums_fit().then_some(sums);
        let unit = self.unit;
        let ns = |value: i64| unit.to_ns(i128::from(value));
        let total = i128::from(self.nominal) * i128::from(count) + sums.sum;
        let quantiles = Quantiles::new(self);
        Summary {
            count,
            mean_ns: Some(unit.to_ns(total) / count as f64),
            std_ns: spread
                .and_then(|sums| sums.centred_squares())
                .map(|s| (s / count as f64).max(0.0).sqrt() * unit.to_ns(1)),
            min_ns: Some(ns(lowest.value)),
            max_ns: Some(ns(highest.value)),
            range_ns: Some(unit.to_ns(i128::from(highest.value) - i128::from(lowest.value))),
            p0_5_ns: quantiles.at(50),
            p1_ns: quantiles.at(100),
            p5_ns: quantiles.at(500),
            p50_ns: quantiles.at(5_000),
            p95_ns: quantiles.at(9_500),
            p99_ns: quantiles.at(9_900),
            p99_5_ns: quantiles.at(9_950),
            p99_9_ns: quantiles.at(9_990),
            p99_99_ns: quantiles.at(9_999),
            min_at_frame: Some(lowest.frame),
            max_at_frame: Some(highest.frame),
            lag1: spread.and_then(|sums| sums.lag1()),
            distinct: quantiles.cumulated.len() as u64,
            top: self.top(),
            histogram: Some(self.dense(&quantiles)),
        }
    }

    fn value_of(&self, bucket: &Bucket) -> i64 {
        let value = self.nominal.saturating_add(bucket.value);
        // The middle of an outer bucket may lie beyond the extreme that fell into it.
        value.clamp(self.lowest.value, self.highest.value)
    }

    /// The five most frequent values, the larger one first where counts are equal.
    fn top(&self) -> Vec<(f64, u64)> {
        const NUMBER: usize = 5;
        let mut frequent: Vec<(u64, i64)> = Vec::with_capacity(NUMBER + 1);
        for bucket in self.histogram.buckets() {
            let entry = (bucket.count, bucket.value);
            if frequent.len() < NUMBER || frequent.last().is_some_and(|last| entry > *last) {
                let place = frequent.partition_point(|other| *other > entry);
                frequent.insert(place, entry);
                frequent.truncate(NUMBER);
            }
        }
        let named = |(count, value)| (self.unit.to_ns(i128::from(self.value_of(&Bucket { value, count }))), count);
        frequent.into_iter().map(named).collect()
    }

    fn dense(&self, quantiles: &Quantiles<'_>) -> DenseHistogram {
        let bin = match self.unit {
            Unit::Ticks(_) => 1,
            Unit::Picoseconds => {
                round_bin(quantiles.order_statistic(9_950).saturating_sub(quantiles.order_statistic(50)))
            }
        };
        let bins = || quantiles.values().map(|(value, count)| (value.div_euclid(bin), count));
        let middle = quantiles.order_statistic(5_000).div_euclid(bin);
        let half = DenseHistogram::MOST_BINS as i64 / 2;
        let window = middle.saturating_sub(half)..middle.saturating_add(half);
        let inside = || bins().filter(|(bin, _)| window.contains(bin));
        let first = inside().next().map_or(middle, |(bin, _)| bin);
        let last = inside().last().map_or(middle, |(bin, _)| bin);
        let mut counts = vec![0; (last - first + 1) as usize];
        inside().for_each(|(bin, count)| counts[(bin - first) as usize] += count);
        let total = |side: &dyn Fn(i64) -> bool| bins().filter(|(bin, _)| side(*bin)).map(|(_, count)| count).sum();
        DenseHistogram {
            bin_ns: self.unit.to_ns(i128::from(bin)),
            first_ns: self.unit.to_ns(i128::from(first) * i128::from(bin)),
            counts,
            below: total(&|bin| bin < first),
            above: total(&|bin| bin > last),
        }
    }
}

/// A bin of 1, 2 or 5 times a power of ten, about a hundredth of `width`, at least 1.
fn round_bin(width: i64) -> i64 {
    let wanted = (width / 100).max(1);
    let power = 10_i64.pow(wanted.ilog10());
    [1, 2, 5, 10].into_iter().map(|k| k * power).find(|bin| *bin >= wanted).unwrap_or(power)
}

/// Order statistics of a recorder's buckets.
struct Quantiles<'a> {
    recorder: &'a Recorder,
    /// Values in ascending order, each with the number of values up to and including it.
    cumulated: Vec<(i64, u64)>,
}

impl<'a> Quantiles<'a> {
    fn new(recorder: &'a Recorder) -> Self {
        let buckets = || recorder.histogram.buckets();
        // Counted first: a growing list would take up to twice the room.
        let mut cumulated = Vec::with_capacity(buckets().count());
        let mut total = 0;
        cumulated.extend(buckets().map(|bucket| {
            total += bucket.count;
            (recorder.value_of(&bucket), total)
        }));
        Self { recorder, cumulated }
    }

    /// Values in ascending order with their counts.
    fn values(&self) -> impl Iterator<Item = (i64, u64)> + '_ {
        let before = std::iter::once(0).chain(self.cumulated.iter().map(|(_, up_to)| *up_to));
        self.cumulated.iter().zip(before).map(|((value, up_to), before)| (*value, up_to - before))
    }

    /// Value number `rank` (from 0) in ascending order.
    fn rank(&self, rank: u64) -> i64 {
        let place = self.cumulated.partition_point(|(_, up_to)| *up_to <= rank);
        self.cumulated.get(place).map_or(0, |(value, _)| *value)
    }

    /// Position of the quantile among the ranks: the rank below it and ten-thousandths of the way to the next.
    fn position(&self, per_ten_thousand: u64) -> (u64, u64) {
        let scaled = u128::from(per_ten_thousand) * u128::from(self.recorder.sums.count - 1);
        ((scaled / 10_000) as u64, (scaled % 10_000) as u64)
    }

    fn order_statistic(&self, per_ten_thousand: u64) -> i64 {
        self.rank(self.position(per_ten_thousand).0)
    }

    /// Linear interpolation between order statistics, as numpy's default (Hyndman and Fan's type 7) \[ns\].
    fn at(&self, per_ten_thousand: u64) -> Option<f64> {
        let (rank, part) = self.position(per_ten_thousand);
        let (low, high) = (self.rank(rank), self.rank((rank + 1).min(self.recorder.sums.count - 1)));
        let ten_thousandths = i128::from(low) * 10_000 + (i128::from(high) - i128::from(low)) * i128::from(part);
        Some(self.recorder.unit.to_ns(ten_thousandths) / 10_000.0)
    }
}

/// What a report says of one quantity \[ns\]; `None` where there were no values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each field is a figure of the name")]
pub struct Summary {
    pub count: u64,
    pub mean_ns: Option<f64>,
    /// Standard deviation of the population.
    pub std_ns: Option<f64>,
    pub min_ns: Option<f64>,
    pub max_ns: Option<f64>,
    pub range_ns: Option<f64>,
    pub p0_5_ns: Option<f64>,
    pub p1_ns: Option<f64>,
    pub p5_ns: Option<f64>,
    pub p50_ns: Option<f64>,
    pub p95_ns: Option<f64>,
    pub p99_ns: Option<f64>,
    pub p99_5_ns: Option<f64>,
    pub p99_9_ns: Option<f64>,
    pub p99_99_ns: Option<f64>,
    pub min_at_frame: Option<u64>,
    pub max_at_frame: Option<u64>,
    /// Autocorrelation of successive values.
    pub lag1: Option<f64>,
    /// Number of different values (of different buckets, beyond 2^16 units from the nominal value).
    pub distinct: u64,
    /// The five most frequent values with their counts.
    pub top: Vec<(f64, u64)>,
    pub histogram: Option<DenseHistogram>,
}

/// Counts in bins of equal width around the median.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DenseHistogram {
    /// Width of a bin: the instrument's tick where the values lie on one.
    pub bin_ns: f64,
    /// Where the first bin begins (on a grid: the value itself).
    pub first_ns: f64,
    /// Counts, bin by bin.
    pub counts: Vec<u64>,
    /// Values below the first bin.
    pub below: u64,
    /// Values above the last bin.
    pub above: u64,
}

impl DenseHistogram {
    /// At most this many bins are kept.
    pub const MOST_BINS: usize = 4_096;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ticks() -> Unit {
        Unit::Ticks("6.4ns".parse().unwrap())
    }

    fn record(unit: Unit, nominal: i64, values: &[i64]) -> Recorder {
        let mut recorder = Recorder::new(unit, nominal);
        for (frame, &value) in values.iter().enumerate() {
            recorder.record(value, frame as u64);
        }
        recorder
    }

    #[test]
    fn figures_of_a_small_sample_are_as_numpy_gives_them() {
        // numpy: x = np.array([1, 2, 4, 8, 16]) * 6.4
        let summary = record(ticks(), 5, &[4, 1, 16, 2, 8]).summary();
        assert_eq!(summary.count, 5);
        assert_eq!(summary.mean_ns, Some(39.68));
        assert!((summary.std_ns.unwrap() - 34.913_745_144_283_79).abs() < 1e-12);
        assert_eq!((summary.min_ns, summary.max_ns, summary.range_ns), (Some(6.4), Some(102.4), Some(96.0)));
        assert_eq!((summary.p50_ns, summary.p99_ns), (Some(25.6), Some(100.352)));
        assert_eq!((summary.min_at_frame, summary.max_at_frame), (Some(1), Some(2)));
        assert_eq!(summary.distinct, 5);
        assert_eq!(summary.top[0], (102.4, 1));
        let histogram = summary.histogram.unwrap();
        assert_eq!((histogram.bin_ns, histogram.first_ns, histogram.counts.len()), (6.4, 6.4, 16));
        assert_eq!(histogram.counts.iter().sum::<u64>(), 5);
    }

    #[test]
    fn nothing_recorded_is_null_and_not_zero() {
        let summary = Recorder::new(ticks(), 5).summary();
        assert_eq!((summary.count, summary.mean_ns, summary.p50_ns), (0, None, None));
        assert!(summary.histogram.is_none());
    }

    #[test]
    fn one_value_has_no_spread() {
        let summary = record(Unit::Picoseconds, 0, &[7_000]).summary();
        assert_eq!((summary.std_ns, summary.lag1, summary.p99_99_ns), (Some(0.0), None, Some(7.0)));
    }

    #[test]
    fn alternating_values_have_lag1_near_minus_one() {
        let values: Vec<i64> = (0..1_000).map(|k| 100 + (k % 2) * 2).collect();
        assert!((record(ticks(), 100, &values).summary().lag1.unwrap() + 0.999).abs() < 1e-9);
    }

    #[test]
    fn a_tiny_spread_around_a_large_value_loses_nothing() {
        let values: Vec<i64> = (0..1_000).map(|k| -33_598_995_409 + (k % 2)).collect();
        let summary = record(Unit::Picoseconds, 0, &values).summary();
        assert_eq!(summary.std_ns, Some(0.000_5));
        assert!((summary.lag1.unwrap() + 0.999).abs() < 1e-9, "{:?}", summary.lag1);
    }

    #[test]
    fn values_far_out_are_kept_to_half_a_tenth_of_a_percent() {
        for magnitude in [65_535_u64, 65_536, 1 << 20, (1 << 40) + 12_345, u64::MAX >> 2] {
            let back = representative(bucket_of(magnitude)) as f64;
            assert!((back / magnitude as f64 - 1.0).abs() <= 0.000_25, "{magnitude}");
        }
        // Values that no sum can hold are an empty figure, never a wrong one.
        let summary =
            record(Unit::Picoseconds, 0, &[i64::MAX, i64::MIN, i64::MAX, i64::MIN, i64::MAX, i64::MIN]).summary();
        assert_eq!((summary.count, summary.std_ns, summary.lag1), (6, None, None));
    }

    proptest! {
        #[test]
        fn merging_parts_gives_the_bits_of_the_whole(
            values in proptest::collection::vec(-30_000_i64..30_000, 2..300), cut in 1_usize..300, nominal in -1_000_i64..1_000,
        ) {
            let cut = cut.min(values.len() - 1);
            let mut whole = Recorder::new(ticks(), 50);
            for (frame, &value) in values.iter().enumerate() {
                if frame == cut {
                    whole.interrupt();
                }
                whole.record(value, frame as u64);
            }
            let mut merged = record(ticks(), 50, &values[..cut]);
            let mut second = Recorder::new(ticks(), nominal);
            for (frame, &value) in values.iter().enumerate().skip(cut) {
                second.record(value, frame as u64);
            }
            merged.merge(&second);
            prop_assert_eq!(merged.summary(), whole.summary());
        }

        #[test]
        fn figures_agree_with_a_plain_computation(values in proptest::collection::vec(-60_000_i64..60_000, 1..300)) {
            let summary = record(Unit::Picoseconds, 7, &values).summary();
            let mut sorted: Vec<f64> = values.iter().map(|v| *v as f64 / 1_000.0).collect();
            let n = sorted.len() as f64;
            let mean = sorted.iter().sum::<f64>() / n;
            let std = (sorted.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n).sqrt();
            prop_assert!((summary.mean_ns.unwrap() - mean).abs() < 1e-9);
            prop_assert!((summary.std_ns.unwrap() - std).abs() < 1e-6);
            sorted.sort_by(f64::total_cmp);
            let position = 0.99 * (n - 1.0);
            let (low, high) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
            prop_assert!((summary.p99_ns.unwrap() - (low + (high - low) * position.fract())).abs() < 1e-6);
            let histogram = summary.histogram.unwrap();
            prop_assert_eq!(histogram.counts.iter().sum::<u64>() + histogram.below + histogram.above, summary.count);
        }
    }
}
