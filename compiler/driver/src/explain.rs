//! # explain
//!
//! Purpose: the entry of docs/errors.md for a code. The document is built into the program.

use crate::exit::Fault;

/// The document.
const INDEX: &str = include_str!("../../../docs/errors.md");

/// The text of a code's section, such as `E0123`; upper and lower case alike.
pub fn explain(code: &str) -> Result<String, Fault> {
    let wanted = code.trim().to_ascii_uppercase();
    section(INDEX, &wanted).ok_or_else(|| unknown(&wanted))
}

/// All codes that the document explains, in its order.
pub fn codes() -> Vec<&'static str> {
    sections(INDEX).map(|(code, _)| code).collect()
}

/// The headings `## CODE: title` with the byte where each starts.
fn sections(index: &str) -> impl Iterator<Item = (&str, usize)> {
    index.match_indices("## ").filter(|(at, _)| *at == 0 || index.as_bytes()[at - 1] == b'\n').filter_map(
        |(at, mark)| {
            let code = index[at + mark.len()..].split([':', ' ', '\n']).next()?;
            is_code(code).then_some((code, at))
        },
    )
}

fn section(index: &str, wanted: &str) -> Option<String> {
    let start = sections(index).find(|(code, _)| *code == wanted)?.1;
    let body = &index[start..];
    let end = body[3..].match_indices("\n## ").map(|(at, _)| at + 3).next().unwrap_or(body.len());
    let mut text = body[3..end].trim_end().to_string();
    text.push('\n');
    Some(text)
}

/// A letter and four digits.
fn is_code(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_uppercase()) && text.len() == 5 && chars.all(|c| c.is_ascii_digit())
}

fn unknown(wanted: &str) -> Fault {
    if !is_code(wanted) {
        return Fault::usage(format!("`{wanted}` is not the code of a message"))
            .help("a code is a letter and four digits, such as E0104");
    }
    Fault::usage(format!("there is no message with the code {wanted}")).help("docs/errors.md lists all codes")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "# Errors\n\n## E0001: one\ntext\n\n### Example\n```\n## not\n```\n\n## E0002: two\n\nlast\n";

    #[test]
    fn finds_sections() {
        assert_eq!(section(SAMPLE, "E0002").unwrap(), "E0002: two\n\nlast\n");
        assert!(section(SAMPLE, "E0001").unwrap().starts_with("E0001: one\ntext\n\n### Example"));
        assert_eq!(section(SAMPLE, "E0003"), None);
        assert_eq!(sections(SAMPLE).map(|(c, _)| c).collect::<Vec<_>>(), ["E0001", "E0002"]);
    }

    #[test]
    fn faults_are_of_usage() {
        assert!(explain("banana").unwrap_err().message.contains("is not the code"));
        assert!(explain("E9999").unwrap_err().message.contains("no message"));
    }
}
