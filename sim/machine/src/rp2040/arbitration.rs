//! Transfer slots: which core has a bus slave in which cycle, and what is cached of that.

use rtoslab_cpu::exception_outcome::ExceptionStepResult;
use rtoslab_cpu::v6m::bus::ChipBusFabric;
use rtoslab_cpu::v6m::core::{Core, Phase};
use rtoslab_cpu::v6m::exception::ExceptionTiming;
use rtoslab_cpu::v6m::pair::{Bank, DualCoreBus, DualCoreTimingCache, Probe, State};
use rtoslab_cpu::v6m::region::SLOTS;
use rtoslab_periph::NEVER;

use super::map::{CPUID, FLASH_BASE, SIO, SRAM_BASE, STRIPED_BYTES, slave, sram_bank_of};
use super::system::System;
use crate::m0plus::face;
use crate::observe::record_exception_events;
use crate::words::read_little_endian;

impl System {
    /// Makes a bus slave refuse transfers before cycle `until`, because a long transfer occupies it. Data accesses
    /// check this themselves. The other core's fetches from the flash wait when its turn begins.
    pub(super) fn keep_slave_busy_until<const CONTEND: bool>(&mut self, slave: usize, until: u64) {
        self.busy[slave] = self.busy[slave].max(until);
        if CONTEND && slave == slave::XIP {
            self.due = 0;
        }
    }

    /// Claims a slot for a data transfer to any slave, which may also be busy with a long transfer. Returns its cycle.
    pub(super) fn claim_data_transfer_slot(&mut self, core: &mut Core, slave: usize, at: u64) -> u64 {
        core.bus_free = core.bus_free.max(self.busy[slave]);
        let slot = self.claim_transfer_slot(core, System::first_bus_slot_of_slave(slave), at, true);
        if slave >= MEMORIES {
            self.others_claimed = self.others_claimed.max(slot);
        }
        slot
    }

    /// Returns the first transfer slot of a slave.
    #[inline(always)]
    pub(super) fn first_bus_slot_of_slave(slave: usize) -> usize {
        slave * SLOTS
    }

    /// Returns the transfer slot of a cycle in the row that begins with slot `row`.
    #[inline(always)]
    pub(super) fn bus_transfer_slot_of_cycle(&mut self, row: usize, cycle: u64) -> &mut u64 {
        let all = self.slots.len();
        &mut self.slots[(row + cycle as usize % SLOTS) % all]
    }

    /// Notes that the core lost a transfer slot to the other one. It goes first in the next tie, unless the chip fixes
    /// which core does.
    #[inline(always)]
    pub(super) fn record_lost_bus_transfer_slot(&mut self, core: &mut Core) {
        if self.fixed_first.is_none() {
            self.first = core.id;
            core.take_same_cycle_precedence();
        }
    }

    /// Claims the next free slot after one was lost to the other core, or to this core's own delayed fetch.
    #[cold]
    #[inline(never)]
    pub(super) fn claim_next_free_bus_slot(&mut self, core: &mut Core, row: usize, wanted: u64, stalls: bool) -> u64 {
        let mut slot = wanted.max(core.bus_free);
        while *self.bus_transfer_slot_of_cycle(row, slot) == slot {
            slot += 1;
        }
        *self.bus_transfer_slot_of_cycle(row, slot) = slot;
        core.bus_free = slot + 1;
        if stalls {
            core.bus_wait += slot - wanted;
        } else {
            core.fetch_ready = slot + 2;
        }
        self.record_lost_bus_transfer_slot(core);
        slot
    }
}

/// Transfers of a stack frame, one a cycle.
const FRAME_CYCLES: u64 = 8;
/// Slaves that a basic block's transfers go to: all memories.
const MEMORIES: usize = slave::ROM + 1;
const _: () = assert!(MEMORIES * SLOTS == 2 * u64::BITS as usize);

