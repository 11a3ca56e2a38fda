//! A back end against the interpreter, with inputs of several lengths: none, one item, a steady state but for an item, whole ones, many.
//!
//! The back end is any function that runs a program with an input; what is compared is what a person would see: bytes, remarks, faults.

use crate::generate::Case;
use crate::run::{Compare, Feed, Outcome, difference, run};
use sluice_driver::exit::Exit;
use sluice_driver::io::item::{ItemType, Scalar};
use sluice_driver::pipeline::Checked;
use sluice_frontend::Elaborated;
use sluice_frontend::graph::NodeKind;
use std::path::Path;

/// Bounds on what is run.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    /// Firings of a run, about.
    pub firings: u64,
    /// Steady states of the longest run.
    pub steady_states: u64,
    /// Bytes of an input.
    pub bytes: u64,
}

/// What runs have shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    /// Runs that ended well both ways.
    pub runs: u64,
    /// Those in which something came out.
    pub output: u64,
    /// Runs that failed both ways.
    pub failed: u64,
    /// The most steady states of a run.
    pub steady_states: u64,
}

/// Why a back end does not do what the interpreter does, or why nobody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Complaint {
    /// The runs differ with this input.
    Different(Case, String),
    /// The interpreter fails where it must not.
    Refused(String),
}

/// A reader's items: how many it gives before the steady state and in each, and the bytes of so many.
struct Input {
    first: u64,
    each: u64,
    item: ItemType,
}

impl Input {
    /// That of the first reader which takes part; others read from the start of the same, or have none.
    fn of(program: &Elaborated) -> Option<Input> {
        let (graph, steady) = (&program.graph, &program.steady);
        let reads = |id: &sluice_frontend::ids::NodeId| {
            matches!(graph.node(*id).kind, NodeKind::Reader(_)) && steady.repetitions[id.index()] > 0
        };
        let id = graph.node_ids().find(reads)?;
        let item = ItemType::of(&graph.channel(*graph.node(id).outputs.first()?).ty, &program.globals)?;
        Some(Input { first: steady.init[id.index()], each: steady.repetitions[id.index()], item })
    }

    /// So many items, those of the case again and again; zeros where it has none. `None` where that is too much.
    fn items(&self, case: &Case, n: u64, most: u64) -> Option<Vec<u8>> {
        let bytes = match self.item.scalar {
            // eight to a byte
            Some(Scalar::Bit) => n.checked_mul(self.item.scalars as u64)?.div_ceil(8),
            _ => n.checked_mul(self.item.bytes as u64)?,
        };
        if bytes > most {
            return None;
        }
        let own = case.input.as_deref().unwrap_or_default();
        let whole = match self.item.scalar {
            Some(Scalar::Bit) => own,
            _ => &own[..own.len() / self.item.bytes.max(1) * self.item.bytes],
        };
        let zeros = [0];
        let whole = if whole.is_empty() { &zeros[..] } else { whole };
        Some(whole.iter().copied().cycle().take(bytes as usize).collect())
    }
}

/// The case itself, and the same program with inputs of other lengths (without input: with other numbers of steady states).
pub fn lengths(program: &Elaborated, case: &Case, most: Most) -> Vec<Case> {
    let steady = &program.steady;
    let (before, each) = (steady.init.iter().sum::<u64>(), steady.repetitions.iter().sum::<u64>());
    let many = most.firings.saturating_sub(before) / each.max(1);
    let many = many.min(most.steady_states);
    let mut all = vec![case.clone()];
    let mut add = |case: Case| {
        if !all.contains(&case) {
            all.push(case);
        }
    };
    let Some(input) = Input::of(program) else {
        [0, 1, 2, 7, many]
            .into_iter()
            .filter(|k| *k <= many)
            .for_each(|k| add(Case { iterations: Some(k), ..case.clone() }));
        return all;
    };
    // by steady states that are begun, items in the last one
    let short = [(0, 0), (0, 1)].map(|(k, more)| (k, k * input.each + more));
    let whole = |k: u64| (k, input.first + k * input.each);
    let but_one = (1, (input.first + input.each).saturating_sub(1));
    let beyond = (many, input.first + many * input.each + input.each / 2);
    for (k, items) in short.into_iter().chain([but_one, whole(1), whole(2), whole(7), beyond]) {
        if k > many.max(1) {
            continue;
        }
        if let Some(bytes) = input.items(case, items, most.bytes) {
            // where the end of the input does not end the program
            let iterations = case.iterations.map(|n| n.max(k));
            add(Case { input: Some(bytes), iterations, ..case.clone() });
        }
    }
    all
}

