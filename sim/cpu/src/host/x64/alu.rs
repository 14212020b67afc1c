//! Data processing: what touches nothing but registers and flags. See [`crate::v7m::exec`]'s `registers` for what each
//! code does.

use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};

use super::{HostFlags, Writer, flags};
use crate::v7m::code::{Code, number as code};
use crate::v7m::op::{Op, flag};

/// What is done with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    And,
    Bic,
    Orr,
    Orn,
    Eor,
    Add,
    Adc,
    Sbc,
    Sub,
    /// The second less the first.
    Rsb,
    /// The second.
    Mov,
    Mvn,
}

/// The second operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Second {
    Constant,
    Register,
    Shifted,
}

/// A data processing instruction.
#[derive(Debug, Clone, Copy)]
struct Form {
    work: Work,
    second: Second,
    sets: bool,
    /// Only flags.
    tests: bool,
}

fn form(op: Op) -> Option<Form> {
    use Second::{Constant, Register, Shifted};
    use Work::{Adc, Add, And, Bic, Eor, Mov, Mvn, Orn, Orr, Rsb, Sbc, Sub};
    let known = |work, second, sets, tests| Some(Form { work, second, sets, tests });
    let shifted = |work, tests| known(work, Shifted, tests || op.has(flag::SETS), tests);
    match op.code {
        Code::AndImmS => known(And, Constant, true, false),
        Code::AndImm => known(And, Constant, false, false),
        Code::BicImmS => known(Bic, Constant, true, false),
        Code::BicImm => known(Bic, Constant, false, false),
        Code::OrrImmS => known(Orr, Constant, true, false),
        Code::OrrImm => known(Orr, Constant, false, false),
        Code::OrnImmS => known(Orn, Constant, true, false),
        Code::OrnImm => known(Orn, Constant, false, false),
        Code::EorImmS => known(Eor, Constant, true, false),
        Code::EorImm => known(Eor, Constant, false, false),
        Code::AddImmS => known(Add, Constant, true, false),
        Code::AddImm => known(Add, Constant, false, false),
        Code::AdcImmS => known(Adc, Constant, true, false),
        Code::AdcImm => known(Adc, Constant, false, false),
        Code::SbcImmS => known(Sbc, Constant, true, false),
        Code::SbcImm => known(Sbc, Constant, false, false),
        Code::SubImmS => known(Sub, Constant, true, false),
        Code::SubImm => known(Sub, Constant, false, false),
        Code::RsbImmS => known(Rsb, Constant, true, false),
        Code::RsbImm => known(Rsb, Constant, false, false),
        Code::MovImmS => known(Mov, Constant, true, false),
        Code::MovImm => known(Mov, Constant, false, false),
        Code::MvnImmS => known(Mvn, Constant, true, false),
        Code::MvnImm => known(Mvn, Constant, false, false),
        Code::TstImm => known(And, Constant, true, true),
        Code::TeqImm => known(Eor, Constant, true, true),
        Code::CmpImm => known(Sub, Constant, true, true),
        Code::CmnImm => known(Add, Constant, true, true),
        Code::AndRegS => known(And, Register, true, false),
        Code::AndReg => known(And, Register, false, false),
        Code::BicRegS => known(Bic, Register, true, false),
        Code::BicReg => known(Bic, Register, false, false),
        Code::OrrRegS => known(Orr, Register, true, false),
        Code::OrrReg => known(Orr, Register, false, false),
        Code::EorRegS => known(Eor, Register, true, false),
        Code::EorReg => known(Eor, Register, false, false),
        Code::AddRegS => known(Add, Register, true, false),
        Code::AddReg => known(Add, Register, false, false),
        Code::AdcRegS => known(Adc, Register, true, false),
        Code::AdcReg => known(Adc, Register, false, false),
        Code::SbcRegS => known(Sbc, Register, true, false),
        Code::SbcReg => known(Sbc, Register, false, false),
        Code::SubRegS => known(Sub, Register, true, false),
        Code::SubReg => known(Sub, Register, false, false),
        Code::MovRegS => known(Mov, Register, true, false),
        Code::MovReg => known(Mov, Register, false, false),
        Code::MvnRegS => known(Mvn, Register, true, false),
        Code::MvnReg => known(Mvn, Register, false, false),
        Code::TstReg => known(And, Register, true, true),
        Code::CmpReg => known(Sub, Register, true, true),
        Code::CmnReg => known(Add, Register, true, true),
        // RRX is rare, and so is the carry of a shift.
        _ if op.ra == 4 => None,
        Code::AndShift if !op.has(flag::SETS) => shifted(And, false),
        Code::BicShift if !op.has(flag::SETS) => shifted(Bic, false),
        Code::OrrShift if !op.has(flag::SETS) => shifted(Orr, false),
        Code::OrnShift if !op.has(flag::SETS) => shifted(Orn, false),
        Code::EorShift if !op.has(flag::SETS) => shifted(Eor, false),
        Code::MovShift if !op.has(flag::SETS) => shifted(Mov, false),
        Code::MvnShift if !op.has(flag::SETS) => shifted(Mvn, false),
        Code::AddShift | Code::AddLsl => shifted(Add, false),
        Code::AdcShift => shifted(Adc, false),
        Code::SbcShift => shifted(Sbc, false),
        Code::SubShift => shifted(Sub, false),
        Code::RsbShift => shifted(Rsb, false),
        Code::CmpShift => shifted(Sub, true),
        Code::CmnShift => shifted(Add, true),
        _ => None,
    }
}

