//! `nicsim sweep merge`: the parts of one sweep become one folder, with the same results as one run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use nicsim_scenarios::sweep::{End, Shard, Sweep, table};

use super::folder::{Manifest, SweepFolder, lock_to_read, open_to_read};
use super::summary;
use crate::failure::{Failure, print};

/// Points that an error text names.
const MOST_NAMED: usize = 5;

/// Arguments of `sweep merge`.
#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Folders of all parts, in any order
    #[arg(required = true, value_name = "DIR")]
    parts: Vec<PathBuf>,
    /// Folder for the whole
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

/// A part that was found.
struct Part {
    folder: PathBuf,
    manifest: Manifest,
}

/// Runs the command.
pub(super) fn merge(args: &MergeArgs) -> Result<(), Failure> {
    let parts = args.parts.iter().map(|folder| read_part(folder)).collect::<Result<Vec<_>, _>>()?;
    check_together(&parts)?;
    let locks = parts.iter().map(|part| lock_to_read(&part.folder));
    let _locks = locks.collect::<Result<Vec<_>, _>>()?;
    let first = parts.first().ok_or_else(|| Failure::input("no part is named"))?;
    let sweep = Sweep::of(first.manifest.definition.clone()).map_err(Failure::input)?;
    check_complete(&parts, &sweep)?;
    let whole = SweepFolder::open(&args.out, &sweep, Shard::default(), false)?;
    let mut end = End::default();
    for part in &parts {
        copy(part, &sweep, &whole, &mut end)?;
    }
    whole.finish(&sweep)?;
    if args.quiet { Ok(()) } else { print(&summary(&sweep, Shard::default(), &end, &args.out)) }
}

fn read_part(folder: &Path) -> Result<Part, Failure> {
    if !folder.is_dir() {
        return Err(Failure::input(format!("{}: there is no such folder", folder.display())));
    }
    let manifest = Manifest::read(folder)?.ok_or_else(|| {
        Failure::input(format!("{}: this is no folder of a sweep, it has no sweep.json", folder.display()))
    })?;
    Ok(Part { folder: folder.to_owned(), manifest })
}

/// All are parts of one sweep, each once, and none is missing.
fn check_together(parts: &[Part]) -> Result<(), Failure> {
    let mut seen: BTreeMap<u64, &PathBuf> = BTreeMap::new();
    let Some(first) = parts.first() else {
        return Ok(());
    };
    for part in parts {
        let mut differences = first.manifest.definition.differences(&part.manifest.definition);
        if first.manifest.shard.count != part.manifest.shard.count {
            differences.push(format!(
                "its parts are {} in number, here {}",
                first.manifest.shard.count, part.manifest.shard.count
            ));
        }
        if !differences.is_empty() {
            return Err(Failure::input(format!(
                "{}: this does not belong to the sweep of {}: {}",
                part.folder.display(),
                first.folder.display(),
                differences.join("; ")
            )));
        }
        if let Some(double) = seen.insert(part.manifest.shard.index, &part.folder) {
            return Err(Failure::input(format!(
                "{}: part {} is in {} too; name each part once",
                part.folder.display(),
                part.manifest.shard,
                double.display()
            )));
        }
    }
    let count = first.manifest.shard.count;
    let missing: Vec<String> =
        (1..=count).filter(|index| !seen.contains_key(index)).map(|index| format!("{index}/{count}")).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::input(format!(
        "these parts are missing: {}; run them with --shard and name their folders",
        listed(&missing)
    )))
}

/// Every run of every part has a record.
fn check_complete(parts: &[Part], sweep: &Sweep) -> Result<(), Failure> {
    for part in parts {
        let store = open_to_read(&part.folder, sweep, part.manifest.shard)?;
        let (mut missing, mut count) = (Vec::new(), 0_u64);
        for run in table::runs(sweep, &store) {
            if store.get(run).map_err(|error| unreadable(part, &error))?.is_none() {
                count += 1;
                if missing.len() < MOST_NAMED && missing.last() != Some(&run.point.to_string()) {
                    missing.push(run.point.to_string());
                }
            }
        }
        if count > 0 {
            return Err(Failure::input(format!(
                "{}: part {} is not complete, {count} runs are missing, of point {} first; run it again with --resume",
                part.folder.display(),
                part.manifest.shard,
                missing.join(", "),
            )));
        }
    }
    Ok(())
}

fn copy(part: &Part, sweep: &Sweep, whole: &SweepFolder, end: &mut End) -> Result<(), Failure> {
    let store = open_to_read(&part.folder, sweep, part.manifest.shard)?;
    for run in table::runs(sweep, &store) {
        let record = store.get(run).map_err(|error| unreadable(part, &error))?;
        if let Some(record) = record {
            whole.store().put(run, &record).map_err(|error| Failure::Output(anyhow::anyhow!("rows.bin: {error}")))?;
            end.stored += 1;
            end.failed += u64::from(record.is_failure());
        }
    }
    Ok(())
}

fn unreadable(part: &Part, error: &std::io::Error) -> Failure {
    Failure::input(format!("{}: cannot be read: {error}", part.folder.display()))
}

fn listed(names: &[String]) -> String {
    match names.len().checked_sub(MOST_NAMED) {
        Some(more) if more > 0 => format!("{} and {more} more", names[..MOST_NAMED].join(", ")),
        _ => names.join(", "),
    }
}
