//! Waits for a lock: while one core reads it again and again, the other one goes on and nothing else happens here.
//!
//! A core that reads a lock as taken, and comes back to that load with the registers and flags that it had there, does
//! so until the lock is released: its block then has no end ([`Block::new_busy_wait_block`]). No instruction of it is
//! executed. Transitions tell how many of them passed. The core is before the load all the time: that is where the
//! repetition ends during which the other core releases the lock. If the machine must act in its midst, the core is
//! brought to where it is then.

use super::{DualCoreBus, Place};
use crate::step::watch;
use crate::v6m::core::Core;
use crate::v6m::exec;
use crate::v6m::op::Op;

/// Most instructions of a repetition.
const LONGEST: u64 = 8;

/// A load that read a spinlock as taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct FailedSpinlockRead {
    ip: *mut Op,
    /// The core's registers at that time.
    r: [u32; 16],
    flags: (i64, bool, bool),
    instructions: u64,
    lock: u8,
}

impl FailedSpinlockRead {
    /// Records the load at `core.ip`, which is counted but not yet complete.
    pub fn new(core: &Core, lock: u8) -> FailedSpinlockRead {
        FailedSpinlockRead {
            ip: core.ip,
            r: core.r,
            flags: condition_flags(core),
            instructions: core.instructions,
            lock,
        }
    }

    /// Returns whether the core is back at the load that read the lock as taken.
    #[inline(always)]
    pub fn is_back_at_spinlock_load(&self, core: &Core) -> bool {
        self.ip == core.ip
    }

    /// Returns the number of instructions of each repetition, if the core is back at the load in the same state.
    pub fn repetition_instructions(&self, core: &Core) -> Option<u8> {
        let instructions = core.instructions.wrapping_sub(self.instructions) + 1;
        let same = self.is_back_at_spinlock_load(core) && self.r == core.r && self.flags == condition_flags(core);
        if !same || !(2..=LONGEST).contains(&instructions) {
            return None;
        }
        // One after the other, only the last one a branch, only the first one an access.
        // SAFETY: the load is in the core's region; after a region's last instruction lies one that is not local.
        let op = |index: u64| unsafe { *self.ip.wrapping_add(index as usize) };
        let local = (1..instructions - 1).all(|index| op(index).is_core_local_instruction());
        let branch = op(if local { instructions - 1 } else { 0 });
        let back = self.ip.wrapping_add(instructions as usize - 1).wrapping_offset(branch.imm as i32 as isize);
        (local && branch.is_branch_within_code_region() && back == self.ip).then_some(instructions as u8)
    }

    /// Returns the number of the spinlock that was read as taken.
    pub fn spinlock_number(&self) -> u8 {
        self.lock
    }
}

/// A core's busy wait for a spinlock.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpinlockBusyWait {
    pub lock: u8,
    /// Instructions that the core had executed before.
    pub began: u64,
}

/// Ends the busy wait of the core at `place`, because its lock was released or for another reason. The core is before
/// its load, as at the end of every repetition.
pub(super) fn end_busy_wait<B: DualCoreBus>(core: &Core, place: &Place, bus: &mut B) -> Place {
    let mut remainder = place.remainder;
    if let Some(spin) = bus.pair_timing_cache().spin.take() {
        let reads = (core.instructions - spin.began).div_ceil(u64::from(remainder.spin));
        bus.count_failed_lock_reads(spin.lock, core.id, reads);
    }
    if remainder.instructions == u64::from(remainder.spin) {
        return Place::core_position_before_basic_block(place.address);
    }
    remainder.is_last = true;
    Place { remainder, ..*place }
}

/// Executes a repetition of the busy wait, which reads the lock as taken, from the load up to `place`.
///
/// # Safety
/// As for [`run`](super::run_basic_blocks). The core is before the load.
pub(super) unsafe fn execute_repetition_to<B: DualCoreBus>(cores: *mut Core, index: usize, place: &Place, bus: &mut B) {
    // SAFETY: the caller's promise.
    unsafe {
        let core = cores.add(index);
        let instructions = (*core).instructions;
        let load = *(*core).ip;
        (*core).r[usize::from(load.a & 15)] = 0;
        (*core).ip = (*core).ip.wrapping_add(1);
        (*core).t = 0;
        while (*core).ip != (*core).region.op_at_address(place.address) {
            (*core).limit = (*core).t + 1;
            exec::run_cores::<B, false, { watch::NOTHING }>(cores, index, bus);
        }
        // They were counted as they passed.
        (*core).instructions = instructions;
    }
}

/// Returns N, Z, C and V of a core.
fn condition_flags(core: &Core) -> (i64, bool, bool) {
    (core.nz, core.c, core.v)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v6m::op::Code;

    /// A core at the load of such a loop, which read lock 5 as taken, and is back there after so many instructions.
    fn repetition_instructions(ops: &mut [Op], instructions: u64, change: impl Fn(&mut Core)) -> Option<u8> {
        let mut core = Core::new(0);
        core.ip = ops.as_mut_ptr();
        core.instructions = 100;
        let failed = FailedSpinlockRead::new(&core, 5);
        assert_eq!(failed.spinlock_number(), 5);
        core.instructions += instructions - 1;
        change(&mut core);
        failed.repetition_instructions(&core)
    }

    fn back(code: Code, distance: i32) -> Op {
        Op { imm: distance as u32, ..Op::without_operands(code) }
    }

    #[test]
    fn loop_of_one_load_is_a_spin() {
        let mut ops = [
            Op::without_operands(Code::LdrImm),
            Op::without_operands(Code::CmpImm),
            back(Code::Beq, -2),
            Op::without_operands(Code::Udf),
        ];
        assert_eq!(repetition_instructions(&mut ops, 3, |_| ()), Some(3));
        assert_eq!(repetition_instructions(&mut ops, 4, |_| ()), None, "it has three instructions");
        assert_eq!(repetition_instructions(&mut ops, 3, |core| core.r[7] = 1), None);
        assert_eq!(repetition_instructions(&mut ops, 3, |core| core.c = true), None);
        assert_eq!(repetition_instructions(&mut ops, 3, |core| core.nz = 0), None);
        assert_eq!(repetition_instructions(&mut ops, 3, |core| core.ip = core.ip.wrapping_add(1)), None);
        for other in [Code::StrImm, Code::LdrImm, Code::Barrier, Code::Bx, Code::Attend] {
            ops[1] = Op::without_operands(other);
            assert_eq!(repetition_instructions(&mut ops, 3, |_| ()), None, "{other:?}");
        }
        assert_eq!(
            repetition_instructions(&mut [Op::without_operands(Code::LdrImm), back(Code::B, -1)], 2, |_| ()),
            Some(2)
        );
        assert_eq!(
            repetition_instructions(&mut [Op::without_operands(Code::LdrImm), back(Code::Bx, -1)], 2, |_| ()),
            None
        );
        assert_eq!(
            repetition_instructions(&mut [Op::without_operands(Code::LdrImm), back(Code::B, -2)], 2, |_| ()),
            None
        );
        let mut long = [Op::without_operands(Code::Nop); 10];
        long[8] = back(Code::B, -8);
        assert_eq!(repetition_instructions(&mut long, 9, |_| ()), None);
    }
}
