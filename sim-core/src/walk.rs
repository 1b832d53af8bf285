//! A random walk that can be asked anywhere.
//!
//! `W(0) = 0`, and the steps `W(i + 1) − W(i)` are independent normal. Lévy's construction makes `W(i)` a
//! pure function of (key, i): the far end of an interval is drawn first, then midpoint by midpoint,
//!
//! ```text
//! W(mid) = (W(left) + W(right)) / 2 + step · √length / 2 · N(0, 1)
//! ```
//!
//! Who asks, how often and in which order changes nothing, and an answer `n` steps from the last one costs
//! about log2(n) draws (P. Lévy, Processus stochastiques et mouvement brownien, 1948).

use crate::law::{self, Law};
use crate::rng::Key;
use crate::time::Span;

/// The walk has 2^LEVELS steps: over 300 days at one step every 25 us; instants end after 106.
const LEVELS: usize = 40;
/// Values are kept in 2^-10 ps, so that forty halvings lose less than a tenth of a picosecond.
const FRACTION_BITS: u32 = 10;

/// A random walk over the whole numbers from 0 to 2^40, standard deviation `step` per step.
#[derive(Debug, Clone)]
pub struct Walk {
    /// The walk at 0 and at 2^40.
    whole: Interval,
    /// Level `i` is made of intervals of 2^i steps; here, of each, the one that holds the last position asked for.
    levels: [Level; LEVELS],
    last: u64,
    normal: &'static Law,
}

/// The walk at both ends of an interval [2^-10 ps].
type Interval = (i64, i64);

#[derive(Debug, Clone, Copy)]
struct Level {
    /// Draws the points that halve the intervals of the level above.
    key: Key,
    /// step · √(2^(i + 1)) / 2 in 2^-10 ps.
    scale: i64,
    interval: Interval,
}

impl Walk {
    /// The walk of `key` with normal steps of standard deviation `step`.
    pub fn new(key: Key, step: Span) -> Self {
        let unit = step.as_ps() as f64 * f64::from(1_u32 << FRACTION_BITS);
        let scale = |level: usize| libm::rint(unit * libm::sqrt(libm::exp2(level as f64)) / 2.0) as i64;
        let level = |i: usize| Level { key: key.child(i as u64 + 1), scale: scale(i + 1), interval: (0, 0) };
        // The far end is one step of the coarsest walk: twice the bridge's scale.
        let normal = law::normal();
        let end = law::scaled(2 * scale(LEVELS), normal.sample(key.named("end").bits(0)));
        let mut walk = Self { whole: (0, end), levels: std::array::from_fn(level), last: 0, normal };
        walk.descend(LEVELS, 0);
        walk
    }

    /// The walk at `position`; positions beyond 2^40 repeat from 0.
    #[inline]
    pub fn at(&mut self, position: u64) -> Span {
        let position = position & ((1 << LEVELS) - 1);
        let changed = position ^ self.last;
        if changed != 0 {
            self.descend(64 - changed.leading_zeros() as usize, position);
            self.last = position;
        }
        Span::from_ps(self.levels[0].interval.0 >> FRACTION_BITS)
    }

    /// Refreshes the intervals that hold `position` on the lowest `levels` levels.
    fn descend(&mut self, levels: usize, position: u64) {
        let (mut left, mut right) = self.levels.get(levels).map_or(self.whole, |above| above.interval);
        for (i, level) in self.levels[..levels].iter_mut().enumerate().rev() {
            let draw = self.normal.sample(level.key.bits(position >> (i + 1)));
            let middle = ((left + right) >> 1) + law::scaled(level.scale, draw);
            let in_upper_half = (position >> i) & 1 == 1;
            (left, right) = if in_upper_half { (middle, right) } else { (left, middle) };
            level.interval = (left, right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn walk(seed: u64) -> Walk {
        Walk::new(Key::root(seed, 0).named("walk"), Span::from_ps(1_000))
    }

    proptest! {
        #[test]
        fn the_order_of_questions_changes_nothing(seed: u64, positions in proptest::collection::vec(0_u64..1 << 40, 1..50)) {
            let mut asked_in_turn = walk(seed);
            for &position in &positions {
                prop_assert_eq!(asked_in_turn.at(position), walk(seed).at(position));
            }
        }
    }

    #[test]
    fn steps_are_independent_and_have_the_stated_deviation() {
        let mut walk = walk(7);
        assert_eq!(walk.at(0), Span::ZERO);
        for stride in [1_u64, 4, 100, 4_096] {
            let n = 20_000;
            let values: Vec<f64> = (0..=n).map(|k| walk.at(k * stride).as_ps() as f64).collect();
            let steps: Vec<f64> = values.windows(2).map(|w| w[1] - w[0]).collect();
            let variance = steps.iter().map(|s| s * s).sum::<f64>() / steps.len() as f64;
            let expected = 1e6 * stride as f64;
            // The variance of n normal squares: ±√(2/n) = 1 %; five of them.
            assert!((variance / expected - 1.0).abs() < 0.05, "stride {stride}: {variance}");
            let lag1 = steps.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / steps.len() as f64 / variance;
            assert!(lag1.abs() < 0.035, "stride {stride}: {lag1}");
        }
    }
}
