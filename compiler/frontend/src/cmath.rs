//! The C library's mathematical functions.
//!
//! Takes and gives numbers; no state. Rust's own `f32::sinh` and others are other formulas than C's, so that generated C code and
//! the interpreter would differ in the last bit; these are the very functions that generated code links. The one module of
//! this crate with unsafe code.

#![allow(unsafe_code)]

macro_rules! unary {
    ($($name:ident: $t:ty),* $(,)?) => {
        mod c {
            unsafe extern "C" {
                $(pub fn $name(x: $t) -> $t;)*
            }
        }
        $(
            /// The C library's function of that name.
            pub fn $name(x: $t) -> $t {
                // SAFETY: a function of ISO C's <math.h> with this signature, defined for every argument. It may set errno and
                // the floating-point flags, which nothing here reads.
                unsafe { c::$name(x) }
            }
        )*
    };
}

macro_rules! binary {
    ($($name:ident: $t:ty),* $(,)?) => {
        mod c2 {
            unsafe extern "C" {
                $(pub fn $name(x: $t, y: $t) -> $t;)*
            }
        }
        $(
            /// The C library's function of that name.
            pub fn $name(x: $t, y: $t) -> $t {
                // SAFETY: as above.
                unsafe { c2::$name(x, y) }
            }
        )*
    };
}

unary! {
    acosf: f32, acoshf: f32, asinf: f32, asinhf: f32, atanf: f32, atanhf: f32, cosf: f32, coshf: f32, expf: f32, expm1f: f32,
    logf: f32, log10f: f32, sinf: f32, sinhf: f32, tanf: f32, tanhf: f32,
    acos: f64, acosh: f64, asin: f64, asinh: f64, atan: f64, atanh: f64, cos: f64, cosh: f64, exp: f64, expm1: f64,
    log: f64, log10: f64, sin: f64, sinh: f64, tan: f64, tanh: f64,
}

binary! {
    atan2f: f32, fmodf: f32, powf: f32,
    atan2: f64, fmod: f64, pow: f64,
}
