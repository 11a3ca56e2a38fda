//! Programs whose items are mostly bytes and bits, now and then something larger, or of either sign: what goes as bytes in lanes, what must not, and what stands between them.

use super::random::Random;
use std::fmt::Write;

/// The program of a seed, `int -> int`, which cannot fail and takes 4 ints in a steady state.
pub fn narrow(seed: u64) -> String {
    let mut g = Narrow { r: Random::new(seed ^ 0xB17E_B17E), decls: String::new(), number: 0 };
    let stages = g.r.range(2, 9);
    let mut body = String::from("    add Parts;\n");
    for _ in 0..stages {
        let stage = g.stage(2);
        let _ = writeln!(body, "    add {stage};");
    }
    format!(
        "static {{
    int[256] A; int[64] Small; int[16] Bits; int[3][16] Rows; int[64] Words;
    init {{
        int s = {seed};
        for (int i = 0; i < 256; i++) {{
            s = s * 1103515245 + 12345;
            A[i] = (s >> 16) & 255;
            if (i < 64) {{ Small[i] = (s >> 9) & 15; Words[i] = s; }}
            if (i < 16) {{ Bits[i] = (s >> 13) & 1; for (int k = 0; k < 3; k++) Rows[k][i] = (s >> (10 + k)) & 7; }}
        }}
    }}
}}
int->int filter Parts {{
    work pop 1 push 4 {{
        int w = pop();
        for (int i = 0; i < 3; i++)
            push((w >> (8 * i)) & 255);
        push((w >> 31) & 1);
    }}
}}
{}int->int pipeline Main {{\n{body}}}\n",
        g.decls
    )
}

struct Narrow {
    r: Random,
    decls: String,
    number: u32,
}

/// Items of a firing.
const RATES: [u32; 4] = [1, 2, 4, 8];

impl Narrow {
    /// A stream that takes and gives as many items; the name to add.
    fn stage(&mut self, depth: u32) -> String {
        self.number += 1;
        let name = format!("S{}", self.number);
        match self.r.below(10) {
            // branches give what they take, which a duplicate splitter's do not for what comes to it
            0 if depth > 0 => {
                let (split, n) = (if self.r.chance(50) { "duplicate" } else { "roundrobin(4)" }, self.r.range(2, 4));
                let branches: String =
                    (0..n).map(|_| self.stage(0)).fold(String::new(), |all, b| format!("{all}    add {b};\n"));
                let join = if split == "duplicate" { 1 } else { 4 };
                let all = format!(
                    "int->int splitjoin {name} {{\n    split {split};\n{branches}    join roundrobin({join});\n}}\n"
                );
                self.decls.push_str(&all);
            }
            1 if depth > 0 => {
                // what waits at first is not always a byte
                let (inner, first) = (self.stage(0), *self.r.pick(&["1", "255", "256", "-1", "70000"]));
                let value = self.value(&["x", "y"], 2);
                let all = format!(
                    "int->int filter {name}Both {{ work pop 2 push 1 {{ int x = pop(); int y = pop(); push({value}); }} }}
int->int feedbackloop {name} {{
    join roundrobin(1, 1);
    body pipeline {{ add {name}Both; add {inner}; }};
    split duplicate;
    for (int i = 0; i < 16; i++) enqueue {first};
}}
"
                );
                self.decls.push_str(&all);
            }
            _ => {
                let all = self.filter(&name);
                self.decls.push_str(&all);
            }
        }
        name
    }

    fn filter(&mut self, name: &str) -> String {
        let n = *self.r.pick(&RATES);
        let ahead = if self.r.chance(15) { self.r.range(1, 3) } else { 0 };
        let (field, first) = match self.r.below(12) {
            // a field that only the first firing writes, and one that all do
            0 => (
                "    int k;\n",
                format!(
                    "    prework pop {n} push {n} {{ k = {}; for (int i = 0; i < {n}; i++) push({} + pop()); }}\n",
                    self.r.pick(&["3", "200", "1000"]),
                    self.r.pick(&["0", "300", "-1"])
                ),
            ),
            1 => ("    int k = 1;\n", String::new()),
            _ => ("", String::new()),
        };
        let mut names: Vec<String> = (0..n.min(4)).map(|i| format!("x{i}")).collect();
        let mut text =
            format!("int->int filter {name} {{\n{field}{first}    work pop {n} peek {} push {n} {{\n", n + ahead);
        for i in 0..n.min(4) {
            let _ = writeln!(text, "        int x{i} = peek({});", self.r.below(n + ahead));
        }
        if !field.is_empty() {
            names.push("k".into());
        }
        for i in 0..self.r.below(4) {
            let known: Vec<&str> = names.iter().map(String::as_str).collect();
            let value = self.value(&known, 3);
            let _ = writeln!(text, "        int v{i} = {value};");
            names.push(format!("v{i}"));
        }
        // mostly bits, or bytes, or what comes of it
        let mask = *self.r.pick(&[" & 1", " & 1", " & 255", " & 255", " & 15", " & 300", ""]);
        for i in 0..n {
            let known: Vec<&str> = names.iter().map(String::as_str).collect();
            let value = if mask.is_empty() && i % 2 == 0 { self.element(&known) } else { self.value(&known, 3) };
            let _ = writeln!(text, "        push(({value}){mask});");
        }
        if field.contains("= 1") {
            text.push_str("        k = (k * 5 + x0) & 63;\n");
        }
        let _ = writeln!(text, "        for (int i = 0; i < {n}; i++)\n            pop();\n    }}\n}}");
        text
    }

    fn element(&mut self, names: &[&str]) -> String {
        let at = self.value(names, 1);
        let (table, mask) = *self.r.pick(&[("A", 255), ("Small", 63), ("Bits", 15), ("Rows[1]", 15), ("Words", 63)]);
        format!("{table}[({at}) & {mask}]")
    }

    fn value(&mut self, names: &[&str], depth: u32) -> String {
        if depth == 0 || self.r.chance(12) {
            return if self.r.chance(80) {
                self.r.pick(names).to_string()
            } else {
                self.r.pick(&["0", "1", "2", "7", "128", "255", "256", "(-1)", "65537"]).to_string()
            };
        }
        let (a, b) = (self.value(names, depth - 1), self.value(names, depth - 1));
        let n = self.r.below(9);
        match self.r.below(18) {
            0 | 1 => format!("({a} + {b})"),
            2 => format!("({a} - {b})"),
            3 => format!("({a} * {b})"),
            4 | 5 => format!("({a} & {b})"),
            6 => format!("({a} | {b})"),
            7 | 8 => format!("({a} ^ {b})"),
            9 => format!("({a} << {n})"),
            10 => format!("({a} >> {n})"),
            11 => format!("(({a} >> {}) & {})", n * 3, self.r.pick(&[1, 3, 15, 255, 256])),
            12 => format!("({a} & {})", self.r.pick(&[1, 15, 255])),
            13 => {
                let (op, c, d) = (
                    *self.r.pick(&["<", "<=", ">", ">=", "==", "!="]),
                    self.value(names, depth - 1),
                    self.value(names, depth - 1),
                );
                format!("({a} {op} {b} ? {c} : {d})")
            }
            14 => self.element(names),
            15 => format!("{}({a}, {b})", self.r.pick(&["min", "max"])),
            16 => {
                let joined = *self.r.pick(&["&&", "||"]);
                format!("({a} > {n} {joined} {b} != 1 ? 1 : 0)")
            }
            _ => self.r.pick(&["(~{})", "(-{})", "abs({})", "({} / 3)", "(({} & 1023) % 5)"]).replace("{}", &a),
        }
    }
}
