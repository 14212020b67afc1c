//! Code for speculative execution: it logs its reads and writes ([`NativeSpeculationLogLayout`]), and may fork.
//!
//! r15 is the log, r14 the memories accessed, r12 the words read and r11 those written, folded. r13 is the context.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

use super::super::{Home, NativeSpeculationLogLayout};
use super::access_forms::Block;
use super::registers::Registers;
use super::spans::BoundsCheckedWordRange;
use super::{HostCpuFlagsSource, NativeCodeEmitter, Store};
use crate::v7m::op::Op;

/// The end of a path: where execution continues, and what is reported.
#[derive(Debug, Clone, Copy)]
pub struct PathEnd {
    /// The next address. `None` if its last instruction has said that.
    pub ip: Option<u64>,
    /// The block's shape, for rax. The distance of where execution continues from where it began goes to rcx.
    pub shape: u64,
    /// Something turned out otherwise.
    pub is_early: bool,
    /// It ends before it began.
    pub is_none: bool,
}

/// The place where speculative native code continues at the end of a path, and its counter of early ends.
#[derive(Debug, Clone, Copy)]
pub struct PathContinuationPoint {
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

/// The number of words read and written in the speculation log so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LoggedWords {
    read: u8,
    written: u8,
    /// Whether the report at the end depends on the core.
    is_own: bool,
}

/// The other way of a conditional branch, for which no code is emitted yet.
pub struct Fork {
    label: DynamicLabel,
    registers: Registers,
    host_flags: HostCpuFlagsSource,
    checked: Vec<BoundsCheckedWordRange>,
    words: LoggedWords,
}

impl NativeCodeEmitter {
    /// Makes the code keep a speculation log of this form, and continue at `onward` after each path. Called before the
    /// first step.
    pub fn enable_speculation_logging(&mut self, log: NativeSpeculationLogLayout, onward: PathContinuationPoint) {
        self.ahead = Some((log, onward));
        self.registers = Registers::new_guest_register_allocation(&[11, 14, 15]);
    }

    /// Sets the bank of memory that the next access goes to.
    pub fn set_memory_bank_of_next_access(&mut self, home: Home) {
        self.home = home;
    }

    /// Emits a conditional branch that was `taken` or not on the path being written, and returns its other way.
    pub fn emit_branch_and_return_other_way(&mut self, op: Op, taken: bool) -> Fork {
        let label = self.asm.new_dynamic_label();
        self.emit_exit_on_branch_mismatch(op, taken, label);
        Fork {
            label,
            registers: self.registers.clone(),
            host_flags: self.host_flags,
            checked: self.checked.clone(),
            words: self.words,
        }
    }

    /// Begins to emit the code of the other way of a conditional branch.
    pub fn begin_deferred_branch_side(&mut self, fork: Fork) {
        let Fork { label, registers, host_flags, checked, words } = fork;
        dynasm!(self.asm ; .arch x64 ; =>label);
        (self.registers, self.host_flags, self.checked, self.words) = (registers, host_flags, checked, words);
    }

    /// Emits the end of a path: the registers are written back, and execution continues as `ending` says.
    pub fn emit_end_of_compiled_path(&mut self, ending: PathEnd) {
        self.emit_write_back_of_registers(self.registers.dirty_registers());
        self.emit_code_path_end(self.words, ending);
    }

