//! Traces as native code: what is executed again and again the same way is translated, its time is looked up as ever.
//!
//! A translation is one path: the instructions of a trace in the order in which they were executed, with the branches
//! taken that were taken then, and accesses to the memories that answered then. If the execution deviates, the trace
//! ends before that instruction, and the next one begins there. The end of a trace does not affect its time. A trace
//! that deviates often at its very first instruction is translated, too. Rare or long cases are not translated but
//! called: the function of [`super::trace`] for one instruction.

#[cfg(not(target_arch = "x86_64"))]
mod none;
mod plan;
mod record;
#[cfg(target_arch = "x86_64")]
mod x64;

use super::log::Log;
use super::ram::{QuickRam, RamLayout};
use super::replay::Trace;
use super::table::Key;
use super::trace::{End, TraceEnd};
use super::{CacheableTiming, QuickBus, Repeating, TRACE_INSTRUCTIONS};
use crate::host::{CALLED, ConstantsAt};
use crate::v7m::core::Core;
use crate::v7m::op::Op;
#[cfg(not(target_arch = "x86_64"))]
use none as host;
use plan::{Step, plan};
pub(super) use record::PathExit;
use record::{DONE, NOWHERE, Record, WAYS, records};
#[cfg(target_arch = "x86_64")]
use x64 as host;

/// Executions of a trace, whatever its path, before it is translated: short runs take no longer with it than without.
const TRANSLATED_AFTER: u32 = 1000;
/// log2 of the places a trace may begin at that are cached.
const HEADS: u32 = 12;
/// Most translations. Each takes some hundred bytes of the host's memory.
const MOST: u32 = 2048;
/// Most paths from one place.
const PATHS: u32 = 4;

/// The begins of traces, and their translations.
#[derive(Debug)]
pub(super) struct Translations {
    heads: Vec<Head>,
    all: Vec<Translation>,
    store: host::Store,
    /// The last of the paths from where the current trace began, if none of them was its own.
    left: Option<u32>,
    /// The entry to native code.
    entry: Option<host::Entry>,
    /// Executions before one is made. 0: none is.
    pub after: u32,
    /// How many were made so far.
    pub made: u64,
}

/// Where traces begin.
#[derive(Debug, Clone, Copy)]
struct Head {
    /// Its [`Key::place`](super::table::Key::place): what displaces what does not depend on where the host keeps a board.
    place: u64,
    way: Way,
}

/// How traces continue from a place, or where a path is not theirs.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// The interpreter executes it. The number counts the executions so far.
    Interpreted(u32),
    /// Native code executes it.
    Translated(u32),
}

/// A translated path.
#[derive(Debug)]
struct Translation {
    /// The begin of its code.
    code: u64,
    /// The steps that native code points to in its calls.
    steps: Vec<Step>,
    /// Before each of its steps, and after the last.
    exits: Vec<Exit>,
    /// The records that native code uses there.
    records: Box<[Record]>,
    /// The way of executions that deviate at the first instruction.
    otherwise: Way,
    /// Paths from the same place that were there before.
    earlier: u32,
}

/// A possible exit of a path.
#[derive(Debug, Clone, Copy)]
struct Exit {
    /// The trace that ends there.
    trace: Trace,
    /// The key by which it is found, from state 0.
    key: Key,
    /// The code has said where execution continues.
    jumped: bool,
}

/// How native code came back.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ran {
    /// A path was executed up to there, and its time is taken.
    Done(PathExit),
    /// A path was executed up to there: a trace with this key but for its state, of so many instructions.
    To(PathExit, Key, u32),
    /// A trace that a call ended, so.
    Called(Trace, End),
    /// The next trace is another way than all paths at its first instruction.
    Otherwise,
}

/// The context of native code, at its call and for its own calls.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Context<'a, P, B> {
    core: &'a mut Core,
    pipe: &'a mut P,
    bus: &'a mut B,
    /// The log, where the pipeline has foresight.
    log: u64,
    /// Number of the state before the current trace.
    state: u32,
    /// Traces whose time code has taken by itself.
    executed: u64,
    /// 1 if traces are counted for a profile, else 0.
    counts: u64,
    /// How lookups are repeated.
    repeating: Repeating,
    /// Where constants are.
    constants: ConstantsAt,
    /// How the trace ended, if a call ended it.
    ended: TraceEnd,
}

