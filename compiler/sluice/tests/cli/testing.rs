//! `sluice test`: what passes, what fails and how that looks, what `--bless` writes.

use crate::support::*;

/// `float->float`, printing nothing.
const HALF: &str = "float->float filter Half { work pop 1 push 1 { push(pop() / 2); } }\n";

/// A project with this program, and nothing to test yet.
fn project(program: &str) -> Place {
    Place::new().with("sluice.toml", "").with("src/main.str", program)
}

/// Its tests pass.
#[track_caller]
fn passes(place: &Place) {
    place.run(&["test"]).ends(0);
}

/// One test fails, and that is what is said of it.
#[track_caller]
fn fails(place: &Place, arguments: &[&str], wanted: &str) {
    let done = place.run(&[&["test"], arguments].concat()).ends(1);
    assert_eq!(done.text(), wanted, "{}", done.stderr);
}

#[test]
fn tests_without_a_description() {
    // items in, items out, in the formats of the files' names
    let place = project(HALF)
        .with("tests/text.in.txt", "1 2 # three\n3")
        .with("tests/text.out.txt", "0.5, 1.0, 1.5")
        .with("tests/deep/er/bytes.in.f32", floats(&[8.0, -1.0]))
        .with("tests/deep/er/bytes.out.f32", floats(&[4.0, -0.5]))
        .with("tests/mixed ü.in.i16", [2, 0, 4, 0])
        .with("tests/mixed ü.out.f64", [1.0f64.to_le_bytes(), 2.0f64.to_le_bytes()].concat())
        .with("tests/_not_one.in.txt", "1")
        .with("tests/data.bin", "neither");
    let done = place.run(&["test"]).ends(0);
    assert_eq!(done.text(), "deep/er/bytes ... ok\nmixed ü ... ok\ntext ... ok\n\n3 passed; 0 failed\n");
    // programs of the tests, beside an entry that is closed, too
    let both = format!(
        "{HALF}void->void pipeline Main {{ add Ones; add Half; add Show; }}
void->float filter Ones {{ work push 1 {{ push(1); }} }}
float->void filter Show {{ work pop 1 {{ println(pop()); }} }}"
    );
    let own = "import \"../src/main.str\";
void->void pipeline Test { add Ones; add Half; add Half; add Show; }";
    let place = project(&both)
        .with("tests/twice.str", own)
        .with("tests/twice.out", "0.250000\n0.250000\n")
        .with("sluice.toml", "[test]\niterations = 2\n")
        .with("tests/main.out", "0.500000\n0.500000\n");
    assert_eq!(place.run(&["test"]).ends(0).text(), "main ... ok\ntwice ... ok\n\n2 passed; 0 failed\n");
    // an input for a test's program that prints
    let place = place
        .with("tests/show.str", "import \"../src/main.str\"; float->void pipeline P { add Half; add Show; }")
        .with("tests/show.in.txt", "1 2 3")
        .with("tests/show.toml", "iterations = 9")
        .with("tests/show.out", "0.500000\n1.000000\n1.500000\n");
    assert!(place.run(&["test", "show"]).ends(0).text().ends_with("1 passed; 0 failed\n"));
}

#[test]
fn items_that_differ() {
    let place = project(HALF)
        .with("tests/a.in.txt", "1 2 3 4 5 6 7 8 9 10 11 12")
        .with("tests/a.out.txt", "0.5 1.0 1.5 2.0 2.5 3.0 3.75 4.0 4.5 5.0 5.5 6.5");
    let wanted = "a ... FAILED
  output: 2 of 12 items differ (tests/a.out.txt)
    largest error 0.5 (item 12), largest relative error 0.076923 (item 12)
       item  expected  got
          5       2.5  2.5
          6       3.0  3.0
    >     7      3.75  3.5   off by 0.25
          8       4.0  4.0
          9       4.5  4.5
         10       5.0  5.0
         11       5.5  5.5
    >    12       6.5  6.0   off by 0.5

0 passed; 1 failed
";
    fails(&place, &[], wanted);
    let place = place.with("tests/a.out.txt", "0.5 1 1.5");
    let wanted = "a ... FAILED
  output: 3 items expected, 12 came (tests/a.out.txt)
       item  expected  got
          2       1.0  1.0
          3       1.5  1.5
    >     4         -  2.0
    >     5         -  2.5
    >     6         -  3.0
    >     7         -  3.5
    >     8         -  4.0
    >     9         -  4.5

0 passed; 1 failed
";
    fails(&place, &["--back-end", "native"], wanted);
    let place = place.with("tests/a.out.txt", "0.5 one");
    let wanted = "a ... FAILED
  tests/a.out.txt, line 1: `one` is not a number

0 passed; 1 failed
";
    fails(&place, &["--back-end", "interpret"], wanted);
    let place = place.with("tests/a.out.txt", "").with("tests/a.in.txt", "");
    passes(&place);
}

