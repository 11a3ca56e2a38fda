//! # walk
//!
//! Purpose: what one warp issues. Input: a [`Code`], the warp's number, how many of its threads there are. Output: a [`Trace`]; or why there is none.
//!
//! Registers have a number for each thread, as far as it is known. A branch that all threads take alike is taken; where they part, both ways are walked, one after the other, with the threads
//! that go there, until they meet ([`Meetings`]). Where nobody knows what a branch depends on, all threads might go either way: both are walked, too, and only what both agree upon is known
//! afterwards. So a trace has what a warp issues at most, and all of what it issues if it does not [`vary`](Trace::varies).

use super::bits::{self, Bits};
use super::flow::Meetings;
use super::value::{Calc, Join, LANES, Value};
use super::{Action, Code, Effect, Modifier, Operand, Source, Target};
use sluice_schedule::analysis::makespan::Unit;
use std::collections::BTreeMap;

/// Instructions that are walked, of a warp.
const MOST: u64 = 1 << 22;
/// Times that a loop goes on that might have ended.
const MOST_OPEN: u32 = 256;
/// Cycles of a trace that are kept in order; beyond, they are counted.
const MOST_KEPT: usize = 100_000;
const LOW: u64 = 0xffff_ffff;

/// What a warp issues between barriers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Phase {
    /// Units, cycle after cycle; fewer than are counted where they are too many.
    pub units: Vec<Unit>,
    /// Cycles of load/store units.
    pub loads: u64,
    /// Cycles of cores.
    pub cores: u64,
}

/// What a warp issues.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trace {
    /// One more than there are barriers.
    pub phases: Vec<Phase>,
    /// A part of it may be left out, as data says.
    pub varies: bool,
    /// Instructions.
    pub instructions: u64,
}

impl Trace {
    /// Are all cycles in order?
    pub fn is_whole(&self) -> bool {
        self.phases.iter().all(|p| p.units.len() as u64 == p.loads + p.cores)
    }
}

/// Why a warp has no trace; with the line of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoTrace {
    /// A loop goes on as long as data says.
    Endless(usize),
    /// It has too many instructions.
    TooLong,
    /// Something is not followed.
    Beyond(usize, &'static str),
}

/// Walks one warp: threads from `32 * warp` on, the lowest `threads` of them.
pub fn walk(code: &Code, meetings: &Meetings, warp: u32, threads: u32) -> Result<Trace, NoTrace> {
    let active = if threads >= LANES as u32 { u32::MAX } else { (1 << threads) - 1 };
    let mut walker = Walker {
        code,
        meetings,
        warp,
        registers: vec![Value::Unknown; code.registers],
        local: BTreeMap::new(),
        returned: 0,
        blurred: 0,
        open: BTreeMap::new(),
        kept: 0,
        trace: Trace { phases: vec![Phase::default()], ..Trace::default() },
    };
    for (register, value) in &code.known {
        walker.registers[*register] = Value::Same(*value);
    }
    walker.run(code.entry, None, active)?;
    Ok(walker.trace)
}

struct Walker<'c> {
    code: &'c Code,
    meetings: &'c Meetings,
    warp: u32,
    registers: Vec<Value>,
    /// Memory of the threads' own, by address: what is not here is not known.
    local: BTreeMap<u64, Value>,
    /// Threads that have come back from the function.
    returned: u32,
    /// Of these nobody knows whether they are still in it.
    blurred: u32,
    /// By branch, how often it is being walked both ways.
    open: BTreeMap<usize, u32>,
    kept: usize,
    trace: Trace,
}

