//! Runs that are watched. The traces of tests/trace are golden (`SLUICE_BLESS=1` rewrites them). Over all programs of tests/run: a trace adds up
//! to what the channels held, what was printed and what was written; statistics count what the trace shows; and native code counts
//! the same as the interpreter. All JSON is as docs/json.md says.

#![allow(clippy::disallowed_methods)] // tests read files and start the command

#[path = "watched/channels.rs"]
mod channels;
#[path = "watched/schema.rs"]
mod schema;

use channels::Told;
use libtest_mimic::{Arguments, Failed, Trial};
use schema::Schema;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

type Tested = Result<(), Failed>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

static PAGE: LazyLock<String> =
    LazyLock::new(|| std::fs::read_to_string(root().join("docs/json.md")).expect("docs/json.md"));
static TRACE: LazyLock<Schema> = LazyLock::new(|| Schema::of(&PAGE, "--trace-format"));
static STATS: LazyLock<Schema> = LazyLock::new(|| Schema::of(&PAGE, "--stats-format"));

fn directives<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let lines = text.lines().take(6);
    lines.filter_map(move |l| l.strip_prefix("// ")?.strip_prefix(name)?.strip_prefix(": ")).map(str::trim)
}

fn directive<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    directives(text, name).next()
}

/// What a program's first lines ask for.
fn flags(program: &Path) -> std::io::Result<Vec<String>> {
    let text = String::from_utf8_lossy(&std::fs::read(program)?).into_owned();
    let mut all: Vec<String> = Vec::new();
    let folder = program.parent().unwrap_or(Path::new("."));
    let input = directive(&text, "input");
    for (option, file) in
        input.map(|i| ("--input", i)).into_iter().chain(directives(&text, "native").map(|n| ("--native", n)))
    {
        all.extend([option.to_string(), folder.join(file).display().to_string()]);
    }
    match directive(&text, "flags") {
        Some(flags) => all.extend(flags.split_whitespace().map(String::from)),
        None if !text.contains("FileReader") && input.is_none() => {
            all.extend(["--iterations".to_string(), "4".to_string()]);
        }
        None => {}
    }
    Ok(all)
}

fn sluice(program: &Path, flags: &[String], more: &[&str]) -> std::io::Result<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
    command.current_dir(root()).env("NO_COLOR", "1").arg("run").arg(program).args(flags).args(more).output()
}

