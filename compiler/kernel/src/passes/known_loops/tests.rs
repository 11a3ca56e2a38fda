//! What becomes of loops, as text.

use crate::verify::verify;

/// The statements of a kernel after the pass. Places in the text are left out; `stateless` without the fields.
fn after(text: &str, stateless: bool) -> String {
    let mut k = crate::loops::tests::kernel(&text.replace('@', "@0:0-1"));
    if stateless {
        k.state.clear();
    }
    super::run(&mut k);
    verify(&k).unwrap();
    let text = crate::text::print(&k);
    let lines = text.lines().skip_while(|l| !l.starts_with("func0")).skip(1).filter(|l| !l.trim().starts_with("local"));
    let lines: Vec<&str> = lines.map(|l| l.trim_start().trim_end_matches(" @0:0-1")).collect();
    lines[..lines.len() - 1].join(" ").replace(" @0:0-1", "")
}

fn loops(k: &str) -> usize {
    k.matches("loop ").count() + k.matches("for ").count()
}

const DOUBLING: &str = "$1 = 1 @ loop @ { if ($1 >= 5) @ { break 0 @ } $0 = 0 @ loop @ { if ($0 >= 4) @ { break 0 @ }
    out(($0 + $1)) = in($0) @ $0 = ($0 + $1) @ } $1 = ($1 * 2) @ } out(0) = as<float>($1) @ out($0) = 1.0f @";

#[test]
fn turns_that_are_known_are_statements() {
    let want = "out(1) = in(0) out(2) = in(1) out(3) = in(2) out(4) = in(3) out(2) = in(0) out(4) = in(2) out(4) = in(0) \
                out(0) = 8.0f out(4) = 1.0f";
    assert_eq!(after(DOUBLING, true), want);
}

/// Beside a field only the outer loop's turns are, and those inside are counted.
#[test]
fn loops_inside_are_counted_where_there_is_state() {
    let text = after(DOUBLING, false);
    assert_eq!((text.matches("loop ").count(), text.matches("for ").count()), (0, 3), "{text}");
    assert!(text.contains("for $0 = 0 < 4 step 2 {") && text.ends_with("out(0) = 8.0f out($0) = 1.0f"), "{text}");
}

/// Exchanges of neighbours, each turn among fewer: `$5` is an array of four.
const EXCHANGES: &str = "for $0 = 0 < 3 step 1 @ { for $1 = 0 < (3 - $0) step 1 @ { if ($5[$1] > $5[($1 + 1)]) @ { $2 = $5[$1] @ $5[$1] = $5[($1 + 1)] @ $5[($1 + 1)] = $2 @ } } }";

#[test]
fn turns_among_fewer_elements_are_statements() {
    let text = after(EXCHANGES, true);
    assert_eq!((loops(&text), text.matches("if ").count()), (0, 6), "{text}");
    // C compilers make vectors of loops; and what does not change arrays gains nothing
    assert_eq!(loops(&after(EXCHANGES, false)), 2);
    let sums = "for $0 = 0 < 3 step 1 @ { for $1 = 0 < (3 - $0) step 1 @ { $2 = ($2 + $5[$1]) @ } }";
    assert_eq!(loops(&after(sums, true)), 2);
    // as far as data say
    let data = EXCHANGES.replace("(3 - $0)", "as<int>(in(0))");
    assert_eq!(loops(&after(&data, true)), 2, "{data}");
    // too many
    assert_eq!(loops(&after(&EXCHANGES.replace(" 3 ", " 90 ").replace("(3 -", "(90 -"), true)), 2);
}

