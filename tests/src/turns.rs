//! Streams that take turns against separate runs, folded branches against branches, and turns together against each on its own.

use crate::generate::Case;
use crate::message::Message;
use crate::run::{Compare, Feed, Make, Outcome, check, compile, difference, run};
use crate::simulate::{Supply, turn_by_turn};
use crate::work::{CERTAIN, errors};
use sluice_driver::exit::Exit;
use sluice_driver::folding;
use sluice_driver::io::item::{ItemType, Scalar};
use sluice_driver::options::{CodeOptions, Inner};
use sluice_driver::pipeline::Checked;
use sluice_frontend::graph::{Endpoint, NodeKind};
use sluice_frontend::{Elaborated, slow};
use std::path::Path;

fn same(how: &str) -> Message {
    Message::new("same").with("how", how)
}

fn different(why: String) -> Message {
    Message::new("different").with("why", why)
}

/// A program that is accepted; what is wrong with it is no concern of these tests where it may fail.
fn checked(case: &Case) -> Result<Checked, Message> {
    check(&case.source).map_err(|why| {
        if case.hazards && errors(&why).iter().all(|e| CERTAIN.contains(e)) {
            return same("failed");
        }
        Message::new("refused").with("why", why)
    })
}

fn folded(checked: &Checked, make: Make) -> Option<Checked> {
    let code = CodeOptions { unchecked: make.unchecked, ..CodeOptions::default() };
    let (program, _) = folding::fold(&checked.program, &code)?;
    Some(Checked { sources: checked.sources.clone(), program })
}

/// Is there anything to fold?
pub fn can_be_folded(case: &Case) -> bool {
    let make =
        Make { level: 0, small_buffers: false, unchecked: false, channel_limit: None, inner: Inner::Auto, plain: true };
    checked(case).is_ok_and(|c| folded(&c, make).is_some())
}

/// Bytes of an item at an open end; `None` without such an end, or where items are bits.
fn item_bytes(checked: &Checked, input: bool) -> Option<usize> {
    let (graph, globals) = (&checked.program.graph, &checked.program.globals);
    let node = graph.nodes.iter().find(|n| {
        let open = if input { NodeKind::Reader(Endpoint::Open) } else { NodeKind::Writer(Endpoint::Open) };
        n.kind == open
    })?;
    let ty = &graph.channel(*node.inputs.first().or(node.outputs.first())?).ty;
    // bits are packed in files
    ItemType::of(ty, globals).filter(|t| t.scalar != Some(Scalar::Bit)).map(|t| t.bytes).filter(|b| *b > 0)
}

/// Item x of stream s at x·n + s.
fn interleave(streams: &[Vec<u8>], item: usize) -> Vec<u8> {
    let items = streams.iter().map(|s| s.len() / item).min().unwrap_or(0);
    let one = |x: usize| streams.iter().flat_map(move |s| &s[x * item..(x + 1) * item]);
    (0..items).flat_map(one).copied().collect()
}

/// N runs of a program against one of the program whose streams take turns, interpreted and compiled.
pub fn take_turns(case: &Case, n: u32, make: Make, folder: &Path) -> Message {
    let checked = match checked(case) {
        Ok(checked) => checked,
        Err(answer) => return answer,
    };
    let slow = match slow::streams(&checked.program, n) {
        Ok(program) => Checked { sources: checked.sources.clone(), program },
        Err(why) if why.iter().all(|d| d.code == "E0960") => return same("refused"),
        Err(why) => return Message::new("refused").with("why", format!("{} {}", why[0].code, why[0].title)),
    };
    let open = |is: NodeKind| checked.program.graph.nodes.iter().any(|n| n.kind == is);
    let (reads, writes) = (open(NodeKind::Reader(Endpoint::Open)), open(NodeKind::Writer(Endpoint::Open)));
    let (item, output) = (item_bytes(&checked, true), item_bytes(&checked, false));
    if reads && item.is_none() || writes && output.is_none() {
        return same("bits");
    }
    // each stream has the items in another order
    let all = case.input.clone().unwrap_or_default();
    let streams: Vec<Vec<u8>> = match item {
        Some(item) => (0..n as usize)
            .map(|s| {
                let mut bytes = all[..all.len() / item * item].to_vec();
                let items = bytes.len() / item;
                bytes.rotate_left(if items == 0 { 0 } else { s * 7 % items * item });
                bytes
            })
            .collect(),
        None => vec![Vec::new(); n as usize],
    };
    let mut outputs = Vec::new();
    let mut failed: Option<String> = None;
    for s in &streams {
        let one = Case { input: case.input.is_some().then(|| s.clone()), ..case.clone() };
        match run(&checked, &one, None, Feed::default(), folder) {
            Outcome::Done { mut written, .. } => outputs.push(written.remove("out.bin").unwrap_or_default()),
            Outcome::Failed(Exit::Program, why, _) if case.hazards => failed = failed.or(Some(why)),
            Outcome::Failed(_, why, _) => {
                return Message::new("refused").with("why", format!("the interpreter fails: {why}"));
            }
        }
    }
    let together = interleave(&streams, item.unwrap_or(1));
    let together = Case { input: case.input.is_some().then_some(together), ..case.clone() };
    let also_folded = folded(&slow, make);
    let (ran, native) = match compile(also_folded.as_ref().unwrap_or(&slow), make) {
        Ok(made) => made,
        Err(why) => return different(format!("it cannot be compiled: {why}")),
    };
    let want = interleave(&outputs, output.unwrap_or(1));
    for (how, runs, code) in [("interpreted", &slow, None), ("compiled", &ran, Some(&native))] {
        match (run(runs, &together, code, Feed::default(), folder), &failed) {
            (Outcome::Failed(Exit::Program, why, _), Some(expected)) => {
                // the same kind of fault; which stream has it first is another question
                if why[..5] != expected[..5] && why[..5] != *"E0952" {
                    return different(format!("{how}, it fails with `{why}`, a stream alone with `{expected}`"));
                }
            }
            (Outcome::Failed(_, why, _), _) => {
                return different(format!("{how}, only the streams in turn fail: {why}"));
            }
            (Outcome::Done { .. }, Some(why)) => {
                return different(format!("{how}, only a stream alone fails: {why}"));
            }
            (Outcome::Done { mut written, .. }, None) => {
                let got = written.remove("out.bin").unwrap_or_default();
                if got != want {
                    let at = got.iter().zip(&want).position(|(a, b)| a != b).unwrap_or(got.len().min(want.len()));
                    return different(format!(
                        "{how}, byte {at} of {} and {} of separate runs differs",
                        got.len(),
                        want.len()
                    ));
                }
            }
        }
    }
    let how = if failed.is_some() {
        "failed"
    } else if want.is_empty() {
        "empty"
    } else {
        "output"
    };
    same(how)
}

