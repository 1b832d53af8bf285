//! Points that no other point beats in two figures at once.

/// Most points of a front that are kept.
pub const MOST: usize = 4_096;

/// A point of the front.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// Its number.
    pub point: u64,
    /// Its settings, as places along the axes.
    pub settings: Vec<f64>,
    /// Its two figures.
    pub figures: [f64; 2],
    /// How many later points have just these figures.
    pub equal: u64,
}

/// The front of two figures: in order of the first one, the second one gets better where the first gets worse.
#[derive(Debug, Clone)]
pub struct Front {
    /// Places of the figures among the figures.
    pub figures: [usize; 2],
    /// Is more better? By default less is.
    pub more: [bool; 2],
    /// Its points, those best in the first figure first.
    pub points: Vec<Best>,
    /// Points were left out of it, since it has too many.
    pub is_thinned: bool,
}

impl Front {
    /// None yet.
    pub fn new(figures: [usize; 2], more: [bool; 2]) -> Self {
        Self { figures, more, points: Vec::new(), is_thinned: false }
    }

    /// The figures such that less is better.
    fn cost(&self, figures: [f64; 2]) -> [f64; 2] {
        [0, 1].map(|side| if self.more[side] { -figures[side] } else { figures[side] })
    }

    /// Takes a point, if none that is there is as good, and lets those go that it beats.
    pub fn take(&mut self, point: u64, settings: &[f64], figures: [f64; 2]) {
        if figures.iter().any(|figure| !figure.is_finite()) {
            return;
        }
        let cost = self.cost(figures);
        let place = self.points.partition_point(|best| self.cost(best.figures)[0] < cost[0]);
        if let Some(same) = self.points.get_mut(place).filter(|best| best.figures == figures) {
            same.equal += 1;
            return;
        }
        let beaten_by = |best: &Best| self.cost(best.figures)[1] <= cost[1];
        let before = place.checked_sub(1).and_then(|before| self.points.get(before));
        let level = self.points.get(place).filter(|best| self.cost(best.figures)[0] == cost[0]);
        if before.into_iter().chain(level).any(beaten_by) {
            return;
        }
        let beats = |best: &&Best| self.cost(best.figures)[1] >= cost[1];
        let beaten = self.points[place..].iter().take_while(beats).count();
        let best = Best { point, settings: settings.to_vec(), figures, equal: 0 };
        self.points.splice(place..place + beaten, [best]);
        if self.points.len() > MOST {
            self.thin();
        }
    }

    /// Every second point goes; the ends stay.
    fn thin(&mut self) {
        self.is_thinned = true;
        let last = self.points.len() - 1;
        let mut place = 0;
        self.points.retain(|_| {
            place += 1;
            (place - 1) % 2 == 0 || place - 1 == last
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_front_is_what_no_other_point_beats(values in proptest::collection::vec((0_u8..20, 0_u8..20), 1..60), more: [bool; 2]) {
            let mut front = Front::new([0, 1], more);
            for (point, (a, b)) in values.iter().enumerate() {
                front.take(point as u64, &[], [f64::from(*a), f64::from(*b)]);
            }
            let better = |side: usize, a: u8, b: u8| if more[side] { a >= b } else { a <= b };
            let mut naive: Vec<(u8, u8)> = values.iter().copied().filter(|(a, b)| {
                !values.iter().any(|(c, d)| (c, d) != (a, b) && better(0, *c, *a) && better(1, *d, *b))
            }).collect();
            naive.sort_unstable();
            naive.dedup();
            let mut found: Vec<(u8, u8)> = front.points.iter().map(|best| (best.figures[0] as u8, best.figures[1] as u8)).collect();
            found.sort_unstable();
            prop_assert_eq!(found, naive);
        }
    }

    #[test]
    fn an_endless_front_is_thinned_and_says_so() {
        let mut front = Front::new([0, 1], [false, false]);
        (0..20_000).for_each(|k| front.take(k, &[], [k as f64, -(k as f64)]));
        assert!(front.is_thinned && front.points.len() <= MOST);
        assert_eq!((front.points[0].point, front.points.last().map(|best| best.point)), (0, Some(19_999)));
    }
}
