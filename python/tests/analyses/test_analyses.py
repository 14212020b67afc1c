"""Arithmetic over verified points, against figures worked out by hand."""

import pytest

from rtoslab.analyses.axis_values import select_values_by_coordinates, values_of_points
from rtoslab.analyses.counts_per_second import counts_per_second_of_point, multicore_throughput_gains
from rtoslab.analyses.cycles import cycle_use_of_cores, functions_with_most_cycles, lock_wait_cycles, spinlock_costs
from rtoslab.analyses.heap_fragmentation import most_fragmented_heap
from rtoslab.analyses.instrument_overhead import empty_measurement_overheads, measurement_window_lengths
from rtoslab.analyses.series import distinct_point_names, task_pinning_sentence
from rtoslab.catalogue.kernel_facts import Kernel
from rtoslab.results import SleepCyclesDuringLockWait
from rtoslab.targets.observe import BlockingCalls
from rtoslab.targets.profiles import (
    FunctionCycles,
    compiler_clone_addresses,
    count_blocking_calls,
    count_service_calls,
    cycles_by_function,
)
from tests.fakes import measured_point, point


def test_throughput_is_counts_over_the_window() -> None:
    rate = counts_per_second_of_point(measured_point(2, 1000))
    assert rate.total_hz == 8000
    assert rate.per_core_hz == {0: 4000, 1: 4000}
    assert rate.cycles_per_count == 31250
    assert rate.fairness == pytest.approx(1)


def test_fairness_is_lowest_if_one_core_does_all_work() -> None:
    uneven = measured_point(2, 1000)
    counters = (uneven.counters[0], uneven.counters[1].model_copy(update={"count": 0}))
    assert counts_per_second_of_point(uneven.model_copy(update={"counters": counters})).fairness == pytest.approx(0.5)


def test_gain_pairs_points_that_differ_only_in_cores() -> None:
    (gain,) = multicore_throughput_gains(
        [measured_point(1, 1000), measured_point(2, 800), measured_point(2, 5, benchmark_id="t9")]
    )
    assert gain.speedup_over_single_core == pytest.approx(1.6)
    assert gain.parallel_efficiency_per_core == pytest.approx(0.8)


def test_pinned_and_unpinned_points_pair_with_the_same_single_core_point() -> None:
    one, two = measured_point(1, 1000), measured_point(2, 800)
    free = two.model_copy(update={"point": two.point.model_copy(update={"config": {"param.pinned": "0"}})})
    assert [gain.many_cores.point for gain in multicore_throughput_gains([one, two, free])] == [two, free]
    points = [one.point, two.point, free.point]
    assert distinct_point_names(points) == ["1 core", "2 cores (pinned)", "2 cores (not pinned)"]
    single = [point_id.model_copy(update={"cores": 1}) for point_id in points]
    assert distinct_point_names(single) == ["1 core", "1 core", "1 core, pinned=0"], (
        "a table's rows, whose columns are cores"
    )
    assert task_pinning_sentence([one.point]) == ""
    assert "each task is pinned" in task_pinning_sentence([one.point, two.point])
    assert "not pinned" in task_pinning_sentence([free.point])
    assert "where the configuration says pinned=0" in task_pinning_sentence(points)
    where = {"pinning": "not pinned", "metric": "throughput", "stat": "total"}
    assert [value.run_id for value in select_values_by_coordinates(values_of_points([one, two, free]), where)] == [
        free.run_id
    ]


def test_cycles_add_up_to_the_window() -> None:
    for share in cycle_use_of_cores(measured_point(2, wait=3_000_000)):
        assert sum(share.parts.values()) == share.cycles
        assert share.parts["application"] == 10_000_000
        assert share.parts["spinlock wait"] == 3_000_000
        assert share.parts["kernel"] == 20_000_000 - 500_000 - 3_000_000
        assert share.parts["flash wait"] == 100_000
        assert share.parts["bus wait"] == 400_000
        assert share.parts["other"] == 0


def test_sleep_while_waiting_for_a_lock_is_not_idle_time() -> None:
    point = measured_point(2, wait=3_000_000)
    assert point.virtual is not None
    asleep = point.virtual.cores[1].sleep_cycles
    message = point.virtual.model_copy(update={"lock_sleeps": (SleepCyclesDuringLockWait(core=1, cycles=asleep),)})
    one, other = cycle_use_of_cores(point.model_copy(update={"virtual": message}))
    assert (one.parts["asleep for a lock"], one.parts["sleep"]) == (0, asleep)
    assert (other.parts["asleep for a lock"], other.parts["sleep"]) == (asleep, 0)
    assert asleep > 0
    assert lock_wait_cycles(other.parts) == 3_000_000 + asleep
    assert sum(other.parts.values()) == other.cycles


def test_lock_costs_are_per_count_and_per_acquisition() -> None:
    first = spinlock_costs(measured_point(2, 1000, wait=3_000_000))[0]
    assert first.wait_cycles_per_count == 3000
    assert first.contended_part == 0.5
    assert first.hold_cycles_mean == 50


def test_top_functions_merge_cores_and_exclude_the_application() -> None:
    (top,) = functions_with_most_cycles(measured_point(2), 5)
    assert (top.name, top.cycles, top.entries) == ("xQueueSend", 40_000_000, 2000)


