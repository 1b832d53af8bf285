//! The fast kernel of one port: slots, and the loop that empties them. This is the only code that decides order.
//!
//! Each source of the port keeps its next instant in a slot of the agenda. At equal instants the lower slot goes first:
//!
//! 1. the clock, since a step at *t* is seen by all else at *t*;
//! 2. submits, stream by stream, so that a frame handed in at *t* takes part in what is decided at *t*;
//! 3. the transmitter, so that a frame on the chip at *t* competes for the line at *t*.
//!
//! What lies between these points, the fetch too, is computed ahead, because four conditions hold: its inputs are fixed
//! then, or the one that may change (the clock) triggers re-evaluation; its result is not earlier than the present;
//! nothing can overtake it, since only the head of each queue competes; and its noise is a function of the frame's number.

use nicsim_core::agenda::Agenda;
use nicsim_core::time::SimTime;

use crate::frame::FrameRecord;
use crate::kernel::{Limit, PortKernel, Step};
use crate::nic::Nic;

const CLOCK: usize = 0;
const FIRST_SUBMIT: usize = 1;

/// One port, run by slots.
#[derive(Clone)]
pub struct Port {
    nic: Nic,
    agenda: Agenda,
    transmit: usize,
    /// Streams that wait for a descriptor of each queue.
    blocked: Vec<Vec<usize>>,
}

impl Port {
    /// A port at the scenario's start.
    pub fn new(nic: Nic) -> Self {
        let (streams, queues) = (nic.streams(), nic.queues());
        let transmit = FIRST_SUBMIT + streams;
        let mut blocked = vec![Vec::new(); queues];
        for stream in 0..streams {
            blocked[nic.queue_of(stream)].reserve(streams);
        }
        let mut port = Self { nic, agenda: Agenda::new(transmit + 1), transmit, blocked };
        port.agenda.set(CLOCK, port.nic.clock_change_at());
        (0..streams).for_each(|stream| port.refresh_submit(stream));
        port
    }

    #[inline]
    fn submit(&mut self, stream: usize, now: SimTime) {
        let queue = self.nic.queue_of(stream);
        if !self.nic.has_room(stream) {
            self.blocked[queue].push(stream);
            self.agenda.set(FIRST_SUBMIT + stream, SimTime::NEVER);
            return;
        }
        self.nic.submit(stream, now);
        self.refresh_submit(stream);
        self.fetch(queue);
    }

    /// The frame that was queued last takes part in what is transmitted once it is fetched.
    #[inline]
    fn fetch(&mut self, queue: usize) {
        self.nic.fetch(queue);
        self.agenda.set(self.transmit, self.nic.transmit_due_at());
    }

    #[inline]
    fn transmit(&mut self, now: SimTime, emit: &mut impl FnMut(&mut FrameRecord)) {
        let queue = self.nic.next_queue();
        self.nic.transmit(queue, now, emit);
        self.agenda.set(self.transmit, self.nic.transmit_due_at());
        // A descriptor came free: whoever waited for one hands in its frame now.
        for stream in self.blocked[queue].drain(..) {
            self.agenda.set(FIRST_SUBMIT + stream, now);
        }
    }

    #[inline]
    fn refresh_submit(&mut self, stream: usize) {
        let due = self.nic.submit_due_at(stream);
        self.agenda.set(FIRST_SUBMIT + stream, due);
    }
}

impl PortKernel for Port {
    #[inline]
    fn next_at(&mut self) -> SimTime {
        self.agenda.first().0
    }

    fn has_frames(&self) -> bool {
        (FIRST_SUBMIT..=self.transmit).any(|slot| self.agenda.get(slot) != SimTime::NEVER)
    }

    #[inline]
    fn step(&mut self, limit: Limit, emit: &mut impl FnMut(&mut FrameRecord)) -> Step {
        let (now, slot) = self.agenda.first();
        if !limit.allows(now, slot == CLOCK) {
            return Step::Nothing;
        }
        if slot == self.transmit {
            self.transmit(now, emit);
        } else if slot >= FIRST_SUBMIT {
            self.submit(slot - FIRST_SUBMIT, now);
        } else if limit == Limit::NONE && !self.has_frames() {
            return Step::Nothing;
        } else {
            self.nic.change_clock(now);
            self.clock_changed(now);
            return Step::Clock(now);
        }
        Step::Frame
    }

    fn clock_changed(&mut self, now: SimTime) {
        self.agenda.set(CLOCK, self.nic.clock_change_at());
        for stream in 0..self.nic.streams() {
            if !self.blocked[self.nic.queue_of(stream)].contains(&stream) {
                let due = self.nic.submit_due_at(stream).max(now);
                self.agenda.set(FIRST_SUBMIT + stream, due);
            }
        }
        self.agenda.set(self.transmit, self.nic.transmit_due_at());
    }

    fn frame_queued(&mut self, queue: usize) {
        self.fetch(queue);
    }

    fn nic(&self) -> &Nic {
        &self.nic
    }

    fn nic_mut(&mut self) -> &mut Nic {
        &mut self.nic
    }
}
