//! Code that leads from one basic block of two cores to the next: the progress of both cores is looked up, and the core
//! that continues executes its next block.
//!
//! Registers as where it executes speculatively: rbx the core, rbp the RAM, r15 its log, r13 the context. A block ends
//! with its shape in rax, the distance to its target in rcx and the memories it accessed in r14. The words that it read
//! and wrote are in r12 and r11, folded.

use std::ffi::c_void;

use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynasmApi, DynasmLabelApi, VecAssembler, dynasm};

use super::super::{BlockLayout, EntryPoints};
use super::Store;
use crate::host::registry::HEADS;

/// A native function that executes basic blocks: it takes the core, the bytes of the RAM, the log and the context, and
/// returns why it came back.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct BlockEntry(unsafe extern "sysv64" fn(*mut c_void, *mut u8, *mut c_void, *mut c_void) -> u32);

impl BlockEntry {
    /// Executes the block that the core is before, and those that follow.
    ///
    /// # Safety
    /// The pointers lead to the structures that the code was written for. Nothing else uses these meanwhile.
    #[inline(always)]
    pub unsafe fn call_native(self, core: *mut c_void, ram: *mut u8, log: *mut c_void, context: *mut c_void) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { (self.0)(core, ram, log, context) }
    }
}

/// Writes the native code that leads from one basic block to the next, and returns where it is entered.
pub fn block_entry_points(store: &mut Store, layout: &BlockLayout) -> Option<EntryPoints> {
    let mut writer = BlockChainingEmitter { asm: VecAssembler::new(0), layout };
    writer.emit_function_entry();
    let entry = writer.copy_to_native_code_memory(store)?;
    let mut way = |has_account| {
        let mut writer = BlockChainingEmitter { asm: VecAssembler::new(0), layout };
        let begins = writer.emit_basic_block_transition(has_account);
        let at = writer.copy_to_native_code_memory(store)? as u64;
        Some([at, at + begins])
    };
    let transit = [way(false)?, way(true)?];
    let mut writer = BlockChainingEmitter { asm: VecAssembler::new(0), layout };
    writer.emit_return(layout.back_none);
    let none = writer.copy_to_native_code_memory(store)?;
    // SAFETY: that is what was written.
    let entry = unsafe { std::mem::transmute::<*const u8, BlockEntry>(entry) };
    Some(EntryPoints { entry, transit, none: none as u64 })
}

/// The writer of the code that leads from block to block.
struct BlockChainingEmitter<'a> {
    asm: VecAssembler<X64Relocation>,
    layout: &'a BlockLayout,
}

