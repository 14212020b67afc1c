//! Code of x86-64 hosts.

mod access;
mod access_forms;
mod ahead;
mod alu;
mod blocks;
mod chain;
mod forms;
mod prediction;
mod registers;
mod several;
mod spans;
mod store;

use dynasmrt::x64::X64Relocation;
use dynasmrt::{AssemblyOffset, DynamicLabel, DynasmApi, DynasmLabelApi, VecAssembler, dynasm};
use std::ffi::c_void;

use super::{
    CALLED, CachedConstantMemory, CoreFieldOffsets, Home, NativeSpeculationLogLayout, Place, TimingPredictorLayout,
    TraceLogLayout,
};
use crate::v7m::code::{Code, number as code};
use crate::v7m::op::Op;
use access::CodeOrWatchStoreCheck;
pub use access_forms::{Block, Memory};
pub use ahead::{Fork, PathContinuationPoint, PathEnd};
pub use blocks::{BlockEntry, block_entry_points};
pub use chain::{Entry, Records, write_path_entry_function};
pub use prediction::Limit;
use prediction::{BranchPredictorCall, CONTEXT, Load};
use registers::Registers;
use spans::BoundsCheckedWordRange;
pub use spans::{Span, bounds_check_ranges_of_path};
pub use store::Store;

/// A native function for one path: it takes the core, the bytes of the RAM, their marks and the context.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct Function(unsafe extern "sysv64" fn(*mut c_void, *mut u8, *const u8, *mut c_void) -> u32);

impl Function {
    /// Executes the native function. Returns the number of the step before which it was left, or [`CALLED`].
    ///
    /// # Safety
    /// The pointers lead to the structures that the code was written for. Nothing else uses these meanwhile.
    #[inline(always)]
    pub unsafe fn call_native(self, core: *mut c_void, ram: *mut u8, marks: *const u8, context: *mut c_void) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { (self.0)(core, ram, marks, context) }
    }
}

/// The number of eax.
const RAX: u8 = 0;

/// Flags that an instruction sets or needs.
mod flags {
    pub const NZ: u8 = 1;
    pub const C: u8 = 2;
    pub const V: u8 = 4;
    pub const ALL: u8 = 7;
}

/// The operation that set the host's flags, which decides what the next branch can read from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostCpuFlagsSource {
    None,
    Difference,
    /// Only that it is zero or negative.
    Result,
}

/// The writer of native code for a path. Host registers: rbx points to the core, rbp to the RAM, r12 to its marks, r13
/// to the context (except in code that logs, see [`prediction`]). Rax and rcx hold intermediate values, all others but
/// rsp hold guest registers (those of the board's core).
pub struct NativeCodeEmitter {
    asm: VecAssembler<X64Relocation>,
    registers: Registers,
    host_flags: HostCpuFlagsSource,
    /// Offsets of the core's fields.
    at: CoreFieldOffsets,
    /// The address of its instructions.
    place: Place,
    /// The address of its main RAM.
    ram: u32,
    exits: Vec<Exit>,
    near_marks: Vec<CodeOrWatchStoreCheck>,
    /// The constants that loads may use without asking, where something is logged.
    constants: Option<CachedConstantMemory>,
    /// The log's form, if something is logged.
    foresight: Option<(TimingPredictorLayout, TraceLogLayout)>,
    loads: Vec<Load>,
    asked: Vec<BranchPredictorCall>,
    /// The log place of the bank of a load that is to be repeated, and the exit before it.
    unlikely: Vec<(DynamicLabel, DynamicLabel)>,
    limit: Limit,
    /// The log that is kept, how many words are in it, and which memory the next access goes to.
    ahead: Option<(NativeSpeculationLogLayout, PathContinuationPoint)>,
    words: ahead::LoggedWords,
    home: Home,
    leave: DynamicLabel,
    called: DynamicLabel,
    body: DynamicLabel,
    /// The function that loads from memory other than main RAM.
    loader: usize,
    /// The test whether stores near marks have consequences, if there are any.
    near: Option<usize>,
    /// Flags that are looked at after the current instruction.
    live: u8,
    /// The span that it should check.
    span: Option<Span>,
    checked: Vec<BoundsCheckedWordRange>,
}

/// An exit from native code before a step, with the registers to be written back there.
struct Exit {
    label: DynamicLabel,
    step: u32,
    dirty: Vec<(u8, u8)>,
    words: ahead::LoggedWords,
}

