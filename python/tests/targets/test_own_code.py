"""How often each instruction of a benchmark was executed, and what it called."""

from collections.abc import Callable
from typing import Final

import numpy as np
import pytest

from rtoslab import _sim
from rtoslab.targets.marks import IntervalMarkerAddress
from rtoslab.targets.observe import ALL_CORES, BenchmarkFunction, EquallyExecutedCodeRange
from rtoslab.targets.own_code import (
    INDIRECT,
    SUPERVISOR_CALL,
    _leaves,
    executed_benchmark_functions,
    instructions_from_markers_to_calls,
)
from rtoslab.targets.profiles import PROFILE
from tests.fakes import kernel

F, G, VENEER, KERNELS = (0x100, 0x40, "f"), (0x200, 0x20, "g"), (0x300, 8, "__far_veneer"), (0x400, 16, "kGive")
SYMBOLS: Final = [F, G, VENEER, KERNELS]
FACTS: Final = kernel(classes={"kernel": ["k"]})
NOP: Final = (0xBF00).to_bytes(2, "little")


@pytest.fixture(autouse=True)
def _every_file_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = [("/there/firmware/benchmarks/t/t.c", [(0x100, 0x310)]), ("/there/kernel/k.c", [(0x400, 0x410)])]
    monkeypatch.setattr(_sim, "sources", lambda _: ours)


def profile(*rows: tuple[int, int, int]) -> bytes:
    """Rows of address, executions and cycles, as the virtual board packs them."""
    built = np.zeros(len(rows), dtype=PROFILE)
    for at, (address, executions, cycles) in enumerate(rows):
        built[at] = (address, 0, cycles, executions, 0)
    return built.tobytes()


def memory(code: dict[int, bytes]) -> Callable[[int, int], bytes]:
    return lambda address, count: code.get(address, NOP).ljust(count, b"\0")


def halves(*words: int) -> bytes:
    return b"".join(word.to_bytes(2, "little") for word in words)


def test_adjacent_instructions_with_equal_counts_are_one_block() -> None:
    rows = [(0x100, 1, 2), (0x102, 7, 7), (0x104, 7, 21), (0x108, 7, 7), (0x10A, 3, 3), (0x400, 9, 9)]
    code = {0x104: halves(0xF3BF, 0x8F4F)}  # DSB, of four bytes
    (result,) = executed_benchmark_functions({0: profile(*rows)}, SYMBOLS, FACTS, (), b"\x7fELF", memory(code))
    assert (result.core, result.name, result.entries) == (0, "f", 1)
    assert result.stretches == (
        EquallyExecutedCodeRange(0x100, 1, 1, 2),
        EquallyExecutedCodeRange(0x102, 3, 7, 35),
        EquallyExecutedCodeRange(0x10A, 1, 3, 3),
    )


@pytest.mark.parametrize(
    ("code", "called"),
    [
        (halves(0xF000, 0xF87E), "g"),  # BL
        (halves(0xF000, 0xB87E), "g"),  # B.W out of the function: a tail call
        (halves(0xE07E), "g"),  # B
        (halves(0xE002), None),  # B inside
        (halves(0xD07E), "g"),  # BEQ
        (halves(0xDF05), SUPERVISOR_CALL),
        (halves(0x4798), INDIRECT),  # BLX R3
        (halves(0x4718), INDIRECT),  # BX R3
        (halves(0x4770), None),  # BX LR, a return
        (halves(0xF000, 0xF8FE), "far"),  # through the linker's veneer
        (halves(0xF000, 0xF97E), "kGive"),
        (halves(0xF7FF, 0xFFFE), "f"),  # BL to itself
        (halves(0xBF00), None),
    ],
)
def test_call_targets_of_instructions(code: bytes, called: str | None) -> None:
    (result,) = executed_benchmark_functions(
        {0: profile((0x100, 5, 5))}, SYMBOLS, FACTS, (), b"\x7fELF", memory({0x100: code})
    )
    assert result.calls == (((called, 5),) if called else ())


def test_function_with_a_librarys_name_alone_is_own() -> None:
    symbols = [(0x100, 0x40, "memory_touch"), (0x200, 0x20, "kHook"), (0x400, 16, "memcpy")]
    rows = profile((0x100, 5, 5), (0x200, 5, 5), (0x400, 5, 5))
    (result,) = executed_benchmark_functions({0: rows}, symbols, FACTS, (), b"\x7fELF", memory({}))
    assert result.name == "memory_touch", "the second does the kernel's work, the third is no file of the firmware"


