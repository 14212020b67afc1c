"""Tasks for a debugger: found in the lists of each kernel, named, with the registers of their frames."""

from pathlib import Path
from typing import Any

import pytest

from rtoslab.base import find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.catalogue.catalogue import TASKS_FILE
from rtoslab.instruments import KernelTaskLister
from rtoslab.instruments.saved_registers import SuspendedTaskStack, registers_from_saved_frame
from rtoslab.targets import make_board_at_reset
from tests.instruments.laid_kernels import KERNELS, build

CATALOGUE = Catalogue(find_checkout_root())
BOARD = CATALOGUE.find_board("nucleo-f446re").facts
CODE = 0x0800_0100
CORE = [0x100, 0x101, 0x102, 0x103, 0x112, 0x0800_0201, CODE, 0x0100_0000]
LOW_TO_HIGH = list(range(0x44, 0x4C))


def tasks_of(image: Path) -> dict[str, tuple[int | None, dict[str, int]]]:
    machine: Any = make_board_at_reset(BOARD, cores=1)
    machine.load(image.read_bytes(), image.name)
    # Data with values is where it is linked; `reset` sets the rest.
    machine.run(2_000)
    tasks = KernelTaskLister(CATALOGUE, image, BOARD.cpu, 1)
    return {
        about: (core, dict(registers)) for _, about, core, registers in tasks.list_tasks_at_snapshot(machine.snapshot())
    }


@pytest.mark.parametrize("kernel", KERNELS)
def test_tasks_of_a_kernel_have_names_and_registers(kernel: str, tmp_path: Path) -> None:
    found = tasks_of(build(tmp_path, kernel))
    names = {about.split(" ")[0]: entry for about, entry in found.items()}
    assert list(names) == ["alpha", *sorted(names.keys() - {"alpha"}, key=list(names).index)]
    assert names.keys() == {"alpha", "beta", "gamma"}, found
    assert names["alpha"] == (0, {})
    core, registers = names["beta"]
    assert core is None
    expected = {"r0": 0x100, "r3": 0x103, "r12": 0x112, **{f"r{number}": 0x40 + number for number in range(4, 12)}}
    assert {name: registers[name] for name in expected} == expected
    assert registers["lr"] == registers["pc"] | 1
    if "s16" in registers:
        assert (registers["s16"], registers["s31"]) == (0x200, 0x20F)
    assert names["gamma"] == (None, {}), "a frame that cannot be one"


