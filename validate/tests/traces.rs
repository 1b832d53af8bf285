//! The figures that numpy computed of the recorded captures (`stats.json` in each folder), to the last printed digit.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it skips"
)]

use std::path::{Path, PathBuf};

use nicsim_core::stats::Summary;
use nicsim_validate::analyse::{Analysis, analyse, metric};
use nicsim_validate::recording::{Capture, Kind, ReadOptions, read};
use serde_json::Value;

/// The folder of traces: `NICSIM_TRACES`, or `../shared/traces` beside the workspace.
fn traces() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces");
    let folder = std::env::var_os("NICSIM_TRACES").map_or(beside, PathBuf::from);
    let is_there = folder.join("README.md").exists();
    if !is_there {
        println!("skipped: there are no traces in {} (set NICSIM_TRACES)", folder.display());
    }
    is_there.then_some(folder)
}

struct Folder {
    path: PathBuf,
    stats: Value,
}

fn folder(name: &str) -> Option<Folder> {
    let path = traces()?.join(name);
    let stats = serde_json::from_slice(&std::fs::read(path.join("stats.json")).unwrap()).unwrap();
    Some(Folder { path, stats })
}

impl Folder {
    fn read(&self, file: &str, options: &ReadOptions) -> Capture {
        read(&std::fs::read(self.path.join(file)).unwrap(), file, options).unwrap()
    }

    /// Compares one figure with `places` decimals, as it was printed.
    fn figure(&self, record: &str, key: &str, places: usize, value: Option<f64>) {
        let Some(printed) = self.stats[record].get(key) else { return };
        let shown = |value: f64| format!("{value:.places$}");
        assert_eq!(value.map(shown), printed.as_f64().map(shown), "{record}: {key}");
    }

    fn summary(&self, record: &str, summary: &Summary) {
        assert_eq!(Some(summary.count), self.stats[record]["n"].as_u64(), "{record}: n");
        assert_eq!(Some(summary.distinct), self.stats[record]["distinct"].as_u64(), "{record}: distinct");
        for (key, value) in [
            ("mean", summary.mean_ns),
            ("std", summary.std_ns),
            ("min", summary.min_ns),
            ("max", summary.max_ns),
            ("p0.5", summary.p0_5_ns),
            ("p1", summary.p1_ns),
            ("p50", summary.p50_ns),
            ("p99", summary.p99_ns),
            ("p99.5", summary.p99_5_ns),
            ("p99.9", summary.p99_9_ns),
        ] {
            self.figure(record, key, 4, value);
        }
        self.top(record, summary);
    }

    fn top(&self, record: &str, summary: &Summary) {
        let mut printed: Vec<(f64, u64)> = self.stats[record]["top"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(value, count)| (value.parse().unwrap(), count.as_u64().unwrap()))
            .collect();
        printed.sort_by(|a, b| b.1.cmp(&a.1).then(b.0.total_cmp(&a.0)));
        let counts = |top: &[(f64, u64)]| top.iter().map(|(_, count)| *count).collect::<Vec<_>>();
        assert_eq!(counts(&summary.top), counts(&printed), "{record}: top");
        // Which of several equally frequent values come into the five is a matter of taste: numpy's list has others.
        let last = printed.last().map_or(0, |(_, count)| *count);
        let clear = |top: &[(f64, u64)]| {
            top.iter().filter(|(_, n)| *n > last || printed.len() < 5).copied().collect::<Vec<_>>()
        };
        assert_eq!(clear(&summary.top), clear(&printed), "{record}: top");
    }

    fn fit(&self, record: &str, analysis: &Analysis) {
        self.figure(record, "slope_ppm", 3, analysis.fit.slope_ppm);
        self.figure(record, "linear_residual_range_ns", 2, analysis.fit.linear_residual_range_ns);
        self.figure(record, "ts_mod_8", 0, analysis.fit.residue_ns);
    }
}

fn skipping(skip: u64) -> ReadOptions {
    ReadOptions { skip, ..ReadOptions::default() }
}