def test_instructions_of_several_cores_are_added() -> None:
    rows = {0: profile((0x100, 1, 1), (0x102, 5, 5)), 1: profile((0x102, 7, 7), (0x200, 2, 2))}
    result = executed_benchmark_functions(rows, SYMBOLS, FACTS, (), b"\x7fELF", memory({}))
    assert [(function.core, function.name) for function in result] == [
        (0, "f"), (1, "f"), (1, "g"), (ALL_CORES, "f"), (ALL_CORES, "g"),
    ]  # fmt: skip
    assert result[3].stretches == (EquallyExecutedCodeRange(0x100, 1, 1, 1), EquallyExecutedCodeRange(0x102, 1, 12, 12))


@pytest.mark.parametrize("port", ["/there/firmware/kernels/b/port.c", "port/port.c"], ids=["ours", "outside"])
def test_port_is_own_code_unless_it_is_all_there_is_of_a_kernel(monkeypatch: pytest.MonkeyPatch, port: str) -> None:
    files = [("/there/firmware/benchmarks/t/t.c", [(0x100, 0x140)]), (port, [(0x200, 0x220)])]
    monkeypatch.setattr(_sim, "sources", lambda _: files)
    rows = {0: profile((0x100, 5, 5), (0x200, 5, 5))}
    for tasks, names in ((True, ["f", "g"]), (False, ["f"])):
        facts = kernel(classes={"kernel": ["k"]}, services={"tasks": tasks})
        result = executed_benchmark_functions(rows, SYMBOLS, facts, (), b"\x7fELF", memory({}))
        assert [function.name for function in result] == names


def test_idle_code_and_code_of_other_files_is_excluded() -> None:
    rows = {0: profile((0x102, 5, 5), (0x200, 9, 9), (0x300, 3, 3), (0x500, 3, 3))}
    (result,) = executed_benchmark_functions(rows, SYMBOLS, FACTS, [(0x200, 0x220, "idle")], b"\x7fELF", memory({}))
    assert result.name == "f"
    assert not executed_benchmark_functions(rows, SYMBOLS, FACTS, (), b"no ELF file", memory({}))


@pytest.mark.parametrize(
    ("begin", "end", "distance"),
    [
        (0x100, 0x106, 2),  # the move of the argument and the call
        (0x102, 0x106, 1),  # the call alone
        (0x100, 0x108, 3),  # what follows the call is inside, too
    ],
)
def test_call_distance_grows_with_each_instruction_in_an_interval(begin: int, end: int, distance: int) -> None:
    """movs r0, #1; bl kTake; movs r0, #0; movs r0, #0"""
    code = bytes.fromhex("0120 00f0 05f8 0020 0020")
    symbols = [(0x100, 10, "body"), (0x110, 2, "kTake")]
    body = BenchmarkFunction(0, "body", 1, (EquallyExecutedCodeRange(0x100, 4, 100, 400),), ())
    marks = [IntervalMarkerAddress(begin, 1, is_end=False), IntervalMarkerAddress(end, 1, is_end=True)]
    assert (
        instructions_from_markers_to_calls([body], marks, symbols, lambda at, size: code[at - 0x100 :][:size])
        == distance
    )


@pytest.mark.parametrize(
    ("is_end", "distance"),
    [
        (True, 2),  # the comparison that leads to the mark, and the move before it
        (False, 4),  # a move, the jump, another move, and the call
    ],
)
def test_call_distance_follows_jumps(is_end: bool, distance: int) -> None:
    """movs r0, #1; cbz r3, mark; 1: movs r0, #2; bl kTake; movs r0, #0; bx lr; mark: movs r0, #3; b 1b"""
    code = bytes.fromhex("0120 23b1 0220 00f0 0bf8 0020 7047 0320 f8e7")
    symbols = [(0x100, 18, "body"), (0x120, 2, "kTake")]
    body = BenchmarkFunction(0, "body", 1, (EquallyExecutedCodeRange(0x100, 8, 100, 400),), ())
    marks = [IntervalMarkerAddress(0x10E, 1, is_end=is_end)]
    assert (
        instructions_from_markers_to_calls([body], marks, symbols, lambda at, size: code[at - 0x100 :][:size])
        == distance
    )


@pytest.mark.parametrize(
    ("code", "leaves"),
    [
        ("7047", True),  # bx lr
        ("8047", False),  # blx r0
        ("f746", True),  # mov pc, lr
        ("10bd", True),  # pop {r4, pc}
        ("10bc", False),  # pop {r4}
        ("bde8f081", True),  # pop.w {r4-r8, pc}
        ("bde8f001", False),  # pop.w {r4-r8}
        ("00f00bb8", True),  # b.w
        ("00f00bf8", False),  # bl
        ("00f00b80", False),  # beq.w
        ("dff804f0", True),  # ldr.w pc, [pc, #4]
        ("dff80400", False),  # ldr.w r0, [pc, #4]
    ],
)
def test_instructions_that_leave_are_known(code: str, leaves: bool) -> None:
    assert _leaves(bytes.fromhex(code).ljust(4, b"\0")) is leaves
