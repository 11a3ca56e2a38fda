//! Firings that decide how many items they take and give, and ranges for their rates that hold.
//!
//! A firing that gives anything takes something, or counts down: so no filter runs for ever on what it has. Within a loop every firing gives
//! for what it takes as many items as the static rates would: so loops neither run dry at once nor fill up.

use super::body::{Body, Place, Var};
use super::expr::BITS;
use super::filter::{Filter, Rates};
use super::stream::gcd;
use super::types::Ty;

/// `work` and `prework` of a filter that decides.
pub struct Works {
    /// Fields they need.
    pub fields: String,
    /// Their texts, and those of functions.
    pub parts: Vec<String>,
    /// Statements of a firing, about.
    pub cost: u32,
    /// Items looked at in a firing, about.
    pub look: u32,
}

/// A firing under construction.
struct Firing<'g> {
    b: Body<'g>,
    /// Does it print what it takes?
    sink: bool,
    /// Items popped and pushed: the least and the most so far.
    pop: (u32, u32),
    push: (u32, u32),
    /// Items looked at, at most.
    look: u32,
    /// Has that no bound? And what is pushed?
    open: bool,
    open_push: bool,
    /// The least popped and pushed where it may end early.
    ends: Vec<(u32, u32)>,
    /// A function that calls itself, and what each of its turns (at most so many) moves.
    recursion: Option<(String, u32, u32, u32)>,
}

impl Filter<'_> {
    /// The firings of a filter that decides on its rates.
    pub fn deciding(&mut self, rates: Rates, prework: bool) -> Works {
        let mut works = Works { fields: String::new(), parts: Vec::new(), cost: 0, look: 0 };
        let prework = u32::from(prework);
        let (first, all) = match self.g.r.weighted(&[80, 8 * prework, 6 * prework, 6 * prework]) {
            0 => (None, true),
            1 => (Some(false), true),
            2 => (Some(true), true),
            _ => (Some(true), false),
        };
        if let Some(decides) = first {
            let first = self.first_rates(rates);
            self.one("prework", first, decides, &mut works);
        }
        self.one("work", rates, all, &mut works);
        works
    }

    fn one(&mut self, keyword: &str, rates: Rates, decides: bool, works: &mut Works) {
        if decides {
            return self.firing(keyword, rates, works);
        }
        let (text, cost) = self.work(keyword, rates);
        works.parts.push(text);
        works.cost = works.cost.max(cost);
        works.look = works.look.max(rates.peek);
    }

    fn firing(&mut self, keyword: &str, rates: Rates, works: &mut Works) {
        let (input, output) = (self.input.clone(), self.output.clone());
        let keep = self.g.keep > 0;
        let recursion = (!keep && input != Ty::Void && self.g.r.chance(12)).then(|| self.recursion(works));
        let hazard = self.g.hazards > 0 && self.g.replicated == 0 && self.g.r.chance(25);
        self.g.hazards -= u32::from(hazard);
        let break_range = hazard && self.g.r.chance(60);
        let sink = output == Ty::Void;
        let step = "    ".repeat(self.indent);
        let mut b = self.body(Place::Work);
        b.most = 30 + b.g.r.below(90);
        (b.input, b.output) = (input.clone(), output.clone());
        b.prints = sink || b.g.prints && b.g.r.chance(50);
        b.hazard = hazard && !break_range;
        b.scope = b.vars.len();
        b.ensure(&output);
        let none = (0, 0);
        let mut f = Firing {
            b,
            sink,
            pop: none,
            push: none,
            look: 0,
            open: false,
            open_push: false,
            ends: Vec::new(),
            recursion,
        };
        if keep {
            f.keeping(rates);
        } else if input != Ty::Void && keyword == "work" && !sink && f.b.g.r.chance(15) {
            works.fields += &f.upsampler(&step);
        } else {
            f.any(rates);
        }
        for (pop, push) in &f.ends {
            f.pop.0 = f.pop.0.min(*pop);
            f.push.0 = f.push.0.min(*push);
        }
        let Firing { b, pop, push, look, open, open_push, .. } = f;
        let (body, cost) = (b.out, b.cost);
        let pops = Spread { range: pop, open, void: input == Ty::Void };
        let pushes = Spread { range: push, open: open_push, void: output == Ty::Void };
        let head = self.head(pops, pushes, look.max(pop.1), break_range);
        works.parts.push(format!("{step}{keyword} {head}{{\n{body}{step}}}\n"));
        works.cost = works.cost.max(cost);
        works.look = works.look.max(look + 4 * u32::from(open));
    }

    /// A function that calls itself, popping and pushing.
    fn recursion(&mut self, works: &mut Works) -> (String, u32, u32, u32) {
        let name = self.g.name("f");
        let (pops, pushes) = (self.g.r.range(1, 2), if self.output == Ty::Void { 0 } else { self.g.r.below(2) });
        let (input, output, sink) = (self.input.clone(), self.output.clone(), self.output == Ty::Void);
        let twice = self.g.r.chance(30);
        let mut b = self.body(Place::Work);
        b.indent -= 1;
        b.most = 15;
        (b.input, b.output) = (input, output.clone());
        b.prints = sink;
        b.vars.push(Var { range: Some((1, 4)), ..Var::constant("d", Ty::Int) });
        b.braces(&format!("void {name}(int d) "), |b| {
            b.ensure(&output);
            b.line("if (d <= 0) return;");
            let before = b.g.r.chance(50);
            if before {
                b.line(&format!("{name}(d - 1);"));
            }
            // what it may look at depends on what was popped before: only what it pops itself
            b.peek = pops;
            part(b, sink, pops, pushes);
            if !before || twice {
                b.line(&format!("{name}(d - {});", if before || !twice { 1 } else { 2 }));
            }
            if twice && !before {
                b.line(&format!("{name}(d - 1);"));
            }
        });
        works.parts.push(b.out);
        // T(d) = 1 + T(d - 1), or 1 + 2 T(d - 1) at most, for d = 3
        (name, pops, pushes, if twice { 7 } else { 3 })
    }
}

