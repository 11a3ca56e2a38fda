//! Projects: a folder with a manifest, `sluice.toml`, that says what the program is made of and how it is built and run where
//! the command line does not say (docs/projects.md).

pub mod find;
pub mod manifest;
pub mod new;
pub mod schema;
pub mod sources;

pub use find::resolve;
pub use manifest::Manifest;
