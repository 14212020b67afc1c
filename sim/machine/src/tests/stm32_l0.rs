//! The STM32L0 machine: memory map, flash waits by the cycle, single-cycle port, exceptions, instruments.

use crate::board::{Board, Options};
use crate::boards::create_board_of_chip;

const FLASH: u32 = 0x0800_0000;
const CODE: u32 = FLASH + 0x100;
const LITERALS: u32 = FLASH + 0x200;
const HANDLER: u32 = FLASH + 0x300;
const SYSTICK: usize = 15;
const NOP: u16 = 0xbf00;
const WFI: u16 = 0xbf30;
const BACK_TO_SELF: u16 = 0xe7fe;
const BX_LR: u16 = 0x4770;

/// `ldr r<register>, =LITERALS[index]` as the instruction at this place in the code.
fn literal(register: u16, place: usize, index: u32) -> u16 {
    let pc = (CODE + 2 * place as u32 + 4) & !3;
    0x4800 | register << 8 | ((LITERALS + 4 * index - pc) / 4) as u16
}

/// An ELF image with one segment at the start of the flash.
fn elf(content: &[u8]) -> Vec<u8> {
    let mut image = vec![0x7f, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let half = |image: &mut Vec<u8>, value: u16| image.extend(value.to_le_bytes());
    let word = |image: &mut Vec<u8>, value: u32| image.extend(value.to_le_bytes());
    half(&mut image, 2);
    half(&mut image, 40);
    for value in [1, CODE | 1, 52, 0, 0x0500_0000] {
        word(&mut image, value);
    }
    for value in [52, 32, 1, 40, 0, 0] {
        half(&mut image, value);
    }
    for value in [1, 84, FLASH, FLASH, content.len() as u32, content.len() as u32, 5, 4] {
        word(&mut image, value);
    }
    image.extend(content);
    image
}

/// A board that begins to execute `code`, with words of data and a handler that every exception has.
fn start(chip: &str, settings: &[(&str, u64)], code: &[u16], literals: &[u32], handler: &[u16]) -> Box<dyn Board> {
    let mut content = vec![0; 0x400];
    let mut put = |at: u32, bytes: &[u8]| {
        let at = (at - FLASH) as usize;
        content[at..at + bytes.len()].copy_from_slice(bytes);
    };
    put(FLASH, &0x2000_2000_u32.to_le_bytes());
    put(FLASH + 4, &(CODE | 1).to_le_bytes());
    for vector in 2..48 {
        put(FLASH + 4 * vector, &(HANDLER | 1).to_le_bytes());
    }
    for (base, halfwords) in [(CODE, code), (HANDLER, handler)] {
        for (index, half) in halfwords.iter().enumerate() {
            put(base + 2 * index as u32, &half.to_le_bytes());
        }
    }
    for (index, value) in literals.iter().enumerate() {
        put(LITERALS + 4 * index as u32, &value.to_le_bytes());
    }
    let mut board = create_board_of_chip(chip, &Options::default()).expect("a known chip");
    for (key, value) in settings {
        board.set_timing_rule(key, *value).expect("a setting of the L0");
    }
    board.load_image(&elf(&content), "test.elf").expect("an image");
    board
}

/// Cycles from the instruction at place `from` of the code to the one at place `to`.
fn cycles(board: &mut dyn Board, from: usize, to: usize) -> u64 {
    let at = |place: usize| CODE + 2 * place as u32;
    let interval = board.measure_between_addresses(at(from), at(to));
    board.stop_before_address(at(to));
    let stop = board.run_cycles(100_000);
    assert_eq!(stop.reason.result_name(), "until", "{stop:?}");
    board.address_interval_statistics(interval).expect("measured").total_cycles
}

const NO_WAIT: &[(&str, u64)] = &[("flash.wait_states", 0)];
const BARE: &[(&str, u64)] = &[("flash.wait_states", 1), ("flash.prefetch", 0), ("flash.buffers_off", 1)];
const PREFETCH: &[(&str, u64)] = &[("flash.wait_states", 1), ("flash.prefetch", 1)];

#[test]
fn straight_code_pays_a_wait_a_word_unless_it_is_prefetched() {
    let mut code = [NOP; 40];
    code[39] = BACK_TO_SELF;
    let run = |settings| cycles(&mut *start("stm32l053", settings, &code, &[], &[BX_LR]), 8, 32);
    assert_eq!(run(NO_WAIT), 24);
    assert_eq!(run(BARE), 24 + 12, "a wait for each of twelve words");
    assert_eq!(run(PREFETCH), 24, "the array keeps up with two halfwords in two cycles");
}

#[test]
fn branch_waits_for_its_target() {
    // b to place 6; target at a word's start.
    let code = [NOP, NOP, NOP, NOP, 0xe000, NOP, NOP, NOP, NOP, BACK_TO_SELF];
    let run = |settings| cycles(&mut *start("stm32l053", settings, &code, &[], &[BX_LR]), 4, 6);
    assert_eq!(run(NO_WAIT), 2);
    assert_eq!(run(BARE), 3);
}

#[test]
fn a_buffered_loop_does_not_wait() {
    // movs r0,#100; subs r0,#1; bne: from the second round on everything is in the buffers.
    let code = [0x2064, NOP, 0x3801, 0xd1fd, NOP, NOP, BACK_TO_SELF];
    let settings = [("flash.wait_states", 1), ("flash.prefetch", 0)];
    let mut waits = start("stm32l053", &settings, &code, &[], &[BX_LR]);
    let mut free = start("stm32l053", NO_WAIT, &code, &[], &[BX_LR]);
    let (waits, free) = (cycles(&mut *waits, 2, 4), cycles(&mut *free, 2, 4));
    // `between` keeps the last start of 100 rounds: only the last round counts.
    assert!(waits <= free + 2, "{waits} against {free}");
}

#[test]
fn ports_answer_in_one_cycle_and_bridges_in_more() {
    const GPIOA_IDR: u32 = 0x5000_0010;
    const TIM2_CNT: u32 = 0x4000_0024;
    const RAM: u32 = 0x2000_0100;
    let code = [literal(0, 0, 0), literal(1, 1, 1), literal(2, 2, 2), NOP, 0x6803, 0x680b, 0x6813, BACK_TO_SELF];
    let literals = [GPIOA_IDR, TIM2_CNT, RAM];
    let took = |from| cycles(&mut *start("stm32l073", NO_WAIT, &code, &literals, &[BX_LR]), from, from + 1);
    assert_eq!(took(4), 1, "single-cycle port");
    // Bridge 2 and transfer 2 clocks, one of which is the data phase.
    assert_eq!(took(5), 2 + 3, "APB");
    assert_eq!(took(6), 2, "RAM");
}

/// Sleeps for ever; SysTick counts in r7 every 1000 cycles.
fn ticking(settings: &[(&str, u64)]) -> Box<dyn Board> {
    let mut code = vec![literal(0, 0, 0), literal(1, 1, 1), 0x6041, 0x2100, 0x6081, 0x2107, 0x6001];
    code.extend([WFI, 0xe7fd]);
    start("stm32l053", settings, &code, &[0xe000_e010, 999], &[0x3701, BX_LR])
}

#[test]
fn systick_interrupts_by_the_clock_and_sleep_is_counted() {
    for settings in [NO_WAIT, BARE, PREFETCH] {
        let mut board = ticking(settings);
        assert_eq!(board.run_cycles(100_100).reason.result_name(), "cycles");
        let stats = board.core_stats(0);
        assert_eq!(stats.exceptions[SYSTICK], 100, "{settings:?}");
        let r7 = board.core_registers(0).into_iter().find(|(name, _)| name == "r7");
        assert_eq!(r7, Some(("r7".to_owned(), 100)));
        assert!(stats.sleep_cycles > 90_000 && stats.cycles == 100_100, "{stats:?}");
    }
}

#[test]
fn slices_and_probes_change_no_cycle() {
    for settings in [NO_WAIT, BARE, PREFETCH] {
        let mut whole = ticking(settings);
        whole.run_cycles(20_000);
        let mut sliced = ticking(settings);
        sliced.record_executions(HANDLER, 1);
        sliced.set_exception_tracing(true);
        sliced.set_profiling(true);
        for _ in 0..2_857 {
            sliced.run_cycles(7);
        }
        sliced.run_cycles(20_000 - sliced.current_cycle());
        assert_eq!(sliced.core_registers(0), whole.core_registers(0));
        let counts = |board: &dyn Board| {
            let stats = board.core_stats(0);
            (stats.cycles, stats.instructions, stats.sleep_cycles, stats.flash_wait_cycles, stats.exception_cycles)
        };
        assert_eq!(counts(&*sliced), counts(&*whole), "{settings:?}");
        assert!(!sliced.take_events().is_empty());
    }
}

#[test]
fn memories_are_where_the_manual_has_them() {
    for (chip, flash, ram, eeprom) in [("stm32l053", 64, 8, 2), ("stm32l073", 192, 20, 6)] {
        let mut board = start(chip, &[], &[BACK_TO_SELF], &[], &[BX_LR]);
        for (base, kilobytes) in [(FLASH, flash), (0, flash), (0x2000_0000, ram), (0x0808_0000, eeprom)] {
            assert!(board.read_memory(base + kilobytes * 1024 - 4, 4).is_some(), "{chip} {base:#x}");
            assert!(board.read_memory(base + kilobytes * 1024, 1).is_none(), "{chip} {base:#x}");
        }
        assert_eq!(board.read_memory(4, 4), board.read_memory(FLASH + 4, 4), "the flash shows at 0");
        assert!(board.is_executable(0x100) && board.is_executable(0x2000_0000) && !board.is_executable(0x0808_0000));
    }
}

#[test]
fn unmapped_loads_fault_and_a_second_fault_locks_up() {
    let code = [literal(0, 0, 0), 0x6800, BACK_TO_SELF];
    let mut board = start("stm32l053", &[], &code, &[0x6000_0000], &[BX_LR]);
    board.stop_before_address(HANDLER);
    assert_eq!(board.run_cycles(1_000).reason.result_name(), "until");
    assert_eq!(board.core_stats(0).exceptions[3], 1);
    assert!(board.warnings()[0].contains("0x08000102"), "{:?}", board.warnings());
    let mut twice = start("stm32l053", &[], &code, &[0x6000_0000], &[0x6800, BX_LR]);
    assert_eq!(twice.run_cycles(1_000).reason.result_name(), "lockup");
}

#[test]
fn watched_words_and_code_in_ram_are_seen() {
    // str r1,[r0]; the word becomes code that runs: nop; bkpt.
    let code = [literal(0, 0, 0), literal(1, 1, 1), 0x6001, 0x3001, 0x4700];
    let mut board = start("stm32l053", &[], &code, &[0x2000_0100, 0xbe00_bf00], &[BX_LR]);
    assert!(board.record_writes(0x2000_0100, 5, true) && !board.record_writes(0x6000_0000, 5, true));
    assert_eq!(board.run_cycles(1_000).reason.result_name(), "watch");
    board.stop_before_address(0x2000_0102);
    assert_eq!(board.run_cycles(1_000).reason.result_name(), "until");
}
