"""One core of a board on which each core runs an image of its own, shown as a board with this core alone.

Without it, a proof for one core would count what the other core's kernel does. Both cores run. Only the observations
are restricted, so the cycles are the same whichever core is shown."""

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from rtoslab.base import RunError
from rtoslab.catalogue import Board
from rtoslab.targets.board import load_image_into_board, make_board_at_reset
from rtoslab.targets.event_kinds import IDENT_MARK, IDENT_SYMBOL, KIND_EXEC
from rtoslab.targets.events import EVENT
from rtoslab.targets.machine import VirtualBoardMachine

if TYPE_CHECKING:
    from rtoslab._sim import Stats

OTHER_DONE_SYMBOL: Final = "core1_bench_done"
"""The end of core 1's image, by the symbols that core 0's image has of it. Core 1 is the last to end."""
_BANKS_START: Final = 0x2100_0000
_STRIPED_START: Final = 0x2000_0000
_BANK_BYTES: Final = 0x1_0000
_BANKS: Final = 4
_WORD: Final = 4


class _SingleCoreBoardView:
    """One core of a board on which each core runs an image of its own, shown as a board that has this core alone."""

    def __init__(self, machine: VirtualBoardMachine, core: int, symbols_of: VirtualBoardMachine) -> None:
        """`symbols_of`: a board that knows the symbols of the core's own image, and is not run."""
        self._machine = machine
        self._core = core
        self._symbols_of = symbols_of

    def __getattr__(self, name: str) -> Any:
        """Returns an attribute of the real board that is the same for all cores."""
        return getattr(self._machine, name)

    def symbol(self, name: str) -> int | None:
        """Returns the address of a symbol of the core's image."""
        return self._symbols_of.symbol(name)

    def symbols(self) -> list[tuple[int, int, str]]:
        """Returns the symbols (address, size, name) of the core's image."""
        return self._symbols_of.symbols()

    def watch_write(self, address: int, ident: int, stop: bool = False) -> None:
        """Records an event at writes to a word, which is given by its address in the core's image."""
        self._machine.watch_write(sram_alias_to_striped_address(address), ident, stop)

    def read(self, address: int, length: int) -> bytes:
        """Returns bytes of memory, by their address in the core's image."""
        if sram_alias_to_striped_address(address) == address:
            return self._machine.read(address, length)
        start = address & ~(_WORD - 1)
        words = range(start, address + length, _WORD)
        content = b"".join(self._machine.read(sram_alias_to_striped_address(word), _WORD) for word in words)
        return content[address - start :][:length]

    def take_events(self) -> bytes:
        """Returns the new events of the core, and the new interval marks of both cores."""
        events = np.frombuffer(self._machine.take_events(), dtype=EVENT)
        marks = (events["kind"] == KIND_EXEC) & (events["id"] >= IDENT_MARK) & (events["id"] < IDENT_SYMBOL)
        mine = events[(events["core"] == self._core) | marks]
        mine["core"] = 0
        return bytes(mine.tobytes())

    def take_profile(self, core: int) -> bytes:
        """Returns the profile of the core, and clears it."""
        return self._machine.take_profile(self._physical_core_number(core))

    def stats(self) -> "Stats":
        """Returns the statistics (cycles by cause, exceptions, spinlocks) of the core alone."""
        stats = self._machine.stats()
        locks = [lock for lock in stats["locks"] if lock["core"] == self._core]
        for lock in locks:
            lock["core"] = 0
        return {"cores": [stats["cores"][self._core]], "locks": locks}

    def read_registers(self, core: int, addresses: list[int]) -> list[int | None]:
        """Returns the words that the core would read at these addresses, without side effects. None where the read
        would fault."""
        return self._machine.read_registers(self._physical_core_number(core), addresses)

    def registers(self, core: int) -> dict[str, int]:
        """Returns the processor registers of the core."""
        return self._machine.registers(self._physical_core_number(core))

    def _physical_core_number(self, core: int) -> int:
        """Returns the number of the real core that the view shows as core 0."""
        assert core == 0, "the view shows one core"
        return self._core


def sram_alias_to_striped_address(address: int) -> int:
    """Converts an address in the RP2040's banked SRAM alias to the striped SRAM address of the same byte.
    RP2040 datasheet 2.6.2. Any other address is returned as it is.
    """
    bank, offset = divmod(address - _BANKS_START, _BANK_BYTES)
    if not 0 <= bank < _BANKS:
        return address
    word, byte = divmod(offset, _WORD)
    return _STRIPED_START + (word * _BANKS + bank) * _WORD + byte


def make_single_core_board_view(
    machine: VirtualBoardMachine, core: int, image: bytes, started: bytes, name: str, board: Board
) -> VirtualBoardMachine:
    """Returns one core of a board that runs two images, as a board that has this core alone. `image` is the core's own
    image, and `started` the one that contains both."""
    idle_board = make_board_at_reset(board, cores=1)
    load_image_into_board(idle_board, started, name)  # its boot block, without which no board takes an image
    load_image_into_board(idle_board, image, name)
    return cast("VirtualBoardMachine", _SingleCoreBoardView(machine, core, idle_board))


def end_symbol_address_of_both_images(machine: VirtualBoardMachine) -> int:
    """Returns the address at which the images of both cores have ended. Raises RunError if the image has no such
    symbol."""
    address = machine.symbol(OTHER_DONE_SYMBOL)
    if address is None:
        raise RunError(f"Core 0's image has no symbol {OTHER_DONE_SYMBOL}; build both images again.")
    return address
