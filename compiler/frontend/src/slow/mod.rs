//! # c-slow
//!
//! Purpose: one program that does the work of several, on independent streams that take turns. Input: an elaborated program. Output: one
//! as well, with another graph and other code.
//!
//! - [`streams`] (`--streams N`): the open input carries N streams item by item, item x of stream s at x·N + s, and so do all channels
//!   and the open output. Every stream comes out as from a run of the original on it alone.
//! - [`fold_branches()`]: a round-robin splitjoin whose branches are N equal stateful filters becomes one filter. Nothing else changes.
//! - [`level_branches()`]: the same of equal filters without state that look ahead, for vectors over neighbouring branches.
//!
//! - [`common_heads()`]: what branches behind a duplicate splitter begin with stands before it, once; no state becomes an array here.
//! - [`mod@taken_apart`]: filters become pipelines of their parts; neither here.
//!
//! In the others, a filter's state becomes an array, one element for each stream, and a firing does a firing of each ([`mod@code`]). Delays (initial
//! items, state) are there N times: this is C-slow, so the RecMII per item falls by N, and the loop over the streams has independent turns.
//! Source: "Method for Software Pipelining on GPUs", section 5; C. E. Leiserson, J. B. Saxe, "Retiming synchronous circuitry", 1991, section 9.
//!
//! ```text
//! float->float filter Decay {                  float->float filter Decay {            (2 streams)
//!     float r;                                     float[2] r;
//!     work pop 1 push 1 {               →          work pop 2 push 2 {
//!         r = 0.5 * r + pop();                         for (int s = 0; s < 2; s++) {
//!         push(r);                                         r[s] = 0.5 * r[s] + peek(s);
//!     }                                                    push(r[s]);
//! }                                            }   }   }
//! ```
//!
//! What the code was before stays with it ([`in_turn`]): a machine with many threads gives each stream one.
//!
//! What must hold afterwards: the graph verifies, has a steady state, and fires each filter as often as the original.

pub mod code;
pub mod common_heads;
pub mod fold_branches;
pub mod in_turn;
pub mod level_branches;
mod rewrite;
mod streams;
pub mod taken_apart;

pub use common_heads::common_heads;
pub use fold_branches::{Folded, fold_branches};
pub use in_turn::{Held, InTurn, Lay};
pub use level_branches::level_branches;
pub use streams::{MOST_STREAMS, streams};

/// Codes of this pass.
pub const CODES: &[(&str, &str)] =
    &[("E0960", "streams cannot take turns in this program"), ("E0961", "too much for so many streams")];
