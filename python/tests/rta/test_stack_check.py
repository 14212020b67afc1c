"""A stack that runs over is named as the cause, not what the kernel does after it."""

import re
from collections import Counter
from pathlib import Path

import pytest

from rtoslab.base.errors import TaskSetCheckError
from rtoslab.base.paths import find_checkout_root
from rtoslab.catalogue.catalogue import Catalogue
from rtoslab.rta.firmware import build_task_set_firmware
from rtoslab.rta.rows import TaskReleaseObjectKind, TaskRow
from rtoslab.rta.stack_check import count_overflowed_stacks
from rtoslab.rta.trace import run_task_set
from rtoslab.rta.training import rows_with_task_release

UNOPTIMISED = {"opt": "-O0", "configUSE_TIME_SLICING": "1"}
ROWS = [TaskRow(2, 0, 831, 2, 1, core=0), TaskRow(1, 0, 831, 2, 0, core=1), TaskRow(48, 2, 91665, 0, 2, core=0)]
TICKS = 2 * 48 + 2


def test_stack_overflow_is_detected_by_a_changed_end() -> None:
    assert count_overflowed_stacks({1: b"a", 2: b"b"}, {1: b"a", 2: b"b"}) == 0
    assert count_overflowed_stacks({1: b"a", 2: b"b"}, {1: b"a", 2: b"c"}) == 1


@pytest.mark.parametrize("events", ["0", "1"])
def test_unoptimised_tasks_of_two_cores_have_the_stack_they_need(events: str) -> None:
    """FreeRTOS for two cores nests deeper at -O0 than at any other level: 300 of 240 bytes."""
    config = {**UNOPTIMISED, "param.events": events}
    firmware = build_task_set_firmware(Catalogue(find_checkout_root()), "freertos", "pico", config, cores=2)
    trace = run_task_set(firmware, ROWS, TICKS)
    assert {job.task for job in trace.jobs} == {0, 1, 2}


@pytest.mark.parametrize("board", ["nucleo-f446re", "pico"])
def test_unoptimised_tasks_that_release_each_other_have_the_stack_they_need(board: str) -> None:
    """With 240 bytes, a task that sends a message overwrites other memory."""
    firmware = build_task_set_firmware(Catalogue(find_checkout_root()), "freertos", board, {"opt": "-O0"}, events=3)
    rows = [TaskRow(2, 0, 300, 0, 4, is_timer=True), *(TaskRow(4, 0, 400, 0, at) for at in range(3))]
    for sender in range(3):
        rows = rows_with_task_release(rows, sender, sender + 1, TaskReleaseObjectKind.MESSAGE)
    trace = run_task_set(firmware, rows, TICKS)
    ended = Counter(job.task for job in trace.jobs)
    assert sorted(ended) == [0, 1, 2, 3]
    assert max(ended.values()) - min(ended.values()) <= 1


@pytest.mark.long
def test_overflowing_stack_is_reported(checkout: Path) -> None:
    """The stack of other configurations is too small for this one."""
    declaration = checkout / "firmware/benchmarks/table_of_tasks/benchmark.toml"
    text, changed = re.subn(r"\[\[stack\]\]\ncores = 2\nopt = \"-O0\"\nbytes = \d+\n", "", declaration.read_text())
    assert changed == 1
    declaration.write_text(text)
    firmware = build_task_set_firmware(Catalogue(checkout), "freertos", "pico", UNOPTIMISED, cores=2)
    with pytest.raises(TaskSetCheckError, match=r"stacks? overflowed: .* --config opt=-O2"):
        run_task_set(firmware, ROWS, TICKS)
