use super::{nest, run};
use crate::ir::*;
use crate::loops::tests::kernel;
use crate::passes::{unroll, unroll_and_jam};
use crate::verify::verify;
use crate::walk;
use sluice_frontend::constant::Const;
use sluice_frontend::ty::{Dim, Ty};
use std::sync::Arc;

/// The loops that are marked, with what they hold, as text.
fn marked(text: &str) -> Vec<String> {
    let mut k = kernel(text);
    run(&mut k);
    verify(&k).unwrap();
    found(&k)
}

fn found(k: &Kernel) -> Vec<String> {
    let mut out = Vec::new();
    let f = &k.functions[0];
    walk::each_stmt(&f.body, &mut |s| {
        if let StmtKind::For(l) = &s.kind
            && let Some(n) = nest(f, l)
        {
            out.push(format!("{} sums, {} statements", n.sums, walk::count(&l.body)));
        }
    });
    out
}

fn outer(inside: &str) -> String {
    format!("for $0 = 4 < 24 step 1 @0:0-1 {{ {inside} }} out(0) = $3 @0:0-1")
}

const ZERO: &str = "$2 = 0.0f @0:0-1";
const SUM: &str = "for $1 = 0 < 8 step 1 @0:0-1 { $2 = ($2 + (in($1) * in(($1 + $0)))) @0:0-1 }";
const BEST: &str = "if ($2 > $3) @0:0-1 { $3 = $2 @0:0-1 }";

#[test]
fn sums_wait_for_what_is_done_with_them_in_order() {
    let mut k = kernel(&outer(&format!("{ZERO} {SUM} {BEST}")));
    run(&mut k);
    verify(&k).unwrap();
    let text = crate::text::print(&k).replace(" @0:0-1", "");
    let want = "  for $0 = 4 < 24 step 1 abreast {
    $2 = 0.0f
    for $1 = 0 < 8 step 1 {
      $2 = ($2 + (in($1) * in(($1 + $0))))
    }
    $6[($0 + -4)] = $2
  }
  for $0 = 4 < 24 step 1 {
    $7 = $6[($0 + -4)]
    if ($7 > $3) {
      $3 = $7
    }
  }
  out(0) = $3
";
    assert!(text.contains(want), "{text}");
    assert_eq!(found(&k), ["1 sums, 4 statements"]);
    // and stay as they are
    unroll_and_jam::run(&mut k);
    unroll::run(&mut k, unroll::Rule::ALL);
    assert_eq!(found(&k), ["1 sums, 4 statements"]);
    // while what comes behind is not written out for the array's sake
    let mut k = kernel(&outer(&format!("{ZERO} {SUM} {BEST}")));
    run(&mut k);
    let before = k.functions[0].body.clone();
    unroll::run(&mut k, unroll::Rule::AUTO);
    assert_eq!(k.functions[0].body, before);
}

#[test]
fn results_that_lie_side_by_side_need_not_wait() {
    for store in [
        "out($0) = $2 @0:0-1",
        "$4[$0] = $2 @0:0-1",
        "state1[($0 + 3)] = ($2 * $3) @0:0-1",
        "out(($0 - 2)) = @sqrt($2) @0:0-1",
    ] {
        assert_eq!(marked(&outer(&format!("{ZERO} {SUM} {store}"))), ["1 sums, 4 statements"], "{store}");
    }
}

