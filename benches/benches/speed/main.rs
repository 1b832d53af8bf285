//! The README's and docs/performance.md's tables: `cargo bench -p nicsim-benches --bench speed` (`-- --smoke` for a short
//! run of every candidate, `-- --sweep` for sweeps alone); with `-- --write` the documents take them over.
//!
//! Within each table all candidates take turns, round by round, so that a neighbour's load falls on all of them alike;
//! the smallest time of each is compared. Absolute times are this machine's, ratios travel.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::panic,
    missing_docs,
    reason = "a program for developers"
)]

use nicsim_benches::page::Page;
use nicsim_benches::scenarios::{self, Record};
use nicsim_models::world::KernelKind;
use nicsim_scenarios::scenario::Scenario;

use crate::table::{Candidate, Timing};

mod bare;
mod hold;
mod memory;
mod nexosim_peer;
mod nexosim_w1;
mod odem_peer;
mod peers;
mod sweep;
mod table;
mod w1;

/// How much is measured.
struct Effort {
    rounds: usize,
    /// Frames of a run in the tables of the port and of W1.
    frames: u64,
    /// At least so many, since each stream has its part in the cost of making the report.
    frames_per_stream: u64,
    holds: usize,
    sizes: &'static [u64],
}

const FULL: Effort = Effort {
    // Many short runs: on a busy machine some of them find it idle.
    rounds: 15,
    frames: 400_000,
    frames_per_stream: 8_000,
    holds: 300_000,
    sizes: &[10_000, 100_000, 1_000_000, 10_000_000, 100_000_000],
};
const SMOKE: Effort =
    Effort { rounds: 2, frames: 64_000, frames_per_stream: 4_000, holds: 20_000, sizes: &[10_000, 1_000_000] };

fn main() {
    if memory::is_child() {
        return;
    }
    let given = |option: &str| std::env::args().any(|argument| argument == option);
    let effort = if given("--smoke") { SMOKE } else { FULL };
    let mut page = Page::default();
    if !given("--sweep") {
        println!("{} rounds in turns; times are the smallest of them unless it says median.", effort.rounds);
        streams(&mut page, &effort);
        cards(&mut page, &effort);
        bare_loop(&mut page, &effort);
        w1_table(&mut page, &effort);
        hold::print(&mut page, effort.rounds, effort.holds);
        memory::print(&mut page, effort.rounds.min(3), effort.sizes);
    }
    sweep::print(&mut page, given("--smoke"));
    if given("--write") {
        page.write();
    }
}

fn kernel<'a>(name: impl Into<String>, scenario: &'a Scenario, kernel: KernelKind) -> Candidate<'a> {
    Candidate::whole(name, scenario.frames(), move || scenarios::report(scenario, kernel))
}

/// Both kernels over the number of streams.
fn streams(page: &mut Page, effort: &Effort) {
    page.section("streams", "Full E830 over the number of streams, ns per frame");
    page.line(&format!(
        "Driver, fetch, compare, release jitter, line, stamps, capture, every recorder; {} rounds in turns.\n",
        effort.rounds
    ));
    let scenarios = [1, 4, 16, 64].map(|streams| {
        let frames = effort.frames.max(streams * effort.frames_per_stream);
        (streams, scenarios::e830("poll-free", streams, frames, Record::All))
    });
    let mut candidates: Vec<Candidate<'_>> = scenarios
        .iter()
        .flat_map(|(_, scenario)| [KernelKind::Slots, KernelKind::Reference].map(|kind| kernel("", scenario, kind)))
        .collect();
    let timings = table::rounds(effort.rounds, &mut candidates);
    page.head(&["streams", "frames", "slots", "median", "M frames/s", "heap reference", "median", "heap : slots"]);
    for ((streams, scenario), pair) in scenarios.iter().zip(timings.chunks(2)) {
        let (slots, heap) = (&pair[0], &pair[1]);
        page.row(&[
            streams.to_string(),
            scenario.frames().to_string(),
            table::ns(slots.smallest),
            table::ns(slots.median),
            format!("{:.2}", 1_000.0 / slots.smallest),
            table::ns(heap.smallest),
            table::ns(heap.median),
            table::times(heap.smallest / slots.smallest),
        ]);
    }
    let worst = |streams: &[u64], figure: fn(&[Timing]) -> f64| {
        let of = scenarios.iter().zip(timings.chunks(2)).filter(|((count, _), _)| streams.contains(count));
        of.map(|(_, pair)| figure(pair)).reduce(f64::max).unwrap()
    };
    goals_head(page);
    at_most(page, "1 to 16 streams [ns per frame]", worst(&[1, 4, 16], |pair| pair[0].smallest), 50.0);
    at_most(page, "64 streams [ns per frame]", worst(&[64], |pair| pair[0].smallest), 65.0);
    let ratio = worst(&[1, 4, 16, 64], |pair| -pair[1].smallest / pair[0].smallest);
    at_least(page, "heap : slots, the smallest", -ratio, 4.0);
}

