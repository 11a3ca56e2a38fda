//! The sluice command: it takes the command line apart and hands it to the driver.

mod arguments;
mod choices;
mod cslow_arguments;
mod cuda_arguments;
mod makespan_arguments;
mod numbers;
mod profile_arguments;
mod run_arguments;
mod schedule_arguments;
mod tune_arguments;
mod watch_arguments;

use arguments::Arguments;
use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use sluice_driver::exit::{Fault, NO_THREAD_HELP, no_thread};
use std::io::Write;
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

/// Says which argument is not UTF-8: the library does not.
fn not_utf8() -> ExitCode {
    let argument = std::env::args_os().find(|a| a.to_str().is_none()).unwrap_or_default();
    eprintln!("error: `{}` is not UTF-8, as all arguments must be, names of files included", argument.display());
    eprintln!("help: give the file another name, or a link with one, or use standard input and output");
    ExitCode::from(2)
}

fn main() -> ExitCode {
    sluice_driver::solver::serve_if_asked();
    sluice_driver::solver::apart();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(mut e) => {
            if e.kind() == ErrorKind::InvalidUtf8 {
                return not_utf8();
            }
            about_negative_numbers(&mut e);
            let printed = e.print().and_then(|()| std::io::stdout().flush());
            return ExitCode::from(match printed {
                _ if e.use_stderr() => 2,
                // Help and version are no errors; a reader that has gone is none either.
                Ok(()) => 0,
                Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => 0,
                Err(e) => {
                    eprintln!("error: {}", Fault::file("write to", "standard output", &e));
                    3
                }
            });
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
            let fault = no_thread(&e);
            eprintln!("error: {fault}\nhelp: {NO_THREAD_HELP}");
            ExitCode::from(fault.exit.code())
        }
    }
}
