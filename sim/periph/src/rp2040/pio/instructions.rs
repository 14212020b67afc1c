//! The nine instructions (RP2040 data sheet 3.4), side-set, delays, and filling the OSR in the background (3.5.4).

use super::machine::{EMPTY, PioStallReason, PioStateMachine, bit_count_of_five_bit_field};
use super::pins::{PinRange, PinWrite, low_bits_mask};
use crate::NEVER;

/// A state machine's view of the rest of its PIO block in a cycle.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub cycle: u64,
    /// Number of the state machine.
    pub number: u32,
    pub program: &'a [u16; 32],
    pub inputs: u32,
    /// IRQ flags at the beginning of the cycle.
    pub flags: u32,
}

/// The effects of a state machine on the rest of its block in a cycle.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StateMachineEffects {
    /// IRQ flags that it raises.
    pub raise: u32,
    /// IRQ flags that it clears.
    pub clear: u32,
    /// Pins that OUT, SET or MOV writes.
    pub write: PinWrite,
    /// Pins that side-set writes: they go before the others.
    pub side: PinWrite,
    /// Bits of FDEBUG.
    pub debug: u32,
    /// It has looked at the pins.
    pub looked: bool,
}

/// FDEBUG: a full RX FIFO, an empty TX FIFO stopped state machine 0.
const RX_STALL: u32 = 1;
const TX_STALL: u32 = 1 << 24;
const INLINE_OUT_EN: u32 = 18;
const OUT_STICKY: u32 = 17;

/// The end of an attempt to execute an instruction.
enum Outcome {
    Done,
    /// It has set the program counter.
    Jumped,
    /// The next instruction is in `inserted`, and delays are ignored.
    Inserted,
    Stalled(PioStallReason),
}

use Outcome::*;

impl PioStateMachine {
    /// Executes the state machine's part of a cycle: a forced instruction, or the next one if the divider ticks.
    pub(super) fn execute_state_machine_cycle(&mut self, view: View, acts: &mut StateMachineEffects) {
        let ticks = self.next <= view.cycle;
        match self.forced {
            Some((instruction, at)) if at <= view.cycle => {
                self.force_instruction(instruction, ticks, view, acts);
                // Filling the OSR goes on at the ticks.
                let at_tick = self.enabled && self.divider.cycle_of_later_tick(view.cycle, 0) == view.cycle;
                if at_tick && !is_out_instruction(instruction) {
                    self.refill_empty_shift_register();
                }
            }
            _ if ticks => self.execute_next_instruction(view, acts),
            // A tick of a delay or of a stall.
            _ => {
                self.refill_empty_shift_register();
            }
        }
    }

    /// Executes an instruction that was written to INSTR. Its delay is ignored, and the program counter does not
    /// advance.
    fn force_instruction(&mut self, instruction: u16, ticks: bool, view: View, acts: &mut StateMachineEffects) {
        self.forced = None;
        match self.execute_instruction(instruction, view, acts) {
            Stalled(PioStallReason::Refill) => self.forced = Some((instruction, view.cycle + 1)),
            Stalled(stall) => {
                self.forced = Some((instruction, NEVER));
                self.stall = Some(stall);
                self.next = NEVER;
            }
            outcome => {
                if matches!(outcome, Jumped) {
                    self.raised = false;
                }
                if self.enabled && (ticks || self.next == NEVER) {
                    self.next = self.divider.cycle_of_later_tick(view.cycle + 1, 0);
                    self.stall = None;
                }
            }
        }
    }

