//! The model of C-slow beside what was measured: d_C from machine code, d_M from the chase along pointers, α from a fit.

#![allow(clippy::disallowed_methods)] // it starts the disassembler

use super::document::Bank;
use sluice_driver::cuda::toolkit;
use std::path::{Path, PathBuf};
use std::process::Command;

/// nvdisasm of the toolkit, where there is one.
fn disassembler() -> Option<PathBuf> {
    let beside = toolkit::nvcc().and_then(|nvcc| Some(nvcc.parent()?.join("nvdisasm")));
    let path = std::env::var_os("PATH").unwrap_or_default();
    beside.into_iter().chain(std::env::split_paths(&path).map(|p| p.join("nvdisasm"))).find(|p| p.is_file())
}

/// Instructions of the loop of a kernel, in machine code.
pub fn loop_length(code: &[u8], kernel: &str) -> Option<u64> {
    if !code.starts_with(b"\x7fELF") {
        return None;
    }
    let place = std::env::temp_dir().join(format!("sluice-{}-{kernel}.cubin", std::process::id()));
    std::fs::write(&place, code).ok()?;
    let said = disassembler().and_then(|tool| said(&tool, &place));
    let _ = std::fs::remove_file(&place);
    longest_loop(&said?, kernel)
}

fn said(tool: &Path, file: &Path) -> Option<String> {
    let out = Command::new(tool).arg("-c").arg(file).output().ok()?;
    out.status.success().then(|| String::from_utf8_lossy(&out.stdout).into_owned())
}

/// The instructions between a label and the furthest jump back to it, of the longest such loop that is not the trap at a kernel's end.
pub fn longest_loop(text: &str, kernel: &str) -> Option<u64> {
    let section = format!(".text.{kernel}:");
    let mut labels: Vec<(&str, u64)> = Vec::new();
    let (mut inside, mut count, mut longest) = (false, 0u64, None);
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_suffix(':') {
            if name.starts_with(".text.") {
                inside = line == section;
                labels.clear();
                count = 0;
            } else if inside {
                labels.push((name, count));
            }
            continue;
        }
        if !inside || !line.starts_with("/*") {
            continue;
        }
        // the second half of an instruction's code stands alone
        let Some(instruction) = line.split("*/").nth(1).map(str::trim).filter(|i| i.ends_with(';') || i.contains(';'))
        else {
            continue;
        };
        count += 1;
        if instruction.contains("BRA")
            && let Some((_, at)) = labels.iter().rev().find(|(l, _)| instruction.contains(&format!("({l})")))
            && count - at > 1
        {
            longest = longest.max(Some(count - at));
        }
    }
    longest
}

/// d_C of C streams: that of machine code, where it is known.
fn cycles(b: &Bank) -> Option<f64> {
    b.d_c.map(|n| n as f64)
}

/// T of the model: equation (1).
pub fn model(d_c: f64, d_m: f64, streams: u64, alpha: f64) -> f64 {
    let n_rw = 2.0 * streams as f64;
    d_c.max(d_m + n_rw - 1.0 - alpha * d_c)
}

/// α, such that the model is nearest to what was measured, by the squares of the logarithms of their ratios. `clock`: cycles in a nanosecond.
pub fn fit(banks: &[Bank], d_m: f64, clock: f64) -> Option<f64> {
    let known: Vec<(f64, u64, f64)> =
        banks.iter().filter_map(|b| Some((cycles(b)?, b.streams, b.period?.median * clock))).collect();
    if known.len() < 2 {
        return None;
    }
    let far =
        |alpha: f64| -> f64 { known.iter().map(|(d_c, c, t)| (model(*d_c, d_m, *c, alpha) / t).ln().powi(2)).sum() };
    let most = known.iter().map(|(d_c, ..)| d_m / d_c).fold(1.0, f64::max);
    (0..=4000).map(|i| most * f64::from(i) / 4000.0).min_by(|a, b| far(*a).total_cmp(&far(*b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::document::Times;

    const CODE: &str = "\
.text.other:
.L_x_0:
        /*0000*/                   IADD3 R0, R0, 0x1, RZ ;
        /*0010*/                   IADD3 R0, R0, 0x1, RZ ;
        /*0020*/                   BRA `(.L_x_0);
.text.bank_2:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
                                                             /* 0x003fde0000000f00 */
.L_x_1:
        /*0010*/                   LDG.E R2, [R4.64] ;
                                                             /* 0x00000a00ff017624 */
        /*0020*/                   FADD R2, R2, R3 ;
        /*0030*/                   STG.E [R6.64], R2 ;
        /*0040*/              @!P0 BRA `(.L_x_1) ;
        /*0050*/                   EXIT ;
.L_x_2:
        /*0060*/                   BRA `(.L_x_2);
";

    #[test]
    fn the_loop_is_found_in_machine_code() {
        assert_eq!(longest_loop(CODE, "bank_2"), Some(4));
        assert_eq!(longest_loop(CODE, "other"), Some(3));
        assert_eq!(longest_loop(CODE, "bank_4"), None);
        assert_eq!(loop_length(b"no machine code", "bank_1"), None);
    }

    #[test]
    fn the_paper_s_example_and_a_fit() {
        assert_eq!(model(5.0, 10.0, 1, 0.6), 8.0);
        assert_eq!(model(12.0, 10.0, 2, 0.6), 12.0);
        let bank = |d_c: u64, streams, alpha: f64| {
            let median = model(d_c as f64, 500.0, streams, alpha) / 1.7;
            let period = Some(Times { least: median, median, greatest: median, measurements: 1 });
            Bank { filters: 8, steps: 9, streams, period, d_c: Some(d_c) }
        };
        let banks: Vec<Bank> = [(10, 1), (18, 2), (34, 4), (66, 8)].map(|(d, c)| bank(d, c, 3.0)).into();
        let alpha = fit(&banks, 500.0, 1.7).unwrap();
        assert!((alpha - 3.0).abs() < 0.1, "{alpha}");
        assert_eq!(fit(&banks[..1], 500.0, 1.7), None);
    }
}
