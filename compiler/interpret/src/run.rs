//! Runs a program: the reference order, with real items.

use crate::error::RunError;
use crate::fire::Firing;
use crate::mail::{Letter, Mail};
use crate::observe::{Observer, Outcome, changes};
use crate::order::{Next, Order};
use crate::watch::Watch;
use crate::{Outside, items};
use sluice_frontend::eval::value;
use sluice_frontend::eval::{EvalError, EvalErrorKind, Machine, Statics, Value};
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, CodeId, NodeId};
use sluice_frontend::messages::Messages;
use sluice_frontend::steady_state::SteadyState;
use sluice_frontend::typed::{FilterCode, Globals, Rates};
use std::collections::VecDeque;

/// What is run.
#[derive(Clone, Copy)]
pub struct Program<'a> {
    /// What filters share.
    pub globals: &'a Globals,
    /// Filter bodies, by [`CodeId`].
    pub codes: &'a [FilterCode],
    /// The flat graph.
    pub graph: &'a SdfGraph,
    /// Its steady state.
    pub steady: &'a SteadyState,
    /// Its messages.
    pub messages: &'a Messages,
}

/// How to run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Steady states after the initialisation; `None` is without end.
    pub iterations: Option<u64>,
}

/// What happened in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Firings, by node.
    pub fired: Vec<u64>,
    /// Whole steady states.
    pub steady_states: u64,
    /// Did the world stop the run?
    pub stopped: bool,
}

/// Runs a program to its end.
pub fn run(program: Program<'_>, outside: &mut dyn Outside, options: Options) -> Result<Summary, RunError> {
    Run::new(program, options, Watch::default())?.all(outside)
}

/// The same, before the eyes of an observer.
pub fn watch(
    program: Program<'_>,
    outside: &mut dyn Outside,
    options: Options,
    observer: &mut dyn Observer,
) -> Result<Summary, RunError> {
    Run::new(program, options, Watch::new(Some(observer)))?.all(outside)
}

/// The most that may lie on all channels together, in words of 32 bytes: an item takes one, an array one more for 8 elements.
const MOST_HELD: u64 = 1 << 26;

struct Run<'a> {
    program: Program<'a>,
    order: Order<'a>,
    channels: Vec<VecDeque<Value>>,
    /// The fields of each filter.
    machines: Vec<Option<Machine<'a>>>,
    mail: Mail<'a>,
    /// The number of each reader among readers, and writer among writers.
    ends: Vec<usize>,
    /// What an item of each channel weighs, and all items on channels now.
    weights: Vec<u64>,
    held: u64,
    pushed: Vec<Value>,
    bytes: Vec<u8>,
    watch: Watch<'a>,
}