impl Walker<'_> {
    /// From an instruction until another one; the threads that come there.
    fn run(&mut self, mut at: usize, stop: Option<usize>, mut active: u32) -> Result<u32, NoTrace> {
        let code = self.code;
        while active != 0 && Some(at) != stop {
            let Some(instruction) = code.instructions.get(at) else {
                return Err(NoTrace::Beyond(0, "the end of the code"));
            };
            self.issue(instruction.unit, instruction.cycles)?;
            let (surely, perhaps) = self.guarded(&instruction.guard, active);
            let mut next = at + 1;
            match &instruction.action {
                Action::Writes(effects) => self.write(effects, surely, perhaps),
                Action::Local { stores, address, registers } => {
                    self.keep(*stores, *address, registers, surely | perhaps, perhaps);
                }
                Action::Barrier => self.trace.phases.push(Phase::default()),
                Action::Exit => {
                    self.trace.varies |= perhaps != 0;
                    active &= !surely;
                }
                Action::Return => {
                    self.trace.varies |= perhaps != 0;
                    self.returned |= surely | perhaps;
                    self.blurred |= perhaps;
                    active &= !surely;
                }
                Action::Call(to) if surely | perhaps != 0 => {
                    let outside = (std::mem::take(&mut self.returned), self.blurred);
                    self.trace.varies |= perhaps != 0;
                    self.blurred |= perhaps;
                    self.run(*to, None, surely | perhaps)?;
                    active = self.returned | (active & !surely);
                    (self.returned, self.blurred) = outside;
                }
                Action::Call(_) => {}
                Action::Beyond(what) => return Err(NoTrace::Beyond(instruction.line, what)),
                Action::Jump(to) if perhaps == 0 && surely == active => next = *to,
                Action::Jump(_) if perhaps == 0 && surely == 0 => {}
                Action::Jump(to) => {
                    let meet = self.meetings.after(at);
                    active = if perhaps == 0 {
                        self.run(*to, meet, surely)? | self.run(next, meet, active & !surely)?
                    } else {
                        self.both((at, *to), meet, active, surely, perhaps)?
                    };
                    let Some(meet) = meet else { return Ok(0) };
                    next = meet;
                }
            }
            at = next;
        }
        Ok(active)
    }

    /// Both ways of a branch that nobody knows.
    fn both(
        &mut self,
        (at, to): (usize, usize),
        meet: Option<usize>,
        active: u32,
        surely: u32,
        perhaps: u32,
    ) -> Result<u32, NoTrace> {
        let open = self.open.entry(at).or_insert(0);
        *open += 1;
        if *open > MOST_OPEN {
            return Err(NoTrace::Endless(self.code.instructions[at].line));
        }
        self.trace.varies = true;
        let before = (self.registers.clone(), self.local.clone());
        let first = self.run(to, meet, surely | perhaps)?;
        let there = std::mem::replace(&mut self.registers, before.0);
        let local = std::mem::replace(&mut self.local, before.1);
        let second = self.run(at + 1, meet, active & !surely)?;
        // those that can have gone one way only have the numbers of that way
        let meet = |here: &mut Value, there: &Value| {
            if here != there {
                let lane = |lane: usize| match (first >> lane & 1, second >> lane & 1) {
                    (1, 0) => there.lane(lane),
                    (0, 1) => here.lane(lane),
                    _ => here.lane(lane).filter(|v| there.lane(lane) == Some(*v)),
                };
                *here = Value::of(std::array::from_fn(lane));
            }
        };
        self.registers.iter_mut().zip(&there).for_each(|(here, there)| meet(here, there));
        for at in local.keys() {
            self.local.entry(*at).or_insert(Value::Unknown);
        }
        for (at, here) in &mut self.local {
            meet(here, local.get(at).unwrap_or(&Value::Unknown));
        }
        if let Some(open) = self.open.get_mut(&at) {
            *open -= 1;
        }
        Ok(first | second)
    }

    fn issue(&mut self, unit: Unit, cycles: u32) -> Result<(), NoTrace> {
        if cycles == 0 {
            return Ok(());
        }
        self.trace.instructions += 1;
        if self.trace.instructions > MOST {
            return Err(NoTrace::TooLong);
        }
        let Some(phase) = self.trace.phases.last_mut() else { return Ok(()) };
        *(if unit == Unit::LoadStore { &mut phase.loads } else { &mut phase.cores }) += u64::from(cycles);
        let room = (MOST_KEPT - self.kept).min(cycles as usize);
        phase.units.extend(std::iter::repeat_n(unit, room));
        self.kept += room;
        Ok(())
    }

    /// The threads, of those that are there, for which a guard is 1, and those for which nobody knows.
    fn guarded(&self, guard: &[Operand], active: u32) -> (u32, u32) {
        let (mut surely, mut never) = (active, 0);
        for condition in guard {
            let value = self.operand(condition);
            for lane in 0..LANES {
                match value.lane(lane) {
                    Some(0) => never |= 1 << lane,
                    Some(_) => {}
                    None => surely &= !(1 << lane),
                }
            }
        }
        (surely & !never, active & !surely & !never)
    }

    fn source(&self, source: Source) -> Value {
        match source {
            Source::Known(v) => Value::Same(v),
            Source::Unknown => Value::Unknown,
            Source::Register(r) => self.registers[r].clone(),
            Source::Pair(low, high) => match (&self.registers[low], &self.registers[high]) {
                (Value::Same(low), Value::Same(high)) => Value::Same(high << 32 | low),
                (low, high) => match low.bits().zip(high.bits()) {
                    Some((low, high)) => Bits::pair(low, high).into(),
                    None => Value::of(std::array::from_fn(|i| Some(high.lane(i)? << 32 | low.lane(i)?))),
                },
            },
            Source::Constant(bank, offset) => self.constant(bank, offset),
            Source::WideConstant(bank, offset) => self.wide_constant(bank, offset),
            Source::Thread => Value::of(std::array::from_fn(|i| Some(u64::from(self.warp) * LANES as u64 + i as u64))),
            Source::Lane => Value::of(std::array::from_fn(|i| Some(i as u64))),
        }
    }

    fn constant(&self, bank: u32, offset: u64) -> Value {
        self.code.constants.bits(bank, offset).into()
    }

    fn wide_constant(&self, bank: u32, offset: u64) -> Value {
        let of = |offset| self.code.constants.bits(bank, offset);
        Bits::pair(of(offset), of(offset.wrapping_add(4))).into()
    }

    fn operand(&self, operand: &Operand) -> Value {
        let value = self.source(operand.source);
        let made = |v: u64| match operand.modifier {
            Modifier::Plain => v,
            Modifier::Negative => v.wrapping_neg() & LOW,
            Modifier::Inverted => !v & LOW,
            Modifier::Not => u64::from(v == 0),
        };
        match value {
            Value::Same(v) => Value::Same(made(v)),
            Value::Unknown => Value::Unknown,
            Value::Each(all) => Value::of(all.map(|v| v.map(made))),
            Value::Some(bits) => match operand.modifier {
                Modifier::Plain => Value::Some(bits),
                Modifier::Negative => bits.negative().into(),
                Modifier::Inverted => bits.inverted().into(),
                Modifier::Not => Value::Unknown,
            },
        }
    }

    fn computed(&self, effect: &Effect) -> Value {
        let Some(calc) = effect.calc else { return Value::Unknown };
        let from: Vec<Value> = effect.from.iter().map(|o| self.operand(o)).collect();
        let answer = |arguments: &[u64]| match calc {
            Calc::Constant(bank, offset) => {
                let at = arguments.first().copied().unwrap_or(0).wrapping_add(offset) & LOW;
                self.code.constants.get(bank, at).map(u64::from)
            }
            _ => calc.of(arguments),
        };
        let same: Option<Vec<u64>> =
            from.iter().map(|v| if let Value::Same(v) = v { Some(*v) } else { None }).collect();
        match same {
            Some(arguments) => match (calc, arguments.first()) {
                (Calc::Constant(bank, offset), at) => {
                    self.constant(bank, at.copied().unwrap_or(0).wrapping_add(offset) & LOW)
                }
                (Calc::WideConstant(bank, offset), at) => {
                    self.wide_constant(bank, at.copied().unwrap_or(0).wrapping_add(offset) & LOW)
                }
                _ => answer(&arguments).map_or(Value::Unknown, Value::Same),
            },
            None if from.iter().any(|v| matches!(v, Value::Unknown | Value::Some(_))) => match (calc, from.get(2)) {
                // what is joined decides alone
                (Calc::Compare(_, _, _, Join::Or), Some(Value::Same(1))) => Value::Same(1),
                (Calc::Compare(_, _, _, Join::And), Some(Value::Same(0))) => Value::Same(0),
                _ => {
                    let bits: Option<Vec<Bits>> = from.iter().map(Value::bits).collect();
                    bits.map_or(Value::Unknown, |bits| bits::of(calc, &bits).into())
                }
            },
            None => Value::of(std::array::from_fn(|i| {
                let arguments: Option<Vec<u64>> = from.iter().map(|v| v.lane(i)).collect();
                answer(&arguments?)
            })),
        }
    }

    fn write(&mut self, effects: &[Effect], surely: u32, perhaps: u32) {
        let (blurred, all) = (self.blurred | perhaps, surely | perhaps);
        let values: Vec<Value> = effects.iter().map(|e| self.computed(e)).collect();
        for (effect, value) in effects.iter().zip(values) {
            match effect.to {
                Target::Register(r) => self.put(r, value, all, blurred),
                Target::Pair(low, high) => {
                    let half = |f: fn(u64) -> u64, of: fn((Bits, Bits)) -> Bits| match &value {
                        Value::Same(v) => Value::Same(f(*v)),
                        Value::Unknown => Value::Unknown,
                        Value::Each(all) => Value::of(all.map(|v| v.map(f))),
                        Value::Some(bits) => of(bits.halves()).into(),
                    };
                    self.put(low, half(|v| v & LOW, |h| h.0), all, blurred);
                    self.put(high, half(|v| v >> 32, |h| h.1), all, blurred);
                }
            }
        }
    }

    /// Registers into the thread's own memory, or out of it again.
    fn keep(&mut self, stores: bool, (of, offset): (usize, u64), registers: &[usize], all: u32, perhaps: u32) {
        let blurred = self.blurred | perhaps;
        let Value::Same(base) = self.registers[of] else {
            // it may be anywhere
            match stores {
                true => self.local.clear(),
                false => registers.iter().for_each(|r| self.put(*r, Value::Unknown, all, blurred)),
            }
            return;
        };
        for (i, register) in registers.iter().enumerate() {
            let at = base.wrapping_add(offset).wrapping_add(4 * i as u64) & LOW;
            if stores {
                // what lies across is not known any more
                for near in [1, 2, 3] {
                    self.local.remove(&(at.wrapping_sub(near) & LOW));
                    self.local.remove(&(at.wrapping_add(near) & LOW));
                }
                let old = self.local.get(&at).cloned().unwrap_or(Value::Unknown);
                let new = written(&old, self.registers[*register].clone(), all, blurred);
                self.local.insert(at, new);
            } else {
                let value = self.local.get(&at).cloned().unwrap_or(Value::Unknown);
                self.put(*register, value, all, blurred);
            }
        }
    }

    /// Of `all`, those that are `blurred` have the old number, or the new one.
    fn put(&mut self, register: usize, value: Value, all: u32, blurred: u32) {
        if all == u32::MAX && blurred == 0 {
            self.registers[register] = value;
        } else if all != 0 {
            self.registers[register] = written(&self.registers[register], value, all, blurred);
        }
    }
}

