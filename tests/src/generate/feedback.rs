//! Feedback loops that balance and have enough to start with.

use super::body::{Body, Gen, Place, Var};
use super::filter::Rates;
use super::stream::{Sig, Wanted, gcd};
use super::types::Ty;

impl Gen {
    /// A feedback loop: its body, and what it takes and gives. Either end may be closed.
    pub fn feedbackloop(&mut self, w: &Wanted) -> (&'static str, String, Sig) {
        // joiner: a from outside, b from the loop; body: so many in, so many out; splitter: c out, d back
        let (mut a, b) = (u64::from(self.r.range(1, 3)), u64::from(self.r.range(1, 3)));
        let (source, sink) = (w.input == Ty::Void, w.output == Ty::Void);
        if w.input != w.output && !source && !sink || source && sink {
            // inside and out are of one type
            return self.pipeline(&Wanted { depth: 0, ..w.clone() });
        }
        let items = if source { w.output.clone() } else { w.input.clone() };
        let duplicate = !sink && self.r.chance(35);
        let around = Wanted {
            input: items.clone(),
            output: items.clone(),
            prework: false,
            depth: w.depth.min(1),
            cost: w.cost / 2,
            ..w.clone()
        };
        let k = 1 + u32::from(self.r.chance(30));
        let ahead = self.lookahead();
        if source {
            a = 0;
            self.endless = true;
            self.still += 1;
        }
        self.keep += 1;
        let (body, c, d);
        if duplicate || sink {
            // all that the body gives comes back: it takes a + b and gives b
            let rates = Rates { pop: (a + b) as u32 * k, peek: (a + b) as u32 * k + ahead, push: b as u32 * k };
            body = self.filter_of(&around, rates, false);
            (c, d) = if sink { (0, u64::from(self.r.range(1, 3))) } else { (1, 1) };
        } else if source {
            // what the body gives beyond what it takes goes out
            let (take, more) = (self.r.range(1, 3), self.r.range(1, 3));
            let rates = Rates { pop: take * k, peek: take * k + ahead, push: (take + more) * k };
            body = self.filter_of(&around, rates, false);
            (c, d) = (u64::from(more), u64::from(take));
        } else {
            // the body gives as many items as it takes, and they are dealt as they came
            body = self.balanced(&around);
            let m = u64::from(self.r.range(1, 2));
            let g = gcd(a, b);
            (c, d) = (a / g * m, b / g * m);
        }
        let back = if self.r.chance(40) { None } else { Some(self.balanced(&around)) };
        self.keep -= 1;
        self.still -= u32::from(source);
        // one round of the loop, in firings of the joiner
        let mut rounds = body.pop / gcd(body.pop, a + b);
        let given = |rounds: u64| rounds * (a + b) / body.pop * body.push;
        let unit = if duplicate { 1 } else { c + d };
        rounds *= unit / gcd(unit, given(rounds));
        if let Some(l) = &back {
            rounds *= l.pop / gcd(l.pop, b * rounds);
        }
        let simple = body.ahead == 0
            && body.pop == 1
            && c + d == a + b
            && !duplicate
            && back.as_ref().is_none_or(|l| l.ahead == 0 && l.pop == 1);
        let late = body.ahead.div_ceil(a + b);
        let behind = back.as_ref().map_or(0, |l| l.ahead.div_ceil(b * rounds));
        let enqueued = if simple { b } else { b * (rounds * (2 + behind) + late) };
        let step = "    ".repeat(w.indent);
        let split = if duplicate { "duplicate".to_string() } else { self.roundrobin(w, &[c, d]) };
        let mut text = format!("{step}join {};\n", self.roundrobin(w, &[a, b]));
        text += &self.add("body", &body.text, w.indent);
        if let Some(l) = &back {
            text += &self.add("loop", &l.text, w.indent);
        }
        text += &format!("{step}split {split};\n");
        text += &self.enqueues(&items, enqueued, w.indent);
        let cost = rounds * (a + b) / body.pop * body.cost
            + back.as_ref().map_or(0, |l| b * rounds / l.pop * l.cost)
            + 3 * rounds;
        let sig = Sig {
            text: String::new(),
            input: w.input.clone(),
            output: w.output.clone(),
            pop: a * rounds,
            push: if duplicate { given(rounds) } else { c * (given(rounds) / (c + d)) },
            ahead: a * (late + rounds),
            cost,
        };
        ("feedbackloop", text, sig)
    }

    fn lookahead(&mut self) -> u32 {
        if self.r.chance(25) { self.r.range(1, 3) } else { 0 }
    }

    /// A stream that gives as many items as it takes.
    fn balanced(&mut self, w: &Wanted) -> Sig {
        if w.depth > 0 && self.r.chance(30) {
            let before = self.mark();
            let s = self.stream(&Wanted { depth: w.depth - 1, ..w.clone() });
            if s.pop == s.push && s.pop <= 12 {
                return s;
            }
            self.forget(before);
        }
        let k = self.r.range(1, 3);
        let rates = Rates { pop: k, peek: k + self.lookahead(), push: k };
        self.filter_of(w, rates, false)
    }

    /// Initial items.
    fn enqueues(&mut self, ty: &Ty, n: u64, indent: usize) -> String {
        let step = "    ".repeat(indent);
        let shown = self.show(ty);
        let mut text = String::new();
        let mut left = n;
        if ty.is_aggregate() {
            let name = self.name("e");
            text += &format!("{step}{shown} {name};\n");
            let i = self.name("i");
            return text + &format!("{step}for (int {i} = 0; {i} < {n}; {i}++) enqueue {name};\n");
        }
        if left > 4 || self.r.chance(20) {
            let i = self.name("i");
            let mut b = Body::new(self, Place::Composite, vec![Var::constant(i.clone(), Ty::Int)]);
            let e = b.expr_to(ty, 1);
            text += &format!("{step}for (int {i} = 0; {i} < {left}; {i}++) enqueue({e});\n");
            left = 0;
        }
        for _ in 0..left {
            let mut b = Body::new(self, Place::Composite, Vec::new());
            let e = b.expr_to(ty, 0);
            text += &if self.r.chance(50) { format!("{step}enqueue {e};\n") } else { format!("{step}enqueue({e});\n") };
        }
        text
    }
}
