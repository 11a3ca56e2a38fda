use super::*;
use crate::text;
use crate::verify::verify;

/// What becomes of a firing that takes and gives an item. Fields: an int, an int, a float, an array.
fn made(body: &str) -> (Kernel, String) {
    let locals = "  local0 \"x\" float\n  local1 \"i\" int\n  local2 \"d\" int\n  local3 \"c\" int\n";
    let body = body.replace(';', " @0:0-1\n").replace('{', "@0:0-1 {\n").replace("else @0:0-1", "else");
    let text = format!(
        "kernel \"K\" \"K\" @0:0-1 float -> int work func0 peek 1 pop 1 push 1\n\
         state0 \"hold\" int = 0\nstate1 \"place\" int = 0\nstate2 \"gain\" float = 1f\nstate3 \"steps\" int[4] = [1, 2, 3, 4]\n\
         func0 \"work\" (0) -> void @0:0-1 {{\n{locals}{body}}}\n"
    );
    let mut kernel = text::parse(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    verify(&kernel).unwrap();
    run(&mut kernel);
    verify(&kernel).unwrap_or_else(|e| panic!("{e}: {}", text::print(&kernel)));
    let text = text::print(&kernel);
    assert_eq!(text::parse(&text).unwrap(), kernel, "{text}");
    (kernel, text.replace(" @0:0-1", ""))
}

fn count(body: &str) -> usize {
    made(body).0.chosen.len()
}

#[test]
fn arms_are_executed_and_one_is_chosen() {
    let (kernel, text) =
        made("$0 = in(0); if ($0 > 0.5f) { state0 = 50; } else { state0 = (state0 - 1); } out(0) = state0;");
    assert_eq!(kernel.chosen.len(), 1);
    assert!(text.contains("$4 = (state0 - 1)\n  $5 = select(($0 > 0.5f), 50, $4)\n  state0 = $5\n"), "{text}");
    assert!(text.contains("chosen ($5)"), "{text}");
}

#[test]
fn values_are_chosen_by_what_was_before() {
    // the condition's variable is one that is chosen, and an arm reads what it has written
    let (kernel, text) = made(
        "$1 = as<int>((in(0) > 0f)); $2 = (($1 * 7) - state0); $3 = 0; \
         if ($2 >= state1) { $2 = ($2 - state1); $3 = ($2 | 4); } state0 = ($2 + $3); state1 = ($3 ^ state1); out(0) = state0;",
    );
    assert_eq!(kernel.chosen.len(), 2, "{text}");
    let want = "$4 = ($2 - state1)
  $5 = ($4 | 4)
  $6 = select(($2 >= state1), $4, $2)
  $7 = select(($2 >= state1), $5, $3)
  $2 = $6
  $3 = $7
";
    assert!(text.contains(want), "{text}");
}

#[test]
fn what_counts_is_guessed() {
    assert_eq!(count("state1 = (state1 + 1); if (state1 >= 225) { state1 = 0; } out(0) = state1;"), 0);
    // and what depends on an item is not
    let by_item =
        "$0 = in(0); if ($0 > 0f) { state1 = (state1 + 1); } if (state1 >= 225) { state1 = 0; } out(0) = state1;";
    assert_eq!(count(by_item), 2);
    // nor is what a generator of noise gives
    let noise = "state1 = ((state1 * 1103515245) + 12345); if (state1 < 0) { state0 = (state0 + 1); } out(0) = state0;";
    assert_eq!(count(noise), 1);
}

#[test]
fn long_ways_are_guessed() {
    // of a value that is held within bounds, the lesser and the greater are an instruction each; others cost too much
    let held = "state2 = ((state2 * 0.5f) + in(0)); if (state2 > 1f) { state2 = 1f; } if (state2 < -1f) { state2 = -1f; } out(0) = 0;";
    assert_eq!(count(held), 2);
    assert_eq!(
        count(
            &held
                .replace("{ state2 = 1f; }", "{ state2 = 0.75f; }")
                .replace("{ state2 = -1f; }", "{ state2 = -0.75f; }")
        ),
        0
    );
    // a level that rises at once: the bound is told of the two variables themselves
    let level = "$0 = in(0); state2 = (state2 * 0.5f); if ($0 > state2) { state2 = $0; } out(0) = 0;";
    assert!(made(level).1.contains("select(($0 > state2), $0, state2)"), "{}", made(level).1);
    // the factor is chosen while the product is taken
    let gain = "$0 = (0.5f - (in(0) * state2)); \
                if ($0 > 0f) { state2 = (state2 + (0.001f * $0)); } else { state2 = (state2 + (0.01f * $0)); } out(0) = 0;";
    assert_eq!(count(gain), 1);
    // of both, the one that pays; a bound does beside it
    let both = format!("{gain} if (state2 > 100f) {{ state2 = 90f; }}");
    assert_eq!((count(&both), count(&both.replace("90f", "100f"))), (1, 2));
}

/// An arm with a jump in it is not executed in any case.
#[test]
fn what_is_around_a_jump_jumps() {
    let inner = "if (state2 > 0.25f) { state2 = ((((state2 * 0.5f) - 0.25f) * 0.75f) - 0.1f); }";
    let text = format!(
        "$0 = in(0); state2 = ((state2 * 0.5f) + $0); if ($0 > 0.1f) {{ {inner} }} else {{ state2 = (state2 + 0.125f); }} out(0) = 0;"
    );
    let (kernel, made) = made(&text);
    assert!(kernel.chosen.is_empty() && made.contains("if ($0 > 0.1f)"), "{made}");
    assert!(made.contains("if (state2 > 0.25f)") && made.contains("* 0.75f"), "{made}");
}

#[test]
fn an_answer_is_no_jump_and_is_waited_for() {
    // a modulator: the number that is taken off depends on the answer
    let text = "state2 = (state2 + in(0)); $1 = select((state2 >= 0f), 1, 0); \
                if ($1 == 1) { state2 = (state2 - 1f); } else { state2 = (state2 + 1f); } out(0) = $1;";
    assert_eq!(count(text), 0);
    assert_eq!(count(&text.replace("1, 0)", "7, 3)").replace("== 1", "== 7")), 1);
}

#[test]
fn arms_that_are_no_values_at_hand_stay() {
    for arm in [
        "state0 = state3[0];",
        "state0 = (100 / state1);",
        "state3[1] = 2;",
        "out(0) = 3;",
        "check index $1 4;",
        "state0 = as<int>($0);",
        "state0 = ((((((((state0 + 1) ^ 5) + 2) ^ 7) + 3) ^ 9) + 4) ^ 11);",
    ] {
        let body = format!("$0 = in(0); $1 = 0; if ($0 > 0.5f) {{ {arm} }} state0 = (state0 + 1); out(0) = state0;");
        assert_eq!(count(&body), 0, "{arm}");
    }
    // NaNs are not equal to themselves, and not unequal by an order
    assert_eq!(count("$0 = in(0); if ($0 == 0.5f) { state0 = (state0 + 1); } out(0) = state0;"), 0);
}

#[test]
fn conditions_of_several_parts_are_chosen_too() {
    let (kernel, text) = made(
        "$0 = in(0); if not((($0 > 0f) && ($0 < 9f))) { state0 = (state0 + 1); } else { state0 = 0; } out(0) = state0;",
    );
    assert_eq!(kernel.chosen.len(), 2, "{text}");
    assert!(text.contains("$5 = select(($0 > 0.0f), $4, false)"), "{text}");
    assert!(text.contains("select($5, 0, $6)"), "{text}");
}

#[test]
fn loops_that_need_nothing_of_their_turns_are_left_alone() {
    let sums =
        "for $1 = 0 < 64 step 1 { $2 = state3[($1 & 3)]; if ($2 > 2) { state0 = (state0 + $2); } } out(0) = state0;";
    assert_eq!(count(sums), 0);
    let waits = "$3 = 0; for $1 = 0 < 64 step 1 { $2 = (state3[($1 & 3)] + $3); $3 = select(($2 > 127), ($2 - 255), $2); } out(0) = $3;";
    assert_eq!(count(waits), 1);
}

#[test]
fn a_switch_keeps_its_jumps_and_its_arms_have_choices() {
    let (kernel, text) = made(
        "$0 = in(0); if (state1 == 0) { if ($0 > 0.9f) { state1 = 1; } } else { \
         if ($0 > 0.5f) { state0 = 50; } else { state0 = (state0 - 1); } \
         $2 = ((((state0 + 3) ^ 5) + 7) ^ 9); $3 = (($2 + 3) ^ ($2 + 5)); if ($3 == 0) { state1 = 0; } } out(0) = state0;",
    );
    assert_eq!(kernel.chosen.len(), 3, "{text}");
    assert!(text.contains("if (state1 == 0) {"), "{text}");
}

#[test]
fn lanes_have_choices_of_their_own() {
    let mut kernel = made("out(0) = 0;").0;
    kernel.lanes = Some(Lanes {
        function: FuncId(0),
        varying: vec![],
        unroll: 1,
        deep: 1,
        phases: false,
        strands: 1,
        parts: false,
        narrow: None,
    });
    let before = kernel.clone();
    run(&mut kernel);
    assert_eq!(kernel, before);
}
