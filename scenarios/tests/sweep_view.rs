//! The page of a sweep and of two side by side: charts hold what they must, and odd results give a page too.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::io;
use std::time::Instant;

use nicsim_scenarios::sweep::compare::{Source, compare};
use nicsim_scenarios::sweep::table::{CellKind, Role};
use nicsim_scenarios::sweep::{Cell, Column, Row, Survey};
use nicsim_scenarios::view::{Pictures, SweepHead, comparison, page, sweep};

fn column(name: &str, unit: &str, cells: CellKind, role: Role) -> Column {
    Column { name: name.to_owned(), unit: unit.to_owned(), cells, role }
}

/// `point`, `repetition`, the axes, the figures `err.max_ns` and `late`, `error`.
fn columns(axes: &[(&str, &str, CellKind)]) -> Vec<Column> {
    let whole = |name: &str| column(name, "1", CellKind::Integer, Role::Run);
    let mut columns = vec![whole("point"), whole("repetition")];
    columns.extend(axes.iter().map(|(name, unit, cells)| column(name, unit, *cells, Role::Axis)));
    columns.push(column("err.max_ns", "ns", CellKind::Real, Role::Figure));
    columns.push(column("late", "1", CellKind::Integer, Role::Figure));
    columns.push(column("error", "", CellKind::Text, Role::Error));
    columns
}

fn row(point: u64, repetition: u64, axes: &[Cell], figures: Option<(f64, i64)>) -> Row {
    let mut row = vec![Cell::Integer(point as i64), Cell::Integer(repetition as i64)];
    row.extend_from_slice(axes);
    match figures {
        Some((err, late)) => row.extend([Cell::Real(err), Cell::Integer(late), Cell::Missing]),
        None => row.extend([Cell::Missing, Cell::Missing, Cell::Text("no room in the ring".to_owned())]),
    }
    row
}

fn survey(columns: &[Column], rows: &[Row]) -> Survey {
    Survey::of(columns, || rows.iter().cloned().map(Ok::<Row, io::Error>)).unwrap()
}

fn pictures(columns: &[Column], rows: &[Row]) -> (Survey, Pictures) {
    let survey = survey(columns, rows);
    let head = SweepHead { scenario: "a/b".to_owned(), about: "what for".to_owned(), ..SweepHead::default() };
    let pictures = sweep(&survey, &head);
    check(&pictures);
    (survey, pictures)
}

/// Everything is drawn with numbers, and nothing is loaded or linked.
fn check(pictures: &Pictures) {
    let html = page(&pictures.page);
    for word in ["http", "src=", "href=", "url(", "@import", "<script", "<link"] {
        assert!(!html.contains(word), "{word}");
    }
    for (name, svg) in &pictures.files {
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"") && svg.trim_end().ends_with("</svg>"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
        let words = words(svg);
        assert!(words.iter().all(|word| word.chars().count() < 150), "{words:?}");
    }
}

fn words(svg: &str) -> Vec<String> {
    let texts = svg.split("<text").skip(1).filter_map(|text| text.split_once('>'));
    texts.map(|(_, text)| text.split("</text>").next().unwrap_or_default().trim().to_owned()).collect()
}

fn file<'a>(pictures: &'a Pictures, name: &str) -> &'a str {
    &pictures.files.iter().find(|(file, _)| file == name).unwrap_or_else(|| unreachable!("{name}")).1
}

fn says(svg: &str, wanted: &str) {
    assert!(words(svg).join(" ").contains(wanted), "{wanted} is not among {:?}", words(svg));
}

const MIXED: [(&str, &str, CellKind); 3] = [
    ("stream.0.interval_ns", "ns", CellKind::Real),
    ("stream.0.size_b", "B", CellKind::Real),
    ("nic.driver", "", CellKind::Text),
];

/// 20 intervals × 2 sizes × 3 drivers × 2 repetitions; the largest error grows with the interval, the driver's is apart.
fn mixed() -> Vec<Row> {
    let mut rows = Vec::new();
    for point in 0..120_u64 {
        let (interval, size, driver) = (point / 6, point / 3 % 2, point % 3);
        for repetition in 0..2 {
            let axes = [
                Cell::Real(1_000.0 + 100.0 * interval as f64),
                Cell::Real([64.0, 1518.0][size as usize]),
                Cell::Text(["one", "two", "three"][driver as usize].to_owned()),
            ];
            let err = 10.0 * interval as f64 + 3.0 * size as f64 + 50.0 * driver as f64 + repetition as f64;
            rows.push(row(point, repetition, &axes, Some((err, 20 - interval as i64))));
        }
    }
    rows
}

