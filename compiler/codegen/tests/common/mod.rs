//! Programs for tests: filters from source text (for the interpreter) and by hand in C, graphs built by hand, compiled with cc and run.
#![allow(dead_code, missing_docs)]

use sluice_codegen::c::print::{FilterText, Site, SiteKind};
use sluice_codegen::c::program::assemble;
use sluice_codegen::c::rts::CC_FLAGS;
use sluice_codegen::{CProgram, CodegenError, Flavour, ProgramInput, ProgramOptions, emit_program};
use sluice_frontend::check;
use sluice_frontend::constant::Const;
use sluice_frontend::graph::*;
use sluice_frontend::ids::*;
use sluice_frontend::steady_state::{SteadyState, steady_state};
use sluice_frontend::ty::Ty;
use sluice_frontend::typed::FilterCode;
use sluice_frontend::world::World;
use sluice_grammar::span::Span;
use sluice_kernel::ir::{self, Kernel};
use sluice_schedule::judge::{Verified, verify};
use sluice_schedule::sequential::SequentialSchedule;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Filters in the language; all items are ints. Each has its C below.
pub const SOURCE: &str = "
int->int filter Scale { work pop 1 push 1 { push(3 * pop() + 1); } }
int->int filter Sum3 { work pop 1 push 1 peek 3 { push(peek(0) + 2 * peek(1) - peek(2)); pop(); } }
int->int filter Down { work pop 2 push 1 { int a = pop(); push(a - pop()); } }
int->int filter Up { work pop 1 push 2 { int a = pop(); push(a); push(a * 5); } }
int->int filter Both { work pop 2 push 2 { int a = pop(); int b = pop(); push(a + b); push(a - b); } }
int->int stateful filter Acc { int s; work pop 1 push 1 { s = s * 3 + pop(); push(s); } }
int->int filter Late { prework push 2 { push(7); push(8); } work pop 1 push 1 { push(pop()); } }
int->int filter Early { prework pop 2 push 1 peek 4 { push(peek(3)); pop(); pop(); } work pop 1 push 1 { push(pop() + 9); } }
void->int stateful filter Count { int n; work push 1 { n = n + 1; push(n); } }
int->int filter Echo { work pop 1 push 1 { int a = pop(); println(a); push(a); } }
int->void filter Show { work pop 1 { print(\"show \"); println(pop()); } }
void->int filter Loud { work push 1 { println(\"loud\"); push(1); } }
int->int filter Check { int[4] t; work pop 1 push 1 { int a = pop(); push(t[a] + 100 / (a - 2)); } }
";

/// Name, fields of the state, prework (if any), work. `E` and `W` are `uint32_t` views of items: wrapping arithmetic.
const BODIES: &[(&str, &str, &str, &str)] = &[
    ("Scale", "", "", "out[0] = (int32_t)(3u * (uint32_t)in[0] + 1u);"),
    ("Sum3", "", "", "out[0] = (int32_t)((uint32_t)in[0] + 2u * (uint32_t)in[1] - (uint32_t)in[2]);"),
    ("Down", "", "", "out[0] = (int32_t)((uint32_t)in[0] - (uint32_t)in[1]);"),
    ("Up", "", "", "out[0] = in[0]; out[1] = (int32_t)((uint32_t)in[0] * 5u);"),
    (
        "Both",
        "",
        "",
        "out[0] = (int32_t)((uint32_t)in[0] + (uint32_t)in[1]); out[1] = (int32_t)((uint32_t)in[0] - (uint32_t)in[1]);",
    ),
    ("Acc", "uint32_t s;", "", "st->s = st->s * 3u + (uint32_t)in[0]; out[0] = (int32_t)st->s;"),
    ("Late", "", "out[0] = 7; out[1] = 8;", "out[0] = in[0];"),
    ("Early", "", "out[0] = in[3];", "out[0] = (int32_t)((uint32_t)in[0] + 9u);"),
    ("Count", "uint32_t n;", "", "st->n++; out[0] = (int32_t)st->n;"),
    ("Echo", "", "", "sl_print_int(ctx, in[0]); sl_print_text(ctx, \"\\n\", 1); out[0] = in[0];"),
    ("Show", "", "", "sl_print_text(ctx, \"show \", 5); sl_print_int(ctx, in[0]); sl_print_text(ctx, \"\\n\", 1);"),
    ("Loud", "", "", "sl_print_text(ctx, \"loud\\n\", 5); out[0] = 1;"),
    (
        "Check",
        "",
        "",
        "if (in[0] < 0 || in[0] > 3) sl_fail(ctx, SITE, in[0]); if (in[0] == 2) sl_fail(ctx, SITE + 1, 0); out[0] = 100 / (in[0] - 2);",
    ),
];

/// A program under construction.
pub struct Build {
    pub world: World,
    pub codes: Vec<FilterCode>,
    pub graph: SdfGraph,
    pub options: ProgramOptions,
    pub name: String,
    pub minimum_latency: bool,
    /// Filters by the compiler, not by hand.
    pub lowered: bool,
}

impl Build {
    pub fn new() -> Build {
        let mut w = World::default();
        let file = w.sources.add("test.str", SOURCE);
        let (tree, diagnostics) = sluice_grammar::parse(file, SOURCE);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        w.add_program(tree, false);
        check::globals::globals(&mut w);
        let ids: Vec<DeclId> = (0..w.decls.len()).map(DeclId::from).collect();
        let codes: Vec<FilterCode> =
            ids.into_iter().filter_map(|id| check::filter::specialise(&mut w, id, &[], (None, None))).collect();
        assert_eq!(codes.len(), BODIES.len(), "{:?}", w.diagnostics);
        let options = ProgramOptions { flavour: Flavour::Executable, ..ProgramOptions::default() };
        Build {
            world: w,
            codes,
            graph: SdfGraph::default(),
            options,
            name: "test".into(),
            minimum_latency: false,
            lowered: false,
        }
    }

    pub fn node(&mut self, path: &str, kind: NodeKind) -> NodeId {
        let id = NodeId::from(self.graph.nodes.len());
        self.graph.nodes.push(Node {
            path: format!("{path}#{}", id.0),
            name: path.into(),
            kind,
            inputs: Vec::new(),
            outputs: Vec::new(),
            span: Span::default(),
            hier: HierId(0),
        });
        id
    }

    /// Adds the filter of that name.
    pub fn filter(&mut self, name: &str) -> NodeId {
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
        self.node(name, kind)
    }

    pub fn reader(&mut self) -> NodeId {
        self.node("reader", NodeKind::Reader(Endpoint::Open))
    }

    pub fn writer(&mut self) -> NodeId {
        self.node("writer", NodeKind::Writer(Endpoint::Open))
    }

    /// Joins two nodes of ints by their next free ports.
    pub fn join(&mut self, from: NodeId, to: NodeId) -> ChannelId {
        self.join_of(from, to, Ty::Int)
    }

    pub fn join_of(&mut self, from: NodeId, to: NodeId, ty: Ty) -> ChannelId {
        let id = ChannelId::from(self.graph.channels.len());
        let (a, b) = (self.graph.nodes[from.index()].outputs.len(), self.graph.nodes[to.index()].inputs.len());
        let produce = match &self.graph.nodes[from.index()].kind {
            NodeKind::Filter { rates, .. } => rates.push,
            NodeKind::SplitRoundRobin(w) => w[a],
            NodeKind::JoinRoundRobin(w) => w.iter().sum(),
            _ => 1,
        };
        let (consume, peek) = match &self.graph.nodes[to.index()].kind {
            NodeKind::Filter { rates, .. } => (rates.pop, rates.peek.max(rates.pop)),
            NodeKind::JoinRoundRobin(w) => (w[b], w[b]),
            NodeKind::SplitRoundRobin(w) => (w.iter().sum(), w.iter().sum()),
            _ => (1, 1),
        };
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

    pub fn chain(&mut self, nodes: &[NodeId]) {
        for pair in nodes.windows(2) {
            self.join(pair[0], pair[1]);
        }
    }

    /// After `from`: a feedback loop around `Both` with these items enqueued. Gives its splitter, whose next output leaves the loop.
    pub fn feedback(&mut self, from: NodeId, to: NodeId, delay: &[i32]) {
        let join = self.node("join", NodeKind::JoinRoundRobin(vec![1, 1]));
        let body = self.filter("Both");
        let back = self.filter("Scale");
        let split = self.node("split", NodeKind::SplitRoundRobin(vec![1, 1]));
        self.join(from, join);
        self.chain(&[join, body, split]);
        self.join(split, to);
        self.join(split, back);
        let closing = self.join(back, join);
        let channel = &mut self.graph.channels[closing.index()];
        channel.initial = delay.iter().map(|i| Const::Int(*i)).collect();
        channel.feedback = true;
    }

    pub fn steady(&self) -> SteadyState {
        steady_state(&self.graph).unwrap_or_else(|d| panic!("{d:?}"))
    }

    pub fn schedule(&self, steady: &SteadyState) -> Verified<SequentialSchedule> {
        if self.minimum_latency {
            let s = sluice_schedule::minimum_latency::minimum_latency(&self.graph, steady).unwrap();
            return verify(&self.graph, steady, s).unwrap();
        }
        let s = sluice_schedule::single_appearance::single_appearance(&self.graph, steady, 1).unwrap();
        verify(&self.graph, steady, s).unwrap()
    }

    /// The filters in C.
    fn filters(&self) -> (Vec<Kernel>, Vec<Option<FilterText>>) {
        let used = |k: usize| {
            self.graph.nodes.iter().any(|n| matches!(n.kind, NodeKind::Filter { code, .. } if code.index() == k))
        };
        let mut first_site = 0;
        let mut texts = Vec::new();
        let mut kernels = Vec::new();
        for (k, c) in self.codes.iter().enumerate() {
            kernels.push(kernel(c));
            texts.push(used(k).then(|| {
                let text = filter_text(k, c, first_site);
                first_site += text.sites.len();
                text
            }));
        }
        (kernels, texts)
    }

    pub fn try_emit(&self) -> Result<CProgram, CodegenError> {
        let steady = self.steady();
        self.emit_with(&steady, &self.schedule(&steady))
    }

    pub fn emit_with(
        &self,
        steady: &SteadyState,
        schedule: &Verified<SequentialSchedule>,
    ) -> Result<CProgram, CodegenError> {
        let (mut kernels, texts) = self.filters();
        if self.lowered {
            let options = sluice_kernel::lower::LowerOptions::default();
            let lower = |c| sluice_kernel::lower::lower(c, &self.world.globals, options);
            kernels = self.codes.iter().map(|c| sluice_kernel::passes::prepare(lower(c).unwrap())).collect();
        }
        let input = ProgramInput {
            name: &self.name,
            globals: &self.world.globals,
            codes: &self.codes,
            graph: &self.graph,
            steady,
            messages: &Default::default(),
            kernels: &kernels,
            schedule,
            fused: None,
            sources: &self.world.sources,
            options: &self.options,
        };
        if self.lowered { emit_program(&input) } else { assemble(&input, &texts) }
    }

    pub fn emit(&self) -> CProgram {
        self.try_emit().unwrap_or_else(|e| panic!("{e}"))
    }

    /// Compiles to an executable.
    pub fn executable(&self, folder: &Path, flags: &[&str]) -> PathBuf {
        let exe = folder.join("program");
        let c = self.emit();
        let engine = c.engine.map(|text| engine(&text, flags));
        let objects: Vec<&str> = engine.iter().map(|o| o.to_str().unwrap()).collect();
        compile(&c.source, folder, &exe, &[flags, &objects].concat());
        exe
    }

    /// Runs with the interpreter: what comes out on standard output (items of the open output among it), or why it stopped.
    pub fn interpret(&self, input: &[u8], iterations: Option<u64>) -> Told {
        let steady = self.steady();
        let mut log = Log { input: input.to_vec(), ..Log::default() };
        let program = sluice_interpret::Program {
            globals: &self.world.globals,
            codes: &self.codes,
            graph: &self.graph,
            steady: &steady,
            messages: &Default::default(),
        };
        let end =
            sluice_interpret::run(program, &mut log, sluice_interpret::Options { iterations, ..Default::default() });
        Told { all: log.all, items: log.items, text: log.text, fault: end.err().map(|e| e.to_string()) }
    }
}

/// What the interpreter gave.
pub struct Told {
    /// Items and text in their order.
    pub all: Vec<u8>,
    /// Items of the outputs.
    pub items: Vec<u8>,
    /// Text.
    pub text: Vec<u8>,
    /// Why it stopped.
    pub fault: Option<String>,
}

#[derive(Default)]
struct Log {
    input: Vec<u8>,
    at: usize,
    all: Vec<u8>,
    items: Vec<u8>,
    text: Vec<u8>,
}

impl sluice_interpret::Outside for Log {
    fn read(&mut self, _: usize, item: &mut [u8]) -> Result<bool, String> {
        if self.input.len() - self.at < item.len() {
            return Ok(false);
        }
        item.copy_from_slice(&self.input[self.at..self.at + item.len()]);
        self.at += item.len();
        Ok(true)
    }

    fn write(&mut self, _: usize, item: &[u8]) -> Result<(), String> {
        self.all.extend(item);
        self.items.extend(item);
        Ok(())
    }

    fn print(&mut self, text: &str) -> Result<(), String> {
        self.all.extend(text.as_bytes());
        self.text.extend(text.as_bytes());
        Ok(())
    }
}

/// A kernel that says what code generation asks of it; its code is in C.
fn kernel(c: &FilterCode) -> Kernel {
    let work = |rates| ir::Work { function: ir::FuncId(0), rates, dynamic: None };
    Kernel {
        name: c.name.to_string(),
        display: c.display.clone(),
        span: c.span,
        input: c.input.clone(),
        output: c.output.clone(),
        structs: Vec::new().into(),
        state: Vec::new(),
        tables: Vec::new(),
        natives: Vec::new(),
        functions: vec![ir::Function {
            name: "work".to_string(),
            params: 0,
            locals: Vec::new(),
            ret: Ty::Void,
            body: Vec::new(),
            span: c.span,
        }],
        work: work(c.work.rates),
        prework: c.prework.as_ref().map(|p| work(p.rates)),
        handlers: Vec::new(),
        free: false,
        lanes: None,
        steps: None,
        tapes: Vec::new(),
        chosen: Vec::new(),
        elsewhere: Vec::new(),
    }
}

fn filter_text(k: usize, c: &FilterCode, first_site: usize) -> FilterText {
    let (name, fields, first, work) = BODIES.iter().find(|b| b.0 == &*c.name).unwrap();
    let ty = |t: &Ty| if *t == Ty::Void { "void" } else { "int32_t" };
    let (input, output) = (ty(&c.input), ty(&c.output));
    let step = |pointer: &str, t: &Ty, n: u32| {
        if *t == Ty::Void { String::new() } else { format!("{pointer} += {n};") }
    };
    let function = |prefix: &str, body: &str, pop: u32, push: u32| {
        format!(
            "static void sl_{prefix}_{k}(sl_ctx *restrict ctx, struct sl_state_{k} *restrict st, const {input} *restrict in, {output} *restrict out, long n) {{\n\
             (void)ctx; (void)in; (void)out;\nfor (long i = 0; i < n; i++) {{ {} {} {} }}\nst->iter += n;\n}}\n",
            body.replace("SITE", &first_site.to_string()),
            step("in", &c.input, pop),
            step("out", &c.output, push),
        )
    };
    let mut functions = function("fire", work, c.work.rates.pop, c.work.rates.push);
    if let Some(p) = &c.prework {
        functions += &function("prework", first, p.rates.pop, p.rates.push);
    }
    functions += &format!("static void sl_init_{k}(struct sl_state_{k} *st) {{ memset(st, 0, sizeof *st); }}\n");
    let site = |kind| Site { kind, filter: c.display.clone(), span: c.span };
    let sites =
        if *name == "Check" { vec![site(SiteKind::Index(4)), site(SiteKind::DivisionByZero)] } else { Vec::new() };
    FilterText {
        sends: Vec::new(),
        state: format!("struct sl_state_{k} {{ int64_t iter; {fields} }};\n"),
        prototypes: String::new(),
        functions,
        sites,
        statics: Default::default(),
    }
}

/// Sanitizers, where the C compiler has them.
pub fn sanitize() -> Vec<&'static str> {
    vec!["-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
}

pub fn compile(source: &str, folder: &Path, to: &Path, flags: &[&str]) {
    let file = folder.join("program.c");
    std::fs::write(&file, source).unwrap();
    let out = Command::new("cc")
        .args(CC_FLAGS)
        .args([
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unused-function",
            "-Wno-unused-const-variable",
            "-Wno-missing-field-initializers",
        ])
        .args(flags)
        .arg(&file)
        .arg("-o")
        .arg(to)
        .arg("-lm")
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

/// The object of an engine that is apart, made once for all tests.
fn engine(text: &str, flags: &[&str]) -> PathBuf {
    use std::hash::{DefaultHasher, Hash, Hasher};
    static VERSION: std::sync::LazyLock<Vec<u8>> =
        std::sync::LazyLock::new(|| Command::new("cc").arg("--version").output().unwrap().stdout);
    let mut hasher = DefaultHasher::new();
    (text, flags, &*VERSION).hash(&mut hasher);
    let home = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let object = home.join(format!("engine-{:016x}.o", hasher.finish()));
    if !object.exists() {
        // whole or not at all: other tests look for it at the same time
        let folder = tempfile::tempdir_in(home).unwrap();
        let made = folder.path().join("engine.o");
        compile(text, folder.path(), &made, &[flags, &["-c"]].concat());
        std::fs::rename(made, &object).unwrap();
    }
    object
}

/// Runs a program with bytes on its standard input.
pub fn run(exe: &Path, args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(exe)
        .args(args)
        .current_dir(exe.parent().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let bytes = input.to_vec();
    let feeder = std::thread::spawn(move || {
        let _ = stdin.write_all(&bytes);
    });
    let out = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    out
}

pub fn ints(values: impl IntoIterator<Item = i32>) -> Vec<u8> {
    values.into_iter().flat_map(i32::to_le_bytes).collect()
}

pub fn as_ints(bytes: &[u8]) -> Vec<i32> {
    bytes.chunks(4).map(|c| i32::from_le_bytes(c.try_into().unwrap())).collect()
}

/// Numbers that look random and repeat.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        let mut d = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for _ in 0..4 {
            d.roll(2);
        }
        d
    }

    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % sides
    }
}
