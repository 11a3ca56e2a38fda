//! Streams whose rates are consistent by construction: every stream knows how many items a round of it takes and gives.

use super::body::{Body, Gen, Place, Var, known_int};
use super::filter::{self, Rates, Style};
use super::mail::Made;
use super::types::Ty;
use super::window;

/// A stream that can be added.
#[derive(Clone, Debug)]
pub struct Sig {
    /// What stands behind `add`; several lines for an anonymous stream.
    pub text: String,
    /// Items in.
    pub input: Ty,
    /// Items out.
    pub output: Ty,
    /// Items taken in a round; 0 only where the input is void.
    pub pop: u64,
    /// Items given in a round; 0 only where the output is void.
    pub push: u64,
    /// Items taken beyond those of so many rounds, before the output of so many rounds is there; at most.
    pub ahead: u64,
    /// Statements of a round, at most.
    pub cost: u64,
}

/// A stream to be made.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Items in.
    pub input: Ty,
    /// Items out.
    pub output: Ty,
    /// How deep composites may nest.
    pub depth: u32,
    /// Statements of a round, at most (a wish).
    pub cost: u64,
    /// May first firings differ? Not in a loop.
    pub prework: bool,
    /// Variables of the composite around it: constants there.
    pub captured: Vec<Var>,
    /// Blocks around the text.
    pub indent: usize,
}

/// A state of the generator to go back to.
pub struct Mark {
    decls: usize,
    hazards: u32,
    reads: bool,
    receivers: Vec<Option<Made>>,
}

/// The largest round that is kept.
const MOST_ITEMS: u64 = 400;

/// The least common multiple.
pub fn lcm(a: u64, b: u64) -> u64 {
    a / gcd(a, b) * b
}

/// The greatest common divisor.
pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

impl Sig {
    fn small(&self) -> bool {
        self.pop <= MOST_ITEMS && self.push <= MOST_ITEMS && self.cost <= 20_000
    }
}

impl Gen {
    /// Any stream with these ends.
    pub fn stream(&mut self, w: &Wanted) -> Sig {
        for _ in 0..4 {
            let before = self.mark();
            let made = self.attempt(w);
            if made.small() && made.cost <= w.cost * 4 {
                return made;
            }
            self.forget(before);
        }
        self.filter(&Wanted { depth: 0, ..w.clone() }, true)
    }

    /// What to go back to when an attempt is given up.
    pub fn mark(&self) -> Mark {
        let receivers = self.mail.receivers.iter().map(|r| r.made.clone()).collect();
        Mark { decls: self.decls.len(), hazards: self.hazards, reads: self.reads, receivers }
    }

    /// Goes back: the declarations made since are not in the program.
    pub fn forget(&mut self, mark: Mark) {
        self.decls.truncate(mark.decls);
        self.hazards = mark.hazards;
        self.reads = mark.reads;
        self.mail.receivers.iter_mut().zip(mark.receivers).for_each(|(r, made)| r.made = made);
    }

    fn attempt(&mut self, w: &Wanted) -> Sig {
        if w.depth == 0 || w.cost < 60 {
            return self.filter(w, false);
        }
        let through = u32::from(w.input != Ty::Void && w.output != Ty::Void);
        let loops = if through > 0 { 14 } else { 6 };
        match self.r.weighted(&[30, 25, 22, loops, 8 * through, 4 * through, 6 * through]) {
            0 => self.filter(w, false),
            1 => self.composite(w, Gen::pipeline),
            2 => self.composite(w, Gen::splitjoin),
            3 => self.composite(w, Gen::feedbackloop),
            4 => self.repeated(w),
            5 => self.recursive(w),
            _ => self.comb(w),
        }
    }