impl System {
    /// Returns the transfer slots of the memories that are taken from cycle `now` on, one bit each. It looks at all
    /// slots, for a check.
    #[cfg(debug_assertions)]
    fn bus_slots_taken_from_cycle(&self, now: u64) -> [u64; 2] {
        let mut taken = [0; 2];
        for (slave, row) in self.slots[..MEMORIES * SLOTS].chunks_exact(SLOTS).enumerate() {
            for ahead in row.iter().map(|cycle| cycle.wrapping_sub(now)).filter(|&ahead| ahead < SLOTS as u64) {
                taken[slave / 4] |= 1 << (slave % 4 * SLOTS + ahead as usize);
            }
        }
        taken
    }

    /// Returns the transfer slots of the memories that are taken in the cycles from `now` to `last`, one bit each.
    fn bus_slots_taken_in_cycle_range(&self, now: u64, last: u64) -> [u64; 2] {
        let mut taken = [0; 2];
        for ahead in 0..(last + 1 - now).min(SLOTS as u64) {
            let column = (now + ahead) as usize % SLOTS;
            for slave in 0..MEMORIES {
                let is_taken = self.slots[slave * SLOTS + column] == now + ahead;
                taken[slave / 4] |= u64::from(is_taken) << (slave % 4 * SLOTS + ahead as usize);
            }
        }
        taken
    }
}

impl ChipBusFabric for System {
    /// Returns the first transfer slot of the bank that contains this RAM offset.
    #[inline(always)]
    fn ram_bank_row(offset: u32) -> usize {
        if offset < STRIPED_BYTES {
            // The word's bank, times the slots of a row.
            return (offset & 0xc) as usize * (SLOTS / 4);
        }
        System::first_bus_slot_of_slave(sram_bank_of(offset))
    }

    /// Returns the number of the memory, or of the set of interleaved memories, that contains `bytes` bytes (up to 6)
    /// of RAM at this offset. `None` if they are in several.
    #[inline(always)]
    fn memory_number_at(offset: u32, bytes: u32) -> Option<u32> {
        let last = offset + bytes - 1;
        if last < STRIPED_BYTES {
            return Some(offset >> 2 & 3);
        }
        (offset >> 12 == last >> 12).then(|| sram_bank_of(offset) as u32)
    }

    /// Returns a RAM address in the memory with this number.
    #[inline(always)]
    fn sample_address_in_memory(memory: u32) -> u32 {
        let bank = memory % slave::SRAM4 as u32;
        SRAM_BASE + if memory == bank { 4 * bank } else { STRIPED_BYTES + 0x1000 * bank }
    }

    /// Claims the first free transfer slot at or after `at` and `core.bus_free` in the row that begins with slot `row`,
    /// and returns its cycle.
    #[inline(always)]
    fn claim_transfer_slot(&mut self, core: &mut Core, row: usize, at: u64, stalls: bool) -> u64 {
        if at < core.bus_free {
            return self.claim_next_free_bus_slot(core, row, at, stalls);
        }
        let held = self.bus_transfer_slot_of_cycle(row, at);
        if *held != at {
            *held = at;
            return at;
        }
        // Lost by one cycle, which is nearly every collision: the other core has the slot.
        let slot = at + 1;
        let next = self.bus_transfer_slot_of_cycle(row, slot);
        if *next == slot {
            return self.claim_next_free_bus_slot(core, row, at, stalls);
        }
        *next = slot;
        core.bus_free = slot + 1;
        if stalls {
            core.bus_wait += 1;
        } else {
            core.fetch_ready = slot + 2;
        }
        self.record_lost_bus_transfer_slot(core);
        slot
    }

    /// Returns the first cycle in which the memory of `core`'s code is not busy with a long transfer.
    #[inline]
    fn code_memory_free_cycle(&self, core: &Core) -> u64 {
        if core.region.cached { self.busy[slave::XIP] } else { 0 }
    }

