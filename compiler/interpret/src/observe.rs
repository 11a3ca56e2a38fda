//! What a run tells someone who watches it.
//!
//! Takes nothing from the observer and changes nothing for it: with or without one, the run is the same. Of firings that the
//! observer wants, items, messages and fields are copied; of all others it hears only that they were.

use crate::error::RunError;
use sluice_frontend::eval::{Items, Value};
use sluice_frontend::ids::{ChannelId, FieldId, FnId, NodeId};
use sluice_frontend::ops::Scalar;
use sluice_frontend::typed::{FieldDef, Name};

/// Someone who watches a run. A method that is not written does nothing.
///
/// For each firing come [`begins`](Observer::begins); where it is wanted, [`delivered`](Observer::delivered) for each message that takes
/// effect before it and [`fired`](Observer::fired); and [`ends`](Observer::ends) where it is complete.
pub trait Observer {
    /// Is this firing (from 1) wanted in full?
    fn wants(&mut self, node: NodeId, firing: u64) -> bool {
        let _ = (node, firing);
        false
    }

    /// Are the fields that change wanted, too?
    fn wants_fields(&self) -> bool {
        false
    }

    /// A filter's `init` printed this; before all firings.
    fn initialised(&mut self, node: NodeId, printed: &str) {
        let _ = (node, printed);
    }

    /// A firing begins.
    fn begins(&mut self, node: NodeId) {
        let _ = node;
    }

    /// A message took effect, or failed to.
    fn delivered(&mut self, message: &Delivered, outcome: Outcome<'_>) {
        let _ = (message, outcome);
    }

    /// A firing that was wanted is over.
    fn fired(&mut self, firing: &Fired, outcome: Outcome<'_>) {
        let _ = (firing, outcome);
    }

    /// A firing is complete. One that decided on its rates popped and pushed so many items; `fill` is what lies on each channel now.
    fn ends(&mut self, node: NodeId, moved: Option<(u64, u64)>, fill: &[u64]) {
        let _ = (node, moved, fill);
    }

    /// An attempt was abandoned: there was no firing.
    fn abandoned(&mut self, node: NodeId) {
        let _ = node;
    }

    /// The run is over, well or not, after so many whole steady states.
    fn finished(&mut self, steady_states: u64) {
        let _ = steady_states;
    }
}

/// How a firing or a delivery went.
#[derive(Clone, Copy, Debug)]
pub enum Outcome<'a> {
    /// To its end.
    Complete,
    /// It ended the run.
    Failed(&'a RunError),
    /// It was an attempt that asked for items that are not there: so many it waits for. It counts as never begun.
    Abandoned {
        /// From the first item of the firing on.
        wants: u64,
    },
    /// The world stopped the run in the middle of it: it counts as never begun.
    Stopped,
}

/// A firing.
#[derive(Clone, Debug)]
pub struct Fired {
    /// Of which node.
    pub node: NodeId,
    /// Its number, from 1.
    pub firing: u64,
    /// The steady state it belongs to, from 1; 0 is the initialisation.
    pub steady_state: u64,
    /// Was it `prework`?
    pub prework: bool,
    /// What it took, by input port.
    pub inputs: Vec<Taken>,
    /// What it gave, by output port.
    pub outputs: Vec<Given>,
    /// What else it did.
    pub effects: Effects,
}

/// What a firing took from a channel.
#[derive(Clone, Debug)]
pub struct Taken {
    /// Which.
    pub channel: ChannelId,
    /// The first items on it, as they were before.
    pub items: Vec<Value>,
    /// So many of them were popped, ...
    pub popped: usize,
    /// ... so many left the channel (the rest of these were dropped), and all of them were looked at or could be.
    pub gone: usize,
}

/// What a firing gave to a channel.
#[derive(Clone, Debug)]
pub struct Given {
    /// Which.
    pub channel: ChannelId,
    /// The items, in order.
    pub items: Vec<Value>,
    /// The consumer is dead: nobody will ever take them.
    pub dropped: bool,
}

/// What a firing or a handler did besides moving items.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Text.
    pub printed: String,
    /// Messages sent.
    pub sent: Vec<Sent>,
    /// Fields that have other values than before, where those are wanted.
    pub changes: Vec<Change>,
}

/// A message sent.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The handler.
    pub handler: Name,
    /// Its arguments.
    pub args: Vec<Value>,
    /// Each receiver, and the firing (from 1) before which it takes effect there.
    pub to: Vec<(NodeId, u64)>,
}

