//! One firing of one filter: the evaluator's host.
//!
//! Takes the filter's input and output and the rates in force; checks each pop, peek and push against them.

use crate::Outside;
use crate::mail::Mail;
use crate::observe::{Effects, Sent};
use sluice_frontend::eval::{EvalErrorKind, Host, Message, Value};
use sluice_frontend::ids::{NativeId, NodeId};
use sluice_frontend::typed::Rates;
use std::collections::VecDeque;

/// A firing under way.
pub(crate) struct Firing<'a, 'm> {
    /// The input channel; items stay on it until the firing is over.
    pub input: Option<&'a mut VecDeque<Value>>,
    /// Items pushed.
    pub output: &'a mut Vec<Value>,
    /// The rates.
    pub rates: Rates,
    /// Items popped.
    pub popped: u32,
    /// Items looked at, those popped among them.
    pub seen: u32,
    /// The filter.
    pub node: NodeId,
    /// Completed firings.
    pub fired: u64,
    /// For messages.
    pub mail: &'a mut Mail<'m>,
    /// For prints.
    pub outside: &'a mut dyn Outside,
    /// Set when the world wants no more.
    pub stopped: &'a mut bool,
    /// Where to note prints and messages, if someone watches.
    pub effects: Option<&'a mut Effects>,
}

impl Firing<'_, '_> {
    fn item(&mut self, position: usize) -> Result<&mut Value, EvalErrorKind> {
        // the firing rule has seen to it that all declared items are there
        let input = self.input.as_mut().ok_or(EvalErrorKind::IllTyped("a filter without input"))?;
        input.get_mut(position).ok_or(EvalErrorKind::IllTyped("a firing without its items"))
    }
}

impl Host for Firing<'_, '_> {
    fn pop(&mut self) -> Result<Value, EvalErrorKind> {
        if self.popped >= self.rates.pop {
            return Err(EvalErrorKind::PopBeyond { declared: self.rates.pop });
        }
        let position = self.popped as usize;
        self.popped += 1;
        self.seen = self.seen.max(self.popped);
        Ok(std::mem::replace(self.item(position)?, Value::Void))
    }

    fn peek(&mut self, index: i32) -> Result<Value, EvalErrorKind> {
        let Ok(index) = u32::try_from(index) else { return Err(EvalErrorKind::PeekNegative(index)) };
        let position = u64::from(self.popped) + u64::from(index);
        if position >= self.rates.peek.into() {
            return Err(EvalErrorKind::PeekBeyond { needed: position + 1, declared: self.rates.peek });
        }
        self.seen = self.seen.max(position as u32 + 1);
        Ok(self.item(position as usize)?.deep_copy())
    }

    fn push(&mut self, value: Value) -> Result<(), EvalErrorKind> {
        if self.output.len() >= self.rates.push as usize {
            return Err(EvalErrorKind::PushBeyond { declared: self.rates.push });
        }
        self.output.push(value);
        Ok(())
    }

    fn print(&mut self, text: &str) -> Result<(), EvalErrorKind> {
        if let Some(effects) = &mut self.effects {
            effects.printed.push_str(text);
        }
        self.outside.print(text).map_err(|why| EvalErrorKind::Host(why.into()))
    }

    fn iter(&mut self) -> Result<i32, EvalErrorKind> {
        Ok(self.fired as i32)
    }

    fn native(&mut self, _: NativeId, _: &[Value]) -> Result<Value, EvalErrorKind> {
        Err(EvalErrorKind::Unsupported("calling a native function in the interpreter".into()))
    }

    fn send(&mut self, message: Message) -> Result<(), EvalErrorKind> {
        let firing = self.fired + 1;
        if let Some(effects) = &mut self.effects {
            let to = self.mail.addressees(self.node, firing, &message);
            let args = message.args.iter().map(Value::deep_copy).collect();
            effects.sent.push(Sent { handler: message.handler.clone(), args, to });
        }
        self.mail.send(self.node, firing, &message);
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
