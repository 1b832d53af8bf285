//! What whoever runs a port asks of it, whichever kernel orders its events.

use nicsim_core::time::SimTime;

use crate::frame::{FrameId, FrameRecord, Refused};
use crate::nic::{ClockAction, Nic};
use crate::phc::PhcError;

/// How far a port may go on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// All before this instant is due, and at it a change of the clock.
    pub until: SimTime,
    /// Nothing after this instant is due: something else happens then, after what the port does.
    pub other: SimTime,
}

impl Limit {
    /// To the last frame.
    pub const NONE: Self = Self { until: SimTime::NEVER, other: SimTime::NEVER };

    /// Is what happens at `at` due?
    #[inline]
    pub fn allows(self, at: SimTime, is_clock: bool) -> bool {
        at <= self.other && (at < self.until || (is_clock && at == self.until))
    }
}

/// What a port did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing: nothing is due.
    Nothing,
    /// Something with a frame.
    Frame,
    /// A change of the clock.
    Clock(SimTime),
}

/// A kernel of one port: [`crate::port::Port`] or [`crate::reference::Reference`].
pub trait PortKernel {
    /// The earliest pending instant.
    fn next_at(&mut self) -> SimTime;

    /// Is anything due but changes of the clock? A drifting oscillator has those without end.
    fn has_frames(&self) -> bool;

    /// Does what comes next, if it is due; hands on the record of a frame that starts.
    fn step(&mut self, limit: Limit, emit: &mut impl FnMut(&mut FrameRecord)) -> Step;

    /// A frame from outside was put into `queue`.
    fn frame_queued(&mut self, queue: usize);

    /// The clock was changed at `now`.
    fn clock_changed(&mut self, now: SimTime);

    /// The port's hardware and driver.
    fn nic(&self) -> &Nic;

    /// The same, to receive frames.
    fn nic_mut(&mut self) -> &mut Nic;

    /// Hands in a frame of an external stream at `now`.
    ///
    /// # Errors
    /// [`Refused`] with the reason.
    fn submit_external(
        &mut self,
        stream: usize,
        size: u32,
        launch_ns: Option<u64>,
        now: SimTime,
    ) -> Result<FrameId, Refused> {
        let id = self.nic_mut().submit_external(stream, size, launch_ns, now)?;
        self.frame_queued(self.nic().queue_of(stream));
        Ok(id)
    }

    /// Adjusts or steps the PHC at `now`.
    ///
    /// # Errors
    /// [`PhcError`] when the clock refuses.
    fn adjust_clock(&mut self, action: ClockAction, now: SimTime) -> Result<(), PhcError> {
        self.nic_mut().adjust_clock(action, now)?;
        self.clock_changed(now);
        Ok(())
    }
}
