//! All that `sluice check`, `rates` and `graph` do to a text, and a short run: whatever the text is, this ends in order.

use sluice_driver::io::sink::Out;
use sluice_driver::render::Renderer;
use sluice_driver::trace::{Trace, TraceFormat, TraceOptions};
use sluice_driver::{document, dumps, rates, render_json};
use sluice_frontend::elaborate::Limits;
use sluice_frontend::eval::EvalErrorKind;
use sluice_frontend::{Analysis, Elaborated, NoImports, Options, SourceInput, analyse};
use sluice_interpret::Outside;
use std::collections::BTreeSet;

/// Firings and long stretches of code after which a run is stopped.
const PATIENCE: u32 = 64;

/// Limits under which a thousand texts take a second.
pub fn small_limits() -> Limits {
    Limits { instances: 2_000, steps: 200_000, codes: 500, constants: 200_000, ..Limits::default() }
}

/// What a text turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Codes of its errors.
    pub errors: BTreeSet<&'static str>,
    /// Is it a program?
    pub accepted: bool,
    /// Did some of it run?
    pub ran: bool,
}

/// Looks at a text from all sides. An error is a fault of the compiler.
pub fn examine(bytes: &[u8], limits: Limits) -> Result<Found, String> {
    let text = sluice_grammar::decode(bytes).0;
    let options = Options { limits, ..Options::default() };
    let analysis = analyse(vec![SourceInput { name: "program.str".into(), text }], &options, &mut NoImports);
    look_at_diagnostics(&analysis)?;
    let errors = analysis.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect();
    let mut found = Found { errors, accepted: false, ran: false };
    if analysis.failed() == analysis.program.is_some() {
        return Err("a program with errors, or none without".into());
    }
    if let Some(program) = &analysis.program {
        found.accepted = true;
        look_at_program(&analysis, program);
        run(&analysis, program)?;
        found.ran = true;
    }
    Ok(found)
}

fn look_at_diagnostics(analysis: &Analysis) -> Result<(), String> {
    for d in &analysis.diagnostics {
        let digits = d.code.strip_prefix(['E', 'W']).unwrap_or("");
        if digits.len() != 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(format!("an odd code: {d:?}"));
        }
        if d.code == "E0999" || format!("{d:?}").contains("breaks its own rules") {
            return Err(format!("an internal fault: {d:?}"));
        }
        for span in d.labels.iter().map(|l| l.span).chain(d.fixes.iter().flat_map(|f| &f.edits).map(|e| e.span)) {
            let file = analysis.sources.files().find(|(id, _)| *id == span.file);
            if file.and_then(|(_, f)| f.text.get(span.start as usize..span.end as usize)).is_none() {
                return Err(format!("a place outside of the text: {d:?}"));
            }
        }
    }
    let shown = Renderer::new(&analysis.sources, false).all(&analysis.diagnostics);
    if shown.is_empty() && !analysis.diagnostics.is_empty() {
        return Err("diagnostics without a text".into());
    }
    render_json::diagnostics(&analysis.sources, &analysis.diagnostics);
    Ok(())
}

fn look_at_program(analysis: &Analysis, program: &Elaborated) {
    let report = rates::report(program, &analysis.sources);
    rates::table(&report);
    document::json(&report);
    sluice_picture::graph_svg::svg(&program.graph, &program.steady);
    sluice_picture::graph_dot::dot(&program.graph, &program.steady);
    sluice_frontend::graph_text::print(&program.graph);
    dumps::steady_state(program);
}

/// A world with a little input, for a while.
struct Briefly {
    items: u32,
    patience: u32,
}

impl Outside for Briefly {
    fn read(&mut self, _: usize, item: &mut [u8]) -> Result<bool, String> {
        self.items += 1;
        item.iter_mut().enumerate().for_each(|(i, b)| *b = (i as u32 * 37 + self.items * 101) as u8);
        Ok(self.items <= 20)
    }

    fn write(&mut self, _: usize, _: &[u8]) -> Result<(), String> {
        Ok(())
    }

    fn print(&mut self, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn wants_stop(&mut self) -> bool {
        self.patience = self.patience.saturating_sub(1);
        self.patience == 0
    }
}

/// A fault of the program is fine here, one of the compiler is not. The run is traced, in one of the two ways.
fn run(analysis: &Analysis, program: &Elaborated) -> Result<(), String> {
    let format = if program.graph.channels.len().is_multiple_of(2) { TraceFormat::Text } else { TraceFormat::Json };
    let output = Some("-".to_string());
    let how = TraceOptions { state: true, attempts: true, format, output, ..TraceOptions::default() };
    let nowhere = Out::to(Box::new(std::io::sink()));
    let mut trace = Trace::open(program, &analysis.sources, &how, &nowhere).map_err(|f| f.message)?;
    let Elaborated { globals, codes, graph, steady, messages, .. } = program;
    let program = sluice_interpret::Program { globals, codes, graph, steady, messages };
    let options = sluice_interpret::Options { iterations: Some(3), channel_limit: Some(10_000) };
    let mut world = Briefly { items: 0, patience: PATIENCE };
    match sluice_interpret::watch(program, &mut world, options, &mut trace) {
        Err(e) if matches!(e.kind, EvalErrorKind::IllTyped(_)) => Err(format!("while it ran: {e}")),
        _ => trace.close().map_err(|f| f.message),
    }
}
