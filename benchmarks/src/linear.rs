//! What linear filters gain by being combined and by the frequency domain: each program with `--fast-math --linear=KIND` against
//! `--fast-math --linear=off`, in turns, as ratios; and whether the cost model's choice is about the best of them. Called by scripts/bench.
//!
//! ```text
//! linear SLUICE WORK RESULTS     the sluice command, a folder for what is built, and the start of the names of the files to write (.md, .json)
//! ```

#![allow(clippy::disallowed_methods)] // it reads the command line and writes programs and results

use serde_json::json;
use sluice_benchmarks::command;
use sluice_benchmarks::kinds::{Case, Measured, REPETITIONS, Race, noise};
use sluice_benchmarks::measure::keep;
use sluice_benchmarks::suite::SUITE;
use std::path::Path;

/// Without first: the others are compared with it.
const KINDS: [&str; 4] = ["off", "direct", "frequency", "auto"];
/// What the cost model chooses may take so much more than the best.
const ABOUT: f64 = 1.1;
/// Outputs differ by rounding, at most by this part of the greatest number.
const TOLERANCE: f32 = 1e-5;

const FILTERS: &str = "
float->float filter Fir(int n) {
    float[n] h;
    init {
        for (int i = 0; i < n; i++)
            h[i] = sin(0.3 * i + n) / (i + 1);
    }
    work peek n pop 1 push 1 {
        float sum = 0;
        for (int i = 0; i < n; i++)
            sum += h[i] * peek(i);
        push(sum);
        pop();
    }
}
float->float filter Down(int m) {
    work pop m push 1 {
        push(pop());
        for (int i = 1; i < m; i++)
            pop();
    }
}
float->float filter Up(int m) {
    work pop 1 push m {
        push(pop());
        for (int i = 1; i < m; i++)
            push(0);
    }
}
float->float filter Gain(float g) {
    work pop 1 push 1 {
        push(g * pop());
    }
}
float->float filter Adder(int n) {
    work pop n push 1 {
        float sum = 0;
        for (int i = 0; i < n; i++)
            sum += pop();
        push(sum);
    }
}
";

/// Programs of one kind of part each: their names, what they are called in tables, and the bodies of their pipelines.
fn bodies() -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    let mut add = |name: String, shown: String, body: String| all.push((name, shown, body));
    for n in [16, 32, 48, 64, 96, 128, 256, 512, 1024, 2048, 4096] {
        add(format!("fir{n}"), format!("a filter of {n} taps"), format!("add Fir({n});"));
    }
    for (n, m) in [(64, 4), (256, 4), (1024, 8)] {
        let body = format!("add Fir({n}); add Down({m});");
        add(format!("down{n}"), format!("{n} taps, then every {m}th item"), body);
        let body = format!("add Up({m}); add Fir({n});");
        add(format!("up{n}"), format!("{} zeroes between items, then {n} taps", m - 1), body);
    }
    for n in [8, 64] {
        let body = format!("for (int i = 0; i < 4; i++) add Fir({n});");
        add(format!("chain{n}"), format!("four filters of {n} taps in a row"), body);
    }
    let bank = "add splitjoin { split duplicate; for (int i = 0; i < 10; i++) add pipeline { add splitjoin { split duplicate; \
                add Fir(64 + i); add Fir(63 + i); join roundrobin; } add Adder(2); add Gain(0.1 * i); } join roundrobin; } add Adder(10);";
    add("equaliser".into(), "an equaliser of ten bands of two filters of 64 taps".into(), bank.into());
    let bank = "add splitjoin { split duplicate; for (int i = 0; i < 8; i++) add pipeline { add Fir(64 + i); add Down(8); add Up(8); \
                add Fir(64 - i); } join roundrobin; } add Adder(8);";
    add("bank".into(), "eight bands, every 8th item of each, and back".into(), bank.into());
    all
}

fn cases(work: &Path) -> Result<Vec<Case>, String> {
    std::fs::create_dir_all(work).map_err(|e| format!("{}: {e}", work.display()))?;
    let mut all = Vec::new();
    for (name, shown, body) in bodies() {
        let file = work.join(format!("{name}.str"));
        let text = format!("{FILTERS}float->float pipeline Main {{ {body} }}\n");
        std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
        all.push(Case { name: shown, file, widths: (1, 1), input: Box::new(|n| noise(n, false)) });
    }
    for b in SUITE.iter().filter(|b| ["filterbank", "fmradio"].contains(&b.name)) {
        let (file, widths) = (b.program(Path::new("."), None), (b.input.0.words(), b.output.0.words()));
        all.push(Case { name: format!("{} (of the suite)", b.name), file, widths, input: Box::new(|n| b.input(n)) });
    }
    Ok(all)
}

/// What the cost model's choice takes, as a part of what the best of the others does.
fn beside_the_best(m: &Measured) -> f64 {
    let last = KINDS.len() - 1;
    m.ratios[last] / m.ratios[..last].iter().copied().fold(f64::INFINITY, f64::min)
}

fn run(sluice: &str, work: &Path, results: &str) -> Result<(), String> {
    let race = Race {
        sluice,
        work,
        option: "--linear",
        kinds: &KINDS,
        flags: &["--fast-math", "--top=Main"],
        tolerance: Some(TOLERANCE),
    };
    let mut all = Vec::new();
    for case in cases(work)? {
        eprintln!("{}", case.name);
        let own = case.file.starts_with(work);
        let race = Race { flags: if own { race.flags } else { &race.flags[..1] }, ..race };
        all.push(race.measure(&case)?);
    }
    let far: Vec<String> = (all.iter().filter(|m| beside_the_best(m) > ABOUT))
        .map(|m| format!("{} ({:.2} of the best)", m.name, beside_the_best(m)))
        .collect();
    let choice = match far.is_empty() {
        true => {
            format!("What `auto` chooses takes at most {ABOUT} times what the best of the others does, everywhere.\n")
        }
        false => format!(
            "What `auto` chooses takes more than {ABOUT} times what the best of the others does here: {}.\n",
            far.join(", ")
        ),
    };
    let text = format!(
        "{}\nTimes as parts of the time of `off`: medians of {REPETITIONS} ratios of turns beside each other; below 1 is a gain. All with `--fast-math`. {choice}",
        race.table(&all)
    );
    keep(results, sluice, &text, json!({ "rows": race.rows(&all), "far_from_the_best": far }))
}

fn main() {
    command::three("linear", |sluice, work, results| run(sluice, &work.join("linear"), results));
}
