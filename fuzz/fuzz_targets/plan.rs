//! Any text as a plan: an error, never a panic; what is read can be written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nicsim_validate::plan::Plan;

fuzz_target!(|text: &str| {
    if let Ok(plan) = Plan::from_toml(text, "fuzz")
        && let Ok(written) = plan.to_toml()
    {
        assert_eq!(Plan::from_toml(&written, "written").as_ref(), Ok(&plan));
    }
});
