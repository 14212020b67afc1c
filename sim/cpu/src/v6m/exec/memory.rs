//! Loads and stores of one word or less.
//!
//! Plain RAM is accessed here. Everything else is asked of the bus. Execution without time notes what the time of an
//! access depends on. When that time is found out, an access goes to any address of the same memory, and has no effect.

use super::cursor::{Flow, InterpreterRegisters};
use super::operands::is_access_in_ram;
use crate::v6m::block::Block;
use crate::v6m::bus::{Access, Bus, OrderedAccess, Trap};
use crate::v6m::core::Core;
use crate::v6m::op::{Code, Op, op};
use crate::v6m::trace::Trace;
use crate::v6m::watched::WatchedStore;
use rtoslab_timing::cortex_m0plus as timing;

/// Returns the low `BYTES` bytes of a word.
#[inline(always)]
fn low_bytes_of_word<const BYTES: u32>(value: u32) -> u32 {
    match BYTES {
        1 => value & 0xff,
        2 => value & 0xffff,
        _ => value,
    }
}

/// Reads `BYTES` bytes of RAM.
///
/// # Safety
/// So many bytes can be read at `at`.
#[inline(always)]
unsafe fn read_ram<const BYTES: u32>(at: *const u8) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        match BYTES {
            1 => u32::from(at.read()),
            2 => u32::from(u16::from_le(at.cast::<u16>().read_unaligned())),
            _ => u32::from_le(at.cast::<u32>().read_unaligned()),
        }
    }
}

/// Writes `BYTES` bytes of RAM.
///
/// # Safety
/// So many bytes can be written at `at`.
#[inline(always)]
unsafe fn write_ram<const BYTES: u32>(at: *mut u8, value: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        match BYTES {
            1 => at.write(value as u8),
            2 => at.cast::<u16>().write_unaligned((value as u16).to_le()),
            _ => at.cast::<u32>().write_unaligned(value.to_le()),
        }
    }
}

impl<const CONTEND: bool, const WATCH: u8> InterpreterRegisters<CONTEND, WATCH> {
    /// Loads `BYTES` bytes, zero-extended. In the simulation of a basic block, which has been executed, it only charges
    /// the load's cycles.
    #[inline(always)]
    pub fn load_data<B: Bus, const BYTES: u32>(
        &mut self,
        core: &mut Core,
        other: &Core,
        bus: &mut B,
        address: u32,
    ) -> Result<u32, Flow> {
        if Self::PAIRED && CONTEND {
            let memory = core.remainder.take_memory_of_next_access();
            if memory == B::CONSTANT_MEMORY {
                self.t = bus.charge_constant_load(core, self.t);
                return Ok(0);
            }
            if memory == B::ORDERED_MEMORY {
                self.account_cycle_of_cross_core_access(core, other, bus)?;
                return Ok(0);
            }
            let sample = B::sample_address_in_memory(memory);
            return self.load_from_address::<B, BYTES, true>(core, other, bus, sample);
        }
        self.load_word::<B, BYTES, true>(core, other, bus, address)
    }

    /// Loads `BYTES` bytes from this address, or from the logged address if a trace is simulated. `SINGLE`: the access
    /// is no word of a multiple transfer.
    #[inline(always)]
    pub fn load_word<B: Bus, const BYTES: u32, const SINGLE: bool>(
        &mut self,
        core: &mut Core,
        other: &Core,
        bus: &mut B,
        address: u32,
    ) -> Result<u32, Flow> {
        let address = if Self::TIMES && !Self::PAIRED {
            core.trace.address_of_constant_read(core.instructions).unwrap_or(B::RAM_BASE)
        } else {
            address
        };
        self.load_from_address::<B, BYTES, SINGLE>(core, other, bus, address)
    }

