//! `nicsim show`: one thing with every number, unit and source.

use clap::{Args, ValueEnum};
use nicsim_models::spec::{Parameter, Source, SpecFile, near};
use nicsim_models::{driver, registry};
use nicsim_scenarios::sweep::table::columns;
use nicsim_scenarios::sweep::{Overrides, Sweep};
use nicsim_scenarios::{library, metric};

use crate::failure::{Failure, print};
use crate::list::{self, What};
use crate::{options, text};

/// Form of what is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ShowFormat {
    /// A table for people
    #[default]
    Table,
    /// JSON
    Json,
    /// CSV with a header
    Csv,
    /// The file itself, to start one's own from
    Toml,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Kind of thing
    #[arg(value_enum)]
    what: What,
    /// Its name (see `nicsim list`), or the path of a NIC, instrument or scenario file
    name: String,
    /// Form of what is shown
    #[arg(long, value_enum, default_value_t)]
    format: ShowFormat,
}

/// Runs the command.
pub(crate) fn show(args: &ShowArgs) -> Result<(), Failure> {
    match args.what {
        What::Nics => show_file(args, registry::nic_text(&args.name)),
        What::Instruments => show_file(args, registry::instrument_text(&args.name)),
        What::Scenarios => show_scenario(args),
        What::Sweeps => show_sweep(args),
        What::Drivers => show_driver(args),
        What::Metrics | What::References | What::Formats => show_item(args),
    }
}

/// Text of what is built in or, where no such name exists, of a file.
pub(crate) fn text_of<E: std::fmt::Display>(name: &str, built_in: Result<&'static str, E>) -> Result<String, Failure> {
    match built_in {
        Ok(text) => Ok(text.to_owned()),
        Err(_) if std::path::Path::new(name).is_file() => {
            options::read_text(name).map_err(|reason| Failure::input(format!("{name}: {reason}")))
        }
        Err(error) => Err(Failure::input(error)),
    }
}

fn show_file<E: std::fmt::Display>(args: &ShowArgs, built_in: Result<&'static str, E>) -> Result<(), Failure> {
    let text = text_of(&args.name, built_in)?;
    let file = SpecFile::parse(&args.name, &text).map_err(Failure::input)?;
    match args.what {
        What::Nics => registry::read_nic(&file).map(|_| ()),
        _ => registry::read_instrument(&file).map(|_| ()),
    }
    .map_err(Failure::input)?;
    let parameters = file.parameters();
    match args.format {
        ShowFormat::Toml => print(&text),
        ShowFormat::Json => print(&list::json(&parameters)?),
        ShowFormat::Csv => print(&list::csv(&parameters)?),
        ShowFormat::Table => print(&table(&file, &parameters)),
    }
}

fn table(file: &SpecFile, parameters: &[Parameter]) -> String {
    let row = |p: &Parameter| vec![p.path.clone(), p.value.clone(), p.source.to_string(), p.cite.clone()];
    let assumed = parameters.iter().filter(|p| p.source == Source::Assumed).count();
    let rows: Vec<Vec<String>> = parameters.iter().map(row).collect();
    format!(
        "{}\n\n{}\n{} parameters, {assumed} of them assumed\n",
        file.about().unwrap_or_default(),
        text::list(&["parameter", "value", "source", "where"], &rows, 150),
        parameters.len()
    )
}

/// A sweep file, or the columns of its results.
fn show_sweep(args: &ShowArgs) -> Result<(), Failure> {
    let text = text_of(&args.name, library::sweep_text(&args.name))?;
    let sweep = Sweep::open(&args.name, &text, Overrides::default(), &options::read_text).map_err(Failure::input)?;
    match args.format {
        ShowFormat::Toml | ShowFormat::Table => print(&text),
        ShowFormat::Json => print(&list::json(&columns(&sweep))?),
        ShowFormat::Csv => print(&list::csv(&columns(&sweep))?),
    }
}

fn show_scenario(args: &ShowArgs) -> Result<(), Failure> {
    let text = text_of(&args.name, library::text(&args.name))?;
    let scenario = nicsim_scenarios::scenario::Scenario::open(&args.name, &[], &options::read_text);
    let scenario = match scenario {
        Ok(scenario) => scenario,
        Err(error) => return Err(Failure::input(error)),
    };
    match args.format {
        ShowFormat::Toml => print(&text),
        ShowFormat::Json => print(&list::json(&scenario.file)?),
        ShowFormat::Csv => print(&list::csv(&scenario.parameters)?),
        ShowFormat::Table => {
            let rows: Vec<Vec<String>> = scenario
                .parameters
                .iter()
                .map(|p| vec![p.path.clone(), p.value.clone(), p.source.to_string(), p.cite.clone()])
                .collect();
            let metrics: Vec<&str> = scenario.metrics.iter().map(|metric| metric.name).collect();
            print(&format!(
                "{text}\nIt records {}.\nParameters of the hardware that it depends on:\n\n{}",
                metrics.join(", "),
                text::list(&["parameter", "value", "source", "where"], &rows, 150)
            ))
        }
    }
}

fn show_driver(args: &ShowArgs) -> Result<(), Failure> {
    let entry = driver::find(&args.name).ok_or_else(|| {
        let hint = near(&args.name, driver::names());
        Failure::input(format!("there is no driver `{}`{hint}; `nicsim list drivers` prints all", args.name))
    })?;
    let facts = serde_json::json!({
        "name": entry.name,
        "aliases": entry.aliases,
        "nics": entry.nics,
        "about": entry.about,
        "source": entry.source,
    });
    match args.format {
        ShowFormat::Json => print(&list::json(&facts)?),
        ShowFormat::Table => print(&format!(
            "{}\n{}\nalso called: {}\nNICs: {}\nsource: {}\n",
            entry.name,
            entry.about,
            if entry.aliases.is_empty() { "-".to_owned() } else { entry.aliases.join(", ") },
            entry.nics.join(", "),
            entry.source
        )),
        ShowFormat::Csv | ShowFormat::Toml => {
            Err(Failure::input("a driver is code; it is shown as a table or as JSON"))
        }
    }
}

fn show_item(args: &ShowArgs) -> Result<(), Failure> {
    let items = list::items(args.what)?;
    let item = items.iter().find(|item| item.name == args.name).ok_or_else(|| {
        let names = items.iter().map(|item| item.name.as_str());
        Failure::input(format!("there is no `{}` here{}; `nicsim list` prints all", args.name, near(&args.name, names)))
    })?;
    match (args.format, args.what) {
        (ShowFormat::Json, _) => print(&list::json(item)?),
        (ShowFormat::Table, What::Metrics) => print(&metric_text(item)),
        (ShowFormat::Table, _) => print(&format!("{}\n{}\n", item.name, item.about)),
        (ShowFormat::Csv, _) => print(&list::csv(std::slice::from_ref(item))?),
        (ShowFormat::Toml, _) => Err(Failure::input("this is not a file; it is shown as a table, as JSON or as CSV")),
    }
}

fn metric_text(item: &list::Item) -> String {
    let needs = metric::missing_part(&item.name);
    format!("{}\n{}\nunit: ns\n{needs}\n", item.name, item.about)
}
