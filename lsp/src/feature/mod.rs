//! What the server can do, a file for each: functions of a view and a place, so that they need no server.

pub mod builtins;
pub mod call_hierarchy;
pub mod code_action;
pub mod code_lens;
pub mod completion;
pub mod context;
pub mod definition;
pub mod diagnostics;
pub mod elsewhere;
pub mod facts;
pub mod folding;
pub mod formatting;
pub mod highlight;
pub mod hover;
pub mod inlay_hint;
mod missing;
pub mod picture;
pub mod references;
pub mod rename;
pub mod selection_range;
pub mod semantic_tokens;
pub mod signature_help;
pub mod symbols;
