//! `ice` of Linux 6.18 and later (commit ccde82e90946, "ice: add E830 Earliest TxTime First Offload support").

use super::ice::{self, WrapRule};
use super::{Descriptor, Driver, Entry, Reject, View};

pub(super) const ENTRY: Entry = Entry {
    name: "ice-linux-6.18",
    aliases: &[],
    nics: &["e830"],
    about: "Linux 6.18 to 7.2-rc3: seconds are stripped before the 26-bit range (launch times jump by 6.633 ms every second)",
    source: "driver source: Linux ice_txrx.c ice_tx_map, ice_build_tstamp_desc (ccde82e90946)",
    driver: &IceLinux,
};

struct IceLinux;

impl Driver for IceLinux {
    fn encode_launch(&self, view: &View, launch_ns: u64) -> Result<Descriptor, Reject> {
        Ok(ice::descriptor(ice::units_within_second(launch_ns), ice::tail_from_zero(view.tail, view.ring_len)))
    }

    fn time_ring_wrap(&self) -> Option<WrapRule> {
        Some(WrapRule::Copies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_stripped_and_the_tail_wraps_to_0() {
        let view = View { now_ns: 0, tail: 1_024, ring_len: 1_024 };
        // 1235 s + 100 us: 100000 / 128 = 781.
        assert_eq!(IceLinux.encode_launch(&view, 1_235_000_100_000).unwrap().word, 781 << 13);
        // 0.9 s: 7031250 = 0x6B49D2, of which the field keeps 0x349D2.
        assert_eq!(IceLinux.encode_launch(&view, 900_000_000).unwrap().word, 0x349d2 << 13);
        assert_eq!(IceLinux.encode_launch(&View { tail: 5, ..view }, 0).unwrap().word, 5, "a field of 0 passes");
    }
}