    /// Loads `BYTES` bytes from this address, zero-extended. `SINGLE`: the access is no word of a multiple transfer.
    #[inline(always)]
    pub fn load_from_address<B: Bus, const BYTES: u32, const SINGLE: bool>(
        &mut self,
        core: &mut Core,
        other: &Core,
        bus: &mut B,
        address: u32,
    ) -> Result<u32, Flow> {
        let offset = address.wrapping_sub(B::RAM_BASE);
        if Self::PAIRED && CONTEND && !is_access_in_ram(bus, offset, BYTES) {
            // A word of a multiple load from constant memory: its sample is not in the RAM.
            self.t = bus.charge_constant_load(core, self.t);
            return Ok(0);
        }
        if is_access_in_ram(bus, offset, BYTES) {
            let slot = self.claim_ram_transfer_slot(core, bus, offset);
            if Self::PAIRED && Self::AHEAD {
                if SINGLE {
                    self.log_accessed_memory(B::memory_number_at(offset, BYTES))?;
                }
                // SAFETY: the bus's logs live as long as it.
                unsafe { (*self.log).log_read::<BYTES>(offset) };
            }
            self.t = slot + timing::MEMORY_CYCLES;
            // SAFETY: it is in the RAM.
            return Ok(unsafe { read_ram::<BYTES>(bus.main_ram().main_ram_pointer().add(offset as usize)) });
        }
        if Self::AHEAD {
            let Some(value) = bus.load_constant::<false>(address, BYTES) else {
                return self.load_ordered::<B, BYTES, SINGLE>(core, bus, address);
            };
            if Self::PAIRED && SINGLE {
                self.log_accessed_memory(Some(B::CONSTANT_MEMORY))?;
            } else if !Self::PAIRED && self.word.code() != op::LdrLit {
                self.log_indirect_target(Trace::indirect_read(self.count, address))?;
            }
            return Ok(low_bytes_of_word::<BYTES>(value));
        }
        self.apart = true;
        // Reports of accesses come from here.
        core.ip = self.ip;
        match self.advance_time_by_callback(|at| bus.load_data::<CONTEND, false>(core, Some(other), address, BYTES, at))
        {
            Ok(value) => Ok(low_bytes_of_word::<BYTES>(value)),
            Err(trap) => Err(self.end_instruction_by_trap(core, bus, trap)),
        }
    }

    /// Loads a literal from flash behind its cache.
    #[inline(always)]
    pub fn load_literal<B: Bus>(&mut self, core: &mut Core, bus: &mut B, address: u32) -> Result<u32, Flow> {
        if Self::AHEAD {
            return bus.load_constant::<true>(address, 4).ok_or(Flow::InTime);
        }
        self.advance_time_by_callback(|at| bus.load_data::<CONTEND, true>(core, None, address, 4, at))
            .map_err(|trap| self.end_instruction_by_trap(core, bus, trap))
    }

    /// Stores the low `BYTES` bytes of `value` to memory. In the simulation of a basic block, which has been executed,
    /// it only charges the store's cycles.
    #[inline(always)]
    pub fn store_data<B: Bus, const BYTES: u32>(
        &mut self,
        core: &mut Core,
        other: &Core,
        bus: &mut B,
        address: u32,
        value: u32,
    ) -> Result<(), Flow> {
        let address = match (Self::TIMES, Self::PAIRED) {
            (false, _) => address,
            (true, false) => B::RAM_BASE,
            (true, true) => {
                if core.remainder.is_current_instruction_last_of_kind(Block::PRIVATE) {
                    self.t += timing::MEMORY_CYCLES;
                    return Ok(());
                }
                let memory = core.remainder.take_memory_of_next_access();
                if memory == B::ORDERED_MEMORY {
                    return self.account_cycle_of_cross_core_access(core, other, bus);
                }
                B::sample_address_in_memory(memory)
            }
        };
        self.store_to_address::<B, BYTES, true>(core, other, bus, address, value)
    }

