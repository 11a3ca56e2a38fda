//! Programs of thousands of filters: how much C is made of them, and that they compute what the interpreter does.

use super::fusing::{nodes, same, same_quickly};
use crate::support::*;

/// A chain, or branches side by side, of small filters with a state and one of seven constants.
fn small(shape: &str, filters: usize) -> String {
    let many = format!("for (int i = 0; i < {filters}; i++) add Lag(0.5 + i % 7 * 0.05);");
    let body = match shape {
        "chain" => many,
        _ => format!("add splitjoin {{ split duplicate; {many} join roundrobin; }} add Sum({filters});"),
    };
    format!(
        "float->float filter Lag(float k) {{ float y; work pop 1 push 1 {{ y += k * (pop() - y); push(y); }} }}
float->float filter Sum(int n) {{ work pop n push 1 {{ float s = 0; for (int i = 0; i < n; i++) s += pop(); push(s); }} }}
float->float pipeline Main {{ {body} }}
"
    )
}

fn reals(n: usize) -> Vec<u8> {
    (0..n).flat_map(|i| ((i as f32 * 0.37).sin() * 3.0).to_le_bytes()).collect()
}

/// What of a program's C text a compiler works on, beyond tables.
#[derive(Debug)]
struct Work {
    functions: usize,
    statements: usize,
    longest: usize,
}

fn work(program: &str) -> Work {
    let place = Place::new().with("a.str", program);
    let done = place.run(&["run", "a.str", "--dump-after", "emit-c"]).ends(0);
    let (mut work, mut length, mut inside) = (Work { functions: 0, statements: 0, longest: 0 }, 0, false);
    for line in done.text().lines() {
        match line {
            "}" if inside => (inside, work.longest) = (false, work.longest.max(length)),
            _ if inside => {
                length += 1;
                work.statements += usize::from(line.ends_with(';'));
            }
            // `static … {` or `{` on the next line opens a function; types and tables end otherwise
            "{" => (inside, length, work.functions) = (true, 0, work.functions + 1),
            _ if line.starts_with("static") && line.ends_with(") {") => {
                (inside, length, work.functions) = (true, 0, work.functions + 1);
            }
            _ => {}
        }
    }
    work
}

#[test]
fn equal_filters_are_data_and_not_text() {
    for shape in ["chain", "split-join"] {
        let (few, many) = (work(&small(shape, 600)), work(&small(shape, 5000)));
        assert!(many.functions <= few.functions + 20, "{shape}: {few:?}, {many:?}");
        // two statements for a call of eight filters, and little else
        assert!(many.statements < few.statements + 5000 / 3, "{shape}: {few:?}, {many:?}");
        assert!(many.longest <= few.longest + 20, "{shape}: {few:?}, {many:?}");
    }
}

/// Branches side by side are one loop, however many they are; chains are cut into links of as many as are lanes of a wave.
#[test]
fn regions_of_thousands() {
    let place = Place::new().with("a.str", small("split-join", 5000));
    let (found, text) = nodes(&place, &[]);
    assert_eq!(found.len(), 4, "reader, branches, sum, writer");
    assert!(text.contains(" < 5000 step 1 "), "no loop over the branches");
    let place = Place::new().with("a.str", small("chain", 5000));
    let (found, _) = nodes(&place, &[]);
    assert!((150..=170).contains(&found.len()), "{} links", found.len() - 2);
    // a chain that can be seen as a whole is not cut
    let place = Place::new().with("a.str", small("chain", 11));
    assert_eq!(nodes(&place, &[]).0.len(), 3);
}

#[test]
fn nobody_can_tell() {
    same(&small("chain", 11), reals, &[0, 1, 700]);
    same_quickly(&small("chain", 300), reals, &[0, 1, 65, 3000]);
    same_quickly(&small("split-join", 300), reals, &[0, 1, 15, 16, 17, 2000]);
    // sums of so many items that their lanes take them from where they are
    same_quickly(&small("split-join", 1100), reals, &[0, 3, 16, 37, 200]);
}

