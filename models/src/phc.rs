//! (a) The PTP hardware clock: a counter of nanoseconds and 2^-32 ns that a register's increment advances
//! at every tick of the card's oscillator.
//!
//! Two readings exist. The *register* is what hardware and drivers see: it changes at ticks only
//! ([`Phc::register`]). The *line* through its ticks is the time that the clock stands for, read exactly and
//! without the tick ([`Phc::line`]); launch errors are taken from it. Both come from one anchor, so they never part.
//!
//! Source: 64-bit ns (GLTSYN_TIME_H:L) plus 32 sub-ns bits (GLTSYN_TIME_0), increment register INCVAL;
//! Linux `ice_ptp_hw.h`, `ice_ptp.c` (`ice_ptp_adjfine`, `ice_ptp_adjtime`, `ice_ptp_settime64`).

use nicsim_core::clock::{ClockMap, Rate, RateOutOfRange};
use nicsim_core::grid::{Grid, Period};
use nicsim_core::time::{ClockTime, Domain, Span};

/// The card's oscillator, which ticks the PHC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Osc {}

impl Domain for Osc {
    const NAME: &'static str = "the card's oscillator";
}

/// The PHC, in picoseconds since its epoch (see [`Phc::epoch_ns`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhcTime {}

impl Domain for PhcTime {
    const NAME: &'static str = "the PHC";
}

/// PHC times further from the epoch are not told apart [ns].
const FARTHEST: i128 = i64::MAX as i128 / 2 / 1_000;
/// Sub-nanosecond bits of the counter.
const SUB_NS_BITS: u32 = 32;

/// What the counter's registers hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhcRegister {
    /// Nanoseconds.
    pub ns: u64,
    /// Units of 2^-32 ns.
    pub sub_ns: u32,
}

/// Why a clock operation was refused, as the driver would.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PhcError {
    /// Beyond the adjustment range.
    #[error("an adjustment of {asked} ppb is beyond this clock's ±{max} ppb")]
    OutOfRange {
        /// What was asked \[ppb\].
        asked: i64,
        /// The range \[ppb\].
        max: u32,
    },
}

/// Fixed properties of a PHC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhcParameters {
    /// Period of the clock that ticks it.
    pub tick: Period,
    /// Nominal increment per tick [2^-32 ns].
    pub increment: u64,
    /// Largest adjustment \[ppb\].
    pub max_adj_ppb: u32,
}

/// A PHC with its present increment.
#[derive(Debug, Clone)]
pub struct Phc {
    parameters: PhcParameters,
    ticks: Grid,
    increment: u64,
    epoch_ns: u64,
    /// Tick from which the present increment counts, and the counter there since the epoch [2^-32 ns].
    anchor_tick: i64,
    anchor: i128,
    line: ClockMap<PhcTime, Osc>,
}

impl Phc {
    /// A PHC that reads `start_ns` at the scenario's start and runs at its nominal increment.
    ///
    /// # Errors
    /// [`RateOutOfRange`] when increment and tick are more than 25 % apart.
    pub fn new(parameters: PhcParameters, start_ns: u64) -> Result<Self, RateOutOfRange> {
        rate_of(parameters.increment, parameters.tick)?;
        let mut phc = Self {
            parameters,
            ticks: Grid::new(parameters.tick, 0),
            increment: parameters.increment,
            epoch_ns: start_ns,
            anchor_tick: 0,
            anchor: 0,
            line: ClockMap::starting(Rate::ONE),
        };
        phc.draw_line();
        Ok(phc)
    }

    /// PHC nanoseconds from which [`PhcTime`] counts; a step moves it.
    pub fn epoch_ns(&self) -> u64 {
        self.epoch_ns
    }

    /// The line through the counter's ticks.
    pub fn line(&self) -> &ClockMap<PhcTime, Osc> {
        &self.line
    }

    /// The present increment [2^-32 ns per tick].
    pub fn increment(&self) -> u64 {
        self.increment
    }

    /// PHC time `ns` as an instant; times beyond 53 days from the epoch saturate.
    #[inline]
    pub fn time_of(&self, ns: u64) -> ClockTime<PhcTime> {
        let from_epoch = i128::from(ns) - i128::from(self.epoch_ns);
        if (-FARTHEST..=FARTHEST).contains(&from_epoch) {
            return ClockTime::from_ps(from_epoch as i64 * 1_000);
        }
        ClockTime::from_ps(if from_epoch < 0 { -(i64::MAX / 2) } else { i64::MAX / 2 })
    }

