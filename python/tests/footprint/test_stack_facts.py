"""A task's stack and name by its control block, in the ways that kernels keep them."""

from types import SimpleNamespace
from typing import Any

import pytest

from rtoslab.catalogue import TaskControlBlockMembers
from rtoslab.catalogue.kernel_facts import KernelMemory
from rtoslab.footprint.stacks import _StackAddressRange, _StackObserver
from rtoslab.targets import StructureMemberLayout

BLOCK, BASE, NAME = 0x2000_0100, 0x2000_0800, 0x0800_4000
MEMBERS = {
    "base": StructureMemberLayout(0, 4),
    "size": StructureMemberLayout(4, 4),
    "name": StructureMemberLayout(8, 4),
}
FACTS = {"type": "block", "name": "name", "stack": "base", "stack_pointer": "top"}


def stack(size: int, name: int, **facts: str) -> _StackAddressRange:
    memory = {BLOCK: BASE, BLOCK + 4: size, BLOCK + 8: name}

    def read(address: int, count: int) -> bytes:
        assert address, "nobody's name is at address 0"
        return b"blinky\0trash" if address == NAME else memory[address].to_bytes(count, "little")

    run: Any = object.__new__(_StackObserver)
    run.machine = SimpleNamespace(read=read)
    return run._read_stack_range(BLOCK, TaskControlBlockMembers(**FACTS, **facts), MEMBERS)  # type: ignore[no-any-return]


@pytest.mark.parametrize(("unit", "bytes_each"), [("bytes", 1), ("words", 4)])
def test_stacks_size_is_in_bytes_or_in_words(unit: str, bytes_each: int) -> None:
    assert stack(256, NAME, **{unit: "size"}) == _StackAddressRange("blinky", BASE, BASE + 256 * bytes_each)


def test_unnamed_task_is_called_by_its_control_block() -> None:
    assert stack(256, 0, bytes="size").task == f"task {BLOCK:#x}"


def test_task_that_still_uses_the_main_stack_is_not_filled() -> None:
    members = {**MEMBERS, "top": StructureMemberLayout(12, 4)}
    filled: list[tuple[int, bytes]] = []
    words = {BLOCK: 0, BLOCK + 4: 256, BLOCK + 8: 0, BLOCK + 12: BASE + 2}
    run: Any = object.__new__(_StackObserver)
    run.stacks = {}
    run.machine = SimpleNamespace(
        read=lambda address, count: words[address].to_bytes(count, "little"),
        write=lambda address, data: filled.append((address, data)),
    )
    run._fill_stack_of_new_task(BLOCK, TaskControlBlockMembers(**FACTS, bytes="size"), members)
    assert (run.stacks, filled) == ({}, [])
    words[BLOCK] = BASE
    run._fill_stack_of_new_task(BLOCK, TaskControlBlockMembers(**FACTS, bytes="size"), members)
    assert run.stacks == {BLOCK: _StackAddressRange(f"task {BLOCK:#x}", BASE, BASE + 256)}
    assert [(address, len(data)) for address, data in filled] == [(BASE, 2)]


WORDS = {"pool_free": 24, "pool_used": 40}


def pool(symbols: dict[str, int], **facts: str) -> tuple[int | None, int, str, bool]:
    """`symbols`: name -> size of each that the image has."""
    run: Any = object.__new__(_StackObserver)
    places = {name: 4 * index for index, name in enumerate(symbols, 1)}
    held = {places[name]: value for name, value in WORDS.items() if name in places}
    run.machine = SimpleNamespace(
        symbols=lambda: [(places[name], size, name) for name, size in symbols.items()],
        symbol=places.get,
        read=lambda address, count: held[address].to_bytes(count, "little"),
    )
    run.kernel = SimpleNamespace(memory=KernelMemory(pool_symbol="heap", **facts))
    return run._read_kernel_memory_pool_use()  # type: ignore[no-any-return]


def test_memory_allocated_from_the_pool() -> None:
    free, used = {"pool_free_symbol": "pool_free"}, {"pool_used_symbol": "pool_used"}
    assert pool({"heap": 100, "pool_free": 4}, **free) == (76, 100, "", True)
    assert pool({"heap": 100, "pool_used": 4}, **used) == (40, 100, "", True)


def test_unknown_pool_is_not_shown_as_empty() -> None:
    why = "the image has no heap, which pool_symbol in its kernel.toml names"
    assert pool({"arena": 100, "pool_free": 4}, pool_free_symbol="pool_free") == (None, 0, why, False)
    assert pool({"heap": 100}) == (None, 0, "no variable of the image contains how much of heap is used", True)
