//! The files of stand-alone programs: formats, faults and exit codes.
#![allow(clippy::disallowed_methods)] // compiled programs are run, on files

mod common;

use common::*;
use sluice_frontend::graph::{Endpoint, NodeKind};
use sluice_frontend::ty::Ty;
use std::path::Path;

/// A program that copies items of a type.
fn copy(ty: Ty) -> Build {
    let mut b = Build::new();
    let (reader, identity, writer) = (b.reader(), b.node("identity", NodeKind::Identity), b.writer());
    b.join_of(reader, identity, ty.clone());
    b.join_of(identity, writer, ty);
    b
}

fn built(b: &Build) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let exe = b.executable(folder.path(), &sanitize());
    (folder, exe)
}

fn told(exe: &Path, args: &[&str], input: &[u8]) -> (Vec<u8>, String, i32) {
    let out = run(exe, args, input);
    (out.stdout, String::from_utf8(out.stderr).unwrap(), out.status.code().unwrap_or(-1))
}

#[test]
fn text_and_numbers() {
    let (_folder, exe) = built(&copy(Ty::Float));
    let text = b"1, 2.5;-3e2 # no 4\n 1e-7 0.1 16777216 nan inf 1e20";
    let (out, err, code) = told(&exe, &["--input-format", "text", "--output-format=text"], text);
    assert_eq!((err.as_str(), code), ("", 0));
    let want = "1.0\n2.5\n-300.0\n1e-7\n0.1\n16777216.0\nNaN\ninf\n1e20\n";
    assert_eq!(String::from_utf8(out).unwrap(), want);
    let (out, _, _) = told(&exe, &["--input-format", "i16", "--output-format", "f64"], &[1, 0, 255, 255]);
    assert_eq!(out, [1f64.to_le_bytes(), (-1f64).to_le_bytes()].concat());
    let (out, _, _) = told(&exe, &["--input-format", "rtl"], &[0, 255]);
    assert_eq!(out, [(-1f32).to_le_bytes(), 1f32.to_le_bytes()].concat());
    let (out, _, _) = told(&exe, &["--output-format", "u8"], &[300f32.to_le_bytes(), 2.5f32.to_le_bytes()].concat());
    assert_eq!(out, [255, 3]);
    let (_, err, code) = told(&exe, &["--input-format", "text"], b"1\n2 three");
    assert_eq!(code, 3);
    assert!(err.contains("line 2: `three`"), "{err}");
    let nan = 0xff80_0001u32.to_le_bytes();
    assert_eq!(told(&exe, &[], &nan).0, 0x7fc0_0000u32.to_le_bytes());
}

