//! The interpreter's needs from a chip: memory, code regions, arbitration, time.

use crate::host::MARKED_BYTES;
use crate::v6m::block::{Block, NextCoreChoice};
use crate::v6m::core::Core;
use crate::v6m::op::Op;
use crate::v6m::region::{Region, SLOTS};
use crate::v6m::speculation::SpeculationLog;
use crate::v6m::trace::Trace;
use crate::v6m::watched::WatchedStore;

/// The reason why a memory access did not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trap {
    /// The access faults. The text says why.
    Fault(&'static str),
    /// The other core must execute its instruction of the same cycle first: nothing happened yet.
    Defer,
}

/// The result of a speculative access, whose order relative to the other core's accesses may matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderedAccess<T> {
    /// This, whenever it is executed.
    Always(T),
    /// This: it is its turn, and the basic block ends after it.
    Now(T),
    /// It must come in time order: [`Ahead::wait_for_turn`] has not let it yet.
    NotYet,
    /// It is made after the basic block, which ends with it: only this core can tell.
    Behind,
    /// It cannot be executed ahead of time.
    InTime,
}

/// A memory access that is executed before its cycle is known.
#[derive(Debug, Clone, Copy)]
pub enum Access {
    /// A load of so many bytes.
    Load(u32),
    /// A store of the low `bytes` bytes of `value`.
    Store {
        /// 1, 2 or 4.
        bytes: u32,
        /// The register.
        value: u32,
    },
}

/// Main RAM, which the interpreter accesses without asking the bus.
#[derive(Debug)]
pub struct Ram<'a> {
    /// Its bytes, always as many.
    pub bytes: &'a mut [u8],
    /// A mark for each [`MARKED_BYTES`] of them. Marks that are not 0 where code or a watched word is near.
    pub marks: &'a [u8],
}

impl Ram<'_> {
    /// Returns the length of main RAM in bytes.
    #[inline(always)]
    pub fn length_in_bytes(&self) -> u32 {
        self.bytes.len() as u32
    }

    /// Returns a pointer to the first byte of main RAM. The caller accesses it before it uses the bus again.
    #[inline(always)]
    pub fn main_ram_pointer(self) -> *mut u8 {
        self.bytes.as_mut_ptr()
    }

    /// Returns the mark at an offset of main RAM: not 0 if a store there needs attention. If it is not 0, stores there
    /// go through [`Bus::store_to_marked_ram`].
    ///
    /// # Safety
    /// The offset is below the length.
    #[inline(always)]
    pub unsafe fn mark_at_offset(&self, offset: u32) -> u8 {
        debug_assert!(offset < self.length_in_bytes());
        // SAFETY: the caller's promise; there is a mark for each part of the bytes.
        unsafe { *self.marks.get_unchecked((offset / MARKED_BYTES) as usize) }
    }
}

/// The chip's bus fabric: the cycle in which a memory takes a core's transfer, and the memory of an address.
///
/// `stalls`: the core waits for the transfer, so a delay counts as bus wait at once. Otherwise it is a fetch ahead,
/// whose delay the core may never notice, and `fetch_ready` says when the word comes.
pub trait ChipBusFabric: Sized {
    /// Returns the first transfer slot of the bank that contains this RAM offset.
    fn ram_bank_row(_offset: u32) -> usize {
        0
    }

    /// Returns the number of the memory, or of the set of interleaved memories, that contains `bytes` bytes (up to 6)
    /// of RAM at this offset. `None` if they are in several.
    fn memory_number_at(_offset: u32, _bytes: u32) -> Option<u32> {
        None
    }

    /// Returns a RAM address in the memory with this number.
    fn sample_address_in_memory(_memory: u32) -> u32 {
        0
    }

    /// Claims the first free transfer slot at or after `at` and `core.bus_free` in the row that begins with slot `row`,
    /// and returns its cycle.
    fn claim_transfer_slot(&mut self, core: &mut Core, row: usize, at: u64, stalls: bool) -> u64;

