//! Random well-typed programs as source text, each with its input.
//!
//! A seed gives one [`Case`], the same on every machine. Whatever the random choices, the text is a program without errors: types
//! fit, every firing pops and pushes what it declares, splitjoins and loops balance. Only some divisors and indices
//! (`Case::hazards`) may go wrong when the program runs.

mod access;
mod bits;
mod body;
mod branch;
mod branches;
mod cascade;
mod copies;
mod deciding;
mod expr;
mod feedback;
mod filter;
mod latencies;
mod mail;
mod narrow;
pub mod random;
mod stmt;
mod stream;
pub mod types;
mod ways;
mod window;

pub use bits::bits;
pub use branches::branches;
pub use cascade::cascade;
pub use narrow::narrow;
pub use ways::ways;

use body::{Body, Gen, Place, Var};
use filter::Rates;
use random::Random;
use stream::{Sig, Wanted, join};
use types::{SCALARS, Struct, Ty};

/// A program, and how to run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The program's text.
    pub source: String,
    /// Its input: for the open end, or the file `in.bin`.
    pub input: Option<Vec<u8>>,
    /// Steady states, where it does not end by itself.
    pub iterations: Option<u64>,
    /// Could it fail when it runs?
    pub hazards: bool,
    /// The most items on a channel, where rates are dynamic.
    pub channel_limit: Option<u64>,
}

/// What stands at the program's ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// `void->void`: made and printed.
    Closed,
    /// Open on both sides, or one.
    Open(bool, bool),
    /// `FileReader` and `FileWriter`.
    Files,
}

/// Statements of a whole run, at most (about).
const MOST: u64 = 60_000;

/// What a program has beyond the usual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flavour {
    /// Rates that firings decide on.
    pub dynamic: bool,
    /// Portals and messages.
    pub messages: bool,
}

/// What the program of a seed has: one of four has dynamic rates, one of four messages.
pub fn flavour(seed: u64) -> Flavour {
    let mut r = Random::new(seed ^ 0xF1A7_0000);
    Flavour { dynamic: r.chance(25), messages: r.chance(25) }
}

/// The program of a seed.
pub fn case(seed: u64) -> Case {
    let mut g = Gen::new(seed);
    let flavour = flavour(seed);
    if flavour.dynamic {
        g.dynamic = *g.r.pick(&[35, 60, 85]);
    }
    if flavour.messages {
        g.start_mail();
    }
    g.prints = g.r.chance(25);
    g.hazards = u32::from(g.r.chance(12));
    let risky = g.hazards;
    globals(&mut g);
    let size = *g.r.pick(&[40, 120, 300, 300, 800]);
    let depth = g.r.range(0, 3);
    let ends = match g.r.weighted(&[30, 35, 10, 12, 13]) {
        0 => Ends::Closed,
        1 => Ends::Open(true, true),
        2 => Ends::Open(true, false),
        3 => Ends::Open(false, true),
        _ => Ends::Files,
    };
    let input = if matches!(ends, Ends::Closed | Ends::Open(false, _)) { Ty::Void } else { g.item_type() };
    let output = match ends {
        Ends::Closed | Ends::Open(_, false) => Ty::Void,
        _ if input != Ty::Void && g.r.chance(30) => input.clone(),
        _ => g.item_type(),
    };
    let want = |input: &Ty, output: &Ty| Wanted {
        input: input.clone(),
        output: output.clone(),
        depth,
        cost: size,
        prework: true,
        captured: Vec::new(),
        indent: 0,
    };
    let sig = match ends {
        Ends::Closed => closed(&mut g, want(&Ty::Void, &Ty::Void)),
        Ends::Open(..) => g.entry(&want(&input, &output), "Main"),
        Ends::Files => {
            let s = g.stream(&Wanted { indent: 1, ..want(&input, &output) });
            let (i, o) = (g.show(&input), g.show(&output));
            let add = g.add("add", &s.text, 1);
            let portals = g.declared_portals();
            g.decls.push(format!(
                "void->void pipeline Main {{\n{portals}    add FileReader<{i}>(\"in.bin\");\n{add}    add FileWriter<{o}>(\"out.bin\");\n}}\n"
            ));
            s
        }
    };
    let round = sig.cost.max(1) + sig.pop + sig.push;
    let most = if g.r.chance(15) { 600 } else { 40 };
    let rounds = (MOST / round).clamp(1, most);
    let few = g.r.chance(if flavour.dynamic { 30 } else { 80 });
    let iterations = u64::from(g.r.below(if few { 13 } else { 60 })).min(rounds);
    let (bytes, iterations) = match (input == Ty::Void, g.reads) {
        (true, false) => (None, Some(iterations)),
        // whatever the types of those that read it
        (true, true) => {
            let n = g.r.range(0, 200).min(rounds as u32 * 4);
            let mut bytes = Vec::new();
            (0..n).for_each(|_| Ty::Float.sample(&g.structs, &mut g.r, &mut bytes));
            (Some(bytes), g.r.chance(30).then_some(iterations))
        }
        _ => {
            let items = (sig.ahead.min(400) + sig.pop * u64::from(g.r.below(rounds as u32 + 1))).min(3000);
            let items = items + u64::from(g.r.below(sig.pop.min(50) as u32 + 1));
            let items = items + u64::from(if flavour.dynamic && g.r.chance(70) { g.r.range(20, 250) } else { 0 });
            let mut bytes = Vec::new();
            if g.r.chance(97) {
                (0..items).for_each(|_| input.sample(&g.structs, &mut g.r, &mut bytes));
            }
            if g.r.chance(20) {
                bytes.extend(g.r.clone().bytes(3)); // not a whole item
            }
            (Some(bytes), g.r.chance(15).then_some(iterations))
        }
    };
    // what comes without end can be waited for in vain, for ever
    let iterations = if flavour.dynamic && g.endless { iterations.or(Some(rounds.min(13))) } else { iterations };
    let channel_limit = (flavour.dynamic && g.r.chance(12)).then(|| *g.r.pick(&[3, 10, 40, 200, 1000]));
    g.finish_mail();
    let order = g.r.index(g.decls.len());
    g.decls.rotate_left(order);
    let source = g.decls.join("\n");
    let source = if flavour.messages { latencies::settle(source) } else { source };
    let hazards = g.hazards < risky || channel_limit.is_some();
    Case { source, input: bytes, iterations, hazards, channel_limit }
}

