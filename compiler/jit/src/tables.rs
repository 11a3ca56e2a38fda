//! # tables
//!
//! Purpose: the whole program: its code, and the tables that the engine reads (`sl_program`). Input: [`ProgramInput`]. Output: [`Program`].
//! What must hold: the rows are those that `codegen::c::tables`, `ends` and `messages` print.

use crate::bytes;
use crate::filter::{About, Filter};
use crate::function::Whole;
use crate::machine::{Machine, PTR};
use crate::raw::*;
use crate::{Program, Refusal, steady};
use cranelift_codegen::ir::{InstBuilder, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::FuncId;
use sluice_codegen::c::batch;
use sluice_codegen::c::check;
use sluice_codegen::c::ends;
use sluice_codegen::c::fills::Fills;
use sluice_codegen::c::layout::{self, Layout, Limits};
use sluice_codegen::c::messages;
use sluice_codegen::c::print::Site;
use sluice_codegen::c::rest;
use sluice_codegen::c::steady::Steady;
use sluice_codegen::c::tables::Facts;
use sluice_codegen::{CodegenError, ProgramInput};
use sluice_frontend::graph::{Endpoint, NodeKind};
use sluice_frontend::ids::NodeId;
use sluice_frontend::messages::counts::Counts;
use sluice_frontend::ty::{Dim, Ty};
use sluice_frontend::typed::{Globals, Rates};
use std::any::Any;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char};

/// States of one code begin at multiples of this, as `SL_ALIGN` says.
const ALIGN: u64 = 64;

/// What the tables point to, kept where it is.
#[derive(Default)]
struct Keep {
    all: Vec<Box<dyn Any>>,
}

impl Keep {
    fn list<T: 'static>(&mut self, list: Vec<T>) -> *const T {
        let list = list.into_boxed_slice();
        let at = list.as_ptr();
        self.all.push(Box::new(list));
        at
    }

    fn one<T: 'static>(&mut self, x: T) -> *const T {
        self.list(vec![x])
    }

    fn text(&mut self, text: &str) -> *const c_char {
        let text: Vec<u8> = text.bytes().filter(|b| *b != 0).collect();
        let text = CString::new(text).unwrap_or_default();
        let at = text.as_ptr();
        self.all.push(Box::new(text));
        at
    }

    fn counts(&mut self, f: &Counts) -> RawCounts {
        let length = f.head.len() as u64;
        RawCounts { head: self.list(f.head.clone()), length, period: f.period.min(length), step: f.step }
    }
}

/// Makes the program.
pub fn make(input: &ProgramInput<'_>, show: bool) -> Result<Program, Refusal> {
    check::check(input, |_| true)?;
    let facts = Facts::of(input.graph, input.kernels.len());
    // its steady states follow one another wherever messages hold firings back
    let limits = Limits { at_once: None, ..batch::limits(input) };
    let layout = layout::lay_out(input.graph, input.steady, input.globals, limits, (None, None, None))?;
    let mut machine = Machine::new(input.options.stats, show)?;
    let made = code(input, &facts, &layout, &mut machine);
    match made {
        Ok(code) => assemble(input, &facts, &layout, machine, code),
        Err(e) => {
            machine.free();
            Err(e)
        }
    }
}

/// All functions of a program.
struct Made {
    filters: Vec<Option<Filter>>,
    sites: Vec<Site>,
    steady: FuncId,
    scaled: bool,
    create: FuncId,
    /// Where `create` finds the program's tables.
    tables: Box<[*const RawProgram; 1]>,
}

