//! The agenda: one slot per source, each holding the source's next instant.
//!
//! A discrete-event simulation of a port needs no event queue: what can happen next is a small, known set
//! (each stream's next submit, each queue's next fetch, the transmitter). Every source keeps its next
//! instant in its slot, and the earliest slot is what happens next. At equal instants the lower slot goes
//! first, so the order of the slots is the tie order of the model.
//!
//! The earliest slot is known at any time. Up to [`SCAN_LIMIT`] slots, putting it off costs a scan and every other change
//! a comparison; above, a winner tree over the slots makes a change O(log n) (`benches/` measures both).

use crate::time::SimTime;

/// Up to this many slots the minimum is found by a scan.
pub const SCAN_LIMIT: usize = 16;

/// Next instants of a fixed number of sources.
#[derive(Debug, Clone)]
pub struct Agenda {
    slots: Vec<SimTime>,
    /// The earliest instant and its slot.
    first: (SimTime, usize),
    /// Winner tree: node `i` holds the slot that wins below it; leaves are implied. Empty while a scan is used.
    winners: Vec<u32>,
    leaves: usize,
}

impl Agenda {
    /// An agenda of `sources` slots, all at never.
    pub fn new(sources: usize) -> Self {
        let leaves = sources.next_power_of_two();
        let mut agenda = Self {
            slots: vec![SimTime::NEVER; if sources > SCAN_LIMIT { leaves } else { sources }],
            first: (SimTime::NEVER, 0),
            winners: Vec::new(),
            leaves,
        };
        if sources > SCAN_LIMIT {
            agenda.winners = vec![0; leaves];
            for node in (1..leaves).rev() {
                agenda.winners[node] = agenda.winner_of(node);
            }
        }
        agenda
    }

    /// The instant in `slot`.
    #[inline]
    pub fn get(&self, slot: usize) -> SimTime {
        self.slots[slot]
    }

    /// The earliest instant and its slot; the lowest slot where several are equal.
    #[inline]
    pub fn first(&self) -> (SimTime, usize) {
        self.first
    }

    /// Puts `instant` into `slot`.
    #[inline]
    pub fn set(&mut self, slot: usize, instant: SimTime) {
        self.slots[slot] = instant;
        if !self.winners.is_empty() {
            self.climb(slot);
            let winner = self.winners[1] as usize;
            self.first = (self.slots[winner], winner);
        } else if (instant, slot) < self.first {
            self.first = (instant, slot);
        } else if slot == self.first.1 {
            self.first = self.scan();
        }
    }

    /// The earliest of all slots, looked for.
    fn scan(&self) -> (SimTime, usize) {
        let mut best = (SimTime::NEVER, 0);
        for (slot, &instant) in self.slots.iter().enumerate() {
            if instant < best.0 {
                best = (instant, slot);
            }
        }
        best
    }

    /// Plays the matches above `slot` again, up to the first one that it has no part in, neither before nor now.
    fn climb(&mut self, slot: usize) {
        let mut node = (self.leaves + slot) / 2;
        while node >= 1 {
            let winner = self.winner_of(node);
            if winner == self.winners[node] && winner as usize != slot {
                return;
            }
            self.winners[node] = winner;
            node /= 2;
        }
    }

    fn winner_of(&self, node: usize) -> u32 {
        let (left, right) = (self.entrant(2 * node), self.entrant(2 * node + 1));
        // The left child holds the lower slots, so it wins a tie.
        if self.slots[left as usize] <= self.slots[right as usize] { left } else { right }
    }

    fn entrant(&self, child: usize) -> u32 {
        if child >= self.leaves { (child - self.leaves) as u32 } else { self.winners[child] }
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
