"""The virtual boards: thin wrappers over the Rust machine. Cycles are clk_sys cycles since reset, unsigned 64-bit."""

from collections.abc import Callable
from typing import TypedDict

SOURCES: str
"""One line for each source file from which the module was built: its path in the checkout, and SHA-256 of its content."""
VERSION: str
NATIVE_CODE: bool
"""Whether hot code is JIT-compiled for this host. Otherwise everything is interpreted, with the same cycles."""

class SimError(Exception):
    """The base of every error that the simulator raises. The message is one full sentence."""

class PanicException(BaseException):
    """An error inside the simulator itself. The message says where."""

class ImageError(SimError):
    """The image cannot be loaded (corrupt ELF, UF2 of another family, no boot block ...)."""

class SettingError(SimError):
    """Unknown setting, or a value out of range."""

def structures(
    image: bytes, names: list[str]
) -> list[tuple[str, list[tuple[str, int, int, bool, tuple[int, int] | None]]]]:
    """Returns the members of these structures by an image's debug information.

    Each structure has its name, or its type's. Each member has a name (`outer.inner` in structures inside), offset, bytes
    (in an array those of an element), whether it is an array, and for a bit field the number of its first bit, counted
    from its first byte, and how many bits it has. Raises ImageError for damaged debug information.
    """

def sources(image: bytes) -> list[tuple[str, list[tuple[int, int]]]]:
    """Returns the source file of each compilation unit of an image, and the address ranges of its code.

    The file's path is as the compiler was told it. A range is a first address and the one after the last. Raises
    ImageError for damaged debug information.
    """

def timing_version(chip: str) -> int:
    """Returns the version of the timing of boards with a chip: increased whenever a cycle of such a board changes."""

def readable_name(name: str) -> str:
    """Returns a symbol's name as its C++ or Rust source has it, with the suffix of a compiler's copy.

    Any other name stays as it is.
    """

_ColumnParts = tuple[str, str, bytes, list[str], bytes | None]
"""Name, type (of numpy, or `text`), little-endian values (places in the texts, as 32-bit numbers), texts, a byte a row that
is not 0 where it has a value (None: all rows have one)."""

def write_parquet(columns: list[_ColumnParts]) -> bytes:
    """Returns a Parquet file. Raises ValueError for columns of different lengths."""

def read_parquet(content: bytes, limit: int) -> list[_ColumnParts]:
    """Returns the columns of a Parquet file. Raises ValueError if it is damaged, or has more than `limit` values."""

def compress_zstd(content: bytes) -> bytes:
    """Returns the content compressed by Zstandard."""

def decompress_zstd(content: bytes, limit: int) -> bytes | None:
    """Returns the unpacked content, or None if it has more than `limit` bytes. Raises ValueError for damaged content."""

LogRow = tuple[str | None, str | None, str, tuple[str, int] | None, str | None]
"""Level, time stamp, message, file and line, module."""

class LogDecoder:
    """A decoder of the defmt log that one image sends."""

    @staticmethod
    def of(image: bytes) -> LogDecoder | None:
        """Returns the decoder of an image. None if the image does not use defmt. Raises ImageError if its tables are damaged."""
    def feed(self, data: bytes) -> list[LogRow]:
        """Decodes bytes that follow those of the last call. Returns the lines that became complete."""

def order_events(events: bytes, other_than: int | None = None) -> bytes:
    """Returns packed events (`Machine.take_events`) in the order of time, without those of the identity `other_than`.

    A handler that ends with a tail call returns from that function first, in the same cycle.
    """

def latest_events(events: bytes, other_than: int | None = None) -> bytes:
    """Returns the last event of each kind, core and identity, in the order of time: the state that the events leave."""

class EventTally:
    """Counts of packed events (`Machine.take_events`): calls, task switches and critical sections."""

    def __init__(
        self,
        calls: tuple[int, int],  # identities of calls: the first, and the one behind the last
        current: int,  # of writes of the word that names core 0's current task; core 1's is the next
        nesting: int,  # of writes of the word that counts how deep its critical sections are nested; likewise
        tasks: dict[int, int],  # core -> its current task: cores whose switches are counted
        depths: dict[int, tuple[int, int]],  # core -> cycle and depth: cores whose critical sections are counted
    ) -> None:
        """Creates empty counts."""
    def feed(self, events: bytes) -> None:
        """Counts the next events, in the order of time."""
    def event_count(self) -> int:
        """Returns the number of events so far."""
    def call_counts(self) -> list[tuple[int, int, int, int]]:
        """Returns the counted calls: core, identity, first argument, and how often it was made."""

    def switch_counts(self) -> list[tuple[int, int, int, int | None, int]]:
        """Returns the kinds of task switches: core, task before, task after, cause, and how often.

        The cause is the identity of the last call on that core since its switch before. A write of the task that is
        there already is no switch.
        """

    def sections(self, core: int) -> tuple[int, int, int] | None:
        """Returns a core's critical sections that ended: their number, cycles, and the cycles of the longest."""

