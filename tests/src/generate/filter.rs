//! Filters and functions.

use super::body::{Body, Fun, Gen, Place, Var, known_int};
use super::types::Ty;

/// The rates of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Items popped.
    pub pop: u32,
    /// Items looked at, the popped ones included.
    pub peek: u32,
    /// Items pushed.
    pub push: u32,
}

/// What a filter has between its braces, and what it takes.
pub struct Members {
    /// The text.
    pub text: String,
    /// Statements of a firing, at most.
    pub cost: u32,
    /// Input items beyond those of so many firings, before the output of so many firings is there; at most.
    pub ahead: u32,
}

/// A filter under construction.
pub(super) struct Filter<'g> {
    pub g: &'g mut Gen,
    pub input: Ty,
    pub output: Ty,
    pub vars: Vec<Var>,
    pub own: Vec<Fun>,
    /// Statements that `init` begins with.
    set_by_init: Vec<String>,
    pub indent: usize,
}

/// What a filter may have.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// May its first firing differ?
    pub prework: bool,
    /// Do its firings decide on their rates?
    pub decides: bool,
    /// The receiver that it is, by number.
    pub receiver: Option<usize>,
}

/// Fields, functions and work of a filter. `params` are its parameters and what it captures.
pub fn members(
    g: &mut Gen,
    input: &Ty,
    output: &Ty,
    rates: Rates,
    params: Vec<Var>,
    indent: usize,
    style: Style,
) -> Members {
    let mut f = Filter {
        g,
        input: input.clone(),
        output: output.clone(),
        vars: params,
        own: Vec::new(),
        set_by_init: Vec::new(),
        indent,
    };
    let mut text = f.fields();
    let mut parts = Vec::new();
    for _ in 0..f.g.r.weighted(&[50, 25, 15, 10]) {
        parts.push(f.function());
    }
    if !f.set_by_init.is_empty() || f.g.r.chance(30) {
        parts.push(f.init());
    }
    if let Some(number) = style.receiver {
        parts.extend(f.handlers(number));
    }
    if style.decides {
        let works = f.deciding(rates, style.prework);
        text += &works.fields;
        parts.extend(works.parts);
        let turn = f.g.r.index(parts.len());
        parts.rotate_left(turn);
        text.extend(parts);
        return Members { text, cost: works.cost + 1, ahead: works.look };
    }
    let mut ahead = rates.peek - rates.pop;
    let mut first_cost = 0;
    if style.prework && f.g.r.chance(12) {
        let first = f.first_rates(rates);
        let (part, cost) = f.work("prework", first);
        parts.push(part);
        first_cost = cost;
        ahead += first.peek + rates.pop * (1 + rates.push.saturating_sub(first.push));
    }
    let (part, cost) = f.work("work", rates);
    parts.push(part);
    // the order of the parts means nothing
    let turn = f.g.r.index(parts.len());
    parts.rotate_left(turn);
    text.extend(parts);
    Members { text, cost: cost.max(first_cost) + 1, ahead }
}

/// A function of a helper group.
pub fn helper(g: &mut Gen, group: &str) -> (String, Fun) {
    let mut f = Filter {
        g,
        input: Ty::Void,
        output: Ty::Void,
        vars: Vec::new(),
        own: Vec::new(),
        set_by_init: Vec::new(),
        indent: 1,
    };
    let text = f.plain_function(Place::Helper);
    let mut made = f.own.pop().expect("just made");
    made.name = format!("{group}.{}", made.name);
    (text, made)
}

