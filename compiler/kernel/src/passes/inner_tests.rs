//! Loops before and after the passes: text for people, and random loops that are executed both ways.

use super::inner::Inner;
use super::software_pipeline;
use super::unroll::{self, Rule};
use super::unroll_and_jam;
use crate::ir::*;
use crate::loops::tests::kernel;
use crate::verify::verify;
use sluice_frontend::constant::Const;
use sluice_frontend::ops;

/// The statements of the work function, after the header, as text.
fn body(k: &Kernel) -> String {
    let text = crate::text::print(k);
    let lines = text.lines().skip_while(|l| !l.starts_with("func0")).skip(1).filter(|l| !l.trim().starts_with("local"));
    let lines: Vec<&str> = lines.map(|l| l.trim_end_matches(" @0:0-1")).collect();
    lines[..lines.len() - 1].join("\n").replace(" @0:0-1", "")
}

fn changed(text: &str, pass: impl FnOnce(&mut Kernel)) -> String {
    let mut k = kernel(text);
    pass(&mut k);
    verify(&k).unwrap();
    body(&k)
}

fn unrolled(text: &str, rule: Rule) -> String {
    changed(text, |k| unroll::run(k, rule))
}

#[test]
fn short_loops_are_written_out() {
    let text = "for $0 = 0 < 3 step 1 @0:0-1 { $4[$0] = in($0) @0:0-1 } out(0) = $4[1] @0:0-1";
    let want = "  $0[0] = in(0)\n  $0[1] = in(1)\n  $0[2] = in(2)\n  out(0) = $0[1]";
    assert_eq!(unrolled(text, Rule::ALL), want);
    // the variable's last value, where somebody wants it
    let text = "for $0 = 7 > 0 step -3 @0:0-1 { out($0) = 1.0f @0:0-1 } out(0) = $4[($0 + 3)] @0:0-1";
    let want = "  out(7) = 1.0f\n  out(4) = 1.0f\n  out(1) = 1.0f\n  out(0) = $0[1]";
    assert_eq!(unrolled(text, Rule::ALL), want);
    assert_eq!(unrolled("for $0 = 3 < 3 step 1 @0:0-1 { out($0) = 1.0f @0:0-1 }", Rule::ALL), "");
}

#[test]
fn large_turns_around_a_loop_that_stays_are_not_written_out() {
    let around = |around: usize, more: &str| {
        let text = format!(
            "for $0 = 0 < 3 step 1 @0:0-1 {{ for $1 = 0 < 100 step 1 @0:0-1 {{ $2 = ($2 + in(($0 + $1))) @0:0-1 }} {more} out($0) = $2 @0:0-1 }}"
        );
        unrolled(&text, Rule { around, factor: 1, ..Rule::ALL }).matches("for ").count()
    };
    // the inner loop is too long; its turn is 7 statements and operations, that of the outer one some more
    assert_eq!((around(usize::MAX, ""), around(64, "")), (3, 3));
    assert_eq!(around(4, ""), 2);
    // where something is checked, positions that are known may show that it holds
    assert_eq!(around(4, "check index $0 9 @0:0-1"), 3);
}

#[test]
fn a_rule_may_want_recurrences_over_written_arrays() {
    let rule = Rule { recurrences: true, arrays: true, factor: 1, ..Rule::ALL };
    let sum = "$2 = ($2 + $4[$0]) @0:0-1";
    for (inside, before, wanted) in [
        (sum, "", false),
        (sum, "$4[0] = 1.0f @0:0-1", true),
        ("$2 = ($2 + state1[$0]) @0:0-1", "state1[0] = 1.0f @0:0-1", true),
        ("$2 = ($2 + $4[3]) @0:0-1", "$4[0] = 1.0f @0:0-1", false),
        // another element of the turn before; the same one; one of another array
        ("$4[($0 + 1)] = $4[$0] @0:0-1", "", true),
        ("$4[$0] = ($4[$0] + 1.0f) @0:0-1", "", false),
        ("$4[$0] = $5[($0 + 1)] @0:0-1", "", false),
        // written before it is read; perhaps written
        ("$2 = in($0) @0:0-1 $4[$0] = $2 @0:0-1", "", false),
        ("if ($3 < 1.0f) @0:0-1 { $2 = in($0) @0:0-1 } $4[$0] = $2 @0:0-1", "", true),
    ] {
        let text =
            format!("{before} for $0 = 0 < 3 step 1 @0:0-1 {{ {inside} }} out(0) = $2 @0:0-1 out(1) = $4[0] @0:0-1");
        assert_eq!(!unrolled(&text, rule).contains("for"), wanted, "{text}");
    }
}

