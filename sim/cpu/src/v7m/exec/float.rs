//! The floating-point extension: register transfers here, arithmetic in [`crate::v7m::float`].

use super::memory::{load_aligned, store_aligned};
use super::{Flow, multiple};
use crate::v7m::bus::Bus;
use crate::v7m::code::Code;
use crate::v7m::core::Core;
use crate::v7m::fault::Fault;
use crate::v7m::float::{self, FixedPoint, Rounding};
use crate::v7m::float_context;
use crate::v7m::op::{Op, flag};
use crate::v7m::pipeline::Pipeline;

/// The bits of FPSCR that exist: N, Z, C, V, AHP, DN, FZ, RMode and the cumulative exceptions.
const FPSCR_BITS: u32 = 0xf7c0_009f;

impl Core {
    /// Returns an S register.
    #[inline(always)]
    fn single_precision_register(&self, number: u8) -> u32 {
        self.s[usize::from(number & 31)]
    }

    /// Sets an S register.
    #[inline(always)]
    fn set_single_precision_register(&mut self, number: u8, value: u32) {
        self.s[usize::from(number & 31)] = value;
    }

    /// Returns a D register.
    #[inline(always)]
    fn double_precision_register(&self, number: u8) -> u64 {
        u64::from(self.single_precision_register(2 * number))
            | u64::from(self.single_precision_register(2 * number + 1)) << 32
    }

    /// Sets a D register.
    #[inline(always)]
    fn set_double_precision_register(&mut self, number: u8, value: u64) {
        self.set_single_precision_register(2 * number, value as u32);
        self.set_single_precision_register(2 * number + 1, (value >> 32) as u32);
    }
}

/// Executes any instruction of the floating-point extension.
#[inline(always)]
pub(super) fn execute_float<B: Bus, P: Pipeline>(
    core: &mut Core,
    pipe: &mut P,
    bus: &mut B,
    op: Op,
) -> Result<Flow, Fault> {
    if !core.float_ready {
        float_context::prepare_fpu_for_instruction(core, bus)?;
    }
    match op.code {
        Code::Vldr32 | Code::Vldr64 | Code::Vstr32 | Code::Vstr64 => {
            execute_float_access::<B, P>(core, pipe, bus, op)?;
        }
        Code::Vldm | Code::Vstm => return multiple::execute_float_multiple::<B, P>(core, pipe, bus, op),
        Code::UndefinedFloat => return Err(Fault::Undefined),
        _ if P::IN_LINE => execute_float_register_op(core, op),
        _ => execute_float_op_out_of_line(core, op),
    }
    Ok(Flow::Next)
}

/// Executes VLDR or VSTR, which are always aligned to words.
#[inline(always)]
fn execute_float_access<B: Bus, P: Pipeline>(core: &mut Core, pipe: &mut P, bus: &mut B, op: Op) -> Result<(), Fault> {
    let address = if op.rn == 15 { op.imm } else { core.core_register(op.rn).wrapping_add(op.imm) };
    if address & 3 != 0 {
        return Err(Fault::Unaligned);
    }
    let second = address.wrapping_add(4);
    match op.code {
        Code::Vldr32 => {
            let value = load_aligned::<B, P>(core, pipe, bus, op, address, 4, 0)?;
            core.set_single_precision_register(op.rd, value);
        }
        Code::Vldr64 => {
            let low = load_aligned::<B, P>(core, pipe, bus, op, address, 4, 0)?;
            let high = load_aligned::<B, P>(core, pipe, bus, op, second, 4, 1)?;
            core.set_double_precision_register(op.rd, u64::from(low) | u64::from(high) << 32);
        }
        Code::Vstr32 => {
            let value = core.single_precision_register(op.rd);
            store_aligned::<B, P>(core, pipe, bus, op, address, 4, value, 0)?;
        }
        _ => {
            let value = core.double_precision_register(op.rd);
            store_aligned::<B, P>(core, pipe, bus, op, address, 4, value as u32, 0)?;
            store_aligned::<B, P>(core, pipe, bus, op, second, 4, (value >> 32) as u32, 1)?;
        }
    }
    Ok(())
}

/// Executes [`execute_float_register_op`] in a function of its own, outside the frequent paths.
#[inline(never)]
fn execute_float_op_out_of_line(core: &mut Core, op: Op) {
    execute_float_register_op(core, op);
}