fn code(input: &ProgramInput<'_>, facts: &Facts, layout: &Layout, machine: &mut Machine) -> Result<Made, Refusal> {
    let receives = messages::receivers(input);
    let (mut filters, mut shared, mut whole) = (Vec::new(), BTreeMap::new(), Whole { sites: Vec::new() });
    for (k, kernel) in input.kernels.iter().enumerate() {
        if facts.instances[k] == 0 {
            filters.push(None);
            continue;
        }
        let of = |v: NodeId| matches!(input.graph.node(v).kind, NodeKind::Filter { code, .. } if code.index() == k);
        let from_itself = input.messages.links.iter().any(|l| l.sender == l.receiver && of(l.sender));
        let about = About { code: k, receives: receives[k], from_itself };
        filters.push(Some(Filter::make(kernel, about, input.globals, &mut shared, machine, &mut whole)?));
    }
    let schedule = input.schedule.schedule();
    let steps = Steady {
        graph: input.graph,
        layout,
        numbers: &facts.numbers,
        fill: &input.steady.boundary_fill,
        steps: &schedule.steady,
        table_above: 0,
        repeat: !input.steady.precedences.is_empty(),
        receives: &receives,
        serial: &[],
        weaves: &[],
        runs: &[],
        stats: input.options.stats,
        places: None,
        known: None,
        lives: None,
    };
    let steps = input.steady.islands.is_none().then_some(&steps);
    let (steady, scaled) = steady::make(steps, machine)?;
    let tables = Box::new([std::ptr::null()]);
    let create = create(machine, tables.as_ptr() as i64)?;
    machine.finish()?;
    Ok(Made { filters, sites: whole.sites, steady, scaled, create, tables })
}

/// `int32_t create(const sluice_host *host, sl_ctx **instance)` for the program whose tables the address at `tables` points to.
fn create(machine: &mut Machine, tables: i64) -> Result<FuncId, Refusal> {
    let code = machine.declare("sl_create", &[PTR, PTR], Some(types::I32))?;
    let (mut context, mut builder) = machine.begin(code);
    let mut b = FunctionBuilder::new(&mut context.func, &mut builder);
    let first = b.create_block();
    b.append_block_params_for_function_params(first);
    b.switch_to_block(first);
    b.seal_block(first);
    let (host, instance) = (b.block_params(first)[0], b.block_params(first)[1]);
    let callee = machine.import("sl_jit_create", &[PTR; 3], Some(types::I32), b.func)?;
    let tables = b.ins().iconst(PTR, tables);
    let flags = cranelift_codegen::ir::MemFlagsData::trusted();
    let program = b.ins().load(PTR, flags, tables, 0);
    let call = b.ins().call(callee, &[program, host, instance]);
    let result = b.inst_results(call)[0];
    b.ins().return_(&[result]);
    let config = machine.config();
    b.finalize(config);
    machine.end_quietly(code, context)?;
    Ok(code)
}

/// Where each code's states are, and the bytes of all.
fn states(facts: &Facts, filters: &[Option<Filter>]) -> (Vec<u64>, u64) {
    let (mut at, mut starts) = (0u64, Vec::new());
    for (filter, n) in filters.iter().zip(&facts.instances) {
        at = at.next_multiple_of(ALIGN);
        starts.push(at);
        at += filter.as_ref().map_or(0, |f| f.state_bytes) * *n as u64;
    }
    let any = filters.iter().any(Option::is_some);
    (starts, if any { (at + 1).next_multiple_of(ALIGN) } else { 1 })
}

