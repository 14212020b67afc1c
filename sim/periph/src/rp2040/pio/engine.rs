//! The four state machines of a block, cycle after cycle, with what they share: program, IRQ flags, pins.
//!
//! All of it is clocked. An instruction sees the flags and FIFOs as the last cycle left them, and what it writes counts
//! from the next cycle on. A store of a core arrives with the data phase of its bus, one cycle after the address.

use super::inputs::PinInputs;
use super::instructions::{StateMachineEffects, View};
use super::machine::{PioStallReason, PioStateMachine};
use super::pins::PinWrite;
use crate::NEVER;

/// Stores that are on their way. One arrives in a cycle.
const MOST_STORES: usize = 4;
/// A read of RXF0 to RXF3 takes a word: kept among the stores by the register's offset.
pub(super) const RXF: u32 = 0x20;
const TXF: u32 = 0x10;

/// FDEBUG: an RX FIFO was read when empty, a TX FIFO was written when full.
const RX_UNDER: u32 = 1 << 8;
const TX_OVER: u32 = 1 << 16;

/// A store to a register of the PIO block, with the cycle at whose end it takes effect.
#[derive(Debug, Clone, Copy, Default)]
struct Store {
    cycle: u64,
    offset: u32,
    value: u32,
}

/// The outputs of a PIO block that the rest of the chip sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PioBlockOutputs {
    /// Levels and directions of the pins.
    pub pins: (u32, u32),
    /// The two interrupt lines.
    pub lines: u32,
    /// DMA requests that somebody waits for: of the TX FIFOs, then of the RX FIFOs.
    pub requests: u32,
}

/// The state of a PIO block's state machines and registers, after all cycles before `time`.
#[derive(Debug, Clone, Copy)]
pub(super) struct PioBlockState {
    pub program: [u16; 32],
    pub machines: [PioStateMachine; 4],
    /// IRQ flags.
    pub flags: u32,
    /// Levels and directions of the pins.
    pub pins: (u32, u32),
    pub inputs: PinInputs,
    /// FDEBUG.
    pub debug: u32,
    /// IRQ0_INTE and IRQ1_INTE, IRQ0_INTF and IRQ1_INTF.
    pub enables: [u32; 2],
    pub forces: [u32; 2],
    /// The first cycle that has not been executed.
    pub time: u64,
    /// An instruction since this was last cleared has looked at the pins.
    pub looked: bool,
    /// Another machine has overwritten a pin that OUT_STICKY holds.
    overwritten: bool,
    stores: [Store; MOST_STORES],
    stores_len: usize,
}

impl PioBlockState {
    /// Creates a block in its reset state.
    pub const fn new(inputs: PinInputs) -> Self {
        Self {
            program: [0; 32],
            machines: [PioStateMachine::new(); 4],
            flags: 0,
            pins: (0, 0),
            inputs,
            debug: 0,
            enables: [0; 2],
            forces: [0; 2],
            time: 0,
            looked: false,
            overwritten: false,
            stores: [Store { cycle: 0, offset: 0, value: 0 }; MOST_STORES],
            stores_len: 0,
        }
    }

    /// Returns the next cycle in which anything happens in the block.
    pub fn next_activity_cycle(&self) -> u64 {
        let mut due = if self.overwritten { self.time } else { NEVER };
        if self.stores_len != 0 {
            due = due.min(self.stores[0].cycle);
        }
        let mut waits_for_pins = false;
        for machine in &self.machines {
            due = due.min(machine.next_activity_cycle(self.time));
            waits_for_pins |= machine.stall == Some(PioStallReason::Pins);
        }
        if waits_for_pins {
            due = due.min(self.inputs.next_pin_level_change_cycle(self.time).unwrap_or(NEVER));
        }
        due.max(self.time)
    }