    /// Emits the end of a path whose register values are all in the core.
    fn emit_code_path_end(&mut self, words: LoggedWords, ending: PathEnd) {
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

    /// Finishes the code after the last path's end, copies it into the store and returns its host address. `endings`
    /// has, for each step, the end of a path that is left before this step.
    pub fn finish_speculative_native_code(mut self, store: &mut Store, endings: &[PathEnd]) -> Option<u64> {
        self.emit_code_or_watch_store_checks();
        self.emit_compiled_path_exits(|writer, step, words| writer.emit_code_path_end(words, endings[step as usize]));
        // Nothing leaves otherwise, and nothing is called that ends a path.
        dynasm!(self.asm ; .arch x64 ; =>self.leave ; =>self.called);
        let at = store.copy_into_executable_memory(&self.asm.finalize().ok()?)?;
        Some(at as u64)
    }

    /// Emits code that stores the folded set of logged writes in the log, because a call does not preserve its
    /// register.
    pub(super) fn save_logged_writes(&mut self) {
        if let Some((log, _)) = self.ahead {
            dynasm!(self.asm ; .arch x64 ; mov [r15 + log.writes], r11);
        }
    }

    /// Emits code that reloads the folded set of logged writes after a call.
    pub(super) fn emit_logged_write_set_reload(&mut self) {
        if let Some((log, _)) = self.ahead {
            dynasm!(self.asm ; .arch x64 ; mov r11, [r15 + log.writes]);
        }
    }

    /// Emits code that logs loads of `count` items from item number ecx on.
    pub(super) fn log_loads(&mut self, block: Block, bytes: u32, count: u32) {
        let Some((log, _)) = self.ahead else { return };
        self.emit_log_of_memory_bank(bytes);
        for further in 0..count {
            self.emit_access_filter_bit_number(block, bytes, further);
            self.asm.extend(&BTS_R12_RAX);
            self.emit_speculation_log_entry(log, block, bytes, further);
            dynasm!(self.asm ; .arch x64 ; mov [r15 + log.read + 4 * i32::from(self.words.read)], eax);
            self.words.read += 1;
        }
    }

    /// Emits code that logs the load of a word at this offset of main RAM.
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
        self.host_flags = HostCpuFlagsSource::None;
    }

    /// Emits code that logs stores to `count` items from item number ecx on, before they are made.
    pub(super) fn log_stores(&mut self, block: Block, bytes: u32, count: u32) {
        let Some((log, _)) = self.ahead else { return };
        self.emit_log_of_memory_bank(bytes);
        for further in 0..count {
            self.emit_access_filter_bit_number(block, bytes, further);
            self.asm.extend(&BTS_R11_RAX);
            let entry = log.written + 8 * i32::from(self.words.written);
            self.emit_containing_ram_word_load(block, bytes, further);
            dynasm!(self.asm ; .arch x64 ; mov [r15 + entry + 4], eax);
            self.emit_speculation_log_entry(log, block, bytes, further);
            dynasm!(self.asm ; .arch x64 ; mov [r15 + entry], eax);
            self.words.written += 1;
        }
    }

    /// Emits code that loads the word of RAM that contains an item into eax. The item's number is ecx plus `further`.
    fn emit_containing_ram_word_load(&mut self, block: Block, bytes: u32, further: u32) {
        let from = (block.first + 4 * further) as i32;
        let asm = &mut self.asm;
        match bytes {
            4 => dynasm!(asm ; .arch x64 ; mov eax, [rbp + rcx * 4 + from]),
            2 => dynasm!(asm ; .arch x64 ; lea eax, [rcx * 2] ; and eax, -4 ; mov eax, [rbp + rax + from]),
            _ => dynasm!(asm ; .arch x64 ; mov eax, ecx ; and eax, -4 ; mov eax, [rbp + rax + from]),
        }
    }

