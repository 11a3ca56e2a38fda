//! Round-robin splitjoins whose branches are equal filters, between other streams: what the compiler makes one filter of.

use super::body::Gen;
use super::filter::Rates;
use super::random::Random;
use super::stream::Wanted;
use super::types::Ty;
use super::{Case, globals};

/// A program of a seed with a splitjoin of equal branches, with input.
pub fn branches(seed: u64) -> Case {
    let mut g = Gen::new(seed ^ 0xF01D_B2A2);
    g.hazards = u32::from(g.r.chance(8));
    let risky = g.hazards;
    globals(&mut g);
    let n = g.r.range(2, 6);
    let (input, output) = (g.item_type(), g.item_type());
    let rate = |r: &mut Random| if r.chance(40) { 1 } else { r.range(1, 6) };
    let (pop, push) = (rate(&mut g.r), rate(&mut g.r));
    let ahead = if g.r.chance(40) { g.r.range(1, 9) } else { 0 };
    // mostly weights that divide the rates
    let weight = |r: &mut Random, rate: u32| match r.below(16) {
        0 => rate * 2,
        1 => 3,
        2..6 => 1,
        6..9 => (1..=rate).rev().find(|w| *w < rate && rate.is_multiple_of(*w)).unwrap_or(1),
        _ => rate,
    };
    let (taken, given) = (weight(&mut g.r, pop), weight(&mut g.r, push));
    let inner = |input: &Ty, output: &Ty, indent| Wanted {
        input: input.clone(),
        output: output.clone(),
        depth: 0,
        cost: 60,
        prework: true,
        captured: Vec::new(),
        indent,
    };
    g.replicated += 1;
    let branch = g.filter_of(&inner(&input, &output, 2), Rates { pop, peek: pop + ahead, push }, true);
    g.replicated -= 1;
    let add = g.add("add", &branch.text, 2);
    let i = g.name("i");
    let (a, b) = (g.show(&input), g.show(&output));
    g.decls.push(format!(
        "{a}->{b} splitjoin Bank {{\n    split roundrobin({taken});\n    for (int {i} = 0; {i} < {n}; {i}++) {{\n{add}    }}\n    join roundrobin({given});\n}}\n"
    ));
    let mut body = String::new();
    if g.r.chance(40) {
        let before = g.filter(&inner(&input, &input, 1), false);
        body += &g.add("add", &before.text, 1);
    }
    body += "    add Bank;\n";
    if g.r.chance(40) {
        let after = g.filter(&inner(&output, &output, 1), false);
        body += &g.add("add", &after.text, 1);
    }
    g.decls.push(format!("{a}->{b} pipeline Main {{\n{body}}}\n"));
    let items = g.r.range(0, 60) * n * taken.max(pop) / 4 + g.r.below(40);
    let mut bytes = Vec::new();
    (0..items.min(1500)).for_each(|_| input.sample(&g.structs, &mut g.r, &mut bytes));
    let iterations = g.r.chance(15).then(|| u64::from(g.r.below(6)));
    let order = g.r.index(g.decls.len());
    g.decls.rotate_left(order);
    Case { source: g.decls.join("\n"), input: Some(bytes), iterations, hazards: g.hazards < risky, channel_limit: None }
}
