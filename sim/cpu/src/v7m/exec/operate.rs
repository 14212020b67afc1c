//! The operation of each instruction, by its code.
//!
//! One flat match, so that dispatch is one indirect jump. Its arms are small inlined functions, rare instructions stand
//! [`apart`].

use super::apart::{execute_apart, execute_checked, execute_registers_apart, instruction_outcome};
use super::multiply::{self, execute_divide, long_accumulator, must_pause_before_division, set_long_result};
use super::{Flow, bits, branch, float, memory, multiple, registers, system};
use crate::v7m::bus::Bus;
use crate::v7m::code::{Code, number as code, with_codes};
use crate::v7m::core::Core;
use crate::v7m::fault::Fault;
use crate::v7m::op::Op;
use crate::v7m::pipeline::Pipeline;

/// Executes one op that the pipeline has issued.
///
/// # Safety
/// `at` points to an op, which may be in the table that it came from.
#[inline(always)]
pub(in crate::v7m) unsafe fn execute_op<B: Bus, P: Pipeline>(
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
                    $(Code::$name => execute_known_op::<B, P, { code::$name }>(core, pipe, bus, at),)*
                }
            }
        };
    }
    with_codes!(by_code)
}

/// Executes one op of the known code `CODE` that the pipeline has issued.
///
/// # Safety
/// `at` points to an op of that code, which may be in the table that it came from.
#[inline(always)]
#[allow(clippy::cognitive_complexity, clippy::too_many_lines)]
pub(in crate::v7m) unsafe fn execute_known_op<B: Bus, P: Pipeline, const CODE: u8>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    at: *const Op,
) -> Flow {
    // The op and its fields, read where they are used: taken out of two words they would all be computed in advance. An
    // instruction that stores may overwrite its own op, so none is read after a store.
    macro_rules! op {
        () => {{
            // SAFETY: the caller's promise.
            Op { code: const { Code::code_with_number(CODE) }, ..unsafe { *at } }
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
                return unsafe { execute_apart(core, pipe, bus, at, $execute) };
            }
            let done = $execute(core, pipe, bus, op!());
            return instruction_outcome::<P>(core, done);
        }};
    }
    macro_rules! admitted {
        ($execute:expr) => {{
            if !P::IN_LINE {
                // SAFETY: the caller's promise.
                return unsafe { execute_checked(core, pipe, bus, at, $execute) };
            }
            let op = op!();
            if !bus.may_execute(core, op) {
                return Flow::Paused;
            }
            let done = $execute(core, pipe, bus, op);
            return instruction_outcome::<P>(core, done);
        }};
    }
    macro_rules! registers_apart {
        ($execute:expr) => {
            if P::IN_LINE {
                $execute(core, op!())
            } else {
                // SAFETY: the caller's promise.
                unsafe { execute_registers_apart(core, at, $execute) }
            }
        };
    }
    macro_rules! n {
        () => {
            core.core_register(field!(rn))
        };
    }
    macro_rules! m {
        () => {
            core.core_register(field!(rm))
        };
    }
    macro_rules! load {
        ($address:expr, $bytes:literal, $type:ty) => {{
            let address: u32 = $address;
            match memory::load_any_address::<B, P, $bytes>(core, pipe, bus, op!(), address) {
                Ok(value) => core.set_register(field!(rd), value as $type as u32),
                Err(fault) => return instruction_outcome::<P>(core, Err(fault)),
            }
        }};
    }
    macro_rules! store {
        ($address:expr, $bytes:literal) => {{
            let address: u32 = $address;
            let value = core.core_register(field!(rd));
            if let Err(fault) = memory::store_any_address::<B, P, $bytes>(core, pipe, bus, op!(), address, value) {
                return instruction_outcome::<P>(core, Err(fault));
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
            if must_pause_before_division(core, pipe, op!(), $first, $second) {
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
        | code::Usada8 => registers_apart!(bits::execute_bit_op),
        // SAFETY: the caller's promise.
        code::AndImmS..=code::Mls => unsafe { registers::execute_register_op::<CODE>(core, at) },

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
        | code::Smmls => registers_apart!(multiply::execute_multiply),
        code::Smull => {
            abandonable!(n!(), m!());
            let product = i64::from(n!() as i32) * i64::from(m!() as i32);
            set_long_result(core, op!(), product as u64);
        }
        code::Umull => {
            abandonable!(n!(), m!());
            set_long_result(core, op!(), u64::from(n!()) * u64::from(m!()));
        }
        code::Smlal => {
            abandonable!(n!(), m!());
            let product = i64::from(n!() as i32) * i64::from(m!() as i32);
            set_long_result(core, op!(), long_accumulator(core, op!()).wrapping_add(product as u64));
        }
        code::Umlal => {
            abandonable!(n!(), m!());
            set_long_result(core, op!(), long_accumulator(core, op!()).wrapping_add(u64::from(n!()) * u64::from(m!())));
        }
        code::Umaal => {
            let sum = u64::from(core.core_register(field!(rd))) + u64::from(core.core_register(field!(ra)));
            set_long_result(core, op!(), sum + u64::from(n!()) * u64::from(m!()));
        }
        code::Sdiv | code::Udiv => {
            apart!(execute_divide)
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
        code::Load => apart!(memory::load_general::<B, P>),
        code::Store => apart!(memory::store_general::<B, P>),
        code::LdrPc => admitted!(branch::execute_load_to_pc::<B, P>),
        code::Ldrd | code::Strd => admitted!(memory::execute_double_access::<B, P>),
        code::Ldm | code::LdmPc => admitted!(multiple::execute_load_multiple::<B, P>),
        code::Stm => admitted!(multiple::execute_store_multiple::<B, P>),
        code::Ldrex | code::Strex => admitted!(memory::execute_exclusive::<B, P>),

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
            core.set_register(14, core.address_of_op(core.ip).wrapping_add(5));
            return Flow::Near;
        }
        code::Bx => admitted!(branch::execute_bx),
        code::BccFar | code::BFar | code::BlFar | code::CompareBranchFar | code::Blx | code::MovPc | code::AddPc => {
            admitted!(branch::execute_far_or_register_branch);
        }
        code::TableBranch => admitted!(branch::execute_table_branch::<B, P>),

        code::It => core.it = field!(imm) as u8,
        code::Nop | code::Preload => {}
        code::Barrier => admitted!(execute_barrier),

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
        | code::Bkpt => admitted!(system::execute_system_op),
        code::UndefinedFloat | code::Vadd32..=code::Vmsr => {
            admitted!(float::execute_float::<B, P>);
        }
        // The loop replaces the stand-ins before it gets here, and every other code has its arm.
        _ => unreachable!("{:?} is no instruction", Code::code_with_number(CODE)),
    }
    Flow::Next
}

/// Executes DSB, DMB or ISB. Everything happens in order anyway.
#[inline(always)]
fn execute_barrier<B: Bus, P: Pipeline>(_: &mut Core, _: &mut P, _: &mut B, _: Op) -> Result<Flow, Fault> {
    Ok(Flow::Next)
}
