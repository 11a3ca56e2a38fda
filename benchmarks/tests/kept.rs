//! The results that are kept are what is shown: README.md has the table of the latest, with nothing typed by hand, and the charts are those of the figures.

#![allow(clippy::disallowed_methods)] // tests read files

mod common;

use common::root;
use sluice_benchmarks::kept::{self, Kept};
use sluice_benchmarks::measure::page;
use sluice_benchmarks::scaling::{self, Scaling};
use std::path::{Path, PathBuf};

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn results(end: &str) -> Vec<PathBuf> {
    let found = kept::files(&root().join("benchmarks/results"), end).unwrap();
    assert!(!found.is_empty(), "no file ends with {end}");
    found
}

#[test]
fn the_page_shows_the_latest_figures() {
    let latest = results(kept::PROGRAMS).pop().unwrap();
    let (page, figures) = (read(&root().join("README.md")), Kept::read(&latest).unwrap());
    let others = kept::elsewhere(&root().join("benchmarks/results"), &figures).unwrap();
    assert!(
        others.iter().all(|(machine, file, mean)| *machine != figures.processor && page.contains(file) && *mean > 0.0)
    );
    let made = kept::readme(&page, &figures, &others).unwrap();
    assert!(page == made, "the table of README.md is not that of {}: scripts/bench draw makes it", latest.display());
    // one that is typed is taken back
    let typed = page.replace("| geometric mean | | ", "| geometric mean | | 9");
    assert!(typed != page && kept::readme(&typed, &figures, &others).unwrap() == page);
    assert!(kept::readme("a page without a place for it", &figures, &others).is_err());
}

#[test]
fn the_charts_are_those_of_the_figures() {
    let holds = |picture: &Path, made: String| {
        assert!(read(picture) == made, "{} is another chart: scripts/bench draw makes it", picture.display());
    };
    for file in results(kept::PROGRAMS) {
        holds(&file.with_extension("svg"), kept::programs_chart(&Kept::read(&file).unwrap()));
    }
    for file in results(kept::OF_PEERS) {
        holds(&file.with_extension("svg"), kept::peers_chart(&Kept::read(&file).unwrap()));
    }
    for file in results(scaling::END) {
        let (figures, document) = Scaling::read(&file).unwrap();
        holds(&file.with_extension("md"), page(&figures.page(), &document));
        for (name, chart) in figures.charts() {
            let file = file.to_string_lossy();
            holds(Path::new(&format!("{}-{name}.svg", file.trim_end_matches(".json"))), chart);
        }
    }
    let folder = root().join("benchmarks/results");
    holds(&folder.join("programs-history.svg"), kept::history(&folder).unwrap());
}

#[test]
fn files_that_are_no_results_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("1-programs.json");
    for (text, why) in [
        ("{", "EOF"),
        ("{}", "it has no rows"),
        (r#"{"rows": []}"#, "where it was taken"),
        (r#"{"about": {"processor": "p"}, "rows": [{"program": "fft"}]}"#, "a row lacks something"),
        (
            r#"{"about": {"processor": "p"}, "rows": [{"program": "fft", "items": 1, "times": {"gcc": {}}}]}"#,
            "a row lacks something",
        ),
    ] {
        std::fs::write(&file, text).unwrap();
        let said = Kept::read(&file).err().unwrap();
        assert!(said.contains(why) && said.contains("1-programs.json"), "{text}: {said}");
    }
    std::fs::write(&file, r#"{"about": {"processor": "p"}, "rows": []}"#).unwrap();
    assert!(Kept::read(&file).unwrap().rows.is_empty());
}
