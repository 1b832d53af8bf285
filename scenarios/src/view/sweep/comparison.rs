//! Two sweeps side by side: their lines over each other, and each run of the one against its match in the other.

use super::super::page::{Cell, Section};
use super::super::sheet::{Key, Mark, Sheet, colour};
use super::super::text::count;
use super::Pictures;
use super::bands::{BandsPlot, lines};
use super::measure::{Measure, labelled, shown};
use crate::sweep::compare::{Comparison, Difference, Place, Side, place_text};
use crate::sweep::survey::cells::Bands;
use crate::sweep::survey::choice::MOST_FIGURES;
use crate::sweep::survey::levels::{Levels, MOST_NUMBERS};
use crate::sweep::survey::pick::{Pick, Values, mix};
use crate::sweep::survey::{EXACT, FigureSpread};

/// Most pairs that are drawn.
const MOST_PAIRS: usize = 2_000;

/// The page of a comparison.
pub fn comparison(compared: &Comparison) -> Pictures {
    let mut pictures = Pictures::default();
    pictures.page.title = "Two sweeps side by side".to_owned();
    pictures.page.lead =
        format!("A is {}, B is {}. Differences are B minus A.", compared.a.source.name, compared.b.source.name);
    pictures.page.sections = vec![sides(compared), differences(compared)];
    pictures.page.sections.extend(unmatched(compared));
    for figure in 0..compared.figures.len().min(MOST_FIGURES) {
        let name = &compared.figures[figure].figure;
        if let Some((path, svg)) = overlay(compared, figure) {
            let caption = format!("{name} over {path} in both sweeps, matched runs only.");
            pictures.add(format!("lines-{}.svg", figure + 1), caption, svg);
        }
        let caption = format!("{name}: each matched run, B over A. On the diagonal both are equal.");
        pictures.add(format!("scatter-{}.svg", figure + 1), caption, scatter(compared, figure));
    }
    pictures
}

fn sides(compared: &Comparison) -> Section {
    let columns = ["", "folder", "scenario", "seed", "nicsim", "sweep", "part", "runs", "failed", "unmatched"];
    let row = |name: &str, side: &Side| {
        vec![
            Cell::Text(name.to_owned()),
            Cell::Name(side.source.name.clone()),
            Cell::Name(side.source.scenario.clone()),
            Cell::Number(side.source.seed.to_string()),
            Cell::Text(side.source.version.clone()),
            Cell::Name(side.source.hash.clone()),
            side.source.part.clone().map_or(Cell::Missing, Cell::Text),
            Cell::count(side.runs),
            Cell::count(side.failed),
            Cell::count(side.unmatched),
        ]
    };
    Section::Table {
        heading: "What is compared".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: vec![row("A", &compared.a), row("B", &compared.b)],
        note: notes(compared).join(" "),
    }
}

/// What a reader must know: what was matched by what, and how the sweeps differ.
pub fn notes(compared: &Comparison) -> Vec<String> {
    let by = match compared.shared_paths.len() {
        0 => "repetition".to_owned(),
        _ => format!("{} and repetition", compared.shared_paths.join(", ")),
    };
    let mut notes =
        vec![format!("{} runs of {} points are matched, by {by}.", count(compared.runs), count(compared.points))];
    let (a, b) = (&compared.a.source, &compared.b.source);
    if a.scenario != b.scenario {
        notes.push(format!("The scenarios are different: {} and {}.", a.scenario, b.scenario));
    } else if a.scenario_hash != b.scenario_hash {
        notes.push("The scenarios have one name, but differ in their values or files.".to_owned());
    }
    if a.version != b.version {
        notes.push(format!("The versions of nicsim are different: {} and {}.", a.version, b.version));
    }
    for (name, side) in [("A", &compared.a), ("B", &compared.b)] {
        if let Some(part) = &side.source.part {
            notes.push(format!("{name} is part {part} of its sweep."));
        }
        if !side.only_paths.is_empty() {
            let paths = side.only_paths.join(", ");
            notes.push(format!("Only {name} sweeps {paths}; its runs that differ in that alone are averaged."));
        }
        if !side.only_figures.is_empty() {
            notes.push(format!("Only {name} has {}.", side.only_figures.join(", ")));
        }
    }
    notes
}

fn differences(compared: &Comparison) -> Section {
    let columns = ["figure", "matched", "mean", "95 % interval", "median", "largest", "largest at"];
    let row = |difference: &Difference| {
        let number = |value: Option<f64>| value.map_or(Cell::Missing, |value| Cell::Number(shown(value)));
        let interval = difference.interval.map(|it| format!("{} to {}", shown(it.low), shown(it.high)));
        vec![
            Cell::Name(labelled(&difference.figure, &difference.unit)),
            Cell::count(difference.matched),
            number(difference.mean),
            interval.map_or(Cell::Missing, Cell::Number),
            number(difference.median),
            number(difference.largest),
            difference.largest_at.as_ref().map_or(Cell::Missing, |place| Cell::Text(place_text(place))),
        ]
    };
    let note = "B minus A. The interval is that of the mean: paired, over repetitions, from the mean over points of each \
                repetition by Student's t; there is none without repetitions. The largest is that with the largest \
                absolute value.";
    Section::Table {
        heading: "Differences".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: compared.figures.iter().map(row).collect(),
        note: note.to_owned(),
    }
}

