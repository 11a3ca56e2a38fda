//! # emit-c
//!
//! Purpose: the C text of a whole program. Input: [`ProgramInput`]. Output: [`CProgram`], one self-contained C file (and for a library its
//! header); of a plugin the engine can be left out, so that it is not compiled for each program anew.
//!
//! ```text
//! sl_math.h, sluice_abi.h, sl_engine.h | types, statics, natives | filters | engine | tables, movers, sl_steady | sl_the_program, ABI
//! | library or main
//! ```
//!
//! What the text establishes: the slow way of running follows docs/execution.md; the fast way makes the same firings; nothing is
//! allocated once an instance is made; the same input gives the same text.

use super::beside;
use super::check::check;
use super::fills::Fills;
use super::fused::{self, FusedProgram};
use super::lanewise;
use super::layout::{self, Layout};
use super::messages::Mail;
use super::movers::Movers;
use super::print::{DeviceOptions, Dialect, FilterOptions, FilterText, MANY_CALLS, Site, emit_alike, emit_filter};
use super::sharing::Lives;
use super::steady::{Steady, SteadyText};
use super::tables::{self, Facts};
use super::{convolution, ends, engine, header, messages, natives, rest, rts, stages, twins, types, woven};
use sluice_frontend::analyses::natives::called;
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::messages::Messages;
use sluice_frontend::steady_state::SteadyState;
use sluice_frontend::typed::{FilterCode, Globals};
use sluice_grammar::span::{SourceMap, Span};
use sluice_kernel::ir::Kernel;
use sluice_schedule::judge::Verified;
use sluice_schedule::partition;
use sluice_schedule::sequential::SequentialSchedule;
use std::collections::BTreeSet;
use std::fmt::{self, Write};

/// What a program consists of.
#[derive(Clone, Copy)]
pub struct ProgramInput<'a> {
    /// Its name; for a library an identifier of C.
    pub name: &'a str,
    /// Structs, statics, natives.
    pub globals: &'a Globals,
    /// Filters with their arguments.
    pub codes: &'a [FilterCode],
    /// The graph.
    pub graph: &'a SdfGraph,
    /// Its steady state.
    pub steady: &'a SteadyState,
    /// Its messages.
    pub messages: &'a Messages,
    /// One for each code, channels lowered.
    pub kernels: &'a [Kernel],
    /// The order of firings in a steady state. One with batch 1 is best: code generation chooses the batch itself.
    pub schedule: &'a Verified<SequentialSchedule>,
    /// Regions that are one filter each in its steady state; [`ProgramInput::schedule`] is theirs then.
    pub fused: Option<FusedProgram<'a>>,
    /// Files, for messages.
    pub sources: &'a SourceMap,
    /// How.
    pub options: &'a ProgramOptions,
}

/// What the file is compiled to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Flavour {
    /// A shared object with the low-level interface only, for `sluice run`.
    #[default]
    Plugin,
    /// A shared object or archive with a push and pull interface and a header.
    Library,
    /// A stand-alone executable.
    Executable,
}

/// Options of code generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramOptions {
    /// What for.
    pub flavour: Flavour,
    /// Bytes that all buffers may take.
    pub buffer_limit: u64,
    /// Bytes that the channels' buffers should take: part of a core's cache. Twice as many where they share memory.
    pub buffer_target: u64,
    /// Steady states that run at once, where they are not to be chosen.
    pub batch: Option<u64>,
    /// Of a program in stages: so many times as many are handed from stage to stage at once. At least 1.
    pub turns: u64,
    /// Steps of a schedule beyond which it becomes a table.
    pub table_above: usize,
    /// Count firings and measure time, for `sluice run --stats`. Without, the text has no trace of it.
    pub stats: bool,
    /// The most items on a channel of a program with dynamic rates.
    pub channel_limit: u64,
    /// Leave the engine out of the text, and what is around it in libraries and stand-alone programs, to be compiled once for all and linked
    /// ([`CProgram::engine`]).
    pub apart: bool,
    /// Chains of filters fire in strips ([`super::strips`]).
    pub strips: bool,
}

