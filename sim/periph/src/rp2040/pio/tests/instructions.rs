//! Each instruction by itself: registers before, registers after.

use super::super::engine::PioBlockState;
use super::super::inputs::PinInputs;
use super::super::instructions::{StateMachineEffects, View};
use super::super::machine::{PioStallReason, PioStateMachine};
use super::super::pins::{PinRange, PinWrite};

/// A state machine in the middle of its program.
fn machine() -> PioStateMachine {
    let mut machine = PioStateMachine::new();
    machine.enabled = true;
    machine.next = 0;
    machine.pc = 3;
    // IN, OUT and SET at pins 4, 8 and 16: three pins for OUT, two for SET.
    machine.pinctrl = 2 << 26 | 3 << 20 | 4 << 15 | 16 << 5 | 8;
    machine
}

/// Executes an instruction in state machine 2.
fn execute(machine: &mut PioStateMachine, instruction: u16, inputs: u32, flags: u32) -> StateMachineEffects {
    let mut program = [0; 32];
    program[machine.pc as usize] = instruction;
    let mut acts = StateMachineEffects::default();
    machine.execute_state_machine_cycle(View { cycle: 0, number: 2, program: &program, inputs, flags }, &mut acts);
    acts
}

/// Rows of: what it is about, registers before, the instruction, the pins, registers after.
macro_rules! rows {
    ($($about:literal: { $($field:ident = $value:expr),* } $instruction:literal, $inputs:expr => { $($after:ident = $expected:expr),* })*) => {
        $({
            let mut m = machine();
            $(m.$field = $value;)*
            execute(&mut m, $instruction, $inputs, 0);
            $(assert_eq!(m.$after, $expected, "{}: {}", $about, stringify!($after));)*
        })*
    };
}

const AUTOPUSH_8: u32 = 1 << 16 | 8 << 20;
const AUTOPULL_8: u32 = 1 << 17 | 8 << 25;
const RIGHT: u32 = 3 << 18;

/// A FIFO with these words.
fn fifo(words: &[u32]) -> super::super::fifo::Fifo {
    let mut fifo = super::super::fifo::Fifo::new(4);
    words.iter().for_each(|&word| assert!(fifo.push(word)));
    fifo
}

#[test]
fn may_jump() {
    rows! {
        "always": {} 0x0015, 0 => { pc = 21 }
        "!x, x is 0": {} 0x0035, 0 => { pc = 21 }
        "!x, x is not": { x = 1 } 0x0035, 0 => { pc = 4 }
        "x--": { x = 5 } 0x0055, 0 => { pc = 21, x = 4 }
        "x--, x is 0": {} 0x0055, 0 => { pc = 4, x = u32::MAX }
        "!y": {} 0x0075, 0 => { pc = 21 }
        "y--": { y = 1 } 0x0095, 0 => { pc = 21, y = 0 }
        "y--, y is 0": {} 0x0095, 0 => { pc = 4, y = u32::MAX }
        "x!=y": { x = 1 } 0x00b5, 0 => { pc = 21 }
        "x!=y, they are equal": {} 0x00b5, 0 => { pc = 4 }
        "pin 9 is high": { execctrl = 9 << 24 | 31 << 12 } 0x00d5, 1 << 9 => { pc = 21 }
        "pin 9 is low": { execctrl = 9 << 24 | 31 << 12 } 0x00d5, !(1 << 9) => { pc = 4 }
        "!osre": { osr_count = 31 } 0x00f5, 0 => { pc = 21 }
        "!osre, it is empty": { osr_count = 32 } 0x00f5, 0 => { pc = 4 }
        "!osre, by the threshold": { osr_count = 8, shiftctrl = 8 << 25 } 0x00f5, 0 => { pc = 4 }
    }
}

#[test]
fn the_program_counter_wraps() {
    rows! {
        "at the top": { execctrl = 3 << 12 | 1 << 7 } 0xa042, 0 => { pc = 1 }
        "a jump there goes where it goes": { execctrl = 3 << 12 | 1 << 7 } 0x0015, 0 => { pc = 21 }
        "one that is not taken wraps": { execctrl = 3 << 12 | 1 << 7, x = 1 } 0x0035, 0 => { pc = 1 }
        "after the last instruction comes the first": { pc = 31, execctrl = 0 } 0xa042, 0 => { pc = 0 }
    }
}

