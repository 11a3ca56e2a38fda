//! Splitjoins and feedback loops: weights that balance.

use super::body::{Body, Gen, Place, Var};
use super::filter::Rates;
use super::stream::{Sig, Wanted, gcd, lcm};
use super::types::Ty;

/// A branch of a splitjoin.
struct Branch {
    sig: Sig,
    /// Items it takes in a round of the splitjoin, and gives.
    takes: u64,
    gives: u64,
}

impl Gen {
    /// A splitjoin: its body, and what it takes and gives.
    pub fn splitjoin(&mut self, w: &Wanted) -> (&'static str, String, Sig) {
        let n = self.r.range(1 + u32::from(self.r.clone().chance(90)), 4);
        let duplicate = w.input != Ty::Void && self.r.chance(45);
        // the weights of the splitter; a duplicate one gives all of them the same
        let mut weights: Vec<u64> = (0..n).map(|_| u64::from(self.r.range(1, 3))).collect();
        let mut outputs = vec![w.output.clone(); n as usize];
        let mut inputs = vec![w.input.clone(); n as usize];
        for i in 1..n as usize {
            // sources and sinks among the branches
            if !duplicate && w.input != Ty::Void && w.output != Ty::Void && self.r.chance(8) {
                weights[i] = 0;
                inputs[i] = Ty::Void;
            } else if w.input != Ty::Void && w.output != Ty::Void && self.r.chance(8) {
                outputs[i] = Ty::Void;
            }
        }
        let before = self.mark();
        let mut branches = Vec::new();
        for i in 0..n as usize {
            let want = Wanted {
                input: inputs[i].clone(),
                output: outputs[i].clone(),
                cost: w.cost / u64::from(n),
                ..w.clone()
            };
            let sig = self.stream(&want);
            branches.push(Branch { sig, takes: 0, gives: 0 });
        }
        let mut rounds = 1; // of the splitter
        if w.input != Ty::Void {
            for (b, weight) in branches.iter().zip(&weights) {
                let share = if duplicate { 1 } else { *weight };
                if b.sig.input != Ty::Void {
                    rounds = lcm(rounds, b.sig.pop / gcd(b.sig.pop, share));
                }
            }
        }
        for (b, weight) in branches.iter_mut().zip(&weights) {
            let share = if duplicate { 1 } else { *weight };
            if b.sig.input == Ty::Void {
                b.gives = b.sig.push;
            } else {
                b.takes = rounds * share;
                b.gives = b.sig.push * (b.takes / b.sig.pop);
            }
        }
        if branches.iter().any(|b| b.takes > 200 || b.gives > 60) || rounds > 60 {
            self.forget(before);
            return self.simple_splitjoin(w);
        }
        // the joiner: what the branches give, in lowest terms
        let common = branches.iter().map(|b| b.gives).filter(|g| *g > 0).fold(0, gcd).max(1);
        let divisors: Vec<u64> = (1..=common).filter(|d| common % d == 0).collect();
        let by = *self.r.pick(&divisors);
        let join: Vec<u64> = branches.iter().map(|b| b.gives / by).collect();
        let cost = branches
            .iter()
            .map(|b| if b.takes > 0 { b.takes / b.sig.pop * b.sig.cost } else { b.sig.cost })
            .sum::<u64>();
        let pop = if w.input == Ty::Void {
            0
        } else if duplicate {
            rounds
        } else {
            rounds * weights.iter().sum::<u64>()
        };
        let push: u64 = if w.output == Ty::Void { 0 } else { branches.iter().map(|b| b.gives).sum() };
        let ahead = (branches.iter().zip(&weights))
            .filter(|(b, _)| b.sig.input != Ty::Void)
            .map(|(b, weight)| {
                let share = if duplicate { 1 } else { *weight };
                let all = if duplicate { 1 } else { weights.iter().sum::<u64>() };
                b.sig.ahead.div_ceil(share) * all
            })
            .max()
            .unwrap_or(0);
        let split = if w.input == Ty::Void {
            "roundrobin(0)".to_string()
        } else if duplicate {
            (*self.r.pick(&["duplicate", "duplicate()"])).to_string()
        } else {
            self.roundrobin(&weights)
        };
        let join = if w.output == Ty::Void { "roundrobin(0)".to_string() } else { self.roundrobin(&join) };
        let step = "    ".repeat(w.indent);
        let mut body = format!("{step}split {split};\n");
        for b in &branches {
            body += &self.add("add", &b.sig.text, w.indent);
        }
        body += &format!("{step}join {join};\n");
        let ahead = if w.input == Ty::Void { 0 } else { ahead + pop };
        let sig = Sig {
            text: String::new(),
            input: w.input.clone(),
            output: w.output.clone(),
            pop,
            push,
            ahead,
            cost: cost + pop + push,
        };
        ("splitjoin", body, sig)
    }

