//! What an observer is told.

use super::*;
use crate::observe::{Delivered, Fired, Observer, Outcome};
use crate::watch;

/// Writes down everything, in a few letters each.
#[derive(Default)]
struct Diary {
    lines: Vec<String>,
    /// Wants firings of this node only.
    only: Option<NodeId>,
    fields: bool,
    /// Firings that began and that ended.
    count: (u32, u32),
}

fn show(values: &[Value]) -> String {
    let number = |v: &Value| match v {
        Value::Scalar(Scalar::Int(i)) => i.to_string(),
        Value::Array(a) => format!("{:?}", a.borrow()),
        _ => "?".into(),
    };
    values.iter().map(number).collect::<Vec<_>>().join(" ")
}

fn ending(outcome: Outcome<'_>) -> String {
    match outcome {
        Outcome::Complete => String::new(),
        Outcome::Failed(e) => format!(" failed {}", e.message()),
        Outcome::Abandoned { wants } => format!(" waits for {wants}"),
        Outcome::Stopped => " stopped".into(),
    }
}

impl Observer for Diary {
    fn wants(&mut self, node: NodeId, _: u64) -> bool {
        self.only.is_none_or(|n| n == node)
    }

    fn wants_fields(&self) -> bool {
        self.fields
    }

    fn initialised(&mut self, node: NodeId, printed: &str) {
        self.lines.push(format!("{node} init {printed}"));
    }

    fn begins(&mut self, _: NodeId) {
        self.count.0 += 1;
    }

    fn delivered(&mut self, _: &Delivered, _: Outcome<'_>) {
        self.lines.push("message".into());
    }

    fn fired(&mut self, f: &Fired, outcome: Outcome<'_>) {
        let mut line =
            format!("{}.{} in {}{}", f.node, f.firing, f.steady_state, if f.prework { " prework" } else { "" });
        for t in &f.inputs {
            let (gone, peeked) = t.items.split_at(t.gone);
            let (popped, dropped) = gone.split_at(t.popped);
            line += &format!(" -[{}|{}|{}]", show(popped), show(dropped), show(peeked));
        }
        for g in &f.outputs {
            line += &format!(" +[{}]{}", show(&g.items), if g.dropped { "!" } else { "" });
        }
        line += &f.effects.printed;
        for c in &f.effects.changes {
            line += &format!(" {}{:?}={}", c.field, c.at, show(std::slice::from_ref(&c.after)));
        }
        self.lines.push(line + &ending(outcome));
    }

    fn ends(&mut self, node: NodeId, _: Option<(u64, u64)>, fill: &[u64]) {
        self.count.1 += 1;
        if self.only.is_none() {
            self.lines.push(format!("{node} leaves {fill:?}"));
        }
    }

    fn finished(&mut self, steady_states: u64) {
        self.lines.push(format!("finished {steady_states}"));
    }
}

fn told(b: &Build, world: &mut Memory, iterations: Option<u64>, diary: &mut Diary) -> Result<Summary, RunError> {
    let program = Program {
        globals: &b.world.globals,
        codes: &b.codes,
        graph: &b.graph,
        steady: &b.steady,
        messages: &Default::default(),
    };
    watch(program, world, Options { iterations, ..Options::default() }, diary)
}

/// A reader, the filters of the text in a row, a writer; one item each.
fn line(text: &str, names: &[&str]) -> Build {
    let mut b = Build::new(text);
    let mut all = vec![b.node("in", READER, 1)];
    all.extend(names.iter().map(|n| b.filter(n, 1)));
    all.push(b.node("out", WRITER, 1));
    b.chain(&all, Ty::Int);
    b
}

