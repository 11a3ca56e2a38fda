//! Loops before and after they are split: text for people, and random nests that are executed both ways.

use super::super::inner_tests::{Machine, Random};
use crate::ir::*;
use crate::verify::verify;

/// A kernel: `$0` to `$5` are ints, `$6` and `$7` floats. `;` ends a statement.
fn kernel(body: &str) -> Kernel {
    let text = format!(
        "kernel \"K\" \"K\" ; float -> float work func0 peek 64 pop 64 push 64
func0 \"work\" (0) -> void ; {{
local0 \"r\" int local1 \"c\" int local2 \"k\" int local3 \"l\" int local4 \"p\" int local5 \"q\" int
local6 \"s\" float local7 \"t\" float
{body}
}}
"
    );
    let text = text.replace(';', " @0:0-1");
    let kernel = crate::text::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&kernel).unwrap_or_else(|e| panic!("{e}\n{text}"));
    kernel
}

/// What the body becomes, in one line.
fn split(body: &str) -> String {
    let mut k = kernel(body);
    super::run(&mut k);
    verify(&k).unwrap_or_else(|e| panic!("{e}\n{}", crate::text::print(&k)));
    let text = crate::text::print(&k);
    let lines = text.lines().skip_while(|l| !l.starts_with("func0")).skip(1).filter(|l| !l.trim().starts_with("local"));
    let all: Vec<&str> = lines.map(|l| l.trim()).collect();
    all[..all.len() - 1].join(" ").replace(" @0:0-1", "")
}

#[test]
fn what_is_known_in_all_turns_is_gone() {
    for (condition, instead) in [
        ("($0 < 8)", "out($0) = 1.0f"),
        ("(($0 - 8) >= 0)", ""),
        ("((2 * $0) != 15)", "out($0) = 1.0f"),
        ("(($0 >= 0) && (in(0) < 1.0f))", "if (in(0) < 1.0f) { out($0) = 1.0f }"),
        // wraps around
        ("((($0 + 2147483647) * 2) != 5)", "if ((($0 + 2147483647) * 2) != 5) { out($0) = 1.0f }"),
    ] {
        let got = split(&format!("for $0 = 0 < 8 step 1; {{ if {condition}; {{ out($0) = 1.0f; }} out(1) = 2.0f; }}"));
        let inside = [instead, "out(1) = 2.0f"].map(str::to_string).join(" ");
        assert_eq!(got, format!("for $0 = 0 < 8 step 1 {{ {} }}", inside.trim()), "{condition}");
    }
}

#[test]
fn the_first_and_the_last_turn_are_by_themselves() {
    let got =
        split("for $0 = 0 < 40 step 1; { if (($0 > 0) && ($0 < 39)); { out($0) = 1.0f; } else { out($0) = 2.0f; } }");
    assert_eq!(got, "out(0) = 2.0f for $0 = 1 < 39 step 1 { out($0) = 1.0f } out(39) = 2.0f");
    // downward, by several, and what the counter is in the end
    let got = split("for $1 = 40 >= 0 step -3; { if ($1 <= 37); { out($1) = 1.0f; } } out(0) = as<float>($1);");
    assert_eq!(got, "for $0 = 37 > -2 step -3 { out($0) = 1.0f } out(0) = -2.0f".replace("-2.0f", "as<float>($0)"));
    let got = split("for $1 = 0 < 40 step 1; { if ($1 < 39); { out($1) = 1.0f; } } out(0) = as<float>($1);");
    assert!(got.starts_with("for $0 = 0 < 39 step 1 { out($0) = 1.0f } "), "{got}");
    assert!(got.ends_with("$0 = 40 out(0) = as<float>($0)") || got.ends_with("out(0) = 40.0f"), "{got}");
}

