//! Plots and pages: well-formed, self-contained, the same every time, and sensible for odd data.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

use std::collections::BTreeMap;

use nicsim_core::sink::Null;
use nicsim_core::stats::{DenseHistogram, Recorder, Unit};
use nicsim_scenarios::report::{ClockFit, FrameCounts, MetricSummary, Provenance, Report, ScenarioId, StampCounts};
use nicsim_scenarios::run::{Outcome, RunOptions, StampPoint, run};
use nicsim_scenarios::scenario::Scenario;
use nicsim_scenarios::series::Series;
use nicsim_scenarios::view::{
    Bars, Cell, CountScale, Fits, HistogramPlot, Page, Section, SeriesPlot, StaircasePlot, interval_histogram, page,
    report, series, staircase,
};
use proptest::prelude::*;

/// Elements that HTML does not close.
const VOID: [&str; 2] = ["meta", "!DOCTYPE"];

/// Checks that every tag is closed by its own kind, that attributes are quoted and that text has no bare `<` or `&`.
fn check_markup(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        check_text(&rest[..start], open.last());
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        assert!(tag.matches('"').count().is_multiple_of(2) && !tag.contains('<'), "odd tag <{tag}>");
        let name = tag.split([' ', '\n']).next().unwrap_or_default();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "closed in another order");
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
        }
    }
    check_text(rest, None);
    assert!(open.is_empty(), "left open: {open:?}");
}

fn check_text(text: &str, within: Option<&&str>) {
    assert!(within == Some(&"style") || !text.contains('>'), "bare > in {text}");
    for (place, _) in text.match_indices('&') {
        let entity = text[place..].split(';').next().unwrap_or_default();
        assert!(["&lt", "&gt", "&amp", "&quot", "&apos"].contains(&entity), "bare & in {text}");
    }
}

/// Checks a picture, and that nothing in it lies outside it.
fn check_svg(svg: &str) {
    check_markup(svg);
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 8600 "));
    assert!(svg.trim_end().ends_with("</svg>"));
    for word in ["NaN", "inf", "href", "url(", "<script", "<style"] {
        assert!(!svg.contains(word), "{word} in {svg}");
    }
    let height: f64 = svg.split("viewBox=\"0 0 8600 ").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    for (names, most) in
        [([" x=\"", " x1=\"", " x2=\"", " cx=\""], 8600.0), ([" y=\"", " y1=\"", " y2=\"", " cy=\""], height)]
    {
        for value in names.iter().flat_map(|name| svg.split(name).skip(1)) {
            let value: f64 = value.split('"').next().unwrap().parse().unwrap();
            assert!((0.0..=most).contains(&value), "{value} of {most}");
        }
    }
    for points in svg.split(" points=\"").skip(1) {
        for point in points.split('"').next().unwrap().split_whitespace() {
            let (x, y) = point.split_once(',').unwrap();
            let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
            assert!((0.0..=8600.0).contains(&x) && (0.0..=height).contains(&y), "{point}");
        }
    }
}

/// The words of a picture.
fn words(svg: &str) -> Vec<String> {
    let texts = svg.split("<text").skip(1).filter_map(|text| text.split_once('>'));
    texts.map(|(_, text)| text.split("</text>").next().unwrap_or_default().trim().to_owned()).collect()
}

fn says(svg: &str, wanted: &str) -> bool {
    words(svg).join(" ").contains(wanted)
}

fn histogram(ticks: &[i64]) -> DenseHistogram {
    let mut recorder = Recorder::new(Unit::Ticks("6.4ns".parse().unwrap()), 15_625);
    ticks.iter().enumerate().for_each(|(frame, tick)| recorder.record(*tick, frame as u64));
    recorder.summary().histogram.unwrap_or(DenseHistogram {
        bin_ns: 6.4,
        first_ns: 0.0,
        counts: Vec::new(),
        below: 0,
        above: 0,
    })
}

