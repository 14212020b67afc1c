"""Guesses the board of an image: on which of the boards that it fits it starts without a sign of another chip.

Addresses and build attributes alone fit several boards, because STM32 chips share the addresses of flash and RAM. But
an image sets up the clocks and pins of its own chip first. On another chip it soon uses a block that is absent, a
block whose clock is off, or a clock beyond the limits. A later core also runs code for an earlier one, but hardly
anybody compiles for another core than the board's. So boards with the core of the attributes come first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rtoslab.base import ImageFileError, find_checkout_root
from rtoslab.catalogue import Board, Catalogue
from rtoslab.intake import MAGIC, open_elf_file
from rtoslab.targets.board import load_image_into_board, make_board_at_reset

_TRIED_S: Final = 0.05
_CHUNKS: Final = 5
_UNFIT: Final = 2
# Addenda to the ABI for the Arm Architecture: values of Tag_CPU_arch and of Tag_FP_arch.
_V7E_M: Final = 13
_V7E_CORES: Final = frozenset({"cortex-m4f", "cortex-m7"})
_CORES_BY_ARCH: Final = {
    10: frozenset({"cortex-m3"}),
    11: frozenset({"cortex-m0plus"}),
    12: frozenset({"cortex-m0plus"}),
}
_CORES_BY_FLOAT_UNIT: Final = {
    5: frozenset({"cortex-m4f"}),
    6: frozenset({"cortex-m4f"}),
    7: frozenset({"cortex-m7"}),
    8: frozenset({"cortex-m7"}),
}


@dataclass(frozen=True, slots=True)
class BoardStartTrialResult:
    """The result of starting an image on a board for a short time, to see whether the image is for this board."""

    board: str
    strangeness: int
    """0: there was neither a fault nor a warning. 1: the image only used what is not modelled. 2: it does not fit."""
    output_bytes: int


def boards_with_core_of_image(image: bytes, name: str, boards: Sequence[str]) -> list[str]:
    """Returns those of the boards whose core is one that the image was compiled for. Returns all boards if the image
    does not name its core, or if no board has it. Raises ImageFileError for damaged build attributes."""
    cores, catalogue = cores_in_elf_build_attributes(image, name), Catalogue(find_checkout_root())
    return [board for board in boards if catalogue.find_board(board).facts.core in cores] or list(boards)


def boards_likely_for_image(image: bytes, name: str, boards: Sequence[str]) -> list[str]:
    """Returns those of the boards on which the image starts with the fewest signs of another chip, and of these only
    those on which it prints, if there are any. Empty if it starts properly on none."""
    catalogue = Catalogue(find_checkout_root())
    names = boards_with_core_of_image(image, name, boards)
    trials = [_test_image_start_on_board(image, name, catalogue.find_board(board).facts) for board in names]
    least = min((trial.strangeness for trial in trials), default=_UNFIT)
    best = [trial for trial in trials if trial.strangeness == least < _UNFIT]
    printing = [trial for trial in best if trial.output_bytes]
    return [trial.board for trial in printing or best]


def cores_in_elf_build_attributes(image: bytes, name: str) -> frozenset[str]:
    """Returns the names of the cores that an ELF image was compiled for, by its build attributes. Empty if it has none.
    Raises ImageFileError for damaged attributes."""
    if not image.startswith(MAGIC):
        return frozenset()
    with open_elf_file(image, name, ImageFileError) as elf:
        section: Any = elf.get_section_by_name(".ARM.attributes")
        values = {
            attribute.tag: attribute.value
            for subsection in (section.iter_subsections() if section is not None else ())
            for part in subsection.iter_subsubsections()
            for attribute in part.iter_attributes()
        }
    arch, float_unit = int(values.get("TAG_CPU_ARCH", 0)), int(values.get("TAG_FP_ARCH", 0))
    if arch == _V7E_M:
        return _CORES_BY_FLOAT_UNIT.get(float_unit, _V7E_CORES)
    return _CORES_BY_ARCH.get(arch, frozenset())


def _test_image_start_on_board(image: bytes, name: str, board: Board) -> BoardStartTrialResult:
    """Runs an image on a board for 50 ms of virtual time and returns what speaks against this board."""
    machine = make_board_at_reset(board, cores=board.cores)
    load_image_into_board(machine, image, name)
    output = strangeness = 0
    for _ in range(_CHUNKS):
        stop = machine.run(int(_TRIED_S * board.clock.sys_hz) // _CHUNKS)
        output += len(machine.take_uart())
        strangeness = max((_board_mismatch_score_of_warning(sentence) for sentence in machine.warnings()), default=0)
        if strangeness == _UNFIT or stop["reason"] not in {"cycles", "watch"}:
            return BoardStartTrialResult(board.id, _UNFIT, output)
    return BoardStartTrialResult(board.id, strangeness, output)


def _board_mismatch_score_of_warning(warning: str) -> int:
    """Returns 1 for a warning about a feature that is not modelled, 2 for any other warning, which speaks for another
    chip."""
    return 1 if "not modelled" in warning and "belongs to no block" not in warning else _UNFIT