    /// Executes the instruction at the program counter, or the one that was inserted before it.
    fn execute_next_instruction(&mut self, view: View, acts: &mut StateMachineEffects) {
        let inserted = self.inserted.take();
        let instruction = inserted.unwrap_or(view.program[self.pc as usize]);
        let outcome = self.execute_instruction(instruction, view, acts);
        if let Stalled(stall) = outcome {
            self.inserted = inserted;
            (self.stall, self.next) = match stall {
                PioStallReason::Refill => (None, self.divider.cycle_of_later_tick(view.cycle + 1, 0)),
                _ => (Some(stall), NEVER),
            };
        } else {
            if inserted.is_none() && !matches!(outcome, Jumped) {
                self.pc =
                    if self.pc == self.execctrl >> 12 & 31 { self.execctrl >> 7 & 31 } else { (self.pc + 1) & 31 };
            }
            let delay = if matches!(outcome, Inserted) { 0 } else { self.instruction_delay_ticks(instruction) };
            (self.stall, self.next) = (None, self.divider.cycle_of_later_tick(view.cycle + 1, delay));
        }
        if !is_out_instruction(instruction) {
            self.refill_empty_shift_register();
        }
    }

    /// Refills an empty OSR, as the hardware does on all ticks but those of OUT.
    fn refill_empty_shift_register(&mut self) {
        if self.needs_shift_register_refill() {
            self.refill_output_shift_register();
        }
    }

    /// Tries to execute an instruction. Its side-set happens at the first try, also if it stalls (3.5.1).
    fn execute_instruction(&mut self, instruction: u16, view: View, acts: &mut StateMachineEffects) -> Outcome {
        if !self.side_done {
            acts.side = self.side_set_pin_write(instruction);
        }
        let outcome = self.execute_without_side_set(instruction, view, acts);
        self.side_done = matches!(outcome, Stalled(_));
        outcome
    }

    /// Tries to execute an instruction, without its side-set. Returns how that ended.
    fn execute_without_side_set(&mut self, instruction: u16, view: View, acts: &mut StateMachineEffects) -> Outcome {
        let low = u32::from(instruction) & 31;
        let field = u32::from(instruction) >> 5 & 7;
        match instruction >> 13 {
            0 => self.execute_jmp(field, low, view, acts),
            1 => self.execute_pio_wait(field, low, view, acts),
            2 => self.execute_pio_in(field, bit_count_of_five_bit_field(low), view, acts),
            3 => self.execute_out_instruction(field, bit_count_of_five_bit_field(low), view, acts),
            4 if field & 4 == 0 => self.execute_push(field, view, acts),
            4 => self.execute_pull(field, view, acts),
            5 => self.execute_mov(field, low, view, acts),
            6 => self.execute_irq(field, low, view, acts),
            _ => self.execute_set_instruction(field, low, acts),
        }
    }

    /// Executes JMP (3.4.2).
    fn execute_jmp(&mut self, condition: u32, target: u32, view: View, acts: &mut StateMachineEffects) -> Outcome {
        let taken = match condition {
            0 => true,
            1 => self.x == 0,
            2 => decrement_scratch(&mut self.x),
            3 => self.y == 0,
            4 => decrement_scratch(&mut self.y),
            5 => self.x != self.y,
            6 => {
                acts.looked = true;
                view.inputs >> (self.execctrl >> 24 & 31) & 1 != 0
            }
            _ => self.osr_count < self.pull_threshold(),
        };
        if !taken {
            return Done;
        }
        self.pc = target;
        Jumped
    }

    /// Executes WAIT (3.4.3).
    fn execute_pio_wait(&mut self, field: u32, index: u32, view: View, acts: &mut StateMachineEffects) -> Outcome {
        let polarity = field >> 2;
        let (level, stall) = match field & 3 {
            2 => {
                let flag = selected_irq_flag(index, view.number);
                let level = view.flags >> flag & 1;
                if level == 1 && polarity == 1 {
                    acts.clear |= 1 << flag;
                }
                (level, PioStallReason::Flags)
            }
            source => {
                acts.looked = true;
                let pin = if source == 0 { index } else { (self.first_in_pin() + index) & 31 };
                (view.inputs >> pin & 1, PioStallReason::Pins)
            }
        };
        if level == polarity { Done } else { Stalled(stall) }
    }

