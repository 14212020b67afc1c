//! Loads and stores of main RAM.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

use super::super::MARKED_BYTES;
use super::{HostFlags, RAX, Writer};
use crate::v7m::code::Code;
use crate::v7m::op::{Op, flag};

/// log2 of the bytes that share a mark.
const MARK_SHIFT: u32 = MARKED_BYTES.ilog2();

/// A part of main RAM.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// Its offset.
    pub first: u32,
    /// Its length.
    pub bytes: u32,
}

/// What an access went to.
#[derive(Debug, Clone, Copy)]
pub enum Memory {
    /// This block of main RAM.
    Ram(Block),
    /// What the loader answers with this number.
    Elsewhere(u32),
}

/// Stores near marks.
pub(super) struct NearMarks {
    marked: DynamicLabel,
    /// Where they are made.
    fine: DynamicLabel,
    exit: DynamicLabel,
    /// log2 of the bytes of an item; where the block is in which ecx counts them.
    turned: u32,
    first: u32,
    count: u32,
}

/// How an instruction accesses memory.
#[derive(Debug, Clone, Copy)]
struct Form {
    bytes: u32,
    signed: bool,
    store: bool,
    /// What it loads or stores is a register of the floating-point unit.
    single: bool,
}

/// Accesses of one word or less that can be translated.
fn form(op: Op) -> Option<Form> {
    let (bytes, signed, store) = match op.code {
        Code::LdrImm | Code::LdrReg | Code::LdrLit | Code::Vldr32 => (4, false, false),
        Code::LdrhImm | Code::LdrhReg => (2, false, false),
        Code::LdrbImm | Code::LdrbReg => (1, false, false),
        Code::LdrshImm | Code::LdrshReg => (2, true, false),
        Code::LdrsbImm | Code::LdrsbReg => (1, true, false),
        Code::StrImm | Code::StrReg | Code::Vstr32 => (4, false, true),
        Code::StrhImm | Code::StrhReg => (2, false, true),
        Code::StrbImm | Code::StrbReg => (1, false, true),
        // What would load SP is rare.
        Code::Load if op.rd != 13 => (1 << (op.ra & 3), op.ra & 4 != 0, false),
        Code::Store => (1 << (op.ra & 3), false, true),
        _ => return None,
    };
    Some(Form { bytes, signed, store, single: matches!(op.code, Code::Vldr32 | Code::Vstr32) })
}

/// The address is `imm`.
fn is_literal(op: Op) -> bool {
    op.code == Code::LdrLit || op.rn == 15
}

/// The address is the base plus something.
fn has_offset(op: Op) -> bool {
    !matches!(op.code, Code::Load | Code::Store) || !op.has(flag::POST_INDEXED)
}

fn has_register_offset(op: Op) -> bool {
    match op.code {
        Code::LdrReg | Code::LdrhReg | Code::LdrbReg | Code::LdrshReg | Code::LdrsbReg => true,
        Code::StrReg | Code::StrhReg | Code::StrbReg => true,
        Code::Load | Code::Store => op.has(flag::REGISTER_OFFSET),
        _ => false,
    }
}

fn writes_back(op: Op) -> bool {
    matches!(op.code, Code::Load | Code::Store) && op.has(flag::PRE_INDEXED | flag::POST_INDEXED)
}

