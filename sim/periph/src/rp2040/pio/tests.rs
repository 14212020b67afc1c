//! A block with a program, as a core sets it up, and the cycles of its pins.

mod instructions;
mod lockstep;
mod programs;
mod registers;

use super::*;
use crate::rp2040::testing::Bench;

const CTRL: u32 = 0x00;
const FSTAT: u32 = 0x04;
const FDEBUG: u32 = 0x08;
const FLEVEL: u32 = 0x0c;
const TXF0: u32 = 0x10;
const RXF0: u32 = 0x20;
const IRQ: u32 = 0x30;
const CLKDIV: u32 = 0xc8;
const EXECCTRL: u32 = 0xcc;
const SHIFTCTRL: u32 = 0xd0;
const ADDR: u32 = 0xd4;
const INSTR: u32 = 0xd8;
const PINCTRL: u32 = 0xdc;
const EVERY_CYCLE: u32 = 1 << 16;

const SET_PINS: u16 = 0xe000;
const SET_DIRECTIONS: u16 = 0xe080;
const SET_X: u16 = 0xe020;
const NOP: u16 = 0xa042;
const PULL: u16 = 0x80a0;
const PUSH: u16 = 0x8020;
const WAIT_PIN: u16 = 0x2020;
const IRQ_SET: u16 = 0xc000;

/// An instruction with so many cycles of delay.
const fn delayed(instruction: u16, cycles: u16) -> u16 {
    instruction | cycles << 8
}

/// A register of a state machine.
fn register_of(number: u32, register: u32) -> u32 {
    register + 0x18 * number
}

struct Rig {
    bench: Bench,
    pio: Pio,
    now: u64,
    /// Cycle and level of each change of the pins.
    edges: Vec<(u64, u32)>,
}

impl Rig {
    /// A block whose program wraps after its last instruction.
    fn new(program: &[u16]) -> Rig {
        let mut rig = Rig { bench: Bench::new(), pio: Pio::new(7), now: 0, edges: Vec::new() };
        for (address, &instruction) in program.iter().enumerate() {
            rig.write_register(0x48 + 4 * address as u32, u32::from(instruction));
        }
        for number in 0..4 {
            rig.write_register(register_of(number, EXECCTRL), (program.len().max(1) as u32 - 1) << 12);
            rig.write_register(register_of(number, PINCTRL), 1 << 26 | 1 << 20);
        }
        rig
    }

    /// Carries out events, as the machine does, up to and with a cycle.
    fn run_to(&mut self, cycle: u64) {
        while self.pio.next_event_cycle() <= cycle {
            let due = self.pio.next_event_cycle();
            assert!(due >= self.now, "an event of the past");
            self.now = due;
            self.pio.advance_to_now(&mut self.bench.access_at(due));
            self.sample();
        }
        self.now = cycle;
    }

    /// Notes a change of the pins, and lets the block see its own.
    fn sample(&mut self) {
        if std::mem::take(&mut self.bench.effects.pins_changed) {
            let levels = self.pio.pin_levels_and_directions().0;
            self.edges.push((self.now, levels));
            self.pio.set_pin_levels(levels, self.now);
        }
    }

    /// A store whose address comes two cycles after the last one's.
    fn write_register(&mut self, offset: u32, value: u32) {
        self.run_to(self.now + 2);
        self.pio.write_register(offset, value, &mut self.bench.access_at(self.now));
        self.sample();
    }

    fn read_register(&mut self, offset: u32) -> u32 {
        self.run_to(self.now + 2);
        let value = self.pio.read_register(offset, &mut self.bench.access_at(self.now));
        self.sample();
        value
    }

    /// Starts state machines, and returns the first cycle in which they execute.
    fn start(&mut self, mask: u32) -> u64 {
        self.write_register(CTRL, mask | mask << 4 | mask << 8);
        self.edges.clear();
        self.now + 2
    }

    /// Edges of the first `count` from a cycle on, counted from there.
    fn edges_from(&self, start: u64) -> Vec<(u64, u32)> {
        self.edges.iter().map(|&(at, levels)| (at - start, levels)).collect()
    }
}
