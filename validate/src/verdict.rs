//! A judgement: what was measured, what was simulated, what was allowed, and why.

use serde::{Deserialize, Serialize};

/// Does a simulation stand beside a measurement?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Within the tolerance.
    Pass,
    /// Outside.
    Fail,
    /// The simulation scatters too much for the tolerance to mean anything.
    Inconclusive,
    /// The measurement is not at hand.
    Skipped,
}

/// One judged figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Scenario or recording.
    pub name: String,
    /// The figure.
    pub figure: String,
    /// Its unit.
    pub unit: String,
    /// What was measured, as it was published.
    pub measured: String,
    /// What the simulation gives.
    pub simulated: String,
    /// What is allowed.
    pub tolerance: String,
    /// The judgement.
    pub verdict: Outcome,
    /// Why the tolerance is what it is, or why there is no judgement.
    pub reason: String,
    /// Where the measurement comes from.
    pub source: String,
}

/// A number with as many decimals as its size bears: 63.79, 3,417.6, 99,968.
pub fn number(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 10_000.0 => 1,
        v if v >= 100.0 => 2,
        v if v >= 1.0 => 3,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_decimals_that_they_bear() {
        let cases = [
            (63.787, "63.787"),
            (3_417.604, "3417.6"),
            (99_968.755_1, "99968.8"),
            (0.755_49, "0.7555"),
            (0.0, "0"),
            (-0.000_01, "0"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }
}
