//! Runs: input and output in all formats, pipes, ends. What both ways of running must do is asked of both.

use crate::support::*;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// Runs natively and with the interpreter; both must do the same.
#[track_caller]
pub fn both(place: &Place, arguments: &[&str], input: &[u8]) -> Done {
    let mut line = vec!["run"];
    line.extend(arguments);
    let native = place.run_with(&line, input);
    line.push("--interpret");
    let interpreted = place.run_with(&line, input);
    assert_eq!(native.code, interpreted.code, "native:\n{}\ninterpreted:\n{}", native.stderr, interpreted.stderr);
    assert_eq!(native.stdout, interpreted.stdout);
    native
}

#[test]
fn prints_for_some_iterations() {
    let place = Place::new().with("a.str", COUNT);
    assert_eq!(both(&place, &["a.str", "-n", "3"], b"").ends(0).text(), "0\n1\n2\n");
    assert_eq!(both(&place, &["a.str", "-n", "0"], b"").ends(0).text(), "");
}

#[test]
fn open_ends_default_to_raw_standard_streams() {
    let place = Place::new().with("a.str", TWICE);
    let done = both(&place, &["a.str"], &floats(&[1.0, -2.5, 1e30])).ends(0);
    assert_eq!(done.stdout, floats(&[2.0, -5.0, 2e30]));
    let done = both(&place, &["a.str", "--input-format", "text", "--output-format", "text"], b"1 2.5\n# x\n3").ends(0);
    assert_eq!(done.text(), "2.0\n5.0\n6.0\n");
}

#[test]
fn wav_to_wav_keeps_rate_and_channels() {
    let place = Place::new().with("a.str", TWICE);
    let spec = hound_like_wav(&[100, -200, 300, 400], 2, 22050);
    let place = place.with("in.wav", spec);
    both(&place, &["a.str", "-i", "in.wav", "-o", "out.wav"], b"").ends(0);
    assert_eq!(std::fs::read(place.path("out.wav")).unwrap()[22..28], [2, 0, 0x22, 0x56, 0, 0]);
    assert!(std::fs::read(place.path("out.wav")).unwrap().ends_with(&[200, 0, 0x70, 0xfe, 0x58, 2, 0x20, 3]));
    place.run(&["run", "a.str", "-i", "a.str", "--input-format", "wav"]).ends(3).says("not a WAV");
}

/// A 16-bit WAV.
fn hound_like_wav(samples: &[i16], channels: u16, rate: u32) -> Vec<u8> {
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
}

