//! Programs of the suite that race each other: how each is built and opened, and how much it gets to do.

#![allow(clippy::disallowed_methods)] // it starts sluice

use crate::arithmetic::Arithmetic;
use crate::beside::{Compiled, Plain, Program, Python, compile};
use crate::measure::seconds;
use crate::peers::OURS;
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

impl Places<'_> {
    /// The program as a library, its functions named after it.
    pub fn sluice(&self, b: &Benchmark, variant: Option<&str>) -> Result<Runner, String> {
        self.sluice_by(b, variant, Arithmetic::Exact)
    }

    /// The same with this leave.
    pub fn sluice_by(&self, b: &Benchmark, variant: Option<&str>, arithmetic: Arithmetic) -> Result<Runner, String> {
        let library = self.built(b, variant, arithmetic);
        if let Some(folder) = library.parent() {
            std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        let mut command = Command::new(self.sluice);
        command.args(["build", "--lib"]).args(arithmetic.ours()).arg(b.program(self.root, variant));
        command.arg("-o").arg(&library);
        let out = command.output().map_err(|e| format!("{}: {e}", self.sluice))?;
        if !out.status.success() {
            return Err(String::from_utf8_lossy(&out.stderr).into_owned());
        }
        self.anew(b, variant, arithmetic)
    }

    /// The same, built before, from its beginning.
    pub fn anew(&self, b: &Benchmark, variant: Option<&str>, arithmetic: Arithmetic) -> Result<Runner, String> {
        let widths = (b.input.0.words(), b.output.0.words());
        let program = Compiled::open(&self.built(b, variant, arithmetic), variant.unwrap_or(b.name), widths)?;
        Ok(Runner { name: arithmetic.called(OURS), program: Box::new(program) })
    }

    /// The library's name is that of its functions.
    fn built(&self, b: &Benchmark, variant: Option<&str>, arithmetic: Arithmetic) -> PathBuf {
        let name = format!("lib{}.so", variant.unwrap_or(b.name));
        self.work.join(if arithmetic == Arithmetic::Free { format!("free/{name}") } else { name })
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