/// What is there when some threads have written: `all` of them, of whom nobody knows whether the `blurred` ones have.
fn written(old: &Value, value: Value, all: u32, blurred: u32) -> Value {
    Value::of(std::array::from_fn(|i| match (all >> i & 1, blurred >> i & 1) {
        (0, _) => old.lane(i),
        (_, 0) => value.lane(i),
        _ => value.lane(i).filter(|v| old.lane(i) == Some(*v)),
    }))
}

#[cfg(test)]
mod tests {
    use super::super::value::Relation;
    use super::*;
    use crate::cuda::instructions::Instruction;

    fn code(all: Vec<(Vec<Operand>, Action)>) -> Code {
        let of = |(line, (guard, action)): (usize, (Vec<Operand>, Action))| Instruction {
            guard,
            unit: if matches!(action, Action::Writes(_)) { Unit::LoadStore } else { Unit::Core },
            cycles: 1,
            action,
            line,
        };
        Code { instructions: all.into_iter().enumerate().map(of).collect(), registers: 8, ..Code::default() }
    }

    fn write(to: usize, calc: Option<Calc>, from: Vec<Operand>) -> Action {
        Action::Writes(vec![Effect { to: Target::Register(to), calc, from }])
    }

    fn register(r: usize) -> Operand {
        Operand::plain(Source::Register(r))
    }

