//! Transits from one block to the next: both cores' progress is looked up, and the core that continues executes its
//! next block.

use std::mem::offset_of;

use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynasmApi, DynasmLabelApi, VecAssembler, dynasm};

use super::super::table::{ACCESSES_TURNED, NEXT_SHIFTED, ODD, TRANSITIONS, Transition, at};
use super::super::{Node, PairedBus, State, tell};
use super::{Back, HEADS, Head, Translation};
use crate::host::x64::{AheadEntry, Store};
use crate::v6m::block::Block;
use crate::v6m::core::Core;
use crate::v6m::op::Op;
use crate::v6m::speculation::SpeculationLog;
use crate::v6m::translate::Asks;

/// How code is entered, and where it goes from its ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryPoints {
    pub entry: AheadEntry,
    /// The transit from the end of a block to the begin of one, without and with an account of transitions.
    pub transit: [[u64; 2]; 2],
    pub none: u64,
}

/// The context of native code, at its call and at its return.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Context {
    pub asks: Asks,
    pub marks: u64,
    /// How blocks continue, where one begins, and who has probes fire.
    pub transit: u64,
    begin: u64,
    attend: u64,
    /// The receiver of a report on a store.
    tell: u64,
    nodes: *const Node,
    /// The other core and its log.
    other: u64,
    other_log: u64,
    /// The node that both have reached, its cycle, and which core continues.
    node: u64,
    now: u64,
    turn: u64,
    /// No block may begin after this.
    until: u64,
    /// Addresses of transitions, their account (or null) and heads.
    places: u64,
    times: *mut [u64; 2],
    heads: *const Head,
    /// How many lines the cache of the code has lost.
    lost: u64,
    /// Transitions that were known.
    known: u64,
    /// A block was executed, and not handed in.
    executed: u64,
    /// A place where a block has ended too often before something unexpected, or null.
    pub stale: *mut Op,
    /// The block that was executed last.
    shape: u64,
    next: u64,
    accesses: u64,
}

impl Context {
    #[inline(always)]
    pub fn new<B: PairedBus>(bus: &mut B) -> Context {
        const { assert!(offset_of!(Context, asks) == 0) };
        let quick = bus.quick();
        let (marks, constants) = (quick.marks.as_ptr() as u64, quick.constants.as_ptr() as u64);
        let pairs = bus.pairs();
        let has_account = usize::from(pairs.table.account.is_on());
        let [transit, begin] =
            pairs.blocks.entry_points.map_or([0; 2], |entry_points| entry_points.transit[has_account]);
        let attend = attend::<B> as unsafe extern "sysv64" fn(_, _, _, _) -> _ as usize as u64;
        let tell = tell_of::<B> as unsafe extern "sysv64" fn(_, _) as usize as u64;
        Context {
            marks,
            transit,
            begin,
            attend,
            tell,
            nodes: std::ptr::null(),
            other: 0,
            other_log: 0,
            node: 0,
            now: 0,
            turn: 0,
            until: pairs.until,
            places: pairs.table.rows(),
            times: pairs.table.account.counters(),
            heads: pairs.blocks.heads.as_ptr(),
            lost: 0,
            known: 0,
            executed: 0,
            stale: std::ptr::null_mut(),
            shape: 0,
            next: 0,
            accesses: 0,
            asks: Asks::new(bus, constants),
        }
    }

