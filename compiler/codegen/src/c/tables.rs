//! # tables
//!
//! Purpose: the graph as C tables, for the engine's slow way of running. Input: graph, steady state, layout, filters. Output: the arrays that
//! `sl_program` (rts/c/sl_engine.h) points to.

use super::layout::Layout;
use super::messages::Mail;
use super::print::Site;
use super::program::ProgramInput;
use super::types::{c_type, initializer, text};
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::NodeId;
use sluice_frontend::typed::Rates;
use std::fmt::Write;

/// What the tables say beside the graph itself.
pub struct Facts {
    /// By node: readers exist, and none reaches it.
    pub free: Vec<bool>,
    /// The order in which nodes pull.
    pub roots: Vec<NodeId>,
    /// By node: number among the readers, the writers, or the instances of a filter's code.
    pub numbers: Vec<usize>,
    /// By code: how many nodes have it.
    pub instances: Vec<usize>,
    /// Nodes that print.
    pub printers: usize,
    /// The order of firings can be seen, whatever the ends are bound to.
    pub ordered: bool,
    /// Are there readers?
    pub bounded: bool,
}

impl Facts {
    /// Looks at a graph with `codes` codes.
    pub fn of(graph: &SdfGraph, codes: usize) -> Facts {
        let (mut numbers, mut instances) = (Vec::new(), vec![0; codes]);
        let (mut readers, mut writers, mut printers) = (0, 0, 0);
        let mut reached = vec![false; graph.nodes.len()];
        let mut work = Vec::new();
        for v in graph.node_ids() {
            let counter = match &graph.node(v).kind {
                NodeKind::Reader(_) => {
                    work.push(v);
                    &mut readers
                }
                NodeKind::Writer(_) => &mut writers,
                NodeKind::Filter { code, prints, .. } => {
                    printers += usize::from(*prints);
                    if instances.len() <= code.index() {
                        instances.resize(code.index() + 1, 0);
                    }
                    &mut instances[code.index()]
                }
                _ => &mut 0,
            };
            numbers.push(*counter);
            *counter += 1;
        }
        let bounded = !work.is_empty();
        while let Some(v) = work.pop() {
            if !std::mem::replace(&mut reached[v.index()], true) {
                work.extend(graph.node(v).outputs.iter().map(|c| graph.channel(*c).to.0));
            }
        }
        let free: Vec<bool> = reached.iter().map(|r| bounded && !r).collect();
        let mut roots: Vec<NodeId> = graph.node_ids().collect();
        roots.sort_by_key(|v| (free[v.index()], !graph.node(*v).outputs.is_empty(), *v));
        let seen = |v: NodeId| {
            matches!(graph.node(v).kind, NodeKind::Writer(_) | NodeKind::Filter { prints: true, .. }) && free[v.index()]
        };
        let ordered = printers > 1 || graph.node_ids().any(seen);
        Facts { free, roots, numbers, instances, printers, ordered, bounded }
    }
}

/// An array that is never empty, as C wants it.
fn array(out: &mut String, ty: &str, name: &str, rows: &[String], per_line: usize) {
    let none = ["{0}".to_string()];
    let scalar = ["0".to_string()];
    let rows = match (rows.is_empty(), ty) {
        (false, _) => rows,
        (true, "uint32_t") => &scalar,
        (true, _) => &none,
    };
    let _ = write!(out, "static const {ty} {name}[] = {{");
    for (i, row) in rows.iter().enumerate() {
        let _ = write!(out, "{}{row},", if i % per_line == 0 { "\n    " } else { " " });
    }
    out.push_str("\n};\n");
}