impl BlockChainingEmitter<'_> {
    /// Copies the written code into the store and returns its host address.
    fn copy_to_native_code_memory(self, store: &mut Store) -> Option<*const u8> {
        store.copy_into_executable_memory(&self.asm.finalize().ok()?)
    }

    /// Emits the function's entry: it saves the host's registers and jumps to the begin of the first block.
    fn emit_function_entry(&mut self) {
        dynasm!(self.asm
            ; .arch x64
            ; push rbx ; push rbp ; push r12 ; push r13 ; push r14 ; push r15
            ; sub rsp, 8
            ; mov rbx, rdi ; mov rbp, rsi ; mov r15, rdx ; mov r13, rcx
            ; jmp QWORD [r13 + self.layout.context.begin]
        );
    }

    /// Emits a return from native code to Rust, with the reason `why`.
    fn emit_return(&mut self, why: u32) {
        dynasm!(self.asm
            ; .arch x64
            ; mov eax, why as i32
            ; add rsp, 8
            ; pop r15 ; pop r14 ; pop r13 ; pop r12 ; pop rbp ; pop rbx
            ; ret
        );
    }

    /// Emits the code from the end of a block to the next one. Returns the offset in bytes at which the next block
    /// begins.
    fn emit_basic_block_transition(&mut self, has_account: bool) -> u64 {
        let context = self.layout.context;
        dynasm!(self.asm ; .arch x64 ; ended:);
        self.emit_timing_transition_lookup();
        if has_account {
            self.emit_timing_transition_count();
        }
        self.emit_cached_timing_application();
        let begins = self.asm.offset().0;
        self.emit_basic_block_entry();
        self.emit_wait_for_other_core();
        dynasm!(self.asm
            ; .arch x64
            ; hand_in:
            ; mov [r13 + context.shape], rax ; mov [r13 + context.next], rcx ; mov [r13 + context.accesses], r14
            ; mov QWORD [r13 + context.executed], 1
        );
        self.emit_return(self.layout.back_hand_in);
        dynasm!(self.asm ; .arch x64 ; next:);
        self.emit_return(self.layout.back_next);
        dynasm!(self.asm ; .arch x64 ; stop:);
        self.emit_return(self.layout.back_stop);
        begins as u64
    }

    /// Emits the look-up of the ended block's cached transition: its address goes to rdi, that of the other core's log
    /// to rdx. If it is not found, or if both cores' blocks may access the same memory, the code returns to Rust with
    /// the block.
    fn emit_timing_transition_lookup(&mut self) {
        let BlockLayout { context, log, transition, hash, .. } = *self.layout;
        dynasm!(self.asm
            ; .arch x64
            ; mov [r15 + log.reads], r12 ; mov [r15 + log.writes], r11
            ; mov rdx, [r13 + context.other_log]
            ; mov rsi, [rdx + log.writes]
            ; mov rdi, [rdx + log.reads]
            ; or rdi, rsi
            ; and rdi, r11
            ; and rsi, r12
            ; or rsi, rdi
            ; jnz >hand_in
            ; mov rsi, [r13 + context.node]
            ; inc rsi
            ; shl rsi, BYTE hash.shape_bits as i8
            ; or rsi, rax
            ; mov rdi, r14
            ; rol rdi, BYTE hash.accesses_turned as i8
            ; xor rdi, rsi
            ; mov r8, rcx
            ; shl r8, BYTE hash.next_shifted as i8
            ; xor rdi, r8
            ; mov r8, QWORD hash.factor as i64
            ; imul rdi, r8
            ; shr rdi, BYTE hash.dropped as i8
            ; shl rdi, BYTE hash.row_bytes.ilog2() as i8
            ; add rdi, [r13 + context.rows]
            ; cmp [rdi + transition.key], rsi
            ; jne >hand_in
            ; cmp [rdi + transition.accesses], r14
            ; jne >hand_in
            ; cmp [rdi + transition.block_next], ecx
            ; jne >hand_in
        );
    }

    /// Emits code that counts the transition at rdi for the profile.
    fn emit_timing_transition_count(&mut self) {
        let BlockLayout { context, hash, .. } = *self.layout;
        let counters_bytes = 2 * size_of::<[u64; 2]>();
        dynasm!(self.asm
            ; .arch x64
            ; mov rax, rdi
            ; sub rax, [r13 + context.rows]
            ; shr rax, BYTE (hash.row_bytes.ilog2() - counters_bytes.ilog2()) as i8
            ; add rax, [r13 + context.counters]
            ; mov rcx, [r13 + context.turn]
            ; inc QWORD [rax + rcx * 8]
        );
    }

    /// Emits code that advances both cores by the cached transition at rdi. Rbx and r15 then point to the core that
    /// continues and to its log.
    fn emit_cached_timing_application(&mut self) {
        let BlockLayout { context, core, log, transition, .. } = *self.layout;
        dynasm!(self.asm
            ; .arch x64
            ; mov al, [r15 + log.served]
            ; mov [r15 + log.probed], al
            ; mov BYTE [r15 + log.served], 0
            ; mov rsi, [r13 + context.other]
            ; movzx eax, BYTE [rdi + transition.instructions]
            ; mov [r15 + log.instructions], rax
            ; add [rbx + core.instructions], rax
            ; movzx eax, BYTE [rdi + transition.waits]
            ; add [rbx + core.bus_wait], rax
            ; movzx eax, BYTE [rdi + transition.waits + 1]
            ; add [rsi + core.bus_wait], rax
            ; movzx eax, BYTE [rdi + transition.spun]
            ; add [rsi + core.instructions], rax
            ; inc QWORD [r13 + context.hits]
            ; movzx eax, WORD [rdi + transition.next]
            ; mov [r13 + context.node], rax
            ; movzx eax, WORD [rdi + transition.cycles]
            ; add rax, [r13 + context.now]
            ; mov [r13 + context.now], rax
            ; cmp BYTE [rdi + transition.swaps], 0
            ; je >same
            ; mov [r13 + context.other], rbx
            ; mov [r13 + context.other_log], r15
            ; mov rbx, rsi
            ; mov r15, rdx
            ; xor QWORD [r13 + context.turn], 1
            ; same:
            ; cmp BYTE [rdi + transition.stored], 0
            ; je >reported
            ; mov rsi, rdi
            ; mov rdi, r13
            ; call QWORD [r13 + context.report_store]
            ; mov rax, [r13 + context.now]
            ; reported:
            ; cmp rax, [r13 + context.until]
            ; ja >stop
        );
    }

    /// Emits code that begins the core's next block, if the block is JIT-compiled, its code is in the chip's cache and
    /// its probes have fired.
    fn emit_basic_block_entry(&mut self) {
        let BlockLayout { context, core, log, head, translation, .. } = *self.layout;
        dynasm!(self.asm
            ; .arch x64
            ; cmp QWORD [r15 + log.summons], 0
            ; jne >next
            ; mov rax, [rbx + core.ip]
            ; mov ecx, eax
            ; shr ecx, BYTE head.unit.ilog2() as i8
            ; and ecx, (1 << HEADS) - 1
            ; shl ecx, BYTE head.bytes.ilog2() as i8
            ; add rcx, [r13 + context.heads]
            ; cmp [rcx + head.ip], rax
            ; jne >next
            ; mov r14, [rcx + head.translation]
            ; mov rdx, [r13 + context.lost]
            ; test r14, r14
            ; jz >probed
            ; cmp [r14 + translation.lost], rdx
            ; jne >next
            ; enter:
        );
        self.emit_register_saves();
        dynasm!(self.asm
            ; .arch x64
            ; mov rcx, r14
            ; xor r11d, r11d ; xor r12d, r12d ; xor r14d, r14d
            ; jmp QWORD [rcx + translation.code]
            ; probed:
            ; mov r14, [rcx + head.probed]
            ; test r14, r14
            ; jz >next
            ; cmp [r14 + translation.lost], rdx
            ; jne >next
            ; cmp BYTE [r15 + log.served], 0
            ; jne <enter
        );
        self.emit_jump_unless_second_core();
        dynasm!(self.asm
            ; .arch x64
            ; movzx ecx, cl
            ; add rcx, [r13 + context.now]
            ; mov rdi, [r13 + context.bus]
            ; mov rsi, rbx
            ; mov rdx, r14
            ; call QWORD [r13 + context.fire_probes]
            ; test al, al
            ; jz >next
            ; mov BYTE [r15 + log.served], 1
            ; mov rax, [rbx + core.ip]
            ; jmp <enter
        );
    }

    /// Emits code that loads the times of the reached node into rcx, and jumps to the wait if the other core comes
    /// first.
    fn emit_jump_unless_second_core(&mut self) {
        let BlockLayout { context, node, .. } = *self.layout;
        dynasm!(self.asm
            ; .arch x64
            ; imul rcx, [r13 + context.node], node.bytes
            ; add rcx, [r13 + context.nodes]
            ; mov rcx, [rcx + node.times]
            ; cmp cl, ch
            ; ja >wait
            ; jne >first
            ; bt rcx, BYTE node.other_in_entry as i8
            ; jc >wait
            ; bt rcx, BYTE node.wins_ties as i8
            ; jnc >wait
            ; first:
        );
    }

    /// Emits code that saves the core as it is before a block, for a roll-back, with its instruction's place in rax.
    fn emit_register_saves(&mut self) {
        let log = self.layout.log;
        dynasm!(self.asm ; .arch x64 ; mov [r15 + log.ip], rax);
        for bytes in (0..log.start_bytes).step_by(16) {
            dynasm!(self.asm ; .arch x64 ; movups xmm0, [rbx + bytes] ; movups [r15 + log.start + bytes], xmm0);
        }
    }

    /// Emits a wait for the other core, as the core's next block.
    fn emit_wait_for_other_core(&mut self) {
        let BlockLayout { log, wait_shape, .. } = *self.layout;
        dynasm!(self.asm ; .arch x64 ; wait:);
        self.emit_register_saves();
        dynasm!(self.asm
            ; .arch x64
            ; mov WORD [r15 + log.words], 0
            ; mov rax, QWORD wait_shape as i64
            ; xor ecx, ecx
            ; xor r11d, r11d ; xor r12d, r12d ; xor r14d, r14d
            ; jmp <ended
        );
    }
}
