//! `nicsim sweep` as its users meet it: killed, resumed, in parts, on full disks, with a million mistakes.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests fail by panicking and say what they skip"
)]

mod common;

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::Shell;

/// A sweep file of `points` points of `frames` frames.
fn file(points: u64, frames: u64) -> String {
    format!(
        "scenario = \"e830/sched-64b-100us\"\n\
         metrics = [\"observed_interval.std_ns\", \"launch_error.p99_9_ns\", \"late\"]\n\
         frames = {frames}\n\
         [sweep.grid]\n\
         \"stream.0.interval\" = {{ from = \"90us\", to = \"110us\", count = {points} }}\n"
    )
}

fn results(shell: &Shell, folder: &str) -> [Vec<u8>; 2] {
    ["results.csv", "results.parquet"].map(|name| std::fs::read(shell.path(folder).join(name)).unwrap())
}

fn assert_same(shell: &Shell, one: &str, other: &str) {
    for (a, b) in results(shell, one).iter().zip(&results(shell, other)) {
        assert!(!a.is_empty() && a == b, "{one} and {other} differ");
    }
    assert!(page(shell, one) == page(shell, other), "the pages of {one} and {other} differ");
}

/// The page and all pictures of a folder, by their names.
fn page(shell: &Shell, folder: &str) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(shell.path(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let shown = paths.filter(|path| path.extension().is_some_and(|ending| ending == "html" || ending == "svg"));
    let mut files: Vec<(String, Vec<u8>)> = shown
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect();
    files.sort();
    assert!(files.iter().any(|(name, _)| name == "report.html") && files.len() > 1, "{folder} has no page");
    files
}

fn start(shell: &Shell, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nicsim"));
    command.args(args).current_dir(shell.path("."));
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until so many bytes of records were written.
fn wait_for_rows(shell: &Shell, folder: &str, bytes: u64) {
    let begun = Instant::now();
    let rows = shell.path(folder).join("rows.bin");
    while std::fs::metadata(&rows).map_or(0, |rows| rows.len()) < bytes {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing is written");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn bytes_are_the_same_for_threads_and_merged_parts() {
    let shell = Shell::new();
    shell.write("s.toml", file(40, 300));
    shell.ok(&["sweep", "s.toml", "--out", "one", "--threads", "1"]);
    shell.ok(&["sweep", "s.toml", "--out", "two", "--threads", "2"]);
    assert_same(&shell, "one", "two");
    for part in ["1", "2", "3"] {
        shell.ok(&["sweep", "s.toml", "--out", part, "--shard", &format!("{part}/3"), "-q"]);
    }
    let told = shell.refused(&["sweep", "merge", "1", "3", "--out", "m"]);
    assert!(told.contains("these parts are missing: 2/3"), "{told}");
    let told = shell.refused(&["sweep", "merge", "1", "2", "1", "--out", "m"]);
    assert!(told.contains("part 1/3 is in 1 too"), "{told}");
    let told = shell.refused(&["sweep", "merge", "1", "one", "--out", "m"]);
    assert!(told.contains("does not belong"), "{told}");
    shell.ok(&["sweep", "merge", "3", "1", "2", "--out", "merged"]);
    assert_same(&shell, "one", "merged");
    // A part with a hole: its record is torn.
    std::fs::OpenOptions::new().write(true).open(shell.path("2/rows.bin")).unwrap().set_len(60).unwrap();
    let told = shell.refused(&["sweep", "merge", "1", "2", "3", "--out", "m"]);
    assert!(told.contains("part 2/3 is not complete, 12 runs are missing"), "{told}");
    shell.ok(&["sweep", "s.toml", "--out", "2", "--shard", "2/3", "--resume", "-q"]);
    shell.ok(&["sweep", "merge", "1", "2", "3", "--out", "again", "-q"]);
    assert_same(&shell, "one", "again");
}

#[test]
fn a_sweep_that_was_killed_three_times_gives_the_same_bytes() {
    let shell = Shell::new();
    shell.write("s.toml", file(120, 4_000));
    shell.ok(&["sweep", "s.toml", "--out", "whole", "-q"]);
    let args = ["sweep", "s.toml", "--out", "cut", "--resume"];
    for share in [1, 40, 90] {
        let mut child = start(&shell, &args);
        wait_for_rows(&shell, "cut", share * 40);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!shell.path("cut/results.csv").exists(), "it was killed while it ran");
    }
    let told = shell.refused(&["sweep", "s.toml", "--out", "cut"]);
    assert!(told.contains("--resume"), "{told}");
    let told = shell.ok(&args);
    assert!(told.contains("from before"), "{told}");
    assert_same(&shell, "whole", "cut");
    // Again: nothing is left to do, and nothing changes.
    shell.ok(&args);
    assert_same(&shell, "whole", "cut");
}

#[test]
fn another_sweep_is_not_mixed_in() {
    let shell = Shell::new();
    shell.write("s.toml", file(3, 50));
    shell.ok(&["sweep", "s.toml", "--out", "o", "-q"]);
    for (args, part) in [
        (vec!["--seed", "2"], "its seed is 1, here it is 2"),
        (vec!["--frames", "7"], "--frames"),
        (vec!["--set", "nic.ring=64"], "--set"),
        (vec!["--shard", "1/2"], "it is part 1/1"),
    ] {
        let told = shell.refused(&[&["sweep", "s.toml", "--out", "o", "--resume"], args.as_slice()].concat());
        assert!(told.contains("not mixed") && told.contains(part), "{told}");
    }
    shell.write("s.toml", file(4, 50));
    let told = shell.refused(&["sweep", "s.toml", "--out", "o", "--resume"]);
    assert!(told.contains("the sweep file was changed"), "{told}");
    shell.write("s.toml", file(3, 50));
    let manifest = std::fs::read_to_string(shell.path("o/sweep.json")).unwrap();
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    shell.write("o/sweep.json", manifest.replace(&version, "\"version\": \"0.0.9\""));
    let told = shell.refused(&["sweep", "s.toml", "--out", "o", "--resume"]);
    assert!(told.contains("made by nicsim 0.0.9"), "{told}");
    shell.write("o/sweep.json", "{");
    let told = shell.refused(&["sweep", "s.toml", "--out", "o", "--resume"]);
    assert!(told.contains("o/sweep.json"), "{told}");
}

#[test]
fn two_sweeps_do_not_share_a_folder() {
    let shell = Shell::new();
    shell.write("s.toml", file(200, 20_000));
    let mut first = start(&shell, &["sweep", "s.toml", "--out", "o"]);
    wait_for_rows(&shell, "o", 1);
    let second = shell.run(&["sweep", "s.toml", "--out", "o", "--resume"]);
    assert_eq!(second.status.code(), Some(2));
    assert!(text(&second).contains("another nicsim is sweeping into this folder"), "{}", text(&second));
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
#[cfg(unix)]
fn an_interrupt_keeps_what_was_run() {
    let shell = Shell::new();
    shell.write("s.toml", file(200, 20_000));
    let child = start(&shell, &["sweep", "s.toml", "--out", "o"]);
    wait_for_rows(&shell, "o", 1);
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let told = text(&output);
    assert!(told.starts_with("nicsim: interrupted; ") && told.contains("--resume"), "{told}");
    let mut names: Vec<String> = std::fs::read_dir(shell.path("o"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["errors.bin", "lock", "rows.bin", "sweep.json", "sweep.log"], "nothing half-written");
}

#[test]
fn bad_sweeps_are_refused_with_one_clear_error() {
    let shell = Shell::new();
    let sweep =
        |grid: &str| format!("scenario = \"e830/sched-64b-100us\"\nmetrics = [\"late\"]\n[sweep.grid]\n{grid}\n");
    for (grid, part) in [
        ("\"stream.0.intervall\" = [\"1us\"]", "near it are `interval`"),
        ("\"stream.0.interval\" = []", "the list is empty"),
        ("\"stream.0.interval\" = { from = \"1us\", to = \"2us\", step = \"0ns\" }", "the range never ends"),
        (
            "\"nic.ring\" = { from = 1, to = 1000000, step = 1 }\n\"stream.0.frames\" = { from = 1, to = 1000000, step = 1 }",
            "1.000e12 runs",
        ),
    ] {
        shell.write("bad.toml", sweep(grid));
        let told = shell.refused(&["sweep", "bad.toml", "--out", "o"]);
        assert!(told.starts_with("nicsim: bad.toml") && told.contains(part) && told.lines().count() == 1, "{told}");
    }
    let told = shell.refused(&["sweep", "e830-intervals"]);
    assert!(told.contains("near it are `e830-interval`"), "{told}");
    shell.write("s.toml", file(200_000, 2));
    let told = shell.refused(&["sweep", "s.toml"]);
    assert!(told.contains("write --out DIR"), "{told}");
    let told = shell.refused(&["sweep", "s.toml", "--out", "o", "--shard", "4/3"]);
    assert!(told.contains("1 <= I <= N"), "{told}");
    shell.refused(&["sweep", "s.toml", "--resume"]);
    shell.refused(&["sweep"]);
}

#[test]
fn rows_are_printed_without_a_folder() {
    let shell = Shell::new();
    shell.write("s.toml", file(2, 50));
    let csv = shell.ok(&["sweep", "s.toml", "--format", "csv"]);
    assert!(
        csv.starts_with(
            "point,repetition,seed,stream.0.interval_ns,observed_interval.std_ns,launch_error.p99_9_ns,late,error\n0,0,"
        ),
        "{csv}"
    );
    let json: serde_json::Value = serde_json::from_str(&shell.ok(&["sweep", "s.toml", "--format", "json"])).unwrap();
    assert_eq!(json[1]["stream.0.interval_ns"], 110_000.0);
    assert_eq!(json[1]["error"], serde_json::Value::Null);
    let table = shell.ok(&["sweep", "s.toml"]);
    assert_eq!(table.lines().count(), 3, "{table}");
    let dry = shell.ok(&["sweep", "s.toml", "--dry-run"]);
    assert!(dry.contains("points    2\n") && dry.contains("frames    100\n") && dry.contains("MiB"), "{dry}");
}

#[test]
#[cfg(unix)]
fn a_folder_that_cannot_be_written_is_status_3() {
    use std::os::unix::fs::PermissionsExt;
    let shell = Shell::new();
    shell.write("s.toml", file(3, 50));
    shell.write("taken", "a file");
    let output = shell.run(&["sweep", "s.toml", "--out", "taken/o"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    std::fs::create_dir(shell.path("ro")).unwrap();
    std::fs::set_permissions(shell.path("ro"), std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(shell.path("ro/probe"), "").is_ok() {
        println!("skipped: this user may write into read-only folders");
        return;
    }
    let output = shell.run(&["sweep", "s.toml", "--out", "ro"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
}

/// Runs the program under a shell that limits the size of files [KiB], which fails writes as a full disk does.
#[cfg(unix)]
fn with_limit(shell: &Shell, kib: u64, args: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_nicsim");
    // SIGXFSZ would end the process before the write can fail.
    let script = format!("trap '' XFSZ; ulimit -f {kib}; exec {program} {args}");
    Command::new("bash").args(["-c", &script]).current_dir(shell.path(".")).output().unwrap()
}

#[test]
#[cfg(unix)]
fn a_disk_that_fills_up_loses_nothing() {
    let shell = Shell::new();
    shell.write("s.toml", file(400, 20));
    shell.ok(&["sweep", "s.toml", "--out", "whole", "-q"]);
    if with_limit(&shell, 8, "--version").status.code() != Some(0) {
        println!("skipped: files cannot be limited here");
        return;
    }
    // 8 KiB hold 204 records of 40 bytes; 20 KiB hold all, but not the CSV.
    for (kib, part) in [(8, "rows.bin"), (20, "results.csv")] {
        let output = with_limit(&shell, kib, "sweep s.toml --out full --resume");
        let told = text(&output);
        assert_eq!(output.status.code(), Some(3), "{told}");
        assert!(told.contains(part) && told.contains("--resume") && told.lines().count() == 1, "{told}");
        assert!(!shell.path("full/results.csv").exists());
        assert!(std::fs::metadata(shell.path("full/rows.bin")).unwrap().len() > 0);
    }
    let told = shell.ok(&["sweep", "s.toml", "--out", "full", "--resume"]);
    assert!(told.contains("400 from before"), "{told}");
    assert_same(&shell, "whole", "full");
    small_file_system(&shell);
}

/// The same on a file system of 64 KiB, where one can be mounted.
#[cfg(unix)]
fn small_file_system(shell: &Shell) {
    let disk = shell.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&disk).output();
    if !mount.is_ok_and(|output| output.status.success()) {
        println!("skipped: no file system can be mounted here");
        return;
    }
    let output = shell.run(&["sweep", "s.toml", "--out", "disk/o"]);
    std::fs::write(disk.join("x"), "").unwrap_or_default();
    let unmounted = Command::new("umount").arg(&disk).status();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    assert!(text(&output).contains("--resume"), "{}", text(&output));
    assert!(unmounted.is_ok_and(|status| status.success()));
}

/// Most memory of a sweep of many points: the program itself takes about 9 MiB, the writers of results some more.
const MOST_MEMORY: u64 = 32 << 20;

#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_the_number_of_points() {
    let shell = Shell::new();
    let peak = |points: u64, folder: &str| {
        shell.write("s.toml", file(points, 1));
        shell.ok(&["sweep", "s.toml", "--out", folder, "-q", "--threads", "2"]);
        let log = std::fs::read_to_string(shell.path(folder).join("sweep.log")).unwrap();
        let last: serde_json::Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
        last["peak_memory_bytes"].as_u64().unwrap()
    };
    let (few, many) = (peak(1_000, "few"), peak(100_000, "many"));
    assert!(many < MOST_MEMORY && many < few + (16 << 20), "{few} bytes for 1,000 points, {many} for 100,000");
    let lines = std::fs::read_to_string(shell.path("many/results.csv")).unwrap().lines().count();
    assert_eq!(lines, 100_001);
}

const READ_BACK: &str = r#"
import csv, sys
import duckdb, pyarrow.parquet
folder = sys.argv[1]
table = pyarrow.parquet.read_table(folder + "/results.parquet")
rows = list(csv.DictReader(open(folder + "/results.csv")))
assert table.column_names == list(rows[0]), table.column_names
for name in table.column_names:
    for cell, text in zip(table[name].to_pylist(), [row[name] for row in rows]):
        assert (cell is None) == (text == ""), (name, cell, text)
        assert cell is None or str(cell) == text or float(cell) == float(text), (name, cell, text)
metadata = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
assert '"stream.0.interval_ns":"ns"' in metadata["nicsim.units"], metadata
assert metadata["nicsim.seed"] == "1" and "nicsim.version" in metadata and "nicsim.sweep_hash" in metadata
meta = pyarrow.parquet.read_metadata(folder + "/results.parquet")
assert meta.row_group(0).column(0).compression == "ZSTD"
count, failed = duckdb.sql(f"select count(*), count(error) from '{folder}/results.parquet'").fetchall()[0]
assert (count, failed) == (len(rows), 1), (count, failed)
assert duckdb.sql(f"select max(\"stream.0.interval_ns\") from '{folder}/results.parquet'").fetchall()[0] == (110000.0,)
"#;

#[test]
fn pyarrow_and_duckdb_read_the_results() {
    let present = Command::new("python3").args(["-c", "import pyarrow, duckdb"]).output();
    if !present.is_ok_and(|output| output.status.success()) {
        println!("skipped: python3 with pyarrow and duckdb is not here");
        return;
    }
    let shell = Shell::new();
    // A ring of 90,000 descriptors is more than the card takes; the constraint leaves one such point.
    let zip = "[[sweep.zip]]\n\"nic.ring\" = [64, 90000]\n\"nic.driver\" = [\"ice-fixed\", \"ice-linux-6.18\"]\n";
    let constraint = "[sweep]\nconstraints = [\"nic.ring < 90000 || stream.0.interval == 90us\"]\n[sweep.grid]";
    shell.write("s.toml", file(3, 50).replace("[sweep.grid]", constraint) + zip);
    shell.ok(&["sweep", "s.toml", "--out", "o", "-q"]);
    let read = Command::new("python3").args(["-c", READ_BACK]).arg(shell.path("o")).output().unwrap();
    assert!(read.status.success(), "{}", text(&read));
}

#[test]
fn every_example_file_is_found_by_path_too() {
    let shell = Shell::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/sweeps");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let told = shell.ok(&["sweep", path.to_str().unwrap(), "--dry-run", "--frames", "10"]);
        assert!(told.starts_with("scenario  "), "{told}");
    }
}

#[test]
fn the_page_needs_nothing_else() {
    let shell = Shell::new();
    shell.write("s.toml", file(12, 200));
    shell.ok(&["sweep", "s.toml", "--out", "o", "-q"]);
    let html = std::fs::read_to_string(shell.path("o/report.html")).unwrap();
    for word in ["http", "src=", "href=", "url(", "@import", "<script", "<link"] {
        assert!(!html.contains(word), "{word}");
    }
    for wanted in ["Sweep of e830/sched-64b-100us", "stream.0.interval [ns]", "observed_interval.std_ns", "<svg"] {
        assert!(html.contains(wanted), "{wanted}");
    }
}

#[test]
fn two_sweeps_are_compared_run_by_run() {
    let shell = Shell::new();
    shell.write("a.toml", file(3, 50));
    shell.ok(&["sweep", "a.toml", "--out", "a", "-q"]);
    shell.ok(&["sweep", "a.toml", "--out", "b", "-q", "--seed", "2"]);
    let json = shell.ok(&["sweep", "compare", "a", "b", "--format", "json", "--out", "c"]);
    assert_eq!(json, std::fs::read_to_string(shell.path("c/compare.json")).unwrap());
    let told: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((told["points"].as_u64(), told["runs"].as_u64()), (Some(3), Some(3)));
    // The mean difference, from the tables themselves.
    let column = |folder: &str| -> Vec<f64> {
        let csv = std::fs::read_to_string(shell.path(folder).join("results.csv")).unwrap();
        csv.lines().skip(1).map(|line| line.split(',').nth(4).unwrap().parse().unwrap()).collect()
    };
    let differences: Vec<f64> = column("b").iter().zip(column("a")).map(|(b, a)| b - a).collect();
    let mean = told["figures"][0]["mean"].as_f64().unwrap();
    assert!((mean - differences.iter().sum::<f64>() / 3.0).abs() < 1e-9);
    assert_eq!(told["figures"][0]["interval"], serde_json::Value::Null, "there are no repetitions");
    assert!(std::fs::read_to_string(shell.path("c/report.html")).unwrap().contains("Two sweeps side by side"));
    let table = shell.ok(&["sweep", "compare", "a", "b"]);
    assert!(table.contains("3 runs of 3 points are matched, by stream.0.interval_ns and repetition."), "{table}");
    assert_eq!(shell.ok(&["sweep", "compare", "a", "b", "--format", "csv"]).lines().count(), 4);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let shell = Shell::new();
    shell.write("a.toml", file(3, 50));
    shell.ok(&["sweep", "a.toml", "--out", "a", "-q"]);
    std::fs::create_dir(shell.path("empty")).unwrap();
    assert!(shell.refused(&["sweep", "compare", "a", "none"]).contains("there is no such folder"));
    assert!(shell.refused(&["sweep", "compare", "a", "empty"]).contains("no folder of a sweep"));
    shell.write("b.toml", file(3, 50).replace("stream.0.interval", "stream.0.lead"));
    shell.ok(&["sweep", "b.toml", "--out", "b", "-q"]);
    assert!(shell.refused(&["sweep", "compare", "a", "b"]).contains("no swept path in common"));
    std::fs::remove_file(shell.path("b/results.csv")).unwrap();
    assert!(shell.refused(&["sweep", "compare", "a", "b"]).contains("not finished"));
}
