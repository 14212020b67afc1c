//! Basic blocks as native code: what a core executes ahead again and again is translated.
//!
//! A translation begins where a basic block does and has all ways that it may take: at each branch with a condition it
//! forks. It works on the core and the RAM, keeps the core's log as the interpreter does, and ends as a [`Block`]
//! ends. If the execution deviates from the expectation, it ends before that instruction, as a shorter block. The end
//! of a block does not affect anybody's time. How both cores come on by it is looked up as ever.

#[cfg(not(target_arch = "x86_64"))]
mod none;
#[cfg(target_arch = "x86_64")]
mod plan;
#[cfg(target_arch = "x86_64")]
mod special;
#[cfg(target_arch = "x86_64")]
mod transit;
#[cfg(target_arch = "x86_64")]
mod x64;

#[cfg(not(target_arch = "x86_64"))]
use none as host;
#[cfg(target_arch = "x86_64")]
use x64 as host;

use super::{PairedBus, end_turn, move_on, wait_for_turn};
use crate::v6m::block::{Block, Turn};
use crate::v6m::bus::{Access, OrderedAccess};
use crate::v6m::core::Core;
use crate::v6m::op::{Code, Op};
use crate::v6m::speculation::SpeculationLog;

/// Executions of a basic block, whatever its way, before it is translated.
const TRANSLATED_AFTER: u32 = 500;
/// log2 of the places at which blocks may begin that are cached.
const HEADS: u32 = 12;
/// Most translations.
const MOST: usize = 2048;
/// Ends before something unexpected, after which a block is translated anew. And how often that is done.
const UNEXPECTED: u32 = 2000;
const ANEW: u8 = 4;
/// No more executions are counted.
const NEVER: u32 = u32::MAX;

/// A memory of main RAM, or several that are interleaved by words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bank {
    /// Where it begins.
    pub first: u32,
    /// How many bytes it has.
    pub bytes: u32,
    /// Four, from memory 0 on.
    pub is_interleaved: bool,
}

/// Probes on one instruction.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    /// Its address.
    pub address: u32,
    /// The number by which the bus knows them.
    pub number: u32,
}

/// Basic blocks that are translated.
#[derive(Debug)]
pub(super) struct Blocks {
    heads: Vec<Head>,
    has_heads: bool,
    /// Each where it stays: heads point there.
    #[allow(clippy::vec_box)]
    all: Vec<Box<Translation>>,
    store: host::Store,
    /// How code is entered, and how it continues.
    entry_points: Option<host::EntryPoints>,
    /// Executions before one is translated. 0: none is.
    after: u32,
    /// How many were made so far, and how many blocks they executed.
    pub made: u64,
    pub executed: u64,
}

/// Where blocks begin.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
struct Head {
    ip: *mut Op,
    /// Null: the interpreter executes them.
    translation: *mut Translation,
    /// The same for the execution after the probes on its first instruction have fired.
    probed: *mut Translation,
    /// The interpreter has so often.
    times: u32,
    /// So many translations were given up.
    anew: u8,
}

impl Head {
    const NONE: Head = Head {
        ip: std::ptr::null_mut(),
        translation: std::ptr::null_mut(),
        probed: std::ptr::null_mut(),
        times: 0,
        anew: 0,
    };

    fn is_translated(&self) -> bool {
        !self.translation.is_null() || !self.probed.is_null()
    }
}

#[derive(Debug)]
struct Translation {
    /// The code's address.
    code: u64,
    /// It was at hand when the cache of the code had lost so many lines.
    lost: u64,
    /// The lines that it is in.
    lines: Box<[u32]>,
    /// Ends left before something unexpected is not expected any more.
    unexpected: u32,
    /// The probes on its first instruction.
    probe: Probe,
}

/// Why native code has come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Back {
    /// Nothing was executed of a block that was to be.
    None,
    /// A block was executed, and is to be handed in.
    HandIn,
    /// The next event is not one of its own.
    Next,
    /// The machine must act.
    Stop,
}

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks {
            heads: vec![Head::NONE; 1 << HEADS],
            has_heads: false,
            all: Vec::new(),
            store: host::Store::default(),
            entry_points: None,
            after: TRANSLATED_AFTER,
            made: 0,
            executed: 0,
        }
    }
}

