//! Cache identification, maintenance and TCM control of the Cortex-M7 (ARM DDI0489, CMSIS offsets).
//!
//! The caches themselves are the chip's: what a write asks of them is an [`Operation`] that the bus carries out.

/// A cache maintenance operation that firmware requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Invalidate the whole instruction cache.
    InvalidateInstructions,
    /// Invalidate the instruction line of an address.
    InvalidateInstruction(u32),
    /// Invalidate the data line of an address.
    InvalidateAddress(u32),
    /// Clean the data line of an address.
    CleanAddress(u32),
    /// Clean and invalidate the data line of an address.
    CleanInvalidateAddress(u32),
    /// Invalidate a data line by set and way.
    InvalidateLine(Line),
    /// Clean a data line by set and way.
    CleanLine(Line),
    /// Clean and invalidate a data line by set and way.
    CleanInvalidateLine(Line),
    /// Forget all branch predictions.
    InvalidatePredictions,
}

/// A line of the data cache (16 kB, 4 ways, 128 sets) by its set and way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Way.
    pub way: u32,
    /// Set.
    pub set: u32,
}

impl Line {
    /// Returns the line that the value written to a set/way register names.
    fn from_set_way(value: u32) -> Line {
        Line { way: value >> 30, set: value >> 5 & 0x1ff }
    }
}

/// Level 1, separate caches. Coherency and unification at level 1.
const CLIDR: u32 = 0x0900_0003;
const CTR: u32 = 0x8303_c003;
/// 16 kB, 4 ways of 128 lines of 32 bytes, all policies.
const CCSIDR_DATA: u32 = 0xf00f_e019;
/// 16 kB, 2 ways of 256 lines of 32 bytes.
const CCSIDR_INSTRUCTION: u32 = 0xf01f_e009;

/// The registers of the M7's caches and TCMs that keep what is written.
#[derive(Debug, Clone)]
pub struct CacheControlRegisters {
    csselr: u32,
    itcmcr: u32,
    dtcmcr: u32,
    ahbpcr: u32,
    /// CACR: FORCEWT 2, ECCDIS 1, SIWT 0.
    pub cacr: u32,
    ahbscr: u32,
}

/// Returns the size field of a TCM register: log2 of the size in kB plus 1, or 0 without a TCM.
fn tcm_size(kilobytes: u16) -> u32 {
    if kilobytes == 0 { 0 } else { kilobytes.ilog2() + 1 }
}

impl CacheControlRegisters {
    /// Creates the registers in reset state: both TCMs are on, as in STM32 parts.
    pub fn new(itcm_kilobytes: u16, dtcm_kilobytes: u16) -> CacheControlRegisters {
        let tcm = |kilobytes| tcm_size(kilobytes) << 3 | u32::from(kilobytes != 0);
        CacheControlRegisters {
            csselr: 0,
            itcmcr: tcm(itcm_kilobytes),
            dtcmcr: tcm(dtcm_kilobytes),
            ahbpcr: 0x2,
            cacr: 0,
            ahbscr: 0,
        }
    }
}

/// Reads a cache or TCM register at an offset from 0xE000E000. `None` at other offsets.
pub fn read_register(control: &CacheControlRegisters, offset: u32) -> Option<u32> {
    Some(match offset {
        0xd78 => CLIDR,
        0xd7c => CTR,
        0xd80 if control.csselr & 1 != 0 => CCSIDR_INSTRUCTION,
        0xd80 => CCSIDR_DATA,
        0xd84 => control.csselr,
        0xf50..=0xf78 => 0,
        0xf90 => control.itcmcr,
        0xf94 => control.dtcmcr,
        0xf98 => control.ahbpcr,
        0xf9c => control.cacr,
        0xfa0 => control.ahbscr,
        // ABFSR: no fault of a TCM or bus is recorded.
        0xfa8 => 0,
        _ => return None,
    })
}

/// Writes a cache or TCM register at an offset from 0xE000E000. Returns the cache operation that it requests, if any,
/// and `None` at other offsets.
pub fn write_register(control: &mut CacheControlRegisters, offset: u32, value: u32) -> Option<Option<Operation>> {
    let line = Line::from_set_way(value);
    Some(match offset {
        0xf50 => Some(Operation::InvalidateInstructions),
        0xf58 => Some(Operation::InvalidateInstruction(value)),
        0xf5c => Some(Operation::InvalidateAddress(value)),
        0xf60 => Some(Operation::InvalidateLine(line)),
        // DCCMVAU and DCCMVAC.
        0xf64 | 0xf68 => Some(Operation::CleanAddress(value)),
        0xf6c => Some(Operation::CleanLine(line)),
        0xf70 => Some(Operation::CleanInvalidateAddress(value)),
        0xf74 => Some(Operation::CleanInvalidateLine(line)),
        0xf78 => Some(Operation::InvalidatePredictions),
        _ => {
            match offset {
                0xd84 => control.csselr = value & 1,
                // The sizes are fixed. RETEN, RMW and EN are not.
                0xf90 => control.itcmcr = control.itcmcr & !7 | value & 7,
                0xf94 => control.dtcmcr = control.dtcmcr & !7 | value & 7,
                0xf98 => control.ahbpcr = control.ahbpcr & !1 | value & 1,
                0xf9c => control.cacr = value & 7,
                0xfa0 => control.ahbscr = value & 0xffff,
                0xd78 | 0xd7c | 0xd80 | 0xfa8 => {}
                _ => return None,
            }
            None
        }
    })
}
