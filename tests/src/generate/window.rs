//! Filters without state that look at a window of their input, which the compiler may run several firings at once.

use super::body::{Gen, Var};
use super::filter::{Members, Rates};
use super::types::{Ty, float_literal, int_literal};

/// Are there such filters with these items?
pub fn fits(input: &Ty, output: &Ty) -> bool {
    let fits = |ty: &Ty| matches!(ty, Ty::Int | Ty::Float | Ty::Complex);
    fits(input) && fits(output)
}

/// The members of a filter with these rates, all of them above zero. Parameters that are numbers are used.
pub fn members(g: &mut Gen, input: &Ty, output: &Ty, rates: Rates, params: Vec<Var>, indent: usize) -> Members {
    let mut w = Window {
        g,
        input: input.clone(),
        output: output.clone(),
        left: (rates.pop, rates.push),
        window: rates.peek,
        tables: Vec::new(),
        vars: Vec::new(),
        counters: Vec::new(),
        out: String::new(),
        indent,
        times: 1,
        cost: 0,
    };
    w.vars.extend(params.into_iter().filter(|p| KINDS.contains(&p.ty)).map(|p| (p.name, p.ty, false)));
    w.fields();
    w.line(&format!("work push {} peek {} pop {} {{", rates.push, rates.peek, rates.pop));
    w.indent += 1;
    for _ in 0..w.g.r.range(1, 6) {
        w.statement();
    }
    w.rest();
    w.indent -= 1;
    w.line("}");
    Members { text: w.out, cost: w.cost, ahead: rates.peek.saturating_sub(rates.pop) }
}

/// Types of variables.
const KINDS: [Ty; 5] = [Ty::Float, Ty::Int, Ty::Complex, Ty::Bool, Ty::Bit];

/// A filter being made.
struct Window<'g> {
    g: &'g mut Gen,
    input: Ty,
    output: Ty,
    /// Items still to be popped and pushed.
    left: (u32, u32),
    /// Items that may be looked at from here on.
    window: u32,
    /// Arrays: names, elements' types, lengths.
    tables: Vec<(String, Ty, u32)>,
    /// Variables, and whether they can be assigned.
    vars: Vec<(String, Ty, bool)>,
    /// Loop counters, each below a bound.
    counters: Vec<(String, u32)>,
    out: String,
    indent: usize,
    /// Turns of the loops around.
    times: u32,
    cost: u32,
}