/// Where so many filters, or so large items, leave a batch few firings of each, several follow one another before the engine looks round.
#[test]
fn short_batches_follow_one_another() {
    let windows = "float->float filter Far { work pop 1 push 1 peek 300 { push(0.5 * peek(299) - pop()); } }
float->float filter Later { prework push 3 { push(1); push(-2); push(3); } work pop 1 push 1 { push(pop()); } }
";
    let branches = small("split-join", 3000).replace("add splitjoin", "add Far; add Later; add splitjoin") + windows;
    let frames = "float->float filter Open { work pop 1 push 20000 { float x = pop(); for (int i = 0; i < 20000; i++) push(x + i); } }
float->float filter Fold { float s; work pop 20000 push 20000 peek 20300 {
    for (int i = 0; i < 20000; i++) { s = 0.5 * s + peek(300); push(s - pop()); } } }
float->float filter Close { work pop 20000 push 1 { float s = 0; for (int i = 0; i < 20000; i++) s += pop(); push(s); } }
float->float pipeline Main { add Open; add Fold; add Fold; add Close; }
";
    for program in [&branches, frames] {
        let place = Place::new().with("a.str", program);
        let done = place.run(&["run", "a.str", "--dump-after", "emit-c"]).ends(0);
        assert!(done.text().contains("for (int64_t left = k; left > 0;)"), "{program}");
    }
    same_quickly(&branches, reals, &[303, 640]);
    same_quickly(frames, reals, &[1, 100]);
    // batches of hundreds of firings of each do not
    let place = Place::new().with("a.str", small("chain", 300));
    assert!(!place.run(&["run", "a.str", "--dump-after", "emit-c"]).ends(0).text().contains("left = k"));
}

/// Branches whose positions are no regular ones are no loop, and the program is none the worse.
#[test]
fn irregular_branches_are_apart() {
    let program = small("split-join", 900).replace(
        "join roundrobin;",
        "add pipeline { add Lag(0.25); add Lag(0.5); } for (int i = 0; i < 40; i++) { add Lag(0.125); add Lag(0.75); add Identity<float>; } join roundrobin;",
    );
    same_quickly(&program.replace("Sum(900)", "Sum(1021)"), reals, &[0, 1, 40, 500]);
}

/// Branches, and links of a chain, that differ in numbers: zeros of both signs, NaNs that cancel, doubles.
fn different(shape: &str, filters: usize) -> String {
    small(shape, filters)
        .replace("Lag(0.5 + i % 7 * 0.05)", "Lag(0.3 + i * 0.001, (i % 3 - 1) * 0.0, i * 0.0001)")
        .replace(
            "Lag(float k) { float y; work pop 1 push 1 { y += k * (pop() - y); push(y); } }",
            "Lag(float k, float zero, double small) { float y; double w; work pop 1 push 1 {
                float x = pop();
                y += k * (x - y);
                w = 0.5 * w + small * x;
                if (1 / (x * 0 + zero) > 0) y += (float)w;
                push(y);
            } }",
        )
}

#[test]
fn filters_that_differ_in_numbers_share_code() {
    for shape in ["chain", "split-join"] {
        let (few, many) = (work(&different(shape, 300)), work(&different(shape, 1000)));
        // a line for what each is before its first firing
        assert!(many.functions < few.functions + 700 + 20, "{shape}: {few:?}, {many:?}");
        assert!(many.statements < few.statements + 700, "{shape}: {few:?}, {many:?}");
    }
    let place = Place::new().with("a.str", different("chain", 1000));
    let kernels = |pass: &str| {
        let done = place.run(&["run", "a.str", "--dump-after", pass]).ends(0);
        done.text().lines().filter(|l| l.starts_with("state") && l.contains("constant")).count()
    };
    assert_eq!(kernels("item-ranges"), 0);
    assert!(kernels("share-code") >= 3 * 1000, "{}", kernels("share-code"));
    // few are left as they are
    let place = Place::new().with("a.str", different("chain", 200));
    assert!(!place.run(&["run", "a.str", "--dump-after", "share-code"]).ends(0).text().contains("constant"));
    same_quickly(&different("chain", 260), reals, &[0, 1, 300]);
    same_quickly(&different("split-join", 260), reals, &[0, 1, 300]);
}

