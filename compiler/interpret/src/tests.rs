//! Small programs: filters from source text, graphs built by hand.

use crate::{Options, Outside, Program, RunError, Summary, items, run};
use sluice_frontend::check;
use sluice_frontend::constant::Const;
use sluice_frontend::eval::{EvalErrorKind, Value};
use sluice_frontend::graph::*;
use sluice_frontend::ids::*;
use sluice_frontend::ops::Scalar;
use sluice_frontend::steady_state::SteadyState;
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::*;
use sluice_frontend::world::World;
use sluice_grammar::span::Span;

mod observing;

/// A program under construction.
#[derive(Default)]
struct Build {
    world: World,
    codes: Vec<FilterCode>,
    graph: SdfGraph,
    steady: SteadyState,
}

impl Build {
    /// The filters of a text, in order.
    fn new(text: &str) -> Build {
        let mut w = World::default();
        let file = w.sources.add("test.str", text);
        let (tree, diagnostics) = sluice_grammar::parse(file, text);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        w.add_program(tree, false);
        check::globals::globals(&mut w);
        let ids: Vec<DeclId> = (0..w.decls.len()).map(DeclId::from).collect();
        let codes = ids.into_iter().filter_map(|id| check::filter::specialise(&mut w, id, &[], (None, None))).collect();
        let errors: Vec<_> = w.diagnostics.iter().filter(|d| d.is_error()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        Build { world: w, codes, ..Build::default() }
    }

    /// Adds a node with its firings in a steady state.
    fn node(&mut self, path: &str, kind: NodeKind, repetitions: u64) -> NodeId {
        let id = NodeId::from(self.graph.nodes.len());
        self.graph.nodes.push(Node {
            path: path.into(),
            name: path.into(),
            kind,
            inputs: Vec::new(),
            outputs: Vec::new(),
            span: Span::default(),
            hier: HierId(0),
        });
        self.steady.repetitions.push(repetitions);
        self.steady.init.push(0);
        id
    }

    /// Adds the filter of that name.
    fn filter(&mut self, name: &str, repetitions: u64) -> NodeId {
        let code = self.codes.iter().position(|c| &*c.name == name).unwrap();
        let c = &self.codes[code];
        let kind = NodeKind::Filter {
            code: CodeId::from(code),
            rates: c.work.rates,
            prework: c.prework.as_ref().map(|p| p.rates),
            stateful: c.stateful.is_some(),
            prints: c.prints,
            dynamic: c.dynamic(),
        };
        self.node(name, kind, repetitions)
    }

    /// Joins two nodes: items made, items taken, items looked at.
    fn channel(&mut self, from: NodeId, to: NodeId, ty: Ty, (produce, consume, peek): (u32, u32, u32)) -> ChannelId {
        let id = ChannelId::from(self.graph.channels.len());
        let (a, b) = (self.graph.nodes[from.index()].outputs.len(), self.graph.nodes[to.index()].inputs.len());
        self.graph.nodes[from.index()].outputs.push(id);
        self.graph.nodes[to.index()].inputs.push(id);
        let (from, to) = ((from, a as u32), (to, b as u32));
        let initial = Vec::new();
        self.graph.channels.push(Channel {
            from,
            to,
            ty,
            produce,
            consume,
            peek,
            initial,
            feedback: false,
            dynamic: false,
        });
        id
    }

    /// One after the other, one item each.
    fn chain(&mut self, nodes: &[NodeId], ty: Ty) {
        for pair in nodes.windows(2) {
            self.channel(pair[0], pair[1], ty.clone(), (1, 1, 1));
        }
    }

    fn run(&self, world: &mut Memory, iterations: Option<u64>) -> Result<Summary, RunError> {
        let program = Program {
            globals: &self.world.globals,
            codes: &self.codes,
            graph: &self.graph,
            steady: &self.steady,
            messages: &Default::default(),
        };
        run(program, world, Options { iterations, ..Options::default() })
    }
}

/// Ends in memory.
#[derive(Default)]
struct Memory {
    input: Vec<Vec<u8>>,
    output: Vec<Vec<u8>>,
    text: String,
    /// Stop after so many questions.
    patience: Option<u32>,
    /// Native functions there are; each gives its first argument and the number of its call, and fills its second.
    natives: u32,
    called: i32,
}

impl Memory {
    fn of_ints(input: &[i32]) -> Memory {
        Memory { input: vec![input.iter().flat_map(|i| i.to_le_bytes()).collect()], ..Memory::default() }
    }

