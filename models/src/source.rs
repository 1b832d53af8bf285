//! (a0) Traffic: when each stream hands its next frame to the driver, and with which launch time.

use nicsim_core::noise::{Noise, NoiseError, NoiseSpec};
use nicsim_core::rng::Key;
use nicsim_core::time::{SimTime, Span};

use crate::oscillator::Oscillator;
use crate::phc::{Osc, Phc};

/// When the frames of a stream come.
#[derive(Debug, Clone, PartialEq)]
pub enum Timing {
    /// With launch times: frame k is to start at `first_launch_ns` + k · `interval`, and reaches the driver `lead` earlier.
    Scheduled {
        /// Launch time of the first frame [PHC ns].
        first_launch_ns: u64,
        /// From one launch time to the next.
        interval: Span,
        /// How long before its launch time a frame reaches the driver.
        lead: Span,
    },
    /// By software, without launch times: each frame `interval` plus a draw of `jitter` after the one before.
    Paced {
        /// From one frame to the next.
        interval: Span,
        /// Added to every interval.
        jitter: NoiseSpec,
    },
    /// As fast as they are taken.
    BackToBack,
    /// Whenever somebody outside hands one in.
    External,
}

/// A stream as the models need it.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamSetup {
    /// Its name in reports.
    pub name: String,
    /// Number of frames.
    pub frames: u64,
    /// Frame with FCS \[octets\].
    pub size: u32,
    /// Transmit queue.
    pub queue: u16,
    /// When its frames come.
    pub timing: Timing,
    /// Asks for a hardware stamp of every frame.
    pub tx_stamps: bool,
}

/// The running source of one stream.
#[derive(Debug, Clone)]
pub struct Source {
    timing: Timing,
    jitter: Noise,
    frames: u64,
    next: u64,
    size: u32,
    last: SimTime,
}

impl Source {
    /// A source before its first frame.
    ///
    /// # Errors
    /// [`NoiseError`] when the jitter is wrong.
    pub fn new(setup: &StreamSetup, key: Key) -> Result<Self, NoiseError> {
        let jitter = match &setup.timing {
            Timing::Paced { jitter, .. } => Noise::new(jitter, key.named("interval"))?,
            _ => Noise::new(&NoiseSpec::NONE, key)?,
        };
        Ok(Self {
            timing: setup.timing.clone(),
            jitter,
            frames: setup.frames,
            next: 0,
            size: setup.size,
            last: SimTime::ZERO,
        })
    }

    /// Number of the next frame.
    #[inline]
    pub fn number(&self) -> u64 {
        self.next
    }

    /// All frames were handed in.
    pub fn is_complete(&self) -> bool {
        self.next >= self.frames
    }

    /// Frames come from outside.
    pub fn is_external(&self) -> bool {
        self.timing == Timing::External
    }

    /// Launch time of the next frame [PHC ns], rounded down where the interval is no whole number of ns.
    #[inline]
    pub fn launch_ns(&self) -> Option<u64> {
        match self.timing {
            Timing::Scheduled { first_launch_ns, interval, .. } => {
                let interval = interval.as_ps().unsigned_abs();
                let after_ns = match self.next.checked_mul(interval) {
                    Some(after) => after / 1_000,
                    None => (u128::from(self.next) * u128::from(interval) / 1_000) as u64,
                };
                Some(first_launch_ns.wrapping_add(after_ns))
            }
            _ => None,
        }
    }

    /// When the next frame reaches the driver, if nothing holds it up; never before the one before it.
    #[inline]
    pub fn due_at(&mut self, phc: &Phc, oscillator: &Oscillator<Osc>) -> SimTime {
        if self.is_complete() {
            return SimTime::NEVER;
        }
        let due = match &self.timing {
            Timing::Scheduled { lead, .. } => {
                let launch = phc.time_of(self.launch_ns().unwrap_or(0));
                oscillator.map().when(phc.line().when(launch - *lead))
            }
            Timing::Paced { .. } if self.next == 0 => SimTime::ZERO,
            Timing::Paced { interval, .. } => self.last + *interval + self.jitter.sample(self.next, self.size),
            Timing::BackToBack => self.last,
            Timing::External => return SimTime::NEVER,
        };
        due.max(self.last)
    }

    /// The next frame was handed in at `now`.
    #[inline]
    pub fn advance(&mut self, now: SimTime) {
        self.next += 1;
        self.last = now;
    }
}
