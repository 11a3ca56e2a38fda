//! # function
//!
//! Purpose: statements of one function. Input: a kernel's function. Output: Cranelift's form of it.
//!
//! A firing's numbers that live from one firing to the next are held in variables while the loop over firings runs, where no other function
//! of the filter is called: they come from the state at its head and go back behind it. A fault leaves them behind: who looks at the state
//! then has it from before the batch.

use crate::Refusal;
use crate::bytes;
use crate::filter::Filter;
use crate::machine::{Machine, PTR};
use crate::place::{Memory, Spot, malformed, parts_of};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AliasRegion, Block, BlockArg, InstBuilder, MemFlagsData, StackSlot, TrapCode, Type, Value, types,
};
use cranelift_frontend::{FunctionBuilder, Variable};
use sluice_codegen::c::print::{Send, Site, SiteKind};
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::Globals;
use sluice_grammar::span::Span;
use sluice_kernel::ir::*;
use sluice_kernel::walk;

/// No arguments for a block.
pub const NONE: [BlockArg; 0] = [];

/// Where a local is.
pub enum Home {
    /// A number, a complex number, a vector.
    Variables(Vec<Variable>),
    /// An array or struct.
    Slot(StackSlot),
    /// An array of the caller's.
    Pointer(Variable),
}

/// What is the same for all functions of a program, and grows with them.
pub struct Whole {
    /// Places where the program can stop.
    pub sites: Vec<Site>,
}

/// A `For`, `Loop` or `Block` around the current statement.
struct Nest {
    exit: Block,
    next: Option<Block>,
}

/// A function under way.
pub struct Maker<'a, 'b> {
    pub b: &'a mut FunctionBuilder<'b>,
    pub machine: &'a mut Machine,
    pub whole: &'a mut Whole,
    pub sends: &'a mut Vec<Send>,
    pub filter: &'a Filter,
    pub kernel: &'a Kernel,
    pub globals: &'a Globals,
    pub function: &'a Function,
    /// The instance, and the filter's state.
    pub context: Value,
    pub state: Value,
    /// The firing's first item, and its first free place.
    pub input: Variable,
    pub output: Variable,
    /// By local.
    pub homes: Vec<Home>,
    /// By state field: the variables that hold it.
    pub held: Vec<Option<Vec<Variable>>>,
    /// Completed firings, where they are held.
    pub iter: Option<Variable>,
    /// Nothing else writes what is in these: input and output.
    pub regions: [AliasRegion; 2],
    /// Where a value of several parts goes that the function gives.
    pub result: Option<Value>,
    /// Where `return` goes in a firing.
    pub leave: Option<Block>,
    nest: Vec<Nest>,
}

impl<'a, 'b> Maker<'a, 'b> {
    /// One whose builder stands in the function's first block.
    #[allow(clippy::too_many_arguments)] // each is something else
    pub fn new(
        b: &'a mut FunctionBuilder<'b>,
        machine: &'a mut Machine,
        whole: &'a mut Whole,
        sends: &'a mut Vec<Send>,
        filter: &'a Filter,
        globals: &'a Globals,
        kernel: &'a Kernel,
        function: FuncId,
    ) -> Maker<'a, 'b> {
        let regions = [(1, "input"), (2, "output")].map(|(user_id, name)| {
            let region = cranelift_codegen::ir::AliasRegionData { user_id, description: name.into() };
            b.func.dfg.alias_regions.insert(region)
        });
        let first = b.current_block().map_or_else(Vec::new, |block| b.block_params(block).to_vec());
        let [input, output] = [b.declare_var(PTR), b.declare_var(PTR)];
        b.def_var(input, first[2]);
        b.def_var(output, first[3]);
        Maker {
            b,
            machine,
            whole,
            sends,
            filter,
            kernel,
            globals,
            function: kernel.function(function),
            context: first[0],
            state: first[1],
            input,
            output,
            homes: Vec::new(),
            held: vec![None; kernel.state.len()],
            iter: None,
            regions,
            result: None,
            leave: None,
            nest: Vec::new(),
        }
    }

    /// Goes on in a block that nothing else will jump to.
    pub fn enter(&mut self, block: Block) {
        self.b.switch_to_block(block);
        self.b.seal_block(block);
    }

    /// Gives the locals from number `from` on their homes.
    pub fn settle(&mut self, from: usize) -> Result<(), Refusal> {
        for l in &self.function.locals[from..] {
            let home = self.home(&l.ty)?;
            self.homes.push(home);
        }
        Ok(())
    }

