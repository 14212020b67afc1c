"""The interface of the virtual board that rtoslab uses. `rtoslab._sim.Machine` and the tests' fake implement it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rtoslab._sim import IntervalResult, Snapshot, Stats, Stop


class VirtualBoardMachine(Protocol):
    """The interface of a virtual board: `rtoslab._sim.Machine`, or a fake of the tests.
    `_sim.pyi` says more about each method. Cycles are cycles of the core's clock since reset.
    """

    def settings(self) -> list[tuple[str, int, str, str]]:
        """Returns the timing settings of the board: key, value, description, grade (documented, approximate or
        assumed)."""

    def set(self, key: str, value: int) -> None:
        """Sets the value of a timing setting. Raises SettingError."""

    def load(self, image: bytes, name: str) -> None:
        """Loads an ELF or UF2 image and resets the board. `name` is for error messages."""

    def symbol(self, name: str) -> int | None:
        """Returns the address of one of the image's symbols. None if there is none of this name."""

    def symbols(self) -> list[tuple[int, int, str]]:
        """Returns address, size in bytes and name of each function and object of the image."""

    def run(self, cycles: int) -> Stop:
        """Runs for at most `cycles` more cycles. Returns why and where the run stopped."""

    def until(self, address: int) -> None:
        """Makes runs stop when the instruction at this address is about to be executed."""

    def watch_exec(self, address: int, ident: int) -> None:
        """Records an event with the number `ident` whenever the instruction at this address is about to be executed."""

    def watch_call(self, address: int, ident: int, third: bool = False) -> None:
        """Records an event whenever the function at this address is called: R0, R1 (R2 if `third`) and the return
        address."""

    def watch_stacked_arguments(self, address: int, ident: int) -> None:
        """Records the fifth and the sixth argument of each call of a function, from the stack, after the event of
        `watch_further_arguments`."""

    def watch_further_arguments(self, address: int, ident: int) -> None:
        """Records an event with R2 and R3 whenever the function at this address is called, after the event of
        `watch_call`."""

    def watch_return(self, address: int, ident: int) -> None:
        """Records an event with R0 whenever a call under `watch_call` returns to this address."""

    def watch_write(self, address: int, ident: int, stop: bool = False) -> None:
        """Records an event whenever the word at this address is written. With `stop` the run ends there."""

    def trace_exceptions(self, on: bool) -> None:
        """Turns the recording of an event at each entry and exit of an exception handler on or off."""

    def trace_pins(self, on: bool) -> None:
        """Turns the recording of an event at each pin edge on or off."""

    def between(self, start: int, end: int) -> int:
        """Measures the cycles from executions of `start` to executions of `end`. Returns the index for
        `between_result`."""

    def between_result(self, index: int) -> IntervalResult:
        """Returns the statistics of the measurement that `between` started under this index."""

    def profile(self, on: bool) -> None:
        """Turns the profile of cycles per instruction on (from zero) or off."""

    def take_profile(self, core: int) -> bytes:
        """Removes a core's profile and returns it, as records of 32 bytes (`PROFILE` in `profiles`)."""

    def take_events(self) -> bytes:
        """Removes the recorded events (hits of probes, exceptions, pin edges) and returns them, 24 bytes each (`EVENT`
        in `events`)."""

    def take_uart(self, port: int = 0) -> bytes:
        """Removes the bytes that a serial port has sent and returns them."""

    def type_uart(self, text: bytes, port: int = 0) -> None:
        """Sends bytes to the firmware's serial port at line speed."""

    def script_uart(self, steps: list[tuple[bytes, bytes]], port: int = 0) -> None:
        """Adds steps (prompt, text): each text is typed once its prompt has appeared in the port's output."""

    def serve_semihosting(self, on: bool) -> None:
        """Turns the answers to semihosting calls (BKPT 0xAB) on or off."""

    def open_itm(self) -> None:
        """Enables the stimulus ports of the ITM at each reset, as a debugger does."""

    def asks_for_itm(self) -> bool:
        """Whether the firmware used the ITM while its ports were disabled."""

    def type_semihosting(self, text: bytes) -> None:
        """Appends to the text that the firmware can read from semihosting's standard input."""

    def take_debug_text(self) -> list[tuple[str, bytes]]:
        """Removes the output by semihosting and ITM and returns it: the channel and the bytes of each part."""

    def exit_code(self) -> int | None:
        """Returns the exit code with which the firmware ended last by semihosting. None if it has not."""

    def stats(self) -> Stats:
        """Returns cycles by cause, exceptions and spinlocks of each core since the start or the last `reset_stats`."""

    def reset_stats(self) -> None:
        """Sets all statistics to zero."""

    def cycle(self) -> int:
        """Returns the current cycle, counted since reset."""

    def clock_hz(self) -> int:
        """Returns the frequency of the core's clock in Hz."""

    def warnings(self) -> list[str]:
        """Returns a sentence for each use of unmodelled hardware, and for each fault."""

    def read(self, address: int, length: int) -> bytes:
        """Returns bytes of memory without side effects. Raises SimError outside memory."""

    def read_registers(self, core: int, addresses: list[int]) -> list[int | None]:
        """Returns the words that a core would read at these addresses, without side effects. None where the read would
        fault."""

    def write(self, address: int, data: bytes) -> None:
        """Writes bytes into RAM. Raises SimError outside RAM."""

    def inject_exception(self, cycle: int, number: int, core: int = 0) -> None:
        """Makes an exception pending on a core at this cycle. 16 is interrupt line 0."""

    def snapshot(self) -> Snapshot:
        """Returns the present state of the board."""

    def restore(self, snapshot: Snapshot) -> None:
        """Sets the board to the state of a snapshot. Raises SimError for another chip's."""

    def inject_pin(self, cycle: int, pin: int, level: bool) -> None:
        """Drives a pin from outside to this level, from this cycle on."""

    def set_analog(self, pin: int, millivolts: int) -> None:
        """Sets the voltage at a pin that an ADC converts. Raises SimError for other pins."""

    def registers(self, core: int) -> dict[str, int]:
        """Returns the processor registers of a core by name, such as r0, sp, lr, pc, xpsr."""