#[test]
fn what_data_decide_stays() {
    for (text, left) in [
        // when it ends
        ("$1 = 1 @ loop @ { if ($2 > 1.0f) @ { break 0 @ } $2 = in($1) @ $1 = ($1 * 2) @ }", 1),
        ("$1 = 1 @ loop @ { if ($1 >= 9) @ { break 0 @ } if (in($1) > 1.0f) @ { break 0 @ } $1 = ($1 * 2) @ }", 1),
        // what it begins with
        ("loop @ { if ($1 >= 9) @ { break 0 @ } $2 = ($2 + in($1)) @ $1 = ($1 * 2) @ } out(0) = $2 @", 1),
        // it does not end
        ("$1 = 1 @ loop @ { out($1) = 1.0f @ $1 = (5 - $1) @ }", 1),
        ("loop @ { }", 1),
        ("$1 = 1 @ loop @ { if ($1 < 1) @ { break 0 @ } }", 1),
        // its turns are too many, though there is nothing in them
        ("loop @ { for $0 = 0 < 2000000000 step 1 @ { for $1 = 0 < 2000000000 step 1 @ { } } }", 3),
        // a loop of data in one that is counted
        ("for $0 = 0 < 4 step 1 @ { loop @ { if ($2 > 1.0f) @ { break 0 @ } $2 = ($2 + in($0)) @ } }", 2),
    ] {
        for stateless in [true, false] {
            assert_eq!(loops(&after(text, stateless)), left, "{text}");
        }
    }
}

/// A value that a branch or a loop of data may change is there before it.
#[test]
fn values_are_there_where_they_are_read() {
    let text = "$0 = 3 @ $1 = 1 @ loop @ { if ($1 >= 3) @ { break 0 @ } $0 = ($1 + 4) @ if (in($1) > 1.0f) @ { $0 = 7 @ } out($0) = 1.0f @ $1 = ($1 * 2) @ }
        out(0) = in($0) @";
    let want = "$0 = 3 $0 = 5 if (in(1) > 1.0f) { $0 = 7 } out($0) = 1.0f $0 = 6 if (in(2) > 1.0f) { $0 = 7 } out($0) = 1.0f out(0) = in($0)";
    assert_eq!(after(text, true), want);
    let text = "$1 = 1 @ loop @ { if ($1 >= 3) @ { break 0 @ } $0 = $1 @ loop @ { if (in($0) > 1.0f) @ { break 0 @ } $0 = ($0 + 1) @ } out($0) = 1.0f @ $1 = ($1 * 2) @ }";
    let want = "$0 = 1 loop { if (in($0) > 1.0f) { break 0 } $0 = ($0 + 1) } out($0) = 1.0f \
                $0 = 2 loop { if (in($0) > 1.0f) { break 0 } $0 = ($0 + 1) } out($0) = 1.0f";
    assert_eq!(after(text, true), want);
}

/// Jumps to further turns, out of blocks, and out of two loops at once.
#[test]
fn known_jumps_are_followed() {
    let text = "$1 = 1 @ loop @ { $1 = ($1 * 2) @ if ($1 == 4) @ { continue 0 @ } if ($1 > 16) @ { break 0 @ }
        block @ { if ($1 == 8) @ { break 0 @ } out($1) = 1.0f @ } out(0) = in($1) @ }";
    assert_eq!(after(text, true), "out(2) = 1.0f out(0) = in(2) out(0) = in(8) out(16) = 1.0f out(0) = in(16)");
    let text = "$1 = 1 @ loop @ { $0 = 0 @ loop @ { if (($0 + $1) > 6) @ { break 1 @ } if ($0 >= 4) @ { break 0 @ } out(($0 + $1)) = in($0) @ $0 = ($0 + 2) @ } $1 = ($1 * 3) @ }";
    assert_eq!(after(text, true), "out(1) = in(0) out(3) = in(2) out(3) = in(0) out(5) = in(2)");
}

/// Too much to be written out: the loop's own turns, or nothing.
#[test]
fn there_is_a_limit() {
    let inner = "for $0 = 0 < 30 step 1 @ { out($0) = (out_of + in(($0 + $1))) @ }".replace("out_of", "in($0)");
    let many: String =
        format!("$1 = 1 @ loop @ {{ if ($1 >= 9) @ {{ break 0 @ }} {} $1 = ($1 * 2) @ }}", inner.repeat(12));
    assert_eq!(loops(&after(&many, true)), 48);
    let more: String =
        format!("$1 = 1 @ loop @ {{ if ($1 >= 9) @ {{ break 0 @ }} {} $1 = ($1 * 2) @ }}", inner.repeat(60));
    assert_eq!(loops(&after(&more, true)), 61);
}
