//! The program as its users meet it: what it prints, what it writes, and how it refuses.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod common;

use std::path::Path;
use std::process::Command;

use common::Shell;

const SCENARIO: &str = r#"
name = "mine"
about = "a scenario of one's own"

[nic]
model = "e830"
driver = "ice-fixed"

[[stream]]
frames = 200
size = "64B"
interval = "100us"
lead = "100us"

[observer]
kind = "efcc-10g"
"#;

#[test]
fn a_run_prints_its_report_and_json_is_the_report_file() {
    let shell = Shell::new();
    let table = shell.ok(&["run", "e830/sched-64b-100us", "--frames", "500"]);
    assert!(table.contains("500 submitted, 500 sent, 0 immediate") && table.contains("observed_interval"), "{table}");
    let json = shell.ok(&["run", "e830/sched-64b-100us", "--frames", "500", "--format", "json", "--out", "out"]);
    assert_eq!(json, std::fs::read_to_string(shell.path("out/report.json")).unwrap());
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["schema"], "nicsim.report/1");
    assert_eq!(report["counts"]["sent"], 500);
    assert!(report["metrics"]["observed_interval"]["std_ns"].is_f64());
    let csv = shell.ok(&["run", "e830/sched-64b-100us", "--frames", "500", "--format", "csv"]);
    assert!(csv.starts_with("metric,count,mean_ns,std_ns"), "{csv}");
    assert_eq!(shell.ok(&["run", "e830/sched-64b-100us", "--frames", "500", "--quiet"]), "");
}

#[test]
fn both_kernels_and_every_repetition_give_the_same_bytes() {
    let shell = Shell::new();
    for (folder, kernel) in [("a", "slots"), ("b", "slots"), ("c", "reference")] {
        let args =
            ["run", "e830/sched-1518b-100us", "--frames", "2000", "--record", "frames,capture", "--kernel", kernel];
        shell.ok(&[&args[..], &["--out", folder]].concat());
    }
    let read = |name: &str| std::fs::read(shell.path(name)).unwrap();
    for file in ["capture.csv", "capture.pcapng", "capture.toml", "frames.parquet"] {
        assert_eq!(read(&format!("a/{file}")), read(&format!("b/{file}")), "{file}");
        assert_eq!(read(&format!("a/{file}")), read(&format!("c/{file}")), "{file}");
    }
    assert_eq!(read("a/report.json"), read("b/report.json"));
    let text = String::from_utf8(read("c/report.json")).unwrap();
    assert_eq!(text.replace("\"reference\"", "\"slots\"").into_bytes(), read("a/report.json"));
}

#[test]
fn a_simulated_capture_goes_through_the_analysis_of_recorded_ones() {
    let shell = Shell::new();
    let args = [
        "run",
        "e830/sched-64b-99968ns",
        "--frames",
        "3000",
        "--record",
        "capture",
        "--out",
        "out",
        "--format",
        "json",
    ];
    let report: serde_json::Value = serde_json::from_str(&shell.ok(&args)).unwrap();
    for capture in ["out/capture.csv", "out/capture.pcapng"] {
        let analysis: serde_json::Value =
            serde_json::from_str(&shell.ok(&["analyse", capture, "--format", "json"])).unwrap();
        let name = if capture.ends_with("csv") { "observed_interval" } else { "rx_stamp_interval" };
        for figure in ["count", "mean_ns", "std_ns", "min_ns", "max_ns", "p0_5_ns", "p99_5_ns", "top"] {
            let (simulated, analysed) =
                (&report["metrics"]["observed_interval"][figure], &analysis["metrics"][name][figure]);
            match (simulated.as_f64(), analysed.as_f64()) {
                // One computes in ticks, the other in picoseconds.
                (Some(a), Some(b)) => assert!((a - b).abs() <= 1e-9 * a.abs(), "{capture} {figure}: {a} {b}"),
                _ => assert_eq!(simulated, analysed, "{capture} {figure}"),
            }
        }
        assert_eq!(analysis["capture"]["tick_ns"], 6.4);
    }
}

