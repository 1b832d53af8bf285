//! Standard laws as tables of their quantile function, sampled in integers.
//!
//! A sample is the quantile of one uniform 64-bit draw: the table's cell is chosen by the top 12 bits and
//! the place in it, linearly, by the next 31. The outermost cells, in which the quantile is far from straight (one draw
//! in 2,048), are computed by the portable `libm`, as the tables are once, and rounded to fixed point at once. So
//! a sample costs one multiplication, every sample is monotone in its draw (comparisons under common random
//! numbers work), and the greatest difference of the distribution functions is below 3e-5 (the test below).

use std::sync::LazyLock;

/// Fixed-point scale of a standard sample: 2^32 is one standard deviation (or one mean).
const ONE: f64 = 4_294_967_296.0;
const CELL_BITS: u32 = 12;
const CELLS: usize = 1 << CELL_BITS;
/// Bits of the place within a cell: the widest cell, ln 2 means, times 2^31 still fits into 63 bits.
const PLACE_BITS: u32 = 31;

/// A standard law: its quantile function in fixed point.
#[derive(Debug)]
pub(crate) struct Law {
    /// Quantiles of k / 4096.
    knots: [i64; CELLS + 1],
    /// The quantile of a small probability from below; `None` where the lowest cell is straight enough.
    lower: Option<fn(f64) -> f64>,
    /// The quantile of 1 − a small probability.
    upper: fn(f64) -> f64,
}

impl Law {
    fn new(quantile: fn(f64) -> f64, lower: Option<fn(f64) -> f64>, upper: fn(f64) -> f64) -> Self {
        Self { knots: std::array::from_fn(|k| fixed(quantile(k as f64 / CELLS as f64))), lower, upper }
    }

    /// A standard sample, in units of 2^-32 (of a standard deviation, or of the mean).
    #[inline]
    pub(crate) fn sample(&self, bits: u64) -> i64 {
        let cell = (bits >> (64 - CELL_BITS)) as usize;
        if cell == CELLS - 1 || cell == 0 {
            return self.sample_tail(bits);
        }
        self.sample_straight(bits)
    }

    /// A sample from an outermost cell.
    #[cold]
    fn sample_tail(&self, bits: u64) -> i64 {
        match self.lower {
            _ if bits >> 63 == 1 => fixed((self.upper)(probability(!bits))),
            Some(lower) => fixed(lower(probability(bits))),
            None => self.sample_straight(bits),
        }
    }

    /// The straight line through the cell's ends.
    #[inline]
    fn sample_straight(&self, bits: u64) -> i64 {
        let cell = (bits >> (64 - CELL_BITS)) as usize;
        let (low, high) = (self.knots[cell], self.knots[cell + 1]);
        let place = (bits << CELL_BITS) >> (64 - PLACE_BITS);
        low + (((high - low) * place as i64) >> PLACE_BITS)
    }
}

/// The middle of the interval of probabilities that `bits` stands for.
fn probability(bits: u64) -> f64 {
    (bits as f64 + 0.5) / 18_446_744_073_709_551_616.0
}

fn fixed(value: f64) -> i64 {
    // The ends of the tables (±∞) are never read; saturate.
    libm::rint(value * ONE) as i64
}

static NORMAL: LazyLock<Law> =
    LazyLock::new(|| Law::new(normal_quantile, Some(normal_quantile), |q| -normal_quantile(q)));
static EXPONENTIAL: LazyLock<Law> = LazyLock::new(|| Law::new(|p| -libm::log1p(-p), None, |q| -libm::log(q)));

/// The standard normal law.
pub(crate) fn normal() -> &'static Law {
    &NORMAL
}

/// The exponential law of mean 1.
pub(crate) fn exponential() -> &'static Law {
    &EXPONENTIAL
}

/// `scale` · sample, rounded to the nearest whole unit of `scale`.
#[inline]
pub(crate) fn scaled(scale: i64, sample: i64) -> i64 {
    ((i128::from(scale) * i128::from(sample) + (1 << 31)) >> 32) as i64
}

