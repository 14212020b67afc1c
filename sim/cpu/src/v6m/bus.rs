//! What the interpreter needs from a chip: memory, code regions, arbitration, time.

use crate::v6m::block::{Block, Turn};
use crate::v6m::core::Core;
use crate::v6m::op::Op;
use crate::v6m::region::{Region, SLOTS};
use crate::v6m::speculation::SpeculationLog;
use crate::v6m::trace::Trace;
use crate::v6m::watched::WatchedStore;

/// Why an access did not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trap {
    /// The access faults; the text says why.
    Fault(&'static str),
    /// The other core must execute its instruction of the same cycle first: nothing happened yet.
    Defer,
}

/// What an access that both cores' order may matter to gives ahead of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ordered<T> {
    /// This, whenever it is executed.
    Always(T),
    /// This: it is its turn, and the basic block ends behind it.
    Now(T),
    /// It must come in time order: [`Ahead::wait_for_turn`] has not let it yet.
    NotYet,
    /// It is made behind the basic block, which ends with it: only this core can tell.
    Behind,
    /// It cannot be executed ahead of time.
    InTime,
}

/// The chip behind the cores. Implemented once per chip and inlined into the interpreter: no dynamic dispatch.
///
/// `CONTEND` is true while two masters are awake and every transfer must be arbitrated; with one master awake no
/// transfer can collide and the bookkeeping is compiled out. Both variants charge the same cycles to a lone core.
///
/// # Safety
/// [`Bus::ram`] gives [`Bus::ram_bytes`] bytes that can be read and written until the bus is used again.
/// [`Bus::region`] gives regions whose ops (one for each halfword, and at least one [`Code::OutOfRegion`] behind them) and
/// profile cells, if it has them, live as long as the bus, change only through it and are not reached by its own fields
/// without a pointer. What [`Bus::decode`] and [`Bus::attend`] leave or give are ops made by
/// [`decode`](crate::v6m::decode::decode) for their place.
///
/// [`Code::OutOfRegion`]: crate::v6m::op::Code::OutOfRegion
pub unsafe trait Bus: Sized {
    /// How its cores execute ahead of their time.
    type Ahead: Ahead<Self>;

    /// False if there is one core only.
    const TWO_CORES: bool;
    /// First address of the RAM that the interpreter accesses directly.
    const RAM_BASE: u32;

    /// Start of the RAM's storage.
    fn ram(&mut self) -> *mut u8;

    /// Its length in bytes, always the same.
    fn ram_bytes(&self) -> u32;

    /// First slot of the row of the bank that holds a RAM offset.
    fn ram_row(&self, offset: u32) -> usize;

    /// Non-zero if a store to this RAM offset must go through [`Bus::store_marked`]: code or a watched word is near.
    fn marks(&self, offset: u32) -> u8;

    /// Store to RAM with decoded code or watches around it.
    fn store_marked(&mut self, core: &mut Core, offset: u32, bytes: u32, value: u32, now: u64);

    /// Claims the first free transfer slot at or after `at` and `core.bus_free` in the row that begins with slot `row`, and
    /// returns its cycle. `stalls`: the core waits for it, so a delay counts as bus wait at once; otherwise it is a fetch
    /// ahead, whose delay the core may never notice, and `fetch_ready` says when the word comes.
    fn claim(&mut self, core: &mut Core, row: usize, at: u64, stalls: bool) -> u64;

    /// Fetches the word `words` after the one that holds `ip`: the address phase can be in cycle `at`; returns the one
    /// it has, two before the word is there. `stalls` as for [`Bus::claim`]. Only asked under `CONTEND`.
    ///
    /// By default the word lies in a bank whose slots are arbitrated.
    #[inline(always)]
    fn fetch(&mut self, core: &mut Core, ip: *mut Op, words: usize, at: u64, stalls: bool) -> u64 {
        // Sixteen bytes of ops per word of code, as many slots to a row; the tables are aligned to four words, the stripe
        // of the banks, so that the op's address selects the row.
        const _: () = assert!(SLOTS == 2 * size_of::<Op>());
        let row = core.region.row + ((ip as usize + SLOTS * words) & core.region.row_mask);
        self.claim(core, row, at, stalls)
    }

    /// First cycle in which the memory behind `core`'s region is not busy with a long transfer.
    fn region_free(&self, core: &Core) -> u64;

    /// Which core goes first when both issue in the same cycle.
    fn first(&self) -> usize {
        0
    }

