//! A program in RAM that writes value after value to address after address, with a pause after each. It needs nothing
//! of the instruction set but what all cores have.

use crate::board::{Board, Options};
use crate::boards::create_board_of_chip;
use crate::scenarios::image::build_elf_file;

/// First address of RAM.
pub const RAM: u32 = 0x2000_0000;
/// Where the program begins, behind room for vectors.
const CODE: u32 = RAM + 0x40;
/// Where its table begins.
const TABLE: u32 = RAM + 0x80;

/// A board of that chip, whose program is about to write the rows of a table (address, value), and pauses for `turns`
/// of a loop after each. Then it stays where it is. `content`: what lies at other addresses of RAM, beyond the table.
pub fn writer(chip: &str, table: &[(u32, u32)], turns: u32, content: &[(u32, Vec<u8>)]) -> Box<dyn Board> {
    let mut image: Vec<u8> = [RAM + 0x2000, CODE + 1].into_iter().flat_map(u32::to_le_bytes).collect();
    image.resize(0x40, 0);
    // ldr r0,=TABLE; 1: ldmia r0!,{r1,r2}; cmp r1,#0; beq 3f; str r2,[r1]; ldr r3,=turns; 2: subs r3,#1; bne 2b; b 1b;
    // 3: b 3b
    let code = [0x4804, 0xc806, 0x2900, 0xd004, 0x600a, 0x4b03, 0x3b01, 0xd1fd, 0xe7f7, 0xe7fe];
    image.extend(code.into_iter().flat_map(u16::to_le_bytes));
    image.extend([TABLE, turns].into_iter().flat_map(u32::to_le_bytes));
    image.resize((TABLE - RAM) as usize, 0);
    image.extend(
        table.iter().chain(&[(0, 0)]).flat_map(|&(address, value)| [address, value]).flat_map(u32::to_le_bytes),
    );
    for (address, bytes) in content {
        assert!((*address - RAM) as usize >= image.len(), "the table reaches to what lies at {address:#x}");
        image.resize((address - RAM) as usize, 0);
        image.extend(bytes);
    }
    let mut board = create_board_of_chip(chip, &Options { cores: 1, ..Options::default() }).expect("a chip");
    board.load_image(&build_elf_file(CODE + 1, &[(RAM, image)]), "writer.elf").expect("an image");
    board
}
