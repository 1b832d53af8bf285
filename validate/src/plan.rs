//! What the person at the instrument knows of a capture: `capture.toml`.
//!
//! ```toml
//! kind = "efcc"
//! tick = "6.4ns"
//! port = 0
//!
//! [[stream]]
//! name = "control"
//! size = "64B"
//! frames = 50000
//! interval = "100us"
//! first_launch_ns = 1000000000
//! ```
//!
//! The frames of all streams are numbered together: frame `n` of the capture's 29-bit numbering belongs to stream
//! `n mod S` of the `S` streams, and its index within the stream is `n div S`. Where a stream's numbers begin
//! elsewhere than with its place in the list, `first_number` says so. Ground truth never stands here.

use nicsim_core::grid::Period;
use nicsim_core::noise::Bytes;
use nicsim_core::time::Span;
use serde::{Deserialize, Serialize};

use crate::recording::{Kind, efcc};

/// A plan as the file has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Form of the capture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The instrument's tick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick: Option<Period>,
    /// The instrument's port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u8>,
    /// The streams, in the order of their numbers.
    #[serde(default, rename = "stream", skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<Stream>,
}

/// One stream of frames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// How reports name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Ethernet frame with FCS.
    pub size: Bytes,
    /// Planned number of frames.
    pub frames: u64,
    /// Time between planned launches, where it is constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Span>,
    /// Launch time of the first frame [ns on the clock that launches].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_launch_ns: Option<i64>,
    /// Number of the stream's first frame; its place in the list where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_number: Option<u32>,
}

/// Where a frame stands in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The stream's place in the list.
    pub stream: usize,
    /// The frame's index within the stream; negative before the stream's first number.
    pub index: i64,
}

/// A plan that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what the fields are")]
pub enum PlanError {
    #[error("{file}: {problem}")]
    Toml { file: String, problem: String },
    #[error("{file}: `port` is {port}; the identifier of a frame has three bits for it, so 0 to 7 are possible")]
    Port { file: String, port: u8 },
    #[error("{file}: stream {stream} has the interval {interval}; it must be longer than 0")]
    Interval { file: String, stream: usize, interval: Span },
    #[error(
        "{file}: streams {first} and {second} would have the same frames: with {streams} streams, \
         their `first_number` must differ modulo {streams}"
    )]
    Numbers { file: String, first: usize, second: usize, streams: usize },
    #[error("{file}: stream {stream} has the first_number {number}; frame numbers have 29 bits")]
    NumberTooLarge { file: String, stream: usize, number: u32 },
}

impl Plan {
    /// Reads a plan; `file` is how messages name it.
    ///
    /// # Errors
    /// [`PlanError`] says what is wrong, where, and what would be right.
    pub fn from_toml(text: &str, file: &str) -> Result<Self, PlanError> {
        let plan: Self = toml::from_str(text)
            .map_err(|error| PlanError::Toml { file: file.to_owned(), problem: one_paragraph(text, &error) })?;
        plan.check(file)?;
        Ok(plan)
    }

    /// The plan as a file holds it.
    ///
    /// # Errors
    /// [`PlanError::Toml`] where a number is beyond what TOML holds.
    pub fn to_toml(&self) -> Result<String, PlanError> {
        toml::to_string(self)
            .map_err(|error| PlanError::Toml { file: "capture.toml".to_owned(), problem: error.to_string() })
    }

    fn check(&self, file: &str) -> Result<(), PlanError> {
        let file = || file.to_owned();
        if let Some(port) = self.port.filter(|port| *port > 7) {
            return Err(PlanError::Port { file: file(), port });
        }
        for (stream, planned) in self.streams.iter().enumerate() {
            if let Some(interval) = planned.interval.filter(|interval| *interval <= Span::ZERO) {
                return Err(PlanError::Interval { file: file(), stream, interval });
            }
            if let Some(number) = planned.first_number.filter(|number| *number != efcc::number(*number)) {
                return Err(PlanError::NumberTooLarge { file: file(), stream, number });
            }
            if let Some(first) = (0..stream).find(|first| self.remainder(*first) == self.remainder(stream)) {
                return Err(PlanError::Numbers { file: file(), first, second: stream, streams: self.streams.len() });
            }
        }
        Ok(())
    }

