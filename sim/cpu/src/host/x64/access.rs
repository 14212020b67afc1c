//! Loads and stores of main RAM.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

use super::super::{CachedConstantMemory, MARKED_BYTES, NativeSpeculationLogLayout, WatchedStoreLayout};
use super::access_forms::{
    Block, Form, Memory, accessed_word_offset, has_constant_offset, has_register_offset, is_literal_access,
    load_store_properties, writes_base_back,
};
use super::prediction::MARKS;
use super::spans::{BoundsCheckedWordRange, FAR};
use super::{HostCpuFlagsSource, NativeCodeEmitter, RAX};
use crate::v7m::code::Code;
use crate::v7m::op::Op;

/// log2 of the bytes that share a mark.
const MARK_SHIFT: u32 = MARKED_BYTES.ilog2();

/// Code that is emitted later, for a store near marked bytes of RAM: before the store, the bus is asked whether it
/// changes code or a watched word.
pub(super) struct CodeOrWatchStoreCheck {
    marked: DynamicLabel,
    /// The place where they are made.
    fine: DynamicLabel,
    exit: DynamicLabel,
    /// log2 of the bytes of an item. The offset of the block in which ecx counts them.
    turned: u32,
    first: u32,
    count: u32,
}

/// Loads what has such a form to where `op` says: from the first place if it is a byte, the second if it is half a
/// word, else the third.
macro_rules! load {
    ($writer:expr, $op:expr, $form:expr, $byte:tt, $half:tt, $word:tt) => {
        let value = if $form.single { RAX } else { $writer.host_register_for_new_value($op.rd) };
        let asm = &mut $writer.asm;
        match ($form.bytes, $form.signed) {
            (1, false) => dynasm!(asm ; .arch x64 ; movzx Rd(value), BYTE $byte),
            (1, true) => dynasm!(asm ; .arch x64 ; movsx Rd(value), BYTE $byte),
            (2, false) => dynasm!(asm ; .arch x64 ; movzx Rd(value), WORD $half),
            (2, true) => dynasm!(asm ; .arch x64 ; movsx Rd(value), WORD $half),
            _ => dynasm!(asm ; .arch x64 ; mov Rd(value), $word),
        }
        if $form.single {
            dynasm!(asm ; .arch x64 ; mov [rbx + $writer.at.s + 4 * i32::from($op.rd)], eax);
        }
    };
}

impl NativeCodeEmitter {
    /// Emits a load or store at `ip` that reached this memory when the path was recorded. Returns false if it cannot be
    /// JIT-compiled.
    pub fn emit_load_or_store(&mut self, number: u32, op: Op, ip: u64, memory: Memory) -> bool {
        match (memory, op.code) {
            (Memory::Ram(block), Code::Ldrd | Code::Strd) if op.rn != 15 => {
                return self.emit_doubleword_load_or_store(number, op, block);
            }
            (Memory::Ram(block), Code::Ldm | Code::LdmPc | Code::Stm) => {
                return self.emit_load_or_store_multiple(number, op, ip, block);
            }
            _ => {}
        }
        let Some(form) = load_store_properties(op) else { return false };
        if form.single {
            let exit = self.label_of_exit_before_instruction(number);
            self.host_flags = HostCpuFlagsSource::None;
            dynasm!(self.asm ; .arch x64 ; cmp BYTE [rbx + self.at.float_ready], 0 ; je =>exit);
        }
        let block = match memory {
            Memory::Ram(block) => block,
            Memory::Elsewhere(home) => return self.emit_bus_load(number, op, form, home),
        };
        let base = (!is_literal_access(op)).then(|| self.host_register_of_guest_value(op.rn));
        let index = has_register_offset(op).then(|| self.host_register_of_guest_value(op.rm));
        let value = (form.store && !form.single).then(|| self.host_register_of_guest_value(op.rd));
        let checked =
            accessed_word_offset(op).filter(|&offset| self.is_word_offset_bounds_checked(op.rn, block, offset));
        let is_plain = !(form.store || form.single || self.foresight.is_some() || self.ahead.is_some());
        if let (Some(offset), Some(base), true) = (checked, base, is_plain) {
            let value = self.host_register_for_new_value(op.rd);
            let from = offset.wrapping_sub(self.ram as i32);
            dynasm!(self.asm ; .arch x64 ; mov Rd(value), [rbp + Rq(base) + from]);
            return true;
        }
        let exit = self.label_of_exit_before_instruction(number);
        self.emit_ram_item_index_calculation(op, base, index, (block, form.bytes), exit);
        let first = block.first as i32;
        if form.store {
            self.emit_code_or_watch_store_check(block, form.bytes, 1, exit);
            self.log_stores(block, form.bytes, 1);
            let asm = &mut self.asm;
            if form.single {
                dynasm!(asm ; .arch x64 ; mov eax, [rbx + self.at.s + 4 * i32::from(op.rd)]);
            }
            let value = value.unwrap_or(RAX);
            match form.bytes {
                1 => dynasm!(asm ; .arch x64 ; mov [rbp + rcx + first], Rb(value)),
                2 => dynasm!(asm ; .arch x64 ; mov [rbp + rcx * 2 + first], Rw(value)),
                _ => dynasm!(asm ; .arch x64 ; mov [rbp + rcx * 4 + first], Rd(value)),
            }
            self.emit_recent_store_table_update(block, form.bytes, 1);
            self.emit_base_write_back(op, base, index);
            return true;
        }
        self.emit_log_of_stores_before_load(block, form.bytes, exit);
        self.log_loads(block, form.bytes, 1);
        self.emit_base_write_back(op, base, index);
        load!(self, op, form, [rbp + rcx + first], [rbp + rcx * 2 + first], [rbp + rcx * 4 + first]);
        true
    }

