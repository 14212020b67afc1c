//! Traces as code of the host: what is executed again and again the same way is translated, its time is looked up as ever.
//!
//! A translation is one path: the instructions of a trace in the order in which they were executed, with the branches
//! taken that were taken then, and accesses to the memories that answered then. Where it turns out otherwise, it ends
//! before the instruction in question, and [`super::trace`] goes on from there with what was logged so far; if that happens
//! often, the rest of that path is translated, too. So the trace is the same one, with the same log, whoever executed it.
//! What is rare or long is not translated but called: the function of [`super::trace`] for one instruction.

#[cfg(not(target_arch = "x86_64"))]
mod none;
mod plan;
#[cfg(target_arch = "x86_64")]
mod x64;

use super::log::Log;
use super::replay::Trace;
use super::trace::{End, Ended, go_on};
use super::{Memorable, QuickBus};
use crate::host::CALLED;
pub use crate::host::MARKED_BYTES;
use crate::v7m::core::Core;
use crate::v7m::op::Op;
#[cfg(not(target_arch = "x86_64"))]
use none as host;
use plan::{Step, plan};
#[cfg(target_arch = "x86_64")]
use x64 as host;

/// Executions of a trace, whatever its path, before it is translated: short runs take no longer with it than without.
const TRANSLATED_AFTER: u32 = 1000;
/// log2 of the places a trace may begin at that are remembered.
const HEADS: u32 = 12;
/// Most translations, each of which takes some hundred bytes of the host's memory.
const MOST: u32 = 2048;

/// The main RAM, as translated code accesses it.
#[derive(Debug)]
pub struct QuickRam<'a> {
    /// Its bytes.
    pub bytes: &'a mut [u8],
    /// A mark for each [`MARKED_BYTES`] of them: a store to where it is not 0 has consequences.
    pub marks: &'a [u8],
    /// Where it lies.
    pub layout: RamLayout,
}

/// Where main RAM lies.
#[derive(Debug, Clone, Copy)]
pub struct RamLayout {
    /// Address of its first byte.
    pub base: u32,
    /// Offset at which its second block begins.
    pub split: u32,
    /// Offset behind the last at which a word fits.
    pub end: u32,
}

/// What code of the host returns that was executed to its end.
const COMPLETE: u32 = u32::MAX;

/// Where traces begin, and their translations.
#[derive(Debug)]
pub(super) struct Translations {
    heads: Vec<Head>,
    all: Vec<Translation>,
    store: host::Store,
    /// Executions before one is made; 0: none is.
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

/// How traces go on from a place, or from a step of another path.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// As the interpreter says, so often until now.
    Interpreted(u32),
    /// As a translation says.
    Translated(u32),
}

/// A translated path: a trace, or the rest of one that left another path.
#[derive(Debug)]
struct Translation {
    code: host::Made,
    steps: Vec<Step>,
    /// How traces go on that leave it, by the step before which they do.
    ways: Vec<Way>,
    /// What was logged when it is at its end.
    log: Log,
}

/// Where a trace left what is translated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Left {
    translation: u32,
    step: u32,
}

/// What code of the host is called with, and calls with.
#[derive(Debug)]
struct Context<'a, P, B> {
    core: &'a mut Core,
    pipe: &'a mut P,
    bus: &'a mut B,
    /// How the trace ended, if a call ended it.
    ended: Ended,
}

impl<P, B> Context<'_, P, B> {
    fn parts(&mut self) -> (&mut Core, &mut P, &mut B, &mut Ended) {
        (self.core, self.pipe, self.bus, &mut self.ended)
    }
}

impl Translations {
    /// None so far; of a core whose traces cannot be translated (`some` is false) nobody asks for any.
    pub fn new(some: bool) -> Translations {
        Translations {
            heads: if some { vec![Head::NONE; 1 << HEADS] } else { Vec::new() },
            all: Vec::new(),
            store: host::Store::default(),
            after: TRANSLATED_AFTER,
            made: 0,
        }
    }

    pub fn clear(&mut self) {
        self.heads.fill(Head::NONE);
        self.all.clear();
        self.store = host::Store::default();
    }

    #[inline(always)]
    fn slot(place: u64) -> usize {
        (place as usize / size_of::<Op>()) & ((1 << HEADS) - 1)
    }

