//! Pictures of programs: nothing overlaps, channels end at what they join, nothing is missing, the text is what it says it is.

use sluice_frontend::{Elaborated, NoImports, Options, SourceInput, analyse};
use sluice_picture::graph_dot::dot;
use sluice_picture::graph_svg::svg;
use sluice_picture::layout::{Layout, Rect, layout};
use std::collections::BTreeSet;

const PARTS: &str = "
void->float filter Source { work push 1 { push(1.0); } }
float->void filter Sink { work pop 1 { println(pop()); } }
float->float filter A(int k) { work pop 1 push 1 peek 3 { push(k * peek(2)); pop(); } }
float->float filter Acc { float s; work pop 2 push 1 { s += pop(); s += pop(); push(s); } }
float->float filter B { work pop 2 push 2 { push(pop()); push(pop()); } }
float->float feedbackloop L { join roundrobin(1, 1); body pipeline { add B; add splitjoin { split duplicate; add A(1); add A(2); join roundrobin; } add Acc; }
    loop pipeline { add A(3); add Identity<float>; } split roundrobin(1, 1); for (int i = 0; i < 8; i++) enqueue 0; }
float->float feedbackloop Plain { join roundrobin(1, 1); body B; split roundrobin(1, 1); enqueue 0; }
float->float feedbackloop Inner { join roundrobin(1, 1); body Plain; loop Plain2; split roundrobin(1, 1); enqueue 0; }
float->float feedbackloop Plain2 { join roundrobin(1, 1); body B; loop L; split roundrobin(1, 1); for (int i = 0; i < 9; i++) enqueue 0; }
float->float splitjoin S { split roundrobin(1, 2, 4); add A(7); add pipeline { add A(8); add A(9); add A(10); add A(11); } add L; join roundrobin(1, 2, 4); }
float->float splitjoin Zero { split roundrobin(1, 0); add A(7); add Source; join roundrobin(1, 2); }
";

/// Programs whose every node is drawn.
const PROGRAMS: &[&str] = &[
    "void->void pipeline Main { add Source; add Sink; }",
    "float->float filter Main { work pop 1 push 1 { push(pop()); } }",
    "void->void pipeline Main { add Source; add S; add L; add Zero; add Sink; }",
    "float->float pipeline Main { add L; add S; add pipeline { add S; add pipeline { add Inner; } } }",
    "float->float splitjoin Main { split duplicate; add S; add Inner; add Plain2; add A(1); join roundrobin(1, 1, 1, 1); }",
    "float->float splitjoin Main { split duplicate; for (int i = 0; i < 16; i++) add A(i); join roundrobin; }",
    "float->float pipeline Main { for (int i = 0; i < 16; i++) add A(1000000 * i); }",
    "float->float feedbackloop Main { join roundrobin(1, 1); body pipeline { add S; add S; } loop S; split roundrobin(1, 1); for (int i = 0; i < 900; i++) enqueue 0; }",
];

fn program(text: &str) -> Elaborated {
    let names = ["Source", "Sink", "A", "Acc", "B", "L", "Plain", "Inner", "Plain2", "S", "Zero"];
    assert!(names.iter().all(|n| PARTS.contains(&format!(" {n}"))));
    let input = SourceInput { name: "test.str".into(), text: format!("{PARTS}{text}") };
    let options = Options { top: Some("Main".into()), ..Options::default() };
    let a = analyse(vec![input], &options, &mut NoImports);
    a.program.unwrap_or_else(|| panic!("{text}: {:#?}", a.diagnostics))
}

fn apart(a: &Rect, b: &Rect) -> bool {
    a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y
}

fn within(a: &Rect, b: &Rect) -> bool {
    a.x >= b.x && a.y >= b.y && a.x + a.w <= b.x + b.w && a.y + a.h <= b.y + b.h
}

/// Nodes and notes do not touch, boxes are nested or apart, a node lies in exactly the boxes of its streams.
fn tidy(p: &Elaborated, l: &Layout) {
    let nodes: Vec<(usize, Rect)> = (0..l.nodes.len()).filter_map(|i| Some((i, l.nodes[i]?.at))).collect();
    let all: Vec<&Rect> = nodes.iter().map(|(_, r)| r).chain(l.notes.iter().map(|(r, ..)| r)).collect();
    for (i, a) in all.iter().enumerate() {
        assert!(a.w > 0.0 && a.h > 0.0 && a.x >= 0.0 && a.y >= 0.0, "{a:?}");
        assert!(a.x + a.w <= l.size.0 && a.y + a.h <= l.size.1, "{a:?} beyond {:?}", l.size);
        all[i + 1..].iter().for_each(|b| assert!(apart(a, b), "{a:?} {b:?}"));
    }
    for (i, (g, a)) in l.boxes.iter().enumerate() {
        for (h, b) in &l.boxes[i + 1..] {
            assert!(apart(a, b) || within(a, b) || within(b, a), "{g}: {a:?}, {h}: {b:?}");
        }
        for (n, r) in &nodes {
            let node = &p.graph.nodes[*n];
            let mut at = Some(node.hier);
            let mut inside = false;
            while let Some(h) = at {
                inside |= h == *g;
                at = p.graph.hierarchy[h.index()].parent;
            }
            // the open ends stand beside the program
            let end = matches!(node.path.as_str(), "input" | "output");
            if inside && !end { assert!(within(r, a), "{}", node.path) } else { assert!(apart(r, a), "{}", node.path) }
        }
    }
}