impl Default for ProgramOptions {
    fn default() -> ProgramOptions {
        ProgramOptions {
            flavour: Flavour::Plugin,
            buffer_limit: 1 << 30,
            buffer_target: 256 << 10,
            batch: None,
            turns: 1,
            table_above: 3000,
            stats: false,
            channel_limit: 1 << 24,
            apart: false,
            strips: true,
        }
    }
}

/// A program as C.
#[derive(Clone, Debug)]
pub struct CProgram {
    /// The file.
    pub source: String,
    /// The engine, where it is apart, and what is around it: C text that is the same for all programs of the flavour with the same parts.
    pub engine: Option<String>,
    /// The header, for a library.
    pub header: Option<String>,
    /// What the numbers in `sluice_error.site` mean.
    pub sites: Vec<Site>,
    /// Steady states that run at once.
    pub batch: u64,
    /// The fewest; what runs at once is a multiple of these.
    pub unit: u64,
    /// Bytes of all buffers.
    pub bytes: u64,
    /// How full channels get in a batch, for a program that counts.
    pub fills: Option<Fills>,
}

/// Why there is no C text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodegenError {
    /// The buffers exceed the limit.
    BuffersTooLarge {
        /// Bytes of all channels, or more than can be counted.
        total: u64,
        /// The limit.
        limit: u64,
        /// Producer, consumer and bytes of the largest channel.
        channel: Option<(String, String, u64)>,
    },
    /// The parts do not fit together: a fault of the compiler.
    Malformed(String),
    /// A library's name is no identifier of C.
    Name(String),
    /// Something that does not run on a device.
    NotOnDevice {
        /// What, as a sentence's start.
        what: String,
        /// Where.
        span: Span,
        /// What to do, beside running it on the CPU.
        instead: Option<&'static str>,
    },
    /// A device has not so much memory.
    DeviceMemory {
        /// Bytes that are needed, or more than can be counted.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
}

impl fmt::Display for CodegenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodegenError::BuffersTooLarge { total, limit, channel } => {
                write!(f, "the buffers of one steady state take {total} bytes, more than the limit of {limit}")?;
                match channel {
                    Some((from, to, bytes)) => write!(f, "; the largest, from {from} to {to}, takes {bytes}"),
                    None => Ok(()),
                }
            }
            CodegenError::Malformed(what) => write!(f, "{what}"),
            CodegenError::Name(name) => {
                write!(f, "`{name}` cannot be the name of a library: it is not an identifier of C and C++")
            }
            CodegenError::NotOnDevice { what, .. } => write!(f, "{what}, which does not run on a device"),
            CodegenError::DeviceMemory { bytes: u64::MAX, .. } => {
                write!(f, "the channels take more memory of the device than can be counted")
            }
            CodegenError::DeviceMemory { bytes, limit } => {
                write!(f, "the channels take {bytes} bytes of the device, more than the limit of {limit}")
            }
        }
    }
}

impl std::error::Error for CodegenError {}

/// Makes the C text of a program.
pub fn emit_program(input: &ProgramInput<'_>) -> Result<CProgram, CodegenError> {
    make(input, &filters(input), Extra::default())
}

/// Makes the C text of a plugin that a host can run on several threads (rts/c/sluice_stages.h) as well as on one. [`stages::cannot`] must have
/// nothing against it; the options' batch must be the one the stages were made for.
pub fn emit_stages(input: &ProgramInput<'_>, partition: &partition::Verified) -> Result<CProgram, CodegenError> {
    if let Some(why) = stages::cannot(input) {
        return Err(CodegenError::Malformed(format!("no stages: {why}")));
    }
    make(input, &filters(input), Extra { partition: Some(partition), device: None })
}