/// A program of a seed, all of whose filters look at windows of their input and have no state; the bytes of an item; and an
/// input of so many items.
pub fn windows(seed: u64, items: u32) -> (Case, usize) {
    const ITEMS: [Ty; 3] = [Ty::Float, Ty::Int, Ty::Complex];
    let mut g = Gen::new(seed ^ 0x57A1_7E55);
    let n = g.r.weighted(&[0, 60, 30, 10]);
    let types: Vec<Ty> = (0..=n).map(|_| ITEMS[g.r.weighted(&[6, 3, 2])].clone()).collect();
    let mut body = String::new();
    for t in types.windows(2) {
        let mut rate = |often: u32| if g.r.chance(often) { g.r.range(1, 3) } else { g.r.range(1, 20) };
        let (pop, push) = (rate(60), rate(70));
        let ahead = match g.r.below(4) {
            0 => 0,
            1 => g.r.range(1, 8),
            2 => g.r.range(1, 70),
            _ => pop * g.r.range(0, 6),
        };
        let name = g.name("W");
        let made = window::members(&mut g, &t[0], &t[1], Rates { pop, peek: pop + ahead, push }, Vec::new(), 1);
        let io = format!("{}->{}", g.show(&t[0]), g.show(&t[1]));
        g.decls.push(format!("{io} filter {name} {{\n{}}}\n", made.text));
        // copies side by side take turns
        body += &match g.r.below(6) {
            0 => format!(
                "    add splitjoin {{\n        split duplicate;\n        add {name};\n        add {name};\n        join roundrobin({push});\n    }}\n"
            ),
            _ => format!("    add {name};\n"),
        };
    }
    let io = format!("{}->{}", g.show(&types[0]), g.show(&types[n]));
    g.decls.push(format!("{io} pipeline Main {{\n{body}}}\n"));
    let mut bytes = Vec::new();
    (0..items).for_each(|_| types[0].sample(&[], &mut g.r, &mut bytes));
    let size = if types[0] == Ty::Complex { 8 } else { 4 };
    (
        Case { source: g.decls.join("\n"), input: Some(bytes), iterations: None, hazards: false, channel_limit: None },
        size,
    )
}

