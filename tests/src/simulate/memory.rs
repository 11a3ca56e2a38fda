//! What processors see of each other: items in rings, fields, messages.

use super::node::Fields;
use sluice_frontend::eval::Value;
use sluice_frontend::ids::{FnId, NodeId};
use sluice_frontend::messages::Direction;
use std::collections::HashMap;

/// An instance at work: where, in which kernel, and from when to when.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// No two runs have the same.
    pub number: u64,
    pub processor: u32,
    pub kernel: u64,
    pub start: u64,
    pub end: u64,
}

/// Who made something; `None` was there before the first kernel.
pub type Made = Option<Run>;

impl Run {
    /// Is it there for this one?
    pub fn sees(&self, made: Made) -> bool {
        match made {
            None => true,
            Some(by) if by.number == self.number => true,
            Some(by) if by.processor == self.processor => by.end <= self.start,
            Some(by) => by.kernel < self.kernel,
        }
    }
}

struct Cell {
    position: u64,
    value: Value,
    made: Made,
}

/// The buffer of a channel. Items are numbered from the oldest one that is there before the first kernel.
pub struct Ring {
    /// Items that it holds; `None` where only one task uses it.
    capacity: Option<u64>,
    cells: HashMap<u64, Cell>,
}

impl Ring {
    /// With the items that are there before the first kernel.
    pub fn new(capacity: Option<u64>, there: impl IntoIterator<Item = Value>) -> Ring {
        let mut ring = Ring { capacity, cells: HashMap::new() };
        for (x, value) in there.into_iter().enumerate() {
            ring.write(x as u64, value, None);
        }
        ring
    }

    fn place(&self, position: u64) -> u64 {
        self.capacity.map_or(position, |c| position % c.max(1))
    }

    /// Writes an item, over what was in its place.
    pub fn write(&mut self, position: u64, value: Value, made: Made) {
        self.cells.insert(self.place(position), Cell { position, value, made });
    }

    /// Forgets what nobody can read any more, where there is no bound that sees to it.
    pub fn forget(&mut self, position: u64) {
        if self.capacity.is_none() {
            self.cells.remove(&position);
        }
    }

    /// The item as this run sees it, or what is wrong with it.
    pub fn read(&self, position: u64, run: &Run) -> Result<&Value, String> {
        match self.cells.get(&self.place(position)) {
            Some(c) if c.position > position => Err(format!("item {position} is written over")),
            Some(c) if c.position == position && run.sees(c.made) => Ok(&c.value),
            Some(c) if c.position == position => Err(format!("item {position} is not visible yet")),
            _ => Err(format!("item {position} is not there yet")),
        }
    }
}

/// The fields of a node as instances left them.
pub struct States(Vec<(Made, Fields)>);

impl States {
    /// As they are before the first kernel.
    pub fn new(fields: Fields) -> States {
        States(vec![(None, fields)])
    }

    /// The newest that this run sees.
    pub fn seen(&self, run: &Run) -> &Fields {
        let newest = self.0.iter().rev().find(|(made, _)| run.sees(*made));
        &newest.unwrap_or(&self.0[0]).1
    }

    pub fn leave(&mut self, run: Run, fields: Fields) {
        self.0.push((Some(run), fields));
    }

    /// A kernel is over: all see the same.
    pub fn settle(&mut self) {
        self.0.drain(..self.0.len() - 1);
    }
}

/// A message under way to a receiver.
pub struct Letter {
    /// Before which firing (from 1), from whom, sent in which firing of the sender, as which.
    pub key: (u64, NodeId, u64, u64),
    pub direction: Direction,
    pub handler: FnId,
    pub args: Vec<Value>,
    pub made: Made,
}
