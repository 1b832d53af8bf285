//! `nicsim run`: one scenario, its report, and what else was asked for.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use nicsim_core::stats::Summary;
use nicsim_scenarios::report::Report;
use nicsim_scenarios::run::{Outcome, RunOptions, run as simulate};
use nicsim_scenarios::scenario::Scenario;
use nicsim_validate::stamps;

use crate::failure::{Failure, print};
use crate::files::OutputFolder;
use crate::options::{Format, ScenarioArgs};
use crate::record::Recording;
use crate::{pages, progress, text};

/// What is recorded frame by frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Record {
    /// Ground truth: frames.parquet
    Frames,
    /// The instrument's view: capture.csv, capture.pcapng, and capture.toml beside them
    Capture,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// Form of the report on standard output
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Also write report.json, report.html, the plots, and what --record names, into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Record frame by frame into the --out folder
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT", requires = "out")]
    record: Vec<Record>,
    /// No progress bar
    #[arg(long)]
    no_progress: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the command.
pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    let scenario = args.scenario.open()?;
    let options = RunOptions {
        seed: args.scenario.seed,
        run: args.scenario.run,
        kernel: args.scenario.kernel.into(),
        series: args.out.is_some(),
    };
    let mut folder = args.out.as_deref().map(OutputFolder::create).transpose()?;
    let mut recording = Recording::start(&args.record, &scenario, folder.as_ref())?;
    let bar = progress::bar(scenario.frames(), "frames", args.no_progress || args.quiet);
    let outcome = simulate(&scenario, options, &mut recording, &mut |frames| {
        bar.set_position(frames);
        true
    });
    bar.finish_and_clear();
    let mut outcome =
        outcome.map_err(|error| Failure::Input(anyhow::anyhow!("{}: {error}", args.scenario.scenario)))?;
    let fits = stamps::complete(&mut outcome);
    if let Some(mut folder) = folder.take() {
        recording.finish(&scenario, &mut folder)?;
        write_report(&scenario, &outcome, fits.as_ref(), &mut folder)?;
        folder.commit()?;
    }
    if args.quiet { Ok(()) } else { print(&printed(&scenario, &outcome.report, args.format)?) }
}

fn json(report: &Report) -> Result<String, Failure> {
    report.to_json().map_err(|error| Failure::Output(anyhow::anyhow!("report.json: {error}")))
}

fn printed(scenario: &Scenario, report: &Report, format: Format) -> Result<String, Failure> {
    match format {
        Format::Table => Ok(text::report(report, scenario)),
        Format::Json => json(report),
        Format::Csv => summaries_csv(report.metrics.iter().map(|(name, metric)| (name.as_str(), &metric.summary))),
    }
}

/// One line per metric.
pub(crate) fn summaries_csv<'a>(metrics: impl Iterator<Item = (&'a str, &'a Summary)>) -> Result<String, Failure> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    let header = [
        "metric",
        "count",
        "mean_ns",
        "std_ns",
        "min_ns",
        "max_ns",
        "range_ns",
        "p0_5_ns",
        "p1_ns",
        "p5_ns",
        "p50_ns",
        "p95_ns",
        "p99_ns",
        "p99_5_ns",
        "p99_9_ns",
        "p99_99_ns",
        "min_at_frame",
        "max_at_frame",
        "lag1",
        "distinct",
    ];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(metrics.map(|(name, summary)| csv_row(name, summary)));
    for row in rows {
        csv.write_record(row).map_err(|error| Failure::Output(anyhow::anyhow!("CSV: {error}")))?;
    }
    let bytes = csv.into_inner().map_err(|error| Failure::Output(anyhow::anyhow!("CSV: {error}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn csv_row(name: &str, s: &Summary) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let frame = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let mut row = vec![name.to_owned(), s.count.to_string()];
    row.extend(
        [
            s.mean_ns,
            s.std_ns,
            s.min_ns,
            s.max_ns,
            s.range_ns,
            s.p0_5_ns,
            s.p1_ns,
            s.p5_ns,
            s.p50_ns,
            s.p95_ns,
            s.p99_ns,
            s.p99_5_ns,
            s.p99_9_ns,
            s.p99_99_ns,
        ]
        .map(number),
    );
    row.extend([frame(s.min_at_frame), frame(s.max_at_frame), number(s.lag1), s.distinct.to_string()]);
    row
}

fn write_report(
    scenario: &Scenario,
    outcome: &Outcome,
    fits: Option<&stamps::StampFits>,
    folder: &mut OutputFolder,
) -> Result<(), Failure> {
    folder.add("report.json", &json(&outcome.report)?)?;
    pages::run(scenario, outcome, fits, folder)
}
