//! The host of a run: the program's readers, writers and prints, joined to files and streams.

use super::bytes::Bytes;
use super::format::Format;
use super::item::ItemType;
use super::place;
use super::progress::Progress;
use super::reader::{Got, Reader};
use super::sink::{Out, SharedOut, locked};
use super::writer::{WavOptions, Writer};
use crate::exit::Fault;
use crate::interrupt;
use sluice_frontend::graph::{Endpoint, NodeKind, SdfGraph};
use sluice_frontend::ids::NodeId;
use sluice_frontend::typed::Globals;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What the command line says about the ends of a program.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    /// File for the open input; standard input without.
    pub input: Option<String>,
    /// File for the open output; standard output without.
    pub output: Option<String>,
    /// Format of the open input.
    pub input_format: Option<Format>,
    /// Format of the open output.
    pub output_format: Option<Format>,
    /// Samples per second of a WAV output.
    pub rate: Option<u32>,
    /// Channels of a WAV output.
    pub channels: Option<u16>,
    /// The items of the open input, raw, in place of a file's.
    pub data: Option<Arc<[u8]>>,
    /// A folder for what FileWriters write, instead of their own paths: the files are numbered like the writers.
    pub written: Option<PathBuf>,
}

impl Bindings {
    /// Is the open output a WAV file?
    pub fn writes_wav(&self) -> bool {
        let named = || self.output.as_deref().and_then(|path| Format::of_extension(Path::new(path)));
        matches!(self.output_format.or_else(named), Some(Format::Wav(_)))
    }
}

/// One end of a program.
#[derive(Clone, Debug)]
pub struct End {
    /// The reader or writer node.
    pub node: NodeId,
    /// Its items.
    pub item: ItemType,
    /// Where it leads.
    pub endpoint: Endpoint,
}

/// The readers and the writers of a graph, each in program order.
pub fn ends(graph: &SdfGraph, globals: &Globals) -> Result<(Vec<End>, Vec<End>), Fault> {
    let (mut readers, mut writers) = (Vec::new(), Vec::new());
    for node in graph.node_ids() {
        let n = graph.node(node);
        let (endpoint, channel, to) = match &n.kind {
            NodeKind::Reader(e) => (e, n.outputs.first(), &mut readers),
            NodeKind::Writer(e) => (e, n.inputs.first(), &mut writers),
            _ => continue,
        };
        let channel = channel.ok_or_else(|| Fault::internal(format!("{} has no channel", n.path)))?;
        let ty = &graph.channel(*channel).ty;
        let item = ItemType::of(ty, globals).ok_or_else(|| {
            Fault::program(format!(
                "{}: items of type {} cannot be read or written",
                n.path,
                super::item::name(ty, globals)
            ))
        })?;
        to.push(End { node, item, endpoint: endpoint.clone() });
    }
    Ok((readers, writers))
}

/// Files and streams of a run. Each end may be used by another thread.
pub struct Host {
    readers: Vec<Mutex<Reader>>,
    writers: Vec<Mutex<Writer>>,
    out: SharedOut,
    progress: Mutex<Progress>,
    /// Items read and written so far.
    read: AtomicU64,
    written: AtomicU64,
    /// When the run has lasted long enough.
    deadline: Option<Instant>,
}

impl Host {
    /// Opens all ends.
    pub fn open(readers: &[End], writers: &[End], bindings: &Bindings) -> Result<Host, Fault> {
        Host::open_to(readers, writers, bindings, Out::stdout())
    }

    /// Opens all ends; standard output is `out`.
    pub fn open_to(readers: &[End], writers: &[End], bindings: &Bindings, out: SharedOut) -> Result<Host, Fault> {
        check_bindings(readers, writers, bindings)?;
        let mut opened = Vec::new();
        for end in readers {
            opened.push(match &end.endpoint {
                Endpoint::File(path) => Reader::open(path, Some(Format::Raw), end.item.clone())?,
                Endpoint::Open if let Some(data) = &bindings.data => {
                    Reader::over(Bytes::of(data.clone()), Format::Raw, end.item.clone())?
                }
                Endpoint::Open => {
                    let path = bindings.input.as_deref().unwrap_or("-");
                    Reader::open(path, bindings.input_format, end.item.clone())?
                }
            });
        }
        let header = opened.iter().find_map(|r: &Reader| r.wav);
        let mut written = Vec::new();
        for (i, end) in writers.iter().enumerate() {
            let channels = if end.item.name == "complex" { 2 } else { header.map_or(1, |h| h.channels) };
            let wav = WavOptions {
                rate: bindings.rate.or(header.map(|h| h.rate)).unwrap_or(48_000),
                channels: bindings.channels.unwrap_or(channels),
            };
            let elsewhere = bindings.written.as_ref().map(|f| f.join(i.to_string()).display().to_string());
            let (path, format) = match &end.endpoint {
                Endpoint::File(path) => (elsewhere.as_deref().unwrap_or(path), Some(Format::Raw)),
                Endpoint::Open => (bindings.output.as_deref().unwrap_or("-"), bindings.output_format),
            };
            written.push(Writer::open(path, format, end.item.clone(), wav, &out)?);
        }
        Ok(Host {
            readers: opened.into_iter().map(Mutex::new).collect(),
            writers: written.into_iter().map(Mutex::new).collect(),
            out,
            progress: Mutex::new(Progress::start()),
            read: AtomicU64::new(0),
            written: AtomicU64::new(0),
            deadline: None,
        })
    }

