//! (b) Drivers: how a launch time in nanoseconds becomes the bits of a descriptor.
//!
//! Nothing but the [`Descriptor`] crosses to the NIC. A driver variant is one file here and one line in [`LIST`];
//! `nicsim list drivers`, the help and the tests are made from the list.

mod generic;
mod ice;
mod ice_dpdk;
mod ice_fixed;
mod ice_linux;
mod ice_oot;

use std::fmt;

pub use ice::{TimeRing, WrapRule};

/// What real software can see when it writes a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct View {
    /// The PHC as software reads it \[ns\].
    pub now_ns: u64,
    /// Index of the transmit ring's entry after the frame's last data descriptor, before any wrap rule.
    pub tail: u32,
    /// Entries of the transmit ring.
    pub ring_len: u32,
}

/// The raw words that the driver writes for one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Descriptor {
    /// The word that carries the launch time.
    pub word: u32,
}

/// Why a driver does not take a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reject {
    /// It has no launch-time offload.
    NoLaunchTime,
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLaunchTime => f.write_str("the driver has no launch-time offload"),
        }
    }
}

/// The conversions of one driver.
pub trait Driver: Sync {
    /// The descriptor word for a frame that is to start at `launch_ns` [PHC ns].
    ///
    /// # Errors
    /// [`Reject`] when the driver refuses the frame.
    fn encode_launch(&self, view: &View, launch_ns: u64) -> Result<Descriptor, Reject>;

    /// What the driver does when the ring of time descriptors wraps; `None` for hardware without one.
    fn time_ring_wrap(&self) -> Option<WrapRule>;
}

/// One line of the list of drivers.
pub struct Entry {
    /// The name in scenario files.
    pub name: &'static str,
    /// Further versions with the same behaviour, as names of their own.
    pub aliases: &'static [&'static str],
    /// The NICs that it drives.
    pub nics: &'static [&'static str],
    /// One sentence.
    pub about: &'static str,
    /// Where the behaviour was read.
    pub source: &'static str,
    /// The driver.
    pub driver: &'static dyn Driver,
}

/// All drivers.
pub const LIST: &[Entry] = &[ice_fixed::ENTRY, ice_linux::ENTRY, ice_oot::ENTRY, ice_dpdk::ENTRY, generic::ENTRY];

/// The driver called `name`, or one of its aliases.
pub fn find(name: &str) -> Option<&'static Entry> {
    LIST.iter().find(|entry| entry.name == name || entry.aliases.contains(&name))
}

/// All names that [`find`] knows.
pub fn names() -> impl Iterator<Item = &'static str> {
    LIST.iter().flat_map(|entry| std::iter::once(entry.name).chain(entry.aliases.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_its_line() {
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/driver")).unwrap();
        // mod.rs holds the list and ice.rs what the ice variants share.
        assert_eq!(files.count() - 2, LIST.len());
        let mut all: Vec<_> = names().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), names().count(), "names are unique");
    }
}
