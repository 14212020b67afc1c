//! Code for speculative execution: it logs its reads and writes ([`AheadLog`]), and may fork.
//!
//! r15 is the log, r14 the memories accessed, r12 the words read and r11 those written, folded. r13 is the context.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

use super::super::{AheadLog, Home};
use super::access_forms::Block;
use super::registers::Registers;
use super::spans::CheckedSpans;
use super::{HostFlags, Store, Writer};
use crate::v7m::op::Op;

/// How a path ends.
#[derive(Debug, Clone, Copy)]
pub struct Ending {
    /// The next address. `None` if its last instruction has said that.
    pub ip: Option<u64>,
    /// The block's shape, for rax. The distance of where execution continues from where it began goes to rcx.
    pub shape: u64,
    /// Something turned out otherwise.
    pub is_early: bool,
    /// It ends before it began.
    pub is_none: bool,
}

/// The target of the code, and the counter of early ends.
#[derive(Debug, Clone, Copy)]
pub struct Onward {
    /// The offset of the path's end in the context.
    pub transit: i32,
    /// Nothing was executed there.
    pub none: u64,
    /// A counter of 32 bits: when it comes to 0, `start` is put into the context at `stale`.
    pub unexpected: u64,
    pub start: u64,
    pub stale: i32,
    /// The offset of the core's number, and how often it is added to the report of an end after a load of the own
    /// number.
    pub number: i32,
    pub own: u32,
}

/// log2 of the bytes of a word.
const WORD: u32 = 2;
/// The factor of a word's number before six bits are dropped: n + n / 64 remains.
const FOLDED: i32 = 65;

/// Sets the bit of a register that another one tells: the assembler does not know it.
const BTS_R12_RAX: [u8; 4] = [0x49, 0x0f, 0xab, 0xc4];
const BTS_R11_RAX: [u8; 4] = [0x49, 0x0f, 0xab, 0xc3];
const BTS_ECX_EAX: [u8; 3] = [0x0f, 0xab, 0xc1];

/// How many words are in the log.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Words {
    read: u8,
    written: u8,
    /// Whether the report at the end depends on the core.
    is_own: bool,
}

/// Another way to continue, not written yet.
pub struct Fork {
    label: DynamicLabel,
    registers: Registers,
    host_flags: HostFlags,
    checked: Vec<CheckedSpans>,
    words: Words,
}

impl Writer {
    /// Keeps such a log, and continues so. Before the first step.
    pub fn keeps(&mut self, log: AheadLog, onward: Onward) {
        self.ahead = Some((log, onward));
        self.registers = Registers::without(&[11, 14, 15]);
    }

    /// The next access goes there.
    pub fn goes_to(&mut self, home: Home) {
        self.home = home;
    }

    /// A branch with a condition, which was `taken` or not on the path that is written. The other way is the fork.
    pub fn fork(&mut self, op: Op, taken: bool) -> Fork {
        let label = self.asm.new_dynamic_label();
        self.leave_unless(op, taken, label);
        Fork {
            label,
            registers: self.registers.clone(),
            host_flags: self.host_flags,
            checked: self.checked.clone(),
            words: self.words,
        }
    }

    /// The fork's way begins.
    pub fn resume(&mut self, fork: Fork) {
        let Fork { label, registers, host_flags, checked, words } = fork;
        dynasm!(self.asm ; .arch x64 ; =>label);
        (self.registers, self.host_flags, self.checked, self.words) = (registers, host_flags, checked, words);
    }

    /// A path ends there.
    pub fn end_path(&mut self, ending: Ending) {
        self.write_all_back(self.registers.dirty());
        self.end_with(self.words, ending);
    }

    /// All values are in the core.
    fn end_with(&mut self, words: Words, ending: Ending) {
        let (Some((log, onward)), counts) = (self.ahead, u16::from_le_bytes([words.read, words.written])) else {
            return;
        };
        if ending.is_early {
            dynasm!(self.asm
                ; .arch x64
                ; mov rax, QWORD onward.unexpected as i64
                ; dec DWORD [rax]
                ; jnz >expected
                ; mov rax, QWORD onward.start as i64
                ; mov [r13 + onward.stale], rax
                ; expected:
            );
        }
        if ending.is_none {
            dynasm!(self.asm ; .arch x64 ; mov rax, QWORD onward.none as i64 ; jmp rax);
            return;
        }
        let asm = &mut self.asm;
        dynasm!(asm ; .arch x64 ; mov WORD [r15 + log.words], counts as i16 ; mov rax, QWORD onward.start as i64);
        match ending.ip {
            Some(ip) => {
                let distance = ip.wrapping_sub(onward.start) as i32;
                dynasm!(asm ; .arch x64 ; mov rcx, distance ; add rax, rcx ; mov [rbx + self.at.ip], rax);
            }
            None => dynasm!(asm ; .arch x64 ; mov rcx, [rbx + self.at.ip] ; sub rcx, rax),
        }
        dynasm!(asm ; .arch x64 ; mov rax, QWORD ending.shape as i64);
        if words.is_own {
            dynasm!(asm ; .arch x64 ; imul edx, [rbx + onward.number], onward.own as i32 ; add rax, rdx);
        }
        dynasm!(asm ; .arch x64 ; jmp QWORD [r13 + onward.transit]);
    }

