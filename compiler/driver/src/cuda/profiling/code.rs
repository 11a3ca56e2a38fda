//! Code of all kernels for each limit of registers, and what the CUDA compiler says of it. A limit that a kernel keeps without being told makes the same code as a larger one:
//! then nothing is compiled.

use crate::cache::Cache;
use crate::cuda::arch::Arch;
use crate::cuda::compile::{self, Image, KernelOptions};
use crate::cuda::nvrtc::Nvrtc;
use crate::exit::Fault;
use crate::options::CodeOptions;
use crate::profile::gpu::LIMITS;
use sluice_codegen::cuda::{ProfileKernel, ProfileText};
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

/// Code by text and limit.
pub(super) struct Codes {
    /// By number of threads, which of the different texts.
    text_of: Vec<usize>,
    /// By different text: the first number of threads that has it.
    first: Vec<usize>,
    /// By different text, then limit: the code, where it is not that of the next larger limit.
    images: Vec<Vec<Option<Image>>>,
    /// For the emulator, by different text.
    objects: Vec<PathBuf>,
    /// The limits that there is code for, ascending.
    pub(super) limits: Vec<u32>,
    /// NVRTC's version.
    pub(super) compiler: Option<String>,
}

/// Which texts differ.
fn different(texts: &[ProfileText]) -> (Vec<usize>, Vec<usize>) {
    let (mut text_of, mut first): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for (t, text) in texts.iter().enumerate() {
        let known = first.iter().position(|f| texts[*f].device == text.device);
        text_of.push(known.unwrap_or(first.len()));
        if known.is_none() {
            first.push(t);
        }
    }
    (text_of, first)
}

impl Codes {
    /// For the emulator, which knows no registers.
    pub(super) fn emulated(texts: &[ProfileText]) -> Result<Codes, Fault> {
        let (text_of, first) = different(texts);
        let objects = first.iter().map(|t| compile::emulation(&texts[*t].device)).collect::<Result<_, _>>()?;
        Ok(Codes { text_of, first, images: Vec::new(), objects, limits: vec![255], compiler: None })
    }

    /// For a GPU, on all processors of the computer.
    pub(super) fn compile(
        nvrtc: &Nvrtc,
        texts: &[ProfileText],
        arch: Arch,
        code: &CodeOptions,
    ) -> Result<Codes, Fault> {
        let (text_of, first) = different(texts);
        let cache = Cache::open()?;
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, Result<Vec<Option<Image>>, Fault>)>> = Mutex::default();
        let work = || {
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                let Some(t) = first.get(i) else { return };
                let made = limited(nvrtc, &cache, &texts[*t], arch, code);
                done.lock().unwrap_or_else(|e| e.into_inner()).push((i, made));
            }
        };
        let helpers = std::thread::available_parallelism().map_or(1, usize::from).min(first.len());
        std::thread::scope(|scope| {
            (1..helpers).for_each(|_| drop(scope.spawn(work)));
            work();
        });
        let mut done = done.into_inner().unwrap_or_else(|e| e.into_inner());
        done.sort_by_key(|(i, _)| *i);
        let images = done.into_iter().map(|(_, made)| made).collect::<Result<_, _>>()?;
        let compiler = Some(nvrtc.version());
        Ok(Codes { text_of, first, images, objects: Vec::new(), limits: LIMITS.to_vec(), compiler })
    }

    /// The different texts: the numbers of threads that share each, and code with the limits that have it.
    pub(super) fn groups(&self) -> impl Iterator<Item = (usize, Vec<usize>)> {
        let threads = |i: usize| (0..self.text_of.len()).filter(|t| self.text_of[*t] == i).collect();
        self.first.iter().enumerate().map(move |(i, first)| (*first, threads(i)))
    }

    /// Code of a text (by one of its numbers of threads), limits with the same code left out: the largest of them and it.
    pub(super) fn images(&self, threads: usize) -> impl Iterator<Item = (usize, &Image)> {
        let all = self.images.get(self.text_of[threads]).into_iter().flatten();
        all.enumerate().filter_map(|(l, image)| Some((l, image.as_ref()?)))
    }

    /// The emulator's code of a text.
    pub(super) fn object(&self, threads: usize) -> Option<&PathBuf> {
        self.objects.get(self.text_of[threads])
    }

    /// The limit whose code a kernel has where it is compiled for this one: the largest one that it would keep as well.
    pub(super) fn same_as(&self, kernel: &ProfileKernel, threads: usize, limit: usize) -> usize {
        let mut same = self.made_for(threads, limit);
        while same + 1 < self.limits.len() {
            let larger = self.made_for(threads, same + 1);
            match self.needs(kernel, threads, larger).registers {
                Some(n) if n <= self.limits[limit] => same = larger,
                _ => break,
            }
        }
        same
    }

    /// The limit for which a limit's code was compiled.
    fn made_for(&self, threads: usize, limit: usize) -> usize {
        let Some(all) = self.images.get(self.text_of[threads]) else { return limit };
        (limit..all.len()).find(|l| all[*l].is_some()).unwrap_or(limit)
    }

    /// What a thread of a kernel has with a limit.
    pub(super) fn needs(&self, kernel: &ProfileKernel, threads: usize, limit: usize) -> Needs {
        let images = self.images.get(self.text_of[threads]);
        let image = images.and_then(|all| all.get(self.made_for(threads, limit))?.as_ref());
        image.map_or_else(Needs::default, |image| needs(image, kernel))
    }
}

/// Code for each limit, the largest first.
fn limited(
    nvrtc: &Nvrtc,
    cache: &Cache,
    text: &ProfileText,
    arch: Arch,
    code: &CodeOptions,
) -> Result<Vec<Option<Image>>, Fault> {
    let mut images: Vec<Option<Image>> = LIMITS.map(|_| None).to_vec();
    let mut larger: Option<usize> = None;
    for l in (0..LIMITS.len()).rev() {
        let keeps =
            |image: &Image| text.kernels.iter().all(|k| needs(image, k).registers.is_some_and(|n| n <= LIMITS[l]));
        if larger.and_then(|i| images[i].as_ref()).is_some_and(keeps) {
            continue;
        }
        let options = KernelOptions { fast_math: code.cc.fast_math, registers: Some(LIMITS[l]), debug: code.cc.debug };
        images[l] = Some(compile::image_by(nvrtc, cache, &text.device, arch, options)?);
        larger = Some(l);
    }
    Ok(images)
}

/// Those of a kernel, with the part that it calls.
fn needs(image: &Image, kernel: &ProfileKernel) -> Needs {
    // as C++ compilers write a function's name: its length before it, the types of its arguments behind
    let part = format!("{}{}R", kernel.function.len(), kernel.function);
    let own = image.resources.iter().filter(|r| r.name == kernel.name || r.name.contains(&part));
    own.fold(Needs::default(), |sum, r| Needs {
        registers: sum.registers.max(r.registers),
        stores: sum.stores + r.spill_stores,
        loads: sum.loads + r.spill_loads,
    })
}
