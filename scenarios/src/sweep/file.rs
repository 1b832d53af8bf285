//! A sweep file, exactly as it was written; `docs/sweep.md` explains every key.

use std::fmt;
use std::marker::PhantomData;

use nicsim_models::spec::near;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use toml::{Spanned, Value};

use super::sample::Method;
use super::stop::StopSection;
use crate::file::{ScenarioError, place_in, with_near_keys};

/// A whole sweep file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepFile {
    /// Built-in name or path of the scenario.
    pub scenario: String,
    /// One sentence of purpose.
    #[serde(default)]
    pub about: String,
    /// Figures that become columns: `METRIC.KEY`, or a count by its name.
    pub metrics: Vec<Spanned<String>>,
    /// Master seed.
    pub seed: Option<u64>,
    /// Frames per stream, over the scenario's own.
    pub frames: Option<u64>,
    /// Values that are the same in every point, by their paths.
    #[serde(default)]
    pub set: Keyed,
    /// A deep percentile that is estimated beside the figures.
    pub tail: Option<TailSection>,
    /// What is swept.
    pub sweep: SweepSection,
}

/// `[tail]`: see [`crate::tail`].
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TailSection {
    /// The metric.
    pub metric: Spanned<String>,
    /// Share of frames beyond: 1e-6 for p99.9999.
    pub beyond: Spanned<f64>,
    /// Frames to simulate for it.
    pub frames: u64,
}

/// `[sweep]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepSection {
    /// Runs per point.
    #[serde(default = "one")]
    pub repeat: u64,
    /// The same seeds in every point.
    #[serde(default)]
    pub common_random_numbers: bool,
    /// Every value of each path with every value of the others.
    pub grid: Option<Keyed>,
    /// Paths that advance together, group by group.
    #[serde(default)]
    pub zip: Vec<Keyed>,
    /// Points spread over a box: `method`, `points`, and a range per path.
    pub sample: Option<Spanned<Keyed>>,
    /// When repetitions end early.
    pub stop: Option<StopSection>,
    /// Conditions that a point must meet.
    #[serde(default)]
    pub constraints: Vec<Spanned<String>>,
}

fn one() -> u64 {
    1
}

/// Keys with their values, in the order and with the places in which they were written.
#[derive(Debug, Clone, Default)]
pub struct Keyed(pub Vec<(Spanned<String>, Spanned<Value>)>);

impl<'de> Deserialize<'de> for Keyed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries(PhantomData<()>);
        impl<'de> Visitor<'de> for Entries {
            type Value = Keyed;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of paths")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keyed, A::Error> {
                let mut entries: Vec<(Spanned<String>, Spanned<Value>)> = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                entries.sort_by_key(|(key, _)| key.span().start);
                Ok(Keyed(entries))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

/// A sweep file with what error texts need.
#[derive(Debug, Clone)]
pub struct Source<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
}

impl Source<'_> {
    /// Reads the file.
    ///
    /// # Errors
    /// [`ScenarioError`] with line and column.
    pub fn read(&self) -> Result<SweepFile, ScenarioError> {
        let file: SweepFile = toml::from_str(self.text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            ScenarioError::new(place_in(self.name, self.text, start), with_near_keys(error.message()))
        })?;
        if file.metrics.is_empty() {
            return Err(ScenarioError::new(
                self.name,
                "`metrics` is empty, so nothing would be kept; write for example metrics = [\"launch_error.p99_9_ns\"]",
            ));
        }
        Ok(file)
    }

    /// An error at what was written.
    pub fn error<T>(&self, at: &Spanned<T>, reason: impl Into<String>) -> ScenarioError {
        ScenarioError::new(place_in(self.name, self.text, at.span().start), reason)
    }
}

/// `[sweep.sample]` taken apart.
#[derive(Debug, Clone)]
pub struct Sample {
    /// How points are spread.
    pub method: Method,
    /// How many.
    pub points: u64,
    /// The range of each path.
    pub paths: Vec<(Spanned<String>, Spanned<Value>)>,
}

impl Sample {
    /// Takes the table apart: keys with dots are paths.
    ///
    /// # Errors
    /// [`ScenarioError`] with the place.
    pub fn read(table: &Spanned<Keyed>, source: &Source<'_>) -> Result<Self, ScenarioError> {
        const KEYS: [&str; 2] = ["method", "points"];
        let (mut method, mut points, mut paths) = (None, None, Vec::new());
        for (key, value) in &table.as_ref().0 {
            match (key.as_ref().as_str(), value.as_ref()) {
                ("method", Value::String(name)) if name == "latin-hypercube" => method = Some(Method::LatinHypercube),
                ("method", Value::String(name)) if name == "sobol" => method = Some(Method::Sobol),
                ("method", other) => {
                    return Err(source
                        .error(value, format!("there is no method {other}; write \"latin-hypercube\" or \"sobol\"")));
                }
                ("points", Value::Integer(number)) if *number > 0 => points = number.unsigned_abs().into(),
                ("points", other) => {
                    return Err(
                        source.error(value, format!("`points` is {other}; write how many points to take, 1 or more"))
                    );
                }
                (path, _) if path.contains('.') => paths.push((key.clone(), value.clone())),
                (other, _) => {
                    let hint = near(other, KEYS.into_iter());
                    let reason = format!(
                        "unknown field `{other}`, expected `method`, `points` or paths in quotes, such as \"stream.0.interval\"{hint}"
                    );
                    return Err(source.error(key, reason));
                }
            }
        }
        match (method, points) {
            (Some(method), Some(points)) if !paths.is_empty() => Ok(Self { method, points, paths }),
            (None, _) => Err(source.error(table, "`method` is missing; write \"latin-hypercube\" or \"sobol\"")),
            (_, None) => Err(source.error(table, "`points` is missing; write how many points to take")),
            _ => Err(source.error(
                table,
                "no path is sampled; write for example \"stream.0.interval\" = { from = \"50us\", to = \"200us\" }",
            )),
        }
    }
}
