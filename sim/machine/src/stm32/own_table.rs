//! The vector table of an image that does not begin where the chip boots.

use crate::image::ParsedImageFile;

/// VTOR has no lower bits (the smallest tables have 32 entries).
const ALIGNMENT: u32 = 128;

/// Returns the address of the vector table with which the image is started. `None` if that is the address from which
/// the chip boots.
///
/// An image in RAM alone is started from its lowest segment, as a debugger that loads it would set VTOR. An image that
/// leaves the start of the flash empty is for a boot loader, which starts it from the table that it begins with.
/// `flash_offset` is an address's place in the flash, if it is there.
pub(super) fn find_image_vector_table(
    image: &ParsedImageFile,
    flash_offset: impl Fn(u32) -> Option<u32>,
    is_ram: impl Fn(u32) -> bool,
) -> Option<u32> {
    let in_flash = image.segments.iter().filter_map(|segment| Some((flash_offset(segment.0)?, segment)));
    let Some((offset, (address, content))) = in_flash.min_by_key(|&(offset, _)| offset) else {
        return image.segments.iter().map(|segment| segment.0).min().filter(|&lowest| is_ram(lowest));
    };
    let (&stack, rest) = content.split_first_chunk()?;
    let (&reset, _) = rest.split_first_chunk()?;
    let (stack, reset) = (u32::from_le_bytes(stack), u32::from_le_bytes(reset));
    let is_content =
        |place: u32| image.segments.iter().any(|(first, bytes)| place.wrapping_sub(*first) < bytes.len() as u32);
    let is_table = stack % 4 == 0 && is_ram(stack.wrapping_sub(4)) && reset & 1 == 1 && is_content(reset & !1);
    (offset != 0 && address.is_multiple_of(ALIGNMENT) && is_table).then_some(*address)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLASH: u32 = 0x0800_0000;

    fn own_table(segments: &[(u32, [u32; 3])]) -> Option<u32> {
        let bytes = |words: &[u32; 3]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let segments: Vec<_> = segments.iter().map(|(address, words)| (*address, bytes(words))).collect();
        let mut image = ParsedImageFile::default();
        image.segments = segments;
        find_image_vector_table(
            &image,
            |address| address.checked_sub(FLASH).filter(|&offset| offset < 1 << 20),
            |address| address >> 16 == 0x2000,
        )
    }

    #[test]
    fn an_image_behind_a_boot_loader_has_its_own_table() {
        let table = |address: u32| [0x2001_0000, address + 9, 0];
        for address in [FLASH + 0x80, FLASH + 0x4000] {
            assert_eq!(own_table(&[(address, table(address))]), Some(address));
            assert_eq!(own_table(&[(FLASH + 0x8000, [0; 3]), (address, table(address))]), Some(address));
            assert_eq!(own_table(&[(FLASH, [0; 3]), (address, table(address))]), None, "with its boot loader");
        }
        assert_eq!(own_table(&[(0x2000_0100, [0; 3]), (0x2000_0000, [0; 3])]), Some(0x2000_0000));
    }

    #[test]
    fn bad_vector_table_is_ignored() {
        let at = FLASH + 0x4000;
        for table in [
            [0x2001_0000, at + 8, 0],
            [0x2001_0000, at + 13, 0],
            [0x2001_0002, at + 9, 0],
            [0x2001_0004, at + 9, 0],
            [0, at + 9, 0],
        ] {
            assert_eq!(own_table(&[(at, table)]), None, "{table:x?}");
        }
        assert_eq!(own_table(&[(at + 4, [0x2001_0000, at + 13, 0])]), None, "VTOR has no such address");
    }
}
