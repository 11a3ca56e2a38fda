//! Small programs that every library of signal processing has (benchmarks/peers), and who else computes them: C by hand, FAUST, and libraries through C
//! files of one interface. All give the same numbers, within a tolerance, and race each other in turns.
//!
//! Code that is compiled here is made twice: bit-exact, and with leave to reorder arithmetic. Libraries are as they come, and race both.

#![allow(clippy::disallowed_methods)] // it starts sluice and FAUST

use crate::arithmetic::Arithmetic;
use crate::beside::{Compiled, Plain, Program, compile, compile_once};
use crate::measure::seconds;
use crate::racing::{Places, items_of};
use crate::suite::{Item, Signal, compare};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What our own runners are called.
pub const OURS: &str = "sluice";
/// What it is called where it was tuned.
pub const TUNED: &str = "sluice, tuned";
/// All others, in the order of the tables.
pub const PEERS: [&str; 9] =
    ["gcc", "clang", "FAUST", "GNU Radio", "VOLK", "liquid-dsp", "FFTW, estimated", "FFTW, measured", "KISS FFT"];
/// Turns of each.
pub const TURNS: usize = 31;
/// Words of output that one may still hold back when another has given them.
const HELD: usize = 64;

/// Those in which peers race: FAUST's C and what people write is compiled as usual, or free on both sides.
pub const MODES: [Arithmetic; 2] = [Arithmetic::Usual, Arithmetic::Free];

/// The name of one in the figures kept, also that of the folder of its libraries.
pub fn mode_name(mode: Arithmetic) -> &'static str {
    if mode == Arithmetic::Free { "fast-math" } else { "exact" }
}

/// What C compilers are told.
pub fn flags(mode: Arithmetic) -> Vec<&'static str> {
    ["-O3", "-march=native"].into_iter().chain(mode.flags()).collect()
}

/// A library that computes a program.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// One of [`PEERS`].
    pub name: &'static str,
    /// The C file that uses it.
    pub file: &'static str,
    /// What that is linked with.
    pub link: &'static str,
    /// The greatest difference, where its own arithmetic is rougher than the program's tolerance.
    pub tolerance: Option<f64>,
    /// What it is compiled with, beside what all files of the program are.
    pub define: &'static [&'static str],
    /// Is the file that of all programs, with functions that are called as the programs are? It is compiled once.
    pub of_all: bool,
}

/// A small program.
#[derive(Clone, Copy, Debug)]
pub struct Small {
    /// Its name: that of its `.str` file.
    pub name: &'static str,
    /// What it is, in words.
    pub what: &'static str,
    /// What the C functions' names begin with.
    pub functions: &'static str,
    /// Items of the input, and how many of them make a steady state.
    pub input: (Item, usize),
    /// Items of the output of so many.
    pub output: (Item, usize),
    /// What it is fed with.
    pub signal: Signal,
    /// The greatest difference, as a part of the greatest number.
    pub tolerance: f64,
    /// What its C files are compiled with.
    pub define: &'static [&'static str],
    /// The C file by hand.
    pub by_hand: &'static str,
    /// How many first results FAUST gives that the program does not, where there is a version in FAUST.
    pub faust: Option<usize>,
    /// Libraries.
    pub libraries: &'static [Library],
}

const fn using(name: &'static str, file: &'static str, link: &'static str) -> Library {
    Library { name, file, link, tolerance: None, define: &[], of_all: false }
}

const RADIO: Library = Library {
    of_all: true,
    ..using(
        "GNU Radio",
        "gnuradio.cc",
        "-lgnuradio-filter -lgnuradio-analog -lgnuradio-fft -lgnuradio-blocks -lgnuradio-runtime -lstdc++",
    )
};

const TRANSFORMS: [Library; 5] = [
    RADIO,
    Library { define: &["-DPLAN=FFTW_ESTIMATE"], ..using("FFTW, estimated", "fft-fftw.c", "-lfftw3f") },
    Library { define: &["-DPLAN=FFTW_MEASURE"], ..using("FFTW, measured", "fft-fftw.c", "-lfftw3f") },
    using("KISS FFT", "fft-kissfft.c", "-lkissfft-float"),
    using("liquid-dsp", "fft-liquid.c", "-lliquid"),
];