    /// Stores the low `BYTES` bytes of `value` at this address. `SINGLE`: the access is no word of a multiple transfer.
    #[inline(always)]
    pub fn store_to_address<B: Bus, const BYTES: u32, const SINGLE: bool>(
        &mut self,
        core: &mut Core,
        other: &Core,
        bus: &mut B,
        address: u32,
        value: u32,
    ) -> Result<(), Flow> {
        let offset = address.wrapping_sub(B::RAM_BASE);
        if is_access_in_ram(bus, offset, BYTES) {
            let slot = self.claim_ram_transfer_slot(core, bus, offset);
            self.t = slot + timing::MEMORY_CYCLES;
            if Self::TIMES {
                // It was stored when the trace was executed.
                core.stored = slot;
            } else if Self::PAIRED && Self::AHEAD {
                return self.store_speculatively::<B, BYTES, SINGLE>(core, bus, offset, value);
            // SAFETY: it is in the RAM.
            } else if unsafe { bus.main_ram().mark_at_offset(offset) } == 0 {
                // SAFETY: it is in the RAM.
                unsafe { write_ram::<BYTES>(bus.main_ram().main_ram_pointer().add(offset as usize), value) };
            } else if Self::TRACED {
                return Self::store_near_marks::<B, BYTES, SINGLE>(self.ip, core, bus, offset, value);
            } else {
                core.ip = self.ip;
                bus.store_to_marked_ram(core, offset, BYTES, value, slot);
            }
            return Ok(());
        }
        if Self::PAIRED && Self::AHEAD && SINGLE {
            let ordered = bus.access_register_speculatively(core, address, Access::Store { bytes: BYTES, value });
            if ordered == OrderedAccess::Behind {
                // SAFETY: the bus's logs live as long as it.
                unsafe { (*self.log).store = (address, value) };
                self.end_block_after_instruction(Block::PRIVATE);
                return Ok(());
            }
            return self.log_ordered_access::<B>(ordered).map(|_| ());
        }
        if Self::TRACED {
            return Err(Flow::InTime);
        }
        self.apart = true;
        core.ip = self.ip;
        self.advance_time_by_callback(|at| bus.store_data::<CONTEND>(core, Some(other), address, BYTES, value, at))
            .map_err(|trap| self.end_instruction_by_trap(core, bus, trap))
    }

    /// Stores to RAM in a basic block, before the cycle is known, and logs the old content.
    #[inline(always)]
    fn store_speculatively<B: Bus, const BYTES: u32, const SINGLE: bool>(
        &mut self,
        core: &Core,
        bus: &mut B,
        offset: u32,
        value: u32,
    ) -> Result<(), Flow> {
        // Those of a multiple transfer were looked at before the first word.
        // SAFETY: the word is in the RAM.
        let is_notified = SINGLE
            && unsafe { bus.main_ram().mark_at_offset(offset) } != 0
            && bus.watches_store(offset).ok_or(Flow::InTime)?;
        if SINGLE {
            self.log_accessed_memory(B::memory_number_at(offset, BYTES))?;
        }
        // SAFETY: the word is in the RAM; the bus's logs live as long as it.
        unsafe {
            let word = bus.main_ram().main_ram_pointer().add((offset & !3) as usize).cast::<u32>();
            let old = word.read_unaligned();
            if is_notified {
                // No other store to that word may come between: the report has all of it.
                (*self.log).log_write::<4>(offset & !3, old);
                write_ram::<BYTES>(bus.main_ram().main_ram_pointer().add(offset as usize), value);
                let word = u32::from_le(word.read_unaligned());
                (*self.log).note_watched_store(WatchedStore {
                    pc: core.address_of_op(self.ip),
                    offset: offset & !3,
                    word,
                });
                self.end = self.ip.wrapping_add(1);
                return Ok(());
            }
            (*self.log).log_write::<BYTES>(offset, old);
            write_ram::<BYTES>(bus.main_ram().main_ram_pointer().add(offset as usize), value);
        }
        Ok(())
    }

    /// Stores to RAM in a trace, near code or a watched word, by the instruction at `ip`.
    #[cold]
    #[inline(never)]
    fn store_near_marks<B: Bus, const BYTES: u32, const SINGLE: bool>(
        ip: *mut Op,
        core: &mut Core,
        bus: &mut B,
        offset: u32,
        value: u32,
    ) -> Result<(), Flow> {
        // Those of a multiple transfer were looked at before the first word.
        let is_notified = SINGLE && bus.watches_store(offset).ok_or(Flow::InTime)?;
        // SAFETY: the word is in the RAM.
        unsafe {
            let word = bus.main_ram().main_ram_pointer().add((offset & !3) as usize).cast::<u32>();
            write_ram::<BYTES>(bus.main_ram().main_ram_pointer().add(offset as usize), value);
            if is_notified {
                let word = u32::from_le(word.read_unaligned());
                core.watched_store = WatchedStore { pc: core.address_of_op(ip), offset: offset & !3, word };
            }
        }
        if is_notified { Err(Flow::WatchedStore) } else { Ok(()) }
    }

