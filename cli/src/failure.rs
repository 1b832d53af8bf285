//! What can go wrong, and the exit status that says so.

use std::io::Write;
use std::process::ExitCode;

/// Why a command ends without success.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A judgement failed (1); it was printed already.
    Judgement,
    /// The input or the command line is wrong (2).
    Input(anyhow::Error),
    /// An output could not be written (3).
    Output(anyhow::Error),
    /// The user stopped it (130, as shells say it of Ctrl-C).
    Interrupted(String),
    /// Whoever reads the output has gone: nothing to say.
    BrokenPipe,
}

impl Failure {
    /// An input error from anything that prints.
    pub(crate) fn input(error: impl std::fmt::Display) -> Self {
        Self::Input(anyhow::anyhow!("{error}"))
    }

    /// An output error at `place`.
    pub(crate) fn output(place: impl std::fmt::Display, error: &std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::BrokenPipe;
        }
        Self::Output(anyhow::anyhow!("{place}: {error}"))
    }

    /// Prints the failure as one short paragraph and answers the exit status.
    pub(crate) fn report(&self) -> ExitCode {
        let (text, status) = match self {
            Self::BrokenPipe => return ExitCode::SUCCESS,
            Self::Judgement => return ExitCode::from(1),
            Self::Input(error) => (format!("{error:#}"), 2),
            Self::Output(error) => (format!("{error:#}"), 3),
            Self::Interrupted(text) => (text.clone(), 130),
        };
        // Nothing is left to do if stderr is gone too.
        let _ = writeln!(std::io::stderr().lock(), "nicsim: {text}");
        ExitCode::from(status)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::output("standard output", &error)
    }
}

/// Prints to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}