    /// Executes the block that the first core is before, if that is translated, and what follows. Why it came back, and the
    /// block that was executed last. The cores are in the order in which they continue.
    ///
    /// # Safety
    /// As for [`run_native`](super::run_native).
    #[inline(always)]
    pub unsafe fn run<B: PairedBus>(
        &mut self,
        bus: &mut B,
        cores: &mut [*mut Core; 2],
        logs: &mut [*mut SpeculationLog; 2],
    ) -> (Back, Block) {
        let lost = bus.lines_lost();
        let pairs = bus.pairs();
        let Some(EntryPoints { entry, .. }) = pairs.blocks.entry_points else { return (Back::Next, Block::NONE) };
        (self.node, self.now, self.turn) = (pairs.node.into(), pairs.now, pairs.turn as u64);
        (self.other, self.other_log, self.lost) = (cores[1] as u64, logs[1] as u64, lost);
        (self.known, self.executed, self.nodes) = (0, 0, pairs.table.nodes());
        let began = self.turn;
        // SAFETY: the caller's promise.
        let back = unsafe { entry(cores[0].cast(), bus.ram().start(), logs[0].cast(), (&raw mut *self).cast()) };
        if self.turn != began {
            cores.swap(0, 1);
            logs.swap(0, 1);
        }
        let pairs = bus.pairs();
        (pairs.node, pairs.now, pairs.turn) = (self.node as u32, self.now, self.turn as usize);
        pairs.counts.hits += self.known;
        pairs.blocks.executed += self.known + self.executed;
        if !self.stale.is_null() {
            pairs.blocks.give_up(std::mem::replace(&mut self.stale, std::ptr::null_mut()));
        }
        let block = Block { shape: self.shape, next: self.next, accesses: self.accesses };
        // SAFETY: it is one of them.
        (unsafe { std::mem::transmute::<u32, Back>(back) }, block)
    }

    /// Whether the code that ran last has executed a block.
    pub fn has_executed(&self) -> bool {
        self.known + self.executed != 0
    }
}

const BEGIN: i32 = offset_of!(Context, begin) as i32;
const ATTEND: i32 = offset_of!(Context, attend) as i32;
const NODES: i32 = offset_of!(Context, nodes) as i32;
const TELL: i32 = offset_of!(Context, tell) as i32;
const OTHER: i32 = offset_of!(Context, other) as i32;
const OTHER_LOG: i32 = offset_of!(Context, other_log) as i32;
const NODE: i32 = offset_of!(Context, node) as i32;
const NOW: i32 = offset_of!(Context, now) as i32;
const TURN: i32 = offset_of!(Context, turn) as i32;
const UNTIL: i32 = offset_of!(Context, until) as i32;
const PLACES: i32 = offset_of!(Context, places) as i32;
const TIMES: i32 = offset_of!(Context, times) as i32;
const HEADS_AT: i32 = offset_of!(Context, heads) as i32;
const LOST: i32 = offset_of!(Context, lost) as i32;
const KNOWN: i32 = offset_of!(Context, known) as i32;
const EXECUTED: i32 = offset_of!(Context, executed) as i32;
const SHAPE: i32 = offset_of!(Context, shape) as i32;
const NEXT: i32 = offset_of!(Context, next) as i32;
const ACCESSES: i32 = offset_of!(Context, accesses) as i32;
const CORE_IP: i32 = offset_of!(Core, ip) as i32;
const INSTRUCTIONS: i32 = offset_of!(Core, instructions) as i32;
const BUS_WAIT: i32 = offset_of!(Core, bus_wait) as i32;
const READS: i32 = SpeculationLog::LAYOUT.reads;
const WRITES: i32 = SpeculationLog::LAYOUT.writes;
const WORDS: i32 = SpeculationLog::LAYOUT.words;

/// Writes the code that leads from block to block.
pub(super) fn entry_points(store: &mut Store) -> Option<EntryPoints> {
    let entry = store.add(&write_back(enter)?)?;
    let mut way = |has_account| {
        let mut begins = 0;
        let code = write_back(|asm| begins = transit(asm, has_account))?;
        let at = store.add(&code)? as u64;
        Some([at, at + begins])
    };
    let transit = [way(false)?, way(true)?];
    let none = store.add(&write_back(|asm| come_back(asm, Back::None))?)?;
    // SAFETY: that is what was written.
    let entry = unsafe { std::mem::transmute::<*const u8, AheadEntry>(entry) };
    Some(EntryPoints { entry, transit, none: none as u64 })
}

