//! Remembered timing of one core with a pipeline: M3, M4 and M7.
//!
//! Reporting every instruction to the pipeline is slow, and mostly the answer is known: the same instructions ran before,
//! in the same state of pipeline and flash interface. So the executor runs ahead. It executes a trace (instructions up to
//! a branch by register) without any time, and logs what their time depends on. Then a table says what the trace takes.
//!
//! ```text
//!   execute a trace ──> state + start, end, log ──found──> add its cycles; the new state is known, too
//!   without time           name a transition    │
//!                                               └─new──> replay the log to the pipeline; remember the outcome
//! ```
//!
//! Besides the opcodes, time depends on which branches were taken, which memory answered each access, which predicated
//! instructions were skipped, how long divisions took; on the M7 also on banks, on how many stores ago a loaded
//! doubleword was stored, and on whether the predictor was right. That is what the log contains. A state holds times as
//! distances from now, so that the same state recurs. [`replay`] reports a new transition to the pipeline.
//!
//! So the timing rules stand in the pipelines alone, and nothing is approximated. A trace contains only what [`manner`]
//! lists, accesses only memories that answer by fixed rules, and begins so far from the next event that it cannot reach
//! it. Everything else takes the executor's usual path, one instruction at a time.

mod distance;
mod log;
mod manner;
mod replay;
mod table;
mod trace;
mod traits;
mod untimed;

use super::code::Code;
use super::core::{Core, Request};
use super::exec;
use super::op::Op;
use crate::states::{Counts, States};
use crate::step::watch;
pub use distance::{Distances, OPEN, cycle_at};
pub use log::Log;
use manner::{MANNERS, Manner};
use replay::{Trace, replay};
use table::{Key, STATES, Transition, Transitions};
use trace::{End, execute_trace};
pub use traits::{Memorable, QuickBus, is_store};

/// Most instructions in a trace.
const TRACE_INSTRUCTIONS: u32 = 18;
/// Most instructions in a trace that may not be that long because an event is near. An IT block fits.
const SHORT_INSTRUCTIONS: u32 = 6;
/// More cycles than any instruction takes: it moves up to 32 words and waits for two reads of the flash.
const INSTRUCTION_CYCLES: u64 = 72;
/// More cycles than any trace takes, and any short one.
const TRACE_CYCLES: u64 = INSTRUCTION_CYCLES * TRACE_INSTRUCTIONS as u64;
const SHORT_CYCLES: u64 = INSTRUCTION_CYCLES * SHORT_INSTRUCTIONS as u64;

/// Where the data of an access lives, as far as time is concerned. (The order of the first two makes a home the
/// outcome of a comparison.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Home {
    /// Main RAM, its second block.
    Second = 0,
    /// Main RAM, its first block.
    First = 1,
    /// Flash, in a cache that answers at once.
    Cached = 2,
    /// Flash, whose answer takes the time the interface says; the address does not matter.
    Waiting = 3,
}

impl Home {
    #[inline(always)]
    fn of(bits: u64) -> Home {
        match bits & 3 {
            0 => Home::Second,
            1 => Home::First,
            2 => Home::Cached,
            _ => Home::Waiting,
        }
    }
}

/// What is remembered of one core's timing.
#[derive(Debug)]
pub struct Memo<P: Memorable, B: QuickBus> {
    states: States<(P::State, B::State), STATES>,
    transitions: Transitions<B::Lookups>,
    epoch: u64,
    counts: Counts,
}

impl<P: Memorable, B: QuickBus> Default for Memo<P, B> {
    fn default() -> Memo<P, B> {
        Memo { states: States::default(), transitions: Transitions::new(), epoch: 0, counts: Counts::default() }
    }
}

