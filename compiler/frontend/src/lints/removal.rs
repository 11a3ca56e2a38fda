//! What to cut out of a text so that a declaration is gone and nothing odd is left.

use sluice_grammar::diagnostic::Edit;
use sluice_grammar::span::{SourceMap, Span};

/// Cuts out a statement or declaration: with its lines, and what is remarked behind it, where it has them to itself.
pub fn whole(sources: &SourceMap, span: Span) -> Edit {
    Edit { span: lines(&sources.file(span.file).text, span), text: String::new() }
}

/// As [`whole`], with the comment lines directly before it, which describe it.
pub fn documented(sources: &SourceMap, span: Span) -> Edit {
    let text = &sources.file(span.file).text;
    let mut cut = lines(text, span);
    let whole_lines = cut.start == 0 || text.as_bytes()[cut.start as usize - 1] == b'\n';
    while whole_lines && cut.start > 0 {
        let before = &text[..cut.start as usize - 1];
        let line = before.rfind('\n').map_or(0, |n| n + 1);
        if !before[line..].trim_start().starts_with("//") || before[line..].contains("sluice:") {
            break;
        }
        cut.start = line as u32;
    }
    // of the empty lines around it one stays
    let after = &text[cut.end as usize..];
    let empty = after.len() - after.trim_start_matches(['\r', '\n']).len();
    if whole_lines && (cut.start == 0 || text[..cut.start as usize].ends_with("\n\n")) {
        cut.end += empty as u32;
    }
    Edit { span: cut, text: String::new() }
}

fn lines(text: &str, span: Span) -> Span {
    let (start, end) = (span.start as usize, span.end as usize);
    let line = text[..start].rfind('\n').map_or(0, |n| n + 1);
    let rest = &text[end..];
    let line_end = rest.find('\n').map_or(text.len(), |n| end + n + 1);
    let behind = text[end..line_end].trim();
    if text[line..start].trim().is_empty() && (behind.is_empty() || behind.starts_with("//")) {
        return Span::new(span.file, line, line_end);
    }
    // the last of several on a line: it takes the space before it along
    if behind.is_empty() {
        return Span::new(span.file, text[..start].trim_end_matches([' ', '\t']).len(), end);
    }
    // one of several on a line: it takes the space behind it along
    let space = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    Span::new(span.file, start, end + space)
}

/// Cuts one of several items out of a list with commas.
pub fn item(items: &[Span], i: usize) -> Edit {
    let here = items[i];
    let span = match (i.checked_sub(1).map(|before| items[before]), items.get(i + 1)) {
        (Some(before), _) => Span { start: before.end, ..here },
        (None, Some(next)) => Span { end: next.start, ..here },
        (None, None) => here,
    };
    Edit { span, text: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_grammar::span::FileId;

    fn cut(text: &str, part: &str, how: fn(&SourceMap, Span) -> Edit) -> String {
        let mut sources = SourceMap::new();
        let file = sources.add("a.str", text);
        let at = text.find(part).unwrap();
        let e = how(&sources, Span::new(file, at, at + part.len()));
        format!("{}{}", &text[..e.span.start as usize], &text[e.span.end as usize..])
    }

    #[test]
    fn statements_go_with_their_lines() {
        assert_eq!(cut("a;\n  int x; // remark\nb;\n", "int x;", whole), "a;\nb;\n");
        assert_eq!(cut("a; int x; b;", "int x;", whole), "a; b;");
        assert_eq!(cut("{ int x; }", "int x;", whole), "{ }");
        assert_eq!(cut("a; int x;\nb;", "int x;", whole), "a;\nb;");
        assert_eq!(cut("a;\n  int\n x;\nb;", "int\n x;", whole), "a;\nb;");
        assert_eq!(cut("int x;", "int x;", whole), "");
    }

    #[test]
    fn declarations_go_with_their_comments() {
        assert_eq!(cut("a\n\n// One.\n// Two.\nx { }\n\nb\n", "x { }", documented), "a\n\nb\n");
        assert_eq!(cut("// One.\nx { }\n\nb\n", "x { }", documented), "b\n");
        assert_eq!(cut("a\n\nx { }\n", "x { }", documented), "a\n\n");
        assert_eq!(cut("// sluice: allow(W0210)\nx\n", "x", documented), "// sluice: allow(W0210)\n");
        assert_eq!(cut("a x b", "x", documented), "a b");
    }

    #[test]
    fn items_go_with_a_comma() {
        let text = "f(a, bc, d)";
        let at = |p: &str| Span::new(FileId(0), text.find(p).unwrap(), text.find(p).unwrap() + p.len());
        let all = [at("a"), at("bc"), at("d)")];
        let without = |items: &[Span], i| {
            let e = item(items, i).span;
            format!("{}{}", &text[..e.start as usize], &text[e.end as usize..])
        };
        assert_eq!(without(&all, 0), "f(bc, d)");
        assert_eq!(without(&all, 1), "f(a, d)");
        assert_eq!(without(&all[..1], 0), "f(, bc, d)");
    }
}
