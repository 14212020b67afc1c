//! Whatever keeps the flash busy, the other core's fetches wait for it, however the run is cut; and what a lone core
//! takes does not depend on arbitration.

use crate::board::{Board, Options};
use crate::boards::create_board_of_chip;
use crate::scenarios::image::{boot_block_checksum, build_elf_file};

const SRAM: u32 = 0x2000_0000;
/// Core 1's code in a bank of its own.
const SCRATCH: u32 = 0x2004_1000;
const FLASH: u32 = 0x1000_0000;
/// Core 1's code in flash, over two lines, and a word in another line.
const SECOND: u32 = 0x1000_1000;
const WORD: u32 = 0x1000_2000;

const NOP: u16 = 0xbf00;
/// ldr r1, [r0]; str r1, [r0]; ldm r0, {r1-r4}.
const LOAD: u16 = 0x6801;
const STORE: u16 = 0x6001;
const LOAD_FOUR: u16 = 0xc81e;

fn bytes(halves: &[u16]) -> Vec<u8> {
    halves.iter().flat_map(|half| half.to_le_bytes()).collect()
}

/// Core 0, in SRAM, does two things at an address in a loop: ldr r0,=address; both; nop; b back to ldr. Core 1, if it
/// is to, loops over two lines.
fn pico(address: u32, what: [u16; 2], second: Option<u32>) -> Box<dyn Board> {
    let first = [0x4802, what[0], what[1], NOP, 0xe7fa, NOP, address as u16, (address >> 16) as u16];
    let around = [NOP, NOP, NOP, NOP, NOP, NOP, 0xe7f8];
    let mut flash = bytes(&around);
    flash.resize((WORD - SECOND) as usize + 16, 0);
    let mut boot = vec![0; 252];
    boot.extend(boot_block_checksum(&boot).to_le_bytes());
    let pieces = [(SRAM, bytes(&first)), (SCRATCH, bytes(&around)), (FLASH, boot), (SECOND, flash)];
    let options = Options { cores: 1 + usize::from(second.is_some()), ..Options::default() };
    let mut board = create_board_of_chip("rp2040", &options).expect("a chip");
    board.load_image(&build_elf_file(SRAM | 1, &pieces), "flash.elf").expect("an image");
    assert!(board.set_register(0, "pc", SRAM));
    if let Some(second) = second {
        assert!(board.set_register(1, "pc", second));
    }
    board
}

/// What keeps the flash busy: a line that is filled, one that is filled anew, words around the cache, registers whose
/// alias takes longer.
const WAYS: [(u32, [u16; 2]); 5] = [
    (WORD, [STORE, LOAD]),
    (0x1200_0000 | WORD, [LOAD, NOP]),
    (0x1300_0000 | WORD, [LOAD, NOP]),
    (0x1300_0000 | WORD, [LOAD_FOUR, NOP]),
    (0x1800_1028, [LOAD, NOP]),
];

/// Where both cores are after every slice, and what they waited for.
fn seen(board: &mut dyn Board) -> Vec<(u64, u32, u64, u64)> {
    let of = |core| {
        let (at, stats) = (board.core_position(core), board.core_stats(core));
        (at.t, at.pc, stats.bus_wait_cycles, stats.flash_wait_cycles)
    };
    (0..2).map(of).collect()
}

#[test]
fn busy_flash_is_waited_for_at_any_slice_length() {
    const END: u64 = 20_000;
    for (address, what) in WAYS {
        let mut whole = pico(address, what, Some(SECOND));
        whole.run_cycles(END);
        let expected = seen(&mut *whole);
        assert!(expected[1].2 > 50, "core 1 waits for core 0's access at {address:#x}: {expected:?}");
        for (length, profiled) in [(1, false), (7, false), (END, true)] {
            let mut board = pico(address, what, Some(SECOND));
            board.set_profiling(profiled);
            while board.current_cycle() < END {
                board.run_cycles(length.min(END - board.current_cycle()));
            }
            assert_eq!(seen(&mut *board), expected, "{what:x?} at {address:#x}, slices of {length} cycles");
        }
    }
}

#[test]
fn core_without_conflicts_takes_the_time_of_one_core() {
    for (address, what) in WAYS {
        let [alone, beside] = [None, Some(SCRATCH)].map(|second| {
            let mut board = pico(address, what, second);
            board.run_cycles(20_000);
            let stats = board.core_stats(0);
            (board.core_position(0), stats.instructions, stats.bus_wait_cycles)
        });
        assert_eq!(alone, beside, "{what:x?} at {address:#x}");
    }
}

#[test]
fn instruction_executes_in_its_time_and_not_with_the_fill_of_its_line() {
    // Core 1 in flash: str r0, [r1], the first of a line that is not there yet.
    let begin = || {
        let mut board = create_board_of_chip("rp2040", &Options::default()).expect("a chip");
        board.load_image(&elf_with_store(), "store.elf").expect("an image");
        for (core, name, value) in [(0, "pc", SRAM), (1, "pc", SECOND), (1, "r0", 7), (1, "r1", SRAM + 0x100)] {
            assert!(board.set_register(core, name, value), "{name}");
        }
        board
    };
    let word = |board: &mut dyn Board| board.read_memory(SRAM + 0x100, 1).expect("SRAM")[0];
    let mut board = begin();
    board.run_cycles(10);
    let filled = board.core_position(1);
    assert_eq!((filled.pc, word(&mut *board)), (SECOND, 0), "{filled:?}");
    assert!(filled.t > 30, "no line was filled: {filled:?}");
    board.run_cycles(filled.t - 10);
    assert_eq!(word(&mut *board), 0, "a store before its cycle");
    board.run_cycles(2);
    assert_eq!((word(&mut *board), board.core_position(1).pc), (7, SECOND + 2));
    // A probe there changes nothing.
    let mut probed = begin();
    probed.stop_before_address(SECOND);
    probed.run_cycles(10);
    assert_eq!(probed.core_position(1), filled);
    let stop = probed.run_cycles(1000);
    assert_eq!((stop.core, stop.cycle), (1, filled.t), "{stop:?}");
}

/// Core 0 stays where it is, in SRAM; core 1 stores and stays, in flash.
fn elf_with_store() -> Vec<u8> {
    let mut boot = vec![0; 252];
    boot.extend(boot_block_checksum(&boot).to_le_bytes());
    build_elf_file(SRAM | 1, &[(SRAM, bytes(&[0xe7fe])), (FLASH, boot), (SECOND, bytes(&[0x6008, 0xe7fe]))])
}
