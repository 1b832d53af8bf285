//! Fingerprints of the built-in scenarios' frame records, kept in `golden_fingerprints.txt` beside this file.
//!
//! A change of a fingerprint is a change of results. Where it is meant, write the file anew with
//! `NICSIM_BLESS=1 cargo test -p nicsim-scenarios --test golden` and say in the change log which results change and why.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use common::{run_into, runnable, seed, shortened};
use nicsim_core::sink::Fingerprint;
use nicsim_scenarios::scenario::DEFAULT_SEED;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden_fingerprints.txt");

/// Streams are cut to this many frames.
const FRAMES: u64 = 20_000;

const HEADER: &str = "\
# Fingerprint of the frame records of every built-in scenario: default seed, run 0, at most 20,000 frames per stream.
# A line that changes is a result that changes. To write this file anew:
#     NICSIM_BLESS=1 cargo test -p nicsim-scenarios --test golden
";

fn fingerprints() -> BTreeMap<String, String> {
    let fingerprint = |name: &str| {
        let mut digest = Fingerprint::default();
        run_into(&shortened(name, FRAMES), seed(DEFAULT_SEED), &mut digest);
        format!("{:016x}", digest.value())
    };
    runnable().map(|name| (name.to_owned(), fingerprint(name))).collect()
}

#[test]
fn built_in_scenarios_give_the_recorded_fingerprints() {
    let now = fingerprints();
    if std::env::var("NICSIM_BLESS").is_ok_and(|value| value == "1") {
        let mut text = HEADER.to_owned();
        now.iter().for_each(|(name, digest)| writeln!(text, "{name} {digest}").unwrap());
        std::fs::write(PATH, text).unwrap();
        return;
    }
    let text = std::fs::read_to_string(PATH).unwrap();
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let recorded: BTreeMap<String, String> = lines
        .map(|line| line.split_once(' ').unwrap_or_else(|| panic!("not `name fingerprint`: {line}")))
        .map(|(name, digest)| (name.to_owned(), digest.trim().to_owned()))
        .collect();
    let mut differences = String::new();
    for name in now.keys().chain(recorded.keys()).collect::<std::collections::BTreeSet<_>>() {
        if now.get(name) != recorded.get(name) {
            writeln!(differences, "  {name}: recorded {:?}, now {:?}", recorded.get(name), now.get(name)).unwrap();
        }
    }
    assert!(differences.is_empty(), "results changed (see the head of tests/golden.rs):\n{differences}");
}
