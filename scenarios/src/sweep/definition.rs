//! All that the results of a sweep depend on, and what is checked before anything runs.

use nicsim_core::sink::Fingerprint;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::figure::Figure;
use super::file::{Source, SweepFile, TailSection};
use super::plan::{Axis, Plan};
use super::stop::Stop;
use super::value::Kind;
use crate::file::{ScenarioError, ScenarioFile, apply_setting, read_table, set_path};
use crate::metric::{self, missing_part};
use crate::scenario::{DEFAULT_SEED, Loader, Scenario};
use crate::tail::TailOptions;
use nicsim_models::spec::near;

/// Version of what is kept of a sweep.
pub const SCHEMA: &str = "nicsim.sweep/1";

/// What the command line says over the file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Overrides<'a> {
    /// Master seed.
    pub seed: Option<u64>,
    /// Frames per stream.
    pub frames: Option<u64>,
    /// `key.path=value`, in order.
    pub sets: &'a [String],
}

/// Everything that the results of a sweep depend on: enough to tell its rows without any other file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// Version of the format.
    pub schema: String,
    /// Version of nicsim.
    pub version: String,
    /// Name of the scenario.
    pub scenario: String,
    /// Digest of the scenario and of the files that its points use.
    pub scenario_hash: String,
    /// Master seed.
    pub seed: u64,
    /// The scenario where nothing is swept, as TOML.
    pub scenario_file: String,
    /// The sweep file.
    pub sweep_file: String,
}

impl Definition {
    /// Digest of all of it.
    pub fn hash(&self) -> u64 {
        let seed = self.seed.to_string();
        let parts = [
            &self.schema,
            &self.version,
            &self.scenario,
            &self.scenario_hash,
            &seed,
            &self.scenario_file,
            &self.sweep_file,
        ];
        digest(parts.into_iter().map(String::as_str))
    }

    /// What differs between two, in words; nothing if they are equal.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let version = format!("it was made by nicsim {}, this is {}", self.version, other.version);
        let seed = format!("its seed is {}, here it is {}", self.seed, other.seed);
        let checks = [
            (self.schema != other.schema || self.version != other.version, version.as_str()),
            (self.sweep_file != other.sweep_file, "the sweep file was changed"),
            (
                self.scenario_file != other.scenario_file || self.scenario != other.scenario,
                "the scenario, or --set or --frames, is another",
            ),
            (self.scenario_hash != other.scenario_hash, "a file that the scenario names was changed"),
            (self.seed != other.seed, seed.as_str()),
        ];
        checks.into_iter().filter(|check| check.0).map(|check| check.1.to_owned()).collect()
    }
}

fn digest<'a>(parts: impl Iterator<Item = &'a str>) -> u64 {
    let mut sum = Fingerprint::default();
    for part in parts {
        sum.add(part.len() as u64);
        part.bytes().for_each(|byte| sum.add(u64::from(byte)));
    }
    sum.value()
}

/// A sweep that can be run, or whose rows can be told.
#[derive(Debug, Clone)]
pub struct Sweep {
    definition: Definition,
    hash: u64,
    scenario: Table,
    plan: Plan,
    figures: Vec<Figure>,
    stop: Option<Stop>,
    tail: Option<TailOptions>,
}

impl Sweep {
    /// Reads the sweep file `name`, and checks all of it before anything runs.
    ///
    /// # Errors
    /// [`ScenarioError`] with the place and the remedy.
    pub fn open(name: &str, text: &str, overrides: Overrides<'_>, load: Loader<'_>) -> Result<Self, ScenarioError> {
        let source = Source { name, text };
        let file = source.read()?;
        let scenario = base(&file, &source, overrides, load)?;
        let definition = Definition {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: file.scenario.clone(),
            scenario_hash: String::new(),
            seed: overrides.seed.or(file.seed).unwrap_or(DEFAULT_SEED),
            scenario_file: scenario.to_string(),
            sweep_file: text.to_owned(),
        };
        let mut sweep = Self::assemble(definition, &file, &source, scenario)?;
        sweep.check_axes(load)?;
        sweep.check_figures(&file, &source, load)?;
        sweep.definition.scenario_hash = sweep.files_digest(load);
        sweep.hash = sweep.definition.hash();
        Ok(sweep)
    }

    /// The sweep of a definition that was kept; no file is looked at.
    ///
    /// # Errors
    /// [`ScenarioError`] when the definition is damaged.
    pub fn of(definition: Definition) -> Result<Self, ScenarioError> {
        let text = definition.sweep_file.clone();
        let source = Source { name: "the kept sweep file", text: &text };
        let scenario = read_table("the kept scenario", &definition.scenario_file)?;
        Self::assemble(definition, &source.read()?, &source, scenario)
    }

