//! The ends of a run, and its warnings.

use rtoslab_cpu::v6m::bus::OrderedAccess;
use rtoslab_cpu::v6m::core::Core;
use rtoslab_cpu::v6m::op::Op;
use rtoslab_cpu::v6m::pair::{CrossCoreOrderedInstructionKind, DualCoreBus, Probe};
use rtoslab_periph::NEVER;

use super::map::{SRAM_BASE, SRAM_BYTES};
use super::system::{MARK_WATCH, System, WriterAt};
use crate::stop::{Stop, StopReason};
use crate::words::read_little_endian;

impl System {
    /// Reports the write of the word around an offset, if the word is watched. Returns true if the run must stop.
    pub(super) fn report_watched_write(&mut self, offset: u32, writer: WriterAt) -> bool {
        let offset = offset & !3;
        if self.marks[(offset >> 8) as usize] & MARK_WATCH == 0 {
            return false;
        }
        let (address, word) = (SRAM_BASE + offset, read_little_endian(&self.sram, offset, 4));
        let WriterAt { core, pc, cycle } = writer;
        let stops = self.probes.report_store_to_watched_word(address, word, core, cycle, pc);
        if stops {
            let detail = format!("the watched word at 0x{address:08x} changed to {word}");
            self.stop_run_immediately(Stop { reason: StopReason::Watch, core, cycle, address, detail });
        }
        stops
    }

    /// Reports an access of a core to a register, if it is watched. `written` is a store's value.
    #[cold]
    #[inline(never)]
    pub(super) fn report_watched_register_access(
        &mut self,
        core: &mut Core,
        address: u32,
        written: Option<u32>,
        cycle: u64,
    ) {
        let (word, pc) = (address & !3, core.next_instruction_address());
        let (stops, detail) = match written {
            Some(value) => {
                let value = value << (8 * (address & 3));
                let stops = self.probes.report_store_to_watched_word(word, value, core.id, cycle, pc);
                (stops, format!("the watched word at 0x{word:08x} changed to {value}"))
            }
            None => (
                self.probes.does_register_read_stop_run(word),
                format!("the watched register at 0x{word:08x} was read"),
            ),
        };
        if stops {
            core.limit = 0;
            self.stop_run_immediately(Stop { reason: StopReason::Watch, core: core.id, cycle, address: word, detail });
        }
    }

    /// Marks a register, or the page of an SRAM word, as watched. Returns false if the address is neither.
    pub(super) fn mark_watched_address(&mut self, address: u32) -> bool {
        if may_address_be_register(address) {
            self.watches_registers = true;
            return true;
        }
        let offset = address.wrapping_sub(SRAM_BASE);
        if offset < SRAM_BYTES {
            self.marks[(offset >> 8) as usize] |= MARK_WATCH;
            self.watched[(offset >> 8) as usize] |= 1 << (offset >> 2 & 63);
        }
        offset < SRAM_BYTES
    }

    /// Returns whether the word at this offset is watched. May also be true for a word that is no longer watched.
    pub(super) fn is_word_watched(&self, offset: u32) -> bool {
        self.watched[(offset >> 8) as usize] >> (offset >> 2 & 63) & 1 != 0
    }

    /// Returns the instruction at this address, which has probes or is not in the cache of the flash. Its probes fire
    /// in the order of the cores' cycles.
    pub(super) fn issue_probed_instruction(&mut self, core: &mut Core, address: u32) -> OrderedAccess<Op> {
        if self.pairs.has_core_fired_its_probes(core.id) {
            return OrderedAccess::Now(self.instruction_with_probes_at(address).0);
        }
        let Some(cycle) = self.pairs.cycle_of_active_core() else {
            self.pairs.request_cycle_ordered_execution(CrossCoreOrderedInstructionKind::Probe);
            return OrderedAccess::NotYet;
        };
        let (instruction, number) = self.instruction_with_probes_at(address);
        if self.is_not_cached(address, instruction) || !self.fire_probes(core, Probe { address, number }, cycle) {
            return OrderedAccess::InTime;
        }
        self.pairs.note_probes_fired(core.id);
        OrderedAccess::Now(instruction)
    }

    /// Returns the cycle of the next stop that is held until its cycle comes.
    pub(super) fn next_pending_run_stop_cycle(&self) -> u64 {
        self.held.iter().map(|stop| stop.cycle).min().unwrap_or(NEVER)
    }

    /// Stops the run for a reason, with one sentence in `detail`.
    pub(super) fn stop_for_reason(
        &mut self,
        reason: StopReason,
        core: &Core,
        address: u32,
        cycle: u64,
        detail: String,
    ) {
        self.stop_run_immediately(Stop { reason, core: core.id, cycle, address, detail });
    }

    /// Stops the run, unless it stops already.
    fn stop_run_immediately(&mut self, stop: Stop) {
        self.stop.get_or_insert(stop);
        self.due = 0;
    }

    /// Warns once about an address that is not modelled. Under `strict` the run stops.
    pub(super) fn warn_once_of_unmodelled_address(&mut self, core: &mut Core, address: u32, what: &str, cycle: u64) {
        let stops = self.warnings.warn_of_unmodelled_address(what, address, core.next_instruction_address());
        self.stop_if_strict(core, address, cycle, stops);
    }

    /// Warns once that the firmware requested something unsupported. Under `strict` the run stops.
    pub(super) fn warn_unsupported(&mut self, core: &mut Core, about: &str, cycle: u64) {
        let address = if core.ip.is_null() { 0 } else { core.next_instruction_address() };
        let stops = self.warnings.warn_of_unsupported_hardware_request(about, address);
        self.stop_if_strict(core, address, cycle, stops);
    }

    /// Stops a strict run because of a warning.
    fn stop_if_strict(&mut self, core: &mut Core, address: u32, cycle: u64, text: Option<String>) {
        if let Some(text) = text {
            core.limit = 0;
            self.stop_for_reason(StopReason::Strict, core, address, cycle, text);
        }
    }
}

/// Returns whether an address may be a register: a peripheral's, SIO's, or one of the core's own.
pub(super) fn may_address_be_register(address: u32) -> bool {
    matches!(address >> 28, 0x4 | 0x5 | 0xd) || matches!(address >> 24, 0x14 | 0x18) || address >> 20 == 0xe00
}
