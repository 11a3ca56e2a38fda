//! FM receivers behind one face: the library that sluice makes of examples/fm.str, and the C ones of benchmarks/fm.

#![allow(unsafe_code)] // functions of shared libraries

use libloading::{Library, Symbol};
use std::ffi::c_void;
use std::path::Path;

/// A receiver: complex samples in (real and imaginary parts in turn), sound out.
pub trait Receiver {
    /// Decodes samples; the sound is appended.
    fn run(&mut self, samples: &[f32], sound: &mut Vec<f32>);
}

/// A library of benchmarks/fm.
pub struct Plain {
    state: *mut c_void,
    run: unsafe extern "C" fn(*mut c_void, *const f32, usize, *mut f32) -> usize,
    free: unsafe extern "C" fn(*mut c_void),
    _library: Library,
}

/// The library that `sluice build --lib` makes.
pub struct Compiled {
    state: *mut c_void,
    push: unsafe extern "C" fn(*mut c_void, *const f32, usize) -> i64,
    pull: unsafe extern "C" fn(*mut c_void, *mut f32, usize) -> i64,
    destroy: unsafe extern "C" fn(*mut c_void),
    _library: Library,
}

/// A function of a library.
fn get<T: Copy>(library: &Library, name: &str) -> Result<T, String> {
    // SAFETY: the callers name the types that the headers declare.
    let symbol: Symbol<'_, T> = unsafe { library.get(name.as_bytes()) }.map_err(|e| e.to_string())?;
    Ok(*symbol)
}

fn open(path: &Path) -> Result<Library, String> {
    // SAFETY: these libraries run no code when they are loaded.
    unsafe { Library::new(path) }.map_err(|e| format!("{}: {e}", path.display()))
}

impl Plain {
    /// Loads one.
    pub fn open(path: &Path) -> Result<Plain, String> {
        let library = open(path)?;
        let new: unsafe extern "C" fn() -> *mut c_void = get(&library, "fm_new")?;
        let (run, free) = (get(&library, "fm_run")?, get(&library, "fm_free")?);
        // SAFETY: as the file's header comment says.
        let state = unsafe { new() };
        if state.is_null() { Err("no memory".into()) } else { Ok(Plain { state, run, free, _library: library }) }
    }
}

impl Receiver for Plain {
    fn run(&mut self, samples: &[f32], sound: &mut Vec<f32>) {
        let at = sound.len();
        sound.resize(at + samples.len() / 2 / 20 + 64, 0.0);
        // SAFETY: there is room for one sound sample of 20 input samples, and some that were held back.
        let n = unsafe { (self.run)(self.state, samples.as_ptr(), samples.len() / 2, sound[at..].as_mut_ptr()) };
        sound.truncate(at + n);
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        // SAFETY: made by fm_new, not used again.
        unsafe { (self.free)(self.state) }
    }
}

impl Compiled {
    /// Loads the library whose functions begin with `name`.
    pub fn open(path: &Path, name: &str) -> Result<Compiled, String> {
        let library = open(path)?;
        let create: unsafe extern "C" fn() -> *mut c_void = get(&library, &format!("{name}_create"))?;
        let push = get(&library, &format!("{name}_push_input"))?;
        let pull = get(&library, &format!("{name}_pull_output"))?;
        let destroy = get(&library, &format!("{name}_destroy"))?;
        // SAFETY: as the header says.
        let state = unsafe { create() };
        if state.is_null() {
            return Err("no memory".into());
        }
        Ok(Compiled { state, push, pull, destroy, _library: library })
    }
}

impl Receiver for Compiled {
    fn run(&mut self, samples: &[f32], sound: &mut Vec<f32>) {
        let mut rest = samples;
        let mut piece = [0f32; 4096];
        while !rest.is_empty() {
            // SAFETY: the pointers are to as many items as told (a sample is two numbers).
            let taken = unsafe { (self.push)(self.state, rest.as_ptr(), rest.len() / 2) };
            assert!(taken >= 0, "push_input gives {taken}");
            rest = &rest[taken as usize * 2..];
            loop {
                // SAFETY: likewise.
                let n = unsafe { (self.pull)(self.state, piece.as_mut_ptr(), piece.len()) };
                assert!(n >= 0, "pull_output gives {n}");
                if n == 0 {
                    break;
                }
                sound.extend_from_slice(&piece[..n as usize]);
            }
        }
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        // SAFETY: made by create, not used again.
        unsafe { (self.destroy)(self.state) }
    }
}
