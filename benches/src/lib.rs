//! What nicsim's benches share: the scenarios that they run, by the ordinary path from text to report.
//!
//! `cargo bench -p nicsim-benches --bench speed` measures times and memory as ratios within one run,
//! `--bench instructions` counts instructions per frame, which repeat on any machine. `docs/performance.md` tells how to
//! read both.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "for the benches alone: what fails, fails at once")]

pub mod scenarios;
