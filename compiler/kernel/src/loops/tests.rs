//! What the tests of this room share: kernels from the text of a body.

use crate::ir::*;

/// A kernel whose work function has these statements: `$0`, `$1` ints, `$2`, `$3` floats, `$4`, `$5` arrays of 32 floats, `state0` a float,
/// `state1` an array of 32 floats; 64 items in the window and 32 on the output.
pub fn kernel(body: &str) -> Kernel {
    let zeros = ["0.0f"; 32].join(", ");
    let text = format!(
        "kernel \"K\" \"K\" @0:0-1 float -> float work func0 peek 64 pop 64 push 32
state0 \"s\" float = 0.0f
state1 \"t\" float[32] = [{zeros}]
func0 \"work\" (0) -> void @0:0-1 {{
local0 \"i\" int
local1 \"j\" int
local2 \"x\" float
local3 \"y\" float
local4 \"a\" float[32]
local5 \"b\" float[32]
{body}
}}
"
    );
    let kernel = crate::text::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    crate::verify::verify(&kernel).unwrap_or_else(|e| panic!("{e}\n{text}"));
    kernel
}

/// The only loop of a function.
pub fn only_loop(f: &Function) -> &For {
    let mut found = None;
    crate::walk::each_stmt(&f.body, &mut |s| {
        if let StmtKind::For(l) = &s.kind {
            found = Some(&**l);
        }
    });
    found.expect("the function has a loop")
}

mod model {
    use super::{kernel, only_loop};
    use crate::loops::dependences::{Dependence, dependences};
    use crate::loops::figures::{cycles, loads_ahead};
    use crate::loops::instructions::{Instruction, Kind, Register, instructions};
    use crate::loops::judge::{Wrong, judge};
    use crate::loops::machine::Core;
    use crate::loops::schedule::{Kernel, alone, modulo};

    const PAPER: Core = Core::PAPER;
    /// C[i] = A[i] + B[i]
    const SUM: &str = "for $0 = 0 < 32 step 1 @0:0-1 { out($0) = (in($0) + $4[$0]) @0:0-1 }";

    struct Loop {
        all: Vec<Instruction>,
        deps: Vec<Dependence>,
    }

    fn lower(body: &str) -> Loop {
        let kernel = kernel(body);
        let f = &kernel.functions[0];
        let l = only_loop(f);
        let all = instructions(&kernel, &f.locals, l, &PAPER).unwrap();
        Loop { deps: dependences(&all, l.step), all }
    }

    /// Without, ahead, modulo; ResMII, RecMII.
    fn numbers(body: &str) -> (u64, Option<u64>, Option<u64>, u64, u64) {
        let kernel = kernel(body);
        let f = &kernel.functions[0];
        let l = only_loop(f);
        let c = cycles(&kernel, f, l, f.span, &PAPER).unwrap();
        (c.alone, c.ahead, c.modulo, c.bounds.res_mii, c.bounds.rec_mii)
    }

    #[test]
    fn the_papers_table_1() {
        let (without, with, ..) = numbers(SUM);
        assert_eq!((without, with), (12, Some(8)));
        // without: both loads, the sum when they are there, the store, and when it has ended the counter and the jump
        let l = lower(SUM);
        assert_eq!(alone(&l.all, &l.deps, &PAPER).1, [0, 1, 5, 6, 10, 11]);
        // with: the table's columns, counted from 1
        let kernel = kernel(SUM);
        let f = &kernel.functions[0];
        let all = loads_ahead(&kernel, f, only_loop(f), f.span, &PAPER).unwrap();
        let found = modulo(&all, &dependences(&all, 1), 1, &PAPER).unwrap();
        let column: Vec<(Kind, u64)> = all.iter().zip(&found.start).map(|(n, at)| (n.kind, at + 1)).collect();
        use Kind::*;
        let table = [(Load, 1), (Load, 2), (Arithmetic, 3), (Store, 4), (Count, 5), (Move, 6), (Move, 7), (Jump, 8)];
        assert_eq!(column, table);
    }

    #[test]
    fn no_moves_no_cycles_for_them() {
        // modulo scheduling of the six instructions as they are: a load may wait in its register until it is loaded again
        assert_eq!(numbers(SUM), (12, Some(8), Some(6), 6, 4));
    }

    #[test]
    fn bound_by_a_recurrence() {
        // load 0, divide when it is there (4 to 16), count, jump; a quotient every 12 cycles
        let x = "for $0 = 0 < 32 step 1 @0:0-1 { $2 = ($2 / $4[$0]) @0:0-1 }";
        assert_eq!(numbers(x), (18, Some(12), Some(12), 4, 12));
        // through memory: load 4, multiply 1, store 4, each turn on the turn before
        let next = "for $0 = 0 < 31 step 1 @0:0-1 { $4[($0 + 1)] = ($4[$0] * $3) @0:0-1 }";
        assert_eq!(numbers(next), (11, None, Some(9), 5, 9));
        // every other turn: 9 cycles for two, and five instructions for each
        let other = "for $0 = 0 < 30 step 1 @0:0-1 { $4[($0 + 2)] = ($4[$0] * $3) @0:0-1 }";
        assert_eq!(numbers(other).2, Some(5));
        assert_eq!((numbers(other).3, numbers(other).4), (5, 5));
    }

