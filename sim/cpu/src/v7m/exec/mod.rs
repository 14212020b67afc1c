//! What instructions do: the loop that executes ops.
//!
//! One flat match, so that dispatch is one indirect jump; the arms are small inlined functions, frequent ones here and
//! in [`memory`], [`branch`], [`multiple`], rare ones in functions of their own. Local time, flags and registers live
//! in [`Core`]; `core.ip` is the instruction being executed until it is done.

mod alu;
mod bits;
pub(super) mod block;
mod branch;
mod float;
mod memory;
mod multiple;
mod multiply;
mod profile;
mod system;
#[cfg(test)]
mod tests;

use super::bus::Bus;
use super::code::{Code, number as code, with_codes};
use super::core::{Core, Request};
use super::fault::Fault;
use super::op::{Op, Packed, flag};
use super::pipeline::{Jump, Pipeline};
use super::scb::ccr;
use crate::step::watch;
use alu::{Shift, operand, shift_by_register, shifted};
use multiply::{accumulator, set_long};
use profile::Profile;

/// How an instruction went on. A bare number, so that the common ways need no memory.
#[derive(Debug, Clone, Copy)]
pub(super) enum Flow {
    /// To the next one.
    Next,
    /// Its branch was not taken.
    NotTaken,
    /// It branches inside the region, by `imm`, always.
    Near,
    /// The same, by a condition.
    NearConditional,
    /// It branched, and all is done; a request may have come of it.
    Jumped,
    /// It is done and left a request or fell asleep; execution goes on behind it.
    Left,
    /// It gives way between two words or before it starts; it is not done.
    Paused,
    /// It faulted; the request says why.
    Faulted,
}

/// Leaves a fault as the request.
#[cold]
#[inline(never)]
fn faulted(core: &mut Core, fault: Fault) -> Flow {
    core.request = Request::Fault(fault);
    Flow::Faulted
}

/// Executes an instruction in a function of its own, so that it takes no registers and no room from the others.
///
/// # Safety
/// `at` points to an op.
#[inline(never)]
unsafe fn apart<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    at: *const Op,
    execute: impl Fn(&mut Core, &mut P, &mut B, Op) -> Result<Flow, Fault>,
) -> Flow {
    // SAFETY: the caller's promise.
    let op = unsafe { Packed::read(at) }.op();
    let done = execute(core, pipe, bus, op);
    flow::<P>(core, done)
}

/// The same where the bus has a say.
///
/// # Safety
/// `at` points to an op.
#[inline(never)]
unsafe fn admitted<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    at: *const Op,
    execute: impl Fn(&mut Core, &mut P, &mut B, Op) -> Result<Flow, Fault>,
) -> Flow {
    // SAFETY: the caller's promise.
    let op = unsafe { Packed::read(at) }.op();
    if !bus.admits(core, op) {
        return Flow::Paused;
    }
    let done = execute(core, pipe, bus, op);
    flow::<P>(core, done)
}

/// How an instruction that may have faulted went on.
#[inline(always)]
fn flow<P: Pipeline>(core: &mut Core, done: Result<Flow, Fault>) -> Flow {
    match done {
        Ok(flow) => flow,
        Err(_) if P::IN_LINE => Flow::Faulted,
        Err(fault) => faulted(core, fault),
    }
}

/// Executes what only touches registers in a function of its own.
///
/// # Safety
/// `at` points to an op.
#[inline(never)]
unsafe fn registers_apart(core: &mut Core, at: *const Op, execute: impl Fn(&mut Core, Op)) {
    // SAFETY: the caller's promise.
    let op = unsafe { Packed::read(at) }.op();
    execute(core, op);
}

