//! As much of Markdown as the pages use: fenced blocks, links, headings.

use std::collections::BTreeSet;

/// A fenced block.
#[derive(Clone, Debug)]
pub struct Block {
    /// What stands behind the fence.
    pub info: String,
    /// The lines in it.
    pub text: String,
    /// The line of its fence, from 1.
    pub line: usize,
}

/// The fenced blocks of a page.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut out: Vec<Block> = Vec::new();
    let mut open = false;
    for (i, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), open) {
            (Some(_), true) => open = false,
            (Some(info), false) => {
                out.push(Block { info: info.trim().into(), text: String::new(), line: i + 1 });
                open = true;
            }
            (None, true) => {
                if let Some(b) = out.last_mut() {
                    b.text.push_str(line);
                    b.text.push('\n');
                }
            }
            (None, false) => {}
        }
    }
    out
}

/// The lines outside of blocks, with their numbers; code between backticks is left out.
fn prose(page: &str) -> Vec<(usize, String)> {
    let mut open = false;
    let mut out = Vec::new();
    for (i, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            open = !open;
        } else if !open {
            out.push((i + 1, line.split('`').step_by(2).collect::<Vec<_>>().join("`")));
        }
    }
    out
}

/// The targets of `[text](target)`, with their lines.
pub fn links(page: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    for (line, text) in prose(page) {
        for part in text.split("](").skip(1) {
            if let Some((target, _)) = part.split_once(')') {
                out.push((line, target.to_string()));
            }
        }
    }
    out
}

/// What links call the headings of a page.
pub fn slugs(page: &str) -> BTreeSet<String> {
    let mut open = false;
    let mut out = BTreeSet::new();
    for line in page.lines() {
        open ^= line.starts_with("```");
        if !open && line.starts_with('#') {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            out.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
        }
    }
    out
}

/// Options in a line: `--name`, `-n`.
pub fn options_in(line: &str) -> impl Iterator<Item = String> {
    let words = line.split(|c: char| c.is_whitespace() || "`,;|[]()=\"'".contains(c));
    words.filter_map(|w| {
        let w = w.trim_end_matches(['.', ':']);
        let name = w.trim_start_matches('-');
        let dashes = w.len() - name.len();
        let good = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let fits = dashes == 2 && name.len() > 1 || dashes == 1 && name.len() == 1;
        (good && fits).then(|| w.to_string())
    })
}
