//! `nicsim completions`: from the same list that parses the options.

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::Shell;

use crate::failure::{Failure, print};

/// A shell, or the manual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Target {
    /// bash
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
    /// The man page, in roff
    Man,
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to complete in, or `man` for the man page
    #[arg(value_enum, value_name = "SHELL")]
    target: Target,
}

/// Runs the command.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut command = crate::Cli::command();
    let mut bytes = Vec::new();
    match args.target {
        Target::Bash => clap_complete::generate(Shell::Bash, &mut command, "nicsim", &mut bytes),
        Target::Zsh => clap_complete::generate(Shell::Zsh, &mut command, "nicsim", &mut bytes),
        Target::Fish => clap_complete::generate(Shell::Fish, &mut command, "nicsim", &mut bytes),
        Target::Man => man(command, &mut bytes)?,
    }
    print(&String::from_utf8_lossy(&bytes))
}

/// The page of the program and of each command, one after the other.
fn man(mut command: clap::Command, bytes: &mut Vec<u8>) -> Result<(), Failure> {
    command.build();
    clap_mangen::Man::new(command.clone()).render(bytes)?;
    for part in command.get_subcommands().filter(|part| part.get_name() != "help") {
        clap_mangen::Man::new(part.clone()).render(bytes)?;
    }
    Ok(())
}
