//! Statements of the language's definition (docs/conformance.md) that no program of the corpus can show: warnings, bytes of files, and what
//! code is made.

use crate::running::both;
use crate::support::*;

#[test]
fn streams_that_nobody_adds_have_warnings_only() {
    let unused = "int->int filter Never(int n) { int x = \"text\"; work pop 1 push 1 { push(pop() + nothing); } }
int->float pipeline Neither { add Nowhere; }\n";
    let place = Place::new().with("a.str", format!("{COUNT}{unused}"));
    let done = place.run(&["check", "a.str"]).ends(0).says("[E0200] Warning").says("[E0102] Warning");
    assert!(done.stderr.contains("[E0103] Warning") && !done.stderr.contains("Error"), "{}", done.stderr);
    assert_eq!(both(&place, &["a.str", "-n", "2"], b"").ends(0).text(), "0\n1\n");
    // added, the same faults are errors
    let used = unused.replace("add Nowhere;", "add Never(1);");
    let used = format!("{}{used}", COUNT.replace("add Count;", "add Count; add Never(3);"));
    Place::new().with("b.str", used).run(&["check", "b.str"]).ends(1).says("2 errors");
}

#[test]
fn own_streams_hide_those_of_the_library_without_a_word() {
    let text = "float->float filter Gain(float a, float b) { work pop 1 push 1 { push(a + b * pop()); } }
float->float pipeline Main { add Gain(1, 2); }";
    let place = Place::new().with("a.str", text);
    assert_eq!(place.run(&["check", "a.str"]).ends(0).stderr, "");
    let done = both(&place, &["a.str"], &floats(&[3.0])).ends(0);
    assert_eq!((done.stdout, done.stderr.as_str()), (floats(&[7.0]), ""));
}

