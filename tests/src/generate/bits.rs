//! Filters that take or give bits and booleans: items that are bytes where they pass and words, or bytes, in lanes; several to a firing, looked ahead at, in arrays whose elements data choose,
//! and as places in small tables.

use super::random::Random;
use std::fmt::Write;

/// The program of a seed, from bits or ints to bits or ints, which cannot fail.
pub fn bits(seed: u64) -> String {
    let mut r = Random::new(seed ^ 0x0B17_5EED);
    let filters = r.range(1, 3);
    let mut types = vec![*r.pick(&[Item::Bit, Item::Bit, Item::Int])];
    for _ in 1..filters {
        types.push(*r.pick(&[Item::Bit, Item::Bit, Item::Boolean, Item::Int, Item::Float]));
    }
    types.push(*r.pick(&[Item::Bit, Item::Bit, Item::Int]));
    let mut out = String::new();
    for (k, ends) in types.windows(2).enumerate() {
        let mut g = Bits {
            r: Random::new(seed * 8 + k as u64),
            input: ends[0],
            output: ends[1],
            pop: 1,
            peek: 1,
            n: 2,
            moves: false,
        };
        out += &g.filter(k);
    }
    let adds: String = (0..filters).map(|k| format!(" add F{k};")).collect();
    let (first, last) = (types[0].name(), types[types.len() - 1].name());
    format!("{out}{first}->{last} pipeline Main {{{adds} }}\n")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Item {
    Bit,
    Boolean,
    Int,
    Float,
}

impl Item {
    fn name(self) -> &'static str {
        match self {
            Item::Bit => "bit",
            Item::Boolean => "boolean",
            Item::Int => "int",
            Item::Float => "float",
        }
    }
}

/// Items of a firing.
const RATES: [u32; 13] = [1, 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 21];

struct Bits {
    r: Random,
    input: Item,
    output: Item,
    pop: u32,
    peek: u32,
    /// Elements of the array that data choose from.
    n: u32,
    /// There is a field `s` of bits that move.
    moves: bool,
}

