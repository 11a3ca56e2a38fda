//! # dependences
//!
//! Purpose: which instances wait for which. Input: a task graph. Output: [`Dependence`]s, each once. Invariant: distances are not negative.
//! Source: paper 001, equations (5) and (6), with algorithms.md's corrections: the l-th item that instance k needs, l from 1 to the *peek*
//! depth, is made by firing n = ⌈(k·I + l − m − O)/O⌉ of the producer; that is instance n mod k_u of the iteration ⌊n/k_u⌋ further on.
//!
//! ```text
//! A pushes 2, B pops 3 (k = 3, 2):   B[0] waits for A[0], A[1];  B[1] waits for A[1], A[2]
//! ```

use super::modulo::{MOST_DEPENDENCES, Unfit};
use super::task::{Edge, TaskGraph};

/// Instance `to` of iteration j waits for instance `from` of iteration j - `distance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependence {
    /// The instance that waits.
    pub to: usize,
    /// The instance that it waits for.
    pub from: usize,
    /// Iterations between them.
    pub distance: u64,
}

/// All dependences of a task graph, sorted; `first` has the index of each task's first instance.
pub fn dependences(graph: &TaskGraph, first: &[usize]) -> Result<Vec<Dependence>, Unfit> {
    let mut all = Vec::new();
    for (i, edge) in graph.edges.iter().enumerate() {
        along(graph, edge, first, &mut all).ok_or(Unfit::Unbalanced(i))??;
    }
    for (v, task) in graph.tasks.iter().enumerate().filter(|(_, t)| t.serial) {
        for k in 0..task.instances as usize {
            let (before, distance) = if k == 0 { (task.instances as usize - 1, 1) } else { (k - 1, 0) };
            all.push(Dependence { to: first[v] + k, from: first[v] + before, distance });
        }
    }
    for o in &graph.orders {
        let [to, from] = [o.after, o.before].map(|(v, k)| first[v] + k as usize);
        all.push(Dependence { to, from, distance: o.distance });
    }
    all.sort_unstable();
    all.dedup();
    // Of several distances between the same two the least one says it all.
    all.dedup_by_key(|d| (d.to, d.from));
    Ok(all)
}

/// Those of one edge; `None` where its numbers have no meaning.
fn along(graph: &TaskGraph, e: &Edge, first: &[usize], all: &mut Vec<Dependence>) -> Option<Result<(), Unfit>> {
    let (ku, kv) = (graph.tasks[e.from].instances, graph.tasks[e.to].instances);
    if e.produce == 0 && e.consume == 0 {
        return Some(Ok(()));
    }
    let balanced = e.produce.checked_mul(ku)? == e.consume.checked_mul(kv)?;
    let enough = e.peek >= e.consume && e.initial >= e.peek - e.consume;
    if !balanced || !enough || e.produce == 0 || e.produce.max(e.peek).max(e.initial) > 1 << 60 {
        return None;
    }
    let (o, m, ku) = (i128::from(e.produce), i128::from(e.initial), i128::from(ku));
    for k in 0..kv {
        // ⌈(x − O)/O⌉ = ⌊(x − 1)/O⌋ with x = k·I + l − m; from l = 1 to l = E it takes every value between
        let start = i128::from(k) * i128::from(e.consume) - m;
        let (least, most) = (start.div_euclid(o), (start + i128::from(e.peek) - 1).div_euclid(o));
        let newest = (most - ku + 1).max(least);
        for n in newest..=most {
            // Older firings of the same instance are implied by the newest one.
            let (instance, lag) = (n.rem_euclid(ku), n.div_euclid(ku));
            let distance = u64::try_from(-lag).ok()?;
            let to = first[e.to] + k as usize;
            all.push(Dependence { to, from: first[e.from] + instance as usize, distance });
        }
        if all.len() as u64 > MOST_DEPENDENCES {
            return Some(Err(Unfit::Dependences(all.len() as u64)));
        }
    }
    Some(Ok(()))
}