/// A program's output when it ends well.
fn well(program: &Path, flags: &[String], more: &[&str]) -> Result<String, Failed> {
    let out = sluice(program, flags, more)?;
    if !out.status.success() {
        return Err(format!("{more:?}: {}\n{}", out.status, String::from_utf8_lossy(&out.stderr)).into());
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// The traces of a program in text and JSON, with what it prints in between.
fn golden(program: &Path, format: &str) -> Tested {
    let name = Path::new("tests/trace").join(program.file_name().unwrap_or_default());
    let out = sluice(&name, &flags(program)?, &["--trace", "--trace-output", "-", "--trace-format", format])?;
    let got = String::from_utf8_lossy(&out.stdout).into_owned();
    if format == "json" {
        for line in got.lines().filter(|l| l.starts_with('{')) {
            check_line(&serde_json::from_str(line)?)?;
        }
    }
    let file = program.with_extension(if format == "json" { "jsonl" } else { "trace" });
    if std::env::var_os("SLUICE_BLESS").is_some() {
        std::fs::write(file, &got)?;
        return Ok(());
    }
    let want = std::fs::read_to_string(&file).unwrap_or_default();
    if got == want {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    Err(format!("the trace changed (SLUICE_BLESS=1 accepts it)\n--- got\n{got}{stderr}\n--- expected\n{want}").into())
}

fn check_line(line: &Value) -> Result<(), String> {
    TRACE.check(line, line["type"].as_str().unwrap_or("?"))
}

fn lines(file: &Path) -> Result<Vec<Value>, Failed> {
    let text = std::fs::read_to_string(file)?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn read_stats(file: &Path) -> Result<Value, Failed> {
    let stats: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    STATS.check(&stats, "stats")?;
    Ok(stats)
}

/// Firings and items of each stream, and steady states.
fn counts(stats: &Value) -> (u64, Vec<(String, [u64; 3])>) {
    let number = |v: &Value| v.as_u64().unwrap_or(u64::MAX);
    let all = stats["streams"].as_array().map_or(&[][..], Vec::as_slice).iter();
    let one = |s: &Value| {
        let path = s["stream"].as_str().unwrap_or("").to_string();
        (path, [number(&s["firings"]), number(&s["items_in"]), number(&s["items_out"])])
    };
    (number(&stats["steady_states"]), all.map(one).collect())
}

/// A program's trace and its statistics, from the interpreter and, where `compiled` says so, from native code.
fn watched(program: &Path, compiled: bool) -> Tested {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    let shown = |name: &str| path(name).display().to_string();
    let flags = flags(program)?;
    let (trace, first, second) = (shown("trace"), shown("interpreted"), shown("native"));
    let json = ["--stats", "--stats-format", "json", "--stats-output"];
    let trace = ["--trace", "--trace-limit", "0", "--trace-format", "json", "--trace-output", &trace];
    let printed = well(program, &flags, &[&trace[..], &json, &[&first]].concat())?;
    let lines = lines(&path("trace"))?;
    lines.iter().try_for_each(check_line)?;
    let told = Told::follow(&lines)?;
    if told.written.is_empty() && told.printed != printed {
        return Err(format!("the trace prints\n{}and the program\n{printed}", told.printed).into());
    }
    if told.delivered == 0 && program.file_name().is_some_and(|n| n.to_string_lossy().starts_with("message_")) {
        return Err("no message was delivered".into());
    }
    // the statistics count what the trace shows
    let interpreted = read_stats(&path("interpreted"))?;
    let counted = counts(&interpreted);
    for (i, (stream, counts)) in counted.1.iter().enumerate() {
        let id = format!("n{i}");
        let (taken, given) = told.items.get(&id).copied().unwrap_or_default();
        let traced = [told.fired.get(&id).copied().unwrap_or(0), taken, given];
        if *counts != traced {
            return Err(format!("{stream}: counted {counts:?}, traced {traced:?}").into());
        }
    }
    if counted.0 != told.steady_states {
        return Err(format!("counted {} steady states, traced {}", counted.0, told.steady_states).into());
    }
    if !compiled {
        return Ok(());
    }
    // native code counts the same, and counting does not change what it puts out (nor does the trace, here)
    let output = well(program, &flags, &[&["-O0"], &json[..], &[&second]].concat())?;
    let text = String::from_utf8_lossy(&std::fs::read(program)?).into_owned();
    let want = std::fs::read_to_string(program.with_extension("expect"))?;
    if directive(&text, "tolerance").is_none() && (printed != want || output != want) {
        return Err(format!("watched, it puts out\n{printed}\nand\n{output}").into());
    }
    let native = read_stats(&path("native"))?;
    let (a, b) = (counts(&native), &counted);
    if let Some((x, y)) = a.1.iter().zip(&b.1).find(|(x, y)| x != y) {
        return Err(format!("native {x:?}, interpreted {y:?}").into());
    }
    if (a.0, a.1.len()) != (b.0, b.1.len()) {
        return Err(format!("{} steady states instead of {}", a.0, b.0).into());
    }
    // one firing at a time, channels fill up the same
    let fills = |stats: &Value| -> Vec<Value> {
        stats["channels"].as_array().iter().flat_map(|c| c.iter().map(|c| c["highest_fill"].clone())).collect()
    };
    let (fast, slow) = (fills(&native), fills(&interpreted));
    if native["fast_batches"] == 0 && fast != slow {
        return Err(format!("fills {fast:?} and {slow:?}").into());
    }
    if fast.iter().zip(&slow).any(|(f, s)| f.as_u64() < s.as_u64().map(|_| 1).filter(|_| s.as_u64() > Some(0))) {
        return Err(format!("a channel that was used is empty: {fast:?}").into());
    }
    Ok(())
}

/// The C text of a program that counts is that of one that does not, and lines that count: taken away, not a byte differs.
fn only_adds_lines(program: &Path) -> Tested {
    let flags = flags(program)?;
    // where firings are counted, branches are not folded, nothing is fused, delays are filters, delay lines fields, and filters with a state whole
    let dump = [
        "--fold=false",
        "--fuse=false",
        "--linear=off",
        "--delay-lines=false",
        "--take-apart=never",
        "--dump-after",
        "emit-c",
    ];
    let ordinary = well(program, &flags, &dump)?;
    let mut counting = well(program, &flags, &[&["--stats"], &dump[..]].concat())?;
    let text = std::fs::read_to_string(root().join("compiler/codegen/rts/c/sl_stats.h"))?;
    let lines = text.lines().filter(|l| !l.starts_with("#include \""));
    let part: String = lines.flat_map(|l| [l, "\n"]).chain(["\n"]).collect();
    let (before, after) = counting.split_once(&part).ok_or("sl_stats.h is not there")?;
    counting = format!("{before}{after}");
    let (mut rest, mut inside, mut ticks) = (String::new(), false, 0);
    for line in counting.lines() {
        inside |= line == "#ifdef SL_STATS";
        let tick = line.trim_start().starts_with("sl_tick(");
        ticks += usize::from(tick);
        if !inside && !tick && line != "#define SL_STATS 1" {
            rest.push_str(line);
            rest.push('\n');
        }
        inside &= line != "#endif";
    }
    if rest != ordinary {
        let at = rest.lines().zip(ordinary.lines()).position(|(a, b)| a != b);
        return Err(format!("line {at:?} of the ordinary text differs").into());
    }
    let plain = !ordinary.contains("SL_STATS") && !ordinary.contains("sl_stats") && !ordinary.contains("sl_tick");
    // firings of a program with dynamic rates are counted in the engine
    let counts = ticks > 0 || ordinary.contains("{ sl_flow(ctx, k); }");
    if plain && counts { Ok(()) } else { Err(format!("{ticks} lines that count, plain: {plain}").into()) }
}

/// What the writer of a trace popped is what stands in the file.
fn written(item: &str, convert: &str) -> Tested {
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("a.str");
    let text = format!(
        "void->{item} filter Main {{ int n; work push 1 {{ n++; float z = 0; {item} x; {convert} push(x); }} }}\n"
    );
    std::fs::write(&program, text)?;
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (trace, out) = (path("trace"), path("out.bin"));
    let more = ["-n", "24", "--output", &out, "--output-format", "raw"];
    let traced = ["--trace", "--trace-format", "json", "--trace-output", &trace];
    well(&program, &[], &[&more[..], &traced].concat())?;
    let told = Told::follow(&lines(&folder.path().join("trace"))?)?;
    let popped = told.written.values().next().ok_or("no writer")?;
    let bytes = channels::raw(popped, item).ok_or("no raw form")?;
    let file = std::fs::read(folder.path().join("out.bin"))?;
    if bytes == file && !file.is_empty() { Ok(()) } else { Err(format!("{bytes:02x?}\n{file:02x?}").into()) }
}

fn programs(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries.map(|e| e.path()).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "str"));
    all.sort();
    all
}

fn main() {
    let mut trials = Vec::new();
    let stem = |p: &Path| p.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    for p in programs("tests/trace") {
        for format in ["text", "json"] {
            let (name, p) = (format!("trace::{}::{format}", stem(&p)), p.clone());
            trials.push(Trial::test(name, move || golden(&p, format)));
        }
    }
    assert!(trials.len() >= 18, "the traces are missing");
    let mut count = 0;
    for p in programs("tests/run") {
        if p.with_extension("expect").exists() {
            let q = p.clone();
            // every second one: compiling is what takes the time
            let compiled = count % 2 == 0;
            trials.push(Trial::test(format!("watched::{}", stem(&p)), move || watched(&p, compiled)));
            trials.push(Trial::test(format!("only_adds_lines::{}", stem(&q)), move || only_adds_lines(&q)));
            count += 1;
        }
    }
    assert!(count > 300, "the corpus is missing");
    let numbers = "x = n == 1 ? -z : n == 2 ? 1 / z : n == 3 ? z / z : n == 4 ? -1 / z : n / 3.0f;";
    for (item, convert) in [
        ("int", "x = n * 77777777;"),
        ("float", numbers),
        ("double", numbers),
        ("boolean", "x = n % 3 == 1;"),
        ("bit", "x = (bit)(n % 3 == 1);"),
        ("complex", "x = n / 3.0f - 1.0f / (n - 1) * 1i;"),
        ("float3", "x = float3(n, -z, n / z);"),
        ("int[3]", "x[1] = n; x[2] = -n;"),
        ("float[2][2]", "x[1][0] = n / 7.0f;"),
    ] {
        trials.push(Trial::test(format!("written::{item}"), move || written(item, convert)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
