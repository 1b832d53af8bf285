//! The program in a folder of its own.
#![allow(dead_code, unreachable_pub, reason = "each test file takes what it needs")]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the program in an empty folder of its own.
pub struct Shell {
    folder: tempfile::TempDir,
}

impl Shell {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    pub fn run(&self, args: &[&str]) -> Output {
        let program = env!("CARGO_BIN_EXE_nicsim");
        Command::new(program).args(args).current_dir(self.folder.path()).env_remove("NICSIM_TRACES").output().unwrap()
    }

    pub fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stderr.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Asserts status 2, nothing on stdout, nothing written, and one short paragraph; answers it.
    pub fn refused(&self, args: &[&str]) -> String {
        let before = self.files();
        let output = self.run(args);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(output.stdout.is_empty(), "{args:?}");
        assert_eq!(self.files(), before, "{args:?} wrote something");
        assert!(!text.contains("panicked") && !text.contains("RUST_BACKTRACE"), "{text}");
        text
    }

    pub fn files(&self) -> Vec<PathBuf> {
        fn walk(folder: &Path, into: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, into);
                }
                into.push(path);
            }
        }
        let mut files = Vec::new();
        walk(self.folder.path(), &mut files);
        files.sort();
        files
    }
}
