//! Traces as code of the host: what is executed again and again the same way is translated, its time is looked up as ever.
//!
//! A translation is one path: the instructions of a trace in the order in which they were executed, with the branches taken
//! that were taken then, to the places that they led to. Where it turns out otherwise, the trace ends before the instruction
//! in question, and the next one begins there: where a trace ends does not matter to its time. What goes another way at its
//! very first instruction is translated, too, if that happens often.

#[cfg(not(target_arch = "x86_64"))]
mod none;
mod plan;
mod thumb;
#[cfg(target_arch = "x86_64")]
mod x64;

use crate::host::CALLED;
pub use crate::host::MARKED_BYTES;
use crate::v6m::core::Core;
use crate::v6m::memo::{Remembered, traced};
use crate::v6m::op::Op;
use crate::v6m::trace::Trace;
#[cfg(not(target_arch = "x86_64"))]
use none as host;
use plan::{Path, plan};
#[cfg(target_arch = "x86_64")]
use x64 as host;

/// Executions of a trace, whatever its path, before it is translated: short runs take no longer with it than without.
const TRANSLATED_AFTER: u32 = 1000;
/// log2 of the places a trace may begin at that are remembered.
const HEADS: u32 = 12;
/// Most translations, each of which takes some hundred bytes of the host's memory.
const MOST: u32 = 2048;
/// Most paths from one place.
const PATHS: u32 = 4;
/// No more executions are counted.
const NEVER: u32 = u32::MAX;

/// What translated code accesses without asking the bus.
#[derive(Debug, Clone, Copy)]
pub struct Quick {
    /// A mark for each 256 bytes of RAM: see [`Bus::marks`].
    pub marks: *const u8,
    /// Memory whose words do not change while nobody says so.
    pub constants: *const u8,
    /// Its first address.
    pub base: u32,
    /// Its length.
    pub bytes: u32,
    /// Not 0 for each [`LINE_BYTES`] of it that are at hand, if they are not always.
    pub resident: *const bool,
}

/// Bytes of a cache's line.
pub const LINE_BYTES: u32 = 8;

/// Where traces begin, and their translations.
#[derive(Debug)]
pub struct Translations {
    heads: Vec<Head>,
    all: Vec<Translation>,
    store: host::Store,
    /// The last of the paths from where the trace in hand began, if none of them was its own.
    left: Option<u32>,
    /// Executions before one is made; 0: none is.
    after: u32,
    /// How many were made so far.
    pub made: u64,
    /// Traces of which one executed at least a part.
    pub executed: u64,
}

/// Where traces begin.
#[derive(Debug, Clone, Copy)]
struct Head {
    address: u32,
    way: Way,
}

impl Head {
    /// No op's address is odd.
    const NONE: Head = Head { address: 1, way: Way::Interpreted(0) };
}

/// How traces go on from a place, or where a path is not theirs.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// As the interpreter says, so often until now.
    Interpreted(u32),
    /// As a translation says.
    Translated(u32),
}

/// A translated path.
#[derive(Debug)]
struct Translation {
    code: host::Made,
    /// Before each of its instructions, and behind the last.
    exits: Vec<Exit>,
    /// What goes another way at the first one.
    otherwise: Way,
    /// Paths from the same place that were there before.
    earlier: u32,
}

/// Where a path may be left.
#[derive(Debug, Clone, Copy)]
struct Exit {
    ip: *mut Op,
    /// Instructions before it, and verdicts on branches among them.
    count: u64,
    branches: u64,
}

/// What code of the host is called with, and calls with.
#[derive(Debug)]
#[repr(C)]
struct Context<B> {
    bus: *mut B,
    constants: *const u8,
    resident: *const bool,
    /// [`Trace::indirect`] so far.
    indirect: u64,
    /// Of the last load from constant memory.
    address: u32,
}

impl Default for Translations {
    fn default() -> Translations {
        Translations {
            heads: vec![Head::NONE; 1 << HEADS],
            all: Vec::new(),
            store: host::Store::default(),
            left: None,
            after: TRANSLATED_AFTER,
            made: 0,
            executed: 0,
        }
    }
}

impl Translations {
    /// Forgets all.
    pub fn clear(&mut self) {
        if !self.all.is_empty() {
            self.all.clear();
            self.store = host::Store::default();
        }
        self.heads.fill(Head::NONE);
        self.left = None;
    }

    /// Traces are translated when they were executed so often; 0: never.
    pub fn translate_after(&mut self, executions: u32) {
        self.clear();
        self.after = executions;
    }

    #[inline(always)]
    fn slot(address: u32) -> usize {
        (address / 2) as usize & ((1 << HEADS) - 1)
    }

    /// The number of the translation of the trace that begins there.
    #[inline(always)]
    fn at(&self, address: u32) -> Option<u32> {
        // SAFETY: a slot number has as many bits as the table's length.
        match unsafe { *self.heads.get_unchecked(Translations::slot(address)) } {
            Head { address: known, way: Way::Translated(number) } if known == address => Some(number),
            _ => None,
        }
    }

