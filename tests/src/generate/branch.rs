//! Splitjoins and feedback loops: weights that balance.

use super::body::{Gen, Var};
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
            self.roundrobin(w, &weights)
        };
        let join = if w.output == Ty::Void { "roundrobin(0)".to_string() } else { self.roundrobin(w, &join) };
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

    pub fn roundrobin(&mut self, w: &Wanted, weights: &[u64]) -> String {
        let same = weights.iter().all(|x| *x == weights[0]);
        match self.r.below(2) {
            0 if same && weights[0] == 1 => (*self.r.pick(&["roundrobin", "roundrobin()"])).to_string(),
            0 if same => format!("roundrobin({})", self.known_int(w, weights[0] as i32)),
            _ => {
                let words: Vec<String> = weights.iter().map(|n| self.known_int(w, *n as i32)).collect();
                format!("roundrobin({})", words.join(", "))
            }
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
}
