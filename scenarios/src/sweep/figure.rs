//! Figures of a report that become columns: `observed_interval.std_ns`, `late`, `streams.1.launch_error.p99_9_ns`.

use nicsim_core::stats::Summary;
use nicsim_models::spec::near;

use crate::metric;
use crate::report::{ClockFit, FrameCounts, MetricSummary, Report, StampCounts};
use crate::tail::Tail;

/// A figure of a report.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Its name, as it was asked for and as its column is called.
    pub name: String,
    /// Its unit; `1` for plain numbers.
    pub unit: &'static str,
    /// Is it a whole number?
    pub is_whole: bool,
    /// Of this stream alone, by its place in the report.
    pub stream: Option<usize>,
    read: Read,
}

#[derive(Debug, Clone, Copy)]
enum Read {
    Count(Count),
    Metric(&'static str, Key),
    Tail(fn(&Tail) -> f64),
}

/// How a count comes out of a report.
type Count = fn(&FrameCounts, &StampCounts) -> u64;

/// How a key's value comes out of a summary.
#[derive(Debug, Clone, Copy)]
enum Key {
    Real(fn(&Summary) -> Option<f64>),
    Whole(fn(&Summary) -> Option<u64>),
    Clocks(fn(&ClockFit) -> f64),
}

/// The counts of `report.json`.
const COUNTS: &[(&str, Count)] = &[
    ("submitted", |frames, _| frames.submitted),
    ("sent", |frames, _| frames.sent),
    ("immediate", |frames, _| frames.immediate),
    ("late", |frames, _| frames.late),
    ("dropped", |frames, _| frames.dropped.values().sum()),
    ("malicious_driver_events", |frames, _| frames.malicious_driver_events),
    ("stamps.requested", |_, stamps| stamps.requested),
    ("stamps.read", |_, stamps| stamps.read),
    ("stamps.lost", |_, stamps| stamps.lost.values().sum()),
];

/// The keys of a SUMMARY in `report.json`.
const KEYS: &[(&str, Key)] = &[
    ("count", Key::Whole(|s| Some(s.count))),
    ("mean_ns", Key::Real(|s| s.mean_ns)),
    ("std_ns", Key::Real(|s| s.std_ns)),
    ("min_ns", Key::Real(|s| s.min_ns)),
    ("max_ns", Key::Real(|s| s.max_ns)),
    ("range_ns", Key::Real(|s| s.range_ns)),
    ("p0_5_ns", Key::Real(|s| s.p0_5_ns)),
    ("p1_ns", Key::Real(|s| s.p1_ns)),
    ("p5_ns", Key::Real(|s| s.p5_ns)),
    ("p50_ns", Key::Real(|s| s.p50_ns)),
    ("p95_ns", Key::Real(|s| s.p95_ns)),
    ("p99_ns", Key::Real(|s| s.p99_ns)),
    ("p99_5_ns", Key::Real(|s| s.p99_5_ns)),
    ("p99_9_ns", Key::Real(|s| s.p99_9_ns)),
    ("p99_99_ns", Key::Real(|s| s.p99_99_ns)),
    ("min_at_frame", Key::Whole(|s| s.min_at_frame)),
    ("max_at_frame", Key::Whole(|s| s.max_at_frame)),
    ("lag1", Key::Real(|s| s.lag1)),
    ("distinct", Key::Whole(|s| Some(s.distinct))),
    ("drift_ppb", Key::Clocks(|fit| fit.drift_ppb)),
    ("linear_residual_range_ns", Key::Clocks(|fit| fit.linear_residual_range_ns)),
    ("isotonic_residual_range_ns", Key::Clocks(|fit| fit.isotonic_residual_range_ns)),
];

/// The metric that compares two clocks.
const CLOCKS: &str = "tx_stamp_vs_observer";

impl Figure {
    /// The figure called `name`.
    ///
    /// # Errors
    /// A sentence that says so and names near ones.
    pub fn read(name: &str) -> Result<Self, String> {
        let (stream, rest) = match name.strip_prefix("streams.").and_then(|rest| rest.split_once('.')) {
            Some((number, rest)) => {
                let stream = number
                    .parse()
                    .map_err(|_| format!("`{name}`: streams are named by their place, such as streams.0.{rest}"))?;
                (Some(stream), rest)
            }
            None => (None, name),
        };
        let figure = |unit, is_whole, read| Self { name: name.to_owned(), unit, is_whole, stream, read };
        if let Some((_, count)) = COUNTS.iter().find(|(count, _)| *count == rest) {
            return Ok(figure("1", true, Read::Count(*count)));
        }
        let Some((metric, key)) = rest.split_once('.') else {
            let hint =
                near(rest, COUNTS.iter().map(|(count, _)| *count).chain(metric::LIST.iter().map(|metric| metric.name)));
            return Err(format!(
                "`{name}` is no count{hint}; write a count such as `late`, or METRIC.KEY such as `launch_error.p99_9_ns`"
            ));
        };
        let Some(metric) = metric::LIST.iter().find(|known| known.name == metric) else {
            let hint = near(metric, metric::LIST.iter().map(|metric| metric.name));
            return Err(format!("there is no metric `{metric}`{hint}; see `nicsim list metrics`"));
        };
        let keys = || KEYS.iter().filter(|(_, key)| metric.name == CLOCKS || !matches!(key, Key::Clocks(_)));
        let Some((key_name, key)) = keys().find(|(known, _)| *known == key) else {
            let hint = near(key, keys().map(|(name, _)| *name));
            let all: Vec<&str> = keys().map(|(name, _)| *name).collect();
            return Err(format!("`{}` has no key `{key}`{hint}; its keys are {}", metric.name, all.join(", ")));
        };
        let unit = [("_ns", "ns"), ("_ppb", "ppb")].into_iter().find(|(ending, _)| key_name.ends_with(ending));
        Ok(figure(unit.map_or("1", |unit| unit.1), matches!(key, Key::Whole(_)), Read::Metric(metric.name, *key)))
    }

