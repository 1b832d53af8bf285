//! The same frame in two captures.

use nicsim_core::stats::Unit;

use crate::recording::{Capture, Kind, unit};

/// Positions of the same frames in two captures, in the order of the first.
#[derive(Debug, Clone)]
pub(super) struct Pairing {
    pairs: Vec<(usize, usize)>,
}

impl Pairing {
    /// Pairs by number where both captures have numbers and most of them match, and by order else.
    pub(super) fn of(capture: &Capture, other: &Capture, notes: &mut Vec<String>) -> Self {
        let fewer = capture.frames.len().min(other.frames.len());
        let by_id = by_id(capture, other);
        let is_by_id = 2 * by_id.len() >= fewer && !by_id.is_empty();
        let pairs = if is_by_id { by_id } else { (0..fewer).map(|position| (position, position)).collect() };
        let how = if is_by_id { "number" } else { "order" };
        notes.push(format!(
            "{} frames are paired by {how} with {}; {} here and {} there have no partner",
            pairs.len(),
            other.file,
            capture.frames.len() - pairs.len(),
            other.frames.len() - pairs.len()
        ));
        Self { pairs }
    }
}

/// Frames of equal identifier; where one occurs again (the instrument's loop mode), the k-th with the k-th.
fn by_id(capture: &Capture, other: &Capture) -> Vec<(usize, usize)> {
    let (ours, theirs) = (sorted_ids(capture), sorted_ids(other));
    let mut theirs = theirs.iter().peekable();
    let mut pairs = Vec::new();
    for &(id, position) in &ours {
        while theirs.next_if(|(their_id, _)| *their_id < id).is_some() {}
        if let Some((_, their_position)) = theirs.next_if(|(their_id, _)| *their_id == id) {
            pairs.push((position, *their_position));
        }
    }
    pairs.sort_unstable();
    pairs
}

fn sorted_ids(capture: &Capture) -> Vec<(u32, usize)> {
    let frames = capture.frames.iter().enumerate();
    let mut ids: Vec<(u32, usize)> = frames.filter_map(|(position, frame)| Some((frame.id?, position))).collect();
    ids.sort_unstable();
    ids
}

/// How the times of two captures come into one unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    pub(super) unit: Unit,
    this: Factor,
    that: Factor,
}

/// Times are multiplied by `num` and divided by `den`.
#[derive(Debug, Clone, Copy)]
struct Factor {
    num: i128,
    den: i128,
}

impl Factor {
    fn of(unit: Unit, into: Unit) -> Self {
        let ((num, den), (into_num, into_den)) = (unit::ratio(unit), unit::ratio(into));
        match unit::multiple(unit, into) {
            Some(multiple) => Self { num: i128::from(multiple), den: 1 },
            None => Self { num: num * into_den, den: den * into_num },
        }
    }

    fn apply(self, time: i128) -> i128 {
        (time * self.num).div_euclid(self.den)
    }
}

impl Scale {
    pub(super) fn of(capture: &Capture, other: &Capture, notes: &mut Vec<String>) -> Self {
        let common = unit::common(capture.unit, other.unit);
        if common.is_none() {
            notes.push("the two captures have no common unit from 1 ps on; times are rounded down to 1 ps".to_owned());
        }
        let unit = common.unwrap_or(Unit::Picoseconds);
        Self { unit, this: Factor::of(capture.unit, unit), that: Factor::of(other.unit, unit) }
    }
}

/// How much later this capture saw a frame than the other one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Delay {
    /// The frame's place in this capture.
    pub(super) position: usize,
    /// This time minus that [units of the scale].
    pub(super) value: i64,
    /// When the other capture saw it [units of the scale since its first frame].
    pub(super) at_other: i128,
}

/// Delays beyond this are of clocks that were not started together.
const FARTHEST: u128 = 1 << 62;