    /// A filter. A plain one has small rates and few statements.
    pub fn filter(&mut self, w: &Wanted, plain: bool) -> Sig {
        if w.input == w.output && w.input != Ty::Void && self.r.chance(6) {
            return self.identity(w);
        }
        if !plain && let Some(s) = self.receiver_again(w) {
            return s;
        }
        if self.replicated == 0 && !plain && self.r.chance(7) {
            if w.input == Ty::Void && w.output != Ty::Void {
                return self.reader(w);
            }
            if w.output == Ty::Void && w.input != Ty::Void {
                return self.writer(w);
            }
        }
        let most = match plain {
            true => 1,
            false if self.r.chance(5) => 24,
            false => 4,
        };
        let pop = if w.input == Ty::Void { 0 } else { self.r.range(1, most) };
        let push = if w.output == Ty::Void { 0 } else { self.r.range(1, most) };
        let extra = if w.input != Ty::Void && !plain && self.r.chance(35) { self.r.range(1, 5) } else { 0 };
        self.filter_of(w, Rates { pop, peek: pop + extra, push }, w.prework && !plain)
    }

    fn reader(&mut self, w: &Wanted) -> Sig {
        self.reads = true;
        let text = format!("FileReader<{}>(\"in.bin\")", self.show(&w.output));
        Sig { text, input: Ty::Void, output: w.output.clone(), pop: 0, push: 1, ahead: 0, cost: 1 }
    }

    fn writer(&mut self, w: &Wanted) -> Sig {
        let text = format!("FileWriter<{}>(\"{}.bin\")", self.show(&w.input), self.name("out"));
        Sig { text, input: w.input.clone(), output: Ty::Void, pop: 1, push: 0, ahead: 0, cost: 1 }
    }

    fn identity(&mut self, w: &Wanted) -> Sig {
        let text = format!("Identity<{}>", self.show(&w.input));
        Sig { text, input: w.input.clone(), output: w.output.clone(), pop: 1, push: 1, ahead: 0, cost: 1 }
    }

    /// A filter with these rates, named or not.
    pub fn filter_of(&mut self, w: &Wanted, rates: Rates, prework: bool) -> Sig {
        self.endless |= w.input == Ty::Void;
        let decides = self.dynamic > 0 && self.still == 0 && self.r.chance(self.dynamic);
        if let Some(s) = self.receiver(w, rates, decides) {
            return s;
        }
        let mut io = format!("{}->{}", self.show(&w.input), self.show(&w.output));
        let anonymous = w.indent > 0 && self.r.chance(35);
        let windowed =
            !decides && rates.pop > 0 && rates.push > 0 && window::fits(&w.input, &w.output) && self.r.chance(20);
        self.choose_portals();
        let members = |g: &mut Gen, vars: Vec<Var>, indent: usize| {
            if windowed {
                window::members(g, &w.input, &w.output, rates, vars, indent)
            } else {
                let style = Style { prework, decides, receiver: None };
                filter::members(g, &w.input, &w.output, rates, vars, indent, style)
            }
        };
        let stateful = if self.r.chance(5) { "stateful " } else { "" };
        let (text, made) = if anonymous {
            let made = members(self, w.captured.clone(), w.indent + 1);
            let close = "    ".repeat(w.indent);
            (format!("{io} {stateful}filter {{\n{}{close}}}", made.text), made)
        } else {
            let (mut list, mut args, mut vars) = self.parameters(w);
            let name = self.name("F");
            // arrays sized by a parameter
            let sizes = w.input.sizes().into_iter().chain(w.output.sizes()).collect::<Vec<_>>();
            if !sizes.is_empty() && list.starts_with('(') && list.len() > 2 && self.r.chance(50) {
                let (size, n) = (self.name("n"), *self.r.pick(&sizes));
                list = format!("(int {size}, {}", &list[1..]);
                args = format!("({n}, {}", &args[1..]);
                let shown =
                    |ty: &Ty| ty.text_sized(&self.structs, &mut |k| if k == n { size.clone() } else { k.to_string() });
                io = format!("{}->{}", shown(&w.input), shown(&w.output));
                vars.push(Var::known(size, n as i32));
            }
            let made = members(self, vars, 1);
            let (list, args) = self.with_portals(list, args, &self.mail.open.clone());
            self.decls.push(format!("{io} {stateful}filter {name}{list} {{\n{}}}\n", made.text));
            (name + &args, made)
        };
        self.mail.open.clear();
        Sig {
            text,
            input: w.input.clone(),
            output: w.output.clone(),
            pop: rates.pop.into(),
            push: rates.push.into(),
            ahead: made.ahead.into(),
            cost: made.cost.into(),
        }
    }