    /// Executes IN (3.4.4), with autopush (3.5.4.1).
    fn execute_pio_in(&mut self, source: u32, count: u32, view: View, acts: &mut StateMachineEffects) -> Outcome {
        let shifted = (self.isr_count + count).min(32);
        let pushes = self.is_autopush_enabled() && shifted >= self.push_threshold();
        if pushes && self.rx.is_full() {
            acts.debug |= RX_STALL << view.number;
            return Stalled(PioStallReason::Room);
        }
        let data = self.data_of_instruction_source(source, view, acts) & low_bits_mask(count);
        self.isr = if self.is_shiftctrl_bit_set(18) {
            self.isr.checked_shr(count).unwrap_or(0) | data << (32 - count)
        } else {
            self.isr.checked_shl(count).unwrap_or(0) | data
        };
        self.isr_count = shifted;
        if pushes {
            self.push_input_shift_register();
        }
        Done
    }

    /// Executes OUT (3.4.5), with autopull (3.5.4.2).
    fn execute_out_instruction(
        &mut self,
        destination: u32,
        count: u32,
        view: View,
        acts: &mut StateMachineEffects,
    ) -> Outcome {
        if self.is_autopull_enabled() && self.osr_count >= self.pull_threshold() {
            if self.refill_output_shift_register() {
                return Stalled(PioStallReason::Refill);
            }
            acts.debug |= TX_STALL << view.number;
            return Stalled(PioStallReason::Data);
        }
        let data = if self.is_shiftctrl_bit_set(19) {
            let data = self.osr & low_bits_mask(count);
            self.osr = self.osr.checked_shr(count).unwrap_or(0);
            data
        } else {
            let data = self.osr >> (32 - count);
            self.osr = self.osr.checked_shl(count).unwrap_or(0);
            data
        };
        self.osr_count = (self.osr_count + count).min(EMPTY);
        self.refill_empty_shift_register();
        match destination {
            0 | 4 => {
                let enabled = !self.is_execctrl_bit_set(INLINE_OUT_EN) || data >> (self.execctrl >> 19 & 31) & 1 != 0;
                if enabled {
                    self.write_pin_levels_or_directions(self.out_pins(), data, destination == 4, acts);
                } else {
                    self.last_write = PinWrite::NOTHING;
                }
            }
            5 => {
                self.pc = data & 31;
                return Jumped;
            }
            6 => (self.isr, self.isr_count) = (data, count),
            7 => {
                self.inserted = Some(data as u16);
                return Inserted;
            }
            _ => self.write_scratch_register(destination, data),
        }
        Done
    }

    /// Executes PUSH (3.4.6).
    fn execute_push(&mut self, field: u32, view: View, acts: &mut StateMachineEffects) -> Outcome {
        if field & 2 != 0 && self.isr_count < self.push_threshold() {
            return Done;
        }
        if self.rx.is_full() {
            acts.debug |= RX_STALL << view.number;
            if field & 1 != 0 {
                return Stalled(PioStallReason::Room);
            }
        }
        self.push_input_shift_register();
        Done
    }

    /// Pushes ISR, which is lost if there is no room, and clears it.
    fn push_input_shift_register(&mut self) {
        self.rx.push(self.isr);
        (self.isr, self.isr_count) = (0, 0);
    }

    /// Executes PULL (3.4.7). With autopull it does nothing unless the OSR is empty.
    fn execute_pull(&mut self, field: u32, view: View, acts: &mut StateMachineEffects) -> Outcome {
        let only_if_empty = field & 2 != 0 || self.is_autopull_enabled();
        if only_if_empty && self.osr_count < self.pull_threshold() || self.refill_output_shift_register() {
            return Done;
        }
        if field & 1 != 0 {
            acts.debug |= TX_STALL << view.number;
            return Stalled(PioStallReason::Data);
        }
        (self.osr, self.osr_count) = (self.x, 0);
        Done
    }

