//! Sweeps: plans against naive enumerations, the same rows for threads and parts, failing points, examples.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

use std::sync::atomic::{AtomicU64, Ordering};

use nicsim_core::sink::Null;
use nicsim_models::world::KernelKind;
use nicsim_scenarios::library;
use nicsim_scenarios::run::{RunOptions, run};
use nicsim_scenarios::scenario::Scenario;
use nicsim_scenarios::sweep::table::{columns, row, rows, runs, write_csv};
use nicsim_scenarios::sweep::{Cell, End, Job, Layout, Memory, Overrides, Row, Shard, Store, Sweep, Watch, execute};
use proptest::prelude::*;

fn load(name: &str) -> Result<String, String> {
    Err(format!("{name}: there is no such file"))
}

fn open(text: &str) -> Result<Sweep, String> {
    Sweep::open("s.toml", text, Overrides::default(), &load).map_err(|error| error.to_string())
}

fn error(text: &str) -> String {
    open(text).unwrap_err()
}

/// A sweep file with this `[sweep]` part.
fn file(sweep: &str) -> String {
    format!(
        "scenario = \"e830/sched-64b-100us\"\nmetrics = [\"observed_interval.std_ns\", \"late\"]\nframes = 60\n{sweep}\n"
    )
}

/// Stops after so many runs that had not been run before.
struct After(AtomicU64);