    fn ints(&self, writer: usize) -> Vec<i32> {
        self.output[writer].chunks(4).map(|c| i32::from_le_bytes(c.try_into().unwrap())).collect()
    }
}

impl Outside for Memory {
    fn read(&mut self, reader: usize, item: &mut [u8]) -> Result<bool, String> {
        let from = &mut self.input[reader];
        if from.len() < item.len() {
            return Ok(false);
        }
        item.copy_from_slice(&from[..item.len()]);
        from.drain(..item.len());
        Ok(true)
    }

    fn write(&mut self, writer: usize, item: &[u8]) -> Result<(), String> {
        while self.output.len() <= writer {
            self.output.push(Vec::new());
        }
        self.output[writer].extend(item);
        Ok(())
    }

    fn print(&mut self, text: &str) -> Result<(), String> {
        self.text += text;
        Ok(())
    }

    fn native(&mut self, function: NativeId, args: &[Value]) -> Result<Value, String> {
        if function.0 >= self.natives {
            return Err(format!("there is no native function {}", function.0));
        }
        self.called += 1;
        let [Value::Scalar(Scalar::Int(x)), Value::Array(a)] = args else { return Err("other arguments".into()) };
        a.borrow_mut().set(1, Value::int(10 * x)).map_err(|k| k.to_string())?;
        Ok(Value::int(x + 100 * self.called))
    }

