//! Stops that instruments asked for come in their cycle.

use crate::board::{Board, Options, board};
use crate::scenarios::CHIPS;
use crate::scenarios::image::elf;
use crate::stop::StopReason;

const SRAM: u32 = 0x2000_0000;
const STAY: u16 = 0xe7fe;

fn bytes(halves: &[u16]) -> Vec<u8> {
    halves.iter().flat_map(|half| half.to_le_bytes()).collect()
}

/// svc; b back, in RAM with its vectors; the handler returns.
fn calls(chip: &str) -> Box<dyn Board> {
    let stack = SRAM + 0x1000;
    let code = SRAM + 0x40;
    let mut words = vec![stack, code + 1];
    words.resize(16, code + 9);
    let mut content: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    content.extend(bytes(&[0xdf00, 0xe7fd, STAY, STAY, 0x4770, STAY]));
    let mut board = board(chip, &Options::default()).expect("a chip");
    board.load(&elf(code + 1, &[(SRAM, content)]), "calls.elf").expect("an image");
    assert!(board.watch_write(stack - 32, 1, true));
    board
}

#[test]
fn a_watched_word_written_behind_the_end_stops_the_next_run() {
    for chip in CHIPS.into_iter().filter(|chip| *chip != "rp2040") {
        let mut board = calls(chip);
        let mut stops = Vec::new();
        for end in 1..=300 {
            while board.cycle() < end {
                let stop = board.run(end - board.cycle());
                assert!(board.cycle() <= end, "{chip} ran to {} instead of {end}: {stop:?}", board.cycle());
                stops.extend((stop.reason == StopReason::Watch).then_some(stop.cycle));
            }
        }
        let mut whole = calls(chip);
        let mut expected = Vec::new();
        while whole.cycle() < 300 {
            let stop = whole.run(300 - whole.cycle());
            expected.extend((stop.reason == StopReason::Watch).then_some(stop.cycle));
        }
        assert!(expected.len() > 3, "{chip}: {expected:?}");
        assert_eq!(stops, expected, "{chip}");
    }
}
