//! docs/conformance.md and the tests agree: every statement of the definition has a test, each test named there exists, and the
//! programs say (`// row: 5.12`) which rows name them.

#![allow(clippy::disallowed_methods)] // tests read files

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Folders of programs, as rows name them.
const FOLDERS: [&str; 3] = ["run", "stdlib", "errors"];

/// Programs that run say their rows before this line; those with a diagnostic anywhere, so that its line stays.
const NEAR_THE_TOP: usize = 8;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Of each row its number as written and its tests, and what is wrong with the page.
fn rows(page: &str) -> (Vec<(String, Vec<String>)>, Vec<String>) {
    let (mut rows, mut faults) = (Vec::<(String, Vec<String>)>::new(), Vec::new());
    let (mut section, mut row) = (0, 0);
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            (section, row) = (section + 1, 0);
            if !title.starts_with(&format!("{section}. ")) {
                faults.push(format!("`{title}` should be section {section}"));
            }
        }
        let Some(line) = line.strip_prefix("| ").and_then(|l| l.strip_suffix(" |")) else { continue };
        let cells: Vec<&str> = line.split(" | ").collect();
        let (number, Some(tests)) = (cells[0], cells.last()) else { continue };
        if number == "row" {
            continue;
        }
        row += 1;
        if number != format!("{section}.{row}") {
            faults.push(format!("row {number} should be {section}.{row}"));
        }
        if cells.len() != 3 || cells[1].is_empty() {
            faults.push(format!("row {number} has other than three cells, or says nothing (write `\\|` for a bar)"));
        }
        // what stands between backquotes
        let tests: Vec<String> = tests.split('`').skip(1).step_by(2).map(String::from).collect();
        if tests.is_empty() {
            faults.push(format!("row {number} has no test"));
        }
        for (i, t) in tests.iter().enumerate() {
            if tests[..i].contains(t) {
                faults.push(format!("row {number} names {t} twice"));
            }
        }
        rows.push((number.to_string(), tests));
    }
    (rows, faults)
}

/// Is there a test function of that name, `path/file.rs::name`?
fn is_test(root: &Path, name: &str) -> bool {
    let Some((file, function)) = name.split_once("::") else { return false };
    let text = std::fs::read_to_string(root.join(file)).unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let head = format!("fn {function}()");
    let at = lines.iter().position(|l| l.strip_prefix("pub ").unwrap_or(l).starts_with(&head));
    // other attributes may stand between
    at.is_some_and(|i| lines[..i].iter().rev().take_while(|l| l.starts_with("#[")).any(|l| *l == "#[test]"))
}

/// The rows that a program says, with the numbers of the lines.
fn said(text: &str) -> Vec<(usize, String)> {
    let lines = text.lines().enumerate();
    let lists = lines.filter_map(|(i, l)| Some((i, l.trim_start_matches('\u{feff}').strip_prefix("// row: ")?)));
    lists.flat_map(|(i, list)| list.split(',').map(move |n| (i, n.trim().to_string()))).collect()
}

/// All programs as rows name them, with what they say.
fn programs(root: &Path) -> BTreeMap<String, Vec<(usize, String)>> {
    let mut all = BTreeMap::new();
    for folder in FOLDERS {
        for entry in std::fs::read_dir(root.join("tests").join(folder)).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|e| e == "str") && path.with_extension("expect").exists() {
                let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                all.insert(format!("{folder}/{name}"), said(&text));
            }
        }
    }
    all
}