impl Watch for After {
    fn frames(&self, _: u64) {}
    fn done(&self, _: bool, stored: bool) {
        self.0.fetch_sub(u64::from(!stored), Ordering::Relaxed);
    }
    fn goes_on(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

fn store(sweep: &Sweep, shard: Shard) -> Store<Memory> {
    let layout = Layout { hash: sweep.hash(), figures: sweep.figures().len(), repeat: sweep.plan().repeat(), shard };
    Store::new(Memory::default(), Memory::default(), layout)
}

fn go_on(sweep: &Sweep, store: &Store<Memory>, threads: usize, most: u64) -> End {
    let watch = After(AtomicU64::new(most));
    let job = Job { sweep, store, load: &load, complete: &|_| {}, kernel: KernelKind::Slots, watch: &watch };
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| execute(&job)).unwrap()
}

fn all_rows(sweep: &Sweep, threads: usize) -> Vec<Row> {
    let store = store(sweep, Shard::default());
    assert!(!go_on(sweep, &store, threads, u64::MAX).stopped);
    rows(sweep, &store).collect::<Result<_, _>>().unwrap()
}

const MIXED: &str = r#"
[sweep]
repeat = 2
constraints = ["stream.0.lead <= stream.0.interval"]
[sweep.grid]
"stream.0.interval" = { from = "90us", to = "110us", count = 3 }
"stream.0.lead" = ["50us", "100us"]
[[sweep.zip]]
"nic.driver" = ["ice-fixed", "ice-linux-6.18"]
"nic.ring" = [256, 512]
"#;

#[test]
fn rows_do_not_depend_on_threads_parts_or_interruptions() {
    let sweep = open(&file(MIXED)).unwrap();
    let whole = all_rows(&sweep, 1);
    // 3 intervals × 2 leads × 2 drivers, less 90 us with a lead of 100 us, each twice.
    assert_eq!(whole.len(), (12 - 2) * 2);
    assert_eq!(all_rows(&sweep, 2), whole);
    let mut parts = Vec::new();
    for index in 1..=3 {
        let store = store(&sweep, Shard { index, count: 3 });
        go_on(&sweep, &store, 1, u64::MAX);
        parts.extend(runs(&sweep, &store).map(|run| row(&sweep, run, &store.get(run).unwrap().unwrap())));
    }
    let order = |row: &Row| match (&row[0], &row[1]) {
        (Cell::Integer(point), Cell::Integer(repetition)) => (*point, *repetition),
        _ => (-1, -1),
    };
    parts.sort_by_key(order);
    assert_eq!(parts, whole);
    let store = store(&sweep, Shard::default());
    let mut stops = 0;
    while go_on(&sweep, &store, 1, if stops == 0 { 3 } else { 9 }).stopped {
        stops += 1;
        assert!(stops < 10, "it goes on where it stopped");
    }
    assert!(stops > 0);
    assert_eq!(rows(&sweep, &store).collect::<Result<Vec<_>, _>>().unwrap(), whole);
}

#[test]
fn a_point_that_is_like_the_last_is_resolved_as_if_alone() {
    let sweep = open(&file(MIXED)).unwrap();
    let mut last = None;
    for point in 0..sweep.plan().points() {
        let alone = sweep.scenario_at(point, None, &load).unwrap();
        let like = sweep.scenario_at(point, last.as_ref(), &load).unwrap();
        let [alone_report, like_report] = [&alone, &like].map(|scenario| {
            let report = run(scenario, RunOptions::default(), &mut Null, &mut |_| true).unwrap().report;
            (report.counts, report.stamps, report.metrics, report.streams)
        });
        assert_eq!(alone_report, like_report);
        last = Some(like);
    }
}

#[test]
fn a_row_can_be_run_alone_by_its_seed() {
    let sweep = open(&file(MIXED)).unwrap();
    let rows = all_rows(&sweep, 2);
    let (Cell::Integer(seed), Cell::Real(std)) = (&rows[5][2], &rows[5][7]) else { panic!("{:?}", rows[5]) };
    let sets = ["stream.0.frames=60", "stream.0.interval=90us", "stream.0.lead=50us", "nic.ring=256"];
    let sets = sets.map(str::to_owned);
    assert_eq!(
        rows[5][3..7],
        [Cell::Real(100_000.0), Cell::Real(50_000.0), Cell::Text("ice-fixed".into()), Cell::Integer(256)]
    );
    let sets: Vec<String> = sets.into_iter().map(|set| set.replace("=90us", "=100us")).collect();
    let scenario = Scenario::open("e830/sched-64b-100us", &sets, &load).unwrap();
    let options = RunOptions { seed: *seed as u64, ..RunOptions::default() };
    let report = run(&scenario, options, &mut Null, &mut |_| true).unwrap().report;
    assert_eq!(report.metrics["observed_interval"].summary.std_ns, Some(*std));
}

#[test]
fn a_failing_point_is_a_row_with_its_error() {
    let text = file("[sweep.grid]\n\"stream.0.size\" = [\"64B\", \"20B\", \"1518B\"]");
    let sweep = open(&text).unwrap();
    let rows = all_rows(&sweep, 2);
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0].last(), Some(&Cell::Missing));
    assert_eq!(rows[1][4..6], [Cell::Missing, Cell::Missing]);
    match rows[1].last() {
        Some(Cell::Text(text)) => assert!(text.starts_with("stream.0.size: 20B is no frame size"), "{text}"),
        other => panic!("{other:?}"),
    }
    let csv = write_csv(&columns(&sweep), rows.iter().cloned().map(Ok), Vec::new()).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    assert!(csv.starts_with("point,repetition,seed,stream.0.size_b,observed_interval.std_ns,late,error\n"), "{csv}");
    assert!(csv.lines().nth(2).unwrap().contains(",20,,,stream.0.size: 20B is no frame size;"), "{csv}");
}

#[test]
fn common_random_numbers_give_points_the_same_luck() {
    let grid = "[sweep.grid]\n\"stream.0.frames\" = [50, 51]";
    let seeds = |text: &str| -> Vec<Cell> {
        all_rows(&open(&file(text)).unwrap(), 1).iter().map(|row| row[2].clone()).collect()
    };
    let common = seeds(&format!("[sweep]\nrepeat = 2\ncommon_random_numbers = true\n{grid}"));
    assert_eq!((&common[0], &common[1]), (&common[2], &common[3]));
    assert_ne!(common[0], common[1]);
    let own = seeds(&format!("[sweep]\nrepeat = 2\n{grid}"));
    assert!((0..4).all(|a| (0..a).all(|b| own[a] != own[b])), "{own:?}");
}

#[test]
fn streams_have_figures_of_their_own() {
    let text = file("[sweep]\nrepeat = 2")
        .replace("\"late\"", "\"streams.0.late\", \"streams.0.launch_error.p50_ns\", \"launch_error.p50_ns\"");
    let rows = all_rows(&open(&text).unwrap(), 1);
    assert_eq!(rows[0][5], rows[0][6]);
    assert!(error(&text.replace("streams.0.late", "streams.1.late")).contains("no stream 1"));
}

