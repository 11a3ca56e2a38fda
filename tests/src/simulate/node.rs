//! Fires one node, with items that somebody else found, by the evaluator that the interpreter uses.
//!
//! Takes the number of the firing and its items by port; gives what it pushes by port, prints and sends. The fields of a filter are those that
//! the caller put there; a filter without state begins each firing with the fields it was made with, as if each had copies of its own.

use super::Supply;
use sluice_frontend::Elaborated;
use sluice_frontend::eval::{EvalErrorKind, Host, Machine, Message, Statics, Value};
use sluice_frontend::graph::NodeKind;
use sluice_frontend::ids::{CodeId, FnId, NodeId};
use sluice_interpret::items;

/// What a firing or a handler did.
#[derive(Default)]
pub struct Done {
    /// Items, by output port.
    pub outputs: Vec<Vec<Value>>,
    /// Text.
    pub printed: String,
    /// Messages.
    pub sent: Vec<Message>,
    /// The bytes that went outside.
    pub written: Option<Vec<u8>>,
}

/// The fields of a filter that change, by field.
pub type Fields = Vec<Option<Value>>;

/// The nodes of a program.
pub struct Nodes<'a> {
    program: &'a Elaborated,
    supply: &'a Supply,
    machines: Vec<Option<Machine<'a>>>,
    made_with: Vec<Fields>,
}

struct Items<'d> {
    input: &'d [Value],
    popped: usize,
    output: Vec<Value>,
    firing: u64,
    done: &'d mut Done,
}

impl Items<'_> {
    fn at(&self, position: usize) -> Result<Value, EvalErrorKind> {
        self.input.get(position).map(Value::deep_copy).ok_or(EvalErrorKind::Host("more items than it declares".into()))
    }
}

impl Host for Items<'_> {
    fn pop(&mut self) -> Result<Value, EvalErrorKind> {
        self.popped += 1;
        self.at(self.popped - 1)
    }

    fn peek(&mut self, index: i32) -> Result<Value, EvalErrorKind> {
        let index = usize::try_from(index).map_err(|_| EvalErrorKind::PeekNegative(index))?;
        self.at(self.popped + index)
    }

    fn push(&mut self, value: Value) -> Result<(), EvalErrorKind> {
        self.output.push(value);
        Ok(())
    }

    fn print(&mut self, text: &str) -> Result<(), EvalErrorKind> {
        self.done.printed.push_str(text);
        Ok(())
    }

    fn iter(&mut self) -> Result<i32, EvalErrorKind> {
        Ok(self.firing as i32)
    }

    fn send(&mut self, message: Message) -> Result<(), EvalErrorKind> {
        self.done.sent.push(message);
        Ok(())
    }
}