#[test]
fn a_file_of_one_s_own_runs_and_settings_change_it() {
    let shell = Shell::new();
    shell.write("mine.toml", SCENARIO);
    assert!(shell.ok(&["run", "mine.toml"]).contains("200 sent"));
    let set = shell.ok(&["run", "mine.toml", "--set", "stream.0.frames=7", "--set", "nic.driver=ice-linux-6.18"]);
    assert!(set.contains("7 sent"), "{set}");
    let toml = shell.ok(&["show", "nic", "e830", "--format", "toml"]);
    shell.write("card.toml", toml.replace("name = \"e830\"", "name = \"card\"").replace("\"1us\"", "\"2us\""));
    shell.write("other.toml", SCENARIO.replace("\"e830\"", "\"./card.toml\""));
    let report = shell.ok(&["run", "other.toml", "--format", "json"]);
    assert!(report.contains("card.fetch.latency"), "{report}");
}

#[test]
fn wrong_scenarios_are_refused_with_place_and_remedy() {
    let shell = Shell::new();
    let cases: &[(&[&str], &[&str])] = &[
        (&["stream.0.size=63B"], &["stream.0.size", "63B is no frame size", "64 to 9022 bytes"]),
        (&["stream.0.size=9023B"], &["9023B is no frame size"]),
        (&["stream.0.size=-64B"], &["-64B"]),
        (&["stream.0.interval=0us"], &["stream.0.interval", "above 0s"]),
        (&["stream.0.interval=-1us"], &["above 0s"]),
        (&["stream.0.interval=60ns"], &["shorter than the 67.2ns", "overload = true"]),
        (&["stream.0.interval=100"], &["has no unit", "\"100us\""]),
        (&["stream.0.interval=100m"], &["unknown unit `m`"]),
        (&["stream.0.interval=1000000s"], &["26 days"]),
        (&["stream.0.frames=0"], &["stream.0.frames"]),
        (&["stream.0.lead=-1us"], &["time ahead"]),
        (&["stream.0.first_launch=-1us"], &["before the PHC's epoch"]),
        (&["stream.0.first_launch=50us"], &["less than the lead"]),
        (&["nic.phc_start=-1s"], &["before the clock's epoch"]),
        (&["stream.0.intervall=1us"], &["unknown field `intervall`", "near it are `interval`"]),
        (&["nic.driver=ice-fxed"], &["nic.driver", "near it are `ice-fixed`"]),
        (&["nic.model=e831"], &["nic.model", "near it are `e830`"]),
        (&["nic.jitter=poll"], &["nic.jitter", "poll-free"]),
        (&["nic.speed=40Gbps"], &["does not run at 40Gbps", "10Gbps"]),
        (&["nic.ring=9000"], &["1 to 8096"]),
        (&["nic.parameters.fetch.latenzy=1us"], &["fetch.latenzy", "fetch.latency"]),
        (&["observer.kind=efcc-100g"], &["observer.kind", "efcc-10g"]),
        (&["observer.offset=300000ppm"], &["out of range"]),
        (&["nic.model=generic-1g", "nic.driver=generic"], &["no launch-time engine"]),
        (&["stream.0.queue=999"], &["there is no queue 999"]),
        (&["stream.0.from=sender"], &["no [sender]"]),
        (&["stream.0.from=external", "stream.0.tx_stamps=false"], &["lead"]),
        (&["report.metrics=[\"launch_eror\"]"], &["near it are `launch_error`"]),
        (&["report.metrics=[\"rx_stamp_interval\"]"], &["it needs a [sender]"]),
        (&["stream.3.size=64B"], &["`stream` has 1 entries"]),
        (&["interval"], &["KEY=VALUE"]),
    ];
    shell.write("mine.toml", SCENARIO);
    for (sets, expected) in cases {
        let mut args = vec!["run", "mine.toml", "--out", "out"];
        sets.iter().for_each(|set| args.extend(["--set", set]));
        let text = shell.refused(&args);
        assert!(expected.iter().all(|part| text.contains(part)), "{sets:?}: {text}");
        assert!(text.lines().count() <= 3, "{sets:?} is no short paragraph: {text}");
    }
}

