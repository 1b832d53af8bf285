//! `nicsim list`: what there is, by name.

use clap::{Args, ValueEnum};
use nicsim_models::{driver, registry};
use nicsim_scenarios::file::ScenarioFile;
use nicsim_scenarios::sweep::file::Source;
use nicsim_scenarios::{library, metric};
use nicsim_validate::recording::Kind;
use nicsim_validate::{published, recorded};
use serde::Serialize;

use crate::failure::{Failure, print};
use crate::options::Format;
use crate::text;

/// What can be listed and shown; singular and plural are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// Network cards
    #[value(alias = "nic")]
    Nics,
    /// Drivers
    #[value(alias = "driver")]
    Drivers,
    /// Built-in scenarios
    #[value(alias = "scenario")]
    Scenarios,
    /// Built-in sweeps
    #[value(alias = "sweep")]
    Sweeps,
    /// Capture instruments and senders
    #[value(alias = "instrument")]
    Instruments,
    /// Metrics of reports
    #[value(alias = "metric")]
    Metrics,
    /// Published figures and recorded captures
    #[value(alias = "reference")]
    References,
    /// Forms of captures that are read
    #[value(alias = "format")]
    Formats,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// What to list
    #[arg(value_enum)]
    what: What,
    /// Form of the list
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// One line of a list.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Item {
    /// Name, as other commands take it.
    pub(crate) name: String,
    /// One sentence.
    pub(crate) about: String,
}

/// Runs the command.
pub(crate) fn list(args: &ListArgs) -> Result<(), Failure> {
    let items = items(args.what)?;
    match args.format {
        Format::Table => {
            let rows: Vec<Vec<String>> = items.into_iter().map(|item| vec![item.name, item.about]).collect();
            print(&text::list(&["name", "about"], &rows, 110))
        }
        Format::Json => print(&json(&items)?),
        Format::Csv => print(&csv(&items)?),
    }
}

/// JSON with a newline at its end.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Failure> {
    let text =
        serde_json::to_string_pretty(value).map_err(|error| Failure::Output(anyhow::anyhow!("JSON: {error}")))?;
    Ok(text + "\n")
}

/// CSV with a header, one row per value.
pub(crate) fn csv(values: &[impl Serialize]) -> Result<String, Failure> {
    let failed = |error: String| Failure::Output(anyhow::anyhow!("CSV: {error}"));
    let mut csv = csv::Writer::from_writer(Vec::new());
    for value in values {
        csv.serialize(value).map_err(|error| failed(error.to_string()))?;
    }
    let bytes = csv.into_inner().map_err(|error| failed(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// All of a kind, in order.
pub(crate) fn items(what: What) -> Result<Vec<Item>, Failure> {
    let item = |name: &str, about: &str| Item { name: name.to_owned(), about: about.to_owned() };
    Ok(match what {
        What::Nics => {
            let about = |name| registry::nic_text(name).map_or_else(|_| String::new(), about_of);
            registry::nic_names().map(|name| item(name, &about(name))).collect()
        }
        What::Instruments => {
            let about = |name| registry::instrument_text(name).map_or_else(|_| String::new(), about_of);
            registry::instrument_names().map(|name| item(name, &about(name))).collect()
        }
        What::Drivers => driver::names().filter_map(|name| Some(item(name, driver::find(name)?.about))).collect(),
        What::Scenarios => library::names()
            .map(|name| {
                let file = library::text(name).map_err(Failure::input)?;
                let file = ScenarioFile::parse(name, file, &[]).map_err(Failure::input)?;
                Ok(item(name, &file.about))
            })
            .collect::<Result<_, Failure>>()?,
        What::Sweeps => library::sweep_names()
            .map(|name| {
                let text = library::sweep_text(name).map_err(Failure::input)?;
                let file = Source { name, text }.read().map_err(Failure::input)?;
                Ok(item(name, &format!("{}; {}", file.about, file.scenario)))
            })
            .collect::<Result<_, Failure>>()?,
        What::Metrics => {
            metric::LIST.iter().map(|m| item(m.name, &format!("{}; needs {}", m.about, m.needs))).collect()
        }
        What::References => references()?,
        What::Formats => vec![
            item(Kind::Efcc.name(), "counts of the EFCC capture: timestamp_id,timestamp_val,timestamp_diff"),
            item(Kind::Pcap.name(), "classic pcap, nanoseconds or microseconds, either byte order"),
            item(Kind::Pcapng.name(), "pcapng, any resolution per interface, several sections"),
            item(
                Kind::Csv.name(),
                "any other CSV with a column of times: --columns time=NAME or a name that ends in _ns, _ps, _us or _s",
            ),
        ],
    })
}

fn references() -> Result<Vec<Item>, Failure> {
    let mut items: Vec<Item> = published::scenarios()
        .into_iter()
        .map(|name| {
            let figures: Vec<&str> = nicsim_validate::tolerance::figures_of(name).map(|f| f.name).collect();
            Item { name: name.to_owned(), about: format!("published: {}", figures.join("; ")) }
        })
        .collect();
    for recording in recorded::recordings().map_err(Failure::input)? {
        let about =
            format!("recorded: {} of {}, simulated by {}", recording.metric, recording.capture, recording.scenario);
        items.push(Item { name: recording.name, about });
    }
    Ok(items)
}

/// The `about` of a NIC or instrument file.
fn about_of(text: &str) -> String {
    let file = nicsim_models::spec::SpecFile::parse("", text).ok();
    file.and_then(|file| file.about().map(str::to_owned)).unwrap_or_default()
}
