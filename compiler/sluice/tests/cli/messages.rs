//! Messages, usage, and commands that make nothing.

use crate::support::*;

#[test]
fn version_names_the_commit() {
    let done = Place::new().run(&["--version"]).ends(0);
    assert!(done.text().starts_with("sluice ") && done.text().contains('('), "{}", done.text());
}

#[test]
fn help_has_examples() {
    let done = Place::new().run(&["--help"]).ends(0);
    assert!(done.text().contains("Examples:") && done.text().contains("Exit codes"), "{}", done.text());
}

#[test]
fn a_wrong_command_line_is_2() {
    let place = Place::new().with("a.str", TWICE);
    place.run(&[]).ends(2);
    place.run(&["frobnicate"]).ends(2);
    place.run(&["check"]).ends(2);
    place.run(&["run", "a.str", "--output-format", "mp3"]).ends(2).says("mp3");
    place
        .run(&["check", "a.str", "--dump-after", "nonsense"])
        .ends(2)
        .says("there is no pass `nonsense`")
        .says("steady-state");
    place.run(&["explain", "banana"]).ends(2);
}

#[test]
fn a_missing_file_is_3() {
    Place::new().run(&["check", "none.str"]).ends(3).says("cannot read none.str: no such file or directory");
    let place = Place::new().with("a.str", TWICE);
    place.run(&["run", "a.str", "-i", "none.f32", "-o", "x.f32"]).ends(3).says("cannot read none.f32");
    assert_eq!(place.files(), ["a.str"]);
}

#[test]
fn check_counts() {
    let place =
        Place::new().with("good.str", COUNT).with("bad.str", "void->void pipeline Main { add Nothing; add Nowhere; }");
    place.run(&["check", "good.str"]).ends(0);
    place.run(&["check", "bad.str"]).ends(1).says("bad.str:1").says("2 errors");
    place.run(&["check", "bad.str", "--parse-only"]).ends(0);
}

#[test]
fn json_messages_are_lines() {
    let place = Place::new().with("bad.str", "void->void pipeline Main { add Nothing; }");
    let done = place.run(&["check", "bad.str", "--message-format", "json"]).ends(1);
    let lines: Vec<serde_json::Value> = done.text().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines[0]["type"], "diagnostic");
    assert_eq!(lines[0]["severity"], "error");
    assert_eq!(lines[0]["labels"][0]["file"], "bad.str");
    assert_eq!(
        lines.last().unwrap(),
        &serde_json::json!({"type": "summary", "errors": 1, "warnings": 0, "fixable": 0})
    );
    let done = place.run(&["check", "none.str", "--message-format", "json"]).ends(3);
    assert_eq!(serde_json::from_str::<serde_json::Value>(done.text()).unwrap()["type"], "fault");
}

#[test]
fn several_files_and_imports_are_one_program() {
    let place = Place::new()
        .with("main.str", "import \"parts/show.str\";\nvoid->void pipeline Main { add Count; add Show; }")
        .with("count.str", "void->int stateful filter Count { int n; work push 1 { push(n++); } }");
    std::fs::create_dir(place.path("parts")).unwrap();
    let place = place
        .with("parts/show.str", "import \"../main.str\";\nint->void filter Show { work pop 1 { println(pop()); } }");
    place.run(&["check", "main.str", "count.str", "./main.str"]).ends(0);
    place.run(&["check", "main.str"]).ends(1).says("Count");
}

#[test]
fn time_passes_names_them() {
    Place::new().with("a.str", COUNT).run(&["check", "a.str", "--time-passes"]).ends(0).says("analyse").says("total");
}

#[test]
fn standard_input_can_be_the_program() {
    Place::new().run_with(&["check", "-"], COUNT.as_bytes()).ends(0);
    Place::new().run_with(&["check", "-"], b"?").ends(1).says("<stdin>:1");
}

