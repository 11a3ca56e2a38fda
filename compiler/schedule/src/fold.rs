//! # fold
//!
//! Purpose: a sequence of firings as loops where it repeats itself. Input: steps. Output: steps that mean the same.
//! Example: `A B A B A B C` → `3·(A B) C`. Each pass folds immediate repetitions of up to [`PERIOD`] steps; passes go on while they
//! shorten, so that loops nest. Limit: [`DEPTH`] passes.

use crate::sequential::Step;

/// The longest repetition that is found.
const PERIOD: usize = 16;
/// Passes, and so the depth of loops that folding makes.
const DEPTH: usize = 8;

/// Folds repetitions.
pub fn fold(mut steps: Vec<Step>) -> Vec<Step> {
    for _ in 0..DEPTH {
        let before = steps.len();
        steps = pass(steps);
        if steps.len() == before {
            break;
        }
    }
    steps
}

/// Folds once, the bodies of the loops that this makes too.
fn pass(steps: Vec<Step>) -> Vec<Step> {
    let mut out: Vec<Step> = Vec::new();
    let mut i = 0;
    while i < steps.len() {
        // the repetition that replaces most steps
        let (mut len, mut times) = (1, 1);
        for l in 1..=PERIOD.min((steps.len() - i) / 2) {
            let rest = &steps[i..];
            let same = rest.iter().zip(&rest[l..]).take_while(|(a, b)| a == b).count();
            let t = same / l + 1;
            if t > 1 && l * t > len * times {
                (len, times) = (l, t);
            }
        }
        match &steps[i] {
            // n times a step that happens m times is n·m times that step
            Step::Fire { node, times: each } if len == 1 => match each.checked_mul(times as u64) {
                Some(times) => out.push(Step::Fire { node: *node, times }),
                None => out.push(Step::Loop { times: times as u64, body: steps[i..=i].to_vec() }),
            },
            step if times == 1 => out.push(step.clone()),
            _ => out.push(Step::Loop { times: times as u64, body: pass(steps[i..i + len].to_vec()) }),
        }
        i += len * times;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_frontend::ids::NodeId;

    fn fire(n: u32) -> Step {
        Step::Fire { node: NodeId(n), times: 1 }
    }

    /// The firings one by one.
    fn unfold(steps: &[Step], out: &mut Vec<u32>) {
        for s in steps {
            match s {
                Step::Fire { node, times } => (0..*times).for_each(|_| out.push(node.0)),
                Step::Loop { times, body } => (0..*times).for_each(|_| unfold(body, out)),
            }
        }
    }

    #[test]
    fn repetitions_become_loops() {
        let text: Vec<Step> = "0101013".bytes().map(|b| fire(u32::from(b - b'0'))).collect();
        assert_eq!(fold(text), [Step::Loop { times: 3, body: vec![fire(0), fire(1)] }, fire(3)]);
        let nested: Vec<Step> = "0111201112".bytes().map(|b| fire(u32::from(b - b'0'))).collect();
        let body = vec![fire(0), Step::Fire { node: NodeId(1), times: 3 }, fire(2)];
        assert_eq!(fold(nested), [Step::Loop { times: 2, body }]);
    }

    #[test]
    fn folding_keeps_the_meaning() {
        let mut seed = 7u64;
        for round in 0..2000 {
            let mut dice = |n: u64| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (seed >> 33) % n
            };
            let (kinds, length) = (1 + dice(3), dice(60));
            let firings: Vec<u32> = (0..length).map(|_| dice(kinds) as u32).collect();
            let steps: Vec<Step> = firings.iter().map(|n| fire(*n)).collect();
            let mut again = Vec::new();
            unfold(&fold(steps), &mut again);
            assert_eq!(again, firings, "round {round}");
        }
    }
}
