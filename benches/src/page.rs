//! What a bench prints, section by section, and the documents that hold the same tables.

use std::path::Path;

/// The documents that hold sections, from the workspace's root.
const DOCUMENTS: [&str; 2] = ["README.md", "docs/performance.md"];

/// A section as it stands between its marks in a document.
struct Section {
    name: &'static str,
    text: String,
}

/// What was printed so far.
#[derive(Default)]
pub struct Page {
    sections: Vec<Section>,
}

impl Page {
    /// Begins section `name` under a title that is printed alone; documents have titles of their own.
    pub fn section(&mut self, name: &'static str, title: &str) {
        println!("\n### {title}\n");
        self.sections.push(Section { name, text: String::new() });
    }

    /// Prints a line.
    pub fn line(&mut self, line: &str) {
        println!("{line}");
        if let Some(section) = self.sections.last_mut() {
            section.text.push_str(line);
            section.text.push('\n');
        }
    }

    /// Prints the head of a table; names begin left, figures right.
    pub fn head(&mut self, columns: &[&str]) {
        self.line(&format!("| {} |", columns.join(" | ")));
        self.line(&format!("|---|{}", "--:|".repeat(columns.len() - 1)));
    }

    /// Prints a row.
    pub fn row(&mut self, cells: &[String]) {
        self.line(&format!("| {} |", cells.join(" | ")));
    }

    /// Puts every section between its marks, `<!-- bench NAME -->` and `<!-- end NAME -->`, in the documents that have
    /// them.
    pub fn write(&self) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for document in DOCUMENTS {
            let file = root.join(document);
            let mut text = std::fs::read_to_string(&file).unwrap();
            self.sections.iter().for_each(|section| replace(&mut text, section));
            std::fs::write(&file, text).unwrap();
            eprintln!("{document} written");
        }
    }
}

fn replace(document: &mut String, section: &Section) {
    let (open, close) = (format!("<!-- bench {} -->\n", section.name), format!("<!-- end {} -->", section.name));
    if let Some(begin) = document.find(&open).map(|place| place + open.len())
        && let Some(length) = document[begin..].find(&close)
    {
        document.replace_range(begin..begin + length, &format!("\n{}\n\n", section.text.trim()));
    }
}
