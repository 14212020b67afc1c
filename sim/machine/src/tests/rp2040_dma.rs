//! What DMA writes is seen as what a core writes: by watches, and by code that was decoded.

use crate::board::Board;
use crate::rp2040::{Machine, Options};
use crate::tests::sram_image::{SRAM, image};

const FROM: u32 = SRAM + 0x200;
const TO: u32 = SRAM + 0x300;
const WORD: u32 = 0xdeca_fbad;
/// Writes value after value to address after address, from the table at SRAM + 0x40 on; then stays where it is.
const CODE: [u16; 10] = [
    0x4803,
    0xc806,
    0x2900,
    0xd001,
    0x600a,
    0xe7fa,
    0xe7fe,
    0xbf00,
    (SRAM & 0xffff) as u16 + 0x40,
    (SRAM >> 16) as u16,
];

/// A machine whose core 0 starts one transfer of 1 << `size` bytes from `FROM` to `to`.
fn machine(to: u32, size: u32) -> Machine {
    // DMA out of reset; channel 0: addresses, count, then enabled, of that size, always requested.
    let table = [
        (0x4000_f000, 1 << 2),
        (0x5000_0000, FROM),
        (0x5000_0004, to),
        (0x5000_0008, 1),
        (0x5000_000c, 1 | size << 2 | 0x3f << 15),
        (0, 0),
    ];
    let mut content: Vec<u8> = CODE.iter().flat_map(|half| half.to_le_bytes()).collect();
    content.resize(0x40, 0);
    content.extend(table.iter().flat_map(|&(address, value)| [address, value]).flat_map(u32::to_le_bytes));
    content.resize((FROM - SRAM) as usize, 0);
    content.extend(WORD.to_le_bytes());
    content.resize((TO - SRAM) as usize + 8, 0);
    let mut machine = Machine::new(Options { cores: 1, ..Options::default() });
    machine.load_image(&image(&content), "test.elf").expect("an image");
    machine
}

#[test]
fn a_watched_word_that_dma_writes_stops_the_run() {
    for (offset, size, expected) in [(0, 2, WORD), (2, 1, WORD << 16), (1, 0, (WORD & 0xff) << 8)] {
        let mut machine = machine(TO + offset, size);
        assert!(machine.record_writes(TO, 7, true));
        let stop = machine.run_cycles(10_000);
        assert_eq!((stop.reason.result_name(), stop.address), ("watch", TO), "{size}: {}", stop.detail);
        let events = machine.take_events();
        assert_eq!(
            events.iter().map(|event| (event.id, event.value, event.pc)).collect::<Vec<_>>(),
            [(7, expected, 0)]
        );
        assert!(events[0].cycle <= machine.current_cycle());
    }
}

#[test]
fn word_watched_without_a_stop_is_recorded() {
    let mut machine = machine(TO + 4, 2);
    assert!(machine.record_writes(TO, 7, true));
    assert!(machine.record_writes(TO + 4, 8, false));
    assert_eq!(machine.run_cycles(10_000).reason.result_name(), "cycles");
    let events = machine.take_events();
    assert_eq!(events.iter().map(|event| (event.id, event.value)).collect::<Vec<_>>(), [(8, WORD)]);
}