fn write_back(write: impl FnOnce(&mut VecAssembler<X64Relocation>)) -> Option<Vec<u8>> {
    let mut asm = VecAssembler::new(0);
    write(&mut asm);
    asm.finalize().ok()
}

/// Has the probes fire on the instruction at the begin of this translation, in this cycle. False if that cannot be done
/// ahead of time.
///
/// # Safety
/// The bus is the one that the code was called with, the core is before that instruction.
unsafe extern "sysv64" fn attend<B: PairedBus>(bus: &mut B, of: &Core, translation: &Translation, cycle: u64) -> bool {
    bus.fire(of, translation.probe, cycle)
}

/// Reports the store at the end of the block of the core whose turn it is after this transition.
///
/// # Safety
/// The context is the one that the code was called with, its bus is not used meanwhile.
unsafe extern "sysv64" fn tell_of<B: PairedBus>(context: *mut Context, transition: *const Transition) {
    // SAFETY: the caller's promise.
    let (Context { asks, now, turn, .. }, transition) = unsafe { (&*context, &*transition) };
    // SAFETY: as above.
    let bus = unsafe { Asks::bus::<B>(asks) };
    bus.pairs().turn = *turn as usize;
    tell(bus, transition.stored_in(*now));
}

/// The first block begins: registers as [`host::x64`](crate::host::x64) has them where it executes ahead.
fn enter(asm: &mut VecAssembler<X64Relocation>) {
    dynasm!(asm
        ; .arch x64
        ; push rbx ; push rbp ; push r12 ; push r13 ; push r14 ; push r15
        ; sub rsp, 8
        ; mov rbx, rdi ; mov rbp, rsi ; mov r15, rdx ; mov r13, rcx
        ; jmp QWORD [r13 + BEGIN]
    );
}

fn come_back(asm: &mut VecAssembler<X64Relocation>, why: Back) {
    dynasm!(asm
        ; .arch x64
        ; mov eax, why as i32
        ; add rsp, 8
        ; pop r15 ; pop r14 ; pop r13 ; pop r12 ; pop rbp ; pop rbx
        ; ret
    );
}

/// A block has ended, with its shape in rax and where it led in rcx. How far on the next one begins.
fn transit(asm: &mut VecAssembler<X64Relocation>, has_account: bool) -> u64 {
    dynasm!(asm ; .arch x64 ; ended:);
    find(asm);
    if has_account {
        count(asm);
    }
    take(asm);
    let begins = asm.offset().0;
    begin(asm);
    wait(asm);
    dynasm!(asm
        ; .arch x64
        ; hand_in:
        ; mov [r13 + SHAPE], rax ; mov [r13 + NEXT], rcx ; mov [r13 + ACCESSES], r14
        ; mov QWORD [r13 + EXECUTED], 1
    );
    come_back(asm, Back::HandIn);
    dynasm!(asm ; .arch x64 ; next:);
    come_back(asm, Back::Next);
    dynasm!(asm ; .arch x64 ; stop:);
    come_back(asm, Back::Stop);
    begins as u64
}

