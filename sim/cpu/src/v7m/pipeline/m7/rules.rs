//! What each operation is to the Cortex-M7's issue logic: one row a group of codes.

use super::super::super::code::{CODES, Code};
use rtoslab_timing::cortex_m7::{ALU_LATENCY, MULTIPLY_LATENCY, SATURATE_LATENCY, SYSTEM_CYCLES, TABLE_BRANCH_CYCLES};

/// What an instruction uses, one bit each; [`blocks`] says which may not meet in one cycle.
pub mod uses {
    /// Both slots.
    pub const ALONE: u16 = 1 << 0;
    /// The older slot only.
    pub const OLDER: u16 = 1 << 1;
    /// An operand through the early shifter: inline shifts, rotated constants.
    pub const SHIFTED: u16 = 1 << 2;
    /// The early shifter for the instruction itself: bit fields, reversals.
    pub const SHIFTER: u16 = 1 << 3;
    /// A shift instruction.
    pub const SHIFT: u16 = 1 << 4;
    /// The multiplier.
    pub const MULTIPLIER: u16 = 1 << 5;
    /// The store path.
    pub const STORE: u16 = 1 << 6;
    /// The branch unit.
    pub const BRANCH: u16 = 1 << 7;
    /// Floating-point arithmetic.
    pub const FLOAT: u16 = 1 << 8;
    /// Floating-point multiply-accumulate.
    pub const ACCUMULATE: u16 = 1 << 9;
    /// A floating-point load, store or move.
    pub const FLOAT_MOVE: u16 = 1 << 10;
    /// A floating-point constant.
    pub const FLOAT_CONSTANT: u16 = 1 << 11;
    /// A load (a bank conflict is found later).
    pub const LOAD: u16 = 1 << 12;
    /// Everything.
    pub const ALL: u16 = u16::MAX;
}

/// What an older instruction keeps out of the younger slot (JL; SHIFT before SHIFTED is the matrix's "slippery" minus).
const fn blocks(used: u16) -> u16 {
    use uses::*;
    let pairs = [
        (ALONE, ALL),
        (SHIFTED, SHIFTED),
        (SHIFTER, SHIFTED),
        (SHIFT, SHIFTED),
        (MULTIPLIER, MULTIPLIER | STORE),
        (STORE, MULTIPLIER | STORE),
        (BRANCH, BRANCH),
        (FLOAT, FLOAT),
        (ACCUMULATE, FLOAT_MOVE),
        (FLOAT_MOVE, ACCUMULATE),
        (FLOAT_CONSTANT, FLOAT_CONSTANT),
    ];
    let mut blocked = ALONE | OLDER;
    let mut i = 0;
    while i < pairs.len() {
        if used & pairs[i].0 != 0 {
            blocked |= pairs[i].1;
        }
        i += 1;
    }
    blocked
}

/// Operand fields that are read one stage early.
pub mod early {
    pub const NONE: u8 = 0;
    pub const N: u8 = 1;
    pub const M: u8 = 2;
    pub const BOTH: u8 = N | M;
}

/// What the issue logic does beyond the common rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Plain,
    /// ADD, SUB, MOV: in the early ALU if the slot is the older one and the operands are there.
    Add,
    /// Shifts: in the early ALU if the operands are there and the other slot leaves the shifter free.
    Shift,
    /// Always in the early ALU; the result is not forwarded to early inputs in the next cycle.
    Reverse,
    /// Data processing with a constant: it may be a rotated one.
    Constant,
    /// The same for ADD, SUB, MOV.
    AddConstant,
    Multiply,
    Load,
    LoadMultiple,
    Store,
    StoreMultiple,
    /// Occupies both slots for a fixed number of cycles: `latency`.
    Slow,
    Divide,
    Branch,
    CompareBranch,
    Float,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    pub uses: u16,
    pub blocks: u16,
    pub kind: Kind,
    pub early: u8,
    /// Cycles to the late result of what it computes.
    pub latency: u8,
}

const fn rule(kind: Kind, uses: u16) -> Rule {
    Rule { uses, blocks: blocks(uses), kind, early: early::NONE, latency: ALU_LATENCY as u8 }
}