    /// Returns the number of the core that goes first when both issue in the same cycle.
    #[inline(always)]
    fn tie_winner(&self) -> usize {
        self.first
    }

    /// Returns whether an access of `core` in cycle `t` that both cores must make in order comes after the other core's
    /// instruction of the same cycle. Only asked where timing is simulated.
    #[inline(never)]
    fn must_wait_for_other_core(&mut self, core: &Core, other: &Core, t: u64) -> bool {
        // A core that stacks for an exception leaves the other one alone.
        let runs = other.phase == Phase::Run;
        let tied = runs && core.remainder.gives_way && other.t == t && self.first == core.id;
        let gives_way = tied && !self.is_instruction_unaffected_by_other_core(other.next_instruction_address());
        if gives_way {
            self.first = other.id;
        }
        gives_way
    }

    /// Charges a load from constant memory at cycle `t`. Returns the cycle in which it is complete.
    #[inline(never)]
    fn charge_constant_load(&mut self, core: &mut Core, t: u64) -> u64 {
        self.claim_data_transfer_slot(core, slave::XIP, t) + 2
    }
}

impl DualCoreBus for System {
    const OWN_NUMBER: u32 = CPUID;

    /// Returns the bank of main RAM with a number of
    /// [`Fabric::memory_number_at`](crate::v6m::bus::Fabric::memory_number_at). `None` if it is no RAM.
    fn ram_bank(&self, memory: u32) -> Option<Bank> {
        match memory as usize {
            ..slave::SRAM4 => Some(Bank { first: 0, bytes: STRIPED_BYTES, is_interleaved: true }),
            slave::SRAM4..slave::XIP => Some(Bank {
                first: System::sample_address_in_memory(memory) - SRAM_BASE,
                bytes: 0x1000,
                is_interleaved: false,
            }),
            _ => None,
        }
    }

    /// Returns whether accesses of both cores to this address may have to be made in the order of their cycles.
    #[inline(always)]
    fn may_be_ordered(address: u32) -> bool {
        address >> 28 == SIO
    }

    /// Returns the word of constant memory at this address, if there is one.
    fn word_of_code(&self, address: u32) -> Option<u32> {
        let is_present = address >> 24 == FLASH_BASE >> 24 && address.is_multiple_of(4);
        is_present.then(|| {
            read_little_endian(self.periph.ssi.flash.flash_content(), self.flash_offset_of_cached_address(address), 4)
        })
    }

    /// Returns the probes on the instruction at this address.
    fn probe_at(&self, address: u32) -> Probe {
        Probe { address, number: self.probes.probe_site_number(address) }
    }

    /// Fires these probes on the core's next instruction, in this cycle. Returns false if a probe stops the run, so
    /// that it cannot fire ahead of time.
    #[inline(always)]
    fn fire_probes(&mut self, core: &Core, Probe { address, number }: Probe, cycle: u64) -> bool {
        if self.probes.does_run_stop_before_address(address) {
            return false;
        }
        let resumed = self.passed_until[core.id].take() == Some(address);
        let held = self.probed_registers(core, number);
        self.probes.fire_probes_at_known_site(number, address, core.id, cycle, held, resumed);
        true
    }

    /// Returns how many lines the cache of code in flash has dropped so far.
    #[inline(always)]
    fn dropped_cache_line_count(&self) -> u64 {
        self.xip.count_evicted_half_lines()
    }

    /// Returns the timing cache of the two cores.
    #[inline(always)]
    fn pair_timing_cache(&mut self) -> &mut DualCoreTimingCache {
        &mut self.pairs
    }

