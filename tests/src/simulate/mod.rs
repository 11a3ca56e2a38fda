//! Modulo schedules run with real filters, and what comes out compared with the interpreter's ordinary run.
//!
//! The machine is naive: processors do not know each other. Kernel after kernel, each goes through its instances in the order of their starts;
//! what stage f does in kernel n belongs to iteration n - f. An item can be seen on the processor that made it when the instance that made
//! it has ended, on others from the next kernel on; so can fields and messages. Buffers are rings of the judged size. Which processor
//! comes next within a kernel is left to chance. A firing whose items are not there, not visible, or written over ends the run.
//!
//! It shares the evaluator of typed code with the interpreter, and nothing with the schedulers, the dependences or the judge: of a problem it
//! takes which firings make an instance, and how long that lasts.

mod kernels;
mod memory;
mod node;
mod reference;
mod trial;
mod turns;

pub use kernels::{Schedule, run};
pub use reference::interpreted;
pub use trial::{Options, Passed, Planned, Ran, enough, plan, solve, trial};
pub use turns::{Turned, turn_by_turn};

/// What the outside gives: bytes that readers get again and again, item by item.
#[derive(Clone, Debug, Default)]
pub struct Supply {
    bytes: Vec<u8>,
}

impl Supply {
    /// Of these bytes.
    pub fn new(bytes: Vec<u8>) -> Supply {
        Supply { bytes }
    }

    /// Item number `n` of any reader.
    pub fn item(&self, n: u64, item: &mut [u8]) {
        let items = self.bytes.len() / item.len().max(1);
        if items == 0 {
            // small numbers, whatever the type
            item.iter_mut().enumerate().for_each(|(i, b)| *b = if i == 0 { (n % 5) as u8 } else { 0 });
            return;
        }
        let at = (n % items as u64) as usize * item.len();
        item.copy_from_slice(&self.bytes[at..at + item.len()]);
    }
}

/// What came out of a run.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Products {
    /// By writer, the bytes of its items.
    pub written: Vec<Vec<u8>>,
    /// By node, what its firings and handlers printed.
    pub printed: Vec<String>,
}

impl Products {
    /// Nothing at all?
    pub fn is_empty(&self) -> bool {
        self.written.iter().all(Vec::is_empty) && self.printed.iter().all(String::is_empty)
    }

    /// What is not the same, in a few words.
    pub fn difference(&self, other: &Products) -> Option<String> {
        for (w, (a, b)) in self.written.iter().zip(&other.written).enumerate() {
            if a != b {
                let at = a.iter().zip(b).position(|(x, y)| x != y).unwrap_or(a.len().min(b.len()));
                return Some(format!("writer {w}: byte {at} of {} and {} differs", a.len(), b.len()));
            }
        }
        for (n, (a, b)) in self.printed.iter().zip(&other.printed).enumerate() {
            if a != b {
                let at = a.lines().zip(b.lines()).position(|(x, y)| x != y).unwrap_or(0);
                let line = |s: &str| s.lines().nth(at).unwrap_or_default().to_string();
                return Some(format!("node {n} prints in line {at} {:?} and {:?}", line(a), line(b)));
            }
        }
        (self != other).then(|| "more writers or nodes".into())
    }
}
