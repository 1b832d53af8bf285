//! What files of this field do to a reader (field reports, section 2.2): one test or more for each trap.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod files;

use files::{MICRO, NANO, Order, Record};
use nicsim_core::stats::Unit;
use nicsim_validate::analyse::{analyse, metric};
use nicsim_validate::plan::Plan;
use nicsim_validate::recording::{Capture, Kind, ReadOptions, pcapng, read, reason};

fn ticks(text: &str) -> Unit {
    Unit::Ticks(text.parse().unwrap())
}

fn capture(bytes: impl AsRef<[u8]>) -> Capture {
    read(bytes.as_ref(), "test.bin", &ReadOptions::default()).unwrap()
}

fn refusal(bytes: impl AsRef<[u8]>) -> String {
    read(bytes.as_ref(), "test.bin", &ReadOptions::default()).unwrap_err().to_string()
}

fn with_columns(text: &str, columns: &str) -> Result<Capture, String> {
    let options = ReadOptions { columns: Some(columns.parse().unwrap()), ..ReadOptions::default() };
    read(text.as_bytes(), "test.csv", &options).map_err(|error| error.to_string())
}

fn times(capture: &Capture) -> Vec<i64> {
    capture.frames.iter().map(|frame| frame.at).collect()
}

fn has_note(capture: &Capture, part: &str) -> bool {
    capture.notes.iter().any(|note| note.contains(part))
}

#[test]
fn t1_the_magic_decides() {
    let records = [(10, 5, 60), (10, 900_005, 60)];
    for order in Order::BOTH {
        for (magic, unit, factor) in [(MICRO, ticks("1us"), 1_000_000), (NANO, ticks("1ns"), 1_000_000_000)] {
            let capture = capture(files::pcap(order, magic, &records));
            assert_eq!((capture.kind, capture.unit), (Kind::Pcap, unit));
            assert_eq!((capture.origin, times(&capture)), (10 * factor + 5, vec![0, 900_000]));
        }
    }
    // The old "modified" form has eight more octets in each record's header.
    let modified = capture(files::pcap(Order::Little, 0xa1b2_cd34, &records));
    assert_eq!((modified.unit, times(&modified)), (ticks("1us"), vec![0, 900_000]));
    // pcapng in a file called .pcap.
    let file = [
        files::section(Order::Little),
        files::interface(Order::Little, 1, &[]),
        files::packet(Order::Little, 0, 7, 60, &[]),
    ];
    assert_eq!(read(&file.concat(), "trace.pcap", &ReadOptions::default()).unwrap().kind, Kind::Pcapng);
    let asked = ReadOptions { input: Some(Kind::Pcap), ..ReadOptions::default() };
    let error = read(&file.concat(), "trace.pcap", &asked).unwrap_err().to_string();
    assert!(error.starts_with("trace.pcap: the content is pcapng, not pcap"), "{error}");
}

#[test]
fn t2_nanoseconds_under_the_microsecond_magic() {
    // As reported by users: 1623343671.118831273 s.
    let vector = (0x60c2_4237, 0x0715_38a9, 60);
    let right = capture(files::pcap(Order::Little, NANO, &[vector]));
    assert_eq!((right.origin, right.unit), (1_623_343_671_118_831_273, ticks("1ns")));
    let wrong = capture(files::pcap(Order::Little, MICRO, &[vector]));
    assert_eq!((wrong.origin, wrong.unit), (1_623_343_671_118_831_273, ticks("1ns")));
    assert!(has_note(&wrong, "read as nanoseconds"), "{:?}", wrong.notes);
}

#[test]
fn t2_impossible_fractions() {
    let beyond = [(1, 5, 60), (1, 1_000_000_000, 60)];
    let error = refusal(files::pcap(Order::Big, NANO, &beyond));
    assert!(error.starts_with("test.bin: byte 44: the fraction of a second is 1000000000"), "{error}");
    let mixed = [(1, 5, 60), (1, 6, 60), (1, 7_000_000, 60)];
    let error = refusal(files::pcap(Order::Little, MICRO, &mixed));
    assert!(error.contains("byte 64: the fraction of a second is 7000000 in a microsecond capture"), "{error}");
    let small: Vec<Record> = (0..10).map(|k| (k, 999_999 - k, 60)).collect();
    assert!(has_note(&capture(files::pcap(Order::Little, NANO, &small)), "may hold microseconds"));
}

