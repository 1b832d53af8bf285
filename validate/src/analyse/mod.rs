//! The analysis of a capture: what `nicsim analyse` prints.
//!
//! Recorded and simulated captures take the same path. An interval is always one between successive frames of one
//! stream; the values of all streams are pooled. Against a second capture of the same frames there are besides the
//! delay, the difference of the two intervals, and the fit of one clock over the other.

use std::collections::BTreeMap;

use nicsim_core::stats::{Summary, Unit};
use nicsim_core::time::Span;
use serde::{Deserialize, Serialize};

use crate::fit::{self, Point};
use crate::plan::Plan;
use crate::recording::{Capture, Kind, unit};

mod pairs;
mod series;
mod streams;

use pairs::Pairing;
use series::{Series, Value};
use streams::Stream;

/// Name of the form of an [`Analysis`].
pub const SCHEMA: &str = "nicsim.analysis/1";

/// Names of the metrics.
pub mod metric {
    /// Difference of successive counts of the EFCC instrument.
    pub const OBSERVED_INTERVAL: &str = "observed_interval";
    /// Difference of successive stamps of any other capture.
    pub const RX_STAMP_INTERVAL: &str = "rx_stamp_interval";
    /// This capture's time of a frame minus the other's.
    pub const DELAY: &str = "delay";
    /// This capture's interval before a frame minus the other's.
    pub const INTERVAL_DIFFERENCE: &str = "interval_difference";
}

/// The figures of a capture, as printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// [`SCHEMA`].
    pub schema: String,
    /// The capture.
    pub capture: CaptureInfo,
    /// Summaries by the names of [`metric`]; a metric without values is not there.
    pub metrics: BTreeMap<String, Summary>,
    /// What a straight line through the times says.
    pub fit: Fit,
    /// What a reader of the figures should know.
    pub notes: Vec<String>,
}

/// The capture that was analysed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaptureInfo {
    /// Its name.
    pub file: String,
    /// Its form.
    pub kind: Kind,
    /// The instrument's tick; of stamps, the grid on which they lie, or else their unit.
    pub tick_ns: f64,
    /// Frames in the file.
    pub frames: u64,
    /// Frames that the figures are of.
    pub used: u64,
    /// The other frames, by reason.
    pub left_out: BTreeMap<String, u64>,
}

/// What a straight line through the times says; `None` where there is none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// Slope against the schedule, or of this clock over the other: positive where times grow faster.
    pub slope_ppm: Option<f64>,
    /// Largest residual less the smallest.
    pub linear_residual_range_ns: Option<f64>,
    /// The stamps' common value modulo the tick; `None` without a tick beyond the unit of the stamps.
    pub residue_ns: Option<f64>,
}

/// Analyses a capture; with `against`, also frame by frame against a second one.
pub fn analyse(capture: &Capture, plan: Option<&Plan>, against: Option<&Capture>) -> Analysis {
    let mut notes = capture.notes.clone();
    let streams = streams::split(capture, plan, &mut notes);
    let intervals: Vec<Series> = streams.iter().map(|stream| stream.intervals(capture)).collect();
    let grid = grid(capture, &intervals);
    let tick = unit::times(capture.unit, grid).unwrap_or(capture.unit);
    if intervals.iter().all(Vec::is_empty) {
        notes.push("no stream has two frames, so there is no interval".to_owned());
    }
    let mut metrics = BTreeMap::new();
    add(&mut metrics, interval_name(capture.kind), &intervals, capture.unit, tick);
    let line = match against {
        Some(other) => compare(capture, other, &streams, tick, &mut metrics, &mut notes),
        None => schedule_line(capture, plan, &streams, &intervals, grid, &mut notes),
    };
    Analysis {
        schema: SCHEMA.to_owned(),
        capture: info(capture, tick),
        metrics,
        fit: Fit { residue_ns: residue(capture, grid), ..line.unwrap_or_default() },
        notes,
    }
}

fn info(capture: &Capture, tick: Unit) -> CaptureInfo {
    CaptureInfo {
        file: capture.file.clone(),
        kind: capture.kind,
        tick_ns: tick.to_ns(1),
        frames: capture.frames_in_file(),
        used: capture.frames.len() as u64,
        left_out: capture.left_out.clone(),
    }
}

const fn interval_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Efcc => metric::OBSERVED_INTERVAL,
        Kind::Pcap | Kind::Pcapng | Kind::Csv => metric::RX_STAMP_INTERVAL,
    }
}

/// Adds the summary of `series`, whose values count in `unit`; in `bin`s where they all lie on them.
fn add(metrics: &mut BTreeMap<String, Summary>, name: &str, series: &[Series], unit: Unit, bin: Unit) {
    if let Some(summary) = series::summary(series, unit, bin) {
        metrics.insert(name.to_owned(), summary);
    }
}

/// The grid on which stamps lie [units of the capture]: the greatest common divisor of their intervals.
///
/// It is 1 (none) for an instrument that counts its own ticks, and where all intervals are multiples of the
/// shortest one: the divisor is then the schedule's and not the clock's.
fn grid(capture: &Capture, intervals: &[Series]) -> i64 {
    if capture.kind == Kind::Efcc {
        return 1;
    }
    // Across streams: the intervals within each say nothing of the streams' places on the grid.
    let steps =
        || capture.frames.windows(2).map(|pair| (i128::from(pair[1].at) - i128::from(pair[0].at)).unsigned_abs());
    let divisor = steps().fold(0, unit::gcd);
    let shortest =
        intervals.iter().flatten().map(|value| u128::from(value.value.unsigned_abs())).filter(|v| *v > 0).min();
    let is_clocks = shortest.is_some_and(|shortest| divisor < shortest);
    let grid = i64::try_from(divisor).ok().filter(|grid| is_clocks && *grid > 1);
    grid.filter(|grid| unit::times(capture.unit, *grid).is_some()).unwrap_or(1)
}