    /// The figures of a deep percentile of `metric`: its value and the ends of its interval.
    pub fn of_tail(metric: &str) -> [Self; 3] {
        let figure = |key: &str, read| Self {
            name: format!("{metric}.{key}"),
            unit: "ns",
            is_whole: false,
            stream: None,
            read: Read::Tail(read),
        };
        [
            figure("tail_ns", |tail| tail.value_ns),
            figure("tail_low_ns", |tail| tail.low_ns),
            figure("tail_high_ns", |tail| tail.high_ns),
        ]
    }

    /// The metric that must be recorded for it.
    pub fn metric(&self) -> Option<&'static str> {
        match self.read {
            Read::Metric(metric, _) => Some(metric),
            Read::Count(_) | Read::Tail(_) => None,
        }
    }

    /// Its value in a report, or of the tail that was estimated beside it; none where it does not exist.
    pub fn of(&self, report: &Report, tail: Option<&Tail>) -> Option<f64> {
        let (frames, stamps, metrics) = match self.stream {
            None => (&report.counts, &report.stamps, &report.metrics),
            Some(stream) => report.streams.get(stream).map(|s| (&s.counts, &s.stamps, &s.metrics))?,
        };
        match self.read {
            Read::Count(count) => Some(count(frames, stamps) as f64),
            Read::Metric(metric, key) => key.of(metrics.get(metric)?),
            Read::Tail(read) => tail.map(read),
        }
    }
}

impl Key {
    fn of(self, metric: &MetricSummary) -> Option<f64> {
        match self {
            Self::Real(read) => read(&metric.summary),
            Self::Whole(read) => read(&metric.summary).map(|value| value as f64),
            Self::Clocks(read) => metric.clocks.as_ref().map(read),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_report_json() {
        // Every key that a summary has in JSON, apart from lists, is a key here.
        let json = serde_json::to_value(Summary::default()).unwrap();
        let known: Vec<&str> = KEYS.iter().map(|(name, _)| *name).collect();
        for key in json.as_object().unwrap().keys().filter(|key| !["top", "histogram"].contains(&key.as_str())) {
            assert!(known.contains(&key.as_str()), "{key}");
        }
        let figure = Figure::read("streams.1.observed_interval.std_ns").unwrap();
        assert_eq!((figure.unit, figure.stream, figure.metric()), ("ns", Some(1), Some("observed_interval")));
        assert!(Figure::read("stamps.lost").unwrap().is_whole);
    }

    #[test]
    fn wrong_names_are_refused_with_near_ones() {
        let error = |name: &str| Figure::read(name).unwrap_err();
        assert!(error("observed_intervall.std_ns").contains("near it are `observed_interval`"));
        assert!(error("observed_interval.p99_9ns").contains("near it are `p99_9_ns`"));
        assert!(error("lates").contains("near it are `late`"));
        assert!(error("launch_error.drift_ppb").contains("no key"));
    }
}
