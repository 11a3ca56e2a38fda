//! The standard library of the Sluice stream language, embedded as source text.
