//! # skip-zeros
//!
//! Purpose: nothing is multiplied by the zeroes that were put between items. Input: an elaborated program, the kernel of each filter. Output: a program that gives the same items, to
//! the last bit, at the same places in the order of firings; `None` where there is nothing to do.
//!
//! ```text
//! Up (push(pop()), then 7 zeroes) → LowPass of 32 taps     →     a filter that takes 1 item, looks at 4, and gives 8 of 4 taps each
//! ```
//!
//! A filter *stretches* where it gives items that it takes, or those times a constant, each once, and zeroes. Behind it stands one whose items are each 0 and then one product after the other of an
//! item and a constant. A product with a zero is a zero of either sign: what is added to 0 is never -0, so that adding that zero changes nothing. All other products are taken in the order in
//! which they were. Zeroes that wait between the two ([`super::delays`]) become zeroes that wait before the first.
//!
//! What must hold: the program has no messages and no dynamic rates; every other node fires as often as before in the initialisation and in a steady state, and the new filter gives its
//! items as soon as the two did ([`super::map::Map::steps`]).

use super::code::{Called, ordered};
use super::delays::{filter, follows, within_loops};
use super::extract::{Given, given};
use super::map::{Budget, Map, Row, Steps};
use super::rewrite::replaced;
use super::streams::{Piece, plain, plain_code};
use crate::ir::Kernel;
use sluice_frontend::Elaborated;
use sluice_frontend::constant::Const;
use sluice_frontend::graph_verify::debug_verify;
use sluice_frontend::ids::{CodeId, NodeId};
use sluice_frontend::steady_state::steady_state;
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::{FilterCode, Rates};
use sluice_grammar::ast::StreamKind;

/// Multiplications and additions that finding a filter's rates may take.
const WORK: u64 = 1 << 22;
/// Products of a firing of a new filter, at most.
const MOST: usize = 1 << 13;

/// A product that a filter's firing takes: an item of its window times a factor that the stretching filter had, where it had one, and times a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The item's place.
    pub at: u64,
    /// The factor that comes first.
    pub scale: Option<f64>,
    /// The constant.
    pub tap: f64,
}

/// A filter whose items are sums of products in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Ordered {
    /// Items taken and looked at.
    pub pop: u64,
    /// Items looked at.
    pub peek: u64,
    /// By item that a firing gives: its products.
    pub rows: Vec<Vec<Term>>,
    /// What the first firing gives besides, and how many items it looks at for that.
    pub first: Option<(Vec<Vec<Term>>, u64)>,
}

/// The program without products with zeroes that were put in.
pub fn skipped(program: &Elaborated, kernel: &mut dyn FnMut(&FilterCode) -> Option<Kernel>) -> Option<Elaborated> {
    if !plain(program) {
        return None;
    }
    let found = pairs(program, kernel);
    if found.is_empty() {
        return None;
    }
    // where all of them together change how often something else fires, so some may not
    let mut used: Vec<Pair> = Vec::new();
    match assemble(program, &found) {
        Some(all) => Some(all),
        None => {
            let mut made = None;
            for p in found {
                used.push(p);
                match assemble(program, &used) {
                    Some(some) => made = Some(some),
                    None => drop(used.pop()),
                }
            }
            made
        }
    }
}

/// A filter that stretches, the one behind it, and what they are together.
struct Pair {
    piece: Piece,
    filter: Ordered,
    /// Zeroes that wait before it.
    waiting: u64,
}

fn pairs(program: &Elaborated, kernel: &mut dyn FnMut(&FilterCode) -> Option<Kernel>) -> Vec<Pair> {
    let graph = &program.graph;
    let mut known: Vec<Option<Option<Vec<Given>>>> = vec![None; program.codes.len()];
    let mut of = |code: CodeId| {
        let code = code.index();
        known[code]
            .get_or_insert_with(|| {
                let kernel = quiet(&program.codes[code]).then(|| kernel(&program.codes[code])).flatten()?;
                given(&kernel, &kernel.work).ok()
            })
            .clone()
    };
    let loops = within_loops(&graph.hierarchy);
    let mut all: Vec<Pair> = Vec::new();
    for (i, h) in graph.hierarchy.iter().enumerate() {
        if h.kind != StreamKind::Pipeline || loops[i] {
            continue;
        }
        for pair in h.children.windows(2) {
            let (Some((a, up)), Some((b, sum))) = (filter(graph, pair[0]), filter(graph, pair[1])) else { continue };
            let both = [a, b].iter().all(|v| plain_code(&graph.node(*v).kind).is_some());
            let Some(zeros) = zeros_between(program, a).filter(|_| both && follows(graph, a, b)) else { continue };
            let (first, last) = (&program.codes[up.index()], &program.codes[sum.index()]);
            let ty = &first.input;
            let same = [&first.output, &last.input, &last.output].iter().all(|t| *t == ty);
            if !same || !matches!(ty, Ty::Float | Ty::Double) {
                continue;
            }
            let rates = first.work.rates;
            if rates.push <= rates.pop || rates.peek > rates.pop {
                continue;
            }
            let Some(places) = of(up).and_then(|given| stretch(&given)) else { continue };
            let Some(sum) = of(sum) else { continue };
            if let Some((filter, waiting)) = together((rates, &places), (last.work.rates, &sum), zeros) {
                all.push(Pair { piece: Piece::exact(pair.to_vec(), (a, b)), filter, waiting });
            }
        }
    }
    all.sort_by_key(|p| p.piece.nodes.0);
    all
}

