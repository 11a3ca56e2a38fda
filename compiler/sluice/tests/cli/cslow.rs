//! `sluice cslow`, streams that take turns, and equal branches as one filter.

use crate::support::*;
use serde_json::Value;

const DECAY: &str =
    "float->float filter Decay(float c) { float r; work pop 1 push 1 { r = c * r + pop(); push(r); } }\n";

fn json(done: Done) -> Value {
    serde_json::from_str(done.ends(0).text()).unwrap()
}

#[test]
fn the_papers_numbers() {
    let arguments = "cslow --d-c 5 --d-m 10 --n-rw 2 --alpha 0.6 --c 2 --d-c-slow 12 --n-rw-slow 4 --format json";
    let found = json(Place::new().run(&arguments.split(' ').collect::<Vec<_>>()));
    assert_eq!((&found["t1"], &found["q1"]), (&8.0.into(), &0.625.into()));
    assert_eq!((&found["tc"], &found["qc"]), (&12.0.into(), &1.0.into()));
    assert!((found["gain"].as_f64().unwrap() - 4.0 / 3.0).abs() < 1e-9);
    // without the numbers of two streams they are predicted, without C it is chosen
    let found = json(Place::new().run(&["cslow", "--d-c", "5", "--n-rw", "2", "--format", "json"]));
    assert_eq!((&found["c"], &found["choice"]), (&2.into(), &"full".into()));
    assert_eq!((&found["d_c_slow"], &found["n_rw_slow"]), (&12.0.into(), &4.0.into()));
}

#[test]
fn wrong_numbers() {
    let program = format!("{DECAY}float->float pipeline Main {{ add Decay(0.5); }}");
    let place = Place::new().with("a.str", program);
    for (arguments, said) in [
        ("--d-c 5", "--n-rw"),
        ("--n-rw 5", "--d-c"),
        ("--d-c 0 --n-rw 2", "not a number above 0"),
        ("--d-c nan --n-rw 2", "not a number"),
        ("--d-c 5 --n-rw 2 --alpha 1.5", "not a number from 0 to 1"),
        ("--d-c 5 --n-rw 2 --c 0", "not a whole number from 1 to 4096"),
        ("--d-c 5 --n-rw 2 --d-c-slow 12", "--c"),
        ("--d-c 5 --n-rw 2 --filter X", "cannot be used with"),
        ("a.str --d-c 5 --n-rw 2", "in place of the program a.str"),
        ("a.str --c 2 --streams 3", "give one"),
        ("a.str --streams 0", "not a whole number from 1 to 4096"),
        ("a.str --streams 4097", "not a whole number from 1 to 4096"),
        ("a.str --filter Decoy", "is it `Decay`?"),
        ("none.str", "none.str"),
    ] {
        let all: Vec<&str> = ["cslow"].into_iter().chain(arguments.split(' ')).collect();
        let done = place.run(&all);
        assert!(done.code == 2 || arguments == "none.str" && done.code == 3, "{arguments}: {}", done.code);
        done.says(said);
    }
}

