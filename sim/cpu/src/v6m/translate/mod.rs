//! Traces as native code: what is executed again and again the same way is translated, its time is looked up as ever.
//!
//! A translation is one path: the instructions of a trace in the order in which they were executed, with the branches
//! taken that were taken then, to the places that they led to. If the execution deviates, the trace ends before that
//! instruction, and the next one begins there. The end of a trace does not affect its time. A trace that deviates
//! often at its very first instruction is translated, too.

mod asks;
#[cfg(native_code)]
mod assemble;
mod plan;
mod thumb;
#[cfg(native_code)]
mod writer;

use std::collections::HashMap;
use std::mem::offset_of;

pub use crate::host::MARKED_BYTES;
use crate::host::registry::Paths;
use crate::host::{CALLED, Function};
use crate::profile::ProfileCell;
use crate::step::Step as Taken;
use crate::timing_store::Counts;
use crate::v6m::bus::Bus;
use crate::v6m::core::Core;
use crate::v6m::op::Op;
use crate::v6m::region::Region;
use crate::v6m::trace::Trace;
pub(in crate::v6m) use asks::BusAccess;
#[cfg(native_code)]
use assemble::assemble;
use plan::{Path, plan_path};
#[cfg(native_code)]
pub(in crate::v6m) use thumb::convert_to_v7m_op;
#[cfg(native_code)]
pub(in crate::v6m) use writer::{Literal, new_native_code_writer};

/// Executions of a trace, whatever its path, before it is translated: short runs take no longer with it than without.
const TRANSLATED_AFTER: u32 = 1000;
/// The distance of two instructions' addresses.
const HALFWORD: usize = 2;

/// The memories that native code accesses without asking the bus.
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
    /// Returns the addresses and sizes of these memories.
    pub(in crate::v6m) fn memory_layout(&self) -> Layout {
        let (bytes, ram_bytes) = (self.constants.len() as u32, self.ram.len() as u32);
        Layout { base: self.base, bytes, ram_bytes, is_cached: self.resident.is_some() }
    }
}

/// The address and size of constant memory, and the size of the RAM, as native code needs them.
#[derive(Debug, Clone, Copy)]
pub(in crate::v6m) struct Layout {
    base: u32,
    bytes: u32,
    ram_bytes: u32,
    /// They are not always at hand.
    is_cached: bool,
}

impl Layout {
    /// Returns the first and the last cache line of an instruction. They are mostly the same.
    pub fn cache_lines_of_instruction(self, region: &Region, ip: *mut Op, op: Op) -> [u32; 2] {
        let first = region.address_of_op(ip).wrapping_sub(self.base);
        let last = if op.is_wide() { first + 2 } else { first };
        [first, last].map(|offset| offset / LINE_BYTES)
    }
}

/// Bytes that a cache fetches together.
pub const LINE_BYTES: u32 = 4;

/// A bus whose cores' traces can be JIT-compiled.
pub trait NativeTrace: Bus {
    /// Returns the JIT-compiled traces.
    fn compiled_traces(&mut self) -> &mut Translations;

    /// Returns the memories that native code accesses by itself. They stay the same as long as
    /// [`Translations::forget_all_translations`] is not called.
    fn native_memories(&mut self) -> Quick<'_>;
}

/// The JIT-compiled traces, by the address at which they begin.
#[derive(Debug)]
pub struct Translations {
    paths: Paths<Translation, HALFWORD>,
    /// The begin of the current trace in the interpreter.
    pub(super) begun: u32,
    /// The profile of each core. While there is none, nothing is counted.
    cells: Option<[HashMap<u32, ProfileCell>; 2]>,
}

/// A JIT-compiled trace with its exits.
#[derive(Debug)]
struct Translation {
    code: Function,
    /// Before each of its instructions, and after the last.
    exits: Vec<Exit>,
    /// Cycles of all of them, where nothing but the code says how many.
    cycles: u32,
}

/// A place at which native code may leave a trace.
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
    /// Returns a registry without translations.
    fn default() -> Translations {
        Translations { paths: Paths::new(TRANSLATED_AFTER), begun: 0, cells: None }
    }
}

impl Translations {
    /// Returns how many traces were JIT-compiled so far, and how many they executed.
    pub fn native_code_counts(&self) -> Counts {
        self.paths.native_code_counts()
    }

