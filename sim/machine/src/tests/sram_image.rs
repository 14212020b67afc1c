//! Images of the Pico that lie in its SRAM.

/// First address of the SRAM.
pub const SRAM: u32 = 0x2000_0000;

/// An ELF image with one segment at the start of the SRAM.
pub fn image(content: &[u8]) -> Vec<u8> {
    let bytes = content.len() as u32;
    let mut elf = vec![0x7f, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    elf.extend([2_u16, 40].iter().flat_map(|half| half.to_le_bytes()));
    elf.extend([1, SRAM | 1, 52, 0, 0x0500_0000_u32].iter().flat_map(|word| word.to_le_bytes()));
    elf.extend([52_u16, 32, 1, 40, 0, 0].iter().flat_map(|half| half.to_le_bytes()));
    elf.extend([1, 84, SRAM, SRAM, bytes, bytes, 5, 4_u32].iter().flat_map(|word| word.to_le_bytes()));
    elf.extend(content);
    elf
}
