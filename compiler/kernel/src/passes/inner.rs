//! # inner
//!
//! Purpose: what is done with the loops of a kernel before native code is printed: [`super::unroll`], [`super::software_pipeline`], or what
//! measures faster, [`super::turns_abreast`], [`super::unroll_and_jam`] and [`super::in_step`] among it. Input: a kernel after [`super::prepare`]. Output: the same, to be printed. Costs and schedules are of the kernel before.

use super::unroll::{self, Rule};
use super::{Pass, in_step, software_pipeline, streams, turns_abreast, unroll_and_jam};
use crate::ir::Kernel;

/// What is done with loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Inner {
    /// What measures faster.
    #[default]
    Auto,
    /// Nothing.
    None,
    /// All that are short are written out, of the rest four turns become one.
    Unroll,
    /// Loads of the next turn come ahead of the arithmetic of this one.
    Pipeline,
    /// The one after the other.
    Both,
}

impl Inner {
    /// All, by their names on the command line.
    pub const NAMES: [(&str, Inner); 5] = [
        ("auto", Inner::Auto),
        ("none", Inner::None),
        ("unroll", Inner::Unroll),
        ("pipeline", Inner::Pipeline),
        ("both", Inner::Both),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        Inner::NAMES.iter().find(|(_, i)| *i == self).map_or("", |(n, _)| n)
    }

    /// Which loops are unrolled.
    pub fn rule(self) -> Option<Rule> {
        match self {
            Inner::Auto => Some(Rule::AUTO),
            Inner::Unroll | Inner::Both => Some(Rule::ALL),
            Inner::None | Inner::Pipeline => None,
        }
    }

    /// Are loads brought ahead?
    pub fn pipelines(self) -> bool {
        matches!(self, Inner::Pipeline | Inner::Both)
    }

    /// The passes, in order.
    pub fn passes(self) -> &'static [Pass] {
        match self {
            Inner::Auto => &[
                ("turns-abreast", turns_abreast::run),
                ("unroll-and-jam", unroll_and_jam::run),
                ("unroll", auto),
                ("in-step", in_step::run),
            ],
            Inner::None => &[],
            Inner::Unroll => &[("unroll", all)],
            Inner::Pipeline => &[("software-pipeline", software_pipeline::run)],
            Inner::Both => &[("unroll", all), ("software-pipeline", software_pipeline::run)],
        }
    }
}

fn auto(kernel: &mut Kernel) {
    // few branches are lanes, on nearly all machines
    if streams::streams(kernel).is_none_or(|s| s.lanes() > 8) {
        unroll::run(kernel, Rule::AUTO);
    }
}

fn all(kernel: &mut Kernel) {
    unroll::run(kernel, Rule::ALL);
}
