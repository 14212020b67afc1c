//! Architectural and timing state of one core.

use super::fault::Fault;
use super::op::Op;

/// Which of the three cores, with what they lack or have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features {
    /// Value of CPUID (0xE000ED00).
    pub cpuid: u32,
    /// ARMv7E-M: the DSP extension (M4, M7).
    pub dsp: bool,
    /// Single-precision floating point.
    pub float: bool,
    /// Double precision too (and the M7's FPv5 instructions).
    pub double: bool,
    /// Bit-band aliases of 0x20000000 and 0x40000000.
    pub bit_band: bool,
    /// Regions of the MPU, 0 without one.
    pub mpu_regions: u8,
    /// Priority bits implemented.
    pub priority_bits: u8,
    /// External interrupt lines.
    pub irq_lines: u16,
    /// DWT registers are behind a lock (M7).
    pub dwt_lock: bool,
    /// Caches and their maintenance registers (M7).
    pub caches: bool,
}

/// What the core is doing besides executing the next instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Executes instructions.
    Run,
    /// Stacked; the vector is chosen when `t` is reached, so that a late arrival can still win.
    Entry {
        /// Exception that started the entry.
        number: u32,
        /// EXC_RETURN value the handler gets in LR.
        exc_return: u32,
        /// Cycle at which the exception was recognised.
        recognised: u64,
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

/// Why the executor handed back to the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Nothing: the time limit was reached or somebody asked for attention.
    None,
    /// A synchronous fault at the current instruction (`ip` points at it).
    Fault(Fault),
    /// SVC executed; `ip` already points behind it.
    Svc,
    /// A branch to this EXC_RETURN value in handler mode.
    ExceptionReturn(u32),
    /// The instruction at `ip` would run until this cycle, beyond `limit`, and an interrupt may abandon it before:
    /// the machine brings the chip there, then takes what came or sets `committed` and goes on.
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
    /// `bytes / 2` ops, and a few behind them that say that the region has ended.
    pub ops: *mut Op,
    /// Profile cells, parallel to `ops`; null while profiling is off.
    pub profile: *mut ProfileCell,
}

/// Where the time went at one instruction.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct ProfileCell {
    /// Cycles from the end of the instruction before to its own end.
    pub cycles: u64,
    /// Times executed.
    pub executions: u64,
    /// Part of `cycles` spent waiting for the bus or the flash.
    pub wait_cycles: u64,
}

/// One core.
#[derive(Debug)]
pub struct Core {
    /// What it has.
    pub features: Features,
    /// r0–r12, r13 = the active stack pointer, r14 = LR. r15 is not used.
    pub r: [u32; 16],
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
    /// ITSTATE (ARMv7-M A7.3.3); 0 outside IT blocks.
    pub it: u8,
    /// S0–S31; D n is the pair 2n (low), 2n+1.
    pub s: [u32; 32],
    /// FPSCR.
    pub fpscr: u32,
    /// Local time: the earliest cycle at which the next instruction can execute.
    pub t: u64,
    /// The executor stops at the first instruction boundary at or after this cycle; 0 asks for attention at once.
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
    /// What the machine must do before the next instruction.
    pub request: Request,
    /// The machine lets the instruction behind [`Request::Abandonable`] run to its end: it was issued already. The
    /// executor clears it then, exception entry if it is abandoned.
    pub committed: bool,
    /// EPSR.ICI: first register still to move of an LDM or STM that an interrupt cut short; 0 when there is none.
    pub ici: u8,
    /// Words that the LDM, STM, VLDM or VSTM at `ip` had moved when it gave way at the limit: it was issued already and
    /// goes on behind them. Exception entry stacks [`Core::ici`] and clears this.
    pub words_moved: u8,
    /// Loaded value of the base or the PC of that instruction, which is written at its end only.
    pub held: u32,
    /// Branch target that holds no code: the PC of the fault being raised.
    pub stray: Option<u32>,
    /// The instruction at `ip` had its attention already.
    pub served: bool,
    /// What the core is doing.
    pub phase: Phase,
    /// The stack pointer that is not active.
    pub other_sp: u32,
    /// True while r13 is PSP.
    pub sp_is_psp: bool,
    /// PRIMASK.
    pub primask: bool,
    /// FAULTMASK.
    pub faultmask: bool,
    /// BASEPRI, implemented bits only.
    pub basepri: u8,
    /// CONTROL.nPRIV.
    pub unprivileged: bool,
    /// CONTROL.SPSEL as seen in thread mode.
    pub spsel: bool,
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
}
