//! # way
//!
//! Purpose: a way to compile a program: which C compiler, how wide its vectors, what is done with loops. None changes a byte of what comes out.
//! The usual way is [`Way::default`].

use crate::options::CodeOptions;
use serde::{Deserialize, Serialize};
use sluice_kernel::passes::inner::Inner;

/// Which C compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Which {
    /// `cc`, or the one that `CC` names.
    #[default]
    Usual,
    /// `gcc`.
    Gcc,
    /// `clang`.
    Clang,
}

impl Which {
    /// Those besides the usual one, by the names of their commands.
    pub const OTHERS: [(&str, Which); 2] = [("gcc", Which::Gcc), ("clang", Which::Clang)];

    /// The name of its command; nothing for the usual one.
    pub fn command(self) -> Option<&'static str> {
        Which::OTHERS.iter().find(|(_, w)| *w == self).map(|(name, _)| *name)
    }
}

/// How wide the vectors are that the C compiler makes of loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Vectors {
    /// What the compiler holds to be best: of processors with AVX-512 mostly 256 bits.
    #[default]
    Usual,
    /// 512 bits.
    Bits512,
}

/// What is done with loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Loops {
    /// What `--inner` says, `auto` where it says nothing.
    #[default]
    Usual,
    /// Nothing ([`Inner::None`]).
    Asis,
    /// [`Inner::Unroll`].
    Unrolled,
}

/// A way to compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Way {
    /// Which C compiler.
    pub compiler: Which,
    /// Its vectors.
    pub vectors: Vectors,
    /// What is done with loops.
    pub loops: Loops,
}

impl Way {
    /// In words; `cc` is what the usual compiler is called.
    pub fn name(&self, cc: &str) -> String {
        let mut words = Vec::new();
        words.extend(self.compiler.command().map(String::from));
        words.extend((self.vectors == Vectors::Bits512).then(|| "vectors of 512 bits".into()));
        match self.loops {
            Loops::Usual => {}
            Loops::Asis => words.push("loops as they are".into()),
            Loops::Unrolled => words.push("loops unrolled".into()),
        }
        if words.is_empty() { format!("as usual ({cc})") } else { words.join(", ") }
    }

    /// These options, this way. What somebody has said about loops stays.
    #[must_use]
    pub fn of(self, code: &CodeOptions) -> CodeOptions {
        let mut code = *code;
        code.cc.way = self;
        match self.loops {
            _ if code.inner != Inner::Auto => {}
            Loops::Usual => {}
            Loops::Asis => code.inner = Inner::None,
            Loops::Unrolled => code.inner = Inner::Unroll,
        }
        code
    }

    /// What the C compiler is told for its vectors.
    pub fn flags(&self) -> &'static [&'static str] {
        match self.vectors {
            Vectors::Usual => &[],
            Vectors::Bits512 => &["-mprefer-vector-width=512"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_unusual() {
        assert_eq!(Way::default().name("cc"), "as usual (cc)");
        let way = Way { compiler: Which::Clang, vectors: Vectors::Bits512, loops: Loops::Asis };
        assert_eq!(way.name("cc"), "clang, vectors of 512 bits, loops as they are");
    }

    #[test]
    fn a_way_is_kept_by_its_names() {
        let way = Way { compiler: Which::Clang, loops: Loops::Unrolled, ..Way::default() };
        let text = serde_json::to_string(&way).unwrap();
        assert_eq!(text, r#"{"compiler":"clang","vectors":"usual","loops":"unrolled"}"#);
        assert_eq!(serde_json::from_str::<Way>(&text).unwrap(), way);
    }

    #[test]
    fn what_is_said_about_loops_stays() {
        let way = Way { loops: Loops::Asis, ..Way::default() };
        assert_eq!(way.of(&CodeOptions::default()).inner, Inner::None);
        let said = CodeOptions { inner: Inner::Unroll, ..CodeOptions::default() };
        assert_eq!(way.of(&said).inner, Inner::Unroll);
    }
}
