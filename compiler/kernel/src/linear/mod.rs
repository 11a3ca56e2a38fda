//! # linear
//!
//! Purpose: filters that are affine maps of their windows, found, combined and, where that is cheaper, done in the frequency domain. Input: an elaborated program, the kernel of
//! each filter. Output: [`Rewritten`]: an ordinary program in which such streams are one filter each, and what was found. It gives the same number of items as
//! the program does for every length of input, at the same places in the order of firings; their values differ by rounding.
//!
//! ```text
//! LowPass(64) → split → (Gain, LowPass(16)) → join → Adder(2)     →     one filter of 79 coefficients
//! ```
//!
//! [`extract`] finds maps, [`map`] combines them, [`choose`] knows what they cost, [`streams`] chooses what becomes one filter, [`code`] writes it, [`rewrite`] puts it in its place.
//! [`delays`] and [`zeros`] are passes of their own, which change no bit, without `--fast-math` too.
//!
//! A filter for the frequency domain keeps its rates and its code: [`sluice_frontend::typed::FilterCode::convolution`] says besides what its firings are, for a back end that does many at once.
//!
//! What must hold: the program has no messages and no dynamic rates; after the change, everything that stays fires as often in the initialisation and in a steady state
//! as before, else it is not made.

pub mod choose;
pub mod code;
pub mod delays;
pub mod extract;
pub mod map;
#[cfg(test)]
mod map_tests;
pub mod report;
pub mod rewrite;
pub mod streams;
pub mod zeros;

use self::choose::Mode;
use self::extract::Why;
use self::map::{Map, Steps};
use self::report::{Found, Made, Report};
use self::streams::{Piece, Streams, plain_code};
use crate::ir::Kernel;
use sluice_frontend::Elaborated;
use sluice_frontend::convolution::{Convolution, Row};
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::graph_verify::debug_verify;
use sluice_frontend::ids::{CodeId, NodeId};
use sluice_frontend::steady_state::steady_state;
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::FilterCode;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// Bytes of the buffers between filters that a batch is taken to fill.
const BATCH_BYTES: u64 = 256 << 10;
/// Points of all spectra of a program: 32 MiB.
const MOST_POINTS: u64 = 1 << 22;
/// Where all replacements together change how often something else fires, so many are tried one by one.
const ONE_BY_ONE: usize = 32;

/// What has become of a program.
#[derive(Debug)]
pub struct Rewritten {
    /// The program; `None` where it stays as it is.
    pub program: Option<Elaborated>,
    /// What was found.
    pub report: Report,
}

/// Finds and combines the linear parts of a program. `kernel`: a filter's, channels lowered, without lanes; `None` where it has none.
pub fn rewrite(program: &Elaborated, mode: Mode, kernel: &mut dyn FnMut(&FilterCode) -> Option<Kernel>) -> Rewritten {
    let mut report = Report { mode, ..Report::default() };
    let reason = if mode == Mode::Off {
        Some("nobody wants it")
    } else if !program.messages.links.is_empty()
        || !program.portals.is_empty()
        || !program.steady.precedences.is_empty()
    {
        Some("the program sends messages")
    } else if program.steady.islands.is_some() {
        Some("the program has dynamic rates")
    } else {
        None
    };
    if reason.is_some() {
        report.refused = reason;
        return Rewritten { program: None, report };
    }
    let maps = maps(program, kernel);
    report.found = found(program, &maps);
    let batch = batch(program);
    let mut pieces =
        streams::pieces(&Streams { graph: &program.graph, steady: &program.steady, maps: &maps, mode, batch });
    bound(&mut pieces);
    let (new, used) = match assemble(program, &pieces) {
        Some(new) => (Some(new), pieces),
        None if pieces.len() > ONE_BY_ONE => (None, Vec::new()),
        None => one_by_one(program, pieces),
    };
    report.made = used.iter().map(|p| Made::of(program, p)).collect();
    Rewritten { program: new, report }
}