impl Writer {
    /// Translates an access that went to this memory; false if that cannot be done.
    pub fn access(&mut self, number: u32, op: Op, memory: Memory) -> bool {
        match (memory, op.code) {
            (Memory::Ram(block), Code::Ldrd | Code::Strd) if op.rn != 15 => return self.double(number, op, block),
            (Memory::Ram(block), Code::Ldm | Code::LdmPc | Code::Stm) => return self.multiple(number, op, block),
            _ => {}
        }
        let Some(form) = form(op) else { return false };
        if form.single {
            let exit = self.exit(number);
            self.host_flags = HostFlags::None;
            dynasm!(self.asm ; .arch x64 ; cmp BYTE [rbx + self.at.float_ready], 0 ; je =>exit);
        }
        let block = match memory {
            Memory::Ram(block) => block,
            Memory::Elsewhere(home) => return self.elsewhere(number, op, form, home),
        };
        let base = (!is_literal(op)).then(|| self.read(op.rn));
        let index = has_register_offset(op).then(|| self.read(op.rm));
        let value = (form.store && !form.single).then(|| self.read(op.rd));
        self.address(op, base, index, self.ram.wrapping_add(block.first));
        let exit = self.exit(number);
        self.check(block, form.bytes, 1, exit);
        let first = block.first as i32;
        if form.store {
            self.check_marks(block, form.bytes, 1, exit);
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
            self.write_base_back(op, base, index);
            return true;
        }
        self.write_base_back(op, base, index);
        let value = if form.single { RAX } else { self.write(op.rd) };
        let asm = &mut self.asm;
        match (form.bytes, form.signed) {
            (1, false) => dynasm!(asm ; .arch x64 ; movzx Rd(value), BYTE [rbp + rcx + first]),
            (1, true) => dynasm!(asm ; .arch x64 ; movsx Rd(value), BYTE [rbp + rcx + first]),
            (2, false) => dynasm!(asm ; .arch x64 ; movzx Rd(value), WORD [rbp + rcx * 2 + first]),
            (2, true) => dynasm!(asm ; .arch x64 ; movsx Rd(value), WORD [rbp + rcx * 2 + first]),
            _ => dynasm!(asm ; .arch x64 ; mov Rd(value), [rbp + rcx * 4 + first]),
        }
        if form.single {
            dynasm!(asm ; .arch x64 ; mov [rbx + self.at.s + 4 * i32::from(op.rd)], eax);
        }
        true
    }

    /// A load that is not of main RAM: the bus is asked.
    fn elsewhere(&mut self, number: u32, op: Op, form: Form, home: u32) -> bool {
        if form.store || writes_back(op) {
            return false;
        }
        let base = (!is_literal(op)).then(|| self.read(op.rn));
        let index = has_register_offset(op).then(|| self.read(op.rm));
        self.address(op, base, index, 0);
        self.host_flags = HostFlags::None;
        if form.bytes > 1 {
            let exit = self.exit(number);
            dynasm!(self.asm ; .arch x64 ; test cl, (form.bytes - 1) as i8 ; jnz =>exit);
        }
        dynasm!(self.asm ; .arch x64 ; mov eax, ecx);
        self.call_begins();
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
        self.registers.called();
        let exit = self.exit(number);
        dynasm!(self.asm ; .arch x64 ; cmp ecx, home as i32 ; jne =>exit);
        let value = if form.single { RAX } else { self.write(op.rd) };
        let asm = &mut self.asm;
        match (form.bytes, form.signed) {
            (1, true) => dynasm!(asm ; .arch x64 ; movsx Rd(value), al),
            (2, true) => dynasm!(asm ; .arch x64 ; movsx Rd(value), ax),
            _ if form.single => dynasm!(asm ; .arch x64 ; mov [rbx + self.at.s + 4 * i32::from(op.rd)], eax),
            _ => dynasm!(asm ; .arch x64 ; mov Rd(value), eax),
        }
        true
    }

    /// LDRD, STRD.
    fn double(&mut self, number: u32, op: Op, block: Block) -> bool {
        let base = self.read(op.rn);
        let offset = if op.has(flag::POST_INDEXED) { 0 } else { op.imm };
        let start = self.ram.wrapping_add(block.first);
        dynasm!(self.asm ; .arch x64 ; lea ecx, [Rq(base) + offset.wrapping_sub(start) as i32]);
        let exit = self.exit(number);
        self.check(block, 4, 2, exit);
        let first = block.first as i32;
        if op.code == Code::Strd {
            self.check_marks(block, 4, 2, exit);
            let (low, high) = (self.read(op.rd), self.read(op.ra));
            dynasm!(self.asm
                ; .arch x64
                ; mov [rbp + rcx * 4 + first], Rd(low)
                ; mov [rbp + rcx * 4 + (first + 4)], Rd(high)
            );
        } else {
            let low = self.write(op.rd);
            dynasm!(self.asm ; .arch x64 ; mov Rd(low), [rbp + rcx * 4 + first]);
            let high = self.write(op.ra);
            dynasm!(self.asm ; .arch x64 ; mov Rd(high), [rbp + rcx * 4 + (first + 4)]);
        }
        if op.has(flag::PRE_INDEXED | flag::POST_INDEXED) {
            self.add_to_base(op, op.imm);
        }
        true
    }

