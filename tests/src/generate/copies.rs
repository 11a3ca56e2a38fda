//! Composites that add the same stream several times: by loops, and by adding themselves.

use super::body::{Gen, Var};
use super::filter::Rates;
use super::stream::{Sig, Wanted};
use super::types::Ty;

impl Gen {
    /// Several copies of a stream in a row, made by a loop.
    pub fn repeated(&mut self, w: &Wanted) -> Sig {
        if w.input != w.output {
            return self.filter(w, false);
        }
        let (name, i, n) = (self.name("C"), self.name("i"), self.r.range(1, 4));
        let k = self.r.range(1, 3);
        self.replicated += 1;
        let captured = vec![Var::constant(i.clone(), Ty::Int)];
        let inner = Wanted { depth: 0, captured, indent: 2, cost: w.cost / 4, ..w.clone() };
        let extra = if self.r.chance(30) { self.r.range(1, 3) } else { 0 };
        let rates = Rates { pop: k, peek: k + extra, push: k };
        let child = self.filter_of(&inner, rates, w.prework);
        let other = self.r.chance(30).then(|| self.filter_of(&inner, rates, w.prework));
        self.replicated -= 1;
        let shown = self.show(&w.input);
        let count = if self.r.chance(50) { n.to_string() } else { "n".to_string() };
        let mut inside = self.add("add", &child.text, 2);
        if let Some(o) = &other {
            let test = ["i % 2 == 0", "i == n - 1", "i > 1"][self.r.index(3)].replace('i', &i);
            let add = self.add("add", &o.text, 2);
            inside = format!("        if ({test}) {{\n{inside}        }} else {{\n{add}        }}\n");
        }
        let text = match self.r.below(3) {
            0 => format!("    int {i} = 0;\n    while ({i} < {count}) {{\n{inside}        {i}++;\n    }}\n"),
            1 => format!("    int {i};\n    for ({i} = {count} - 1; {i} >= 0; {i}--) {{\n{inside}    }}\n"),
            _ => format!("    for (int {i} = 0; {i} < {count}; {i}++) {{\n{inside}    }}\n"),
        };
        let (list, args) = self.with_all_portals("(int n)".into(), format!("({n})"));
        self.decls.push(format!("{shown}->{shown} pipeline {name}{list} {{\n{text}    add Identity<{shown}>;\n}}\n"));
        let (ahead, cost) = other.map_or((0, 0), |o| (o.ahead, o.cost));
        Sig {
            text: name + &args,
            ahead: child.ahead.max(ahead) * u64::from(n) + u64::from(n * k),
            cost: child.cost.max(cost) * u64::from(n) + 2,
            ..child
        }
    }

    /// A pipeline that adds itself.
    pub fn recursive(&mut self, w: &Wanted) -> Sig {
        if w.input != w.output {
            return self.filter(w, false);
        }
        let (name, n) = (self.name("R"), self.r.range(1, 4));
        self.replicated += 1;
        let captured = vec![Var::constant("n", Ty::Int)];
        let inner = Wanted { depth: 0, captured, indent: 2, cost: w.cost / 4, ..w.clone() };
        let k = self.r.range(1, 2);
        let child = self.filter_of(&inner, Rates { pop: k, peek: k, push: k }, false);
        self.replicated -= 1;
        let shown = self.show(&w.input);
        let add = self.add("add", &child.text, 2);
        let (list, args) = self.with_all_portals("(int n)".into(), format!("({n})"));
        let (_, again) = self.with_all_portals(String::new(), "(n - 1)".into());
        self.decls.push(format!(
            "{shown}->{shown} pipeline {name}{list} {{\n    if (n > 0) {{\n{add}        add {name}{again};\n    }} else {{\n        add Identity<{shown}>;\n    }}\n}}\n",
        ));
        let text = name + &args;
        Sig { text, ahead: u64::from(n * k), cost: child.cost * u64::from(n) + 2, ..child }
    }

    /// A splitjoin that adds itself: a comb with `n + 2` teeth.
    pub fn comb(&mut self, w: &Wanted) -> Sig {
        if w.input != w.output {
            return self.filter(w, false);
        }
        let (name, n) = (self.name("R"), self.r.range(0, 3));
        self.replicated += 1;
        let captured = vec![Var::constant("n", Ty::Int)];
        let inner = Wanted { depth: 0, captured, indent: 1, cost: w.cost / 4, ..w.clone() };
        let extra = if self.r.chance(30) { self.r.range(1, 3) } else { 0 };
        let child = self.filter_of(&inner, Rates { pop: 1, peek: 1 + extra, push: 1 }, false);
        self.replicated -= 1;
        let shown = self.show(&w.input);
        let (tooth, duplicate) = (self.add("add", &child.text, 1), self.r.chance(50));
        let split = if duplicate { "duplicate" } else { "roundrobin(1, n + 1)" };
        let last = if self.r.chance(50) { format!("Identity<{shown}>") } else { format!("{name}Last") };
        if last.ends_with("Last") {
            self.decls.push(format!(
                "{shown}->{shown} filter {last} {{\n    work pop 1 push 1 {{\n        push(pop());\n    }}\n}}\n"
            ));
        }
        let (list, args) = self.with_all_portals("(int n)".into(), format!("({n})"));
        let (_, again) = self.with_all_portals(String::new(), "(n - 1)".into());
        self.decls.push(format!(
            "{shown}->{shown} splitjoin {name}{list} {{\n    split {split};\n{tooth}    if (n == 0) add {last};\n    else add {name}{again};\n    join roundrobin(1, n + 1);\n}}\n",
        ));
        let teeth = u64::from(n) + 2;
        Sig {
            text: name + &args,
            pop: if duplicate { 1 } else { teeth },
            push: teeth,
            ahead: (child.ahead + 1) * if duplicate { 1 } else { teeth },
            cost: (child.cost + 3) * teeth,
            ..child
        }
    }
}