/// Executes a floating-point instruction that only changes registers.
#[inline(always)]
fn execute_float_register_op(core: &mut Core, op: Op) {
    match op.code {
        Code::VmovToCore => core.set_register(op.rd, core.single_precision_register(op.rn)),
        Code::VmovFromCore => core.set_single_precision_register(op.rd, core.core_register(op.rn)),
        Code::VmovPairToCore => {
            core.set_register(op.rd, core.single_precision_register(op.rm));
            core.set_register(op.ra, core.single_precision_register(op.rm + 1));
        }
        Code::VmovPairFromCore => {
            core.set_single_precision_register(op.rm, core.core_register(op.rd));
            core.set_single_precision_register(op.rm + 1, core.core_register(op.ra));
        }
        Code::Vmrs => core.set_register(op.rd, core.fpscr),
        Code::VmrsFlags => core.set_condition_and_saturation_flags(core.fpscr & 0xf000_0000 | u32::from(core.q) << 27),
        Code::Vmsr => core.fpscr = core.core_register(op.rn) & FPSCR_BITS,
        Code::Vcmp32 => {
            let m = if op.ra & 2 == 0 { core.single_precision_register(op.rm) } else { 0 };
            float::f32_cmp(core.single_precision_register(op.rd), m, op.ra & 1 != 0, &mut core.fpscr);
        }
        Code::Vcmp64 => {
            let m = if op.ra & 2 == 0 { core.double_precision_register(op.rm) } else { 0 };
            float::f64_cmp(core.double_precision_register(op.rd), m, op.ra & 1 != 0, &mut core.fpscr);
        }
        Code::Vrint
        | Code::VcvtToInteger
        | Code::VcvtFromInteger
        | Code::VcvtFixed
        | Code::VcvtHalf
        | Code::VcvtDoubleFromSingle
        | Code::VcvtSingleFromDouble => execute_float_conversion(core, op),
        Code::Vadd64
        | Code::Vsub64
        | Code::Vmul64
        | Code::Vnmul64
        | Code::Vdiv64
        | Code::VmultiplyAccumulate64
        | Code::VmovImm64
        | Code::Vmov64
        | Code::Vsqrt64
        | Code::Vsel64
        | Code::Vmaxnm64 => {
            let value = double_precision_result(core, op);
            core.set_double_precision_register(op.rd, value);
        }
        _ => {
            let value = single_precision_result(core, op);
            core.set_single_precision_register(op.rd, value);
        }
    }
}

/// Returns the result of a single-precision operation.
#[inline(always)]
fn single_precision_result(core: &mut Core, op: Op) -> u32 {
    let (d, n, m) = (
        core.single_precision_register(op.rd),
        core.single_precision_register(op.rn),
        core.single_precision_register(op.rm),
    );
    let fpscr = &mut core.fpscr;
    match op.code {
        Code::Vadd32 => float::f32_add(n, m, fpscr),
        Code::Vsub32 => float::f32_sub(n, m, fpscr),
        Code::Vmul32 => float::f32_mul(n, m, fpscr),
        Code::Vnmul32 => float::f32_neg(float::f32_mul(n, m, fpscr)),
        Code::Vdiv32 => float::f32_div(n, m, fpscr),
        Code::VmultiplyAccumulate32 => {
            let d = if op.ra & 2 == 0 { d } else { float::f32_neg(d) };
            match op.ra {
                0..=3 => float::f32_mla(d, n, m, op.ra & 1 != 0, fpscr),
                _ => float::f32_fma(d, if op.ra & 1 == 0 { n } else { float::f32_neg(n) }, m, fpscr),
            }
        }
        Code::VmovImm32 => op.imm,
        Code::Vmov32 => [m, float::f32_abs(m), float::f32_neg(m)][usize::from(op.ra % 3)],
        Code::Vsqrt32 => float::f32_sqrt(m, fpscr),
        Code::Vsel32 => {
            if core.is_condition_met(op.ra) {
                n
            } else {
                m
            }
        }
        _ if op.ra == 0 => float::f32_maxnm(n, m, fpscr),
        _ => float::f32_minnm(n, m, fpscr),
    }
}

/// Returns the result of a double-precision operation.
#[inline(always)]
fn double_precision_result(core: &mut Core, op: Op) -> u64 {
    let (d, n, m) = (
        core.double_precision_register(op.rd),
        core.double_precision_register(op.rn),
        core.double_precision_register(op.rm),
    );
    let fpscr = &mut core.fpscr;
    match op.code {
        Code::Vadd64 => float::f64_add(n, m, fpscr),
        Code::Vsub64 => float::f64_sub(n, m, fpscr),
        Code::Vmul64 => float::f64_mul(n, m, fpscr),
        Code::Vnmul64 => float::f64_neg(float::f64_mul(n, m, fpscr)),
        Code::Vdiv64 => float::f64_div(n, m, fpscr),
        Code::VmultiplyAccumulate64 => {
            let d = if op.ra & 2 == 0 { d } else { float::f64_neg(d) };
            match op.ra {
                0..=3 => float::f64_mla(d, n, m, op.ra & 1 != 0, fpscr),
                _ => float::f64_fma(d, if op.ra & 1 == 0 { n } else { float::f64_neg(n) }, m, fpscr),
            }
        }
        Code::VmovImm64 => u64::from(op.imm) << 32,
        Code::Vmov64 => [m, float::f64_abs(m), float::f64_neg(m)][usize::from(op.ra % 3)],
        Code::Vsqrt64 => float::f64_sqrt(m, fpscr),
        Code::Vsel64 => {
            if core.is_condition_met(op.ra) {
                n
            } else {
                m
            }
        }
        _ if op.ra == 0 => float::f64_maxnm(n, m, fpscr),
        _ => float::f64_minnm(n, m, fpscr),
    }
}