fn assemble(
    input: &ProgramInput<'_>,
    facts: &Facts,
    layout: &Layout,
    mut machine: Machine,
    mut made: Made,
) -> Result<Program, Refusal> {
    let ProgramInput { graph, steady, globals, .. } = *input;
    let mut keep = Keep::default();
    let (starts, state_bytes) = states(facts, &made.filters);
    let address = |code: FuncId| machine.address(code);

    let (mut links, mut waits, mut nexts): (Vec<RawLink>, Vec<RawWait>, Vec<u32>) = Default::default();
    let (mut nodes, mut ports, mut weights) = (Vec::new(), Vec::<u32>::new(), Vec::<u32>::new());
    let mut message_bytes = 8;
    for v in graph.node_ids() {
        let node = graph.node(v);
        let number = facts.numbers[v.index()];
        let code = match node.kind {
            NodeKind::Filter { code, .. } => made.filters[code.index()].as_ref().map(|f| (code.index(), f)),
            _ => None,
        };
        let mut row = RawNode {
            path: keep.text(&node.path) as usize,
            repetitions: steady.repetitions[v.index()],
            init: steady.init[v.index()],
            first_in: ports.len() as u32,
            ins: node.inputs.len() as u32,
            outs: node.outputs.len() as u32,
            free: u8::from(facts.free[v.index()]),
            loose: u8::from(steady.islands.as_ref().is_some_and(|i| !i.has_quota(v))),
            first_link: links.len() as u32,
            first_wait: waits.len() as u32,
            first_next: nexts.len() as u32,
            ..RawNode::default()
        };
        ports.extend(node.inputs.iter().map(|c| c.0));
        row.first_out = ports.len() as u32;
        ports.extend(node.outputs.iter().map(|c| c.0));
        row.kind = match &node.kind {
            NodeKind::Filter { .. } => {
                if let Some((k, filter)) = code {
                    row.what = k as u32;
                    row.state = starts[k] + number as u64 * filter.state_bytes;
                }
                0
            }
            NodeKind::Identity => 1,
            NodeKind::Duplicate => 2,
            NodeKind::SplitRoundRobin(w) | NodeKind::JoinRoundRobin(w) => {
                row.first_weight = weights.len() as u32;
                weights.extend(w);
                if matches!(node.kind, NodeKind::SplitRoundRobin(_)) { 3 } else { 4 }
            }
            NodeKind::Reader(_) => {
                row.what = number as u32;
                5
            }
            NodeKind::Writer(_) => {
                row.what = number as u32;
                6
            }
        };
        for way in messages::ways(input, v, code.map_or(&[][..], |(_, f)| &f.sends))? {
            let receiver = made.filters[way.code].as_ref().and_then(|f| f.receive.get(way.handler));
            let receive = *receiver.ok_or_else(|| crate::place::malformed("a message to nobody"))?;
            let (_, size, _) = bytes::fields(&way.params, globals, 0);
            message_bytes = message_bytes.max(size.next_multiple_of(8));
            links.push(RawLink {
                receive: address(receive),
                due: keep.counts(way.due),
                bytes: size,
                send: way.send as u32,
                receiver: way.receiver.0,
                after: u32::from(way.after),
                next: u32::from(way.next),
            });
        }
        for p in steady.precedences.iter().filter(|p| p.after == v) {
            waits.push(RawWait { need: keep.counts(&p.need), before: p.before.0 });
        }
        nexts.extend(steady.precedences.iter().filter(|p| p.before == v).map(|p| p.after.0));
        row.links = links.len() as u32 - row.first_link;
        row.waits = waits.len() as u32 - row.first_wait;
        row.nexts = nexts.len() as u32 - row.first_next;
        nodes.push(row);
    }

    let (mut channels, mut kept) = (Vec::new(), Vec::new());
    for (i, c) in graph.channels.iter().enumerate() {
        let (size, _) = bytes::size_align(&c.ty, globals);
        let mut initial = vec![0; size as usize * c.initial.len()];
        for (item, to) in c.initial.iter().zip(initial.chunks_mut(size.max(1) as usize)) {
            bytes::write(item, &c.ty, globals, to);
        }
        if steady.boundary_fill[i] > 0 {
            kept.push(i as u32);
        }
        channels.push(RawChannel {
            offset: layout.channels[i].offset,
            capacity: layout.channels[i].capacity,
            fill: steady.boundary_fill[i],
            initial: if c.initial.is_empty() { std::ptr::null() } else { keep.list(initial) },
            initial_count: c.initial.len() as u32,
            from: c.from.0.0,
            to: c.to.0.0,
            item: size as u32,
            produce: c.produce,
            consume: c.consume,
            peek: c.peek,
            consumed: steady.repetitions[c.to.0.index()].saturating_mul(u64::from(c.consume)),
            slides: u32::from(layout.slides[i].is_some()),
        });
    }

    let mut first_rates: Vec<Rates> = vec![Rates::default(); facts.instances.len()];
    for node in &graph.nodes {
        if let NodeKind::Filter { code, prework: Some(rates), .. } = &node.kind {
            first_rates[code.index()] = *rates;
        }
    }
    let mut codes = Vec::new();
    for (k, filter) in made.filters.iter().enumerate() {
        let kernel = &input.kernels[k];
        let (bounds, r) = (kernel.work.bounds(), first_rates[k]);
        let most = |n: Option<u32>| n.map_or(u64::MAX, u64::from);
        let printed = filter.as_ref().and_then(|_| input.codes.get(k)).map_or("", |c| &c.init_output);
        codes.push(RawCode {
            fire: filter.as_ref().map_or(std::ptr::null(), |f| address(f.fire)),
            prework: filter.as_ref().and_then(|f| f.prework).map_or(std::ptr::null(), address),
            init: filter.as_ref().map_or(std::ptr::null(), |f| address(f.init)),
            pre_peek: r.peek.max(r.pop),
            pre_pop: r.pop,
            pre_push: r.push,
            text_length: printed.len() as u32,
            text: keep.list(printed.as_bytes().to_vec()).cast(),
            state_bytes: filter.as_ref().map_or(0, |f| f.state_bytes),
            attempt: u32::from(kernel.work.dynamic.is_some()),
            most_looked: most(bounds.look.1),
            most_pushed: most(bounds.push.1),
            sure: std::ptr::null(),
        });
    }

    let mut sites = Vec::new();
    for site in &made.sites {
        let format = site.kind.format();
        let (before, after) = match format.split_once("%lld") {
            Some((before, after)) => (before, keep.text(after)),
            None => (&format[..], std::ptr::null()),
        };
        let before = keep.text(before);
        sites.push(RawSite { before, after, place: keep.text(&input.sources.describe(site.span)) });
    }

    let mut types = Types { globals, known: Vec::new() };
    let (readers, writers) = layout::ends(graph);
    let mut stages = layout.stages.iter();
    let mut sides = Vec::new();
    for list in [&readers, &writers] {
        let (mut told, mut known) = (Vec::new(), Vec::new());
        for v in list {
            let (t, k) = end(input, *v, &mut types, stages.next(), &mut keep)?;
            told.push(t);
            known.push(k);
        }
        sides.push((keep.list(told), keep.list(known)));
    }

    let engine = machine.engine();
    let [run, error, iterations, destroy] = engine.functions;
    let stats = engine.stats;
    let name = keep.text(input.name);
    let abi = keep.one(RawAbi {
        size: size_of::<RawAbi>() as u32,
        version: 1,
        name,
        reader_count: readers.len() as u32,
        writer_count: writers.len() as u32,
        readers: sides[0].0,
        writers: sides[1].0,
        printers: facts.printers as u32,
        bounded: u32::from(facts.bounded),
        bytes: layout.bytes + state_bytes + engine.places.instance,
        batch: layout.batch,
        create: machine.address(made.create),
        run,
        error,
        iterations,
        destroy,
        kernels: 0,
    });
    let dynamic = steady.islands.is_some();
    let link_count = links.len();
    let unit = input.schedule.schedule().batch;
    let roots: Vec<u32> = facts.roots.iter().map(|v| v.0).collect();
    let program = RawProgram {
        node_count: nodes.len() as u32,
        channel_count: channels.len() as u32,
        site_count: sites.len() as u32,
        kept_count: kept.len() as u32,
        nodes: keep.list(nodes),
        channels: keep.list(channels),
        codes: keep.list(codes),
        ports: keep.list(ports),
        weights: keep.list(weights),
        roots: keep.list(roots),
        links: keep.list(links),
        waits: keep.list(waits),
        nexts: keep.list(nexts),
        kept: keep.list(kept),
        sites: keep.list(sites),
        readers: sides[0].1,
        writers: sides[1].1,
        // receivers look for messages even where it turned out that none is ever sent
        link_count: if input.messages.links.is_empty() { 0 } else { link_count.max(1) as u32 },
        // with dynamic rates, when a message takes effect can depend on the order of firings
        ordered: u32::from(facts.ordered || dynamic && link_count > 0),
        tables: 1,
        dynamic: u32::from(dynamic),
        channel_limit: input.options.channel_limit,
        natives: 0,
        arena_bytes: layout.bytes,
        state_bytes,
        message_bytes,
        steady: machine.address(made.steady),
        batch: layout.batch,
        unit,
        begin: batch::begin(input, layout.batch),
        rest: rest::items_until_seen(input),
        abi,
    };
    made.tables[0] = keep.one(program);
    keep.all.push(Box::new(made.tables));
    let text = machine.take_text();
    let fills = (input.options.stats && !dynamic).then(|| Fills {
        steps: input.schedule.schedule().steady.clone(),
        unit,
        scaled: made.scaled,
        at_once: None,
    });
    Ok(Program {
        machine: Some(machine),
        abi: abi.cast(),
        stats,
        sites: made.sites,
        batch: layout.batch,
        fills,
        text,
        _tables: keep.all,
    })
}

