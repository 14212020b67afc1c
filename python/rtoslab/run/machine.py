"""The face of the virtual board that the rest of rtoslab uses; `rtoslab._sim.Machine` has it, and so does the tests' fake."""

from typing import Protocol

from rtoslab._sim import BetweenResult, Stats, Stop


class VirtualMachine(Protocol):
    """See `_sim.pyi` for what each method does; cycles are clk_sys cycles since reset."""

    def set(self, key: str, value: int) -> None: ...  # noqa: D102
    def load(self, image: bytes, name: str) -> None: ...  # noqa: D102
    def symbol(self, name: str) -> int | None: ...  # noqa: D102
    def symbols(self) -> list[tuple[int, int, str]]: ...  # noqa: D102
    def run(self, cycles: int) -> Stop: ...  # noqa: D102
    def until(self, address: int) -> None: ...  # noqa: D102
    def watch_exec(self, address: int, ident: int) -> None: ...  # noqa: D102
    def watch_write(self, address: int, ident: int, stop: bool = False) -> None: ...  # noqa: D102
    def trace_exceptions(self, on: bool) -> None: ...  # noqa: D102
    def between(self, start: int, end: int) -> int: ...  # noqa: D102
    def between_result(self, index: int) -> BetweenResult: ...  # noqa: D102
    def profile(self, on: bool) -> None: ...  # noqa: D102
    def take_profile(self, core: int) -> bytes: ...  # noqa: D102
    def take_events(self) -> bytes: ...  # noqa: D102
    def take_uart(self, port: int = 0) -> bytes: ...  # noqa: D102
    def type_uart(self, text: bytes, port: int = 0) -> None: ...  # noqa: D102
    def script_uart(self, steps: list[tuple[bytes, bytes]], port: int = 0) -> None: ...  # noqa: D102
    def stats(self) -> Stats: ...  # noqa: D102
    def reset_stats(self) -> None: ...  # noqa: D102
    def cycle(self) -> int: ...  # noqa: D102
    def clock_hz(self) -> int: ...  # noqa: D102
    def warnings(self) -> list[str]: ...  # noqa: D102
    def read(self, address: int, length: int) -> bytes: ...  # noqa: D102
    def registers(self, core: int) -> dict[str, int]: ...  # noqa: D102
