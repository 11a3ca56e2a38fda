//! Bytes from a file, a pipe or a terminal: big reads for files, what is there for the others, never waiting longer than
//! needed and giving way to Ctrl-C. A file's bytes can pass the buffer by ([`Bytes::straight`]).

use crate::exit::Fault;
use crate::interrupt;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{Read, Stdin};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// Bytes asked of a regular file at once: few enough to stay in a core's cache until they have been used.
pub const FILE_BLOCK: usize = 1 << 17;
/// Bytes asked of a pipe at once.
const PIPE_BLOCK: usize = 1 << 16;

/// Where bytes come from.
enum From {
    File(File),
    Stdin(Stdin),
    /// Bytes in memory, and how many of them have been given.
    Memory(Arc<[u8]>, usize),
    #[cfg(test)]
    Parts(std::collections::VecDeque<Vec<u8>>),
}

/// What [`Bytes::more`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum More {
    /// Further bytes are in the buffer.
    Some,
    /// Nothing yet (only where waiting was not allowed).
    NoneYet,
    /// The end, or Ctrl-C.
    End,
}

/// A buffered source of bytes.
pub struct Bytes {
    from: From,
    /// The name for messages.
    pub name: String,
    regular: bool,
    /// Those from `at` to `end` hold bytes that have been read and not used.
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    ended: bool,
}

impl Bytes {
    /// Opens a file, or standard input for `-`.
    pub fn open(path: &str) -> Result<Bytes, Fault> {
        if path == "-" {
            return Ok(Bytes::new(From::Stdin(std::io::stdin()), "standard input", false));
        }
        let file = File::open(path).map_err(|e| Fault::file("read", path, &e))?;
        let kind = file.metadata().map_err(|e| Fault::file("read", path, &e))?;
        if kind.is_dir() {
            return Err(Fault::input(format!("cannot read {path}: it is a folder")));
        }
        Ok(Bytes::new(From::File(file), path, kind.is_file()))
    }

    /// Bytes that are there already, in place of a file's.
    pub fn of(bytes: Arc<[u8]>) -> Bytes {
        Bytes::new(From::Memory(bytes, 0), "memory", true)
    }

    fn new(from: From, name: &str, regular: bool) -> Bytes {
        Bytes { from, name: name.to_string(), regular, buffer: Vec::new(), at: 0, end: 0, ended: false }
    }

    /// A source that gives these parts, one for each read.
    #[cfg(test)]
    pub fn of_parts(parts: &[&[u8]]) -> Bytes {
        Bytes::new(From::Parts(parts.iter().map(|p| p.to_vec()).collect()), "test", false)
    }

    /// Is it a terminal?
    pub fn is_terminal(&self) -> bool {
        matches!(&self.from, From::Stdin(s) if std::io::IsTerminal::is_terminal(s))
    }

    /// Can a read of it wait?
    pub fn can_wait(&self) -> bool {
        !self.regular
    }

    /// The bytes in the buffer.
    pub fn buffered(&self) -> &[u8] {
        &self.buffer[self.at..self.end]
    }

    /// Takes bytes off the buffer's front.
    pub fn consume(&mut self, n: usize) {
        self.at = (self.at + n).min(self.end);
    }

    /// Can [`Bytes::more`] be called without waiting?
    pub fn is_ready(&mut self) -> Result<bool, Fault> {
        if self.ended || self.regular {
            return Ok(true);
        }
        match &self.from {
            From::File(f) => wait_for(f.as_fd(), 0),
            From::Stdin(s) => wait_for(s.as_fd(), 0),
            From::Memory(..) => Ok(true),
            #[cfg(test)]
            From::Parts(_) => Ok(true),
        }
        .map_err(|e| Fault::file("read", &self.name, &e))
    }

    /// Reads once: at least one byte more, or the end.
    pub fn more(&mut self, wait: bool) -> Result<More, Fault> {
        if !wait && !self.is_ready()? {
            return Ok(More::NoneYet);
        }
        while !self.ended && !self.is_ready()? {
            if interrupt::requested() {
                self.ended = true;
                break;
            }
            let fd = match &self.from {
                From::File(f) => f.as_fd(),
                From::Stdin(s) => s.as_fd(),
                From::Memory(..) => break,
                #[cfg(test)]
                From::Parts(_) => break,
            };
            wait_for(fd, 100).map_err(|e| Fault::file("read", &self.name, &e))?;
        }
        if self.ended {
            return Ok(More::End);
        }
        if self.at > 0 {
            self.buffer.copy_within(self.at..self.end, 0);
            (self.at, self.end) = (0, self.end - self.at);
        }
        let room = self.end + if self.regular { FILE_BLOCK } else { PIPE_BLOCK };
        if self.buffer.len() < room {
            self.buffer.resize(room, 0);
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let got = self.read_once(&mut buffer[self.end..room]);
        self.buffer = buffer;
        let n = got?;
        self.end += n;
        self.ended = n == 0;
        Ok(if n == 0 { More::End } else { More::Some })
    }

    /// Bytes of a regular file, read to where they are wanted: as many as one read gives. `None` where they must go through the buffer: it holds some, others could have to wait, or the end
    /// has come.
    pub fn straight(&mut self, out: &mut [u8]) -> Result<Option<usize>, Fault> {
        if !self.regular || self.ended || !self.buffered().is_empty() {
            return Ok(None);
        }
        let n = self.read_once(out)?;
        self.ended = n == 0;
        Ok(Some(n).filter(|n| *n > 0))
    }

    /// Puts bytes that [`Bytes::straight`] gave, and that are not of use yet, in the buffer, which is empty.
    pub fn keep(&mut self, bytes: &[u8]) {
        if self.buffer.len() < bytes.len() {
            self.buffer.resize(bytes.len(), 0);
        }
        self.buffer[..bytes.len()].copy_from_slice(bytes);
        (self.at, self.end) = (0, bytes.len());
    }

    /// One read.
    fn read_once(&mut self, space: &mut [u8]) -> Result<usize, Fault> {
        loop {
            let read = match &mut self.from {
                From::File(f) => f.read(space),
                // One read of the file descriptor: the library's own buffer is smaller and is passed by.
                From::Stdin(s) => s.read(space),
                From::Memory(bytes, given) => {
                    let n = space.len().min(bytes.len() - *given);
                    space[..n].copy_from_slice(&bytes[*given..*given + n]);
                    *given += n;
                    Ok(n)
                }
                #[cfg(test)]
                From::Parts(parts) => Ok(parts.pop_front().map_or(0, |p| {
                    space[..p.len()].copy_from_slice(&p);
                    p.len()
                })),
            };
            match read {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                other => return other.map_err(|e| Fault::file("read", &self.name, &e)),
            }
        }
    }
}

/// Waits for bytes (or the end) for some milliseconds; true when there are some.
fn wait_for(fd: BorrowedFd<'_>, milliseconds: i64) -> std::io::Result<bool> {
    let time = Timespec { tv_sec: 0, tv_nsec: milliseconds * 1_000_000 };
    match poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], Some(&time)) {
        Ok(n) => Ok(n > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

impl Read for Bytes {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.buffered().is_empty() && self.more(true).map_err(std::io::Error::other)? == More::End {
            return Ok(0);
        }
        let n = self.buffered().len().min(out.len());
        out[..n].copy_from_slice(&self.buffered()[..n]);
        self.consume(n);
        Ok(n)
    }
}
