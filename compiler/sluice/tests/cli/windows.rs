//! Sums over windows in lanes, whose vectors share what they load: the same bytes as the interpreter's, whatever the window, how far firings are apart, and how wide vectors are.

use crate::support::*;

/// Sums of a window of `taps` items, of which a firing takes `pop` and gives what `push` says.
fn filter(taps: usize, pop: usize, of: &str, body: &str) -> String {
    let taken: String = (0..pop).map(|_| "pop(); ").collect();
    let rates = format!("peek {} pop {pop} push {}", taps.max(pop), body.matches("push(").count());
    format!(
        "{of}->float filter F {{ float[{taps}] h; float[{taps}] g;
    init {{ for (int i = 0; i < {taps}; i++) {{ h[i] = (i % 7 - 3) / 5.0; g[i] = (i % 5 - 2) / 3.0; }} }}
    work {rates} {{ {} {taken}}} }}",
        body.replace("TAPS", &taps.to_string())
    )
}

const FORWARDS: &str = "float s = 0; for (int i = 0; i < TAPS; i++) s += h[i] * peek(i); push(s);";
const BACKWARDS: &str = "float s = 1; for (int i = 0; i < TAPS; i++) s += h[i] * peek(TAPS - 1 - i); push(s);";
/// What the items are made to be is shared, too; two sums; something beside the sums, before and behind the loop.
const TWO: &str = "float a = peek(1); float b = 0; for (int i = 2; i < TAPS; i++) { a += h[i] * abs(peek(i - 1)); b = g[i] * peek(i) - b; } push(a * peek(0) + b); push(b);";
/// Two loops, of which one is short, and a sum that reads the other.
const LOOPS: &str = "float s = 0; float t = 0; for (int i = 0; i < TAPS; i++) s = h[i] * peek(i) - s; for (int i = 0; i < 24; i++) { t += s; s += g[i] * peek(23 - i); } push(s + t);";
const COMPLEX: &str = "float re = 0; float im = 0; for (int i = 0; i < TAPS; i++) { re += h[i] * peek(i).real; im -= h[i] * peek(i).imag; } push(re); push(im);";

/// Flags of the C compiler, for vectors of each width that this machine's processor has: the widest are its own.
fn widths() -> Vec<&'static str> {
    let mut out = vec![""];
    #[cfg(target_arch = "x86_64")]
    for (wider, flag) in [
        (std::arch::is_x86_feature_detected!("avx2"), "-march=x86-64"),
        (std::arch::is_x86_feature_detected!("avx512vl"), "-march=x86-64-v3"),
    ] {
        if wider {
            out.push(flag);
        }
    }
    out
}

/// The same bytes from the interpreter and from C, for vectors of all widths that this machine has. In its text, so many of the program's filters have vectors that share, of
/// neighbouring lanes and of firings in a lane.
fn same(program: &str, words: usize, lengths: &[usize], wanted_ways: (usize, usize)) {
    let place = Place::new().with("a.str", program);
    let text = place.run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0).text().to_string();
    let (mut besides, mut in_lane) = (0, 0);
    for f in text.split(" void sl_lanes_").skip(1) {
        let of_filter = &f[..f.find("\n}\n").unwrap_or(f.len())];
        in_lane += usize::from(of_filter.contains("while (n / "));
        besides += usize::from(of_filter.contains("for (int32_t turn_") && !of_filter.contains("while (n / "));
    }
    assert_eq!((besides, in_lane), wanted_ways, "{program}");
    at_all_widths(&place, program, words, lengths);
}

/// The program in `a.str` gives by vectors of all widths that this processor has what the interpreter gives.
pub(crate) fn at_all_widths(place: &Place, program: &str, words: usize, lengths: &[usize]) {
    let inputs: Vec<Vec<u8>> = lengths
        .iter()
        .map(|n| (0..n * words).flat_map(|i| ((i as f32 * 0.37).sin() * 3.0).to_le_bytes()).collect())
        .collect();
    let wanted: Vec<_> =
        inputs.iter().map(|i| place.run_with(&["run", "a.str", "--interpret"], i).ends(0).stdout).collect();
    for flag in widths() {
        let compiler = compiler_with(flag);
        // the compiler does its utmost for this processor only
        let level = if flag.is_empty() { "-O3" } else { "-O1" };
        for (input, wanted) in inputs.iter().zip(&wanted) {
            let mut command = place.command(&["run", "a.str", level, "--back-end", "cc"]);
            command.env("CC", &compiler);
            assert!(finish(command, input).ends(0).stdout == *wanted, "{flag} {} bytes: {program}", input.len());
        }
    }
}

