//! NIC hardware and its drivers: pure stage rules, and the one loop that orders them.
//!
//! | stage | module | may see |
//! |---|---|---|
//! | traffic | [`source`] | its own schedule, the PHC as an application reads it |
//! | clock | [`oscillator`], [`phc`] | true time, its own noise |
//! | driver's conversion | [`driver`] | what real software can read |
//! | NIC's reading of it | [`launch`] | the word and its counter |
//! | release | [`release`] | the head of a queue, the clock |
//! | MAC | [`mac`] | length, speed, the line clock |
//! | stamps | [`stamp`] | the plane crossing, the PHC |
//! | observer | [`observer`] | the cable |
//! | the other end | [`sender`] | its own schedule and clock |
//!
//! [`nic`] puts the stages of one port together, [`port`] orders them (and [`mod@reference`] does so again, slowly; [`kernel`] is
//! what both offer),
//! [`world`] holds everything and is what others call. Numbers live in `nics/*.toml` and `instruments/*.toml`
//! ([`spec`], [`registry`]).

pub mod bits;
pub mod driver;
pub mod frame;
pub mod kernel;
pub mod launch;
pub mod mac;
pub mod nic;
pub mod observer;
pub mod oscillator;
pub mod phc;
pub mod port;
pub mod reference;
pub mod registry;
pub mod release;
pub mod sender;
pub mod source;
pub mod spec;
pub mod stamp;
pub mod world;