/// What a program has on the host when its steady states run on a device ([`crate::cuda`]).
pub struct OnDevice {
    /// Steady states that its schedule makes at once.
    pub unit: u64,
    /// The most steady states that run at once, a multiple of `unit`.
    pub batch: u64,
    /// Those that a run begins with, and the fewest that run at once while there are enough; a multiple of `unit`.
    pub least: u64,
    /// Kernels.
    pub kernels: u32,
    /// `sl_the_kernels`, and what it needs.
    pub text: String,
    /// Places where the kernels can stop the program; they come after those of the filters' C.
    pub sites: Vec<Site>,
}

/// Makes the C text of a program whose steady states run on a device. The kernels' sites are numbered from [`sites`] on.
pub fn emit_on_device(
    input: &ProgramInput<'_>,
    filters: &[Option<FilterText>],
    device: &OnDevice,
) -> Result<CProgram, CodegenError> {
    make(input, filters, Extra { partition: None, device: Some(device) })
}

/// What some programs have besides.
#[derive(Clone, Copy, Default)]
struct Extra<'a> {
    partition: Option<&'a partition::Verified>,
    device: Option<&'a OnDevice>,
}

/// The text of each filter that a node has.
pub(crate) fn filters(input: &ProgramInput<'_>) -> Vec<Option<FilterText>> {
    let mut first_site = 0;
    let facts = Facts::of(input.graph, input.kernels.len());
    let first = convolution::alike(input, &|k| facts.instances[k] > 0);
    let far = lanewise::far(input.graph, first.len(), &|code| first[code]);
    let mut calls = vec![0; first.len()];
    first.iter().zip(&facts.instances).for_each(|(k, n)| calls[*k] += n);
    let emit = |(k, kernel): (usize, &Kernel)| {
        (facts.instances[k] > 0).then(|| {
            let (sources, dialect, often_called) = (input.sources, Dialect::C, calls[k] > MANY_CALLS);
            let options = FilterOptions {
                sources,
                first_site,
                dialect,
                device: DeviceOptions::default(),
                often_called,
                lanewise: far[k],
            };
            let text = match first[k] {
                own if own == k => emit_filter(k, kernel, &options),
                other => emit_alike(k, other, kernel),
            };
            first_site += text.sites.len() as u32;
            text
        })
    };
    input.kernels.iter().enumerate().map(emit).collect()
}

/// Makes the C text of a program from that of its filters: by code, `None` where no node has it. Sites are numbered in this order.
pub fn assemble(input: &ProgramInput<'_>, filters: &[Option<FilterText>]) -> Result<CProgram, CodegenError> {
    make(input, filters, Extra::default())
}

