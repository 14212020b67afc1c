//! Architectural and timing state of one core.

use crate::step::Step;
use crate::systick::SysTick;
use crate::v6m::block::UntimedBlockRemainder;
use crate::v6m::nvic::Nvic;
use crate::v6m::op::Op;
use crate::v6m::region::Region;
use crate::v6m::trace::Trace;
use crate::v6m::watched::WatchedStore;

/// What the core does besides executing the next instruction: sleep, exception entry and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Executes instructions.
    Run,
    /// Stacked. The vector is chosen when `t` is reached, so that a late arrival can still win.
    Entry {
        /// Exception that started the entry. It is taken unless a more urgent one arrives.
        number: u32,
        /// EXC_RETURN value the handler gets in LR.
        exc_return: u32,
        /// Cycles the stacking lost to arbitration.
        wait: u64,
        /// Cycle at which the exception was recognised.
        recognised: u64,
    },
    /// WFI, or sleep-on-exit: waits for an interrupt.
    SleepInterrupt {
        /// Set when SLEEPONEXIT put it to sleep in place of unstacking this EXC_RETURN.
        on_exit: Option<u32>,
    },
    /// WFE: waits for the event register or an interrupt.
    SleepEvent,
    /// Held in reset by the chip.
    Reset,
    /// A fault at HardFault priority or above: the architecture stops here.
    Lockup,
}

/// The reason why the interpreter returned to the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Nothing: the time limit was reached or somebody asked for attention.
    None,
    /// A synchronous fault at the current instruction.
    Fault(&'static str),
    /// SVC executed. `ip` already points after it.
    Svc,
    /// Branch to an EXC_RETURN value in handler mode.
    ExceptionReturn(u32),
    /// Modelled ROM function.
    RomHook(u8),
    /// A probe or an `until` address stopped the core before its instruction.
    Stopped,
}

/// A multiple transfer (LDM, STM, PUSH, POP) that is interrupted between two turns of the core.
#[derive(Debug, Clone, Copy, Default)]
pub struct Transfer {
    /// Registers still to move. 0 when none is in progress.
    pub mask: u32,
    /// Address of the next word.
    pub address: u32,
    /// Loaded value of the base register or PC, committed at the end so that the instruction can restart.
    pub held: u32,
}

/// A Cortex-M0+ core: registers, exceptions, time and counters.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Core {
    /// r0–r12, r13 = the active stack pointer, r14 = LR. r15 is not used.
    pub r: [u32; 16],
    /// N and Z in one word: N is set if it is negative, Z if its low half is zero.
    pub nz: i64,
    /// C flag.
    pub c: bool,
    /// V flag.
    pub v: bool,
    /// PRIMASK bit 0.
    pub primask: bool,
    /// The stack pointer that is not active: PSP in handler mode or with SPSEL = 0, MSP otherwise.
    pub other_sp: u32,
    /// Local time: the cycle at which the next instruction issues.
    pub t: u64,
    /// The interpreter stops at the first instruction boundary at or after this cycle.
    pub limit: u64,
    /// Next instruction.
    pub ip: *mut Op,
    /// Region that `ip` points into.
    pub region: Region,
    /// First cycle in which this core's bus port can start another address phase. Only kept up after a lost slot
    /// and when the other core starts a line fill that this core's next fetch must wait for.
    pub bus_free: u64,
    /// Cycle at which the next sequential word is in the fetch buffer, if its fetch lost its slot. Else in the past.
    pub fetch_ready: u64,
    /// Multiple transfer in progress.
    pub transfer: Transfer,
    /// The probes on the instruction at `ip` have fired. The core then gave way to the other core, before executing it.
    pub retried: bool,
    /// Address of the next instruction, if it was brought to the core and to no cache.
    pub brought: Option<u32>,
    /// Cycles lost to arbitration.
    pub bus_wait: u64,
    /// Cycles lost to XIP misses.
    pub flash_wait: u64,
    /// Instructions executed.
    pub instructions: u64,
    /// 0 or 1.
    pub id: usize,
    /// The other core's position while this one has its turn.
    pub rival_t: u64,
    /// The request to the machine before the next instruction.
    pub request: Request,
    /// Branch target that holds no code, or that lacks the Thumb bit: the PC of the fault to raise.
    pub stray: Option<u32>,
    /// The activity of the core.
    pub phase: Phase,
    /// True while r13 is PSP.
    pub sp_is_psp: bool,
    /// CONTROL.nPRIV.
    pub unprivileged: bool,
    /// CONTROL.SPSEL as seen in thread mode.
    pub spsel: bool,
    /// IPSR: number of the active exception, 0 in thread mode.
    pub ipsr: u32,
    /// The Thumb bit. Clear after a branch to an even address, which faults at the next instruction.
    pub thumb: bool,
    /// WFE's event register.
    pub event: bool,
    /// Interrupt controller and system control block.
    pub nvic: Nvic,
    /// System timer.
    pub systick: SysTick,
    /// Cycle at which the core fell asleep (valid in the sleep phases).
    pub slept_at: u64,
    /// Total cycles asleep.
    pub sleep_cycles: u64,
    /// Total cycles in exception entry, exit and tail-chaining.
    pub exception_cycles: u64,
    /// Exceptions entered, by number.
    pub exceptions: [u64; 48],
    /// The steps executed since the machine last took them. Filled only by the mode that observes.
    pub steps: Vec<Step>,
    /// The trace whose time is being found out.
    pub trace: Trace,
    /// The rest of the basic block whose time is being determined.
    pub remainder: UntimedBlockRemainder,
    /// The cycle of the last store in a rehearsal of time alone.
    pub stored: u64,
    /// The store to a watched word with which the current trace ends.
    pub watched_store: WatchedStore,
}

