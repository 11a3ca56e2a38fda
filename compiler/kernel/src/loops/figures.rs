//! # figures
//!
//! Purpose: what the model says of the innermost loops of a kernel. Input: a kernel after [`crate::passes::prepare`]. Output: [`Figures`] of each,
//! in the order of the text.

use super::dependences::dependences;
use super::instructions::{Instruction, instructions, is_innermost};
use super::machine::Core;
use super::schedule::{Bounds, alone, bounds, modulo};
use crate::ir::*;
use crate::passes::clean::trip;
use crate::passes::software_pipeline::ahead;
use crate::passes::unroll::{Rule, turns, written_arrays};
use crate::walk;
use sluice_grammar::span::Span;

/// A loop in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Where it stands.
    pub span: Span,
    /// How often it turns, where that is known.
    pub trips: Option<u64>,
    /// How many of its turns become one.
    pub unroll: Option<u64>,
    /// What the model says; what stands in the way where it says nothing.
    pub cycles: Result<Cycles, &'static str>,
}

/// Cycles of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycles {
    /// Instructions of a turn, counter and jump among them.
    pub instructions: usize,
    /// Without software pipelining.
    pub alone: u64,
    /// With the loads of the next turn ahead, as `software-pipeline` writes the loop; `None` where it leaves it as it is.
    pub ahead: Option<u64>,
    /// By modulo scheduling of the instructions as they are; `None` where no schedule was found.
    pub modulo: Option<u64>,
    /// What bounds the latter.
    pub bounds: Bounds,
}

/// Of the work functions' innermost loops, where those are unrolled that a rule names.
pub fn figures(kernel: &Kernel, rule: Option<Rule>, core: &Core) -> Vec<Figures> {
    let mut out = Vec::new();
    for (i, f) in kernel.functions.iter().enumerate() {
        let several = [kernel.lanes.as_ref().map(|l| l.function), kernel.steps.map(|s| s.function)];
        if several.contains(&Some(FuncId::from(i))) {
            continue;
        }
        let written = written_arrays(f);
        walk::each_stmt(&f.body, &mut |s| {
            if let StmtKind::For(l) = &s.kind
                && is_innermost(l)
            {
                let unroll = rule.and_then(|r| turns(l, &written, r));
                let trips = trip(l).map(|(n, _)| n);
                out.push(Figures { span: s.span, trips, unroll, cycles: cycles(kernel, f, l, s.span, core) });
            }
        });
    }
    out
}

/// Of a loop of a function.
pub fn cycles(kernel: &Kernel, f: &Function, l: &For, span: Span, core: &Core) -> Result<Cycles, &'static str> {
    let all = instructions(kernel, &f.locals, l, core)?;
    let deps = dependences(&all, l.step);
    Ok(Cycles {
        instructions: all.len(),
        alone: alone(&all, &deps, core).0,
        ahead: loads_ahead(kernel, f, l, span, core).and_then(|all| {
            let deps = dependences(&all, l.step);
            modulo(&all, &deps, l.step, core).map(|k| k.ii)
        }),
        modulo: modulo(&all, &deps, l.step, core).map(|k| k.ii),
        bounds: bounds(&all, &deps, core),
    })
}

/// The instructions of the loop as `software-pipeline` writes it.
pub fn loads_ahead(kernel: &Kernel, f: &Function, l: &For, span: Span, core: &Core) -> Option<Vec<Instruction>> {
    let mut f = Function { body: Vec::new(), ..f.clone() };
    let turn = ahead(kernel, &mut f, l, span)?.kernel;
    instructions(kernel, &f.locals, &turn, core).ok()
}