impl Blocks {
    /// Forgets all: instructions are others now, or probes were set on some.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.has_heads) {
            self.heads.fill(Head::NONE);
        }
        if !self.all.is_empty() {
            self.all.clear();
            self.store = host::Store::default();
            self.entry_points = None;
        }
    }

    /// Blocks are translated when they were executed so often. 0: never.
    pub fn translate_after(&mut self, executions: u32) {
        self.clear();
        self.after = executions;
    }

    #[inline(always)]
    fn slot(ip: *mut Op) -> usize {
        (ip as usize / size_of::<Op>()) & ((1 << HEADS) - 1)
    }

    /// Returns what is known of blocks that begin there.
    #[inline(always)]
    fn at(&self, ip: *mut Op) -> Option<&Head> {
        // SAFETY: a slot number has as many bits as the table's length.
        let head = unsafe { self.heads.get_unchecked(Blocks::slot(ip)) };
        (head.ip == ip).then_some(head)
    }

    /// The interpreter has executed a block that began there: true if it is to be translated.
    #[inline(always)]
    fn is_due(&mut self, ip: *mut Op) -> bool {
        let head = &mut self.heads[Blocks::slot(ip)];
        if head.is_translated() {
            return false;
        }
        if head.ip != ip {
            *head = Head { ip, ..Head::NONE };
            self.has_heads = true;
        }
        head.times = head.times.saturating_add(1);
        self.after != 0 && head.times >= self.after && head.times != NEVER
    }

    /// The block there ended before something unexpected too often: what is that now may be what is to be expected.
    #[cold]
    #[inline(never)]
    fn give_up(&mut self, ip: *mut Op) {
        let head = &mut self.heads[Blocks::slot(ip)];
        if head.ip == ip && head.anew < ANEW {
            *head = Head { ip, anew: head.anew + 1, ..Head::NONE };
        }
    }
}

/// The interpreter has executed a block of this core, which began there.
#[inline(always)]
pub(super) fn interpret<B: PairedBus>(bus: &mut B, core: &Core, start: *mut Op, block: &Block) {
    if bus.pairs().blocks.is_due(start) {
        translate(bus, core, start, block);
    }
}

#[cold]
#[inline(never)]
fn translate<B: PairedBus>(bus: &mut B, core: &Core, start: *mut Op, block: &Block) {
    // Whether all of it is at hand is looked at before it is executed.
    let lost = bus.lines_lost().wrapping_sub(1);
    let probe = bus.probe_at(core.address_of(start));
    let mut translation = Box::new(Translation { code: 0, lost, lines: Box::default(), unexpected: UNEXPECTED, probe });
    let mut store = std::mem::take(&mut bus.pairs().blocks.store);
    let has_room = bus.pairs().blocks.all.len() < MOST;
    let entry_points = bus.pairs().blocks.entry_points.or_else(|| host::entry_points(&mut store));
    // SAFETY: the core has just executed it.
    let mut op = unsafe { *start };
    let is_probed = op.code == Code::Attend;
    if is_probed {
        op = bus.behind(core.address_of(start));
    }
    let assembled = entry_points.filter(|_| has_room).and_then(|entry_points| {
        host::assemble(bus, (&mut store, entry_points), core, (start, op, block), &raw mut translation.unexpected)
    });
    let blocks = &mut bus.pairs().blocks;
    (blocks.store, blocks.entry_points) = (store, entry_points);
    let head = &mut blocks.heads[Blocks::slot(start)];
    let Some((code, lines)) = assembled else {
        head.times = NEVER;
        return;
    };
    (translation.code, translation.lines) = (code, lines.into_boxed_slice());
    let pointer = &raw mut *translation;
    if is_probed {
        head.probed = pointer;
    } else {
        head.translation = pointer;
    }
    blocks.all.push(translation);
    blocks.made += 1;
}

/// Implements [`Ahead::run_native_blocks`](crate::v6m::bus::Ahead::run_native_blocks).
///
/// # Safety
/// As for [`time_block`](super::time_block). The first core is before an instruction, and its log has no block.
#[inline(always)]
pub unsafe fn run_native<B: PairedBus>(
    bus: &mut B,
    cores: [*mut Core; 2],
    logs: [*mut SpeculationLog; 2],
) -> Option<Turn> {
    // SAFETY: the caller's promise, here and below.
    let core = unsafe { &*cores[0] };
    let is_translated = bus.pairs().blocks.at(core.ip).is_some_and(Head::is_translated);
    if !is_translated && ordered_address::<B>(bus, core).is_none() {
        return None;
    }
    // SAFETY: as above.
    unsafe { execute(bus, cores, logs) }
}