/// The stamps' common value modulo the grid.
fn residue(capture: &Capture, grid: i64) -> Option<f64> {
    (grid > 1).then(|| capture.unit.to_ns(capture.origin.rem_euclid(i128::from(grid))))
}

/// The line of the frames' times over their places in the schedule; slopes in parts of the planned interval.
fn schedule_line(
    capture: &Capture,
    plan: Option<&Plan>,
    streams: &[Stream],
    intervals: &[Series],
    grid: i64,
    notes: &mut Vec<String>,
) -> Option<Fit> {
    let planned = planned_intervals(capture, plan, streams);
    let scheduled = planned.or_else(|| inferred_intervals(capture, streams, intervals, grid, notes))?;
    let groups: Vec<Vec<Point>> = streams
        .iter()
        .zip(&scheduled)
        .map(|(stream, interval)| stream.deviations(capture, *interval))
        .filter(|points| !points.is_empty())
        .collect();
    let (_, den) = unit::ratio(capture.unit);
    let slices: Vec<&[Point]> = groups.iter().map(Vec::as_slice).collect();
    let line = fit::linear_in_groups(&slices)?;
    Some(Fit {
        slope_ppm: Some(line.slope * 1e6),
        linear_residual_range_ns: Some(line.residual_range() / (den as f64 * 1_000.0)),
        residue_ns: None,
    })
}

/// The plan's interval for each stream, as the ratio of picoseconds (numerator over the unit's denominator) that
/// [`Stream::deviations`] takes; `None` unless all streams have one.
fn planned_intervals(capture: &Capture, plan: Option<&Plan>, streams: &[Stream]) -> Option<Vec<i128>> {
    let (_, den) = unit::ratio(capture.unit);
    let interval = |stream: &Stream| -> Option<Span> { plan?.streams.get(stream.planned?)?.interval };
    streams.iter().map(|stream| interval(stream).map(|span| i128::from(span.as_ps()) * den)).collect()
}

/// Intervals within this many ticks of the most frequent one count as periodic.
const NEAR: u64 = 2;

/// The most frequent interval of each stream, where at least half of its intervals are near it.
fn inferred_intervals(
    capture: &Capture,
    streams: &[Stream],
    intervals: &[Series],
    grid: i64,
    notes: &mut Vec<String>,
) -> Option<Vec<i128>> {
    let (num, _) = unit::ratio(capture.unit);
    let reach = NEAR * grid.unsigned_abs();
    // A stream of one frame has its own intercept and says nothing.
    let period = |series: &Series| if series.is_empty() { Some(0) } else { series::period(series, reach) };
    let found: Option<Vec<i64>> = intervals.iter().map(period).collect();
    let Some(found) = found else {
        notes.push("the frames are not periodic and there is no plan, so no line is fitted".to_owned());
        return None;
    };
    for ((stream, interval), series) in
        streams.iter().zip(&found).zip(intervals).filter(|(_, series)| !series.is_empty())
    {
        let ns = capture.unit.to_ns(i128::from(*interval));
        notes.push(format!("{}the interval is not given; the most frequent one is taken, {ns} ns", stream.prefix()));
        let gaps = series.iter().filter(|value| i128::from(value.value) * 2 > i128::from(*interval) * 3).count();
        if gaps > 0 {
            notes.push(format!(
                "{}{gaps} intervals are over 1.5 times as long: where frames are missing or late, the line bends",
                stream.prefix()
            ));
        }
    }
    Some(found.into_iter().map(|interval| i128::from(interval) * num).collect())
}

/// Adds the metrics of the frames that both captures have, and fits this clock over the other.
fn compare(
    capture: &Capture,
    other: &Capture,
    streams: &[Stream],
    tick: Unit,
    metrics: &mut BTreeMap<String, Summary>,
    notes: &mut Vec<String>,
) -> Option<Fit> {
    notes.extend(other.notes.iter().map(|note| format!("{}: {note}", other.file)));
    let pairing = Pairing::of(capture, other, notes);
    let scale = pairs::Scale::of(capture, other, notes);
    let delays = pairs::delays(capture, other, &pairing, scale, notes);
    let series: Vec<Series> = streams.iter().map(|stream| stream.delays(&delays)).collect();
    let differences: Vec<Series> = series
        .iter()
        .map(|delays| delays.windows(2).filter_map(|pair| Value::difference(&pair[0], &pair[1])).collect())
        .collect();
    let bin = common_tick(tick, other).unwrap_or(scale.unit);
    add(metrics, metric::DELAY, &series, scale.unit, bin);
    add(metrics, metric::INTERVAL_DIFFERENCE, &differences, scale.unit, bin);
    let points: Vec<Point> =
        delays.iter().map(|delay| Point { x: delay.at_other, y: i128::from(delay.value) }).collect();
    let line = fit::linear(&points)?;
    Some(Fit {
        slope_ppm: Some(line.slope * 1e6),
        linear_residual_range_ns: Some(line.residual_range() * scale.unit.to_ns(1)),
        residue_ns: None,
    })
}

/// The tick that both captures share.
fn common_tick(tick: Unit, other: &Capture) -> Option<Unit> {
    let intervals: Vec<Series> =
        streams::split(other, None, &mut Vec::new()).iter().map(|s| s.intervals(other)).collect();
    let other_tick = unit::times(other.unit, grid(other, &intervals)).unwrap_or(other.unit);
    unit::common(tick, other_tick)
}