/// Filters one after another, of which no two become one.
fn chain(of: &str, filters: &[String]) -> String {
    let mut text = String::new();
    for (i, f) in filters.iter().enumerate() {
        text.push_str(&f.replace("filter F ", &format!("filter F{i} ")));
        text.push('\n');
    }
    let adds: String = (0..filters.len()).map(|i| format!("add F{i}; ")).collect();
    format!("{text}{of}->float pipeline Main {{ {adds}}}")
}

/// From none, by less than one vector, to several blocks and what is left of them.
const LENGTHS: [usize; 4] = [0, 700, 4000, 21_003];

#[test]
fn one_item_at_a_time() {
    let filters: Vec<String> =
        [24, 31, 48, 64, 130].iter().flat_map(|n| [FORWARDS, BACKWARDS].map(|b| filter(*n, 1, "float", b))).collect();
    same(&chain("float", &filters), 1, &LENGTHS, (10, 0));
    same(&filter(23, 1, "float", FORWARDS), 1, &[5000], (0, 0));
}

#[test]
fn several_sums() {
    let filters: Vec<String> = [40, 129].iter().flat_map(|n| [TWO, LOOPS].map(|b| filter(*n, 1, "float", b))).collect();
    same(&chain("float", &filters), 1, &LENGTHS, (4, 0));
    let filters = [filter(40, 1, "complex", COMPLEX), filter(33, 1, "float", FORWARDS)];
    same(&chain("complex", &filters), 2, &LENGTHS, (2, 0));
}

#[test]
fn several_items_at_a_time() {
    let filters: Vec<String> = [(26, 2), (64, 3)]
        .iter()
        .flat_map(|(n, pop)| [FORWARDS, BACKWARDS, TWO].map(|b| filter(*n, *pop, "float", b)))
        .collect();
    same(&chain("float", &filters), 1, &[0, 5000, 300_007], (0, 6));
    let filters: Vec<String> =
        [(64, 5), (200, 17)].iter().flat_map(|(n, pop)| [TWO, LOOPS].map(|b| filter(*n, *pop, "float", b))).collect();
    same(&chain("float", &filters), 1, &[0, 5000, 300_007], (0, 4));
    same(&filter(64, 5, "complex", COMPLEX), 2, &[0, 1000, 30_007], (0, 1));
    // items of several firings that the first cache does not hold
    same(&filter(400, 100, "float", TWO), 1, &[0, 300_007], (0, 0));
    // windows that share too little
    same(&chain("float", &[40, 64].map(|pop| filter(64, pop, "float", FORWARDS))), 1, &[50_000], (0, 0));
}

/// Streams that take turns: neighbouring lanes are other streams.
#[test]
fn streams_by_turns() {
    let of = |streams: usize, filter: String, of: &str| {
        format!(
            "{filter} {of}->float splitjoin Main {{ split roundrobin(1); for (int i = 0; i < {streams}; i++) add F; join roundrobin(1); }}"
        )
    };
    for (streams, pop) in [(2, 1), (2, 6), (4, 3), (16, 1), (16, 2), (32, 1), (32, 3), (48, 5), (24, 1)] {
        let program = of(streams, filter(192, pop, "float", FORWARDS), "float");
        // a vector is as many turns as it has lanes for streams, or all its lanes are streams of one turn
        let shared = [2, 4, 16, 32, 48].contains(&streams);
        same(&program, 1, &[1000, 40_009], (usize::from(shared), 0));
    }
    // two sums; turns that are so far apart that a loop of 24 is too short
    for pop in [1, 9] {
        same(&of(16, filter(192, pop, "float", LOOPS), "float"), 1, &[1000, 40_009], (1, 0));
    }
    let product = COMPLEX.replace("push(re); push(im);", "push(re * im);");
    same(&of(16, filter(40, 2, "complex", &product), "complex"), 2, &[900, 20_009], (1, 0));
    // as many streams as there may be: whole vectors need no block. Complex numbers whose parts need each other do, and it has no room for two turns of them
    same(&of(256, filter(192, 20, "float", FORWARDS), "float"), 1, &[60_000, 100_009], (1, 0));
    same(&of(256, filter(60, 20, "complex", &product), "complex"), 2, &[60_000, 100_009], (0, 0));
}