#[test]
fn every_pass_can_be_dumped() {
    let place = Place::new().with("a.str", COUNT);
    let refused = place.run(&["check", "a.str", "--dump-after", "nonsense"]).ends(2);
    let (_, names) = refused.stderr.split_once("the passes are ").expect("the help names them");
    let names: Vec<&str> = names.trim().split(", ").collect();
    assert!(names.len() > 10, "{names:?}");
    // what a command does not come to leaves it as it is
    let not_there = ["compile-c", "linear", "c-slow", "jit", "software-pipeline", "tiles", "emit-cuda", "disassemble"];
    for name in names {
        let done = place.run(&["build", "a.str", "--emit", "c", "-o", "out.c", "--dump-after", name]).ends(0);
        assert_eq!(place.files().contains(&"out.c".to_string()), not_there.contains(&name), "{name}");
        assert!(!done.text().is_empty() || not_there.contains(&name), "{name}");
        let _ = std::fs::remove_file(place.path("out.c"));
    }
    let kernels = ["run", "a.str", "--target", "cuda", "--emulate", "--dump-after", "emit-cuda"];
    assert!(place.run(&kernels).ends(0).text().contains("SL_KERNEL("));
    // what prints is in no region
    let place = place.with("more.str", "int->int filter More { work pop 1 push 1 { push(pop() + 1); } }");
    let tiles = ["run", "more.str", "--target", "cuda", "--emulate", "--scheme", "fused", "--dump-after", "tiles"];
    assert!(place.run(&tiles).ends(0).text().starts_with("sl_region_0: tiles of "));
    let slow = "int->int filter A { int n; work pop 1 push 1 { n += pop(); push(n); } }";
    let place = place.with("slow.str", slow);
    let done = place.run(&["build", "slow.str", "--emit", "c", "-o", "-", "--streams", "2", "--dump-after", "c-slow"]);
    assert!(done.ends(0).text().starts_with("h0 "));
    let bank = "int->int splitjoin B { split roundrobin; add A; add A; join roundrobin; }";
    let place = place.with("bank.str", format!("{slow}{bank}"));
    let bank = ["build", "bank.str", "--top", "B", "--emit", "c", "-o", "-", "--dump-after", "fold-branches"];
    assert!(place.run(&bank).ends(0).text().starts_with("h0 "));
    let graph = place.run(&["check", "a.str", "--dump-after", "elaborate"]).ends(0);
    assert!(graph.text().starts_with("h0 pipeline "), "{}", graph.text());
    assert!(graph.text().contains("\nc0 n0.0 -> n1.0 int push 1 pop 1\n"), "{}", graph.text());
}

/// Lines that a fix makes end like the others of their file.
#[test]
fn fixes_keep_the_kind_of_line_ends() {
    let program = "void->float filter Source { float n; work push 1 { push(n); n += 1; } }
void->void pipeline Main { add Source; add Reverse; add Sink; }
float->void filter Sink { work pop 1 { println(pop()); } }
float->float filter Reverse {
    float[4] block;
    work push 4 pop 4 {
        for (int i = 0; i < 4; i++) block[i] = pop();
        for (int i = 0; i < 4; i++) push(block[3 - i]);
    }
}
";
    let fixed = |text: &str| {
        let place = Place::new().with("a.str", text);
        place.run(&["check", "a.str", "--fix"]).ends(0).says("[W0232]");
        place.read("a.str")
    };
    let unix = fixed(program);
    assert_ne!(unix, program);
    assert_eq!(fixed(&program.replace('\n', "\r\n")), unix.replace('\n', "\r\n"));
}

/// What usage lines and tips say can be typed.
#[test]
fn usage_and_tips_are_right() {
    let place = Place::new().with("a.str", COUNT);
    for command in ["graph", "report"] {
        place
            .run(&[command, "a.str"])
            .ends(2)
            .says(&format!("Usage: sluice {command} [OPTIONS] --output <FILE> [FILE]..."));
    }
    let done = place.run(&["run", "a.str", "-n", "-1"]).ends(2).says("as in '--option=-1'");
    assert!(!done.stderr.contains("-- -1"), "{}", done.stderr);
    place.run(&["run", "a.str", "--iterations=-1"]).ends(2).says("invalid value '-1'");
    place.run(&["run", "a.str", "--nothing"]).ends(2).says("unexpected argument '--nothing'");
    place.run(&["build", "a.str", "-o", "a"]).ends(0);
    let help = std::process::Command::new(place.path("a")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    assert!(help.contains("[options]\n\n  --input") && !help.contains("\n\n\n"), "{help}");
}
