//! Libraries whose items go in and out at once: whatever the pieces, the calls and the places in memory, the same output.

use crate::support::*;
use std::process::Command;

/// All of a library's user: two instances, one of which only pushes and pulls.
const USER: &str = include_str!("process.c");

/// What the user of the library of a program of `taken` to `given` says.
fn used(program: &str, taken: &str, given: &str, pieces: &str) -> String {
    let place = Place::new().with("p.str", program).with("user.c", USER);
    place.run(&["build", "--lib", "p.str", "-o", "libp.so"]).ends(0);
    let run = |program: &str, arguments: &[&str]| {
        let out = Command::new(program).args(arguments).current_dir(place.path(".")).output();
        let out = out.unwrap_or_else(|e| panic!("{program}: {e}"));
        assert!(out.status.success(), "{program}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    let types = [format!("-DTAKEN={taken}"), format!("-DGIVEN={given}")];
    let flags = ["-O1", "-g", "-Wall", "-Wextra", "-Werror", "user.c", "-L.", "-lp", "-Wl,-rpath,.", "-o", "user"];
    run("cc", &[&types[0], &types[1]].into_iter().map(String::as_str).chain(flags).collect::<Vec<_>>());
    run("./user", &[pieces])
}

/// Items in many shapes: those that are used where they lie, and those that are copied.
#[test]
fn items_go_in_and_out_at_once() {
    const SUMS: &str = "float->float filter Sums { work pop 2 push 3 peek 5 { float a = pop(); push(a); push(peek(2)); push(a + pop()); } }
float->float pipeline Main { add Sums; }";
    const STATE: &str =
        "int->int filter Total { int t; work pop 3 push 1 { t = 7 * t + pop() - pop() * pop(); push(t); } }
int->int filter Twice { work pop 1 push 2 { int x = pop(); push(x); push(-x); } }
int->int pipeline Main { add Total; add Twice; }";
    const DOUBLES: &str = "double->float filter Half { work pop 1 push 1 { push((float)(pop() / 2)); } }
double->float pipeline Main { add Half; }";
    const BITS: &str = "bit->int filter Byte { work pop 8 push 1 { int x = 0; for (int i = 0; i < 8; i++) x = 2 * x + (int)pop(); push(x); } }
bit->int pipeline Main { add Byte; }";
    const RARE: &str = "int->int filter Last { work pop 1000 push 1 { push(peek(999) + peek(0)); for (int i = 0; i < 1000; i++) pop(); } }
int->int pipeline Main { add Last; }";
    for (program, taken, given) in [
        (SUMS, "float", "float"),
        (STATE, "int32_t", "int32_t"),
        (DOUBLES, "double", "float"),
        (BITS, "uint8_t", "int32_t"),
        (RARE, "int32_t", "int32_t"),
    ] {
        for pieces in ["7", "3000", "70000"] {
            assert_eq!(used(program, taken, given, pieces), "the same\n", "{program} in pieces of up to {pieces}");
        }
    }
}

/// What comes before a fault comes out, also where the items of the batch that failed lie in the user's memory.
#[test]
fn a_fault_within_what_is_lent() {
    const FAULT: &str = "int->int filter Inverse { work pop 1 push 1 { push(1000000 / (pop() - 20000)); } }
int->int pipeline Main { add Inverse; }";
    for pieces in ["7", "3000", "70000"] {
        let told = used(FAULT, "int32_t", "int32_t", pieces);
        assert!(told.starts_with("failed after 20000 items: Main.Inverse"), "{told}");
        assert!(told.contains("firing 20001: division by zero"), "{told}");
    }
}