    /// LDM, STM.
    fn multiple(&mut self, number: u32, op: Op, block: Block) -> bool {
        let count = u32::from(op.shift);
        let listed = |register: u8| op.imm >> register & 1 != 0;
        if listed(op.rn) || listed(13) {
            return false;
        }
        let base = self.read(op.rn);
        let less = if op.ra == 0 { 0 } else { 4 * count };
        let start = self.ram.wrapping_add(block.first).wrapping_add(less);
        dynasm!(self.asm ; .arch x64 ; lea ecx, [Rq(base) + start.wrapping_neg() as i32]);
        let exit = self.exit(number);
        self.check(block, 4, count, exit);
        if op.code == Code::Stm {
            self.check_marks(block, 4, count, exit);
        }
        let mut place = block.first as i32;
        if op.code == Code::LdmPc {
            self.check_target(place + 4 * (count as i32 - 1), exit);
        }
        if op.has(flag::POST_INDEXED) {
            self.add_to_base(op, if op.ra == 0 { 4 * count } else { less.wrapping_neg() });
        }
        for register in (0..15).filter(|&register| listed(register)) {
            self.registers.unlock();
            if op.code == Code::Stm {
                let value = self.read(register);
                dynasm!(self.asm ; .arch x64 ; mov [rbp + rcx * 4 + place], Rd(value));
            } else {
                let value = self.write(register);
                dynasm!(self.asm ; .arch x64 ; mov Rd(value), [rbp + rcx * 4 + place]);
            }
            place += 4;
        }
        if op.code == Code::LdmPc {
            dynasm!(self.asm ; .arch x64 ; mov eax, [rbp + rcx * 4 + place]);
            self.jump();
        }
        true
    }

    /// POP of the low registers in the mask, so many, and of the PC, which must be this one.
    pub fn pop_expected(&mut self, number: u32, mask: u32, count: u32, pc: u32, block: Block) {
        let base = self.read(13);
        let start = self.ram.wrapping_add(block.first);
        dynasm!(self.asm ; .arch x64 ; lea ecx, [Rq(base) + start.wrapping_neg() as i32]);
        let exit = self.exit(number);
        self.check(block, 4, count + 1, exit);
        let mut place = block.first as i32;
        dynasm!(self.asm ; .arch x64 ; cmp DWORD [rbp + rcx * 4 + place + 4 * count as i32], pc as i32 ; jne =>exit);
        self.registers.soil(13);
        dynasm!(self.asm ; .arch x64 ; add Rd(base), 4 * (count as i32 + 1));
        for register in (0..8).filter(|&register| mask >> register & 1 != 0) {
            self.registers.unlock();
            let value = self.write(register);
            dynasm!(self.asm ; .arch x64 ; mov Rd(value), [rbp + rcx * 4 + place]);
            place += 4;
        }
    }

