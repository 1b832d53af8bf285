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
use crate::tail::{self, TailError};

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
    /// Repetitions that were not needed.
    pub not_needed: u64,
    /// Whoever looks on said stop; there are runs without a record.
    pub stopped: bool,
}

#[derive(Default)]
struct Shared {
    next: AtomicU64,
    stored: AtomicU64,
    failed: AtomicU64,
    stored_before: AtomicU64,
    not_needed: AtomicU64,
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
        not_needed: shared.not_needed.into_inner(),
        stopped: shared.stopped.into_inner(),
    })
}

/// Takes runs until there are none: one at a time, or all repetitions of a point where they may end early.
fn work<S: Storage>(job: &Job<'_, S>, shared: &Shared) {
    let plan = job.sweep.plan();
    let shard = job.store.layout().shard;
    let together = if job.sweep.stop().is_some() { plan.repeat() } else { 1 };
    let runs = shard.points(plan.points()) * plan.repeat();
    let mut bench = Bench { job, last: None, repetitions: Vec::new() };
    loop {
        let first = shared.next.fetch_add(together, Ordering::Relaxed);
        if first >= runs {
            return;
        }
        bench.repetitions.clear();
        for place in first..first + together {
            if shared.stopped.load(Ordering::Relaxed) {
                return;
            }
            let run = plan.run(shard.point(place / plan.repeat()) * plan.repeat() + place % plan.repeat());
            shared.count(bench.take(run), job.watch);
        }
    }
}

impl Shared {
    fn count(&self, taken: io::Result<Taken>, watch: &dyn Watch) {
        match taken {
            Ok(Taken::LeftOut) => watch.left_out(),
            Ok(Taken::NotNeeded) => {
                self.not_needed.fetch_add(1, Ordering::Relaxed);
                watch.left_out();
            }
            Ok(Taken::Stored { failed, before }) => {
                self.stored.fetch_add(1, Ordering::Relaxed);
                self.failed.fetch_add(u64::from(failed), Ordering::Relaxed);
                self.stored_before.fetch_add(u64::from(before), Ordering::Relaxed);
                watch.done(failed, before);
            }
            Ok(Taken::Stopped) => self.stopped.store(true, Ordering::Relaxed),
            Err(error) => {
                self.stopped.store(true, Ordering::Relaxed);
                self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        }
    }
}

/// What became of a run.
enum Taken {
    /// The constraints leave its point out.
    LeftOut,
    /// The repetitions before it suffice.
    NotNeeded,
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
    /// Figures of the point's repetitions so far, where those may end early.
    repetitions: Vec<Vec<Option<f64>>>,
}

impl<S: Storage> Bench<'_, S> {
    fn take(&mut self, run: Run) -> io::Result<Taken> {
        if !self.job.watch.goes_on() {
            return Ok(Taken::Stopped);
        }
        if !self.job.sweep.plan().admits(run.point) {
            return Ok(Taken::LeftOut);
        }
        let stored = self.job.store.get(run)?;
        let before = stored.is_some();
        let enough = |repetitions: &[_]| self.job.sweep.stop().is_some_and(|stop| stop.is_reached(repetitions));
        let record = match stored {
            Some(record) => record,
            None if enough(&self.repetitions) => Record::NotNeeded,
            None => match self.record(run) {
                Some(record) => record,
                None => return Ok(Taken::Stopped),
            },
        };
        if !before {
            self.job.store.put(run, &record)?;
        }
        let failed = record.is_failure();
        match record {
            Record::NotNeeded => return Ok(Taken::NotNeeded),
            Record::Figures(figures) => self.repetitions.push(figures),
            // A repetition without figures: there is no saying that the others suffice.
            Record::Failed(_) => self.repetitions.push(Vec::new()),
        }
        Ok(Taken::Stored { failed, before })
    }

    /// Runs a run; nothing if it was stopped.
    fn record(&mut self, run: Run) -> Option<Record> {
        let job = self.job;
        // A defect in a model is the failure of one run, not the end of all others.
        let ran = catch_unwind(AssertUnwindSafe(|| {
            let scenario = match self.scenario(run.point) {
                Ok(scenario) => scenario,
                Err(reason) => return Some(Record::Failed(reason)),
            };
            simulated(job, scenario, run)
        }));
        ran.unwrap_or_else(|cause| {
            self.last = None;
            let text =
                cause.downcast_ref::<String>().map(String::as_str).or_else(|| cause.downcast_ref::<&str>().copied());
            Some(Record::Failed(format!("defect in nicsim: {}", text.unwrap_or("no message"))))
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

/// Simulates a run, and estimates the tail where one is asked for; nothing if it was stopped.
fn simulated<S>(job: &Job<'_, S>, scenario: &Scenario, run: Run) -> Option<Record> {
    let options = RunOptions { seed: run.seed, run: 0, kernel: job.kernel, series: false };
    let mut before = 0;
    let mut progress = |frames: u64| {
        job.watch.frames(frames - before);
        before = frames;
        job.watch.goes_on()
    };
    let mut outcome = match simulate(scenario, options, &mut Null, &mut progress) {
        Ok(outcome) => outcome,
        Err(RunError::Stopped) => return None,
        Err(error) => return Some(Record::Failed(error.to_string())),
    };
    (job.complete)(&mut outcome);
    let simulated = before;
    let estimated = job.sweep.tail(run.seed).map(|options| {
        tail::estimate(scenario, &options, &mut |frames| {
            job.watch.frames(simulated + frames - before);
            before = simulated + frames;
            job.watch.goes_on()
        })
    });
    let tail = match estimated.transpose() {
        Ok(tail) => tail,
        Err(TailError::Stopped) => return None,
        Err(error) => return Some(Record::Failed(format!("[tail]: {error}"))),
    };
    let figures = job.sweep.figures().iter().map(|figure| figure.of(&outcome.report, tail.as_ref()));
    Some(Record::Figures(figures.collect()))
}
