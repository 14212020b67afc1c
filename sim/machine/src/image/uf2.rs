//! UF2 files: blocks that each say where their content goes, which one they are, and how many there are.

use std::collections::{BTreeMap, BTreeSet};

use super::{ImageError, ParsedImageFile};

const MAGIC: [u32; 3] = [0x0a32_4655, 0x9e5d_5157, 0x0ab1_6f30];
const FAMILY_RP2040: u32 = 0xe48b_ff56;
const NOT_MAIN_FLASH: u32 = 1;
const FAMILY_PRESENT: u32 = 0x2000;

/// Parses a UF2 file (format: github.com/microsoft/uf2), which has neither symbols nor an entry point.
pub(super) fn parse_uf2(data: &[u8], name: &str) -> Result<ParsedImageFile, ImageError> {
    if !data.len().is_multiple_of(512) {
        return Err(ImageError(format!(
            "{name} is a broken UF2 file: {} bytes is not a whole number of 512-byte blocks; copy it again",
            data.len()
        )));
    }
    let blocks = data.chunks_exact(512).enumerate().map(|(number, block)| Block::parse_uf2_block(block, number, name));
    let blocks = blocks.collect::<Result<Vec<_>, _>>()?;
    let ours: Vec<&Block> = blocks.iter().filter(|block| block.is_ours).collect();
    if ours.is_empty() {
        return Err(ImageError(format!(
            "{name} contains no block for the RP2040 (family 0xe48bff56); use the UF2 of this board"
        )));
    }
    if let Some(lack) = wrong_block_numbers_text(&ours)
        .filter(|_| wrong_block_numbers_text(&blocks.iter().collect::<Vec<_>>()).is_some())
    {
        return Err(ImageError(format!("{name} is a broken UF2 file: {lack}; copy it again")));
    }
    let mut pieces: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    for block in ours {
        let before = pieces.insert(block.address, block.content.to_vec());
        if before.is_some_and(|before| before != block.content) {
            return Err(ImageError(format!(
                "{name} is a broken UF2 file: two blocks give {:#010x} different content; copy it again",
                block.address
            )));
        }
    }
    let ends = pieces.iter().map(|(address, bytes)| u64::from(*address) + bytes.len() as u64);
    if let Some((_, second)) = ends.zip(pieces.keys().skip(1)).find(|(end, next)| *end > u64::from(**next)) {
        return Err(ImageError(format!(
            "{name} is a broken UF2 file: the block for {second:#010x} overlaps the one before it; copy it again"
        )));
    }
    let entry = *pieces.keys().next().unwrap_or(&0);
    Ok(ParsedImageFile { segments: join_adjacent_memory_pieces(pieces), entry, ..ParsedImageFile::default() })
}

/// One block of a UF2 file.
struct Block<'a> {
    /// Whether it is for the flash of the RP2040.
    is_ours: bool,
    address: u32,
    content: &'a [u8],
    number: u32,
    /// How many blocks there are, by what this one says.
    total: u32,
}

impl<'a> Block<'a> {
    /// Parses the block at a place in the file.
    fn parse_uf2_block(block: &'a [u8], place: usize, name: &str) -> Result<Self, ImageError> {
        let word = |offset: usize| {
            u32::from_le_bytes([block[offset], block[offset + 1], block[offset + 2], block[offset + 3]])
        };
        if [word(0), word(4), word(508)] != MAGIC {
            return Err(ImageError(format!(
                "{name} is a broken UF2 file: block {place} has a wrong magic number; copy it again"
            )));
        }
        let (flags, bytes) = (word(8), word(16) as usize);
        let is_ours = flags & NOT_MAIN_FLASH == 0 && (flags & FAMILY_PRESENT == 0 || word(28) == FAMILY_RP2040);
        if is_ours && bytes > 476 {
            return Err(ImageError(format!(
                "{name} is a broken UF2 file: block {place} claims {bytes} bytes; copy it again"
            )));
        }
        let content = &block[32..32 + bytes.min(476)];
        Ok(Block { is_ours, address: word(12), content, number: word(20), total: word(24) })
    }
}

