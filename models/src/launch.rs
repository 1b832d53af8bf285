//! (c) The NIC's reading of a launch-time field: bits and a counter in, a decision out.
//!
//! The field holds the low bits of the launch time in coarse units, so it repeats every 2^width units. The NIC
//! compares it with the same bits of its PHC: less than half a turn ahead is the future, anything else the past.
//! What the driver meant is not known here; whatever was lost on the way shows up as a wrong decision.

use crate::bits::Field;

/// What a queue's hardware does with launch-time fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchParameters {
    /// Nanoseconds per unit of the field.
    pub unit_ns: u64,
    /// Where the time stands in the descriptor word.
    pub time: Field,
    /// Where the index of the transmit descriptor stands in it.
    pub index: Field,
    /// A launch time this far ahead, or further, counts as past \[ns\].
    pub window_ns: u64,
    /// A field of 0 means that no launch time was given.
    pub zero_is_unset: bool,
    /// When the comparison is made.
    pub compare: Compare,
}

/// When the NIC compares a launch time with its PHC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compare {
    /// When the time descriptor is fetched.
    Fetch,
    /// When the frame reaches the head of its queue.
    Head,
}

/// What the NIC makes of a frame's launch time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Decision {
    /// The frame carries none: it goes when its turn comes.
    #[default]
    Unscheduled,
    /// Held until the PHC reads this many nanoseconds.
    Held(u64),
    /// Sent at once, because the field was 0.
    Unset,
    /// Sent at once, because the field looked past.
    Past,
}

impl Decision {
    /// Sent without waiting because the hardware took the launch time for past or unset.
    pub fn is_immediate(self) -> bool {
        matches!(self, Self::Unset | Self::Past)
    }
}

/// Reads the launch time in `word` by a PHC that shows `phc_ns`.
///
/// With x = (field · unit − PHC rounded down to a unit) mod 2^width units: held when 0 < x < window.
pub fn decode(parameters: &LaunchParameters, word: u64, phc_ns: u64) -> Decision {
    let field = parameters.time.get(word);
    if field == 0 && parameters.zero_is_unset {
        return Decision::Unset;
    }
    let now_units = phc_ns / parameters.unit_ns;
    let turn = u64::MAX >> (64 - parameters.time.width());
    let ahead_ns = (field.wrapping_sub(now_units) & turn) * parameters.unit_ns;
    if ahead_ns == 0 || ahead_ns >= parameters.window_ns {
        return Decision::Past;
    }
    Decision::Held(now_units * parameters.unit_ns + ahead_ns)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) const E830: LaunchParameters = LaunchParameters {
        unit_ns: 128,
        time: Field::new(13, 19),
        index: Field::new(0, 13),
        window_ns: 1 << 25,
        zero_is_unset: true,
        compare: Compare::Fetch,
    };

    fn word(launch_ns: u64) -> u64 {
        E830.time.place(launch_ns / 128)
    }

    #[test]
    fn the_window_is_half_a_turn() {
        let now = 5_000_000_128;
        assert_eq!(decode(&E830, word(now), now), Decision::Past);
        assert_eq!(decode(&E830, word(now + 128), now), Decision::Held(now + 128));
        assert_eq!(decode(&E830, word(now + (1 << 25) - 128), now), Decision::Held(now + (1 << 25) - 128));
        assert_eq!(decode(&E830, word(now + (1 << 25)), now), Decision::Past);
        assert_eq!(decode(&E830, word(now - 128), now), Decision::Past);
        assert_eq!(decode(&E830, 0x1fff, now), Decision::Unset);
    }

    proptest! {
        #[test]
        fn inside_the_window_the_launch_time_comes_back_floored(now in 1_u64 << 30..1 << 62, ahead in 256_u64..(1 << 25) - 256) {
            let launch = now + ahead;
            prop_assume!(launch / 128 % (1 << 19) != 0);
            prop_assert_eq!(decode(&E830, word(launch), now), Decision::Held(launch / 128 * 128));
        }
    }
}
