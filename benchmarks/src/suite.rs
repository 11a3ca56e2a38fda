//! The programs that figures are taken of: our own versions of the eight programs of "Software Pipelined Execution of Stream Programs on
//! GPUs" (Udupa, Govindarajan, Thazhuthaveetil), table I, written from the textbook definitions that their READMEs name; a bank of
//! recursive filters, whose filters have states; and reverberation, whose loops feed back.
//!
//! Items travel here as words of 32 bits: an int or a float is one, a complex number two.

use sluice_driver::source::Files;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::{Elaborated, Options, analyse};
use std::path::{Path, PathBuf};

/// What items are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// Ints: compared bit for bit.
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

/// What a program is fed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Ints of all sizes.
    Keys,
    /// Ints from 0 to 255: slopes, and some noise.
    Picture,
    /// Floats, or complex numbers, from -1 to 1, evenly spread.
    Noise,
    /// A carrier in the middle, swept by a tone.
    Station,
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

/// NumPy or SciPy: `library.py`.
const fn python(name: &'static str, tolerance: f64) -> Library {
    Library { name, file: "library.py", link: "", variant: None, tolerance }
}

const fn counts(nodes: usize, peeking: usize) -> Counts {
    Counts { nodes, peeking }
}

/// All ten, in the paper's order.
pub const SUITE: [Benchmark; 10] = {
    use Item::{Complex, Float, Int};
    [
        Benchmark {
            name: "bitonic",
            entry: "Bitonic",
            parameters: "8 keys, 9 steps of 4 comparators or pairs let through",
            input: (Int, 8),
            output: (Int, 8),
            signal: Signal::Keys,
            counts: counts(56, 0),
            paper: Some(counts(58, 0)),
            tolerance: 0.0,
            peer: python("NumPy", 0.0),
        },
        Benchmark {
            name: "bitonicrec",
            entry: "BitonicRec",
            parameters: "8 keys",
            input: (Int, 8),
            output: (Int, 8),
            signal: Signal::Keys,
            counts: counts(64, 0),
            paper: Some(counts(61, 0)),
            tolerance: 0.0,
            peer: python("NumPy", 0.0),
        },
        Benchmark {
            name: "dct",
            entry: "DCT",
            parameters: "8 x 8 samples, rows and columns in 8 branches each",
            input: (Int, 64),
            output: (Float, 64),
            signal: Signal::Picture,
            counts: counts(40, 0),
            paper: Some(counts(40, 0)),
            tolerance: 0.0,
            peer: python("SciPy", 1e-6),
        },
        Benchmark {
            name: "des",
            entry: "Main",
            parameters: "4 rounds, blocks of 64 bits",
            input: (Int, 2),
            output: (Int, 16),
            signal: Signal::Keys,
            counts: counts(55, 0),
            paper: Some(counts(55, 0)),
            tolerance: 0.0,
            peer: Library {
                name: "OpenSSL, 16 rounds",
                file: "library.c",
                link: "-lcrypto",
                variant: Some(("des16", "-DROUNDS=16")),
                tolerance: 0.0,
            },
        },
        Benchmark {
            name: "fft",
            entry: "FFT",
            parameters: "64 points, 2 transforms in parallel",
            input: (Complex, 128),
            output: (Complex, 128),
            signal: Signal::Noise,
            counts: counts(26, 0),
            paper: Some(counts(26, 0)),
            tolerance: 0.0,
            peer: Library { name: "FFTW", file: "library.c", link: "-lfftw3f", variant: None, tolerance: 1e-6 },
        },
        Benchmark {
            name: "filterbank",
            entry: "Filterbank",
            parameters: "8 bands, 32 taps",
            input: (Float, 8),
            output: (Float, 8),
            signal: Signal::Noise,
            counts: counts(53, 16),
            paper: Some(counts(53, 16)),
            tolerance: 0.0,
            peer: python("SciPy", 1e-6),
        },
        Benchmark {
            name: "fmradio",
            entry: "FMRadio",
            parameters: "64 taps, every 5th sample, 10 bands",
            input: (Complex, 5),
            output: (Float, 1),
            signal: Signal::Station,
            counts: counts(67, 22),
            paper: Some(counts(67, 22)),
            tolerance: 1e-5,
            peer: python("SciPy", 1e-5),
        },
        Benchmark {
            name: "matrixmult",
            entry: "MatrixMult",
            parameters: "12 x 12 by 12 x 9, 3 x 3 blocks",
            input: (Float, 252),
            output: (Float, 108),
            signal: Signal::Noise,
            counts: counts(42, 0),
            paper: Some(counts(43, 0)),
            tolerance: 1e-6,
            peer: python("NumPy", 1e-6),
        },
        Benchmark {
            name: "iirbank",
            entry: "IIRBank",
            parameters: "8 octaves, 4 sections of second order each",
            input: (Float, 1),
            output: (Float, 1),
            signal: Signal::Noise,
            counts: counts(45, 0),
            paper: None,
            tolerance: 0.0,
            peer: python("SciPy", 2e-4),
        },
        Benchmark {
            name: "reverb",
            entry: "Reverb",
            parameters: "4 combs of 1426 to 2099 samples, 2 all-passes of 241 and 83",
            input: (Float, 1),
            output: (Float, 1),
            signal: Signal::Noise,
            counts: counts(32, 0),
            paper: None,
            tolerance: 0.0,
            peer: python("SciPy", 1e-5),
        },
    ]
};

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

    /// Whole steady states' worth of input, at least so many items; always the same.
    pub fn input(&self, items: usize) -> Vec<u32> {
        let (item, block) = self.input;
        let count = items.div_ceil(block) * block * item.words();
        let mut random = Random(0x2545_F491_4F6C_DD15);
        let mut phase = 0f64;
        let station = |i: usize| {
            if i.is_multiple_of(2) {
                phase += 0.1 * (i as f64 * 0.01).sin();
            }
            let part = if i.is_multiple_of(2) { phase.cos() } else { phase.sin() };
            (part as f32).to_bits()
        };
        match self.signal {
            Signal::Keys => (0..count).map(|_| random.next()).collect(),
            Signal::Picture => {
                (0..count).map(|i| ((i % 64 * 3 + i / 640 + random.next() as usize % 16) % 256) as u32).collect()
            }
            Signal::Noise => (0..count).map(|_| (random.next() as i32 as f32 / 2147483648.0).to_bits()).collect(),
            Signal::Station => (0..count).map(station).collect(),
        }
    }

    /// Compares words of output, item by item: the greatest difference, as a part of the greatest number of `b`. With a tolerance of 0
    /// all bits must be equal. Why they differ too much.
    pub fn compare(&self, a: &[u32], b: &[u32], tolerance: f64) -> Result<f64, String> {
        if a.len() != b.len() {
            return Err(format!("{} words against {}", a.len(), b.len()));
        }
        if tolerance == 0.0 || self.output.0 == Item::Int {
            return match a.iter().zip(b).position(|(a, b)| a != b) {
                None => Ok(0.0),
                Some(i) => Err(format!("word {i} of {}: {:#010x} against {:#010x}", a.len(), a[i], b[i])),
            };
        }
        let number = |word: &u32| f64::from(f32::from_bits(*word));
        let greatest = b.iter().map(|b| number(b).abs()).fold(0.0, f64::max);
        let differences = a.iter().zip(b).map(|(a, b)| (number(a) - number(b)).abs() / greatest);
        // a NaN is no difference that holds
        let worst = differences.fold(0.0, |worst: f64, d| if d <= worst { worst } else { d });
        if worst <= tolerance { Ok(worst) } else { Err(format!("they differ by {worst:e} of the greatest number")) }
    }
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

/// Marsaglia's xorshift (2003) with 64 bits; the upper half of the state.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32
    }
}