/// Returns what is wrong with the numbers of these blocks, as the end of a message. `None` if the blocks are complete.
/// Each block says its number and the total, which counts the blocks of its family or of the whole file.
fn wrong_block_numbers_text(blocks: &[&Block]) -> Option<String> {
    let total = blocks.first()?.total;
    if let Some(other) = blocks.iter().find(|block| block.total != total) {
        return Some(format!("one block states a total of {total} blocks and another {}", other.total));
    }
    let numbers: BTreeSet<u32> = blocks.iter().map(|block| block.number).collect();
    if let Some(high) = numbers.last().filter(|high| **high >= total) {
        return Some(format!("a block has the number {high}, but there are only {total} blocks"));
    }
    let gap = (0..total).find(|number| !numbers.contains(number))?;
    Some(format!("it has {} of its {total} blocks, and block {gap} is missing", numbers.len()))
}

/// Joins pieces of memory whose addresses follow each other.
fn join_adjacent_memory_pieces(pieces: BTreeMap<u32, Vec<u8>>) -> Vec<(u32, Vec<u8>)> {
    let mut joined: Vec<(u32, Vec<u8>)> = Vec::new();
    for (address, bytes) in pieces {
        match joined.last_mut() {
            Some((base, last)) if u64::from(*base) + last.len() as u64 == u64::from(address) => last.extend(bytes),
            _ => joined.push((address, bytes)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Address, number, total and family of a block whose content repeats one byte.
    fn block(address: u32, [number, total]: [u32; 2], fill: u8, family: u32) -> Vec<u8> {
        let mut block = vec![0; 512];
        let words = [MAGIC[0], MAGIC[1], FAMILY_PRESENT, address, 256, number, total, family];
        for (index, word) in words.into_iter().enumerate() {
            block[index * 4..index * 4 + 4].copy_from_slice(&word.to_le_bytes());
        }
        block[32..288].fill(fill);
        block[508..].copy_from_slice(&MAGIC[2].to_le_bytes());
        block
    }

    fn error(blocks: &[Vec<u8>]) -> String {
        ParsedImageFile::parse_firmware_image(&blocks.concat(), "x.uf2").unwrap_err().0
    }

    #[test]
    fn blocks_are_joined_and_other_families_skipped() {
        for numbers in [[[1, 2], [0, 2], [0, 1]], [[0, 3], [1, 3], [2, 3]]] {
            let mut data = block(0x1000_0100, numbers[0], 3, FAMILY_RP2040);
            data.extend(block(0x1000_0000, numbers[1], 1, FAMILY_RP2040));
            data.extend(block(0x2000_0000, numbers[2], 9, 0xdead_beef));
            let image = ParsedImageFile::parse_firmware_image(&data, "x.uf2").unwrap();
            assert_eq!(image.segments.len(), 1);
            assert_eq!(image.segments[0].0, 0x1000_0000);
            assert_eq!(image.segments[0].1[255..257], [1, 3]);
        }
    }

    #[test]
    fn uf2_file_with_a_wrong_block_count_is_refused() {
        let part = |place: u32, fill: u8| block(0x1000_0000 + place * 256, [place, 3], fill, FAMILY_RP2040);
        let whole = [part(0, 1), part(1, 2), part(2, 3)];
        assert_eq!(ParsedImageFile::parse_firmware_image(&whole.concat(), "x").unwrap().segments[0].1.len(), 768);
        assert_eq!(
            ParsedImageFile::parse_firmware_image(&[&whole[..], &whole[..1]].concat().concat(), "x").unwrap().segments
                [0]
            .1
            .len(),
            768
        );
        assert!(error(&[part(0, 1), part(2, 3)]).contains("2 of its 3 blocks, and block 1 is missing"));
        assert!(error(&whole[..2]).contains("block 2 is missing"));
        assert!(error(&whole[1..]).contains("block 0 is missing"));
        assert!(error(&[&whole[..], &[part(1, 9)]].concat()).contains("two blocks give 0x10000100 different"));
        assert!(error(&[part(0, 1), part(1, 2), part(3, 3)]).contains("has the number 3, but there are only 3 blocks"));
        let other = block(0x1000_0200, [2, 4], 3, FAMILY_RP2040);
        assert!(error(&[part(0, 1), part(1, 2), other]).contains("one block states a total of 3 blocks and another 4"));
        let near = block(0x1000_0180, [2, 3], 3, FAMILY_RP2040);
        assert!(error(&[part(0, 1), part(1, 2), near]).contains("0x10000180 overlaps the one before it"));
    }
}