/// Branches with tables of so many numbers each.
fn bank(branches: usize, taps: usize) -> String {
    format!(
        "float->float filter Fir(int n, int b) {{ float[n] h; init {{ for (int i = 0; i < n; i++) h[i] = (b * 7 + i * 3) % 11 / 8.0 - 0.5; }}
    work peek n pop 1 push 1 {{ float s = 0; for (int i = 0; i < n; i++) s += h[i] * peek(i); push(s); pop(); }} }}
float->float filter Sum(int n) {{ work pop n push 1 {{ float s = 0; for (int i = 0; i < n; i++) s += pop(); push(s); }} }}
float->float pipeline Main {{ add splitjoin {{ split duplicate; for (int b = 0; b < {branches}; b++) add Fir({taps}, b); join roundrobin; }} add Sum({branches}); }}
"
    )
}

/// A chain, or branches side by side, of filters that differ in ints: those that operations take are data, those that say where something is, or what is divided by, are code.
fn mixed(shape: &str, filters: usize, state: bool) -> String {
    let (field, x) = if state { ("int s = 1; ", "s = s * a + c; int x = pop() ^ s;") } else { ("", "int x = pop();") };
    let many = format!("for (int i = 0; i < {filters}; i++) add Mix(i * 77 + 5, 2 * i + 1, 3 + i % 2);");
    let body = match shape {
        "chain" => many,
        _ => format!("add splitjoin {{ split roundrobin; {many} join roundrobin; }}"),
    };
    format!(
        "int->int filter Mix(int a, int c, int d) {{ {field}work pop 1 push 1 {{ {x} if (x > a) x -= c; push((x ^ a) * c + x / d + (x >> d)); }} }}
int->int pipeline Main {{ {body} }}
"
    )
}

fn ints(n: usize) -> Vec<u8> {
    (0..n as i32).flat_map(|i| (i.wrapping_mul(0x9E37_79B1_u32 as i32) >> (i % 20)).to_le_bytes()).collect()
}

#[test]
fn filters_that_differ_in_tables_share_code() {
    // many, with whatever tables; and large ones of few
    for (few, many, taps) in [(300, 600, 9), (35, 80, 40)] {
        let (few, many) = ((few, work(&bank(few, taps))), (many, work(&bank(many, taps))));
        // a line for what each is before its first firing
        assert!(many.1.functions <= few.1.functions + (many.0 - few.0) + 20, "{few:?}, {many:?}");
        // its calls in batches of several sizes, and its item of the sum; a filter itself has hundreds
        assert!(many.1.statements < few.1.statements + 20 * (many.0 - few.0), "{few:?}, {many:?}");
    }
    // few with small ones have their own
    let place = Place::new().with("a.str", bank(35, 9));
    assert!(!place.run(&["run", "a.str", "--dump-after", "share-code"]).ends(0).text().contains(" own "));
    same_quickly(&bank(300, 9), reals, &[0, 8, 9, 30, 700]);
    same(&bank(35, 40), reals, &[0, 39, 40, 60, 3000]);
}

#[test]
fn filters_that_differ_in_ints_share_code() {
    for (shape, state) in [("chain", false), ("branches", false), ("branches", true)] {
        let (few, many) = (work(&mixed(shape, 600, state)), work(&mixed(shape, 1000, state)));
        assert!(many.functions <= few.functions + 400 + 20, "{shape} {state}: {few:?}, {many:?}");
        // what a filter does is five statements at least
        assert!(many.statements < few.statements + 4 * 400, "{shape} {state}: {few:?}, {many:?}");
        if state || shape == "chain" {
            same_quickly(&mixed(shape, 258, state), ints, &[1000]);
        }
    }
}

/// Two equal filters of long windows, apart, go to the frequency domain with the latitude of fast math, each by itself.
#[test]
fn equal_filters_are_convolved() {
    let program = "float->float filter Fir(int n, int _b) { float[n] h; init { for (int i = 0; i < n; i++) h[i] = 0.75 - i * 1.0 / n; }
    work peek n pop 1 push 1 { float s = 0; for (int i = 0; i < n; i++) s += h[i] * peek(i); push(s / n); pop(); } }
