//! Deep tails of a metric without brute force.
//!
//! A percentile as deep as p99.9999 is decided by what happens once in thousands of frames: the noise expressions' rare
//! chances. Simulating them as often as they happen spends nearly all frames on the others. So the frames are divided into
//! strata, one for each way in which the rare chances can fall; a stratum is the same scenario with each chance certain or
//! impossible, and
//!
//! ```text
//! P(X > x) = Σ over strata  w · P(X > x | stratum)        w = the product of p or 1 − p of its chances
//! ```
//!
//! is exact, since the chances of a frame are drawn independently of everything else. Within a stratum the share beyond
//! `x` is counted; where fewer than `SPARSE` frames lie beyond, it comes from a generalised Pareto law fitted to the
//! stratum's greatest values by probability-weighted moments (Hosking and Wallis, Technometrics 29 (1987) 339–349).
//! Every stratum is simulated in `RUNS` runs of their own phases and noise, and the interval is that of a bootstrap over
//! runs, which sees both what frames have by themselves and what all frames of a run share.
//!
//! It holds for frames that do not meet each other: a frame that waits for the one before it depends on that one's
//! chances, too. Such scenarios are refused.

use nicsim_core::noise::NoiseSpec;
use nicsim_core::rng::Key;
use nicsim_core::sink::Sink;
use nicsim_core::stats::{Recorder, Unit};
use nicsim_core::time::Span;
use nicsim_models::frame::FrameRecord;
use nicsim_models::observer::SetupError;
use nicsim_models::world::{KernelKind, World, WorldSetup};

use crate::metric::{Meter, Metric};
use crate::scenario::Scenario;

/// Chances up to this probability are strata of their own.
const RARE: f64 = 0.01;
/// Frames that a stratum needs at least.
const LEAST_FRAMES: u64 = 20_000;
/// More rare chances than this would make too many strata.
const MOST_CHANCES: usize = 4;
/// With fewer frames beyond a value, the fitted law decides.
const SPARSE: usize = 30;
/// Greatest values of a stratum to which a law is fitted.
const FITTED: usize = 1_000;
/// At most so many of the greatest values of a stratum are looked at one by one.
const MOST_KEPT: f64 = 20_000.0;
/// Runs that a stratum's frames are divided into.
const RUNS: u64 = 16;
/// Bootstrap samples.
const SAMPLES: u64 = 200;
/// Share of the bootstrap's estimates left out on either side: a 95 % interval.
const OUTSIDE: f64 = 0.025;

/// What to estimate.
#[derive(Debug, Clone, Copy)]
pub struct TailOptions {
    /// The metric.
    pub metric: &'static Metric,
    /// Share of the frames beyond the value looked for: 1e-6 for p99.9999.
    pub beyond: f64,
    /// Frames to simulate in all.
    pub frames: u64,
    /// Master seed.
    pub seed: u64,
    /// Run number under it.
    pub run: u64,
}

impl TailOptions {
    /// Can so deep a tail be estimated from so many frames in `strata` strata?
    ///
    /// # Errors
    /// [`TailError::Range`].
    pub fn check(&self, strata: u64) -> Result<(), TailError> {
        let is_tail = (1e-9..=0.01).contains(&self.beyond);
        if is_tail && self.frames / strata >= LEAST_FRAMES {
            return Ok(());
        }
        Err(TailError::Range { beyond: self.beyond, frames: self.frames })
    }
}

/// A deep percentile with its 95 % interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Tail {
    /// The percentile \[ns\].
    pub value_ns: f64,
    /// Lower end of the interval \[ns\].
    pub low_ns: f64,
    /// Upper end \[ns\].
    pub high_ns: f64,
    /// Frames simulated.
    pub frames: u64,
    /// Strata, for one rare chance two.
    pub strata: usize,
}

