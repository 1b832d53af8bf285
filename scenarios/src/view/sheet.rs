//! What all plots share: title, legend, axes, notes and colours, around a plotting area of fixed height.
//!
//! The picture grows with the lines of text above and below the plotting area, so that nothing overlaps, and the
//! legend stands above it, so that it covers no data.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint};
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::text::{elide, width, wrap};
use super::ticks::Axis;

/// Colours of ink and data. Blues against red and dark purple differ in lightness as well as in hue, so that people
/// with any colour vision, and a black-and-white print, tell them apart. The page's style sheet exchanges them for
/// others in dark mode.
pub(super) mod colour {
    use plotters::style::RGBColor;

    pub(in super::super) const INK: RGBColor = RGBColor(0x1F, 0x23, 0x28);
    pub(in super::super) const MUTED: RGBColor = RGBColor(0x57, 0x60, 0x6A);
    pub(in super::super) const GRID: RGBColor = RGBColor(0xE4, 0xE7, 0xEB);
    pub(in super::super) const PAPER: RGBColor = RGBColor(0xFF, 0xFF, 0xFF);
    pub(in super::super) const BLUE: RGBColor = RGBColor(0x33, 0x8F, 0xCC);
    pub(in super::super) const SKY: RGBColor = RGBColor(0x56, 0xB4, 0xE9);
    pub(in super::super) const RED: RGBColor = RGBColor(0xCC, 0x33, 0x11);
    pub(in super::super) const PURPLE: RGBColor = RGBColor(0x6A, 0x2C, 0x91);
    pub(in super::super) const OLIVE: RGBColor = RGBColor(0x8A, 0x7A, 0x00);
}

/// Opacity of bands and of dots that lie on each other.
const VEIL: f64 = 0.22;
const HAZE: f64 = 0.45;

/// Drawing units per CSS pixel: the backend rounds to whole units, and a tenth of a pixel is not seen.
const FINE: f64 = 10.0;
const WIDTH: f64 = 860.0;
const SIDE: f64 = 18.0;
/// Free room right of the plotting area, for half a tick label.
const RIGHT: f64 = 34.0;
const BELOW_AXIS: f64 = 44.0;

const TITLE: f64 = 17.0;
/// How much wider bold characters are.
const BOLD: f64 = 1.12;
const SUBTITLE: f64 = 13.0;
pub(super) const LABEL: f64 = 12.0;
const NOTE: f64 = 11.5;
const SWATCH: f64 = 24.0;

/// The result of drawing. The backend writes to a string, which cannot fail.
pub(super) type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Scale, Scale>>;

/// An axis as the plotting library knows it: a line of numbers with ticks of our choice.
struct Scale {
    line: RangedCoordf64,
    ticks: Vec<f64>,
}

impl Scale {
    fn of(axis: &Axis) -> Self {
        let ticks = axis.ticks.iter().map(|(value, _)| *value).collect();
        Self { line: (axis.from..axis.to).into(), ticks }
    }
}

impl Ranged for Scale {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.line.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks.clone() }
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.line.range()
    }
}

/// A plot without its data.
pub(super) struct Sheet<'a> {
    pub(super) title: &'a str,
    pub(super) subtitle: &'a str,
    /// Rows of the legend; empty ones are left out.
    pub(super) legend: Vec<Vec<Key>>,
    /// What the colours of values mean, where values are colours.
    pub(super) ramp: Option<Ramp>,
    /// Remarks under the plot, a line or more each.
    pub(super) notes: Vec<String>,
    /// Height of the plotting area [px].
    pub(super) height: f64,
    pub(super) x: Axis,
    pub(super) y: Axis,
}

/// A scale of colours: what it shows, and shares of its length with what stands there.
pub(super) struct Ramp {
    pub(super) label: String,
    pub(super) colour: fn(f64) -> RGBColor,
    pub(super) ticks: Vec<(f64, String)>,
}

/// An entry of the legend.
pub(super) struct Key {
    mark: Mark,
    colour: RGBColor,
    text: String,
}

