"""The virtual boards: thin wrappers over the Rust machine. Cycles are clk_sys cycles since reset, unsigned 64-bit."""

from collections.abc import Callable
from typing import TypedDict

SOURCES: str
"""A line for each source file that the module was built from: its path from the checkout on, SHA-256 of its content."""
VERSION: str
TIMING_VERSION: int
"""Raised whenever a cycle of any board moves."""
NATIVE_CODE: bool
"""Hot code is translated to code of this host. If not all is interpreted, with the same cycles."""

class SimError(Exception):
    """Base of every error the simulator raises; the message is one full sentence."""

class PanicException(BaseException):
    """The simulator itself has failed; the message says where."""

class ImageError(SimError):
    """The image cannot be loaded (corrupt ELF, UF2 of another family, no boot block ...)."""

class SettingError(SimError):
    """Unknown setting, or a value out of range."""

def structures(
    image: bytes, names: list[str]
) -> list[tuple[str, list[tuple[str, int, int, bool, tuple[int, int] | None]]]]:
    """By an image's debug information: structure (by its name or its type's), and of each of its members the name
    (`outer.inner` of structures inside), offset, bytes (of an array those of an element), whether it is an array, and of a
    bit field which bit of its first byte it begins with, and how many it has.
    Raises ImageError for damaged debug information."""

def sources(image: bytes) -> list[tuple[str, list[tuple[int, int]]]]:
    """By an image's debug information: the source file of each compilation unit, as the compiler was told it, and where
    its code lies, from each first address to behind the last. Raises ImageError for damaged debug information."""

def readable_name(name: str) -> str:
    """A symbol's name as its C++ or Rust source has it, with the suffix of a compiler's copy; another name as it is."""

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
    """Reads defmt's log frames with the strings in the image that sends them."""

    @staticmethod
    def of(image: bytes) -> LogDecoder | None:
        """None if the image does not use defmt. Raises ImageError if its tables are damaged."""
    def feed(self, data: bytes) -> list[LogRow]:
        """The lines that bytes complete."""

class EventTally:
    """What packed events (`Machine.take_events`) come to, fed in the order of time."""

    def __init__(
        self,
        calls: tuple[int, int],  # identities of calls: the first, and the one behind the last
        current: int,  # of writes of the word that names core 0's current task; core 1's is the next
        nesting: int,  # of writes of the word that counts how deep its critical sections are nested; likewise
        tasks: dict[int, int],  # core -> its current task: cores whose switches are counted
        depths: dict[int, tuple[int, int]],  # core -> cycle and depth: cores whose critical sections are counted
    ) -> None: ...
    def feed(self, events: bytes) -> None: ...
    def events(self) -> int: ...
    def objects(self) -> list[tuple[int, int, int, int]]:
        """Core, identity and first argument of calls, and how often each was made."""

    def switches(self) -> list[tuple[int, int, int, int | None, int]]:
        """Core, task before and after, the identity of the call seen last on that core since its switch before, and how
        often. A write of the task that is there already is none."""

    def sections(self, core: int) -> tuple[int, int, int] | None:
        """Critical sections that ended, their cycles, and those of the longest."""

class BetweenResult(TypedDict):
    count: int
    min_cycles: int | None
    max_cycles: int | None
    total_cycles: int

class LockStats(TypedDict):
    lock: int
    core: int
    acquisitions: int
    contended: int  # acquisitions that failed at least once first
    failed_reads: int
    wait_cycles: int  # from the first failed read to the successful one
    hold_cycles: int

class CoreStats(TypedDict):
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
    cores: list[CoreStats]
    locks: list[LockStats]

class CoreAccount(TypedDict):
    from_cycle: int
    until_cycle: int  # the machine's cycle, but for a core that stands before it where another one stopped the run
    rows: bytes
    # 72 bytes each: u32 node, u32 pc, u64 cycles executing, waiting for a bus, for flash, for a spinlock, asleep, in
    # exception entry and exit, stopped (reset, lock-up), u64 instructions completed. All cycles of all rows add up to
    # until_cycle - from_cycle.