/// Statements that pop and push so many items.
fn part(b: &mut Body<'_>, sink: bool, pops: u32, pushes: u32) {
    let n = b.g.r.weighted(&[30, 40, 20, 10]) as u32;
    b.with_budget(pops, pushes, |b| if sink { b.statements_before_last(n) } else { b.statements(n) });
    b.popped += pops;
}

impl Firing<'_> {
    /// Lets the next statements look at some items more.
    fn window(&mut self, pops: u32) {
        let more = if self.b.input == Ty::Void { 0 } else { self.b.g.r.weighted(&[60, 20, 12, 8]) as u32 };
        self.b.peek = self.b.popped + pops + more;
        self.look = self.look.max(self.b.peek);
    }

    /// How many items a part moves.
    fn few(&mut self) -> (u32, u32) {
        let pops = if self.b.input == Ty::Void { 0 } else { self.b.g.r.weighted(&[30, 55, 15]) as u32 };
        let pushes = if self.sink { 0 } else { self.b.g.r.weighted(&[40, 45, 15]) as u32 };
        (pops, pushes)
    }

    /// A part that is always reached.
    fn plain(&mut self, pops: u32, pushes: u32) {
        self.window(pops);
        part(&mut self.b, self.sink, pops, pushes);
        self.moved((pops, pops), (pushes, pushes));
    }

    fn moved(&mut self, pop: (u32, u32), push: (u32, u32)) {
        self.pop = (self.pop.0 + pop.0, self.pop.1 + pop.1);
        self.push = (self.push.0 + push.0, self.push.1 + push.1);
    }

    /// A part in braces, up to `turns` times, after which at least `least` turns were taken.
    fn turns(&mut self, head: &str, first: &str, counter: Option<Var>, turns: (u32, u32), pops: u32, pushes: u32) {
        let (times, jumps, popped) = (self.b.times, (self.b.breakable, self.b.continuable), self.b.popped);
        self.window(turns.1 * pops);
        self.b.times *= turns.1;
        self.b.popped += turns.1.saturating_sub(1) * pops;
        (self.b.breakable, self.b.continuable) = (false, false);
        let sink = self.sink;
        self.b.braces(head, |b| {
            if !first.is_empty() {
                b.line(first);
            }
            b.vars.extend(counter);
            part(b, sink, pops, pushes);
        });
        (self.b.times, self.b.popped) = (times, popped + turns.1 * pops);
        (self.b.breakable, self.b.continuable) = jumps;
        self.moved((turns.0 * pops, turns.1 * pops), (turns.0 * pushes, turns.1 * pushes));
    }

    fn test(&mut self) -> String {
        self.window(0);
        self.b.maybe(|b| b.test(2))
    }

    fn int(&mut self) -> String {
        self.window(0);
        self.b.maybe(|b| b.expr(&Ty::Int, 2).at(BITS))
    }

    /// Either of two parts.
    fn either(&mut self, one: (u32, u32), other: Option<(u32, u32)>) {
        let cond = self.test();
        let (popped, sink) = (self.b.popped, self.sink);
        let mut most = popped;
        for (i, (pops, pushes)) in [Some(one), other].into_iter().flatten().enumerate() {
            self.b.popped = popped;
            self.window(pops);
            let head = if i == 0 { format!("if ({cond}) ") } else { "else ".into() };
            self.b.braces(&head, |b| part(b, sink, pops, pushes));
            most = most.max(popped + pops);
        }
        self.b.popped = most;
        let other = other.unwrap_or((0, 0));
        self.moved((one.0.min(other.0), one.0.max(other.0)), (one.1.min(other.1), one.1.max(other.1)));
    }

    /// Parts of a `switch`.
    fn switch(&mut self) {
        let value = self.int();
        let (popped, sink) = (self.b.popped, self.sink);
        let parts: Vec<(u32, u32)> = (0..self.b.g.r.range(2, 4)).map(|_| self.few()).collect();
        let whole = parts.len() == 4 || self.b.g.r.chance(50);
        let hides = std::mem::replace(&mut self.b.hides, false);
        self.b.line(&format!("switch ({value} & 3) {{"));
        for (i, (pops, pushes)) in parts.iter().enumerate() {
            let last = i + 1 == parts.len();
            self.b.line(&if last && whole { "default:".into() } else { format!("case {i}:") });
            self.b.popped = popped;
            self.window(*pops);
            let mark = self.b.vars.len();
            self.b.indent += 1;
            part(&mut self.b, sink, *pops, *pushes);
            self.b.line("break;");
            self.b.indent -= 1;
            self.b.vars.truncate(mark);
        }
        self.b.line("}");
        self.b.hides = hides;
        let range = |n: fn(&(u32, u32)) -> u32| {
            let least = if whole { parts.iter().map(n).min().unwrap_or(0) } else { 0 };
            (least, parts.iter().map(n).max().unwrap_or(0))
        };
        let (pop, push) = (range(|p| p.0), range(|p| p.1));
        self.b.popped = popped + pop.1;
        self.moved(pop, push);
    }

    /// A loop with a number of turns from the stream, or computed.
    fn counted(&mut self) {
        let c = self.b.g.name("c");
        let mask = if self.b.g.r.chance(20) { 7 } else { 3 };
        if self.b.input == Ty::Int && self.b.g.r.chance(60) {
            self.window(1);
            self.b.line(&format!("int {c} = pop() & {mask};"));
            self.b.popped += 1;
            self.moved((1, 1), (0, 0));
        } else {
            let value = self.int();
            self.b.line(&format!("int {c} = {value} & {mask};"));
        }
        let pops = if self.b.input == Ty::Void { 0 } else { u32::from(self.b.g.r.chance(50)) };
        let pushes = if self.sink { 0 } else { u32::from(self.b.g.r.chance(60)) };
        if self.b.g.r.chance(50) {
            let counter = Var { range: Some((0, mask)), ..Var::constant(c.clone(), Ty::Int) };
            let (head, first) = (format!("while ({c} > 0) "), format!("{c}--;"));
            self.turns(&head, &first, Some(counter), (0, mask as u32), pops, pushes);
        } else {
            let i = self.b.g.name("i");
            let counter = Var { range: Some((0, mask)), ..Var::constant(i.clone(), Ty::Int) };
            let head = format!("for (int {i} = 0; {i} < {c}; {i}++) ");
            self.turns(&head, "", Some(counter), (0, mask as u32), pops, pushes);
        }
    }

    /// A loop that goes on while something holds.
    fn while_true(&mut self) {
        let (c, most) = (self.b.g.name("c"), self.b.g.r.range(1, 5));
        self.b.line(&format!("int {c} = {most};"));
        let (pops, pushes) = self.few();
        // what the condition looks at comes after all that was popped
        let popped = self.b.popped;
        self.b.popped += most * pops;
        let cond = self.test();
        self.b.popped = popped;
        let head = format!("while ({c} > 0 && ({cond})) ");
        let counter = Var { range: Some((0, most as i32)), ..Var::constant(c.clone(), Ty::Int) };
        self.turns(&head, &format!("{c}--;"), Some(counter), (0, most), pops, pushes);
    }

    /// Items as long as they are equal.
    fn run(&mut self) {
        let item = self.b.input.clone();
        if !matches!(item, Ty::Int | Ty::Float | Ty::Double | Ty::Bit | Ty::Bool | Ty::Complex) {
            return self.counted();
        }
        let (v, n) = (self.b.g.name("v"), self.b.g.name("c"));
        let bound = self.b.g.r.chance(75).then(|| self.b.g.r.range(1, 6));
        let shown = self.b.g.show(&item);
        self.b.line(&format!("{shown} {v} = pop();"));
        self.b.line(&format!("int {n} = 1;"));
        let bounded = bound.map_or(String::new(), |m| format!("{n} <= {m} && "));
        self.b.braces(&format!("while ({bounded}peek(0) == {v}) "), |b| {
            b.line("pop();");
            b.line(&format!("{n}++;"));
        });
        self.count_popped(bound.map(|m| m + 1), 1);
        self.b.vars.push(Var::new(v, item));
        self.b.vars.push(Var::constant(n, Ty::Int));
    }

    /// So many items were popped at most, at least `least`, one more was looked at.
    fn count_popped(&mut self, most: Option<u32>, least: u32) {
        self.open |= most.is_none();
        let most = most.unwrap_or(least + 5);
        self.b.popped += most;
        self.b.count(most * 3);
        self.look = self.look.max(self.b.popped + 1);
        self.moved((least, most), (0, 0));
    }

    /// Looks ahead until an item with some property comes, and takes those before it.
    fn until(&mut self) {
        let (i, k) = (self.b.g.name("i"), self.b.g.r.range(1, 4));
        let test = match self.b.input {
            Ty::Int => format!("peek({i}) % {} != 0", k + 1),
            Ty::Float | Ty::Double => format!("peek({i}) < {k}.5"),
            Ty::Bit => format!("peek({i}) == 0"),
            Ty::Bool => format!("!peek({i})"),
            _ => return self.counted(),
        };
        let bound = self.b.g.r.chance(75).then_some(k + 2);
        let bounded = bound.map_or(String::new(), |m| format!("{i} < {m} && "));
        self.b.line(&format!("int {i} = 0;"));
        self.b.line(&format!("while ({bounded}{test}) {i}++;"));
        self.b.vars.push(Var::constant(i.clone(), Ty::Int));
        let pushes = if self.sink { 0 } else { u32::from(self.b.g.r.chance(50)) };
        let j = self.b.g.name("i");
        let most = bound.unwrap_or(6);
        let popped = self.b.popped;
        self.look = self.look.max(popped + most + 1);
        self.turns(&format!("for (int {j} = 0; {j} < {i}; {j}++) "), "", None, (0, most), 1, pushes);
        self.open |= bound.is_none();
        self.open_push |= bound.is_none() && pushes > 0;
    }

    fn call(&mut self) {
        let Some((name, pops, pushes, turns)) = self.recursion.take() else { return self.counted() };
        let depth = self.int();
        self.b.line(&format!("{name}({depth} & 3);"));
        self.b.popped += turns * pops;
        self.b.count(turns * 10);
        self.look = self.look.max(self.b.popped);
        self.moved((0, turns * pops), (0, turns * pushes));
    }

    fn end(&mut self) {
        let cond = self.test();
        // a filter that always ends early would leave nothing to compare
        let turns = self.b.g.r.range(2, 4);
        let cond = if self.b.g.r.chance(85) { format!("iter() % {turns} == 1 && ({cond})") } else { cond };
        self.b.line(&format!("if ({cond}) return;"));
        self.ends.push((self.pop.0, self.push.0));
    }

    fn segment(&mut self) {
        let takes = u32::from(self.b.input != Ty::Void);
        match self.b.g.r.weighted(&[20, 25, 18, 10, 8, 8 * takes, 8 * takes, 10, 8 * takes]) {
            0 => {
                let (pops, pushes) = self.few();
                self.plain(pops, pushes);
            }
            1 => {
                let (one, other) = (self.few(), self.few());
                let both = self.b.g.r.chance(50);
                self.either(one, both.then_some(other));
            }
            2 => self.counted(),
            3 => self.while_true(),
            4 => self.switch(),
            5 => self.run(),
            6 => self.until(),
            // a firing that gives must have taken
            7 if takes == 0 || self.pop.0 > 0 || self.push.1 == 0 => self.end(),
            _ => self.call(),
        }
    }

    /// A firing of any kind. It may do nothing at all, or takes at least one item.
    fn any(&mut self, rates: Rates) {
        if self.b.input != Ty::Void && self.b.g.r.chance(12) {
            let n = self.b.g.r.range(0, 2);
            self.window(0);
            self.b.maybe(|b| b.statements(n));
            self.end();
        }
        let pops = match rates.pop.min(4) {
            0 => 0,
            most => self.b.g.r.range(1, most),
        };
        let least = u32::from(self.b.g.r.chance(75)).min(rates.push);
        let pushes = if self.sink { 0 } else { self.b.g.r.range(least, rates.push.min(3)) };
        let segments = self.b.g.r.weighted(&[10, 45, 30, 15]) as u32;
        let at = self.b.g.r.below(segments + 1);
        for i in 0..=segments {
            if i == at {
                self.plain(pops, pushes);
            } else {
                self.segment();
            }
        }
    }

    /// Takes items only now and then, and gives at every firing.
    fn upsampler(&mut self, step: &str) -> String {
        let left = self.b.g.name("left");
        let mask = if self.b.g.r.chance(70) { 3 } else { 1 };
        let (pushes, more) = (self.b.g.r.range(0, 2), self.b.g.r.below(2));
        let pops = self.b.g.r.range(1, 2);
        let sink = self.sink;
        self.window(0);
        self.b.braces(&format!("if ({left} > 0) "), |b| {
            b.line(&format!("{left}--;"));
            part(b, sink, 0, pushes);
        });
        self.window(pops);
        let before = self.b.g.r.chance(50);
        self.b.braces("else ", |b| {
            let set = |b: &mut Body<'_>| {
                let amount = b.maybe(|b| b.expr(&Ty::Int, 2).at(BITS));
                b.line(&format!("{left} = {amount} & {mask};"));
            };
            if before {
                set(b);
            }
            part(b, sink, pops, more);
            if !before {
                set(b);
            }
        });
        self.moved((0, pops), (pushes.min(more), pushes.max(more)));
        if self.b.g.r.chance(30) {
            // popped so far is what the second part popped
            self.segment();
        }
        format!("{step}int {left};\n")
    }

    /// A firing that gives for what it takes as its rates say, a varying number of times.
    fn keeping(&mut self, rates: Rates) {
        let by = if self.b.g.r.chance(40) { gcd(rates.pop.into(), rates.push.into()) as u32 } else { 1 };
        let (pops, pushes) = (rates.pop / by.max(1), rates.push / by.max(1));
        match self.b.g.r.below(8) {
            0..=2 => self.plain(pops, pushes),
            3 | 4 => {
                let (c, value) = (self.b.g.name("c"), self.int());
                self.b.line(&format!("int {c} = ({value} & 1) + 1;"));
                self.turns(&format!("for (; {c} > 0; {c}--) "), "", None, (1, 2), pops, pushes);
            }
            5 | 6 => self.either((2 * pops, 2 * pushes), Some((pops, pushes))),
            _ => {
                self.end();
                self.plain(pops, pushes);
            }
        }
    }
}