/// Its transition to rdi, the other core's log to rdx. The block is handed in if that is not to be found, or if it may meet the
/// other core's.
fn find(asm: &mut VecAssembler<X64Relocation>) {
    const { assert!(size_of::<super::super::table::Places>() == 64) };
    dynasm!(asm
        ; .arch x64
        ; mov [r15 + READS], r12 ; mov [r15 + WRITES], r11
        ; mov rdx, [r13 + OTHER_LOG]
        ; mov rsi, [rdx + WRITES]
        ; mov rdi, [rdx + READS]
        ; or rdi, rsi
        ; and rdi, r11
        ; and rsi, r12
        ; or rsi, rdi
        ; jnz >hand_in
        ; mov rsi, [r13 + NODE]
        ; inc rsi
        ; shl rsi, BYTE Block::SHAPE_BITS as i8
        ; or rsi, rax
        ; mov rdi, r14
        ; rol rdi, BYTE ACCESSES_TURNED as i8
        ; xor rdi, rsi
        ; mov r8, rcx
        ; shl r8, BYTE NEXT_SHIFTED as i8
        ; xor rdi, r8
        ; mov r8, QWORD ODD as i64
        ; imul rdi, r8
        ; shr rdi, BYTE (u64::BITS - TRANSITIONS) as i8
        ; shl rdi, 6
        ; add rdi, [r13 + PLACES]
        ; cmp [rdi + at::KEY], rsi
        ; jne >hand_in
        ; cmp [rdi + at::ACCESSES], r14
        ; jne >hand_in
        ; cmp [rdi + at::BLOCK_NEXT], ecx
        ; jne >hand_in
    );
}

/// Counts the transition at rdi, the first of two places.
fn count(asm: &mut VecAssembler<X64Relocation>) {
    const TIMES_BYTES: usize = size_of::<[u64; 2]>();
    const { assert!(2 * TIMES_BYTES == 32) };
    dynasm!(asm
        ; .arch x64
        ; mov rax, rdi
        ; sub rax, [r13 + PLACES]
        ; shr rax, 1
        ; add rax, [r13 + TIMES]
        ; mov rcx, [r13 + TURN]
        ; inc QWORD [rax + rcx * 8]
    );
}

/// Moves both cores by the transition at rdi. Rbx and r15 become those of the core that continues.
fn take(asm: &mut VecAssembler<X64Relocation>) {
    dynasm!(asm
        ; .arch x64
        ; mov al, [r15 + SpeculationLog::SERVED]
        ; mov [r15 + SpeculationLog::PROBED], al
        ; mov BYTE [r15 + SpeculationLog::SERVED], 0
        ; mov rsi, [r13 + OTHER]
        ; movzx eax, BYTE [rdi + at::INSTRUCTIONS]
        ; mov [r15 + SpeculationLog::INSTRUCTIONS], rax
        ; add [rbx + INSTRUCTIONS], rax
        ; movzx eax, BYTE [rdi + at::WAITS]
        ; add [rbx + BUS_WAIT], rax
        ; movzx eax, BYTE [rdi + at::WAITS + 1]
        ; add [rsi + BUS_WAIT], rax
        ; movzx eax, BYTE [rdi + at::SPUN]
        ; add [rsi + INSTRUCTIONS], rax
        ; inc QWORD [r13 + KNOWN]
        ; movzx eax, WORD [rdi + at::NEXT]
        ; mov [r13 + NODE], rax
        ; movzx eax, WORD [rdi + at::CYCLES]
        ; add rax, [r13 + NOW]
        ; mov [r13 + NOW], rax
        ; cmp BYTE [rdi + at::SWAPS], 0
        ; je >same
        ; mov [r13 + OTHER], rbx
        ; mov [r13 + OTHER_LOG], r15
        ; mov rbx, rsi
        ; mov r15, rdx
        ; xor QWORD [r13 + TURN], 1
        ; same:
        ; cmp BYTE [rdi + at::STORED], 0
        ; je >told
        ; mov rsi, rdi
        ; mov rdi, r13
        ; call QWORD [r13 + TELL]
        ; mov rax, [r13 + NOW]
        ; told:
        ; cmp rax, [r13 + UNTIL]
        ; ja >stop
    );
}