/// A program interpreted against the one with its branches folded, interpreted and compiled.
pub fn fold(case: &Case, make: Make, folder: &Path) -> Message {
    let checked = match checked(case) {
        Ok(checked) => checked,
        Err(answer) => return answer,
    };
    let Some(folded) = folded(&checked, make) else { return same("whole") };
    let first = run(&checked, case, None, Feed::default(), folder);
    if let Outcome::Failed(exit, why, _) = &first
        && !(case.hazards && *exit == Exit::Program)
    {
        return Message::new("refused").with("why", format!("the interpreter fails: {why}"));
    }
    let (ran, native) = match compile(&folded, make) {
        Ok(made) => made,
        Err(why) => return different(format!("it cannot be compiled: {why}")),
    };
    for (how, program, code) in [("interpreted", &folded, None), ("compiled", &ran, Some(&native))] {
        let second = run(program, case, code, Feed::default(), folder);
        let compare = Compare { remarks: case.iterations.is_none(), faults_only: false };
        if let Some(why) = difference(&first, &second, compare) {
            return different(format!("as it is, and folded and {how}: {why}"));
        }
    }
    match &first {
        Outcome::Done { written, .. } if written.values().any(|w| !w.is_empty()) => same("output"),
        _ => same("empty"),
    }
}

/// How a program comes to have filters for several streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slowing {
    /// `--streams`
    Streams(u32),
    /// Equal branches.
    Fold,
    /// What the command line does: both.
    StreamsAndFold(u32),
    /// The other way round.
    FoldAndStreams(u32),
}

/// A way, by its number of streams.
pub type OfStreams = fn(u32) -> Slowing;

impl Slowing {
    /// All, with the names that jobs give them.
    pub const ALL: [(&str, OfStreams); 4] = [
        ("streams", Slowing::Streams),
        ("fold", |_| Slowing::Fold),
        ("streams, fold", Slowing::StreamsAndFold),
        ("fold, streams", Slowing::FoldAndStreams),
    ];

    /// The program made so; `None` where it cannot be, or nothing is to be done.
    pub fn of(self, program: &Elaborated) -> Option<Elaborated> {
        // also filters that may fail: both ways they do, or neither
        let fold = |p: &Elaborated| slow::fold_branches(p, &[], &mut |_| true).map(|(p, _)| p);
        match self {
            Slowing::Streams(n) => slow::streams(program, n).ok(),
            Slowing::Fold => fold(program),
            Slowing::StreamsAndFold(n) => fold(&slow::streams(program, n).ok()?),
            Slowing::FoldAndStreams(n) => slow::streams(&fold(program)?, n).ok(),
        }
    }
}

/// Does it make another program of this one, with state?
pub fn can_be_slowed(case: &Case, slowing: Slowing) -> bool {
    let slow = checked(case).ok().and_then(|c| slowing.of(&c.program));
    slow.is_some_and(|p| p.codes.iter().any(|c| c.stateful.is_some() && c.turns.is_some()))
}

/// A program whose streams take turns, its firings against those of each stream.
pub fn apart(case: &Case, slowing: Slowing, seed: u64) -> Message {
    let checked = match checked(case) {
        Ok(checked) => checked,
        Err(answer) => return answer,
    };
    // what a firing pushes would be its own affair
    if checked.program.steady.islands.is_some() || !checked.program.messages.links.is_empty() {
        return same("passed over");
    }
    let Some(slow) = slowing.of(&checked.program) else { return same("whole") };
    let supply = Supply::new(case.input.clone().unwrap_or_default());
    match turn_by_turn(&slow, &supply, 3000, seed) {
        Ok(shown) if shown.failed && !case.hazards => different("a firing fails".into()),
        Ok(shown) if shown.stateful > 0 => same("output"),
        Ok(_) => same("empty"),
        Err(why) => different(why),
    }
}
