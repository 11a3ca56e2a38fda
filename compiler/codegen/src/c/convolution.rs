//! # convolution
//!
//! Purpose: filters whose firings may be done many at once in the frequency domain ([`sluice_frontend::convolution`]), with `rts/c/sl_convolve.h`. Input: the text of such a filter.
//! Output: the same with another name for what does its firings one by one, and a function of the old name that first does as many as are worth it the other way.
//!
//! ```text
//! sl_fire_3(…, n)   →   done = sl_convolve(…, n)   sl_direct_3(…, n - done)
//! ```
//!
//! Spectra and twiddles are made when the code is loaded. What a transform works in belongs to the thread.

use super::print::FilterText;
use super::program::ProgramInput;
use super::rts;
use super::types::initializer;
use sluice_frontend::constant::Const;
use sluice_frontend::convolution::Convolution;
use sluice_kernel::share_code::first_alike;
use std::collections::BTreeSet;
use std::fmt::Write;

/// States and functions of all filters, by code, and what those with convolutions need.
pub fn filters(input: &ProgramInput<'_>, filters: &[Option<FilterText>]) -> String {
    let mut out = support(input, filters);
    for (k, text) in filters.iter().enumerate().filter_map(|(k, text)| Some((k, text.as_ref()?))) {
        out.push_str(&text.state);
        out.push_str(&functions(input, k, text));
        out.push('\n');
    }
    out + &preparation(input, filters)
}

/// The convolution of a code, where it has one.
fn of<'a>(input: &ProgramInput<'a>, k: usize) -> Option<&'a Convolution> {
    input.codes.get(k)?.convolution.as_deref()
}

/// The run-time support and what all convolutions of a program share; empty where there are none.
fn support(input: &ProgramInput<'_>, filters: &[Option<FilterText>]) -> String {
    let Some(most) = used(input, filters).map(|(_, c)| c.log2).max() else { return String::new() };
    let mut out = String::new();
    rts::append(&mut out, rts::CONVOLVE, rts::Parts::default());
    for log2 in sizes(input, filters) {
        let _ = writeln!(out, "static _Alignas(64) float sl_twiddles_{log2}[{}];", 2u64 << log2);
    }
    let _ = writeln!(out, "static _Thread_local _Alignas(64) float sl_convolution_space[4 * SL_PART({most})];\n");
    out
}

fn used<'a>(
    input: &ProgramInput<'a>,
    filters: &[Option<FilterText>],
) -> impl Iterator<Item = (usize, &'a Convolution)> {
    let there = filters.iter().enumerate().filter(|(_, f)| f.is_some()).map(|(k, _)| k).collect::<Vec<_>>();
    let input = *input;
    there.into_iter().filter_map(move |k| Some((k, of(&input, k)?)))
}

/// By code: the first whose functions are its own ([`first_alike`]) of those that are `used`. What is convolved has functions around its own.
pub(super) fn alike(input: &ProgramInput<'_>, used: &dyn Fn(usize) -> bool) -> Vec<usize> {
    first_alike(input.kernels, &|k| used(k) && of(input, k).is_none())
}

/// The powers of two of all transforms, forwards and back.
fn sizes(input: &ProgramInput<'_>, filters: &[Option<FilterText>]) -> BTreeSet<u32> {
    let both = |(k, c): (usize, &Convolution)| [c.log2, c.log2 - 2 * c.folds(input.codes[k].work.rates.pop)];
    used(input, filters).flat_map(both).collect()
}

/// The functions of a filter: those of its text, and around them what a convolution needs.
fn functions(input: &ProgramInput<'_>, k: usize, text: &FilterText) -> String {
    let Some(c) = of(input, k) else { return text.functions.clone() };
    let (rates, kernel) = (input.codes[k].work.rates, &input.kernels[k]);
    let mut out = text.functions.replace(&format!("sl_fire_{k}("), &format!("sl_direct_{k}("));
    let float = |x: f64| initializer(&Const::Float(x as f32));
    let (from, to) = c.span();
    let mut at = 0;
    let (mut taps, mut rows, mut plus) = (Vec::new(), Vec::new(), Vec::new());
    for r in &c.rows {
        rows.push(format!("{{{}, {at}, {}}}", r.start, r.taps.len()));
        taps.extend(r.taps.iter().map(|t| float(*t)));
        plus.push(float(r.plus));
        at += r.taps.len();
    }
    for (ty, name, values) in [("float", "taps", &taps), ("float", "plus", &plus)] {
        let _ = write!(out, "static const {ty} sl_{name}_{k}[] = {{");
        for (i, v) in values.iter().enumerate() {
            let _ = write!(out, "{}{v},", if i % 8 == 0 { "\n    " } else { " " });
        }
        out.push_str("\n};\n");
    }
    let _ = writeln!(out, "static const int64_t sl_rows_{k}[][3] = {{{}}};", rows.join(", "));
    let _ = writeln!(out, "static _Alignas(64) float sl_spectra_{k}[2 * {} * SL_PART({})];", c.rows.len(), c.log2);
    let _ = writeln!(
        out,
        "static const struct sl_convolution sl_convolution_{k} = {{\n    {}, {}, {}, {from}, {}, {}, {}, {}, sl_rows_{k}, sl_taps_{k}, sl_plus_{k}, sl_twiddles_{}, sl_twiddles_{}, sl_spectra_{k}}};",
        c.log2,
        c.rows.len(),
        rates.pop,
        to - from,
        c.hop(rates.pop),
        c.least,
        c.folds(rates.pop),
        c.log2,
        c.log2 - 2 * c.folds(rates.pop),
    );
    let (from, to) = (super::types::c_type(&kernel.input), super::types::c_type(&kernel.output));
    let _ = writeln!(
        out,
        "static void sl_fire_{k}(sl_ctx *restrict ctx, struct sl_state_{k} *restrict st, const {from} *restrict in, {to} *restrict out, long n)\n{{\n    \
         const long done = (long)sl_convolve(&sl_convolution_{k}, sl_convolution_space, in, out, n);\n    st->iter += done;\n    \
         if (n > done)\n        sl_direct_{k}(ctx, st, in + done * {}, out + done * {}, n - done);\n}}",
        rates.pop, rates.push,
    );
    out
}

/// What makes spectra and twiddles when the code is loaded.
fn preparation(input: &ProgramInput<'_>, filters: &[Option<FilterText>]) -> String {
    let all: Vec<(usize, &Convolution)> = used(input, filters).collect();
    if all.is_empty() {
        return String::new();
    }
    let mut out = String::from("__attribute__((constructor)) static void sl_prepare_convolutions(void)\n{\n");
    for log2 in sizes(input, filters) {
        let _ = writeln!(out, "    sl_twiddles(sl_twiddles_{log2}, {log2});");
    }
    for (k, _) in all {
        let _ = writeln!(out, "    sl_prepare(&sl_convolution_{k});");
    }
    out.push_str("}\n\n");
    out
}
