//! (g) Hardware stamps: capture in the PHY, the register that holds one until it is read, and the driver's reading.
//!
//! A stamp is the PHC's counter at the last tick of the sampling clock, in the form of the 40-bit result: 32 bits of ns,
//! 7 bits of 1/128 ns, a valid bit (E810 datasheet; Linux `ice_ptp_extend_40b_ts`). The driver keeps the nanoseconds
//! and finds the upper 32 bits from a cached reading of the PHC.

use nicsim_core::clock::{ClockMap, Rate};
use nicsim_core::grid::{Grid, Period};
use nicsim_core::ring::Ring;
use nicsim_core::rng::Key;
use nicsim_core::time::{ClockTime, Domain, SimTime, Span};

use crate::bits::Field;
use crate::oscillator::Oscillator;
use crate::phc::{Osc, Phc, PhcRegister};
use crate::release::uniform_below;

const NS: Field = Field::new(8, 32);
const SUB_NS: Field = Field::new(1, 7);
const VALID: u64 = 1;

/// A 40-bit stamp as the hardware holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RawStamp(pub u64);

impl RawStamp {
    /// The stamp of a counter reading: bits beyond 32 of the ns and beyond 7 of the sub-ns are lost.
    pub fn of(register: PhcRegister) -> Self {
        Self(NS.place(register.ns) | SUB_NS.place(u64::from(register.sub_ns >> 25)) | VALID)
    }

    /// The low 32 bits of the nanoseconds.
    pub fn ns(self) -> u32 {
        NS.get(self.0) as u32
    }
}

/// Captures a stamp when the card's oscillator reads `at`; the counter's ticks are the sampling clock.
pub fn capture(at: ClockTime<Osc>, phc: &Phc) -> RawStamp {
    RawStamp::of(phc.register(at))
}

/// A clock-domain crossing: what arrives is taken over at the next edge of a word clock that is locked neither to
/// the line nor to the clock `S` by which it is seen.
pub struct WordClock<S: Domain> {
    grid: Grid,
    map: ClockMap<Word, S>,
}

/// A word clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {}

impl Domain for Word {
    const NAME: &'static str = "the word clock";
}

impl<S: Domain> WordClock<S> {
    /// A word clock of `period` that runs at `rate` by `S`, from a phase of `key`'s choice.
    pub fn new(period: Period, rate: Rate, key: Key) -> Self {
        Self { grid: Grid::new(period, uniform_below(key, period)), map: ClockMap::starting(rate) }
    }

    /// The first word edge at or after `at`.
    pub fn edge(&self, at: ClockTime<S>) -> ClockTime<S> {
        let word = self.map.at(at);
        self.map.when(ClockTime::from_ps(self.grid.ceil(word.as_ps()))).max(at)
    }
}

impl<S: Domain> Clone for WordClock<S> {
    fn clone(&self) -> Self {
        Self { grid: self.grid, map: self.map }
    }
}
impl<S: Domain> std::fmt::Debug for WordClock<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WordClock").field("grid", &self.grid).field("map", &self.map).finish()
    }
}

/// The driver's extension of a 32-bit stamp by a cached PHC reading: the 64-bit time within half a turn of it.
/// A stamp exactly half a turn away counts as past (Linux `ice_ptp_extend_32b_ts`).
pub fn extend(stamp_ns: u32, cached_ns: u64) -> u64 {
    let ahead = stamp_ns.wrapping_sub(cached_ns as u32);
    if ahead > u32::MAX / 2 {
        cached_ns.wrapping_sub(u64::from((cached_ns as u32).wrapping_sub(stamp_ns)))
    } else {
        cached_ns.wrapping_add(u64::from(ahead))
    }
}

/// The driver's cached PHC reading, refreshed at fixed intervals.
#[derive(Debug, Clone)]
pub struct CachedPhc {
    refresh: Grid,
    /// When the reading is no longer the latest.
    stale_at: SimTime,
    ns: u64,
}

impl CachedPhc {
    /// A cache that is refreshed every `interval`, first at the scenario's start.
    pub fn new(interval: Period, phc: &Phc) -> Self {
        let refresh = Grid::new(interval, 0);
        Self { refresh, stale_at: SimTime::from_ps(refresh.next(0)), ns: phc.epoch_ns() }
    }

