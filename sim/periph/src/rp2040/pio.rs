//! PIO (RP2040 data sheet 3): four state machines that execute programs of up to 32 instructions beside the cores.
//!
//! State machines execute cycle by cycle, but only when somebody looks: at an access, at a change of an input, or when
//! they change something that the rest of the chip sees (a pin, an interrupt, a DMA request). A copy of the block runs
//! ahead to find that cycle, and is the block when it comes. Machines that are disabled or stalled schedule nothing.

mod divider;
mod engine;
mod fifo;
mod inputs;
mod instructions;
mod machine;
mod pins;

use engine::{PioBlockOutputs, PioBlockState, RXF};
use inputs::PinInputs;

use crate::{Access, NEVER, Peripheral};

/// Steps that are looked ahead after a change from outside, and at most.
const FIRST_REACH: u32 = 16;
const LAST_REACH: u32 = 2048;
/// DBG_CFGINFO: 32 instructions, four state machines, FIFOs of four words.
const CONFIGURATION: u32 = 0x0020_0404;

/// A PIO (programmable I/O) block of the RP2040, with four state machines.
#[derive(Debug, Clone)]
pub struct Pio {
    irq: u32,
    engine: Box<PioBlockState>,
    /// The engine after the cycle `due`.
    ahead: Option<Box<PioBlockState>>,
    /// The next cycle that changes what is visible, or to which the copy has got.
    due: u64,
    /// Steps to look ahead.
    reach: u32,
    /// DMA requests that a channel waits for.
    watched: u32,
    shown: PioBlockOutputs,
    /// Levels that the block was last given.
    sensed: u32,
    /// No state machine is enabled, and none is about to be.
    idle: bool,
}

impl Pio {
    /// Creates a block whose first interrupt is NVIC line `irq`.
    #[must_use]
    pub fn new(irq: u32) -> Self {
        let engine = Box::new(PioBlockState::new(PinInputs::default()));
        let (shown, reach) = (engine.outputs_visible_outside_block(0), FIRST_REACH);
        Self { irq, engine, ahead: None, due: NEVER, reach, watched: 0, shown, sensed: 0, idle: true }
    }

    /// Returns the levels and directions that the block drives.
    #[inline]
    #[must_use]
    pub fn pin_levels_and_directions(&self) -> (u32, u32) {
        self.shown.pins
    }

    /// Returns the DMA requests of the TX FIFOs (bits 0 to 3) and of the RX FIFOs (bits 4 to 7).
    #[must_use]
    pub fn dma_requests(&self) -> u32 {
        self.engine.dma_requests()
    }

    /// Sets which of the block's DMA requests a channel waits for, because only these are events.
    pub fn set_watched_dma_requests(&mut self, watched: u32, access: &mut Access) {
        if watched != self.watched {
            self.execute_up_to_access(access);
            self.watched = watched;
            self.update_pio_outputs_to_chip(access);
            self.find_next_pio_output_event();
        }
    }

    /// Sets the levels of the 32 pins at the end of cycle `now`. Returns true if the block's next event
    /// ([`Peripheral::next_event_cycle`]) may have changed.
    #[inline]
    pub fn set_pin_levels(&mut self, levels: u32, now: u64) -> bool {
        levels != self.sensed && self.change_pin_levels(levels, now)
    }

    /// Takes the levels of the 32 pins at the end of cycle `now`. Returns true if the next event
    /// ([`Peripheral::next_event_cycle`]) may have changed.
    fn change_pin_levels(&mut self, levels: u32, now: u64) -> bool {
        self.sensed = levels;
        if self.idle {
            self.engine.inputs.change_input_pin_levels(levels, now);
            return false;
        }
        self.engine.execute_cycles_up_to_and_including(now);
        self.engine.inputs.change_input_pin_levels(levels, now);
        if let Some(ahead) = self.ahead.as_mut().filter(|ahead| !ahead.looked && !waits_for_pins(ahead)) {
            ahead.inputs.change_input_pin_levels(levels, now);
            return false;
        }
        self.find_next_pio_output_event();
        true
    }