/// How a legend shows what its text is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Bar,
    Line,
    Dashes,
    Dot,
    Triangle,
}

impl Key {
    pub(super) fn new(mark: Mark, colour: RGBColor, text: impl Into<String>) -> Self {
        Self { mark, colour, text: elide(&text.into(), 80) }
    }

    fn width(&self) -> f64 {
        SWATCH + 8.0 + width(&self.text, LABEL) + 18.0
    }
}

/// Lines of text and rows of the legend, laid out.
struct Layout {
    title: Vec<String>,
    subtitle: Vec<String>,
    /// Entries with their place in their row.
    legend: Vec<Vec<(f64, usize)>>,
    ramp: f64,
    notes: Vec<String>,
    left: f64,
    head: f64,
    foot: f64,
}

impl Sheet<'_> {
    /// Width of the plotting area [px] left of which stand labels as wide as those of `y`.
    pub(super) fn room(y: &Axis) -> f64 {
        WIDTH - SIDE - RIGHT - left_of_axis(y)
    }

    /// The picture, with what `data` draws in the plotting area.
    pub(super) fn draw(&self, data: impl FnOnce(&mut Plot<'_, '_>) -> Drawn) -> String {
        let layout = self.layout();
        let height = layout.head + self.height + BELOW_AXIS + layout.foot;
        let mut svg = String::new();
        {
            let root = SVGBackend::with_string(&mut svg, (fine(WIDTH) as u32, fine(height) as u32)).into_drawing_area();
            // An error cannot come from a string; were there one, the picture would merely lack what follows.
            let _ = self.draw_on(&root, &layout, data).and_then(|()| root.present());
        }
        with_header(&svg, self.title, height)
    }

    fn layout(&self) -> Layout {
        let room = WIDTH - 2.0 * SIDE;
        let title = wrap(self.title, TITLE * BOLD, room);
        let subtitle = wrap(self.subtitle, SUBTITLE, room);
        let legend = legend_places(&self.legend, room);
        let notes: Vec<String> = self.notes.iter().flat_map(|note| wrap(note, NOTE, room)).collect();
        let lines = |lines: usize, size: f64| lines as f64 * size * 1.4;
        let ramp = self.ramp.as_ref().map_or(0.0, |_| RAMP);
        let head =
            14.0 + lines(title.len(), TITLE) + lines(subtitle.len(), SUBTITLE) + legend_height(&legend) + ramp + 8.0;
        let foot = 12.0 + lines(notes.len(), NOTE) + if notes.is_empty() { 0.0 } else { 10.0 };
        Layout { title, subtitle, legend, ramp, notes, left: left_of_axis(&self.y), head, foot }
    }

    fn draw_on(&self, root: &Area<'_>, layout: &Layout, data: impl FnOnce(&mut Plot<'_, '_>) -> Drawn) -> Drawn {
        root.fill(&colour::PAPER)?;
        let mut top = 14.0;
        top = write_lines(root, &layout.title, top, TITLE, colour::INK, true)?;
        top = write_lines(root, &layout.subtitle, top, SUBTITLE, colour::MUTED, false)?;
        self.draw_legend(root, &layout.legend, top + 6.0)?;
        if let Some(ramp) = &self.ramp {
            ramp.draw(root, layout.head - layout.ramp - 4.0)?;
        }
        let below = layout.head + self.height + BELOW_AXIS;
        write_lines(root, &layout.notes, below + 10.0, NOTE, colour::MUTED, false)?;

        let middle = root.margin(fine(layout.head), fine(layout.foot), fine(SIDE), fine(RIGHT));
        let chart = self.axes(&middle, layout.left)?;
        let scale = ((self.x.to - self.x.from) / Self::room(&self.y), (self.y.to - self.y.from) / self.height);
        data(&mut Plot { chart, x: &self.x, y: &self.y, scale })
    }

    fn axes<'c, 'b>(
        &self,
        area: &'c Area<'b>,
        left: f64,
    ) -> Result<Chart<'c, 'b>, DrawingAreaErrorKind<std::io::Error>> {
        let mut chart = ChartBuilder::on(area)
            .x_label_area_size(fine(BELOW_AXIS))
            .y_label_area_size(fine(left))
            .build_cartesian_2d(Scale::of(&self.x), Scale::of(&self.y))?;
        let label = text_style(LABEL, colour::INK, false);
        chart
            .configure_mesh()
            .bold_line_style(colour::GRID.stroke_width(fine(1.0) as u32))
            .light_line_style(TRANSPARENT)
            .axis_style(colour::MUTED.stroke_width(fine(1.0) as u32))
            .set_all_tick_mark_size(fine(4.5))
            .label_style(label.clone())
            .axis_desc_style(text_style(LABEL + 1.0, colour::INK, false))
            .x_label_formatter(&|value| text_at(&self.x, *value))
            .y_label_formatter(&|value| text_at(&self.y, *value))
            .x_desc(self.x.label.as_str())
            .y_desc(self.y.label.as_str())
            .draw()?;
        Ok(chart)
    }

    fn draw_legend(&self, root: &Area<'_>, places: &[Vec<(f64, usize)>], top: f64) -> Drawn {
        let rows = self.legend.iter().filter(|row| !row.is_empty());
        for (keys, places) in rows.zip(places) {
            for (key, (left, line)) in keys.iter().zip(places) {
                key.draw(root, SIDE + left, top + (*line as f64 + 0.5) * LEGEND_LINE)?;
            }
        }
        Ok(())
    }
}

