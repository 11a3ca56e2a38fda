//! Tests of readers and writers together.

use super::bytes::Bytes;
use super::format::{Format, WavSample};
use super::item::ItemType;
use super::reader::{Got, Reader};
use super::sink::Out;
use super::writer::{WavOptions, Writer};
use crate::exit::{Exit, Fault};
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::Globals;

fn item(ty: Ty) -> ItemType {
    ItemType::of(&ty, &Globals::default()).unwrap()
}

/// All items of parts, and the remark at the end.
fn read(parts: &[&[u8]], format: Format, ty: Ty) -> Result<(Vec<u8>, Option<String>), Fault> {
    let ty = item(ty);
    let size = ty.bytes;
    let mut reader = Reader::over(Bytes::of_parts(parts), format, ty)?;
    let (mut all, mut space) = (Vec::new(), vec![0; 3 * size]);
    loop {
        match reader.read(&mut space, true)? {
            Got::Items(n) => all.extend_from_slice(&space[..n * size]),
            Got::NoneYet => panic!("waiting gives an item or the end"),
            Got::End => return Ok((all, reader.leftover().map(str::to_string))),
        }
    }
}

/// What items become in a file.
fn written(name: &str, format: Option<Format>, ty: Ty, wav: WavOptions, items: &[&[u8]]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let out = Out::to(Box::new(std::io::sink()));
    let mut writer = Writer::open(path.to_str().unwrap(), format, item(ty), wav, &out).unwrap();
    for part in items {
        writer.write(part).unwrap();
    }
    assert!(!path.exists(), "absent until complete");
    writer.finish().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file stays");
    std::fs::read(path).unwrap()
}

const WAV: WavOptions = WavOptions { rate: 8000, channels: 1 };

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

#[test]
fn raw_items_over_any_parts() {
    let bytes = floats(&[1.0, 2.0, 3.0]);
    for cut in 0..=12 {
        let (all, left) = read(
            &[&bytes[..cut], &bytes[cut..]].iter().copied().filter(|p| !p.is_empty()).collect::<Vec<_>>(),
            Format::Raw,
            Ty::Float,
        )
        .unwrap();
        assert_eq!((all, left), (bytes.clone(), None));
    }
    let (all, left) = read(&[&bytes[..11]], Format::Raw, Ty::Float).unwrap();
    assert_eq!(all, bytes[..8]);
    assert_eq!(left.unwrap(), "test does not hold a whole number of float items: 3 bytes left over after 2 items");
}

