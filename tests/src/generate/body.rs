//! What is known while the body of a function is made: variables, functions, and how many items it may still pop and push.

use super::mail::Mail;
use super::random::Random;
use super::types::{Struct, Ty};

/// A variable.
#[derive(Clone, Debug)]
pub struct Var {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Ty,
    /// May it be assigned?
    pub writable: bool,
    /// For an int: it is never below the first and always below the second.
    pub range: Option<(i32, i32)>,
    /// For an int known at compile time.
    pub value: Option<i32>,
}

impl Var {
    /// A variable that can be assigned.
    pub fn new(name: impl Into<String>, ty: Ty) -> Var {
        Var { name: name.into(), ty, writable: true, range: None, value: None }
    }

    /// One that cannot.
    pub fn constant(name: impl Into<String>, ty: Ty) -> Var {
        Var { writable: false, ..Var::new(name, ty) }
    }

    /// Is it a field? `init` may still change one that is known later.
    pub fn is_field(&self) -> bool {
        self.name.starts_with('s')
    }

    /// An int with a known value.
    pub fn known(name: impl Into<String>, value: i32) -> Var {
        Var { value: Some(value), range: Some((value, value + 1)), ..Var::constant(name, Ty::Int) }
    }
}

/// A number as it is written: often by a name of known value.
pub fn known_int(r: &mut Random, known: &[(String, i32)], n: i32) -> String {
    let near: Vec<&(String, i32)> = known.iter().filter(|(_, k)| (n - k).abs() < 4).collect();
    if near.is_empty() || r.chance(50) {
        return n.to_string();
    }
    match *r.pick(&near) {
        (name, k) if *k == n => name.clone(),
        (name, k) if *k < n => format!("{name} + {}", n - k),
        (name, k) => format!("{name} - {}", k - n),
    }
}

/// A function that can be called.
#[derive(Clone, Debug)]
pub struct Fun {
    /// As it is called, the group's name included.
    pub name: String,
    /// Parameters; true for an array that the function writes.
    pub params: Vec<(Ty, bool)>,
    /// Result.
    pub ret: Ty,
    /// Items popped, in every call.
    pub pops: u32,
    /// Items pushed, in every call.
    pub pushes: u32,
    /// Items it may look at, from where it is called.
    pub need: u32,
    /// Statements carried out, at most.
    pub cost: u32,
    /// Does it use channels or `iter()`, or print? Then `init` cannot call it.
    pub fires: bool,
}

/// What every part of the generator needs.
pub struct Gen {
    /// Where all decisions come from.
    pub r: Random,
    /// Structs of the program.
    pub structs: Vec<Struct>,
    /// Statics of the program.
    pub statics: Vec<Var>,
    /// Functions of helper groups.
    pub helpers: Vec<Fun>,
    /// Texts of top-level declarations.
    pub decls: Vec<String>,
    /// Do filters print?
    pub prints: bool,
    /// Does a `FileReader` read `in.bin`?
    pub reads: bool,
    /// How many more filters may divide by what could be zero, or use an index that could be outside.
    pub hazards: u32,
    /// Greater than 0 where what is made can be instantiated several times.
    pub replicated: u32,
    /// How many of a hundred filters decide on their rates.
    pub dynamic: u32,
    /// Greater than 0 where such a filter must give as many items for those it takes as its rates say: within a loop.
    pub keep: u32,
    /// Greater than 0 where there must be none: a loop without input would run for ever.
    pub still: u32,
    /// Is there something that gives items without end?
    pub endless: bool,
    /// Portals, and the filters that receive.
    pub mail: Mail,
    next: u32,
}

impl Gen {
    /// A generator at its start.
    pub fn new(seed: u64) -> Gen {
        Gen {
            r: Random::new(seed),
            structs: Vec::new(),
            statics: Vec::new(),
            helpers: Vec::new(),
            decls: Vec::new(),
            prints: false,
            reads: false,
            hazards: 0,
            replicated: 0,
            dynamic: 0,
            keep: 0,
            still: 0,
            endless: false,
            mail: Mail::default(),
            next: 0,
        }
    }

    /// A name not used before.
    pub fn name(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    /// A type as it is written.
    pub fn show(&self, ty: &Ty) -> String {
        ty.text(&self.structs)
    }

    /// A type for a variable; `wide` says how many numbers it may have.
    pub fn any_type(&mut self, wide: u32) -> Ty {
        let scalar = super::types::SCALARS[self.r.weighted(&[30, 22, 6, 8, 10, 8, 4, 4, 4])].clone();
        match self.r.below(10) {
            _ if wide < 2 => scalar,
            0 if !self.structs.is_empty() => {
                let t = Ty::Struct(self.r.index(self.structs.len()));
                if t.size(&self.structs) <= wide { t } else { scalar }
            }
            1 | 2 => {
                let inner = if self.r.chance(30) { self.any_type(wide / 3) } else { scalar };
                let most = (wide / inner.size(&self.structs).max(1)).min(8);
                if most == 0 { inner } else { inner.array(self.r.range(1, most)) }
            }
            _ => scalar,
        }
    }

    /// A type for the items of a channel.
    pub fn item_type(&mut self) -> Ty {
        if self.r.chance(55) {
            return [Ty::Int, Ty::Float][self.r.index(2)].clone();
        }
        self.any_type(6)
    }
}

/// Where a body stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// `work`, `prework`, and functions that fire with them.
    Work,
    /// A filter's function that `init` may call, too.
    Own,
    /// `init`
    Init,
    /// A message handler.
    Handler,
    /// A function of a helper group.
    Helper,
    /// `static`
    Static,
    /// A composite's body, or arguments in it.
    Composite,
}

