//! One port of a NIC with its driver: what happens at a submit, at a fetch, at a transmission, at a clock change.
//!
//! Each method is one instant's rule and is told the instant; none decides what comes next. The two kernels
//! ([`crate::port`], [`crate::reference`]) share these rules and nothing else.

use nicsim_core::agenda::Agenda;
use nicsim_core::grid::Grid;
use nicsim_core::noise::Noise;
use nicsim_core::ring::Ring;
use nicsim_core::rng::Key;
use nicsim_core::time::{ClockTime, SimTime};

use crate::driver::{self, Driver, TimeRing, View, WrapRule};
use crate::frame::{Direction, FrameId, FrameRecord, Refused, Stamp, TxStamp};
use crate::launch::{self, Compare, Decision, LaunchParameters};
use crate::mac::{self, Speed};
use crate::observer::SetupError;
use crate::oscillator::{Oscillator, OscillatorSpec};
use crate::phc::{Osc, Phc, PhcError, PhcTime};
use crate::release::{Release, uniform_below};
use crate::source::{Source, StreamSetup};
use crate::spec::NicSpec;
use crate::stamp::{self, CachedPhc, RawStamp, Readout, WordClock};

/// What a scenario does to a PHC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockAction {
    /// Frequency adjustment [2^-16 ppm].
    Adjfine(i64),
    /// Step by this many nanoseconds.
    Adjtime(i64),
    /// Set to this many nanoseconds.
    Settime(u64),
}

/// A NIC with its driver, as a world needs it.
#[derive(Clone)]
pub struct NicSetup {
    /// The checked description.
    pub spec: NicSpec,
    /// Index of the release-jitter alternative in it.
    pub jitter: usize,
    /// The driver.
    pub driver: &'static driver::Entry,
    /// Speed of the line.
    pub speed: Speed,
    /// Transmit descriptors per queue.
    pub ring_len: u32,
    /// What the PHC reads at the scenario's start \[ns\].
    pub phc_start_ns: u64,
    /// The card's oscillator.
    pub oscillator: OscillatorSpec,
    /// What is done to the PHC, in order of time.
    pub clock_actions: Vec<(SimTime, ClockAction)>,
}

/// What the streams of a port did so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Frames that the driver took.
    pub submitted: u64,
    /// Frames that the driver refused.
    pub refused: u64,
}

/// A frame in a queue: what is known of it until it takes the line, see [`FrameRecord`].
#[derive(Debug, Clone, Copy, Default)]
struct Queued {
    stream: u16,
    register: Register,
    size: u32,
    word: u32,
    number: u64,
    launch_ns: Option<u64>,
    submitted_at: SimTime,
    /// When its fetch completes.
    fetched_at: SimTime,
    compared_ns: u64,
    decision: Decision,
    due_at: SimTime,
    ready_at: SimTime,
}

/// A frame's transmit stamp register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Register {
    #[default]
    NotRequested,
    NoneFree,
    Held,
}

impl Queued {
    /// The record of a frame that leaves queue `queue` of `port`: what is still to happen to it is missing.
    #[inline]
    fn record(&self, port: u16, queue: usize) -> FrameRecord {
        FrameRecord {
            id: FrameId { port, stream: self.stream, number: self.number },
            direction: Direction::Sent,
            queue: queue as u16,
            size: self.size,
            launch_ns: self.launch_ns,
            word: self.word,
            submitted_at: self.submitted_at,
            fetched_at: self.fetched_at,
            compared_ns: self.compared_ns,
            decision: self.decision,
            due_at: self.due_at,
            ready_at: self.ready_at,
            ..FrameRecord::default()
        }
    }
}

#[derive(Debug, Clone)]
struct Queue {
    /// Frames in order; the fetches of the first `fetched` of them were worked out.
    frames: Ring<Queued>,
    fetched: usize,
    /// Index after the last transmit descriptor written.
    tail: u32,
    time_ring: Option<TimeRing>,
    last_fetch_at: SimTime,
}

