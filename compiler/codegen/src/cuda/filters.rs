//! # filters
//!
//! Purpose: the text of the program's filters for a device. Input: the kernels, what of constant memory is taken, the numbers of pieces that firings go in. Output: [`FilterText`]s, one for each code that is printed:
//! a firing as one thread makes it, and as each of several threads that share it ([`super::pieces`]).
//!
//! What must hold: a table that threads read at different places at a time is not in constant memory, in whatever form of the firing they do.

use super::constants;
use super::program::{InPieces, Making};
use crate::c::lanewise::Ends;
use crate::c::print::{DeviceOptions, Dialect, FilterOptions, FilterText, emit_filter};
use crate::c::print_device::uniform;
use sluice_kernel::ir::{Kernel, TableId};
use sluice_kernel::pieces;

impl Making<'_> {
    /// The text of each filter that a node has. So many bytes of constant memory are taken; `in_pieces`: by code, the numbers of pieces that firings go in.
    pub(super) fn filters(&self, first_site: usize, taken: u64, in_pieces: &InPieces) -> Vec<Option<FilterText>> {
        let mut first = first_site as u32;
        let elsewhere = constants::elsewhere(self, taken);
        // a firing in pieces, and the tables that its threads read at different places
        let pieces_of = |k: usize| -> Vec<(u32, Kernel)> {
            let all = in_pieces.get(&k).into_iter().flatten();
            all.filter_map(|n| Some((*n, pieces::piece(&self.input.kernels[k], *n)?))).collect()
        };
        let emit = |(k, kernel): (usize, &Kernel)| {
            let members = &self.codes.members[k];
            (self.facts.instances[k] > 0 && !members.is_empty()).then(|| {
                let all: Vec<&Kernel> = members.iter().map(|m| &self.input.kernels[*m]).collect();
                let variants = if all.len() > 1 { &all[..] } else { &[] };
                let mut crowded = elsewhere.get(&k).cloned().unwrap_or_default();
                let apart = pieces_of(k);
                for (_, piece) in &apart {
                    let tables = (0..piece.tables.len()).map(TableId::from);
                    crowded.extend(tables.filter(|t| !uniform(piece, *t)));
                }
                let written_out = constants::written_out(self, k);
                let sources = self.input.host.sources;
                let options = |first_site: u32, pieces: Option<u32>| FilterOptions {
                    sources,
                    first_site,
                    dialect: Dialect::Device,
                    device: DeviceOptions {
                        variants,
                        crowded: &crowded,
                        written_out,
                        polls: self.faults.polls,
                        pieces,
                    },
                    often_called: false,
                    lanewise: Ends::default(),
                };
                let mut text = emit_filter(k, kernel, &options(first, None));
                for (n, piece) in &apart {
                    let more = emit_filter(k, piece, &options(first + text.sites.len() as u32, Some(*n)));
                    text.functions.push_str(&more.functions);
                    text.sites.extend(more.sites);
                    text.statics.extend(more.statics);
                }
                first += text.sites.len() as u32;
                text
            })
        };
        self.input.kernels.iter().enumerate().map(emit).collect()
    }
}