#[test]
fn several_turns_become_one() {
    let text = "for $0 = 0 < 11 step 1 @0:0-1 { $2 = ($2 + in($0)) @0:0-1 } out(0) = $2 @0:0-1";
    let want = "  for $0 = 0 < 8 step 4 {
    $1 = ($1 + in($0))
    $1 = ($1 + in(($0 + 1)))
    $1 = ($1 + in(($0 + 2)))
    $1 = ($1 + in(($0 + 3)))
  }
  $0 = 8
  $1 = ($1 + in(8))
  $0 = 9
  $1 = ($1 + in(9))
  $0 = 10
  $1 = ($1 + in(10))
  $0 = 11
  out(0) = $1";
    assert_eq!(unrolled(text, Rule { turns: 8, ..Rule::ALL }), want);
}

#[test]
fn bounds_that_are_not_known_are_kept() {
    let text = "for $0 = 2 < $1 step 1 @0:0-1 { $2 = ($2 + in($0)) @0:0-1 } out(0) = $2 @0:0-1";
    let want = "  $3 = $1
  for $0 = 2 < select(($1 < -2147483646), -2147483648, ($1 + -1)) step 2 {
    $2 = ($2 + in($0))
    $2 = ($2 + in(($0 + 1)))
  }
  for $0 = $0 < $1 step 1 {
    $2 = ($2 + in($0))
  }
  out(0) = $2";
    let got = unrolled(text, Rule { factor: 2, ..Rule::ALL });
    assert_eq!(got.trim_start_matches("  $3 = $1\n"), want.trim_start_matches("  $3 = $1\n"));
}

#[test]
fn loads_come_a_turn_ahead() {
    let text = "for $0 = 0 < 8 step 1 @0:0-1 { out($0) = (in($0) + $4[$0]) @0:0-1 }";
    let want = "  $0 = 0
  $6 = in($0)
  $8 = $4[$0]
  for $0 = 0 < 7 step 1 {
    $7 = in(($0 + 1))
    $9 = $4[($0 + 1)]
    out($0) = ($6 + $8)
    $6 = $7
    $8 = $9
  }
  out($0) = ($6 + $8)
  $0 = 8";
    assert_eq!(changed(text, software_pipeline::run), want);
}

#[test]
fn what_does_not_come_ahead() {
    for text in [
        // what the turn before stores
        "for $0 = 1 < 8 step 1 @0:0-1 { $4[$0] = ($4[($0 - 1)] + 1.0f) @0:0-1 }",
        // what this turn stores before
        "for $0 = 0 < 8 step 1 @0:0-1 { $4[$0] = $2 @0:0-1 $3 = $4[$0] @0:0-1 }",
        // what may be anything
        "for $0 = 0 < 8 step 1 @0:0-1 { $4[$0] = $4[(($0 * $0) & 31)] @0:0-1 }",
        "for $0 = 0 < 8 step 1 @0:0-1 { $1 = (($1 * 5) & 31) @0:0-1 $2 = $4[$1] @0:0-1 }",
        // what is the same in every turn
        "for $0 = 0 < 8 step 1 @0:0-1 { $2 = ($2 + $4[3]) @0:0-1 }",
        // what is not always executed
        "for $0 = 0 < 8 step 1 @0:0-1 { if ($2 < 1.0f) @0:0-1 { $2 = $4[$0] @0:0-1 } }",
        "for $0 = 0 < 8 step 1 @0:0-1 { $2 = select(($2 < 1.0f), $4[$0], 0.0f) @0:0-1 }",
        // what a check may stop
        "for $0 = 0 < 8 step 1 @0:0-1 { check index $1 32 @0:0-1 $2 = ($2 + $4[$0]) @0:0-1 }",
        "for $0 = 0 < 8 step 1 @0:0-1 { $2 = ($2 + $4[$0]) @0:0-1 if ($2 < 0.0f) @0:0-1 { break 0 @0:0-1 } }",
        // a single turn
        "for $0 = 0 < 1 step 1 @0:0-1 { $2 = ($2 + $4[$0]) @0:0-1 }",
    ] {
        assert_eq!(changed(text, software_pipeline::run), body(&kernel(text)), "{text}");
    }
}

