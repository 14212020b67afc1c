"""Detectors on histories that are written by hand: what is periodic, what is a lock, what runs twice."""

from typing import Any, cast

import pytest

from rtoslab.diagnose.diagnosis_limits import Limits
from rtoslab.diagnose.interrupt_arrivals import find_periodic_times
from rtoslab.diagnose.kernel_services import ImageKernelServiceFunction
from rtoslab.diagnose.lock_holders import find_task_locks
from rtoslab.diagnose.lost_wakeups import find_lost_wakeups
from rtoslab.diagnose.named_places import RunNameFinder
from rtoslab.diagnose.repeated_handlers import find_repeated_handlers
from rtoslab.diagnose.task_history import HandlerExecution, KernelCall, TaskExecutionHistory, TaskRunInterval
from rtoslab.targets import SYSTICK

LINE = 44
LIMITS = Limits()


def handlers(times: list[int], exception: int = LINE) -> list[HandlerExecution]:
    return [HandlerExecution(0, exception, time + 12, 12, end=time + 40, ended=True) for time in times]


def test_lateness_is_relative_to_the_earliest_arrival_of_the_period() -> None:
    times = [1000 * number for number in range(20)]
    times[7] += 150
    grid = find_periodic_times(LINE, handlers(times))
    assert grid is not None
    assert grid.period == 1000
    assert grid.lateness.tolist() == [150 if number == 7 else 0 for number in range(20)]


def test_skipped_period_counts_as_two_steps() -> None:
    times = [1000 * number for number in range(20) if number != 9]
    grid = find_periodic_times(LINE, handlers(times))
    assert grid is not None
    assert grid.numbers.tolist() == [number for number in range(20) if number != 9]


def test_interrupt_is_late_and_never_early() -> None:
    """One that comes just before the next is due belongs to the place before."""
    times = [1000 * number for number in range(20)]
    times[7] += 900
    grid = find_periodic_times(LINE, handlers(times))
    assert grid is not None
    assert grid.lateness.tolist() == [900 if number == 7 else 0 for number in range(20)]


def test_interrupts_of_an_earlier_setting_of_the_timer_are_not_late() -> None:
    """Firmware often starts a timer, changes its clock, and starts the timer again."""
    again = [2300 + 1000 * number for number in range(20)]
    grid = find_periodic_times(LINE, handlers([100, 900, *again]))
    assert grid is not None
    assert (grid.runs[0].start, len(grid.runs)) == (again[0] + 12, 20)
    assert not grid.lateness.any()
    assert not (grid.numbers - grid.numbers[0] - list(range(20))).any()


def test_bursts_are_not_a_period() -> None:
    bursts = [84_000 * burst + 170 * number for burst in range(10) for number in range(6)]
    assert find_periodic_times(LINE, handlers(bursts)) is None


def test_few_interrupts_are_not_a_period() -> None:
    assert find_periodic_times(LINE, handlers([0, 1000, 2000])) is None


def test_many_late_interrupts_do_not_change_a_known_period() -> None:
    late = [84_000 * number + (21_000 if number % 4 == 3 else 0) for number in range(40)]
    assert find_periodic_times(15, handlers(late, 15), 84_000) is not None
    assert find_periodic_times(LINE, handlers(late)) is None


TAKE = ImageKernelServiceFunction("take", 0x100, frozenset({"semaphore_take"}), 0xFFFF_FFFF, has_third=False, success=1)
GIVE = ImageKernelServiceFunction("give", 0x200, frozenset({"semaphore_give"}), None, has_third=False, success=1)
GIVE_FROM_ISR = ImageKernelServiceFunction(
    "give_isr", 0x300, frozenset({"semaphore_give_from_isr"}), None, has_third=False, success=1
)
LOCK = ImageKernelServiceFunction("lock", 0x400, frozenset({"mutex_lock"}), None, has_third=False, success=None)
UNLOCK = ImageKernelServiceFunction("unlock", 0x500, frozenset({"mutex_unlock"}), None, has_third=False, success=None)
THE_OBJECT = 0x2000_0000


def call(task: int | None, service: ImageKernelServiceFunction, start: int) -> KernelCall:
    return KernelCall(task, 0, service, start, THE_OBJECT, end=start + 10, ended=True, returned=1, timeout=0xFFFF_FFFF)


def history(*calls: KernelCall) -> TaskExecutionHistory:
    return TaskExecutionHistory(0, 10_000, 1_000_000, runs={1: [TaskRunInterval(0, 0, 10_000)]}, calls=list(calls))


def test_semaphore_given_by_its_taker_is_a_lock() -> None:
    locks = find_task_locks(history(call(1, TAKE, 100), call(1, GIVE, 200), call(2, TAKE, 300), call(2, GIVE, 400)))
    held = [(holding.task, holding.start, holding.end) for holding in locks[THE_OBJECT].holdings]
    assert held == [(1, 110, 200), (2, 310, 400)]
    holder = locks[THE_OBJECT].find_lock_holding_at_cycle(150)
    assert holder is not None
    assert holder.task == 1
    assert locks[THE_OBJECT].find_lock_holding_at_cycle(250) is None