    /// Returns the current state of the cores' timing, between instructions. `None` if it is too unusual to be cached.
    fn timing_state(&self, first: &Core, other: &Core) -> Option<State> {
        let now = first.t.min(other.t);
        if self.busy.iter().any(|&free| free > now) {
            return None;
        }
        if self.others_claimed >= now {
            return None;
        }
        // A core is never after its claims, apart from a fetch that came late, and a frame if that is over at once.
        let ends = [first, other].map(|core| core.t.max(core.bus_free).max(core.fetch_ready));
        let timing = self.timing.exception_timing();
        let last = if timing.entry.min(timing.exit) < 8 { now + SLOTS as u64 } else { ends[0].max(ends[1]) };
        let mut state = State { slots: self.bus_slots_taken_in_cycle_range(now, last), ..State::default() };
        #[cfg(debug_assertions)]
        assert_eq!(state.slots, self.bus_slots_taken_from_cycle(now));
        // What is after a core does not matter to it any more.
        let pending = |cycle: u64, core: &Core| if cycle > core.t { cycle - now } else { 0 };
        let times = [
            first.t - now,
            other.t - now,
            pending(first.bus_free, first),
            pending(other.bus_free, other),
            pending(first.fetch_ready, first),
            pending(other.fetch_ready, other),
        ];
        for (index, time) in times.into_iter().enumerate() {
            state.times |= u64::from(u8::try_from(time).ok()?) << (8 * index);
        }
        state.times |= State::FIRST * u64::from(self.first == first.id);
        state.times |= State::cores_in_exception([first, other].map(|core| matches!(core.phase, Phase::Entry { .. })));
        Some(state)
    }

    /// Returns whether the instruction at this address has the same result before and after an access of the other core
    /// in the same cycle.
    fn is_order_irrelevant(&self, address: u32) -> bool {
        self.is_instruction_unaffected_by_other_core(address)
    }

    /// Returns whether a spinlock is taken now.
    fn is_locked(&self, lock: u8) -> bool {
        self.periph.sio.is_locked(lock)
    }

    /// Adds to the lock's statistics that this core read it as taken `times` more times.
    fn count_failed_lock_reads(&mut self, lock: u8, core: usize, times: u64) {
        self.periph.sio.count_failed_lock_reads(lock, core, times);
    }

    /// Returns the table of the memories' transfer slots, which is a part of the timing state of two cores.
    fn memory_slots(&mut self) -> &mut [u64] {
        &mut self.slots[..MEMORIES * SLOTS]
    }

    /// Returns the settings of exception timing. `None` if exceptions cannot be taken while timing is cached.
    fn exception_timing(&self) -> Option<ExceptionTiming> {
        let timing = self.timing.exception_timing();
        // The frame is through before the core continues.
        let shortest = timing.late_arrival.min(timing.entry).min(timing.exit);
        (shortest > FRAME_CYCLES).then_some(timing)
    }

    /// Reports the outcome of an exception step that a core made since cycle `before`.
    fn report_exception(&mut self, core: &Core, outcome: ExceptionStepResult, before: u64) {
        record_exception_events(
            &mut self.probes,
            core.id,
            (face::next_instruction_address(core), core.t),
            outcome,
            before,
        );
    }

    /// Sets bus and cores to a cached state at cycle `now`.
    fn restore_timing_state(&mut self, state: &State, now: u64, first: &mut Core, other: &mut Core) {
        self.slots[..MEMORIES * SLOTS].fill(NEVER);
        for (half, mut taken) in state.slots.into_iter().enumerate() {
            while taken != 0 {
                let bit = taken.trailing_zeros() as usize;
                taken &= taken - 1;
                let cycle = now + (bit % SLOTS) as u64;
                *self.bus_transfer_slot_of_cycle(half * u64::BITS as usize + bit / SLOTS * SLOTS, cycle) = cycle;
            }
        }
        let time = |index: u32| now + (state.times >> (8 * index) & 0xff);
        (first.t, other.t) = (time(0), time(1));
        (first.bus_free, other.bus_free) = (time(2), time(3));
        (first.fetch_ready, other.fetch_ready) = (time(4), time(5));
        self.first = if state.times & State::FIRST != 0 { first.id } else { other.id };
    }
}
