//! A driver of a card without launch times: frames go out as they are handed in.

use super::{Descriptor, Driver, Entry, Reject, View, WrapRule};

pub(super) const ENTRY: Entry = Entry {
    name: "generic",
    aliases: &[],
    nics: &["generic-1g"],
    about: "any driver without a launch-time offload: frames leave in the order in which they are handed in",
    source: "assumed",
    driver: &Generic,
};

struct Generic;

impl Driver for Generic {
    fn encode_launch(&self, _: &View, _: u64) -> Result<Descriptor, Reject> {
        Err(Reject::NoLaunchTime)
    }

    fn time_ring_wrap(&self) -> Option<WrapRule> {
        None
    }
}
