//! One state machine: its registers, and when it executes.

use super::divider::Divider;
use super::fifo::Fifo;
use super::pins::{PinRange, PinWrite, low_bits_mask};
use crate::NEVER;

const EXECCTRL_RESET: u32 = 0x0001_f000;
const SHIFTCTRL_RESET: u32 = 0x000c_0000;
const PINCTRL_RESET: u32 = 0x1400_0000;
/// Words of each FIFO while they are not joined.
const FIFO_DEPTH: usize = 4;
/// Shift count of an empty OSR.
pub(super) const EMPTY: u32 = 32;

/// The condition that a stalled instruction waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PioStallReason {
    /// A level of a pin.
    Pins,
    /// An IRQ flag.
    Flags,
    /// Data in the TX FIFO.
    Data,
    /// Room in the RX FIFO.
    Room,
    /// Its next tick: the OSR is being filled.
    Refill,
}

/// Registers and state of a state machine.
#[derive(Debug, Clone, Copy)]
pub(super) struct PioStateMachine {
    pub enabled: bool,
    pub divider: Divider,
    pub execctrl: u32,
    pub shiftctrl: u32,
    pub pinctrl: u32,
    pub tx: Fifo,
    pub rx: Fifo,
    pub pc: u32,
    pub x: u32,
    pub y: u32,
    pub isr: u32,
    /// Bits shifted into ISR.
    pub isr_count: u32,
    pub osr: u32,
    /// Bits shifted out of OSR.
    pub osr_count: u32,
    /// Cycle of its next tick that executes, or [`NEVER`] while it is disabled or stalled.
    pub next: u64,
    /// Ticks until it executes, while it is disabled.
    pub delay: u64,
    pub stall: Option<PioStallReason>,
    /// The instruction that OUT EXEC or MOV EXEC has put before the next one.
    pub inserted: Option<u16>,
    /// An instruction that was written to INSTR, and the cycle in which it executes: [`NEVER`] while it stalls.
    pub forced: Option<(u16, u64)>,
    /// The present instruction has stalled: its side-set is done.
    pub side_done: bool,
    /// An IRQ WAIT has raised its flag.
    pub raised: bool,
    /// The last write to pins of OUT, SET or MOV, for OUT_STICKY.
    pub last_write: PinWrite,
}

impl PioStateMachine {
    /// Creates a state machine in its reset state.
    pub const fn new() -> Self {
        Self {
            enabled: false,
            divider: Divider::new(),
            execctrl: EXECCTRL_RESET,
            shiftctrl: SHIFTCTRL_RESET,
            pinctrl: PINCTRL_RESET,
            tx: Fifo::new(FIFO_DEPTH),
            rx: Fifo::new(FIFO_DEPTH),
            pc: 0,
            x: 0,
            y: 0,
            isr: 0,
            isr_count: 0,
            osr: 0,
            osr_count: EMPTY,
            next: NEVER,
            delay: 0,
            stall: None,
            inserted: None,
            forced: None,
            side_done: false,
            raised: false,
            last_write: PinWrite::NOTHING,
        }
    }

    /// Returns whether a bit of EXECCTRL is set.
    pub fn is_execctrl_bit_set(&self, number: u32) -> bool {
        self.execctrl >> number & 1 != 0
    }

    /// Returns whether a bit of SHIFTCTRL is set.
    pub fn is_shiftctrl_bit_set(&self, number: u32) -> bool {
        self.shiftctrl >> number & 1 != 0
    }

    /// Returns whether OUT fills the OSR by itself.
    pub fn is_autopull_enabled(&self) -> bool {
        self.is_shiftctrl_bit_set(17)
    }

    /// Returns whether IN empties the ISR by itself.
    pub fn is_autopush_enabled(&self) -> bool {
        self.is_shiftctrl_bit_set(16)
    }

    /// Returns the shift count from which on the OSR counts as empty.
    pub fn pull_threshold(&self) -> u32 {
        bit_count_of_five_bit_field(self.shiftctrl >> 25)
    }

    /// Returns the shift count from which on the ISR counts as full.
    pub fn push_threshold(&self) -> u32 {
        bit_count_of_five_bit_field(self.shiftctrl >> 20)
    }

    /// Returns the pins that OUT, and MOV to pins, write.
    pub fn out_pins(&self) -> PinRange {
        PinRange { base: self.pinctrl & 31, count: (self.pinctrl >> 20 & 63).min(32) }
    }

    /// Returns the pins that SET writes.
    pub fn pins_of_set_instruction(&self) -> PinRange {
        PinRange { base: self.pinctrl >> 5 & 31, count: (self.pinctrl >> 26 & 7).min(5) }
    }

    /// Returns the first pin of IN.
    pub fn first_in_pin(&self) -> u32 {
        self.pinctrl >> 15 & 31
    }