/// The delays of all pairs: absolute where the two clocks have one epoch, and from the first pair's on else.
pub(super) fn delays(
    capture: &Capture,
    other: &Capture,
    pairing: &Pairing,
    scale: Scale,
    notes: &mut Vec<String>,
) -> Vec<Delay> {
    let Some(&first) = pairing.pairs.first() else { return Vec::new() };
    let since_first = |&(this, that): &(usize, usize)| {
        let this = scale.this.apply(i128::from(capture.frames[this].at) - i128::from(capture.frames[first.0].at));
        let that = scale.that.apply(i128::from(other.frames[that].at) - i128::from(other.frames[first.1].at));
        (this - that, that)
    };
    let fits =
        |at_first: &i128| pairing.pairs.iter().all(|pair| (at_first + since_first(pair).0).unsigned_abs() < FARTHEST);
    let at_first = delay_of_first(capture, other, first, scale).filter(fits);
    if at_first.is_none() {
        notes.push("the two clocks have no common epoch; delays are given from the first pair's on".to_owned());
    }
    let delay = |pair: &(usize, usize)| {
        let (since, at_other) = since_first(pair);
        let value = i64::try_from(at_first.unwrap_or(0) + since).ok()?;
        Some(Delay { position: pair.0, value, at_other })
    };
    pairing.pairs.iter().filter_map(delay).collect()
}

/// The first pair's delay; `None` where the clocks have no common epoch.
fn delay_of_first(capture: &Capture, other: &Capture, first: (usize, usize), scale: Scale) -> Option<i128> {
    let (this, that) = (capture.stamp(first.0)?, other.stamp(first.1)?);
    match (capture.kind, other.kind) {
        // Two captures of one instrument share its counter, of which only 32 bits are known: the nearest delay.
        (Kind::Efcc, Kind::Efcc) if capture.unit == other.unit => {
            let counts = (this - that).rem_euclid(1 << 32) as u32;
            Some(scale.this.apply(i128::from(counts.cast_signed())))
        }
        (Kind::Efcc, _) | (_, Kind::Efcc) => None,
        _ => Some(scale.this.apply(this).checked_sub(scale.that.apply(that))?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::efcc;

    fn capture(records: &[(u32, u32)]) -> Capture {
        efcc::from_records("test", "8ns".parse().unwrap(), records.iter().copied()).unwrap()
    }

    fn delays_of(this: &[(u32, u32)], that: &[(u32, u32)]) -> Vec<(usize, i64)> {
        let (this, that) = (capture(this), capture(that));
        let mut notes = Vec::new();
        let pairing = Pairing::of(&this, &that, &mut notes);
        let scale = Scale::of(&this, &that, &mut notes);
        delays(&this, &that, &pairing, scale, &mut notes).iter().map(|d| (d.position, d.value)).collect()
    }

    #[test]
    fn the_counter_may_wrap_between_the_two() {
        assert_eq!(delays_of(&[(0, 3), (1, 103)], &[(0, u32::MAX - 1), (1, 98)]), [(0, 5), (1, 5)]);
        assert_eq!(delays_of(&[(0, u32::MAX), (1, 99)], &[(0, 1), (1, 101)]), [(0, -2), (1, -2)]);
    }

    #[test]
    fn numbers_pair_frames_whatever_is_missing() {
        let sent = [(0, 0), (1, 100), (2, 200), (3, 300)];
        assert_eq!(delays_of(&[(1, 107), (3, 309)], &sent), [(0, 7), (1, 9)]);
        // A number that comes again: the first with the first, the second with the second.
        assert_eq!(delays_of(&[(5, 10), (5, 20)], &[(5, 9), (5, 18)]), [(0, 1), (1, 2)]);
    }

    #[test]
    fn unlike_numbers_pair_by_order() {
        assert_eq!(delays_of(&[(10, 1), (11, 2)], &[(0, 0), (1, 1), (2, 5)]), [(0, 1), (1, 1)]);
    }
}