class IntervalResult(TypedDict):
    """Statistics of the cycles between executions of two addresses (`Machine.between`)."""

    count: int
    min_cycles: int | None
    max_cycles: int | None
    total_cycles: int

class LockStats(TypedDict):
    """Statistics of one core's use of one hardware spinlock."""

    lock: int
    core: int
    acquisitions: int
    contended: int  # acquisitions that failed at least once first
    failed_reads: int
    wait_cycles: int  # from the first failed read to the successful one
    hold_cycles: int

class CoreStats(TypedDict):
    """Statistics of one core: its cycles by use, and counts of instructions and exceptions."""

    cycles: int
    instructions: int
    sleep_cycles: int
    bus_wait_cycles: int  # lost to buses: arbitration, bridges, busy slaves
    flash_wait_cycles: int  # XIP misses; wait states of embedded flash
    xip_misses: int
    exception_cycles: int  # entry, exit and tail-chain sequences
    float_frames: int  # exceptions entered whose frame has room for floating-point state
    exceptions: dict[int, int]  # exception number -> entries

class Stats(TypedDict):
    """Statistics of all cores and spinlocks of a board."""

    cores: list[CoreStats]
    locks: list[LockStats]

class CoreAccount(TypedDict):
    """The cycle account of one core, by call path, address and cause."""

    from_cycle: int
    until_cycle: int  # the machine's cycle, but for a core that stands before it where another one stopped the run
    rows: bytes
    # 80 bytes each: u32 node, u32 pc, u64 cycles executing, waiting for a bus, for flash, for a spinlock, asleep, in
    # exception entry and exit, stopped (reset, lock-up), u64 instructions completed, u64 times that this was the first
    # instruction of a call, a handler or a thread. All cycles of all rows add up to until_cycle - from_cycle.

class Observed(TypedDict):
    """The observations since the last call of `Machine.observed`, as packed records."""

    cores: list[CoreAccount]
    nodes: bytes  # call paths, 12 bytes each: u32 parent (0xffffffff: none), u32 entry, u32 exception (0: called)
    # 56 bytes each: i16 priority, u8 core, u8 zero, u32 opener's node and pc, closer's node and pc, zero, u64 count,
    # total cycles, first cycle of the longest, cycle behind its last.
    masked: bytes
    intervals: bytes  # 40 bytes each: the same up to the zero, u64 first cycle, cycle behind the last; in order of ends
    open_intervals: bytes  # like intervals: those in progress, as if they ended now
    # 56 bytes each: u8 0 held or 1 waited, u8 lock, u8 core, u8 zero, u32 node and pc where it began, node and pc where
    # it ended (of a wait: where the holder took the lock), zero, u64 count, total, longest, first cycle of the longest.
    locks: bytes
    # 80 bytes each, in order of ends: u16 id, u8 core, u8 end (0 returned, 1 left by a jump past its caller, 2 lost with
    # its thread, 3 open), u32 flags (1 entered by a tail call, 2 went on by one, 4 inside another call of its function),
    # u32 node, u32 thread (0: a handler's), u64 cycle of the first instruction, cycle behind the last, of that cycles of
    # interrupts, of stretches in which other threads ran, and, of the rest, its own without functions it called,
    # u64 instructions that its thread or handler completed in it, of these its own without functions it called, u32
    # bytes of stack below its first stack pointer, u32 interruptions.
    calls: bytes
    open_calls: bytes  # the same of those in progress, as they stand
    # 24 bytes each, in order of time on each core: u64 cycle behind the instruction, u64 instructions that the core had
    # completed before it since observation began, handlers' included, u32 its address, u32 core.
    arrivals: bytes

class Stop(TypedDict):
    """The end of a run: why and where the board stopped."""

    reason: str  # "cycles" | "until" | "watch" | "lockup" | "deadlock" | "strict" | "reset" | "interrupted"
    core: int
    cycle: int
    address: int
    detail: str  # one sentence for a person

