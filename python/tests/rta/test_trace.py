"""Events of a run, read: who ran before and after each handler, whenever the kernel names its task."""

import numpy as np
import pytest

from rtoslab.rta.firmware import IDENT_BEGIN, IDENT_END
from rtoslab.rta.record import IDLE
from rtoslab.rta.rows import TaskRow
from rtoslab.rta.trace import read_task_set_trace
from rtoslab.targets import (
    EVENT,
    IDENT_CURRENT,
    KIND_EXCEPTION_ENTER,
    KIND_EXCEPTION_EXIT,
    KIND_EXEC,
    KIND_WRITE,
    PENDSV,
    SYSTICK,
)

TICK = 1000
TASK, IDLE_BLOCK = 0x2000_0100, 0x2000_0900


def handler_events(exception: int, begin: int, end: int) -> list[tuple[int, int, int, int]]:
    return [(begin, 12, exception, KIND_EXCEPTION_ENTER), (end, 0, exception, KIND_EXCEPTION_EXIT)]


def current_task_event(cycle: int, block: int) -> tuple[int, int, int, int]:
    return (cycle, block, IDENT_CURRENT, KIND_WRITE)


IN_THE_SWITCH = [current_task_event(1045, TASK), current_task_event(1230, IDLE_BLOCK)]
BEFORE_IT = [current_task_event(1020, TASK), current_task_event(1210, IDLE_BLOCK)]
"""In the tick's handler and in the task that goes to sleep: the kernel names whom it chose."""


@pytest.mark.parametrize("names", [IN_THE_SWITCH, BEFORE_IT], ids=["in the switch", "before the switch"])
def test_switch_is_recorded_at_its_cycle(names: list[tuple[int, int, int, int]]) -> None:
    rows = [
        *handler_events(SYSTICK, 12, 30), current_task_event(5, IDLE_BLOCK),
        *handler_events(SYSTICK, 1012, 1030), *handler_events(PENDSV, 1036, 1050),
        (1060, 0, IDENT_BEGIN, KIND_EXEC), (1200, 0, IDENT_END, KIND_EXEC), *handler_events(PENDSV, 1220, 1240), *names,
    ]  # fmt: skip
    events = np.zeros(len(rows), dtype=EVENT)
    for at, (cycle, value, ident, kind) in enumerate(sorted(rows)):
        events[at] = (cycle, value, 0, ident, kind, 0, 0)
    trace = read_task_set_trace(events, [TaskRow(5, 0, 10, 0, 1)], TICK, 1900)
    switches = [
        (item.start, item.task_before, item.task_after)
        for item in trace.handlers
        if item.task_before != item.task_after
    ]
    assert switches == [(1036, IDLE, 0), (1220, 0, IDLE)]
    assert [(job.release, job.end) for job in trace.jobs] == [(1000, 1200)]