#[test]
fn lines_that_differ() {
    let place = project(COUNT)
        .with("tests/count.toml", "iterations = 8")
        .with("tests/count.out", "0\n1\n2\n3\nfour\n5\n6\n7\n8\n");
    let wanted = "count ... FAILED
  what it prints: 2 lines missing, 1 unexpected, from line 5 on (tests/count.out)
         2   1
         3   2
         4   3
         5 - four
         5 + 4
         6   5
         7   6
         8   7
         9 - 8

0 passed; 1 failed
";
    fails(&place, &[], wanted);
    // numbers in a text may be close
    let place = place
        .with("tests/count.toml", "iterations = 2\ntolerance = { absolute = 0.5 }")
        .with("tests/count.out", "0.4\n1.4\n");
    passes(&place);
}

#[test]
fn items_of_several_numbers_and_of_several_kinds() {
    let program = "struct Point { int x; boolean on; double[2] at; }
int->Point filter Make { work pop 1 push 1 { Point p; p.x = pop(); p.on = p.x > 1; p.at[1] = 0.5; push(p); } }";
    let mut bytes = Vec::new();
    for (x, on, at) in [(1i32, 0u8, 0.5f64), (2, 1, 0.25)] {
        bytes.extend(x.to_le_bytes());
        bytes.push(on);
        bytes.extend(0f64.to_le_bytes());
        bytes.extend(at.to_le_bytes());
    }
    let place = project(program).with("tests/p.in.txt", "1 2").with("tests/p.out.raw", &bytes);
    let wanted = "p ... FAILED
  output: 1 of 2 items differs (tests/p.out.raw)
    largest error 0.25 (item 2), largest relative error 1 (item 2)
       item                   expected                       got
          1  {1, false, 0.0, 0.5}  {1, false, 0.0, 0.5}
";
    let done = place.run(&["test"]).ends(1);
    let squeezed = |t: &str| t.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(squeezed(done.text()).starts_with(&squeezed(wanted)), "{}", done.text());
    assert!(
        squeezed(done.text()).contains("> 2 {2, true, 0.0, 0.25} {2, true, 0.0, 0.5} off by 0.25"),
        "{}",
        done.text()
    );
    let complex = "float->complex filter C { work pop 1 push 1 { complex c; c.real = pop(); push(c); } }";
    let place = project(complex).with("tests/c.in.txt", "1 2").with("tests/c.out.c64", floats(&[1.0, 0.0, 2.0, 1.0]));
    assert!(place.run(&["test"]).ends(1).text().contains(">     2  (2.0, 1.0)  (2.0, 0.0)   off by 1\n"));
    let bits = "int->bit filter B { work pop 1 push 1 { push((bit)(pop() & 1)); } }";
    let place = project(bits).with("tests/b.in.txt", "1 0 1 1 0 0 0 0 1").with("tests/b.out.raw", [0xb0, 0x80]);
    passes(&place);
    let place = place.with("tests/b.out.raw", [0xb1, 0x80]);
    assert!(place.run(&["test"]).ends(1).text().contains(">     8         1    0\n"));
}