    /// Executes the state machines up to the cycle of an access.
    fn execute_up_to_access(&mut self, access: &mut Access) {
        self.advance_to_now(access);
        self.engine.execute_cycles_up_to_and_including(access.now_cycles);
    }

    /// Computes the cycle of the block's next event, in which its visible outputs change, by executing a copy of it.
    fn find_next_pio_output_event(&mut self) {
        let mut due = self.engine.next_activity_cycle();
        self.idle =
            due == NEVER && self.engine.machines.iter().all(|machine| !machine.enabled && machine.forced.is_none());
        if due == NEVER {
            (self.ahead, self.due) = (None, NEVER);
            return;
        }
        let ahead = self.ahead.get_or_insert_with(|| self.engine.clone());
        ahead.clone_from(&self.engine);
        ahead.looked = false;
        for _ in 0..self.reach {
            ahead.execute_cycle(due);
            self.due = due;
            if ahead.outputs_visible_outside_block(self.watched) != self.shown {
                return;
            }
            due = ahead.next_activity_cycle();
            if due == NEVER {
                (self.ahead, self.due) = (None, NEVER);
                return;
            }
        }
    }

    /// Updates the outputs that the rest of the chip sees.
    fn update_pio_outputs_to_chip(&mut self, access: &mut Access) {
        let visible = self.engine.outputs_visible_outside_block(self.watched);
        access.effects.pins_changed |= visible.pins != self.shown.pins;
        self.shown = visible;
    }

    /// Accepts a store, or the read of a FIFO, which takes effect one cycle later.
    fn queue_store_or_fifo_read(&mut self, offset: u32, value: u32, access: &mut Access) {
        self.execute_up_to_access(access);
        self.engine.queue_register_store(offset, value, access.now_cycles);
        self.reach = FIRST_REACH;
        self.find_next_pio_output_event();
    }
}

/// Returns whether a state machine waits for a level of a pin.
fn waits_for_pins(engine: &PioBlockState) -> bool {
    engine.machines.iter().any(|machine| machine.stall == Some(machine::PioStallReason::Pins))
}

/// Returns the value of the register at a byte offset.
fn register_value(engine: &PioBlockState, offset: u32) -> u32 {
    let index = (offset / 4) as usize;
    let by_machine = |bits: &dyn Fn(&machine::PioStateMachine) -> u32, width: usize| {
        let machines = engine.machines.iter().enumerate();
        machines.fold(0, |word, (number, machine)| word | bits(machine) << (width * number))
    };
    match offset {
        0x00 => by_machine(&|machine| u32::from(machine.enabled), 1),
        0x04 => by_machine(
            &|machine| {
                let (tx, rx) = (&machine.tx, &machine.rx);
                u32::from(tx.is_empty()) << 24
                    | u32::from(tx.is_full()) << 16
                    | u32::from(rx.is_empty()) << 8
                    | u32::from(rx.is_full())
            },
            1,
        ),
        0x08 => engine.debug,
        0x0c => by_machine(&|machine| (machine.rx.len() << 4 | machine.tx.len()) as u32, 8),
        0x20..=0x2c => engine.received_word(index - 8),
        0x30 => engine.flags,
        0x38 => engine.inputs.bypass,
        0x3c => engine.pins.0,
        0x40 => engine.pins.1,
        0x44 => CONFIGURATION,
        0xc8..=0x124 => {
            let machine = &engine.machines[(index - 0x32) / 6];
            match (index - 0x32) % 6 {
                0 => machine.divider.clkdiv_value(),
                1 => machine.execctrl | u32::from(machine.forced.is_some()) << 31,
                2 => machine.shiftctrl,
                3 => machine.pc,
                4 => u32::from(engine.program[machine.pc as usize]),
                _ => machine.pinctrl,
            }
        }
        0x128 => engine.raw_interrupts(),
        0x12c | 0x138 => engine.enables[(index - 0x4b) / 3],
        0x130 | 0x13c => engine.forces[(index - 0x4c) / 3],
        0x134 | 0x140 => engine.interrupt_line_status((index - 0x4d) / 3),
        _ => 0,
    }
}