    fn trace(code: &Code, threads: u32) -> Result<(String, bool), NoTrace> {
        let trace = walk(code, &Meetings::of(code), 0, threads)?;
        let text = |p: &Phase| p.units.iter().map(|u| u.letter()).collect::<String>();
        Ok((trace.phases.iter().map(text).collect::<Vec<_>>().join("|"), trace.varies))
    }

    /// `for (r0 = from; r0 < 3; r0++) barrier;`
    fn counting(from: Operand) -> Code {
        let less = Calc::Compare(Relation::Less, 32, true, Join::And);
        code(vec![
            (vec![], write(0, Some(Calc::Copy), vec![from])),
            (vec![], Action::Barrier),
            (vec![], write(0, Some(Calc::Add(32)), vec![register(0), Operand::known(1)])),
            (vec![], write(1, Some(less), vec![register(0), Operand::known(3), Operand::known(1)])),
            (vec![register(1)], Action::Jump(1)),
            (vec![], Action::Exit),
        ])
    }

    #[test]
    fn loops_are_written_out() {
        let (text, varies) = trace(&counting(Operand::known(0)), 32).unwrap();
        assert_eq!((text.as_str(), varies), ("LC|LLCC|LLCC|LLCC", false));
        assert_eq!(trace(&counting(Operand::plain(Source::Unknown)), 32), Err(NoTrace::Endless(4)));
    }

