//! The standard library of the Sluice stream language, embedded as source text.
//!
//! Every file is parsed with every program; a user's declaration of the same name wins. Names that end in `Core` are
//! building blocks of the library's own streams: the library refers to nothing else of its own, so that a user's `FIR` or
//! `Gain` never changes what a library stream does.

/// The files: name and text, in alphabetical order.
pub const FILES: &[(&str, &str)] = &[
    ("bits.str", include_str!("../bits.str")),
    ("dct.str", include_str!("../dct.str")),
    ("delay.str", include_str!("../delay.str")),
    ("fft.str", include_str!("../fft.str")),
    ("filterbank.str", include_str!("../filterbank.str")),
    ("fir.str", include_str!("../fir.str")),
    ("generator.str", include_str!("../generator.str")),
    ("iir.str", include_str!("../iir.str")),
    ("mixer.str", include_str!("../mixer.str")),
    ("modulation.str", include_str!("../modulation.str")),
    ("print.str", include_str!("../print.str")),
    ("resample.str", include_str!("../resample.str")),
    ("sort.str", include_str!("../sort.str")),
    ("window.str", include_str!("../window.str")),
];