impl Filter<'_> {
    pub fn body(&mut self, place: Place) -> Body<'_> {
        let mut b = Body::new(self.g, place, self.vars.clone());
        b.own = self.own.clone();
        b.indent = self.indent + 1;
        b
    }

    fn fields(&mut self) -> String {
        let mut text = String::new();
        // what no firing changes is a constant, and rates may depend on it
        while self.g.r.chance(15) {
            let (name, value) = (self.g.name("s"), self.g.r.below(7) as i32);
            let step = "    ".repeat(self.indent);
            let known: Vec<(String, i32)> = (self.vars.iter())
                .filter(|v| !v.is_field())
                .filter_map(|v| v.value.map(|k| (v.name.clone(), k)))
                .collect();
            let written = known_int(&mut self.g.r, &known, value);
            if self.g.r.chance(50) {
                text += &format!("{step}int {name} = {written};\n");
            } else {
                text += &format!("{step}int {name};\n");
                self.set_by_init.push(format!("{name} = {written};"));
            }
            self.vars.push(Var::known(name, value));
        }
        for _ in 0..self.g.r.weighted(&[30, 30, 20, 12, 8]) {
            let ty = self.g.any_type(16);
            let mut b = self.body(Place::Init);
            b.own.clear();
            b.indent -= 1;
            let name = b.g.name("s");
            let shown = b.g.show(&ty);
            let value = match &ty {
                Ty::Array(e, n) if !e.is_aggregate() && b.g.r.chance(60) => {
                    let items: Vec<String> = (0..*n).map(|_| b.expr_to(e, 1)).collect();
                    Some(format!("{{{}}}", items.join(", ")))
                }
                Ty::Array(..) | Ty::Struct(_) => None,
                _ => b.g.r.chance(70).then(|| b.expr_to(&ty, 2)),
            };
            b.line(&match value {
                Some(v) => format!("{shown} {name} = {v};"),
                None => format!("{shown} {name};"),
            });
            text += &b.out;
            self.vars.push(Var::new(name, ty));
        }
        text
    }

    fn init(&mut self) -> String {
        let lines = std::mem::take(&mut self.set_by_init);
        let mut b = self.body(Place::Init);
        b.indent -= 1;
        b.braces("init ", |b| {
            lines.iter().for_each(|l| b.line(l));
            let n = b.g.r.range(1, 4);
            b.statements(n);
            if b.g.prints && b.g.r.chance(30) {
                b.print();
            }
        });
        b.out
    }

    fn function(&mut self) -> String {
        match self.g.r.below(10) {
            0 => self.recursive_function(),
            1..=4 if self.input != Ty::Void || self.output != Ty::Void => self.firing_function(),
            _ => self.plain_function(Place::Own),
        }
    }

    fn recursive_function(&mut self) -> String {
        let name = self.g.name("f");
        let (r, step) = (&mut self.g.r, "    ".repeat(self.indent));
        let (a, b, c) = (r.range(1, 9), r.range(2, 9), r.below(7));
        self.own.push(Fun {
            name: name.clone(),
            params: vec![(Ty::Int, false)],
            ret: Ty::Int,
            pops: 0,
            pushes: 0,
            need: 0,
            cost: 20,
            fires: false,
        });
        format!(
            "{step}int {name}(int n) {{\n{step}    if (n <= 0 || n > {a}) return {c};\n{step}    return {name}(n - 1) * {b} + n;\n{step}}}\n"
        )
    }

    /// Parameters: their text, their types, and the variables they become.
    fn parameters(&mut self) -> (String, Vec<(Ty, bool)>, Vec<Var>) {
        let (mut texts, mut types, mut vars) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.g.r.weighted(&[15, 40, 30, 15]) {
            let ty = self.g.any_type(8);
            let array = matches!(ty, Ty::Array(..));
            let written = array && self.g.r.chance(60);
            let name = self.g.name("p");
            texts.push(format!("{} {name}", self.g.show(&ty)));
            let var = Var::new(name, ty.clone());
            vars.push(if array && !written { Var { writable: false, ..var } } else { var });
            types.push((ty, written));
        }
        (texts.join(", "), types, vars)
    }

    /// A function without channels.
    fn plain_function(&mut self, place: Place) -> String {
        let (params, types, vars) = self.parameters();
        let ret = if self.g.r.chance(25) { Ty::Void } else { self.g.any_type(6) };
        let name = self.g.name("f");
        let head = format!("{} {name}({params}) ", self.g.show(&ret));
        let mut b = self.body(place);
        b.indent -= 1;
        b.most = 25;
        b.vars.extend(vars);
        b.ret = (ret != Ty::Void).then(|| ret.clone());
        let n = b.g.r.range(0, 3);
        b.braces(&head, |b| finish(b, &ret, n));
        let (cost, out) = (b.cost + 2, b.out);
        self.own.push(Fun { name, params: types, ret, pops: 0, pushes: 0, need: 0, cost, fires: false });
        out
    }

    /// A function that pops and pushes.
    fn firing_function(&mut self) -> String {
        let (params, types, vars) = self.parameters();
        let ret = if self.g.r.chance(35) { Ty::Void } else { self.g.any_type(6) };
        let name = self.g.name("f");
        let pops = if self.input == Ty::Void { 0 } else { self.g.r.below(3) };
        let pushes = if self.output == Ty::Void { 0 } else { self.g.r.below(3) };
        let need = if self.input == Ty::Void { 0 } else { pops + self.g.r.below(2) };
        let rates = if self.g.r.chance(40) {
            let part = |word: &str, n: u32| if n > 0 { format!("{word} {n} ") } else { String::new() };
            part("push", pushes) + &part("peek", if need > pops { need } else { 0 }) + &part("pop", pops)
        } else {
            String::new()
        };
        let head = format!("{} {name}({params}) {rates}", self.g.show(&ret));
        let (input, output) = (self.input.clone(), self.output.clone());
        let mut b = self.body(Place::Work);
        b.indent -= 1;
        b.most = 25;
        b.vars.extend(vars);
        (b.input, b.output, b.pops, b.pushes, b.peek) = (input, output, pops, pushes, need);
        b.ret = (ret != Ty::Void).then(|| ret.clone());
        b.prints = b.g.prints && b.g.r.chance(20);
        let n = b.g.r.range(0, 2);
        b.braces(&head, |b| finish(b, &ret, n));
        let (cost, out) = (b.cost + 2, b.out);
        self.own.push(Fun { name, params: types, ret, pops, pushes, need, cost, fires: true });
        out
    }

    /// Rates of a first firing that differs.
    pub fn first_rates(&mut self, rates: Rates) -> Rates {
        let r = &mut self.g.r;
        let pop = if self.input == Ty::Void { 0 } else { r.below(rates.pop + 3) };
        let peek = if self.input == Ty::Void { 0 } else { pop + r.below(2) };
        let push = if self.output == Ty::Void { 0 } else { r.below(rates.push + 3) };
        Rates { pop, peek, push }
    }

    pub fn work(&mut self, keyword: &str, rates: Rates) -> (String, u32) {
        let head = format!("{keyword} {}", self.rates(rates));
        let (input, output) = (self.input.clone(), self.output.clone());
        let sink = output == Ty::Void;
        let hazard = self.g.hazards > 0 && self.g.replicated == 0 && self.g.r.chance(25);
        self.g.hazards -= u32::from(hazard);
        let mut b = self.body(Place::Work);
        b.indent -= 1;
        b.most = 30 + b.g.r.below(120);
        (b.input, b.output, b.pops, b.pushes, b.peek) = (input, output, rates.pop, rates.push, rates.peek);
        b.prints = sink || b.g.prints && b.g.r.chance(50);
        b.hazard = hazard;
        // a firing may leave items that it declares to pop: they are dropped
        if b.pops > 1 && b.g.r.chance(3) {
            b.pops -= 1;
        }
        let n = b.g.r.range(0, 6);
        let aggregate = b.output.clone();
        b.braces(&head, |b| {
            b.ensure(&aggregate);
            b.scratch();
            if sink {
                b.statements_before_last(n);
            } else {
                b.statements(n);
            }
            if b.g.r.chance(8) {
                b.early_return();
                b.statements(1);
            }
        });
        (b.out, b.cost)
    }

    /// Rates as they are written: in any order, as numbers or by names of known value.
    fn rates(&mut self, rates: Rates) -> String {
        let mut parts = Vec::new();
        let mut part = |f: &mut Self, word: &str, n: u32| {
            let text = f.rate(n);
            parts.push(format!("{word} {text} "));
        };
        if self.output != Ty::Void && (rates.push > 0 || self.g.r.chance(20)) {
            part(self, "push", rates.push);
        }
        if self.input != Ty::Void && (rates.pop > 0 || self.g.r.chance(20)) {
            part(self, "pop", rates.pop);
        }
        if self.input != Ty::Void && (rates.peek > rates.pop || self.g.r.chance(10)) {
            // less than the pop rate means the pop rate
            let less = if rates.peek == rates.pop && self.g.r.chance(30) { rates.pop / 2 } else { 0 };
            part(self, "peek", rates.peek - less);
        }
        let turn = self.g.r.index(parts.len().max(1)).min(parts.len());
        parts.rotate_left(turn);
        parts.concat()
    }

    pub fn rate(&mut self, n: u32) -> String {
        let n = n as i32;
        let known: Vec<(String, i32)> =
            (self.vars.iter().chain(&self.g.statics)).filter_map(|v| v.value.map(|k| (v.name.clone(), k))).collect();
        known_int(&mut self.g.r, &known, n)
    }
}

