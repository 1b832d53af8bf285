//! pcapng: reader and writer.
//!
//! A file is a row of blocks (type, total length, body, total length, padded to 4 octets). A section header block
//! opens a section with its own byte order and its own interfaces; each interface has its own resolution
//! (`if_tsresol`: 10^-n s, or 2^-n s with the top bit set; 10^-6 by default) and offset (`if_tsoffset`, signed
//! seconds). An enhanced packet block has a 64-bit count of that resolution, high word first.
//!
//! The resolution and the offset are read from the options here: pcap-parser refuses all powers of two, reads the
//! offset as little-endian in either order, and does not stop at the end-of-options option.

use std::io::{self, Write};

use nicsim_core::stats::Unit;
use pcap_parser::pcapng::{
    EPB_MAGIC, IDB_MAGIC, OptionCode, PcapNGOption, SHB_MAGIC, SPB_MAGIC, parse_enhancedpacketblock_be,
    parse_enhancedpacketblock_le, parse_interfacedescriptionblock_be, parse_interfacedescriptionblock_le,
    parse_sectionheaderblock,
};
use pcap_parser::traits::PcapNGPacketBlock;

use super::pcap::{End, frame_size, note_end, zeros_from};
use super::{Assembly, Capture, Fault, Kind, ReadOptions, efcc, reason, unit};

/// Byte-order magic of a section header block.
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// Packet block, obsolete since 2010; it has a time, but nobody writes it any more.
const OBSOLETE_PACKET: u32 = 2;
/// Blocks beyond this are damaged lengths, not blocks (Wireshark's MAX_BLOCK_SIZE).
const LARGEST_BLOCK: usize = 16 << 20;
/// LINKTYPE_ETHERNET.
const ETHERNET: i32 = 1;
/// Later stamps [s since 1970, the year 3000] are no epoch's; they tell of a wrong resolution.
const FAR_FUTURE: i128 = 32_503_680_000;

const IF_FCSLEN: OptionCode = OptionCode(13);
const EPB_PACKETID: OptionCode = OptionCode(5);

/// A described interface.
#[derive(Debug, Clone, Copy)]
struct Interface {
    /// Where its block is.
    offset: usize,
    /// `if_tsresol`.
    resolution: u8,
    /// `if_tsoffset` in seconds.
    seconds: i64,
    /// Octets of FCS in a frame, where the link is Ethernet.
    fcs: Option<u32>,
    used: bool,
}

/// What the blocks with packets say.
#[derive(Debug, Clone, Copy)]
enum Packet {
    Timed { interface: usize, count: u64, original: u32, id: Option<u32> },
    Untimed,
}

/// What has been read so far.
#[derive(Debug, Default)]
struct Blocks {
    interfaces: Vec<Interface>,
    /// Where the interfaces of the section begin.
    section: usize,
    big_endian: bool,
    packets: Vec<Packet>,
}

/// One block of the file.
#[derive(Debug, Clone, Copy)]
struct Raw<'a> {
    offset: usize,
    kind: u32,
    octets: &'a [u8],
}

impl Raw<'_> {
    fn fault(&self, problem: impl Into<String>) -> Fault {
        Fault::PcapngBlock { offset: self.offset, block: self.kind, problem: problem.into() }
    }
}

pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Result<Capture, Fault> {
    let mut blocks = Blocks::default();
    let end = walk(bytes, &mut blocks)?;
    let mut assembly = Assembly::new(options.skip);
    let unit = common_unit(&blocks)?;
    for packet in &blocks.packets {
        take(packet, &blocks, unit, &mut assembly)?;
    }
    note_end(&end, &mut assembly);
    note_interfaces(&blocks, &mut assembly);
    assembly.finish(Kind::Pcapng, unit)
}

fn take(packet: &Packet, blocks: &Blocks, unit: Unit, assembly: &mut Assembly) -> Result<(), Fault> {
    match *packet {
        Packet::Untimed => assembly.leave_out(reason::NO_TIME),
        Packet::Timed { interface, count, original, id } => {
            let interface = &blocks.interfaces[interface];
            let stamp = interface.stamp(count, unit);
            assembly.take_stamp(id, stamp, interface.fcs.map(|fcs| frame_size(original, fcs)))?;
        }
    }
    Ok(())
}