/// Descriptions of types, each once.
struct Types<'a> {
    globals: &'a Globals,
    known: Vec<(Ty, *const RawType)>,
}

impl Types<'_> {
    fn of(&mut self, ty: &Ty, keep: &mut Keep) -> *const RawType {
        if let Some((_, at)) = self.known.iter().find(|(t, _)| t == ty) {
            return *at;
        }
        let (size, _) = bytes::size_align(ty, self.globals);
        let none = (std::ptr::null(), std::ptr::null());
        let (kind, count, (part, parts)) = match ty {
            Ty::Array(e, dim) => {
                let n = if let Dim::Known(n) = dim { *n } else { 0 };
                (8, n, (self.of(e, keep), std::ptr::null()))
            }
            Ty::Struct(id) => {
                let globals = self.globals;
                let fields = globals.structs.get(id.index()).map_or(&[][..], |s| &s.fields);
                let (places, ..) = bytes::fields(fields.iter().map(|(_, t)| t), globals, 0);
                let rows: Vec<RawField> = (fields.iter().zip(places))
                    .map(|((_, t), offset)| RawField { offset, ty: self.of(t, keep) })
                    .collect();
                (9, rows.len() as u32, (std::ptr::null(), keep.list(rows)))
            }
            _ => (ends::scalars(ty, self.globals).unwrap_or((3, 1)).0, 1, none),
        };
        let at = keep.one(RawType { kind, count, size, part, parts });
        self.known.push((ty.clone(), at));
        at
    }
}

