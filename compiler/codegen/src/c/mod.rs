//! The C back end, in the order of the flow: `layout` places the buffers, `batch` says how many steady states they are for, `sharing` says which lie in the same memory, `twins` which are read from another's, `lanewise` which have items as vectors have them, `strips` what stays in the first cache, `alike` which branches fire as one filter, `print` makes the filters, `tables` the graph, `movers`, `beside`, `woven` and
//! `steady` the steady state (`step_table` one too long for text), `straight` what goes past the buffers, `moves` what regions fetch and put back, `stages` what threads run, `ends` what the host is told, `rest` how few items can wait, `header` the library's header; `convolution` is filters in the frequency domain; `natives` are functions of C, `native_header` declares them for their
//! authors; `program` puts all together.

pub mod alike;
pub mod batch;
pub mod beside;
pub mod check;
mod convolution;
pub mod ends;
pub mod fills;
pub mod fused;
pub mod header;
pub mod lanewise;
pub mod layout;
pub mod messages;
mod movers;
mod moves;
pub mod native_header;
pub mod natives;
pub mod print;
mod print_arrays;
mod print_bits;
mod print_bytes;
mod print_columns;
pub(crate) mod print_device;
mod print_expr;
mod print_function;
mod print_lanes;
mod print_lookup;
mod print_rest;
mod print_scope;
mod print_skewed;
mod print_sure;
mod print_turn;
mod print_within;
pub mod program;
pub mod rest;
pub mod rts;
pub mod sharing;
pub mod stages;
pub mod steady;
pub mod step_table;
mod straight;
pub mod strips;
pub mod tables;
pub mod twins;
pub mod types;
pub mod woven;