# One event is 24 bytes, little endian: u64 cycle, u32 value, u32 pc, u16 id, u8 kind, u8 core, u32 more: zero, or
# R1 of a watched call.
EVENT_EXEC: int  # an address under watch_exec is about to execute; value = R0
EVENT_WRITE: int  # a word under watch_write was written; value = new value
EVENT_EXCEPTION_ENTER: int  # id = exception number; cycle = first cycle of the handler; value = cycles since recognised
EVENT_EXCEPTION_EXIT: int  # id = exception number
EVENT_PIN: int  # id = GPIO number, value = level
# Of an observer; not in order of time with the others.
EVENT_CALL: int  # a function asked for is entered: id = the one given, value = R0, pc = its address
EVENT_RETURN: int  # it returns: id = the one given, value = R0, pc = where its caller goes on
EVENT_THREAD: int  # another thread goes on: value = its number, pc = its first function
EVENT_LOCK_BUSY: int  # the first read of a spinlock that the other core holds: id = lock, pc = the read
EVENT_LOCK_TAKEN: int
EVENT_LOCK_FREE: int

class Machine:
    """A virtual board."""

    def __init__(
        self,
        chip: str,
        *,
        cores: int = 0,
        flash_bytes: int = 0,
        crystal_hz: int = 0,
        console_port: int = 0,
        strict: bool = False,
        wires: list[tuple[str, str]] = ...,
        rest: list[tuple[str, bool]] = ...,
    ) -> None:
        """Creates a board by its chip: rp2040 or an stm32 by series. 0 means the chip's usual value.

        cores=1 keeps the second core of an rp2040 in reset: a launch handshake then never answers. flash_bytes is an
        external flash's. console_port: number of the serial port that typed text goes to (stm32). A wire makes its
        second pin follow the level of its first, as ("PA8", "PB0") (stm32). rest: pins that resistors of the board hold at a
        level, as ("PC13", True) (stm32).
        """
    def settings(self) -> list[tuple[str, int, str, str]]:
        """Returns every timing setting: key, value in force, description, grade (documented, approximate or assumed)."""
    def set(self, key: str, value: int) -> None:
        """Overrides the value of a timing setting. Raises SettingError."""
    def load(self, image: bytes, name: str) -> None:
        """Loads an ELF or UF2 image (recognised by its content) and resets the board. Raises ImageError."""
    def symbol(self, name: str) -> int | None:
        """Returns the address of a symbol, by its name in the image or as `symbols` shows it. None if there is none."""
    def symbols(self) -> list[tuple[int, int, str]]:
        """Returns the functions and objects of the image: address without Thumb bit, size in bytes, readable name.

        They are sorted by address. Of several at one address the longest comes first, then those that are not weak.
        """
    def run(self, cycles: int) -> Stop:
        """Runs for at most `cycles` more clk_sys cycles, without the GIL. Returns why and where the run stopped."""
    def run_to_time(self, ns: int) -> Stop:
        """Runs to the first cycle at or past a time since power-on, through changes of the clock, without the GIL."""
    def until(self, address: int) -> None:
        """Stops runs when this address is about to execute."""
    def watch_exec(self, address: int, ident: int) -> None:
        """Records an event whenever this address is about to execute."""
    def watch_call(self, address: int, ident: int, third: bool = False) -> None:
        """Records an event whenever the function at this address is called.

        The event's pc is where the caller continues, and its last word is R1, or R2 if `third`.
        """
    def watch_stacked_arguments(self, address: int, ident: int) -> None:
        """Records an event with this `ident` after that of `watch_further_arguments`, with the fifth and the sixth
        argument."""

    def watch_further_arguments(self, address: int, ident: int) -> None:
        """Records an event with R2 and R3 whenever the function at this address is called, after the event of
        `watch_call`."""

    def watch_return(self, address: int, ident: int) -> None:
        """Records an event, with R0 as its value, whenever a call under watch_call returns to this address.

        A branch to the address is no return.
        """
    def watch_write(self, address: int, ident: int, stop: bool = False) -> None:
        """Records an event whenever a word is written, and ends the run then if `stop`. Raises SimError."""
    def trace_exceptions(self, on: bool) -> None:
        """Records an event at each entry and exit of a handler, or no longer."""
    def trace_pins(self, on: bool) -> None:
        """Records an event at each pin edge, or no longer."""
    def between(self, start: int, end: int) -> int:
        """Measures the cycles from executions of `start` to executions of `end`. Returns the index for between_result."""
    def between_result(self, index: int) -> IntervalResult:
        """Returns the statistics of the interval with this index."""
    def profile(self, on: bool) -> None:
        """Switches the per-instruction profile on (from zero) or off."""
    def take_profile(self, core: int) -> bytes:
        """Removes a core's profile and returns it as records of 32 bytes.

        They contain u32 address, u32 zero, u64 cycles, u64 executions, u64 bus and flash wait cycles.
        """
    def take_events(self) -> bytes:
        """Removes the recorded events and returns them, 24 bytes each (see EVENT_EXEC)."""
    def observe(
        self,
        on: bool,
        *,
        priorities: list[int] = ...,
        keep_intervals: int = 0,
        calls: list[tuple[int, int]] = ...,
        measured: list[tuple[int, int]] = ...,
        arrivals: list[int] = ...,
        events: bool = False,
    ) -> None:
        """Starts the observation of every cycle, or ends it. It takes host time, but no cycle of the board.

        priorities: of interrupts whose masked intervals are recorded, as a priority register has them. The first
        keep_intervals of them are stored one by one. calls: (address, ident) of functions whose calls and returns become
        events. measured: (address, ident) of functions whose calls are measured. arrivals: addresses of instructions
        whose executions are recorded. events: threads and spinlocks become events, too. The profile stays empty
        meanwhile. A restore ends the observation.
        """
    def observed(self) -> Observed:
        """Returns the observations since the last call. Node numbers continue. Raises SimError if nothing is observed."""
    def core_cycle(self, core: int) -> int:
        """Returns the cycle in which a core's next instruction can begin. It may be after cycle()."""
    def take_uart(self, port: int = 0) -> bytes:
        """Removes what a serial port has sent and returns it."""
    def type_uart(self, text: bytes, port: int = 0) -> None:
        """Sends text to a serial port's receiver, at line speed. It waits while the receive FIFO is full."""
    def script_uart(self, steps: list[tuple[bytes, bytes]], port: int = 0) -> None:
        """Adds steps (prompt, text) to a port's script: the text is typed when the output since the last step has the prompt."""
    def serve_semihosting(self, on: bool) -> None:
        """Answers semihosting calls (BKPT 0xAB) as a debugger does. Otherwise they are breakpoints without a debugger."""
    def open_itm(self) -> None:
        """Enables every stimulus port of the ITM at each reset, as a debugger does. Call it before load()."""
    def asks_for_itm(self) -> bool:
        """Whether the firmware used the ITM while neither it nor a debugger had enabled it."""
    def type_semihosting(self, text: bytes) -> None:
        """Appends to the text that the firmware can read from semihosting's standard input."""
    def take_debug_text(self) -> list[tuple[str, bytes]]:
        """Removes the text that came by semihosting and ITM and returns it, in order, with the channel of each part."""
    def exit_code(self) -> int | None:
        """Returns the exit code with which the firmware ended last by semihosting."""
    def timing_cache_counts(self) -> tuple[int, int]:
        """Returns how many traces or blocks found their cycles in the timing cache, and how many did not."""
    def native_trace_count(self) -> int:
        """Returns how many traces or blocks were executed as native code."""
    def translation_count(self) -> int:
        """Returns how many traces or blocks, or rests of them, were JIT-compiled."""
    def translate_after(self, executions: int) -> None:
        """Sets after how many executions traces or blocks are JIT-compiled. 0: never."""
    def passed_over(self) -> int:
        """Returns how many cycles of busy waits for a register were skipped. A restore resets the count."""
    def stats(self) -> Stats:
        """Returns the statistics since the start or the last reset_stats."""
    def reset_stats(self) -> None:
        """Sets all statistics to zero."""
    def cycle(self) -> int:
        """Returns the current cycle."""
    def clock_hz(self) -> int:
        """Returns the core clock in Hz."""
    def nanoseconds(self) -> int:
        """Returns the time since power-on at the current cycle, by all clocks that the board has had."""
    def warnings(self) -> list[str]:
        """Returns one sentence for each use of unmodelled hardware, and for each fault."""
    def read(self, address: int, length: int) -> bytes:
        """Reads memory without side effects. Raises SimError outside of memory."""
    def peek(self, core: int, address: int, length: int) -> bytes:
        """Reads memory, or registers as a debugger shows them, without side effects."""
    def read_registers(self, core: int, addresses: list[int]) -> list[int | None]:
        """Reads words as a core would now, also from peripherals and its own registers. None where that faults.

        They are read on a copy of the board, so that nothing changes here.
        """
    def write(self, address: int, data: bytes) -> None:
        """Writes to RAM. Raises SimError outside of RAM."""
    def registers(self, core: int) -> dict[str, int]:
        """Returns the registers of a core by name: r0 to r12, sp, lr, pc, xpsr, msp, psp, primask, control, vtor."""
    def set_register(self, core: int, name: str, value: int) -> None:
        """Sets a register of a core: r0 to r12, sp, lr, pc, or apsr (flags in bits 31:28). Raises SimError."""
    def script_steps_left(self, port: int = 0) -> int:
        """Returns the number of script steps whose prompt has not appeared."""

    def snapshot(self) -> Snapshot:
        """Returns the board's present state, with what its instruments recorded, but without profile counts.

        Probes are not restored from it, but `Snapshot.open` places them.
        """
    def restore(self, snapshot: Snapshot) -> None:
        """Restores the state in a snapshot. Probes placed since stay, with nothing recorded.

        Raises SimError if the snapshot is of another chip.
        """
    def inject_exception(self, cycle: int, number: int, core: int = 0) -> None:
        """Schedules an exception (16 for interrupt 0) that becomes pending in this cycle, as by a pulse on its line."""
    def inject_pin(self, cycle: int, pin: int, level: bool) -> None:
        """Schedules a level that the outside drives on a pin from this cycle on. Pins are numbered as in events."""
    def attach(
        self, device: object, bus: str, number: int = 0, *, address: int | None = None, select: int | None = None
    ) -> None:
        """Attaches a device to `spi`, `i2c`, `uart` or `pins`. `number` is the manual's, 0 for an LPUART1; `select` is the
        pin that selects a device on SPI while low. Raises SimError. An exception of the device ends the run that meets it.
        """
    def set_analog(self, pin: int, millivolts: int) -> None:
        """Sets the voltage at a pin that an ADC converts. Raises SimError for other pins."""
    def debug(
        self,
        address: str,
        ready: Callable[[str], None],
        on_text: Callable[[str, bytes], None],
        note: Callable[[str], None],
        tasks: Callable[[Snapshot], list[tuple[int, str, int | None, list[tuple[str, int]]]]],
    ) -> None:
        """Serves gdb on `address` ("127.0.0.1:0": a free port) until gdb kills the board. `ready` gets the address that
        is listened on, `on_text` what the firmware writes, once, with the channel (empty for a console), `note` sentences
        for the user. `tasks` gives the tasks of a board that stands so: control block, name and state, the core that
        executes it, and the registers on its stack. Raises SimError, and what these functions or a signal raise."""
    def position(self, core: int) -> tuple[int, int, bool]:
        """Returns the cycle in which the core's next instruction can execute, its address, and whether the core sleeps."""

