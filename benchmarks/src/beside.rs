//! Programs that run beside each other in this process, behind one face: libraries that sluice makes, plain C ones with the same
//! interface as benchmarks/fm/reference.c, and Python in a process of its own.

#![allow(unsafe_code)] // functions of shared libraries
#![allow(clippy::disallowed_methods)] // starts the C compiler and Python

use libloading::{Library, Symbol};
use sluice_driver::cache::{self, Cache};
use sluice_driver::exit::Fault;
use std::ffi::c_void;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Words of an item that comes in, and of one that goes out.
pub type Widths = (usize, usize);

/// Items that come in, and how many go out for so many.
pub type Rates = (usize, usize);

/// A program: items in, items out, as words of 32 bits.
pub trait Program {
    /// Takes all of the input; the output is appended. The time of the work in seconds, where the program measures it itself.
    fn run(&mut self, input: &[u32], output: &mut Vec<u32>) -> Result<Option<f64>, String>;
}

/// A C file with NAME_new, NAME_run and NAME_free.
pub struct Plain {
    state: *mut c_void,
    run: unsafe extern "C" fn(*mut c_void, *const u32, usize, *mut u32) -> usize,
    free: unsafe extern "C" fn(*mut c_void),
    widths: Widths,
    rates: Rates,
    _library: Library,
}

/// The library that `sluice build --lib` makes.
pub struct Compiled {
    state: *mut c_void,
    /// Input and output at once; versions of sluice before it have the other two only.
    process: Option<unsafe extern "C" fn(*mut c_void, *const u32, *mut usize, *mut u32, usize) -> i64>,
    push: unsafe extern "C" fn(*mut c_void, *const u32, usize) -> i64,
    pull: unsafe extern "C" fn(*mut c_void, *mut u32, usize) -> i64,
    destroy: unsafe extern "C" fn(*mut c_void),
    widths: Widths,
    _library: Library,
}

/// Python that reads its input from a file once, and does the work each time it is told.
pub struct Python {
    child: Child,
    answers: BufReader<ChildStdout>,
    output: PathBuf,
}

/// A function of a library.
fn get<T: Copy>(library: &Library, name: &str) -> Result<T, String> {
    // SAFETY: the callers name the types that the headers declare.
    let symbol: Symbol<'_, T> = unsafe { library.get(name.as_bytes()) }.map_err(|e| e.to_string())?;
    Ok(*symbol)
}

fn open(path: &Path) -> Result<Library, String> {
    // SAFETY: these libraries run no code of their own when they are loaded.
    unsafe { Library::new(path) }.map_err(|e| format!("{}: {e}", path.display()))
}

/// Makes a shared library of a C file. What the compiler says where it refuses.
pub fn compile(cc: &str, flags: &[&str], source: &Path, target: &Path, link: &str) -> Result<(), String> {
    let mut command = Command::new(cc);
    command.args(flags).args(["-shared", "-fPIC", "-o"]).arg(target).arg(source);
    let out = command.args(link.split_whitespace()).arg("-lm").output().map_err(|e| format!("{cc}: {e}"))?;
    if out.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&out.stderr).into_owned()) }
}

/// The same in a folder where it is kept: made once of a source and the files that it includes, by whoever comes first. The path of the library.
pub fn compile_once(
    cc: &str,
    flags: &[&str],
    (source, included): (&Path, &[&Path]),
    folder: &Path,
    link: &str,
) -> Result<PathBuf, String> {
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()));
    let version = Command::new(cc).arg("--version").output().map_err(|e| format!("{cc}: {e}"))?;
    let mut parts = vec![cc.to_string(), flags.join(" "), link.to_string(), read(source)?];
    parts.push(String::from_utf8_lossy(&version.stdout).into_owned());
    for path in included {
        parts.push(read(path)?);
    }
    let key = cache::key(&parts.iter().map(String::as_str).collect::<Vec<_>>());
    let cache = Cache::at(folder, cache::DEFAULT_LIMIT);
    // who comes second waits, rather than compile it, too
    let lock = std::fs::File::create(folder.join(format!("{key}.lock"))).map_err(|e| e.to_string())?;
    lock.lock().map_err(|e| e.to_string())?;
    let made = cache.get(&key, "so", |to| compile(cc, flags, source, to, link).map_err(Fault::input));
    made.map_err(|fault| fault.message)
}

impl Plain {
    /// Loads one whose functions begin with `name`. `rates`: how many items come, about, of how many items of input.
    pub fn open(path: &Path, name: &str, widths: Widths, rates: Rates) -> Result<Plain, String> {
        let library = open(path)?;
        let new: unsafe extern "C" fn() -> *mut c_void = get(&library, &format!("{name}_new"))?;
        let (run, free) = (get(&library, &format!("{name}_run"))?, get(&library, &format!("{name}_free"))?);
        // SAFETY: as the file's header comment says.
        let state = unsafe { new() };
        if state.is_null() {
            return Err("no memory".into());
        }
        Ok(Plain { state, run, free, widths, rates, _library: library })
    }
}