#[derive(Debug, Clone)]
struct Stream {
    source: Source,
    queue: usize,
    size: u32,
    tx_stamps: bool,
    fetch: Noise,
    stamp: Option<Noise>,
    counts: Counts,
}

/// One port of a NIC with its driver.
#[derive(Clone)]
pub struct Nic {
    port: u16,
    phc: Phc,
    oscillator: Oscillator<Osc>,
    driver: &'static dyn Driver,
    wrap: WrapRule,
    launch: Option<LaunchParameters>,
    release: Option<Release>,
    speed: Speed,
    blocks: Option<Grid>,
    free_at: SimTime,
    readout: Option<Readout>,
    cached: CachedPhc,
    receive: Option<Receive>,
    ring_len: u32,
    queues: Vec<Queue>,
    /// When the head of each queue is let go.
    heads: Agenda,
    streams: Vec<Stream>,
    clock_actions: Vec<(SimTime, ClockAction)>,
    next_action: usize,
    malicious_driver_events: u64,
}

/// The receive stamping path.
#[derive(Clone)]
struct Receive {
    word: Option<WordClock<Osc>>,
    jitter: Vec<Noise>,
}

impl Nic {
    /// A port whose own streams are `streams`; it receives `received` further ones. `key` draws all its phases and noise.
    ///
    /// # Errors
    /// [`SetupError`] when a rate or a noise expression is out of range.
    pub fn new(
        setup: &NicSetup,
        port: u16,
        streams: &[StreamSetup],
        received: usize,
        key: Key,
    ) -> Result<Self, SetupError> {
        let spec = &setup.spec;
        let phc = Phc::new(spec.phc_parameters(), setup.phc_start_ns)?;
        let keys: Vec<Key> = (0..streams.len()).map(|k| key.named("stream").child(k as u64)).collect();
        let queues = streams.iter().map(|s| usize::from(s.queue) + 1).max().unwrap_or(0);
        let release = match spec.jitter.get(setup.jitter) {
            Some(jitter) => Some(Release::new(&jitter.release.value, key, &keys, &phc)?),
            None => None,
        };
        let queue = Queue {
            frames: Ring::new(setup.ring_len as usize),
            fetched: 0,
            tail: 0,
            time_ring: spec.launch.as_ref().map(|l| TimeRing::new(setup.ring_len, l.descriptor_fetch.value)),
            last_fetch_at: SimTime::ZERO,
        };
        Ok(Self {
            port,
            oscillator: Oscillator::new(setup.oscillator),
            driver: setup.driver.driver,
            wrap: setup.driver.driver.time_ring_wrap().unwrap_or(WrapRule::Plain),
            launch: spec.launch.as_ref().map(crate::spec::LaunchSpec::parameters),
            release,
            speed: setup.speed,
            blocks: spec
                .mac
                .start_grid
                .as_ref()
                .map(|grid| Grid::new(grid.value, uniform_below(key.named("start grid"), grid.value))),
            free_at: SimTime::ZERO,
            readout: spec.tx_stamp.as_ref().map(|stamps| Readout::new(stamps.readout(), key.named("readout"))),
            cached: CachedPhc::new(spec.phc.cache_refresh.value, &phc),
            receive: receive_path(spec, received, key.named("receive"))?,
            ring_len: setup.ring_len,
            queues: vec![queue; queues],
            heads: Agenda::new(queues),
            streams: streams.iter().zip(&keys).map(|(s, key)| stream(spec, s, *key)).collect::<Result<_, _>>()?,
            clock_actions: setup.clock_actions.clone(),
            next_action: 0,
            malicious_driver_events: 0,
            phc,
        })
    }

    /// Number of streams that the port sends.
    #[inline]
    pub fn streams(&self) -> usize {
        self.streams.len()
    }

    /// Number of queues in use.
    pub fn queues(&self) -> usize {
        self.queues.len()
    }

