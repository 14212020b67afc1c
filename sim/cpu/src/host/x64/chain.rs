//! Code that continues from path to path without coming back in between.
//!
//! It is jumped to: by the entry, which has saved the host's registers, or by code of another path. At its end, and where it
//! is left, it jumps on by way of a record: what that says, and how, is the business of whoever asks for the code.

use std::ffi::c_void;
use std::mem::offset_of;

use dynasmrt::x64::X64Relocation;
use dynasmrt::{AssemblyOffset, DynamicLabel, DynasmApi, DynasmLabelApi, VecAssembler, dynasm};

use super::super::{ConstantsAt, Foresight, Logging};
use super::prediction::{CONTEXT, FOUND, FRAME, MARKS};
use super::{Store, Writer};

/// Enters code at an address, with the core, the bytes of the RAM, their marks and the context: what that put in rax.
pub type Entry = unsafe extern "sysv64" fn(*mut c_void, *mut u8, *const u8, *mut c_void, u64) -> u64;

/// The records of a path: one for each of its steps, before which it may be left, and one for its end.
#[derive(Debug, Clone, Copy)]
pub struct Records {
    /// The host's address of the first.
    pub first: u64,
    /// Bytes of each.
    pub bytes: u32,
}

/// The target of the code with a record in rax: all registers of the target are in the core then, and those of the
/// host that held them are free.
#[derive(Debug, Clone, Copy)]
pub struct Ways {
    /// The path was executed up to there.
    pub executed: DynamicLabel,
    /// The same. Its last step has said where execution continues.
    pub jumped: DynamicLabel,
    /// Nothing of it was.
    pub otherwise: DynamicLabel,
    /// Out, with what is in rax.
    pub leave: DynamicLabel,
}

/// Writes an entry. Code that logs finds its log begun.
pub fn entry(store: &mut Store, logs: Option<(Foresight, Logging)>) -> Option<Entry> {
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
            ; mov rax, [rcx + at.constants + offset_of!(ConstantsAt, found) as i32] ; mov [rsp + FOUND], rax
            ; mov r12, [rcx + at.pipe] ; mov r14d, 1 ; mov r15, [r12 + foresight.stores]
        ),
        None => dynasm!(asm ; .arch x64 ; mov r12, rdx ; mov r13, rcx),
    }
    dynasm!(asm ; .arch x64 ; jmp r8);
    let at = store.add(&asm.finalize().ok()?)?;
    // SAFETY: that is what was written.
    Some(unsafe { std::mem::transmute::<*const u8, Entry>(at) })
}

impl Writer {
    /// Puts code of so many steps into the store: its address. It leaves by these records. `jumps` if its last step has said
    /// where execution continues. `called` is put in rax when a call has ended it. `ways` writes the code for each of them.
    pub fn finish_chained(
        mut self,
        store: &mut Store,
        records: Records,
        (steps, jumps): (u32, bool),
        called: u64,
        write: impl FnOnce(&mut Writer, Ways),
    ) -> Option<u64> {
        let [executed, jumped, otherwise] = std::array::from_fn(|_| self.asm.new_dynamic_label());
        let ways = Ways { executed, jumped, otherwise, leave: self.leave };
        self.write_all_back(self.registers.dirty());
        self.go(records, steps, if jumps { jumped } else { executed });
        write(&mut self, ways);
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
        self.write_near_marks();
        self.write_foresight();
        self.write_exits(|writer, step, _| writer.go(records, step, if step == 0 { otherwise } else { executed }));
        let body = self.asm.labels().resolve_dynamic(self.body).unwrap_or(AssemblyOffset(0));
        let at = store.add(&self.asm.finalize().ok()?)?;
        Some(at as u64 + body.0 as u64)
    }

    fn go(&mut self, records: Records, step: u32, way: DynamicLabel) {
        let record = records.first + u64::from(step * records.bytes);
        dynasm!(self.asm ; .arch x64 ; mov rax, QWORD record as i64 ; jmp =>way);
    }

    /// The context to r13, where it is not there.
    pub fn context(&mut self) {
        if self.foresight.is_some() {
            dynasm!(self.asm ; .arch x64 ; mov r13, [rsp + CONTEXT]);
        }
    }

    /// The log begins anew.
    pub fn begin_log(&mut self) {
        if self.foresight.is_some() {
            dynasm!(self.asm ; .arch x64 ; mov r14d, 1);
        }
    }
}
