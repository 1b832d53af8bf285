//! Any text as a scenario, run for a few frames where it is one: an error, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nicsim_scenarios::file::ScenarioFile;
use nicsim_scenarios::run::{RunOptions, run};
use nicsim_scenarios::scenario::Scenario;

/// Forgets every frame.
struct Nothing;

impl<R> nicsim_core::sink::Sink<R> for Nothing {
    fn take(&mut self, _: &R) {}
}

fuzz_target!(|text: &str| {
    // The first line is a setting, the rest the file.
    let (set, text) = text.split_once('\n').unwrap_or(("", text));
    let sets = if set.contains('=') { vec![set.to_owned()] } else { Vec::new() };
    let Ok(mut file) = ScenarioFile::parse("fuzz", text, &sets) else {
        return;
    };
    file.stream.iter_mut().for_each(|stream| stream.frames = stream.frames.min(50));
    let load = |_: &str| Err("no files here".to_owned());
    if file.stream.len() > 20 {
        return;
    }
    if let Ok(scenario) = Scenario::resolve(file, &load) {
        let mut calls = 0;
        let _ = run(&scenario, RunOptions::default(), &mut Nothing, &mut |_| {
            calls += 1;
            calls < 20
        });
    }
});
