//! The run's side of an [`Observer`]: the firing under way, gathered where it is wanted.
//!
//! Without an observer every method is one test and nothing more.

use crate::mail::Letter;
use crate::observe::*;
use sluice_frontend::eval::{Machine, Value};
use sluice_frontend::graph::{NodeKind, SdfGraph};
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
    /// Items that the code of the filter under way looked at.
    looked: Option<usize>,
}

impl<'o> Watch<'o> {
    pub fn new(observer: Option<&'o mut dyn Observer>) -> Watch<'o> {
        Watch { observer, now: None, port: 0, looked: None }
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
        (fired, steady_state): (u64, u64),
        channels: &[VecDeque<Value>],
    ) {
        let Some(o) = &mut self.observer else { return };
        o.begins(id);
        if !o.wants(id, fired + 1) {
            return;
        }
        let node = graph.node(id);
        let prework = fired == 0 && matches!(node.kind, NodeKind::Filter { prework: Some(_), .. });
        // an attempt leaves its items as they are until it is complete
        let dynamic = graph.is_dynamic(id);
        let taken = |c: &ChannelId| {
            if dynamic {
                return Taken { channel: *c, items: Vec::new(), popped: 0, gone: 0 };
            }
            let seen = graph.needed_by_firing(*c, fired) as usize;
            let gone = graph.consumed_by_firing(*c, fired) as usize;
            let items = channels[c.index()].iter().take(seen.max(gone)).map(Value::deep_copy).collect();
            Taken { channel: *c, items, popped: gone, gone }
        };
        (self.port, self.looked) = (0, None);
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

    /// The fields before something happens, where their changes are wanted.
    pub fn fields(&self, machine: &Machine<'_>, defs: &[FieldDef]) -> Option<Vec<Value>> {
        let wanted = self.observer.as_ref().is_some_and(|o| o.wants_fields());
        wanted.then(|| copy_fields(&machine.fields, defs))
    }

    /// The filter's code has run: so many items were popped, so many looked at, and these pushed. Of an attempt, the items are still on
    /// the channel.
    pub fn ran(&mut self, popped: u32, looked: u64, pushed: &[Value], channel: Option<&VecDeque<Value>>) {
        let Some(now) = &mut self.now else { return };
        if let Some(input) = now.inputs.first_mut() {
            if let Some(channel) = channel {
                input.items = channel.iter().take(looked as usize).map(Value::deep_copy).collect();
            }
            input.popped = popped as usize;
            // what is complete takes all that it declares: `takes` says so
            input.gone = input.popped;
            self.looked = Some(looked as usize);
        }
        if let Some(output) = now.outputs.first_mut() {
            output.items = pushed.iter().map(Value::deep_copy).collect();
        }
    }

    /// The filter's firing is complete and takes so many items off its channel; what it pushed comes by [`Watch::put`].
    pub fn takes(&mut self, taken: u32) {
        let Some(now) = &mut self.now else { return };
        if let Some(input) = now.inputs.first_mut() {
            input.gone = taken as usize;
        }
        if let Some(output) = now.outputs.first_mut() {
            output.items.clear();
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
    pub fn ends(&mut self, id: NodeId, moved: Option<(u64, u64)>, fill: &[u64]) {
        self.tell(Outcome::Complete);
        if let Some(o) = &mut self.observer {
            o.ends(id, moved, fill);
        }
    }

    /// The firing is not complete.
    pub fn breaks(&mut self, id: NodeId, outcome: Outcome<'_>) {
        self.tell(outcome);
        if let (Some(o), Outcome::Abandoned { .. }) = (&mut self.observer, outcome) {
            o.abandoned(id);
        }
    }

    fn tell(&mut self, outcome: Outcome<'_>) {
        let (Some(o), Some(mut now)) = (&mut self.observer, self.now.take()) else { return };
        if let (Some(input), Some(looked)) = (now.inputs.first_mut(), self.looked.take()) {
            input.items.truncate(input.gone.max(looked));
        }
        o.fired(&now, outcome);
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
