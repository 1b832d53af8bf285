//! Which points a sweep has. The plan knows their number and computes each from its index; it holds no list of them.

use std::collections::BTreeMap;

use nicsim_core::rng::Key;
use nicsim_models::spec::near;
use toml::{Spanned, Table};

use super::constraint::{Constraint, Operand};
use super::file::{Keyed, Sample, Source, SweepFile};
use super::range::{Interval, Values};
use super::sample::{Coordinate, Method, SOBOL_DIMENSIONS};
use super::seeds::Seeds;
use super::value::{Kind, Value};
use crate::file::{ScenarioError, get_path};

/// Most runs (points times repetitions) of a sweep.
pub const MOST_RUNS: u64 = 1_000_000_000;

/// A swept path.
#[derive(Debug, Clone)]
pub struct Axis {
    /// Its dotted path in the scenario.
    pub path: String,
    /// Kind of its values.
    pub kind: Kind,
    /// Where it stands in the sweep file.
    pub place: String,
    values: AxisValues,
    factor: usize,
}

#[derive(Debug, Clone)]
enum AxisValues {
    Own(Values),
    Sampled(Coordinate, Interval),
}

impl Axis {
    /// Its value number `index`.
    pub fn at(&self, index: u64) -> Value {
        match &self.values {
            AxisValues::Own(values) => values.at(index),
            AxisValues::Sampled(coordinate, interval) => interval.at(coordinate.at(index)),
        }
    }

    /// Its values where they are written one by one; of a range its first and last.
    pub fn written(&self) -> Vec<Value> {
        match &self.values {
            AxisValues::Own(Values::List(list)) => list.clone(),
            AxisValues::Own(range) => vec![range.at(0), range.at(range.count() - 1)],
            AxisValues::Sampled(_, interval) => vec![interval.at(0.0), interval.at(1.0)],
        }
    }
}

/// Axes that advance together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Factor {
    count: u64,
    /// Points from one value to the next.
    stride: u64,
}

/// All points of a sweep, in order: the first path changes slowest.
#[derive(Debug, Clone)]
pub struct Plan {
    axes: Vec<Axis>,
    factors: Vec<Factor>,
    constraints: Vec<Constraint>,
    seeds: Seeds,
    points: u64,
    repeat: u64,
}

/// One run: a repetition of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Its number in the whole sweep.
    pub index: u64,
    /// Its point.
    pub point: u64,
    /// Which repetition, from 0.
    pub repetition: u64,
    /// Its seed.
    pub seed: u64,
}

impl Plan {
    /// The plan of a sweep file; `scenario` is the scenario as it is where nothing is swept.
    ///
    /// # Errors
    /// [`ScenarioError`] with the place in the sweep file.
    pub fn new(file: &SweepFile, source: &Source<'_>, seed: u64, scenario: &Table) -> Result<Self, ScenarioError> {
        let mut draft = Draft { source, axes: Vec::new(), counts: Vec::new() };
        if let Some(grid) = &file.sweep.grid {
            draft.add_grid(grid)?;
        }
        for group in &file.sweep.zip {
            draft.add_zip(group)?;
        }
        if let Some(table) = &file.sweep.sample {
            draft.add_sample(table, Key::root(seed, 0).named("sample"))?;
        }
        let Draft { axes, counts, .. } = draft;
        if axes.is_empty() && file.sweep.repeat == 1 {
            let reason = "nothing is swept; write paths under [sweep.grid], [[sweep.zip]] or [sweep.sample], or a `repeat` above 1";
            return Err(ScenarioError::new(source.name, reason));
        }
        check_paths(&axes, file, source)?;
        let (factors, points) =
            lay_out(&counts, file.sweep.repeat).map_err(|reason| ScenarioError::new(source.name, reason))?;
        let constraints = read_constraints(file, source, &axes, scenario)?;
        let seeds = Seeds::new(seed, file.sweep.common_random_numbers);
        Ok(Self { axes, factors, constraints, seeds, points, repeat: file.sweep.repeat })
    }

    /// The swept paths, in the order in which they were written.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Number of points, those that the constraints leave out included.
    pub fn points(&self) -> u64 {
        self.points
    }

    /// Runs per point.
    pub fn repeat(&self) -> u64 {
        self.repeat
    }

    /// Number of runs, those that the constraints leave out included.
    pub fn runs(&self) -> u64 {
        self.points * self.repeat
    }

    /// Are there constraints?
    pub fn is_constrained(&self) -> bool {
        !self.constraints.is_empty()
    }

    /// Value of an axis at a point.
    pub fn value(&self, axis: &Axis, point: u64) -> Value {
        let index = self.factors.get(axis.factor).map_or(0, |factor| point / factor.stride % factor.count);
        axis.at(index)
    }

    /// Values of all axes at a point.
    pub fn point(&self, point: u64) -> Vec<Value> {
        self.axes.iter().map(|axis| self.value(axis, point)).collect()
    }

    /// Do the constraints leave the point in?
    pub fn admits(&self, point: u64) -> bool {
        let value = |axis: usize| self.value(&self.axes[axis], point);
        self.constraints.iter().all(|constraint| constraint.holds(&value))
    }

    /// Run number `index` of the whole sweep.
    pub fn run(&self, index: u64) -> Run {
        let (point, repetition) = (index / self.repeat, index % self.repeat);
        Run { index, point, repetition, seed: self.seeds.of(point, repetition) }
    }
}

/// Axes found so far.
struct Draft<'a> {
    source: &'a Source<'a>,
    axes: Vec<Axis>,
    /// Number of values of each factor.
    counts: Vec<u64>,
}

