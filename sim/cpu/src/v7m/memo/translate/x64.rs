//! Translation to code of x86-64 hosts.

mod access;
mod alu;
mod calls;
mod registers;
mod store;

use dynasmrt::x64::X64Relocation;
use dynasmrt::{AssemblyOffset, DynamicLabel, DynasmApi, DynasmLabelApi, VecAssembler, dynasm};
use std::ffi::c_void;
use std::mem::offset_of;

use super::super::{Memorable, QuickBus};
use super::plan::{Course, Step};
use super::{CALLED, COMPLETE, Context, RamLayout};
use crate::v7m::code::{Code, number as code};
use crate::v7m::core::Core;
use calls::{call_block, call_instruction, load_elsewhere};
use registers::Registers;
pub(super) use store::Store;

/// Code of the host, in a [`Store`] that must be kept for as long.
#[derive(Debug)]
pub(super) struct Made(Function);

/// With the core, the bytes of the RAM, their marks and the context.
type Function = unsafe extern "sysv64" fn(*mut Core, *mut u8, *const u8, *mut c_void) -> u32;

impl Made {
    /// # Safety
    /// As for [`super::Translation::run`].
    #[inline(always)]
    pub unsafe fn call<P, B>(&self, context: &mut Context<'_, P, B>, ram: *mut u8, marks: *const u8) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { (self.0)(&raw mut *context.core, ram, marks, std::ptr::from_mut(context).cast()) }
    }
}

/// Offsets in a core.
const R: i32 = offset_of!(Core, r) as i32;
const NZ: i32 = offset_of!(Core, nz) as i32;
const N: i32 = NZ + 4;
const C: i32 = offset_of!(Core, c) as i32;
const V: i32 = offset_of!(Core, v) as i32;
const IP: i32 = offset_of!(Core, ip) as i32;
const S: i32 = offset_of!(Core, s) as i32;
const FLOAT_READY: i32 = offset_of!(Core, float_ready) as i32;
/// The number of eax.
const RAX: u8 = 0;

/// Flags that an instruction sets or needs.
mod flags {
    pub const NZ: u8 = 1;
    pub const C: u8 = 2;
    pub const V: u8 = 4;
    pub const ALL: u8 = 7;
}

/// What the host's flags are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostFlags {
    None,
    Difference,
    /// Only that it is zero or negative.
    Result,
}

/// What writes code. Registers: rbx the core, rbp the RAM, r12 its marks, r13 the context; rax and rcx for intermediate
/// values, all others but rsp for registers of the target.
struct Writer<'a> {
    asm: VecAssembler<X64Relocation>,
    registers: Registers,
    host_flags: HostFlags,
    ram: RamLayout,
    exits: Vec<Exit>,
    epilogue: DynamicLabel,
    called: DynamicLabel,
    body: DynamicLabel,
    /// What loads from where is not main RAM.
    loader: usize,
    core: &'a Core,
    /// Flags that are looked at behind the instruction in hand.
    live: u8,
}

/// A way out before a step.
struct Exit {
    label: DynamicLabel,
    step: u32,
    dirty: Vec<(u8, u8)>,
}

/// Code for the steps, which it points to where it calls. Where they are the `rest` of a path that was left before an access,
/// that is called: a store that had consequences has them again, and would leave this path as well.
pub(super) fn assemble<P: Memorable, B: QuickBus>(
    store: &mut Store,
    core: &Core,
    ram: RamLayout,
    steps: &[Step],
    rest: bool,
) -> Option<Made> {
    let mut asm = VecAssembler::new(0);
    let [epilogue, called, body] = std::array::from_fn(|_| asm.new_dynamic_label());
    dynasm!(asm ; .arch x64 ; =>body);
    let mut writer = Writer {
        asm,
        registers: Registers::default(),
        host_flags: HostFlags::None,
        ram,
        exits: Vec::new(),
        epilogue,
        called,
        body,
        loader: load_elsewhere::<P, B> as unsafe extern "sysv64" fn(_, _, _) -> _ as usize,
        core,
        live: flags::ALL,
    };
    let live = live(steps);
    let mut is_called = false;
    for (number, step) in steps.iter().enumerate() {
        writer.live = live[number];
        writer.registers.unlock();
        let is_left = rest && number == 0 && matches!(step.course, Course::Access(_));
        is_called = is_left || !writer.step(number as u32, step);
        if is_called {
            let block = call_block::<P, B> as unsafe extern "sysv64" fn(_, _) -> _;
            let instruction = call_instruction::<P, B> as unsafe extern "sysv64" fn(_, _) -> _;
            writer.call(step, if step.course == Course::Block { block as usize } else { instruction as usize });
        }
    }
    let end = steps.last()?;
    let jumped = is_called || matches!(end.op.code, Code::Bx | Code::Blx | Code::LdmPc);
    let start = writer.end((!jumped).then(|| behind(end)));
    let at = store.add(&writer.asm.finalize().ok()?)?;
    // SAFETY: the function that begins there was written in this form.
    Some(Made(unsafe { std::mem::transmute::<*const u8, Function>(at.wrapping_add(start.0)) }))
}