impl<P: Memorable, B: QuickBus> Memo<P, B> {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.states.clear();
        self.transitions.clear();
    }

    /// How often it was of use so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// As [`exec::run`] without profile and MPU, to the same cycle.
    ///
    /// # Safety
    /// As for [`exec::run`]; what is remembered is of this bus and its regions.
    pub unsafe fn run(&mut self, core: &mut Core, pipe: &mut P, bus: &mut B) {
        while core.request == Request::None && core.t < core.limit {
            let special = core.committed || core.words_moved != 0 || core.it != 0 || core.ici != 0 || !core.thumb;
            if special {
                // SAFETY: the caller's promise, here and below.
                if !unsafe { exec::step(core, pipe, bus) } {
                    return;
                }
                continue;
            }
            if core.t + SHORT_CYCLES > core.limit || !bus.remembers(core.address_of(core.ip)) {
                // SAFETY: as above.
                return unsafe { exec::run::<_, _, { watch::NOTHING }, false>(core, pipe, bus) };
            }
            // SAFETY: `ip` points into the ops of the region.
            let code = unsafe { (*core.ip).code };
            if code == Code::It || MANNERS[code as usize] != Manner::Apart {
                // SAFETY: as above.
                unsafe { self.traces(core, pipe, bus) };
                if core.t + SHORT_CYCLES > core.limit || core.it != 0 {
                    continue;
                }
            }
            // SAFETY: as above.
            if !unsafe { exec::step(core, pipe, bus) } {
                return;
            }
        }
    }

    /// Runs traces for as long as they go. Pipeline and bus are up to date before and behind.
    ///
    /// # Safety
    /// As for [`Memo::run`].
    unsafe fn traces(&mut self, core: &mut Core, pipe: &mut P, bus: &mut B) {
        if bus.epoch() != self.epoch {
            self.epoch = bus.epoch();
            self.clear();
        }
        let Some(mut state) = self.number(core, pipe, bus) else { return };
        let mut stale = false;
        // Traces stay inside their region.
        let bias = Key::bias(&core.region);
        let mut most = if core.t + TRACE_CYCLES > core.limit { SHORT_INSTRUCTIONS } else { TRACE_INSTRUCTIONS };
        loop {
            let start = core.ip;
            // SAFETY: the caller's promise.
            let (log, end) = unsafe { execute_trace(core, pipe, bus, Log::new(most)) };
            let instructions = most - log.left;
            if instructions != 0 {
                let key = Key::new(bias, start, core.ip, instructions, log, state);
                let found = self.transitions.find(key);
                match found.and_then(|found| bus.repeat(&mut found.lookups).then_some(found)) {
                    Some(found) => {
                        core.instructions += u64::from(instructions);
                        core.t += u64::from(found.cycles);
                        core.bus_wait += u64::from(found.bus_wait);
                        core.flash_wait += u64::from(found.flash_wait);
                        state = found.next;
                        stale = true;
                        self.counts.known += 1;
                    }
                    None => {
                        if stale {
                            self.resume(core, pipe, bus, state, start);
                        }
                        stale = false;
                        let trace = Trace { start, end: core.ip, instructions, log };
                        // SAFETY: the trace was executed just now.
                        match unsafe { self.learn(core, pipe, bus, trace, key) } {
                            Some(next) => state = next,
                            None => return,
                        }
                    }
                }
            }
            if matches!(end, End::Barred) || core.t + TRACE_CYCLES > core.limit {
                if matches!(end, End::Barred) || core.t + SHORT_CYCLES > core.limit {
                    if stale {
                        let at = core.ip;
                        self.resume(core, pipe, bus, state, at);
                    }
                    return;
                }
                most = SHORT_INSTRUCTIONS;
            }
        }
    }

    /// The number of the state that pipeline and bus are in, if there is one; everything else is forgotten if there is no
    /// room for it.
    fn number(&mut self, core: &Core, pipe: &P, bus: &B) -> Option<u32> {
        let state = (pipe.state(core)?, bus.state(core.t)?);
        self.states.number(state).or_else(|| {
            self.clear();
            self.states.number(state)
        })
    }

    /// Brings pipeline and bus to a state, before the instruction at `at`.
    #[inline(never)]
    fn resume(&self, core: &mut Core, pipe: &mut P, bus: &mut B, state: u32, at: *mut Op) {
        let (of_pipe, of_bus) = self.states.state(state);
        let behind = std::mem::replace(&mut core.ip, at);
        pipe.resume(of_pipe, core);
        bus.resume(of_bus, core.t);
        core.ip = behind;
    }

    /// Finds out what a trace takes; returns the state behind it, `None` if it has no number.
    ///
    /// # Safety
    /// The trace was executed by this core: its instructions are ops of the region.
    #[inline(never)]
    unsafe fn learn(&mut self, core: &mut Core, pipe: &mut P, bus: &mut B, trace: Trace, key: Key) -> Option<u32> {
        self.counts.learnt += 1;
        let (t, bus_wait, flash_wait) = (core.t, core.bus_wait, core.flash_wait);
        bus.record();
        // SAFETY: the caller's promise.
        unsafe { replay(core, pipe, bus, trace) };
        debug_assert!(core.t - t <= TRACE_CYCLES, "no event is reached inside a trace");
        let lookups = bus.recorded();
        let state = (pipe.state(core)?, bus.state(core.t)?);
        let Some(next) = self.states.number(state) else {
            self.clear();
            return None;
        };
        if let Some(lookups) = lookups {
            self.transitions.insert(Transition {
                key,
                cycles: (core.t - t) as u32,
                bus_wait: (core.bus_wait - bus_wait) as u32,
                flash_wait: (core.flash_wait - flash_wait) as u32,
                next,
                lookups,
            });
        }
        Some(next)
    }
}
