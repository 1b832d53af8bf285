//! The judgements themselves: published figures with the default seed, and the recorded captures.
#![allow(clippy::print_stdout, reason = "the verdicts of a failing test are what its reader needs")]

use nicsim_validate::verdict::{Outcome, Verdict};
use nicsim_validate::{published, recorded};

fn print(verdicts: &[Verdict]) {
    for v in verdicts {
        println!(
            "{:?} {} | {} | measured {} | simulated {} | allowed {}",
            v.verdict, v.name, v.figure, v.measured, v.simulated, v.tolerance
        );
    }
}

#[test]
fn published_figures_hold_with_the_default_seed() {
    let verdicts: Vec<Verdict> =
        published::scenarios().into_iter().flat_map(|name| published::judge(name, false).unwrap()).collect();
    print(&verdicts);
    assert!(verdicts.len() >= 50);
    assert!(verdicts.iter().all(|v| v.verdict == Outcome::Pass));
}

#[test]
fn recorded_captures_agree_with_their_simulations() {
    let Some(traces) = traces() else {
        println!("skipped: the traces folder is absent (NICSIM_TRACES, or ../shared/traces)");
        return;
    };
    let open = |file: &str| std::fs::read(traces.join(file));
    let verdicts: Vec<Verdict> =
        recorded::recordings().unwrap().iter().map(|recording| recorded::judge(recording, &open).unwrap()).collect();
    print(&verdicts);
    assert_eq!(verdicts.len(), 23);
    assert!(verdicts.iter().all(|v| v.verdict == Outcome::Pass));
}

#[test]
fn a_missing_capture_is_skipped_and_said_so() {
    let absent = |_: &str| Err(std::io::Error::from(std::io::ErrorKind::NotFound));
    let verdict = recorded::judge(&recorded::recordings().unwrap()[0], &absent).unwrap();
    assert_eq!(verdict.verdict, Outcome::Skipped);
    assert!(verdict.reason.contains("recv60.csv"), "{}", verdict.reason);
}

fn traces() -> Option<std::path::PathBuf> {
    let default = || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces");
    let folder = std::env::var_os("NICSIM_TRACES").map_or_else(default, Into::into);
    folder.is_dir().then_some(folder)
}
