//! # sectors
//!
//! Purpose: which memory the kernels of an emulated run touch, and how well. Input: after each launch, what the emulator counted. Output: a table in a file
//! (`SLUICE_EMULATE_COUNTS` names it): for each part of the device's memory, reads and writes, the accesses of warps, and the sectors of 32 bytes
//! that one touches on average and at most; and the bytes that threads asked for.

#![allow(unsafe_code)]

use crate::exit::Fault;
use libloading::os::unix::Library;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::fmt::Write;
use std::path::PathBuf;

type Count = unsafe extern "C" fn(i32);
type Counts = unsafe extern "C" fn(u32, *mut u64) -> u32;
type Region = unsafe extern "C" fn(u32) -> *const c_char;

/// The sums over all launches.
pub(super) struct Sectors {
    counts: Counts,
    region: Region,
    to: PathBuf,
    /// By region, of reads and writes: accesses, sectors, most sectors of an access, bytes.
    sums: BTreeMap<u32, [[u64; 4]; 2]>,
}

impl Sectors {
    /// Counts for a file.
    pub(super) fn open(library: &Library, to: PathBuf) -> Result<Sectors, Fault> {
        let fault = |e: libloading::Error| Fault::internal(format!("the emulator does not count: {e}"));
        // SAFETY: the functions have these types in sl_emulator.h; `Emulator` keeps the library as long as this.
        let (count, counts, region): (Count, Counts, Region) = unsafe {
            (
                *library.get(b"sl_emulate_count\0").map_err(fault)?,
                *library.get(b"sl_emulate_counts\0").map_err(fault)?,
                *library.get(b"sl_emulate_region\0").map_err(fault)?,
            )
        };
        // SAFETY: as above; no launch is under way.
        unsafe { count(1) };
        Ok(Sectors { counts, region, to, sums: BTreeMap::new() })
    }

    /// After a launch.
    pub(super) fn add(&mut self) {
        let mut region = 0;
        loop {
            let mut numbers = [0u64; 8];
            // SAFETY: there is room for eight numbers.
            let all = unsafe { (self.counts)(region, numbers.as_mut_ptr()) };
            let sums = self.sums.entry(region).or_default();
            for (sum, numbers) in sums.iter_mut().zip(numbers.chunks(4)) {
                sum[0] += numbers[0];
                sum[1] += numbers[1];
                sum[2] = sum[2].max(numbers[2]);
                sum[3] += numbers[3];
            }
            if region >= all {
                return;
            }
            region += 1;
        }
    }

    /// The table: columns between tabs, the regions' names last.
    fn table(&self) -> String {
        let mut out = String::from("direction\taccesses\tsectors\taverage\tmost\tbytes\tmemory\n");
        for (region, sums) in &self.sums {
            // SAFETY: the emulator's names live as long as it does, and end with a zero.
            let name = unsafe { CStr::from_ptr((self.region)(*region)) }.to_string_lossy();
            for (direction, [accesses, sectors, most, bytes]) in ["read", "write"].into_iter().zip(sums) {
                if *accesses > 0 {
                    let average = *sectors as f64 / *accesses as f64;
                    let _ = writeln!(out, "{direction}\t{accesses}\t{sectors}\t{average:.2}\t{most}\t{bytes}\t{name}");
                }
            }
        }
        out
    }

    /// Writes the table.
    pub(super) fn write(&self) {
        if let Err(e) = std::fs::write(&self.to, self.table()) {
            eprintln!("warning: cannot write {}: {e}", self.to.display());
        }
    }
}
