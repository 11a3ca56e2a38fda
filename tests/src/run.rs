//! Running a program from its text, in this process: by the interpreter, and compiled.

use crate::generate::Case;
use sluice_driver::cc::CcOptions;
use sluice_driver::exit::Exit;
use sluice_driver::io::format::Format;
use sluice_driver::io::host::{self, Bindings, Host};
use sluice_driver::io::sink::Out;
use sluice_driver::native::NativeEnd;
use sluice_driver::options::{CodeOptions, ProgramOptions, ScheduleKind};
use sluice_driver::pipeline::{Checked, Halt};
use sluice_driver::render::Renderer;
use sluice_driver::runtime::{self, RunEnd};
use sluice_driver::session::Session;
use sluice_driver::{compiled, interpreted};
use sluice_frontend::{NoImports, Options, SourceInput, analyse};
use std::cell::RefCell;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;

/// How to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The reference interpreter.
    Interpreted,
    /// Compiled at this level, with the smallest buffers or the smallest code.
    Native {
        /// 0 to 3.
        level: u8,
        /// The minimum-latency schedule?
        small_buffers: bool,
        /// Without checks?
        unchecked: bool,
    },
}

/// What came out of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ended well: standard output, and the bytes of the output file (nothing where there is none).
    Done {
        /// Prints.
        printed: Vec<u8>,
        /// The open end, or `out.bin`.
        written: Option<Vec<u8>>,
    },
    /// It failed: the exit code, and why.
    Failed(Exit, String),
}

/// Checks a program; its diagnostics in words where it has errors.
pub fn check(source: &str) -> Result<Checked, String> {
    let input = SourceInput { name: "program.str".into(), text: source.into() };
    let analysis = analyse(vec![input], &Options::default(), &mut NoImports);
    match analysis.program {
        Some(program) if program.pending.is_empty() => Ok(Checked { sources: analysis.sources, program }),
        Some(program) => Err(Renderer::new(&analysis.sources, false).all(&program.pending)),
        None => Err(Renderer::new(&analysis.sources, false).all(&analysis.diagnostics)),
    }
}

/// Bytes that can be looked at after they were written.
#[derive(Clone, Default)]
struct Tape(Rc<RefCell<Vec<u8>>>);

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs a checked program. The current folder must be `folder`: files of the program are relative to it.
pub fn run(checked: &Checked, case: &Case, mode: Mode, folder: &Path) -> Outcome {
    match try_run(checked, case, mode, folder) {
        Ok(outcome) => outcome,
        Err(Halt::Fault(f)) => Outcome::Failed(f.exit, f.message),
        Err(Halt::Done(exit)) => Outcome::Failed(exit, "stopped".into()),
    }
}

