//! Data processing: what touches nothing but registers and flags. See [`crate::v7m::exec`]'s `registers` for what each
//! code does.

use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};

use super::forms::{
    Form, Second, Work, constant_shift_kind, data_processing_properties, is_rare_data_processing, register_shift_kind,
};
use super::{HostCpuFlagsSource, NativeCodeEmitter, RAX, flags};
use crate::v7m::code::{Code, number as code};
use crate::v7m::op::Op;

impl NativeCodeEmitter {
    /// Emits x86-64 code for an instruction that only changes registers and flags. Returns false if it cannot be
    /// JIT-compiled.
    pub fn emit_register_only_instruction(&mut self, op: Op) -> bool {
        if let Some(form) = data_processing_properties(op) {
            self.emit_data_processing_instruction(op, form);
        } else if let Some((kind, sets)) = constant_shift_kind(op) {
            self.emit_shift(op, kind, sets);
        } else if let Some((kind, sets)) = register_shift_kind(op) {
            self.write_shift_by_register(op, kind, sets);
        } else if is_rare_data_processing(op) {
            self.emit_rare_data_processing(op);
        } else {
            return false;
        }
        true
    }

    /// Emits a data-processing instruction as one or two host instructions on its registers. Returns false if that is
    /// impossible.
    fn emit_as_host_instructions(&mut self, op: Op, form: Form) -> bool {
        let Form { work, second, sets, tests } = form;
        let is_known = match (second, work) {
            (Second::Shifted, _) => false,
            (_, Work::And | Work::Orr | Work::Eor | Work::Add | Work::Sub | Work::Mov) => true,
            (Second::Constant, Work::Bic | Work::Orn | Work::Mvn) => true,
            _ => false,
        };
        if !is_known {
            return false;
        }
        let constant = if matches!(work, Work::Bic | Work::Orn | Work::Mvn) { !op.imm } else { op.imm } as i32;
        let first = (!matches!(work, Work::Mov | Work::Mvn)).then(|| self.host_register_of_guest_value(op.rn));
        let register = (second == Second::Register).then(|| self.host_register_of_guest_value(op.rm));
        // A difference cannot be taken where the second operand is.
        if work == Work::Sub && !tests && op.rd == op.rm && op.rd != op.rn && register.is_some() {
            return false;
        }
        let target = if tests { RAX } else { self.host_register_for_new_value(op.rd) };
        self.host_flags = HostCpuFlagsSource::None;
        match (first, register) {
            (None, None) => dynasm!(self.asm ; .arch x64 ; mov Rd(target), constant),
            (None, Some(register)) => dynasm!(self.asm ; .arch x64 ; mov Rd(target), Rd(register)),
            (Some(first), register) => self.emit_binary_operation(work, sets, target, (first, register, constant)),
        }
        if sets {
            self.emit_flag_stores(op, form, target);
        }
        true
    }

    /// Emits code that sets host register `target` to the result of a binary operation. The second operand is a
    /// register or else a constant.
    fn emit_binary_operation(
        &mut self,
        work: Work,
        sets: bool,
        target: u8,
        (first, register, constant): (u8, Option<u8>, i32),
    ) {
        let asm = &mut self.asm;
        let (first, register) = match register {
            // What is in the target already comes first. (Of a difference that is the first operand.)
            Some(register) if register == target => (register, Some(first)),
            register => (first, register),
        };
        match (work, register, sets || first == target) {
            (Work::Add, Some(register), false) => dynasm!(asm ; .arch x64 ; lea Rd(target), [Rq(first) + Rq(register)]),
            (Work::Add, None, false) => dynasm!(asm ; .arch x64 ; lea Rd(target), [Rq(first) + constant]),
            (Work::Sub, None, false) => {
                dynasm!(asm ; .arch x64 ; lea Rd(target), [Rq(first) + constant.wrapping_neg()]);
            }
            _ => {
                if first != target {
                    dynasm!(asm ; .arch x64 ; mov Rd(target), Rd(first));
                }
                match (work, register) {
                    (Work::And, Some(register)) => dynasm!(asm ; .arch x64 ; and Rd(target), Rd(register)),
                    (Work::Orr, Some(register)) => dynasm!(asm ; .arch x64 ; or Rd(target), Rd(register)),
                    (Work::Eor, Some(register)) => dynasm!(asm ; .arch x64 ; xor Rd(target), Rd(register)),
                    (Work::Sub, Some(register)) => dynasm!(asm ; .arch x64 ; sub Rd(target), Rd(register)),
                    (_, Some(register)) => dynasm!(asm ; .arch x64 ; add Rd(target), Rd(register)),
                    (Work::And | Work::Bic, None) => dynasm!(asm ; .arch x64 ; and Rd(target), constant),
                    (Work::Orr | Work::Orn, None) => dynasm!(asm ; .arch x64 ; or Rd(target), constant),
                    (Work::Eor, None) => dynasm!(asm ; .arch x64 ; xor Rd(target), constant),
                    (Work::Sub, None) => dynasm!(asm ; .arch x64 ; sub Rd(target), constant),
                    (_, None) => dynasm!(asm ; .arch x64 ; add Rd(target), constant),
                }
            }
        }
    }

