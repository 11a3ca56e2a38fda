//! What the file of machine code (ELF, as ptxas writes it) says of constant memory: its banks, and where a kernel's arguments are.

use super::constants::Constants;
use object::{Object, ObjectSection};

/// Attributes of `.nv.info.<kernel>`: their form, in the first byte; those of this form have as many bytes as the next two say.
const SIZED: u8 = 4;
/// Where the arguments are: a symbol, then offset and size, 16 bits each.
const ARGUMENTS: u8 = 0x0a;

/// Bank 3, and what the compiler has put into bank 2.
pub fn constants(image: &[u8], kernel: &str) -> Constants {
    let mut constants = Constants::default();
    let Ok(file) = object::File::parse(image) else { return constants };
    let own = format!(".nv.constant2.{kernel}");
    for (name, bank) in [(".nv.constant3", 3), (own.as_str(), 2)] {
        if let Some(bytes) = file.section_by_name(name).and_then(|s| s.data().ok()) {
            constants.bank(bank, bytes.to_vec());
        }
    }
    constants
}

/// Where the kernel's arguments begin in bank 0.
pub fn arguments(image: &[u8], kernel: &str) -> Option<u64> {
    let file = object::File::parse(image).ok()?;
    let section = file.section_by_name(&format!(".nv.info.{kernel}"))?;
    let mut rest = section.data().ok()?;
    while let [form, attribute, low, high, tail @ ..] = rest {
        let size = if *form == SIZED { usize::from(u16::from_le_bytes([*low, *high])) } else { 0 };
        let value = tail.get(..size)?;
        if (*form, *attribute) == (SIZED, ARGUMENTS)
            && let [_, _, _, _, low, high, ..] = value
        {
            return Some(u16::from_le_bytes([*low, *high]).into());
        }
        rest = tail.get(size..)?;
    }
    None
}

/// Where the first address of the stack is in bank 0.
pub fn stack(major: u32) -> u64 {
    if major >= 10 { 0x37c } else { 0x28 }
}

/// Where the number of blocks is in bank 0, by the architecture's generation.
pub fn blocks(major: u32) -> u64 {
    if major >= 10 { 0x370 } else { 0xc }
}

/// Where the number of a block's threads is in bank 0, by the architecture's generation.
pub fn threads(major: u32) -> u64 {
    if major >= 10 { 0x360 } else { 0 }
}
