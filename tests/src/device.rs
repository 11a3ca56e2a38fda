//! A back end against the interpreter, with inputs of several lengths: none, one item, a steady state but for an item, whole ones, many.
//!
//! The back end is any function that runs a program with an input; what is compared is what a person would see: bytes, remarks, faults.

use crate::generate::{self, Case};
use crate::message::Message;
use crate::run::{Compare, Feed, NotMade, Outcome, check, compile_resting, difference, run};
use crate::work::{CERTAIN, errors};
use sluice_driver::exit::Exit;
use sluice_driver::io::item::{ItemType, Scalar};
use sluice_driver::pipeline::Checked;
use sluice_frontend::analyses::walk;
use sluice_frontend::graph::NodeKind;
use sluice_frontend::typed::{Callee, ExprKind, FilterCode, Function};
use sluice_frontend::{Elaborated, slow};
use std::collections::HashSet;
use std::path::Path;

mod configuration;

pub use configuration::{Configuration, on_gpu};

/// The program of a seed: mostly what a device can run, with state and without; now and then one that it refuses.
pub fn program(seed: u64) -> Case {
    let runs = |case: &Case| check(&case.source).is_ok_and(|c| stands_against(&c.program).is_none());
    match seed % 8 {
        0 => generate::case(seed),
        1 | 2 => {
            (seed * 8..seed * 8 + 8).map(generate::branches).find(runs).unwrap_or_else(|| generate::branches(seed))
        }
        3 => generate::windows(seed, 700).0,
        kind => {
            let plain = |s: &u64| generate::flavour(*s) == generate::Flavour { dynamic: false, messages: false };
            let all = (seed * 64..).filter(plain).map(generate::case).take(32);
            // faults, too
            let mut fit = all.filter(|c| kind != 4 || c.hazards).filter(runs);
            fit.next().unwrap_or_else(|| generate::case(seed))
        }
    }
}

/// Why nothing was launched; `None` where something should have been.
fn no_kernels(program: &Elaborated, tried: &Tried, unit: u64) -> Option<&'static str> {
    let prints = program.graph.nodes.iter().filter(|n| matches!(n.kind, NodeKind::Filter { prints: true, .. })).count();
    [
        // then the order of firings can be seen
        ("prints in several places", prints > 1),
        ("fails before", tried.failed > 0 && tried.steady_states < unit),
        ("too long", tried.steady_states < unit),
        ("no steady state", program.steady.repetitions.iter().all(|r| *r == 0)),
    ]
    .into_iter()
    .find_map(|(why, is)| is.then_some(why))
}

/// What devices do not have, where a program has it.
fn stands_against(program: &Elaborated) -> Option<&'static str> {
    let code = |is: fn(&FilterCode) -> bool| program.codes.iter().any(is);
    [
        ("refused: dynamic rates", program.steady.islands.is_some()),
        ("refused: messages", !program.messages.links.is_empty()),
        ("refused: native functions", code(|c| c.calls_native.is_some())),
        ("refused: recursion", recursion(program)),
    ]
    .into_iter()
    .find_map(|(why, is)| is.then_some(why))
}

/// Does a function of some filter, or of a helper group, come to call itself?
fn recursion(program: &Elaborated) -> bool {
    let calls = |f: &Function| {
        let mut called = Vec::new();
        walk::expressions(&f.body, &mut |e| {
            if let ExprKind::Call(callee @ (Callee::Own(_) | Callee::Helper(_)), _) = e.kind {
                called.push(callee);
            }
        });
        called
    };
    let in_circles = |functions: &[Function], own: bool| {
        (0..functions.len()).any(|first| {
            let this = |c: &Callee| match c {
                Callee::Own(id) => own && id.index() == first,
                Callee::Helper(id) => !own && id.index() == first,
                Callee::Native(_) => false,
            };
            let (mut next, mut seen) = (calls(&functions[first]), HashSet::new());
            while let Some(callee) = next.pop() {
                if this(&callee) {
                    return true;
                }
                if seen.insert(callee) {
                    next.extend(match callee {
                        Callee::Own(id) => calls(&functions[id.index()]),
                        Callee::Helper(id) => calls(&program.globals.helpers[id.index()]),
                        Callee::Native(_) => Vec::new(),
                    });
                }
            }
            false
        })
    };
    in_circles(&program.globals.helpers, false) || program.codes.iter().any(|c| in_circles(&c.functions, true))
}

