//! Reads recorded captures and analyses them: the one path for what an instrument wrote and what the simulator wrote.
//!
//! | module | holds |
//! |---|---|
//! | [`recording`] | captures: EFCC, pcap, pcapng and plain CSV files, kind by content, integer-exact; and two writers |
//! | [`plan`] | `capture.toml`: what the person at the instrument knows of a capture |
//! | [`fit`] | straight-line and isotonic regression |
//! | [`analyse`] | metrics and fits of a capture, alone or against a second one |
//! | [`stamps`] | the two regressions of transmit stamps over the capture instrument |
//! | [`compare`] | peaks, shares, and counts side by side |
//! | [`tolerance`] | every acceptance number with its reason |
//! | [`published`] | simulations against published figures |
//! | [`recorded`] | simulations against recorded captures |
//! | [`verdict`] | a judgement |
//!
//! Nothing here prints, reads a clock, or opens a file: bytes come in, values go out. No content of a file makes it
//! panic; what cannot be read is an error that says where and what would be right, and what is left out is counted.

pub mod analyse;
pub mod compare;
pub mod fit;
pub mod plan;
pub mod published;
pub mod recorded;
pub mod recording;
pub mod stamps;
pub mod tolerance;
pub mod verdict;