    /// Queue of a stream.
    #[inline]
    pub fn queue_of(&self, stream: usize) -> usize {
        self.streams[stream].queue
    }

    /// Counts of a stream that the port sends; none for others.
    pub fn counts(&self, stream: usize) -> Counts {
        self.streams.get(stream).map_or_else(Counts::default, |stream| stream.counts)
    }

    /// Malicious-driver events that the hardware reported.
    pub fn malicious_driver_events(&self) -> u64 {
        self.malicious_driver_events
    }

    /// The PHC as software reads it at `now` \[ns\].
    pub fn read_phc(&self, now: SimTime) -> u64 {
        self.phc.register(self.oscillator.map().at(now)).ns
    }

    // ---- clock ----

    /// When the oscillator or the scenario changes the clock next.
    #[inline]
    pub fn clock_change_at(&self) -> SimTime {
        let action = self.clock_actions.get(self.next_action).map_or(SimTime::NEVER, |action| action.0);
        action.min(self.oscillator.next_change())
    }

    /// Does the clock change that is due at `now`, and works out again what comes after it.
    pub fn change_clock(&mut self, now: SimTime) {
        if self.oscillator.next_change() <= now {
            self.oscillator.change(now);
        }
        while let Some(&(at, action)) = self.clock_actions.get(self.next_action)
            && at <= now
        {
            self.next_action += 1;
            // The scenario was checked against the clock's range; a refused adjustment changes nothing.
            let _ = self.apply(action, now);
        }
        self.re_evaluate(now);
    }

    /// Adjusts or steps the PHC at `now` from outside.
    ///
    /// # Errors
    /// [`PhcError`] when the clock refuses; nothing is changed then.
    pub fn adjust_clock(&mut self, action: ClockAction, now: SimTime) -> Result<(), PhcError> {
        self.apply(action, now)?;
        self.re_evaluate(now);
        Ok(())
    }

    fn apply(&mut self, action: ClockAction, now: SimTime) -> Result<(), PhcError> {
        let osc = self.oscillator.map().at(now);
        match action {
            ClockAction::Adjfine(scaled_ppm) => self.phc.adjfine(osc, scaled_ppm)?,
            ClockAction::Adjtime(delta_ns) => self.phc.adjtime(delta_ns),
            ClockAction::Settime(ns) => self.phc.settime(osc, ns),
        }
        self.cached.invalidate(now, &self.phc, &self.oscillator);
        Ok(())
    }

    /// The new clock is seen by every fetch that completes at `now` or later. A head that was let go already stays so,
    /// the others are let go when the new clock says, but not before `now`.
    fn re_evaluate(&mut self, now: SimTime) {
        for queue in 0..self.queues.len() {
            self.compare_again(queue, now);
            if self.queues[queue].fetched > 0 && self.heads.get(queue) >= now {
                self.let_go(queue, now);
            }
        }
    }

    /// Makes the comparisons of `queue` again that lie at `now` or later: of the last frames, or of the head.
    fn compare_again(&mut self, queue: usize, now: SimTime) {
        let fetched = self.queues[queue].fetched;
        let compared = if self.compares(Compare::Fetch) { fetched } else { fetched.min(1) };
        for index in (0..compared).rev() {
            match self.queues[queue].frames.get(index) {
                Some(frame) if frame.fetched_at >= now => self.compare(queue, index, frame.fetched_at),
                _ => return,
            }
        }
    }

    // ---- submit ----

    /// When the next frame of `stream` reaches the driver, were its ring never full.
    #[inline]
    pub fn submit_due_at(&mut self, stream: usize) -> SimTime {
        self.streams[stream].source.due_at(&self.phc, &self.oscillator)
    }

    /// Does the queue of `stream` have a free descriptor?
    #[inline]
    pub fn has_room(&self, stream: usize) -> bool {
        !self.queues[self.streams[stream].queue].frames.is_full()
    }

