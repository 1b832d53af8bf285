//! The report of a run, as `report.json` holds it (schema `nicsim.report/1`, `docs/schema/report.json`).

use std::collections::BTreeMap;

use nicsim_core::stats::Summary;
use nicsim_models::spec::Parameter;
use serde::{Deserialize, Serialize};

/// Version of the format.
pub const SCHEMA: &str = "nicsim.report/1";

/// A whole report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Version of the format.
    pub schema: String,
    /// What was simulated.
    pub scenario: ScenarioId,
    /// Master seed.
    pub seed: u64,
    /// Run number under it.
    pub run: u64,
    /// Version of nicsim.
    pub version: String,
    /// Kernel that ordered the events; both give the same values.
    pub kernel: String,
    /// What became of the frames of all streams.
    pub counts: FrameCounts,
    /// What became of the stamps of all streams.
    pub stamps: StampCounts,
    /// Figures over all streams.
    pub metrics: BTreeMap<String, MetricSummary>,
    /// The same, stream by stream.
    pub streams: Vec<StreamReport>,
    /// Where the numbers of the hardware come from.
    pub provenance: Provenance,
}

/// A scenario's name and digest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScenarioId {
    /// Its name.
    pub name: String,
    /// Digest of the scenario and of the NIC and instrument files that it uses.
    pub hash: String,
}

/// What became of frames.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameCounts {
    /// Handed to the driver, or sent by the other end.
    pub submitted: u64,
    /// Started on the line.
    pub sent: u64,
    /// Sent without waiting because the hardware took the launch time for past or unset.
    pub immediate: u64,
    /// Started after their release because the link, the queue or the fetch held them.
    pub late: u64,
    /// Dropped, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Malicious-driver events that the hardware reported.
    pub malicious_driver_events: u64,
}

/// What became of stamps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StampCounts {
    /// Asked for (transmit), or due (receive).
    pub requested: u64,
    /// In the hands of software.
    pub read: u64,
    /// Lost, by reason.
    pub lost: BTreeMap<String, u64>,
}

/// One stream's part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamReport {
    /// Its name.
    pub name: String,
    /// Its frames.
    pub counts: FrameCounts,
    /// Its stamps.
    pub stamps: StampCounts,
    /// Its figures.
    pub metrics: BTreeMap<String, MetricSummary>,
}

/// A metric's figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MetricSummary {
    /// What every metric has.
    #[serde(flatten)]
    pub summary: Summary,
    /// What a comparison of two clocks has beyond that.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub clocks: Option<ClockFit>,
}

/// Regressions of one clock over another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClockFit {
    /// Slope; positive: the PHC loses against the observer.
    pub drift_ppb: f64,
    /// Largest minus smallest residual of the straight line.
    pub linear_residual_range_ns: f64,
    /// Largest minus smallest residual of the isotonic fit.
    pub isotonic_residual_range_ns: f64,
}

/// Where the numbers of the hardware come from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Parameters that the run depends on.
    pub parameters: u64,
    /// How many of them are assumed.
    pub assumed: u64,
    /// Their names.
    pub assumed_names: Vec<String>,
}

impl Provenance {
    /// Counts the parameters of a scenario.
    pub fn of(parameters: &[Parameter]) -> Self {
        let assumed_names: Vec<String> = crate::scenario::assumed(parameters).map(|p| p.path.clone()).collect();
        Self { parameters: parameters.len() as u64, assumed: assumed_names.len() as u64, assumed_names }
    }
}

impl FrameCounts {
    /// Adds another stream's counts.
    pub fn add(&mut self, other: &Self) {
        self.submitted += other.submitted;
        self.sent += other.sent;
        self.immediate += other.immediate;
        self.late += other.late;
        self.malicious_driver_events += other.malicious_driver_events;
        add_reasons(&mut self.dropped, &other.dropped);
    }
}

impl StampCounts {
    /// Adds another stream's counts.
    pub fn add(&mut self, other: &Self) {
        self.requested += other.requested;
        self.read += other.read;
        add_reasons(&mut self.lost, &other.lost);
    }
}

fn add_reasons(sum: &mut BTreeMap<String, u64>, other: &BTreeMap<String, u64>) {
    for (reason, count) in other {
        *sum.entry(reason.clone()).or_default() += count;
    }
}

impl Report {
    /// The text of `report.json`.
    ///
    /// # Errors
    /// An error of the serialiser; there is none for finite numbers.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}
