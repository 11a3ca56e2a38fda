//! # bless
//!
//! Purpose: writes what came as what is expected from now on. Input: [`Change`]s. All files are made ready beside their places first, and
//! only when that has worked take their names: a full disk or a folder that cannot be written leaves everything as it was.

use super::failure::Change;
use super::spec::Place;
use crate::exit::Fault;
use crate::interrupt;
use crate::io::sink;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use toml::de::DeValue;

/// A line of items is broken here.
const WIDEST: usize = 100;

/// A text as a value of TOML. Items may share lines.
fn literal(text: &str, items: bool) -> String {
    let mut text = text.to_string();
    if items {
        let mut lines = vec![String::new()];
        for word in text.split_whitespace() {
            let last = lines.len() - 1;
            if !lines[last].is_empty() && lines[last].len() + word.len() >= WIDEST {
                lines.push(word.to_string());
                continue;
            }
            if !lines[last].is_empty() {
                lines[last].push(' ');
            }
            lines[last].push_str(word);
        }
        text = if lines.len() == 1 { lines.remove(0) } else { lines.join("\n") + "\n" };
    }
    let mut body = String::new();
    for c in text.chars() {
        match c {
            '\\' => body.push_str("\\\\"),
            '"' => body.push_str("\\\""),
            '\n' | '\t' => body.push(c),
            c if c.is_control() => body.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => body.push(c),
        }
    }
    if body.contains('\n') { format!("\"\"\"\n{body}\"\"\"") } else { format!("\"{body}\"") }
}

/// The texts of the descriptions in which values change, and the bytes of all other files.
fn contents(changes: &[Change]) -> Result<BTreeMap<String, Vec<u8>>, Fault> {
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut inline: Vec<(&str, std::ops::Range<usize>, &str, &Change)> = Vec::new();
    for change in changes {
        match &change.place {
            Place::File(path) => {
                if files.insert(path.clone(), change.bytes.clone()).is_some_and(|before| before != change.bytes) {
                    let message = format!("two tests expect different things in {path}: nothing was written");
                    return Err(Fault::input(message).help("give each a file of its own"));
                }
            }
            Place::Inline { toml, span, text } => inline.push((toml, span.clone(), text, change)),
        }
    }
    // From the end of a file on, so that the places before stay where they are.
    inline.sort_by_key(|(toml, span, ..)| (*toml, std::cmp::Reverse(span.start)));
    for (toml, span, before, change) in inline {
        let fault = |why: &str| Fault::input(format!("cannot change {toml}: {why}"));
        let bytes = match files.remove(toml) {
            Some(bytes) => bytes,
            None => std::fs::read(toml).map_err(|e| Fault::file("read", toml, &e))?,
        };
        let mut text = String::from_utf8(bytes).map_err(|_| fault("it is not UTF-8"))?;
        let value = text.get(span.clone()).and_then(|v| DeValue::parse(v).ok()).map(|v| v.into_inner());
        if !matches!(value, Some(DeValue::String(v)) if v == before) {
            return Err(fault("it is not what it was when the test was read"));
        }
        let new =
            std::str::from_utf8(&change.bytes).map_err(|_| fault("what came is not UTF-8; expect it in a file"))?;
        text.replace_range(span, &literal(new, change.items));
        files.insert(toml.to_string(), text.into_bytes());
    }
    Ok(files)
}

/// Writes all changes, or none. Gives the files.
pub fn write(changes: &[Change]) -> Result<Vec<String>, Fault> {
    let files = contents(changes)?;
    let mut ready: Vec<(PathBuf, PathBuf, &str)> = Vec::new();
    let mut staged = || {
        for (path, bytes) in &files {
            let fault = |e: std::io::Error| Fault::file("write", path, &e);
            // Through a link: the file it points to is the one to replace.
            let target = std::fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
            let (mut file, temporary) = sink::create_beside(&target).map_err(fault)?;
            interrupt::add_temporary(&temporary);
            ready.push((temporary, target, path));
            file.write_all(bytes).map_err(fault)?;
        }
        Ok(())
    };
    let mut done = staged();
    if done.is_ok() {
        for (temporary, target, path) in &ready {
            done = done.and(std::fs::rename(temporary, target).map_err(|e| Fault::file("write", path, &e)));
        }
    }
    for (temporary, ..) in &ready {
        let _ = std::fs::remove_file(temporary);
        interrupt::forget_temporary(temporary);
    }
    done.map(|()| files.into_keys().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back() {
        for (text, items) in [
            ("", false),
            ("one line", false),
            ("two\nlines\n", false),
            ("\nfirst is empty", false),
            ("\"\"\"quotes\"\"\" \\ \t \u{7} \r\n ü", false),
            ("1.0\n2.0\n", true),
        ] {
            let written = literal(text, items);
            let DeValue::String(read) = DeValue::parse(&written).unwrap().into_inner() else { panic!("{written}") };
            match items {
                true => assert_eq!(read, "1.0 2.0"),
                false => assert_eq!(read, text, "{written}"),
            }
        }
        let many: String = (0..100).map(|i| format!("{i}\n")).collect();
        let written = literal(&many, true);
        assert!(written.starts_with("\"\"\"\n0 1 2") && written.lines().all(|l| l.len() <= WIDEST), "{written}");
    }

    #[test]
    fn values_in_a_description() {
        let folder = tempfile::tempdir().unwrap();
        let toml = folder.path().join("t.toml").display().to_string();
        let text = "prints = { text = \"a\" } # kept\noutput = { text = '1' }\n";
        std::fs::write(&toml, text).unwrap();
        let place = |value: &str, inner: &str| {
            let start = text.find(value).unwrap();
            Place::Inline { toml: toml.clone(), span: start..start + value.len(), text: inner.into() }
        };
        let change = |place, bytes: &str, items| Change { place, bytes: bytes.into(), items, note: String::new() };
        let other = folder.path().join("x.out").display().to_string();
        let changes = [
            change(place("\"a\"", "a"), "b\n", false),
            change(place("'1'", "1"), "2\n3\n", true),
            change(Place::File(other.clone()), "new", false),
        ];
        assert_eq!(write(&changes).unwrap(), [toml.clone(), other.clone()]);
        assert_eq!(
            std::fs::read_to_string(&toml).unwrap(),
            "prints = { text = \"\"\"\nb\n\"\"\" } # kept\noutput = { text = \"2 3\" }\n"
        );
        // now the places are wrong: nothing may change
        std::fs::write(&other, "old").unwrap();
        assert!(write(&changes).unwrap_err().message.contains("not what it was"));
        let clash = [change(Place::File(other.clone()), "a", false), change(Place::File(other.clone()), "b", false)];
        assert!(write(&clash).unwrap_err().message.contains("two tests"));
        let away = change(Place::File(folder.path().join("none/y.out").display().to_string()), "y", false);
        assert!(write(&[change(Place::File(other.clone()), "n", false), away]).is_err());
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