    /// The cached reading at `now`. Refreshes that lie between two calls are caught up with; the PHC must not have
    /// been adjusted in between (see [`CachedPhc::invalidate`]).
    #[inline]
    pub fn at(&mut self, now: SimTime, phc: &Phc, oscillator: &Oscillator<Osc>) -> u64 {
        if now >= self.stale_at {
            let (last, _) = self.refresh.floor(now.as_ps());
            self.stale_at = SimTime::from_ps(self.refresh.next(now.as_ps()));
            self.ns = phc.register(oscillator.map().at(SimTime::from_ps(last))).ns;
        }
        self.ns
    }

    /// Refreshes at `now`, as the drivers do after they set or adjusted the clock.
    pub fn invalidate(&mut self, now: SimTime, phc: &Phc, oscillator: &Oscillator<Osc>) {
        self.stale_at = SimTime::from_ps(self.refresh.next(now.as_ps()));
        self.ns = phc.register(oscillator.map().at(now)).ns;
    }
}

/// How a driver reads transmit stamps back, from registers that hold each until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadoutParameters {
    /// Registers per port.
    pub registers: usize,
    /// Time to read one stamp.
    pub per_stamp: Span,
    /// From a stamp's capture to the start of reading when the reader was idle: interrupt and wake-up.
    pub wake: Span,
    /// Now and then the reader does nothing for a while.
    pub stall: Option<StallParameters>,
}

/// Periodic stalls of the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StallParameters {
    /// Time from one stall's start to the next.
    pub every: Period,
    /// Shortest stall.
    pub shortest: Span,
    /// Longest stall; each is uniform between.
    pub longest: Span,
}

/// The transmit stamp registers of a port and their reader.
///
/// A register is taken when a frame asks for a stamp and freed when the stamp has been read. One reader takes the stamps
/// in the order of capture, so the instants at which registers come free are known in order and need no event.
#[derive(Debug, Clone)]
pub struct Readout {
    parameters: ReadoutParameters,
    stalls: Option<(Grid, Key)>,
    /// Registers taken by frames that have not been stamped yet.
    waiting: usize,
    /// When the registers with a stamp come free, in order.
    free_at: Ring<SimTime>,
    reader_idle_at: SimTime,
}

impl Readout {
    /// All registers free.
    pub fn new(parameters: ReadoutParameters, key: Key) -> Self {
        let stalls = parameters.stall.map(|stall| {
            (Grid::new(stall.every, uniform_below(key.named("stall phase"), stall.every)), key.named("stall length"))
        });
        let free_at = Ring::new(parameters.registers);
        Self { parameters, stalls, waiting: 0, free_at, reader_idle_at: SimTime::ZERO }
    }

    /// Takes a register at `now`; `false` when none is free, so that the frame goes without a stamp.
    #[must_use]
    pub fn request(&mut self, now: SimTime) -> bool {
        while self.free_at.get(0).is_some_and(|at| *at <= now) {
            self.free_at.pop();
        }
        let free = self.waiting + self.free_at.len() < self.parameters.registers;
        self.waiting += usize::from(free);
        free
    }

    /// A frame that holds a register was stamped at `captured`; answers when software has the stamp.
    #[inline]
    pub fn captured(&mut self, captured: SimTime) -> SimTime {
        let idle = captured >= self.reader_idle_at;
        let begin = if idle { captured + self.parameters.wake } else { self.reader_idle_at };
        let done = self.after_stall(begin) + self.parameters.per_stamp;
        self.reader_idle_at = done;
        self.waiting = self.waiting.saturating_sub(1);
        // Never full: whoever is stamped took its register in `request`.
        let _ = self.free_at.push(done);
        done
    }