#[test]
fn a_window_at_the_border() {
    let window = |guard: &str| {
        split(&format!("for $0 = 0 < 64 step 1; {{ $6 = 0.0f; for $1 = -1 <= 1 step 1; {{ {guard} }} out($0) = $6; }}"))
    };
    let middle = |sum: &str, step: &str| {
        format!(
            "for $0 = 1 < 63 step 1 {{ {sum} = 0.0f for {step} = -1 <= 1 step 1 {{ {sum} = ({sum} + in(($0 + {step}))) }} out($0) = {sum} }}"
        )
    };
    let is = |got: String, [sum, step]: [&str; 2]| {
        assert!(got.contains(&middle(sum, step)), "{got}\n{}", middle(sum, step));
        assert!(!got.contains("if") && !got.contains("select") && !got.contains("max"), "{got}");
    };
    let skipped = "if ((($0 + $1) >= 0) && (($0 + $1) < 64)); { $6 = ($6 + in(($0 + $1))); }";
    is(window(skipped), ["$2", "$1"]);
    // the same by a jump, with the position in a variable
    is(window("$4 = ($0 + $1); if (($4 < 0) || ($4 >= 64)); { continue 0; } $6 = ($6 + in(($0 + $1)));"), ["$2", "$1"]);
    is(window("$6 = ($6 + in(@max(0, @min(63, ($0 + $1)))));"), ["$2", "$1"]);
    is(window("$6 = ($6 + in(select((($0 + $1) < 0), 0, @min(($0 + $1), 63))));"), ["$2", "$1"]);
    let got = window("$4 = ($0 + $1); if ($4 < 0); { $4 = 0; } if ($4 >= 64); { $4 = 63; } $6 = ($6 + in($4));");
    assert!(got.contains("for $0 = 1 < 63 step 1 {") && !got.contains("if"), "{got}");
    // mirrored, and round
    let got = window("$6 = ($6 + in(@abs((63 - @abs(((63 - $0) - $1))))));");
    assert!(got.contains("for $0 = 1 < 63 step 1 {") && !got.contains("abs"), "{got}");
    let got = window("$6 = ($6 + in(((($0 + $1) + 64) % 64)));");
    assert!(got.contains("for $0 = 1 < 63 step 1 {") && !got.contains('%'), "{got}");
    let got = window("$6 = ($6 + in((($0 + $1) & 63)));");
    assert!(got.contains("for $0 = 1 < 63 step 1 {") && !got.contains('&'), "{got}");
}

#[test]
fn both_dimensions() {
    let got = split(
        "for $0 = 0 < 16 step 1; { for $1 = 0 < 16 step 1; { $6 = 0.0f; for $2 = -1 <= 1 step 1; { for $3 = -1 <= 1 step 1; {
         if ((((($0 + $2) >= 0) && (($0 + $2) < 16)) && (($1 + $3) >= 0)) && (($1 + $3) < 16)); { $6 = ($6 + in((($0 + $2) & ($1 + $3)))); }
         } } out($1) = $6; } }",
    );
    assert!(!got.contains("if"), "{got}");
    // three rows, of three parts each
    assert_eq!(got.matches("out(").count(), 9, "{got}");
    assert!(got.contains("for $0 = 1 < 15 step 1 { "), "{got}");
}

#[test]
fn rows_and_columns_of_one_counter() {
    let body = "for $0 = 0 < 96 step 1; { $4 = ($0 / 12); $5 = ($0 % 12); $6 = in(($0 & 63)); if (($5 > 0) && ($4 < 7)); { $6 = ($6 + in((($0 - 1) & 31))); } out(0) = $6; } out(1) = as<float>($0);";
    let got = split(body);
    assert!(!got.contains("if") && !got.contains('/') && !got.contains('%'), "{got}");
    // rows of a first item and others, while positions do not come round
    assert!(got.contains(" = 0 < 5 step 1 {") && got.contains(" = 1 < 12 step 1 {"), "{got}");
    let (before, mut after) = (kernel(body), kernel(body));
    super::run(&mut after);
    assert_eq!(Machine::run(&before).out, Machine::run(&after).out, "{got}");
    // nothing is asked of them
    assert!(split("for $0 = 0 < 96 step 1; { out(($0 % 12)) = in(($0 / 12)); }").contains('/'));
}