/// A shift by a constant as the instruction itself: its kind as in an opcode, and whether it sets flags.
fn shift(op: Op) -> Option<(u8, bool)> {
    let found = match op.code {
        Code::LslImmS => (0, true),
        Code::LslImm => (0, false),
        Code::LsrImmS => (1, true),
        Code::LsrImm => (1, false),
        Code::AsrImmS => (2, true),
        Code::AsrImm => (2, false),
        _ => return None,
    };
    Some(found)
}

/// A shift by a register: its kind as in an opcode, and whether it sets flags.
fn shift_by_register(op: Op) -> Option<(u8, bool)> {
    let found = match op.code {
        Code::LslRegS => (0, true),
        Code::LslReg => (0, false),
        Code::LsrRegS => (1, true),
        Code::LsrReg => (1, false),
        Code::AsrRegS => (2, true),
        Code::AsrReg => (2, false),
        Code::RorRegS => (3, true),
        Code::RorReg => (3, false),
        _ => return None,
    };
    Some(found)
}

/// Whether an instruction is translated.
pub fn translates(op: Op) -> bool {
    form(op).is_some() || shift(op).is_some() || shift_by_register(op).is_some() || is_other(op)
}

fn is_other(op: Op) -> bool {
    use Code::{Bfi, Mla, Mls, Movt, Mul, MulS, Rev, Sbfx, Sxtab, Sxtah, Sxtb, Sxth, Ubfx, Uxtab, Uxtah, Uxtb, Uxth};
    use Code::{MovToSp, Rev16, Revsh};
    matches!(op.code, Movt | Ubfx | Sbfx | Bfi | Rev | Rev16 | Revsh | Sxtb | Sxth | Uxtb | Uxth)
        || matches!(op.code, Sxtab | Sxtah | Uxtab | Uxtah | MulS | Mul | Mla | Mls | MovToSp)
}

/// Flags that it sets.
pub fn sets(op: Op) -> u8 {
    if let Some((_, sets)) = shift(op) {
        return if sets { flags::NZ | flags::C } else { 0 };
    }
    if let Some((_, sets)) = shift_by_register(op) {
        // A shift by 0 leaves C alone.
        return if sets { flags::NZ } else { 0 };
    }
    match form(op) {
        Some(Form { sets: false, .. }) => 0,
        Some(Form { work: Work::Add | Work::Adc | Work::Sbc | Work::Sub | Work::Rsb, .. }) => flags::ALL,
        Some(Form { second: Second::Constant, .. }) if op.shift != 0 => flags::NZ | flags::C,
        Some(_) => flags::NZ,
        None if op.code == Code::MulS => flags::NZ,
        None => 0,
    }
}

/// Flags that it reads.
pub fn reads(op: Op) -> u8 {
    match form(op) {
        Some(Form { work: Work::Adc | Work::Sbc, .. }) => flags::C,
        _ => 0,
    }
}

impl Writer {
    /// Translates an instruction, if that is done.
    pub fn operate(&mut self, op: Op) -> bool {
        if let Some(form) = form(op) {
            self.process(op, form);
        } else if let Some((kind, sets)) = shift(op) {
            self.shift(op, kind, sets);
        } else if let Some((kind, sets)) = shift_by_register(op) {
            self.shift_by_register(op, kind, sets);
        } else if is_other(op) {
            self.other(op);
        } else {
            return false;
        }
        true
    }