    /// Any load that is not plain RAM. Advances `t` by the cycles it takes. `other` is the other core, which may have to go
    /// first; `None` where that was settled before.
    fn load<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        other: Option<&Core>,
        address: u32,
        bytes: u32,
        t: &mut u64,
    ) -> Result<u32, Trap>;

    /// Any store that is not plain RAM. Advances `t` by the cycles it takes. `other` as for [`Bus::load`].
    fn store<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        other: Option<&Core>,
        address: u32,
        bytes: u32,
        value: u32,
        t: &mut u64,
    ) -> Result<(), Trap>;

    /// Literal load from cached flash: like [`Bus::load`] of an aligned word known to lie in flash.
    fn load_literal<const CONTEND: bool>(&mut self, core: &mut Core, address: u32, t: &mut u64) -> u32;

    /// The number of the constant memory among those that a [`Block`] accesses.
    const CONSTANT_MEMORY: u32 = 7;

    /// The number of the memory that holds so many bytes of RAM, up to 6; `None` if it is not one memory, or one set of
    /// interleaved ones. This and what follows up to [`Bus::time_constant`] is only asked where two cores' timing is cached.
    fn memory_of(&self, _offset: u32, _bytes: u32) -> Option<u32> {
        None
    }

    /// An address in that memory of RAM.
    fn sample_of(&self, _memory: u32) -> u32 {
        Self::RAM_BASE
    }

    /// The number of what both cores access in time order, over no bus, among the memories that a [`Block`] accesses.
    const ORDERED_MEMORY: u32 = 6;

    /// A load that is neither RAM's nor constant, ahead of time.
    fn ordered_load(&mut self, _core: &mut Core, _address: u32, _bytes: u32) -> Ordered<u32> {
        Ordered::InTime
    }

    /// A store that is not RAM's, ahead of time.
    fn ordered_store(&mut self, _core: &mut Core, _address: u32, _bytes: u32, _value: u32) -> Ordered<()> {
        Ordered::InTime
    }

    /// The instruction that [`Code::Attend`](crate::v6m::op::Code::Attend) stands for, ahead of time and at the begin of a
    /// trace or block: [`Ordered::Now`] when its probes have fired. Of a trace that is at `core.t`, and [`Core::retried`] says
    /// that they have, should it not be executed then.
    fn attend_ahead(&mut self, _core: &mut Core, _address: u32) -> Ordered<Op> {
        Ordered::InTime
    }

    /// The instruction at this address, whatever stands for it, where its time is found out.
    fn behind(&mut self, _address: u32) -> Op {
        Op::default()
    }

    /// Whether a store to this offset of RAM, which is near code or a watched word, writes a word that is watched; `None` if it
    /// cannot be made ahead of time.
    fn is_told_of(&self, _offset: u32) -> Option<bool> {
        None
    }

    /// Whether so many words of RAM can be stored ahead of time although code or a watched word is near.
    fn takes_stores(&self, _offset: u32, _words: u8) -> bool {
        false
    }

    /// Whether an ordered access of `core` in cycle `t` gives way to the other core's instruction of that cycle, which then
    /// goes first. Asked where its time is found out.
    fn gives_way(&mut self, _core: &Core, _other: &Core, _t: u64) -> bool {
        false
    }

    /// Charges a load from constant memory at cycle `t`; returns when it is over.
    fn time_constant(&mut self, _core: &mut Core, t: u64) -> u64 {
        t
    }

    /// What a load from constant memory gives, whose timing [`Ahead::time_trace`] takes into account;
    /// `None` for other addresses. Only asked in traces and basic blocks.
    fn constant(&mut self, _address: u32, _bytes: u32) -> Option<u32> {
        None
    }

    /// The same of a literal, whose address [`Bus::load_literal`] would be given.
    #[inline(always)]
    fn literal(&mut self, address: u32) -> Option<u32> {
        self.constant(address, 4)
    }

    /// The trace that [`Ahead::time_trace`] had last began in cycle `began` and ends with a store to a watched word: this one.
    fn trace_told(&mut self, _core: &mut Core, _told: WatchedStore, _began: u64) {}

    /// The region that holds `address`, if code can be fetched there.
    fn region(&mut self, address: u32) -> Option<Region>;

    /// Decodes the instruction at this address and puts it into its place among the ops of `core.region`.
    fn decode(&mut self, core: &Core, address: u32);

    /// Brings an instruction behind [`Code::Attend`](crate::v6m::op::Code::Attend) to where it can be fetched from: fills its
    /// cache line and advances `t` by what that takes. False if it does not stay there: then only the core has it.
    fn bring<const CONTEND: bool>(&mut self, _core: &mut Core, _address: u32, _t: &mut u64) -> bool {
        true
    }

    /// Serves an instruction behind [`Code::Attend`](crate::v6m::op::Code::Attend) and returns it: fires its probes unless
    /// `served` says that they have fired. `None`: stop before it.
    fn attend<const CONTEND: bool>(&mut self, core: &mut Core, address: u32, served: bool, t: &mut u64) -> Option<Op>;

    /// Cycle of the next event of the chip; 0 when the machine must look at the cores before anything else executes.
    fn due(&self) -> u64;

    /// Asks for attention after this instruction: from now on [`Bus::due`] is 0.
    fn request_attention(&mut self);
}