class Snapshot:
    """The state of a board at some cycle."""

    def cycle(self) -> int:
        """Returns the cycle in which the snapshot was taken."""
    def open(self) -> Machine:
        """Creates another board of the same kind in this state, with the probes that were placed."""
    def sweep(
        self,
        cycles: list[int],
        exception: int,
        *,
        core: int = 0,
        task: int | None = None,
        pin: int | None = None,
        level: bool = True,
        patience_cycles: int = 10_000_000,
        threads: int = 1,
    ) -> bytes:
        """Measures the response to the exception (or pin) in each of these cycles, always from the undisturbed run.

        Returns records of 32 bytes: u64 cycle, u64 cycles to the handler's first instruction, u64 cycles to the task's first
        instruction (2**64 - 1: not within patience), u32 address of the instruction that was executing on arrival,
        u32 1 if the core slept. The result does not depend on `threads`. Releases the GIL.
        """

class FlatCore:
    """A bare ARMv7-M core with nothing but RAM, for tests of what instructions do."""

    def __init__(self, kind: str) -> None:
        """Creates a core m3, m4 or m7 with 256 kB of RAM from 0x20000000 on."""
    def until(self, address: int) -> None:
        """Makes runs stop before this address."""
    def write(self, address: int, data: bytes) -> None:
        """Copies bytes into the RAM."""
    def read(self, address: int, length: int) -> bytes:
        """Returns bytes of the RAM."""
    def state(self) -> list[int]:
        """Returns r0 to r12, SP, LR, PC, APSR, S0 to S31 and FPSCR."""
    def set_state(self, words: list[int]) -> None:
        """Sets the registers that state() returns."""
    def set_ccr(self, value: int) -> None:
        """Sets the register CCR."""
    def set_cpacr(self, value: int) -> None:
        """Sets the register CPACR."""
    def run(self, cycles: int, pause: int = ...) -> str:
        """Executes up to `cycles`. Returns why it stopped: Stopped, None (the cycles are over), or as Fault(Undefined)."""
    def instructions(self) -> int:
        """Returns the number of instructions executed so far."""
