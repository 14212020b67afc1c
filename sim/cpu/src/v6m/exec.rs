//! The interpreter: ARMv6-M instructions with their cycles, for one or two cores interleaved to the cycle.
//!
//! [`run_core_turn`] is the loop: it takes one predecoded instruction after the other and dispatches on its code. The
//! instructions are in [`alu`], [`memory`], [`multiple`], [`branch`] and [`system`] by subject. All of them are
//! inlined here, because dispatch, flags and time must stay in registers of the host ([`InterpreterRegisters`]). A core
//! runs until its `limit` (the chip's next event, or the other core's time) and then the core that is behind continues,
//! without leaving the function. Everything that happens only now and then (faults, exceptions, sleep, ROM functions)
//! breaks out to the machine through `Core::request`.
//!
//! Bus model under contention: an instruction's data access claims its slot in the cycle of issue; the next
//! sequential word is fetched in the first slot that the instruction leaves free. A branch fetches its target in
//! its last cycle but one. Without a collision this gives exactly the manual's table.

mod alu;
mod branch;
mod cursor;
mod fetching;
mod memory;
mod multiple;
mod operands;
mod system;
mod watching;

use crate::step::watch;
use crate::v6m::block::{Block, NextCoreChoice};
use crate::v6m::bus::{Ahead, Bus};
use crate::v6m::core::Core;
use crate::v6m::op::op;
use crate::v6m::trace::Trace;
use branch::non_executable_address_reason;
use cursor::{Flow, InterpreterRegisters, save_position_and_time_to_core};
use fetching::{fetch_code_word, wait_for_fetch};
use watching::{CurrentInstructionProfile, InstructionStartState};

/// A cycle that never comes.
const NO_EVENT: u64 = u64::MAX;

/// Runs `cores[start]` (and, under `CONTEND`, the other one too) until the machine must act.
///
/// # Safety
/// `cores` points to two cores. `ip` of each core that may run points into the ops of its region, whose table
/// ends with out-of-region ops. Nothing else accesses cores or bus meanwhile.
pub unsafe fn run_cores<B: Bus, const CONTEND: bool, const WATCH: u8>(cores: *mut Core, start: usize, bus: &mut B) {
    // SAFETY: the caller promises two cores, which nothing else accesses.
    let (first, second) = unsafe { (&mut *cores, &mut *cores.add(1)) };
    let mut skipped = start != 0;
    if !CONTEND || !B::TWO_CORES {
        let (core, other) = if skipped { (second, first) } else { (first, second) };
        // SAFETY: the caller's promise, here and below.
        unsafe { run_core_turn::<B, CONTEND, WATCH>(core, other, bus) };
        return;
    }
    let due = if WATCH == watch::PAIRS { NO_EVENT } else { *bus.next_event_cycle() };
    // The interpreter is there twice, once for each core: that spares exchanging their registers, and the host predicts
    // the branches of each by themselves.
    if skipped {
        second.begin_execution_turn_until_event(first, due);
    } else {
        first.begin_execution_turn_until_event(second, due);
    }
    loop {
        if !std::mem::take(&mut skipped) {
            // SAFETY: as above.
            if !unsafe { run_core_turn::<B, CONTEND, WATCH>(first, second, bus) } {
                return;
            }
            begin_execution_turn_of_core(first, second, bus);
        }
        // SAFETY: as above.
        if !unsafe { run_core_turn::<B, CONTEND, WATCH>(second, first, bus) } {
            return;
        }
        begin_execution_turn_of_core(second, first, bus);
    }
}

/// Lets the core `cores[index]` take one turn in the simulation of executed basic blocks: up to its limit, or to the
/// end of its block.
///
/// # Safety
/// As for [`run_cores`].
pub(super) unsafe fn execute_turn<B: Bus>(cores: *mut Core, index: usize, bus: &mut B) {
    // SAFETY: the caller's promise.
    unsafe {
        let (core, other) = (&mut *cores.add(index), &mut *cores.add(1 - index));
        core.begin_execution_turn_until_event(other, NO_EVENT);
        run_core_turn::<B, true, { watch::PAIRS }>(core, other, bus);
    }
}

