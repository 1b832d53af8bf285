//! Collects `files/**/*.toml` and `sweeps/**/*.toml` into the lists of built-in scenarios and sweeps; a file's place below
//! its folder is its name.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    list("files", "scenarios.rs")?;
    list("sweeps", "sweeps.rs")
}

fn list(folder: &str, output: &str) -> io::Result<()> {
    println!("cargo::rerun-if-changed={folder}");
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join(folder);
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut list = String::from("[\n");
    for path in files {
        let name = path.strip_prefix(&root).unwrap_or(&path).with_extension("");
        let name = name.to_string_lossy().replace('\\', "/");
        let _ = writeln!(list, "    ({name:?}, include_str!({path:?})),");
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR").unwrap_or_default()).join(output), list)
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, into)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            into.push(path);
        }
    }
    Ok(())
}