const FILTER: Small = Small {
    name: "fir",
    what: "64 taps on floats",
    functions: "fir",
    input: (Item::Float, 1),
    output: (Item::Float, 1),
    signal: Signal::Noise,
    tolerance: 1e-5,
    define: &[],
    by_hand: "fir.c",
    faust: Some(63),
    libraries: &[RADIO, using("VOLK", "fir-volk.c", "-lvolk"), using("liquid-dsp", "fir-liquid.c", "-lliquid")],
};

const TRANSFORM: Small = Small {
    name: "fft64",
    what: "Fourier transforms of 64 complex samples",
    functions: "transform",
    input: (Item::Complex, 64),
    output: (Item::Complex, 64),
    define: &["-DN=64"],
    by_hand: "fft.c",
    faust: None,
    libraries: &TRANSFORMS,
    ..FILTER
};

/// All of them.
pub const SMALL: [Small; 7] = [
    FILTER,
    Small {
        name: "iir",
        what: "4 recursive sections of second order, one after another",
        functions: "iir",
        by_hand: "iir.c",
        faust: Some(0),
        libraries: &[RADIO, using("liquid-dsp", "iir-liquid.c", "-lliquid")],
        ..FILTER
    },
    Small {
        name: "bank",
        what: "8 band-passes of 2 recursive sections each, summed up",
        functions: "bank",
        by_hand: "bank.c",
        // the poles of the lowest band are near 1, and rounding there counts
        tolerance: 1e-4,
        faust: Some(0),
        libraries: &[RADIO],
        ..FILTER
    },
    Small {
        name: "resample",
        what: "every 5th of complex samples, 64 taps",
        functions: "resample",
        input: (Item::Complex, 5),
        output: (Item::Complex, 1),
        by_hand: "resample.c",
        faust: None,
        libraries: &[
            RADIO,
            using("VOLK", "resample-volk.c", "-lvolk"),
            using("liquid-dsp", "resample-liquid.c", "-lliquid"),
        ],
        ..FILTER
    },
    Small {
        name: "fm",
        what: "the angle from each complex sample to the next",
        functions: "fm",
        input: (Item::Complex, 1),
        signal: Signal::Station,
        by_hand: "fm.c",
        faust: None,
        libraries: &[
            // its angles are between those of a table
            Library { tolerance: Some(1e-3), ..RADIO },
            using("VOLK", "fm-volk.c", "-lvolk"),
            using("liquid-dsp", "fm-liquid.c", "-lliquid"),
        ],
        ..FILTER
    },
    TRANSFORM,
    Small {
        name: "fft1024",
        what: "Fourier transforms of 1024 complex samples",
        input: (Item::Complex, 1024),
        output: (Item::Complex, 1024),
        define: &["-DN=1024"],
        ..TRANSFORM
    },
];

/// One that runs.
pub struct Runner {
    /// [`OURS`] or one of [`PEERS`].
    pub name: &'static str,
    /// What it was made with, where there are several ways.
    pub with: &'static str,
    /// The code.
    pub program: Box<dyn Program>,
}

/// What came out of a race.
pub struct Raced {
    /// As of the runner.
    pub name: &'static str,
    /// As of the runner.
    pub with: &'static str,
    /// Seconds of each turn.
    pub times: Vec<f64>,
}

/// Whether something could not be made because it is not installed.
pub fn absent(why: &str) -> bool {
    why.contains("No such file") || why.contains("cannot find -l")
}

impl Small {
    /// The program.
    pub fn program(&self, root: &Path) -> PathBuf {
        self.file(root, &format!("{}.str", self.name))
    }

    fn file(&self, root: &Path, name: &str) -> PathBuf {
        root.join("benchmarks/peers").join(name)
    }

