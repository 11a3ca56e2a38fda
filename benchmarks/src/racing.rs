//! Programs of the suite that race each other: how each is built and opened, and how much it gets to do.

#![allow(clippy::disallowed_methods)] // it starts sluice

use crate::arithmetic::Arithmetic;
use crate::beside::{Compiled, Plain, Program, Python, compile};
use crate::measure::seconds;
use crate::peers::{OURS, TUNED};
use crate::suite::Benchmark;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Seconds that a repetition of sluice's code takes, about: short, so that most are not disturbed by what else the machine does.
const REPETITION: f64 = 0.003;
/// The most items of input of a repetition.
const MOST: usize = 1 << 18;

/// Where things are.
pub struct Places<'a> {
    /// The sluice command.
    pub sluice: &'a str,
    /// The repository.
    pub root: &'a Path,
    /// For what is built.
    pub work: &'a Path,
}

/// One of those that run beside each other.
pub struct Runner {
    /// Whose code it is.
    pub name: String,
    /// The code.
    pub program: Box<dyn Program>,
}

/// How sluice makes a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct How {
    /// With what leave.
    pub arithmetic: Arithmetic,
    /// In the way that `sluice tune` has found to be fastest.
    pub tuned: bool,
}

impl Default for How {
    fn default() -> How {
        How { arithmetic: Arithmetic::Exact, tuned: false }
    }
}

impl How {
    /// What sluice is called then.
    pub fn called(self) -> String {
        self.arithmetic.called(if self.tuned { TUNED } else { OURS })
    }
}

/// Lets a command end that is told a file last.
fn finished(mut command: Command, file: Option<&Path>) -> Result<(), String> {
    let out = command.args(file).output().map_err(|e| format!("{command:?}: {e}"))?;
    if out.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&out.stderr).into_owned()) }
}

impl Places<'_> {
    /// The program as a library, its functions named after it.
    pub fn sluice(&self, b: &Benchmark, variant: Option<&str>) -> Result<Runner, String> {
        self.sluice_by(b, variant, How::default())
    }

    /// The same, made so.
    pub fn sluice_by(&self, b: &Benchmark, variant: Option<&str>, how: How) -> Result<Runner, String> {
        let library = self.built(b, variant, how);
        if let Some(folder) = library.parent() {
            std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        if how.tuned {
            let input = self.work.join("tuned/input");
            let bytes: Vec<u8> = b.input(MOST).iter().flat_map(|w| w.to_ne_bytes()).collect();
            std::fs::write(&input, bytes).map_err(|e| format!("{}: {e}", input.display()))?;
            let said = self.command(b, variant, how, &["tune", "--format", "json", "--input-format", "raw", "--input"]);
            finished(said, Some(&input))?;
        }
        finished(self.command(b, variant, how, &["build", "--lib", "-o"]), Some(&library))?;
        self.anew(b, variant, how)
    }

    /// A command about the program. What was found out by tuning it is in a cache of its own: who does not ask for it has none of it.
    fn command(&self, b: &Benchmark, variant: Option<&str>, how: How, words: &[&str]) -> Command {
        let mut command = Command::new(self.sluice);
        let (name, rest) = words.split_at(1);
        command.args(name).args(how.arithmetic.ours()).arg(b.program(self.root, variant)).args(rest);
        command.env("SLUICE_CACHE", self.work.join(if how.tuned { "tuned/cache" } else { "cache" }));
        command
    }

    /// The same, built before, from its beginning.
    pub fn anew(&self, b: &Benchmark, variant: Option<&str>, how: How) -> Result<Runner, String> {
        let widths = (b.input.0.words(), b.output.0.words());
        let program = Compiled::open(&self.built(b, variant, how), variant.unwrap_or(b.name), widths)?;
        Ok(Runner { name: how.called(), program: Box::new(program) })
    }

    /// The library's name is that of its functions.
    fn built(&self, b: &Benchmark, variant: Option<&str>, how: How) -> PathBuf {
        let folder = self.work.join(if how.tuned { "tuned" } else { "" });
        let free = if how.arithmetic == Arithmetic::Free { "free" } else { "" };
        folder.join(free).join(format!("lib{}.so", variant.unwrap_or(b.name)))
    }

    /// A C file of the program, compiled with further flags.
    pub fn plain(
        &self,
        b: &Benchmark,
        cc: &str,
        (file, more, link): (&str, &str, &str),
        name: &str,
    ) -> Result<Runner, String> {
        let target = self.work.join(format!(
            "{}-{}-{file}.so",
            b.name,
            name.replace([',', ' '], "") + more.split(' ').next().unwrap_or("")
        ));
        let flags: Vec<&str> = ["-O3", "-march=native"].into_iter().chain(more.split_whitespace()).collect();
        compile(cc, &flags, &b.folder(self.root).join(file), &target, link)?;
        let widths = (b.input.0.words(), b.output.0.words());
        let plain = Plain::open(&target, b.name, widths, (b.input.1, b.output.1))?;
        Ok(Runner { name: name.into(), program: Box::new(plain) })
    }

    /// The library, where it is installed.
    pub fn peer(&self, b: &Benchmark, input: &[u32]) -> Result<Runner, String> {
        if b.peer.file.ends_with(".c") {
            return self.plain(b, "gcc", (b.peer.file, "", b.peer.link), b.peer.name);
        }
        let python = Python::find().ok_or("no Python with NumPy and SciPy")?;
        let file = b.folder(self.root).join(b.peer.file);
        let python = Python::open(python, &self.root.join("benchmarks"), &file, input, self.work)?;
        Ok(Runner { name: b.peer.name.into(), program: Box::new(python) })
    }
}

/// Items of input that take about as long as a repetition should.
pub fn items_for(runner: &mut Runner, b: &Benchmark) -> Result<usize, String> {
    items_of(runner.program.as_mut(), &b.input(1 << 13), b.input.0.words())
}

/// The same of any program: found with `input`, whose items have `width` words.
pub fn items_of(program: &mut dyn Program, input: &[u32], width: usize) -> Result<usize, String> {
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let mut result = Ok(None);
        least = least.min(seconds(|| result = program.run(input, &mut Vec::new())));
        result?;
    }
    Ok(((input.len() / width) as f64 * REPETITION / least).clamp(1024.0, MOST as f64) as usize)
}