fn stamps(frames: u64) -> Vec<StampPoint> {
    let point = |frame: u64| StampPoint {
        frame,
        stamp_ns: frame * 10_000,
        apparent_delay_ps: (frame as i64 * 75 / 6_400) * 6_400 + (frame as i64 * 7_919 % 3) * 1_000,
    };
    (0..frames).map(point).collect()
}

fn outcome(name: &str) -> Outcome {
    let none = |name: &str| Err(format!("no file {name}"));
    let scenario = Scenario::open(name, &[], &none).unwrap();
    run(&scenario, RunOptions { series: true, ..RunOptions::default() }, &mut Null, &mut |_| true).unwrap()
}

#[test]
fn a_histogram_says_what_it_shows() {
    let ticks: Vec<i64> = (0..9_990).map(|k| 15_625 + k % 20 - 10).chain([14_000; 7]).chain([17_000; 3]).collect();
    let recorded = histogram(&ticks);
    let simulated = histogram(&ticks[..4_995]);
    let mut plot = HistogramPlot::new("64-byte frames", &recorded);
    plot.subtitle = "a < b & c";
    plot.target_ns = Some(100_000.0);
    plot.bars.label = "recorded";
    plot.outline = Some(Bars { label: "simulated", histogram: &simulated, on_grid: true });
    let svg = interval_histogram(&plot);
    check_svg(&svg);
    for wanted in [
        "64-byte frames",
        "a &lt; b &amp; c",
        "frame interval [ns]",
        "number of frames per 6.4 ns",
        "recorded (10,000 frames)",
        "simulated (4,995 frames)",
        "target 100,000 ns",
        "recorded: 10 frames outside this range (7 below, 3 above).",
        "simulated: counts multiplied by 2.002",
        "99,940",
    ] {
        assert!(says(&svg, wanted), "{wanted} is not among {:?}", words(&svg));
    }
    plot.scale = CountScale::Log;
    let logarithmic = interval_histogram(&plot);
    check_svg(&logarithmic);
    assert!(["1", "10", "100"].iter().all(|decade| words(&logarithmic).contains(&(*decade).to_owned())));
}

/// An attribute of an element, as a number.
fn attribute(element: &str, name: &str) -> f64 {
    element.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
}

#[test]
fn bars_stand_around_values_on_a_grid_and_begin_at_others() {
    let one = histogram(&[15_625; 10]);
    let mut plot = HistogramPlot::new("", &one);
    plot.range_ns = Some((99_990.0, 100_010.0));
    let places = |plot: &HistogramPlot<'_>| {
        let svg = interval_histogram(plot);
        let tick = svg.split("<text").find(|text| text.contains("\n100,000\n")).map(|text| attribute(text, "x"));
        let bar = svg.rsplit("<rect").find(|rect| rect.contains("#56B4E9"));
        let (left, width) = bar.map(|bar| (attribute(bar, "x"), attribute(bar, "width"))).unwrap();
        (tick.unwrap(), left, left + width / 2.0)
    };
    let (tick, _, middle) = places(&plot);
    assert!((tick - middle).abs() <= 2.0, "{tick} is not the middle, {middle}");
    plot.bars.on_grid = false;
    let (tick, left, _) = places(&plot);
    assert!((left - tick).abs() <= 10.0, "{tick} is not the left edge, {left}");
}

