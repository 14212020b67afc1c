//! Stops that instruments asked for come in their cycle, and what a core waits for does not depend on them.

use crate::board::{Board, Options};
use crate::boards::create_board_of_chip;
use crate::scenarios::CHIPS;
use crate::scenarios::image::{boot_block_checksum, build_elf_file};
use crate::stop::StopReason;

const SRAM: u32 = 0x2000_0000;
const FLASH: u32 = 0x1000_0000;
/// Core 1's code, in flash: its first fetch fills a line of the XIP cache.
const SECOND: u32 = 0x1000_1000;
/// A word in another line.
const WORD: u32 = 0x1000_2000;
/// Where core 0 stays once it has that word.
const LOADED: u32 = SRAM + 6;
const STAY: u16 = 0xe7fe;

fn bytes(halves: &[u16]) -> Vec<u8> {
    halves.iter().flat_map(|half| half.to_le_bytes()).collect()
}

/// Core 0 loads a word from flash once core 1 has begun: sev; ldr r0,=WORD; ldr r1,[r0]; b here.
fn pico(second: &[u16]) -> Box<dyn Board> {
    let first = [0xbf40, 0x4802, 0x6801, STAY, STAY, STAY, WORD as u16, (WORD >> 16) as u16];
    let mut flash = bytes(second);
    flash.resize((WORD - SECOND) as usize + 4, 0);
    let mut boot = vec![0; 252];
    boot.extend(boot_block_checksum(&boot).to_le_bytes());
    let image = build_elf_file(SRAM | 1, &[(SRAM, bytes(&first)), (FLASH, boot), (SECOND, flash)]);
    let mut board = create_board_of_chip("rp2040", &Options::default()).expect("a chip");
    board.load_image(&image, "stops.elf").expect("an image");
    assert!(board.set_register(0, "pc", SRAM) && board.set_register(1, "pc", SECOND));
    board
}

#[test]
fn core_that_reaches_its_stop_first_waits_for_the_other() {
    let mut board = pico(&[STAY]);
    board.stop_before_address(SECOND);
    let stop = board.run_cycles(10);
    assert_eq!((stop.reason, board.current_cycle()), (StopReason::Cycles, 10), "{stop:?}");
    let stop = board.run_cycles(100_000);
    assert_eq!((stop.reason, stop.core, stop.cycle), (StopReason::Until, 1, board.current_cycle()), "{stop:?}");
    assert!(stop.cycle > 50, "no line was filled: {stop:?}");
    assert!(board.core_position(0).t >= stop.cycle, "core 0 is at {}", board.core_position(0).t);
}

#[test]
fn both_cores_stops_come_in_the_order_of_time() {
    let mut board = pico(&[STAY]);
    [SECOND, SRAM + 2].into_iter().for_each(|site| board.stop_before_address(site));
    let stops: Vec<_> = (0..2).map(|_| board.run_cycles(100_000)).collect();
    assert_eq!(stops.iter().map(|stop| stop.core).collect::<Vec<_>>(), [0, 1], "{stops:?}");
    assert!(stops[0].cycle < stops[1].cycle, "{stops:?}");
}

#[test]
fn line_is_waited_for_though_the_core_that_fills_it_sleeps() {
    let loaded_at = |second: &[u16], probed: bool| {
        let mut board = pico(second);
        board.stop_before_address(LOADED);
        if probed {
            board.stop_before_address(SECOND);
        }
        loop {
            let stop = board.run_cycles(100_000);
            assert_eq!(stop.reason, StopReason::Until, "{stop:?}");
            if stop.core == 0 {
                return stop.cycle;
            }
        }
    };
    let awake = loaded_at(&[STAY], false);
    for second in [STAY, 0xbf30, 0xbe00] {
        assert_eq!(
            [false, true].map(|probed| loaded_at(&[second], probed)),
            [awake; 2],
            "core 1 executes {second:04x}"
        );
    }
}

/// svc; b back, in RAM with its vectors; the handler returns.
fn calls(chip: &str) -> Box<dyn Board> {
    let stack = SRAM + 0x1000;
    let code = SRAM + 0x40;
    let mut words = vec![stack, code + 1];
    words.resize(16, code + 9);
    let mut content: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    content.extend(bytes(&[0xdf00, 0xe7fd, STAY, STAY, 0x4770, STAY]));
    let mut board = create_board_of_chip(chip, &Options::default()).expect("a chip");
    board.load_image(&build_elf_file(code + 1, &[(SRAM, content)]), "calls.elf").expect("an image");
    assert!(board.record_writes(stack - 32, 1, true));
    board
}

#[test]
fn a_watched_word_written_after_the_end_stops_the_next_run() {
    for chip in CHIPS.into_iter().filter(|chip| *chip != "rp2040") {
        let mut board = calls(chip);
        let mut stops = Vec::new();
        for end in 1..=300 {
            while board.current_cycle() < end {
                let stop = board.run_cycles(end - board.current_cycle());
                assert!(
                    board.current_cycle() <= end,
                    "{chip} ran to {} instead of {end}: {stop:?}",
                    board.current_cycle()
                );
                stops.extend((stop.reason == StopReason::Watch).then_some(stop.cycle));
            }
        }
        let mut whole = calls(chip);
        let mut expected = Vec::new();
        while whole.current_cycle() < 300 {
            let stop = whole.run_cycles(300 - whole.current_cycle());
            expected.extend((stop.reason == StopReason::Watch).then_some(stop.cycle));
        }
        assert!(expected.len() > 3, "{chip}: {expected:?}");
        assert_eq!(stops, expected, "{chip}");
    }
}
