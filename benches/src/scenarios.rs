//! The scenarios of the benches, written as a user would write them.

use nicsim_core::sink::Null;
use nicsim_models::world::KernelKind;
use nicsim_scenarios::file::ScenarioFile;
use nicsim_scenarios::report::Report;
use nicsim_scenarios::run::{RunOptions, run};
use nicsim_scenarios::scenario::Scenario;
use nicsim_scenarios::sweep::{Overrides, Sweep};

/// Which metrics are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record {
    All,
    Nothing,
}

impl Record {
    fn section(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Nothing => "[report]\nmetrics = []\n",
        }
    }
}

/// A sweep of `points` runs of a scenario of this module, called `w1.toml` or `e830.toml`, with `frames` frames each: every
/// point has its own lead, and keeps one figure.
pub fn sweep(scenario: &str, points: u64, frames: u64) -> Sweep {
    let (figure, lead) = match scenario {
        "w1.toml" => ("tx_stamp_interval.std_ns", 50_000),
        _ => ("observed_interval.std_ns", 100_000),
    };
    let text = format!(
        "scenario = \"{scenario}\"\nmetrics = [\"{figure}\"]\nframes = {frames}\n[sweep.grid]\n\
         \"stream.0.lead\" = {{ from = \"{lead}ns\", to = \"{}ns\", count = {points} }}\n",
        lead + 8 * (points - 1)
    );
    Sweep::open("bench", &text, Overrides::default(), &load).unwrap()
}

/// The E830 with `streams` scheduled streams in queues of their own, at least `frames` frames in all.
pub fn e830(jitter: &str, streams: u64, frames: u64, record: Record) -> Scenario {
    resolve(&e830_text(jitter, streams, frames, record))
}

fn e830_text(jitter: &str, streams: u64, frames: u64, record: Record) -> String {
    let mut text = format!(
        "name = \"bench\"\nabout = \"bench\"\n\
         [nic]\nmodel = \"e830\"\ndriver = \"ice-fixed\"\njitter = \"{jitter}\"\nphc_start = \"1790000000s\"\n\
         [observer]\nkind = \"efcc-10g\"\noffset = \"7.55ppm\"\n{}",
        record.section()
    );
    for stream in 0..streams {
        text += &format!(
            "[[stream]]\nframes = {}\nsize = \"64B\"\ninterval = \"100us\"\nlead = \"100us\"\nfirst_launch = \"{}ns\"\ntx_stamps = {}\n",
            frames.div_ceil(streams),
            102_400 + stream * 1_280,
            // 64 registers serve one stream of this rate; more would only measure how stamps are lost.
            stream == 0
        );
    }
    text
}

/// The plain 1 GbE card: one stream without launch times, seen by the capture.
pub fn generic_1g(frames: u64, record: Record) -> Scenario {
    resolve(&format!(
        "name = \"bench\"\nabout = \"bench\"\n[nic]\nmodel = \"generic-1g\"\ndriver = \"generic\"\n\
         [observer]\nkind = \"efcc-1g\"\noffset = \"7.55ppm\"\n{}\
         [[stream]]\nframes = {frames}\nsize = \"64B\"\ninterval = \"100us\"\n",
        record.section()
    ))
}

/// W1: submit, fetch, release with a normal jitter on a grid of 128 ns, a stamp at 812.5 MHz, one interval.
pub fn w1(frames: u64) -> Scenario {
    resolve(&w1_text(frames))
}

fn w1_text(frames: u64) -> String {
    format!(
        "name = \"w1\"\nabout = \"the least that a NIC with launch times does\"\n\
         [nic]\nmodel = \"w1-nic.toml\"\ndriver = \"ice-fixed\"\n\
         [[stream]]\nframes = {frames}\nsize = \"64B\"\ninterval = \"100us\"\nlead = \"50us\"\ntx_stamps = true\n\
         [report]\nmetrics = [\"tx_stamp_interval\"]\n"
    )
}

/// Text of W1's card.
const W1_NIC: &str = include_str!("w1-nic.toml");

/// The files that scenarios and sweeps of this module name.
///
/// # Errors
/// There is no such file.
pub fn load(name: &str) -> Result<String, String> {
    match name {
        "w1-nic.toml" => Ok(W1_NIC.to_owned()),
        "w1.toml" => Ok(w1_text(1)),
        "e830.toml" => Ok(e830_text("poll-free", 1, 1, Record::All)),
        _ => Err(format!("{name}: the benches have no such file")),
    }
}

fn resolve(text: &str) -> Scenario {
    Scenario::resolve(ScenarioFile::parse("bench", text, &[]).unwrap(), &load).unwrap()
}

/// Runs a scenario as `nicsim run` does, up to the report.
pub fn report(scenario: &Scenario, kernel: KernelKind) -> Report {
    let options = RunOptions { kernel, ..RunOptions::default() };
    run(scenario, options, &mut Null, &mut |_| true).unwrap().report
}