#[test]
fn odd_histograms_give_a_figure() {
    let counts = |bin_ns: f64, first_ns: f64, counts: &[u64], below: u64, above: u64| DenseHistogram {
        bin_ns,
        first_ns,
        counts: counts.to_vec(),
        below,
        above,
    };
    let odd = [
        histogram(&[]),
        histogram(&[15_625]),
        histogram(&[15_625, 1_046_875]),
        counts(0.0, 0.0, &[1], 0, 0),
        counts(f64::NAN, 0.0, &[1], 0, 0),
        counts(6.4, f64::INFINITY, &[1], 0, 0),
        counts(6.4, 1e300, &[1, 2], 0, 0),
        counts(1e-3, 1.79e18, &[5, 0, 5], 1, 1),
        counts(6.4, 0.0, &[u64::MAX, u64::MAX], u64::MAX, u64::MAX),
        counts(6.4, 0.0, &[0, 0, 0], 0, 0),
        counts(6.4, 0.0, &[], 5, 9),
        counts(1.0, -2_048.0, &[3; 4_096], 0, 0),
    ];
    for first in &odd {
        for target in [None, Some(100_000.0), Some(f64::NAN), Some(-1e300)] {
            for scale in [CountScale::Linear, CountScale::Log] {
                let mut plot = HistogramPlot::new("", first);
                (plot.target_ns, plot.scale) = (target, scale);
                check_svg(&interval_histogram(&plot));
                plot.outline = Some(Bars { label: "again", histogram: &odd[1], on_grid: true });
                check_svg(&interval_histogram(&plot));
                plot.range_ns = Some((5.0, 5.0));
                check_svg(&interval_histogram(&plot));
            }
        }
    }
    assert!(says(&interval_histogram(&HistogramPlot::new("", &odd[0])), "no frames in this range"));
}

#[test]
fn an_interval_of_milliseconds_leaves_the_body_to_be_seen() {
    let mut ticks = vec![15_624; 500];
    ticks.extend([15_626; 500]);
    ticks.push(1_048_000);
    let with_outlier = histogram(&ticks);
    let svg = interval_histogram(&HistogramPlot::new("", &with_outlier));
    assert!(says(&svg, "1 frame outside this range (0 below, 1 above)."), "{:?}", words(&svg));

    let mut values = Series::new("observed_interval", 50_000);
    (0..50_000).for_each(|frame| values.take(frame, 100_000.0 + (frame % 17) as f64 * 6.4));
    values.take(40_000, 6_707_200.0);
    let svg = series(&SeriesPlot::new("", &values));
    check_svg(&svg);
    assert!(
        says(&svg, "1 column reaches above the axis: to 6,707,200 ns in frames 39,984 to 40,067."),
        "{:?}",
        words(&svg)
    );
    assert!(says(&svg, "beyond the axis") && says(&svg, "100,050"));
}

#[test]
fn a_series_says_what_it_shows() {
    let mut values = Series::new("observed_interval", 50_000);
    (0..50_000).for_each(|frame| values.take(frame, 99_968.0 + (frame % 17) as f64 * 6.4));
    let mut plot = SeriesPlot::new("Intervals", &values);
    plot.target_ns = Some(99_968.0);
    let svg = series(&plot);
    check_svg(&svg);
    for wanted in [
        "Intervals",
        "frame interval [ns]",
        "frame number",
        "target 99,968 ns",
        "smallest to largest of 84 frames",
        "10,000",
    ] {
        assert!(says(&svg, wanted), "{wanted} is not among {:?}", words(&svg));
    }
}

#[test]
fn odd_series_give_a_figure() {
    let of = |per_column: u64, columns: &[Option<(f64, f64)>]| Series {
        metric: String::new(),
        per_column,
        columns: columns.to_vec(),
    };
    let odd = [
        of(1, &[]),
        of(0, &[None, None]),
        of(1, &[Some((5.0, 5.0))]),
        of(42, &[Some((5.0, 5.0)), None, Some((7.0, 9.0))]),
        of(1, &[Some((f64::NAN, 1.0)), Some((f64::MIN, f64::MAX))]),
        of(u64::MAX, &[Some((0.0, 1e18)), Some((-1e18, 0.0))]),
        of(1, &vec![Some((100_000.0, 100_000.0)); 1_200]),
    ];
    for values in &odd {
        for target in [None, Some(100_000.0), Some(f64::INFINITY)] {
            let mut plot = SeriesPlot::new("", values);
            plot.target_ns = target;
            check_svg(&series(&plot));
        }
    }
    assert!(says(&series(&SeriesPlot::new("", &odd[0])), "no frames"));
}

