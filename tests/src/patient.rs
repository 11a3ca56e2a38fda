//! Runs with somebody at the other end who gives an item only after seeing all that follows from those before it.
//!
//! How much that is says the interpreter: what it has put out when it asks for the item.

use crate::generate::Case;
use crate::run::{Compiled, in_words, run_to};
use sluice_driver::exit::Fault;
use sluice_driver::io::format::Format;
use sluice_driver::io::host::{self, Bindings, Host};
use sluice_driver::io::sink::Out;
use sluice_driver::pipeline::Checked;
use sluice_frontend::graph::Endpoint;
use sluice_interpret::{Options, Outside};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long somebody waits who is to see something.
const PATIENCE: Duration = Duration::from_secs(10);

/// What came out so far.
#[derive(Clone, Default)]
struct Seen(Arc<(Mutex<Vec<u8>>, Condvar)>);

impl Write for Seen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let (seen, changed) = &*self.0;
        seen.lock().map_err(|_| std::io::Error::other("poisoned"))?.extend_from_slice(bytes);
        changed.notify_all();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Seen {
    fn bytes(&self) -> Vec<u8> {
        self.0.0.lock().map(|b| b.clone()).unwrap_or_default()
    }

    /// Waits until so many bytes came, or `gone` says that no more will come, or patience is at its end; gives how many there are.
    fn wait(&self, n: usize, gone: &dyn Fn() -> bool) -> usize {
        let until = Instant::now() + PATIENCE;
        let (seen, changed) = &*self.0;
        let Ok(mut bytes) = seen.lock() else { return 0 };
        while bytes.len() < n && Instant::now() < until && !gone() {
            let Ok((next, _)) = changed.wait_timeout(bytes, Duration::from_millis(20)) else { return 0 };
            bytes = next;
        }
        bytes.len()
    }
}

/// A world that notes how much was put out when each item was asked for.
struct Recorder<'a> {
    input: std::slice::ChunksExact<'a, u8>,
    before: Vec<usize>,
    out: Vec<u8>,
}

impl Outside for Recorder<'_> {
    fn read(&mut self, _: usize, item: &mut [u8]) -> Result<bool, String> {
        self.before.push(self.out.len());
        let Some(next) = self.input.next() else { return Ok(false) };
        item.copy_from_slice(next);
        Ok(true)
    }

    fn write(&mut self, _: usize, item: &[u8]) -> Result<(), String> {
        self.out.extend_from_slice(item);
        Ok(())
    }

    fn print(&mut self, text: &str) -> Result<(), String> {
        self.out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn wants_stop(&mut self) -> bool {
        false
    }
}

/// What is wrong with a run of this kind; `None` too where such runs say nothing about the program: its ends are files, or bits, or the
/// interpreter fails.
pub fn patient(checked: &Checked, case: &Case, code: Option<&Compiled>) -> Option<String> {
    try_patient(checked, case, code).unwrap_or_else(|f| Some(f.message))
}

fn try_patient(checked: &Checked, case: &Case, code: Option<&Compiled>) -> Result<Option<String>, Fault> {
    let program = &checked.program;
    let (readers, writers) = host::ends(&program.graph, &program.globals)?;
    // packed bits come out eight at a time
    let usual = |e: &host::End| e.endpoint == Endpoint::Open && !e.item.is_packed();
    let ([reader], Some(input)) = (&readers[..], &case.input) else { return Ok(None) };
    if !usual(reader) || !writers.iter().all(usual) || !reader.item.flags.is_empty() {
        return Ok(None);
    }
    let items = input.chunks_exact(reader.item.bytes);
    let mut recorder = Recorder { input: items.clone(), before: Vec::new(), out: Vec::new() };
    let sluice_frontend::Elaborated { globals, codes, graph, steady, messages, .. } = program;
    let interpreted = sluice_interpret::Program { globals, codes, graph, steady, messages };
    let options = Options { iterations: case.iterations, channel_limit: case.channel_limit };
    if sluice_interpret::run(interpreted, &mut recorder, options).is_err() {
        return Ok(None);
    }
    let Recorder { before, out, .. } = recorder;
    let (from, mut to) = std::io::pipe().map_err(|e| Fault::file("make", "a pipe", &e))?;
    let seen = Seen::default();
    let path = format!("/dev/fd/{}", from.as_raw_fd());
    let done = Arc::new(Mutex::new(false));
    let feeder = {
        let (seen, done, before) = (seen.clone(), done.clone(), before.clone());
        let items: Vec<Vec<u8>> = items.map(<[u8]>::to_vec).collect();
        move || {
            let gone = || done.lock().is_ok_and(|d| *d);
            for (i, wanted) in before.iter().enumerate() {
                let n = seen.wait(*wanted, &gone);
                if n < *wanted {
                    return Some(format!("{n} of {wanted} bytes came out before item {i} of {} had come", items.len()));
                }
                if let Some(item) = items.get(i)
                    && to.write_all(item).is_err()
                {
                    break;
                }
            }
            None
        }
    };
    let bindings = Bindings {
        input: Some(path),
        input_format: Some(Format::Raw),
        output_format: (!writers.is_empty()).then_some(Format::Raw),
        ..Bindings::default()
    };
    let mut host = Host::open_to(&readers, &writers, &bindings, Out::to(Box::new(seen.clone())))?;
    drop(from);
    let (end, late) = std::thread::scope(|s| {
        let feeder = s.spawn(feeder);
        let end = match run_to(checked, case, code, &readers, &writers, &mut host) {
            Ok(()) => host.finish().map(drop).map_err(|f| f.message),
            Err(end) => {
                host.abandon();
                Err(in_words(end).1)
            }
        };
        if let Ok(mut d) = done.lock() {
            *d = true;
        }
        (end, feeder.join().unwrap_or(Some("the feeder died".into())))
    });
    if let Err(why) = end {
        return Ok(Some(format!("only with patient input it fails: {why}")));
    }
    let wrong = seen.bytes() != out;
    Ok(late.or(wrong.then(|| format!("patient input: other output than the interpreter's ({} bytes)", out.len()))))
}
