//! Captures as read from files: one list of frames with times in whole units, whatever the file was.
//!
//! [`read`] decides the kind by content, never by the file's name: pcapng inside `.pcap` is common. Every time stays
//! an integer: counts of the file's own unit since its first kept frame, and the absolute stamp of that frame.
//!
//! What cannot be used is left out and counted by reason, so that `frames in the file = used + left out`; what a
//! reader should know besides (a step back, a cut-off tail, an assumed tick) is a sentence in [`Capture::notes`].

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use nicsim_core::grid::Period;
use nicsim_core::stats::Unit;
use nicsim_core::time::Span;
use serde::{Deserialize, Serialize};

pub mod columns;
mod decimal;
pub mod efcc;
mod fault;
pub mod pcap;
pub mod pcapng;
mod text;
pub mod unit;

pub use columns::Columns;
pub use fault::{Fault, ReadError};

/// Form of a recorded capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Timestamps CSV of the EFCC instrument: identifiers and counts of a 32-bit counter.
    Efcc,
    /// Classic pcap.
    Pcap,
    /// pcapng.
    Pcapng,
    /// Any other CSV with a column of times.
    Csv,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Efcc, Self::Pcap, Self::Pcapng, Self::Csv];

    /// The kind's name, as `--input` takes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Efcc => "efcc",
            Self::Pcap => "pcap",
            Self::Pcapng => "pcapng",
            Self::Csv => "csv",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name is not one of [`Kind::ALL`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a kind of capture; the kinds are efcc, pcap, pcapng and csv")]
pub struct UnknownKind(String);

impl FromStr for Kind {
    type Err = UnknownKind;
    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| UnknownKind(text.to_owned()))
    }
}

/// One frame of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Captured {
    /// The frame's identifier where the file has one; in EFCC form 3 bits of port and 29 bits of number.
    pub id: Option<u32>,
    /// When it was seen [units since the first kept frame], with the counter's wraps undone.
    pub at: i64,
    /// Ethernet frame with FCS in octets, where known.
    pub size: Option<u32>,
}

/// A capture, ready to be analysed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// How messages and reports name it.
    pub file: String,
    /// Form of the file.
    pub kind: Kind,
    /// One count of [`Captured::at`].
    pub unit: Unit,
    /// The absolute stamp of the first kept frame, in units; in EFCC form its count.
    pub origin: i128,
    /// The kept frames in the file's order, at least one.
    pub frames: Vec<Captured>,
    /// Frames of the file that are not in `frames`, by reason ([`reason`]).
    pub left_out: BTreeMap<String, u64>,
    /// What a reader of the figures should know.
    pub notes: Vec<String>,
}

impl Capture {
    /// Number of frames in the file.
    pub fn frames_in_file(&self) -> u64 {
        self.frames.len() as u64 + self.left_out.values().sum::<u64>()
    }

    /// The absolute stamp of kept frame `position`, in units.
    pub fn stamp(&self, position: usize) -> Option<i128> {
        self.frames.get(position).map(|frame| self.origin + i128::from(frame.at))
    }

    /// How many frames were skipped at the file's start because the caller asked for it.
    pub fn skipped(&self) -> u64 {
        self.left_out.get(reason::SKIPPED).copied().unwrap_or(0)
    }
}

/// Why a frame of the file is not used: keys of [`Capture::left_out`].
pub mod reason {
    /// Among the first N frames, which the caller asked to leave out.
    pub const SKIPPED: &str = "skipped";
    /// The file ends inside the frame's record.
    pub const CUT_OFF: &str = "cut_off";
    /// A record that has no time by its form (simple packet blocks).
    pub const NO_TIME: &str = "no_time";
    /// The time is missing: an empty field, or 0.000000000 among real stamps.
    pub const MISSING_TIME: &str = "missing_time";
}

/// What the caller says about a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Its kind; by content where `None`.
    pub input: Option<Kind>,
    /// Tick of an EFCC capture; 8 ns where `None`, which a note says.
    pub tick: Option<Period>,
    /// Columns of a plain CSV.
    pub columns: Option<Columns>,
    /// Leave out this many frames at the start.
    pub skip: u64,
}