#[test]
fn wrong_sweeps_are_refused_before_anything_runs() {
    let grid = |line: &str| error(&file(&format!("[sweep.grid]\n{line}")));
    let starts =
        |text: String, start: &str, part: &str| assert!(text.starts_with(start) && text.contains(part), "{text}");
    starts(
        grid("\"stream.0.intervall\" = [\"1us\"]"),
        "s.toml:5:1: `stream.0.intervall` = 1000ns: unknown field",
        "near it are `interval`",
    );
    starts(grid("\"nic.parameters.launch.windov\" = [\"1ns\"]"), "s.toml:5:1: ", "near it are `launch.window`");
    starts(grid("\"stream.1.interval\" = [\"1us\"]"), "s.toml:5:1: ", "there is no number 1");
    starts(grid("\"stream.0.interval\" = [\"1us\", \"2\"]"), "s.toml:5:1: ", "has no unit");
    starts(grid("\"stream.0.interval\" = []"), "s.toml:5:23: the list is empty", "at least one value");
    starts(grid(""), "s.toml: [sweep.grid] is empty", "leave it out");
    starts(grid("stream.0.interval = [\"1us\"]"), "s.toml:5:1: ", "one key in quotes");
    starts(
        grid("\"stream.0.interval\" = { from = \"1us\", to = \"2us\", step = \"-1ns\" }"),
        "s.toml:5:23: the range never ends",
        "",
    );
    let huge = "\"stream.0.interval\" = { from = \"1us\", to = \"2us\", count = 1000000 }\n\"stream.0.lead\" = { from = \"1us\", to = \"2us\", count = 1000000 }";
    starts(grid(huge), "s.toml: the sweep has 1.000e12 runs", "more than the 1000000000");
    let endless = "\"stream.0.lead\" = { from = 0, to = 9000000000000000000, step = 1 }\n\"nic.ring\" = { from = 0, to = 9000000000000000000, step = 1 }";
    starts(grid(endless), "s.toml: the sweep has 8.100e37 runs", "");
    starts(error(&file("[sweep]\nrepeat = 0")), "s.toml: `repeat` is 0", "");
    starts(error(&file("[sweep]")), "s.toml: nothing is swept", "");
    starts(error(&file("[sweep]\nrepat = 3")), "s.toml:5:1: unknown field `repat`", "near it are `repeat`");
    starts(
        error(&file("[sweep]\nconstraints = [\"nic.rong > 3\"]\n[sweep.grid]\n\"nic.ring\" = [64]")),
        "s.toml:5:16: ",
        "neither swept nor written",
    );
    starts(
        error(&file("[[sweep.zip]]\n\"nic.ring\" = [64, 128]\n\"stream.0.size\" = [\"64B\"]")),
        "s.toml:6:19: it has 1 values, but `nic.ring` has 2",
        "",
    );
    starts(
        error(&file("[sweep.grid]\n\"nic.ring\" = [64]\n[[sweep.zip]]\n\"nic.ring\" = [64]")),
        "s.toml:7:1: `nic.ring` is swept already, at s.toml:5:1",
        "",
    );
    starts(
        error(&file("[set]\n\"nic.ring\" = 64\n[sweep.grid]\n\"nic.ring\" = [64]")),
        "s.toml:5:1: `nic.ring` is swept",
        "",
    );
    starts(
        error(&file("[sweep.sample]\nmethod = \"sobl\"\npoints = 3")),
        "s.toml:5:10: there is no method",
        "\"sobol\"",
    );
    starts(
        error(&file("[sweep.sample]\nmethod = \"sobol\"\npionts = 3")),
        "s.toml:6:1: unknown field `pionts`",
        "near it are `points`",
    );
    starts(error(&file("[sweep]\nrepeat = 2").replace("late", "lat")), "s.toml:2:", "near it are `late`");
    starts(
        error(&file("[sweep]\nrepeat = 2").replace("observed_interval", "rx_stamp_interval")),
        "s.toml:2:12: ",
        "it needs a [sender]",
    );
    starts(error(&file("[sweep]\nrepeat = 2").replace("sched-64b", "shed-64b")), "s.toml: scenario: ", "near it are");
    starts(
        error(&file("[sweep]\nrepeat = 2").replace("frames", "frame")),
        "s.toml:3:1: unknown field `frame`",
        "`frames`",
    );
}