    /// The next frame of `stream` is handed to the driver at `now`.
    #[inline]
    pub fn submit(&mut self, stream: usize, now: SimTime) {
        let source = &self.streams[stream].source;
        let (launch_ns, size) = (source.launch_ns(), self.streams[stream].size);
        // Internal sources wait for room, and the scenario was checked against the driver; a refusal is counted.
        let _ = self.hand_in(stream, size, launch_ns, now);
        self.streams[stream].source.advance(now);
    }

    /// A frame of an external stream is handed to the driver at `now`.
    ///
    /// # Errors
    /// [`Refused`] when the stream has a source of its own, is complete, the ring is full or the driver refuses.
    pub fn submit_external(
        &mut self,
        stream: usize,
        size: u32,
        launch_ns: Option<u64>,
        now: SimTime,
    ) -> Result<FrameId, Refused> {
        let number = stream as u16;
        let source = match self.streams.get(stream) {
            Some(stream) if stream.source.is_external() => &stream.source,
            _ => return Err(Refused::NotExternal { stream: number }),
        };
        if source.is_complete() {
            return Err(Refused::Complete { stream: number });
        }
        let id = self.hand_in(stream, size, launch_ns, now)?;
        self.streams[stream].source.advance(now);
        Ok(id)
    }

    #[inline]
    fn hand_in(&mut self, stream: usize, size: u32, launch_ns: Option<u64>, now: SimTime) -> Result<FrameId, Refused> {
        let result = self.write_descriptor(stream, size, launch_ns, now);
        let counts = &mut self.streams[stream].counts;
        match result {
            Ok(_) => counts.submitted += 1,
            Err(Refused::Driver) => counts.refused += 1,
            // A full ring: whoever hands frames in may do so again.
            Err(_) => {}
        }
        result
    }

    /// The driver writes the frame's descriptors and rings the doorbell.
    #[inline]
    fn write_descriptor(
        &mut self,
        stream: usize,
        size: u32,
        launch_ns: Option<u64>,
        now: SimTime,
    ) -> Result<FrameId, Refused> {
        let sender = &mut self.streams[stream];
        let (number, queue_index) = (sender.source.number(), sender.queue);
        let queue = &mut self.queues[queue_index];
        if queue.frames.is_full() {
            return Err(Refused::RingFull { queue: queue_index as u16 });
        }
        let tail = queue.tail + 1;
        let mut word = 0;
        if let Some(launch_ns) = launch_ns {
            let view =
                View { now_ns: self.phc.register(self.oscillator.map().at(now)).ns, tail, ring_len: self.ring_len };
            word = self.driver.encode_launch(&view, launch_ns).map_err(|_| Refused::Driver)?.word;
            let posted = queue.time_ring.as_mut().map(|ring| ring.post(self.wrap));
            self.malicious_driver_events += u64::from(posted.is_some_and(|posted| posted.malicious_driver_event));
        }
        queue.tail = if tail == self.ring_len { 0 } else { tail };
        let register = match self.readout.as_mut().filter(|_| sender.tx_stamps).map(|readout| readout.request(now)) {
            Some(true) => Register::Held,
            Some(false) => Register::NoneFree,
            None => Register::NotRequested,
        };
        let fetched_at = (now + sender.fetch.sample(number, size)).max(now).max(queue.last_fetch_at);
        queue.last_fetch_at = fetched_at;
        let pushed = queue.frames.push(Queued {
            stream: stream as u16,
            register,
            size,
            word,
            number,
            launch_ns,
            submitted_at: now,
            fetched_at,
            compared_ns: 0,
            decision: Decision::Unscheduled,
            due_at: SimTime::ZERO,
            ready_at: SimTime::ZERO,
        });
        debug_assert!(pushed, "room was checked above");
        Ok(FrameId { port: self.port, stream: stream as u16, number })
    }

    // ---- fetch ----

    /// When the fetch of the frame that was queued last completes.
    pub fn last_fetch_at(&self, queue: usize) -> SimTime {
        self.queues[queue].last_fetch_at
    }

