//! The run-time support of devices: CUDA C++ files, embedded as they are.

/// What every device text begins with.
pub const HEADERS: [&str; 4] = [
    include_str!("../../rts/cuda/sl_env.h"),
    include_str!("../../rts/cuda/sl_device_math.h"),
    include_str!("../../rts/cuda/sl_thread.h"),
    include_str!("../../rts/cuda/sl_channel.h"),
];
/// What it ends with for the emulator.
pub const EMULATOR: [&str; 6] = [
    include_str!("../../rts/cuda/sl_launch.h"),
    include_str!("../../rts/cuda/sl_fibres.h"),
    include_str!("../../rts/cuda/sl_shadow.h"),
    include_str!("../../rts/cuda/sl_sectors.h"),
    include_str!("../../rts/cuda/sl_barriers.h"),
    include_str!("../../rts/cuda/sl_emulator.h"),
];

/// Appends a file without its `#include "..."` lines: all are in one text.
pub fn append(out: &mut String, text: &str) {
    for line in text.lines().filter(|l| !l.starts_with("#include \"")) {
        out.push_str(line);
        out.push('\n');
    }
    out.push('\n');
}
