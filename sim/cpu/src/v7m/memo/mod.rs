//! Timing remembered: most of what a core executes it has executed before, in the same state of pipeline and flash.
//!
//! Instructions run in traces, up to a branch by register, first without any time. What time depends on
//! besides the opcodes is logged: which branches were taken, which memory answered each access, which predicated instructions were skipped, how
//! long divisions took. Start, end, log and the state that pipeline and flash interface were in (as distances from now)
//! name a transition; if it was seen before, its cycles are added and its end state is the new one. If not, the
//! pipeline is told the trace's story by [`replay`], and what came of it is remembered.
//!
//! So the pipelines stay the only place where rules of time are written down, and nothing is approximated: a trace
//! holds only what [`QUICK`] lists, accesses memories that answer by fixed rules, and begins so far from the next
//! event that it cannot reach it. Everything else goes through the executor's usual path, one instruction at a time.

mod distance;
mod log;
mod replay;
mod table;
mod untimed;

use std::hash::Hash;

use super::bus::Bus;
use super::code::number as code;
use super::core::{Core, Request};
use super::exec::{self, Flow, block};
use super::op::{Class, Op, Packed};
use super::pipeline::Pipeline;
use crate::step::watch;
pub use distance::{OPEN, cycle_at, since};
use log::{BRANCH_BITS, PREDICATE_BITS};
use replay::{Trace, replay};
use table::{Key, States, Transition, Transitions};
use untimed::{Quick, Untimed};

/// Most instructions in a trace.
const TRACE_INSTRUCTIONS: u32 = 16;
/// More cycles than any trace takes: each instruction moves up to 32 words and waits for two reads of the flash.
const TRACE_CYCLES: u64 = 72 * TRACE_INSTRUCTIONS as u64;

/// Where the data of an access lives, as far as time is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Home {
    /// Main RAM, its first block.
    First = 0,
    /// Main RAM, its second block.
    Second = 1,
    /// Flash, in a cache that answers at once.
    Cached = 2,
    /// Flash, whose answer takes the time the interface says; the address does not matter.
    Waiting = 3,
}

impl Home {
    fn of(bits: u64) -> Home {
        [Home::First, Home::Second, Home::Cached, Home::Waiting][bits as usize & 3]
    }
}

/// A pipeline whose timing can be remembered.
pub trait Memorable: Pipeline {
    /// All that future timing depends on, times as distances from now; ancient ones are alike.
    type State: Copy + Eq + Hash;

    /// The state before the instruction at `core.ip`.
    fn state(&self, core: &Core) -> Self::State;

    /// Takes a state up, before the instruction at `core.ip`, at time `core.t`.
    fn resume(&mut self, state: &Self::State, core: &Core);

    /// What [`Pipeline::cycles`] answers on this core.
    fn operand_cycles(op: Op, first: u32, second: u32) -> u64;

    /// Cycles of the instruction in hand as `operand_cycles` gave them.
    fn set_cycles(&mut self, cycles: u64);
}

/// A bus behind which some memories answer by rules that do not depend on addresses.
pub trait QuickBus: Bus {
    /// What the timing of future fetches depends on, but for caches; times as distances from `t`.
    type State: Copy + Eq + Hash;
    /// What a stretch of fetches asked of caches, and what they answered.
    type Lookups: Copy + Default;

    /// A number that changes when opcodes or rules of time do: everything remembered before is void.
    fn epoch(&self) -> u64;

    /// The state at time `t`.
    fn state(&self, t: u64) -> Self::State;

    /// Takes a state up at time `t`.
    fn resume(&mut self, state: &Self::State, t: u64);

    /// A load that needs no more than a look into memory.
    fn quick_load(&mut self, address: u32, bytes: u32) -> Option<(u32, Home)>;

    /// A store without consequences.
    fn quick_store(&mut self, address: u32, bytes: u32, value: u32) -> Option<Home>;

    /// True if all loads (stores) in this range would succeed at one home.
    fn quick_range(&self, address: u32, bytes: u32, store: bool) -> bool;

    /// Some address with this home.
    fn address_in(&self, home: Home) -> u32;

    /// From now on lookups are recorded.
    fn record(&mut self);

    /// What was recorded, if it can be repeated.
    fn recorded(&mut self) -> Option<Self::Lookups>;

    /// Looks the same things up again; true if the answers were the same. If not, nothing was changed.
    fn repeat(&mut self, lookups: &mut Self::Lookups) -> bool;
}

