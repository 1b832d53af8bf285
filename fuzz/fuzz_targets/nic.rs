//! Any text as a NIC file: an error, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nicsim_models::registry;
use nicsim_models::spec::SpecFile;

fuzz_target!(|text: &str| {
    if let Ok(file) = SpecFile::parse("fuzz", text) {
        let _ = file.parameters();
        let _ = registry::read_nic(&file);
        let _ = registry::read_instrument(&file);
    }
});
