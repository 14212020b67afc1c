"""The interface of the virtual board that the observer's users need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from rtoslab.targets import VirtualMachine

if TYPE_CHECKING:
    from rtoslab._sim import Observed


# ruff: noqa: D102 (each method is described in _sim.pyi)
class ObservedMachine(VirtualMachine, Protocol):
    """A virtual board with an observer. See `_sim.pyi`."""

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
    ) -> None: ...
    def observed(self) -> Observed: ...
    def core_cycle(self, core: int) -> int: ...
