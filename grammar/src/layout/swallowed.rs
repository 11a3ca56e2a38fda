//! Texts that are not closed: they have the rest of their line in them, brackets included. The one fault has been told; nothing else follows from it.

use super::{Kind, Layout, Open};
use crate::token::Token;

impl Layout<'_, '_> {
    /// What was opened on the line of the text at `i` is closed there, and the statement ends, unless the next line goes on with it.
    pub(super) fn swallowed(&mut self, i: usize) {
        use Token::*;
        let goes_on = |token: Token| !(token.is_keyword() || matches!(token, Ident(_) | LBrace | RBrace));
        if self.next(i).is_some_and(goes_on) {
            return;
        }
        let (start, end) = (self.input[i].start, self.input[i].end);
        let mut closed = false;
        while let Some(open) = self.opened_on_line(start, |kind| matches!(kind, Kind::Paren | Kind::Bracket)) {
            self.stack.pop();
            self.insert(open.kind.closer());
            closed = true;
        }
        if closed && self.stack.last().is_some_and(|open| matches!(open.kind, Kind::Block | Kind::Stream)) {
            self.insert(Semi);
        }
        // bodies that end on the line
        for _ in 0..unpaired(&self.text[start as usize..end as usize]) {
            let Some(open) = self.opened_on_line(start, Kind::is_brace) else { break };
            self.stack.pop();
            self.insert(open.kind.closer());
            self.stream_head = false;
            if open.kind == Kind::Stream {
                self.insert(Semi);
            }
        }
    }

    /// What was opened last, if it is of such a kind, and stands on the line of `place`.
    fn opened_on_line(&self, place: u32, fits: impl Fn(Kind) -> bool) -> Option<Open> {
        let open = self.stack.last().copied()?;
        let same_line = !self.text[open.start as usize..place as usize].contains('\n');
        (fits(open.kind) && same_line).then_some(open)
    }
}

/// The closing braces of a text that close nothing in it.
fn unpaired(text: &str) -> usize {
    let (mut open, mut unpaired) = (0usize, 0);
    for c in text.chars() {
        match c {
            '{' => open += 1,
            '}' if open > 0 => open -= 1,
            '}' => unpaired += 1,
            _ => {}
        }
    }
    unpaired
}