    /// Puts the code into the store, after the last path's end: its address. The number of a step says which of these endings
    /// it has where it ends before it.
    pub fn finish_ahead(mut self, store: &mut Store, endings: &[Ending]) -> Option<u64> {
        self.write_near_marks();
        self.write_exits(|writer, step, words| writer.end_with(words, endings[step as usize]));
        // Nothing leaves otherwise, and nothing is called that ends a path.
        dynasm!(self.asm ; .arch x64 ; =>self.leave ; =>self.called);
        let at = store.add(&self.asm.finalize().ok()?)?;
        Some(at as u64)
    }

    /// A call keeps all registers of the log but one.
    pub(super) fn put_writes_down(&mut self) {
        if let Some((log, _)) = self.ahead {
            dynasm!(self.asm ; .arch x64 ; mov [r15 + log.writes], r11);
        }
    }

    pub(super) fn take_writes_up(&mut self) {
        if let Some((log, _)) = self.ahead {
            dynasm!(self.asm ; .arch x64 ; mov r11, [r15 + log.writes]);
        }
    }

    /// Loads of `count` items from the one in ecx on.
    pub(super) fn log_loads(&mut self, block: Block, bytes: u32, count: u32) {
        let Some((log, _)) = self.ahead else { return };
        self.log_memory(bytes);
        for further in 0..count {
            self.fold(block, bytes, further);
            self.asm.extend(&BTS_R12_RAX);
            self.word_at(log, block, bytes, further);
            dynasm!(self.asm ; .arch x64 ; mov [r15 + log.read + 4 * i32::from(self.words.read)], eax);
            self.words.read += 1;
        }
    }

    /// The load of a word at this offset of main RAM.
    pub fn log_load_at(&mut self, offset: u32) {
        let Some((log, _)) = self.ahead else { return };
        let (bytes, word) = (offset | 0xf << log.lanes, offset >> WORD);
        let bit = ((word + (word >> 6)) & 63) as i8;
        dynasm!(self.asm
            ; .arch x64
            ; mov DWORD [r15 + log.read + 4 * i32::from(self.words.read)], bytes as i32
            ; bts r12, BYTE bit
        );
        self.words.read += 1;
        self.host_flags = HostFlags::None;
    }

    /// Stores to `count` items from the one in ecx on, which have not been made.
    pub(super) fn log_stores(&mut self, block: Block, bytes: u32, count: u32) {
        let Some((log, _)) = self.ahead else { return };
        self.log_memory(bytes);
        for further in 0..count {
            self.fold(block, bytes, further);
            self.asm.extend(&BTS_R11_RAX);
            let entry = log.written + 8 * i32::from(self.words.written);
            self.old_word(block, bytes, further);
            dynasm!(self.asm ; .arch x64 ; mov [r15 + entry + 4], eax);
            self.word_at(log, block, bytes, further);
            dynasm!(self.asm ; .arch x64 ; mov [r15 + entry], eax);
            self.words.written += 1;
        }
    }

    /// The word that the item in ecx and `further` ones is in, to eax.
    fn old_word(&mut self, block: Block, bytes: u32, further: u32) {
        let from = (block.first + 4 * further) as i32;
        let asm = &mut self.asm;
        match bytes {
            4 => dynasm!(asm ; .arch x64 ; mov eax, [rbp + rcx * 4 + from]),
            2 => dynasm!(asm ; .arch x64 ; lea eax, [rcx * 2] ; and eax, -4 ; mov eax, [rbp + rax + from]),
            _ => dynasm!(asm ; .arch x64 ; mov eax, ecx ; and eax, -4 ; mov eax, [rbp + rax + from]),
        }
    }

    /// Loads the accessed part of a word by the item in ecx to eax: its offset and its bytes.
    fn part_at(&mut self, log: AheadLog, block: Block, bytes: u32) {
        let asm = &mut self.asm;
        dynasm!(asm ; .arch x64 ; push rcx);
        if bytes == 2 {
            dynasm!(asm ; .arch x64 ; add ecx, ecx);
        }
        dynasm!(asm
            ; .arch x64
            ; mov eax, ecx ; and eax, 3 ; add eax, log.lanes as i32
            ; and ecx, -4 ; add ecx, block.first as i32
        );
        asm.extend(&BTS_ECX_EAX);
        if bytes == 2 {
            dynasm!(asm ; .arch x64 ; inc eax);
            asm.extend(&BTS_ECX_EAX);
        }
        dynasm!(asm ; .arch x64 ; mov eax, ecx ; pop rcx);
    }

