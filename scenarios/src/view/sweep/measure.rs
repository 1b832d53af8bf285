//! Quantities along axes and colours: linear, logarithmic, or names in a row.

use plotters::style::RGBColor;

use super::super::sheet::{LABEL, Ramp, Sheet};
use super::super::text::{elide, grouped, short};
use super::super::ticks::{Axis, widened};
use crate::sweep::survey::FigureSpread;
use crate::sweep::survey::levels::{Domain, Levels};

/// A quantity, and how its values lie along an axis.
#[derive(Debug, Clone)]
pub(super) struct Measure {
    pub(super) label: String,
    pub(super) low: f64,
    pub(super) high: f64,
    is_log: bool,
    names: Option<Vec<String>>,
}

/// Ratio of ends from which on positive figures whose body lies low are drawn logarithmically.
const WIDE: f64 = 100.0;

impl Measure {
    /// Of a swept path.
    pub(super) fn of_axis(axis: &Domain) -> Self {
        let (low, high) = axis.ends.unwrap_or((0.0, 0.0));
        Self { label: axis_label(axis), low, high, is_log: axis.is_log, names: axis.names.clone() }
    }

    /// Of a figure over points.
    pub(super) fn of_figure(figure: &FigureSpread) -> Self {
        let (low, high) = (figure.values.low, figure.values.high);
        let (low, high) = if low <= high { (low, high) } else { (0.0, 0.0) };
        let median = figure.values.quantiles([0.5]).map_or(0.0, |[median]| median);
        let is_log = low > 0.0 && high >= WIDE * low && (median - low) < 0.1 * (high - low);
        Self { label: labelled(&figure.name, &figure.unit), low, high, is_log, names: None }
    }

    /// The same quantity between other ends.
    pub(super) fn between(mut self, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low <= high {
            self.is_log &= low > 0.0;
            (self.low, self.high) = (low, high);
        }
        self
    }

    /// Place of a value along the axis.
    pub(super) fn at(&self, value: f64) -> f64 {
        if self.is_log { libm::log10(value.max(f64::MIN_POSITIVE)) } else { value }
    }

