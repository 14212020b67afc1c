//! Traces as native code: what is executed again and again the same way is translated, its time is looked up as ever.
//!
//! A translation is one path: the instructions of a trace in the order in which they were executed, with the branches
//! taken that were taken then, to the places that they led to. If the execution deviates, the trace ends before that
//! instruction, and the next one begins there. The end of a trace does not affect its time. A trace that deviates
//! often at its very first instruction is translated, too.

#[cfg(target_arch = "x86_64")]
mod asks;
#[cfg(not(target_arch = "x86_64"))]
mod none;
mod plan;
mod thumb;
#[cfg(target_arch = "x86_64")]
mod x64;

use std::collections::HashMap;

use crate::host::CALLED;
pub use crate::host::MARKED_BYTES;
use crate::profile::ProfileCell;
use crate::step::Step as Taken;
use crate::timing_store::Counts;
use crate::v6m::bus::Bus;
use crate::v6m::core::Core;
use crate::v6m::op::Op;
use crate::v6m::region::Region;
use crate::v6m::trace::Trace;
#[cfg(target_arch = "x86_64")]
pub(in crate::v6m) use asks::{Asks, Literal};
#[cfg(not(target_arch = "x86_64"))]
use none as host;
use plan::{Path, plan};
pub(in crate::v6m) use thumb::as_v7m;
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
/// No more executions are counted.
const NEVER: u32 = u32::MAX;

/// The memory that native code accesses without asking the bus.
#[derive(Debug)]
pub struct Quick<'a> {
    /// The RAM.
    pub ram: &'a mut [u8],
    /// A mark for each [`MARKED_BYTES`] of it: see [`Ram::marks`](crate::v6m::bus::Ram::marks).
    pub marks: &'a [u8],
    /// Memory whose words do not change while nobody says so.
    pub constants: &'a [u8],
    /// Its first address.
    pub base: u32,
    /// Whether each [`LINE_BYTES`] of it are at hand, if they are not always.
    pub resident: Option<&'a [bool]>,
}

impl Quick<'_> {
    pub(in crate::v6m) fn layout(&self) -> Layout {
        let (bytes, ram_bytes) = (self.constants.len() as u32, self.ram.len() as u32);
        Layout { base: self.base, bytes, ram_bytes, is_cached: self.resident.is_some() }
    }
}

/// The address of constants, and the length of the RAM.
#[derive(Debug, Clone, Copy)]
pub(in crate::v6m) struct Layout {
    base: u32,
    bytes: u32,
    ram_bytes: u32,
    /// They are not always at hand.
    is_cached: bool,
}

impl Layout {
    /// The lines of the cache that an instruction of a region after it is in: two, mostly the same.
    pub fn lines(self, region: &Region, ip: *mut Op, op: Op) -> [u32; 2] {
        let first = region.address_of(ip).wrapping_sub(self.base);
        let last = if op.is_wide() { first + 2 } else { first };
        [first, last].map(|offset| offset / LINE_BYTES)
    }
}

/// Bytes that a cache fetches together.
pub const LINE_BYTES: u32 = 4;

/// A bus whose cores' traces can be translated.
pub trait NativeTrace: Bus {
    /// Returns what is translated.
    fn translations(&mut self) -> &mut Translations;

    /// Returns what translated code accesses by itself. The same memories as long as [`Translations::clear`] is not
    /// called.
    fn quick(&mut self) -> Quick<'_>;
}

/// The begins of traces, and their translations.
#[derive(Debug)]
pub struct Translations {
    heads: Vec<Head>,
    /// Some place is cached in them.
    has_heads: bool,
    all: Vec<Translation>,
    store: host::Store,
    /// The begin of the current trace in the interpreter.
    pub(super) begun: u32,
    /// The last of the paths from there, if none of them was its own.
    pub(super) left: Option<u32>,
    /// Executions before one is made. 0: none is.
    after: u32,
    /// How many were made so far.
    made: u64,
    /// Traces that executed at least in part.
    pub(super) executed: u64,
    /// The profile of each core. While there is none, nothing is counted.
    cells: Option<[HashMap<u32, ProfileCell>; 2]>,
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
    code: host::NativeBlock,
    /// Before each of its instructions, and after the last.
    exits: Vec<Exit>,
    /// Cycles of all of them, where nothing but the code says how many.
    pub(super) cycles: u32,
    /// The way of executions that deviate at the first instruction.
    otherwise: Way,
    /// Paths from the same place that were there before.
    earlier: u32,
}

