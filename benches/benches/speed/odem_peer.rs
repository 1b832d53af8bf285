//! W1 as one process of odem-rs, with the shared rules inside.

use std::cell::Cell;

use nicsim_core::stats::Summary;
use nicsim_core::time::SimTime;
use odem_rs::prelude::*;

use crate::w1::{FETCH_NS, INTERVAL_NS, Intervals, Rules};

#[derive(Config, Default)]
#[time(i64)]
struct Card {
    frames: Cell<u64>,
    figures: Cell<Option<Summary>>,
}

/// Runs W1; the engine's clock counts picoseconds.
pub(crate) fn w1(frames: u64) -> Summary {
    let card = Simulator::new(Card { frames: Cell::new(frames), ..Card::default() });
    let ended = card.run(async |sim: &Sim<Card>| {
        let (mut rules, mut intervals) = (Rules::new(), Intervals::new());
        for number in 0..sim.global().frames.get() {
            sim.advance_to((number * INTERVAL_NS * 1_000) as i64).await;
            sim.advance((FETCH_NS * 1_000) as i64).await;
            sim.advance_to(rules.release(number, SimTime::from_ps(sim.now())).as_ps()).await;
            intervals.take(number, rules.stamp(SimTime::from_ps(sim.now())));
        }
        sim.global().figures.set(Some(intervals.summary()));
    });
    ended.unwrap();
    card.into_inner().figures.take().unwrap()
}