    /// Emits a store to a watched word, by the instruction at `pc`. The code leaves the path before it if the function
    /// `asks` returns 0 for the context and the word's offset. Returns false if it cannot be JIT-compiled.
    pub fn emit_watched_store(
        &mut self,
        number: u32,
        op: Op,
        block: Block,
        (log, asks, pc): (WatchedStoreLayout, usize, u32),
    ) -> bool {
        if !load_store_properties(op).is_some_and(|form| form.store && form.bytes == 4 && !form.single)
            || writes_base_back(op)
        {
            return false;
        }
        let base = (!is_literal_access(op)).then(|| self.host_register_of_guest_value(op.rn));
        let index = has_register_offset(op).then(|| self.host_register_of_guest_value(op.rm));
        let value = self.host_register_of_guest_value(op.rd);
        let exit = self.label_of_exit_before_instruction(number);
        self.emit_ram_item_index_calculation(op, base, index, (block, 4), exit);
        self.host_flags = HostCpuFlagsSource::None;
        let first = block.first as i32;
        dynasm!(self.asm
            ; .arch x64
            ; push rcx ; push rdx ; push rsi ; push rdi ; push r8 ; push r9 ; push r10 ; push r11
            ; mov rdi, r13
            ; lea esi, [rcx * 4 + first]
            ; mov rax, QWORD asks as i64
            ; call rax
            ; pop r11 ; pop r10 ; pop r9 ; pop r8 ; pop rdi ; pop rsi ; pop rdx ; pop rcx
            ; test eax, eax
            ; jz =>exit
        );
        self.log_stores(block, 4, 1);
        dynasm!(self.asm
            ; .arch x64
            ; mov [rbp + rcx * 4 + first], Rd(value)
            ; lea eax, [rcx * 4 + first]
            ; mov DWORD [r15 + log.pc], pc as i32 ; mov [r15 + log.offset], eax ; mov [r15 + log.word], Rd(value)
            ; or DWORD [r15 + log.summons], log.summoned
        );
        true
    }

    /// Emits a load from constant memory that a cache contains.
    fn emit_constant_load(&mut self, number: u32, op: Op, form: Form, constants: CachedConstantMemory) {
        let base = (!is_literal_access(op)).then(|| self.host_register_of_guest_value(op.rn));
        let index = has_register_offset(op).then(|| self.host_register_of_guest_value(op.rm));
        self.emit_access_address_computation(op, base, index, constants.base);
        let exit = self.label_of_exit_before_instruction(number);
        self.emit_constant_in_cache_check(constants, form.bytes, exit);
        load!(self, op, form, [r13 + rcx], [r13 + rcx], [r13 + rcx]);
    }