    /// How often the trace in hand, which began there, was executed by the interpreter; `None` if that does not matter.
    #[inline(always)]
    fn times(&mut self, address: u32) -> Option<&mut u32> {
        let way = match self.left {
            Some(number) => &mut self.all[number as usize].otherwise,
            None => {
                let head = &mut self.heads[Translations::slot(address)];
                match head.way {
                    _ if head.address == address => {}
                    Way::Translated(_) => return None,
                    Way::Interpreted(_) => *head = Head { address, way: Way::Interpreted(0) },
                }
                &mut head.way
            }
        };
        match way {
            Way::Interpreted(times) if *times != NEVER => Some(times),
            _ => None,
        }
    }

    /// The interpreter has executed a trace, which began at this address: true if it is to be translated.
    #[inline(always)]
    pub fn is_due(&mut self, address: u32) -> bool {
        let after = self.after;
        let Some(times) = self.times(address) else { return false };
        *times += 1;
        *times == after
    }
}

/// Translates the trace that the core has just executed.
///
/// # Safety
/// The trace was executed, from this address on, in the region that the core is in.
#[cold]
#[inline(never)]
pub unsafe fn translate<B: Remembered>(bus: &mut B, core: &Core, address: u32, trace: Trace) {
    let quick = bus.quick();
    let translations = &mut bus.memo().translations;
    let number = translations.all.len() as u32;
    let earlier = translations.left.map_or(0, |left| translations.all[left as usize].earlier + 1);
    // SAFETY: the caller's promise.
    let path = unsafe { plan(&core.region, core.region.op(address), trace) };
    // An access that was not that of one path is not that of the next.
    let differs = path.steps.first().is_some_and(|step| earlier == 0 || step.course.may_differ());
    let made = if differs && earlier < PATHS && number < MOST {
        host::assemble::<B>(&mut translations.store, core, &quick, &path)
    } else {
        None
    };
    let way = match made {
        Some((code, steps)) => {
            let exits = exits(&path, steps);
            translations.all.push(Translation { code, exits, otherwise: Way::Interpreted(0), earlier });
            translations.made += 1;
            Way::Translated(number)
        }
        None => Way::Interpreted(NEVER),
    };
    match translations.left {
        Some(left) => translations.all[left as usize].otherwise = way,
        None => translations.heads[Translations::slot(address)] = Head { address, way },
    }
}

/// Before each of so many steps, and behind the last.
fn exits(path: &Path, steps: usize) -> Vec<Exit> {
    let before = path.steps.iter().map(|step| (step.ip, step.branches)).chain([(path.end, path.branches)]);
    before.take(steps + 1).zip(0..).map(|((ip, branches), count)| Exit { ip, count, branches }).collect()
}

/// What [`Bus::lead`](crate::v6m::bus::Bus::lead) does.
#[inline(always)]
pub fn lead<B: Remembered>(bus: &mut B, core: &mut Core) -> bool {
    let translations = &mut bus.memo().translations;
    translations.left = None;
    match translations.at(core.address_of(core.ip)) {
        // SAFETY: the core stands where the translated trace begins, and nothing has changed in its code.
        Some(number) if !core.retried => unsafe { execute(bus, core, number) },
        _ => true,
    }
}

/// Executes the trace that is translated under this number, and those behind it, up to one that is not. False if no trace
/// can begin now.
///
/// # Safety
/// The core stands at its begin; ops and memories are those that it was translated with.
#[inline(never)]
unsafe fn execute<B: Remembered>(bus: &mut B, core: &mut Core, mut number: u32) -> bool {
    let Quick { marks, constants, resident, .. } = bus.quick();
    let ram = bus.ram();
    let (indirect, address) = (Trace::NO_INDIRECT, 0);
    let mut context = Context { bus: std::ptr::from_mut(bus), constants, resident, indirect, address };
    loop {
        let code = bus.memo().translations.all[number as usize].code;
        context.indirect = Trace::NO_INDIRECT;
        // SAFETY: the caller's promise; where a path is left, everything is as it is before that step.
        let how = unsafe { code.call(core, &mut context, ram, marks) };
        if how == CALLED {
            // Some of its code is not at hand.
            return true;
        }
        let translations = &mut bus.memo().translations;
        let translation = &translations.all[number as usize];
        let Exit { ip, count, branches } = translation.exits[how as usize];
        if count == 0 {
            match translation.otherwise {
                Way::Translated(next) => number = next,
                Way::Interpreted(_) => {
                    translations.left = Some(number);
                    return true;
                }
            }
            continue;
        }
        translations.executed += 1;
        core.ip = ip;
        let trace = Trace { branches, indirect: context.indirect, instructions: count };
        if !traced::<B, true>(bus, core, trace) {
            return false;
        }
        match bus.memo().translations.at(core.address_of(ip)) {
            Some(next) => number = next,
            None => return true,
        }
    }
}
