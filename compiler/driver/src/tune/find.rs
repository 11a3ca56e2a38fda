//! Where the ways that were measured are kept: in the cache, under the program's file, the options, the processor and the compilers. A program that has changed since keeps its way, which may be
//! slower then than another one, and is never wrong.

use super::{SCHEMA, Tuned, Way};
use crate::cache::{self, Cache};
use crate::cc::Compiler;
use crate::options::CodeOptions;
use crate::pipeline::Checked;
use crate::profile::this_machine;

/// The name under which the cache has a program's way; `None` for a program that is in no file.
pub fn key(checked: &Checked, code: &CodeOptions) -> Option<String> {
    let entry = checked.program.graph.hierarchy.first()?;
    let name = &checked.sources.file(entry.decl.file).name;
    let path = std::fs::canonicalize(name).ok()?;
    // native functions' sources are compiled with the same compiler, and who names one has chosen
    let cc = std::env::var("CC").unwrap_or_default();
    let asked = CodeOptions { stats: false, ..Way::default().of(code) };
    let parts = ["tune", env!("CARGO_PKG_VERSION"), path.to_str()?, &entry.display, &this_machine(), &cc];
    let asked = format!("{asked:?}");
    Some(cache::key(&[parts.as_slice(), &[asked.as_str()]].concat()))
}

/// The options with the way that was found to be the fastest for the program, where it was tuned with these options and the compiler is still there.
pub fn tuned(checked: &Checked, code: &CodeOptions) -> CodeOptions {
    kept(checked, code).map_or(*code, |tuned| tuned.way.of(code))
}

/// What the cache keeps of the program.
fn kept(checked: &Checked, code: &CodeOptions) -> Option<Tuned> {
    let path = Cache::open().ok()?.find(&key(checked, code)?, "json")?;
    let tuned: Tuned = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
    (tuned.schema == SCHEMA && Compiler::of(tuned.way.compiler).is_ok()).then_some(tuned)
}
