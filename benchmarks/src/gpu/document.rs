//! What was measured, as it is kept in JSON. What was not is not there.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The first field of the JSON.
pub const SCHEMA: &str = "sluice-gpu-1";

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// Nothing of it is a measurement.
    pub emulated: bool,
    /// Versions, processor, date.
    pub about: BTreeMap<String, String>,
    /// What was not there, or went wrong.
    pub missing: Vec<String>,
    /// The device.
    pub device: Option<DeviceFacts>,
    /// What it can do at most.
    pub peaks: Option<Peaks>,
    /// The programs.
    pub programs: Vec<ProgramFacts>,
    /// Programs by schemes.
    pub runs: Vec<Run>,
    /// The loop of C-slow.
    pub bank: Vec<Bank>,
    /// Libraries.
    pub peers: Vec<Peer>,
}

/// What the driver says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// Its name.
    pub name: String,
    /// `sm_90`
    pub arch: String,
    /// Multiprocessors.
    pub processors: u32,
    /// Bytes of the L2 cache.
    pub l2: u64,
    /// Bytes of memory.
    pub memory: u64,
    /// MHz.
    pub clock_mhz: f64,
}

/// Measured by kernels of our own, medians.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Peaks {
    /// Bytes read and written per second by a copy.
    pub bytes: f64,
    /// Operations on floats per second, product and sum as one instruction; both count.
    pub contracted: f64,
    /// The same as two instructions.
    pub plain: f64,
    /// Operations on ints per second.
    pub int: f64,
    /// Nanoseconds from asking memory to having: a chase along pointers through more than the L2 has.
    pub latency_ns: f64,
}

/// Nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// The shortest.
    pub least: f64,
    /// In the middle.
    pub median: f64,
    /// The longest.
    pub greatest: f64,
    /// How many.
    pub measurements: usize,
}

impl Times {
    /// Of some times; `None` of none.
    pub fn of(mut all: Vec<f64>) -> Option<Times> {
        all.sort_by(f64::total_cmp);
        let (least, greatest) = (*all.first()?, *all.last()?);
        Some(Times { least, median: all[all.len() / 2], greatest, measurements: all.len() })
    }
}

/// A program, per steady state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramFacts {
    /// Its name.
    pub name: String,
    /// Bytes that come in.
    pub input_bytes: u64,
    /// Bytes that go out.
    pub output_bytes: u64,
    /// Additions, multiplications, divisions, functions of floats.
    pub float_operations: u64,
    /// Simple operations on ints, those of loops among them.
    pub int_operations: u64,
    /// Those on floats that no way to compute it can leave out where linear filters may be combined, which has other roundings; not known in older documents.
    #[serde(default)]
    pub needed_operations: Option<u64>,
    /// Those where every bit counts; not known in older documents, whose roof is that of the others.
    #[serde(default)]
    pub exact_operations: Option<u64>,
    /// Native code on one thread, from memory to memory.
    pub cpu: Option<Times>,
}

/// A program by a scheme, times per steady state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The program.
    pub program: String,
    /// [`super::work::Variant::name`].
    pub variant: String,
    /// Products and sums may become one operation.
    pub fast_math: bool,
    /// Why there is nothing else.
    pub failed: Option<String>,
    /// Words of output that were compared with native code's.
    pub words: usize,
    /// The greatest difference, as a part of the greatest number; 0: equal to the bit.
    pub difference: f64,
    /// Steady states of the batch that was measured.
    pub steady_states: u64,
    /// Its launches.
    pub launches: usize,
    /// Its kernels alone, data in the device's memory.
    pub resident: Option<Times>,
    /// A whole run: from a file in memory to a file in memory, device memory allocated in it.
    pub end_to_end: Option<Times>,
    /// Bytes of channels.
    pub channel_bytes: u64,
    /// Bytes of the device's memory that are not input or output.
    pub arena_bytes: u64,
    /// Initiation intervals of the batch: its iterations, and those that drain the pipeline; 0 where there is no pipeline.
    #[serde(default)]
    pub intervals: u64,
    /// The schedule's initiation interval in cycles, and how many steady states it makes.
    pub ii: Option<(u64, u64)>,
    /// Threads of a block and the limit of a thread's registers, where a profile has chosen them.
    pub configuration: Option<(u32, u32)>,
    /// The kernels, each alone.
    pub kernels: Vec<KernelTime>,
}

/// A kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelTime {
    /// What it is in the program: the filter, where it is one.
    pub name: String,
    /// Launches in a batch.
    pub launches: usize,
    /// Nanoseconds per steady state.
    pub ns: f64,
    /// Cycles of all multiprocessors together per steady state that the machine model says, where the kernel is one filter.
    pub predicted: Option<f64>,
}

/// The loop of "Method for Software Pipelining on GPUs", figure 4, with C streams in turn in each thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bank {
    /// N
    pub filters: u64,
    /// M
    pub steps: u64,
    /// C
    pub streams: u64,
    /// Nanoseconds of an iteration of the loop.
    pub period: Option<Times>,
    /// Instructions of the loop in machine code.
    pub d_c: Option<u64>,
}

/// A library.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Peer {
    /// The program.
    pub program: String,
    /// What was called.
    pub called: String,
    /// Per steady state.
    pub times: Times,
    /// The greatest difference from the program's output, as a part of the greatest number.
    pub difference: f64,
}