#[test]
fn nothing_overlaps_and_nothing_is_missing() {
    for text in PROGRAMS {
        let p = program(text);
        let l = layout(&p.graph);
        assert!(l.nodes.iter().all(Option::is_some), "{text}");
        assert!(l.notes.is_empty(), "{text}");
        tidy(&p, &l);
    }
}

#[test]
fn many_equal_branches_are_summed_up() {
    for (text, hidden) in [
        (
            "float->float splitjoin Main { split duplicate; for (int i = 0; i < 40; i++) add A(i); join roundrobin; }",
            37,
        ),
        ("float->float pipeline Main { for (int i = 0; i < 1000; i++) add A(i % 50); }", 997),
        ("float->float pipeline Main { for (int i = 0; i < 60; i++) { add A(i); add L; } }", 1),
    ] {
        let p = program(text);
        let l = layout(&p.graph);
        tidy(&p, &l);
        let missing = l.nodes.iter().filter(|n| n.is_none()).count();
        assert!(missing >= hidden && !l.notes.is_empty(), "{text}: {missing}");
        // notes say which nodes they stand for: each that is missing, once
        let picture = svg(&p.graph, &p.steady);
        let runs = picture.split("data-nodes=\"").skip(1).flat_map(|s| s.split('"').next().unwrap().split(' '));
        let ends = runs.map(|run| run.split_once('-').map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap())).unwrap());
        let mut said: Vec<usize> = ends.flat_map(|(first, last): (usize, usize)| first..=last).collect();
        said.sort_unstable();
        let wanted: Vec<usize> = (0..l.nodes.len()).filter(|n| l.nodes[*n].is_none()).collect();
        assert_eq!(said, wanted, "{text}");
        check_svg(&p);
    }
}

/// The numbers in a path, as points (lines along one axis completed); and whether the path is made of known commands only.
fn points(d: &str) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::new();
    let mut rest = d;
    while let Some(command) = rest.chars().next() {
        let end = rest[1..].find(|c: char| c.is_ascii_alphabetic()).map_or(rest.len(), |i| i + 1);
        let numbers: Vec<f64> = rest[1..end].split_whitespace().map(|n| n.parse().unwrap()).collect();
        let last = out.last().copied();
        match (command, &numbers[..]) {
            ('M' | 'L' | 'C' | 'Q', all) if !all.is_empty() && all.len().is_multiple_of(2) => {
                out.extend(all.chunks(2).map(|p| (p[0], p[1])));
            }
            ('V', [y]) => out.push((last.unwrap().0, *y)),
            ('H', [x]) => out.push((*x, last.unwrap().1)),
            ('z', []) => {}
            other => panic!("{other:?} in {d}"),
        }
        rest = &rest[end..];
    }
    out
}

/// Points along a path.
fn along(d: &str) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::new();
    let starts: Vec<usize> = d.match_indices(|c: char| c.is_ascii_alphabetic()).map(|(i, _)| i).collect();
    for (i, start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(d.len());
        let from = out.last().copied().unwrap_or_default();
        let text = &d[*start..end];
        // completed by the point before it: lines along one axis need it
        let all = points(&format!("M{} {}{text}", from.0, from.1));
        for step in 0..=40 {
            let t = f64::from(step) / 40.0;
            let mut left = if text.starts_with('M') { all[1..].to_vec() } else { all.clone() };
            // de Casteljau
            while left.len() > 1 {
                left =
                    left.windows(2).map(|p| (p[0].0 + t * (p[1].0 - p[0].0), p[0].1 + t * (p[1].1 - p[0].1))).collect();
            }
            out.push(left[0]);
        }
    }
    out
}

fn on_border(r: &Rect, (x, y): (f64, f64)) -> bool {
    let close = |a: f64, b: f64| (a - b).abs() < 0.11;
    let (in_x, in_y) = (x > r.x - 0.11 && x < r.x + r.w + 0.11, y > r.y - 0.11 && y < r.y + r.h + 0.11);
    in_x && (close(y, r.y) || close(y, r.y + r.h)) || in_y && (close(x, r.x) || close(x, r.x + r.w))
}

