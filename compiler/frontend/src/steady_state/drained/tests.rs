use super::*;
use crate::{Elaborated, NoImports, Options, SourceInput, analyse};

const FILTERS: &str = "int->int filter Bits(int n) { int s; work pop n push n { for (int i = 0; i < n; i++) { s += pop(); push(s & 1); } } }
    int->int filter Pack(int n) { work pop n push 1 { int w = 0; for (int i = 0; i < n; i++) w = w * 2 + pop(); push(w); } }
    int->int filter Window(int n, int m) { work pop m peek n push 1 { push(peek(n - 1)); for (int i = 0; i < m; i++) pop(); } }
    int->int filter Told { work pop 1 push 1 { int x = pop(); println(x); push(x); } }";

fn program(main: &str) -> Elaborated {
    let used = |l: &&str| main.contains(&format!("add {}", l.split([' ', '(']).nth(2).unwrap()));
    let text = FILTERS.lines().map(str::trim).filter(used).chain([main]).collect::<Vec<_>>().join("\n");
    let input = SourceInput { name: "a.str".into(), text };
    analyse(vec![input], &Options::default(), &mut NoImports).program.unwrap()
}

/// By filter: its firings before the first steady state, and after it the items before it; of the program as it is, and drained.
type Firings = Vec<(String, u64, u64)>;

fn firings(graph: &SdfGraph, steady: &SteadyState) -> Firings {
    let one = |v: NodeId| {
        let node = graph.node(v);
        let fill = node.inputs.iter().map(|c| steady.boundary_fill[c.index()]).sum();
        (node.name.clone(), steady.init[v.index()], fill)
    };
    let filters = graph.node_ids().filter(|v| matches!(graph.node(*v).kind, NodeKind::Filter { .. }));
    filters.map(one).collect()
}

/// The program's firings before and after; what is drained keeps its own accounts.
fn made(main: &str) -> (Firings, Option<Firings>) {
    let p = program(main);
    let drained = drained(&p.graph, &p.steady, &mut |_| true);
    if let Some(d) = &drained {
        for c in p.graph.channel_ids() {
            let channel = p.graph.channel(c);
            let (from, to) = (d.init[channel.from.0.index()], d.init[channel.to.0.index()]);
            let given = channel.initial.len() as u64 + from * u64::from(channel.produce);
            assert_eq!(d.init_peak[c.index()], given);
            assert_eq!(d.boundary_fill[c.index()], given - to * u64::from(channel.consume));
        }
        let end = |v: &NodeId| matches!(p.graph.node(*v).kind, NodeKind::Reader(_) | NodeKind::Writer(_));
        let ends: Vec<NodeId> = p.graph.node_ids().filter(end).collect();
        assert_eq!(ends.len(), 2);
        ends.iter().for_each(|v| assert_eq!(p.steady.init[v.index()], d.init[v.index()]));
        assert_eq!(p.steady.repetitions, d.repetitions);
    }
    (firings(&p.graph, &p.steady), drained.map(|d| firings(&p.graph, &d)))
}

fn of(all: &[(&str, u64, u64)]) -> Firings {
    all.iter().map(|(n, a, b)| (n.to_string(), *a, *b)).collect()
}

#[test]
fn what_waits_moves_on_to_where_items_stay() {
    let (before, after) = made("int->int pipeline Main { add Bits(64); add Pack(32); add Window(511, 320); }");
    assert_eq!(before, of(&[("Bits", 96, 0), ("Pack", 191, 32), ("Window", 0, 191)]));
    assert_eq!(after, Some(of(&[("Bits", 96, 0), ("Pack", 192, 0), ("Window", 0, 192)])));
}

#[test]
fn through_several_filters_and_branches() {
    let (before, after) = made("int->int pipeline Main { add Bits(64); add Pack(4); add Pack(4); add Window(9, 3); }");
    assert_eq!(before, of(&[("Bits", 2, 0), ("Pack", 24, 32), ("Pack", 6, 0), ("Window", 0, 6)]));
    assert_eq!(after, Some(of(&[("Bits", 2, 0), ("Pack", 32, 0), ("Pack", 8, 0), ("Window", 0, 8)])));
    let (before, after) = made(
        "int->int pipeline Main { add Bits(24); add splitjoin { split roundrobin(4, 8); add Pack(4); add Pack(8); join roundrobin; }; add Window(6, 4); }",
    );
    assert_eq!((before[1].1, after.as_ref().unwrap()[1].1), (1, 2), "{before:?} {after:?}");
    assert!(after.unwrap()[..3].iter().all(|f| f.2 == 0));
}

#[test]
fn what_cannot_move_on_whole_stays() {
    for main in [
        // 40 is no multiple of 32
        "int->int pipeline Main { add Bits(40); add Pack(32); add Window(511, 320); }",
        // it would come to the writer's channel
        "int->int pipeline Main { add Window(3, 1); add Bits(4); }",
        // more than there is already
        "int->int pipeline Main { add Bits(64); add Pack(4); add Window(2, 1); }",
        // it would be seen
        "int->int pipeline Main { add Bits(64); add Told; add Pack(32); add Window(511, 320); }",
        // nothing waits
        "int->int pipeline Main { add Bits(64); add Pack(32); }",
    ] {
        let (before, after) = made(main);
        assert_eq!(after, None, "{main}: {before:?}");
    }
}

#[test]
fn only_filters_that_the_caller_agrees_to() {
    let p = program("int->int pipeline Main { add Bits(64); add Pack(32); add Window(511, 320); }");
    assert_eq!(drained(&p.graph, &p.steady, &mut |v| p.graph.node(v).name != "Pack"), None);
}

/// What waits before a filter in a loop, or within one, stays.
#[test]
fn loops_stay_as_they_are() {
    let looped = "add feedbackloop { join roundrobin(1, 1); body Bits(2); split roundrobin(1, 1); enqueue 0; };";
    let (before, after) = made(&format!("int->int pipeline Main {{ add Bits(64); {looped} add Window(3, 2); }}"));
    assert!(before[0].1 == 1 && before[1].1 < 64, "{before:?}");
    assert_eq!(after, None);
    // without the loop it moves on
    let (before, after) = made("int->int pipeline Main { add Bits(4); add Bits(2); add Window(3, 2); }");
    assert_eq!((before[1].1, after.map(|a| a[1].1)), (1, Some(2)));
}
