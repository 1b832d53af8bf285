//! A bounded number of many: those whose hashes are smallest. It is the same whatever order they come in, and, unlike
//! every n-th of them, does not beat against the steps of a grid.

use std::collections::BinaryHeap;

/// A hash of a run's place (the finaliser of SplitMix64; Steele, Lea and Flood 2014).
pub fn mix(point: u64, repetition: u64) -> u64 {
    let mut z = point.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(repetition.wrapping_mul(0xD1B5_4A32_D192_ED03));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// At most so many entries, those with the smallest hashes.
#[derive(Debug, Clone)]
pub struct Pick<T: Ord> {
    heap: BinaryHeap<(u64, T)>,
    most: usize,
}

impl<T: Ord> Pick<T> {
    /// None yet.
    pub fn new(most: usize) -> Self {
        Self { heap: BinaryHeap::new(), most: most.max(1) }
    }

    /// Takes an entry, or leaves it; the entry is made only if it is taken.
    pub fn take(&mut self, hash: u64, entry: impl FnOnce() -> T) {
        if self.heap.len() < self.most {
            self.heap.push((hash, entry()));
        } else if self.heap.peek().is_some_and(|(largest, _)| hash < *largest) {
            self.heap.pop();
            self.heap.push((hash, entry()));
        }
    }

    /// What was picked, in any order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.heap.iter().map(|(_, entry)| entry)
    }
}

/// Many numbers: their count, sum and extremes exactly, and a bounded number of them for the rest.
#[derive(Debug, Clone)]
pub struct Values {
    picked: Pick<u64>,
    /// How many there are.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
    /// The smallest; infinite where there is none.
    pub low: f64,
    /// The largest; infinite where there is none.
    pub high: f64,
}

impl Values {
    /// None yet; quantiles are exact for up to `most`.
    pub fn new(most: usize) -> Self {
        Self { picked: Pick::new(most), count: 0, sum: 0.0, low: f64::INFINITY, high: f64::NEG_INFINITY }
    }

    /// Takes a value; what is not a number is none.
    pub fn take(&mut self, hash: u64, value: f64) {
        if value.is_finite() {
            self.count += 1;
            self.sum += value;
            self.low = self.low.min(value);
            self.high = self.high.max(value);
            self.picked.take(hash, || value.to_bits());
        }
    }

    /// Their mean.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// Quantiles of those that were picked, linear between neighbours.
    pub fn quantiles<const N: usize>(&self, shares: [f64; N]) -> Option<[f64; N]> {
        let mut sorted: Vec<f64> = self.picked.iter().map(|bits| f64::from_bits(*bits)).collect();
        sorted.sort_by(f64::total_cmp);
        (!sorted.is_empty()).then(|| shares.map(|share| quantile(&sorted, share)))
    }
}

/// A quantile of sorted values, of which there is at least one.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len().saturating_sub(1)) as f64;
    let below = sorted.get(place as usize).copied().unwrap_or(f64::NAN);
    let above = sorted.get(place as usize + 1).copied().unwrap_or(below);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_picked_does_not_depend_on_the_order() {
        let picked = |indices: &mut dyn Iterator<Item = u64>| {
            let mut values = Values::new(50);
            indices.for_each(|index| values.take(mix(index, 0), index as f64));
            (values.count, values.low, values.high, values.quantiles([0.1, 0.5, 0.9]))
        };
        assert_eq!(picked(&mut (0..10_000)), picked(&mut (0..10_000).rev()));
        let (count, low, high, quantiles) = picked(&mut (0..10_000));
        assert_eq!((count, low, high), (10_000, 0.0, 9_999.0));
        assert!((3_000.0..7_000.0).contains(&quantiles.unwrap()[1]));
    }

    #[test]
    fn a_pick_does_not_beat_against_a_grid() {
        let mut pick = Pick::new(1_000);
        (0..65_536).for_each(|index| pick.take(mix(index, 0), || index % 64));
        let mut seen = [0; 64];
        pick.iter().for_each(|place| seen[*place as usize] += 1);
        assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
    }

    #[test]
    fn quantiles_are_those_of_numpy() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        for (share, value) in [(0.0, 1.0), (0.5, 3.0), (0.9, 6.8), (1.0, 8.0)] {
            // 0.9 · 3 is no whole number of binary places.
            assert!((quantile(&sorted, share) - value).abs() < 1e-12, "{share}");
        }
    }
}
