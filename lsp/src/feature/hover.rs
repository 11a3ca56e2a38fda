//! # hover
//!
//! Purpose: what is known of what the cursor is on. Input: a view, a byte. Output: Markdown and the range that it is about. For a stream: rates and how
//! they came about, repetitions, work and its share, state and why, buffers, where it runs, its documentation; for an `add` in a loop the instances. For a variable: its type, its value
//! where that is known.

use super::builtins;
use super::diagnostics::location;
use super::facts::{self, addings, buffer, declared, hier, instances, leaf, spread, streams};
use crate::world::scheduled::Schedule;
use crate::world::view::{Known, View};
use sluice_frontend::Elaborated;
use sluice_frontend::analyses::state::private_fields;
use sluice_frontend::check::filter::show_argument;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{HierId, NodeId, SymbolId};
use sluice_frontend::lints::tree;
use sluice_frontend::resolve::{SymbolKind, Use};
use sluice_frontend::typed::FilterCode;
use sluice_grammar::ast::{Member, Rate, RateKind, RateSpec, StmtKind, StreamBody, StreamDecl, StreamKind, Work};
use sluice_grammar::span::Span;
use std::fmt::Write;
use tower_lsp::lsp_types::*;

/// Instances that are listed, at most.
const LISTED: usize = 8;
/// Values of a parameter that are listed, at most.
const VALUES: usize = 4;

/// The hover at a byte; `plain`: the client shows text as it is.
pub fn hover(view: &View, offset: u32, plain: bool) -> Option<Hover> {
    let (span, value) = content(view, offset)?;
    let contents = HoverContents::Markup(markup(value, plain));
    Some(Hover { contents, range: Some(view.text().range(span)) })
}

/// Our Markdown for a client that shows it, or, `plain`, text as it is.
pub fn markup(value: String, plain: bool) -> MarkupContent {
    match plain {
        true => MarkupContent { kind: MarkupKind::PlainText, value: plain_text(&value) },
        false => MarkupContent { kind: MarkupKind::Markdown, value },
    }
}

fn content(view: &View, offset: u32) -> Option<(Span, String)> {
    if let Some(u) = view.syntax.index().at(view.file, offset) {
        return Some((u.span, of_symbol(view, u)));
    }
    of_statement(view, offset).or_else(|| builtins::hover(view, offset))
}

/// Our Markdown without its marks: fences, rules, quotes of code, links.
fn plain_text(markdown: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut code = false;
    for line in markdown.lines() {
        if line.starts_with("```") {
            code = !code;
            continue;
        }
        let mut line = line.to_string();
        if !code {
            line.retain(|c| c != '`');
            while let Some(middle) = line.find("](")
                && let Some(open) = line[..middle].rfind('[')
                && let Some(close) = line[middle..].find(')')
            {
                line = format!("{}{}{}", &line[..open], &line[open + 1..middle], &line[middle + close + 1..]);
            }
            if let Some(inner) = line.strip_prefix('*').and_then(|l| l.strip_suffix('*')) {
                line = inner.to_string();
            }
        }
        let empty = line.is_empty() || !code && line == "---";
        if !empty {
            lines.push(line);
        } else if lines.last().is_some_and(|l| !l.is_empty()) {
            lines.push(String::new());
        }
    }
    lines.join("\n").trim_end().to_string()
}

fn of_symbol(view: &View, u: &Use) -> String {
    let symbol = view.syntax.index().symbol(u.symbol);
    let mut out = String::new();
    let _ = writeln!(out, "```str\n{}\n```", signature(view, u.symbol));
    if let Some(doc) = view.syntax.doc(symbol.whole) {
        let _ = writeln!(out, "\n{doc}");
    }
    match symbol.kind {
        SymbolKind::Stream(_) => {
            let Some(known) = &view.good else { return out };
            let add = addings(view.tree()).into_iter().rfind(|a| u.adds && a.stmt.at.0.touches(u.span.start));
            let of = match &add {
                Some(a) => instances(known, a.stmt.at.0),
                None => declared(known, symbol.header),
            };
            out.push_str(&of_instances(view, known, of, Some(symbol.header)));
        }
        SymbolKind::Static => {
            let program = view.good.as_ref().and_then(Known::program);
            let of = program.and_then(|p| p.globals.statics.iter().find(|s| s.name == symbol.name));
            if let Some(s) = of {
                let _ = writeln!(out, "\nstatic, value `{}`", show_argument(&s.value));
            }
        }
        SymbolKind::Field => {
            out.push_str("\nfield\n");
            if let Some(text) = field(view, u.symbol) {
                let _ = writeln!(out, "\n{text}");
            }
        }
        kind => {
            let _ = writeln!(out, "\n{}", kind.noun());
            if kind == SymbolKind::StreamParam
                && let Some(text) = parameter(view, u.symbol)
            {
                let _ = writeln!(out, "\n{text}");
            }
        }
    }
    out
}

