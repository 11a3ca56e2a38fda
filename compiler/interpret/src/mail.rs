//! Messages under way.
//!
//! Takes what filters send; gives each receiver, before each of its firings, what takes effect there, in an order that does not
//! depend on the order of firings: by the sender (in program order), its firing, and the order in which it sent.

use sluice_frontend::eval::{EvalErrorKind, Message, Value};
use sluice_frontend::ids::{FnId, NodeId};
use sluice_frontend::messages::{Direction, Link, Messages};
use std::collections::{BTreeMap, HashMap};

/// A message for a filter.
pub(crate) struct Letter {
    /// From whom.
    pub sender: NodeId,
    /// Sent in which of its firings, from 1.
    pub firing: u64,
    /// The function of the receiver to call.
    pub handler: FnId,
    /// Its arguments.
    pub args: Vec<Value>,
}

/// When, from whom, from which of its firings, in which order.
type Key = (u64, NodeId, u64, u64);

/// The most messages under way.
pub(crate) const MOST: usize = 1_000_000;

/// All messages under way.
pub(crate) struct Mail<'a> {
    messages: &'a Messages,
    /// Links by sender.
    links: HashMap<NodeId, Vec<usize>>,
    waiting: Vec<BTreeMap<Key, (Letter, Direction)>>,
    under_way: usize,
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
        Mail { messages, links, waiting: (0..nodes).map(|_| BTreeMap::new()).collect(), under_way: 0, sent: 0, dynamic }
    }

    /// A filter sends in a firing (counted from 1), at a time when the nodes have completed these firings, and these are dead. The arguments
    /// are copied for each receiver.
    pub fn send(
        &mut self,
        sender: NodeId,
        firing: u64,
        message: &Message,
        (fired, dead): (&[u64], &[bool]),
    ) -> Result<(), EvalErrorKind> {
        for (link, due) in self.ways(sender, firing, message, fired) {
            let receiver = link.receiver.index();
            if dead[receiver] && due > fired[receiver] + 1 {
                continue; // it will never fire so often
            }
            if self.under_way == MOST {
                return Err(EvalErrorKind::TooManyMessages);
            }
            self.under_way += 1;
            self.sent += 1;
            let args = message.args.iter().map(Value::deep_copy).collect();
            let key = (due, sender, firing, self.sent);
            let letter = Letter { sender, firing, handler: link.handler, args };
            self.waiting[link.receiver.index()].insert(key, (letter, link.direction));
        }
        Ok(())
    }

    /// Whom such a message reaches, and before which firing there.
    pub fn addressees(&self, sender: NodeId, firing: u64, message: &Message, fired: &[u64]) -> Vec<(NodeId, u64)> {
        self.ways(sender, firing, message, fired).into_iter().map(|(link, due)| (link.receiver, due)).collect()
    }

    /// The links that a message goes along, and when it takes effect.
    fn ways(&self, sender: NodeId, firing: u64, message: &Message, fired: &[u64]) -> Vec<(&'a Link, u64)> {
        let links = self.links.get(&sender).into_iter().flatten().map(|i| &self.messages.links[*i]);
        let key = (message.portal, &message.handler, message.latency);
        links
            .filter(|link| (link.portal, &link.name, link.latency) == key)
            .map(|link| match link.direction {
                Direction::Unbound if self.dynamic => (link, fired[link.receiver.index()] + 1),
                _ => (link, link.due.at(firing)),
            })
            .collect()
    }

    /// The next message that takes effect before the receiver's firing number `firing` (from 1).
    pub fn next(&mut self, receiver: NodeId, firing: u64) -> Option<Letter> {
        let entry = self.waiting[receiver.index()].first_entry()?;
        if entry.key().0 > firing {
            return None;
        }
        self.under_way -= 1;
        Some(entry.remove().0)
    }

    /// The same at the end of the run: what takes effect directly after the last firing.
    pub fn last(&mut self, receiver: NodeId, fired: u64) -> Option<Letter> {
        let waiting = &mut self.waiting[receiver.index()];
        // others that would come with the next firing do not keep it back
        let mut soon = waiting.iter().take_while(|(key, _)| key.0 <= fired + 1);
        let key = *soon.find(|(key, (_, direction))| key.0 <= fired || *direction == Direction::Upstream)?.0;
        self.under_way -= 1;
        waiting.remove(&key).map(|(letter, _)| letter)
    }
}