/// Quantile of the standard normal law, relative accuracy 1e-15 (Wichura, algorithm AS 241, PPND16,
/// Applied Statistics 37 (1988) 477–484).
fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * ratio(
            r,
            &[
                3.387_132_872_796_366_5,
                133.141_667_891_784_38,
                1_971.590_950_306_551_3,
                13_731.693_765_509_46,
                45_921.953_931_549_87,
                67_265.770_927_008_7,
                33_430.575_583_588_13,
                2_509.080_928_730_122_7,
            ],
            &[
                1.0,
                42.313_330_701_600_91,
                687.187_007_492_057_9,
                5_394.196_021_424_751,
                21_213.794_301_586_597,
                39_307.895_800_092_71,
                28_729.085_735_721_943,
                5_226.495_278_852_545,
            ],
        );
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    if tail <= 0.0 {
        return if q < 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    let r = libm::sqrt(-libm::log(tail));
    let magnitude = if r <= 5.0 {
        ratio(
            r - 1.6,
            &[
                1.423_437_110_749_683_5,
                4.630_337_846_156_546,
                5.769_497_221_460_691,
                3.647_848_324_763_204_5,
                1.270_458_252_452_368_4,
                0.241_780_725_177_450_6,
                0.022_723_844_989_269_184,
                7.745_450_142_783_414e-4,
            ],
            &[
                1.0,
                2.053_191_626_637_759,
                1.676_384_830_183_803_8,
                0.689_767_334_985_1,
                0.148_103_976_427_480_08,
                0.015_198_666_563_616_457,
                5.475_938_084_995_345e-4,
                1.050_750_071_644_416_9e-9,
            ],
        )
    } else {
        ratio(
            r - 5.0,
            &[
                6.657_904_643_501_103,
                5.463_784_911_164_114,
                1.784_826_539_917_291_3,
                0.296_560_571_828_504_87,
                0.026_532_189_526_576_124,
                0.001_242_660_947_388_078_4,
                2.711_555_568_743_487_6e-5,
                2.010_334_399_292_288_1e-7,
            ],
            &[
                1.0,
                0.599_832_206_555_888,
                0.136_929_880_922_735_8,
                0.014_875_361_290_850_615,
                7.868_691_311_456_133e-4,
                1.846_318_317_510_054_8e-5,
                1.421_511_758_316_446e-7,
                2.044_263_103_389_939_8e-15,
            ],
        )
    };
    if q < 0.0 { -magnitude } else { magnitude }
}

/// Ratio of two polynomials, coefficients from the constant up.
fn ratio(x: f64, num: &[f64; 8], den: &[f64; 8]) -> f64 {
    let horner = |c: &[f64; 8]| c.iter().rev().fold(0.0, |sum, k| sum * x + k);
    horner(num) / horner(den)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Distribution, Exp1, StandardNormal};
    use rand_xoshiro::SplitMix64;
    use rand_xoshiro::rand_core::SeedableRng;
    use statrs::distribution::{ContinuousCDF, Exp, Normal};

    use crate::rng::Key;

    /// Samples the whole range of draws evenly and compares with another library's distribution function.
    fn greatest_difference(law: &Law, cdf: impl Fn(f64) -> f64) -> f64 {
        const STEPS: u64 = 1 << 20;
        (0..STEPS)
            .map(|k| {
                let bits = k * (u64::MAX / STEPS) + (u64::MAX / STEPS) / 2;
                (cdf(law.sample(bits) as f64 / ONE) - probability(bits)).abs()
            })
            .fold(0.0, f64::max)
    }

    #[test]
    fn tables_follow_their_laws() {
        let standard = Normal::new(0.0, 1.0).unwrap();
        assert!(greatest_difference(normal(), |x| standard.cdf(x)) < 3e-5);
        let unit = Exp::new(1.0).unwrap();
        assert!(greatest_difference(exponential(), |x| unit.cdf(x)) < 3e-5);
    }

    /// The two-sample Kolmogorov–Smirnov distance.
    fn distance(mut a: Vec<f64>, mut b: Vec<f64>) -> f64 {
        a.sort_by(f64::total_cmp);
        b.sort_by(f64::total_cmp);
        let share_below = |x: f64| b.partition_point(|y| *y <= x) as f64 / b.len() as f64;
        a.iter().enumerate().map(|(k, x)| ((k + 1) as f64 / a.len() as f64 - share_below(*x)).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn samples_are_those_of_the_ecosystem_s_samplers() {
        const N: u64 = 100_000;
        let ours = |law: &Law| (0..N).map(|k| law.sample(Key::root(5, 0).bits(k)) as f64 / ONE).collect::<Vec<_>>();
        let mut generator = SplitMix64::seed_from_u64(6);
        let normals = (0..N).map(|_| StandardNormal.sample(&mut generator)).collect();
        let exponentials = (0..N).map(|_| Exp1.sample(&mut generator)).collect();
        // The distance that two samples of one law exceed once in a hundred times; the seeds are fixed.
        let limit = 1.63 * (2.0 / N as f64).sqrt();
        assert!(distance(ours(normal()), normals) < limit);
        assert!(distance(ours(exponential()), exponentials) < limit);
    }

    #[test]
    fn tails_are_not_cut() {
        // P = 2^-40 lies 7.05 standard deviations below 0; the first draw of all 9.1.
        let far = normal().sample(1 << 24) as f64 / ONE;
        assert!((far + 7.048).abs() < 0.01, "{far}");
        assert!(normal().sample(0) < -(9.0 * ONE) as i64 && normal().sample(u64::MAX) > (9.0 * ONE) as i64);
        assert!((exponential().sample(u64::MAX) as f64 / ONE - 45.05).abs() < 0.1);
        assert_eq!(exponential().sample(0), 0);
    }

    #[test]
    fn samples_are_monotone_in_the_draw() {
        for law in [normal(), exponential()] {
            let mut last = i64::MIN;
            for k in 0..1_u64 << 16 {
                let value = law.sample(k << 48);
                assert!(value >= last);
                last = value;
            }
        }
    }

    #[test]
    fn scaling_rounds_to_nearest() {
        assert_eq!(scaled(3, 1 << 31), 2);
        assert_eq!(scaled(-1_000, (1 << 32) + 1), -1_000);
        assert_eq!(scaled(i64::MAX >> 8, 1 << 32), i64::MAX >> 8);
    }
}