#[test]
fn unreadable_scenarios_are_refused_with_line_and_column() {
    let shell = Shell::new();
    shell.write("empty.toml", "");
    shell.write("random.toml", [0xff, 0x00, 0x9c]);
    shell.write("syntax.toml", "name = \"a\"\nabout = \n");
    shell.write("key.toml", SCENARIO.replace("interval", "intervall"));
    shell.write("unit.toml", SCENARIO.replace("\"100us\"\nlead", "100\nlead"));
    for (file, expected) in [
        ("empty.toml", "missing field"),
        ("random.toml", "not text (UTF-8)"),
        ("syntax.toml", "syntax.toml:2:9"),
        ("key.toml", "key.toml:12:1"),
        ("unit.toml", "unit.toml:12:12: 100 has no unit"),
        ("absent.toml", "there is no such file"),
        (".", "folder"),
        ("e830/sched-64b-100usx", "near it are `e830/sched-64b-100us`"),
    ] {
        let text = shell.refused(&["run", file]);
        assert!(text.contains(expected), "{file}: {text}");
    }
}

#[test]
fn wrong_captures_are_refused_with_the_place() {
    let shell = Shell::new();
    shell.write("empty", "");
    shell.write("random", (0..997_u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 24) as u8).collect::<Vec<_>>());
    shell.write("header.csv", "timestamp_id,timestamp_val,timestamp_diff\n");
    shell.write("wrong.csv", "timestamp_id,timestamp_val,timestamp_diff\n0x0,5,5\n0x1,9,3\n");
    shell.write("cut.pcap", [0x4d, 0x3c, 0xb2, 0xa1, 2, 0]);
    for (file, expected) in [
        ("empty", "empty"),
        ("random", "random"),
        ("header.csv", "header.csv"),
        ("wrong.csv", "line 3"),
        ("cut.pcap", "cut.pcap"),
        ("absent", "there is no such file"),
    ] {
        let text = shell.refused(&["analyse", file, "--out", "out"]);
        assert!(text.contains(expected), "{file}: {text}");
    }
    assert!(shell.refused(&["analyse", "empty", "--tick", "6.4"]).contains("no unit"));
}

#[test]
fn wrong_command_lines_are_refused() {
    let shell = Shell::new();
    shell.refused(&["run"]);
    shell.refused(&["run", "e830/sched-64b-100us", "--record", "capture"]);
    shell.refused(&["runn"]);
    shell.refused(&["list", "cards"]);
    shell.refused(&["explain", "e830/sched-64b-100us", "--frame", "50000"]);
    shell.refused(&["explain", "e830/sched-64b-100us", "--stream", "1"]);
    shell.refused(&["validate", "e831"]);
    shell.refused(&["show", "nic", "e83"]);
}

