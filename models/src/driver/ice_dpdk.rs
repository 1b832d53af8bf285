//! `net/ice` of DPDK 25.07 to 26.07, one behaviour in all of them.

use super::ice::{self, WrapRule};
use super::{Descriptor, Driver, Entry, Reject, View};

pub(super) const ENTRY: Entry = Entry {
    name: "ice-dpdk-25.07",
    aliases: &["ice-dpdk-25.11", "ice-dpdk-26.03", "ice-dpdk-26.07"],
    nics: &["e830"],
    about: "DPDK 25.07 to 26.07: seconds are stripped before the 26-bit range (launch times jump by 6.633 ms every second)",
    source: "driver source: DPDK drivers/net/intel/ice/ice_rxtx.c ice_write_ts_desc (v25.07 to v26.07)",
    driver: &IceDpdk,
};

struct IceDpdk;

impl Driver for IceDpdk {
    fn encode_launch(&self, view: &View, launch_ns: u64) -> Result<Descriptor, Reject> {
        // DPDK stores the ring's size where Linux stores 0.
        let tail = ice::tail_from_zero(view.tail, view.ring_len);
        let index = if tail == 0 { view.ring_len } else { tail };
        Ok(ice::descriptor(ice::units_within_second(launch_ns), index))
    }

    fn time_ring_wrap(&self) -> Option<WrapRule> {
        Some(WrapRule::Copies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_index_0_is_written_as_the_ring_s_size() {
        let view = View { now_ns: 0, tail: 1_024, ring_len: 1_024 };
        assert_eq!(IceDpdk.encode_launch(&view, 1_235_000_100_000).unwrap().word, (781 << 13) | 1_024);
        assert_eq!(IceDpdk.encode_launch(&View { tail: 7, ..view }, 0).unwrap().word, 7);
    }
}