/// A program from a source to a sink that prints.
fn closed(g: &mut Gen, w: Wanted) -> Sig {
    if w.indent == 0 && g.r.chance(12) {
        // several that know nothing of each other
        let (one, other) = (closed(g, Wanted { indent: 1, ..w.clone() }), closed(g, Wanted { indent: 1, ..w }));
        let body = [&one, &other].map(|s| g.add("add", &s.text, 1)).concat();
        let portals = g.declared_portals();
        g.decls.push(format!(
            "void->void splitjoin Main {{\n{portals}    split roundrobin(0);\n{body}    join roundrobin(0);\n}}\n"
        ));
        return Sig { cost: one.cost + other.cost, ..one };
    }
    let name = if w.indent == 0 { "Main".into() } else { g.name("P") };
    let (a, b) = (g.item_type(), g.item_type());
    let inside = Wanted { indent: 1, ..w };
    let source = g.stream(&Wanted { input: Ty::Void, output: a.clone(), depth: inside.depth.min(1), ..inside.clone() });
    let middle = g.stream(&Wanted { input: a, output: b.clone(), ..inside.clone() });
    let sink = g.filter(&Wanted { input: b, output: Ty::Void, depth: 0, ..inside }, false);
    let body = [&source, &middle, &sink].map(|s| g.add("add", &s.text, 1)).concat();
    let top = name == "Main";
    let (list, args) = if top { Default::default() } else { g.with_all_portals(String::new(), String::new()) };
    let portals = if top { g.declared_portals() } else { String::new() };
    g.decls.push(format!("void->void pipeline {name}{list} {{\n{portals}{body}}}\n"));
    Sig { text: name + &args, ..join(&join(&source, &middle), &sink) }
}

/// Structs, statics, helper groups.
fn globals(g: &mut Gen) {
    for _ in 0..g.r.weighted(&[45, 25, 20, 10]) {
        let name = g.name("S");
        let fields: Vec<Ty> = (0..g.r.range(1, 4)).map(|_| g.any_type(4)).collect();
        let text: String = fields.iter().enumerate().map(|(i, t)| format!("    {} f{i};\n", g.show(t))).collect();
        g.decls.push(format!("struct {name} {{\n{text}}}\n"));
        g.structs.push(Struct { name, fields });
    }
    if g.r.chance(40) {
        let text = statics(g);
        g.decls.push(text);
    }
    if g.r.chance(40) {
        let group = g.name("H");
        let mut text = String::new();
        for _ in 0..g.r.range(1, 3) {
            let (function, made) = filter::helper(g, &group);
            text += &function;
            g.helpers.push(made);
        }
        g.decls.push(format!("helper {group} {{\n{text}}}\n"));
    }
}

fn statics(g: &mut Gen) -> String {
    let mut text = String::from("static {\n");
    for _ in 0..g.r.range(1, 3) {
        let name = g.name("K");
        if g.r.chance(50) {
            let value = g.r.below(8) as i32;
            text += &format!("    int {name} = {value};\n");
            g.statics.push(Var::known(name, value));
            continue;
        }
        let ty = if g.r.chance(50) { SCALARS[g.r.index(6)].clone() } else { g.any_type(12) };
        let shown = g.show(&ty);
        let value = match &ty {
            Ty::Array(..) | Ty::Struct(_) => None,
            _ => Some(Body::new(g, Place::Static, Vec::new()).expr_to(&ty, 2)),
        };
        text += &match value {
            Some(v) => format!("    {shown} {name} = {v};\n"),
            None => format!("    {shown} {name};\n"),
        };
        g.statics.push(Var::constant(name, ty));
    }
    if g.r.chance(60) {
        // known values stay as they are: rates depend on them
        let vars = g.statics.iter().map(|v| Var { writable: v.value.is_none(), ..v.clone() }).collect();
        let mut b = Body::new(g, Place::Static, vars);
        b.braces("init ", |b| {
            let n = b.g.r.range(1, 4);
            b.statements(n);
        });
        text += &b.out;
    }
    text + "}\n"
}

/// Random bytes with a length below `most`.
pub fn noise(r: &mut Random, most: u32) -> Vec<u8> {
    let n = r.below(most) as usize;
    r.bytes(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats() {
        for seed in 0..20 {
            assert_eq!(case(seed), case(seed));
        }
        assert_ne!(case(1).source, case(2).source);
    }
}
