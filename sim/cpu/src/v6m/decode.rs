//! ARMv6-M decoder: halfwords to [`Op`]. Laid out like the encoding tables of the ARMv6-M manual (A5).

use crate::v6m::op::{Code, Op};

/// The address and code region of an instruction. The decoder computes branch targets and places of literals with them.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Address of the instruction.
    pub address: u32,
    /// First address of its code region.
    pub region_base: u32,
    /// Length of the region in bytes.
    pub region_bytes: u32,
    /// The region is flash after a cache: literals need a residency check.
    pub cached: bool,
    /// The region is the boot ROM: UDF calls a modelled ROM function.
    pub rom: bool,
}

/// Creates an op from a code and its operands.
const fn make_op(code: Code, a: u32, b: u32, c: u32, imm: u32) -> Op {
    Op { code, a: a as u8, b: b as u8, c: c as u8, imm }
}

/// Decodes the instruction at `place`. `second` is the following halfword (only read by 32-bit encodings).
pub fn decode_instruction(first: u16, second: u16, place: Place) -> Op {
    let h = u32::from(first);
    let (r0, r3, r6) = (h & 7, h >> 3 & 7, h >> 6 & 7);
    let r8 = h >> 8 & 7;
    let imm5 = h >> 6 & 31;
    let imm8 = h & 0xff;
    let pc = place.address.wrapping_add(4);
    match h >> 11 {
        0b00000 if imm5 == 0 => make_op(Code::MovsReg, r0, r3, 0, 0),
        0b00000 => make_op(Code::LslImm, r0, r3, 0, imm5),
        0b00001 => make_op(Code::LsrImm, r0, r3, 0, if imm5 == 0 { 32 } else { imm5 }),
        0b00010 => make_op(Code::AsrImm, r0, r3, 0, if imm5 == 0 { 32 } else { imm5 }),
        0b00011 => match h >> 9 & 3 {
            0 => make_op(Code::AddReg, r0, r3, r6, 0),
            1 => make_op(Code::SubReg, r0, r3, r6, 0),
            2 => make_op(Code::AddImm, r0, r3, 0, r6),
            _ => make_op(Code::SubImm, r0, r3, 0, r6),
        },
        0b00100 => make_op(Code::MovImm, r8, 0, 0, imm8),
        0b00101 => make_op(Code::CmpImm, 0, r8, 0, imm8),
        0b00110 => make_op(Code::AddImm, r8, r8, 0, imm8),
        0b00111 => make_op(Code::SubImm, r8, r8, 0, imm8),
        0b01000 if h & 0x400 == 0 => decode_data_processing(h >> 6 & 15, r0, r3),
        0b01000 => decode_special(h, pc),
        0b01001 => {
            let address = (pc & !3).wrapping_add(imm8 * 4);
            let inside = address.wrapping_sub(place.region_base) < place.region_bytes;
            let code = if place.cached && inside { Code::LdrLitFlash } else { Code::LdrLit };
            make_op(code, r8, 0, 0, address)
        }
        0b01010 | 0b01011 => {
            let code = [
                Code::StrReg,
                Code::StrhReg,
                Code::StrbReg,
                Code::LdrsbReg,
                Code::LdrReg,
                Code::LdrhReg,
                Code::LdrbReg,
                Code::LdrshReg,
            ][(h >> 9 & 7) as usize];
            make_op(code, r0, r3, r6, 0)
        }
        0b01100 => make_op(Code::StrImm, r0, r3, 0, imm5 * 4),
        0b01101 => make_op(Code::LdrImm, r0, r3, 0, imm5 * 4),
        0b01110 => make_op(Code::StrbImm, r0, r3, 0, imm5),
        0b01111 => make_op(Code::LdrbImm, r0, r3, 0, imm5),
        0b10000 => make_op(Code::StrhImm, r0, r3, 0, imm5 * 2),
        0b10001 => make_op(Code::LdrhImm, r0, r3, 0, imm5 * 2),
        0b10010 => make_op(Code::StrImm, r8, 13, 0, imm8 * 4),
        0b10011 => make_op(Code::LdrImm, r8, 13, 0, imm8 * 4),
        0b10100 => make_op(Code::MovConst, r8, 0, 0, (pc & !3).wrapping_add(imm8 * 4)),
        0b10101 => make_op(Code::AddNoFlags, r8, 13, 0, imm8 * 4),
        0b10110 | 0b10111 => decode_miscellaneous(h),
        0b11000 if imm8 == 0 => Op::without_operands(Code::Udf),
        0b11000 => make_op(Code::Stm, 0, r8, imm8.count_ones(), imm8),
        0b11001 if imm8 == 0 => Op::without_operands(Code::Udf),
        0b11001 => make_op(Code::Ldm, 0, r8, imm8.count_ones(), imm8),
        0b11010 | 0b11011 => decode_conditional_branch(h, pc, place),
        0b11100 => {
            let distance = (((h & 0x7ff) << 21) as i32 >> 20) as u32;
            new_direct_branch_op(Code::B, Code::BFar, 0, pc.wrapping_add(distance), place)
        }
        0b11110 => decode_32_bit(h, u32::from(second), pc, place),
        _ => Op::without_operands(Code::Udf),
    }
}

