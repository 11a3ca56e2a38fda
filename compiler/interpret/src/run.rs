//! Runs a program: the reference order, with real items.

use crate::error::RunError;
use crate::fire::{Attempt, Call, Firing};
use crate::mail::{Letter, Mail};
use crate::observe::{Observer, Outcome, changes};
use crate::order::{Next, Order};
use crate::watch::Watch;
use crate::{Outside, items};
use sluice_frontend::eval::value;
use sluice_frontend::eval::{EvalError, EvalErrorKind, Machine, Statics, Value};
use sluice_frontend::graph::{Node, NodeKind, SdfGraph};
use sluice_frontend::ids::{ChannelId, CodeId, NodeId};
use sluice_frontend::messages::Messages;
use sluice_frontend::steady_state::SteadyState;
use sluice_frontend::typed::{Bounds, FilterCode, Globals, Rates};
use std::collections::{HashMap, VecDeque};

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
    /// The most items on a channel of a program with dynamic rates; `None` is [`CHANNEL_LIMIT`].
    pub channel_limit: Option<u64>,
}

/// The most items on a channel of a program with dynamic rates, where nothing else is said.
pub const CHANNEL_LIMIT: u64 = 1 << 24;

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

/// An error where it is told: that there is too much of something is not the fault of one statement.
fn placed(e: EvalError, node: &Node) -> EvalError {
    use EvalErrorKind::*;
    match e.kind {
        ChannelFull { .. } | PrintsTooMuchAtOnce | TooManyMessages => EvalError::new(e.kind.clone(), node.span),
        _ => e,
    }
}

/// What came of a node's firing.
enum Fired {
    /// It moved the items that its rates say.
    Static,
    /// It decided on its rates.
    Dynamic { popped: u64, pushed: u64, looked: u64 },
    /// It did not happen: an attempt was abandoned, an input has ended, or the world stopped the run.
    Not,
}

