//! # ptx
//!
//! Purpose: PTX for the walker, where nothing takes machine code apart. Input: the text, a kernel's name, the architecture. Output: a [`Code`].
//!
//! PTX is what the CUDA compiler makes machine code of: it has registers without end, and operations that are one instruction there, several, or none. So what it tells is near the truth,
//! and no bound. The arguments of the kernel are constant memory of bank 0 from [`ARGUMENTS`] on.

mod statements;

use super::table::{Class, cycles};
use super::value::{Calc, Join, Relation};
use super::{Action, BLOCK, Code, Effect, Instruction, Modifier, Operand, Register, Source, Target};
use crate::cuda::arch::Arch;
pub use statements::{BLOCKS, THREADS};
use statements::{Function, Statement};
use std::collections::BTreeMap;

/// Where a kernel's arguments are taken to be: an address that nothing else has.
pub const ARGUMENTS: u64 = 0x1000_0000;

/// Reads a kernel and the functions that it calls.
pub fn read(text: &str, kernel: &str, arch: Arch) -> Option<Code> {
    let functions = statements::functions(text);
    let entry = functions.iter().position(|f| f.name == kernel)?;
    let mut making = Making { arch, registers: BTreeMap::new(), instructions: Vec::new(), calls: Vec::new() };
    let mut begins = BTreeMap::new();
    for function in &functions {
        begins.insert(function.name.as_str(), making.instructions.len());
        making.function(function);
    }
    for (at, name) in std::mem::take(&mut making.calls) {
        let to = begins.get(name.as_str()).copied();
        making.instructions[at].action = to.map_or(Action::Beyond("a call of what is not there"), Action::Call);
    }
    let entry = begins.get(functions[entry].name.as_str()).copied()?;
    Some(Code { registers: making.registers.len(), instructions: making.instructions, entry, ..Code::default() })
}

struct Making {
    arch: Arch,
    /// By function (`None`: what functions hand over), and name.
    registers: BTreeMap<(Option<String>, String), Register>,
    instructions: Vec<Instruction>,
    /// Calls, and whom.
    calls: Vec<(usize, String)>,
}

impl Making {
    fn register(&mut self, of: Option<&str>, name: &str) -> Register {
        let next = self.registers.len();
        *self.registers.entry((of.map(String::from), name.to_string())).or_insert(next)
    }

    fn function(&mut self, function: &Function) {
        let first = self.instructions.len();
        // what statements become is known only when they are made: labels are found afterwards
        let mut begins = Vec::new();
        for statement in &function.statements {
            begins.push(self.instructions.len());
            self.statement(function, statement);
        }
        begins.push(self.instructions.len());
        // the end of a function without `ret`
        self.push(Vec::new(), Class::Nothing, if function.is_kernel { Action::Exit } else { Action::Return }, 0);
        let last = self.instructions.len();
        for i in first..last {
            if let Action::Jump(label) = self.instructions[i].action {
                let at = function.labels.get(label).and_then(|(_, statement)| begins.get(*statement));
                self.instructions[i].action = at.map_or(Action::Beyond("a jump to nowhere"), |at| Action::Jump(*at));
            }
        }
    }

    fn push(&mut self, guard: Vec<Operand>, class: Class, action: Action, line: usize) {
        let (unit, cycles) = cycles(class, self.arch);
        self.instructions.push(Instruction { guard, unit, cycles, action, line });
    }