impl Window<'_> {
    fn line(&mut self, text: &str) {
        self.out += &format!("{}{text}\n", "    ".repeat(self.indent));
        self.cost += self.times;
    }

    fn kind(&mut self) -> Ty {
        let like_items = self.g.r.chance(50);
        match self.g.r.below(4) {
            0 if like_items => self.input.clone(),
            1 if like_items => self.output.clone(),
            _ => KINDS[self.g.r.weighted(&[8, 5, 2, 3, 1])].clone(),
        }
    }

    /// Tables and numbers that are constant after `init`.
    fn fields(&mut self) {
        for _ in 0..self.g.r.range(0, 2) {
            let ty = KINDS[self.g.r.weighted(&[8, 4, 2])].clone();
            let (name, n, i) = (self.g.name("h"), self.g.r.range(1, 12), self.g.name("i"));
            let shown = self.g.show(&ty);
            self.line(&format!("{shown}[{n}] {name};"));
            let value = match ty {
                Ty::Int => format!("{i} * 7 - 20"),
                Ty::Float => format!("sin({i} * 0.7) * 3"),
                _ => format!("complex({i} * 0.25, 1.5 - {i})"),
            };
            let step = self.g.name("k");
            let by = self.g.r.range(1, 3);
            self.line(&format!("int {step} = {by};"));
            let function = self.g.name("fill");
            self.line(&format!(
                "void {function}() {{ for (int {i} = 0; {i} < {n}; {i} += {step}) {name}[{i}] = {value}; }}"
            ));
            self.tables.push((name, ty, n));
            self.vars.push((step, Ty::Int, false));
            self.init_calls(&function);
        }
    }

    /// `init` is written once, and calls what fills the tables.
    fn init_calls(&mut self, function: &str) {
        let step = "    ".repeat(self.indent);
        let call = format!("{step}    {function}();\n");
        match self.out.find(&format!("{step}init {{\n")) {
            Some(at) => self.out.insert_str(at + step.len() + "init {\n".len(), &call),
            None => self.out += &format!("{step}init {{\n{call}{step}}}\n"),
        }
    }

    fn statement(&mut self) {
        match self.g.r.below(12) {
            0 | 1 => self.declare(),
            2..=4 => self.sum(),
            5 => self.assign(),
            6 | 7 => self.branch(),
            8 => self.fill(),
            9 => self.nest(),
            10 if self.left.0 > 0 => self.take(),
            11 if self.left.1 > 0 => self.give(),
            _ => self.assign(),
        }
    }

    fn declare(&mut self) {
        let (ty, name) = (self.kind(), self.g.name("v"));
        let shown = self.g.show(&ty);
        match self.g.r.chance(85) {
            true => {
                let e = self.expr(&ty, 3);
                self.line(&format!("{shown} {name} = {e};"));
            }
            false => self.line(&format!("{shown} {name};")),
        }
        self.vars.push((name, ty, true));
    }

    fn target(&mut self) -> Option<(String, Ty)> {
        let found: Vec<(String, Ty)> =
            self.vars.iter().filter(|v| v.2).map(|(n, t, _)| (n.clone(), t.clone())).collect();
        (!found.is_empty()).then(|| self.g.r.pick(&found).clone())
    }

    fn assignment(&mut self) -> String {
        let Some((name, ty)) = self.target() else { return ";".into() };
        if let Some((table, _, n)) = self.tables.iter().find(|(t, e, _)| t.starts_with('a') && *e == ty).cloned()
            && self.g.r.chance(25)
        {
            let (i, e) = (self.index(n), self.expr(&ty, 2));
            return format!("{table}[{i}] = {e};");
        }
        let op = match ty {
            Ty::Bool | Ty::Bit => *self.g.r.pick(&["=", "&=", "|=", "^="]),
            Ty::Int => *self.g.r.pick(&["=", "+=", "-=", "*=", "<<=", ">>=", "^="]),
            _ => *self.g.r.pick(&["=", "+=", "-=", "*=", "+="]),
        };
        let e = self.expr(&ty, 3);
        format!("{name} {op} {e};")
    }

    fn assign(&mut self) {
        let text = self.assignment();
        self.line(&text);
    }

    /// A condition over assignments: on data, or on the counters.
    fn branch(&mut self) {
        let c = if self.counters.is_empty() || self.g.r.chance(70) { self.test(2) } else { self.uniform() };
        let n = self.g.r.range(1, 2);
        self.line(&format!("if ({c}) {{"));
        self.indent += 1;
        (0..n).for_each(|_| self.assign());
        self.indent -= 1;
        if self.g.r.chance(60) {
            self.line("} else {");
            self.indent += 1;
            self.assign();
            self.indent -= 1;
        }
        self.line("}");
    }

    /// Does something in a loop.
    fn turn(&mut self, most: u32, inside: impl FnOnce(&mut Self, &str, u32)) {
        let room = (400 / self.times).clamp(1, most.max(1));
        let (i, n) = (self.g.name("i"), self.g.r.range(1, room));
        match self.g.r.below(4) {
            0 => self.line(&format!("for (int {i} = {}; {i} >= 0; {i}--) {{", n - 1)),
            _ => self.line(&format!("for (int {i} = 0; {i} < {n}; {i}++) {{")),
        }
        let (times, mark) = (self.times, self.vars.len());
        self.times *= n;
        self.indent += 1;
        self.counters.push((i.clone(), n));
        inside(self, &i, n);
        self.counters.pop();
        self.indent -= 1;
        self.vars.truncate(mark);
        self.times = times;
        self.line("}");
    }

    /// A sum over a window.
    fn sum(&mut self) {
        let ty = [Ty::Float, Ty::Int, Ty::Complex][self.g.r.weighted(&[6, 3, 2])].clone();
        let name = self.g.name("v");
        self.line(&format!("{} {name} = 0;", self.g.show(&ty)));
        self.vars.push((name.clone(), ty.clone(), true));
        let most = self.window.clamp(1, 40);
        self.turn(most, |w, _, _| {
            if w.g.r.chance(20) {
                let (c, jump) = (w.uniform(), *w.g.r.pick(&["break", "continue"]));
                w.line(&format!("if ({c}) {jump};"));
            }
            let e = w.expr(&ty, 3);
            let op = *w.g.r.pick(&["+=", "+=", "-="]);
            w.line(&format!("{name} {op} {e};"));
        });
    }

    /// An array of its own.
    fn fill(&mut self) {
        let ty = KINDS[self.g.r.weighted(&[6, 4, 1])].clone();
        let (name, n) = (self.g.name("a"), self.g.r.range(1, 9));
        self.line(&format!("{}[{n}] {name};", self.g.show(&ty)));
        self.turn(n, |w, i, _| {
            let e = w.expr(&ty, 2);
            w.line(&format!("{name}[{i}] = {e};"));
        });
        self.tables.push((name, ty, n));
    }

    fn nest(&mut self) {
        self.turn(6, |w, _, _| {
            for _ in 0..w.g.r.range(1, 3) {
                match w.g.r.below(4) {
                    0 if w.times < 20 => w.turn(5, |w, _, _| w.assign()),
                    1 => w.branch(),
                    2 => w.declare(),
                    _ => w.assign(),
                }
            }
        });
    }

    fn take(&mut self) {
        let name = self.g.name("v");
        self.line(&format!("{} {name} = pop();", self.g.show(&self.input.clone())));
        self.vars.push((name, self.input.clone(), true));
        self.left.0 -= 1;
        self.window -= 1;
    }

    fn give(&mut self) {
        let e = self.expr(&self.output.clone(), 3);
        self.line(&format!("push({e});"));
        self.left.1 -= 1;
    }

    /// What is left to push and pop.
    fn rest(&mut self) {
        let ty = self.output.clone();
        let pops_first = self.left.0 > 0 && self.g.r.chance(15);
        if pops_first {
            self.pops();
        }
        while self.left.1 > 0 {
            if self.left.1 > 2 && self.g.r.chance(70) {
                let (n, i) = (self.left.1, self.g.name("i"));
                self.line(&format!("for (int {i} = 0; {i} < {n}; {i}++) {{"));
                self.counters.push((i, n));
                self.indent += 1;
                self.times *= n;
                let e = self.expr(&ty, 3);
                self.line(&format!("push({e});"));
                self.times /= n;
                self.indent -= 1;
                self.counters.pop();
                self.line("}");
                self.left.1 = 0;
            } else {
                self.give();
            }
        }
        if !pops_first {
            self.pops();
        }
    }

    fn pops(&mut self) {
        let n = self.left.0;
        if n > 3 {
            let i = self.g.name("i");
            self.line(&format!("for (int {i} = 0; {i} < {n}; {i}++) pop();"));
        } else {
            (0..n).for_each(|_| self.line("pop();"));
        }
        self.window -= n;
        self.left.0 = 0;
    }

    /// A condition that is the same in all firings.
    fn uniform(&mut self) -> String {
        match self.counters.last().cloned() {
            Some((i, n)) => match self.g.r.below(3) {
                0 => format!("{i} % 2 == {}", self.g.r.below(2)),
                1 => format!("{i} > {}", self.g.r.below(n)),
                _ => format!("{i} == {}", self.g.r.below(n)),
            },
            None => "true".into(),
        }
    }

    /// A condition.
    fn test(&mut self, depth: u32) -> String {
        match self.g.r.below(8) {
            0 if depth > 0 => format!("!({})", self.test(depth - 1)),
            1 | 2 if depth > 0 => {
                let op = *self.g.r.pick(&["&&", "||", "==", "!=", "&", "^"]);
                format!("({}) {op} ({})", self.test(depth - 1), self.test(depth - 1))
            }
            3 => match self.variable(&Ty::Bool) {
                Some(v) => v,
                None => self.uniform(),
            },
            4 => self.uniform(),
            _ => {
                let ty = [Ty::Float, Ty::Int][self.g.r.weighted(&[3, 2])].clone();
                let op = *self.g.r.pick(&["<", "<=", ">", ">=", "==", "!="]);
                let (a, b) = (self.expr(&ty, depth), self.expr(&ty, depth.min(1)));
                format!("{a} {op} {b}")
            }
        }
    }

    /// A value, in parentheses where it is more than one word.
    fn expr(&mut self, ty: &Ty, depth: u32) -> String {
        if depth == 0 || self.g.r.chance(15) {
            return self.leaf(ty);
        }
        let d = depth - 1;
        let pair = |w: &mut Self, ops: &[&str]| {
            let op = *w.g.r.pick(ops);
            format!("({} {op} {})", w.expr(ty, d), w.expr(ty, d))
        };
        match (ty, self.g.r.below(12)) {
            (_, 0) => format!("(({}) ? {} : {})", self.test(d), self.expr(ty, d), self.expr(ty, d)),
            (Ty::Float, 1..=6) => pair(self, &["+", "-", "*", "*", "/"]),
            (Ty::Float, 7 | 8) => match self.g.r.below(8) {
                n @ 0..=5 => {
                    format!("{}({})", ["abs", "sqrt", "floor", "ceil", "rint", "round"][n as usize], self.expr(ty, d))
                }
                _ => format!("{}({}, {})", self.g.r.pick(&["min", "max"]), self.expr(ty, d), self.expr(ty, d)),
            },
            (Ty::Float, 9) => format!("(-{})", self.expr(ty, d)),
            (Ty::Float, 10) => format!("(float)({})", self.expr(&Ty::Int, d)),
            (Ty::Float, _) => format!("({}).{}", self.expr(&Ty::Complex, d), self.g.r.pick(&["real", "imag"])),
            (Ty::Int, 1..=5) => pair(self, &["+", "-", "*", "&", "|", "^", "<<", ">>"]),
            (Ty::Int, 6) => {
                let by = *self.g.r.pick(&["2", "3", "-1", "7", "10", "-2147483648", "16"]);
                format!("({} {} ({by}))", self.expr(ty, d), self.g.r.pick(&["/", "%"]))
            }
            (Ty::Int, 7) => format!("{}({}, {})", self.g.r.pick(&["min", "max"]), self.expr(ty, d), self.expr(ty, d)),
            (Ty::Int, 8) => format!("abs({})", self.expr(ty, d)),
            (Ty::Int, 9) => format!("(int)({})", self.expr(&Ty::Float, d)),
            (Ty::Int, 10) => format!("(int)({})", self.test(d)),
            (Ty::Int, _) => format!("({}{})", self.g.r.pick(&["-", "~"]), self.expr(ty, d)),
            (Ty::Complex, 1..=6) => pair(self, &["+", "-", "*", "*", "/"]),
            (Ty::Complex, 7) => format!("(-{})", self.expr(ty, d)),
            (Ty::Complex, _) => format!("complex({}, {})", self.expr(&Ty::Float, d), self.expr(&Ty::Float, d)),
            (Ty::Bool, 1..=3) => format!("(boolean)({})", self.expr(&Ty::Int, d)),
            (Ty::Bool, _) => format!("({})", self.test(d)),
            (_, 1..=3) => pair(self, &["&", "|", "^"]),
            _ => format!("(bit)({})", self.expr(&Ty::Int, d)),
        }
    }

    fn variable(&mut self, ty: &Ty) -> Option<String> {
        let found: Vec<String> = self.vars.iter().filter(|v| v.1 == *ty).map(|v| v.0.clone()).collect();
        (!found.is_empty()).then(|| self.g.r.pick(&found).clone())
    }

    fn leaf(&mut self, ty: &Ty) -> String {
        if self.g.r.chance(45) && self.window > 0 {
            let item = self.item();
            match (&self.input, ty) {
                (a, b) if a == b => return item,
                (Ty::Int, Ty::Float) => return format!("(float){item}"),
                (Ty::Float, Ty::Int) => return format!("(int){item}"),
                (Ty::Complex, Ty::Float) => return format!("{item}.{}", self.g.r.pick(&["real", "imag"])),
                _ => {}
            }
        }
        let tables: Vec<(String, u32)> =
            self.tables.iter().filter(|t| t.1 == *ty).map(|t| (t.0.clone(), t.2)).collect();
        if !tables.is_empty() && self.g.r.chance(40) {
            let (name, n) = self.g.r.pick(&tables).clone();
            return format!("{name}[{}]", self.index(n));
        }
        if *ty == Ty::Int && !self.counters.is_empty() && self.g.r.chance(30) {
            return self.g.r.pick(&self.counters).0.clone();
        }
        if self.g.r.chance(65)
            && let Some(v) = self.variable(ty)
        {
            return v;
        }
        let r = &mut self.g.r;
        let (a, b) = (r.below(9), r.below(9));
        match ty {
            Ty::Int => format!("({})", int_literal(r)),
            Ty::Float => format!("({})", float_literal(r)),
            Ty::Complex => format!("({a}.5 - {b}i)"),
            Ty::Bool => (*r.pick(&["true", "false"])).into(),
            _ => format!("(bit){}", r.below(2)),
        }
    }

    /// An item of the window, at a fixed place or where the counters say.
    fn item(&mut self) -> String {
        let n = self.window;
        match self.counters.last().cloned() {
            Some((i, k)) if k <= n && self.g.r.chance(75) => {
                let stride = if k > 1 { self.g.r.range(1, ((n - 1) / (k - 1)).max(1)) } else { 1 };
                let first = self.g.r.below(n - (k - 1) * stride);
                match self.g.r.below(3) {
                    0 => format!("peek({i})"),
                    1 => format!("peek({} - {i})", k - 1),
                    _ => format!("peek({i} * {stride} + {first})"),
                }
            }
            _ => format!("peek({})", self.g.r.below(n)),
        }
    }

    /// An index below `n`, the same in all firings.
    fn index(&mut self, n: u32) -> String {
        match self.counters.last().cloned() {
            Some((i, k)) if k <= n && self.g.r.chance(70) => i,
            Some((i, _)) if self.g.r.chance(50) => format!("{i} % {n}"),
            _ => self.g.r.below(n).to_string(),
        }
    }
}