    /// The counter at the last tick at or before `now`.
    #[inline]
    pub fn register(&self, now: ClockTime<Osc>) -> PhcRegister {
        let counter = self.counter(self.ticks.floor_index(now.as_ps()));
        PhcRegister { ns: self.epoch_ns.wrapping_add((counter >> SUB_NS_BITS) as u64), sub_ns: counter as u32 }
    }

    /// The counter since the epoch at `tick` [2^-32 ns].
    #[inline]
    fn counter(&self, tick: i64) -> i128 {
        self.anchor + i128::from(tick - self.anchor_tick) * i128::from(self.increment)
    }

    /// Sets the frequency to nominal plus `scaled_ppm` / 2^16 ppm, in the driver's integer arithmetic:
    /// increment = nominal ± floor(nominal · |scaled_ppm| / (10^6 · 2^16)) (Linux `adjust_by_scaled_ppm`).
    ///
    /// # Errors
    /// [`PhcError::OutOfRange`] beyond the clock's maximum; nothing is changed then.
    pub fn adjfine(&mut self, now: ClockTime<Osc>, scaled_ppm: i64) -> Result<(), PhcError> {
        // ppb = scaled_ppm · 1000 / 2^16, as the kernel's scaled_ppm_to_ppb rounds it.
        let ppb = (i128::from(scaled_ppm) * 1_000) >> 16;
        if ppb.unsigned_abs() > u128::from(self.parameters.max_adj_ppb) {
            return Err(PhcError::OutOfRange { asked: ppb as i64, max: self.parameters.max_adj_ppb });
        }
        let nominal = self.parameters.increment;
        let change = (u128::from(nominal) * u128::from(scaled_ppm.unsigned_abs()) / (1_000_000 << 16)) as u64;
        self.re_anchor(now);
        self.increment = if scaled_ppm < 0 { nominal - change } else { nominal + change };
        self.draw_line();
        Ok(())
    }

    /// Moves the clock by `delta_ns`.
    pub fn adjtime(&mut self, delta_ns: i64) {
        self.epoch_ns = self.epoch_ns.wrapping_add_signed(delta_ns);
    }

    /// Sets the clock to `ns` (and its sub-nanoseconds to 0) at `now`.
    pub fn settime(&mut self, now: ClockTime<Osc>, ns: u64) {
        self.re_anchor(now);
        self.epoch_ns = ns;
        self.anchor = 0;
        self.draw_line();
    }

    fn re_anchor(&mut self, now: ClockTime<Osc>) {
        let tick = self.ticks.floor_index(now.as_ps());
        self.anchor = self.counter(tick);
        self.anchor_tick = tick;
    }

    /// The line through the anchor with the present increment.
    fn draw_line(&mut self) {
        // The increment stays within ±10 % of a nominal that was checked, so the rate is in range.
        let rate = rate_of(self.increment, self.parameters.tick).unwrap_or(Rate::ONE);
        let (num, den) = (i128::from(self.parameters.tick.num()), i128::from(self.parameters.tick.den()));
        // The tick lies `rest / den` ps after a whole picosecond, which is `rest / num` of an increment.
        let position = i128::from(self.anchor_tick) * num;
        let (whole, rest) = (position.div_euclid(den), position.rem_euclid(den));
        let back = ((rest * i128::from(self.increment) * 1_000) << (64 - SUB_NS_BITS)) / num;
        let reading = ((self.anchor * 1_000) << (64 - SUB_NS_BITS)) - back;
        self.line = ClockMap::new(
            ClockTime::from_ps(whole as i64),
            ClockTime::from_ps((reading >> 64) as i64),
            reading as u64,
            rate,
        );
    }
}

/// How fast a counter with `increment` [2^-32 ns] per `tick` runs by the oscillator.
fn rate_of(increment: u64, tick: Period) -> Result<Rate, RateOutOfRange> {
    let num = i128::from(increment) * 1_000 * i128::from(tick.den());
    Rate::from_ratio(num, i128::from(tick.num()) << SUB_NS_BITS)
}

/// scaled_ppm (2^-16 ppm) of a frequency offset in parts per billion, as the kernel's interface takes it.
pub fn scaled_ppm_of_ppb(ppb: i64) -> i64 {
    ((i128::from(ppb) << 16) / 1_000) as i64
}