impl<'a, P, B> Context<'a, P, B> {
    /// Creates the plan of these.
    #[inline(always)]
    pub fn new(core: &'a mut Core, pipe: &'a mut P, bus: &'a mut B, is_profiled: bool) -> Context<'a, P, B> {
        let (repeating, constants) = (Repeating::default(), ConstantsAt::default());
        let counts = is_profiled.into();
        Context {
            core,
            pipe,
            bus,
            log: 1,
            state: NOWHERE,
            executed: 0,
            counts,
            repeating,
            constants,
            ended: TraceEnd::NOTHING,
        }
    }

    /// The number of the state before the trace that code did not take the time of.
    pub fn state(&self) -> u32 {
        self.state
    }

    /// Core, pipeline and bus.
    #[inline(always)]
    pub fn parts(&mut self) -> (&mut Core, &mut P, &mut B) {
        (self.core, self.pipe, self.bus)
    }
}

impl Default for Translations {
    fn default() -> Translations {
        Translations {
            heads: vec![Head::NONE; 1 << HEADS],
            all: Vec::new(),
            store: host::Store::default(),
            left: None,
            entry: None,
            after: TRANSLATED_AFTER,
            made: 0,
        }
    }
}

impl Translations {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.heads.fill(Head::NONE);
        self.all.clear();
        self.store = host::Store::default();
        (self.left, self.entry) = (None, None);
    }

    #[inline(always)]
    fn slot(place: u64) -> usize {
        (place as usize / size_of::<Op>()) & ((1 << HEADS) - 1)
    }

    /// The next trace begins there: the number of the first translation of one that does.
    #[inline(always)]
    pub fn begin(&mut self, place: u64) -> Option<u32> {
        self.left = None;
        self.at(place)
    }

    #[inline(always)]
    fn at(&self, place: u64) -> Option<u32> {
        // SAFETY: a slot number has as many bits as the table's length.
        match unsafe { *self.heads.get_unchecked(Translations::slot(place)) } {
            Head { place: known, way: Way::Translated(number) } if known == place => Some(number),
            _ => None,
        }
    }

    /// Executes the path that is translated under this number, from this state on, and those after it for as long as they go
    /// without asking. Returns how many traces were executed so.
    ///
    /// # Safety
    /// As for [`exec::run`](crate::v7m::exec::run), with the core at the begin of the path and far enough from its limit. Ops
    /// and memories are those that it was translated with.
    #[inline(always)]
    pub unsafe fn run<P: CacheableTiming, B: QuickBus>(
        &mut self,
        number: u32,
        state: u32,
        context: &mut Context<'_, P, B>,
    ) -> (u64, Ran) {
        let Some(QuickRam { bytes, marks, .. }) = context.bus.ram() else {
            unreachable!("without it nothing is translated")
        };
        let (bytes, marks) = (bytes.as_mut_ptr(), marks.as_ptr());
        (context.state, context.log, context.executed) = (state, 1, 0);
        context.repeating = context.bus.repeating();
        if P::FORESIGHT.is_some() {
            context.constants = context.bus.constants_at();
        }
        let code = self.all[number as usize].code;
        let Some(entry) = self.entry else { unreachable!("there is code") };
        // SAFETY: the caller's promise; where a path is left, everything is as it is before that step.
        let left = unsafe { host::enter(entry, context, (bytes, marks), code) };
        (context.executed, self.exit_at(PathExit(left), context))
    }

    #[inline(always)]
    fn exit_at<P: CacheableTiming, B: QuickBus>(&mut self, left: PathExit, context: &mut Context<'_, P, B>) -> Ran {
        let translation = &self.all[left.number()];
        if left.0 as u32 == CALLED {
            let (log, end) = context.ended.report();
            return Ran::Called(
                Trace::new(translation.steps[0].ip, context.core.ip, TRACE_INSTRUCTIONS, log, end),
                end,
            );
        }
        let Exit { trace, key, jumped } = translation.exits[left.exit()];
        if !jumped {
            context.core.ip = trace.end;
        }
        if left.0 & DONE != 0 {
            return Ran::Done(PathExit(left.0 & !DONE));
        }
        if trace.instructions == 0 {
            self.left = Some(left.number() as u32);
            return Ran::Otherwise;
        }
        let key = match P::FORESIGHT {
            Some(_) => key.with(context.log),
            None => key,
        };
        Ran::To(left, key, trace.instructions)
    }

    /// The end of a trace that ends there, if nothing else sets it.
    pub fn end(&self, left: PathExit) -> *mut Op {
        self.all[left.number()].exits[left.exit()].trace.end
    }

