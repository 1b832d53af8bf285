//! Runs what a store does not have yet.
//!
//! Threads take run after run from one counter, in order of index, and put each record at its own place; there is no
//! queue, no list of points and no lock. The pool of threads is the caller's, and so are clock, progress and signals.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use nicsim_core::sink::Null;
use nicsim_models::world::KernelKind;

use super::definition::Sweep;
use super::plan::Run;
use super::store::{Record, Storage, Store};
use crate::run::{Outcome, RunError, RunOptions, run as simulate};
use crate::scenario::Scenario;

/// Who looks on.
pub trait Watch: Sync {
    /// So many frames more were simulated.
    fn frames(&self, more: u64);
    /// A run came to its end; `stored`: it had been run before.
    fn done(&self, failed: bool, stored: bool);
    /// A run was left out, since the constraints leave out its point.
    fn left_out(&self) {}
    /// Is there reason to go on? Asked between runs, and within a run after each second of simulated time.
    fn goes_on(&self) -> bool;
}

/// What is to be done.
pub struct Job<'a, S> {
    /// The sweep.
    pub sweep: &'a Sweep,
    /// Where records go, and which are there.
    pub store: &'a Store<S>,
    /// Gives the text of a file that a scenario names. It is asked for every point: keep what was read.
    pub load: &'a (dyn Fn(&str) -> Result<String, String> + Sync),
    /// Adds to an outcome what another crate computes, before figures are taken from its report.
    pub complete: &'a (dyn Fn(&mut Outcome) + Sync),
    /// What orders the events.
    pub kernel: KernelKind,
    /// Who looks on.
    pub watch: &'a dyn Watch,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct End {
    /// Records that are stored now, and belong to the part.
    pub stored: u64,
    /// Records of failed runs among them.
    pub failed: u64,
    /// Runs that were stored before.
    pub stored_before: u64,
    /// Whoever looks on said stop; there are runs without a record.
    pub stopped: bool,
}

#[derive(Default)]
struct Shared {
    next: AtomicU64,
    stored: AtomicU64,
    failed: AtomicU64,
    stored_before: AtomicU64,
    stopped: AtomicBool,
    error: Mutex<Option<io::Error>>,
}

/// Runs all runs of the store's part that have no record, on all threads of the current rayon pool (feature `parallel`).
///
/// # Errors
/// The first error of the store; what was stored before it is good.
pub fn execute<S: Storage>(job: &Job<'_, S>) -> io::Result<End> {
    let shared = Shared::default();
    #[cfg(feature = "parallel")]
    rayon::broadcast(|_| work(job, &shared));
    #[cfg(not(feature = "parallel"))]
    work(job, &shared);
    if let Some(error) = shared.error.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    Ok(End {
        stored: shared.stored.into_inner(),
        failed: shared.failed.into_inner(),
        stored_before: shared.stored_before.into_inner(),
        stopped: shared.stopped.into_inner(),
    })
}

/// Takes runs until there are none.
fn work<S: Storage>(job: &Job<'_, S>, shared: &Shared) {
    let plan = job.sweep.plan();
    let shard = job.store.layout().shard;
    let runs = shard.points(plan.points()) * plan.repeat();
    let mut bench = Bench { job, last: None };
    while !shared.stopped.load(Ordering::Relaxed) {
        let place = shared.next.fetch_add(1, Ordering::Relaxed);
        if place >= runs {
            return;
        }
        let run = plan.run(shard.point(place / plan.repeat()) * plan.repeat() + place % plan.repeat());
        match bench.take(run) {
            Ok(Taken::LeftOut) => job.watch.left_out(),
            Ok(Taken::Stored { failed, before }) => {
                shared.stored.fetch_add(1, Ordering::Relaxed);
                shared.failed.fetch_add(u64::from(failed), Ordering::Relaxed);
                shared.stored_before.fetch_add(u64::from(before), Ordering::Relaxed);
                job.watch.done(failed, before);
            }
            Ok(Taken::Stopped) => shared.stopped.store(true, Ordering::Relaxed),
            Err(error) => {
                shared.stopped.store(true, Ordering::Relaxed);
                shared.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        }
    }
}

/// What became of a run.
enum Taken {
    /// The constraints leave its point out.
    LeftOut,
    Stored {
        failed: bool,
        before: bool,
    },
    Stopped,
}

/// What one thread keeps from run to run.
struct Bench<'a, S> {
    job: &'a Job<'a, S>,
    /// The last point that could be resolved.
    last: Option<(u64, Scenario)>,
}

impl<S: Storage> Bench<'_, S> {
    fn take(&mut self, run: Run) -> io::Result<Taken> {
        if !self.job.watch.goes_on() {
            return Ok(Taken::Stopped);
        }
        if !self.job.sweep.plan().admits(run.point) {
            return Ok(Taken::LeftOut);
        }
        if let Some(record) = self.job.store.get(run)? {
            return Ok(Taken::Stored { failed: record.is_err(), before: true });
        }
        let Some(record) = self.record(run) else {
            return Ok(Taken::Stopped);
        };
        self.job.store.put(run, &record)?;
        Ok(Taken::Stored { failed: record.is_err(), before: false })
    }

    /// Runs a run; nothing if it was stopped.
    fn record(&mut self, run: Run) -> Option<Record> {
        let job = self.job;
        // A defect in a model is the failure of one run, not the end of all others.
        let ran = catch_unwind(AssertUnwindSafe(|| {
            let scenario = match self.scenario(run.point) {
                Ok(scenario) => scenario,
                Err(reason) => return Some(Err(reason)),
            };
            simulated(job, scenario, run)
        }));
        ran.unwrap_or_else(|cause| {
            self.last = None;
            let text =
                cause.downcast_ref::<String>().map(String::as_str).or_else(|| cause.downcast_ref::<&str>().copied());
            Some(Err(format!("defect in nicsim: {}", text.unwrap_or("no message"))))
        })
    }

    /// The scenario of a point; repetitions share it.
    fn scenario(&mut self, point: u64) -> Result<&Scenario, String> {
        if self.last.as_ref().is_none_or(|last| last.0 != point) {
            let scenario = self.job.sweep.scenario_at(point, self.last.as_ref().map(|last| &last.1), self.job.load)?;
            self.last = Some((point, scenario));
        }
        self.last.as_ref().map(|last| &last.1).ok_or_else(String::new)
    }
}

fn simulated<S>(job: &Job<'_, S>, scenario: &Scenario, run: Run) -> Option<Record> {
    let options = RunOptions { seed: run.seed, run: 0, kernel: job.kernel, series: false };
    let mut before = 0;
    let outcome = simulate(scenario, options, &mut Null, &mut |frames| {
        job.watch.frames(frames - before);
        before = frames;
        job.watch.goes_on()
    });
    match outcome {
        Ok(mut outcome) => {
            (job.complete)(&mut outcome);
            Some(Ok(job.sweep.figures().iter().map(|figure| figure.of(&outcome.report)).collect()))
        }
        Err(RunError::Stopped) => None,
        Err(error) => Some(Err(error.to_string())),
    }
}
