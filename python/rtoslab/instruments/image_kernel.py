"""Which kernel an image was built with, by the names of functions that it has."""

from pathlib import Path

from rtoslab.base import ImageFileError
from rtoslab.catalogue import Catalogue, Kernel
from rtoslab.images import read_elf


def kernel_of(catalogue: Catalogue, elf: Path, cpu: str) -> Kernel | None:
    """Returns the catalogue's kernel with the most functions in the image, with its word of the running task.

    None if the image has no kernel's, or of two as many. Trees of the user's are left out: their ports are there.
    """
    try:
        image = read_elf(elf)
    except ImageFileError:  # a UF2 file, or stripped
        return None
    names = {symbol.name for symbol in image.symbols} | image.constants.keys()
    functions = {symbol.name for symbol in image.symbols if symbol.is_function}
    candidates: list[tuple[int, Kernel]] = []
    for entry in catalogue.kernels.values():
        kernel = entry.facts.for_cpu(cpu)
        if entry.tree is None and kernel.probes is not None and _names_its_task(kernel, names):
            services = {name for table in _symbol_tables(kernel) for many in table for name in many}
            candidates.append((len(services & functions), kernel))
    candidates.sort(key=lambda pair: -pair[0])
    if not candidates or not candidates[0][0] or (len(candidates) > 1 and candidates[0][0] == candidates[1][0]):
        return None
    return candidates[0][1]


def _symbol_tables(kernel: Kernel) -> list[list[tuple[str, ...]]]:
    """Returns the symbol tables of this version, and of those before it."""
    return [[*kernel.symbols.values()], *([*earlier.symbols.values()] for earlier in kernel.earlier)]


def _names_its_task(kernel: Kernel, names: set[str]) -> bool:
    assert kernel.probes is not None
    words = (kernel.probes.current_task_single, kernel.probes.current_task_smp)
    return any(word is not None and word.partition("+")[0].strip() in names for word in words)
