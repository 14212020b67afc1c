//! One core of the RP2040 locks up: the other one continues.

use crate::board::Board;
use crate::rp2040::{Machine, Options};

const SRAM: u32 = 0x2000_0000;
/// Where core 1 is put.
const SECOND: u32 = SRAM + 0x20;

/// An ELF image with one segment at the start of the SRAM.
fn elf(halfwords: &[u16]) -> Vec<u8> {
    let content: Vec<u8> = halfwords.iter().flat_map(|half| half.to_le_bytes()).collect();
    let bytes = content.len() as u32;
    let mut image = vec![0x7f, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    image.extend([2_u16, 40].iter().flat_map(|half| half.to_le_bytes()));
    image.extend([1, SRAM | 1, 52, 0, 0x0500_0000_u32].iter().flat_map(|word| word.to_le_bytes()));
    image.extend([52_u16, 32, 1, 40, 0, 0].iter().flat_map(|half| half.to_le_bytes()));
    image.extend([1, 84, SRAM, SRAM, bytes, bytes, 5, 4_u32].iter().flat_map(|word| word.to_le_bytes()));
    image.extend(content);
    image
}

/// Loads VTOR's address and that of a table without handlers from the two words eight bytes on, stores, faults: the
/// handler faults too. Starts at an address that is 2 modulo 4, or 0 modulo 4.
const FAULT_AT_2: [u16; 4] = [0x4903, 0x4a03, 0x600a, 0xde00];
const FAULT_AT_0: [u16; 4] = [0x4902, 0x4a03, 0x600a, 0xde00];
const NOP: u16 = 0xbf00;
/// 0xe000ed08, SRAM + 0x100.
const WORDS: [u16; 4] = [0xed08, 0xe000, 0x0100, 0x2000];

/// Core 0 wakes core 1 and faults for good.
fn machine(second: &[u16]) -> Machine {
    let mut code = vec![0xbf40];
    code.extend(FAULT_AT_2);
    code.resize(8, NOP);
    code.extend(WORDS);
    code.resize((SECOND - SRAM) as usize / 2, NOP);
    code.extend(second);
    // HardFault's vector in the table at SRAM + 0x100: no memory.
    code.resize(0x10c / 2, NOP);
    code.extend([0x0001, 0x6000]);
    let mut machine = Machine::new(Options::default());
    machine.load_image(&elf(&code), "test.elf").expect("an image");
    if !second.is_empty() {
        assert!(machine.set_register(1, "pc", SECOND));
    }
    machine
}

#[test]
fn other_core_continues_after_a_lockup() {
    // adds r0,#1; b back.
    let mut machine = machine(&[0x3001, 0xe7fd]);
    assert_eq!(machine.run_cycles(10_000).reason.result_name(), "cycles");
    let counted = machine.core_registers(1)[0].1;
    assert!(counted > 1_000, "{counted}");
    assert!(machine.core_stats(0).instructions < 20);
}

#[test]
fn run_ends_with_the_first_lockup_if_nothing_continues() {
    // Counts to 200 and faults too: adds; cmp r0,#200; bne.
    let mut second = vec![0x2000, 0x3001, 0x28c8, 0xd1fc];
    second.extend(FAULT_AT_0);
    second.extend([NOP; 2]);
    second.extend(WORDS);
    let mut machine = machine(&second);
    let stop = machine.run_cycles(100_000);
    assert_eq!((stop.reason.result_name(), stop.core), ("lockup", 0), "{stop:?}");
    assert!(stop.detail.contains("core 0 is locked up"), "{stop:?}");
    assert!(machine.core_stats(1).instructions > 500);
}

#[test]
fn core_that_was_never_started_does_not_count() {
    let stop = machine(&[]).run_cycles(100_000);
    assert_eq!(stop.reason.result_name(), "lockup", "{stop:?}");
    assert!(stop.detail.contains("inside a fault handler"), "{stop:?}");
}
