//! The judgements themselves: of a scenario by its name, and of the recorded captures.
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

/// The figures of all scenarios are judged in `acceptance.rs`; here it is the way to a judgement.
#[test]
fn a_scenario_is_judged_by_its_name_with_one_seed_or_with_more() {
    const NAME: &str = "e830/fault-beyond-window";
    let (one, more) = (published::judge(NAME, false).unwrap(), published::judge(NAME, true).unwrap());
    print(&more);
    assert_eq!(more.len(), 2 * one.len());
    assert!(one.iter().eq(more.iter().step_by(2)), "the default seed's come first");
    assert!(more.iter().all(|v| v.name == NAME && v.verdict == Outcome::Pass));
    assert!(published::judge("e830/none", false).is_err());
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
