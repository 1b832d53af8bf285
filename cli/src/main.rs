//! `nicsim`: parse, pick a command, run it, turn what came of it into an exit status.

mod analyse;
mod completions;
mod explain;
mod failure;
mod files;
mod list;
mod options;
mod pages;
mod progress;
mod record;
mod run;
mod show;
mod sweep;
mod text;
mod validate;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Discrete-event simulator of NIC timing.
///
/// Simulates scheduled transmission and hardware timestamping of a network card frame by frame: the PTP hardware
/// clock, the driver's conversion of launch times, the card's reading of them, its jitter, the line, the stamps, and the
/// instrument that watches the cable.
#[derive(Debug, Parser)]
#[command(name = "nicsim", version, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Simulate one scenario and print its report
    Run(run::RunArgs),
    /// Simulate a grid of scenarios in parallel, join the parts of one (sweep merge), or compare two (sweep compare)
    Sweep(sweep::SweepArgs),
    /// Compare simulations with published figures and recorded captures, and judge
    Validate(validate::ValidateArgs),
    /// The same statistics for a recorded capture
    #[command(visible_alias = "analyze")]
    Analyse(analyse::AnalyseArgs),
    /// The life of one frame, stage by stage
    Explain(explain::ExplainArgs),
    /// List what there is: nics, drivers, scenarios, metrics, references, formats
    List(list::ListArgs),
    /// Show one of them with every number, unit and source
    Show(show::ShowArgs),
    /// Print the completions of a shell, or the man page
    Completions(completions::CompletionsArgs),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Sweep(args) => sweep::sweep(&args),
        Command::Validate(args) => validate::validate(&args),
        Command::Analyse(args) => analyse::analyse(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::List(args) => list::list(&args),
        Command::Show(args) => show::show(&args),
        Command::Completions(args) => completions::completions(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
