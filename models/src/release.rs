//! (d) Release: when the NIC's scheduler lets a frame go whose launch time has come, and how far it scatters.
//!
//! The composition, stated by the NIC file:
//!
//! ```text
//! launch time ─► + before ─► next poll instant ─► + after ─► ready
//! ```
//!
//! The poll lattice either runs free (a clock of its own on the card's crystal, with a phase that walks) or is
//! locked to the PHC. Without a poll the noise alone remains. What happens when a frame is ready is the link's business.

use nicsim_core::grid::{Grid, Period};
use nicsim_core::noise::{Noise, NoiseError, NoiseSpec};
use nicsim_core::rng::Key;
use nicsim_core::time::{ClockTime, SimTime, Span};
use nicsim_core::walk::Walk;
use serde::{Deserialize, Serialize};

use crate::oscillator::Oscillator;
use crate::phc::{Osc, Phc, PhcTime};

/// How a NIC's release scatters, as its file states it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleaseSpec {
    /// The lattice of instants at which the scheduler looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll: Option<PollSpec>,
    /// Noise before the poll.
    #[serde(default = "none", skip_serializing_if = "is_none")]
    pub before: NoiseSpec,
    /// Noise after it.
    #[serde(default = "none", skip_serializing_if = "is_none")]
    pub after: NoiseSpec,
}

fn none() -> NoiseSpec {
    NoiseSpec::NONE
}

fn is_none(spec: &NoiseSpec) -> bool {
    *spec == NoiseSpec::NONE
}

/// A poll lattice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PollSpec {
    /// Time between two polls.
    pub period: Period,
    /// What the lattice is tied to.
    pub phase: PhaseSpec,
}

/// What a poll lattice is tied to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PhaseSpec {
    /// A clock of the card's crystal that starts anywhere and whose phase walks: normal steps of standard
    /// deviation `walk` every `every`, on a grid fixed in the crystal's time.
    Free {
        /// Standard deviation of a step.
        walk: Span,
        /// Time between two steps.
        every: Period,
    },
    /// The PHC: polls at whole periods of PHC time plus this.
    Locked(Span),
}

/// A port's poll lattice, shared by its queues.
#[derive(Debug, Clone)]
enum Poll {
    Free { lattice: Grid, steps: Grid, walk: Box<Walk> },
    Locked { period: Period, offset: Span, lattice: Grid, epoch_ns: u64 },
}

impl Poll {
    fn new(spec: &PollSpec, key: Key, phc: &Phc) -> Self {
        match spec.phase {
            PhaseSpec::Free { walk, every } => {
                let phase = uniform_below(key.named("phase"), spec.period);
                let walk = Box::new(Walk::new(key.named("walk"), walk));
                Self::Free { lattice: Grid::new(spec.period, phase), steps: Grid::new(every, 0), walk }
            }
            PhaseSpec::Locked(offset) => {
                let lattice = locked_lattice(spec.period, offset, phc.epoch_ns());
                Self::Locked { period: spec.period, offset, lattice, epoch_ns: phc.epoch_ns() }
            }
        }
    }
}

/// Polls at whole periods of absolute PHC time plus `offset`, as positions since the PHC's epoch.
fn locked_lattice(period: Period, offset: Span, epoch_ns: u64) -> Grid {
    let (num, den) = (i128::from(period.num()), i128::from(period.den()));
    // The epoch's place in the lattice, in 1/den ps; a fraction of a picosecond is dropped.
    let place = (i128::from(epoch_ns) * 1_000 * den).rem_euclid(num) / den;
    Grid::new(period, offset.as_ps() - place as i64)
}

/// A phase in picoseconds, uniform below `period`.
pub(crate) fn uniform_below(key: Key, period: Period) -> i64 {
    let whole = (period.num() / period.den()).max(1);
    ((u128::from(key.bits(0)) * whole as u128) >> 64) as i64
}

/// The release stage of a port: its poll lattice and the noise of each stream.
#[derive(Debug, Clone)]
pub struct Release {
    poll: Option<Poll>,
    streams: Vec<(Noise, Noise)>,
}

impl Release {
    /// The stage of a port whose streams have the keys `streams`; `port` keys the poll lattice.
    ///
    /// # Errors
    /// [`NoiseError`] when a noise expression is wrong.
    pub fn new(spec: &ReleaseSpec, port: Key, streams: &[Key], phc: &Phc) -> Result<Self, NoiseError> {
        let noise = |key: &Key| {
            Ok((Noise::new(&spec.before, key.named("before"))?, Noise::new(&spec.after, key.named("after"))?))
        };
        Ok(Self {
            poll: spec.poll.as_ref().map(|poll| Poll::new(poll, port.named("poll"), phc)),
            streams: streams.iter().map(noise).collect::<Result<_, _>>()?,
        })
    }

