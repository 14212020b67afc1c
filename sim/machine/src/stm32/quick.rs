//! The memories that the executor's timing cache ([`rtoslab_cpu::v7m::timing_cache`]) may use.

use rtoslab_cpu::profile::ProfileCell;
use rtoslab_cpu::timing_store::Counts;
use rtoslab_cpu::v7m::core::{Core, Request};
use rtoslab_cpu::v7m::op::Op;
use rtoslab_cpu::v7m::timing_cache::{
    self, CacheLookupReplayData, CacheableTiming, CachedConstantMemory, ConstantMemoryAddresses, DirectRamAccess,
    QuickBus, RamLayout, Repeats, StoreWatchStatus, TimingCache,
};

use super::chip::{FLASH_BASE, Kind, RAM_BASE};
use super::family::Stm32ChipFamily;
use super::flash::CacheableFlash;
use super::runner::Runner;
use super::system::{Home, MARK_CODE, MARK_SHIFT, System, read_little_endian, write_little_endian};

impl<F: Stm32ChipFamily> Runner<F::Pipe, System<F>> for TimingCache<F::Pipe, System<F>>
where
    F::Pipe: CacheableTiming,
    F::Flash: CacheableFlash,
{
    /// Executes instructions until `core.t` reaches `core.limit` or the core requests something of the machine. Logs no
    /// steps for observers, and checks no MPU.
    unsafe fn run_to_limit<const WATCH: u8>(&mut self, core: &mut Core, pipe: &mut F::Pipe, bus: &mut System<F>) {
        debug_assert!(core.request == Request::None);
        // SAFETY: the caller's promise.
        unsafe { TimingCache::run_with_cached_timing::<WATCH>(self, core, pipe, bus) };
    }

    /// The state on which the future timing of pipeline and memories depends. Times are relative to now.
    type State = (<F::Pipe as CacheableTiming>::State, <System<F> as QuickBus>::State);

    /// Returns the state before the core's next instruction. `None` if it cannot be cached.
    fn timing_state(core: &Core, pipe: &F::Pipe, bus: &System<F>) -> Option<Self::State> {
        let state = || pipe.timing_state(core).zip(QuickBus::timing_state(bus, core.t));
        bus.is_timing_cached_at(core.address_of_op(core.ip)).then(state)?
    }

    /// Sets pipeline and bus to a state, before the core's next instruction and at the core's time.
    fn restore_timing_state(state: &Self::State, core: &mut Core, pipe: &mut F::Pipe, bus: &mut System<F>) {
        pipe.restore_timing_state(&state.0, core);
        QuickBus::restore_timing_state(bus, &state.1, core.t);
    }

    /// Removes the profile of instructions with cached timing and returns it, as addresses and their cycles.
    fn take_profile(&mut self) -> impl Iterator<Item = (u32, ProfileCell)> {
        TimingCache::take_profile(self)
    }

    /// Empties the timing cache, because timing rules changed.
    fn clear_timing_cache(&mut self) {
        TimingCache::forget_timing_and_native_code(self);
    }

    /// Sets after how many executions traces are JIT-compiled. 0: never.
    fn set_translation_threshold(&mut self, executions: u32) {
        TimingCache::set_translation_threshold(self, executions);
    }

    /// Returns how often cached timing was used, and what native code did.
    fn timing_cache_counts(&self) -> Counts {
        TimingCache::timing_cache_counts(self)
    }
}

