//! # filter
//!
//! Purpose: the functions of one filter, as the engine calls them. Input: a kernel. Output: declared and defined functions: firings
//! (`sl_fire_fn`), the first firing, the state before it, message handlers.
//!
//! ```text
//! fire(ctx, st, in, out, n):  hold the state;  for n firings { work };  put the state back
//! ```

use crate::Refusal;
use crate::bytes;
use crate::function::{Home, Maker, NONE, Whole, by_memory, reached};
use crate::machine::{Machine, PTR};
use crate::place::{Memory, parts_of};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{FuncRef, InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::{DataId, FuncId as Code};
use sluice_codegen::c::print::Send;
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::Globals;
use sluice_kernel::ir::*;
use std::collections::BTreeMap;

/// What `sl_fire_fn` takes.
const FIRE: [Type; 5] = [PTR, PTR, PTR, PTR, types::I64];

/// The code of filters with equal arguments.
pub struct Filter {
    /// By state field: where it is in the state.
    pub fields: Vec<u64>,
    /// Bytes of the state.
    pub state_bytes: u64,
    /// By table.
    pub tables: Vec<DataId>,
    /// Functions other than firings.
    functions: BTreeMap<FuncId, Code>,
    /// `sl_code.fire`, `.prework` and `.init`.
    pub fire: Code,
    /// The first firing.
    pub prework: Option<Code>,
    /// The state before it.
    pub init: Code,
    /// By handler: `sl_receive_fn`.
    pub receive: Vec<Code>,
    /// Ways of the messages it sends, by number.
    pub sends: Vec<Send>,
}

/// What is known of a filter beside its kernel.
#[derive(Clone, Copy)]
pub struct About {
    /// Its number.
    pub code: usize,
    /// Messages come for it.
    pub receives: bool,
    /// Some of them from itself.
    pub from_itself: bool,
}

impl Filter {
    /// A function, for another one to call.
    pub fn function(
        &self,
        id: FuncId,
        machine: &mut Machine,
        caller: &mut cranelift_codegen::ir::Function,
    ) -> Result<FuncRef, Refusal> {
        let code = self.functions.get(&id).ok_or_else(|| crate::place::malformed("a call of a firing"))?;
        Ok(machine.reference(*code, caller))
    }

    /// Translates a kernel.
    pub fn make(
        kernel: &Kernel,
        about: About,
        globals: &Globals,
        shared: &mut BTreeMap<u32, DataId>,
        machine: &mut Machine,
        whole: &mut Whole,
    ) -> Result<Filter, Refusal> {
        let k = about.code;
        let (fields, state_bytes, _) = bytes::fields(kernel.state.iter().map(|s| &s.ty), globals, 8);
        let mut tables = Vec::new();
        for t in &kernel.tables {
            let known = t.shared.and_then(|s| shared.get(&s.0).copied());
            let data = match known {
                Some(data) => data,
                None => machine.data(bytes::of(&t.value, &t.ty, globals))?,
            };
            if let Some(s) = t.shared {
                shared.insert(s.0, data);
            }
            tables.push(data);
        }
        let prework = match kernel.prework {
            Some(_) => Some(machine.declare(&format!("sl_prework_{k}"), &FIRE, None)?),
            None => None,
        };
        let mut filter = Filter {
            fields,
            state_bytes,
            tables,
            functions: BTreeMap::new(),
            fire: machine.declare(&format!("sl_fire_{k}"), &FIRE, None)?,
            prework,
            init: machine.declare(&format!("sl_init_{k}"), &[PTR], None)?,
            receive: Vec::new(),
            sends: Vec::new(),
        };
        let mut own: std::collections::BTreeSet<FuncId> = kernel.handlers.iter().map(|(_, f)| *f).collect();
        for f in
            [Some(kernel.work.function), kernel.prework.map(|w| w.function)].into_iter().flatten().chain(own.clone())
        {
            own.extend(reached(kernel, f));
        }
        for id in &own {
            let (params, ret) = parameters(kernel.function(*id));
            let code = machine.declare(&format!("sl_own_{k}_{}", id.0), &params, ret)?;
            filter.functions.insert(*id, code);
        }
        let mut maker = Making { kernel, about, globals, machine, whole, sends: Vec::new() };
        maker.init(&filter)?;
        for id in &own {
            maker.own(&filter, *id)?;
        }
        maker.firing(&filter, &kernel.work, filter.fire, "work")?;
        if let (Some(work), Some(code)) = (&kernel.prework, filter.prework) {
            maker.firing(&filter, work, code, "prework")?;
        }
        for (i, (_, f)) in kernel.handlers.iter().enumerate() {
            let code = maker.receiver(&filter, i, *f)?;
            filter.receive.push(code);
        }
        // an attempt must not undo what a message did: the engine delivers before it
        if about.receives && kernel.work.dynamic.is_none() {
            let (fire, prework) = (filter.fire, filter.prework);
            filter.fire = maker.mailed(fire, Some(&kernel.work))?;
            filter.prework = prework.map(|code| maker.mailed(code, None)).transpose()?;
        }
        filter.sends = maker.sends;
        Ok(filter)
    }
}

/// What a function of a filter takes and gives: instance, state, input, output, its parameters, and where a value of several parts goes.
fn parameters(f: &Function) -> (Vec<Type>, Option<Type>) {
    let mut params = vec![PTR; 4];
    for l in &f.locals[..f.params as usize] {
        match parts_of(&l.ty) {
            [] => params.push(PTR),
            parts => params.extend(parts.iter().map(|(t, _)| *t)),
        }
    }
    if by_memory(&f.ret) {
        params.push(PTR);
        return (params, None);
    }
    (params, parts_of(&f.ret).first().map(|(t, _)| *t))
}

/// A filter under way.
struct Making<'a> {
    kernel: &'a Kernel,
    about: About,
    globals: &'a Globals,
    machine: &'a mut Machine,
    whole: &'a mut Whole,
    sends: Vec<Send>,
}

