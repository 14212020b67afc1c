//! Architectural and timing state of one core.

use super::cache;
use super::dwt::Dwt;
use super::fault::Fault;
use super::itm::Itm;
use super::mpu_state::Mpu;
use super::nvic::{EXCEPTIONS, Nvic};
use super::op::Op;
use super::scb_state::Scb;
use crate::profile::ProfileCell;
use crate::step::Step;
use crate::systick::SysTick;

pub use super::features::Features;

/// What the core does besides executing the next instruction: sleep, exception entry and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Executes instructions.
    Run,
    /// Stacked. The vector is chosen when `t` is reached, so that a late arrival can still win.
    Entry {
        /// Exception that started the entry.
        number: u32,
        /// Tail-chained: exception returned from, 0 after sleep-on-exit.
        from: Option<u32>,
        /// EXC_RETURN value the handler gets in LR.
        exc_return: u32,
        /// Cycle at which the exception was recognised.
        recognised: u64,
        /// Cycle in which the handler's first instruction executes, if reading vector and code takes no waits.
        handler: u64,
    },
    /// The frame is read. It counts when `t` is reached, so that a more urgent exception can still take its place.
    Exit {
        /// Exception that returns, 0 after sleep-on-exit.
        number: u32,
        /// EXC_RETURN value it returned with.
        exc_return: u32,
        /// Cycle of the return.
        started: u64,
        /// Cycles beyond a basic frame in memory without wait states.
        delay: u64,
    },
    /// WFI, or sleep-on-exit (with the EXC_RETURN it replaced).
    SleepInterrupt {
        /// Set when SLEEPONEXIT put it to sleep.
        on_exit: Option<u32>,
    },
    /// WFE.
    SleepEvent,
    /// Held in reset.
    Reset,
    /// A fault at HardFault priority or above: the architecture stops here.
    Lockup,
}

/// The reason why the executor returned to the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Nothing: the time limit was reached or somebody asked for attention.
    None,
    /// A synchronous fault at the current instruction (`ip` points at it).
    Fault(Fault),
    /// SVC executed. `ip` already points after it.
    Svc,
    /// A branch to this EXC_RETURN value in handler mode.
    ExceptionReturn(u32),
    /// The instruction at `ip` would run until this cycle, beyond `limit`, and an interrupt may abandon it before:
    /// the machine brings the chip there, then takes what came or sets `committed` and continues.
    Abandonable(u64),
    /// A probe or an `until` address stopped the core before its instruction.
    Stopped,
}

/// A contiguous range of executable memory with its predecoded instructions.
#[derive(Debug, Clone, Copy)]
pub struct Region {
    /// First address.
    pub base: u32,
    /// Length in bytes.
    pub bytes: u32,
    /// `bytes / 2` ops, and a few after them that say that the region has ended.
    pub ops: *mut Op,
    /// Profile cells, parallel to `ops`. Null while profiling is off.
    pub profile: *mut ProfileCell,
}