#[test]
fn t3_sections_have_their_own_order_and_interfaces() {
    let mut file = Vec::new();
    for (order, resolution, count) in [(Order::Little, 9, 5_000), (Order::Big, 6, 7)] {
        file.extend(files::section(order));
        file.extend(files::block(order, 0x0bad, &[0, 0, 0, 1, 42]));
        // What stands behind the end of options is none.
        let given = [files::tsresol(resolution), (0, vec![]), files::tsresol(3)];
        file.extend(files::interface(order, 1, &given));
        file.extend(files::packet(order, 0, count, 60, &[]));
    }
    file.extend(files::simple_packet(Order::Big));
    file.extend(files::block(Order::Big, 0x7000_0001, &[1, 2, 3]));
    let capture = capture(file);
    assert_eq!((capture.unit, capture.origin, times(&capture)), (ticks("1ns"), 5_000, vec![0, 2_000]));
    assert_eq!(capture.left_out.get(reason::NO_TIME), Some(&1));
    assert_eq!(capture.frames_in_file(), 3);
    assert!(has_note(&capture, "packets of 2 interfaces are taken together"));
}

#[test]
fn t3_damaged_blocks_are_told_with_their_offset() {
    let order = Order::Little;
    let start = [files::section(order), files::interface(order, 1, &[])].concat();
    let with = |block: Vec<u8>| [start.clone(), block].concat();
    let error = refusal(with(files::packet(order, 1, 7, 60, &[])));
    assert!(error.contains("byte 48: a packet names interface 1, but its section describes only 1"), "{error}");
    let mut unequal = files::packet(order, 0, 7, 60, &[]);
    *unequal.last_mut().unwrap() = 1;
    assert!(refusal(with(unequal)).contains("byte 48: a pcapng block of type 0x00000006 does not repeat its length"));
    let mut uneven = files::packet(order, 0, 7, 60, &[]);
    uneven[4] += 1;
    assert!(refusal(with(uneven)).contains("has a total length of 41"));
    let mut overlong = files::packet(order, 0, 7, 60, &[]);
    overlong[20] = 200;
    assert!(refusal(with(overlong)).contains("has a body that does not fit its length"));
    let mut version = files::section(order);
    version[12] = 2;
    assert!(refusal(version).contains("pcapng version 2.0 is not known"));
    let mut magic = files::section(order);
    magic[8] = 0;
    assert!(refusal(magic).contains("byte 8: the section's byte-order magic is 0x1a2b3c00"));
}

#[test]
fn t4_every_resolution_is_read_exactly() {
    // As reported by users: 1573830016.444223380 s in 10^-9, 2^-20, 2^-30 and 2^-32 s.
    for (resolution, high, low, nanoseconds) in [
        (0x09, 366_435_855, 3_137_425_300, 1_573_830_016_444_223_380_i128),
        (0x94, 384_235, 3_624_344_457, 1_573_830_016_444_222_450),
        (0x9e, 393_457_504, 476_981_222, 1_573_830_016_444_223_379),
        (0xa0, 1_573_830_016, 1_907_924_889, 1_573_830_016_444_223_379),
    ] {
        for order in Order::BOTH {
            let count = (high << 32) | low;
            let file = [
                files::section(order),
                files::interface(order, 1, &[files::tsresol(resolution)]),
                files::packet(order, 0, count, 60, &[]),
            ];
            let capture = capture(file.concat());
            assert_eq!(capture.origin, i128::from(count));
            let per_second = if resolution & 0x80 == 0 { 1_000_000_000 } else { 1_i128 << (resolution & 0x7f) };
            assert_eq!(capture.origin * 1_000_000_000 / per_second, nanoseconds, "{resolution:#x}");
            let Unit::Ticks(period) = capture.unit else { panic!("coarser than 1 ps") };
            assert_eq!(i128::from(period.num()) * per_second, i128::from(period.den()) * 1_000_000_000_000);
        }
    }
}

#[test]
fn t4_defaults_offsets_and_limits() {
    for order in Order::BOTH {
        let file = |given: &[files::Opt]| {
            [files::section(order), files::interface(order, 1, given), files::packet(order, 0, 7_000_000, 60, &[])]
                .concat()
        };
        let by_default = capture(file(&[]));
        assert_eq!((by_default.unit, by_default.origin), (ticks("1us"), 7_000_000));
        let offset = capture(file(&[files::tsresol(9), files::tsoffset(order, -3)]));
        assert_eq!((offset.unit, offset.origin), (ticks("1ns"), 7_000_000 - 3_000_000_000));
        let picoseconds = capture(file(&[files::tsoffset(order, 1_753_933_177), files::tsresol(12)]));
        assert_eq!((picoseconds.unit, picoseconds.origin), (Unit::Picoseconds, 1_753_933_177_000_007_000_000));
        for resolution in [13, 0xa8, 0x7f, 0xff] {
            let error = refusal(file(&[files::tsresol(resolution)]));
            assert!(error.contains(&format!("byte 28: the interface's if_tsresol {resolution:#04x}")), "{error}");
        }
    }
}

