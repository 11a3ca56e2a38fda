//! What expressions are made from: variables and their parts, items, literals, calls.

use super::body::{Body, Fun, Place, Var};
use super::expr::{ADD, BITS, Ex, MUL, OR, UNARY};
use super::types::{Ty, float_literal, int_literal};

impl Body<'_> {
    /// One item is popped.
    pub(super) fn take(&mut self) {
        self.pops -= 1;
        self.popped += 1;
        self.fires = true;
    }

    /// A variable, an item, a literal.
    pub fn leaf(&mut self, ty: &Ty) -> Ex {
        match self.g.r.below(12) {
            0..=2 if self.pops > 0 && self.input.holds(ty, &self.g.structs) => {
                self.take();
                let item = self.input.clone();
                let path = self.path(&item, ty);
                return Ex::atom(format!("pop(){path}"));
            }
            3 | 4 if self.peek > self.popped && self.input.holds(ty, &self.g.structs) => {
                return self.peeked(ty);
            }
            5 if *ty == Ty::Int && matches!(self.place, Place::Work | Place::Handler) => {
                self.fires = true;
                return Ex::atom("iter()");
            }
            _ => {}
        }
        if (ty.is_aggregate() || self.g.r.chance(70))
            && let Some(text) = self.read(ty)
        {
            return Ex::atom(text);
        }
        self.literal(ty)
    }

    /// A variable, where there is one.
    pub(super) fn leaf_of_variable(&mut self, ty: &Ty) -> Ex {
        match self.place_of(ty) {
            Some(text) => Ex::atom(text),
            None => self.leaf(ty),
        }
    }

    fn peeked(&mut self, ty: &Ty) -> Ex {
        self.fires = true;
        let item = self.input.clone();
        let n = self.peek - self.popped;
        let i = self.maybe(|b| b.index(n));
        let path = self.path(&item, ty);
        Ex::atom(format!("peek({i}){path}"))
    }

    /// A value written down.
    fn literal(&mut self, ty: &Ty) -> Ex {
        let r = &mut self.g.r;
        match ty {
            Ty::Bit => Ex::new(format!("(bit){}", r.below(2)), UNARY),
            Ty::Bool => Ex::atom(if r.chance(50) { "true" } else { "false" }),
            Ty::Int => Ex::literal(int_literal(r)),
            Ty::Float => Ex::literal(float_literal(r)),
            Ty::Double => {
                let x = float_literal(r);
                Ex::new(format!("(double){x}"), UNARY)
            }
            Ty::Complex if r.chance(40) => {
                let (a, b) = (r.below(20), r.below(20));
                match r.below(3) {
                    0 => Ex::new(format!("{a}.5i"), UNARY), // `.real` cannot follow a number
                    1 => Ex::new(format!("{a} + {b}i"), ADD),
                    _ => Ex::new(format!("{a}.25 - {b}i"), ADD),
                }
            }
            Ty::Complex | Ty::Vec(_) => self.constructed(&ty.clone(), 0),
            Ty::Void | Ty::Array(..) | Ty::Struct(_) => unreachable!("aggregates are declared before they are used"),
        }
    }

    /// The way from a value to a part of it.
    fn path(&mut self, from: &Ty, want: &Ty) -> String {
        let (mut at, mut text) = (from.clone(), String::new());
        while at != *want {
            match at {
                Ty::Array(e, n) => {
                    text += &format!("[{}]", self.maybe(|b| b.index(n)));
                    at = *e;
                }
                Ty::Struct(s) => {
                    let fields = self.g.structs[s].fields.clone();
                    let fit: Vec<usize> =
                        (0..fields.len()).filter(|i| fields[*i].holds(want, &self.g.structs)).collect();
                    let i = *self.g.r.pick(&fit);
                    text += &format!(".f{i}");
                    at = fields[i].clone();
                }
                Ty::Complex => {
                    text += if self.g.r.chance(50) { ".real" } else { ".imag" };
                    at = Ty::Float;
                }
                Ty::Vec(n) => {
                    text += [".x", ".y", ".z", ".w"][self.g.r.below(n.into()) as usize];
                    at = Ty::Float;
                }
                _ => unreachable!("no part of the wanted type"),
            }
        }
        text
    }

    /// Reads a variable or a part of one.
    fn read(&mut self, ty: &Ty) -> Option<String> {
        self.variable(ty, |v| v.range.is_none() || v.ty == Ty::Int)
    }

    /// A variable, or part of one, that can be assigned.
    pub fn place_of(&mut self, ty: &Ty) -> Option<String> {
        self.variable(ty, |v| v.writable)
    }

    fn variable(&mut self, ty: &Ty, fits: impl Fn(&Var) -> bool) -> Option<String> {
        let statics = self.g.statics.iter().filter(|_| self.place != Place::Static);
        let found: Vec<Var> =
            self.visible().chain(statics).filter(|v| fits(v) && v.ty.holds(ty, &self.g.structs)).cloned().collect();
        // what was declared last is used most
        let n = found.len();
        let v = match n {
            0 => return None,
            _ if self.g.r.chance(40) => found[n - 1 - self.g.r.index(n.min(3))].clone(),
            _ => self.g.r.pick(&found).clone(),
        };
        let path = self.path(&v.ty, ty);
        Some(v.name + &path)
    }

    /// An int from 0 to n - 1.
    pub fn index(&mut self, n: u32) -> String {
        if self.hazard && self.g.r.chance(10) {
            let e = self.leaf_of_variable(&Ty::Int).at(MUL);
            // where there is no variable it is a number, and the compiler would know
            if e.trim_matches(['(', ')']).parse::<i64>().is_err() {
                return format!("{e} % {}", n + 1);
            }
        }
        let counters: Vec<String> = (self.visible())
            .filter(|v| v.range.is_some_and(|(lo, hi)| lo >= 0 && hi <= n as i32))
            .map(|v| v.name.clone())
            .collect();
        if !counters.is_empty() && self.g.r.chance(60) {
            return self.g.r.pick(&counters).clone();
        }
        match self.g.r.below(5) {
            0 if n > 1 => {
                let mask = (1u32 << n.ilog2()) - 1;
                let e = self.expr(&Ty::Int, 1).at(BITS);
                format!("{e} & {mask}")
            }
            1 if n > 1 => {
                let e = self.expr(&Ty::Int, 1).at(MUL);
                format!("abs({e} % {n})")
            }
            _ => self.g.r.below(n.max(1)).to_string(),
        }
    }

    /// A call of a function that gives this type.
    pub(super) fn call_giving(&mut self, ty: &Ty, depth: u32) -> Option<String> {
        let fits = |f: &Fun| f.ret == *ty;
        self.call(fits, depth)
    }

    /// A call of a function that fits.
    pub fn call(&mut self, fits: impl Fn(&Fun) -> bool, depth: u32) -> Option<String> {
        let can = |b: &Self, f: &Fun| {
            let seen = f.need == 0 || b.popped + f.need <= b.peek;
            let channels = f.pops <= b.pops && f.pushes <= b.pushes && seen;
            let firing = !f.fires || b.place == Place::Work;
            let cheap = b.room() >= f.cost;
            let arrays = f.params.iter().all(|(t, written)| {
                !matches!(t, Ty::Array(..))
                    || b.visible().any(|v| (v.writable || !written) && v.ty.holds(t, &b.g.structs))
            });
            let structs = f.params.iter().all(|(t, _)| !matches!(t, Ty::Struct(_)) || b.has(t));
            channels && firing && cheap && arrays && structs
        };
        let found: Vec<Fun> =
            self.own.iter().chain(&self.g.helpers).filter(|f| fits(f) && can(self, f)).cloned().collect();
        if found.is_empty() {
            return None;
        }
        let f = self.g.r.pick(&found).clone();
        self.count(f.cost);
        self.fires |= f.fires;
        // the items it takes are set aside, its arguments cannot have them
        let saved = (self.pops - f.pops, self.pushes - f.pushes);
        (self.pops, self.pushes) = (0, 0);
        let mut args = Vec::new();
        for (t, written) in &f.params {
            args.push(match t {
                Ty::Array(..) => {
                    let one = self.variable(t, |v| v.writable || !written)?;
                    // one of two is passed by reference, too
                    let other = if self.g.r.chance(25) { self.variable(t, |v| v.writable || !written) } else { None };
                    match other {
                        Some(other) => format!("{} ? {one} : {other}", self.expr(&Ty::Bool, 1).at(OR)),
                        None => one,
                    }
                }
                _ => self.expr_to(t, depth.min(2)),
            });
        }
        (self.pops, self.pushes) = saved;
        self.popped += f.pops;
        Some(format!("{}({})", f.name, args.join(", ")))
    }
}