fn end(
    input: &ProgramInput<'_>,
    v: NodeId,
    types: &mut Types<'_>,
    stage: Option<&layout::Place>,
    keep: &mut Keep,
) -> Result<(RawEnd, RawStage), Refusal> {
    let (graph, globals) = (input.graph, input.globals);
    let node = graph.node(v);
    let bad = || CodegenError::Malformed(format!("{} has no items to read or write", node.path));
    let ty = &graph.channel(layout::end_channel(graph, v).ok_or_else(bad)?).ty;
    let (scalar, count) = ends::scalars(ty, globals).ok_or_else(bad)?;
    let host = layout::host_bytes(ty, globals).ok_or_else(bad)?;
    let (size, _) = layout::size_align(ty, globals).ok_or_else(bad)?;
    let stage = stage.ok_or_else(bad)?;
    let file = match &node.kind {
        NodeKind::Reader(Endpoint::File(path)) | NodeKind::Writer(Endpoint::File(path)) => keep.text(path),
        _ => std::ptr::null(),
    };
    let mut innermost = ty;
    while let Ty::Array(e, _) = innermost {
        innermost = e;
    }
    let told = RawEnd {
        name: keep.text(&node.path),
        ty: keep.text(&ends::type_name(ty, globals)),
        file,
        scalar,
        scalars: u32::try_from(count).map_err(|_| bad())?,
        bytes: host,
        node: v.0,
        complex: u32::from(*innermost == Ty::Complex),
    };
    let (stage, capacity) = (stage.offset, stage.capacity);
    Ok((told, RawStage { ty: types.of(ty, keep), stage, capacity, node: v.0, flat: u32::from(size == host) }))
}