/// Each card, with every recorder and with none.
fn cards(page: &mut Page, effort: &Effort) {
    page.section("cards", "Each card, one stream, ns per frame");
    let names = ["e830, poll-free", "e830, poll-51.2-locked", "e830, iid", "generic-1g, no launch times"];
    let scenarios = |record| {
        let e830 = |jitter| scenarios::e830(jitter, 1, effort.frames, record);
        [e830("poll-free"), e830("poll-51.2-locked"), e830("iid"), scenarios::generic_1g(effort.frames, record)]
    };
    let (all, nothing) = (scenarios(Record::All), scenarios(Record::Nothing));
    let mut candidates: Vec<Candidate<'_>> = all
        .iter()
        .zip(&nothing)
        .flat_map(|(all, nothing)| {
            [
                kernel("", all, KernelKind::Slots),
                kernel("", nothing, KernelKind::Slots),
                kernel("", all, KernelKind::Reference),
            ]
        })
        .collect();
    let timings = table::rounds(effort.rounds, &mut candidates);
    page.head(&[
        "card and jitter",
        "every recorder",
        "median",
        "no recorder",
        "recorders cost",
        "heap reference",
        "heap : slots",
    ]);
    for (name, three) in names.iter().zip(timings.chunks(3)) {
        let [all, nothing, heap] = [0, 1, 2].map(|k| three[k].smallest);
        page.row(&[
            (*name).to_owned(),
            table::ns(all),
            table::ns(three[0].median),
            table::ns(nothing),
            table::ns(all - nothing),
            table::ns(heap),
            table::times(heap / all),
        ]);
    }
}

/// The product against a loop of the same model, and against a general engine.
fn bare_loop(page: &mut Page, effort: &Effort) {
    page.section("bare", "Full E830, one stream, against a bare loop and a general engine");
    page.line("The bare loop gives the product's figures of all seven metrics, to the last bit. NeXosim's four models hold the");
    page.line("same rules and record one metric of the seven, with the same figures.\n");
    let scenario = scenarios::e830("poll-free", 1, effort.frames, Record::All);
    bare::check(&scenario);
    nexosim_peer::check(&scenario);
    let mut candidates = [
        Candidate::whole("bare loop", effort.frames, || bare::run(&scenario)),
        kernel("nicsim, slots", &scenario, KernelKind::Slots),
        kernel("nicsim, heap reference", &scenario, KernelKind::Reference),
        Candidate::timed("NeXosim 1.0, four models", || per_frame(nexosim_peer::run(&scenario).1, effort.frames)),
    ];
    let timings = table::rounds(effort.rounds, &mut candidates);
    table::by_the_first(page, &timings, &[]);
    goals_head(page);
    at_most(page, "product : bare loop", timings[1].smallest / timings[0].smallest, 2.0);
    at_most(page, "product [ns per frame]", timings[1].smallest, 25.0);
}