impl Peripheral for Pio {
    const NAME: &'static str = "PIO";

    /// Puts the registers of a PIO block to their reset values.
    fn reset_registers(&mut self) {
        let sensed = self.sensed;
        *self = Self { sensed, watched: self.watched, ..Self::new(self.irq) };
        self.engine.inputs = PinInputs::new_inputs_with_steady_levels(sensed);
        self.shown = self.engine.outputs_visible_outside_block(self.watched);
    }

    /// Reads a register of a PIO block at a byte offset. `access` holds the time in cycles and the requesting core. A
    /// read of RXF removes a word.
    fn read_register(&mut self, offset: u32, access: &mut Access) -> u32 {
        if offset > 0x140 {
            access.effects.unmodelled = Some((offset, false));
        }
        self.execute_up_to_access(access);
        let value = register_value(&self.engine, offset);
        if (RXF..RXF + 0x10).contains(&offset) {
            self.queue_store_or_fifo_read(offset, 0, access);
        }
        value
    }

    /// Writes a register of a PIO block at a byte offset. `access` holds the time in cycles and takes requests to the
    /// machine.
    fn write_register(&mut self, offset: u32, value: u32, access: &mut Access) {
        match offset {
            // Read-only registers. A store to RXF does not take a word.
            0x04 | 0x0c | 0x20..=0x2c | 0x3c..=0x44 | 0x128 | 0x134 | 0x140 => {}
            0x00..=0x13c => self.queue_store_or_fifo_read(offset, value, access),
            _ => access.effects.unmodelled = Some((offset, true)),
        }
    }

    /// Returns the value of a register of a PIO block at a byte offset and at the time in `access`. It executes on a
    /// copy of the block, which stays unchanged.
    fn peek_register(&self, offset: u32, access: &Access) -> u32 {
        let mut engine = self.engine.clone();
        engine.execute_cycles_up_to_and_including(access.now_cycles);
        register_value(&engine, offset)
    }

    /// Returns whether a write through an atomic alias (XOR, SET, CLR) reaches the register at this offset unchanged.
    /// This holds for SM_INSTR, FDEBUG, TXF, IRQ and IRQ_FORCE only.
    fn is_strobe(&self, offset: u32) -> bool {
        let instruction = (0xc8..0x128).contains(&offset) && (offset - 0xc8) % 24 == 16;
        instruction || matches!(offset, 0x08 | 0x10..=0x1c | 0x30 | 0x34)
    }

    /// Returns the cycle of the next change that the rest of the chip sees (pin, interrupt or DMA request), or
    /// [`NEVER`].
    fn next_event_cycle(&self) -> u64 {
        self.due
    }

    /// Executes the state machines up to the cycle in `access`, and shows the change to the rest of the chip.
    fn advance_to_now(&mut self, access: &mut Access) {
        if self.due > access.now_cycles {
            return;
        }
        match &mut self.ahead {
            Some(ahead) if ahead.time == access.now_cycles + 1 => std::mem::swap(&mut self.engine, ahead),
            _ => self.engine.execute_cycles_up_to_and_including(access.now_cycles),
        }
        self.reach = (2 * self.reach).min(LAST_REACH);
        self.update_pio_outputs_to_chip(access);
        self.find_next_pio_output_event();
    }

    /// Returns the levels of the block's two NVIC lines, each at its number's bit.
    fn irq_levels(&self) -> u32 {
        self.shown.lines << self.irq
    }
}

#[cfg(test)]
mod tests;