impl Bits {
    fn filter(&mut self, k: usize) -> String {
        self.pop = *self.r.pick(&RATES);
        self.peek = self.pop + if self.r.chance(30) { self.r.range(1, 9) } else { 0 };
        self.n = *self.r.pick(&[2, 4, 8, 16]);
        let (push, n) = (*self.r.pick(&RATES), self.n);
        let sizes: Vec<u32> = (0..2).map(|_| *self.r.pick(&[2, 4, 8, 16, 32, 64, 128])).collect();
        let mut table = |size: u32, of: &dyn Fn(i32) -> String| {
            let all: Vec<String> = (0..size).map(|_| of(self.r.below(200) as i32 - 99)).collect();
            all.join(", ")
        };
        let (ints, floats) = (table(sizes[0], &|x| x.to_string()), table(sizes[1], &|x| format!("{x}.25")));
        let truths = table(n, &|x| format!("(bit){}", x & 1));
        let mut body = String::new();
        let _ = writeln!(
            body,
            "        int x = {}; int y = {}; bit b = (bit){}; bit c = 0; float f = 1;",
            self.item_as_int(),
            self.item_as_int(),
            self.item_as_int()
        );
        let _ = writeln!(
            body,
            "        bit[{n}] w; int[{n}] v;\n        for (int i = 0; i < {n}; i++) {{ w[i] = {}; v[i] = i; }}",
            self.bit(2)
        );
        // a shift register: its field, and what moves it
        let (mut field, mut move_it) = (String::new(), String::new());
        if self.r.chance(40) {
            (field, move_it) = self.register();
            self.moves = true;
        }
        let (statements, moved) = (self.r.range(1, 6), self.r.below(4));
        for i in 0..statements {
            if i == moved {
                body += &std::mem::take(&mut move_it);
            }
            body += &self.statement();
        }
        body += &move_it;
        if self.r.chance(40) {
            // item after item in a loop
            let back = if self.r.chance(50) { format!("({} - i)", self.peek - 1) } else { "i".into() };
            let item = self.of_item(&format!("peek({back})"));
            let _ = writeln!(
                body,
                "        for (int i = 0; i < {}; i++) x = x {} {item};",
                self.pop,
                self.r.pick(&["* 2 +", "^", "+ i *", "<< 1 |"]).to_owned()
            );
        }
        if self.r.chance(40) {
            let value = match self.output {
                Item::Bit => "(bit)(x >> i)".to_string(),
                Item::Boolean => "(x & i) != 0".into(),
                Item::Int => "x + i * y".into(),
                Item::Float => "f * i".into(),
            };
            let _ = writeln!(body, "        for (int i = 0; i < {push}; i++) push({value});");
        } else {
            for _ in 0..push {
                let value = match self.output {
                    Item::Bit => self.bit(0),
                    Item::Boolean => self.condition(0),
                    Item::Int => self.int(0),
                    Item::Float => self.float(0),
                };
                let _ = writeln!(body, "        push({value});");
            }
        }
        let (pop, peek) = (self.pop, self.peek);
        format!(
            "{}->{} filter F{k} {{
    {field}int[{}] t = {{{ints}}}; float[{}] u = {{{floats}}}; bit[{n}] z = {{{truths}}};
    work pop {pop} peek {peek} push {push} {{
{body}        for (int i = 0; i < {pop}; i++) pop();
    }}
}}
",
            self.input.name(),
            self.output.name(),
            sizes[0],
            sizes[1],
        )
        .replace("$T", &(sizes[0] - 1).to_string())
        .replace("$U", &(sizes[1] - 1).to_string())
    }

    /// A field whose bits are the last items, or, now and then, something like it; and the statement that moves them.
    fn register(&mut self) -> (String, String) {
        let (by, parts) = (self.r.range(1, 3), self.r.range(2, 6));
        let (width, free) = (by * parts - self.r.below(by), (1 << by) - 1);
        let mask = (1u32 << width) - 1;
        let begin = if self.r.chance(50) { 0 } else { self.r.below(mask + 1) };
        let new = match self.r.below(6) {
            0 => format!("({} & {free})", self.int(1)),
            1 => format!("((x ^ s) & {free})"),
            2 if self.input == Item::Bit => self.item_as_int(),
            _ => format!("({} & {free})", self.item_as_int()),
        };
        let top = by * (parts - 1);
        let text = match self.r.below(6) {
            0 => format!("s = ((s << {by}) | {new}) & {mask};"),
            1 => format!("s = (s * {} + {new}) & {mask};", free + 1),
            2 => format!("s = (s << {by} & {}) ^ {new};", mask & !free),
            3 => format!("s = (s >> {by}) | ({new} << {top});"),
            4 => format!("s <<= {by}; s |= {new}; s &= {mask};"),
            _ => format!("for (int i = 0; i < 2; i++) s = ((s << {by}) | ({} & {free})) & {mask};", self.item_as_int()),
        };
        let bits = if text.contains(">>") { by * parts } else { width };
        (format!("int s = {};\n    ", begin & ((1 << bits) - 1)), format!("        {text}\n"))
    }

    fn item(&mut self) -> String {
        format!("peek({})", self.r.below(self.peek))
    }

    /// An item as an int.
    fn of_item(&self, item: &str) -> String {
        match self.input {
            Item::Boolean => format!("({item} ? 1 : 0)"),
            _ => format!("(int){item}"),
        }
    }

    fn item_as_int(&mut self) -> String {
        let item = self.item();
        self.of_item(&item)
    }

    fn bit(&mut self, depth: u32) -> String {
        let d = depth + 1;
        match self.r.below(if depth > 2 { 4 } else { 12 }) {
            0 => "b".into(),
            1 => "c".into(),
            2 | 3 if self.input == Item::Bit => self.item(),
            2 => "(bit)1".into(),
            3 => format!("(bit){}", self.item_as_int()),
            4 => format!("(~{})", self.bit(d)),
            5 => format!("(bit)({})", self.int(d)),
            6 if depth < 2 => format!("({} ? {} : {})", self.condition(d), self.bit(d), self.bit(d)),
            7 => format!("z[{} & {}]", self.int(d), self.n - 1),
            8 if depth == 0 => format!("w[{} & {}]", self.int(d), self.n - 1),
            _ => {
                let op = *self.r.pick(&["&", "|", "^", "^"]);
                format!("({} {op} {})", self.bit(d), self.bit(d))
            }
        }
    }

    fn int(&mut self, depth: u32) -> String {
        let d = depth + 1;
        match self.r.below(if depth > 2 { 4 } else { 13 }) {
            0 if self.moves => "s".into(),
            0 => "x".into(),
            1 => "y".into(),
            2 => self.item_as_int(),
            3 => (i64::from(self.r.below(20)) - 5).to_string(),
            4 => format!("(int)({})", self.bit(d)),
            5 => format!("t[{} & $T]", self.int(d)),
            6 => format!("(({}) >> {})", self.int(d), self.r.below(9)),
            7 => format!("(({}) << {})", self.int(d), self.r.below(9)),
            8 => format!("({} ? {} : {})", self.condition(d), self.int(d), self.int(d)),
            9 if depth == 0 => format!("v[{} & {}]", self.int(d), self.n - 1),
            _ => {
                let op = *self.r.pick(&["+", "-", "*", "&", "|", "^"]);
                format!("({} {op} {})", self.int(d), self.int(d))
            }
        }
    }

    fn float(&mut self, depth: u32) -> String {
        let d = depth + 1;
        match self.r.below(if depth > 2 { 2 } else { 5 }) {
            0 => "f".into(),
            1 => "0.5".into(),
            2 => format!("u[{} & $U]", self.int(d)),
            3 => format!("(float)({})", self.int(d)),
            _ => format!("({} {} {})", self.float(d), self.r.pick(&["+", "-", "*"]).to_owned(), self.float(d)),
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        let d = depth + 1;
        match self.r.below(if depth > 2 { 2 } else { 6 }) {
            0 if self.input == Item::Boolean => format!("({})", self.item()),
            0 | 1 => format!("({} == {})", self.bit(d), self.bit(d)),
            2 => format!("({} < {})", self.float(d), self.float(d)),
            3 => format!("({} {} {})", self.condition(d), self.r.pick(&["&&", "||"]).to_owned(), self.condition(d)),
            _ => format!("({} {} {})", self.int(d), self.r.pick(&["<", ">", "==", "!="]).to_owned(), self.int(d)),
        }
    }

    fn statement(&mut self) -> String {
        let pad = "        ";
        match self.r.below(9) {
            0 => format!("{pad}x = {};\n", self.int(0)),
            1 => format!("{pad}y ^= {};\n", self.int(0)),
            2 => format!("{pad}b = {};\n", self.bit(0)),
            3 => format!("{pad}c = {};\n", self.bit(0)),
            4 => format!("{pad}f = {};\n", self.float(0)),
            5 => format!("{pad}w[{} & {}] = {};\n", self.int(1), self.n - 1, self.bit(0)),
            6 => format!("{pad}v[{} & {}] += {};\n", self.int(1), self.n - 1, self.int(1)),
            7 => format!("{pad}if {} b = {}; else x = {};\n", self.condition(0), self.bit(1), self.int(1)),
            _ => format!("{pad}if {} w[{} & {}] = {};\n", self.condition(0), self.int(1), self.n - 1, self.bit(1)),
        }
    }
}
