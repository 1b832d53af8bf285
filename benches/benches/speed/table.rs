//! Rounds in turns.

use std::time::Instant;

use nicsim_benches::page::Page;

/// Something to be timed: a name, and a run that answers its nanoseconds per frame.
pub(crate) struct Candidate<'a> {
    pub(crate) name: String,
    run: Box<dyn FnMut() -> f64 + 'a>,
}

impl<'a> Candidate<'a> {
    /// A candidate that measures itself (set-up, compilation and a process's start are left out).
    pub(crate) fn timed(name: impl Into<String>, run: impl FnMut() -> f64 + 'a) -> Self {
        Self { name: name.into(), run: Box::new(run) }
    }

    /// A candidate whose whole run of `frames` frames counts.
    pub(crate) fn whole<T>(name: impl Into<String>, frames: u64, mut run: impl FnMut() -> T + 'a) -> Self {
        Self::timed(name, move || {
            let start = Instant::now();
            std::hint::black_box(run());
            start.elapsed().as_nanos() as f64 / frames as f64
        })
    }
}

/// Nanoseconds per frame of one candidate over all rounds.
#[derive(Debug, Clone)]
pub(crate) struct Timing {
    pub(crate) name: String,
    pub(crate) smallest: f64,
    pub(crate) median: f64,
}

/// Times all candidates in turns (A B C, A B C, …), so that a neighbour's load falls on all of them alike.
pub(crate) fn rounds(count: usize, candidates: &mut [Candidate<'_>]) -> Vec<Timing> {
    let mut times = vec![Vec::new(); candidates.len()];
    for _ in 0..count {
        for (candidate, times) in candidates.iter_mut().zip(&mut times) {
            times.push((candidate.run)());
        }
    }
    let timing = |(candidate, mut times): (&mut Candidate<'_>, Vec<f64>)| {
        times.sort_by(f64::total_cmp);
        Timing { name: candidate.name.clone(), smallest: times[0], median: times[times.len() / 2] }
    };
    candidates.iter_mut().zip(times).map(timing).collect()
}

/// Prints a table of candidates by the time of the first.
pub(crate) fn by_the_first(page: &mut Page, timings: &[Timing], absent: &[(String, String)]) {
    page.head(&["", "ns per frame", "median", "ratio of the smallest"]);
    for timing in timings {
        let ratio = timing.smallest / timings[0].smallest;
        page.row(&[timing.name.clone(), ns(timing.smallest), ns(timing.median), times(ratio)]);
    }
    for (name, reason) in absent {
        page.row(&[name.clone(), reason.clone(), String::new(), String::new()]);
    }
}

pub(crate) fn ns(value: f64) -> String {
    if value < 100.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

pub(crate) fn times(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.2}") } else { format!("{ratio:.1}") }
}
