//! The EFCC instrument's timestamps CSV: reader and writer.
//!
//! ```text
//! timestamp_id,timestamp_val,timestamp_diff
//! 0x00000000,1921144948,1921144948
//! 0x00000001,1921145346,398
//! ```
//!
//! The identifier has 3 bits of port and 29 bits of frame number; the value is the count of a free-running 32-bit
//! counter (8 ns per count in the public 1 GbE design, 6.4 ns at 10 Gb/s), the difference is that to the row before,
//! modulo 2^32. In the first row the difference is the value itself and no interval
//! (CCIRT/aist-tsn-efcc: docs/ef_capture/specification.md).

use std::io::{self, Write};

use nicsim_core::grid::Period;
use nicsim_core::stats::Unit;
use nicsim_core::time::Span;

use super::text::{self, Rows};
use super::{Assembly, Capture, Fault, Kind, ReadOptions};

/// Names of the columns.
const HEADER: [&str; 3] = ["timestamp_id", "timestamp_val", "timestamp_diff"];

/// Tick where none is given: the public 1 GbE design counts at 125 MHz.
pub const DEFAULT_TICK: Span = Span::from_ns(8);

/// The longest gap between two rows that is told from a step back, in counts: half the counter's range.
pub const LONGEST_GAP: u32 = 1 << 31;

/// The port in an identifier.
pub const fn port(id: u32) -> u32 {
    id >> 29
}

/// The frame number in an identifier.
pub const fn number(id: u32) -> u32 {
    id & ((1 << 29) - 1)
}

/// The identifier of frame `number` of `port`; higher bits than either has are dropped.
pub const fn id(port: u32, number: u32) -> u32 {
    (port << 29) | (number & ((1 << 29) - 1))
}

/// What opens the payload of a frame that the instrument stamps; the identifier follows, low octet first
/// (util/scapy/udp_ether.py there, and the frames of its evaluation/frame_capture_capability/tdump).
pub(super) const PAYLOAD_MAGIC: &[u8; 10] = b"AISTSNEFCC";

/// The identifier in a frame's captured octets, where it is one of the instrument's.
///
/// It stands behind the Ethernet header (with or without a VLAN tag), the IP header and perhaps the UDP header.
pub(super) fn id_in_frame(octets: &[u8]) -> Option<u32> {
    let head = &octets[..octets.len().min(96)];
    let place = head.windows(PAYLOAD_MAGIC.len()).position(|window| window == PAYLOAD_MAGIC)?;
    octets.get(place + PAYLOAD_MAGIC.len()..)?.first_chunk().map(|id| u32::from_le_bytes(*id))
}

/// Whether a file's first line is the header.
pub(super) fn is_header(line: &[u8]) -> bool {
    let names = line.split(|byte| *byte == b',').map(|name| {
        let name = name.trim_ascii();
        name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")).unwrap_or(name)
    });
    names.eq(HEADER.iter().map(|name| name.as_bytes()))
}

/// Puts a capture together from identifiers and counts, as the instrument's memory holds them.
///
/// # Errors
/// [`Fault::NothingUsable`] without a record.
pub fn from_records(file: &str, tick: Period, records: impl IntoIterator<Item = (u32, u32)>) -> Result<Capture, Fault> {
    let mut counter = Counter::default();
    let mut assembly = Assembly::new(0);
    for (id, count) in records {
        assembly.take(Some(id), counter.unwrap(count), None)?;
    }
    let capture = finish(assembly, &counter, Some(tick))?;
    Ok(Capture { file: file.to_owned(), ..capture })
}

pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Result<Capture, Fault> {
    let body = text::body(bytes);
    let mut rows = Rows::new(&body, b',');
    read_header(&mut rows)?;
    let mut counter = Counter::default();
    let mut assembly = Assembly::new(options.skip);
    while rows.advance()? {
        let row = match Row::read(&rows).and_then(|row| counter.check(&row, &rows)) {
            Err(_) if rows.is_unterminated() && counter.previous.is_some() => {
                assembly.cut_off_line(rows.line());
                break;
            }
            row => row?,
        };
        assembly.take(Some(row.id), counter.unwrap(row.count), None)?;
    }
    counter.check_direction(&rows)?;
    if options.tick.is_none() {
        assembly.note(format!("the tick was not given; {DEFAULT_TICK} is assumed (the public 1 GbE design)"));
    }
    counter.note_start(&mut assembly);
    finish(assembly, &counter, options.tick.or(Period::new(i128::from(DEFAULT_TICK.as_ps()), 1)))
}

