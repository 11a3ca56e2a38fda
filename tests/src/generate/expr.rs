//! Expressions of a wanted type.

use super::body::{Body, Place};
use super::types::{Ty, float_literal};

/// An expression and how tightly its outermost operator binds.
#[derive(Clone, Debug)]
pub struct Ex {
    text: String,
    level: u8,
}

/// `?:`
const CHOICE: u8 = 0;
pub(super) const OR: u8 = 1;
const AND: u8 = 2;
/// `& | ^`, all one level.
pub(super) const BITS: u8 = 3;
const EQUAL: u8 = 4;
const LESS: u8 = 5;
pub(super) const ADD: u8 = 6;
/// Shifts, too.
pub(super) const MUL: u8 = 7;
pub(super) const UNARY: u8 = 8;
pub(super) const POSTFIX: u8 = 9;

const FLOAT_FUNCTIONS: [&str; 25] = [
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp", "expm1", "floor", "log",
    "log10", "rint", "round", "sin", "sinh", "sqrt", "tan", "tanh", "sqrt", "round", "abs",
];
const FLOAT_FUNCTIONS_OF_TWO: [&str; 5] = ["atan2", "fmod", "max", "min", "pow"];
const COMPLEX_FUNCTIONS: [&str; 6] = ["exp", "log", "sin", "cos", "sqrt", "csqrt"];

impl Ex {
    pub(super) fn new(text: impl Into<String>, level: u8) -> Ex {
        Ex { text: text.into(), level }
    }

    pub(super) fn atom(text: impl Into<String>) -> Ex {
        Ex::new(text, POSTFIX)
    }

    /// A literal, which may start with a minus.
    pub(super) fn literal(text: String) -> Ex {
        let level = if text.starts_with('-') { UNARY } else { POSTFIX };
        Ex::new(text, level)
    }

    /// The text as an operand of an operator of this level.
    pub(super) fn at(self, level: u8) -> String {
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
        // the sides may differ in type: the wider one counts
        let (first, second) =
            if ty.is_real() || *ty == Ty::Complex { self.operands(ty) } else { (ty.clone(), ty.clone()) };
        let a = self.maybe(|b| b.expr(&first, depth).at(CHOICE + 1));
        let b = self.maybe(|b| b.expr(&second, depth).at(CHOICE));
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
    pub(super) fn constructed(&mut self, ty: &Ty, depth: u32) -> Ex {
        let n = if let Ty::Vec(n) = ty { *n } else { 2 };
        let parts: Vec<String> = (0..n).map(|_| self.expr_to(&Ty::Float, depth.min(1))).collect();
        Ex::atom(format!("{}({})", self.g.show(ty), parts.join(", ")))
    }
}