/// Calls of filters by tables go through functions of one type. `regions`: how often the kernel of each region's code is used.
pub fn wrappers(input: &ProgramInput<'_>, facts: &Facts, regions: &[(usize, usize)]) -> String {
    let mut out = String::new();
    let args = "sl_ctx *ctx, void *st, const void *in, void *out, long n";
    let receives = super::messages::receivers(input);
    let first = super::convolution::alike(input, &|k| facts.instances[k] > 0);
    for (k, kernel) in input.kernels.iter().enumerate().filter(|(k, _)| facts.instances[*k] > 0) {
        // an attempt must not undo what a message did: the engine delivers before it
        let mail = receives[k] && kernel.work.dynamic.is_none();
        if mail {
            out.push_str(&super::messages::firings(k, kernel, input));
        }
        let mail = if mail { "mail_" } else { "" };
        if first[k] == k {
            let _ = writeln!(
                out,
                "static void sl_call_{k}({args}) {{ sl_fire_{mail}{k}(ctx, (struct sl_state_{k} *)st, in, out, n); }}"
            );
        }
        if kernel.prework.is_some() {
            let _ = writeln!(
                out,
                "static void sl_call_first_{k}({args}) {{ sl_prework_{mail}{k}(ctx, (struct sl_state_{k} *)st, in, out, n); }}"
            );
        }
        if super::print_sure::row(kernel).is_some() {
            let _ = writeln!(
                out,
                "static void sl_call_sure_{k}({args}) {{ sl_sure_{k}(ctx, (struct sl_state_{k} *)st, in, out, n); }}"
            );
        }
        if first[k] == k {
            let _ = writeln!(out, "static void sl_start_{k}(void *st) {{ sl_init_{k}((struct sl_state_{k} *)st); }}");
        }
    }
    out.push_str("struct sl_states {\n");
    for (k, n) in facts.instances.iter().enumerate().filter(|(_, n)| **n > 0) {
        let _ = writeln!(out, "    _Alignas(SL_ALIGN) struct sl_state_{k} code_{k}[{n}];");
    }
    for (k, n) in regions {
        let _ = writeln!(out, "    _Alignas(SL_ALIGN) struct sl_state_{k} code_{k}[{n}];");
    }
    out.push_str("    uint8_t end;\n};\n");
    out
}