/// What goes into a pipe has a header without a length: it is read to its end, whoever reads it.
#[test]
fn wav_through_a_pipe() {
    let place = Place::new().with("a.str", TWICE);
    place.run(&["build", "a.str", "-o", "a"]).ends(0);
    let built = |arguments: &[&str], input: &[u8]| {
        let mut command = std::process::Command::new(place.path("a"));
        command.args(arguments).stdin(std::process::Stdio::piped());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        finish(command, input)
    };
    let numbers = |n: usize| (0..n).map(|i| format!("{}\n", i as f32 / 64.0)).collect::<String>();
    for format in ["wav", "wav24", "wav32", "wavf"] {
        for channels in 1..=3 {
            let (count, of) = (5 * channels, channels.to_string());
            let text = numbers(count);
            let line = ["run", "a.str", "--input-format", "text", "--output-format", format, "--channels", &of];
            let wav = place.run_with(&line, text.as_bytes()).ends(0).stdout;
            let read = ["--input-format", "wav", "--output-format", "text"];
            let wanted: String = (0..count).map(|i| format!("{:?}\n", i as f32 / 16.0)).collect();
            for done in [both(&place, &[&["a.str"][..], &read].concat(), &wav), built(&read, &wav)] {
                let done = done.ends(0);
                assert_eq!((done.text(), done.stderr.as_str()), (&wanted[..], ""), "{format}, {channels} channels");
            }
        }
    }
    // both refuse the same headers
    let mut wav = hound_like_wav(&[1, 2, 3], 1, 8000);
    for bits in [7, 0, 12, 24] {
        wav[34] = bits;
        let says = format!("WAV samples of {bits} bits in 2 bytes are not supported");
        both(&place, &["a.str", "--input-format", "wav"], &wav).ends(3).says(&says);
        built(&["--input-format", "wav"], &wav).ends(3).says(&says);
    }
    // samples wider than their bits, A-law, no channels
    let odd = [
        (32, 4, "16 bits in 4 bytes are not supported"),
        (20, 6, "of format 6 are not supported"),
        (22, 0, "it has no channels"),
    ];
    for (at, value, says) in odd {
        let mut wav = hound_like_wav(&[1, 2, 3, 4], 1, 8000);
        wav[at] = value;
        both(&place, &["a.str", "--input-format", "wav"], &wav).ends(3).says(says);
        built(&["--input-format", "wav"], &wav).ends(3).says(says);
    }
    // and take the same: a length that is no multiple of a sample's, or of a frame's
    let mut wav = hound_like_wav(&[1, 2, 3], 2, 8000);
    wav[40] = 5;
    let done = both(&place, &["a.str", "--input-format", "wav"], &wav).ends(0).says("1 byte left over after 2 items");
    let by_itself = built(&["--input-format", "wav"], &wav).ends(0).says("1 byte left over after 2 items");
    assert_eq!(done.stdout, by_itself.stdout);
}

#[test]
fn leftover_bytes_are_reported() {
    let place = Place::new().with("a.str", TWICE);
    let done = both(&place, &["a.str"], &[0, 0, 128, 63, 1, 2, 3]).ends(0).says("3 bytes left over after 1 items");
    assert_eq!(done.stdout, floats(&[2.0]));
}