    /// Fetches the word of code that is `words` words after the one with `ip`, from cycle `at` on. Returns the cycle of
    /// the transfer. Only asked under `CONTEND`.
    ///
    /// By default the word is in a bank whose slots are arbitrated.
    #[inline(always)]
    fn fetch_code(&mut self, core: &mut Core, ip: *mut Op, words: usize, at: u64, stalls: bool) -> u64 {
        // Sixteen bytes of ops per word of code, as many slots to a row. The tables are aligned to four words, the
        // stripe of the banks, so that the op's address selects the row.
        const _: () = assert!(SLOTS == 2 * size_of::<Op>());
        let row = core.region.row + ((ip as usize + SLOTS * words) & core.region.row_mask);
        self.claim_transfer_slot(core, row, at, stalls)
    }

    /// Returns the first cycle in which the memory of `core`'s code is not busy with a long transfer.
    fn code_memory_free_cycle(&self, _core: &Core) -> u64 {
        0
    }

    /// Returns the number of the core that goes first when both issue in the same cycle.
    fn tie_winner(&self) -> usize {
        0
    }

    /// Returns whether an access of `core` in cycle `t` that both cores must make in order comes after the other core's
    /// instruction of the same cycle. Only asked where timing is simulated.
    fn must_wait_for_other_core(&mut self, _core: &Core, _other: &Core, _t: u64) -> bool {
        false
    }

    /// Charges a load from constant memory at cycle `t`. Returns the cycle in which it is complete.
    fn charge_constant_load(&mut self, _core: &mut Core, t: u64) -> u64 {
        t
    }
}

/// The chip as a core sees it: its memories and peripherals. Implemented once per chip and inlined into the
/// interpreter: no dynamic dispatch.
///
/// `CONTEND` is true while two masters are awake and every transfer must be arbitrated. With one master awake no
/// transfer can collide and the bookkeeping is compiled out. Both variants charge the same cycles to a lone core.
///
/// # Safety
/// [`Bus::main_ram`] gives the same memory at any time, and a mark for each [`MARKED_BYTES`] of it.
/// [`Bus::code_region`] gives regions whose ops (one for each halfword, and at least one [`Code::OutOfRegion`] after
/// them) and profile cells, if it has them, live as long as the bus, change only through it and are not reached by its
/// own fields without a pointer. The ops that [`Bus::decode_op`], [`Bus::op_behind_stub`] and [`Bus::serve_stub_op`]
/// leave or return are made by [`decode_instruction`](crate::v6m::decode::decode_instruction) for their place.
///
/// [`Code::OutOfRegion`]: crate::v6m::op::Code::OutOfRegion
pub unsafe trait Bus: ChipBusFabric {
    /// The engine that times instructions which its cores execute speculatively.
    type Ahead: Ahead<Self>;

    /// False if there is one core only.
    const TWO_CORES: bool;
    /// First address of main RAM.
    const RAM_BASE: u32;
    /// The number of the constant memory among those that a [`Block`] accesses.
    const CONSTANT_MEMORY: u32 = 7;
    /// The number for accesses of both cores in time order, over no bus, among the memories that a [`Block`] accesses.
    const ORDERED_MEMORY: u32 = 6;

    /// Returns main RAM.
    fn main_ram(&mut self) -> Ram<'_>;

    /// Loads from anywhere but plain RAM, and advances `t` by the cycles that this takes. `other` is the other core,
    /// which may have to go first, or `None` if the order is settled. `LITERAL`: an aligned word known to be in cached
    /// flash.
    fn load_data<const CONTEND: bool, const LITERAL: bool>(
        &mut self,
        core: &mut Core,
        other: Option<&Core>,
        address: u32,
        bytes: u32,
        t: &mut u64,
    ) -> Result<u32, Trap>;