fn walk(bytes: &[u8], blocks: &mut Blocks) -> Result<End, Fault> {
    let zeros = zeros_from(bytes);
    let mut offset = 0;
    while offset < bytes.len() {
        let rest = &bytes[offset..];
        // No block has the type 0.
        if offset >= zeros && rest.len() >= 12 {
            return Ok(End::Zeros { offset });
        }
        let Some((kind, length)) = blocks.head(rest, offset)? else {
            return Ok(End::CutOff { offset, wanted: 12, had: rest.len() });
        };
        let raw = Raw { offset, kind, octets: rest };
        check_length(&raw, length)?;
        if rest.len() < length {
            return Ok(End::CutOff { offset, wanted: length, had: rest.len() });
        }
        blocks.take(Raw { octets: &rest[..length], ..raw })?;
        offset += length;
    }
    Ok(End::Whole)
}

fn check_length(raw: &Raw<'_>, length: usize) -> Result<(), Fault> {
    if length < 12 || !length.is_multiple_of(4) || length > LARGEST_BLOCK.max(raw.octets.len()) {
        return Err(
            raw.fault(format!("has a total length of {length} (a multiple of 4 from 12 to 16 MiB is possible)"))
        );
    }
    Ok(())
}

impl Blocks {
    /// Type and total length of the block that begins here; `None` where the file ends before.
    fn head(&mut self, rest: &[u8], offset: usize) -> Result<Option<(u32, usize)>, Fault> {
        let Some(kind) = word(rest, 0, self.big_endian) else { return Ok(None) };
        if kind == SHB_MAGIC {
            let Some(found) = word(rest, 8, false) else { return Ok(None) };
            self.big_endian = match found {
                BYTE_ORDER => false,
                _ if found == BYTE_ORDER.swap_bytes() => true,
                _ => return Err(Fault::PcapngByteOrder { offset: offset + 8, found }),
            };
        }
        Ok(word(rest, 4, self.big_endian).map(|length| (kind, length as usize)))
    }