impl<F: Stm32ChipFamily> QuickBus for System<F>
where
    F::Flash: CacheableFlash,
{
    /// The state on which the timing of future fetches depends, without caches. Times are relative to now.
    type State = <F::Flash as CacheableFlash>::State;
    /// The look-ups of a trace's fetches in caches, with their answers.
    type Lookups = <F::Flash as CacheableFlash>::Lookups;

    /// Returns a number that changes with opcodes and timing rules. Timing that was cached under another number is
    /// void.
    fn timing_epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns whether to cache the timing of code at this address.
    #[inline(always)]
    fn is_timing_cached_at(&self, address: u32) -> bool {
        !F::CACHES || self.are_fetches_timed_by_rule(address)
    }

    /// Returns the bus state at cycle `t`, for a node of the timing cache. `None` if it cannot be cached.
    fn timing_state(&self, t: u64) -> Option<Self::State> {
        self.flash_port.timing_state(t)
    }

    /// Sets the bus to a cached state at cycle `t`.
    fn restore_timing_state(&mut self, state: &Self::State, t: u64) {
        self.flash_port.restore_timing_state(state, t);
    }

    /// Returns main RAM, if native code may access it directly, to the same effect as [`QuickBus::ram_load`] and
    /// [`QuickBus::ram_store`].
    #[inline(always)]
    fn native_ram(&mut self) -> Option<DirectRamAccess<'_>> {
        const _: () = assert!(1 << MARK_SHIFT == timing_cache::MARKED_BYTES);
        let layout = RamLayout { base: RAM_BASE, split: self.ram_split, end: self.fast_end };
        Some(DirectRamAccess { bytes: &mut self.ram, marks: &self.marks, layout })
    }

    /// Returns the constant memory whose loads are answered by a cache at once, if native code can read it by itself.
    fn native_constants(&self) -> Option<CachedConstantMemory> {
        let (line_bytes, sets) = F::Flash::CONSTANTS?;
        Some(CachedConstantMemory { base: FLASH_BASE, bytes: self.map.flash_bytes, line_bytes, sets })
    }

    /// Returns the current host address of the constant memory, and of the table of its cache lines.
    #[inline(always)]
    fn constants_at(&mut self) -> ConstantMemoryAddresses {
        ConstantMemoryAddresses { bytes: self.flash.as_ptr() as u64, found: self.flash_port.hit_line_table_address() }
    }

    /// Loads from main RAM. Returns the value and the part of RAM that answers, or `None` for other addresses.
    #[inline(always)]
    fn ram_load(&mut self, address: u32, bytes: u32) -> Option<(u32, timing_cache::Home)> {
        let offset = address.wrapping_sub(RAM_BASE);
        if !self.is_in_fast_ram(offset) {
            return None;
        }
        // SAFETY: it is in the RAM.
        let value = unsafe { read_little_endian(self.ram.as_ptr().add(offset as usize), bytes) };
        Some((value, self.timing_memory_kind_of_ram_offset(offset)))
    }

    /// Loads from RAM or flash, if the timing follows a fixed rule. Returns the value and the memory that answers, or
    /// `None`.
    #[inline(always)]
    fn quick_load(&mut self, address: u32, bytes: u32) -> Option<(u32, timing_cache::Home)> {
        let loaded = self.ram_load(address, bytes);
        if loaded.is_some() {
            return loaded;
        }
        let offset = address.wrapping_sub(FLASH_BASE);
        if self.is_in_flash(offset, bytes) {
            let home = self.flash_port.data_read_source(address)?;
            // SAFETY: it is in the flash.
            return Some((unsafe { read_little_endian(self.flash.as_ptr().add(offset as usize), bytes) }, home));
        }
        None
    }

    /// Stores to main RAM and returns the part of RAM that was written. `None`, without a store, at other addresses,
    /// and if the store would change code or a watched word.
    #[inline(always)]
    fn ram_store(&mut self, address: u32, bytes: u32, value: u32) -> Option<timing_cache::Home> {
        let offset = address.wrapping_sub(RAM_BASE);
        if !self.is_in_fast_ram(offset) {
            return None;
        }
        // SAFETY: it is in the RAM, which has a mark for each page.
        unsafe {
            if *self.marks.get_unchecked((offset >> MARK_SHIFT) as usize) != 0 {
                return None;
            }
            write_little_endian(self.ram.as_mut_ptr().add(offset as usize), bytes, value);
        }
        Some(self.timing_memory_kind_of_ram_offset(offset))
    }

    /// Returns whether all loads (or stores) in this range of addresses succeed and reach the same memory.
    #[inline(always)]
    fn quick_range(&self, address: u32, bytes: u32, store: bool) -> bool {
        let first = address.wrapping_sub(RAM_BASE);
        let last = first.wrapping_add(bytes - 1);
        if first > last
            || last >= self.fast_bytes
            || self.timing_memory_kind_of_ram_offset(first) != self.timing_memory_kind_of_ram_offset(last)
        {
            return false;
        }
        !store
            || !self.is_near_code_or_watched_word(first) && !self.is_near_code_or_watched_word(last)
            || self.is_ordinary_ram_store(first, bytes)
    }

    /// Stores to main RAM and returns the part of RAM that was written, and whether the word is watched. `None`,
    /// without a store, at other addresses, and if the store would change code, or a watched word while `watched` is
    /// false.
    fn quick_store(
        &mut self,
        address: u32,
        bytes: u32,
        value: u32,
        watched: bool,
    ) -> Option<(timing_cache::Home, StoreWatchStatus)> {
        if let Some(home) = self.ram_store(address, bytes, value) {
            return Some((home, StoreWatchStatus::No));
        }
        let offset = address.wrapping_sub(RAM_BASE);
        if !self.is_in_fast_ram(offset) || self.would_overwrite_code(offset, bytes) {
            return None;
        }
        let watch = if self.watched.contains_word(offset) { StoreWatchStatus::Yes } else { StoreWatchStatus::No };
        if watch == StoreWatchStatus::Yes && !watched {
            return None;
        }
        // SAFETY: it is in the RAM.
        unsafe { write_little_endian(self.ram.as_mut_ptr().add(offset as usize), bytes, value) };
        Some((self.timing_memory_kind_of_ram_offset(offset), watch))
    }

    /// Reports a store to a watched word, made in cycle `at` by the instruction at `pc` ([`QuickBus::quick_store`]).
    fn report_watched_store(&mut self, core: &mut Core, address: u32, pc: u32, at: u64) {
        self.report_watched_store_at(core, address, pc, at);
    }

    /// Returns the instruction in whose place is a stub op, without firing its probes.
    fn op_behind_stub(&mut self, core: &Core, address: u32) -> Op {
        self.instruction_with_probes_at(core.features, address).0
    }

    /// Returns an address in this memory.
    fn address_in_memory(&self, home: timing_cache::Home) -> u32 {
        match home {
            timing_cache::Home::First => RAM_BASE,
            timing_cache::Home::Second => RAM_BASE + self.ram_split,
            timing_cache::Home::Cached | timing_cache::Home::Waiting => FLASH_BASE,
        }
    }

    /// Begins to record the look-ups of fetches in caches.
    fn record_lookups(&mut self) {
        self.flash_port.record_lookups();
    }

    /// Ends the recording and returns the look-ups. `None` if they cannot be repeated.
    fn take_recorded_lookups(&mut self) -> Option<Self::Lookups> {
        self.flash_port.take_recorded_lookups()
    }

    /// Repeats recorded cache look-ups. Returns true if the answers are the same as before. If not, nothing is changed.
    #[inline(always)]
    fn repeat_lookups(&mut self, lookups: &mut Self::Lookups) -> bool {
        self.flash_port.repeat_lookups(lookups)
    }

    const REPEATS: Repeats = <F::Flash as CacheableFlash>::REPEATS;

    /// Returns what native code needs to repeat cache look-ups by itself, until the next look-up or fetch.
    #[inline(always)]
    fn native_lookup_data(&mut self) -> CacheLookupReplayData {
        self.flash_port.native_lookup_data()
    }
}

