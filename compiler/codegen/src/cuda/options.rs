//! How programs run on a device, and what else is chosen about their code.

/// How the steady state runs on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scheme {
    /// A kernel for each node, over all multiprocessors, one after the other.
    Serial,
    /// The modulo schedule: one kernel launched once per initiation interval, in which each block is a multiprocessor of the schedule.
    Swp,
    /// The same, launched once; the intervals are told apart by barriers of the grid.
    SwpPersistent,
    /// The same as [`Scheme::Swp`] with channels in natural order: the working set goes through shared memory where it fits.
    SwpNc,
    /// One data-parallel kernel for each region without state, in which items stay in registers and shared memory.
    Fused,
    /// The same with blocks that stay for several tiles: some of their warps bring the next one while the others fire.
    FusedWarps,
}

impl Scheme {
    /// All of them, with their names on the command line.
    pub const NAMES: [(&str, Scheme); 6] = [
        ("serial", Scheme::Serial),
        ("swp", Scheme::Swp),
        ("swp-persistent", Scheme::SwpPersistent),
        ("swpnc", Scheme::SwpNc),
        ("fused", Scheme::Fused),
        ("fused-warps", Scheme::FusedWarps),
    ];

    /// Does it cut programs into regions?
    pub fn is_fused(self) -> bool {
        matches!(self, Scheme::Fused | Scheme::FusedWarps)
    }

    /// As it is called on the command line.
    pub fn name(self) -> &'static str {
        Scheme::NAMES.iter().find(|(_, s)| *s == self).map_or("", |(name, _)| name)
    }
}

/// Choices about device code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaOptions {
    /// How the steady state runs.
    pub scheme: Scheme,
    /// Threads of a block, a multiple of 32, at most 1024.
    pub threads: u32,
    /// May the blocks of a region have fewer threads, where the others would have little to do?
    pub fewer: bool,
    /// The most registers of a thread, where whoever compiles is told so (`-maxrregcount`); else as many as blocks of so many threads leave.
    pub registers: Option<u32>,
    /// Bytes of shared memory that a block may take.
    pub shared: u64,
    /// Bytes that the arena may take.
    pub memory: u64,
    /// Bytes of input, or of output, of the steady states that run at once, about.
    pub batch_bytes: u64,
    /// Bytes of them that go to the device and back at a time, at least, while others are worked on.
    pub slice_bytes: u64,
    /// Bytes of shared memory of a tile ([`Scheme::Fused`]) that is large enough: several blocks on a multiprocessor hide each other's waiting.
    pub tile: u64,
    /// Bytes of arrays that a thread may have while it fires.
    pub frame: u64,
    /// Batches are as large as they can be from the first on, however long they take: to be measured.
    pub whole_batches: bool,
    /// Each kernel of a scheme that cuts programs into regions does its work `job.n` times over, to be measured; but those that carry what channels keep.
    pub rounds: bool,
}

impl Default for CudaOptions {
    fn default() -> CudaOptions {
        CudaOptions {
            scheme: Scheme::Swp,
            threads: 128,
            fewer: false,
            registers: None,
            shared: 48 << 10,
            memory: 4 << 30,
            batch_bytes: 32 << 20,
            slice_bytes: 256 << 10,
            tile: 32 << 10,
            frame: 64 << 10,
            whole_batches: false,
            rounds: false,
        }
    }
}
