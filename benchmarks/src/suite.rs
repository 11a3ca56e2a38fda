//! The programs that figures are taken of: our own versions of the eight programs of "Software Pipelined Execution of Stream Programs on
//! GPUs" (Udupa, Govindarajan, Thazhuthaveetil), table I, written from the textbook definitions that their READMEs name; and programs of
//! sound, radio, radar, coding and ciphers that it leaves out, among them such whose filters have states and whose loops feed back.
//!
//! Items travel here as words of 32 bits: an int or a float is one, a complex number two.

pub mod needed;
pub mod signals;
pub mod work;

mod programs;

pub use programs::SUITE;
pub use signals::Signal;

use sluice_driver::source::Files;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::{Elaborated, Options, analyse};
use std::path::{Path, PathBuf};

/// What items are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// Ints.
    Int,
    /// Floats.
    Float,
    /// Complex numbers.
    Complex,
}

impl Item {
    /// Words of an item.
    pub fn words(self) -> usize {
        if self == Item::Complex { 2 } else { 1 }
    }
}

/// Numbers of nodes of a flat graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Filters, splitters and joiners; reader and writer stand for source and sink.
    pub nodes: usize,
    /// Filters that peek beyond what they pop.
    pub peeking: usize,
}

/// Something independent that computes the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Library {
    /// Its name.
    pub name: &'static str,
    /// The file in the program's folder that uses it: C with the interface of the reference, or Python with a function `run` on NumPy arrays.
    pub file: &'static str,
    /// What C is linked with.
    pub link: &'static str,
    /// The variant of the program that it computes, where not the program itself, with what its reference is compiled with.
    pub variant: Option<(&'static str, &'static str)>,
    /// The greatest difference from the program, as a part of the greatest number.
    pub tolerance: f64,
}

/// A program, and what it is compared with.
#[derive(Clone, Copy, Debug)]
pub struct Benchmark {
    /// Its name: that of its folder, of the program in it, and what the functions of its reference begin with.
    pub name: &'static str,
    /// The entry stream.
    pub entry: &'static str,
    /// Its parameters, in words.
    pub parameters: &'static str,
    /// Items of the input, and how many of them a steady state takes.
    pub input: (Item, usize),
    /// Items of the output, and how many of them a steady state gives.
    pub output: (Item, usize),
    /// What the input is.
    pub signal: Signal,
    /// Its own size.
    pub counts: Counts,
    /// That of the program in the paper's table I.
    pub paper: Option<Counts>,
    /// The greatest difference from the plain C reference, as a part of the greatest number: 0 where both do the same operations.
    pub tolerance: f64,
    /// Something independent.
    pub peer: Library,
}

impl Benchmark {
    /// Its folder, in the repository at `root`.
    pub fn folder(&self, root: &Path) -> PathBuf {
        root.join("benchmarks").join(self.name)
    }

    /// The program, or a variant of it.
    pub fn program(&self, root: &Path, variant: Option<&str>) -> PathBuf {
        self.folder(root).join(format!("{}.str", variant.unwrap_or(self.name)))
    }

    /// The program analysed.
    pub fn elaborate(&self, root: &Path) -> Result<Elaborated, String> {
        let mut files = Files::default();
        let path = self.program(root, None).display().to_string();
        let inputs = files.read_all(&[path]).map_err(|fault| fault.message)?;
        let analysis = analyse(inputs, &Options { top: Some(self.entry.into()), ..Options::default() }, &mut files);
        let title = analysis.diagnostics.first().map_or_else(String::new, |d| d.title.clone());
        analysis.program.ok_or_else(|| format!("{}: {title}", self.name))
    }

    /// Whether a filter has a state that its next firing reads.
    pub fn stateful(&self, root: &Path) -> Result<bool, String> {
        let program = self.elaborate(root)?;
        Ok(program.graph.nodes.iter().any(|n| matches!(n.kind, NodeKind::Filter { stateful: true, .. })))
    }

    /// Whether it computes with ints alone, whose arithmetic nobody may change.
    pub fn of_ints(&self) -> bool {
        self.input.0 == Item::Int && self.output.0 == Item::Int
    }