    /// Where a value lies between the ends, 0 to 1.
    pub(super) fn share(&self, value: f64) -> f64 {
        let (low, high) = (self.at(self.low), self.at(self.high));
        if high > low { ((self.at(value) - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
    }

    /// Ends of an axis with some room beyond them.
    fn ends(&self, room: f64) -> (f64, f64) {
        match &self.names {
            Some(names) => (-0.5, names.len().max(1) as f64 - 0.5),
            None => {
                let (low, high) = (self.at(self.low), self.at(self.high));
                let least = if low < high { 0.0 } else { (low.abs() * 0.05).max(if self.is_log { 0.1 } else { 0.5 }) };
                widened(low, high, room, least)
            }
        }
    }

    /// As a horizontal axis.
    pub(super) fn across(&self, room: f64, y: &Axis) -> Axis {
        self.across_between(self.ends(room), y)
    }

    pub(super) fn across_between(&self, (from, to): (f64, f64), y: &Axis) -> Axis {
        let width = Sheet::room(y);
        match &self.names {
            Some(names) => {
                let most = (width / names.len().max(1) as f64 / (LABEL * 0.68)) as usize;
                self.named((from, to), names, most.max(3), |place| place)
            }
            None if self.is_log => Axis { label: self.label.clone(), from, to, ticks: self.decades(from, to, 8) },
            None => Axis::across(self.label.clone(), (from, to), width, LABEL),
        }
    }

    /// As a vertical axis; names begin at the top.
    pub(super) fn up(&self, room: f64, most: usize) -> Axis {
        self.up_between(self.ends(room), most)
    }

    pub(super) fn up_between(&self, (from, to): (f64, f64), most: usize) -> Axis {
        match &self.names {
            Some(names) => self.named((from, to), names, 26, |place| names.len() as f64 - 1.0 - place),
            None if self.is_log => Axis { label: self.label.clone(), from, to, ticks: self.decades(from, to, most) },
            None => Axis::up(self.label.clone(), (from, to), most),
        }
    }

    fn named(&self, (from, to): (f64, f64), names: &[String], most: usize, at: impl Fn(f64) -> f64) -> Axis {
        let tick = |(place, name): (usize, &String)| (at(place as f64), elide(name, most));
        Axis { label: self.label.clone(), from, to, ticks: names.iter().enumerate().map(tick).collect() }
    }

    /// Powers of ten and what lies between them, as far as there is room; places are logarithms.
    fn decades(&self, from: f64, to: f64, most: usize) -> Vec<(f64, String)> {
        let (first, last) = (from.floor() as i32, to.ceil() as i32);
        let of = |digits: &[f64], step: i32| -> Vec<(f64, String)> {
            let powers = (first..=last).filter(|power| power.rem_euclid(step) == 0);
            let values = powers.flat_map(|power| digits.iter().map(move |digit| digit * libm::exp10(f64::from(power))));
            values.map(|value| (libm::log10(value), shown(value))).filter(|(at, _)| (from..=to).contains(at)).collect()
        };
        let coarse = (1..40).map(|step| of(&[1.0], step));
        let all = [of(&[1.0, 2.0, 5.0], 1), of(&[1.0, 3.0], 1)].into_iter().chain(coarse);
        all.into_iter().find(|ticks| ticks.len() <= most).unwrap_or_default()
    }

    /// Ends of a level along the axis; values one by one reach half way to their neighbours.
    pub(super) fn cell(&self, levels: &Levels, level: usize) -> (f64, f64) {
        let Levels::Each(values) = levels else {
            let (from, to) = levels.span(level);
            return (self.at(from), self.at(to));
        };
        if self.names.is_some() {
            return (level as f64 - 0.5, level as f64 + 0.5);
        }
        let place = |level: usize| values.get(level).map(|value| self.at(*value));
        let here = place(level).unwrap_or(0.0);
        let before = level.checked_sub(1).and_then(place).map(|before| (here - before) / 2.0);
        let after = place(level + 1).map(|after| (after - here) / 2.0);
        let alone = (here.abs() * 0.05).max(0.5);
        (here - before.or(after).unwrap_or(alone), here + after.or(before).unwrap_or(alone))
    }

    /// Middle of a level along the axis.
    pub(super) fn middle(&self, levels: &Levels, level: usize) -> f64 {
        let (from, to) = levels.span(level);
        f64::midpoint(self.at(from), self.at(to))
    }

    /// Its names, if its values are names.
    pub(super) fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Are its values names?
    pub(super) fn is_named(&self) -> bool {
        self.names.is_some()
    }

    /// A tick at each level; none where levels are bins.
    pub(super) fn each(&self, levels: &Levels) -> Option<Vec<(f64, String)>> {
        let Levels::Each(values) = levels else { return None };
        Some(values.iter().map(|value| (self.at(*value), shown(*value))).collect())
    }

    /// As a scale of colours.
    pub(super) fn ramp(&self, what: &str, colour: fn(f64) -> RGBColor) -> Ramp {
        let (low, high) = (self.at(self.low), self.at(self.high));
        let ticks =
            if self.is_log { self.decades(low, high, 5) } else { Axis::up("", widened(low, high, 0.0, 0.0), 4).ticks };
        let share = |place: f64| if high > low { (place - low) / (high - low) } else { 0.5 };
        let ticks = ticks.into_iter().map(|(place, text)| (share(place), text));
        let mut ticks: Vec<_> = ticks.filter(|(share, _)| (-1e-6..=1.000_001).contains(share)).collect();
        if ticks.is_empty() {
            ticks.push((0.5, shown(self.low)));
        }
        Ramp { label: format!("{what}{}", self.label), colour, ticks }
    }

    /// A value with its name or as a number.
    pub(super) fn value(&self, value: f64) -> String {
        match &self.names {
            Some(names) if value >= 0.0 => names.get(value as usize).cloned().unwrap_or_default(),
            Some(_) => "–".to_owned(),
            None => shown(value),
        }
    }
}

/// A number with what digits it needs.
pub(super) fn shown(value: f64) -> String {
    match value.abs() {
        size if size > 0.0 && size < 0.01 || size >= 1e13 => format!("{value:.2e}").replace('-', "−"),
        size if size < 100.0 || !value.is_finite() => short(value),
        size if size < 100_000.0 => {
            let text = grouped(value, 1);
            text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
        }
        _ => grouped(value, 0),
    }
}

/// The path of an axis with its unit, without the ending that its column has for the unit.
pub(super) fn axis_label(axis: &Domain) -> String {
    let ending = match axis.unit.as_str() {
        "ns" => "_ns",
        "ppm" => "_ppm",
        "B" => "_b",
        "bit/s" => "_bps",
        _ => "",
    };
    labelled(axis.name.strip_suffix(ending).unwrap_or(&axis.name), &axis.unit)
}

/// A name with its unit, if it has one.
pub(super) fn labelled(name: &str, unit: &str) -> String {
    if unit.is_empty() || unit == "1" { name.to_owned() } else { format!("{name} [{unit}]") }
}

/// Colours of cells: viridis (van der Walt and Smith 2015), whose lightness grows evenly, so that it is read with any
/// colour vision and in grey.
pub(super) fn viridis(share: f64) -> RGBColor {
    const STOPS: [(u8, u8, u8); 7] =
        [(68, 1, 84), (68, 57, 131), (49, 104, 142), (33, 145, 140), (53, 183, 121), (144, 215, 67), (253, 231, 37)];
    between(&STOPS, share)
}

/// Colours of lines: blue over grey to orange, all of which stand out from white and from black paper.
pub(super) fn blue_to_orange(share: f64) -> RGBColor {
    const STOPS: [(u8, u8, u8); 3] = [(31, 95, 170), (135, 125, 135), (226, 122, 20)];
    between(&STOPS, share)
}

/// One of 64 steps between colours, so that neighbours often are equal.
fn between(stops: &[(u8, u8, u8)], share: f64) -> RGBColor {
    let share = if share.is_finite() { (share.clamp(0.0, 1.0) * 63.0).round() / 63.0 } else { 0.0 };
    let place = share * (stops.len() - 1) as f64;
    let (at, rest) = ((place as usize).min(stops.len() - 2), place - place.floor());
    let rest = if place as usize > at { 1.0 } else { rest };
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * rest).round() as u8;
    let ((r, g, b), (r2, g2, b2)) = (stops[at], stops[at + 1]);
    RGBColor(mix(r, r2), mix(g, g2), mix(b, b2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_reach_both_ends() {
        assert_eq!(viridis(0.0), RGBColor(68, 1, 84));
        assert_eq!(viridis(1.0), RGBColor(253, 231, 37));
        assert_eq!(viridis(f64::NAN), RGBColor(68, 1, 84));
        assert_eq!(blue_to_orange(1.0), RGBColor(226, 122, 20));
    }

    #[test]
    fn numbers_have_what_digits_they_need() {
        let wanted =
            [(0.0, "0"), (0.000_12, "1.20e−4"), (12.345_6, "12.346"), (1_234.5, "1,234.5"), (99_968.0, "99,968")];
        wanted.into_iter().for_each(|(value, text)| assert_eq!(shown(value), text));
    }
}
