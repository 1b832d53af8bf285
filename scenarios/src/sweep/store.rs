//! Results of runs as they come in: records of fixed size, each at the place that its run's number gives.
//!
//! Each record carries its own checksum. So the order of completion does not matter, threads need no lock, memory does not
//! grow, and whatever was written before a process died is still good.
//!
//! ```text
//! rows:    [status u64][figure f64 × figures][checksum u64]     NaN: the figure does not exist; little-endian
//! errors:  [length u64][text, 0 … 496 bytes, padded][checksum u64]     512 bytes; only failed runs have one
//! ```
//!
//! Places of runs that have no record stay zero; where the file system knows holes they take no room.

use std::io;
use std::sync::{Mutex, PoisonError};

use nicsim_core::sink::Fingerprint;

use super::plan::Run;

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// Its figures; those that do not exist are missing.
    Figures(Vec<Option<f64>>),
    /// Why there are none.
    Failed(String),
    /// It was not run: the repetitions before it suffice ([`super::stop`]).
    NotNeeded,
}

impl Record {
    /// Did the run fail?
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Failed(_))
    }

    /// The figure at `place`, if there is one.
    pub fn figure(&self, place: usize) -> Option<f64> {
        match self {
            Self::Figures(figures) => figures.get(place).copied().flatten(),
            _ => None,
        }
    }
}

/// Bytes at places. A file does it, and memory too.
pub trait Storage: Sync {
    /// Reads as many bytes at `offset` as there are, up to all of `buffer`; answers how many.
    ///
    /// # Errors
    /// What the storage says.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes all bytes at `offset`; a gap before it reads as zeros.
    ///
    /// # Errors
    /// What the storage says.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
}

/// Storage in memory.
#[derive(Debug, Default)]
pub struct Memory(Mutex<Vec<u8>>);

impl Storage for Memory {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let length = buffer.len().min(bytes.len() - start);
        buffer[..length].copy_from_slice(&bytes[start..start + length]);
        Ok(length)
    }

    fn write_at(&self, new: &[u8], offset: u64) -> io::Result<()> {
        let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let end = start.checked_add(new.len()).ok_or_else(|| io::Error::other("too large"))?;
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[start..end].copy_from_slice(new);
        Ok(())
    }
}

/// A part of a sweep: of every `count` successive points the one at place `index`, so that parts take about equally long
/// although cost often changes along a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Shard {
    /// Which part, from 1.
    pub index: u64,
    /// Of how many.
    pub count: u64,
}

impl Default for Shard {
    fn default() -> Self {
        Self { index: 1, count: 1 }
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl std::str::FromStr for Shard {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match parts {
            Some((index, count)) if (1..=count).contains(&index) && count <= 1_000_000 => Ok(Self { index, count }),
            _ => Err(format!("`{text}` is no part; write I/N with 1 <= I <= N, such as 2/8")),
        }
    }
}

impl Shard {
    /// Does the point belong to it?
    pub fn has(self, point: u64) -> bool {
        point % self.count == self.index - 1
    }

    /// How many of `points` belong to it.
    pub fn points(self, points: u64) -> u64 {
        (points + self.count - self.index) / self.count
    }

    /// Its point number `place`.
    pub fn point(self, place: u64) -> u64 {
        place * self.count + self.index - 1
    }

    /// The place among its points of a point that belongs to it.
    fn place(self, point: u64) -> u64 {
        point / self.count
    }
}

/// What places and checksums depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Digest of the sweep; records of another one do not count.
    pub hash: u64,
    /// Figures per record.
    pub figures: usize,
    /// Runs per point.
    pub repeat: u64,
    /// The part that is stored.
    pub shard: Shard,
}

/// Records of a sweep, or of a part of it.
#[derive(Debug)]
pub struct Store<S> {
    rows: S,
    errors: S,
    layout: Layout,
}

const DONE: u64 = 1;
const FAILED: u64 = 2;
const NOT_NEEDED: u64 = 3;
/// Bytes of an error's record.
const ERROR: usize = 512;
/// Longest text in it.
const ERROR_TEXT: usize = ERROR - 16;

impl<S: Storage> Store<S> {
    /// A store over what is there.
    pub fn new(rows: S, errors: S, layout: Layout) -> Self {
        Self { rows, errors, layout }
    }

    /// The files below: rows, errors.
    pub fn storage(&self) -> [&S; 2] {
        [&self.rows, &self.errors]
    }

    /// What places depend on.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Bytes per run.
    pub fn row_bytes(figures: usize) -> usize {
        8 * (figures + 2)
    }

    fn place(&self, run: Run) -> u64 {
        self.layout.shard.place(run.point) * self.layout.repeat + run.repetition
    }

