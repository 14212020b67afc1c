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

mod account;
mod distance;
mod log;
mod manner;
mod replay;
mod table;
mod trace;
mod traits;
mod translate;
mod untimed;

use super::code::Code;
use super::core::{Core, Request};
use super::exec;
use super::op::Op;
use crate::profile::ProfileCell;
use crate::states::{Counts, States};
use crate::step::watch;
pub use distance::{Distances, OPEN, cycle_at};
pub use log::Log;
use manner::{MANNERS, Manner};
use replay::{Trace, replay};
use table::{Key, STATES, Transition, Transitions};
use trace::{End, execute_trace};
pub use traits::{Memorable, QuickBus, Watched, is_store};
use translate::Translations;
pub use translate::{MARKED_BYTES, QuickRam, RamLayout};

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
    translations: Translations,
    epoch: u64,
    counts: Counts,
}

impl<P: Memorable, B: QuickBus> Default for Memo<P, B> {
    fn default() -> Memo<P, B> {
        Memo {
            states: States::default(),
            transitions: Transitions::new(),
            translations: Translations::new(P::TRANSLATES),
            epoch: 0,
            counts: Counts::default(),
        }
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
        Counts { translations: self.translations.made, ..self.counts }
    }

    /// Traces are translated when they were executed so often; 0: never.
    pub fn translate_after(&mut self, executions: u32) {
        self.translations.clear();
        self.translations.after = executions;
    }

    /// Takes the profile of what was executed under `watch::PROFILE` and is in no cell of a region.
    pub fn take_profile(&mut self) -> impl Iterator<Item = (u32, ProfileCell)> {
        self.transitions.take_profile()
    }

    /// As [`exec::run`] without MPU, to the same cycle; under `watch::PROFILE` what ran ahead is told by
    /// [`Memo::take_profile`].
    ///
    /// # Safety
    /// As for [`exec::run`]; what is remembered is of this bus and its regions.
    pub unsafe fn run<const WATCH: u8>(&mut self, core: &mut Core, pipe: &mut P, bus: &mut B) {
        while core.request == Request::None && core.t < core.limit {
            let special = core.committed || core.words_moved != 0 || core.it != 0 || core.ici != 0 || !core.thumb;
            if special {
                // SAFETY: the caller's promise, here and below.
                if !unsafe { exec::step::<_, _, WATCH>(core, pipe, bus, false) } {
                    return;
                }
                continue;
            }
            if core.t + SHORT_CYCLES > core.limit || !bus.remembers(core.address_of(core.ip)) {
                // SAFETY: as above.
                return unsafe { exec::run::<_, _, WATCH, false>(core, pipe, bus) };
            }
            // SAFETY: `ip` points into the ops of the region.
            let code = unsafe { (*core.ip).code };
            if matches!(code, Code::It | Code::Attend) || MANNERS[code as usize] != Manner::Apart {
                // SAFETY: as above.
                let attended = unsafe { self.traces::<WATCH>(core, pipe, bus) };
                if attended {
                    // SAFETY: as above.
                    if !unsafe { exec::step::<_, _, WATCH>(core, pipe, bus, true) } {
                        return;
                    }
                    continue;
                }
                if core.t + SHORT_CYCLES > core.limit || core.it != 0 || core.request != Request::None {
                    continue;
                }
            }
            // SAFETY: as above.
            if !unsafe { exec::step::<_, _, WATCH>(core, pipe, bus, false) } {
                return;
            }
        }
    }

