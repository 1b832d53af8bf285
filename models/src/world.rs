//! The world: a NIC's port, a sender on the other end of the cable, the capture instrument on it, and the
//! step-wise interface to them all.
//!
//! A world answers when something happens next, does what precedes a given instant, takes frames and clock
//! adjustments at the present, and tells what happened. A whole run is a loop over that.

use std::collections::VecDeque;

use nicsim_core::grid::Period;
use nicsim_core::rng::Key;
use nicsim_core::sink::Sink;
use nicsim_core::time::{SimTime, Span};

use crate::frame::{Direction, FrameId, FrameRecord, Refused, TxStamp};
use crate::kernel::{Limit, PortKernel, Step};
use crate::nic::{ClockAction, Counts, Nic, NicSetup};
use crate::observer::{Observer, ObserverParameters, SetupError};
use crate::oscillator::OscillatorSpec;
use crate::phc::PhcError;
use crate::port::Port;
use crate::reference::Reference;
use crate::sender::{Departure, Sender, SenderParameters};
use crate::source::StreamSetup;

/// Which kernel orders a port's events; both give the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KernelKind {
    /// Slots.
    #[default]
    Slots,
    /// A heap of events.
    Reference,
}

/// A sender at the other end of the cable.
#[derive(Debug, Clone, PartialEq)]
pub struct SenderSetup {
    /// What it is.
    pub parameters: SenderParameters,
    /// Its oscillator.
    pub oscillator: OscillatorSpec,
    /// Its streams.
    pub streams: Vec<StreamSetup>,
}

/// A capture instrument on the cable.
#[derive(Debug, Clone, PartialEq)]
pub struct ObserverSetup {
    /// What it is.
    pub parameters: ObserverParameters,
    /// Its oscillator.
    pub oscillator: OscillatorSpec,
}

/// All that a run needs; a run is a function of this.
#[derive(Clone)]
pub struct WorldSetup {
    /// Master seed.
    pub seed: u64,
    /// Run number under it.
    pub run: u64,
    /// Which kernel.
    pub kernel: KernelKind,
    /// The NIC, if there is one.
    pub nic: Option<NicSetup>,
    /// Streams that the NIC sends.
    pub streams: Vec<StreamSetup>,
    /// The sender, if there is one; its frames go to the NIC, or to the observer where there is none.
    pub sender: Option<SenderSetup>,
    /// The capture instrument, if there is one.
    pub observer: Option<ObserverSetup>,
    /// From the start of a frame at one end of the cable to its start at the other.
    pub link_delay: Span,
}

/// A clock of the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClockId {
    /// The PHC of a port's card.
    Phc {
        /// The port.
        port: u16,
    },
}

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A frame started on the line.
    Sent {
        /// The frame.
        frame: FrameId,
        /// Its start.
        at: SimTime,
    },
    /// Software has a transmit stamp.
    StampReady {
        /// The frame.
        frame: FrameId,
        /// The stamp as read [PHC ns].
        ns: u64,
        /// When.
        at: SimTime,
    },
    /// A frame went without the stamp that was asked for.
    StampLost {
        /// The frame.
        frame: FrameId,
        /// When it started.
        at: SimTime,
    },
    /// A frame arrived at a NIC.
    Received {
        /// The frame.
        frame: FrameId,
        /// Its receive stamp, if the NIC stamps [PHC ns].
        stamp_ns: Option<u64>,
        /// Its start at the NIC.
        at: SimTime,
    },
    /// A clock was adjusted or stepped.
    ClockChanged {
        /// The clock.
        clock: ClockId,
        /// When.
        at: SimTime,
    },
}

impl Event {
    /// When it happened.
    pub fn at(&self) -> SimTime {
        match *self {
            Self::Sent { at, .. }
            | Self::StampReady { at, .. }
            | Self::StampLost { at, .. }
            | Self::Received { at, .. }
            | Self::ClockChanged { at, .. } => at,
        }
    }
}

/// Why a clock could not be read or changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClockError {
    /// There is no such clock.
    #[error("this world has no clock {0:?}")]
    NoClock(ClockId),
    /// The clock refuses.
    #[error(transparent)]
    Refused(#[from] PhcError),
}

#[derive(Clone)]
enum Kernel {
    Slots(Box<Port>),
    Reference(Box<Reference>),
}

/// Calls the same method of whichever kernel runs the port.
macro_rules! with_port {
    ($kernel:expr, $port:ident => $call:expr) => {
        match $kernel {
            Kernel::Slots($port) => $call,
            Kernel::Reference($port) => $call,
        }
    };
}

/// Events that later ones may still precede, in order of their instants.
#[derive(Debug, Clone, Default)]
struct Events {
    enabled: bool,
    happened: VecDeque<Event>,
    /// Stamps on their way to software; read in order.
    stamps: VecDeque<Event>,
}

/// A running world.
#[derive(Clone)]
pub struct World {
    port: Option<Kernel>,
    sender: Option<Sender>,
    /// The sender's next frame, which nothing can influence any more; it counts when it arrives.
    arriving: Option<Departure>,
    observer: Option<Observer>,
    link_delay: Span,
    /// Streams of the NIC, and of all: frame k of stream s is number k · all + s on the line.
    nic_streams: u64,
    all_streams: u64,
    now: SimTime,
    events: Events,
}