/// Executes instructions until `core.t` reaches `core.limit` at an instruction boundary or `core.request` is set.
///
/// `GUARD`: an MPU is on, so that every fetch and every access is checked.
///
/// The machine clears a request before it calls again.
///
/// # Safety
/// `core.ip` points into the ops of `core.region`, a region of `bus`: they lie in no memory that `core`, `pipe` or `bus`
/// hold by value, end with an `OutOfRegion` op, and those that are decoded were made by [`decode`](super::decode), whose
/// near branches stay inside. With `watch::PROFILE` the region has profile cells, one for each op.
pub unsafe fn run<B: Bus, P: Pipeline, const WATCH: u8, const GUARD: bool>(core: &mut Core, pipe: &mut P, bus: &mut B) {
    if core.request != Request::None {
        return;
    }
    if !core.thumb {
        core.request = Request::Fault(Fault::InvalidState);
        return;
    }
    let special = core.committed || core.words_moved != 0 || core.it != 0;
    // SAFETY: the caller's promise.
    if special && !unsafe { uncommon::<B, P, WATCH, GUARD>(core, pipe, bus) } {
        return;
    }
    while core.t < core.limit {
        if GUARD && !fetch_allowed(core, bus) {
            return;
        }
        let ip = core.ip;
        // SAFETY: `ip` points into the ops of the region: the caller promises it of the first, and every instruction leads
        // to another one inside, or to the op behind the last.
        let packed = unsafe { Packed::read(ip) };
        if packed.code() <= code::It {
            // SAFETY: as above.
            if !unsafe { uncommon::<B, P, WATCH, GUARD>(core, pipe, bus) } {
                return;
            }
            continue;
        }
        let profile = Profile::<WATCH>::start(core);
        // SAFETY: as above.
        let flow = unsafe {
            pipe.issue(core, bus, *ip);
            execute::<B, P, GUARD>(core, pipe, bus, ip)
        };
        // SAFETY: the profile is that of this instruction.
        if !unsafe { settle::<B, P, WATCH>(core, pipe, bus, packed.op(), flow, 0, profile, ip) } {
            return;
        }
    }
}

/// Executes one instruction, or one IT block. False: execution stops here.
///
/// # Safety
/// As for [`run`].
pub(super) unsafe fn step<B: Bus, P: Pipeline>(core: &mut Core, pipe: &mut P, bus: &mut B) -> bool {
    // SAFETY: the caller's promise.
    unsafe { uncommon::<B, P, { watch::NOTHING }, false>(core, pipe, bus) }
}

/// What the common path leaves out: stand-ins, IT blocks (all of one), instructions that gave way and go on. False:
/// execution stops here.
///
/// # Safety
/// As for [`run`].
#[cold]
#[inline(never)]
unsafe fn uncommon<B: Bus, P: Pipeline, const WATCH: u8, const GUARD: bool>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
) -> bool {
    while core.t < core.limit || core.committed {
        if GUARD && !fetch_allowed(core, bus) {
            return false;
        }
        // One that gave way was issued, and had its attention.
        let issued = core.committed || core.words_moved != 0;
        core.served = issued;
        // SAFETY: the caller's promise, and as in `run`.
        let packed = unsafe { instruction(core, bus) };
        if packed == Packed::NONE {
            return false;
        }
        let (ip, it) = (core.ip, core.it);
        let profile = Profile::<WATCH>::start(core);
        let executed = if it == 0 { packed } else { block::judge(core, packed) };
        core.it = block::advanced(it);
        let op = executed.op();
        if executed == block::SKIPPED {
            let op = packed.op();
            pipe.skip(core, bus, op);
            core.ip = ip.wrapping_add(op.halfwords());
            core.instructions += 1;
            // SAFETY: it began with this instruction.
            unsafe { profile.end(core, op, 1) };
        } else {
            if !issued {
                pipe.issue(core, bus, op);
            }
            // SAFETY: the op is one.
            let flow = unsafe { execute::<B, P, GUARD>(core, pipe, bus, &raw const op) };
            // SAFETY: the profile is that of this instruction.
            if !unsafe { settle::<B, P, WATCH>(core, pipe, bus, op, flow, it, profile, ip) } {
                return false;
            }
        }
        if core.it == 0 {
            return true;
        }
    }
    true
}