    #[test]
    fn bound_by_what_is_issued() {
        // 4 loads, 3 sums, store, count, jump; alone: 0 1 | 5 | 6 | 10 | 11 | 15 | 16 to 20 | 20 21
        let x = "for $0 = 0 < 16 step 1 @0:0-1 { out($0) = (((in($0) + $4[$0]) + $5[$0]) + in(($0 + 32))) @0:0-1 }";
        let (alone, ahead, modulo, res, _) = numbers(x);
        // four moves more where loads are a turn ahead
        assert_eq!((alone, ahead, modulo, res), (22, Some(14), Some(10), 10));
    }

    #[test]
    fn what_is_free_and_what_is_not() {
        // what is the same in every turn is computed before; an index that is not linear is computed
        let kinds = |body| lower(body).all.iter().map(|n| n.kind).collect::<Vec<_>>();
        use Kind::*;
        let free = "for $0 = 0 < 16 step 1 @0:0-1 { out((($0 * 2) + 1)) = ($2 * ($3 + state0)) @0:0-1 }";
        assert_eq!(kinds(free), [Store, Count, Jump]);
        let computed = "for $0 = 0 < 16 step 1 @0:0-1 { out((($0 * $0) & 31)) = $2 @0:0-1 }";
        assert_eq!(kinds(computed), [Arithmetic, Arithmetic, Store, Count, Jump]);
        let checked =
            "for $0 = 0 < 16 step 1 @0:0-1 { check index $1 32 @0:0-1 $4[$1] = 1f @0:0-1 $1 = ($1 + 3) @0:0-1 }";
        assert_eq!(kinds(checked), [Check, Store, Arithmetic, Count, Jump]);
    }

    #[test]
    fn conditions_guard() {
        let l = lower("for $0 = 0 < 16 step 1 @0:0-1 { if ($4[$0] < $2) @0:0-1 { $2 = $4[$0] @0:0-1 } }");
        use Kind::*;
        assert_eq!(l.all.iter().map(|n| n.kind).collect::<Vec<_>>(), [Load, Arithmetic, Load, Count, Jump]);
        // the second load waits for the comparison, and the next comparison for it: 1 + 4
        assert_eq!(crate::loops::dependences::rec_mii(l.all.len(), &l.deps), 5);
    }

    #[test]
    fn what_is_not_looked_at() {
        for body in [
            "for $0 = 0 < 16 step 1 @0:0-1 { if ($0 == $1) @0:0-1 { break 0 @0:0-1 } }",
            "for $0 = 0 < 16 step 1 @0:0-1 { print $2 @0:0-1 }",
            "for $0 = 0 < 16 step 1 @0:0-1 { $4 = $5 @0:0-1 }",
        ] {
            let kernel = kernel(body);
            let f = &kernel.functions[0];
            assert!(instructions(&kernel, &f.locals, only_loop(f), &PAPER).is_err(), "{body}");
        }
    }

    /// SUM without software pipelining, a turn every 12 cycles: right, and easy to spoil.
    fn slow() -> (Loop, Kernel) {
        let l = lower(SUM);
        let start = alone(&l.all, &l.deps, &PAPER).1;
        (l, Kernel { ii: 12, start })
    }

    #[test]
    fn the_judge_refuses_by_name() {
        let (l, right) = slow();
        let told = |ii: u64, start: &[u64]| judge(&l.all, 1, &PAPER, &Kernel { ii, start: start.to_vec() });
        assert_eq!(told(12, &right.start), Ok(()));
        assert_eq!(told(12, &right.start[1..]), Err(Wrong::Shape));
        assert_eq!(told(0, &right.start), Err(Wrong::Shape));
        assert_eq!(told(12, &[0, 12, 17, 18, 22, 23]), Err(Wrong::Crowded(0)));
        assert_eq!(told(12, &[0, 1, 5, 6, 8, 10]), Err(Wrong::Jump));
        // the sum before its operand is there
        let early = told(12, &[0, 1, 4, 6, 10, 11]);
        assert!(matches!(early, Err(Wrong::Value { reader: (2, 0), register: Register::Value(1) })), "{early:?}");
        // the sum so late that the next turn has loaded over its operand
        let late = told(12, &[0, 1, 14, 15, 10, 11]);
        assert!(matches!(late, Err(Wrong::Value { reader: (2, _), .. })), "{late:?}");
    }

