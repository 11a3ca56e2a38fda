//! One firing of one filter: the evaluator's host.
//!
//! Takes the filter's input and output and the rates in force; checks each pop, peek and push against them. Where the firing itself
//! decides on its rates it is an *attempt*: an item that is asked for and not there ends it, and until it is complete nothing of what it does can be seen.

use crate::Outside;
use crate::mail::{self, Mail};
use crate::observe::{Effects, Sent};
use sluice_frontend::eval::{EvalErrorKind, Host, Message, Value};
use sluice_frontend::ids::{NativeId, NodeId};
use sluice_frontend::typed::Bounds;
use std::collections::VecDeque;

/// Bytes of text that an attempt keeps back at most.
const MOST_TEXT: usize = 64 << 20;

/// A firing under way.
pub(crate) struct Firing<'a, 'm> {
    /// The input channel; items stay on it until the firing is over.
    pub input: Option<&'a mut VecDeque<Value>>,
    /// Items pushed.
    pub output: &'a mut Vec<Value>,
    /// What it may do.
    pub bounds: Bounds,
    /// Items popped.
    pub popped: u32,
    /// Items looked at, from the firing's first.
    pub looked: u64,
    /// For a firing that decides on its rates: what it has done so far.
    pub attempt: Option<Attempt<'m>>,
    /// The filter.
    pub node: NodeId,
    /// Completed firings.
    pub fired: u64,
    /// For messages.
    pub mail: &'a mut Mail<'m>,
    /// Completed firings by node, and which nodes are dead.
    pub firings: (&'a [u64], &'a [bool]),
    /// For prints.
    pub outside: &'a mut dyn Outside,
    /// Set when the world wants no more.
    pub stopped: &'a mut bool,
    /// Where to note prints and messages, if someone watches.
    pub effects: Option<&'a mut Effects>,
}

/// What an attempt does, kept back until it is complete.
#[derive(Default)]
pub(crate) struct Attempt<'a> {
    /// Printed text.
    pub text: String,
    /// Messages.
    pub messages: Vec<Message>,
    /// It asked for more items than there are: for so many.
    pub wants: Option<u64>,
    /// The most items that it can push, and who would take them.
    pub room: u64,
    pub to: Option<&'a str>,
    /// Native functions called: `repeated` of these calls by attempts of this firing that were abandoned, and repeated now.
    pub calls: Vec<Call>,
    pub repeated: usize,
}

/// A call of a native function: what it gave back, and left in the arrays among its arguments.
pub(crate) struct Call {
    function: NativeId,
    result: Value,
    arrays: Vec<Option<Value>>,
}

impl Firing<'_, '_> {
    /// The item at a position from the firing's first.
    fn item(&mut self, position: usize) -> Result<&mut Value, EvalErrorKind> {
        let input = self.input.as_mut().ok_or(EvalErrorKind::IllTyped("a filter without input"))?;
        self.looked = self.looked.max(position as u64 + 1);
        match (input.get_mut(position), &mut self.attempt) {
            (Some(item), _) => Ok(item),
            (None, Some(attempt)) => {
                attempt.wants = Some(position as u64 + 1);
                Err(EvalErrorKind::Host("waits for items".into()))
            }
            // the firing rule has seen to it that all declared items are there
            (None, None) => Err(EvalErrorKind::IllTyped("a firing without its items")),
        }
    }
}

impl Host for Firing<'_, '_> {
    fn pop(&mut self) -> Result<Value, EvalErrorKind> {
        if let Some(most) = self.bounds.pop.1
            && self.popped >= most
        {
            return Err(EvalErrorKind::PopBeyond { declared: most });
        }
        let position = self.popped as usize;
        self.popped += 1;
        let undone = self.attempt.is_some();
        let item = self.item(position)?;
        Ok(if undone { item.deep_copy() } else { std::mem::replace(item, Value::Void) })
    }

    fn peek(&mut self, index: i32) -> Result<Value, EvalErrorKind> {
        let Ok(index) = u32::try_from(index) else { return Err(EvalErrorKind::PeekNegative(index)) };
        let position = u64::from(self.popped) + u64::from(index);
        if let Some(most) = self.bounds.look.1
            && position >= most.into()
        {
            return Err(EvalErrorKind::PeekBeyond { needed: position + 1, declared: most });
        }
        Ok(self.item(position as usize)?.deep_copy())
    }

    fn push(&mut self, value: Value) -> Result<(), EvalErrorKind> {
        if let Some(most) = self.bounds.push.1
            && self.output.len() >= most as usize
        {
            return Err(EvalErrorKind::PushBeyond { declared: most });
        }
        if let Some(attempt) = &self.attempt
            && self.output.len() as u64 >= attempt.room
        {
            return Err(EvalErrorKind::ChannelFull { limit: attempt.room, to: attempt.to.unwrap_or_default().into() });
        }
        self.output.push(value);
        Ok(())
    }

    fn print(&mut self, text: &str) -> Result<(), EvalErrorKind> {
        if let Some(effects) = &mut self.effects {
            effects.printed.push_str(text);
        }
        if let Some(attempt) = &mut self.attempt {
            if attempt.text.len() + text.len() > MOST_TEXT {
                return Err(EvalErrorKind::PrintsTooMuchAtOnce);
            }
            attempt.text.push_str(text);
            return Ok(());
        }
        self.outside.print(text).map_err(|why| EvalErrorKind::Host(why.into()))
    }

    fn iter(&mut self) -> Result<i32, EvalErrorKind> {
        Ok(self.fired as i32)
    }

    fn native(&mut self, function: NativeId, args: &[Value]) -> Result<Value, EvalErrorKind> {
        if let Some(attempt) = &mut self.attempt
            && attempt.repeated < attempt.calls.len()
        {
            let call = &attempt.calls[attempt.repeated];
            if call.function == function {
                for (arg, left) in args.iter().zip(&call.arrays) {
                    if let Some(left) = left {
                        left.clone().copy_into(&mut arg.clone())?;
                    }
                }
                attempt.repeated += 1;
                return Ok(call.result.deep_copy());
            }
            attempt.calls.truncate(attempt.repeated);
        }
        let result = self.outside.native(function, args).map_err(|why| EvalErrorKind::Host(why.into()))?;
        if let Some(attempt) = &mut self.attempt {
            let arrays = args.iter().map(|a| matches!(a, Value::Array(_)).then(|| a.deep_copy())).collect();
            attempt.calls.push(Call { function, result: result.deep_copy(), arrays });
            attempt.repeated += 1;
        }
        Ok(result)
    }

    fn send(&mut self, message: Message) -> Result<(), EvalErrorKind> {
        let firing = self.fired + 1;
        if let Some(effects) = &mut self.effects {
            let to = self.mail.addressees(self.node, firing, &message, self.firings.0);
            let args = message.args.iter().map(Value::deep_copy).collect();
            effects.sent.push(Sent { handler: message.handler.clone(), args, to });
        }
        match &mut self.attempt {
            Some(attempt) if attempt.messages.len() == mail::MOST => return Err(EvalErrorKind::TooManyMessages),
            Some(attempt) => {
                attempt.messages.push(Message { args: message.args.iter().map(Value::deep_copy).collect(), ..message })
            }
            None => self.mail.send(self.node, firing, &message, self.firings)?,
        }
        Ok(())
    }

    fn tick(&mut self) -> Result<(), EvalErrorKind> {
        if self.outside.wants_stop() {
            *self.stopped = true;
            return Err(EvalErrorKind::Host("stopped".into()));
        }
        Ok(())
    }
}