fn finish(mut assembly: Assembly, counter: &Counter, tick: Option<Period>) -> Result<Capture, Fault> {
    let unit = tick.map_or(Unit::Picoseconds, Unit::Ticks);
    if counter.backward > 0 {
        let longest = unit.to_ns(i128::from(LONGEST_GAP)) / 1e9;
        assembly.note(format!(
            "a 32-bit counter cannot tell a step back from a gap of over {longest} s; such gaps are read as steps back"
        ));
    }
    let capture = assembly.finish(Kind::Efcc, unit)?;
    // Frames that were skipped may have wrapped the counter before.
    Ok(Capture { origin: capture.origin.rem_euclid(1 << 32), ..capture })
}

fn read_header(rows: &mut Rows<'_>) -> Result<(), Fault> {
    let has_row = rows.advance()?;
    if has_row && is_header_row(rows) {
        return Ok(());
    }
    let found = rows.fields().map(text::shown).collect::<Vec<_>>().join(",");
    Err(Fault::EfccHeader { line: rows.line(), found })
}

fn is_header_row(rows: &Rows<'_>) -> bool {
    rows.fields().eq(HEADER.iter().map(|name| name.as_bytes()))
}

/// One line of the file.
#[derive(Debug, Clone, Copy)]
struct Row {
    id: u32,
    count: u32,
    difference: u32,
}

impl Row {
    fn read(rows: &Rows<'_>) -> Result<Self, Fault> {
        if is_header_row(rows) {
            return Err(Fault::EfccSecondHeader { line: rows.line() });
        }
        let [Some(id), Some(count), Some(difference), None] = [0, 1, 2, 3].map(|column| rows.octets(column)) else {
            return Err(Fault::EfccFields { line: rows.line(), fields: rows.len() });
        };
        Ok(Self {
            id: hexadecimal(id).ok_or_else(|| Fault::EfccId { line: rows.line(), found: text::shown(id) })?,
            count: field(rows, HEADER[1], count)?,
            difference: field(rows, HEADER[2], difference)?,
        })
    }
}

fn field(rows: &Rows<'_>, column: &'static str, found: &[u8]) -> Result<u32, Fault> {
    whole(found).ok_or_else(|| match found.strip_prefix(b"-").and_then(whole) {
        Some(_) => Fault::EfccDifferences { line: rows.line(), what: "a value is negative" },
        None => Fault::EfccCount { line: rows.line(), column, found: text::shown(found) },
    })
}

fn whole(digits: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok()?;
    if digits.starts_with('+') { None } else { digits.parse().ok() }
}

fn hexadecimal(text: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(text).ok()?.strip_prefix("0x")?;
    if digits.starts_with('+') { None } else { u32::from_str_radix(digits, 16).ok() }
}

/// Follows the 32-bit counter: undoes its wraps and watches its direction.
#[derive(Debug, Default)]
struct Counter {
    previous: Option<u32>,
    unwrapped: i128,
    /// Rows after the first, and those among them whose count is not later than the one before.
    steps: u64,
    standing: u64,
    backward: u64,
    starts_inside: bool,
}

impl Counter {
    /// The count with all wraps undone: the nearest to the one before.
    fn unwrap(&mut self, count: u32) -> i128 {
        let Some(previous) = self.previous.replace(count) else {
            self.unwrapped = i128::from(count);
            return self.unwrapped;
        };
        let step = count.wrapping_sub(previous).cast_signed();
        self.steps += 1;
        self.standing += u64::from(step == 0);
        self.backward += u64::from(step < 0);
        self.unwrapped += i128::from(step);
        self.unwrapped
    }