    /// Executes all cycles up to this one, and this one too.
    pub fn execute_cycles_up_to_and_including(&mut self, cycle: u64) {
        if cycle < self.time {
            return;
        }
        loop {
            let due = self.next_activity_cycle();
            if due > cycle {
                break;
            }
            self.execute_cycle(due);
        }
        self.time = cycle + 1;
    }

    /// Executes a cycle. Nothing happens in the cycles between it and the last executed one.
    pub fn execute_cycle(&mut self, cycle: u64) {
        if self.inputs.next_pin_level_change_cycle(cycle) == Some(cycle) {
            self.retry_stalled_state_machines(PioStallReason::Pins, cycle);
        }
        let mut view = View {
            cycle,
            number: 0,
            program: &self.program,
            inputs: self.inputs.pio_pin_levels_at_cycle(cycle),
            flags: self.flags,
        };
        let (mut raise, mut clear, mut write, mut held) = (0, 0, PinWrite::NOTHING, PinWrite::NOTHING);
        for machine in &mut self.machines {
            let mut acts = StateMachineEffects::default();
            if machine.next_activity_cycle(cycle) <= cycle {
                machine.execute_state_machine_cycle(view, &mut acts);
                raise |= acts.raise;
                clear |= acts.clear;
                self.debug |= acts.debug;
                self.looked |= acts.looked;
            }
            // The machine with the highest number goes before the others, and its side-set before its OUT (3.5.6.1).
            let own = machine.continuously_written_pins();
            held.override_by(own);
            write.override_by(own);
            write.override_by(acts.write);
            write.override_by(acts.side);
            view.number += 1;
        }
        self.pins = write.applied_to(self.pins);
        self.overwritten = held.applied_to(self.pins) != self.pins;
        self.set_irq_flags(self.flags & !clear | raise, cycle);
        self.time = cycle + 1;
        while self.stores_len != 0 && self.stores[0].cycle <= cycle {
            let store = self.stores[0];
            self.stores.copy_within(1..self.stores_len, 0);
            self.stores_len -= 1;
            self.perform_pio_register_store(store.offset, store.value, cycle);
        }
    }

    /// Sets the IRQ flags at the end of a cycle.
    fn set_irq_flags(&mut self, flags: u32, cycle: u64) {
        if flags != self.flags {
            self.flags = flags;
            self.retry_stalled_state_machines(PioStallReason::Flags, cycle + 1);
        }
    }

    /// Lets the state machines that are stalled for this reason try again from cycle `from` on.
    fn retry_stalled_state_machines(&mut self, stall: PioStallReason, from: u64) {
        for machine in self.machines.iter_mut().filter(|machine| machine.stall == Some(stall)) {
            machine.retry_stalled_instruction(from);
        }
    }

    /// Accepts a store whose address is on the bus in cycle `now`. It takes effect later.
    pub fn queue_register_store(&mut self, offset: u32, value: u32, now: u64) {
        if self.stores_len == MOST_STORES {
            self.execute_cycles_up_to_and_including(self.stores[0].cycle);
        }
        self.stores[self.stores_len] = Store { cycle: (now + 1).max(self.time), offset, value };
        self.stores_len += 1;
    }

    /// Returns the number of stores to a register that have not arrived.
    fn stores_in_flight(&self, offset: u32) -> usize {
        self.stores[..self.stores_len].iter().filter(|store| store.offset == offset).count()
    }

    /// Returns the word that a read of RXF of state machine `number` returns.
    pub fn received_word(&self, number: usize) -> u32 {
        self.machines[number].rx.fifo_word_at_index(self.stores_in_flight(RXF + 4 * number as u32)).unwrap_or(0)
    }

