//! Native functions: C that comes with a program, in every product and at every level; what is missing or wrong is said in the program's terms.

use crate::support::*;
use std::path::Path;
use std::process::Command;

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/run");

/// Programs of the corpus with native functions, and their C sources.
const CORPUS: [(&str, &[&str]); 4] = [
    ("native_types", &["native_types.c"]),
    ("native_arrays", &["native_arrays.c"]),
    ("native_order", &["native_order.c", "native_order_more.c"]),
    ("native_dynamic", &["native_dynamic.c"]),
];

/// A program of the corpus with its files, and what it prints.
fn corpus(name: &str, sources: &[&str]) -> (Place, String) {
    let mut place = Place::new();
    for file in sources.iter().map(|s| s.to_string()).chain([format!("{name}.str"), format!("{name}.h")]) {
        place = place.with(&file, std::fs::read(Path::new(PROGRAMS).join(&file)).unwrap());
    }
    (place, std::fs::read_to_string(Path::new(PROGRAMS).join(format!("{name}.expect"))).unwrap())
}

/// Runs a program that is not sluice in the folder; it must end well. Gives its output.
#[track_caller]
fn tool(place: &Place, program: &str, arguments: &[&str]) -> String {
    let out = Command::new(program).args(arguments).current_dir(place.path(".")).output();
    let out = out.unwrap_or_else(|e| panic!("{program}: {e}"));
    assert!(out.status.success(), "{program} {arguments:?}:\n{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

const HALF: &str = "native Signal { float half(float x); }
float->float filter Halve { work pop 1 push 1 { push(Signal.half(pop())); } }
";
const HALF_C: &str = "float half(float x) { return x / 2; }\n";

/// Interpreted, compiled at every level, and as products of `build`.
#[track_caller]
fn every_way(number: usize) {
    let (name, sources) = CORPUS[number];
    let (place, want) = corpus(name, sources);
    let program = format!("{name}.str");
    let native: Vec<&str> = sources.iter().flat_map(|s| ["--native", *s]).collect();
    let with = |first: &[&str], last: &[&str]| {
        let arguments: Vec<&str> = [first, &[program.as_str()], &native, last].concat();
        place.run(&arguments).ends(0)
    };
    let ways: [&[&str]; 8] = [
        &["-O0"],
        &["-O1"],
        &["-O2"],
        &["-O3"],
        &["-O0", "--interpret"],
        &["-O3", "--interpret"],
        &["-O0", "--schedule", "minimum-latency"],
        &["-O1", "--unchecked", "--debug"],
    ];
    for way in ways {
        let done = with(&["run"], &[way, &["-n", "3"]].concat());
        assert_eq!((done.text(), done.stderr.as_str()), (want.as_str(), ""), "{way:?}");
    }
    with(&["build"], &["-O0", "-o", "program"]);
    assert_eq!(tool(&place, "./program", &["-n", "3"]), want);
    // C text, compiled together with the sources
    with(&["build"], &["--emit", "c", "-o", "program.c"]);
    let flags = ["-O0", "-std=gnu11", "-ffp-contract=off", "-fwrapv", "program.c"];
    tool(&place, "cc", &[&flags, sources, &["-lm", "-o", "by-hand"]].concat());
    assert_eq!(tool(&place, "./by-hand", &["-n", "3"]), want);
    with(&["check"], &[]);
}

#[test]
fn types_in_every_way() {
    every_way(0);
}

#[test]
fn arrays_in_every_way() {
    every_way(1);
}

#[test]
fn order_in_every_way() {
    every_way(2);
}

#[test]
fn headers_are_c_and_cpp() {
    for (name, sources) in CORPUS {
        let (place, _) = corpus(name, sources);
        place.run(&["build", &format!("{name}.str"), "--emit", "native-header", "-o", "new.h"]).ends(0);
        let made = std::fs::read_to_string(place.path("new.h")).unwrap();
        let kept = std::fs::read_to_string(place.path(&format!("{name}.h"))).unwrap();
        // but for the guard, which is named after the file
        let guard = format!("SLUICE_{}_H", name.to_uppercase());
        assert_eq!(made.replace("SLUICE_NEW_H", &guard), kept, "{name}.h: write it again with --emit native-header");
        for (compiler, language) in
            [("cc", "-std=c99"), ("cc", "-std=c11"), ("c++", "-std=c++11"), ("c++", "-std=c++17")]
        {
            if compiler == "c++" && Command::new("c++").arg("--version").output().is_err() {
                sluice_skipped::skipped("there is no C++ compiler: headers of native functions are not read by it");
                continue;
            }
            let kind = if compiler == "cc" { "c" } else { "c++" };
            let strict =
                ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-pragma-once-outside-header", "-fsyntax-only"];
            tool(&place, compiler, &[&strict[..], &[language, "-x", kind, "new.h"]].concat());
        }
        for source in sources {
            tool(&place, "cc", &["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-c", source, "-o", "x.o"]);
        }
    }
}

#[test]
fn words_of_c_are_no_names_in_headers() {
    let program = "struct union { int class; float[2] register; int class_; }
struct union_ { int x; }
native Odd { union pick(union union, int int32_t, float[0] new, union_[3] long); int plain(); }
void->void filter Main { work { println(Odd.plain()); } }
";
    let place = Place::new().with("a.str", program);
    let header = place.run(&["build", "a.str", "--emit", "native-header", "-o", "-"]).ends(0);
    let header = header.text();
    assert!(
        header.contains(
            "struct union__ pick(struct union__ union_, int32_t int32_t_, float *new_, struct union_ long_[3]);"
        ),
        "{header}"
    );
    assert!(
        header.contains("struct union__ {\n    int32_t class__;\n    float register_[2];\n    int32_t class_;\n};"),
        "{header}"
    );
    let place = place.with("a.h", header);
    tool(&place, "cc", &["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-x", "c", "a.h"]);
    // the same file is written without -o, and twice the same
    place.run(&["build", "a.str", "--emit", "native-header"]).ends(0);
    assert_eq!(std::fs::read_to_string(place.path("a-native.h")).unwrap(), header);
    place.run(&["build", "a.str", "--emit", "native-header", "-o", "no/such/folder.h"]).ends(3);
    let none = Place::new().with("b.str", COUNT);
    none.run(&["build", "b.str", "--emit", "native-header"]).ends(1).says("declares no native functions");
    assert_eq!(none.files(), ["b.str"]);
}

#[test]
fn objects_archives_and_shared_libraries() {
    let place = Place::new().with("a.str", HALF).with("half.c", HALF_C);
    std::fs::create_dir(place.path("lib")).unwrap();
    tool(&place, "cc", &["-O1", "-fPIC", "-c", "half.c", "-o", "half.o"]);
    tool(&place, "ar", &["rcs", "libhalf.a", "half.o"]);
    tool(&place, "cc", &["-O1", "-fPIC", "-shared", "half.c", "-Wl,-soname,libhalf2.so", "-o", "lib/libhalf2.so"]);
    tool(&place, "cc", &["-O1", "-fPIC", "-shared", "half.c", "-o", "lib/unnamed.so"]);
    let ways: [&[&str]; 6] = [
        &["--native", "half.c"],
        &["--native", "half.o"],
        &["--native", "libhalf.a"],
        &["--native", "lib/libhalf2.so"],
        &["--native", "lib/unnamed.so"],
        &["--native-lib", "half2", "--native-path", "lib"],
    ];
    for way in ways {
        for interpret in [&[][..], &["--interpret"]] {
            let done = place.run_with(&[&["run", "a.str", "-O0"], way, interpret].concat(), &floats(&[3.0, -1.0]));
            assert_eq!(done.ends(0).stdout, floats(&[1.5, -0.5]), "{way:?}");
        }
        place.run(&[&["build", "a.str", "-O0", "-o", "program"], way].concat()).ends(0);
        let mut command = Command::new(place.path("program"));
        command.current_dir("/");
        let pipe = std::process::Stdio::piped;
        command.stdin(pipe()).stdout(pipe()).stderr(pipe());
        assert_eq!(finish(command, &floats(&[5.0])).ends(0).stdout, floats(&[2.5]), "{way:?}");
    }
}

#[test]
fn a_library_with_native_functions_in_it() {
    let place = Place::new().with("a.str", HALF).with("half.c", HALF_C);
    place.run(&["build", "--lib", "a.str", "--native", "half.c", "-o", "libhalves.so"]).ends(0);
    let user = "#include \"halves.h\"\n#include <stdio.h>\nint main(void) { halves *p = halves_create(); float x = 7;\n\
        halves_push_input(p, &x, 1); halves_end_input(p); while (halves_pull_output(p, &x, 1) == 1) printf(\"%f\\n\", x);\n\
        halves_destroy(p); return 0; }\n";
    let place = place.with("user.c", user);
    tool(&place, "cc", &["user.c", "-L.", "-lhalves", "-Wl,-rpath,.", "-o", "user"]);
    assert_eq!(tool(&place, "./user", &[]), "3.500000\n");
}

#[test]
fn what_changes_is_compiled_again() {
    let place = Place::new().with("a.str", HALF).with("scale.h", "#define SCALE 2\n");
    let place = place.with(
        "half.c",
        "#include \"scale.h\"\n#ifndef BY\n#define BY 1\n#endif\nfloat half(float x) { return x / SCALE * BY; }\n",
    );
    let gives = |flags: &[&str], want: f32| {
        for interpret in [&[][..], &["--interpret"]] {
            let done =
                place.run_with(&[&["run", "a.str", "--native", "half.c"], flags, interpret].concat(), &floats(&[8.0]));
            assert_eq!(done.ends(0).stdout, floats(&[want]), "{flags:?}");
        }
    };
    gives(&[], 4.0);
    std::fs::write(place.path("scale.h"), "#define SCALE 4\n").unwrap();
    gives(&[], 2.0);
    gives(&["--native-flag=-DBY=3"], 6.0);
    gives(&["--native-flag", "-DBY=5"], 10.0);
    std::fs::create_dir(place.path("include")).unwrap();
    std::fs::rename(place.path("scale.h"), place.path("include/scale.h")).unwrap();
    gives(&["--native-path", "include"], 2.0);
    place.run(&["run", "a.str", "--native", "half.c"]).ends(1).says("half.c does not compile").says("scale.h");
    // objects too
    for (by, want) in [("7", 14.0), ("9", 18.0)] {
        let define = format!("-DBY={by}");
        tool(&place, "cc", &["-Iinclude", "-fPIC", &define, "-c", "half.c", "-o", "half.o"]);
        let done = place.run_with(&["run", "a.str", "--native", "half.o"], &floats(&[8.0]));
        assert_eq!(done.ends(0).stdout, floats(&[want]));
    }
}

#[test]
fn what_is_missing_is_named() {
    let place = Place::new().with("a.str", HALF).with("empty.c", "int nobody_calls_this;\n");
    for interpret in [&[][..], &["--interpret"]] {
        let done = place.run(&[&["run", "a.str"], interpret].concat()).ends(1);
        let done = done.says("[E0910]").says("`Signal.half` is missing").says("a.str:1:23").says("--native FILE");
        assert!(!done.stderr.contains("undefined"), "{}", done.stderr);
        let done = place.run(&[&["run", "a.str", "--native", "empty.c"], interpret].concat()).ends(1);
        done.says("[E0910]").says("none of the native files defines `half`");
    }
    for product in [&["-o", "program"][..], &["--lib", "-o", "libprogram.so"]] {
        place.run(&[&["build", "a.str"], product].concat()).ends(1).says("[E0910]");
    }
    assert_eq!(place.files(), ["a.str", "empty.c"]);
    let json = place.run(&["run", "a.str", "--message-format", "json"]).ends(1);
    assert!(json.stderr.contains("\"E0910\""), "{}", json.stderr);
    // what the native code itself needs
    let place = place.with("half.c", "float other(float);\nfloat half(float x) { return other(x); }\n");
    place
        .run(&["run", "a.str", "--native", "half.c"])
        .ends(1)
        .says("cannot be linked")
        .says("`other` is in none of the files");
    // a C file without the header, in C++: the name is another one
    let place = place.with("half.cpp", HALF_C);
    place.run(&["run", "a.str", "--native", "half.cpp"]).ends(2).says("half.cpp is no C source").says("extern \"C\"");
    place.run(&["run", "a.str", "--native", "gone.c"]).ends(3).says("gone.c").says("no such file");
    place.run(&["check", "a.str", "--native", "gone.c"]).ends(3).says("gone.c");
    place.run(&["run", "a.str", "--native", "a.str"]).ends(2).says("a.str is no native code");
    place.run(&["run", "a.str", "--native", "half.c", "--native-path", "gone"]).ends(3).says("gone");
    place.run(&["run", "a.str", "--native-lib", "no_such_library"]).ends(1).says("no_such_library");
}

#[test]
fn wrong_c_is_refused() {
    let place = Place::new().with("a.str", HALF);
    place.run(&["build", "a.str", "--emit", "native-header", "-o", "half.h"]).ends(0);
    // a definition that is not what the program declares
    let place = place.with("half.c", "#include \"half.h\"\ndouble half(double x) { return x / 2; }\n");
    for interpret in [&[][..], &["--interpret"]] {
        let done = place.run(&[&["run", "a.str", "--native", "half.c"], interpret].concat()).ends(1);
        done.says("half.c does not compile").says("conflicting types").says("half.c:2:8");
    }
    // the program has changed since the header was written
    let place = place
        .with("a.str", HALF.replace("half(float x)", "half(double x)"))
        .with("half.c", format!("#include \"half.h\"\n{HALF_C}"));
    place.run(&["run", "a.str", "--native", "half.c"]).ends(1).says("the program declares half with other types");
    place.run(&["build", "a.str", "--emit", "native-header", "-o", "half.h"]).ends(0);
    place.run(&["run", "a.str", "--native", "half.c"]).ends(1).says("conflicting types");
    let place = place.with("half.c", "#include \"half.h\"\nfloat half(double x) { return x / 2; }\n");
    assert_eq!(place.run_with(&["run", "a.str", "--native", "half.c"], &floats(&[3.0])).ends(0).stdout, floats(&[1.5]));
    // two definitions
    let place = place.with("again.c", "float half(double x) { return x; }\n");
    place
        .run(&["run", "a.str", "--native", "half.c", "--native", "again.c"])
        .ends(1)
        .says("cannot be linked")
        .says("multiple definition");
    // a warning is passed on where the file is compiled (and not taken from the cache of an earlier test run), and is no fault
    let fresh = format!("--native-flag=-DTEST_RUN={}", std::process::id());
    let place = place.with("half.c", "#warning look here\nfloat half(double x) { return x / 2; }\n");
    place.run(&["run", "a.str", "--native", "half.c", &fresh]).ends(0).says("half.c").says("look here");
}

#[test]
fn without_a_c_compiler_nothing_native_runs() {
    let place = Place::new().with("a.str", HALF).with("half.c", HALF_C);
    for interpret in [&[][..], &["--interpret"]] {
        let mut command = place.command(&[&["run", "a.str", "--native", "half.c"], interpret].concat());
        command.env("CC", "/no/such/compiler");
        let done = finish(command, b"").ends(3).says("C compiler");
        assert!(interpret.is_empty() || !done.stderr.contains("works without"), "{}", done.stderr);
    }
    // a program that calls none needs none
    let place = place.with("b.str", COUNT);
    let mut command = place.command(&["run", "b.str", "-n", "1", "--interpret", "--native", "half.c"]);
    command.env("CC", "/no/such/compiler");
    assert_eq!(finish(command, b"").ends(0).text(), "0\n");
}

#[test]
fn names_that_the_c_library_has() {
    // of another type than there: the program's own is called
    let program =
        "native Own { int index(int x); float gamma(float x); int y1(int x); int linux(int x); int isnan(int x); }
void->void filter Main { work {
    println(Own.index(3) + \" \" + Own.gamma(2.5) + \" \" + Own.y1(4) + \" \" + Own.linux(5) + \" \" + Own.isnan(6));
} }
";
    let own = "int index(int x) { return x + 1; }\nfloat gamma(float x) { return x * 2; }\nint y1(int x) { return x * 3; }\n\
        #undef linux\nint linux(int x) { return -x; }\nint isnan(int x) { return x * x; }\n";
    let place = Place::new().with("a.str", program).with("own.c", own);
    for interpret in [&[][..], &["--interpret"], &["-O0"]] {
        let done =
            place.run(&[&["run", "a.str", "-n", "1", "--native", "own.c", "--native-flag=-w"], interpret].concat());
        assert_eq!(done.ends(0).text(), "4 5.000000 12 -5 36\n", "{interpret:?}");
    }
    tool(&place, "cc", &["-w", "-shared", "-fPIC", "own.c", "-o", "libown.so"]);
    for interpret in [&[][..], &["--interpret"]] {
        let done = place.run(&[&["run", "a.str", "-n", "1", "-O0", "--native", "libown.so"], interpret].concat());
        assert_eq!(done.ends(0).text(), "4 5.000000 12 -5 36\n", "{interpret:?}");
    }
}

#[test]
fn a_batch_with_native_calls_is_not_run_again() {
    // the native function counts its calls; a fault ends the run in the midst of a batch
    let program = "native Log { void note(int x); int noted(); }
void->int filter Source { int n; work push 1 { Log.note(n); push(n++); } }
int->int filter Check { int[1000] a; work pop 1 push 1 { int x = pop(); push(a[x] + x); } }
int->void filter Sink { work pop 1 { int x = pop(); if (x % 100 == 99) println(x + 1 <= Log.noted()); } }
void->void pipeline Main { add Source; add Check; add Sink; }
";
    let log = "#include <stdio.h>\nstatic int last = -1;\nvoid note(int x) { if (x <= last) fprintf(stderr, \"again %d\\n\", x); last = x; }\n\
        int noted(void) { return last + 1; }\n";
    let place = Place::new().with("a.str", program).with("log.c", log);
    for interpret in [&[][..], &["--interpret"], &["--schedule", "minimum-latency"]] {
        let done = place.run(&[&["run", "a.str", "--native", "log.c"], interpret].concat()).ends(1);
        assert!(!done.stderr.contains("again"), "{}", done.stderr);
        let done = done.says("[E0950]").says("Main.Check").says("index 1000 is outside");
        // what came before the fault may end earlier than where one firing runs after the other
        assert!("true\n".repeat(10).starts_with(done.text()), "{}", done.text());
        assert!(interpret != ["--interpret"] || done.text() == "true\n".repeat(10), "{}", done.text());
    }
}

#[test]
fn filters_with_native_calls_count_as_stateful() {
    let place = Place::new().with("a.str", HALF);
    let json = place.run(&["rates", "a.str", "--format", "json"]).ends(0);
    let json: serde_json::Value = serde_json::from_str(json.text()).unwrap();
    let streams = json["streams"].as_array().unwrap();
    assert!(streams.iter().any(|s| s["kind"] == "filter" && s["state"] == true), "{json}");
    // and may say so
    let place = place.with("b.str", HALF.replace("float->float filter", "float->float stateful filter"));
    assert_eq!(place.run(&["check", "b.str"]).ends(0).stderr, "");
}

#[test]
fn attempts_call_once() {
    // a firing that waits for items, is begun again, and grows its output's buffer; a message makes it another firing
    let program = "native Log { int note(int x, int[1] a); }
int->int filter Runs {
    int[1] a;
    int n;
    work pop * push * {
        n++;
        int k = Log.note(pop(), a);
        for (int i = 0; i < k % 97; i++) {
            int x = pop();
            for (int j = 0; j < 3; j++)
                push(Log.note(x, a) + a[0]);
        }
        push(n);
    }
}
";
    let log = "static int n;\nint note(int x, int a[1]) { n++; a[0] = a[0] * 3 + x; return n; }\n";
    let input: Vec<u8> = (0..20000).flat_map(|i: i32| (i * 7 % 1001).to_le_bytes()).collect();
    let place = Place::new().with("a.str", program).with("log.c", log);
    let run = |flags: &[&str]| {
        place.run_with(&[&["run", "a.str", "--native", "log.c"], flags].concat(), &input).ends(0).stdout
    };
    let want = run(&["--interpret"]);
    assert!(want.len() > 100_000, "{}", want.len());
    for flags in [&["-O0"][..], &["-O3"]] {
        assert!(run(flags) == want, "{flags:?}");
    }
    // bit by bit: every item begins an attempt
    let mut slow = place.command(&["run", "a.str", "--native", "log.c", "-O0"]).spawn().unwrap();
    let mut stdin = slow.stdin.take().unwrap();
    for piece in input[..4000].chunks(52) {
        std::io::Write::write_all(&mut stdin, piece).unwrap();
        std::io::Write::flush(&mut stdin).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    drop(stdin);
    let out = slow.wait_with_output().unwrap();
    assert!(!out.stdout.is_empty() && want.starts_with(&out.stdout), "{} bytes", out.stdout.len());
}

/// A file that is not there is missed, whether the program calls a native function or not.
#[test]
fn files_that_are_not_there() {
    let place = Place::new().with("a.str", COUNT);
    let lines: [&[&str]; 7] = [
        &["check"],
        &["run", "-n", "1"],
        &["run", "-n", "1", "--interpret"],
        &["build", "-o", "a"],
        &["build", "--lib", "-o", "liba.so"],
        &["build", "--emit", "c", "-o", "a.c"],
        &["profile", "-n", "1"],
    ];
    for line in lines {
        let done = place.run(&[&[line[0], "a.str", "--native", "none.c"], &line[1..]].concat());
        done.ends(3).says("cannot read none.c: no such file");
        place.run(&[&[line[0], "a.str", "--native", "a.h"], &line[1..]].concat()).ends(2).says("is a header");
    }
    assert_eq!(place.files(), ["a.str"]);
}
