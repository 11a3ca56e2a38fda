//! # steady
//!
//! Purpose: the steady state: `void sl_steady(ctx, k)`. Input: the verified schedule. Output: a function that hands the schedule to the
//! engine as a table, scaled where its steps can each be run `k` times as often.
//!
//! ```text
//! [n0 × 4, n1 × 4, (n2, n3) × 2]   →   sl_run_scaled(ctx, {{4, n0}, {4, n1}, {2, loop of 2}, {1, n2}, {1, n3}}, 5, k)
//! ```

use crate::Refusal;
use crate::machine::{Machine, PTR};
use cranelift_codegen::ir::{InstBuilder, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::FuncId;
use sluice_codegen::c::steady::Steady;

/// Makes the function. Is each step run `k` times as often, rather than all of it `k` times?
pub fn make(steady: Option<&Steady<'_>>, machine: &mut Machine) -> Result<(FuncId, bool), Refusal> {
    let code = machine.declare("sl_steady", &[PTR, types::I64], None)?;
    let (rows, scaled) = steady.map_or((Vec::new(), false), |s| (s.table_rows(), s.table_is_scaled()));
    let mut bytes = Vec::with_capacity(16 * rows.len());
    for row in &rows {
        bytes.extend(row.times.to_ne_bytes());
        bytes.extend(row.node.map_or(u32::MAX, |v| v.0).to_ne_bytes());
        bytes.extend(row.length.to_ne_bytes());
    }
    let table = machine.data(bytes)?;
    let (mut context, mut builder) = machine.begin(code);
    let mut b = FunctionBuilder::new(&mut context.func, &mut builder);
    let first = b.create_block();
    b.append_block_params_for_function_params(first);
    b.switch_to_block(first);
    b.seal_block(first);
    let (ctx, k) = (b.block_params(first)[0], b.block_params(first)[1]);
    if steady.is_some() {
        let name = if scaled { "sl_run_scaled" } else { "sl_run_steps" };
        let run = machine.import(name, &[PTR, PTR, types::I64, types::I64], None, b.func)?;
        let gv = machine.data_reference(table, b.func);
        let (steps, count) = (b.ins().symbol_value(PTR, gv), b.ins().iconst(types::I64, rows.len() as i64));
        b.ins().call(run, &[ctx, steps, count, k]);
    } else {
        let run = machine.import("sl_flow", &[PTR, types::I64], None, b.func)?;
        b.ins().call(run, &[ctx, k]);
    }
    b.ins().return_(&[]);
    let config = machine.config();
    b.finalize(config);
    machine.end(code, context, "the steady state")?;
    Ok((code, scaled))
}
