"""Two kernels on one board, an image of its own on each core: `--kernel freertos+rt`.

Each core's kernel is a point of its own, with the other one beside it, so that all proofs of one core hold for it."""

from typing import Final

from rtoslab.base import PlanError, UnknownNameError
from rtoslab.catalogue import DEFAULT_KERNEL, DIVISIONS, PAIR_CORES, Benchmark, Board, Catalogue, CatalogueEntry, Kernel

SIGN: Final = "+"
"""Between the kernels of core 0 and core 1."""
PAIR_EXAMPLE: Final = f"--kernel {DEFAULT_KERNEL}{SIGN}{DEFAULT_KERNEL}"
PAIR_KEYS: Final = ("beside", "core")
"""The options of a point that only the name of a pair sets."""


def split_kernel_pair_name(
    catalogue: Catalogue, name: str
) -> list[tuple[CatalogueEntry[Kernel], str | None, int | None]]:
    """Splits a name such as `freertos+rt` into (kernel, kernel on the other core, core) for each core. A plain name
    gives the kernel alone, with None for the rest. Raises PlanError, UnknownNameError."""
    if SIGN not in name:
        return [(catalogue.find_kernel(name), None, None)]
    names = name.split(SIGN)
    if len(names) != PAIR_CORES or not all(names):
        raise PlanError(f"--kernel {name}: a pair is two kernels, core 0's and core 1's: {PAIR_EXAMPLE}.")
    one, other = (catalogue.find_kernel(part) for part in names)
    return [(one, other.id, 0), (other, one.id, 1)]


def reason_kernel_pair_cannot_run(
    catalogue: Catalogue,
    benchmark: CatalogueEntry[Benchmark],
    kernel: CatalogueEntry[Kernel],
    board: CatalogueEntry[Board],
    *,
    configured: bool,
) -> str | None:
    """Returns why a kernel cannot run on one core while another kernel runs on the other, as a clause. None if it can.
    `configured` tells that macros of a kernel's configuration are set."""
    if catalogue.find_dual_kernel_memory_map(board) is None:
        return f"firmware/amp has no map that divides {board.facts.title} between two kernels"
    if kernel.facts.owns_start:
        return f"{kernel.facts.title} is linked by its own script, which places it over the whole memory"
    if benchmark.facts.kind != "counts" and not benchmark.facts.pair:
        return "beside another kernel no latencies of one core are measured: the cores would share pin and timer"
    if configured:
        return "macros of a kernel's configuration cannot be set for one of two kernels"
    return None


def require_known_sram_division_name(name: str) -> str:
    """Returns the name if it is a known way to divide the SRAM between two kernels. Raises UnknownNameError."""
    if name not in DIVISIONS:
        raise UnknownNameError("division of the SRAM", name, DIVISIONS)
    return name