    fn widths(&self) -> (usize, usize) {
        (self.input.0.words(), self.output.0.words())
    }

    /// Whole steady states' worth of input, at least so many items; always the same.
    pub fn samples(&self, items: usize) -> Vec<u32> {
        let (item, block) = self.input;
        self.signal.words(items.div_ceil(block) * block * item.words())
    }

    /// How far what this one gives may be from what the program gives.
    pub fn tolerance_of(&self, name: &str) -> f64 {
        let library = self.libraries.iter().find(|l| l.name == name);
        library.and_then(|l| l.tolerance).unwrap_or(self.tolerance)
    }

    /// Compares what the program and this one gave, of which one may hold back a little. The greatest difference as a part of the greatest number, or why they differ too much.
    pub fn agree(&self, ours: &[u32], (name, theirs): (&str, &[u32])) -> Result<f64, String> {
        let n = ours.len().min(theirs.len());
        let held = ours.len().abs_diff(theirs.len());
        if n == 0 || held > HELD {
            return Err(format!("{} words of output against {}", ours.len(), theirs.len()));
        }
        compare(self.output.0, &ours[..n], &theirs[..n], self.tolerance_of(name))
    }

    /// The program as a library of sluice.
    fn ours(&self, places: &Places<'_>, mode: Arithmetic) -> Result<Runner, String> {
        let folder = places.work.join(mode_name(mode));
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let library = folder.join(format!("lib{}.so", self.name));
        let mut command = Command::new(places.sluice);
        command.args(["build", "--lib"]).arg(self.program(places.root)).arg("-o").arg(&library);
        command.args(mode.ours());
        let out = command.output().map_err(|e| format!("{}: {e}", places.sluice))?;
        if !out.status.success() {
            return Err(String::from_utf8_lossy(&out.stderr).into_owned());
        }
        let program = Box::new(Compiled::open(&library, self.name, self.widths())?);
        Ok(Runner { name: OURS, with: "", program })
    }

    /// A C file with the interface of the folder, compiled with these flags.
    pub fn plain(
        &self,
        (root, work): (&Path, &Path),
        (cc, flags): (&str, &[&str]),
        (file, link): (&str, &str),
        called: &str,
    ) -> Result<Plain, String> {
        let target = work.join(format!("{}-{called}.so", self.name));
        let flags: Vec<&str> = flags.iter().chain(self.define).copied().collect();
        compile(cc, &flags, &self.file(root, file), &target, link)?;
        Plain::open(&target, self.functions, self.widths(), (self.input.1, self.output.1))
    }