    fn statement(&mut self, function: &Function, s: &Statement) {
        let own = function.name.as_str();
        let guard: Vec<Operand> = match &s.guard {
            Some((name, negated)) => {
                let modifier = if *negated { Modifier::Not } else { Modifier::Plain };
                vec![Operand { source: Source::Register(self.register(Some(own), name)), modifier }]
            }
            None => vec![],
        };
        match s.name() {
            "bra" => {
                // the label's number among the function's, until its place is known
                let label = function.labels.iter().position(|(name, _)| name == s.argument(0));
                let action = label.map_or(Action::Beyond("a jump to nowhere"), Action::Jump);
                self.push(guard, Class::Control, action, s.line);
            }
            "brx" => self.push(guard, Class::Control, Action::Beyond("a jump through a table"), s.line),
            "ret" if function.is_kernel => self.push(guard, Class::Control, Action::Exit, s.line),
            "ret" => self.push(guard, Class::Control, Action::Return, s.line),
            "exit" | "trap" => self.push(guard, Class::Control, Action::Exit, s.line),
            "bar" | "barrier" if s.has("sync") && s.argument(0) == "0" && s.arguments.len() == 1 => {
                self.push(guard, Class::Control, Action::Barrier, s.line);
            }
            "bar" | "barrier" if !s.has("warp") => {
                self.push(guard, Class::Control, Action::Beyond("a barrier of a part of the block"), s.line);
            }
            "call" => self.call(s, guard),
            _ => {
                let effects = self.effects(function, s);
                self.push(guard, class(s), Action::Writes(effects), s.line);
            }
        }
    }

    /// What is handed over, then the call.
    fn call(&mut self, s: &Statement, guard: Vec<Operand>) {
        let is_list = |a: &&String| a.starts_with('(');
        let Some(name) = s.arguments.iter().find(|a| !is_list(a)).cloned() else { return };
        let given = s.arguments.iter().skip_while(|a| **a != name).find(is_list);
        let given: Vec<String> = given.map_or(Vec::new(), |l| {
            l.trim_matches(['(', ')']).split(',').map(|a| a.trim().to_string()).filter(|a| !a.is_empty()).collect()
        });
        let mut effects = Vec::new();
        for (i, argument) in given.iter().enumerate() {
            let from = Source::Register(self.register(None, argument));
            let to = self.register(None, &format!("{name}_param_{i}"));
            effects.push(Effect { to: Target::Register(to), calc: Some(Calc::Copy), from: vec![Operand::plain(from)] });
        }
        self.push(guard.clone(), Class::Nothing, Action::Writes(effects), s.line);
        self.calls.push((self.instructions.len(), name));
        self.push(guard, Class::Control, Action::Beyond("a call"), s.line);
    }

    /// An argument that is read.
    fn operand(&mut self, own: &str, text: &str) -> Operand {
        let plain = |source| Operand::plain(source);
        match text {
            "%tid.x" => return plain(Source::Thread),
            "%ctaid.x" => return plain(Source::Constant(BLOCK, 0)),
            "%laneid" => return plain(Source::Lane),
            "%tid.y" | "%tid.z" | "%ctaid.y" | "%ctaid.z" => return plain(Source::Known(0)),
            "%nctaid.x" => return plain(Source::Constant(BLOCKS.0, BLOCKS.1)),
            "%ntid.x" => return plain(Source::Constant(THREADS.0, THREADS.1)),
            _ => {}
        }
        if let Some(name) = text.strip_prefix("!%") {
            let register = self.register(Some(own), &format!("%{name}"));
            return Operand { source: Source::Register(register), modifier: Modifier::Not };
        }
        if text.starts_with('%') && !text.contains('.') {
            return plain(Source::Register(self.register(Some(own), text)));
        }
        plain(statements::literal(text).map_or(Source::Unknown, Source::Known))
    }

    fn effects(&mut self, function: &Function, s: &Statement) -> Vec<Effect> {
        let own = function.name.as_str();
        if matches!(s.name(), "st" | "red" | "membar" | "fence" | "pragma" | "prefetch") {
            return match statements::address(s.argument(0)) {
                // what a function is given
                Some((name, 0)) if s.has("param") => {
                    let from = self.operand(own, s.argument(1));
                    let to = Target::Register(self.register(None, &name));
                    vec![Effect { to, calc: Some(Calc::Copy), from: vec![from] }]
                }
                _ => vec![],
            };
        }
        if s.name() == "ld" {
            return self.load(function, s);
        }
        let mut to: Vec<Target> = Vec::new();
        for name in s.written() {
            to.push(Target::Register(self.register(Some(own), &name)));
        }
        let Some((calc, from)) = self.computed(own, s) else {
            return to.into_iter().map(|to| Effect { to, calc: None, from: vec![] }).collect();
        };
        let mut all = Vec::new();
        for (i, to) in to.into_iter().enumerate() {
            // the second condition of a comparison is not followed
            let (calc, from) = if i == 0 { (Some(calc), from.clone()) } else { (None, vec![]) };
            all.push(Effect { to, calc, from });
        }
        all
    }

