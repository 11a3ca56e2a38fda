//! Which way an affine map is computed: item by item, or many items at once in the frequency domain.
//!
//! The cost of a firing is estimated in nanoseconds, as measured (benchmarks, `linear`); only ratios matter. Whichever way, an item of input
//! costs [`ITEM`] and one of output [`ROW`].
//!
//! - Item by item, a coefficient costs [`TAP`] ([`APART`] where its items are no neighbours), and where a firing takes several items, bringing them into order costs [`PHASE`] each.
//! - In the frequency domain, firings are done in pairs of blocks by the overlap-save method: N items of input give all windows within them. A pair of blocks is one
//!   complex transform of N points forwards and, for each item that a firing gives, a product of spectra and one transform backwards: N·(log2 N·[`POINT`]·(1 + rows) + [`PRODUCT`]·rows). Where a firing takes a multiple of 4 items, the spectrum is
//!   folded ([`FOLD`]) and the way back is of a fourth of the points, and so on. Items that do not
//!   lie side by side cost [`STRIDE`] more. Both blocks are paid for, whether there are firings for them or not. N is the power of two for which all firings that come at once cost least.

use super::map::{Row, Steps};
use sluice_frontend::convolution::{SIZES, folds};

/// Who computes linear parts, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    /// The program as it is written.
    Off,
    /// Combined filters, item by item.
    Direct,
    /// Combined filters, in the frequency domain wherever that can be done.
    Frequency,
    /// What the cost model finds best.
    #[default]
    Auto,
    /// The same of what is done item by item: for code that has no transforms. Nobody asks for it by name.
    ItemByItem,
}

impl Mode {
    /// The names of those that somebody may ask for.
    pub const NAMES: [(&str, Mode); 4] =
        [("auto", Mode::Auto), ("off", Mode::Off), ("direct", Mode::Direct), ("frequency", Mode::Frequency)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Mode::NAMES.iter().find(|(_, m)| *m == self).map_or("auto", |(n, _)| n)
    }
}

/// Nanoseconds for an item taken, and for one given.
const ITEM: f64 = 0.25;
const ROW: f64 = 0.4;
/// The same for a coefficient whose items are neighbours (between what it is with vectors of 256 and of 512 bits: there, the frequency domain pays from 54 and from 96 on), for one whose items are not, and for an item of several that a firing takes.
const TAP: f64 = 0.0185;
const APART: f64 = 0.25;
const PHASE: f64 = 0.2;
/// Nanoseconds that a splitter or joiner takes for an item.
pub const MOVED: f64 = 0.3;
/// Nanoseconds of a transform by point and by power of two, within a core's cache and beyond it; the last power of two that is within it.
const POINT: (f64, f64) = (0.105, 0.15);
const WITHIN: u32 = 14;
/// The same of a product of spectra by point, of folding one, and of an item whose neighbours in a block are no neighbours outside.
const PRODUCT: f64 = 0.2;
const FOLD: f64 = 0.1;
const STRIDE: f64 = 0.3;
/// Firings with fewer coefficients are never done in the frequency domain, whoever asks.
const FEWEST: u64 = 8;

/// How a firing's items are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Way {
    /// The power of two of the transform, in the frequency domain.
    pub log2: Option<u32>,
    /// Estimated nanoseconds of a firing.
    pub cost: f64,
}

/// How a row's items lie in the window.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// All of a range.
    Dense,
    /// Every n-th.
    Strided(u64),
    /// These.
    Sparse(Vec<u64>),
}

/// The shape of a row, by the positions of the coefficients that are not 0.
pub fn shape(row: &Row) -> Shape {
    let at: Vec<u64> = (0u64..).zip(&row.taps).filter(|(_, t)| **t != 0.0).map(|(i, _)| i).collect();
    let stride = at.iter().fold(0, |g, i| sluice_frontend::steady_state::gcd(g, *i));
    if at.len() as u64 * 3 > row.taps.len() as u64 {
        Shape::Dense
    } else if stride > 1 && (at.len() as u64) * 3 > row.taps.len() as u64 / stride {
        Shape::Strided(stride)
    } else {
        Shape::Sparse(at)
    }
}

