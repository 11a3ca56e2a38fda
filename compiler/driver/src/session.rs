//! What a command says on its way: messages, timings, and how it ends.

use crate::exit::{Exit, Fault};
use crate::options::{MessageFormat, ProgramOptions};
use crate::render::{self, Renderer, Tally};
use crate::render_json;
use sluice_frontend::mend::Done;
use sluice_grammar::diagnostic::Diagnostic;
use sluice_grammar::span::SourceMap;
use sluice_kernel::passes::inner::Inner;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// The driver's own passes; after `lower` come those of the kernels.
const PASSES: [&str; 22] = [
    "parse",
    "elaborate",
    "steady-state",
    "c-slow",
    "private-state",
    "past-items",
    "take-apart",
    "fold-branches",
    "common-heads",
    "delays",
    "skip-zeros",
    "linear",
    "level-branches",
    "drain",
    "schedule",
    "lower",
    "tiles",
    "emit-cuda",
    "disassemble",
    "jit",
    "emit-c",
    "compile-c",
];

/// The names of the passes that can be dumped, in order.
pub fn passes() -> Vec<&'static str> {
    let mut all = Vec::new();
    for name in PASSES {
        all.push(name);
        if name == "lower" {
            for (pass, _) in sluice_kernel::passes::PASSES {
                if !all.contains(pass) {
                    all.push(pass);
                }
            }
            all.extend([
                sluice_kernel::passes::TABULATE,
                sluice_kernel::passes::TURN_ARRAYS,
                "item-ranges",
                "share-code",
                "fuse",
            ]);
            // those of the loops, as far as the choice among them has them
            for (pass, _) in Inner::Auto.passes().iter().chain(Inner::Both.passes()) {
                if !all.contains(pass) {
                    all.push(pass);
                }
            }
            all.extend(sluice_kernel::passes::SERIAL.iter().map(|(pass, _)| *pass));
            all.extend(["pack-bits", "narrow-lanes"]);
        }
    }
    all
}

/// Is standard error a terminal that wants colours?
pub fn wants_colour() -> bool {
    wants_colour_on(&std::io::stderr())
}

/// Is this a terminal that wants colours?
pub fn wants_colour_on(stream: &impl IsTerminal) -> bool {
    let no = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty())
        || std::env::var_os("TERM").is_some_and(|t| t == "dumb");
    !no && stream.is_terminal()
}

/// Writes to standard output; a reader that has gone is no error.
pub fn print(text: &str) -> Result<(), Fault> {
    print_bytes(text.as_bytes())
}

/// The same for bytes that need not be UTF-8.
pub fn print_bytes(bytes: &[u8]) -> Result<(), Fault> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Fault::file("write to", "standard output", &e)),
        _ => Ok(()),
    }
}

/// Writes to standard error, as well as that goes.
pub fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// One command's conversation with the user.
pub struct Session {
    messages: MessageFormat,
    /// JSON messages go to standard output (where nothing else wants it).
    json_on_stdout: bool,
    colour: bool,
    timings: Option<Vec<(&'static str, Duration)>>,
    dump_after: Option<String>,
}

impl Session {
    /// A session; refuses the name of a pass that does not exist.
    pub fn new(options: &ProgramOptions, json_on_stdout: bool) -> Result<Session, Fault> {
        if let Some(name) = &options.dump_after
            && !passes().contains(&name.as_str())
        {
            let names = passes();
            return Err(
                Fault::usage(format!("there is no pass `{name}`")).help(format!("the passes are {}", names.join(", ")))
            );
        }
        Ok(Session {
            messages: options.messages,
            json_on_stdout,
            colour: wants_colour(),
            timings: options.time_passes.then(Vec::new),
            dump_after: options.dump_after.clone(),
        })
    }

    /// Runs a pass and notes how long it took.
    pub fn pass<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.took(name, start.elapsed());
        result
    }