    /// Stores to anywhere but plain RAM, and advances `t` by the cycles that this takes. `other` is the other core,
    /// which may have to go first, or `None` if the order is settled.
    fn store_data<const CONTEND: bool>(
        &mut self,
        core: &mut Core,
        other: Option<&Core>,
        address: u32,
        bytes: u32,
        value: u32,
        t: &mut u64,
    ) -> Result<(), Trap>;

    /// Stores to marked bytes of RAM in cycle `now`: reports it if the word is watched, and decodes anew if it is code.
    fn store_to_marked_ram(&mut self, core: &mut Core, offset: u32, bytes: u32, value: u32, now: u64);

    /// Returns whether a store to this offset of RAM writes a watched word. `None` if the store cannot be executed
    /// speculatively.
    fn watches_store(&self, offset: u32) -> Option<bool>;

    /// Reports a store to a watched word, which was made speculatively and has a cycle now. Returns true if the machine
    /// must act before anything else executes.
    fn report_store(&mut self, core: usize, store: WatchedStore, cycle: u64) -> bool;

    /// Loads from constant memory before the cycle is known. Returns `None` for other addresses. `LITERAL` as for
    /// [`Bus::load_data`].
    fn load_constant<const LITERAL: bool>(&mut self, address: u32, bytes: u32) -> Option<u32>;

    /// Makes an access to a register before its cycle is known, if its order between the cores allows that. A store
    /// returns 0.
    fn access_register_speculatively(
        &mut self,
        _core: &mut Core,
        _address: u32,
        _access: Access,
    ) -> OrderedAccess<u32> {
        OrderedAccess::InTime
    }

    /// Returns the region of code that contains `address`. `None` if no code can be fetched there.
    fn code_region(&mut self, address: u32) -> Option<Region>;

    /// Decodes the instruction at this address and puts it into its place among the ops of `core.region`.
    fn decode_op(&mut self, core: &Core, address: u32);

    /// Returns the instruction at this address, even if a stub op is in its place, without firing its probes.
    fn op_behind_stub(&mut self, address: u32) -> Op;

    /// Fills the cache line of an instruction in whose place is [`Code::Attend`](crate::v6m::op::Code::Attend), and
    /// advances `t` by the cycles that this takes. Returns false if the cache does not keep the line.
    fn fill_code_line<const CONTEND: bool>(&mut self, _core: &mut Core, _address: u32, _t: &mut u64) -> bool {
        true
    }

    /// Fires the probes on an instruction in cycle `t`, and returns the instruction, in whose place is
    /// [`Code::Attend`](crate::v6m::op::Code::Attend). `None`: the run stops before it.
    fn serve_stub_op(&mut self, core: &mut Core, address: u32, t: u64) -> Option<Op>;

    /// Fires the probes on the first instruction of a trace or block, before its cycle is known, and returns the
    /// instruction. [`Core::retried`] says that the probes have fired, in case the instruction is only executed later.
    fn fire_probes_ahead(&mut self, core: &mut Core, address: u32) -> OrderedAccess<Op>;

    /// Returns the cycle of the chip's next event. It is 0 when the machine must look at the cores before anything else
    /// executes. The interpreter sets it to 0 to ask for that.
    fn next_event_cycle(&mut self) -> &mut u64;
}

/// Returns whether `words` words of RAM at this offset, near marks, can be stored speculatively, because they are
/// neither code nor watched.
#[cold]
#[inline(never)]
pub(in crate::v6m) fn can_store_speculatively<B: Bus>(bus: &B, offset: u32, words: u32) -> bool {
    (0..words).all(|word| bus.watches_store(offset + 4 * word) == Some(false))
}

/// The engine that times speculatively executed instructions, and runs native code, for one kind of machine. The
/// interpreter calls its functions directly.
///
/// # Safety
/// [`Ahead::speculation_logs`] gives two logs, which live as long as the bus.
pub unsafe trait Ahead<B: Bus> {
    /// True if a lone core that executes in time calls native code: see [`native_path`](crate::v6m::native_path).
    const HAS_NATIVE_PATHS: bool = false;