const LEGEND_LINE: f64 = 20.0;

/// Where each entry stands: columns where all rows fit into them, one entry a line where they do not.
fn legend_places(rows: &[Vec<Key>], room: f64) -> Vec<Vec<(f64, usize)>> {
    let rows: Vec<&Vec<Key>> = rows.iter().filter(|row| !row.is_empty()).collect();
    let columns = rows.iter().map(|row| row.len()).max().unwrap_or(0);
    let column = |k: usize| rows.iter().filter_map(|row| row.get(k)).map(Key::width).fold(0.0, f64::max);
    let lefts: Vec<f64> = (0..columns).map(|k| (0..k).map(column).sum()).collect();
    if (0..columns).map(column).sum::<f64>() <= room {
        return rows
            .iter()
            .enumerate()
            .map(|(line, row)| lefts.iter().take(row.len()).map(|x| (*x, line)).collect())
            .collect();
    }
    let mut line = 0;
    let mut next = || {
        line += 1;
        (0.0, line - 1)
    };
    rows.iter().map(|row| row.iter().map(|_| next()).collect()).collect()
}

fn legend_height(places: &[Vec<(f64, usize)>]) -> f64 {
    places.iter().flatten().map(|(_, line)| line + 1).max().map_or(0.0, |lines| 6.0 + lines as f64 * LEGEND_LINE)
}

/// Height of a scale of colours with its words.
const RAMP: f64 = 44.0;

impl Ramp {
    fn draw(&self, root: &Area<'_>, top: f64) -> Drawn {
        const LENGTH: f64 = 300.0;
        const STEPS: u32 = 60;
        let style = |h, v| text_style(LABEL, colour::INK, false).pos(Pos::new(h, v));
        let left = SIDE + 32.0;
        for step in 0..STEPS {
            let at = |step: u32| left + LENGTH * f64::from(step) / f64::from(STEPS);
            let fill = (self.colour)((f64::from(step) + 0.5) / f64::from(STEPS)).filled();
            let corners = [(fine(at(step)), fine(top + 6.0)), (fine(at(step + 1)), fine(top + 18.0))];
            root.draw(&Rectangle::new(corners, fill))?;
        }
        for (share, text) in &self.ticks {
            let at = |y: f64| (fine(left + LENGTH * share), fine(top + y));
            root.draw(&PathElement::new([at(18.0), at(22.0)], colour::MUTED.stroke_width(fine(1.0) as u32)))?;
            root.draw_text(text, &style(HPos::Center, VPos::Top), at(24.0))?;
        }
        let beside = (fine(left + LENGTH + 44.0), fine(top + 12.0));
        root.draw_text(&elide(&self.label, 60), &style(HPos::Left, VPos::Center), beside)
    }
}

