//! `ice` with both faults repaired, as the E830 paper's authors changed their DPDK program and Linux driver.

use super::ice::{self, WrapRule};
use super::{Descriptor, Driver, Entry, Reject, View};

pub(super) const ENTRY: Entry = Entry {
    name: "ice-fixed",
    aliases: &[],
    nics: &["e830"],
    about: "the E830 paper's repair: no seconds strip, and 1 instead of a field of 0",
    source: "publication: E830 paper, section II (workarounds)",
    driver: &IceFixed,
};

struct IceFixed;

impl Driver for IceFixed {
    fn encode_launch(&self, view: &View, launch_ns: u64) -> Result<Descriptor, Reject> {
        let units = launch_ns >> ice::UNIT_SHIFT;
        // A field of 0 would turn scheduling off; 1 is up to 128 ns late instead.
        let units = if units.is_multiple_of(1 << 19) { units + 1 } else { units };
        Ok(ice::descriptor(units, ice::tail_from_zero(view.tail, view.ring_len)))
    }

    fn time_ring_wrap(&self) -> Option<WrapRule> {
        Some(WrapRule::Copies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_is_the_launch_time_modulo_two_to_the_26() {
        let view = View { now_ns: 0, tail: 1_024, ring_len: 1_024 };
        // 1235 s + 100 us: 1235000100000 / 128 = 9648438281, modulo 2^19 = 490505 = 0x77C09.
        assert_eq!(IceFixed.encode_launch(&view, 1_235_000_100_000).unwrap().word, 0x7_7c09 << 13);
        assert_eq!(IceFixed.encode_launch(&view, 3 << 26).unwrap().word, 1 << 13);
        assert_eq!(IceFixed.encode_launch(&view, (3 << 26) + 127).unwrap().word, 1 << 13);
    }
}