impl Program for Plain {
    fn run(&mut self, input: &[u32], output: &mut Vec<u32>) -> Result<Option<f64>, String> {
        let (items, at) = (input.len() / self.widths.0, output.len());
        // some may have been held back
        let most = (items * self.rates.1).div_ceil(self.rates.0) + 64;
        // straight to where it shall be: zeroes that are written before would be counted as the program's time
        output.reserve(most * self.widths.1);
        let to = output.spare_capacity_mut().as_mut_ptr().cast();
        // SAFETY: there is room for what can come of so many items.
        let n = unsafe { (self.run)(self.state, input.as_ptr(), items, to) };
        assert!(n <= most, "{n} items of {items}");
        // SAFETY: the program has written so many items.
        unsafe { output.set_len(at + n * self.widths.1) };
        Ok(None)
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        // SAFETY: made by NAME_new, not used again.
        unsafe { (self.free)(self.state) }
    }
}

impl Compiled {
    /// Loads the library whose functions begin with `name`.
    pub fn open(path: &Path, name: &str, widths: Widths) -> Result<Compiled, String> {
        let library = open(path)?;
        let create: unsafe extern "C" fn() -> *mut c_void = get(&library, &format!("{name}_create"))?;
        let process = get(&library, &format!("{name}_process")).ok();
        let push = get(&library, &format!("{name}_push_input"))?;
        let pull = get(&library, &format!("{name}_pull_output"))?;
        let destroy = get(&library, &format!("{name}_destroy"))?;
        // SAFETY: as the header says.
        let state = unsafe { create() };
        if state.is_null() {
            return Err("no memory".into());
        }
        Ok(Compiled { state, process, push, pull, destroy, widths, _library: library })
    }
}

impl Program for Compiled {
    fn run(&mut self, input: &[u32], output: &mut Vec<u32>) -> Result<Option<f64>, String> {
        let (taken_words, given_words) = self.widths;
        let mut rest = input;
        loop {
            output.reserve(8192);
            let to = output.spare_capacity_mut();
            let (mut taken, room) = (rest.len() / taken_words, to.len() / given_words);
            let to = to.as_mut_ptr().cast();
            let n = match self.process {
                // SAFETY: the pointers are to as many items as told.
                Some(process) => unsafe { process(self.state, rest.as_ptr(), &mut taken, to, room) },
                None => {
                    // SAFETY: likewise.
                    let pushed = unsafe { (self.push)(self.state, rest.as_ptr(), taken) };
                    taken = usize::try_from(pushed).map_err(|_| format!("push_input gives {pushed}"))?;
                    // SAFETY: likewise.
                    unsafe { (self.pull)(self.state, to, room) }
                }
            };
            let n = usize::try_from(n).map_err(|_| format!("sluice's code gives {n}"))?;
            rest = &rest[taken * taken_words..];
            // SAFETY: so many items have been written.
            unsafe { output.set_len(output.len() + n * given_words) };
            if rest.is_empty() && n < room {
                break;
            }
        }
        Ok(None)
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        // SAFETY: made by create, not used again.
        unsafe { (self.destroy)(self.state) }
    }
}

impl Python {
    /// A Python that has NumPy and SciPy, where there is one.
    pub fn find() -> Option<&'static str> {
        ["python3", "/usr/bin/python3"].into_iter().find(|python| {
            let probe = Command::new(python).args(["-c", "import numpy, scipy"]).stderr(Stdio::null()).status();
            probe.is_ok_and(|status| status.success())
        })
    }

    /// Starts `beside.py` (in `folder`) with a file of its own; `work` is for the files that it reads and writes.
    pub fn open(python: &str, folder: &Path, file: &Path, input: &[u32], work: &Path) -> Result<Python, String> {
        let (from, output) = (work.join("python-in.raw"), work.join("python-out.raw"));
        std::fs::write(&from, bytes(input)).map_err(|e| e.to_string())?;
        let mut command = Command::new(python);
        command.arg(folder.join("beside.py")).arg(file).arg(from).arg(&output);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|e| format!("{python}: {e}"))?;
        let answers = BufReader::new(child.stdout.take().ok_or("no pipe")?);
        Ok(Python { child, answers, output })
    }
}

impl Program for Python {
    fn run(&mut self, _: &[u32], output: &mut Vec<u32>) -> Result<Option<f64>, String> {
        let told = self.child.stdin.as_mut().map(|pipe| pipe.write_all(b"\n").and_then(|()| pipe.flush()));
        told.ok_or("no pipe")?.map_err(|e| e.to_string())?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer).map_err(|e| e.to_string())?;
        let seconds = answer.trim().parse().map_err(|_| "Python has failed".to_string())?;
        output.extend(words(&std::fs::read(&self.output).map_err(|e| e.to_string())?));
        Ok(Some(seconds))
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // it ends with its input
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Words as bytes, little-endian.
pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Bytes as words.
pub fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}