#[test]
fn a_staircase_says_what_it_shows() {
    let points = stamps(10_000);
    let values: Vec<f64> = points.iter().map(|p| p.apparent_delay_ps as f64 / 1e3).collect();
    let fits = Fits {
        linear: (0..10_000).map(|frame| f64::from(frame) * 0.075).collect(),
        isotonic: values,
        linear_residuals: (-4.8, 4.7),
        isotonic_residuals: (-2.2, 2.4),
    };
    let mut plot = StaircasePlot::new("Stamps", &points);
    plot.fits = Some(&fits);
    let svg = staircase(&plot);
    check_svg(&svg);
    assert_eq!(svg.matches("<circle").count(), 501, "500 points and the legend's");
    for wanted in [
        "Stamps",
        "apparent delay relative to the first frame [ns]",
        "frame number",
        "the first 500 of 10,000 frames",
        "linear regression",
        "residuals −4.8 to +4.7 ns (range 9.5 ns)",
        "isotonic regression",
        "residuals −2.2 to +2.4 ns (range 4.6 ns)",
    ] {
        assert!(says(&svg, wanted), "{wanted} is not among {:?}", words(&svg));
    }
}

#[test]
fn odd_staircases_give_a_figure() {
    let odd_fits = Fits {
        linear: vec![f64::NAN; 3],
        isotonic: vec![1.0, 2.0],
        linear_residuals: (f64::NAN, 1.0),
        isotonic_residuals: (f64::INFINITY, f64::NAN),
    };
    let extreme = |frame, apparent_delay_ps| StampPoint { frame, stamp_ns: 0, apparent_delay_ps };
    let odd = [vec![], stamps(1), stamps(2), vec![extreme(0, i64::MIN), extreme(u64::MAX, i64::MAX)]];
    for points in &odd {
        for fits in [None, Some(&Fits::default()), Some(&odd_fits)] {
            let mut plot = StaircasePlot::new("", points);
            plot.fits = fits;
            check_svg(&staircase(&plot));
            plot.first = 0;
            check_svg(&staircase(&plot));
        }
    }
    assert!(says(&staircase(&StaircasePlot::new("", &[])), "no stamped and observed frames"));
}

#[test]
fn long_words_are_broken_and_endless_legends_shortened() {
    let one = histogram(&[15_625]);
    let long = "averyveryverylongnamewithoutspaces".repeat(20);
    let mut plot = HistogramPlot::new(&long, &one);
    plot.subtitle = &long;
    plot.bars.label = &long;
    let svg = interval_histogram(&plot);
    check_svg(&svg);
    assert!(words(&svg).iter().all(|line| line.chars().count() < 140), "{:?}", words(&svg));
}

/// A page that carries something of everything.
fn full_page() -> String {
    let outcome = outcome("e830/tx-stamps-10us");
    let mut run = outcome.report.clone();
    run.scenario.name = "a<b>&\"c\"".to_owned();
    run.counts.dropped.insert("<reason>".to_owned(), 3);
    let second = run.streams[0].clone();
    run.streams.push(second);
    if let Some(metric) = run.metrics.get_mut("tx_stamp_vs_observer") {
        metric.clocks =
            Some(ClockFit { drift_ppb: 7_550.0, linear_residual_range_ns: 9.5, isotonic_residual_range_ns: 4.6 });
    }
    let values = outcome.series.unwrap();
    let figures = vec![
        Section::Figure {
            caption: "Interval & frame".to_owned(),
            svg: series(&SeriesPlot::new("<Intervals>", &values)),
        },
        Section::Figure {
            caption: "Stamps".to_owned(),
            svg: staircase(&StaircasePlot::new("Stamps", &outcome.stamps)),
        },
    ];
    page(&report(&run, figures))
}