/// Ends an instruction as its flow says. False: execution stops here.
///
/// # Safety
/// `profile` began with this instruction, in a region of which [`run`]'s promise holds.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn settle<B: Bus, P: Pipeline, const WATCH: u8>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
    flow: Flow,
    it: u8,
    profile: Profile<WATCH>,
    ip: *mut Op,
) -> bool {
    let mut goes_on = true;
    match flow {
        Flow::Next => {
            pipe.finish(core, op);
            core.ip = ip.wrapping_add(op.halfwords());
        }
        Flow::NotTaken => {
            pipe.not_taken(core, bus, op);
            core.ip = ip.wrapping_add(op.halfwords());
        }
        Flow::Near | Flow::NearConditional => {
            core.ip = ip.wrapping_offset(op.imm as i32 as isize);
            let target = core.address_of(core.ip);
            let jump = if matches!(flow, Flow::Near) { Jump::Immediate } else { Jump::Conditional };
            pipe.taken(core, bus, op, jump, target);
        }
        Flow::Jumped => goes_on = core.request == Request::None,
        Flow::Left => {
            pipe.finish(core, op);
            core.ip = ip.wrapping_add(op.halfwords());
            if core.asleep() {
                core.slept_at = core.t;
            }
            goes_on = false;
        }
        Flow::Paused | Flow::Faulted => {
            if matches!(flow, Flow::Faulted) {
                pipe.faulted(core);
            }
            core.it = it;
            // In an IT block the bits hold ITSTATE: after an interrupt the instruction starts anew.
            if it != 0 {
                core.ici = 0;
            }
            // SAFETY: the caller's promise.
            unsafe { profile.end(core, op, 0) };
            return false;
        }
    }
    core.instructions += 1;
    // SAFETY: the caller's promise.
    unsafe { profile.end(core, op, 1) };
    goes_on
}

/// The instruction at `core.ip`, or the one that a stand-in there stands for; `Packed::NONE`: execution stops before
/// it.
///
/// # Safety
/// As for [`run`].
unsafe fn instruction<B: Bus>(core: &mut Core, bus: &mut B) -> Packed {
    loop {
        let ip = core.ip;
        // SAFETY: `ip` points into the ops of the region.
        let op = unsafe { *ip };
        match op.code {
            Code::Undecoded => {
                // SAFETY: as above.
                unsafe { bus.decode(core, ip) };
            }
            Code::Attend => {
                let served = std::mem::take(&mut core.served);
                // SAFETY: as above.
                let op = unsafe { bus.attend(core, ip, served) };
                return op.map_or_else(
                    || {
                        core.request = Request::Stopped;
                        Packed::NONE
                    },
                    Packed::from,
                );
            }
            Code::OutOfRegion => {
                let address = core.address_of(ip);
                if !branch::enter(core, bus, address) {
                    return Packed::NONE;
                }
            }
            _ => return op.into(),
        }
    }
}

/// Under an MPU the region is cut to the part in which execution is allowed as it is where it was entered: outside it
/// permission is asked for again.
#[inline(always)]
fn fetch_allowed<B: Bus>(core: &mut Core, bus: &mut B) -> bool {
    let offset = (core.ip as usize).wrapping_sub(core.region.ops as usize);
    if offset < 8 * core.region.bytes as usize {
        return true;
    }
    let address = core.address_of(core.ip);
    branch::enter(core, bus, address)
}

/// Executes one op that was issued.
///
/// # Safety
/// `at` points to an op, which may be in the table that it came from.
#[inline(always)]
pub(super) unsafe fn execute<B: Bus, P: Pipeline, const GUARD: bool>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    at: *const Op,
) -> Flow {
    macro_rules! by_code {
        ($($name:ident)*) => {
            // SAFETY: the caller's promise; the code is the op's.
            unsafe {
                match (*at).code {
                    $(Code::$name => operate::<B, P, GUARD, { code::$name }>(core, pipe, bus, at),)*
                }
            }
        };
    }
    with_codes!(by_code)
}

