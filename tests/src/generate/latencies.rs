//! Latencies that are possible: which ones are follows from the whole program, so they are tried.

use super::mail::MARK;
use sluice_frontend::{NoImports, Options, SourceInput, analyse};

/// Rounds of looking; after that, all messages are sent with best effort.
const ROUNDS: u32 = 12;

/// The program with latencies that the compiler takes: those it refuses become what it advises, or best effort.
pub fn settle(source: String) -> String {
    let mut source = source;
    for round in 0..=ROUNDS {
        let input = SourceInput { name: "program.str".into(), text: source.clone() };
        let analysis = analyse(vec![input], &Options::default(), &mut NoImports);
        let mut edits: Vec<(usize, String)> = Vec::new();
        for d in analysis.diagnostics.iter().filter(|d| d.is_error()) {
            let places = match d.code {
                "E0311" | "E0312" | "E0314" | "E0316" => vec![d.span().start as usize],
                // together they cannot be kept
                "E0313" => source.match_indices(MARK).map(|(at, _)| at).collect(),
                _ => continue,
            };
            let advised = d.help.as_ref().and_then(|h| h.split("works is").nth(1)?.split('`').nth(1));
            let latency = advised.filter(|_| round % 3 < 2).unwrap_or("[*]");
            edits.extend(places.into_iter().map(|at| (at, latency.to_string())));
        }
        if round == ROUNDS && !edits.is_empty() {
            edits = source.match_indices(MARK).map(|(at, _)| (at, "[*]".into())).collect();
        }
        if edits.is_empty() {
            break;
        }
        edits.sort();
        edits.dedup_by_key(|(at, _)| *at);
        for (at, latency) in edits.into_iter().rev() {
            let Some(from) = source[at..].find(MARK).map(|n| at + n + MARK.len()) else { continue };
            let to = source[from..].find(';').map_or(from, |n| from + n);
            source.replace_range(from..to, &format!(" {latency}"));
        }
    }
    source.replace(MARK, "")
}
