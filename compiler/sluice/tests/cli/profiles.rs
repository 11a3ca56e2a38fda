//! `sluice profile`, and what uses profiles.

use crate::support::*;
use serde_json::Value;
use std::io::Write;

const PROGRAM: &str = "\
void->int stateful filter Count {
    int n;
    work push 1 {
        push(n++);
    }
}
int->int filter Heavy(int n) {
    work pop 1 push 1 {
        int s = pop();
        for (int i = 0; i < n; i++) s = s * 31 + i % 7;
        push(s);
    }
}
int->void filter Show {
    work pop 64 {
        int s;
        for (int i = 0; i < 64; i++) s += pop();
        println(s);
    }
}
void->void pipeline Main {
    add Count;
    add Heavy(400);
    add Heavy(300);
    add Show;
}
";

/// A folder with the program and a cache of its own.
struct Own(Place);

impl Own {
    fn new() -> Own {
        Own(Place::new().with("a.str", PROGRAM))
    }

    fn run(&self, args: &[&str]) -> Done {
        let mut command = self.0.command(args);
        command.env("SLUICE_CACHE", self.0.own_cache());
        finish(command, b"")
    }

    fn json(&self, args: &[&str]) -> Value {
        let done = self.run(&[args, &["--format", "json"]].concat()).ends(0);
        serde_json::from_str(done.text()).unwrap_or_else(|e| panic!("{e}: {}", done.text()))
    }
}

const SCHEDULE: [&str; 5] = ["schedule", "a.str", "--machine", "cpu", "-p=2"];

#[test]
fn a_profile_in_the_cache_is_used_for_this_computer() {
    let own = Own::new();
    let before = own.json(&SCHEDULE);
    assert_eq!((&before["costs"], &before["profile"]), (&"static".into(), &Value::Null));
    let done = own.run(&["profile", "a.str", "-n", "200"]).ends(0).says("profile written to");
    assert_eq!(done.text(), "", "what the program prints goes nowhere");
    let measured = own.json(&SCHEDULE);
    assert_eq!(measured["costs"], "measured");
    let profile = &measured["profile"];
    // 64 firings of each but the last in a steady state
    assert_eq!((&profile["firings"], &profile["unmeasured"]), (&(200 * (3 * 64 + 1)).into(), &0.into()));
    assert!(profile["file"].as_str().unwrap().contains("cache"), "{profile}");
    let date = profile["date"].as_str().unwrap();
    // everything that shows a schedule says so
    let says = format!("measured, profile of {date}, 38 600 firings");
    assert!(own.run(&SCHEDULE).ends(0).text().contains(&format!("costs: {says}\n")));
    assert!(own.run(&[&SCHEDULE[..], &["--compare", "--time-limit", "0.1"]].concat()).ends(0).text().contains(&says));
    assert_eq!(own.json(&[&SCHEDULE[..], &["--pareto"]].concat())["costs"], "measured");
    own.run(&["report", "a.str", "--machine", "cpu", "-o", "page.html"]).ends(0);
    assert!(own.0.read("page.html").contains(&says));
    // not for another machine, and not where nobody wants it
    assert_eq!(own.json(&["schedule", "a.str"])["costs"], "static");
    let none = own.run(&[&SCHEDULE[..], &["--profile=none"]].concat()).ends(0);
    assert!(none.text().contains("costs: from the kernel IR\n"), "{}", none.text());
    own.run(&["report", "a.str", "--machine", "cpu", "--profile=none", "-o", "page.html"]).ends(0);
    assert!(own.0.read("page.html").contains("from the kernel IR"));
}

#[test]
fn what_counts_is_what_the_program_does() {
    let own = Own::new();
    own.run(&["profile", "a.str", "-n", "10"]).ends(0);
    std::fs::write(own.0.path("a.str"), format!("// with a remark\n\n{PROGRAM}")).unwrap();
    assert_eq!(own.json(&SCHEDULE)["costs"], "measured");
    std::fs::write(own.0.path("a.str"), PROGRAM.replace("400", "500")).unwrap();
    let done = own.run(&SCHEDULE).ends(0).says("the profile in the cache is ignored: ").says("an earlier state");
    assert!(done.text().contains("costs: from the kernel IR"), "{}", done.text());
    own.run(&["profile", "a.str", "-n", "10"]).ends(0);
    assert_eq!(own.json(&SCHEDULE)["costs"], "measured");
    // what is damaged is ignored, too
    let cache = std::fs::read_dir(own.0.path("cache")).unwrap().flatten().map(|e| e.path());
    let profiles: Vec<_> = cache.filter(|p| p.extension().is_some_and(|e| e == "json")).collect();
    assert_eq!(profiles.len(), 1, "a program has one");
    std::fs::write(&profiles[0], "{").unwrap();
    let done = own.run(&SCHEDULE).ends(0).says("the profile in the cache is ignored: this is no profile");
    assert!(done.text().contains("costs: from the kernel IR"), "{}", done.text());
}

