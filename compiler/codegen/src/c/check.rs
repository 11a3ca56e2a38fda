//! Whether what code is made of belongs together: a graph, its steady state, its kernels, a schedule of it.

use super::program::{CodegenError, ProgramInput};
use sluice_frontend::graph::NodeKind;
use sluice_schedule::sequential::Step;

/// Do the parts belong together? `has_code`: by number, is there code of a filter?
pub fn check(input: &ProgramInput<'_>, has_code: impl Fn(usize) -> bool) -> Result<(), CodegenError> {
    let ProgramInput { graph, steady, kernels, .. } = input;
    let schedule = input.schedule.schedule();
    let bad = |what: String| Err(CodegenError::Malformed(what));
    let (nodes, channels) = (graph.nodes.len(), graph.channels.len());
    if steady.repetitions.len() != nodes || steady.init.len() != nodes || steady.boundary_fill.len() != channels {
        return bad("the steady state is that of another graph".into());
    }
    if nodes >= u32::MAX as usize || channels >= u32::MAX as usize {
        return bad("the graph has too many nodes".into());
    }
    for node in &graph.nodes {
        if let NodeKind::Filter { code, .. } = &node.kind
            && (code.index() >= kernels.len() || !has_code(code.index()))
        {
            return bad(format!("{} has no code", node.path));
        }
    }
    let mut fired = vec![0u64; nodes];
    if schedule.batch == 0 || tally(&schedule.steady, 1, &mut fired).is_none() {
        return bad("the schedule cannot be run".into());
    }
    for (v, n) in fired.iter().enumerate() {
        if steady.repetitions[v].checked_mul(schedule.batch) != Some(*n) {
            return bad(format!("the schedule fires {} {n} times", graph.nodes[v].path));
        }
    }
    Ok(())
}

/// Adds up firings.
fn tally(steps: &[Step], times: u64, fired: &mut [u64]) -> Option<()> {
    for step in steps {
        match step {
            Step::Fire { node, times: n } => {
                let count = fired.get_mut(node.index())?;
                *count = count.checked_add(n.checked_mul(times)?)?;
            }
            Step::Loop { times: n, body } => tally(body, n.checked_mul(times)?, fired)?,
        }
    }
    Some(())
}
