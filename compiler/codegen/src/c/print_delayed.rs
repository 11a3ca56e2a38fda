//! # print-delayed
//!
//! Purpose: firings that go over tapes are vectors of the C compiler's only where none leaves a variable to the next. What one leaves is often an item that it took, or an element of a tape: the next
//! one finds it there. Input: a kernel with tapes. Output: the first firing by itself, and what the others read in place of such variables.
//!
//! ```text
//! out(0) = (state0[0] + tape[0])  state0[0] = in(0)  →   firing 0 as it is, then  for (firing = 1; …) { out[0] = in[-1] + tape[firing]; … }
//! ```
//!
//! What must hold: firings are assignments one after another; what is read before it is written is, at a firing's end, a copy of an item, or of an element of a tape before all those that firings write. Then
//! nothing has changed it when the next firing reads it. Where one variable is none of these, all stay as they are.

use super::print_function::Printer;
use sluice_frontend::ids::LocalId;
use sluice_kernel::ir::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Statements of a firing, at most: the first one is printed once more.
const MOST: usize = 200;

/// A variable, or an element of one that is an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Slot {
    Field(StateId, Option<i32>),
    Local(LocalId),
}

/// What a variable is a copy of, by position in this firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Item(i32),
    Element(StateId, i32),
}

/// By variable that a firing leaves to the next: where that one finds it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Delayed(BTreeMap<(StateId, Option<i32>), Source>);

/// Those of a kernel with tapes, where each variable that is left is one.
pub(super) fn delayed(kernel: &Kernel) -> Option<Delayed> {
    let body = &kernel.function(kernel.work.function).body;
    if kernel.tapes.is_empty() || body.len() > MOST || kernel.uses_iter() {
        return None;
    }
    let tape = |id: StateId| kernel.tapes.iter().find(|t| t.state == id);
    let slot = |p: &Place| match (&p.base, &p.path[..]) {
        (Base::Local(id), []) => Some(Slot::Local(*id)),
        (Base::State(id), []) if !kernel.state[id.index()].ty.is_aggregate() => Some(Slot::Field(*id, None)),
        (Base::State(id), [Proj::Index(i)]) if tape(*id).is_none() => Some(Slot::Field(*id, Some(i.as_int()?))),
        _ => None,
    };
    // the first element of each tape that a firing writes
    let mut written: BTreeMap<StateId, i32> = BTreeMap::new();
    let (mut now, mut before, mut set) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
    for s in body {
        let StmtKind::Assign(p, e) = &s.kind else { return None };
        let mut plain = true;
        e.walk(&mut |e| {
            let ExprKind::Load(q) = &e.kind else { return };
            match (slot(q), &q.base) {
                (Some(s), _) if !set.contains(&s) => drop(before.insert(s)),
                (Some(_), _) | (None, Base::In(_) | Base::Table(_)) => {}
                (None, Base::State(id)) => plain &= tape(*id).is_some(),
                // a part of a local is no way out of a firing
                (None, _) => {}
            }
        });
        if !plain {
            return None;
        }
        let source = match &e.kind {
            ExprKind::Load(q) => match (&q.base, &q.path[..]) {
                (Base::In(i), []) => i.as_int().map(Source::Item),
                (Base::State(id), [Proj::Index(i)]) if tape(*id).is_some() => {
                    i.as_int().map(|i| Source::Element(*id, i))
                }
                _ => slot(q).and_then(|s| now.get(&s).copied()),
            },
            _ => None,
        };
        match (slot(p), &p.base, &p.path[..]) {
            (Some(s), ..) => {
                set.insert(s);
                match source {
                    Some(source) => drop(now.insert(s, source)),
                    None => drop(now.remove(&s)),
                }
            }
            (None, Base::State(id), [Proj::Index(i)]) if tape(*id).is_some() => {
                let i = i.as_int()?;
                written.entry(*id).and_modify(|least| *least = i.min(*least)).or_insert(i);
            }
            (None, Base::Out(_), _) => {}
            _ => return None,
        }
    }
    let mut all = BTreeMap::new();
    for s in before {
        match s {
            // what nothing writes is no variable that is left
            s if !set.contains(&s) => {}
            Slot::Field(id, at) => {
                let source = *now.get(&s)?;
                let stays = match source {
                    Source::Item(_) => true,
                    Source::Element(tape, i) => written.get(&tape).is_none_or(|least| i < *least),
                };
                if !stays {
                    return None;
                }
                all.insert((id, at), source);
            }
            Slot::Local(_) => return None,
        }
    }
    (!all.is_empty()).then_some(Delayed(all))
}

