//! # place
//!
//! Purpose: where values are: variables of Cranelift, or memory. Input: kernel places. Output: loads, stores, copies.
//!
//! Numbers, complex numbers and vectors are as many Cranelift values as they have parts; arrays and structs lie in memory, in the layout
//! of C ([`crate::bytes`]).

use crate::Refusal;
use crate::bytes;
use crate::function::{Home, Maker};
use crate::machine::PTR;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Type, Value, types};
use cranelift_frontend::Variable;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;

/// The parts of a value that is no array or struct.
pub type Parts = smallvec::SmallVec<[Value; 4]>;

/// Types and offsets of the parts of a value; none for arrays and structs.
pub fn parts_of(ty: &Ty) -> &'static [(Type, i32)] {
    const F: Type = types::F32;
    match ty {
        Ty::Bit | Ty::Bool => &[(types::I8, 0)],
        Ty::Int | Ty::Portal(_) => &[(types::I32, 0)],
        Ty::Float => &[(F, 0)],
        Ty::Double => &[(types::F64, 0)],
        Ty::Complex | Ty::Vec(2) => &[(F, 0), (F, 4)],
        Ty::Vec(3) => &[(F, 0), (F, 4), (F, 8)],
        Ty::Vec(_) => &[(F, 0), (F, 4), (F, 8), (F, 12)],
        _ => &[],
    }
}

/// A place in memory.
#[derive(Clone, Copy)]
pub struct Memory {
    pub base: Value,
    pub offset: i32,
    pub flags: MemFlagsData,
}

/// Where a value is.
pub enum Spot {
    Variables(Vec<Variable>),
    Memory(Memory),
}

