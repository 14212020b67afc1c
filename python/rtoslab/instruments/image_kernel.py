"""Finds the kernel that an image was built with, by the names of its functions."""

from pathlib import Path

from rtoslab.base import ImageFileError
from rtoslab.catalogue import Catalogue, Kernel
from rtoslab.images import read_elf


def find_image_kernel(catalogue: Catalogue, elf: Path, cpu: str) -> Kernel | None:
    """Returns the kernel that an image was built with, by the names of its functions. None if it has functions of no
    kernel, or equally many of two.

    Ports are compared and not the user's trees, which lack the names of services that they were built without.
    """
    try:
        image = read_elf(elf)
    except ImageFileError:  # a UF2 file, or stripped
        return None
    names = {symbol.name for symbol in image.symbols} | image.constants.keys()
    functions = {symbol.name for symbol in image.symbols if symbol.is_function}
    candidates: list[tuple[int, Kernel]] = []
    for entry in catalogue.known_kernel_ports:
        kernel = entry.facts.kernel_facts_for_architecture(cpu)
        if kernel.probes is not None and _has_task_symbol(kernel, names):
            services = {name for table in _symbol_tables(kernel) for many in table for name in many}
            candidates.append((len(services & functions), kernel))
    candidates.sort(key=lambda pair: -pair[0])
    if not candidates or not candidates[0][0] or (len(candidates) > 1 and candidates[0][0] == candidates[1][0]):
        return None
    return candidates[0][1]


def _symbol_tables(kernel: Kernel) -> list[list[tuple[str, ...]]]:
    """Returns the names of a kernel's functions: one list for the present version and one for each earlier version."""
    return [[*kernel.symbols.values()], *([*earlier.symbols.values()] for earlier in kernel.earlier)]


def _has_task_symbol(kernel: Kernel, names: set[str]) -> bool:
    """Whether an image with these names has the kernel's pointer to the current task."""
    assert kernel.probes is not None
    return any(word.partition("+")[0].strip() in names for word in kernel.probes.current_task_words)
