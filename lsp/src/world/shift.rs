//! # shift
//!
//! Purpose: where places of an older text are in a newer one. Input: both texts. Output: [`Shift`]. What stands before the first and behind the last
//! difference has moved as a whole; what lies between has no place any more.

use sluice_grammar::edited::difference;
use std::ops::Range;

/// The difference of two texts as one replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Shift {
    /// Bytes that both begin with.
    head: u32,
    /// Where what both end with begins in the old text, and in the new one.
    old: u32,
    new: u32,
}

impl Shift {
    /// Compares; `None` where the texts are equal.
    pub fn between(old: &str, new: &str) -> Option<Shift> {
        let d = difference(old, new)?;
        Some(Shift { head: d.head as u32, old: d.old as u32, new: d.new as u32 })
    }

    /// Where a range of the old text is in the new one. One that the change lies within has grown or shrunk; one that reaches into it is gone.
    pub fn forward(&self, range: Range<u32>) -> Option<Range<u32>> {
        let moved = |at: u32| at - self.old + self.new;
        if range.end <= self.head {
            Some(range)
        } else if range.start >= self.old {
            Some(moved(range.start)..moved(range.end))
        } else if range.start <= self.head && range.end >= self.old {
            Some(range.start..moved(range.end))
        } else {
            None
        }
    }

    /// Where a byte of the new text was in the old one.
    pub fn back(&self, at: u32) -> Option<u32> {
        if at <= self.head {
            Some(at)
        } else if at >= self.new {
            Some(at - self.new + self.old)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_move() {
        let s = Shift::between("one two three", "one 2 three").unwrap();
        assert_eq!(s.forward(0..3), Some(0..3));
        assert_eq!(s.forward(8..13), Some(6..11));
        assert_eq!(s.forward(0..13), Some(0..11), "the change lies within");
        assert_eq!(s.forward(5..9), None);
        assert_eq!(s.back(7), Some(9));
        assert_eq!(Shift::between("a", "a"), None);
        let s = Shift::between("aa", "aaa").unwrap();
        assert_eq!((s.back(3), s.back(2), s.forward(0..2)), (Some(2), Some(2), Some(0..2)));
    }
}