#[test]
fn filters_and_loops_of_a_program() {
    let program = "float->float filter Decay { float r; work pop 1 push 1 { r = 0.5 * r + pop(); push(r); } }
        float->float filter Mix { work pop 2 push 1 { push(pop() + 0.25 * pop()); } }
        float->float feedbackloop Echo {
            join roundrobin(1, 1);
            body Mix;
            loop Identity<float>;
            split duplicate;
            for (int i = 0; i < 3; i++) enqueue(0.0);
        }
        float->float pipeline Main { add Decay; add Echo; }";
    let place = Place::new().with("a.str", program);
    let found = json(place.run(&["cslow", "a.str", "--format", "json"]));
    assert_eq!(found["schema"], "sluice-cslow-1");
    let loops = found["loops"].as_array().unwrap();
    let decay = &loops[0];
    assert_eq!((&decay["stream"], &decay["kind"]), (&"Main.Decay".into(), &"filter".into()));
    assert_eq!((&decay["d_c"], &decay["n_rw"], &decay["line"]), (&5.0.into(), &2.0.into(), &1.into()));
    assert_eq!((&decay["c"], &decay["bounds"]["rec_mii"]), (&2.into(), &5.into()));
    assert_eq!(decay["bounds"]["slow"]["iteration_bound_exact"], "5/2");
    let echo = &loops[1];
    assert_eq!((&echo["stream"], &echo["kind"], &echo["streams"]), (&"Main.Echo".into(), &"loop".into(), &4.into()));
    // three initial items: three iterations may be under way
    let bound = echo["bounds"]["iteration_bound"].as_f64().unwrap();
    assert_eq!(bound * 3.0, echo["d_c"].as_f64().unwrap(), "{echo}");
    assert_eq!(loops.len(), 2);
    // with a given number of streams, bounds are divided by it
    let found = json(place.run(&["cslow", "a.str", "--streams", "4", "--format", "json"]));
    let bounds = &found["loops"][0]["bounds"];
    assert_eq!(bounds["slow"]["iteration_bound"].as_f64().unwrap() * 4.0, 5.0);
    assert_eq!(found["loops"][0]["choice"], "given");
    let one = json(place.run(&["cslow", "a.str", "--filter", "Mix", "--format", "json"]));
    assert_eq!(one["loops"][0]["stream"], "Main.Echo.Mix");
    assert_eq!(one["loops"][0]["bounds"]["rec_mii"], Value::Null);
    // few registers leave room for few streams
    let few = json(place.run(&["cslow", "a.str", "--d-m", "400", "--registers", "8", "--format", "json"]));
    assert_eq!(few["loops"][0]["choice"], "registers");
}

#[test]
fn nothing_to_slow() {
    let place = Place::new().with("a.str", TWICE);
    let table = place.run(&["cslow", "a.str"]).ends(0);
    assert!(table.text().contains("no stateful filters"), "{}", table.text());
    let dynamic = "int->int filter Odd { int n; work pop 1 push [0, 1] { n += pop(); if (n % 2 == 1) push(n); } }";
    let place = Place::new().with("a.str", dynamic);
    let table = place.run(&["cslow", "a.str"]).ends(0);
    assert!(table.text().contains("rates are dynamic") && table.text().contains("E0960"), "{}", table.text());
}

/// Item x of stream s at x·N + s.
fn in_turn(streams: &[Vec<f32>]) -> Vec<f32> {
    (0..streams[0].len()).flat_map(|x| streams.iter().map(move |s| s[x])).collect()
}

fn raw(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn streams_in_turn_are_separate_runs() {
    let program = format!(
        "{DECAY}float->float filter Window {{ float last; prework push 1 {{ push(7); }}
            work pop 2 push 3 peek 5 {{ float a = pop(); push(a + peek(3)); push(last); last = pop(); push(iter()); }} }}
        float->float feedbackloop Echo {{ join roundrobin(1, 2); body Decay(0.5); loop Decay(0.25); split roundrobin(1, 2);
            enqueue(1.0); enqueue(2.0); }}
        float->float pipeline Main {{ add Decay(0.5); add Window; add Echo; add splitjoin {{ split roundrobin(1, 2);
            add Decay(0.75); add Window; join roundrobin(1, 3); }} }}"
    );
    let place = Place::new().with("a.str", program);
    let streams: Vec<Vec<f32>> =
        (0..3).map(|s| (0..90).map(|x| ((x * 37 + s * 11) % 29) as f32 / 7.0 - 2.0).collect()).collect();
    for mode in [&["--interpret"][..], &[], &["--fold=false", "--schedule", "minimum-latency"]] {
        let run = |more: &[&str], input: &[f32]| {
            let all = [&["run", "a.str"], mode, more].concat();
            raw(&place.run_with(&all, &floats(input)).ends(0).stdout)
        };
        for limit in [&[][..], &["--iterations", "3"]] {
            let separate: Vec<Vec<f32>> = streams.iter().map(|s| run(limit, s)).collect();
            assert!(separate[0].len() > 10, "{}", separate[0].len());
            let together = run(&[&["--streams", "3"], limit].concat(), &in_turn(&streams));
            assert_eq!(together, in_turn(&separate), "{mode:?}");
        }
    }
    // an executable serves as many streams
    place.run(&["build", "a.str", "--streams", "3", "-o", "slow"]).ends(0);
    let mut command = std::process::Command::new(place.path("slow"));
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let built = raw(&finish(command, &floats(&in_turn(&streams))).ends(0).stdout);
    let run = place.run_with(&["run", "a.str", "--streams", "3"], &floats(&in_turn(&streams)));
    assert_eq!(built, raw(&run.ends(0).stdout));
}