/// Executes one op of a known code that was issued.
///
/// # Safety
/// `at` points to an op of that code, which may be in the table that it came from.
#[inline(always)]
#[allow(clippy::cognitive_complexity, clippy::too_many_lines)]
pub(super) unsafe fn operate<B: Bus, P: Pipeline, const GUARD: bool, const CODE: u8>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    at: *const Op,
) -> Flow {
    // The op and its fields, read where they are used: taken out of two words they would all be computed in advance. An
    // instruction that stores may overwrite its own op, so none is read behind a store.
    macro_rules! op {
        () => {{
            // SAFETY: the caller's promise.
            Op { code: const { Code::of(CODE) }, ..unsafe { *at } }
        }};
    }
    macro_rules! field {
        ($name:ident) => {{
            // SAFETY: the caller's promise.
            unsafe { (*at).$name }
        }};
    }
    // What the flat match should not hold: in line where the instruction is a function by itself.
    macro_rules! apart {
        ($execute:expr) => {{
            if !P::IN_LINE {
                // SAFETY: the caller's promise.
                return unsafe { apart(core, pipe, bus, at, $execute) };
            }
            let done = $execute(core, pipe, bus, op!());
            return flow::<P>(core, done);
        }};
    }
    macro_rules! admitted {
        ($execute:expr) => {{
            if !P::IN_LINE {
                // SAFETY: the caller's promise.
                return unsafe { admitted(core, pipe, bus, at, $execute) };
            }
            let op = op!();
            if !bus.admits(core, op) {
                return Flow::Paused;
            }
            let done = $execute(core, pipe, bus, op);
            return flow::<P>(core, done);
        }};
    }
    macro_rules! registers_apart {
        ($execute:expr) => {
            if P::IN_LINE {
                $execute(core, op!())
            } else {
                // SAFETY: the caller's promise.
                unsafe { registers_apart(core, at, $execute) }
            }
        };
    }
    macro_rules! n {
        () => {
            core.reg(field!(rn))
        };
    }
    macro_rules! m {
        () => {
            core.reg(field!(rm))
        };
    }
    macro_rules! set {
        ($value:expr) => {{
            let value: u32 = $value;
            core.set(field!(rd), value);
        }};
    }
    // A logical operation with a constant that sets flags.
    macro_rules! logical_constant {
        ($value:expr) => {{
            let value: u32 = $value;
            core.set_constant_carry(op!());
            core.set_logical(field!(rd), value);
        }};
    }
    macro_rules! logical {
        ($value:expr) => {{
            let value: u32 = $value;
            core.set_logical(field!(rd), value);
        }};
    }
    macro_rules! test {
        ($value:expr) => {{
            let value: u32 = $value;
            core.set_nz(value);
        }};
    }
    // With a shifted register: the operand and its carry.
    macro_rules! logical_shifted {
        (|$m:ident| $value:expr) => {{
            let op = op!();
            if op.has(flag::SETS) {
                let ($m, carry) = shifted(core, op);
                logical!($value);
                core.c = carry;
            } else {
                let $m = operand(core, op);
                set!($value);
            }
        }};
    }
    macro_rules! sum_shifted {
        (|$m:ident| $with_flags:expr, $without:expr) => {{
            let op = op!();
            let $m = operand(core, op);
            let value: u32 = if op.has(flag::SETS) { $with_flags } else { $without };
            core.set(op.rd, value);
        }};
    }
    macro_rules! shift_register {
        ($kind:expr, $sets:literal) => {{
            let (value, carry) = shift_by_register($kind, n!(), m!(), core.c);
            core.set(field!(rd), value);
            if $sets {
                core.set_nz(value);
                core.c = carry;
            }
        }};
    }
    macro_rules! load {
        ($address:expr, $bytes:literal, $type:ty) => {{
            let address: u32 = $address;
            match memory::load::<B, P, GUARD, $bytes>(core, pipe, bus, op!(), address) {
                Ok(value) => core.set(field!(rd), value as $type as u32),
                Err(fault) => return flow::<P>(core, Err(fault)),
            }
        }};
    }
    macro_rules! store {
        ($address:expr, $bytes:literal) => {{
            let address: u32 = $address;
            let value = core.reg(field!(rd));
            if let Err(fault) = memory::store::<B, P, GUARD, $bytes>(core, pipe, bus, op!(), address, value) {
                return flow::<P>(core, Err(fault));
            }
        }};
    }
    macro_rules! branch_if {
        ($condition:expr) => {{
            if !$condition {
                return Flow::NotTaken;
            }
            return Flow::NearConditional;
        }};
    }
    // What an interrupt may abandon: the machine decides if it would run beyond the limit.
    macro_rules! abandonable {
        ($first:expr, $second:expr) => {
            if pauses_before(core, pipe, op!(), $first, $second) {
                return Flow::Paused;
            }
        };
    }
    macro_rules! z {
        () => {
            core.nz as u32 == 0
        };
    }
    macro_rules! negative {
        () => {
            (core.nz < 0)
        };
    }

    match CODE {
        code::AndImmS => logical_constant!(n!() & field!(imm)),
        code::AndImm => set!(n!() & field!(imm)),
        code::BicImmS => logical_constant!(n!() & !field!(imm)),
        code::BicImm => set!(n!() & !field!(imm)),
        code::OrrImmS => logical_constant!(n!() | field!(imm)),
        code::OrrImm => set!(n!() | field!(imm)),
        code::OrnImmS => logical_constant!(n!() | !field!(imm)),
        code::OrnImm => set!(n!() | !field!(imm)),
        code::EorImmS => logical_constant!(n!() ^ field!(imm)),
        code::EorImm => set!(n!() ^ field!(imm)),
        code::AddImmS => set!(core.add(n!(), field!(imm))),
        code::AddImm => set!(n!().wrapping_add(field!(imm))),
        code::AdcImmS => set!(core.adc(n!(), field!(imm))),
        code::AdcImm => set!(core.plus_carry(n!(), field!(imm))),
        code::SbcImmS => set!(core.adc(n!(), !field!(imm))),
        code::SbcImm => set!(core.plus_carry(n!(), !field!(imm))),
        code::SubImmS => set!(core.sub(n!(), field!(imm))),
        code::SubImm => set!(n!().wrapping_sub(field!(imm))),
        code::RsbImmS => set!(core.sub(field!(imm), n!())),
        code::RsbImm => set!(field!(imm).wrapping_sub(n!())),
        code::MovImmS => logical_constant!(field!(imm)),
        code::MovImm => set!(field!(imm)),
        code::MvnImmS => logical_constant!(!field!(imm)),
        code::MvnImm => set!(!field!(imm)),
        code::TstImm => {
            core.set_constant_carry(op!());
            test!(n!() & field!(imm));
        }
        code::TeqImm => {
            core.set_constant_carry(op!());
            test!(n!() ^ field!(imm));
        }
        code::CmpImm => {
            core.sub(n!(), field!(imm));
        }
        code::CmnImm => {
            core.add(n!(), field!(imm));
        }

        code::AndRegS => logical!(n!() & m!()),
        code::AndReg => set!(n!() & m!()),
        code::BicRegS => logical!(n!() & !m!()),
        code::BicReg => set!(n!() & !m!()),
        code::OrrRegS => logical!(n!() | m!()),
        code::OrrReg => set!(n!() | m!()),
        code::EorRegS => logical!(n!() ^ m!()),
        code::EorReg => set!(n!() ^ m!()),
        code::AddRegS => set!(core.add(n!(), m!())),
        code::AddReg => set!(n!().wrapping_add(m!())),
        code::AdcRegS => set!(core.adc(n!(), m!())),
        code::AdcReg => set!(core.plus_carry(n!(), m!())),
        code::SbcRegS => set!(core.adc(n!(), !m!())),
        code::SbcReg => set!(core.plus_carry(n!(), !m!())),
        code::SubRegS => set!(core.sub(n!(), m!())),
        code::SubReg => set!(n!().wrapping_sub(m!())),
        code::MovRegS => logical!(m!()),
        code::MovReg => set!(m!()),
        code::MvnRegS => logical!(!m!()),
        code::MvnReg => set!(!m!()),
        code::TstReg => test!(n!() & m!()),
        code::CmpReg => {
            core.sub(n!(), m!());
        }
        code::CmnReg => {
            core.add(n!(), m!());
        }

        code::AndShift => logical_shifted!(|m| n!() & m),
        code::BicShift => logical_shifted!(|m| n!() & !m),
        code::OrrShift => logical_shifted!(|m| n!() | m),
        code::EorShift => logical_shifted!(|m| n!() ^ m),
        code::AddShift => sum_shifted!(|m| core.add(n!(), m), n!().wrapping_add(m)),
        code::AdcShift => sum_shifted!(|m| core.adc(n!(), m), core.plus_carry(n!(), m)),
        code::SbcShift => sum_shifted!(|m| core.adc(n!(), !m), core.plus_carry(n!(), !m)),
        code::SubShift => sum_shifted!(|m| core.sub(n!(), m), n!().wrapping_sub(m)),
        code::RsbShift => sum_shifted!(|m| core.sub(m, n!()), m.wrapping_sub(n!())),
        code::TstShift => {
            let (m, carry) = shifted(core, op!());
            test!(n!() & m);
            core.c = carry;
        }
        code::CmpShift => {
            let m = operand(core, op!());
            core.sub(n!(), m);
        }
        code::CmnShift => {
            let m = operand(core, op!());
            core.add(n!(), m);
        }
        code::AddLsl => set!(n!().wrapping_add(m!() << (field!(shift) & 31))),
        code::MovToSp => set!(m!() & !3),

        code::LslImmS => {
            let m = m!();
            core.c = m >> (32 - u32::from(field!(shift))) & 1 != 0;
            logical!(m << (field!(shift) & 31));
        }
        code::LslImm => set!(m!() << (field!(shift) & 31)),
        code::LsrImmS => {
            let wide = u64::from(m!()) << 1 >> field!(shift);
            core.c = wide & 1 != 0;
            logical!((wide >> 1) as u32);
        }
        code::LsrImm => set!((u64::from(m!()) >> field!(shift)) as u32),
        code::AsrImmS => {
            let wide = i64::from(m!() as i32) << 1 >> field!(shift);
            core.c = wide & 1 != 0;
            logical!((wide >> 1) as u32);
        }
        code::AsrImm => set!((i64::from(m!() as i32) >> field!(shift)) as u32),
        code::LslRegS => shift_register!(Shift::Lsl, true),
        code::LslReg => shift_register!(Shift::Lsl, false),
        code::LsrRegS => shift_register!(Shift::Lsr, true),
        code::LsrReg => shift_register!(Shift::Lsr, false),
        code::AsrRegS => shift_register!(Shift::Asr, true),
        code::AsrReg => shift_register!(Shift::Asr, false),
        code::RorRegS => shift_register!(Shift::Ror, true),
        code::RorReg => shift_register!(Shift::Ror, false),

        code::Movt => set!(core.reg(field!(rd)) & 0xffff | field!(imm)),
        code::Ubfx => set!(n!() >> field!(ra) & (u32::MAX >> (32 - u32::from(field!(shift))))),
        code::Sbfx => {
            let unused = 32 - u32::from(field!(shift));
            set!(((n!() >> field!(ra) << unused) as i32 >> unused) as u32);
        }
        code::Bfi => {
            let mask = (u32::MAX >> (32 - u32::from(field!(shift)))) << field!(ra);
            let field = if field!(rn) == 15 { 0 } else { n!() << field!(ra) };
            set!(core.reg(field!(rd)) & !mask | field & mask);
        }
        code::Clz => set!(m!().leading_zeros()),
        code::Rev => set!(m!().swap_bytes()),
        code::Rev16 => set!(m!().swap_bytes().rotate_left(16)),
        code::Revsh => set!((m!() as u16).swap_bytes() as i16 as u32),
        code::Sxtb => set!(m!().rotate_right(u32::from(field!(shift))) as i8 as u32),
        code::Sxth => set!(m!().rotate_right(u32::from(field!(shift))) as i16 as u32),
        code::Uxtb => set!(m!().rotate_right(u32::from(field!(shift))) & 0xff),
        code::Uxth => set!(m!().rotate_right(u32::from(field!(shift))) & 0xffff),
        code::Sxtab => set!(n!().wrapping_add(m!().rotate_right(u32::from(field!(shift))) as i8 as u32)),
        code::Sxtah => set!(n!().wrapping_add(m!().rotate_right(u32::from(field!(shift))) as i16 as u32)),
        code::Uxtab => set!(n!().wrapping_add(m!().rotate_right(u32::from(field!(shift))) & 0xff)),
        code::Uxtah => set!(n!().wrapping_add(m!().rotate_right(u32::from(field!(shift))) & 0xffff)),

        code::MulS => logical!(n!().wrapping_mul(m!())),
        code::Mul => set!(n!().wrapping_mul(m!())),
        code::Mla => set!(core.reg(field!(ra)).wrapping_add(n!().wrapping_mul(m!()))),
        code::Mls => set!(core.reg(field!(ra)).wrapping_sub(n!().wrapping_mul(m!()))),
        code::Smull => {
            abandonable!(n!(), m!());
            let product = i64::from(n!() as i32) * i64::from(m!() as i32);
            set_long(core, op!(), product as u64);
        }
        code::Umull => {
            abandonable!(n!(), m!());
            set_long(core, op!(), u64::from(n!()) * u64::from(m!()));
        }
        code::Smlal => {
            abandonable!(n!(), m!());
            let product = i64::from(n!() as i32) * i64::from(m!() as i32);
            set_long(core, op!(), accumulator(core, op!()).wrapping_add(product as u64));
        }
        code::Umlal => {
            abandonable!(n!(), m!());
            set_long(core, op!(), accumulator(core, op!()).wrapping_add(u64::from(n!()) * u64::from(m!())));
        }
        code::Umaal => {
            let sum = u64::from(core.reg(field!(rd))) + u64::from(core.reg(field!(ra)));
            set_long(core, op!(), sum + u64::from(n!()) * u64::from(m!()));
        }
        code::Sdiv | code::Udiv => {
            apart!(divide)
        }

        code::LdrImm => load!(n!().wrapping_add(field!(imm)), 4, u32),
        code::LdrhImm => load!(n!().wrapping_add(field!(imm)), 2, u16),
        code::LdrbImm => load!(n!().wrapping_add(field!(imm)), 1, u8),
        code::LdrshImm => load!(n!().wrapping_add(field!(imm)), 2, i16),
        code::LdrsbImm => load!(n!().wrapping_add(field!(imm)), 1, i8),
        code::StrImm => store!(n!().wrapping_add(field!(imm)), 4),
        code::StrhImm => store!(n!().wrapping_add(field!(imm)), 2),
        code::StrbImm => store!(n!().wrapping_add(field!(imm)), 1),
        code::LdrReg => load!(n!().wrapping_add(m!() << (field!(shift) & 31)), 4, u32),
        code::LdrhReg => load!(n!().wrapping_add(m!() << (field!(shift) & 31)), 2, u16),
        code::LdrbReg => load!(n!().wrapping_add(m!() << (field!(shift) & 31)), 1, u8),
        code::LdrshReg => load!(n!().wrapping_add(m!() << (field!(shift) & 31)), 2, i16),
        code::LdrsbReg => load!(n!().wrapping_add(m!() << (field!(shift) & 31)), 1, i8),
        code::StrReg => store!(n!().wrapping_add(m!() << (field!(shift) & 31)), 4),
        code::StrhReg => store!(n!().wrapping_add(m!() << (field!(shift) & 31)), 2),
        code::StrbReg => store!(n!().wrapping_add(m!() << (field!(shift) & 31)), 1),
        code::LdrLit => load!(field!(imm), 4, u32),
        code::Load => apart!(memory::load_general::<B, P, GUARD>),
        code::Store => apart!(memory::store_general::<B, P, GUARD>),
        code::LdrPc => admitted!(memory::load_pc::<B, P, GUARD>),
        code::Ldrd | code::Strd => admitted!(memory::double::<B, P, GUARD>),
        code::Ldm | code::LdmPc => admitted!(multiple::load::<B, P, GUARD>),
        code::Stm => admitted!(multiple::store::<B, P, GUARD>),
        code::Ldrex | code::Strex => admitted!(memory::exclusive::<B, P, GUARD>),

        code::Beq => branch_if!(z!()),
        code::Bne => branch_if!(!z!()),
        code::Bcs => branch_if!(core.c),
        code::Bcc => branch_if!(!core.c),
        code::Bmi => branch_if!(negative!()),
        code::Bpl => branch_if!(!negative!()),
        code::Bvs => branch_if!(core.v),
        code::Bvc => branch_if!(!core.v),
        code::Bhi => branch_if!(core.c && !z!()),
        code::Bls => branch_if!(!core.c || z!()),
        code::Bge => branch_if!(negative!() == core.v),
        code::Blt => branch_if!(negative!() != core.v),
        code::Bgt => branch_if!(!z!() && negative!() == core.v),
        code::Ble => branch_if!(z!() || negative!() != core.v),
        code::Cbz => branch_if!(n!() == 0),
        code::Cbnz => branch_if!(n!() != 0),
        code::B => {
            return Flow::Near;
        }
        code::Bl => {
            core.set(14, core.address_of(core.ip).wrapping_add(5));
            return Flow::Near;
        }
        code::Bx => admitted!(branch::register),
        code::BccFar | code::BFar | code::BlFar | code::CompareBranchFar | code::Blx | code::MovPc | code::AddPc => {
            admitted!(branch::other);
        }
        code::TableBranch => admitted!(branch::table::<B, P, GUARD>),

        code::It => core.it = field!(imm) as u8,
        code::Nop | code::Preload => {}
        code::Barrier => admitted!(barrier),

        code::OrnShift
        | code::TeqShift
        | code::MovShift
        | code::MvnShift
        | code::AddToSp
        | code::Rbit
        | code::Ssat
        | code::Usat
        | code::Ssat16
        | code::Usat16
        | code::Xtb16
        | code::Xtab16
        | code::Parallel
        | code::Sel
        | code::Pkh
        | code::SaturatingAdd
        | code::Usad8
        | code::Usada8 => registers_apart!(bits::execute),
        code::Smulxy
        | code::Smlaxy
        | code::Smlalxy
        | code::Smulwy
        | code::Smlawy
        | code::Smuad
        | code::Smlad
        | code::Smlald
        | code::Smmul
        | code::Smmla
        | code::Smmls => registers_apart!(multiply::execute),
        code::Undefined
        | code::NoCoprocessor
        | code::Clrex
        | code::Sev
        | code::Wfe
        | code::Wfi
        | code::Mrs
        | code::Msr
        | code::Cps
        | code::Svc
        | code::Bkpt => admitted!(system::execute),
        code::UndefinedFloat | code::Vadd32..=code::Vmsr => {
            admitted!(float::execute::<B, P, GUARD>);
        }
        // The loop replaces the stand-ins before it gets here, and every other code has its arm.
        _ => unreachable!("{:?} is no instruction", Code::of(CODE)),
    }
    Flow::Next
}

