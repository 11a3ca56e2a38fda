//! Steps of loops, regions and tiles of small programs, whose numbers are worked out by hand.

mod places;

use super::groups;
use super::options::{CudaOptions, Scheme};
use super::parts::Parts;
use super::profile::profile;
use super::program::{CudaInput, Making};
use super::regions::{Grouping, Launch, Regions, regions};
use super::several::several;
use super::steps::Order;
use super::tiles::tiling;
use crate::c::program::{Flavour, ProgramInput, ProgramOptions};
use sluice_frontend::graph::SdfGraph;
use sluice_frontend::ids::NodeId;
use sluice_frontend::{Elaborated, NoImports, Options, SourceInput, analyse};
use sluice_kernel::ir::Kernel;
use sluice_kernel::lower::{LowerOptions, lower};
use sluice_schedule::method::{self, Method, Settings};
use sluice_schedule::plan::{self, Program};
use sluice_schedule::problem::granularity::whole;
use sluice_schedule::{judge, machine, single_appearance};
use std::collections::BTreeSet;

/// Filters of all the programs.
const FILTERS: &str = "
int->int filter Plain { work pop 1 push 1 { push(pop() + 1); } }
int->int filter Up { work pop 1 push 3 { int a = pop(); push(a); push(a); push(a); } }
int->int filter Down { work pop 3 push 1 { push(pop() + pop() + pop()); } }
int->int filter Peek3 { work peek 3 pop 1 push 1 { push(peek(0) + peek(2)); pop(); } }
int->int filter Mean { work peek 6 pop 4 push 1 { push(peek(0) + peek(5)); for (int i = 0; i < 4; i++) pop(); } }
int->int stateful filter Sum { int s; work pop 1 push 1 { s += pop(); push(s); } }
int->int filter Late { prework push 2 { push(0); push(0); } work pop 1 push 1 { push(pop()); } }
";

fn elaborated(main: &str) -> (Elaborated, sluice_grammar::span::SourceMap) {
    let text = format!("{FILTERS}{main}");
    let analysis = analyse(
        vec![SourceInput { name: "a.str".into(), text }],
        &Options { top: Some("Main".into()), ..Options::default() },
        &mut NoImports,
    );
    let program = analysis.program.unwrap_or_else(|| panic!("{:?}", analysis.diagnostics));
    (program, analysis.sources)
}