/// Why there is no estimate.
#[derive(Debug, thiserror::Error)]
pub enum TailError {
    /// A share that is no tail, or too few frames for it.
    #[error(
        "a tail of {beyond:e} cannot be estimated from {frames} frames: the share lies between 1e-9 and 0.01, and each stratum needs 20,000 frames"
    )]
    Range {
        /// The share asked for.
        beyond: f64,
        /// The frames given.
        frames: u64,
    },
    /// Too many rare chances.
    #[error(
        "the scenario's noise has {0} rare chances (of at most 1 %); at most 4 can be told apart; estimate by more frames instead"
    )]
    Chances(usize),
    /// Frames hold each other up.
    #[error(
        "frames hold each other up ({late} of {frames} started late), so that the tail of one depends on the others; estimate by more frames instead"
    )]
    FramesMeet {
        /// Late frames.
        late: u64,
        /// Of so many.
        frames: u64,
    },
    /// The metric has no values.
    #[error("no frame has a value of {0}")]
    NoValues(&'static str),
    /// The world cannot be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The caller said stop.
    #[error("the run was stopped")]
    Stopped,
}

/// Estimates the value of `options.metric` that the share `options.beyond` of all frames exceeds. `progress` gets the
/// number of frames so far now and then and says whether to go on.
///
/// # Errors
/// [`TailError`].
pub fn estimate(
    scenario: &Scenario,
    options: &TailOptions,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<Tail, TailError> {
    let setups = strata(&scenario.setup)?;
    let frames = options.frames / setups.len() as u64;
    options.check(setups.len() as u64)?;
    let mut strata = Vec::with_capacity(setups.len());
    let mut simulated = 0;
    for (weight, mut setup) in setups {
        (setup.seed, setup.kernel) = (options.seed, KernelKind::Slots);
        set_frames(&mut setup, frames.div_ceil(RUNS));
        let mut runs = Vec::with_capacity(RUNS as usize);
        for run in 0..RUNS {
            setup.run = options.run.wrapping_mul(RUNS).wrapping_add(run);
            runs.push(simulate(&setup, options.metric, &mut |frames| progress(simulated + frames))?);
            simulated += runs.last().map_or(0, Recorder::count);
        }
        strata.push(Stratum::new(weight, &runs, options.beyond));
    }
    if strata.iter().all(|stratum| stratum.count == 0.0) {
        return Err(TailError::NoValues(options.metric.name));
    }
    let value_ns = exceeded_by(options.beyond, &strata);
    let mut estimates = bootstrap(&strata, options);
    estimates.sort_by(f64::total_cmp);
    let at = |share: f64| estimates[((SAMPLES - 1) as f64 * share).round() as usize];
    let (low_ns, high_ns) = (at(OUTSIDE).min(value_ns), at(1.0 - OUTSIDE).max(value_ns));
    Ok(Tail { value_ns, low_ns, high_ns, frames: simulated, strata: strata.len() })
}

/// All values of `metric` in `frames` frames of the scenario as it is, to hold an estimate against.
///
/// # Errors
/// [`TailError`].
pub fn brute_force(
    scenario: &Scenario,
    metric: &'static Metric,
    frames: u64,
    seed: u64,
) -> Result<Recorder, TailError> {
    let mut setup = scenario.setup.clone();
    (setup.seed, setup.kernel) = (seed, KernelKind::Slots);
    set_frames(&mut setup, frames);
    simulate(&setup, metric, &mut |_| true)
}

fn set_frames(setup: &mut WorldSetup, frames: u64) {
    let per_stream = frames.div_ceil(setup.streams.len().max(1) as u64);
    setup.streams.iter_mut().for_each(|stream| stream.frames = per_stream);
}

/// The scenario's noise expressions that may hold rare chances.
fn noises(setup: &mut WorldSetup) -> Vec<&mut NoiseSpec> {
    let mut noises = Vec::new();
    if let Some(nic) = &mut setup.nic {
        if let Some(jitter) = nic.spec.jitter.get_mut(nic.jitter) {
            let release = &mut jitter.release.value;
            noises.extend([&mut release.before, &mut release.after]);
        }
        noises.push(&mut nic.spec.fetch.latency.value);
    }
    noises
}

/// Calls `visit` with the probability of every rare chance of an expression.
fn visit_rare(noise: &mut NoiseSpec, visit: &mut dyn FnMut(&mut f64)) {
    match noise {
        NoiseSpec::Chance(chance) if chance.p > 0.0 && chance.p <= RARE => visit(&mut chance.p),
        NoiseSpec::Chance(chance) => visit_rare(&mut chance.of, visit),
        NoiseSpec::Sum(parts) => parts.iter_mut().for_each(|part| visit_rare(part, visit)),
        NoiseSpec::Mixture(parts) => parts.iter_mut().for_each(|part| visit_rare(&mut part.of, visit)),
        NoiseSpec::BySize(scaled) => visit_rare(&mut scaled.of, visit),
        _ => {}
    }
}

/// Every way in which the rare chances can fall: its weight, and the world in which they always do.
fn strata(setup: &WorldSetup) -> Result<Vec<(f64, WorldSetup)>, TailError> {
    let mut chances = 0;
    noises(&mut setup.clone()).into_iter().for_each(|noise| visit_rare(noise, &mut |_| chances += 1));
    if chances > MOST_CHANCES {
        return Err(TailError::Chances(chances));
    }
    let stratum = |falls: u32| {
        let (mut setup, mut weight, mut chance) = (setup.clone(), 1.0, 0);
        noises(&mut setup).into_iter().for_each(|noise| {
            visit_rare(noise, &mut |p| {
                let happens = falls >> chance & 1 == 1;
                weight *= if happens { *p } else { 1.0 - *p };
                *p = f64::from(u8::from(happens));
                chance += 1;
            });
        });
        (weight, setup)
    };
    Ok((0..1_u32 << chances).map(stratum).collect())
}

/// All streams' values of one metric, and the number of frames that started late.
struct Values {
    meters: Vec<Meter>,
    frames: u64,
    late: u64,
}

impl Sink<FrameRecord> for Values {
    #[inline]
    fn take(&mut self, record: &FrameRecord) {
        if let Some(meter) = self.meters.get_mut(usize::from(record.id.stream)) {
            meter.take(record);
            self.frames += 1;
            self.late += u64::from(record.late);
        }
    }
}

fn simulate(setup: &WorldSetup, metric: &Metric, progress: &mut dyn FnMut(u64) -> bool) -> Result<Recorder, TailError> {
    let mut world = World::new(setup)?;
    let meters = setup.streams.iter().map(|stream| metric.meter(stream, setup)).collect();
    let mut values = Values { meters, frames: 0, late: 0 };
    while world.has_frames() {
        let until = world.next_at() + Span::from_ns(1_000_000_000);
        world.advance_to(until, &mut values);
        if values.late > 0 {
            return Err(TailError::FramesMeet { late: values.late, frames: values.frames });
        }
        if !progress(values.frames) {
            return Err(TailError::Stopped);
        }
    }
    let mut recorders = values.meters.iter().map(Meter::recorder);
    let first = recorders.next().cloned().ok_or(TailError::NoValues(metric.name))?;
    Ok(recorders.fold(first, |mut sum, recorder| {
        sum.merge(recorder);
        sum
    }))
}

/// What is known of one stratum.
#[derive(Debug, Clone)]
struct Stratum {
    weight: f64,
    /// Number of values.
    count: f64,
    /// Values in descending order, each with the share of values that reach it.
    shares: Vec<(f64, f64)>,
    /// The greatest values of each run, in descending order.
    runs: Vec<Vec<f64>>,
    /// The greatest of all, in descending order.
    greatest: Vec<f64>,
    /// The law beyond them.
    law: Option<Pareto>,
}

impl Stratum {
    fn new(weight: f64, runs: &[Recorder], beyond: f64) -> Self {
        let count = runs.iter().map(Recorder::count).sum::<u64>();
        // Enough that the percentile lies among them, should this stratum alone decide it, with room for uneven runs.
        let wanted = (4.0 * beyond / weight * count as f64).clamp(FITTED as f64, MOST_KEPT) / runs.len() as f64;
        let kept = 2 * wanted as usize + SPARSE;
        let mut all = runs.first().cloned().unwrap_or_else(|| Recorder::new(Unit::Picoseconds, 0));
        runs.iter().skip(1).for_each(|run| all.merge(run));
        let unit = all.unit();
        let descending = |recorder: &Recorder| {
            let values = recorder.distribution().into_iter().rev();
            values.map(move |(value, number)| (unit.to_ns(i128::from(value)), number)).collect::<Vec<_>>()
        };
        let mut reached = 0;
        let share = |(value, number)| {
            reached += number;
            (value, reached as f64 / count as f64)
        };
        let shares = descending(&all).into_iter().map(share).collect();
        let one_by_one = |recorder: &Recorder| {
            let values = descending(recorder).into_iter();
            values.flat_map(|(value, number)| std::iter::repeat_n(value, number as usize)).take(kept).collect()
        };
        let runs = runs.iter().map(one_by_one).collect::<Vec<Vec<f64>>>();
        Self { weight, count: count as f64, shares, runs, greatest: Vec::new(), law: None }.of_runs(0..)
    }

    /// The stratum as the runs at `places` alone would show it, as many as there are.
    fn of_runs(mut self, places: impl Iterator<Item = usize>) -> Self {
        let places: Vec<usize> = places.take(self.runs.len()).collect();
        // Below the least kept value of any run, some are missing.
        let complete = self.runs.iter().filter_map(|run| run.last().copied()).fold(f64::NEG_INFINITY, f64::max);
        let values = places.iter().filter_map(|place| self.runs.get(*place)).flatten();
        self.greatest = values.copied().filter(|value| *value >= complete).collect();
        self.greatest.sort_by(|a, b| b.total_cmp(a));
        self.law = Pareto::fit(&self.greatest, self.count);
        self
    }

    /// Share of the stratum's values beyond `x`.
    fn beyond(&self, x: f64) -> f64 {
        let among_greatest = self.greatest.partition_point(|value| *value > x);
        match &self.law {
            Some(law) if among_greatest < SPARSE => law.beyond(x),
            _ if among_greatest < self.greatest.len() => among_greatest as f64 / self.count,
            _ => match self.shares.partition_point(|(value, _)| *value > x) {
                0 => 0.0,
                place => self.shares[place - 1].1,
            },
        }
    }
}

/// A generalised Pareto law of the values beyond a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pareto {
    threshold: f64,
    /// Share of all values beyond it.
    share: f64,
    shape: f64,
    scale: f64,
}

