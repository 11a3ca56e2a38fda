//! The run-time support of device code: CUDA C++ source files, embedded as they are, and the emulator that runs the same text on the CPU.

/// What a device text begins with: its world, and mathematics as the language defines it. In this order.
pub const BEGIN: [&str; 2] = [include_str!("../../rts/cuda/sl_env.h"), include_str!("../../rts/cuda/sl_device_math.h")];

/// The emulator; at the end of a device text, behind its tables, between `#ifdef SL_EMULATE` and `#endif`. In this order.
pub const EMULATOR: [&str; 6] = [
    include_str!("../../rts/cuda/sl_launch.h"),
    include_str!("../../rts/cuda/sl_fibres.h"),
    include_str!("../../rts/cuda/sl_shadow.h"),
    include_str!("../../rts/cuda/sl_sectors.h"),
    include_str!("../../rts/cuda/sl_barriers.h"),
    include_str!("../../rts/cuda/sl_emulator.h"),
];

/// Options that a C++ compiler must get to make a shared object for emulation of a device text. With `-O1` the emulator is as fast as
/// with more; nothing is needed of the C++ library.
pub const EMULATION_FLAGS: [&str; 11] = [
    "-std=c++17",
    "-DSL_EMULATE",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-exceptions",
    "-fno-rtti",
    "-fvisibility=hidden",
    "-fPIC",
    "-shared",
];

/// Appends a file of the run-time support, without its `#include "..."` lines: all are in one text.
pub fn append(out: &mut String, text: &str) {
    for line in text.lines().filter(|l| !l.starts_with("#include \"")) {
        out.push_str(line);
        out.push('\n');
    }
    out.push('\n');
}
