//! The predecoded instruction: what the interpreter dispatches on.

/// One predecoded instruction of ARMv6-M. There is one for each halfword of executable memory, so the next sequential
/// instruction is the next array element and a branch is a pointer offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C, align(8))]
pub struct Op {
    /// The operation.
    pub code: Code,
    /// First register field (destination or transferred register).
    pub a: u8,
    /// Second register field (base or operand).
    pub b: u8,
    /// Third register field (index), or the number of registers in a mask.
    pub c: u8,
    /// Immediate, absolute address, register mask, or branch distance in halfwords.
    pub imm: u32,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// The operation of a predecoded instruction. The order follows the ARMv6-M encoding tables.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        #[repr(u8)]
        #[allow(missing_docs)]
        pub enum Code { #[default] $($(#[$doc])* $name),* }

        impl Code {
            /// Returns the code of the conditional branch with this condition field.
            pub const fn branch(condition: u8) -> Code {
                CODES[(op::Beq + condition) as usize].0
            }
        }

        /// Every code with its name, in numeric order.
        pub const CODES: &[(Code, &str)] = &[$((Code::$name, stringify!($name))),*];

        /// The codes as bare numbers, for `match`.
        #[allow(non_upper_case_globals, missing_docs)]
        pub mod op { $(pub const $name: u8 = super::Code::$name as u8;)* }
    };
}

codes! {
    /// Not decoded yet (also all zeros, so that fresh tables need no initialisation).
    Undecoded,
    /// Stands in for an instruction before which something must happen: its cache line is not resident, or a probe
    /// sits on it. The common path pays nothing for the possibility. The instruction itself is decoded again.
    Attend,
    /// After the last halfword of a region: execution ran off its end.
    OutOfRegion,
    /// These ops, up to `Nop`, take one cycle and use registers and flags only ([`Op::is_core_local_instruction`]).
    MovsReg, LslImm, LsrImm, AsrImm,
    AddReg, SubReg, AddImm, SubImm, MovImm, CmpImm,
    And, Eor, LslReg, LsrReg, AsrReg, Adc, Sbc, RorReg,
    Tst, Rsb, Cmp, Cmn, Orr, Mul, Bic, Mvn,
    /// High-register forms. `Sp` variants clear bits 1:0 of the result.
    AddHi, AddHiSp, MovHi, MovHiSp, CmpHi, MovConst, AddConst,
    /// rd = rn + imm without flags: ADD Rd,SP,#imm and ADD/SUB SP,#imm.
    AddNoFlags,
    Sxth, Sxtb, Uxth, Uxtb, Rev, Rev16, Revsh, Nop,
    AddPc, MovPc, Bx, Blx,
    /// Literal in flash at address `imm`. The generic form goes through the data path.
    LdrLitFlash, LdrLit,
    StrReg, StrhReg, StrbReg, LdrsbReg, LdrReg, LdrhReg, LdrbReg, LdrshReg,
    StrImm, LdrImm, StrbImm, LdrbImm, StrhImm, LdrhImm,
    Push, Pop, PopPc, Stm, Ldm,
    Cpsie, Cpsid, Wfe, Wfi, Sev, Bkpt, Udf, Svc,
    Beq, Bne, Bcs, Bcc, Bmi, Bpl, Bvs, Bvc, Bhi, Bls, Bge, Blt, Bgt, Ble,
    B, Bl,
    /// Branches whose target is in another region: `imm` is the absolute address, `a` the condition.
    BccFar, BFar, BlFar,
    Msr, Mrs, Barrier,
    /// A modelled boot-ROM function: `imm` is its number.
    RomHook,
}

impl Op {
    /// Returns whether the instruction accesses neither bus nor chip, so that its order relative to the other core's
    /// instructions does not matter.
    #[inline(always)]
    pub fn is_core_local_instruction(self) -> bool {
        (self.code as u8).wrapping_sub(op::MovsReg) <= op::Nop - op::MovsReg
    }

    /// Returns whether the op is a branch to a place in its region, with or without a condition. `imm` is the distance.
    pub fn is_branch_within_code_region(self) -> bool {
        (op::Beq..=op::Ble).contains(&(self.code as u8)) || self.code == Code::B
    }

    /// Creates an op without operands.
    pub const fn without_operands(code: Code) -> Op {
        Op { code, a: 0, b: 0, c: 0, imm: 0 }
    }

    /// Returns the op in the form in which the interpreter keeps it: in one host register.
    #[inline(always)]
    pub fn pack_op_into_word(self) -> Word {
        // SAFETY: eight bytes without padding.
        Word(unsafe { std::mem::transmute::<Op, u64>(self) })
    }

    /// Returns whether the instruction has a 32-bit encoding, which takes up two halfwords.
    #[inline(always)]
    pub fn is_wide(self) -> bool {
        matches!(self.code, Code::Bl | Code::BlFar | Code::Msr | Code::Mrs | Code::Barrier)
    }
}

/// An [`Op`] in one host register, from which its fields are extracted instead of by five loads.
#[derive(Debug, Clone, Copy)]
pub struct Word(u64);

impl Word {
    /// Returns the [`Op::code`] as a number of [`op`].
    #[inline(always)]
    pub fn code(self) -> u8 {
        self.0 as u8
    }

    /// Returns the field [`Op::a`].
    #[inline(always)]
    pub fn a(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// Returns the field [`Op::b`].
    #[inline(always)]
    pub fn b(self) -> u8 {
        (self.0 >> 16) as u8
    }

    /// Returns the field [`Op::c`].
    #[inline(always)]
    pub fn c(self) -> u8 {
        (self.0 >> 24) as u8
    }

    /// Returns the field [`Op::imm`].
    #[inline(always)]
    pub fn imm(self) -> u32 {
        (self.0 >> 32) as u32
    }
}
