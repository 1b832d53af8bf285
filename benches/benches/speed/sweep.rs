//! W3, a sweep over many points: nicsim's sweeps against loops and peers that do nothing but the same runs.
//!
//! A further candidate is one more entry: nanoseconds per frame of wall time, by threads, points and frames per point.

use std::hint::black_box;
use std::time::Instant;

use nicsim_benches::page::Page;
use nicsim_benches::scenarios;
use nicsim_models::world::KernelKind;
use nicsim_scenarios::sweep::{End, Job, Layout, Memory, Shard, Store, Watch, execute};

use crate::table::{self, Candidate};
use crate::{at_least, goals_head, nexosim_peer, nexosim_w1, peers, w1};

/// How much a sweep does.
#[derive(Clone, Copy)]
struct Sweep {
    threads: u64,
    points: u64,
    frames: u64,
}

struct Nobody;

impl Watch for Nobody {
    fn frames(&self, _: u64) {}
    fn done(&self, _: bool, _: bool) {}
    fn goes_on(&self) -> bool {
        true
    }
}

impl Sweep {
    /// Runs `point` for every point, each thread taking every n-th; answers nanoseconds per frame of wall time.
    fn on_threads(self, point: impl Fn(u64) + Sync) -> f64 {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for thread in 0..self.threads {
                let point = &point;
                scope.spawn(move || (thread..self.points).step_by(self.threads as usize).for_each(point));
            }
        });
        self.per_frame(start)
    }

    /// The same by nicsim's sweeps, from the sweep's text to its records.
    fn by_nicsim(self, scenario: &str) -> f64 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads as usize).build().unwrap();
        let start = Instant::now();
        let sweep = scenarios::sweep(scenario, self.points, self.frames);
        let layout = Layout { hash: sweep.hash(), figures: 1, repeat: 1, shard: Shard::default() };
        let store = Store::new(Memory::default(), Memory::default(), layout);
        let load = scenarios::load;
        let kernel = KernelKind::Slots;
        let job = Job { sweep: &sweep, store: &store, load: &load, complete: &|_| {}, kernel, watch: &Nobody };
        let end = pool.install(|| execute(&job)).unwrap();
        assert_eq!(end, End { stored: self.points, ..End::default() }, "every point ran and none failed");
        self.per_frame(start)
    }

    fn per_frame(self, start: Instant) -> f64 {
        start.elapsed().as_nanos() as f64 / (self.points * self.frames) as f64
    }

    fn in_processes(self, kind: &str) -> peers::Peer {
        peers::python("numpy_w3.py", &[kind, &self.threads.to_string(), &self.points.to_string()])
    }
}

/// Prints W3 and the sweep of the full E830 on one and two threads.
pub(crate) fn print(page: &mut Page, smoke: bool) {
    w1_sweep(page, smoke);
    e830_sweep(page, smoke);
}

fn w1_sweep(page: &mut Page, smoke: bool) {
    let (rounds, points, frames) = if smoke { (1, 8, 5_000) } else { (3, 200, 50_000) };
    page.section("w3", "W3: a sweep of W1");
    page.line(&format!("{points} points of {frames} frames, ns per frame of wall time."));
    for threads in [1, 2] {
        page.line(&format!("\n{threads} at a time:\n"));
        let sweep = Sweep { threads, points, frames };
        let mut candidates = vec![
            Candidate::timed("nicsim, sweep", move || sweep.by_nicsim("w1.toml")),
            Candidate::timed("bare loop, same figures", move || {
                sweep.on_threads(|_| drop(black_box(w1::bare(frames))))
            }),
            Candidate::timed("NeXosim 1.0, four models", move || {
                sweep.on_threads(|_| drop(black_box(nexosim_w1::four_models(frames))))
            }),
        ];
        let mut absent = Vec::new();
        for (name, kind) in [("numpy, plain, in processes", "plain"), ("numpy, tuned blocks, in processes", "blocks")] {
            match sweep.in_processes(kind) {
                Ok(program) => candidates.push(Candidate::timed(name, move || program.w3(frames))),
                Err(reason) => absent.push((name.to_owned(), reason)),
            }
        }
        let timings = table::rounds(rounds, &mut candidates);
        table::by_the_first(page, &timings, &absent);
    }
}

fn e830_sweep(page: &mut Page, smoke: bool) {
    let (rounds, points, frames) = if smoke { (1, 8, 5_000) } else { (3, 1_000, 50_000) };
    page.section("sweep", "A sweep of the full E830");
    page.line(&format!(
        "{points} points of {frames} frames, ns per frame of wall time; NeXosim a tenth of the points.\n"
    ));
    let of = |threads| Sweep { threads, points, frames };
    let peer = |threads| Sweep { threads, points: (points / 10).max(threads), frames };
    let scenario = scenarios::e830("poll-free", 1, frames, scenarios::Record::All);
    let nexosim = |sweep: Sweep| sweep.on_threads(|_| drop(black_box(nexosim_peer::run(&scenario))));
    let mut candidates = vec![
        Candidate::timed("nicsim, 1 thread", || of(1).by_nicsim("e830.toml")),
        Candidate::timed("nicsim, 2 threads", || of(2).by_nicsim("e830.toml")),
        Candidate::timed("NeXosim 1.0, four models, 1 thread", || nexosim(peer(1))),
        Candidate::timed("NeXosim 1.0, four models, 2 threads", || nexosim(peer(2))),
    ];
    let timings = table::rounds(rounds, &mut candidates);
    table::by_the_first(page, &timings, &[]);
    goals_head(page);
    at_least(page, "1 thread : 2 threads", timings[0].smallest / timings[1].smallest, 1.9);
}
