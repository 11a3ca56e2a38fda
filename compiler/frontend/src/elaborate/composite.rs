//! Composite bodies at compile time: what they request, and their children.

use super::{Elaborator, Inst, InstKind};
use crate::check::convert::{Fit, fit};
use crate::check::filter::{evaluation_failed, refine};
use crate::constant::Const;
use crate::eval::{self, EvalError};
use crate::ids::*;
use crate::ty::{Dim, Ty};
use crate::typed::*;
use crate::world::CompositeCode;
use sluice_grammar::ast::{self, StreamKind};
use sluice_grammar::diagnostic::{Diagnostic, Fix};
use sluice_grammar::span::Span;

/// What is requested in one `add`, `body` or `loop`.
#[derive(Clone)]
pub enum Wanted {
    /// A declaration with arguments.
    Stream(DeclId, Vec<Const>),
    /// `Identity<T>`
    Identity(Ty),
    /// `FileReader<T>(path)`
    Reader(Ty, String),
    /// `FileWriter<T>(path)`
    Writer(Ty, String),
}

/// One stream statement executed.
pub enum Request {
    /// A child.
    Child {
        /// `add`, `body` or `loop`.
        role: Role,
        /// What.
        what: Wanted,
        /// Portals.
        portals: Vec<PortalId>,
        /// Where.
        span: Span,
    },
    /// `split`: weights, or `None` for duplicate.
    Split(Option<Vec<i32>>, Span),
    /// `join`
    Join(Option<Vec<i32>>, Span),
    /// `enqueue`
    Enqueue(Const, Ty, Span),
}

