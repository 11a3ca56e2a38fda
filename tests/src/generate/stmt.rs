//! Statements. What they pop and push is counted, so that a body spends exactly its rates.

use super::body::{Body, Place, Var};
use super::types::{SCALARS, Ty};

impl Body<'_> {
    /// So many statements, and whatever is needed to spend the budget.
    pub fn statements(&mut self, n: u32) {
        for _ in 0..n {
            self.statement();
        }
        while self.pops + self.pushes > 0 {
            self.channel_statement();
        }
    }

    /// One statement.
    pub fn statement(&mut self) {
        let room = self.room();
        if room == 0 {
            return;
        }
        self.count(1);
        let nests = if self.indent < 6 { 3 } else { 0 };
        let loops = if room > 10 { nests * 2 } else { 0 };
        let channels = 4 * u32::from(self.pops + self.pushes > 0);
        let prints = 4 * u32::from(self.prints);
        let jumps = 2 * u32::from(self.breakable || self.continuable);
        let weights = [
            6,
            3,
            9,
            5,
            2,
            1 + nests * 2,
            loops,
            loops / 3,
            loops / 3,
            nests,
            2,
            prints,
            channels,
            jumps,
            nests / 3,
            2,
            self.send_weight(),
        ];
        match self.g.r.weighted(&weights) {
            0 => self.declare_scalar(),
            1 => {
                let t = self.g.any_type(12);
                self.declare(&t);
            }
            2 => self.assign(),
            3 => self.update(),
            4 => self.step(),
            5 => self.branch(),
            6 => self.for_loop(),
            7 => self.while_loop(false),
            8 => self.while_loop(true),
            9 => self.switch(),
            10 => self.call_statement(),
            11 => self.print(),
            12 => self.channel_statement(),
            13 => self.jump(),
            14 => self.nested_block(),
            15 => self.short(),
            _ => self.send(),
        }
    }

    fn nested_block(&mut self) {
        self.braces("", |b| b.statements(2));
    }

    /// Forms without braces, and several declarations in one statement.
    fn short(&mut self) {
        match self.g.r.below(5) {
            0 => {
                let ty = SCALARS[self.g.r.index(5)].clone();
                let (a, b) = (self.g.name("v"), self.g.name("v"));
                let first = self.expr_to(&ty, 2);
                self.vars.push(Var::new(a.clone(), ty.clone()));
                let second = self.expr_to(&ty, 2);
                self.line(&format!("{} {a} = {first}, {b} = {second};", self.g.show(&ty)));
                self.vars.push(Var::new(b, ty));
            }
            1 => self.line(";"),
            2 => {
                // an `else` belongs to the nearest `if`
                let (c, d) = (self.maybe(|b| b.test(2)), self.maybe(|b| b.test(2)));
                self.line(&format!("if ({c})"));
                self.indented(&format!("if ({d})"), 1);
                self.bare(2);
                self.indented("else", 1);
                self.bare(2);
            }
            3 => {
                let c = self.maybe(|b| b.test(2));
                self.line(&format!("if ({c})"));
                self.bare(1);
                if self.g.r.chance(50) {
                    self.line("else");
                    self.bare(1);
                }
            }
            _ => {
                let (i, turns) = (self.g.name("i"), self.g.r.range(1, self.room().clamp(2, 8) / 2));
                self.line(&format!("for (int {i} = 0; {i} < {turns}; {i}++)"));
                let (mark, times) = (self.vars.len(), self.times);
                self.vars.push(Var { range: Some((0, turns as i32)), ..Var::constant(i, Ty::Int) });
                self.times *= turns;
                self.count(1);
                self.bare(1);
                self.times = times;
                self.vars.truncate(mark);
            }
        }
    }

    fn indented(&mut self, text: &str, by: usize) {
        self.indent += by;
        self.line(text);
        self.indent -= by;
    }

    /// An assignment alone, as the body of something.
    fn bare(&mut self, by: usize) {
        let text = self.maybe(|b| {
            let ty = b.assignable()?;
            let place = b.place_of(&ty)?;
            let value = b.expr_to(&ty, 3);
            Some(format!("{place} = {value};"))
        });
        self.indented(&text.unwrap_or(";".into()), by);
    }

    /// Declares a scalar, most often with a value.
    fn declare_scalar(&mut self) {
        let ty = SCALARS[self.g.r.weighted(&[30, 20, 5, 7, 8, 7, 3, 3, 3])].clone();
        self.declare(&ty);
    }

    /// Declares a variable; gives its name.
    pub fn declare(&mut self, ty: &Ty) -> String {
        let shown = self.show(ty);
        let mut name = self.g.name("v");
        // now and then a name hides one of an outer block
        if self.hides && self.g.r.chance(6) {
            let outer: Vec<&Var> =
                self.vars[..self.scope].iter().filter(|v| v.writable && v.name.starts_with('v')).collect();
            let inner = &self.vars[self.scope..];
            if let Some(v) = outer.last().filter(|v| inner.iter().all(|w| w.name != v.name)) {
                name = v.name.clone();
            }
        }
        let value = match ty {
            Ty::Array(e, n) if !e.is_aggregate() && self.g.r.chance(40) => {
                let count = if self.g.r.chance(80) { *n } else { self.g.r.below(*n + 1).max(1) };
                let items: Vec<String> = (0..count).map(|_| self.expr_to(e, 1)).collect();
                Some(format!("{{{}}}", items.join(", ")))
            }
            Ty::Array(..) | Ty::Struct(_) => (self.has(ty) && self.g.r.chance(50)).then(|| self.expr(ty, 1).text()),
            _ => self.g.r.chance(85).then(|| self.expr_to(ty, 3)),
        };
        match value {
            Some(v) => self.line(&format!("{shown} {name} = {v};")),
            None => self.line(&format!("{shown} {name};")),
        }
        self.vars.push(Var::new(name.clone(), ty.clone()));
        name
    }

    /// Declares a variable of this type unless there is one to read.
    pub fn ensure(&mut self, ty: &Ty) {
        if ty.is_aggregate() && !self.has(ty) {
            self.declare(ty);
        }
    }

    /// A type of which something can be assigned.
    fn assignable(&mut self) -> Option<Ty> {
        let found: Vec<Ty> = self.visible().filter(|v| v.writable).map(|v| v.ty.clone()).collect();
        if found.is_empty() {
            return None;
        }
        let mut ty = self.g.r.pick(&found).clone();
        // parts of it are assigned more often than the whole
        while self.g.r.chance(75) {
            ty = match ty {
                Ty::Array(e, _) => *e,
                Ty::Struct(s) => {
                    let fields = self.g.structs[s].fields.clone();
                    self.g.r.pick(&fields).clone()
                }
                Ty::Complex | Ty::Vec(_) if self.g.r.chance(40) => Ty::Float,
                _ => break,
            };
        }
        Some(ty)
    }

    /// `x = e;`
    fn assign(&mut self) {
        let Some(ty) = self.assignable() else { return self.declare_scalar() };
        // what is assigned is chosen before anything is popped
        let Some(place) = self.maybe(|b| b.place_of(&ty)) else { return };
        let value = self.expr_to(&ty, 4);
        self.line(&format!("{place} = {value};"));
    }

    /// `x += e;` and the like.
    fn update(&mut self) {
        let ty = [Ty::Int, Ty::Float, Ty::Double, Ty::Complex, Ty::Vec(3), Ty::Bit, Ty::Bool]
            [self.g.r.weighted(&[8, 6, 2, 2, 1, 1, 1])]
        .clone();
        let Some(place) = self.maybe(|b| b.place_of(&ty)) else { return self.assign() };
        let (op, value) = match &ty {
            Ty::Int => match self.g.r.below(6) {
                0 => (*self.g.r.pick(&["<<=", ">>="]), self.expr_to(&ty, 2)),
                1 => (*self.g.r.pick(&["&=", "|=", "^="]), self.expr_to(&ty, 3)),
                2 => (*self.g.r.pick(&["/=", "%="]), (*self.g.r.pick(&["2", "3", "-1", "7", "1000"])).to_string()),
                _ => (*self.g.r.pick(&["+=", "-=", "*="]), self.expr_to(&ty, 3)),
            },
            Ty::Bit | Ty::Bool => (*self.g.r.pick(&["&=", "|=", "^="]), self.expr(&ty, 2).text()),
            _ => (*self.g.r.pick(&["+=", "-=", "*=", "/="]), self.expr_to(&ty, 3)),
        };
        self.line(&format!("{place} {op} {value};"));
    }

    /// `x++;`
    fn step(&mut self) {
        let ty = [Ty::Int, Ty::Float, Ty::Double][self.g.r.weighted(&[6, 2, 1])].clone();
        let Some(place) = self.maybe(|b| b.place_of(&ty)) else { return self.assign() };
        let text = ["++x;", "x++;", "--x;", "x--;"][self.g.r.index(4)].replace('x', &place);
        self.line(&text);
    }

    /// A share of what is left, that can be spent `times` times.
    fn share(&mut self, times: u32) -> (u32, u32) {
        let (p, q) = (self.pops / times, self.pushes / times);
        if self.g.r.chance(35) {
            return (0, 0);
        }
        (self.g.r.below(p + 1), self.g.r.below(q + 1))
    }

    fn branch(&mut self) {
        let (pops, pushes) = self.share(1);
        let cond = self.keeping(pops, pushes, |b| b.test(3));
        let free = pops + pushes == 0;
        let jumps = (self.breakable, self.continuable);
        self.breakable &= free;
        self.continuable &= free;
        let n = self.g.r.range(1, 3);
        let (cost, popped) = (self.cost, self.popped);
        self.braces(&format!("if ({cond}) "), |b| b.with_budget(pops, pushes, |b| b.statements(n)));
        let most = self.cost;
        if !free || self.g.r.chance(50) {
            (self.cost, self.popped) = (cost, popped);
            self.braces("else ", |b| b.with_budget(pops, pushes, |b| b.statements(n)));
            self.cost = self.cost.max(most);
        }
        (self.breakable, self.continuable) = jumps;
        self.spent(pops, pushes);
    }

    /// Takes what a part has spent off the budget.
    fn spent(&mut self, pops: u32, pushes: u32) {
        self.pops -= pops;
        self.pushes -= pushes;
        self.popped += pops;
        self.fires |= pops + pushes > 0;
    }

    /// Makes a part without touching this share of the budget.
    fn keeping<T>(&mut self, pops: u32, pushes: u32, inside: impl FnOnce(&mut Self) -> T) -> T {
        (self.pops, self.pushes) = (self.pops - pops, self.pushes - pushes);
        let result = inside(self);
        (self.pops, self.pushes) = (self.pops + pops, self.pushes + pushes);
        result
    }

    /// The body of a loop with `turns` turns.
    fn turns(&mut self, turns: u32, pops: u32, pushes: u32, inside: impl FnOnce(&mut Self)) {
        let (times, jumps, popped) = (self.times, (self.breakable, self.continuable), self.popped);
        self.times *= turns;
        self.breakable = pops + pushes == 0;
        self.continuable = self.breakable;
        self.popped += turns.saturating_sub(1) * pops;
        self.with_budget(pops, pushes, inside);
        (self.times, self.popped) = (times, popped);
        (self.breakable, self.continuable) = jumps;
        self.spent(turns * pops, turns * pushes);
    }

    fn for_loop(&mut self) {
        let turns = self.g.r.range(1, self.room().clamp(2, 14) / 2);
        let (pops, pushes) = self.share(turns);
        let free = pops + pushes == 0;
        let i = self.g.name("i");
        let last = turns as i32 - 1;
        let n = self.g.r.range(1, 3);
        let (head, range, before) = match self.g.r.below(10) {
            0 => (format!("for (int {i} = {last}; {i} >= 0; {i}--) "), (0, turns as i32), None),
            1 => {
                let step = self.g.r.range(2, 4) as i32;
                let end = turns as i32 * step;
                (format!("for (int {i} = 0; {i} < {end}; {i} += {step}) "), (0, end - step + 1), None)
            }
            2 => (format!("for (int {i} = 1; {i} <= {turns}; {i}++) "), (1, turns as i32 + 1), None),
            3 => (format!("for ({i} = 0; {i} < {turns}; ++{i}) "), (0, turns as i32), Some(format!("int {i};"))),
            4 if free => {
                let e = self.maybe(|b| b.expr(&Ty::Int, 2).text());
                (format!("for (int {i} = 0; {i} < min({e}, {turns}); {i}++) "), (0, turns as i32), None)
            }
            5 if free && turns > 1 => {
                let e = self.maybe(|b| b.expr_to(&Ty::Bool, 2));
                (format!("for (int {i} = 0; {i} < {turns} && ({e}); {i}++) "), (0, turns as i32), None)
            }
            // by doubling and the like: every turn is known
            6 => {
                let by = self.g.r.range(2, 3) as i32;
                let most = by.pow(turns - 1);
                (format!("for (int {i} = 1; {i} <= {most}; {i} *= {by}) "), (1, most + 1), None)
            }
            7 => {
                let most = 1 << (turns - 1);
                (format!("for (int {i} = {most}; {i} > 0; {i} >>= 1) "), (1, most + 1), None)
            }
            _ => (format!("for (int {i} = 0; {i} < {turns}; {i}++) "), (0, turns as i32), None),
        };
        let outside = before.is_some();
        if let Some(text) = before {
            self.line(&text);
        }
        self.turns(turns, pops, pushes, |b| {
            b.braces(&head, |b| {
                b.vars.push(Var { range: Some(range), ..Var::constant(i.clone(), Ty::Int) });
                b.statements(n);
            });
        });
        if outside {
            self.vars.push(Var::new(i, Ty::Int));
        }
    }

    /// `while` or `do`: the counter moves first, so that `continue` may stand anywhere.
    fn while_loop(&mut self, at_end: bool) {
        let turns = self.g.r.range(1, self.room().clamp(2, 10) / 2);
        let (pops, pushes) = self.share(turns);
        let c = self.g.name("c");
        self.line(&format!("int {c} = {turns};"));
        let n = self.g.r.range(1, 3);
        let endless = !at_end && self.g.r.chance(20);
        let head = match (at_end, endless) {
            (true, _) => "do ".to_string(),
            (_, true) => (*self.g.r.pick(&["for (;;) ", "while (true) "])).to_string(),
            _ => format!("while ({c} > 0) "),
        };
        self.turns(turns, pops, pushes, |b| {
            b.braces(&head, |b| {
                if endless {
                    b.line(&format!("if ({c} == 0) break;"));
                }
                b.line(&format!("{c}--;"));
                b.vars.push(Var { range: Some((0, turns as i32)), ..Var::constant(c.clone(), Ty::Int) });
                b.statements(n);
            });
        });
        if at_end {
            let end = self.out.trim_end().len();
            self.out.truncate(end);
            self.out.push_str(&format!(" while ({c} > 0);\n"));
        }
    }

    fn switch(&mut self) {
        let (pops, pushes) = self.share(1);
        let value = self.keeping(pops, pushes, |b| {
            let e = b.expr(&Ty::Int, 2).text();
            if b.g.r.chance(70) { format!("({e}) & 3") } else { e }
        });
        let free = pops + pushes == 0;
        let jumps = (self.breakable, self.continuable);
        // `break` would leave the switch
        self.breakable = false;
        self.continuable &= free;
        let cases = self.g.r.range(1, 4);
        let mut labels: Vec<Option<u32>> = (0..cases).map(Some).collect();
        if !free || self.g.r.chance(60) {
            let at = if self.g.r.chance(70) { labels.len() } else { self.g.r.index(labels.len()) };
            labels.insert(at, None);
        }
        let (cost, popped, mut most) = (self.cost, self.popped, self.cost);
        // the cases share one scope
        let hides = std::mem::replace(&mut self.hides, false);
        self.braces(&format!("switch ({value}) "), |b| {
            for (n, label) in labels.iter().enumerate() {
                (b.cost, b.popped) = (cost, popped);
                match label {
                    None => b.line("default:"),
                    Some(k) => b.line(&format!("case {k}:")),
                }
                if b.g.r.chance(12) {
                    b.line(&format!("case {}:", n + 10));
                }
                let mark = b.vars.len();
                b.indent += 1;
                b.with_budget(pops, pushes, |b| b.statements(1));
                let last = n + 1 == labels.len();
                if !(free && b.g.r.chance(15) || last && b.g.r.chance(50)) {
                    b.line("break;");
                }
                b.indent -= 1;
                // a variable of one case is not set in the next
                b.vars.truncate(mark);
                most = most.max(b.cost);
            }
        });
        self.hides = hides;
        self.cost = most;
        (self.breakable, self.continuable) = jumps;
        self.spent(pops, pushes);
    }

    fn call_statement(&mut self) {
        match self.call(|_| true, 2) {
            Some(call) => self.line(&format!("{call};")),
            None => self.assign(),
        }
    }

    fn jump(&mut self) {
        let cond = self.maybe(|b| b.test(2));
        let word = match (self.breakable, self.continuable) {
            (true, true) => *self.g.r.pick(&["break", "continue"]),
            (true, false) => "break",
            _ => "continue",
        };
        self.line(&format!("if ({cond}) {word};"));
    }

    /// Prints a value, or text joined with values.
    pub fn print(&mut self) {
        const TEXTS: [&str; 7] =
            ["\"x=\"", "\" %d%s \"", "\"\\t|\\\"\\\\\"", "\",\"", "\"\"", "\"\\101\\x42\"", "\"\u{e9}\""];
        let line = if self.g.r.chance(75) { "println" } else { "print" };
        let ty = SCALARS[self.g.r.weighted(&[30, 20, 4, 8, 10, 6, 3, 2, 2])].clone();
        let text = match self.g.r.below(6) {
            0 => (*self.g.r.pick(&TEXTS)).to_string(),
            1 | 2 => {
                let first = *self.g.r.pick(&TEXTS);
                let e = self.expr(&ty, 2).tight();
                format!("{first} + {e} + {}", self.g.r.pick(&TEXTS))
            }
            3 => {
                let e = self.expr(&ty, 2).tight();
                let more = self.expr(&Ty::Int, 1).tight();
                format!("{e} + {} + {more}", self.g.r.pick(&TEXTS))
            }
            _ => self.expr(&ty, 3).text(),
        };
        self.line(&format!("{line}({text});"));
        self.fires = true;
    }

    /// Pushes or pops.
    fn channel_statement(&mut self) {
        self.count(1);
        self.fires = true;
        let push = self.pushes > 0 && (self.pops == 0 || self.g.r.chance(60));
        let loops = self.room() > 6 && self.indent < 5;
        if push {
            if self.pushes > 2 && loops && self.g.r.chance(30) {
                let n = self.pushes;
                let each = self.pops / n;
                let i = self.g.name("i");
                self.turns(n, each, 1, |b| {
                    b.braces(&format!("for (int {i} = 0; {i} < {n}; {i}++) "), |b| {
                        b.vars.push(Var { range: Some((0, n as i32)), ..Var::constant(i.clone(), Ty::Int) });
                        b.push();
                        b.statements(0);
                    });
                });
                return;
            }
            self.push();
        } else if self.pops > 2 && loops && self.g.r.chance(40) {
            let n = self.pops;
            let i = self.g.name("i");
            self.line(&format!("for (int {i} = 0; {i} < {n}; {i}++) pop();"));
            self.spent(n, 0);
        } else {
            self.line("pop();");
            self.spent(1, 0);
        }
    }

    fn push(&mut self) {
        let ty = self.output.clone();
        // what is declared may call a function that pushes
        self.pushes -= 1;
        self.ensure(&ty);
        let value = self.expr_to(&ty, 4);
        self.line(&format!("push({value});"));
    }

    /// `return` in the middle of a function that has nothing left to pop or push.
    pub fn early_return(&mut self) {
        if self.pops + self.pushes > 0 || self.place == Place::Init {
            return;
        }
        let cond = self.test(2);
        match self.ret.clone() {
            None => self.line(&format!("if ({cond}) return;")),
            Some(ty) => {
                let value = self.expr_to(&ty, 2);
                self.line(&format!("if ({cond}) return {value};"));
            }
        }
    }
}