    /// The time of a trace that ended there, from this state on and with this log, was known: by this transition, an address
    /// and a serial number.
    pub fn record(&mut self, left: PathExit, (state, log): (u32, u64), ip: *mut Op, (transition, serial): (u64, u32)) {
        let record = &mut self.all[left.number()].records[left.record()];
        let ip = ip as u64;
        let next = if record.ip == ip { record.next } else { 0 };
        *record = Record { state, serial, transition, log, ip, next, ..*record };
    }

    /// After a trace that ended there what is translated under this number is executed.
    pub fn link(&mut self, left: PathExit, ip: *mut Op, number: u32) {
        let next = self.all[number as usize].code;
        let record = &mut self.all[left.number()].records[left.record()];
        if record.ip == ip as u64 {
            record.next = next;
        }
    }

    /// The interpreter has executed a trace at its full length, behind [`Ran::Otherwise`] if there are paths from where it
    /// began: translates it if that was often so.
    ///
    /// # Safety
    /// The trace was executed: its instructions are ops of the region.
    #[inline(always)]
    pub unsafe fn executed<P: CacheableTiming, B: QuickBus>(
        &mut self,
        core: &Core,
        pipe: &P,
        bus: &mut B,
        trace: Trace,
        bias: u64,
    ) {
        let place = Key::place(bias, trace.start);
        let way = match self.left {
            Some(number) => &mut self.all[number as usize].otherwise,
            None => {
                let head = &mut self.heads[Translations::slot(place)];
                match head.way {
                    _ if head.place == place => {}
                    Way::Translated(_) => return,
                    Way::Interpreted(_) => *head = Head { place, way: Way::Interpreted(0) },
                }
                &mut head.way
            }
        };
        let Way::Interpreted(times) = way else { return };
        *times = times.saturating_add(1);
        if *times == self.after {
            // SAFETY: the caller's promise.
            unsafe { self.translate(core, pipe, bus, trace, bias) };
        }
    }

    /// Translates a trace that was executed just now.
    ///
    /// # Safety
    /// As for [`Translations::executed`].
    #[cold]
    #[inline(never)]
    unsafe fn translate<P: CacheableTiming, B: QuickBus>(
        &mut self,
        core: &Core,
        pipe: &P,
        bus: &mut B,
        trace: Trace,
        bias: u64,
    ) {
        let number = self.all.len() as u32;
        let last = self.left.map(|left| &self.all[left as usize]);
        let earlier = last.map_or(0, |last| last.earlier + 1);
        if number == MOST || earlier == PATHS {
            return;
        }
        // SAFETY: the caller's promise.
        let steps = unsafe { plan(pipe, trace) };
        let first = |steps: &[Step]| steps.first().map(|step| step.course);
        // A store that had consequences has them again, and would leave this path as well.
        let again = last.is_some_and(|last| first(&last.steps) == first(&steps));
        let exits = exits(trace, &steps, bias);
        let records = records(number, &exits);
        let constants = bus.constants();
        let assembled = bus.ram().and_then(|ram| {
            if self.entry.is_none() {
                self.entry = host::entry::<P>(&mut self.store);
            }
            self.entry?;
            host::assemble::<P, B>(&mut self.store, core, (ram.layout, constants), number, (&steps, &records), again)
        });
        let Some(code) = assembled else {
            // The host has no memory for code, or none is written for it.
            self.clear();
            self.after = 0;
            return;
        };
        self.all.push(Translation { code, steps, exits, records, otherwise: Way::Interpreted(0), earlier });
        self.made += 1;
        match self.left {
            Some(left) => {
                let left = &mut self.all[left as usize];
                (left.otherwise, left.records[0].next) = (Way::Translated(number), code);
            }
            None => {
                let place = Key::place(bias, trace.start);
                self.heads[Translations::slot(place)] = Head { place, way: Way::Translated(number) };
            }
        }
    }
}

impl Head {
    /// No op's place is odd.
    const NONE: Head = Head { place: 1, way: Way::Interpreted(0) };
}

/// Before each of the steps of a trace, and after the last.
fn exits(trace: Trace, steps: &[Step], bias: u64) -> Vec<Exit> {
    let places =
        steps.iter().map(|step| (step.ip, step.before)).chain(steps.last().map(|last| (trace.end, last.after)));
    let exit = |(end, log): (*mut Op, Log)| {
        let trace = Trace::new(trace.start, end, TRACE_INSTRUCTIONS, log, End::Complete);
        Exit { trace, key: Key::new(bias, trace, 0), jumped: false }
    };
    let mut exits: Vec<_> = places.map(exit).collect();
    if let (Some(exit), Some(last)) = (exits.last_mut(), steps.last()) {
        exit.jumped = last.jumps();
    }
    exits
}