/// Decodes a 16-bit data-processing instruction by its opcode field (A5.2.2).
fn decode_data_processing(opcode: u32, rd: u32, rm: u32) -> Op {
    let code = [
        Code::And,
        Code::Eor,
        Code::LslReg,
        Code::LsrReg,
        Code::AsrReg,
        Code::Adc,
        Code::Sbc,
        Code::RorReg,
        Code::Tst,
        Code::Rsb,
        Code::Cmp,
        Code::Cmn,
        Code::Orr,
        Code::Mul,
        Code::Bic,
        Code::Mvn,
    ][opcode as usize];
    make_op(code, rd, rm, 0, 0)
}

/// Decodes special data instructions and branch-exchange (A5.2.3).
fn decode_special(h: u32, pc: u32) -> Op {
    let rd = h & 7 | h >> 4 & 8;
    let rm = h >> 3 & 15;
    match h >> 8 & 3 {
        0 => match (rd, rm) {
            (15, 15) => Op::without_operands(Code::Udf),
            (15, _) => make_op(Code::AddPc, 0, rm, 0, pc),
            (13, 15) => make_op(Code::AddConst, rd, 0, 0, pc & !3),
            (_, 15) => make_op(Code::AddConst, rd, 0, 0, pc),
            (13, _) => make_op(Code::AddHiSp, rd, rm, 0, 0),
            _ => make_op(Code::AddHi, rd, rm, 0, 0),
        },
        1 if rd == 15 || rm == 15 => Op::without_operands(Code::Udf),
        1 => make_op(Code::CmpHi, rd, rm, 0, 0),
        2 => match (rd, rm) {
            (15, 15) => make_op(Code::MovPc, 0, 15, 0, pc),
            (15, _) => make_op(Code::MovPc, 0, rm, 0, pc),
            (13, 15) => make_op(Code::MovConst, rd, 0, 0, pc & !3),
            (_, 15) => make_op(Code::MovConst, rd, 0, 0, pc),
            (13, _) => make_op(Code::MovHiSp, rd, rm, 0, 0),
            _ => make_op(Code::MovHi, rd, rm, 0, 0),
        },
        _ if rm == 15 || h & 7 != 0 => Op::without_operands(Code::Udf),
        _ if h & 0x80 == 0 => make_op(Code::Bx, 0, rm, 0, 0),
        _ => make_op(Code::Blx, 0, rm, 0, 0),
    }
}

