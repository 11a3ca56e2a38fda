//! The paper's eight programs on the emulated GPU, by the schemes swp and fused: what warps touch of the device's memory at a time. 32 threads that move an item of k words each
//! touch at most 5·k sectors of 32 bytes, at every end of every channel; where more is touched is named here, with the reason. And they give the bytes of native code.

#![allow(clippy::disallowed_methods)] // tests read files and start the command

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use std::process::{Command, Stdio};

const PROGRAMS: [&str; 8] = ["bitonic", "bitonicrec", "dct", "des", "fft", "filterbank", "fmradio", "matrixmult"];
/// Schemes, and the bytes that a thread moves at once at input and output at most: the fused ones move 16 bytes of neighbours.
const SCHEMES: [(&str, u64); 3] = [("swp", 4), ("fused", 16), ("fused-warps", 16)];
/// Words of input; fewer of one that is emulated slowly.
const INPUT: u32 = 100_000;
const INPUT_OF_DES: u32 = 30_000;
/// Sectors of an access to items of one word: 128 bytes, which may begin within a sector.
const SECTORS: u64 = 5;
/// Bytes of an access of a warp to items of one word.
const WARP_WORDS: u64 = 128;

/// Where more is touched.
struct Exception {
    program: &'static str,
    scheme: &'static str,
    /// What the channel's name has in it, and which end it is.
    channel: &'static str,
    direction: &'static str,
    /// Sectors of an access, at most.
    most: u64,
    /// Ends that are so.
    ends: usize,
    why: &'static str,
}

const EXCEPTIONS: [Exception; 1] = [Exception {
    program: "matrixmult",
    scheme: "swp",
    channel: ".split to ",
    direction: "write",
    most: 12,
    ends: 4,
    why: "the splitter of ten ends has more to stage than there is shared memory: the largest ends go their own way",
}];

/// A row of the table: direction, accesses, sectors, average, most, bytes, memory.
struct Row<'a> {
    direction: &'a str,
    accesses: u64,
    sectors: u64,
    most: u64,
    bytes: u64,
    memory: &'a str,
}

fn rows(table: &str) -> Result<Vec<Row<'_>>, Failed> {
    let row = |line| -> Option<Row<'_>> {
        let cells: Vec<&str> = str::split(line, '\t').collect();
        let number = |i: usize| cells.get(i)?.parse().ok();
        Some(Row {
            direction: cells.first()?,
            accesses: number(1)?,
            sectors: number(2)?,
            most: number(4)?,
            bytes: number(5)?,
            memory: cells.get(6)?,
        })
    };
    let all: Option<Vec<Row<'_>>> = table.lines().skip(1).map(row).collect();
    all.ok_or_else(|| format!("no table:\n{table}").into())
}

fn touched(program: &str, (scheme, wide): (&str, u64)) -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let place = tempfile::tempdir()?;
    let (input, counts) = (place.path().join("in.raw"), place.path().join("counts"));
    // small numbers, which are good ints and good floats
    let items = if program == "des" { INPUT_OF_DES } else { INPUT };
    let words: Vec<u8> = (0..items).flat_map(|i| (i.wrapping_mul(2_654_435_761) % 251).to_le_bytes()).collect();
    std::fs::write(&input, words)?;
    let done = Command::new(env!("CARGO_BIN_EXE_sluice"))
        .current_dir(place.path())
        .env("NO_COLOR", "1")
        .env("SLUICE_EMULATE_COUNTS", &counts)
        .arg("run")
        .arg(root.join(format!("benchmarks/{program}/{program}.str")))
        .args([
            // the host's code does little here
            "-O0",
            "--target",
            "cuda",
            "--emulate",
            "--scheme",
            scheme,
            "--method",
            "hms",
            "--sms",
            "4",
            "--output",
            "out.raw",
        ])
        .arg("--input")
        .arg(&input)
        .stdin(Stdio::null())
        .output()?;
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).into_owned().into());
    }
    let native = Command::new(env!("CARGO_BIN_EXE_sluice"))
        .current_dir(place.path())
        .env("NO_COLOR", "1")
        .arg("run")
        .arg(root.join(format!("benchmarks/{program}/{program}.str")))
        .args(["--output", "want.raw", "--input"])
        .arg(&input)
        .stdin(Stdio::null())
        .output()?;
    let [got, want] = ["out.raw", "want.raw"].map(|name| std::fs::read(place.path().join(name)));
    if !native.status.success() || got? != want? {
        return Err("the device gives other bytes than native code".into());
    }
    let table = std::fs::read_to_string(&counts)?;
    let rows = rows(&table)?;
    let ends = |direction: &str| rows.iter().any(|r| r.memory == "other device memory" && r.direction == direction);
    let channels = rows.iter().filter(|r| r.memory.starts_with('c') && !r.memory.contains(" carries")).count();
    if !ends("read") || !ends("write") || (scheme == "swp" && channels < 20) {
        return Err(format!("too little was done:\n{table}").into());
    }
    let mut found = vec![0; EXCEPTIONS.len()];
    for r in &rows {
        // words that a thread moves: as many as all accesses together show at least
        let words = match r.memory {
            "other device memory" if wide > 4 => wide / 4,
            _ => r.bytes.div_ceil(r.accesses * WARP_WORDS),
        };
        if r.most <= SECTORS * words {
            continue;
        }
        let of = |e: &Exception| {
            (e.program, e.scheme, e.direction) == (program, scheme, r.direction) && r.memory.contains(e.channel)
        };
        match EXCEPTIONS.iter().position(of) {
            Some(e) if r.most <= EXCEPTIONS[e].most => found[e] += 1,
            _ => {
                let (most, sectors, accesses) = (r.most, r.sectors, r.accesses);
                return Err(format!(
                    "{} of {}: {most} sectors at once, {sectors} in {accesses} accesses, of {words} words a thread",
                    r.direction, r.memory
                )
                .into());
            }
        }
    }
    for (e, found) in EXCEPTIONS.iter().zip(found) {
        if (e.program, e.scheme) == (program, scheme) && found != e.ends {
            return Err(format!("{}: {found} ends instead of {} ({})", e.channel, e.ends, e.why).into());
        }
    }
    Ok(())
}

fn main() {
    let trials = PROGRAMS.into_iter().flat_map(|program| {
        SCHEMES.map(|scheme| Trial::test(format!("{program}::{}", scheme.0), move || touched(program, scheme)))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}
