//! Expressions.

use super::{At, Ident, Name, Type};
use crate::span::Span;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Which.
    pub kind: ExprKind,
    /// Where.
    pub at: At,
}

impl Expr {
    /// Where it stands.
    pub fn span(&self) -> Span {
        self.at.0
    }

    /// The expression inside any parentheses.
    pub fn unparen(&self) -> &Expr {
        let mut e = self;
        while let ExprKind::Paren(inner) = &e.kind {
            e = inner;
        }
        e
    }
}

/// The expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A decimal or hexadecimal integer. Decimal: the value as written (2147483648 is allowed only under a minus: the
    /// checker says so). Hexadecimal: already wrapped into 32 bits, as a value from 0 to 2^32-1.
    Int {
        /// The value.
        value: u64,
        /// Was it hexadecimal?
        hex: bool,
        /// As written.
        text: Name,
    },
    /// A real number.
    Real {
        /// Its value in double precision.
        value: f64,
        /// As written.
        text: Name,
    },
    /// An imaginary number, `4i` or `2.5i`.
    Imaginary {
        /// Its value.
        value: f64,
        /// As written.
        text: Name,
    },
    /// `'c'`
    Char {
        /// The value.
        value: u8,
        /// As written.
        text: Name,
    },
    /// `"..."`
    Str {
        /// With escapes resolved (a byte above 127 is the character of that code point).
        value: Name,
        /// As written.
        text: Name,
    },
    /// `true`, `false`
    Bool(bool),
    /// `pi`
    Pi,
    /// A name.
    Var(Ident),
    /// `(e)`
    Paren(Box<Expr>),
    /// `e.name`
    Member(Box<Expr>, Ident),
    /// `e[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `f(args)`, `Name.f(args)`, `float3(a, b, c)`: the callee is a [`ExprKind::Var`] or [`ExprKind::Member`].
    Call {
        /// What is called.
        callee: Box<Expr>,
        /// Arguments.
        args: Vec<Expr>,
    },
    /// `pop()`
    Pop,
    /// `peek(i)`
    Peek(Box<Expr>),
    /// `iter()`
    Iter,
    /// `-e`, `!e`, `~e`, `+e`
    Unary(UnaryOp, Box<Expr>),
    /// `++x`, `x++`, `--x`, `x--`
    IncDec {
        /// The place.
        target: Box<Expr>,
        /// `++`?
        inc: bool,
        /// Before the operand?
        prefix: bool,
    },
    /// `a op b`
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `(type)e`
    Cast(Box<Type>, Box<Expr>),
    /// `{1, 2, {3}}`
    ArrayLit(Vec<Expr>),
    /// What could not be parsed.
    Error,
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `!`
    Not,
    /// `~`
    BitNot,
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    Add,
    Sub,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    BitAnd,
    BitOr,
    BitXor,
    And,
    Or,
}

impl BinaryOp {
    /// As written.
    pub fn symbol(self) -> &'static str {
        use BinaryOp::*;
        match self {
            Mul => "*",
            Div => "/",
            Rem => "%",
            Shl => "<<",
            Shr => ">>",
            Add => "+",
            Sub => "-",
            Lt => "<",
            Le => "<=",
            Gt => ">",
            Ge => ">=",
            Eq => "==",
            Ne => "!=",
            BitAnd => "&",
            BitOr => "|",
            BitXor => "^",
            And => "&&",
            Or => "||",
        }
    }

    /// Binding strength, larger binds tighter: shifts with multiplication, `& | ^` on one level looser than `==`.
    pub fn precedence(self) -> u8 {
        use BinaryOp::*;
        match self {
            Mul | Div | Rem | Shl | Shr => 7,
            Add | Sub => 6,
            Lt | Le | Gt | Ge => 5,
            Eq | Ne => 4,
            BitAnd | BitOr | BitXor => 3,
            And => 2,
            Or => 1,
        }
    }
}