/// Where execution goes on behind a step that is translated.
fn behind(step: &Step) -> u64 {
    let distance = match step.course {
        Course::Branch(true) => step.op.imm as i32 as isize,
        _ => step.op.halfwords() as isize,
    };
    step.ip.wrapping_offset(distance) as u64
}

/// Flags looked at behind each step, before they are written again.
fn live(steps: &[Step]) -> Vec<u8> {
    let mut live = vec![flags::ALL; steps.len()];
    let mut needed = flags::ALL;
    for (number, step) in steps.iter().enumerate().rev() {
        live[number] = needed;
        let number = step.op.code as u8;
        if alu::translates(step.op) {
            needed = needed & !alu::sets(step.op) | alu::reads(step.op);
        } else if !matches!(number, code::B | code::Bl | code::Nop) {
            needed = flags::ALL;
        }
    }
    live
}

impl Writer<'_> {
    /// True if the step was translated.
    fn step(&mut self, number: u32, step: &Step) -> bool {
        match step.course {
            Course::Block => false,
            Course::Branch(taken) => {
                self.branch(number, step, taken);
                true
            }
            Course::Access(home) => self.access(number, step, home),
            Course::On if step.op.code == Code::Nop => true,
            Course::On if matches!(step.op.code, Code::Bx | Code::Blx) => {
                self.exchange(number, step);
                true
            }
            Course::On => self.operate(step.op) || self.float(number, step.op),
        }
    }

    /// The rest; returns where the function begins.
    fn end(&mut self, ip: Option<u64>) -> AssemblyOffset {
        for (guest, host) in self.registers.dirty() {
            self.write_back(guest, host);
        }
        if let Some(ip) = ip {
            dynasm!(self.asm ; .arch x64 ; mov rax, QWORD ip as i64 ; mov [rbx + IP], rax);
        }
        let saved: Vec<u8> = [14, 15].into_iter().filter(|&host| self.registers.used >> host & 1 != 0).collect();
        // With rbx, rbp, r12 and r13 the stack is aligned for calls by an odd number.
        let filler = if saved.len() == 1 { 0 } else { 8 };
        let asm = &mut self.asm;
        dynasm!(asm ; .arch x64 ; mov eax, COMPLETE as i32 ; =>self.epilogue ; add rsp, filler);
        for &host in saved.iter().rev() {
            dynasm!(asm ; .arch x64 ; pop Rq(host));
        }
        dynasm!(asm
            ; .arch x64
            ; pop r13 ; pop r12 ; pop rbp ; pop rbx
            ; ret
            ; =>self.called
            ; mov eax, CALLED as i32
            ; jmp =>self.epilogue
        );
        for Exit { label, step, dirty } in std::mem::take(&mut self.exits) {
            dynasm!(self.asm ; .arch x64 ; =>label);
            for (guest, host) in dirty {
                self.write_back(guest, host);
            }
            dynasm!(self.asm ; .arch x64 ; mov eax, step as i32 ; jmp =>self.epilogue);
        }
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

    fn write_back(&mut self, guest: u8, host: u8) {
        dynasm!(self.asm ; .arch x64 ; mov [rbx + R + 4 * i32::from(guest)], Rd(host));
    }

    /// The way out before a step, with registers as they are now.
    fn exit(&mut self, step: u32) -> DynamicLabel {
        let label = self.asm.new_dynamic_label();
        self.exits.push(Exit { label, step, dirty: self.registers.dirty() });
        label
    }

    /// The host's register with the value of one of the target's.
    fn read(&mut self, guest: u8) -> u8 {
        if let Some(host) = self.registers.find(guest) {
            return host;
        }
        let host = self.allocate(guest);
        dynasm!(self.asm ; .arch x64 ; mov Rd(host), [rbx + R + 4 * i32::from(guest)]);
        host
    }

    /// The host's register for a new value of one of the target's.
    fn write(&mut self, guest: u8) -> u8 {
        let host = match self.registers.find(guest) {
            Some(host) => host,
            None => self.allocate(guest),
        };
        self.registers.soil(guest);
        host
    }

    fn allocate(&mut self, guest: u8) -> u8 {
        let (host, evicted) = self.registers.allocate(guest);
        if let Some(evicted) = evicted {
            self.write_back(evicted, host);
        }
        host
    }

    /// The core has all values; registers that a call does not keep are free. Flags and eax stay.
    fn call_begins(&mut self) {
        for (guest, host) in self.registers.dirty() {
            self.write_back(guest, host);
        }
        self.registers.called();
    }

    /// Calls the interpreter for a step.
    fn call(&mut self, step: &Step, function: usize) {
        self.call_begins();
        self.registers.forget();
        self.host_flags = HostFlags::None;
        dynasm!(self.asm
            ; .arch x64
            ; mov rdi, r13
            ; mov rsi, QWORD std::ptr::from_ref(step) as i64
            ; mov rax, QWORD function as i64
            ; call rax
            ; test eax, eax
            ; jnz =>self.called
        );
    }

    fn branch(&mut self, number: u32, step: &Step, taken: bool) {
        let op = step.op;
        match op.code {
            Code::B => {}
            Code::Bl => {
                let link = self.core.address_of(step.ip).wrapping_add(5);
                let host = self.write(14);
                dynasm!(self.asm ; .arch x64 ; mov Rd(host), link as i32);
            }
            Code::Cbz | Code::Cbnz => {
                let host = self.read(op.rn);
                let exit = self.exit(number);
                dynasm!(self.asm ; .arch x64 ; test Rd(host), Rd(host));
                self.host_flags = HostFlags::None;
                if (op.code == Code::Cbz) == taken {
                    dynasm!(self.asm ; .arch x64 ; jnz =>exit);
                } else {
                    dynasm!(self.asm ; .arch x64 ; jz =>exit);
                }
            }
            _ => {
                let exit = self.exit(number);
                let condition = op.code as u8 - code::Beq;
                self.leave_unless(condition ^ u8::from(!taken), exit);
            }
        }
    }

    /// Leaves unless a condition (as in an opcode) holds.
    fn leave_unless(&mut self, condition: u8, exit: DynamicLabel) {
        let known = match self.host_flags {
            HostFlags::None => false,
            HostFlags::Difference => true,
            HostFlags::Result => matches!(condition >> 1, 0 | 2),
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
        self.host_flags = HostFlags::None;
        let asm = &mut self.asm;
        // The flags as they are in the core: al is 1 if the even condition of the pair holds.
        match condition >> 1 {
            0 => dynasm!(asm ; .arch x64 ; cmp DWORD [rbx + NZ], 0 ; sete al),
            1 => dynasm!(asm ; .arch x64 ; mov al, [rbx + C]),
            2 => dynasm!(asm ; .arch x64 ; cmp DWORD [rbx + N], 0 ; setl al),
            3 => dynasm!(asm ; .arch x64 ; mov al, [rbx + V]),
            4 => dynasm!(asm ; .arch x64 ; cmp DWORD [rbx + NZ], 0 ; setne al ; and al, [rbx + C]),
            5 => dynasm!(asm ; .arch x64 ; cmp DWORD [rbx + N], 0 ; setl al ; xor al, [rbx + V] ; xor al, 1),
            _ => dynasm!(asm
                ; .arch x64
                ; cmp DWORD [rbx + N], 0 ; setl al ; xor al, [rbx + V] ; xor al, 1
                ; cmp DWORD [rbx + NZ], 0 ; setne cl ; and al, cl),
        }
        dynasm!(asm ; .arch x64 ; test al, al);
        if condition & 1 == 0 {
            dynasm!(asm ; .arch x64 ; jz =>exit);
        } else {
            dynasm!(asm ; .arch x64 ; jnz =>exit);
        }
    }
}