def test_empty_measurements_keep_their_spread() -> None:
    (cost,) = empty_measurement_overheads(measured_point())
    assert (cost.minimum, cost.median, cost.maximum, cost.maximum_at, cost.count) == (1407, 1407, 1500, 0, 3)


def test_probe_effect_compares_two_instruments() -> None:
    effect = measurement_window_lengths(measured_point())
    assert effect is not None
    assert effect.difference_us == 0
    assert effect.loop_cycles_per_count == pytest.approx(14.07)


def test_series_names_contain_only_what_differs() -> None:
    assert distinct_point_names([point(1), point(2)]) == ["1 core", "2 cores (pinned)"]
    other = point(1).model_copy(update={"config": {"opt": "-O3"}})
    assert distinct_point_names([point(1), other]) == ["1 core", "1 core, opt=-O3"]


def test_series_names_contain_parameters_that_differ() -> None:
    own = [point(2, "stress").model_copy(update={"config": {"param.seed": "1", "param.s": item}}) for item in "01"]
    assert distinct_point_names([point(2), *own]) == [
        "2 cores (pinned)",
        "2 cores (pinned), s=0",
        "2 cores (pinned), s=1",
    ]


KERNEL = Kernel.model_validate({
    "id": "k", "title": "K", "version": "1", "smp": False, "services": {}, "symbols": {"send": ["xSend"]},
    "classes": {"queue": ["xSend"], "kernel": ["x"]},
})  # fmt: skip


def profile(*rows: tuple[int, int, int, int]) -> bytes:
    return b"".join(
        address.to_bytes(4, "little") + bytes(4) + b"".join(value.to_bytes(8, "little") for value in rest)
        for address, *rest in rows
    )


def test_profile_assigns_functions_to_classes() -> None:
    symbols = [(0x100, 8, "xSend"), (0x108, 8, "xOther"), (0x110, 0, "body"), (0x200, 4, "memcpy")]
    raw = profile((0x100, 10, 2, 1), (0x104, 30, 6, 0), (0x10A, 5, 1, 0), (0x118, 7, 7, 0), (0x202, 1, 1, 0))
    assert cycles_by_function({0: raw}, symbols, KERNEL) == (
        FunctionCycles(0, "xSend", "queue", 40, 1, 2, 8),
        FunctionCycles(0, "body", "application", 7, 0, 0, 7),
        FunctionCycles(0, "xOther", "kernel", 5, 0, 0, 1),
        FunctionCycles(0, "memcpy", "library", 1, 0, 0, 1),
    )


def test_compiler_clone_counts_only_if_its_function_never_ran() -> None:
    whole = FunctionCycles(0, "xSend", "queue", 1, 0, 5)
    clone = FunctionCycles(0, "xSend.part.0", "queue", 1, 0, 3)
    assert count_service_calls((whole, clone), KERNEL) == {(0, "send"): 5}
    assert count_service_calls((clone,), KERNEL) == {(0, "send"): 3}
    symbols = [(0x101, 8, "xSend.part.0"), (0x201, 8, "xSend.constprop.0"), (0x301, 8, "xSendElse"), (0x401, 8, "x")]
    assert compiler_clone_addresses("xSend", symbols) == [0x100, 0x200], "which are watched where there is no xSend"


def test_lock_waits_are_counted_at_the_kernels_functions() -> None:
    functions = (FunctionCycles(0, "xSend", "queue", 1, 0, 5), FunctionCycles(1, "xLate", "kernel", 1, 0, 2))
    assert count_blocking_calls(functions, KERNEL, [0, 1]) == {}
    telling = {"waits": {"collided": ["xSend"], "failed": ["xSend", "xLate"], "blocked": ["xLate"]}}
    kernel = Kernel.model_validate({**KERNEL.model_dump(), **telling})
    assert count_blocking_calls(functions, kernel, [0, 1]) == {0: BlockingCalls(5, 5, 0), 1: BlockingCalls(0, 2, 2)}


def test_only_cores_of_the_metric_count() -> None:
    target = measured_point(2, 1000).model_copy(update={"metric_cores": (0,)})
    rate = counts_per_second_of_point(target)
    assert (rate.total_hz, rate.per_core_hz, rate.cycles_per_count) == (4000, {0: 4000}, 31250)


def test_fragmentation_is_free_memory_outside_the_largest_block() -> None:
    message = {"heap_live_bytes": 900, "heap_free_bytes": 4000, "heap_largest_free_bytes": 3000, "heap_free_pieces": 5}
    point = measured_point().model_copy(update={"checks": {name: {0: value} for name, value in message.items()}})
    left = most_fragmented_heap(point)
    assert left is not None
    assert (left.live_bytes, left.free_pieces, left.unusable_memory_share) == (900, 5, 0.25)
    full = {**point.checks, "heap_free_bytes": {0: 0}, "heap_largest_free_bytes": {0: 0}}
    nothing = most_fragmented_heap(point.model_copy(update={"checks": full}))
    assert nothing is not None
    assert nothing.unusable_memory_share == 0
    assert most_fragmented_heap(measured_point()) is None
