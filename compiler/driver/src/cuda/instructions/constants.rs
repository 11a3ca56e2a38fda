//! Constant memory as machine code sees it: banks of bytes, of which some are known.

use super::bits::Bits;
use std::collections::{BTreeMap, BTreeSet};

/// Banks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constants {
    banks: BTreeMap<u32, Vec<u8>>,
    /// Numbers of 32 bits that a launch puts there, by bank and offset.
    words: BTreeMap<(u32, u64), u32>,
    /// Addresses that a launch puts there.
    addresses: BTreeSet<(u32, u64)>,
}

/// Where memory of the device begins that a launch is told of: a multiple of this.
const ALIGNED: u64 = 256;

impl Constants {
    /// What a bank holds.
    pub fn bank(&mut self, number: u32, bytes: Vec<u8>) {
        self.banks.insert(number, bytes);
    }

    /// A number of a launch.
    pub fn word(&mut self, bank: u32, offset: u64, value: u32) {
        self.words.insert((bank, offset), value);
    }

    /// An address of memory that is a launch's own, 8 bytes.
    pub fn address(&mut self, bank: u32, offset: u64) {
        self.addresses.insert((bank, offset));
    }

    /// What is known of four bytes.
    pub fn bits(&self, bank: u32, offset: u64) -> Bits {
        match self.get(bank, offset) {
            Some(word) => Bits::all(word.into()),
            None if self.addresses.contains(&(bank, offset)) => Bits { value: 0, known: ALIGNED - 1 },
            None => Bits::NONE,
        }
    }

    /// A number that is not known any more.
    pub fn forget(&mut self, bank: u32, offset: u64) {
        self.words.remove(&(bank, offset));
    }

    /// Four bytes.
    pub fn get(&self, bank: u32, offset: u64) -> Option<u32> {
        if let Some(word) = self.words.get(&(bank, offset)) {
            return Some(*word);
        }
        let at = usize::try_from(offset).ok()?;
        let bytes = self.banks.get(&bank)?.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }
}