impl Body<'_> {
    /// Writes some fields before anything reads them: nothing goes from one firing to the next in those.
    fn scratch(&mut self) {
        let fields: Vec<Var> = self.vars.iter().filter(|v| v.is_field() && v.writable).cloned().collect();
        for Var { name, ty, .. } in fields {
            if !self.g.r.chance(40) {
                continue;
            }
            match &ty {
                Ty::Array(element, n) if !element.is_aggregate() => {
                    let value = self.maybe(|b| b.expr_to(element, 1));
                    let i = self.g.name("i");
                    self.line(&format!("for (int {i} = 0; {i} < {n}; {i}++) {name}[{i}] = {value};"));
                    self.cost += n;
                }
                ty if !ty.is_aggregate() => {
                    let value = self.maybe(|b| b.expr_to(ty, 1));
                    self.line(&format!("{name} = {value};"));
                    self.cost += 1;
                }
                _ => {}
            }
        }
    }
}

/// The statements of a function, and its result.
fn finish(b: &mut Body<'_>, ret: &Ty, n: u32) {
    b.ensure(ret);
    b.statements(n);
    if b.g.r.chance(20) {
        b.early_return();
    }
    if *ret != Ty::Void {
        let value = b.expr_to(ret, 3);
        b.line(&format!("return {value};"));
    }
}

