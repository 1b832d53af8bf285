//! NIC and instrument files: every number with its unit and its source.
//!
//! A file is read twice. As plain TOML it is a tree of parameters, each a table with `value`, `source` and `cite`;
//! that tree is what `show` prints, what a scenario overrides by dotted path and what provenance counts. As
//! [`NicSpec`] or [`InstrumentSpec`] it is checked and typed for the models.

use std::fmt;

use nicsim_core::grid::Period;
use nicsim_core::noise::{Bytes, NoiseSpec};
use nicsim_core::time::Span;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::bits::Field;
use crate::launch::{Compare, LaunchParameters};
use crate::mac::Speed;
use crate::phc::PhcParameters;
use crate::release::ReleaseSpec;
use crate::stamp::{ReadoutParameters, StallParameters};

/// Where a number comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// A vendor's manual or data sheet.
    #[serde(rename = "data sheet")]
    DataSheet,
    /// A driver's source code.
    #[serde(rename = "driver source")]
    DriverSource,
    /// A publication's text, or a recorded capture.
    #[serde(rename = "publication")]
    Publication,
    /// Arithmetic on published numbers.
    #[serde(rename = "derived")]
    Derived,
    /// Nobody's figure: it makes others come out, or had to be something.
    #[serde(rename = "assumed")]
    Assumed,
    /// The scenario set it.
    #[serde(rename = "scenario")]
    Scenario,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DataSheet => "data sheet",
            Self::DriverSource => "driver source",
            Self::Publication => "publication",
            Self::Derived => "derived",
            Self::Assumed => "assumed",
            Self::Scenario => "scenario",
        })
    }
}

/// A number of the hardware.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Param<T> {
    /// The value, with its unit where it has one.
    pub value: T,
    /// The unit of a plain whole number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Kind of source.
    pub source: Source,
    /// Section, file and function, or reason.
    pub cite: String,
}

/// A NIC as its file describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "docs/models/README.md explains each key; the files explain each value")]
pub struct NicSpec {
    pub name: String,
    pub about: String,
    pub mac: MacSpec,
    pub phc: PhcSpec,
    pub queue: QueueSpec,
    pub fetch: FetchSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<LaunchSpec>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_stamp: Option<TxStampSpec>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_stamp: Option<RxStampSpec>,
    /// Release-jitter alternatives; the first is the default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jitter: Vec<JitterSpec>,
}

/// The MAC and the line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "see NicSpec")]
pub struct MacSpec {
    /// Speeds; the first is the default.
    pub speeds: Param<Vec<Speed>>,
    /// Frames start on blocks of this length, locked to the card's oscillator; left out: anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_grid: Option<Param<Period>>,
}

/// The PTP hardware clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "see NicSpec")]
pub struct PhcSpec {
    /// Period of the clock that ticks it.
    pub tick: Param<Period>,
    /// Nominal increment per tick [2^-32 ns].
    pub increment: Param<u64>,
    /// Largest frequency adjustment \[ppb\].
    pub max_adj: Param<u32>,
    /// How often the driver caches its reading.
    pub cache_refresh: Param<Period>,
}

/// Transmit queues.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "see NicSpec")]
pub struct QueueSpec {
    pub count: Param<u16>,
    pub default_ring: Param<u32>,
    pub max_ring: Param<u32>,
}

/// Descriptor and data fetch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FetchSpec {
    /// From the doorbell until the descriptor and the data are on the chip.
    pub latency: Param<NoiseSpec>,
}

/// The launch-time engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "see NicSpec")]
pub struct LaunchSpec {
    pub unit: Param<Span>,
    pub time_field: Param<Field>,
    pub index_field: Param<Field>,
    pub window: Param<Span>,
    pub zero_is_unset: Param<bool>,
    pub compare: Param<Compare>,
    /// Time descriptors that the hardware fetches at once.
    pub descriptor_fetch: Param<u32>,
}