    /// Runs traces for as long as they go. Pipeline and bus are up to date before and behind. True if the probes on the
    /// next instruction have fired.
    ///
    /// # Safety
    /// As for [`Memo::run`].
    unsafe fn traces<const WATCH: u8>(&mut self, core: &mut Core, pipe: &mut P, bus: &mut B) -> bool {
        if bus.epoch() != self.epoch {
            self.epoch = bus.epoch();
            self.clear();
            self.translations.clear();
        }
        let Some(state) = self.number(core, pipe, bus) else { return false };
        let mut at = At { state: Some(state), stale: false };
        // Traces stay inside their region.
        let bias = Key::bias(&core.region);
        let mut most = if core.t + TRACE_CYCLES > core.limit { SHORT_INSTRUCTIONS } else { TRACE_INSTRUCTIONS };
        loop {
            // SAFETY: the caller's promise.
            let end = unsafe { self.trace::<WATCH>(core, pipe, bus, bias, most, &mut at) };
            if at.state.is_none() {
                return false;
            }
            let is_near = core.t + SHORT_CYCLES > core.limit;
            let mut attended = false;
            if end == End::Barred && !is_near {
                // SAFETY: as above.
                match unsafe { self.probed::<WATCH>(core, pipe, bus, bias, &mut at) } {
                    Probed::Executed if at.state.is_none() => return false,
                    Probed::Executed if core.t + SHORT_CYCLES <= core.limit => {
                        most = if core.t + TRACE_CYCLES > core.limit { SHORT_INSTRUCTIONS } else { TRACE_INSTRUCTIONS };
                        continue;
                    }
                    Probed::Executed | Probed::Apart => {}
                    Probed::Fired => attended = true,
                }
            }
            if end == End::Barred || core.t + TRACE_CYCLES > core.limit {
                if end == End::Barred || is_near {
                    let ip = core.ip;
                    self.resume(core, pipe, bus, at, ip);
                    return attended;
                }
                most = SHORT_INSTRUCTIONS;
            }
        }
    }

    /// Executes a trace of at most so many instructions, and adds its time.
    ///
    /// # Safety
    /// As for [`Memo::run`].
    #[inline(always)]
    unsafe fn trace<const WATCH: u8>(
        &mut self,
        core: &mut Core,
        pipe: &mut P,
        bus: &mut B,
        bias: u64,
        most: u32,
        at: &mut At,
    ) -> End {
        let Some(state) = at.state else { return End::Barred };
        let start = core.ip;
        // SAFETY: the caller's promise.
        let place = Key::place(bias, start);
        let translation = if P::TRANSLATES && most == TRACE_INSTRUCTIONS { self.translations.at(place) } else { None };
        let (log, end, left) = match translation {
            // SAFETY: as above.
            Some(number) => unsafe { self.translations.run(number, core, pipe, bus) },
            None => {
                // SAFETY: as above.
                let (log, end) = unsafe { execute_trace(core, pipe, bus, Log::new(most)) };
                (log, end, None)
            }
        };
        self.counts.translated += u64::from(translation.is_some());
        let instructions = most - log.left;
        if instructions == 0 {
            return end;
        }
        let begun = core.t;
        let is_watched = matches!(end, End::Watched { .. });
        let trace = Trace { start, end: core.ip, instructions, is_watched, log };
        let key = Key::new(bias, trace, state);
        let found = self.transitions.find(key);
        let stored_after = match found.and_then(|found| bus.repeat(&mut found.lookups).then_some(found)) {
            Some(found) => {
                core.instructions += u64::from(instructions);
                core.t += u64::from(found.cycles);
                core.bus_wait += u64::from(found.bus_wait);
                core.flash_wait += u64::from(found.flash_wait);
                *at = At { state: Some(found.next), stale: true };
                if WATCH == watch::PROFILE {
                    found.taken += 1;
                }
                self.counts.known += 1;
                found.stored_after
            }
            None => {
                self.resume(core, pipe, bus, *at, start);
                // SAFETY: the trace was executed just now.
                let (state, stored_after) = unsafe { self.learn::<WATCH>(core, pipe, bus, trace, key) };
                *at = At { state, stale: false };
                stored_after
            }
        };
        let is_interpreted = translation.is_none() || left.is_some();
        if P::TRANSLATES && is_interpreted && most == TRACE_INSTRUCTIONS && end == End::Complete {
            // SAFETY: it was executed just now.
            unsafe { self.translations.executed::<P, B>(core, bus, trace, place, left) };
        }
        if let End::Watched { word, wide } = end {
            let pc = core.address_of(core.ip.wrapping_sub(1 + usize::from(wide)));
            bus.tell_watched(core, word, pc, begun.saturating_add_signed(stored_after.into()));
        }
        end
    }