/// A program and a configuration: does the device do what the interpreter does? The case itself, and with `all` of many lengths.
pub fn job(case: &Case, configuration: &Configuration, all: bool, folder: &Path) -> Message {
    let answer = |how: &str| Message::new("same").with("how", how);
    let mut checked = match check(&case.source) {
        Ok(checked) => checked,
        Err(why) if case.hazards && errors(&why).iter().all(|e| CERTAIN.contains(e)) => return answer("failed"),
        Err(why) => return Message::new("refused").with("why", why),
    };
    // what no streams can take turns in runs without them
    if let Some(Ok(slow)) = configuration.streams.map(|n| slow::streams(&checked.program, n)) {
        checked.program = slow;
    }
    let (program, code) = match compile_resting(&checked, &configuration.cuda, configuration.resting) {
        Ok(made) => made,
        Err(NotMade::Refused) if let Some(why) = stands_against(&checked.program) => return answer(why),
        Err(why) => return Message::new("different").with("why", format!("{configuration}: {why}")),
    };
    let cases = if all { lengths(&checked.program, case, code.unit, MOST) } else { vec![case.clone()] };
    let mut on_device = |case: &Case| run(&program, case, Some(&code), Feed::default(), folder);
    match agree(&checked, &cases, folder, &mut on_device) {
        // a case alone may be short
        Ok(_) if !all => answer("output"),
        Ok(tried) => {
            let how = match (tried.output > 0, code.launches() > 0) {
                (true, true) => "output",
                (false, true) => "empty",
                (_, false) => match no_kernels(&checked.program, &tried, code.unit) {
                    Some(why) => why,
                    None => {
                        let (made, unit) = (tried.steady_states, code.unit);
                        let why = format!("{configuration}: no kernels in {made} steady states, {unit} at once");
                        return Message::new("different").with("why", why);
                    }
                },
            };
            let numbers = [
                ("runs", tried.runs),
                ("failed", tried.failed),
                ("launches", code.launches()),
                ("unit", code.unit),
                ("steady", tried.steady_states),
            ];
            numbers.into_iter().fold(answer(how), |m, (name, n)| m.with(name, n.to_string()))
        }
        Err(Complaint::Refused(why)) => Message::new("refused").with("why", why),
        Err(Complaint::Different(case, why)) => {
            let m = Message::new("different").with("why", format!("{configuration}: {why}"));
            let m = case.iterations.into_iter().fold(m, |m, n| m.with("iterations", n.to_string()));
            case.input.iter().fold(m, |m, bytes| m.with("input", bytes))
        }
    }
}

/// Enough for several launches of every kernel.
const MOST: Most = Most { firings: 100_000, units: 23, bytes: 1 << 20 };

/// Bounds on what is run.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    /// Firings of a run, about.
    pub firings: u64,
    /// Steady states of the longest run, as a multiple of those that run at once.
    pub units: u64,
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
    /// The most steady states of a run that ended well.
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

/// The case itself, and the same program with inputs of other lengths (without input: with other numbers of steady states), some of them around
/// multiples of `unit` steady states, which run at once.
pub fn lengths(program: &Elaborated, case: &Case, unit: u64, most: Most) -> Vec<Case> {
    let steady = &program.steady;
    let (before, each) = (steady.init.iter().sum::<u64>(), steady.repetitions.iter().sum::<u64>());
    let bound = most.firings.saturating_sub(before) / each.max(1);
    let many = bound.min(most.units.saturating_mul(unit));
    let mut all = vec![case.clone()];
    let mut add = |case: Case| {
        if !all.contains(&case) {
            all.push(case);
        }
    };
    let Some(input) = Input::of(program) else {
        let numbers = [0, 1, unit.saturating_sub(1), unit, unit + 1, 6 * unit + 2, many];
        let few = numbers.into_iter().filter(|k| *k <= many);
        few.for_each(|k| add(Case { iterations: Some(k), ..case.clone() }));
        return all;
    };
    let whole = |k: u64| (k, input.first + k * input.each);
    let but_one = |k: u64| (k, (input.first + k * input.each).saturating_sub(1));
    let more = |k: u64| (k, input.first + k * input.each + input.each / 2);
    let all_lengths = [
        (0, 0),
        (0, 1),
        but_one(1),
        whole(1),
        but_one(unit),
        whole(unit),
        more(2 * unit + 1),
        more(6 * unit + 2),
        more(many),
    ];
    for (k, items) in all_lengths {
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
            Outcome::Failed(..) => {
                tried.failed += 1;
                continue;
            }
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
mod tests;
