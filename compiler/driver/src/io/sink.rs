//! Where output bytes go: standard output, shared with what the program prints, or a file that is complete or absent.

use super::place;
use crate::exit::Fault;
use crate::interrupt;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes gathered before they are written.
const BLOCK: usize = 1 << 18;

/// Standard output with a buffer of our own.
pub struct Out {
    to: Box<dyn Write + Send>,
    held: Vec<u8>,
    /// Nobody reads any more.
    broken: bool,
    terminal: bool,
}

/// Standard output, shared by prints and an output bound to it.
pub type SharedOut = Arc<Mutex<Out>>;

/// A lock that stays usable after a panic: what it guards is only ever left whole.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Out {
    /// The process's standard output.
    pub fn stdout() -> SharedOut {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        // The library's buffer breaks at lines; the file behind it is asked for directly where that can be had.
        let to: Box<dyn Write + Send> = match rustix::io::dup(&stdout) {
            Ok(fd) => Box::new(File::from(fd)),
            Err(_) => Box::new(stdout),
        };
        Arc::new(Mutex::new(Out { to, held: Vec::new(), broken: false, terminal }))
    }

    /// Any writer, for tests.
    pub fn to(writer: Box<dyn Write + Send>) -> SharedOut {
        Arc::new(Mutex::new(Out { to: writer, held: Vec::new(), broken: false, terminal: false }))
    }

    /// Adds bytes. On a terminal lines come out as they end.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.held.extend_from_slice(bytes);
        if self.held.len() >= BLOCK || self.terminal && bytes.contains(&b'\n') { self.flush() } else { Ok(()) }
    }

    /// Writes what is held.
    pub fn flush(&mut self) -> Result<(), Fault> {
        let result = if self.broken { Ok(()) } else { self.to.write_all(&self.held).and_then(|()| self.to.flush()) };
        self.held.clear();
        match result {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => self.broken = true,
            Err(e) => return Err(Fault::file("write to", "standard output", &e)),
            Ok(()) => {}
        }
        Ok(())
    }

    /// Has the reader of standard output gone?
    pub fn is_broken(&self) -> bool {
        self.broken
    }
}

/// A file that appears under its name only when it is complete.
struct Pending {
    file: File,
    /// What the user called it.
    name: String,
    /// The folder entry to replace, and the temporary beside it; `None` for a device or pipe, written as it is.
    rename: Option<(PathBuf, PathBuf)>,
    held: Vec<u8>,
    broken: bool,
}

/// Where an output's bytes go.
pub struct Sink(Kind);

enum Kind {
    Shared(SharedOut),
    File(Box<Pending>),
}

impl Sink {
    /// Opens a file, or standard output for `-`.
    pub fn open(path: &str, out: &SharedOut) -> Result<Sink, Fault> {
        if path == "-" {
            return Ok(Sink(Kind::Shared(out.clone())));
        }
        Ok(Sink(Kind::File(Box::new(Pending::create(path)?))))
    }

    /// Standard output?
    pub fn is_stdout(&self) -> bool {
        matches!(self.0, Kind::Shared(_))
    }

    /// Standard output, and a terminal?
    pub fn is_terminal(&self) -> bool {
        matches!(&self.0, Kind::Shared(out) if locked(out).terminal)
    }

    /// Has the reader gone?
    pub fn is_broken(&self) -> bool {
        match &self.0 {
            // where another thread is writing just now, we shall see next time
            Kind::Shared(out) => out.try_lock().is_ok_and(|out| out.broken),
            Kind::File(f) => f.broken,
        }
    }

    /// Adds bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        match &mut self.0 {
            Kind::Shared(out) => locked(out).write(bytes),
            Kind::File(f) => {
                f.held.extend_from_slice(bytes);
                if f.held.len() >= BLOCK { f.flush() } else { Ok(()) }
            }
        }
    }

    /// Writes what is held, so that a reader at the other end of a pipe sees it.
    pub fn flush(&mut self) -> Result<(), Fault> {
        match &mut self.0 {
            Kind::Shared(out) => locked(out).flush(),
            Kind::File(f) => f.flush(),
        }
    }

    /// Is a flush worth its call before waiting for input? (Not for files, which nobody sees before they are complete.)
    pub fn is_watched(&self) -> bool {
        !matches!(&self.0, Kind::File(f) if f.rename.is_some())
    }

    /// Ends it: patches bytes near the start (of a file), and gives the file its name.
    pub fn finish(self, patches: &[(u64, [u8; 4])]) -> Result<(), Fault> {
        match self.0 {
            Kind::Shared(out) => locked(&out).flush(),
            Kind::File(mut f) => f.finish(patches),
        }
    }
}

impl Pending {
    fn create(path: &str) -> Result<Pending, Fault> {
        let fault = |e: &io::Error| Fault::file("write", path, e);
        // Through a link: the file it points to is the one to replace.
        let target = place::target(Path::new(path)).map_err(|e| fault(&e))?;
        match std::fs::metadata(&target) {
            Ok(m) if m.is_dir() => return Err(Fault::input(format!("cannot write {path}: it is a folder"))),
            Ok(m) if !m.is_file() => {
                let file = OpenOptions::new().write(true).open(&target).map_err(|e| fault(&e))?;
                return Ok(Pending { file, name: path.into(), rename: None, held: Vec::new(), broken: false });
            }
            _ => {}
        }
        let (file, temporary) = create_beside(&target).map_err(|e| fault(&e))?;
        place::keep_mode(&file, &target);
        interrupt::add_temporary(&temporary);
        Ok(Pending { file, name: path.into(), rename: Some((target, temporary)), held: Vec::new(), broken: false })
    }

