//! # tune
//!
//! Purpose: the fastest way to compile a program on this computer, found by measuring. Every way gives the same bytes; which is fastest depends on the program, the
//! processor and the C compilers that are there, and no model of these is as good as trying. `sluice tune` ([`take`]) tries, and keeps the way in the cache; whoever makes native
//! code of the same program with the same options asks [`find`] for it.

pub mod find;
pub mod take;
pub mod way;

pub use way::Way;

use serde::{Deserialize, Serialize};

/// What the document calls itself.
pub const SCHEMA: &str = "sluice-tune-1";

/// What the cache keeps of a program, and `sluice tune --format json` shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuned {
    /// [`SCHEMA`].
    pub schema: String,
    /// The entry stream, for people.
    pub program: String,
    /// The version of Sluice that measured.
    pub sluice: String,
    /// When, such as `2026-11-22T02:30:05Z`.
    pub date: String,
    /// The processor.
    pub machine: String,
    /// The way that is kept.
    pub way: Way,
    /// Times as fast as the usual way.
    pub times: f64,
    /// All that were tried, in the order in which they were tried.
    pub tried: Vec<Tried>,
}

/// A way that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// The way.
    pub way: Way,
    /// In words.
    pub name: String,
    /// Seconds of the same work, the least of all runs; nothing where the way is out.
    pub seconds: Option<f64>,
    /// Why it is out.
    pub out: Option<String>,
}