#[test]
fn waits() {
    rows! {
        "gpio 5 high": {} 0x2085, 1 << 5 => { pc = 4, stall = None }
        "gpio 5 high, it is low": {} 0x2085, 0 => { pc = 3, stall = Some(PioStallReason::Pins) }
        "gpio 5 low": {} 0x2005, !(1 << 5) => { pc = 4 }
        "pin 1, which is gpio 5": {} 0x20a1, 1 << 5 => { pc = 4 }
        "pin 30, which is gpio 2": {} 0x20be, 1 << 2 => { pc = 4 }
        "irq": {} 0x20c1, 0 => { pc = 3, stall = Some(PioStallReason::Flags) }
        "no irq": {} 0x2041, 0 => { pc = 4 }
    }
    for (instruction, flags, clear) in [(0x20c1, 1 << 1, 1 << 1), (0x20d1, 1 << 3, 1 << 3), (0x2041, 0, 0)] {
        let mut m = machine();
        let acts = execute(&mut m, instruction, 0, flags);
        assert_eq!((m.pc, acts.clear, acts.raise), (4, clear, 0), "{instruction:#x}");
    }
}

#[test]
fn inputs_are_shifted_in() {
    rows! {
        "pins to the left": { shiftctrl = 0, isr = 1 } 0x4004, 0x5a << 4 => { isr = 0x1a, isr_count = 4 }
        "pins to the right": { shiftctrl = RIGHT, isr = 0x10 } 0x4004, 0x5a << 4 => { isr = 0xa000_0001 }
        "x": { shiftctrl = 0, x = 0xabc, isr = 0xf } 0x4028, 0 => { isr = 0xfbc, isr_count = 8 }
        "y, all of it": { y = 0x1234_5678, isr = 7 } 0x4040, 0 => { isr = 0x1234_5678, isr_count = 32 }
        "zeros": { shiftctrl = 0, isr = 3 } 0x4062, 0 => { isr = 12 }
        "isr": { shiftctrl = 0, isr = 0x81 } 0x40c8, 0 => { isr = 0x8181 }
        "osr": { shiftctrl = 0, osr = 0x83 } 0x40e8, 0 => { isr = 0x83 }
        "the count ends at 32": { isr_count = 30 } 0x4068, 0 => { isr_count = 32 }
        "autopush": { shiftctrl = AUTOPUSH_8, x = 0x5a, isr_count = 4 } 0x4024, 0 => { isr = 0, isr_count = 0 }
        "autopush into a full FIFO":
            { shiftctrl = AUTOPUSH_8, isr = 9, isr_count = 4, rx = fifo(&[1, 2, 3, 4]) } 0x4024, 0 =>
            { isr = 9, isr_count = 4, stall = Some(PioStallReason::Room), pc = 3 }
    }
    let mut m = machine();
    (m.shiftctrl, m.x, m.isr, m.isr_count) = (AUTOPUSH_8, 0x5a, 3, 4);
    execute(&mut m, 0x4024, 0, 0);
    assert_eq!(m.rx.pop(), Some(0x3a));
}

#[test]
fn outputs_are_shifted_out() {
    rows! {
        "x from the right": { shiftctrl = RIGHT, osr = 0x1234_5678, osr_count = 0 } 0x6028, 0 => { x = 0x78, osr = 0x12_3456, osr_count = 8 }
        "y from the left": { shiftctrl = 0, osr = 0x1234_5678, osr_count = 0 } 0x6048, 0 => { y = 0x12, osr = 0x3456_7800 }
        "nowhere, all of it": { osr = 5, osr_count = 0 } 0x6060, 0 => { osr = 0, osr_count = 32, x = 0 }
        "the program counter": { shiftctrl = RIGHT, osr = 0x73, osr_count = 0 } 0x60a6, 0 => { pc = 0x13 }
        "isr, with its count": { shiftctrl = RIGHT, osr = 0x1f5, osr_count = 0 } 0x60c8, 0 => { isr = 0xf5, isr_count = 8 }
        "an instruction, without delay": { shiftctrl = RIGHT, osr = 0xe025, osr_count = 0 } 0x67f0, 0 => { inserted = Some(0xe025), next = 1, pc = 4 }
        "the count ends at 32": { osr_count = 30 } 0x6068, 0 => { osr_count = 32 }
        "refilled behind the last bits": { shiftctrl = AUTOPULL_8, osr_count = 4, tx = fifo(&[7]) } 0x6024, 0 => { osr = 7, osr_count = 0 }
        "an empty OSR takes a cycle to fill": { shiftctrl = AUTOPULL_8, osr_count = 8, tx = fifo(&[7]) } 0x6024, 0 => { osr = 7, osr_count = 0, pc = 3, next = 1, stall = None }
        "nothing to fill it": { shiftctrl = AUTOPULL_8, osr_count = 8 } 0x6024, 0 => { pc = 3, stall = Some(PioStallReason::Data) }
        "filled by any other instruction": { shiftctrl = AUTOPULL_8, osr_count = 8, tx = fifo(&[7]) } 0xa042, 0 => { osr = 7, osr_count = 0, pc = 4 }
    }
}

