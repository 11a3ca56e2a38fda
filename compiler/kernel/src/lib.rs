//! The kernel IR: small, typed, imperative; lowering from the typed program and passes on it.
//!
//! [`ir`] is the form, [`verify`] its rules, [`text`] its text. [`lower`] makes kernels from the typed program, [`passes`] improve
//! them, [`share_code`] lets many filters be one function, [`cost`] and [`loop_shape`] estimate a firing.

mod affine;
pub mod cost;
pub mod fuse;
pub mod ir;
pub mod items;
pub mod linear;
pub mod loop_shape;
pub mod loops;
pub mod lower;
pub mod passes;
pub mod pieces;
pub mod share_code;
mod shorthand;
pub mod text;
pub mod types;
pub mod verify;
pub mod walk;
pub mod within;
