//! Plots as SVG and the page that carries them: what a report looks like to a person.
//!
//! ```text
//! DenseHistogram ─ interval_histogram ─┐
//! Series ───────── series ─────────────┼─► SVG ─► Figure ─┐
//! StampPoint, Fits ─ staircase ────────┘                  ├─► Page ─ page ─► HTML
//! Report, summaries ─ report, metrics_table, … ─► Section ┘
//! Survey ─ sweep ─► Page and pictures
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `histogram` | number of frames over the interval |
//! | `over_frames` | the interval over the frame number |
//! | `staircase` | observer minus stamp over the frame number, with its regressions |
//! | `page` | a page of tables, facts, texts and figures as one HTML file |
//! | `sweep` | the page of a sweep with its charts, and of two sweeps side by side |
//! | `tables` | a report, or the summaries of a capture, as sections of a page |
//! | `sheet` | what all plots share: title, legend, axes, notes, colours |
//! | `ticks`, `text` | round tick values; numbers as people read them |
//!
//! Every function is pure: same values, same bytes. Pictures and pages load nothing and link nowhere, and no value,
//! however odd (nothing at all, one value, not a number), keeps a figure from being drawn.

mod histogram;
mod over_frames;
mod page;
mod sheet;
mod staircase;
mod sweep;
mod tables;
mod text;
mod ticks;

pub use histogram::{Bars, CountScale, HistogramPlot, interval_histogram};
pub use over_frames::{SeriesPlot, series};
pub use page::{Cell, Page, Section, page};
pub use staircase::{Fits, StaircasePlot, staircase};
pub use sweep::{Pictures, SweepHead, comparison, comparison_notes, sweep};
pub use tables::{clock_table, metric_meanings, metrics_table, provenance, report};
pub use text::grouped;
