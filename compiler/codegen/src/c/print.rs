//! # print
//!
//! Purpose: C text of one filter. Input: a [`Kernel`] after `sluice_kernel::passes::prepare` (channels lowered). Output: [`FilterText`].
//! What the rest of the program must know (the *contract*):
//!
//! - The program's text is put together in this order: `sl_math.h`; a header that declares `sl_ctx` and the functions below;
//!   [`super::types::emit_types`] for all kernels and channels; [`super::types::emit_statics`]; [`super::natives::declarations`]; for each
//!   filter `state`, then `functions`; then the assembly.
//! - Items are of type [`super::types::c_type`]: `uint8_t` for bit and boolean (0 or 1), `int32_t`, `float`, `double`, `sl_complex`,
//!   `sl_float2` to `sl_float4`, `struct sl_struct_<id>`, and array structs with one member `v`. Buffers are aligned to
//!   the item type at least (64 bytes are better), natural C layout.
//! - For code `k`:
//!   - `struct sl_state_<k>` with at least `int64_t iter` (completed firings);
//!   - `static void sl_init_<k>(struct sl_state_<k> *st)`: state before the first firing;
//!   - `static void sl_fire_<k>(sl_ctx *restrict ctx, struct sl_state_<k> *restrict st, const IN *restrict in, OUT *restrict out,
//!     long n)`: n ≥ 0 firings of `work`; `in` is the first item not consumed, `out` the first free slot, in linear buffers with at
//!     least (n-1)·pop + peek items and room for n·push. The caller moves its cursors by n·pop and n·push. `IN` or `OUT` of a
//!     void end is `void`, and the pointer is not used;
//!   - `sl_prework_<k>` of the same type where the kernel has a prework; the caller calls it with n = 1, once, first;
//!   - `sl_handler_<k>_<i>(sl_ctx *ctx, struct sl_state_<k> *st, ...)` for handler i of `kernel.handlers`, with its parameters.
//!   - Of a kernel whose firings are attempts (`Work::dynamic`), n is 1: `ctx->have` items are there, there is room for `ctx->room`, and
//!     `ctx->took` and `ctx->gave` say afterwards how far the caller moves its cursors; `sl_want`, `sl_look` and `sl_full` may leave it
//!     by a jump, and then nothing of it counts.
//! - The functions `sl_ctx` must come with (`site` counts from 0 over the whole program; [`Site`]s are numbered from
//!   [`FilterOptions::first_site`]):
//!   - `_Noreturn void sl_fail(sl_ctx *ctx, int32_t site, int64_t value)`: ends the run; `value` is the index, position or
//!     count that was wrong (0 for divisions);
//!   - `void sl_send(sl_ctx *ctx, uint32_t send, int64_t firing, const void *message)`: sends a message by the way number `send` of
//!     [`FilterText::sends`] in that firing (counted from 1); `message` is a struct of the arguments in order;
//!   - `void sl_print_text(sl_ctx *ctx, const char *text, size_t length)`, `sl_print_int(ctx, int32_t)`, `sl_print_float(ctx, float)`,
//!     `sl_print_double(ctx, double)`, `sl_print_boolean(ctx, uint8_t)`, `sl_print_bit(ctx, uint8_t)`, `sl_print_complex(ctx, sl_complex)`,
//!     `sl_print_float2(ctx, sl_float2)` to `sl_print_float4`: as `sluice_frontend::ops::format` does.

use super::lanewise::Ends;
use super::print_function::{Printer, first_state, tables};
use sluice_frontend::ids::StaticId;
use sluice_frontend::ty::Ty;
use sluice_grammar::span::{SourceMap, Span};
use sluice_kernel::ir::{Kernel, Route, TableId};
use std::collections::BTreeSet;

/// In what a filter is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Dialect {
    /// C for the host: firings one after the other, or in the lanes of the machine's vectors.
    #[default]
    C,
    /// C++ for a device: one firing, as a template over the two ends of the firing's channels ([`crate::cuda`]).
    Device,
}

/// How to print a filter.
pub struct FilterOptions<'a> {
    /// For comments that name files and lines.
    pub sources: &'a SourceMap,
    /// Number of the filter's first site.
    pub first_site: u32,
    /// In what.
    pub dialect: Dialect,
    /// What devices alone ask for.
    pub device: DeviceOptions<'a>,
    /// Do so many nodes fire it that its text is not to be put where each of them does? Batches are long, and a compiler has to look at every copy.
    pub often_called: bool,
    /// Which of its ends have items as vectors have them: nobody fires it but in lanes then.
    pub lanewise: Ends,
}

