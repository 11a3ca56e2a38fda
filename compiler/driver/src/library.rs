//! # library
//!
//! Purpose: what the library of a program is called, and where its header goes. Input: the name of its file. Output: names; a fault where C
//! has other uses for them. Which names the system's headers have, its C compiler knows: it is asked, so that there is no list to be kept.

use crate::cache::{self, Cache};
use crate::cc::Compiler;
use crate::exit::Fault;
use crate::interrupt;
use crate::io::place;
use std::path::Path;

/// Headers that are likely to stand beside a library's own: of C, and of the system's calls. Those that are missing are left out.
const HEADERS: [&str; 30] = [
    "complex.h",
    "ctype.h",
    "errno.h",
    "fcntl.h",
    "fenv.h",
    "float.h",
    "inttypes.h",
    "limits.h",
    "locale.h",
    "math.h",
    "poll.h",
    "pthread.h",
    "setjmp.h",
    "signal.h",
    "stdarg.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "strings.h",
    "sys/stat.h",
    "sys/time.h",
    "sys/types.h",
    "threads.h",
    "time.h",
    "unistd.h",
    "wchar.h",
    "wctype.h",
];

/// What a library's functions start with: the file's name without `lib` and extension, as an identifier of C.
pub fn name(output: &str) -> String {
    let stem = Path::new(output).file_stem().and_then(|s| s.to_str()).unwrap_or("program");
    let stem = stem.strip_prefix("lib").filter(|s| !s.is_empty()).unwrap_or(stem);
    let mut name: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    name
}

/// Where a library's header goes: beside the library; `None` beside a device, where there is no place for one.
pub fn header(output: &str) -> Result<Option<String>, Fault> {
    use std::os::unix::fs::FileTypeExt;
    if std::fs::metadata(output).is_ok_and(|m| m.file_type().is_char_device()) {
        return Ok(None);
    }
    let header = Path::new(output).with_file_name(format!("{}.h", name(output))).display().to_string();
    if place::identity(&header).is_some_and(|h| place::identity(output) == Some(h)) {
        return Err(Fault::usage(format!("the library {output} and its header {header} would be one file"))
            .help("give the library another name with -o, such as libNAME.so"));
    }
    Ok(Some(header))
}

/// Refuses a name that the system's headers have for something else: no text could include the library's header beside those.
pub fn check_name(compiler: &Compiler, name: &str, header: &str) -> Result<(), Fault> {
    let include = |h: &str| format!("#if __has_include(<{h}>)\n#include <{h}>\n#endif\n");
    let text: String = std::iter::once("#define _GNU_SOURCE\n".to_string()).chain(HEADERS.map(include)).collect();
    let why = if !compiles(compiler, &(text.clone() + header))? && compiles(compiler, &text)? {
        // where not even those headers are right, the name is not at fault
        "the system's own headers have such names".to_string()
    } else if HEADERS.contains(&format!("{name}.h").as_str()) {
        format!("its header would be found instead of the system's {name}.h")
    } else if name == "sl" {
        "the code that it consists of has names that begin with it".to_string()
    } else {
        return Ok(());
    };
    Err(Fault::usage(format!("`{name}` cannot be the name of a library: {why}"))
        .help("give the library another name with -o"))
}

fn compiles(compiler: &Compiler, text: &str) -> Result<bool, Fault> {
    let source = Cache::open()?.temporary(&cache::key(&[text]), "c");
    interrupt::add_temporary(&source);
    let asked = ["-std=gnu11", "-w", "-fsyntax-only"].map(std::ffi::OsStr::new);
    let result = std::fs::write(&source, text)
        .map_err(|e| Fault::file("write", source.display(), &e))
        .and_then(|()| compiler.call(asked.into_iter().chain([source.as_os_str()])));
    let _ = std::fs::remove_file(&source);
    interrupt::forget_temporary(&source);
    Ok(result?.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_libraries() {
        assert_eq!(name("x/libfm-radio.so"), "fm_radio");
        assert_eq!(name("2x.so"), "_2x");
        assert_eq!(name("lib.so"), "lib");
        assert_eq!(header("x/libfm.so").unwrap().unwrap(), "x/fm.h");
        assert!(header("amp.h").unwrap_err().message.contains("would be one file"));
    }
}