/// How the codes behave in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Manner {
    /// Register work, a single access, a branch in the region: what fails leaves no trace.
    Plain,
    /// Not at all.
    Apart,
    /// What could fail half-way: looked at first.
    Careful,
    /// Cycles depend on operands: what they were is logged.
    Operands,
    /// IT.
    Predicates,
}

impl Manner {
    const fn of(number: u8) -> Manner {
        match number {
            code::It => Manner::Predicates,
            code::Smull..=code::Umlal | code::Sdiv | code::Udiv => Manner::Operands,
            code::Ldrd | code::Strd | code::Ldm | code::LdmPc | code::Stm | code::Bx | code::Blx => Manner::Careful,
            code::Vadd32..=code::Vmsr => Manner::Careful,
            code::AndImmS..=code::LdrLit | code::Load | code::Store | code::Nop | code::Preload => Manner::Plain,
            code::Beq..=code::Cbnz => Manner::Plain,
            _ => Manner::Apart,
        }
    }
}

/// What a trace can hold, by code.
const QUICK: [Manner; 256] = {
    let mut table = [Manner::Apart; 256];
    let mut number = 0;
    while number < table.len() {
        table[number] = Manner::of(number as u8);
        number += 1;
    }
    table
};

/// Words (or narrower items) that an instruction of a trace moves.
fn words(op: Op) -> u32 {
    match op.class {
        Class::Load | Class::LoadLiteral | Class::Store => 1,
        Class::LoadDouble | Class::StoreDouble => 2,
        Class::LoadMultiple | Class::LoadMultiplePc | Class::StoreMultiple => u32::from(op.shift),
        Class::FloatLoad | Class::FloatStore => 1 + u32::from(op.has(super::op::flag::DOUBLE)),
        Class::FloatLoadMultiple | Class::FloatStoreMultiple => u32::from(op.shift),
        _ => 0,
    }
}

/// What is remembered of one core's timing.
#[derive(Debug)]
pub struct Memo<P: Memorable, B: QuickBus> {
    states: States<(P::State, B::State)>,
    transitions: Transitions<B::Lookups>,
    epoch: u64,
}

impl<P: Memorable, B: QuickBus> Default for Memo<P, B> {
    fn default() -> Memo<P, B> {
        Memo { states: States::new(), transitions: Transitions::new(), epoch: 0 }
    }
}

/// How a trace ended.
enum End {
    /// With a branch, or because it was long enough: the next one begins at once.
    Complete,
    /// Before an instruction that no trace holds.
    Barred,
}