    /// Executes MOV (3.4.8).
    fn execute_mov(&mut self, destination: u32, low: u32, view: View, acts: &mut StateMachineEffects) -> Outcome {
        let data = self.data_of_instruction_source(low & 7, view, acts);
        let data = match low >> 3 {
            1 => !data,
            2 => data.reverse_bits(),
            _ => data,
        };
        match destination {
            0 => self.write_pin_levels_or_directions(self.out_pins(), data, false, acts),
            4 => {
                self.inserted = Some(data as u16);
                return Inserted;
            }
            5 => {
                self.pc = data & 31;
                return Jumped;
            }
            6 => (self.isr, self.isr_count) = (data, 0),
            7 => (self.osr, self.osr_count) = (data, 0),
            _ => self.write_scratch_register(destination, data),
        }
        Done
    }

    /// Executes IRQ (3.4.9).
    fn execute_irq(&mut self, field: u32, index: u32, view: View, acts: &mut StateMachineEffects) -> Outcome {
        let flag = 1 << selected_irq_flag(index, view.number);
        if field & 2 != 0 {
            acts.clear |= flag;
            return Done;
        }
        if !self.raised {
            acts.raise |= flag;
            self.raised = field & 1 != 0;
            return if self.raised { Stalled(PioStallReason::Flags) } else { Done };
        }
        if view.flags & flag != 0 {
            return Stalled(PioStallReason::Flags);
        }
        self.raised = false;
        Done
    }

    /// Executes SET (3.4.10).
    fn execute_set_instruction(&mut self, destination: u32, data: u32, acts: &mut StateMachineEffects) -> Outcome {
        match destination {
            0 | 4 => self.write_pin_levels_or_directions(self.pins_of_set_instruction(), data, destination == 4, acts),
            _ => self.write_scratch_register(destination, data),
        }
        Done
    }

    /// Returns the data that IN or MOV reads.
    fn data_of_instruction_source(&self, source: u32, view: View, acts: &mut StateMachineEffects) -> u32 {
        match source {
            0 => {
                acts.looked = true;
                view.inputs.rotate_right(self.first_in_pin())
            }
            1 => self.x,
            2 => self.y,
            5 => self.fifo_level_mask(),
            6 => self.isr,
            7 => self.osr,
            _ => 0,
        }
    }

    /// Returns all ones while the FIFO that EXECCTRL selects has fewer words than EXECCTRL says, else 0.
    fn fifo_level_mask(&self) -> u32 {
        let level = if self.is_execctrl_bit_set(4) { self.rx.len() } else { self.tx.len() };
        if (level as u32) < (self.execctrl & 15) { u32::MAX } else { 0 }
    }

    /// Writes X or Y. Other destinations are discarded.
    fn write_scratch_register(&mut self, destination: u32, data: u32) {
        match destination {
            1 => self.x = data,
            2 => self.y = data,
            _ => {}
        }
    }

    /// Writes levels or directions of pins.
    fn write_pin_levels_or_directions(
        &mut self,
        range: PinRange,
        data: u32,
        directions: bool,
        acts: &mut StateMachineEffects,
    ) {
        acts.write = PinWrite::new(range, data, directions);
        self.last_write = acts.write;
    }

    /// Returns the pins that the state machine writes in every cycle: those of its last write, with OUT_STICKY.
    pub(super) fn continuously_written_pins(&self) -> PinWrite {
        if self.is_execctrl_bit_set(OUT_STICKY) { self.last_write } else { PinWrite::NOTHING }
    }
}

/// Returns whether an instruction is OUT, which fills the OSR by itself.
fn is_out_instruction(instruction: u16) -> bool {
    instruction >> 13 == 3
}

/// Decrements a scratch register. Returns whether it was not zero before.
fn decrement_scratch(scratch: &mut u32) -> bool {
    let before = *scratch;
    *scratch = before.wrapping_sub(1);
    before != 0
}

/// Returns the number of the IRQ flag that an index selects: with bit 4 the number of the state machine is added to the
/// lower two bits (3.4.9.2).
fn selected_irq_flag(index: u32, number: u32) -> u32 {
    if index & 16 != 0 { index & 4 | (index + number) & 3 } else { index & 7 }
}
