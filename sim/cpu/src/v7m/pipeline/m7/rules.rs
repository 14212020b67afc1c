//! The role of each operation in the Cortex-M7's issue logic: one row a group of codes.

use super::super::super::code::{CODES, Code};
use rtoslab_timing::cortex_m7::{
    ALU_LATENCY, COMPARE_SHIFTED_LATENCY, MULTIPLY_LATENCY, SATURATE_LATENCY, SYSTEM_CYCLES, TABLE_BRANCH_CYCLES,
};

/// The units that an instruction uses, one bit each. [`units_blocked_by`] says which may not meet in one cycle.
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
    /// Only in what an older instruction blocks: it has the early shifter, a shift beside it goes to the late one.
    pub const SHIFTER_BUSY: u16 = 1 << 13;
    /// Everything.
    pub const ALL: u16 = u16::MAX;
}

/// Returns the uses that an instruction may not have to issue in the same cycle as an older one with these uses (JL;
/// SHIFT before SHIFTED is the matrix's "slippery" minus).
const fn units_blocked_by(used: u16) -> u16 {
    use uses::*;
    let pairs = [
        (ALONE, ALL),
        (SHIFTED, SHIFTED | SHIFTER_BUSY),
        (SHIFTER, SHIFTED | SHIFTER_BUSY),
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

/// The ready times of operands, two to a register: for late and for early inputs. After those of the core registers
/// come some that are always over and some that nobody reads, 32 registers each.
pub const TIMES: usize = 256;

/// Which ready time of a register an operand depends on: the late one or the early one. See the module's head.
#[derive(Debug, Clone, Copy)]
pub struct Place(u8);

const LATE: Place = Place(0);
const EARLY: Place = Place(1);
const NOWHERE: Place = Place(64);
const SINK: Place = Place(128);

impl Place {
    /// Returns the index of a register's time.
    #[inline(always)]
    pub fn index_of_register_ready_time(self, register: u8) -> u8 {
        register.wrapping_mul(2).wrapping_add(self.0)
    }
}

/// The kind of an instruction, by which the issue logic times it. From [`Kind::Movt`] on each kind has a case of its
/// own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// One result at most, from operands in `rn` and `rm`.
    Plain,
    /// A load or store without write-back.
    Load,
    Store,
    /// A branch that writes nothing. Its operand is in `rm`.
    Branch,
    /// CBZ and CBNZ of `rn`.
    CompareBranch,
    It,
    /// A further operand in `rd`.
    Movt,
    Multiply,
    /// A load with write-back, or any other load.
    LoadGeneral,
    StoreGeneral,
    LoadMultiple,
    StoreMultiple,
    /// Occupies both slots for a fixed number of cycles: `latency`.
    Slow,
    Divide,
    /// A branch that writes LR.
    BranchLink,
    Float,
}

/// Slots from which an instruction can enter the early ALU if its operands are there, and a mark.
pub mod early {
    pub const OLDER: u8 = 1 << 0;
    /// If the older instruction leaves the shifter free.
    pub const YOUNGER: u8 = 1 << 1;
    /// The constant may be a rotated one.
    pub const CONSTANT: u8 = 1 << 7;
}

/// The timing rule of one code on the M7: a row of the table.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct M7TimingRule {
    pub uses: u16,
    pub blocks: u16,
    pub n: Place,
    pub m: Place,
    pub d: Place,
    /// Cycles to the late result.
    pub latency: u8,
    /// Further cycles to the early one.
    pub forward: u8,
    /// Cycles to the flags.
    pub flags: u8,
    pub early: u8,
    pub kind: Kind,
}

/// Creates the rule of a kind that uses these units.
const fn timing_rule(kind: Kind, uses: u16) -> M7TimingRule {
    M7TimingRule {
        uses,
        blocks: units_blocked_by(uses),
        n: NOWHERE,
        m: NOWHERE,
        d: SINK,
        latency: ALU_LATENCY as u8,
        forward: 1,
        flags: ALU_LATENCY as u8,
        early: 0,
        kind,
    }
}