/// Runs these cases of a program both ways; the first difference ends it.
pub fn agree(
    checked: &Checked,
    cases: &[Case],
    folder: &Path,
    device: &mut dyn FnMut(&Case) -> Outcome,
) -> Result<Tried, Complaint> {
    let mut tried = Tried::default();
    let input = Input::of(&checked.program);
    for case in cases {
        let want = run(checked, case, None, Feed::default(), folder);
        if let Outcome::Failed(exit, why, _) = &want
            && !(case.hazards && *exit == Exit::Program)
        {
            return Err(Complaint::Refused(format!("the interpreter fails: {why}")));
        }
        let got = device(case);
        let compare = Compare { remarks: case.iterations.is_none(), faults_only: false };
        if let Some(why) = difference(&want, &got, compare) {
            return Err(Complaint::Different(case.clone(), format!("interpreted and on the device: {why}")));
        }
        match &want {
            Outcome::Done { printed, written, .. } => {
                tried.runs += 1;
                tried.output += u64::from(!printed.is_empty() || written.values().any(|w| !w.is_empty()));
            }
            Outcome::Failed(..) => tried.failed += 1,
        }
        let bytes = case.input.as_ref().map_or(0, Vec::len) as u64;
        let by_input = input.as_ref().map(|i| {
            let items = bytes / (i.item.bytes as u64).max(1);
            items.saturating_sub(i.first) / i.each.max(1)
        });
        let steady_states = by_input.into_iter().chain(case.iterations).min().unwrap_or(0);
        tried.steady_states = tried.steady_states.max(steady_states);
    }
    Ok(tried)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::check;
    use std::collections::BTreeSet;

    const SUM: &str = "int->int pipeline Main {
    add int->int filter { work pop 1 push 1 { push(pop() * 3); } };
    add int->int filter { int sum; work peek 5 pop 3 push 2 { sum += peek(4); push(sum); push(peek(1)); pop(); pop(); pop(); } };
}";

    const MOST: Most = Most { firings: 4000, steady_states: 100, bytes: 1 << 20 };

    fn case(source: &str) -> Case {
        let input = (1..=9i32).flat_map(i32::to_le_bytes).collect();
        Case { source: source.into(), input: Some(input), iterations: None, hazards: false, channel_limit: None }
    }

    #[test]
    fn lengths_around_a_steady_state() {
        let checked = check(SUM).unwrap();
        let bytes: Vec<usize> =
            lengths(&checked.program, &case(SUM), MOST).iter().map(|c| c.input.as_ref().map_or(0, Vec::len)).collect();
        // two items before the steady state, three in each
        assert_eq!(bytes, [36, 0, 4, 16, 20, 32, 92, (2 + 300 + 1) * 4]);
        let made = "void->void pipeline Main {
    add void->int filter { work push 2 { push(iter()); push(7); } };
    add int->void filter { work pop 1 { println(pop()); } };
}";
        let checked = check(made).unwrap();
        let case = Case { input: None, iterations: Some(3), ..case(made) };
        let iterations: BTreeSet<u64> =
            lengths(&checked.program, &case, MOST).iter().filter_map(|c| c.iterations).collect();
        assert_eq!(iterations, BTreeSet::from([0, 1, 2, 3, 7, 100]));
    }

    /// Back ends that do the right thing, and some that do not.
    #[test]
    fn what_is_wrong_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let checked = check(SUM).unwrap();
        let cases = lengths(&checked.program, &case(SUM), MOST);
        let honest = |c: &Case| run(&checked, c, None, Feed::default(), folder.path());
        let tried = agree(&checked, &cases, folder.path(), &mut |c| honest(c)).unwrap();
        assert_eq!((tried.runs, tried.failed, tried.steady_states), (8, 0, 100));
        assert_eq!(tried.output, 5, "an input of four items is too short");
        let with = |change: &dyn Fn(&mut Vec<u8>)| {
            agree(&checked, &cases, folder.path(), &mut |c| {
                let mut outcome = honest(c);
                if let Outcome::Done { written, .. } = &mut outcome {
                    written.values_mut().for_each(change);
                }
                outcome
            })
        };
        assert!(with(&|_| ()).is_ok());
        let wrong: [(&str, &dyn Fn(&mut Vec<u8>)); 3] = [
            ("an item is lost", &|w| w.truncate(w.len().saturating_sub(4))),
            ("a late item is another", &|w| w.iter_mut().skip(790).take(1).for_each(|b| *b ^= 1)),
            ("the first steady state is another", &|w| {
                if w.len() == 8 {
                    w[3] = 1;
                }
            }),
        ];
        for (what, change) in wrong {
            assert!(matches!(with(change), Err(Complaint::Different(..))), "{what}");
        }
        let fails = |_: &Case| Outcome::Failed(Exit::Internal, "a barrier is missing".into(), Vec::new());
        let Err(Complaint::Different(_, why)) = agree(&checked, &cases, folder.path(), &mut fails.clone()) else {
            panic!("a back end that fails is right")
        };
        assert!(why.contains("a barrier is missing"), "{why}");
    }

    #[test]
    fn faults_are_compared_too() {
        let source = "int->int filter Main { work pop 1 push 1 { push(8 / (5 - pop())); } }";
        let folder = tempfile::tempdir().unwrap();
        let checked = check(source).unwrap();
        let case = Case { hazards: true, ..case(source) };
        let cases = lengths(&checked.program, &case, MOST);
        let tried =
            agree(&checked, &cases, folder.path(), &mut |c| run(&checked, c, None, Feed::default(), folder.path()));
        assert!(tried.is_ok_and(|t| t.failed >= 2 && t.runs >= 2));
        let safe = Case { hazards: false, ..case };
        let refused = agree(&checked, &[safe], folder.path(), &mut |_| unreachable!("the interpreter is first"));
        assert!(matches!(refused, Err(Complaint::Refused(_))));
    }
}
