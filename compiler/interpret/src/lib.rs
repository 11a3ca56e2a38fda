//! The reference interpreter of the Sluice stream language.
