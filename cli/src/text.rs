//! Reports as tables for people.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};
use nicsim_core::stats::Summary;
use nicsim_scenarios::report::{FrameCounts, Report, StampCounts};
use nicsim_scenarios::scenario::Scenario;

/// A table with a header; columns from the second on are set right.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    table.add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    trimmed(&table)
}

/// A table of texts, all set left and wrapped to `width`.
pub(crate) fn list(header: &[&str], rows: &[Vec<String>], width: u16) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    table.set_content_arrangement(comfy_table::ContentArrangement::Dynamic).set_width(width);
    table.add_rows(rows);
    trimmed(&table)
}

fn trimmed(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Nanoseconds with at most three decimals, or a dash.
pub(crate) fn ns(value: Option<f64>) -> String {
    value.map_or_else(
        || "-".to_owned(),
        |value| {
            let text = format!("{value:.3}");
            let text = text.trim_end_matches('0').trim_end_matches('.');
            if text == "-0" { "0".to_owned() } else { text.to_owned() }
        },
    )
}

/// Rows of summaries: count, mean, deviation and the order statistics that people look at.
pub(crate) fn summaries<'a>(metrics: impl Iterator<Item = (&'a str, &'a Summary)>) -> String {
    let header = ["ns", "count", "mean", "std", "min", "p0.5", "p50", "p99.5", "p99.9", "max", "max-min", "lag1"];
    let row = |(name, s): (&str, &Summary)| {
        let lag1 = s.lag1.map_or_else(|| "-".to_owned(), |lag1| format!("{lag1:.3}"));
        let figures =
            [s.mean_ns, s.std_ns, s.min_ns, s.p0_5_ns, s.p50_ns, s.p99_5_ns, s.p99_9_ns, s.max_ns, s.range_ns];
        let mut row = vec![name.to_owned(), s.count.to_string()];
        row.extend(figures.into_iter().map(ns));
        row.push(lag1);
        row
    };
    table(&header, &metrics.map(row).collect::<Vec<_>>())
}

/// A whole report.
pub(crate) fn report(report: &Report, scenario: &Scenario) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}", report.scenario.name);
    let _ = writeln!(text, "{}", scenario.file.about);
    let _ = writeln!(
        text,
        "seed {}, run {}, {} kernel, nicsim {}, scenario {}\n",
        report.seed, report.run, report.kernel, report.version, report.scenario.hash
    );
    let _ = writeln!(text, "frames  {}", frame_counts(&report.counts));
    if report.stamps.requested > 0 {
        let _ = writeln!(text, "stamps  {}", stamp_counts(&report.stamps));
    }
    text.push('\n');
    text += &summaries(report.metrics.iter().map(|(name, metric)| (name.as_str(), &metric.summary)));
    for (name, clocks) in report.metrics.iter().filter_map(|(name, metric)| Some((name, metric.clocks?))) {
        let _ = writeln!(
            text,
            "{name}: drift {:.1} ppb, linear residuals within {} ns, isotonic within {} ns",
            clocks.drift_ppb,
            ns(Some(clocks.linear_residual_range_ns)),
            ns(Some(clocks.isotonic_residual_range_ns))
        );
    }
    if report.streams.len() > 1 {
        text += &streams(report);
    }
    text += &provenance(report);
    text
}

fn streams(report: &Report) -> String {
    let mut text = String::from("\n");
    for stream in &report.streams {
        let _ = writeln!(text, "stream {}: {}", stream.name, frame_counts(&stream.counts));
        text += &summaries(stream.metrics.iter().map(|(name, metric)| (name.as_str(), &metric.summary)));
    }
    text
}

fn provenance(report: &Report) -> String {
    let provenance = &report.provenance;
    let mut text = format!("\n{} hardware parameters, {} of them assumed", provenance.parameters, provenance.assumed);
    if provenance.assumed > 0 {
        let _ = write!(text, ": {}", provenance.assumed_names.join(", "));
    }
    text + "\nPercentiles interpolate linearly between order statistics; standard deviations are the population's.\n"
}

fn frame_counts(counts: &FrameCounts) -> String {
    let mut text = format!(
        "{} submitted, {} sent, {} immediate, {} late",
        counts.submitted, counts.sent, counts.immediate, counts.late
    );
    for (reason, count) in &counts.dropped {
        let _ = write!(text, ", {count} dropped ({reason})");
    }
    if counts.malicious_driver_events > 0 {
        let _ = write!(text, ", {} malicious-driver events", counts.malicious_driver_events);
    }
    text
}

fn stamp_counts(counts: &StampCounts) -> String {
    let mut text = format!("{} requested, {} read", counts.requested, counts.read);
    for (reason, count) in &counts.lost {
        let _ = write!(text, ", {count} lost ({reason})");
    }
    text
}