/// A kernel's variables and what it has put out while it is executed.
#[derive(Debug)]
pub(super) struct Machine {
    locals: Vec<Vec<Const>>,
    state: Vec<Vec<Const>>,
    /// What it has put out, in order.
    pub(super) out: Vec<(usize, String)>,
    steps: u32,
}

enum End {
    Next,
    Break(u32),
    Continue(u32),
    Stop,
}

impl Machine {
    fn new() -> Machine {
        let floats = |n: usize, from: f32| (0..n).map(|i| Const::Float(from + i as f32 * 0.37)).collect::<Vec<_>>();
        let mut locals = vec![vec![Const::Int(0)], vec![Const::Int(5)], floats(1, 0.5), floats(1, 1.5)];
        locals.extend([floats(32, 1.0), floats(32, -4.0)]);
        Machine { locals, state: vec![floats(1, 2.0), floats(32, 9.0)], out: Vec::new(), steps: 0 }
    }

    /// Executes a kernel. Variables of the start are found by their names: passes may give them other numbers.
    pub(super) fn run(k: &Kernel) -> Machine {
        let (start, names) = (Machine::new(), ["i", "j", "x", "y", "a", "b"]);
        let mut m = Machine::new();
        // to read what was not assigned is a fault here
        m.locals = (k.functions[0].locals.iter())
            .map(|l| names.iter().position(|n| *n == l.name).map_or(Vec::new(), |i| start.locals[i].clone()))
            .collect();
        if let End::Stop = m.body(&k.functions[0].body) {
            m.out.push((99, "stopped".into()));
        }
        m
    }

    fn int(&self, e: &Expr) -> i32 {
        match self.expr(e) {
            Const::Int(i) => i,
            other => panic!("{other:?}"),
        }
    }

    fn index(&self, p: &Place) -> usize {
        match p.path.first() {
            Some(Proj::Index(e)) => self.int(e) as usize,
            _ => 0,
        }
    }

    fn expr(&self, e: &Expr) -> Const {
        match &e.kind {
            ExprKind::Const(c) => c.clone(),
            ExprKind::Load(p) => match &p.base {
                Base::Local(id) => self.locals[id.index()][self.index(p)].clone(),
                Base::State(id) => self.state[id.index()][self.index(p)].clone(),
                Base::In(i) => {
                    let i = self.int(i);
                    assert!((0..64).contains(&i), "{i} is outside the window");
                    Const::Float(i as f32 * 0.11)
                }
                other => panic!("{other:?}"),
            },
            ExprKind::Select(c, a, b) => self.expr(if self.expr(c) == Const::Bool(true) { a } else { b }),
            ExprKind::Unary(op, a) => ops::unary(*op, &self.expr(a)).unwrap(),
            ExprKind::Binary(op, a, b) => ops::binary(*op, &self.expr(a), &self.expr(b)).unwrap().unwrap(),
            ExprKind::Convert(a) => ops::convert(&self.expr(a), &e.ty).unwrap(),
            ExprKind::Builtin(f, args) => {
                let args: Vec<Const> = args.iter().map(|a| self.expr(a)).collect();
                ops::builtin(*f, &args).unwrap()
            }
            other => panic!("{other:?}"),
        }
    }

    fn body(&mut self, body: &[Stmt]) -> End {
        for s in body {
            self.steps += 1;
            assert!(self.steps < 1_000_000, "no end");
            let end = match &s.kind {
                StmtKind::Assign(p, e) => {
                    let (value, index) = (self.expr(e), self.index(p));
                    match &p.base {
                        Base::Local(id) if self.locals[id.index()].is_empty() => self.locals[id.index()] = vec![value],
                        Base::Local(id) => self.locals[id.index()][index] = value,
                        Base::State(id) => self.state[id.index()][index] = value,
                        Base::Out(i) => {
                            let i = self.int(i) as usize;
                            self.out.push((i, format!("{value:?}")));
                        }
                        other => panic!("{other:?}"),
                    }
                    End::Next
                }
                StmtKind::Check(Check::Index { index, length }) => {
                    if (self.int(index) as u32) < *length {
                        End::Next
                    } else {
                        End::Stop
                    }
                }
                StmtKind::If(c, a, b) => self.body(if self.expr(c) == Const::Bool(true) { a } else { b }),
                StmtKind::Block(b) => match self.body(b) {
                    End::Break(0) => End::Next,
                    other => out_of(other),
                },
                StmtKind::For(l) => self.counted(l),
                StmtKind::Break(d) => End::Break(*d),
                StmtKind::Continue(d) => End::Continue(*d),
                other => panic!("{other:?}"),
            };
            match end {
                End::Next => {}
                end => return end,
            }
        }
        End::Next
    }

