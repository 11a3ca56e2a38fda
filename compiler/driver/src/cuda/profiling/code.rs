//! Code of all kernels for each limit of registers, and what the CUDA compiler says of it. A limit that a kernel keeps without being told makes the same code as a larger one, and so does a
//! number of threads that its part's text does not depend on: then it is not compiled again.

use crate::cache::Cache;
use crate::cuda::arch::Arch;
use crate::cuda::compile::{self, Image, KernelOptions};
use crate::cuda::nvrtc::Nvrtc;
use crate::exit::Fault;
use crate::options::CodeOptions;
use crate::profile::gpu::LIMITS;
use sluice_codegen::cuda::{ProfileKernel, ProfileText};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a thread of a kernel has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// Registers, where the compiler tells.
    pub(super) registers: Option<u32>,
    /// Bytes that it stores and loads because they are too few.
    pub(super) stores: u32,
    pub(super) loads: u32,
}

/// Some kernels of a text, compiled.
pub(super) struct Built {
    /// The number of threads whose text it is.
    threads: usize,
    /// The limit.
    pub(super) limit: usize,
    /// The kernels, in the order of the code's own numbers.
    pub(super) kernels: Vec<usize>,
    /// The code.
    pub(super) image: Image,
}

/// Code by kernel, number of threads and limit.
pub(super) struct Codes {
    /// By number of threads, then kernel: the first number of threads with the same text.
    origin: Vec<Vec<usize>>,
    built: Vec<Built>,
    /// By kernel, number of threads that is an origin, and limit: what it has there, where it was compiled.
    needs: BTreeMap<(usize, usize, usize), Needs>,
    /// For the emulator: code with the numbers of threads that it is for.
    pub(super) objects: Vec<(PathBuf, Vec<usize>)>,
    /// The limits that there is code for, ascending.
    pub(super) limits: Vec<u32>,
    /// NVRTC's version.
    pub(super) compiler: Option<String>,
}

/// What came of one text.
type Made = Result<Vec<Built>, Fault>;

impl Codes {
    /// For the emulator, which knows no registers.
    pub(super) fn emulated(texts: &[ProfileText]) -> Result<Codes, Fault> {
        let mut objects: Vec<(PathBuf, Vec<usize>)> = Vec::new();
        for (t, text) in texts.iter().enumerate() {
            let object = compile::emulation(&text.device)?;
            match objects.iter_mut().find(|(known, _)| *known == object) {
                Some((_, threads)) => threads.push(t),
                None => objects.push((object, vec![t])),
            }
        }
        let limits = vec![LIMITS[LIMITS.len() - 1]];
        Ok(Codes {
            origin: origins(texts, false),
            built: vec![],
            needs: BTreeMap::new(),
            objects,
            limits,
            compiler: None,
        })
    }

    /// For a GPU, on all processors of the computer. Where it is not to run (`alike`), texts that differ in numbers alone, such as how much passes through shared memory at a time, are
    /// taken for the same.
    pub(super) fn compile(
        nvrtc: &Nvrtc,
        texts: &[ProfileText],
        arch: Arch,
        code: &CodeOptions,
        alike: bool,
    ) -> Result<Codes, Fault> {
        let origin = origins(texts, alike);
        let cache = Cache::open()?;
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, Made)>> = Mutex::default();
        let work = || {
            loop {
                let t = next.fetch_add(1, Ordering::Relaxed);
                let Some(text) = texts.get(t) else { return };
                let own: Vec<usize> = (0..text.kernels.len()).filter(|k| origin[t][*k] == t).collect();
                let made = limited(nvrtc, &cache, (text, t), own, arch, code);
                done.lock().unwrap_or_else(|e| e.into_inner()).push((t, made));
            }
        };
        let helpers = std::thread::available_parallelism().map_or(1, usize::from).min(texts.len());
        std::thread::scope(|scope| {
            // helpers only: where the system gives no thread, this one does it all
            (1..helpers).for_each(|_| drop(std::thread::Builder::new().spawn_scoped(scope, work)));
            work();
        });
        let mut done = done.into_inner().unwrap_or_else(|e| e.into_inner());
        done.sort_by_key(|(t, _)| *t);
        let mut built = Vec::new();
        for (_, made) in done {
            built.extend(made?);
        }
        let mut all = BTreeMap::new();
        for b in &built {
            for k in &b.kernels {
                all.insert((*k, b.threads, b.limit), needs(&b.image, &texts[b.threads].kernels[*k]));
            }
        }
        let compiler = Some(nvrtc.version());
        Ok(Codes { origin, built, needs: all, objects: Vec::new(), limits: LIMITS.to_vec(), compiler })
    }

    /// All code.
    pub(super) fn built(&self) -> &[Built] {
        &self.built
    }

    /// The numbers of threads that a kernel in this code is for.
    pub(super) fn threads(&self, built: &Built, kernel: usize) -> Vec<usize> {
        (0..self.origin.len()).filter(|t| self.origin[*t][kernel] == built.threads).collect()
    }

    /// The limit whose code a kernel has where it is compiled for this one.
    pub(super) fn made_for(&self, kernel: usize, threads: usize, limit: usize) -> usize {
        let origin = self.origin[threads][kernel];
        let from = (kernel, origin, limit)..=(kernel, origin, usize::MAX);
        self.needs.range(from).next().map_or(limit, |((_, _, l), _)| *l)
    }

    /// What a thread of a kernel has with a limit.
    pub(super) fn needs(&self, kernel: usize, threads: usize, limit: usize) -> Needs {
        let made = self.made_for(kernel, threads, limit);
        self.needs.get(&(kernel, self.origin[threads][kernel], made)).copied().unwrap_or_default()
    }
}