    fn process(&mut self, op: Op, form: Form) {
        let Form { work, second, sets, tests } = form;
        let first = (!matches!(work, Work::Mov | Work::Mvn)).then(|| self.read(op.rn));
        // The second operand: a constant, or ecx where its register is not to be had as it is.
        let register = (second != Second::Constant).then(|| self.read(op.rm));
        if let (Second::Shifted, Some(register)) = (second, register) {
            self.shifted(op, register);
        }
        let asm = &mut self.asm;
        match (second, register, work) {
            (Second::Constant, ..) => {
                let constant = if matches!(work, Work::Bic | Work::Orn | Work::Mvn) { !op.imm } else { op.imm };
                dynasm!(asm ; .arch x64 ; mov ecx, constant as i32);
            }
            (Second::Register, Some(register), _) => dynasm!(asm ; .arch x64 ; mov ecx, Rd(register)),
            _ => {}
        }
        if second != Second::Constant && matches!(work, Work::Bic | Work::Orn | Work::Mvn) {
            dynasm!(asm ; .arch x64 ; not ecx);
        }
        if let Some(first) = first {
            dynasm!(asm ; .arch x64 ; mov eax, Rd(first));
        }
        match work {
            Work::And | Work::Bic => dynasm!(asm ; .arch x64 ; and eax, ecx),
            Work::Orr | Work::Orn => dynasm!(asm ; .arch x64 ; or eax, ecx),
            Work::Eor => dynasm!(asm ; .arch x64 ; xor eax, ecx),
            Work::Add => dynasm!(asm ; .arch x64 ; add eax, ecx),
            Work::Adc => dynasm!(asm ; .arch x64 ; cmp BYTE [rbx + self.at.c], 1 ; cmc ; adc eax, ecx),
            Work::Sbc => dynasm!(asm ; .arch x64 ; cmp BYTE [rbx + self.at.c], 1 ; sbb eax, ecx),
            Work::Sub => dynasm!(asm ; .arch x64 ; sub eax, ecx),
            Work::Rsb => dynasm!(asm ; .arch x64 ; sub ecx, eax ; mov eax, ecx),
            Work::Mov | Work::Mvn => dynasm!(asm ; .arch x64 ; mov eax, ecx),
        }
        let is_sum = matches!(work, Work::Add | Work::Adc | Work::Sub | Work::Sbc | Work::Rsb);
        self.host_flags = match work {
            Work::Sub | Work::Rsb | Work::Sbc if sets => HostFlags::Difference,
            Work::Mov | Work::Mvn => HostFlags::None,
            _ if sets => HostFlags::Result,
            _ => HostFlags::None,
        };
        if !tests {
            let target = self.write(op.rd);
            dynasm!(self.asm ; .arch x64 ; mov Rd(target), eax);
        }
        if !sets {
            return;
        }
        let live = self.live;
        let asm = &mut self.asm;
        if is_sum {
            if live & flags::C != 0 {
                if matches!(work, Work::Add | Work::Adc) {
                    dynasm!(asm ; .arch x64 ; setc [rbx + self.at.c]);
                } else {
                    dynasm!(asm ; .arch x64 ; setnc [rbx + self.at.c]);
                }
            }
            if live & flags::V != 0 {
                dynasm!(asm ; .arch x64 ; seto [rbx + self.at.v]);
            }
        } else if second == Second::Constant && op.shift != 0 && live & flags::C != 0 {
            let carry = i8::from(op.shift & 1 != 0);
            dynasm!(asm ; .arch x64 ; mov BYTE [rbx + self.at.c], carry);
        }
        self.set_nz();
    }

    /// N and Z by eax, which is lost. The host's flags stay.
    fn set_nz(&mut self) {
        if self.live & flags::NZ != 0 {
            dynasm!(self.asm ; .arch x64 ; movsxd rax, eax ; mov [rbx + self.at.nz], rax);
        }
    }

    /// A register shifted by a constant, to ecx.
    fn shifted(&mut self, op: Op, register: u8) {
        self.host_flags = HostFlags::None;
        let asm = &mut self.asm;
        let amount = op.shift;
        dynasm!(asm ; .arch x64 ; mov ecx, Rd(register));
        match if op.code == Code::AddLsl { 0 } else { op.ra } {
            0 if amount & 31 == 0 => {}
            0 => dynasm!(asm ; .arch x64 ; shl ecx, (amount & 31) as i8),
            1 if amount > 31 => dynasm!(asm ; .arch x64 ; xor ecx, ecx),
            1 => dynasm!(asm ; .arch x64 ; shr ecx, amount as i8),
            2 => dynasm!(asm ; .arch x64 ; sar ecx, amount.min(31) as i8),
            _ => dynasm!(asm ; .arch x64 ; ror ecx, (amount & 31) as i8),
        }
    }

