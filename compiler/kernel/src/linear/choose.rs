//! Which way an affine map is computed: item by item, or many items at once in the frequency domain.
//!
//! The cost of a firing is estimated in nanoseconds of a processor with vectors of 256 bits; only ratios matter. Item by item, a coefficient costs [`TAP`] and an
//! item of output [`ROW`]. In the frequency domain, firings are done in pairs of blocks by the overlap-save method: of N items of input, a block's transform gives the
//! outputs of all windows within it. A pair of blocks is one complex transform of N points forwards, and for each item that a firing gives, a product of spectra and one transform
//! backwards: N·(log2 N·[`POINT`] each + [`PRODUCT`]), and [`MOVE`] for each item in and out. Both blocks are paid for, whether there are firings for them or not.

use super::map::{Row, Steps};
use sluice_frontend::convolution::SIZES;

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
}

impl Mode {
    /// The names of all.
    pub const NAMES: [(&str, Mode); 4] =
        [("auto", Mode::Auto), ("off", Mode::Off), ("direct", Mode::Direct), ("frequency", Mode::Frequency)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Mode::NAMES.iter().find(|(_, m)| *m == self).map_or("auto", |(n, _)| n)
    }
}

/// Nanoseconds for a coefficient whose items are neighbours, and for an item of output.
const TAP: f64 = 0.06;
const ROW: f64 = 1.0;
/// The same for a coefficient whose items are not neighbours.
const APART: f64 = 0.25;
/// Nanoseconds that a splitter or joiner takes for an item.
pub const MOVED: f64 = 0.3;
/// Nanoseconds of a transform by point and by power of two; of a product of spectra by point; of an item that goes in or out of a block.
const POINT: f64 = 0.14;
const PRODUCT: f64 = 0.4;
const MOVE: f64 = 0.5;
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
        let taps = match shape(&Row { start: 0, taps: r.taps.clone(), plus: 0.0 }) {
            Shape::Dense => n * TAP,
            Shape::Strided(s) => n / s as f64 * APART,
            Shape::Sparse(at) => at.len() as f64 * APART,
        };
        taps + ROW
    };
    steps.rows.iter().map(row).sum()
}

/// Firings of a block of 2^`log2` points, nanoseconds of a pair of blocks, and those of a firing where `firings` come at a time; `None` where a window does not fit.
fn frequency(steps: &Steps, log2: u32, firings: u64) -> Option<(u64, f64, f64)> {
    let n = 1u64 << log2;
    let (from, to) = span(steps);
    // windows that begin within a block, so far apart as firings are
    let hop = (n.checked_sub(to - from)? / steps.pop) + 1;
    let pairs = firings.div_ceil(2 * hop) as f64;
    let outputs = steps.rows.len() as f64;
    let points = n as f64 * (f64::from(log2) * POINT * (1.0 + outputs) + PRODUCT * outputs);
    let moves = MOVE * (2.0 * n as f64 + 2.0 * hop as f64 * outputs);
    Some((hop, points + moves, pairs * (points + moves) / firings as f64))
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
    if matches!(mode, Mode::Off | Mode::Direct) || !float || most < FEWEST || steps.rows.len() > MOST_SPECTRA {
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
