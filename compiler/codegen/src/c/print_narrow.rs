//! # print-narrow
//!
//! Purpose: ints that are bytes, in lanes: one vector of bytes where four are of ints. Input: a kernel whose lanes hold bytes ([`sluice_kernel::passes::narrow_lanes`]). Output: within a loop over
//! four vectors, assignments to variables and items that go as bytes, and the ints of those that are needed as such.
//!
//! ```text
//! $x = ((2 * $x) + in(0))   →   x_0_b = (sl_vb_left(x_0_b, 1) + sl_vb_load_small(phase + 0 + f, SL_LANES));
//! ```
//!
//! A value's bytes are its last eight bits ([`Printer::byte`]); what they are made of, and whether ints are made of bytes or bytes of ints, is said by what it costs ([`sluice_kernel::passes::narrow_lanes::Bytes::cost`]).

use super::fused::FusedProgram;
use super::print_columns;
use super::print_function::Printer;
use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::ids::{LocalId, NodeId};
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;
use sluice_kernel::passes::lanes::is_bit;
use sluice_kernel::passes::narrow_lanes::shift;
use sluice_kernel::within::within;
use std::fmt::Write;

/// Vectors of ints that are one of bytes.
pub(super) const VECTORS: usize = 4;

/// Can a kernel's lanes hold bytes, as its items come?
pub(super) fn may(kernel: &Kernel) -> bool {
    let fits = |l: &Lanes| l.narrow.is_some() && (l.phases || kernel.work.rates.pop == 1);
    kernel.lanes.as_ref().is_some_and(fits) && !print_columns::only(kernel) && within(kernel).is_none()
}

/// What is known of the ints in a node's lanes, where these hold bytes.
pub(super) fn of_node<'a>(
    graph: &SdfGraph,
    v: NodeId,
    (kernels, regions): (&'a [Kernel], Option<FusedProgram<'a>>),
) -> Option<&'a Narrow> {
    let NodeKind::Filter { code, .. } = &graph.node(v).kind else { return None };
    let of_regions = || regions?.program.kernels.get(code.index() - kernels.len());
    let kernel = kernels.get(code.index()).or_else(of_regions).filter(|k| may(k))?;
    kernel.lanes.as_ref()?.narrow.as_ref()
}