impl<'a> Run<'a> {
    fn new(program: Program<'a>, options: Options, watch: Watch<'a>) -> Result<Run<'a>, RunError> {
        let Program { globals, codes, graph, steady, messages } = program;
        let statics = Statics::new(globals);
        let mut prepared: Vec<Option<Vec<Value>>> = vec![None; codes.len()];
        let mut machines = Vec::with_capacity(graph.nodes.len());
        let (mut readers, mut writers) = (0, 0);
        let mut ends = Vec::with_capacity(graph.nodes.len());
        for node in &graph.nodes {
            let machine = match &node.kind {
                NodeKind::Filter { code, .. } => {
                    let Some(c) = codes.get(code.index()) else {
                        return Err(RunError::host(&node.path, 0, "there is no code for this filter".into()));
                    };
                    let dynamic = c.work.dynamic.is_some() || c.prework.as_ref().is_some_and(|p| p.dynamic.is_some());
                    if dynamic {
                        let kind = EvalErrorKind::Unsupported("a dynamic rate".into());
                        return Err(RunError::new(&node.path, 0, &EvalError::new(kind, c.work.span)));
                    }
                    let fields = prepared[code.index()].get_or_insert_with(|| {
                        c.fields.iter().map(|f| Value::from_const(&f.initial, &f.ty, globals)).collect()
                    });
                    // constants are shared by all instances, what changes is each one's own
                    let own =
                        fields.iter().zip(&c.fields).map(|(v, f)| if f.constant { v.clone() } else { v.deep_copy() });
                    Some(Machine::new(globals, &c.functions, statics.clone(), own.collect()))
                }
                _ => None,
            };
            machines.push(machine);
            let counter = if matches!(node.kind, NodeKind::Writer(_)) { &mut writers } else { &mut readers };
            ends.push(*counter);
            if matches!(node.kind, NodeKind::Writer(_) | NodeKind::Reader(_)) {
                *counter += 1;
            }
        }
        let channels = (graph.channels.iter())
            .map(|c| c.initial.iter().map(|v| Value::from_const(v, &c.ty, globals)).collect())
            .collect();
        let order = Order::new(graph, steady, options.iterations);
        let mail = Mail::new(messages, graph.nodes.len());
        let weights: Vec<u64> =
            graph.channels.iter().map(|c| 1 + value::size(&c.ty, globals).unwrap_or(0) / 8).collect();
        let held = weights.iter().zip(&order.fill).map(|(w, n)| w * n).sum();
        let (pushed, bytes) = (Vec::new(), Vec::new());
        Ok(Run { program, order, channels, machines, mail, ends, weights, held, pushed, bytes, watch })
    }

    fn all(mut self, outside: &mut dyn Outside) -> Result<Summary, RunError> {
        let result = self.steps(outside);
        let steady_states = self.order.completed;
        self.watch.finished(steady_states);
        result.map(|stopped| Summary { fired: self.order.fired, steady_states, stopped })
    }

    /// The whole run; did the world stop it?
    fn steps(&mut self, outside: &mut dyn Outside) -> Result<bool, RunError> {
        let mut stopped = false;
        for id in self.program.graph.node_ids() {
            let node = self.program.graph.node(id);
            if let NodeKind::Filter { code, .. } = node.kind
                && let Some(code) = self.program.codes.get(code.index())
                && !code.init_output.is_empty()
            {
                self.watch.initialised(id, &code.init_output);
                outside.print(&code.init_output).map_err(|why| RunError::host(&node.path, 0, why))?;
            }
        }
        while !stopped && !outside.wants_stop() {
            match self.order.next() {
                Next::End => {
                    self.last_messages(outside, &mut stopped)?;
                    return Ok(stopped);
                }
                Next::Fire(id) => self.fire(id, outside, &mut stopped)?,
            }
        }
        Ok(true)
    }

    /// One firing, and what follows from it.
    fn fire(&mut self, id: NodeId, outside: &mut dyn Outside, stopped: &mut bool) -> Result<(), RunError> {
        let graph = self.program.graph;
        let node = graph.node(id);
        let fired = self.order.fired[id.index()];
        let prework = fired == 0 && matches!(node.kind, NodeKind::Filter { prework: Some(_), .. });
        self.watch.begins(graph, id, (fired, self.order.epoch, prework), &self.channels);
        match self.act(id, outside, stopped) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(e) => {
                self.watch.breaks(Some(&e));
                return Err(e);
            }
        }
        let before: u64 = self.weight_around(id);
        self.order.fire(id);
        self.held = (self.held + self.weight_around(id)).saturating_sub(before);
        debug_assert!(node.inputs.iter().all(|c| self.channels[c.index()].len() as u64 == self.order.fill[c.index()]));
        self.watch.ends(id, &self.order.fill);
        Ok(())
    }

    /// What a node does in one firing; false where there was none.
    fn act(&mut self, id: NodeId, outside: &mut dyn Outside, stopped: &mut bool) -> Result<bool, RunError> {
        let graph = self.program.graph;
        let node = graph.node(id);
        let fired = self.order.fired[id.index()];
        let made: u64 =
            node.outputs.iter().map(|c| self.weights[c.index()] * u64::from(graph.produced_by_firing(*c, fired))).sum();
        if self.held.saturating_add(made) > MOST_HELD {
            return Err(RunError::host(
                &node.path,
                fired,
                "more items wait on channels than the interpreter holds".into(),
            ));
        }
        match &node.kind {
            NodeKind::Filter { code, .. } => {
                if !self.filter(id, *code, outside, stopped)? {
                    self.watch.breaks(None);
                    return Ok(false);
                }
            }
            NodeKind::Reader(_) => {
                if !self.read(id, outside)? {
                    self.order.exhausted(id);
                    self.watch.forget();
                    return Ok(false);
                }
            }
            NodeKind::Writer(_) => self.write(id, outside)?,
            NodeKind::Identity => self.deal(&node.inputs, &[1], &node.outputs, &[1]),
            NodeKind::Duplicate => {
                let item = node.inputs.first().and_then(|c| self.channels[c.index()].pop_front());
                if let Some(item) = item {
                    for c in &node.outputs {
                        self.put(*c, item.deep_copy());
                    }
                }
            }
            NodeKind::SplitRoundRobin(weights) => {
                let sum = weights.iter().fold(0, |a: u32, w| a.saturating_add(*w));
                self.deal(&node.inputs, &[sum], &node.outputs, weights);
            }
            NodeKind::JoinRoundRobin(weights) => {
                let sum = weights.iter().fold(0, |a: u32, w| a.saturating_add(*w));
                self.deal(&node.inputs, weights, &node.outputs, &[sum]);
            }
        }
        Ok(true)
    }

    /// What lies on the channels of a node.
    fn weight_around(&self, id: NodeId) -> u64 {
        let node = self.program.graph.node(id);
        let all = node.inputs.iter().chain(&node.outputs);
        all.map(|c| self.weights[c.index()] * self.order.fill[c.index()]).sum()
    }

    /// Puts an item on a channel, unless nobody will ever take it.
    fn put(&mut self, channel: ChannelId, item: Value) {
        let dropped = self.order.drops(channel);
        self.watch.put(channel, &item, dropped);
        if !dropped {
            self.channels[channel.index()].push_back(item);
        }
    }

    /// Takes as many items as given from each input in turn, and gives as many as given to each output in turn.
    fn deal(&mut self, inputs: &[ChannelId], take: &[u32], outputs: &[ChannelId], give: &[u32]) {
        let mut items = VecDeque::new();
        for (c, n) in inputs.iter().zip(take) {
            let channel = &mut self.channels[c.index()];
            let n = (*n as usize).min(channel.len());
            items.extend(channel.drain(..n));
        }
        for (c, n) in outputs.iter().zip(give) {
            for item in items.drain(..(*n as usize).min(items.len())).collect::<Vec<_>>() {
                self.put(*c, item);
            }
        }
    }

    /// One firing of a filter; false where the world stopped it.
    fn filter(
        &mut self,
        id: NodeId,
        code: CodeId,
        outside: &mut dyn Outside,
        stopped: &mut bool,
    ) -> Result<bool, RunError> {
        let graph = self.program.graph;
        let node = graph.node(id);
        let code = &self.program.codes[code.index()];
        let fired = self.order.fired[id.index()];
        let def = match &code.prework {
            Some(prework) if fired == 0 => prework,
            _ => &code.work,
        };
        while let Some(letter) = self.mail.next(id, fired + 1) {
            if !self.handle(id, letter, outside, stopped)? {
                return Ok(false);
            }
        }
        let Some(machine) = self.machines[id.index()].as_mut() else { return Ok(true) };
        self.pushed.clear();
        let fields = if self.watch.is_on() { self.watch.fields(machine, &code.fields) } else { None };
        let mut firing = Firing {
            input: node.inputs.first().map(|c| &mut self.channels[c.index()]),
            output: &mut self.pushed,
            rates: def.rates,
            popped: 0,
            seen: 0,
            node: id,
            fired,
            mail: &mut self.mail,
            outside,
            stopped,
            effects: self.watch.effects(),
        };
        let result = machine.call_own(def.function, Vec::new(), &mut firing);
        let (popped, seen, stopped) = (firing.popped, firing.seen, *firing.stopped);
        if let (Some(before), Some(effects)) = (fields, firing.effects) {
            effects.changes = changes(&before, &machine.fields);
        }
        let pushed = self.pushed.len() as u32;
        let broken = stopped || result.is_err() || pushed < def.rates.push;
        self.watch.ran(popped, seen, broken.then_some(&self.pushed));
        if stopped {
            return Ok(false);
        }
        result.map_err(|e| RunError::new(&node.path, fired, &e))?;
        if pushed < def.rates.push {
            let kind = EvalErrorKind::PushedLess { pushed, declared: def.rates.push };
            return Err(RunError::new(&node.path, fired, &EvalError::new(kind, def.span)));
        }
        // what was declared but not popped is dropped
        if let Some(c) = node.inputs.first() {
            let channel = &mut self.channels[c.index()];
            let n = (def.rates.pop as usize).min(channel.len());
            channel.drain(..n);
        }
        let mut pushed = std::mem::take(&mut self.pushed);
        if let Some(c) = node.outputs.first() {
            for item in pushed.drain(..) {
                self.put(*c, item);
            }
        }
        self.pushed = pushed;
        Ok(true)
    }

    /// A message takes effect; false where the world stopped it.
    fn handle(
        &mut self,
        id: NodeId,
        letter: Letter,
        outside: &mut dyn Outside,
        stopped: &mut bool,
    ) -> Result<bool, RunError> {
        let node = self.program.graph.node(id);
        let (Some(machine), NodeKind::Filter { code, .. }) = (self.machines[id.index()].as_mut(), &node.kind) else {
            return Ok(true);
        };
        let fired = self.order.fired[id.index()];
        let mut told = self.watch.delivery(id, (fired, self.order.epoch), &letter);
        let defs = &self.program.codes[code.index()].fields;
        let fields = if told.is_some() { self.watch.fields(machine, defs) } else { None };
        let mut between = Firing {
            input: None,
            output: &mut self.pushed,
            rates: Rates::default(),
            popped: 0,
            seen: 0,
            node: id,
            fired,
            mail: &mut self.mail,
            outside,
            stopped,
            effects: told.as_mut().map(|t| &mut t.effects),
        };
        let result = machine.call_own(letter.handler, letter.args, &mut between);
        let stopped = *between.stopped;
        let result = result.map_err(|e| RunError::new(&node.path, fired, &e));
        if let Some(mut told) = told {
            told.effects.changes = fields.map_or(Vec::new(), |before| changes(&before, &machine.fields));
            self.watch.delivered(
                &told,
                match &result {
                    _ if stopped => Outcome::Abandoned,
                    Ok(_) => Outcome::Complete,
                    Err(e) => Outcome::Failed(e),
                },
            );
            if stopped || result.is_err() {
                // the firing that was to follow never began
                self.watch.forget();
            }
        }
        Ok(!stopped && result.map(|_| true)?)
    }

    /// What takes effect after the last firing of its receiver.
    fn last_messages(&mut self, outside: &mut dyn Outside, stopped: &mut bool) -> Result<(), RunError> {
        for id in self.program.graph.node_ids() {
            while let Some(letter) = self.mail.last(id, self.order.fired[id.index()]) {
                if !self.handle(id, letter, outside, stopped)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// One firing of a reader; false at the end.
    fn read(&mut self, id: NodeId, outside: &mut dyn Outside) -> Result<bool, RunError> {
        let Program { graph, globals, .. } = self.program;
        let node = graph.node(id);
        let fired = self.order.fired[id.index()];
        let Some(channel) = node.outputs.first() else { return Ok(false) };
        let ty = &graph.channel(*channel).ty;
        let Some(size) = items::size(ty, globals) else {
            return Err(RunError::host(&node.path, fired, "items of this type cannot be read".into()));
        };
        self.bytes.clear();
        self.bytes.resize(size, 0);
        let there = outside.read(self.ends[id.index()], &mut self.bytes);
        if !there.map_err(|why| RunError::host(&node.path, fired, why))? {
            return Ok(false);
        }
        match items::decode(ty, &mut &self.bytes[..], globals) {
            Some(item) => {
                self.put(*channel, item);
                Ok(true)
            }
            None => Err(RunError::host(&node.path, fired, "an item could not be read".into())),
        }
    }

    fn write(&mut self, id: NodeId, outside: &mut dyn Outside) -> Result<(), RunError> {
        let node = self.program.graph.node(id);
        let fired = self.order.fired[id.index()];
        let Some(item) = node.inputs.first().and_then(|c| self.channels[c.index()].pop_front()) else { return Ok(()) };
        self.bytes.clear();
        if !items::encode(&item, &mut self.bytes) {
            return Err(RunError::host(&node.path, fired, "items of this type cannot be written".into()));
        }
        outside.write(self.ends[id.index()], &self.bytes).map_err(|why| RunError::host(&node.path, fired, why))
    }
}