impl Draft<'_> {
    fn add_grid(&mut self, grid: &Keyed) -> Result<(), ScenarioError> {
        if grid.0.is_empty() {
            return Err(ScenarioError::new(
                self.source.name,
                "[sweep.grid] is empty; write for example \"stream.0.interval\" = [\"100us\", \"200us\"], or leave it out",
            ));
        }
        for (path, written) in &grid.0 {
            let values = self.values(written)?;
            let count = values.count();
            self.add(path, values.kind(), AxisValues::Own(values));
            self.counts.push(count);
        }
        Ok(())
    }

    fn add_zip(&mut self, group: &Keyed) -> Result<(), ScenarioError> {
        let mut counted: Option<(&str, u64)> = None;
        for (path, written) in &group.0 {
            let values = self.values(written)?;
            let count = values.count();
            let (first, expected) = *counted.get_or_insert((path.as_ref(), count));
            if count != expected {
                let reason = format!(
                    "it has {count} values, but `{first}` has {expected}; paths of one [[sweep.zip]] advance together and need equally many"
                );
                return Err(self.source.error(written, reason));
            }
            self.add(path, values.kind(), AxisValues::Own(values));
        }
        let Some((_, count)) = counted else {
            return Err(ScenarioError::new(
                self.source.name,
                "a [[sweep.zip]] is empty; write paths with equally many values, or leave it out",
            ));
        };
        self.counts.push(count);
        Ok(())
    }

    fn add_sample(&mut self, table: &Spanned<Keyed>, key: Key) -> Result<(), ScenarioError> {
        let sample = Sample::read(table, self.source)?;
        if sample.method == Method::Sobol && sample.paths.len() > SOBOL_DIMENSIONS {
            let reason = format!(
                "a Sobol sample takes at most {SOBOL_DIMENSIONS} paths, and here are {}; write method = \"latin-hypercube\"",
                sample.paths.len()
            );
            return Err(self.source.error(table, reason));
        }
        for (dimension, (path, written)) in sample.paths.iter().enumerate() {
            let interval =
                Interval::read_sampled(written.as_ref()).map_err(|reason| self.source.error(written, reason))?;
            let coordinate = Coordinate::new(sample.method, dimension, sample.points, key);
            self.add(path, interval.sampled_kind(), AxisValues::Sampled(coordinate, interval));
        }
        self.counts.push(sample.points);
        Ok(())
    }

    fn values(&self, written: &Spanned<toml::Value>) -> Result<Values, ScenarioError> {
        Values::read(written.as_ref()).map_err(|reason| self.source.error(written, reason))
    }

    /// Adds an axis to the factor whose count comes next.
    fn add(&mut self, path: &Spanned<String>, kind: Kind, values: AxisValues) {
        let place = self.source.error(path, "").place;
        self.axes.push(Axis { path: path.as_ref().clone(), kind, place, values, factor: self.counts.len() });
    }
}

/// A path is swept once, and not set as well.
fn check_paths(axes: &[Axis], file: &SweepFile, source: &Source<'_>) -> Result<(), ScenarioError> {
    let mut seen = BTreeMap::new();
    for axis in axes {
        if let Some(first) = seen.insert(axis.path.as_str(), &axis.place) {
            let reason = format!("`{}` is swept already, at {first}; leave one of them out", axis.path);
            return Err(ScenarioError::new(&axis.place, reason));
        }
    }
    for (path, _) in &file.set.0 {
        if let Some(place) = seen.get(path.as_ref().as_str()) {
            return Err(source.error(path, format!("`{}` is swept, at {place}; leave one of them out", path.as_ref())));
        }
    }
    Ok(())
}

/// Strides of the factors and the number of points.
fn lay_out(counts: &[u64], repeat: u64) -> Result<(Vec<Factor>, u64), String> {
    if repeat == 0 {
        return Err("`repeat` is 0; write 1 or more runs per point".to_owned());
    }
    // In floating point, for the error text: the product may be beyond any integer.
    let runs = counts.iter().map(|&count| count as f64).product::<f64>() * repeat as f64;
    if runs > MOST_RUNS as f64 {
        return Err(format!(
            "the sweep has {runs:.3e} runs (points times repetitions), more than the {MOST_RUNS} that fit; \
             sample the space with [sweep.sample], widen steps or lower `repeat`"
        ));
    }
    let mut stride = 1;
    let mut factors: Vec<Factor> = Vec::new();
    for &count in counts.iter().rev() {
        factors.push(Factor { count, stride });
        stride *= count;
    }
    factors.reverse();
    Ok((factors, stride))
}

fn read_constraints(
    file: &SweepFile,
    source: &Source<'_>,
    axes: &[Axis],
    scenario: &Table,
) -> Result<Vec<Constraint>, ScenarioError> {
    let lookup = |path: &str| {
        let swept = axes.iter().position(|axis| axis.path == path).map(|axis| Operand::Axis(axis, axes[axis].kind));
        let fixed = || get_path(scenario, path).map(|value| Operand::Constant(Value::read(value)));
        swept.or_else(fixed).ok_or_else(|| {
            let hint = near(path, axes.iter().map(|axis| axis.path.as_str()));
            format!("`{path}` is neither swept nor written in the scenario{hint}")
        })
    };
    let read = |text: &Spanned<String>| {
        Constraint::read(text.as_ref(), &lookup)
            .map_err(|reason| source.error(text, format!("`{}`: {reason}", text.as_ref())))
    };
    file.sweep.constraints.iter().map(read).collect()
}
