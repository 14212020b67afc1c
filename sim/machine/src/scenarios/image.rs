//! Image files: ELF and UF2, right ones and wrong ones.

/// Returns an ELF file for Arm with these segments: load address, content.
pub(crate) fn build_elf_file(entry: u32, segments: &[(u32, Vec<u8>)]) -> Vec<u8> {
    const HEADER: u32 = 52;
    const ROW: u32 = 32;
    let mut image = vec![0x7f, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    image.extend([2_u16, 40].iter().flat_map(|half| half.to_le_bytes()));
    image.extend([1, entry, HEADER, 0, 0x0500_0000].iter().flat_map(|word| word.to_le_bytes()));
    let count = segments.len() as u16;
    image.extend([HEADER as u16, ROW as u16, count, 40, 0, 0].iter().flat_map(|half| half.to_le_bytes()));
    let mut at = HEADER + ROW * u32::from(count);
    for (address, content) in segments {
        let bytes = content.len() as u32;
        image.extend([1, at, *address, *address, bytes, bytes, 5, 4].iter().flat_map(|word| word.to_le_bytes()));
        at += bytes;
    }
    segments.iter().for_each(|(_, content)| image.extend(content));
    image
}

/// Returns a UF2 file of one block for each piece of up to 476 bytes, all with these flags and this family.
pub(crate) fn build_uf2_file(pieces: &[(u32, Vec<u8>)], flags: u32, family: u32) -> Vec<u8> {
    let mut image = Vec::new();
    for (number, (address, content)) in pieces.iter().enumerate() {
        let mut block = vec![0; 512];
        let count = pieces.len() as u32;
        let head = [0x0a32_4655, 0x9e5d_5157, flags, *address, content.len() as u32, number as u32, count, family];
        for (index, word) in head.into_iter().enumerate() {
            block[index * 4..index * 4 + 4].copy_from_slice(&u32::to_le_bytes(word));
        }
        let held = content.len().min(476);
        block[32..32 + held].copy_from_slice(&content[..held]);
        block[508..].copy_from_slice(&0x0ab1_6f30_u32.to_le_bytes());
        image.extend(block);
    }
    image
}

/// Returns the checksum of a second-stage boot block of the RP2040: CRC-32 without reflection over its 252 bytes.
pub(crate) fn boot_block_checksum(block: &[u8]) -> u32 {
    block.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte) << 24, |sum, _| sum << 1 ^ if sum >> 31 != 0 { 0x04c1_1db7 } else { 0 })
    })
}