    /// Carries out a store at the end of a cycle.
    fn perform_pio_register_store(&mut self, offset: u32, value: u32, now: u64) {
        let index = (offset / 4) as usize;
        match offset {
            0x00 => self.write_control(value, now),
            0x08 => self.debug &= !value,
            0x10..=0x1c => {
                let number = index - 4;
                if !self.machines[number].tx.push(value) {
                    self.debug |= TX_OVER << number;
                }
            }
            0x20..=0x2c => {
                let number = index - 8;
                if self.machines[number].rx.pop().is_none() {
                    self.debug |= RX_UNDER << number;
                }
            }
            0x30 => self.set_irq_flags(self.flags & !value, now),
            0x34 => self.set_irq_flags(self.flags | value & 0xff, now),
            0x38 => self.inputs.bypass = value,
            0x48..=0xc4 => self.program[index - 0x12] = value as u16,
            0xc8..=0x124 => self.write_state_machine_register((index - 0x32) / 6, (index - 0x32) % 6, value, now),
            0x12c | 0x138 => self.enables[(index - 0x4b) / 3] = value & 0xfff,
            0x130 | 0x13c => self.forces[(index - 0x4c) / 3] = value & 0xfff,
            _ => {}
        }
        // Whatever a machine waits for may have changed, and a flag of FDEBUG that was cleared comes back.
        for machine in &mut self.machines {
            machine.retry_stalled_instruction(now + 1);
        }
    }

    /// Writes CTRL.
    fn write_control(&mut self, value: u32, now: u64) {
        for (number, machine) in self.machines.iter_mut().enumerate() {
            if value >> (8 + number) & 1 != 0 {
                machine.change_clock_divider_at_cycle(now, |divider| divider.restart_divider(now));
            }
            if value >> (4 + number) & 1 != 0 {
                machine.restart_state_machine(now);
            }
            machine.set_enabled(value >> number & 1 != 0, now);
        }
    }

    /// Writes a register of a state machine.
    fn write_state_machine_register(&mut self, number: usize, register: usize, value: u32, now: u64) {
        let machine = &mut self.machines[number];
        match register {
            0 => machine.change_clock_divider_at_cycle(now, |divider| divider.write_clkdiv(value, now)),
            1 => machine.execctrl = value & 0x7fff_ff9f,
            2 => machine.write_shiftctrl(value),
            4 => (machine.forced, machine.side_done) = (Some((value as u16, now + 1)), false),
            5 => machine.pinctrl = value,
            _ => {}
        }
    }

    /// Returns INTR: the interrupts of RX FIFOs with data and of TX FIFOs with room, and the lower IRQ flags.
    pub fn raw_interrupts(&self) -> u32 {
        let mut bits = (self.flags & 15) << 8;
        for (number, machine) in self.machines.iter().enumerate() {
            bits |= u32::from(!machine.rx.is_empty()) << number | u32::from(!machine.tx.is_full()) << (4 + number);
        }
        bits
    }

    /// Returns INTS of an interrupt line: the interrupts after enable and force.
    pub fn interrupt_line_status(&self, index: usize) -> u32 {
        self.raw_interrupts() & self.enables[index] | self.forces[index]
    }

    /// Returns the DMA requests: bits 0 to 3 for TX FIFOs that have room after the stores on their way, bits 4 to 7 for
    /// RX FIFOs that have data after the reads on their way.
    pub fn dma_requests(&self) -> u32 {
        let mut requests = 0;
        for (number, machine) in self.machines.iter().enumerate() {
            let coming = |register: u32| self.stores_in_flight(register + 4 * number as u32);
            let (room, data) = (machine.tx.free_word_count() > coming(TXF), machine.rx.len() > coming(RXF));
            requests |= (u32::from(room) | u32::from(data) << 4) << number;
        }
        requests
    }

    /// Returns the outputs that the rest of the chip sees: pins, interrupt lines, and the DMA requests in the mask
    /// `watched`.
    pub fn outputs_visible_outside_block(&self, watched: u32) -> PioBlockOutputs {
        let lines = u32::from(self.interrupt_line_status(0) != 0) | u32::from(self.interrupt_line_status(1) != 0) << 1;
        let requests = if watched == 0 { 0 } else { self.dma_requests() & watched };
        PioBlockOutputs { pins: self.pins, lines, requests }
    }
}
