//! The memory that native code accesses by itself, and the timing of a lone core's path.

use rtoslab_cpu::v6m::native_path::{SingleCoreNativeState, TimedNativeCodeBus};
use rtoslab_cpu::v6m::region::SLOTS;
use rtoslab_cpu::v6m::translate::{self, MARKED_BYTES, NativeTrace, Quick, Translations};
use rtoslab_periph::NEVER;

use super::map::{FLASH_BASE, MARKED};
use super::single_core::RecordedBusTransfers;
use super::system::System;
use crate::xip;

impl System {
    /// Forgets cached timing and native code, because code or its timing changed.
    pub(super) fn drop_cached_timing_and_native_code(&mut self) {
        self.pairs.forget_timing_and_native_code();
        self.alone.translations.forget_all_translations();
    }
}

impl NativeTrace for System {
    /// Returns the JIT-compiled traces.
    #[inline(always)]
    fn compiled_traces(&mut self) -> &mut Translations {
        &mut self.alone.translations
    }

    /// Returns the memories that native code accesses by itself. They stay the same as long as
    /// [`Translations::forget_all_translations`] is not called.
    #[inline(always)]
    fn native_memories(&mut self) -> Quick<'_> {
        const _: () = assert!(MARKED == MARKED_BYTES && xip::FILL_BYTES == translate::LINE_BYTES);
        Quick {
            ram: &mut self.sram,
            marks: &self.marks,
            constants: self.periph.ssi.flash.flash_content(),
            base: FLASH_BASE,
            resident: Some(self.xip.half_line_presence_flags()),
        }
    }
}

impl TimedNativeCodeBus for System {
    /// Returns the state of the native execution of a single core.
    fn native_paths(&mut self) -> &mut SingleCoreNativeState {
        &mut self.alone.native_paths
    }

    /// Returns whether one core executes alone now. While it only repeats instructions that were rolled back, it does
    /// not count as alone.
    #[inline(always)]
    fn is_single_core(&self) -> bool {
        self.alone.is_now
    }

    /// Begins or ends the simulation of a trace's timing, in which transfers that the other core made ahead of this
    /// core's time do not count.
    fn isolate_simulation(&mut self, on: bool) {
        if on {
            let System { slots, busy, others_claimed, first, .. } = *self;
            self.alone.transfers = Some(Box::new(RecordedBusTransfers { slots, busy, others_claimed, first }));
            (self.slots, self.busy) = ([NEVER; SLOTS * 16], [0; 16]);
        } else if let Some(kept) = self.alone.transfers.take() {
            (self.slots, self.busy) = (kept.slots, kept.busy);
            (self.others_claimed, self.first) = (kept.others_claimed, kept.first);
        }
    }
}