#[test]
fn file_readers_and_writers() {
    let program = "void->void pipeline Main { add FileReader<int>(\"in.bin\"); add FileWriter<int>(\"out.bin\"); }";
    let place = Place::new().with("a.str", program).with("in.bin", [1, 2, 3, 4, 5, 6, 7, 8]);
    both(&place, &["a.str"], b"").ends(0);
    assert_eq!(std::fs::read(place.path("out.bin")).unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn a_failed_run_leaves_no_output() {
    let program = "int->int filter Invert { work pop 1 push 1 { push(100 / pop()); } }";
    let place = Place::new().with("a.str", program).with("in.txt", "1 2 0 4");
    let done = both(&place, &["a.str", "-i", "in.txt", "-o", "out.txt"], b"").ends(1).says("Invert");
    assert!(done.stderr.contains("zero"), "{}", done.stderr);
    assert_eq!(place.files(), ["a.str", "in.txt"]);
    both(&place, &["a.str", "-i", "in.txt", "-o", "out.txt", "-n", "2"], b"").ends(0);
    assert_eq!(std::fs::read_to_string(place.path("out.txt")).unwrap(), "100\n50\n");
}

#[test]
fn bad_text_is_the_inputs_fault() {
    let place = Place::new().with("a.str", TWICE).with("in.txt", "1\n2 three");
    both(&place, &["a.str", "-i", "in.txt", "-o", "out.txt"], b"")
        .ends(3)
        .says("in.txt, line 2: `three` is not a number");
    assert_eq!(place.files(), ["a.str", "in.txt"]);
}

/// What comes before a number that is none comes out, in all ways of running.
#[test]
fn what_comes_before_bad_text_comes_out() {
    let show = "int->void filter Show { work pop 1 { println(pop()); } }\n";
    let third = "int->int filter Third { work pop 3 push 1 { push(pop() + pop() + pop()); } }\n";
    let tell = "int->int filter Tell { work pop 1 push 1 { println(-peek(0)); push(pop()); } }\n";
    let whole = format!("{third}{tell}{show}int->void pipeline Main {{ add Tell; add Third; add Show; }}");
    for program in [TWICE, &whole] {
        let place = Place::new().with("a.str", program);
        place.run(&["build", "a.str", "-o", "a"]).ends(0);
        for (text, formats) in [
            ("1 2 x 4", &["--output-format", "text"][..]),
            ("1 2 3 4 5 6 7 x", &["--output-format", "text"]),
            (&("1 ".repeat(20_000) + "x"), &["--output-format", "text"]),
        ] {
            let formats = if program == TWICE { formats } else { &[] };
            let rest = [&["--input-format", "text"], formats].concat();
            let wanted = both(&place, &[&["a.str"], &rest[..]].concat(), text.as_bytes()).ends(3).says("`x` is not");
            assert!(!wanted.stdout.is_empty());
            for way in [&["--back-end", "cc"][..], &["--back-end", "jit"], &["--threads", "2"]] {
                let line = [&["run", "a.str"], &rest[..], way].concat();
                let done = place.run_with(&line, text.as_bytes()).ends(3).says("`x` is not");
                assert!(done.stdout == wanted.stdout, "{way:?}: {} and {}", done.text(), wanted.text());
            }
            let mut built = std::process::Command::new(place.path("a"));
            built.args(&rest).stdin(std::process::Stdio::piped());
            built.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            let done = finish(built, text.as_bytes()).ends(3).says("`x` is not");
            assert!(done.stdout == wanted.stdout, "{} and {}", done.text(), wanted.text());
        }
    }
}

/// The same for bytes that are no bits.
#[test]
fn what_comes_before_a_byte_that_is_no_bit_comes_out() {
    let place = Place::new().with("a.str", "bit->int filter Main { work pop 1 push 1 { push((int)pop()); } }");
    place.run(&["build", "a.str", "-o", "a"]).ends(0);
    let formats = ["--input-format", "u8", "--output-format", "text"];
    let done = both(&place, &[&["a.str"][..], &formats].concat(), &[0, 1, 1, 7, 1]).ends(3).says("7 is not a bit");
    assert_eq!(done.text(), "0\n1\n1\n");
    let mut built = std::process::Command::new(place.path("a"));
    built.args(formats).stdin(std::process::Stdio::piped());
    built.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let done = finish(built, &[0, 1, 1, 7, 1]).ends(3).says("7 is not a bit");
    assert_eq!(done.text(), "0\n1\n1\n");
}

#[test]
fn options_for_ends_that_are_closed_are_refused() {
    let place = Place::new().with("a.str", COUNT);
    both(&place, &["a.str", "-i", "x"], b"").ends(2).says("no open input");
    both(&place, &["a.str", "--rate", "8000"], b"").ends(2).says("no open output");
}

/// Options without an effect are not passed over.
#[test]
fn options_without_an_effect_are_told() {
    let place = Place::new().with("a.str", TWICE);
    place.run(&["build", "a.str", "-o", "a"]).ends(0);
    for (option, value) in [("--rate", "8000"), ("--channels", "2")] {
        let says = format!("{option} has a meaning only for a WAV output");
        for output in ["-", "o.f32", "o"] {
            both(&place, &["a.str", option, value, "-o", output], b"").ends(2).says(&says);
        }
        both(&place, &["a.str", option, value, "-o", "o.wav", "--output-format", "raw"], b"").ends(2).says(&says);
        both(&place, &["a.str", option, value, "--output-format", "wav"], b"").ends(0);
        let built = std::process::Command::new(place.path("a")).args([option, value]).output().unwrap();
        let said = String::from_utf8_lossy(&built.stderr).into_owned();
        assert!(built.status.code() == Some(2) && said.contains(&says), "{said}");
    }
    let says = "--linear direct has a meaning only with --fast-math";
    place.run(&["run", "a.str", "--linear", "direct"]).ends(0).says(says);
    place.run(&["build", "a.str", "--linear", "direct", "-o", "a"]).ends(0).says(says);
    let measured = ["profile", "a.str", "-n", "1", "--linear", "direct", "-o", "p"];
    place.run_with(&measured, &floats(&[1.0, 2.0])).ends(0).says(says);
    assert!(!place.run(&["run", "a.str", "--linear", "off"]).ends(0).stderr.contains("--fast-math"));
    assert!(!place.run(&["run", "a.str", "--linear", "direct", "--fast-math"]).ends(0).stderr.contains("meaning"));
    // what a manifest says is meant for when it has an effect
    let place = place.with("sluice.toml", "[program]\nname = \"p\"\nsources = [\"a.str\"]\n[run]\nrate = 8000\n");
    place.run(&["run", "-o", "o.f32"]).ends(0);
}

#[test]
fn without_a_c_compiler_only_its_own_way_is_missing() {
    let place = Place::new().with("a.str", COUNT);
    let mut c = place.command(&["run", "a.str", "-n", "1", "--back-end", "cc"]);
    c.env("CC", "/no/such/compiler");
    finish(c, b"").ends(3).says("C compiler").says("--back-end jit");
    for way in [&["--interpret"][..], &["--back-end", "interpret"], &["--back-end", "jit"], &[]] {
        let mut c = place.command(&[&["run", "a.str", "-n", "1"], way].concat());
        c.env("CC", "/no/such/compiler");
        let done = finish(c, b"").ends(0);
        assert_eq!((done.text(), done.stderr.as_str()), ("0\n", ""));
    }
}

/// A C compiler that compiles nothing is the system's fault, not that of the text it was given.
#[test]
fn a_c_compiler_that_does_not_work() {
    let native = "native C { int zero(); } void->int filter Zero { work push 1 { push(C.zero()); } }\nint->void filter Show { work pop 1 { println(pop()); } }\nvoid->void pipeline Main { add Zero; add Show; }";
    let place = Place::new().with("a.str", COUNT).with("b.str", native);
    let place = place.with("zero.c", "int zero(void) { return 0; }\n");
    for (cc, says) in [("/bin/false", "it says nothing"), ("cc -bogus", "bogus")] {
        let lines: [&[&str]; 4] = [
            &["run", "a.str", "-n", "1", "--back-end", "cc"],
            &["build", "a.str", "-o", "a"],
            &["build", "a.str", "--lib", "-o", "liba.so"],
            &["run", "b.str", "-n", "1", "--native", "zero.c"],
        ];
        for line in lines {
            let mut command = place.command(line);
            command.env("CC", cc);
            let named = format!("the C compiler named by CC, `{cc}`, cannot compile a trivial program");
            finish(command, b"").ends(3).says(&named).says(says);
        }
    }
    assert_eq!(place.files(), ["a.str", "b.str", "zero.c"]);
}

#[test]
fn a_pipe_waits_for_no_more_than_it_needs() {
    for extra in [&[][..], &["--interpret"]] {
        let place = Place::new().with("a.str", TWICE);
        let mut child = place.command(&[&["run", "a.str"], extra].concat()).spawn().unwrap();
        let (mut to, mut from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        for i in 0..5 {
            to.write_all(&(i as f32).to_le_bytes()).unwrap();
            let mut item = [0; 4];
            from.read_exact(&mut item).unwrap();
            assert_eq!(f32::from_le_bytes(item), 2.0 * i as f32);
        }
        drop(to);
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn a_broken_pipe_is_no_error() {
    for extra in [&[][..], &["--interpret"]] {
        let place = Place::new().with("a.str", COUNT);
        let mut child = place.command(&[&["run", "a.str"], extra].concat()).spawn().unwrap();
        let mut first = [0; 2];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let done = child.wait_with_output().unwrap();
        assert_eq!((done.status.code(), &done.stderr[..]), (Some(0), &b""[..]));
    }
}

#[test]
fn ctrl_c_ends_with_whole_items() {
    for extra in [&[][..], &["--interpret"]] {
        let place =
            Place::new().with("a.str", "void->int stateful filter Count { int n = 0; work push 1 { push(n); n++; } }");
        let child = place.command(&[&["run", "a.str", "-o", "out.bin"], extra].concat()).spawn().unwrap();
        let limit = Instant::now() + Duration::from_secs(30);
        while place.files().len() < 2 && Instant::now() < limit {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(200));
        let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let done = child.wait_with_output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        let bytes = std::fs::read(place.path("out.bin")).unwrap();
        assert!(!bytes.is_empty() && bytes.len().is_multiple_of(4));
        assert_eq!(place.files(), ["a.str", "out.bin"]);
    }
}

#[test]
fn many_runs_share_the_cache() {
    let place = Place::new().with("a.str", TWICE);
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| assert_eq!(place.run_with(&["run", "a.str"], &floats(&[3.0])).ends(0).stdout, floats(&[6.0])));
        }
    });
}

/// Whether the C compiler could make a loop of the calls or not: an endless recursion is a fault of the program, with its place.
#[test]
fn endless_recursion_is_reported() {
    for body in [
        "int f(int n) { return f(n + 1); } work { println(f(0)); }",
        "int f(int n) { return f(n + 1) + f(n + 2); } work { println(f(0)); }",
        "S f(S s) { s.n++; return g(s); } S g(S s) { return f(s); } work { S s; s = f(s); println(s.n); }",
        "void f(int n) { f(n + 1); } work { f(0); }",
    ] {
        let program = format!("struct S {{ float[300] a; int n; }}\nvoid->void filter Main {{ {body} }}");
        let place = Place::new().with("a.str", &program);
        let native = both(&place, &["a.str", "-n", "1"], b"").ends(1).says("E0955");
        let interpreted = place.run(&["run", "a.str", "-n", "1", "--interpret"]);
        // of two that call each other, either may be the one too many
        if !program.contains(" g(") {
            assert_eq!(native.stderr, interpreted.stderr);
        }
    }
}

/// A fault in the middle of a batch: what came before it comes out, as from the interpreter, and the firing is known.
#[test]
fn what_comes_before_a_fault_comes_out() {
    let program = "void->int filter Count { int n; work push 1 { push(n++); } }
int->int filter Divide { work pop 1 push 1 { push(1000 / (700 - pop())); } }
int->int filter Sum { int s; work peek 3 pop 1 push 1 { s += peek(2); push(s + pop()); } }
int->void filter Show { work pop 1 { println(pop()); } }
void->void pipeline Main { add Count; add Divide; add Sum; add Show; }";
    let place = Place::new().with("a.str", program);
    let wanted = place.run(&["run", "a.str", "--interpret"]).ends(1);
    assert_eq!(wanted.text().lines().count(), 698);
    for options in [&["-O0"][..], &["-O3"], &["--schedule", "minimum-latency"]] {
        let done = place.run(&[&["run", "a.str"], options].concat()).ends(1).says("firing 701: division by zero");
        assert!(done.stdout == wanted.stdout, "{options:?}");
    }
    // items of an open end, too
    let open = program.replace("void->void pipeline Main", "void->int pipeline Main").replace(" add Show;", "");
    let place = Place::new().with("b.str", open);
    let wanted = place.run(&["run", "b.str", "--interpret"]).ends(1);
    let done = place.run(&["run", "b.str", "-O1"]).ends(1);
    assert!(done.stdout == wanted.stdout, "{} and {} bytes", done.stdout.len(), wanted.stdout.len());
}

/// What filters before the one at fault have printed and put out in the same batch is taken back, where it has not left the program yet.
#[test]
fn what_comes_after_a_fault_does_not_come_out() {
    let program = "void->int filter Count { int n; work push 1 { push(n++); } }
int->int filter Tell { work pop 1 push 1 { int x = pop(); println(x); push(x); } }
int->int filter Divide(int at) { int s; work pop 1 push 1 { int x = pop(); s += 1000 / (at - x); for (int i = 0; i < 20; i++) { s = s * 3 + i; } push(s); } }
void->int pipeline Main { add Count; add Tell; add Divide(300); }";
    let place = Place::new().with("a.str", program);
    let results = |options: &[&str]| {
        let all = [&["run", "a.str", "-o", "b.bin"], options].concat();
        let done = place.run(&all).ends(1).says("firing 301: division by zero");
        done.text().lines().count()
    };
    let wanted = results(&["--interpret"]);
    assert_eq!(wanted, 301);
    for options in [&["-O0"][..], &["-O3"], &["--back-end", "jit"], &["-O0", "--threads", "2", "--threads-batch", "64"]]
    {
        assert_eq!(results(options), wanted, "{options:?}");
    }
}

/// A firing that does not end heeds no request: the run ends all the same, with the code that tells of the signal, and leaves no file.
#[test]
fn an_endless_firing_can_be_ended() {
    const ENDLESS: &str = "void->int filter Count { int n; work push 1 { while (n >= 0) n = n + 2 & 255; push(n); } }";
    for (signal, code, built) in
        [("-INT", 130, false), ("-TERM", 143, false), ("-INT", 130, true), ("-TERM", 143, true)]
    {
        let place = Place::new().with("a.str", ENDLESS).with("out.bin", "before");
        let mut command = if built {
            place.run(&["build", "a.str", "-o", "a"]).ends(0);
            let mut command = std::process::Command::new(place.path("a"));
            command.current_dir(place.path(".")).args(["-o", "out.bin"]);
            command
        } else {
            place.command(&["run", "a.str", "-o", "out.bin"])
        };
        let before = place.files().len();
        let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
        // a temporary file beside the output says that the run has begun
        let limit = Instant::now() + Duration::from_secs(60);
        while place.files().len() == before && Instant::now() < limit {
            std::thread::sleep(Duration::from_millis(20));
        }
        // and a while later so has the firing: a request before it would be heeded
        std::thread::sleep(Duration::from_millis(500));
        let killed = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let limit = Instant::now() + Duration::from_secs(60);
        let ended = loop {
            match child.try_wait().unwrap() {
                None if Instant::now() < limit => std::thread::sleep(Duration::from_millis(20)),
                None => {
                    child.kill().unwrap();
                    panic!("it runs on: {signal}, built: {built}");
                }
                Some(status) => break status,
            }
        };
        assert_eq!(ended.code(), Some(code), "{signal}, built: {built}");
        assert_eq!(place.files().len(), before, "{:?}", place.files());
        assert_eq!(std::fs::read(place.path("out.bin")).unwrap(), b"before");
    }
}

/// Rates without a common factor make too many items meet for native code, but the data are few: the program is interpreted, and that is said; who asks for native code gets an error.
#[test]
fn buffers_that_native_code_cannot_have() {
    let place = Place::new().with(
        "a.str",
        "int->int filter Spread { work pop 1 push 50000 { int v = pop(); for (int i = 0; i < 50000; i++) push(v + i); } }
int->int filter Gather { work pop 49999 push 1 { int s; for (int i = 0; i < 49999; i++) s += pop(); push(s); } }
int->int pipeline Main { add Spread; add Gather; }
",
    );
    let input: Vec<u8> = [7, -3, 1000].iter().flat_map(|i: &i32| i.to_le_bytes()).collect();
    let wanted = place.run_with(&["run", "a.str", "--interpret"], &input).ends(0);
    assert_eq!((wanted.stdout.len(), wanted.stderr.as_str()), (12, ""));
    let done = place.run_with(&["run", "a.str"], &input).ends(0);
    assert_eq!(done.stdout, wanted.stdout);
    assert!(done.stderr.contains("the interpreter runs the program (E0962)"), "{}", done.stderr);
    let refused = place.run_with(&["run", "a.str", "--back-end", "cc"], &input).ends(1);
    assert!(refused.stderr.contains("E0962") && refused.stderr.contains("--interpret"), "{}", refused.stderr);
}
