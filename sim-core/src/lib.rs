//! The ground under nicsim: time, clocks, random streams, noise and statistics. It knows nothing of networks.
//!
//! Three rules hold here and in all that is built on it:
//!
//! 1. **Time is passed in.** No part asks what time it is; whoever calls says so.
//! 2. **Randomness is named.** A draw is a pure function of (seed, run, stream, purpose, number).
//! 3. **Nothing is allocated while running**, but for a histogram's page when a value first falls into it, and a ring's
//!    memory when its queue is longer than ever before.
//!
//! | module | holds |
//! |---|---|
//! | [`quantity`] | exact numbers with units, as people write them |
//! | [`time`] | instants and spans in whole picoseconds, one type per clock |
//! | [`clock`] | the exact map between two clocks and its inverse |
//! | [`grid`] | ticks with a rational period |
//! | [`agenda`] | the next instant of each source, and the earliest of them |
//! | [`ring`] | a bounded queue |
//! | [`rng`] | named random draws |
//! | [`walk`] | a random walk that can be asked anywhere |
//! | [`noise`] | noise expressions and their samplers |
//! | [`stats`] | exact, mergeable statistics |
//! | [`sink`] | where records go |

pub mod agenda;
pub mod clock;
pub mod grid;
mod law;
pub mod noise;
pub mod quantity;
pub mod ring;
pub mod rng;
pub mod sink;
pub mod stats;
pub mod time;
pub mod walk;