#[test]
fn t4_interfaces_of_different_resolution_share_a_unit() {
    let order = Order::Little;
    let file = |first, second| {
        [
            files::section(order),
            files::interface(order, 1, &[files::tsresol(first)]),
            files::interface(order, 1, &[files::tsresol(second)]),
            files::packet(order, 0, 3, 60, &[]),
            files::packet(order, 1, 5_000, 60, &[]),
        ]
        .concat()
    };
    let shared = capture(file(6, 9));
    assert_eq!((shared.unit, shared.origin, times(&shared)), (ticks("1ns"), 3_000, vec![0, 2_000]));
    let error = refusal(file(9, 0x9e));
    assert!(error.contains("if_tsresol of 10^-9 and 2^-30 s"), "{error}");
}

#[test]
fn t5_the_high_word_comes_first_and_wrong_units_are_told() {
    let order = Order::Little;
    let file = |count: u64| {
        [files::section(order), files::interface(order, 1, &[]), files::packet(order, 0, count, 60, &[])].concat()
    };
    assert_eq!(capture(file(1 << 32 | 7)).origin, 4_294_967_303);
    // Nanoseconds since 1970 where the interface says microseconds.
    assert!(has_note(&capture(file(1_753_933_177_308_521_943)), "beyond the year 3000"));
    assert!(!has_note(&capture(file(1_753_933_177_308_521)), "beyond the year 3000"));
}

#[test]
fn t6_and_t8_a_step_back_is_kept_and_told() {
    let order = Order::Little;
    // 2^64 / 2.5 GHz = 7.38 s: what a DPDK writer went back by.
    let counts = [9_000_000_000, 9_000_100_000, 1_621_302_366, 1_621_402_366, 1_621_402_366];
    let mut file = [files::section(order), files::interface(order, 1, &[files::tsresol(9)])].concat();
    counts.iter().for_each(|count| file.extend(files::packet(order, 0, *count, 60, &[])));
    let capture = capture(file);
    assert_eq!(times(&capture), [0, 100_000, -7_378_697_634, -7_378_597_634, -7_378_597_634]);
    assert!(has_note(
        &capture,
        "1 frames have an earlier time than the frame before (largest step back 7378797634 ns)"
    ));
    assert!(has_note(&capture, "1 frames have the same time as the frame before"));
    let analysis = analyse(&capture, None, None);
    assert_eq!(analysis.metrics[metric::RX_STAMP_INTERVAL].min_ns, Some(-7_378_797_634.0));
}

#[test]
fn t7_whole_records_survive_a_cut_anywhere() {
    let records: Vec<Record> = (0..5).map(|k| (1, 100 + k, 60)).collect();
    let file = files::pcap(Order::Little, NANO, &records);
    for end in 24..file.len() {
        let (whole, rest) = ((end - 24) / 20, (end - 24) % 20);
        match read(&file[..end], "cut", &ReadOptions::default()) {
            Ok(capture) => {
                assert_eq!(capture.frames.len(), whole);
                assert_eq!(capture.left_out.get(reason::CUT_OFF).copied().unwrap_or(0), u64::from(rest > 0));
                let offset = 24 + 20 * whole;
                assert_eq!(has_note(&capture, &format!("ends inside the record at byte {offset}")), rest > 0);
            }
            Err(error) => {
                assert_eq!(whole, 0);
                assert!(error.to_string().contains("no frame with a time remains"), "{error}");
            }
        }
    }
}

#[test]
fn t7_whole_blocks_survive_a_cut_anywhere() {
    let order = Order::Big;
    let start = [files::section(order), files::interface(order, 1, &[])].concat();
    let packet = files::packet(order, 0, 7, 60, &[]);
    let file = [start.clone(), packet.clone(), packet.clone()].concat();
    for end in start.len() + packet.len()..file.len() {
        let rest = end - start.len() - packet.len();
        let capture = capture(&file[..end]);
        assert_eq!(capture.frames.len(), 1);
        assert_eq!(capture.left_out.contains_key(reason::CUT_OFF), rest > 0);
        assert_eq!(has_note(&capture, "ends inside the record at byte 88"), rest > 0);
    }
}