/// Transmit stamps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "see NicSpec")]
pub struct TxStampSpec {
    pub jitter: Param<NoiseSpec>,
    pub registers: Param<usize>,
    pub read_time: Param<Span>,
    pub reader_wake: Param<Span>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall: Option<StallSpec>,
}

/// Stalls of the stamp reader.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "see NicSpec")]
pub struct StallSpec {
    pub every: Param<Period>,
    pub shortest: Param<Span>,
    pub longest: Param<Span>,
}

/// Receive stamps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "see NicSpec")]
pub struct RxStampSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<WordSpec>,
    pub jitter: Param<NoiseSpec>,
}

/// The clock of received words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "see NicSpec")]
pub struct WordSpec {
    pub period: Param<Period>,
    pub offset: Param<nicsim_core::clock::Rate>,
}

/// One alternative of the release jitter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "see NicSpec")]
pub struct JitterSpec {
    pub name: String,
    pub evidence: String,
    pub misses: String,
    pub release: Param<ReleaseSpec>,
}

/// A capture instrument or sender at the other end of the cable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "see NicSpec")]
pub struct InstrumentSpec {
    pub name: String,
    pub about: String,
    pub speed: Param<Speed>,
    /// Tick of its counter and clock of its sender; left out: an ideal sender that captures nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick: Option<Param<Period>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture_jitter: Option<Param<NoiseSpec>>,
    /// Word clock of the PHY behind its sender, where a scenario gives that a clock of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phy_word: Option<Param<Period>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phy_jitter: Option<Param<NoiseSpec>>,
}

/// Why a NIC or instrument file cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// It is not TOML, or not a file of this kind.
    #[error("{name}: {reason}")]
    Malformed {
        /// The file.
        name: String,
        /// What is wrong, with line and column where the text has them.
        reason: String,
    },
    /// An override names a parameter that does not exist.
    #[error("{name} has no parameter `{path}`{hint}")]
    NoParameter {
        /// The file.
        name: String,
        /// The path.
        path: String,
        /// Near names.
        hint: String,
    },
    /// A value out of its range.
    #[error("{name}: {key} is {value}; {right}")]
    Range {
        /// The file.
        name: String,
        /// The parameter.
        key: &'static str,
        /// Its value.
        value: String,
        /// What would be right.
        right: &'static str,
    },
}

/// One line of a parameter table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parameter {
    /// Dotted path.
    pub path: String,
    /// The value as the file writes it.
    pub value: String,
    /// Kind of source.
    pub source: Source,
    /// Section, file and function, or reason.
    pub cite: String,
}

/// A file as a tree of parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct SpecFile {
    name: String,
    table: Table,
}

impl SpecFile {
    /// Reads the text of file `name`.
    ///
    /// # Errors
    /// [`SpecError::Malformed`] with the place.
    pub fn parse(name: &str, text: &str) -> Result<Self, SpecError> {
        let table = text.parse::<Table>().map_err(|error| malformed(name, &error))?;
        Ok(Self { name: name.to_owned(), table })
    }

    /// Sets parameters from a tree of the same shape, marked as the scenario's.
    ///
    /// # Errors
    /// [`SpecError::NoParameter`] for a path that the file does not have.
    pub fn override_with(&mut self, overrides: &Table) -> Result<(), SpecError> {
        let known: Vec<String> = self.parameters().into_iter().map(|parameter| parameter.path).collect();
        for (path, value) in leaves(overrides, "", &|path| known.iter().any(|k| k == path)) {
            let Some(parameter) = at_path(&mut self.table, &path).filter(|table| is_parameter(table)) else {
                let hint = near(&path, known.iter().map(String::as_str));
                return Err(SpecError::NoParameter { name: self.name.clone(), path, hint });
            };
            parameter.insert("value".to_owned(), value);
            parameter.insert("source".to_owned(), Value::String(Source::Scenario.to_string()));
            parameter.insert("cite".to_owned(), Value::String("set by the scenario".to_owned()));
        }
        Ok(())
    }

