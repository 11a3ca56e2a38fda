//! What is generated for GPUs of a few small programs: each file of tests/cuda has flags in its first line, a program, and behind `=====` the device text made of it,
//! without the run-time support before it and the emulator behind it. `SLUICE_BLESS=1` rewrites what is behind `=====`: read the difference. The
//! programs give the interpreter's bytes, too, on the emulated GPU, and warps of `swp` and `swpnc` touch at most 5 sectors at a time.

#![allow(clippy::disallowed_methods)] // tests read files and start the command

use libtest_mimic::{Arguments, Failed, Trial};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Stands between a program and its kernels.
const RULE: &str = "=====\n";
/// Bytes of input of a run: several initiation intervals, and some that do not fill one.
const INPUT: u32 = 4 * 40_007;

/// The file that tells of accesses to memory.
const COUNTS: &str = "counts";
/// Sectors that an access of a warp to 4-byte items may touch.
const SECTORS: u64 = 5;

/// Nothing that the kernels read or write touches more sectors at a time; all channels are among it.
fn coalesced(place: &Path, channels: usize) -> Result<(), Failed> {
    let table = std::fs::read_to_string(place.join(COUNTS))?;
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|l| l.split('\t').collect()).collect();
    let bad = |r: &&Vec<&str>| r.get(4).and_then(|n| n.parse().ok()).is_none_or(|most: u64| most > SECTORS);
    let ends = rows.iter().filter(|r| r.last().is_some_and(|name| name.starts_with('c'))).count();
    match rows.iter().find(bad) {
        Some(row) => Err(format!("more than {SECTORS} sectors: {row:?}").into()),
        None if ends != 2 * channels => Err(format!("{ends} ends of {channels} channels\n{table}").into()),
        None => Ok(()),
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cuda")
}

/// Standard output of the command, which must end well.
fn sluice(place: &Path, args: &[&str], input: &[u8]) -> Result<Vec<u8>, Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
    command.current_dir(place).env("NO_COLOR", "1").env_remove("SLUICE_EMULATE_SEED").args(args);
    command.env("SLUICE_EMULATE_COUNTS", place.join(COUNTS));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().ok_or("no standard input")?;
    let out = std::thread::scope(|scope| {
        // who only shows text does not read
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output()
    })?;
    match out.status.success() {
        true => Ok(out.stdout),
        false => Err(format!("{args:?}: {}", String::from_utf8_lossy(&out.stderr)).into()),
    }
}

/// What was made of the program, with a word for what was there of any program.
fn generated(text: &str) -> Result<String, Failed> {
    let between = |text: &str| {
        let (_, rest) = text.split_once("/* ---- the program ---- */\n")?;
        let (made, _) = rest.split_once("/* ---- the emulator ---- */\n")?;
        Some(made.to_string())
    };
    let first = text.lines().next().unwrap_or("");
    let made = between(text).ok_or("the text has no marks")?;
    Ok(format!("{first}\n/* ... the run-time support ... */\n{made}/* ... the emulator ... */\n#endif\n"))
}

fn golden(file: &Path) -> Result<(), Failed> {
    let kept = std::fs::read_to_string(file)?;
    let (program, want) = kept.split_once(RULE).unwrap_or((&kept, ""));
    let flags =
        program.lines().next().and_then(|l| l.strip_prefix("// flags: ")).ok_or("the first line has no flags")?;
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let place = tempfile::tempdir()?;
    std::fs::write(place.path().join("program.str"), program)?;
    let on_device = [&["run", "program.str", "-O0", "--target", "cuda", "--emulate"][..], &flags].concat();

    // the program itself
    let input: Vec<u8> = (0..INPUT / 4).flat_map(|i| ((i % 251) as f32).to_le_bytes()).collect();
    let streams = flags.iter().position(|f| *f == "--streams").map_or(&[][..], |i| &flags[i..i + 2]);
    let interpreted = sluice(place.path(), &[&["run", "program.str", "--interpret"][..], streams].concat(), &input)?;
    if interpreted.is_empty() || sluice(place.path(), &on_device, &input)? != interpreted {
        return Err("the device gives other bytes than the interpreter".into());
    }

    let channels = |program: &str| if program.contains("add Mean;") { 3 } else { 2 };
    if flags.iter().any(|f| f.starts_with("swp")) {
        coalesced(place.path(), channels(program))?;
    }

    let text = sluice(place.path(), &[&on_device[..], &["--dump-after", "emit-cuda"]].concat(), &[])?;
    let got = generated(&String::from_utf8(text)?)?;
    if std::env::var_os("SLUICE_BLESS").is_some() {
        std::fs::write(file, format!("{program}{RULE}{got}"))?;
        return Ok(());
    }
    match got == want {
        true => Ok(()),
        false => Err(format!("other kernels (SLUICE_BLESS=1 accepts them)\n--- got\n{got}--- expected\n{want}").into()),
    }
}

fn main() {
    let files = std::fs::read_dir(folder()).into_iter().flatten().flatten().map(|e| e.path());
    let mut files: Vec<PathBuf> = files.filter(|p| p.extension().is_some_and(|e| e == "golden")).collect();
    files.sort();
    assert!(files.len() >= 9, "tests/cuda has {} files", files.len());
    let name = |file: &Path| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let trials = files.into_iter().map(|file| Trial::test(name(&file), move || golden(&file)));
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}
