//! Architectures of NVIDIA GPUs by their compute capability, written `sm_90`.

use std::fmt;
use std::str::FromStr;

/// A compute capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arch {
    /// The generation: 9 of 9.0.
    pub major: u32,
    /// Its step: 0 of 9.0.
    pub minor: u32,
}

/// The oldest that generated code runs on: Turing.
pub const OLDEST: Arch = Arch { major: 7, minor: 5 };

/// Those that generated code is tested for.
pub const TESTED: [Arch; 4] =
    [OLDEST, Arch { major: 8, minor: 0 }, Arch { major: 9, minor: 0 }, Arch { major: 10, minor: 0 }];

impl Arch {
    /// From a number such as 90 or 120.
    pub fn of_number(number: u32) -> Arch {
        Arch { major: number / 10, minor: number % 10 }
    }

    /// As it is written for machine code that runs: `sm_90`.
    pub fn sm(self) -> String {
        format!("sm_{}{}", self.major, self.minor)
    }

    /// As it is written for PTX: `compute_90`.
    pub fn compute(self) -> String {
        format!("compute_{}{}", self.major, self.minor)
    }

    /// What to compile for where a device has this architecture and a compiler knows those: machine code of its own or of an older step of its
    /// generation; else PTX, which the driver translates. `None` where the compiler knows only newer ones.
    pub fn served_by(self, known: &[Arch]) -> Option<Form> {
        let older = || known.iter().copied().filter(|k| *k <= self);
        older().filter(|k| k.major == self.major).max().map(Form::Machine).or_else(|| older().max().map(Form::Ptx))
    }
}

/// What a compiler makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Machine code.
    Machine(Arch),
    /// Text that the driver translates.
    Ptx(Arch),
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sm())
    }
}

impl FromStr for Arch {
    type Err = String;

    /// `sm_90`; also `90` and `9.0`.
    fn from_str(text: &str) -> Result<Arch, String> {
        let wrong = || format!("`{text}` is no architecture: they are written sm_75, sm_80, sm_90");
        let digits = text.strip_prefix("sm_").unwrap_or(text).replace('.', "");
        let number = match digits.as_str() {
            d if (2..=3).contains(&d.len()) && d.bytes().all(|b| b.is_ascii_digit()) => {
                d.parse().map_err(|_| wrong())?
            }
            _ => return Err(wrong()),
        };
        let arch = Arch::of_number(number);
        if arch < OLDEST {
            return Err(format!("{arch} is too old: the oldest is {OLDEST} (Turing)"));
        }
        Ok(arch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read() {
        assert_eq!("sm_90".parse(), Ok(Arch { major: 9, minor: 0 }));
        assert_eq!("8.6".parse(), Ok(Arch { major: 8, minor: 6 }));
        assert_eq!("sm_120".parse::<Arch>().unwrap().to_string(), "sm_120");
        assert!("sm_70".parse::<Arch>().unwrap_err().contains("too old"));
        for wrong in ["", "sm_", "sm_9", "hopper", "sm_9000", "-90", "sm_9a"] {
            assert!(wrong.parse::<Arch>().unwrap_err().contains("is no architecture"), "{wrong}");
        }
    }

    #[test]
    fn a_compiler_serves_older_and_newer_devices() {
        let known = [75, 80, 86, 90, 100].map(Arch::of_number);
        let form = |n| Arch::of_number(n).served_by(&known);
        assert_eq!(form(90), Some(Form::Machine(Arch::of_number(90))));
        assert_eq!(form(89), Some(Form::Machine(Arch::of_number(86))));
        assert_eq!(form(120), Some(Form::Ptx(Arch::of_number(100))));
        assert_eq!(form(70), None);
    }
}
