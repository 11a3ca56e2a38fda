//! Comments: what documents a declaration.

use crate::token::{Spanned, Token, lex_with_comments};

/// The text of the comment directly before the declaration that starts at byte `offset`, its comment signs taken off; `None`
/// if there is none. Lexes `text`; for many declarations of one file use [`doc_comment_among`].
pub fn doc_comment_before(text: &str, offset: usize) -> Option<String> {
    doc_comment_among(text, &lex_with_comments(text).1, offset)
}

/// As [`doc_comment_before`], with the comments that [`lex_with_comments`] has found in `text`.
///
/// A comment documents what follows it without an empty line between, if nothing but space stands before it on its line.
/// Line comments on successive lines are one; a block comment stands for itself.
pub fn doc_comment_among(text: &str, comments: &[Spanned<'_>], offset: usize) -> Option<String> {
    let mut next = comments.partition_point(|comment| (comment.end as usize) <= offset);
    let mut below = offset;
    let mut lines: Vec<&str> = Vec::new();
    while next > 0 {
        let comment = comments[next - 1];
        if !is_adjacent(text.get(comment.end as usize..below)?) || !is_alone(text, comment.start as usize) {
            break;
        }
        match comment.token {
            Token::LineComment(source) => {
                let source = source.trim_start_matches('/').trim_end();
                lines.push(source.strip_prefix(' ').unwrap_or(source));
            }
            Token::BlockComment(source) if lines.is_empty() => return block_text(source),
            _ => break,
        }
        below = comment.start as usize;
        next -= 1;
    }
    lines.reverse();
    nonempty(&lines)
}

/// Only space with at most one line end.
fn is_adjacent(between: &str) -> bool {
    between.chars().all(char::is_whitespace) && between.matches('\n').count() <= 1
}

/// Does nothing stand before `start` on its line?
fn is_alone(text: &str, start: usize) -> bool {
    let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
    text[line..start].chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}

fn block_text(source: &str) -> Option<String> {
    let inside = source.strip_prefix("/*")?;
    let inside = inside.strip_suffix("*/").unwrap_or(inside);
    let lines: Vec<&str> = inside
        .lines()
        .map(|line| {
            let line = line.trim();
            let line = line.trim_start_matches('*');
            line.strip_prefix(' ').unwrap_or(line)
        })
        .collect();
    nonempty(&lines)
}

fn nonempty(lines: &[&str]) -> Option<String> {
    let joined = lines.join("\n");
    let text = joined.trim_matches('\n').trim_end();
    (!text.trim().is_empty()).then(|| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::doc_comment_before;

    fn doc(text: &str) -> Option<String> {
        doc_comment_before(text, text.find("void->").expect("the sample declares a stream"))
    }

    #[test]
    fn takes_the_comment_directly_before() {
        assert_eq!(doc("// One.\n// Two.\nvoid->void filter F { }").as_deref(), Some("One.\nTwo."));
        assert_eq!(doc("/* One. */ void->void filter F { }").as_deref(), Some("One."));
        assert_eq!(doc("/**\n * One.\n *\n *   Two.\n */\nvoid->").as_deref(), Some("One.\n\n  Two."));
        assert_eq!(doc("\u{feff}// One.\r\nvoid->").as_deref(), Some("One."));
        assert_eq!(doc("int x; \"// no\" // of x\n// One.\nvoid->").as_deref(), Some("One."));
    }

    #[test]
    fn leaves_other_comments() {
        assert_eq!(doc("// far\n\nvoid->"), None);
        assert_eq!(doc("int x; // of x\nvoid->"), None);
        assert_eq!(doc("void->"), None);
        assert_eq!(doc("/* licence */\n\n// One.\nvoid->").as_deref(), Some("One."));
        assert_eq!(doc("/* licence */\n// One.\nvoid->").as_deref(), Some("One."));
        assert_eq!(doc("//\nvoid->"), None);
        assert_eq!(doc("//////////\n// One.\n//////////\nvoid->").as_deref(), Some("One."));
    }
}
