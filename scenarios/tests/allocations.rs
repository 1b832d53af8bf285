//! Memory does not depend on the number of frames. One test alone in its process, since others would be seen too.
//!
//! What is watched is the memory that the process holds (resident pages, as Linux tells them): 450,000 frames that kept
//! one byte each would be seen. The workspace allows no unsafe code, of which a counting allocator would be made.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{open, seed};
use nicsim_core::sink::Null;

/// Frames after which all pages are touched: beyond the 131,072 frames of which stamps are kept for regressions.
const WARM: u64 = 150_000;
const FRAMES: u64 = 600_000;
/// What pages of histograms for values not seen before may take (about 160 KiB), below one byte per frame.
const FEW_BYTES: u64 = 256 << 10;

/// Resident memory of this process [bytes].
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    // Total, then resident [pages of 4,096 bytes at least].
    pages.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4_096
}

/// Memory at the first progress report after `WARM` frames, and the most after it.
fn grows_by(name: &str, sets: &[&str]) -> (u64, u64) {
    let frames = format!("stream.0.frames={FRAMES}");
    let sets: Vec<&str> = sets.iter().copied().chain([frames.as_str()]).collect();
    let scenario = open(name, &sets);
    let (mut warm, mut most, mut last) = (0, 0, 0);
    nicsim_scenarios::run::run(&scenario, seed(1), &mut Null, &mut |frames| {
        if frames >= WARM {
            let resident = resident();
            if warm == 0 {
                warm = resident;
            }
            most = most.max(resident);
        }
        last = frames;
        true
    })
    .unwrap();
    assert!(warm > 0 && last == FRAMES, "progress reports both before and after");
    (warm, most)
}

#[test]
fn memory_does_not_grow_with_the_number_of_frames() {
    for (name, sets) in [
        ("e830/sched-64b-100us", [].as_slice()),
        // Everything waits for something: registers, descriptors, the line.
        (
            "e830/tx-stamps-10us",
            ["stream.0.size=9022B", "stream.0.interval=6us", "stream.0.overload=true", "nic.ring=64"].as_slice(),
        ),
        ("e830/fault-modulo-dpdk", [].as_slice()),
    ] {
        let (warm, most) = grows_by(name, sets);
        assert!(most - warm <= FEW_BYTES, "{name}: {} bytes more after {FRAMES} frames than after {WARM}", most - warm);
    }
}