/// A span of whole nanoseconds as the kernel's adjtime takes it, rounded to nearest.
pub fn whole_ns(span: Span) -> i64 {
    (span.as_ps() + 500).div_euclid(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn e830(start_ns: u64) -> Phc {
        let parameters =
            PhcParameters { tick: "812.5MHz".parse().unwrap(), increment: 0x1_3b13_b13b, max_adj_ppb: 100_000_000 };
        Phc::new(parameters, start_ns).unwrap()
    }

    fn osc(ps: i64) -> ClockTime<Osc> {
        ClockTime::from_ps(ps)
    }

    #[test]
    fn the_counter_advances_by_its_increment_at_every_tick() {
        let phc = e830(5_000_000_000);
        assert_eq!(phc.register(osc(0)), PhcRegister { ns: 5_000_000_000, sub_ns: 0 });
        assert_eq!(phc.register(osc(1_230)), PhcRegister { ns: 5_000_000_000, sub_ns: 0 });
        assert_eq!(phc.register(osc(1_231)), PhcRegister { ns: 5_000_000_001, sub_ns: 0x3b13_b13b });
        // 13 ticks are 16 ns but for 13 · 0.0769 units of 2^-32 ns.
        assert_eq!(phc.register(osc(16_000)), PhcRegister { ns: 5_000_000_015, sub_ns: 0xffff_ffff });
        // One second: 812.5 million ticks lose 62.5 million units, 0.01455 ns.
        assert_eq!(phc.register(osc(1_000_000_000_000)).ns, 5_999_999_999);
        assert!((phc.line().rate().ppm() + 1.455e-5).abs() < 1e-8);
    }

    #[test]
    fn adjfine_uses_the_driver_s_integers() {
        let mut phc = e830(0);
        // +10 ppm = 655,360 scaled: 5286113595 · 655360 / 65536000000 = 52861.1 → 52861.
        phc.adjfine(osc(0), scaled_ppm_of_ppb(10_000)).unwrap();
        assert_eq!(phc.increment(), 0x1_3b13_b13b + 52_861);
        phc.adjfine(osc(0), -655_360).unwrap();
        assert_eq!(phc.increment(), 0x1_3b13_b13b - 52_861);
        // Steps below 12.398 scaled units do nothing: one LSB is 0.189 ppb.
        phc.adjfine(osc(0), 12).unwrap();
        assert_eq!(phc.increment(), 0x1_3b13_b13b);
        phc.adjfine(osc(0), 13).unwrap();
        assert_eq!(phc.increment(), 0x1_3b13_b13c);
        let refused = phc.adjfine(osc(0), scaled_ppm_of_ppb(200_000_000)).unwrap_err();
        assert_eq!(refused.to_string(), "an adjustment of 200000000 ppb is beyond this clock's ±100000000 ppb");
    }

    #[test]
    fn steps_move_the_reading_and_nothing_else() {
        let mut phc = e830(10_000);
        phc.adjtime(-3_000);
        assert_eq!(phc.register(osc(16_000)).ns, 7_015);
        phc.settime(osc(16_000), 1_790_050_304_500_050_000);
        assert_eq!(phc.register(osc(16_000)), PhcRegister { ns: 1_790_050_304_500_050_000, sub_ns: 0 });
        assert_eq!(phc.time_of(1_790_050_304_500_050_001).as_ps(), 1_000);
    }

    proptest! {
        #[test]
        fn the_line_passes_through_the_ticks(
            changes in proptest::collection::vec((0_i64..1 << 45, -6_000_000_000_i64..6_000_000_000), 0..6), after in 0_i64..1 << 45,
        ) {
            let mut phc = e830(77);
            let mut now = 0;
            for (wait, scaled_ppm) in changes {
                now += wait;
                phc.adjfine(osc(now), scaled_ppm).unwrap();
            }
            let now = osc(now + after);
            let register = phc.register(now);
            let exact = phc.line().at(now).as_ps();
            let register_ps = (i128::from(register.ns) - 77) * 1_000 + ((i128::from(register.sub_ns) * 1_000) >> 32);
            // The register lags the line by less than one tick (1.36 ns at +10 %), and never leads it.
            let lag = i128::from(exact) - register_ps;
            prop_assert!((0..1_360).contains(&lag), "{}", lag);
        }
    }
}
