//! The cores' needs from a chip: memory, code regions, waits.

use super::core::{Core, Region};
use super::fault::Fault;
use super::op::Op;

/// The answer of the bus to a load: the value and its wait states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadResult {
    /// The value, zero-extended.
    pub value: u32,
    /// Cycles the data phase takes beyond the first.
    pub wait: u64,
}

/// The chip as an ARMv7-M core sees it: memories, peripherals and regions of code. Implemented once per chip family and
/// inlined: no dynamic dispatch.
///
/// Times are core cycles. An access has its address phase in cycle `at` and its data phase in `at + 1`, longer by the
/// wait states the bus answers with.
///
/// # Safety
/// [`Bus::code_region`] gives regions whose ops (one for each halfword, and at least one [`Op::OUT_OF_REGION`] after
/// them) and profile cells, if it has them, live as long as the bus, change only through it and are not reached by its
/// own fields without a pointer. The ops that [`Bus::decode_op`] and [`Bus::serve_stub_op`] leave or return are made by
/// [`decode`](super::decode) for their place.
pub unsafe trait Bus {
    /// Fetches the code word (M7: doubleword) at `address`, address phase in cycle `at`. Returns the first cycle in
    /// which the decoder can have it: `at + 2` from memory without wait states on the fast code path.
    fn fetch_code(&mut self, core: &mut Core, address: u32, at: u64) -> u64;

    /// Returns whether fetches may have to wait. False: every fetch answers at once, so that unused fetches cannot
    /// delay anything.
    fn may_fetches_wait(&self) -> bool {
        true
    }

    /// Tells the chip's prefetcher that a branch to `target` leaves the sequential path at cycle `at`. It drops what it
    /// fetched ahead.
    fn redirect_prefetch(&mut self, core: &mut Core, target: u32, at: u64);

    /// Loads 1, 2 or 4 bytes of data from an aligned address. Implementations test their plain RAM first, inline.
    /// Protection ([`super::mpu::check`]) is the caller's business. The private peripheral bus is [`super::scs`]. The
    /// result is [`Fault::DataBus`] where nothing answers, unless [`Core::ignores_bus_faults`].
    fn load_data(&mut self, core: &mut Core, address: u32, bytes: u32, at: u64) -> Result<LoadResult, Fault>;

    /// Stores 1, 2 or 4 bytes of data to an aligned address. Returns the data phase's extra cycles.
    fn store_data(&mut self, core: &mut Core, address: u32, bytes: u32, value: u32, at: u64) -> Result<u64, Fault>;

    /// Returns whether an instruction may execute now. Not so if it may fail half-way, or act on more than registers
    /// and plain memory.
    #[inline(always)]
    fn may_execute(&mut self, _: &Core, _: Op) -> bool {
        true
    }

    /// Returns the number of the memory block that serves a data address. Loads and stores pipeline only within one
    /// block.
    fn memory_block(&self, address: u32) -> u8;

    /// Returns the region of code that contains `address`, if code can be fetched there.
    fn code_region(&mut self, address: u32) -> Option<Region>;

    /// Decodes the instruction at this address and puts it into its place among the ops of `core.region`.
    fn decode_op(&mut self, core: &Core, address: u32);

    /// Returns the instruction in whose place is a stub op, and fires its probes unless `served` says that they have
    /// fired. `None`: the run stops before it.
    fn serve_stub_op(&mut self, core: &mut Core, address: u32, served: bool) -> Option<Op>;
}
