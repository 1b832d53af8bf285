//! The committed figures.

use std::path::Path;
use std::process::Command;

use toml::{Table, Value};

/// What `instructions.toml` holds.
pub(crate) struct Figures {
    table: Table,
    /// The compiler that they were counted with.
    pub(crate) compiler: String,
}

impl Figures {
    pub(crate) fn read(file: &Path) -> Self {
        let table: Table = std::fs::read_to_string(file).unwrap_or_default().parse().unwrap();
        let compiler = table.get("compiler").and_then(Value::as_str).unwrap_or("an unknown compiler").to_owned();
        Self { table, compiler }
    }

    /// Instructions per frame of a work.
    pub(crate) fn of(&self, work: &str) -> Option<f64> {
        self.table.get("per_frame")?.get(work)?.as_integer().map(|figure| figure as f64)
    }
}

/// The file's text.
pub(crate) fn to_toml(measured: &[(&str, f64)]) -> String {
    let version = Command::new("rustc").arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    let mut text = format!(
        "# Instructions per frame, counted by callgrind and held within 5 % by\n\
         #     cargo bench -p nicsim-benches --bench instructions\n\
         # and written, not by hand, by the same command with `-- --bless`.\n\
         compiler = \"{version}\"\n\n[per_frame]\n"
    );
    for (work, figure) in measured {
        text += &format!("{work} = {figure:.0}\n");
    }
    text
}
