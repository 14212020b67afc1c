//! The operations of predecoded instructions.
//!
//! Fields of an op that a code does not mention are as [`super::op::Op`] says: `rd` destination or transferred
//! register, `rn` base or first operand, `rm` index or second operand.

macro_rules! codes {
    ($dollar:tt $($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// The operation of a predecoded instruction. The order follows the encoding tables of the ARMv7-M manual (A5).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        #[repr(u8)]
        #[allow(missing_docs)]
        pub enum Code { #[default] $($(#[$doc])* $name),* }

        impl Code {
            /// Returns the code with this number. Panics if there is none.
            pub const fn code_with_number(number: u8) -> Code {
                CODES[number as usize].0
            }

            /// Returns the code that does the same without setting flags: the second of a pair.
            pub const fn code_without_flag_setting(self) -> Code {
                Code::code_with_number(self as u8 + 1)
            }
        }

        /// Every code with its name, in numeric order.
        pub const CODES: &[(Code, &str)] = &[$((Code::$name, stringify!($name))),*];

        /// The codes as bare numbers, for `match`.
        #[allow(non_upper_case_globals, missing_docs)]
        pub mod number { $(pub const $name: u8 = super::Code::$name as u8;)* }

        /// Hands the names of all codes to a macro.
        macro_rules! with_codes {
            ($dollar then:ident) => { $dollar then! { $($name)* } };
        }
        pub(super) use with_codes;
    };
}

codes! { $
    /// Not decoded yet (also all zeros, so that fresh tables need no initialisation).
    Undecoded,
    /// Stands in for an instruction before which something must happen (a probe, an `until` address). The common path
    /// pays nothing for the possibility.
    Attend,
    /// After the last halfword of a region: execution ran off its end.
    OutOfRegion,
    /// `imm` is ITSTATE. The codes up to here leave the executor's common path.
    It,
    /// UNDEFINED or UNPREDICTABLE (ARMv7-M A5.1.1).
    Undefined,
    /// An encoding of a coprocessor that is not there.
    NoCoprocessor,
    /// UNDEFINED in the FPU's encoding space: the FPU's access rights count first.
    UndefinedFloat,

    /// Data processing with a constant in `imm`. In each pair the first sets flags, the second does not: a 16-bit
    /// encoding inside an IT block is executed as the second. The logical ones that set flags have the carry of the
    /// expanded constant in `shift`: 0 leaves C alone, 2 clears it, 3 sets it.
    AndImmS, AndImm, BicImmS, BicImm, OrrImmS, OrrImm, OrnImmS, OrnImm, EorImmS, EorImm,
    AddImmS, AddImm, AdcImmS, AdcImm, SbcImmS, SbcImm, SubImmS, SubImm, RsbImmS, RsbImm,
    MovImmS, MovImm, MvnImmS, MvnImm, TstImm, TeqImm, CmpImm, CmnImm,

    /// Data processing with the register `rm`, unshifted.
    AndRegS, AndReg, BicRegS, BicReg, OrrRegS, OrrReg, EorRegS, EorReg,
    AddRegS, AddReg, AdcRegS, AdcReg, SbcRegS, SbcReg, SubRegS, SubReg,
    MovRegS, MovReg, MvnRegS, MvnReg, TstReg, CmpReg, CmnReg,

    /// Data processing with `rm` shifted: `ra` is the type (0 LSL, 1 LSR, 2 ASR, 3 ROR, 4 RRX), `shift` the amount,
    /// 0 to 32; flags by [`super::op::flag::SETS`].
    AndShift, BicShift, OrrShift, OrnShift, EorShift, AddShift, AdcShift, SbcShift, SubShift, RsbShift,
    MovShift, MvnShift, TstShift, TeqShift, CmpShift, CmnShift,
    /// ADD of `rm` shifted left: the usual index arithmetic.
    AddLsl,

    /// SP := `rn` + (`rm` << `shift`), or + `imm` if `rm` is 15, or minus that if `ra` is set: sums that need not be
    /// multiples of 4; flags by [`super::op::flag::SETS`].
    AddToSp,
    /// SP := `rm`.
    MovToSp,

    /// Shifts of `rm` by `shift`, 1 to 32 (LSL 1 to 31).
    LslImmS, LslImm, LsrImmS, LsrImm, AsrImmS, AsrImm,
    /// Shifts of `rn` by the low byte of `rm`.
    LslRegS, LslReg, LsrRegS, LsrReg, AsrRegS, AsrReg, RorRegS, RorReg,

    /// MOVT: `imm` is already in the upper half.
    Movt,
    /// Bit fields: `ra` is the least significant bit, `shift` the width. BFC has `rn` = 15.
    Ubfx, Sbfx, Bfi,
    Clz, Rbit, Rev, Rev16, Revsh,
    /// Saturation to `imm` bits of `rn` shifted (`ra` type, `shift` amount).
    Ssat, Usat, Ssat16, Usat16,
    /// Extensions of `rm` rotated right by `shift` bits, added to `rn` in the second group.
    /// Those of two bytes to two halfwords are signed if `ra` is set.
    Sxtb, Sxth, Uxtb, Uxth, Xtb16,
    Sxtab, Sxtah, Uxtab, Uxtah, Xtab16,

    /// Parallel additions and subtractions: `ra` is the operation (hw1 bits 6:4), `shift` the prefix (hw2 bits 6:4).
    Parallel,
    Sel,
    /// `ra` set: PKHTB, else PKHBT; `shift` is the amount (ASR or LSL).
    Pkh,
    /// QADD, QDADD, QSUB, QDSUB by `ra` from 0 to 3: `rm` plus or minus `rn`.
    SaturatingAdd,
    /// USAD8. USADA8 adds `ra`.
    Usad8, Usada8,

    MulS, Mul,
    /// Accumulator `ra`.
    Mla, Mls,
    /// Long multiplications: `rd` is RdLo, `ra` is RdHi.
    Smull, Umull, Smlal, Umlal, Umaal,
    /// `shift` bit 1 selects the top half of `rn`, bit 0 that of `rm`.
    Smulxy, Smlaxy, Smlalxy,
    /// `shift` bit 0 selects the top half of `rm`.
    Smulwy, Smlawy,
    /// SMUAD, SMUSD, SMLAD, SMLSD, SMLALD, SMLSLD: `shift` bit 0 swaps the halves of `rm`, bit 1 subtracts.
    Smuad, Smlad, Smlald,
    /// `shift` bit 0 rounds.
    Smmul, Smmla, Smmls,
    Sdiv, Udiv,

    /// `[rn, #imm]` without write-back. `imm` is the signed offset.
    LdrImm, LdrhImm, LdrbImm, LdrshImm, LdrsbImm, StrImm, StrhImm, StrbImm,
    /// [rn, rm, LSL #shift].
    LdrReg, LdrhReg, LdrbReg, LdrshReg, LdrsbReg, StrReg, StrhReg, StrbReg,
    /// The literal word at address `imm`.
    LdrLit,
    /// The other loads: literals (`rn` = 15), write-back, LDRT and relatives, LDR SP. Flags tell the addressing. `ra`
    /// has log2 of the size in bits 1:0, bit 2 for sign extension, bit 3 for an unprivileged access.
    Load,
    /// The other stores. As `Load`.
    Store,
    /// LDR PC: addressing as `Load`.
    LdrPc,
    /// `rd` and `ra` are the two registers. `rn` = 15: the literal at address `imm`.
    Ldrd, Strd,
    /// `imm` is the register mask, `shift` its population. `ra` set: decrement before; write-back is POST_INDEXED.
    Ldm, LdmPc, Stm,
    /// `shift` is log2 of the size. STREX's status goes to `ra`.
    Ldrex, Strex,
    Clrex,
    Preload,

    /// Conditional branches: `imm` is the distance in halfwords.
    Beq, Bne, Bcs, Bcc, Bmi, Bpl, Bvs, Bvc, Bhi, Bls, Bge, Blt, Bgt, Ble,
    B, Bl, Cbz, Cbnz,
    /// Branches whose target is in another region: `imm` is the absolute address, `ra` the condition; of
    /// `CompareBranchFar` `ra` is 1 for CBNZ.
    BccFar, BFar, BlFar, CompareBranchFar,
    /// Target in `rm`. ADD PC adds `imm`, the PC.
    Bx, Blx, MovPc, AddPc,
    /// `shift` is 1 for TBH. `rn` = 15: the table is at address `imm`.
    TableBranch,

    Nop, Sev, Wfe, Wfi,
    /// `ra` is 4 for DSB, 5 for DMB, 6 for ISB.
    Barrier,
    /// `imm` is SYSm.
    Mrs,
    /// Moves to the special register from `rn`. `ra` is the mask: bit 1 the flags, bit 0 GE.
    Msr,
    /// `imm` bit 1 PRIMASK, bit 0 FAULTMASK. `ra` set: they become 1.
    Cps,
    /// `imm` is the constant.
    Svc, Bkpt,

    /// Floating point: of each pair the first works on S registers, the second on D registers. Codes without a pair
    /// have [`super::op::flag::DOUBLE`] if their floating-point side is double.
    Vadd32, Vadd64, Vsub32, Vsub64, Vmul32, Vmul64, Vnmul32, Vnmul64, Vdiv32, Vdiv64,
    /// `ra` from 0 to 7: VMLA, VMLS, VNMLS, VNMLA, VFMA, VFMS, VFNMS, VFNMA.
    VmultiplyAccumulate32, VmultiplyAccumulate64,
    /// `imm` is the value's upper (or only) word.
    VmovImm32, VmovImm64,
    /// VMOV, VABS, VNEG by `ra` from 0 to 2.
    Vmov32, Vmov64,
    Vsqrt32, Vsqrt64,
    /// `rd` against `rm`, or against zero if `ra` bit 1 is set. `ra` bit 0: VCMPE.
    Vcmp32, Vcmp64,
    /// Selects by the condition `ra`.
    Vsel32, Vsel64,
    /// VMINNM if `ra` is set.
    Vmaxnm32, Vmaxnm64,
    /// `ra` is the rounding: 0 to nearest even, 1 up, 2 down, 3 to zero, 4 to nearest away, 5 by FPSCR, 6 by FPSCR
    /// with the inexact exception (VRINTX).
    Vrint,
    /// Converts to an integer in S register `rd`. `ra` is the rounding as for VRINT, `shift` is 1 if it is signed.
    VcvtToInteger,
    /// Converts from the integer in S register `rm`. `shift` is 1 if it is signed.
    VcvtFromInteger,
    /// `rd` in place: `imm` fraction bits, `shift` is the width 16 or 32, `ra` bit 0 signed, bit 1 to fixed point.
    VcvtFixed,
    /// `ra` bit 0: the top half (VCVTT); bit 1: to half precision.
    VcvtHalf,
    /// `rd` is D, `rm` is S. And the other way round.
    VcvtDoubleFromSingle, VcvtSingleFromDouble,
    /// `[rn, #imm]`. `rn` = 15: the literal at address `imm`.
    Vldr32, Vldr64, Vstr32, Vstr64,
    /// `rd` is the first S register (also of D registers), `shift` the number of words, `imm` the change of the base.
    /// `ra` set: decrement before; write-back is POST_INDEXED.
    Vldm, Vstm,
    /// Core register `rd` := S register `rn`; S register `rd` := core register `rn`.
    VmovToCore, VmovFromCore,
    /// Core registers `rd`, `ra` and the S registers from `rm` on.
    VmovPairToCore, VmovPairFromCore,
    Vmrs, VmrsFlags, Vmsr,
}
