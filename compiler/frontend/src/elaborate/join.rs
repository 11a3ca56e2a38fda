//! Splitjoins and feedbackloops: weights, branches, and the types that meet in them.

use super::composite::Request;
use super::{Dealing, Elaborator, Inst, InstKind};
use crate::constant::Const;
use crate::ty::Ty;
use crate::typed::Role;
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::span::Span;

type Made = Option<(InstKind, (Ty, Ty))>;
type Written = Option<(Option<Vec<i32>>, Span)>;

impl Elaborator<'_> {
    /// Keeps the first split or join; a second one is reported.
    fn once(&mut self, slot: &mut Written, weights: Option<Vec<i32>>, span: Span, what: &str) {
        if let Some((_, first)) = slot {
            let first = *first;
            self.report(
                Diagnostic::error("E0407", format!("there is a second `{what}`"), span, "this one is too many")
                    .label(first, "the first"),
            );
            return;
        }
        *slot = Some((weights, span));
    }

    fn needed(&mut self, slot: Written, header: Span, what: &str, of: &str) -> Option<(Option<Vec<i32>>, Span)> {
        if slot.is_none() {
            self.report(
                Diagnostic::error(
                    "E0406",
                    format!("this {of} has no `{what}`"),
                    header,
                    format!("`{what}` is missing"),
                )
                .help(if what == "split" {
                    "write `split duplicate;` or `split roundrobin;`"
                } else {
                    "write `join roundrobin;`"
                }),
            );
        }
        slot
    }

    /// One weight for each of `n` branches.
    fn weights(&mut self, (written, span): (Option<Vec<i32>>, Span), n: usize, of: &str) -> Option<(Dealing, Span)> {
        let Some(ws) = written else { return Some((Dealing::Duplicate, span)) };
        if let Some(bad) = ws.iter().find(|w| **w < 0) {
            self.report(Diagnostic::error(
                "E0408",
                format!("a weight cannot be negative: {bad}"),
                span,
                "weights count items",
            ));
            return None;
        }
        let ws: Vec<u32> = match ws[..] {
            [] => vec![1; n],
            [one] if n != 1 || of == "branches" => vec![one as u32; n],
            _ => ws.iter().map(|w| *w as u32).collect(),
        };
        if ws.len() != n {
            let d = Diagnostic::error(
                "E0405",
                format!("{} weights for {n} {of}", ws.len()),
                span,
                format!("{n} {of} need {n} weights"),
            )
            .help("give one weight for each, or a single weight for all");
            self.report(d);
            return None;
        }
        if ws.iter().map(|w| u64::from(*w)).sum::<u64>() > i32::MAX as u64 {
            self.report(
                Diagnostic::error(
                    "E0304",
                    "the weights of a splitter or joiner are too large",
                    span,
                    "together more than 2^31 - 1 items in each round",
                )
                .help("weights that share a factor can all be divided by it"),
            );
            return None;
        }
        Some((Dealing::RoundRobin(ws), span))
    }

    pub(super) fn splitjoin(
        &mut self,
        requests: Vec<Request>,
        around: &(Option<Ty>, Option<Ty>),
        header: Span,
    ) -> Made {
        let (mut split, mut join): (Written, Written) = (None, None);
        let mut children = Vec::new();
        let mut failed = false;
        for r in requests {
            match r {
                Request::Split(w, span) => self.once(&mut split, w, span, "split"),
                Request::Join(w, span) => self.once(&mut join, w, span, "join"),
                Request::Child { what, portals, span, .. } => match self.child(what, portals, span, around.clone()) {
                    Some(c) => children.push(c),
                    None if self.stopped => return None,
                    None => failed = true,
                },
                Request::Enqueue(..) => {}
            }
        }
        let split = self.needed(split, header, "split", "splitjoin");
        let join = self.needed(join, header, "join", "splitjoin");
        let (split, join) = (split?, join?);
        if failed {
            return None;
        }
        if children.is_empty() {
            self.report(
                Diagnostic::error("E0413", "this splitjoin is empty", header, "it adds no stream")
                    .help("add at least one branch"),
            );
            return None;
        }
        let split = self.weights(split, children.len(), "branches")?;
        let join = self.weights(join, children.len(), "branches")?;
        let input = self.side(&split, &children, true)?;
        let output = self.side(&join, &children, false)?;
        Some((InstKind::SplitJoin { split, join, children }, (input, output)))
    }

    /// The common type of the branches on one side; void where all weights are zero or all ends closed.
    fn side(&mut self, dealing: &(Dealing, Span), children: &[Inst], input: bool) -> Option<Ty> {
        let end = |c: &Inst| if input { c.io.0.clone() } else { c.io.1.clone() };
        let what = if input { "takes" } else { "gives" };
        let all_void = children.iter().all(|c| end(c) == Ty::Void);
        if all_void {
            // `roundrobin` and `duplicate` over closed ends deal nothing, as `roundrobin(0)` does
            return Some(Ty::Void);
        }
        let mut found: Option<&Inst> = None;
        for (i, c) in children.iter().enumerate() {
            let weight = match &dealing.0 {
                Dealing::Duplicate => 1,
                Dealing::RoundRobin(ws) => ws[i],
            };
            let ty = end(c);
            if ty == Ty::Void {
                if weight > 0 {
                    let (name, at, span) = (c.display.clone(), c.added, dealing.1);
                    let side = if input { "split" } else { "join" };
                    self.report(
                        Diagnostic::error(
                            "E0417",
                            format!("`{name}` {what} nothing, but the {side} deals with it"),
                            at,
                            format!("{what} void"),
                        )
                        .label(span, format!("weight {weight} for this branch"))
                        .help("give this branch the weight 0"),
                    );
                    return None;
                }
                continue;
            }
            match found {
                Some(f) if end(f) != ty => {
                    let (a, b) = (self.show(&end(f)), self.show(&ty));
                    let (fname, fat, cname, cat, span) =
                        (f.display.clone(), f.added, c.display.clone(), c.added, dealing.1);
                    self.report(
                        Diagnostic::error(
                            "E0411",
                            format!("branches disagree: `{fname}` {what} {a}, `{cname}` {what} {b}"),
                            cat,
                            format!("{what} {b}"),
                        )
                        .label(fat, format!("{what} {a}"))
                        .label(span, "both meet here"),
                    );
                    return None;
                }
                Some(_) => {}
                None => found = Some(c),
            }
        }
        let zero = matches!(&dealing.0, Dealing::RoundRobin(ws) if ws.iter().all(|w| *w == 0));
        if let (true, Some(c)) = (zero, found) {
            let (name, at, span) = (c.display.clone(), c.added, dealing.1);
            let t = self.show(&end(c));
            self.report(
                Diagnostic::error(
                    "E0417",
                    format!("all weights are 0, but `{name}` {what} {t}"),
                    at,
                    format!("{what} {t}"),
                )
                .label(span, "deals nothing"),
            );
            return None;
        }
        Some(found.map_or(Ty::Void, end))
    }

    pub(super) fn feedbackloop(
        &mut self,
        requests: Vec<Request>,
        around: &(Option<Ty>, Option<Ty>),
        header: Span,
    ) -> Made {
        let (mut split, mut join): (Written, Written) = (None, None);
        let (mut body, mut back): (Option<Inst>, Option<Inst>) = (None, None);
        let mut queue = Vec::new();
        let mut failed = false;
        // an untyped stream in a loop can take its type from the loop's own ends, or from the body
        let mut later = Vec::new();
        for r in requests {
            match r {
                Request::Split(w, span) => self.once(&mut split, w, span, "split"),
                Request::Join(w, span) => self.once(&mut join, w, span, "join"),
                Request::Enqueue(v, t, span) => queue.push((v, t, span)),
                Request::Child { role: Role::Loop, what, portals, span } => later.push((what, portals, span)),
                Request::Child { what, portals, span, .. } => {
                    if let Some(b) = &body {
                        let first = b.added;
                        self.report(
                            Diagnostic::error("E0407", "there is a second `body`", span, "this one is too many")
                                .label(first, "the first"),
                        );
                        continue;
                    }
                    let io = (around.0.clone().filter(|t| *t != Ty::Void).or(around.1.clone()), around.1.clone());
                    body = self.child(what, portals, span, io);
                    failed |= body.is_none();
                }
            }
        }
        for (what, portals, span) in later {
            if let Some(b) = &back {
                let first = b.added;
                self.report(
                    Diagnostic::error("E0407", "there is a second `loop`", span, "this one is too many")
                        .label(first, "the first"),
                );
                continue;
            }
            let io = body.as_ref().map_or((None, None), |b| (Some(b.io.1.clone()), Some(b.io.0.clone())));
            back = self.child(what, portals, span, io);
            failed |= back.is_none();
        }
        if self.stopped {
            return None;
        }
        if body.is_none() && !failed {
            self.report(
                Diagnostic::error("E0412", "this feedbackloop has no `body`", header, "`body` is missing")
                    .help("write `body S;` with the stream items go through on their way forward"),
            );
        }
        let split = self.needed(split, header, "split", "feedbackloop");
        let join = self.needed(join, header, "join", "feedbackloop");
        let (split, join, body) = (split?, join?, body?);
        if failed {
            return None;
        }
        let split = self.weights(split, 2, "ways (out, back)")?;
        let (Dealing::RoundRobin(ws), join_span) = self.weights(join, 2, "inputs (external, feedback)")? else {
            return None;
        };
        let join = ([ws[0], ws[1]], join_span);
        let closed_out = matches!(&split.0, Dealing::RoundRobin(ws) if ws[0] == 0);
        let (taken, given) = body.io.clone();
        let fits = |e: &mut Self, of: &Inst, is: &Ty, want: &Ty, meets: &str| {
            if is == want {
                return true;
            }
            let (i, w, name, at) = (e.show(is), e.show(want), of.display.clone(), of.added);
            e.report(
                Diagnostic::error(
                    "E0411",
                    format!("`{name}` does not fit into the loop: {i} where {meets} {w}"),
                    at,
                    format!("{i} here"),
                )
                .label(header, "in this feedbackloop"),
            );
            false
        };
        let body_ref = &body;
        match &back {
            Some(b) => {
                let (i, o) = b.io.clone();
                if !fits(self, b, &i, &given, "the body gives") || !fits(self, b, &o, &taken, "the body takes") {
                    return None;
                }
            }
            None => {
                if !fits(self, body_ref, &given, &taken, "its own input, over the loop, is") {
                    return None;
                }
            }
        }
        let mut enqueued = Vec::new();
        for (v, t, span) in queue {
            use crate::check::convert::{Fit, fit};
            let value = match fit(&t, &taken) {
                Fit::Same => Some(v),
                Fit::Widens => crate::ops::convert(&v, &taken),
                Fit::NeedsCast if matches!((&v, &taken), (Const::Int(0 | 1), Ty::Bit | Ty::Bool)) => {
                    crate::ops::convert(&v, &taken)
                }
                _ => None,
            };
            match value {
                Some(v) => enqueued.push(v),
                None => {
                    let (a, b) = (self.show(&t), self.show(&taken));
                    self.report(
                        Diagnostic::error(
                            "E0414",
                            format!("{a} is enqueued where items are {b}"),
                            span,
                            format!("this is {a}"),
                        )
                        .label(join_span, format!("the feedback input takes {b}")),
                    );
                    return None;
                }
            }
        }
        let input = if join.0[0] == 0 { Ty::Void } else { taken };
        let output = if closed_out { Ty::Void } else { given };
        let kind = InstKind::Loop { join, split, body: Box::new(body), back: back.map(Box::new), enqueued };
        Some((kind, (input, output)))
    }
}