/// Nanoseconds of a firing item by item.
pub fn direct(steps: &Steps) -> f64 {
    let row = |r: &Row| {
        let n = r.taps.len() as f64;
        let taps = match shape(r) {
            Shape::Dense => n * TAP,
            Shape::Strided(s) => n / s as f64 * APART,
            Shape::Sparse(at) => at.len() as f64 * APART,
        };
        taps + ROW
    };
    let taken = steps.pop as f64 * (ITEM + if steps.pop > 1 { PHASE } else { 0.0 });
    taken + steps.rows.iter().map(row).sum::<f64>()
}

/// Firings of a block of 2^`log2` points, nanoseconds of a pair of blocks, and those of a firing where `firings` come at a time; `None` where a window does not fit.
fn frequency(steps: &Steps, log2: u32, firings: u64) -> Option<(u64, f64, f64)> {
    let n = 1u64 << log2;
    let (from, to) = span(steps);
    // windows that begin within a block, so far apart as firings are
    let hop = (n.checked_sub(to - from)? / steps.pop) + 1;
    let pairs = firings.div_ceil(2 * hop) as f64;
    let rows = steps.rows.len() as f64;
    let point = if log2 > WITHIN { POINT.1 } else { POINT.0 };
    // the way back is as short as what is wanted
    let folds = folds(log2, steps.pop);
    let transform = |log2: u32| (1u64 << log2) as f64 * f64::from(log2) * point;
    let folding = if folds > 0 { FOLD } else { 0.0 };
    let pair = transform(log2) + rows * (transform(log2 - 2 * folds) + n as f64 * (PRODUCT + folding));
    let stride = if steps.pop >> (2 * folds) > 1 || rows > 1.0 { STRIDE } else { 0.0 };
    let moved = steps.pop as f64 * ITEM + rows * (ROW + stride);
    Some((hop, pair, pairs * pair / firings as f64 + moved))
}

/// The fewest firings that are worth a pair of blocks; all that it holds are, whoever asked for the frequency domain.
pub fn least(steps: &Steps, log2: u32) -> u64 {
    let Some((hop, pair, _)) = frequency(steps, log2, 1) else { return 1 };
    ((pair / direct(steps)).ceil() as u64).clamp(1, 2 * hop)
}

/// The items of the window that count.
pub fn span(steps: &Steps) -> (u64, u64) {
    let real = || steps.rows.iter().filter(|r| !r.taps.is_empty());
    let from = real().map(|r| r.start).min().unwrap_or(0);
    (from, real().map(Row::end).max().unwrap_or(from))
}

/// The way to go, where so many firings come at once; `float`: are the items floats?
pub fn choose(steps: &Steps, mode: Mode, firings: u64, float: bool) -> Way {
    let item_by_item = Way { log2: None, cost: direct(steps) };
    let most = steps.rows.iter().map(|r| r.taps.len() as u64).max().unwrap_or(0);
    if matches!(mode, Mode::Off | Mode::Direct | Mode::ItemByItem)
        || !float
        || most < FEWEST
        || steps.rows.len() > MOST_SPECTRA
    {
        return item_by_item;
    }
    let sizes = (SIZES.0..=SIZES.1).filter(|l| steps.rows.len() << l <= MOST_POINTS);
    let ways = sizes.filter_map(|l| Some(Way { log2: Some(l), cost: frequency(steps, l, firings.max(1))?.2 }));
    let best = ways.reduce(|a, b| if b.cost < a.cost { b } else { a });
    match best {
        Some(way) if mode == Mode::Frequency || way.cost < item_by_item.cost => way,
        _ => item_by_item,
    }
}

/// Items that a firing in the frequency domain gives, at most, and points of all its spectra.
const MOST_SPECTRA: usize = 64;
const MOST_POINTS: usize = 1 << 18;