/// Executes one trace of a core speculatively, without its cycles.
///
/// # Safety
/// As for [`run_cores`].
#[cold]
#[inline(never)]
pub(super) unsafe fn execute_trace_speculatively<B: Bus>(core: &mut Core, other: &mut Core, bus: &mut B) {
    // SAFETY: the caller's promise.
    unsafe { run_core_turn::<B, false, { watch::TRACES }>(core, other, bus) };
}

/// Begins the turn of core `to`, which lasts until it has reached the cycle of core `from`.
#[inline(always)]
fn begin_execution_turn_of_core<B: Bus>(from: &Core, to: &mut Core, bus: &B) {
    to.rival_t = from.t;
    to.limit = from.t + u64::from(bus.tie_winner() == to.id);
}

/// Runs `core` until its limit. Returns true if it is the other core's turn now, false if the machine must act.
///
/// # Safety
/// As for [`run_cores`]. In the mode that executes ahead nothing else uses the logs of `bus`.
#[inline(always)]
#[allow(clippy::cognitive_complexity, clippy::too_many_lines)]
unsafe fn run_core_turn<'a, B: Bus, const CONTEND: bool, const WATCH: u8>(
    mut core: &'a mut Core,
    mut other: &'a mut Core,
    bus: &mut B,
) -> bool {
    let paired = InterpreterRegisters::<CONTEND, WATCH>::PAIRED;
    let traced = InterpreterRegisters::<CONTEND, WATCH>::TRACED;
    let ahead = InterpreterRegisters::<CONTEND, WATCH>::AHEAD;
    let [log, mut other_log] =
        if paired && ahead { B::Ahead::speculation_logs(bus, core.id) } else { [std::ptr::null_mut(); 2] };
    // SAFETY of the rest, unless it says more: `ip` points into the ops of `core.region`. The caller promises it of
    // where the core stands. Instructions lead to another op of the region or to those after its last, near branches
    // stay inside by the decoder's word, and others are compared with the region or ask the bus for theirs.
    let mut cursor = InterpreterRegisters::<CONTEND, WATCH>::new(core, log);
    let mut profiled = CurrentInstructionProfile::default();
    let mut in_hand = InstructionStartState::default();
    // The last instruction of the basic block in hand. See [`Block`].
    let mut from = cursor.ip;
    if paired && ahead {
        // SAFETY: the bus's logs live as long as it.
        unsafe { (*log).begin_speculation_log(core) };
    }

    if traced && ahead && !paired && !cursor.run_native_traces(core, bus) {
        return false;
    }
    let native_paths = B::Ahead::HAS_NATIVE_PATHS && !CONTEND && matches!(WATCH, watch::NOTHING | watch::PROFILE);
    if native_paths && core.is_between_instructions() && B::Ahead::has_native_path(bus, core.address_of_op(cursor.ip)) {
        // SAFETY: the caller's promise.
        unsafe { cursor.run_native_paths(core, other, bus) };
        if cursor.t >= core.limit {
            return false;
        }
    }

    'run: loop {
        if WATCH == watch::PROFILE {
            // SAFETY: the profile is on, so that there are cells.
            profiled =
                unsafe { CurrentInstructionProfile::new(core, cursor.ip, cursor.t, cursor.instructions_retired(core)) };
        }
        if WATCH == watch::STEPS {
            in_hand = InstructionStartState::new(core, cursor.ip, cursor.t, cursor.instructions_retired(core));
        }
        if paired && ahead {
            from = cursor.ip;
            // Nobody asks for time: none is kept from one instruction to the next.
            cursor.t = 0;
        }
        if traced && !ahead {
            in_hand = InstructionStartState::new(core, cursor.ip, cursor.t, core.instructions);
        }
        // SAFETY: see above.
        cursor.word = unsafe { *cursor.ip }.pack_op_into_word();

        // After a jump it looks for native code, and after what is none.
        let mut looks = native_paths;
        let flow = 'ended: {
            'jumped: {
                // An instruction that may end in another way than by going on with the next one.
                macro_rules! ends {
                    ($flow:expr) => {
                        match $flow {
                            Flow::Next => {}
                            Flow::Jumped => break 'jumped,
                            Flow::Left => break 'run,
                            flow => break 'ended flow,
                        }
                    };
                }
                macro_rules! got {
                    ($result:expr) => {
                        match $result {
                            Ok(value) => value,
                            Err(Flow::Left) => break 'run,
                            Err(flow) => break 'ended flow,
                        }
                    };
                }
                macro_rules! alu {
                    ($code:ident) => {{
                        alu::execute_alu::<{ op::$code }>(core, cursor.word);
                        cursor.t += const { alu::cycles_without_memory(op::$code) };
                    }};
                }
                macro_rules! r {
                    ($field:ident) => {
                        core.r[(cursor.word.$field() & 15) as usize]
                    };
                }
                // [rb + imm] and [rb + rc].
                macro_rules! offset {
                    () => {
                        r!(b).wrapping_add(cursor.word.imm())
                    };
                }
                macro_rules! indexed {
                    () => {
                        r!(b).wrapping_add(r!(c))
                    };
                }
                macro_rules! load {
                    ($bytes:literal, $type:ty, $address:expr) => {{
                        let address = $address;
                        let value = got!(cursor.load_data::<B, $bytes>(core, other, bus, address));
                        r!(a) = value as $type as u32;
                    }};
                }
                macro_rules! store {
                    ($bytes:literal, $address:expr) => {{
                        let (address, value) = ($address, r!(a));
                        got!(cursor.store_data::<B, $bytes>(core, other, bus, address, value));
                    }};
                }
                macro_rules! near_if {
                    ($condition:expr) => {{
                        let condition = $condition;
                        ends!(cursor.execute_conditional_branch_in_region(core, bus, condition));
                    }};
                }
                macro_rules! n {
                    () => {
                        (core.nz < 0)
                    };
                }
                macro_rules! z {
                    () => {
                        (core.nz as u32 == 0)
                    };
                }

                'dispatch: loop {
                    match cursor.word.code() {
                        op::MovsReg => alu!(MovsReg),
                        op::LslImm => alu!(LslImm),
                        op::LsrImm => alu!(LsrImm),
                        op::AsrImm => alu!(AsrImm),
                        op::AddReg => alu!(AddReg),
                        op::SubReg => alu!(SubReg),
                        op::AddImm => alu!(AddImm),
                        op::SubImm => alu!(SubImm),
                        op::MovImm => alu!(MovImm),
                        op::CmpImm => alu!(CmpImm),
                        op::And => alu!(And),
                        op::Eor => alu!(Eor),
                        op::LslReg => alu!(LslReg),
                        op::LsrReg => alu!(LsrReg),
                        op::AsrReg => alu!(AsrReg),
                        op::Adc => alu!(Adc),
                        op::Sbc => alu!(Sbc),
                        op::RorReg => alu!(RorReg),
                        op::Tst => alu!(Tst),
                        op::Rsb => alu!(Rsb),
                        op::Cmp => alu!(Cmp),
                        op::Cmn => alu!(Cmn),
                        op::Orr => alu!(Orr),
                        op::Mul => alu!(Mul),
                        op::Bic => alu!(Bic),
                        op::Mvn => alu!(Mvn),
                        op::AddHi => alu!(AddHi),
                        op::AddHiSp => alu!(AddHiSp),
                        op::MovHi => alu!(MovHi),
                        op::MovHiSp => alu!(MovHiSp),
                        op::CmpHi => alu!(CmpHi),
                        op::MovConst => alu!(MovConst),
                        op::AddConst => alu!(AddConst),
                        op::AddNoFlags => alu!(AddNoFlags),
                        op::Sxth => alu!(Sxth),
                        op::Sxtb => alu!(Sxtb),
                        op::Uxth => alu!(Uxth),
                        op::Uxtb => alu!(Uxtb),
                        op::Rev => alu!(Rev),
                        op::Rev16 => alu!(Rev16),
                        op::Revsh => alu!(Revsh),
                        op::Nop => alu!(Nop),

                        op::LdrLitFlash => {
                            let address = cursor.word.imm();
                            r!(a) = got!(cursor.load_literal(core, bus, address));
                        }
                        op::LdrLit => {
                            let address = cursor.word.imm();
                            r!(a) = got!(cursor.load_from_address::<B, 4, false>(core, other, bus, address));
                        }
                        op::LdrImm => load!(4, u32, offset!()),
                        op::LdrReg => load!(4, u32, indexed!()),
                        op::LdrbImm => load!(1, u8, offset!()),
                        op::LdrbReg => load!(1, u8, indexed!()),
                        op::LdrsbReg => load!(1, i8, indexed!()),
                        op::LdrhImm => load!(2, u16, offset!()),
                        op::LdrhReg => load!(2, u16, indexed!()),
                        op::LdrshReg => load!(2, i16, indexed!()),
                        op::StrImm => store!(4, offset!()),
                        op::StrReg => store!(4, indexed!()),
                        op::StrbImm => store!(1, offset!()),
                        op::StrbReg => store!(1, indexed!()),
                        op::StrhImm => store!(2, offset!()),
                        op::StrhReg => store!(2, indexed!()),

                        op::Push => got!(cursor.execute_push(core, other, bus)),
                        op::Stm => got!(cursor.execute_stm(core, other, bus)),
                        op::Pop => got!(cursor.execute_pop(core, other, bus)),
                        op::PopPc => ends!(got!(cursor.execute_pop_with_pc(core, other, bus))),
                        op::Ldm => got!(cursor.execute_ldm(core, other, bus)),

                        op::Beq => near_if!(z!()),
                        op::Bne => near_if!(!z!()),
                        op::Bcs => near_if!(core.c),
                        op::Bcc => near_if!(!core.c),
                        op::Bmi => near_if!(n!()),
                        op::Bpl => near_if!(!n!()),
                        op::Bvs => near_if!(core.v),
                        op::Bvc => near_if!(!core.v),
                        op::Bhi => near_if!(core.c && !z!()),
                        op::Bls => near_if!(!core.c || z!()),
                        op::Bge => near_if!(n!() == core.v),
                        op::Blt => near_if!(n!() != core.v),
                        op::Bgt => near_if!(!z!() && n!() == core.v),
                        op::Ble => near_if!(z!() || n!() != core.v),
                        op::B => ends!(cursor.execute_branch_in_code_region(core, bus, cursor.t)),
                        op::Bl => ends!(cursor.execute_call_in_code_region(core, bus)),
                        op::BccFar => ends!(cursor.execute_conditional_region_branch(core, bus)),
                        op::BFar if traced => break 'ended Flow::InTime,
                        op::BFar => ends!(cursor.branch_to_address(core, bus, cursor.word.imm(), cursor.t)),
                        op::BlFar => ends!(cursor.execute_call_to_other_code_region(core, bus)),
                        op::Bx => {
                            let target = r!(b);
                            ends!(cursor.execute_bx(core, bus, target, cursor.t));
                        }
                        op::Blx => {
                            let target = r!(b);
                            ends!(cursor.execute_blx(core, bus, target));
                        }
                        op::MovPc => {
                            let target = if cursor.word.b() == 15 { cursor.word.imm() } else { r!(b) };
                            ends!(cursor.branch_to_address(core, bus, target, cursor.t));
                        }
                        op::AddPc => {
                            let target = cursor.word.imm().wrapping_add(r!(b));
                            ends!(cursor.branch_to_address(core, bus, target, cursor.t));
                        }

                        op::Cpsid => {
                            cursor.apart = true;
                            cursor.execute_cpsid(core);
                        }
                        op::Cpsie => {
                            cursor.apart = true;
                            ends!(cursor.execute_cpsie(core, bus));
                        }
                        op::Mrs => {
                            cursor.apart = true;
                            ends!(cursor.execute_mrs(core, bus));
                        }
                        op::Msr => {
                            cursor.apart = true;
                            ends!(cursor.execute_msr(core, bus));
                        }
                        op::Barrier => {
                            cursor.apart = true;
                            ends!(cursor.execute_barrier(core, bus));
                        }
                        op::Sev => ends!(cursor.execute_sev(core, other, bus)),
                        op::Wfe => ends!(cursor.execute_wfe(core, bus)),
                        op::Wfi => ends!(cursor.execute_wfi(core, bus)),
                        op::Svc => ends!(cursor.execute_svc(core)),
                        op::RomHook => ends!(cursor.call_rom(core)),
                        op::Bkpt => ends!(cursor.fault_current_instruction(core, "BKPT without a debugger")),
                        op::Udf => ends!(cursor.fault_current_instruction(core, "undefined instruction")),
                        op::OutOfRegion => {
                            ends!(cursor.fault_current_instruction(core, non_executable_address_reason(core)))
                        }
                        op::Undecoded => {
                            bus.decode_op(core, core.address_of_op(cursor.ip));
                            // SAFETY: see above.
                            cursor.word = unsafe { *cursor.ip }.pack_op_into_word();
                            continue 'dispatch;
                        }
                        op::Attend => {
                            cursor.apart = true;
                            cursor.word = got!(cursor.execute_stub_op_and_get_original(core, bus));
                            continue 'dispatch;
                        }
                        // The word is that of an op. Its code is one of `Code`, and every code has its arm. SAFETY: as
                        // said.
                        _ => unsafe { std::hint::unreachable_unchecked() },
                    }
                    break 'dispatch;
                }
                if native_paths {
                    looks &= std::mem::take(&mut cursor.apart);
                }
                cursor.ip = cursor.ip.wrapping_add(1);
                if CONTEND {
                    if cursor.ip as usize & 8 != 0 {
                        // The last address phase of an access is two cycles before its end.
                        fetch_code_word(bus, core, cursor.ip, 1, cursor.t - 1, false);
                    } else if core.fetch_ready > cursor.t {
                        cursor.t = wait_for_fetch(core, cursor.t);
                    }
                }
            }
            if WATCH == watch::PROFILE {
                // SAFETY: the cell of this instruction.
                unsafe { profiled.count_retired_instruction() };
            }
            cursor.count_retired_instruction(core);
            Flow::Next
        };
        if paired && CONTEND {
            in_hand.append_instruction_cycles_to_core(core, cursor.t);
            if flow == Flow::Next && core.remainder.pass_instruction(B::ORDERED_MEMORY) {
                cursor.write_executor_state_back_to_core(core);
                return false;
            }
            if cursor.t < core.limit {
                continue 'run;
            }
            cursor.write_executor_state_back_to_core(core);
            return true;
        }
        if paired {
            let goes_on = match flow {
                Flow::Next => cursor.ip < cursor.end,
                Flow::Turned => cursor.note_branch_taken(from),
                _ => false,
            };
            if goes_on {
                continue 'run;
            }
            core.ip = cursor.ip;
            // SAFETY: the bus's logs live as long as it.
            let start = unsafe { (*cursor.log).first_op_of_logged_block() } as usize;
            let length =
                cursor.basic_block_length_to(if flow == Flow::Taken { from.wrapping_add(1) } else { cursor.ip });
            if flow == Flow::InTime && length == 0 {
                return false;
            }
            let cores = [&raw mut *core, &raw mut *other];
            let mut turn = if flow == Flow::Next && from == cursor.end {
                // An ordered access, which was handed in before.
                // SAFETY: as below.
                unsafe { B::Ahead::end_turn(bus, cores, cursor.log) }
            } else if flow == Flow::Ordered && length == 0 {
                NextCoreChoice::Same
            } else {
                let gives_way = core.id as u64 & u64::from(cursor.ordered);
                // SAFETY: the bus's logs live as long as it.
                let summons = unsafe { (*cursor.log).summons };
                let block = Block {
                    shape: Block::shape_of_path(length, cursor.branches) + gives_way * Block::GIVES_WAY + summons,
                    next: (cursor.ip as usize).wrapping_sub(start) as u64,
                    accesses: cursor.accesses,
                };
                // SAFETY: this core has just executed the block.
                unsafe { B::Ahead::time_block(bus, cores, [cursor.log, other_log], block) }
            };
            if flow == Flow::Ordered && turn == NextCoreChoice::Same {
                // SAFETY: the bus's logs live as long as it; the core is before the instruction.
                unsafe {
                    if length != 0 {
                        (*cursor.log).begin_speculation_log(core);
                    }
                    turn = B::Ahead::wait_for_turn(bus, cores, cursor.log);
                }
                if turn == NextCoreChoice::Same {
                    cursor.begin_basic_block();
                    continue 'run;
                }
            }
            loop {
                match turn {
                    NextCoreChoice::Same => {}
                    NextCoreChoice::Other => {
                        std::mem::swap(&mut core, &mut other);
                        std::mem::swap(&mut cursor.log, &mut other_log);
                    }
                    NextCoreChoice::Stop => return false,
                }
                let (cores, logs) = ([&raw mut *core, &raw mut *other], [cursor.log, other_log]);
                // SAFETY: the bus's logs live as long as it; the core is after its block.
                turn = unsafe {
                    if (*cursor.log).summons != 0 {
                        B::Ahead::take_exception(bus, cores, logs)
                    } else if let Some(turn) = B::Ahead::run_native_blocks(bus, cores, logs) {
                        turn
                    } else {
                        break;
                    }
                };
            }
            cursor.ip = core.ip;
            cursor.begin_basic_block();
            // SAFETY: the bus's logs live as long as it.
            unsafe { (*cursor.log).begin_speculation_log(core) };
            continue 'run;
        }
        if traced && CONTEND {
            in_hand.append_instruction_cycles_to_core(core, cursor.t);
            if flow == Flow::Next && core.instructions < core.trace.instructions {
                continue 'run;
            }
            cursor.write_executor_state_back_to_core(core);
            return false;
        }
        if traced {
            if flow == Flow::Next && cursor.count < Trace::INSTRUCTIONS {
                continue 'run;
            }
            if flow == Flow::WatchedStore {
                cursor.count_retired_instruction(core);
                cursor.ip = cursor.ip.wrapping_add(1);
            }
            core.ip = cursor.ip;
            let began = core.t;
            let trace = Trace { branches: cursor.branches, indirect: cursor.indirect, instructions: cursor.count };
            let goes_on = cursor.count == 0 || B::Ahead::time_trace(bus, core, trace);
            // Of an instruction that was not executed after all the probes have fired.
            if core.retried {
                core.retried = cursor.count == 0;
            }
            if flow == Flow::WatchedStore {
                let is_notified = std::mem::take(&mut core.watched_store);
                let cycle = B::Ahead::last_store_cycle(bus, began);
                if bus.report_store(core.id, is_notified, cycle) {
                    core.limit = 0;
                    *bus.next_event_cycle() = 0;
                }
            }
            if flow == Flow::InTime || !goes_on || !cursor.run_native_traces(core, bus) {
                return false;
            }
            continue 'run;
        }
        if WATCH == watch::PROFILE {
            // SAFETY: the cell of this instruction.
            unsafe { profiled.charge_time_until(core, cursor.t) };
        }
        if WATCH == watch::STEPS {
            in_hand.log_instruction_step(
                core,
                cursor.ip,
                cursor.t,
                cursor.instructions_retired(core),
                cursor.word.code(),
            );
        }
        if looks && flow == Flow::Next && B::Ahead::has_native_path(bus, core.address_of_op(cursor.ip)) {
            // SAFETY: the caller's promise; the core is after its jump.
            unsafe { cursor.run_native_paths(core, other, bus) };
        }
        if cursor.t >= core.limit {
            if !CONTEND || cursor.t >= *bus.next_event_cycle() {
                save_position_and_time_to_core(core, cursor.ip, cursor.t);
                cursor.write_back_instruction_count(core);
                return false;
            }
            // The limit was the other core's time: it is that core's turn, up to this one's time.
            cursor.write_executor_state_back_to_core(core);
            return true;
        }
    }
    if WATCH == watch::PROFILE {
        // SAFETY: the cell of the current instruction.
        unsafe { profiled.charge_requesting_instruction(core, cursor.t, cursor.instructions_retired(core)) };
    }
    if WATCH == watch::STEPS {
        in_hand.log_instruction_step(core, cursor.ip, cursor.t, cursor.instructions_retired(core), op::Nop);
    }
    cursor.write_executor_state_back_to_core(core);
    cursor.write_back_instruction_count(core);
    *bus.next_event_cycle() = 0;
    false
}