impl M7TimingRule {
    /// Sets which time of the first operand register the instruction depends on.
    const fn with_first_operand_time(mut self, place: Place) -> M7TimingRule {
        self.n = place;
        self
    }

    /// Sets which time of the second operand register the instruction depends on.
    const fn with_second_operand_time(mut self, place: Place) -> M7TimingRule {
        self.m = place;
        self
    }

    /// Makes the instruction depend on the late time of its destination register.
    const fn with_late_destination(mut self) -> M7TimingRule {
        self.d = LATE;
        self
    }

    /// Adds slots from which the instruction can enter the early ALU.
    const fn with_early_slots(mut self, slots: u8) -> M7TimingRule {
        self.early |= slots;
        self
    }

    /// Sets the cycles to the late result.
    const fn with_result_latency(mut self, cycles: u64) -> M7TimingRule {
        self.latency = cycles as u8;
        self
    }
}

/// Returns the rule of a code.
const fn rule_of_code(code: Code) -> M7TimingRule {
    use Code::*;
    use uses::*;
    let plain = timing_rule(Kind::Plain, 0);
    let constant = plain.with_first_operand_time(LATE).with_early_slots(early::CONSTANT);
    let shifted = timing_rule(Kind::Plain, SHIFTED).with_first_operand_time(LATE).with_second_operand_time(EARLY);
    let older = timing_rule(Kind::Plain, OLDER).with_late_destination();
    let shifter = timing_rule(Kind::Plain, OLDER | SHIFTER).with_late_destination();
    let load = timing_rule(Kind::Load, LOAD).with_first_operand_time(EARLY);
    let store = timing_rule(Kind::Store, STORE).with_first_operand_time(EARLY);
    match code {
        AddImmS | AddImm | SubImmS | SubImm => constant.with_late_destination().with_early_slots(early::OLDER),
        MovImmS | MovImm => {
            constant.with_first_operand_time(NOWHERE).with_late_destination().with_early_slots(early::OLDER)
        }
        AndImmS | AndImm | BicImmS | BicImm | OrrImmS | OrrImm | OrnImmS | OrnImm | EorImmS | EorImm | AdcImmS
        | AdcImm | SbcImmS | SbcImm | RsbImmS | RsbImm => constant.with_late_destination(),
        MvnImmS | MvnImm => constant.with_first_operand_time(NOWHERE).with_late_destination(),
        TstImm | TeqImm | CmpImm | CmnImm => constant,
        AddRegS | AddReg | SubRegS | SubReg => plain
            .with_first_operand_time(LATE)
            .with_second_operand_time(LATE)
            .with_late_destination()
            .with_early_slots(early::OLDER),
        MovRegS | MovReg | MovToSp => {
            plain.with_second_operand_time(LATE).with_late_destination().with_early_slots(early::OLDER)
        }
        AddToSp => plain
            .with_first_operand_time(LATE)
            .with_second_operand_time(LATE)
            .with_late_destination()
            .with_early_slots(early::OLDER),
        AndRegS | AndReg | BicRegS | BicReg | OrrRegS | OrrReg | EorRegS | EorReg | AdcRegS | AdcReg | SbcRegS
        | SbcReg => plain.with_first_operand_time(LATE).with_second_operand_time(LATE).with_late_destination(),
        MvnRegS | MvnReg => plain.with_second_operand_time(LATE).with_late_destination(),
        TstReg | CmpReg | CmnReg => plain.with_first_operand_time(LATE).with_second_operand_time(LATE),
        AndShift | BicShift | OrrShift | OrnShift | EorShift | AddShift | AdcShift | SbcShift | SubShift | RsbShift
        | AddLsl => shifted.with_late_destination(),
        MvnShift => shifted.with_first_operand_time(NOWHERE).with_late_destination(),
        TstShift | TeqShift | CmpShift | CmnShift => M7TimingRule { flags: COMPARE_SHIFTED_LATENCY as u8, ..shifted },
        LslImmS | LslImm | LsrImmS | LsrImm | AsrImmS | AsrImm | MovShift => timing_rule(Kind::Plain, SHIFT)
            .with_second_operand_time(LATE)
            .with_late_destination()
            .with_early_slots(early::OLDER | early::YOUNGER),
        LslRegS | LslReg | LsrRegS | LsrReg | AsrRegS | AsrReg | RorRegS | RorReg => timing_rule(Kind::Plain, SHIFT)
            .with_first_operand_time(LATE)
            .with_second_operand_time(LATE)
            .with_late_destination()
            .with_early_slots(early::OLDER | early::YOUNGER),
        Nop => plain,
        It => timing_rule(Kind::It, 0),
        Movt => timing_rule(Kind::Movt, 0),

        Ubfx | Sbfx => shifter.with_first_operand_time(EARLY),
        Bfi => timing_rule(Kind::Movt, OLDER | SHIFTER).with_first_operand_time(EARLY),
        Rbit | Rev | Rev16 | Revsh => {
            M7TimingRule { latency: 0, forward: 2, ..shifter.with_second_operand_time(EARLY) }
        }
        Sxtab | Sxtah | Uxtab | Uxtah | Xtab16 | Pkh => {
            shifter.with_first_operand_time(LATE).with_second_operand_time(EARLY)
        }
        Ssat | Usat | Ssat16 | Usat16 => shifter.with_first_operand_time(EARLY).with_result_latency(SATURATE_LATENCY),
        Sxtb | Sxth | Uxtb | Uxth | Xtb16 | Clz => older.with_second_operand_time(LATE),
        Parallel | Sel => older.with_first_operand_time(LATE).with_second_operand_time(LATE),
        SaturatingAdd => {
            older.with_first_operand_time(EARLY).with_second_operand_time(EARLY).with_result_latency(SATURATE_LATENCY)
        }
        Usad8 | Usada8 => {
            older.with_first_operand_time(LATE).with_second_operand_time(LATE).with_result_latency(SATURATE_LATENCY)
        }

        MulS | Mul | Mla | Mls | Smull | Umull | Smlal | Umlal | Umaal | Smulxy | Smlaxy | Smlalxy | Smulwy
        | Smlawy | Smuad | Smlad | Smlald | Smmul | Smmla | Smmls => {
            timing_rule(Kind::Multiply, MULTIPLIER).with_result_latency(MULTIPLY_LATENCY)
        }
        Sdiv | Udiv => timing_rule(Kind::Divide, ALONE),

        LdrImm | LdrhImm | LdrbImm | LdrshImm | LdrsbImm => load,
        LdrReg | LdrhReg | LdrbReg | LdrshReg | LdrsbReg => load.with_second_operand_time(EARLY),
        LdrLit => load.with_first_operand_time(NOWHERE),
        Load | Preload => timing_rule(Kind::LoadGeneral, LOAD),
        LdrPc => timing_rule(Kind::LoadGeneral, LOAD | BRANCH),
        Ldrex => timing_rule(Kind::LoadGeneral, LOAD | OLDER),
        Ldrd | Ldm => timing_rule(Kind::LoadMultiple, ALONE),
        LdmPc => timing_rule(Kind::LoadMultiple, ALONE | BRANCH),
        StrImm | StrhImm | StrbImm => store,
        StrReg | StrhReg | StrbReg => store.with_second_operand_time(EARLY),
        Store => timing_rule(Kind::StoreGeneral, STORE),
        Strd | Stm | Strex => timing_rule(Kind::StoreMultiple, ALONE),

        Beq | Bne | Bcs | Bcc | Bmi | Bpl | Bvs | Bvc | Bhi | Bls | Bge | Blt | Bgt | Ble | B | BccFar | BFar => {
            timing_rule(Kind::Branch, BRANCH)
        }
        Bx | MovPc | AddPc => timing_rule(Kind::Branch, BRANCH).with_second_operand_time(LATE),
        Bl | BlFar | Blx => timing_rule(Kind::BranchLink, BRANCH),
        Cbz | Cbnz | CompareBranchFar => timing_rule(Kind::CompareBranch, BRANCH).with_first_operand_time(LATE),
        TableBranch => timing_rule(Kind::Slow, ALONE | BRANCH)
            .with_first_operand_time(EARLY)
            .with_second_operand_time(EARLY)
            .with_result_latency(TABLE_BRANCH_CYCLES),

        Clrex | Sev | Wfe | Wfi | Barrier | Mrs | Msr | Cps | Svc | Bkpt => {
            timing_rule(Kind::Slow, ALONE).with_result_latency(SYSTEM_CYCLES)
        }
        Vmrs | VmrsFlags | Vmsr => timing_rule(Kind::Float, ALONE | FLOAT_MOVE),
        VmovPairToCore | VmovPairFromCore => timing_rule(Kind::Float, ALONE | FLOAT_MOVE),
        Vldr64 | Vstr64 | Vldm | Vstm => timing_rule(Kind::Float, ALONE | FLOAT_MOVE).with_first_operand_time(EARLY),
        Vldr32 => timing_rule(Kind::Float, FLOAT_MOVE | LOAD).with_first_operand_time(EARLY),
        Vstr32 => timing_rule(Kind::Float, FLOAT_MOVE | STORE).with_first_operand_time(EARLY),
        Vmov32 | Vmov64 | VmovToCore | VmovFromCore => timing_rule(Kind::Float, FLOAT_MOVE),
        VmovImm32 | VmovImm64 => timing_rule(Kind::Float, FLOAT_MOVE | FLOAT_CONSTANT),
        VmultiplyAccumulate32 | VmultiplyAccumulate64 => timing_rule(Kind::Float, FLOAT | ACCUMULATE),
        Vadd32 | Vadd64 | Vsub32 | Vsub64 | Vmul32 | Vmul64 | Vnmul32 | Vnmul64 | Vdiv32 | Vdiv64 | Vsqrt32
        | Vsqrt64 | Vcmp32 | Vcmp64 | Vmaxnm32 | Vmaxnm64 | Vrint | VcvtToInteger | VcvtFromInteger | VcvtFixed
        | VcvtHalf | VcvtDoubleFromSingle | VcvtSingleFromDouble => timing_rule(Kind::Float, FLOAT),
        Vsel32 | Vsel64 => timing_rule(Kind::Float, FLOAT | OLDER),

        Undecoded | Attend | OutOfRegion | Undefined | NoCoprocessor | UndefinedFloat => timing_rule(Kind::Slow, ALONE),
    }
}

/// The rules by code.
pub static RULES: [M7TimingRule; 256] = {
    let mut table = [timing_rule(Kind::Slow, uses::ALONE); 256];
    let mut i = 0;
    while i < CODES.len() {
        table[CODES[i].0 as usize] = rule_of_code(CODES[i].0);
        i += 1;
    }
    table
};

/// Returns whether a constant is made by rotating a byte (JL's "shifted constant"). A 12-bit constant of ADDW or SUBW
/// that could be encoded so counts too: assemblers choose the other encoding.
#[inline]
pub fn is_rotated_constant(constant: u32) -> bool {
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
            assert!(is_rotated_constant(constant), "{constant:x}");
        }
        for constant in [0, 0xFF, 0x1B1B_1B1B, 0x00AB_00AB, 0xAB00_AB00, 0xFF9, 0x101] {
            assert!(!is_rotated_constant(constant), "{constant:x}");
        }
    }
}