    fn shift(&mut self, op: Op, kind: u8, sets: bool) {
        let register = self.read(op.rm);
        let amount = op.shift;
        let is_whole = amount > 31;
        self.host_flags = if sets && !is_whole { HostFlags::Result } else { HostFlags::None };
        let asm = &mut self.asm;
        dynasm!(asm ; .arch x64 ; mov eax, Rd(register));
        match kind {
            0 => dynasm!(asm ; .arch x64 ; shl eax, (amount & 31) as i8),
            // The last bit that leaves is the sign.
            1 if is_whole => dynasm!(asm ; .arch x64 ; bt eax, 31 ; mov eax, 0),
            1 => dynasm!(asm ; .arch x64 ; shr eax, amount as i8),
            _ if is_whole => dynasm!(asm ; .arch x64 ; sar eax, 31 ; bt eax, 31),
            _ => dynasm!(asm ; .arch x64 ; sar eax, amount as i8),
        }
        let target = self.write(op.rd);
        dynasm!(self.asm ; .arch x64 ; mov Rd(target), eax);
        if sets {
            if self.live & flags::C != 0 {
                dynasm!(self.asm ; .arch x64 ; setc [rbx + self.at.c]);
            }
            self.set_nz();
        }
    }

    /// Shifts in 64 bits, so that the last bit that leaves is still there; more than 32 places are as many as 40.
    fn shift_by_register(&mut self, op: Op, kind: u8, sets: bool) {
        let (value, amount) = (self.read(op.rn), self.read(op.rm));
        self.host_flags = HostFlags::None;
        let asm = &mut self.asm;
        dynasm!(asm ; .arch x64 ; movzx ecx, Rb(amount));
        if kind < 3 {
            dynasm!(asm ; .arch x64 ; cmp ecx, 40 ; jbe >few ; mov ecx, 40 ; few:);
        }
        match kind {
            0 => dynasm!(asm ; .arch x64 ; mov eax, Rd(value) ; shl rax, cl),
            1 => dynasm!(asm ; .arch x64 ; mov eax, Rd(value) ; add rax, rax ; shr rax, cl),
            2 => dynasm!(asm ; .arch x64 ; movsxd rax, Rd(value) ; add rax, rax ; sar rax, cl),
            _ => dynasm!(asm ; .arch x64 ; mov eax, Rd(value) ; ror eax, cl),
        }
        if sets && self.live & flags::C != 0 {
            dynasm!(asm ; .arch x64 ; test ecx, ecx ; jz >same);
            match kind {
                0 => dynasm!(asm ; .arch x64 ; bt rax, 32),
                1 | 2 => dynasm!(asm ; .arch x64 ; bt eax, 0),
                _ => dynasm!(asm ; .arch x64 ; bt eax, 31),
            }
            dynasm!(asm ; .arch x64 ; setc [rbx + self.at.c] ; same:);
        }
        if matches!(kind, 1 | 2) {
            dynasm!(asm ; .arch x64 ; shr rax, 1);
        }
        let target = self.write(op.rd);
        dynasm!(self.asm ; .arch x64 ; mov Rd(target), eax);
        if sets {
            self.set_nz();
        }
    }

    fn other(&mut self, op: Op) {
        self.host_flags = HostFlags::None;
        let number = op.code as u8;
        match number {
            code::Ubfx | code::Sbfx => self.extract(op),
            code::Bfi => self.insert(op),
            code::Rev | code::Rev16 | code::Revsh => self.reverse(op),
            code::Sxtb..=code::Uxth | code::Sxtab..=code::Uxtah => self.extend(op),
            code::MovToSp => {
                let source = self.read(op.rm);
                dynasm!(self.asm ; .arch x64 ; mov eax, Rd(source) ; and eax, -4);
                let target = self.write(13);
                dynasm!(self.asm ; .arch x64 ; mov Rd(target), eax);
            }
            code::Movt => {
                let target = self.read(op.rd);
                self.write(op.rd);
                dynasm!(self.asm ; .arch x64 ; movzx Rd(target), Rw(target) ; or Rd(target), op.imm as i32);
            }
            _ => self.multiply(op),
        }
    }

    fn multiply(&mut self, op: Op) {
        let (first, second) = (self.read(op.rn), self.read(op.rm));
        dynasm!(self.asm ; .arch x64 ; mov eax, Rd(first) ; imul eax, Rd(second));
        if matches!(op.code, Code::Mla | Code::Mls) {
            let third = self.read(op.ra);
            if op.code == Code::Mla {
                dynasm!(self.asm ; .arch x64 ; add eax, Rd(third));
            } else {
                dynasm!(self.asm ; .arch x64 ; neg eax ; add eax, Rd(third));
            }
        }
        let target = self.write(op.rd);
        dynasm!(self.asm ; .arch x64 ; mov Rd(target), eax);
        if op.code == Code::MulS {
            self.set_nz();
        }
    }

