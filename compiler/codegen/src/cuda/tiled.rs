//! # tiled
//!
//! Purpose: which kernels a fused scheme starts, with how many blocks, for who asks about a program without running it. Input: what the scheme has decided. Output: [`Tiled`]; of a batch of so many
//! tiles its launches, as the host's text and rts/c/sl_device.c make them.
//!
//! ```text
//! load | tiles 0 .. m-1: region 0, task, region 1 | tiles m .. 2m-1: the same | ... | save
//! ```
//!
//! What must hold: a launch begins at the tile, and has the tiles and the blocks, that the host says; [`Tiled::cut`] is `sl_cut` and the loop around the launches.

use super::program::Making;
use crate::c::layout::ends;
use sluice_frontend::ids::NodeId;

/// Slices of a batch, at most: `SL_SLICES`.
const SLICES: u64 = 16;

/// Blocks for each multiprocessor that keep it busy: `sl_blocks_for` launches no more.
pub const BUSY: u64 = 16;

/// How many blocks a launch of `m` tiles has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// One for each tile, and so many more, which save what remains.
    Tiles(u64),
    /// One.
    One,
    /// As many as have `firings` of each tile to share among so many threads; no more than keep the device busy.
    Shared {
        /// Of a tile.
        firings: u64,
        /// Of a block.
        threads: u32,
    },
    /// So many, whatever there is to do; no more than keep the device busy.
    Fixed(u64),
    /// So many, each of which makes all firings of some of the streams that take turns in a filter with state; no more than keep the device busy.
    Streams(u64),
    /// As many as run at once, each for several tiles.
    AtOnce,
}

impl Grid {
    /// Do the firings of a block follow one another?
    pub fn is_serial(self) -> bool {
        matches!(self, Grid::One | Grid::Streams(_))
    }
}

/// What a kernel is of, nodes and their firings in a tile, and its blocks.
pub(super) type Share = (Vec<(NodeId, u64)>, Grid);

/// When a kernel is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Once, before a batch.
    Before,
    /// For each launch of tiles.
    Each,
    /// Once, after a batch.
    After,
}

/// A kernel that is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// Its number in [`super::CudaProgram::kernels`].
    pub kernel: usize,
    /// The nodes whose firings it makes, and how many of each in a tile, those that neighbouring tiles make as well included; of one that carries what channels keep, those that take it.
    pub nodes: Vec<(NodeId, u64)>,
    /// Its blocks.
    pub grid: Grid,
    /// When.
    pub when: When,
}

/// What a fused scheme starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiled {
    /// Steady states of a tile.
    pub states: u64,
    /// Tiles of a launch at most, where something is between launches.
    pub room: Option<u64>,
    /// Tiles of a batch, at most.
    pub batch: u64,
    /// By reader, then writer: bytes of a tile's items.
    pub end_bytes: Vec<u64>,
    /// How many of these are readers.
    pub readers: usize,
    /// Bytes of a slice, at least.
    pub slice_bytes: u64,
    /// In the order in which they are started.
    pub started: Vec<Started>,
}

impl Tiled {
    /// The launches of a batch: the first tile of each, and how many.
    pub fn cut(&self, tiles: u64) -> Vec<(u64, u64)> {
        let bytes = self.end_bytes.iter().fold(0u64, |sum, b| sum.saturating_add(b.saturating_mul(tiles)));
        let slices = (bytes / self.slice_bytes.max(1)).clamp(1, SLICES);
        let most = tiles.div_ceil(slices).min(self.room.unwrap_or(u64::MAX)).max(1);
        (0..tiles.div_ceil(most)).map(|i| (i * most, most.min(tiles - i * most))).collect()
    }
}

/// What is known before the kernels have numbers.
pub(super) fn tiled(making: &Making<'_>, room: Option<u64>, started: Vec<Started>) -> Tiled {
    let (graph, steady) = (making.input.host.graph, making.input.host.steady);
    let (readers, writers) = ends(graph);
    let bytes = |v: &NodeId| {
        let node = graph.node(*v);
        let channel = node.inputs.first().or(node.outputs.first()).copied();
        channel.map_or(0, |c| making.item_bytes(c)) * steady.repetitions[v.index()] * making.unit
    };
    Tiled {
        states: making.unit,
        room,
        batch: (making.batch / making.unit.max(1)).max(1),
        end_bytes: readers.iter().chain(&writers).map(bytes).collect(),
        readers: readers.len(),
        slice_bytes: making.input.options.slice_bytes,
        started,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What launches are cut by here and in the host's text is the same.
    #[test]
    fn the_host_cuts_by_the_same_numbers() {
        let host = include_str!("../../rts/c/sl_device.c");
        assert!(host.contains(&format!("enum {{ SL_SLICES = {SLICES},")));
        assert!(host.contains(&format!("(uint64_t)processors * {BUSY} :")));
    }

    #[test]
    fn launches_of_a_batch() {
        let mut tiled = Tiled {
            states: 4,
            room: None,
            batch: 100,
            end_bytes: vec![512, 512],
            readers: 1,
            slice_bytes: 4096,
            started: Vec::new(),
        };
        assert_eq!(tiled.cut(1), [(0, 1)]);
        // less than two slices' bytes are one
        assert_eq!(tiled.cut(7), [(0, 7)]);
        assert_eq!(tiled.cut(9), [(0, 5), (5, 4)]);
        // sixteen at most
        assert_eq!(tiled.cut(100).len(), 15);
        assert_eq!(tiled.cut(100)[14], (98, 2));
        tiled.room = Some(3);
        assert_eq!(tiled.cut(7), [(0, 3), (3, 3), (6, 1)]);
    }
}
