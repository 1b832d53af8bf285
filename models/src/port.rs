//! The fast kernel of one port: slots, and the loop that empties them. This is the only code that decides order.
//!
//! What can come next is known at any time: the clock's next change, each stream's next submit in its slot of the
//! agenda, and the earliest head or the end of what is on the line. At equal instants they go in this order:
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

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Clock,
    Submit(usize),
    Transmit,
}

/// One port, run by slots.
#[derive(Clone)]
pub struct Port {
    nic: Nic,
    /// Next submit of each stream.
    submits: Agenda,
    /// Streams that wait for a descriptor of each queue.
    blocked: Vec<Vec<usize>>,
}

impl Port {
    /// A port at the scenario's start.
    pub fn new(nic: Nic) -> Self {
        let streams = nic.streams();
        let mut blocked = vec![Vec::new(); nic.queues()];
        for stream in 0..streams {
            blocked[nic.queue_of(stream)].reserve(streams);
        }
        let mut port = Self { nic, submits: Agenda::new(streams), blocked };
        (0..streams).for_each(|stream| port.refresh_submit(stream));
        port
    }

    /// What comes next, and when. This is the order of a port.
    #[inline]
    fn next(&self) -> (SimTime, Next) {
        let clock_at = self.nic.clock_change_at();
        let (submit_at, stream) = self.submits.first();
        let transmit_at = self.nic.transmit_due_at();
        if clock_at <= submit_at.min(transmit_at) {
            (clock_at, Next::Clock)
        } else if submit_at <= transmit_at {
            (submit_at, Next::Submit(stream))
        } else {
            (transmit_at, Next::Transmit)
        }
    }

    #[inline]
    fn submit(&mut self, stream: usize, now: SimTime) {
        let queue = self.nic.queue_of(stream);
        if !self.nic.has_room(stream) {
            self.blocked[queue].push(stream);
            self.submits.set(stream, SimTime::NEVER);
            return;
        }
        self.nic.submit(stream, now);
        self.refresh_submit(stream);
        self.nic.fetch(queue);
    }

    #[inline]
    fn transmit(&mut self, now: SimTime, emit: &mut impl FnMut(&mut FrameRecord)) {
        let queue = self.nic.next_queue();
        self.nic.transmit(queue, now, emit);
        // A descriptor came free: whoever waited for one hands in its frame now.
        for stream in self.blocked[queue].drain(..) {
            self.submits.set(stream, now);
        }
    }

    #[inline]
    fn refresh_submit(&mut self, stream: usize) {
        let due = self.nic.submit_due_at(stream);
        self.submits.set(stream, due);
    }
}

impl PortKernel for Port {
    #[inline]
    fn next_at(&mut self) -> SimTime {
        self.next().0
    }

    fn has_frames(&self) -> bool {
        self.submits.first().0 != SimTime::NEVER || self.nic.transmit_due_at() != SimTime::NEVER
    }

    #[inline]
    fn step(&mut self, limit: Limit, emit: &mut impl FnMut(&mut FrameRecord)) -> Step {
        let (now, next) = self.next();
        if !limit.allows(now, next == Next::Clock) {
            return Step::Nothing;
        }
        match next {
            Next::Transmit => self.transmit(now, emit),
            Next::Submit(stream) => self.submit(stream, now),
            Next::Clock if limit == Limit::NONE && !self.has_frames() => return Step::Nothing,
            Next::Clock => {
                self.nic.change_clock(now);
                self.clock_changed(now);
                return Step::Clock(now);
            }
        }
        Step::Frame
    }

    fn clock_changed(&mut self, now: SimTime) {
        for stream in 0..self.nic.streams() {
            if !self.blocked[self.nic.queue_of(stream)].contains(&stream) {
                let due = self.nic.submit_due_at(stream).max(now);
                self.submits.set(stream, due);
            }
        }
    }

    fn frame_queued(&mut self, queue: usize) {
        self.nic.fetch(queue);
    }

    fn nic(&self) -> &Nic {
        &self.nic
    }

    fn nic_mut(&mut self) -> &mut Nic {
        &mut self.nic
    }
}