/// A possible exit of a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exit {
    pub ip: *mut Op,
    address: u32,
    /// Cycles of the instructions before it, where nothing but the code says how many.
    pub cycles: u32,
    /// Instructions before it, and verdicts on branches among them.
    pub count: u64,
    pub branches: u64,
    /// How often each core left there, where the path's cycles are known.
    pub taken: [u64; 2],
}

impl Default for Translations {
    fn default() -> Translations {
        Translations {
            heads: vec![Head::NONE; 1 << HEADS],
            has_heads: false,
            all: Vec::new(),
            store: host::Store::default(),
            begun: 0,
            left: None,
            after: TRANSLATED_AFTER,
            made: 0,
            executed: 0,
            cells: None,
        }
    }
}

impl Translations {
    /// How many were made so far, and how many traces they executed.
    pub fn counts(&self) -> Counts {
        Counts { translated: self.executed, translations: self.made, ..Counts::default() }
    }

    /// Forgets all: instructions are others now, or probes were set on some.
    pub fn clear(&mut self) {
        self.settle();
        if !self.all.is_empty() {
            self.all.clear();
            self.store = host::Store::default();
        }
        if std::mem::take(&mut self.has_heads) {
            self.heads.fill(Head::NONE);
        }
        self.left = None;
    }

    /// Traces are translated when they were executed so often. 0: never.
    pub fn translate_after(&mut self, executions: u32) {
        self.clear();
        self.after = executions;
    }

    #[inline(always)]
    fn slot(address: u32) -> usize {
        (address / 2) as usize & ((1 << HEADS) - 1)
    }

    /// Switches the profile on (from zero) or off.
    pub fn profile(&mut self, on: bool) {
        self.settle();
        self.cells = on.then(Default::default);
    }

    /// Takes what of it is known by cycles: core, address and cell.
    pub fn take_profile(&mut self) -> Vec<(usize, u32, ProfileCell)> {
        self.settle();
        let cells = self.cells.iter_mut().flatten().map(std::mem::take).zip(0..);
        cells.flat_map(|(cells, core)| cells.into_iter().map(move |(at, cell)| (core, at, cell))).collect()
    }

    /// Adds to the profile what a core has just executed.
    pub(super) fn count(&mut self, core: usize, took: &[Taken]) {
        let Some(cells) = &mut self.cells else { return };
        for step in took {
            *cells[core & 1].entry(step.pc).or_default() += ProfileCell {
                cycles: step.end - step.start,
                executions: step.executions.into(),
                wait_cycles: step.bus_wait.into(),
            };
        }
    }

    /// Adds up what was counted: an instruction was executed as often as a path was left after it.
    fn settle(&mut self) {
        for Translation { exits, .. } in &mut self.all {
            let mut times = [0; 2];
            for index in (1..exits.len()).rev() {
                let behind = std::mem::take(&mut exits[index].taken);
                let cycles = u64::from(exits[index].cycles - exits[index - 1].cycles);
                for (core, more) in behind.into_iter().enumerate() {
                    times[core] += more;
                    if let (Some(cells), 1..) = (&mut self.cells, times[core]) {
                        *cells[core].entry(exits[index - 1].address).or_default() +=
                            ProfileCell { cycles: times[core] * cycles, executions: times[core], wait_cycles: 0 };
                    }
                }
            }
        }
    }

    /// The number of the translation of the trace that begins there.
    #[inline(always)]
    pub(super) fn at(&self, address: u32) -> Option<u32> {
        // SAFETY: a slot number has as many bits as the table's length.
        match unsafe { *self.heads.get_unchecked(Translations::slot(address)) } {
            Head { address: known, way: Way::Translated(number) } if known == address => Some(number),
            _ => None,
        }
    }