#[test]
fn items_as_they_were() {
    // the window, what is popped of it, and what is only declared to be
    let text = "int->int filter F { int n; init { print(\"hi\"); } \
                prework pop 1 push 1 { push(pop()); n = 7; } \
                work peek 4 pop 2 push 1 { push(pop() + peek(1)); print(\"x\"); } }";
    let mut b = line(text, &["F"]);
    let c = &mut b.graph.channels[0];
    (c.consume, c.peek) = (2, 4);
    b.steady.repetitions = vec![2, 1, 1];
    b.steady.init = vec![3, 1, 1];
    let (mut diary, mut m) =
        (Diary { only: Some(NodeId(1)), fields: true, ..Diary::default() }, Memory::of_ints(&[1, 2, 3, 4, 5, 6, 7]));
    told(&b, &mut m, None, &mut diary).unwrap();
    let want = [
        "n1 init hi",
        "n1.1 in 0 prework -[1||] +[1] field0[]=7",
        "n1.2 in 1 -[2|3|4] +[6]x",
        "n1.3 in 2 -[4|5|6] +[10]x",
        "finished 2",
    ];
    assert_eq!(diary.lines, want);
    // readers and writers count, too; the reader's last try is no firing
    assert_eq!((diary.count, m.ints(0)), ((7 + 3 + 3 + 1, 7 + 3 + 3), vec![1, 6, 10]));
}

#[test]
fn arrays_are_copied_before_the_code_changes_them() {
    let text = "int->int[2] filter Pair { int[2] a; work pop 1 push 1 { a[0] = pop(); push(a); } } \
                int[2]->int filter Sum { void spoil(int[2] a) { a[0] = -9; } work pop 1 push 1 { int[2] x = pop(); spoil(x); push(x[0]); } }";
    let mut b = Build::new(text);
    let (r, p, s, w) = (b.node("in", READER, 1), b.filter("Pair", 1), b.filter("Sum", 1), b.node("out", WRITER, 1));
    b.channel(r, p, Ty::Int, (1, 1, 1));
    b.channel(p, s, Ty::Int.array(2), (1, 1, 1));
    b.channel(s, w, Ty::Int, (1, 1, 1));
    let mut diary = Diary { only: Some(s), ..Diary::default() };
    told(&b, &mut Memory::of_ints(&[5]), None, &mut diary).unwrap();
    assert_eq!(diary.lines, ["n2.1 in 1 -[Ints([5, 0])||] +[-9]", "finished 1"]);
}

#[test]
fn every_kind_of_node() {
    let mut b = Build::new("int->int filter Pair { work pop 2 push 1 { push(pop() - pop()); } }");
    let (r, d, p) = (b.node("in", READER, 2), b.node("split", NodeKind::Duplicate, 2), b.filter("Pair", 1));
    let (j, w) = (b.node("join", NodeKind::JoinRoundRobin(vec![2, 1]), 1), b.node("out", WRITER, 3));
    b.channel(r, d, Ty::Int, (1, 1, 1));
    b.channel(d, j, Ty::Int, (1, 2, 2));
    b.channel(d, p, Ty::Int, (1, 2, 2));
    b.channel(p, j, Ty::Int, (1, 1, 1));
    b.channel(j, w, Ty::Int, (3, 1, 1));
    let mut diary = Diary::default();
    told(&b, &mut Memory::of_ints(&[9, 4, 1]), None, &mut diary).unwrap();
    let want = [
        "n0.1 in 1 +[9]",
        "n0 leaves [1, 0, 0, 0, 0]",
        "n1.1 in 1 -[9||] +[9] +[9]",
        "n1 leaves [0, 1, 1, 0, 0]",
        "n0.2 in 1 +[4]",
        "n0 leaves [1, 1, 1, 0, 0]",
        "n1.2 in 1 -[4||] +[4] +[4]",
        "n1 leaves [0, 2, 2, 0, 0]",
        "n2.1 in 1 -[9 4||] +[5]",
        "n2 leaves [0, 2, 0, 1, 0]",
        "n3.1 in 1 -[9 4||] -[5||] +[9 4 5]",
        "n3 leaves [0, 0, 0, 0, 3]",
    ];
    assert_eq!(diary.lines[..want.len()], want);
    assert_eq!(diary.lines.last().unwrap(), "finished 1");
}