impl Key {
    fn draw(&self, root: &Area<'_>, left: f64, middle: f64) -> Drawn {
        let at = |x: f64, y: f64| (fine(left + x), fine(middle + y));
        let (line, filled) = (self.colour.stroke_width(fine(2.0) as u32), self.colour.filled());
        match self.mark {
            Mark::Bar => root.draw(&Rectangle::new([at(4.0, -5.0), at(20.0, 5.0)], filled))?,
            Mark::Line => root.draw(&PathElement::new([at(0.0, 0.0), at(SWATCH, 0.0)], line))?,
            Mark::Dashes => {
                for start in [0.0, 9.0, 18.0] {
                    root.draw(&PathElement::new([at(start, 0.0), at(start + 6.0, 0.0)], line))?;
                }
            }
            Mark::Dot => root.draw(&Circle::new(at(SWATCH / 2.0, 0.0), fine(3.0), filled))?,
            Mark::Triangle => {
                let corners = [at(7.0, 4.0), at(17.0, 4.0), at(12.0, -5.0)];
                root.draw(&Polygon::new(corners, filled))?;
            }
        }
        let style = text_style(LABEL, colour::INK, false).pos(Pos::new(HPos::Left, VPos::Center));
        root.draw_text(&self.text, &style, at(SWATCH + 8.0, 0.0))
    }
}

/// The plotting area; what lies outside it is drawn at its edge.
pub(super) struct Plot<'a, 'b> {
    chart: Chart<'a, 'b>,
    x: &'a Axis,
    y: &'a Axis,
    /// Data units per pixel.
    pub(super) scale: (f64, f64),
}

impl Plot<'_, '_> {
    /// Ends of the horizontal axis.
    pub(super) fn ends(&self) -> (f64, f64) {
        (self.x.from, self.x.to)
    }

    fn inside(&self, points: impl IntoIterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
        points.into_iter().map(|(x, y)| (self.x.clamp(x), self.y.clamp(y))).collect()
    }

    /// A filled polygon.
    pub(super) fn polygon(&mut self, points: impl IntoIterator<Item = (f64, f64)>, colour: RGBColor) -> Drawn {
        let points = self.inside(points);
        self.chart.draw_series([Polygon::new(points, colour.filled())]).map(|_| ())
    }

