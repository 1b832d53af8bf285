//! A scenario file, exactly as it was written: typed, units in the values, unknown keys refused.
//!
//! `docs/scenario.md` explains every key. What the keys mean together is [`crate::scenario`]'s business.

use nicsim_core::clock::Rate;
use nicsim_core::noise::{Bytes, NoiseSpec};
use nicsim_core::time::{Span, TIME};
use nicsim_models::mac::Speed;
use nicsim_models::spec::near;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::{Table, Value};

/// A whole scenario file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// Its name.
    pub name: String,
    /// One sentence of purpose.
    pub about: String,
    /// The card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nic: Option<NicSection>,
    /// Changes of its clock.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clock: Vec<ClockSection>,
    /// What sends from the other end of the cable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<SenderSection>,
    /// The streams.
    #[serde(default)]
    pub stream: Vec<StreamSection>,
    /// The capture instrument.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observer: Option<ObserverSection>,
    /// The cable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkSection>,
    /// What is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<ReportSection>,
}

/// `[nic]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NicSection {
    /// Built-in name or path of a NIC file.
    pub model: String,
    /// Driver.
    pub driver: String,
    /// Release-jitter alternative; default: the file's first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<String>,
    /// Speed of the line; default: the file's first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<Speed>,
    /// Transmit descriptors per queue; default: the file's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring: Option<u32>,
    /// What the PHC reads at the start.
    #[serde(default)]
    pub phc_start: Reading,
    /// Frequency offset of the card's oscillator.
    #[serde(default)]
    pub offset: Rate,
    /// Its drift per second.
    #[serde(default)]
    pub drift_per_second: Rate,
    /// Values of the NIC file to replace, by their paths there.
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    pub parameters: Table,
}

/// `[[clock]]`: exactly one of the three actions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockSection {
    /// True time since the scenario's start.
    pub at: Span,
    /// Frequency adjustment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjfine: Option<Rate>,
    /// Step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjtime: Option<Span>,
    /// New reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settime: Option<Reading>,
}

/// `[sender]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SenderSection {
    /// Built-in name or path of an instrument file.
    pub kind: String,
    /// Frequency offset of its oscillator.
    #[serde(default)]
    pub offset: Rate,
    /// Its drift per second.
    #[serde(default)]
    pub drift_per_second: Rate,
    /// Gives the PHY behind it a word clock of its own, this much faster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phy_offset: Option<Rate>,
}

/// Who sends a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum From {
    /// The NIC.
    #[default]
    Nic,
    /// The sender on the other end of the cable.
    Sender,
    /// A program that hands in frames one by one.
    External,
}

/// `[[stream]]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamSection {
    /// Name in reports; default: its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Who sends it.
    #[serde(default)]
    pub from: From,
    /// Number of frames.
    pub frames: u64,
    /// Frame with FCS.
    pub size: Bytes,
    /// From one frame to the next; left out: as fast as they go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Span>,
    /// With launch times, this far ahead of the PHC when the frame reaches the driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<Span>,
    /// First launch time, after the PHC's reading at the start; default: `lead`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_launch: Option<Span>,
    /// Without launch times: added to every interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<NoiseSpec>,
    /// Transmit queue; default: one per stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<u16>,
    /// Asks for a hardware stamp of every frame.
    #[serde(default)]
    pub tx_stamps: bool,
    /// More is asked of the line than it carries, on purpose.
    #[serde(default)]
    pub overload: bool,
}

/// `[observer]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObserverSection {
    /// Built-in name or path of an instrument file.
    pub kind: String,
    /// Frequency offset of its oscillator.
    #[serde(default)]
    pub offset: Rate,
    /// Its drift per second.
    #[serde(default)]
    pub drift_per_second: Rate,
}

/// `[link]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSection {
    /// Delay from one end of the cable to the other.
    pub delay: Span,
}

/// `[report]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportSection {
    /// Records only these; left out: every metric whose parts exist.
    pub metrics: Vec<String>,
}

/// What a clock reads: whole nanoseconds since its epoch, written `"1790050304.5s"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reading(pub u64);

