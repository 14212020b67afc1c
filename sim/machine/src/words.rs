//! Parts of words in memories.

/// Returns the little-endian value of up to four bytes.
#[inline(always)]
pub fn read_little_endian(memory: &[u8], offset: u32, bytes: u32) -> u32 {
    let at = offset as usize;
    match bytes {
        1 => u32::from(memory[at]),
        2 => u32::from(u16::from_le_bytes([memory[at], memory[at + 1]])),
        _ => u32::from_le_bytes([memory[at], memory[at + 1], memory[at + 2], memory[at + 3]]),
    }
}

/// Stores up to four bytes, little-endian.
pub fn write_little_endian(memory: &mut [u8], offset: u32, bytes: u32, value: u32) {
    let at = offset as usize;
    memory[at..at + bytes as usize].copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
}
