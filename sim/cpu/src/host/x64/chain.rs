//! Code that continues from path to path without coming back in between.
//!
//! It is jumped to: by the entry, which has saved the host's registers, or by code of another path. At its end, and
//! where it is left, it jumps on by way of a record. The record has the time of the trace that ended there last, and
//! what follows.

use std::ffi::c_void;
use std::mem::offset_of;

use dynasmrt::x64::X64Relocation;
use dynasmrt::{AssemblyOffset, DynamicLabel, DynasmApi, DynasmLabelApi, VecAssembler, dynasm};

use super::super::{ConstantMemoryAddresses, PathLayout, Repeats, TimingPredictorLayout, TraceLogLayout};
use super::prediction::{CONTEXT, FOUND, FRAME, MARKS};
use super::{NativeCodeEmitter, Store};

/// A native function that continues from path to path: it takes the core, the bytes of the RAM, their marks, the
/// context and a code address, and returns what is in rax at the end.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct Entry(unsafe extern "sysv64" fn(*mut c_void, *mut u8, *const u8, *mut c_void, u64) -> u64);

impl Entry {
    /// Executes the native code at that host address, and the paths that follow.
    ///
    /// # Safety
    /// The pointers lead to the structures that the code was written for. Nothing else uses these meanwhile.
    #[inline(always)]
    pub unsafe fn call_native(
        self,
        core: *mut c_void,
        ram: (*mut u8, *const u8),
        context: *mut c_void,
        code: u64,
    ) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { (self.0)(core, ram.0, ram.1, context, code) }
    }
}

/// The cached-timing records of a path: one for each step before which it may be left, and one for its end.
#[derive(Debug, Clone, Copy)]
pub struct Records {
    /// The host's address of the first.
    pub first: u64,
    /// Bytes of each.
    pub bytes: u32,
}

/// The labels at which the code of a path continues, with a record in rax.
#[derive(Debug, Clone, Copy)]
struct CompiledPathExitLabels {
    /// The path was executed up to there.
    executed: DynamicLabel,
    /// The same. Its last step has said where execution continues.
    jumped: DynamicLabel,
    /// Nothing of it was.
    otherwise: DynamicLabel,
    /// Out, with what is in rax.
    leave: DynamicLabel,
}

/// Writes the entry function of chained paths into the store. `logs`: the code keeps a log, which the entry begins.
pub fn write_path_entry_function(
    store: &mut Store,
    logs: Option<(TimingPredictorLayout, TraceLogLayout)>,
) -> Option<Entry> {
    let mut asm = VecAssembler::<X64Relocation>::new(0);
    dynasm!(asm
        ; .arch x64
        ; push rbx ; push rbp ; push r12 ; push r13 ; push r14 ; push r15
        ; sub rsp, FRAME
        ; mov rbx, rdi ; mov rbp, rsi
    );
    match logs {
        Some((foresight, at)) => dynasm!(asm
            ; .arch x64
            ; mov [rsp + CONTEXT], rcx ; mov [rsp + MARKS], rdx
            ; mov rax, [rcx + at.constants + offset_of!(ConstantMemoryAddresses, found) as i32] ; mov [rsp + FOUND], rax
            ; mov r12, [rcx + at.pipe] ; mov r14d, 1 ; mov r15, [r12 + foresight.stores]
        ),
        None => dynasm!(asm ; .arch x64 ; mov r12, rdx ; mov r13, rcx),
    }
    dynasm!(asm ; .arch x64 ; jmp r8);
    let at = store.copy_into_executable_memory(&asm.finalize().ok()?)?;
    // SAFETY: that is what was written.
    Some(unsafe { std::mem::transmute::<*const u8, Entry>(at) })
}

impl NativeCodeEmitter {
    /// Finishes a path of `steps` steps, copies its code into the store and returns its host address. The code leaves
    /// the path with one of these records. `jumps`: the last step has set where execution continues. `called` is
    /// returned in rax if a call has ended the path.
    pub fn finish_chained_code_path(
        mut self,
        store: &mut Store,
        records: Records,
        (steps, jumps): (u32, bool),
        called: u64,
        layout: &PathLayout,
    ) -> Option<u64> {
        let [executed, jumped, otherwise] = std::array::from_fn(|_| self.asm.new_dynamic_label());
        let ways = CompiledPathExitLabels { executed, jumped, otherwise, leave: self.leave };
        self.emit_write_back_of_registers(self.registers.dirty_registers());
        self.emit_path_exit_jump_with_record(records, steps, if jumps { jumped } else { executed });
        self.emit_jump_to_next_compiled_path(layout, ways);
        dynasm!(self.asm ; .arch x64 ; =>self.called ; mov rax, QWORD called as i64 ; =>self.leave);
        if let Some((foresight, at)) = self.foresight {
            dynasm!(self.asm
                ; .arch x64
                ; mov r13, [rsp + CONTEXT] ; mov [r13 + at.log], r14 ; mov [r12 + foresight.stores], r15
            );
        }
        dynasm!(self.asm
            ; .arch x64
            ; add rsp, FRAME
            ; pop r15 ; pop r14 ; pop r13 ; pop r12 ; pop rbp ; pop rbx
            ; ret
        );
        self.emit_code_or_watch_store_checks();
        self.emit_out_of_line_prediction_code();
        self.emit_compiled_path_exits(|writer, step, _| {
            writer.emit_path_exit_jump_with_record(records, step, if step == 0 { otherwise } else { executed })
        });
        let body = self.asm.labels().resolve_dynamic(self.body).unwrap_or(AssemblyOffset(0));
        let at = store.copy_into_executable_memory(&self.asm.finalize().ok()?)?;
        Some(at as u64 + body.0 as u64)
    }

