//! W3, a sweep of W1 over many points: the peers. `cargo bench -p nicsim-benches --bench speed -- --sweep`.
//!
//! A further candidate is one more entry: nanoseconds per frame of wall time, by threads, points and frames per point.

use std::time::Instant;

use nicsim_benches::page::Page;

use crate::table::{self, Candidate};
use crate::{nexosim_w1, peers, w1};

/// How much a sweep does.
#[derive(Clone, Copy)]
struct Sweep {
    threads: u64,
    points: u64,
    frames: u64,
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
        start.elapsed().as_nanos() as f64 / (self.points * self.frames) as f64
    }

    fn in_processes(self, kind: &str) -> peers::Peer {
        peers::python("numpy_w3.py", &[kind, &self.threads.to_string(), &self.points.to_string()])
    }
}

/// Prints W3 of the peers on one and two threads.
pub(crate) fn print(page: &mut Page, smoke: bool) {
    let (rounds, points, frames) = if smoke { (1, 8, 5_000) } else { (3, 200, 50_000) };
    page.section("w3", "W3: a sweep of W1");
    page.line(&format!("{points} points of {frames} frames, ns per frame of wall time."));
    for threads in [1, 2] {
        page.line(&format!("\n{threads} at a time:\n"));
        let sweep = Sweep { threads, points, frames };
        let mut candidates = vec![
            Candidate::timed("bare loop, same figures", || {
                sweep.on_threads(|_| drop(std::hint::black_box(w1::bare(frames))))
            }),
            Candidate::timed("NeXosim 1.0, four models", || {
                sweep.on_threads(|_| drop(std::hint::black_box(nexosim_w1::four_models(frames))))
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