#[test]
fn outputs_that_cannot_be_written_end_with_status_3_and_leave_nothing_half_done() {
    let shell = Shell::new();
    shell.write("file", "in the way");
    let output = shell.run(&["run", "e830/sched-64b-100us", "--frames", "10", "--out", "file"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("file"));
    shell.ok(&["run", "e830/sched-64b-100us", "--frames", "10", "--out", "out"]);
    let leftovers = shell.files().into_iter().filter(|path| path.to_string_lossy().contains(".nicsim-"));
    assert_eq!(leftovers.count(), 0, "temporary files are gone");
}

#[test]
fn lists_and_shows_name_everything() {
    let shell = Shell::new();
    for what in ["nics", "nic", "drivers", "scenarios", "instruments", "metrics", "references", "formats"] {
        let items: Vec<serde_json::Value> =
            serde_json::from_str(&shell.ok(&["list", what, "--format", "json"])).unwrap();
        assert!(!items.is_empty());
        assert!(
            items
                .iter()
                .all(|item| item["name"].is_string() && item["about"].as_str().is_some_and(|about| about.len() > 10))
        );
        for item in items.iter().take(3) {
            shell.ok(&["show", what, item["name"].as_str().unwrap()]);
        }
    }
    let nic = shell.ok(&["show", "nic", "e830"]);
    assert!(
        nic.contains("phc.increment") && nic.contains("assumed") && nic.contains("ICE_PTP_NOMINAL_INCVAL_E810"),
        "{nic}"
    );
    assert!(shell.ok(&["list", "drivers"]).contains("ice-dpdk-26.07"));
}

#[test]
fn explain_tells_the_life_of_a_frame() {
    let shell = Shell::new();
    let text = shell.ok(&["explain", "e830/fault-zero-field", "--frame", "512"]);
    assert!(text.contains("the field is 0") && text.contains("time field 0"), "{text}");
    let stages: Vec<serde_json::Value> =
        serde_json::from_str(&shell.ok(&["explain", "e830/sched-64b-100us", "--frame", "3", "--format", "json"]))
            .unwrap();
    let names: Vec<&str> = stages.iter().filter_map(|stage| stage["stage"].as_str()).collect();
    assert_eq!(
        names,
        ["application", "driver", "NIC compares", "release", "start", "interval", "transmit stamp", "capture"]
    );
}

#[test]
fn validate_judges_and_says_what_it_skipped() {
    let shell = Shell::new();
    let verdicts: Vec<serde_json::Value> =
        serde_json::from_str(&shell.ok(&["validate", "e830/rx-stamps", "--format", "json"])).unwrap();
    assert_eq!(verdicts.len(), 4);
    assert!(verdicts.iter().all(|v| v["verdict"] == "pass" && v["source"].is_string()), "{verdicts:?}");
    let skipped = shell.ok(&["validate", "i210-rx-burst-1g", "--traces", "absent"]);
    assert!(skipped.contains("2 skipped") && skipped.contains("absent"), "{skipped}");
    let junit = shell.ok(&["validate", "e830/rx-stamps-64b", "--format", "junit"]);
    assert!(junit.contains("<testsuite") && junit.contains("failures=\"0\""), "{junit}");
}

#[test]
fn completions_know_the_commands() {
    let shell = Shell::new();
    for target in ["bash", "zsh", "fish", "man"] {
        let text = shell.ok(&["completions", target]);
        assert!(text.contains("analyse") && text.contains("kernel"), "{target}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let program = env!("CARGO_BIN_EXE_nicsim");
    let mut child = Command::new(program)
        .args(["run", "e830/sched-64b-100us", "--frames", "500", "--format", "json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn outputs_follow_their_schemas() {
    let shell = Shell::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schema");
    let schema = |name: &str| {
        let text = std::fs::read_to_string(root.join(name)).unwrap();
        jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
    };
    let check = |validator: &jsonschema::Validator, json: &str| {
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|e| format!("{e} at {}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:?}");
        assert!(validator.is_valid(&value) && !validator.is_valid(&serde_json::json!({ "schema": 1 })));
    };
    let report = schema("report.json");
    for scenario in ["e830/sched-64b-100us", "e830/rx-stamps-64b", "e830/tx-stamps-busy-loop", "recorded/cable"] {
        check(&report, &shell.ok(&["run", scenario, "--frames", "300", "--format", "json"]));
    }
    shell.ok(&["run", "e830/sched-64b-100us", "--frames", "300", "--record", "capture", "--out", "out"]);
    check(&schema("analysis.json"), &shell.ok(&["analyse", "out/capture.csv", "--format", "json"]));
    check(&schema("validation.json"), &shell.ok(&["validate", "e830/rx-stamps-64b", "--format", "json"]));
}
