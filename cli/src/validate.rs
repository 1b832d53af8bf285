//! `nicsim validate`: simulations held against published figures and recorded captures.

use std::path::PathBuf;

use clap::Args;
use nicsim_models::spec::near;
use nicsim_validate::published;
use nicsim_validate::recorded::{self, Recording};
use nicsim_validate::verdict::{Outcome, Verdict};

use crate::failure::{Failure, print};
use crate::options::JudgeFormat;
use crate::{list, progress, text};

/// Arguments of `validate`.
#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// Scenarios or recordings (see `nicsim list references`), or the start of their names; all when left out
    names: Vec<String>,
    /// Also the slow ones: twenty other seeds for every published figure
    #[arg(long)]
    all: bool,
    /// Folder of the recorded captures; default: $NICSIM_TRACES, else ../shared/traces
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,
    /// Form of the verdicts on standard output
    #[arg(long, value_enum, default_value_t)]
    format: JudgeFormat,
    /// Threads to use; default: one per processor
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// No progress bar
    #[arg(long)]
    no_progress: bool,
    /// Print nothing but errors and the verdicts that do not pass
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the command.
pub(crate) fn validate(args: &ValidateArgs) -> Result<(), Failure> {
    let (scenarios, recordings) = chosen(&args.names)?;
    if let Some(threads) = args.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        pool.map_err(|error| Failure::input(format!("--threads {threads}: {error}")))?;
    }
    let bar = progress::bar((scenarios.len() + recordings.len()) as u64, "judged", args.no_progress || args.quiet);
    let mut verdicts = Vec::new();
    for name in scenarios {
        verdicts.extend(published::judge(name, args.all).map_err(Failure::input)?);
        bar.inc(1);
    }
    let traces = traces_folder(args);
    let open = |file: &str| match &traces {
        Some(folder) => std::fs::read(folder.join(file)),
        None => Err(std::io::Error::new(
            std::io::ErrorKind::NotFound,
            "the traces folder is absent (--traces, $NICSIM_TRACES)",
        )),
    };
    for recording in &recordings {
        verdicts.push(recorded::judge(recording, &open).map_err(Failure::input)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let shown: Vec<Verdict> = verdicts
        .iter()
        .filter(|v| !args.quiet || !matches!(v.verdict, Outcome::Pass | Outcome::Skipped))
        .cloned()
        .collect();
    print(&printed(&shown, &verdicts, args.format)?)?;
    let holds = verdicts.iter().all(|v| matches!(v.verdict, Outcome::Pass | Outcome::Skipped));
    if holds { Ok(()) } else { Err(Failure::Judgement) }
}

/// Published scenarios and recordings whose names are, or begin with, one of `names`.
fn chosen(names: &[String]) -> Result<(Vec<&'static str>, Vec<Recording>), Failure> {
    let mut scenarios = published::scenarios();
    let mut recordings = recorded::recordings().map_err(Failure::input)?;
    if names.is_empty() {
        return Ok((scenarios, recordings));
    }
    for name in names {
        let known = || scenarios.iter().copied().chain(recordings.iter().map(|recording| recording.name.as_str()));
        if !known().any(|candidate| candidate.starts_with(name.as_str())) {
            let hint = near(name, known());
            return Err(Failure::input(format!(
                "there is no reference `{name}`{hint}; `nicsim list references` prints all"
            )));
        }
    }
    let wanted = |candidate: &str| names.iter().any(|name| candidate.starts_with(name.as_str()));
    scenarios.retain(|scenario| wanted(scenario));
    recordings.retain(|recording| wanted(&recording.name));
    Ok((scenarios, recordings))
}

fn traces_folder(args: &ValidateArgs) -> Option<PathBuf> {
    let named = args.traces.clone().or_else(|| std::env::var_os("NICSIM_TRACES").map(PathBuf::from));
    named.or_else(|| Some(PathBuf::from("../shared/traces"))).filter(|folder| folder.is_dir())
}

fn printed(shown: &[Verdict], all: &[Verdict], format: JudgeFormat) -> Result<String, Failure> {
    match format {
        JudgeFormat::Json => list::json(&shown),
        JudgeFormat::Csv => list::csv(shown),
        JudgeFormat::Junit => Ok(junit(shown)),
        JudgeFormat::Table => Ok(table(shown, all)),
    }
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "pass",
        Outcome::Fail => "FAIL",
        Outcome::Inconclusive => "INCONCLUSIVE",
        Outcome::Skipped => "skipped",
    }
}

fn table(shown: &[Verdict], all: &[Verdict]) -> String {
    let row = |v: &Verdict| {
        let figure = format!("{} [{}]", v.figure, v.unit);
        let simulated = if v.verdict == Outcome::Skipped { v.reason.clone() } else { v.simulated.clone() };
        vec![v.name.clone(), figure, v.measured.clone(), simulated, v.tolerance.clone(), word(v.verdict).to_owned()]
    };
    let header = ["name", "figure", "measured", "simulated", "tolerance", "verdict"];
    let count = |outcome: Outcome| all.iter().filter(|v| v.verdict == outcome).count();
    format!(
        "{}\n{} pass, {} fail, {} inconclusive, {} skipped\n",
        text::list(&header, &shown.iter().map(row).collect::<Vec<_>>(), 170),
        count(Outcome::Pass),
        count(Outcome::Fail),
        count(Outcome::Inconclusive),
        count(Outcome::Skipped)
    )
}

fn junit(verdicts: &[Verdict]) -> String {
    let case = |v: &Verdict| {
        let head = format!("  <testcase classname=\"{}\" name=\"{}\">", escaped(&v.name), escaped(&v.figure));
        let text = escaped(&format!(
            "measured {}, simulated {}, allowed {}: {}",
            v.measured, v.simulated, v.tolerance, v.reason
        ));
        let inside = match v.verdict {
            Outcome::Pass => String::new(),
            Outcome::Skipped => format!("<skipped message=\"{text}\"/>"),
            Outcome::Fail | Outcome::Inconclusive => format!("<failure message=\"{text}\"/>"),
        };
        format!("{head}{inside}</testcase>\n")
    };
    let failures = verdicts.iter().filter(|v| matches!(v.verdict, Outcome::Fail | Outcome::Inconclusive)).count();
    let skipped = verdicts.iter().filter(|v| v.verdict == Outcome::Skipped).count();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"nicsim validate\" tests=\"{}\" failures=\"{failures}\" skipped=\"{skipped}\">\n{}</testsuite>\n",
        verdicts.len(),
        verdicts.iter().map(case).collect::<String>()
    )
}

/// Text as an XML attribute.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