/// The picture is XML, every drawn node and channel is in it once, and channels end at the nodes that they join.
fn check_svg(p: &Elaborated) {
    let text = svg(&p.graph, &p.steady);
    let doc = roxmltree::Document::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let l = layout(&p.graph);
    let root = doc.root_element();
    let (w, h): (f64, f64) =
        (root.attribute("width").unwrap().parse().unwrap(), root.attribute("height").unwrap().parse().unwrap());
    assert!(w >= l.size.0.floor() && h >= l.size.1.floor(), "{w} {h} {:?}", l.size);
    let mut ids = BTreeSet::new();
    for n in doc.descendants().filter_map(|n| n.attribute("id")) {
        assert!(ids.insert(n), "{n} twice");
    }
    for (i, place) in l.nodes.iter().enumerate() {
        assert_eq!(ids.contains(format!("n{i}").as_str()), place.is_some());
    }
    for id in p.graph.channel_ids() {
        let c = p.graph.channel(id);
        let ends = l.nodes[c.from.0.index()].zip(l.nodes[c.to.0.index()]);
        let group = doc.descendants().find(|n| n.attribute("id") == Some(&id.to_string()));
        assert_eq!(group.is_some(), ends.is_some(), "{id}");
        let (Some(group), Some((a, b))) = (group, ends) else { continue };
        let path = group.descendants().find(|n| n.has_tag_name("path")).unwrap();
        let all = points(path.attribute("d").unwrap());
        let (first, last) = (all[0], all[all.len() - 1]);
        assert!(on_border(&a.at, first), "{id}: {first:?} is not at {a:?}");
        assert!(on_border(&b.at, last), "{id}: {last:?} is not at {b:?}");
        for (x, y) in along(path.attribute("d").unwrap()) {
            // forward channels pass by all nodes but their own
            let meets = |r: &Rect| x > r.x && x < r.x + r.w && y > r.y && y < r.y + r.h;
            let forward = path.attribute("class") == Some("c");
            for (n, place) in l.nodes.iter().enumerate() {
                let own = n == c.from.0.index() || n == c.to.0.index();
                let crossed = forward && !own && place.is_some_and(|p| meets(&p.at));
                assert!(!crossed, "{id} crosses {}", p.graph.nodes[n].path);
            }
        }
        for (x, y) in all {
            assert!(x > -1.0 && x < w + 1.0 && y > -1.0 && y < h + 1.0, "{id}: ({x}, {y}) is not in the picture");
        }
        assert!(group.first_element_child().unwrap().has_tag_name("title"));
    }
}

#[test]
fn svg_is_xml_and_channels_end_at_their_nodes() {
    PROGRAMS.iter().for_each(|text| check_svg(&program(text)));
}

#[test]
fn names_are_escaped() {
    let p = program("void->void pipeline Main { add Source; add FileWriter<float>(\"a&b<c>\\\"d\\\\ \"); }");
    check_svg(&p);
    check_dot(&p);
}

/// Quotes and braces are in pairs, every line is a statement, every node and channel is there.
fn check_dot(p: &Elaborated) {
    let text = dot(&p.graph, &p.steady);
    let (mut depth, mut quoted, mut escaped) = (0i32, false, false);
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '{' if !quoted => depth += 1,
            '}' if !quoted => depth -= 1,
            '\n' => assert!(!quoted, "a line ends in quotes"),
            _ => {}
        }
        assert!(depth >= 0);
    }
    assert!(depth == 0 && !quoted && text.starts_with("digraph "), "{text}");
    for line in text.lines().skip(1) {
        assert!(line.ends_with([';', '}', '{']), "{line}");
    }
    let starts = |line: &str| line.trim_start().split(" [label=").next().map(str::to_string);
    let mut said: Vec<String> = text.lines().filter(|l| l.contains(" [label=")).filter_map(starts).collect();
    let mut wanted: Vec<String> = p.graph.node_ids().map(|n| n.to_string()).collect();
    wanted.extend(p.graph.channels.iter().map(|c| format!("{} -> {}", c.from.0, c.to.0)));
    said.sort();
    wanted.sort();
    assert!(said == wanted, "{text}");
}

#[test]
fn dot_is_complete() {
    PROGRAMS.iter().for_each(|text| check_dot(&program(text)));
}

#[test]
fn the_same_graph_gives_the_same_bytes() {
    for text in PROGRAMS {
        let (a, b) = (program(text), program(text));
        assert_eq!(svg(&a.graph, &a.steady), svg(&b.graph, &b.steady));
        assert_eq!(dot(&a.graph, &a.steady), dot(&b.graph, &b.steady));
    }
}