impl Maker<'_, '_> {
    /// Memory on the stack.
    pub fn room(&mut self, size: u64, align: u64) -> Result<Value, Refusal> {
        let size = u32::try_from(size.max(1)).map_err(|_| Refusal::Cannot("a variable is too large for the stack"))?;
        let shift = align.clamp(8, 16).trailing_zeros() as u8;
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, size, shift);
        let slot = self.b.create_sized_stack_slot(data);
        Ok(self.b.ins().stack_addr(PTR, slot, 0))
    }

    /// Room for a value of this type.
    pub fn room_for(&mut self, ty: &Ty) -> Result<Memory, Refusal> {
        let (size, align) = bytes::size_align(ty, self.globals);
        let base = self.room(size, align)?;
        Ok(Memory { base, offset: 0, flags: MemFlagsData::trusted() })
    }

    /// Where a place is, and its type.
    pub fn spot(&mut self, p: &Place) -> Result<(Spot, Ty), Refusal> {
        let plain = MemFlagsData::trusted();
        let (mut memory, mut ty) = match &p.base {
            Base::Local(id) => {
                let ty = self.function.locals[id.index()].ty.clone();
                match &self.homes[id.index()] {
                    Home::Variables(list) => return Ok((part_of(list, &p.path), type_at(ty, &p.path))),
                    Home::Slot(slot) => {
                        let base = self.b.ins().stack_addr(PTR, *slot, 0);
                        (Memory { base, offset: 0, flags: plain }, ty)
                    }
                    Home::Pointer(v) => {
                        let base = self.b.use_var(*v);
                        (Memory { base, offset: 0, flags: plain }, ty)
                    }
                }
            }
            Base::State(id) => {
                let ty = self.kernel.state[id.index()].ty.clone();
                if let Some(list) = &self.held[id.index()] {
                    return Ok((part_of(list, &p.path), type_at(ty, &p.path)));
                }
                (self.field(*id), ty)
            }
            Base::Table(id) => {
                let data = self.filter.tables[id.index()];
                let gv = self.machine.data_reference(data, self.b.func);
                let base = self.b.ins().symbol_value(PTR, gv);
                (Memory { base, offset: 0, flags: plain.with_readonly() }, self.kernel.tables[id.index()].ty.clone())
            }
            Base::In(e) | Base::Peek(e) => {
                let base = self.b.use_var(self.input);
                let ty = self.kernel.input.clone();
                let flags = plain.with_alias_region(Some(self.regions[0]));
                (self.element(Memory { base, offset: 0, flags }, e, &ty)?, ty)
            }
            Base::Out(e) => {
                let base = self.b.use_var(self.output);
                let ty = self.kernel.output.clone();
                let flags = plain.with_alias_region(Some(self.regions[1]));
                (self.element(Memory { base, offset: 0, flags }, e, &ty)?, ty)
            }
        };
        for step in &p.path {
            match step {
                Proj::Index(e) => {
                    let element = ty.element().cloned().unwrap_or(Ty::Void);
                    memory = self.element(memory, e, &element)?;
                    ty = element;
                }
                Proj::Member(i) => {
                    let Ty::Struct(id) = ty else { return Err(malformed("a field of what is no struct")) };
                    memory = self.at(memory, bytes::field(id, *i, self.globals));
                    ty = self.kernel.structs[id.index()].fields[*i as usize].1.clone();
                }
                Proj::Component(i) => {
                    memory = self.at(memory, 4 * u64::from(*i));
                    ty = Ty::Float;
                }
            }
        }
        Ok((Spot::Memory(memory), ty))
    }

    /// A field of the filter's state.
    pub fn field(&self, id: StateId) -> Memory {
        let offset = self.filter.fields[id.index()] as i32;
        Memory { base: self.state, offset, flags: MemFlagsData::trusted() }
    }

    /// So many bytes further.
    fn at(&mut self, m: Memory, bytes: u64) -> Memory {
        match i32::try_from(i64::from(m.offset) + bytes as i64) {
            Ok(offset) => Memory { offset, ..m },
            Err(_) => {
                let more = self.b.ins().iconst(PTR, bytes as i64);
                Memory { base: self.b.ins().iadd(m.base, more), ..m }
            }
        }
    }

    /// An element.
    fn element(&mut self, m: Memory, index: &Expr, element: &Ty) -> Result<Memory, Refusal> {
        let (size, _) = bytes::size_align(element, self.globals);
        if let Some(i) = index.as_int()
            && i >= 0
        {
            return Ok(self.at(m, size * i as u64));
        }
        let i = self.scalar(index)?;
        let i = self.b.ins().sextend(PTR, i);
        let size = self.b.ins().iconst(PTR, size as i64);
        let bytes = self.b.ins().imul(i, size);
        Ok(Memory { base: self.b.ins().iadd(m.base, bytes), ..m })
    }

    /// The address of memory.
    pub fn address(&mut self, m: Memory) -> Value {
        if m.offset == 0 {
            return m.base;
        }
        let offset = self.b.ins().iconst(PTR, i64::from(m.offset));
        self.b.ins().iadd(m.base, offset)
    }

    /// The value in a spot.
    pub fn read(&mut self, spot: &Spot, ty: &Ty) -> Parts {
        match spot {
            Spot::Variables(list) => list.iter().map(|v| self.b.use_var(*v)).collect(),
            Spot::Memory(m) => self.load(*m, ty),
        }
    }

    /// The value in memory.
    pub fn load(&mut self, m: Memory, ty: &Ty) -> Parts {
        parts_of(ty).iter().map(|(t, at)| self.b.ins().load(*t, m.flags, m.base, m.offset + at)).collect()
    }

    /// Puts a value into a spot.
    pub fn write(&mut self, spot: &Spot, ty: &Ty, value: &[Value]) {
        match spot {
            Spot::Variables(list) => list.iter().zip(value).for_each(|(v, x)| self.b.def_var(*v, *x)),
            Spot::Memory(m) => self.store(*m, ty, value),
        }
    }

    /// Puts a value into memory.
    pub fn store(&mut self, m: Memory, ty: &Ty, value: &[Value]) {
        for ((_, at), x) in parts_of(ty).iter().zip(value) {
            self.b.ins().store(m.flags, *x, m.base, m.offset + at);
        }
    }

    /// Assigns an array or struct: a copy of what `from` loads, or zeros.
    pub fn assign(&mut self, to: Memory, e: &Expr) -> Result<(), Refusal> {
        let (size, _) = bytes::size_align(&e.ty, self.globals);
        match &e.kind {
            ExprKind::Load(p) => {
                let (Spot::Memory(from), _) = self.spot(p)? else { return Err(malformed("an array in variables")) };
                self.copy(to, from, size);
                Ok(())
            }
            ExprKind::Zero => {
                self.clear(to, size);
                Ok(())
            }
            _ => Err(malformed("an array that is computed")),
        }
    }

    /// Copies; the two may be the same place.
    pub fn copy(&mut self, to: Memory, from: Memory, size: u64) {
        let steps = pieces(size);
        if steps.len() <= 8 {
            let values: Vec<Value> =
                (steps.iter()).map(|(t, at)| self.b.ins().load(*t, loose(from), from.base, from.offset + at)).collect();
            for ((_, at), x) in steps.iter().zip(values) {
                self.b.ins().store(loose(to), x, to.base, to.offset + at);
            }
            return;
        }
        let (to, from) = (self.address(to), self.address(from));
        let size = self.b.ins().iconst(PTR, size as i64);
        let config = self.machine.config();
        self.b.call_memmove(config, to, from, size);
    }

    /// Makes memory zero.
    pub fn clear(&mut self, to: Memory, size: u64) {
        let steps = pieces(size);
        if steps.len() <= 8 {
            for (t, at) in steps {
                let zero = self.b.ins().iconst(t, 0);
                self.b.ins().store(loose(to), zero, to.base, to.offset + at);
            }
            return;
        }
        let to = self.address(to);
        let (zero, size) = (self.b.ins().iconst(types::I8, 0), self.b.ins().iconst(PTR, size as i64));
        let config = self.machine.config();
        self.b.call_memset(config, to, zero, size);
    }

    /// Where an array or struct lies that is only read: its own place, or zeros made for it.
    pub fn lies(&mut self, e: &Expr) -> Result<Memory, Refusal> {
        if let ExprKind::Load(p) = &e.kind
            && let (Spot::Memory(m), _) = self.spot(p)?
        {
            return Ok(m);
        }
        let room = self.room_for(&e.ty)?;
        self.assign(room, e)?;
        Ok(room)
    }
}

/// A kernel that breaks the rules of the kernel IR.
pub fn malformed(what: &str) -> Refusal {
    Refusal::Cranelift(format!("a kernel has {what}"))
}

/// The same memory, whatever its alignment.
fn loose(m: Memory) -> MemFlagsData {
    MemFlagsData::new().with_notrap().with_alias_region(m.flags.alias_region())
}

/// Words that make up so many bytes; more than eight for many.
fn pieces(size: u64) -> Vec<(Type, i32)> {
    let (mut at, mut out) = (0, Vec::new());
    while at < size && out.len() <= 8 {
        let (t, n) = match size - at {
            8.. => (types::I64, 8),
            4.. => (types::I32, 4),
            2.. => (types::I16, 2),
            _ => (types::I8, 1),
        };
        out.push((t, at as i32));
        at += n;
    }
    out
}

fn part_of(list: &[Variable], path: &[Proj]) -> Spot {
    match path.first() {
        Some(Proj::Component(i)) => Spot::Variables(list.get(usize::from(*i)).copied().into_iter().collect()),
        _ => Spot::Variables(list.to_vec()),
    }
}

fn type_at(ty: Ty, path: &[Proj]) -> Ty {
    if path.is_empty() { ty } else { Ty::Float }
}
