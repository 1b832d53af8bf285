//! What the `ice` drivers share: the word of a time descriptor, and the ring of them.

use super::Descriptor;
use crate::bits::Field;

/// Launch time in units of 128 ns (ICE_TXTIME_STAMP_M, `ice_lan_tx_rx.h`).
const STAMP: Field = Field::new(13, 19);
/// Index of the transmit descriptor (ICE_TXTIME_TX_DESC_IDX_M, `ice_lan_tx_rx.h`).
const INDEX: Field = Field::new(0, 13);
/// log2 of the unit, 128 ns (ICE_TXTIME_CTX_RESOLUTION_128NS, `ts_res` = 7).
pub(super) const UNIT_SHIFT: u32 = 7;
const NS_PER_SEC: u64 = 1_000_000_000;

/// The time descriptor (`struct ice_ts_desc`) of a time in units of 128 ns; bits beyond the field are lost.
pub(super) fn descriptor(units: u64, index: u32) -> Descriptor {
    Descriptor { word: (STAMP.place(units) | INDEX.place(u64::from(index))) as u32 }
}

/// The conversion of all released versions: the seconds are dropped first, then the field's width drops the
/// rest, so that two moduli act one after the other (Linux `ice_tx_map`, DPDK `ice_write_ts_desc`).
pub(super) fn units_within_second(launch_ns: u64) -> u64 {
    (launch_ns % NS_PER_SEC) >> UNIT_SHIFT
}

/// The tail index with Linux's wrap: 0 after the last entry (`ice_tx_map`).
pub(super) fn tail_from_zero(tail: u32, ring_len: u32) -> u32 {
    if tail >= ring_len { 0 } else { tail }
}

/// What a driver does when it reaches the end of the ring of time descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrapRule {
    /// Writes the same descriptor again into the first `fetch` entries and goes on behind them.
    Copies,
    /// Goes on at entry 0.
    Plain,
}

/// The driver's cursor in the ring of time descriptors of one queue.
#[derive(Debug, Clone)]
pub struct TimeRing {
    entries: u32,
    fetch: u32,
    next: u32,
}

/// Where a descriptor went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posted {
    /// First entry written.
    pub entry: u32,
    /// Copies written after it, at the start of the ring.
    pub copies: u32,
    /// The hardware prefetches over the end of the ring and reports a malicious-driver event (MDD).
    pub malicious_driver_event: bool,
}

impl TimeRing {
    /// The ring for `tx_descriptors` transmit descriptors and hardware that fetches `fetch` time descriptors at
    /// once: entries = descriptors + fetch rounded up to 32, and the copies are as many as the entries are
    /// more (`ice_calc_ts_ring_count`).
    pub fn new(tx_descriptors: u32, fetch: u32) -> Self {
        let extra = fetch.next_multiple_of(32);
        Self { entries: tx_descriptors + extra, fetch: extra, next: 0 }
    }

    /// Number of entries.
    pub fn entries(&self) -> u32 {
        self.entries
    }

    /// Writes one descriptor.
    pub fn post(&mut self, rule: WrapRule) -> Posted {
        let entry = self.next;
        self.next += 1;
        let wraps = self.next == self.entries;
        let copies = if wraps && rule == WrapRule::Copies { self.fetch } else { 0 };
        if wraps {
            self.next = copies;
        }
        Posted { entry, copies, malicious_driver_event: wraps && rule == WrapRule::Plain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_ring_wraps_as_the_drivers_do() {
        let mut ring = TimeRing::new(1_024, 8);
        assert_eq!(ring.entries(), 1_056);
        for entry in 0..1_055 {
            assert_eq!(ring.post(WrapRule::Copies), Posted { entry, copies: 0, malicious_driver_event: false });
        }
        assert_eq!(ring.post(WrapRule::Copies), Posted { entry: 1_055, copies: 32, malicious_driver_event: false });
        assert_eq!(ring.post(WrapRule::Copies).entry, 32, "the copies stand in entries 0 to 31");
    }

    #[test]
    fn a_plain_wrap_is_reported_by_the_hardware() {
        let mut ring = TimeRing::new(64, 8);
        let events = (0..960).filter(|_| ring.post(WrapRule::Plain).malicious_driver_event).count();
        assert_eq!(events, 10, "960 frames, 96 entries");
    }
}
