//! Measuring: times of repetitions, and where they were taken.

#![allow(clippy::disallowed_methods)] // it reads the clock, asks commands and the system what they are, and writes results

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::process::Command;
use std::time::Instant;

/// Least, median and greatest.
#[derive(Clone, Copy)]
pub struct Spread {
    /// Seconds.
    pub least: f64,
    /// Seconds.
    pub median: f64,
    /// Seconds.
    pub greatest: f64,
}

/// Of some times; at least one.
pub fn spread(mut of: Vec<f64>) -> Spread {
    of.sort_by(f64::total_cmp);
    Spread { least: of[0], median: of[of.len() / 2], greatest: of[of.len() - 1] }
}

/// The geometric mean; of nothing there is none.
pub fn mean(ratios: &[f64]) -> Option<f64> {
    let logs = ratios.iter().map(|r| r.ln());
    (!ratios.is_empty()).then(|| (logs.sum::<f64>() / ratios.len() as f64).exp())
}

/// How long it takes.
pub fn seconds(mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn first_line(command: &str, args: &[&str]) -> String {
    let out = Command::new(command).args(args).output();
    out.map(|o| String::from_utf8_lossy(&o.stdout).lines().next().unwrap_or("?").to_string()).unwrap_or("?".into())
}

/// The processor's name, and which of those that have it: a virtual machine's "AMD EPYC" may have vectors of 256 bits or of 512, and figures of two
/// such are no progress.
pub fn processor() -> String {
    named(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
}

/// The same of what Linux tells.
fn named(told: &str) -> String {
    let field = |name: &str| {
        told.lines()
            .find_map(|l| l.split_once(':').filter(|(key, _)| key.trim() == name))
            .map(|(_, value)| value.trim())
    };
    let flags: Vec<&str> = field("flags").unwrap_or_default().split_whitespace().collect();
    let vectors = [("avx512f", "AVX-512"), ("avx2", "AVX2")].into_iter().find(|(flag, _)| flags.contains(flag));
    let name = field("model name").unwrap_or("unknown processor").to_string();
    let which = [("family", field("cpu family")), ("model", field("model")), ("with", vectors.map(|(_, name)| name))];
    let which: Vec<String> = which.into_iter().filter_map(|(what, value)| Some(format!("{what} {}", value?))).collect();
    if which.is_empty() { name } else { format!("{name} ({})", which.join(" ")) }
}

/// What the figures depend on, and when they were taken.
fn facts(sluice: &str) -> [(&'static str, String); 5] {
    facts_with(first_line(sluice, &["--version"]))
}

/// The same of a program that knows its version.
pub fn facts_of(version: String) -> BTreeMap<String, String> {
    facts_with(version).into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

fn facts_with(version: String) -> [(&'static str, String); 5] {
    [
        ("sluice", version),
        ("processor", processor()),
        ("gcc", first_line("gcc", &["--version"])),
        ("clang", first_line("clang", &["--version"])),
        ("date", first_line("date", &["-u", "+%Y-%m-%d %H:%M UTC"])),
    ]
}

/// A page of a table and what its figures depend on, which a document that is kept says.
pub fn page(table: &str, document: &Value) -> String {
    let of = |name: &&str| Some(format!("- {name}: {}\n", document["about"][*name].as_str()?));
    let lines: String = ["sluice", "processor", "gcc", "clang", "date"].iter().filter_map(of).collect();
    format!("{table}\n{lines}")
}

/// Shows a table and keeps it, with what it depends on, as `results`.md; and its figures (an object's fields), with the same, as `results`.json.
pub fn keep(results: &str, sluice: &str, table: &str, figures: Value) -> Result<(), String> {
    let facts = facts(sluice);
    let about: Map<String, Value> = facts.iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
    let mut document = json!({ "about": about });
    if let (Some(all), Value::Object(more)) = (document.as_object_mut(), figures) {
        all.extend(more);
    }
    let text = page(table, &document);
    println!("\n{text}");
    let write = |end: &str, text: &str| std::fs::write(format!("{results}.{end}"), text).map_err(|e| e.to_string());
    write("md", &text)?;
    write("json", &format!("{document:#}\n"))?;
    println!("written to {results}.md and {results}.json");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn processors_of_one_name_are_told_apart() {
        let told = |family: u32, flags: &str| {
            named(&format!(
                "processor\t: 0\ncpu family\t: {family}\nmodel\t\t: 2\nmodel name\t: AMD EPYC\nflags\t\t: fpu sse2 {flags}\n"
            ))
        };
        assert_eq!(told(25, "avx avx2"), "AMD EPYC (family 25 model 2 with AVX2)");
        assert_eq!(told(26, "avx avx2 avx512f avx512vl"), "AMD EPYC (family 26 model 2 with AVX-512)");
        assert_eq!(named("model name : Z\n"), "Z");
        assert_eq!(named(""), "unknown processor");
    }
}
