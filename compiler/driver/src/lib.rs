//! The pipeline from files to running code: devices, input and output, cache.
