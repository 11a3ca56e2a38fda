//! How free the arithmetic of floats is for those who race: C has leave for something already when nobody asks. So programs of the suite race three times.

use crate::peers::{OURS, TUNED};
use sluice_driver::cc::FAST_MATH;

/// Who races whom with what leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// As the program says, operation by operation, on both sides.
    Exact,
    /// C as its compilers have it by themselves: a product and a sum may become one operation. Sluice's code is exact.
    Usual,
    /// Both sides may reorder sums and join operations.
    Free,
}

impl Arithmetic {
    /// All, in the order of the tables.
    pub const ALL: [Arithmetic; 3] = [Arithmetic::Exact, Arithmetic::Usual, Arithmetic::Free];

    /// What `sluice build` is told.
    pub fn ours(self) -> Option<&'static str> {
        (self == Arithmetic::Free).then_some("--fast-math")
    }

    /// What C compilers are told. For [`Arithmetic::Free`], what the code that sluice makes is compiled with: not `-ffast-math` by its name, for linked so a library
    /// makes numbers near zero zero in all the process, for those who race against it, too.
    pub fn flags(self) -> Vec<&'static str> {
        match self {
            Arithmetic::Exact => vec!["-ffp-contract=off"],
            Arithmetic::Usual => vec![],
            Arithmetic::Free => FAST_MATH.into_iter().chain(["-fno-math-errno", "-fno-trapping-math"]).collect(),
        }
    }

    /// The same, as the tables show it.
    pub fn flags_text(self) -> String {
        self.flags().join(" ")
    }

    /// What a racer is called that has this leave.
    pub fn called(self, racer: &str) -> String {
        match self {
            Arithmetic::Exact if ![OURS, TUNED].contains(&racer) => format!("{racer}, exact"),
            Arithmetic::Exact | Arithmetic::Usual => racer.to_string(),
            Arithmetic::Free => format!("{racer}, free"),
        }
    }

    /// What the tables call it.
    pub fn name(self) -> &'static str {
        match self {
            Arithmetic::Exact => "both exact",
            Arithmetic::Usual => "C as usual",
            Arithmetic::Free => "both free",
        }
    }
}