/// Every type goes through a `FileReader` and a `FileWriter` as it lies in the file: without gaps, bits packed.
#[test]
fn files_hold_items_of_every_type() {
    let bytes: Vec<u8> = (0..384u32).map(|i| (i * 37 % 113) as u8).collect();
    for ty in
        ["bit", "int", "float", "double", "complex", "float2", "float3", "float4", "int[3]", "bit[4]", "S", "S[2]"]
    {
        let text = format!(
            "// sluice: allow(W0215)
struct S {{ int a; double[2] b; float3 c; int d; float2 e; complex f; int[3] g; }}
void->void pipeline Main {{ add FileReader<{ty}>(\"in.bin\"); add FileWriter<{ty}>(\"out.bin\"); }}"
        );
        let place = Place::new().with("a.str", text).with("in.bin", &bytes);
        for extra in [&[][..], &["--interpret"]] {
            let done = place.run(&[&["run", "a.str", "-O0"], extra].concat()).ends(0);
            // S: 4 + 16 + 12 + 4 + 8 + 8 + 12 is 64 bytes
            assert_eq!(
                (std::fs::read(place.path("out.bin")).unwrap(), done.stderr.as_str()),
                (bytes.clone(), ""),
                "{ty}"
            );
        }
    }
    let place = Place::new().with(
        "a.str",
        "void->void pipeline Main { add FileReader<boolean>(\"in.bin\"); add boolean->boolean filter { work pop 1 push 1 { push(!pop()); } }
        add FileWriter<boolean>(\"out.bin\"); }",
    );
    let place = place.with("in.bin", [0, 1, 0]);
    both(&place, &["a.str"], b"").ends(0);
    assert_eq!(std::fs::read(place.path("out.bin")).unwrap(), [1, 0, 1]);
    // beside other parts, a bit takes a byte
    let text = "struct T { bit b; int n; bit[2] c; }
void->void pipeline Main { add FileReader<T>(\"in.bin\"); add FileWriter<T>(\"out.bin\"); }";
    let place = Place::new().with("a.str", text).with("in.bin", [1, 5, 6, 7, 8, 0, 1]);
    assert_eq!(both(&place, &["a.str"], b"").ends(0).stderr, "");
    assert_eq!(std::fs::read(place.path("out.bin")).unwrap(), [1, 5, 6, 7, 8, 0, 1]);
}

#[test]
fn readers_report_bytes_that_make_no_item() {
    let text = "void->void pipeline Main { add FileReader<int>(\"in.bin\"); add FileWriter<int>(\"out.bin\"); }";
    let place = Place::new().with("a.str", text).with("in.bin", [1, 0, 0, 0, 2, 0, 0]);
    both(&place, &["a.str"], b"").ends(0).says("3 bytes left over after 1 items");
    assert_eq!(std::fs::read(place.path("out.bin")).unwrap(), [1, 0, 0, 0]);
}

/// Whatever NaN comes in or is computed, one comes out.
#[test]
fn a_nan_has_one_pattern() {
    let text = "float->float filter F { work pop 1 push 4 {
        float x = pop(); float zero = x == x ? 0 : 0;
        push(x); push(-x); push(zero / zero); push(-(zero / zero)); } }";
    let place = Place::new().with("a.str", text);
    let nan = 0x7fc0_0000u32.to_le_bytes();
    let odd = [0xffc0_1234u32.to_le_bytes(), 0x7f80_0001u32.to_le_bytes()].concat();
    assert_eq!(both(&place, &["a.str"], &odd).ends(0).stdout, nan.repeat(8));
    let wide = text.replace("float", "double");
    let place = Place::new().with("a.str", wide);
    let odd = 0xfff0_0000_0000_0001u64.to_le_bytes();
    assert_eq!(both(&place, &["a.str"], &odd).ends(0).stdout, 0x7ff8_0000_0000_0000u64.to_le_bytes().repeat(4));
    let place = Place::new().with(
        "a.str",
        text.replace("push 4", "push 2")
            .replace("push(-x);", "")
            .replace("push(-(zero / zero));", "")
            .replace("float->float filter", "float->complex filter")
            .replace("push(zero / zero)", "push(1i * (zero / zero))"),
    );
    assert_eq!(
        both(&place, &["a.str"], &0xffc0_1234u32.to_le_bytes()).ends(0).stdout,
        [nan, [0; 4], nan, nan].concat()
    );
}

#[test]
fn faults_of_a_run_name_the_filter_and_the_line() {
    for (body, code, what) in [
        ("int[3] a;\nwork pop 1 push 1 {\npush(a[pop()]); }", "E0950", "index 3 is outside"),
        ("int[3] a;\nwork pop 1 push 1 {\na[2 - pop()] = 1; push(0); }", "E0950", "index -1 is outside"),
        ("int[2][3] a;\nwork pop 1 push 1 {\npush(a[1][pop()]); }", "E0950", "index 3 is outside"),
        ("\nwork pop 1 push 1 {\npush(7 / (3 - pop())); }", "E0951", "division by zero"),
        ("\nwork pop 1 push 1 {\npush(7 % (3 - pop())); }", "E0951", "division by zero"),
        ("int d = 3;\nwork pop 1 push 1 {\nint x = 7; d--; x /= d; push(x + pop()); }", "E0951", "division by zero"),
    ] {
        let text =
            format!("int->int filter Faulty {{ {body} }}\nint->int pipeline Main {{ add Identity<int>; add Faulty; }}");
        let place = Place::new().with("a.str", text).with("in.txt", "1 2 3");
        let arguments = ["a.str", "-i", "in.txt", "--output-format", "text"];
        let done = both(&place, &arguments, b"").ends(1).says(code).says(what).says("Faulty, firing 3");
        // a fault may say where the whole statement begins
        assert!(done.stderr.contains("a.str:3:"), "{body}: {}", done.stderr);
    }
}

/// Declared rates are kept in native code too.
#[test]
fn rates_are_checked_in_both_back_ends() {
    for (rates, body, code, what) in [
        ("pop 1 push 1", "for (int i = 0; i < n; i++) pop(); push(pop());", "E0953", "more items are popped"),
        ("pop 1 push 1", "for (int i = 0; i <= n; i++) push(i); pop();", "E0954", "more items are pushed"),
        ("pop 1 push 1", "if (n == 0) push(1); pop();", "E0954", "pushe"),
        ("pop 1 push 1 peek 2", "push(peek(n + 1)); pop();", "E0952", "peek"),
        ("pop [1, 2] push 1", "for (int i = 0; i <= 2 * n; i++) pop(); push(1);", "E0953", "more items are popped"),
        ("pop 1 push [1, 2]", "for (int i = 1; i > n; i--) push(i); pop();", "E0954", "pushe"),
    ] {
        let text = format!("int->int filter Faulty {{ int n; work {rates} {{ {body} n++; }} }}");
        let place = Place::new().with("a.str", text);
        let input: Vec<u8> = (0..10i32).flat_map(i32::to_le_bytes).collect();
        both(&place, &["a.str", "-o", "out"], &input).ends(1).says(code).says(what).says("firing 2");
    }
}

/// The checks that a proof makes needless are not made; `--unchecked` leaves out the others.
#[test]
fn checks_are_left_out_where_they_are_proved_or_unwanted() {
    let proved =
        "float->float filter F { work pop 1 push 1 { float[4] a; for (int i = 0; i < 4; i++) a[i] = peek(0) * i;
        float s = 0; for (int i = 0; i < 4; i++) s += a[i] / 4; pop(); push(s); } }";
    let open = "int->int filter F { int[4] a = {1, 2, 3, 4}; work pop 1 push 1 { int i = pop(); push(a[i] / i); } }";
    for (text, needed) in [(proved, false), (open, true)] {
        let place = Place::new().with("a.str", text);
        let checked = place.run(&["build", "a.str", "--emit", "c", "-o", "-"]).ends(0);
        let without = place.run(&["build", "a.str", "--emit", "c", "-o", "-", "--unchecked"]).ends(0);
        assert_eq!(checked.stdout != without.stdout, needed, "{text}");
        let index = "is outside of the array, whose indices run from 0 to 3";
        assert_eq!((checked.text().contains(index), without.text().contains(index)), (needed, false), "{text}");
    }
}

#[test]
fn only_fast_math_frees_the_arithmetic() {
    let place = Place::new().with("a.str", TWICE);
    let dumped = |more: &[&str]| place.run(&[&["run", "a.str", "--dump-after", "compile-c"], more].concat()).ends(0);
    let (strict, free) = (dumped(&[]), dumped(&["--fast-math"]));
    assert!(
        strict.text().contains("-ffp-contract=off") && !strict.text().contains("-fassociative-math"),
        "{}",
        strict.text()
    );
    assert!(free.text().contains("-fassociative-math"), "{}", free.text());
}

#[test]
fn counting_firings_is_no_state() {
    let state = |body: &str| {
        let place = Place::new().with("a.str", format!("int->int filter F {{ {body} }}"));
        let json = place.run(&["rates", "a.str", "--format", "json"]).ends(0);
        let json: serde_json::Value = serde_json::from_str(json.text()).unwrap();
        json["streams"].as_array().unwrap().iter().any(|s| s["kind"] == "filter" && s["state"] == true)
    };
    assert!(!state("work pop 1 push 1 { push(pop() + iter()); }"));
    assert!(!state("int own() { return iter(); } int last; work pop 1 push 1 { last = pop() * own(); push(last); }"));
    assert!(state("int n; int next() { n++; return n; } work pop 1 push 1 { push(pop() + next()); }"));
    assert!(state("int n; handler set(int v) { n = v; } work pop 1 push 1 { push(pop() + n); }"));
}

#[test]
fn the_number_of_streams_can_be_limited() {
    let text = "void->float pipeline Three { add Source; for (int i = 0; i < 20; i++) add Identity<float>; }
void->void pipeline Main { add Three; add Sink; }
void->float filter Source { work push 1 { push(1.0); } }
float->void filter Sink { work pop 1 { println(pop()); } }";
    let place = Place::new().with("a.str", text);
    place.run(&["check", "a.str"]).ends(0);
    let done = place
        .run(&["check", "a.str", "--max-filters", "10"])
        .ends(1)
        .says("[E0400]")
        .says("in Three, added at a.str:2");
    assert!(done.stderr.contains("in Main"), "{}", done.stderr);
}
