//! Graphs for tests: from text, and random ones that balance by construction.

pub use crate::dice::Dice;
use sluice_frontend::constant::Const;
use sluice_frontend::graph::*;
use sluice_frontend::ids::*;
use sluice_frontend::steady_state::{SteadyState, steady_state};
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::Rates;
use sluice_grammar::span::Span;

/// A node with any number of ports. A prework makes it a filter, all of whose ports have the prework's rates once.
pub fn node(g: &mut SdfGraph, prework: Option<Rates>) -> NodeId {
    let id = NodeId::from(g.nodes.len());
    let kind = match prework {
        None => NodeKind::Duplicate,
        Some(_) => NodeKind::Filter {
            code: CodeId(0),
            rates: Rates::default(),
            prework,
            stateful: false,
            prints: false,
            dynamic: false,
        },
    };
    let (path, name) = (format!("N#{}", id.0), "N".to_string());
    let (inputs, outputs, span, hier) = (Vec::new(), Vec::new(), Span::default(), HierId(0));
    g.nodes.push(Node { path, name, kind, inputs, outputs, span, hier });
    id
}

/// A channel; `feedback` where it does not lead forward.
pub fn channel(g: &mut SdfGraph, from: u32, to: u32, rates: Rates, items: u64) -> ChannelId {
    let id = ChannelId::from(g.channels.len());
    let (out, into) = (g.nodes[from as usize].outputs.len() as u32, g.nodes[to as usize].inputs.len() as u32);
    g.nodes[from as usize].outputs.push(id);
    g.nodes[to as usize].inputs.push(id);
    g.channels.push(Channel {
        from: (NodeId(from), out),
        to: (NodeId(to), into),
        ty: Ty::Int,
        produce: rates.push,
        consume: rates.pop,
        peek: rates.peek.max(rates.pop),
        initial: vec![Const::Int(0); items as usize],
        feedback: from >= to,
        dynamic: false,
    });
    id
}

/// `push` and `pop`.
pub fn rates(push: u32, pop: u32) -> Rates {
    Rates { push, pop, peek: pop }
}

/// A graph of channels `(from, to, push, pop, items)` between as many nodes as they name.
pub fn graph(channels: &[(u32, u32, u32, u32, u64)]) -> SdfGraph {
    let mut g = SdfGraph::default();
    let nodes = channels.iter().map(|c| c.0.max(c.1) + 1).max().unwrap_or(1);
    (0..nodes).for_each(|_| {
        node(&mut g, None);
    });
    for (from, to, push, pop, items) in channels {
        channel(&mut g, *from, *to, rates(*push, *pop), *items);
    }
    g
}

pub fn steady(g: &SdfGraph) -> SteadyState {
    steady_state(g).unwrap_or_else(|d| panic!("{:?}\n{}", d, sluice_frontend::graph_text::print(g)))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What a random graph may have.
#[derive(Clone, Copy)]
pub struct Wanted {
    pub loops: bool,
    pub peeks: bool,
    pub preworks: bool,
    pub zeros: bool,
    /// One channel whose rates do not fit the others.
    pub clash: bool,
}

/// Everything.
pub const ALL: Wanted = Wanted { loops: true, peeks: true, preworks: true, zeros: true, clash: false };

/// A random graph that balances by construction: repetitions are chosen first, rates after them.
pub fn random(seed: u64, wanted: Wanted) -> SdfGraph {
    let mut d = Dice::new(seed);
    let mut g = SdfGraph::default();
    let n = 1 + d.roll(8) as u32;
    let mut q = Vec::new();
    for _ in 0..n {
        let prework = (wanted.preworks && d.roll(6) == 0).then(|| {
            let pop = d.roll(4) as u32;
            Rates { push: d.roll(5) as u32, pop, peek: pop + (d.roll(3) * d.roll(2)) as u32 }
        });
        node(&mut g, prework);
        q.push(1 + d.roll(6) * d.roll(2) + d.roll(3));
    }
    let join = |g: &mut SdfGraph, d: &mut Dice, a: u32, b: u32| {
        let (qa, qb) = (q[a as usize], q[b as usize]);
        let common = gcd(qa, qb);
        let k = 1 + d.roll(3) * d.roll(2);
        let (mut push, mut pop) = ((qb / common * k) as u32, (qa / common * k) as u32);
        if wanted.zeros && d.roll(12) == 0 {
            match d.roll(4) {
                0 => push = 0,
                1 => pop = 0,
                _ => (push, pop) = (0, 0),
            }
        }
        let peek = pop + if wanted.peeks { (d.roll(5) * d.roll(2)) as u32 } else { 0 };
        let items = if a >= b {
            // around what a loop needs: often enough, often not
            d.roll(u64::from(pop) * qb + u64::from(peek) + 2) + d.roll(2) * u64::from(peek)
        } else {
            d.roll(3) * d.roll(2)
        };
        channel(g, a, b, Rates { push, pop, peek }, items);
    };
    for v in 1..n {
        // mostly one piece
        if d.roll(8) > 0 {
            let u = d.roll(u64::from(v)) as u32;
            join(&mut g, &mut d, u, v);
        }
    }
    for _ in 0..d.roll(4) {
        let (a, b) = (d.roll(u64::from(n)) as u32, d.roll(u64::from(n)) as u32);
        match wanted.loops {
            true => join(&mut g, &mut d, a, b),
            false if a != b => join(&mut g, &mut d, a.min(b), a.max(b)),
            false => {}
        }
    }
    if wanted.clash && !g.channels.is_empty() {
        let c = d.roll(g.channels.len() as u64) as usize;
        g.channels[c].produce += 1 + d.roll(2) as u32;
    }
    g
}

/// The channels of a graph that lie in a feedback loop: from whose end their start can be reached.
pub fn in_loop(g: &SdfGraph) -> Vec<bool> {
    let parts = sluice_frontend::components::components(g);
    let mut of = vec![0; g.nodes.len()];
    for (i, p) in parts.iter().enumerate() {
        p.iter().for_each(|n| of[n.index()] = i);
    }
    g.channels.iter().map(|c| of[c.from.0.index()] == of[c.to.0.index()]).collect()
}