/// How cores execute ahead of their time: who gives the time of a trace or a basic block that was executed without it, and
/// which of them are native code. The interpreter calls these functions directly. The machine has no part in them.
///
/// # Safety
/// [`Ahead::logs`] gives two logs, which live as long as the bus.
pub unsafe trait Ahead<B: Bus> {
    /// True if a lone core that executes in time calls native code: see [`leap`](crate::v6m::leap).
    const HAS_NATIVE_PATHS: bool = false;

    /// Adds the time of a trace, which was executed without time, to `core.t`. False if no other must follow now.
    fn time_trace(_bus: &mut B, _core: &mut Core, _trace: Trace) -> bool {
        false
    }

    /// Executes the JIT-compiled traces that begin at `core.ip`. False if no trace must follow now.
    #[inline(always)]
    fn run_native_traces(_bus: &mut B, _core: &mut Core) -> bool {
        true
    }

    /// True if a lone core, which has jumped to this address, finds native code there or a path that became hot.
    #[inline(always)]
    fn has_native_path(_bus: &mut B, _address: u32) -> bool {
        false
    }

    /// Executes native code from `core.ip` on, in time, for as long as it goes.
    ///
    /// # Safety
    /// As for [`exec::run`](crate::v6m::exec::run). `core` stands before an instruction and not inside one.
    unsafe fn run_native_paths(_bus: &mut B, _core: &mut Core, _other: &mut Core) {}

    /// The speculation logs of this core and of the other one.
    fn logs(_bus: &mut B, _core: usize) -> [*mut SpeculationLog; 2] {
        [std::ptr::null_mut(); 2]
    }

    /// Adds the time of a basic block, which the first of these cores has executed without time. Returns who goes on.
    ///
    /// # Safety
    /// Both are cores that [`pair::run`](crate::v6m::pair::run) was given, with their logs.
    unsafe fn time_block(_bus: &mut B, _cores: [*mut Core; 2], _logs: [*mut SpeculationLog; 2], _block: Block) -> Turn {
        Turn::Stop
    }

    /// Executes the JIT-compiled basic blocks that begin where the first of these cores stands. Returns who goes on then, or
    /// `None` if there are none.
    ///
    /// # Safety
    /// As for [`Ahead::time_block`].
    unsafe fn run_native_blocks(_bus: &mut B, _cores: [*mut Core; 2], _logs: [*mut SpeculationLog; 2]) -> Option<Turn> {
        None
    }

    /// The first of these cores stands before an instruction that said [`Ordered::NotYet`]. Returns who goes on. If it is that
    /// core, the instruction is executed next.
    ///
    /// # Safety
    /// As for [`Ahead::time_block`].
    unsafe fn wait_for_turn(_bus: &mut B, _cores: [*mut Core; 2], _log: *mut SpeculationLog) -> Turn {
        Turn::Stop
    }

    /// The first of these cores has executed an instruction that said [`Ordered::Now`]. Returns who goes on.
    ///
    /// # Safety
    /// As for [`Ahead::time_block`].
    unsafe fn end_turn(_bus: &mut B, _cores: [*mut Core; 2], _log: *mut SpeculationLog) -> Turn {
        Turn::Stop
    }

    /// The first of these cores stands after a basic block whose log says [`SpeculationLog::summons`]. Returns who goes on. If
    /// it is that core, and the log says so no more, its next instruction does.
    ///
    /// # Safety
    /// As for [`Ahead::time_block`].
    unsafe fn take_exception(_bus: &mut B, _cores: [*mut Core; 2], _logs: [*mut SpeculationLog; 2]) -> Turn {
        Turn::Stop
    }
}