    fn extract(&mut self, op: Op) {
        let source = self.read(op.rn);
        let (above, unused) = ((32 - op.shift - op.ra) as i8, (32 - op.shift) as i8);
        let asm = &mut self.asm;
        dynasm!(asm ; .arch x64 ; mov eax, Rd(source) ; shl eax, above);
        if op.code == Code::Ubfx {
            dynasm!(asm ; .arch x64 ; shr eax, unused);
        } else {
            dynasm!(asm ; .arch x64 ; sar eax, unused);
        }
        let target = self.write(op.rd);
        dynasm!(self.asm ; .arch x64 ; mov Rd(target), eax);
    }

    fn insert(&mut self, op: Op) {
        let mask = (u32::MAX >> (32 - u32::from(op.shift))) << op.ra;
        let source = (op.rn != 15).then(|| self.read(op.rn));
        let target = self.read(op.rd);
        self.write(op.rd);
        let asm = &mut self.asm;
        if let Some(source) = source {
            dynasm!(asm ; .arch x64 ; mov eax, Rd(source) ; shl eax, op.ra as i8 ; and eax, mask as i32);
        }
        dynasm!(asm ; .arch x64 ; and Rd(target), !mask as i32);
        if source.is_some() {
            dynasm!(asm ; .arch x64 ; or Rd(target), eax);
        }
    }

    fn reverse(&mut self, op: Op) {
        let source = self.read(op.rm);
        let asm = &mut self.asm;
        dynasm!(asm ; .arch x64 ; mov eax, Rd(source) ; bswap eax);
        match op.code {
            Code::Rev16 => dynasm!(asm ; .arch x64 ; rol eax, 16),
            Code::Revsh => dynasm!(asm ; .arch x64 ; sar eax, 16),
            _ => {}
        }
        let target = self.write(op.rd);
        dynasm!(self.asm ; .arch x64 ; mov Rd(target), eax);
    }

    fn extend(&mut self, op: Op) {
        let source = self.read(op.rm);
        let asm = &mut self.asm;
        dynasm!(asm ; .arch x64 ; mov eax, Rd(source));
        if op.shift & 31 != 0 {
            dynasm!(asm ; .arch x64 ; ror eax, (op.shift & 31) as i8);
        }
        match op.code {
            Code::Sxtb | Code::Sxtab => dynasm!(asm ; .arch x64 ; movsx eax, al),
            Code::Sxth | Code::Sxtah => dynasm!(asm ; .arch x64 ; movsx eax, ax),
            Code::Uxtb | Code::Uxtab => dynasm!(asm ; .arch x64 ; movzx eax, al),
            _ => dynasm!(asm ; .arch x64 ; movzx eax, ax),
        }
        if matches!(op.code, Code::Sxtab | Code::Sxtah | Code::Uxtab | Code::Uxtah) {
            let more = self.read(op.rn);
            dynasm!(self.asm ; .arch x64 ; add eax, Rd(more));
        }
        let target = self.write(op.rd);
        dynasm!(self.asm ; .arch x64 ; mov Rd(target), eax);
    }

    /// Moves of floating-point registers; false for everything else.
    pub fn float(&mut self, number: u32, op: Op) -> bool {
        if !matches!(op.code, Code::Vmov32 | Code::VmovToCore | Code::VmovFromCore) {
            return false;
        }
        let exit = self.exit(number);
        self.host_flags = HostFlags::None;
        dynasm!(self.asm ; .arch x64 ; cmp BYTE [rbx + self.at.float_ready], 0 ; je =>exit);
        let s = self.at.s;
        let single = |register: u8| s + 4 * i32::from(register);
        match op.code {
            Code::VmovToCore => {
                let target = self.write(op.rd);
                dynasm!(self.asm ; .arch x64 ; mov Rd(target), [rbx + single(op.rn)]);
            }
            Code::VmovFromCore => {
                let source = self.read(op.rn);
                dynasm!(self.asm ; .arch x64 ; mov [rbx + single(op.rd)], Rd(source));
            }
            _ => {
                dynasm!(self.asm ; .arch x64 ; mov eax, [rbx + single(op.rm)]);
                match op.ra % 3 {
                    1 => dynasm!(self.asm ; .arch x64 ; and eax, i32::MAX),
                    2 => dynasm!(self.asm ; .arch x64 ; xor eax, i32::MIN),
                    _ => {}
                }
                dynasm!(self.asm ; .arch x64 ; mov [rbx + single(op.rd)], eax);
            }
        }
        true
    }
}