    /// Parameters of a new stream: their list, the arguments, and what they are inside.
    pub fn parameters(&mut self, w: &Wanted) -> (String, String, Vec<Var>) {
        let (mut list, mut args, mut vars) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.r.weighted(&[45, 25, 20, 10]) {
            let name = self.name("n");
            if self.r.chance(50) {
                let value = self.r.below(9) as i32 - 1;
                list.push(format!("int {name}"));
                args.push(self.known_int(w, value));
                vars.push(Var::known(name, value));
                continue;
            }
            let ty = match self.r.below(5) {
                0 => [Ty::Int, Ty::Float][self.r.index(2)].clone().array(self.r.range(1, 4)),
                1 if !w.captured.is_empty() => self.r.pick(&w.captured).ty.clone(),
                _ => [Ty::Int, Ty::Float, Ty::Bool, Ty::Double, Ty::Complex, Ty::Bit, Ty::Vec(3)]
                    [self.r.weighted(&[6, 6, 4, 2, 2, 1, 1])]
                .clone(),
            };
            let captured = w.captured.iter().filter(|v| v.ty == ty).map(|v| v.name.clone()).next_back();
            let mut b = Body::new(self, Place::Composite, Vec::new());
            args.push(match (&ty, captured) {
                (_, Some(name)) => name,
                (Ty::Array(e, n), None) if !e.is_aggregate() => {
                    let items: Vec<String> = (0..*n).map(|_| b.expr_to(e, 0)).collect();
                    format!("{{{}}}", items.join(", "))
                }
                _ => b.expr_to(&ty, 1),
            });
            list.push(match &ty {
                // a size given by an earlier parameter
                Ty::Array(e, n) => match vars.iter().find(|v| v.value == Some(*n as i32)) {
                    Some(v) => format!("{}[{}] {name}", self.show(e), v.name),
                    None => format!("{} {name}", self.show(&ty)),
                },
                _ => format!("{} {name}", self.show(&ty)),
            });
            vars.push(Var::constant(name, ty));
        }
        if list.is_empty() {
            let (a, b) = *self.r.pick(&[("", ""), ("()", "()"), ("", "()"), ("()", "")]);
            return (a.into(), b.into(), vars);
        }
        (format!("({})", list.join(", ")), format!("({})", args.join(", ")), vars)
    }

    /// An int of known value, written as a number or with a variable of the composite.
    pub fn known_int(&mut self, w: &Wanted, value: i32) -> String {
        let known: Vec<(String, i32)> =
            w.captured.iter().filter_map(|v| v.value.map(|k| (v.name.clone(), k))).collect();
        known_int(&mut self.r, &known, value)
    }

