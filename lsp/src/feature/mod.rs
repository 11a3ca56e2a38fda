//! What the server can do, a file for each: functions of a view and a place, so that they need no server.

pub mod diagnostics;
pub mod facts;
pub mod inlay_hint;
pub mod definition;
pub mod folding;
pub mod highlight;
pub mod hover;
pub mod references;
pub mod rename;
pub mod semantic_tokens;
pub mod symbols;
pub mod call_hierarchy;
pub mod code_lens;
pub mod completion;
pub mod context;
pub mod formatting;
pub mod picture;
pub mod selection_range;
pub mod signature_help;
pub mod code_action;
