//! What "Software Pipelined Execution of Stream Programs on GPUs" (Udupa, Govindarajan, Thazhuthaveetil, CGO 2009) publishes: a GeForce 8800 GTS 512
//! against one thread of a Xeon at 2.83 GHz. Its figures 10 and 11 are drawn without numbers; what its text says of them is here.

/// A program's row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// The program's name in our suite.
    pub name: &'static str,
    /// Table II: bytes of buffers of SWP8.
    pub buffers: u64,
    /// Figure 10, SWPNC, where the text has the number.
    pub swpnc: Option<f64>,
}

/// Table II, in its order, and section V.B.
pub const PUBLISHED: [Published; 8] = [
    Published { name: "bitonic", buffers: 5_308_416, swpnc: None },
    Published { name: "bitonicrec", buffers: 4_472_832, swpnc: None },
    Published { name: "dct", buffers: 29_360_128, swpnc: None },
    Published { name: "des", buffers: 59_768_832, swpnc: None },
    Published { name: "fft", buffers: 25_165_824, swpnc: None },
    Published { name: "filterbank", buffers: 7_471_104, swpnc: Some(11.59) },
    Published { name: "fmradio", buffers: 1_671_168, swpnc: Some(31.78) },
    Published { name: "matrixmult", buffers: 92_602_368, swpnc: None },
];

/// Figure 11: the least and the greatest speedup of the optimised schemes.
pub const SWP: (f64, f64) = (1.87, 36.83);

/// Figure 10: the greatest speedup of SWPNC of the other six.
pub const SWPNC_MOST: f64 = 1.22;

/// The row of a program.
pub fn of(name: &str) -> Option<&'static Published> {
    PUBLISHED.iter().find(|p| p.name == name)
}
