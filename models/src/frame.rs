//! What is known of a frame: identity, what it asked for, and the instants of its life.

use nicsim_core::sink::Digest;
use nicsim_core::time::{SimTime, Span};

use crate::launch::Decision;
use crate::observer::CaptureRecord;
use crate::stamp::RawStamp;

/// A frame's identity: port, stream and number in its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct FrameId {
    /// Port, in the scenario's order.
    pub port: u16,
    /// Stream, in the scenario's order.
    pub stream: u16,
    /// Number in its stream, from 0.
    pub number: u64,
}

/// A hardware stamp as software reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// What the register or descriptor held.
    pub raw: RawStamp,
    /// What the driver made of it [PHC ns].
    pub ns: u64,
    /// When software has it.
    pub read_at: SimTime,
    /// Stamp as read minus the time of the frame's start on the PHC, read exactly.
    pub error: Span,
}

/// What became of a frame's transmit stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TxStamp {
    /// Nobody asked.
    #[default]
    NotRequested,
    /// No register was free when the frame was handed in.
    NoRegister,
    /// Read.
    Read(Stamp),
}

/// Which way a frame goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Out of the NIC.
    #[default]
    Sent,
    /// From the sender on the other end of the cable.
    Received,
}

/// The whole life of one frame: ground truth, and what instruments made of it. This is what sinks receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrameRecord {
    /// Identity.
    pub id: FrameId,
    /// Which way it goes.
    pub direction: Direction,
    /// Queue that it went through.
    pub queue: u16,
    /// Frame with FCS \[octets\].
    pub size: u32,
    /// Launch time that the application asked for [PHC ns].
    pub launch_ns: Option<u64>,
    /// Descriptor word that the driver wrote.
    pub word: u32,
    /// Handed to the driver.
    pub submitted_at: SimTime,
    /// Descriptor fetched by the NIC.
    pub fetched_at: SimTime,
    /// PHC that the NIC compared the launch time with \[ns\].
    pub compared_ns: u64,
    /// What the NIC made of the launch time.
    pub decision: Decision,
    /// When the scheduler would let it go, were it alone.
    pub due_at: SimTime,
    /// When it was its queue's head and let go.
    pub ready_at: SimTime,
    /// Start of frame at the reference plane.
    pub started_at: SimTime,
    /// Start of frame minus the launch time asked for, both on the PHC, read exactly.
    pub launch_error: Option<Span>,
    /// Started after its release because the link, the queue or the fetch held it.
    pub late: bool,
    /// Transmit stamp.
    pub tx_stamp: TxStamp,
    /// Receive stamp, for a frame that a NIC received.
    pub rx_stamp: Option<Stamp>,
    /// What the capture instrument recorded when it sent the frame.
    pub sent: Option<CaptureRecord>,
    /// What the capture instrument recorded when the frame passed it.
    pub observed: Option<CaptureRecord>,
}

impl Digest for FrameRecord {
    fn words(&self, mut word: impl FnMut(u64)) {
        word(u64::from(self.id.stream) << 48 | u64::from(self.queue) << 32 | u64::from(self.size));
        word(self.id.number);
        word(self.launch_ns.unwrap_or(u64::MAX));
        word(u64::from(self.word));
        for at in [self.submitted_at, self.fetched_at, self.due_at, self.ready_at, self.started_at] {
            word(at.as_ps() as u64);
        }
        word(self.compared_ns);
        word(match self.decision {
            Decision::Unscheduled => 0,
            Decision::Unset => 1,
            Decision::Past => 2,
            Decision::Held(ns) => ns,
        });
        word(u64::from(self.late));
        word(match self.tx_stamp {
            TxStamp::NotRequested => 0,
            TxStamp::NoRegister => 1,
            TxStamp::Read(stamp) => stamp.raw.0 ^ stamp.ns.rotate_left(20) ^ stamp.read_at.as_ps() as u64,
        });
        word(self.rx_stamp.map_or(0, |stamp| stamp.raw.0 ^ stamp.ns.rotate_left(20)));
        for seen in [self.sent, self.observed].into_iter().flatten() {
            word(u64::from(seen.id) << 32 | u64::from(seen.count));
        }
    }
}

/// Why a frame could not be handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The transmit ring has no free descriptor.
    #[error("the transmit ring of queue {queue} is full")]
    RingFull {
        /// The queue.
        queue: u16,
    },
    /// The driver does not take it.
    #[error("the driver refuses the frame: it has no launch-time offload")]
    Driver,
    /// There is no such stream, or frames of this stream come from its own source.
    #[error("stream {stream} takes no frames from outside")]
    NotExternal {
        /// The stream.
        stream: u16,
    },
    /// The stream has sent all its frames.
    #[error("stream {stream} is complete")]
    Complete {
        /// The stream.
        stream: u16,
    },
}