fn unmatched(compared: &Comparison) -> Option<Section> {
    let one = |(name, side): (&str, &Side)| {
        let first: &Place = side.first_unmatched.as_ref()?;
        Some(format!("{} runs of {name} have no match, the first at {}.", count(side.unmatched), place_text(first)))
    };
    let paragraphs: Vec<String> = [("A", &compared.a), ("B", &compared.b)].into_iter().filter_map(one).collect();
    (!paragraphs.is_empty()).then(|| Section::Text { heading: "Without a match".to_owned(), paragraphs })
}

/// The figure in both tables, as one of a survey.
fn spread(compared: &Comparison, figure: usize) -> FigureSpread {
    let difference = &compared.figures[figure];
    let mut values = Values::new(EXACT);
    for (place, pair) in compared.pairs.iter().enumerate() {
        for (side, value) in pair.figures[figure].into_iter().enumerate() {
            values.take(mix(place as u64, side as u64), value);
        }
    }
    FigureSpread { name: difference.figure.clone(), unit: difference.unit.clone(), values, ends: None }
}

/// Lines of A and B over the numeric path with the most values; none where there is none.
fn overlay(compared: &Comparison, figure: usize) -> Option<(String, String)> {
    let numeric = compared.axes.iter().enumerate().filter(|(_, axis)| axis.names.is_none() && axis.count() > 1);
    let (place, axis) = numeric.max_by_key(|(place, axis)| (axis.count(), usize::MAX - place))?;
    let each = compared.axes.iter().filter(|axis| axis.count() > 1).count() == 1
        || (axis.count() as u64) < compared.points * 3 / 5;
    let bins = usize::try_from(compared.points / 8).unwrap_or(usize::MAX).clamp(5, 200);
    let levels = axis.levels(each, MOST_NUMBERS, bins);
    let mut bands = Bands::new(0, (0, levels), Some((1, Levels::Each(vec![0.0, 1.0]))));
    for (number, pair) in compared.pairs.iter().enumerate() {
        for (side, value) in pair.figures[figure].into_iter().enumerate() {
            bands.take(mix(number as u64, 0), &[pair.settings[place], side as f64], &[value]);
        }
    }
    let spread = spread(compared, figure);
    let plot = BandsPlot {
        title: &spread.name,
        bands: &bands,
        x: Measure::of_axis(axis),
        y: Measure::of_figure(&spread),
        lines: vec![format!("A: {}", compared.a.source.name), format!("B: {}", compared.b.source.name)],
        of: "matched runs",
    };
    Some((axis.name.clone(), lines(&plot)))
}

fn scatter(compared: &Comparison, figure: usize) -> String {
    let spread = spread(compared, figure);
    let measure = Measure::of_figure(&spread);
    let named = |name: &str| {
        let mut measure = measure.clone();
        measure.label = format!("{name}: {}", measure.label);
        measure
    };
    let mut picked = Pick::new(MOST_PAIRS);
    let both = |pair: &[f64; 2]| pair.iter().all(|value| value.is_finite());
    let pairs = compared.pairs.iter().map(|pair| pair.figures[figure]).enumerate().filter(|(_, pair)| both(pair));
    let mut all = 0;
    for (number, pair) in pairs {
        all += 1;
        picked.take(mix(number as u64, 0), || pair.map(f64::to_bits));
    }
    let points: Vec<(f64, f64)> =
        picked.iter().map(|pair| pair.map(|bits| measure.at(f64::from_bits(bits)))).map(|[a, b]| (a, b)).collect();
    let y = named("B").up(0.05, 8);
    let x = named("A").across(0.05, &y);
    let shown_pairs = if points.len() < all {
        format!("{} of {} matched runs", points.len(), all)
    } else {
        format!("{all} matched runs")
    };
    let keys = vec![Key::new(Mark::Dot, colour::BLUE, shown_pairs), Key::new(Mark::Dashes, colour::INK, "equal")];
    let title = format!("{}, B over A", spread.name);
    let sheet =
        Sheet { title: &title, subtitle: "", legend: vec![keys], ramp: None, notes: Vec::new(), height: 360.0, x, y };
    sheet.draw(|area| {
        if points.is_empty() {
            area.message("no run has it in both")?;
        }
        area.dashes([(f64::MIN, f64::MIN), (f64::MAX, f64::MAX)], colour::INK, 1.2)?;
        area.haze(points.iter().copied(), colour::BLUE, 2.8)
    })
}