/// Executes blocks that are translated, and accesses in time order between them, of the first core and of whoever goes
/// on then, for as long as it goes. Returns the core that continues then. `None` if there was nothing.
#[inline(never)]
unsafe fn execute<B: PairedBus>(
    bus: &mut B,
    mut cores: [*mut Core; 2],
    mut logs: [*mut SpeculationLog; 2],
) -> Option<Turn> {
    let first = cores[0];
    let mut context = host::Context::new(bus);
    let mut has_executed = false;
    // SAFETY: the caller's promise; the logs live as long as the bus, and no reference to one outlives a statement.
    unsafe {
        while let Some(turn) = step(bus, &mut context, (&mut cores, &mut logs), &mut has_executed) {
            match turn {
                Turn::Same => {}
                Turn::Other => {
                    cores.swap(0, 1);
                    logs.swap(0, 1);
                }
                Turn::Stop => return Some(Turn::Stop),
            }
            if (*logs[0]).summons != 0 {
                break;
            }
        }
    }
    has_executed.then_some(if cores[0] == first { Turn::Same } else { Turn::Other })
}

/// Executes what the first core is before. `None` if that is the interpreter's.
#[inline(always)]
unsafe fn step<B: PairedBus>(
    bus: &mut B,
    context: &mut host::Context,
    (cores, logs): (&mut [*mut Core; 2], &mut [*mut SpeculationLog; 2]),
    has_executed: &mut bool,
) -> Option<Turn> {
    // SAFETY: the caller's promise; a translation lives as long as its head.
    unsafe {
        let (back, block) = context.run(bus, cores, logs);
        *has_executed |= context.has_executed();
        match back {
            Back::None => return None,
            Back::Next => {}
            Back::Stop => return Some(Turn::Stop),
            Back::HandIn => return Some(move_on(bus, *cores, *logs, block)),
        }
        if (*logs[0]).summons != 0 {
            return Some(Turn::Same);
        }
        if let Some(head) = bus.pairs().blocks.at((*cores[0]).ip).filter(|head| head.is_translated()) {
            let translation = if head.translation.is_null() { head.probed } else { head.translation };
            let has_lost = (*translation).lost != bus.lines_lost();
            return (has_lost && is_at_hand(bus, translation)).then_some(Turn::Same);
        }
        let address = ordered_address::<B>(bus, &*cores[0])?;
        let turn = ordered_access(bus, *cores, logs[0], address);
        *has_executed |= turn.is_some();
        turn
    }
}

/// The address of the access that the core is before, if it may be one that comes in time order.
#[inline(always)]
fn ordered_address<B: PairedBus>(bus: &mut B, core: &Core) -> Option<u32> {
    // SAFETY: `ip` points into the ops of the region.
    let op = unsafe { *core.ip };
    if !matches!(op.code, Code::LdrImm | Code::StrImm) || bus.pairs().blocks.after == 0 {
        return None;
    }
    let address = core.r[usize::from(op.b & 15)].wrapping_add(op.imm);
    B::may_be_ordered(address).then_some(address)
}

/// Makes that access by itself, as the interpreter does. `None` if it is not to be made in time order.
///
/// # Safety
/// As for [`run_native`].
unsafe fn ordered_access<B: PairedBus>(
    bus: &mut B,
    cores: [*mut Core; 2],
    mine: *mut SpeculationLog,
    address: u32,
) -> Option<Turn> {
    // SAFETY: the caller's promise.
    unsafe {
        let op = *(*cores[0]).ip;
        if !access(bus, &mut *cores[0], op, address) {
            return None;
        }
        (*mine).begin(&*cores[0]);
        let turn = wait_for_turn(bus, cores, mine);
        if turn != Turn::Same {
            return Some(turn);
        }
        let is_refused = access(bus, &mut *cores[0], op, address);
        debug_assert!(!is_refused, "its turn has come");
        (*cores[0]).ip = (*cores[0]).ip.wrapping_add(1);
        Some(end_turn(bus, cores, mine))
    }
}

/// Makes an access of a word, if it is this core's turn. True if it must wait for that. False also if it is no such access.
fn access<B: PairedBus>(bus: &mut B, core: &mut Core, op: Op, address: u32) -> bool {
    let register = usize::from(op.a & 15);
    if op.code == Code::StrImm {
        return bus.access_ahead(core, address, Access::Store { bytes: 4, value: core.r[register] })
            == OrderedAccess::NotYet;
    }
    let loaded = bus.access_ahead(core, address, Access::Load(4));
    if let OrderedAccess::Now(value) = loaded {
        core.r[register] = value;
    }
    loaded == OrderedAccess::NotYet
}

/// Whether the cache, which has lost lines since, still holds those of a translation.
#[cold]
#[inline(never)]
unsafe fn is_at_hand<B: PairedBus>(bus: &mut B, translation: *mut Translation) -> bool {
    let lost = bus.lines_lost();
    // SAFETY: the caller's promise that it lives.
    let translation = unsafe { &mut *translation };
    let Some(resident) = bus.quick().resident else { return true };
    let all = translation.lines.iter().all(|&line| resident[line as usize]);
    if all {
        translation.lost = lost;
    }
    all
}