/// Its next block begins, if that is translated and at hand, when the probes at its begin have fired.
fn begin(asm: &mut VecAssembler<X64Relocation>) {
    const { assert!(size_of::<Head>() == 32 && size_of::<Op>() == 8) };
    dynasm!(asm
        ; .arch x64
        ; cmp QWORD [r15 + SpeculationLog::SUMMONS], 0
        ; jne >next
        ; mov rax, [rbx + CORE_IP]
        ; mov ecx, eax
        ; shr ecx, 3
        ; and ecx, (1 << HEADS) - 1
        ; shl ecx, 5
        ; add rcx, [r13 + HEADS_AT]
        ; cmp [rcx + offset_of!(Head, ip) as i32], rax
        ; jne >next
        ; mov r14, [rcx + offset_of!(Head, translation) as i32]
        ; mov rdx, [r13 + LOST]
        ; test r14, r14
        ; jz >probed
        ; cmp [r14 + offset_of!(Translation, lost) as i32], rdx
        ; jne >next
        ; enter:
    );
    save_registers(asm);
    dynasm!(asm
        ; .arch x64
        ; mov rcx, r14
        ; xor r11d, r11d ; xor r12d, r12d ; xor r14d, r14d
        ; jmp QWORD [rcx + offset_of!(Translation, code) as i32]
        ; probed:
        ; mov r14, [rcx + offset_of!(Head, probed) as i32]
        ; test r14, r14
        ; jz >next
        ; cmp [r14 + offset_of!(Translation, lost) as i32], rdx
        ; jne >next
        ; cmp BYTE [r15 + SpeculationLog::SERVED], 0
        ; jne <enter
    );
    unless_second(asm);
    dynasm!(asm
        ; .arch x64
        ; movzx ecx, cl
        ; add rcx, [r13 + NOW]
        ; mov rdi, [r13 + Asks::BUS]
        ; mov rsi, rbx
        ; mov rdx, r14
        ; call QWORD [r13 + ATTEND]
        ; test al, al
        ; jz >next
        ; mov BYTE [r15 + SpeculationLog::SERVED], 1
        ; mov rax, [rbx + CORE_IP]
        ; jmp <enter
    );
}

/// Loads to rcx the times of the reached node. To the wait if the core continues no sooner than the other one has
/// ([`State::comes_second`](super::super::State::comes_second)).
fn unless_second(asm: &mut VecAssembler<X64Relocation>) {
    dynasm!(asm
        ; .arch x64
        ; imul rcx, [r13 + NODE], size_of::<Node>() as i32
        ; add rcx, [r13 + NODES]
        ; mov rcx, [rcx + (offset_of!(Node, state) + offset_of!(State, times)) as i32]
        ; cmp cl, ch
        ; ja >wait
        ; jne >first
        ; bt rcx, BYTE (State::FIRST << 2).trailing_zeros() as i8 // the other core is at the end of an entry
        ; jc >wait
        ; bt rcx, BYTE State::FIRST.trailing_zeros() as i8
        ; jnc >wait
        ; first:
    );
}

/// Keeps the core as it is before a block, with its instruction's place in rax.
fn save_registers(asm: &mut VecAssembler<X64Relocation>) {
    const { assert!(SpeculationLog::START_BYTES % 16 == 0) };
    dynasm!(asm ; .arch x64 ; mov [r15 + SpeculationLog::IP], rax);
    for bytes in (0..SpeculationLog::START_BYTES).step_by(16) {
        dynasm!(asm ; .arch x64 ; movups xmm0, [rbx + bytes] ; movups [r15 + SpeculationLog::START + bytes], xmm0);
    }
}

/// Its next block is a wait for the other core.
fn wait(asm: &mut VecAssembler<X64Relocation>) {
    let block = Block::wait(false);
    assert!((block.next, block.accesses) == (0, 0), "a wait leads nowhere");
    dynasm!(asm ; .arch x64 ; wait:);
    save_registers(asm);
    dynasm!(asm
        ; .arch x64
        ; mov WORD [r15 + WORDS], 0
        ; mov rax, QWORD block.shape as i64
        ; xor ecx, ecx
        ; xor r11d, r11d ; xor r12d, r12d ; xor r14d, r14d
        ; jmp <ended
    );
}