impl Pareto {
    /// The law of the `FITTED` first of `greatest` (in descending order) of `count` values.
    fn fit(greatest: &[f64], count: f64) -> Option<Self> {
        let excesses = greatest.get(..FITTED.min(greatest.len()).checked_sub(1)?)?;
        let threshold = *greatest.get(excesses.len())?;
        let n = excesses.len() as f64;
        let a0 = excesses.iter().map(|value| value - threshold).sum::<f64>() / n;
        // Weighted by the share of values above, (n − i) / (n − 1) with i counted from the least.
        let above = |(rank, value): (usize, &f64)| (value - threshold) * rank as f64 / (n - 1.0);
        let a1 = excesses.iter().enumerate().map(above).sum::<f64>() / n;
        let law = Self {
            threshold,
            share: n / count,
            shape: 2.0 - a0 / (a0 - 2.0 * a1),
            scale: 2.0 * a0 * a1 / (a0 - 2.0 * a1),
        };
        (n >= SPARSE as f64 && law.scale > 0.0 && law.shape.is_finite()).then_some(law)
    }

    fn beyond(&self, x: f64) -> f64 {
        let reduced = (x - self.threshold).max(0.0) / self.scale;
        if self.shape.abs() < 1e-9 {
            return self.share * libm::exp(-reduced);
        }
        self.share * libm::pow((1.0 + self.shape * reduced).max(0.0), -1.0 / self.shape)
    }
}

