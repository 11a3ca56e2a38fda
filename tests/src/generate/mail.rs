//! Portals: filters that receive messages, filters that send them, and the way of the portals to both.
//!
//! Receivers and their handlers are decided on before the program; the first filter made in a place that suits becomes the receiver, later
//! ones are further instances of it. Every composite has all portals as parameters, or sees those around it.

use super::body::{Body, Gen, Place, Var, known_int};
use super::filter::{self, Filter, Rates, Style};
use super::stream::{Sig, Wanted};
use super::types::Ty;

/// Before the latency of each message (`latencies.rs` looks for it).
pub const MARK: &str = " /*~*/";

/// A message handler.
#[derive(Clone, Debug)]
struct Handler {
    name: String,
    params: Vec<Ty>,
}

/// A filter that receives.
#[derive(Clone, Debug)]
pub struct Receiver {
    name: String,
    handlers: Vec<Handler>,
    /// What it turned out to be.
    pub made: Option<Made>,
}

/// A receiver that is in the program.
#[derive(Clone, Debug)]
pub struct Made {
    sig: Sig,
    rates: Rates,
    prework: bool,
    decides: bool,
}

/// A portal, and by number the receiver that it is for.
#[derive(Clone, Debug)]
struct Portal {
    name: String,
    receiver: usize,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct Mail {
    /// Filters that receive.
    pub receivers: Vec<Receiver>,
    portals: Vec<Portal>,
    /// The portals to which the filter under construction may send.
    pub open: Vec<usize>,
}

impl Gen {
    /// Decides who could receive what.
    pub fn start_mail(&mut self) {
        for i in 0..self.r.range(1, 3) as usize {
            let name = self.name("R");
            let handlers = (0..self.r.range(1, 3)).map(|_| Handler {
                name: self.name("h"),
                params: (0..self.r.weighted(&[15, 45, 25, 15])).map(|_| self.any_type(6)).collect(),
            });
            let handlers = handlers.collect();
            self.mail.receivers.push(Receiver { name, handlers, made: None });
            for _ in 0..self.r.weighted(&[0, 75, 25]) {
                let name = self.name("q");
                self.mail.portals.push(Portal { name, receiver: i });
            }
        }
    }

    /// Receivers that are not in the program, as declarations that nobody uses: senders name them. (They add each other, so that none
    /// could be the entry.)
    pub fn finish_mail(&mut self) {
        let mut unused = String::new();
        for r in self.mail.receivers.iter().filter(|r| r.made.is_none()) {
            let handlers: String = (r.handlers.iter())
                .map(|h| {
                    let params: Vec<String> =
                        h.params.iter().enumerate().map(|(i, t)| format!("{} p{i}", t.text(&self.structs))).collect();
                    format!("    handler {}({}) {{\n    }}\n", h.name, params.join(", "))
                })
                .collect();
            let text =
                format!("int->int filter {} {{\n    work pop 1 push 1 {{\n        push(pop());\n    }}\n", r.name);
            self.decls.push(text + &handlers + "}\n");
            unused += &format!("    add {};\n", r.name);
        }
        if !unused.is_empty() {
            self.decls.push(format!("int->int pipeline Unused {{\n{unused}    add UnusedToo;\n}}\n"));
            self.decls.push("int->int pipeline UnusedToo {\n    add Unused;\n}\n".into());
        }
    }

    fn portal_type(&self, portal: usize) -> String {
        let p = &self.mail.portals[portal];
        format!("portal<{}> {}", self.mail.receivers[p.receiver].name, p.name)
    }

    /// The portals as the first statements of the entry.
    pub fn declared_portals(&self) -> String {
        (0..self.mail.portals.len()).map(|p| format!("    {};\n", self.portal_type(p))).collect()
    }