/// A symbol's declaration in a line or two.
pub fn signature(view: &View, id: SymbolId) -> String {
    let symbol = view.syntax.index().symbol(id);
    let header = view.syntax.piece(symbol.header);
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match symbol.kind {
        SymbolKind::Stream(_) | SymbolKind::Function | SymbolKind::GroupFunction => {
            joined(header).trim_end_matches(';').trim_end().into()
        }
        SymbolKind::Handler => joined(header),
        SymbolKind::Struct => {
            let fields = view.syntax.index().members(id).map(|(m, _)| format!("{};", signature(view, m)));
            format!("struct {} {{ {} }}", symbol.name, fields.collect::<Vec<_>>().join(" "))
        }
        SymbolKind::Helper => format!("helper {}", symbol.name),
        SymbolKind::Native => format!("native {}", symbol.name),
        _ => {
            let ty = symbol.ty.as_ref().map_or("", |t| view.syntax.piece(t.at.0));
            format!("{} {}", joined(ty), symbol.name)
        }
    }
}

/// The values of a stream's parameter in its instances.
fn parameter(view: &View, id: SymbolId) -> Option<String> {
    let index = view.syntax.index();
    let stream = index.symbol(index.symbol(id).parent?);
    let at = stream.params.iter().position(|p| *p == id)?;
    let known = view.good.as_ref()?;
    let program = known.program()?;
    let of = declared(known, stream.header);
    let mut values: Vec<String> = Vec::new();
    for h in of {
        let h = hier(program, *h);
        let value = (*facts::arguments(&h.display, &h.name, stream.params.len())?.get(at)?).to_string();
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let shown: Vec<String> = values.iter().take(VALUES).map(|v| format!("`{v}`")).collect();
    let shown = shown.join(", ");
    Some(match values.len().saturating_sub(VALUES) {
        0 if values.is_empty() => return None,
        0 if values.len() == 1 => format!("its value is {shown}"),
        0 => format!("its values are {shown}"),
        more => format!("its values are {shown} and {more} more"),
    })
}

/// Is a field constant, and what is its value?
fn field(view: &View, id: SymbolId) -> Option<String> {
    let symbol = view.syntax.index().symbol(id);
    let known = view.good.as_ref()?;
    let then = known.then(symbol.span)?;
    let program = known.program()?;
    let codes = || program.codes.iter().filter(|c| c.fields.iter().any(|f| f.span == then));
    let fields = || codes().flat_map(|c| &c.fields).filter(|f| f.span == then);
    let first = fields().next()?;
    let value = facts::common(fields().map(|f| show_argument(&f.initial)));
    // as the filter itself has it: without state none of its fields is any
    let passes_on = |c: &FilterCode| {
        let private = || private_fields(c, &program.globals).iter().any(|id| c.fields[id.index()].span == then);
        c.stateful.is_some() && !private()
    };
    Some(match first.constant {
        true => format!("no firing writes it; its value is `{value}`"),
        false if codes().any(passes_on) => format!("state: a firing writes it; at the start `{value}`"),
        false => format!("no state: a firing writes it, and no later one reads what it wrote; at the start `{value}`"),
    })
}

/// All about some instances of one stream; `header` of its declaration (of now).
fn of_instances(view: &View, known: &Known, of: &[HierId], header: Option<Span>) -> String {
    let (Some(program), Some(first)) = (known.program(), of.first().copied()) else {
        let unused = view.latest.as_ref().is_some_and(|l| l.current && l.program().is_some());
        return if unused { "\nThe program never instantiates it.\n".into() } else { String::new() };
    };
    let mut out = String::from("\n---\n\n");
    if !known.current {
        out.push_str("*of the text before the last changes*\n\n");
    }
    let leaves: Vec<NodeId> = of.iter().filter_map(|h| leaf(program, *h)).collect();
    if leaves.len() == of.len() {
        of_leaves(view, known, program, &leaves, header, &mut out);
    } else {
        let _ = writeln!(out, "- items in a steady state: {}", facts::flow(known, of));
        let count = |kind: fn(&NodeKind) -> bool| {
            let inside = |h: HierId| {
                nodes_in(program, h).into_iter().filter(|n| kind(&program.graph.node(*n).kind)).count() as u64
            };
            spread(of.iter().map(|h| inside(*h)))
        };
        let filters = count(|k| matches!(k, NodeKind::Filter { .. }));
        let stateful = count(|k| matches!(k, NodeKind::Filter { stateful: true, .. }));
        let _ = match (&*filters, &*stateful) {
            ("1", "0") => writeln!(out, "- 1 filter, not stateful"),
            ("1", _) => writeln!(out, "- 1 filter, stateful"),
            (_, "0") => writeln!(out, "- {filters} filters, none of them stateful"),
            _ => writeln!(out, "- {filters} filters, {stateful} of them stateful"),
        };
        if let Some(Ok(s)) = of_schedule(view, known) {
            let nodes: Vec<NodeId> = of.iter().flat_map(|h| nodes_in(program, *h)).collect();
            let place = place(s, &nodes);
            for line in share(view, nodes).into_iter().chain(place) {
                let _ = writeln!(out, "- {line}");
            }
        }
    }
    if of.contains(&HierId(0))
        && let Some(text) = facts::interval(view)
    {
        let _ = writeln!(out, "- {text}");
    }
    if of.len() > 1 {
        let line = |h: &HierId| {
            let about = match leaf(program, *h) {
                Some(n) => format!("×{} · {}", program.steady.repetitions[n.index()], facts::rates(program, n)),
                None => facts::flow(known, &[*h]),
            };
            format!("`{}` {about}", hier(program, *h).display)
        };
        // those that follow one another and are alike are one line
        let alike = |from: usize, first: &str| of[from..].iter().take_while(|h| line(h) == first).count();
        let first = line(&of[0]);
        if alike(0, &first) == of.len() {
            let _ = writeln!(out, "\n{} instances, each {first}", of.len());
            return out;
        }
        let _ = writeln!(out, "\n{} instances:\n", of.len());
        let (mut listed, mut lines) = (0, 0);
        while listed < of.len() && lines < LISTED {
            let first = line(&of[listed]);
            let alike = alike(listed, &first);
            let times = if alike > 1 { format!("{alike} of ") } else { String::new() };
            let _ = writeln!(out, "- {times}{first}");
            (listed, lines) = (listed + alike, lines + 1);
        }
        if listed < of.len() {
            let _ = writeln!(out, "- … and {} more", of.len() - listed);
        }
    } else if hier(program, first).display != hier(program, first).name {
        let _ = writeln!(out, "\n`{}`", hier(program, first).display);
    }
    out
}

/// The schedule of an analysis, if it is the one that is known.
fn of_schedule<'v>(view: &'v View, known: &Known) -> Option<&'v Result<Schedule, String>> {
    view.schedule.as_ref().filter(|s| s.of.of.generation == known.of.generation).map(|s| &s.of.result)
}

