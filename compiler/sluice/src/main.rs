//! The sluice command: it takes the command line apart and hands it to the driver.

mod arguments;
mod choices;
mod cslow_arguments;
mod cuda_arguments;
mod makespan_arguments;
mod profile_arguments;
mod run_arguments;
mod schedule_arguments;
mod tune_arguments;
mod watch_arguments;

use arguments::Arguments;
use clap::Parser;
use clap::error::{ContextKind, ContextValue};
use std::process::ExitCode;

/// Deeply nested programs need a deep stack.
const STACK: usize = 512 << 20;

/// A number below zero is taken for an option: how an option gets one is not what the library says.
fn about_negative_numbers(e: &mut clap::Error) {
    let Some(ContextValue::String(number)) = e.get(ContextKind::InvalidArg) else { return };
    if !number.starts_with('-') || number.parse::<f64>().is_err() {
        return;
    }
    let tip = format!("an option and a number below zero are written together, as in '--option={number}'");
    if e.remove(ContextKind::Suggested).is_some() {
        e.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

fn main() -> ExitCode {
    sluice_driver::solver::serve_if_asked();
    sluice_driver::solver::apart();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(mut e) => {
            about_negative_numbers(&mut e);
            // Help and version are no errors; a reader that has gone is none either.
            let _ = e.print();
            return ExitCode::from(if e.use_stderr() { 2 } else { 0 });
        }
    };
    let run = move || std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| arguments.run()));
    let exit = std::thread::Builder::new().name("sluice".into()).stack_size(STACK).spawn(run).map(|t| t.join());
    match exit {
        Ok(Ok(Ok(exit))) => ExitCode::from(exit.code()),
        Ok(_) => {
            sluice_driver::interrupt::remove_temporary_files();
            eprintln!("internal error: sluice has stopped; please report this with the program that caused it");
            ExitCode::from(4)
        }
        Err(e) => {
            eprintln!("error: cannot start: {e}");
            ExitCode::from(3)
        }
    }
}
