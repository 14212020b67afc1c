//! Execution with cached timing, while the flash waits.

use rtoslab_cpu::v6m::core::{Core, Phase, Request};
use rtoslab_cpu::v6m::exec;
use rtoslab_cpu::v6m::timing_cache::{self, CacheableTimingBus, State, TimingCache};
use rtoslab_cpu::v6m::trace::Trace;
use rtoslab_cpu::v6m::translate::{MARKED_BYTES, NativeTrace, Quick, Translations};

use super::chip::FLASH_BASE;
use super::memory::MARK_SHIFT;
use super::system::System;

impl System {
    /// Executes the core up to `core.limit` with cached timing, and caches new timing.
    ///
    /// # Safety
    /// As for [`exec::run_cores`]. `cores[0]` is the core that this bus serves.
    pub(super) unsafe fn execute_with_cached_timing<const WATCH: u8>(&mut self, cores: *mut Core) {
        // SAFETY: the caller's promise.
        unsafe {
            let until = (*cores).limit;
            loop {
                if self.memories.decoded_code_version() != self.cached_edition {
                    self.cached_edition = self.memories.decoded_code_version();
                    self.timing_cache.forget_timing_and_native_code();
                }
                if std::mem::take(&mut self.memories.refreshed) {
                    self.timing_cache.compiled_traces().forget_all_translations();
                }
                if let Some(end) = self.timing_cache.backoff_end((*cores).t) {
                    (*cores).limit = end.min(until);
                    self.due = (*cores).limit;
                    exec::run_cores::<_, true, WATCH>(cores, 0, self);
                    if !self.can_core_continue(&mut *cores, until) {
                        return;
                    }
                    continue;
                }
                let whole = (*cores).transfer.mask == 0 && !(*cores).retried;
                let usual = (*cores).thumb && (*cores).stray.is_none();
                if !(whole && usual && timing_cache::run_traces(cores, self)) && (*cores).t + Trace::CYCLES > until {
                    return exec::run_cores::<_, true, WATCH>(cores, 0, self);
                }
                // Up to the next instruction, or word of a multiple transfer.
                let core = &mut *cores;
                core.limit = core.t + 1;
                self.due = core.limit;
                exec::run_cores::<_, true, WATCH>(cores, 0, self);
                if !self.can_core_continue(&mut *cores, until) {
                    return;
                }
            }
        }
    }

    /// Returns whether the core can continue without the machine after timed execution. Its limit is `until` again, or
    /// an earlier cycle.
    fn can_core_continue(&mut self, core: &mut Core, until: u64) -> bool {
        if self.due == 0 || core.request != Request::None || core.phase != Phase::Run {
            self.due = 0;
            return false;
        }
        // It may have begun something that ends sooner.
        self.due = until.min(core.systick.next_wrap_cycle()).min(self.devices.periph.next_advance_cycle());
        core.limit = self.due;
        core.t < self.due
    }
}

impl CacheableTimingBus for System {
    /// Returns the timing cache of the core.
    #[inline(always)]
    fn timing_cache(&mut self) -> &mut TimingCache {
        &mut self.timing_cache
    }

    /// Returns the state of the bus before the next instruction. `None` if it is too unusual to be cached.
    fn timing_state(&self, core: &Core) -> Option<State> {
        let [first, second, third] = self.flash.timing_state(core.t)?;
        let port = core.bus_free.saturating_sub(core.t);
        let fetch = core.fetch_ready.saturating_sub(core.t);
        (port <= 0xff && fetch <= 0xff).then_some([first, second, third | port << 48 | fetch << 56])
    }

    /// Sets the bus to a cached state, before the instruction at `core.t`.
    fn restore_timing_state(&mut self, core: &mut Core, state: &State) {
        self.flash.restore_timing_state(state, core.t);
        core.bus_free = core.t + (state[2] >> 48 & 0xff);
        core.fetch_ready = core.t + (state[2] >> 56);
    }
}

impl NativeTrace for System {
    /// Returns the JIT-compiled traces.
    #[inline(always)]
    fn compiled_traces(&mut self) -> &mut Translations {
        self.timing_cache.compiled_traces()
    }

    /// Returns the memories that native code accesses by itself. They stay the same as long as
    /// [`Translations::forget_all_translations`] is not called.
    #[inline(always)]
    fn native_memories(&mut self) -> Quick<'_> {
        const _: () = assert!(1 << MARK_SHIFT == MARKED_BYTES);
        let [flash, ram, _] = &mut self.memories.all;
        Quick { ram: &mut ram.bytes, marks: &ram.marks, constants: &flash.bytes, base: FLASH_BASE, resident: None }
    }
}