@pytest.mark.parametrize("lacks", ["", 'lacks = ["queue"]', 'absent = ["tx_thread_create"]'])
def test_a_tree_named_like_its_port_leaves_the_kernel_known(
    lacks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RTOSLAB_TREES", str(tmp_path))
    image = build(tmp_path, "threadx")
    description = f'id = "threadx"\nport = "threadx"\npath = "/nowhere"\nversion = "6.4.2"\n{lacks}\n'
    (tmp_path / "threadx.toml").write_text(description)
    catalogue = Catalogue(find_checkout_root())
    assert catalogue.kernels["threadx"].tree is not None
    assert KernelTaskLister(catalogue, image, BOARD.cpu, 1).kernel_name == "ThreadX"


def test_task_description(tmp_path: Path) -> None:
    found = tasks_of(build(tmp_path, "rtx"))
    assert set(found) == {"alpha [running, priority 24]", "gamma [ready, priority 0]", "beta [blocked, priority -4]"}


def test_every_port_with_tasks_has_a_tasks_toml() -> None:
    ours = [entry for entry in CATALOGUE.kernels.values() if entry.facts.memory and entry.facts.memory.task_block]
    lacking = [entry.id for entry in ours if entry.tree is None and not (entry.folder / TASKS_FILE).is_file()]
    assert lacking == []
    assert all(CATALOGUE.find_kernel_tasks(entry.id).frames for entry in ours)
    assert CATALOGUE.find_kernel_tasks("bare").frames == ()


def words(at: int, values: list[int]) -> dict[int, int]:
    return {at + 4 * place: value for place, value in enumerate(values)}


def read(values: list[int], frames: list[str], exc_return: int | None = None, top: int = 4096) -> dict[str, int]:
    memory = words(1024, values)
    return registers_from_saved_frame(
        SuspendedTaskStack(1024, range(1000, top), exc_return), frames, memory.get, lambda at: at == CODE
    )


FLOATS = list(range(0x200, 0x210))
WITH_FLOATS = [*CORE, *range(0x300, 0x310), 0x700, 0]


@pytest.mark.parametrize(
    ("values", "frame", "has_floats", "exc_return"),
    [
        ([*LOW_TO_HIGH, *CORE], "r4-r11", False, None),
        ([*LOW_TO_HIGH, 0xFFFF_FFFD, *CORE], "r4-r11 exc float", False, None),
        ([*LOW_TO_HIGH, 0xFFFF_FFED, *FLOATS, *WITH_FLOATS], "r4-r11 exc float", True, None),
        ([0xFFFF_FFFD, *LOW_TO_HIGH[4:], *LOW_TO_HIGH[:4], *CORE], "exc r8-r11 r4-r7", False, None),
        ([0, *LOW_TO_HIGH, *CORE], "flag r4-r11 float", False, None),
        ([1, *LOW_TO_HIGH, *FLOATS, *WITH_FLOATS], "flag r4-r11 float", True, None),
        ([*FLOATS, *LOW_TO_HIGH, *WITH_FLOATS], "float r4-r11", True, 0xFFFF_FFED),
        ([*LOW_TO_HIGH, *CORE], "float r4-r11", False, 0xFFFF_FFFD),
        ([*FLOATS, *LOW_TO_HIGH, 0xFFFF_FFED, *WITH_FLOATS], "s16-s31 r4-r11 exc", True, None),
        ([9, 9, *LOW_TO_HIGH, *CORE], "skip skip r4-r11", False, None),
    ],
)
def test_saved_frames_of_tasks(values: list[int], frame: str, has_floats: bool, exc_return: int | None) -> None:
    registers = read(values, [frame], exc_return)
    assert [registers[f"r{number}"] for number in range(4, 12)] == LOW_TO_HIGH
    assert (registers["pc"], registers["sp"]) == (CODE, 1024 + 4 * len(values))
    assert ("s16" in registers, "s0" in registers) == (has_floats, has_floats)


def test_padding_above_the_frame_belongs_to_it() -> None:
    registers = read([*LOW_TO_HIGH, *CORE[:-1], 0x0100_0200, 0], ["r4-r11"])
    assert (registers["sp"], registers["xpsr"]) == (1024 + 68, 0x0100_0000)


def test_task_that_a_function_has_left_continues_where_it_returns() -> None:
    layout = ["r8-r11 r4-r7 return"]
    registers = read([*range(0x88, 0x8C), *range(0x44, 0x48), CODE | 1, 7], layout)
    assert (registers["r8"], registers["r11"], registers["r4"], registers["r7"]) == (0x88, 0x8B, 0x44, 0x47)
    assert (registers["pc"], registers["lr"], registers["sp"]) == (CODE, CODE | 1, 1024 + 9 * 4)
    assert read([*LOW_TO_HIGH, CODE], layout) == {}, "no Thumb address"
    assert read([*LOW_TO_HIGH, CODE + 0x11], layout) == {}, "no code"
    assert read(LOW_TO_HIGH, layout) == {}, "the memory ends"


def test_matching_frame_is_used_and_otherwise_none() -> None:
    both = ["r4-r11 exc float", "r4-r11"]
    assert read([*LOW_TO_HIGH, *CORE], both)["pc"] == CODE
    assert read([*LOW_TO_HIGH, 0xFFFF_FFFD, *CORE], both)["pc"] == CODE
    assert read([*LOW_TO_HIGH, *CORE[:-1], 0], both) == {}, "no Thumb bit"
    assert read([*LOW_TO_HIGH, *CORE[:-1], 0x0100_000B], both) == {}, "in a handler"
    assert read([*LOW_TO_HIGH, *CORE[:6], CODE + 2, CORE[7]], both) == {}, "no code"
    assert read([*LOW_TO_HIGH, *CORE], both, top=1040) == {}, "beyond its stack"
    assert read([*LOW_TO_HIGH, *CORE[:3]], both) == {}, "no memory"
    assert read([2, *LOW_TO_HIGH, *CORE], ["flag r4-r11 float"]) == {}, "no flag"