#[test]
fn sound() {
    let wav = |samples: &[i16], channels: u16, rate: u32| {
        let data: Vec<u8> = samples.iter().flat_map(|s| s.to_le_bytes()).collect();
        let mut wav = b"RIFF".to_vec();
        wav.extend((36 + data.len() as u32).to_le_bytes());
        wav.extend(b"WAVEfmt \x10\0\0\0\x01\0");
        wav.extend(channels.to_le_bytes());
        wav.extend(rate.to_le_bytes());
        wav.extend((rate * u32::from(channels) * 2).to_le_bytes());
        wav.extend((channels * 2).to_le_bytes());
        wav.extend(b"\x10\0data");
        wav.extend((data.len() as u32).to_le_bytes());
        wav.extend(data);
        wav
    };
    let place = project(HALF)
        .with("tests/s.in.wav", wav(&[1000, -2000, 3000, 400], 2, 8000))
        .with("tests/s.out.wav", wav(&[500, -1000, 1500, 200], 2, 8000));
    passes(&place);
    // half a step of 16 bits is no difference to a tolerance
    let place = place.with("tests/s.out.wav", wav(&[500, -1001, 1500, 200], 2, 8000));
    assert!(place.run(&["test"]).ends(1).text().contains("1 of 4 items differs"));
    passes(&place.with("tests/s.toml", "tolerance = { absolute = 0.00004 }"));
    let place =
        project(HALF).with("tests/s.in.wav", wav(&[1000], 1, 8000)).with("tests/s.out.wav", wav(&[500], 1, 44100));
    let said = "output: 44100 samples per second in 1 channel expected, 8000 in 1 channel came";
    assert!(place.run(&["test"]).ends(1).text().contains(said));
    passes(&place.with("tests/s.toml", "rate = 44100"));
}

#[test]
fn tolerances() {
    let same = "float->float filter Same { work pop 1 push 1 { push(pop()); } }";
    let tried = |description: &str, input: &str, output: &str| {
        let place = project(same).with(
            "tests/t.toml",
            format!("{description}\ninput = {{ text = \"{input}\" }}\noutput = {{ text = \"{output}\" }}"),
        );
        place.run(&["test", "--back-end", "interpret"]).code
    };
    for (tolerance, input, output, code) in [
        ("", "NaN inf -inf -0.0", "NaN inf -inf -0.0", 0),
        ("", "0.0", "-0.0", 1),
        ("tolerance = { absolute = 0.0 }", "0.0", "-0.0", 0),
        ("tolerance = { absolute = 1e30, relative = 1e30, ulps = 9 }", "NaN", "1.0", 1),
        ("tolerance = { absolute = 1e30, relative = 1e30, ulps = 9 }", "1.0", "NaN", 1),
        ("tolerance = { absolute = 1e30, relative = 1e30, ulps = 9 }", "inf", "-inf", 1),
        ("tolerance = { absolute = 1e30, relative = 1e30, ulps = 9 }", "inf", "3e38", 1),
        ("tolerance = { absolute = 0.25 }", "1.25", "1.0", 0),
        ("tolerance = { absolute = 0.25 }", "1.2500001", "1.0", 1),
        ("tolerance = { relative = 0.25 }", "-125", "-100", 0),
        ("tolerance = { relative = 0.25 }", "1e-30", "0", 1),
        ("tolerance = { ulps = 1 }", "1.0000001", "1", 0),
        ("tolerance = { ulps = 1 }", "1.0000002", "1", 1),
        ("tolerance = { ulps = 1, relative = 0.001 }", "1.0000002", "1", 0),
    ] {
        assert_eq!(tried(tolerance, input, output), code, "{tolerance} {input} {output}");
    }
}

