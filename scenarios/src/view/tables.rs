//! A report, or the summaries of a capture, as sections of a page.

use std::collections::BTreeMap;

use nicsim_core::stats::Summary;

use super::page::{Cell, Page, Section};
use super::text::{count, decimals_of, frames};
use crate::metric;
use crate::report::{FrameCounts, MetricSummary, Provenance, Report, StampCounts, StreamReport};

/// The page of a run, with `figures` after its tables.
pub fn report(report: &Report, figures: Vec<Section>) -> Page {
    let mut sections = vec![frame_facts(&report.counts)];
    sections.extend(stamp_facts(&report.stamps));
    sections.push(metrics_table("Statistics [ns]", &report.metrics));
    sections.extend(clock_table("Stamps against the observer", &report.metrics));
    sections.extend(figures);
    if report.streams.len() > 1 {
        sections.push(stream_counts(&report.streams));
        sections.extend(stream_metrics(&report.streams));
    }
    sections.extend(metric_meanings(&report.metrics));
    sections.extend(provenance(&report.provenance));
    sections.push(identity(report));
    Page { title: report.scenario.name.clone(), lead: lead(report), sections }
}

fn lead(report: &Report) -> String {
    let streams = match report.streams.len() {
        1 => "one stream".to_owned(),
        several => format!("{} streams", count(several as u64)),
    };
    format!("Simulated with nicsim {}: {} of {streams} sent.", report.version, frames(report.counts.sent))
}

fn identity(report: &Report) -> Section {
    let facts = [
        ("scenario", Cell::Text(report.scenario.name.clone())),
        ("digest", Cell::Name(report.scenario.hash.clone())),
        ("seed", Cell::Text(report.seed.to_string())),
        ("run", Cell::Text(report.run.to_string())),
        ("kernel", Cell::Text(report.kernel.clone())),
        ("version", Cell::Text(report.version.clone())),
    ];
    Section::Facts { heading: "This run".to_owned(), facts: named(facts), note: String::new() }
}

