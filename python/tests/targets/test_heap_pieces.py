"""Free pieces of a heap, by the kernel's own list: counted where it can be read surely, and not told elsewhere."""

import subprocess
from pathlib import Path
from typing import Any, cast

import pytest

from rtoslab import api
from rtoslab.base import find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.results import MeasuredPoint
from rtoslab.targets.heap_pieces import HEAP_PIECES, count_free_heap_blocks
from rtoslab.targets.machine import VirtualBoardMachine

KERNELS = Catalogue(find_checkout_root()).kernels
HEAD, CANARY = 0x2000_0000, 0x2000_0008
FIRST, SECOND, END = 0x2000_0100, 0x2000_0200, 0x2000_0800


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder: Path = tmp_path_factory.mktemp("heap")
    (folder / "heap.c").write_text(
        "typedef struct A_BLOCK_LINK { struct A_BLOCK_LINK *pxNextFreeBlock; unsigned xBlockSize; } BlockLink_t;\n"
        "BlockLink_t xStart;\n"
        "struct heap_mem { unsigned used, next; } *heap_ptr;\n"
    )
    subprocess.run(["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-g", "-c", "heap.c"], cwd=folder, check=True)
    return (folder / "heap.o").read_bytes()


class Symbols:
    def __init__(self, **symbols: int) -> None:
        self.symbol = symbols.get


def pieces(image: bytes, memory: dict[int, int], kernel: str = "freertos", **symbols: int) -> dict[str, int]:
    machine = cast("VirtualBoardMachine", Symbols(**{"xStart": HEAD, **symbols}))
    return count_free_heap_blocks(machine, memory.get, image, KERNELS[kernel].facts)


def test_every_free_block_except_the_list_end_counts(image: bytes) -> None:
    assert pieces(image, {HEAD: FIRST, FIRST: END, END: 0}) == {HEAP_PIECES: 1}
    assert pieces(image, {HEAD: FIRST, FIRST: SECOND, SECOND: END, END: 0}) == {HEAP_PIECES: 2}
    assert pieces(image, {HEAD: END, END: 0}) == {HEAP_PIECES: 0}, "all is taken"


def test_pointers_may_be_masked(image: bytes) -> None:
    mask = 0x5A5A_1234
    memory = {HEAD: FIRST ^ mask, FIRST: SECOND ^ mask, SECOND: END ^ mask, END: mask, CANARY: mask}
    assert pieces(image, memory, xHeapCanary=CANARY) == {HEAP_PIECES: 2}
    assert pieces(image, memory) == {}


@pytest.mark.parametrize(
    "memory",
    [
        {HEAD: 0},  # nobody asked for memory yet
        {HEAD: SECOND, SECOND: FIRST, FIRST: END, END: 0},  # of another allocator: by size
        {HEAD: FIRST, FIRST: SECOND, SECOND: FIRST},  # in a circle
        {HEAD: FIRST, FIRST: SECOND},  # it leaves the memory
    ],
)
def test_invalid_free_list_gives_nothing(image: bytes, memory: dict[int, int]) -> None:
    assert pieces(image, memory) == {}


BASE, BLOCKS, LAST = 0x2000_0010, 0x2000_0400, 0x2000_0700
# Taken, free, taken, free.
_BLOCKS = ((0, 1, 0x100), (0x100, 0, 0x200), (0x200, 1, 0x280), (0x280, 0, 0x300))
CHAIN = {BASE: BLOCKS, BASE + 4: LAST} | {
    BLOCKS + at + place: value for at, used, following in _BLOCKS for place, value in ((0, used), (4, following))
}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, {HEAP_PIECES: 2}),
        ({BLOCKS + 0x280: 1}, {HEAP_PIECES: 1}),
        ({BASE: 0}, {}),  # nobody made a heap yet
        ({BLOCKS + 0x104: 0}, {}),  # in a circle
        ({BLOCKS + 0x284: 0x380}, {}),  # it goes on behind its last block
        ({BLOCKS + 0x104: 0x240}, {}),  # it leaves the memory
    ],
)
def test_free_blocks_of_a_chain_of_all_blocks_count(
    image: bytes, changed: dict[int, int], told: dict[str, int]
) -> None:
    memory = {**CHAIN, **changed}
    assert pieces(image, memory, kernel="rtthread", heap_ptr=BASE, heap_end=BASE + 4) == told
    assert pieces(image, memory, kernel="rtthread", heap_ptr=BASE) == {}


def test_missing_heap_symbols_give_nothing(image: bytes) -> None:
    memory = {HEAD: FIRST, FIRST: END, END: 0}
    assert pieces(b"", memory) == {}
    assert pieces(image, memory, kernel="rt") == {}
    assert count_free_heap_blocks(cast("Any", Symbols()), memory.get, image, KERNELS["freertos"].facts) == {}


@pytest.mark.parametrize(("kernel", "told"), [("freertos", 1), ("bare", None)])
def test_point_records_its_heap(kernel: str, told: int | None, tmp_path: Path) -> None:
    (outcome,) = api.run("t4", kernels=[kernel], boards=["pico"], cores=[1], window_ms=5, out=tmp_path / "run")
    assert isinstance(outcome.result, MeasuredPoint), outcome.result
    assert outcome.result.state.get(HEAP_PIECES) == told
