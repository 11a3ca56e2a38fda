//! # print-columns
//!
//! Purpose: loops over the items of firings that take many, in lanes: items that follow one another in each lane's row are brought side by side a square at a time. Input: a loop of a lanes
//! function whose items are loaded from where they are. Output: its text, where it is such a loop.
//!
//! ```text
//! for $i = 0 < 4096 step 1 { $s = ($s + in($i)) }
//!   →  while there are SL_LANES more turns:   square = SL_LANES items from i on, of each lane's row;  SL_LANES turns:  s_0 += square[i - first]
//!      the turns that are left:               s_0 += a word of each of SL_LANES rows
//! ```
//!
//! A word of each row is a load for each lane: 0.34 ns an item, where a square takes 0.06 (AMD EPYC, Zen 5, vectors of 16).
//!
//! What must hold: the loop does nothing but assign variables, so that each of its turns loads all of its items; and those of a turn lie one behind those of the turn before. So a square holds
//! nothing that the loop does not load.

use super::print_function::Printer;
use sluice_frontend::ids::LocalId;
use sluice_frontend::ty::Ty;
use sluice_kernel::ir::*;
use sluice_kernel::walk;
use std::fmt::Write;

/// A firing that takes so many items takes many, and one that gives so many times less gives few; a loop of so many turns is long.
const MANY: u32 = 64;
const FEW_OF: u32 = 16;
const LONG: i64 = 32;

/// Rows of so many words begin at the same few places of the first cache, which has no room for the lines of all lanes (512 items: 0.084 ns, 0.058 from a buffer).
const SAME_PLACE: u32 = 512;

/// The most items of a turn: a square is a kilobyte for each vector of lanes.
const MOST: usize = 2;

/// Squares that are there while a loop's turns are printed.
pub(super) struct Columns {
    /// What they hold: positions of items in a turn, and a number in the names of squares.
    positions: Vec<Expr>,
    serial: usize,
    /// The column of the turn, as C.
    column: String,
}

impl Columns {
    /// Where the item of vector `u` at this position is, as C of type `const int32_t *`.
    pub(super) fn place(&self, position: &Expr, u: usize) -> Option<String> {
        let k = self.positions.iter().position(|p| p == position)?;
        Some(format!("square_{}_{k}_{u} + {} * SL_LANES", self.serial, self.column))
    }
}

impl Printer<'_> {
    /// Prints a loop over such items. False where it is none.
    pub(super) fn columns(&mut self, s: &Stmt, l: &For, depth: usize) -> bool {
        if !self.layout.as_ref().is_some_and(|l| l.by_columns)
            || self.kernel.input != Ty::Float
            || self.columns.is_some()
        {
            return false;
        }
        let pop = self.kernel.work.rates.pop;
        let (Some(from), Some(to)) = (l.from.as_int(), l.to.as_int()) else { return false };
        let Some(positions) = positions(l).filter(|p| !p.is_empty() && p.len() <= MOST) else { return false };
        self.serial += 1;
        let (pad, var, serial) = ("    ".repeat(depth), self.local(l.var), self.serial);
        let declares = if self.scopes.declares(s, l.var) { "int32_t " } else { "" };
        let _ = writeln!(self.out, "{pad}{{\n{pad}    {declares}{var} = {from};");
        let _ = writeln!(self.out, "{pad}    while ({var} + SL_LANES <= {to}) {{");
        for (k, position) in positions.iter().enumerate() {
            let at = self.operand(position);
            for u in 0..self.unroll {
                let square = format!("square_{serial}_{k}_{u}");
                let _ = writeln!(
                    self.out,
                    "{pad}        _Alignas(64) int32_t {square}[SL_LANES * SL_LANES];\n\
                     {pad}        sl_square((const int32_t *)(const void *)in + {at} + (f + {u} * SL_LANES) * {pop}, {pop}, {square}, SL_LANES, 0);"
                );
            }
        }
        let column = format!("column_{serial}");
        let _ =
            writeln!(self.out, "{pad}        for (int32_t {column} = 0; {column} < SL_LANES; {column}++, {var}++) {{");
        self.columns = Some(Columns { positions, serial, column });
        self.body(&l.body, depth + 3);
        self.columns = None;
        let _ = writeln!(self.out, "{pad}        }}\n{pad}    }}\n{pad}    for (; {var} < {to}; {var}++) {{");
        self.body(&l.body, depth + 2);
        let _ = writeln!(self.out, "{pad}    }}\n{pad}}}");
        true
    }
}

/// Are items of a firing that takes many and gives few, and looks at no others, loaded in such loops only? All at once they would be brought to a buffer first.
pub(super) fn only(kernel: &Kernel) -> bool {
    let (rates, Some(lanes)) = (kernel.work.rates, &kernel.lanes) else { return false };
    if rates.pop.is_multiple_of(SAME_PLACE) {
        return false;
    }
    if lanes.strands != 1
        || kernel.input != Ty::Float
        || rates.pop < MANY
        || rates.peek > rates.pop
        || rates.push > rates.pop / FEW_OF
    {
        return false;
    }
    let body = &kernel.function(lanes.function).body;
    let loads = |body: &[Stmt]| {
        let mut n = 0;
        walk::each_expr(body, &mut |e| {
            n += usize::from(matches!(&e.kind, ExprKind::Load(p) if matches!(p.base, Base::In(_))))
        });
        n
    };
    let mut within = 0;
    walk::each_stmt(body, &mut |s| {
        if let StmtKind::For(l) = &s.kind
            && let (Some(from), Some(to)) = (l.from.as_int(), l.to.as_int())
            && i64::from(to) - i64::from(from) >= LONG
            && positions(l).is_some_and(|p| p.len() <= MOST)
        {
            within += loads(&l.body);
        }
    });
    within > 0 && within == loads(body)
}

/// The positions of the items of a turn, each once; `None` where the loop is of another kind.
fn positions(l: &For) -> Option<Vec<Expr>> {
    let assigns = |s: &Stmt| matches!(&s.kind, StmtKind::Assign(p, _) if p.as_local().is_some_and(|id| id != l.var));
    if l.step != 1 || l.cmp != BinaryOp::Lt || !l.body.iter().all(assigns) {
        return None;
    }
    let (mut found, mut good) = (Vec::new(), true);
    walk::each_expr(&l.body, &mut |e| {
        if let ExprKind::Load(Place { base: Base::In(position), path }) = &e.kind {
            good &= path.is_empty() && follows(position, l.var);
            if !found.contains(&**position) {
                found.push((**position).clone());
            }
        }
    });
    good.then_some(found)
}

/// Is a position the variable, or a constant more than it?
fn follows(position: &Expr, var: LocalId) -> bool {
    let is_var = |e: &Expr| matches!(&e.kind, ExprKind::Load(p) if p.as_local() == Some(var));
    match &position.kind {
        ExprKind::Binary(BinaryOp::Add, a, b) => is_var(a) && b.as_int().is_some() || is_var(b) && a.as_int().is_some(),
        _ => is_var(position),
    }
}