    /// Keeps what came of a run of this part.
    ///
    /// # Errors
    /// What the storage says; records that were written before stay as they are.
    pub fn put(&self, run: Run, record: &Record) -> io::Result<()> {
        let place = self.place(run);
        let mut bytes = Vec::with_capacity(ERROR);
        if let Record::Failed(text) = record {
            let text = shortened(text);
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_bytes());
            bytes.resize(ERROR - 8, 0);
            self.seal(&mut bytes, run);
            // The text first: a row that says "failed" always has one.
            self.errors.write_at(&bytes, place * ERROR as u64)?;
            bytes.clear();
        }
        let status = match record {
            Record::Figures(_) => DONE,
            Record::Failed(_) => FAILED,
            Record::NotNeeded => NOT_NEEDED,
        };
        bytes.extend(status.to_le_bytes());
        (0..self.layout.figures)
            .for_each(|figure| bytes.extend(record.figure(figure).unwrap_or(f64::NAN).to_le_bytes()));
        self.seal(&mut bytes, run);
        self.rows.write_at(&bytes, place * bytes.len() as u64)
    }

    /// What came of a run of this part; none where it has not been run, or its record was damaged.
    ///
    /// # Errors
    /// What the storage says.
    pub fn get(&self, run: Run) -> io::Result<Option<Record>> {
        let place = self.place(run);
        let mut row = vec![0; Self::row_bytes(self.layout.figures)];
        let offset = place * row.len() as u64;
        let read = self.rows.read_at(&mut row, offset)?;
        let Some(words) = self.unsealed(&row[..read], row.len(), run) else {
            return Ok(None);
        };
        let figures = || {
            words[8..].chunks_exact(8).map(|bytes| Some(f64::from_bits(word(bytes))).filter(|value| !value.is_nan()))
        };
        match word(&words[..8]) {
            DONE => Ok(Some(Record::Figures(figures().collect()))),
            FAILED => Ok(self.error(run, place)?.map(Record::Failed)),
            NOT_NEEDED => Ok(Some(Record::NotNeeded)),
            _ => Ok(None),
        }
    }

    fn error(&self, run: Run, place: u64) -> io::Result<Option<String>> {
        let mut bytes = [0; ERROR];
        let read = self.errors.read_at(&mut bytes, place * ERROR as u64)?;
        let Some(record) = self.unsealed(&bytes[..read], ERROR, run) else {
            return Ok(None);
        };
        let length = usize::try_from(word(&record[..8])).unwrap_or(0).min(ERROR_TEXT);
        Ok(Some(String::from_utf8_lossy(&record[8..8 + length]).into_owned()))
    }

    /// Appends the checksum.
    fn seal(&self, bytes: &mut Vec<u8>, run: Run) {
        let checksum = self.checksum(bytes, run);
        bytes.extend(checksum.to_le_bytes());
    }

    /// The record without its checksum, if it is whole and right.
    fn unsealed<'a>(&self, bytes: &'a [u8], length: usize, run: Run) -> Option<&'a [u8]> {
        let (record, checksum) = bytes.split_at_checked(length.checked_sub(8)?)?;
        (checksum.len() == 8 && word(checksum) == self.checksum(record, run)).then_some(record)
    }

    /// Over the sweep's digest, the run's number and the bytes.
    fn checksum(&self, bytes: &[u8], run: Run) -> u64 {
        let mut sum = Fingerprint::default();
        sum.add(self.layout.hash);
        sum.add(run.index);
        bytes.chunks_exact(8).for_each(|bytes| sum.add(word(bytes)));
        sum.value()
    }
}

fn word(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

/// Cut to what a record holds, at a character's end.
fn shortened(text: &str) -> String {
    if text.len() <= ERROR_TEXT {
        return text.to_owned();
    }
    let end = (0..=ERROR_TEXT - "…".len()).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(index: u64) -> Run {
        Run { index, point: index, repetition: 0, seed: 0 }
    }

    fn store(hash: u64) -> Store<Memory> {
        Store::new(
            Memory::default(),
            Memory::default(),
            Layout { hash, figures: 2, repeat: 1, shard: Shard::default() },
        )
    }

    #[test]
    fn records_come_back_and_others_are_missing() {
        let store = store(7);
        let long = "ä".repeat(400);
        store.put(run(3), &Record::Figures(vec![Some(1.5), None])).unwrap();
        store.put(run(1), &Record::Failed(long.clone())).unwrap();
        store.put(run(5), &Record::NotNeeded).unwrap();
        assert_eq!(store.get(run(3)).unwrap(), Some(Record::Figures(vec![Some(1.5), None])));
        assert_eq!(store.get(run(5)).unwrap(), Some(Record::NotNeeded));
        let Some(Record::Failed(text)) = store.get(run(1)).unwrap() else { panic!("it failed") };
        assert!(text.ends_with('…') && text.len() <= ERROR_TEXT && long.starts_with(text.trim_end_matches('…')));
        for missing in [0, 2, 4, 1_000] {
            assert_eq!(store.get(run(missing)).unwrap(), None);
        }
    }

    #[test]
    fn damaged_and_foreign_records_do_not_count() {
        let (one, other) = (store(7), store(8));
        one.put(run(0), &Record::Figures(vec![Some(1.0), Some(2.0)])).unwrap();
        let mut bytes = vec![0; Store::<Memory>::row_bytes(2)];
        one.storage()[0].read_at(&mut bytes, 0).unwrap();
        other.storage()[0].write_at(&bytes, 0).unwrap();
        assert_eq!(other.get(run(0)).unwrap(), None, "another sweep's");
        one.storage()[0].write_at(&bytes, 32).unwrap();
        assert_eq!(one.get(run(1)).unwrap(), None, "another run's");
        for byte in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[byte] ^= 1;
            one.storage()[0].write_at(&damaged, 0).unwrap();
            assert_eq!(one.get(run(0)).unwrap(), None, "byte {byte}");
        }
    }

    #[test]
    fn shards_share_out_all_points() {
        let shards: Vec<Shard> = (1..=3).map(|index| Shard { index, count: 3 }).collect();
        for points in 0..10 {
            assert_eq!(shards.iter().map(|shard| shard.points(points)).sum::<u64>(), points);
        }
        for point in 0..10 {
            let owner: Vec<&Shard> = shards.iter().filter(|shard| shard.has(point)).collect();
            assert_eq!(owner.len(), 1);
            assert_eq!(owner[0].point(owner[0].place(point)), point);
        }
        assert_eq!("2/8".parse(), Ok(Shard { index: 2, count: 8 }));
        for bad in ["0/8", "9/8", "1", "a/b", "1/0", ""] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