/// Does a filter nothing but take and give items, and cannot fail? (What is left to check, [`given`] refuses.)
fn quiet(code: &FilterCode) -> bool {
    code.stateful.is_none()
        && code.prework.is_none()
        && !code.prints
        && code.init_output.is_empty()
        && code.calls_native.is_none()
        && code.sends.is_none()
        && !code.uses_iter
        && code.handlers.is_empty()
}

/// How many items wait behind a node, all of them 0; `None` where others do.
fn zeros_between(program: &Elaborated, v: NodeId) -> Option<u64> {
    let c = program.graph.node(v).outputs.first()?;
    let initial = &program.graph.channel(*c).initial;
    initial.iter().all(is_zero).then_some(initial.len() as u64)
}

fn is_zero(c: &Const) -> bool {
    match c {
        Const::Float(x) => x.to_bits() == 0,
        Const::Double(x) => x.to_bits() == 0,
        _ => false,
    }
}

/// What a stretching filter gives at a place: an item and its factor.
type Place = Option<(u32, Option<f64>)>;

/// What a stretching filter gives; `None` where it does something else.
fn stretch(items: &[Given]) -> Option<Vec<Place>> {
    let place = |g: &Given| match g {
        Given::Known(c) => is_zero(c).then_some(None),
        Given::Item(i) => Some(Some((*i, None))),
        Given::Product(i, c) => Some(Some((*i, Some(*c)))),
        Given::Sum(_) | Given::Other => None,
    };
    let places: Vec<Place> = items.iter().map(place).collect::<Option<_>>()?;
    let mut seen: Vec<u32> = places.iter().flatten().map(|(i, _)| *i).collect();
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    (seen.len() == count && count > 0 && count < places.len()).then_some(places)
}

