//! Files that are no programs, or harm on purpose: the command says so and ends.

use crate::support::Place;

/// `sluice check` of these bytes reports this.
#[track_caller]
fn refused(bytes: impl AsRef<[u8]>, code: &str) {
    Place::new().with("p.str", bytes).run(&["check", "p.str"]).ends(1).says(&format!("[{code}]"));
}

#[test]
fn imports_in_a_circle_are_read_once_each() {
    let place = Place::new()
        .with("a.str", "import \"b.str\"; import \"a.str\"; void->void filter A { work { println(B.two()); } }")
        .with("b.str", "import \"./a.str\"; import \"c.str\"; helper B { int two() { return C.one() + 1; } }")
        .with("c.str", "import \"b.str\"; helper C { int one() { return 1; } }");
    place.run(&["check", "a.str"]).ends(0);
    let ran = place.run(&["run", "--interpret", "--iterations", "1", "a.str"]).ends(0);
    assert_eq!(ran.text(), "2\n");
}

#[test]
fn a_chain_of_imports() {
    let mut place = Place::new().with("f300.str", "helper H { int one() { return 1; } }");
    for i in 0..300 {
        place = place.with(&format!("f{i}.str"), format!("import \"f{}.str\";", i + 1));
    }
    let place = place.with("main.str", "import \"f0.str\"; void->void filter F { work { println(H.one()); } }");
    place.run(&["check", "main.str"]).ends(0);
}

#[test]
fn bytes_that_are_no_text() {
    refused(b"void->void filter F { work { println(1\0); } }", "E0001");
    refused(b"\xff\xfev\0o\0i\0d\0", "E0001");
    refused(b"", "E0111");
    refused(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0", "E0001");
    Place::new()
        .with("p.str", b"\xef\xbb\xbf// \xe4\r\nvoid->void filter F { work { println(1); } }\r\n")
        .run(&["check", "p.str"])
        .ends(0);
}

#[test]
fn depth_and_length() {
    let deep = |n: usize| format!("void->void filter F {{ int x = {}1{}; work {{ }} }}", "(".repeat(n), ")".repeat(n));
    // in a line as long as this, a message names the place without the picture
    Place::new().with("p.str", deep(10_000)).run(&["check", "p.str"]).ends(1).says("E0014");
    Place::new().with("p.str", deep(200)).run(&["check", "p.str"]).ends(0);
    let sum = format!("void->void filter F {{ work {{ int a; int x = a{}; }} }}", " + a".repeat(100_000));
    Place::new().with("p.str", sum).run(&["check", "p.str"]).ends(1).says("E0014");
}

#[test]
fn what_would_take_for_ever() {
    refused(
        "void->void pipeline P { for (int i = 0; i < 1000000000; i++) add Tick; }\nvoid->void filter Tick { work { } }",
        "E0400",
    );
    refused("void->void pipeline P(int n) { add P(n + 1); }\nvoid->void pipeline Main { add P(0); }", "E0402");
    refused("void->void filter F { int[1000000000] a; work { println(a[0]); } }", "E0209");
}

#[test]
fn what_would_take_all_memory_in_a_run() {
    let place = Place::new().with(
        "p.str",
        "void->void pipeline Main { add A; add Z; }\n\
         void->int filter A { work push 2147483647 { for (int i = 0; i < 2147483647; i++) push(i); } }\n\
         int->void filter Z { work pop 1 { println(pop()); } }",
    );
    place.run(&["check", "p.str"]).ends(0);
    place.run(&["rates", "p.str"]).ends(0);
    place.run(&["graph", "p.str", "-o", "p.svg"]).ends(0);
    place.run(&["run", "--interpret", "--iterations", "1", "p.str"]).ends(1).says("more items wait on channels");
    place.run(&["run", "--iterations", "1", "p.str"]).ends(1).says("buffers");
}

/// A firing that pushes or pops without end is stopped where it goes beyond its rate, by every back end, also where only one way through it never ends.
#[test]
fn endless_pushes_and_pops_are_stopped() {
    let ends =
        "int->void filter P { work pop 1 { println(pop()); } } void->void pipeline Main { add S; add Q; add P; }";
    let count = "void->int filter S { work push 1 { push(iter()); } }\n";
    let same = "int->int filter Q { work pop 1 push 1 { push(pop()); } }\n";
    let source = |work: &str| format!("void->int filter S {{ int[4] a; work push 1 {{ {work} }} }}\n{same}{ends}");
    let between = |work: &str| format!("{count}int->int filter Q {{ work pop 1 push 1 {{ {work} }} }}\n{ends}");
    for (program, code) in [
        (source("if (iter() < 3) push(1); else while (true) push(2);"), "E0954"),
        (source("if (iter() < 3) push(1); else for (int i = 0; i < 4; i) push(i);"), "E0954"),
        (source("int i; if (iter() < 3) push(a[3]); else while (true) { push(2); a[i++] = 1; }"), "E0954"),
        (source("for (int i = 0; i < iter(); i++) if (i > 1) while (true) push(3); push(4);"), "E0954"),
        (between("int s; int i; if (iter() < 3) s = pop(); else while (i < 1) s += pop(); push(s);"), "E0953"),
    ] {
        let place = Place::new().with("a.str", &program);
        let by = |way: &[&str]| place.run(&[&["run", "a.str", "--iterations", "7"], way].concat()).ends(1).says(code);
        let wanted = by(&["--interpret"]);
        assert_eq!(wanted.text().lines().count(), 3, "{program}");
        for way in
            [&["--back-end", "jit"][..], &["--back-end", "cc"], &["--back-end", "cc", "-O0"], &["--threads", "2"]]
        {
            assert!(by(way).stdout == wanted.stdout, "{way:?}: {program}");
        }
    }
}