#[test]
fn a_hundred_filters_are_readable() {
    // ten times ten, all drawn: little more room than the filters themselves take
    let branch: String = (0..10).map(|i| format!("add A({i});")).collect();
    let text = format!(
        "float->float pipeline P {{ {branch} }}
         float->float splitjoin Main {{ split duplicate; for (int i = 0; i < 10; i++) add P; join roundrobin; }}"
    );
    let p = program(&text);
    let l = layout(&p.graph);
    assert!(l.nodes.iter().all(Option::is_some));
    tidy(&p, &l);
    let filters: f64 = l.nodes.iter().flatten().map(|n| n.at.w * n.at.h).sum();
    assert!(l.size.0 * l.size.1 < 6.0 * filters, "{:?} for {filters}", l.size);
    assert!(l.size.0 < 1920.0 && l.size.1 < 1400.0, "{:?}", l.size);
    // in a row, the middle is summed up
    let l = layout(&program("float->float pipeline Main { for (int i = 0; i < 100; i++) add A(i); }").graph);
    assert!(l.size.1 < 1200.0, "{:?}", l.size);
}

#[test]
fn deep_and_large_programs_are_drawn() {
    let deep = "float->float pipeline Deep(int n) { add A(1); if (n > 0) add Deep(n - 1); }
        float->float pipeline Main { add Deep(400); }";
    check_svg(&program(deep));
    let large = "float->float splitjoin W { split duplicate; for (int i = 0; i < 100; i++) add pipeline { for (int k = 0; k < 200; k++) add A(i); } join roundrobin; }
        float->float pipeline Main { add W; }";
    let p = program(large);
    check_dot(&p);
    assert!(svg(&p.graph, &p.steady).len() < 100_000);
}

#[test]
fn schedules_of_warps() {
    use sluice_picture::makespan_svg;
    use sluice_schedule::analysis::makespan::schedule::simulate;
    use sluice_schedule::analysis::makespan::{Capacity, Machine, Problem};
    let two = Machine { load_store: Capacity::new(2, 1).unwrap(), cores: Capacity::ONE };
    let p = Problem::new(&"LLC".parse().unwrap(), &two, 4).unwrap();
    let s = simulate(&p, |_, _, _| {});
    let text = makespan_svg::svg(&p, &s, "LLC <4>").unwrap();
    let doc = roxmltree::Document::parse(&text).unwrap();
    let cells: Vec<_> = doc.descendants().filter(|n| n.attribute("class") == Some("w")).collect();
    assert_eq!(cells.len(), 12, "one for each instruction of each warp");
    let mut places: Vec<_> = cells.iter().map(|n| (n.attribute("x").unwrap(), n.attribute("y").unwrap())).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), 12, "none on another");
    assert!(text.contains("load/store 1") && !text.contains("cores 1"), "{text}");
    let many = Problem::new(&"L".repeat(1000).parse().unwrap(), &Machine::ONE, 41).unwrap();
    assert_eq!(makespan_svg::svg(&many, &simulate(&many, |_, _, _| {}), "too many"), None);
}

#[test]
fn lines() {
    use sluice_picture::lines_svg::{Lines, Series, svg};
    let series =
        |name: &str, points: &[(f64, f64)]| Series { name: name.into(), points: points.to_vec(), marks: false };
    let chart = Lines {
        title: "time & more".into(),
        x: "warps".into(),
        y: "seconds".into(),
        log: true,
        log_x: false,
        level: Some((300.0, "limit".into())),
        series: vec![
            series("a", &[(1.0, 0.01), (2.0, 100.0), (3.0, 0.0)]),
            series("b", &[]),
            series("c", &[(1.0, 5.0)]),
        ],
    };
    let text = svg(&chart);
    let doc = roxmltree::Document::parse(&text).unwrap();
    let circles = doc.descendants().filter(|n| n.has_tag_name("circle")).count();
    assert_eq!(circles, 3, "two points and the legend: zero is not on a logarithmic axis\n{text}");
    let y = |n: roxmltree::Node| n.attribute("cy").unwrap().parse::<f64>().unwrap();
    let at: Vec<f64> = doc.descendants().filter(|n| n.has_tag_name("circle")).map(y).collect();
    assert!(at[0] > at[1], "more is higher");
    // nothing to show is no fault, nor is a flat line
    for series in [vec![], vec![series("flat", &[(1.0, 7.0), (2.0, 7.0)])]] {
        let text = svg(&Lines { series, log: false, level: None, ..chart.clone() });
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        roxmltree::Document::parse(&text).unwrap();
    }
}