impl Body<'_> {
    /// Statements of a sink: the last item popped is printed.
    pub fn statements_before_last(&mut self, n: u32) {
        for _ in 0..n {
            let spend = self.pops > 1;
            let (pops, pushes) = (self.pops, self.pushes);
            if spend {
                self.with_share(pops - 1, pushes);
            } else {
                self.maybe(|b| b.statements(1));
            }
        }
        let item = self.input.clone();
        while self.pops > 0 {
            if item.is_aggregate() {
                let name = self.maybe(|b| b.declare(&item));
                self.line(&format!("{name} = pop();"));
                self.print_parts(&name, &item);
            } else {
                self.line("println(pop());");
            }
            self.pops -= 1;
            self.popped += 1;
        }
    }

    /// One statement that may pop so many items.
    fn with_share(&mut self, pops: u32, pushes: u32) {
        let kept = (self.pops - pops, self.pushes - pushes);
        (self.pops, self.pushes) = (pops, pushes);
        self.statement();
        (self.pops, self.pushes) = (self.pops + kept.0, self.pushes + kept.1);
    }

    /// Prints all numbers of a value.
    fn print_parts(&mut self, name: &str, ty: &Ty) {
        match ty {
            Ty::Array(e, n) => {
                for i in 0..*n {
                    self.print_parts(&format!("{name}[{i}]"), e);
                }
            }
            Ty::Struct(s) => {
                for (i, t) in self.g.structs[*s].fields.clone().iter().enumerate() {
                    self.print_parts(&format!("{name}.f{i}"), t);
                }
            }
            _ => self.line(&format!("println({name});")),
        }
    }
}