#[test]
fn faults_that_are_expected() {
    let program = "int->int filter Invert { work pop 1 push 1 { int x = pop(); println(x); push(100 / x); } }";
    let place = project(program)
        .with("tests/zero.toml", "input = { text = \"5 0\" }\nerror = \"E0951\"\nprints = { text = \"5\\n0\\n\" }");
    passes(&place);
    let place = place.with("tests/zero.toml", "input = { text = \"5 0\" }\nexit = 1");
    passes(&place);
    let place = place.with("tests/zero.toml", "input = { text = \"5 1\" }\nerror = \"E0951\"");
    fails(&place, &[], "zero ... FAILED\n  E0951 is expected, but the run ended well\n\n0 passed; 1 failed\n");
    let place = place.with("tests/zero.toml", "input = { text = \"5 0\" }\nerror = \"E0950\"");
    let done = place.run(&["test"]).ends(1);
    assert!(done.text().contains("E0950 is expected, but E0951 was reported") && done.text().contains("firing 2"));
    // nothing expected of the kind: the message is shown, once for both ways of running
    let place = place.with("tests/zero.toml", "input = { text = \"5 0\" }\noutput = { text = \"20\" }");
    let done = place.run(&["test"]).ends(1);
    assert!(
        done.text().contains(
            "  the program is at fault (exit code 1)\n    [E0951] Error: Invert, firing 2: division by zero\n"
        ),
        "{}",
        done.text()
    );
    assert_eq!(done.text().matches("E0951").count(), 1);
    // at compile time
    let place = project("void->void pipeline P { add Nothing; }").with("tests/no.toml", "error = \"E0103\"");
    passes(&place);
    let place = project(HALF).with("tests/bad.in.txt", "1 x").with("tests/bad.toml", "exit = 3");
    passes(&place);
    let place = place.with("tests/bad.toml", "exit = 2");
    assert!(place.run(&["test"]).ends(1).text().contains("the exit code 2 is expected, 3 came"));
}

#[test]
fn a_program_that_never_ends() {
    let program = "int->int filter Stuck { work pop 1 push 1 { int x = pop(); while (x > 0) { x = 1; } push(x); } }";
    let place = project(program)
        .with("sluice.toml", "[test]\ntimeout = 0.5\n")
        .with("tests/a.toml", "timeout = 60")
        .with("tests/a.in.txt", "0")
        .with("tests/a.out.txt", "0")
        .with("tests/b.in.txt", "1")
        .with("tests/b.out.txt", "1");
    let wanted = "a ... ok
b ... FAILED
  the run had not ended after 0.5 s; `timeout` sets another limit

1 passed; 1 failed
";
    fails(&place, &[], wanted);
    let closed = project(COUNT).with("tests/c.out", "0\n");
    assert!(closed.run(&["test"]).ends(1).text().contains("no input whose end could end it"));
    let place =
        project("void->void filter Loud { work { println(\"a line that comes again and again and again\"); } }");
    let place = place.with("tests/l.toml", "iterations = 1000000000").with("tests/l.out", "x");
    let done = place.run(&["test", "--back-end", "native"]).ends(1);
    assert!(done.text().contains("put out more than 64 MiB; `iterations` limits it"), "{}", done.text());
}

#[test]
fn a_program_that_crashes() {
    let program = "int->int filter Wild { int[4] a; work pop 1 push 1 { a[pop()] = 1; push(a[0]); } }";
    let place = project(program)
        .with("tests/w.in.txt", "1 1000000000")
        .with("tests/w.toml", "back-end = \"native\"\n[build]\nunchecked = true\n")
        .with("tests/w.out.txt", "0");
    let done = place.run(&["test"]).ends(1);
    assert!(done.text().contains("the run crashed (a segmentation fault, signal 11)"), "{}", done.text());
    let only = place.run(&["test", "--back-end", "interpret"]).ends(0);
    assert_eq!(only.text(), "w ... skipped\n  it says `back-end = \"native\"`\n\n0 passed; 0 failed; 1 skipped\n");
}