    fn first_number(&self, stream: usize) -> u64 {
        let given = self.streams.get(stream).and_then(|planned| planned.first_number);
        given.map_or(stream as u64, u64::from)
    }

    fn remainder(&self, stream: usize) -> u64 {
        self.first_number(stream) % self.streams.len().max(1) as u64
    }

    /// The stream and index of the frame with this number; `None` without streams.
    pub fn place(&self, number: u32) -> Option<Place> {
        let streams = self.streams.len() as u64;
        let remainder = u64::from(number).checked_rem(streams)?;
        // The remainders of `check` are a permutation, so in almost every plan the first guess is right.
        let guess = remainder as usize;
        let stream = if self.remainder(guess) == remainder {
            guess
        } else {
            (0..self.streams.len()).find(|stream| self.remainder(*stream) == remainder)?
        };
        let from_first = i64::from(number) - self.first_number(stream) as i64;
        Some(Place { stream, index: from_first.div_euclid(streams as i64) })
    }
}

/// The message of the TOML reader in one line, with the line of the file.
fn one_paragraph(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().replace('\n', " ");
    match error.span() {
        Some(span) => {
            let before = text.get(..span.start).unwrap_or(text);
            format!("line {}: {message}", 1 + before.matches('\n').count())
        }
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = r#"
kind = "efcc"
tick = "6.4ns"
port = 2

[[stream]]
name = "control"
size = "64B"
frames = 50000
interval = "100us"
first_launch_ns = 1753933177000000000

[[stream]]
size = "1518B"
frames = 10
"#;

    #[test]
    fn a_plan_is_read_and_written() {
        let plan = Plan::from_toml(EXAMPLE, "capture.toml").unwrap();
        assert_eq!(plan.kind, Some(Kind::Efcc));
        assert_eq!(plan.tick.map(|tick| tick.num()), Some(6_400));
        assert_eq!((plan.streams[0].size, plan.streams[1].interval), (Bytes(64), None));
        let written = plan.to_toml().unwrap();
        assert_eq!(Plan::from_toml(&written, "again").unwrap(), plan);
        assert!(written.contains("tick = \"6.4ns\"") && written.contains("size = \"64B\""), "{written}");
        assert_eq!(Plan::from_toml("", "empty").unwrap(), Plan::default());
        assert_eq!(Plan::default().to_toml().unwrap(), "");
    }

    #[test]
    fn numbers_alternate_between_the_streams() {
        let plan = Plan::from_toml(EXAMPLE, "capture.toml").unwrap();
        assert_eq!(plan.place(0), Some(Place { stream: 0, index: 0 }));
        assert_eq!(plan.place(7), Some(Place { stream: 1, index: 3 }));
        assert_eq!(Plan::default().place(7), None);
        let mut moved = plan;
        moved.streams[0].first_number = Some(1_001);
        moved.streams[1].first_number = Some(1_000);
        assert_eq!(moved.place(1_003), Some(Place { stream: 0, index: 1 }));
        assert_eq!(moved.place(998), Some(Place { stream: 1, index: -1 }));
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let stream = "[[stream]]\nsize = \"64B\"\nframes = 1\n";
        for (text, expected) in [
            ("tik = \"8ns\"", "p: line 1: unknown field `tik`, expected one of `kind`, `tick`, `port`, `stream`"),
            ("\ntick = 8", "p: line 2: 8 has no unit"),
            ("kind = \"pcaap\"", "p: line 1: unknown variant `pcaap`"),
            ("[[stream]]\nframes = 3", "p: line 1: missing field `size`"),
            (
                "[[stream]]\nframes = 3\nsize = 64",
                "p: line 3: 64 has no unit; write it in quotes with one, such as \"64B\"",
            ),
            ("[[stream]]\nframes = -3\nsize = \"64B\"", "p: line 2: invalid value: integer `-3`"),
            ("port = 8", "p: `port` is 8"),
            (&format!("{stream}interval = \"0s\""), "p: stream 0 has the interval 0s"),
            (&format!("{stream}first_number = 3\n{stream}"), "p: streams 0 and 1 would have the same frames"),
            (&format!("{stream}first_number = 600000000"), "p: stream 0 has the first_number 600000000"),
            ("kind = ", "p: line 1: "),
        ] {
            let error = Plan::from_toml(text, "p").unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }
}
