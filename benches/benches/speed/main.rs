//! The README's speed table: `cargo bench -p nicsim-benches --bench speed` (`-- --smoke` for a short run).
//!
//! All candidates take turns, round by round, so that a neighbour's load falls on all of them alike; the smallest time
//! of each is compared. Absolute times are this machine's, ratios travel.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic, missing_docs, reason = "a program for developers")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use nicsim_core::sink::Null;
use nicsim_models::world::KernelKind;
use nicsim_scenarios::file::ScenarioFile;
use nicsim_scenarios::run::{RunOptions, run};
use nicsim_scenarios::scenario::Scenario;

mod nexosim_peer;

/// The E830 with `streams` scheduled streams in queues of their own, `frames` frames in all, every recorder on.
fn scenario(streams: u64, frames: u64) -> Scenario {
    let mut text = String::from(
        "name = \"bench\"\nabout = \"bench\"\n[nic]\nmodel = \"e830\"\ndriver = \"ice-fixed\"\nphc_start = \"1790000000s\"\n\
         [observer]\nkind = \"efcc-10g\"\noffset = \"7.55ppm\"\n",
    );
    for stream in 0..streams {
        text += &format!(
            "[[stream]]\nframes = {}\nsize = \"64B\"\ninterval = \"100us\"\nlead = \"100us\"\nfirst_launch = \"{}ns\"\ntx_stamps = {}\n",
            frames / streams,
            102_400 + stream * 1_280,
            // 64 registers serve one stream of this rate; more would only measure how stamps are lost.
            stream == 0
        );
    }
    let file = ScenarioFile::parse("bench", &text, &[]).unwrap();
    Scenario::resolve(file, &|name| Err(format!("{name}: no files here"))).unwrap()
}

fn simulate(scenario: &Scenario, kernel: KernelKind) -> Duration {
    let start = Instant::now();
    let outcome = run(scenario, RunOptions { kernel, ..RunOptions::default() }, &mut Null, &mut |_| true).unwrap();
    black_box(outcome.report.counts.sent);
    start.elapsed()
}

/// Smallest and median nanoseconds per frame of each candidate, taken in turns.
fn rounds(count: usize, frames: u64, candidates: &mut [&mut dyn FnMut() -> Duration]) -> Vec<(f64, f64)> {
    let mut times = vec![Vec::new(); candidates.len()];
    for _ in 0..count {
        for (candidate, times) in candidates.iter_mut().zip(&mut times) {
            times.push(candidate().as_nanos() as f64 / frames as f64);
        }
    }
    times
        .into_iter()
        .map(|mut times| {
            times.sort_by(f64::total_cmp);
            (times[0], times[times.len() / 2])
        })
        .collect()
}

/// Highest resident memory of a process of its own that simulates `frames` frames [MiB].
fn memory(frames: u64) -> f64 {
    let program = std::env::current_exe().unwrap();
    let output = std::process::Command::new(program).env("NICSIM_BENCH_FRAMES", frames.to_string()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().parse::<f64>().unwrap_or(f64::NAN) / 1_024.0
}

fn highest_resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or(0)
}

fn main() {
    if let Ok(frames) = std::env::var("NICSIM_BENCH_FRAMES") {
        simulate(&scenario(1, frames.parse().unwrap()), KernelKind::Slots);
        println!("{}", highest_resident_kib());
        return;
    }
    let smoke = std::env::args().any(|argument| argument == "--smoke");
    let (count, frames) = if smoke { (2, 20_000) } else { (7, 200_000) };
    println!(
        "Full E830 path: driver, fetch, compare, release jitter, stamps, capture, every recorder; {frames} frames,"
    );
    println!("smallest of {count} rounds in turns.\n");
    println!("| streams | nicsim, slots | frames/s | heap reference | slots are faster by |");
    println!("|--:|--:|--:|--:|--:|");
    for streams in [1, 4, 16, 64] {
        let scenario = scenario(streams, frames);
        let results = rounds(
            count,
            frames,
            &mut [&mut || simulate(&scenario, KernelKind::Slots), &mut || simulate(&scenario, KernelKind::Reference)],
        );
        let (slots, reference) = (results[0].0, results[1].0);
        println!(
            "| {streams} | {slots:.0} ns | {:.2} M | {reference:.0} ns | {:.1} times |",
            1_000.0 / slots,
            reference / slots
        );
    }
    let scenario = scenario(1, frames);
    let results = rounds(
        count,
        frames,
        &mut [&mut || simulate(&scenario, KernelKind::Slots), &mut || nexosim_peer::simulate(frames)],
    );
    println!(
        "\nThe same stages of one stream as four models of NeXosim 1.0 (submit, fetch, release, line with stamp and capture),"
    );
    println!("with nicsim's own stage rules in them and one recorder instead of seven:\n");
    println!("| | ns per frame | by nicsim |\n|---|--:|--:|");
    println!("| nicsim | {:.0} | 1 |", results[0].0);
    println!("| NeXosim 1.0 | {:.0} | {:.1} |", results[1].0, results[1].0 / results[0].0);
    println!("\n| frames | peak memory |\n|--:|--:|");
    let sizes: &[u64] = if smoke { &[10_000, 100_000] } else { &[100_000, 100_000_000] };
    for &frames in sizes {
        println!("| {frames} | {:.1} MiB |", memory(frames));
    }
}