#[test]
fn pushes_and_pulls() {
    rows! {
        "push": { isr = 5, isr_count = 9 } 0x8020, 0 => { isr = 0, isr_count = 0, pc = 4 }
        "push iffull, it is not": { isr = 5, isr_count = 9 } 0x8060, 0 => { isr = 5, isr_count = 9, pc = 4 }
        "push iffull, it is": { isr = 5, isr_count = 9, shiftctrl = 9 << 20 } 0x8060, 0 => { isr = 0 }
        "push into a full FIFO": { isr = 5, rx = fifo(&[1, 2, 3, 4]) } 0x8020, 0 => { isr = 5, stall = Some(PioStallReason::Room) }
        "push noblock loses it": { isr = 5, rx = fifo(&[1, 2, 3, 4]) } 0x8000, 0 => { isr = 0, stall = None, pc = 4 }
        "pull": { tx = fifo(&[6]) } 0x80a0, 0 => { osr = 6, osr_count = 0 }
        "pull block": {} 0x80a0, 0 => { stall = Some(PioStallReason::Data), pc = 3, osr_count = 32 }
        "pull noblock takes x": { x = 8 } 0x8080, 0 => { osr = 8, osr_count = 0, pc = 4 }
        "pull ifempty, it is not": { tx = fifo(&[6]), osr = 1, osr_count = 31 } 0x80e0, 0 => { osr = 1, pc = 4 }
        "pull ifempty, it is": { tx = fifo(&[6]), osr_count = 32 } 0x80e0, 0 => { osr = 6 }
        "pull is a fence with autopull": { tx = fifo(&[6]), shiftctrl = AUTOPULL_8, osr = 1, osr_count = 7 } 0x80a0, 0 => { osr = 1, osr_count = 7 }
    }
    let full = fifo(&[1, 2, 3, 4]);
    for (instruction, rx, debug) in
        [(0x8020, full, 1), (0x8000, full, 1), (0x80a0, fifo(&[]), 1 << 24), (0x8080, full, 0)]
    {
        let mut m = machine();
        m.rx = rx;
        assert_eq!(execute(&mut m, instruction, 0, 0).debug, debug << 2, "{instruction:#x}");
    }
}

#[test]
fn moves() {
    rows! {
        "x from pins": {} 0xa020, 0x5a << 4 => { x = 0x5a }
        "y from x": { x = 7 } 0xa041, 0 => { y = 7 }
        "y from not x": { x = 7 } 0xa049, 0 => { y = !7 }
        "x from x reversed": { x = 1 } 0xa031, 0 => { x = 1 << 31 }
        "x from nothing": { x = 7 } 0xa023, 0 => { x = 0 }
        "pc from y": { y = 0x29 } 0xa0a2, 0 => { pc = 9 }
        "isr from osr": { osr = 6, isr_count = 9 } 0xa0c7, 0 => { isr = 6, isr_count = 0 }
        "osr from isr": { isr = 6, osr_count = 9 } 0xa0e6, 0 => { osr = 6, osr_count = 0 }
        "an instruction from x": { x = 0xe025 } 0xa781, 0 => { inserted = Some(0xe025), next = 1, pc = 4 }
        "status: less than two words to send": { execctrl = 2, tx = fifo(&[1]) } 0xa025, 0 => { x = u32::MAX }
        "status: not less than one": { execctrl = 1, x = 1, tx = fifo(&[1]) } 0xa025, 0 => { x = 0 }
        "status: less than one word received": { execctrl = 0x11, tx = fifo(&[1]) } 0xa025, 0 => { x = u32::MAX }
    }
}

