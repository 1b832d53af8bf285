//! Reads recorded captures and analyses them: the one path for what an instrument wrote and what the simulator wrote.
//!
//! | module | holds |
//! |---|---|
//! | [`recording`] | captures: EFCC, pcap, pcapng and plain CSV files, kind by content, integer-exact; and two writers |
//! | [`plan`] | `capture.toml`: what the person at the instrument knows of a capture |
//! | [`fit`] | straight-line and isotonic regression |
//! | [`analyse`] | metrics and fits of a capture, alone or against a second one |
//!
//! Nothing here prints, reads a clock, or opens a file: bytes come in, values go out. No content of a file makes it
//! panic; what cannot be read is an error that says where and what would be right, and what is left out is counted.

pub mod analyse;
pub mod fit;
pub mod plan;
pub mod recording;
