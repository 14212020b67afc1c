//! ARMv6-M instructions as ops of ARMv7-M, which contains them.

use crate::v6m::op::{Code as From, Op as Old};
use crate::v7m::code::{Code, number as code};
use crate::v7m::op::{Op, flag};

/// Converts an ARMv6-M instruction to the ARMv7-M op that the JIT compiler knows. `None` if there is none.
pub(in crate::v6m) fn convert_to_v7m_op(op: Old) -> Option<Op> {
    convert_data_processing_to_armv7m_op(op)
        .or_else(|| convert_load_or_store_op(op))
        .or_else(|| convert_branch_to_armv7m_op(op))
}

/// Converts an instruction that changes registers and flags only.
fn convert_data_processing_to_armv7m_op(op: Old) -> Option<Op> {
    let Old { a, b, c, imm, .. } = op;
    let unary = |code| Op { code, rd: a, rm: b, ..Op::default() };
    let binary = |code| Op { code, rd: a, rn: a, rm: b, ..Op::default() };
    let compare = |code| Op { code, rn: a, rm: b, ..Op::default() };
    let register = |code| Op { code, rd: a, rn: b, rm: c, ..Op::default() };
    let constant = |code| Op { code, rd: a, rn: b, imm, ..Op::default() };
    let shift = |code| Op { code, rd: a, rm: b, shift: imm as u8, ..Op::default() };
    let known = match op.code {
        From::MovsReg => unary(Code::MovRegS),
        From::MovHi => unary(Code::MovReg),
        From::MovHiSp => unary(Code::MovToSp),
        From::Mvn => unary(Code::MvnRegS),
        From::Sxth => unary(Code::Sxth),
        From::Sxtb => unary(Code::Sxtb),
        From::Uxth => unary(Code::Uxth),
        From::Uxtb => unary(Code::Uxtb),
        From::Rev => unary(Code::Rev),
        From::Rev16 => unary(Code::Rev16),
        From::Revsh => unary(Code::Revsh),
        From::LslImm => shift(Code::LslImmS),
        From::LsrImm => shift(Code::LsrImmS),
        From::AsrImm => shift(Code::AsrImmS),
        From::AddReg => register(Code::AddRegS),
        From::SubReg => register(Code::SubRegS),
        From::AddImm => constant(Code::AddImmS),
        From::SubImm => constant(Code::SubImmS),
        From::AddNoFlags => constant(Code::AddImm),
        From::MovImm => constant(Code::MovImmS),
        From::MovConst => constant(Code::MovImm),
        From::CmpImm => constant(Code::CmpImm),
        From::AddConst => Op { rn: a, ..constant(Code::AddImm) },
        From::Rsb => constant(Code::RsbImmS),
        From::And => binary(Code::AndRegS),
        From::Eor => binary(Code::EorRegS),
        From::Orr => binary(Code::OrrRegS),
        From::Bic => binary(Code::BicRegS),
        From::Adc => binary(Code::AdcRegS),
        From::Sbc => binary(Code::SbcRegS),
        From::LslReg => binary(Code::LslRegS),
        From::LsrReg => binary(Code::LsrRegS),
        From::AsrReg => binary(Code::AsrRegS),
        From::RorReg => binary(Code::RorRegS),
        From::Mul => binary(Code::MulS),
        From::AddHi => binary(Code::AddReg),
        From::Tst => compare(Code::TstReg),
        From::Cmp | From::CmpHi => compare(Code::CmpReg),
        From::Cmn => compare(Code::CmnReg),
        From::Nop => Op { code: Code::Nop, ..Op::default() },
        _ => return None,
    };
    Some(known)
}