#[test]
fn i210_receive_stamps() {
    let Some(folder) = folder("i210-rx-burst-1g") else { return };
    for (file, kind) in [("recv60.pcap", Kind::Pcap), ("recv60.csv", Kind::Csv), ("recv300.csv", Kind::Csv)] {
        let capture = folder.read(file, &skipping(1_000));
        let analysis = analyse(&capture, None, None);
        let record = file.replace(".pcap", ".csv");
        folder.summary(&record, &analysis.metrics[metric::RX_STAMP_INTERVAL]);
        folder.fit(&record, &analysis);
        let info = analysis.capture;
        assert_eq!((info.kind, info.tick_ns, info.frames, info.used), (kind, 8.0, 10_000, 9_000));
        assert_eq!(info.left_out.into_iter().collect::<Vec<_>>(), [("skipped".to_owned(), 1_000)]);
    }
}

#[test]
fn a_pcap_and_the_csv_taken_out_of_it_are_one() {
    let Some(folder) = folder("i210-rx-burst-1g") else { return };
    let columns = "time=rx_hw_ts_ns,size=len_without_fcs".parse().unwrap();
    let csv = folder.read("recv60.csv", &ReadOptions { columns: Some(columns), ..ReadOptions::default() });
    let pcap = folder.read("recv60.pcap", &ReadOptions::default());
    assert_eq!((csv.origin, csv.unit), (pcap.origin, pcap.unit));
    let plain = |capture: &Capture| capture.frames.iter().map(|frame| (frame.at, frame.size)).collect::<Vec<_>>();
    assert!(plain(&csv) == plain(&pcap));
    // The payload is that of the EFCC tools: 0, 1, 2, …
    assert!(pcap.frames.iter().map(|frame| frame.id).eq((0..10_000).map(Some)));
    assert_eq!(pcap.origin, 1_753_933_177_308_521_943);
    assert!(pcap.frames.iter().all(|frame| frame.size == Some(64)));
    assert!(pcap.notes.is_empty(), "{:?}", pcap.notes);
}

#[test]
fn bursts_seen_by_efcc() {
    let Some(folder) = folder("efcc-nic-burst-1g") else { return };
    for size in [60, 300, 700, 900, 1_100, 1_514] {
        let file = format!("recv{size}.csv");
        let capture = folder.read(&file, &skipping(1_000));
        assert_eq!(capture.kind, Kind::Efcc);
        let analysis = analyse(&capture, None, None);
        folder.summary(&file, &analysis.metrics[metric::OBSERVED_INTERVAL]);
        folder.fit(&file, &analysis);
        assert_eq!(analysis.fit.residue_ns, None);
        let assumed = folder.stats[&file]["wire_ns"].as_u64().unwrap();
        let note = format!("the most frequent one is taken, {assumed} ns");
        assert!(analysis.notes.iter().any(|text| text.contains(&note)), "{:?}", analysis.notes);
    }
}

#[test]
fn random_traffic_against_its_transmit_stamps() {
    let Some(folder) = folder("efcc-to-nic-random") else { return };
    let all = ReadOptions::default();
    let sent = folder.read("send_timestamp.csv", &all);
    for file in ["nic_rx.csv", "recv_timestamp.csv"] {
        let capture = folder.read(file, &all);
        let analysis = analyse(&capture, None, Some(&sent));
        folder.summary(file, &analysis.metrics[metric::INTERVAL_DIFFERENCE]);
        folder.fit(file, &analysis);
        let how = if file == "nic_rx.csv" { "order" } else { "number" };
        assert!(analysis.notes.iter().any(|note| note.contains(&format!("1500 frames are paired by {how}"))));
    }
    let analysis = analyse(&sent, None, None);
    folder.summary("send_timestamp.csv", &analysis.metrics[metric::OBSERVED_INTERVAL]);
    assert_eq!(analysis.fit.slope_ppm, None, "random intervals have no schedule");
}

#[test]
fn cables_of_all_lengths() {
    let Some(folder) = folder("efcc-cable-1g") else { return };
    let records: Vec<&String> = folder.stats.as_object().unwrap().keys().collect();
    assert_eq!(records.len(), 13);
    for record in records {
        let all = ReadOptions::default();
        let (received, sent) =
            (folder.read(&format!("{record}_recv.csv"), &all), folder.read(&format!("{record}_send.csv"), &all));
        let analysis = analyse(&received, None, Some(&sent));
        folder.summary(record, &analysis.metrics[metric::DELAY]);
        folder.fit(record, &analysis);
    }
}