/// What is made of a program before its text.
fn with<T>(main: &str, see: impl FnOnce(&Making<'_>) -> T) -> T {
    let (program, sources) = elaborated(main);
    let (graph, steady) = (&program.graph, &program.steady);
    let kernels: Vec<Kernel> =
        program.codes.iter().map(|c| lower(c, &program.globals, LowerOptions::default()).unwrap()).collect();
    let sequential =
        judge::verify(graph, steady, single_appearance::single_appearance(graph, steady, 1).unwrap()).unwrap();
    let machine = machine::shipped("h200").unwrap();
    let times = plan::times(&machine, &plan::costs(graph, |_| Default::default()));
    let item_bytes = vec![4; graph.channels.len()];
    let what = Program { graph, steady, times: &times, item_bytes: &item_bytes };
    let plan = plan::with_granularity(what, whole(steady, 64).unwrap(), 1).unwrap();
    let outcome = method::solve(&plan, Method::Sas, &Settings::default(), &|| 0.0).unwrap();
    let host_options = ProgramOptions { flavour: Flavour::Plugin, ..ProgramOptions::default() };
    let host = ProgramInput {
        name: "test",
        globals: &program.globals,
        codes: &program.codes,
        graph,
        steady,
        messages: &program.messages,
        kernels: &kernels,
        schedule: &sequential,
        fused: None,
        sources: &sources,
        options: &host_options,
    };
    let turns = vec![None; kernels.len()];
    let options = CudaOptions { scheme: Scheme::Fused, ..CudaOptions::default() };
    let input = CudaInput {
        host: &host,
        kernels: &kernels,
        turns: &turns,
        threads: &[],
        costs: "",
        problem: &plan.problem,
        schedule: &outcome.verified,
        options: &options,
    };
    see(&Making::new(input).unwrap().0)
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

fn name(graph: &SdfGraph, v: NodeId) -> String {
    last(&graph.node(v).path).to_string()
}

/// The kernels of a program: `task NAMES`, or `region` with its groups, each with its firings in a steady state and those of its members.
fn shown(making: &Making<'_>, found: &Regions) -> String {
    let graph = making.input.host.graph;
    let mut out = String::new();
    for launch in &found.launches {
        match launch {
            Launch::Task(t) => {
                let nodes = &making.input.problem.graph().tasks[*t].nodes;
                let names: Vec<String> = nodes.iter().map(|v| name(graph, *v)).collect();
                out += &format!("task {}\n", names.join(" "));
            }
            Launch::Region(r) => {
                let groups = found.regions[*r].groups.iter().map(|g| {
                    let members: Vec<String> =
                        g.members.iter().map(|(v, q)| format!("{}*{q}", name(graph, *v))).collect();
                    format!("{}({})", g.rate, members.join(" "))
                });
                out += &format!("region {}\n", groups.collect::<Vec<_>>().join(", "));
            }
        }
    }
    out
}

fn kernels_of(main: &str) -> String {
    with(main, |making| shown(making, &regions(making, &BTreeSet::new(), &BTreeSet::new(), Grouping::Small)))
}

/// The tiles of the only region: by group its firings, by channel the items that are seen and those that have a place.
fn tiles_of(main: &str, states: u64) -> String {
    with(main, |making| {
        let graph = making.input.host.graph;
        let found = regions(making, &BTreeSet::new(), &BTreeSet::new(), Grouping::Small);
        assert_eq!(found.regions.len(), 1, "{}", shown(making, &found));
        let region = &found.regions[0];
        let t = tiling(making, &found, region, states, Order::Together).unwrap();
        let mut out = String::new();
        for (g, r) in region.groups.iter().zip(&t.ranges) {
            out += &format!("{} fires {}..{}\n", name(graph, g.members[0].0), r.low, r.high);
        }
        for (c, tile) in &t.tiles {
            let ends = graph.channel(*c);
            let fill = making.input.host.steady.boundary_fill[c.index()];
            let end = tile.low + tile.items as i64;
            out += &format!(
                "{} to {}: {fill} kept, seen {}..{}, room {}..{end}\n",
                name(graph, ends.from.0),
                name(graph, ends.to.0),
                tile.seen,
                tile.seen_end,
                tile.low
            );
            if tile.gap > 0 {
                out.insert_str(out.len() - 1, &format!(", a gap after {}", tile.gap));
            }
        }
        for (c, (of, further)) in &t.elsewhere.copies {
            let [c, of] = [c, of].map(|c| name(graph, graph.channel(*c).to.0));
            out += &format!("to {c} as to {of}, item 0 is {further}\n");
        }
        for (g, r) in region.groups.iter().zip(&t.ranges) {
            let n = several(making, &t, g, r.high.abs_diff(r.low));
            if n > 1 {
                out += &format!("{n} firings of {} in a thread\n", name(graph, g.members[0].0));
            }
        }
        out + &format!("tails {}, work {}\n", t.tails, t.overhead)
    })
}

/// A loop that Up gives three items per steady state, with so many items on its way back.
fn steps_of(delay: usize) -> Vec<(String, u64)> {
    let enqueue = "enqueue 0; ".repeat(delay);
    let main = format!(
        "int->int feedbackloop Loop {{ join roundrobin(1, 1); body Plain; split roundrobin(1, 1); {enqueue} }}
         int->int pipeline Main {{ add Up; add Loop; }}"
    );
    let (program, _) = elaborated(&main);
    let graph = &program.graph;
    let outside =
        |v: &NodeId| graph.node(*v).inputs.is_empty() || graph.node(*v).outputs.is_empty() || name(graph, *v) == "Up";
    let nodes: Vec<NodeId> = graph.node_ids().filter(|v| !outside(v)).collect();
    assert_eq!(nodes.len(), 3);
    let steps = groups::steps(graph, &program.steady, &nodes).unwrap();
    steps.iter().map(|s| (name(graph, nodes[s.member]), s.times)).collect()
}

/// All three nodes in turn for each of the three firings of the joiner that a steady state has, unless more items are on their way: then as many at a time.
#[test]
fn loops_go_in_steps_as_large_as_their_delays() {
    let steps = |turns: &[u64]| -> Vec<(String, u64)> {
        let turn = |n: &u64| [("join", *n), ("Plain", 2 * n), ("split", *n)].map(|(name, n)| (name.to_string(), n));
        turns.iter().flat_map(turn).collect()
    };
    assert_eq!(steps_of(1), steps(&[1, 1, 1]));
    assert_eq!(steps_of(2), steps(&[2, 1]));
    assert_eq!(steps_of(3), steps(&[3]));
    // more than a steady state needs
    assert_eq!(steps_of(4), steps(&[3]));
}

const SPLITJOIN: &str = "int->int splitjoin S { split duplicate; add Plain; add Peek3; join roundrobin; }
int->int pipeline Main { add S; }";

#[test]
fn nodes_whose_items_are_whole_are_a_group() {
    let all = kernels_of("int->int pipeline Main { add Up; add Down; }");
    assert_eq!(all, "region 1(input*1), 1(Up*1 Down*1), 1(output*1)\n");
    // Up gives three items, for which each node behind it fires three times
    let all = kernels_of("int->int pipeline Main { add Plain; add Up; add Plain; add Plain; }");
    assert_eq!(all, "region 1(input*1), 1(Plain*1 Up*1 Plain#2*3 Plain#3*3), 3(output*1)\n");
    // what is looked at ahead is not whole
    let all = kernels_of("int->int pipeline Main { add Plain; add Peek3; add Plain; }");
    assert_eq!(all, "region 1(input*1), 1(Plain*1), 1(Peek3*1 Plain#2*1), 1(output*1)\n");
}

#[test]
fn no_way_leads_out_of_a_group_and_back() {
    // the splitter is in no group with Plain: the way over Peek3 would come back to it at the joiner
    assert_eq!(kernels_of(SPLITJOIN), "region 1(input*1), 1(split*1), 1(Plain*1 Peek3*1 join*1), 2(output*1)\n");
}

#[test]
fn state_is_between_regions() {
    let all = kernels_of("int->int pipeline Main { add Plain; add Sum; add Plain; }");
    assert_eq!(all, "region 1(input*1), 1(Plain*1)\ntask Sum\nregion 1(Plain#2*1), 1(output*1)\n");
    // a way past the state does not bring the joiner into the first region
    let all = kernels_of(
        "int->int splitjoin S { split duplicate; add Plain; add Sum; join roundrobin; }
         int->int pipeline Main { add Plain; add S; }",
    );
    assert_eq!(all, "region 1(input*1), 1(Plain*1 split*1 Plain*1)\ntask Sum\nregion 1(join*1), 2(output*1)\n");
}

#[test]
fn tiles_without_peeks_are_their_own() {
    let want = "input fires 0..8\nPlain fires 0..8\noutput fires 0..8\n\
                input to Plain: 0 kept, seen 0..8, room 0..8\nPlain to output: 0 kept, seen 0..8, room 0..8\ntails 0, work 1\n";
    assert_eq!(tiles_of("int->int pipeline Main { add Plain; }", 8), want);
}

#[test]
fn peeks_make_halos() {
    // 8 firings see items 0 to 9, of which 2 are there: firings -2 to 7 give them; one tile more saves the last 2
    let want = "input fires -2..8\nPlain fires -2..8\nPeek3 fires 0..8\noutput fires 0..8\n\
                input to Plain: 0 kept, seen -2..8, room -2..8\nPlain to Peek3: 2 kept, seen 0..10, room 0..10\n\
                Peek3 to output: 0 kept, seen 0..8, room 0..8\ntails 1, work 1.25\n";
    assert_eq!(tiles_of("int->int pipeline Main { add Plain; add Peek3; }", 8), want);
    // halos add up: 12 items are read for 8
    let want = "input fires -4..8\nPeek3 fires -2..8\nPeek3#2 fires 0..8\noutput fires 0..8\n\
                input to Peek3: 2 kept, seen -2..10, room -2..10\nPeek3 to Peek3#2: 2 kept, seen 0..10, room 0..10\n\
                Peek3#2 to output: 0 kept, seen 0..8, room 0..8\ntails 1, work 1.5\n";
    assert_eq!(tiles_of("int->int pipeline Main { add Peek3; add Peek3; }", 8), want);
    // rates that differ: firings 0 to 7 see items 0 to 7 * 4 + 5, of which 2 are there
    let want = "input fires -2..32\nPlain fires -2..32\nMean fires 0..8\noutput fires 0..8\n\
                input to Plain: 0 kept, seen -2..32, room -2..32\nPlain to Mean: 2 kept, seen 0..34, room 0..34, a gap after 4\n\
                Mean to output: 0 kept, seen 0..8, room 0..8\ntails 1, work 1.0625\n";
    assert_eq!(tiles_of("int->int pipeline Main { add Plain; add Mean; }", 8), want);
}

#[test]
fn delays_move_tiles() {
    // what was there before is not made again: the tile's items come from firings that are 2 earlier, and none twice
    let want = "input fires -2..6\nPlain fires -2..6\nPlain#2 fires 0..8\noutput fires 0..8\n\
                input to Plain: 0 kept, seen -2..6, room -2..6\nLate to Plain#2: 2 kept, seen 0..8, room 0..8\n\
                Plain#2 to output: 0 kept, seen 0..8, room 0..8\ntails 1, work 1\n";
    assert_eq!(tiles_of("int->int pipeline Main { add Plain; add Late; add Plain; }", 8), want);
}

#[test]
fn a_splitter_fires_for_all_its_branches() {
    // one branch looks at 10 items, the other one at 8, and both have 2: the splitter fires from -2 on for both, until 8 for the first
    let want = "input fires -2..8\nsplit fires -2..8\nPlain fires 0..8\noutput fires 0..16\n\
                input to split: 0 kept, seen -2..8, room -2..8\nsplit to Plain: 2 kept, seen 0..10, room 0..10\n\
                join to output: 0 kept, seen 0..16, room 0..16, a gap after 2\nto Peek3 as to Plain, item 0 is 0\ntails 1, work 1.25\n";
    assert_eq!(tiles_of(SPLITJOIN, 8), want);
    // a delay in one branch alone: that one needs firings -2 to 5, the other one 0 to 7, and each makes items that only the other one needs
    let delayed = "int->int splitjoin S { split duplicate; add Plain; add Late; join roundrobin; }
                   int->int pipeline Main { add S; }";
    let want = "input fires -2..8\nsplit fires -2..8\njoin fires 0..8\noutput fires 0..16\n\
                input to split: 0 kept, seen -2..8, room -2..8\nPlain to join: 0 kept, seen 0..8, room -2..8\n\
                Late to join: 2 kept, seen 0..8, room 0..10\njoin to output: 0 kept, seen 0..16, room 0..16, a gap after 2\ntails 1, work 1.25\n";
    assert_eq!(tiles_of(delayed, 8), want);
}

/// What a duplicate splitter gives is in memory once, as far back as the branch that keeps most of it looks.
#[test]
fn copies_share_a_tile() {
    let main = "int->int splitjoin Pair { split duplicate; add Plain; add Peek3; join roundrobin; }
                int->int splitjoin S { split duplicate; add Pair; add Peek3; add Mean; join roundrobin(8, 4, 1); }
                int->int pipeline Main { add S; }";
    // Mean takes 4 and looks at 6: 4 firings of the splitters for one of it
    let text = tiles_of(main, 4);
    let shared: Vec<&str> = text.lines().filter(|l| l.starts_with("to ")).collect();
    assert!(shared.len() >= 2 && shared.iter().all(|l| l.contains(" as to ")), "{text}");
    // what equal filters behind it give is equal
    let late = "int->int splitjoin S { split duplicate; add Behind; add Behind; join roundrobin; }
                int->int pipeline Behind { add Late; add Peek3; }
                int->int pipeline Main { add S; add Peek3; }";
    let text = tiles_of(late, 4);
    assert!(text.contains("to Peek3 as to Peek3, item 0 is 0\n"), "{text}");
    // of different ones it is not
    let late = late.replacen("add Behind;", "add Other;", 1)
        + "int->int filter Later { prework push 2 { push(1); push(0); } work pop 1 push 1 { push(pop()); } }
           int->int pipeline Other { add Later; add Peek3; }";
    let text = tiles_of(&late, 4);
    assert!(!text.contains(" as to "), "{text}");
}

#[test]
fn gaps_are_where_threads_would_meet() {
    // 8 items apart: the filter that takes them knows its places, the one that gives them finds each
    let eight = "int->int filter Eight { work pop 8 peek 9 push 1 { int s = 0; for (int i = 0; i < 9; i++) s += peek(i); push(s); for (int i = 0; i < 8; i++) pop(); } }
                 int->int pipeline Main { add Plain; add Eight; }";
    assert!(
        tiles_of(eight, 8).contains("Plain to Eight: 1 kept, seen 0..65, room 0..65, a gap after 8\n"),
        "{}",
        tiles_of(eight, 8)
    );
    // an odd number apart: none meet
    let five = eight.replace('8', "5").replace('9', "6");
    assert!(tiles_of(&five, 8).contains("Plain to Eight: 1 kept, seen 0..41, room 0..41\n"), "{}", tiles_of(&five, 8));
}

#[test]
fn a_thread_makes_several_firings_that_look_at_the_same() {
    let fir = "int->int filter Fir { work pop 1 peek 32 push 1 { int s = 0; for (int i = 0; i < 32; i++) s += peek(i); push(s); pop(); } }
               int->int pipeline Main { add Plain; add Fir; }";
    assert!(tiles_of(fir, 1024).contains("5 firings of Fir in a thread\n"));
    assert!(tiles_of(fir, 256).contains("3 firings of Fir in a thread\n"));
    // where it is known which items are read, threads have them as arrays, and read 16 bytes at a time
    let each: Vec<String> = (0..32).map(|i| format!("s += peek({i});")).collect();
    let known = fir.replace("for (int i = 0; i < 32; i++) s += peek(i);", &each.join(" "));
    assert!(tiles_of(&known, 1024).contains("4 firings of Fir in a thread\n"));
    assert!(tiles_of(&known, 256).contains("4 firings of Fir in a thread\n"));
    // too few for the threads of a block, and too little that is looked at again
    assert!(!tiles_of(fir, 64).contains("in a thread"));
    assert!(!tiles_of("int->int pipeline Main { add Plain; add Peek3; }", 1024).contains("in a thread"));
    // what they give would fill too many registers
    assert!(
        !tiles_of(&fir.replace("push(s);", "for (int i = 0; i < 12; i++) push(s);").replace("push 1", "push 12"), 1024)
            .contains("in a thread")
    );
}

#[test]
fn small_tiles_have_more_tails() {
    // 4 items are kept, tiles pass 1 each: their last window is 4 tiles behind the last tile
    let main = "int->int filter Far { work peek 5 pop 1 push 1 { push(peek(4) + pop()); } }
                int->int pipeline Main { add Plain; add Far; }";
    let text = tiles_of(main, 1);
    assert!(text.contains("Plain to Far: 4 kept, seen 0..5, room 0..5\n"), "{text}");
    assert!(text.ends_with("tails 4, work 5\n"), "{text}");
}

#[test]
fn each_part_is_measured_once() {
    let main = "int->int pipeline Main { add Plain; add Plain; add Peek3; add Sum; add Plain; add Down; }";
    let shown = with(main, |making| {
        let graph = making.input.host.graph;
        let of = |threads: u32| {
            let options = CudaOptions { scheme: Scheme::Swp, threads, ..CudaOptions::default() };
            profile(&CudaInput { options: &options, ..making.input }, 4).unwrap()
        };
        let [small, large] = [128, 384].map(of);
        let mut out = String::new();
        for (i, (k, l)) in small.kernels.iter().zip(&large.kernels).enumerate() {
            assert_eq!((k.name.clone(), &k.nodes), (format!("sl_profile_{i}"), &l.nodes));
            assert!(small.device.contains(&format!("#ifndef SL_WITHOUT_{i}\nSL_KERNEL(1024) void sl_profile_{i}(")));
            let names: Vec<String> = k.nodes.iter().map(|v| name(graph, *v)).collect();
            let same = if k.text == l.text { "the same text" } else { "another text" };
            out += &format!("{}: {}, {} firings, serial {}, {same}\n", names.join(" "), k.round, l.round, k.serial);
        }
        // items of four blocks of 1024 firings, at both ends
        assert_eq!((small.end_bytes, small.readers), (vec![4 * 1024 * 4; 2], 1));
        assert!(small.arena_bytes > 4 * 1024 * 4 * 6);
        out
    });
    let want = "\
input: 1024, 768 firings, serial false, the same text
Plain Plain#2: 1024, 768 firings, serial false, the same text
Peek3: 1024, 768 firings, serial false, the same text
Sum: 64, 64 firings, serial true, another text
Plain#3: 1024, 768 firings, serial false, another text
Down: 1024, 768 firings, serial false, the same text
output: 1024, 768 firings, serial false, the same text
";
    assert_eq!(shown, want);
}

#[test]
fn threads_rest_where_a_filter_has_fewer() {
    let main = "int->int pipeline Main { add Plain; add Peek3; }";
    let (few, all) = with(main, |making| {
        let options = CudaOptions { scheme: Scheme::Swp, threads: 128, ..CudaOptions::default() };
        let of = |threads: &[u32]| {
            let input = CudaInput { options: &options, threads, ..making.input };
            let making = Making::new(input).unwrap().0;
            let parts = Parts::emit(&making, |_| true);
            parts.functions.into_iter().flatten().collect::<String>()
        };
        // more than the block has are no more than it has
        (of(&[32, 64, 96, 2048]), of(&[]))
    });
    let reader = "if (sl_thread() < 32u) sl_take(sl_team{sl_thread(), 32u}, ";
    assert!(few.contains(reader), "{few}");
    // three items of each of five firings of a thread are read before the first of these fires
    assert!(few.contains("int32_t ahead0[5][3];") && few.contains("for (; g + 384u < count; g += 480u)"), "{few}");
    for (n, firing) in [(64, "const uint32_t n"), (96, "const uint32_t n")] {
        let guard = few.find(&format!("if (sl_thread() < {n}u)")).unwrap_or_else(|| panic!("{few}"));
        assert!(few[guard..].contains(&format!("f < count; f += {n}u)")) && few[guard..].contains(firing), "{few}");
    }
    assert_eq!(few.matches("if (sl_thread() <").count(), 3);
    assert!(!all.contains("if (sl_thread() <"));
}