    fn counted(&mut self, l: &For) -> End {
        let (to, mut now) = (self.expr(&l.to), self.int(&l.from));
        loop {
            self.locals[l.var.index()] = vec![Const::Int(now)];
            if ops::binary(l.cmp, &Const::Int(now), &to) != Ok(Some(Const::Bool(true))) {
                return End::Next;
            }
            match self.body(&l.body) {
                End::Next | End::Continue(0) => {}
                End::Break(0) => return End::Next,
                other => return out_of(other),
            }
            now = now.wrapping_add(l.step);
        }
    }
}

/// A jump as the construct around sees it.
fn out_of(end: End) -> End {
    match end {
        End::Break(d) => End::Break(d - 1),
        End::Continue(d) => End::Continue(d - 1),
        other => other,
    }
}

/// Random numbers.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn of(&mut self, all: &[&str]) -> String {
        all[self.below(all.len() as u64) as usize].into()
    }

    /// An index that lies in the arrays while `$0` is from 2 to 27.
    fn index(&mut self) -> String {
        self.of(&[
            "$0",
            "($0 + 1)",
            "($0 - 1)",
            "($0 + 2)",
            "($0 - 2)",
            "(29 - $0)",
            "3",
            "($1 & 31)",
            "(($0 * 3) & 31)",
        ])
    }

    fn value(&mut self) -> String {
        let i = self.index();
        match self.below(8) {
            0 => "$2".into(),
            1 => "$3".into(),
            2 => format!("in({i})"),
            3 => format!("state1[{i}]"),
            4 => format!("($5[{i}] * 0.5f)"),
            5 => format!("select(($2 < $3), $4[{i}], $5[{i}])"),
            6 => "state0".into(),
            _ => format!("$4[{i}]"),
        }
    }

    /// `blocks` lie between it and the loop; `None` outside of it.
    fn statement(&mut self, blocks: Option<u64>) -> String {
        let (i, v, w) = (self.index(), self.value(), self.value());
        match self.below(14) {
            0 | 1 => format!("$4[{i}] = ({v} + {w}) @0:0-1 "),
            2 => format!("state1[{i}] = {v} @0:0-1 "),
            3 => "state0 = ((state0 * 0.5f) + $2) @0:0-1 ".into(),
            4 | 5 => format!("out({i}) = ({v} - {w}) @0:0-1 "),
            6 => format!("$1 = (($1 * 5) + {}) @0:0-1 ", self.below(9)),
            7 | 8 => format!("$2 = ({v} + {w}) @0:0-1 "),
            9 => format!("$3 = {v} @0:0-1 "),
            10 => format!("check index ($1 & 63) {} @0:0-1 ", 40 + self.below(24)),
            11 | 12 if blocks.is_some_and(|n| n > 0) => {
                let n = blocks.unwrap_or(0);
                // the last is the block around the loop
                let to = self.below(n + 2);
                if self.below(2) == 0 { format!("continue {n} @0:0-1 ") } else { format!("break {to} @0:0-1 ") }
            }
            _ => {
                let n = self.below(3);
                let inner: String = (0..n).map(|_| self.statement(blocks.map(|n| n + 1))).collect();
                format!("block @0:0-1 {{ if ({v} < {w}) @0:0-1 {{ {inner}}} }} ")
            }
        }
    }

    fn text(&mut self) -> String {
        let (a, b) = (2 + self.below(26), 2 + self.below(26));
        let bounds = match self.below(5) {
            0 => format!("$0 = {b} > {a} step -{}", 1 + self.below(3)),
            1 => format!("$0 = {a} <= {b} step {}", 1 + self.below(3)),
            2 => format!("$0 = {a} < (({b} + $1) - $1) step 1"),
            _ => format!("$0 = {a} < {b} step {}", 1 + self.below(3)),
        };
        let (n, before) = (1 + self.below(5), self.statement(None).replace("$0", "6"));
        let inside: String = (0..n).map(|_| self.statement(Some(0))).collect();
        // something around, for jumps that go further
        format!(
            "block @0:0-1 {{ {before}for {bounds} @0:0-1 {{ {inside}}} out(0) = $4[($0 & 31)] @0:0-1 }} out(1) = $2 @0:0-1 "
        )
    }
}

