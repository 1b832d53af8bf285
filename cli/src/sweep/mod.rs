//! `nicsim sweep`: many points of a scenario; `sweep merge`: the parts of one sweep put together; `sweep compare`: two
//! sweeps side by side.

mod compare;
mod dry;
mod folder;
mod merge;
mod watch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::{Args, Subcommand};
use nicsim_scenarios::library;
use nicsim_scenarios::sweep::table::{self, Role};
use nicsim_scenarios::sweep::{
    Cell, Column, End, Job, Layout, Memory, Overrides, Row, Shard, Storage, Store, Sweep, execute,
};
use nicsim_validate::stamps;

use crate::failure::{Failure, print};
use crate::options::{Format, Kernel, read_text};
use crate::show::text_of;
use crate::text;
use folder::SweepFolder;

/// Runs held in memory where nothing is written to a folder.
const MOST_HELD: u64 = 100_000;
/// Rows of a table for people.
const MOST_SHOWN: usize = 200;

/// Arguments of `sweep`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct SweepArgs {
    #[command(subcommand)]
    other: Option<Other>,
    #[command(flatten)]
    run: RunSweepArgs,
}

#[derive(Debug, Subcommand)]
enum Other {
    /// Join the parts of a sweep to the same files and bytes as one run
    Merge(merge::MergeArgs),
    /// Set the results of two sweeps against each other, point by point
    Compare(compare::CompareArgs),
}

/// Arguments of a sweep that is run.
#[derive(Debug, Args)]
struct RunSweepArgs {
    /// Sweep file, or the name of a built-in one
    #[arg(required = true)]
    file: Option<String>,
    /// Write results.csv, results.parquet, report.html with its pictures, sweep.json and what --resume needs into this
    /// folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on in --out where an interrupted sweep stopped
    #[arg(long, requires = "out")]
    resume: bool,
    /// Run part I of N only; join the parts with `nicsim sweep merge`
    #[arg(long, value_name = "I/N", requires = "out")]
    shard: Option<Shard>,
    /// Print the number of points, runs and frames, and estimates of time and memory; run nothing
    #[arg(long)]
    dry_run: bool,
    /// Change one value of all points by its dotted path, such as nic.driver=ice-fixed; repeatable
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    /// Frames per stream, over the sweep file's and the scenario's own
    #[arg(long, value_name = "N")]
    frames: Option<u64>,
    /// Master seed, over the sweep file's own
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// What orders the events
    #[arg(long, value_enum, default_value_t)]
    kernel: Kernel,
    /// Form of the rows on standard output; with --out rows are printed only if this is given
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Threads; default: as many as the machine has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// No progress bar
    #[arg(long)]
    no_progress: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the command.
pub(crate) fn sweep(args: &SweepArgs) -> Result<(), Failure> {
    match &args.other {
        Some(Other::Merge(args)) => merge::merge(args),
        Some(Other::Compare(args)) => compare::compare(args),
        None => run(&args.run),
    }
}

fn run(args: &RunSweepArgs) -> Result<(), Failure> {
    let loaded = Loaded::default();
    let load = |name: &str| loaded.text(name);
    let name = args.file.as_deref().unwrap_or_default();
    let text = text_of(name, library::sweep_text(name))?;
    let overrides = Overrides { seed: args.seed, frames: args.frames, sets: &args.sets };
    let sweep = Sweep::open(name, &text, overrides, &load).map_err(Failure::input)?;
    let pool = pool(args.threads)?;
    let shard = args.shard.unwrap_or_default();
    if args.dry_run {
        return print(&dry::estimate(&sweep, shard, pool.current_num_threads(), &load)?);
    }
    let context = Context { args, sweep: &sweep, shard, load: &load, pool: &pool };
    match &args.out {
        Some(out) => context.to_folder(out),
        None => context.to_stdout(),
    }
}

/// Threads of the sweep.
fn pool(threads: Option<u16>) -> Result<rayon::ThreadPool, Failure> {
    let threads = threads.map_or(0, usize::from);
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| Failure::input(format!("--threads: the threads cannot be started: {error}")))
}

struct Context<'a> {
    args: &'a RunSweepArgs,
    sweep: &'a Sweep,
    shard: Shard,
    load: &'a (dyn Fn(&str) -> Result<String, String> + Sync),
    pool: &'a rayon::ThreadPool,
}