#[test]
fn every_example_runs() {
    let mut seen = 0;
    for name in library::sweep_names() {
        let frames = Overrides { frames: Some(20), ..Overrides::default() };
        let sweep = Sweep::open(name, library::sweep_text(name).unwrap(), frames, &load).unwrap();
        let rows = all_rows(&sweep, 2);
        assert!(rows.len() > 10, "{name}");
        assert!(rows.iter().all(|row| row.last() == Some(&Cell::Missing)), "{name}: no point fails");
        seen += 1;
    }
    assert!(seen >= 3);
}

#[test]
fn the_file_of_the_documentation_is_right() {
    let docs = include_str!("../../docs/sweep.md");
    let text = docs.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let sweep = open(text).unwrap();
    assert_eq!(sweep.plan().points(), 2 * 301 * 2 * 256);
    assert!((0..1_000).any(|point| !sweep.plan().admits(point)) && sweep.plan().admits(0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Point i of a plan is the i-th of nested loops, the first path outermost.
    #[test]
    fn a_point_follows_from_its_index(sizes in prop::collection::vec(64_u32..1500, 1..5), rings in prop::collection::vec(64_i64..4096, 1..4), zipped in 1_usize..4, repeat in 1_u64..4) {
        let leads: Vec<String> = (0..zipped).map(|k| format!("\"{}us\"", 10 + k)).collect();
        let queues: Vec<String> = (0..zipped).map(|k| k.to_string()).collect();
        let text = file(&format!(
            "[sweep]\nrepeat = {repeat}\n[sweep.grid]\n\"stream.0.size\" = [{}]\n\"nic.ring\" = {rings:?}\n[[sweep.zip]]\n\"stream.0.lead\" = [{}]\n\"stream.0.queue\" = [{}]",
            sizes.iter().map(|size| format!("\"{size}B\"")).collect::<Vec<_>>().join(", "),
            leads.join(", "),
            queues.join(", "),
        ));
        let sweep = open(&text).unwrap();
        let mut expected = Vec::new();
        for size in &sizes {
            for ring in &rings {
                for lead in 0..zipped {
                    expected.push((*size, *ring, 10 + lead as i64, lead as i64));
                }
            }
        }
        prop_assert_eq!(sweep.plan().points(), expected.len() as u64);
        prop_assert_eq!(sweep.plan().runs(), expected.len() as u64 * repeat);
        for (point, (size, ring, lead, queue)) in expected.into_iter().enumerate() {
            let file = sweep.file_at(point as u64).unwrap();
            let (nic, stream) = (file.nic.as_ref().unwrap(), &file.stream[0]);
            prop_assert_eq!(stream.size.0, size);
            prop_assert_eq!(nic.ring.map(i64::from), Some(ring));
            prop_assert_eq!(stream.lead, Some(format!("{lead}us").parse().unwrap()));
            prop_assert_eq!(stream.queue.map(i64::from), Some(queue));
        }
        for index in 0..sweep.plan().runs() {
            let run = sweep.plan().run(index);
            prop_assert_eq!((run.point, run.repetition), (index / repeat, index % repeat));
        }
    }
}

/// Repetitions that end early, at three intervals; figures scatter from seed to seed by about 0.3 ns.
fn stopping(within: &str) -> String {
    format!(
        "scenario = \"e830/sched-64b-100us\"\nmetrics = [\"observed_interval.std_ns\"]\nframes = 2000\n[sweep]\nrepeat = 12\n\
         [sweep.stop]\nfigure = \"observed_interval.std_ns\"\nwithin = {within}\n\
         [sweep.grid]\n\"stream.0.interval\" = [\"99968ns\", \"100us\", \"100096ns\"]\n"
    )
}

#[test]
fn repetitions_end_when_the_interval_is_narrow_enough() {
    let per_point = |within: &str| {
        let sweep = open(&stopping(within)).unwrap();
        let rows = all_rows(&sweep, 2);
        let of = |point: i64| rows.iter().filter(|row| row[0] == Cell::Integer(point)).count();
        [of(0), of(1), of(2)]
    };
    assert_eq!(per_point("1000.0"), [4, 4, 4], "as few as are run in any case");
    assert_eq!(per_point("1e-6"), [12, 12, 12], "all: it never gets so narrow");
    let between = per_point("0.4");
    assert!(between.iter().sum::<usize>() > 12 && between.iter().sum::<usize>() < 36, "{between:?}");
}

#[test]
fn early_ends_do_not_depend_on_threads_parts_or_interruptions() {
    let sweep = open(&stopping("0.4")).unwrap();
    let whole = all_rows(&sweep, 1);
    assert_eq!(all_rows(&sweep, 2), whole);
    let interrupted = store(&sweep, Shard::default());
    assert!(go_on(&sweep, &interrupted, 2, 7).stopped);
    let end = go_on(&sweep, &interrupted, 1, u64::MAX);
    assert_eq!(rows(&sweep, &interrupted).collect::<Result<Vec<_>, _>>().unwrap(), whole);
    assert_eq!(end.stored + end.not_needed, 36);
    let parts = (1..=3).flat_map(|index| {
        let part = store(&sweep, Shard { index, count: 3 });
        go_on(&sweep, &part, 2, u64::MAX);
        rows(&sweep, &part).collect::<Result<Vec<_>, _>>().unwrap()
    });
    assert_eq!(parts.collect::<Vec<_>>(), whole, "one point each, in their order");
}

#[test]
fn a_wrong_stop_or_tail_is_refused() {
    let stop = |section: &str| {
        error(&file(&format!(
            "[sweep]\nrepeat = 9\n[sweep.stop]\n{section}\n[sweep.grid]\n\"stream.0.lead\" = [\"50us\"]"
        )))
    };
    assert!(stop("figure = \"launch_error.std_ns\"\nwithin = 1.0").contains("none of the sweep's figures"));
    assert!(stop("figure = \"late\"\nwithin = 0.0").contains("above 0"));
    assert!(stop("figure = \"late\"\nwithin = 1.0\nat_least = 9").contains("make `repeat` larger"));
    let tail =
        |section: &str| error(&format!("{}[tail]\n{section}\n[sweep.grid]\n\"stream.0.lead\" = [\"50us\"]", file("")));
    assert!(tail("metric = \"launch_eror\"\nbeyond = 1e-6\nframes = 100000").contains("near it are `launch_error`"));
    assert!(tail("metric = \"launch_error\"\nbeyond = 0.5\nframes = 100000").contains("between 1e-9 and 0.01"));
    assert!(tail("metric = \"rx_stamp_interval\"\nbeyond = 1e-6\nframes = 100000").contains("does not exist here"));
}

#[test]
fn a_tail_has_three_columns_and_its_failure_is_a_row() {
    let text = "scenario = \"e830/sched-1518b-100us\"\nmetrics = [\"launch_error.p99_ns\"]\nframes = 500\n\
                [tail]\nmetric = \"launch_error\"\nbeyond = 1e-4\nframes = 50000\n\
                [sweep.grid]\n\"stream.0.interval\" = [\"100us\", \"1536ns\"]\n";
    let sweep = open(text).unwrap();
    let names: Vec<String> = columns(&sweep).into_iter().map(|column| column.name).collect();
    let tail = ["launch_error.tail_ns", "launch_error.tail_low_ns", "launch_error.tail_high_ns"];
    let places = tail.map(|name| names.iter().position(|known| known == name).unwrap());
    let rows = all_rows(&sweep, 2);
    let [value, low, high] = places.map(|place| match rows[0][place] {
        Cell::Real(value) => value,
        _ => f64::NAN,
    });
    // One frame in 5,000 is 300 to 1,900 ns late; half of them are beyond the 1e-4 tail.
    assert!((900.0..1_400.0).contains(&value) && low <= value && value <= high, "{low} {value} {high}");
    let Some(Cell::Text(reason)) = rows[1].last() else { panic!("frames at 1.5 us hold each other up") };
    assert!(reason.contains("hold each other up"), "{reason}");
}