impl Core {
    /// Returns whether the core is before an instruction that has had no effect yet.
    #[inline(always)]
    pub fn is_between_instructions(&self) -> bool {
        self.transfer.mask == 0 && !self.retried && self.brought.is_none() && self.thumb && self.stray.is_none()
    }

    /// Creates a core that is held in reset.
    pub fn new(id: usize) -> Core {
        let region = Region {
            base: 0,
            bytes: 0,
            ops: std::ptr::null_mut(),
            row: 0,
            row_mask: 0,
            cached: false,
            rom: false,
            profile: [std::ptr::null_mut(); 2],
        };
        Core {
            r: [0; 16],
            nz: 1,
            c: false,
            v: false,
            t: 0,
            limit: 0,
            ip: std::ptr::null_mut(),
            region,
            bus_free: 0,
            fetch_ready: 0,
            transfer: Transfer::default(),
            retried: false,
            brought: None,
            bus_wait: 0,
            flash_wait: 0,
            instructions: 0,
            id,
            rival_t: 0,
            request: Request::None,
            stray: None,
            phase: Phase::Reset,
            other_sp: 0,
            sp_is_psp: false,
            primask: false,
            unprivileged: false,
            spsel: false,
            ipsr: 0,
            thumb: true,
            event: false,
            nvic: Nvic::new(),
            systick: SysTick::new(),
            slept_at: 0,
            sleep_cycles: 0,
            exception_cycles: 0,
            exceptions: [0; 48],
            steps: Vec::new(),
            trace: Trace::default(),
            remainder: UntimedBlockRemainder::NONE,
            stored: 0,
            watched_store: WatchedStore::default(),
        }
    }

    /// Starts this core's turn, which lasts until the event at `due` at the latest. The other core can only issue in
    /// the same cycle if it executes before `due`: an event, and the end of an exception's entry, come before any
    /// instruction of their cycle.
    pub(super) fn begin_execution_turn_until_event(&mut self, other: &Core, due: u64) {
        self.rival_t = if other.phase == Phase::Run && other.t < due { other.t } else { 0 };
    }

    /// Gives this core precedence, for the rest of its turn, when both issue in the same cycle. So its turn, if it ends
    /// at the other core's time, becomes one cycle longer.
    #[inline(always)]
    pub fn take_same_cycle_precedence(&mut self) {
        self.limit += u64::from(self.limit == self.rival_t);
    }

    /// Resets the core's architectural state. Time and counters continue.
    pub fn reset_core(&mut self) {
        let (id, t) = (self.id, self.t);
        let counters = (self.bus_wait, self.flash_wait, self.instructions, self.sleep_cycles);
        let exceptions = (self.exception_cycles, self.exceptions);
        let steps = std::mem::take(&mut self.steps);
        *self = Core::new(id);
        (self.t, self.steps) = (t, steps);
        (self.bus_wait, self.flash_wait, self.instructions, self.sleep_cycles) = counters;
        (self.exception_cycles, self.exceptions) = exceptions;
    }

    /// Returns the address of the next instruction.
    pub fn next_instruction_address(&self) -> u32 {
        self.stray.unwrap_or_else(|| self.address_of_op(self.ip))
    }

    /// Returns the address of an op in the current region.
    #[inline(always)]
    pub fn address_of_op(&self, ip: *mut Op) -> u32 {
        self.region.address_of_op(ip)
    }

