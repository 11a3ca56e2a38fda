//! CUDA C++ text from the kernel IR and a verified schedule.

pub mod rts;