/// Returns the rounding mode that an op asks for.
fn rounding_mode(core: &Core, kind: u8) -> Rounding {
    match kind {
        0 => Rounding::Nearest,
        1 => Rounding::Up,
        2 => Rounding::Down,
        3 => Rounding::Zero,
        4 => Rounding::Away,
        _ => Rounding::from_fpscr(core.fpscr),
    }
}

/// Executes VRINT and VCVT.
fn execute_float_conversion(core: &mut Core, op: Op) {
    let double = op.has_flag(flag::DOUBLE);
    let mode = rounding_mode(core, op.ra);
    match op.code {
        Code::Vrint if double => {
            let value = float::f64_rint(core.double_precision_register(op.rm), mode, op.ra == 6, &mut core.fpscr);
            core.set_double_precision_register(op.rd, value);
        }
        Code::Vrint => {
            let value = float::f32_rint(core.single_precision_register(op.rm), mode, op.ra == 6, &mut core.fpscr);
            core.set_single_precision_register(op.rd, value);
        }
        Code::VcvtToInteger => {
            let to = if op.shift == 0 { FixedPoint::U32 } else { FixedPoint::I32 };
            let value = if double {
                float::f64_to_fixed(core.double_precision_register(op.rm), to, mode, &mut core.fpscr)
            } else {
                float::f32_to_fixed(core.single_precision_register(op.rm), to, mode, &mut core.fpscr)
            };
            core.set_single_precision_register(op.rd, value);
        }
        Code::VcvtFromInteger => {
            let from = if op.shift == 0 { FixedPoint::U32 } else { FixedPoint::I32 };
            let (value, mode) = (core.single_precision_register(op.rm), Rounding::from_fpscr(core.fpscr));
            execute_fixed_to_float(core, op, value, from, mode);
        }
        Code::VcvtFixed => {
            let fixed = FixedPoint { bits: u32::from(op.shift), signed: op.ra & 1 != 0, fraction: op.imm };
            match (op.ra & 2 != 0, double) {
                (false, _) => {
                    let value = core.single_precision_register(op.rd << u8::from(double));
                    execute_fixed_to_float(core, op, value, fixed, Rounding::Nearest);
                }
                (true, false) => {
                    let value = float::f32_to_fixed(
                        core.single_precision_register(op.rd),
                        fixed,
                        Rounding::Zero,
                        &mut core.fpscr,
                    );
                    core.set_single_precision_register(op.rd, value);
                }
                (true, true) => {
                    let value = float::f64_to_fixed(
                        core.double_precision_register(op.rd),
                        fixed,
                        Rounding::Zero,
                        &mut core.fpscr,
                    );
                    let sign = if fixed.signed { i64::from(value as i32) as u64 } else { u64::from(value) };
                    core.set_double_precision_register(op.rd, sign);
                }
            }
        }
        Code::VcvtHalf => execute_half_conversion(core, op, double),
        Code::VcvtDoubleFromSingle => {
            let value = float::f32_to_f64(core.single_precision_register(op.rm), &mut core.fpscr);
            core.set_double_precision_register(op.rd, value);
        }
        _ => {
            let value = float::f64_to_f32(core.double_precision_register(op.rm), &mut core.fpscr);
            core.set_single_precision_register(op.rd, value);
        }
    }
}

/// Converts a fixed-point number to floating point and writes it to `rd`.
fn execute_fixed_to_float(core: &mut Core, op: Op, value: u32, from: FixedPoint, mode: Rounding) {
    if op.has_flag(flag::DOUBLE) {
        let value = float::fixed_to_f64(value, from, mode, &mut core.fpscr);
        core.set_double_precision_register(op.rd, value);
    } else {
        let value = float::fixed_to_f32(value, from, mode, &mut core.fpscr);
        core.set_single_precision_register(op.rd, value);
    }
}

/// Executes VCVTB or VCVTT, which leave the other half of a register alone.
fn execute_half_conversion(core: &mut Core, op: Op, double: bool) {
    let top = 16 * u32::from(op.ra & 1);
    if op.ra & 2 == 0 {
        let half = core.single_precision_register(op.rm) >> top & 0xffff;
        if double {
            let value = float::f16_to_f64(half, &mut core.fpscr);
            core.set_double_precision_register(op.rd, value);
        } else {
            let value = float::f16_to_f32(half, &mut core.fpscr);
            core.set_single_precision_register(op.rd, value);
        }
        return;
    }
    let half = if double {
        float::f64_to_f16(core.double_precision_register(op.rm), &mut core.fpscr)
    } else {
        float::f32_to_f16(core.single_precision_register(op.rm), &mut core.fpscr)
    };
    let rest = core.single_precision_register(op.rd) & !(0xffff << top);
    core.set_single_precision_register(op.rd, rest | (half & 0xffff) << top);
}
