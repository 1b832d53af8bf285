//! Instructions per frame, which repeat on any machine and so can be held against committed figures.
//!
//! `cargo bench -p nicsim-benches --bench instructions` runs this program under callgrind for two numbers of frames and
//! takes the difference, so that start, set-up and report fall out. It fails when a figure is worse than
//! `benches/instructions.toml` allows.
//!
//! - `-- --bless` writes the present figures into that file;
//! - `-- --where` prints the instructions per frame by compiled function and by source file;
//!   with `--write` too, docs/performance.md takes them over.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic, missing_docs, reason = "a program for developers")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nicsim_benches::page::Page;
use nicsim_benches::scenarios::{self, Record};
use nicsim_models::world::KernelKind;
use nicsim_scenarios::scenario::Scenario;

mod callgrind;
mod figures;

use figures::Figures;

/// Frames of the shorter run; by then every stream has filled its ring and touched its histograms.
const SHORT: u64 = 25_600;
/// Frames of the longer one; both are multiples of the streams.
const LONG: u64 = 64_000;
/// A figure may be this much worse than the committed one [%]: room for a compiler's release, not for a change of ours.
const TOLERANCE: f64 = 5.0;

/// A scenario of this many frames.
type Work = fn(u64) -> Scenario;

/// What is counted, by the names of `instructions.toml`.
const WORKS: &[(&str, Work)] = &[
    ("e830-1-stream", |frames| scenarios::e830("poll-free", 1, frames, Record::All)),
    ("e830-64-streams", |frames| scenarios::e830("poll-free", 64, frames, Record::All)),
    ("w1", scenarios::w1),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = |option: &str| arguments.iter().any(|argument| argument == option);
    if let [option, work, frames] = &arguments[..]
        && option == "--simulate"
    {
        simulate(work, frames.parse().unwrap());
        return ExitCode::SUCCESS;
    }
    if !callgrind::is_there() {
        println!("skipped: instructions per frame need valgrind, which is not installed here");
        return ExitCode::SUCCESS;
    }
    if given("--where") {
        let mut page = Page::default();
        by_place(&mut page);
        if given("--write") {
            page.write();
        }
        return ExitCode::SUCCESS;
    }
    let measured: Vec<(&str, f64)> = WORKS.iter().map(|(name, _)| (*name, per_frame(name))).collect();
    if given("--bless") {
        std::fs::write(file(), figures::to_toml(&measured)).unwrap();
        println!("{} written", file().display());
        return ExitCode::SUCCESS;
    }
    compare(&measured, &Figures::read(&file()))
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.toml")
}

fn simulate(work: &str, frames: u64) {
    let (_, scenario) = WORKS.iter().find(|(name, _)| *name == work).unwrap();
    std::hint::black_box(scenarios::report(&scenario(frames), KernelKind::Slots));
}

fn per_frame(work: &str) -> f64 {
    let total = |frames: u64| callgrind::total(&["--simulate", work, &frames.to_string()]) as f64;
    (total(LONG) - total(SHORT)) / (LONG - SHORT) as f64
}

/// Prints measured against committed figures; fails when one is worse than the tolerance.
fn compare(measured: &[(&str, f64)], committed: &Figures) -> ExitCode {
    println!("| instructions per frame | measured | committed | change |\n|---|--:|--:|--:|");
    let (mut worse, mut better) = (false, false);
    for (name, now) in measured {
        let Some(before) = committed.of(name) else {
            println!("| {name} | {now:.0} | none | |");
            worse = true;
            continue;
        };
        let change = (now / before - 1.0) * 100.0;
        println!("| {name} | {now:.0} | {before:.0} | {change:+.1} % |");
        worse |= change > TOLERANCE;
        better |= change < -TOLERANCE;
    }
    let bless = "cargo bench -p nicsim-benches --bench instructions -- --bless";
    if worse {
        println!(
            "\nworse by more than {TOLERANCE} %, or without a committed figure. If it is meant, bless it:\n    {bless}"
        );
        println!("The committed figures were counted with {}.", committed.compiler);
        return ExitCode::FAILURE;
    }
    if better {
        println!("\nbetter by more than {TOLERANCE} %: keep it by\n    {bless}");
    }
    ExitCode::SUCCESS
}

/// Prints where the instructions of each work stand.
fn by_place(page: &mut Page) {
    for ((work, _), mark) in WORKS.iter().zip(["e830-1-stream", "e830-64-streams", "w1-instructions"]) {
        page.section(mark, &format!("{work}: instructions per frame by place"));
        let costs = |frames: u64| callgrind::by_place(&["--simulate", work, &frames.to_string()]);
        let (short, long) = (costs(SHORT), costs(LONG));
        print_places(page, "compiled into", &short.by_function, &long.by_function);
        page.line("");
        print_places(page, "written in", &short.by_file, &long.by_file);
    }
}

/// Prints what each place costs per frame, from 2 % of all on.
fn print_places(page: &mut Page, title: &str, short: &BTreeMap<String, u64>, long: &BTreeMap<String, u64>) {
    let per_frame = |(place, cost): (&String, &u64)| {
        let before = short.get(place).copied().unwrap_or(0);
        (place.clone(), (*cost as f64 - before as f64) / (LONG - SHORT) as f64)
    };
    let mut rows: Vec<(String, f64)> = long.iter().map(per_frame).collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let all: f64 = rows.iter().map(|row| row.1).sum();
    page.head(&[title, "instructions per frame", "share"]);
    for (place, cost) in rows.iter().filter(|row| row.1 >= all / 50.0) {
        page.row(&[format!("`{place}`"), format!("{cost:.0}"), format!("{:.0} %", cost / all * 100.0)]);
    }
    page.row(&["all".to_owned(), format!("{all:.0}"), String::new()]);
}