    fn load(&mut self, function: &Function, s: &Statement) -> Vec<Effect> {
        let own = function.name.as_str();
        let size = s.bits().map_or(4, |b| b / 8);
        let address = statements::address(s.argument(1));
        let mut all = Vec::new();
        for (i, name) in s.written().into_iter().enumerate() {
            let to = Target::Register(self.register(Some(own), &name));
            let unknown = Effect { to, calc: None, from: vec![] };
            let Some((of, offset)) = &address else {
                all.push(unknown);
                continue;
            };
            let at = offset.wrapping_add(i as u64 * u64::from(size));
            let is_register = of.starts_with('%');
            let calc = if size == 8 { Calc::WideConstant(0, at) } else { Calc::Constant(0, at) };
            let read = |from| Effect { to, calc: Some(calc), from: vec![from] };
            all.push(match (is_register, s.has("param"), size) {
                // the kernel's arguments, by an address that was computed
                (true, _, 4 | 8) if !s.has("shared") && !s.has("local") && !s.has("const") => {
                    read(self.operand(own, of))
                }
                // those of the function; of the kernel they are constant
                (false, true, _) if !function.is_kernel || !of.starts_with(own) => {
                    let from = Operand::plain(Source::Register(self.register(None, of)));
                    Effect { to, calc: Some(Calc::Copy), from: vec![from] }
                }
                (false, true, 4 | 8) => read(Operand::known(ARGUMENTS)),
                _ => unknown,
            });
        }
        all
    }

    /// What an operation on integers or conditions computes, and of what.
    fn computed(&mut self, own: &str, s: &Statement) -> Option<(Calc, Vec<Operand>)> {
        let bits = s.bits()?;
        let is_signed = s.is_signed();
        if s.is_float() || bits < 32 && bits != 1 {
            return None;
        }
        let from: Vec<Operand> = (1..s.arguments.len()).map(|i| self.operand(own, s.argument(i))).collect();
        let calc = match s.name() {
            // an address of the kernel's arguments
            "mov" if s.argument(1).ends_with("_param_0") && s.argument(1).starts_with(own) => {
                return Some((Calc::Copy, vec![Operand::known(ARGUMENTS)]));
            }
            "mov" | "cvta" => Calc::Copy,
            "add" if !s.has("cc") => Calc::Add(bits),
            "sub" if !s.has("cc") => Calc::Subtract(bits),
            "mul" if s.has("wide") && bits == 32 => Calc::MultiplyWide(is_signed),
            "mad" if s.has("wide") && bits == 32 => Calc::MultiplyWide(is_signed),
            "mul" if s.has("hi") && bits == 32 => Calc::MultiplyHigh(is_signed),
            "mul" | "mad" if s.has("lo") => Calc::Multiply(bits),
            "neg" => return Some((Calc::Subtract(bits), vec![Operand::known(0), *from.first()?])),
            "not" => {
                let ones = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
                return Some((Calc::Bits(Join::Xor), vec![*from.first()?, Operand::known(ones)]));
            }
            "shl" => Calc::ShiftLeft(bits),
            "shr" => Calc::ShiftRight(bits, is_signed),
            "and" => Calc::Bits(Join::And),
            "or" => Calc::Bits(Join::Or),
            "xor" => Calc::Bits(Join::Xor),
            "min" | "max" if bits == 32 => {
                let mut from = from;
                from.push(Operand::known(u64::from(s.name() == "min")));
                return Some((Calc::Extreme(is_signed), from));
            }
            "selp" => Calc::Select,
            "rem" => Calc::Remainder(bits, is_signed),
            "div" => Calc::Divide(bits, is_signed),
            "setp" => {
                let relation = match s.modifiers().next()? {
                    "lt" | "lo" => Relation::Less,
                    "le" | "ls" => Relation::LessOrEqual,
                    "eq" => Relation::Equal,
                    "ne" => Relation::NotEqual,
                    "ge" | "hs" => Relation::GreaterOrEqual,
                    "gt" | "hi" => Relation::Greater,
                    _ => return None,
                };
                let join = match () {
                    () if s.has("or") => Join::Or,
                    () if s.has("xor") => Join::Xor,
                    () => Join::And,
                };
                let mut from = from;
                if from.len() == 2 {
                    from.push(Operand::known(1));
                }
                return Some((Calc::Compare(relation, bits, is_signed, join), from));
            }
            "cvt" => {
                let (to, from_bits) = s.conversion()?;
                if to < 32 || from_bits < 32 {
                    return None;
                }
                if to > from_bits { Calc::Extend(from_bits, is_signed) } else { Calc::Truncate(to) }
            }
            _ => return None,
        };
        Some((calc, from))
    }
}