    /// A library, compiled with these flags. `work` is for what is this program's; what all programs share is in the folder `shared`, if it was made before.
    pub fn peer(
        &self,
        (root, work, shared): (&Path, &Path, &Path),
        (cc, flags): (&str, &[&str]),
        library: &Library,
        called: &str,
    ) -> Result<Plain, String> {
        let flags: Vec<&str> = flags.iter().chain(library.define).copied().collect();
        if !library.of_all {
            return self.plain((root, work), (cc, &flags), (library.file, library.link), called);
        }
        let (file, header) = (self.file(root, library.file), self.file(root, "peers.h"));
        let made = || compile_once(cc, &flags, (&file, &[&header]), shared, library.link);
        let open = |path: &Path| Plain::open(path, self.name, self.widths(), (self.input.1, self.output.1));
        let path = made()?;
        open(&path).or_else(|_| {
            // it may be of another version of the library
            std::fs::remove_file(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            open(&made()?)
        })
    }

    /// The program in FAUST. `with`: what FAUST is told, besides that C is wanted.
    pub fn faust(
        &self,
        (root, work): (&Path, &Path),
        flags: &[&str],
        with: &str,
        called: &str,
    ) -> Result<Option<Plain>, String> {
        let Some(before) = self.faust else { return Ok(None) };
        let made = work.join(format!("{}-{called}.h", self.name));
        let mut command = Command::new("faust");
        command.args(["-lang", "c", "-cn", "made"]).args(with.split_whitespace()).arg("-o").arg(&made);
        let out = command.arg(self.file(root, &format!("{}.dsp", self.name))).output();
        let out = out.map_err(|e| format!("faust: {e}"))?;
        if !out.status.success() {
            return Err(String::from_utf8_lossy(&out.stderr).into_owned());
        }
        // the compiler looks for it from here, and in the folder of the file that includes it
        let made = made.canonicalize().map_err(|e| format!("{}: {e}", made.display()))?;
        let defines = [
            format!("-DNAME={}", self.functions),
            format!("-DBEFORE={before}"),
            format!("-DGENERATED=\"{}\"", made.display()),
        ];
        let flags: Vec<&str> = flags.iter().copied().chain(defines.iter().map(String::as_str)).collect();
        self.plain((root, work), ("gcc", &flags), ("faust.c", ""), called).map(Some)
    }

    /// Everybody, from the beginning, ours first; and the names of those that are not installed.
    pub fn runners(&self, places: &Places<'_>, mode: Arithmetic) -> Result<(Vec<Runner>, Vec<&'static str>), String> {
        let (mut all, mut missing) = (vec![self.ours(places, mode)?], Vec::new());
        let at = (places.root, places.work);
        let mut add = |name: &'static str, with, made: Result<Option<Plain>, String>| {
            match made {
                Ok(None) => {}
                Ok(Some(plain)) => all.push(Runner { name, with, program: Box::new(plain) }),
                Err(why) if !absent(&why) => return Err(format!("{}: {name}: {why}", self.name)),
                Err(_) if missing.contains(&name) => {}
                Err(_) => missing.push(name),
            }
            Ok(())
        };
        for cc in ["gcc", "clang"] {
            let called = format!("{cc}-{}", mode_name(mode));
            add(cc, "", self.plain(at, (cc, &flags(mode)), (self.by_hand, ""), &called).map(Some))?;
        }
        for with in ["", "-vec"] {
            let called = format!("faust{with}-{}", mode_name(mode));
            add("FAUST", with, self.faust(at, &flags(mode), with, &called))?;
        }
        for l in self.libraries {
            let called = format!("{}-{}", l.name.replace([' ', ','], ""), mode_name(mode));
            let at = (places.root, places.work, places.work);
            add(l.name, "", self.peer(at, ("gcc", &flags(Arithmetic::Usual)), l, &called).map(Some))?;
        }
        Ok((all, missing))
    }

    /// Items of input that the first runner takes a turn's time for.
    pub fn items(&self, runner: &mut Runner) -> Result<usize, String> {
        items_of(runner.program.as_mut(), &self.samples(1 << 13), self.input.0.words())
    }

    /// Lets them race, after a first turn in which what each gives is compared with what the first gives: one that does other work is refused.
    pub fn race(&self, runners: &mut [Runner], input: &[u32]) -> Result<Vec<Raced>, String> {
        let mut first: Vec<u32> = Vec::new();
        for (i, runner) in runners.iter_mut().enumerate() {
            let mut output = Vec::with_capacity(input.len());
            runner.program.run(input, &mut output)?;
            if i == 0 {
                first = output;
                continue;
            }
            self.agree(&first, (runner.name, &output)).map_err(|why| {
                format!("{}: {} {} does not do the same work: {why}", self.name, runner.name, runner.with)
            })?;
        }
        let mut times = vec![Vec::new(); runners.len()];
        // the same memory for all: that the system hands out new pages is nobody's time
        let mut output = Vec::with_capacity(2 * first.len() + (1 << 14));
        for turn in 0..TURNS {
            // each has its turn at each place
            for k in 0..runners.len() {
                let i = (k + turn) % runners.len();
                output.clear();
                let mut result = Ok(None);
                let time = seconds(|| result = runners[i].program.run(input, &mut output));
                times[i].push(result?.unwrap_or(time));
            }
        }
        let of = |(r, times): (&Runner, Vec<f64>)| Raced { name: r.name, with: r.with, times };
        Ok(runners.iter().zip(times).map(of).collect())
    }
}
