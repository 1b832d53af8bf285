//! Noise as expressions: what a NIC file or a scenario writes, and the sampler that is made of it.
//!
//! ```toml
//! after = { sum = [
//!     { normal = "5.38ns" },
//!     { chance = { p = 0.0693, of = { exponential = { mean = "31.2ns", cut = "350ns" } } } },
//!     { by_size = { none_at = "64B", full_at = "1518B", of = { exponential = { mean = "50ns" } } } },
//! ] }
//! ```
//!
//! A sample is a whole number of picoseconds and a pure function of (key, number, size): see [`crate::rng`].

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::law::{self, Law};
use crate::quantity::{self, Kind, QuantityError};
use crate::rng::Key;
use crate::time::Span;
use crate::walk::Walk;

/// A size as people write it; the base unit is the byte.
const BYTES: Kind = Kind { base: "B", example: "64B", units: &[("B", 1, 1), ("kB", 1_000, 1), ("KiB", 1_024, 1)] };

/// A number of bytes, written `"64B"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u32);

impl FromStr for Bytes {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let bytes = BYTES.whole(text)?;
        u32::try_from(bytes)
            .map(Self)
            .map_err(|_| QuantityError::OutOfRange { text: text.to_owned(), limit: "0B to 4294967295B" })
    }
}
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}B", self.0)
    }
}
impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        quantity::deserialize_quantity(deserializer, BYTES.example)
    }
}
impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A noise expression as it is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NoiseSpec {
    /// Always the same value.
    Constant(Span),
    /// Normal with mean 0 and this standard deviation.
    Normal(Span),
    /// Laplace with mean 0 and this scale (standard deviation √2 · scale).
    Laplace(Span),
    /// Exponential from 0 on.
    Exponential(Exponential),
    /// Uniform from the first value to the second, the second excluded.
    Uniform([Span; 2]),
    /// Another noise with probability `p`, else 0.
    Chance(Chance),
    /// One of several noises, by weight.
    Mixture(Vec<Part>),
    /// All of these together.
    Sum(Vec<NoiseSpec>),
    /// One of the listed values at a time, by weight, independently.
    Empirical(Empirical),
    /// A recorded sequence, in its order, repeated from the start when it ends.
    Recorded(Recorded),
    /// The running sum of normal steps of this standard deviation.
    RandomWalk(Span),
    /// A noise scaled by the size of what is sent: 0 at `none_at`, as it is at `full_at`, linear between and beyond.
    BySize(Box<BySize>),
}

/// An exponential law.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exponential {
    /// Mean of the law before it is cut.
    pub mean: Span,
    /// Values from here on do not occur: the law is drawn under the condition of being below, not clipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Span>,
}

/// A noise that happens now and then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chance {
    /// Probability, 0 to 1.
    pub p: f64,
    /// The noise.
    pub of: Box<NoiseSpec>,
}

/// One part of a mixture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its weight, relative to the others.
    pub weight: f64,
    /// The noise.
    pub of: NoiseSpec,
}

/// A table of values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Empirical {
    /// The values.
    pub values: Vec<Span>,
    /// Their weights; all alike when left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f64>,
}

/// A recorded sequence: either its values or the file that holds them, one time with unit per line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Recorded {
    /// The values themselves.
    Values(Vec<Span>),
    /// A file to load before the run.
    File(String),
}

/// A noise that grows with the size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BySize {
    /// Size at which nothing is left of it.
    pub none_at: Bytes,
    /// Size at which it counts in full.
    pub full_at: Bytes,
    /// The noise.
    pub of: NoiseSpec,
}

/// Why an expression cannot be sampled.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoiseError {
    /// A probability outside 0 to 1.
    #[error("`chance` has p = {0}; a probability lies between 0 and 1")]
    Probability(f64),
    /// A spread below zero.
    #[error("`{law}` has the negative {what} {value}; it must be 0s or more")]
    Negative {
        /// The law.
        law: &'static str,
        /// Its parameter.
        what: &'static str,
        /// What was given.
        value: Span,
    },
    /// A cut at or below zero.
    #[error("`exponential` is cut at {0}, which leaves nothing; the cut must be above 0s")]
    Cut(Span),
    /// Ends in the wrong order.
    #[error("`uniform` goes from {0} to {1}; the second value must not be the smaller one")]
    Ends(Span, Span),
    /// Nothing to choose from.
    #[error("`{0}` has no values")]
    Empty(&'static str),
    /// Weights that are no weights.
    #[error("`{law}` has {reason}")]
    Weights {
        /// The law.
        law: &'static str,
        /// What is wrong with them.
        reason: String,
    },
    /// Both sizes of `by_size` alike.
    #[error("`by_size` has none_at = full_at = {0}; they must differ")]
    Sizes(Bytes),
    /// A file that was not loaded.
    #[error("`recorded` names the file {0}, which was not loaded")]
    NotLoaded(String),
}

