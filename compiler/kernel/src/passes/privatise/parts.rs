//! The scalars of a filter's fields in a row, and which of them have been written.

use crate::ir::*;
use crate::types;
use sluice_frontend::ty::Ty;
use std::ops::Range;

/// Where the scalars of each field are.
pub struct Parts {
    fields: Vec<Option<Range<usize>>>,
    total: usize,
}

/// The scalars that a path leads to.
pub struct Part {
    /// Which, or those among which they are.
    pub scalars: Range<usize>,
    /// Are they all of them? Not where an index is not known.
    pub exact: bool,
}

impl Parts {
    /// Those of the fields that `wanted` says, small ones first, as long as they are no more than `most` together.
    pub fn of(kernel: &Kernel, wanted: &[bool], most: usize) -> Parts {
        let mut sizes: Vec<(usize, usize)> = (0..kernel.state.len())
            .filter(|i| wanted[*i])
            .filter_map(|i| Some((scalars(&kernel.state[i].ty, &kernel.structs)?, i)))
            .collect();
        sizes.sort_unstable();
        let mut parts = Parts { fields: vec![None; kernel.state.len()], total: 0 };
        for (n, i) in sizes {
            match parts.total.checked_add(n) {
                Some(end) if end <= most => {
                    parts.fields[i] = Some(parts.total..end);
                    parts.total = end;
                }
                _ => break,
            }
        }
        parts
    }

    /// Scalars of all fields.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Those of a field.
    pub fn of_field(&self, id: StateId) -> Option<&Range<usize>> {
        self.fields.get(id.index())?.as_ref()
    }

    /// What a path leads to, with the values of its indices by step, where they are known. `None` where it leads out of an array, or to no field of these.
    pub fn part(&self, kernel: &Kernel, id: StateId, path: &[Proj], indices: &[Option<i32>]) -> Option<Part> {
        let all = self.of_field(id)?;
        let mut ty = kernel.state[id.index()].ty.clone();
        let (mut first, mut exact) = (all.start, true);
        let mut count = all.len();
        for (step, index) in path.iter().zip(indices) {
            let next = types::project(&ty, step, &kernel.structs)?;
            let size = scalars(&next, &kernel.structs)?;
            let before = match step {
                Proj::Index(_) => match index {
                    Some(i) => usize::try_from(*i).ok().filter(|i| i * size < count || !exact)? * size,
                    None => {
                        exact = false;
                        0
                    }
                },
                Proj::Member(m) => match &ty {
                    Ty::Struct(of) => {
                        let fields = &kernel.structs.get(of.index())?.fields[..*m as usize];
                        fields.iter().map(|(_, t)| scalars(t, &kernel.structs)).sum::<Option<usize>>()?
                    }
                    _ => return None,
                },
                Proj::Component(c) => usize::from(*c),
            };
            // behind an index that is not known, all of the array is what it may be
            if exact {
                first += before;
                count = size;
            }
            ty = next;
        }
        Some(Part { scalars: first..first + count, exact })
    }
}

/// Scalars of a type; `None` where they cannot be counted.
fn scalars(ty: &Ty, structs: &[StructType]) -> Option<usize> {
    match ty {
        Ty::Array(element, _) => scalars(element, structs)?.checked_mul(ty.known_len()? as usize),
        Ty::Struct(id) => {
            let each = structs.get(id.index())?.fields.iter().map(|(_, t)| scalars(t, structs));
            each.sum()
        }
        _ => Some(types::components(ty).map_or(1, usize::from)),
    }
}

/// Which scalars have been written.
#[derive(Clone)]
pub struct Filled(Vec<u64>);

impl Filled {
    /// None of so many.
    pub fn nothing(scalars: usize) -> Filled {
        Filled(vec![0; scalars.div_ceil(64)])
    }

    /// How much there is to copy.
    pub fn words(&self) -> u64 {
        self.0.len() as u64
    }

    /// Some are written.
    pub fn fill(&mut self, scalars: Range<usize>) {
        for (word, bits) in words(scalars) {
            self.0[word] |= bits;
        }
    }

    /// Are all of these written?
    pub fn has(&self, scalars: Range<usize>) -> bool {
        words(scalars).all(|(word, bits)| self.0[word] & bits == bits)
    }

    /// Keeps what is written there, too.
    pub fn keep(&mut self, other: &Filled) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= b);
    }
}

/// The words in which bits lie, and which bits of each.
fn words(bits: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    let last = bits.end.div_ceil(64);
    (bits.start / 64..last.max(bits.start / 64)).map(move |word| {
        let from = bits.start.saturating_sub(word * 64).min(64);
        let to = (bits.end - word * 64).min(64);
        let below = |n: usize| if n == 64 { u64::MAX } else { (1 << n) - 1 };
        (word, below(to) & !below(from))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_words() {
        let mut filled = Filled::nothing(200);
        filled.fill(60..130);
        assert!(filled.has(60..130) && filled.has(64..128) && filled.has(77..77));
        assert!(!filled.has(59..60) && !filled.has(129..131) && !filled.has(0..200));
        filled.fill(0..60);
        filled.fill(130..200);
        assert!(filled.has(0..200));
        let mut other = Filled::nothing(200);
        other.fill(128..129);
        filled.keep(&other);
        assert!(filled.has(128..129) && !filled.has(127..128) && !filled.has(129..130));
    }
}