    #[test]
    fn the_judge_follows_memory() {
        let l = lower("for $0 = 0 < 31 step 1 @0:0-1 { $4[($0 + 1)] = ($4[$0] * $3) @0:0-1 }");
        let told = |ii: u64, start: &[u64]| judge(&l.all, 1, &PAPER, &Kernel { ii, start: start.to_vec() });
        assert_eq!(told(9, &[0, 4, 5, 6, 8]), Ok(()));
        // the next turn loads at 8 what is stored from 5 to 9
        assert_eq!(told(8, &[0, 4, 5, 6, 7]), Err(Wrong::Order((2, 0), (0, 1))));
        let two = lower("for $0 = 0 < 31 step 1 @0:0-1 { $4[$0] = $3 @0:0-1 $4[($0 * $0)] = $2 @0:0-1 }");
        // stores to what may be the same element, the wrong way round
        let back = judge(&two.all, 1, &PAPER, &Kernel { ii: 8, start: vec![5, 0, 2, 4, 7] });
        assert!(matches!(back, Err(Wrong::Order(..))), "{back:?}");
    }

    #[test]
    fn the_judge_keeps_checks_in_their_place() {
        let body =
            "for $0 = 0 < 16 step 1 @0:0-1 { state1[$0] = $2 @0:0-1 check index $1 32 @0:0-1 $1 = ($1 + 3) @0:0-1 }";
        let l = lower(body);
        let told = |start: &[u64]| judge(&l.all, 1, &PAPER, &Kernel { ii: 6, start: start.to_vec() });
        assert_eq!(told(&[0, 1, 2, 3, 5]), Ok(()));
        assert_eq!(told(&[1, 0, 2, 3, 5]), Err(Wrong::Order((0, 0), (1, 0))));
    }

    #[test]
    fn two_writes_end_in_their_order() {
        let l = lower("for $0 = 0 < 16 step 1 @0:0-1 { $2 = $4[$0] @0:0-1 $2 = $3 @0:0-1 out($0) = $2 @0:0-1 }");
        let told = |start: &[u64]| judge(&l.all, 1, &PAPER, &Kernel { ii: 8, start: start.to_vec() });
        assert_eq!(told(&[0, 4, 5, 6, 7]), Ok(()));
        // the load would end after the move
        assert_eq!(told(&[0, 1, 5, 6, 7]), Err(Wrong::Overwritten(Register::Local(2usize.into()))));
    }

    /// What the dependences allow the judge accepts, and the reverse: all schedules near a right one.
    #[test]
    fn dependences_and_judge_agree() {
        let bodies = [
            SUM,
            "for $0 = 0 < 31 step 1 @0:0-1 { $4[($0 + 1)] = ($4[$0] * $3) @0:0-1 }",
            "for $0 = 0 < 30 step 1 @0:0-1 { $2 = ($2 + ($4[($0 + 1)] * $3)) @0:0-1 $4[$0] = $2 @0:0-1 }",
            "for $0 = 0 < 16 step 1 @0:0-1 { if ($4[$0] < $2) @0:0-1 { $2 = $4[$0] @0:0-1 } $5[$0] = $2 @0:0-1 }",
            "for $0 = 30 > 0 step -2 @0:0-1 { state1[$0] = state1[($0 - 2)] @0:0-1 state0 = (state0 + state1[0]) @0:0-1 }",
        ];
        let (mut refused, mut accepted) = (0, 0);
        for body in bodies {
            let kernel = kernel(body);
            let f = &kernel.functions[0];
            let step = only_loop(f).step;
            let all = instructions(&kernel, &f.locals, only_loop(f), &PAPER).unwrap();
            let deps = dependences(&all, step);
            let right = modulo(&all, &deps, step, &PAPER).unwrap_or_else(|| panic!("{body}"));
            for i in 0..all.len() {
                for shift in -14i64..=14 {
                    for longer in 0..3 {
                        let mut k = right.clone();
                        k.ii += longer;
                        let Ok(at) = u64::try_from(k.start[i] as i64 + shift) else { continue };
                        k.start[i] = at;
                        let slots: Vec<u64> = k.start.iter().map(|t| t % k.ii).collect();
                        let crowded = (0..slots.len()).any(|i| slots[..i].contains(&slots[i]));
                        let jumps = all.iter().zip(&slots).all(|(n, s)| n.kind != Kind::Jump || *s == k.ii - 1);
                        let waits =
                            deps.iter().all(|d| k.start[d.to] + k.ii * d.distance >= k.start[d.from] + d.latency);
                        let told = judge(&all, step, &PAPER, &k);
                        assert_eq!(
                            told.is_ok(),
                            !crowded && jumps && waits,
                            "{body}\n{k:?}\n{told:?}\n{deps:?}\n{all:?}"
                        );
                        if told.is_ok() { accepted += 1 } else { refused += 1 }
                    }
                }
            }
        }
        assert!(accepted > 20 && refused > 500, "{accepted} {refused}");
    }

    #[test]
    fn wider_cores_issue_more() {
        let l = lower(SUM);
        let wide = Core { issue: 3, ..PAPER };
        assert_eq!(modulo(&l.all, &l.deps, 1, &wide).unwrap().ii, 4);
        assert_eq!(alone(&l.all, &l.deps, &wide).1, [0, 0, 4, 5, 9, 10]);
    }
}