/// A body being made.
pub struct Body<'g> {
    /// The program.
    pub g: &'g mut Gen,
    /// What kind of body.
    pub place: Place,
    /// Variables that can be seen.
    pub vars: Vec<Var>,
    /// Functions of the filter.
    pub own: Vec<Fun>,
    /// Items that come in.
    pub input: Ty,
    /// Items that go out.
    pub output: Ty,
    /// Items still to be popped here.
    pub pops: u32,
    /// Items still to be pushed here.
    pub pushes: u32,
    /// Items that may be looked at.
    pub peek: u32,
    /// Items popped before this place, at most.
    pub popped: u32,
    /// How often this place is reached, at most.
    pub times: u32,
    /// Statements carried out so far, at most.
    pub cost: u32,
    /// The bound on them.
    pub most: u32,
    /// May `break` stand here?
    pub breakable: bool,
    /// May `continue` stand here?
    pub continuable: bool,
    /// The result's type, in a function.
    pub ret: Option<Ty>,
    /// May it print?
    pub prints: bool,
    /// May it divide by zero, or leave an array?
    pub hazard: bool,
    /// Has it done something that only a firing can?
    pub fires: bool,
    /// Lines so far.
    pub out: String,
    /// Depth of blocks.
    pub indent: usize,
    /// Where the variables of the innermost block begin.
    pub scope: usize,
    /// May a declaration hide a variable of an outer block?
    pub hides: bool,
}

impl<'g> Body<'g> {
    /// A body without channels.
    pub fn new(g: &'g mut Gen, place: Place, vars: Vec<Var>) -> Body<'g> {
        Body {
            g,
            place,
            vars,
            own: Vec::new(),
            input: Ty::Void,
            output: Ty::Void,
            pops: 0,
            pushes: 0,
            peek: 0,
            popped: 0,
            times: 1,
            cost: 0,
            most: 60,
            breakable: false,
            continuable: false,
            ret: None,
            prints: false,
            hazard: false,
            fires: false,
            out: String::new(),
            indent: 1,
            scope: 0,
            hides: true,
        }
    }

    /// A type as it is written here: now and then the sizes of arrays by names.
    pub fn show(&mut self, ty: &Ty) -> String {
        if !matches!(ty, Ty::Array(..)) || !self.g.r.chance(20) {
            return self.g.show(ty);
        }
        let statics = self.g.statics.iter().filter(|_| self.place != Place::Static);
        let known: Vec<(String, i32)> = (self.visible().chain(statics))
            .filter(|v| self.place == Place::Work || !v.is_field())
            .filter_map(|v| v.value.map(|k| (v.name.clone(), k)))
            .collect();
        ty.text_sized(&self.g.structs, &mut |n| known_int(&mut self.g.r, &known, n as i32))
    }

    /// Writes a line.
    pub fn line(&mut self, text: &str) {
        self.out.push_str(&"    ".repeat(self.indent));
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Writes `head { ... }`; what is declared inside ends there.
    pub fn braces(&mut self, head: &str, inside: impl FnOnce(&mut Self)) {
        self.line(&format!("{head}{{"));
        let (mark, scope) = (self.vars.len(), self.scope);
        self.scope = mark;
        self.indent += 1;
        inside(self);
        self.indent -= 1;
        self.scope = scope;
        self.vars.truncate(mark);
        self.line("}");
    }

    /// Makes something with a budget of its own, all of which it spends.
    pub fn with_budget(&mut self, pops: u32, pushes: u32, inside: impl FnOnce(&mut Self)) {
        let saved = (self.pops, self.pushes, self.popped);
        (self.pops, self.pushes) = (pops, pushes);
        inside(self);
        debug_assert!(self.pops == 0 && self.pushes == 0);
        (self.pops, self.pushes, self.popped) = saved;
    }

    /// Makes something that may or may not be reached: it pops and pushes nothing.
    pub fn maybe<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        let saved = (self.pops, self.pushes);
        (self.pops, self.pushes) = (0, 0);
        let result = inside(self);
        (self.pops, self.pushes) = saved;
        result
    }

    /// The variables that can be seen: those not hidden by another of the same name.
    pub fn visible(&self) -> impl Iterator<Item = &Var> {
        self.vars
            .iter()
            .enumerate()
            .filter(|(i, v)| self.vars[i + 1..].iter().all(|w| w.name != v.name))
            .map(|(_, v)| v)
    }

    /// Can a value of this type be read from a variable?
    pub fn has(&self, ty: &Ty) -> bool {
        self.visible().any(|v| v.ty.holds(ty, &self.g.structs))
    }

    /// Counts a statement.
    pub fn count(&mut self, statements: u32) {
        self.cost = self.cost.saturating_add(self.times.saturating_mul(statements));
    }

    /// How many more times a statement here may be repeated.
    pub fn room(&self) -> u32 {
        self.most.saturating_sub(self.cost) / self.times.max(1)
    }
}