class Observed(TypedDict):
    cores: list[CoreAccount]
    nodes: bytes  # call paths, 12 bytes each: u32 parent (0xffffffff: none), u32 entry, u32 exception (0: called)
    # 56 bytes each: i16 priority, u8 core, u8 zero, u32 opener's node and pc, closer's node and pc, zero, u64 count,
    # total cycles, first cycle of the longest, cycle behind its last.
    masked: bytes
    intervals: bytes  # 40 bytes each: the same up to the zero, u64 first cycle, cycle behind the last; in order of ends
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
    ) -> None:
        """A board by its chip: rp2040 or an stm32 by series. 0: the chip's usual value.

        cores=1 keeps the second core of an rp2040 in reset: a launch handshake then never answers. flash_bytes is an
        external flash's. console_port: number of the serial port that typed text goes to (stm32). A wire makes its
        second pin follow the level of its first, as ("PA8", "PB0") (stm32).
        """
    def settings(self) -> list[tuple[str, int, str, str]]:
        """(key, value in force, what it is, grade: documented | approximate | assumed)"""
    def set(self, key: str, value: int) -> None: ...
    def load(self, image: bytes, name: str) -> None:
        """ELF or UF2 (told by content); then the machine stands at reset. Raises ImageError."""
    def symbol(self, name: str) -> int | None:
        """Its address, by its name as the image has it or as `symbols` shows it."""
    def symbols(self) -> list[tuple[int, int, str]]:
        """(address without Thumb bit, size in bytes, readable name) of functions and objects, by address; of several at
        one address the longest first, then those that are not weak"""
    def run(self, cycles: int) -> Stop:
        """Runs for at most `cycles` more clk_sys cycles; releases the GIL."""
    def run_to_time(self, ns: int) -> Stop:
        """Runs to the first cycle at or past a time since power-on, through changes of the clock; releases the GIL."""
    def until(self, address: int) -> None: ...
    def watch_exec(self, address: int, ident: int) -> None: ...
    def watch_call(self, address: int, ident: int, third: bool = False) -> None:
        """As watch_exec for a function's first instruction: the event's pc is where the caller goes on, its last word R1;
        `third`: R2."""
    def watch_return(self, address: int, ident: int) -> None:
        """An event when a call under watch_call returns to the address; not when a branch leads there. Value = R0."""
    def watch_write(self, address: int, ident: int, stop: bool = False) -> None: ...
    def trace_exceptions(self, on: bool) -> None: ...
    def trace_pins(self, on: bool) -> None: ...
    def between(self, start: int, end: int) -> int: ...
    def between_result(self, index: int) -> BetweenResult: ...
    def profile(self, on: bool) -> None: ...
    def take_profile(self, core: int) -> bytes:
        """Records of 32 bytes: u32 address, u32 zero, u64 cycles, u64 executions, u64 bus+flash wait cycles; then cleared"""
    def take_events(self) -> bytes: ...
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
        """Accounts for every cycle from now on. Takes no cycle of the board, but host time.

        priorities: of interrupts whose held-off intervals are recorded, as a priority register has them; of these the
        first keep_intervals are kept whole. calls: (address, ident) of functions whose calls and returns become events.
        measured: the same of functions each of whose calls is measured. arrivals: addresses of instructions each of
        whose executions is recorded.
        events: threads and spinlocks become events too. The profile stays empty meanwhile. A restore ends it.
        """
    def observed(self) -> Observed:
        """What was observed since the last call; node numbers go on. Raises SimError if nothing is observed."""
    def core_cycle(self, core: int) -> int:
        """The cycle in which a core's next instruction can begin; it may lie beyond cycle()."""
    def take_uart(self, port: int = 0) -> bytes: ...
    def type_uart(self, text: bytes, port: int = 0) -> None:
        """Queues text for the receiver, at line speed, held back while the receive FIFO is full."""
    def script_uart(self, steps: list[tuple[bytes, bytes]], port: int = 0) -> None:
        """Each step: when the output since the last step ends with or contains the prompt, type the text."""
    def serve_semihosting(self, on: bool) -> None:
        """Answers BKPT 0xAB as a debugger does. Otherwise it is a breakpoint without a debugger."""
    def open_itm(self) -> None:
        """Opens every stimulus port of the ITM at each reset, as a debugger does. Call it before load()."""
    def asks_for_itm(self) -> bool:
        """Whether the firmware asked for the ITM while neither it nor a debugger had switched it on."""
    def type_semihosting(self, text: bytes) -> None:
        """Adds to what the firmware can read from semihosting's standard input."""
    def take_debug_text(self) -> list[tuple[str, bytes]]:
        """What came by semihosting and ITM since the last call, in order, with the channel of each part."""
    def exit_code(self) -> int | None:
        """The exit code with which the firmware ended by semihosting last."""
    def remembered(self) -> tuple[int, int]:
        """How many stretches of instructions took their time from memory, and of how many it was found out."""
    def translated(self) -> int:
        """How many of those stretches were executed as code of the host."""
    def translations(self) -> int:
        """How many translations were made for that, of whole stretches and of rests of them."""
    def translate_after(self, executions: int) -> None:
        """Stretches are translated to code of the host when they were executed so often; 0: never."""
    def passed_over(self) -> int:
        """How many cycles of waits for a register were passed over; counted anew after a restore."""
    def stats(self) -> Stats: ...
    def reset_stats(self) -> None: ...
    def cycle(self) -> int: ...
    def clock_hz(self) -> int: ...
    def nanoseconds(self) -> int:
        """The time since power-on at the current cycle, by all clocks that the board has had."""
    def warnings(self) -> list[str]: ...
    def read(self, address: int, length: int) -> bytes: ...
    def peek(self, core: int, address: int, length: int) -> bytes:
        """Like read(), and registers as a debugger shows them: no read of them has a side effect."""
    def read_registers(self, core: int, addresses: list[int]) -> list[int | None]:
        """Words as a core would read them now, of peripherals and its own registers too; None where that faults. They are
        read on a copy of the board, so that nothing changes here."""
    def write(self, address: int, data: bytes) -> None: ...
    def registers(self, core: int) -> dict[str, int]:
        """r0 to r12, sp, lr, pc, xpsr, msp, psp, primask, control, vtor"""
    def set_register(self, core: int, name: str, value: int) -> None:
        """r0 to r12, sp, lr, pc, or apsr (flags in bits 31:28)"""
    def script_steps_left(self, port: int = 0) -> int:
        """Scripted lines whose prompt has not appeared."""

    def snapshot(self) -> Snapshot:
        """The board as it stands, with what its instruments recorded; not where probes sit, nor profile counts."""
    def restore(self, snapshot: Snapshot) -> None:
        """The board as it stood. Probes placed since stay, with nothing recorded. Raises SimError for another chip's."""
    def inject_exception(self, cycle: int, number: int, core: int = 0) -> None:
        """Pends an exception (16 for interrupt 0) in a cycle that has not passed, as a pulse on its line would."""
    def inject_pin(self, cycle: int, pin: int, level: bool) -> None:
        """The outside drives a pin from this cycle on. Pins are numbered as in events."""
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
        """Cycle at which the core's next instruction can execute, its address, whether the core sleeps."""

