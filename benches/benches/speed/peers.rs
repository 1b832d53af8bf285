//! Peers in processes of their own: scripts for Python, a program for ns-3. Each prints its nanoseconds per frame and W1's
//! six figures; starting the process and the interpreter is not counted.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::w1::Six;

/// A peer that can be run, or why it cannot.
pub(crate) type Peer = Result<Program, String>;

/// A program with its arguments; the number of frames comes last.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    program: PathBuf,
    arguments: Vec<String>,
}

const ABSENT: &str = "not installed";
/// What the scripts exit with when a module is missing.
const ABSENT_STATUS: i32 = 3;

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}

/// A script under `peers/` with its arguments.
pub(crate) fn python(script: &str, arguments: &[&str]) -> Peer {
    let arguments = [sources().join(script).display().to_string()]
        .into_iter()
        .chain(arguments.iter().map(ToString::to_string))
        .collect();
    let program = Program { program: "python3".into(), arguments };
    program.output(2).map(|_| program)
}

/// ns-3's program, compiled as its users would, with the scheduler `scheduler`.
pub(crate) fn ns3(scheduler: &str) -> Peer {
    let known = Command::new("pkg-config").args(["--exists", "ns3-core"]).status();
    if !known.is_ok_and(|status| status.success()) {
        return Err(ABSENT.to_owned());
    }
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ns3_w1");
    let source = sources().join("ns3_w1.cc");
    let modified = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
    if modified(&program) < modified(&source) {
        // Debian's pkg-config file names libraries that its package does not bring; this one is enough.
        let compiler = Command::new("g++")
            .args(["-std=c++17", "-O3", "-march=native"])
            .arg(&source)
            .arg("-lns3-core")
            .arg("-o")
            .arg(&program)
            .output();
        match compiler {
            Ok(output) if output.status.success() => {}
            Ok(output) => return Err(last_line(&output.stderr)),
            Err(_) => return Err("no C++ compiler".to_owned()),
        }
    }
    let program = Program { program, arguments: vec![scheduler.to_owned()] };
    program.output(2).map(|_| program)
}

fn last_line(text: &[u8]) -> String {
    String::from_utf8_lossy(text).lines().last().unwrap_or("it failed").to_owned()
}

impl Program {
    fn output(&self, frames: u64) -> Result<Vec<u8>, String> {
        let output = Command::new(&self.program)
            .args(&self.arguments)
            .arg(frames.to_string())
            // The sources stay as they are.
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output();
        match output {
            Err(_) => Err(ABSENT.to_owned()),
            Ok(output) if output.status.code() == Some(ABSENT_STATUS) => Err(ABSENT.to_owned()),
            Ok(output) if !output.status.success() => Err(last_line(&output.stderr)),
            Ok(output) => Ok(output.stdout),
        }
    }

    /// Runs W1; answers nanoseconds per frame and the six figures.
    pub(crate) fn w1(&self, frames: u64) -> (f64, Six) {
        let output = self.output(frames).unwrap();
        let numbers = String::from_utf8_lossy(&output);
        let numbers: Vec<f64> = numbers.split_whitespace().map(|number| number.parse().unwrap()).collect();
        (numbers[0], numbers[1..].try_into().unwrap())
    }

    /// Runs W3; answers nanoseconds per frame of wall time.
    pub(crate) fn w3(&self, frames: u64) -> f64 {
        String::from_utf8_lossy(&self.output(frames).unwrap()).trim().parse().unwrap()
    }
}
