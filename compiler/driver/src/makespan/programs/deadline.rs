//! A deadline of a manifest: cycles of a multiprocessor for each steady state, which a sound bound has to keep.

use super::report::Report;
use crate::exit::Exit;
use crate::pipeline::{Checked, Halt};
use crate::session::Session;
use sluice_grammar::diagnostic::{Diagnostic, Label};
use sluice_grammar::span::{SourceMap, Span};

/// `deadline` in `[makespan]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Deadline {
    /// Cycles for each steady state.
    pub cycles: u64,
    /// The manifest: its path, its text, where in it.
    pub manifest: (String, String, Span),
}

impl Deadline {
    /// Reports, and says no, where it is not sure to be kept.
    pub(super) fn judge(&self, session: &Session, checked: &Checked, report: &Report) -> Result<Exit, Halt> {
        let (whole, states) = (self.cycles.saturating_mul(report.steady_states), report.steady_states);
        let mut sources: SourceMap = checked.sources.clone();
        let file = sources.add(self.manifest.0.as_str(), self.manifest.1.as_str());
        let place = Span { file, ..self.manifest.2 };
        let of = if states == 1 { "a steady state".to_string() } else { format!("{states} steady states") };
        let asked = if states == 1 { format!("{whole} cycles") } else { format!("{states} x {} cycles", self.cycles) };
        let title = match report.bound {
            Some(bound) if report.sound && bound <= whole => return Ok(Exit::Ok),
            Some(bound) if report.sound => format!("{of} may take {bound} cycles, the deadline is {asked}"),
            _ => format!("nothing bounds what {of} takes, the deadline is {asked}"),
        };
        let mut d = Diagnostic::error("E0993", title, place, "the deadline");
        // why, or what takes the most of it
        if let Some(row) = report.unbounded() {
            d.labels.push(Label { span: row.span, text: format!("{}: {}", row.name, row.why()) });
        } else if let Some(row) = report.largest() {
            d.labels.push(Label {
                span: row.span,
                text: format!("up to {} cycles of it are for {}", row.cycles(), row.name),
            });
        }
        if let Some(because) = &report.because {
            d.notes.push(because.clone());
        }
        let help = match (report.bound, report.sound) {
            (Some(_), true) => "allow more cycles, more `multiprocessors`, or make that filter cheaper",
            (Some(_), false) => {
                "only machine code is bounded: install the CUDA toolkit with nvdisasm, or name it in SLUICE_CUDA_HOME"
            }
            (None, _) => "write its loops with bounds that are known when the program is compiled",
        };
        session.report(&sources, &[d.help(help)])?;
        Ok(Exit::Program)
    }
}