/// W1 in the product, as bare loops, and in the peers.
fn w1_table(page: &mut Page, effort: &Effort) {
    page.section("w1", "W1: submit, fetch, jittered release on 128 ns, stamp at 812.5 MHz, one interval");
    page.line(
        "Bare loop, NeXosim and odem-rs share the draws and rules and give the product's figures, to the last bit; the",
    );
    page.line(&format!(
        "others draw their own, and their figures agree. {} frames; starting processes is not counted.\n",
        effort.frames
    ));
    let frames = effort.frames;
    let scenario = scenarios::w1(frames);
    let product = w1::product(&scenario);
    let six = w1::six(&product);
    w1::check("the bare loop", &w1::bare(frames), &product);
    w1::check("NeXosim, four models", &nexosim_w1::four_models(frames).0, &product);
    w1::check("NeXosim, one model", &nexosim_w1::one_model(frames).0, &product);
    w1::check("odem-rs", &odem_peer::w1(frames), &product);
    w1::check_alike("the loop by hand", &w1::by_hand(frames), &six);
    let mut candidates = vec![
        kernel("nicsim, slots", &scenario, KernelKind::Slots),
        kernel("nicsim, heap reference", &scenario, KernelKind::Reference),
        Candidate::whole("bare loop, same figures", frames, || w1::bare(frames)),
        Candidate::whole("bare loop by hand, other draws", frames, || w1::by_hand(frames)),
        Candidate::timed("NeXosim 1.0, four models", || per_frame(nexosim_w1::four_models(frames).1, frames)),
        Candidate::timed("NeXosim 1.0, one model", || per_frame(nexosim_w1::one_model(frames).1, frames)),
        Candidate::whole("odem-rs 0.4, one process", frames, || odem_peer::w1(frames)),
    ];
    let outside = [
        ("ns-3, map (its default)", peers::ns3("MapScheduler"), frames),
        ("ns-3, priority queue", peers::ns3("PriorityQueueScheduler"), frames),
        // Slow, and no slower or faster with more.
        ("SimPy, one process", peers::python("simpy_w1.py", &[]), frames.min(200_000)),
        ("numpy, plain", peers::python("numpy_w1.py", &["plain"]), frames),
        ("numpy, tuned blocks", peers::python("numpy_w1.py", &["blocks"]), frames),
    ];
    let mut absent = Vec::new();
    for (name, peer, frames) in outside {
        match peer {
            Ok(program) => candidates.push(Candidate::timed(name, move || {
                let (ns, figures) = program.w1(frames);
                w1::check_alike(name, &figures, &six);
                ns
            })),
            Err(reason) => absent.push((name.to_owned(), reason)),
        }
    }
    let timings = table::rounds(effort.rounds, &mut candidates);
    table::by_the_first(page, &timings, &absent);
    goals(page, &timings);
}

fn goals(page: &mut Page, timings: &[Timing]) {
    let product = timings[0].smallest;
    let smallest_of = |name: &str| {
        let named = timings.iter().filter(|timing| timing.name.starts_with(name));
        named.map(|timing| timing.smallest).reduce(f64::min)
    };
    goals_head(page);
    for name in ["bare loop, same figures", "bare loop by hand"] {
        if let Some(bare) = smallest_of(name) {
            at_most(page, &format!("product : {name}"), product / bare, 3.0);
        }
    }
    for (name, goal) in [("ns-3", 14.0), ("NeXosim 1.0, four models", 50.0), ("odem-rs", 5.0), ("numpy, plain", 5.0)] {
        if let Some(peer) = smallest_of(name) {
            at_least(page, &format!("{name} : product"), peer / product, goal);
        }
    }
}

pub(crate) fn goals_head(page: &mut Page) {
    page.line("");
    page.head(&["goal", "wanted", "measured", ""]);
}

pub(crate) fn at_most(page: &mut Page, what: &str, ratio: f64, goal: f64) {
    goal_row(page, what, &format!("at most {goal}"), ratio, ratio <= goal);
}

pub(crate) fn at_least(page: &mut Page, what: &str, ratio: f64, goal: f64) {
    goal_row(page, what, &format!("at least {goal}"), ratio, ratio >= goal);
}

fn goal_row(page: &mut Page, what: &str, goal: &str, ratio: f64, met: bool) {
    let word = if met { "met" } else { "missed" };
    page.row(&[what.to_owned(), goal.to_owned(), table::times(ratio), word.to_owned()]);
}

fn per_frame(elapsed: std::time::Duration, frames: u64) -> f64 {
    elapsed.as_nanos() as f64 / frames as f64
}
