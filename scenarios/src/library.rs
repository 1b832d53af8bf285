//! The built-in scenarios and sweeps: the files under `files/` and `sweeps/`, collected when the crate is built.

use nicsim_models::spec::near;

const FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));

const SWEEPS: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/sweeps.rs"));

/// Names of the built-in scenarios, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|file| file.0)
}

/// Text of the built-in scenario `name`.
///
/// # Errors
/// A sentence that says so and names near ones.
pub fn text(name: &str) -> Result<&'static str, String> {
    FILES.iter().find(|file| file.0 == name).map(|file| file.1).ok_or_else(|| {
        format!(
            "there is no built-in scenario `{name}`{}; `nicsim list scenarios` prints all, and a path to a file works too",
            near(name, names())
        )
    })
}

/// Names of the built-in sweeps, in order.
pub fn sweep_names() -> impl Iterator<Item = &'static str> {
    SWEEPS.iter().map(|file| file.0)
}

/// Text of the built-in sweep `name`.
///
/// # Errors
/// A sentence that says so and names near ones.
pub fn sweep_text(name: &str) -> Result<&'static str, String> {
    SWEEPS.iter().find(|file| file.0 == name).map(|file| file.1).ok_or_else(|| {
        format!(
            "there is no built-in sweep `{name}`{}; `nicsim list sweeps` prints all, and a path to a file works too",
            near(name, sweep_names())
        )
    })
}