    /// Emits a load from memory other than main RAM, by a call that asks the bus. Returns false if it cannot be
    /// JIT-compiled.
    fn emit_bus_load(&mut self, number: u32, op: Op, form: Form, home: u32) -> bool {
        if form.store || writes_base_back(op) {
            return false;
        }
        if let Some(constants) = self.constants {
            self.emit_constant_load(number, op, form, constants);
            return true;
        }
        let base = (!is_literal_access(op)).then(|| self.host_register_of_guest_value(op.rn));
        let index = has_register_offset(op).then(|| self.host_register_of_guest_value(op.rm));
        self.emit_access_address_computation(op, base, index, 0);
        self.host_flags = HostCpuFlagsSource::None;
        if form.bytes > 1 {
            let exit = self.label_of_exit_before_instruction(number);
            dynasm!(self.asm ; .arch x64 ; test cl, (form.bytes - 1) as i8 ; jnz =>exit);
        }
        dynasm!(self.asm ; .arch x64 ; mov eax, ecx);
        self.emit_register_write_back_for_call();
        self.emit_timing_log_save();
        dynasm!(self.asm
            ; .arch x64
            ; mov esi, eax
            ; mov edx, form.bytes as i32
            ; mov rdi, r13
            ; mov rax, QWORD self.loader as i64
            ; call rax
            ; mov rcx, rax
            ; shr rcx, 32
        );
        self.emit_timing_log_reload();
        self.registers.drop_registers_changed_by_call();
        let exit = self.label_of_exit_before_instruction(number);
        dynasm!(self.asm ; .arch x64 ; cmp ecx, home as i32 ; jne =>exit);
        self.emit_log_of_memory_bank(4);
        let value = if form.single { RAX } else { self.host_register_for_new_value(op.rd) };
        let asm = &mut self.asm;
        match (form.bytes, form.signed) {
            (1, true) => dynasm!(asm ; .arch x64 ; movsx Rd(value), al),
            (2, true) => dynasm!(asm ; .arch x64 ; movsx Rd(value), ax),
            _ if form.single => dynasm!(asm ; .arch x64 ; mov [rbx + self.at.s + 4 * i32::from(op.rd)], eax),
            _ => dynasm!(asm ; .arch x64 ; mov Rd(value), eax),
        }
        true
    }

    /// Emits an exit that is taken unless the word of RAM at offset `at` from item ecx is the address of an instruction
    /// in the code's region.
    pub(super) fn emit_branch_target_check(&mut self, at: i32, exit: DynamicLabel) {
        let place = self.place;
        dynasm!(self.asm
            ; .arch x64
            ; mov eax, [rbp + rcx * 4 + at]
            ; test al, 1
            ; jz =>exit
            ; sub eax, place.base as i32
            ; cmp eax, place.bytes as i32
            ; jae =>exit
        );
    }

    /// Emits BX or BLX.
    pub fn emit_bx_or_blx(&mut self, number: u32, op: Op, ip: u64) {
        let place = self.place;
        let target = self.host_register_of_guest_value(op.rm);
        let exit = self.label_of_exit_before_instruction(number);
        self.host_flags = HostCpuFlagsSource::None;
        dynasm!(self.asm
            ; .arch x64
            ; mov eax, Rd(target)
            ; test al, 1
            ; jz =>exit
            ; lea ecx, [rax + place.base.wrapping_neg() as i32]
            ; cmp ecx, place.bytes as i32
            ; jae =>exit
        );
        self.emit_register_branch_prediction_log(ip);
        if op.code == Code::Blx {
            let link = self.place.instruction_address_of_op(ip).wrapping_add(3);
            let host = self.host_register_for_new_value(14);
            dynasm!(self.asm ; .arch x64 ; mov Rd(host), link as i32);
        }
        self.emit_jump();
    }

    /// Emits a jump to the board address in eax, which was found to be in the code's region.
    pub(super) fn emit_jump(&mut self) {
        let place = self.place;
        let asm = &mut self.asm;
        dynasm!(asm ; .arch x64 ; sub eax, (place.base + 1) as i32 ; mov rcx, QWORD place.ops as i64);
        match place.op_bytes {
            8 => dynasm!(asm ; .arch x64 ; lea rax, [rcx + rax * 4]),
            _ => dynasm!(asm ; .arch x64 ; lea rax, [rcx + rax * 8]),
        }
        dynasm!(asm ; .arch x64 ; mov [rbx + self.at.ip], rax);
    }