    fn flush(&mut self) -> Result<(), Fault> {
        let result = if self.broken { Ok(()) } else { self.file.write_all(&self.held) };
        self.held.clear();
        match result {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => self.broken = true,
            Err(e) => return Err(Fault::file("write", &self.name, &e)),
            Ok(()) => {}
        }
        Ok(())
    }

    fn finish(&mut self, patches: &[(u64, [u8; 4])]) -> Result<(), Fault> {
        self.flush()?;
        let Some((target, temporary)) = self.rename.clone() else { return Ok(()) };
        let done = patches
            .iter()
            .try_for_each(|(at, bytes)| {
                self.file.seek(SeekFrom::Start(*at))?;
                self.file.write_all(bytes)
            })
            .and_then(|()| std::fs::rename(&temporary, &target));
        done.map_err(|e| Fault::file("write", &self.name, &e))?;
        interrupt::forget_temporary(&temporary);
        self.rename = None;
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some((_, temporary)) = &self.rename {
            let _ = std::fs::remove_file(temporary);
            interrupt::forget_temporary(temporary);
        }
    }
}

/// Bytes of a file's name that are part of that of its temporary file.
const LONGEST: usize = 200;

/// A new file in the same folder, with a name that no other run uses.
pub fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    let name = target.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    for attempt in 0..1000u32 {
        let mut temporary = std::ffi::OsString::from(".");
        // with what is added it must still be a name that file systems take: up to 255 bytes
        let bytes = name.as_bytes();
        temporary.push(OsStr::from_bytes(&bytes[..bytes.len().min(LONGEST)]));
        temporary.push(format!(".{}-{attempt}.partial", std::process::id()));
        let path = target.with_file_name(temporary);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            other => return other.map(|f| (f, path)),
        }
    }
    Err(io::Error::from(io::ErrorKind::AlreadyExists))
}

/// Writes several files, each complete, and none unless all can be written; they keep their permissions. An error names the file.
pub fn write_files(files: &[(PathBuf, Vec<u8>)]) -> Result<(), (PathBuf, io::Error)> {
    let mut ready: Vec<(PathBuf, PathBuf)> = Vec::new();
    let prepared = files.iter().try_for_each(|(path, bytes)| {
        let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let (mut file, temporary) = create_beside(&target).map_err(|e| (path.clone(), e))?;
        interrupt::add_temporary(&temporary);
        ready.push((target.clone(), temporary));
        let kept = std::fs::metadata(&target).and_then(|m| file.set_permissions(m.permissions()));
        file.write_all(bytes).and_then(|()| file.sync_all()).and(kept).map_err(|e| (path.clone(), e))
    });
    let done = prepared.and_then(|()| {
        ready
            .iter()
            .try_for_each(|(target, temporary)| std::fs::rename(temporary, target).map_err(|e| (target.clone(), e)))
    });
    for (_, temporary) in &ready {
        if done.is_err() {
            let _ = std::fs::remove_file(temporary);
        }
        interrupt::forget_temporary(temporary);
    }
    done
}

/// Writes a whole file, complete or not at all; into a device or a pipe as it is.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = place::target(path)?;
    match std::fs::metadata(&target) {
        Ok(m) if m.is_dir() => return Err(io::Error::other("it is a folder")),
        Ok(m) if !m.is_file() => return pour(&target, bytes),
        _ => {}
    }
    let (mut file, temporary) = create_beside(&target)?;
    interrupt::add_temporary(&temporary);
    place::keep_mode(&file, &target);
    let done = file.write_all(bytes).and_then(|()| std::fs::rename(&temporary, &target));
    if done.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    interrupt::forget_temporary(&temporary);
    done
}

/// Writes into a device or a pipe; a reader that has gone is no error.
fn pour(target: &Path, bytes: &[u8]) -> io::Result<()> {
    match OpenOptions::new().write(true).open(target)?.write_all(bytes) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// Puts what a tool has made in `temporary` where an output's path leads ([`place::target`]): in the place of a file, with its
/// permissions, or into a device or a pipe. What `runs` may be run by who may read it.
pub fn install(temporary: &Path, target: &Path, runs: bool) -> io::Result<()> {
    match std::fs::metadata(target) {
        Ok(m) if !m.is_file() => {
            pour(target, &std::fs::read(temporary)?)?;
            std::fs::remove_file(temporary)
        }
        Ok(m) => {
            let mode = place::mode(&m);
            let mode = if runs { mode | (mode & 0o444) >> 2 } else { mode };
            std::fs::set_permissions(temporary, std::fs::Permissions::from_mode(mode))?;
            std::fs::rename(temporary, target)
        }
        Err(_) => std::fs::rename(temporary, target),
    }
}

/// Replaces a file that exists, complete or not at all. One that may not be written stays, whatever its folder allows.
pub fn rewrite_file(path: &Path, bytes: Vec<u8>) -> io::Result<()> {
    if std::fs::metadata(path)?.permissions().readonly() {
        return Err(io::Error::other("it is read-only"));
    }
    drop(OpenOptions::new().write(true).open(path)?);
    write_files(&[(path.to_path_buf(), bytes)]).map_err(|(_, e)| e)
}
