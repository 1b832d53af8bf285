//! Plots and pages of runs and analyses, into an output folder.

use std::collections::BTreeMap;

use nicsim_core::stats::Summary;
use nicsim_models::source::Timing;
use nicsim_scenarios::report::MetricSummary;
use nicsim_scenarios::run::Outcome;
use nicsim_scenarios::scenario::Scenario;
use nicsim_scenarios::view::{
    Cell, Fits, HistogramPlot, Page, Section, SeriesPlot, StaircasePlot, interval_histogram, metrics_table, page,
    report, series, staircase,
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
        figures.push(stairs(about, outcome, fits));
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
    let plot = HistogramPlot { subtitle: about, target_ns, quantity: &quantity, ..HistogramPlot::new(&title, bins) };
    let caption = format!("Number of frames over {metric}, in bins of {} ns.", bins.bin_ns);
    Some(Figure { file: "histogram.svg", caption, svg: interval_histogram(&plot) })
}

fn stairs(about: &str, outcome: &Outcome, fits: &StampFits) -> Figure {
    let delays = || outcome.stamps.iter().map(|point| point.apparent_delay_ps as f64 / 1_000.0);
    let fits = Fits {
        linear: fits.linear.clone(),
        isotonic: fits.isotonic.clone(),
        linear_residuals: residuals(delays(), &fits.linear),
        isotonic_residuals: residuals(delays(), &fits.isotonic),
    };
    let title = "Capture instrument minus transmit stamp";
    let plot = StaircasePlot { subtitle: about, fits: Some(&fits), ..StaircasePlot::new(title, &outcome.stamps) };
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
    let mut sections = vec![facts(analysis), metrics_table("Figures", &metrics)];
    sections.extend(add(figures, folder)?);
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
