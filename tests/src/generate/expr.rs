//! Expressions of a wanted type.

use super::body::{Body, Fun, Place, Var};
use super::types::{Ty, float_literal, int_literal};

/// An expression and how tightly its outermost operator binds.
#[derive(Clone, Debug)]
pub struct Ex {
    text: String,
    level: u8,
}

/// `?:`
const CHOICE: u8 = 0;
const OR: u8 = 1;
const AND: u8 = 2;
/// `& | ^`, all one level.
const BITS: u8 = 3;
const EQUAL: u8 = 4;
const LESS: u8 = 5;
const ADD: u8 = 6;
/// Shifts, too.
const MUL: u8 = 7;
const UNARY: u8 = 8;
const POSTFIX: u8 = 9;

const FLOAT_FUNCTIONS: [&str; 25] = [
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp", "expm1", "floor", "log",
    "log10", "rint", "round", "sin", "sinh", "sqrt", "tan", "tanh", "sqrt", "round", "abs",
];
const FLOAT_FUNCTIONS_OF_TWO: [&str; 5] = ["atan2", "fmod", "max", "min", "pow"];
const COMPLEX_FUNCTIONS: [&str; 6] = ["exp", "log", "sin", "cos", "sqrt", "csqrt"];

impl Ex {
    fn new(text: impl Into<String>, level: u8) -> Ex {
        Ex { text: text.into(), level }
    }

    fn atom(text: impl Into<String>) -> Ex {
        Ex::new(text, POSTFIX)
    }

    /// A literal, which may start with a minus.
    fn literal(text: String) -> Ex {
        let level = if text.starts_with('-') { UNARY } else { POSTFIX };
        Ex::new(text, level)
    }

    /// The text as an operand of an operator of this level.
    fn at(self, level: u8) -> String {
        if self.level < level { format!("({})", self.text) } else { self.text }
    }

    /// The text as an operand of a `+` that joins texts.
    pub fn tight(self) -> String {
        self.at(MUL)
    }

    /// The text, where any expression may stand.
    pub fn text(self) -> String {
        self.text
    }
}

