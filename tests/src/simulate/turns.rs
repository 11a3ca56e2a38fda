//! Filters for several streams, a turn at a time, as a machine with many threads runs them: each firing of such a filter is also done as one
//! firing of the code before for each stream, in any order, with fields and items found by what the code keeps of how it was made
//! ([`InTurn`]). Both must give the same items and leave the same fields.

use super::Supply;
use super::node::Nodes;
use crate::generate::random::Random;
use sluice_driver::kernels::lower_one;
use sluice_driver::options::CodeOptions;
use sluice_frontend::Elaborated;
use sluice_frontend::eval::{EvalErrorKind, Host, Machine, Message, Statics, Value};
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{ChannelId, FieldId, NodeId};
use sluice_frontend::slow::{Held, InTurn};
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::FilterCode;
use sluice_interpret::items;
use sluice_kernel::lower::{LowerOptions, lower_turn};
use sluice_kernel::passes;
use std::collections::VecDeque;

/// What a run has shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turned {
    /// Firings done both ways.
    pub firings: u64,
    /// Of filters with state.
    pub stateful: u64,
    /// Of filters with more than one level of streams.
    pub levels: u64,
    /// It ended with a firing that failed both ways.
    pub failed: bool,
}

/// What one stream's firing sees.
struct Own {
    input: Vec<Value>,
    popped: usize,
    output: Vec<Value>,
    firing: u64,
}

impl Host for Own {
    fn pop(&mut self) -> Result<Value, EvalErrorKind> {
        self.popped += 1;
        self.peek(-1)
    }

    fn peek(&mut self, index: i32) -> Result<Value, EvalErrorKind> {
        let at = usize::try_from(self.popped as i64 + i64::from(index)).ok();
        let item = at.and_then(|at| self.input.get(at)).map(Value::deep_copy);
        item.ok_or(EvalErrorKind::Host("more items than it declares".into()))
    }

    fn push(&mut self, value: Value) -> Result<(), EvalErrorKind> {
        self.output.push(value);
        Ok(())
    }

    fn iter(&mut self) -> Result<i32, EvalErrorKind> {
        Ok(self.firing as i32)
    }

    /// There are no receivers: streams that take turns have none.
    fn send(&mut self, _: Message) -> Result<(), EvalErrorKind> {
        Ok(())
    }
}

/// The turns of a filter.
struct Turns<'a> {
    of: &'a InTurn,
    machines: Vec<Machine<'a>>,
}

fn fields(code: &FilterCode, program: &Elaborated) -> Vec<Value> {
    code.fields.iter().map(|f| Value::from_const(&f.initial, &f.ty, &program.globals)).collect()
}

