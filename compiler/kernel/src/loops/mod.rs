//! Loops of a work function as a processor sees them: [`instructions`] and [`dependences`] of a body, the cycles of a turn with and without
//! software pipelining ([`schedule`]), an independent [`judge`] of such schedules, and [`figures`] of all loops of a kernel. [`address`]
//! tells accesses to memory apart; the passes that change loops use it, too.

pub mod address;
pub mod dependences;
pub mod figures;
pub mod instructions;
pub mod judge;
pub mod machine;
pub mod schedule;

#[cfg(test)]
pub(crate) mod tests;
