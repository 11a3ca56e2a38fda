//! Traces and statistics from the command line: what is chosen, what is refused, where it goes. What they say is tested in `watched`.

use crate::support::*;
use std::time::{Duration, Instant};

const BANDS: &str = "\
void->int filter Source { int n; work push 1 { push(n++); } }
int->int filter Band(int k) { work pop 1 push 1 { push(k * pop()); } }
int->int splitjoin Bank {
    split duplicate;
    add Band(1);
    add Band(10);
    join roundrobin;
}
int->void filter Show { work pop 1 { println(pop()); } }
void->void pipeline Main { add Source; add Bank; add Show; }
";

/// The paths of the streams in a trace, and the numbers of their firings.
fn shown(done: &Done) -> Vec<String> {
    let lines = done.stderr.lines().filter(|l| l.contains("  firing "));
    lines
        .map(|l| {
            let mut words = l.split_whitespace().skip(1);
            format!("{} {}", words.next().unwrap(), words.nth(1).unwrap())
        })
        .collect()
}

#[test]
fn a_trace_leaves_the_output_as_it_is() {
    let place = Place::new().with("a.str", BANDS);
    let plain = place.run(&["run", "a.str", "-n", "2"]).ends(0);
    let traced = place.run(&["run", "a.str", "-n", "2", "--trace"]).ends(0).says("firing 1    push 0");
    assert_eq!((plain.text(), plain.stderr.as_str()), (traced.text(), ""));
    assert_eq!(shown(&traced).len(), 2 * 7);
    // to a file: nothing on standard error
    let filed = place.run(&["run", "a.str", "-n", "2", "--trace", "--trace-output", "t.txt"]).ends(0);
    assert_eq!((filed.text(), filed.stderr.as_str()), (plain.text(), ""));
    assert_eq!(std::fs::read_to_string(place.path("t.txt")).unwrap(), traced.stderr);
}

#[test]
fn a_trace_needs_no_c_compiler() {
    let place = Place::new().with("a.str", BANDS);
    let mut c = place.command(&["run", "a.str", "-n", "1", "--trace"]);
    c.env("CC", "/no/such/compiler");
    finish(c, b"").ends(0).says("Main.Show");
}

#[test]
fn streams_and_firings_are_chosen() {
    let place = Place::new().with("a.str", BANDS);
    let trace =
        |options: &[&str]| shown(&place.run(&[&["run", "a.str", "-n", "3", "--trace"], options].concat()).ends(0));
    assert_eq!(trace(&["--trace-filter", "Source"]), ["Main.Source 1", "Main.Source 2", "Main.Source 3"]);
    let bands = ["Main.Bank.Band#2 2", "Main.Bank.Band 2"];
    assert_eq!(trace(&["--trace-filter", "Band", "--trace-firings", "2"]), bands);
    assert_eq!(trace(&["--trace-filter", "B*.Band*", "--trace-firings", "2..2"]), bands);
    assert_eq!(
        trace(&["--trace-filter", "Main.Bank.Band#2", "--trace-filter", "Sou*", "--trace-firings", "1,3.."]),
        ["Main.Source 1", "Main.Bank.Band#2 1", "Main.Source 3", "Main.Bank.Band#2 3"]
    );
    let kinds = ["--trace-kind", "joiner", "--trace-kind", "duplicate", "--trace-firings", "..1"];
    assert_eq!(trace(&kinds), ["Main.Bank.split 1", "Main.Bank.join 1"]);
    assert_eq!(trace(&["--trace-filter", "Bank", "--trace-kind", "filter"]).len(), 6);
    let none = place.run(&["run", "a.str", "-n", "3", "--trace", "--trace-firings", "100.."]).ends(0);
    assert_eq!(none.stderr, "-- none of the firings chosen took place\n");
}