struct Run<'a> {
    program: Program<'a>,
    order: Order<'a>,
    channels: Vec<VecDeque<Value>>,
    /// The fields of each filter.
    machines: Vec<Option<Machine<'a>>>,
    mail: Mail<'a>,
    /// Native functions called by attempts that were abandoned, by node.
    calls: HashMap<NodeId, Vec<Call>>,
    /// The number of each reader among readers, and writer among writers.
    ends: Vec<usize>,
    /// What an item of each channel weighs, and all items on channels now.
    weights: Vec<u64>,
    held: u64,
    /// The most items on one channel, where that is not known beforehand.
    limit: Option<u64>,
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
        let mail = Mail::new(messages, graph.nodes.len(), steady.islands.is_some());
        let limit = steady.islands.as_ref().map(|_| options.channel_limit.unwrap_or(CHANNEL_LIMIT));
        let weights: Vec<u64> =
            graph.channels.iter().map(|c| 1 + value::size(&c.ty, globals).unwrap_or(0) / 8).collect();
        let held = weights.iter().zip(&order.fill).map(|(w, n)| w * n).sum();
        let (pushed, bytes) = (Vec::new(), Vec::new());
        let calls = HashMap::new();
        Ok(Run { program, order, channels, machines, mail, calls, ends, weights, held, limit, pushed, bytes, watch })
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
        self.watch.begins(graph, id, (fired, self.order.epoch), &self.channels);
        let before: u64 = self.weight_around(id);
        let done = self.act(id, outside, stopped).and_then(|done| {
            match done {
                Fired::Static => self.order.fire(id),
                Fired::Dynamic { popped, pushed, looked } => self.order.attempted(id, popped, pushed, looked),
                Fired::Not => return Ok(done),
            }
            self.held = (self.held + self.weight_around(id)).saturating_sub(before);
            self.full(id, fired).map(|()| done)
        });
        match done {
            Ok(Fired::Not) => return Ok(()),
            Ok(Fired::Static) => self.watch.ends(id, None, &self.order.fill),
            Ok(Fired::Dynamic { popped, pushed, .. }) => {
                self.watch.ends(id, Some((popped, pushed)), &self.order.fill);
            }
            Err(e) => {
                self.watch.breaks(id, Outcome::Failed(&e));
                return Err(e);
            }
        }
        debug_assert!(node.inputs.iter().all(|c| self.channels[c.index()].len() as u64 == self.order.fill[c.index()]));
        Ok(())
    }

    /// What a node does in one firing.
    fn act(&mut self, id: NodeId, outside: &mut dyn Outside, stopped: &mut bool) -> Result<Fired, RunError> {
        let graph = self.program.graph;
        let node = graph.node(id);
        let fired = self.order.fired[id.index()];
        // a firing that decides on its rates is checked as it goes
        let made: u64 =
            node.outputs.iter().map(|c| self.weights[c.index()] * u64::from(graph.produced_by_firing(*c, fired))).sum();
        if self.held.saturating_add(made) > MOST_HELD {
            return Err(self.held_too_much(id, fired));
        }
        match &node.kind {
            NodeKind::Filter { code, .. } => {
                let done = self.filter(id, *code, outside, stopped)?;
                if *stopped {
                    self.watch.breaks(id, Outcome::Stopped);
                }
                return Ok(done);
            }
            NodeKind::Reader(_) => {
                if !self.read(id, outside)? {
                    self.order.exhausted(id);
                    self.watch.forget();
                    return Ok(Fired::Not);
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
        Ok(Fired::Static)
    }

    /// Does more wait on a node's outputs, or on all channels, than may?
    fn full(&self, id: NodeId, fired: u64) -> Result<(), RunError> {
        let graph = self.program.graph;
        let node = graph.node(id);
        if let Some(limit) = self.limit
            && let Some(c) = node.outputs.iter().find(|c| self.order.fill[c.index()] > limit)
        {
            let to = graph.node(graph.channel(*c).to.0).path.as_str().into();
            let kind = EvalErrorKind::ChannelFull { limit, to };
            return Err(RunError::new(&node.path, fired, &EvalError::new(kind, node.span)));
        }
        if self.held > MOST_HELD { Err(self.held_too_much(id, fired)) } else { Ok(()) }
    }

    fn held_too_much(&self, id: NodeId, fired: u64) -> RunError {
        let why = "more items wait on channels than the interpreter holds";
        RunError::host(&self.program.graph.node(id).path, fired, why.into())
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

    /// One firing of a filter, or an attempt of one.
    fn filter(
        &mut self,
        id: NodeId,
        code: CodeId,
        outside: &mut dyn Outside,
        stopped: &mut bool,
    ) -> Result<Fired, RunError> {
        let graph = self.program.graph;
        let node = graph.node(id);
        let code = &self.program.codes[code.index()];
        let fired = self.order.fired[id.index()];
        let def = match &code.prework {
            Some(prework) if fired == 0 => prework,
            _ => &code.work,
        };
        while let Some(letter) = self.mail.next(id, fired + 1) {
            // what an abandoned attempt did was for another firing than this one will be
            self.calls.remove(&id);
            if !self.handle(id, letter, outside, stopped)? {
                return Ok(Fired::Not);
            }
        }
        let Some(machine) = self.machines[id.index()].as_mut() else { return Ok(Fired::Static) };
        self.pushed.clear();
        let bounds = def.bounds();
        let dynamic = code.dynamic();
        // what an attempt that is abandoned leaves as it was
        let fields: Vec<Option<Value>> = match dynamic {
            false => Vec::new(),
            true => {
                code.fields.iter().zip(&machine.fields).map(|(f, v)| (!f.constant).then(|| v.deep_copy())).collect()
            }
        };
        let told = self.watch.fields(machine, &code.fields);
        let mut firing = Firing {
            input: node.inputs.first().map(|c| &mut self.channels[c.index()]),
            output: &mut self.pushed,
            bounds,
            popped: 0,
            looked: 0,
            attempt: dynamic.then(|| Attempt {
                room: self.limit.unwrap_or(CHANNEL_LIMIT),
                to: node.outputs.first().map(|c| graph.node(graph.channel(*c).to.0).path.as_str()),
                calls: self.calls.remove(&id).unwrap_or_default(),
                ..Attempt::default()
            }),
            node: id,
            fired,
            mail: &mut self.mail,
            firings: (&self.order.fired, &self.order.dead),
            outside,
            stopped,
            effects: self.watch.effects(),
        };
        let result = machine.call_own(def.function, Vec::new(), &mut firing);
        let (popped, looked, stopped) = (firing.popped, firing.looked, *firing.stopped);
        let (mut attempt, effects) = (firing.attempt.take(), firing.effects);
        if let (Some(before), Some(effects)) = (told, effects) {
            effects.changes = changes(&before, &machine.fields);
        }
        let channel = node.inputs.first().map(|c| &self.channels[c.index()]);
        self.watch.ran(popped, looked, &self.pushed, channel.filter(|_| dynamic));
        if stopped {
            return Ok(Fired::Not);
        }
        if let Some(attempt) = &mut attempt
            && let Some(wants) = attempt.wants
        {
            if !attempt.calls.is_empty() {
                self.calls.insert(id, std::mem::take(&mut attempt.calls));
            }
            for (field, before) in machine.fields.iter_mut().zip(fields) {
                if let Some(before) = before {
                    *field = before;
                }
            }
            self.order.abandoned(id, wants);
            self.watch.breaks(id, Outcome::Abandoned { wants });
            return Ok(Fired::Not);
        }
        if let Some(attempt) = attempt {
            if !attempt.text.is_empty() {
                outside.print(&attempt.text).map_err(|why| RunError::host(&node.path, fired, why))?;
            }
            for message in &attempt.messages {
                let now = (&self.order.fired[..], &self.order.dead[..]);
                self.mail
                    .send(id, fired + 1, message, now)
                    .map_err(|kind| RunError::new(&node.path, fired, &EvalError::new(kind, node.span)))?;
            }
        }
        result.map_err(|e| RunError::new(&node.path, fired, &placed(e, node)))?;
        let pushed = self.pushed.len() as u32;
        let less = if pushed < bounds.push.0 {
            Some(EvalErrorKind::PushedLess { pushed, declared: bounds.push.0 })
        } else if def.dynamic.is_some_and(|d| d.pop.is_some()) && popped < bounds.pop.0 {
            Some(EvalErrorKind::PoppedLess { popped, declared: bounds.pop.0 })
        } else {
            None
        };
        if let Some(kind) = less {
            return Err(RunError::new(&node.path, fired, &EvalError::new(kind, def.span)));
        }
        // what was declared but not popped is dropped
        let taken = if def.dynamic.is_some_and(|d| d.pop.is_some()) { popped } else { def.rates.pop };
        self.watch.takes(taken);
        if let Some(c) = node.inputs.first() {
            let channel = &mut self.channels[c.index()];
            let n = (taken as usize).min(channel.len());
            channel.drain(..n);
        }
        let mut items = std::mem::take(&mut self.pushed);
        if let Some(c) = node.outputs.first() {
            for item in items.drain(..) {
                self.put(*c, item);
            }
        }
        self.pushed = items;
        Ok(match dynamic {
            false => Fired::Static,
            true => Fired::Dynamic { popped: taken.into(), pushed: pushed.into(), looked },
        })
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
        let fields = self.watch.fields(machine, &self.program.codes[code.index()].fields);
        let mut between = Firing {
            input: None,
            output: &mut self.pushed,
            bounds: Bounds::of(Rates::default(), None),
            popped: 0,
            looked: 0,
            attempt: None,
            node: id,
            fired,
            mail: &mut self.mail,
            firings: (&self.order.fired, &self.order.dead),
            outside,
            stopped,
            effects: told.as_mut().map(|t| &mut t.effects),
        };
        let result = machine.call_own(letter.handler, letter.args, &mut between);
        let stopped = *between.stopped;
        let result = result.map_err(|e| RunError::new(&node.path, fired, &placed(e, node)));
        if let Some(mut told) = told {
            told.effects.changes = fields.map_or(Vec::new(), |before| changes(&before, &machine.fields));
            let outcome = match &result {
                _ if stopped => Outcome::Stopped,
                Ok(_) => Outcome::Complete,
                Err(e) => Outcome::Failed(e),
            };
            self.watch.delivered(&told, outcome);
        }
        if stopped || result.is_err() {
            // the firing that was to follow never began
            self.watch.forget();
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
