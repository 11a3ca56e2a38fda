//! # profile
//!
//! Purpose: what firings of a program were measured to take, as a document that `sluice profile` writes and `sluice schedule` reads. Input: counts of
//! native runs, or the document's text. Output: [`Profile`]; and, for the program that it is of, nanoseconds of a firing by node.
//!
//! A profile is of one program: what its filters do and how they are joined, not how its text is written. One of a GPU ([`gpu`]) has in it, too, how many threads fire each stream
//! there, and how many registers they have.

pub mod beside;
pub mod find;
pub mod gpu;
mod misfit;
pub mod take;

pub use misfit::Misfit;

use crate::cache;
use crate::kernels::lower_one;
use crate::options::CodeOptions;
use serde::{Deserialize, Serialize};
use sluice_frontend::{Elaborated, graph_text};
use std::collections::HashMap;

/// What the document calls itself.
pub const SCHEMA: &str = "sluice-profile-1";

/// The document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// [`SCHEMA`].
    pub schema: String,
    /// The entry stream, for people.
    pub program: String,
    /// [`hash`] of the program.
    pub hash: String,
    /// The version of Sluice that measured.
    pub sluice: String,
    /// When, such as `2026-11-22T02:30:05Z`.
    pub date: String,
    /// Where.
    pub machine: Machine,
    /// How the C compiler was called.
    pub flags: String,
    /// Seconds that were measured.
    pub seconds: f64,
    /// Firings measured, of all streams together.
    pub firings: u64,
    /// What a GPU is told; nothing for a CPU.
    pub gpu: Option<gpu::OnGpu>,
    /// By stream, in program order.
    pub streams: Vec<Stream>,
}

/// The machine that a profile was taken on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// `cpu` or `gpu`.
    pub kind: String,
    /// What its maker calls it.
    pub name: String,
}

/// A stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// Its path.
    pub stream: String,
    /// Firings measured.
    pub firings: u64,
    /// Nanoseconds of one of them; nothing where there was none. On a GPU: of a multiprocessor that fires nothing else.
    pub nanoseconds: Option<f64>,
    /// How a GPU fires it; nothing for a CPU.
    pub gpu: Option<gpu::StreamOnGpu>,
}

/// What `--profile` says for no profile.
pub const NONE: &str = "none";

/// The longest firing that is believed, in nanoseconds.
const LONGEST: f64 = 1e15;

/// A name for what a program does: its graph, and the kernels of its filters.
pub fn hash(program: &Elaborated) -> Option<String> {
    // the code says whether there is state; native code may do without ([`crate::as_run`])
    let mut parts = vec![graph_text::print(&program.graph).replace(" stateful", "")];
    for filter in &program.codes {
        let kernel = lower_one(filter, &program.globals, &CodeOptions::default()).ok()?;
        parts.push(without_places(&sluice_kernel::text::print(&kernel)));
    }
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    Some(cache::key(&parts))
}

/// The text of a kernel without the places in the program's text, such as `@0:12-34`.
fn without_places(text: &str) -> String {
    let is_place = |word: &str| {
        let numbers = word.strip_prefix('@').and_then(|w| w.split_once(':'));
        let numbers =
            numbers.and_then(|(file, rest)| Some([file].into_iter().chain(<[&str; 2]>::from(rest.split_once('-')?))));
        numbers.is_some_and(|mut all| all.all(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())))
    };
    let line = |l: &str| l.split(' ').filter(|w| !is_place(w)).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

impl Profile {
    /// Reads a document.
    pub fn read(text: &str) -> Result<Profile, Misfit> {
        let profile: Profile = serde_json::from_str(text).map_err(|e| misfit::unreadable(text, &e))?;
        if profile.schema != SCHEMA {
            return Err(misfit::other_schema(text, &profile.schema));
        }
        let odd = |ns: Option<f64>| ns.is_some_and(|ns| !(0.0..=LONGEST).contains(&ns));
        let cells = |s: &Stream| s.gpu.as_ref().is_some_and(|g| g.table.iter().any(|c| odd(c.nanoseconds)));
        if let Some(s) = profile.streams.iter().find(|s| odd(s.nanoseconds) || cells(s)) {
            return Err(misfit::no_time(text, &s.stream));
        }
        gpu::check(&profile).map_err(|(what, stream)| misfit::no_configuration(text, what, stream))?;
        Ok(profile)
    }

    /// Is it of a GPU?
    pub fn is_gpu(&self) -> bool {
        self.gpu.is_some()
    }

    /// Nanoseconds of a firing by node, where it was measured; `text` is the document, for messages.
    pub fn fit(&self, text: &str, program: &Elaborated) -> Result<Vec<Option<f64>>, Misfit> {
        if hash(program).as_ref() != Some(&self.hash) {
            return Err(misfit::other_program(text, self));
        }
        let mut of: HashMap<&str, Option<f64>> =
            self.streams.iter().map(|s| (s.stream.as_str(), s.nanoseconds)).collect();
        let mut all = Vec::new();
        for node in &program.graph.nodes {
            all.push(of.remove(node.path.as_str()).ok_or_else(|| misfit::without(text, &node.path))?);
        }
        match self.streams.iter().find(|s| of.contains_key(s.stream.as_str())) {
            Some(s) => Err(misfit::unknown(text, &s.stream)),
            None => Ok(all),
        }
    }
}

/// The processor of this computer, as its maker calls it where the system says so.
pub fn this_machine() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|l| l.strip_prefix("model name")?.split_once(':')).map(|(_, name)| name.trim());
    name.filter(|n| !n.is_empty()).unwrap_or(std::env::consts::ARCH).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_no_part_of_a_program() {
        let text = "  if x @0:1-2 {\n  print \"@home 0:1\" @12:345-67\n";
        assert_eq!(without_places(text), "  if x {\n  print \"@home 0:1\"");
    }
}