#[test]
fn turns_that_need_their_order_keep_it() {
    for (before, inside, after) in [
        // the sum goes on from turn to turn, or begins with what the turn before left
        ("", SUM, BEST),
        ("$2 = ($2 * 0.5f) @0:0-1", SUM, BEST),
        ("$2 = $3 @0:0-1", SUM, BEST),
        // turns read what others have written
        (ZERO, "for $1 = 0 < 8 step 1 @0:0-1 { $2 = ($2 + $4[($1 + $0)]) @0:0-1 }", "$4[$0] = $2 @0:0-1"),
        (ZERO, "for $1 = 0 < 8 step 1 @0:0-1 { $2 = ($2 + state1[($1 + $0)]) @0:0-1 }", "state1[3] = $2 @0:0-1"),
        (ZERO, "for $1 = 0 < 8 step 1 @0:0-1 { $2 = ($2 + state0) @0:0-1 }", "state0 = $2 @0:0-1"),
        (ZERO, "for $1 = 0 < 8 step 1 @0:0-1 { $2 = ($2 + ($3 * in(($1 + $0)))) @0:0-1 }", BEST),
        // elements that do not lie side by side, or are known by what was computed
        (ZERO, "for $1 = 0 < 8 step 1 @0:0-1 { $2 = ($2 + in(((2 * $0) + $1))) @0:0-1 }", BEST),
        (ZERO, "for $1 = 0 < 8 step 1 @0:0-1 { $2 = ($2 + $4[($1 - $0)]) @0:0-1 }", BEST),
        (ZERO, "for $1 = 0 < 8 step 1 @0:0-1 { $2 = ($2 + $4[(as<int>($2) & 31)]) @0:0-1 }", BEST),
        // the one where the other is not looked at may not be there
        (ZERO, "for $1 = 0 < 8 step 1 @0:0-1 { $2 = ($2 + select(($0 < 9), in(($1 + $0)), 0.0f)) @0:0-1 }", BEST),
        // a counter outside of its loop
        ("$2 = as<float>($1) @0:0-1", SUM, BEST),
        // something else happens, or may stop the program, in between
        (ZERO, "for $1 = 0 < 8 step 1 @0:0-1 { $2 = ($2 + in(($1 + $0))) @0:0-1 out(3) = $2 @0:0-1 }", BEST),
        (
            ZERO,
            "for $1 = 0 < 8 step 1 @0:0-1 { check index ($1 + $0) 20 @0:0-1 $2 = ($2 + $4[($1 + $0)]) @0:0-1 }",
            BEST,
        ),
        (ZERO, SUM, "break 0 @0:0-1"),
        // too short, or no sum, or one that a C compiler takes in vectors
        (ZERO, "for $1 = 0 < 7 step 1 @0:0-1 { $2 = ($2 + in(($1 + $0))) @0:0-1 }", BEST),
        (ZERO, "for $1 = 0 < 8 step 1 @0:0-1 { $2 = in(($1 + $0)) @0:0-1 }", BEST),
    ] {
        let text = outer(&format!("{before} {inside} {after}"));
        assert!(marked(&text).is_empty(), "{text}");
    }
    let sum = format!("{ZERO} {SUM} {BEST}");
    for (l, n) in [("4 < 20 step 1", 1), ("4 < 19 step 1", 0), ("4 < 40 step 2", 0), ("24 > 4 step -1", 0)] {
        let text = format!("for $0 = {l} @0:0-1 {{ {sum} }} out(0) = $3 @0:0-1");
        assert_eq!(marked(&text).len(), n, "{text}");
    }
    // the last sum is wanted behind the loop
    assert!(marked(&(outer(&sum) + " out(1) = $2 @0:0-1")).is_empty());
}

/// A kernel with two tables of 20 rows and 10 columns, which differ, and a loop over rows of 20.
fn with_tables(inside: &str) -> Kernel {
    let mut k = kernel(
        "for $0 = 0 < 20 step 1 @0:0-1 { $2 = 0.0f @0:0-1 for $1 = 0 < 10 step 1 @0:0-1 { $2 = ($2 + (in($1) * in(($1 + $0)))) @0:0-1 } out($0) = $2 @0:0-1 }",
    );
    for t in 0..2 {
        let row = |r: u32| Const::Array((0..10).map(|c| Const::Float((1000 * t + 10 * r + c) as f32)).collect());
        let ty = [10, 20].iter().fold(Ty::Float, |ty, n| Ty::Array(Arc::new(ty), Dim::Known(*n)));
        k.tables.push(Table {
            name: "w".into(),
            ty,
            value: Const::Array((0..20).map(row).collect()),
            shared: None,
            own: None,
        });
    }
    let text = crate::text::print(&k).replace("in($1)", inside);
    let k = crate::text::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&k).unwrap();
    k
}