impl std::str::FromStr for Reading {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (num, den) = TIME.ratio(text).map_err(|error| error.to_string())?;
        if num < 0 {
            return Err(format!("`{text}` lies before the clock's epoch; write 0s or later"));
        }
        if num % (den * 1_000) != 0 {
            return Err(format!("`{text}` is not a whole number of nanoseconds, as a clock is set"));
        }
        u64::try_from(num / den / 1_000)
            .ok()
            .filter(|ns| *ns < 1 << 63)
            .map(Self)
            .ok_or_else(|| format!("`{text}` is beyond what a clock holds (2^63 ns, 292 years)"))
    }
}
impl std::fmt::Display for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{}.{:09}", self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        write!(f, "{}s", text.trim_end_matches('0').trim_end_matches('.'))
    }
}
impl<'de> Deserialize<'de> for Reading {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
impl Serialize for Reading {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Why a scenario cannot be used: where, what is wrong, what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct ScenarioError {
    /// File with line and column, or key, or option.
    pub place: String,
    /// What is wrong and what would be right.
    pub reason: String,
}

impl ScenarioError {
    /// An error at `place`.
    pub fn new(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { place: place.into(), reason: reason.into() }
    }
}

impl ScenarioFile {
    /// Reads the text of file `name`, then sets `sets`, each `key.path=value`, in order.
    ///
    /// # Errors
    /// [`ScenarioError`] with the line and column in the file, or the setting.
    pub fn parse(name: &str, text: &str, sets: &[String]) -> Result<Self, ScenarioError> {
        let mut file: Self = toml::from_str(text).map_err(|error| at_line(name, text, &error))?;
        if sets.is_empty() {
            return Ok(file);
        }
        let mut table: Table = toml::from_str(text).map_err(|error| at_line(name, text, &error))?;
        for set in sets {
            file = apply_setting(&mut table, set)?;
        }
        Ok(file)
    }

    /// Reads a file that was taken apart already.
    pub(crate) fn from_table(table: Table) -> Result<Self, String> {
        Value::Table(table).try_into().map_err(|error: toml::de::Error| with_near_keys(error.message()))
    }

