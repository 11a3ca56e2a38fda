//! The commands, each a few steps of the pipeline.

use crate::cache::Cache;
use crate::exit::{Exit, Fault};
use crate::options::*;
use crate::pipeline::{self, Halt};
use crate::rates;
use crate::session::{self, Session};

/// Opens a session, does the work, says how it ended.
fn with_session(
    options: &ProgramOptions,
    json_on_stdout: bool,
    work: impl FnOnce(&mut Session) -> Result<Exit, Halt>,
) -> Exit {
    let mut session = match Session::new(options, json_on_stdout) {
        Ok(session) => session,
        Err(fault) => return report(&fault),
    };
    let exit = match work(&mut session) {
        Ok(exit) | Err(Halt::Done(exit)) => exit,
        Err(Halt::Fault(fault)) => session.fault(&fault),
    };
    session.finish();
    exit
}

/// A fault of a command without a session.
fn report(fault: &Fault) -> Exit {
    session::say(&crate::render::fault(fault, session::wants_colour()));
    fault.exit
}

/// `sluice check`
pub fn check(options: &ProgramOptions, parse_only: bool) -> Exit {
    with_session(options, true, |session| {
        pipeline::analyse(session, options, parse_only)?;
        Ok(Exit::Ok)
    })
}

/// `sluice rates`
pub fn rates(options: &ProgramOptions, format: RatesFormat) -> Exit {
    with_session(options, false, |session| {
        let checked = pipeline::check(session, options)?;
        let report = rates::report(&checked.program, &checked.sources);
        session::print(&match format {
            RatesFormat::Table => rates::table(&report),
            RatesFormat::Json => rates::json(&report),
        })?;
        Ok(Exit::Ok)
    })
}

/// `sluice run`
pub fn run(options: &ProgramOptions, code: &CodeOptions, run: &RunOptions) -> Exit {
    with_session(options, false, |session| {
        let checked = pipeline::check(session, options)?;
        pipeline::run(session, &checked, code, run)
    })
}

/// `sluice explain`
pub fn explain(code: &str) -> Exit {
    match crate::explain::explain(code).and_then(|text| session::print(&text)) {
        Ok(()) => Exit::Ok,
        Err(fault) => report(&fault),
    }
}

/// `sluice clean`
pub fn clean() -> Exit {
    let cleaned = Cache::open().and_then(|cache| {
        let (files, bytes) = cache.clean();
        let s = if files == 1 { "" } else { "s" };
        session::print(&format!("removed {files} file{s}, {bytes} bytes, from {}\n", cache.folder().display()))
    });
    match cleaned {
        Ok(()) => Exit::Ok,
        Err(fault) => report(&fault),
    }
}