    /// How often the current trace, which began there, was executed by the interpreter. `None` if that does not matter.
    #[inline(always)]
    fn times(&mut self, address: u32) -> Option<&mut u32> {
        let way = match self.left {
            Some(number) => &mut self.all[number as usize].otherwise,
            None => {
                let head = &mut self.heads[Translations::slot(address)];
                match head.way {
                    _ if head.address == address => {}
                    Way::Translated(_) => return None,
                    Way::Interpreted(_) => {
                        *head = Head { address, way: Way::Interpreted(0) };
                        self.has_heads = true;
                    }
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
        after != 0 && *times >= after
    }

    /// The same of the trace that began where [`run_native`](super::timing_cache::run_native) left off, and where that is.
    #[inline(always)]
    pub fn is_next(&mut self) -> Option<u32> {
        let begun = self.begun;
        self.is_due(begun).then_some(begun)
    }

    /// Excludes code that begins there from translation.
    pub(super) fn give_up(&mut self, address: u32) {
        self.record_translation(address, Way::Interpreted(NEVER));
    }

    fn record_translation(&mut self, address: u32, way: Way) {
        match self.left {
            Some(left) => self.all[left as usize].otherwise = way,
            None => {
                self.heads[Translations::slot(address)] = Head { address, way };
                self.has_heads = true;
            }
        }
    }

    /// Returns what is executed under this number, and how many cycles it takes, where they are known.
    #[inline(always)]
    pub(super) fn path(&self, number: u32) -> (host::NativeBlock, u32) {
        let Translation { code, cycles, .. } = &self.all[number as usize];
        (*code, *cycles)
    }

    /// The path was left there.
    #[inline(always)]
    pub(super) fn exit(&mut self, number: u32, how: u32) -> &mut Exit {
        &mut self.all[number as usize].exits[how as usize]
    }

    /// A trace went another way than this path at its first instruction: the number of one whose way it may be.
    pub(super) fn otherwise(&mut self, number: u32) -> Option<u32> {
        match self.all[number as usize].otherwise {
            Way::Translated(next) => Some(next),
            Way::Interpreted(_) => {
                self.left = Some(number);
                None
            }
        }
    }
}

/// Translates the trace that the core has just executed. `took` is what its instructions did, where the time of each does
/// not depend on what was before.
///
/// # Safety
/// The trace was executed, from this address on, in the region that the core is in.
#[cold]
#[inline(never)]
pub unsafe fn translate<B: NativeTrace>(bus: &mut B, core: &Core, address: u32, trace: Trace, took: &[Taken]) {
    let layout = bus.quick().layout();
    let translations = bus.translations();
    let number = translations.all.len() as u32;
    let earlier = translations.left.map_or(0, |left| translations.all[left as usize].earlier + 1);
    // SAFETY: the caller's promise.
    let path = unsafe { plan(&core.region, core.region.op(address), trace) };
    // An access that was not that of one path is not that of the next.
    let differs = path.steps.first().is_some_and(|step| earlier == 0 || step.course.may_differ());
    let assembled = if differs && earlier < PATHS && number < MOST {
        host::assemble::<B>(&mut translations.store, core, layout, &path)
    } else {
        None
    };
    let way = match assembled {
        Some((code, steps)) => {
            let exits = exits(core, &path, steps, took);
            let cycles = exits.last().map_or(0, |exit| exit.cycles);
            translations.all.push(Translation { code, exits, cycles, otherwise: Way::Interpreted(0), earlier });
            translations.made += 1;
            Way::Translated(number)
        }
        None => Way::Interpreted(NEVER),
    };
    translations.record_translation(address, way);
}

/// Before each of so many steps, and after the last.
fn exits(core: &Core, path: &Path, steps: usize, took: &[Taken]) -> Vec<Exit> {
    let before = path.steps.iter().map(|step| (step.ip, step.branches)).chain([(path.end, path.branches)]);
    let began = took.first().map_or(0, |first| first.start);
    let cycles = [0].into_iter().chain(took.iter().map(|step| (step.end - began) as u32)).chain(std::iter::repeat(0));
    let exits = before.take(steps + 1).zip(cycles).zip(0..);
    exits
        .map(|(((ip, branches), cycles), count)| Exit {
            ip,
            address: core.address_of(ip),
            cycles,
            count,
            branches,
            taken: [0; 2],
        })
        .collect()
}

/// Executes a path: the step before which it was left, or that after it, and the trace's [`Trace::indirect`]; `None` if some
/// of its code is not at hand.
///
/// # Safety
/// The core is at the path's begin. Ops and memories are those that it was translated with.
#[inline(always)]
pub(super) unsafe fn call<B: NativeTrace>(bus: &mut B, core: &mut Core, code: host::NativeBlock) -> Option<(u32, u64)> {
    // SAFETY: the caller's promise; where a path is left, everything is as it is before that step.
    let (how, indirect) = unsafe { code.call(bus, core) };
    (how != CALLED).then_some((how, indirect))
}