    fn assemble(
        definition: Definition,
        file: &SweepFile,
        source: &Source<'_>,
        scenario: Table,
    ) -> Result<Self, ScenarioError> {
        let figure =
            |name: &toml::Spanned<String>| Figure::read(name.as_ref()).map_err(|reason| source.error(name, reason));
        let mut figures = file.metrics.iter().map(figure).collect::<Result<Vec<_>, _>>()?;
        if let Some((place, name)) = file
            .metrics
            .iter()
            .enumerate()
            .find(|(place, name)| file.metrics[..*place].iter().any(|m| m.as_ref() == name.as_ref()))
        {
            return Err(source
                .error(name, format!("`{}` is asked for twice (entry {} of `metrics`)", name.as_ref(), place + 1)));
        }
        let plan = Plan::new(file, source, definition.seed, &scenario)?;
        let tail = file.tail.as_ref().map(|section| tail_of(section, source)).transpose()?;
        figures.extend(tail.iter().flat_map(|tail| Figure::of_tail(tail.metric.name)));
        let stop =
            file.sweep.stop.as_ref().map(|stop| Stop::read(stop, &figures, plan.repeat(), source)).transpose()?;
        Ok(Self { hash: definition.hash(), definition, scenario, plan, figures, stop, tail })
    }

    /// What results depend on.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Digest of the definition.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Its points and runs.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The figures that are kept of each run.
    pub fn figures(&self) -> &[Figure] {
        &self.figures
    }

    /// When repetitions of a point end early.
    pub fn stop(&self) -> Option<&Stop> {
        self.stop.as_ref()
    }

    /// The deep percentile that is estimated at every point, with the seed of the run.
    pub fn tail(&self, seed: u64) -> Option<TailOptions> {
        self.tail.map(|tail| TailOptions { seed, ..tail })
    }

    /// The scenario file of a point.
    ///
    /// # Errors
    /// A sentence: the values do not fit together, or not into the scenario.
    pub fn file_at(&self, point: u64) -> Result<ScenarioFile, String> {
        let mut table = self.scenario.clone();
        for axis in self.plan.axes() {
            set_path(&mut table, &axis.path, self.plan.value(axis, point).to_toml())?;
        }
        ScenarioFile::from_table(table)
    }

    /// The scenario of a point, to record the wanted metrics; `last` is a scenario of another point of this sweep.
    ///
    /// # Errors
    /// A sentence on why the point cannot be run.
    pub fn scenario_at(&self, point: u64, last: Option<&Scenario>, load: Loader<'_>) -> Result<Scenario, String> {
        let file = self.file_at(point)?;
        let resolved = match last {
            Some(last) => last.variant(file, load),
            None => Scenario::resolve(file, load),
        };
        let mut scenario = resolved.map_err(|error| error.to_string())?;
        let wanted = |name: &str| self.figures.iter().any(|figure| figure.metric() == Some(name));
        scenario.metrics.retain(|metric| wanted(metric.name));
        Ok(scenario)
    }

    /// Every path exists, and every value that is written in the sweep file has the right kind.
    fn check_axes(&self, load: Loader<'_>) -> Result<(), ScenarioError> {
        for axis in self.plan.axes() {
            for value in axis.written() {
                let error =
                    |reason: String| ScenarioError::new(&axis.place, format!("`{}` = {value}: {reason}", axis.path));
                let mut table = self.scenario.clone();
                set_path(&mut table, &axis.path, value.to_toml()).map_err(error)?;
                ScenarioFile::from_table(table).map_err(error)?;
            }
            self.check_parameter(axis, load)?;
        }
        Ok(())
    }

    /// Paths within the card's file are known to the card alone, so one scenario is resolved with it.
    fn check_parameter(&self, axis: &Axis, load: Loader<'_>) -> Result<(), ScenarioError> {
        let other_cards = self.plan.axes().iter().any(|other| other.path == "nic.model");
        if other_cards || !axis.path.starts_with("nic.parameters.") {
            return Ok(());
        }
        let first = axis.at(0);
        let mut table = self.scenario.clone();
        let resolved = set_path(&mut table, &axis.path, first.to_toml())
            .and_then(|()| ScenarioFile::from_table(table))
            .map(|file| Scenario::resolve(file, load));
        match resolved {
            Ok(Err(error)) if error.place == "nic.parameters" => {
                Err(ScenarioError::new(&axis.place, format!("`{}`: {}", axis.path, error.reason)))
            }
            _ => Ok(()),
        }
    }

