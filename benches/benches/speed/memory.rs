//! Number of frames against time and memory, each in a process of its own.

use std::process::Command;
use std::time::Instant;

use nicsim_benches::page::Page;
use nicsim_benches::scenarios::{self, Record};
use nicsim_models::world::KernelKind;

use crate::{at_most, goals_head, table};

const FRAMES: &str = "NICSIM_BENCH_FRAMES";

/// What a child process measured.
#[derive(Clone, Copy)]
struct Measured {
    ns_per_frame: f64,
    resident_kib: f64,
}

/// Is this process a child? Then it simulates, prints and is done.
pub(crate) fn is_child() -> bool {
    let Some(frames) = std::env::var(FRAMES).ok().and_then(|frames| frames.parse().ok()) else {
        return false;
    };
    let scenario = scenarios::e830("poll-free", 1, frames, Record::All);
    let start = Instant::now();
    std::hint::black_box(scenarios::report(&scenario, KernelKind::Slots));
    println!("{} {}", start.elapsed().as_nanos() as f64 / frames as f64, highest_resident_kib());
    true
}

fn highest_resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or(0)
}

fn child(frames: u64) -> Measured {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program).env(FRAMES, frames.to_string()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let figures: Vec<f64> = text.split_whitespace().map(|figure| figure.parse().unwrap()).collect();
    Measured { ns_per_frame: figures[0], resident_kib: figures[1] }
}

/// Prints time and memory of each number of frames; all but the last are run `rounds` times in turns.
pub(crate) fn print(page: &mut Page, rounds: usize, sizes: &[u64]) {
    page.section("frames", "Number of frames");
    page.line(
        "Full E830, one stream, every recorder; set-up and report included; peak resident memory of the process.\n",
    );
    let mut measured = vec![Vec::new(); sizes.len()];
    for round in 0..rounds {
        for (&frames, runs) in sizes.iter().zip(&mut measured) {
            if round == 0 || Some(&frames) != sizes.last() {
                runs.push(child(frames));
            }
        }
    }
    let smallest =
        |runs: &[Measured], figure: fn(&Measured) -> f64| runs.iter().map(figure).fold(f64::INFINITY, f64::min);
    let mib: Vec<f64> = measured.iter().map(|runs| smallest(runs, |run| run.resident_kib) / 1_024.0).collect();
    page.head(&["frames", "ns per frame", "peak memory"]);
    for ((frames, runs), mib) in sizes.iter().zip(&measured).zip(&mib) {
        let ns = table::ns(smallest(runs, |run| run.ns_per_frame));
        page.row(&[frames.to_string(), ns, format!("{mib:.1} MiB")]);
    }
    goals_head(page);
    let (Some(most), Some(last)) = (mib.iter().copied().reduce(f64::max), mib.last()) else {
        return;
    };
    at_most(page, "peak memory [MiB]", most, 16.0);
    if let (Some(1_000_000), Some(million)) = (sizes.get(2), mib.get(2)) {
        at_most(page, "more at 1e8 frames than at 1e6 [MiB]", last - million, 1.0);
    }
}