impl NativeCodeEmitter {
    /// Creates a writer without code. `loader` is the address of a function that loads from outside main RAM: it takes
    /// the context, an address and a number of bytes, and returns the value with the memory that answered above it, or
    /// all ones if it cannot load.
    pub fn new(at: CoreFieldOffsets, place: Place, ram: u32, loader: usize) -> NativeCodeEmitter {
        let mut asm = VecAssembler::new(0);
        let [leave, called, body] = std::array::from_fn(|_| asm.new_dynamic_label());
        dynasm!(asm ; .arch x64 ; =>body);
        NativeCodeEmitter {
            asm,
            registers: Registers::default(),
            host_flags: HostCpuFlagsSource::None,
            at,
            place,
            ram,
            exits: Vec::new(),
            near_marks: Vec::new(),
            constants: None,
            foresight: None,
            loads: Vec::new(),
            asked: Vec::new(),
            unlikely: Vec::new(),
            limit: Limit::default(),
            ahead: None,
            words: ahead::LoggedWords::default(),
            home: Home::Number(0),
            leave,
            called,
            body,
            loader,
            near: None,
            live: flags::ALL,
            span: None,
            checked: Vec::new(),
        }
    }

    /// Makes stores near marked bytes of RAM ask this function whether they may be made. Without the function the code
    /// leaves the path before them.
    pub fn set_code_or_watch_store_callback(&mut self, function: usize) {
        self.near = Some(function);
    }

    /// Makes the code log what this kind of pipeline needs for its timing, loads of `constants` included. Called before
    /// the first step.
    pub fn set_pipeline_timing_log_kind(
        &mut self,
        foresight: TimingPredictorLayout,
        logging: TraceLogLayout,
        constants: Option<CachedConstantMemory>,
    ) {
        self.constants = constants;
        self.foresight = Some((foresight, logging));
        self.registers = Registers::new_guest_register_allocation(&[14, 15]);
    }

    /// Sets the known facts about the load of the next step.
    pub fn set_next_load_bounds(&mut self, limit: Limit) {
        self.limit = limit;
    }

    /// Begins to emit the next step. `live` has the flags that are read after it, `span` the range of words whose
    /// addresses it checks, for later steps too ([`bounds_check_ranges_of_path`]).
    pub fn begin_instruction_step(&mut self, live: u8, span: Option<Span>) {
        (self.live, self.span) = (live, span);
        self.registers.unlock_all_registers();
    }

    /// Finishes the function, which returns `how` after its last instruction, and copies it into the store. Execution
    /// continues at `ip`, unless the last step has set another address.
    pub fn finish_native_function(mut self, store: &mut Store, how: u32, ip: Option<u64>) -> Option<Function> {
        let start = self.emit_function_end(how, ip);
        let at = store.copy_into_executable_memory(&self.asm.finalize().ok()?)?;
        // SAFETY: the function that begins there was written in this form.
        Some(unsafe { std::mem::transmute::<*const u8, Function>(at.wrapping_add(start.0)) })
    }

    /// Emits an instruction at `ip` that neither accesses memory nor branches to a fixed distance. Returns false if it
    /// cannot be JIT-compiled.
    pub fn write_instruction(&mut self, number: u32, op: Op, ip: u64) -> bool {
        match op.code {
            Code::Nop => true,
            Code::Bx | Code::Blx => {
                self.emit_bx_or_blx(number, op, ip);
                true
            }
            _ => self.emit_register_only_instruction(op) || self.emit_float_move(number, op),
        }
    }