#[test]
fn a_page_is_well_formed_and_needs_nothing_else() {
    let html = full_page();
    check_markup(&html);
    for word in ["http", "src=", "href=", "url(", "@import", "<script", "<link", "xmlns"] {
        assert!(!html.contains(word), "{word}");
    }
    for wanted in [
        "<title>a&lt;b&gt;&amp;",
        "dropped: &lt;reason&gt;",
        "Interval &amp; frame",
        "<b>Figure 2.</b> Stamps",
        "&lt;Intervals&gt;",
        "Statistics [ns]",
        "p99.9",
        "lag1",
        "drift [ppb]",
        "7,550.0",
        "Frames by stream",
        "tx_stamp_error by stream [ns]",
        "Provenance",
        "prefers-color-scheme: dark",
    ] {
        assert!(html.contains(wanted), "{wanted}");
    }
}

#[test]
fn every_assumed_parameter_is_named() {
    let run = outcome("e830/tx-stamps-10us").report;
    let html = page(&report(&run, Vec::new()));
    assert!(run.provenance.assumed > 0);
    assert!(run.provenance.assumed_names.iter().all(|name| html.contains(&format!("<li>{name}</li>"))));
}

#[test]
fn same_values_give_the_same_bytes() {
    assert_eq!(full_page(), full_page());
}

#[test]
fn an_empty_report_is_still_a_page() {
    let empty = Report {
        schema: String::new(),
        scenario: ScenarioId { name: String::new(), hash: String::new() },
        seed: 1,
        run: 0,
        version: String::new(),
        kernel: String::new(),
        counts: FrameCounts::default(),
        stamps: StampCounts::default(),
        metrics: BTreeMap::from([("nothing".to_owned(), MetricSummary::default())]),
        streams: Vec::new(),
        provenance: Provenance::default(),
    };
    let html = page(&report(&empty, Vec::new()));
    check_markup(&html);
    assert!(html.contains("<td class=\"number missing\">–</td>") && !html.contains("Provenance"));
}

#[test]
fn judgements_and_texts_have_their_place() {
    let sections = vec![
        Section::Text {
            heading: "Why & how".to_owned(),
            paragraphs: vec!["One.".to_owned(), "Two < three.".to_owned()],
        },
        Section::Table {
            heading: String::new(),
            columns: vec!["figure".to_owned(), "verdict".to_owned()],
            rows: vec![
                vec![Cell::Name("std".to_owned()), Cell::Pass("holds".to_owned())],
                vec![Cell::Name("max".to_owned()), Cell::Fail("fails".to_owned())],
            ],
            note: String::new(),
        },
    ];
    let html = page(&Page { title: "Check".to_owned(), lead: String::new(), sections });
    check_markup(&html);
    for wanted in [
        "<td class=\"pass\">holds</td>",
        "<td class=\"fail\">fails</td>",
        "<h2>Why &amp; how</h2>",
        "<p>Two &lt; three.</p>",
    ] {
        assert!(html.contains(wanted), "{wanted}");
    }
    assert!(!html.contains("<h2></h2>"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_histogram_and_series_can_be_drawn(
        bin in prop_oneof![Just(6.4), Just(1.0), 1e-3..1e6_f64],
        first in prop_oneof![Just(0.0), -1e9..1e9_f64, -1e18..1e18_f64],
        counts in proptest::collection::vec(prop_oneof![Just(0_u64), 0..10_u64, 0..1_000_000_u64], 0..300),
        outside in (0..100_u64, 0..100_u64),
        target in proptest::option::of(-1e6..1e6_f64),
        columns in proptest::collection::vec(proptest::option::of((-1e9..1e9_f64, 0.0..1e9_f64)), 0..80),
    ) {
        let histogram = DenseHistogram { bin_ns: bin, first_ns: first, counts, below: outside.0, above: outside.1 };
        let mut plot = HistogramPlot::new("any", &histogram);
        plot.target_ns = target;
        check_svg(&interval_histogram(&plot));
        plot.scale = CountScale::Log;
        check_svg(&interval_histogram(&plot));
        let columns = columns.into_iter().map(|c| c.map(|(low, width)| (low, low + width))).collect();
        let values = Series { metric: String::new(), per_column: 3, columns };
        let mut plot = SeriesPlot::new("any", &values);
        plot.target_ns = target;
        check_svg(&series(&plot));
    }
}