/// The nodes in an instance: they follow one another.
fn nodes_in(program: &Elaborated, h: HierId) -> Vec<NodeId> {
    let (mut all, mut queue) = (Vec::new(), vec![h]);
    while let Some(h) = queue.pop() {
        let at = hier(program, h);
        all.extend(&at.nodes);
        queue.extend(&at.children);
    }
    all
}

fn of_leaves(
    view: &View,
    known: &Known,
    program: &Elaborated,
    leaves: &[NodeId],
    header: Option<Span>,
    out: &mut String,
) {
    let first = leaves[0];
    let steady = &program.steady;
    let _ = writeln!(out, "- rates: {}", facts::all_rates(program, leaves));
    if let Some(decl) = header.and_then(|h| declaration(view, h)) {
        for line in evaluated(view, program, leaves, decl) {
            let _ = writeln!(out, "  - {line}");
        }
    }
    let times = spread(leaves.iter().map(|n| steady.repetitions[n.index()]));
    let before = spread(leaves.iter().map(|n| steady.init[n.index()]));
    let _ = writeln!(out, "- fires {times}× in a steady state, {before}× before the first");
    if let Some(Ok(s)) = of_schedule(view, known) {
        let cycles = spread(leaves.iter().map(|n| s.plan.times.firing[n.index()]));
        let _ = match s.plan.times.lanes {
            1 => writeln!(out, "- work: {cycles} cycles a firing"),
            lanes => writeln!(out, "- work: {cycles} cycles for {lanes} firings side by side"),
        };
        if let Some(share) = share(view, leaves.to_vec()) {
            let _ = writeln!(out, "- {share}");
        }
        if let Some(place) = place(s, leaves) {
            let _ = writeln!(out, "- {place}");
        }
    }
    if let NodeKind::Filter { code, .. } = program.graph.node(first).kind
        && let Some(why) = program.codes[code.index()].stateful
    {
        let now = known.now(why).and_then(|s| location(view, s));
        let text = program_text(known, why);
        match now {
            Some(l) => {
                let (uri, line) = (l.uri, l.range.start.line + 1);
                let _ = writeln!(
                    out,
                    "- stateful: `{text}` in [line {line}]({uri}#L{line}) writes what a later firing reads"
                );
            }
            None => {
                let _ = writeln!(out, "- stateful: `{text}` writes what a later firing reads");
            }
        }
    }
    for (name, input) in [("in", true), ("out", false)] {
        let channel = |n: &NodeId| {
            let node = program.graph.node(*n);
            if input { node.inputs.first() } else { node.outputs.first() }.copied()
        };
        let channels: Vec<_> = leaves.iter().filter_map(channel).collect();
        let sizes: Vec<(u64, u64)> = channels.iter().filter_map(|c| buffer(program, *c)).collect();
        if sizes.is_empty() || sizes.len() < channels.len() {
            continue;
        }
        let items = match spread(sizes.iter().map(|s| s.0)) {
            one if one == "1" => "1 item".to_string(),
            several => format!("{several} items"),
        };
        let (least, most) = (sizes.iter().map(|s| s.1).min(), sizes.iter().map(|s| s.1).max());
        let bytes = match (least.map_or(String::new(), facts::bytes), most.map_or(String::new(), facts::bytes)) {
            (least, most) if least == most => least,
            (least, most) => format!("{least} to {most}"),
        };
        let waits = spread(channels.iter().map(|c| program.steady.boundary_fill[c.index()]));
        let kept = match &*waits {
            "0" => String::new(),
            "1" => "; 1 waits between steady states".to_string(),
            _ => format!("; {waits} wait between steady states"),
        };
        let _ = writeln!(out, "- buffer {name}: {items}, {bytes}{kept}");
    }
}