    /// Emits the function's end, its exits and its entry. Returns the offset at which it begins.
    fn emit_function_end(&mut self, how: u32, ip: Option<u64>) -> AssemblyOffset {
        self.emit_write_back_of_registers(self.registers.dirty_registers());
        if let Some(ip) = ip {
            dynasm!(self.asm ; .arch x64 ; mov rax, QWORD ip as i64 ; mov [rbx + self.at.ip], rax);
        }
        let saved: Vec<u8> = [14, 15].into_iter().filter(|&host| self.registers.used >> host & 1 != 0).collect();
        // With rbx, rbp, r12 and r13 the stack is aligned for calls by an odd number.
        let filler = if saved.len() == 1 { 0 } else { 8 };
        let asm = &mut self.asm;
        dynasm!(asm ; .arch x64 ; mov eax, how as i32 ; =>self.leave ; add rsp, filler);
        for &host in saved.iter().rev() {
            dynasm!(asm ; .arch x64 ; pop Rq(host));
        }
        dynasm!(asm
            ; .arch x64
            ; pop r13 ; pop r12 ; pop rbp ; pop rbx
            ; ret
            ; =>self.called
            ; mov eax, CALLED as i32
            ; jmp =>self.leave
        );
        self.emit_code_or_watch_store_checks();
        self.emit_compiled_path_exits(|writer, step, _| {
            dynasm!(writer.asm ; .arch x64 ; mov eax, step as i32 ; jmp =>writer.leave);
        });
        let start = self.asm.offset();
        let asm = &mut self.asm;
        dynasm!(asm ; .arch x64 ; push rbx ; push rbp ; push r12 ; push r13);
        for &host in &saved {
            dynasm!(asm ; .arch x64 ; push Rq(host));
        }
        dynasm!(asm
            ; .arch x64
            ; sub rsp, filler
            ; mov rbx, rdi ; mov rbp, rsi ; mov r12, rdx ; mov r13, rcx
            ; jmp =>self.body
        );
        start
    }

    /// Emits code that stores a host register to the guest register in the core that it holds.
    fn emit_register_write_back(&mut self, guest: u8, host: u8) {
        dynasm!(self.asm ; .arch x64 ; mov [rbx + self.at.r + 4 * i32::from(guest)], Rd(host));
    }

    /// Emits code that stores these host registers to their guest registers in the core.
    fn emit_write_back_of_registers(&mut self, dirty: Vec<(u8, u8)>) {
        for (guest, host) in dirty {
            self.emit_register_write_back(guest, host);
        }
    }

    /// Emits all exits: each writes the registers back, and continues with the code that `go` emits for its step.
    fn emit_compiled_path_exits(&mut self, mut go: impl FnMut(&mut NativeCodeEmitter, u32, ahead::LoggedWords)) {
        for Exit { label, step, dirty, words } in std::mem::take(&mut self.exits) {
            dynasm!(self.asm ; .arch x64 ; =>label);
            self.emit_write_back_of_registers(dirty);
            go(self, step, words);
        }
    }

    /// Returns the label of an exit before this step, with the registers as they are now.
    fn label_of_exit_before_instruction(&mut self, step: u32) -> DynamicLabel {
        let label = self.asm.new_dynamic_label();
        self.exits.push(Exit { label, step, dirty: self.registers.dirty_registers(), words: self.words });
        label
    }

    /// Returns the host register that holds this guest register, and emits its load if necessary.
    fn host_register_of_guest_value(&mut self, guest: u8) -> u8 {
        if let Some(host) = self.registers.find_and_lock_host_register(guest) {
            return host;
        }
        let host = self.allocate_host_register(guest);
        dynasm!(self.asm ; .arch x64 ; mov Rd(host), [rbx + self.at.r + 4 * i32::from(guest)]);
        host
    }

    /// Returns the host register for a new value of this guest register, which is written back later.
    fn host_register_for_new_value(&mut self, guest: u8) -> u8 {
        let host = match self.registers.find_and_lock_host_register(guest) {
            Some(host) => host,
            None => self.allocate_host_register(guest),
        };
        self.registers.mark_register_dirty(guest);
        host
    }

    /// Returns a host register for this guest register, and emits the write-back of the one that it displaces.
    fn allocate_host_register(&mut self, guest: u8) -> u8 {
        let (host, evicted) = self.registers.allocate_host_register(guest);
        if let Some(evicted) = evicted {
            self.emit_register_write_back(evicted, host);
        }
        host
    }

    /// Emits the write-back of all values to the core before a call, which keeps the flags and eax.
    fn emit_register_write_back_for_call(&mut self) {
        self.emit_write_back_of_registers(self.registers.dirty_registers());
        self.registers.drop_registers_changed_by_call();
    }

    /// Emits a call of a function with the context and the value `with`. A return value other than 0 ends the path.
    pub fn emit_call(&mut self, function: usize, with: u64) {
        self.emit_register_write_back_for_call();
        self.registers.forget_held_guest_registers();
        self.host_flags = HostCpuFlagsSource::None;
        self.emit_timing_log_save();
        dynasm!(self.asm
            ; .arch x64
            ; mov rdi, r13
            ; mov rsi, QWORD with as i64
            ; mov rax, QWORD function as i64
            ; call rax
        );
        self.emit_timing_log_reload();
        dynasm!(self.asm ; .arch x64 ; test eax, eax ; jnz =>self.called);
    }