    /// The file's text, every value as it was understood.
    ///
    /// # Errors
    /// [`ScenarioError`] when a value cannot be written as TOML.
    pub fn to_toml(&self) -> Result<String, ScenarioError> {
        toml::to_string(self).map_err(|error| ScenarioError::new(&self.name, error.to_string()))
    }
}

/// Sets one `key.path=value` in a scenario; answers the scenario with it.
pub(crate) fn apply_setting(table: &mut Table, set: &str) -> Result<ScenarioFile, ScenarioError> {
    let place = format!("--set {set}");
    let (path, value) = set.split_once('=').filter(|(path, _)| !path.trim().is_empty()).ok_or_else(|| {
        ScenarioError::new(&place, "this is not KEY=VALUE; write for example --set stream.0.interval=100096ns")
    })?;
    set_path(table, path.trim(), read_value(value))
        .and_then(|()| ScenarioFile::from_table(table.clone()))
        .map_err(|reason| ScenarioError::new(&place, reason))
}

/// Reads the text of file `name` as TOML.
pub(crate) fn read_table(name: &str, text: &str) -> Result<Table, ScenarioError> {
    toml::from_str(text).map_err(|error| at_line(name, text, &error))
}

fn at_line(name: &str, text: &str, error: &toml::de::Error) -> ScenarioError {
    let start = error.span().map_or(0, |span| span.start);
    ScenarioError::new(place_in(name, text, start), with_near_keys(error.message()))
}

/// `name:line:column` of byte `start` of a file.
pub(crate) fn place_in(name: &str, text: &str, start: usize) -> String {
    let before = text.get(..start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) + 1;
    format!("{name}:{line}:{column}")
}

/// Adds the nearest known keys to serde's "unknown field" message.
pub(crate) fn with_near_keys(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    match (message.starts_with("unknown "), quoted.next()) {
        (true, Some(unknown)) => format!("{message}{}", near(unknown, quoted)),
        _ => message.trim_end().to_owned(),
    }
}

/// VALUE as a TOML value or, where it is none, as a string.
fn read_value(text: &str) -> Value {
    format!("value = {text}")
        .parse::<Table>()
        .ok()
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Sets a dotted path; numbers are places in arrays, and missing tables on the way are made.
pub(crate) fn set_path(table: &mut Table, path: &str, value: Value) -> Result<(), String> {
    let (parents, last) = path.rsplit_once('.').map_or((None, path), |(parents, last)| (Some(parents), last));
    if last.is_empty() || last.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("`{path}` does not end with a key; write for example stream.0.interval"));
    }
    let mut here = table;
    for part in parents.into_iter().flat_map(|parents| Parts { rest: parents }) {
        here = match part {
            (key, None) => here
                .entry(key)
                .or_insert_with(|| Value::Table(Table::new()))
                .as_table_mut()
                .ok_or_else(|| format!("`{key}` is a value or a list, not a table"))?,
            (key, Some(place)) => {
                let list = here
                    .get_mut(key)
                    .and_then(Value::as_array_mut)
                    .ok_or_else(|| format!("there is no list `{key}`"))?;
                let length = list.len();
                list.get_mut(place).and_then(Value::as_table_mut).ok_or_else(|| {
                    format!("`{key}` has {length} entries, numbered from 0; there is no number {place}")
                })?
            }
        };
    }
    here.insert(last.to_owned(), value);
    Ok(())
}

/// The value at a dotted path, if there is one.
pub(crate) fn get_path<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    let mut parts = path.split('.');
    let first = table.get(parts.next()?)?;
    parts.try_fold(first, |here, part| match here {
        Value::Table(table) => table.get(part),
        Value::Array(list) => list.get(part.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Keys of a dotted path, each with the place in its list where a number follows.
struct Parts<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Parts<'a> {
    type Item = (&'a str, Option<usize>);
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let (key, rest) = self.rest.split_once('.').unwrap_or((self.rest, ""));
        let (number, after) = rest.split_once('.').unwrap_or((rest, ""));
        let place = number.parse().ok();
        self.rest = if place.is_some() { after } else { rest };
        Some((key, place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
name = "t"
about = "a test"

[nic]
model = "e830"
driver = "ice-fixed"

[[stream]]
frames = 10
size = "64B"
interval = "100us"
lead = "100us"
"#;

    fn error(text: &str, sets: &[&str]) -> String {
        let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
        ScenarioFile::parse("t.toml", text, &sets).unwrap_err().to_string()
    }

    #[test]
    fn settings_replace_values_by_their_path() {
        let sets = [
            "stream.0.interval=100096ns".to_owned(),
            "nic.driver=\"ice-linux-6.18\"".to_owned(),
            "link.delay=5ns".to_owned(),
        ];
        let file = ScenarioFile::parse("t.toml", TEXT, &sets).unwrap();
        assert_eq!(file.stream[0].interval, Some("100096ns".parse().unwrap()));
        assert_eq!(file.nic.unwrap().driver, "ice-linux-6.18");
        assert_eq!(file.link.unwrap().delay, "5ns".parse().unwrap());
    }

    #[test]
    fn errors_name_the_place_and_the_nearest_key() {
        let text = TEXT.replace("interval =", "intervall =");
        let message = error(&text, &[]);
        assert!(message.starts_with("t.toml:12:1: unknown field `intervall`"), "{message}");
        assert!(message.ends_with("near it are `interval`"), "{message}");
        let message = error(&TEXT.replace("\"100us\"\nlead", "100\nlead"), &[]);
        assert!(
            message.starts_with("t.toml:12:12: 100 has no unit; write it in quotes with one, such as \"100us\""),
            "{message}"
        );
        let message = error(TEXT, &["stream.0.intervall=1us"]);
        assert!(message.starts_with("--set stream.0.intervall=1us: unknown field `intervall`"), "{message}");
        let message = error(TEXT, &["stream.1.interval=1us"]);
        assert_eq!(
            message,
            "--set stream.1.interval=1us: `stream` has 1 entries, numbered from 0; there is no number 1"
        );
        assert!(error(TEXT, &["interval"]).contains("not KEY=VALUE"));
        assert!(error(TEXT, &["stream.0=1"]).contains("does not end with a key"));
    }

    #[test]
    fn clock_readings_are_whole_nanoseconds_since_the_epoch() {
        assert_eq!("1790050304.50005s".parse(), Ok(Reading(1_790_050_304_500_050_000)));
        assert_eq!(Reading(1_790_050_304_500_050_000).to_string(), "1790050304.50005s");
        assert_eq!("7ns".parse(), Ok(Reading(7)));
        assert!("-1s".parse::<Reading>().unwrap_err().contains("before the clock's epoch"));
        assert!("1.5ns".parse::<Reading>().unwrap_err().contains("whole number of nanoseconds"));
    }
}
