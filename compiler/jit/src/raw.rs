//! # raw
//!
//! Purpose: the engine's tables as the C files have them (`codegen/rts/c/sl_engine.h`, `sluice_abi.h`), and what `rts/sl_jit.c` gives:
//! symbols, places of fields, functions. What must hold: a struct here is laid out as its namesake there; [`check`] compares, and a test
//! runs it.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};

/// `sl_fire_fn` and other functions, as addresses.
pub type Code = *const u8;

/// `sl_code`
#[repr(C)]
pub struct RawCode {
    pub fire: Code,
    pub prework: Code,
    pub init: Code,
    pub pre_peek: u32,
    pub pre_pop: u32,
    pub pre_push: u32,
    pub text_length: u32,
    pub text: *const c_char,
    pub state_bytes: u64,
    pub attempt: u32,
    pub most_looked: u64,
    pub most_pushed: u64,
    pub sure: Code,
}

/// `sl_node`
#[repr(C)]
#[derive(Default)]
pub struct RawNode {
    pub path: usize,
    pub repetitions: u64,
    pub init: u64,
    pub state: u64,
    pub what: u32,
    pub first_in: u32,
    pub ins: u32,
    pub first_out: u32,
    pub outs: u32,
    pub first_weight: u32,
    pub first_link: u32,
    pub links: u32,
    pub first_wait: u32,
    pub waits: u32,
    pub first_next: u32,
    pub nexts: u32,
    pub kind: u8,
    pub free: u8,
    pub loose: u8,
}

/// `sl_counts`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawCounts {
    pub head: *const u64,
    pub length: u64,
    pub period: u64,
    pub step: u64,
}

/// `sl_link`
#[repr(C)]
pub struct RawLink {
    pub receive: Code,
    pub due: RawCounts,
    pub bytes: u64,
    pub send: u32,
    pub receiver: u32,
    pub after: u32,
    pub next: u32,
}

/// `sl_wait`
#[repr(C)]
pub struct RawWait {
    pub need: RawCounts,
    pub before: u32,
}

/// `sl_channel`
#[repr(C)]
pub struct RawChannel {
    pub offset: u64,
    pub capacity: u64,
    pub fill: u64,
    pub initial: *const u8,
    pub initial_count: u32,
    pub from: u32,
    pub to: u32,
    pub item: u32,
    pub produce: u32,
    pub consume: u32,
    pub peek: u32,
    pub consumed: u64,
    pub slides: u32,
}

/// `sl_type`
#[repr(C)]
pub struct RawType {
    pub kind: u32,
    pub count: u32,
    pub size: u64,
    pub part: *const RawType,
    pub parts: *const RawField,
}

/// `sl_field`
#[repr(C)]
pub struct RawField {
    pub offset: u64,
    pub ty: *const RawType,
}

/// `sl_end`
#[repr(C)]
pub struct RawStage {
    pub ty: *const RawType,
    pub stage: u64,
    pub capacity: u64,
    pub node: u32,
    pub flat: u32,
}

/// `sl_site`
#[repr(C)]
pub struct RawSite {
    pub before: *const c_char,
    pub after: *const c_char,
    pub place: *const c_char,
}

/// `sl_step`
#[repr(C)]
pub struct RawStep {
    pub times: u64,
    pub node: u32,
    pub length: u32,
}

/// `sl_program`
#[repr(C)]
pub struct RawProgram {
    pub nodes: *const RawNode,
    pub channels: *const RawChannel,
    pub codes: *const RawCode,
    pub ports: *const u32,
    pub weights: *const u32,
    pub roots: *const u32,
    pub links: *const RawLink,
    pub waits: *const RawWait,
    pub nexts: *const u32,
    pub kept: *const u32,
    pub sites: *const RawSite,
    pub readers: *const RawStage,
    pub writers: *const RawStage,
    pub node_count: u32,
    pub channel_count: u32,
    pub site_count: u32,
    pub kept_count: u32,
    pub link_count: u32,
    pub ordered: u32,
    pub tables: u32,
    pub dynamic: u32,
    pub channel_limit: u64,
    pub natives: u32,
    pub arena_bytes: u64,
    pub state_bytes: u64,
    pub message_bytes: u64,
    pub steady: Code,
    pub batch: u64,
    pub unit: u64,
    pub begin: u64,
    pub rest: u64,
    pub abi: *const RawAbi,
}

/// `sluice_end`
#[repr(C)]
pub struct RawEnd {
    pub name: *const c_char,
    pub ty: *const c_char,
    pub file: *const c_char,
    pub scalar: u32,
    pub scalars: u32,
    pub bytes: u64,
    pub node: u32,
    pub complex: u32,
}

/// `sluice_abi`
#[repr(C)]
pub struct RawAbi {
    pub size: u32,
    pub version: u32,
    pub name: *const c_char,
    pub reader_count: u32,
    pub writer_count: u32,
    pub readers: *const RawEnd,
    pub writers: *const RawEnd,
    pub printers: u32,
    pub bounded: u32,
    pub bytes: u64,
    pub batch: u64,
    pub create: Code,
    pub run: *const c_void,
    pub error: *const c_void,
    pub iterations: *const c_void,
    pub destroy: *const c_void,
    pub kernels: u32,
}