    /// Emits code that loads the context's address into r13 and stores the log there for the function that is called
    /// next.
    fn emit_timing_log_save(&mut self) {
        if let Some((foresight, at)) = self.foresight {
            dynasm!(self.asm
                ; .arch x64
                ; mov r13, [rsp + CONTEXT] ; mov [r13 + at.log], r14 ; mov [r12 + foresight.stores], r15
            );
        }
        self.save_logged_writes();
    }

    /// Emits code that reloads the log into host registers after a call.
    fn emit_timing_log_reload(&mut self) {
        if let Some((foresight, at)) = self.foresight {
            dynasm!(self.asm ; .arch x64 ; mov r14, [r13 + at.log] ; mov r15, [r12 + foresight.stores]);
        }
        self.emit_logged_write_set_reload();
    }

    /// Returns the region of board code that is translated.
    pub fn code_region(&self) -> Place {
        self.place
    }

    /// Emits an exit before this step, taken if byte `index` of the table is 0. The context has the pointer to the
    /// table at offset `table`.
    pub fn require_nonzero_byte(&mut self, step: u32, table: i32, index: u32) {
        let exit = self.label_of_exit_before_instruction(step);
        self.host_flags = HostCpuFlagsSource::None;
        dynasm!(self.asm ; .arch x64 ; mov rax, [r13 + table] ; cmp BYTE [rax + index as i32], 0 ; je =>exit);
    }

    /// Emits an exit before this step, taken unless the register plus `more`, masked by `mask`, is `value`.
    pub fn emit_register_value_check(&mut self, step: u32, register: u8, more: u32, (mask, value): (u32, u32)) {
        let host = self.host_register_of_guest_value(register);
        let exit = self.label_of_exit_before_instruction(step);
        self.host_flags = HostCpuFlagsSource::None;
        dynasm!(self.asm
            ; .arch x64
            ; lea eax, [Rq(host) + more as i32]
            ; and eax, mask as i32
            ; cmp eax, value as i32
            ; jne =>exit
        );
    }

    /// Emits code that sets a guest register to a constant.
    pub fn emit_constant(&mut self, register: u8, value: u32) {
        let host = self.host_register_for_new_value(register);
        dynasm!(self.asm ; .arch x64 ; mov Rd(host), value as i32);
    }

    /// Emits code that stores a constant word at offset `at` of the context. `low` is the offset of a word of the
    /// context that is or-ed into it.
    pub fn emit_context_constant_store(&mut self, at: i32, word: u64, low: Option<i32>) {
        let asm = &mut self.asm;
        dynasm!(asm ; .arch x64 ; mov rax, QWORD word as i64);
        if let Some(low) = low {
            dynasm!(asm ; .arch x64 ; mov ecx, [r13 + low] ; or rax, rcx);
        }
        dynasm!(asm ; .arch x64 ; mov [r13 + at], rax);
        self.host_flags = HostCpuFlagsSource::None;
    }

    /// Emits a load of the word at this offset of the RAM, or of the memory whose pointer is at offset `memory` of the
    /// context.
    pub fn load_word(&mut self, register: u8, memory: Option<i32>, offset: u32) {
        let host = self.host_register_for_new_value(register);
        match memory {
            Some(at) => dynasm!(self.asm
                ; .arch x64
                ; mov rax, [r13 + at]
                ; mov Rd(host), [rax + offset as i32]),
            None => dynasm!(self.asm ; .arch x64 ; mov Rd(host), [rbp + offset as i32]),
        }
    }

    /// Emits a branch to a fixed distance at `ip`, with an exit for the case that it goes the other way than `taken`.
    pub fn emit_branch(&mut self, number: u32, op: Op, ip: u64, taken: bool) {
        let conditional = !matches!(op.code, Code::B | Code::Bl);
        match op.code {
            Code::B => {}
            Code::Bl => {
                let link = self.place.instruction_address_of_op(ip).wrapping_add(5);
                let host = self.host_register_for_new_value(14);
                dynasm!(self.asm ; .arch x64 ; mov Rd(host), link as i32);
            }
            Code::Cbz | Code::Cbnz => {
                let host = self.host_register_of_guest_value(op.rn);
                let exit = self.label_of_exit_before_instruction(number);
                dynasm!(self.asm ; .arch x64 ; test Rd(host), Rd(host));
                self.host_flags = HostCpuFlagsSource::None;
                if (op.code == Code::Cbz) == taken {
                    dynasm!(self.asm ; .arch x64 ; jnz =>exit);
                } else {
                    dynasm!(self.asm ; .arch x64 ; jz =>exit);
                }
            }
            _ => {
                let exit = self.label_of_exit_before_instruction(number);
                self.emit_exit_on_branch_mismatch(op, taken, exit);
            }
        }
        self.emit_branch_prediction_log(op, ip, conditional.then_some(taken));
    }

