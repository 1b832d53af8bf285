//! Bit fields of raw words: where they are, and how to get and set them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A field of a word: `width` bits from bit `lsb` up. Written as data sheets do: `"31:13"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    lsb: u32,
    width: u32,
}

impl Field {
    /// The field of `width` bits whose lowest is bit `lsb`; together at most 64.
    pub const fn new(lsb: u32, width: u32) -> Self {
        assert!(width > 0 && lsb + width <= 64, "a field lies within 64 bits");
        Self { lsb, width }
    }

    /// Number of bits.
    pub const fn width(self) -> u32 {
        self.width
    }

    const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// The field's value in `word`.
    pub const fn get(self, word: u64) -> u64 {
        (word >> self.lsb) & self.mask()
    }

    /// A word with `value` in the field and zero elsewhere; bits of `value` beyond the width are lost, as in hardware.
    pub const fn place(self, value: u64) -> u64 {
        (value & self.mask()) << self.lsb
    }
}

impl FromStr for Field {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is not a bit field; write \"high:low\" with 63 ≥ high ≥ low, such as \"31:13\"");
        let (high, low) = text.split_once(':').ok_or_else(wrong)?;
        let (high, low): (u32, u32) =
            (high.trim().parse().map_err(|_| wrong())?, low.trim().parse().map_err(|_| wrong())?);
        if high > 63 || low > high {
            return Err(wrong());
        }
        Ok(Self::new(low, high - low + 1))
    }
}
impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.lsb + self.width - 1, self.lsb)
    }
}
impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
impl Serialize for Field {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_as_in_data_sheets() {
        let time: Field = "31:13".parse().unwrap();
        assert_eq!((time.get(0xffff_e000), time.place(1), time.width()), (0x7_ffff, 0x2000, 19));
        assert_eq!(time.place(0x8_0000), 0, "a 20th bit is lost");
        assert_eq!(time.to_string(), "31:13");
        for bad in ["13:31", "64:0", "31", "a:b"] {
            assert!(bad.parse::<Field>().is_err(), "{bad}");
        }
    }
}
