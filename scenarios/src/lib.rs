//! From a scenario file to a report.
//!
//! ```text
//! scenario.toml ─ file ─► ScenarioFile ─ scenario ─► Scenario ─ run ─► World ─► FrameRecord ─► metric ─► Report ─ view ─► SVG, HTML
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`library`] | the built-in scenarios, one file each under `files/` |
//! | [`mod@file`] | a scenario as it was written; `--set` |
//! | [`scenario`] | the same resolved and checked |
//! | [`metric`] | the one list of metrics |
//! | [`run`] | a run and what is kept of it |
//! | [`series`] | a quantity over the frame number, for plots |
//! | [`report`] | `report.json` |
//! | [`sweep`] | many points of a scenario, their runs and results |
//! | [`tail`] | deep percentiles without brute force |
//! | [`view`] | plots and the page |
//! | `frames` | per-frame ground truth as Parquet (feature `parquet`) |

pub mod file;
#[cfg(feature = "parquet")]
pub mod frames;
pub mod library;
pub mod metric;
pub mod report;
pub mod run;
pub mod scenario;
pub mod series;
pub mod sweep;
pub mod tail;
pub mod view;
