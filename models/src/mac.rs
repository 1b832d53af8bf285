//! (f) The MAC: how long a frame holds the line, and where it may start.

use std::fmt;
use std::str::FromStr;

use nicsim_core::clock::ClockMap;
use nicsim_core::grid::Grid;
use nicsim_core::quantity::{Kind, QuantityError};
use nicsim_core::time::{ClockTime, Domain, SimTime, Span};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Preamble (7), start-of-frame delimiter (1) and inter-frame gap (12) \[octets\] (IEEE 802.3 clauses 3 and 4.4.2).
pub const OVERHEAD: u32 = 20;
/// Shortest frame with FCS \[octets\] (IEEE 802.3 clause 4.4.2, minFrameSize).
pub const MIN_FRAME: u32 = 64;
/// Longest frame with FCS that is accepted \[octets\]: a 9,000-octet payload, header, VLAN tag and FCS.
pub const MAX_FRAME: u32 = 9_022;

const BIT_RATE: Kind = Kind {
    base: "bit/s",
    example: "10Gbps",
    units: &[("bps", 1, 1), ("kbps", 1_000, 1), ("Mbps", 1_000_000, 1), ("Gbps", 1_000_000_000, 1)],
};

/// The speed of a link, as the length of an octet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Speed {
    octet: Span,
}

impl Speed {
    /// Length of one octet on the line.
    pub const fn octet(self) -> Span {
        self.octet
    }

    /// Megabits per second.
    pub const fn mbps(self) -> i64 {
        8_000_000 / self.octet.as_ps()
    }

    /// How long a frame of `size` octets (with FCS) holds the line: preamble, delimiter and gap included.
    pub fn wire_time(self, size: u32) -> Span {
        self.octet * i64::from(size + OVERHEAD)
    }
}

impl FromStr for Speed {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let rate = BIT_RATE.whole(text)?;
        let out_of_range = || QuantityError::OutOfRange { text: text.to_owned(), limit: "1 Mbps to 800 Gbps" };
        if !(1_000_000..=800_000_000_000).contains(&rate) {
            return Err(out_of_range());
        }
        if 8_000_000_000_000 % rate != 0 {
            return Err(QuantityError::TooFine { text: text.to_owned(), base: "ps per octet" });
        }
        Ok(Self { octet: Span::from_ps(8_000_000_000_000 / rate) })
    }
}
impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mbps() {
            mbps if mbps % 1_000 == 0 => write!(f, "{}Gbps", mbps / 1_000),
            mbps => write!(f, "{mbps}Mbps"),
        }
    }
}
impl<'de> Deserialize<'de> for Speed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
impl Serialize for Speed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The first instant at or after `earliest` at which a frame may start: anywhere, or on the blocks of the
/// line code, which the clock of domain `D` makes.
#[inline]
pub fn start_at<D: Domain>(earliest: SimTime, blocks: Option<&Grid>, clock: &ClockMap<D>) -> SimTime {
    match blocks {
        None => earliest,
        Some(blocks) => {
            let reading = clock.at(earliest).as_ps();
            let (last, _) = blocks.floor(reading);
            // A fast clock skips readings: the block's own instant may read 1 ps more than the block.
            if reading - last <= 1 && clock.when(ClockTime::from_ps(last)) == earliest {
                return earliest;
            }
            clock.when(ClockTime::from_ps(blocks.next(reading)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phc::Osc;
    use nicsim_core::clock::Rate;
    use proptest::prelude::*;

    #[test]
    fn a_frame_holds_the_line_for_its_octets_and_twenty_more() {
        let speed: Speed = "10Gbps".parse().unwrap();
        assert_eq!(speed.wire_time(64), Span::from_ps(67_200));
        assert_eq!(speed.wire_time(1_518), Span::from_ps(1_230_400));
        let speed: Speed = "1Gbps".parse().unwrap();
        assert_eq!(speed.wire_time(64), Span::from_ns(672));
        assert_eq!(speed.to_string(), "1Gbps");
        assert_eq!("2.5Gbps".parse::<Speed>().unwrap().octet(), Span::from_ps(3_200));
        assert!("3Gbps".parse::<Speed>().is_err() && "10".parse::<Speed>().is_err());
    }

    #[test]
    fn whole_blocks_make_70_4_and_1235_2_ns() {
        // Frames that start on 6.4 ns blocks and hold the line for 67.2 and 1230.4 ns follow 11 and 193 blocks apart.
        let blocks = Grid::new("6.4ns".parse().unwrap(), 0);
        let clock = ClockMap::<Osc>::starting(Rate::ONE);
        for (busy, spacing) in [(67_200, 70_400), (1_230_400, 1_235_200)] {
            assert_eq!(start_at(SimTime::from_ps(busy), Some(&blocks), &clock), SimTime::from_ps(spacing));
        }
    }

    proptest! {
        #[test]
        fn a_start_is_the_first_block_not_before(earliest in 0_i64..1 << 55, ppm in -100_i64..100, phase in 0_i64..6_400) {
            let blocks = Grid::new("6.4ns".parse().unwrap(), phase);
            let clock = ClockMap::<Osc>::starting(format!("{ppm}ppm").parse().unwrap());
            let start = start_at(SimTime::from_ps(earliest), Some(&blocks), &clock);
            prop_assert!(start >= SimTime::from_ps(earliest));
            prop_assert!((clock.at(start).as_ps() - phase).rem_euclid(6_400) <= 1);
            prop_assert!(start - SimTime::from_ps(earliest) <= Span::from_ps(6_401));
            prop_assert_eq!(start_at(start, Some(&blocks), &clock), start);
        }
    }
}
