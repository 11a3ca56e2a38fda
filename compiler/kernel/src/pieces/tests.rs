//! Which firings go in pieces, and that all pieces together do what the firing does.

use super::*;
use crate::verify::verify;

/// A filter that takes and gives so many floats.
fn kernel(pop: u32, push: u32, body: &str) -> Kernel {
    let text = format!(
        "kernel \"K\" \"K\" @0:0-1 float -> float work func0 peek {pop} pop {pop} push {push}
state0 \"z\" float = 0.0f
func0 \"work\" (0) -> void @0:0-1 {{
local0 \"i\" int
local1 \"j\" int
local2 \"s\" float
local3 \"k\" int
{}
}}
",
        body.replace('~', "@0:0-1")
    );
    let k = crate::text::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&k).unwrap();
    k
}

const TRANSPOSE: &str =
    "for $0 = 0 < 9 step 1 ~ { for $1 = 0 < 12 step 1 ~ { out((($0 * 12) + $1)) = in((($1 * 9) + $0)) ~ } }";
const SUMS: &str = "for $0 = 8 > 0 step -2 ~ { $2 = 0.0f ~ for $1 = 0 < 4 step 1 ~ { $2 = ($2 + in(($0 + $1))) ~ } out((8 - $0)) = $2 ~ }";

#[test]
fn turns_that_need_nothing_of_each_other_are_pieces() {
    assert_eq!(most(&kernel(108, 108, TRANSPOSE)), Some(108));
    assert_eq!(most(&kernel(16, 8, SUMS)), Some(4));
    // two loops, and what is given without one
    let two = "out(0) = in(0) ~ for $0 = 0 < 4 step 1 ~ { out(($0 + 1)) = in($0) ~ } for $1 = 0 < 6 step 1 ~ { out(($1 + 5)) = in($1) ~ }";
    assert_eq!(most(&kernel(8, 11, two)), Some(6));
    // little that all of them do
    let common = "$2 = (in(0) * 2.0f) ~ for $0 = 0 < 16 step 1 ~ { out($0) = ($2 * in($0)) ~ }";
    assert_eq!(most(&kernel(16, 16, common)), Some(16));
}

#[test]
fn others_are_one_thread_s() {
    let not = [
        // a sum that goes on from turn to turn
        "$2 = 0.0f ~ for $0 = 0 < 16 step 1 ~ { $2 = ($2 + in($0)) ~ out($0) = $2 ~ }",
        // the last value of a variable is used behind the loop
        "for $0 = 0 < 16 step 1 ~ { $2 = in($0) ~ out($0) = $2 ~ } out(16) = $2 ~",
        // of the loop's variable, too
        "for $0 = 0 < 16 step 1 ~ { out($0) = in($0) ~ } out($0) = 1.0f ~",
        // written in some turns only
        "$2 = 0.0f ~ for $0 = 0 < 16 step 1 ~ { if ($0 > 3) ~ { $2 = in($0) ~ } out($0) = $2 ~ }",
        // a state
        "for $0 = 0 < 16 step 1 ~ { out($0) = (in($0) + state0) ~ state0 = in($0) ~ }",
        // it ends early
        "for $0 = 0 < 16 step 1 ~ { out($0) = in($0) ~ if (in($0) > 0.0f) ~ { break 0 ~ } }",
        // something that is seen
        "for $0 = 0 < 16 step 1 ~ { print $0 ~ out($0) = in($0) ~ }",
        // nothing to deal out
        "out(0) = in(0) ~",
        // all would do what is nearly all of it
        "$2 = 0.0f ~ for $1 = 0 < 16 step 1 ~ { $2 = ($2 + in($1)) ~ } for $0 = 0 < 16 step 1 ~ { out($0) = $2 ~ }",
    ];
    for body in not {
        assert_eq!(most(&kernel(16, 17, body)), None, "{body}");
    }
}

#[test]
fn a_piece_has_every_so_many_th_turn() {
    let piece = |body: &str, n: u32| {
        let k = piece(&kernel(108, 108, body), n).unwrap();
        assert_eq!(k.function(k.work.function).params, 1);
        let text = crate::text::print(&k);
        text[text.find("func0 \"work\"").unwrap()..].replace("@0:0-1", "")
    };
    let text = piece(TRANSPOSE, 16);
    assert!(text.contains("for $5 = 0 < 7") && text.contains("$6 = (($5 * 16) + $0)"), "{text}");
    assert!(text.contains("if ($6 < 108)"), "{text}");
    assert!(text.contains("$1 = ($6 / 12)") && text.contains("$2 = ($6 % 12)"), "{text}");
    // as many turns for each
    let text = piece(TRANSPOSE, 9);
    assert!(text.contains("for $5 = 0 < 12") && !text.contains("if ("), "{text}");
    let text = piece(SUMS, 3);
    assert!(text.contains("for $5 = 0 < 2") && text.contains("$1 = (($6 * -2) + 8)"), "{text}");
    // the first piece alone
    let text = piece("out(0) = in(0) ~ for $0 = 0 < 4 step 1 ~ { out(($0 + 1)) = in($0) ~ }", 2);
    assert!(text.contains("if ($0 == 0)"), "{text}");
}

#[test]
fn turns_that_are_a_multiple_of_the_pieces_are_dealt_out_alone() {
    let text = |body: &str, n: u32| {
        let k = piece(&kernel(108, 108, body), n).unwrap();
        let text = crate::text::print(&k);
        text[text.find("func0 \"work\"").unwrap()..].replace("@0:0-1", "")
    };
    let inner = text(TRANSPOSE, 6);
    assert!(inner.contains("for $1 = 0 < 9") && inner.contains("for $5 = 0 < 2"), "{inner}");
    assert!(inner.contains("$2 = (($5 * 6) + $0)") && !inner.contains('/') && !inner.contains("if ("), "{inner}");
    // as many as there are threads: no loop
    let all = text(TRANSPOSE, 12);
    assert!(all.contains("for $1 = 0 < 9") && all.contains("$2 = $0") && !all.contains("$5"), "{all}");
    // threads would give items that are twelve apart
    let outer = text(TRANSPOSE, 9);
    assert!(outer.contains("for $5 = 0 < 12") && outer.contains("$1 = ($6 / 12)"), "{outer}");
    // nine apart are in other banks
    let odd = "for $0 = 0 < 8 step 1 ~ { for $1 = 0 < 9 step 1 ~ { out((($0 * 9) + $1)) = in((($1 * 8) + $0)) ~ } }";
    let outer = text(odd, 4);
    assert!(outer.contains("for $5 = 0 < 2") && outer.contains("$1 = (($5 * 4) + $0)"), "{outer}");
    // a loop that goes down
    let down = text(SUMS, 4);
    assert!(down.contains("$1 = (($0 * -2) + 8)") && !down.contains("$5"), "{down}");
    assert_eq!(even(&kernel(108, 108, TRANSPOSE), 16), [1, 2, 3, 4, 6, 12]);
    assert_eq!(even(&kernel(72, 72, odd), 16), [1, 2, 3, 4, 8, 9]);
    assert_eq!(even(&kernel(1, 1, "out(0) = in(0) ~"), 16), [0; 0]);
}

#[test]
fn what_only_moves_is_known() {
    assert!(only_moves(&kernel(108, 108, TRANSPOSE)));
    assert!(only_moves(&kernel(2, 2, "out(0) = in(1) ~ out(1) = 0.5f ~")));
    assert!(!only_moves(&kernel(16, 8, SUMS)));
    assert!(!only_moves(&kernel(1, 1, "out(0) = (in(0) * 2.0f) ~")));
}
