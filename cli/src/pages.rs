//! Plots and pages of runs and analyses, into an output folder.

use std::collections::BTreeMap;

use nicsim_core::stats::{DenseHistogram, Summary};
use nicsim_models::source::Timing;
use nicsim_scenarios::report::MetricSummary;
use nicsim_scenarios::run::Outcome;
use nicsim_scenarios::scenario::Scenario;
use nicsim_scenarios::view::{
    Cell, Fits, HistogramPlot, Page, Section, SeriesPlot, StaircasePlot, interval_histogram, metric_meanings,
    metrics_table, page, report, series, staircase,
};
use nicsim_validate::analyse::Analysis;
use nicsim_validate::stamps::StampFits;

use crate::failure::Failure;
use crate::files::OutputFolder;

/// A plot in the making: file name, caption, picture.
struct Figure {
    file: &'static str,
    caption: String,
    svg: String,
}

/// The plots and the page of a run.
pub(crate) fn run(
    scenario: &Scenario,
    outcome: &Outcome,
    fits: Option<&StampFits>,
    folder: &mut OutputFolder,
) -> Result<(), Failure> {
    let mut figures = Vec::new();
    let about = scenario.file.about.as_str();
    let target = target_ns(scenario);
    if let Some(plotted) = &outcome.series {
        let summary = outcome.report.metrics.get(&plotted.metric).map(|metric| &metric.summary);
        if let Some(summary) = summary {
            figures.extend(histogram(&plotted.metric, about, summary, target));
        }
        let plot = SeriesPlot {
            subtitle: about,
            target_ns: target,
            ..SeriesPlot::new("Frame intervals over the run", plotted)
        };
        let caption =
            format!("{} over the frame number; each column spans its smallest and largest value.", plotted.metric);
        figures.push(Figure { file: "intervals.svg", caption, svg: series(&plot) });
    }
    if let Some(fits) = fits {
        figures.push(stairs(about, target, outcome, fits));
    }
    let html = page(&report(&outcome.report, add(figures, folder)?));
    folder.add("report.html", &html)
}

/// The interval around which the plotted frames are expected: the first stream's, if it states one.
fn target_ns(scenario: &Scenario) -> Option<f64> {
    match scenario.stream_setups().next()?.timing {
        Timing::Scheduled { interval, .. } | Timing::Paced { interval, .. } => Some(interval.as_ns_f64()),
        Timing::BackToBack | Timing::External => None,
    }
}

fn histogram(metric: &str, about: &str, summary: &Summary, target_ns: Option<f64>) -> Option<Figure> {
    let bins = summary.histogram.as_ref()?;
    let quantity = if metric.ends_with("_interval") { "frame interval".to_owned() } else { metric.replace('_', " ") };
    let title = format!("Distribution of the {quantity}");
    let mut plot =
        HistogramPlot { subtitle: about, target_ns, quantity: &quantity, ..HistogramPlot::new(&title, bins) };
    plot.bars.on_grid = on_grid(summary, bins);
    let caption = format!("Number of frames over {metric}, in bins of {} ns.", bins.bin_ns);
    Some(Figure { file: "histogram.svg", caption, svg: interval_histogram(&plot) })
}

/// Do the values lie on the bins, as those of an instrument's ticks do? Values in picoseconds lie anywhere in theirs.
fn on_grid(summary: &Summary, bins: &DenseHistogram) -> bool {
    let extremes = [summary.min_ns, summary.max_ns].into_iter().flatten();
    let mut values = summary.top.iter().map(|(value, _)| *value).chain(extremes);
    values.all(|value| {
        let place = (value - bins.first_ns) / bins.bin_ns;
        (place - place.round()).abs() < 1e-3
    })
}

/// How many of the first frames show steps of a few nanoseconds along the slope: the time that the paper's 500 frames
/// every 10 us take, but not too few for a picture.
fn frames_of_stairs(interval_ns: Option<f64>) -> usize {
    const MOST: f64 = 500.0;
    const LEAST: f64 = 80.0;
    const TIME_NS: f64 = MOST * 10_000.0;
    interval_ns.map_or(MOST, |interval| (TIME_NS / interval).clamp(LEAST, MOST)) as usize
}

fn stairs(about: &str, interval_ns: Option<f64>, outcome: &Outcome, fits: &StampFits) -> Figure {
    let delays = || outcome.stamps.iter().map(|point| point.apparent_delay_ps as f64 / 1_000.0);
    let fits = Fits {
        linear: fits.linear.clone(),
        isotonic: fits.isotonic.clone(),
        linear_residuals: residuals(delays(), &fits.linear),
        isotonic_residuals: residuals(delays(), &fits.isotonic),
    };
    let title = "Capture instrument minus transmit stamp";
    let plot = StaircasePlot {
        subtitle: about,
        fits: Some(&fits),
        first: frames_of_stairs(interval_ns),
        ..StaircasePlot::new(title, &outcome.stamps)
    };
    let caption =
        "Apparent delay from the first frame on, with the linear and the isotonic regression over the whole run.";
    Figure { file: "stamps.svg", caption: caption.to_owned(), svg: staircase(&plot) }
}