    /// Notes how long a pass took that was timed elsewhere.
    pub fn took(&mut self, name: &'static str, time: Duration) {
        let Some(timings) = &mut self.timings else { return };
        match timings.iter_mut().find(|(n, _)| *n == name) {
            Some((_, total)) => *total += time,
            None => timings.push((name, time)),
        }
    }

    /// Is this the pass after which to dump?
    pub fn dumps(&self, name: &str) -> bool {
        self.dump_after.as_deref() == Some(name)
    }

    /// Shows diagnostics and the summary.
    pub fn report(&self, map: &SourceMap, diagnostics: &[Diagnostic]) -> Result<Tally, Fault> {
        match self.messages {
            MessageFormat::Human => say(&Renderer::new(map, self.colour).all(diagnostics)),
            MessageFormat::Json => self.json(&render_json::diagnostics(map, diagnostics))?,
        }
        Ok(Tally::of(diagnostics))
    }

    /// Shows a fault and gives its exit code.
    pub fn fault(&self, fault: &Fault) -> Exit {
        match self.messages {
            MessageFormat::Human => say(&render::fault(fault, self.colour)),
            MessageFormat::Json => {
                let _ = self.json(&render_json::fault(fault));
            }
        }
        fault.exit
    }

    /// Shows how a file would change.
    pub fn change(&self, file: &str, diff: &str) -> Result<(), Fault> {
        match self.messages {
            MessageFormat::Human => print(diff),
            MessageFormat::Json => self.json(&render_json::change(file, diff)),
        }
    }

    /// Shows a fix that was made (or would be), or that was refused.
    pub fn fixed(&self, done: &Done, made: bool, dry_run: bool) -> Result<(), Fault> {
        match self.messages {
            MessageFormat::Human => {
                let (colour, off) = if self.colour { ("\x1b[32m", "\x1b[0m") } else { ("", "") };
                let word = match (made, dry_run) {
                    (true, false) => "fixed",
                    (true, true) => "would fix",
                    (false, _) => "left",
                };
                let (line, column) = done.at;
                let why = if made { "" } else { ": the program would not be the same" };
                say(&format!(
                    "{colour}{word}{off} {}:{line}:{column} [{}]: {}{why}\n",
                    done.file, done.code, done.title
                ));
                Ok(())
            }
            MessageFormat::Json => self.json(&render_json::fixed(done, made)),
        }
    }

    /// Counts the fixes, for people.
    pub fn fixes(&self, made: usize, files: usize, dry_run: bool) {
        if self.messages == MessageFormat::Json {
            return;
        }
        let s = |n: usize| if n == 1 { "" } else { "s" };
        say(&match (made, dry_run) {
            (0, _) => "nothing to fix\n".to_string(),
            (n, true) => {
                format!("{n} fix{} would be made in {files} file{}\n", if n == 1 { "" } else { "es" }, s(files))
            }
            (n, false) => format!("{n} fix{} made in {files} file{}\n", if n == 1 { "" } else { "es" }, s(files)),
        });
    }

    /// Shows a remark that is no fault.
    pub fn remark(&self, text: &str) {
        match self.messages {
            MessageFormat::Human => {
                let (colour, off) = if self.colour { ("\x1b[33m", "\x1b[0m") } else { ("", "") };
                say(&format!("{colour}warning{off}: {text}\n"));
            }
            MessageFormat::Json => {
                let _ = self.json(&render_json::remark(text));
            }
        }
    }

    fn json(&self, lines: &str) -> Result<(), Fault> {
        if self.json_on_stdout {
            return print(lines);
        }
        say(lines);
        Ok(())
    }

    /// Shows the timings, where they were asked for.
    pub fn finish(&self) {
        let Some(timings) = &self.timings else { return };
        let total: Duration = timings.iter().map(|t| t.1).sum();
        let mut text = String::new();
        for (name, time) in timings.iter().copied().chain([("total", total)]) {
            text.push_str(&format!("{:>10.3} ms  {name}\n", time.as_secs_f64() * 1e3));
        }
        say(&text);
    }
}
