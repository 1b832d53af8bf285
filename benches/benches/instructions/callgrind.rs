//! Runs this program under callgrind and reads what it wrote.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Is valgrind installed?
pub(crate) fn is_there() -> bool {
    let silent = Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    silent.is_ok_and(|status| status.success())
}

/// Runs this program with `arguments`; answers callgrind's file.
fn run(arguments: &[&str]) -> String {
    let out: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("callgrind.{}", std::process::id()));
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet", "--compress-strings=yes", "--compress-pos=no"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(std::env::current_exe().unwrap())
        .args(arguments)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "valgrind failed");
    let text = std::fs::read_to_string(&out).unwrap();
    std::fs::remove_file(&out).unwrap();
    text
}

/// All instructions of a run.
pub(crate) fn total(arguments: &[&str]) -> u64 {
    let text = run(arguments);
    let line = text.lines().rev().find_map(|line| line.strip_prefix("totals: "));
    line.and_then(|total| total.trim().parse().ok()).unwrap()
}

/// Instructions of a run, told apart in two ways.
#[derive(Default)]
pub(crate) struct Costs {
    /// By the source file that they were written in, wherever they were inlined.
    pub(crate) by_file: BTreeMap<String, u64>,
    /// By the compiled function that they stand in, with all that was inlined into it.
    pub(crate) by_function: BTreeMap<String, u64>,
}

/// The instructions of a run by place.
///
/// In callgrind's format `fl=`, `fi=` and `fe=` name the file of the cost lines that follow and `fn=` the function, as
/// `(number) name` the first time and `(number)` later; the cost line after `calls=` is the called function's and not
/// counted again.
pub(crate) fn by_place(arguments: &[&str]) -> Costs {
    let text = run(arguments);
    let (mut files, mut functions) = (BTreeMap::new(), BTreeMap::new());
    let (mut file, mut function, mut called) = (String::new(), String::new(), false);
    let mut costs = Costs::default();
    for line in text.lines() {
        match line.split_once('=') {
            Some(("fl" | "fi" | "fe", named)) => file = short(&full_name(named, &mut files)),
            Some(("cfi" | "cfl", named)) => drop(full_name(named, &mut files)),
            Some(("fn", named)) => function = full_name(named, &mut functions),
            Some(("cfn", named)) => drop(full_name(named, &mut functions)),
            Some(("calls", _)) => called = true,
            None if line.starts_with(|first: char| first.is_ascii_digit()) => {
                let cost = line.split(' ').nth(1).and_then(|cost| cost.parse::<u64>().ok());
                if let (Some(cost), false) = (cost, called) {
                    *costs.by_file.entry(file.clone()).or_insert(0) += cost;
                    // A recursion is told apart by a count behind the name.
                    let whole = function.split('\'').next().unwrap_or_default();
                    *costs.by_function.entry(shorter(whole)).or_insert(0) += cost;
                }
                called = false;
            }
            _ => {}
        }
    }
    costs
}

/// A function's name without its generic arguments: `<a::B<C> as d::E>::f` is `a::B::f`.
fn shorter(name: &str) -> String {
    let name = match name.strip_prefix('<').and_then(|rest| rest.split_once(" as ")) {
        Some((whose, rest)) => format!("{whose}::{}", rest.rsplit("::").next().unwrap_or_default()),
        None => name.to_owned(),
    };
    let mut depth = 0_usize;
    let mut plain = String::new();
    for letter in name.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(letter),
            _ => {}
        }
    }
    plain
}

fn full_name(named: &str, names: &mut BTreeMap<String, String>) -> String {
    match named.split_once(' ') {
        Some((number, name)) => {
            names.insert(number.to_owned(), name.to_owned());
            name.to_owned()
        }
        None => names.get(named).cloned().unwrap_or_else(|| named.to_owned()),
    }
}

/// A file's place in the workspace; all of the standard library and of other crates together.
fn short(file: &str) -> String {
    let members = ["sim-core/", "models/", "scenarios/", "benches/"];
    let place = members.iter().filter_map(|member| file.find(&format!("{member}src/"))).next();
    match place {
        Some(place) => file[place..].to_owned(),
        None if file.contains("/library/") => "standard library".to_owned(),
        None if file.contains("/registry/") => "other crates".to_owned(),
        None => "C library and the rest".to_owned(),
    }
}