    /// Emits an exit that is taken unless `count` accesses of `bytes` from offset ecx of the block are inside it and
    /// aligned. Ecx becomes a number of such items.
    pub(super) fn emit_bounds_check(&mut self, block: Block, bytes: u32, count: u32, exit: DynamicLabel) {
        self.host_flags = HostCpuFlagsSource::None;
        let asm = &mut self.asm;
        // Turned by as many bits as must be zero, no address that is not aligned is in range.
        let turned = bytes.ilog2();
        if turned != 0 {
            dynasm!(asm ; .arch x64 ; ror ecx, turned as i8);
        }
        let places = block.bytes.div_ceil(bytes) - (count - 1);
        dynasm!(asm ; .arch x64 ; cmp ecx, places as i32 ; jae =>exit);
    }

    /// Emits an exit that is taken if one of `count` stores, from item number ecx on, would change code or a watched
    /// word.
    pub(super) fn emit_code_or_watch_store_check(&mut self, block: Block, bytes: u32, count: u32, exit: DynamicLabel) {
        let (turned, first) = (bytes.ilog2(), (block.first >> MARK_SHIFT) as i32);
        if self.foresight.is_some() {
            dynasm!(self.asm ; .arch x64 ; mov r13, [rsp + MARKS]);
        }
        let marked = if self.near.is_some() { self.asm.new_dynamic_label() } else { exit };
        let ends: &[u32] = if count == 1 { &[0] } else { &[0, count - 1] };
        for &further in ends {
            let asm = &mut self.asm;
            dynasm!(asm ; .arch x64 ; lea eax, [rcx + further as i32] ; shr eax, (MARK_SHIFT - turned) as i8);
            match (self.ahead, self.foresight) {
                (Some((NativeSpeculationLogLayout { marks, .. }, _)), _) => {
                    dynasm!(asm ; .arch x64 ; add rax, [r13 + marks] ; cmp BYTE [rax + first], 0);
                }
                (None, Some(_)) => dynasm!(asm ; .arch x64 ; cmp BYTE [r13 + rax + first], 0),
                (None, None) => dynasm!(asm ; .arch x64 ; cmp BYTE [r12 + rax + first], 0),
            }
            dynasm!(asm ; .arch x64 ; jne =>marked);
        }
        if marked != exit {
            let fine = self.asm.new_dynamic_label();
            dynasm!(self.asm ; .arch x64 ; =>fine);
            self.near_marks.push(CodeOrWatchStoreCheck { marked, fine, exit, turned, first: block.first, count });
        }
    }

    /// Emits the calls that ask the bus, for stores near marked bytes of RAM, whether they change code or a watched
    /// word.
    pub(super) fn emit_code_or_watch_store_checks(&mut self) {
        let function = self.near.unwrap_or(0);
        for CodeOrWatchStoreCheck { marked, fine, exit, turned, first, count } in std::mem::take(&mut self.near_marks) {
            dynasm!(self.asm
                ; .arch x64
                ; =>marked
                ; push rcx ; push rdx ; push rsi ; push rdi ; push r8 ; push r9 ; push r10 ; push r11
                ; mov rdi, r13
                ; mov esi, ecx
                ; shl esi, turned as i8
                ; add esi, first as i32
                ; mov edx, count as i32
                ; mov rax, QWORD function as i64
                ; call rax
                ; pop r11 ; pop r10 ; pop r9 ; pop r8 ; pop rdi ; pop rsi ; pop rdx ; pop rcx
                ; test eax, eax
                ; jz =>exit
                ; jmp =>fine
            );
        }
    }

    /// Returns whether the word at this offset from the base register was already found to be inside the block.
    fn is_word_offset_bounds_checked(&self, base: u8, block: Block, offset: i32) -> bool {
        self.registers.is_register_steady(base)
            && self.checked.iter().any(|checked| checked.contains_word_offset(base, block, offset))
    }

