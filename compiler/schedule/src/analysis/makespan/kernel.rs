//! # kernel
//!
//! Purpose: a kernel as a string of instructions, each of which needs one of two kinds of unit (paper 002, section 3). Input: its text,
//! `LLC` or `llc`. Output: a [`Kernel`], or where the text is wrong.

use std::fmt;
use std::str::FromStr;

/// What an instruction needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// A load/store unit: `L`.
    LoadStore,
    /// A core: `C`.
    Core,
}

impl Unit {
    /// Both.
    pub const ALL: [Unit; 2] = [Unit::LoadStore, Unit::Core];

    /// `L` or `C`.
    pub fn letter(self) -> char {
        match self {
            Unit::LoadStore => 'L',
            Unit::Core => 'C',
        }
    }
}

/// A string of instructions; never empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kernel(Vec<Unit>);

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadKernel {
    /// Nothing in it.
    Empty,
    /// A letter that stands for no unit, and its place, from 0.
    Letter(char, usize),
}

impl fmt::Display for BadKernel {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            BadKernel::Empty => write!(f, "a kernel has at least one instruction"),
            BadKernel::Letter(c, at) => write!(f, "{c:?} (letter {}) is neither L nor C", at + 1),
        }
    }
}

impl Kernel {
    /// A kernel; of an empty list, one `C`.
    pub fn new(units: Vec<Unit>) -> Kernel {
        Kernel(if units.is_empty() { vec![Unit::Core] } else { units })
    }

    /// The units in order.
    pub fn units(&self) -> &[Unit] {
        &self.0
    }
}

impl FromStr for Kernel {
    type Err = BadKernel;

    fn from_str(text: &str) -> Result<Kernel, BadKernel> {
        let unit = |(at, c): (usize, char)| match c {
            'L' | 'l' => Ok(Unit::LoadStore),
            'C' | 'c' => Ok(Unit::Core),
            _ => Err(BadKernel::Letter(c, at)),
        };
        let units: Vec<Unit> = text.chars().enumerate().map(unit).collect::<Result<_, _>>()?;
        if units.is_empty() { Err(BadKernel::Empty) } else { Ok(Kernel(units)) }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.iter().try_for_each(|u| write!(f, "{}", u.letter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text() {
        assert_eq!("lLc".parse::<Kernel>().unwrap().to_string(), "LLC");
        assert_eq!("".parse::<Kernel>(), Err(BadKernel::Empty));
        assert_eq!("LCXL".parse::<Kernel>(), Err(BadKernel::Letter('X', 2)));
        assert_eq!("LC L".parse::<Kernel>().unwrap_err().to_string(), "' ' (letter 3) is neither L nor C");
    }
}