    /// When frame `number` of `stream` would be let go that is to start when the PHC reads `launch`.
    #[inline]
    pub fn at(
        &mut self,
        launch: ClockTime<PhcTime>,
        stream: usize,
        number: u64,
        size: u32,
        phc: &Phc,
        oscillator: &Oscillator<Osc>,
    ) -> SimTime {
        let (before, after) = &mut self.streams[stream];
        let launch = launch + before.sample(number, size);
        let polled = match &mut self.poll {
            None => phc.line().when(launch),
            Some(Poll::Free { lattice, steps, walk }) => {
                let due = phc.line().when(launch);
                let step = steps.floor_index(due.as_ps()).max(0) as u64;
                let moved = walk.at(step);
                ClockTime::from_ps(lattice.ceil((due + moved).as_ps())) - moved
            }
            Some(Poll::Locked { period, offset, lattice, epoch_ns }) => {
                if *epoch_ns != phc.epoch_ns() {
                    *epoch_ns = phc.epoch_ns();
                    *lattice = locked_lattice(*period, *offset, *epoch_ns);
                }
                phc.line().when(ClockTime::from_ps(lattice.ceil(launch.as_ps())))
            }
        };
        oscillator.map().when(polled + after.sample(number, size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oscillator::OscillatorSpec;
    use crate::phc::PhcParameters;

    fn phc(start_ns: u64) -> Phc {
        let tick = "812.5MHz".parse().unwrap();
        Phc::new(PhcParameters { tick, increment: 0x1_3b13_b13b, max_adj_ppb: 100_000_000 }, start_ns).unwrap()
    }

    fn ready(spec: &ReleaseSpec, seed: u64, launches_ps: &[i64]) -> Vec<i64> {
        let phc = phc(1_000);
        let oscillator = Oscillator::new(OscillatorSpec::default());
        let key = Key::root(seed, 0);
        let mut release = Release::new(spec, key, &[key.child(0)], &phc).unwrap();
        let at =
            |(n, &ps): (usize, &i64)| release.at(ClockTime::from_ps(ps), 0, n as u64, 64, &phc, &oscillator).as_ps();
        launches_ps.iter().enumerate().map(at).collect()
    }

    fn spec(poll: Option<PollSpec>) -> ReleaseSpec {
        ReleaseSpec { poll, before: NoiseSpec::NONE, after: NoiseSpec::NONE }
    }

    #[test]
    fn without_noise_a_frame_is_ready_when_its_time_comes() {
        // The nominal increment is 14.6 ppt slow, so 128 ns are over at the next picosecond.
        assert_eq!(ready(&spec(None), 0, &[0, 128_000]), [0, 128_001]);
    }

    #[test]
    fn a_locked_lattice_counts_absolute_phc_time() {
        // Polls at 0, 51.2, 102.4 … ns of PHC time; the epoch is 1,000 ns, and 1,024 = 20 · 51.2.
        let poll = PollSpec { period: "51.2ns".parse().unwrap(), phase: PhaseSpec::Locked(Span::ZERO) };
        assert_eq!(ready(&spec(Some(poll)), 0, &[0, 24_000, 24_001]), [24_001, 24_001, 75_201]);
    }

    #[test]
    fn a_free_lattice_has_one_phase_per_run_and_waits_up_to_a_period() {
        let phase = PhaseSpec::Free { walk: Span::ZERO, every: "25us".parse().unwrap() };
        let spec = spec(Some(PollSpec { period: "70.4902ns".parse().unwrap(), phase }));
        let launches: Vec<i64> = (0..1_000).map(|k| k * 99_968_000).collect();
        let waits: Vec<i64> = ready(&spec, 3, &launches).iter().zip(&launches).map(|(r, l)| r - l).collect();
        assert!(waits.iter().all(|wait| (0..=70_491).contains(wait)));
        // The wait moves back by 99,968 mod 70.4902 = 12.8964 ns per frame.
        assert!((waits[0] - waits[1]).rem_euclid(70_490).abs_diff(12_896) <= 2, "{waits:?}");
        assert_ne!(ready(&spec, 4, &launches)[0], ready(&spec, 3, &launches)[0]);
    }

    #[test]
    fn the_walk_of_the_phase_does_not_depend_on_who_asks() {
        let phase = PhaseSpec::Free { walk: Span::from_ps(5_350), every: "25us".parse().unwrap() };
        let spec = spec(Some(PollSpec { period: "70.4902ns".parse().unwrap(), phase }));
        let launches: Vec<i64> = (0..400).map(|k| k * 99_968_000).collect();
        let some: Vec<i64> = launches.iter().rev().step_by(7).copied().collect();
        let all = ready(&spec, 5, &launches);
        for (ready, launch) in ready(&spec, 5, &some).iter().zip(&some) {
            assert_eq!(*ready, all[(launch / 99_968_000) as usize]);
        }
    }
}