impl World {
    /// A world at the scenario's start.
    ///
    /// # Errors
    /// [`SetupError`] when a rate or a noise expression is out of range.
    pub fn new(setup: &WorldSetup) -> Result<Self, SetupError> {
        let root = Key::root(setup.seed, setup.run);
        let instrument = root.named("instrument");
        let sender_streams = setup.sender.as_ref().map_or(0, |sender| sender.streams.len());
        let nic_streams = setup.streams.len();
        let all_streams = (nic_streams + sender_streams).max(1) as u64;
        let nic = setup.nic.as_ref().map(|nic| Nic::new(nic, 0, &setup.streams, sender_streams, root.named("nic")));
        let port = nic.transpose()?.map(|nic| match setup.kernel {
            KernelKind::Slots => Kernel::Slots(Box::new(Port::new(nic))),
            KernelKind::Reference => Kernel::Reference(Box::new(Reference::new(nic))),
        });
        let sender = setup.sender.as_ref().map(|sender| {
            let numbering = (nic_streams as u64, all_streams);
            Sender::new(
                &sender.parameters,
                sender.oscillator,
                &sender.streams,
                numbering,
                instrument,
                root.named("sender"),
            )
        });
        let observer = setup.observer.as_ref().map(|o| Observer::new(&o.parameters, o.oscillator, 0, instrument));
        Ok(Self {
            port,
            sender: sender.transpose()?,
            arriving: None,
            observer: observer.transpose()?,
            link_delay: setup.link_delay,
            nic_streams: nic_streams as u64,
            all_streams,
            now: SimTime::ZERO,
            events: Events::default(),
        })
    }

    /// Keeps what happens for [`World::events`] from now on.
    pub fn enable_events(&mut self) {
        self.events.enabled = true;
    }

    /// The present: what was advanced to last.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// The earliest pending instant, or never. With events enabled, stamps that software is about to have count.
    pub fn next_at(&mut self) -> SimTime {
        let front = |queue: &VecDeque<Event>| queue.front().map_or(SimTime::NEVER, Event::at);
        let stamp = front(&self.events.stamps).min(front(&self.events.happened));
        self.port_next_at().min(self.sender_next_at()).min(stamp)
    }

    /// Is a frame on its way, or still to come from a source of its own? Without one only clocks change.
    pub fn has_frames(&mut self) -> bool {
        self.port.as_ref().is_some_and(|port| with_port!(port, port => port.has_frames()))
            || self.sender_next_at() != SimTime::NEVER
    }

    fn port_next_at(&mut self) -> SimTime {
        self.port.as_mut().map_or(SimTime::NEVER, |port| with_port!(port, port => port.next_at()))
    }

    fn sender_next_at(&mut self) -> SimTime {
        if self.arriving.is_none() {
            self.arriving = self.sender.as_mut().and_then(Sender::send);
        }
        self.arriving.map_or(SimTime::NEVER, |departure| departure.at + self.link_delay)
    }

    /// Does all before `until`, and at `until` what precedes submits (clock changes). Afterwards the present is
    /// `until`, and nothing that a submit then could still change has been decided. `SimTime::NEVER` runs until no frame
    /// is left, and the present becomes the last event's.
    pub fn advance_to(&mut self, until: SimTime, sink: &mut impl Sink<FrameRecord>) {
        loop {
            let sender = self.sender_next_at();
            self.advance_port(Limit { until, other: sender }, sink);
            if sender >= until {
                break;
            }
            self.step_sender(sink);
        }
        let present = if until == SimTime::NEVER { self.events.last_at() } else { until };
        self.now = self.now.max(present);
    }

    /// Does what is due at the port before the next frame of the sender, which changes nothing there.
    fn advance_port(&mut self, limit: Limit, sink: &mut impl Sink<FrameRecord>) {
        let Some(port) = &mut self.port else {
            return;
        };
        let (observer, events, delay, all) = (&mut self.observer, &mut self.events, self.link_delay, self.all_streams);
        with_port!(port, port => loop {
            let step = port.step(limit, &mut |record| {
                let number = record.id.number * all + u64::from(record.id.stream);
                record.observed = observer.as_mut().map(|o| o.see(number, record.size, record.started_at + delay));
                events.sent(record);
                sink.take(record);
            });
            match step {
                Step::Nothing => break,
                Step::Frame => {}
                Step::Clock(at) => events.clock_changed(ClockId::Phc { port: 0 }, at),
            }
        });
    }

    fn step_sender(&mut self, sink: &mut impl Sink<FrameRecord>) {
        let Some(departure) = self.arriving.take() else {
            return;
        };
        let arrived_at = departure.at + self.link_delay;
        let mut record = self.record_of(&departure);
        match &mut self.port {
            Some(port) => {
                let nic = with_port!(port, port => port.nic_mut());
                record.rx_stamp = nic.receive(departure.stream, departure.number, departure.size, arrived_at);
            }
            None => {
                let number = departure.number * self.all_streams + u64::from(record.id.stream);
                record.observed = self.observer.as_mut().map(|o| o.see(number, departure.size, arrived_at));
            }
        }
        self.events.received(&record, arrived_at);
        sink.take(&record);
    }