impl Rule {
    const fn early(mut self, operands: u8) -> Rule {
        self.early = operands;
        self
    }

    const fn latency(mut self, cycles: u64) -> Rule {
        self.latency = cycles as u8;
        self
    }

    /// The instruction's operand is shifted on its way in.
    #[inline]
    pub fn shifted(&mut self) {
        self.uses |= uses::SHIFTED;
        self.blocks |= uses::SHIFTED;
    }
}

/// The row of a code.
const fn row(code: Code) -> Rule {
    use Code::*;
    use uses::*;
    match code {
        AddImmS | AddImm | SubImmS | SubImm | MovImmS | MovImm => rule(Kind::AddConstant, 0),
        AddRegS | AddReg | SubRegS | SubReg | MovRegS | MovReg | AddToSp | MovToSp => rule(Kind::Add, 0),
        AndImmS | AndImm | BicImmS | BicImm | OrrImmS | OrrImm | OrnImmS | OrnImm | EorImmS | EorImm | AdcImmS
        | AdcImm | SbcImmS | SbcImm | RsbImmS | RsbImm | MvnImmS | MvnImm | TstImm | TeqImm | CmpImm | CmnImm => {
            rule(Kind::Constant, 0)
        }
        AndRegS | AndReg | BicRegS | BicReg | OrrRegS | OrrReg | EorRegS | EorReg | AdcRegS | AdcReg | SbcRegS
        | SbcReg | MvnRegS | MvnReg | TstReg | CmpReg | CmnReg | Movt | Nop | It => rule(Kind::Plain, 0),
        AndShift | BicShift | OrrShift | OrnShift | EorShift | AddShift | AdcShift | SbcShift | SubShift | RsbShift
        | MvnShift | TstShift | TeqShift | CmpShift | CmnShift | AddLsl => rule(Kind::Plain, SHIFTED).early(early::M),
        LslImmS | LslImm | LsrImmS | LsrImm | AsrImmS | AsrImm | LslRegS | LslReg | LsrRegS | LsrReg | AsrRegS
        | AsrReg | RorRegS | RorReg | MovShift => rule(Kind::Shift, SHIFT),

        Ubfx | Sbfx => rule(Kind::Plain, OLDER | SHIFTER).early(early::N),
        Bfi => rule(Kind::Plain, OLDER | SHIFTER).early(early::N),
        Rbit | Rev | Rev16 | Revsh => rule(Kind::Reverse, OLDER | SHIFTER).early(early::M),
        Sxtab | Sxtah | Uxtab | Uxtah | Xtab16 | Pkh => rule(Kind::Plain, OLDER | SHIFTER).early(early::M),
        Ssat | Usat | Ssat16 | Usat16 => rule(Kind::Plain, OLDER | SHIFTER).early(early::N).latency(SATURATE_LATENCY),
        Sxtb | Sxth | Uxtb | Uxth | Xtb16 | Clz | Parallel | Sel => rule(Kind::Plain, OLDER),
        SaturatingAdd => rule(Kind::Plain, OLDER).early(early::BOTH).latency(SATURATE_LATENCY),
        Usad8 | Usada8 => rule(Kind::Plain, OLDER).latency(SATURATE_LATENCY),

        MulS | Mul | Mla | Mls | Smull | Umull | Smlal | Umlal | Umaal | Smulxy | Smlaxy | Smlalxy | Smulwy
        | Smlawy | Smuad | Smlad | Smlald | Smmul | Smmla | Smmls => {
            rule(Kind::Multiply, MULTIPLIER).latency(MULTIPLY_LATENCY)
        }
        Sdiv | Udiv => rule(Kind::Divide, ALONE),

        LdrImm | LdrhImm | LdrbImm | LdrshImm | LdrsbImm | LdrReg | LdrhReg | LdrbReg | LdrshReg | LdrsbReg
        | LdrLit | Load | LdrPc | Preload => rule(Kind::Load, LOAD).early(early::BOTH),
        Ldrex => rule(Kind::Load, LOAD | OLDER).early(early::BOTH),
        Ldrd | Ldm => rule(Kind::LoadMultiple, ALONE).early(early::BOTH),
        LdmPc => rule(Kind::LoadMultiple, ALONE | BRANCH).early(early::BOTH),
        StrImm | StrhImm | StrbImm | StrReg | StrhReg | StrbReg | Store => rule(Kind::Store, STORE),
        Strd | Stm => rule(Kind::StoreMultiple, ALONE),
        Strex => rule(Kind::StoreMultiple, ALONE),

        Beq | Bne | Bcs | Bcc | Bmi | Bpl | Bvs | Bvc | Bhi | Bls | Bge | Blt | Bgt | Ble | B | Bl | BccFar | BFar
        | BlFar | Bx | Blx | MovPc | AddPc => rule(Kind::Branch, BRANCH),
        Cbz | Cbnz | CompareBranchFar => rule(Kind::CompareBranch, BRANCH),
        TableBranch => rule(Kind::Slow, ALONE | BRANCH).early(early::BOTH).latency(TABLE_BRANCH_CYCLES),

        Clrex | Sev | Wfe | Wfi | Barrier | Mrs | Msr | Cps | Svc | Bkpt => {
            rule(Kind::Slow, ALONE).latency(SYSTEM_CYCLES)
        }
        Vmrs | VmrsFlags | Vmsr => rule(Kind::Float, ALONE | FLOAT_MOVE),
        VmovPairToCore | VmovPairFromCore | Vldr64 | Vstr64 | Vldm | Vstm => rule(Kind::Float, ALONE | FLOAT_MOVE),
        Vldr32 => rule(Kind::Float, FLOAT_MOVE | LOAD).early(early::N),
        Vstr32 => rule(Kind::Float, FLOAT_MOVE | STORE).early(early::N),
        Vmov32 | Vmov64 | VmovToCore | VmovFromCore => rule(Kind::Float, FLOAT_MOVE),
        VmovImm32 | VmovImm64 => rule(Kind::Float, FLOAT_MOVE | FLOAT_CONSTANT),
        VmultiplyAccumulate32 | VmultiplyAccumulate64 => rule(Kind::Float, FLOAT | ACCUMULATE),
        Vadd32 | Vadd64 | Vsub32 | Vsub64 | Vmul32 | Vmul64 | Vnmul32 | Vnmul64 | Vdiv32 | Vdiv64 | Vsqrt32
        | Vsqrt64 | Vcmp32 | Vcmp64 | Vmaxnm32 | Vmaxnm64 | Vrint | VcvtToInteger | VcvtFromInteger | VcvtFixed
        | VcvtHalf | VcvtDoubleFromSingle | VcvtSingleFromDouble => rule(Kind::Float, FLOAT),
        Vsel32 | Vsel64 => rule(Kind::Float, FLOAT | OLDER),

        Undecoded | Attend | OutOfRegion | Undefined | NoCoprocessor | UndefinedFloat => rule(Kind::Plain, ALONE),
    }
}