    /// Lists of parameters and arguments with these portals at the end.
    pub fn with_portals(&self, list: String, args: String, portals: &[usize]) -> (String, String) {
        if portals.is_empty() {
            return (list, args);
        }
        let with = |list: &str, more: Vec<String>| {
            let inside = list.strip_prefix('(').and_then(|l| l.strip_suffix(')')).unwrap_or_default();
            let comma = if inside.is_empty() { "" } else { ", " };
            format!("({inside}{comma}{})", more.join(", "))
        };
        let params = portals.iter().map(|p| self.portal_type(*p)).collect();
        let names = portals.iter().map(|p| self.mail.portals[*p].name.clone()).collect();
        (with(&list, params), with(&args, names))
    }

    /// The same with all portals.
    pub fn with_all_portals(&self, list: String, args: String) -> (String, String) {
        let all: Vec<usize> = (0..self.mail.portals.len()).collect();
        self.with_portals(list, args, &all)
    }

    /// Decides to which portals the filter to be made may send.
    pub fn choose_portals(&mut self) {
        let n = self.mail.portals.len();
        if n > 0 && self.r.chance(60) {
            let first = self.r.index(n);
            self.mail.open = vec![first];
            if n > 1 && self.r.chance(40) {
                self.mail.open.push((first + 1) % n);
            }
        }
    }

    /// One more instance of a receiver with these ends, where there is one.
    pub fn receiver_again(&mut self, w: &Wanted) -> Option<Sig> {
        if self.mail.receivers.is_empty() || self.r.chance(50) {
            return None;
        }
        self.again(w, |_| true)
    }

    fn again(&mut self, w: &Wanted, fits: impl Fn(&Made) -> bool) -> Option<Sig> {
        let bound = self.keep + self.still > 0;
        let suits = |m: &Made| {
            m.sig.input == w.input && m.sig.output == w.output && (w.prework || !m.prework) && !(bound && m.decides)
        };
        let found: Vec<usize> = (0..self.mail.receivers.len())
            .filter(|i| self.mail.receivers[*i].made.as_ref().is_some_and(|m| suits(m) && fits(m)))
            .collect();
        if found.is_empty() {
            return None;
        }
        let i = *self.r.pick(&found);
        let sig = self.mail.receivers[i].made.as_ref()?.sig.clone();
        Some(self.registered(i, sig))
    }

    /// A receiver with these ends and rates, if one is to be made, or is there.
    pub fn receiver(&mut self, w: &Wanted, rates: Rates, decides: bool) -> Option<Sig> {
        if self.mail.receivers.is_empty() || self.r.chance(45) {
            return None;
        }
        let Some(i) = self.mail.receivers.iter().position(|r| r.made.is_none()) else {
            return self.again(w, |m| m.rates == rates);
        };
        let (list, args, vars) = self.parameters(&Wanted { captured: Vec::new(), ..w.clone() });
        let prework = w.prework && self.r.chance(30);
        self.choose_portals();
        self.replicated += 1; // there may be more instances of it
        let style = Style { prework, decides, receiver: Some(i) };
        let made = filter::members(self, &w.input, &w.output, rates, vars, 1, style);
        self.replicated -= 1;
        let open = std::mem::take(&mut self.mail.open);
        let (list, args) = self.with_portals(list, args, &open);
        let (io, name) = (format!("{}->{}", self.show(&w.input), self.show(&w.output)), &self.mail.receivers[i].name);
        let sig = Sig {
            text: format!("{name}{args}"),
            input: w.input.clone(),
            output: w.output.clone(),
            pop: rates.pop.into(),
            push: rates.push.into(),
            ahead: made.ahead.into(),
            cost: made.cost.into(),
        };
        self.decls.push(format!("{io} filter {name}{list} {{\n{}}}\n", made.text));
        self.mail.receivers[i].made = Some(Made { sig: sig.clone(), rates, prework, decides });
        Some(self.registered(i, sig))
    }