    /// The file's one sentence about itself.
    pub fn about(&self) -> Option<&str> {
        self.table.get("about").and_then(Value::as_str)
    }

    /// All parameters, in the order of their paths.
    pub fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        collect(&self.table, "", &mut parameters);
        parameters
    }

    /// The file as a typed description.
    ///
    /// # Errors
    /// [`SpecError::Malformed`] when a key is missing, unknown or of the wrong kind.
    pub fn typed<T: DeserializeOwned>(&self) -> Result<T, SpecError> {
        Value::Table(self.table.clone()).try_into().map_err(|error| malformed(&self.name, &error))
    }

    /// The file's text.
    pub fn to_toml(&self) -> String {
        self.table.to_string()
    }
}

fn malformed(name: &str, error: &toml::de::Error) -> SpecError {
    SpecError::Malformed { name: name.to_owned(), reason: error.to_string().trim_end().to_owned() }
}

fn is_parameter(table: &Table) -> bool {
    table.contains_key("value") && table.contains_key("source")
}

/// `; near it are …` for the nearest of `names`, or nothing.
pub fn near<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> String {
    let mut scored: Vec<(f64, &str)> = names.map(|name| (strsim::jaro_winkler(word, name), name)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let close: Vec<String> = scored.iter().filter(|s| s.0 > 0.8).take(3).map(|s| format!("`{}`", s.1)).collect();
    if close.is_empty() { String::new() } else { format!("; near it are {}", close.join(", ")) }
}

fn collect(table: &Table, prefix: &str, into: &mut Vec<Parameter>) {
    if is_parameter(table) {
        let text = |key: &str| table.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let unit = table.get("unit").and_then(Value::as_str).map_or(String::new(), |unit| format!(" {unit}"));
        let value = table.get("value").map_or(String::new(), |value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        let source = Value::String(text("source")).try_into().unwrap_or(Source::Assumed);
        into.push(Parameter { path: prefix.to_owned(), value: value + &unit, source, cite: text("cite") });
        return;
    }
    for (key, value) in table {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            Value::Table(inner) => collect(inner, &path, into),
            Value::Array(items) => items.iter().enumerate().for_each(|(k, item)| {
                if let Value::Table(inner) = item {
                    let name = inner.get("name").and_then(Value::as_str).map_or(k.to_string(), str::to_owned);
                    collect(inner, &format!("{path}.{name}"), into);
                }
            }),
            _ => {}
        }
    }
}

/// Values of a tree with their dotted paths; a table that stands at a known path is itself a value.
fn leaves(table: &Table, prefix: &str, known: &dyn Fn(&str) -> bool) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (key, value) in table {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            Value::Table(inner) if !known(&path) && !inner.is_empty() => found.extend(leaves(inner, &path, known)),
            other => found.push((path, other.clone())),
        }
    }
    found
}

/// The table at a dotted path; elements of an array of tables go by their `name`, which may hold dots itself.
fn at_path<'a>(table: &'a mut Table, path: &str) -> Option<&'a mut Table> {
    let (key, rest) = path.split_once('.').unwrap_or((path, ""));
    match table.get_mut(key)? {
        Value::Table(inner) => at_end(inner, rest),
        Value::Array(items) => items.iter_mut().find_map(|item| {
            let name = item.get("name").and_then(Value::as_str)?.to_owned();
            let rest = rest.strip_prefix(&name)?;
            at_end(item.as_table_mut()?, if rest.is_empty() { rest } else { rest.strip_prefix('.')? })
        }),
        _ => None,
    }
}

fn at_end<'a>(table: &'a mut Table, rest: &str) -> Option<&'a mut Table> {
    if rest.is_empty() { Some(table) } else { at_path(table, rest) }
}