#[test]
fn t7_whole_lines_survive_a_cut_anywhere() {
    let efcc = files::efcc(&[(0, 1_000), (1, 1_084), (2, 1_168), (3, 1_252)]);
    let ns = "seq,t_ns\n1,1753933177308521943\n2,1753933177308522615\n3,1753933177308523287\n4,1753933177308523959\n";
    let s = "t_s\n1753933177.308521943\n1753933177.308522615\n1753933177.308523287\n1753933177.308523959\n";
    for (text, step) in [(efcc.as_str(), 84), (ns, 672), (s, 672)] {
        let first = text.match_indices('\n').nth(1).unwrap().0;
        for end in first..text.len() {
            let capture = capture(&text[..end]);
            assert!(times(&capture).iter().enumerate().all(|(k, at)| *at == k as i64 * step), "{}", &text[..end]);
            // A line that lacks only its end is whole, and so is one that ends with it.
            let lines = text[..end].lines().count() as u64 - 1;
            assert_eq!(capture.frames_in_file(), lines);
            let is_whole = text[end - 1..].starts_with('\n') || text[end..].starts_with('\n');
            assert_eq!(has_note(&capture, &format!("the file ends inside line {}", lines + 1)), !is_whole);
        }
    }
}

#[test]
fn t7_zero_filled_tails_and_empty_files() {
    let mut file = files::pcap(Order::Little, NANO, &[(1, 100, 60)]);
    let length = file.len();
    file.resize(length + 100, 0);
    let filled = capture(&file);
    assert_eq!((filled.frames.len(), filled.frames_in_file()), (1, 1));
    assert!(has_note(&filled, &format!("filled with zeros from byte {length} on")));
    let order = Order::Little;
    let mut file =
        [files::section(order), files::interface(order, 1, &[]), files::packet(order, 0, 7, 60, &[])].concat();
    file.resize(file.len() + 64, 0);
    assert!(has_note(&capture(&file), "filled with zeros from byte 88 on"));

    assert!(refusal(b"").contains("the file is empty (0 bytes)"));
    assert!(refusal(&files::pcap(Order::Little, NANO, &[])[..11]).contains("it has 11 of 24 bytes"));
    assert!(
        refusal(files::pcap(Order::Little, NANO, &[])).contains("no frame with a time remains (it holds no frame)")
    );
    let mut huge = files::pcap(Order::Little, NANO, &[(1, 1, 60), (1, 2, 60)]);
    huge[44 + 11] = 0x7f;
    assert!(refusal(huge).contains("byte 44: a record says it holds 2130706436 captured bytes"));
}

#[test]
fn t9_sizes_on_the_line() {
    let records = [(1, 1, 60), (1, 2, 42), (1, 3, 1_514), (1, 4, 0)];
    let sizes = |capture: &Capture| capture.frames.iter().map(|frame| frame.size).collect::<Vec<_>>();
    let plain = capture(files::pcap(Order::Little, NANO, &records));
    assert_eq!(sizes(&plain), [Some(64), Some(64), Some(1_518), Some(64)]);
    // The link type says that two 16-bit words of FCS are in each frame.
    let with_fcs = capture(files::pcap_with(Order::Big, NANO, 0x2400_0001, &records));
    assert_eq!(sizes(&with_fcs), [Some(64), Some(64), Some(1_514), Some(64)]);
    let other_link = capture(files::pcap_with(Order::Little, NANO, 113, &records));
    assert_eq!(sizes(&other_link), [None; 4]);
    for (given, size) in [(vec![], 1_518), (vec![(13, vec![4])], 1_514)] {
        let order = Order::Big;
        let file = [files::section(order), files::interface(order, 1, &given), files::packet(order, 0, 7, 1_514, &[])];
        assert_eq!(sizes(&capture(file.concat())), [Some(size)]);
    }
}

#[test]
fn t11_zero_is_a_missing_stamp() {
    let epoch = capture(files::pcap(
        Order::Little,
        NANO,
        &[(0, 0, 60), (1_753_933_177, 5, 60), (0, 0, 60), (1_753_933_177, 9, 60)],
    ));
    assert_eq!((epoch.origin, times(&epoch)), (1_753_933_177_000_000_005, vec![0, 4]));
    assert_eq!(epoch.left_out.get(reason::MISSING_TIME), Some(&2));
    assert_eq!(epoch.frames_in_file(), 4);
    let relative = capture("t_ns\n0\n100000\n200000\n");
    assert_eq!(times(&relative), [0, 100_000, 200_000]);
}

