//! # apart
//!
//! Purpose: CBC in a process of its own. It ends the process that it is in where one of its assertions fails, and it does not look at the clock while it solves a linear program, which
//! may take a minute: of another process both are only answers that do not come. Input: questions as bytes; output: answers as bytes.
//!
//! This crate starts no processes: whoever has them hands in a way to ask one ([`ask_by`]). Where nobody does, CBC runs here.

use super::cbc::{self, Outcome};
use super::wire;
use std::sync::OnceLock;

/// What became of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The answer.
    Answer(Vec<u8>),
    /// Time was over, and the process was ended.
    Late,
    /// The process has ended before it answered.
    Died,
    /// There is no process that can be asked.
    Nobody,
}

/// Asks: a question, and the seconds after which nobody waits for the answer any more.
pub type Ask = dyn Fn(&[u8], Option<f64>) -> Reply + Send + Sync;

static ASK: OnceLock<Box<Ask>> = OnceLock::new();

/// From now on questions go this way; only the first call counts.
pub fn ask_by(ask: Box<Ask>) {
    let _ = ASK.set(ask);
}

/// What the other process does: answers one question, with CBC. `None` where the bytes are no question.
pub fn answer(question: &[u8]) -> Option<Vec<u8>> {
    let wire::Question { model, limits, search } = wire::read_question(question)?;
    Some(wire::answer(&cbc::here(&model, &limits, search)))
}

/// How another process has answered.
pub(super) enum Asked {
    Answered(Outcome),
    Late,
    Died,
}

/// Asks another process, if there is one.
pub(super) fn ask(question: &[u8], seconds: Option<f64>) -> Option<Asked> {
    match ASK.get()?(question, seconds) {
        Reply::Answer(bytes) => Some(wire::read_answer(&bytes).map_or(Asked::Died, Asked::Answered)),
        Reply::Late => Some(Asked::Late),
        Reply::Died => Some(Asked::Died),
        Reply::Nobody => None,
    }
}