#[test]
fn items_that_pass_one_by_one() {
    // no filter says what a round is: an iteration is still one of every stream
    let place = Place::new().with("a.str", "int->int pipeline Main { add Identity<int>; }");
    let bytes: Vec<u8> = (0..24u8).collect();
    let done = place.run_with(&["run", "a.str", "--streams", "3", "--iterations", "1"], &bytes);
    assert_eq!(done.ends(0).stdout, &bytes[..12]);
}

#[test]
fn faults_stay_faults() {
    let cases = [
        ("push(a[(int) pop()]);", "E0950"),
        ("push(7 / (int) pop());", "E0951"),
        ("int n = (int) pop(); push((int) peek(n));", "E0952"),
        ("int n = (int) pop(); for (int i = 0; i < n; i++) pop(); push(1);", "E0953"),
        ("int n = (int) pop(); for (int i = 0; i < n; i++) push(1);", "E0954"),
    ];
    for (body, code) in cases {
        let program = format!("float->int filter A {{ int[3] a; int k; work pop 1 push 1 peek 2 {{ k++; {body} }} }}");
        let place = Place::new().with("a.str", program);
        // the second stream of three goes wrong in its third firing
        let ok = if matches!(code, "E0951" | "E0954") { 1.0 } else { 0.0 };
        let bad = if code == "E0951" { 0.0 } else { 3.0 };
        let mut input = vec![ok; 18];
        input[7] = bad;
        for mode in [&["--interpret"][..], &[]] {
            let all = [&["run", "a.str", "--streams", "3"], mode].concat();
            place.run_with(&all, &floats(&input)).ends(1).says(code);
            let good = vec![ok; 18];
            place.run_with(&all, &floats(&good)).ends(0);
        }
    }
}

#[test]
fn equal_branches_are_one_filter_unless_someone_looks() {
    let bank = format!(
        "{DECAY}float->float splitjoin Main {{ split roundrobin; for (int i = 0; i < 4; i++) add Decay(0.5); join roundrobin; }}"
    );
    let place = Place::new().with("a.str", bank);
    let input: Vec<f32> = (0..1000).map(|x| (x % 17) as f32 - 8.0).collect();
    let run = |more: &[&str]| place.run_with(&[&["run", "a.str"], more].concat(), &floats(&input)).ends(0);
    let want = run(&["--interpret"]).stdout;
    for more in [&[][..], &["--fold=false"], &["--fold"], &["--streams", "2"]] {
        let got = run(more).stdout;
        assert!(more.contains(&"--streams") || got == want, "{more:?}");
    }
    let graph = |more: &[&str]| run(&[&["--dump-after", "fold-branches"], more].concat()).text().to_string();
    assert!(graph(&[]).contains("Decay x4") && !graph(&[]).contains("split"), "{}", graph(&[]));
    // statistics are of the program as it is written
    assert!(run(&["--stats"]).says("Decay#4").stdout == want);
    let dot = |more: &[&str]| place.run(&[&["graph", "a.str", "-o", "-", "--format", "dot"], more].concat()).ends(0);
    assert!(dot(&["--folded"]).text().contains("Decay(0.5) x4") && !dot(&[]).text().contains("x4"));
    let told = place.run(&["cslow", "a.str"]).ends(0);
    assert!(told.text().contains("Main: 4 branches of Decay(0.5) become one filter"), "{}", told.text());
    // a manifest can turn it off
    let place = place.with("sluice.toml", "[program]\nsources = [\"a.str\"]\n[build]\nfold = false\n");
    let graph = |more: &[&str]| {
        let all = [&["run", ".", "--dump-after", "schedule"], more].concat();
        place.run_with(&all, b"").ends(0).text().to_string()
    };
    assert!(graph(&[]).contains("Decay#4") && !graph(&["--fold"]).contains("Decay#4"), "{}", graph(&["--fold"]));
}