@pytest.mark.parametrize(
    "calls",
    [
        [call(1, TAKE, 100), call(2, GIVE, 200)],
        [call(1, GIVE, 100), call(1, TAKE, 200)],
        [call(1, TAKE, 100), call(None, GIVE_FROM_ISR, 200)],
        [call(1, TAKE, 100), call(2, TAKE, 200), call(1, GIVE, 300), call(2, GIVE, 400)],
    ],
    ids=["another task gives", "given first", "a handler gives", "two hold it"],
)
def test_signalling_or_counting_semaphore_is_not_a_lock(calls: list[KernelCall]) -> None:
    assert find_task_locks(history(*calls)) == {}


def test_mutex_is_held_until_its_last_unlock() -> None:
    steps = [call(1, LOCK, 100), call(1, LOCK, 200), call(1, UNLOCK, 300), call(1, UNLOCK, 400)]
    (holding,) = find_task_locks(history(*steps))[THE_OBJECT].holdings
    assert (holding.start, holding.end) == (110, 400)


class NoNames:
    """Names for a history without an image."""

    class Replay:
        class Machine:
            def registers(self, _: int) -> dict[str, int]:
                return {"vtor": 0}

        machine = Machine()

        def read_word(self, _: int) -> int:
            return 0x101

    replay = Replay()

    def handler_name(self, _: int, exception: int) -> str:
        return f"exception {exception}"

    def source_line(self, address: int) -> str:
        return f"{address:#x}"

    def task_name(self, task: int | None) -> str:
        return f"task {task}"

    def application_call_site_text(self, call: KernelCall) -> str:
        return f"{call.start}"


SUSPEND = ImageKernelServiceFunction("suspend", 0x600, frozenset({"suspend_self"}), None, has_third=False, success=None)
RESUME = ImageKernelServiceFunction("resume", 0x700, frozenset({"resume"}), None, has_third=False, success=None)


@pytest.mark.parametrize(
    ("runs", "returns", "is_found"),
    [
        ([TaskRunInterval(0, 0, 315, ended=True)], False, True),
        ([TaskRunInterval(0, 0, 315, ended=True)], True, True),
        ([TaskRunInterval(0, 0, 315, ended=True), TaskRunInterval(0, 400, 500, ended=True)], True, False),
        ([TaskRunInterval(0, 0, 10_000)], True, False),
    ],
    ids=["the call never returns", "the scheduler is called behind it", "the task runs again", "the task runs on"],
)
def test_a_resume_before_the_last_suspension_is_lost(
    runs: list[TaskRunInterval], returns: bool, is_found: bool
) -> None:
    resume, suspend = (KernelCall(by, 0, service, at, 1) for by, service, at in ((2, RESUME, 200), (1, SUSPEND, 300)))
    suspend.ended, suspend.end = returns, 310
    result = find_lost_wakeups(
        TaskExecutionHistory(0, 10_000, 1_000_000, runs={1: runs}, calls=[resume, suspend]),
        cast("RunNameFinder", NoNames()),
    )
    assert [finding.kind for finding in result] == ["lost wake-up"] * is_found


def finding_kinds(chains: list[int]) -> list[Any]:
    """The kinds of findings about a line whose handler runs so often in a row for each request."""
    runs: list[HandlerExecution] = []
    for number, length in enumerate(chains):
        for turn in range(length):
            start = 10_000 * number + 40 * turn
            runs.append(HandlerExecution(0, LINE, start, 12, end=start + 30, ended=True, follows=turn > 0))
    result = find_repeated_handlers(
        TaskExecutionHistory(0, 10_000 * len(chains), 1_000_000, handlers=runs),
        cast("RunNameFinder", NoNames()),
        LIMITS,
    )
    return [(finding.kind, finding.count) for finding in result]


def test_handler_that_runs_twice_each_time_is_found() -> None:
    assert finding_kinds([2] * 10) == [("repeated handler", 10)]


def test_occasional_double_requests_are_not_reported() -> None:
    assert finding_kinds([1, 2, 1, 1, 3, 1, 2, 1]) == []
    assert finding_kinds([1] * 10) == []


def test_handler_that_never_ends_is_found() -> None:
    assert finding_kinds([1, 1, 150]) == [("storm", 150)]


def long_handler_findings(exceptions: list[int], gap_after: int) -> list[Any]:
    """The findings about handlers of 10 ms that follow one another, with a task instruction after every `gap_after`."""
    runs = [
        HandlerExecution(
            0, exception, 10_000 * turn, 12, end=10_000 * turn + 9_988, ended=True, follows=turn % gap_after > 0
        )
        for turn, exception in enumerate(exceptions)
    ]
    history = TaskExecutionHistory(0, 10_000 * len(exceptions), 1_000_000, handlers=runs)
    return list(find_repeated_handlers(history, cast("RunNameFinder", NoNames()), LIMITS))


def test_handler_longer_than_its_period_is_found_and_its_cause_is_named() -> None:
    (tick,) = long_handler_findings([SYSTICK] * 12, gap_after=99)
    assert (tick.kind, tick.count) == ("storm", 12)
    assert "longer than its period" in tick.title
    (line,) = long_handler_findings([LINE] * 12, gap_after=99)
    assert "does not clear its request, or takes longer" in line.title
    assert not long_handler_findings([SYSTICK] * 12, gap_after=2)


def test_handlers_that_leave_no_time_together_are_found() -> None:
    (finding,) = long_handler_findings([LINE, LINE + 1] * 8, gap_after=99)
    assert (finding.kind, finding.count) == ("storm", 16)
    assert not long_handler_findings([LINE, LINE + 1] * 8, gap_after=8)
