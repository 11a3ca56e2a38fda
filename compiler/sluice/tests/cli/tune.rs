//! `sluice tune`, and who compiles the way that it found.

use crate::support::*;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

const PROGRAM: &str = "\
int->int filter Scale {
    work pop 1 push 1 {
        push(pop() * 12345 + 678);
    }
}
";

/// A folder with the program, a cache of its own, and commands that go before those of the system.
struct Own(Place);

impl Own {
    fn new(program: &str) -> Own {
        let place = Place::new().with("a.str", program).with("in.raw", [7u8; 4096]);
        std::fs::create_dir(place.path("bin")).unwrap();
        Own(place)
    }

    /// Puts a command into its folder of commands.
    fn with_command(self, name: &str, text: &str) -> Own {
        let path = self.0.path("bin").join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn run(&self, args: &[&str]) -> Done {
        let mut command = self.0.command(args);
        let path = format!("{}:{}", self.0.path("bin").display(), std::env::var("PATH").unwrap_or_default());
        command.env("SLUICE_CACHE", self.0.own_cache()).env("PATH", path).env_remove("CC");
        finish(command, b"")
    }

    fn tune(&self, more: &[&str]) -> Value {
        let done = self.run(&[&["tune", "a.str", "--seconds", "0.05", "--format", "json"], more].concat()).ends(0);
        serde_json::from_str(done.text()).unwrap_or_else(|e| panic!("{e}: {}", done.text()))
    }

    /// The file that the cache keeps.
    fn kept(&self) -> Option<PathBuf> {
        let files = std::fs::read_dir(self.0.path("cache")).unwrap().flatten().map(|f| f.path());
        files.into_iter().find(|f| f.extension().is_some_and(|e| e == "json"))
    }

    /// How the C compiler is called with these options.
    fn command_line(&self, more: &[&str]) -> String {
        let args = [&["build", "--lib", "a.str", "-o", "liba.so", "--dump-after", "compile-c"], more].concat();
        self.run(&args).ends(0).text().to_string()
    }
}

#[test]
fn the_way_that_is_kept_is_how_the_program_is_compiled() {
    let own = Own::new(PROGRAM);
    let tuned = own.tune(&[]);
    let tried = tuned["tried"].as_array().unwrap();
    assert_eq!(tried[0]["name"], "as usual (cc)");
    assert!(tried.len() >= 3, "loops at least: {tuned}");
    assert!(tried.iter().any(|t| t["way"] == tuned["way"]), "{tuned}");
    assert!(tuned["times"].as_f64().unwrap() >= 0.9, "{tuned}");
    let before = own.run(&["run", "a.str", "--back-end", "cc", "--input", "in.raw"]).ends(0).stdout;

    // whatever was found, another way in its place is the one that is taken
    let path = own.kept().expect("nothing is kept");
    let mut document: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(document["way"], tuned["way"]);
    document["way"] = serde_json::json!({ "compiler": "gcc", "vectors": "bits512", "loops": "unrolled" });
    std::fs::write(&path, document.to_string()).unwrap();
    let line = own.command_line(&[]);
    assert!(line.starts_with("gcc ") && line.contains(" -mprefer-vector-width=512 "), "{line}");
    // other options have not been tuned
    let line = own.command_line(&["--unchecked"]);
    assert!(line.starts_with("cc ") && !line.contains("-mprefer-vector-width"), "{line}");

    own.run(&["tune", "a.str", "--forget"]).ends(0).says("forgotten");
    let line = own.command_line(&[]);
    assert!(line.starts_with("cc ") && !line.contains("-mprefer-vector-width"), "{line}");
    own.run(&["tune", "a.str", "--forget"]).ends(0).says("nothing was kept");
    assert_eq!(own.run(&["run", "a.str", "--back-end", "cc", "--input", "in.raw"]).ends(0).stdout, before);
}

/// A compiler that changes a constant, and is the only other one that there is.
const WRONG: &str = "#!/bin/sh
case \"$*\" in *--version*) echo 'clang version 99'; exit 0 ;; esac
for a in \"$@\"; do case \"$a\" in *.c) sed -i 's/12345/12346/g' \"$a\" ;; esac; done
exec gcc \"$@\"
";

#[test]
fn a_compiler_that_gives_other_bytes_is_out() {
    let own = Own::new(PROGRAM).with_command("clang", WRONG);
    let tuned = own.tune(&[]);
    let clang: Vec<&Value> =
        tuned["tried"].as_array().unwrap().iter().filter(|t| t["way"]["compiler"] == "clang").collect();
    assert!(!clang.is_empty(), "{tuned}");
    for tried in clang {
        assert_eq!((tried["out"].as_str(), tried["seconds"].as_f64()), (Some("gives other bytes"), None), "{tuned}");
    }
    assert_ne!(tuned["way"]["compiler"], "clang");
    let table = own.run(&["tune", "a.str", "--seconds", "0.05"]).ends(0);
    assert!(table.text().lines().any(|l| l.starts_with("clang ") && l.ends_with("-  gives other bytes")), "{table:?}");
}

#[test]
fn a_compiler_that_cannot_compile_is_out() {
    let refuses = "#!/bin/sh\ncase \"$*\" in *--version*) echo 'clang version 99'; exit 0 ;; esac\nexit 1\n";
    let own = Own::new(PROGRAM).with_command("clang", refuses);
    let tuned = own.tune(&[]);
    let out = tuned["tried"].as_array().unwrap().iter().find(|t| t["way"]["compiler"] == "clang").unwrap();
    assert!(out["out"].as_str().is_some_and(|why| why.contains("cannot compile")), "{tuned}");
}

#[test]
fn input_is_made_that_the_program_takes() {
    // most ints are beyond the end of its table
    let own = Own::new(
        "int->int filter Choose {\n    int[2] t = {3, 5};\n    work pop 1 push 1 {\n        push(t[pop()]);\n    }\n}\n",
    );
    assert!(own.tune(&[])["times"].as_f64().unwrap() >= 0.9);
    // and where no ints will do, the fault is told
    let own = Own::new(
        "int->int filter Divide {\n    work pop 1 push 1 {\n        int x = pop();\n        push(x / (x - x));\n    }\n}\n",
    );
    own.run(&["tune", "a.str"]).ends(1).says("division by zero");
}

#[test]
fn programs_that_end_by_themselves_and_files_that_are_given() {
    let own = Own::new(
        "void->void pipeline Main {\n    add Count;\n    add Print;\n}\nvoid->int filter Count {\n    int n;\n    work push 1 {\n        push(n++);\n    }\n}\nint->void filter \
         Print {\n    work pop 64 {\n        println(pop());\n    }\n}\n",
    );
    assert!(own.tune(&[])["times"].as_f64().unwrap() >= 0.9);
    let own = Own::new(PROGRAM);
    own.tune(&["--input", "in.raw"]);
    own.run(&["tune", "a.str", "--input", "no.raw"]).ends(3).says("no.raw");
    own.run(&["tune", "a.str", "--input", "-"]).ends(2).says("name a file with --input");
}

#[test]
fn who_cannot_be_tuned_is_told_why() {
    let own = Own::new(PROGRAM);
    let mut command = own.0.command(&["tune", "-"]);
    command.env("SLUICE_CACHE", own.0.path("cache"));
    finish(command, PROGRAM.as_bytes()).ends(2).says("a program that is in no file cannot be tuned");
    let own = Own::new(
        "native Own {\n    float f(float x);\n}\nfloat->float filter Call {\n    work pop 1 push 1 {\n        push(Own.f(pop()));\n    }\n}\n",
    );
    own.run(&["tune", "a.str"]).ends(1).says("native functions");
}
