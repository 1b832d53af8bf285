//! Sweeps: one scenario at many points, each point run once or more, each run one row of a table.
//!
//! ```text
//! sweep.toml ─ file ─► SweepFile ─ plan ─► Plan ── point i ─► Scenario ─ run ─► Report ─ figure ─► Store ─ table ─► CSV, Parquet
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`mod@file`] | a sweep as it was written |
//! | [`value`], [`range`], [`sample`] | the values of a path: lists, ranges, sampled boxes, exact and with units |
//! | [`constraint`] | conditions that a point must meet |
//! | [`plan`] | the number of points, and any one of them from its index |
//! | [`stop`] | when repetitions of a point end early |
//! | [`seeds`] | the seed of each run |
//! | [`figure`] | figures of a report that become columns |
//! | [`definition`] | all that results depend on; checks before anything runs |
//! | [`engine`] | runs what is not stored yet, on all threads |
//! | [`store`] | records at places that follow from a run's number |
//! | [`table`] | columns and rows, as CSV, JSON and Parquet |
//! | [`survey`] | what a table shows at large, for its page |
//! | [`compare`] | two tables side by side |
//!
//! Nothing here depends on the order in which runs end, so results are the same bytes for any number of threads, for a
//! sweep in parts, and for one that was interrupted and resumed.

pub mod compare;
pub mod constraint;
pub mod definition;
pub mod engine;
pub mod figure;
pub mod file;
pub mod plan;
pub mod range;
pub mod sample;
pub mod seeds;
pub mod stop;
pub mod store;
pub mod survey;
pub mod table;
pub mod value;

pub use definition::{Definition, Overrides, Sweep};
pub use engine::{End, Job, Watch, execute};
pub use plan::{Plan, Run};
pub use store::{Layout, Memory, Record, Shard, Storage, Store};
pub use survey::Survey;
pub use table::{Cell, Column, Row};