    fn record_of(&self, departure: &Departure) -> FrameRecord {
        FrameRecord {
            id: FrameId {
                port: 0,
                stream: self.nic_streams as u16 + departure.stream as u16,
                number: departure.number,
            },
            direction: Direction::Received,
            size: departure.size,
            submitted_at: departure.at,
            started_at: departure.at,
            sent: departure.stamp,
            ..FrameRecord::default()
        }
    }

    /// Hands in a frame of an external stream at the present: `size` octets with FCS, to start at `launch_ns`.
    ///
    /// # Errors
    /// [`Refused`] with the reason; nothing is changed then but the count of the driver's refusals.
    pub fn submit(&mut self, stream: usize, size: u32, launch_ns: Option<u64>) -> Result<FrameId, Refused> {
        let now = self.now;
        match &mut self.port {
            Some(port) => with_port!(port, port => port.submit_external(stream, size, launch_ns, now)),
            None => Err(Refused::NotExternal { stream: stream as u16 }),
        }
    }

    /// Takes the events up to the present, in order.
    pub fn events(&mut self) -> impl Iterator<Item = Event> + '_ {
        let now = self.now;
        std::iter::from_fn(move || self.events.next(now))
    }

    /// What a clock's register reads at the present \[ns\].
    ///
    /// # Errors
    /// [`ClockError::NoClock`].
    pub fn read_clock(&self, clock: ClockId) -> Result<u64, ClockError> {
        match (&self.port, clock) {
            (Some(port), ClockId::Phc { port: 0 }) => Ok(with_port!(port, port => port.nic().read_phc(self.now))),
            _ => Err(ClockError::NoClock(clock)),
        }
    }

    /// Adjusts, steps or sets a clock at the present.
    ///
    /// # Errors
    /// [`ClockError`] when there is no such clock or it refuses; nothing is changed then.
    pub fn adjust_clock(&mut self, clock: ClockId, action: ClockAction) -> Result<(), ClockError> {
        let now = self.now;
        match (&mut self.port, clock) {
            (Some(port), ClockId::Phc { port: 0 }) => with_port!(port, port => port.adjust_clock(action, now))?,
            _ => return Err(ClockError::NoClock(clock)),
        }
        self.events.clock_changed(clock, now);
        Ok(())
    }

    /// Counts of a stream of the NIC.
    pub fn counts(&self, stream: usize) -> Counts {
        self.port.as_ref().map_or_else(Counts::default, |port| with_port!(port, port => port.nic().counts(stream)))
    }

    /// Malicious-driver events that the NIC reported.
    pub fn malicious_driver_events(&self) -> u64 {
        self.port.as_ref().map_or(0, |port| with_port!(port, port => port.nic().malicious_driver_events()))
    }

    /// Tick of the capture instrument.
    pub fn observer_tick(&self) -> Option<Period> {
        self.observer.as_ref().map(Observer::tick)
    }
}

impl Events {
    fn clock_changed(&mut self, clock: ClockId, at: SimTime) {
        if self.enabled {
            self.add(Event::ClockChanged { clock, at });
        }
    }

    /// Puts an event into its place: frames on the cable arrive later than what happens meanwhile.
    fn add(&mut self, event: Event) {
        let place = self.happened.iter().rposition(|earlier| earlier.at() <= event.at()).map_or(0, |place| place + 1);
        self.happened.insert(place, event);
    }

    /// When the last of them happens.
    fn last_at(&self) -> SimTime {
        let last = |queue: &VecDeque<Event>| queue.back().map_or(SimTime::ZERO, Event::at);
        last(&self.happened).max(last(&self.stamps))
    }

    #[inline]
    fn sent(&mut self, record: &FrameRecord) {
        if !self.enabled {
            return;
        }
        self.add(Event::Sent { frame: record.id, at: record.started_at });
        match record.tx_stamp {
            TxStamp::Read(stamp) => {
                self.stamps.push_back(Event::StampReady { frame: record.id, ns: stamp.ns, at: stamp.read_at });
            }
            TxStamp::NoRegister => {
                self.add(Event::StampLost { frame: record.id, at: record.started_at });
            }
            TxStamp::NotRequested => {}
        }
    }

    fn received(&mut self, record: &FrameRecord, at: SimTime) {
        if self.enabled {
            let stamp_ns = record.rx_stamp.map(|stamp| stamp.ns);
            self.add(Event::Received { frame: record.id, stamp_ns, at });
        }
    }

    /// The earlier of the next event and the next stamp, if it is not after `now`.
    fn next(&mut self, now: SimTime) -> Option<Event> {
        let at = |queue: &VecDeque<Event>| queue.front().map_or(SimTime::NEVER, Event::at);
        let (happened, stamp) = (at(&self.happened), at(&self.stamps));
        let queue = if stamp < happened { &mut self.stamps } else { &mut self.happened };
        if happened.min(stamp) <= now { queue.pop_front() } else { None }
    }
}