/// A message that took effect.
#[derive(Clone, Debug)]
pub struct Delivered {
    /// At whom.
    pub receiver: NodeId,
    /// Before which firing of the receiver (from 1).
    pub before: u64,
    /// The steady state that runs, as in [`Fired`].
    pub steady_state: u64,
    /// From whom.
    pub sender: NodeId,
    /// Sent in which firing of the sender (from 1).
    pub sent_in: u64,
    /// The handler, a function of the receiver.
    pub handler: FnId,
    /// Its arguments.
    pub args: Vec<Value>,
    /// What the handler did.
    pub effects: Effects,
}

/// A part of a field that has another value than before.
#[derive(Clone, Debug)]
pub struct Change {
    /// The field.
    pub field: FieldId,
    /// The way to the part: positions in arrays, numbers of fields in structs.
    pub at: Vec<usize>,
    /// The value before.
    pub before: Value,
    /// The value now.
    pub after: Value,
}

/// The parts of fields that differ. `before` has the fields that can change, the others as no value.
pub(crate) fn changes(before: &[Value], after: &[Value]) -> Vec<Change> {
    let mut all = Vec::new();
    for (i, (a, b)) in before.iter().zip(after).enumerate() {
        if !matches!(a, Value::Void) {
            compare(FieldId::from(i), a, b, &mut Vec::new(), &mut all);
        }
    }
    all
}

/// The fields that can change, as they are now.
pub(crate) fn copy_fields(fields: &[Value], defs: &[FieldDef]) -> Vec<Value> {
    fields.iter().zip(defs).map(|(v, d)| if d.constant { Value::Void } else { v.deep_copy() }).collect()
}

fn compare(field: FieldId, a: &Value, b: &Value, at: &mut Vec<usize>, all: &mut Vec<Change>) {
    match (a, b) {
        (Value::Array(x), Value::Array(y)) | (Value::Struct(x), Value::Struct(y)) => {
            let (x, y) = (x.borrow(), y.borrow());
            let differ: Vec<usize> = (0..x.len().min(y.len())).filter(|i| !same_at(&x, &y, *i)).collect();
            for i in differ {
                if let (Some(a), Some(b)) = (x.get(i), y.get(i)) {
                    at.push(i);
                    compare(field, &a, &b, at, all);
                    at.pop();
                }
            }
        }
        _ if same(a, b) => {}
        _ => all.push(Change { field, at: at.clone(), before: a.clone(), after: b.clone() }),
    }
}

/// Are these elements the same? (Aggregates may still turn out to be.)
fn same_at(x: &Items, y: &Items, i: usize) -> bool {
    match (x, y) {
        (Items::Bits(x), Items::Bits(y)) | (Items::Bools(x), Items::Bools(y)) => x[i] == y[i],
        (Items::Ints(x), Items::Ints(y)) => x[i] == y[i],
        (Items::Floats(x), Items::Floats(y)) => x[i].to_bits() == y[i].to_bits(),
        (Items::Doubles(x), Items::Doubles(y)) => x[i].to_bits() == y[i].to_bits(),
        (Items::Any(x), Items::Any(y)) => same(&x[i], &y[i]),
        _ => false,
    }
}

/// The same bits? A zero and a negative zero are not the same, a NaN is the same as itself.
fn same(a: &Value, b: &Value) -> bool {
    fn eq(a: &[f32], b: &[f32]) -> bool {
        a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits()))
    }
    let (Value::Scalar(a), Value::Scalar(b)) = (a, b) else {
        return match (a, b) {
            (Value::Str(x), Value::Str(y)) => x == y,
            (Value::Void, Value::Void) | (Value::Portal(_), Value::Portal(_)) => true,
            _ => false,
        };
    };
    match (a, b) {
        (Scalar::Bit(x), Scalar::Bit(y)) | (Scalar::Bool(x), Scalar::Bool(y)) => x == y,
        (Scalar::Int(x), Scalar::Int(y)) => x == y,
        (Scalar::Float(x), Scalar::Float(y)) => eq(&[*x], &[*y]),
        (Scalar::Double(x), Scalar::Double(y)) => x.to_bits() == y.to_bits(),
        (Scalar::Complex(a, b), Scalar::Complex(x, y)) => eq(&[*a, *b], &[*x, *y]),
        (Scalar::Vec(_, x), Scalar::Vec(_, y)) => eq(x, y),
        _ => false,
    }
}
