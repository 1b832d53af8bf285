//! W2, the hold model: n sources, the earliest is taken and put back later by an exponential time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::hint::black_box;

use nicsim_benches::page::Page;
use nicsim_core::agenda::Agenda;
use nicsim_core::rng::Key;
use nicsim_core::time::{SimTime, Span};

use crate::table::{self, Candidate};

/// Waiting times, drawn beforehand: exponential with a mean of 100 us [ps].
fn waits() -> Vec<Span> {
    let key = Key::root(1, 0);
    let wait = |k: u64| {
        let uniform = (key.bits(k) >> 11) as f64 / (1_u64 << 53) as f64;
        Span::from_ps((-(1.0 - uniform).ln() * 1e8) as i64 + 1)
    };
    (0..4_096).map(wait).collect()
}

fn start(sources: usize, waits: &[Span]) -> impl Iterator<Item = (SimTime, usize)> + '_ {
    (0..sources).map(|slot| (SimTime::ZERO + waits[slot % waits.len()], slot))
}

fn agenda(sources: usize, holds: usize, waits: &[Span]) -> SimTime {
    let mut agenda = Agenda::new(sources);
    start(sources, waits).for_each(|(at, slot)| agenda.set(slot, at));
    for k in 0..holds {
        let (now, slot) = agenda.first();
        agenda.set(slot, now + waits[k % waits.len()]);
    }
    agenda.first().0
}

fn heap(sources: usize, holds: usize, waits: &[Span]) -> SimTime {
    let mut heap: BinaryHeap<Reverse<(SimTime, usize)>> = start(sources, waits).map(Reverse).collect();
    for k in 0..holds {
        // The standard library's quickest way: the top is replaced in place.
        let mut top = heap.peek_mut().unwrap();
        top.0.0 += waits[k % waits.len()];
    }
    heap.peek().unwrap().0.0
}

fn tree(sources: usize, holds: usize, waits: &[Span]) -> SimTime {
    let mut tree: BTreeMap<(SimTime, usize), ()> = start(sources, waits).map(|entry| (entry, ())).collect();
    for k in 0..holds {
        let ((now, slot), ()) = tree.pop_first().unwrap();
        tree.insert((now + waits[k % waits.len()], slot), ());
    }
    tree.first_key_value().unwrap().0.0
}

/// Prints W2.
pub(crate) fn print(page: &mut Page, rounds: usize, holds: usize) {
    page.section("w2", "W2: pending events, ns per hold");
    page.line(&format!("{holds} holds of n pending events: the earliest is taken and put back later.\n"));
    page.head(&["sources", "agenda", "binary heap", "B-tree", "heap : agenda"]);
    let waits = waits();
    for sources in [1, 4, 16, 64, 256, 1_024] {
        let end = agenda(sources, holds, &waits);
        assert!(
            end == heap(sources, holds, &waits) && end == tree(sources, holds, &waits),
            "all three queues do the same"
        );
        let holds_ = holds as u64;
        let timings = table::rounds(
            rounds,
            &mut [
                Candidate::whole("agenda", holds_, || agenda(black_box(sources), holds, &waits)),
                Candidate::whole("heap", holds_, || heap(black_box(sources), holds, &waits)),
                Candidate::whole("tree", holds_, || tree(black_box(sources), holds, &waits)),
            ],
        );
        let cells = timings.iter().map(|timing| table::ns(timing.smallest));
        let ratio = table::times(timings[1].smallest / timings[0].smallest);
        page.row(&std::iter::once(sources.to_string()).chain(cells).chain([ratio]).collect::<Vec<_>>());
    }
}
