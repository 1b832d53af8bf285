//! `nicsim sweep compare A B`: the results of two sweeps against each other.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use nicsim_scenarios::sweep::compare::{
    Comparison, Difference, Interval, Side, Source, compare as compare_tables, place_text,
};
use nicsim_scenarios::sweep::table::CellKind;
use nicsim_scenarios::sweep::{Cell, Column, Row};
use nicsim_scenarios::view;

use super::folder::{CSV, Manifest};
use crate::failure::{Failure, print};
use crate::files::OutputFolder;
use crate::options::Format;
use crate::text;

/// Arguments of `sweep compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Folder of the first sweep
    #[arg(value_name = "A")]
    a: PathBuf,
    /// Folder of the second; differences are B minus A
    #[arg(value_name = "B")]
    b: PathBuf,
    /// Form of what is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Also write compare.json, and report.html with its pictures, into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

/// The results of a folder.
struct Results {
    source: Source,
    columns: Vec<Column>,
    path: PathBuf,
}

/// Runs the command.
pub(super) fn compare(args: &CompareArgs) -> Result<(), Failure> {
    let (a, b) = (Results::open(&args.a)?, Results::open(&args.b)?);
    let compared = compare_tables((a.source.clone(), &a.columns), a.rows()?, (b.source.clone(), &b.columns), b.rows()?)
        .map_err(Failure::input)?;
    if let Some(out) = &args.out {
        write(&compared, out)?;
    }
    if args.quiet {
        return Ok(());
    }
    match args.format {
        Format::Table => print(&people(&compared)),
        Format::Json => print(&crate::list::json(&compared)?),
        Format::Csv => print(&csv_of(&compared)?),
    }
}

fn write(compared: &Comparison, out: &Path) -> Result<(), Failure> {
    let mut outputs = OutputFolder::create(out)?;
    let pictures = view::comparison(compared);
    outputs.add("compare.json", &crate::list::json(compared)?)?;
    for (name, svg) in &pictures.files {
        outputs.add(name, svg)?;
    }
    outputs.add("report.html", &view::page(&pictures.page))?;
    outputs.commit()
}

impl Results {
    fn open(folder: &Path) -> Result<Self, Failure> {
        let wrong = |reason: &str| Failure::input(format!("{}: {reason}", folder.display()));
        if !folder.is_dir() {
            return Err(wrong("there is no such folder; name the --out folders of two sweeps"));
        }
        let manifest = Manifest::read(folder)?
            .ok_or_else(|| wrong("this is no folder of a sweep, it has no sweep.json; name the --out folder of one"))?;
        let path = folder.join(CSV);
        if !path.is_file() {
            return Err(wrong("this sweep is not finished, it has no results.csv; run it again with --resume"));
        }
        let definition = manifest.definition;
        let source = Source {
            name: folder.display().to_string(),
            scenario: definition.scenario,
            scenario_hash: definition.scenario_hash,
            version: definition.version,
            seed: definition.seed,
            hash: manifest.hash,
            part: (manifest.shard.count > 1).then(|| manifest.shard.to_string()),
        };
        Ok(Self { source, columns: manifest.columns, path })
    }

    /// The rows of results.csv, whose columns must be those of sweep.json.
    fn rows(&self) -> Result<impl Iterator<Item = io::Result<Row>>, Failure> {
        let wrong = |reason: String| Failure::input(format!("{}: {reason}", self.path.display()));
        let file = File::open(&self.path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let mut reader = csv::Reader::from_reader(file);
        let header = reader.headers().map_err(|error| wrong(error.to_string()))?;
        if !header.iter().eq(self.columns.iter().map(|column| column.name.as_str())) {
            return Err(wrong(
                "its columns are not those that sweep.json names; write it again with --resume".to_owned(),
            ));
        }
        let (columns, path) = (self.columns.clone(), self.path.clone());
        Ok(reader.into_records().map(move |record| {
            let told =
                |reason: String| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {reason}", path.display()));
            let record = record.map_err(|error| told(error.to_string()))?;
            let line = record.position().map_or(0, csv::Position::line);
            let read = |(column, text): (&Column, &str)| {
                cell(column.cells, text)
                    .ok_or_else(|| told(format!("line {line}, {}: `{text}` is no value of it", column.name)))
            };
            columns.iter().zip(record.iter()).map(read).collect()
        }))
    }
}

fn cell(kind: CellKind, text: &str) -> Option<Cell> {
    if text.is_empty() {
        return Some(Cell::Missing);
    }
    match kind {
        CellKind::Integer => text.parse().ok().map(Cell::Integer),
        CellKind::Real => text.parse().ok().map(Cell::Real),
        CellKind::Switch => text.parse().ok().map(Cell::Switch),
        CellKind::Text => Some(Cell::Text(text.to_owned())),
    }
}

/// As a table for people.
fn people(compared: &Comparison) -> String {
    let side = |name: &str, side: &Side| {
        let source = &side.source;
        format!(
            "{name}  {}: {}, seed {}, nicsim {}, sweep {}; {} runs, {} failed\n",
            source.name, source.scenario, source.seed, source.version, source.hash, side.runs, side.failed
        )
    };
    let mut told = side("A", &compared.a) + &side("B", &compared.b);
    for note in view::comparison_notes(compared) {
        told += &format!("{note}\n");
    }
    for (name, side) in [("A", &compared.a), ("B", &compared.b)] {
        if let Some(first) = &side.first_unmatched {
            told += &format!("{} runs of {name} have no match, the first at {}.\n", side.unmatched, place_text(first));
        }
    }
    let row = |difference: &Difference| {
        let interval = |it: Interval| format!("{} to {}", text::ns(Some(it.low)), text::ns(Some(it.high)));
        vec![
            difference.figure.clone(),
            difference.matched.to_string(),
            text::ns(difference.mean),
            difference.interval.map_or_else(|| "-".to_owned(), interval),
            text::ns(difference.median),
            text::ns(difference.largest),
            difference.largest_at.as_ref().map_or_else(|| "-".to_owned(), place_text),
        ]
    };
    let header = ["B - A", "matched", "mean", "95 %", "median", "largest", "at"];
    let rows: Vec<Vec<String>> = compared.figures.iter().map(row).collect();
    told + "\n" + &text::table(&header, &rows)
}

fn csv_of(compared: &Comparison) -> Result<String, Failure> {
    const HEADER: [&str; 10] = [
        "figure",
        "unit",
        "matched",
        "mean",
        "interval_low",
        "interval_high",
        "repetitions",
        "median",
        "largest",
        "largest_at",
    ];
    let wrong = |error: csv::Error| Failure::input(format!("standard output: {error}"));
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(HEADER).map_err(wrong)?;
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    for difference in &compared.figures {
        let interval = difference.interval;
        csv.write_record([
            difference.figure.clone(),
            difference.unit.clone(),
            difference.matched.to_string(),
            number(difference.mean),
            number(interval.map(|it| it.low)),
            number(interval.map(|it| it.high)),
            interval.map_or_else(String::new, |it| it.repetitions.to_string()),
            number(difference.median),
            number(difference.largest),
            difference.largest_at.as_ref().map_or_else(String::new, place_text),
        ])
        .map_err(wrong)?;
    }
    let bytes = csv.into_inner().map_err(|error| Failure::input(error.into_error()))?;
    String::from_utf8(bytes).map_err(Failure::input)
}