/// The tables of nodes, channels, codes and sites.
pub fn emit(input: &ProgramInput<'_>, layout: &Layout, facts: &Facts, sites: &[Site], mail: &Mail) -> String {
    let ProgramInput { graph, steady, codes, .. } = input;
    let mut out = String::new();
    let (mut nodes, mut ports, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for v in graph.node_ids() {
        let node = graph.node(v);
        let number = facts.numbers[v.index()];
        let (kind, what, mut state, first_weight) = match &node.kind {
            NodeKind::Filter { code, .. } => {
                let k = code.0;
                let place = format!("offsetof(struct sl_states, code_{k}) + {number} * sizeof(struct sl_state_{k})");
                ("SL_FILTER", k as usize, place, 0)
            }
            NodeKind::Identity => ("SL_IDENTITY", 0, String::new(), 0),
            NodeKind::Duplicate => ("SL_DUPLICATE", 0, String::new(), 0),
            NodeKind::SplitRoundRobin(w) | NodeKind::JoinRoundRobin(w) => {
                let at = weights.len();
                weights.extend(w.iter().map(u32::to_string));
                let split = matches!(node.kind, NodeKind::SplitRoundRobin(_));
                (if split { "SL_SPLIT" } else { "SL_JOIN" }, 0, String::new(), at)
            }
            NodeKind::Reader(_) => ("SL_READER", number, String::new(), 0),
            NodeKind::Writer(_) => ("SL_WRITER", number, String::new(), 0),
        };
        if state.is_empty() {
            state.push('0');
        }
        let first_in = ports.len();
        ports.extend(node.inputs.iter().map(|c| c.0.to_string()));
        let first_out = ports.len();
        ports.extend(node.outputs.iter().map(|c| c.0.to_string()));
        nodes.push(format!(
            "{{{}, {}, {}, {state}, {what}, {first_in}, {}, {first_out}, {}, {first_weight}, {}, {kind}, {}, {}}}",
            text(&node.path),
            steady.repetitions[v.index()],
            steady.init[v.index()],
            node.inputs.len(),
            node.outputs.len(),
            mail.rows[v.index()],
            u8::from(facts.free[v.index()]),
            u8::from(steady.islands.as_ref().is_some_and(|i| !i.has_quota(v))),
        ));
    }
    let (mut channels, mut kept) = (Vec::new(), Vec::new());
    for (i, c) in graph.channels.iter().enumerate() {
        let initial = if c.initial.is_empty() {
            "NULL".to_string()
        } else {
            let items: Vec<String> = c.initial.iter().map(initializer).collect();
            let _ = writeln!(out, "static const {} sl_initial_{i}[] = {{{}}};", c_type(&c.ty), items.join(", "));
            format!("sl_initial_{i}")
        };
        let fill = steady.boundary_fill[i];
        if fill > 0 {
            kept.push(i.to_string());
        }
        let consumed = steady.repetitions[c.to.0.index()].saturating_mul(u64::from(c.consume));
        channels.push(format!(
            "{{{}, {}, {fill}, {initial}, {}, {}, {}, sizeof({}), {}, {}, {}, {consumed}, {}}}",
            layout.channels[i].offset,
            layout.channels[i].capacity,
            c.initial.len(),
            c.from.0.0,
            c.to.0.0,
            c_type(&c.ty),
            c.produce,
            c.consume,
            c.peek,
            u8::from(layout.slides[i].is_some()),
        ));
    }
    let mut first_rates: Vec<Rates> = vec![Rates::default(); facts.instances.len()];
    for node in &graph.nodes {
        if let NodeKind::Filter { code, prework: Some(rates), .. } = &node.kind {
            first_rates[code.index()] = *rates;
        }
    }
    let rows: Vec<String> = facts
        .instances
        .iter()
        .enumerate()
        .map(|(k, n)| {
            if *n == 0 {
                return "{0}".to_string();
            }
            let first = match input.kernels.get(k) {
                Some(kernel) if kernel.prework.is_some() => format!("sl_call_first_{k}"),
                _ => "NULL".to_string(),
            };
            let printed = codes.get(k).map_or("", |c| &c.init_output);
            let r = first_rates[k];
            let bounds = input.kernels.get(k).map(|kernel| kernel.work.bounds());
            let sure = match input.kernels.get(k) {
                Some(kernel) if super::print_sure::row(kernel).is_some() => format!("sl_call_sure_{k}"),
                _ => "NULL".to_string(),
            };
            let most = |n: Option<Option<u32>>| n.flatten().map_or("UINT64_MAX".to_string(), |n| n.to_string());
            format!(
                "{{sl_call_{k}, {first}, sl_start_{k}, {}, {}, {}, {}, {}, sizeof(struct sl_state_{k}), {}, {}, {}, {sure}}}",
                r.peek.max(r.pop),
                r.pop,
                r.push,
                printed.len(),
                text(printed),
                u8::from(input.kernels.get(k).is_some_and(|kernel| kernel.work.dynamic.is_some())),
                most(bounds.map(|b| b.look.1)),
                most(bounds.map(|b| b.push.1)),
            )
        })
        .collect();
    array(&mut out, "sl_node", "sl_nodes", &nodes, 1);
    array(&mut out, "sl_channel", "sl_channels", &channels, 1);
    array(&mut out, "sl_code", "sl_codes", &rows, 1);
    array(&mut out, "uint32_t", "sl_ports", &ports, 16);
    array(&mut out, "uint32_t", "sl_weights", &weights, 16);
    let roots: Vec<String> = facts.roots.iter().map(|v| v.0.to_string()).collect();
    array(&mut out, "uint32_t", "sl_roots", &roots, 16);
    array(&mut out, "uint32_t", "sl_kept", &kept, 16);
    let sites: Vec<String> = sites
        .iter()
        .map(|site| {
            let format = site.kind.format();
            let place = text(&input.sources.describe(site.span));
            match format.split_once("%lld") {
                Some((before, after)) => format!("{{{}, {}, {place}}}", text(before), text(after)),
                None => format!("{{{}, NULL, {place}}}", text(&format)),
            }
        })
        .collect();
    array(&mut out, "sl_site", "sl_sites", &sites, 1);
    let _ = writeln!(out, "enum {{ SL_ALL_KEPT = {} }};", kept.len());
    out
}

/// What the layout takes for granted about the sizes of types.
pub fn size_checks(input: &ProgramInput<'_>) -> String {
    let mut seen = std::collections::BTreeSet::new();
    let mut out = String::new();
    for c in &input.graph.channels {
        let name = c_type(&c.ty);
        if let Some((size, _)) = super::layout::size_align(&c.ty, input.globals)
            && seen.insert(name.clone())
        {
            let _ = writeln!(out, "_Static_assert(sizeof({name}) == {size}, \"layout of {name}\");");
        }
    }
    out
}
