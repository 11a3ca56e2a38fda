//! The paper's figures 10 and 11, drawn from what was measured; and how near the scheme fused comes to the roof.

use super::document::Document;
use super::report::{roof, speedup};
use crate::suite::{Benchmark, SUITE};
use sluice_picture::bars_svg::{Bars, svg};

fn eight() -> impl Iterator<Item = &'static Benchmark> {
    SUITE.iter().filter(|b| b.paper.is_some())
}

/// The geometric mean, where all are there.
pub fn mean(values: &[Option<f64>]) -> Option<f64> {
    crate::measure::mean(&values.iter().map(|v| v.filter(|v| *v > 0.0)).collect::<Option<Vec<f64>>>()?)
}

fn speedups(document: &Document, title: &str, series: &[&str]) -> Bars {
    let mut groups: Vec<(String, Vec<Option<f64>>)> =
        eight().map(|b| (b.name.to_string(), series.iter().map(|s| speedup(document, b.name, s)).collect())).collect();
    let means = (0..series.len()).map(|i| mean(&groups.iter().map(|(_, v)| v[i]).collect::<Vec<_>>())).collect();
    groups.push(("mean".into(), means));
    Bars {
        title: marked(document, title),
        unit: "times one CPU thread".into(),
        series: series.iter().map(|s| s.to_string()).collect(),
        groups,
        ..Bars::default()
    }
}

fn marked(document: &Document, title: &str) -> String {
    if document.emulated { format!("EMULATED, NOT A MEASUREMENT: {title}") } else { title.to_string() }
}

/// By name, the pictures: of speedups there are none of an emulated device.
pub fn all(document: &Document) -> Vec<(&'static str, String)> {
    let part = |name: &str| {
        let run = document.runs.iter().find(|r| r.program == name && r.variant == "fused" && !r.fast_math)?;
        Some(100.0 * roof(document, name, false)?.ns / run.resident?.median)
    };
    let roofs = Bars {
        title: marked(document, "Scheme fused: percent of the roof"),
        unit: "percent".into(),
        // bars hang from the roof
        level: 100.0,
        series: vec!["fused".into()],
        groups: eight()
            .map(|b| (b.name.to_string(), vec![if document.emulated { None } else { part(b.name) }]))
            .collect(),
        ..Bars::default()
    };
    vec![
        (
            "figure-10",
            svg(&speedups(
                document,
                "As figure 10: schemes against one CPU thread",
                &["SWPNC", "Serial", "SWP8", "persistent", "fused"],
            )),
        ),
        ("figure-11", svg(&speedups(document, "As figure 11: coarsening", &["SWP", "SWP4", "SWP8", "SWP16"]))),
        ("roof", svg(&roofs)),
    ]
}
