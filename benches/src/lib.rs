//! What nicsim's benches share: the scenarios that they run by the ordinary path from text to report, and the page that
//! they print.
//!
//! `cargo bench -p nicsim-benches --bench speed` measures times and memory as ratios within one run,
//! `--bench instructions` counts instructions per frame, which repeat on any machine. `docs/performance.md` tells how to
//! read both.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs,
    reason = "for the benches alone: what fails, fails at once"
)]

pub mod page;
pub mod scenarios;