/// What does not agree between a page, the programs, and the tests in Rust.
fn faults(
    page: &str,
    programs: &BTreeMap<String, Vec<(usize, String)>>,
    is_test: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let (rows, mut faults) = rows(page);
    for (number, tests) in &rows {
        for test in tests {
            if test.contains("::") {
                if !is_test(test) {
                    faults.push(format!("row {number}: there is no test {test}"));
                }
            } else if let Some(said) = programs.get(test) {
                if !said.iter().any(|(_, n)| n == number) {
                    faults.push(format!("tests/{test}.str does not say `// row: {number}`, which names it"));
                }
            } else {
                faults.push(format!("row {number}: there is no program {test} with an .expect beside it"));
            }
        }
    }
    let of: BTreeMap<&String, &Vec<String>> = rows.iter().map(|(n, t)| (n, t)).collect();
    for (name, said) in programs {
        let mut seen = BTreeSet::new();
        for (line, number) in said {
            match of.get(number) {
                None => faults.push(format!("tests/{name}.str says row {number}, which there is not")),
                Some(tests) if !tests.contains(name) => {
                    faults.push(format!("tests/{name}.str says row {number}, which does not name it"));
                }
                Some(_) => {}
            }
            if !seen.insert(number) {
                faults.push(format!("tests/{name}.str says row {number} twice"));
            }
            if *line >= NEAR_THE_TOP && !name.starts_with("errors/") {
                faults.push(format!("tests/{name}.str says row {number} in line {}, too far down", line + 1));
            }
        }
    }
    faults
}

#[test]
fn every_row_has_tests_that_exist() {
    let root = root();
    let page = std::fs::read_to_string(root.join("docs/conformance.md")).unwrap();
    let found = faults(&page, &programs(&root), &|t| is_test(&root, t));
    assert!(found.is_empty(), "\n{}", found.join("\n"));
    let count = rows(&page).0.len();
    assert!(count > 150, "only {count} rows");
    assert_eq!(page.lines().filter(|l| l.starts_with("## ")).count(), 7, "the definition has seven sections");
}

#[test]
fn each_fault_is_found() {
    let page = |row: &str| format!("## 1. Words\n\n| row | what holds | tests |\n|---|---|---|\n{row}\n");
    let good = "| 1.1 | a \\| b | `run/a`, `x.rs::f` |";
    let program = |rows: &[(usize, &str)]| {
        let said = rows.iter().map(|(i, n)| (*i, n.to_string())).collect();
        BTreeMap::from([("run/a".to_string(), said)])
    };
    let test = |name: &str| name == "x.rs::f";
    let right = program(&[(1, "1.1")]);
    assert_eq!(faults(&page(good), &right, &test), [""; 0]);
    for (text, programs, want) in [
        ("| 1.1 | a | |", program(&[]), "no test"),
        ("| 1.1 | a | - |", program(&[]), "no test"),
        ("| 1.2 | a | `run/a` |", program(&[(0, "1.2")]), "should be 1.1"),
        ("| 1.1 | a | `x.rs::g` |", program(&[]), "no test x.rs::g"),
        ("| 1.1 | a | `run/b` |", program(&[]), "no program run/b"),
        (good, program(&[]), "does not say `// row: 1.1`"),
        (good, program(&[(0, "1.1"), (0, "1.2")]), "which there is not"),
        ("| 1.1 | a | `x.rs::f` |", right.clone(), "which does not name it"),
        (good, program(&[(8, "1.1")]), "too far down"),
        (good, program(&[(1, "1.1"), (2, "1.1")]), "says row 1.1 twice"),
        ("| 1.1 | a | `x.rs::f`, `x.rs::f` |", program(&[]), "names x.rs::f twice"),
        ("| 1.1 | a | b | `x.rs::f` |", program(&[]), "three cells"),
    ] {
        let found = faults(&page(text), &programs, &test);
        assert!(found.iter().any(|f| f.contains(want)), "{text}: {found:?}");
    }
    assert!(faults(&page(good).replace("1. W", "2. W"), &right, &test)[0].contains("should be section 1"));
    assert_eq!(said("// flags: x\n// row: 1.1, 2.3\n// row 3\n"), [(1, "1.1".into()), (1, "2.3".into())]);
    let here = |name: &str| is_test(&root(), &format!("compiler/sluice/tests/conformance.rs::{name}"));
    assert!(here("each_fault_is_found") && !here("root") && !here("nobody"));
}
