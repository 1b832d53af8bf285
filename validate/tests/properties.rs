//! What holds for every file: no content makes the readers panic, and what the writers write reads back.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod files;

use std::collections::BTreeMap;

use files::{MICRO, NANO, Order, Record};
use nicsim_core::stats::Unit;
use nicsim_validate::analyse::{analyse, metric};
use nicsim_validate::plan::{Plan, Stream};
use nicsim_validate::recording::{Capture, Kind, ReadOptions, efcc, pcapng, read};
use proptest::prelude::*;

/// Reads in every way, and analyses what can be read: the test is that nothing panics.
fn survive(bytes: &[u8]) {
    let columns = [None, Some("time=1:ns"), Some("time=2:s,id=1,size=3"), Some("time=t_ns")];
    let kinds = [None, Some(Kind::Efcc), Some(Kind::Pcap), Some(Kind::Pcapng), Some(Kind::Csv)];
    for columns in columns {
        for input in kinds {
            let columns = columns.map(|columns| columns.parse().unwrap());
            let options = ReadOptions { input, columns, ..ReadOptions::default() };
            match read(bytes, "any", &options) {
                Ok(capture) => check(&capture),
                Err(error) => assert!(error.to_string().starts_with("any: ")),
            }
        }
    }
}

fn check(capture: &Capture) {
    assert!(!capture.frames.is_empty());
    assert_eq!(capture.frames[0].at, 0);
    let plan = Plan { streams: vec![stream(), stream()], ..Plan::default() };
    let first = efcc::from_records("other", "8ns".parse().unwrap(), [(0, 5), (1, 89), (2, 173)]).unwrap();
    for plan in [None, Some(&plan)] {
        for against in [None, Some(&first), Some(capture)] {
            let analysis = analyse(capture, plan, against);
            assert_eq!(
                analysis.capture.frames,
                analysis.capture.used + analysis.capture.left_out.values().sum::<u64>()
            );
            serde_json::to_string(&analysis).unwrap();
        }
    }
}

fn stream() -> Stream {
    Stream {
        name: None,
        size: nicsim_core::noise::Bytes(64),
        frames: 9,
        interval: Some("100us".parse().unwrap()),
        first_launch_ns: None,
        first_number: None,
    }
}

/// Files of every kind, all of them valid.
fn valid_files() -> Vec<Vec<u8>> {
    let records: Vec<Record> = (0..8).map(|k| (1_753_933_177, 100_000 * k + k % 3, 60 + k)).collect();
    let mut all = vec![
        files::efcc(&(0..8).map(|k| (((k % 2) << 29) | k, 4_294_967_000_u32.wrapping_add(k * 84))).collect::<Vec<_>>())
            .into_bytes(),
        b"# x\nt_ns,id,size\n1753933177308521943,1,64\n1753933177308525127,2,64\n,3,\n1753933177308530007,4,65\n"
            .to_vec(),
        b"a;b_s\r\n1;1,5\r\n2;1,750000001\r\n\"3\";\"1,9\"\r\n".to_vec(),
    ];
    for order in Order::BOTH {
        all.push(files::pcap(order, NANO, &records));
        all.push(files::pcap(order, MICRO, &records));
        let mut file =
            [files::section(order), files::interface(order, 1, &[files::tsresol(9), files::tsoffset(order, 7)])]
                .concat();
        file.extend(files::interface(order, 1, &[files::tsresol(0x94)]));
        (0..8).for_each(|k| file.extend(files::packet(order, 0, 100_000 * k + k % 3, 60, &[(5, vec![0; 8])])));
        file.extend(files::simple_packet(order));
        all.push(file);
    }
    all
}