    /// Loads from a register before the cycle is known, if the order of the cores' accesses allows that.
    #[inline(always)]
    fn load_ordered<B: Bus, const BYTES: u32, const SINGLE: bool>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        address: u32,
    ) -> Result<u32, Flow> {
        if !Self::PAIRED || !SINGLE {
            return Err(Flow::InTime);
        }
        let ordered = bus.access_register_speculatively(core, address, Access::Load(BYTES));
        self.log_ordered_access::<B>(ordered)
    }

    /// Logs an access that may have to be made in the order of the cores' cycles, and returns its value. An error says
    /// how the instruction ends if the access cannot be made now.
    #[inline(always)]
    fn log_ordered_access<B: Bus>(&mut self, ordered: OrderedAccess<u32>) -> Result<u32, Flow> {
        match ordered {
            OrderedAccess::Always(value) => {
                self.log_accessed_memory(Some(B::ORDERED_MEMORY))?;
                self.ordered = true;
                Ok(value)
            }
            OrderedAccess::Now(value) => {
                self.end = self.ip;
                Ok(value)
            }
            OrderedAccess::NotYet => Err(Flow::Ordered),
            OrderedAccess::Behind | OrderedAccess::InTime => Err(Flow::InTime),
        }
    }

    /// Charges one cycle for an access that both cores make in the order of their cycles. An error if the other core
    /// goes first.
    #[inline(always)]
    fn account_cycle_of_cross_core_access<B: Bus>(
        &mut self,
        core: &mut Core,
        other: &Core,
        bus: &mut B,
    ) -> Result<(), Flow> {
        if bus.must_wait_for_other_core(core, other, self.t) {
            core.remainder.restore_memory_access_to_remainder(B::ORDERED_MEMORY);
            core.limit = 0;
            return Err(Flow::Stalled);
        }
        self.t += timing::IO_PORT_CYCLES;
        Ok(())
    }

    /// Claims a transfer slot for an access to this offset of RAM, and returns its cycle.
    #[inline(always)]
    fn claim_ram_transfer_slot<B: Bus>(&self, core: &mut Core, bus: &mut B, offset: u32) -> u64 {
        if !CONTEND {
            return self.t;
        }
        let row = B::ram_bank_row(offset);
        bus.claim_transfer_slot(core, row, self.t, true)
    }

    /// Logs the memory of an access in the current basic block. An error if it has no number.
    #[inline(always)]
    pub fn log_accessed_memory(&mut self, memory: Option<u32>) -> Result<(), Flow> {
        let memory = memory.ok_or(Flow::InTime)?;
        self.accesses = self.accesses << Block::ACCESS_BITS | Block::ACCESS | u64::from(memory);
        Ok(())
    }

    /// Logs a branch target or an address that does not follow from the opcodes of a trace. A trace has room for one.
    /// An error if there is another one already.
    #[inline(always)]
    pub fn log_indirect_target(&mut self, what: u64) -> Result<(), Flow> {
        if self.indirect != Trace::NO_INDIRECT {
            return Err(Flow::NextTrace);
        }
        self.indirect = what;
        Ok(())
    }

    /// Ends the current instruction, whose access did not complete, by a fault or a retry.
    #[inline(always)]
    fn end_instruction_by_trap<B: Bus>(&self, core: &mut Core, bus: &mut B, trap: Trap) -> Flow {
        match trap {
            Trap::Fault(why) => self.fault_current_instruction(core, why),
            Trap::Defer => {
                core.limit = 0;
                *bus.next_event_cycle() = 0;
                // Its probes have fired. They must not fire again when it is retried.
                // SAFETY: `ip` points into the ops of the region.
                core.retried = unsafe { *self.ip }.code == Code::Attend;
                Flow::Stalled
            }
        }
    }
}