impl Printer<'_> {
    /// The first firing by itself, where the others find what it leaves. The number of the next.
    pub(super) fn first_by_itself(&mut self, body: &[Stmt], steps: &str, turns: &str) -> u32 {
        let Some(all) = delayed(self.kernel).filter(|_| !self.device()) else { return 0 };
        let _ = writeln!(self.out, "    if ({turns} > 0) {{\n        const long firing = 0;");
        self.body(body, 2);
        let steps = steps.trim_start_matches(", ");
        let _ = writeln!(self.out, "        {steps};\n    }}");
        self.delayed = all;
        1
    }

    /// Where the value in a place is from the firing before.
    pub(super) fn left(&self, p: &Place) -> Option<String> {
        let (Base::State(id), path) = (&p.base, &p.path[..]) else { return None };
        let at = match path {
            [] => None,
            [Proj::Index(i)] => Some(i.as_int()?),
            _ => return None,
        };
        Some(match *self.delayed.0.get(&(*id, at))? {
            Source::Item(i) => format!("in[{}]", i64::from(i) - i64::from(self.kernel.work.rates.pop)),
            Source::Element(tape, i) => {
                let step = self.kernel.tapes.iter().find(|t| t.state == tape)?.step;
                let name = super::types::field_name(tape.index(), &self.kernel.state[tape.index()].name);
                format!("st->{name}.v[firing * {step} + {}]", i64::from(i) - i64::from(step))
            }
        })
    }

    /// It is this firing's from here on.
    pub(super) fn written(&mut self, p: &Place) {
        if let Base::State(id) = p.base {
            let at = match &p.path[..] {
                [Proj::Index(i)] => i.as_int(),
                _ => None,
            };
            self.delayed.0.remove(&(id, at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_kernel::text;

    /// What is found of a firing over a tape of which two elements stay, and with three fields.
    fn of(body: &str) -> Option<Delayed> {
        let body = body.replace(';', " @0:0-1\n");
        let text = format!(
            "kernel \"K\" \"K\" @0:0-1 float -> float work func0 peek 2 pop 2 push 1\n\
             state0 \"a\" float = 0f\nstate1 \"b\" float[2] = [0f, 0f]\nstate2 \"t\" float[6] = [0f, 0f, 0f, 0f, 0f, 0f]\n\
             tape 2 step 1 stays 2 turns 4\n\
             func0 \"work\" (0) -> void @0:0-1 {{\n  local0 \"x\" float\n{body}}}\n"
        );
        let kernel = text::parse(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        sluice_kernel::verify::verify(&kernel).unwrap();
        delayed(&kernel)
    }

    const A: (StateId, Option<i32>) = (StateId(0), None);
    const TAPE: StateId = StateId(2);

    #[test]
    fn copies_of_items_and_of_older_elements() {
        let end = "out(0) = $0; state2[2] = $0;";
        let all = of(&format!("$0 = (state0 + in(0)); state0 = in(1); {end}")).unwrap();
        assert_eq!(all.0, [(A, Source::Item(1))].into());
        // by way of other variables
        let all =
            of(&format!("state1[1] = state2[0]; $0 = (state1[0] + state1[1]); state1[0] = state1[1]; {end}")).unwrap();
        assert_eq!(all.0, [((StateId(1), Some(0)), Source::Element(TAPE, 0))].into());
    }

    #[test]
    fn what_is_no_copy_or_may_change_stays() {
        let end = "out(0) = $0; state2[2] = $0;";
        for body in [
            // a sum
            "$0 = (state0 + in(0)); state0 = $0;",
            // an element that this firing writes, and one that a later one will have
            "$0 = (state0 + in(0)); state0 = state2[2];",
            // an element of a field at a place that is not known, and a jump
            "$0 = (state0 + state1[as<int>(in(0))]); state0 = in(1);",
            "$0 = state0; if ($0 > 0f) @0:0-1 { state0 = in(1); } ",
            // one of two
            "$0 = (state0 + state1[0]); state0 = in(1); state1[0] = (in(0) * 2f);",
        ] {
            assert_eq!(of(&format!("{body} {end}")), None, "{body}");
        }
        // nothing is left
        assert_eq!(of(&format!("$0 = in(0); state0 = in(1); {end}")), None);
    }
}
