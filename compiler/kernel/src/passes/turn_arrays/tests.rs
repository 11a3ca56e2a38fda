//! Filters before and after the pass.

use super::run;
use crate::passes::passed;
use crate::text::print;

/// The filter after the pass; `;` ends a statement. Types of arrays have their last length first: `$0` and `$1` are ints, `$2` a float, `$3` an array of 16 rows of 8 floats, `$4` one of 16 floats; so are `state0`, whose
/// first two elements are 1 and 2, and `state1`. Behind the statements is another function, which writes `state1`.
fn after(body: &str) -> String {
    let rows = std::iter::once("[1.0f, 2.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f]".to_string())
        .chain((1..16).map(|_| format!("[{}]", ["0.0f"; 8].join(", "))));
    let rows = rows.collect::<Vec<_>>().join(", ");
    let text = format!(
        "kernel \"K\" \"K\"; float -> float work func0 peek 8 pop 8 push 8
state0 \"m\" float[8][16] = [{rows}]
state1 \"s\" float[16] = [{}]
func0 \"work\" (0) -> void; {{
local0 \"i\" int local1 \"j\" int local2 \"x\" float local3 \"n\" float[8][16] local4 \"y\" float[16]
{body} }}
",
        ["0.0f"; 16].join(", ")
    );
    let text = text.replace(';', " @0:0-1");
    let text = print(&passed(&text, run)).replace(" @0:0-1", ";");
    text.lines().map(str::trim).filter(|l| !["{", "}", ""].contains(l)).collect::<Vec<_>>().join(" ")
}

/// Sums of rows of an array.
fn sums(of: &str) -> String {
    format!(
        "for $0 = 0 < 16 step 1; {{ $2 = 0.0f; for $1 = 0 < 8 step 1; {{ $2 = ($2 + ({of}[$0][$1] * in($1))); }} $4[$0] = $2; }}"
    )
}

#[test]
fn rows_that_turns_add_up_are_columns() {
    let text = after(&format!("{} state0[as<int>($4[1])][3] = $4[2];", sums("state0")));
    assert!(text.contains("state0 \"m\" float[16][8] = [[1.0f, 0.0f,"), "{text}");
    assert!(text.contains("0.0f], [2.0f, 0.0f,"), "{text}");
    assert!(text.contains("(state0[$1][$0] * in($1))"), "{text}");
    assert!(text.contains("state0[3][as<int>($4[1])] = $4[2];"), "{text}");
    // a variable of a filter with a state
    let text = after(&format!("$3 = zero<float[8][16]>; $3[3][4] = in(1); {} state1[0] = $4[0];", sums("$3")));
    assert!(
        text.contains("local3 \"n\" float[16][8]") && text.contains("$3 = zero<float[16][8]>; $3[4][3] = in(1);"),
        "{text}"
    );
}

#[test]
fn loops_that_set_all_elements_go_the_other_way_round() {
    let all = |e: &str| {
        format!("{} for $0 = 0 < 16 step 1; {{ for $1 = 0 < 8 step 1; {{ state0[$0][$1] = {e}; }} }}", sums("state0"))
    };
    let text = after(&all("((state0[$0][$1] * 0.5f) + ($4[$0] * in($1)))"));
    let want = "for $1 = 0 < 8 step 1 { for $0 = 0 < 16 step 1 abreast { state0[$1][$0] = ((state0[$1][$0] * 0.5f) + ($4[$0] * in($1)))";
    assert!(text.replace(';', "").contains(want), "{text}");
    // one that needs another element keeps its order, and then more is lost than gained
    let text = after(&all("(state0[3][$1] + $4[$0])"));
    assert!(text.contains("state0 \"m\" float[8][16]"), "{text}");
}

#[test]
fn what_gains_nothing_or_is_wanted_as_a_whole_stays() {
    for body in [
        // columns are side by side as they are
        "for $0 = 0 < 8 step 1; { $2 = 0.0f; for $1 = 0 < 16 step 1; { $2 = ($2 + state0[$1][$0]); } $4[$0] = $2; }"
            .to_string(),
        // no sums
        "for $0 = 0 < 16 step 1; { $4[$0] = state0[$0][1]; }".to_string(),
        // a row, or all of it
        format!("{} state0[1] = state0[2];", sums("state0")),
        format!("{} $3 = state0;", sums("state0")),
    ] {
        let text = after(&body);
        assert!(text.contains("float[8][16] = [[1.0f, 2.0f,") && text.contains("\"n\" float[8][16]"), "{text}");
    }
}