#[test]
fn random_loops_do_the_same() {
    let (mut changed, mut pipelined) = (0, 0);
    for seed in 0..2000 {
        let mut r = Random(seed * 977 + 1);
        let text = r.text();
        let before = kernel(&text);
        let want = Machine::run(&before);
        let few = Rule { turns: 2, size: 2000, recurrences: false, arrays: false, around: usize::MAX, factor: 3 };
        let rules: [&dyn Fn(&mut Kernel); 4] =
            [&|k| unroll::run(k, Rule::ALL), &|k| unroll::run(k, few), &software_pipeline::run, &|k| {
                unroll::run(k, few);
                software_pipeline::run(k);
            }];
        for (i, pass) in rules.iter().enumerate() {
            let mut after = before.clone();
            pass(&mut after);
            verify(&after).unwrap_or_else(|e| panic!("seed {seed}, {i}: {e}\n{text}"));
            if after == before {
                continue;
            }
            changed += 1;
            pipelined += u32::from(i == 2);
            let got = Machine::run(&after);
            let same = (&got.out, &got.state) == (&want.out, &want.state);
            assert!(same, "seed {seed}, {i}\n{text}\n{}\n{got:?}\n{want:?}", crate::text::print(&after));
        }
    }
    assert!(changed > 1500 && pipelined > 150, "{changed} {pipelined}");
}

#[test]
fn the_ends_of_the_ints() {
    for (from, to) in [
        (i32::MIN, i32::MIN),
        (i32::MIN, i32::MIN + 1),
        (i32::MIN, i32::MIN + 9),
        (i32::MAX, i32::MIN),
        (i32::MAX - 9, i32::MAX),
        (i32::MAX - 1, i32::MAX),
        (i32::MAX, i32::MAX),
        (-3, 8),
    ] {
        let text = format!(
            "$1 = {to} @0:0-1 for $0 = {from} < $1 step 1 @0:0-1 {{ $2 = ($2 + $4[($0 & 31)]) @0:0-1 out(0) = $2 @0:0-1 }} \
             out(1) = $4[($0 & 31)] @0:0-1"
        );
        let want = Machine::run(&kernel(&text));
        for inner in [Inner::Unroll, Inner::Pipeline, Inner::Both] {
            let mut k = kernel(&text);
            inner.passes().iter().for_each(|(_, pass)| pass(&mut k));
            verify(&k).unwrap();
            assert_eq!(Machine::run(&k).out, want.out, "{from} {to} {}", inner.name());
        }
    }
}

fn jammed(text: &str) -> String {
    changed(text, unroll_and_jam::run)
}

#[test]
fn sums_of_neighbouring_turns_are_taken_at_once() {
    let text = "for $0 = 0 < 9 step 1 @0:0-1 { $2 = 0.0f @0:0-1 for $1 = 0 < 16 step 1 @0:0-1 { $2 = ($2 + (in($1) * in(($1 + $0)))) @0:0-1 } \
                if ($2 > $3) @0:0-1 { $3 = $2 @0:0-1 } } out(0) = $3 @0:0-1";
    let want = "  for $0 = 0 < 8 step 4 {
    $2 = 0.0f
    $4 = 0.0f
    $5 = 0.0f
    $6 = 0.0f
    for $1 = 0 < 16 step 1 {
      $2 = ($2 + (in($1) * in(($1 + $0))))
      $4 = ($4 + (in($1) * in((($1 + $0) + 1))))
      $5 = ($5 + (in($1) * in((($1 + $0) + 2))))
      $6 = ($6 + (in($1) * in((($1 + $0) + 3))))
    }
    if ($2 > $3) {
      $3 = $2
    }
    if ($4 > $3) {
      $3 = $4
    }
    if ($5 > $3) {
      $3 = $5
    }
    if ($6 > $3) {
      $3 = $6
    }
  }
  $0 = 8
  $2 = 0.0f
  for $1 = 0 < 16 step 1 {
    $2 = ($2 + (in($1) * in(($1 + 8))))
  }
  if ($2 > $3) {
    $3 = $2
  }
  $0 = 9
  out(0) = $3";
    assert_eq!(jammed(text), want);
}