impl Elaborator<'_> {
    #[allow(clippy::too_many_arguments)]
    pub(super) fn composite(
        &mut self,
        ast: &ast::StreamDecl,
        code: &CompositeCode,
        args: Vec<Const>,
        added: Span,
        inferred: (Option<Ty>, Option<Ty>),
        name: String,
        display: String,
    ) -> Option<Inst> {
        let io = self.declared_io(code, &args, added)?;
        let requests = self.requests(code, args)?;
        // what the neighbours say, where the declaration says nothing
        let around = match &io {
            Some((i, o)) => (Some(i.clone()), Some(o.clone())),
            None => inferred,
        };
        let header = ast.header.0;
        let made = match ast.kind {
            StreamKind::Pipeline => self.pipeline(requests, &around, header),
            StreamKind::SplitJoin => self.splitjoin(requests, &around, header),
            _ => self.feedbackloop(requests, &around, header),
        };
        let (kind, actual) = made?;
        if let Some((i, o)) = &io {
            let io_span = ast.io.as_ref().map_or(header, |(a, b)| a.at.0.to(b.at.0));
            for (declared, is, side) in [(i, &actual.0, "input"), (o, &actual.1, "output")] {
                if declared != is {
                    let (d, a) = (self.show(declared), self.show(is));
                    // what ends a pipeline before what begins one
                    let turned = match &kind {
                        InstKind::Pipeline(c) => c.windows(2).find(|w| w[0].io.1 == Ty::Void && w[1].io.0 == Ty::Void),
                        _ => None,
                    };
                    let turned = turned.map(|w| (w[0].display.clone(), w[1].display.clone()));
                    let diagnostic = Diagnostic::error(
                        "E0416",
                        format!(
                            "the {} `{name}` is declared with {side} {d}, but its streams make it {a}",
                            ast.kind.keyword()
                        ),
                        io_span,
                        format!("{d} declared here"),
                    );
                    let all = (self.show(&actual.0), self.show(&actual.1));
                    self.report(match turned {
                        Some((first, second)) => diagnostic.help(format!(
                            "`{first}` gives void, and `{second}` behind it takes void: one that takes void begins a pipeline, one that gives void ends it"
                        )),
                        None => diagnostic
                            .help(format!("declare it `{} -> {}`, or change the streams in it", all.0, all.1))
                            .fix(Fix::new(
                                format!("declare `{}->{}`", all.0, all.1),
                                io_span,
                                format!("{}->{}", all.0, all.1),
                            )),
                    });
                    return None;
                }
            }
        }
        Some(Inst { kind, display, name, decl: header, added, io: actual, portals: Vec::new() })
    }

    /// A type for people.
    pub fn show(&self, ty: &Ty) -> String {
        crate::check::show_type(&self.globals, ty)
    }

    fn declared_io(&mut self, code: &CompositeCode, args: &[Const], added: Span) -> Option<Option<(Ty, Ty)>> {
        for (i, dims) in code.param_dims.iter().enumerate() {
            let Some(value) = args.get(i) else { continue };
            let mut actual = refine(&code.function.locals[i].ty, value);
            for d in dims {
                let want = self.in_frame(code, args, d)?;
                let (Const::Int(n), Ty::Array(elem, Dim::Known(m))) = (want, actual.clone()) else { break };
                if n != m as i32 {
                    let p = &code.function.locals[i];
                    let (name, span) = (p.name.clone(), p.span);
                    self.report(
                        Diagnostic::error(
                            "E0410",
                            format!("`{name}` has {n} elements, but an array of {m} was given"),
                            added,
                            format!("{m} elements given"),
                        )
                        .label(span, "the parameter"),
                    );
                    return None;
                }
                actual = (*elem).clone();
            }
        }
        let Some((i, o)) = &code.io else { return Some(None) };
        Some(Some((self.type_in_frame(code, args, i)?, self.type_in_frame(code, args, o)?)))
    }

    fn in_frame(&mut self, code: &CompositeCode, args: &[Const], e: &Expr) -> Option<Const> {
        match eval::in_frame(&self.globals, &code.function, args, e, &self.w.budget) {
            Ok(v) => Some(v),
            Err(e) => {
                self.report(evaluation_failed(&e, "in a type"));
                None
            }
        }
    }

    fn type_in_frame(&mut self, code: &CompositeCode, args: &[Const], spec: &TypeSpec) -> Option<Ty> {
        let mut sizes = Vec::new();
        for d in &spec.dims {
            match self.in_frame(code, args, d)? {
                Const::Int(n) if n >= 0 => sizes.push(n as u32),
                _ => {
                    self.report(Diagnostic::error(
                        "E0209",
                        "an array cannot have a negative size",
                        d.span,
                        "this is negative",
                    ));
                    return None;
                }
            }
        }
        Some(with_sizes(&spec.ty, &sizes))
    }

    fn requests(&mut self, code: &CompositeCode, args: Vec<Const>) -> Option<Vec<Request>> {
        let mut out = Vec::new();
        let limit = self.limits.instances;
        let mut full = None;
        let mut steps = self.steps;
        let globals = self.globals.clone();
        let mut portals = self.portals;
        let result = eval::run_composite(
            &globals,
            &code.function,
            &args,
            &mut steps,
            &mut portals,
            &self.w.budget,
            &mut |scope, stmt, span| {
                if out.len() >= limit {
                    full = Some(span);
                    return Err(EvalError::stopped(span));
                }
                if let Some(r) = request(scope, stmt, span)? {
                    out.push(r);
                }
                Ok(())
            },
        );
        self.steps = steps;
        self.portals = portals;
        if let Some(span) = full {
            self.stop(
                Diagnostic::error(
                    "E0400",
                    match self.w.sources.text(span).starts_with("enqueue") {
                        true => format!("the program has more than {limit} streams and items that loops begin with"),
                        false => format!("the program has more than {limit} streams"),
                    },
                    span,
                    "this is one too many",
                )
                .help("is the loop around it longer than meant? `--max-filters N` raises the limit"),
            );
            return None;
        }
        match result {
            Ok(()) => Some(out),
            Err(e) if e.is_out_of_fuel() => {
                let n = self.limits.steps;
                self.stop(
                    Diagnostic::error(
                        "E0401",
                        format!("building the program takes more than {n} steps"),
                        e.span,
                        "still running here",
                    )
                    .help("does the loop end? The bodies of composites run at compile time"),
                );
                None
            }
            Err(e) => {
                self.report(evaluation_failed(&e, "while the program is built"));
                None
            }
        }
    }

    /// Instantiates one child.
    pub(super) fn child(
        &mut self,
        what: Wanted,
        portals: Vec<PortalId>,
        span: Span,
        inferred: (Option<Ty>, Option<Ty>),
    ) -> Option<Inst> {
        if let Wanted::Identity(t) | Wanted::Reader(t, _) | Wanted::Writer(t, _) = &what
            && !crate::check::Checker::new(self.w, crate::check::Place::Static, None, false).fits(t, span)
        {
            return None;
        }
        let builtin = |kind, name: &str, display: String, io| Inst {
            kind,
            display,
            name: name.into(),
            decl: span,
            added: span,
            io,
            portals: Vec::new(),
        };
        let inst = match what {
            Wanted::Stream(id, args) => {
                let mut inst = self.instantiate(id, args, span, inferred)?;
                if !portals.is_empty() && !matches!(inst.kind, InstKind::Filter(_)) {
                    self.report(Diagnostic::error(
                        "E0420",
                        "only a filter can be registered with a portal",
                        span,
                        format!("`{}` is no filter", inst.name),
                    ));
                    return None;
                }
                inst.portals = portals;
                inst
            }
            Wanted::Identity(t) => {
                builtin(InstKind::Identity, "Identity", format!("Identity<{}>", self.show(&t)), (t.clone(), t))
            }
            Wanted::Reader(t, p) => {
                let shown = format!("FileReader<{}>({p:?})", self.show(&t));
                builtin(InstKind::Reader(p), "FileReader", shown, (Ty::Void, t))
            }
            Wanted::Writer(t, p) => {
                let shown = format!("FileWriter<{}>({p:?})", self.show(&t));
                builtin(InstKind::Writer(p), "FileWriter", shown, (t, Ty::Void))
            }
        };
        Some(inst)
    }

    /// Is it declared without a type?
    fn leaves_type_open(&self, what: &Wanted) -> bool {
        matches!(what, Wanted::Stream(id, _) if self.w.decl(*id).ast.io.is_none())
    }

    fn pipeline(
        &mut self,
        requests: Vec<Request>,
        around: &(Option<Ty>, Option<Ty>),
        header: Span,
    ) -> Option<(InstKind, (Ty, Ty))> {
        let mut children: Vec<Inst> = Vec::new();
        let count = requests.len();
        let mut failed = false;
        // how to make the last child again, if it leaves its type to its neighbours
        let mut untyped: Option<(Wanted, Vec<PortalId>, Option<Ty>)> = None;
        for (i, r) in requests.into_iter().enumerate() {
            let Request::Child { what, portals, span, .. } = r else { continue };
            let before = match children.last() {
                Some(c) => Some(c.io.1.clone()),
                None if i == 0 => around.0.clone(),
                None => None,
            };
            let after = if i + 1 == count { around.1.clone() } else { None };
            let again = self.leaves_type_open(&what).then(|| (what.clone(), portals.clone(), before.clone()));
            // the other children are instantiated all the same: one run shows all faults
            let Some(child) = self.child(what, portals, span, (before, after)) else {
                failed = true;
                if self.stopped {
                    return None;
                }
                continue;
            };
            // what takes its items decides what such a child gives: `add filter { ... push(1); }` before a float filter gives floats
            if let (Some(previous), Some((what, portals, before))) = (children.last_mut(), untyped.take())
                && !failed
                && fit(&previous.io.1, &child.io.0) == Fit::Widens
            {
                let added = previous.added;
                *previous = self.child(what, portals, added, (before, Some(child.io.0.clone())))?;
            }
            untyped = again;
            if let Some(previous) = children.last()
                && !failed
                && previous.io.1 != child.io.0
            {
                let (a, b) = (self.show(&previous.io.1), self.show(&child.io.0));
                let (pn, cn, at) = (previous.display.clone(), child.display.clone(), previous.added);
                let help = match (&previous.io.1, &child.io.0) {
                    (Ty::Void, _) | (_, Ty::Void) => {
                        "streams of a pipeline hand their items on: one that takes void begins it, one that gives void ends it"
                    }
                    _ => "items do not change their type on a channel: put a filter between them that converts",
                };
                self.report(
                    Diagnostic::error(
                        "E0404",
                        format!("`{pn}` gives {a}, but `{cn}` takes {b}"),
                        span,
                        format!("takes {b}"),
                    )
                    .label(at, format!("gives {a}"))
                    .help(help),
                );
                failed = true;
            }
            children.push(child);
        }
        if failed {
            return None;
        }
        if children.is_empty()
            && let Some(ty) = passed_on(around)
        {
            // the end of a recursion, a loop that runs no time: items pass through
            children.push(self.child(Wanted::Identity(ty), Vec::new(), header, around.clone())?);
        }
        let (Some(first), Some(last)) = (children.first(), children.last()) else {
            self.report(
                Diagnostic::error("E0413", "this pipeline is empty", header, "it adds no stream").help(
                    "add at least one stream: only where input and output have the same type do items pass through",
                ),
            );
            return None;
        };
        let io = (first.io.0.clone(), last.io.1.clone());
        Some((InstKind::Pipeline(children), io))
    }
}