/// Reads a capture; `name` is how messages name it and decides nothing.
///
/// # Errors
/// [`ReadError`] says what is wrong, where, and what would be right. A capture of which nothing usable remains
/// is an error too.
pub fn read(bytes: &[u8], name: &str, options: &ReadOptions) -> Result<Capture, ReadError> {
    read_kind(bytes, options)
        .map(|capture| Capture { file: name.to_owned(), ..capture })
        .map_err(|fault| ReadError { file: name.to_owned(), fault })
}

fn read_kind(bytes: &[u8], options: &ReadOptions) -> Result<Capture, Fault> {
    match kind_to_read(bytes, options)? {
        Kind::Efcc => efcc::read(bytes, options),
        Kind::Pcap => pcap::read(bytes, options),
        Kind::Pcapng => pcapng::read(bytes, options),
        Kind::Csv => columns::read(bytes, options),
    }
}

/// The kind that was asked for, where the content allows it, or else the content's own.
fn kind_to_read(bytes: &[u8], options: &ReadOptions) -> Result<Kind, Fault> {
    let found = kind_of(bytes)?;
    // Naming columns says that the file is a CSV.
    let Some(asked) = options.input.or(options.columns.as_ref().map(|_| Kind::Csv)) else {
        return Ok(found);
    };
    let is_text = |kind| matches!(kind, Kind::Efcc | Kind::Csv);
    if asked != found && !(is_text(asked) && is_text(found)) {
        return Err(Fault::OtherKind { asked, found });
    }
    Ok(asked)
}

/// First bytes of compressed files: people keep captures so, and nothing is unpacked here.
const COMPRESSED: [(&[u8], &str); 5] = [
    (&[0x1f, 0x8b], "gzip"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd"),
    (&[0xfd, b'7', b'z', b'X', b'Z'], "xz"),
    (b"BZh", "bzip2"),
    (b"PK\x03\x04", "zip"),
];

/// The kind of a file by its content.
///
/// # Errors
/// [`Fault`] where the content is no kind of capture.
pub fn kind_of(bytes: &[u8]) -> Result<Kind, Fault> {
    if bytes.is_empty() {
        return Err(Fault::Empty);
    }
    if let Some(kind) = bytes.first_chunk().and_then(|magic| kind_by_magic(*magic)) {
        return Ok(kind);
    }
    if let Some((_, format)) = COMPRESSED.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Err(Fault::Compressed { format });
    }
    if bytes.starts_with(b"ISOCHRON") {
        return Err(Fault::Isochron);
    }
    text::check(bytes)?;
    Ok(if efcc::is_header(text::first_line(bytes)) { Kind::Efcc } else { Kind::Csv })
}

fn kind_by_magic(magic: [u8; 4]) -> Option<Kind> {
    if pcap::is_magic(magic) {
        return Some(Kind::Pcap);
    }
    // Reads the same in both byte orders (pcapng, section 4.1).
    (magic == [0x0a, 0x0d, 0x0d, 0x0a]).then_some(Kind::Pcapng)
}

/// The largest stamp that is read, in units: 38,000 years of picoseconds.
const FARTHEST: u128 = 1 << 80;
/// The largest span of a capture, in units: 53 days of picoseconds, 146 years of nanoseconds.
const LONGEST: u64 = 1 << 62;

/// A capture while it is being put together.
#[derive(Debug)]
pub(crate) struct Assembly {
    skip: u64,
    seen: u64,
    origin: Option<i128>,
    frames: Vec<Captured>,
    left_out: BTreeMap<String, u64>,
    notes: Vec<String>,
}

/// A zero stamp that opens a capture begins a time of its own if the next stamp follows within this; otherwise it
/// is a missing one (0.000000000 means missing).
const ZERO_IS_A_START_WITHIN: Span = Span::from_ns(3_600_000_000_000);

impl Assembly {
    pub(crate) fn new(skip: u64) -> Self {
        Self { skip, seen: 0, origin: None, frames: Vec::new(), left_out: BTreeMap::new(), notes: Vec::new() }
    }

