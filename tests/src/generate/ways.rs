//! Filters whose firings go different ways: loops that end where data say, `break` and `continue`, conditions within conditions, functions that return early, what exists only under a condition.

use super::random::Random;
use std::fmt::Write;

/// The program of a seed, `int -> int`, which cannot fail and takes at most 8 ints in a firing.
pub fn ways(seed: u64) -> String {
    let mut r = Random::new(seed ^ 0x3A5C_0DE5);
    let (pop, push, left) = (*r.pick(&[1, 2, 4, 5, 8]), r.range(1, 3), r.range(8, 30));
    let mut g = Ways { r, pop, left, depth: 0, loops: 0, number: 0, counters: Vec::new() };
    let statements = g.r.range(3, 6);
    let body = g.list(2, statements);
    let mut given = String::new();
    for _ in 0..push {
        let (x, y) = (g.int(0), g.int(0));
        let _ = match g.r.below(3) {
            0 => writeln!(given, "        if ({}) push({x}); else push({y});", g.condition(0)),
            1 => writeln!(given, "        push((int)({}) ^ {x});", g.float(1)),
            _ => writeln!(given, "        push({x});"),
        };
    }
    let helper = *g.r.pick(&[
        "return x + 3 * y;",
        "if (x < y) return y - x; return x & y;",
        "for (int k = 0; k < 4; k++) { if (x > y * k) return k; x = x + y; } return x;",
        "while (x > 9) { x = x / 2; if (x == y) return 1; } return y ^ x;",
    ]);
    let second = if pop > 1 { "peek(1)" } else { "7" };
    format!(
        "int->int filter Ways {{
    int[8] t = {{3, 1, 4, 1, 5, 9, 2, 6}};
    int h(int x, int y) {{ {helper} }}
    work pop {pop} push {push} {{
        int a = peek(0); int b = {second}; int c = 0; int d = a * 3; float p = a * 0.125; float q = 1; int[4] w;
{body}{given}        for (int z = 0; z < {pop}; z++) pop();
    }}
}}
int->int pipeline Main {{ add Ways; }}
"
    )
}

struct Ways {
    r: Random,
    pop: u32,
    /// Statements that may still be made.
    left: u32,
    depth: u32,
    loops: u32,
    number: u32,
    /// Of the loops around: their values are from 0 to 7.
    counters: Vec<String>,
}

const VARIABLES: [&str; 4] = ["a", "b", "c", "d"];