    /// Works out the next fetch of `queue`, which may complete later: only a change of the clock until then can alter
    /// what it finds, and that makes it anew (see [`Nic::change_clock`]).
    #[inline]
    pub fn fetch(&mut self, queue: usize) {
        let index = self.queues[queue].fetched;
        let Some(frame) = self.queues[queue].frames.get(index) else {
            return;
        };
        let fetched_at = frame.fetched_at;
        if self.compares(Compare::Fetch) {
            self.compare(queue, index, fetched_at);
        }
        self.queues[queue].fetched += 1;
        if index == 0 {
            self.reach_head(queue, fetched_at);
        }
    }

    #[inline]
    fn compares(&self, when: Compare) -> bool {
        self.launch.as_ref().is_some_and(|launch| launch.compare == when)
    }

    /// The NIC compares a frame's launch-time field with its PHC.
    #[inline]
    fn compare(&mut self, queue: usize, index: usize, now: SimTime) {
        let compared_ns = self.read_phc(now);
        let (Some(launch), Some(frame)) = (&self.launch, self.queues[queue].frames.get_mut(index)) else {
            return;
        };
        if frame.launch_ns.is_some() {
            frame.compared_ns = compared_ns;
            frame.decision = launch::decode(launch, u64::from(frame.word), compared_ns);
        }
    }

    // ---- release ----

    /// The first frame of `queue` is its head from `now` on, or from when its fetch completes.
    #[inline]
    fn reach_head(&mut self, queue: usize, now: SimTime) {
        if self.compares(Compare::Head) {
            let fetched_at = self.queues[queue].frames.get(0).map_or(now, |frame| frame.fetched_at);
            self.compare(queue, 0, fetched_at.max(now));
        }
        self.let_go(queue, now);
    }

    /// Works out when the head of `queue` is let go, not before `now` and its fetch.
    #[inline]
    fn let_go(&mut self, queue: usize, now: SimTime) {
        let Some(frame) = self.queues[queue].frames.get_mut(0) else {
            return;
        };
        frame.due_at = match (frame.decision, &mut self.release) {
            (Decision::Held(ns), Some(release)) => {
                let launch = self.phc.time_of(ns);
                release.at(launch, usize::from(frame.stream), frame.number, frame.size, &self.phc, &self.oscillator)
            }
            _ => frame.fetched_at,
        };
        frame.ready_at = frame.due_at.max(frame.fetched_at).max(now);
        self.heads.set(queue, frame.ready_at);
    }

    // ---- transmit ----

    /// When the next frame can start: the earliest head, or the end of what is on the line.
    #[inline]
    pub fn transmit_due_at(&self) -> SimTime {
        self.heads.first().0.max(self.free_at)
    }

    /// When the line comes free.
    pub fn line_free_at(&self) -> SimTime {
        self.free_at
    }

    /// When the head of `queue` is let go.
    pub fn head_ready_at(&self, queue: usize) -> SimTime {
        self.heads.get(queue)
    }

    /// The queue whose head goes next: the one let go first, the lowest of several.
    #[inline]
    pub fn next_queue(&self) -> usize {
        self.heads.first().1
    }

