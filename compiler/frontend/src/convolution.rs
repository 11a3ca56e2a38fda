//! Firings of a filter as convolutions, for back ends that do many of them at once in the frequency domain. Whoever makes a program of another says what a
//! filter's firings come to; its code stays what it is, and is what runs everywhere else.

/// Powers of two of the points of a convolution's transforms: the least, the most.
pub const SIZES: (u32, u32) = (6, 16);

/// Firings of a filter without state as convolutions: item `j` of a firing is row `j`. Items are floats.
#[derive(Clone, Debug, PartialEq)]
pub struct Convolution {
    /// The power of two of the transforms' points, one of [`SIZES`]; all that the rows look at fits in.
    pub log2: u32,
    /// What a firing gives.
    pub rows: Vec<Row>,
    /// Fewer firings are done one by one; at least 1, and at most twice [`Convolution::hop`].
    pub least: u64,
}

/// `plus` and the sum of `taps[t]` times the item at `start + t` of the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The first item that counts.
    pub start: u32,
    /// Coefficients.
    pub taps: Vec<f64>,
    /// The constant.
    pub plus: f64,
}

/// [`Convolution::folds`] for transforms of 2^`log2` points: the least size is that of [`SIZES`].
pub fn folds(log2: u32, pop: u64) -> u32 {
    (pop.trailing_zeros() / 2).min((log2 - SIZES.0) / 2)
}

impl Convolution {
    /// The first item of a window that counts, and the end of those.
    pub fn span(&self) -> (u64, u64) {
        let real = || self.rows.iter().filter(|r| !r.taps.is_empty());
        let from = real().map(|r| u64::from(r.start)).min().unwrap_or(0);
        (from, real().map(|r| u64::from(r.start) + r.taps.len() as u64).max().unwrap_or(from))
    }

    /// How many times a spectrum is folded by four, where a firing takes `pop` items: of what comes back only every `pop`-th is wanted.
    pub fn folds(&self, pop: u32) -> u32 {
        folds(self.log2, pop.into())
    }

    /// Firings that a block of points has the items for, each of which takes so many.
    pub fn hop(&self, pop: u32) -> u64 {
        let (from, to) = self.span();
        ((1u64 << self.log2) - (to - from)) / u64::from(pop.max(1)) + 1
    }
}