/// Items for a consumer that will never fire again: one of two inputs has ended.
#[test]
fn items_that_nobody_takes() {
    let mut b = Build::new("");
    let (x, y) = (b.node("x", READER, 1), b.node("y", READER, 1));
    let (d, j) = (b.node("split", NodeKind::Duplicate, 1), b.node("join", NodeKind::JoinRoundRobin(vec![1, 1]), 1));
    let (v, w) = (b.node("all", WRITER, 1), b.node("pairs", WRITER, 2));
    b.channel(x, j, Ty::Int, (1, 1, 1));
    b.channel(y, d, Ty::Int, (1, 1, 1));
    b.channel(d, j, Ty::Int, (1, 1, 1));
    b.channel(d, v, Ty::Int, (1, 1, 1));
    b.channel(j, w, Ty::Int, (2, 1, 1));
    let mut diary = Diary { only: Some(d), ..Diary::default() };
    let mut m = Memory::of_ints(&[1]);
    m.input.push(Memory::of_ints(&[10, 20, 30]).input.remove(0));
    told(&b, &mut m, None, &mut diary).unwrap();
    let want = ["n2.1 in 1 -[10||] +[10] +[10]", "n2.2 in 2 -[20||] +[20] +[20]", "n2.3 in 3 -[30||] +[30]! +[30]"];
    assert_eq!((&diary.lines[..3], diary.lines.last().unwrap().as_str()), (&want.map(String::from)[..], "finished 3"));
    assert_eq!((m.ints(0), m.ints(1)), (vec![10, 20, 30], vec![1, 10]));
}

#[test]
fn the_firing_that_fails() {
    let b = line("int->int filter F { work pop 1 push 2 { push(1); push(6 / pop()); } }", &["F"]);
    let mut diary = Diary { only: Some(NodeId(1)), ..Diary::default() };
    let mut b = b;
    b.graph.channels[1].produce = 2;
    b.steady.repetitions[2] = 2;
    told(&b, &mut Memory::of_ints(&[3, 0]), None, &mut diary).unwrap_err();
    assert_eq!(diary.lines, ["n1.1 in 1 -[3||] +[1 2]", "n1.2 in 2 -[0||] +[1] failed division by zero", "finished 1"]);
}

/// Stopped in the middle of a firing that never ends: it was none.
#[test]
fn the_firing_that_is_stopped() {
    let b = line("int->int filter F { work pop 1 push 1 { push(pop()); while (true) { } } }", &["F"]);
    let mut diary = Diary { only: Some(NodeId(1)), ..Diary::default() };
    let mut m = Memory { patience: Some(5), ..Memory::of_ints(&[3]) };
    assert!(told(&b, &mut m, None, &mut diary).unwrap().stopped);
    assert_eq!(diary.lines, ["n1.1 in 1 -[3||] +[3] stopped", "finished 0"]);
    assert_eq!(diary.count, (2, 1));
}

/// A run is the same with and without an observer.
#[test]
fn nothing_changes() {
    let text = "int->int filter F { int s; work peek 3 pop 1 push 1 { s += peek(2); push(s + pop()); println(s); } }";
    let mut b = line(text, &["F", "F"]);
    b.graph.channels[0].peek = 3;
    b.graph.channels[1].peek = 3;
    b.steady.init = vec![4, 2, 0, 0];
    let run = |diary: Option<&mut Diary>| {
        let mut m = Memory::of_ints(&[3, 1, 4, 1, 5, 9, 2, 6]);
        let summary = match diary {
            Some(d) => told(&b, &mut m, None, d),
            None => b.run(&mut m, None),
        };
        (summary, m.text, m.output)
    };
    let alone = run(None);
    assert_eq!(alone, run(Some(&mut Diary { fields: true, ..Diary::default() })));
    assert_eq!(alone, run(Some(&mut Diary { only: Some(NodeId(99)), ..Diary::default() })));
}
