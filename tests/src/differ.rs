//! What to make of a worker's answer about a program run both ways, and how to tell a person.

use crate::generate::Case;
use crate::message::Message;
use crate::pool::{Lost, Pool, number_from_environment};
use crate::{shrink, work};
use std::time::Duration;

/// Time for one job: minutes below what it could ever take.
pub const LIMIT: Duration = Duration::from_secs(90);

/// What is wrong with an answer.
pub fn complaint(answer: &Result<Message, Lost>) -> Option<String> {
    match answer {
        Ok(m) if m.text("kind") == "same" => None,
        Ok(m) => Some(format!("{}: {}", m.text("kind"), m.text("why"))),
        Err(lost) => Some(lost.to_string()),
    }
}

/// What kind of complaint: shrinking must not turn one into another.
fn kind(answer: &Result<Message, Lost>) -> String {
    match answer {
        Ok(m) => {
            // a refused program stays refused for the same reason, and no other
            format!("{} {:?}", m.text("kind"), work::errors(&m.text("why")))
        }
        Err(Lost::Crashed(_)) => "crashed".into(),
        Err(Lost::Hung) => "hung".into(),
    }
}

/// A failure in words: the program made smaller as long as it fails in the same way (`SLUICE_SHRINK` tries at most, 400).
pub fn report(
    pool: &Pool,
    seed: u64,
    case: &Case,
    answer: &Result<Message, Lost>,
    why: &str,
    job: &dyn Fn(&Case) -> Message,
) -> String {
    let first = kind(answer);
    let tries = number_from_environment("SLUICE_SHRINK", 400) as u32;
    if tries == 0 {
        return format!("seed {seed} {why}");
    }
    let small = shrink::shrink(case, tries, &mut |c| {
        let answer = pool.ask(&job(c), Duration::from_secs(20));
        complaint(&answer).is_some() && kind(&answer) == first
    });
    let last = complaint(&pool.ask(&job(&small), LIMIT)).unwrap_or(why.into());
    format!(
        "seed {seed} (SLUICE_SEED={seed} runs it alone)\n{why}\n\nshrunk, it says\n{last}\n\n{}\niterations {:?}, input {:02x?}\n",
        small.source, small.iterations, small.input
    )
}