#[test]
fn what_is_not_split() {
    for body in [
        // left in the middle
        "for $0 = 0 < 40 step 1; { if ($0 >= 20); { if (in($0) < 0.0f); { break 0; } } out($0) = 1.0f; }",
        // data
        "for $0 = 0 < 40 step 1; { if (in($0) < 1.0f); { out($0) = 1.0f; } }",
        "for $0 = 0 < 40 step 1; { $4 = as<int>(in($0)); if ($4 < 0); { $4 = 0; } out($0) = in($4); }",
        // every other turn
        "for $0 = 0 < 40 step 1; { if (($0 & 1) == 0); { out($0) = 1.0f; } }",
        // unknown in most turns
        "for $0 = 0 < 40 step 1; { for $1 = 0 < 40 step 1; { if ($1 <= $0); { out($1) = in($0); } } }",
        // little of what the loop does
        "for $0 = 0 < 40 step 1; { if ($0 > 0); { out(0) = 1.0f; } for $1 = 0 < 64 step 1; { $6 = (in($1) * in($1)); out($1) = $6; } }",
    ] {
        let (got, mut before) = (split(body), kernel(body));
        crate::passes::clean::run(&mut before);
        let loops = crate::text::print(&before).matches("for ").count();
        assert_eq!(got.matches("for ").count(), loops, "{body}\n{got}");
        assert!(got.contains("if"), "{got}");
    }
}

#[test]
fn what_turns_leave_to_others_keeps_its_name() {
    // each turn sets $6 before it reads it, but the last one's is given; $7 goes from turn to turn
    let body = "$7 = 0.0f; for $0 = 0 < 40 step 1; { $6 = in($0); if ($0 > 0); { $6 = (in($0) - $7); } $7 = in($0); out($0) = $6; }";
    let got = split(body);
    assert!(got.contains("= in(0)"), "{got}");
    let same = |body: &str| {
        let mut after = kernel(body);
        super::run(&mut after);
        assert_eq!(Machine::run(&kernel(body)).out, Machine::run(&after).out, "{}", crate::text::print(&after));
    };
    same(body);
    same(&format!("{body} out(0) = $6; out(1) = $7;"));
    // only the first turn sets it
    same("for $0 = 0 < 40 step 1; { if ($0 == 0); { $6 = 1.0f; } $6 = ($6 * 1.5f); out($0) = $6; }");
}

/// Text of random nests.
struct Nest<'r>(&'r mut Random);