#[test]
fn back_ends_that_disagree() {
    // a C compiler that changes what it is given
    let place = project("int->int filter Add { work pop 1 push 1 { push(pop() + 11223344); } }")
        .with("tests/a.in.txt", "1 2")
        .with("tests/a.out.txt", "11223345 11223346")
        .with(
            "wrong-cc",
            "#!/bin/sh\nfor a in \"$@\"; do case \"$a\" in *.c) sed -i s/11223344/11223355/g \"$a\";; esac; done\nexec cc \"$@\"\n",
        );
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(place.path("wrong-cc"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut c = place.command(&["test", "--bless"]);
    c.env("CC", place.path("wrong-cc")).env("SLUICE_CACHE", place.path("cache"));
    let done = finish(c, b"").ends(1);
    let wanted = "a ... FAILED
  native code does not give the output that the interpreter gives: 2 of 2 items differ
    largest error 11 (item 1), largest relative error 9.801e-7 (item 1)
       item  interpreter    native
    >     1     11223345  11223356   off by 11
    >     2     11223346  11223357   off by 11
    this is a fault of sluice, or of a native function: please report it with the program
  native code: output: 2 of 2 items differ (tests/a.out.txt)
    largest error 11 (item 1), largest relative error 9.801e-7 (item 1)
       item  expected       got
    >     1  11223345  11223356   off by 11
    >     2  11223346  11223357   off by 11

0 passed; 1 failed
";
    assert_eq!(done.text(), wanted);
    assert_eq!(place.read("tests/a.out.txt"), "11223345 11223346", "nothing is blessed");
}

#[test]
fn files_that_programs_read_and_write() {
    let program = "void->void pipeline Main { add FileReader<int>(\"data/in.bin\"); add Twice; add FileWriter<int>(\"out.bin\"); }
int->int filter Twice { work pop 1 push 1 { push(pop() * 2); } }";
    let place = project(program)
        .with("data/in.bin", [1, 0, 0, 0, 2, 0, 0, 0])
        .with("tests/f.toml", "writes = { \"out.bin\" = \"f.bin\" }")
        .with("tests/f.bin", [2, 0, 0, 0, 4, 0, 0, 0]);
    passes(&place);
    assert!(!place.path("out.bin").exists(), "what a test writes stays in the test");
    let place = place.with("tests/f.bin", [2, 0, 0, 0, 5, 0, 0, 0]);
    assert!(
        place.run(&["test"]).ends(1).text().contains("what is written to out.bin: 1 of 2 items differs (tests/f.bin)")
    );
    place.run(&["test", "--bless"]).ends(0);
    passes(&place);
    let place = place.with("tests/f.toml", "writes = { \"other.bin\" = \"f.bin\" }");
    assert!(place.run(&["test"]).ends(1).text().contains("no FileWriter for other.bin; it has out.bin"));
}

#[test]
fn a_test_that_expects_nothing_does_not_pass() {
    let place = project(HALF).with("tests/a.in.txt", "1");
    let said = "nothing is expected of it; `sluice test --bless` writes down what comes, to tests/a.out.txt";
    assert!(place.run(&["test"]).ends(1).text().contains(said));
    let place = project("int->void filter F { work pop 1 { pop(); } }").with("tests/a.in.txt", "1");
    assert!(place.run(&["test"]).ends(1).text().contains("say `exit = 0`"));
    place.run(&["test", "--bless"]).ends(1);
    passes(&place.with("tests/a.toml", "exit = 0"));
    let place = project(HALF).with("tests/a.out.txt", "1");
    assert!(place.run(&["test"]).ends(1).text().contains("the entry has an open input, and the test gives none"));
    let place = project(COUNT).with("tests/a.in.txt", "1").with("tests/a.out.txt", "1");
    assert!(place.run(&["test"]).ends(1).text().contains("the test has an input, but the entry has no open one"));
    let place = project(COUNT).with("tests/a.out.txt", "1").with("tests/a.toml", "iterations = 1");
    assert!(place.run(&["test"]).ends(1).text().contains("the test expects an output, but the entry has no open one"));
}

#[test]
fn bless_writes_what_comes() {
    let program = "float->float filter Half { work pop 1 push 1 { float x = pop(); println(x); push(x / 2); } }";
    let place = project(program)
        .with("tests/new.in.f32", floats(&[1.0, 3.0]))
        .with("tests/old.in.txt", "1 2")
        .with("tests/old.out.txt", "0.5 1.5")
        .with("tests/close.in.txt", "1")
        .with("tests/close.out.txt", "0.5001 # kept")
        .with("tests/close.toml", "tolerance = { absolute = 0.01 }")
        .with(
            "tests/inline.toml",
            "# a remark\ninput = { text = \"2 4\" }\noutput = { text = '''9''' } # another\nprints = { text = \"\" }\n",
        )
        .with("tests/broken.toml", "inptu = 1\n");
    let done = place.run(&["test", "--bless"]).ends(1);
    let wanted = "old ... blessed

wrote tests/inline.toml: 1 of 1 item changed; 1 item before, 2 came
wrote tests/inline.toml: 0 lines gone, 2 new
wrote tests/new.out.f32: new
wrote tests/new.out: new
wrote tests/old.out.txt: 1 of 2 items changed

4 passed; 1 failed
";
    assert!(done.text().ends_with(wanted), "{}", done.text());
    assert!(done.text().contains("broken ... FAILED\n  its description is wrong\n    [E0701]"), "{}", done.text());
    assert_eq!(std::fs::read(place.path("tests/new.out.f32")).unwrap(), floats(&[0.5, 1.5]));
    assert_eq!(place.read("tests/new.out"), "1.000000\n3.000000\n");
    assert_eq!(place.read("tests/old.out.txt"), "0.5\n1.0\n");
    assert_eq!(place.read("tests/close.out.txt"), "0.5001 # kept", "what is close enough stays");
    assert_eq!(
        place.read("tests/inline.toml"),
        "# a remark\ninput = { text = \"2 4\" }\noutput = { text = \"1.0 2.0\" } # another\n\
         prints = { text = \"\"\"\n2.000000\n4.000000\n\"\"\" }\n"
    );
    std::fs::remove_file(place.path("tests/broken.toml")).unwrap();
    passes(&place);
    let again = place.run(&["test", "--bless"]).ends(0);
    assert!(!again.text().contains("wrote"), "{}", again.text());
}

#[test]
fn bless_writes_all_or_nothing() {
    let place = project(HALF)
        .with("tests/a.in.txt", "1")
        .with("tests/a.out.txt", "7")
        .with("tests/b.toml", "input = { text = \"1\" }\noutput = \"/proc/sluice/b.out.txt\"");
    place.run(&["test", "--bless"]).ends(3).says("cannot write /proc/sluice/b.out.txt");
    assert_eq!(place.read("tests/a.out.txt"), "7");
    assert_eq!(std::fs::read_dir(place.path("tests")).unwrap().count(), 3, "nothing is left behind");
    // a folder that cannot be written (root can: then there is nothing to see)
    use std::os::unix::fs::PermissionsExt;
    let place = project(HALF).with("tests/a.in.txt", "1").with("tests/a.out.txt", "7");
    let mode = |m| std::fs::set_permissions(place.path("tests"), std::fs::Permissions::from_mode(m)).unwrap();
    mode(0o555);
    if std::fs::write(place.path("tests/probe"), "").is_err() {
        place.run(&["test", "--bless"]).ends(3).says("cannot write tests/a.out.txt: permission denied");
        assert_eq!(place.read("tests/a.out.txt"), "7");
        assert_eq!(place.run(&["test"]).code, 1, "without --bless nothing needs to be written");
    } else {
        sluice_skipped::skipped("this user may write anywhere: a folder that cannot be written is not seen");
    }
    mode(0o755);
}

#[test]
fn filters_and_order() {
    let mut place = project(HALF);
    for name in ["a", "b/one", "b/two", "c"] {
        place = place.with(&format!("tests/{name}.in.txt"), "1").with(&format!("tests/{name}.out.txt"), "0.5");
    }
    let all = place.run(&["test", "--jobs", "1"]).ends(0);
    assert_eq!(all.text(), "a ... ok\nb/one ... ok\nb/two ... ok\nc ... ok\n\n4 passed; 0 failed\n");
    assert_eq!(place.run(&["test", "--jobs", "4", "--back-end", "interpret"]).ends(0).text(), all.text());
    assert_eq!(place.run(&["test", "tw", "c"]).ends(0).text(), "b/two ... ok\nc ... ok\n\n2 passed; 0 failed\n");
    place.run(&["test", "b/tow"]).ends(2).says("no test has `b/tow` in its name").says("did you mean `b/two`?");
    place.run(&["test", "zzz"]).ends(2).says("there are a, b/one, b/two, c");
    place.run(&["test", "--jobs", "0"]).ends(2);
    let nothing = project(HALF);
    nothing.run(&["test"]).ends(2).says("the project has no tests").says("tests/NAME.in.txt");
    // from elsewhere
    let outer = Place::new().with("p/sluice.toml", "[test]\nfolder = \"checks\"").with("p/main.str", HALF);
    let outer = outer.with("p/checks/x.in.txt", "1").with("p/checks/x.out.txt", "0.5");
    for project in ["p", "p/sluice.toml", "./p/"] {
        assert_eq!(outer.run(&["test", "--project", project]).ends(0).text(), "x ... ok\n\n1 passed; 0 failed\n");
    }
    outer.run(&["test", "--project", "none"]).ends(3);
    outer.run(&["test"]).ends(2);
}

#[test]
fn results_for_tools() {
    let place = project(HALF)
        .with("tests/a.in.txt", "1 2")
        .with("tests/a.out.txt", "0.5 1.5")
        .with("tests/b.toml", "outptu = 1")
        .with("tests/c.in.txt", "1")
        .with("tests/c.toml", "output = { text = \"0.5\" }");
    let done = place.run(&["test", "--message-format", "json"]).ends(1);
    let lines: Vec<serde_json::Value> = done.text().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|l| l["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["test", "test", "diagnostic", "summary", "test", "test-summary"]);
    let failure = &lines[0]["failures"][0];
    assert_eq!((&lines[0]["name"], &lines[0]["status"]), (&"a".into(), &"failed".into()));
    assert_eq!(
        (&failure["kind"], &failure["file"], &failure["back_end"]),
        (&"output".into(), &"tests/a.out.txt".into(), &serde_json::Value::Null)
    );
    let items = serde_json::json!({
        "expected": 2, "got": 2, "differing": 1, "first": 2, "first_expected": "1.5", "first_got": "1.0",
        "largest_error": 0.5, "largest_error_item": 2,
        "largest_relative_error": 0.3333333333333333, "largest_relative_error_item": 2
    });
    assert_eq!(failure["items"], items);
    assert_eq!(lines[2]["code"], "E0701");
    assert_eq!(lines[4], serde_json::json!({"type": "test", "name": "c", "status": "passed", "failures": []}));
    assert_eq!(lines[5], serde_json::json!({"type": "test-summary", "passed": 1, "failed": 2, "skipped": 0}));
    let done = place.run(&["test", "--bless", "--message-format", "json", "a"]).ends(0);
    let written =
        serde_json::json!({"type": "blessed", "file": "tests/a.out.txt", "test": "a", "note": "1 of 2 items changed"});
    assert_eq!(serde_json::from_str::<serde_json::Value>(done.text().lines().nth(1).unwrap()).unwrap(), written);
    place.run(&["run-test"]).ends(2).says("is for `sluice test`");
}

#[test]
fn options_about_code() {
    let program = "float->float filter Sum { work pop 4 push 1 { float s = 0; for (int i = 0; i < 4; i++) s += pop() * 0.1; push(s); } }";
    let place = project(program).with("tests/a.in.txt", "1 2 3 4").with(
        "tests/a.toml",
        "output = { text = \"1\" }\ntolerance = { relative = 1e-5 }\n[build]\nfast-math = true\nlevel = 1",
    );
    passes(&place);
    for options in [&["-O0"][..], &["--schedule", "minimum-latency"], &["--fast-math=false"], &["--unchecked"]] {
        place.run(&[&["test"], options].concat()).ends(0);
    }
    let mut c = place.command(&["test"]);
    c.env("CC", "/no/such/compiler");
    finish(c, b"").ends(3).says("C compiler").says("sluice test --back-end interpret");
    let mut c = place.command(&["test", "--back-end", "interpret"]);
    c.env("CC", "/no/such/compiler");
    finish(c, b"").ends(0);
}

#[test]
fn ctrl_c_ends_the_runs() {
    let program = "int->int filter Stuck { work pop 1 push 1 { while (1 > 0) { } push(pop()); } }";
    let place = project(program).with("tests/a.in.txt", "1").with("tests/a.out.txt", "1").with("tmp/x", "");
    let mut c = place.command(&["test"]);
    c.env("TMPDIR", place.path("tmp"));
    let child = c.spawn().unwrap();
    let started = || {
        let runs = std::fs::read_dir(place.path("tmp")).unwrap();
        runs.flatten().any(|e| e.path().join("started").exists())
    };
    let limit = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !started() && std::time::Instant::now() < limit {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(started(), "the program was not compiled in a minute");
    assert!(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(3), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(String::from_utf8_lossy(&done.stderr).contains("the tests were interrupted"));
    assert_eq!(std::fs::read_dir(place.path("tmp")).unwrap().count(), 1, "only x stays");
}