    fn take(&mut self, raw: Raw<'_>) -> Result<(), Fault> {
        let length = raw.octets.len();
        if word(raw.octets, length - 4, self.big_endian) != Some(length as u32) {
            return Err(raw.fault("does not repeat its length at its end"));
        }
        match raw.kind {
            SHB_MAGIC => self.take_section(&raw),
            IDB_MAGIC => self.take_interface(&raw),
            EPB_MAGIC => self.take_packet(&raw),
            SPB_MAGIC | OBSOLETE_PACKET => {
                self.packets.push(Packet::Untimed);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn take_section(&mut self, raw: &Raw<'_>) -> Result<(), Fault> {
        let (_, section) = parse_sectionheaderblock(raw.octets).map_err(|_| raw.fault(UNREADABLE))?;
        if section.major_version != 1 {
            let (major, minor) = (section.major_version, section.minor_version);
            return Err(Fault::PcapngVersion { offset: raw.offset, major, minor });
        }
        self.section = self.interfaces.len();
        Ok(())
    }

    fn take_interface(&mut self, raw: &Raw<'_>) -> Result<(), Fault> {
        let parse =
            if self.big_endian { parse_interfacedescriptionblock_be } else { parse_interfacedescriptionblock_le };
        let (_, block) = parse(raw.octets).map_err(|_| raw.fault(UNREADABLE))?;
        let octet = |code| option(&block.options, code).and_then(|value| value.first().copied());
        let offset = option(&block.options, OptionCode::IfTsoffset).and_then(|value| value.first_chunk().copied());
        self.interfaces.push(Interface {
            offset: raw.offset,
            resolution: octet(OptionCode::IfTsresol).unwrap_or(6),
            seconds: offset.map_or(0, |o| if self.big_endian { i64::from_be_bytes(o) } else { i64::from_le_bytes(o) }),
            fcs: (block.linktype.0 == ETHERNET).then(|| u32::from(octet(IF_FCSLEN).unwrap_or(0))),
            used: false,
        });
        Ok(())
    }

    fn take_packet(&mut self, raw: &Raw<'_>) -> Result<(), Fault> {
        let parse = if self.big_endian { parse_enhancedpacketblock_be } else { parse_enhancedpacketblock_le };
        let (_, block) = parse(raw.octets).map_err(|_| raw.fault(UNREADABLE))?;
        let packet_id = option(&block.options, EPB_PACKETID).and_then(|value| value.first_chunk().copied());
        let packet_id =
            packet_id.map(|id| if self.big_endian { u64::from_be_bytes(id) } else { u64::from_le_bytes(id) });
        let id = packet_id.and_then(|id| u32::try_from(id).ok()).or_else(|| efcc::id_in_frame(block.packet_data()));
        let count = u64::from(block.ts_high) << 32 | u64::from(block.ts_low);
        let interface = self.interface(block.if_id, raw.offset)?;
        // Some writers leave the original length 0.
        let original = block.origlen.max(block.caplen);
        self.packets.push(Packet::Timed { interface, count, original, id });
        Ok(())
    }

    /// The place of the section's interface `number`.
    fn interface(&mut self, number: u32, offset: usize) -> Result<usize, Fault> {
        let place = self.section.saturating_add(number as usize);
        let described = self.interfaces.len() - self.section;
        let unknown = Fault::PcapngInterface { offset, interface: number, described };
        let interface = self.interfaces.get_mut(place).ok_or(unknown)?;
        interface.used = true;
        Ok(place)
    }
}

const UNREADABLE: &str = "has a body that does not fit its length";

/// The value of the first option of that code before the end of the options.
fn option<'a>(options: &'a [PcapNGOption<'a>], code: OptionCode) -> Option<&'a [u8]> {
    let wanted = options.iter().take_while(|option| option.code != OptionCode::EndOfOpt).find(|o| o.code == code)?;
    wanted.as_bytes().ok()
}

fn word(octets: &[u8], at: usize, big_endian: bool) -> Option<u32> {
    let word = *octets.get(at..)?.first_chunk()?;
    Some(if big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) })
}

impl Interface {
    /// Counts per second, below 2^44; `None` where one count is over 1 s or under 1 ps.
    fn per_second(&self) -> Option<i128> {
        let exponent = u32::from(self.resolution & 0x7f);
        let base: i128 = if self.resolution & 0x80 == 0 { 10 } else { 2 };
        base.checked_pow(exponent).filter(|count| *count <= 1_000_000_000_000)
    }

    /// One count.
    fn unit(&self) -> Result<Unit, Fault> {
        let unit = self.per_second().and_then(|count| unit::from_ratio(1_000_000_000_000, count));
        unit.ok_or(Fault::PcapngResolution { offset: self.offset, resolution: self.resolution })
    }

    /// The stamp of a packet with `count`, in `unit`, of which both a second and the interface's unit are multiples.
    fn stamp(&self, count: u64, unit: Unit) -> i128 {
        let per_second = self.per_second().unwrap_or(1);
        let counts = i128::from(self.seconds) * per_second + i128::from(count);
        let multiple = self.unit().ok().and_then(|own| unit::multiple(own, unit)).unwrap_or(1);
        counts * i128::from(multiple)
    }

    fn resolution(&self) -> String {
        let base = if self.resolution & 0x80 == 0 { 10 } else { 2 };
        format!("{base}^-{}", self.resolution & 0x7f)
    }
}

/// The unit in which the times of all interfaces with packets are whole numbers.
fn common_unit(blocks: &Blocks) -> Result<Unit, Fault> {
    let mut used = blocks.interfaces.iter().filter(|interface| interface.used);
    let Some(first) = used.next() else { return Ok(Unit::Picoseconds) };
    used.try_fold(first.unit()?, |unit, interface| {
        let (a, b) = (first.resolution(), interface.resolution());
        unit::common(unit, interface.unit()?).ok_or(Fault::PcapngUnits { a, b })
    })
}

fn note_interfaces(blocks: &Blocks, assembly: &mut Assembly) {
    let used = blocks.interfaces.iter().filter(|interface| interface.used).count();
    if used > 1 {
        assembly.note(format!("packets of {used} interfaces are taken together, in the file's order"));
    }
    let seconds = blocks.packets.iter().filter_map(|packet| match *packet {
        Packet::Timed { interface, count, .. } => {
            let interface = &blocks.interfaces[interface];
            Some(i128::from(interface.seconds) + i128::from(count) / interface.per_second()?)
        }
        Packet::Untimed => None,
    });
    if let Some(latest) = seconds.max().filter(|latest| *latest > FAR_FUTURE) {
        assembly.note(format!(
            "times reach {latest} s since 1970, beyond the year 3000; if_tsresol is probably not the writer's unit"
        ));
    }
}

/// Unit of a writer's times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// `if_tsresol` 9.
    Nanoseconds,
    /// `if_tsresol` 12; 2^64 ps are 213 days, so that the epoch must stand in `if_tsoffset`.
    Picoseconds,
}

/// What each packet captures: an Ethernet header of zeros with EtherType 0x88b5 (for local experiments), and the
/// payload by which the EFCC instrument knows its frames.
const CAPTURED: usize = 14 + efcc::PAYLOAD_MAGIC.len() + 4;
/// Octets of a written packet block.
const PACKET: usize = 32 + CAPTURED;
const _: () = assert!(CAPTURED.is_multiple_of(4), "no padding is written");

/// Writes captures of one interface.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    /// The block of a packet, of which each packet sets time, length and identifier.
    packet: [u8; PACKET],
}