impl<F: Stm32ChipFamily> System<F>
where
    F::Flash: CacheableFlash,
{
    /// Returns whether code at an address comes from a memory, or through a cache, that answers at once.
    fn are_fetches_timed_by_rule(&self, address: u32) -> bool {
        match self.memory_at(address) {
            Some((Home::Flash, offset)) => address == FLASH_BASE + offset && self.flash_port.are_fetches_cached(),
            Some((home, offset)) => {
                self.memory_kind_at(home, offset) != Kind::Axi || self.flash_port.are_fetches_cached()
            }
            None => false,
        }
    }
}

impl<F: Stm32ChipFamily> System<F> {
    /// Returns whether a store to main RAM changes neither code nor a watched word, although its page contains some.
    fn is_ordinary_ram_store(&self, offset: u32, bytes: u32) -> bool {
        !self.would_overwrite_code(offset, bytes)
            && (offset & !3..offset + bytes).step_by(4).all(|at| !self.watched.contains_word(at))
    }

    /// Returns whether a store to main RAM would overwrite decoded code.
    fn would_overwrite_code(&self, offset: u32, bytes: u32) -> bool {
        let marked = |at: u32| self.marks[(at >> MARK_SHIFT) as usize] & MARK_CODE != 0;
        let table = || self.tables.iter().find(|table| table.contains_address(RAM_BASE + offset));
        (marked(offset) || marked(offset + bytes - 1))
            && table().is_some_and(|table| table.has_decoded_ops(RAM_BASE + offset, bytes))
    }

