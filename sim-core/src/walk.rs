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

use crate::law;
use crate::rng::Key;
use crate::time::Span;

/// Intervals of 2^LEVELS steps; later positions are refused by [`Walk::at`]'s caller long before.
const LEVELS: usize = 40;
/// Values are kept in 2^-10 ps, so that forty halvings lose less than a tenth of a picosecond.
const FRACTION_BITS: u32 = 10;

/// A random walk over the whole numbers from 0 to 2^40, standard deviation `step` per step.
#[derive(Debug, Clone)]
pub struct Walk {
    keys: [Key; LEVELS + 1],
    /// step · √(2^level) / 2 in 2^-10 ps.
    scales: [i64; LEVELS + 1],
    /// The walk at both ends of the interval of each level that holds the last position asked for.
    ends: [(i64, i64); LEVELS + 1],
    last: u64,
}

impl Walk {
    /// The walk of `key` with normal steps of standard deviation `step`.
    pub fn new(key: Key, step: Span) -> Self {
        let unit = step.as_ps() as f64 * f64::from(1_u32 << FRACTION_BITS);
        let mut walk = Self {
            keys: std::array::from_fn(|level| key.child(level as u64)),
            scales: std::array::from_fn(|level| libm::rint(unit * libm::sqrt(libm::exp2(level as f64)) / 2.0) as i64),
            ends: [(0, 0); LEVELS + 1],
            last: 0,
        };
        // The far end is one step of the coarsest walk: twice the bridge's scale.
        walk.ends[LEVELS] = (0, law::scaled(2 * walk.scales[LEVELS], law::normal(key.named("end").bits(0))));
        walk.descend(LEVELS, 0);
        walk
    }

    /// The walk at `position`; positions beyond 2^40 repeat from 0.
    pub fn at(&mut self, position: u64) -> Span {
        let position = position & ((1 << LEVELS) - 1);
        let changed = position ^ self.last;
        if changed != 0 {
            self.descend(64 - changed.leading_zeros() as usize, position);
            self.last = position;
        }
        Span::from_ps(self.ends[0].0 >> FRACTION_BITS)
    }

    /// Refreshes the intervals that hold `position` on all levels below `level`.
    fn descend(&mut self, level: usize, position: u64) {
        for level in (1..=level).rev() {
            let (left, right) = self.ends[level];
            let draw = law::normal(self.keys[level].bits(position >> level));
            let middle = ((left + right) >> 1) + law::scaled(self.scales[level], draw);
            let upper_half = (position >> (level - 1)) & 1 == 1;
            self.ends[level - 1] = if upper_half { (middle, right) } else { (left, middle) };
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