    /// `begin`, or the end of the stall that it falls into.
    #[inline]
    fn after_stall(&self, begin: SimTime) -> SimTime {
        let (Some(stall), Some((grid, key))) = (self.parameters.stall, self.stalls.as_ref()) else {
            return begin;
        };
        let (start, number) = grid.floor(begin.as_ps());
        let start = SimTime::from_ps(start);
        if begin >= start + stall.longest {
            return begin;
        }
        let spread = (stall.longest - stall.shortest).as_ps().max(0) as u128;
        let length = stall.shortest + Span::from_ps(((u128::from(key.bits(number as u64)) * spread) >> 64) as i64);
        begin.max(start + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phc::PhcParameters;
    use proptest::prelude::*;

    fn us(us: i64) -> SimTime {
        SimTime::from_ps(us * 1_000_000)
    }

    #[test]
    fn a_stamp_is_the_counter_at_the_last_tick() {
        let parameters =
            PhcParameters { tick: "812.5MHz".parse().unwrap(), increment: 0x1_3b13_b13b, max_adj_ppb: 100_000_000 };
        let phc = Phc::new(parameters, 0x1_2345_6789).unwrap();
        // 2.0 ns: one tick has passed, the counter stands at 1.2307… ns = 1 ns + 29/128 ns.
        let stamp = capture(ClockTime::from_ps(2_000), &phc);
        assert_eq!(stamp.0, (0x2345_678a << 8) | (29 << 1) | 1);
        assert_eq!(stamp.ns(), 0x2345_678a);
    }

    #[test]
    fn half_a_turn_counts_as_past() {
        let cached = 0x5_8000_0000;
        assert_eq!(extend(0x8000_0001, cached), 0x5_8000_0001);
        assert_eq!(extend(0x7fff_ffff, cached), 0x5_7fff_ffff);
        assert_eq!(extend(0xffff_ffff, cached), 0x5_ffff_ffff);
        assert_eq!(extend(0x0000_0000, cached), 0x5_0000_0000, "exactly half a turn");
        assert_eq!(extend(0x0000_0001, 0x5_8000_0002), 0x6_0000_0001, "one less than half a turn ahead");
    }

    proptest! {
        #[test]
        fn extension_recovers_every_stamp_within_half_a_turn(cached in 1_u64 << 33..1 << 62, offset in -(1_i64 << 31)..(1_i64 << 31)) {
            let stamp = cached.wrapping_add_signed(offset);
            prop_assert_eq!(extend(stamp as u32, cached), stamp);
        }

        #[test]
        fn a_word_edge_is_at_most_a_word_later(at in 0_i64..1 << 50, seed: u64) {
            let clock = WordClock::<Osc>::new("3.2ns".parse().unwrap(), "30ppm".parse::<Rate>().unwrap(), Key::root(seed, 0));
            let wait = clock.edge(ClockTime::from_ps(at)) - ClockTime::from_ps(at);
            prop_assert!((0..=3_200).contains(&wait.as_ps()));
        }
    }

    fn parameters(registers: usize) -> ReadoutParameters {
        ReadoutParameters { registers, per_stamp: Span::from_ns(1_500), wake: Span::from_ns(6_000), stall: None }
    }

    #[test]
    fn registers_are_taken_until_read() {
        let mut readout = Readout::new(parameters(2), Key::root(0, 0));
        assert!(readout.request(us(0)) && readout.request(us(1)));
        assert!(!readout.request(us(2)), "both registers wait for their stamps");
        // Idle: 6 us wake-up and 1.5 us to read; busy: 1.5 us more.
        assert_eq!(readout.captured(us(2)), SimTime::from_ps(9_500_000));
        assert_eq!(readout.captured(us(3)), us(11));
        assert!(!readout.request(us(9)));
        assert!(readout.request(SimTime::from_ps(9_500_000)), "free at the very instant of its reading");
        assert!(!readout.request(us(10)) && readout.request(us(11)));
    }

    #[test]
    fn nothing_is_read_during_a_stall() {
        let stall = StallParameters {
            every: "4ms".parse().unwrap(),
            shortest: Span::from_ns(187_000),
            longest: Span::from_ns(187_000),
        };
        let mut readout = Readout::new(ReadoutParameters { stall: Some(stall), ..parameters(64) }, Key::root(1, 0));
        let delays: Vec<i64> = (0..100_000)
            .map(|k| {
                assert!(readout.request(us(k * 100)));
                (readout.captured(us(k * 100)) - us(k * 100)).as_ps()
            })
            .collect();
        // A stall covers 187 of 4,000 us: 4.7 % of the stamps wait for its end, the others 7.5 us.
        let waited = delays.iter().filter(|delay| **delay > 7_500_000).count();
        assert!((4_000..5_500).contains(&waited), "{waited}");
        assert!(delays.iter().all(|delay| *delay <= 194_500_000));
    }
}