    /// Returns the part of main RAM that contains an offset.
    #[inline(always)]
    fn timing_memory_kind_of_ram_offset(&self, offset: u32) -> timing_cache::Home {
        if offset < self.ram_split { timing_cache::Home::First } else { timing_cache::Home::Second }
    }
}

#[cfg(test)]
mod tests {
    use rtoslab_cpu::v7m::bus::Bus;
    use rtoslab_periph::stm32::Chip;

    use super::*;
    use crate::stm32::families::{F1, F4, Run, Stm32F7H7Family};
    use crate::stm32::machine::{Machine, Options};

    /// Accesses around the end of the memories, as any caller may make them.
    fn ends_are_preserved<F: Run>(chip: Chip)
    where
        F::Flash: CacheableFlash,
    {
        let mut machine = Machine::<F>::new(chip, &Options::default());
        let (core, bus) = (&mut machine.core, &mut *machine.system);
        let (ram, flash) = (RAM_BASE + bus.fast_bytes, FLASH_BASE + bus.map.flash_bytes);
        for back in 1..4 {
            assert_eq!(bus.ram_load(ram - back, 4), None);
            assert_eq!(bus.quick_load(flash - back, 4), None);
            assert_eq!(bus.ram_store(ram - back, 4, 1), None);
            // No trap, no harm: what nothing answers to is for the caller to tell.
            let _ = bus.load_data(core, ram - back, 4, 0);
            let _ = bus.load_data(core, flash - back, 4, 0);
        }
        assert!(bus.ram_load(ram - 4, 4).is_some() && bus.ram_store(ram - 4, 4, 1).is_some());
        // The last bytes take another way in the same time.
        for (back, bytes) in [(1, 1), (2, 2), (2, 1), (3, 1)] {
            let mut times = [0, 0x100].map(|further| {
                let address = ram - back - further;
                let stored = bus.store_data(core, address, bytes, 0x5a + back, 0).expect("RAM");
                let loaded = bus.load_data(core, address, bytes, 0).expect("RAM");
                assert_eq!(loaded.value, 0x5a + back, "{back} {bytes} {further:#x}");
                (stored, loaded.wait)
            });
            times.sort_unstable();
            assert_eq!(times[0], times[1], "{back} {bytes}");
        }
    }

    #[test]
    fn no_access_crosses_memory_end() {
        ends_are_preserved::<F1>(Chip::F103);
        ends_are_preserved::<F4>(Chip::F446);
        ends_are_preserved::<Stm32F7H7Family>(Chip::F767);
        ends_are_preserved::<Stm32F7H7Family>(Chip::H743);
    }
}