    /// Emits code that stores the flags which are needed later, from the host's flags and the result.
    fn emit_flag_stores(&mut self, op: Op, form: Form, result: u8) {
        let Form { work, second, .. } = form;
        let is_sum = matches!(work, Work::Add | Work::Adc | Work::Sub | Work::Sbc | Work::Rsb);
        self.host_flags = match work {
            Work::Sub | Work::Rsb | Work::Sbc => HostCpuFlagsSource::Difference,
            Work::Mov | Work::Mvn => HostCpuFlagsSource::None,
            _ => HostCpuFlagsSource::Result,
        };
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
        self.emit_nz_stores(result);
    }

    /// Emits a data-processing instruction (AND, ADD, MOV and so on) by way of eax and ecx if need be.
    fn emit_data_processing_instruction(&mut self, op: Op, form: Form) {
        if self.emit_as_host_instructions(op, form) {
            return;
        }
        let Form { work, second, sets, tests } = form;
        let first = (!matches!(work, Work::Mov | Work::Mvn)).then(|| self.host_register_of_guest_value(op.rn));
        // The second operand: a constant, or ecx where its register is not to be had as it is.
        let register = (second != Second::Constant).then(|| self.host_register_of_guest_value(op.rm));
        if let (Second::Shifted, Some(register)) = (second, register) {
            self.emit_shifted_operand(op, register);
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
        self.host_flags = HostCpuFlagsSource::None;
        if !tests {
            let target = self.host_register_for_new_value(op.rd);
            dynasm!(self.asm ; .arch x64 ; mov Rd(target), eax);
        }
        if sets {
            self.emit_flag_stores(op, form, RAX);
        }
    }

    /// Emits code that stores N and Z of a result. It changes rax and keeps the host's flags.
    fn emit_nz_stores(&mut self, result: u8) {
        if self.live & flags::NZ != 0 {
            dynasm!(self.asm ; .arch x64 ; movsxd rax, Rd(result) ; mov [rbx + self.at.nz], rax);
        }
    }

    /// Emits code that loads a register, shifted by the op's constant, into ecx.
    fn emit_shifted_operand(&mut self, op: Op, register: u8) {
        self.host_flags = HostCpuFlagsSource::None;
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

    /// Emits LSL, LSR, ASR or ROR by a constant.
    fn emit_shift(&mut self, op: Op, kind: u8, sets: bool) {
        let register = self.host_register_of_guest_value(op.rm);
        let amount = op.shift;
        let is_whole = amount > 31;
        self.host_flags = if sets && !is_whole { HostCpuFlagsSource::Result } else { HostCpuFlagsSource::None };
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
        let target = self.host_register_for_new_value(op.rd);
        dynasm!(self.asm ; .arch x64 ; mov Rd(target), eax);
        if sets {
            if self.live & flags::C != 0 {
                dynasm!(self.asm ; .arch x64 ; setc [rbx + self.at.c]);
            }
            self.emit_nz_stores(RAX);
        }
    }

    /// Emits LSL, LSR, ASR or ROR by a register. More than 32 places are as many as 40.
    fn write_shift_by_register(&mut self, op: Op, kind: u8, sets: bool) {
        let (value, amount) = (self.host_register_of_guest_value(op.rn), self.host_register_of_guest_value(op.rm));
        self.host_flags = HostCpuFlagsSource::None;
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
        let target = self.host_register_for_new_value(op.rd);
        dynasm!(self.asm ; .arch x64 ; mov Rd(target), eax);
        if sets {
            self.emit_nz_stores(RAX);
        }
    }

    /// Emits bit-field, byte-reversal, extension, MOVT, move-to-SP and multiply instructions.
    fn emit_rare_data_processing(&mut self, op: Op) {
        self.host_flags = HostCpuFlagsSource::None;
        let number = op.code as u8;
        match number {
            code::Ubfx | code::Sbfx => self.emit_bit_field_extract(op),
            code::Bfi => self.emit_bit_field_insert(op),
            code::Rev | code::Rev16 | code::Revsh => self.emit_byte_reversal(op),
            code::Sxtb..=code::Uxth | code::Sxtab..=code::Uxtah => self.emit_sign_or_zero_extension(op),
            code::MovToSp => {
                let source = self.host_register_of_guest_value(op.rm);
                dynasm!(self.asm ; .arch x64 ; mov eax, Rd(source) ; and eax, -4);
                let target = self.host_register_for_new_value(13);
                dynasm!(self.asm ; .arch x64 ; mov Rd(target), eax);
            }
            code::Movt => {
                let target = self.host_register_of_guest_value(op.rd);
                self.host_register_for_new_value(op.rd);
                dynasm!(self.asm ; .arch x64 ; movzx Rd(target), Rw(target) ; or Rd(target), op.imm as i32);
            }
            _ => self.emit_multiplication(op),
        }
    }

    /// Emits MUL, MLA or MLS.
    fn emit_multiplication(&mut self, op: Op) {
        let (first, second) = (self.host_register_of_guest_value(op.rn), self.host_register_of_guest_value(op.rm));
        dynasm!(self.asm ; .arch x64 ; mov eax, Rd(first) ; imul eax, Rd(second));
        if matches!(op.code, Code::Mla | Code::Mls) {
            let third = self.host_register_of_guest_value(op.ra);
            if op.code == Code::Mla {
                dynasm!(self.asm ; .arch x64 ; add eax, Rd(third));
            } else {
                dynasm!(self.asm ; .arch x64 ; neg eax ; add eax, Rd(third));
            }
        }
        let target = self.host_register_for_new_value(op.rd);
        dynasm!(self.asm ; .arch x64 ; mov Rd(target), eax);
        if op.code == Code::MulS {
            self.emit_nz_stores(RAX);
        }
    }

    /// Emits UBFX or SBFX.
    fn emit_bit_field_extract(&mut self, op: Op) {
        let source = self.host_register_of_guest_value(op.rn);
        let (above, unused) = ((32 - op.shift - op.ra) as i8, (32 - op.shift) as i8);
        let asm = &mut self.asm;
        dynasm!(asm ; .arch x64 ; mov eax, Rd(source) ; shl eax, above);
        if op.code == Code::Ubfx {
            dynasm!(asm ; .arch x64 ; shr eax, unused);
        } else {
            dynasm!(asm ; .arch x64 ; sar eax, unused);
        }
        let target = self.host_register_for_new_value(op.rd);
        dynasm!(self.asm ; .arch x64 ; mov Rd(target), eax);
    }

    /// Emits BFI or BFC.
    fn emit_bit_field_insert(&mut self, op: Op) {
        let mask = (u32::MAX >> (32 - u32::from(op.shift))) << op.ra;
        let source = (op.rn != 15).then(|| self.host_register_of_guest_value(op.rn));
        let target = self.host_register_of_guest_value(op.rd);
        self.host_register_for_new_value(op.rd);
        let asm = &mut self.asm;
        if let Some(source) = source {
            dynasm!(asm ; .arch x64 ; mov eax, Rd(source) ; shl eax, op.ra as i8 ; and eax, mask as i32);
        }
        dynasm!(asm ; .arch x64 ; and Rd(target), !mask as i32);
        if source.is_some() {
            dynasm!(asm ; .arch x64 ; or Rd(target), eax);
        }
    }

    /// Emits REV, REV16 or REVSH.
    fn emit_byte_reversal(&mut self, op: Op) {
        let source = self.host_register_of_guest_value(op.rm);
        let asm = &mut self.asm;
        dynasm!(asm ; .arch x64 ; mov eax, Rd(source) ; bswap eax);
        match op.code {
            Code::Rev16 => dynasm!(asm ; .arch x64 ; rol eax, 16),
            Code::Revsh => dynasm!(asm ; .arch x64 ; sar eax, 16),
            _ => {}
        }
        let target = self.host_register_for_new_value(op.rd);
        dynasm!(self.asm ; .arch x64 ; mov Rd(target), eax);
    }

    /// Emits a sign or zero extension of a byte or halfword (SXTB, UXTH and so on), with or without addition.
    fn emit_sign_or_zero_extension(&mut self, op: Op) {
        let source = self.host_register_of_guest_value(op.rm);
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
            let more = self.host_register_of_guest_value(op.rn);
            dynasm!(self.asm ; .arch x64 ; add eax, Rd(more));
        }
        let target = self.host_register_for_new_value(op.rd);
        dynasm!(self.asm ; .arch x64 ; mov Rd(target), eax);
    }

    /// Emits a move of a floating-point register. Returns false for every other instruction.
    pub fn emit_float_move(&mut self, number: u32, op: Op) -> bool {
        if !matches!(op.code, Code::Vmov32 | Code::VmovToCore | Code::VmovFromCore) {
            return false;
        }
        let exit = self.label_of_exit_before_instruction(number);
        self.host_flags = HostCpuFlagsSource::None;
        dynasm!(self.asm ; .arch x64 ; cmp BYTE [rbx + self.at.float_ready], 0 ; je =>exit);
        let s = self.at.s;
        let single = |register: u8| s + 4 * i32::from(register);
        match op.code {
            Code::VmovToCore => {
                let target = self.host_register_for_new_value(op.rd);
                dynasm!(self.asm ; .arch x64 ; mov Rd(target), [rbx + single(op.rn)]);
            }
            Code::VmovFromCore => {
                let source = self.host_register_of_guest_value(op.rn);
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