impl Context<'_> {
    fn to_folder(&self, out: &Path) -> Result<(), Failure> {
        let folder = SweepFolder::open(out, self.sweep, self.shard, self.args.resume)?;
        folder.log_start(self.pool.current_num_threads())?;
        let end = self.execute(folder.store(), &|| folder.sync())?;
        let end = match end {
            Ok(end) => end,
            Err(error) => return Err(folder.cut_short(&error)),
        };
        if end.stopped {
            folder.log_end(&end)?;
            return Err(Failure::Interrupted(format!(
                "interrupted; {} runs are kept in {}; the same command with --resume goes on from there",
                end.stored,
                out.display()
            )));
        }
        folder.finish(self.sweep)?;
        // Its figure of memory covers the writing of the results.
        folder.log_end(&end)?;
        if self.args.quiet {
            return Ok(());
        }
        match self.args.format {
            Some(format) => print_rows(self.sweep, folder.store(), format),
            None => print(&summary(self.sweep, self.shard, &end, out)),
        }
    }

    fn to_stdout(&self) -> Result<(), Failure> {
        let runs = self.sweep.plan().runs();
        if runs > MOST_HELD {
            return Err(Failure::input(format!(
                "the sweep has {runs} runs, and without --out at most {MOST_HELD} are held in memory; write --out DIR"
            )));
        }
        let store = Store::new(Memory::default(), Memory::default(), layout(self.sweep, self.shard));
        let end = self.execute(&store, &|| Ok(()))?.map_err(|error| Failure::output("memory", &error))?;
        if end.stopped {
            return Err(Failure::Interrupted("interrupted; nothing is kept without --out".to_owned()));
        }
        if self.args.quiet { Ok(()) } else { print_rows(self.sweep, &store, self.args.format.unwrap_or_default()) }
    }

    /// Runs what the store lacks; the inner result is the store's.
    fn execute<S: Storage + Send>(
        &self,
        store: &Store<S>,
        sync: &(dyn Fn() -> std::io::Result<()> + Sync),
    ) -> Result<std::io::Result<End>, Failure> {
        let runs = self.shard.points(self.sweep.plan().points()) * self.sweep.plan().repeat();
        let watch = watch::Terminal::new(runs, self.args.no_progress || self.args.quiet, sync)?;
        let job = Job {
            sweep: self.sweep,
            store,
            load: self.load,
            complete: &|outcome| {
                stamps::complete(outcome);
            },
            kernel: self.args.kernel.into(),
            watch: &watch,
        };
        // A failed run tells its reason in its row; the default hook would print it in the middle of the bar.
        std::panic::set_hook(Box::new(|_| {}));
        let end = self.pool.install(|| execute(&job));
        drop(std::panic::take_hook());
        Ok(watch.finish().and(end))
    }
}

/// What places in the store depend on.
fn layout(sweep: &Sweep, shard: Shard) -> Layout {
    Layout { hash: sweep.hash(), figures: sweep.figures().len(), repeat: sweep.plan().repeat(), shard }
}

/// Texts of files that scenarios name: each is read once, so that it is the same for all points.
#[derive(Default)]
struct Loaded(Mutex<BTreeMap<String, Arc<Result<String, String>>>>);

impl Loaded {
    fn text(&self, name: &str) -> Result<String, String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = known.entry(name.to_owned()).or_insert_with(|| Arc::new(read_text(name)));
        Arc::clone(text).as_ref().clone()
    }
}

fn summary(sweep: &Sweep, shard: Shard, end: &End, out: &Path) -> String {
    let part = if shard.count > 1 { format!(" of part {shard}") } else { String::new() };
    let failed = if end.failed > 0 {
        format!(", {} of them failed (column `error` says why)", end.failed)
    } else {
        String::new()
    };
    let before = if end.stored_before > 0 { format!(", {} from before", end.stored_before) } else { String::new() };
    let not_needed = match end.not_needed {
        0 => String::new(),
        more => format!(", {more} repetitions not needed"),
    };
    format!(
        "{}: {} runs{part}{failed}{before}{not_needed}\nseed {}, nicsim {}, sweep {:016x}\n{}\n",
        sweep.definition().scenario,
        end.stored,
        sweep.definition().seed,
        sweep.definition().version,
        sweep.hash(),
        out.join("results.csv").display(),
    )
}

fn print_rows<S: Storage>(sweep: &Sweep, store: &Store<S>, format: Format) -> Result<(), Failure> {
    let columns = table::columns(sweep);
    let rows = table::rows(sweep, store);
    let out = std::io::BufWriter::new(std::io::stdout().lock());
    match format {
        Format::Table => return print(&people(&columns, rows)?),
        Format::Csv => std::io::Write::flush(&mut table::write_csv(&columns, rows, out)?)?,
        Format::Json => std::io::Write::flush(&mut table::write_json(&columns, rows, out)?)?,
    }
    Ok(())
}

/// The first rows, without columns in which there is nothing to see.
fn people(columns: &[Column], rows: impl Iterator<Item = std::io::Result<Row>>) -> Result<String, Failure> {
    let mut shown: Vec<Row> = Vec::new();
    let mut more = 0;
    for row in rows {
        let row = row?;
        if shown.len() < MOST_SHOWN { shown.push(row) } else { more += 1 }
    }
    let seen: Vec<usize> = (0..columns.len())
        .filter(|&place| match columns[place].role {
            Role::Run => {
                columns[place].name == "point"
                    || columns[place].name == "repetition" && shown.iter().any(|row| row[place] != Cell::Integer(0))
            }
            Role::Error => shown.iter().any(|row| row[place] != Cell::Missing),
            Role::Axis | Role::Figure => true,
        })
        .collect();
    let header: Vec<&str> = seen.iter().map(|&place| columns[place].name.as_str()).collect();
    let cell = |cell: &Cell| match cell {
        Cell::Real(value) => text::ns(Some(*value)),
        Cell::Missing => "-".to_owned(),
        other => other.text(),
    };
    let rows: Vec<Vec<String>> =
        shown.iter().map(|row| seen.iter().map(|&place| cell(&row[place])).collect()).collect();
    let mut text = text::table(&header, &rows);
    if more > 0 {
        text += &format!("… and {more} rows more; --format csv prints all, --out DIR writes them\n");
    }
    Ok(text)
}