impl NicSpec {
    /// Checks what the types cannot say.
    ///
    /// # Errors
    /// [`SpecError::Range`] names the parameter and what would be right.
    pub fn check(&self) -> Result<(), SpecError> {
        let range = |key, value: String, right| Err(SpecError::Range { name: self.name.clone(), key, value, right });
        if self.mac.speeds.value.is_empty() {
            return range("mac.speeds", "[]".into(), "name at least one speed");
        }
        if self.phc.max_adj.value > 200_000_000 {
            return range("phc.max_adj", self.phc.max_adj.value.to_string(), "it must not exceed 200000000 ppb (20 %)");
        }
        if self.queue.default_ring.value == 0 || self.queue.default_ring.value > self.queue.max_ring.value {
            return range(
                "queue.default_ring",
                self.queue.default_ring.value.to_string(),
                "it must lie between 1 and queue.max_ring",
            );
        }
        if self.queue.max_ring.value > 1 << 16 {
            return range("queue.max_ring", self.queue.max_ring.value.to_string(), "it must not exceed 65536");
        }
        if self.queue.count.value == 0 {
            return range("queue.count", "0".into(), "a NIC has at least one queue");
        }
        if let Some(launch) = &self.launch {
            let unit = launch.unit.value.as_ps();
            if unit <= 0 || unit % 1_000 != 0 || unit > 1_000_000_000 {
                return range("launch.unit", launch.unit.value.to_string(), "it must be whole nanoseconds, up to 1 ms");
            }
            if launch.window.value <= Span::ZERO || launch.window.value.as_ps() % 1_000 != 0 {
                return range("launch.window", launch.window.value.to_string(), "it must be whole nanoseconds above 0");
            }
            if self.jitter.is_empty() {
                return range("jitter", "[]".into(), "a NIC with a launch-time engine needs at least one [[jitter]]");
            }
        }
        if let Some(stamps) = &self.tx_stamp {
            if stamps.registers.value == 0 || stamps.registers.value > 1 << 16 {
                return range(
                    "tx_stamp.registers",
                    stamps.registers.value.to_string(),
                    "it must lie between 1 and 65536",
                );
            }
            if let Some(stall) = &stamps.stall {
                let longest_below_period =
                    stall.longest.value.as_ps() < stall.every.value.num() / stall.every.value.den();
                if stall.shortest.value < Span::ZERO
                    || stall.longest.value < stall.shortest.value
                    || !longest_below_period
                {
                    let value = format!("{} to {}", stall.shortest.value, stall.longest.value);
                    return range("tx_stamp.stall", value, "it must run from 0s up and end before the next one begins");
                }
            }
        }
        Ok(())
    }

    /// The clock's fixed numbers.
    pub fn phc_parameters(&self) -> PhcParameters {
        PhcParameters {
            tick: self.phc.tick.value,
            increment: self.phc.increment.value,
            max_adj_ppb: self.phc.max_adj.value,
        }
    }
}

impl LaunchSpec {
    /// The engine's fixed numbers.
    pub fn parameters(&self) -> LaunchParameters {
        LaunchParameters {
            unit_ns: self.unit.value.as_ps().unsigned_abs() / 1_000,
            time: self.time_field.value,
            index: self.index_field.value,
            window_ns: self.window.value.as_ps().unsigned_abs() / 1_000,
            zero_is_unset: self.zero_is_unset.value,
            compare: self.compare.value,
        }
    }
}

impl TxStampSpec {
    /// The read-out's fixed numbers.
    pub fn readout(&self) -> ReadoutParameters {
        ReadoutParameters {
            registers: self.registers.value,
            per_stamp: self.read_time.value,
            wake: self.reader_wake.value,
            stall: self.stall.as_ref().map(|stall| StallParameters {
                every: stall.every.value,
                shortest: stall.shortest.value,
                longest: stall.longest.value,
            }),
        }
    }
}

/// Frame sizes that a scenario may use [octets with FCS].
pub const FRAME_SIZES: std::ops::RangeInclusive<u32> = crate::mac::MIN_FRAME..=crate::mac::MAX_FRAME;

/// A size as scenarios write it.
pub type Size = Bytes;
