//! The predecoded instruction: what the executor dispatches on and the pipelines schedule by.

use super::code::Code;

/// One predecoded instruction of ARMv7-M, in 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C, align(16))]
pub struct Op {
    /// The operation. All zeros are "not decoded yet", so that fresh tables need no initialisation.
    pub code: Code,
    /// [`flag`] bits.
    pub flags: u8,
    /// Destination or transferred register (floating point: S or D number).
    pub rd: u8,
    /// Base or first operand.
    pub rn: u8,
    /// Index or second operand.
    pub rm: u8,
    /// Third operand, second destination, lsb of a bit field: see the code.
    pub ra: u8,
    /// Shift amount, or width of a bit field: see the code.
    pub shift: u8,
    /// The class by which the pipelines schedule.
    pub class: InstructionTimingClass,
    /// Immediate, absolute address, register mask, or branch distance in halfwords.
    pub imm: u32,
    /// Core registers read, bit n = rn (r15 never; a base that is also written back is in both sets).
    pub reads: u16,
    /// Core registers written.
    pub writes: u16,
}

/// Bits of [`Op::flags`].
pub mod flag {
    /// A 32-bit opcode.
    pub const WIDE: u8 = 1 << 0;
    /// Sets N, Z, C, V as its code says.
    pub const SETS: u8 = 1 << 1;
    /// 16-bit encoding that sets flags only outside an IT block.
    pub const SETS_OUTSIDE_IT: u8 = 1 << 2;
    /// Reads the flags (ADC, conditional branch, …). A predicated instruction does so besides.
    pub const READS_FLAGS: u8 = 1 << 3;
    /// Second operand is a register shifted by a constant other than LSL #0.
    pub const SHIFTED: u8 = 1 << 4;
    /// Base register written back before the access (`LDR r0,[r1,#4]!`).
    pub const PRE_INDEXED: u8 = 1 << 5;
    /// Base register written back after the access (`LDR r0,[r1],#4`; `LDM r1!`).
    pub const POST_INDEXED: u8 = 1 << 6;
    /// The address has a register index (`[r1,r2,LSL #2]`).
    pub const REGISTER_OFFSET: u8 = 1 << 7;
    /// Floating-point instructions: register numbers name D registers, not S registers. (Shares its bit with
    /// [`SHIFTED`], which they do not know.)
    pub const DOUBLE: u8 = SHIFTED;
}

/// The kind of work of an instruction, as finely as the timing tables distinguish it (ARM DDI0337, DDI0439 table 3-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum InstructionTimingClass {
    /// Not an instruction: undecoded, stand-in, end of a region, undefined.
    #[default]
    None,
    Nop,
    It,
    /// MOV, ADD, logic, compares, MOVW, MOVT, ADR, with or without a constant shift.
    Alu,
    /// A shift or rotate as the instruction itself, by a constant.
    ShiftImmediate,
    /// A shift or rotate by a register.
    ShiftRegister,
    /// Bit fields, extends, reverses, CLZ, saturation.
    Bits,
    /// Parallel add and subtract, SEL, PKH, USAD8, saturating arithmetic.
    Dsp,
    Multiply,
    MultiplyAccumulate,
    MultiplyLong,
    MultiplyAccumulateLong,
    /// SMULxy, SMLAD, SMMUL and the other DSP multiplies.
    MultiplyDsp,
    Divide,
    /// LDR, LDRB … with a base register. `flags` tell the addressing.
    Load,
    /// PC-relative load.
    LoadLiteral,
    /// LDR or LDM/POP with the PC among the destinations.
    LoadPc,
    LoadDouble,
    LoadMultiple,
    LoadMultiplePc,
    LoadExclusive,
    Store,
    StoreDouble,
    StoreMultiple,
    StoreExclusive,
    /// PLD, PLI.
    Preload,
    /// B, BL: the target is in the opcode.
    Branch,
    BranchConditional,
    /// CBZ, CBNZ.
    CompareBranch,
    /// BX, BLX, MOV PC, ADD PC.
    BranchRegister,
    TableBranch,
    Barrier,
    /// MRS, MSR, CPS, CLREX.
    System,
    /// WFI, WFE, SEV.
    Hint,
    /// SVC, BKPT.
    Trap,
    /// VADD, VSUB, VABS, VNEG, VCMP, VCVT, VMOV immediate or between S or D registers.
    FloatSimple,
    FloatMultiply,
    /// VMLA, VFMA and relatives.
    FloatMultiplyAccumulate,
    FloatDivide,
    FloatSquareRoot,
    FloatLoad,
    FloatStore,
    FloatLoadMultiple,
    FloatStoreMultiple,
    /// VMOV between core and one S register or half of a D register.
    FloatMove,
    /// VMOV between two core registers and two S or one D register.
    FloatMoveDouble,
    /// VMRS, VMSR.
    FloatSystem,
}