impl NoiseSpec {
    /// No noise.
    pub const NONE: Self = Self::Constant(Span::ZERO);

    /// Replaces every named file in the expression by its values.
    ///
    /// # Errors
    /// Whatever `load` answers.
    pub fn load_files<E>(&mut self, load: &mut impl FnMut(&str) -> Result<Vec<Span>, E>) -> Result<(), E> {
        match self {
            Self::Recorded(recorded) => {
                if let Recorded::File(name) = recorded {
                    *recorded = Recorded::Values(load(name)?);
                }
                Ok(())
            }
            Self::Chance(chance) => chance.of.load_files(load),
            Self::Mixture(parts) => parts.iter_mut().try_for_each(|part| part.of.load_files(load)),
            Self::Sum(parts) => parts.iter_mut().try_for_each(|part| part.load_files(load)),
            Self::BySize(by_size) => by_size.of.load_files(load),
            _ => Ok(()),
        }
    }
}

/// A noise expression ready to be sampled.
#[derive(Debug, Clone)]
pub struct Noise(Node);

#[derive(Debug, Clone)]
enum Node {
    Constant(i64),
    Normal { key: Key, std: i64, law: &'static Law },
    Laplace { key: Key, scale: i64, law: &'static Law },
    Exponential { key: Key, mean: i64, below: u64, law: &'static Law },
    Uniform { key: Key, from: i64, width: u64 },
    Choice { key: Key, parts: Vec<(u64, Node)> },
    Sum(Vec<Node>),
    Empirical { key: Key, steps: Vec<(u64, i64)> },
    Recorded(Vec<i64>),
    Walk(Box<Walk>),
    BySize { none_at: i64, full_at: i64, of: Box<Node> },
}

impl Noise {
    /// Checks `spec` and makes its sampler; each part draws under a key of its own below `key`.
    ///
    /// # Errors
    /// [`NoiseError`] names the part that cannot be sampled and what would be right.
    pub fn new(spec: &NoiseSpec, key: Key) -> Result<Self, NoiseError> {
        node(spec, key).map(Self)
    }

    /// Sample `number`, for something of `size` bytes.
    #[inline]
    pub fn sample(&mut self, number: u64, size: u32) -> Span {
        Span::from_ps(self.0.sample(number, size))
    }
}

impl Node {
    /// The cheap and frequent nodes here, the others by a call.
    #[inline]
    fn sample(&mut self, number: u64, size: u32) -> i64 {
        match self {
            Self::Constant(value) => *value,
            Self::Normal { key, std, law } => law::scaled(*std, law.sample(key.bits(number))),
            Self::BySize { none_at, .. } if *none_at == i64::from(size) => 0,
            other => other.draw(number, size),
        }
    }

    fn draw(&mut self, number: u64, size: u32) -> i64 {
        match self {
            Self::Constant(_) | Self::Normal { .. } => self.sample(number, size),
            Self::Laplace { key, scale, law } => {
                let bits = key.bits(number);
                let magnitude = law::scaled(*scale, law.sample(bits << 1));
                if bits >> 63 == 0 { magnitude } else { -magnitude }
            }
            Self::Exponential { key, mean, below, law } => {
                law::scaled(*mean, law.sample(share(key.bits(number), *below)))
            }
            Self::Uniform { key, from, width } => from.wrapping_add(share(key.bits(number), *width) as i64),
            Self::Choice { key, parts } => {
                let bits = key.bits(number);
                match parts.iter_mut().find(|(below, _)| bits < *below) {
                    Some((_, chosen)) => chosen.sample(number, size),
                    None => 0,
                }
            }
            Self::Sum(parts) => parts.iter_mut().map(|part| part.sample(number, size)).sum(),
            Self::Empirical { key, steps } => {
                let bits = key.bits(number);
                steps[steps.partition_point(|(below, _)| *below <= bits).min(steps.len() - 1)].1
            }
            Self::Recorded(values) => values[(number % values.len() as u64) as usize],
            Self::Walk(walk) => walk.at(number).as_ps(),
            Self::BySize { none_at, full_at, of } => {
                fraction(of.draw(number, size), i64::from(size) - *none_at, *full_at - *none_at)
            }
        }
    }
}

/// value · part / whole, rounded towards 0.
fn fraction(value: i64, part: i64, whole: i64) -> i64 {
    match value.checked_mul(part) {
        Some(product) => product.wrapping_div(whole),
        None => (i128::from(value) * i128::from(part) / i128::from(whole)) as i64,
    }
}

/// floor(bits · whole / 2^64): a uniform number below `whole`.
fn share(bits: u64, whole: u64) -> u64 {
    ((u128::from(bits) * u128::from(whole)) >> 64) as u64
}

fn node(spec: &NoiseSpec, key: Key) -> Result<Node, NoiseError> {
    Ok(match spec {
        NoiseSpec::Constant(value) => Node::Constant(value.as_ps()),
        NoiseSpec::Normal(std) => {
            Node::Normal { key, std: not_negative("normal", "standard deviation", *std)?, law: law::normal() }
        }
        NoiseSpec::Laplace(scale) => {
            Node::Laplace { key, scale: not_negative("laplace", "scale", *scale)?, law: law::exponential() }
        }
        NoiseSpec::Exponential(Exponential { mean, cut }) => Node::Exponential {
            key,
            mean: not_negative("exponential", "mean", *mean)?,
            below: cut.map_or(Ok(u64::MAX), |cut| probability_below(*mean, cut))?,
            law: law::exponential(),
        },
        NoiseSpec::Uniform([from, to]) => {
            let width = to.as_ps().checked_sub(from.as_ps()).and_then(|width| u64::try_from(width).ok());
            Node::Uniform { key, from: from.as_ps(), width: width.ok_or(NoiseError::Ends(*from, *to))? }
        }
        NoiseSpec::Chance(Chance { p, of }) => {
            if !(0.0..=1.0).contains(p) {
                return Err(NoiseError::Probability(*p));
            }
            Node::Choice { key, parts: vec![(threshold(*p), node(of, key.child(0))?)] }
        }
        NoiseSpec::Mixture(parts) => {
            let weights: Vec<f64> = parts.iter().map(|part| part.weight).collect();
            let steps = cumulative("mixture", &weights)?;
            let nodes = parts.iter().enumerate().map(|(k, part)| node(&part.of, key.child(k as u64)));
            Node::Choice {
                key,
                parts: steps.into_iter().zip(nodes).map(|(below, n)| Ok((below, n?))).collect::<Result<_, _>>()?,
            }
        }
        NoiseSpec::Sum(parts) => Node::Sum(
            parts.iter().enumerate().map(|(k, part)| node(part, key.child(k as u64))).collect::<Result<_, _>>()?,
        ),
        NoiseSpec::Empirical(table) => {
            let equal = vec![1.0; table.values.len()];
            let weights = if table.weights.is_empty() { &equal } else { &table.weights };
            if weights.len() != table.values.len() {
                let reason = format!("{} values but {} weights", table.values.len(), weights.len());
                return Err(NoiseError::Weights { law: "empirical", reason });
            }
            let values = table.values.iter().map(|value| value.as_ps());
            Node::Empirical { key, steps: cumulative("empirical", weights)?.into_iter().zip(values).collect() }
        }
        NoiseSpec::Recorded(Recorded::Values(values)) if values.is_empty() => {
            return Err(NoiseError::Empty("recorded"));
        }
        NoiseSpec::Recorded(Recorded::Values(values)) => {
            Node::Recorded(values.iter().map(|value| value.as_ps()).collect())
        }
        NoiseSpec::Recorded(Recorded::File(name)) => return Err(NoiseError::NotLoaded(name.clone())),
        NoiseSpec::RandomWalk(step) => {
            not_negative("random_walk", "step", *step)?;
            Node::Walk(Box::new(Walk::new(key, *step)))
        }
        NoiseSpec::BySize(by_size) => {
            if by_size.none_at == by_size.full_at {
                return Err(NoiseError::Sizes(by_size.none_at));
            }
            Node::BySize {
                none_at: i64::from(by_size.none_at.0),
                full_at: i64::from(by_size.full_at.0),
                of: Box::new(node(&by_size.of, key.child(0))?),
            }
        }
    })
}

fn not_negative(law: &'static str, what: &'static str, value: Span) -> Result<i64, NoiseError> {
    if value < Span::ZERO { Err(NoiseError::Negative { law, what, value }) } else { Ok(value.as_ps()) }
}

/// 2^64 · P(X < cut) for an exponential X.
fn probability_below(mean: Span, cut: Span) -> Result<u64, NoiseError> {
    if cut <= Span::ZERO {
        return Err(NoiseError::Cut(cut));
    }
    Ok(threshold(-libm::expm1(-(cut.as_ps() as f64) / mean.as_ps() as f64)))
}

/// 2^64 · p, saturating at the largest 64-bit number.
fn threshold(p: f64) -> u64 {
    (p * 18_446_744_073_709_551_616.0) as u64
}

/// Running sums of `weights` as thresholds of a uniform 64-bit draw; the last is the largest number.
fn cumulative(law: &'static str, weights: &[f64]) -> Result<Vec<u64>, NoiseError> {
    if weights.is_empty() {
        return Err(NoiseError::Empty(law));
    }
    if let Some(bad) = weights.iter().find(|w| !w.is_finite() || **w < 0.0) {
        return Err(NoiseError::Weights { law, reason: format!("the weight {bad}; weights are 0 or more") });
    }
    let total: f64 = weights.iter().sum();
    if !(total > 0.0 && total.is_finite()) {
        return Err(NoiseError::Weights { law, reason: "weights whose sum is not above 0".to_owned() });
    }
    let mut sum = 0.0;
    let mut steps: Vec<u64> = weights
        .iter()
        .map(|weight| {
            sum += weight;
            threshold(sum / total)
        })
        .collect();
    // Rounding must not leave a gap above the last value that has any weight.
    if let Some(last) = weights.iter().rposition(|w| *w > 0.0) {
        steps[last..].fill(u64::MAX);
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(json: &str) -> NoiseSpec {
        serde_json::from_str(json).unwrap()
    }

    fn draw(json: &str, n: u64, size: u32) -> Vec<f64> {
        let mut noise = Noise::new(&spec(json), Key::root(42, 0)).unwrap();
        (0..n).map(|k| noise.sample(k, size).as_ps() as f64).collect()
    }

    fn moments(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / values.len() as f64;
        (mean, variance.sqrt())
    }

    /// (expression, size, mean, standard deviation) \[ps\], each worked out by hand.
    const SHAPES: [(&str, u32, f64, f64); 12] = [
        (r#"{"constant":"1ns"}"#, 64, 1_000.0, 0.0),
        (r#"{"normal":"10ns"}"#, 64, 0.0, 10_000.0),
        (r#"{"laplace":"10ns"}"#, 64, 0.0, 14_142.1),
        (r#"{"exponential":{"mean":"10ns"}}"#, 64, 10_000.0, 10_000.0),
        // Cut at the mean: mean 1 − 1/(e − 1) of it, variance 1 − e/(e − 1)².
        (r#"{"exponential":{"mean":"10ns","cut":"10ns"}}"#, 64, 4_180.2, 2_817.0),
        (r#"{"uniform":["-2ns","10ns"]}"#, 64, 4_000.0, 3_464.1),
        (r#"{"chance":{"p":0.25,"of":{"constant":"8ns"}}}"#, 64, 2_000.0, 3_464.1),
        (
            r#"{"mixture":[{"weight":3,"of":{"constant":"0ns"}},{"weight":1,"of":{"constant":"8ns"}}]}"#,
            64,
            2_000.0,
            3_464.1,
        ),
        (r#"{"sum":[{"constant":"5ns"},{"normal":"3ns"},{"normal":"4ns"}]}"#, 64, 5_000.0, 5_000.0),
        (r#"{"empirical":{"values":["0ns","4ns","8ns"],"weights":[1,2,1]}}"#, 64, 4_000.0, 2_828.4),
        (r#"{"recorded":{"values":["1ns","2ns","3ns","2ns"]}}"#, 64, 2_000.0, 707.1),
        (
            r#"{"by_size":{"none_at":"64B","full_at":"1518B","of":{"exponential":{"mean":"50ns"}}}}"#,
            791,
            25_000.0,
            25_000.0,
        ),
    ];

    #[test]
    fn every_shape_has_its_moments() {
        for (json, size, mean, std) in SHAPES {
            let (m, s) = moments(&draw(json, 200_000, size));
            // Five standard errors, on a fixed seed: a false alarm would be permanent, and there is none.
            assert!((m - mean).abs() <= 1.0 + 5.0 * std / 447.0, "{json}: mean {m}");
            assert!((s - std).abs() <= 1.0 + 5.0 * std / 316.0 * 1.5, "{json}: std {s}");
        }
    }

    #[test]
    fn values_are_stable() {
        // A change here changes results: it belongs under "Results that change" in CHANGELOG.md.
        let pinned: Vec<Vec<i64>> =
            SHAPES.iter().map(|(json, size, ..)| draw(json, 3, *size).iter().map(|v| *v as i64).collect()).collect();
        assert_eq!(format!("{pinned:?}"), include_str!("../tests/noise_values.txt").trim());
    }

    #[test]
    fn a_cut_law_stays_below_its_cut() {
        let values = draw(r#"{"exponential":{"mean":"31.2ns","cut":"350ns"}}"#, 100_000, 64);
        assert!(values.iter().all(|v| (0.0..350_000.0).contains(v)));
        assert!(values.iter().any(|v| *v > 250_000.0));
    }

    #[test]
    fn a_size_without_noise_has_none() {
        let json = r#"{"by_size":{"none_at":"64B","full_at":"1518B","of":{"normal":"50ns"}}}"#;
        assert!(draw(json, 1_000, 64).iter().all(|v| *v == 0.0));
    }

    #[test]
    fn a_random_walk_spreads_with_the_root_of_the_number() {
        let ends: Vec<f64> = (0..2_000)
            .map(|seed| {
                Noise::new(&spec(r#"{"random_walk":"1ns"}"#), Key::root(seed, 0)).unwrap().sample(100, 64).as_ps()
                    as f64
            })
            .collect();
        let (mean, std) = moments(&ends);
        assert!(mean.abs() < 1_200.0 && (std - 10_000.0).abs() < 800.0, "{mean} {std}");
    }

    #[test]
    fn wrong_expressions_are_refused_with_the_reason() {
        let error = |json: &str| Noise::new(&spec(json), Key::root(0, 0)).unwrap_err().to_string();
        assert_eq!(
            error(r#"{"normal":"-1ns"}"#),
            "`normal` has the negative standard deviation -1ns; it must be 0s or more"
        );
        assert_eq!(
            error(r#"{"chance":{"p":1.5,"of":{"constant":"1ns"}}}"#),
            "`chance` has p = 1.5; a probability lies between 0 and 1"
        );
        assert_eq!(
            error(r#"{"uniform":["2ns","1ns"]}"#),
            "`uniform` goes from 2ns to 1ns; the second value must not be the smaller one"
        );
        assert_eq!(error(r#"{"mixture":[]}"#), "`mixture` has no values");
        assert_eq!(
            error(r#"{"empirical":{"values":["1ns"],"weights":[1,2]}}"#),
            "`empirical` has 1 values but 2 weights"
        );
        assert_eq!(
            error(r#"{"empirical":{"values":["1ns"],"weights":[0]}}"#),
            "`empirical` has weights whose sum is not above 0"
        );
        assert_eq!(
            error(r#"{"exponential":{"mean":"1ns","cut":"0ns"}}"#),
            "`exponential` is cut at 0s, which leaves nothing; the cut must be above 0s"
        );
        assert_eq!(error(r#"{"recorded":{"file":"x.txt"}}"#), "`recorded` names the file x.txt, which was not loaded");
    }

    #[test]
    fn values_without_weight_never_occur() {
        let values = draw(r#"{"empirical":{"values":["1ns","2ns","3ns"],"weights":[1,1,0]}}"#, 10_000, 64);
        assert!(values.iter().all(|v| *v < 3_000.0));
    }
}
