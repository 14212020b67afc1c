//! What was published of accesses to peripherals and of the RP2040's flash cache, on silicon, by the cycle.

use crate::board::{Board, Options};
use crate::boards::create_board_of_chip;
use crate::scenarios::image::build_elf_file;
use crate::scenarios::program::append_constant_load;
use crate::stop::StopReason;

const SRAM: u32 = 0x2000_0000;
const FLASH: u32 = 0x0800_0000;
const CODE: u32 = 0x400;
const STAY: u16 = 0xe7fe;
/// str r2, [r1]; str r3, [r1].
const SET_AND_CLEAR: [u16; 2] = [0x600a, 0x600b];

fn bytes(halves: &[u16]) -> Vec<u8> {
    halves.iter().flat_map(|half| half.to_le_bytes()).collect()
}

/// A board that begins to execute `code`: in flash, on the RP2040 in SRAM.
fn start(chip: &str, code: &[u16]) -> Box<dyn Board> {
    let mut board = create_board_of_chip(chip, &Options::default()).expect("a chip");
    let image = if chip == "rp2040" {
        build_elf_file(SRAM | 1, &[(SRAM, bytes(code))])
    } else {
        let mut words = vec![0; CODE as usize / 4];
        (words[0], words[1]) = (SRAM + 0x1000, FLASH + CODE + 1);
        let vectors: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        build_elf_file(FLASH + CODE + 1, &[(FLASH, [vectors, bytes(code)].concat())])
    };
    board.load_image(&image, "test.elf").expect("an image");
    board
}

/// Code that writes `value` to a register.
fn write(code: &mut Vec<u16>, register: u32, value: u32) {
    append_constant_load(code, 1, register);
    append_constant_load(code, 2, value);
    code.push(0x600a);
}

/// Cycles that the code takes to where it stays.
fn cycles(board: &mut dyn Board, code: &[u16]) -> u64 {
    board.stop_before_address(FLASH + CODE + 2 * code.len() as u32 - 2);
    assert_eq!(board.run_cycles(1_000_000).reason, StopReason::Until);
    board.current_cycle()
}

#[test]
fn stm32f767_stores_to_a_pin_once_a_cycle() {
    // str; str; subs r0, #1; bne: two cycles at 216 MHz [RIOT-OS pull request 16787].
    let spent = |rounds: u32| {
        let mut code = Vec::new();
        write(&mut code, 0x4002_3830, 1);
        append_constant_load(&mut code, 0, rounds);
        append_constant_load(&mut code, 1, 0x4002_0018);
        append_constant_load(&mut code, 2, 1);
        append_constant_load(&mut code, 3, 1 << 16);
        code.extend(SET_AND_CLEAR);
        code.extend([0x3801, 0xd1fb, STAY]);
        let mut board = start("stm32f767", &code);
        board.set_timing_rule("icache", 1).expect("a setting");
        cycles(&mut *board, &code)
    };
    assert_eq!(spent(1100) - spent(100), 2 * 1000);
}

#[test]
fn stm32f103_sets_and_clears_a_pin_in_four_cycles() {
    // APB2 at the core's clock: 18 MHz at 72 MHz [data sheet 2.3.21].
    let spent = |pairs: usize| {
        let mut code = Vec::new();
        write(&mut code, 0x4002_1018, 1 << 2);
        append_constant_load(&mut code, 1, 0x4001_0810);
        append_constant_load(&mut code, 2, 1);
        append_constant_load(&mut code, 3, 1 << 16);
        code.extend(SET_AND_CLEAR.repeat(pairs));
        code.push(STAY);
        cycles(&mut *start("stm32f103", &code), &code)
    };
    assert_eq!(spent(60) - spent(20), 4 * 40);
}

#[test]
fn cold_words_of_one_line_of_the_rp2040s_flash_take_the_same_time() {
    // Half a line has its own valid bit, a fill is of 4 bytes [the designer in pico-sdk issue 1182].
    const LOADS: [u16; 5] = [0x6808, 0x6848, 0x6888, 0x6808, 0x6848];
    // ldr r0, [r1] with offsets 0, 4, 8, 0, 4.
    let mut code = Vec::new();
    append_constant_load(&mut code, 1, 0x1000_0100);
    let first = code.len();
    code.extend(LOADS);
    code.push(STAY);
    let mut board = start("rp2040", &code);
    let at = |place: usize| SRAM + 2 * (first + place) as u32;
    let spans: Vec<usize> =
        (0..LOADS.len()).map(|place| board.measure_between_addresses(at(place), at(place + 1))).collect();
    assert_eq!(board.run_cycles(100_000).reason, StopReason::Cycles);
    let times: Vec<u64> =
        spans.iter().map(|&span| board.address_interval_statistics(span).expect("measured").total_cycles).collect();
    assert!(times[0] > 50 && times[..3].iter().all(|&time| time == times[0]), "{times:?}");
    assert_eq!(times[3..], [2, 2]);
}