#[test]
fn rows_of_tables_become_columns() {
    let mut k = with_tables("table1[$0][$1]");
    run(&mut k);
    verify(&k).unwrap();
    assert_eq!(found(&k), ["1 sums, 4 statements"]);
    // nobody reads the old ones any more
    let [t] = k.tables.as_slice() else { panic!("{}", crate::text::print(&k)) };
    let Const::Array(rows) = &t.value else { panic!() };
    assert_eq!((t.ty.known_len(), rows.len()), (Some(10), 10));
    for (c, row) in rows.iter().enumerate() {
        let Const::Array(row) = row else { panic!() };
        let want: Vec<Const> = (0..20).map(|r| Const::Float((1000 + 10 * r + c) as f32)).collect();
        assert_eq!(row.as_ref(), want);
    }
    assert!(crate::text::print(&k).contains("table0[$1][$0]"));
    // where both are read, and one of them both ways, the old one stays
    let mut k = with_tables("(table0[$0][$1] * (table1[($0 - 1)][$1] * table1[$1][3]))");
    run(&mut k);
    verify(&k).unwrap();
    let text = crate::text::print(&k);
    assert_eq!(k.tables.len(), 3, "{text}");
    assert!(text.contains("(table1[$1][$0] * (table2[$1][($0 - 1)] * table0[$1][3]))"), "{text}");
    // two loops share one
    let mut k = with_tables("table0[$0][$1]");
    let mut again = k.functions[0].body.clone();
    walk::each_local_mut(&mut again, &mut |id| id.0 += u32::from(id.0 == 2));
    k.functions[0].body.extend(again);
    run(&mut k);
    verify(&k).unwrap();
    assert_eq!((k.tables.len(), found(&k).len()), (1, 2));
}

#[test]
fn tables_stay_where_turns_take_nothing_of_their_rows_alone() {
    for inside in
        ["table0[$0][($1 + ($0 & 1))]", "table0[(2 * ($0 & 3))][$1]", "table0[$1][5]", "table0[(19 - $0)][$1]"]
    {
        let mut k = with_tables(inside);
        let before = k.tables.clone();
        let marks = usize::from(inside == "table0[$1][5]");
        run(&mut k);
        assert_eq!((found(&k).len(), k.tables == before), (marks, true), "{inside}");
    }
}

#[test]
fn positions_in_variables_are_seen_through() {
    let sum = |set: &str, at: &str| {
        outer(&format!(
            "{ZERO} for $1 = 0 < 8 step 1 @0:0-1 {{ {set} $2 = ($2 + (in($1) * in({at}))) @0:0-1 }} out($0) = $2 @0:0-1"
        ))
        .replace("out(0) = $3 @0:0-1", "")
    };
    // there are two ints: a loop's counter is a position, too
    let mut k = kernel(&sum("", "($1 + $0)"));
    let position = k.functions[0].locals[0].clone();
    k.functions[0].locals.push(Local { name: "p".into(), ..position });
    let text = crate::text::print(&k);
    let with = |set: &str, at: &str| {
        let text = text.replace("in(($1 + $0))", at).replacen("$2 = ($2 +", &format!("{set} $2 = ($2 +"), 1);
        let mut k = crate::text::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        verify(&k).unwrap();
        run(&mut k);
        verify(&k).unwrap();
        found(&k).len()
    };
    assert_eq!(with("$6 = ($1 + $0) @0:0-1", "in($6)"), 1);
    assert_eq!(with("$6 = ($1 + $0) @0:0-1 $6 = ($6 + 1) @0:0-1", "in($6)"), 0, "set twice");
    assert_eq!(with("$6 = ($0 * 2) @0:0-1", "in($6)"), 0, "no neighbours");
}
