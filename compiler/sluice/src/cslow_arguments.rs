//! Options of `sluice cslow`.

use crate::numbers::{real, whole};
use clap::Args;
use sluice_driver::cslow::{CslowOptions, Machine, Numbers};

#[derive(Args, Debug)]
#[command(next_help_heading = "Model")]
pub struct CslowArgs {
    /// d_C: cycles that an iteration computes; with --n-rw in place of a program
    #[arg(long, value_name = "CYCLES", value_parser = positive, requires = "n_rw")]
    d_c: Option<f64>,
    /// n_RW: reads and writes of memory in an iteration
    #[arg(long, value_name = "N", value_parser = natural, requires = "d_c")]
    n_rw: Option<f64>,
    /// d_C with C streams, where it is known; by default C times d_C + 1
    #[arg(long, value_name = "CYCLES", value_parser = positive, requires_all = ["d_c", "c"])]
    d_c_slow: Option<f64>,
    /// n_RW with C streams, where it is known; by default C times n_RW
    #[arg(long, value_name = "N", value_parser = natural, requires_all = ["d_c", "c"])]
    n_rw_slow: Option<f64>,
    /// d_M: cycles from asking memory to having
    #[arg(long, value_name = "CYCLES", value_parser = natural, default_value = "10")]
    d_m: f64,
    /// The part of d_C that hides d_M, 0 to 1
    #[arg(long, value_name = "PART", value_parser = part, default_value = "0.6")]
    alpha: f64,
    /// The number of streams; by default the fewest that load the unit fully and fit into the registers
    #[arg(long, value_name = "C", value_parser = whole::<u64>(1..=4096))]
    c: Option<u64>,
    /// Registers of a thread
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..=65536), default_value_t = 255)]
    registers: u64,
    /// Show only this stream, by the name or path that `sluice rates` shows
    #[arg(long, value_name = "STREAM", conflicts_with = "d_c")]
    filter: Option<String>,
}

fn natural(text: &str) -> Result<f64, String> {
    real(text, 0.0..=1e12)
}

fn positive(text: &str) -> Result<f64, String> {
    natural(text).ok().filter(|x| *x > 0.0).ok_or_else(|| format!("not a number above 0, up to {}", 1e12))
}

fn part(text: &str) -> Result<f64, String> {
    real(text, 0.0..=1.0)
}

impl CslowArgs {
    pub fn options(self, json: bool) -> CslowOptions {
        let numbers = self.d_c.zip(self.n_rw).map(|(d_c, n_rw)| Numbers {
            d_c,
            n_rw,
            d_c_slow: self.d_c_slow,
            n_rw_slow: self.n_rw_slow,
        });
        let machine = Machine { d_m: self.d_m, alpha: self.alpha, registers: self.registers, ..Machine::default() };
        CslowOptions { numbers, machine, c: self.c, filter: self.filter, json }
    }
}