    /// Emits a jump to `exit` that is taken unless the condition of a branch agrees with `taken`.
    fn emit_exit_on_branch_mismatch(&mut self, op: Op, taken: bool, exit: DynamicLabel) {
        // As in opcodes: the lowest bit is the opposite.
        let condition = (op.code as u8 - code::Beq) ^ u8::from(!taken);
        let known = match self.host_flags {
            HostCpuFlagsSource::None => false,
            HostCpuFlagsSource::Difference => true,
            HostCpuFlagsSource::Result => matches!(condition >> 1, 0 | 2),
        };
        if known {
            let asm = &mut self.asm;
            match condition {
                0 => dynasm!(asm ; .arch x64 ; jne =>exit),
                1 => dynasm!(asm ; .arch x64 ; je =>exit),
                2 => dynasm!(asm ; .arch x64 ; jb =>exit),
                3 => dynasm!(asm ; .arch x64 ; jae =>exit),
                4 => dynasm!(asm ; .arch x64 ; jns =>exit),
                5 => dynasm!(asm ; .arch x64 ; js =>exit),
                6 => dynasm!(asm ; .arch x64 ; jno =>exit),
                7 => dynasm!(asm ; .arch x64 ; jo =>exit),
                8 => dynasm!(asm ; .arch x64 ; jbe =>exit),
                9 => dynasm!(asm ; .arch x64 ; ja =>exit),
                10 => dynasm!(asm ; .arch x64 ; jl =>exit),
                11 => dynasm!(asm ; .arch x64 ; jge =>exit),
                12 => dynasm!(asm ; .arch x64 ; jle =>exit),
                _ => dynasm!(asm ; .arch x64 ; jg =>exit),
            }
            return;
        }
        self.host_flags = HostCpuFlagsSource::None;
        let asm = &mut self.asm;
        // The flags as they are in the core: al is 1 if the even condition of the pair holds.
        match condition >> 1 {
            0 => dynasm!(asm ; .arch x64 ; cmp DWORD [rbx + self.at.nz], 0 ; sete al),
            1 => dynasm!(asm ; .arch x64 ; mov al, [rbx + self.at.c]),
            2 => dynasm!(asm ; .arch x64 ; cmp DWORD [rbx + self.at.nz + 4], 0 ; setl al),
            3 => dynasm!(asm ; .arch x64 ; mov al, [rbx + self.at.v]),
            4 => dynasm!(asm ; .arch x64 ; cmp DWORD [rbx + self.at.nz], 0 ; setne al ; and al, [rbx + self.at.c]),
            5 => {
                dynasm!(asm ; .arch x64 ; cmp DWORD [rbx + self.at.nz + 4], 0 ; setl al ; xor al, [rbx + self.at.v] ; xor al, 1)
            }
            _ => dynasm!(asm
                ; .arch x64
                ; cmp DWORD [rbx + self.at.nz + 4], 0 ; setl al ; xor al, [rbx + self.at.v] ; xor al, 1
                ; cmp DWORD [rbx + self.at.nz], 0 ; setne cl ; and al, cl),
        }
        dynasm!(asm ; .arch x64 ; test al, al);
        if condition & 1 == 0 {
            dynasm!(asm ; .arch x64 ; jz =>exit);
        } else {
            dynasm!(asm ; .arch x64 ; jnz =>exit);
        }
    }
}

/// Returns, for each of these instructions, the flags that are read after it before they are written again.
pub fn live_flags(ops: &[Op]) -> Vec<u8> {
    let mut live = vec![flags::ALL; ops.len()];
    let mut needed = flags::ALL;
    for (live, &op) in live.iter_mut().zip(ops).rev() {
        *live = needed;
        if forms::can_compile_data_processing(op) {
            needed = needed & !forms::flags_set_by_op(op) | forms::flags_read_by_op(op);
        } else if !matches!(op.code as u8, code::B | code::Bl | code::Nop) {
            needed = flags::ALL;
        }
    }
    live
}
