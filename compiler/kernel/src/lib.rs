//! The kernel IR: small, typed, imperative; lowering from the typed program and passes on it.