fn named<const N: usize>(facts: [(&str, Cell); N]) -> Vec<(String, Cell)> {
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn frame_facts(counts: &FrameCounts) -> Section {
    let mut facts = named([
        ("submitted", Cell::count(counts.submitted)),
        ("sent", Cell::count(counts.sent)),
        ("immediate", Cell::count(counts.immediate)),
        ("late", Cell::count(counts.late)),
    ]);
    facts.extend(counts.dropped.iter().map(|(reason, n)| (format!("dropped: {reason}"), Cell::count(*n))));
    if counts.malicious_driver_events > 0 {
        facts.push(("malicious-driver events".to_owned(), Cell::count(counts.malicious_driver_events)));
    }
    Section::Facts {
        heading: "Frames".to_owned(),
        facts,
        note: "Immediate: sent without waiting because the hardware took the launch time for past or unset. \
               Late: started after its launch tick because the link, a gate or the fetch held it."
            .to_owned(),
    }
}

/// `None` where no frame asked for a stamp.
fn stamp_facts(stamps: &StampCounts) -> Option<Section> {
    let mut facts = named([("requested", Cell::count(stamps.requested)), ("read", Cell::count(stamps.read))]);
    facts.extend(stamps.lost.iter().map(|(reason, n)| (format!("lost: {reason}"), Cell::count(*n))));
    (stamps.requested > 0).then(|| Section::Facts { heading: "Stamps".to_owned(), facts, note: String::new() })
}

const FIGURES: [&str; 10] = ["frames", "mean", "std", "min", "p0.5", "p50", "p99.5", "p99.9", "max", "lag1"];

/// Statistics of metrics, one row each. The heading should name the unit, nanoseconds.
pub fn metrics_table(heading: &str, metrics: &BTreeMap<String, MetricSummary>) -> Section {
    Section::Table {
        heading: heading.to_owned(),
        columns: summary_columns("metric"),
        rows: metrics.iter().map(|(name, metric)| summary_row(name, &metric.summary)).collect(),
        note: "std is the population's; percentiles interpolate linearly between order statistics; lag1, which has no \
               unit, is the autocorrelation of successive values."
            .to_owned(),
    }
}

/// What those of the metrics are that the list of metrics knows; `None` where it knows none.
pub fn metric_meanings(metrics: &BTreeMap<String, MetricSummary>) -> Option<Section> {
    let known = metrics.keys().filter_map(|name| metric::LIST.iter().find(|metric| metric.name == name));
    let row = |metric: &metric::Metric| vec![Cell::Name(metric.name.to_owned()), Cell::Text(metric.about.to_owned())];
    let rows: Vec<Vec<Cell>> = known.map(row).collect();
    (!rows.is_empty()).then(|| Section::Table {
        heading: "What the metrics are".to_owned(),
        columns: ["metric", "is"].map(str::to_owned).to_vec(),
        rows,
        note: String::new(),
    })
}

fn summary_columns(first: &str) -> Vec<String> {
    std::iter::once(first).chain(FIGURES).map(str::to_owned).collect()
}

/// Values have as many decimals as their grid needs, but no more than about six digits; means and deviations lie on no
/// grid and have one digit more.
fn summary_row(name: &str, summary: &Summary) -> Vec<Cell> {
    let extremes: Vec<f64> = [summary.min_ns, summary.max_ns].into_iter().flatten().collect();
    let largest = extremes.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let room = if largest < 100.0 { 3 } else { 1 };
    let decimals = extremes.iter().map(|value| decimals_of(*value)).max().unwrap_or(0).min(room);
    let (value, average) = (|value| Cell::number(value, decimals), |value| Cell::number(value, room.max(2)));
    vec![
        Cell::Name(name.to_owned()),
        Cell::count(summary.count),
        average(summary.mean_ns),
        average(summary.std_ns),
        value(summary.min_ns),
        value(summary.p0_5_ns),
        value(summary.p50_ns),
        value(summary.p99_5_ns),
        value(summary.p99_9_ns),
        value(summary.max_ns),
        Cell::number(summary.lag1, 3),
    ]
}

/// Regressions of one clock over another; `None` where no metric has one.
pub fn clock_table(heading: &str, metrics: &BTreeMap<String, MetricSummary>) -> Option<Section> {
    let rows: Vec<Vec<Cell>> = metrics
        .iter()
        .filter_map(|(name, metric)| {
            let clocks = metric.clocks?;
            Some(vec![
                Cell::Name(name.clone()),
                Cell::number(Some(clocks.drift_ppb), 1),
                Cell::number(Some(clocks.linear_residual_range_ns), 2),
                Cell::number(Some(clocks.isotonic_residual_range_ns), 2),
            ])
        })
        .collect();
    let columns = ["metric", "drift [ppb]", "linear residual range [ns]", "isotonic residual range [ns]"];
    (!rows.is_empty()).then(|| Section::Table {
        heading: heading.to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows,
        note: "Positive drift: the PHC loses against the observer. A range is the largest less the smallest residual."
            .to_owned(),
    })
}

fn stream_counts(streams: &[StreamReport]) -> Section {
    let columns = ["stream", "submitted", "sent", "immediate", "late", "dropped", "stamps requested", "stamps read"];
    let row = |stream: &StreamReport| {
        let FrameCounts { submitted, sent, immediate, late, ref dropped, .. } = stream.counts;
        let numbers =
            [submitted, sent, immediate, late, dropped.values().sum(), stream.stamps.requested, stream.stamps.read];
        std::iter::once(Cell::Name(stream.name.clone())).chain(numbers.map(Cell::count)).collect()
    };
    Section::Table {
        heading: "Frames by stream".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: streams.iter().map(row).collect(),
        note: String::new(),
    }
}

/// One table for each metric, so that streams stand under one another.
fn stream_metrics(streams: &[StreamReport]) -> Vec<Section> {
    let names: std::collections::BTreeSet<&String> = streams.iter().flat_map(|stream| stream.metrics.keys()).collect();
    let rows = |name: &String| {
        let of_metric = |stream: &StreamReport| Some(summary_row(&stream.name, &stream.metrics.get(name)?.summary));
        streams.iter().filter_map(of_metric).collect()
    };
    names
        .into_iter()
        .map(|name| Section::Table {
            heading: format!("{name} by stream [ns]"),
            columns: summary_columns("stream"),
            rows: rows(name),
            note: String::new(),
        })
        .collect()
}

/// Where the hardware's numbers come from; `None` where there are none.
pub fn provenance(provenance: &Provenance) -> Option<Section> {
    let of = format!(
        "{} of the {} parameters that this run depends on are assumed and not measured or documented",
        count(provenance.assumed),
        count(provenance.parameters)
    );
    (provenance.parameters > 0).then(|| Section::List {
        heading: "Provenance".to_owned(),
        lead: if provenance.assumed_names.is_empty() { format!("{of}.") } else { format!("{of}:") },
        items: provenance.assumed_names.clone(),
    })
}