    /// Leaves unless the word there is the address of an instruction in the place.
    fn check_target(&mut self, at: i32, exit: DynamicLabel) {
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

    /// BX, BLX.
    pub fn exchange(&mut self, number: u32, op: Op, ip: u64) {
        let place = self.place;
        let target = self.read(op.rm);
        let exit = self.exit(number);
        self.host_flags = HostFlags::None;
        dynasm!(self.asm
            ; .arch x64
            ; mov eax, Rd(target)
            ; test al, 1
            ; jz =>exit
            ; lea ecx, [rax + place.base.wrapping_neg() as i32]
            ; cmp ecx, place.bytes as i32
            ; jae =>exit
        );
        if op.code == Code::Blx {
            let link = self.place.address_of(ip).wrapping_add(3);
            let host = self.write(14);
            dynasm!(self.asm ; .arch x64 ; mov Rd(host), link as i32);
        }
        self.jump();
    }

    /// Execution goes on at the address in eax, which was found to be in the place.
    fn jump(&mut self) {
        let place = self.place;
        debug_assert!(place.op_bytes == 16, "of an ARMv7-M core");
        dynasm!(self.asm
            ; .arch x64
            ; sub eax, (place.base + 1) as i32
            ; mov rcx, QWORD place.ops as i64
            ; lea rax, [rcx + rax * 8]
            ; mov [rbx + self.at.ip], rax
        );
    }

    /// Leaves unless `count` accesses of `bytes` from ecx on, an offset in the block, lie in it and are aligned; ecx becomes
    /// a number of such items.
    fn check(&mut self, block: Block, bytes: u32, count: u32, exit: DynamicLabel) {
        self.host_flags = HostFlags::None;
        let asm = &mut self.asm;
        // Turned by as many bits as must be zero, no address that is not aligned is in range.
        let turned = bytes.ilog2();
        if turned != 0 {
            dynasm!(asm ; .arch x64 ; ror ecx, turned as i8);
        }
        let places = block.bytes.div_ceil(bytes) - (count - 1);
        dynasm!(asm ; .arch x64 ; cmp ecx, places as i32 ; jae =>exit);
    }

    /// Leaves if one of `count` stores from the item in ecx on would have consequences.
    fn check_marks(&mut self, block: Block, bytes: u32, count: u32, exit: DynamicLabel) {
        let (turned, first) = (bytes.ilog2(), (block.first >> MARK_SHIFT) as i32);
        let marked = if self.near.is_some() { self.asm.new_dynamic_label() } else { exit };
        let ends: &[u32] = if count == 1 { &[0] } else { &[0, count - 1] };
        for &further in ends {
            dynasm!(self.asm
                ; .arch x64
                ; lea eax, [rcx + further as i32]
                ; shr eax, (MARK_SHIFT - turned) as i8
                ; cmp BYTE [r12 + rax + first], 0
                ; jne =>marked
            );
        }
        if marked != exit {
            let fine = self.asm.new_dynamic_label();
            dynasm!(self.asm ; .arch x64 ; =>fine);
            self.near_marks.push(NearMarks { marked, fine, exit, turned, first: block.first, count });
        }
    }

    /// Where marks are: the function that knows says whether the stores have consequences.
    pub(super) fn write_near_marks(&mut self) {
        let function = self.near.unwrap_or(0);
        for NearMarks { marked, fine, exit, turned, first, count } in std::mem::take(&mut self.near_marks) {
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

    /// The address of an access less `start`, to ecx.
    fn address(&mut self, op: Op, base: Option<u8>, index: Option<u8>, start: u32) {
        let asm = &mut self.asm;
        let Some(base) = base else {
            dynasm!(asm ; .arch x64 ; mov ecx, op.imm.wrapping_sub(start) as i32);
            return;
        };
        if !has_offset(op) {
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

    /// What the base of a load or store becomes. (Behind the check, before the value is loaded.)
    fn write_base_back(&mut self, op: Op, base: Option<u8>, index: Option<u8>) {
        if !writes_back(op) {
            return;
        }
        let (Some(base), Some(index)) = (base, index) else { return self.add_to_base(op, op.imm) };
        self.registers.soil(op.rn);
        dynasm!(self.asm ; .arch x64 ; mov eax, Rd(index) ; shl eax, op.shift as i8 ; add Rd(base), eax);
        self.align_base(op, base);
    }

    fn add_to_base(&mut self, op: Op, more: u32) {
        let base = self.read(op.rn);
        self.registers.soil(op.rn);
        dynasm!(self.asm ; .arch x64 ; add Rd(base), more as i32);
        self.align_base(op, base);
    }

    /// SP is a multiple of 4.
    fn align_base(&mut self, op: Op, base: u8) {
        if op.rn == 13 {
            dynasm!(self.asm ; .arch x64 ; and Rd(base), -4);
        }
    }
}
