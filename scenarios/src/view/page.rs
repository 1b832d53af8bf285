//! A page of tables, facts, texts and figures as one HTML file that needs nothing else.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Colours, sizes and what changes in dark mode and on paper.
const STYLE: &str = include_str!("page.css");

/// What an SVG file needs to stand alone and an SVG inside HTML does not.
const NAMESPACE: &str = " xmlns=\"http://www.w3.org/2000/svg\"";

/// A page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// Title of the page and of the browser's tab.
    pub title: String,
    /// What the page is, in a sentence or two.
    pub lead: String,
    /// What stands on it, in order.
    pub sections: Vec<Section>,
}

/// A part of a page. An empty heading is left out.
#[derive(Debug, Clone, PartialEq)]
pub enum Section {
    /// Paragraphs.
    Text {
        /// Its heading.
        heading: String,
        /// Its paragraphs.
        paragraphs: Vec<String>,
    },
    /// Names with their values.
    Facts {
        /// Their heading.
        heading: String,
        /// Name and value of each.
        facts: Vec<(String, Cell)>,
        /// What a reader needs to know to read them.
        note: String,
    },
    /// Rows under column heads.
    Table {
        /// Its heading.
        heading: String,
        /// Column heads, with their units.
        columns: Vec<String>,
        /// Rows of as many cells.
        rows: Vec<Vec<Cell>>,
        /// What a reader needs to know to read it.
        note: String,
    },
    /// Many short names, in columns.
    List {
        /// Its heading.
        heading: String,
        /// What the names are.
        lead: String,
        /// The names.
        items: Vec<String>,
    },
    /// A picture; figures are numbered in their order on the page.
    Figure {
        /// What it shows.
        caption: String,
        /// The picture as the functions of this module draw it. It goes into the page as it is.
        svg: String,
    },
}

/// The content of a cell, which says how it is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A name as it is written in files and on the command line.
    Name(String),
    /// A number, already in the form for people ([`super::grouped`]); right-aligned.
    Number(String),
    /// A judgement that holds.
    Pass(String),
    /// A judgement that fails.
    Fail(String),
    /// There is no value.
    Missing,
}

impl Cell {
    /// A number with `decimals` decimals; [`Cell::Missing`] where there is none.
    pub fn number(value: Option<f64>, decimals: usize) -> Self {
        match value {
            Some(value) if value.is_finite() => Self::Number(super::grouped(value, decimals)),
            _ => Self::Missing,
        }
    }

    /// A count.
    pub fn count(value: u64) -> Self {
        Self::Number(super::text::count(value))
    }

    fn class(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Name(_) => "name",
            Self::Number(_) => "number",
            Self::Pass(_) => "pass",
            Self::Fail(_) => "fail",
            Self::Missing => "number missing",
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Name(text) | Self::Number(text) | Self::Pass(text) | Self::Fail(text) => text,
            Self::Missing => "–",
        }
    }
}

/// Writes a page as HTML: styles and pictures are inside, and it works without scripts, in dark mode and on paper.
pub fn page(page: &Page) -> String {
    let mut figures = 0;
    let body: Vec<Markup> = page.sections.iter().map(|section| section.markup(&mut figures)).collect();
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (page.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { (page.title) }
                    @if !page.lead.is_empty() { p.lead { (page.lead) } }
                    @for part in &body { (part) }
                }
            }
        }
    }
    .into_string()
}

impl Section {
    fn markup(&self, figures: &mut u32) -> Markup {
        match self {
            Self::Text { heading, paragraphs } => html! {
                section { (head(heading)) @for text in paragraphs { p { (text) } } }
            },
            Self::Facts { heading, facts, note } => html! {
                section {
                    (head(heading))
                    dl { @for (name, value) in facts { div { dt { (name) } (fact(value)) } } }
                    @if !note.is_empty() { p.note { (note) } }
                }
            },
            Self::Table { heading, columns, rows, note } => html! {
                section {
                    (head(heading))
                    (table(columns, rows))
                    @if !note.is_empty() { p.note { (note) } }
                }
            },
            Self::List { heading, lead, items } => html! {
                section {
                    (head(heading))
                    @if !lead.is_empty() { p { (lead) } }
                    @if !items.is_empty() { ul.names { @for item in items { li { (item) } } } }
                }
            },
            Self::Figure { caption, svg } => {
                *figures += 1;
                html! {
                    figure {
                        (PreEscaped(svg.replacen(NAMESPACE, "", 1)))
                        figcaption { b { "Figure " (figures) "." } " " (caption) }
                    }
                }
            }
        }
    }
}

fn head(heading: &str) -> Markup {
    html! { @if !heading.is_empty() { h2 { (heading) } } }
}

fn fact(value: &Cell) -> Markup {
    html! { dd class=(value.class()) { (value.text()) } }
}

/// A table whose first column names the rows; a column of numbers has its head on the right, as its numbers.
fn table(columns: &[String], rows: &[Vec<Cell>]) -> Markup {
    let is_number = |cell: &Cell| matches!(cell, Cell::Number(_) | Cell::Missing);
    let numeric = |column: usize| !rows.is_empty() && rows.iter().filter_map(|row| row.get(column)).all(is_number);
    html! {
        div.wide {
            table {
                thead {
                    tr {
                        @for (place, column) in columns.iter().enumerate() {
                            th scope="col" class=(if numeric(place) { "number" } else { "text" }) { (column) }
                        }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            @for (place, cell) in row.iter().enumerate() {
                                @if place == 0 {
                                    th scope="row" class=(cell.class()) { (cell.text()) }
                                } @else {
                                    td class=(cell.class()) { (cell.text()) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