#[test]
fn flags() {
    // Instruction, flags before, whether raised before: flags raised and cleared, raised after, where it stays.
    for (instruction, flags, before, raise, clear, after, pc) in [
        (0xc003, 0, false, 1 << 3, 0, false, 4),
        (0xc011, 0, false, 1 << 3, 0, false, 4),
        (0xc017, 0, false, 1 << 5, 0, false, 4),
        (0xc043, 8, false, 0, 1 << 3, false, 4),
        (0xc023, 0, false, 1 << 3, 0, true, 3),
        (0xc023, 8, true, 0, 0, true, 3),
        (0xc023, 0, true, 0, 0, false, 4),
    ] {
        let mut m = machine();
        m.raised = before;
        let acts = execute(&mut m, instruction, 0, flags);
        assert_eq!((acts.raise, acts.clear, m.raised, m.pc), (raise, clear, after, pc), "{instruction:#x} {flags}");
    }
}

/// Levels or directions of `count` pins from `base` on.
fn pins(base: u32, count: u32, value: u32, directions: bool) -> PinWrite {
    PinWrite::new(PinRange { base, count }, value, directions)
}

#[test]
fn pins_are_written() {
    for (instruction, expected) in [
        (0xe003, pins(16, 2, 3, false)),
        (0xe09d, pins(16, 2, 1, true)),
        (0x6001, pins(8, 3, 1, false)),
        (0x6084, pins(8, 3, 5, true)),
        (0xa007, pins(8, 3, 5, false)),
    ] {
        let mut m = machine();
        (m.osr, m.osr_count) = (0x5d, 0);
        assert_eq!(execute(&mut m, instruction, 0, 0).write, expected, "{instruction:#x}");
    }
    let mut m = machine();
    execute(&mut m, 0xe03d, 0, 0);
    assert_eq!(m.x, 0x1d);
}

#[test]
fn side_set_shares_the_delay_field() {
    // PINCTRL.SIDESET_COUNT, EXECCTRL, delay field: what is written, ticks of delay.
    let base = 10 << 10;
    for (count, execctrl, field, write, delay) in [
        (0, 0, 0b10110, PinWrite::NOTHING, 22),
        (1, 0, 0b10110, pins(10, 1, 1, false), 6),
        (2, 0, 0b10110, pins(10, 2, 2, false), 6),
        (5, 0, 0b10110, pins(10, 5, 22, false), 0),
        (2, 1 << 30, 0b11110, pins(10, 1, 1, false), 6),
        (2, 1 << 30, 0b01110, PinWrite::NOTHING, 6),
        (1, 1 << 29, 0b10110, pins(10, 1, 1, true), 6),
    ] {
        let mut m = machine();
        m.pinctrl = count << 29 | base;
        m.execctrl = execctrl | 31 << 12;
        let acts = execute(&mut m, 0xa042 | field << 8, 0, 0);
        assert_eq!((acts.side, m.next), (write, 1 + delay), "{count} {field:#b}");
    }
}

#[test]
fn inline_enable_takes_back_a_sticky_write() {
    let mut m = machine();
    m.execctrl = 1 << 18 | 4 << 19 | 1 << 17;
    (m.osr, m.osr_count) = (0b10101, 0);
    assert_eq!(execute(&mut m, 0x6005, 0, 0).write, pins(8, 3, 5, false));
    assert_eq!(m.continuously_written_pins(), pins(8, 3, 5, false));
    m.next = 0;
    assert_eq!(execute(&mut m, 0x6005, 0, 0).write, PinWrite::NOTHING);
    assert_eq!(m.continuously_written_pins(), PinWrite::NOTHING);
}

#[test]
fn the_highest_machine_wins_a_pin_and_a_sticky_write_comes_back() {
    let mut engine = PioBlockState::new(PinInputs::default());
    engine.program[0] = 0xe001; // set pins, 1
    engine.program[1] = 0xe000; // set pins, 0
    engine.program[2] = 0x0002; // stay
    for (number, (pc, sticky)) in [(1, false), (0, true)].into_iter().enumerate() {
        let m = &mut engine.machines[number];
        (m.enabled, m.next, m.pc, m.pinctrl) = (true, 0, pc, 1 << 26);
        m.execctrl = u32::from(sticky) << 17 | 31 << 12;
    }
    engine.machines[0].next = 3;
    engine.execute_cycle(0);
    assert_eq!(engine.pins.0, 1);
    engine.execute_cycles_up_to_and_including(2);
    engine.machines[1].next = 3;
    engine.machines[1].pc = 0;
    engine.execute_cycle(3);
    assert_eq!(engine.pins.0, 1, "state machine 1 goes before state machine 0");
    engine.machines[0].next = 4;
    engine.machines[0].pc = 1;
    (engine.machines[1].next, engine.machines[1].execctrl) = (u64::MAX, 31 << 12);
    engine.execute_cycle(4);
    assert_eq!(engine.pins.0, 0);
}
