//! The small programs of benchmarks/peers give what C by hand, FAUST and libraries give, each fed in uneven pieces; and a race refuses whoever computes
//! something else.

#![allow(clippy::disallowed_methods)] // tests read and write files

mod common;

use common::{COMPILED, INTERPRETED, MADE, floats, root, run};
use sluice_benchmarks::beside::{Plain, Program};
use sluice_benchmarks::peers::{PEERS, Runner, SMALL, Small, absent};
use std::collections::BTreeSet;
use std::path::Path;

/// Items of input, at least.
const ITEMS: usize = 4096;
const FLAGS: [&str; 5] = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"];

fn small(name: &str) -> &'static Small {
    SMALL.iter().find(|s| s.name == name).unwrap()
}

/// What it gives when the input comes in pieces of all sizes, the shortest of one steady state.
fn in_pieces(small: &Small, program: &mut dyn Program, input: &[u32]) -> Vec<u32> {
    let (mut output, mut rest) = (Vec::new(), input);
    for piece in [1, 3, 40, 1, 2, 300, 7, 64, 13].into_iter().cycle() {
        let words = (piece * small.input.1 * small.input.0.words()).min(rest.len());
        program.run(&rest[..words], &mut output).unwrap();
        rest = &rest[words..];
        if rest.is_empty() {
            return output;
        }
    }
    unreachable!()
}

fn by_hand(small: &Small, work: &Path, called: &str) -> Plain {
    small.plain((&root(), work), ("cc", &FLAGS), (small.by_hand, ""), called).unwrap()
}

fn holds(name: &str) {
    let (small, root, folder) = (small(name), root(), tempfile::tempdir().unwrap());
    let (work, input) = (folder.path(), small.samples(ITEMS));
    let ours = run(&small.program(&root), &input, COMPILED, work);
    assert!(ours.len() >= ITEMS / 8, "{}", ours.len());
    assert!(ours == run(&small.program(&root), &input, INTERPRETED, work), "{name}: the interpreter differs");
    assert!(ours == run(&small.program(&root), &input, MADE, work), "{name}: code made in memory differs");

    let same = |who: &str, theirs: &[u32]| match small.agree(&ours, (who, theirs)) {
        Ok(worst) => eprintln!("{name}: {who}: within {worst:.1e}, {:.0e} is allowed", small.tolerance_of(who)),
        Err(why) => panic!("{name}: {who}: {why}"),
    };
    let reference = in_pieces(small, &mut by_hand(small, work, "by-hand"), &input);
    same("C by hand", &reference);
    // the comparison sees what is a little too loud, and what comes too late
    let louder: Vec<u32> = floats(&reference).iter().map(|x| (x * 1.01).to_bits()).collect();
    assert!(small.agree(&ours, ("", &louder)).is_err(), "{name}: louder");
    let late: Vec<u32> = vec![0; small.output.0.words()].into_iter().chain(reference).collect();
    assert!(small.agree(&ours, ("", &late)).is_err(), "{name}: late");
    for less in [&[], &ours[..ours.len() / 2]] {
        assert!(small.agree(&ours, ("", less)).is_err(), "{name}: {}", less.len());
    }

    let (mut theirs, shared) = (Vec::new(), Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    for library in small.libraries {
        // of C++ only the glue is compiled here, which takes long enough
        let first = if library.file.ends_with(".cc") { ["-std=gnu++17", "-O0"] } else { [FLAGS[0], FLAGS[1]] };
        let flags: Vec<&str> = first.iter().chain(&FLAGS[2..]).copied().collect();
        let made = small.peer((&root, work, &shared), ("cc", &flags), library, library.name);
        theirs.push((library.name, made.map(Some)));
    }
    for with in ["", "-vec"] {
        theirs.push(("FAUST", small.faust((&root, work), &["-O2"], with, &format!("faust{with}"))));
    }
    for (who, made) in theirs {
        match made {
            Ok(None) => {}
            Ok(Some(mut program)) => same(who, &in_pieces(small, &mut program, &input)),
            Err(why) if absent(&why) => {
                sluice_skipped::skipped(&format!("{name} against {who}, which is not installed"))
            }
            Err(why) => panic!("{name}: {who}: {why}"),
        }
    }
}

common::programs!(SMALL, holds; fir iir bank resample fm fft64 fft1024);

/// A program that is a little too loud.
struct Louder(Plain);

impl Program for Louder {
    fn run(&mut self, input: &[u32], output: &mut Vec<u32>) -> Result<Option<f64>, String> {
        let at = output.len();
        self.0.run(input, output)?;
        output[at..].iter_mut().for_each(|x| *x = (f32::from_bits(*x) * 1.01).to_bits());
        Ok(None)
    }
}

#[test]
fn whoever_computes_something_else_does_not_race() {
    let (small, folder) = (small("fir"), tempfile::tempdir().unwrap());
    let input = small.samples(1000);
    let plain = |called: &str| by_hand(small, folder.path(), called);
    let runner = |name, program| Runner { name, with: "", program };
    let mut fair = [runner("sluice", Box::new(plain("a")) as Box<dyn Program>), runner("gcc", Box::new(plain("b")))];
    let raced = small.race(&mut fair, &input).unwrap();
    assert!(raced.iter().all(|r| r.times.len() == 31) && raced[1].name == "gcc");
    let mut unfair = [
        runner("sluice", Box::new(plain("c")) as Box<dyn Program>),
        runner("gcc", Box::new(plain("d"))),
        runner("VOLK", Box::new(Louder(plain("e")))),
    ];
    let why = small.race(&mut unfair, &input).err().unwrap();
    assert!(why.starts_with("fir: VOLK") && why.contains("does not do the same work"), "{why}");
}

/// Every file of the folder belongs to a program, every library has a column, and the page lists the programs.
#[test]
fn the_folder_and_the_page_agree_with_the_list() {
    let folder = root().join("benchmarks/peers");
    let page = std::fs::read_to_string(root().join("benchmarks/README.md")).unwrap();
    let mut known: BTreeSet<String> = ["peers.h", "faust.c"].map(String::from).into();
    for s in &SMALL {
        known.extend([format!("{}.str", s.name), s.by_hand.into()]);
        known.extend(s.faust.map(|_| format!("{}.dsp", s.name)));
        known.extend(s.libraries.iter().map(|l| l.file.to_string()));
        assert!(s.libraries.iter().all(|l| PEERS.contains(&l.name)), "{}", s.name);
        let row = format!("| [{0}](peers/{0}.str) | {1} |", s.name, s.what);
        assert!(page.contains(&row), "benchmarks/README.md lacks the row\n{row}");
    }
    let found = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(known, found);
}