/// The value that the share `beyond` of all exceeds, to a thousandth of a nanosecond.
fn exceeded_by(beyond: f64, strata: &[Stratum]) -> f64 {
    let share = |x: f64| strata.iter().map(|stratum| stratum.weight * stratum.beyond(x)).sum::<f64>();
    let ends = strata.iter().filter_map(|stratum| Some((stratum.shares.last()?.0, stratum.shares.first()?.0)));
    let (mut low, mut high) =
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(end.0), high.max(end.1)));
    let mut width = (high - low).max(1.0);
    while share(high) > beyond && width < 1e15 {
        high += width;
        width *= 2.0;
    }
    while high - low > 0.001 {
        let middle = low + (high - low) / 2.0;
        // Neighbours in floating point: a value beyond all bounds.
        if middle <= low || middle >= high {
            break;
        }
        if share(middle) > beyond { low = middle } else { high = middle }
    }
    high
}

/// Estimates from strata whose runs are drawn anew, with replacement.
fn bootstrap(strata: &[Stratum], options: &TailOptions) -> Vec<f64> {
    let root = Key::root(options.seed, options.run).named("bootstrap");
    let estimate = |sample: u64| {
        let key = root.child(sample);
        let drawn = (0_u64..).zip(strata).map(|(place, stratum)| {
            let draws = (0_u64..).map(move |run| (key.child(place).bits(run) % RUNS) as usize);
            stratum.clone().of_runs(draws)
        });
        exceeded_by(options.beyond, &drawn.collect::<Vec<_>>())
    };
    (0..SAMPLES).map(estimate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `n` evenly spread quantiles of a law, in picoseconds.
    fn stratum(weight: f64, n: u64, quantile: impl Fn(f64) -> f64) -> Stratum {
        let mut runs = vec![Recorder::new(Unit::Picoseconds, 0); 16];
        for k in 0..n {
            runs[(k % 16) as usize].record((quantile((k as f64 + 0.5) / n as f64) * 1_000.0) as i64, k);
        }
        Stratum::new(weight, &runs, 1e-6)
    }

    #[test]
    fn a_fitted_law_goes_on_where_counts_end() {
        // Exponential of mean 50 ns: P(X > 50 · ln 10^7) = 1e-7, 14 times rarer than anything among 100,000 values.
        let exponential = stratum(1.0, 100_000, |p| -50.0 * (1.0 - p).ln());
        let x = 50.0 * 1e7_f64.ln();
        assert!((exponential.beyond(x) / 1e-7 - 1.0).abs() < 0.3, "{}", exponential.beyond(x));
        // Where values are many, they are counted.
        assert!((exponential.beyond(50.0 * 1e3_f64.ln()) / 1e-3 - 1.0).abs() < 0.01);
        // Uniform: nothing lies beyond its end.
        assert!(stratum(1.0, 100_000, |p| 100.0 * p).beyond(101.0) < 1e-7);
    }

    #[test]
    fn strata_add_up_by_their_weights() {
        // One in 5,000 is uniform from 300 to 1,900 ns, the others are exponential: the 1e-6 tail begins 0.5 % below the end.
        let common = stratum(1.0 - 2e-4, 100_000, |p| -50.0 * (1.0 - p).ln());
        let rare = stratum(2e-4, 100_000, |p| 300.0 + 1_600.0 * p);
        let value = exceeded_by(1e-6, &[common, rare]);
        assert!((value - 1_892.0).abs() < 1.0, "{value}");
    }
}
