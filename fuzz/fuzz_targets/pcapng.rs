//! Any bytes as this kind of capture, read and, where they can be, analysed: an error, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nicsim_validate::analyse::analyse;
use nicsim_validate::recording::{Kind, ReadOptions, read};

fuzz_target!(|bytes: &[u8]| {
    let options = ReadOptions { input: Some(Kind::Pcapng), ..ReadOptions::default() };
    if let Ok(capture) = read(bytes, "fuzz", &options) {
        let _ = analyse(&capture, None, Some(&capture));
    }
});
