"""Test code only: real images on virtual boards, standing where their measured window opens."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.images.builder import build_measurement_point_image
from rtoslab.plan.plan import PlanOptions, make_measurement_plan
from rtoslab.targets.board import make_board_at_reset

CATALOGUE: Final = Catalogue(find_checkout_root())
WINDOW_MS: Final = 20
"""As other tests build the same images."""


@dataclass(frozen=True, slots=True)
class Program:
    """An image on a board."""

    benchmark: str
    board: str
    cores: int = 1
    kernel: str = "freertos"

    def elf(self) -> Path:
        """The built image."""
        options = PlanOptions([self.kernel], [self.board], [self.cores], WINDOW_MS)
        (point,) = make_measurement_plan(CATALOGUE, [self.benchmark], options).points
        return build_measurement_point_image(CATALOGUE, point).elf_path

    def in_window(self) -> Any:
        """A machine that has run until the window opened."""
        machine: Any = make_board_at_reset(CATALOGUE.find_board(self.board).facts, cores=self.cores)
        machine.load(self.elf().read_bytes(), self.benchmark)
        word = machine.symbol("bench_window_state")
        machine.watch_write(word, 1, True)
        while int.from_bytes(machine.read(word, 4), "little") != 1:
            assert machine.run(600_000_000)["reason"] == "watch"
        machine.take_events()
        return machine


EVERY_BOARD: Final = [
    *(Program("t5", name) for name in CATALOGUE.boards),
    Program("t7", "pico", cores=2),
]
"""Tasks, ticks and software interrupts on each; two cores that fight for a lock."""
