//! The language server: the front end and the schedulers behind the Language Server Protocol.
//!
//! [`convert`] alone knows of the protocol's places; [`world`] keeps documents and analyses; each file of [`feature`] answers one kind of request, as a
//! function of a [`world::view::View`]; [`server`] hands requests to them. docs/lsp.md says what a user sees.

pub mod convert;
pub mod feature;
pub mod world;