#[test]
fn wav_there_and_back() {
    let (folder, exe) = built(&copy(Ty::Complex));
    let samples: Vec<u8> = [0.5f32, -0.25, 1.0, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(folder.path().join("in.c64"), &samples).unwrap();
    for (format, size) in [("wav", 8), ("wav24", 12), ("wav32", 16), ("wavf", 16)] {
        let (_, err, code) =
            told(&exe, &["-i", "in.c64", "-o", "a.wav", "--output-format", format, "--rate", "8000"], b"");
        assert_eq!((err.as_str(), code), ("", 0));
        let wav = std::fs::read(folder.path().join("a.wav")).unwrap();
        // more than 16 bits are told in the long form
        let header = if format == "wav" { 44 } else { 68 };
        assert_eq!(wav.len(), header + size);
        assert_eq!(wav[4..8], (header as u32 - 8 + size as u32).to_le_bytes());
        let (out, err, _) = told(&exe, &["-i", "a.wav", "--output-format", "raw"], b"");
        assert_eq!(err, "");
        let got: Vec<f32> = out.chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect();
        assert_eq!(got[..2], [0.5, -0.25]);
        assert!((got[2] - 1.0).abs() < 1e-4 && got[3] == 0.0, "{got:?}");
    }
    // a header that promises more than there is, and one that gives no length
    let mut wav = std::fs::read(folder.path().join("a.wav")).unwrap();
    wav[64..68].copy_from_slice(&u32::MAX.to_le_bytes());
    std::fs::write(folder.path().join("b.wav"), &wav).unwrap();
    assert_eq!(told(&exe, &["-i", "b.wav", "--output-format", "raw"], b"").0.len(), 16);
    let (_, err, code) = told(&exe, &["-i", "in.c64", "--input-format", "wav"], b"");
    assert_eq!(code, 3);
    assert!(err.contains("not a WAV file"), "{err}");
}

#[test]
fn bits_are_packed() {
    let (_folder, exe) = built(&copy(Ty::Bit.array(3)));
    // 24 bits are eight items
    assert_eq!(told(&exe, &[], &[0xa5, 0x0f, 0xff]).0, [0xa5, 0x0f, 0xff]);
    // 8 bits are two items: six bits come out, filled up
    assert_eq!(told(&exe, &[], &[0xff]).0, [0xfc]);
}

#[test]
fn faults_have_exit_codes() {
    let (folder, exe) = built(&copy(Ty::Int));
    for (args, want, text) in [
        (&["--nonsense"][..], 2, "unknown option --nonsense"),
        (&["-i"], 2, "--input needs a value"),
        (&["--iterations", "x"], 2, "`x` is not a whole number from 0 to 9223372036854775807"),
        (&["--input-format", "mp3"], 2, "unknown format mp3"),
        (&["--input-format", "f32"], 2, "holds fractions"),
        (&["-i", "missing"], 3, "cannot read missing: No such file or directory"),
        (&["-i", "/"], 3, "it is a folder"),
        (&["-o", "no/such/folder"], 3, "cannot write no/such/folder"),
    ] {
        let (_, err, code) = told(&exe, args, b"");
        assert_eq!(code, want, "{args:?}: {err}");
        assert!(err.contains(text), "{args:?}: {err}");
    }
    let (out, _, code) = told(&exe, &["--help"], b"");
    assert_eq!(code, 0);
    assert!(String::from_utf8(out).unwrap().contains("takes items of type int from its input"));
    // an output is complete or absent, and an old one stays until then
    std::fs::write(folder.path().join("old"), "old").unwrap();
    assert_eq!(told(&exe, &["-i", "missing", "-o", "old"], b"").2, 3);
    assert_eq!(std::fs::read(folder.path().join("old")).unwrap(), b"old");
    assert_eq!(told(&exe, &["-o", "old"], &ints([5])).2, 0);
    assert_eq!(std::fs::read(folder.path().join("old")).unwrap(), ints([5]));
}

#[test]
fn a_fault_of_the_program_says_where() {
    for lowered in [false, true] {
        let mut b = Build::new();
        let nodes = [b.reader(), b.filter("Echo"), b.filter("Check"), b.writer()];
        b.chain(&nodes);
        b.lowered = lowered;
        let (folder, exe) = built(&b);
        let (out, err, code) = told(&exe, &["-o", "out"], &ints([1, 0, 2]));
        assert_eq!((code, out.as_slice()), (1, &b"1\n0\n2\n"[..]));
        assert!(err.contains("Check#2, firing 3: division by zero (test.str:"), "{err}");
        assert!(!folder.path().join("out").exists());
        // with the output on standard output the order can be seen
        let (_, err, code) = told(&exe, &[], &ints([1, 0, -3]));
        assert_eq!(code, 1);
        let want = "Check#2, firing 3: index -3 is outside of the array, whose indices run from 0 to 3";
        assert!(err.contains(want), "{err}");
    }
}

#[test]
fn files_that_the_program_names() {
    let mut b = Build::new();
    let reader = b.node("FileReader", NodeKind::Reader(Endpoint::File("in.raw".into())));
    let writer = b.node("FileWriter", NodeKind::Writer(Endpoint::File("out.raw".into())));
    let scale = b.filter("Scale");
    b.chain(&[reader, scale, writer]);
    let (folder, exe) = built(&b);
    std::fs::write(folder.path().join("in.raw"), ints(0..1000)).unwrap();
    let (out, err, code) = told(&exe, &[], b"");
    assert_eq!((out.len(), err.as_str(), code), (0, "", 0));
    assert_eq!(std::fs::read(folder.path().join("out.raw")).unwrap(), ints((0..1000).map(|i| 3 * i + 1)));
    assert_eq!(told(&exe, &["-i", "x"], b"").2, 2);
}

#[test]
fn structs_are_packed_in_files() {
    use sluice_frontend::ids::StructId;
    use sluice_frontend::typed::StructDef;
    let mut b = copy(Ty::Struct(StructId(0)).array(2));
    let fields = vec![("a".into(), Ty::Bool), ("b".into(), Ty::Double), ("c".into(), Ty::Complex.array(2))];
    b.world.globals.structs.push(StructDef { name: "S".into(), fields, span: Default::default() });
    let (folder, exe) = built(&b);
    let mut one = vec![1];
    one.extend(2.5f64.to_le_bytes());
    (0..4).for_each(|i| one.extend((i as f32).to_le_bytes()));
    let all = one.repeat(2 * 50_000);
    std::fs::write(folder.path().join("in"), &all).unwrap();
    assert_eq!(told(&exe, &["-i", "in", "-o", "out"], b"").1, "");
    assert!(std::fs::read(folder.path().join("out")).unwrap() == all);
}

/// Many numbers at once are what each is by itself: halves, limits, what is no number; more than a buffer holds.
#[test]
fn many_numbers_and_bits() {
    let (_folder, exe) = built(&copy(Ty::Float));
    let halves = (-70000..70000).map(|i| i as f32 * 0.5);
    let odd = [0.49999997, f32::INFINITY, f32::NAN, -0.0, 1e20, -1e20];
    let floats: Vec<f32> = halves.chain((-700..700).map(|i| i as f32 / 256.0)).chain(odd).collect();
    let bytes: Vec<u8> = floats.iter().flat_map(|x| x.to_le_bytes()).collect();
    let byte = |x: f64| x.round().clamp(0.0, 255.0) as u8;
    let each = |f: &dyn Fn(f64) -> Vec<u8>| floats.iter().flat_map(|x| f(f64::from(*x))).collect::<Vec<u8>>();
    let to = |format: &str| told(&exe, &["--output-format", format], &bytes).0;
    assert!(to("i16") == each(&|x| (x.round().clamp(-32768.0, 32767.0) as i16).to_le_bytes().to_vec()));
    assert!(to("i32") == each(&|x| (x.round() as i32).to_le_bytes().to_vec()));
    assert!(to("u8") == each(&|x| vec![byte(x)]));
    assert!(to("rtl") == each(&|x| vec![byte(x * 127.5 + 127.5)]));
    let words: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    let from = |exe: &Path, format: &str| told(exe, &["--input-format", format], &words).0;
    let ints = |n: usize, f: &dyn Fn(&[u8]) -> i32| words.chunks(n).map(f).collect::<Vec<i32>>();
    let (of_words, of_bytes) = (ints(2, &|w| i16::from_le_bytes([w[0], w[1]]).into()), ints(1, &|b| b[0].into()));
    for (format, want) in [("i16", &of_words), ("u8", &of_bytes)] {
        assert!(from(&exe, format) == want.iter().flat_map(|x| (*x as f32).to_le_bytes()).collect::<Vec<u8>>());
    }
    let (_folder, exe) = built(&copy(Ty::Int));
    for (format, want) in [("i16", &of_words), ("u8", &of_bytes)] {
        let ints: Vec<u8> = want.iter().flat_map(|x| x.to_le_bytes()).collect();
        assert!(from(&exe, format) == ints);
        assert!(told(&exe, &["--output-format", format], &ints).0 == words);
    }
    let (_folder, exe) = built(&copy(Ty::Bit));
    assert!(told(&exe, &[], &words).0 == words);
    let text = told(&exe, &["--output-format", "text"], &[0xa3, 0x01]).0;
    assert_eq!(String::from_utf8(text).unwrap().replace('\n', ""), "1010001100000001");
    assert_eq!(told(&exe, &["--input-format", "text"], b"1 0 1 0 0 0 1 1 1 1 1").0, [0xa3, 0xe0]);
}