    /// Up to as many items of a reader (by its number in program order) as `space` holds. Before it waits, everything that
    /// someone may be watching is written.
    pub fn read(&self, reader: usize, space: &mut [u8], wait: bool) -> Result<Got, Fault> {
        let Some(r) = self.readers.get(reader) else { return Err(Fault::internal(format!("no reader {reader}"))) };
        let mut got = locked(r).read(space, false)?;
        if got == Got::NoneYet && wait {
            for w in &self.writers {
                locked(w).flush_if_watched()?;
            }
            locked(&self.out).flush()?;
            // Where the time is over, the input has ended.
            while got == Got::NoneYet && self.deadline.is_some() {
                if self.wants_stop() {
                    return Ok(Got::End);
                }
                std::thread::sleep(Duration::from_millis(5));
                got = locked(r).read(space, false)?;
            }
            if got == Got::NoneYet {
                got = locked(r).read(space, true)?;
            }
        }
        if let Got::Items(n) = got {
            self.read.fetch_add(n as u64, Ordering::Relaxed);
        }
        self.show();
        Ok(got)
    }

    /// Whole items for a writer (by its number in program order).
    pub fn write(&self, writer: usize, items: &[u8]) -> Result<(), Fault> {
        let Some(w) = self.writers.get(writer) else { return Err(Fault::internal(format!("no writer {writer}"))) };
        let mut w = locked(w);
        let before = w.count;
        w.write(items)?;
        self.written.fetch_add(w.count - before, Ordering::Relaxed);
        drop(w);
        self.show();
        Ok(())
    }

    /// Text that the program prints.
    pub fn print(&self, text: &[u8]) -> Result<(), Fault> {
        locked(&self.out).write(text)
    }

    fn show(&self) {
        // whoever is showing it shows it for all
        if let Ok(mut progress) = self.progress.try_lock() {
            progress.show(self.read.load(Ordering::Relaxed), self.written.load(Ordering::Relaxed));
        }
    }

    /// Lets the run end early, at this moment.
    pub fn stop_at(&mut self, deadline: Instant) {
        self.deadline = Some(deadline);
    }

    /// Has the moment come that [`Host::stop_at`] set?
    pub fn is_over(&self) -> bool {
        self.deadline.is_some_and(|d| Instant::now() >= d)
    }

    /// Should the run end early: Ctrl-C, or an output that nobody reads any more?
    pub fn wants_stop(&self) -> bool {
        // an output that another thread is writing to is looked at next time
        interrupt::requested()
            || self.is_over()
            || self.out.try_lock().is_ok_and(|out| out.is_broken())
            || self.writers.iter().any(|w| w.try_lock().is_ok_and(|w| w.is_broken()))
    }

    /// How many outputs share standard output with the prints.
    pub fn stdout_writers(&self) -> u32 {
        self.writers.iter().filter(|w| locked(w).is_stdout()).count() as u32
    }

    /// Shows no line of progress: something else is written to standard error.
    pub fn quiet(&self) {
        locked(&self.progress).clear();
    }

    /// The run ended well: outputs become complete. Gives what there is to remark.
    pub fn finish(self) -> Result<Vec<String>, Fault> {
        locked(&self.progress).clear();
        let mut remarks: Vec<String> =
            self.readers.iter().filter_map(|r| locked(r).leftover().map(str::to_string)).collect();
        for w in self.writers {
            remarks.extend(w.into_inner().unwrap_or_else(PoisonError::into_inner).finish()?);
        }
        locked(&self.out).flush()?;
        Ok(remarks)
    }

    /// The run failed: what was printed comes out, files stay absent.
    pub fn abandon(self) {
        locked(&self.progress).clear();
        let _ = locked(&self.out).flush();
    }
}

/// Options for ends that the program does not have, and ends that would clash.
pub fn check_bindings(readers: &[End], writers: &[End], bindings: &Bindings) -> Result<(), Fault> {
    let open = |ends: &[End]| ends.iter().any(|e| e.endpoint == Endpoint::Open);
    if !open(readers) && (bindings.input.is_some() || bindings.input_format.is_some()) {
        return Err(Fault::usage("--input or --input-format was given, but the entry has no open input")
            .help("an entry of type `float->...` takes items from the command line's input; FileReader takes its path from the program"));
    }
    if !open(writers)
        && (bindings.output.is_some()
            || bindings.output_format.is_some()
            || bindings.rate.is_some()
            || bindings.channels.is_some())
    {
        return Err(Fault::usage("an option about the output was given, but the entry has no open output")
            .help("an entry of type `...->float` gives items to the command line's output; FileWriter takes its path from the program"));
    }
    let path = |e: &End, bound: &Option<String>| match &e.endpoint {
        Endpoint::File(p) => p.clone(),
        Endpoint::Open => bound.clone().unwrap_or_else(|| "-".into()),
    };
    let inputs: Vec<String> = readers.iter().map(|e| path(e, &bindings.input)).collect();
    if inputs.iter().filter(|p| *p == "-").count() > 1 {
        return Err(Fault::usage("two ends of the program would read standard input"));
    }
    let outputs: Vec<String> = writers.iter().map(|e| path(e, &bindings.output)).collect();
    if let Some((output, earlier)) = place::clash(outputs.iter().map(String::as_str)) {
        let also = if output == earlier { String::new() } else { format!(", which is {earlier}") };
        return Err(Fault::program(format!("two ends of the program would write {output}{also}")));
    }
    Ok(())
}
