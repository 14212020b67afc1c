"""Addresses of the words that name the running task, and of the code in which a kernel idles."""

from typing import Final

from rtoslab.base import RunError, SymbolError, without_thumb_bit
from rtoslab.catalogue import Kernel
from rtoslab.targets.board import convert_simulator_errors, find_symbol_address
from rtoslab.targets.event_kinds import IDENT_IDLE, IDENT_IDLE_OVER
from rtoslab.targets.machine import VirtualBoardMachine

_MOST_OFFSET: Final = 0xFFFF


def find_memory_word_address(machine: VirtualBoardMachine, expression: str) -> int:
    """Returns the address of a variable or label that kernel.toml gives as `symbol` or `symbol+offset`. Raises
    SymbolError."""
    base, *offsets = expression.split("+")
    return find_symbol_address(machine, base.strip()) + sum(
        _parse_offset(machine, offset.strip(), expression) for offset in offsets
    )


def _parse_offset(machine: VirtualBoardMachine, text: str, expression: str) -> int:
    """Returns the value of the offset (a number or an absolute symbol) in the expression `symbol+offset`. Raises
    SymbolError."""
    try:
        offset: int | None = int(text, 0)
    except ValueError:
        offset = machine.symbol(text)
    if offset is None or not 0 <= offset <= _MOST_OFFSET:
        raise SymbolError(
            f"The offset {text!r} of {expression!r} is neither a number below 65536 nor an absolute symbol of the "
            "image; correct kernel.toml."
        )
    return offset


def current_task_addresses(machine: VirtualBoardMachine, kernel: Kernel, cores: int) -> dict[int, int]:
    """Returns, for each core, the address of the kernel's pointer to the current task. Empty for a kernel without
    tasks. Raises SymbolError if the image does not have it."""
    probes = kernel.probes
    if probes is None:
        return {}
    if cores == 1:
        return {0: find_memory_word_address(machine, probes.current_task_single)}
    if isinstance(probes.current_task_smp, tuple):
        words = zip(range(cores), probes.current_task_smp, strict=False)
        return {core: find_memory_word_address(machine, expression) for core, expression in words}
    base = find_memory_word_address(machine, probes.current_task_smp or "")
    return {core: base + core * probes.current_task_smp_stride_bytes for core in range(cores)}


def watch_idle_code(machine: VirtualBoardMachine, kernel: Kernel) -> None:
    """Sets probes on the code in which a kernel idles, if it idles outside a task. See `IdleInHandlerEventFilter`."""
    for begin, end in _idle_code_symbol_pairs(machine, kernel):
        with convert_simulator_errors(RunError):
            machine.watch_exec(find_memory_word_address(machine, begin), IDENT_IDLE)
            machine.watch_exec(find_memory_word_address(machine, end), IDENT_IDLE_OVER)


def idle_code_ranges(machine: VirtualBoardMachine, kernel: Kernel) -> list[tuple[int, int, str]]:
    """Returns (begin, end, first label) of the code in which the kernel idles outside a task."""
    labels = _idle_code_symbol_pairs(machine, kernel)
    if kernel.probes is not None and kernel.probes.idle_keeps_task:
        return [_function_address_range(machine, begin) for begin, _ in labels]
    return [
        (find_memory_word_address(machine, begin), find_memory_word_address(machine, end), begin)
        for begin, end in labels
    ]


def _idle_code_symbol_pairs(machine: VirtualBoardMachine, kernel: Kernel) -> list[tuple[str, str]]:
    """Returns the pairs of labels in which the kernel idles. A configuration in which it idles in a task lacks the
    first label."""
    pairs = kernel.probes.idle_labels if kernel.probes else ()
    return [(begin, end) for begin, end in pairs if machine.symbol(begin) is not None]


def _function_address_range(machine: VirtualBoardMachine, name: str) -> tuple[int, int, str]:
    """Returns (begin, end, name) of a function."""
    begin = find_symbol_address(machine, name)
    size = next(
        (size for address, size, own in machine.symbols() if own == name and without_thumb_bit(address) == begin), 0
    )
    return begin, begin + size, name