    /// The third column is redundant, so it tells where lines were lost or edited.
    fn check(&mut self, row: &Row, rows: &Rows<'_>) -> Result<Row, Fault> {
        let Some(previous) = self.previous else {
            self.starts_inside = row.difference != row.count;
            return Ok(*row);
        };
        let computed = row.count.wrapping_sub(previous);
        if row.difference != computed {
            return Err(Fault::EfccDifference { line: rows.line(), written: row.difference, computed });
        }
        Ok(*row)
    }

    /// Frames of a capture come one after the other; a table of differences stands still or goes back half the time.
    fn check_direction(&self, rows: &Rows<'_>) -> Result<(), Fault> {
        if self.steps > 2 && 2 * (self.standing + self.backward) >= self.steps {
            let what = "half of its values or more are not above the value before";
            return Err(Fault::EfccDifferences { line: rows.line(), what });
        }
        Ok(())
    }

    fn note_start(&self, assembly: &mut Assembly) {
        if self.starts_inside {
            assembly.note("the first row's difference is not its value: the file begins inside a capture".to_owned());
        }
    }
}

/// Octets that wait before they go out.
const BUFFER: usize = 1 << 16;

/// Writes what the instrument's CSV holds.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    waiting: Vec<u8>,
    previous: u32,
}

impl<W: Write> Writer<W> {
    /// A writer that has written the header.
    pub fn new(out: W) -> Self {
        let mut waiting = Vec::with_capacity(BUFFER);
        waiting.extend_from_slice(HEADER.join(",").as_bytes());
        waiting.push(b'\n');
        Self { out, waiting, previous: 0 }
    }

    /// Writes one row: frame `id` at `count`.
    ///
    /// # Errors
    /// What the file below says.
    pub fn frame(&mut self, id: u32, count: u32) -> io::Result<()> {
        self.waiting.extend_from_slice(&hex_digits(id));
        self.push_decimal(count);
        // Before the first row stands 0, so that its difference is its value.
        self.push_decimal(count.wrapping_sub(self.previous));
        self.waiting.push(b'\n');
        self.previous = count;
        if self.waiting.len() > BUFFER - 64 { self.flush() } else { Ok(()) }
    }

    fn push_decimal(&mut self, mut value: u32) {
        let mut digits = *b",0000000000";
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b'0' + (value % 10) as u8;
            value /= 10;
            if value == 0 {
                break;
            }
        }
        digits[first - 1] = b',';
        self.waiting.extend_from_slice(&digits[first - 1..]);
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.waiting)?;
        self.waiting.clear();
        Ok(())
    }

    /// Writes what waits and gives the file back.
    ///
    /// # Errors
    /// What the file below says.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// `0x` and eight digits.
fn hex_digits(id: u32) -> [u8; 10] {
    let digit = |place: usize| b"0123456789abcdef"[(id >> (4 * (9 - place)) & 15) as usize];
    std::array::from_fn(|place| match place {
        0 => b'0',
        1 => b'x',
        _ => digit(place),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_of_the_instrument() {
        let mut writer = Writer::new(Vec::new());
        for (id, count) in [(0, 1_921_144_948), (1, 1_921_145_346), (0x4003_0c78, 0), (id(7, 1 << 30 | 5), u32::MAX)] {
            writer.frame(id, count).unwrap();
        }
        let expected = "timestamp_id,timestamp_val,timestamp_diff\n0x00000000,1921144948,1921144948\n\
                        0x00000001,1921145346,398\n0x40030c78,0,2373821950\n0xe0000005,4294967295,4294967295\n";
        assert_eq!(String::from_utf8(writer.finish().unwrap()).unwrap(), expected);
    }

    #[test]
    fn identifiers_split_into_port_and_number() {
        assert_eq!((port(0x4003_0c78), number(0x4003_0c78)), (2, 199_800));
        assert_eq!(id(2, 199_800), 0x4003_0c78);
    }

    #[test]
    fn the_payload_tells_the_identifier() {
        let mut octets = vec![0; 42];
        octets.extend_from_slice(PAYLOAD_MAGIC);
        octets.extend_from_slice(&[9, 0, 0, 0x40]);
        assert_eq!(id_in_frame(&octets), Some(0x4000_0009));
        assert_eq!(id_in_frame(&octets[..55]), None);
        assert_eq!(id_in_frame(b"NotMagicWD"), None);
    }
}