/// What is chosen about a filter's text for devices.
#[derive(Clone, Copy, Default)]
pub struct DeviceOptions<'a> {
    /// The kernels that are printed as one, since they differ in the values of their tables only; the one that is printed is
    /// the first. Which of them fires, the firing's context says. None where it is the only one.
    pub variants: &'a [&'a Kernel],
    /// Tables that are not in constant memory, though all threads read them at the same place: it has no room for them, or they become part of the instructions.
    pub crowded: &'a [TableId],
    /// Short loops over tables are written out.
    pub written_out: bool,
    /// Loops without a known bound look whether the run has failed: what a firing gets behind one that has failed may keep them from ever ending.
    pub polls: bool,
    /// Only the firing is printed, as one of so many pieces: the kernel is that of [`sluice_kernel::pieces::piece`].
    pub pieces: Option<u32>,
}

/// Nodes that fire one function, above which it stays one.
pub const MANY_CALLS: usize = 64;

/// A filter's C text.
#[derive(Clone, Debug, PartialEq)]
pub struct FilterText {
    /// The state struct and the filter's own tables.
    pub state: String,
    /// Prototypes of all functions.
    pub prototypes: String,
    /// The functions (self-contained: they come with their prototypes where needed).
    pub functions: String,
    /// What `sl_fail`'s sites from `first_site` on mean.
    pub sites: Vec<Site>,
    /// Ways of the messages it sends, by the number given to `sl_send`.
    pub sends: Vec<Send>,
    /// Shared tables it reads, for [`super::types::emit_statics`].
    pub statics: BTreeSet<StaticId>,
}

/// A way of messages, and the types of their arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Send {
    /// To whom, and when.
    pub route: Route,
    /// Types of the arguments.
    pub args: Vec<Ty>,
}

/// A place where a filter can stop the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Why.
    pub kind: SiteKind,
    /// The filter's display name.
    pub filter: String,
    /// Where.
    pub span: Span,
}

/// Why a filter stops the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteKind {
    /// An index outside of an array of this length.
    Index(u32),
    /// An int divided by zero.
    DivisionByZero,
    /// A negative position for `peek`.
    PeekNegative,
    /// A `peek` beyond the declared rate; the value is the number of items needed.
    PeekBeyond(u32),
    /// A `pop` beyond the declared rate.
    PopBeyond(u32),
    /// A `push` beyond the declared rate.
    PushBeyond(u32),
    /// Fewer pushes than declared; the value is their number.
    PushedLess(u32),
    /// Fewer pops than the least declared; the value is their number.
    PoppedLess(u32),
    /// A function ended without giving its value.
    NoResult,
    /// A function called itself too often.
    Recursion,
}

impl SiteKind {
    /// The message in the interpreter's words, with `%lld` where the value goes (or without).
    pub fn format(self) -> String {
        match self {
            SiteKind::Index(0) => "index %lld is outside of an empty array".into(),
            SiteKind::Index(n) => {
                format!("index %lld is outside of the array, whose indices run from 0 to {}", n - 1)
            }
            SiteKind::DivisionByZero => "division by zero".into(),
            SiteKind::PeekNegative => "peek(%lld) looks at an item that is gone".into(),
            SiteKind::PeekBeyond(n) => format!("peek looks at %lld items, but the declared rate is {n}"),
            SiteKind::PopBeyond(n) => format!("more items are popped than the declared {n}"),
            SiteKind::PushBeyond(n) => format!("more items are pushed than the declared {n}"),
            SiteKind::PushedLess(n) => format!("only %lld items were pushed, but the declared rate is {n}"),
            SiteKind::PoppedLess(n) => format!("only %lld items were popped, but the declared rate is at least {n}"),
            SiteKind::NoResult => "a function ended without giving its value".into(),
            SiteKind::Recursion => "calls are nested too deeply: is it an endless recursion?".into(),
        }
    }
}

/// Prints a filter as code `k` whose functions are those of another: only its state before the first firing, and tables that it leads to, are its own.
pub fn emit_alike(k: usize, other: usize, kernel: &Kernel) -> FilterText {
    let name = |what: &str| format!("#define sl_{what}_{k} sl_{what}_{other}\n");
    let values = first_state(k, kernel);
    let functions = tables(k, kernel, &|t| t.own.is_some());
    let functions = format!(
        "{functions}static void sl_start_{k}(void *st) {{ *(struct sl_state_{other} *)st = (struct sl_state_{other}){{{values}}}; }}\n"
    );
    FilterText {
        state: name("state") + &name("fire") + &name("call"),
        prototypes: String::new(),
        functions,
        sites: Vec::new(),
        sends: Vec::new(),
        statics: BTreeSet::new(),
    }
}

/// Prints a filter as code `k`.
pub fn emit_filter(k: usize, kernel: &Kernel, options: &FilterOptions<'_>) -> FilterText {
    Printer::new(k, kernel, options).filter()
}