impl Ways {
    fn variable(&mut self) -> &'static str {
        VARIABLES[self.r.index(VARIABLES.len())]
    }

    fn counter(&mut self) -> Option<String> {
        (!self.counters.is_empty()).then(|| self.counters[self.r.index(self.counters.len())].clone())
    }

    fn int(&mut self, depth: u32) -> String {
        if depth > 2 || self.r.chance(25) {
            return match (self.r.below(3), self.counter()) {
                (0, Some(counter)) => counter,
                (1, _) => (i64::from(self.r.below(50)) - 9).to_string(),
                _ => self.variable().into(),
            };
        }
        let d = depth + 1;
        match self.r.below(13) {
            0 => match self.counter().filter(|_| self.pop > 1) {
                Some(counter) => format!("peek({counter} & 1)"),
                None => format!("peek({})", self.r.below(self.pop)),
            },
            1 => format!("t[{} & 7]", self.int(d)),
            2 => format!("({} / ({} | 1))", self.int(d), self.int(d)),
            3 => format!("({} % {})", self.int(d), self.r.range(2, 9)),
            4 => format!("({} ? {} : {})", self.condition(d), self.int(d), self.int(d)),
            5 => format!("(({}) >> {})", self.int(d), self.r.range(1, 7)),
            6 => format!("h({}, {})", self.int(d), self.int(d)),
            7 => match self.counter() {
                Some(counter) => format!("w[{counter} & 3]"),
                None => "w[1]".into(),
            },
            8 => format!("(int)({})", self.float(d)),
            _ => {
                let op = *self.r.pick(&["+", "-", "*", "&", "|", "^", "+"]);
                format!("({} {op} {})", self.int(d), self.int(d))
            }
        }
    }

    fn float(&mut self, depth: u32) -> String {
        let d = depth + 1;
        match self.r.below(if depth > 2 { 3 } else { 7 }) {
            0 => "p".into(),
            1 => "q".into(),
            2 => format!("{}.5", self.r.below(9)),
            3 => format!("sqrt(abs({}))", self.float(d)),
            4 => format!("max({}, {})", self.float(d), self.float(d)),
            5 => format!("(float)({})", self.int(d)),
            _ => {
                let op = *self.r.pick(&["+", "-", "*"]);
                format!("({} {op} {})", self.float(d), self.float(d))
            }
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        let (d, v) = (depth + 1, self.variable());
        match self.r.below(10) {
            0 | 1 if depth < 2 => {
                let op = *self.r.pick(&["&&", "||"]);
                format!("({} {op} {})", self.condition(d), self.condition(d))
            }
            2 => format!("({v} != 0 && {} / {v} > {})", self.int(d), self.r.below(9)),
            3 => format!("({v} >= 0 && {v} < 8 && t[{v}] > {})", self.r.below(6)),
            4 => format!("({} < {})", self.float(d), self.float(d)),
            _ => {
                let op = *self.r.pick(&["<", ">", "<=", ">=", "==", "!="]);
                format!("({} {op} {})", self.int(d), self.int(d))
            }
        }
    }

    fn list(&mut self, indent: usize, most: u32) -> String {
        let mut out = String::new();
        for _ in 0..most {
            if self.left > 0 {
                out += &self.statement(indent);
            }
        }
        if out.is_empty() { format!("{}a ^= 1;\n", "    ".repeat(indent)) } else { out }
    }

    fn within(&mut self, indent: usize) -> String {
        let most = self.r.range(1, 4);
        self.depth += 1;
        let list = self.list(indent + 1, most);
        self.depth -= 1;
        list
    }

    fn turns(&mut self, indent: usize) -> String {
        self.loops += 1;
        let list = self.within(indent);
        self.loops -= 1;
        list
    }

    fn statement(&mut self, indent: usize) -> String {
        self.left -= 1;
        let pad = "    ".repeat(indent);
        let v = self.variable();
        match self.r.below(20) {
            7 => {
                let at = self.counter().unwrap_or("2".into());
                format!("{pad}w[{at} & 3] {} {};\n", self.r.pick(&["=", "+="]).to_owned(), self.int(0))
            }
            8 => format!("{pad}{} = {};\n", self.r.pick(&["p", "q"]).to_owned(), self.float(0)),
            9 => format!("{pad}if ({v} != 0) {} = {} / {v};\n", self.variable(), self.int(0)),
            10..=12 if self.depth < 4 => {
                let (c, yes) = (self.condition(0), self.within(indent));
                let no =
                    if self.r.chance(50) { format!(" else {{\n{}{pad}}}", self.within(indent)) } else { String::new() };
                format!("{pad}if {c} {{\n{yes}{pad}}}{no}\n")
            }
            13 | 14 if self.loops > 0 => {
                format!("{pad}if {} {};\n", self.condition(0), self.r.pick(&["break", "break", "continue"]).to_owned())
            }
            15..=19 if self.depth < 4 => self.turning(indent, &pad),
            _ => format!("{pad}{v} {} {};\n", self.r.pick(&["=", "+=", "^=", "-=", "="]).to_owned(), self.int(0)),
        }
    }

    /// A loop.
    fn turning(&mut self, indent: usize, pad: &str) -> String {
        self.number += 1;
        let (n, c, most) = (self.number, self.condition(0), self.r.range(2, 12));
        match self.r.below(6) {
            0 => {
                let seen =
                    if self.r.chance(50) { format!("{pad}{} += f{n};\n", self.variable()) } else { String::new() };
                let body = self.turns(indent);
                format!(
                    "{pad}int f{n} = 0;\n{pad}while (f{n} < {most} && {c}) {{\n{pad}    f{n}++;\n{body}{pad}}}\n{seen}"
                )
            }
            1 => {
                let body = self.turns(indent);
                format!(
                    "{pad}int f{n} = 0;\n{pad}do {{\n{pad}    f{n}++;\n{body}{pad}}} while (f{n} < {most} && {c});\n"
                )
            }
            2 => {
                let head = format!(
                    "int i{n} = {} & 7; i{n} >= {}; i{n} -= {}",
                    self.int(1),
                    self.r.below(3),
                    self.r.range(1, 2)
                );
                format!("{pad}for ({head}) {{\n{}{pad}}}\n", self.turns(indent))
            }
            kind => {
                let to = if kind == 3 { format!("({} & 7)", self.int(1)) } else { self.r.range(2, 7).to_string() };
                let head = format!("int i{n} = {}; i{n} < {to}; i{n}++", self.r.below(3));
                self.counters.push(format!("i{n}"));
                let body = self.turns(indent);
                self.counters.pop();
                format!("{pad}for ({head}) {{\n{body}{pad}}}\n")
            }
        }
    }
}