fn make(
    input: &ProgramInput<'_>,
    filters: &[Option<FilterText>],
    Extra { partition, device }: Extra<'_>,
) -> Result<CProgram, CodegenError> {
    check(input, |k| matches!(filters.get(k), Some(Some(_))))?;
    let facts = Facts::of(input.graph, input.kernels.len());
    let mut sites: Vec<Site> = filters.iter().flatten().flat_map(|f| f.sites.iter().cloned()).collect();
    sites.extend(device.iter().flat_map(|d| d.sites.iter().cloned()));
    let options = input.options;
    let schedule = input.schedule.schedule();
    let mut limits = super::batch::limits(input);
    if let Some(device) = device {
        limits.stages = Some(device.batch);
        limits.at_once = None;
    }
    let regions = fused::of(input).filter(|_| device.is_none());
    if let Some(regions) = regions {
        fused::check(input, regions)?;
    }
    let again = partition.map(|p| stages::again(input, p, regions)).transpose()?;
    let apart = partition.zip(again.as_ref()).map(|(p, again)| stages::apart(input, p, again, regions));
    let fast = device.is_none() && input.steady.islands.is_none();
    let lives = if fast { Lives::of_program(input, regions, apart.as_ref()) } else { None };
    let region_texts = regions.map_or(Vec::new(), |r| fused::filters(input, r, (lives.as_ref(), sites.len() as u32)));
    sites.extend(region_texts.iter().flat_map(|f| f.sites.iter().cloned()));
    if lives.is_some() && partition.is_none() {
        // what shares is used again while it is in the cache: a longer batch gains more than a shorter one keeps there (measured on the suite)
        limits.target = limits.target.saturating_mul(2);
    }
    limits.follow = fast && partition.is_none() && super::batch::follow(input, regions);
    let parts = (again.as_ref().map(|a| &a.before[..]), regions, lives.as_ref());
    let layout = layout::lay_out(input.graph, input.steady, input.globals, limits, parts)?;
    let dynamic = input.steady.islands.is_some();
    let runs: Vec<u64> = input.kernels.iter().map(super::straight::run).collect();
    let steps = Steady {
        graph: input.graph,
        layout: &layout,
        numbers: &facts.numbers,
        fill: &input.steady.boundary_fill,
        steps: &schedule.steady,
        table_above: options.table_above,
        repeat: super::batch::repeats(input, regions),
        receives: &messages::receivers(input),
        serial: &beside::serial(input),
        weaves: &woven::weaves(input),
        runs: &runs,
        stats: options.stats,
        places: None,
        known: None,
        lives: lives.as_ref().filter(|_| regions.is_none()),
    };
    let mut movers = Movers::default();
    let several = fast && (limits.at_once.is_some() || layout.turns > 1);
    let steady_name = if several && regions.is_none() { "sl_several" } else { "sl_steady" };
    let mut steady = match (device, dynamic) {
        (None, false) if let Some(regions) = regions => SteadyText {
            text: fused::steady(several, input, regions, (&layout, &facts, lives.as_ref()), &mut movers)?,
            tables: false,
            scaled: true,
        },
        (Some(device), _) => SteadyText {
            text: format!(
                "{}static void sl_steady(sl_ctx *ctx, int64_t k) {{ sl_device_steady(ctx, k); }}\n",
                device.text
            ),
            tables: false,
            scaled: true,
        },
        (None, false) => {
            let others = lives.as_ref().is_some_and(|l| !l.twins().is_empty());
            let keep = others.then(|| twins::keep(input.graph, input.steady, &layout, lives.as_ref()));
            steps.emit(steady_name, keep.as_deref().unwrap_or("    sl_keep(ctx, k);\n"), &mut movers)?
        }
        (None, true) => SteadyText {
            text: "static void sl_steady(sl_ctx *ctx, int64_t k) { sl_flow(ctx, k); }\n".into(),
            tables: true,
            scaled: false,
        },
    };
    if several && regions.is_none() {
        let turns = fused::turns(layout.batch, "sl_several");
        let _ = write!(steady.text, "\nstatic void sl_steady(sl_ctx *ctx, int64_t k) {{\n{turns}}}\n");
    }
    let parts = (&layout, &facts, lives.as_ref());
    let staged = partition.zip(again.as_ref());
    let staged = staged.map(|of| stages::emit(input, of, (&steps, parts, regions), &mut movers)).transpose()?;
    steady.text.insert_str(0, &(movers.functions + &movers.beside.functions + &movers.woven.functions + "\n"));

    let mut out = String::new();
    let _ = writeln!(out, "/* {}: made by sluice. */", comment(input.name));
    if options.flavour != Flavour::Plugin {
        out.push_str("#define _GNU_SOURCE 1\n");
    }
    let apart = options.apart;
    if apart {
        out.push_str("#define SL_APART 1\n");
    }
    if options.stats {
        out.push_str("#define SL_STATS 1\n");
    }
    if staged.is_some() {
        out.push_str("#define SL_STAGES 1\n");
    }
    if device.is_some() {
        out.push_str("#define SL_KERNELS 1\n");
    }
    let parts = rts::Parts { stats: options.stats, stages: staged.is_some(), kernels: device.is_some() };
    let free = input.kernels.iter().any(|k| k.free);
    let append = |out: &mut String, text: &str| rts::append(out, text, parts);
    rts::MATH.iter().for_each(|text| append(&mut out, text));
    let lanes_at = out.len();
    append(&mut out, rts::ABI);
    if staged.is_some() {
        append(&mut out, rts::STAGES[0]);
    }
    if device.is_some() {
        append(&mut out, rts::DEVICE);
    }
    append(&mut out, rts::ENGINE_HEADER);
    if staged.is_some() {
        append(&mut out, rts::STAGES[1]);
    }
    if options.stats {
        append(&mut out, rts::STATS[0]);
    }
    let texts: Vec<&str> = filters.iter().flatten().chain(&region_texts).map(|t| t.functions.as_str()).collect();
    rts::called(&texts, free).into_iter().for_each(|text| append(&mut out, text));
    out.push_str(&declarations(input, filters, (regions, &region_texts)));
    out.push_str(&convolution::filters(input, filters));
    for text in &region_texts {
        out.push_str(&text.state);
        out.push_str(&text.functions);
        out.push('\n');
    }
    if !apart {
        append(&mut out, rts::QUICK[0]);
        engine::append(&mut out, parts);
        append(&mut out, rts::QUICK[1]);
    }
    out.push_str(&tables::wrappers(input, &facts, &regions.map_or(Vec::new(), |r| fused::instances(input, r))));
    let mail = messages::emit(input, filters)?;
    out.push_str(&mail.text);
    out.push_str(&ends::emit(input.graph, input.globals, &layout)?);
    out.push_str(&tables::emit(input, &layout, &facts, &sites, &mail));
    out.push_str(&steady.text);
    let last = (device, staged.as_ref().map(|s| s.sizes));
    out.push_str(&descriptor(input, &layout, &facts, sites.len(), steady.tables, &mail, last));
    if let Some(staged) = &staged {
        out.push_str(&staged.functions);
        out.push_str(&staged.tables);
        if !apart {
            append(&mut out, rts::QUICK[0]);
            append(&mut out, rts::STAGES[2]);
            append(&mut out, rts::QUICK[1]);
        }
        out.push_str(&staged.interface);
    }
    append(&mut out, rts::QUICK[0]);
    let mut library_header = None;
    match options.flavour {
        Flavour::Library => {
            if apart {
                append(&mut out, rts::LIBRARY[0]);
            } else {
                engine::host(&mut out, options.flavour, parts);
            }
            let made = header::library(input)?;
            out.push_str(&made.functions);
            library_header = Some(made.header);
        }
        Flavour::Executable if !apart => engine::host(&mut out, options.flavour, parts),
        Flavour::Executable | Flavour::Plugin => {}
    }
    append(&mut out, rts::QUICK[1]);
    if rts::has_lanes(&out[lanes_at..]) {
        let mut lanes = String::new();
        rts::LANES.iter().for_each(|text| append(&mut lanes, text));
        out.insert_str(lanes_at, &lanes);
    }
    let fills = (options.stats && !dynamic).then(|| Fills {
        steps: schedule.steady.clone(),
        unit: schedule.batch,
        scaled: steady.scaled,
        at_once: several.then_some(layout.batch),
    });
    let engine = apart.then(|| engine::apart(options.flavour, parts, free));
    let (batch, unit) = device.map_or((layout.batch * layout.turns, schedule.batch), |d| (d.batch, d.unit));
    Ok(CProgram { source: out, engine, header: library_header, sites, batch, unit, bytes: layout.bytes, fills })
}

