//! What becomes of elements that data choose.

use super::choose_all;
use crate::passes::firing_after;

/// The statements; `;` ends one. `$0` to `$2` are ints, `$3` three of them, `$4` seventeen, `$5` two bits, `$6` a bit.
fn after(body: &str) -> String {
    let text = format!(
        "kernel \"K\" \"K\"; int -> int work func0 peek 8 pop 8 push 8
table0 \"t\" bit[3] = [0b, 1b, 1b]
table1 \"u\" int[3] = [5, 1, 4]
func0 \"work\" (0) -> void; {{
local0 \"x\" int local1 \"y\" int local2 \"i\" int local3 \"a\" int[3] local4 \"long\" int[17] local5 \"b\" bit[2] local6 \"p\" bit
{body} }}
"
    );
    firing_after(&text, |k| {
        let tables = std::mem::take(&mut k.tables);
        let f = &mut k.functions[k.work.function.index()];
        choose_all(f, &tables);
        k.tables = tables;
    })
}

#[test]
fn all_elements_are_looked_at() {
    assert_eq!(
        after("$0 = in(0); $1 = $3[$0]; $6 = $5[($0 & 1)];"),
        "$0 = in(0); $1 = select(($0 == 0), $3[0], select(($0 == 1), $3[1], $3[2])); $6 = select((($0 & 1) == 0), $5[0], $5[1]);"
    );
    // within others, and in conditions
    assert_eq!(
        after("$0 = in(0); if ($3[$0] > 4); { $1 = ($3[$0] + 1); }"),
        "$0 = in(0); if (select(($0 == 0), $3[0], select(($0 == 1), $3[1], $3[2])) > 4); { $1 = (select(($0 == 0), $3[0], select(($0 == 1), $3[1], $3[2])) + 1);"
    );
}

#[test]
fn all_elements_are_stored() {
    assert_eq!(
        after("$3[in(0)] = in(1);"),
        "$7 = in(0); $8 = in(1); $3[0] = select(($7 == 0), $8, $3[0]); $3[1] = select(($7 == 1), $8, $3[1]); $3[2] = select(($7 == 2), $8, $3[2]);"
    );
    // what it is made of is looked at first
    assert_eq!(
        after("$5[in(0)] = $5[in(1)];"),
        "$7 = in(0); $8 = select((in(1) == 0), $5[0], $5[1]); $5[0] = select(($7 == 0), $8, $5[0]); $5[1] = select(($7 == 1), $8, $5[1]);"
    );
}

#[test]
fn an_element_that_an_element_chooses() {
    // only then does the second one differ between lanes
    assert_eq!(
        after("$0 = $3[0]; $1 = $3[$0]; $3[in(0)] = 7;"),
        "$0 = $3[0]; $1 = select(($0 == 0), $3[0], select(($0 == 1), $3[1], $3[2])); \
         $7 = in(0); $8 = 7; $3[0] = select(($7 == 0), $8, $3[0]); $3[1] = select(($7 == 1), $8, $3[1]); $3[2] = select(($7 == 2), $8, $3[2]);"
    );
}

/// An index that is itself one of many is not repeated for each element.
#[test]
fn a_large_index_is_a_variable() {
    let text = after("$0 = in(0); if (in(1) > 4); { $1 = $3[($3[$0] + $3[(in(2) & 1)])]; }");
    let text = text.replace('\n', " ");
    assert!(text.contains("$7 = (select(($0 == 0), $3[0]") && text.contains("$1 = select(($7 == 0), $3[0]"), "{text}");
    // one that divides is not evaluated before it is known to be wanted
    let divides = "$1 = select((in(1) != 0), $3[(((($3[$0] + $3[(in(2) & 1)]) + in(3)) / in(1)) & 1)], 0);";
    assert!(after(&format!("$0 = in(0); {divides}")).contains("/ in(1)) & 1)]"));
}

#[test]
fn others_stay() {
    for body in [
        // the same in all lanes
        "for $2 = 0 < 3 step 1; { $3[$2] = in($2);",
        "$4[in(0)] = 1;",
        "$0 = $4[in(0)];",
        // of numbers machines have instructions
        "$0 = table1[in(0)];",
    ] {
        // the last brace is left out
        let closed = if body.contains('{') { format!("{body} }}") } else { body.into() };
        assert_eq!(after(&closed), body);
    }
    assert_eq!(
        after("$6 = table0[in(0)];"),
        "$6 = select((in(0) == 0), table0[0], select((in(0) == 1), table0[1], table0[2]));"
    );
}