    /// A new home.
    pub fn home(&mut self, ty: &Ty) -> Result<Home, Refusal> {
        let parts = parts_of(ty);
        if !parts.is_empty() {
            return Ok(Home::Variables(parts.iter().map(|(t, _)| self.b.declare_var(*t)).collect()));
        }
        let (size, align) = bytes::size_align(ty, self.globals);
        let size = u32::try_from(size.max(1)).map_err(|_| Refusal::Cannot("a variable is too large for the stack"))?;
        let kind = cranelift_codegen::ir::StackSlotKind::ExplicitSlot;
        let data = cranelift_codegen::ir::StackSlotData::new(kind, size, align.clamp(8, 16).trailing_zeros() as u8);
        Ok(Home::Slot(self.b.create_sized_stack_slot(data)))
    }

    /// Completed firings.
    pub fn firings(&mut self) -> Value {
        match self.iter {
            Some(v) => self.b.use_var(v),
            None => self.b.ins().load(types::I64, MemFlagsData::trusted(), self.state, 0),
        }
    }

    /// Statements. Does what follows them come to be?
    pub fn body(&mut self, body: &[Stmt]) -> Result<bool, Refusal> {
        for s in body {
            if !self.stmt(s)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn stmt(&mut self, s: &Stmt) -> Result<bool, Refusal> {
        match &s.kind {
            StmtKind::Assign(p, e) => {
                if parts_of(&e.ty).is_empty() {
                    let (Spot::Memory(to), _) = self.spot(p)? else { return Err(malformed("an array in variables")) };
                    self.assign(to, e)?;
                } else {
                    let value = self.parts(e)?;
                    let (spot, ty) = self.spot(p)?;
                    self.write(&spot, &ty, &value);
                }
            }
            StmtKind::Call { dst, callee: Callee::Func(id), args } => self.call(dst.as_ref(), *id, args)?,
            StmtKind::Call { .. } => return Err(Refusal::Cannot("the program calls native functions")),
            StmtKind::Check(c) => return self.check(c, s.span),
            StmtKind::If(c, a, b) => return self.branch(c, a, b),
            StmtKind::For(l) => return self.counted(l),
            StmtKind::Loop(body) => return self.endless(body),
            StmtKind::Block(body) => {
                let exit = self.b.create_block();
                self.nest.push(Nest { exit, next: None });
                if self.body(body)? {
                    self.b.ins().jump(exit, &NONE);
                }
                self.nest.pop();
                self.enter(exit);
            }
            StmtKind::Break(d) | StmtKind::Continue(d) => {
                let at = self.nest.len().checked_sub(*d as usize + 1).ok_or_else(|| malformed("a break of nothing"))?;
                let nest = &self.nest[at];
                let to = match s.kind {
                    StmtKind::Break(_) => nest.exit,
                    _ => nest.next.ok_or_else(|| malformed("a continue of a block"))?,
                };
                self.b.ins().jump(to, &NONE);
                return Ok(false);
            }
            StmtKind::Return(e) => {
                self.give(e.as_ref())?;
                return Ok(false);
            }
            StmtKind::Print(e) => self.print(e)?,
            StmtKind::PrintText(t) => {
                let data = self.machine.text(t)?;
                let gv = self.machine.data_reference(data, self.b.func);
                let address = self.b.ins().symbol_value(PTR, gv);
                let length = self.b.ins().iconst(types::I64, t.len() as i64);
                self.engine("sl_print_text", &[address, length])?;
            }
            StmtKind::Send(m) => self.send(m)?,
            // gone after lower_channels
            StmtKind::Pop(_) | StmtKind::Push(_) => {}
        }
        Ok(true)
    }

    /// Calls a function of the engine that takes the instance and these, and gives nothing.
    pub fn engine(&mut self, name: &'static str, args: &[Value]) -> Result<(), Refusal> {
        let mut list = vec![self.context];
        list.extend(args);
        let params: Vec<Type> = list.iter().map(|v| self.b.func.dfg.value_type(*v)).collect();
        let callee = self.machine.import(name, &params, None, self.b.func)?;
        self.b.ins().call(callee, &list);
        Ok(())
    }

    fn branch(&mut self, c: &Expr, a: &[Stmt], b: &[Stmt]) -> Result<bool, Refusal> {
        let c = self.scalar(c)?;
        let (then, done) = (self.b.create_block(), self.b.create_block());
        let other = if b.is_empty() { done } else { self.b.create_block() };
        self.b.ins().brif(c, then, &NONE, other, &NONE);
        self.enter(then);
        let mut goes_on = b.is_empty();
        if self.body(a)? {
            self.b.ins().jump(done, &NONE);
            goes_on = true;
        }
        if !b.is_empty() {
            self.enter(other);
            if self.body(b)? {
                self.b.ins().jump(done, &NONE);
                goes_on = true;
            }
        }
        self.enter(done);
        if !goes_on {
            self.never();
        }
        Ok(goes_on)
    }

    /// Nothing comes here.
    fn never(&mut self) {
        self.b.ins().trap(TrapCode::unwrap_user(1));
    }

    fn counted(&mut self, l: &For) -> Result<bool, Refusal> {
        let to = self.scalar(&l.to)?;
        let from = self.scalar(&l.from)?;
        let Home::Variables(var) = &self.homes[l.var.index()] else { return Err(malformed("a loop over an array")) };
        let var = var[0];
        self.b.def_var(var, from);
        let [head, body, next, exit] = [(); 4].map(|()| self.b.create_block());
        self.b.ins().jump(head, &NONE);
        self.b.switch_to_block(head);
        let cc = match l.cmp {
            BinaryOp::Lt => IntCC::SignedLessThan,
            BinaryOp::Le => IntCC::SignedLessThanOrEqual,
            BinaryOp::Gt => IntCC::SignedGreaterThan,
            _ => IntCC::SignedGreaterThanOrEqual,
        };
        let i = self.b.use_var(var);
        let more = self.b.ins().icmp(cc, i, to);
        self.b.ins().brif(more, body, &NONE, exit, &NONE);
        self.enter(body);
        self.nest.push(Nest { exit, next: Some(next) });
        if self.body(&l.body)? {
            self.b.ins().jump(next, &NONE);
        }
        self.nest.pop();
        self.enter(next);
        let i = self.b.use_var(var);
        let step = self.b.ins().iconst(types::I32, i64::from(l.step as u32));
        let i = self.b.ins().iadd(i, step);
        self.b.def_var(var, i);
        self.b.ins().jump(head, &NONE);
        self.b.seal_block(head);
        self.enter(exit);
        Ok(true)
    }

    fn endless(&mut self, body: &[Stmt]) -> Result<bool, Refusal> {
        let [head, exit] = [(); 2].map(|()| self.b.create_block());
        self.b.ins().jump(head, &NONE);
        self.b.switch_to_block(head);
        self.nest.push(Nest { exit, next: Some(head) });
        if self.body(body)? {
            self.b.ins().jump(head, &NONE);
        }
        self.nest.pop();
        self.b.seal_block(head);
        self.enter(exit);
        Ok(true)
    }

    /// Leaves the function with a value.
    pub fn give(&mut self, e: Option<&Expr>) -> Result<(), Refusal> {
        if let Some(leave) = self.leave {
            self.b.ins().jump(leave, &NONE);
            return Ok(());
        }
        let Some(e) = e else {
            self.b.ins().return_(&[]);
            return Ok(());
        };
        let Some(base) = self.result else {
            let value = self.scalar(e)?;
            self.b.ins().return_(&[value]);
            return Ok(());
        };
        let to = Memory { base, offset: 0, flags: MemFlagsData::trusted() };
        if parts_of(&e.ty).is_empty() {
            self.assign(to, e)?;
        } else {
            let value = self.parts(e)?;
            self.store(to, &e.ty, &value);
        }
        self.b.ins().return_(&[]);
        Ok(())
    }

    fn call(&mut self, dst: Option<&Place>, id: FuncId, args: &[Arg]) -> Result<(), Refusal> {
        let callee = self.kernel.function(id);
        let mut list = vec![self.context, self.state, self.b.use_var(self.input), self.b.use_var(self.output)];
        for a in args {
            match a {
                Arg::Value(e) if parts_of(&e.ty).is_empty() => {
                    // the function called makes its own copy
                    let m = self.lies(e)?;
                    list.push(self.address(m));
                }
                Arg::Value(e) => list.extend(self.parts(e)?),
                Arg::Ref(p) => {
                    let (Spot::Memory(m), _) = self.spot(p)? else { return Err(malformed("an array in variables")) };
                    list.push(self.address(m));
                }
            }
        }
        let room = if by_memory(&callee.ret) {
            let room = self.room_for(&callee.ret)?;
            list.push(room.base);
            Some(room)
        } else {
            None
        };
        let reference = self.filter.function(id, self.machine, self.b.func)?;
        let call = self.b.ins().call(reference, &list);
        let value: Vec<Value> = self.b.inst_results(call).to_vec();
        let Some(p) = dst else { return Ok(()) };
        let (spot, ty) = self.spot(p)?;
        match (room, &spot) {
            (Some(room), Spot::Memory(to)) if parts_of(&ty).is_empty() => {
                let (size, _) = bytes::size_align(&ty, self.globals);
                self.copy(*to, room, size);
            }
            (Some(room), _) => {
                let value = self.load(room, &ty);
                self.write(&spot, &ty, &value);
            }
            (None, _) => self.write(&spot, &ty, &value),
        }
        Ok(())
    }

    fn print(&mut self, e: &Expr) -> Result<(), Refusal> {
        let value = self.parts(e)?;
        let name = match &e.ty {
            Ty::Bit => "sl_print_bit",
            Ty::Bool => "sl_print_boolean",
            Ty::Int => "sl_print_int",
            Ty::Float => "sl_print_float",
            Ty::Double => "sl_print_double",
            Ty::Vec(2) => "jit_print_float2",
            Ty::Vec(3) => "jit_print_float3",
            Ty::Vec(_) => "jit_print_float4",
            _ => "jit_print_complex",
        };
        if by_memory(&e.ty) {
            let room = self.room_for(&e.ty)?;
            self.store(room, &e.ty, &value);
            return self.engine(name, &[room.base]);
        }
        self.engine(name, &[value[0]])
    }

    /// A message: its arguments as a struct, in the order of the handler's parameters.
    fn send(&mut self, m: &Message) -> Result<(), Refusal> {
        let args: Vec<Ty> = m.args.iter().map(|e| e.ty.clone()).collect();
        let (places, size, align) = bytes::fields(&args, self.globals, 0);
        let send = Send { route: m.route.clone(), args };
        let number = match self.sends.iter().position(|s| *s == send) {
            Some(i) => i,
            None => {
                self.sends.push(send);
                self.sends.len() - 1
            }
        };
        let message = self.room(size, align)?;
        let flags = MemFlagsData::trusted();
        self.clear(Memory { base: message, offset: 0, flags }, size);
        for (e, at) in m.args.iter().zip(places) {
            let to = Memory { base: message, offset: at as i32, flags };
            if parts_of(&e.ty).is_empty() {
                self.assign(to, e)?;
            } else {
                let value = self.parts(e)?;
                self.store(to, &e.ty, &value);
            }
        }
        let (number, one) = (self.b.ins().iconst(types::I32, number as i64), self.b.ins().iconst(types::I64, 1));
        let done = self.firings();
        let firing = self.b.ins().iadd(done, one);
        self.engine("sl_send", &[number, firing, message])
    }

    /// Stops the program where `wrong` holds.
    fn stop(&mut self, wrong: Value, kind: SiteKind, span: Span, value: Option<Value>) -> Result<(), Refusal> {
        let [fails, fine] = [(); 2].map(|()| self.b.create_block());
        self.b.set_cold_block(fails);
        self.b.ins().brif(wrong, fails, &NONE, fine, &NONE);
        self.enter(fails);
        self.fail(kind, span, value)?;
        self.enter(fine);
        Ok(())
    }

    fn fail(&mut self, kind: SiteKind, span: Span, value: Option<Value>) -> Result<(), Refusal> {
        self.whole.sites.push(Site { kind, filter: self.kernel.display.clone(), span });
        let site = self.b.ins().iconst(types::I32, self.whole.sites.len() as i64 - 1);
        let value = value.unwrap_or_else(|| self.b.ins().iconst(types::I64, 0));
        self.engine("sl_fail", &[site, value])?;
        self.never();
        Ok(())
    }

    fn check(&mut self, c: &Check, span: Span) -> Result<bool, Refusal> {
        let Some(e) = c.operand() else {
            if matches!(c, Check::NoResult) {
                self.fail(SiteKind::NoResult, span, None)?;
                return Ok(false);
            }
            // gone after lower_channels
            return Ok(true);
        };
        let x = self.scalar(e)?;
        let wide = self.b.ins().sextend(types::I64, x);
        let mut compare = |cc, n: u32| {
            let n = self.b.ins().iconst(types::I32, i64::from(n));
            self.b.ins().icmp(cc, x, n)
        };
        // positions may have wrapped: they count as unsigned
        use IntCC::{SignedGreaterThanOrEqual as Ge, SignedLessThan as Lt, UnsignedGreaterThanOrEqual as Above};
        let (kind, wrong, value) = match c {
            Check::Index { length, .. } => (SiteKind::Index(*length), compare(Above, *length), Some(wide)),
            Check::Divisor(_) => (SiteKind::DivisionByZero, compare(IntCC::Equal, 0), None),
            Check::PeekNegative(_) => (SiteKind::PeekNegative, compare(Lt, 0), Some(wide)),
            Check::PeekBeyond { peek, .. } => {
                let wrong = compare(Above, *peek);
                let (at, one) = (self.b.ins().uextend(types::I64, x), self.b.ins().iconst(types::I64, 1));
                (SiteKind::PeekBeyond(*peek), wrong, Some(self.b.ins().iadd(at, one)))
            }
            Check::PopBeyond { pop, .. } => (SiteKind::PopBeyond(*pop), compare(Ge, *pop), Some(wide)),
            Check::PushBeyond { push, .. } => (SiteKind::PushBeyond(*push), compare(Ge, *push), Some(wide)),
            Check::PushedLess { push, .. } => (SiteKind::PushedLess(*push), compare(Lt, *push), Some(wide)),
            Check::PoppedLess { least, .. } => (SiteKind::PoppedLess(*least), compare(Lt, *least), Some(wide)),
            Check::Item(_) | Check::Room(_) | Check::Took(_) | Check::Gave(_) => {
                self.attempt(c, x, wide)?;
                return Ok(true);
            }
            Check::NoResult | Check::Peek(_) | Check::Pop | Check::Push | Check::Pushed | Check::Popped => {
                return Ok(true);
            }
        };
        self.stop(wrong, kind, span, value)?;
        Ok(true)
    }

    /// What a firing that decides on its rates does beside computing.
    fn attempt(&mut self, c: &Check, x: Value, wide: Value) -> Result<(), Refusal> {
        let places = self.machine.places();
        let position = self.b.ins().uextend(types::I64, x);
        // only a firing that may move nothing at all must know how far it has looked
        let works = [Some(self.kernel.work), self.kernel.prework].into_iter().flatten();
        let idle = works.map(|w| w.bounds()).any(|b| b.pop.0 == 0 && b.push.0 == 0);
        let flags = MemFlagsData::trusted();
        let (bound, leave) = match c {
            Check::Item(_) if idle => return self.engine("jit_look", &[position]),
            Check::Item(_) => (places.have, "sl_want"),
            Check::Room(_) => (places.room, "sl_full"),
            Check::Took(_) => {
                self.b.ins().store(flags, wide, self.context, places.took);
                return Ok(());
            }
            _ => {
                self.b.ins().store(flags, wide, self.context, places.gave);
                return Ok(());
            }
        };
        let bound = self.b.ins().load(types::I64, flags, self.context, bound);
        let beyond = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, position, bound);
        let [leaves, stays] = [(); 2].map(|()| self.b.create_block());
        self.b.set_cold_block(leaves);
        self.b.ins().brif(beyond, leaves, &NONE, stays, &NONE);
        self.enter(leaves);
        let all = [position];
        self.engine(leave, if leave == "sl_want" { &all } else { &[] })?;
        self.never();
        self.enter(stays);
        Ok(())
    }

    /// At the head of a function that can come to call itself: stops the program before the stack ends.
    pub fn guard(&mut self) -> Result<(), Refusal> {
        let places = self.machine.places();
        let base = self.b.ins().load(types::I64, MemFlagsData::trusted(), self.context, places.base);
        let here = self.b.ins().get_stack_pointer(PTR);
        let far = self.b.ins().isub(base, here);
        let far = self.b.ins().iabs(far);
        let most = self.b.ins().iconst(types::I64, places.stack);
        let deep = self.b.ins().icmp(IntCC::SignedGreaterThan, far, most);
        self.stop(deep, SiteKind::Recursion, self.function.span, None)
    }
}

/// Is a value of this type handed over by its address?
pub fn by_memory(ty: &Ty) -> bool {
    *ty != Ty::Void && parts_of(ty).len() != 1
}

/// Which other functions of the kernel a function comes to call.
pub fn reached(kernel: &Kernel, from: FuncId) -> std::collections::BTreeSet<FuncId> {
    let (mut seen, mut next) = (std::collections::BTreeSet::new(), vec![from]);
    while let Some(f) = next.pop() {
        walk::each_stmt(&kernel.function(f).body, &mut |s| {
            if let StmtKind::Call { callee: Callee::Func(called), .. } = &s.kind
                && seen.insert(*called)
            {
                next.push(*called);
            }
        });
    }
    seen
}
