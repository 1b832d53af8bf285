//! Classic pcap: microseconds and nanoseconds, both byte orders, and the old "modified" form.
//!
//! A record is seconds u32, fraction u32, captured length u32, original length u32 and the data, without padding,
//! all in the writer's byte order, which the magic tells.

use nicsim_core::stats::Unit;
use pcap_parser::{PcapHeader, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header};

use super::{Assembly, Capture, Fault, Kind, ReadOptions, efcc, reason, unit};

/// Octets of the file header.
const HEADER: usize = 24;
/// Magic of the form whose record headers have eight more octets; only little-endian files of it exist.
const MODIFIED: u32 = 0xa1b2_cd34;
const MICROSECONDS: u32 = 1_000_000;
const NANOSECONDS: u32 = 1_000_000_000;
/// The most that libpcap ever captures of a frame (MAXIMUM_SNAPLEN in pcap-int.h).
const LARGEST_SNAPLEN: u32 = 262_144;
/// LINKTYPE_ETHERNET; it stands in the low 16 bits of the header's link type.
const ETHERNET: i32 = 1;

/// Octets of the frame check sequence.
pub(super) const FCS: u32 = 4;
/// The shortest Ethernet frame, FCS included.
const SHORTEST: u32 = 64;

/// Whether a file that begins so is pcap.
pub(super) fn is_magic(magic: [u8; 4]) -> bool {
    let known = [0xa1b2_c3d4, 0xa1b2_3c4d, MODIFIED];
    known.contains(&u32::from_le_bytes(magic)) || known[..2].contains(&u32::from_be_bytes(magic))
}

/// The frame with FCS from its original length in the capture: NICs strip the FCS, and frames that are sent are
/// captured before they are padded.
pub(super) fn frame_size(original: u32, fcs_in_it: u32) -> u32 {
    original.saturating_add(FCS.saturating_sub(fcs_in_it)).max(SHORTEST)
}

/// What one record says.
#[derive(Debug, Clone, Copy)]
struct Record {
    offset: usize,
    seconds: u32,
    fraction: u32,
    original: u32,
    id: Option<u32>,
}

pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Result<Capture, Fault> {
    if bytes.len() < HEADER {
        return Err(Fault::PcapHeader { have: bytes.len() });
    }
    let (_, header) = parse_pcap_header(bytes)
        .map_err(|error| Fault::PcapUnreadable { offset: 0, problem: short(&error.to_string()) })?;
    let mut assembly = Assembly::new(options.skip);
    let mut records = Vec::new();
    let end = walk(bytes, &header, &mut records)?;
    let per_second = fractions(&header, &records, &mut assembly)?;
    let size = |original| ethernet_fcs(&header).map(|fcs| frame_size(original, fcs));
    for record in &records {
        let stamp = i128::from(record.seconds) * i128::from(per_second) + i128::from(record.fraction);
        assembly.take_stamp(record.id, stamp, size(record.original))?;
    }
    note_end(&end, &mut assembly);
    let unit = unit::from_ratio(1_000_000_000_000 / i128::from(per_second), 1).unwrap_or(Unit::Picoseconds);
    assembly.finish(Kind::Pcap, unit)
}

fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

/// How a file's last octets look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The last record is whole.
    Whole,
    /// The last record lacks octets.
    CutOff { offset: usize, wanted: usize, had: usize },
    /// Zeros fill the rest, as after a crash of the machine that wrote them.
    Zeros { offset: usize },
}

/// Whole records are kept, and the rest is told.
pub(super) fn note_end(end: &End, assembly: &mut Assembly) {
    match *end {
        End::Whole => {}
        End::CutOff { offset, wanted, had } => {
            assembly.leave_out(reason::CUT_OFF);
            assembly.note(format!(
                "the file ends inside the record at byte {offset} (wanted {wanted} bytes, had {had}); the whole records are used"
            ));
        }
        End::Zeros { offset } => {
            assembly.note(format!("the file is filled with zeros from byte {offset} on; the records before are used"));
        }
    }
}

/// Where the zeros that fill a file's end begin.
pub(super) fn zeros_from(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)
}

