//! One core executes while the other does not: its timing is remembered, and what comes often is code of the host.
//!
//! Nobody contends with the core, so that its time depends on nothing but its code: there is one state.

use rtoslab_cpu::v6m::core::{Core, Phase, Request};
use rtoslab_cpu::v6m::exec;
use rtoslab_cpu::v6m::memo::{self, Memo, Remembered, State};
use rtoslab_cpu::v6m::region::SLOTS;
use rtoslab_cpu::v6m::trace::Trace;
use rtoslab_cpu::v6m::translate::{self, MARKED_BYTES, Quick};
use rtoslab_periph::NEVER;

use super::map::FLASH_BASE;
use super::system::{MARKED, System};
use crate::xip;

/// What arbitration keeps of transfers.
#[derive(Debug, Clone)]
struct Transfers {
    slots: [u64; SLOTS * 16],
    busy: [u64; 16],
    others_claimed: u64,
    first: usize,
}

/// What is kept for a core that executes alone.
#[derive(Debug, Default)]
pub(super) struct Alone {
    pub memo: Memo,
    /// One executes so now, ahead of its time.
    pub ahead: bool,
    /// Those of the chip, while a trace's time is found out.
    transfers: Option<Box<Transfers>>,
}

impl System {
    /// Executes `cores[index]` up to its limit, remembering and using the timing of what executed before.
    ///
    /// # Safety
    /// As for [`exec::run`]; the other core does not execute meanwhile.
    pub(super) unsafe fn run_alone<const WATCH: u8>(&mut self, cores: *mut Core, index: usize) {
        // SAFETY: the caller's promise; a reference to the core ends before the interpreter runs.
        unsafe {
            let this = cores.add(index);
            let until = (*this).limit;
            loop {
                let in_backoff = self.alone.memo.backoff_end((*this).t);
                if in_backoff.is_none() {
                    self.alone.ahead = true;
                    let ran = is_usual(&*this) && memo::run(cores, index, self);
                    self.alone.ahead = false;
                    if !ran && (*this).t + Trace::CYCLES > until {
                        return exec::run::<_, false, WATCH>(cores, index, self);
                    }
                }
                // Up to the next instruction, or word of a multiple transfer; in a back-off to its end.
                (*this).limit = in_backoff.map_or((*this).t + 1, |end| end.min(until));
                self.due = (*this).limit;
                exec::run::<_, false, WATCH>(cores, index, self);
                if !self.goes_on(&mut *this, until) {
                    return;
                }
            }
        }
    }

    /// Whether the core goes on without the machine after it executed in time; its limit is `until` again, or sooner.
    fn goes_on(&mut self, core: &mut Core, until: u64) -> bool {
        if self.due == 0 || core.request != Request::None || core.phase != Phase::Run {
            self.due = 0;
            return false;
        }
        // It may have begun something that ends sooner.
        self.due = until.min(core.systick.due()).min(self.periph.due()).min(self.periph.dma_due());
        core.limit = self.due;
        core.t < self.due
    }

    /// Code is another now, or its time.
    pub(super) fn forget_remembered(&mut self) {
        self.pairs.clear();
        self.alone.memo.clear();
    }
}

/// It stands before an instruction, and nothing is to be done first.
fn is_usual(core: &Core) -> bool {
    core.transfer.mask == 0 && !core.retried && core.brought.is_none() && core.thumb && core.stray.is_none()
}

impl Remembered for System {
    #[inline(always)]
    fn memo(&mut self) -> &mut Memo {
        &mut self.alone.memo
    }

    fn state(&self, core: &Core) -> Option<State> {
        (core.bus_free <= core.t && core.fetch_ready <= core.t).then_some([0; 3])
    }

    fn resume(&mut self, _: &mut Core, _: &State) {}

    /// The other core may have transferred ahead of this one's time before it went to sleep.
    fn rehearse(&mut self, on: bool) {
        if on {
            let System { slots, busy, others_claimed, first, .. } = *self;
            self.alone.transfers = Some(Box::new(Transfers { slots, busy, others_claimed, first }));
            (self.slots, self.busy) = ([NEVER; SLOTS * 16], [0; 16]);
        } else if let Some(kept) = self.alone.transfers.take() {
            (self.slots, self.busy) = (kept.slots, kept.busy);
            (self.others_claimed, self.first) = (kept.others_claimed, kept.first);
        }
    }

    fn quick(&mut self) -> Quick {
        const _: () = assert!(MARKED == MARKED_BYTES && xip::LINE_BYTES == translate::LINE_BYTES);
        let flash = self.periph.ssi.flash.bytes();
        Quick {
            marks: self.marks.as_ptr(),
            constants: flash.as_ptr(),
            base: FLASH_BASE,
            bytes: flash.len() as u32,
            resident: self.xip.lines().as_ptr(),
        }
    }
}
