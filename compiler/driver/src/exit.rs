//! How a command ends: the exit codes, and faults that are not diagnostics of a program's text.

use std::fmt;

/// The exit codes of the command, documented in docs/cli.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// All went well.
    Ok = 0,
    /// The stream program is at fault, at compile time or at run time.
    Program = 1,
    /// The command line is at fault.
    Usage = 2,
    /// The input or the environment is at fault: a missing file, bad data, no C compiler.
    Input = 3,
    /// The compiler itself is at fault.
    Internal = 4,
}

impl Exit {
    /// The number given to the operating system.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// Why a command could not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Whose fault it is.
    pub exit: Exit,
    /// What happened; one sentence without a full stop, perhaps with further lines.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Its section in docs/errors.md, where it has one.
    pub code: Option<&'static str>,
}

impl Fault {
    /// The stream program is at fault.
    pub fn program(message: impl Into<String>) -> Fault {
        Fault { exit: Exit::Program, message: message.into(), help: None, code: None }
    }

    /// The command line is at fault.
    pub fn usage(message: impl Into<String>) -> Fault {
        Fault { exit: Exit::Usage, message: message.into(), help: None, code: None }
    }

    /// The input or the environment is at fault.
    pub fn input(message: impl Into<String>) -> Fault {
        Fault { exit: Exit::Input, message: message.into(), help: None, code: None }
    }

    /// The compiler is at fault.
    pub fn internal(message: impl Into<String>) -> Fault {
        Fault { exit: Exit::Internal, message: message.into(), help: None, code: None }
    }

    /// A file could not be read, written or made.
    pub fn file(what: &str, path: impl fmt::Display, error: &std::io::Error) -> Fault {
        Fault::input(format!("cannot {what} {path}: {}", plain_io_error(error)))
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Fault {
        self.help = Some(text.into());
        self
    }
}

impl Fault {
    /// Names its section in docs/errors.md.
    #[must_use]
    pub fn coded(mut self, code: &'static str) -> Fault {
        self.code = Some(code);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// What to do where the system gives no thread.
pub const NO_THREAD_HELP: &str =
    "the limits on processes and on memory are too low, or used up: `ulimit -u` and `ulimit -v` show them";

/// The system gave no thread.
pub fn no_thread(error: &std::io::Error) -> Fault {
    Fault::input(format!("cannot start a thread: {}", plain_io_error(error))).help(NO_THREAD_HELP)
}

/// An error of the operating system in words, without the number.
pub fn plain_io_error(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => {
            let mut words = text[..at].to_string();
            if let Some(first) = words.get(..1).map(str::to_lowercase) {
                words.replace_range(..1, &first);
            }
            words
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn os_errors_are_in_words() {
        let e = std::io::Error::from_raw_os_error(2);
        assert_eq!(plain_io_error(&e), "no such file or directory");
        assert_eq!(Fault::file("read", "a.str", &e).message, "cannot read a.str: no such file or directory");
    }
}