    /// Emits code that computes the log's entry for an item narrower than a word into eax. The item's number is in ecx.
    fn emit_narrow_speculation_log_entry(&mut self, log: NativeSpeculationLogLayout, block: Block, bytes: u32) {
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

    /// Emits code that computes, into eax, the number of a word's bit in the folded sets of reads and writes.
    fn emit_access_filter_bit_number(&mut self, block: Block, bytes: u32, further: u32) {
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

    /// Emits code that computes the speculation log's entry of an accessed item into eax. The entry is the offset of
    /// the word of RAM and the mask of the accessed bytes. The item's number in `block` is ecx plus `further`.
    fn emit_speculation_log_entry(&mut self, log: NativeSpeculationLogLayout, block: Block, bytes: u32, further: u32) {
        if bytes < 4 {
            self.emit_narrow_speculation_log_entry(log, block, bytes);
            return;
        }
        let all = ((block.first + 4 * further) | 0xf << log.lanes) as i32;
        dynasm!(self.asm ; .arch x64 ; lea eax, [rcx * 4 + all]);
    }

    /// Emits code that logs which bank of memory the access from item number ecx on goes to.
    pub(super) fn emit_log_of_memory_bank(&mut self, bytes: u32) {
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
impl NativeCodeEmitter {
    /// Emits an exit before this step, taken unless the byte at offset `at` of the core is `value`.
    pub fn emit_exit_unless_core_byte_is(&mut self, step: u32, at: i32, value: u8) {
        let exit = self.label_of_exit_before_instruction(step);
        self.host_flags = HostCpuFlagsSource::None;
        dynasm!(self.asm ; .arch x64 ; cmp BYTE [rbx + at], value as i8 ; jne =>exit);
    }

    /// Emits an exit before this step, taken if two doublewords of the core have a bit in common.
    pub fn emit_exit_if_core_doublewords_overlap(&mut self, step: u32, [first, second]: [i32; 2]) {
        let exit = self.label_of_exit_before_instruction(step);
        self.host_flags = HostCpuFlagsSource::None;
        dynasm!(self.asm ; .arch x64 ; mov rax, [rbx + first] ; test [rbx + second], rax ; jnz =>exit);
    }

    /// Emits code that sets the byte at offset `at` of the core.
    pub fn emit_core_byte_store(&mut self, at: i32, value: u8) {
        dynasm!(self.asm ; .arch x64 ; mov BYTE [rbx + at], value as i8);
    }

    /// Emits code that stores the lowest bit of a register as the byte at offset `at` of the core.
    pub fn emit_core_struct_bit_store(&mut self, register: u8, at: i32) {
        let host = self.host_register_of_guest_value(register);
        self.host_flags = HostCpuFlagsSource::None;
        dynasm!(self.asm ; .arch x64 ; mov eax, Rd(host) ; and eax, 1 ; mov [rbx + at], al);
    }

    /// Emits code that loads the byte at offset `at` of the core into a register.
    pub fn emit_core_struct_byte_load(&mut self, register: u8, at: i32) {
        let host = self.host_register_for_new_value(register);
        dynasm!(self.asm ; .arch x64 ; movzx Rd(host), BYTE [rbx + at]);
    }

    /// Emits code that copies one register of the board's core to another.
    pub fn emit_register_copy(&mut self, to: u8, from: u8) {
        let (source, target) = (self.host_register_of_guest_value(from), self.host_register_for_new_value(to));
        dynasm!(self.asm ; .arch x64 ; mov Rd(target), Rd(source));
    }

    /// Emits code that loads the word at offset `at` of the core into a register.
    pub fn emit_core_struct_word_load(&mut self, register: u8, at: i32) {
        let host = self.host_register_for_new_value(register);
        dynasm!(self.asm ; .arch x64 ; mov Rd(host), [rbx + at]);
    }

    /// Emits code that stores a register, with its two low bits cleared, as the word at offset `at` of the core.
    pub fn store_aligned_word(&mut self, register: u8, at: i32) {
        let host = self.host_register_of_guest_value(register);
        self.host_flags = HostCpuFlagsSource::None;
        dynasm!(self.asm ; .arch x64 ; mov eax, Rd(host) ; and eax, -4 ; mov [rbx + at], eax);
    }

    /// Emits the load of the register that tells a core its own number. The code leaves the path if the load's address
    /// is another one.
    pub fn emit_core_number_load(&mut self, step: u32, op: Op, address: u32) {
        let Some((_, onward)) = self.ahead else { return };
        let base = self.host_register_of_guest_value(op.rn);
        let exit = self.label_of_exit_before_instruction(step);
        self.host_flags = HostCpuFlagsSource::None;
        dynasm!(self.asm
            ; .arch x64
            ; lea eax, [Rq(base) + op.imm as i32]
            ; cmp eax, address as i32
            ; jne =>exit
        );
        self.emit_log_of_memory_bank(4);
        self.words.is_own = true;
        let host = self.host_register_for_new_value(op.rd);
        dynasm!(self.asm ; .arch x64 ; mov Rd(host), [rbx + onward.number]);
    }
}
