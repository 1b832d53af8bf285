//! The reference kernel: a plain heap of events over the same rules, to check the order that [`crate::port`] finds.
//!
//! Every stage is an event of its own; an event that has become void is recognised by its generation. It is slow
//! and meant to be obviously right. It shares the stage rules with the fast kernel, so it checks the order only.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use nicsim_core::time::SimTime;

use crate::frame::FrameRecord;
use crate::kernel::{Limit, PortKernel, Step};
use crate::nic::Nic;

/// What happens; the order of the variants is the tie order at equal instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Clock,
    Submit(usize),
    Fetch(usize),
    /// The line may have come free, or a head may have been let go.
    TryTransmit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: SimTime,
    event: Event,
    generation: u64,
}

/// One port, run by a heap of events.
#[derive(Clone)]
pub struct Reference {
    nic: Nic,
    heap: BinaryHeap<Reverse<Entry>>,
    /// Generation of the valid submit of each stream, and of the valid clock change.
    submits: Vec<u64>,
    clock: u64,
    blocked: Vec<bool>,
}

impl Reference {
    /// A port at the scenario's start.
    pub fn new(nic: Nic) -> Self {
        let streams = nic.streams();
        let mut reference =
            Self { nic, heap: BinaryHeap::new(), submits: vec![0; streams], clock: 0, blocked: vec![false; streams] };
        reference.plan_clock();
        (0..streams).for_each(|stream| reference.plan_submit(stream, SimTime::ZERO));
        reference
    }

    fn push(&mut self, at: SimTime, event: Event, generation: u64) {
        if at != SimTime::NEVER {
            self.heap.push(Reverse(Entry { at, event, generation }));
        }
    }

    fn plan_clock(&mut self) {
        self.clock += 1;
        self.push(self.nic.clock_change_at(), Event::Clock, self.clock);
    }

    fn plan_submit(&mut self, stream: usize, now: SimTime) {
        self.submits[stream] += 1;
        let due = self.nic.submit_due_at(stream).max(now);
        self.push(due, Event::Submit(stream), self.submits[stream]);
    }

    fn is_void(&self, entry: &Entry) -> bool {
        match entry.event {
            Event::Clock => entry.generation != self.clock,
            Event::Submit(stream) => entry.generation != self.submits[stream],
            _ => false,
        }
    }

    fn drop_void(&mut self) {
        while self.heap.peek().is_some_and(|Reverse(entry)| self.is_void(entry)) {
            self.heap.pop();
        }
    }

    /// One event for the frame that was queued last; earlier ones have theirs.
    fn plan_fetch(&mut self, queue: usize) {
        self.push(self.nic.last_fetch_at(queue), Event::Fetch(queue), 0);
    }

    fn fetch(&mut self, queue: usize, now: SimTime) {
        self.nic.fetch(queue);
        self.plan_head(queue, now);
    }

    fn plan_head(&mut self, queue: usize, now: SimTime) {
        let ready = self.nic.head_ready_at(queue);
        if ready != SimTime::NEVER {
            self.push(ready.max(now), Event::TryTransmit, 0);
        }
    }

    fn try_transmit(&mut self, now: SimTime, emit: &mut impl FnMut(&mut FrameRecord)) {
        if self.nic.line_free_at() > now {
            self.push(self.nic.line_free_at(), Event::TryTransmit, 0);
            return;
        }
        let ready = (0..self.nic.queues()).map(|queue| (self.nic.head_ready_at(queue), queue));
        let Some((_, queue)) = ready.filter(|(ready, _)| *ready <= now).min() else {
            return;
        };
        self.nic.transmit(queue, now, emit);
        self.plan_head(queue, now);
        self.push(self.nic.line_free_at(), Event::TryTransmit, 0);
        for stream in 0..self.blocked.len() {
            if self.blocked[stream] && self.nic.queue_of(stream) == queue {
                self.blocked[stream] = false;
                self.submits[stream] += 1;
                self.push(now, Event::Submit(stream), self.submits[stream]);
            }
        }
    }
}

impl PortKernel for Reference {
    fn next_at(&mut self) -> SimTime {
        self.drop_void();
        self.heap.peek().map_or(SimTime::NEVER, |Reverse(entry)| entry.at)
    }

    fn has_frames(&self) -> bool {
        self.heap.iter().any(|Reverse(entry)| entry.event != Event::Clock && !self.is_void(entry))
    }

    fn step(&mut self, limit: Limit, emit: &mut impl FnMut(&mut FrameRecord)) -> Step {
        self.drop_void();
        let Some(&Reverse(Entry { at: now, event, .. })) = self.heap.peek() else {
            return Step::Nothing;
        };
        let is_clock = event == Event::Clock;
        if !limit.allows(now, is_clock) || (is_clock && limit == Limit::NONE && !self.has_frames()) {
            return Step::Nothing;
        }
        self.heap.pop();
        match event {
            Event::Clock => {
                self.nic.change_clock(now);
                self.clock_changed(now);
                return Step::Clock(now);
            }
            Event::Submit(stream) if self.nic.has_room(stream) => {
                self.nic.submit(stream, now);
                self.plan_fetch(self.nic.queue_of(stream));
                self.plan_submit(stream, now);
            }
            Event::Submit(stream) => {
                self.blocked[stream] = true;
                self.submits[stream] += 1;
            }
            Event::Fetch(queue) => self.fetch(queue, now),
            Event::TryTransmit => self.try_transmit(now, emit),
        }
        Step::Frame
    }

    fn clock_changed(&mut self, now: SimTime) {
        self.plan_clock();
        for stream in 0..self.submits.len() {
            if !self.blocked[stream] {
                self.plan_submit(stream, now);
            }
        }
        for queue in 0..self.nic.queues() {
            self.plan_head(queue, now);
        }
    }

    fn frame_queued(&mut self, queue: usize) {
        self.plan_fetch(queue);
    }

    fn nic(&self) -> &Nic {
        &self.nic
    }

    fn nic_mut(&mut self) -> &mut Nic {
        &mut self.nic
    }
}
