//! Intel's out-of-tree `ice` 1.16.3, the first release with launch times: the conversion of Linux, but the time
//! ring wraps without copies, upon which the hardware reports a malicious-driver event (repaired in 1.17.2).

use super::ice::{self, WrapRule};
use super::{Descriptor, Driver, Entry, Reject, View};

pub(super) const ENTRY: Entry = Entry {
    name: "ice-oot-1.16.3",
    aliases: &[],
    nics: &["e830"],
    about: "Intel's out-of-tree 1.16.3: as Linux 6.18, and the time ring wraps without copies (MDD events)",
    source: "driver source: ice-oot 1.16.3 src/ice_txrx.c; release history for the wrap",
    driver: &IceOot,
};

struct IceOot;

impl Driver for IceOot {
    fn encode_launch(&self, view: &View, launch_ns: u64) -> Result<Descriptor, Reject> {
        Ok(ice::descriptor(ice::units_within_second(launch_ns), ice::tail_from_zero(view.tail, view.ring_len)))
    }

    fn time_ring_wrap(&self) -> Option<WrapRule> {
        Some(WrapRule::Plain)
    }
}
