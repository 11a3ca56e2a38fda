//! # runtime
//!
//! Purpose: faults of a running program as diagnostics, the same for both ways of running. Input: what went wrong, in which firing of
//! which filter, and where in the source. Output: a [`Diagnostic`] with a code from E0950 on.

use crate::exit::Fault;
use crate::native::NativeError;
use sluice_codegen::c::print::{Site, SiteKind};
use sluice_frontend::eval::EvalErrorKind;
use sluice_frontend::graph::SdfGraph;
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::span::Span;

/// What stopped a run.
#[derive(Clone, Debug)]
pub struct RunFault {
    /// The filter's path; empty where no filter is to blame.
    pub path: String,
    /// Its firing, from 1, where it is known.
    pub firing: Option<u64>,
    /// What happened.
    pub kind: EvalErrorKind,
    /// Where.
    pub span: Option<Span>,
}

/// Why a run did not end well.
#[derive(Debug)]
pub enum RunEnd {
    /// The program is at fault.
    Program(Box<Diagnostic>),
    /// Something else is.
    Fault(Fault),
}

impl From<Fault> for RunEnd {
    fn from(fault: Fault) -> RunEnd {
        RunEnd::Fault(fault)
    }
}

/// The code of a kind of fault, and what to do about it.
fn code(kind: &EvalErrorKind) -> Option<(&'static str, Option<&'static str>)> {
    use EvalErrorKind::*;
    Some(match kind {
        IndexOutOfBounds { .. } => ("E0950", None),
        DivisionByZero => ("E0951", Some("test the divisor first; in float arithmetic the result would be infinite")),
        PeekNegative(_) | PeekBeyond { .. } => (
            "E0952",
            Some("positions of `peek` count from the next item not popped, and end at the declared peek rate"),
        ),
        PopBeyond { .. } | PoppedLess { .. } => {
            ("E0953", Some("declare the items that a firing pops, or a range: `[min, max]`"))
        }
        PushBeyond { .. } | PushedLess { .. } => (
            "E0954",
            Some("every firing pushes the declared number of items, or one within the declared range: `[min, max]`"),
        ),
        ChannelFull { .. } => {
            ("E0958", Some("let the filters behind it take as many items as come, or allow more: `--channel-limit N`"))
        }
        PrintsTooMuchAtOnce => (
            "E0959",
            Some(
                "where rates are dynamic, what a firing prints is kept back until it is complete: print in several firings",
            ),
        ),
        TooManyMessages => ("E0959", Some("send fewer messages: their receivers fire too seldom")),
        RecursionTooDeep | OutOfFuel => ("E0955", None),
        ArrayTooLarge { .. } | LocalsTooLarge | NegativeSize(_) | SizesDiffer { .. } => ("E0956", None),
        NoResult(_) => ("E0957", Some("every way through a function with a result ends in `return`")),
        TooManyConstants
        | PrintsTooMuch
        | NotAvailable(_)
        | NativeCall { .. }
        | Unsupported(_)
        | Host(_)
        | IllTyped(_) => return None,
    })
}

/// As a diagnostic, or as a fault where no program is to blame.
pub fn explain(fault: &RunFault) -> RunEnd {
    let place = match (fault.path.as_str(), fault.firing) {
        ("", _) => String::new(),
        (path, Some(n)) => format!("{path}, firing {n}: "),
        (path, None) => format!("{path}: "),
    };
    let title = format!("{place}{}", fault.kind);
    let Some((code, help)) = code(&fault.kind) else {
        return RunEnd::Fault(match fault.kind {
            EvalErrorKind::IllTyped(_) => Fault::internal(title),
            _ => Fault::program(title),
        });
    };
    let Some(span) = fault.span else { return RunEnd::Fault(Fault::program(title)) };
    let mut d = Diagnostic::error(code, title, span, "while running this");
    d.help = help.map(String::from);
    RunEnd::Program(Box::new(d))
}

/// `SLUICE_FULL`
const FULL: i32 = -5;

/// What a compiled program reports, in the interpreter's terms.
pub fn of_native(error: &NativeError, graph: &SdfGraph, sites: &[Site]) -> RunEnd {
    let path = error.node.and_then(|n| graph.nodes.get(n)).map(|n| n.path.clone());
    if error.code == FULL
        && error.site.is_none()
        && let Some(node) = error.node.and_then(|n| graph.nodes.get(n))
    {
        let kind = if error.value == 0 { EvalErrorKind::PrintsTooMuchAtOnce } else { EvalErrorKind::TooManyMessages };
        return explain(&RunFault { path: node.path.clone(), firing: error.firing, kind, span: Some(node.span) });
    }
    if error.code == FULL
        && let Some(channel) = error.site.and_then(|c| graph.channels.get(c))
    {
        let (from, to) = (graph.node(channel.from.0), graph.node(channel.to.0));
        let kind = EvalErrorKind::ChannelFull { limit: error.value.unsigned_abs(), to: to.path.as_str().into() };
        let path = from.path.clone();
        return explain(&RunFault { path, firing: error.firing, kind, span: Some(from.span) });
    }
    match (path, error.site.and_then(|s| sites.get(s))) {
        (Some(path), Some(site)) => {
            let kind = kind_of_site(site, error.value);
            explain(&RunFault { path, firing: error.firing, kind, span: Some(site.span) })
        }
        _ if error.code == -1 => RunEnd::Fault(Fault::program(error.message.clone())),
        _ => RunEnd::Fault(Fault::internal(format!("the compiled program failed: {}", error.message))),
    }
}

fn kind_of_site(site: &Site, value: i64) -> EvalErrorKind {
    let small = i32::try_from(value).unwrap_or(if value < 0 { i32::MIN } else { i32::MAX });
    match site.kind {
        SiteKind::Index(length) => EvalErrorKind::IndexOutOfBounds { index: small, length: length as usize },
        SiteKind::DivisionByZero => EvalErrorKind::DivisionByZero,
        SiteKind::PeekNegative => EvalErrorKind::PeekNegative(small),
        SiteKind::PeekBeyond(declared) => EvalErrorKind::PeekBeyond { needed: value.unsigned_abs(), declared },
        SiteKind::PopBeyond(declared) => EvalErrorKind::PopBeyond { declared },
        SiteKind::PushBeyond(declared) => EvalErrorKind::PushBeyond { declared },
        SiteKind::PushedLess(declared) => EvalErrorKind::PushedLess { pushed: small.unsigned_abs(), declared },
        SiteKind::PoppedLess(declared) => EvalErrorKind::PoppedLess { popped: small.unsigned_abs(), declared },
        SiteKind::NoResult => EvalErrorKind::NoResult("a function".into()),
        SiteKind::Recursion => EvalErrorKind::RecursionTooDeep,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_filter_firing_and_place() {
        let fault = RunFault {
            path: "Main.Invert".into(),
            firing: Some(3),
            kind: EvalErrorKind::DivisionByZero,
            span: Some(Span::default()),
        };
        let RunEnd::Program(d) = explain(&fault) else { panic!("a program's fault") };
        assert_eq!((d.code, d.title.as_str()), ("E0951", "Main.Invert, firing 3: division by zero"));
        let internal = RunFault { kind: EvalErrorKind::IllTyped("x"), ..fault };
        assert!(matches!(explain(&internal), RunEnd::Fault(f) if f.exit == crate::exit::Exit::Internal));
    }
}
