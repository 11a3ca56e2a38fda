use super::*;
use crate::text;

fn made(body: &str) -> Option<String> {
    let locals = "  local0 \"t\" int\n  local1 \"s\" int\n  local2 \"odd\" int\n";
    let text = format!(
        "kernel \"K\" \"K\" @0:0-1 int -> int work func0 peek 192 pop 128 push 64\nstate0 \"kept\" int = 0\n\
         func0 \"work\" (0) -> void @0:0-1 {{\n{locals}{body}}}\n"
    );
    let mut kernel = text::parse(&text).unwrap();
    run(&mut kernel);
    crate::verify::verify(&kernel).unwrap();
    assert_eq!(text::parse(&text::print(&kernel)).unwrap(), kernel);
    let steps = kernel.steps?;
    assert_eq!(steps.firings, 4);
    let text = text::print(&kernel);
    let at = text.find("func1 \"steps\"").unwrap();
    Some(text[at..].replace(" @0:0-1", ""))
}

const BACK: &str = "  $1 = 0 @0:0-1\n  for $0 = 63 >= 0 step -1 @0:0-1 {\n    out($0) = $1 @0:0-1\n    $2 = (in(((2 * $0) + ($1 >> 5))) & 1) @0:0-1\n    \
                    $1 = (((2 * $1) + $2) & 63) @0:0-1\n  }\n";

#[test]
fn a_way_back_is_gone_by_four_firings() {
    let got = made(BACK).unwrap();
    assert_eq!(got.matches("for ").count(), 1, "{got}");
    // each firing has its own state, reads its own items and writes its own
    for (state, from, to) in [
        (1, "", "out($0)"),
        (4, " + 128", "out(($0 + 64))"),
        (7, " + 256", "out(($0 + 128))"),
        (10, " + 384", "out(($0 + 192))"),
    ] {
        assert!(got.contains(&format!("{to} = ${state}")), "{got}");
        let read = format!("((2 * $0) + (${state} >> 5))");
        let read = if from.is_empty() { format!("in({read})") } else { format!("in(({read}{from}))") };
        assert!(got.contains(&read), "{read}: {got}");
    }
}

#[test]
fn the_variable_of_a_loop_has_its_last_value_in_all_firings() {
    let got = made(&format!("{BACK}  out(0) = $0 @0:0-1\n")).unwrap();
    for (variable, to) in [(0, 0), (3, 64), (6, 128), (9, 192)] {
        assert!(got.contains(&format!("out({to}) = ${variable}\n")), "{got}");
    }
    assert!(got.contains("$3 = $0\n") && got.contains("$9 = $0\n"), "{got}");
}

#[test]
fn a_loop_that_a_firing_leaves_when_it_likes_is_done_firing_by_firing() {
    let leaves = "  for $0 = 0 < 8 step 1 @0:0-1 {\n    if ($1 == 3) @0:0-1 {\n      break 0 @0:0-1\n    }\n  }\n";
    let got = made(&format!("{BACK}{leaves}")).unwrap();
    assert_eq!(got.matches("for ").count(), 5, "{got}");
    // and so is one whose bounds a firing has found
    let turns = "  for $0 = 0 < $1 step 1 @0:0-1 {\n    out($0) = in($0) @0:0-1\n  }\n";
    assert_eq!(made(&format!("{BACK}{turns}")).unwrap().matches("for ").count(), 5);
}

#[test]
fn what_does_not_wait_for_its_loads_stays() {
    // a sum
    assert!(made("  $1 = 0 @0:0-1\n  for $0 = 0 < 64 step 1 @0:0-1 {\n    $1 = ($1 + in($0)) @0:0-1\n  }\n  out(0) = $1 @0:0-1\n").is_none());
    // places that are known
    assert!(made("  for $0 = 0 < 64 step 1 @0:0-1 {\n    out($0) = in((2 * $0)) @0:0-1\n  }\n").is_none());
}

#[test]
fn what_others_could_see_stays() {
    assert!(made(&format!("{BACK}  state0 = $1 @0:0-1\n")).is_none());
    assert!(made(&BACK.replace("$1 = 0 ", "$1 = state0 ")).is_none());
    assert!(made(&BACK.replace("$1 = 0 ", "$1 = iter ")).is_none());
    assert!(made(&format!("{BACK}  check index $1 64 @0:0-1\n")).is_none());
    assert!(made(&format!("{BACK}  print $1 @0:0-1\n")).is_none());
}
