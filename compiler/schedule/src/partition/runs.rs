//! # runs
//!
//! Purpose: cuts a topological order of components into stages so that the slowest thread has as little to do as possible; of equals the fewest
//! cycles for crossings. Input: problem, components, order. Output: [`Runs`], the best of all cuts of this order: for a chain, which has
//! one order, the best partition there is (but for firings made twice, which this does not see).
//!
//! Dynamic programming: best(i, n) for the first i components on n threads is the least over the last run j..i and its threads r of
//! max(best(j, n - r), load(j..i) / r). Orders that are too long for that are first gathered into chunks. Two replicated runs never follow each
//! other: as one they would be better.

use super::order::{Components, Runs};
use super::problem::Problem;

/// Steps that the table may take to fill.
const STEPS: usize = 20_000_000;

#[derive(Clone, Copy)]
struct Cell {
    /// The slowest run: cycles and threads.
    worst: (u64, u64),
    crossing: u64,
    /// Where the last run begins, its threads, and was the state before that of a replicated run?
    from: usize,
    replicas: usize,
    before: usize,
}

fn slower(a: (u64, u64), b: (u64, u64)) -> std::cmp::Ordering {
    (u128::from(a.0) * u128::from(b.1)).cmp(&(u128::from(b.0) * u128::from(a.1)))
}

/// The best cut of an order. `None` where there is nothing to cut.
pub fn cut(problem: &Problem<'_>, whole: &Components, order: &[usize], replicate: bool) -> Option<Runs> {
    let threads = problem.threads.clamp(1, 256);
    let chunks = chunks(whole, order, ((STEPS as f64).sqrt() as usize / threads).clamp(8, 600));
    let n = chunks.len();
    let mut place = vec![0usize; whole.len()];
    for (at, chunk) in chunks.iter().enumerate() {
        chunk.iter().for_each(|i| place[*i] = at);
    }
    // best[i][t][r]: the first i chunks on t threads, the last run replicated (r = 1) or not
    let mut best: Vec<Vec<[Option<Cell>; 2]>> = vec![vec![[None, None]; threads + 1]; n + 1];
    best[0][0][0] = Some(Cell { worst: (0, 1), crossing: 0, from: 0, replicas: 0, before: 0 });
    for i in 1..=n {
        let (mut load, mut tolls, mut stateless) = (0u64, 0i128, true);
        for j in (0..i).rev() {
            for c in &chunks[j] {
                load = load.saturating_add(whole.load[*c]);
                stateless &= whole.stateless[*c];
                for (other, toll) in whole.next[*c].iter().chain(&whole.last[*c]) {
                    // what crosses now, or was within the run but for this chunk
                    let inside = (j..i).contains(&place[*other]) && place[*other] != j;
                    let within = place[*other] == j;
                    tolls += if within {
                        0
                    } else if inside {
                        -i128::from(*toll)
                    } else {
                        i128::from(*toll)
                    };
                }
            }
            let toll = u64::try_from(tolls.max(0)).unwrap_or(u64::MAX);
            let cycles = load.saturating_add(toll);
            let most = if stateless && replicate { threads } else { 1 };
            for r in 1..=most {
                for t in r..=threads {
                    for before in [0, 1] {
                        if r > 1 && before == 1 {
                            continue;
                        }
                        let Some(cell) = best[j][t - r][before] else { continue };
                        let mine = (cycles, r as u64);
                        let worst = if slower(mine, cell.worst).is_gt() { mine } else { cell.worst };
                        let crossing = cell.crossing.saturating_add(toll);
                        let kind = usize::from(r > 1);
                        let better = best[i][t][kind]
                            .is_none_or(|old| slower(worst, old.worst).then(crossing.cmp(&old.crossing)).is_lt());
                        if better {
                            best[i][t][kind] = Some(Cell { worst, crossing, from: j, replicas: r, before });
                        }
                    }
                }
            }
        }
    }
    let ends = (1..=threads).flat_map(|t| [(t, 0), (t, 1)]);
    let (mut t, mut kind) = ends
        .filter_map(|(t, k)| best[n][t][k].map(|cell| (t, k, cell)))
        .min_by(|a, b| slower(a.2.worst, b.2.worst).then((a.0, a.2.crossing).cmp(&(b.0, b.2.crossing))))
        .map(|(t, k, _)| (t, k))?;
    let mut cuts = Vec::new();
    let mut i = n;
    while i > 0 {
        let cell = best[i][t][kind]?;
        cuts.push((cell.from, i, cell.replicas));
        (i, t, kind) = (cell.from, t - cell.replicas, cell.before);
    }
    cuts.reverse();
    let mut runs = Runs { stage: vec![0; whole.len()], replicas: Vec::new() };
    for (s, (from, to, replicas)) in cuts.into_iter().enumerate() {
        runs.replicas.push(replicas);
        chunks[from..to].iter().flatten().for_each(|c| runs.stage[*c] = s);
    }
    Some(runs)
}

/// Gathers an order into at most about `most` chunks of about the same load; each component alone where they are few.
fn chunks(whole: &Components, order: &[usize], most: usize) -> Vec<Vec<usize>> {
    if order.len() <= most {
        return order.iter().map(|i| vec![*i]).collect();
    }
    let total: u128 = whole.load.iter().map(|l| u128::from(*l) + 1).sum();
    let share = (total / most as u128).max(1);
    let (mut out, mut sum): (Vec<Vec<usize>>, u128) = (Vec::new(), 0);
    for i in order {
        let load = u128::from(whole.load[*i]) + 1;
        if sum == 0 || sum + load > share {
            out.push(Vec::new());
            sum = 0;
        }
        sum += load;
        if let Some(chunk) = out.last_mut() {
            chunk.push(*i);
        }
    }
    out
}