/// The two as one filter, and how many zeroes wait before it.
fn together(
    (up_rates, places): (Rates, &[Place]),
    (sum_rates, sums): (Rates, &[Given]),
    zeros: u64,
) -> Option<(Ordered, u64)> {
    if up_rates.pop == 0 || sum_rates.pop == 0 {
        return None;
    }
    let terms = |g: &Given| match g {
        Given::Sum(terms) if terms.iter().all(|(_, c)| c.is_finite()) => Some(terms.clone()),
        _ => None,
    };
    let sums: Vec<Vec<(u32, f64)>> = sums.iter().map(terms).collect::<Option<_>>()?;
    // what waits between the two is what comes of so many firings on zeroes, but for the first `early` items of it
    let push = places.len() as u64;
    let before = zeros.div_ceil(push);
    let early = before * push - zeros;
    let taken = u64::from(up_rates.pop);
    let place = |i: u64| {
        let (firing, slot) = ((i + early) / push, (i + early) % push);
        places[slot as usize].map(|(item, scale)| (firing * taken + u64::from(item), scale))
    };
    // when items come does not depend on what they are
    let timing = |(i, p): (u64, &Place)| {
        let later = if i < early { taken } else { 0 };
        let row =
            p.map_or(Row::default(), |(item, _)| Row { start: u64::from(item) + later, taps: vec![1.0], plus: 0.0 });
        (row, u64::from(up_rates.peek) + later)
    };
    let all: Vec<(Row, u64)> = (0..push).zip(places).map(timing).collect();
    let (early_rows, others) = all.split_at(early as usize);
    let (rows, need) = others.iter().chain(early_rows).cloned().unzip();
    let stretched = Map { pop: taken, rows, need };
    let row = |terms: &Vec<(u32, f64)>| {
        let mut taps = vec![0.0; sum_rates.peek as usize];
        terms.iter().for_each(|(i, _)| taps[*i as usize] = 1.0);
        Row { start: 0, taps, plus: 0.0 }
    };
    let map = Map::of_filter(sum_rates.pop, sum_rates.peek, sums.iter().map(row).collect()).ok()?;
    let Steps { first, rows, pop, peek } = stretched.then(&map, &mut Budget(WORK)).ok()?.steps()?;
    // the same items with their products in order
    let ahead = first.as_ref().map_or(0, |(rows, _)| rows.len() as u64);
    let row = |i: u64| {
        let (firing, which) = (i / sums.len() as u64, (i % sums.len() as u64) as usize);
        let from = firing * u64::from(sum_rates.pop);
        let term = |(p, tap): &(u32, f64)| place(from + u64::from(*p)).map(|(at, scale)| Term { at, scale, tap: *tap });
        sums[which].iter().filter_map(term).collect::<Vec<Term>>()
    };
    let mut made = Ordered {
        pop,
        peek,
        rows: (ahead..ahead + rows.len() as u64).map(row).collect(),
        first: first.map(|(_, peek)| ((0..ahead).map(row).collect(), peek)),
    };
    // items that nothing looks at need not wait
    let rows = || made.rows.iter().chain(made.first.iter().flat_map(|(rows, _)| rows));
    let least = rows().flatten().map(|t| t.at).min().unwrap_or(0);
    let first = made.first.as_ref().map_or(u64::MAX, |(_, peek)| peek - 1);
    let spare = least.min(first).min(made.peek - made.pop).min(before * taken) / taken * taken;
    let products: usize = rows().map(Vec::len).sum();
    let inside = rows().flatten().all(|t| t.at < made.peek);
    if products > MOST || products == 0 || !inside {
        return None;
    }
    let all = made.rows.iter_mut().chain(made.first.iter_mut().flat_map(|(rows, _)| rows));
    all.flatten().for_each(|t| t.at -= spare);
    made.peek -= spare;
    made.first.iter_mut().for_each(|(_, peek)| *peek -= spare);
    Some((made, before * taken - spare))
}

fn assemble(program: &Elaborated, pairs: &[Pair]) -> Option<Elaborated> {
    let mut codes = program.codes.clone();
    let mut known: Vec<(&Ordered, Ty, CodeId)> = Vec::new();
    let mut ids = Vec::with_capacity(pairs.len());
    for p in pairs {
        let of = |v: NodeId| plain_code(&program.graph.node(v).kind).map(|c| &program.codes[c.index()]);
        let (up, sum) = (of(p.piece.nodes.0)?, of(p.piece.nodes.1)?);
        let same = known.iter().find(|(o, ty, _)| **o == p.filter && *ty == up.input).map(|(.., id)| *id);
        let id = match same {
            Some(id) => id,
            None => {
                let called = Called {
                    decl: sum.decl,
                    name: sum.name.clone(),
                    display: format!("{} and {} as one filter", up.display, sum.display),
                    span: sum.span,
                };
                codes.push(ordered(&p.filter, &up.input, called)?);
                let id = CodeId::from(codes.len() - 1);
                known.push((&p.filter, up.input.clone(), id));
                id
            }
        };
        ids.push(id);
    }
    let pieces: Vec<_> = pairs.iter().zip(&ids).map(|(p, id)| (&p.piece, *id, &codes[id.index()])).collect();
    let (mut graph, place) = replaced(&program.graph, &pieces);
    for p in pairs {
        let node = graph.node(place[p.piece.nodes.0.index()]);
        let input = *node.inputs.first()?;
        let c = &mut graph.channels[input.index()];
        let zero = if c.ty == Ty::Double { Const::Double(0.0) } else { Const::Float(0.0) };
        let later = std::mem::take(&mut c.initial);
        c.initial = std::iter::repeat_n(zero, p.waiting as usize).chain(later).collect();
    }
    debug_verify(&graph, "skip-zeros");
    let steady = steady_state(&graph).ok()?;
    let gone = |v: NodeId| pairs.iter().any(|p| (p.piece.nodes.0..=p.piece.nodes.1).contains(&v));
    let same = |v: NodeId| {
        let (old, new) = (v.index(), place[v.index()].index());
        let (a, b) = (&program.steady, &steady);
        gone(v) || a.repetitions[old] == b.repetitions[new] && a.init[old] == b.init[new]
    };
    let same = program.graph.node_ids().all(same);
    same.then(|| Elaborated { codes, graph, steady, ..program.clone() })
}