/// Converts a load or store.
fn convert_load_or_store_op(op: Old) -> Option<Op> {
    let Old { a, b, c, imm, .. } = op;
    let offset = |code| Op { code, rd: a, rn: b, imm, ..Op::default() };
    let index = |code| Op { code, rd: a, rn: b, rm: c, ..Op::default() };
    let is_loaded = op.code == From::Ldm && imm >> b & 1 != 0;
    let flags = if is_loaded { 0 } else { flag::POST_INDEXED };
    let multiple = |code, ra| Op { code, rn: b, imm, ra, shift: c, flags, ..Op::default() };
    let known = match op.code {
        From::LdrLit | From::LdrLitFlash => Op { code: Code::LdrLit, rd: a, imm, ..Op::default() },
        From::LdrImm => offset(Code::LdrImm),
        From::LdrhImm => offset(Code::LdrhImm),
        From::LdrbImm => offset(Code::LdrbImm),
        From::StrImm => offset(Code::StrImm),
        From::StrhImm => offset(Code::StrhImm),
        From::StrbImm => offset(Code::StrbImm),
        From::LdrReg => index(Code::LdrReg),
        From::LdrhReg => index(Code::LdrhReg),
        From::LdrbReg => index(Code::LdrbReg),
        From::LdrshReg => index(Code::LdrshReg),
        From::LdrsbReg => index(Code::LdrsbReg),
        From::StrReg => index(Code::StrReg),
        From::StrhReg => index(Code::StrhReg),
        From::StrbReg => index(Code::StrbReg),
        From::Ldm | From::Pop => multiple(Code::Ldm, 0),
        From::Stm => multiple(Code::Stm, 0),
        From::Push => multiple(Code::Stm, 1),
        _ => return None,
    };
    Some(known)
}

/// Converts a branch.
fn convert_branch_to_armv7m_op(op: Old) -> Option<Op> {
    let code = match op.code {
        From::B => Code::B,
        From::Bl => Code::Bl,
        From::Bx | From::MovPc | From::AddPc => Code::Bx,
        From::Blx => Code::Blx,
        _ if op.is_branch_within_code_region() => Code::code_with_number(code::Beq + (op.code as u8 - From::Beq as u8)),
        _ => return None,
    };
    Some(Op { code, rm: op.b, ra: op.a, imm: op.imm, ..Op::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v6m::decode::{Place, decode_instruction};
    use crate::v7m::core::Features;
    use crate::v7m::decode as v7m;

    /// The 16-bit opcodes of ARMv6-M are opcodes of ARMv7-M, which has a decoder of its own.
    #[test]
    fn armv6m_decoder_agrees_with_armv7m_decoder() {
        let (base, bytes) = (0x0800_0000, 0x1_0000);
        let mut compared = 0;
        for half in 0..=u16::MAX {
            let place =
                Place { address: base + 0x4000, region_base: base, region_bytes: bytes, cached: false, rom: false };
            let old = decode_instruction(half, 0, place);
            // Branches by register are checked in another way. SP less a constant is SP and another one, SP and the PC
            // a sum.
            let is_less = half & 0xff80 == 0xb080;
            let is_sum = old.code == From::AddConst && old.a == 13;
            if is_less || is_sum || matches!(old.code, From::Bx | From::Blx | From::MovPc | From::AddPc) {
                continue;
            }
            let Some(ours) = convert_to_v7m_op(old) else { continue };
            let place = v7m::Place { address: base + 0x4000, region_base: base, region_bytes: bytes };
            let theirs = v7m::decode_instruction(half, 0, place, Features::CORTEX_M3);
            if theirs.code == Code::Undefined {
                // CMP of two low registers as one of high ones: unpredictable.
                assert_eq!((half & 0xffc0, ours.code), (0x4500, Code::CmpReg), "{half:#06x}");
                continue;
            }
            let fields = |op: Op| (op.code, op.rd, op.rn, op.rm, op.shift, op.ra & 7, op.imm);
            assert_eq!(fields(ours), fields(theirs), "{half:#06x}");
            compared += 1;
        }
        assert!(compared > 50_000, "{compared}");
    }
}
