//! `nicsim analyse`: a recorded capture through the same analysis as a simulated one.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use nicsim_core::grid::Period;
use nicsim_validate::analyse::{Analysis, analyse as analyse_capture};
use nicsim_validate::plan::Plan;
use nicsim_validate::recording::{Capture, Columns, Kind, ReadOptions, read};

use crate::failure::{Failure, print};
use crate::files::OutputFolder;
use crate::options::{Format, read_bytes, read_text};
use crate::run::summaries_csv;
use crate::{list, text};

/// Arguments of `analyse`.
#[derive(Debug, Args)]
pub(crate) struct AnalyseArgs {
    /// The capture
    capture: PathBuf,
    /// Form of the capture: efcc, pcap, pcapng or csv; default: by content
    #[arg(long, value_name = "KIND")]
    input: Option<Kind>,
    /// Tick of an EFCC capture; default: capture.toml beside it, else 8 ns
    #[arg(long, value_name = "TIME")]
    tick: Option<Period>,
    /// The schedule; default: capture.toml beside the capture, else inferred and said so
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Columns of a plain CSV, such as time=rx_hw_ts_ns,id=seq or, without a header, time=1:ns
    #[arg(long, value_name = "COLUMNS")]
    columns: Option<Columns>,
    /// Leave out the first N frames
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u64,
    /// Pair each frame with the same one of a second capture
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Form of the figures on standard output
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Also write analysis.json, report.html and the plots into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn analyse(args: &AnalyseArgs) -> Result<(), Failure> {
    let plan = plan(args)?;
    let capture = open(&args.capture, args, plan.as_ref())?;
    let against = args.against.as_deref().map(|path| open(path, args, plan.as_ref())).transpose()?;
    let analysis = analyse_capture(&capture, plan.as_ref(), against.as_ref());
    if let Some(folder) = &args.out {
        let mut folder = OutputFolder::create(folder)?;
        folder.add("analysis.json", &list::json(&analysis)?)?;
        crate::pages::analysis(&analysis, &mut folder)?;
        folder.commit()?;
    }
    match args.format {
        Format::Table => print(&table(&analysis)),
        Format::Json => print(&list::json(&analysis)?),
        Format::Csv => print(&summaries_csv(analysis.metrics.iter().map(|(name, summary)| (name.as_str(), summary)))?),
    }
}

/// The plan that was named, or the one beside the capture.
fn plan(args: &AnalyseArgs) -> Result<Option<Plan>, Failure> {
    let beside = args.capture.with_file_name("capture.toml");
    let path = match &args.plan {
        Some(path) => path.as_path(),
        None if beside.is_file() => beside.as_path(),
        None => return Ok(None),
    };
    let name = path.display().to_string();
    let text = read_text(&name).map_err(|reason| Failure::input(format!("{name}: {reason}")))?;
    Plan::from_toml(&text, &name).map(Some).map_err(Failure::input)
}

fn open(path: &Path, args: &AnalyseArgs, plan: Option<&Plan>) -> Result<Capture, Failure> {
    let name = path.display().to_string();
    let bytes = read_bytes(path).map_err(|reason| Failure::input(format!("{name}: {reason}")))?;
    let options = ReadOptions {
        input: args.input,
        tick: args.tick.or(plan.and_then(|plan| plan.tick)),
        columns: args.columns.clone(),
        skip: args.skip,
    };
    read(&bytes, &name, &options).map_err(Failure::input)
}

fn table(analysis: &Analysis) -> String {
    let capture = &analysis.capture;
    let mut text =
        format!("{}\n{} capture, tick {} ns, {} frames", capture.file, capture.kind, capture.tick_ns, capture.frames);
    let _ = write!(text, ", {} used", capture.used);
    for (reason, count) in &capture.left_out {
        let _ = write!(text, ", {count} left out ({reason})");
    }
    text.push_str("\n\n");
    text += &text::summaries(analysis.metrics.iter().map(|(name, summary)| (name.as_str(), summary)));
    for (name, summary) in &analysis.metrics {
        let top: Vec<String> =
            summary.top.iter().map(|(value, count)| format!("{} x {count}", text::ns(Some(*value)))).collect();
        let _ = writeln!(text, "{name}: {} distinct values, most frequent {}", summary.distinct, top.join(", "));
    }
    let fit = &analysis.fit;
    if let Some(slope) = fit.slope_ppm {
        let _ = writeln!(
            text,
            "slope {slope:.3} ppm, linear residuals within {} ns",
            text::ns(fit.linear_residual_range_ns)
        );
    }
    if let Some(residue) = fit.residue_ns {
        let _ = writeln!(text, "all stamps are {} ns modulo the tick", text::ns(Some(residue)));
    }
    for note in &analysis.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}
