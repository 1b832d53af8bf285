//! Decimal numbers as people's tools print them, kept exactly.

/// `mantissa / 10^decimals`, with the digits as they were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) mantissa: i128,
    pub(super) decimals: u32,
}

/// More digits than any clock has; 10^25 times the 10^12 picoseconds of a second stays below 2^126.
const MOST_DIGITS: usize = 25;

impl Decimal {
    /// Reads `text` with `mark` before the decimals.
    ///
    /// The error says what is wrong, as the end of a sentence.
    pub(super) fn parse(text: &str, mark: char) -> Result<Self, &'static str> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, fraction) = digits.split_once(mark).unwrap_or((digits, ""));
        check_digits(whole, fraction)?;
        // At most 25 digits, so all of it fits.
        let decimals = fraction.len() as u32;
        let whole: i128 = whole.parse().unwrap_or(0);
        let fraction: i128 = fraction.parse().unwrap_or(0);
        let magnitude = whole * 10_i128.pow(decimals) + fraction;
        Ok(Self { mantissa: if negative { -magnitude } else { magnitude }, decimals })
    }

    /// The whole number of 10^-`decimals`; `None` where digits would be lost.
    pub(super) fn scaled(self, decimals: u32) -> Option<i128> {
        if decimals >= self.decimals {
            return self.mantissa.checked_mul(10_i128.checked_pow(decimals - self.decimals)?);
        }
        let divisor = 10_i128.checked_pow(self.decimals - decimals)?;
        (self.mantissa % divisor == 0).then_some(self.mantissa / divisor)
    }

    /// Digits of the mantissa, and how many of them stand before its trailing zeros.
    pub(super) fn digits(self) -> (u32, u32) {
        let mut rest = self.mantissa.unsigned_abs();
        let digits = rest.checked_ilog10().map_or(1, |log| log + 1);
        let mut significant = digits;
        while rest != 0 && rest.is_multiple_of(10) {
            rest /= 10;
            significant -= 1;
        }
        (digits, significant)
    }

    /// The digits after the decimal mark, read as a whole number.
    pub(super) fn fraction(self) -> i128 {
        self.mantissa.abs() % 10_i128.pow(self.decimals)
    }

    /// The number before the decimal mark, towards zero.
    pub(super) fn whole(self) -> i128 {
        self.mantissa / 10_i128.pow(self.decimals)
    }
}

fn check_digits(whole: &str, fraction: &str) -> Result<(), &'static str> {
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let starts_with_digit = whole.starts_with(|c: char| c.is_ascii_digit());
    let has = |marks: &[char]| starts_with_digit && (whole.contains(marks) || fraction.contains(marks));
    if has(&['e', 'E']) {
        return Err("an exponent has too few digits for a time; write it as a plain decimal");
    }
    if has(&[',', '\'', '_', ' ', '\u{a0}']) {
        return Err("write it without separators between the digits");
    }
    if whole.is_empty() || !are_digits(whole) || !are_digits(fraction) {
        return Err("expected digits, with a sign and decimals at most");
    }
    if whole.len() + fraction.len() > MOST_DIGITS {
        return Err("it has over 25 digits");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_and_signed() {
        let parse = |text| Decimal::parse(text, '.').unwrap();
        assert_eq!(parse("1753934910.226563607").scaled(9), Some(1_753_934_910_226_563_607));
        assert_eq!(parse("-0.000000012").scaled(9), Some(-12));
        assert_eq!(parse("0.000100000").scaled(9), Some(100_000));
        assert_eq!(parse("+5").scaled(3), Some(5_000));
        assert_eq!(parse("1.5").scaled(0), None);
        assert_eq!(parse("2.0").scaled(0), Some(2));
        assert_eq!(Decimal::parse("3,25", ',').unwrap().scaled(2), Some(325));
        assert_eq!((parse("12.034").whole(), parse("12.034").fraction()), (12, 34));
        assert_eq!(parse("1753933177308520000").digits(), (19, 15));
        assert_eq!(parse("0").digits(), (1, 1));
    }

    #[test]
    fn what_loses_digits_is_refused() {
        for bad in ["4e-09", "1.75E+18", "1,753", "1'753", "1_000", "", "-", ".5", "1.2.3", "0x10", "12 ns", "NaN"] {
            assert!(Decimal::parse(bad, '.').is_err(), "{bad}");
        }
        assert!(Decimal::parse(&"9".repeat(26), '.').is_err());
        assert!(Decimal::parse(&"9".repeat(25), '.').is_ok());
    }
}