impl<'a> Turns<'a> {
    fn new(program: &'a Elaborated, of: &'a InTurn, statics: &Statics) -> Turns<'a> {
        let one = |_| Machine::new(&program.globals, &of.turn.functions, statics.clone(), fields(&of.turn, program));
        Turns { of, machines: (0..of.streams()).map(one).collect() }
    }

    /// Firing `number` of all streams, in an order left to chance: the items that all give, or what went wrong.
    fn fire(
        &mut self,
        program: &Elaborated,
        number: u64,
        input: &[Value],
        chance: &mut Random,
    ) -> Result<Vec<Value>, String> {
        let (of, turn) = (self.of, &self.of.turn);
        let def = turn.prework.as_ref().filter(|_| number == 0).unwrap_or(&turn.work);
        let all = u64::from(def.rates.push) * u64::from(of.streams());
        let mut output: Vec<Option<Value>> = vec![None; all as usize];
        let mut order: Vec<u32> = (0..of.streams()).collect();
        for i in 0..order.len() {
            let j = i + chance.index(order.len() - i);
            order.swap(i, j);
        }
        for s in order {
            let at = |x: u32| of.position(&of.input, s, x.into());
            let item = |x| input.get(at(x) as usize).map(Value::deep_copy);
            let items: Option<Vec<Value>> = (0..def.rates.peek).map(item).collect();
            let input = items.ok_or_else(|| format!("stream {s} looks beyond the {} items there are", input.len()))?;
            let machine = &mut self.machines[s as usize];
            if turn.stateful.is_none() {
                machine.fields = fields(turn, program);
            }
            let mut own = Own { input, popped: 0, output: Vec::new(), firing: number };
            machine.call_own(def.function, Vec::new(), &mut own).map_err(|e| format!("stream {s}: {}", e.message()))?;
            if own.output.len() as u32 != def.rates.push {
                return Err(format!("stream {s} pushes {} items, not {}", own.output.len(), def.rates.push));
            }
            for (x, value) in own.output.into_iter().enumerate() {
                let at = of.position(&of.output, s, x as u64);
                match output.get_mut(at as usize) {
                    Some(place @ None) => *place = Some(value),
                    Some(Some(_)) => panic!("{}: item {x} of stream {s} goes where one is: {at}", turn.display),
                    None => panic!("{}: item {x} of stream {s} goes to {at} of {all}", turn.display),
                }
            }
        }
        Ok(output.into_iter().flatten().collect())
    }

    /// The first field that is not what it is where all streams are together.
    fn difference(&self, code: &FilterCode, together: &[Option<Value>]) -> Option<String> {
        for (s, machine) in self.machines.iter().enumerate() {
            for (i, def) in self.of.turn.fields.iter().enumerate() {
                let name = format!("stream {s}'s field `{}`", def.name);
                let ours = bytes(&machine.fields[i]);
                match self.of.held(FieldId::from(i)) {
                    Held::Constant => {
                        let same = &code.fields[i];
                        if !same.constant || same.initial != def.initial {
                            return Some(format!("{name} is no constant"));
                        }
                    }
                    Held::Meanwhile => {}
                    Held::Element => {
                        let theirs = together[i].as_ref().and_then(|v| element(v, &self.of.digits(s as u32)));
                        if theirs.as_ref().map(bytes) != Some(ours) {
                            return Some(format!("{name} is another"));
                        }
                    }
                }
            }
        }
        None
    }
}

/// An element of arrays of arrays.
fn element(value: &Value, digits: &[u32]) -> Option<Value> {
    digits.iter().try_fold(value.clone(), |v, d| match v {
        Value::Array(items) => items.borrow().get(*d as usize),
        _ => None,
    })
}

fn bytes(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    assert!(items::encode(value, &mut bytes), "fields and items have bytes");
    bytes
}

/// The turn's kernel can be made, and has its state where the kernel of all streams has it.
fn lowers(program: &Elaborated, code: &FilterCode, of: &InTurn) -> Result<(), String> {
    let options = CodeOptions::default();
    let all = lower_one(code, &program.globals, &options).map_err(|d| d.title.clone())?;
    let turn =
        lower_turn(code, &program.globals, LowerOptions { unchecked: options.unchecked, ..LowerOptions::default() });
    let turn = turn.ok_or("no turn")?.map_err(|u| u.what)?;
    for (own, place) in turn.kernel.state.iter().zip(&turn.state) {
        let Some(place) = place else {
            if of.turn.stateful.is_some() {
                return Err(format!("`{}` of a filter with state is nowhere", own.name));
            }
            continue;
        };
        let there = &all.state[place.index()];
        let mut ty = &there.ty;
        let mut initial = Some(&there.initial);
        for _ in &of.levels {
            let Ty::Array(element, _) = ty else { return Err(format!("`{}` is no array", there.name)) };
            ty = element;
            initial = match initial {
                Some(sluice_frontend::constant::Const::Array(all)) => all.first(),
                _ => None,
            };
        }
        if (ty, &there.name, initial) != (&own.ty, &own.name, Some(&own.initial)) {
            return Err(format!("`{}` is at `{}`", own.name, there.name));
        }
    }
    // what it is verified for after each pass
    passes::prepare(turn.kernel);
    Ok(())
}