    fn wants_stop(&mut self) -> bool {
        match &mut self.patience {
            Some(0) => true,
            Some(n) => {
                *n -= 1;
                false
            }
            None => false,
        }
    }
}

const READER: NodeKind = NodeKind::Reader(Endpoint::Open);
const WRITER: NodeKind = NodeKind::Writer(Endpoint::Open);

#[test]
fn a_source_and_a_printer() {
    let mut b = Build::new(
        "void->int filter Count { int n; init { println(\"start\"); } work push 1 { push(n++); } } \
         int->void filter Show { work pop 2 { println(pop() + pop()); } }",
    );
    let (a, z) = (b.filter("Count", 2), b.filter("Show", 1));
    b.channel(a, z, Ty::Int, (1, 2, 2));
    let mut m = Memory::default();
    assert_eq!(b.run(&mut m, Some(3)).unwrap().fired, [6, 3]);
    assert_eq!(m.text, "start\n1\n5\n9\n");
    let mut m = Memory::default();
    assert_eq!(b.run(&mut m, Some(0)).unwrap().fired, [0, 0]);
    assert_eq!(m.text, "start\n");
    let mut m = Memory { patience: Some(100), ..Memory::default() };
    assert!(b.run(&mut m, None).unwrap().stopped);
}

#[test]
fn input_ends_and_everything_that_can_still_fire_does() {
    let mut b =
        Build::new("int->int filter Sum { work pop 1 push 1 peek 3 { push(peek(0) + peek(1) + peek(2)); pop(); } }");
    let (r, f, w) = (b.node("in", READER, 1), b.filter("Sum", 1), b.node("out", WRITER, 1));
    b.channel(r, f, Ty::Int, (1, 1, 3));
    b.channel(f, w, Ty::Int, (1, 1, 1));
    b.steady.init[0] = 2;
    let mut m = Memory::of_ints(&[1, 2, 3, 4, 5]);
    assert_eq!(b.run(&mut m, None).unwrap().fired, [5, 3, 3]);
    assert_eq!(m.ints(0), [6, 9, 12]);
    // an iteration limit holds beside an input
    let mut m = Memory::of_ints(&[1, 2, 3, 4, 5]);
    assert_eq!(b.run(&mut m, Some(1)).unwrap().fired, [3, 1, 1]);
    // no input at all
    let mut m = Memory::of_ints(&[]);
    assert_eq!(b.run(&mut m, None).unwrap().fired, [0, 0, 0]);
}

#[test]
fn splitters_and_joiners() {
    let mut b = Build::new("");
    let r = b.node("in", READER, 3);
    let s = b.node("split", NodeKind::SplitRoundRobin(vec![2, 1]), 1);
    let d = b.node("duplicate", NodeKind::Duplicate, 1);
    let i = b.node("identity", NodeKind::Identity, 2);
    let j = b.node("join", NodeKind::JoinRoundRobin(vec![1, 2, 1]), 1);
    let w = b.node("out", WRITER, 4);
    b.channel(r, s, Ty::Int, (1, 3, 3));
    b.channel(s, i, Ty::Int, (2, 1, 1));
    b.channel(s, d, Ty::Int, (1, 1, 1));
    b.channel(d, j, Ty::Int, (1, 1, 1));
    b.channel(i, j, Ty::Int, (1, 2, 2));
    b.channel(d, j, Ty::Int, (1, 1, 1));
    b.channel(j, w, Ty::Int, (4, 1, 1));
    let mut m = Memory::of_ints(&[1, 2, 3, 4, 5, 6, 7, 8]);
    let fired = b.run(&mut m, None).unwrap().fired;
    assert_eq!(m.ints(0), [3, 1, 2, 3, 6, 4, 5, 6]);
    assert_eq!(fired, [8, 2, 2, 4, 2, 8]);
}

#[test]
fn the_first_firing_may_differ() {
    let mut b = Build::new(
        "int->int filter Delay { prework push 2 { push(-1); push(-2); } work pop 1 push 1 { push(pop() * iter()); } }",
    );
    let (r, f, w) = (b.node("in", READER, 1), b.filter("Delay", 1), b.node("out", WRITER, 1));
    b.chain(&[r, f, w], Ty::Int);
    b.steady.init[f.index()] = 1;
    b.steady.init[w.index()] = 2;
    let mut m = Memory::of_ints(&[10, 20, 30]);
    b.run(&mut m, None).unwrap();
    assert_eq!(m.ints(0), [-1, -2, 10, 40, 90]);
}

#[test]
fn a_feedback_loop() {
    // running sum: joiner(external, feedback) -> add -> duplicate -> out, back
    let mut b = Build::new("int->int filter Add { work pop 2 push 1 { push(pop() + pop()); } }");
    let r = b.node("in", READER, 1);
    let j = b.node("join", NodeKind::JoinRoundRobin(vec![1, 1]), 1);
    let f = b.filter("Add", 1);
    let d = b.node("split", NodeKind::Duplicate, 1);
    let w = b.node("out", WRITER, 1);
    b.channel(r, j, Ty::Int, (1, 1, 1));
    b.channel(j, f, Ty::Int, (2, 2, 2));
    b.channel(f, d, Ty::Int, (1, 1, 1));
    let back = b.channel(d, j, Ty::Int, (1, 1, 1));
    b.channel(d, w, Ty::Int, (1, 1, 1));
    b.graph.channels[back.index()].initial = vec![Const::Int(100)];
    b.graph.channels[back.index()].feedback = true;
    let mut m = Memory::of_ints(&[1, 2, 3]);
    b.run(&mut m, None).unwrap();
    assert_eq!(m.ints(0), [101, 103, 106]);
}

#[test]
fn prints_come_in_the_reference_order() {
    let mut b = Build::new(
        "void->int filter Ones { work push 1 { print(\"s\"); push(1); } } \
         int->int filter Pass { work pop 1 push 1 { print(\"p\"); push(pop()); } } \
         int->void filter Sink { work pop 2 { print(\"k\"); pop(); pop(); } }",
    );
    let (s, p, k) = (b.filter("Ones", 2), b.filter("Pass", 2), b.filter("Sink", 1));
    b.channel(s, p, Ty::Int, (1, 1, 1));
    b.channel(p, k, Ty::Int, (1, 2, 2));
    let mut m = Memory::default();
    b.run(&mut m, Some(2)).unwrap();
    assert_eq!(m.text, "spspkspspk");
}

#[test]
fn generators_beside_an_input() {
    // free: no reader reaches them; they fire after the others in each epoch, and stop with them
    let mut b = Build::new(
        "void->void filter Tick { work { print(\"t\"); } } int->void filter Show { work pop 1 { print(pop()); } }",
    );
    b.filter("Tick", 2);
    let (r, s) = (b.node("in", READER, 1), b.filter("Show", 1));
    b.chain(&[r, s], Ty::Int);
    let mut m = Memory::of_ints(&[1, 2]);
    assert_eq!(b.run(&mut m, None).unwrap().fired, [4, 2, 2]);
    assert_eq!(m.text, "1tt2tt");
}

#[test]
fn one_of_two_inputs_ends() {
    // pairs of items: the longer input is read only as far as the shorter one needs
    let mut b = Build::new("");
    let (x, y) = (b.node("x", READER, 1), b.node("y", READER, 1));
    let j = b.node("join", NodeKind::JoinRoundRobin(vec![1, 1]), 1);
    let w = b.node("out", WRITER, 2);
    b.channel(x, j, Ty::Int, (1, 1, 1));
    b.channel(y, j, Ty::Int, (1, 1, 1));
    b.channel(j, w, Ty::Int, (2, 1, 1));
    let mut m = Memory::of_ints(&[1, 2, 3, 4]);
    m.input.push(Memory::of_ints(&[10, 20]).input.remove(0));
    assert_eq!(b.run(&mut m, Some(10)).unwrap().fired[2..], [2, 4]);
    assert_eq!(m.ints(0), [1, 10, 2, 20]);
}

#[test]
fn faults_name_the_filter_and_the_firing() {
    let program = |work: &str| {
        let mut b = Build::new(&format!("int->int filter F {{ int two() {{ return 2; }} work {work} }}"));
        let (r, f, w) = (b.node("in", READER, 1), b.filter("F", 1), b.node("out", WRITER, 1));
        b.chain(&[r, f, w], Ty::Int);
        b
    };
    let fault = |work: &str, input: &[i32]| program(work).run(&mut Memory::of_ints(input), None).unwrap_err();
    let e = fault("pop 1 push 1 { push(10 / pop()); }", &[5, 0]);
    assert_eq!(e.to_string(), "F, firing 2: division by zero");
    assert!(e.span.is_some());
    let e = fault("pop 1 push 1 { int[4] a; push(a[pop()]); }", &[3, 4]);
    assert_eq!(e.kind, EvalErrorKind::IndexOutOfBounds { index: 4, length: 4 });
    let e = fault("pop 1 push 1 { int n = pop(); for (int i = 0; i < n; i++) push(i); }", &[1, 2]);
    assert_eq!((e.kind, e.firing), (EvalErrorKind::PushBeyond { declared: 1 }, 2));
    let e = fault("pop 1 push 1 { int n = pop(); for (int i = 0; i < n; i++) push(i); }", &[1, 0]);
    assert_eq!(e.kind, EvalErrorKind::PushedLess { pushed: 0, declared: 1 });
    let e = fault("pop 1 push 1 { push(peek(peek(0))); pop(); }", &[0, 1]);
    assert_eq!(e.kind, EvalErrorKind::PeekBeyond { needed: 2, declared: 1 });
    let e = fault("pop 1 push 1 { push(peek(peek(0))); pop(); }", &[0, -1]);
    assert_eq!(e.kind, EvalErrorKind::PeekNegative(-1));
    let e = fault("pop 1 push 1 { push(1); while (peek(0) > 0) { int x = pop(); if (x == 2) pop(); } }", &[0, 2]);
    assert!(matches!(e.kind, EvalErrorKind::PopBeyond { declared: 1 }), "{e}");
    // popping less: the rest is dropped
    let b = program("pop 1 push 1 { if (peek(0) > 1) push(pop()); else push(7); }");
    let mut m = Memory::of_ints(&[5, 1, 6]);
    b.run(&mut m, None).unwrap();
    assert_eq!(m.ints(0), [5, 7, 6]);
}

#[test]
fn arrays_on_channels_are_copies() {
    let mut b = Build::new(
        "int->int[2] filter Pair { int[2] a; work pop 1 push 2 { a[0] = pop(); push(a); a[0]++; a[1]++; push(a); } } \
         int[2]->int filter Sum { void spoil(int[2] a) { a[0] = -9; } int sum(int[2] a) { return 10 * a[0] + a[1]; } \
         work pop 1 push 1 { spoil(peek(0)); int[2] x = peek(0); push(sum(x)); pop(); } }",
    );
    let (r, p, s, w) = (b.node("in", READER, 1), b.filter("Pair", 1), b.filter("Sum", 2), b.node("out", WRITER, 2));
    b.channel(r, p, Ty::Int, (1, 1, 1));
    b.channel(p, s, Ty::Int.array(2), (2, 1, 1));
    b.channel(s, w, Ty::Int, (1, 1, 1));
    let mut m = Memory::of_ints(&[1, 5]);
    b.run(&mut m, None).unwrap();
    assert_eq!(m.ints(0), [10, 21, 51, 62]);
}

#[test]
fn instances_have_fields_of_their_own() {
    let mut b = Build::new(
        "int->int filter Acc { int n; int[1] m; work pop 1 push 1 { n += pop(); m[0] += 1; push(n * 100 + m[0]); } }",
    );
    let (r, x, y, w) = (b.node("in", READER, 1), b.filter("Acc", 1), b.filter("Acc", 1), b.node("out", WRITER, 1));
    b.chain(&[r, x, y, w], Ty::Int);
    let mut m = Memory::of_ints(&[1, 1]);
    b.run(&mut m, None).unwrap();
    assert_eq!(m.ints(0), [10101, 30302]);
}

#[test]
fn items_as_bytes() {
    let text = "struct S { bit b; int[2] a; complex c; } void->void filter F { work { } }";
    let globals = Build::new(text).world.globals;
    let ty = Ty::Struct(StructId(0)).array(2);
    assert_eq!(items::size(&ty, &globals), Some(2 * 17));
    let bytes: Vec<u8> = (0..34).map(|i| if i % 17 == 0 { 1 } else { i }).collect();
    let value = items::decode(&ty, &mut &bytes[..], &globals).unwrap();
    let mut back = Vec::new();
    assert!(items::encode(&value, &mut back));
    assert_eq!(back, bytes);
    assert!(items::decode(&ty, &mut &bytes[..33], &globals).is_none());
    let mut nan = Vec::new();
    items::encode(&Value::Scalar(Scalar::Float(f32::from_bits(0xffc0_1234))), &mut nan);
    items::encode(&Value::Scalar(Scalar::Double(-f64::NAN)), &mut nan);
    assert_eq!(nan, [0, 0, 0xc0, 0x7f, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f]);
    for ty in [Ty::Bit, Ty::Bool, Ty::Float, Ty::Double, Ty::Vec(3)].map(|t| t.array(3)) {
        let size = items::size(&ty, &globals).unwrap();
        let bytes: Vec<u8> = (0..size).map(|i| (i % 2) as u8).collect();
        let mut back = Vec::new();
        items::encode(&items::decode(&ty, &mut &bytes[..], &globals).unwrap(), &mut back);
        assert_eq!(back, bytes);
    }
}

#[test]
fn an_empty_program_ends() {
    assert_eq!(Build::new("").run(&mut Memory::default(), None).unwrap().fired, []);
}

#[test]
fn native_functions_are_the_worlds() {
    let mut b = Build::new(
        "native N { int f(int x, int[2] a); int g(int x, int[2] a); }
         void->void filter F { int[2] a; int n; work { n++; println(N.f(n, a) + \" \" + a[0] + \" \" + a[1]); } }
         void->void filter G { int[2] a; work { N.g(1, a); } }",
    );
    let f = b.filter("F", 1);
    assert!(matches!(b.graph.node(f).kind, NodeKind::Filter { stateful: true, .. }));
    let mut world = Memory { natives: 1, ..Memory::default() };
    b.run(&mut world, Some(2)).unwrap();
    assert_eq!(world.text, "101 0 10\n202 0 20\n");
    b.filter("G", 1);
    let e = b.run(&mut world, Some(1)).unwrap_err();
    assert_eq!((e.path.as_str(), e.kind), ("G", EvalErrorKind::Host("there is no native function 1".into())));
}