    /// Every figure exists in some point that was looked at, and some point can be run.
    fn check_figures(&self, file: &SweepFile, source: &Source<'_>, load: Loader<'_>) -> Result<(), ScenarioError> {
        let ends = [0, self.plan.points() - 1].map(|point| self.file_at(point));
        let mut last_error = None;
        let mut scenarios = Vec::new();
        for file in [ScenarioFile::from_table(self.scenario.clone())].into_iter().chain(ends) {
            match file
                .map_err(|reason| ScenarioError::new(source.name, reason))
                .and_then(|file| Scenario::resolve(file, load))
            {
                Ok(scenario) => scenarios.push(scenario),
                Err(error) => last_error = Some(error),
            }
        }
        if let (true, Some(error)) = (scenarios.is_empty(), last_error) {
            return Err(ScenarioError::new(format!("{}: {}", source.name, error.place), error.reason));
        }
        if let (Some(section), Some(tail)) = (&file.tail, &self.tail)
            && !scenarios.iter().any(|scenario| tail.metric.exists(&scenario.setup))
        {
            let reason = format!("it does not exist here: {}", missing_part(tail.metric.name));
            return Err(source.error(&section.metric, format!("`{}`: {reason}", tail.metric.name)));
        }
        for (name, figure) in file.metrics.iter().zip(&self.figures) {
            let exists = |scenario: &Scenario| {
                let recorded =
                    figure.metric().is_none_or(|wanted| scenario.metrics.iter().any(|metric| metric.name == wanted));
                recorded && figure.stream.is_none_or(|stream| stream < scenario.stream_setups().count())
            };
            if scenarios.iter().any(exists) {
                continue;
            }
            let reason = match (figure.stream, figure.metric()) {
                (Some(stream), _) => {
                    format!("there is no stream {stream} with it; the scenario's streams are numbered from 0")
                }
                (None, metric) => format!("it does not exist here: {}", missing_part(metric.unwrap_or_default())),
            };
            return Err(source.error(name, format!("`{}`: {reason}", figure.name)));
        }
        Ok(())
    }

    /// Digest of the scenario and of the cards, instruments and other files that texts among the swept values name.
    fn files_digest(&self, load: Loader<'_>) -> String {
        let resolved = |file: Result<ScenarioFile, String>| match file.map(|file| Scenario::resolve(file, load)) {
            Ok(Ok(scenario)) => scenario.hash,
            Ok(Err(error)) => error.to_string(),
            Err(reason) => reason,
        };
        let mut parts = vec![resolved(self.file_at(0))];
        for axis in self.plan.axes().iter().filter(|axis| axis.kind == Kind::Text) {
            for value in axis.written() {
                let mut table = self.scenario.clone();
                parts.push(resolved(
                    set_path(&mut table, &axis.path, value.to_toml()).and_then(|()| ScenarioFile::from_table(table)),
                ));
            }
        }
        format!("{:016x}", digest(parts.iter().map(String::as_str)))
    }
}

/// `[tail]`, checked.
fn tail_of(section: &TailSection, source: &Source<'_>) -> Result<TailOptions, ScenarioError> {
    let name = section.metric.as_ref().as_str();
    let Some(metric) = metric::LIST.iter().find(|metric| metric.name == name) else {
        let hint = near(name, metric::LIST.iter().map(|metric| metric.name));
        return Err(
            source.error(&section.metric, format!("there is no metric `{name}`{hint}; see `nicsim list metrics`"))
        );
    };
    let options = TailOptions { metric, beyond: *section.beyond.as_ref(), frames: section.frames, seed: 0, run: 0 };
    options.check(1).map_err(|error| source.error(&section.beyond, error.to_string()))?;
    Ok(options)
}

/// The scenario where nothing is swept: its file, [set], --set, and the number of frames.
fn base(
    file: &SweepFile,
    source: &Source<'_>,
    overrides: Overrides<'_>,
    load: Loader<'_>,
) -> Result<Table, ScenarioError> {
    let text = Scenario::text(&file.scenario, load)
        .map_err(|error| ScenarioError::new(source.name, format!("scenario: {error}")))?;
    ScenarioFile::parse(&file.scenario, &text, &[])?;
    let mut table = read_table(&file.scenario, &text)?;
    for (path, value) in &file.set.0 {
        set_path(&mut table, path.as_ref(), value.as_ref().clone())
            .and_then(|()| ScenarioFile::from_table(table.clone()))
            .map_err(|reason| source.error(path, format!("`{}`: {reason}", path.as_ref())))?;
    }
    for set in overrides.sets {
        apply_setting(&mut table, set)?;
    }
    if let Some(frames) = overrides.frames.or(file.frames) {
        let frames = i64::try_from(frames).unwrap_or(i64::MAX);
        let streams = table.get_mut("stream").and_then(toml::Value::as_array_mut);
        for stream in streams.into_iter().flatten().filter_map(toml::Value::as_table_mut) {
            stream.insert("frames".to_owned(), toml::Value::Integer(frames));
        }
    }
    Ok(table)
}