class Snapshot:
    def cycle(self) -> int: ...
    def open(self) -> Machine:
        """Another board of the same kind, standing there, with the probes that were placed."""
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
        """Raises the exception (or drives the pin) in each of these cycles in turn, always from the undisturbed run.

        Records of 32 bytes: u64 cycle, u64 cycles to the handler's first instruction, u64 cycles to the task's first
        instruction (2**64 - 1: not within patience), u32 address of the instruction that was executing on arrival,
        u32 1 if the core slept. The result does not depend on `threads`. Releases the GIL.
        """

class FlatCore:
    def __init__(self, kind: str) -> None:
        """A bare core m3, m4 or m7 with 256 kB of RAM from 0x20000000 on, for tests of what instructions do."""
    def until(self, address: int) -> None:
        """Runs stop before this address."""
    def write(self, address: int, data: bytes) -> None: ...
    def read(self, address: int, length: int) -> bytes: ...
    def state(self) -> list[int]:
        """r0 to r12, SP, LR, PC, APSR, S0 to S31, FPSCR."""
    def set_state(self, words: list[int]) -> None: ...
    def set_ccr(self, value: int) -> None: ...
    def set_cpacr(self, value: int) -> None: ...
    def run(self, cycles: int, pause: int = ...) -> str:
        """Why it stopped: Stopped, None (the cycles are over), or a request such as Fault(Undefined)."""
    def instructions(self) -> int: ...