    /// Counts a trace that native code has executed, at least in part.
    #[inline(always)]
    pub(super) fn count_executed_native_trace(&mut self) {
        self.paths.count_native_traces(1);
    }

    /// Forgets all translations and counts, because instructions or probes changed.
    pub fn forget_all_translations(&mut self) {
        self.add_trace_exit_counts_to_profile();
        self.paths.forget_all_translations();
    }

    /// Sets after how many executions traces are JIT-compiled. 0: never.
    pub fn set_translation_threshold(&mut self, executions: u32) {
        self.add_trace_exit_counts_to_profile();
        self.paths.set_translation_threshold(executions);
    }

    /// Switches the profile of native code on (from zero) or off.
    pub fn set_cached_profiling(&mut self, on: bool) {
        self.add_trace_exit_counts_to_profile();
        self.cells = on.then(Default::default);
    }

    /// Removes the profile of native code that contains its cycles, and returns it, as (core, instruction address,
    /// cycles and executions).
    pub fn take_profile(&mut self) -> Vec<(usize, u32, ProfileCell)> {
        self.add_trace_exit_counts_to_profile();
        let cells = self.cells.iter_mut().flatten().map(std::mem::take).zip(0..);
        cells.flat_map(|(cells, core)| cells.into_iter().map(move |(at, cell)| (core, at, cell))).collect()
    }

    /// Adds to the profile what a core has just executed.
    pub(super) fn add_executed_instructions_to_profile(&mut self, core: usize, took: &[Taken]) {
        let Some(cells) = &mut self.cells else { return };
        for step in took {
            *cells[core & 1].entry(step.pc).or_default() += ProfileCell {
                cycles: step.end - step.start,
                executions: step.executions.into(),
                wait_cycles: step.bus_wait.into(),
            };
        }
    }