#[test]
fn t13_wraps_are_undone_and_the_longest_gap_is_stated() {
    let records: Vec<(u32, u32)> =
        (0_u32..10).map(|k| (k, 0xffff_fff0_u32.wrapping_add(k.wrapping_mul(0x7000_0000)))).collect();
    let wrapped = capture(files::efcc(&records));
    assert_eq!(wrapped.origin, 0xffff_fff0);
    assert!(times(&wrapped).iter().enumerate().all(|(k, at)| *at == k as i64 * 0x7000_0000));
    let back = capture(files::efcc(&[(0, 5_000), (1, 5_100), (2, 5_200), (3, 5_199), (4, 5_300)]));
    assert_eq!(times(&back), [0, 100, 200, 199, 300]);
    assert!(has_note(&back, "cannot tell a step back from a gap of over 17.179869184 s"), "{:?}", back.notes);
}

#[test]
fn t14_counts_are_ticks_and_the_first_difference_is_none() {
    let file = files::efcc(&[(0, 1_000), (1, 1_084), (2, 1_168)]);
    let by_default = analyse(&capture(&file), None, None);
    assert_eq!(by_default.capture.tick_ns, 8.0);
    assert_eq!(by_default.metrics[metric::OBSERVED_INTERVAL].max_ns, Some(672.0));
    assert!(by_default.notes.iter().any(|note| note.contains("8ns is assumed")), "{:?}", by_default.notes);
    let options = ReadOptions { tick: Some("6.4ns".parse().unwrap()), ..ReadOptions::default() };
    let given = analyse(&read(file.as_bytes(), "c", &options).unwrap(), None, None);
    assert_eq!((given.capture.tick_ns, given.metrics[metric::OBSERVED_INTERVAL].max_ns), (6.4, Some(537.6)));
    assert!(!given.notes.iter().any(|note| note.contains("assumed")));
}

#[test]
fn t14_an_efcc_file_is_checked_line_by_line() {
    let with = |lines: &str| format!("{}{lines}", files::EFCC_HEADER);
    for (lines, expected) in [
        (
            "0x00000000,10,10\n0x00000001,20,11\n",
            "line 3: timestamp_diff is 11, but timestamp_val less the one before is 10",
        ),
        (
            "0x00000000,10,10\n0x00000001,8,-2\n",
            "line 3: a value is negative, so this is not a capture but a table of differences",
        ),
        ("0x00000000,-10,-10\n", "line 2: a value is negative"),
        ("0,10,10\n", "line 2: the identifier `0` is not of the form 0x0000002a"),
        ("0x100000000,10,10\n", "line 2: the identifier `0x100000000`"),
        ("0x0,4294967296,1\n", "line 2: timestamp_val is `4294967296`, not a whole number from 0 to 4294967295"),
        ("0x0,1.5,1\n", "line 2: timestamp_val is `1.5`"),
        ("0x0,,1\n", "line 2: timestamp_val is ``"),
        ("0x0,10\n", "line 2 has 2 fields"),
        ("0x0,10,10,1\n", "line 2 has 4 fields"),
        ("0x0,10,10\n\n# again\ntimestamp_id,timestamp_val,timestamp_diff\n", "line 5 repeats the header"),
        ("0x0,7,7\n0x1,7,0\n0x2,7,0\n0x3,9,2\n", "table of differences"),
        ("", "no frame with a time remains"),
    ] {
        let error = refusal(with(lines));
        assert!(error.contains(expected), "{lines}: {error}");
    }
    let inside = capture(with("0x5,1000,84\n0x6,1084,84\n"));
    assert!(has_note(&inside, "begins inside a capture"));
    assert_eq!(times(&inside), [0, 84]);
    let other = ReadOptions { input: Some(Kind::Efcc), ..ReadOptions::default() };
    let error = read(b"time_ns\n1\n", "x", &other).unwrap_err().to_string();
    assert!(error.contains("line 1 is `time_ns`; an EFCC capture begins with the header"), "{error}");
}