fn try_run(checked: &Checked, case: &Case, mode: Mode, folder: &Path) -> Result<Outcome, Halt> {
    let program = &checked.program;
    let (readers, writers) = host::ends(&program.graph, &program.globals)?;
    let path = |name: &str| folder.join(name).display().to_string();
    let (input, output) = (path("in.bin"), path("out.bin"));
    let _ = std::fs::remove_file(&output);
    if let Some(bytes) = &case.input {
        std::fs::write(&input, bytes).map_err(|e| sluice_driver::exit::Fault::file("write", &input, &e))?;
    }
    let open = |ends: &[host::End]| ends.iter().any(|e| e.endpoint == sluice_frontend::graph::Endpoint::Open);
    let (reads, writes) = (open(&readers), open(&writers));
    let bindings = Bindings {
        input: reads.then_some(input),
        input_format: reads.then_some(Format::Raw),
        output: writes.then(|| output.clone()),
        output_format: writes.then_some(Format::Raw),
        ..Bindings::default()
    };
    let native = match mode {
        Mode::Interpreted => None,
        Mode::Native { level, small_buffers, unchecked } => {
            let mut session = Session::new(&ProgramOptions::default(), false)?;
            let schedule = if small_buffers { ScheduleKind::MinimumLatency } else { ScheduleKind::SingleAppearance };
            let cc = CcOptions { level, ..CcOptions::default() };
            let code = CodeOptions { cc, schedule, unchecked };
            let c = compiled::emit(&mut session, checked, &code, sluice_codegen::Flavour::Plugin, "program")?;
            Some((compiled::load(&mut session, &c, &code)?, c.sites))
        }
    };
    let tape = Tape::default();
    let mut host = Host::open_to(&readers, &writers, &bindings, Out::to(Box::new(tape.clone())))?;
    let end = match &native {
        None => interpreted::run(program, &readers, case.iterations, &mut host),
        Some((native, sites)) => native.run(&readers, &writers, case.iterations, &mut host).map_err(|e| match e {
            NativeEnd::Fault(fault) => RunEnd::Fault(fault),
            NativeEnd::Program(error) => runtime::of_native(&error, &program.graph, sites),
        }),
    };
    Ok(match end {
        Ok(()) => {
            host.finish()?;
            let printed = tape.0.borrow().clone();
            Outcome::Done { printed, written: std::fs::read(&output).ok() }
        }
        Err(RunEnd::Fault(f)) => {
            host.abandon();
            Outcome::Failed(f.exit, f.message)
        }
        Err(RunEnd::Program(d)) => {
            host.abandon();
            let at = d.span();
            Outcome::Failed(Exit::Program, format!("{} {} at {}..{}", d.code, d.title, at.start, at.end))
        }
    })
}

/// What differs between two outcomes, in a few words; nothing where they are the same.
pub fn difference(a: &Outcome, b: &Outcome) -> Option<String> {
    match (a, b) {
        (Outcome::Done { printed: p, written: w }, Outcome::Done { printed: q, written: x }) => {
            if p != q {
                return Some(text_difference(p, q));
            }
            match (w, x) {
                (Some(w), Some(x)) if w != x => {
                    let at = w.iter().zip(x).position(|(a, b)| a != b).unwrap_or(w.len().min(x.len()));
                    let show =
                        |b: &[u8]| format!("{:02x?}", b.get(at / 4 * 4..(at / 4 * 4 + 8).min(b.len())).unwrap_or(&[]));
                    Some(format!("byte {at} of {} and {}: {} and {}", w.len(), x.len(), show(w), show(x)))
                }
                (Some(_), Some(_)) | (None, None) => None,
                _ => Some("one wrote its output file, the other did not".into()),
            }
        }
        (Outcome::Failed(e, why), Outcome::Failed(f, why_too)) => {
            // fast native code does not know which of many firings went wrong
            let same = why == why_too || without_firing(why) == *why_too || *why == without_firing(why_too);
            (e != f || !same).then(|| format!("the one fails with `{why}`, the other with `{why_too}`"))
        }
        (Outcome::Done { .. }, Outcome::Failed(_, why)) => Some(format!("only the second fails: {why}")),
        (Outcome::Failed(_, why), Outcome::Done { .. }) => Some(format!("only the first fails: {why}")),
    }
}

/// The words of a fault without the number of the firing.
fn without_firing(why: &str) -> String {
    match why.split_once(", firing ") {
        Some((before, after)) => format!("{before}{}", after.trim_start_matches(|c: char| c.is_ascii_digit())),
        None => why.into(),
    }
}

fn text_difference(a: &[u8], b: &[u8]) -> String {
    let lines = |t: &[u8]| String::from_utf8_lossy(t).lines().map(String::from).collect::<Vec<_>>();
    let (p, q) = (lines(a), lines(b));
    let n = p.iter().zip(&q).position(|(x, y)| x != y).unwrap_or(p.len().min(q.len()));
    let show = |l: &[String]| l.get(n).cloned().unwrap_or("<nothing>".into());
    format!("line {} of {} and {}: `{}` and `{}`", n + 1, p.len(), q.len(), show(&p), show(&q))
}
