//! Tests over the programs of seeds, interpreted and native.

use crate::pool::number_from_environment;
use crate::run::{Make, check, compile, output};

/// Every `of`-th seed, from `part` on, of those that are asked for: as many as this variable of the environment says, or `otherwise`, from `SLUICE_FIRST_SEED` on.
pub fn seeds(variable: &str, otherwise: u64, of: u64, part: u64) -> impl Iterator<Item = u64> {
    let first = number_from_environment("SLUICE_FIRST_SEED", 0);
    (first..first + number_from_environment(variable, otherwise)).filter(move |seed| seed % of == part)
}

/// Native code of a seed's program, made so, gives the interpreter's bytes for each of these inputs.
///
/// # Panics
/// Where it does not, or the program cannot be checked or compiled.
pub fn gives_the_same(seed: u64, source: &str, make: Make, inputs: &[Vec<u8>]) {
    let program = check(source).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{source}"));
    let (ran, code) = compile(&program, make).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{source}"));
    for input in inputs {
        let (wanted, is) = (output(&program, input, None, None), output(&ran, input, None, Some(&code)));
        assert!(wanted == is, "seed {seed}, {} bytes\n{source}", input.len());
    }
}
