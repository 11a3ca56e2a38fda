//! A naive machine: kernels one after the other, processors in any order within one, items seen by other processors only after it.
