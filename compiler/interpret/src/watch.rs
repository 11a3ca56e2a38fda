//! The run's side of an [`Observer`]: the firing under way, gathered where it is wanted.
//!
//! Without an observer every method is one test and nothing more.

use crate::error::RunError;
use crate::mail::Letter;
use crate::observe::*;
use sluice_frontend::eval::{Machine, Value};
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::{ChannelId, NodeId};
use sluice_frontend::typed::FieldDef;
use std::collections::VecDeque;

/// An observer, or none, and what it will be told.
#[derive(Default)]
pub(crate) struct Watch<'o> {
    observer: Option<&'o mut dyn Observer>,
    /// The firing under way, where it is wanted.
    now: Option<Box<Fired>>,
    /// The output port that was given to last.
    port: usize,
}

impl<'o> Watch<'o> {
    pub fn new(observer: Option<&'o mut dyn Observer>) -> Watch<'o> {
        Watch { observer, now: None, port: 0 }
    }

    pub fn initialised(&mut self, node: NodeId, printed: &str) {
        if let Some(o) = &mut self.observer {
            o.initialised(node, printed);
        }
    }

    /// A firing begins; `fired` are complete. Takes down what lies before it on its input channels.
    pub fn begins(
        &mut self,
        graph: &SdfGraph,
        id: NodeId,
        (fired, steady_state, prework): (u64, u64, bool),
        channels: &[VecDeque<Value>],
    ) {
        let Some(o) = &mut self.observer else { return };
        o.begins(id);
        if !o.wants(id, fired + 1) {
            return;
        }
        let node = graph.node(id);
        let taken = |c: &ChannelId| {
            let seen = graph.needed_by_firing(*c, fired) as usize;
            let gone = graph.consumed_by_firing(*c, fired) as usize;
            let items = channels[c.index()].iter().take(seen.max(gone)).map(Value::deep_copy).collect();
            Taken { channel: *c, items, popped: gone, gone }
        };
        self.port = 0;
        self.now = Some(Box::new(Fired {
            node: id,
            firing: fired + 1,
            steady_state,
            prework,
            inputs: node.inputs.iter().map(taken).collect(),
            outputs: (node.outputs.iter()).map(|c| Given { channel: *c, items: Vec::new(), dropped: false }).collect(),
            effects: Effects::default(),
        }));
    }

    /// Where the firing under way, if it is wanted, notes what it does.
    pub fn effects(&mut self) -> Option<&mut Effects> {
        self.now.as_mut().map(|n| &mut n.effects)
    }

    /// Is the firing under way wanted?
    pub fn is_on(&self) -> bool {
        self.now.is_some()
    }

    /// The fields before something wanted happens, where their changes are wanted, too.
    pub fn fields(&self, machine: &Machine<'_>, defs: &[FieldDef]) -> Option<Vec<Value>> {
        let wanted = self.observer.as_ref().is_some_and(|o| o.wants_fields());
        wanted.then(|| copy_fields(&machine.fields, defs))
    }

    /// The filter's code has run: so many items were popped, so many looked at, and these pushed (which do not go onto the channel
    /// where the firing failed).
    pub fn ran(&mut self, popped: u32, seen: u32, pushed: Option<&[Value]>) {
        let Some(now) = &mut self.now else { return };
        if let Some(input) = now.inputs.first_mut() {
            input.popped = popped as usize;
            if pushed.is_some() {
                input.gone = input.popped;
            }
            input.items.truncate(input.gone.max(seen as usize));
        }
        if let (Some(output), Some(pushed)) = (now.outputs.first_mut(), pushed) {
            output.items = pushed.iter().map(Value::deep_copy).collect();
        }
    }

    /// An item goes onto a channel, or nowhere because its consumer is dead.
    pub fn put(&mut self, channel: ChannelId, item: &Value, dropped: bool) {
        let Some(now) = &mut self.now else { return };
        let n = now.outputs.len();
        // ports are served in turn
        for _ in 0..n {
            if let Some(output) = now.outputs.get_mut(self.port).filter(|o| o.channel == channel) {
                output.items.push(item.deep_copy());
                output.dropped = dropped;
                return;
            }
            self.port = (self.port + 1) % n;
        }
    }

    /// The firing is complete.
    pub fn ends(&mut self, id: NodeId, fill: &[u64]) {
        let Some(o) = &mut self.observer else { return };
        if let Some(now) = self.now.take() {
            o.fired(&now, Outcome::Complete);
        }
        o.ends(id, fill);
    }

    /// The firing failed, or (without an error) never was. What was not a filter's has nothing to tell then.
    pub fn breaks(&mut self, error: Option<&RunError>) {
        let (Some(o), Some(now)) = (&mut self.observer, self.now.take()) else { return };
        o.fired(&now, error.map_or(Outcome::Abandoned, Outcome::Failed));
    }

    /// Nothing comes of the firing, and nothing is told of it: a reader at its end.
    pub fn forget(&mut self) {
        self.now = None;
    }

    /// A message takes effect: the beginning of what is told of it, where it is wanted.
    pub fn delivery(
        &mut self,
        receiver: NodeId,
        (fired, steady_state): (u64, u64),
        letter: &Letter,
    ) -> Option<Delivered> {
        let wanted = self.now.is_some() || self.observer.as_mut().is_some_and(|o| o.wants(receiver, fired + 1));
        wanted.then(|| Delivered {
            receiver,
            before: fired + 1,
            steady_state,
            sender: letter.sender,
            sent_in: letter.firing,
            handler: letter.handler,
            args: letter.args.iter().map(Value::deep_copy).collect(),
            effects: Effects::default(),
        })
    }

    pub fn delivered(&mut self, message: &Delivered, outcome: Outcome<'_>) {
        if let Some(o) = &mut self.observer {
            o.delivered(message, outcome);
        }
    }

    pub fn finished(&mut self, steady_states: u64) {
        if let Some(o) = &mut self.observer {
            o.finished(steady_states);
        }
    }
}
