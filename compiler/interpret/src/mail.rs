//! Messages under way.
//!
//! Takes what filters send; gives each receiver, before each of its firings, what takes effect there, in an order that does not
//! depend on the order of firings: by the sender (in program order), its firing, and the order in which it sent.

use sluice_frontend::eval::{Message, Value};
use sluice_frontend::ids::{FnId, NodeId};
use sluice_frontend::messages::{Direction, Messages};
use std::collections::{BTreeMap, HashMap};

/// A message for a filter.
pub(crate) struct Letter {
    /// The function of the receiver to call.
    pub handler: FnId,
    /// Its arguments.
    pub args: Vec<Value>,
}

/// When, from whom, from which of its firings, in which order.
type Key = (u64, NodeId, u64, u64);

/// All messages under way.
pub(crate) struct Mail<'a> {
    messages: &'a Messages,
    /// Links by sender.
    links: HashMap<NodeId, Vec<usize>>,
    waiting: Vec<BTreeMap<Key, (Letter, Direction)>>,
    sent: u64,
    /// Are there dynamic rates? Then best effort is the receiver's next firing.
    dynamic: bool,
}

impl<'a> Mail<'a> {
    /// No messages yet, for so many nodes.
    pub fn new(messages: &'a Messages, nodes: usize, dynamic: bool) -> Mail<'a> {
        let mut links: HashMap<NodeId, Vec<usize>> = HashMap::new();
        for (i, link) in messages.links.iter().enumerate() {
            links.entry(link.sender).or_default().push(i);
        }
        Mail { messages, links, waiting: (0..nodes).map(|_| BTreeMap::new()).collect(), sent: 0, dynamic }
    }

    /// A filter sends in a firing (counted from 1), at a time when the nodes have completed these firings. The arguments are copied for
    /// each receiver.
    pub fn send(&mut self, sender: NodeId, firing: u64, message: &Message, fired: &[u64]) {
        for link in self.links.get(&sender).into_iter().flatten().map(|i| &self.messages.links[*i]) {
            if (link.portal, &link.name, link.latency) != (message.portal, &message.handler, message.latency) {
                continue;
            }
            self.sent += 1;
            let args = message.args.iter().map(Value::deep_copy).collect();
            let due = match link.direction {
                Direction::Unbound if self.dynamic => fired[link.receiver.index()] + 1,
                _ => link.due.at(firing),
            };
            let key = (due, sender, firing, self.sent);
            let letter = Letter { handler: link.handler, args };
            self.waiting[link.receiver.index()].insert(key, (letter, link.direction));
        }
    }

    /// The next message that takes effect before the receiver's firing number `firing` (from 1).
    pub fn next(&mut self, receiver: NodeId, firing: u64) -> Option<Letter> {
        let entry = self.waiting[receiver.index()].first_entry()?;
        (entry.key().0 <= firing).then(|| entry.remove().0)
    }

    /// The same at the end of the run: what takes effect directly after the last firing.
    pub fn last(&mut self, receiver: NodeId, fired: u64) -> Option<Letter> {
        let entry = self.waiting[receiver.index()].first_entry()?;
        let (due, direction) = (entry.key().0, entry.get().1);
        (due <= fired || due == fired + 1 && direction == Direction::Upstream).then(|| entry.remove().0)
    }
}
