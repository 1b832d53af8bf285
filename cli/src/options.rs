//! Options that mean the same in every command, and files as scenarios name them.

use std::path::Path;

use clap::{Args, ValueEnum};
use nicsim_models::world::KernelKind;
use nicsim_scenarios::scenario::{DEFAULT_SEED, Scenario};

use crate::failure::Failure;

/// Form of what is printed on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// A table for people
    #[default]
    Table,
    /// JSON
    Json,
    /// CSV with a header
    Csv,
}

/// Form of what a command prints that judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum JudgeFormat {
    /// A table for people
    #[default]
    Table,
    /// JSON
    Json,
    /// CSV with a header
    Csv,
    /// JUnit XML
    Junit,
}

/// How a port's events are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Kernel {
    /// Slots: fast
    #[default]
    Slots,
    /// A heap of events: slow and plain, to check the other; same bytes
    Reference,
}

impl From<Kernel> for KernelKind {
    fn from(kernel: Kernel) -> Self {
        match kernel {
            Kernel::Slots => Self::Slots,
            Kernel::Reference => Self::Reference,
        }
    }
}

/// Which scenario, and what differs in it.
#[derive(Debug, Args)]
pub(crate) struct ScenarioArgs {
    /// Built-in scenario (see `nicsim list scenarios`) or path of a file
    pub(crate) scenario: String,
    /// Change one value by its dotted path, such as stream.0.interval=100096ns; repeatable
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Frames per stream, over the scenario's own
    #[arg(long, value_name = "N")]
    pub(crate) frames: Option<u64>,
    /// Master seed of the run
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    pub(crate) seed: u64,
    /// Run number under the seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) run: u64,
    /// What orders the events
    #[arg(long, value_enum, default_value_t)]
    pub(crate) kernel: Kernel,
}

impl ScenarioArgs {
    /// Reads and resolves the scenario.
    pub(crate) fn open(&self) -> Result<Scenario, Failure> {
        let scenario = Scenario::open(&self.scenario, &self.sets, &read_text).map_err(Failure::input)?;
        let Some(frames) = self.frames else {
            return Ok(scenario);
        };
        let mut file = scenario.file;
        file.stream.iter_mut().for_each(|stream| stream.frames = frames);
        Scenario::resolve(file, &read_text).map_err(Failure::input)
    }
}

/// The text of a file; the reason in one sentence where it cannot be read.
pub(crate) fn read_text(path: &str) -> Result<String, String> {
    let bytes = read_bytes(Path::new(path))?;
    String::from_utf8(bytes).map_err(|_| "this is not text (UTF-8)".to_owned())
}

/// The bytes of a file; the reason in one sentence where it cannot be read.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::IsADirectory => "this is a folder, not a file".to_owned(),
        _ => format!("cannot be read: {error}"),
    })
}