    /// A receiver, with the portals it is registered with.
    fn registered(&mut self, receiver: usize, sig: Sig) -> Sig {
        let often = if self.r.chance(6) { 0 } else { 85 };
        let names: Vec<String> = (self.mail.portals.iter())
            .filter(|p| p.receiver == receiver && self.r.chance(often))
            .map(|p| p.name.clone())
            .collect();
        if names.is_empty() {
            return sig;
        }
        Sig { text: format!("{} to {}", sig.text, names.join(", ")), ..sig }
    }
}

impl Filter<'_> {
    /// The handlers of a receiver. They send to receivers after it only, so that no message causes itself.
    pub fn handlers(&mut self, receiver: usize) -> Vec<String> {
        let handlers = self.g.mail.receivers[receiver].handlers.clone();
        let open = self.g.mail.open.clone();
        let mail = &mut self.g.mail;
        mail.open.retain(|p| mail.portals[*p].receiver > receiver);
        let texts = handlers.iter().map(|h| self.handler(h)).collect();
        self.g.mail.open = open;
        texts
    }

    fn handler(&mut self, h: &Handler) -> String {
        let (mut list, mut vars) = (Vec::new(), Vec::new());
        for ty in &h.params {
            let name = self.g.name("p");
            list.push(format!("{} {name}", self.g.show(ty)));
            vars.push(Var::new(name, ty.clone()));
        }
        let mut b = self.body(Place::Handler);
        b.indent -= 1;
        b.most = 15;
        b.vars.extend(vars);
        b.prints = b.g.prints && b.g.r.chance(40);
        let n = b.g.r.range(1, 4);
        b.braces(&format!("handler {}({}) ", h.name, list.join(", ")), |b| b.statements(n));
        b.out
    }
}

impl Body<'_> {
    /// How likely a message is among other statements.
    pub(super) fn send_weight(&self) -> u32 {
        if self.g.mail.open.is_empty() || !matches!(self.place, Place::Work | Place::Handler) { 0 } else { 6 }
    }

    /// Sends a message.
    pub(super) fn send(&mut self) {
        let open = self.g.mail.open.clone();
        let portal = self.g.mail.portals[*self.g.r.pick(&open)].clone();
        let handlers = self.g.mail.receivers[portal.receiver].handlers.clone();
        let handler = self.g.r.pick(&handlers).clone();
        self.fires = true;
        self.count(10);
        // a variable declared here may hide one of the same name: so before anything that is named
        handler.params.iter().for_each(|ty| self.ensure(ty));
        let cond = self.g.r.chance(60).then(|| self.maybe(|b| b.test(2)));
        let saved = (self.pops, self.pushes);
        if cond.is_some() {
            (self.pops, self.pushes) = (0, 0);
        }
        let mut args = Vec::new();
        for ty in &handler.params {
            args.push(match ty {
                Ty::Array(..) | Ty::Struct(_) => self.expr(ty, 1).text(),
                _ => self.expr_to(ty, 2),
            });
        }
        if cond.is_some() {
            (self.pops, self.pushes) = saved;
        }
        let latency = self.latency();
        let cond = cond.map_or(String::new(), |c| format!("if ({c}) "));
        self.line(&format!("{cond}{}.{}({}){MARK}{latency};", portal.name, handler.name, args.join(", ")));
    }

    fn latency(&mut self) -> String {
        let known: Vec<(String, i32)> =
            (self.visible().chain(&self.g.statics)).filter_map(|v| v.value.map(|k| (v.name.clone(), k))).collect();
        let r = &mut self.g.r;
        let most = match r.below(10) {
            0 | 1 => return String::new(),
            2 | 3 => return " [*]".into(),
            4 => r.range(5, 40) as i32,
            _ => r.below(12) as i32 - 4,
        };
        let least = most - if r.chance(50) { 0 } else { r.below(5) as i32 };
        format!(" [{}:{}]", known_int(r, &known, least), known_int(r, &known, most))
    }
}
