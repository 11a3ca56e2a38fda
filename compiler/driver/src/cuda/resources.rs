//! # resources
//!
//! Purpose: what kernels need of a multiprocessor. Input: what ptxas says with `-v`, through nvcc or NVRTC. Output: registers, shared memory, stack and
//! spills of each kernel, and stack and spills of each function that was not inlined.

use serde::{Deserialize, Serialize};

/// What a kernel needs, or a function that kernels call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Its name; for functions as the compiler mangles it.
    pub name: String,
    /// Registers of a thread; `None` for a function: its callers have them.
    pub registers: Option<u32>,
    /// Bytes of static shared memory of a block.
    pub shared: u32,
    /// Bytes of a thread's stack.
    pub stack: u32,
    /// Bytes that a thread stores because registers were too few.
    pub spill_stores: u32,
    /// Bytes that it loads again.
    pub spill_loads: u32,
}

impl Resources {
    /// Does a thread of it store registers?
    pub fn spills(&self) -> bool {
        self.spill_stores > 0 || self.spill_loads > 0
    }
}

/// The number before a word: `12` of `Used 12 registers`.
fn before(line: &str, word: &str) -> Option<u32> {
    let head = &line[..line.find(word)?];
    head.trim_end().rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// What stands between quotes.
fn quoted(text: &str) -> Option<&str> {
    text.split('\'').nth(1)
}

/// Reads what ptxas says. Kernels come in the order in which it compiled them, each before the functions that it calls.
pub fn parse(log: &str) -> Vec<Resources> {
    let mut all: Vec<Resources> = Vec::new();
    let mut entry: Option<String> = None;
    let mut current: Option<usize> = None;
    for line in log.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function") {
            entry = quoted(rest).map(String::from);
            current = None;
        } else if let Some((_, name)) = line.split_once("Function properties for ") {
            let name = name.trim();
            current = Some(match all.iter().position(|r| r.name == name) {
                Some(at) => at,
                None => {
                    all.push(Resources { name: name.into(), ..Resources::default() });
                    all.len() - 1
                }
            });
        } else if let (Some(at), Some(stack)) = (current, before(line, " bytes stack frame")) {
            let function = &mut all[at];
            function.stack = stack;
            function.spill_stores = before(line, " bytes spill stores").unwrap_or(0);
            function.spill_loads = before(line, " bytes spill loads").unwrap_or(0);
        } else if let Some(registers) = before(line, " registers").filter(|_| line.contains("Used ")) {
            let Some(kernel) = all.iter_mut().find(|r| Some(&r.name) == entry.as_ref()) else { continue };
            kernel.registers = Some(registers);
            kernel.shared = before(line, " bytes smem").unwrap_or(0);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'spill' for 'sm_90'
ptxas info    : Function properties for spill
ptxas         .     2200 bytes stack frame, 3284 bytes spill stores, 3540 bytes spill loads
ptxas info    : Function properties for _Z4taskPf
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 64 registers, used 0 barriers, 2200 bytes cumulative stack size
ptxas info    : Compile time = 199.719 ms
ptxas info    : Compiling entry function 'twice' for 'sm_75'
ptxas info    : Function properties for twice
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 1 barriers, 256 bytes smem, 368 bytes cmem[0]
";

    #[test]
    fn both_ways_of_writing_it() {
        let all = parse(LOG);
        let names: Vec<&str> = all.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["spill", "_Z4taskPf", "twice"]);
        assert_eq!(
            (all[0].registers, all[0].stack, all[0].spill_stores, all[0].spill_loads),
            (Some(64), 2200, 3284, 3540)
        );
        assert!(all[0].spills() && !all[1].spills());
        assert_eq!((all[1].registers, all[1].stack), (None, 8));
        assert_eq!((all[2].registers, all[2].shared, all[2].spills()), (Some(8), 256, false));
        assert!(parse("no log").is_empty());
    }
}
