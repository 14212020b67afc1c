//! A PIO beside the cores: its pins and interrupts come in the cycle in which its program makes them.

use rtoslab_lab::Kind;

use crate::board::Board;
use crate::rp2040::{Machine, Options};
use crate::tests::sram_image::{SRAM, image};

const PIO0: u32 = 0x5020_0000;
const RESETS_CLEAR: u32 = 0x4000_f000;
const GPIO2_CTRL: u32 = 0x4001_4014;
const NVIC_ISER: u32 = 0xe000_e100;
const VTOR: u32 = 0xe000_ed08;
/// RESETS: IO_BANK0 and PIO0.
const BLOCKS: u32 = 1 << 5 | 1 << 10;

/// Stores of a table at SRAM + 0x40: address and value, until an address of 0. Then sleeps for good.
fn machine(stores: &[(u32, u32)], handler: &[u16]) -> Machine {
    let code = [
        0x4804, // ldr r0, =table
        0xc806, // ldm r0!, {r1, r2}
        0x2900, // cmp r1, #0
        0xd001, // beq sleep
        0x600a, // str r2, [r1]
        0xe7fa, // b to ldm
        0xbf30, // sleep: wfi
        0xe7fd, // b sleep
        0xbf00, 0xbf00,
    ];
    let mut content: Vec<u8> = code.iter().flat_map(|half: &u16| half.to_le_bytes()).collect();
    content.extend((SRAM + 0x40).to_le_bytes());
    content.resize(0x40, 0);
    let end = [(0, 0)];
    let table = stores.iter().chain(&end);
    content.extend(table.flat_map(|&(address, value)| [address, value]).flat_map(u32::to_le_bytes));
    // Vectors at 0x200, of which interrupt 7 is used, and its handler.
    content.resize(0x200 + 4 * (16 + 7), 0);
    content.extend((SRAM + 0x301).to_le_bytes());
    content.resize(0x300, 0);
    content.extend(handler.iter().flat_map(|half| half.to_le_bytes()));
    let mut machine = Machine::new(Options { cores: 1, ..Options::default() });
    machine.load_image(&image(&content), "test.elf").expect("an image");
    machine
}

/// Stores that give a program to state machine 0, which wraps after it, and GPIO 2 to the PIO.
fn set_up(program: &[u16]) -> Vec<(u32, u32)> {
    let mut stores = vec![(RESETS_CLEAR, BLOCKS), (GPIO2_CTRL, 6)];
    let addresses = (0..).map(|index| PIO0 + 0x48 + 4 * index);
    stores.extend(addresses.zip(program.iter().map(|&instruction| u32::from(instruction))));
    stores.extend([
        (PIO0 + 0xcc, (program.len() as u32 - 1) << 12),
        (PIO0 + 0xdc, 1 << 26 | 2 << 5),
        (PIO0 + 0xd8, 0xe081), // set pindirs, 1
    ]);
    stores
}

/// Cycle and level of each edge of a pin.
fn edges(machine: &mut Machine, pin: u16) -> Vec<(u64, u32)> {
    let events = machine.take_events();
    let pins = events.iter().filter(|event| event.kind == Kind::Pin as u8 && event.id == pin);
    pins.map(|event| (event.cycle, event.value)).collect()
}

#[test]
fn a_square_wave_has_its_period_while_the_core_sleeps_and_while_it_runs() {
    let program = [0xe001 | 4 << 8, 0xe000 | 6 << 8];
    for sleeps in [true, false] {
        let mut stores = set_up(&program);
        stores.push((PIO0, 1));
        let mut machine = machine(&stores, &[]);
        machine.set_pin_tracing(true);
        machine.run_cycles(400);
        if !sleeps {
            // b . instead of wfi
            assert!(machine.write_memory(SRAM + 12, &0xe7fe_u16.to_le_bytes()));
            assert!(machine.set_register(0, "pc", SRAM + 12));
        }
        machine.take_events();
        machine.run_cycles(1200);
        let edges = edges(&mut machine, 2);
        assert!(edges.len() >= 190, "{} edges", edges.len());
        for pair in edges.windows(2) {
            let high = pair[0].1 == 1;
            assert_eq!(pair[1].0 - pair[0].0, if high { 5 } else { 7 }, "{pair:?}, sleeps: {sleeps}");
        }
    }
}

#[test]
fn a_flag_interrupts_the_core_that_enables_it() {
    // Twenty cycles, then irq wait 0: the handler clears the flag and sends GPIO 2 high by an instruction of its own.
    let program = [0xa042 | 19 << 8, 0xc020, 0xe001, 0x0003];
    let handler = [
        0x4802, // ldr r0, =PIO0
        0x2101, // movs r1, #1
        0x6301, // str r1, [r0, #0x30]
        0x4770, // bx lr
        0xbf00,
        0xbf00,
        (PIO0 & 0xffff) as u16,
        (PIO0 >> 16) as u16,
    ];
    let mut stores = set_up(&program);
    stores.extend([(VTOR, SRAM + 0x200), (NVIC_ISER, 1 << 7), (PIO0 + 0x12c, 1 << 8), (PIO0, 1)]);
    let mut machine = machine(&stores, &handler);
    machine.set_pin_tracing(true);
    machine.set_exception_tracing(true);
    machine.run_cycles(2000);
    let events = machine.take_events();
    let entries: Vec<u64> = events
        .iter()
        .filter(|event| event.kind == Kind::ExceptionEnter as u8 && event.id == 23)
        .map(|event| event.cycle)
        .collect();
    let rises: Vec<u64> = events
        .iter()
        .filter(|event| event.kind == Kind::Pin as u8 && event.id == 2 && event.value == 1)
        .map(|event| event.cycle)
        .collect();
    assert_eq!((entries.len(), rises.len()), (1, 1), "{events:?}");
    // The handler: LDR, MOVS and STR after its entry; the store arrives a cycle after its address, SET two later.
    assert!((1..20).contains(&(rises[0] - entries[0])), "{entries:?} {rises:?}");
}