impl<P: Memorable, B: QuickBus> Memo<P, B> {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.states.clear();
        self.transitions.clear();
    }

    /// As [`exec::run`] without profile and MPU, to the same cycle.
    pub fn run(&mut self, core: &mut Core, pipe: &mut P, bus: &mut B) {
        while core.request == Request::None && core.t < core.limit {
            let special = core.committed || core.words_moved != 0 || core.it != 0 || core.ici != 0 || !core.thumb;
            if special {
                if !exec::step(core, pipe, bus) {
                    return;
                }
                continue;
            }
            if core.t + TRACE_CYCLES > core.limit {
                return exec::run::<_, _, { watch::NOTHING }, false>(core, pipe, bus);
            }
            // SAFETY: `ip` points into the ops of the region.
            if QUICK[unsafe { (*core.ip).code } as usize] != Manner::Apart {
                self.traces(core, pipe, bus);
                if core.t + TRACE_CYCLES > core.limit || core.it != 0 {
                    continue;
                }
            }
            if !exec::step(core, pipe, bus) {
                return;
            }
        }
    }

    /// Runs traces for as long as they go. Pipeline and bus are up to date before and behind.
    fn traces(&mut self, core: &mut Core, pipe: &mut P, bus: &mut B) {
        if bus.epoch() != self.epoch {
            self.epoch = bus.epoch();
            self.clear();
        }
        let Some(mut state) = self.number(core, pipe, bus) else { return };
        let mut stale = false;
        loop {
            let (trace, end) = execute_trace::<P, B>(core, bus);
            if trace.instructions != 0 {
                let key = Key {
                    way: u64::from(core.address_of(trace.start)) | u64::from(core.address_of(trace.end)) << 32,
                    log: trace.log.bits(),
                    state: u64::from(state)
                        | u64::from(trace.instructions) << 32
                        | u64::from(trace.jump.is_some()) << 40,
                };
                core.instructions += u64::from(trace.instructions);
                let found = self.transitions.find(key);
                match found.and_then(|found| bus.repeat(&mut found.lookups).then_some(found)) {
                    Some(found) => {
                        core.t += u64::from(found.cycles);
                        core.bus_wait += u64::from(found.bus_wait);
                        core.flash_wait += u64::from(found.flash_wait);
                        state = found.next;
                        stale = true;
                    }
                    None => {
                        if stale {
                            self.resume(core, pipe, bus, state, trace.start);
                        }
                        stale = false;
                        match self.learn(core, pipe, bus, trace, key) {
                            Some(next) => state = next,
                            None => return,
                        }
                    }
                }
            }
            if matches!(end, End::Barred) || core.t + TRACE_CYCLES > core.limit {
                if stale {
                    let at = core.ip;
                    self.resume(core, pipe, bus, state, at);
                }
                return;
            }
        }
    }

    /// The number of the state that pipeline and bus are in; everything else is forgotten if there is no room for it.
    fn number(&mut self, core: &Core, pipe: &P, bus: &B) -> Option<u32> {
        let state = (pipe.state(core), bus.state(core.t));
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

    /// Finds out what a trace takes; returns the state behind it, `None` if what was known before is forgotten.
    #[inline(never)]
    fn learn(&mut self, core: &mut Core, pipe: &mut P, bus: &mut B, trace: Trace, key: Key) -> Option<u32> {
        let (t, bus_wait, flash_wait) = (core.t, core.bus_wait, core.flash_wait);
        bus.record();
        replay(core, pipe, bus, trace);
        let lookups = bus.recorded();
        let state = (pipe.state(core), bus.state(core.t));
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

/// Executes instructions without time: up to a branch by register, the second turn of a loop, the longest length, or
/// an instruction that no trace holds.
#[inline(always)]
fn execute_trace<P: Memorable, B: QuickBus>(core: &mut Core, bus: &mut B) -> (Trace, End) {
    let start = core.ip;
    let mut pipe = Untimed::<P>::new();
    let mut bus = Quick(bus);
    // Instructions that may follow, and how many of the longest trace were given up.
    let (mut left, mut given_up) = (TRACE_INSTRUCTIONS, 0);
    let mut turned = false;
    let end = loop {
        let ip = core.ip;
        // SAFETY: `ip` points into the ops of the region.
        let packed = unsafe { Packed::read(ip) };
        let manner = QUICK[packed.code() as usize];
        if manner != Manner::Plain && !admitted(core, &pipe, bus.0, manner, packed) {
            match manner {
                Manner::Predicates => {}
                Manner::Operands => break End::Complete,
                _ => break End::Barred,
            }
            let block = predicated(core, &mut pipe, &mut bus, left);
            left = block.left;
            match block.end {
                Some(end) => break end,
                None if left == 0 => break End::Complete,
                None => continue,
            }
        }
        let log = pipe.log;
        let flow = exec::execute::<_, _, false>(core, &mut pipe, &mut bus, packed, ip);
        match flow {
            Flow::Next => core.ip = ip.wrapping_add(packed.halfwords()),
            Flow::NotTaken => {
                pipe.log.push(0, BRANCH_BITS);
                core.ip = ip.wrapping_add(packed.halfwords());
            }
            Flow::Near | Flow::NearConditional => {
                if matches!(flow, Flow::NearConditional) {
                    pipe.log.push(1, BRANCH_BITS);
                }
                let distance = packed.op().imm as i32;
                core.ip = ip.wrapping_offset(distance as isize);
                if distance < 0 && std::mem::replace(&mut turned, true) {
                    given_up = left - 1;
                    left = 1;
                }
            }
            Flow::Jumped => {
                left -= 1;
                break End::Complete;
            }
            _ => {
                core.request = Request::None;
                pipe.log = log;
                break End::Barred;
            }
        }
        left -= 1;
        if left == 0 {
            break End::Complete;
        }
    };
    let instructions = TRACE_INSTRUCTIONS - left - given_up;
    (Trace { start, end: core.ip, instructions, log: pipe.log, jump: pipe.jump }, end)
}

/// Whether a trace can hold an instruction that is not plain, now.
#[inline(never)]
fn admitted<P, B: QuickBus>(core: &Core, pipe: &Untimed<P>, bus: &mut B, manner: Manner, packed: Packed) -> bool {
    match manner {
        Manner::Careful => allowed(core, bus, packed.op()),
        Manner::Operands => pipe.log.has_room_for_cycles(),
        Manner::Plain => true,
        Manner::Apart | Manner::Predicates => false,
    }
}

/// How an IT block went.
struct Block {
    /// Instructions that may follow.
    left: u32,
    /// `None`: the trace goes on behind the block.
    end: Option<End>,
}

/// An IT and the instructions behind it.
#[inline(never)]
fn predicated<P: Memorable, B: QuickBus>(
    core: &mut Core,
    pipe: &mut Untimed<P>,
    bus: &mut Quick<'_, B>,
    mut left: u32,
) -> Block {
    // No room for a whole block: it begins the next trace.
    if left < 5 {
        return Block { left, end: Some(End::Complete) };
    }
    // SAFETY: `ip` points into the ops of the region, here and below.
    core.it = unsafe { (*core.ip).imm } as u8;
    core.ip = core.ip.wrapping_add(1);
    left -= 1;
    while core.it != 0 {
        let (ip, it) = (core.ip, core.it);
        // SAFETY: as above.
        let packed = unsafe { Packed::read(ip) };
        if !admitted(core, pipe, bus.0, QUICK[packed.code() as usize], packed) {
            return Block { left, end: Some(End::Barred) };
        }
        let log = pipe.log;
        let executed = block::judge(core, packed);
        core.it = block::advanced(it);
        let next = ip.wrapping_add(packed.halfwords());
        left -= 1;
        if executed == block::SKIPPED {
            pipe.log.push(0, PREDICATE_BITS);
            core.ip = next;
            continue;
        }
        let op = executed.op();
        pipe.log.push(1, PREDICATE_BITS);
        match exec::execute::<_, _, false>(core, pipe, bus, executed, &op) {
            Flow::Next => core.ip = next,
            Flow::Near => core.ip = ip.wrapping_offset(op.imm as i32 as isize),
            Flow::Jumped => return Block { left, end: Some(End::Complete) },
            _ => {
                core.request = Request::None;
                core.it = it;
                pipe.log = log;
                return Block { left: left + 1, end: Some(End::Barred) };
            }
        }
    }
    Block { left, end: None }
}

/// Whether an instruction that could fail half-way will not.
#[inline(always)]
fn allowed<B: QuickBus>(core: &Core, bus: &mut B, op: Op) -> bool {
    let within = |target: u32| target & 1 != 0 && target.wrapping_sub(core.region.base) < core.region.bytes;
    let base = core.reg(op.rn);
    match op.class {
        Class::BranchRegister => within(core.reg(op.rm)),
        Class::LoadMultiple | Class::LoadMultiplePc | Class::StoreMultiple => {
            let bytes = 4 * u32::from(op.shift);
            let lowest = if op.ra == 0 { base } else { base.wrapping_sub(bytes) };
            let store = op.class == Class::StoreMultiple;
            core.ici == 0
                && lowest & 3 == 0
                && bus.quick_range(lowest, bytes, store)
                && (op.class != Class::LoadMultiplePc
                    || bus.quick_load(lowest + bytes - 4, 4).is_some_and(|(target, _)| within(target)))
        }
        Class::LoadDouble | Class::StoreDouble => {
            let first = if op.has(super::op::flag::POST_INDEXED) { base } else { base.wrapping_add(op.imm) };
            op.rn != 15 && first & 3 == 0 && bus.quick_range(first, 8, op.class == Class::StoreDouble)
        }
        Class::FloatLoadMultiple | Class::FloatStoreMultiple => {
            let lowest = if op.ra == 0 { base } else { base.wrapping_sub(op.imm) };
            let bytes = 4 * u32::from(op.shift);
            let store = op.class == Class::FloatStoreMultiple;
            core.float_ready && lowest & 3 == 0 && bus.quick_range(lowest, bytes, store)
        }
        Class::FloatLoad | Class::FloatStore if op.has(super::op::flag::DOUBLE) => {
            let first = base.wrapping_add(op.imm);
            let store = op.class == Class::FloatStore;
            core.float_ready && op.rn != 15 && first & 3 == 0 && bus.quick_range(first, 8, store)
        }
        _ => core.float_ready,
    }
}