    fn roundrobin(&mut self, weights: &[u64]) -> String {
        let same = weights.iter().all(|x| *x == weights[0]);
        match self.r.below(2) {
            0 if same && weights[0] == 1 => (*self.r.pick(&["roundrobin", "roundrobin()"])).to_string(),
            0 if same => format!("roundrobin({})", weights[0]),
            _ => format!("roundrobin({})", weights.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
        }
    }

    /// A splitjoin of copies made by a loop.
    fn simple_splitjoin(&mut self, w: &Wanted) -> (&'static str, String, Sig) {
        let n = u64::from(self.r.range(2, 4));
        let i = self.name("i");
        self.replicated += 1;
        let mut inner = Wanted { depth: 0, indent: w.indent + 1, cost: w.cost / n, ..w.clone() };
        inner.captured.push(Var::constant(i.clone(), Ty::Int));
        let child = self.filter(&inner, true);
        self.replicated -= 1;
        let duplicate = self.r.chance(50) && w.input != Ty::Void;
        let split = match (&w.input, duplicate) {
            (Ty::Void, _) => "roundrobin(0)",
            (_, true) => "duplicate",
            _ => "roundrobin",
        };
        let join = if w.output == Ty::Void { "roundrobin(0)" } else { "roundrobin" };
        let step = "    ".repeat(w.indent);
        let add = self.add("add", &child.text, w.indent + 1);
        let body = format!(
            "{step}split {split};\n{step}for (int {i} = 0; {i} < {n}; {i}++) {{\n{add}{step}}}\n{step}join {join};\n"
        );
        let factor = if duplicate { 1 } else { n };
        let sig = Sig {
            text: String::new(),
            pop: child.pop * factor,
            push: child.push * n,
            ahead: if w.input == Ty::Void { 0 } else { (child.ahead + child.pop) * factor },
            cost: child.cost * n + 2 * n,
            ..child
        };
        ("splitjoin", body, sig)
    }

    /// A feedback loop: its body, and what it takes and gives.
    pub fn feedbackloop(&mut self, w: &Wanted) -> (&'static str, String, Sig) {
        // joiner: a from outside, b from the loop; body: so many in, so many out; splitter: c out, d back
        let (a, b) = (u64::from(self.r.range(1, 3)), u64::from(self.r.range(1, 3)));
        if w.input != w.output {
            // inside and out are of one type
            return self.pipeline(&Wanted { depth: 0, ..w.clone() });
        }
        let duplicate = self.r.chance(35);
        let around = Wanted { prework: false, depth: w.depth.min(1), cost: w.cost / 2, ..w.clone() };
        let (body, c, d);
        if duplicate {
            // every item comes back: the body takes a + b and gives b
            let k = 1 + u32::from(self.r.chance(30));
            let rates =
                Rates { pop: (a + b) as u32 * k, peek: (a + b) as u32 * k + self.lookahead(), push: b as u32 * k };
            body = self.filter_of(&around, rates, false);
            (c, d) = (1, 1);
        } else {
            // the body gives as many items as it takes, and they are dealt as they came
            body = self.balanced(&around);
            let m = u64::from(self.r.range(1, 2));
            let g = gcd(a, b);
            (c, d) = (a / g * m, b / g * m);
        }
        let back = if self.r.chance(40) { None } else { Some(self.balanced(&around)) };
        // one round of the loop, in firings of the joiner
        let mut rounds = body.pop / gcd(body.pop, a + b);
        let per_round = |rounds: u64| rounds * (a + b) / body.pop * body.push;
        let unit = if duplicate { 1 } else { c + d };
        rounds *= unit / gcd(unit, per_round(rounds));
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
        let split = if duplicate { "duplicate".to_string() } else { format!("roundrobin({c}, {d})") };
        let mut text = format!("{step}join roundrobin({a}, {b});\n");
        text += &self.add("body", &body.text, w.indent);
        if let Some(l) = &back {
            text += &self.add("loop", &l.text, w.indent);
        }
        text += &format!("{step}split {split};\n");
        text += &self.enqueues(&w.input, enqueued, w.indent);
        let cost = rounds * (a + b) / body.pop * body.cost
            + back.as_ref().map_or(0, |l| b * rounds / l.pop * l.cost)
            + 3 * rounds;
        let pop = a * rounds;
        let push = if duplicate { b * rounds } else { c * (rounds * (a + b) / (c + d)) };
        let sig = Sig {
            text: String::new(),
            input: w.input.clone(),
            output: w.output.clone(),
            pop,
            push,
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