    /// The bit of a word, from an item's number in ecx and `further` ones, to the low bits of eax.
    fn fold(&mut self, block: Block, bytes: u32, further: u32) {
        let more = ((block.first >> WORD) + further) as i32 * FOLDED;
        let asm = &mut self.asm;
        if bytes == 4 {
            dynasm!(asm ; .arch x64 ; imul eax, ecx, FOLDED);
        } else {
            dynasm!(asm
                ; .arch x64
                ; mov eax, ecx ; shr eax, (WORD - bytes.ilog2()) as i8 ; imul eax, eax, FOLDED);
        }
        if more != 0 {
            dynasm!(asm ; .arch x64 ; add eax, more);
        }
        dynasm!(asm ; .arch x64 ; shr eax, 6);
    }

    /// The offset of that word, from the item in ecx and `further` ones, and which of its bytes are accessed, to eax.
    fn word_at(&mut self, log: AheadLog, block: Block, bytes: u32, further: u32) {
        if bytes < 4 {
            self.part_at(log, block, bytes);
            return;
        }
        let all = ((block.first + 4 * further) | 0xf << log.lanes) as i32;
        dynasm!(self.asm ; .arch x64 ; lea eax, [rcx * 4 + all]);
    }

    /// The memory of the access from the item in ecx on.
    pub(super) fn log_memory(&mut self, bytes: u32) {
        let Some((log, _)) = self.ahead else { return };
        let (bits, accessed) = (log.access_bits as i8, 1 << (log.access_bits - 1));
        let asm = &mut self.asm;
        dynasm!(asm ; .arch x64 ; shl r14, bits);
        match self.home {
            Home::Number(number) => dynasm!(asm ; .arch x64 ; or r14, (accessed | number) as i32),
            Home::Interleaved => {
                dynasm!(asm ; .arch x64 ; mov eax, ecx);
                if bytes < 4 {
                    dynasm!(asm ; .arch x64 ; shr eax, (WORD - bytes.ilog2()) as i8);
                }
                dynasm!(asm ; .arch x64 ; and eax, 3 ; lea r14, [r14 + rax + accessed as i32]);
            }
        }
    }
}

/// Offsets of the core's fields besides its registers.
impl Writer {
    /// Leaves unless that byte is this one.
    pub fn expect_byte(&mut self, step: u32, at: i32, value: u8) {
        let exit = self.exit(step);
        self.host_flags = HostFlags::None;
        dynasm!(self.asm ; .arch x64 ; cmp BYTE [rbx + at], value as i8 ; jne =>exit);
    }

    /// Leaves if these two doublewords have a bit in common.
    pub fn expect_apart(&mut self, step: u32, [first, second]: [i32; 2]) {
        let exit = self.exit(step);
        self.host_flags = HostFlags::None;
        dynasm!(self.asm ; .arch x64 ; mov rax, [rbx + first] ; test [rbx + second], rax ; jnz =>exit);
    }

    /// Sets a byte there.
    pub fn set_byte(&mut self, at: i32, value: u8) {
        dynasm!(self.asm ; .arch x64 ; mov BYTE [rbx + at], value as i8);
    }

    /// The lowest bit of a register to a byte there.
    pub fn put_bit(&mut self, register: u8, at: i32) {
        let host = self.read(register);
        self.host_flags = HostFlags::None;
        dynasm!(self.asm ; .arch x64 ; mov eax, Rd(host) ; and eax, 1 ; mov [rbx + at], al);
    }

    /// A byte from there to a register.
    pub fn take_byte(&mut self, register: u8, at: i32) {
        let host = self.write(register);
        dynasm!(self.asm ; .arch x64 ; movzx Rd(host), BYTE [rbx + at]);
    }

    /// One register to another.
    pub fn copy(&mut self, to: u8, from: u8) {
        let (source, target) = (self.read(from), self.write(to));
        dynasm!(self.asm ; .arch x64 ; mov Rd(target), Rd(source));
    }

    /// A word from there to a register.
    pub fn take_word(&mut self, register: u8, at: i32) {
        let host = self.write(register);
        dynasm!(self.asm ; .arch x64 ; mov Rd(host), [rbx + at]);
    }

    /// A register, as a multiple of 4, to a word there.
    pub fn put_aligned(&mut self, register: u8, at: i32) {
        let host = self.read(register);
        self.host_flags = HostFlags::None;
        dynasm!(self.asm ; .arch x64 ; mov eax, Rd(host) ; and eax, -4 ; mov [rbx + at], eax);
    }

    /// The load at [base + imm] of the register at this address, which says which core it is. Leaves if it is another one.
    pub fn load_own(&mut self, step: u32, op: Op, address: u32) {
        let Some((_, onward)) = self.ahead else { return };
        let base = self.read(op.rn);
        let exit = self.exit(step);
        self.host_flags = HostFlags::None;
        dynasm!(self.asm
            ; .arch x64
            ; lea eax, [Rq(base) + op.imm as i32]
            ; cmp eax, address as i32
            ; jne =>exit
        );
        self.log_memory(4);
        self.words.is_own = true;
        let host = self.write(op.rd);
        dynasm!(self.asm ; .arch x64 ; mov Rd(host), [rbx + onward.number]);
    }
}