    /// Looks up the cycles of a trace that was executed speculatively, and adds them to `core.t`. Returns false if no
    /// other trace may follow now.
    fn time_trace(_bus: &mut B, _core: &mut Core, _trace: Trace) -> bool {
        false
    }

    /// Returns the cycle of the last store in the trace that [`Ahead::time_trace`] timed last, which began in cycle
    /// `began`.
    fn last_store_cycle(_bus: &mut B, began: u64) -> u64 {
        began
    }

    /// Executes the JIT-compiled traces that begin at `core.ip`. Returns false if no trace may follow now.
    #[inline(always)]
    fn run_native_traces(_bus: &mut B, _core: &mut Core) -> bool {
        true
    }

    /// Returns whether native code, or a path that became hot, begins at this address. A core that executes alone has
    /// jumped there.
    #[inline(always)]
    fn has_native_path(_bus: &mut B, _address: u32) -> bool {
        false
    }

    /// Executes native code, with its cycles, from `core.ip` on, as far as it goes.
    ///
    /// # Safety
    /// As for [`exec::run_cores`](crate::v6m::exec::run_cores). `core` is before an instruction and not inside one.
    unsafe fn run_native_paths(_bus: &mut B, _core: &mut Core, _other: &mut Core) {}

    /// Returns the speculation logs of this core and of the other one.
    fn speculation_logs(_bus: &mut B, _core: usize) -> [*mut SpeculationLog; 2] {
        [std::ptr::null_mut(); 2]
    }

    /// Looks up the cycles of a basic block that the first of these cores has executed speculatively. Returns which
    /// core executes next.
    ///
    /// # Safety
    /// Both are cores that [`pair::run_basic_blocks`](crate::v6m::pair::run_basic_blocks) was given, with their logs.
    unsafe fn time_block(
        _bus: &mut B,
        _cores: [*mut Core; 2],
        _logs: [*mut SpeculationLog; 2],
        _block: Block,
    ) -> NextCoreChoice {
        NextCoreChoice::Stop
    }

    /// Executes the JIT-compiled basic blocks that begin where the first of these cores is. Returns which core executes
    /// next, or `None` if there are none.
    ///
    /// # Safety
    /// As for [`Ahead::time_block`].
    unsafe fn run_native_blocks(
        _bus: &mut B,
        _cores: [*mut Core; 2],
        _logs: [*mut SpeculationLog; 2],
    ) -> Option<NextCoreChoice> {
        None
    }

    /// Returns which core executes next, when the first core's next access returned [`OrderedAccess::NotYet`]. If it is
    /// the first core, it executes that access next.
    ///
    /// # Safety
    /// As for [`Ahead::time_block`].
    unsafe fn wait_for_turn(_bus: &mut B, _cores: [*mut Core; 2], _log: *mut SpeculationLog) -> NextCoreChoice {
        NextCoreChoice::Stop
    }

    /// Returns which core executes next, after the first core has made an access that returned [`OrderedAccess::Now`].
    ///
    /// # Safety
    /// As for [`Ahead::time_block`].
    unsafe fn end_turn(_bus: &mut B, _cores: [*mut Core; 2], _log: *mut SpeculationLog) -> NextCoreChoice {
        NextCoreChoice::Stop
    }

    /// Takes an exception if one is due after the first core's basic block, whose log says that there may be one
    /// ([`SpeculationLog::summons`]). Returns which core continues. If it is the first one and the log says so no
    /// longer, the core executes its next instruction.
    ///
    /// # Safety
    /// As for [`Ahead::time_block`].
    unsafe fn take_exception(_bus: &mut B, _cores: [*mut Core; 2], _logs: [*mut SpeculationLog; 2]) -> NextCoreChoice {
        NextCoreChoice::Stop
    }
}
