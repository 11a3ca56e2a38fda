//! Code made in memory: who makes the code of a run, and that it is the same program.

use crate::support::*;

const SUM: &str = "void->void pipeline Main { add Source; add Sum; add Show; }
void->int filter Source { int i; work push 1 { push(i); i = i + 1; } }
int->int filter Sum { work pop 2 peek 3 push 1 { push(peek(2) - pop() * pop()); } }
int->void filter Show { work pop 1 { println(pop()); } }
";

const TWICE: &str = "float->float filter Twice { work pop 1 push 1 { push(2 * pop()); } }\n";

/// Stops in the fourth firing, in a way that the lines say.
fn faulty(statement: &str) -> String {
    format!(
        "void->void pipeline Main {{ add Source; add Bad; add Show; }}
void->int filter Source {{ int i; work push 1 {{ push(3 - i); i = i + 1; }} }}
int->int filter Bad {{ int[3] a; work pop 1 push 1 {{
    int x = pop();
    {statement}
}} }}
int->void filter Show {{ work pop 1 {{ println(pop()); }} }}
"
    )
}

#[test]
fn nothing_is_missing_on_an_empty_path() {
    let place = Place::new().with("a.str", SUM).with("b.str", TWICE);
    let empty = |arguments: &[&str], input: &[u8]| {
        let mut c = place.command(arguments);
        c.env("PATH", "").env("SLUICE_CACHE", place.path("cache"));
        let done = finish(c, input).ends(0);
        assert_eq!(done.stderr, "");
        done
    };
    assert_eq!(empty(&["run", "a.str", "-n", "3"], b"").text(), "2\n-2\n-14\n");
    // nobody knows how long this runs
    assert_eq!(empty(&["run", "b.str"], &floats(&[1.0, -3.5])).stdout, floats(&[2.0, -7.0]));
    assert!(!place.path("cache").exists(), "nothing is kept");
    let mut c = place.command(&["run", "a.str", "-n", "3", "--back-end", "cc"]);
    c.env("PATH", "");
    finish(c, b"").ends(3).says("no C compiler was found").says("`sluice run --back-end jit` works without");
}

#[test]
fn what_is_done_sooner_is_chosen() {
    let place = Place::new().with("a.str", SUM).with("b.str", TWICE).with("in.txt", "1 2 3");
    let passes = |arguments: &[&str]| {
        let said = place.run(&[&["run", "--time-passes"], arguments].concat()).ends(0).stderr;
        let has = |pass: &str| said.lines().any(|l| l.ends_with(&format!(" ms  {pass}")));
        assert_ne!(has("jit"), has("compile-c"), "{said}");
        has("jit")
    };
    assert!(passes(&["a.str", "-n", "10"]));
    assert!(passes(&["b.str", "-i", "in.txt"]));
    // nobody knows how much comes
    assert!(!passes(&["b.str"]));
    // but of a file it is known, also where the shell has opened it
    let mut command = place.command(&["run", "b.str", "--time-passes"]);
    command.stdin(std::fs::File::open(place.path("in.txt")).unwrap());
    let done = command.output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && said.contains(" ms  jit"), "{said}");
    // five bytes are an item and one that is left over
    assert_eq!(done.stdout.len(), 4);
    // what only the C compiler is told, and threads
    assert!(!passes(&["a.str", "-n", "10", "-O1"]));
    assert!(!passes(&["a.str", "-n", "10", "--threads", "2"]));
    for (how, jit) in [("jit", true), ("cc", false)] {
        assert_eq!(passes(&["a.str", "-n", "10", "--back-end", how]), jit);
        assert_eq!(passes(&["b.str", "--back-end", how]), jit);
    }
}

#[test]
fn what_it_does_not_do_is_refused() {
    let native = "native M { int f(int x); } void->void filter Main { work { println(M.f(1)); } }";
    let place = Place::new().with("a.str", SUM).with("n.str", native).with("n.c", "int f(int x) { return x + 1; }");
    let run = |arguments: &[&str]| place.run(&[&["run", "-n", "1", "--back-end", "jit"], arguments].concat());
    run(&["n.str", "--native", "n.c"]).ends(2).says("native functions").says("`--back-end cc`");
    run(&["a.str", "--threads", "2"]).ends(2).says("one thread");
    run(&["a.str", "--target", "cuda", "--emulate"]).ends(2).says("--back-end jit");
    // left to itself, sluice finds who does it
    assert_eq!(place.run(&["run", "-n", "1", "n.str", "--native", "n.c"]).ends(0).text(), "2\n");
}

#[test]
fn faults_are_told_in_the_same_words() {
    for statement in [
        "a[x] = 1; push(12 / x);",
        "push(12 % x);",
        "push(a[x - 1]);",
        "a[2 - x] = 5; push(a[2 - x]);",
        "for (int i = 0; i <= 3 - x; i++) a[i] = x; push(a[0]);",
    ] {
        let place = Place::new().with("a.str", faulty(statement));
        let run = |how: &str| {
            let done = place.run(&["run", "a.str", "-n", "8", "--back-end", how]).ends(1);
            (done.text().to_string(), done.stderr)
        };
        let interpreted = run("interpret");
        assert!(interpreted.1.contains("Main.Bad, firing "), "{}", interpreted.1);
        assert_eq!(run("jit"), interpreted, "{statement}");
    }
}

#[test]
fn endless_recursion_is_found() {
    let program = "int->int filter Deep { int f(int n) { return n == 0 ? 0 : 1 + f(n + 1); } work pop 1 push 1 { push(f(pop())); } }";
    let place = Place::new().with("a.str", program).with("in.txt", "1");
    place.run(&["run", "a.str", "-i", "in.txt", "--back-end", "jit"]).ends(1).says("E0955").says("nested too deeply");
}

#[test]
fn statistics_are_counted() {
    let place = Place::new().with("a.str", SUM);
    let done = place.run(&["run", "a.str", "-n", "4", "--back-end", "jit", "--stats"]).ends(0);
    assert_eq!(done.text(), "2\n-2\n-14\n-34\n");
    done.says("Main.Sum").says("Main.Source");
}

#[test]
fn the_code_is_shown_and_always_the_same() {
    let place = Place::new().with("a.str", SUM);
    let show = || place.run(&["run", "a.str", "--dump-after", "jit"]).ends(0).text().to_string();
    let text = show();
    assert!(text.contains("; Sum: work\nfunction u0:") && text.contains("imul"), "{text}");
    assert_eq!(show(), text);
}