    /// Adds the counts of all exits to the profile: an instruction was executed as often as a trace was left after it.
    fn add_trace_exit_counts_to_profile(&mut self) {
        for Translation { exits, .. } in self.paths.all_compiled_paths_mut() {
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

    /// Begins a trace at this address, and returns the number of its first translation.
    #[inline(always)]
    pub(super) fn begin_trace(&mut self, address: u32) -> Option<u32> {
        self.paths.begin_trace(address.into())
    }

    /// Returns the number of the first translation of a trace that begins at this address.
    #[inline(always)]
    pub(super) fn number_of_first_compiled_trace(&self, address: u32) -> Option<u32> {
        self.paths.number_of_first_compiled_path(address.into())
    }

    /// Returns whether the trace that began at this address and was executed by the interpreter is to be JIT-compiled
    /// now.
    #[inline(always)]
    pub fn is_compilation_due(&mut self, address: u32) -> bool {
        self.paths.is_compilation_due(address.into())
    }

    /// Returns the address at which the last trace of [`run_native_traces`](super::timing_cache::run_native_traces)
    /// began, if the trace from there is to be JIT-compiled now.
    #[inline(always)]
    pub fn is_next_trace_address(&mut self) -> Option<u32> {
        let begun = self.begun;
        self.is_compilation_due(begun).then_some(begun)
    }

    /// Excludes the trace that begins at this address from JIT compilation for good.
    pub(super) fn exclude_address_from_compilation(&mut self, address: u32) {
        self.paths.exclude_trace_from_compilation(address.into());
    }

    /// Returns the native function with this number, and the cycles of its path, if they depend on the path alone.
    #[inline(always)]
    pub(super) fn native_function_and_fixed_cycles(&self, number: u32) -> (Function, u32) {
        let Translation { code, cycles, .. } = self.paths.path_with_number(number);
        (*code, *cycles)
    }

    /// Returns the exit `how` of the translation with this number.
    #[inline(always)]
    pub(super) fn exit_record_of_compiled_trace(&mut self, number: u32, how: u32) -> &mut Exit {
        &mut self.paths.path_with_number_mut(number).exits[how as usize]
    }

    /// Returns the number of the translation to try next, after execution deviated from this one at its first
    /// instruction.
    pub(super) fn number_of_next_compiled_trace(&mut self, number: u32) -> Option<u32> {
        self.paths.next_alternative_code_path(number)
    }
}

/// JIT-compiles the trace that the core has just executed. `took` has the cycles of its instructions, if these do not
/// depend on what was executed before, and is empty otherwise.
///
/// # Safety
/// The trace was executed, from this address on, in the region that the core is in.
#[cold]
#[inline(never)]
pub unsafe fn compile_executed_trace<B: NativeTrace>(
    bus: &mut B,
    core: &Core,
    address: u32,
    trace: Trace,
    took: &[Taken],
) {
    let layout = bus.native_memories().memory_layout();
    let paths = &mut bus.compiled_traces().paths;
    // SAFETY: the caller's promise.
    let path = unsafe { plan_path(&core.region, core.region.op_at_address(address), trace) };
    // An access that was not that of one path is not that of the next.
    let is_first = paths.last_mismatching_compiled_path().is_none();
    let differs = path.steps.first().is_some_and(|step| is_first || step.kind.has_other_compilable_op_kind());
    let assembled = if differs && paths.next_path_number().is_some() {
        assemble::<B>(paths.native_code_memory(), core, layout, &path)
    } else {
        None
    };
    match assembled {
        Some((code, steps)) => {
            let exits = create_exits_of_compiled_path(core, &path, steps, took);
            let cycles = exits.last().map_or(0, |exit| exit.cycles);
            paths.add_translation(address.into(), Translation { code, exits, cycles });
        }
        None => paths.exclude_trace_from_compilation(address.into()),
    }
}

/// Returns `None`: this host has no native code.
#[cfg(not(native_code))]
#[allow(clippy::extra_unused_type_parameters)] // it is called as the real one is
fn assemble<B: Bus>(_: &mut crate::host::Store, _: &Core, _: Layout, _: &Path) -> Option<(Function, usize)> {
    None
}

/// Returns the exits of a path: one before each of its steps, and one after the last.
fn create_exits_of_compiled_path(core: &Core, path: &Path, steps: usize, took: &[Taken]) -> Vec<Exit> {
    let before = path.steps.iter().map(|step| (step.ip, step.branches)).chain([(path.end, path.branches)]);
    let began = took.first().map_or(0, |first| first.start);
    let cycles = [0].into_iter().chain(took.iter().map(|step| (step.end - began) as u32)).chain(std::iter::repeat(0));
    let exits = before.take(steps + 1).zip(cycles).zip(0..);
    exits
        .map(|(((ip, branches), cycles), count)| Exit {
            ip,
            address: core.address_of_op(ip),
            cycles,
            count,
            branches,
            taken: [0; 2],
        })
        .collect()
}

/// Executes a native function. Returns the number of the step before which it was left and the trace's
/// [`Trace::branch_by_register`], or `None` if some of its code is not in the cache.
///
/// # Safety
/// The core is at the path's begin. Ops and memories are those that it was translated with.
#[inline(always)]
pub(super) unsafe fn call_native_path<B: NativeTrace>(
    bus: &mut B,
    core: &mut Core,
    code: Function,
) -> Option<(u32, u64)> {
    const { assert!(offset_of!(Context, asks) == 0) };
    let Quick { ram, marks, constants, resident, .. } = bus.native_memories();
    let (ram, marks) = (ram.as_mut_ptr(), marks.as_ptr());
    let (constants, resident) = (constants.as_ptr() as u64, resident.map_or(0, |lines| lines.as_ptr() as u64));
    let mut context = Context { asks: BusAccess::new(bus, constants), resident, indirect: Trace::NO_INDIRECT };
    // SAFETY: the caller's promise; where a path is left, everything is as it is before that step.
    let how = unsafe { code.call_native(std::ptr::from_mut(core).cast(), ram, marks, (&raw mut context).cast()) };
    (how != CALLED).then_some((how, context.indirect))
}

/// The data that native code of a trace gets at its call and returns.
#[derive(Debug)]
#[repr(C)]
struct Context {
    asks: BusAccess,
    /// The bits that name the resident constants.
    resident: u64,
    /// [`Trace::branch_by_register`] so far.
    indirect: u64,
}

const RESIDENT: i32 = offset_of!(Context, resident) as i32;
const INDIRECT: i32 = offset_of!(Context, indirect) as i32;