#[test]
fn a_limit_ends_the_trace_and_not_the_run() {
    let place = Place::new().with("a.str", BANDS);
    let done = place.run(&["run", "a.str", "-n", "300", "--trace", "--trace-limit", "5"]).ends(0);
    assert_eq!((shown(&done).len(), done.text().lines().count()), (5, 600));
    assert!(done.stderr.ends_with("-- 5 firings shown, and no more: --trace-limit sets how many (0: all)\n"));
    let all =
        |limit: &[&str]| shown(&place.run(&[&["run", "a.str", "-n", "300", "--trace"], limit].concat()).ends(0)).len();
    assert_eq!((all(&[]), all(&["--trace-limit", "0"]), all(&["--trace-limit", "2100"])), (1000, 2100, 2100));
    let exact = place.run(&["run", "a.str", "-n", "300", "--trace", "--trace-limit", "2100"]).ends(0);
    assert!(!exact.stderr.contains("no more"));
    // the limit is for the firings chosen
    let options = ["--trace-limit", "2", "--trace-filter", "Show", "--trace-firings", "500.."];
    let done = place.run(&[&["run", "a.str", "-n", "300", "--trace"], &options[..]].concat()).ends(0);
    assert_eq!(shown(&done), ["Main.Show 500", "Main.Show 501"]);
}

#[test]
fn what_cannot_be_is_refused() {
    let place = Place::new().with("a.str", BANDS);
    let refused = |options: &[&str]| place.run(&[&["run", "a.str", "-n", "1"], options].concat()).ends(2);
    refused(&["--trace", "--trace-filter", "Sorce"]).says("no stream `Sorce`").says("is it `Source`?");
    refused(&["--trace", "--trace-filter", "Main.Bank.Bnad"]).says("is it `Main.Bank.Band`?");
    refused(&["--trace", "--trace-filter", "Quux"]).says("`sluice rates` lists them");
    refused(&["--trace", "--trace-filter", "Band", "--trace-kind", "joiner"]).says("would show nothing");
    refused(&["--trace", "--trace-kind", "fliter"]).says("filter");
    refused(&["--trace", "--trace-firings", "0"]).says("counted from 1");
    refused(&["--trace", "--trace-firings", "9..3"]).says("comes after the last");
    refused(&["--trace", "--trace-firings", "x..3"]).says("`x` is not the number of a firing");
    refused(&["--trace-filter", "Band"]).says("--trace");
    refused(&["--stats-rows", "3"]).says("--stats");
    let clash = refused(&["--trace", "--trace-output", "x", "--stats", "--stats-output", "x"]);
    clash.says("--stats-output would write x");
    let open = Place::new().with("a.str", TWICE);
    open.run_with(&["run", "a.str", "-o", "x", "--trace", "--trace-output", "x"], b"").ends(2).says("--trace-output");
    place.run(&["run", "a.str", "--trace", "--trace-output", "no/such/folder/t"]).ends(3).says("no/such/folder/t");
    place.run(&["run", "a.str", "--stats", "--stats-output", "."]).ends(3).says("folder");
    assert_eq!(place.files(), ["a.str"]);
}

#[test]
fn the_failing_firing_is_the_last_one() {
    let program = "void->int filter Down { int n = 3; work push 1 { push(--n); } }
int->void filter Invert { work pop 1 { println(100 / pop()); } }
void->void pipeline Main { add Down; add Invert; }";
    let place = Place::new().with("a.str", program);
    let done = place.run(&["run", "a.str", "--trace", "--trace-output", "t.txt", "--stats"]).ends(1);
    let done = done.says("E0951").says("division by zero").says("; failed");
    assert_eq!(done.text(), "50\n100\n");
    let trace = std::fs::read_to_string(place.path("t.txt")).unwrap();
    let last = trace.lines().last().unwrap();
    assert!(last.starts_with("a.str:2: Main.Invert  firing 3") && last.ends_with("failed: division by zero (a.str:2)"));
    // native code counts up to there, too: the batch is undone
    let native = place.run(&["run", "a.str", "--stats", "--stats-format", "json"]).ends(1);
    let line = native.stderr.lines().find(|l| l.contains("sluice-stats-1")).unwrap();
    for part in [r#""ending":"failed""#, r#""steady_states":2"#, r#""firings":3,"#, r#""firings":2,"#] {
        assert!(line.contains(part), "{part} in {line}");
    }
}

