"""Chains of tasks: a bound by hand, the same chain on the board, and files that name what is not there."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from rtoslab.base.errors import TaskSetError
from rtoslab.rta.analysis import compute_response_time_bounds
from rtoslab.rta.board_check import run_and_check_task_set
from rtoslab.rta.chains import chain_latency_bound, longest_observed_chain_latency
from rtoslab.rta.randomsets import random_task_set
from rtoslab.rta.record import TaskJob, TaskSetTrace
from rtoslab.rta.system import ChainOfTasks, IntegerTimeTaskSet
from rtoslab.rta.task_set_study import study_task_set
from rtoslab.rta.taskset import read_task_set
from tests.rta.systems import task
from tests.rta.test_check_end_to_end import image_work_overheads

TASKS = "".join(
    f'[[task]]\nname = "{name}"\nperiod_ms = {period}\nwcet_us = 100\npriority = {3 - at}\n'
    for at, (name, period) in enumerate((("A", 1), ("B", 5), ("C", 10)))
)
CHAIN = '[[chain]]\nname = "through"\ntasks = ["A", "B", "C"]\ndeadline_ms = {}\n'


def test_chain_latency_adds_period_and_response_of_each_task(tmp_path: Path) -> None:
    """1 + 5 + 10 ms, and 100 + 200 + 300 us."""
    path = tmp_path / "chain.toml"
    for deadline_ms, holds in (("16.6", True), ("16.599", False)):
        path.write_text(TASKS + CHAIN.format(deadline_ms))
        result = study_task_set(read_task_set(path), None)
        (bound,) = result.task_chain_latency_bounds
        assert bound.latency is not None
        assert result.system.to_microseconds(bound.latency) == 16_600
        assert result.is_schedulable is bound.is_deadline_met is holds
    assert result.schedulability_answer_sentences() == [
        "No: the chain through may take 16,600.0 us from end to end, its deadline is 16,599.0 us."
    ]


def test_observed_chain_latency_follows_the_data() -> None:
    """A looks at 0 and at 10; what happens after 0 is in its answer of 12; B took it up at 20, not at 11: 25."""
    system = IntegerTimeTaskSet((task("A", 10, 2, 2), task("B", 9, 5, 1)), chains=(ChainOfTasks("c", ("A", "B"), 100),))
    trace = TaskSetTrace((), (), 1, 0)
    trace.jobs = [
        TaskJob(0, 0, 0, 0, 2),
        TaskJob(0, 1, 10, 10, 12),
        TaskJob(1, 0, 3, 3, 8),
        TaskJob(1, 1, 11, 11, 16),
        TaskJob(1, 2, 20, 20, 25),
    ]
    assert longest_observed_chain_latency(system.chains[0], system, trace) == 25
    trace.jobs = trace.jobs[:4]
    assert longest_observed_chain_latency(system.chains[0], system, trace) is None


def test_no_chain_on_the_board_exceeds_its_bound() -> None:
    firmware, work, overheads = image_work_overheads()
    ratios = []
    for seed in range(6):
        plain = random_task_set(Random(seed), firmware.clock_hz, firmware.tick_cycles)
        names = Random(seed).sample([item.name for item in plain.tasks], min(3, len(plain.tasks)))
        chain = ChainOfTasks("c", tuple(names), 1)
        seen = run_and_check_task_set(plain, firmware, work, 240)
        bound = chain_latency_bound(chain, plain, compute_response_time_bounds(plain, overheads)).latency
        longest = longest_observed_chain_latency(chain, plain, seen.trace)
        assert bound is not None
        assert longest is not None
        assert longest <= bound
        ratios.append(bound / longest)
    assert min(ratios) < 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[chain]]\nname = "c"\ndeadline_ms = 1\n', "chain c lists no tasks"),
        ('[[chain]]\nname = "c"\ntasks = ["A", "X"]\ndeadline_ms = 1\n', "'X' is not a task of this file"),
        ('[[chain]]\nname = "c"\ntasks = ["A", "A"]\ndeadline_ms = 1\n', "names a task twice"),
        ('[[chain]]\nname = "c"\ntasks = ["A", "B"]\n', "chain c has no deadline"),
        ('[[chain]]\ntasks = ["A", "B"]\ndeadline_ms = 1\n', "chain 1 has no name"),
        ('[[chain]]\nname = "c"\ntask = ["A", "B"]\ndeadline_ms = 1\n', "there is no key 'task'"),
    ],
)
def test_mistake_in_a_chain_is_reported(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "chain.toml"
    path.write_text(TASKS + text)
    with pytest.raises(TaskSetError, match=message):
        read_task_set(path)