/// Decodes miscellaneous 16-bit instructions (A5.2.5).
fn decode_miscellaneous(h: u32) -> Op {
    let (r0, r3) = (h & 7, h >> 3 & 7);
    match h >> 4 & 0xff {
        0x00..=0x07 => make_op(Code::AddNoFlags, 13, 13, 0, (h & 0x7f) * 4),
        0x08..=0x0f => make_op(Code::AddNoFlags, 13, 13, 0, 0u32.wrapping_sub((h & 0x7f) * 4)),
        0x20..=0x23 => make_op(Code::Sxth, r0, r3, 0, 0),
        0x24..=0x27 => make_op(Code::Sxtb, r0, r3, 0, 0),
        0x28..=0x2b => make_op(Code::Uxth, r0, r3, 0, 0),
        0x2c..=0x2f => make_op(Code::Uxtb, r0, r3, 0, 0),
        0x40..=0x5f => match (h & 0xff) | (h & 0x100) << 6 {
            0 => Op::without_operands(Code::Udf),
            mask => make_op(Code::Push, 0, 13, mask.count_ones(), mask),
        },
        0x66 | 0x67 if h & 0xffef == 0xb662 => {
            Op::without_operands(if h & 0x10 == 0 { Code::Cpsie } else { Code::Cpsid })
        }
        0xa0..=0xa3 => make_op(Code::Rev, r0, r3, 0, 0),
        0xa4..=0xa7 => make_op(Code::Rev16, r0, r3, 0, 0),
        0xac..=0xaf => make_op(Code::Revsh, r0, r3, 0, 0),
        0xc0..=0xcf if h & 0xff == 0 => Op::without_operands(Code::Udf),
        0xc0..=0xcf => make_op(Code::Pop, 0, 13, (h & 0xff).count_ones(), h & 0xff),
        0xd0..=0xdf => make_op(Code::PopPc, 0, 13, (h & 0xff).count_ones(), h & 0xff),
        0xe0..=0xef => make_op(Code::Bkpt, 0, 0, 0, h & 0xff),
        0xf0..=0xff if h & 15 == 0 => Op::without_operands(match h >> 4 & 15 {
            2 => Code::Wfe,
            3 => Code::Wfi,
            4 => Code::Sev,
            _ => Code::Nop,
        }),
        _ => Op::without_operands(Code::Udf),
    }
}

/// Decodes conditional branches, UDF and SVC (A5.2.6).
fn decode_conditional_branch(h: u32, pc: u32, place: Place) -> Op {
    match h >> 8 & 15 {
        14 if place.rom => make_op(Code::RomHook, 0, 0, 0, h & 0xff),
        14 => make_op(Code::Udf, 0, 0, 0, h & 0xff),
        15 => make_op(Code::Svc, 0, 0, 0, h & 0xff),
        condition => {
            let distance = ((h << 24) as i32 >> 23) as u32;
            new_direct_branch_op(
                Code::branch(condition as u8),
                Code::BccFar,
                condition,
                pc.wrapping_add(distance),
                place,
            )
        }
    }
}

/// Creates the op of a direct branch: by distance inside the region, by absolute address outside.
fn new_direct_branch_op(near: Code, far: Code, condition: u32, target: u32, place: Place) -> Op {
    if target.wrapping_sub(place.region_base) < place.region_bytes {
        let halfwords = (target.wrapping_sub(place.address) as i32) / 2;
        make_op(near, condition, 0, 0, halfwords as u32)
    } else {
        make_op(far, condition, 0, 0, target)
    }
}

/// Decodes the six 32-bit encodings of ARMv6-M (A5.3).
fn decode_32_bit(h: u32, second: u32, pc: u32, place: Place) -> Op {
    if second & 0xd000 == 0xd000 {
        let s = h >> 10 & 1;
        let i1 = !(second >> 13 ^ s) & 1;
        let i2 = !(second >> 11 ^ s) & 1;
        let offset = s << 24 | i1 << 23 | i2 << 22 | (h & 0x3ff) << 12 | (second & 0x7ff) << 1;
        let distance = ((offset << 7) as i32 >> 7) as u32;
        return new_direct_branch_op(Code::Bl, Code::BlFar, 0, pc.wrapping_add(distance), place);
    }
    if second & 0xd000 != 0x8000 {
        return Op::without_operands(Code::Udf);
    }
    match h & 0x7f0 {
        0x380 if second & 0xff00 == 0x8800 => make_op(Code::Msr, 0, h & 15, 0, second & 0xff),
        0x3e0 if h == 0xf3ef && second & 0xf000 == 0x8000 => make_op(Code::Mrs, second >> 8 & 15, 0, 0, second & 0xff),
        0x3b0 if h == 0xf3bf && matches!(second >> 4, 0x8f4..=0x8f6) => Op::without_operands(Code::Barrier),
        _ => Op::without_operands(Code::Udf),
    }
}