/// One change of a file: an octet replaced, a piece cut out, a piece doubled, or the tail cut off.
fn change(mut file: Vec<u8>, what: u8, at: usize, length: usize, octet: u8) -> Vec<u8> {
    let at = at % file.len().max(1);
    let end = (at + length).min(file.len());
    match what % 4 {
        0 if !file.is_empty() => file[at] = octet,
        1 => drop(file.drain(at..end)),
        2 => {
            let piece = file[at..end].to_vec();
            file.splice(at..at, piece);
        }
        _ => file.truncate(at),
    }
    file
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_octets_are_refused_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        survive(&bytes);
    }

    #[test]
    fn random_octets_behind_a_right_start_do_no_harm(
        start in 0_usize..9, keep in 4_usize..80, bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut file = valid_files()[start].clone();
        file.truncate(keep);
        file.extend(bytes);
        survive(&file);
    }

    #[test]
    fn random_text_does_no_harm(text in "[-0-9a-fx.,;\t\r\n\"'#_eE ns]{0,120}", header in 0_usize..4) {
        let header = ["", "t_ns\n", "n,t_s,z\n", files::EFCC_HEADER][header];
        survive(format!("{header}{text}").as_bytes());
    }

    #[test]
    fn changed_files_do_no_harm(
        file in 0_usize..9,
        changes in proptest::collection::vec((any::<u8>(), 0_usize..600, 1_usize..40, any::<u8>()), 1..6),
    ) {
        let file = changes.into_iter().fold(valid_files()[file].clone(), |file, (what, at, length, octet)| {
            change(file, what, at, length, octet)
        });
        survive(&file);
    }

    #[test]
    fn a_plan_of_any_text_does_no_harm(text in "[a-z0-9=\"\\[\\]\n_ ]{0,80}") {
        let _ = Plan::from_toml(&text, "p");
    }

    #[test]
    fn efcc_files_round_trip_over_wraps(
        first: u32, steps in proptest::collection::vec((any::<u32>(), 1_u32..1 << 31), 1..200), skip in 0_u64..3,
    ) {
        let mut count = first;
        let mut records = vec![(7, first)];
        for (id, step) in &steps {
            count = count.wrapping_add(*step);
            records.push((*id, count));
        }
        let mut writer = efcc::Writer::new(Vec::new());
        records.iter().for_each(|(id, count)| writer.frame(*id, *count).unwrap());
        let file = writer.finish().unwrap();
        prop_assert_eq!(std::str::from_utf8(&file).unwrap(), files::efcc(&records));

        let tick = "6.4ns".parse().unwrap();
        let capture = read(&file, "efcc", &ReadOptions { skip, tick: Some(tick), ..ReadOptions::default() });
        let skipped = records.len().min(skip as usize);
        if skipped == records.len() {
            prop_assert!(capture.is_err());
            return Ok(());
        }
        let capture = capture.unwrap();
        prop_assert_eq!(capture.origin, i128::from(records[skipped].1));
        prop_assert!(capture.frames.iter().map(|f| f.id).eq(records[skipped..].iter().map(|r| Some(r.0))));
        let mut at = 0;
        for (frame, (_, step)) in capture.frames[1..].iter().zip(&steps[skipped..]) {
            at += i64::from(*step);
            prop_assert_eq!(frame.at, at);
        }
        let direct = efcc::from_records("efcc", tick, records[skipped..].iter().copied()).unwrap();
        prop_assert_eq!(direct.frames, capture.frames);
    }

    #[test]
    fn pcap_files_round_trip(
        records in proptest::collection::vec((1_u32..u32::MAX / 2, 0_u32..1_000_000_000, 4_u32..10_000), 1..60),
        big: bool, nano: bool,
    ) {
        let order = Order::BOTH[usize::from(big)];
        let (magic, per_second) = if nano { (NANO, 1_000_000_000) } else { (MICRO, 1_000_000) };
        let records: Vec<Record> = records.into_iter().map(|(s, f, l)| (s, f % per_second, l)).collect();
        let capture = read(&files::pcap(order, magic, &records), "pcap", &ReadOptions::default()).unwrap();
        for (position, &(seconds, fraction, original)) in records.iter().enumerate() {
            let stamp = i128::from(seconds) * i128::from(per_second) + i128::from(fraction);
            prop_assert_eq!(capture.stamp(position), Some(stamp));
            prop_assert_eq!(capture.frames[position].size, Some((original + 4).max(64)));
        }
    }

    #[test]
    fn pcapng_files_round_trip(
        frames in proptest::collection::vec((any::<u32>(), 1_u64..1 << 61, 64_u32..10_000), 1..60),
        pico: bool, offset in -2_000_000_000_i64..2_000_000_000,
    ) {
        let resolution = if pico { pcapng::Resolution::Picoseconds } else { pcapng::Resolution::Nanoseconds };
        let mut writer = pcapng::Writer::new(Vec::new(), resolution, offset).unwrap();
        frames.iter().for_each(|(id, at, size)| writer.frame(*id, *at, *size).unwrap());
        let capture = read(&writer.finish().unwrap(), "pcapng", &ReadOptions::default()).unwrap();
        let per_second = if pico { 1_000_000_000_000 } else { 1_000_000_000 };
        prop_assert_eq!(capture.unit == Unit::Picoseconds, pico);
        for (position, &(id, at, size)) in frames.iter().enumerate() {
            prop_assert_eq!(capture.stamp(position), Some(i128::from(offset) * per_second + i128::from(at)));
            prop_assert_eq!((capture.frames[position].id, capture.frames[position].size), (Some(id), Some(size)));
        }
    }

    #[test]
    fn figures_agree_with_a_plain_computation(steps in proptest::collection::vec(1_u32..100_000, 1..300)) {
        let counts = steps.iter().scan(0_u32, |at, step| { *at += step; Some(*at) });
        let records = std::iter::once(0).chain(counts).enumerate().map(|(id, count)| (id as u32, count));
        let capture = efcc::from_records("c", "8ns".parse().unwrap(), records).unwrap();
        let analysis = analyse(&capture, None, None);
        let summary = &analysis.metrics[metric::OBSERVED_INTERVAL];
        let n = steps.len() as f64;
        let mean = steps.iter().map(|s| f64::from(*s)).sum::<f64>() / n * 8.0;
        prop_assert!((summary.mean_ns.unwrap() - mean).abs() < 1e-6);
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        steps.iter().for_each(|step| *counts.entry(*step).or_default() += 1);
        prop_assert_eq!(summary.distinct, counts.len() as u64);
        prop_assert_eq!(summary.top[0].1, *counts.values().max().unwrap());
    }

    #[test]
    fn a_capture_against_itself_has_no_delay(counts in proptest::collection::vec((0_u32..50, any::<u32>()), 2..100)) {
        let capture = efcc::from_records("c", "8ns".parse().unwrap(), counts.iter().copied()).unwrap();
        let analysis = analyse(&capture, None, Some(&capture));
        let delay = &analysis.metrics[metric::DELAY];
        prop_assert_eq!((delay.count, delay.min_ns, delay.max_ns), (counts.len() as u64, Some(0.0), Some(0.0)));
    }
}