    /// The number of the translation of the trace that begins there.
    #[inline(always)]
    pub fn at(&self, place: u64) -> Option<u32> {
        // SAFETY: a slot number has as many bits as the table's length.
        match unsafe { *self.heads.get_unchecked(Translations::slot(place)) } {
            Head { place: known, way: Way::Translated(number) } if known == place => Some(number),
            _ => None,
        }
    }

    /// Executes the trace that is translated under this number; returns its log, how it ended, and where the interpreter
    /// took over, if it did.
    ///
    /// # Safety
    /// As for [`exec::run`](crate::v7m::exec::run), with the core at the begin of the trace; ops and memories are those
    /// that it was translated with.
    #[inline(always)]
    pub unsafe fn run<P: Memorable, B: QuickBus>(
        &self,
        number: u32,
        core: &mut Core,
        pipe: &mut P,
        bus: &mut B,
    ) -> (Log, End, Option<Left>) {
        let Some(QuickRam { bytes, marks, .. }) = bus.ram() else { unreachable!("without it nothing is translated") };
        let (bytes, marks) = (bytes.as_mut_ptr(), marks.as_ptr());
        let mut context = Context { core, pipe, bus, ended: Ended::NOTHING };
        let mut number = number;
        loop {
            let translation = &self.all[number as usize];
            // SAFETY: the caller's promise; where a path is left, everything is as it is before that step.
            let how = unsafe { translation.code.call(&mut context, bytes, marks) };
            if how == COMPLETE {
                return (translation.log, End::Complete, None);
            }
            if how == CALLED {
                let (log, end) = context.ended.told();
                return (log, end, None);
            }
            match translation.ways[how as usize] {
                Way::Translated(next) => number = next,
                Way::Interpreted(_) => {
                    let Step { ip, before, .. } = translation.steps[how as usize];
                    // SAFETY: as above.
                    let (log, end) = unsafe { go_on(core, pipe, bus, ip, before) }.told();
                    return (log, end, Some(Left { translation: number, step: how }));
                }
            }
        }
    }

    /// A trace was executed at its full length, from where it left what is translated (or from its begin) by the
    /// interpreter: translates that if it was often so.
    ///
    /// # Safety
    /// The trace was executed: its instructions are ops of the region.
    #[inline(always)]
    pub unsafe fn executed<P: Memorable, B: QuickBus>(
        &mut self,
        core: &Core,
        bus: &mut B,
        trace: Trace,
        place: u64,
        left: Option<Left>,
    ) {
        let next = self.all.len() as u32;
        let way = match left {
            Some(left) => &mut self.all[left.translation as usize].ways[left.step as usize],
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
        if *times != self.after || next == MOST {
            return;
        }
        *way = Way::Translated(next);
        let begun =
            left.map(|Left { translation, step }| self.all[translation as usize].steps[step as usize].before.left);
        // SAFETY: the caller's promise.
        match unsafe { translate::<P, B>(&mut self.store, core, bus, trace, begun) } {
            Some(translation) => {
                self.all.push(translation);
                self.made += 1;
            }
            // The host has no memory for code, or none is written for it.
            None => {
                self.clear();
                self.after = 0;
            }
        }
    }
}

impl Head {
    /// No op's place is odd.
    const NONE: Head = Head { place: 1, way: Way::Interpreted(0) };
}

/// The path of a trace; its rest, where another path was left before its last so many instructions.
///
/// # Safety
/// As for [`plan`].
#[cold]
#[inline(never)]
unsafe fn translate<P: Memorable, B: QuickBus>(
    store: &mut host::Store,
    core: &Core,
    bus: &mut B,
    trace: Trace,
    begun: Option<u32>,
) -> Option<Translation> {
    // SAFETY: the caller's promise.
    let mut steps = unsafe { plan(trace) };
    steps.retain(|step| begun.is_none_or(|begun| step.before.left <= begun));
    let code = host::assemble::<P, B>(store, core, bus.ram()?.layout, &steps, begun.is_some())?;
    let (ways, log) = (vec![Way::Interpreted(0); steps.len()], steps.last()?.after);
    Some(Translation { code, steps, ways, log })
}
