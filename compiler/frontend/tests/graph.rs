//! The flat graph's text and its verifier: all programs of the corpus round, and one broken graph for each rule.
#![allow(clippy::disallowed_methods)] // reads the corpus

use sluice_frontend::graph::{NodeKind, SdfGraph};
use sluice_frontend::graph_text::{parse, print};
use sluice_frontend::graph_verify::verify;
use sluice_frontend::ids::{ChannelId, HierId, NodeId};
use sluice_frontend::steady_state::steady_state;
use sluice_frontend::{NoImports, Options, SourceInput, analyse};
use sluice_grammar::span::Span;

/// What text does not keep.
fn without_places(mut g: SdfGraph) -> SdfGraph {
    g.nodes.iter_mut().for_each(|n| n.span = Span::default());
    g.hierarchy.iter_mut().for_each(|h| (h.decl, h.added) = (Span::default(), Span::default()));
    g
}

#[test]
fn every_program_goes_round() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seen = 0;
    for folder in ["tests/run", "tests/stdlib", "examples"] {
        let mut files: Vec<_> = std::fs::read_dir(root.join(folder)).unwrap().map(|f| f.unwrap().path()).collect();
        files.sort();
        for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "str")) {
            let name = file.display().to_string();
            let input =
                SourceInput { name: name.clone(), text: String::from_utf8_lossy(&std::fs::read(file).unwrap()).into() };
            let Some(program) = analyse(vec![input], &Options::default(), &mut NoImports).program else { continue };
            verify(&program.graph).unwrap_or_else(|e| panic!("{name}: {e}"));
            let text = print(&program.graph);
            let again = parse(&text).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
            assert_eq!(print(&again), text, "{name}");
            verify(&again).unwrap_or_else(|e| panic!("{name}: {e}"));
            let (a, b) =
                (format!("{:?}", without_places(program.graph)), format!("{:?}", without_places(again.clone())));
            assert!(a == b, "{name}:\n{a}\n{b}");
            // messages add to the steady state what the graph alone does not say
            if program.steady.repetitions.iter().any(|r| *r > 0) && program.steady.precedences.is_empty() {
                assert_eq!(steady_state(&again).unwrap(), program.steady, "{name}");
            }
            seen += 1;
        }
    }
    assert!(seen > 200, "{seen}");
}

const ROUND: &str = r#"h0 pipeline Main "Main" void -> void
h1 filter Source "Source(\"x\\\n\u{1}\", 3)" void -> float in h0
h2 feedbackloop Loop "Loop" float -> float in h0
h3 filter "anonymous filter" "filter" float -> float in h2
h4 filter Sink "Sink" float -> void in h0
n0 Main.Source filter code0 push 3 first push 1 stateful prints in h1
n1 Main.Loop.join join 1 2 in h2
n2 "Main.Loop.a b" as "anonymous filter" filter code1 push 3 pop 3 peek 9 first push 3 pop 1 peek 2 in h3
n3 Main.Loop.split split 1 2 in h2
n4 Main.Sink#2 filter code2 pop 1 in h4
c0 n0.0 -> n1.0 float push 3 pop 1
c1 n1.0 -> n2.0 float push 3 pop 3 peek 9
c2 n2.0 -> n3.0 float push 3 pop 3
c3 n3.1 -> n1.1 float push 2 pop 2 initial [0.0, -1e-7, inf, nan:7fc00001, 3.4028235e38] feedback
c4 n3.0 -> n4.0 float push 1 pop 1
"#;

#[test]
fn text_says_it_all() {
    let g = parse(ROUND).unwrap();
    assert_eq!(print(&g), ROUND);
    verify(&g).unwrap();
    assert_eq!(g.hierarchy[1].display, "Source(\"x\\\n\u{1}\", 3)");
    assert_eq!(g.node(NodeId(2)).name, "anonymous filter");
    assert_eq!(
        (g.node(NodeId(3)).outputs.clone(), g.node(NodeId(1)).inputs.len()),
        (vec![ChannelId(4), ChannelId(3)], 2)
    );
    assert_eq!(g.hierarchy[0].children, [HierId(1), HierId(2), HierId(4)]);
    // remarks and empty lines
    assert_eq!(print(&parse(&ROUND.replace('\n', " // remark\n\n")).unwrap()), ROUND);
}