    /// Returns how many bits of the delay field side-set uses.
    fn side_set_bit_count(&self) -> u32 {
        (self.pinctrl >> 29).min(5)
    }

    /// Returns the ticks of an instruction's delay after its execution.
    pub fn instruction_delay_ticks(&self, instruction: u16) -> u64 {
        u64::from(u32::from(instruction) >> 8 & low_bits_mask(5 - self.side_set_bit_count()))
    }

    /// Returns the pins that an instruction's side-set writes.
    pub fn side_set_pin_write(&self, instruction: u16) -> PinWrite {
        let mut count = self.side_set_bit_count();
        let value = (u32::from(instruction) >> 8 & 31) >> (5 - count);
        // With SIDE_EN the uppermost bit says whether there is a side-set.
        if count != 0 && self.is_execctrl_bit_set(30) {
            count -= 1;
            if value >> count & 1 == 0 {
                return PinWrite::NOTHING;
            }
        }
        PinWrite::new(PinRange { base: self.pinctrl >> 10 & 31, count }, value, self.is_execctrl_bit_set(29))
    }

    /// Writes SHIFTCTRL. Joining the FIFOs, or no longer joining them, empties both.
    pub fn write_shiftctrl(&mut self, value: u32) {
        if (value ^ self.shiftctrl) >> 30 != 0 {
            let (rx_joined, tx_joined) = (value >> 31 & 1 != 0, value >> 30 & 1 != 0);
            let depth = |joined: bool, other: bool| match (joined, other) {
                (true, _) => 2 * FIFO_DEPTH,
                (false, true) => 0,
                (false, false) => FIFO_DEPTH,
            };
            self.tx = Fifo::new(depth(tx_joined, rx_joined));
            self.rx = Fifo::new(depth(rx_joined, tx_joined));
        }
        self.shiftctrl = value & 0xffff_0000;
    }

    /// Returns whether the OSR is empty, data is there, and the machine fills it by itself.
    pub fn needs_shift_register_refill(&self) -> bool {
        self.is_autopull_enabled() && self.osr_count >= self.pull_threshold() && !self.tx.is_empty()
    }

    /// Moves a word from the TX FIFO to the OSR. Returns false if there is none.
    pub fn refill_output_shift_register(&mut self) -> bool {
        let Some(word) = self.tx.pop() else {
            return false;
        };
        self.osr = word;
        self.osr_count = 0;
        true
    }

    /// Returns the next cycle, `from` or later, in which something happens to the state machine.
    pub fn next_activity_cycle(&self, from: u64) -> u64 {
        let mut due = self.next;
        if let Some((_, at)) = self.forced {
            due = due.min(at);
        }
        if self.enabled && self.needs_shift_register_refill() {
            due = due.min(self.divider.cycle_of_later_tick(from, 0));
        }
        due
    }

    /// Lets a stalled instruction try again from this cycle on.
    pub fn retry_stalled_instruction(&mut self, from: u64) {
        if self.stall.take().is_none() {
            return;
        }
        if let Some((_, at)) = &mut self.forced {
            *at = from;
        } else if self.enabled {
            self.next = self.divider.cycle_of_later_tick(from, 0);
        }
    }

    /// Enables or disables the state machine at the end of a cycle. A delay continues where it was.
    pub fn set_enabled(&mut self, on: bool, now: u64) {
        if on && !self.enabled {
            self.next = self.divider.cycle_of_later_tick(now + 1, self.delay);
        } else if !on && self.enabled {
            self.delay = if self.next == NEVER { 0 } else { self.divider.ticks_between(now + 1, self.next) };
            self.next = NEVER;
            if self.forced.is_none() {
                self.stall = None;
            }
        }
        self.enabled = on;
    }

    /// Restarts the state machine as CTRL.SM_RESTART does.
    pub fn restart_state_machine(&mut self, now: u64) {
        self.isr = 0;
        self.isr_count = 0;
        self.osr_count = EMPTY;
        self.delay = 0;
        self.stall = None;
        self.inserted = None;
        self.forced = None;
        self.side_done = false;
        self.raised = false;
        self.last_write = PinWrite::NOTHING;
        if self.enabled {
            self.next = self.divider.cycle_of_later_tick(now + 1, 0);
        }
    }

    /// Changes the divider at the end of a cycle. The number of ticks that are left of a delay stays.
    pub fn change_clock_divider_at_cycle(&mut self, now: u64, change: impl FnOnce(&mut Divider)) {
        let left = (self.next != NEVER).then(|| self.divider.ticks_between(now + 1, self.next));
        change(&mut self.divider);
        if let Some(ticks) = left {
            self.next = self.divider.cycle_of_later_tick(now + 1, ticks);
        }
    }
}

/// Returns the number of bits in a five-bit field, where 0 stands for 32.
pub(super) fn bit_count_of_five_bit_field(field: u32) -> u32 {
    match field & 31 {
        0 => 32,
        count => count,
    }
}
