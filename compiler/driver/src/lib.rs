//! The pipeline from files to running code: devices, input and output, cache.

pub mod cache;
pub mod cc;
pub mod exit;
pub mod explain;
pub mod interrupt;
pub mod io;
pub mod options;
pub mod render;
pub mod render_json;
pub mod session;