/// A Cortex-M3, M4 or M7 core: registers, exceptions, time and counters.
#[derive(Debug, Clone)]
pub struct Core {
    /// The features of the core.
    pub features: Features,
    /// r0–r12, r13 = the active stack pointer, r14 = LR. r15 and all after it are not used: with them no register
    /// number of eight bits can lead out of the array, and none has to be compared.
    pub r: [u32; 256],
    /// N and Z in one word: N is set if it is negative, Z if its low half is zero.
    pub nz: i64,
    /// C flag.
    pub c: bool,
    /// V flag.
    pub v: bool,
    /// Q flag.
    pub q: bool,
    /// GE flags, bits 3:0.
    pub ge: u8,
    /// ITSTATE (ARMv7-M A7.3.3). 0 outside IT blocks.
    pub it: u8,
    /// S0–S31; D n is the pair 2n (low), 2n+1.
    pub s: [u32; 32],
    /// FPSCR.
    pub fpscr: u32,
    /// Local time: the earliest cycle at which the next instruction can execute.
    pub t: u64,
    /// The next instruction executes no earlier, where `t`, at which interrupts are recognised, is before that: the M7
    /// on its way into a handler and back.
    pub executes_from: u64,
    /// The executor stops at the first instruction boundary at or after this cycle. 0 asks for attention at once.
    pub limit: u64,
    /// Next instruction.
    pub ip: *mut Op,
    /// Region that `ip` points into.
    pub region: Region,
    /// Instructions executed, those of failed conditions included.
    pub instructions: u64,
    /// Cycles lost to data waits: bus, bridges, arbitration.
    pub bus_wait: u64,
    /// Cycles lost to flash: fetch and literal waits.
    pub flash_wait: u64,
    /// The request to the machine before the next instruction.
    pub request: Request,
    /// The machine lets the instruction behind [`Request::Abandonable`] run to its end: it was issued already. The
    /// executor clears it then, exception entry if it is abandoned.
    pub committed: bool,
    /// EPSR.ICI: first register still to move of an LDM or STM that an interrupt cut short; 0 when there is none.
    pub ici: u8,
    /// Words that the LDM, STM, VLDM or VSTM at `ip` had moved when it gave way at the limit: it was issued already and
    /// continues after them. Exception entry stacks [`Core::ici`] and clears this.
    pub words_moved: u8,
    /// Loaded value of the base or the PC of that instruction, which is written at its end only.
    pub held: u32,
    /// Branch target that holds no code: the PC of the fault being raised.
    pub stray: Option<u32>,
    /// The instruction at `ip` had its attention already.
    pub served: bool,
    /// The activity of the core.
    pub phase: Phase,
    /// The stack pointer that is not active.
    pub other_sp: u32,
    /// True while r13 is PSP.
    pub sp_is_psp: bool,
    /// PRIMASK.
    pub primask: bool,
    /// FAULTMASK.
    pub faultmask: bool,
    /// BASEPRI, implemented bits only. 0 masks nothing.
    pub basepri: u8,
    /// CONTROL.nPRIV.
    pub unprivileged: bool,
    /// CONTROL.FPCA.
    pub fpca: bool,
    /// IPSR.
    pub ipsr: u32,
    /// EPSR.T.
    pub thumb: bool,
    /// WFE's event register.
    pub event: bool,
    /// The exclusive monitor is open (LDREX without STREX, CLREX or an exception since).
    pub exclusive: bool,
    /// The access in progress is that of LDRT, STRT or a relative: without privilege.
    pub as_user: bool,
    /// Floating-point instructions need no check: access granted, no state to preserve, FPCA set. Cleared by
    /// whatever may change that. [`super::float_context::before_float`] sets it.
    pub float_ready: bool,
    /// Execution permissions changed: the machine calls [`super::exception::look_up_code_region`] before the next
    /// instruction.
    pub refetch: bool,
    /// Pending, enabled and active exceptions.
    pub nvic: Nvic,
    /// System control block.
    pub scb: Scb,
    /// Memory protection unit.
    pub mpu: Mpu,
    /// Cache selection and TCM control (M7).
    pub cache: cache::CacheControlRegisters,
    /// Data watchpoint and trace unit: the cycle counter.
    pub dwt: Dwt,
    /// Instrumentation trace: the stimulus ports.
    pub itm: Itm,
    /// System timer.
    pub systick: SysTick,
    /// Words read back from the frame of an [`Phase::Exit`].
    pub frame: [u32; 25],
    /// Cycle at which the core fell asleep (valid in the sleep phases).
    pub slept_at: u64,
    /// Total cycles asleep.
    pub sleep_cycles: u64,
    /// Total cycles in exception entry, exit and tail-chaining.
    pub exception_cycles: u64,
    /// Exceptions entered, by number.
    pub exceptions: [u64; EXCEPTIONS],
    /// The number of those frames that have room for floating-point state, because the interrupted code had used the
    /// FPU.
    pub float_frames: u64,
    /// The address of the next instruction at the last exception entry, or at the last exception return that failed. If
    /// no frame could be stored, nothing else contains it.
    pub exception_origin: u32,
    /// The steps executed since the machine last took them. Filled only by the mode that observes.
    pub steps: Vec<Step>,
}

impl Core {
    /// Creates a core that is held in reset.
    pub fn new(features: Features) -> Core {
        Core {
            features,
            r: [0; 256],
            nz: 1,
            c: false,
            v: false,
            q: false,
            ge: 0,
            it: 0,
            s: [0; 32],
            fpscr: 0,
            t: 0,
            executes_from: 0,
            limit: 0,
            ip: std::ptr::null_mut(),
            region: Region { base: 0, bytes: 0, ops: std::ptr::null_mut(), profile: std::ptr::null_mut() },
            instructions: 0,
            bus_wait: 0,
            flash_wait: 0,
            request: Request::None,
            committed: false,
            ici: 0,
            words_moved: 0,
            held: 0,
            stray: None,
            served: false,
            phase: Phase::Reset,
            other_sp: 0,
            sp_is_psp: false,
            primask: false,
            faultmask: false,
            basepri: 0,
            unprivileged: false,
            fpca: false,
            ipsr: 0,
            thumb: true,
            event: false,
            exclusive: false,
            as_user: false,
            float_ready: false,
            refetch: false,
            nvic: Nvic::new(features.irq_lines, features.priority_bits),
            scb: Scb::new(&features),
            mpu: Mpu::new(features.mpu_regions),
            cache: cache::CacheControlRegisters::new(features.itcm_kilobytes, features.dtcm_kilobytes),
            dwt: Dwt::new(&features),
            itm: Itm::default(),
            systick: SysTick::with_calibration_value(features.systick_calibration),
            frame: [0; 25],
            slept_at: 0,
            sleep_cycles: 0,
            exception_cycles: 0,
            exceptions: [0; EXCEPTIONS],
            float_frames: 0,
            exception_origin: 0,
            steps: Vec::new(),
        }
    }