    /// Where a trace ended before an instruction: if that has probes, fires them and executes it, as a trace of its own.
    ///
    /// # Safety
    /// As for [`Memo::run`].
    #[cold]
    #[inline(never)]
    unsafe fn probed<const WATCH: u8>(
        &mut self,
        core: &mut Core,
        pipe: &mut P,
        bus: &mut B,
        bias: u64,
        at: &mut At,
    ) -> Probed {
        // Inside an IT block an instruction is not what its op says.
        if core.it != 0 {
            return Probed::Apart;
        }
        let ip = core.ip;
        // SAFETY: `ip` points into the ops of the region, here and below.
        let stand_in = unsafe { *ip };
        let address = core.address_of(ip);
        if stand_in.code != Code::Attend || MANNERS[bus.behind(core, address).code as usize] == Manner::Apart {
            return Probed::Apart;
        }
        let Some(op) = bus.attend(core, address, false) else {
            core.request = Request::Stopped;
            return Probed::Apart;
        };
        let before = core.instructions;
        // SAFETY: as above; the op is that of its place, where the stand-in stands again before anybody looks.
        unsafe {
            *ip = op;
            self.trace::<WATCH>(core, pipe, bus, bias, 1, at);
            *ip = stand_in;
        }
        if core.instructions == before { Probed::Fired } else { Probed::Executed }
    }

    /// The number of the state that pipeline and bus are in, if there is one; everything else is forgotten if there is no
    /// room for it.
    fn number(&mut self, core: &Core, pipe: &P, bus: &B) -> Option<u32> {
        let state = (pipe.state(core)?, bus.state(core.t)?);
        let place = core.address_of(core.ip) as usize / 2;
        self.states.number_at(place, state).or_else(|| {
            self.clear();
            self.states.number(state)
        })
    }

    /// Brings pipeline and bus, if they are not there, to a state before the instruction at `ip`.
    #[inline(never)]
    fn resume(&self, core: &mut Core, pipe: &mut P, bus: &mut B, at: At, ip: *mut Op) {
        let At { state: Some(state), stale: true } = at else { return };
        let (of_pipe, of_bus) = self.states.state(state);
        let behind = std::mem::replace(&mut core.ip, ip);
        pipe.resume(of_pipe, core);
        bus.resume(of_bus, core.t);
        core.ip = behind;
    }

    /// Finds out what a trace takes; returns the state behind it, `None` if it has no number, and the cycles to the address
    /// phase of its last store.
    ///
    /// # Safety
    /// The trace was executed by this core: its instructions are ops of the region.
    #[inline(never)]
    unsafe fn learn<const WATCH: u8>(
        &mut self,
        core: &mut Core,
        pipe: &mut P,
        bus: &mut B,
        trace: Trace,
        key: Key,
    ) -> (Option<u32>, i32) {
        self.counts.learnt += 1;
        let (t, bus_wait, flash_wait) = (core.t, core.bus_wait, core.flash_wait);
        bus.record();
        // SAFETY: the caller's promise.
        let told = unsafe { replay(core, pipe, bus, trace) };
        debug_assert!(core.t - t <= TRACE_CYCLES, "no event is reached inside a trace");
        let lookups = bus.recorded();
        let stored_after = told.stored_at.wrapping_sub(t) as i32;
        let state = pipe.state(core).zip(bus.state(core.t));
        let next = state.and_then(|state| self.states.number(state));
        match (next, lookups) {
            (Some(next), Some(lookups)) => self.transitions.insert(
                Transition {
                    key,
                    cycles: (core.t - t) as u32,
                    bus_wait: (core.bus_wait - bus_wait) as u32,
                    flash_wait: (core.flash_wait - flash_wait) as u32,
                    next,
                    stored_after,
                    taken: u64::from(WATCH == watch::PROFILE),
                    lookups,
                },
                told.shares,
            ),
            _ if WATCH == watch::PROFILE => self.transitions.account(&told.shares),
            _ => {}
        }
        if next.is_none() && state.is_some() {
            self.clear();
        }
        (next, stored_after)
    }
}

/// Where traces have come to.
#[derive(Debug, Clone, Copy)]
struct At {
    /// The number of the state; `None` if it has none.
    state: Option<u32>,
    /// Pipeline and bus are not in that state.
    stale: bool,
}

/// What became of an instruction before which a trace ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Probed {
    /// It had probes, and was executed.
    Executed,
    /// It has none, no trace holds it, or the run stops before it.
    Apart,
    /// Its probes have fired, and it is to be executed in time.
    Fired,
}