    /// Returns the APSR flags in bits 31:28.
    pub fn apsr(&self) -> u32 {
        u32::from(self.nz < 0) << 31
            | u32::from(self.nz as u32 == 0) << 30
            | u32::from(self.c) << 29
            | u32::from(self.v) << 28
    }

    /// Sets N, Z, C and V from bits 31:28.
    pub fn set_apsr(&mut self, value: u32) {
        let sign = i64::from(value >> 31) << 63;
        self.nz = sign | i64::from(value & 1 << 30 == 0);
        self.c = value >> 29 & 1 != 0;
        self.v = value >> 28 & 1 != 0;
    }

    /// Returns xPSR without the stack-alignment bit.
    pub fn xpsr(&self) -> u32 {
        self.apsr() | u32::from(self.thumb) << 24 | self.ipsr
    }

    /// Makes MSP or PSP the active stack pointer.
    pub fn select_stack_pointer(&mut self, psp: bool) {
        if self.sp_is_psp != psp {
            std::mem::swap(&mut self.r[13], &mut self.other_sp);
            self.sp_is_psp = psp;
        }
    }

    /// Returns the main stack pointer.
    pub fn main_stack_pointer(&self) -> u32 {
        if self.sp_is_psp { self.other_sp } else { self.r[13] }
    }

    /// Returns the process stack pointer.
    pub fn process_stack_pointer(&self) -> u32 {
        if self.sp_is_psp { self.r[13] } else { self.other_sp }
    }

    /// Returns the special register that MRS reads by this SYSm (ARMv6-M B4.2.2). Unprivileged reads of the stack
    /// pointers give 0.
    pub fn read_special_register(&self, sysm: u32) -> u32 {
        let privileged = self.is_privileged();
        match sysm {
            0..=3 => self.apsr() & apsr_flag_mask_from_bool(sysm & 4 == 0) | if sysm & 1 != 0 { self.ipsr } else { 0 },
            5 | 7 => self.ipsr,
            8 if privileged => self.main_stack_pointer(),
            9 if privileged => self.process_stack_pointer(),
            16 if privileged => u32::from(self.primask),
            20 => u32::from(self.unprivileged) | u32::from(self.spsel && self.ipsr == 0) << 1,
            _ => 0,
        }
    }

    /// Writes the special register of an MSR by its SYSm. Returns true if interrupts may have been unmasked.
    pub fn write_special_register(&mut self, sysm: u32, value: u32) -> bool {
        if sysm <= 3 {
            self.set_apsr(value);
            return false;
        }
        if !self.is_privileged() {
            return false;
        }
        match sysm {
            8 if !self.sp_is_psp => self.r[13] = value & !3,
            8 => self.other_sp = value & !3,
            9 if self.sp_is_psp => self.r[13] = value & !3,
            9 => self.other_sp = value & !3,
            16 => {
                self.primask = value & 1 != 0;
                return !self.primask;
            }
            20 if self.ipsr == 0 => {
                self.unprivileged = value & 1 != 0;
                self.spsel = value & 2 != 0;
                self.select_stack_pointer(self.spsel);
            }
            _ => {}
        }
        false
    }

    /// Returns whether the core executes privileged: in handler mode, or in thread mode with nPRIV clear.
    pub fn is_privileged(&self) -> bool {
        self.ipsr != 0 || !self.unprivileged
    }

    /// Returns whether the core sleeps by WFI, WFE or sleep-on-exit.
    pub fn is_asleep(&self) -> bool {
        matches!(self.phase, Phase::SleepEvent | Phase::SleepInterrupt { .. })
    }

    /// Returns the execution priority, which an exception must beat to be taken (lower is more urgent).
    pub fn execution_priority(&self) -> i32 {
        let active = self.nvic.active_priority();
        if self.primask { active.min(0) } else { active }
    }
}

/// Returns 0 or all bits, for `all` false or true.
fn apsr_flag_mask_from_bool(all: bool) -> u32 {
    if all { 0xf000_0000 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_is_between_instructions_until_the_next_one_begins() {
        assert!(Core::new(0).is_between_instructions());
        let happened: [fn(&mut Core); 5] = [
            |core| core.transfer.mask = 1,
            |core| core.retried = true,
            |core| core.brought = Some(0x1000_0100),
            |core| core.thumb = false,
            |core| core.stray = Some(0x40),
        ];
        for (number, change) in happened.into_iter().enumerate() {
            let mut core = Core::new(0);
            change(&mut core);
            assert!(!core.is_between_instructions(), "{number}");
        }
    }
}