/// What each filter computes, by code.
fn maps(program: &Elaborated, kernel: &mut dyn FnMut(&FilterCode) -> Option<Kernel>) -> Vec<Result<Rc<Map>, Why>> {
    let mut used = vec![false; program.codes.len()];
    program.graph.nodes.iter().filter_map(|n| plain_code(&n.kind)).for_each(|c| used[c.index()] = true);
    let of = |(i, code): (usize, &FilterCode)| {
        if code.stateful.is_some() {
            return Err("it keeps something from one firing to the next");
        }
        if code.prework.is_some() {
            return Err("its first firing differs");
        }
        if code.prints || !code.init_output.is_empty() {
            return Err("it prints");
        }
        if !used[i] || code.calls_native.is_some() || code.sends.is_some() || code.uses_iter {
            return Err("it does something that is not looked at here");
        }
        let kernel = kernel(code).ok_or("it has no kernel")?;
        let rates = code.work.rates;
        let rows = extract::rows(&kernel)?;
        Map::of_filter(rates.pop, rates.peek, rows).map(Rc::new).map_err(|_| "its window is too large")
    };
    program.codes.iter().enumerate().map(of).collect()
}

fn found(program: &Elaborated, maps: &[Result<Rc<Map>, Why>]) -> Vec<Found> {
    let mut count = vec![0; maps.len()];
    for n in &program.graph.nodes {
        if let NodeKind::Filter { code, .. } = &n.kind {
            count[code.index()] += 1;
        }
    }
    let of = |((code, map), times): ((&FilterCode, &Result<Rc<Map>, Why>), usize)| Found {
        filter: code.display.clone(),
        times,
        rates: code.work.rates,
        coefficients: map.as_ref().map(|m| m.taps()).map_err(|why| *why),
    };
    program.codes.iter().zip(maps).zip(count).filter(|(_, n)| *n > 0).map(of).collect()
}

/// Steady states that run at once, about.
fn batch(program: &Elaborated) -> u64 {
    let bytes = program.graph.channels.iter().map(|c| {
        let size = if c.ty == Ty::Double { 8 } else { 4 };
        program.steady.repetitions[c.from.0.index()].saturating_mul(u64::from(c.produce) * size)
    });
    (BATCH_BYTES / bytes.fold(0, u64::saturating_add).max(1)).max(1)
}

/// Beyond so many points of spectra, what is left stays item by item.
fn bound(pieces: &mut Vec<Piece>) {
    let mut left = MOST_POINTS;
    pieces.retain_mut(|p| {
        let Some(log2) = p.way.log2 else { return true };
        let points = (p.steps.rows.len() as u64) << log2;
        if points <= left {
            left -= points;
            return true;
        }
        p.way = choose::choose(&p.steps, Mode::Direct, 1, true);
        p.nodes.0 != p.nodes.1
    });
}

/// Some of the pieces, each kept where nothing else changes by it.
fn one_by_one(program: &Elaborated, pieces: Vec<Piece>) -> (Option<Elaborated>, Vec<Piece>) {
    let (mut made, mut used): (Option<Elaborated>, Vec<Piece>) = (None, Vec::new());
    for p in pieces {
        used.push(p);
        match assemble(program, &used) {
            Some(program) => made = Some(program),
            None => drop(used.pop()),
        }
    }
    (made, used)
}