/// True if the instruction would run beyond the limit and the machine has yet to decide whether it may.
#[inline(always)]
fn pauses_before<P: Pipeline>(core: &mut Core, pipe: &mut P, op: Op, first: u32, second: u32) -> bool {
    if std::mem::take(&mut core.committed) {
        return false;
    }
    let end = core.t + pipe.cycles(op, first, second);
    if end > core.limit {
        core.request = Request::Abandonable(end);
        return true;
    }
    false
}

/// DSB, DMB, ISB: everything happens in order anyway.
#[inline(always)]
fn barrier<B: Bus, P: Pipeline>(_: &mut Core, _: &mut P, _: &mut B, _: Op) -> Result<Flow, Fault> {
    Ok(Flow::Next)
}

/// SDIV, UDIV.
#[inline(always)]
fn divide<B: Bus, P: Pipeline>(core: &mut Core, pipe: &mut P, _: &mut B, op: Op) -> Result<Flow, Fault> {
    let (n, m) = (core.reg(op.rn), core.reg(op.rm));
    if m == 0 && core.scb.ccr & ccr::DIV_0_TRP != 0 {
        return Err(Fault::DivideByZero);
    }
    if pauses_before(core, pipe, op, n, m) {
        return Ok(Flow::Paused);
    }
    let quotient = match (op.code, m) {
        (_, 0) => 0,
        (Code::Udiv, _) => n / m,
        _ => (n as i32).wrapping_div(m as i32) as u32,
    };
    core.set(op.rd, quotient);
    Ok(Flow::Next)
}