#[test]
fn what_can_fail_is_not_folded() {
    let bank = |body: &str| {
        format!(
            "int->int filter A {{ int n; int[4] a; work pop 1 push 1 {{ {body} }} }}
            int->int splitjoin Main {{ split roundrobin; add A; add A; join roundrobin; }}"
        )
    };
    let folded = |text: String| {
        let place = Place::new().with("a.str", text);
        place.run_with(&["run", "a.str", "--dump-after", "fold-branches"], b"").ends(0).text().contains("A x2")
    };
    assert!(folded(bank("n += pop(); push(n);")));
    assert!(folded(bank("n = (n + pop()) & 3; a[n & 3]++; push(a[n & 3]);")));
    assert!(!folded(bank("n = pop(); push(a[n]); a[n]++;")));
    assert!(!folded(bank("n += 7 / pop(); push(n);")));
    assert!(!folded(bank("n += pop(); println(n); push(n);")));
    // without state there is nothing to gain
    assert!(!folded(bank("push(pop() + 1);")));
    // different arguments, weights that are no divisors
    let other = "int->int filter A(int k) { int n; work pop 2 push 1 { n += k * pop() + pop(); push(n); } }
        int->int splitjoin Main { split roundrobin(W); add A(1); add A(K); join roundrobin; }";
    let of = |w: &str, k: &str| other.replace('W', w).replace('K', k);
    let folds = |w, k| {
        let place = Place::new().with("a.str", of(w, k));
        place.run_with(&["run", "a.str", "--dump-after", "fold-branches"], b"").ends(0).text().contains("A x2")
    };
    assert!(folds("1", "1") && folds("2", "1") && !folds("4", "1") && !folds("3", "1") && !folds("1", "2"));
}

/// Who makes the code is decided by the sizes of input files: those of readers that lie behind branches which have become one filter, too.
#[test]
fn a_reader_behind_folded_branches() {
    let program = "void->int filter Count { int n; work push 16 { for (int i = 0; i < 16; i++) push(n++); } }
int->int filter Decay { int s; work pop 1 push 1 { s = s / 2 + pop(); push(s); } }
int->int filter Sum(int n) { work pop n push 1 { int s = 0; for (int i = 0; i < n; i++) s += pop(); push(s); } }
void->void pipeline Main {
    add splitjoin {
        split roundrobin(0);
        add pipeline {
            add Count;
            add splitjoin { split roundrobin(1); for (int i = 0; i < 16; i++) add Decay; join roundrobin(1); }
            add Sum(16);
        }
        add FileReader<int>(\"b.raw\");
        join roundrobin(1);
    }
    add Sum(2);
    add FileWriter<int>(\"c.raw\");
}
";
    let place = Place::new().with("a.str", program);
    std::fs::write(place.path("b.raw"), (0..100u8).collect::<Vec<_>>()).unwrap();
    let by = |arguments: &[&str]| {
        place.run(&[&["run", "a.str"], arguments].concat()).ends(0);
        std::fs::read(place.path("c.raw")).unwrap()
    };
    let wanted = by(&["--interpret"]);
    assert_eq!(wanted.len(), 100);
    for way in [&["--fold"][..], &["--fold", "--back-end", "cc"], &["--fold", "--iterations", "30"]] {
        assert!(by(way).starts_with(&wanted), "{way:?}");
    }
}

#[test]
fn why_there_are_so_many_streams_is_said() {
    let run = |more: &str| {
        let arguments = format!("cslow --d-c 5 --n-rw 2 --d-m 1000{more}");
        Place::new().run(&arguments.split(' ').collect::<Vec<_>>()).ends(0).text().to_string()
    };
    assert!(run("").contains("\nC = 132: the fewest with which Q is 1\n"), "{}", run(""));
    let few = run(" --registers 100");
    assert!(few.contains(": more streams would not fit into the registers\n"), "{few}");
    assert!(!run(" --c 2").contains("\nC = "));
    assert!(run(" --c 1").contains("1 stream gains 1.00"), "{}", run(" --c 1"));
}