/// The program with the pieces replaced; `None` where there are none, or something else would fire differently.
fn assemble(program: &Elaborated, pieces: &[Piece]) -> Option<Elaborated> {
    if pieces.is_empty() {
        return None;
    }
    let mut codes = program.codes.clone();
    let mut known: HashMap<Key, CodeId> = HashMap::new();
    let mut ids = Vec::with_capacity(pieces.len());
    for p in pieces {
        let key = Key::of(program, p);
        let id = match known.get(&key) {
            Some(id) => *id,
            None => {
                codes.push(filter(program, p)?);
                let id = CodeId::from(codes.len() - 1);
                known.insert(key, id);
                id
            }
        };
        ids.push(id);
    }
    let all: Vec<_> = pieces.iter().zip(&ids).map(|(p, id)| (p, *id, &codes[id.index()])).collect();
    let (graph, place) = rewrite::replaced(&program.graph, &all);
    debug_verify(&graph, "linear");
    let steady = steady_state(&graph).ok()?;
    let mut replaced = vec![false; program.graph.nodes.len()];
    pieces.iter().for_each(|p| replaced[p.nodes.0.index()..=p.nodes.1.index()].fill(true));
    let same = |v: NodeId| {
        let (old, new) = (v.index(), place[v.index()].index());
        let (a, b) = (&program.steady, &steady);
        a.repetitions[old] == b.repetitions[new] && a.init[old] == b.init[new]
    };
    if !program.graph.node_ids().filter(|v| !replaced[v.index()]).all(same) {
        return None;
    }
    Some(Elaborated { codes, graph, steady, ..program.clone() })
}

/// What makes two pieces' filters equal.
#[derive(PartialEq, Eq, Hash)]
struct Key(Option<CodeId>, Option<u32>, [Ty; 2], Vec<u64>);

impl Key {
    fn of(program: &Elaborated, p: &Piece) -> Key {
        let mut bits = vec![p.steps.pop, p.steps.peek];
        let mut add = |rows: &[map::Row]| {
            bits.push(rows.len() as u64);
            for r in rows {
                bits.extend([r.start, r.plus.to_bits(), r.taps.len() as u64]);
                bits.extend(r.taps.iter().map(|t| t.to_bits()));
            }
        };
        add(&p.steps.rows);
        if let Some((rows, peek)) = &p.steps.first {
            add(rows);
            bits.push(*peek);
        }
        Key(single(program, p), p.way.log2, types(&program.graph, p), bits)
    }
}

/// The code of a piece that is one filter.
fn single(program: &Elaborated, p: &Piece) -> Option<CodeId> {
    (p.nodes.0 == p.nodes.1).then(|| plain_code(&program.graph.node(p.nodes.0).kind)).flatten()
}

fn types(graph: &SdfGraph, p: &Piece) -> [Ty; 2] {
    let (a, b) = (graph.node(p.nodes.0).inputs.first(), graph.node(p.nodes.1).outputs.first());
    [a, b].map(|c| c.map_or(Ty::Void, |c| graph.channel(*c).ty.clone()))
}

/// The filter that a piece becomes.
fn filter(program: &Elaborated, p: &Piece) -> Option<FilterCode> {
    let made = match single(program, p) {
        Some(code) => program.codes[code.index()].clone(),
        None => {
            let within = program.graph.nodes.get(p.nodes.0.index()..=p.nodes.1.index())?;
            let mut filters = within.iter().filter_map(|n| plain_code(&n.kind));
            let first = &program.codes[filters.next()?.index()];
            let others = filters.count();
            let called = code::Called {
                decl: first.decl,
                name: format!("{}_and_others", first.name).into(),
                display: match others {
                    0 => format!("{} as a linear filter", first.display),
                    n => format!("{} and {n} more as one linear filter", first.display),
                },
                span: first.span,
            };
            let [input, output] = types(&program.graph, p);
            code::filter(&p.steps, (&input, &output), called)?
        }
    };
    let convolution = p.way.log2.map(|log2| Arc::new(convolution(&p.steps, log2)));
    Some(FilterCode { convolution, ..made })
}

fn convolution(steps: &Steps, log2: u32) -> Convolution {
    let row = |r: &map::Row| Row { start: r.start as u32, taps: r.taps.clone(), plus: r.plus };
    Convolution { log2, rows: steps.rows.iter().map(row).collect(), least: choose::least(steps, log2) }
}
