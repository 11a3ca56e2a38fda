//! The run-time support of devices: CUDA C++ files, embedded as they are, and the emulator that runs the same text on the CPU.

/// Mathematics as the language defines it, with what it needs. Angles and sines are CUDA's own on a device (`sl_angle.h` and `sl_sine.h` are the emulator's).
pub const MATH: [&str; 6] = [
    include_str!("../../rts/cuda/sl_env.h"),
    include_str!("../../rts/cuda/sl_device_math.h"),
    "#ifdef SL_EMULATE\n#define SL_FN SL_DEVICE",
    crate::c::rts::ANGLE,
    crate::c::rts::SINE,
    "#undef SL_FN\n#endif",
];
/// What a program has behind it.
const PARTS: [&str; 2] = [include_str!("../../rts/cuda/sl_thread.h"), include_str!("../../rts/cuda/sl_channel.h")];
/// What it ends with for the emulator, behind its tables, between `#ifdef SL_EMULATE` and `#endif`.
pub const PROGRAM: &str = include_str!("../../rts/cuda/sl_program.h");
/// The emulator: behind that, or a text of its own ([`emulator`]).
pub const EMULATOR: [&str; 6] = [
    include_str!("../../rts/cuda/sl_launch.h"),
    include_str!("../../rts/cuda/sl_fibres.h"),
    include_str!("../../rts/cuda/sl_shadow.h"),
    include_str!("../../rts/cuda/sl_sectors.h"),
    include_str!("../../rts/cuda/sl_barriers.h"),
    include_str!("../../rts/cuda/sl_emulator.h"),
];

/// A device over CUDA's run-time library, for programs of their own.
pub const CUDA_HOST: &str = include_str!("../../rts/cuda/sl_cuda_host.h");

/// Options that a C++ compiler must get to make a shared object of a device text, for emulation. With `-O1` it is as fast as with
/// more. Nothing is needed of the C++ library; the C library's mathematics (`-lm`) and threads (`-lpthread`) are.
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

/// The emulator as a text of its own, the same for all programs; compiled like these, it is linked with them.
pub fn emulator() -> String {
    let mut out = String::new();
    MATH[..1].iter().chain(&EMULATOR).for_each(|text| append(&mut out, text));
    out
}

/// What every program for a device begins with.
pub fn head(out: &mut String) {
    MATH.iter().chain(&PARTS).for_each(|text| append(out, text));
}

/// Appends a file without its `#include "..."` lines: all are in one text.
pub fn append(out: &mut String, text: &str) {
    for line in text.lines().filter(|l| !l.starts_with("#include \"")) {
        out.push_str(line);
        out.push('\n');
    }
    out.push('\n');
}