    #[test]
    fn threads_leave_a_loop_one_after_the_other() {
        // thread 0 goes round three times, 1 twice, all others once
        let (text, varies) = trace(&counting(Operand::plain(Source::Lane)), 32).unwrap();
        assert_eq!((text.as_str(), varies), ("LC|LLCC|LLCC|LLCC", false));
        let (text, _) = trace(&counting(Operand::plain(Source::Lane)), 1).unwrap();
        assert_eq!(text, "LC|LLCC|LLCC|LLCC");
    }

    #[test]
    fn both_ways_of_what_nobody_knows() {
        let condition = |source| {
            code(vec![
                (vec![], write(0, Some(Calc::Copy), vec![Operand::plain(source)])),
                (vec![register(0)], Action::Jump(4)),
                (vec![], write(1, Some(Calc::Copy), vec![Operand::known(5)])),
                (vec![], Action::Jump(5)),
                (vec![], write(1, Some(Calc::Copy), vec![Operand::known(5)])),
                (vec![register(1)], Action::Exit),
                (vec![], Action::Barrier),
            ])
        };
        let text = |source| trace(&condition(source), 32).unwrap();
        assert_eq!(text(Source::Known(0)), ("LCLCC".into(), false));
        assert_eq!(text(Source::Known(1)), ("LCLC".into(), false));
        // the threads of a warp part; what both ways agree upon is known after them
        assert_eq!(text(Source::Lane), ("LCLLCC".into(), false));
        assert_eq!(text(Source::Unknown), ("LCLLCC".into(), true));
    }

    #[test]
    fn registers_kept_in_memory_come_back() {
        let keep = |stores: bool, base: usize, register: usize| Action::Local {
            stores,
            address: (base, 8),
            registers: vec![register],
        };
        let with = |base: Operand, between: Action| {
            code(vec![
                (vec![], write(7, Some(Calc::Copy), vec![base])),
                (vec![], write(0, Some(Calc::Copy), vec![Operand::known(1)])),
                (vec![], keep(true, 7, 0)),
                (vec![], write(0, None, vec![])),
                (vec![], between),
                (vec![], keep(false, 7, 0)),
                (vec![register(0)], Action::Jump(8)),
                (vec![], Action::Barrier),
                (vec![], Action::Exit),
            ])
        };
        let nothing = || write(6, None, vec![]);
        assert_eq!(trace(&with(Operand::known(100), nothing()), 32).unwrap(), ("LLCLLCCC".into(), false));
        // an unknown place, or a write to one
        assert!(trace(&with(Operand::plain(Source::Unknown), nothing()), 32).unwrap().1);
        assert!(trace(&with(Operand::known(100), keep(true, 5, 6)), 32).unwrap().1);
        // another place is another number
        assert!(
            !trace(
                &with(Operand::known(100), Action::Local { stores: true, address: (7, 12), registers: vec![6] }),
                32
            )
            .unwrap()
            .1
        );
        assert!(
            trace(&with(Operand::known(100), Action::Local { stores: true, address: (7, 10), registers: vec![6] }), 32)
                .unwrap()
                .1
        );
    }

    #[test]
    fn functions_come_back() {
        let calls = code(vec![
            (vec![], Action::Call(3)),
            (vec![], Action::Call(3)),
            (vec![], Action::Exit),
            (vec![], write(1, Some(Calc::Copy), vec![Operand::plain(Source::Lane)])),
            (vec![register(1)], Action::Return),
            (vec![], write(0, None, vec![])),
            (vec![], Action::Return),
        ]);
        assert_eq!(trace(&calls, 32).unwrap(), ("CLCLCCLCLCC".into(), false));
        // thread 0 alone does not leave early; thread 1 would
        assert_eq!(trace(&calls, 1).unwrap(), ("CLCLCCLCLCC".into(), false));
    }
}
