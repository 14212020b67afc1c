//! Hits and evictions of the timing cache do not depend on where the host keeps a board.

use crate::board::{Board, Options};
use crate::boards::create_board_of_chip;
use crate::scenarios::image::build_elf_file;
use crate::scenarios::program::append_constant_load;

const SRAM: u32 = 0x2000_0000;
const FLASH: u32 = 0x0800_0000;
/// After the vectors.
const CODE: u32 = FLASH + 0x400;
/// So many instructions that traces displace each other in the table.
const INSTRUCTIONS: usize = 24_000;
const CYCLES: u64 = 150_000;

/// A board that goes through long code again and again: adds r0,#1 ...; bx to its begin.
fn start(chip: &str) -> Box<dyn Board> {
    let mut board = create_board_of_chip(chip, &Options::default()).expect("a chip");
    let mut content: Vec<u8> = [SRAM + 0x1000, CODE | 1].iter().flat_map(|word| word.to_le_bytes()).collect();
    content.resize((CODE - FLASH) as usize, 0);
    let mut halves = vec![0x3001_u16; INSTRUCTIONS];
    append_constant_load(&mut halves, 1, CODE | 1);
    halves.push(0x4708);
    content.extend(halves.iter().flat_map(|half| half.to_le_bytes()));
    board.load_image(&build_elf_file(CODE | 1, &[(FLASH, content)]), "long.elf").expect("an image");
    board
}

#[test]
fn boards_at_other_addresses_have_the_same_hits() {
    for chip in ["stm32f103", "stm32f446"] {
        // All at once, so that no two are at the same addresses.
        let mut boards: Vec<_> = (0..3).map(|_| start(chip)).collect();
        let counts = boards.iter_mut().map(|board| {
            board.run_cycles(CYCLES);
            board.timing_counts()
        });
        let counts: Vec<_> = counts.collect();
        assert!(counts[0].hits > 100 && counts[0].misses > 1000, "{chip}: {counts:?}");
        assert!(counts.iter().all(|count| *count == counts[0]), "{chip}: {counts:?}");
    }
}
