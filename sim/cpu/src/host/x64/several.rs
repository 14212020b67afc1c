//! Loads and stores of several words of main RAM.

use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};

use super::NativeCodeEmitter;
use super::access_forms::Block;
use crate::v7m::code::Code;
use crate::v7m::op::{Op, flag};

impl NativeCodeEmitter {
    /// Emits LDRD or STRD. Returns false if it cannot be JIT-compiled.
    pub(super) fn emit_doubleword_load_or_store(&mut self, number: u32, op: Op, block: Block) -> bool {
        let base = self.host_register_of_guest_value(op.rn);
        let offset = if op.has_flag(flag::POST_INDEXED) { 0 } else { op.imm };
        let start = self.ram.wrapping_add(block.first);
        dynasm!(self.asm ; .arch x64 ; lea ecx, [Rq(base) + offset.wrapping_sub(start) as i32]);
        let exit = self.label_of_exit_before_instruction(number);
        self.emit_bounds_check(block, 4, 2, exit);
        let first = block.first as i32;
        if op.code == Code::Strd {
            self.emit_code_or_watch_store_check(block, 4, 2, exit);
            let (low, high) = (self.host_register_of_guest_value(op.rd), self.host_register_of_guest_value(op.ra));
            dynasm!(self.asm
                ; .arch x64
                ; mov [rbp + rcx * 4 + first], Rd(low)
                ; mov [rbp + rcx * 4 + (first + 4)], Rd(high)
            );
            self.emit_recent_store_table_update(block, 4, 2);
        } else {
            self.emit_log_of_stores_before_load(block, 4, exit);
            let low = self.host_register_for_new_value(op.rd);
            dynasm!(self.asm ; .arch x64 ; mov Rd(low), [rbp + rcx * 4 + first]);
            let high = self.host_register_for_new_value(op.ra);
            dynasm!(self.asm ; .arch x64 ; mov Rd(high), [rbp + rcx * 4 + (first + 4)]);
        }
        if op.has_flag(flag::PRE_INDEXED | flag::POST_INDEXED) {
            self.emit_base_register_addition(op, op.imm);
        }
        true
    }

    /// Emits LDM or STM. Returns false if it cannot be JIT-compiled.
    pub(super) fn emit_load_or_store_multiple(&mut self, number: u32, op: Op, ip: u64, block: Block) -> bool {
        let count = u32::from(op.shift);
        let listed = |register: u8| op.imm >> register & 1 != 0;
        if listed(op.rn) || listed(13) {
            return false;
        }
        let base = self.host_register_of_guest_value(op.rn);
        let less = if op.ra == 0 { 0 } else { 4 * count };
        let start = self.ram.wrapping_add(block.first).wrapping_add(less);
        dynasm!(self.asm ; .arch x64 ; lea ecx, [Rq(base) + start.wrapping_neg() as i32]);
        let exit = self.label_of_exit_before_instruction(number);
        self.emit_bounds_check(block, 4, count, exit);
        if op.code == Code::Stm {
            self.emit_code_or_watch_store_check(block, 4, count, exit);
            self.log_stores(block, 4, count);
        }
        let mut place = block.first as i32;
        if op.code == Code::LdmPc {
            self.emit_branch_target_check(place + 4 * (count as i32 - 1), exit);
        }
        if op.code != Code::Stm {
            self.emit_log_of_stores_before_load(block, 4, exit);
            self.log_loads(block, 4, count);
        }
        if op.has_flag(flag::POST_INDEXED) {
            self.emit_base_register_addition(op, if op.ra == 0 { 4 * count } else { less.wrapping_neg() });
        }
        for register in (0..15).filter(|&register| listed(register)) {
            self.registers.unlock_all_registers();
            if op.code == Code::Stm {
                let value = self.host_register_of_guest_value(register);
                dynasm!(self.asm ; .arch x64 ; mov [rbp + rcx * 4 + place], Rd(value));
            } else {
                let value = self.host_register_for_new_value(register);
                dynasm!(self.asm ; .arch x64 ; mov Rd(value), [rbp + rcx * 4 + place]);
            }
            place += 4;
        }
        match op.code {
            Code::LdmPc => {
                dynasm!(self.asm ; .arch x64 ; mov eax, [rbp + rcx * 4 + place]);
                self.emit_register_branch_prediction_log(ip);
                self.emit_jump();
            }
            Code::Stm => self.emit_recent_store_table_update(block, 4, count),
            _ => {}
        }
        true
    }

    /// Emits POP of the `count` low registers in the mask and of the PC, and leaves the path unless the loaded PC is
    /// `pc`.
    pub fn emit_pop_to_expected_pc(&mut self, number: u32, mask: u32, count: u32, pc: u32, block: Block) {
        let base = self.host_register_of_guest_value(13);
        let start = self.ram.wrapping_add(block.first);
        dynasm!(self.asm ; .arch x64 ; lea ecx, [Rq(base) + start.wrapping_neg() as i32]);
        let exit = self.label_of_exit_before_instruction(number);
        self.emit_bounds_check(block, 4, count + 1, exit);
        let mut place = block.first as i32;
        dynasm!(self.asm ; .arch x64 ; cmp DWORD [rbp + rcx * 4 + place + 4 * count as i32], pc as i32 ; jne =>exit);
        self.registers.mark_register_dirty(13);
        dynasm!(self.asm ; .arch x64 ; add Rd(base), 4 * (count as i32 + 1));
        for register in (0..8).filter(|&register| mask >> register & 1 != 0) {
            self.registers.unlock_all_registers();
            let value = self.host_register_for_new_value(register);
            dynasm!(self.asm ; .arch x64 ; mov Rd(value), [rbp + rcx * 4 + place]);
            place += 4;
        }
    }
}