#[test]
fn charts_say_what_they_show() {
    let (survey, pictures) = pictures(&columns(&MIXED), &mixed());
    assert_eq!((survey.points, survey.runs, survey.repeat, survey.failed), (120, 240, 2, 0));
    let lines = file(&pictures, "lines-1.svg");
    for wanted in ["err.max_ns [ns]", "stream.0.interval [ns]", "Median; shaded: smallest to largest of the runs"] {
        says(lines, wanted);
    }
    // Drivers matter more than sizes, so that each has a line.
    ["nic.driver one", "nic.driver two", "nic.driver three"].iter().for_each(|name| says(lines, name));
    assert_eq!(lines.matches("<circle").count(), 60, "a dot at each of 20 intervals in 3 lines");
    let strips = file(&pictures, "strips-1.svg");
    ["one", "two", "three", "median", "err.max_ns [ns]", "nic.driver"].iter().for_each(|name| says(strips, name));
    assert_eq!(strips.matches("<circle").count(), 121, "120 points and the legend's");
    let heat = file(&pictures, "heat-1.svg");
    ["mean of err.max_ns [ns]", "stream.0.interval [ns]", "nic.driver"].iter().for_each(|name| says(heat, name));
    let parallel = file(&pictures, "parallel.svg");
    ["colour: err.max_ns [ns]", "three", "1,000", "2,900"].iter().for_each(|name| says(parallel, name));
    assert!(pictures.files.iter().filter(|(name, _)| name.starts_with("heat")).count() <= 6);
    let html = page(&pictures.page);
    for wanted in ["Sweep of a/b", "what for", "What was swept", "Best points", "min at", "interval 1,000 ns"] {
        assert!(html.contains(wanted), "{wanted}");
    }
}

#[test]
fn the_best_points_are_marked_and_listed() {
    // (1, 9), (2, 5) and (4, 1) are best; (3, 6) is beaten by (2, 5).
    let figures = [(1.0, 9), (2.0, 5), (3.0, 6), (4.0, 1)];
    let rows: Vec<Row> = figures
        .into_iter()
        .enumerate()
        .map(|(point, figures)| row(point as u64, 0, &[Cell::Integer(point as i64 * 10)], Some(figures)))
        .collect();
    let (survey, pictures) = pictures(&columns(&[("nic.ring", "1", CellKind::Integer)]), &rows);
    let best: Vec<u64> = survey.front.as_ref().unwrap().points.iter().map(|best| best.point).collect();
    assert_eq!(best, [0, 1, 3]);
    let pareto = file(&pictures, "pareto.svg");
    says(pareto, "best (3)");
    says(pareto, "less is better");
    assert_eq!(pareto.matches("<circle").count(), 4 + 3 + 2, "points, the best and the legend's");
}

#[test]
fn odd_results_give_a_page() {
    let one_axis = columns(&MIXED[..1]);
    let at = |interval: f64| [Cell::Real(interval)];
    // Nothing at all, one point, all equal, all failed, an axis without values.
    pictures(&one_axis, &[]);
    pictures(&one_axis, &[row(0, 0, &at(5.0), Some((1.0, 0)))]);
    let equal: Vec<Row> = (0..9).map(|point| row(point, 0, &at(point as f64), Some((7.0, 0)))).collect();
    let (_, same) = pictures(&one_axis, &equal);
    assert!(page(&same.page).contains("The same at all points, and so without a picture: err.max_ns, late."));
    let failed: Vec<Row> = (0..9).map(|point| row(point, 0, &at(point as f64), None)).collect();
    let (survey, told) = pictures(&one_axis, &failed);
    assert_eq!((survey.failed, survey.reasons.as_slice()), (9, [("no room in the ring".to_owned(), 9)].as_slice()));
    let html = page(&told.page);
    assert!(html.contains("9 of 9 runs failed") && html.contains("Without a value at any point"));
    pictures(&one_axis, &[row(0, 0, &[Cell::Missing], Some((1.0, 0))), row(1, 0, &[Cell::Missing], Some((2.0, 0)))]);
    // Repetitions alone, without an axis.
    pictures(&columns(&[]), &[row(0, 0, &[], Some((1.0, 0))), row(0, 1, &[], Some((2.0, 1)))]);
    // Extremes, negative numbers and markup.
    let names = columns(&[("a<b>", "", CellKind::Text)]);
    let odd: Vec<Row> = [-1e300, 1e300, 0.0, 1e-300, f64::NAN]
        .into_iter()
        .enumerate()
        .map(|(point, value)| row(point as u64, 0, &[Cell::Text(format!("<{point}&"))], Some((value, i64::MIN))))
        .collect();
    pictures(&names, &odd);
}

#[test]
fn cells_without_runs_are_empty_and_said() {
    let rows: Vec<Row> = mixed()
        .into_iter()
        .enumerate()
        .filter(|(place, _)| place % 7 != 0 && place / 12 != 4)
        .map(|(_, row)| row)
        .collect();
    let missing: Vec<Row> = rows
        .into_iter()
        .filter(|row| row[2] != Cell::Real(1_500.0) || row[4] != Cell::Text("two".to_owned()))
        .collect();
    let (_, pictures) = pictures(&columns(&MIXED), &missing);
    says(file(&pictures, "heat-1.svg"), "Empty: no run with these values");
}

#[test]
fn axes_that_advance_together_have_no_heat_map() {
    let axes = [("a", "1", CellKind::Integer), ("b", "1", CellKind::Integer)];
    let rows: Vec<Row> =
        (0..8).map(|k| row(k, 0, &[Cell::Integer(k as i64), Cell::Integer(64 << k)], Some((k as f64, 0)))).collect();
    let (survey, _) = pictures(&columns(&axes), &rows);
    assert!(survey.maps.is_empty() && !survey.bands.is_empty());
}

