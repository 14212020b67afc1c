//! Execution without time: the executor's pipeline and bus while a trace runs whose timing is looked up afterwards.

use super::log::{CYCLES_BITS, HOME_BITS, Log};
use super::{Memorable, QuickBus, words};
use crate::v7m::bus::{Bus, Loaded};
use crate::v7m::core::{Core, Region};
use crate::v7m::fault::Fault;
use crate::v7m::op::Op;
use crate::v7m::pipeline::{Jump, Pipeline};
use std::marker::PhantomData;

/// A pipeline that takes no time and logs what time would depend on.
pub(super) struct Untimed<P> {
    pub log: Log,
    /// How the branch that ended the trace found its target, if it told the pipeline.
    pub jump: Option<(Jump, u32)>,
    pipeline: PhantomData<P>,
}

impl<P> Untimed<P> {
    pub fn new() -> Untimed<P> {
        Untimed { log: Log::default(), jump: None, pipeline: PhantomData }
    }
}

impl<P: Memorable> Pipeline for Untimed<P> {
    #[inline(always)]
    fn issue<B: Bus>(&mut self, _: &mut Core, _: &mut B, _: Op) {}

    #[inline(always)]
    fn skip<B: Bus>(&mut self, _: &mut Core, _: &mut B, _: Op) {}

    #[inline(always)]
    fn load<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        op: Op,
        address: u32,
        bytes: u32,
        index: u32,
    ) -> Result<u32, Fault> {
        unsplit(op, index)?;
        let loaded = bus.load(core, address, bytes, 0)?;
        if index == 0 {
            self.log.push(loaded.wait, HOME_BITS);
        }
        Ok(loaded.value)
    }

    #[inline(always)]
    fn store<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        op: Op,
        address: u32,
        bytes: u32,
        value: u32,
        index: u32,
    ) -> Result<(), Fault> {
        unsplit(op, index)?;
        let home = bus.store(core, address, bytes, value, 0)?;
        if index == 0 {
            self.log.push(home, HOME_BITS);
        }
        Ok(())
    }

    #[inline(always)]
    fn finish(&mut self, _: &mut Core, _: Op) {}

    #[inline(always)]
    fn not_taken<B: Bus>(&mut self, _: &mut Core, _: &mut B, _: Op) {}

    #[inline(always)]
    fn taken<B: Bus>(&mut self, _: &mut Core, _: &mut B, _: Op, jump: Jump, target: u32) {
        self.jump = Some((jump, target));
    }

    #[inline(always)]
    fn cycles(&mut self, op: Op, first: u32, second: u32) -> u64 {
        let cycles = P::operand_cycles(op, first, second);
        self.log.push(cycles, CYCLES_BITS);
        cycles
    }

    fn flush<B: Bus>(&mut self, _: &mut Core, _: &mut B, _: u32, _: u64) {
        unreachable!("nothing is flushed inside a trace");
    }
}

/// An unaligned access, which is made of several, is not for a trace. (The first piece of one to plain memory is then
/// made twice, which nobody can tell.)
#[inline(always)]
fn unsplit(op: Op, index: u32) -> Result<(), Fault> {
    if index != 0 && words(op) == 1 { Err(NOT_HERE) } else { Ok(()) }
}

/// The memories that answer at once. Its waits are [`super::Home`]s, its errors mean "not here".
pub(super) struct Quick<'a, B>(pub &'a mut B);

/// Any fault: the trace ends before the instruction, which is executed in time and faults then if it must.
const NOT_HERE: Fault = Fault::Undefined;

impl<B: QuickBus> Bus for Quick<'_, B> {
    fn fetch(&mut self, _: &mut Core, _: u32, _: u64) -> u64 {
        unreachable!("nothing is fetched inside a trace");
    }

    fn redirect(&mut self, _: &mut Core, _: u32, _: u64) {}

    #[inline(always)]
    fn load(&mut self, _: &mut Core, address: u32, bytes: u32, _: u64) -> Result<Loaded, Fault> {
        let (value, home) = self.0.quick_load(address, bytes).ok_or(NOT_HERE)?;
        Ok(Loaded { value, wait: home as u64 })
    }

    #[inline(always)]
    fn store(&mut self, _: &mut Core, address: u32, bytes: u32, value: u32, _: u64) -> Result<u64, Fault> {
        self.0.quick_store(address, bytes, value).map(|home| home as u64).ok_or(NOT_HERE)
    }

    fn block(&self, address: u32) -> u8 {
        self.0.block(address)
    }

    fn region(&mut self, address: u32) -> Option<Region> {
        self.0.region(address)
    }

    unsafe fn decode(&mut self, _: &Core, _: *mut Op) {
        unreachable!("a trace ends before what is not decoded");
    }

    unsafe fn attend(&mut self, _: &mut Core, _: *mut Op, _: bool) -> Option<Op> {
        unreachable!("a trace ends before what needs attention");
    }
}