impl Printer<'_> {
    /// Declares a variable that holds bytes in what is being printed. False where it holds none.
    pub(super) fn declares_bytes(&mut self, id: LocalId, ty: &Ty) -> bool {
        let holds = self.bytes.as_ref().is_some_and(|b| b.holds(id));
        if holds {
            let name = self.local(id);
            let _ = match ty.known_len() {
                Some(n) => writeln!(self.out, "                SL_UNUSED sl_vb {name}_b[{}];", n.max(1)),
                None => writeln!(self.out, "                SL_UNUSED sl_vb {name}_b = {{0}};"),
            };
        }
        holds
    }

    /// How far the words of one vector are from those of the next, where they are stored.
    fn out_step(&self) -> String {
        match &self.layout {
            Some(l) if l.ends.given && l.push > 1 => format!("{} * SL_LANES", l.push),
            _ => "SL_LANES".into(),
        }
    }

    /// Do items come as bytes?
    fn takes_bytes(&self) -> bool {
        self.bytes.is_some() && self.layout.as_ref().is_some_and(|l| l.ends.bytes_taken)
    }

    /// Likewise those that are given.
    fn gives_bytes(&self) -> bool {
        self.bytes.is_some() && self.layout.as_ref().is_some_and(|l| l.ends.bytes_given)
    }

    /// Where bytes that are given go.
    fn out_bytes(&self, position: &Expr) -> String {
        let Some(l) = &self.layout else { return String::new() };
        let word = self.word(position, &[], 1);
        format!("(uint8_t *)((int32_t *)(void *)out + f * {}) + {word} * 4 * SL_LANES", l.push)
    }

    /// The bytes of an item; `small`: the item is nothing else.
    fn item_bytes(&self, position: &Expr, path: &[Proj], small: bool) -> String {
        let Some(l) = &self.layout else { return String::new() };
        if self.takes_bytes() {
            let word = self.word(position, path, 1);
            let from = format!("(const int32_t *)(const void *)in + f * {}", l.pop);
            return format!("sl_vb_load((const uint8_t *)({from}) + {word} * 4 * SL_LANES)");
        }
        if l.bits.0 {
            return format!("sl_vb_load_bits({})", self.in_address(position, path, "uint8_t", 0));
        }
        let step = if l.ends.taken && l.pop > 1 { format!("{} * SL_LANES", l.pop) } else { "SL_LANES".into() };
        let f = if small { "sl_vb_load_small" } else { "sl_vb_load_ints" };
        format!("{f}({}, {step})", self.in_address(position, path, "int32_t", 0))
    }

    /// Prints an assignment of bytes. False where it is none.
    pub(super) fn byte_assign(&mut self, p: &Place, e: &Expr, pad: &str) -> bool {
        let Some(bytes) = &self.bytes else { return false };
        match &p.base {
            Base::Local(id) if bytes.holds(*id) => {
                let (name, local) = (self.local(*id), &self.function().locals[id.index()].ty);
                let text = match (p.path.first(), local.known_len()) {
                    (None, Some(n)) => format!("for (int l = 0; l < {n}; l++) {name}_b[l] = (sl_vb){{0}};"),
                    (Some(Proj::Index(i)), _) => format!("{name}_b[{}] = {};", self.expr(i), self.byte(e)),
                    _ => format!("{name}_b = {};", self.byte(e)),
                };
                let _ = writeln!(self.out, "{pad}{text}");
                true
            }
            Base::Out(position) if self.gives_bytes() => {
                let (to, value) = (self.out_bytes(position), self.byte(e));
                let _ = writeln!(self.out, "{pad}sl_vb_store({to}, {value});");
                true
            }
            Base::Out(position) if bytes.gives(e) && is_bit(&e.ty) => {
                let (to, value) = (self.out_address(position, &p.path, "uint8_t", 0), self.byte(e));
                let _ = writeln!(self.out, "{pad}sl_vb_store_bits({to}, {value});");
                true
            }
            Base::Out(position) if bytes.gives(e) => {
                let (to, step) = (self.out_address(position, &p.path, "int32_t", 0), self.out_step());
                let value = self.byte(e);
                let _ = writeln!(self.out, "{pad}sl_vb_store_ints({to}, {step}, {value});");
                true
            }
            _ => false,
        }
    }

    /// The ints of vector `u`, where they are made of bytes.
    pub(super) fn widened(&self, e: &Expr, u: usize) -> Option<String> {
        let bytes = self.bytes.as_ref()?;
        if !bytes.cost(e).widened {
            return None;
        }
        let of = if is_bit(&e.ty) { "truths" } else { "bytes" };
        Some(format!("sl_vi_of_{of}({}, {u})", self.byte(e)))
    }

    /// The last eight bits of a value; a truth as 0 or 255.
    fn byte(&self, e: &Expr) -> String {
        let Some(bytes) = &self.bytes else { return String::new() };
        if !self.varies(e) {
            let x = self.expr(e);
            return if is_bit(&e.ty) { format!("sl_vb_splat(-(int32_t)({x}))") } else { format!("sl_vb_splat({x})") };
        }
        if let ExprKind::Load(Place { base: Base::In(position), path }) = &e.kind {
            return self.item_bytes(position, path, bytes.is_byte(e));
        }
        if !bytes.cost(e).direct {
            return self.packed(e, |u| self.lane(e, u));
        }
        if let Some(plane) = bytes.plane(e) {
            let word = Expr::binary(BinaryOp::Shr, plane.of.clone(), Expr::int(plane.from as i32), Ty::Int);
            let word = if plane.from == 0 { plane.of } else { &word };
            let of = self.packed(word, |u| self.lane(word, u));
            return match (plane.shift, plane.mask) {
                (n, mask) if is_bit(&e.ty) => format!("(-sl_vb_bits({of}, {n}, {mask}))"),
                (0, 255) => of,
                (n, mask) => format!("sl_vb_bits({of}, {n}, {mask})"),
            };
        }
        let of = |e: &Expr| self.byte(e);
        match &e.kind {
            ExprKind::Load(p) => match &p.base {
                Base::Local(id) => match p.path.first() {
                    Some(Proj::Index(i)) => format!("{}_b[{}]", self.local(*id), self.expr(i)),
                    _ => format!("{}_b", self.local(*id)),
                },
                Base::Table(id) => match p.path.split_last() {
                    Some((Proj::Index(at), before)) if self.is_of_bytes(p) => {
                        self.lookup_narrow((*id, before), &of(at))
                    }
                    Some((Proj::Index(at), before)) => {
                        self.packed(e, |u| self.lookup((*id, before), &self.lane(at, u)))
                    }
                    _ => String::new(),
                },
                _ => String::new(),
            },
            ExprKind::Unary(UnaryOp::Neg, a) => format!("(-{})", of(a)),
            ExprKind::Unary(_, a) => format!("(~{})", of(a)),
            ExprKind::Binary(op, a, b) => self.byte_binary(*op, a, b),
            ExprKind::Select(c, a, b) if !self.varies(c) => format!("({} ? {} : {})", self.operand(c), of(a), of(b)),
            ExprKind::Select(c, a, b) => format!("sl_vb_select({}, {}, {})", of(c), of(a), of(b)),
            ExprKind::Convert(a) => match (&a.ty, &e.ty) {
                (from, to) if is_bit(from) && is_bit(to) => of(a),
                (from, _) if is_bit(from) => format!("({} & 1)", of(a)),
                (_, Ty::Bit) => format!("(-({} & 1))", of(a)),
                _ => format!("(sl_vb)({} != 0)", of(a)),
            },
            ExprKind::Builtin(Builtin::Min | Builtin::Max, args) => {
                let list: Vec<String> = args.iter().map(of).collect();
                let f = if matches!(e.kind, ExprKind::Builtin(Builtin::Min, _)) { "min" } else { "max" };
                format!("sl_vb_{f}({})", list.join(", "))
            }
            // of what is a byte, and not less than 0
            ExprKind::Builtin(_, args) => args.first().map(of).unwrap_or_default(),
            _ => String::new(),
        }
    }

    /// The bytes of ints that operations on ints make, of each vector.
    fn packed(&self, e: &Expr, of: impl Fn(usize) -> String) -> String {
        let small = self.bytes.as_ref().is_some_and(|b| b.is_byte(e));
        let f = match () {
            () if is_bit(&e.ty) => "truths",
            () if small => "small",
            () => "ints",
        };
        let list: Vec<String> = (0..VECTORS).map(of).collect();
        format!("sl_vb_of_{f}({})", list.join(", "))
    }

    fn byte_binary(&self, op: BinaryOp, a: &Expr, b: &Expr) -> String {
        use BinaryOp::*;
        let Some(bytes) = &self.bytes else { return String::new() };
        if op == BitAnd
            && let (ExprKind::Binary(Shr, of, by), Some(mask)) = (&a.kind, b.as_int())
            && let Some(n) = shift(by).filter(|_| bytes.is_byte(of))
        {
            // one mask for what comes from other bytes, and for what is not wanted
            return format!("sl_vb_bits({}, {n}, {})", self.byte(of), mask & (255 >> n));
        }
        let (x, y) = (self.byte(a), self.byte(b));
        let truths = is_bit(&a.ty);
        let by = || shift(b).map_or_else(|| self.expr(b), |n| n.to_string());
        match op {
            Shl => format!("sl_vb_left({x}, {})", by()),
            Shr => format!("sl_vb_right({x}, {})", by()),
            Mul => match (power(a), power(b)) {
                (_, Some(n)) => format!("sl_vb_left({x}, {n})"),
                (Some(n), _) => format!("sl_vb_left({y}, {n})"),
                _ => format!("({x} * {y})"),
            },
            And => format!("({x} & {y})"),
            Or => format!("({x} | {y})"),
            Eq if truths => format!("(~({x} ^ {y}))"),
            Ne if truths => format!("({x} ^ {y})"),
            Lt | Le | Gt | Ge if bytes.is_low(a) && bytes.is_low(b) => {
                // which processors have an instruction for
                format!("(sl_vb)((sl_vs){x} {} (sl_vs){y})", op.symbol())
            }
            Lt | Le | Gt | Ge | Eq | Ne => format!("(sl_vb)({x} {} {y})", op.symbol()),
            _ => format!("({x} {} {y})", op.symbol()),
        }
    }
}

/// Which power of two a constant is, below 2^8.
fn power(e: &Expr) -> Option<u32> {
    let n = u32::try_from(e.as_int()?).ok().filter(|n| n.is_power_of_two() && *n < 256)?;
    Some(n.trailing_zeros())
}