fn walk(bytes: &[u8], header: &PcapHeader, records: &mut Vec<Record>) -> Result<End, Fault> {
    let record_header = if header.magic_number == MODIFIED { 24 } else { 16 };
    let zeros = zeros_from(bytes);
    let mut offset = HEADER;
    while offset < bytes.len() {
        let rest = &bytes[offset..];
        if offset >= zeros && rest.len() >= record_header {
            return Ok(End::Zeros { offset });
        }
        let Some(length) = captured_length(rest, header) else {
            return Ok(End::CutOff { offset, wanted: record_header, had: rest.len() });
        };
        if length > header.snaplen.max(LARGEST_SNAPLEN) {
            return Err(Fault::PcapLength { offset, length, snaplen: header.snaplen });
        }
        let whole = record_header + length as usize;
        if rest.len() < whole {
            return Ok(End::CutOff { offset, wanted: whole, had: rest.len() });
        }
        records.push(record(&rest[..whole], header, offset)?);
        offset += whole;
    }
    Ok(End::Whole)
}

fn captured_length(rest: &[u8], header: &PcapHeader) -> Option<u32> {
    let octets = *rest.get(8..)?.first_chunk()?;
    Some(if header.is_bigendian() { u32::from_be_bytes(octets) } else { u32::from_le_bytes(octets) })
}

fn record(octets: &[u8], header: &PcapHeader, offset: usize) -> Result<Record, Fault> {
    let parsed = if header.magic_number == MODIFIED {
        parse_pcap_frame_modified(octets)
    } else if header.is_bigendian() {
        parse_pcap_frame_be(octets)
    } else {
        parse_pcap_frame(octets)
    };
    let (_, block) = parsed.map_err(|error| Fault::PcapUnreadable { offset, problem: short(&error.to_string()) })?;
    Ok(Record {
        offset,
        seconds: block.ts_sec,
        fraction: block.ts_usec,
        // Some writers leave the original length 0.
        original: block.origlen.max(block.caplen),
        id: efcc::id_in_frame(block.data),
    })
}

/// Octets of FCS in each frame where the link is Ethernet: bit 26 of the link type says that its top four bits
/// count them, in units of two (draft-ietf-opsawg-pcap, section 4).
fn ethernet_fcs(header: &PcapHeader) -> Option<u32> {
    let link = header.network.0;
    let says_fcs = link >> 26 & 1 == 1;
    let fcs = if says_fcs { (link.cast_unsigned() >> 28) * 2 } else { 0 };
    (link & 0xffff == ETHERNET).then_some(fcs)
}

/// Fractions of a second in the unit of the records: what the magic says, unless the records contradict it
/// (nanoseconds under the microsecond magic).
fn fractions(header: &PcapHeader, records: &[Record], assembly: &mut Assembly) -> Result<u32, Fault> {
    let beyond = |limit| records.iter().filter(move |record| record.fraction >= limit);
    let limit = if header.is_nanosecond_precision() { NANOSECONDS } else { MICROSECONDS };
    if let Some(record) = beyond(NANOSECONDS).next() {
        return Err(Fault::PcapFraction { offset: record.offset, fraction: record.fraction, limit });
    }
    let Some(record) = beyond(limit).next() else {
        note_small_fractions(limit, records, assembly);
        return Ok(limit);
    };
    if 2 * beyond(limit).count() < records.len() {
        return Err(Fault::PcapMixedFractions { offset: record.offset, fraction: record.fraction });
    }
    assembly.note(format!(
        "fractions of a second reach {} under the magic of a microsecond capture; the times are read as nanoseconds",
        records.iter().map(|record| record.fraction).max().unwrap_or(0)
    ));
    Ok(NANOSECONDS)
}

/// Ten frames over two seconds whose fractions all are below a thousandth of a second are hardly nanoseconds.
fn note_small_fractions(limit: u32, records: &[Record], assembly: &mut Assembly) {
    let seconds = || records.iter().map(|record| record.seconds);
    let spread = seconds().max().unwrap_or(0) - seconds().min().unwrap_or(0);
    let is_small = records.iter().all(|record| record.fraction < MICROSECONDS);
    if limit == NANOSECONDS && is_small && records.len() >= 10 && spread >= 2 {
        assembly.note(
            "every fraction of a second is below 1000000 under the magic of a nanosecond capture; \
             the file may hold microseconds, and intervals would then be 1000 times too short"
                .to_owned(),
        );
    }
}
