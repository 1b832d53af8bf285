//! Collects `nics/*.toml` and `instruments/*.toml` into lists, so that one is added by adding its file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    collect("nics")?;
    collect("instruments")
}

/// Writes `OUT_DIR/<folder>.rs`, a list of (name, text) of the folder's TOML files in order of name.
fn collect(folder: &str) -> io::Result<()> {
    println!("cargo::rerun-if-changed={folder}");
    let path = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join(folder);
    let mut files: Vec<PathBuf> =
        fs::read_dir(path)?.map(|entry| entry.map(|e| e.path())).collect::<io::Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let mut list = String::from("[\n");
    for path in files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let _ = writeln!(list, "    ({name:?}, include_str!({path:?})),");
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR").unwrap_or_default()).join(format!("{folder}.rs")), list)
}