#[test]
fn nests_that_need_their_order_keep_it() {
    let nest = |before: &str, inside: &str, after: &str, behind: &str| {
        format!(
            "for $0 = 0 < 8 step 1 @0:0-1 {{ {before} for $1 = 0 < 16 step 1 @0:0-1 {{ {inside} }} {after} }} out(0) = $3 @0:0-1 {behind}"
        )
    };
    let (zero, sum, best) =
        ("$2 = 0.0f @0:0-1", "$2 = ($2 + $4[($0 + $1)]) @0:0-1", "if ($2 > $3) @0:0-1 { $3 = $2 @0:0-1 }");
    for (before, inside, after, behind, wanted) in [
        (zero, sum, best, "", true),
        // the sum goes on from turn to turn, begins with what the turn before left, or is wanted afterwards
        ("", sum, best, "", false),
        ("$2 = ($2 * 0.5f) @0:0-1", sum, best, "", false),
        ("out(2) = $2 @0:0-1 $2 = 0.0f @0:0-1", sum, best, "", false),
        ("$2 = $3 @0:0-1", sum, best, "", false),
        (zero, sum, best, "out(1) = $2 @0:0-1", false),
        ("if ($3 > 1.0f) @0:0-1 { $2 = 0.0f @0:0-1 }", sum, best, "", false),
        // the loop reads what a turn writes behind it; writes more than sums; may stop
        (zero, sum, "$4[$0] = $2 @0:0-1", "", false),
        (zero, "$2 = ($2 + $3) @0:0-1", best, "", false),
        (zero, "$5[$1] = $2 @0:0-1 $2 = ($2 + 1.0f) @0:0-1", best, "", false),
        (zero, "check index ($0 + $1) 20 @0:0-1 $2 = ($2 + $4[($0 + $1)]) @0:0-1", best, "", false),
        (zero, sum, "break 0 @0:0-1", "", false),
    ] {
        let text = nest(before, inside, after, behind);
        assert_eq!(jammed(&text) != changed(&text, |_| ()), wanted, "{text}");
    }
}

#[test]
fn random_nests_do_the_same() {
    let mut count = 0;
    for seed in 0..600 {
        let mut r = Random(seed * 331 + 5);
        let first = r.of(&["0.0f", "in($0)", "$5[$0]", "$3", "(state0 * 0.5f)"]);
        let (a, b) =
            (r.index().replace("($1 & 31)", "$0"), r.of(&["in($1)", "$4[$1]", "state1[(($0 + $1) & 31)]", "0.5f"]));
        let after = r.of(&[
            "out($0) = $2 @0:0-1",
            "if ($2 < $3) @0:0-1 { $3 = $2 @0:0-1 }",
            "state0 = ((state0 * 0.5f) + $2) @0:0-1",
            "$4[$0] = $2 @0:0-1",
            "$5[$0] = $2 @0:0-1 out(2) = $2 @0:0-1",
        ]);
        let (from, to, step) = (2 + r.below(5), 9 + r.below(19), 1 + r.below(3));
        let bounds =
            if r.below(4) == 0 { format!("{to} > {from} step -{step}") } else { format!("{from} < {to} step {step}") };
        let text = format!(
            "for $0 = {bounds} @0:0-1 {{ $2 = {first} @0:0-1 for $1 = 0 < {} step 1 @0:0-1 {{ $2 = ($2 + ($5[{a}] * {b})) @0:0-1 }} {after} }} \
             out(0) = $3 @0:0-1 out(1) = $4[($0 & 31)] @0:0-1",
            8 + r.below(20)
        );
        let before = kernel(&text);
        let mut after = before.clone();
        unroll_and_jam::run(&mut after);
        verify(&after).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        count += u32::from(after != before);
        let (want, got) = (Machine::run(&before), Machine::run(&after));
        assert!(
            (&got.out, &got.state) == (&want.out, &want.state),
            "seed {seed}\n{text}\n{}",
            crate::text::print(&after)
        );
    }
    assert!(count > 150, "{count}");
}