    /// Whole steady states' worth of input, at least so many items; always the same.
    pub fn input(&self, items: usize) -> Vec<u32> {
        let (item, block) = self.input;
        let count = items.div_ceil(block) * block * item.words();
        self.signal.words(count)
    }

    /// Compares words of output as [`compare`] does.
    pub fn compare(&self, a: &[u32], b: &[u32], tolerance: f64) -> Result<f64, String> {
        compare(self.output.0, a, b, tolerance)
    }
}

/// Compares words of items of one kind, item by item: the greatest difference, as a part of the greatest number of `b`. With a tolerance of 0
/// all bits must be equal. Why they differ too much.
pub fn compare(item: Item, a: &[u32], b: &[u32], tolerance: f64) -> Result<f64, String> {
    if a.len() != b.len() {
        return Err(format!("{} words against {}", a.len(), b.len()));
    }
    if tolerance == 0.0 {
        return match a.iter().zip(b).position(|(a, b)| a != b) {
            None => Ok(0.0),
            Some(i) => Err(format!("word {i} of {}: {:#010x} against {:#010x}", a.len(), a[i], b[i])),
        };
    }
    let number = |word: &u32| match item {
        Item::Int => f64::from(*word as i32),
        Item::Float | Item::Complex => f64::from(f32::from_bits(*word)),
    };
    let greatest = b.iter().map(|b| number(b).abs()).fold(0.0, f64::max);
    // where all are zero, nothing may differ
    let greatest = if greatest == 0.0 { f64::MIN_POSITIVE } else { greatest };
    let differences = a.iter().zip(b).map(|(a, b)| (number(a) - number(b)).abs() / greatest);
    // a NaN is no difference that holds
    let worst = differences.fold(0.0, |worst: f64, d| if d <= worst { worst } else { d });
    if worst <= tolerance { Ok(worst) } else { Err(format!("they differ by {worst:e} of the greatest number")) }
}

impl Counts {
    /// Those of a graph.
    pub fn of(graph: &SdfGraph) -> Counts {
        let peeks = |n: &&sluice_frontend::graph::Node| {
            matches!(n.kind, NodeKind::Filter { .. })
                && n.inputs.iter().any(|c| graph.channel(*c).peek > graph.channel(*c).consume)
        };
        Counts { nodes: graph.nodes.len(), peeking: graph.nodes.iter().filter(peeks).count() }
    }
}

/// Those of the suite that are named, variants among them; all where none is. Or which name there is not.
pub fn named(names: &[String]) -> Result<Vec<(&'static Benchmark, Option<&'static str>)>, String> {
    let variants = |b: &'static Benchmark| [None].into_iter().chain(b.peer.variant.map(|(name, _)| Some(name)));
    let all: Vec<_> = SUITE.iter().flat_map(|b| variants(b).map(move |variant| (b, variant))).collect();
    let name = |(b, variant): &(&Benchmark, Option<&'static str>)| variant.unwrap_or(b.name).to_string();
    if let Some(unknown) = names.iter().find(|n| !all.iter().any(|p| name(p) == **n)) {
        let known: Vec<String> = all.iter().map(name).collect();
        return Err(format!("there is no program `{unknown}`; there are {}", known.join(", ")));
    }
    Ok(all.into_iter().filter(|p| names.is_empty() || names.contains(&name(p))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_chosen_by_name() {
        let of = |names: &[&str]| named(&names.iter().map(|n| n.to_string()).collect::<Vec<_>>());
        let names = |all: Vec<(&Benchmark, Option<&'static str>)>| -> Vec<&str> {
            all.iter().map(|(b, variant)| variant.unwrap_or(b.name)).collect()
        };
        assert!(of(&[]).unwrap().len() > SUITE.len(), "variants, too");
        assert_eq!(names(of(&["fft", "des16", "dct"]).unwrap()), ["dct", "des16", "fft"]);
        let why = of(&["fft", "ftt"]).err().unwrap();
        assert!(why.contains("`ftt`") && why.contains("bitonic, "), "{why}");
    }
}
