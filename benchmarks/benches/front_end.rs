//! The front end, from text in memory to a balanced graph. The table of ratios (`make bench`) shows the same work against its limits.

use divan::Bencher;
use sluice_benchmarks::{analyse, long_program, wide_program};

fn main() {
    divan::main();
}

#[divan::bench(args = [1000, 5000, 20_000])]
fn parse_and_check_lines(bencher: Bencher, lines: usize) {
    let text = long_program(lines);
    bencher.bench(|| analyse(&text));
}

#[divan::bench(args = [1000, 10_000, 100_000])]
fn elaborate_and_balance_filters(bencher: Bencher, filters: usize) {
    let text = wide_program(filters);
    bencher.bench(|| analyse(&text));
}