/// The rules by code.
pub static RULES: [Rule; 256] = {
    let mut table = [rule(Kind::Plain, uses::ALONE); 256];
    let mut i = 0;
    while i < CODES.len() {
        table[CODES[i].0 as usize] = row(CODES[i].0);
        i += 1;
    }
    table
};

/// True for a constant made by rotating a byte (JL's "shifted constant"): not a byte, not a byte repeated, and with no
/// set bits further than eight apart. A 12-bit constant of ADDW or SUBW that could be encoded so counts too: assemblers
/// choose the other encoding.
#[inline]
pub fn is_rotated(constant: u32) -> bool {
    if constant <= 0xFF {
        return false;
    }
    let span = 32 - constant.leading_zeros() - constant.trailing_zeros();
    let half = constant & 0xFFFF;
    let repeated = constant >> 16 == half && (half & 0xFF == 0 || half >> 8 == 0 || half >> 8 == half & 0xFF);
    span <= 8 && !repeated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotated_constants() {
        for constant in [0x1FC0, 0x100, 0xFF00_0000, 0x0100_0000, 0x3FC] {
            assert!(is_rotated(constant), "{constant:x}");
        }
        for constant in [0, 0xFF, 0x1B1B_1B1B, 0x00AB_00AB, 0xAB00_AB00, 0xFF9, 0x101] {
            assert!(!is_rotated(constant), "{constant:x}");
        }
    }
}