/// Firings that take many items: loops that take one item after another bring them side by side in squares, others take each from where it is, or from a buffer.
#[test]
fn firings_that_take_many() {
    let squares = |text: &str| text.matches("sl_square((const int32_t *)").count();
    for (body, wanted) in [
        ("float s = 0; for (int i = 0; i < n; i++) { float x = pop(); s += x * x; } push(s);", 1),
        (
            "float s = 0; for (int i = 3; i < n / 2 - 1; i++) s += peek(i) * peek(i + n / 2); for (int i = 0; i < n; i++) pop(); push(s);",
            2,
        ),
        ("float m = peek(0); for (int i = 0; i < n; i++) m = max(m, pop()); push(m); push(-m);", 1),
        // two loops
        (
            "float s = 0; float p = 1; for (int i = 0; i < n / 2; i++) s += pop(); for (int i = n / 2; i < n; i++) p = p * 0.5 + pop(); push(s + p);",
            2,
        ),
        // backwards, every other one, or where the condition says so
        (
            "float s = 0; for (int i = 0; i < n; i++) s += peek(n - 1 - i); for (int i = 0; i < n; i++) pop(); push(s);",
            0,
        ),
        (
            "float s = 0; for (int i = 0; i < n; i++) { if (i % 3 == 0) s += peek(i); else s -= 1; } for (int i = 0; i < n; i++) pop(); push(s);",
            0,
        ),
    ] {
        for n in [80, 1024, 3001] {
            // the others are brought to a buffer, where there is room for it: rows of 1024 words lie in the way of each other, and one item is not taken in a loop
            let wanted = if n == 1024 || n < 1024 && body.contains("peek(0)") { 0 } else { wanted };
            let pushes = body.matches("push(").count();
            let program =
                format!("float->float filter Main {{ int n = {n}; work pop {n} push {pushes} {{ {body} }} }}\n");
            let place = Place::new().with("a.str", &program);
            let text = place.run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0).text().to_string();
            // by four vectors at once, and by one
            assert_eq!(squares(&text), wanted * 5, "{program}");
            // from a buffer they all come alike
            if n != 1024 || pushes == 2 {
                at_all_widths(&place, &program, 1, &[n * 15, n * 16 + 7, n * 83]);
            }
        }
    }
}

/// Rounds whose values fill the registers of machines without AVX-512, so that vectors go alone there and in twos on others: the last one goes alone everywhere.
#[test]
fn what_vectors_abreast_leave_is_done_on_every_machine() {
    let program = "int->int filter Round { work pop 11 push 11 {
    int[11] x;
    for (int i = 0; i < 11; i++) x[i] = pop();
    for (int i = 0; i < 11; i++) x[i] = (x[i] + x[(i + 1) % 11]) ^ (x[(i + 10) % 11] >> 3);
    for (int i = 0; i < 11; i++) push(x[i]);
} }
int->int pipeline Main { for (int r = 0; r < 16; r++) add Round; }";
    let place = Place::new().with("a.str", program);
    let text = place.run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0).text().to_string();
    let twos =
        text.find("#if SL_LANES == 16\n            for (; f + 2 * SL_LANES <= block;").expect("no vectors in twos");
    let rest = &text[twos + 1..];
    let one = rest.find("for (; f + 1 * SL_LANES <= block;").expect("no vectors alone");
    let between: Vec<&str> = rest[..one].lines().filter(|l| l.starts_with('#') && !l.starts_with("#pragma")).collect();
    // after `if SL_LANES == 16`, whose first character is left out
    assert_eq!(between, ["#endif"]);
    at_all_widths(&place, program, 1, &[1, 8, 16, 17, 24, 48, 83].map(|firings| 11 * firings));
}