    /// Emits code that computes, into ecx, the number of the accessed item in the block of RAM. The code leaves the
    /// path if the item is outside the block or not aligned.
    fn emit_ram_item_index_calculation(
        &mut self,
        op: Op,
        base: Option<u8>,
        index: Option<u8>,
        (block, bytes): (Block, u32),
        exit: DynamicLabel,
    ) {
        let start = self.ram.wrapping_add(block.first);
        match (accessed_word_offset(op), self.span) {
            (Some(offset), _) if self.is_word_offset_bounds_checked(op.rn, block, offset) => {
                self.emit_access_address_computation(op, base, index, start);
                self.host_flags = HostCpuFlagsSource::None;
                dynasm!(self.asm ; .arch x64 ; shr ecx, 2);
            }
            (Some(offset), Some(span)) if block.bytes > 4 * FAR => {
                let first = Op { imm: span.first as u32, ..op };
                self.emit_access_address_computation(first, base, index, start);
                self.emit_bounds_check(block, bytes, (span.last - span.first) as u32 / 4 + 1, exit);
                if offset != span.first {
                    dynasm!(self.asm ; .arch x64 ; add ecx, (offset - span.first) / 4);
                }
                if !self.registers.is_register_steady(op.rn) {
                    self.checked.retain(|checked| checked.base != op.rn);
                }
                self.registers.mark_guest_register_unchanging(op.rn);
                self.checked.push(BoundsCheckedWordRange { base: op.rn, block, span });
            }
            _ => {
                self.emit_access_address_computation(op, base, index, start);
                self.emit_bounds_check(block, bytes, 1, exit);
            }
        }
    }

    /// Emits code that computes the address of an access minus `start` into ecx.
    fn emit_access_address_computation(&mut self, op: Op, base: Option<u8>, index: Option<u8>, start: u32) {
        let asm = &mut self.asm;
        let Some(base) = base else {
            dynasm!(asm ; .arch x64 ; mov ecx, op.imm.wrapping_sub(start) as i32);
            return;
        };
        if !has_constant_offset(op) {
            dynasm!(asm ; .arch x64 ; lea ecx, [Rq(base) + start.wrapping_neg() as i32]);
            return;
        }
        let Some(index) = index else {
            dynasm!(asm ; .arch x64 ; lea ecx, [Rq(base) + op.imm.wrapping_sub(start) as i32]);
            return;
        };
        let less = start.wrapping_neg() as i32;
        match op.shift & 31 {
            0 => dynasm!(asm ; .arch x64 ; lea ecx, [Rq(base) + Rq(index) + less]),
            1 => dynasm!(asm ; .arch x64 ; lea ecx, [Rq(base) + Rq(index) * 2 + less]),
            2 => dynasm!(asm ; .arch x64 ; lea ecx, [Rq(base) + Rq(index) * 4 + less]),
            3 => dynasm!(asm ; .arch x64 ; lea ecx, [Rq(base) + Rq(index) * 8 + less]),
            shift => dynasm!(asm
                ; .arch x64
                ; mov ecx, Rd(index) ; shl ecx, shift as i8 ; lea ecx, [rcx + Rq(base) + less]),
        }
    }

    /// Emits the write-back of a load's or store's base register, after the check and before the value is loaded.
    fn emit_base_write_back(&mut self, op: Op, base: Option<u8>, index: Option<u8>) {
        if !writes_base_back(op) {
            return;
        }
        let (Some(base), Some(index)) = (base, index) else { return self.emit_base_register_addition(op, op.imm) };
        self.registers.mark_register_dirty(op.rn);
        dynasm!(self.asm ; .arch x64 ; mov eax, Rd(index) ; shl eax, op.shift as i8 ; add Rd(base), eax);
        self.emit_stack_pointer_base_alignment(op, base);
    }

    /// Emits code that adds `more` to the base register of the op.
    pub(super) fn emit_base_register_addition(&mut self, op: Op, more: u32) {
        let base = self.host_register_of_guest_value(op.rn);
        self.registers.mark_register_dirty(op.rn);
        dynasm!(self.asm ; .arch x64 ; add Rd(base), more as i32);
        self.emit_stack_pointer_base_alignment(op, base);
    }

    /// Emits code that clears the two low bits of the base register if that is SP.
    fn emit_stack_pointer_base_alignment(&mut self, op: Op, base: u8) {
        if op.rn == 13 {
            dynasm!(self.asm ; .arch x64 ; and Rd(base), -4);
        }
    }
}
