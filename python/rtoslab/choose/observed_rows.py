"""Figures of a kernel on a board that no single point gives: bytes, masked interrupts, the worst over all phases."""

from collections.abc import Callable, Iterator
from typing import Final

from rtoslab.analyses import MeasuredValue
from rtoslab.base import BuildError, PlanError, RtoslabError, load_architecture_facts
from rtoslab.catalogue import Catalogue
from rtoslab.choose.compared_operations import read_compared_operations
from rtoslab.footprint import survey_service_sizes
from rtoslab.instruments import (
    ImageObservationOptions,
    find_observed_image,
    function_that_masked_interrupts,
    profile_image,
)
from rtoslab.plan import PlanOptions
from rtoslab.reference import StoredPointValues, replace_values_by_code_placement
from rtoslab.results import PointId
from rtoslab.targets import APPLICATION
from rtoslab.worst_case import (
    WINDOW_MS,
    default_interrupt_sweep_benchmark,
    find_worst_case_interrupt_latency,
    inject_interrupt_at_every_cycle,
    parse_sweep_cycle_range,
    prepare_benchmark_sweep_scenario,
    settings_for_background_service_calls,
)

EARLIER_ARRIVALS: Final = 3
"""How often an interrupt arrives before its repeated arrivals are measured. A first one fills the caches."""
Figure = tuple[str, str, float, str, int]
"""(metric, statistic, value, unit, number of observations)"""
Say = Callable[[str], None]


def value_rows_from_observed_runs(
    catalogue: Catalogue, kernel: str, board: str, version: str, *, placements: int, place_matters: bool, say: Say
) -> list[StoredPointValues]:
    """Returns those figures of a kernel on a board that no single measurement gives: bytes, masked interrupts, worst
    latencies."""
    rows = []
    for name, make in {
        "footprint": _footprint_figures,
        "masked": _longest_interrupt_masking_times,
        "worst_case": _worst_case_interrupt_latencies,
    }.items():
        say(f"{name} {kernel} {board}")
        point = PointId(benchmark=name, title=name, kernel=kernel, board=board, cores=1, window_ms=0, config={})
        is_time = place_matters and name != "footprint"
        count = placements if is_time else 1
        try:
            figures = [list(make(catalogue, point, number)) for number in range(count)]
        except RtoslabError as cause:
            rows.append(StoredPointValues(point, kernel, version, (), str(cause)))
        else:
            values = tuple(_values_with_code_placement_ranges(catalogue, point, figures))
            rows.append(StoredPointValues(point, kernel, version, values, single_placement=is_time and count == 1))
    return rows


def _values_with_code_placement_ranges(
    catalogue: Catalogue, point: PointId, figures: list[list[Figure]]
) -> Iterator[MeasuredValue]:
    """Yields each figure as one value with its range over placements. The inner lists have the figures of one placement
    each, in the same order."""
    clock_hz = catalogue.find_board(point.board).facts.clock.sys_hz
    for alike in zip(*figures, strict=True):
        metric, stat, number, unit, n = alike[0]
        value = MeasuredValue(point, "", clock_hz, {}, point.benchmark, metric, stat, number, unit, n)
        yield replace_values_by_code_placement(value, [figure[2] for figure in alike])


def _footprint_figures(catalogue: Catalogue, point: PointId, _: int) -> Iterator[Figure]:
    """Yields flash and RAM in bytes of an image that starts the kernel, and the further RAM of a task with 512 bytes of
    stack.

    No RAM is reported for a kernel with an invisible heap: its size is somebody's choice and no need of the kernel.
    """
    surveyed = survey_service_sizes(catalogue, point.kernel, point.board, programs=["minimal", "task"])
    costs = {cost.program: cost for cost in surveyed.costs}
    whole, task = costs["minimal"], costs["task"]
    yield (
        "footprint",
        "flash",
        whole.bytes_by_kind["text"] + whole.bytes_by_kind["rodata"] + whole.bytes_by_kind["data"],
        "bytes",
        1,
    )
    if whole.pool_bytes is not None or not whole.has_pool:
        yield (
            "footprint",
            "ram",
            whole.bytes_by_kind["data"] + whole.bytes_by_kind["bss"] + (whole.pool_bytes or 0),
            "bytes",
            1,
        )
    if task.not_applicable is None and task.pool_bytes is not None:
        yield "footprint", "task", task.bytes_by_kind["data"] + task.bytes_by_kind["bss"] + task.pool_bytes, "bytes", 1


def _longest_interrupt_masking_times(catalogue: Catalogue, point: PointId, placement: int) -> Iterator[Figure]:
    """Yields the longest time in cycles in which the kernel masked the least urgent interrupt, over several benchmarks.

    Sections that the benchmarks mask themselves are left out.
    """
    unseen = catalogue.find_kernel(point.kernel).facts.why_masking_not_observed
    if unseen is not None:
        raise PlanError(unseen)
    level = load_architecture_facts().interrupt_priorities(catalogue.find_board(point.board).facts.irq.priority_bits)[
        -1
    ]
    lengths = [0]
    count = 0
    for benchmark in read_compared_operations().masking:
        choice = ImageObservationOptions(kernel=point.kernel, board=point.board, config={"placement": str(placement)})
        try:
            profiled = profile_image(find_observed_image(catalogue, benchmark, **choice))
        except (PlanError, BuildError):
            continue  # the kernel lacks a service that the benchmark needs
        for held in profiled.held:
            if (
                held.priority == level
                and profiled.classes.get(function_that_masked_interrupts(held.opener, profiled)) != APPLICATION
            ):
                lengths.append(held.longest_cycles)
                count += held.count
    if not count:
        raise PlanError(f"no benchmark shows what {point.kernel} masks on {point.board}")
    yield "interrupts.masked", "max", max(lengths), "cycles", count


def _worst_case_interrupt_latencies(catalogue: Catalogue, point: PointId, placement: int) -> Iterator[Figure]:
    """Yields the latencies of an interrupt that is raised in every cycle of a period, while a background task calls the
    kernel.

    Two sweeps are made. In the first one each interrupt is the first of its run, so the code that it runs is in no
    cache (`semaphore.task`). In the second one it has arrived before (`semaphore.task.repeated`).
    """
    program, service = default_interrupt_sweep_benchmark(catalogue), read_compared_operations().swept_service
    chosen = {
        **(settings_for_background_service_calls(catalogue.find_benchmark(program).facts, service) or {}),
        "placement": str(placement),
    }
    options = PlanOptions([point.kernel], [point.board], [1], WINDOW_MS, chosen)
    for suffix, earlier in (("", 0), (".repeated", EARLIER_ARRIVALS)):
        scenario = prepare_benchmark_sweep_scenario(catalogue, program, options, earlier_arrivals=earlier)
        span = parse_sweep_cycle_range(scenario, "period", None, 1)
        finding = find_worst_case_interrupt_latency(
            scenario, span, inject_interrupt_at_every_cycle(scenario, span, threads=1)
        )
        for name, latency in (("handler", finding.handler), ("task", finding.task)):
            if latency is not None:
                metric = f"{service}.{name}{suffix}"
                yield metric, "median", latency.median_cycles, "cycles", finding.arrivals
                yield metric, "max", latency.maximum_cycles, "cycles", finding.arrivals