/// An op in two words, so that it fits into host registers. Its fields are extracted where they are used, instead of
/// one load for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedOp(u64, u64);

impl PackedOp {
    /// No op: what an undecoded table holds.
    pub const NONE: PackedOp = PackedOp(0, 0);

    /// Reads the op at `ip`.
    ///
    /// # Safety
    /// `ip` points to an op.
    #[inline(always)]
    pub unsafe fn read_op(ip: *const Op) -> PackedOp {
        // SAFETY: the caller's promise; an op is 16 bytes without padding, aligned to them.
        unsafe {
            let words = ip.cast::<u64>();
            PackedOp(*words, *words.add(1))
        }
    }

    /// Returns the number of the op's code.
    #[inline(always)]
    pub fn code(self) -> u8 {
        self.0 as u8
    }

    /// Returns the number of halfwords that the instruction takes up.
    #[inline(always)]
    pub fn halfword_count(self) -> usize {
        self.op().halfword_count()
    }

    /// Returns the op with its fields unpacked.
    #[inline(always)]
    pub fn op(self) -> Op {
        // SAFETY: the words are those of an op (all zeros are one too), which is as long and has no padding.
        unsafe { std::mem::transmute::<[u64; 2], Op>([self.0, self.1]) }
    }
}

impl From<Op> for PackedOp {
    /// Returns an op with its fields packed into words.
    fn from(op: Op) -> PackedOp {
        // SAFETY: it points to an op.
        unsafe { PackedOp::read_op(&op) }
    }
}

impl Op {
    /// Creates an op without operands.
    pub const fn without_operands(code: Code, class: InstructionTimingClass) -> Op {
        Op { code, rd: 0, rn: 0, rm: 0, ra: 0, shift: 0, flags: 0, class, imm: 0, reads: 0, writes: 0 }
    }

    /// The last op of a table: execution that gets there has run off the end of its region.
    pub const OUT_OF_REGION: Op = Op::without_operands(Code::OutOfRegion, InstructionTimingClass::None);

    /// Stands before an instruction that needs attention. See [`Code::Attend`].
    pub const ATTEND: Op = Op::without_operands(Code::Attend, InstructionTimingClass::None);

    /// How many different [`Op::code_and_width`]s there may be.
    pub const FORMS: usize = 1 << 9;

    /// Returns code and width of the op at `ip` as one number: the code, plus 256 for a 32-bit opcode.
    ///
    /// # Safety
    /// `ip` points to an op.
    #[inline(always)]
    pub unsafe fn code_and_width(ip: *const Op) -> usize {
        const _: () = assert!(std::mem::offset_of!(Op, flags) == 1 && flag::WIDE == 1);
        // SAFETY: the caller's promise; code and flags are the first two bytes.
        let first = unsafe { *ip.cast::<u16>() };
        usize::from(u16::from_le(first)) % Op::FORMS
    }

    /// Returns whether the op has any of these [`flag`] bits.
    #[inline(always)]
    pub const fn has_flag(self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    /// Returns the number of halfwords that the instruction takes up: the distance to the next sequential op.
    #[inline(always)]
    pub const fn halfword_count(self) -> usize {
        1 + (self.flags & flag::WIDE) as usize
    }
}