    /// Emits a jump to a way out, with the record of this step in rax.
    fn emit_path_exit_jump_with_record(&mut self, records: Records, step: u32, way: DynamicLabel) {
        let record = records.first + u64::from(step * records.bytes);
        dynasm!(self.asm ; .arch x64 ; mov rax, QWORD record as i64 ; jmp =>way);
    }

    /// Emits the code that goes from the end of a path to the next one if its timing is known.
    fn emit_jump_to_next_compiled_path(&mut self, layout: &PathLayout, ways: CompiledPathExitLabels) {
        let PathLayout { state, executed, counts, record, core, transition, .. } = *layout;
        dynasm!(self.asm
            ; .arch x64
            ; =>ways.otherwise
            ; mov rcx, [rax + record.next]
            ; test rcx, rcx
            ; jz >asks
            ; jmp rcx
            ; =>ways.jumped
        );
        self.emit_exit_timing_record_selection(layout);
        dynasm!(self.asm
            ; .arch x64
            ; mov rdx, [rbx + core.ip]
            ; cmp [rax + record.ip], rdx
            ; jne >asks
            ; jmp >chosen
            ; =>ways.executed
        );
        self.emit_exit_timing_record_selection(layout);
        dynasm!(self.asm ; .arch x64 ; chosen:);
        if self.foresight.is_some() {
            dynasm!(self.asm ; .arch x64 ; cmp [rax + record.log], r14 ; jne >asks);
        }
        dynasm!(self.asm
            ; .arch x64
            ; cmp [rax + record.state], ecx
            ; jne >asks
            ; mov rcx, [rax + record.transition]
            ; mov edx, [rax + record.serial]
            ; cmp [rcx + transition.serial], edx
            ; jne >asks
        );
        self.emit_cache_lookup_replay(layout);
        dynasm!(self.asm
            ; .arch x64
            ; mov edx, [rcx + transition.bus_wait]
            ; add [rbx + core.bus_wait], rdx
            ; mov edx, [rcx + transition.flash_wait]
            ; add [rbx + core.flash_wait], rdx
            ; mov rdx, [rax + record.instructions]
            ; add [rbx + core.instructions], rdx
            ; mov edx, [rcx + transition.next]
            ; mov [r13 + state], edx
            ; mov rdx, [r13 + counts]
            ; add [rcx + transition.taken], rdx
            ; inc QWORD [r13 + executed]
            ; mov edx, [rcx + transition.cycles]
            ; add rdx, [rbx + core.t]
            ; mov [rbx + core.t], rdx
            ; add rdx, layout.trace_cycles as i32
            ; cmp rdx, [rbx + core.limit]
            ; ja >done
            ; mov rcx, [rax + record.next]
            ; test rcx, rcx
            ; jz >done
        );
        self.emit_timing_log_clear();
        dynasm!(self.asm
            ; .arch x64
            ; jmp rcx
            ; done:
            ; mov rax, [rax + record.left]
            ; bts rax, BYTE layout.done.ilog2() as i8
            ; jmp =>ways.leave
            ; asks:
            ; mov rax, [rax + record.left]
            ; jmp =>ways.leave
        );
    }

    /// Emits code that selects, among the records of an exit, that for the current state and log.
    fn emit_exit_timing_record_selection(&mut self, layout: &PathLayout) {
        let record = layout.record;
        self.emit_context_address_load();
        dynasm!(self.asm ; .arch x64 ; mov ecx, [r13 + layout.state] ; mov edx, ecx);
        if self.foresight.is_some() {
            // All bits of the log. The last ones belong to the first accesses.
            dynasm!(self.asm
                ; .arch x64
                ; mov rsi, r14
                ; shr rsi, 27
                ; xor rsi, r14
                ; add edx, esi
                ; imul edx, edx, 0x9e37_79b1_u32 as i32
                ; shr edx, (u32::BITS - record.ways.ilog2()) as i8
            );
        } else {
            dynasm!(self.asm ; .arch x64 ; and edx, (record.ways - 1) as i32);
        }
        dynasm!(self.asm ; .arch x64 ; shl edx, record.bytes.ilog2() as i8 ; add rax, rdx);
    }

    /// Emits the repetition of the cache look-ups that were recorded with the transition at rcx, or a jump to the code
    /// that lets the bus repeat them.
    fn emit_cache_lookup_replay(&mut self, layout: &PathLayout) {
        let lookups = |at: usize| (layout.transition.lookups + at) as i32;
        let (Repeats::Held { version } | Repeats::Touched { version, .. }) = layout.repeats else { return };
        dynasm!(self.asm
            ; .arch x64
            ; mov rdx, [r13 + layout.version]
            ; cmp [rcx + lookups(version)], rdx
            ; jne >asks
        );
        let Repeats::Touched { group, group_bytes, used, ticks, .. } = layout.repeats else { return };
        dynasm!(self.asm
            ; .arch x64
            ; mov rsi, [r13 + layout.clock]
            ; mov rdi, [rsi]
            ; add rdi, ticks as i32
            ; mov [rsi], rdi
            ; mov edx, [rcx + lookups(group)]
            ; imul rdx, rdx, group_bytes as i32
            ; add rdx, [r13 + layout.groups]
            ; mov [rdx + used as i32], rdi
        );
    }

    /// Emits code that loads the context's address into r13, unless it is always there.
    fn emit_context_address_load(&mut self) {
        if self.foresight.is_some() {
            dynasm!(self.asm ; .arch x64 ; mov r13, [rsp + CONTEXT]);
        }
    }

    /// Emits code that empties the log.
    fn emit_timing_log_clear(&mut self) {
        if self.foresight.is_some() {
            dynasm!(self.asm ; .arch x64 ; mov r14d, 1);
        }
    }
}