impl Body<'_> {
    /// An expression whose type is this, or widens to it: for assignments, arguments, pushes.
    pub fn expr_to(&mut self, ty: &Ty, depth: u32) -> String {
        let narrower = ty.narrower();
        if !narrower.is_empty() && self.g.r.chance(20) {
            let t = self.g.r.pick(narrower).clone();
            return self.expr(&t, depth).text();
        }
        if *ty == Ty::Double && self.g.r.chance(15) {
            return float_literal(&mut self.g.r); // becomes double without rounding to float
        }
        self.expr(ty, depth).text()
    }

    /// An expression of exactly this type.
    pub fn expr(&mut self, ty: &Ty, depth: u32) -> Ex {
        let e = if depth == 0 || self.g.r.chance(12) { self.leaf(ty) } else { self.compound(ty, depth - 1) };
        if self.g.r.chance(4) { Ex::atom(format!("({})", e.text)) } else { e }
    }

    fn compound(&mut self, ty: &Ty, depth: u32) -> Ex {
        if self.g.r.chance(8) {
            return self.choice(ty, depth);
        }
        if self.g.r.chance(14)
            && let Some(call) = self.call_giving(ty, depth)
        {
            return Ex::atom(call);
        }
        match ty {
            Ty::Int => self.int(depth),
            Ty::Bit => self.bit(depth),
            Ty::Bool => self.boolean(depth),
            Ty::Float | Ty::Double => self.real(ty, depth),
            Ty::Complex | Ty::Vec(_) => self.composed(ty, depth),
            _ => self.leaf(ty),
        }
    }

    fn binary(&mut self, op: &str, level: u8, a: &Ty, b: &Ty, depth: u32) -> Ex {
        let l = self.expr(a, depth).at(level);
        let r = self.expr(b, depth).at(level + 1);
        Ex::new(format!("{l} {op} {r}"), level)
    }

    /// Two types that meet in this one.
    fn operands(&mut self, ty: &Ty) -> (Ty, Ty) {
        let narrower: &[Ty] = if let Ty::Vec(_) = ty { &[Ty::Float, Ty::Int] } else { ty.narrower() };
        if narrower.is_empty() || self.g.r.chance(65) {
            return (ty.clone(), ty.clone());
        }
        let n = self.g.r.pick(narrower).clone();
        match (ty, self.g.r.below(2)) {
            (_, 0) => (ty.clone(), n),
            _ => (n, ty.clone()),
        }
    }

    fn arithmetic(&mut self, op: &str, ty: &Ty, depth: u32) -> Ex {
        let level = if matches!(op, "+" | "-") { ADD } else { MUL };
        let (a, b) = self.operands(ty);
        self.binary(op, level, &a, &b, depth)
    }

    /// `c ? a : b`; both sides may pop one item.
    fn choice(&mut self, ty: &Ty, depth: u32) -> Ex {
        let c = self.condition(depth);
        if self.pops > 0 && self.input == *ty && self.g.r.chance(30) {
            self.take();
            let adds = matches!(ty, Ty::Int | Ty::Float | Ty::Double | Ty::Complex | Ty::Vec(_));
            let other = if adds && self.g.r.chance(60) {
                let e = self.maybe(|b| b.expr(ty, depth.min(1)).at(ADD + 1));
                format!("pop() + {e}")
            } else {
                "pop()".into()
            };
            return Ex::new(format!("{c} ? pop() : {other}"), CHOICE);
        }
        let a = self.maybe(|b| b.expr(ty, depth).at(CHOICE + 1));
        let b = self.maybe(|b| b.expr(ty, depth).at(CHOICE));
        Ex::new(format!("{c} ? {a} : {b}"), CHOICE)
    }

    /// A condition, as an operand of `?`.
    fn condition(&mut self, depth: u32) -> String {
        if self.g.r.chance(12) {
            let t = [Ty::Int, Ty::Float, Ty::Bit, Ty::Double][self.g.r.index(4)].clone();
            return self.expr(&t, depth).at(OR);
        }
        self.expr(&Ty::Bool, depth).at(OR)
    }

    /// A condition, where any expression may stand.
    pub fn test(&mut self, depth: u32) -> String {
        self.condition(depth)
    }

    fn int(&mut self, depth: u32) -> Ex {
        match self.g.r.below(15) {
            0..=2 => self.arithmetic("+", &Ty::Int, depth),
            3 => self.arithmetic("-", &Ty::Int, depth),
            4 | 5 => self.arithmetic("*", &Ty::Int, depth),
            6 | 7 => {
                let l = self.expr(&Ty::Int, depth).at(MUL);
                let op = *self.g.r.pick(&["/", "%"]);
                let r = self.divisor(depth).at(MUL + 1);
                Ex::new(format!("{l} {op} {r}"), MUL)
            }
            8 => {
                let op = *self.g.r.pick(&["<<", ">>"]);
                self.arithmetic(op, &Ty::Int, depth)
            }
            9 | 10 => {
                let op = *self.g.r.pick(&["&", "|", "^"]);
                let (a, b) = self.operands(&Ty::Int);
                self.binary(op, BITS, &a, &b, depth)
            }
            11 => {
                let op = *self.g.r.pick(&["-", "~"]);
                let of = if self.g.r.chance(80) { Ty::Int } else { Ty::Bool };
                self.prefixed(op, &of, depth)
            }
            12 => {
                let from = [Ty::Float, Ty::Double, Ty::Bool, Ty::Bit][self.g.r.weighted(&[4, 2, 1, 1])].clone();
                let e = self.expr(&from, depth).at(UNARY);
                Ex::new(format!("(int){e}"), UNARY)
            }
            13 => {
                if self.g.r.chance(30) {
                    let e = self.expr(&Ty::Int, depth).text;
                    return Ex::atom(format!("abs({e})"));
                }
                let f = *self.g.r.pick(&["min", "max"]);
                let (a, b) = self.operands(&Ty::Int);
                let (a, b) = (self.expr(&a, depth).text, self.expr(&b, depth).text);
                Ex::atom(format!("{f}({a}, {b})"))
            }
            _ => self.stepped(&Ty::Int),
        }
    }

    /// Something that is not zero, or something that could be.
    fn divisor(&mut self, depth: u32) -> Ex {
        if self.hazard && self.g.r.chance(25) {
            let l = self.leaf_of_variable(&Ty::Int);
            return Ex::new(format!("{} % 5", l.at(MUL)), MUL);
        }
        match self.g.r.below(6) {
            0 => {
                let e = self.expr(&Ty::Int, depth).at(BITS);
                Ex::new(format!("{e} | 1"), BITS)
            }
            1 => {
                let e = self.expr(&Ty::Int, depth).at(BITS);
                Ex::new(format!("({e} & 7) + 1"), ADD)
            }
            2 => {
                let e = self.expr(&Ty::Int, depth).at(MUL);
                Ex::new(format!("abs({e} % 9) + 1"), ADD)
            }
            _ => Ex::literal(
                (*self.g.r.pick(&["1", "2", "3", "-1", "-1", "7", "10", "-3", "255", "-2147483648"])).into(),
            ),
        }
    }

    fn prefixed(&mut self, op: &str, of: &Ty, depth: u32) -> Ex {
        let e = self.expr(of, depth).at(UNARY);
        let e = if e.starts_with(['-', '+']) { format!("({e})") } else { e };
        Ex::new(format!("{op}{e}"), UNARY)
    }

    /// `x++` and the like, where there is an x.
    fn stepped(&mut self, ty: &Ty) -> Ex {
        if matches!(self.place, Place::Composite) || self.g.r.chance(50) {
            return self.leaf(ty);
        }
        match self.place_of(ty) {
            Some(place) => {
                let op = *self.g.r.pick(&["++", "--"]);
                if self.g.r.chance(50) {
                    Ex::new(format!("{op}{place}"), UNARY)
                } else {
                    Ex::atom(format!("{place}{op}"))
                }
            }
            None => self.leaf(ty),
        }
    }

    fn bit(&mut self, depth: u32) -> Ex {
        match self.g.r.below(4) {
            0 => self.prefixed("~", &Ty::Bit, depth),
            1 => {
                let from = [Ty::Int, Ty::Bool, Ty::Float][self.g.r.weighted(&[4, 2, 1])].clone();
                let e = self.expr(&from, depth).at(UNARY);
                Ex::new(format!("(bit){e}"), UNARY)
            }
            _ => {
                let op = *self.g.r.pick(&["&", "|", "^"]);
                self.binary(op, BITS, &Ty::Bit, &Ty::Bit, depth)
            }
        }
    }

    fn boolean(&mut self, depth: u32) -> Ex {
        match self.g.r.below(10) {
            0..=3 => {
                let op = *self.g.r.pick(&["<", "<=", ">", ">="]);
                let ty = [Ty::Int, Ty::Float, Ty::Double][self.g.r.weighted(&[5, 3, 2])].clone();
                let (a, b) = self.operands(&ty);
                self.binary(op, LESS, &a, &b, depth)
            }
            4 | 5 => {
                let op = *self.g.r.pick(&["==", "!="]);
                let ty = [Ty::Int, Ty::Float, Ty::Double, Ty::Complex, Ty::Bit, Ty::Bool]
                    [self.g.r.weighted(&[5, 3, 1, 2, 1, 2])]
                .clone();
                let (a, b) = self.operands(&ty);
                self.binary(op, EQUAL, &a, &b, depth)
            }
            6 | 7 => {
                let (op, level) = *self.g.r.pick(&[("&&", AND), ("||", OR)]);
                let l = self.expr(&Ty::Bool, depth).at(level);
                let r = self.maybe(|b| b.expr(&Ty::Bool, depth).at(level + 1));
                Ex::new(format!("{l} {op} {r}"), level)
            }
            8 => {
                let of = [Ty::Bool, Ty::Int, Ty::Float][self.g.r.weighted(&[5, 2, 1])].clone();
                self.prefixed("!", &of, depth)
            }
            _ => {
                if self.g.r.chance(50) {
                    let op = *self.g.r.pick(&["&", "|", "^"]);
                    return self.binary(op, BITS, &Ty::Bool, &Ty::Bool, depth);
                }
                let from = [Ty::Int, Ty::Float, Ty::Double, Ty::Bit][self.g.r.index(4)].clone();
                let e = self.expr(&from, depth).at(UNARY);
                Ex::new(format!("(boolean){e}"), UNARY)
            }
        }
    }

    fn real(&mut self, ty: &Ty, depth: u32) -> Ex {
        match self.g.r.below(14) {
            0..=6 => {
                let op = *self.g.r.pick(&["+", "-", "*", "/", "+", "*"]);
                self.arithmetic(op, ty, depth)
            }
            7 => self.prefixed("-", ty, depth),
            8 | 9 => {
                let f = *self.g.r.pick(&FLOAT_FUNCTIONS);
                let e = self.expr(ty, depth).text;
                Ex::atom(format!("{f}({e})"))
            }
            10 => {
                let f = *self.g.r.pick(&FLOAT_FUNCTIONS_OF_TWO);
                let (a, b) = self.operands(ty);
                let (a, b) = (self.expr(&a, depth).text, self.expr(&b, depth).text);
                Ex::atom(format!("{f}({a}, {b})"))
            }
            11 if *ty == Ty::Float => match self.g.r.below(4) {
                0 => {
                    let e = self.expr(&Ty::Complex, depth).text;
                    Ex::atom(format!("{}({e})", self.g.r.pick(&["abs", "arg"])))
                }
                1 => {
                    let e = self.expr(&Ty::Complex, depth).at(POSTFIX);
                    Ex::atom(format!("{e}.{}", self.g.r.pick(&["real", "imag"])))
                }
                _ => {
                    let n = self.g.r.range(2, 4);
                    let e = self.expr(&Ty::Vec(n as u8), depth).at(POSTFIX);
                    Ex::atom(format!("{e}.{}", ["x", "y", "z", "w"][self.g.r.below(n) as usize]))
                }
            },
            11 | 12 => {
                let from = if *ty == Ty::Float { [Ty::Int, Ty::Double] } else { [Ty::Float, Ty::Int] };
                let from = self.g.r.pick(&from).clone();
                let e = self.expr(&from, depth).at(UNARY);
                Ex::new(format!("({}){e}", self.g.show(ty)), UNARY)
            }
            _ => self.stepped(ty),
        }
    }

    fn composed(&mut self, ty: &Ty, depth: u32) -> Ex {
        match self.g.r.below(8) {
            0..=3 => {
                let op = *self.g.r.pick(&["+", "-", "*", "/"]);
                self.arithmetic(op, ty, depth)
            }
            4 => self.prefixed("-", ty, depth),
            5 if *ty == Ty::Complex => {
                let f = *self.g.r.pick(&COMPLEX_FUNCTIONS);
                let e = self.expr(ty, depth).text;
                Ex::atom(format!("{f}({e})"))
            }
            6 if self.g.r.chance(40) => {
                let e = self.expr(&Ty::Float, depth).at(UNARY);
                Ex::new(format!("({}){e}", self.g.show(ty)), UNARY)
            }
            _ => self.constructed(ty, depth),
        }
    }

    /// `complex(a, b)`, `float3(a, b, c)`.
    fn constructed(&mut self, ty: &Ty, depth: u32) -> Ex {
        let n = if let Ty::Vec(n) = ty { *n } else { 2 };
        let parts: Vec<String> = (0..n).map(|_| self.expr_to(&Ty::Float, depth.min(1))).collect();
        Ex::atom(format!("{}({})", self.g.show(ty), parts.join(", ")))
    }

    /// One item is popped.
    fn take(&mut self) {
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
            5 if *ty == Ty::Int && self.place == Place::Work => {
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
    fn leaf_of_variable(&mut self, ty: &Ty) -> Ex {
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
            return format!("{e} % {}", n + 1);
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
    fn call_giving(&mut self, ty: &Ty, depth: u32) -> Option<String> {
        let fits = |f: &Fun| f.ret == *ty;
        self.call(fits, depth)
    }

    /// A call of a function that fits.
    pub fn call(&mut self, fits: impl Fn(&Fun) -> bool, depth: u32) -> Option<String> {
        if matches!(self.place, Place::Composite) {
            return None;
        }
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
                Ty::Array(..) => self.variable(t, |v| v.writable || !written)?,
                _ => self.expr_to(t, depth.min(2)),
            });
        }
        (self.pops, self.pushes) = saved;
        self.popped += f.pops;
        Some(format!("{}({})", f.name, args.join(", ")))
    }
}