    /// Resets the core to its state after power-up. Time, counters and the levels of the interrupt lines continue.
    pub fn reset_core(&mut self) {
        let fresh = Core::new(self.features);
        let nvic = self.nvic.after_reset();
        let systick = self.systick.after_reset();
        *self = Core {
            t: self.t,
            instructions: self.instructions,
            bus_wait: self.bus_wait,
            flash_wait: self.flash_wait,
            sleep_cycles: self.sleep_cycles,
            exception_cycles: self.exception_cycles,
            exceptions: self.exceptions,
            float_frames: self.float_frames,
            steps: std::mem::take(&mut self.steps),
            // Of the trace only power-on resets it.
            itm: self.itm.clone(),
            nvic,
            systick,
            ..fresh
        };
    }

    /// Returns the cycle in which the next instruction executes, if it need not wait for its opcode or operands.
    pub fn next_execution_cycle(&self) -> u64 {
        self.t.max(self.executes_from)
    }

    /// Returns the address of the next instruction.
    pub fn next_instruction_address(&self) -> u32 {
        self.stray.unwrap_or_else(|| self.address_of_op(self.ip))
    }

    /// Returns the address of an op in the current region.
    #[inline(always)]
    pub fn address_of_op(&self, ip: *mut Op) -> u32 {
        let bytes = (ip as usize).wrapping_sub(self.region.ops as usize);
        self.region.base.wrapping_add((bytes >> 3) as u32)
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

    /// Returns whether the core executes privileged: in handler mode, or in thread mode with nPRIV clear.
    #[inline(always)]
    pub fn is_privileged(&self) -> bool {
        self.ipsr != 0 || !self.unprivileged
    }

    /// Returns whether the current data access is privileged.
    #[inline(always)]
    pub fn is_access_privileged(&self) -> bool {
        self.is_privileged() && !self.as_user
    }

    /// Returns whether the core sleeps by WFI, WFE or sleep-on-exit.
    pub fn is_asleep(&self) -> bool {
        matches!(self.phase, Phase::SleepEvent | Phase::SleepInterrupt { .. })
    }

    /// Puts the core to sleep at `t`. `phase` says what wakes it.
    pub fn start_sleeping(&mut self, phase: Phase) {
        self.phase = phase;
        self.slept_at = self.t;
    }

    /// Returns the execution priority, which an exception must beat to be taken; lower is more urgent (ARMv7-M B1.5.4).
    pub fn execution_priority(&self) -> i32 {
        self.nvic.active_priority().min(self.boosted_priority(self.primask))
    }

    /// Returns the priority to which the mask registers raise execution.
    pub(super) fn boosted_priority(&self, primask: bool) -> i32 {
        if self.faultmask {
            -1
        } else if primask {
            0
        } else if self.basepri != 0 {
            self.nvic.group_priority(i32::from(self.basepri))
        } else {
            super::nvic::THREAD_PRIORITY
        }
    }

    /// Returns whether data accesses that answer with an error are ignored (CCR.BFHFNMIGN, in NMI, HardFault or under
    /// FAULTMASK). The bus asks before it answers with [`Fault::DataBus`].
    pub fn ignores_bus_faults(&self) -> bool {
        self.scb.ccr & super::scb_state::ccr::BFHFNMIGN != 0 && self.execution_priority() < 0
    }

    /// Returns the number of the exception to take now, if one beats the execution priority.
    #[inline(always)]
    pub fn exception_to_take(&self) -> Option<u32> {
        let (number, priority) = self.nvic.most_urgent_pending()?;
        (priority < self.execution_priority()).then_some(number)
    }

    /// Makes the executor return to the machine before the next instruction, if an exception is to be taken now.
    #[inline(always)]
    pub fn request_executor_exit_for_exception(&mut self) {
        if self.exception_to_take().is_some() {
            self.limit = 0;
        }
    }
}
