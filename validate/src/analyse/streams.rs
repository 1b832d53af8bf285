//! Which frames of a capture belong together.

use std::collections::BTreeMap;

use nicsim_core::stats::Unit;

use super::pairs::Delay;
use super::series::{Series, Value};
use crate::fit::Point;
use crate::plan::{Place, Plan};
use crate::recording::{Capture, Kind, efcc, unit};

/// The frames of one stream, in the capture's order.
#[derive(Debug, Clone, Default)]
pub(super) struct Stream {
    /// How notes name it; `None` for the only one.
    name: Option<String>,
    /// Its place in the plan.
    pub(super) planned: Option<usize>,
    members: Vec<Member>,
}

/// A frame of a stream.
#[derive(Debug, Clone, Copy)]
struct Member {
    /// Its place among the capture's kept frames.
    position: usize,
    /// Its place in the stream's schedule.
    index: i64,
    /// Its number, as figures name it.
    number: u64,
}

/// What tells streams apart: the port in the identifier, and the place in the plan.
type Key = (u32, Option<usize>);

/// Splits a capture into streams: by number where a plan has several, and by port where the instrument says it.
pub(super) fn split(capture: &Capture, plan: Option<&Plan>, notes: &mut Vec<String>) -> Vec<Stream> {
    let plan = plan.filter(|plan| !plan.streams.is_empty());
    note_plan(capture, plan, notes);
    // Numbers that other captures happen to carry mean nothing without a plan.
    let has_numbers = capture.kind == Kind::Efcc || plan.is_some();
    // Without numbers, a plan of one stream still is about all frames.
    let only = plan.filter(|plan| plan.streams.len() == 1).map(|_| 0);
    let mut streams: BTreeMap<Key, Stream> = BTreeMap::new();
    for (position, frame) in capture.frames.iter().enumerate() {
        let id = frame.id.filter(|_| has_numbers);
        let place = id.and_then(|id| plan?.place(efcc::number(id)));
        let key = (id.map_or(0, efcc::port), place.map(|place| place.stream).or(only));
        let in_file = capture.skipped() + position as u64;
        streams.entry(key).or_default().push(position, in_file, id, place);
    }
    named(streams, plan, notes)
}

fn note_plan(capture: &Capture, plan: Option<&Plan>, notes: &mut Vec<String>) {
    let Some(plan) = plan else { return };
    if plan.streams.len() > 1 && capture.frames.iter().any(|frame| frame.id.is_none()) {
        notes
            .push("the plan has several streams, but frames carry no number; those are taken as one stream".to_owned());
    }
    if let Some(tick) = plan.tick.filter(|tick| capture.kind == Kind::Efcc && capture.unit != Unit::Ticks(*tick)) {
        notes.push(format!("the plan's tick is {tick}, but the capture was read with another"));
    }
}

fn named(streams: BTreeMap<Key, Stream>, plan: Option<&Plan>, notes: &mut Vec<String>) -> Vec<Stream> {
    let several = streams.len() > 1;
    if several {
        notes.push(format!("the frames are of {} streams; intervals are within each, and pooled", streams.len()));
    }
    let name = |(port, planned): Key| {
        let planned_name = planned.and_then(|place| plan?.streams.get(place)?.name.clone());
        planned_name.unwrap_or_else(|| match planned {
            Some(place) => format!("stream {place}"),
            None => format!("port {port}"),
        })
    };
    streams
        .into_iter()
        .map(|(key, stream)| Stream { name: several.then(|| name(key)), planned: key.1, ..stream })
        .collect()
}

impl Stream {
    /// Adds a frame; figures name it by its index in the plan, else by its number, else by its place in the file.
    fn push(&mut self, position: usize, in_file: u64, id: Option<u32>, place: Option<Place>) {
        let next = self.members.len() as i64;
        let (index, number) = match (place, id) {
            (Some(place), _) => (place.index, place.index.unsigned_abs()),
            (None, Some(id)) => (next, u64::from(efcc::number(id))),
            (None, None) => (next, in_file),
        };
        self.members.push(Member { position, index, number });
    }

    /// What a note about this stream begins with.
    pub(super) fn prefix(&self) -> String {
        self.name.as_ref().map_or_else(String::new, |name| format!("{name}: "))
    }

    /// Differences of successive times, each under the number of its later frame.
    pub(super) fn intervals(&self, capture: &Capture) -> Series {
        let at = |member: &Member| Value { value: capture.frames[member.position].at, frame: member.number };
        self.members.windows(2).filter_map(|pair| Value::difference(&at(&pair[0]), &at(&pair[1]))).collect()
    }

    /// The delays of this stream's frames.
    pub(super) fn delays(&self, delays: &[Delay]) -> Series {
        // Both are in the order of positions.
        let mut rest = delays;
        let mut series = Vec::with_capacity(self.members.len().min(delays.len()));
        for member in &self.members {
            rest = &rest[rest.partition_point(|delay| delay.position < member.position)..];
            if let Some(delay) = rest.first().filter(|delay| delay.position == member.position) {
                series.push(Value { value: delay.value, frame: member.number });
            }
        }
        series
    }

    /// Deviations from the schedule `index · interval`, both in picoseconds over the denominator of the unit.
    pub(super) fn deviations(&self, capture: &Capture, interval: i128) -> Vec<Point> {
        let (num, _) = unit::ratio(capture.unit);
        let point = |member: &Member| {
            let x = i128::from(member.index) * interval;
            Point { x, y: i128::from(capture.frames[member.position].at) * num - x }
        };
        self.members.iter().map(point).collect()
    }
}