/// By number of threads, then kernel: the first number with the same text.
fn origins(texts: &[ProfileText], alike: bool) -> Vec<Vec<usize>> {
    let shape = |text: &str| match alike {
        false => text.to_string(),
        true => text.split(|c: char| c.is_ascii_digit()).filter(|s| !s.is_empty()).collect::<Vec<_>>().join("0"),
    };
    let shapes: Vec<Vec<String>> = texts.iter().map(|t| t.kernels.iter().map(|k| shape(&k.text)).collect()).collect();
    let first = |t: usize, k: usize| (0..t).find(|other| shapes[*other][k] == shapes[t][k]).unwrap_or(t);
    (0..texts.len()).map(|t| (0..texts[t].kernels.len()).map(|k| first(t, k)).collect()).collect()
}

/// Code of these kernels for each limit, the largest first; then of those that do not keep it by themselves.
fn limited(
    nvrtc: &Nvrtc,
    cache: &Cache,
    (text, threads): (&ProfileText, usize),
    own: Vec<usize>,
    arch: Arch,
    code: &CodeOptions,
) -> Made {
    let mut built: Vec<Built> = Vec::new();
    for (limit, most) in LIMITS.iter().enumerate().rev() {
        // the smallest limit so far with code of its own says what it keeps
        let keeps = |k: &usize| {
            let last = built.iter().rev().find(|b| b.kernels.contains(k));
            last.is_some_and(|b| needs(&b.image, &text.kernels[*k]).registers.is_some_and(|n| n <= *most))
        };
        let kernels: Vec<usize> = own.iter().copied().filter(|k| !keeps(k)).collect();
        if kernels.is_empty() {
            continue;
        }
        let without = (0..text.kernels.len()).filter(|k| !kernels.contains(k));
        let mut some: String = without.map(|k| format!("#define SL_WITHOUT_{k}\n")).collect();
        some.push_str(&text.device);
        let options = KernelOptions { fast_math: code.cc.fast_math, registers: Some(*most), debug: code.cc.debug };
        let image = compile::image_by(nvrtc, cache, &some, arch, options)?;
        built.push(Built { threads, limit, kernels, image });
    }
    Ok(built)
}

/// Those of a kernel, with the part that it calls.
fn needs(image: &Image, kernel: &ProfileKernel) -> Needs {
    // as C++ compilers write a function's name: its length before it, the types of its arguments behind
    let part = format!("{}{}E", kernel.function.len(), kernel.function);
    let plain = format!("{}{}R", kernel.function.len(), kernel.function);
    let is_part = |name: &str| name.contains(&part) || name.contains(&plain);
    let own = image.resources.iter().filter(|r| r.name == kernel.name || is_part(&r.name));
    own.fold(Needs::default(), |sum, r| Needs {
        registers: sum.registers.max(r.registers),
        stores: sum.stores + r.spill_stores,
        loads: sum.loads + r.spill_loads,
    })
}
