"""Examples with published answers."""

import pytest

from rtoslab.rta.analysis import compute_response_time_bounds
from rtoslab.rta.charges import KernelOverheadAccountingModel
from rtoslab.rta.sensitivity import find_wcet_sensitivity
from rtoslab.rta.system import IntegerTimeTaskSet
from tests.rta.systems import rate_monotonic, task


def response_bounds(system: IntegerTimeTaskSet) -> list[int | None]:
    return [bound.response for bound in compute_response_time_bounds(system).tasks]


# Burns and Wellings, Real-Time Systems and Programming Languages, chapter 11: three sets, (wcet, period) and responses.
# The first misses one deadline, the second is full, the third shows the iteration.
BURNS_WELLINGS = [
    ([(12, 50), (10, 40), (10, 30)], [52, 20, 10]),
    ([(40, 80), (10, 40), (5, 20)], [80, 15, 5]),
    ([(3, 7), (3, 12), (5, 20)], [3, 6, 20]),
]


@pytest.mark.parametrize(("pairs", "published"), BURNS_WELLINGS)
def test_burns_and_wellings_example(pairs: list[tuple[int, int]], published: list[int]) -> None:
    """The iteration of Joseph and Pandya (1986), Audsley et al. (1993)."""
    system = rate_monotonic(*pairs)
    assert response_bounds(system) == published
    assert [bound.is_deadline_met for bound in compute_response_time_bounds(system).tasks] == [
        response <= period for response, (_, period) in zip(published, pairs, strict=True)
    ]


def test_lehoczky_example_with_arbitrary_deadlines() -> None:
    """Lehoczky (1990): responses of the seven jobs in the busy period 114 102 116 104 118 106 94."""
    system = IntegerTimeTaskSet((task("A", 70, 26, 2), task("B", 100, 62, 1, deadline=118)))
    assert response_bounds(system) == [26, 118]
    assert compute_response_time_bounds(system).is_schedulable


def test_liu_and_layland_example_with_two_tasks() -> None:
    """Liu and Layland (1973), section 4: periods 2 and 5, both run 1. C2 can grow to 2 and no further, unless
    priorities are turned round: then neither can be more than 1."""
    by_rate = find_wcet_sensitivity(rate_monotonic((1, 2), (1, 5)), None, KernelOverheadAccountingModel.NO_OVERHEAD)
    assert by_rate.growth["B"] == 1
    turned = find_wcet_sensitivity(
        IntegerTimeTaskSet((task("A", 2, 1, 1), task("B", 5, 1, 2))), None, KernelOverheadAccountingModel.NO_OVERHEAD
    )
    assert turned.growth == {"A": 0, "B": 0}


@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_liu_and_layland_bound(count: int) -> None:
    """At n (2^(1/n) - 1) with the worst periods, T_i = 2^(i/n), all is met and nothing is left."""
    scale = 1_000_000_000
    periods = [int(scale * 2 ** (index / count)) for index in range(count)]
    wcets = [later - earlier for earlier, later in zip(periods, [*periods[1:], 2 * periods[0]], strict=True)]
    system = rate_monotonic(*zip(wcets, periods, strict=True))
    assert compute_response_time_bounds(system).is_schedulable
    assert abs(sum(task.wcet / task.period for task in system.tasks) - count * (2 ** (1 / count) - 1)) < 1e-6
    assert float(
        find_wcet_sensitivity(system, None, KernelOverheadAccountingModel.NO_OVERHEAD).factor
    ) == pytest.approx(1.0, abs=1e-3)


def test_harmonic_periods_fill_the_processor() -> None:
    system = rate_monotonic((1, 2), (1, 4), (2, 8))
    assert response_bounds(system) == [1, 2, 8]
    assert compute_response_time_bounds(system).is_schedulable


def test_priority_inheritance_and_ceiling() -> None:
    """Sha, Rajkumar and Lehoczky (1990): by inheritance every less urgent task blocks once, by ceiling only one."""
    tasks = (
        task("high", 100, 10, 3, sections=(("one", 2), ("two", 2))),
        task("middle", 200, 20, 2, sections=(("one", 7),)),
        task("low", 400, 40, 1, sections=(("two", 5),)),
    )
    assert (
        compute_response_time_bounds(IntegerTimeTaskSet(tasks, protocol="inheritance"))
        .find_response_bound("high")
        .response
        == 10 + 7 + 5
    )
    assert (
        compute_response_time_bounds(IntegerTimeTaskSet(tasks, protocol="ceiling")).find_response_bound("high").response
        == 10 + 7
    )
    assert (
        compute_response_time_bounds(IntegerTimeTaskSet(tasks, protocol="immediate_ceiling"))
        .find_response_bound("high")
        .response
        == 10 + 7
    )
    assert (
        compute_response_time_bounds(IntegerTimeTaskSet(tasks, protocol="ceiling"))
        .find_response_bound("middle")
        .response
        == 20 + 10 + 5
    )
    assert compute_response_time_bounds(IntegerTimeTaskSet(tasks)).find_response_bound("low").response == 40 + 20 + 10


def test_tindell_example_with_jitter() -> None:
    """Audsley et al. (1993): jitter of a more urgent task lets its jobs come closer together, one's own adds to it."""
    above = task("above", 10, 3, 2, jitter=4)
    system = IntegerTimeTaskSet((above, task("below", 40, 7, 1, jitter=5)))
    assert response_bounds(system) == [3 + 4, 5 + 7 + 3 * 2]