impl Making<'_> {
    /// Makes a function: `body` gets its builder, which stands in the first block, and the parameters.
    fn define(
        &mut self,
        code: Code,
        what: &str,
        body: impl FnOnce(&mut Self, &mut FunctionBuilder<'_>, &[Value]) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let (mut context, mut builder) = self.machine.begin(code);
        let mut b = FunctionBuilder::new(&mut context.func, &mut builder);
        let first = b.create_block();
        b.append_block_params_for_function_params(first);
        b.switch_to_block(first);
        b.seal_block(first);
        let params = b.block_params(first).to_vec();
        body(self, &mut b, &params)?;
        b.seal_all_blocks();
        let config = self.machine.config();
        b.finalize(config);
        let what = format!("{}: {what}", self.kernel.display);
        self.machine.end(code, context, &what)
    }

    /// The state before the first firing.
    fn init(&mut self, filter: &Filter) -> Result<(), Refusal> {
        let mut image = vec![0; filter.state_bytes as usize];
        for (s, at) in self.kernel.state.iter().zip(&filter.fields) {
            bytes::write(&s.initial, &s.ty, self.globals, &mut image[*at as usize..]);
        }
        let zero = image.iter().all(|b| *b == 0);
        let data = if zero { None } else { Some(self.machine.data(image)?) };
        let size = filter.state_bytes as i64;
        self.define(filter.init, "init", |m, b, params| {
            let config = m.machine.config();
            let size = b.ins().iconst(PTR, size);
            match data {
                Some(data) => {
                    let gv = m.machine.data_reference(data, b.func);
                    let from = b.ins().symbol_value(PTR, gv);
                    b.call_memcpy(config, params[0], from, size);
                }
                None => {
                    let zero = b.ins().iconst(types::I8, 0);
                    b.call_memset(config, params[0], zero, size);
                }
            }
            b.ins().return_(&[]);
            Ok(())
        })
    }

    /// A function that work calls, or a handler.
    fn own(&mut self, filter: &Filter, id: FuncId) -> Result<(), Refusal> {
        let (kernel, globals) = (self.kernel, self.globals);
        let code = filter.functions[&id];
        self.define(code, &kernel.function(id).name, |making, b, params| {
            let f = kernel.function(id);
            let mut m = Maker::new(b, making.machine, making.whole, &mut making.sends, filter, globals, kernel, id);
            if reached(kernel, id).contains(&id) {
                m.guard()?;
            }
            let mut given = params[4..].iter().copied();
            let mut next = || given.next().ok_or_else(|| crate::place::malformed("a missing parameter"));
            for l in &f.locals[..f.params as usize] {
                let home = if l.by_ref { Home::Pointer(m.b.declare_var(PTR)) } else { m.home(&l.ty)? };
                match &home {
                    Home::Variables(list) => {
                        for v in list {
                            m.b.def_var(*v, next()?);
                        }
                    }
                    Home::Pointer(v) => m.b.def_var(*v, next()?),
                    Home::Slot(slot) => {
                        let flags = MemFlagsData::trusted();
                        let to = Memory { base: m.b.ins().stack_addr(PTR, *slot, 0), offset: 0, flags };
                        let from = Memory { base: next()?, offset: 0, flags };
                        m.copy(to, from, bytes::size_align(&l.ty, globals).0);
                    }
                }
                m.homes.push(home);
            }
            if by_memory(&f.ret) {
                m.result = Some(next()?);
            }
            m.settle(f.params as usize)?;
            if m.body(&f.body)? {
                // the end of a function that gives nothing; others have a check there
                match f.ret {
                    Ty::Void => m.give(None)?,
                    _ => {
                        let zero = Expr::zero(f.ret.clone());
                        m.give(Some(&zero))?;
                    }
                }
            }
            Ok(())
        })
    }

    /// `work` or `prework`.
    fn firing(&mut self, filter: &Filter, work: &Work, code: Code, what: &str) -> Result<(), Refusal> {
        let (kernel, globals) = (self.kernel, self.globals);
        self.define(code, what, |making, b, params| {
            let id = work.function;
            let mut m = Maker::new(b, making.machine, making.whole, &mut making.sends, filter, globals, kernel, id);
            let (state, n) = (params[1], params[4]);
            let flags = MemFlagsData::trusted();
            m.settle(0)?;
            let each = kernel.uses_iter();
            // what other functions may look at stays in memory
            let hold = reached(kernel, id).is_empty();
            let mut fields = Vec::new();
            if hold {
                let (read, written) = used_fields(kernel, id);
                for (i, s) in kernel.state.iter().enumerate() {
                    if !parts_of(&s.ty).is_empty() && (read[i] || written[i]) {
                        let Home::Variables(list) = m.home(&s.ty)? else { continue };
                        let place = m.field(StateId::from(i));
                        let value = m.load(place, &s.ty);
                        list.iter().zip(value).for_each(|(v, x)| m.b.def_var(*v, x));
                        if written[i] {
                            fields.push((place, list.clone(), &s.ty));
                        }
                        m.held[i] = Some(list);
                    }
                }
            }
            let done = m.b.ins().load(types::I64, flags, state, 0);
            if each && hold {
                let v = m.b.declare_var(types::I64);
                m.b.def_var(v, done);
                m.iter = Some(v);
            } else if !each {
                let sum = m.b.ins().iadd(done, n);
                m.b.ins().store(flags, sum, state, 0);
            }
            let left = m.b.declare_var(types::I64);
            m.b.def_var(left, n);
            let [head, body, next, exit] = [(); 4].map(|()| m.b.create_block());
            m.b.ins().jump(head, &NONE);
            m.b.switch_to_block(head);
            let (rest, zero) = (m.b.use_var(left), m.b.ins().iconst(types::I64, 0));
            let more = m.b.ins().icmp(IntCC::SignedGreaterThan, rest, zero);
            m.b.ins().brif(more, body, &NONE, exit, &NONE);
            m.enter(body);
            m.leave = Some(next);
            if m.body(&m.function.body)? {
                m.b.ins().jump(next, &NONE);
            }
            m.enter(next);
            let one = m.b.ins().iconst(types::I64, 1);
            let rest = m.b.use_var(left);
            let rest = m.b.ins().isub(rest, one);
            m.b.def_var(left, rest);
            for (v, ty, rate) in [(m.input, &kernel.input, work.rates.pop), (m.output, &kernel.output, work.rates.push)]
            {
                let (size, _) = bytes::size_align(ty, globals);
                if *ty != Ty::Void && rate > 0 {
                    let at = m.b.use_var(v);
                    let step = m.b.ins().iconst(PTR, (size * u64::from(rate)) as i64);
                    let at = m.b.ins().iadd(at, step);
                    m.b.def_var(v, at);
                }
            }
            if each {
                let now = m.firings();
                let now = m.b.ins().iadd(now, one);
                match m.iter {
                    Some(v) => m.b.def_var(v, now),
                    None => {
                        m.b.ins().store(flags, now, state, 0);
                    }
                }
            }
            m.b.ins().jump(head, &NONE);
            m.b.seal_block(head);
            m.enter(exit);
            for (place, list, ty) in fields {
                let value: Vec<Value> = list.iter().map(|v| m.b.use_var(*v)).collect();
                m.store(place, ty, &value);
            }
            if let Some(v) = m.iter {
                let now = m.b.use_var(v);
                m.b.ins().store(flags, now, state, 0);
            }
            m.b.ins().return_(&[]);
            Ok(())
        })
    }

    /// Calls a handler with a message's arguments.
    fn receiver(&mut self, filter: &Filter, i: usize, id: FuncId) -> Result<Code, Refusal> {
        let (kernel, globals) = (self.kernel, self.globals);
        let code = self.machine.declare(&format!("sl_receive_{}_{i}", self.about.code), &[PTR; 3], None)?;
        let f = kernel.function(id);
        let types = f.locals[..f.params as usize].iter().map(|l| &l.ty);
        let (places, ..) = bytes::fields(types, globals, 0);
        self.define(code, "a message", |making, b, params| {
            let none = b.ins().iconst(PTR, 0);
            let mut list = vec![params[0], params[1], none, none];
            for (l, at) in f.locals.iter().zip(places) {
                let parts = parts_of(&l.ty);
                if parts.is_empty() {
                    let at = b.ins().iconst(PTR, at as i64);
                    list.push(b.ins().iadd(params[2], at));
                }
                for (t, part) in parts {
                    list.push(b.ins().load(*t, MemFlagsData::trusted(), params[2], at as i32 + part));
                }
            }
            if by_memory(&f.ret) {
                return Err(crate::place::malformed("a handler with a result"));
            }
            let callee = filter.function(id, making.machine, b.func)?;
            b.ins().call(callee, &list);
            b.ins().return_(&[]);
            Ok(())
        })?;
        Ok(code)
    }

    /// Firings that are cut where a message takes effect; of `prework`, where `work` is none.
    fn mailed(&mut self, inner: Code, work: Option<&Work>) -> Result<Code, Refusal> {
        let what = if work.is_some() { "fire" } else { "prework" };
        let code = self.machine.declare(&format!("sl_{what}_mail_{}", self.about.code), &FIRE, None)?;
        let (kernel, globals, from_itself) = (self.kernel, self.globals, self.about.from_itself);
        let node = self.machine.places().node;
        self.define(code, "between messages", |making, b, params| {
            let flags = MemFlagsData::trusted();
            let [context, state, input, output, n] = *params else { return Ok(()) };
            let node = b.ins().load(types::I32, flags, context, node);
            let vars = [input, output, n].map(|x| {
                let v = b.declare_var(types::I64);
                b.def_var(v, x);
                v
            });
            let [head, body, exit] = [(); 3].map(|()| b.create_block());
            b.ins().jump(head, &NONE);
            b.switch_to_block(head);
            let [input, output, left] = vars.map(|v| b.use_var(v));
            let zero = b.ins().iconst(types::I64, 0);
            let more = b.ins().icmp(IntCC::SignedGreaterThan, left, zero);
            b.ins().brif(more, body, &NONE, exit, &NONE);
            b.switch_to_block(body);
            let done = b.ins().load(types::I64, flags, state, 0);
            // what it sends to itself may be due within the firings that follow
            let most = if from_itself && work.is_some() { b.ins().iconst(types::I64, 1) } else { left };
            let deliver = [PTR, types::I32, types::I64, types::I64];
            let deliver = making.machine.import("sl_deliver", &deliver, Some(types::I64), b.func)?;
            let call = b.ins().call(deliver, &[context, node, done, most]);
            let part = b.inst_results(call)[0];
            // the first firing is one whatever follows it
            let part = if work.is_some() { part } else { left };
            let callee = making.machine.reference(inner, b.func);
            b.ins().call(callee, &[context, state, input, output, part]);
            let rates = work.map(|w| w.rates).unwrap_or_default();
            for (v, x, ty, rate) in
                [(vars[0], input, &kernel.input, rates.pop), (vars[1], output, &kernel.output, rates.push)]
            {
                let (size, _) = bytes::size_align(ty, globals);
                let step = b.ins().iconst(types::I64, (size * u64::from(rate)) as i64);
                let bytes = b.ins().imul(part, step);
                let x = b.ins().iadd(x, bytes);
                b.def_var(v, x);
            }
            let rest = b.ins().isub(left, part);
            b.def_var(vars[2], rest);
            b.ins().jump(head, &NONE);
            b.seal_block(head);
            b.seal_block(body);
            b.switch_to_block(exit);
            b.ins().return_(&[]);
            Ok(())
        })?;
        Ok(code)
    }
}

/// By state field: does a function read it, write it?
fn used_fields(kernel: &Kernel, id: FuncId) -> (Vec<bool>, Vec<bool>) {
    let (mut read, mut written) = (vec![false; kernel.state.len()], vec![false; kernel.state.len()]);
    let body = &kernel.function(id).body;
    sluice_kernel::walk::each_expr(body, &mut |e| {
        if let ExprKind::Load(Place { base: Base::State(s), .. }) = &e.kind {
            read[s.index()] = true;
        }
    });
    sluice_kernel::walk::each_stmt(body, &mut |s| {
        for p in s.kind.targets() {
            if let Base::State(s) = p.base {
                written[s.index()] = true;
            }
        }
    });
    (read, written)
}