#[test]
fn statistics_as_a_table() {
    let place = Place::new().with("a.str", BANDS);
    let plain = place.run(&["run", "a.str", "-n", "50"]).ends(0);
    for mode in [&["--stats"][..], &["--stats", "--interpret"], &["--stats", "--schedule", "minimum-latency"]] {
        let done = place.run(&[&["run", "a.str", "-n", "50"], mode].concat()).ends(0);
        assert_eq!(done.text(), plain.text());
        let row = |name: &str| -> Vec<String> {
            let line = done.stderr.lines().find(|l| l.contains(name)).unwrap_or_else(|| panic!("{}", done.stderr));
            line.split_whitespace().map(String::from).collect()
        };
        // time and unit, share and %, firings, time and unit, in, out, fill, stream, place
        let band = row("Main.Bank.Band#2");
        assert_eq!((band[4].as_str(), &band[7..9]), ("50", &["50".to_string(), "50".into()][..]), "{band:?}");
        assert_eq!(band[10..], ["Main.Bank.Band#2", "a.str:2"]);
        assert_eq!(row("Main.Show")[4], "100");
        assert!(done.stderr.contains("50 steady states"), "{}", done.stderr);
    }
}

#[test]
fn tables_of_large_programs_are_short() {
    let mut program = String::from(
        "void->int filter A { work push 1 { push(1); } }\nint->int filter B { work pop 1 push 1 { push(pop()); } }\nint->void filter C { work pop 1 { pop(); } }\n",
    );
    program.push_str("void->void pipeline Main { add A; for (int i = 0; i < 1000; i++) add B; add C; }");
    let place = Place::new().with("a.str", program);
    let rows = |options: &[&str]| -> Vec<String> {
        let all = [&["run", "a.str", "-n", "100", "-O0", "--stats"], options].concat();
        let done = place.run(&all).ends(0);
        done.stderr
            .lines()
            .filter(|l| l.contains("a.str:"))
            .map(|l| l.split_whitespace().nth(9).unwrap().into())
            .collect()
    };
    assert_eq!(rows(&[]).len(), 30);
    let done = place.run(&["run", "a.str", "-n", "100", "-O0", "--stats"]).ends(0).says("(972 other streams)");
    assert!(done.stderr.lines().count() < 45 && done.stderr.lines().all(|l| l.len() < 120), "{}", done.stderr);
    assert_eq!(rows(&["--stats-rows", "7"]).len(), 7);
    let all = rows(&["--stats-rows", "0", "--stats-sort", "program"]);
    assert_eq!(all.len(), 1002);
    let json = place.run(&["run", "a.str", "-n", "100", "-O0", "--stats", "--stats-format", "json"]).ends(0);
    assert_eq!(json.stderr.matches("\"calls\":").count(), 1002);
}

#[test]
fn an_interrupted_run_shows_its_statistics() {
    for extra in [&[][..], &["--interpret"], &["--trace", "--trace-limit", "3"]] {
        let place = Place::new().with("a.str", "void->int filter Count { int n; work push 1 { push(n++); } }");
        let arguments = [&["run", "a.str", "-o", "out.bin", "--stats"], extra].concat();
        let child = place.command(&arguments).spawn().unwrap();
        let limit = Instant::now() + Duration::from_secs(30);
        while place.files().len() < 2 && Instant::now() < limit {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(200));
        let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let done = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(0), "{said}");
        assert!(said.contains("; stopped") && said.contains("a.str:1"), "{said}");
        let items = std::fs::metadata(place.path("out.bin")).unwrap().len() / 4;
        assert!(said.contains(&format!("{items} items out")), "{items} items\n{said}");
    }
}

/// A reader of the trace that goes is no error, and the run goes on.
#[test]
fn a_trace_that_nobody_reads_ends() {
    let place = Place::new().with("a.str", BANDS);
    let arguments = ["run", "a.str", "-n", "3000", "--trace", "--trace-limit", "0", "--trace-output", "/dev/stderr"];
    let mut child = place.command(&arguments).spawn().unwrap();
    drop(child.stderr.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), done.stdout.iter().filter(|b| **b == b'\n').count()), (Some(0), 6000));
}