#[test]
fn an_fpga_switch_at_all_sizes() {
    let Some(folder) = folder("efcc-fpga-switch") else { return };
    for record in folder.stats.as_object().unwrap().keys().filter(|record| !record.contains(' ')) {
        let all = ReadOptions::default();
        let (received, sent) =
            (folder.read(&format!("{record}_recv.csv"), &all), folder.read(&format!("{record}_send.csv"), &all));
        let analysis = analyse(&received, None, Some(&sent));
        folder.summary(record, &analysis.metrics[metric::DELAY]);
        let alone = analyse(&sent, None, None);
        folder.summary(&format!("{record} (tx interval)"), &alone.metrics[metric::OBSERVED_INTERVAL]);
        assert_eq!(alone.fit.slope_ppm, Some(0.0), "{record}: the interval is exact");
    }
}

#[test]
fn two_flows_of_one_port() {
    let Some(folder) = folder("efcc-priority-burst") else { return };
    let all = ReadOptions::default();
    for flow in [0, 1] {
        let (received, sent) =
            (folder.read(&format!("recv{flow}.csv"), &all), folder.read(&format!("send{flow}.csv"), &all));
        let analysis = analyse(&received, None, Some(&sent));
        folder.summary(&format!("flow{flow}"), &analysis.metrics[metric::DELAY]);
    }
    // Both flows in one file: the intervals within each, 145 + 7 of them.
    let analysis = analyse(&folder.read("recv.csv", &all), None, None);
    assert_eq!(analysis.metrics[metric::OBSERVED_INTERVAL].count, 152);
    // A table of differences is no capture.
    let bytes = std::fs::read(folder.path.join("diff0.csv")).unwrap();
    let error = read(&bytes, "diff0.csv", &all).unwrap_err().to_string();
    assert!(error.contains("table of differences"), "{error}");
}

#[test]
fn stamps_of_two_nics_in_files_without_header() {
    for (name, records) in [
        ("nic1g-direct-plget", vec!["run_64B_TC5", "run_64B_TC6", "run_64B_TC7", "1500B_TC5_enp5s0-enp4s0"]),
        ("nic1g-fpga-switch-plget", vec!["64B_TC5", "1500B_TC5"]),
    ] {
        let Some(folder) = folder(name) else { return };
        for record in records {
            let options = ReadOptions { columns: Some("time=1:ns".parse().unwrap()), ..ReadOptions::default() };
            let (received, sent) = (
                folder.read(&format!("{record}_RX.csv"), &options),
                folder.read(&format!("{record}_TX.csv"), &options),
            );
            let analysis = analyse(&received, None, Some(&sent));
            folder.summary(record, &analysis.metrics[metric::DELAY]);
            let difference = format!("{record} (drx-dtx)");
            if folder.stats.get(&difference).is_some() {
                folder.summary(&difference, &analysis.metrics[metric::INTERVAL_DIFFERENCE]);
            }
        }
    }
}

#[test]
fn an_analysis_prints_what_the_interface_says() {
    let Some(folder) = folder("i210-rx-burst-1g") else { return };
    let analysis = analyse(&folder.read("recv60.pcap", &ReadOptions::default()), None, None);
    let json = serde_json::to_value(&analysis).unwrap();
    assert_eq!(json["schema"], "nicsim.analysis/1");
    assert_eq!(json["capture"]["kind"], "pcap");
    assert_eq!(json["capture"]["file"], "recv60.pcap");
    assert_eq!(json["fit"]["residue_ns"], 7.0);
    assert_eq!(json["metrics"][metric::RX_STAMP_INTERVAL]["count"], 9_999);
    assert_eq!(json["metrics"][metric::RX_STAMP_INTERVAL]["histogram"]["bin_ns"], 8.0);
    assert_eq!(serde_json::from_value::<Analysis>(json).unwrap(), analysis);
}
