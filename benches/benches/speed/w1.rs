//! W1: one card, a frame every 100 us; submit, fetch, release with a normal jitter on a grid of 128 ns, a stamp at
//! 812.5 MHz, and the exact distribution of the stamps' intervals.

use nicsim_core::grid::{Grid, Period};
use nicsim_core::noise::{Noise, NoiseSpec};
use nicsim_core::rng::Key;
use nicsim_core::stats::{Recorder, Summary, Unit};
use nicsim_core::time::{ClockTime, SimTime, Span};
use nicsim_models::phc::{Osc, Phc, PhcParameters, PhcTime};
use nicsim_models::world::KernelKind;
use nicsim_scenarios::scenario::{DEFAULT_SEED, Scenario};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

pub(crate) const INTERVAL_NS: u64 = 100_000;
pub(crate) const LEAD_NS: u64 = 50_000;
pub(crate) const FETCH_NS: u64 = 1_000;
const UNIT_NS: u64 = 128;
const JITTER: Span = Span::from_ns(64);

/// What happens to a frame of W1, as functions: the bare loop and the peers' models share them, so that only engines
/// differ.
pub(crate) struct Rules {
    phc: Phc,
    noise: Noise,
    grid: Grid,
}

impl Rules {
    pub(crate) fn new() -> Self {
        let tick = "812.5MHz".parse().unwrap();
        let parameters = PhcParameters { tick, increment: 0x1_3b13_b13b, max_adj_ppb: 100_000_000 };
        let key = Key::root(DEFAULT_SEED, 0).named("nic").named("stream").child(0);
        Self {
            phc: Phc::new(parameters, 0).unwrap(),
            noise: Noise::new(&NoiseSpec::Normal(JITTER), key.named("before")).unwrap(),
            grid: Grid::new(Period::whole(UNIT_NS as i64 * 1_000).unwrap(), 0),
        }
    }

    /// When frame `number` is let go that reaches the card at `fetched`.
    #[inline]
    pub(crate) fn release(&mut self, number: u64, fetched: SimTime) -> SimTime {
        let units = (LEAD_NS + number * INTERVAL_NS) / UNIT_NS;
        // The driver writes 1 where the field would be 0.
        let units = if units.is_multiple_of(1 << 19) { units + 1 } else { units };
        let wanted = ClockTime::<PhcTime>::from_ps((units * UNIT_NS * 1_000) as i64) + self.noise.sample(number, 64);
        let at = self.phc.line().when(ClockTime::from_ps(self.grid.ceil(wanted.as_ps())));
        SimTime::from_ps(at.as_ps()).max(fetched)
    }

    /// The stamp of a frame that starts at `at` \[ns\].
    #[inline]
    pub(crate) fn stamp(&self, at: SimTime) -> u64 {
        self.phc.register(ClockTime::<Osc>::from_ps(at.as_ps())).ns
    }
}

/// The intervals of the stamps.
pub(crate) struct Intervals {
    recorder: Recorder,
    last: Option<u64>,
}

impl Intervals {
    pub(crate) fn new() -> Self {
        let unit = Unit::Ticks(Period::whole(1_000).unwrap());
        Self { recorder: Recorder::new(unit, INTERVAL_NS as i64), last: None }
    }

    #[inline]
    pub(crate) fn take(&mut self, number: u64, stamp_ns: u64) {
        if let Some(last) = self.last.replace(stamp_ns) {
            self.recorder.record((stamp_ns - last) as i64, number);
        }
    }

    pub(crate) fn summary(&self) -> Summary {
        self.recorder.summary()
    }
}

/// The product's figures.
pub(crate) fn product(scenario: &Scenario) -> Summary {
    let report = nicsim_benches::scenarios::report(scenario, KernelKind::Slots);
    report.metrics["tx_stamp_interval"].summary.clone()
}

/// Ends the bench when `figures` are not the product's, to the last bit.
pub(crate) fn check(who: &str, figures: &Summary, product: &Summary) {
    assert_eq!(format!("{figures:?}"), format!("{product:?}"), "{who} does not do the product's work");
}

/// W1 without a simulator.
pub(crate) fn bare(frames: u64) -> Summary {
    let (mut rules, mut intervals) = (Rules::new(), Intervals::new());
    for number in 0..frames {
        let fetched = SimTime::from_ps(((number * INTERVAL_NS + FETCH_NS) * 1_000) as i64);
        let at = rules.release(number, fetched);
        intervals.take(number, rules.stamp(at));
    }
    intervals.summary()
}

/// Mean, deviation, minimum, maximum, p0.5 and p99.5 \[ns\]: what W1 asks for.
pub(crate) type Six = [f64; 6];

/// The same six of a summary.
pub(crate) fn six(summary: &Summary) -> Six {
    [summary.mean_ns, summary.std_ns, summary.min_ns, summary.max_ns, summary.p0_5_ns, summary.p99_5_ns]
        .map(Option::unwrap)
}

/// Ends the bench when figures from other draws are not those of the same work.
pub(crate) fn check_alike(who: &str, theirs: &Six, ours: &Six) {
    let near = |k: usize, within: f64| (theirs[k] - ours[k]).abs() <= within;
    // Draws differ: 5 % of the deviation is ten standard errors at 20,000 frames; intervals lie on steps of 128 ns.
    let alike = near(0, 0.1) && near(1, 0.05 * ours[1]) && near(4, 130.0) && near(5, 130.0);
    assert!(alike, "{who} does not do the product's work: {theirs:?} instead of {ours:?}");
}

/// W1 by hand with a free choice of everything: a sequential generator, ziggurat, a clock of exactly 16/13 ns, a plain
/// histogram. This is the practical limit, not the same draws.
pub(crate) fn by_hand(frames: u64) -> Six {
    const REACH: i64 = 2_048;
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut counts = vec![0_u32; 2 * REACH as usize];
    let (mut sum, mut squares, mut last) = (0_i64, 0_i64, None);
    for number in 0..frames as i64 {
        let submitted = number * INTERVAL_NS as i64 * 1_000;
        let fetched = submitted + FETCH_NS as i64 * 1_000;
        let held = ((submitted / 1_000 + LEAD_NS as i64) & !127) * 1_000;
        let normal: f64 = StandardNormal.sample(&mut generator);
        let wanted = held + (normal * 64_000.0) as i64;
        let at = ((wanted + 127_999) / 128_000 * 128_000).max(fetched);
        let stamp = at * 13 / 16_000 * 16 / 13;
        if let Some(last) = last.replace(stamp) {
            let deviation = stamp - last - INTERVAL_NS as i64;
            sum += deviation;
            squares += deviation * deviation;
            counts[(deviation + REACH) as usize] += 1;
        }
    }
    let (nominal, n) = (INTERVAL_NS as f64, (frames - 1) as f64);
    let mean = sum as f64 / n;
    let value = |place: usize| nominal + (place as i64 - REACH) as f64;
    let quantile = |q: f64| {
        let (mut seen, rank) = (0, (q * (n - 1.0)) as u64);
        let place = counts.iter().position(|count| {
            seen += u64::from(*count);
            seen > rank
        });
        value(place.unwrap())
    };
    let highest = counts.iter().rposition(|count| *count > 0).unwrap();
    [
        nominal + mean,
        (squares as f64 / n - mean * mean).sqrt(),
        quantile(0.0),
        value(highest),
        quantile(0.005),
        quantile(0.995),
    ]
}
