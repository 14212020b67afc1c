//! Code of the host: instructions that are executed again and again are translated.
//!
//! A path of instructions becomes a function, step by step. It works on the fields of a core and on the main RAM; where
//! something turns out otherwise than the path says, it ends before the step in question, and whoever called it goes on
//! from there. Instructions are written as the ops of [`v7m`](crate::v7m::op); those of ARMv6-M are among them. What a path is,
//! and what its time is, is the business of whoever asks for it: `v6m::translate`, `v7m::memo::translate`.

// The assembler's macro converts what is a number already.
#[allow(clippy::useless_conversion)]
#[cfg(target_arch = "x86_64")]
pub mod x64;

/// Bytes of main RAM that share a mark: a store to where it is not 0 may have consequences.
pub const MARKED_BYTES: u32 = 256;

/// What code of the host returns, if not the number of a step before which it ended: a call ended the path.
pub const CALLED: u32 = u32::MAX - 1;

/// Offsets in a core.
#[derive(Debug, Clone, Copy)]
pub struct Fields {
    /// Its registers.
    pub r: i32,
    /// N and Z in one word: N is set if it is negative, Z if its low half is zero.
    pub nz: i32,
    /// C.
    pub c: i32,
    /// V.
    pub v: i32,
    /// The next instruction.
    pub ip: i32,
    /// Floating-point registers, of a core that has them.
    pub s: i32,
    /// Whether floating-point instructions need no check.
    pub float_ready: i32,
}

/// A region of code.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Its first address.
    pub base: u32,
    /// Its length in bytes.
    pub bytes: u32,
    /// Where the host keeps the op of its first halfword.
    pub ops: u64,
    /// Bytes of an op.
    pub op_bytes: u32,
}

impl Place {
    /// The address of the instruction whose op is there.
    pub fn address_of(self, ip: u64) -> u32 {
        self.base.wrapping_add((ip.wrapping_sub(self.ops) / u64::from(self.op_bytes) * 2) as u32)
    }
}