/// How many items a firing moves.
#[derive(Clone, Copy)]
struct Spread {
    /// The least and the most.
    range: (u32, u32),
    /// Or any number.
    open: bool,
    /// There are none.
    void: bool,
}

/// How a rate was written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    /// It is a number.
    Fixed(u32),
    /// It is dynamic: the most, if there is one.
    Dynamic(Option<u32>),
}

impl Filter<'_> {
    /// Rates that hold; or, when a range is to break, hardly. At least one is dynamic.
    fn head(&mut self, pop: Spread, push: Spread, look: u32, break_range: bool) -> String {
        let mut parts = Vec::new();
        let mut decided = false;
        let broken = self.g.r.chance(50);
        if !push.void {
            let (text, written) = self.spread(push, !pop.void, break_range && broken);
            decided = written != Written::Fixed(push.range.0);
            parts.push(format!("push {text} "));
        }
        if !pop.void {
            let (text, written) = self.spread(pop, decided, break_range && !broken);
            parts.push(format!("pop {text} "));
            let (Written::Fixed(n) | Written::Dynamic(Some(n))) = written else { return self.turned(parts) };
            if look > n {
                let least = self.g.r.below(look + 1);
                let range = Spread { range: (least, look), ..pop };
                // a peek that is constant does not make the firing decide
                parts.push(match decided && self.g.r.chance(30) {
                    true => format!("peek {} ", self.rate(look)),
                    false => format!("peek {} ", self.spread(range, false, false).0),
                });
            } else if self.g.r.chance(10) {
                parts.push("peek * ".into());
            }
        }
        self.turned(parts)
    }

    /// In any order.
    fn turned(&mut self, mut parts: Vec<String>) -> String {
        let turn = self.g.r.index(parts.len().max(1)).min(parts.len());
        parts.rotate_left(turn);
        parts.concat()
    }

    /// A rate in words.
    fn spread(&mut self, s: Spread, may_be_fixed: bool, broken: bool) -> (String, Written) {
        let (mut least, mut most) = s.range;
        if may_be_fixed && least == most && least > 0 && !s.open && self.g.r.chance(60) {
            return (self.rate(least), Written::Fixed(least));
        }
        if broken && least < most {
            if self.g.r.chance(50) { least += 1 } else { most -= 1 }
        } else {
            if self.g.r.chance(30) {
                least -= self.g.r.below(least + 1);
            }
            if self.g.r.chance(30) {
                most += self.g.r.range(1, 3);
            }
        }
        let star = |f: &mut Self, often: u32, n: u32| if f.g.r.chance(often) { "*".into() } else { f.rate(n) };
        if s.open || !broken && self.g.r.chance(30) {
            let text = match self.g.r.below(3) {
                0 => format!("[{}, *]", star(self, 30, least)),
                _ => "*".into(),
            };
            return (text, Written::Dynamic(None));
        }
        let (low, high) = (star(self, 10, least), self.rate(most));
        let text = if self.g.r.chance(25) {
            let average = star(self, 30, (least + most) / 2);
            format!("[{low}, {average}, {high}]")
        } else {
            format!("[{low}, {high}]")
        };
        (text, Written::Dynamic(Some(most)))
    }
}