    /// Takes the next frame of the file, seen at `stamp`.
    pub(crate) fn take(&mut self, id: Option<u32>, stamp: i128, size: Option<u32>) -> Result<(), Fault> {
        if self.is_skipped() {
            return Ok(());
        }
        let origin = *self.origin.get_or_insert(stamp);
        let at = self.since(origin, stamp)?;
        self.frames.push(Captured { id, at, size });
        Ok(())
    }

    /// Takes the next frame unless its stamp is a zero among others, which means a missing one.
    pub(crate) fn take_stamp(&mut self, id: Option<u32>, stamp: i128, size: Option<u32>) -> Result<(), Fault> {
        if stamp == 0 && !self.frames.is_empty() {
            self.leave_out(reason::MISSING_TIME);
            return Ok(());
        }
        self.take(id, stamp, size)
    }

    /// Stamp and span are kept so small that no later product or difference overflows.
    fn since(&self, origin: i128, stamp: i128) -> Result<i64, Fault> {
        let is_sane = |stamp: i128| stamp.unsigned_abs() <= FARTHEST;
        let at = if is_sane(origin) && is_sane(stamp) { i64::try_from(stamp - origin).ok() } else { None };
        at.filter(|at| at.unsigned_abs() <= LONGEST).ok_or(Fault::TooLong { frame: self.seen })
    }

    /// Counts the next frame of the file as left out.
    pub(crate) fn leave_out(&mut self, reason: &str) {
        if !self.is_skipped() {
            *self.left_out.entry(reason.to_owned()).or_default() += 1;
        }
    }

    /// Leaves out the file's last line, which ends inside.
    pub(crate) fn cut_off_line(&mut self, line: u64) {
        self.leave_out(reason::CUT_OFF);
        self.note(format!("the file ends inside line {line}; the lines before are used"));
    }

    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    fn is_skipped(&mut self) -> bool {
        self.seen += 1;
        if self.seen <= self.skip {
            *self.left_out.entry(reason::SKIPPED.to_owned()).or_default() += 1;
        }
        self.seen <= self.skip
    }

    /// The finished capture, still without its file's name.
    pub(crate) fn finish(mut self, kind: Kind, unit: Unit) -> Result<Capture, Fault> {
        if kind != Kind::Efcc {
            self.drop_leading_zero(unit)?;
        }
        let Some(origin) = self.origin.filter(|_| !self.frames.is_empty()) else {
            return Err(Fault::NothingUsable { left_out: self.reasons() });
        };
        self.note_order(unit);
        let Self { frames, left_out, notes, .. } = self;
        Ok(Capture { file: String::new(), kind, unit, origin, frames, left_out, notes })
    }

    fn drop_leading_zero(&mut self, unit: Unit) -> Result<(), Fault> {
        let second = self.frames.get(1).map_or(0, |frame| frame.at);
        let is_far = unit.to_ns(i128::from(second)).abs() > ZERO_IS_A_START_WITHIN.as_ns_f64();
        if self.origin != Some(0) || !is_far {
            return Ok(());
        }
        let second = i128::from(second);
        let mut frames = self.frames.split_off(1);
        for frame in &mut frames {
            frame.at = self.since(second, i128::from(frame.at))?;
        }
        self.frames = frames;
        self.origin = Some(second);
        *self.left_out.entry(reason::MISSING_TIME.to_owned()).or_default() += 1;
        Ok(())
    }

    fn reasons(&self) -> String {
        if self.left_out.is_empty() {
            return "it holds no frame".to_owned();
        }
        let parts: Vec<String> = self.left_out.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        format!("left out: {}", parts.join(", "))
    }

    /// Frames out of order are kept and told.
    fn note_order(&mut self, unit: Unit) {
        let steps = || self.frames.windows(2).map(|pair| i128::from(pair[1].at) - i128::from(pair[0].at));
        let back = steps().filter(|step| *step < 0).count();
        let repeats = steps().filter(|step| *step == 0).count();
        let largest = unit.to_ns(-steps().min().unwrap_or(0));
        if back > 0 {
            self.note(format!(
                "{back} frames have an earlier time than the frame before (largest step back {largest} ns); kept in the file's order"
            ));
        }
        if repeats > 0 {
            self.note(format!("{repeats} frames have the same time as the frame before"));
        }
    }
}