    /// The head of `queue` takes the line at `now`; hands on its record, complete but for what observers see.
    #[inline]
    pub fn transmit(&mut self, queue: usize, now: SimTime, emit: &mut impl FnMut(&mut FrameRecord)) {
        let sender = &mut self.queues[queue];
        let Some(frame) = sender.frames.pop() else {
            return;
        };
        sender.fetched -= 1;
        let is_next_fetched = sender.fetched > 0;
        let mut record = frame.record(self.port, queue);
        record.started_at = mac::start_at(now, self.blocks.as_ref(), self.oscillator.map());
        let osc = self.oscillator.map().at(record.started_at);
        let on_phc = self.phc.line().at(osc);
        record.late = matches!(record.decision, Decision::Held(_)) && now > record.due_at;
        record.launch_error = record.launch_ns.map(|launch_ns| on_phc - self.phc.time_of(launch_ns));
        // Octets are as long as the card's own oscillator makes them.
        self.free_at = self.oscillator.map().when(osc + self.speed.wire_time(record.size));
        record.tx_stamp = match frame.register {
            Register::Held => self.stamp(record.id, record.size, osc, on_phc),
            Register::NoneFree => TxStamp::NoRegister,
            Register::NotRequested => TxStamp::NotRequested,
        };
        if is_next_fetched {
            self.reach_head(queue, now);
        } else {
            self.heads.set(queue, SimTime::NEVER);
        }
        emit(&mut record);
    }

    /// Stamps a frame that starts when the oscillator reads `osc` and the PHC `on_phc`; the line is free when it has left.
    #[inline]
    fn stamp(&mut self, id: FrameId, size: u32, osc: ClockTime<Osc>, on_phc: ClockTime<PhcTime>) -> TxStamp {
        let jitter = &mut self.streams[usize::from(id.stream)].stamp;
        let (Some(readout), Some(jitter)) = (&mut self.readout, jitter) else {
            return TxStamp::NotRequested;
        };
        let raw = stamp::capture(osc + jitter.sample(id.number, size), &self.phc);
        let read_at = readout.captured(self.free_at);
        TxStamp::Read(self.as_read(raw, on_phc, read_at))
    }

    /// A stamp of a frame that started when the PHC read `on_phc`, as the driver hands it on at `read_at`.
    #[inline]
    fn as_read(&mut self, raw: RawStamp, on_phc: ClockTime<PhcTime>, read_at: SimTime) -> Stamp {
        let ns = stamp::extend(raw.ns(), self.cached.at(read_at, &self.phc, &self.oscillator));
        Stamp { raw, ns, read_at, error: self.phc.time_of(ns) - on_phc }
    }

    // ---- receive ----

    /// A frame of received stream `stream` starts at the port's plane at `now`; its stamp comes with the descriptor.
    pub fn receive(&mut self, stream: usize, number: u64, size: u32, now: SimTime) -> Option<Stamp> {
        let receive = self.receive.as_mut()?;
        let osc = self.oscillator.map().at(now);
        let word = receive.word.as_ref().map_or(osc, |word| word.edge(osc));
        let jitter = receive.jitter[stream].sample(number, size);
        let raw = stamp::capture(word + jitter, &self.phc);
        let on_phc = self.phc.line().at(osc);
        Some(self.as_read(raw, on_phc, now + self.speed.wire_time(size)))
    }
}

fn stream(spec: &NicSpec, setup: &StreamSetup, key: Key) -> Result<Stream, SetupError> {
    let stamps = spec.tx_stamp.as_ref().filter(|_| setup.tx_stamps);
    let stamp = stamps.map(|stamps| Noise::new(&stamps.jitter.value, key.named("tx stamp"))).transpose()?;
    Ok(Stream {
        source: Source::new(setup, key.named("source"))?,
        queue: usize::from(setup.queue),
        size: setup.size,
        tx_stamps: setup.tx_stamps,
        fetch: Noise::new(&spec.fetch.latency.value, key.named("fetch"))?,
        stamp,
        counts: Counts::default(),
    })
}

fn receive_path(spec: &NicSpec, received: usize, key: Key) -> Result<Option<Receive>, SetupError> {
    let Some(stamps) = spec.rx_stamp.as_ref().filter(|_| received > 0) else {
        return Ok(None);
    };
    let word = stamps.word.as_ref().map(|word| WordClock::new(word.period.value, word.offset.value, key.named("word")));
    let jitter = (0..received).map(|k| Noise::new(&stamps.jitter.value, key.child(k as u64)));
    Ok(Some(Receive { word, jitter: jitter.collect::<Result<_, _>>()? }))
}