#[test]
fn bits_are_packed_first_in_the_most_significant() {
    let (all, left) = read(&[&[0b1010_0001], &[0x80]], Format::Raw, Ty::Bit).unwrap();
    assert_eq!(all, [1, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(left, None);
    assert_eq!(written("b", None, Ty::Bit, WAV, &[&[1, 0, 1], &[0, 0, 0, 0, 1, 1]]), [0b1010_0001, 0x80]);
    let fault = read(&[&[0, 1, 2]], Format::U8, Ty::Bit).unwrap_err();
    assert_eq!(fault.exit, Exit::Input);
    assert_eq!(read(&[&[0, 7]], Format::Raw, Ty::Bool).unwrap().0, [0, 1]);
}

#[test]
fn conversions() {
    assert_eq!(read(&[&[0xff, 0x7f, 0, 0x80]], Format::I16, Ty::Float).unwrap().0, floats(&[32767.0, -32768.0]));
    assert_eq!(read(&[&[255, 0]], Format::Rtl, Ty::Complex).unwrap().0, floats(&[1.0, -1.0]));
    assert_eq!(read(&[&[9]], Format::U8, Ty::Int).unwrap().0, 9i32.to_le_bytes());
    assert_eq!(read(&[&1.5f64.to_le_bytes()], Format::F64, Ty::Float).unwrap().0, floats(&[1.5]));
    let fault = read(&[&[0; 8]], Format::F32, Ty::Int).unwrap_err();
    assert!(fault.exit == Exit::Usage && fault.message.contains("fractions"), "{fault}");
    assert_eq!(written("x.i16", None, Ty::Float, WAV, &[&floats(&[1.5, -70000.0])]), [2, 0, 0, 0x80]);
    assert_eq!(written("x.c64", None, Ty::Double, WAV, &[&0.25f64.to_le_bytes()]), 0.25f32.to_le_bytes());
}

#[test]
fn text_numbers() {
    let (all, left) = read(&[b"1 2", b"3, # four\n-4;", b"5"], Format::Text, Ty::Int).unwrap();
    assert_eq!(all, [1i32, 23, -4, 5].iter().flat_map(|i| i.to_le_bytes()).collect::<Vec<u8>>());
    assert_eq!(left, None);
    let (all, left) = read(&[b"1 2 3"], Format::Text, Ty::Complex).unwrap();
    assert_eq!(all, floats(&[1.0, 2.0]));
    assert!(left.unwrap().contains("1 number left over"));
    let fault = read(&[b"1\n2 x"], Format::Text, Ty::Int).unwrap_err();
    assert!(fault.message.contains("line 2: `x` is not a whole number"), "{fault}");
    assert_eq!(
        written("t.txt", None, Ty::Complex, WAV, &[&floats(&[0.1, -2.0, 1e-30, 3.0])]),
        b"0.1 -2.0\n1e-30 3.0\n"
    );
    assert_eq!(written("t.txt", None, Ty::Bool, WAV, &[&[1, 0]]), b"true\nfalse\n");
}

#[test]
fn wav_there_and_back() {
    for (sample, size) in [(WavSample::I16, 2), (WavSample::I24, 3), (WavSample::I32, 4), (WavSample::F32, 4)] {
        let two = WavOptions { rate: 44100, channels: 2 };
        let file = written("w.wav", Some(Format::Wav(sample)), Ty::Float, two, &[&floats(&[0.5, -0.25, 0.0])]);
        let reader = hound::WavReader::new(&file[..]).unwrap();
        assert_eq!((reader.spec().channels, reader.spec().sample_rate, reader.len()), (2, 44100, 4), "{sample:?}");
        let cut = file.len() / 2;
        let (all, left) = read(&[&file[..cut], &file[cut..]], Format::Wav(WavSample::I16), Ty::Float).unwrap();
        assert_eq!((all, left), (floats(&[0.5, -0.25, 0.0, 0.0]), None), "{sample:?}");
        let (all, left) = read(&[&file[..file.len() - size - 1]], Format::Wav(WavSample::I16), Ty::Float).unwrap();
        assert_eq!(all, floats(&[0.5, -0.25]));
        assert!(left.unwrap().contains("bytes before its header says"));
    }
    let mono = written("m.wav", None, Ty::Int, WAV, &[&7i32.to_le_bytes(), &99999i32.to_le_bytes()]);
    assert_eq!(
        read(&[&mono], Format::Wav(WavSample::I16), Ty::Int).unwrap().0,
        [7i32.to_le_bytes(), 32767i32.to_le_bytes()].concat()
    );
    assert_eq!(read(&[&mono], Format::Wav(WavSample::I16), Ty::Complex).unwrap_err().exit, Exit::Input);
    assert_eq!(read(&[b"RIFFxx"], Format::Wav(WavSample::I16), Ty::Float).unwrap_err().exit, Exit::Input);
}

#[test]
fn a_failed_output_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.f32");
    std::fs::write(&path, b"old").unwrap();
    let out = Out::to(Box::new(std::io::sink()));
    let mut writer = Writer::open(path.to_str().unwrap(), None, item(Ty::Float), WAV, &out).unwrap();
    writer.write(&floats(&[1.0])).unwrap();
    drop(writer);
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(Writer::open(folder.path().to_str().unwrap(), None, item(Ty::Float), WAV, &out).is_err());
}

/// Large pieces of a file pass the buffer by: what comes is what comes of small ones, in whatever order large and small ones are asked for.
#[test]
fn a_file_in_large_pieces() {
    let noise: Vec<u8> = (0..400_001u32).map(|i| (i.wrapping_mul(2654435761) >> 13) as u8).collect();
    let stereo = WavOptions { rate: 8000, channels: 2 };
    let mut wav = written("w.wav", Some(Format::Wav(WavSample::I16)), Ty::Float, stereo, &[&floats(&[0.25; 70_000])]);
    // what comes behind the samples is not of them
    wav.extend_from_slice(&[7; 90_000]);
    let cut = wav[..wav.len() - 100_001].to_vec();
    let cases = [
        (&noise, Format::Raw, Ty::Float),
        (&noise, Format::Raw, Ty::Bool),
        (&noise, Format::Rtl, Ty::Complex),
        (&noise, Format::I16, Ty::Float),
        (&noise, Format::I16, Ty::Int),
        (&wav, Format::Wav(WavSample::I16), Ty::Complex),
        (&cut, Format::Wav(WavSample::I16), Ty::Float),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in");
    for (bytes, format, ty) in cases {
        std::fs::write(&path, bytes).unwrap();
        let parts: Vec<&[u8]> = bytes.chunks(50_000).collect();
        let (want, remark) = read(&parts, format, ty.clone()).unwrap();
        // the name in front
        let rest = |r: Option<String>| r.map(|r| r.split_once(' ').unwrap().1.to_string());
        let remark = rest(remark);
        for pieces in [&[1 << 20][..], &[150_000], &[10, 100_000, 3, 20_000], &[30_000, 8]] {
            let size = item(ty.clone()).bytes;
            let mut reader = Reader::open(path.to_str().unwrap(), Some(format), item(ty.clone())).unwrap();
            let (mut all, mut space) = (Vec::new(), vec![0; 8 << 20]);
            for piece in pieces.iter().cycle() {
                match reader.read(&mut space[..piece * size.min(8)], true).unwrap() {
                    Got::Items(n) => all.extend_from_slice(&space[..n * size]),
                    Got::NoneYet => panic!("a file has an item or ends"),
                    Got::End => break,
                }
            }
            assert!(all == want, "{format:?}, {}, {pieces:?}: {} of {} bytes", ty_name(&ty), all.len(), want.len());
            assert_eq!(rest(reader.leftover().map(str::to_string)), remark, "{format:?}, {pieces:?}");
        }
    }
}

fn ty_name(ty: &Ty) -> String {
    item(ty.clone()).name
}