#[test]
fn t15_numbers_are_exact_or_refused() {
    let seconds = capture("rx_hw_ts_s,n\n1753934910.226563607,1\n1753934910.227047783,2\n");
    assert_eq!((seconds.origin, times(&seconds)), (1_753_934_910_226_563_607, vec![0, 484_176]));
    assert_eq!(seconds.unit, ticks("1ns"));
    let negative = capture("t_s\n-0.000000012\n0.000000004\n");
    assert_eq!((negative.origin, times(&negative)), (-12, vec![0, 16]));
    assert_eq!(capture("t_s\n0.000100000\n0.0003\n").origin, 100_000);
    let fine = capture("t_ns\n6.4\n12.8\n19.2\n");
    assert_eq!((fine.unit, times(&fine)), (ticks("0.1ns"), vec![0, 64, 128]));
    assert_eq!(capture("t_ps\n5\n7\n").unit, Unit::Picoseconds);
    for (text, expected) in [
        ("t_s\n1.0\n4e-09\n", "line 3: `4e-09` is not a time: an exponent has too few digits"),
        ("t_ns\n\"1,753,933\"\n", "line 2: `1,753,933` is not a time: write it without separators"),
        ("t_ns\nabc\n", "line 2: `abc` is not a time: expected digits"),
        ("t_ns\n5\n0x12\n", "line 3: `0x12` is not a time"),
        ("t_ns\n1.2345\n", "line 2: `1.2345` has digits below 1 ps"),
        // Nanoseconds since 1970 as a spreadsheet keeps them, and seconds.
        ("t_ns\n1753933177308520000\n1753933177308530000\n", "line 2: every time has been rounded to 15 digits"),
        (
            "t_s\n1753933177.3\n1753933177.30853\n",
            "line 3: every time has been rounded to 15 digits (such as `1753933177.30853`)",
        ),
    ] {
        let error = refusal(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
    // Multiples of 100 us, and days of uptime in nanoseconds, have lost nothing.
    assert_eq!(times(&capture("t_ns\n1753933177308500000\n1753933177308600000\n")), [0, 100_000]);
    assert_eq!(times(&capture("t_ns\n123456789012345\n123456789012346\n")), [0, 1]);
}

#[test]
fn t15_seconds_with_unpadded_nanoseconds() {
    // As reported by a user: 1757339202.26146628 means .026146628; the next stamps are .031426628 and .1e0 s later.
    let file = capture("t_s\n1757339202.26146628\n1757339202.31426628\n1757339202.126146628\n1757339203.5\n");
    assert_eq!(file.origin, 1_757_339_202_026_146_628);
    assert_eq!(times(&file), [0, 5_280_000, 100_000_000, 973_853_377]);
    assert!(has_note(&file, "without leading zeros"));
    // True decimals with their zeros trimmed go forward as they are.
    let trimmed = capture("t_s\n1.25\n1.3\n1.312345678\n");
    assert_eq!(times(&trimmed), [0, 50_000_000, 62_345_678]);
}

#[test]
fn t16_dialects() {
    for text in [
        "n,t_ns\n1,100\n2,300\n",
        "\u{feff}n,t_ns\r\n1,100\r\n2,300",
        "n;t_ns\n1;100\n2;300\n",
        "n\tt_ns\n1\t100\n2\t300\n",
        "n,t_ns\r1,100\r2,300\r",
        "# by hand\n\nn,t_ns\n; a comment\n1,100\n# another\n2,300\n",
        "\"n\",\"t_ns\"\n\"1\",\"100\"\n\"2\",\"300\"\n",
        "n , t_ns \n 1 , 100 \n 2 , 300 \n",
        "n,t (ns)\n1,100\n2,300\n",
        "n,time [ns]\n1,100\nn,time [ns]\n2,300\n",
        "n;t_us\n1;0,100\n2;0,300\n",
    ] {
        let capture = capture(text);
        assert_eq!((capture.kind, capture.unit, times(&capture)), (Kind::Csv, ticks("1ns"), vec![0, 200]), "{text:?}");
        assert_eq!(has_note(&capture, "the header stands 2 times"), text.contains("2,300\n") && text.contains("[ns]"));
    }
}

#[test]
fn t16_columns_are_named_or_evident() {
    assert!(refusal("a_ns,b_ns\n1,2\n").contains("several columns look like times: a_ns, b_ns; name the one to use"));
    assert!(refusal("a,b\n1,2\n").contains("no column looks like a time with a unit (the columns are a, b)"));
    assert!(refusal("1710206959505355545\n1710206959515374097\n").contains("(there is no header); name it: --columns"));
    let chosen =
        with_columns("a_ns,b_ns,seq,len_without_fcs,size\n1,20,0x7,60,1518\n2,40,8,,\n", "time=b_ns,id=seq,size=4")
            .unwrap();
    assert_eq!(times(&chosen), [0, 20]);
    assert_eq!(
        chosen.frames.iter().map(|f| (f.id, f.size)).collect::<Vec<_>>(),
        [(Some(7), Some(64)), (Some(8), None)]
    );
    let bare = with_columns("1710206959505355545\n1710206959515374097\n", "time=1:ns").unwrap();
    assert_eq!((bare.origin, times(&bare)), (1_710_206_959_505_355_545, vec![0, 10_018_552]));
    for (text, columns, expected) in [
        ("a,b\n1,2\n", "time=c:ns", "there is no column `c`; the header (line 1) has a, b"),
        ("1,2\n", "time=a:ns", "there is no column `a`; the header (line 1) has no names"),
        ("a,b\n1,2\n", "time=3:ns", "there is no column `3`"),
        ("a,b\n1,2\n", "time=a", "column `a` does not say its unit; add one of s, ms, us, ns, ps: --columns time=a:ns"),
        ("a,b\n1,x\n", "time=a:ns,id=b", "line 2: `x` is not a whole number from 0 to 4294967295 (id)"),
        ("a,b\n1,-2\n", "time=a:ns,size=b", "line 2: `-2` is not a whole number"),
    ] {
        let error = with_columns(text, columns).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn a_missing_value_is_never_zero() {
    let capture = with_columns("t_ns,id\n100,1\n,2\nNaN,3\n-,4\n400,\n", "time=t_ns,id=id").unwrap();
    assert_eq!(times(&capture), [0, 300]);
    assert_eq!(capture.left_out.get(reason::MISSING_TIME), Some(&3));
    assert_eq!(capture.frames[1].id, None);
    // A row that ends before the column of times.
    assert_eq!(with_columns("n,t_ns\n1,5\n2\n", "time=t_ns").unwrap().frames_in_file(), 2);
}

#[test]
fn skipped_frames_are_counted_and_leave_no_trace() {
    let options = ReadOptions { skip: 2, ..ReadOptions::default() };
    let capture = read(files::efcc(&[(7, 90), (8, 95), (9, 1_000), (10, 1_084)]).as_bytes(), "c", &options).unwrap();
    assert_eq!((capture.origin, times(&capture), capture.skipped()), (1_000, vec![0, 84], 2));
    let all = ReadOptions { skip: 9, ..ReadOptions::default() };
    let error = read(files::efcc(&[(7, 90)]).as_bytes(), "c", &all).unwrap_err().to_string();
    assert_eq!(error, "c: no frame with a time remains (left out: 1 skipped); at least one is needed");
}

#[test]
fn other_files_are_told_apart() {
    for (bytes, expected) in [
        (&b"\x1f\x8b\x08\0"[..], "the file is compressed (gzip)"),
        (b"ISOCHRON\0\0\0\x04", "a binary isochron log"),
        (b"\xff\xfet\0", "UTF-16"),
        (b"\x7fELF\x02\x01\x01\0", "it begins with 7F 45 4C 46"),
        (b"hello", "no column looks like a time"),
        (b"\n\n", "no frame with a time remains"),
    ] {
        let error = refusal(bytes);
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn streams_of_a_plan_are_told_by_number() {
    let plan = Plan::from_toml(
        "tick = \"8ns\"\n[[stream]]\nname = \"fast\"\nsize = \"64B\"\nframes = 100\ninterval = \"100us\"\n\
         [[stream]]\nname = \"slow\"\nsize = \"64B\"\nframes = 100\ninterval = \"200us\"\n",
        "capture.toml",
    )
    .unwrap();
    // Both run 40 ppm fast (half a tick per 100 us); frame 5 of the first stream is missing.
    let mut records: Vec<(u32, u32)> = (0..100_u32)
        .flat_map(|k| [(2 * k, 1_000 + k * 12_500 + k / 2), (2 * k + 1, 5_000 + k * 25_001)])
        .filter(|(id, _)| *id != 10)
        .collect();
    records.sort_by_key(|(_, count)| *count);
    let analysis = analyse(&capture(files::efcc(&records)), Some(&plan), None);
    let intervals = &analysis.metrics[metric::OBSERVED_INTERVAL];
    // The interval across the missing frame is one between successive frames that were seen.
    assert_eq!((intervals.count, intervals.max_ns), (98 + 99, Some(200_008.0)));
    assert!(analysis.notes.iter().any(|note| note.contains("the frames are of 2 streams")), "{:?}", analysis.notes);
    let slope = analysis.fit.slope_ppm.unwrap();
    assert!((slope - 40.0).abs() < 0.05, "{slope}");
    assert!(analysis.fit.linear_residual_range_ns.unwrap() < 9.0, "{:?}", analysis.fit);
}

#[test]
fn the_slope_is_against_the_plan_where_there_is_one() {
    let records: Vec<(u32, u32)> = (0..1_000).map(|k| (k, k * 15_624)).collect();
    let options = ReadOptions { tick: Some("6.4ns".parse().unwrap()), ..ReadOptions::default() };
    let capture = read(files::efcc(&records).as_bytes(), "c", &options).unwrap();
    let plan = Plan::from_toml("[[stream]]\nsize = \"64B\"\nframes = 1000\ninterval = \"100us\"", "p").unwrap();
    let planned = analyse(&capture, Some(&plan), None).fit;
    assert!((planned.slope_ppm.unwrap() + 64.0).abs() < 1e-9, "{planned:?}");
    let inferred = analyse(&capture, None, None);
    assert_eq!(inferred.fit.slope_ppm, Some(0.0));
    assert!(inferred.notes.iter().any(|note| note.contains("the most frequent one is taken, 99993.6 ns")));
}

#[test]
fn a_divisor_of_the_schedule_is_no_tick() {
    // Every interval is a multiple of the shortest: nothing is known of the clock's grid.
    let analysis = analyse(&capture("t_ns\n1000\n101000\n201000\n401000\n"), None, None);
    assert_eq!((analysis.capture.tick_ns, analysis.fit.residue_ns), (1.0, None));
    let grid = analyse(&capture("t_ns\n1003\n101003\n201011\n301003\n"), None, None);
    assert_eq!((grid.capture.tick_ns, grid.fit.residue_ns), (8.0, Some(3.0)));
}

#[test]
fn two_clocks_without_a_common_epoch() {
    // A NIC that runs 10 ppm fast against the instrument, from an epoch of its own.
    let counts: Vec<(u32, u32)> = (0..500).map(|k| (k, 77 + k * 12_500)).collect();
    let stamps: String = (0..500_u64).map(|k| format!("{}\n", 1_753_933_177_000_000_000 + k * 100_001)).collect();
    let (nic, efcc) = (capture(format!("rx_ns\n{stamps}")), capture(files::efcc(&counts)));
    let analysis = analyse(&nic, None, Some(&efcc));
    assert!(analysis.notes.iter().any(|note| note.contains("no common epoch")), "{:?}", analysis.notes);
    let delay = &analysis.metrics[metric::DELAY];
    assert_eq!((delay.min_ns, delay.max_ns), (Some(0.0), Some(499.0)));
    assert!((analysis.fit.slope_ppm.unwrap() - 10.0).abs() < 1e-6);
    // The other way round the sign turns.
    assert!((analyse(&efcc, None, Some(&nic)).fit.slope_ppm.unwrap() + 10.0).abs() < 1e-3);
}

#[test]
fn a_written_pcapng_reads_back() {
    for (resolution, unit, offset) in [
        (pcapng::Resolution::Nanoseconds, ticks("1ns"), 0_i64),
        (pcapng::Resolution::Picoseconds, Unit::Picoseconds, 1_753_933_177),
    ] {
        let mut writer = pcapng::Writer::new(Vec::new(), resolution, offset).unwrap();
        let frames = [(0_u32, 0_u64, 64_u32), (1, 1 << 40, 1_518), (0x4000_0009, (1 << 40) + 1, 9_022)];
        frames.iter().for_each(|(id, at, size)| writer.frame(*id, *at, *size).unwrap());
        let file = writer.finish().unwrap();
        let capture = capture(&file);
        let per_second = if unit == Unit::Picoseconds { 1_000_000_000_000 } else { 1_000_000_000 };
        assert_eq!((capture.unit, capture.origin), (unit, i128::from(offset) * per_second));
        let back: Vec<_> = capture.frames.iter().map(|f| (f.id.unwrap(), f.at as u64, f.size.unwrap())).collect();
        assert_eq!(back, frames);
        assert!(capture.notes.is_empty(), "{:?}", capture.notes);
    }
}
