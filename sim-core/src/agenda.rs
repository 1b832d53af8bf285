//! The agenda: one slot per source, each holding the source's next instant.
//!
//! A discrete-event simulation of a port needs no event queue: what can happen next is a small, known set
//! (each stream's next submit, each queue's head). Every source keeps its next instant in its slot, and the earliest
//! slot is what happens next. At equal instants the lower slot goes first, so the order of the slots is the tie order
//! of the model.
//!
//! A tournament over the slots: every match keeps its winner's instant beside the slot, so that a change plays again
//! the log2(n) matches above its slot, reads one rival for each and branches nowhere. One slot has no match at all.

use crate::time::SimTime;

/// Next instants of a fixed number of sources.
#[derive(Debug, Clone)]
pub struct Agenda {
    /// The winner of match `i` between nodes `2 i` and `2 i + 1`; the slots themselves from `leaves` on, padded with
    /// some that never come. Node 1 is the winner of all.
    nodes: Vec<(SimTime, usize)>,
    leaves: usize,
}

impl Agenda {
    /// An agenda of `sources` slots, all at never.
    pub fn new(sources: usize) -> Self {
        let leaves = sources.next_power_of_two();
        let mut agenda = Self { nodes: vec![(SimTime::NEVER, 0); 2 * leaves], leaves };
        (0..leaves).rev().for_each(|slot| agenda.set(slot, SimTime::NEVER));
        agenda
    }

    /// The instant in `slot`.
    #[inline]
    pub fn get(&self, slot: usize) -> SimTime {
        self.nodes[self.leaves + slot].0
    }

    /// The earliest instant and its slot; the lowest slot where several are equal.
    #[inline]
    pub fn first(&self) -> (SimTime, usize) {
        self.nodes[1]
    }

    /// Puts `instant` into `slot`.
    #[inline]
    pub fn set(&mut self, slot: usize, instant: SimTime) {
        let mut node = self.leaves + slot;
        let mut winner = (instant, slot);
        self.nodes[node] = winner;
        while node > 1 {
            winner = winner.min(self.nodes[node ^ 1]);
            node /= 2;
            self.nodes[node] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_lowest_of_the_earliest_slots_is_first(
            sources in 1_usize..200,
            changes in proptest::collection::vec((0_usize..200, 0_i64..20), 1..400),
        ) {
            let mut agenda = Agenda::new(sources);
            let mut plain = vec![SimTime::NEVER; sources];
            for (slot, ps) in changes {
                let instant = if ps == 19 { SimTime::NEVER } else { SimTime::from_ps(ps) };
                agenda.set(slot % sources, instant);
                plain[slot % sources] = instant;
                let expected = plain.iter().enumerate().min_by_key(|(slot, instant)| (**instant, *slot)).unwrap();
                prop_assert_eq!(agenda.first().0, *expected.1);
                if *expected.1 != SimTime::NEVER {
                    prop_assert_eq!(agenda.first().1, expected.0);
                }
            }
        }
    }
}