/// Types, statics, and prototypes of native functions.
fn declarations(
    input: &ProgramInput<'_>,
    filters: &[Option<FilterText>],
    (regions, texts): (Option<FusedProgram<'_>>, &[FilterText]),
) -> String {
    let used = input.kernels.iter().zip(filters).filter_map(|(k, f)| f.as_ref().map(|_| k));
    let used: Vec<&Kernel> = used.chain(regions.iter().flat_map(|r| &r.program.kernels)).collect();
    let structs = natives::structs(input.globals);
    let statics: BTreeSet<_> = filters.iter().flatten().chain(texts).flat_map(|f| f.statics.iter().copied()).collect();
    let mut tys: Vec<_> = input.graph.channels.iter().map(|c| c.ty.clone()).collect();
    tys.extend(used.iter().flat_map(|k| types::used_types(k)));
    tys.extend(statics.iter().filter_map(|s| input.globals.statics.get(s.index()).map(|s| s.ty.clone())));
    let mut out = types::emit_types(&structs, &tys);
    out.push_str(&tables::size_checks(input));
    out.push_str(&types::emit_statics(input.globals, &statics));
    let called = called(input.codes, input.graph, input.globals);
    out.push_str(&natives::declarations(input.globals, called.keys().copied()));
    if input.steady.islands.is_some() {
        out.push_str(&natives::once(input.globals, called.into_keys()));
    }
    out
}

/// `sl_the_program` and the table of functions.
fn descriptor(
    input: &ProgramInput<'_>,
    layout: &Layout,
    facts: &Facts,
    sites: usize,
    tables: bool,
    mail: &Mail,
    (device, stages): (Option<&OnDevice>, Option<[u64; 3]>),
) -> String {
    let graph = input.graph;
    let dynamic = input.steady.islands.is_some();
    let (readers, writers) = layout::ends(graph);
    let (nodes, channels) = (graph.nodes.len(), graph.channels.len());
    let natives = !called(input.codes, graph, input.globals).is_empty();
    let mut out = String::new();
    let _ = write!(
        out,
        "\nstatic const sluice_abi sl_abi = {{\n    sizeof(sluice_abi), SLUICE_ABI_VERSION, {}, {}, {}, sl_reader_ends, sl_writer_ends, {}, {},\n    \
         {} + sizeof(struct sl_states) + sizeof(sl_ctx), {}, sl_create, sl_run, sl_error, sl_iterations, sl_destroy, {}}};\n\n",
        types::text(input.name),
        readers.len(),
        writers.len(),
        facts.printers,
        u8::from(facts.bounded),
        layout.bytes,
        device.map_or(layout.batch * layout.turns, |d| d.batch),
        device.map_or(0, |d| d.kernels),
    );
    let _ = write!(
        out,
        "SL_ENGINE const sl_program sl_the_program = {{\n    sl_nodes, sl_channels, sl_codes, sl_ports, sl_weights, sl_roots, sl_links, sl_waits, sl_nexts, sl_kept, sl_sites, sl_readers, sl_writers,\n    \
         {nodes}, {channels}, {sites}, SL_ALL_KEPT, {}, {}, {}, {}, {}, {}, {}, sizeof(struct sl_states), SL_MESSAGE, sl_steady, {}, {}, {}, {}, &sl_abi{}{}}};\n\n",
        // receivers look for messages even where it turned out that none is ever sent
        if input.messages.links.is_empty() { 0 } else { mail.links.max(1) },
        // with dynamic rates, when a message takes effect can depend on the order of firings
        u8::from(facts.ordered || dynamic && mail.links > 0),
        u8::from(tables),
        u8::from(dynamic),
        input.options.channel_limit,
        u8::from(natives),
        layout.bytes,
        device.map_or(layout.batch * layout.turns, |d| d.batch),
        device.map_or(input.schedule.schedule().batch, |d| d.unit),
        device.map_or_else(|| super::batch::begin(input, layout.batch * layout.turns), |d| d.least),
        rest::items_until_seen(input),
        if device.is_some() { ", &sl_the_kernels" } else { "" },
        stages.map_or(String::new(), |[crossings, least, turns]| format!(", {crossings}, {least}, {turns}")),
    );
    out.push_str("SL_EXPORT const sluice_abi *sluice_abi_v1(void) { return &sl_abi; }\n\n");
    out
}

/// Text that cannot end a comment.
fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace(['\n', '\r'], " ")
}
