//! The timing of a trace that was executed already: the pipeline is told the same story, without the effects.

use super::log::{BRANCH_BITS, CYCLES_BITS, HOME_BITS, Log, PREDICATE_BITS};
use super::{Home, Memorable, QuickBus, words};
use crate::v7m::bus::{Bus, Loaded};
use crate::v7m::code::number as code;
use crate::v7m::core::{Core, Region};
use crate::v7m::exec::block;
use crate::v7m::fault::Fault;
use crate::v7m::op::{Class, Op};
use crate::v7m::pipeline::Jump;

/// A trace as it was executed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trace {
    /// First instruction.
    pub start: *mut Op,
    /// Where execution goes on.
    pub end: *mut Op,
    /// Instructions, those of failed conditions included.
    pub instructions: u32,
    pub log: Log,
    /// How its last instruction branched, if it did.
    pub jump: Option<(Jump, u32)>,
}

/// The bus in a replay: fetches are real, data is not touched again.
struct Replay<'a, B> {
    bus: &'a mut B,
    home: Home,
}

impl<B: QuickBus> Bus for Replay<'_, B> {
    fn fetch(&mut self, core: &mut Core, address: u32, at: u64) -> u64 {
        self.bus.fetch(core, address, at)
    }

    fn fetch_waits(&self) -> bool {
        self.bus.fetch_waits()
    }

    fn redirect(&mut self, core: &mut Core, target: u32, at: u64) {
        self.bus.redirect(core, target, at);
    }

    fn load(&mut self, core: &mut Core, address: u32, bytes: u32, at: u64) -> Result<Loaded, Fault> {
        match self.home {
            Home::Waiting => self.bus.load(core, address, bytes, at),
            _ => Ok(Loaded { value: 0, wait: 0 }),
        }
    }

    fn store(&mut self, _: &mut Core, _: u32, _: u32, _: u32, _: u64) -> Result<u64, Fault> {
        Ok(0)
    }

    fn block(&self, address: u32) -> u8 {
        self.bus.block(address)
    }

    fn region(&mut self, _: u32) -> Option<Region> {
        unreachable!("a replay enters no region");
    }

    unsafe fn decode(&mut self, _: &Core, _: *mut Op) {
        unreachable!("a replay decodes nothing");
    }

    unsafe fn attend(&mut self, _: &mut Core, _: *mut Op, _: bool) -> Option<Op> {
        unreachable!("a replay fires no probe");
    }
}

/// Advances `core.t`, the pipeline and the bus, which stand where the trace began, to its end.
pub(super) fn replay<P: Memorable, B: QuickBus>(core: &mut Core, pipe: &mut P, bus: &mut B, trace: Trace) {
    let mut log = trace.log;
    let mut bus = Replay { bus, home: Home::First };
    let mut it = 0;
    core.ip = trace.start;
    for left in (0..trace.instructions).rev() {
        // SAFETY: the trace was executed, so all its instructions are ops of the region.
        let mut op = unsafe { *core.ip };
        let next = core.ip.wrapping_add(op.halfwords());
        if it != 0 {
            it = block::advanced(it);
            if log.take(PREDICATE_BITS) == 0 {
                pipe.skip(core, &mut bus, op);
                core.ip = next;
                continue;
            }
            op = block::without_flags(op);
        }
        pipe.issue(core, &mut bus, op);
        accesses(core, pipe, &mut bus, op, &mut log);
        if has_operand_cycles(op) {
            pipe.set_cycles(log.take(CYCLES_BITS));
        }
        if op.code == code::It {
            it = op.imm as u8;
        }
        let near = core.ip.wrapping_offset(op.imm as i32 as isize);
        match (left, trace.jump, op.class) {
            (0, Some((jump, target)), _) => {
                core.ip = trace.end;
                pipe.taken(core, &mut bus, op, jump, target);
                continue;
            }
            (_, _, Class::BranchConditional | Class::CompareBranch) => {
                if log.take(BRANCH_BITS) != 0 {
                    take(core, pipe, &mut bus, op, Jump::Conditional, near);
                    continue;
                }
                pipe.not_taken(core, &mut bus, op);
            }
            (_, _, Class::Branch) => {
                take(core, pipe, &mut bus, op, Jump::Immediate, near);
                continue;
            }
            _ => pipe.finish(core, op),
        }
        core.ip = next;
    }
    debug_assert!(core.ip == trace.end && log.is_empty(), "the replay of a trace lost its way");
}

/// A branch inside the region.
fn take<P: Memorable, B: QuickBus>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut Replay<'_, B>,
    op: Op,
    jump: Jump,
    ip: *mut Op,
) {
    core.ip = ip;
    let target = core.address_of(ip);
    pipe.taken(core, bus, op, jump, target);
}

/// The memory accesses of an instruction, all in one memory.
fn accesses<P: Memorable, B: QuickBus>(core: &mut Core, pipe: &mut P, bus: &mut Replay<'_, B>, op: Op, log: &mut Log) {
    let count = words(op);
    if count == 0 {
        return;
    }
    bus.home = Home::of(log.take(HOME_BITS));
    let first = bus.bus.address_in(bus.home);
    for index in 0..count {
        let address = first + 4 * index;
        let answered = if is_store(op) {
            pipe.store(core, bus, op, address, 4, 0, index)
        } else {
            pipe.load(core, bus, op, address, 4, index).map(drop)
        };
        debug_assert!(answered.is_ok(), "a replayed access cannot fault");
    }
}

fn is_store(op: Op) -> bool {
    use Class::{FloatStore, FloatStoreMultiple, Store, StoreDouble, StoreMultiple};
    matches!(op.class, Store | StoreDouble | StoreMultiple | FloatStore | FloatStoreMultiple)
}

fn has_operand_cycles(op: Op) -> bool {
    matches!(op.code, code::Smull | code::Umull | code::Smlal | code::Umlal | code::Sdiv | code::Udiv)
}