#[test]
fn a_profile_in_a_file() {
    let own = Own::new();
    own.run(&["profile", "a.str", "-n", "100", "-o", "p.json"]).ends(0).says("--profile p.json");
    let mut profile: Value = serde_json::from_str(&own.0.read("p.json")).unwrap();
    assert_eq!((&profile["schema"], &profile["program"]), (&"sluice-profile-1".into(), &"Main".into()));
    let streams = profile["streams"].as_array_mut().unwrap();
    let paths: Vec<&str> = streams.iter().map(|s| s["stream"].as_str().unwrap()).collect();
    assert_eq!(paths, ["Main.Count", "Main.Heavy", "Main.Heavy#2", "Main.Show"]);
    let time = |i: usize| streams[i]["nanoseconds"].as_f64().unwrap();
    assert!(time(1) > time(0), "400 turns take longer than none: {streams:?}");
    // a microsecond is 6000 of the machine's units, and each instance has 10 more
    streams[1]["nanoseconds"] = 1000.0.into();
    streams[2]["nanoseconds"] = Value::Null;
    std::fs::write(own.0.path("q.json"), profile.to_string()).unwrap();
    let with = own.json(&[&SCHEDULE[..], &["--firings", "--profile", "q.json"]].concat());
    let without = own.json(&[&SCHEDULE[..], &["--firings"]].concat());
    assert_eq!((&with["costs"], &without["costs"]), (&"measured".into(), &"static".into()));
    assert_eq!((&with["profile"]["file"], &with["profile"]["unmeasured"]), (&"q.json".into(), &1.into()));
    let cost = |report: &Value, i: usize| report["tasks"][i]["cost"].as_u64().unwrap();
    assert_eq!(cost(&with, 1), 6010);
    assert_eq!(cost(&with, 2), cost(&without, 2), "what did not fire costs what the kernel IR says");
    let text = own.run(&[&SCHEDULE[..], &["--profile", "q.json"]].concat()).ends(0);
    assert!(text.text().contains("; of one stream that did not fire then, from the kernel IR"), "{}", text.text());
    // on standard output, too
    let printed = own.run(&["profile", "a.str", "-n", "1", "-o", "-"]).ends(0);
    assert_eq!(serde_json::from_str::<Value>(printed.text()).unwrap()["firings"], 3 * 64 + 1);
}

#[test]
fn a_profile_that_does_not_fit_is_refused() {
    let own = Own::new();
    own.run(&["profile", "a.str", "-n", "1", "-o", "p.json"]).ends(0);
    let refused = |args: &[&str], code: i32, why: &str| {
        own.run(&[args, &["--profile", "p.json"]].concat()).ends(code).says(why);
    };
    refused(&["schedule", "a.str"], 3, "[E0972]");
    refused(&["report", "a.str", "-o", "x.html"], 3, "[E0972]");
    let text = own.0.read("p.json");
    let change = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        std::fs::write(own.0.path("p.json"), text.replacen(from, to, 1)).unwrap();
    };
    change("Main.Show", "Main.Hide");
    refused(&SCHEDULE, 3, "lacks the stream Main.Show");
    change("\"streams\": [", "\"streams\": [ { \"stream\": \"Main.More\", \"firings\": 1, \"nanoseconds\": 1 },");
    refused(&SCHEDULE, 3, "has a stream Main.More, the program has none");
    change("\"nanoseconds\": ", "\"nanoseconds\": -");
    refused(&SCHEDULE, 3, "[E0970]");
    std::fs::write(own.0.path("p.json"), "[]").unwrap();
    refused(&SCHEDULE, 3, "[E0970]");
    std::fs::remove_file(own.0.path("p.json")).unwrap();
    refused(&SCHEDULE, 3, "cannot read p.json");
    assert!(!own.0.path("x.html").exists());
}