fn program_text(known: &Known, span: Span) -> String {
    let text = known.of.analysis.sources.text(span);
    let line = text.lines().next().unwrap_or("");
    line.chars().take(60).collect()
}

/// What part of the program's work, and of the II of one processor, some nodes are.
fn share(view: &View, nodes: Vec<NodeId>) -> Option<String> {
    let s = view.schedule.as_ref()?.of.result.as_ref().ok()?;
    let tasks = &s.plan.problem.graph().tasks;
    let mut of: Vec<usize> = nodes.iter().filter_map(|n| *s.task_of.get(n.index())?).collect();
    of.sort_unstable();
    of.dedup();
    let own: u128 = of.iter().map(|t| u128::from(tasks[*t].cost) * u128::from(tasks[*t].instances)).sum();
    let all = u128::from(s.plan.problem.graph().work().max(1));
    let tenths = (own * 1000 + all / 2) / all;
    let ii = s.outcome.verified.schedule().ii.max(1);
    let filled = own * 100 / u128::from(ii);
    let part = match tenths {
        0 if own > 0 => "less than 0.1 %".to_string(),
        _ => format!("{}.{} %", tenths / 10, tenths % 10),
    };
    let times = match filled {
        0 if own > 0 => "less than 0.01 times".to_string(),
        _ => format!("{}.{:02} times", filled / 100, filled % 100),
    };
    let inside = |t: &usize| tasks[*t].nodes.iter().all(|n| nodes.contains(n));
    let whole = if of.iter().all(inside) { "" } else { "with the rest of its loop, which is scheduled as one: " };
    Some(format!("{whole}{part} of the program's work: {times} the II of {ii} cycles"))
}