impl<W: Write> Writer<W> {
    /// A writer that has written the section header and one Ethernet interface, whose times count in `resolution`
    /// from `offset_s` seconds since 1970. Give it a buffered file.
    ///
    /// # Errors
    /// What the file below says.
    pub fn new(mut out: W, resolution: Resolution, offset_s: i64) -> io::Result<Self> {
        let tsresol = match resolution {
            Resolution::Nanoseconds => 9,
            Resolution::Picoseconds => 12,
        };
        out.write_all(&section_header())?;
        out.write_all(&interface_description(tsresol, offset_s))?;
        Ok(Self { out, packet: packet_template() })
    }

    /// Writes one frame, seen `at` counts after the offset.
    ///
    /// `size` is the Ethernet frame with FCS; the original length is written without it, as NICs capture.
    ///
    /// # Errors
    /// What the file below says.
    pub fn frame(&mut self, id: u32, at: u64, size: u32) -> io::Result<()> {
        let (high, low) = ((at >> 32) as u32, at as u32);
        self.set(12, high.to_le_bytes());
        self.set(16, low.to_le_bytes());
        self.set(24, size.saturating_sub(super::pcap::FCS).to_le_bytes());
        self.set(PACKET - 8, id.to_le_bytes());
        self.out.write_all(&self.packet)
    }

    fn set(&mut self, at: usize, word: [u8; 4]) {
        self.packet[at..at + 4].copy_from_slice(&word);
    }

    /// Gives the file back.
    ///
    /// # Errors
    /// What the file below says.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Little-endian words.
fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn section_header() -> Vec<u8> {
    // Version 1.0; a section length of −1 is "not given".
    words(&[SHB_MAGIC, 28, BYTE_ORDER, 1, u32::MAX, u32::MAX, 28])
}

fn interface_description(tsresol: u8, offset_s: i64) -> Vec<u8> {
    const LENGTH: u32 = 44;
    let option = |code: OptionCode, length: u32| u32::from(code.0) | length << 16;
    let mut block = words(&[IDB_MAGIC, LENGTH, ETHERNET as u32, 0]);
    block.extend(words(&[option(OptionCode::IfTsresol, 1), u32::from(tsresol), option(OptionCode::IfTsoffset, 8)]));
    block.extend(offset_s.to_le_bytes());
    block.extend(words(&[0, LENGTH]));
    block
}

fn packet_template() -> [u8; PACKET] {
    let mut block = words(&[EPB_MAGIC, PACKET as u32, 0, 0, 0, CAPTURED as u32, 0]);
    block.extend([0; 12]);
    block.extend([0x88, 0xb5]);
    block.extend(efcc::PAYLOAD_MAGIC);
    block.extend(words(&[0, PACKET as u32]));
    let mut template = [0; PACKET];
    template.copy_from_slice(&block);
    template
}
