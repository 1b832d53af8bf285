//! Points spread over a box: Latin hypercube and Sobol, each point computed from its number alone.

use nicsim_core::rng::Key;

/// How points are spread over the unit cube.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Each dimension is cut into as many cells as there are points, and each cell holds one.
    LatinHypercube,
    /// The sequence of Sobol in the order of Antonov and Saleev (Gray code), from its first point on.
    Sobol,
}

/// `(degree s, polynomial a, initial direction numbers m)` of dimensions 2 and up: S. Joe and F. Y. Kuo, "Constructing
/// Sobol sequences with better two-dimensional projections", SIAM J. Sci. Comput. 30 (2008), table `new-joe-kuo-6`.
const POLYNOMIALS: [(u32, u32, &[u32]); 20] = [
    (1, 0, &[1]),
    (2, 1, &[1, 3]),
    (3, 1, &[1, 3, 1]),
    (3, 2, &[1, 1, 1]),
    (4, 1, &[1, 1, 3, 3]),
    (4, 4, &[1, 3, 5, 13]),
    (5, 2, &[1, 1, 5, 5, 17]),
    (5, 4, &[1, 1, 5, 5, 5]),
    (5, 7, &[1, 1, 7, 11, 19]),
    (5, 11, &[1, 1, 5, 1, 1]),
    (5, 13, &[1, 1, 1, 3, 11]),
    (5, 14, &[1, 3, 5, 5, 31]),
    (6, 1, &[1, 3, 3, 9, 7, 49]),
    (6, 13, &[1, 1, 1, 15, 21, 21]),
    (6, 16, &[1, 3, 1, 13, 27, 49]),
    (6, 19, &[1, 1, 1, 15, 7, 5]),
    (6, 22, &[1, 3, 1, 15, 13, 25]),
    (6, 25, &[1, 1, 5, 5, 19, 61]),
    (7, 1, &[1, 3, 7, 11, 23, 15, 103]),
    (7, 4, &[1, 3, 7, 13, 13, 15, 69]),
];

/// Most paths that a Sobol sample takes.
pub const SOBOL_DIMENSIONS: usize = POLYNOMIALS.len() + 1;

/// One coordinate of all points of a sample.
#[derive(Debug, Clone, PartialEq)]
pub enum Coordinate {
    /// Of a Latin hypercube.
    LatinHypercube {
        /// Which cell each point has.
        order: Permutation,
        /// Where in its cell each point lies.
        place: Key,
    },
    /// Of a Sobol sequence.
    Sobol {
        /// Direction numbers, 2^-1 first.
        directions: [u32; 32],
    },
}

impl Coordinate {
    /// Coordinate `dimension` of `points` points; Latin hypercubes differ by `key`.
    pub fn new(method: Method, dimension: usize, points: u64, key: Key) -> Self {
        let key = key.child(dimension as u64);
        match method {
            Method::LatinHypercube => Self::LatinHypercube {
                order: Permutation { size: points, key: key.named("order") },
                place: key.named("place"),
            },
            Method::Sobol => Self::Sobol { directions: directions(dimension) },
        }
    }

    /// The coordinate of point `index`, 0 ≤ u < 1.
    pub fn at(&self, index: u64) -> f64 {
        match self {
            Self::LatinHypercube { order, place } => {
                (order.at(index) as f64 + unit(place.bits(index))) / order.size as f64
            }
            Self::Sobol { directions } => {
                let gray = index ^ (index >> 1);
                let bits = directions.iter().enumerate().filter(|(bit, _)| gray >> bit & 1 == 1);
                f64::from(bits.fold(0, |sum, (_, direction)| sum ^ direction)) / 4_294_967_296.0
            }
        }
    }
}

fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

fn directions(dimension: usize) -> [u32; 32] {
    let mut directions: [u32; 32] = std::array::from_fn(|bit| 1 << (31 - bit));
    let Some(&(degree, polynomial, initial)) = dimension.checked_sub(1).and_then(|row| POLYNOMIALS.get(row)) else {
        return directions;
    };
    let s = degree as usize;
    for (bit, m) in initial.iter().enumerate() {
        directions[bit] = m << (31 - bit);
    }
    for bit in s..32 {
        let mut direction = directions[bit - s] ^ (directions[bit - s] >> s);
        for k in 1..s {
            if polynomial >> (s - 1 - k) & 1 == 1 {
                direction ^= directions[bit - k];
            }
        }
        directions[bit] = direction;
    }
    directions
}