/// Where nodes run.
fn place(s: &Schedule, nodes: &[NodeId]) -> Option<String> {
    let problem = &s.plan.problem;
    let schedule = s.outcome.verified.schedule();
    let unit = match s.machine.kind {
        sluice_schedule::machine::Kind::Gpu => "SM",
        sluice_schedule::machine::Kind::Cpu => "core",
    };
    let mut of: Vec<usize> = nodes.iter().filter_map(|n| s.task_of[n.index()]).collect();
    // an instance of a stream that adds itself is in another one
    of.sort_unstable();
    of.dedup();
    let all: Vec<usize> =
        of.iter().flat_map(|t| (0..problem.graph().tasks[*t].instances).map(|k| problem.instance(*t, k))).collect();
    let mut processors: Vec<u32> = all.iter().map(|i| schedule.processor[*i]).collect();
    processors.sort_unstable();
    processors.dedup();
    let stages = spread(all.iter().map(|i| u64::from(schedule.stage[*i])));
    let on = match &processors[..] {
        [] => return None,
        [one] => format!("{unit} {one}"),
        few if few.len() <= 6 => format!("{unit}s {}", few.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
        many => format!("{} {unit}s", many.len()),
    };
    let instances = sluice_schedule::wording::count(all.len() as u64, "instance", "instances");
    Some(format!("runs as {instances} on {on}, stage {stages}"))
}

/// The declaration whose header is at a place (of now).
pub fn declaration(view: &View, header: Span) -> Option<&StreamDecl> {
    streams(view.syntax.tree(header.file)).into_iter().find(|s| s.header.0 == header)
}

/// The rates as they are written, and what they come to.
fn evaluated(view: &View, program: &Elaborated, leaves: &[NodeId], decl: &StreamDecl) -> Vec<String> {
    let StreamBody::Filter(members) = &decl.body else { return Vec::new() };
    let mut lines = Vec::new();
    for m in members {
        let (work, prework) = match m {
            Member::Work(w) => (w, false),
            Member::Prework(w) => (w, true),
            _ => continue,
        };
        for spec in &work.rates {
            if let Some(text) = evaluated_rate(view, program, leaves, spec, prework) {
                lines.push(format!("{}{text}", if prework { "first firing: " } else { "" }));
            }
        }
    }
    lines
}

fn evaluated_rate(
    view: &View,
    program: &Elaborated,
    leaves: &[NodeId],
    spec: &RateSpec,
    prework: bool,
) -> Option<String> {
    let Rate::Static(e) = &spec.rate else {
        return Some(format!("`{}`, which each firing decides", view.syntax.piece(spec.at.0)));
    };
    let values = leaves.iter().filter_map(|n| {
        let NodeKind::Filter { code, .. } = program.graph.node(*n).kind else { return None };
        let code = &program.codes[code.index()];
        let work = if prework { code.prework.as_ref()? } else { &code.work };
        Some(u64::from(match spec.kind {
            RateKind::Peek => work.rates.peek,
            RateKind::Pop => work.rates.pop,
            RateKind::Push => work.rates.push,
        }))
    });
    let keyword = match spec.kind {
        RateKind::Peek => "peek",
        RateKind::Pop => "pop",
        RateKind::Push => "push",
    };
    let written = view.syntax.piece(e.span());
    let value = spread(values);
    // a number needs no explanation
    (written != value && !value.is_empty()).then(|| format!("`{keyword} {written}` = {value}"))
}

/// Rates, `work`, splitters, joiners, `enqueue`s.
fn of_statement(view: &View, offset: u32) -> Option<(Span, String)> {
    let known = view.good.as_ref()?;
    let program = known.program()?;
    for s in streams(view.tree()).into_iter().rev().filter(|s| s.at.0.touches(offset)) {
        if let StreamBody::Filter(members) = &s.body {
            let of = declared(known, s.header.0);
            let leaves: Vec<NodeId> = of.iter().filter_map(|h| leaf(program, *h)).collect();
            for m in members {
                let (Member::Work(w) | Member::Prework(w)) = m else { continue };
                if let Some(found) =
                    of_work(view, known, program, &leaves, of, s, w, matches!(m, Member::Prework(_)), offset)
                {
                    return Some(found);
                }
            }
        }
    }
    let mut found = None;
    tree::statements(view.tree(), &mut |s| {
        if !s.at.0.touches(offset) {
            return;
        }
        match &s.kind {
            StmtKind::Split(_) | StmtKind::Join(_) => found = Some(s),
            StmtKind::Add { stream, .. } | StmtKind::Body { stream, .. } | StmtKind::Loop { stream, .. } => {
                let inside = match stream {
                    sluice_grammar::ast::StreamRef::Anonymous(d) => d.header.0.end < offset,
                    sluice_grammar::ast::StreamRef::Named { name, .. } => name.span().end < offset,
                };
                found = if inside { None } else { Some(s) };
            }
            _ => {}
        }
    });
    let s = found?;
    if !matches!(s.kind, StmtKind::Split(_) | StmtKind::Join(_)) {
        let of = instances(known, s.at.0);
        let text = of_instances(view, known, of, of.first().and_then(|h| known.now(hier(program, *h).decl)));
        let head = of.first().map(|h| format!("```str\n{}\n```\n", hier(program, *h).display))?;
        let end =
            addings(view.tree()).iter().find(|a| a.stmt.at.0 == s.at.0).map_or(s.at.0.end, facts::Adding::hint_at);
        return Some((Span { end, ..s.at.0 }, head + &text));
    }
    let then = known.then(s.at.0)?;
    let nodes: Vec<NodeId> = program.graph.node_ids().filter(|n| program.graph.node(*n).span == then).collect();
    let (first, count) = (*nodes.first()?, nodes.len());
    let times = spread(nodes.iter().map(|n| program.steady.repetitions[n.index()]));
    let mut text = format!(
        "{}: {}, fires {times}× in a steady state",
        program.graph.node(first).name,
        facts::rates(program, first)
    );
    if count > 1 {
        let _ = write!(text, " ({count} instances)");
    }
    Some((s.at.0, text))
}

#[allow(clippy::too_many_arguments)]
fn of_work(
    view: &View,
    known: &Known,
    program: &Elaborated,
    leaves: &[NodeId],
    of: &[HierId],
    s: &StreamDecl,
    w: &Work,
    prework: bool,
    offset: u32,
) -> Option<(Span, String)> {
    if leaves.is_empty() {
        return None;
    }
    if let Some(spec) = w.rates.iter().find(|r| r.at.0.touches(offset)) {
        let written = view.syntax.piece(spec.at.0);
        let value = evaluated_rate(view, program, leaves, spec, prework).unwrap_or_else(|| format!("`{written}`"));
        return Some((
            spec.at.0,
            format!(
                "{value}\n\n{}",
                facts::common(leaves.iter().map(|n| hier(program, program.graph.node(*n).hier).display.clone()))
            ),
        ));
    }
    w.keyword.0.touches(offset).then(|| {
        (w.keyword.0, of_instances(view, known, of, Some(s.header.0)).trim_start_matches("\n---\n\n").to_string())
    })
}

/// The kind of a symbol, for icons.
pub fn symbol_kind(kind: SymbolKind) -> tower_lsp::lsp_types::SymbolKind {
    use tower_lsp::lsp_types::SymbolKind as K;
    match kind {
        SymbolKind::Stream(StreamKind::Filter) => K::CLASS,
        SymbolKind::Stream(_) => K::MODULE,
        SymbolKind::Struct => K::STRUCT,
        SymbolKind::Member | SymbolKind::Field => K::FIELD,
        SymbolKind::Static => K::CONSTANT,
        SymbolKind::Helper | SymbolKind::Native => K::NAMESPACE,
        SymbolKind::GroupFunction => K::FUNCTION,
        SymbolKind::Function | SymbolKind::Handler => K::METHOD,
        SymbolKind::StreamParam | SymbolKind::Param | SymbolKind::Local => K::VARIABLE,
    }
}
