//! The seed of each run of a sweep, a function of (master seed, point, repetition).

use nicsim_core::rng::Key;

/// Seeds of the runs of a sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seeds {
    root: Key,
    common: bool,
}

impl Seeds {
    /// Seeds under `master`. With `common` random numbers repetition r of every point has the same seed, so that points
    /// differ by what is swept and not by their luck.
    pub fn new(master: u64, common: bool) -> Self {
        Self { root: Key::root(master, 0).named("sweep"), common }
    }

    /// Seed of one run: `nicsim run --seed` with it repeats the run.
    ///
    /// It stays below 2^53, so that programs that keep numbers as floating point hand it on unharmed.
    pub fn of(self, point: u64, repetition: u64) -> u64 {
        let key = if self.common { self.root } else { self.root.named("point").child(point) };
        key.child(repetition).bits(0) >> 11
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_depend_on_point_and_repetition_or_on_repetition_alone() {
        let (own, common) = (Seeds::new(1, false), Seeds::new(1, true));
        assert_ne!(own.of(0, 0), own.of(1, 0));
        assert_ne!(own.of(0, 0), own.of(0, 1));
        assert_ne!(own.of(0, 1), own.of(1, 0));
        assert_eq!(common.of(0, 3), common.of(7, 3));
        assert_ne!(common.of(0, 3), common.of(0, 4));
        assert_ne!(own.of(0, 0), Seeds::new(2, false).of(0, 0));
        assert_eq!(own.of(0, 0), 6_843_458_061_875_384, "pinned: it must not change between releases");
    }
}
