//! Text and WAV at the ends of a program: `sluice run`, native and interpreted, and programs of their own take, refuse and say the same.

use crate::running::both;
use crate::support::*;

/// A program and the executable that is made of it.
struct Ways {
    place: Place,
}

impl Ways {
    fn of(program: &str) -> Ways {
        let place = Place::new().with("a.str", program);
        place.run(&["build", "a.str", "-o", "a"]).ends(0);
        Ways { place }
    }

    /// Runs all ways; they must end alike, give the same bytes and, but for the name in front, say the same.
    #[track_caller]
    fn run(&self, arguments: &[&str], input: &[u8]) -> Done {
        let done = both(&self.place, &[&["a.str"], arguments].concat(), input);
        let mut command = std::process::Command::new(self.place.path("a"));
        command.args(arguments).stdin(std::process::Stdio::piped()).current_dir(self.place.path("."));
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let own = finish(command, input);
        let name = format!("{}: ", self.place.path("a").display());
        let said = own.stderr.replace(&name, "");
        assert_eq!((own.code, &said), (done.code, &done.stderr), "a program of its own and `sluice run`");
        assert!(own.stdout == done.stdout, "{:?}\n{:?}", own.stdout, done.stdout);
        done
    }
}

const TEXT: [&str; 4] = ["--input-format", "text", "--output-format", "text"];

/// Numbers may be long, but not without end; what is between them is white space in the sense of C, and a NUL is none.
#[test]
fn odd_text() {
    let floats = Ways::of(TWICE);
    let ints = Ways::of("int->int filter Twice { work pop 1 push 1 { push(pop() * 2); } }");
    let text = |ways: &Ways, input: &str| ways.run(&TEXT, input.as_bytes());
    let zeros = "0".repeat(400);
    assert_eq!(text(&floats, &format!("{zeros}1 0.{zeros}1e401 3")).ends(0).text(), "2.0\n2.0\n6.0\n");
    assert_eq!(text(&ints, &format!("{zeros}1 0x{zeros}1f -{zeros}")).ends(0).text(), "2\n62\n0\n");
    assert_eq!(text(&floats, &format!("0.{}", "3".repeat(400))).ends(0).text(), "0.6666667\n");
    assert_eq!(text(&ints, &"0".repeat(65_536)).ends(0).text(), "0\n");
    for (input, line) in [("1 ", 1), ("1\n2\n", 3)] {
        let done = text(&ints, &format!("{input}{}7 8", "0".repeat(65_536))).ends(3);
        done.says(&format!("line {line}")).says("has more than 65536 bytes, too many for a number");
    }
    assert_eq!(text(&ints, "1\x0b2\x0c3,4;5").ends(0).text(), "2\n4\n6\n8\n10\n");
    for ways in [&floats, &ints] {
        text(ways, "1 2\x003 4").ends(3).says("line 1: `2\\x003` is not a");
        text(ways, "\x00 1").ends(3).says("line 1: `\\x00` is not a");
        text(ways, "1 # \x00\n2").ends(0);
    }
    for word in ["0x+5", "0x", "+-5", "1_0", "0x100000000"] {
        text(&ints, word).ends(3).says(&format!("`{word}` is not a whole number from -2147483648 to 2147483647"));
    }
    let long = "x".repeat(50);
    text(&floats, &long).ends(3).says(&format!("`{}...` is not a number", &long[..40]));
    text(&floats, "é\x1b[1m").ends(3).says("`é\\x1b[1m` is not a number");
    Ways::of("bit->int filter A { work pop 1 push 1 { push((int)pop()); } }").run(&TEXT, b"1 2").ends(3).says("0 or 1");
}

/// The bytes of all headers are the same, and so is what is said about a last frame that had to be filled up.
#[test]
fn headers_of_wav() {
    let ways = Ways::of(TWICE);
    for format in ["wav", "wav24", "wav32", "wavf"] {
        for channels in ["1", "2", "3", "18", "20"] {
            let line = ["--input-format", "text", "--output-format", format, "--channels", channels];
            let done = ways.run(&line, b"0.5 0.25 0.125 0.25").ends(0);
            let filled = ["3", "18", "20"].contains(&channels);
            assert_eq!(done.stderr.contains("the last frame was filled up"), filled, "{}", done.stderr);
            for file in ["own.wav", "run.wav"] {
                let output = ["-o", file];
                let rest = [&line[..], &output].concat();
                match file {
                    "run.wav" => ways.place.run_with(&[&["run", "a.str"], &rest[..]].concat(), b"0.5 0.25 1").ends(0),
                    _ => {
                        let mut own = std::process::Command::new(ways.place.path("a"));
                        own.args(&rest).current_dir(ways.place.path(".")).stdin(std::process::Stdio::piped());
                        own.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
                        finish(own, b"0.5 0.25 1").ends(0)
                    }
                };
            }
            let read = |name: &str| std::fs::read(ways.place.path(name)).unwrap();
            assert!(read("own.wav") == read("run.wav"), "{format}, {channels} channels");
        }
    }
}

/// A file that is shorter than its header says, and one that ends within a frame.
#[test]
fn ends_of_wav() {
    let ways = Ways::of(TWICE);
    let wav = |channels: &str, numbers: &str| {
        let line = ["run", "a.str", "--input-format", "text", "-o", "in.wav", "--channels", channels];
        ways.place.run_with(&line, numbers.as_bytes()).ends(0);
        std::fs::read(ways.place.path("in.wav")).unwrap()
    };
    let whole = wav("2", ".1 .2 .3 .4");
    let line = ["--input-format", "wav", "--output-format", "text"];
    assert_eq!(ways.run(&line, &whole).ends(0).stderr, "");
    for (cut, says) in [(1, "1 byte before"), (2, "2 bytes before"), (5, "5 bytes before")] {
        let input = &whole[..whole.len() - cut];
        ways.run(&line, input).ends(0).says(&format!("warning: standard input ends {says} its header says"));
    }
    let mut torn = whole.clone();
    torn[40] = 6;
    let told = "warning: standard input ends within a frame: 1 of its 2 channels has a last sample";
    assert_eq!(ways.run(&line, &torn).ends(0).says(told).text().lines().count(), 3);
    // without a length in the header, too
    torn[40..44].fill(255);
    ways.run(&line, &torn[..torn.len() - 2]).ends(0).says(told);
    let mut more = wav("3", ".1 .2 .3 .4 .5 .6");
    let at = more.len() - 12 - 4;
    more[at] = 10;
    ways.run(&line, &more).ends(0).says("2 of its 3 channels have a last sample");
    // items that are frames: what is left over is told as before
    let ways = Ways::of("complex->complex filter Same { work pop 1 push 1 { push(pop()); } }");
    let mut half = whole.clone();
    half[40] = 6;
    ways.run(&line, &half).ends(0).says("2 bytes left over after 1 items");
}