/// The type of the items that an empty pipeline passes on, where it can.
fn passed_on(around: &(Option<Ty>, Option<Ty>)) -> Option<Ty> {
    match around {
        (Some(Ty::Void), _) | (_, Some(Ty::Void)) => None,
        (Some(a), Some(b)) if a == b => Some(a.clone()),
        (Some(a), None) | (None, Some(a)) => Some(a.clone()),
        _ => None,
    }
}

/// Puts sizes into an array type, outermost first.
pub fn with_sizes(ty: &Ty, sizes: &[u32]) -> Ty {
    match (ty, sizes) {
        (Ty::Array(e, _), [n, rest @ ..]) => Ty::Array(with_sizes(e, rest).into(), Dim::Known(*n)),
        _ => ty.clone(),
    }
}

fn request(scope: &mut eval::StreamScope<'_>, stmt: &StreamStmt, span: Span) -> Result<Option<Request>, EvalError> {
    let weights = |scope: &mut eval::StreamScope<'_>, d: &SplitDef| -> Result<Option<Vec<i32>>, EvalError> {
        let SplitDef::RoundRobin(ws) = d else { return Ok(None) };
        let mut out = Vec::new();
        for w in ws {
            if let Const::Int(n) = scope.eval(w)? {
                out.push(n);
            }
        }
        Ok(Some(out))
    };
    let sized = |scope: &mut eval::StreamScope<'_>, spec: &TypeSpec| -> Result<Ty, EvalError> {
        let mut sizes = Vec::new();
        for d in &spec.dims {
            if let Const::Int(n) = scope.eval(d)? {
                sizes.push(n.max(0) as u32);
            }
        }
        Ok(with_sizes(&spec.ty, &sizes))
    };
    let path = |scope: &mut eval::StreamScope<'_>, e: &Expr| -> Result<String, EvalError> {
        match scope.eval(e)? {
            Const::Str(s) => Ok(s.to_string()),
            _ => Ok(String::new()),
        }
    };
    Ok(Some(match stmt {
        StreamStmt::Split(d) => Request::Split(weights(scope, d)?, span),
        StreamStmt::Join(d) => Request::Join(weights(scope, d)?, span),
        StreamStmt::Enqueue(e) => Request::Enqueue(scope.eval(e)?, e.ty.clone(), span),
        StreamStmt::Add { role, stream, portals } => {
            let mut ids = Vec::new();
            for p in portals {
                if let Const::Portal(id) = scope.eval(p)? {
                    ids.push(id);
                }
            }
            let what = match stream {
                StreamUse::Error => return Ok(None),
                StreamUse::Identity(t) => Wanted::Identity(sized(scope, t)?),
                StreamUse::FileReader(t, p) => Wanted::Reader(sized(scope, t)?, path(scope, p)?),
                StreamUse::FileWriter(t, p) => Wanted::Writer(sized(scope, t)?, path(scope, p)?),
                StreamUse::Named { decl, args } => {
                    let mut values = Vec::new();
                    for a in args {
                        values.push(scope.eval(a)?);
                    }
                    Wanted::Stream(*decl, values)
                }
                StreamUse::Anonymous { decl, captures } => {
                    let mut values = Vec::new();
                    for (_, local) in captures {
                        values.push(scope.local(*local)?);
                    }
                    Wanted::Stream(*decl, values)
                }
            };
            Request::Child { role: *role, what, portals: ids, span }
        }
    }))
}