    /// Puts a composite into words: anonymous where it stands, or as a declaration.
    fn composite(&mut self, w: &Wanted, make: fn(&mut Gen, &Wanted) -> (&'static str, String, Sig)) -> Sig {
        let io = format!("{}->{}", self.show(&w.input), self.show(&w.output));
        if w.indent > 0 && self.r.chance(40) {
            let (kind, body, sig) = make(self, &Wanted { depth: w.depth - 1, indent: w.indent + 1, ..w.clone() });
            let io = if kind == "pipeline" && self.r.chance(30) { String::new() } else { io + " " };
            return Sig { text: format!("{io}{kind} {{\n{body}{}}}", "    ".repeat(w.indent)), ..sig };
        }
        let (list, args, captured) = self.parameters(w);
        let (list, args) = self.with_all_portals(list, args);
        let name = self.name("C");
        let (kind, body, sig) = make(self, &Wanted { depth: w.depth - 1, indent: 1, captured, ..w.clone() });
        self.decls.push(format!("{io} {kind} {name}{list} {{\n{body}}}\n"));
        Sig { text: name + &args, ..sig }
    }

    /// A composite that is the program's entry.
    pub fn entry(&mut self, w: &Wanted, name: &str) -> Sig {
        let io = format!("{}->{}", self.show(&w.input), self.show(&w.output));
        let make = match self.r.weighted(&[70, 20, 10 * u32::from(w.input != Ty::Void && w.output != Ty::Void)]) {
            0 => Gen::pipeline,
            1 => Gen::splitjoin,
            _ => Gen::feedbackloop,
        };
        let (kind, body, sig) = make(self, &Wanted { indent: 1, ..w.clone() });
        let portals = self.declared_portals();
        self.decls.push(format!("{io} {kind} {name} {{\n{portals}{body}}}\n"));
        Sig { text: name.into(), ..sig }
    }

    /// The statement that adds a stream.
    pub fn add(&mut self, word: &str, text: &str, indent: usize) -> String {
        let end = if text.ends_with('}') && self.r.chance(50) { "" } else { ";" };
        format!("{}{word} {text}{end}\n", "    ".repeat(indent))
    }

    /// A pipeline: its body, and what it takes and gives.
    pub fn pipeline(&mut self, w: &Wanted) -> (&'static str, String, Sig) {
        let n = self.r.range(1 + u32::from(self.r.clone().chance(80)), 4);
        let mut types = vec![w.input.clone()];
        for i in 1..n as usize {
            let again = types[i - 1] != Ty::Void && self.r.chance(40);
            let ty = if again { types[i - 1].clone() } else { self.item_type() };
            types.push(ty);
        }
        types.push(w.output.clone());
        let mut body = self.locals(w);
        let mut w = w.clone();
        w.captured.extend(std::mem::take(&mut body.1));
        let mut all: Option<Sig> = None;
        for t in types.windows(2) {
            let want = Wanted { input: t[0].clone(), output: t[1].clone(), cost: w.cost / u64::from(n), ..w.clone() };
            let child = match &all {
                None => self.stream(&want),
                Some(before) => self.matching(&want, before.push),
            };
            body.0 += &self.add("add", &child.text, w.indent);
            all = Some(match all {
                None => child,
                Some(before) => join(&before, &child),
            });
        }
        ("pipeline", body.0, all.expect("not empty"))
    }

    /// A stream whose rounds fit after so many items.
    fn matching(&mut self, w: &Wanted, push: u64) -> Sig {
        for _ in 0..3 {
            let before = self.mark();
            let s = self.stream(w);
            if lcm(push, s.pop) <= MOST_ITEMS && s.cost * (lcm(push, s.pop) / s.pop) <= w.cost * 4 {
                return s;
            }
            self.forget(before);
        }
        self.filter(&Wanted { depth: 0, ..w.clone() }, true)
    }

    /// Local variables of a composite, and statements about them; what is left are constants.
    fn locals(&mut self, w: &Wanted) -> (String, Vec<Var>) {
        let (mut text, mut vars) = (String::new(), Vec::new());
        let step = "    ".repeat(w.indent);
        if self.r.chance(25) {
            let (name, value) = (self.name("k"), self.r.below(6) as i32);
            let e = self.known_int(w, value);
            text += &format!("{step}int {name} = {e};\n");
            vars.push(Var::known(name, value));
        }
        if self.r.chance(12) {
            let (name, n) = (self.name("t"), self.r.range(1, 4));
            let i = self.name("i");
            text += &format!("{step}float[{n}] {name};\n");
            text += &format!("{step}for (int {i} = 0; {i} < {n}; {i}++) {name}[{i}] = sin({i} * 0.5) + {i};\n");
            vars.push(Var::constant(name, Ty::Float.array(n)));
        }
        if self.r.chance(20) {
            // any statements; what they declare is constant for the streams added after them
            let outside = w.captured.iter().chain(&vars).cloned().collect::<Vec<_>>();
            let first = outside.len();
            let mut b = Body::new(self, Place::Composite, outside);
            b.indent = w.indent;
            let n = b.g.r.range(1, 4);
            b.statements(n);
            let made = b.vars.split_off(first);
            text += &b.out;
            vars.extend(made.into_iter().map(|v| Var { writable: false, ..v }));
        }
        (text, vars)
    }
}

/// One stream after another.
pub fn join(a: &Sig, b: &Sig) -> Sig {
    let items = lcm(a.push, b.pop);
    let (k, m) = (items / a.push, items / b.pop);
    let before = b.ahead.div_ceil(a.push) * a.pop;
    Sig {
        text: String::new(),
        input: a.input.clone(),
        output: b.output.clone(),
        pop: a.pop * k,
        push: b.push * m,
        ahead: a.ahead + before,
        cost: a.cost * k + b.cost * m,
    }
}
