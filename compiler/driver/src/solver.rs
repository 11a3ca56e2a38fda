//! # solver
//!
//! Purpose: the solver of integer programs in a process of its own (`schedule/src/ilp/apart.rs` says why). Input: a question as bytes, seconds. Output: its answer, or that none came.
//!
//! The process is this command once more, called with [`NAME`] alone. A question is its length and its bytes, an answer the same, over a socket that is the process's standard input: CBC writes to the
//! standard output and error when it likes, and those go nowhere. The process stays for the next question, and ends with the one that asks, whatever happens to that: a thread of it
//! does nothing but wait for the socket's end.

use crate::exit::Fault;
use rustix::process::{Signal, getpid, kill_process};
use sluice_schedule::ilp::apart::{self, Reply};
use sluice_schedule::ilp::cbc;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What the command is called with to be a solver. No option of its own for people, so it is in no list of them.
pub const NAME: &str = "--solve-integer-programs";
/// CBC ends a little after its time by itself, with what it has found: so much it is given, in seconds and as a part of its time.
const GRACE: (f64, f64) = (0.1, 0.05);
/// Longer than any question or answer: what says that it has more bytes is none.
const MOST_BYTES: u64 = 1 << 32;

/// From now on integer programs are solved in a process of their own, as far as one can be started, with the library that `SLUICE_CBC` names, if it names one.
pub fn apart() {
    apart::ask_by(Box::new(ask));
    library();
}

fn library() {
    if let Some(file) = std::env::var_os("SLUICE_CBC").filter(|f| !f.is_empty()) {
        cbc::look_at(file);
    }
}

/// A method that cannot do without CBC has said so.
pub(crate) fn no_cbc(said: String) -> Fault {
    Fault::input(said).coded("E0994").help(
        "install it (Debian, Ubuntu: `sudo apt install coinor-libcbc-dev`), or name the file of `libCbcSolver` in SLUICE_CBC; \
         the other methods do without",
    )
}

/// Processes that wait for a question. Whoever asks takes one out, so that several can ask at once; one is kept.
static IDLE: Mutex<Vec<Solver>> = Mutex::new(Vec::new());

fn ask(question: &[u8], seconds: Option<f64>) -> Reply {
    let kept = idle().pop();
    // One that has waited may have been ended by somebody meanwhile, which says nothing about this question.
    if let Some(solver) = kept
        && let reply = solver.asked(question, seconds)
        && reply != Reply::Died
    {
        return reply;
    }
    Solver::start().map_or(Reply::Nobody, |solver| solver.asked(question, seconds))
}

fn idle() -> MutexGuard<'static, Vec<Solver>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Solver {
    process: Child,
    socket: UnixStream,
}

impl Solver {
    fn start() -> std::io::Result<Solver> {
        let (socket, theirs) = UnixStream::pair()?;
        // The very file that runs here, even where another one has taken its place meanwhile.
        let own = PathBuf::from("/proc/self/exe");
        let program = if own.exists() { own } else { std::env::current_exe()? };
        let process = Command::new(program)
            .arg(NAME)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Solver { process, socket })
    }

    /// Asks, and keeps the process if it has answered.
    fn asked(mut self, question: &[u8], seconds: Option<f64>) -> Reply {
        let reply = self.ask(question, seconds);
        if matches!(reply, Reply::Answer(_)) {
            let mut idle = idle();
            if idle.is_empty() {
                idle.push(self);
            }
        }
        reply
    }

    fn ask(&mut self, question: &[u8], seconds: Option<f64>) -> Reply {
        // The time holds for each read alone, but an answer comes all at once.
        let wait = seconds.map(|s| Duration::from_secs_f64((s * (1.0 + GRACE.1) + GRACE.0).clamp(0.1, 1e9)));
        let answer = self.socket.set_read_timeout(wait).and_then(|()| send(&mut self.socket, question));
        match answer.and_then(|()| receive(&mut self.socket)) {
            Ok(Some(answer)) => Reply::Answer(answer),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Reply::Late,
            Ok(None) | Err(_) => Reply::Died,
        }
    }
}

impl Drop for Solver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn send(to: &mut impl Write, bytes: &[u8]) -> std::io::Result<()> {
    to.write_all(&(bytes.len() as u64).to_le_bytes())?;
    to.write_all(bytes)?;
    to.flush()
}

/// `None` where there is nothing more.
fn receive(from: &mut impl Read) -> std::io::Result<Option<Vec<u8>>> {
    let mut length = [0; 8];
    match from.read_exact(&mut length) {
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let length = u64::from_le_bytes(length);
    if length > MOST_BYTES {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::new();
    from.take(length).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 == length).then_some(bytes))
}

/// Is this process to be a solver? Then it answers until nobody asks any more, and this does not return.
pub fn serve_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|a| a == NAME) && arguments.next().is_none() {
        library();
        let _ = serve();
        std::process::exit(0);
    }
}

fn serve() -> std::io::Result<()> {
    let mut socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let mut questions = socket.try_clone()?;
    let (hand, taken) = mpsc::channel::<Vec<u8>>();
    std::thread::spawn(move || {
        while let Ok(Some(question)) = receive(&mut questions) {
            if hand.send(question).is_err() {
                break;
            }
        }
        // Whoever asked has gone: nobody waits for what is being solved. At once, since CBC's own ends must not run while it does.
        let _ = kill_process(getpid(), Signal::KILL);
    });
    for question in taken {
        let Some(answer) = apart::answer(&question) else { break };
        send(&mut socket, &answer)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_received() {
        let mut bytes = Vec::new();
        send(&mut bytes, b"one").unwrap();
        send(&mut bytes, b"").unwrap();
        let mut from = bytes.as_slice();
        assert_eq!(receive(&mut from).unwrap().as_deref(), Some(&b"one"[..]));
        assert_eq!(receive(&mut from).unwrap().as_deref(), Some(&b""[..]));
        assert_eq!(receive(&mut from).unwrap(), None);
        assert_eq!(receive(&mut &bytes[..9]).unwrap(), None);
        assert!(receive(&mut &[255; 8][..]).is_err());
    }

    /// One that ends without an answer, and one that never answers.
    #[test]
    fn a_process_that_fails_is_only_an_answer_that_does_not_come() {
        let solver = |command: &str| {
            let (socket, theirs) = UnixStream::pair().unwrap();
            let mut process = Command::new("sh");
            process.args(["-c", command]).stdin(Stdio::from(OwnedFd::from(theirs)));
            Solver { process: process.spawn().unwrap(), socket }
        };
        assert_eq!(solver("kill -ABRT $$").ask(b"question", None), Reply::Died);
        assert_eq!(solver("exec sleep 60").ask(b"question", Some(0.0)), Reply::Late);
    }
}