#[test]
fn values_of_every_type() {
    for (ty, values) in [
        ("bit", "bit:0, bit:1"),
        ("boolean", "true, false"),
        ("int", "0, -2147483648, 2147483647"),
        ("double", "double:0.1, double:-inf, double:nan:7ff8000000000001, double:1e300"),
        ("complex", "(1.0, -0.0), (nan:7fc00000, inf)"),
        ("float3", "<1.0, 2.0, 3.5>"),
        ("float[2][3]", "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]"),
        ("struct3", "{1, [true], <0.0, 1.0>}"),
        ("struct0[1]", "[{}]"),
    ] {
        let text = format!(
            "n0 a join 1\nn1 b identity\nc0 n0.0 -> n1.0 {ty} push 1 pop 1\nc1 n1.0 -> n0.0 {ty} push 1 pop 1 initial [{values}] feedback\n"
        );
        let g = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(print(&g), text);
        verify(&g).unwrap_or_else(|e| panic!("{e}\n{text}"));
    }
}

#[test]
fn wrong_text_is_refused() {
    for (text, why) in [
        ("n1 a identity", "`n1` where h0 or n0 or c0 may come"),
        ("n0 a nothing", "no kind of node"),
        ("n0 a identity in", "a word is expected"),
        ("n0 a identity in h0 x", "too much"),
        ("n0 a identity in h1", "there is no h1"),
        ("n0 a filter push 1", "code and a number"),
        ("n0 a filter code0 push x", "`x` is no number"),
        ("n0 \"a", "a quote is missing"),
        ("n0 \"a\\q\"", "a wrong escape"),
        ("n0 a; identity", "`;` is not expected"),
        ("n0 a duplicate\nc0 n0.0 -> n1.0 int push 1 pop 1", "there is no n1"),
        ("n0 a duplicate\nc0 n0.1 -> n0.0 int push 1 pop 1", "a port has no channel"),
        ("n0 a duplicate\nc0 n0.4294967295 -> n0.0 int push 1 pop 1", "is too high"),
        ("n0 a duplicate\nc0 n0.0 -> n0.0 int\nc1 n0.0 -> n0.1 int", "has a channel already"),
        ("n0 a duplicate\nc0 n0 -> n0.0 int", "`n0` is no port"),
        ("n0 a duplicate\nc0 n0.0 -> n0.0 what", "`what` is no type"),
        ("n0 a duplicate\nc0 n0.0 -> n0.0 int initial [1, x]", "`x` is no value"),
        ("n0 a duplicate\nc0 n0.0 -> n0.0 int initial [1 2]", "`,` is missing"),
        ("n0 a duplicate\nc0 n0.0 -> n0.0 int initial [1", "`,` is missing"),
        ("n0 a duplicate\nc0 n0.0 -> n0.0 int initial [<1.0,1.0,1.0,1.0,1.0>]", "at most four"),
        ("h0 pipeline M M void -> void in h0", "does not stand before it"),
        ("h0 pipe M M void -> void", "no kind of stream"),
        ("h0 pipeline M M void - void", "`->` is missing"),
    ] {
        let e = parse(text).expect_err(text);
        assert!(e.contains(why), "{text}: {e}");
    }
    let deep = format!("n0 a duplicate\nc0 n0.0 -> n0.0 int initial [{}", "[".repeat(100_000));
    assert!(parse(&deep).unwrap_err().contains("too deep"));
    // whatever stands there: an error, no panic
    let mut seed = 3u64;
    for _ in 0..3000 {
        let mut text: Vec<u8> = ROUND.bytes().collect();
        for _ in 0..3 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let at = (seed >> 33) as usize % text.len();
            text[at] = b" n0c1[]<>\"\\9-.,x\n"[(seed >> 20) as usize % 17];
        }
        if let Ok(g) = parse(&String::from_utf8_lossy(&text)) {
            let _ = verify(&g);
            assert_eq!(print(&parse(&print(&g)).unwrap()), print(&g));
        }
    }
}