/// Runs a program some steady states, with about so many firings at most; `Err` tells the first difference. `seed` decides on the
/// streams' order.
pub fn turn_by_turn(program: &Elaborated, supply: &Supply, most: u64, seed: u64) -> Result<Turned, String> {
    let (graph, steady) = (&program.graph, &program.steady);
    assert!(steady.islands.is_none() && program.messages.links.is_empty(), "rates and orders are fixed");
    let mut chance = Random::new(seed);
    let mut nodes = Nodes::new(program, supply);
    let statics = Statics::new(&program.globals);
    let code = |id: NodeId| match graph.node(id).kind {
        NodeKind::Filter { code, .. } => Some(&program.codes[code.index()]),
        _ => None,
    };
    let turned = |id| code(id).and_then(|c| c.turns.as_deref()).map(|of| Turns::new(program, of, &statics));
    let mut turns: Vec<Option<Turns>> = graph.node_ids().map(turned).collect();
    let mut shown = Turned::default();
    for code in &program.codes {
        if let Some(of) = &code.turns {
            lowers(program, code, of).map_err(|why| format!("{}, lowered: {why}", code.display))?;
        }
    }
    let mut queues: Vec<VecDeque<Value>> = (graph.channels.iter())
        .map(|c| c.initial.iter().map(|v| Value::from_const(v, &c.ty, &program.globals)).collect())
        .collect();
    let each: u64 = steady.repetitions.iter().sum();
    let first: u64 = steady.init.iter().sum();
    let rounds = (most.saturating_sub(first) / each.max(1)).clamp(1, 20);
    let goal: Vec<u64> = steady.init.iter().zip(&steady.repetitions).map(|(i, r)| i + r * rounds).collect();
    let mut fired = vec![0u64; goal.len()];
    for _ in 0..first + each * rounds {
        let ready = |id: &NodeId| {
            let there =
                |c: &ChannelId| queues[c.index()].len() >= graph.needed_by_firing(*c, fired[id.index()]) as usize;
            fired[id.index()] < goal[id.index()] && graph.node(*id).inputs.iter().all(there)
        };
        let Some(id) = graph.node_ids().rev().find(ready) else {
            return Err(format!("it stops at {fired:?} of {goal:?}"));
        };
        let (node, number) = (graph.node(id), fired[id.index()]);
        let mut inputs: Vec<Vec<Value>> = Vec::new();
        for c in &node.inputs {
            let queue = &mut queues[c.index()];
            inputs.push(queue.iter().take(graph.needed_by_firing(*c, number) as usize).cloned().collect());
            queue.drain(..graph.consumed_by_firing(*c, number) as usize);
        }
        let input = inputs.first().cloned().unwrap_or_default();
        let together = nodes.fire(id, number, inputs);
        if let (Some(t), Some(code)) = (&mut turns[id.index()], code(id)) {
            let name = format!("{}, firing {}", node.path, number + 1);
            let apart = t.fire(program, number, &input, &mut chance);
            shown.firings += 1;
            shown.stateful += u64::from(t.of.turn.stateful.is_some());
            shown.levels += u64::from(t.of.levels.len() > 1);
            match (&together, &apart) {
                (Err(_), Err(_)) => {
                    shown.failed = true;
                    return Ok(shown);
                }
                (Ok(_), Err(why)) => return Err(format!("{name}: only a turn fails: {why}")),
                (Err(why), Ok(_)) => return Err(format!("only the turns together fail: {why}")),
                (Ok(done), Ok(items)) => {
                    let want = done.outputs.first().map_or(&[][..], |o| &o[..]);
                    if want.iter().map(bytes).ne(items.iter().map(bytes)) {
                        return Err(format!("{name}: the items are others"));
                    }
                }
            }
            if let Some(why) = t.difference(code, &nodes.fields(id)) {
                return Err(format!("{name}: {why}"));
            }
        }
        let done = match together {
            Ok(done) => done,
            Err(_) => {
                shown.failed = true;
                return Ok(shown);
            }
        };
        fired[id.index()] += 1;
        for (c, items) in node.outputs.iter().zip(done.outputs) {
            queues[c.index()].extend(items);
        }
    }
    Ok(shown)
}