/// A permutation of 0 … size − 1 that needs no table: a Feistel network over the next power of four, walked until it
/// comes back into the range (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Permutation {
    size: u64,
    key: Key,
}

/// Four rounds make a Feistel network a strong pseudo-random permutation (Luby and Rackoff); two more are cheap.
const ROUNDS: u64 = 6;

impl Permutation {
    /// Where `index` goes.
    pub fn at(&self, index: u64) -> u64 {
        let half_bits = (64 - self.size.saturating_sub(1).leading_zeros()).div_ceil(2).max(1);
        let mask = (1 << half_bits) - 1;
        let mut value = index;
        loop {
            let (mut left, mut right) = (value >> half_bits, value & mask);
            for round in 0..ROUNDS {
                (left, right) = (right, left ^ (self.key.child(round).bits(right) & mask));
            }
            value = left << half_bits | right;
            if value < self.size {
                return value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sobol_points_are_those_of_scipy() {
        // scipy.stats.qmc.Sobol(8, scramble=False).random(16), dimensions 1, 2, 3, 4 and 8 (scipy 1.17.1).
        let expected = [
            (
                0,
                [
                    0.0, 0.5, 0.75, 0.25, 0.375, 0.875, 0.625, 0.125, 0.1875, 0.6875, 0.9375, 0.4375, 0.3125, 0.8125,
                    0.5625, 0.0625,
                ],
            ),
            (
                1,
                [
                    0.0, 0.5, 0.25, 0.75, 0.375, 0.875, 0.125, 0.625, 0.3125, 0.8125, 0.0625, 0.5625, 0.1875, 0.6875,
                    0.4375, 0.9375,
                ],
            ),
            (
                2,
                [
                    0.0, 0.5, 0.25, 0.75, 0.625, 0.125, 0.875, 0.375, 0.9375, 0.4375, 0.6875, 0.1875, 0.3125, 0.8125,
                    0.0625, 0.5625,
                ],
            ),
            (
                3,
                [
                    0.0, 0.5, 0.25, 0.75, 0.875, 0.375, 0.625, 0.125, 0.4375, 0.9375, 0.1875, 0.6875, 0.5625, 0.0625,
                    0.8125, 0.3125,
                ],
            ),
            (
                7,
                [
                    0.0, 0.5, 0.75, 0.25, 0.875, 0.375, 0.125, 0.625, 0.9375, 0.4375, 0.1875, 0.6875, 0.0625, 0.5625,
                    0.8125, 0.3125,
                ],
            ),
        ];
        for (dimension, column) in expected {
            let coordinate = Coordinate::new(Method::Sobol, dimension, 16, Key::root(1, 0));
            for (index, value) in column.into_iter().enumerate() {
                assert_eq!(coordinate.at(index as u64), value, "dimension {dimension}, point {index}");
            }
        }
    }

    #[test]
    fn every_sobol_dimension_is_balanced() {
        for dimension in 0..SOBOL_DIMENSIONS {
            let coordinate = Coordinate::new(Method::Sobol, dimension, 256, Key::root(1, 0));
            let mut cells: Vec<u64> = (0..256).map(|index| (coordinate.at(index) * 256.0) as u64).collect();
            cells.sort_unstable();
            assert!(cells.iter().enumerate().all(|(cell, &hit)| cell as u64 == hit), "dimension {dimension}");
        }
    }

    proptest! {
        #[test]
        fn a_latin_hypercube_hits_every_cell_once(points in 1_u64..300, dimension in 0_usize..5, seed: u64) {
            let coordinate = Coordinate::new(Method::LatinHypercube, dimension, points, Key::root(seed, 0));
            let mut cells: Vec<u64> = (0..points).map(|index| (coordinate.at(index) * points as f64) as u64).collect();
            cells.sort_unstable();
            prop_assert_eq!(cells, (0..points).collect::<Vec<_>>());
        }
    }
}