/// One thing broken in the graph above, and what the verifier says.
#[test]
fn every_rule_is_checked() {
    type Break = fn(&mut SdfGraph);
    let rules: &[(Break, &str)] = &[
        (|g| g.channels[0].to.1 = 7, "c0: port 7 of n1 names another channel"),
        (|g| g.channels[0].from.0 = NodeId(9), "c0: there is no n9"),
        (|g| g.nodes[0].outputs[0] = ChannelId(1), "c0: port 0 of n0 names another channel"),
        (|g| g.nodes[4].inputs.push(ChannelId(0)), "n4: the channel at port 1 names another port"),
        (|g| g.nodes[4].outputs.push(ChannelId(77)), "n4: there is no c77"),
        (|g| g.channels[0].produce = 4, "c0: push 4 where n0 gives Some(3)"),
        (|g| g.channels[1].produce = 2, "c1: push 2 where n1 gives Some(3)"),
        (|g| g.channels[4].produce = 2, "c4: push 2 where n3 gives Some(1)"),
        (|g| g.channels[3].consume = 1, "c3: pop and peek (1, 2) where n1 takes Some((2, 2))"),
        (|g| g.channels[1].peek = 8, "c1: pop and peek (3, 8) where n2 takes Some((3, 9))"),
        (|g| g.nodes[1].kind = NodeKind::JoinRoundRobin(vec![1, u32::MAX]), "the joiner's weights are too large"),
        (|g| g.nodes[3].kind = NodeKind::SplitRoundRobin(vec![1, u32::MAX]), "the splitter's weights are too large"),
        (|g| g.channels[4].ty = sluice_frontend::ty::Ty::Void, "c4: Void on a channel"),
        (|g| g.channels[4].ty = sluice_frontend::ty::Ty::Int, "n3: passes on items of several types"),
        (|g| g.channels[3].initial[0] = sluice_frontend::constant::Const::Int(0), "c3: Int(0) is not float"),
        (|g| g.channels[3].feedback = false, "c3: n3 does not stand before n1"),
        (|g| g.channels[4].feedback = true, "c4: feedback leads back to a joiner"),
        (|g| g.nodes[4].path = "Main.Source".into(), "n4: there is another Main.Source"),
        (
            |g| {
                let NodeKind::Filter { prework: Some(p), .. } = &mut g.nodes[2].kind else { panic!() };
                p.peek = 0;
            },
            "n2: peek is less than pop",
        ),
        (
            |g| {
                let NodeKind::Filter { prework: Some(p), .. } = &mut g.nodes[0].kind else { panic!() };
                (p.pop, p.peek) = (1, 1);
            },
            "n0: pops from no channel",
        ),
        (
            |g| {
                let NodeKind::Filter { rates, .. } = &mut g.nodes[4].kind else { panic!() };
                rates.push = 1;
            },
            "n4: pushes to no channel",
        ),
        (|g| g.hierarchy[0].parent = Some(HierId(0)), "h0: only h0 has no parent"),
        (|g| g.hierarchy[0].children.swap(0, 1), "h0: its children are not in order"),
        (|g| g.hierarchy[0].children.push(HierId(3)), "h0: h3 is not its child"),
        (|g| g.hierarchy[0].children.truncate(2), "a stream is not named by its parent"),
        (|g| g.hierarchy[2].nodes.truncate(1), "a node is not named by its stream"),
        (|g| g.hierarchy[2].nodes.reverse(), "h2: its nodes are not in order"),
        (|g| g.nodes[4].hier = HierId(0), "h4: n4 is not in it"),
        (|g| g.hierarchy[2].kind = sluice_grammar::ast::StreamKind::Filter, "h2: a filter is one node"),
    ];
    for (destroy, why) in rules {
        let mut g = parse(ROUND).unwrap();
        destroy(&mut g);
        let e = verify(&g).expect_err(why);
        assert!(e.contains(why), "{e} instead of {why}");
    }
    for (text, why) in [
        ("n0 a reader open\nn1 b duplicate\nc0 n0.0 -> n1.0 int push 1 pop 1\n", "n1: 1 inputs and 0 outputs"),
        ("n0 a writer open\n", "n0: 0 inputs and 0 outputs"),
        ("n0 a reader open\nn1 b reader open\nc0 n0.0 -> n1.0 int push 1 pop 1\n", "where n1 takes None"),
        ("n0 a identity\n", "n0: 0 inputs and 0 outputs"),
    ] {
        let e = verify(&parse(text).unwrap()).expect_err(why);
        assert!(e.contains(why), "{e} instead of {why}");
    }
}