impl<'a> Nodes<'a> {
    /// The nodes as they are before the first firing.
    pub fn new(program: &'a Elaborated, supply: &'a Supply) -> Nodes<'a> {
        let Elaborated { globals, codes, graph, .. } = program;
        let statics = Statics::new(globals);
        let machine = |kind: &NodeKind| {
            let NodeKind::Filter { code, .. } = kind else { return None };
            let code = &codes[code.index()];
            let fields = code.fields.iter().map(|f| Value::from_const(&f.initial, &f.ty, globals));
            Some(Machine::new(globals, &code.functions, statics.clone(), fields.collect()))
        };
        let machines = graph.nodes.iter().map(|n| machine(&n.kind)).collect();
        let mut nodes = Nodes { program, supply, machines, made_with: Vec::new() };
        nodes.made_with = graph.node_ids().map(|n| nodes.fields(n)).collect();
        nodes
    }

    fn code(&self, id: NodeId) -> Option<CodeId> {
        match self.program.graph.node(id).kind {
            NodeKind::Filter { code, .. } => Some(code),
            _ => None,
        }
    }

    /// Does it keep something from one firing to the next?
    pub fn has_state(&self, id: NodeId) -> bool {
        matches!(self.program.graph.node(id).kind, NodeKind::Filter { stateful: true, .. })
    }

    /// Copies of the fields that change.
    pub fn fields(&self, id: NodeId) -> Fields {
        let (Some(machine), Some(code)) = (&self.machines[id.index()], self.code(id)) else { return Vec::new() };
        let defs = &self.program.codes[code.index()].fields;
        machine.fields.iter().zip(defs).map(|(v, d)| (!d.constant).then(|| v.deep_copy())).collect()
    }

    /// Puts fields in place.
    pub fn set_fields(&mut self, id: NodeId, fields: &Fields) {
        let Some(machine) = &mut self.machines[id.index()] else { return };
        for (field, new) in machine.fields.iter_mut().zip(fields) {
            if let Some(new) = new {
                *field = new.deep_copy();
            }
        }
    }

    /// Firing `number` (from 0), with all the items that it declares to look at.
    pub fn fire(&mut self, id: NodeId, number: u64, inputs: Vec<Vec<Value>>) -> Result<Done, String> {
        let graph = &self.program.graph;
        let node = graph.node(id);
        let mut done = Done::default();
        let deal = |weights: &[u32]| {
            let mut all = inputs.iter().flatten();
            weights.iter().map(|w| all.by_ref().take(*w as usize).map(Value::deep_copy).collect()).collect()
        };
        match &node.kind {
            NodeKind::Filter { code, stateful, .. } => {
                let code = &self.program.codes[code.index()];
                let def = code.prework.as_ref().filter(|_| number == 0).unwrap_or(&code.work);
                if !stateful {
                    let own = std::mem::take(&mut self.made_with[id.index()]);
                    self.set_fields(id, &own);
                    self.made_with[id.index()] = own;
                }
                let output = self.call(id, number, def.function, Vec::new(), inputs.first(), &mut done)?;
                if output.len() as u32 != def.rates.push {
                    return Err(format!("{} pushes {} items, not {}", node.path, output.len(), def.rates.push));
                }
                done.outputs = if node.outputs.is_empty() { Vec::new() } else { vec![output] };
            }
            NodeKind::Identity => done.outputs = deal(&[1]),
            NodeKind::Duplicate => done.outputs = node.outputs.iter().flat_map(|_| deal(&[1])).collect(),
            NodeKind::SplitRoundRobin(weights) => done.outputs = deal(weights),
            NodeKind::JoinRoundRobin(weights) => done.outputs = deal(&[weights.iter().sum()]),
            NodeKind::Reader(_) => {
                let ty = &graph.channel(node.outputs[0]).ty;
                let mut bytes = vec![0; items::size(ty, &self.program.globals).ok_or("a type without bytes")?];
                self.supply.item(number, &mut bytes);
                let item = items::decode(ty, &mut &bytes[..], &self.program.globals).ok_or("not an item")?;
                done.outputs = vec![vec![item]];
            }
            NodeKind::Writer(_) => {
                let mut bytes = Vec::new();
                let item = inputs.first().and_then(|i| i.first()).ok_or("nothing to write")?;
                if !items::encode(item, &mut bytes) {
                    return Err("an item without bytes".into());
                }
                done.written = Some(bytes);
            }
        }
        Ok(done)
    }

    /// A message takes effect before firing `number` (from 0).
    pub fn handle(&mut self, id: NodeId, number: u64, handler: FnId, args: Vec<Value>) -> Result<Done, String> {
        let mut done = Done::default();
        self.call(id, number, handler, args, None, &mut done)?;
        Ok(done)
    }

    fn call(
        &mut self,
        id: NodeId,
        firing: u64,
        function: FnId,
        args: Vec<Value>,
        input: Option<&Vec<Value>>,
        done: &mut Done,
    ) -> Result<Vec<Value>, String> {
        let machine = self.machines[id.index()].as_mut().ok_or("no filter")?;
        let input = input.map_or(&[][..], |i| &i[..]);
        let mut host = Items { input, popped: 0, output: Vec::new(), firing, done };
        let result = machine.call_own(function, args, &mut host);
        let output = host.output;
        let path = &self.program.graph.node(id).path;
        result.map_err(|e| format!("{path}, firing {}: {}", firing + 1, e.message()))?;
        Ok(output)
    }
}
