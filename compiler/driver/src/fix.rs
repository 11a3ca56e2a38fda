//! # fix
//!
//! Purpose: `sluice check --fix`: makes the safe fixes and writes the files, or shows what would change. Input: options; output: changed
//! files, all of them or none, and what is left to say. What a fix may do is [`sluice_frontend::mend`]'s business.

use crate::diff;
use crate::exit::{Exit, Fault};
use crate::io::sink;
use crate::options::{CheckOptions, ProgramOptions};
use crate::pipeline::{self, Halt};
use crate::session::Session;
use crate::source::Files;
use sluice_frontend::mend::{Changed, mend};
use sluice_grammar::Encoding;
use std::path::PathBuf;

/// `sluice check --fix`
pub fn fix(session: &mut Session, options: &ProgramOptions, check: CheckOptions) -> Result<Exit, Halt> {
    if !check.dry_run && options.files.iter().any(|f| f == "-") {
        return Err(Fault::usage("standard input cannot be fixed in its place")
            .help("`--diff` shows what would change")
            .into());
    }
    let settings = pipeline::settings(options, check.parse_only)?;
    let mut files = Files::default();
    let inputs = session.pass("read", || files.read_all(&options.files))?;
    let mut mended = session.pass("fix", || mend(inputs, &settings, &mut files));
    if let Some(manifest) = &options.manifest {
        manifest.explain_entry(&mut mended.analysis, options.top.as_deref());
    }
    if check.dry_run {
        for c in &mended.changed {
            session.change(&c.file, &diff::unified(&c.file, &c.before, &c.after))?;
        }
    } else {
        write(&mended.changed)?;
    }
    for (done, made) in mended.made.iter().map(|d| (d, true)).chain(mended.refused.iter().map(|d| (d, false))) {
        session.fixed(done, made, check.dry_run)?;
    }
    session.fixes(mended.made.len(), mended.changed.len(), check.dry_run);
    session.report(&mended.analysis.sources, &mended.analysis.diagnostics)?;
    Ok(if mended.analysis.failed() { pipeline::at_fault(&mended.analysis) } else { Exit::Ok })
}

/// Writes all files, or none.
fn write(changed: &[Changed]) -> Result<(), Fault> {
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for c in changed {
        let fault = |e: &std::io::Error| Fault::file("write", &c.file, e);
        let path = PathBuf::from(&c.file);
        let bytes = std::fs::read(&path).map_err(|e| fault(&e))?;
        let (text, encoding) = sluice_grammar::decode(&bytes);
        if text != c.before {
            return Err(Fault::input(format!("{} has changed meanwhile: nothing is written", c.file)));
        }
        if std::fs::metadata(&path).map_err(|e| fault(&e))?.permissions().readonly() {
            return Err(Fault::input(format!("cannot write {}: it is read-only", c.file)));
        }
        files.push((path, encode(&c.after, encoding)));
    }
    sink::write_files(&files).map_err(|(path, e)| Fault::file("write", path.display(), &e))
}

/// A text as the bytes that [`sluice_grammar::decode`] makes it of.
fn encode(text: &str, encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Utf8 => text.as_bytes().to_vec(),
        Encoding::Latin1 => {
            let (mark, rest) = match text.strip_prefix('\u{feff}') {
                Some(rest) => ("\u{feff}", rest),
                None => ("", text),
            };
            let byte = |c: char| u8::try_from(u32::from(c)).unwrap_or(b'?');
            mark.bytes().chain(rest.chars().map(byte)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_decoded_is_encoded_again() {
        for bytes in
            [&b"plain"[..], "ä→".as_bytes(), b"\xef\xbb\xbfx", b"caf\xe9 \xff", b"\xef\xbb\xbfcaf\xe9", b"\xef\xbb\xe9"]
        {
            let (text, encoding) = sluice_grammar::decode(bytes);
            assert_eq!(encode(&text, encoding), bytes);
        }
    }
}