#[test]
fn a_hundred_thousand_rows_take_bounded_room_and_time() {
    let axes = [("x_ns", "ns", CellKind::Real), ("y", "1", CellKind::Integer), ("name", "", CellKind::Text)];
    let columns = columns(&axes);
    let rows = || {
        (0..100_000_u64).map(|point| {
            let axes =
                [Cell::Real(point as f64), Cell::Integer((point % 977) as i64), Cell::Text(format!("n{}", point % 40))];
            Ok(row(point, 0, &axes, Some(((point * 7_919 % 1_000) as f64, (point % 13) as i64))))
        })
    };
    let begun = Instant::now();
    let survey = Survey::of(&columns, rows).unwrap();
    let pictures = sweep(&survey, &SweepHead::default());
    check(&pictures);
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    assert_eq!((survey.points, survey.sample.len()), (100_000, 2_000));
    let size: usize = pictures.files.iter().map(|(_, svg)| svg.len()).sum();
    assert!(size < 8 << 20, "{size} bytes of pictures");
    assert!(survey.maps.iter().all(|map| map.levels.iter().all(|levels| levels.count() <= 120)));
    says(file(&pictures, "parallel.svg"), "2000 of 100000 points");
}

#[test]
fn differences_are_those_computed_by_hand() {
    let columns = columns(&MIXED[..1]);
    let source = |name: &str| Source { name: name.to_owned(), ..Source::default() };
    // B - A at three intervals: repetition 0: 1, 2, 3; repetition 1: 3, 4, 8. B lacks 40 ns and has 50 ns instead.
    let table = |shifts: [[f64; 3]; 2], last: f64| {
        let point = |point: usize| [Cell::Real(10.0 * (point + 1) as f64)];
        let mut rows: Vec<Row> = (0..3)
            .flat_map(|p| (0..2).map(move |r| (p, r)))
            .map(|(p, r)| row(p as u64, r as u64, &point(p), Some((100.0 + shifts[r][p], 0))))
            .collect();
        rows.push(row(3, 0, &[Cell::Real(last)], None));
        rows
    };
    let (a, b) = (table([[0.0; 3]; 2], 40.0), table([[1.0, 2.0, 3.0], [3.0, 4.0, 8.0]], 50.0));
    let [a, b] = [a, b].map(|rows| rows.into_iter().map(Ok::<Row, io::Error>));
    let compared = compare((source("one"), &columns), a, (source("two"), &columns), b).unwrap();
    assert_eq!((compared.points, compared.runs), (3, 6));
    assert_eq!((compared.a.unmatched, compared.b.unmatched, compared.a.failed), (1, 1, 1));
    let difference = &compared.figures[0];
    assert_eq!((difference.matched, difference.mean, difference.median), (6, Some(3.5), Some(3.0)));
    assert_eq!(difference.largest, Some(8.0));
    let at = difference.largest_at.as_ref().unwrap();
    assert_eq!((at.settings["stream.0.interval_ns"].as_f64(), at.repetition), (Some(30.0), 1));
    // Means of the repetitions: 2 and 5; standard error 1.5, t(1) = 12.7062.
    let interval = difference.interval.unwrap();
    assert_eq!((interval.repetitions, interval.points), (2, 3));
    assert!(
        (interval.low - (3.5 - 1.5 * 12.7062)).abs() < 1e-9 && (interval.high - (3.5 + 1.5 * 12.7062)).abs() < 1e-9
    );
    let pictures = comparison(&compared);
    check(&pictures);
    let lines = file(&pictures, "lines-1.svg");
    ["A: one", "B: two", "stream.0.interval [ns]"].iter().for_each(|name| says(lines, name));
    let scatter = file(&pictures, "scatter-1.svg");
    assert_eq!(scatter.matches("<circle").count(), 6 + 1);
    ["A: err.max_ns [ns]", "B: err.max_ns [ns]", "equal"].iter().for_each(|name| says(scatter, name));
}

#[test]
fn nothing_in_common_is_said() {
    let source = |name: &str| Source { name: name.to_owned(), ..Source::default() };
    let none = || std::iter::empty::<io::Result<Row>>();
    let (x, y) = (columns(&MIXED[..1]), columns(&MIXED[1..2]));
    let told = compare((source("one"), &x), none(), (source("two"), &y), none()).unwrap_err().to_string();
    assert!(told.contains("no swept path in common") && told.contains("stream.0.size_b"), "{told}");
    let row_at = |at: f64| [row(0, 0, &[Cell::Real(at)], Some((1.0, 0)))].into_iter().map(Ok::<Row, io::Error>);
    let told = compare((source("one"), &x), row_at(1.0), (source("two"), &x), row_at(2.0)).unwrap_err().to_string();
    assert!(told.contains("no point in common") && told.contains("stream.0.interval_ns = 1, repetition 0"), "{told}");
}