/// Smallest and largest residual.
fn residuals(values: impl Iterator<Item = f64>, fitted: &[f64]) -> (f64, f64) {
    let residuals = values.zip(fitted).map(|(value, fitted)| value - fitted);
    residuals.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), r| (low.min(r), high.max(r)))
}

/// Writes the plots as files and answers them as sections of a page.
fn add(figures: Vec<Figure>, folder: &mut OutputFolder) -> Result<Vec<Section>, Failure> {
    figures
        .into_iter()
        .map(|figure| {
            folder.add(figure.file, &figure.svg)?;
            Ok(Section::Figure { caption: figure.caption, svg: figure.svg })
        })
        .collect()
}

/// The plots and the page of an analysed capture.
pub(crate) fn analysis(analysis: &Analysis, folder: &mut OutputFolder) -> Result<(), Failure> {
    const FILES: [&str; 4] = ["histogram.svg", "histogram-2.svg", "histogram-3.svg", "histogram-4.svg"];
    let about = analysis.capture.file.as_str();
    let figures: Vec<Figure> = analysis
        .metrics
        .iter()
        .filter_map(|(name, summary)| histogram(name, about, summary, None))
        .zip(FILES)
        .map(|(figure, file)| Figure { file, ..figure })
        .collect();
    let metrics: BTreeMap<String, MetricSummary> = analysis
        .metrics
        .iter()
        .map(|(name, summary)| (name.clone(), MetricSummary { summary: summary.clone(), clocks: None }))
        .collect();
    let mut sections = vec![facts(analysis), metrics_table("Statistics [ns]", &metrics)];
    sections.extend(add(figures, folder)?);
    sections.extend(metric_meanings(&metrics));
    if !analysis.notes.is_empty() {
        sections.push(Section::Text { heading: "Notes".to_owned(), paragraphs: analysis.notes.clone() });
    }
    let lead = "A recorded capture, analysed as simulated ones are.".to_owned();
    folder.add("report.html", &page(&Page { title: about.to_owned(), lead, sections }))
}

fn facts(analysis: &Analysis) -> Section {
    let capture = &analysis.capture;
    let fact = |name: &str, cell: Cell| (name.to_owned(), cell);
    let mut facts = vec![
        fact("form", Cell::Text(capture.kind.to_string())),
        fact("tick [ns]", Cell::number(Some(capture.tick_ns), 3)),
        fact("frames", Cell::count(capture.frames)),
        fact("used", Cell::count(capture.used)),
    ];
    facts.extend(
        capture.left_out.iter().map(|(reason, count)| fact(&format!("left out: {reason}"), Cell::count(*count))),
    );
    let fit = &analysis.fit;
    for (name, value) in [
        ("slope [ppm]", fit.slope_ppm),
        ("linear residual range [ns]", fit.linear_residual_range_ns),
        ("stamps modulo the tick [ns]", fit.residue_ns),
    ] {
        if value.is_some() {
            facts.push(fact(name, Cell::number(value, 3)));
        }
    }
    Section::Facts { heading: "Capture".to_owned(), facts, note: String::new() }
}

#[cfg(test)]
mod tests {
    use nicsim_core::stats::{Recorder, Unit};

    use super::*;

    fn is_on_grid(unit: Unit, values: &[i64]) -> bool {
        let mut recorder = Recorder::new(unit, 0);
        (0..).zip(values).for_each(|(frame, value)| recorder.record(*value, frame));
        let summary = recorder.summary();
        on_grid(&summary, summary.histogram.as_ref().unwrap())
    }

    #[test]
    fn ticks_lie_on_the_grid_of_their_bins_and_picoseconds_do_not() {
        let ticks = || Unit::Ticks("6.4ns".parse().unwrap());
        assert!(is_on_grid(ticks(), &[15_618, 15_620, 15_619, 15_700]));
        assert!(is_on_grid(ticks(), &[15_618]));
        let jitter: Vec<i64> = (0..1_000).map(|k| 100_000_000 + k * k % 977 * 131).collect();
        assert!(!is_on_grid(Unit::Picoseconds, &jitter));
    }

    #[test]
    fn stairs_are_as_long_as_the_paper_s_but_never_of_few_frames() {
        let intervals = [10_000.0, 1_235.2, 20_000.0, 99_968.0, 1_000_000.0, 0.0];
        assert_eq!(intervals.map(|ns| frames_of_stairs(Some(ns))), [500, 500, 250, 80, 80, 500]);
        assert_eq!(frames_of_stairs(None), 500);
    }
}
