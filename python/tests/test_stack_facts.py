"""A task's stack and name by its control block, in the ways that kernels keep them."""

from types import SimpleNamespace
from typing import Any

import pytest

from rtoslab.catalogue import TaskBlock
from rtoslab.footprint.stacks import _Run, _Stack
from rtoslab.targets import Place

BLOCK, BASE, NAME = 0x2000_0100, 0x2000_0800, 0x0800_4000
MEMBERS = {"base": Place(0, 4), "size": Place(4, 4), "name": Place(8, 4)}
FACTS = {"type": "block", "name": "name", "stack": "base", "stack_pointer": "top"}


def stack(size: int, name: int, **facts: str) -> _Stack:
    memory = {BLOCK: BASE, BLOCK + 4: size, BLOCK + 8: name}

    def read(address: int, count: int) -> bytes:
        assert address, "nobody's name is at address 0"
        return b"blinky\0trash" if address == NAME else memory[address].to_bytes(count, "little")

    run: Any = object.__new__(_Run)
    run.machine = SimpleNamespace(read=read)
    return run._stack(BLOCK, TaskBlock(**FACTS, **facts), MEMBERS)  # type: ignore[no-any-return]


@pytest.mark.parametrize(("unit", "bytes_each"), [("bytes", 1), ("words", 4)])
def test_a_stacks_size_is_in_bytes_or_in_words(unit: str, bytes_each: int) -> None:
    assert stack(256, NAME, **{unit: "size"}) == _Stack("blinky", BASE, BASE + 256 * bytes_each)


def test_a_task_without_a_name_is_called_by_its_block() -> None:
    assert stack(256, 0, bytes="size").task == f"task {BLOCK:#x}"
