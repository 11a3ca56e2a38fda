//! Programs of filters with a state that follow one another and differ in numbers: what goes in lanes of a vector, each a firing behind the one before, and what stands around it.

use super::random::Random;
use std::fmt::Write;

/// A program, and what its items are.
pub struct Cascade {
    /// Its text.
    pub source: String,
    /// Ints, or floats.
    pub ints: bool,
    /// Items with which all sections have something to do at once.
    pub full: usize,
}

/// The program of a seed, which cannot fail.
pub fn cascade(seed: u64) -> Cascade {
    let mut r = Random::new(seed ^ 0xCA5C_ADE5);
    let ints = r.chance(25);
    let ty = if ints { "int" } else { "float" };
    let items = *r.pick(&[1, 1, 1, 2, 3]);
    let mut g = Section { r, ints, names: Vec::new() };
    let mut source = g.section(items);
    let r = &mut g.r;
    let full = if items == 1 && r.chance(35) {
        let (branches, sections) = (r.range(2, 9), r.range(2, 9));
        let gain = if r.chance(60) { " add Gain(b);" } else { "" };
        if !gain.is_empty() {
            let _ =
                writeln!(source, "{ty}->{ty} filter Gain(int b) {{ work pop 1 push 1 {{ push(pop() * (b + 1)); }} }}");
        }
        let _ = writeln!(
            source,
            "{ty}->{ty} splitjoin Main {{ split {}; for (int b = 0; b < {branches}; b++) add pipeline {{ for (int k = 0; k < {sections}; k++) add Section(k + 3 * b);{gain} }}; join roundrobin; }}",
            r.pick(&["duplicate", "roundrobin"])
        );
        branches * sections
    } else {
        let sections = r.range(4, 40);
        let (head, tail) = (r.chance(50), r.chance(50));
        if head {
            let _ = writeln!(
                source,
                "{ty}->{ty} filter Head {{ {ty} d; work pop 1 push 1 {{ d = pop() + d * {}; push(d); }} }}",
                if ints { "3" } else { "0.25" }
            );
        }
        if tail {
            let _ = writeln!(
                source,
                "{ty}->{ty} filter Tail {{ {ty} p; work pop 1 push 1 {{ {ty} x = pop(); p = max(p, x); push(p - x); }} }}"
            );
        }
        let _ = writeln!(
            source,
            "{ty}->{ty} pipeline Main {{ {} for (int k = 0; k < {sections}; k++) add Section(k % {}); {} }}",
            if head { "add Head;" } else { "" },
            r.range(3, 40),
            if tail { "add Tail;" } else { "" }
        );
        items * sections
    };
    Cascade { source, ints, full: full as usize }
}

struct Section {
    r: Random,
    ints: bool,
    names: Vec<String>,
}

impl Section {
    fn section(&mut self, items: u32) -> String {
        let ty = if self.ints { "int" } else { "float" };
        let fields = self.r.range(1, 3);
        self.names = (0..fields).map(|i| format!("s{i}")).collect();
        let mut text = format!("{ty}->{ty} filter Section(int k) {{\n");
        for i in 0..fields {
            let _ = writeln!(text, "    {ty} s{i} = {};", self.r.below(3));
        }
        let _ = writeln!(text, "    work pop {items} push {items} {{");
        for i in 0..items {
            let _ = writeln!(text, "        {ty} x{i} = pop();");
            self.names.push(format!("x{i}"));
        }
        for i in 0..self.r.range(fields, fields + 3) {
            let depth = self.r.range(1, 3);
            let value = self.value(depth);
            if i < fields {
                let last = if !self.ints && self.r.chance(60) { format!("0.5 * s{i} + ") } else { String::new() };
                let _ = writeln!(text, "        s{i} = {last}{value};");
            } else {
                let _ = writeln!(text, "        {ty} t{i} = {value};");
                self.names.push(format!("t{i}"));
            }
        }
        for _ in 0..items {
            let value = if self.r.chance(50) { self.value(0) } else { self.value(2) };
            let _ = writeln!(text, "        push({value});");
        }
        text + "    }\n}\n"
    }

    fn value(&mut self, depth: u32) -> String {
        if depth == 0 || self.r.chance(20) {
            return match self.r.below(10) {
                0..6 => self.r.pick(&self.names).clone(),
                6..8 if self.ints => format!("({} + k * {})", self.r.below(9), self.r.below(4)),
                6..8 => format!("(0.{}5 + k * 0.0{})", self.r.below(10), self.r.below(5)),
                _ if self.ints => self.r.pick(&["0", "1", "7", "(-3)"]).to_string(),
                _ => self.r.pick(&["0.0", "1.0", "0.375", "(-0.0)", "(-1.5)"]).to_string(),
            };
        }
        let (a, b) = (self.value(depth - 1), self.value(depth - 1));
        let c = self.value(depth - 1);
        let of_ints = [
            "A + B",
            "A - B",
            "A * B",
            "A ^ B",
            "A & B",
            "A | B",
            "A << 3",
            "A >> 5",
            "max(A, B)",
            "abs(A)",
            "A > B ? C : A",
        ];
        let of_floats = [
            "A + B",
            "A + B",
            "A - B",
            "A * B",
            "A * B",
            "A / B",
            "max(A, B)",
            "min(A, B)",
            "abs(A)",
            "sqrt(abs(A))",
            "(float)(int)A",
            "A > B ? C : A",
        ];
        let form = if self.ints { *self.r.pick(&of_ints) } else { *self.r.pick(&of_floats) };
        let parts = form.chars().map(|x| match x {
            'A' => a.clone(),
            'B' => b.clone(),
            'C' => c.clone(),
            x => x.to_string(),
        });
        format!("({})", parts.collect::<String>())
    }
}
