//! Means of a figure over two axes as colours.

use super::super::sheet::Sheet;
use super::measure::{Measure, viridis};
use crate::sweep::survey::cells::Map;

/// Up to so many levels have a tick each.
const EACH: usize = 10;

/// Draws a heat map; `z` is the figure.
pub(super) fn heat(title: &str, map: &Map, [x, y]: &[Measure; 2], z: &Measure) -> String {
    let [columns, rows] = [map.levels[0].count(), map.levels[1].count()];
    let cells = || (0..rows).flat_map(move |row| (0..columns).map(move |column| (column, row)));
    let z = z.clone().between(cells().filter_map(|(column, row)| map.mean(column, row)));
    let ends = |side: usize, measure: &Measure| {
        let last = map.levels[side].count().saturating_sub(1);
        (measure.cell(&map.levels[side], 0).0, measure.cell(&map.levels[side], last).1)
    };
    let mut up = y.up_between(ends(1, y), 8);
    let mut across = x.across_between(ends(0, x), &up);
    if rows <= EACH && !y.is_named() {
        up.ticks = y.each(&map.levels[1]).unwrap_or(up.ticks);
        across = x.across_between(ends(0, x), &up);
    }
    if columns <= EACH && !x.is_named() {
        across.ticks = x.each(&map.levels[0]).unwrap_or(across.ticks);
    }
    let empty = cells().any(|(column, row)| map.mean(column, row).is_none());
    let notes = empty.then(|| "Empty: no run with these values, or none that has this figure.".to_owned());
    let sheet = Sheet {
        title,
        subtitle: "",
        legend: Vec::new(),
        ramp: Some(z.ramp("mean of ", viridis)),
        notes: notes.into_iter().collect(),
        height: (rows as f64 * 40.0).clamp(90.0, 400.0),
        x: across,
        y: up,
    };
    sheet.draw(|area| {
        if cells().all(|(column, row)| map.mean(column, row).is_none()) {
            area.message("no values")?;
        }
        // Cells reach a little into the next, so that no paper shines through between them.
        let lap = (area.scale.0 * 0.4, area.scale.1 * 0.4);
        for row in 0..rows {
            let (bottom, top) = y.cell(&map.levels[1], row);
            // Names begin at the top.
            let (bottom, top) =
                if y.is_named() { (rows as f64 - 1.0 - top, rows as f64 - 1.0 - bottom) } else { (bottom, top) };
            let mut column = 0;
            while column < columns {
                let colour = |column: usize| map.mean(column, row).map(|mean| viridis(z.share(mean)));
                let here = colour(column);
                let same = (column..columns).take_while(|&next| colour(next) == here).count().max(1);
                if let Some(fill) = here {
                    let left = x.cell(&map.levels[0], column).0;
                    let right = x.cell(&map.levels[0], column + same - 1).1;
                    area.bar((left, bottom), (right + lap.0, top + lap.1), fill)?;
                }
                column += same;
            }
        }
        Ok(())
    })
}
