//! Units of time as exact ratios: one from another, and one that holds both.

use nicsim_core::grid::Period;
use nicsim_core::stats::Unit;

/// One unit in picoseconds, as (numerator, denominator).
pub fn ratio(unit: Unit) -> (i128, i128) {
    match unit {
        Unit::Ticks(period) => (i128::from(period.num()), i128::from(period.den())),
        Unit::Picoseconds => (1, 1),
    }
}

/// The unit of `num / den` ps; `None` below 1 ps, or where it is no [`Period`].
pub fn from_ratio(num: i128, den: i128) -> Option<Unit> {
    if num == den && den > 0 {
        return Some(Unit::Picoseconds);
    }
    Period::new(num, den).map(Unit::Ticks)
}

/// `count` units as one; `None` where that is no [`Period`].
pub fn times(unit: Unit, count: i64) -> Option<Unit> {
    let (num, den) = ratio(unit);
    from_ratio(num.checked_mul(i128::from(count))?, den)
}

/// The largest unit of which both are whole multiples; `None` where it is below 1 ps.
pub fn common(a: Unit, b: Unit) -> Option<Unit> {
    let ((a_num, a_den), (b_num, b_den)) = (ratio(a), ratio(b));
    // Numerators and denominators are below 2^40, so no product overflows.
    let divisor = gcd((a_num * b_den).unsigned_abs(), (b_num * a_den).unsigned_abs());
    from_ratio(i128::try_from(divisor).ok()?, a_den * b_den)
}

/// How many `of` make one `unit`; `None` where that is no whole number.
pub fn multiple(unit: Unit, of: Unit) -> Option<i64> {
    let ((num, den), (of_num, of_den)) = (ratio(unit), ratio(of));
    let (dividend, divisor) = (num * of_den, den * of_num);
    (dividend % divisor == 0).then(|| i64::try_from(dividend / divisor).ok())?
}

/// Greatest common divisor; that of 0 and `a` is `a`.
pub fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(text: &str) -> Unit {
        Unit::Ticks(text.parse().unwrap())
    }

    #[test]
    fn common_units_are_exact() {
        assert_eq!(common(ticks("8ns"), ticks("6.4ns")), Some(ticks("1.6ns")));
        assert_eq!(common(ticks("1ns"), Unit::Picoseconds), Some(Unit::Picoseconds));
        assert_eq!(common(ticks("16/13ns"), ticks("1ns")), Some(ticks("1000/13ps")));
        // 2^-30 s and 1 ns have only 125/2^18 ps in common.
        assert_eq!(common(from_ratio(1_000_000_000_000, 1 << 30).unwrap(), ticks("1ns")), None);
    }

    #[test]
    fn multiples_and_ratios() {
        assert_eq!(multiple(ticks("8ns"), ticks("1.6ns")), Some(5));
        assert_eq!(multiple(ticks("8ns"), ticks("6.4ns")), None);
        assert_eq!(times(ticks("1ns"), 8), Some(ticks("8ns")));
        assert_eq!(times(Unit::Picoseconds, 6_400), Some(ticks("6.4ns")));
        assert_eq!(times(ticks("1ns"), i64::MAX), None);
        assert_eq!(from_ratio(1, 2), None);
        assert_eq!(from_ratio(0, 0), None);
    }
}