    /// A filled rectangle between two corners.
    pub(super) fn bar(&mut self, corner: (f64, f64), opposite: (f64, f64), colour: RGBColor) -> Drawn {
        match self.inside([corner, opposite])[..] {
            [a, b] => self.chart.draw_series([Rectangle::new([a, b], colour.filled())]).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// A line `thickness` pixels wide.
    pub(super) fn line(
        &mut self,
        points: impl IntoIterator<Item = (f64, f64)>,
        colour: RGBColor,
        thickness: f64,
    ) -> Drawn {
        let points = self.inside(points);
        let style = colour.stroke_width(fine(thickness) as u32);
        self.chart.draw_series([PathElement::new(points, style)]).map(|_| ())
    }

    /// A dashed line.
    pub(super) fn dashes(
        &mut self,
        points: impl IntoIterator<Item = (f64, f64)>,
        colour: RGBColor,
        thickness: f64,
    ) -> Drawn {
        let points = self.inside(points);
        let style = colour.stroke_width(fine(thickness) as u32);
        self.chart.draw_series(DashedLineSeries::new(points, fine(6.0), fine(4.0), style)).map(|_| ())
    }

    /// Dots of a radius in pixels.
    pub(super) fn dots(
        &mut self,
        points: impl IntoIterator<Item = (f64, f64)>,
        colour: RGBColor,
        radius: f64,
    ) -> Drawn {
        let points = self.inside(points);
        let dot = |point| Circle::new(point, fine(radius), colour.filled());
        self.chart.draw_series(points.into_iter().map(dot)).map(|_| ())
    }

    /// A filled polygon through which what lies below is seen.
    pub(super) fn veil(&mut self, points: impl IntoIterator<Item = (f64, f64)>, colour: RGBColor) -> Drawn {
        let points = self.inside(points);
        self.chart.draw_series([Polygon::new(points, colour.mix(VEIL).filled())]).map(|_| ())
    }

    /// A thin line through which what lies below is seen.
    pub(super) fn thread(
        &mut self,
        points: impl IntoIterator<Item = (f64, f64)>,
        colour: RGBColor,
        opacity: f64,
    ) -> Drawn {
        let points = self.inside(points);
        let style = colour.mix(opacity).stroke_width(fine(1.1) as u32);
        self.chart.draw_series([PathElement::new(points, style)]).map(|_| ())
    }

    /// Dots through which what lies below is seen.
    pub(super) fn haze(
        &mut self,
        points: impl IntoIterator<Item = (f64, f64)>,
        colour: RGBColor,
        radius: f64,
    ) -> Drawn {
        let points = self.inside(points);
        let dot = |point| Circle::new(point, fine(radius), colour.mix(HAZE).filled());
        self.chart.draw_series(points.into_iter().map(dot)).map(|_| ())
    }

    /// Words at a place; `side` −1 ends there, 0 has its middle there, 1 begins there.
    pub(super) fn words(&mut self, text: &str, at: (f64, f64), side: i8, colour: RGBColor) -> Drawn {
        let place = match side {
            -1 => HPos::Right,
            0 => HPos::Center,
            _ => HPos::Left,
        };
        let style = text_style(LABEL - 1.0, colour, false).pos(Pos::new(place, VPos::Center));
        self.chart.draw_series([Text::new(text.to_owned(), at, style)]).map(|_| ())
    }

    /// Words in an area that has no data, beside any lines through its middle.
    pub(super) fn message(&mut self, text: &str) -> Drawn {
        let corner = (self.x.from + 12.0 * self.scale.0, self.y.to - 12.0 * self.scale.1);
        let style = text_style(SUBTITLE, colour::MUTED, false).pos(Pos::new(HPos::Left, VPos::Top));
        self.chart.draw_series([Text::new(text.to_owned(), corner, style)]).map(|_| ())
    }
}

fn fine(pixels: f64) -> i32 {
    (pixels * FINE).round() as i32
}

fn left_of_axis(y: &Axis) -> f64 {
    32.0 + y.label_width(LABEL)
}

fn text_at(axis: &Axis, value: f64) -> String {
    axis.ticks.iter().find(|(tick, _)| *tick == value).map_or_else(String::new, |(_, text)| text.clone())
}

/// A style of `size` pixels; the backend divides sizes by 1.24.
fn text_style(size: f64, colour: RGBColor, bold: bool) -> TextStyle<'static> {
    let style = if bold { FontStyle::Bold } else { FontStyle::Normal };
    FontDesc::new(FontFamily::SansSerif, size * 1.24 * FINE, style).color(&colour)
}

/// Writes lines from `top` downwards and answers where the next would begin.
fn write_lines(
    root: &Area<'_>,
    lines: &[String],
    top: f64,
    size: f64,
    colour: RGBColor,
    bold: bool,
) -> Result<f64, DrawingAreaErrorKind<std::io::Error>> {
    let style = text_style(size, colour, bold).pos(Pos::new(HPos::Left, VPos::Top));
    for (line, text) in lines.iter().enumerate() {
        root.draw_text(text, &style, (fine(SIDE), fine(top + line as f64 * size * 1.4)))?;
    }
    Ok(top + lines.len() as f64 * size * 1.4)
}

/// Exchanges the backend's opening tag for one with the size in pixels and a name for those who do not see the
/// picture, and leaves out what every element has by itself.
fn with_header(svg: &str, title: &str, height: f64) -> String {
    let body = svg.split_once('>').map_or("</svg>", |(_, body)| body);
    let name = title.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{WIDTH}\" height=\"{}\" role=\"img\" \
         aria-label=\"{name}\">{}",
        fine(WIDTH),
        fine(height),
        height.ceil(),
        body.replace(" opacity=\"1\"", ""),
    )
}