fn class(s: &Statement) -> Class {
    let bits = s.bits().unwrap_or(32);
    match s.name() {
        "ld" | "st" if s.has("param") => Class::Nothing,
        "ld" | "st" | "atom" | "red" | "shfl" => Class::Memory(bits.div_ceil(8) * s.lanes()),
        "mov" | "cvta" | "pragma" => Class::Nothing,
        "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" => Class::Special,
        "div" | "rem" => Class::Special,
        "cvt" if s.is_float() => Class::Conversion,
        "popc" | "clz" | "bfind" | "brev" => Class::Conversion,
        _ if s.is_float() && bits == 64 => Class::Double,
        _ if s.is_float() => Class::Float,
        _ => Class::Integer,
    }
}

#[cfg(test)]
mod tests {
    use super::super::flow::Meetings;
    use super::super::walk::{NoTrace, walk};
    use super::*;

    const TEXT: &str = "\
.version 8.4
.target sm_90
.const .align 4 .b8 table[8] = {1, 2, 3, 4};
.func sum(
	.param .b64 sum_param_0,
	.param .b32 sum_param_1
)
{
	.reg .pred 	%p<3>;
	ld.param.u64 	%rd1, [sum_param_0];
	ld.param.u32 	%r1, [sum_param_1];
	ld.u32 	%r2, [%rd1+8];
	mov.u32 	%r3, %tid.x;
$L__BB0_1:	// a loop
	ld.global.v2.f32 	{%f1, %f2}, [%rd9];
	add.s32 	%r3, %r3, 32;
	setp.lt.u32 	%p1, %r3, %r2;
	@%p1 bra 	$L__BB0_1;
	ret;
}
.visible .entry k(
	.param .align 8 .b8 k_param_0[64]
)
{
	mov.b64 	%rd3, k_param_0;
	add.s64 	%rd2, %rd3, 32;
	ld.param.u32 	%r4, [k_param_0+32];
	setp.eq.s32 	%p1, %r4, 0;
	@%p1 bra 	$L__BB1_2;
	{ // callseq 0, 0
	.reg .b32 temp_param_reg;
	.param .b64 param0;
	st.param.b64 	[param0+0], %rd2;
	.param .b32 param1;
	st.param.b32 	[param1+0], %r4;
	call.uni 
	sum, 
	(
	param0, 
	param1
	);
	} // callseq 0
	bar.sync 	0;
$L__BB1_2:
	ret;
}
";

    #[test]
    fn calls_loops_and_the_kernels_arguments() {
        let with = |words: &[(u64, u32)]| {
            let mut code = read(TEXT, "k", Arch::of_number(80)).unwrap();
            words.iter().for_each(|(at, word)| code.constants.word(0, ARGUMENTS + at, *word));
            walk(&code, &Meetings::of(&code), 0, 32).map(|t| {
                (
                    t.phases.iter().map(|p| p.loads).sum::<u64>(),
                    t.phases.iter().map(|p| p.cores).sum::<u64>(),
                    t.phases.len(),
                    t.varies,
                )
            })
        };
        // the loop goes round for 96 threads' work: three times
        assert_eq!(with(&[(32, 1), (40, 96)]), Ok((1 + 3 * 2, 4 + 3 * 3 + 3, 2, false)));
        assert_eq!(with(&[(32, 0)]), Ok((0, 4, 1, false)));
        assert!(matches!(with(&[(32, 1)]), Err(NoTrace::Endless(_))));
        assert!(read(TEXT, "other", Arch::of_number(80)).is_none());
    }
}