#[repr(C)]
struct RawSymbol {
    name: *const c_char,
    address: *const u8,
}

unsafe extern "C" {
    static sl_jit_symbols: RawSymbol;
    static sl_jit_functions: [*const c_void; 4];
    static sl_jit_places: [u64; 8];
    static sl_jit_sizes: [u64; 23];
    static sl_jit_counting_symbols: RawSymbol;
    static sl_jit_counting_functions: [*const c_void; 5];
    static sl_jit_counting_places: [u64; 8];
}

/// Where made code finds things in an instance (`sl_ctx`), in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    pub node: i32,
    pub have: i32,
    pub room: i32,
    pub took: i32,
    pub gave: i32,
    pub base: i32,
    /// Bytes of an instance without its parts.
    pub instance: u64,
    /// The most bytes of stack that calls of filters may take.
    pub stack: i64,
}

/// An engine: the one that counts, or the one that does not.
pub struct Engine {
    /// Names and addresses of what made code calls.
    pub symbols: Vec<(&'static str, *const u8)>,
    /// `run`, `error`, `iterations`, `destroy` of `sluice_abi`.
    pub functions: [*const c_void; 4],
    /// `sluice_stats_v1`, where it counts.
    pub stats: Option<*const c_void>,
    /// In an instance.
    pub places: Places,
}

impl Engine {
    /// The engine that counts, or that does not.
    pub fn get(counts: bool) -> Engine {
        // SAFETY: constants of sl_jit.c, with these types and lengths.
        let (first, functions, stats, places) = unsafe {
            if counts {
                let f = sl_jit_counting_functions;
                (&raw const sl_jit_counting_symbols, [f[0], f[1], f[2], f[3]], Some(f[4]), sl_jit_counting_places)
            } else {
                (&raw const sl_jit_symbols, sl_jit_functions, None, sl_jit_places)
            }
        };
        let mut symbols = Vec::new();
        // SAFETY: the list ends with a row without a name; names are texts that end with a zero and live as long as the process.
        unsafe {
            let mut at = first;
            while !(*at).name.is_null() {
                if let Ok(name) = CStr::from_ptr((*at).name).to_str() {
                    symbols.push((name, (*at).address));
                }
                at = at.add(1);
            }
        }
        let at = |i: usize| places[i] as i32;
        let [node, have, room, took, gave, base] = [0, 1, 2, 3, 4, 5].map(at);
        let (instance, stack) = (places[6], places[7] as i64);
        Engine { symbols, functions, stats, places: Places { node, have, room, took, gave, base, instance, stack } }
    }
}

/// Are the structs here those of the C files? Where not, the first that differs.
pub fn check() -> Result<(), String> {
    use std::mem::offset_of;
    let ours = [
        ("sl_code", size_of::<RawCode>()),
        ("sl_code.attempt", offset_of!(RawCode, attempt)),
        ("sl_node", size_of::<RawNode>()),
        ("sl_node.loose", offset_of!(RawNode, loose)),
        ("sl_link", size_of::<RawLink>()),
        ("sl_link.next", offset_of!(RawLink, next)),
        ("sl_wait", size_of::<RawWait>()),
        ("sl_wait.before", offset_of!(RawWait, before)),
        ("sl_channel", size_of::<RawChannel>()),
        ("sl_channel.slides", offset_of!(RawChannel, slides)),
        ("sl_type", size_of::<RawType>()),
        ("sl_type.parts", offset_of!(RawType, parts)),
        ("sl_field", size_of::<RawField>()),
        ("sl_end", size_of::<RawStage>()),
        ("sl_end.flat", offset_of!(RawStage, flat)),
        ("sl_site", size_of::<RawSite>()),
        ("sl_program", size_of::<RawProgram>()),
        ("sl_program.abi", offset_of!(RawProgram, abi)),
        ("sl_step", size_of::<RawStep>()),
        ("sluice_end", size_of::<RawEnd>()),
        ("sluice_end.complex", offset_of!(RawEnd, complex)),
        ("sluice_abi", size_of::<RawAbi>()),
        ("sluice_abi.kernels", offset_of!(RawAbi, kernels)),
    ];
    // SAFETY: a constant of sl_jit.c of this length.
    let theirs = unsafe { sl_jit_sizes };
    for ((name, ours), theirs) in ours.iter().zip(theirs) {
        if *ours as u64 != theirs {
            return Err(format!("{name} is {ours} here and {theirs} in C"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_tables_are_laid_out_as_in_c() {
        super::check().unwrap();
    }

    #[test]
    fn both_engines_have_what_code_calls() {
        for counts in [false, true] {
            let engine = super::Engine::get(counts);
            for name in ["sl_fail", "sl_send", "sl_print_int", "sinf", "pow", "memmove", "jit_complex_sqrt"] {
                assert!(engine.symbols.iter().any(|(n, address)| *n == name && !address.is_null()), "{name}");
            }
            assert_eq!(engine.stats.is_some(), counts);
        }
    }
}