#[test]
fn programs_with_ends() {
    let twice = format!("{TWICE}float->void pipeline Main {{ add Twice; add FileWriter<float>(\"out.raw\"); }}\n");
    let place = Place::new().with("t.str", twice).with("in.raw", floats(&[1.0; 300])).with("short.raw", [1, 2]);
    let profile = |args: &[&str]| place.run(&[&["profile", "t.str", "-o", "p.json"], args].concat());
    profile(&["--input", "in.raw", "--seconds", "0.1"]).ends(0);
    let document: Value = serde_json::from_str(&place.read("p.json")).unwrap();
    let fired = document["streams"][1]["firings"].as_u64().unwrap();
    assert!(fired > 300, "a short file is read again and again: {document}");
    assert!(!place.path("out.raw").exists(), "what the program writes goes nowhere");
    std::fs::remove_file(place.path("p.json")).unwrap();
    profile(&["--input", "short.raw"]).ends(3).says("nothing was measured");
    profile(&["--input", "none.raw"]).ends(3).says("none.raw");
    assert!(!place.path("p.json").exists());
    // an input that does not come does not hold it up
    let mut waiting = place.command(&["profile", "t.str", "-o", "p.json", "--seconds", "0.2"]).spawn().unwrap();
    let mut input = waiting.stdin.take().unwrap();
    input.write_all(&floats(&[0.5; 50])).unwrap();
    assert!(waiting.wait().unwrap().success());
    drop(input);
    assert!(place.read("p.json").contains("sluice-profile-1"));
    // standard input cannot be read twice
    let items = floats(&[0.5; 50]);
    place.run_with(&["profile", "t.str", "-o", "p.json"], &items).ends(0).says("firings of 3 streams");
    place.run_with(&["profile", "-", "-n", "1"], COUNT.as_bytes()).ends(2).says("name a file for the profile with -o");
    place.run_with(&["profile", "-", "-n", "1", "-o", "c.json"], COUNT.as_bytes()).ends(0);
}

#[test]
fn a_program_that_fails_has_no_profile() {
    let text = "void->void filter Main { int n; work { n++; println(100 / (3 - n)); } }\n";
    let place = Place::new().with("a.str", text);
    place.run(&["profile", "a.str", "-o", "p.json"]).ends(1).says("[E0951]");
    assert!(!place.path("p.json").exists());
}

#[test]
fn threads_are_planned_by_it() {
    let own = Own::new();
    let run = ["run", "a.str", "-n", "300", "--threads", "2", "--threads-report"];
    let before = own.run(&run).ends(0).says("threads: 2 of 2");
    assert!(!before.stderr.contains("costs:"), "{}", before.stderr);
    own.run(&["profile", "a.str", "-n", "300"]).ends(0);
    let after = own.run(&run).ends(0).says("costs: measured, profile of ");
    assert_eq!(before.stdout, after.stdout);
}

/// Stream by stream, measured beside modelled, for people, for programs, for flame graphs.
#[test]
fn what_was_measured_beside_what_the_model_says() {
    let own = Own::new();
    let table = own.run(&["profile", "a.str", "-n", "300", "--format", "text"]).ends(0).says("profile written to");
    let lines: Vec<&str> = table.text().lines().collect();
    assert_eq!(lines.len(), 5, "{}", table.text());
    assert!(
        lines[0].contains("measured/model") && lines[1].contains("Main.Heavy") && lines[1].ends_with("a.str:7"),
        "{}",
        table.text()
    );
    let document = own.json(&["profile", "a.str", "-n", "300"]);
    assert_eq!(document["schema"], "sluice-profile-beside-1");
    let streams = document["streams"].as_array().unwrap();
    let sum = |field: &str| streams.iter().map(|s| s[field].as_f64().unwrap()).sum::<f64>();
    assert!((sum("share") - 1.0).abs() < 1e-6 && (sum("model_share") - 1.0).abs() < 1e-6, "{document}");
    // 400 turns cost the model about a third more than 300
    let model = |i: usize| streams[i]["model_nanoseconds"].as_f64().unwrap();
    assert!((1.3..1.36).contains(&(model(1) / model(2))), "{document}");
    let folded = own.run(&["profile", "a.str", "-n", "300", "--format", "folded"]).ends(0);
    let stacks: Vec<(&str, &str)> = folded.text().lines().map(|l| l.rsplit_once(' ').unwrap()).collect();
    assert!(stacks.iter().any(|(stack, _)| *stack == "Main;Heavy#2"), "{stacks:?}");
    assert!(stacks.iter().all(|(_, ns)| ns.parse::<u64>().unwrap() > 0), "{stacks:?}");
    own.run(&["profile", "a.str", "-n", "1", "--format", "text", "-o", "-"])
        .ends(2)
        .says("both write to standard output");
    own.run(&["profile", "a.str", "--target", "cuda", "--arch", "sm_90", "--format", "folded"])
        .ends(2)
        .says("no stacks");
}
