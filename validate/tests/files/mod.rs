//! Capture files made octet by octet, independently of the writers under test.
#![allow(dead_code, reason = "each test file uses its part")]

/// Byte order of a file or section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

impl Order {
    pub(crate) const BOTH: [Self; 2] = [Self::Little, Self::Big];

    pub(crate) fn u16(self, value: u16) -> [u8; 2] {
        if self == Self::Little { value.to_le_bytes() } else { value.to_be_bytes() }
    }

    pub(crate) fn u32(self, value: u32) -> [u8; 4] {
        if self == Self::Little { value.to_le_bytes() } else { value.to_be_bytes() }
    }

    pub(crate) fn i64(self, value: i64) -> [u8; 8] {
        if self == Self::Little { value.to_le_bytes() } else { value.to_be_bytes() }
    }

    fn words(self, values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|value| self.u32(*value)).collect()
    }
}

pub(crate) const MICRO: u32 = 0xa1b2_c3d4;
pub(crate) const NANO: u32 = 0xa1b2_3c4d;

/// A record of a pcap file: seconds, fraction, original length; 4 octets are captured.
pub(crate) type Record = (u32, u32, u32);

pub(crate) fn pcap_with(order: Order, magic: u32, link: u32, records: &[Record]) -> Vec<u8> {
    let mut file = order.u32(magic).to_vec();
    file.extend(order.u16(2));
    file.extend(order.u16(4));
    file.extend(order.words(&[0, 0, 262_144, link]));
    for &(seconds, fraction, original) in records {
        file.extend(order.words(&[seconds, fraction, 4, original]));
        if magic == 0xa1b2_cd34 {
            file.extend([9; 8]);
        }
        file.extend([1, 2, 3, 4]);
    }
    file
}

pub(crate) fn pcap(order: Order, magic: u32, records: &[Record]) -> Vec<u8> {
    pcap_with(order, magic, 1, records)
}

/// A pcapng block: type, length, body padded to 4, length.
pub(crate) fn block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let padded = body.len().next_multiple_of(4);
    let length = 12 + padded as u32;
    let mut block = order.words(&[kind, length]);
    block.extend(body);
    block.resize(8 + padded, 0);
    block.extend(order.u32(length));
    block
}

pub(crate) fn section(order: Order) -> Vec<u8> {
    let mut body = order.u32(0x1a2b_3c4d).to_vec();
    body.extend(order.u16(1));
    body.extend(order.u16(0));
    body.extend(order.i64(-1));
    block(order, 0x0a0d_0d0a, &body)
}

/// An option: code and value.
pub(crate) type Opt = (u16, Vec<u8>);

pub(crate) fn options(order: Order, options: &[Opt]) -> Vec<u8> {
    let mut octets = Vec::new();
    for (code, value) in options {
        octets.extend(order.u16(*code));
        octets.extend(order.u16(value.len() as u16));
        octets.extend(value);
        octets.resize(octets.len().next_multiple_of(4), 0);
    }
    octets
}

pub(crate) fn interface(order: Order, link: u16, given: &[Opt]) -> Vec<u8> {
    let mut body = order.u16(link).to_vec();
    body.extend(order.u16(0));
    body.extend(order.u32(0));
    body.extend(options(order, given));
    block(order, 1, &body)
}

pub(crate) fn tsresol(value: u8) -> Opt {
    (9, vec![value])
}

pub(crate) fn tsoffset(order: Order, seconds: i64) -> Opt {
    (14, order.i64(seconds).to_vec())
}

/// An enhanced packet of 5 captured octets.
pub(crate) fn packet(order: Order, interface: u32, count: u64, original: u32, given: &[Opt]) -> Vec<u8> {
    let mut body = order.words(&[interface, (count >> 32) as u32, count as u32, 5, original]);
    body.extend([1, 2, 3, 4, 5, 0, 0, 0]);
    body.extend(options(order, given));
    block(order, 6, &body)
}

pub(crate) fn simple_packet(order: Order) -> Vec<u8> {
    let mut body = order.u32(60).to_vec();
    body.extend([0; 8]);
    block(order, 3, &body)
}

pub(crate) const EFCC_HEADER: &str = "timestamp_id,timestamp_val,timestamp_diff\n";

/// An EFCC file, written with the standard library alone.
pub(crate) fn efcc(records: &[(u32, u32)]) -> String {
    let mut file = EFCC_HEADER.to_owned();
    let mut last = 0_u32;
    for &(id, count) in records {
        file += &format!("0x{id:08x},{count},{}\n", count.wrapping_sub(last));
        last = count;
    }
    file
}
