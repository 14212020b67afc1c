"""The interface of the virtual board that the observer's users need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from rtoslab.targets import VirtualBoardMachine

if TYPE_CHECKING:
    from rtoslab._sim import Observed


class ObservedMachine(VirtualBoardMachine, Protocol):
    """A virtual board that can account for every cycle. `_sim.pyi` describes its methods."""

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
        """Turns the accounting of every cycle on or off. The arguments select further records."""

    def observed(self) -> Observed:
        """Returns what was recorded since the last call. Node numbers continue."""

    def core_cycle(self, core: int) -> int:
        """Returns the cycle in which a core's next instruction can begin. It may be after cycle()."""
