//! The figures that need more than a run of a script.
//!
//! ```text
//! sluice-benchmarks gpu [--out FOLDER] [--root REPOSITORY] [--work FOLDER] [--programs A,B] [--schemes A,B] [--jobs N] [--minutes N] [--emulate]
//! ```

#![allow(clippy::disallowed_methods)] // it reads the command line and the clock

use sluice_benchmarks::gpu::conduct::{self, Options};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const USAGE: &str = "\
usage: sluice-benchmarks gpu [OPTIONS]

Runs the programs of the suite on a GPU by all schemes, compares their output with native code's, measures, and writes gpu.json, gpu.md and charts.
What is missing is said there; what is not measured stands as not yet measured.

  --out FOLDER       where results go (benchmarks/results)
  --root FOLDER      the repository (.)
  --work FOLDER      for files, some gigabytes; removed at the end (in memory where that is possible)
  --programs A,B     only these programs
  --schemes A,B      only these schemes
  --jobs N           processes that prepare at once (as many as there are cores, less one)
  --minutes N        begin nothing new after so long (8.5)
  --emulate          on the emulated device, with tiny sizes: a test, whose times mean nothing
";

fn options(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut o = Options {
        out: PathBuf::from("benchmarks/results"),
        root: PathBuf::from("."),
        work: conduct::work_folder(),
        program,
        emulate: false,
        programs: Vec::new(),
        variants: Vec::new(),
        jobs: cores.saturating_sub(1).max(1),
        deadline: Instant::now() + Duration::from_secs(510),
    };
    let list = |text: String| text.split(',').map(|s| s.trim().to_string()).filter(|s| !s.is_empty()).collect();
    while let Some(name) = args.next() {
        if name == "--emulate" {
            o.emulate = true;
            continue;
        }
        let value = args.next().ok_or_else(|| format!("{name}: what?"))?;
        match name.as_str() {
            "--out" => o.out = value.into(),
            "--root" => o.root = value.into(),
            // a folder of its own in it: it is removed at the end
            "--work" => o.work = PathBuf::from(value).join(format!("sluice-gpu-{}", std::process::id())),
            "--programs" => o.programs = list(value),
            "--schemes" => o.variants = list(value),
            "--jobs" => o.jobs = value.parse().map_err(|_| format!("{value} is no number of processes"))?,
            "--minutes" => {
                let minutes: f64 = value.parse().map_err(|_| format!("{value} is no number of minutes"))?;
                if !(0.0..=100_000.0).contains(&minutes) {
                    return Err(format!("{value} is no number of minutes"));
                }
                o.deadline = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
            }
            _ => return Err(format!("there is no option {name}")),
        }
    }
    Ok(o)
}

fn main() {
    let mut args = std::env::args().skip(1);
    let result = match args.next().as_deref() {
        Some("gpu") => options(args).and_then(|o| {
            let document = conduct::conduct(&o)?;
            for what in &document.missing {
                eprintln!("missing: {what}");
            }
            println!("written to {}", o.out.display());
            let failed = document.runs.iter().filter(|r| r.failed.is_some()).count();
            if failed > 0 { Err(format!("{failed} of {} runs failed", document.runs.len())) } else { Ok(()) }
        }),
        Some("gpu-part") => conduct::part(&args.next().unwrap_or_default()),
        Some("--help" | "-h") => {
            print!("{USAGE}");
            return;
        }
        _ => {
            eprint!("{USAGE}");
            std::process::exit(2);
        }
    };
    if let Err(why) = result {
        eprintln!("error: {why}");
        std::process::exit(1);
    }
}