float->float filter Sq { float z; work pop 1 push 1 { float x = pop(); z = z * 0.5 + x * x; push(z); } }
float->float pipeline Main { for (int b = 0; b < 2; b++) { add Fir(512, b); add Sq; } }
";
    let place = Place::new().with("a.str", program);
    let text = place.run(&["build", "a.str", "--fast-math", "--emit", "c", "-o", "-"]).ends(0).text().to_string();
    assert_eq!(text.matches("sl_convolve(&").count(), 2);
    let by = |way: &[&str]| place.run_with(&[&["run", "a.str"], way].concat(), &reals(9000)).ends(0).stdout;
    let (exact, free) = (by(&["--interpret"]), by(&["--back-end", "cc", "--fast-math"]));
    let floats = |bytes: &[u8]| bytes.chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect::<Vec<_>>();
    let (exact, free) = (floats(&exact), floats(&free));
    assert_eq!(exact.len(), free.len());
    let most = exact.iter().fold(0f32, |m, x| m.max(x.abs()));
    assert!(exact.iter().zip(&free).all(|(a, b)| (a - b).abs() < 1e-4 * most), "{most}");
    assert!(by(&["--back-end", "cc"]).chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).eq(exact));
}

/// Streams contain each other as deep as docs/cli.md says, whatever is done with them, and no deeper.
#[test]
fn streams_nested_to_the_limit() {
    let nested = |n: u32| {
        format!(
            "int->int pipeline R(int n) {{ add int->int filter {{ work pop 1 push 1 {{ push(pop() + 1); }} }}; if (n > 0) add R(n - 1); }}
void->int filter Source {{ int i; work push 1 {{ push(i++); }} }}
int->void filter Sink {{ work pop 1 {{ println(pop()); }} }}
void->void pipeline Main {{ add Source; add R({n}); add Sink; }}
"
        )
    };
    let place = Place::new().with("a.str", nested(4990)).with("b.str", nested(5010));
    for way in [&["run", "a.str", "-n", "2"][..], &["run", "a.str", "-n", "2", "--interpret"]] {
        assert_eq!(place.run(way).ends(0).text(), "4991\n4992\n", "{way:?}");
    }
    place.run(&["graph", "a.str", "-o", "a.svg"]).ends(0);
    let refused = place.run(&["check", "b.str"]).ends(1);
    assert!(refused.stderr.contains("E0402") && refused.stderr.contains("5000"), "{}", refused.stderr);
}

/// A sort of compare-exchange filters that are more than all regions may have: what is left are thousands of steps, each once for all steady states of a batch.
#[test]
fn a_table_has_the_steps_of_the_program_as_it_was() {
    let program = "int->int filter Order(boolean up) { work pop 2 push 2 {
    int a = pop(); int b = pop();
    push(up ? min(a, b) : max(a, b)); push(up ? max(a, b) : min(a, b));
} }
int->int splitjoin Blocks(int n, int size, int d) { split roundrobin(2 * d); for (int b = 0; b < n; b += 2 * d) add Apart(d, b / size % 2 == 0); join roundrobin(2 * d); }
int->int splitjoin Apart(int d, boolean up) { split roundrobin; for (int i = 0; i < d; i++) add Order(up); join roundrobin; }
int->int pipeline Main { for (int size = 2; size <= 256; size *= 2) for (int d = size / 2; d > 0; d /= 2) add Blocks(256, size, d); }
";
    let place = Place::new().with("a.str", program);
    let done = place.run(&["run", "a.str", "--dump-after", "emit-c"]).ends(0);
    let rows = done.text().split("sl_steps[] = {").nth(1).and_then(|t| t.split("};").next()).unwrap_or_default();
    assert!(rows.lines().count() > 3000, "no table");
    assert!(!rows.contains("UINT32_MAX"), "the table has loops: {}", rows.lines().take(5).collect::<String>());
}