impl Nest<'_> {
    fn of(&mut self, all: &[&str]) -> String {
        all[self.0.below(all.len() as u64) as usize].into()
    }

    /// A sum of the counters of so many loops.
    fn sum(&mut self, depth: u64) -> String {
        let counter = |s: &mut Self| format!("${}", s.0.below(depth));
        let number = format!("{}", self.0.below(24) as i64 - 8);
        let a = counter(self);
        match self.0.below(10) {
            0 => a,
            1 => format!("({a} + {number})"),
            2 => format!("({a} + {})", counter(self)),
            3 => format!("(({a} - {}) + {number})", counter(self)),
            4 => format!("(({a} * 2) - {number})"),
            5 => format!("({number} - {a})"),
            6 => format!("@{}({}, {number})", self.of(&["min", "max"]), counter(self)),
            7 => format!("@abs(({a} - 3))"),
            8 => format!("({a} {})", self.of(&["% 4", "/ 4", "& 3", ">> 2", "% 6", "/ 6"])),
            _ => format!("(({a} + {}) {})", counter(self), self.of(&["% 9", "/ 7", "& 15", ">> 3", "% 5"])),
        }
    }

    fn condition(&mut self, depth: u64) -> String {
        let left = if self.0.below(4) == 0 { "$4".into() } else { self.sum(depth) };
        let (op, right) = (self.of(&["<", "<=", ">", ">=", "==", "!="]), self.0.below(20) as i64 - 4);
        let one = format!("({left} {op} {right})");
        match self.0.below(4) {
            0 => format!("({one} && {})", self.condition(depth)),
            1 => format!("({one} || {})", self.condition(depth)),
            _ => one,
        }
    }

    fn statement(&mut self, depth: u64) -> String {
        match self.0.below(if depth < 4 { 13 } else { 10 }) {
            0 => format!("$4 = {}; ", self.sum(depth)),
            1 => format!("$4 = select({}, {}, $4); ", self.condition(depth), self.sum(depth)),
            2 => format!("$5 = ($5 + {}); ", self.sum(depth)),
            3 => format!("$6 = ($6 + in(({} & 63))); ", self.sum(depth)),
            4 => format!("out(({} & 63)) = ($6 * 0.5f); ", self.sum(depth)),
            5 => "$7 = ($7 + $6); ".into(),
            6 => format!("if {}; {{ {} {} }} ", self.condition(depth), self.jump(depth), self.statement(depth)),
            7..=9 => {
                let (a, b) = (self.statement(depth), self.statement(depth));
                format!("if {}; {{ {a} }} else {{ {b} }} ", self.condition(depth))
            }
            _ => self.nest(depth),
        }
    }

    /// Nothing, mostly; a jump out of a loop around, of which there are so many.
    fn jump(&mut self, depth: u64) -> String {
        match self.0.below(8) {
            0 => format!("if {}; {{ continue 0; }}", self.condition(depth)),
            1 if depth > 1 => format!("if {}; {{ continue 1; }}", self.condition(depth)),
            2 => format!("if {}; {{ break 0; }}", self.condition(depth)),
            3 if depth > 1 => format!("if {}; {{ break 1; }}", self.condition(depth)),
            _ => String::new(),
        }
    }

    fn nest(&mut self, depth: u64) -> String {
        let (a, n, step) = (
            self.0.below(12) as i64 - 6,
            1 + self.0.below(if depth < 2 { 14 } else { 5 }) as i64,
            1 + self.0.below(2) as i64,
        );
        let bounds = match self.0.below(6) {
            2 if depth < 2 => "0 < 24 step 1".into(),
            3 if depth < 2 => "0 < 16 step 1".into(),
            0 => format!("{} > {a} step -{step}", a + n),
            1 => format!("{a} <= {} step {step}", a + n),
            _ => format!("{a} < {} step {step}", a + n),
        };
        let set = if self.0.below(2) == 0 { "$6 = 0.0f; " } else { "" };
        let inside: String = (0..1 + self.0.below(3)).map(|_| self.statement(depth + 1)).collect();
        format!("for ${depth} = {bounds}; {{ {set}{inside} out(3) = $6; }} out(2) = as<float>(${depth}); ")
    }
}

#[test]
fn random_nests_do_the_same() {
    let (mut changed, mut grown, mut rows) = (0, 0, 0);
    for seed in 0..3000 {
        let mut r = Random(seed * 977 + 5);
        let nest = Nest(&mut r).nest(0);
        let body = format!("$4 = 3; $5 = 0; $6 = 0.0f; $7 = 0.0f; {nest} out(0) = $7; out(1) = as<float>(($5 + $4));");
        let before = kernel(&body);
        let mut after = before.clone();
        super::run(&mut after);
        verify(&after).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{body}"));
        if after == before {
            continue;
        }
        changed += 1;
        let loops = |k: &Kernel| crate::text::print(k).matches("for ").count();
        rows += u32::from(after.functions[0].locals.iter().any(|l| l.name == "row"));
        grown += u32::from(loops(&after) > loops(&before));
        let same = Machine::run(&after).out == Machine::run(&before).out;
        assert!(same, "seed {seed}\n{}\n{}", crate::text::print(&before), crate::text::print(&after));
    }
    assert!(changed > 1500 && grown > 700 && rows > 20, "{changed} {grown} {rows}");
}
