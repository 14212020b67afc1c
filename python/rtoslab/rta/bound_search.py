"""Searches for a broken bound: random sets of every shape, then variations of those that come nearest to their bound.

A finding is a job that took longer than its bound, a bound of the model `worst tick` that is below the bound of `split
tick`, or a kernel activity that took longer than its overhead. Each finding is reduced to the smallest set that still
shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, lcm
from random import Random
from typing import Final

from rtoslab.base import TaskSetCheckError
from rtoslab.catalogue import Catalogue
from rtoslab.rta.analysis import compute_response_time_bounds
from rtoslab.rta.arrange import image_task_rows, virtual_interrupt_lines
from rtoslab.rta.charges import KernelOverheadAccountingModel
from rtoslab.rta.firmware import TaskSetFirmware
from rtoslab.rta.images import TaskSetImages
from rtoslab.rta.ledger import make_cycle_ledger
from rtoslab.rta.overheads import KernelOverheads
from rtoslab.rta.prices import ledger_entries_above_modelled_overhead
from rtoslab.rta.randomsets import (
    SHAPES,
    random_event_task_set,
    random_fan_in_fan_out_task_set,
    random_multicore_task_set,
    random_task_set_in_ranges,
    random_task_set_with_release_chains,
    random_timer_task_set,
    vary_task_set_randomly,
)
from rtoslab.rta.responses import observed_response_times
from rtoslab.rta.system import IntegerTimeTask, IntegerTimeTaskSet
from rtoslab.rta.trace import require_no_lost_interrupt, run_task_set
from rtoslab.rta.work import BusyWork

LEAST_TICKS: Final = 60
MOST_TICKS: Final = 400
_NEIGHBOURS: Final = 6
"""Variations tried of each set that is searched further."""


@dataclass(frozen=True, slots=True)
class BoundSearchResult:
    """The result of one task set in a search for a broken bound.
    `starts`: the first tick of each task, then the cycle of each interrupt's first raising.
    """

    shape: str
    seed: int
    system: IntegerTimeTaskSet
    starts: tuple[int, ...]
    jobs: int
    least_ratio: float
    """The least ratio of bound to longest response of its tasks. Infinite if no task has both."""
    ratios: Mapping[str, float]
    """The ratio of bound to longest response of each task and interrupt that has both."""
    findings: tuple[str, ...]
    """A sentence for each finding. Empty if every bound held."""


@dataclass(frozen=True)
class TaskSetTestBench:
    """An image, its calibrated work and the kernel's overheads, with which task sets are run."""

    firmware: TaskSetFirmware
    work: BusyWork
    overheads: KernelOverheads
    has_ledger: bool = True
    """Whether runs are also compared with the charges of the kernel's work. On several cores a run without this
    comparison takes a third of the time, because the kernel's locks need not be observed."""

    @classmethod
    def build_task_set_test_bench(
        cls,
        catalogue: Catalogue,
        kernel: str,
        board: str,
        config: Mapping[str, str],
        *,
        events: int = 0,
        cores: int = 1,
        progress: Callable[[str], object] = lambda _: None,
    ) -> TaskSetTestBench:
        """Builds the image for task sets, calibrates its work, and measures the kernel's overheads.
        Raises BuildError, ConformanceError, TaskSetCheckError.
        """
        progress(f"building and calibrating {kernel} on {board}")
        images = TaskSetImages.build_images(catalogue, kernel, board, config, events=events, cores=cores)
        progress("measuring the kernel's overheads")
        return cls(images.firmware, images.work, images.measured_overheads(catalogue))

    def run_task_set_against_bounds(
        self, system: IntegerTimeTaskSet, starts: tuple[int, ...], shape: str = "", seed: int = 0
    ) -> BoundSearchResult:
        """Runs a task set and compares its response times with the bounds. Raises TaskSetCheckError where it cannot be
        run."""
        tasks = system.tasks_of_image
        count = len(tasks)
        # Every other one is as late each time as it happens to be.
        late = Random(sum(starts)) if sum(starts) % 2 else None  # noqa: S311 (seeded on purpose)
        rows = [
            # The image starts each timer before the first releases.
            replace(row, offset_ticks=offset % row.period_ticks if row.is_timer else offset)
            if row.is_tick_released
            else row
            for row, offset in zip(image_task_rows(system, self.firmware, self.work, late), starts[:count], strict=True)
        ]
        # The work that can be had may be shorter than the wcet. The bound is for what is run.
        work = {
            item.task_name: self.work.job_cycles_of_task(row) * system.units_per_cycle
            for item, row in zip(tasks, rows, strict=True)
        }
        system = replace(system, tasks=tuple(replace(item, wcet=work[item.task_name]) for item in system.tasks))
        hyperperiod = lcm(*(item.period_ticks for item in rows if item.is_tick_released))
        ticks = max(LEAST_TICKS, min(MOST_TICKS, hyperperiod))
        lines = virtual_interrupt_lines(system, self.firmware, self.work, ticks, starts[count:], late)
        trace = run_task_set(self.firmware, rows, ticks, lines, with_locks=self.has_ledger)
        require_no_lost_interrupt(trace)
        ledger = make_cycle_ledger([trace] if self.has_ledger else [], self.work)
        findings = [
            f"{excess.event} took {excess.took_cycles} cycles and is charged with {excess.charged_cycles}"
            for excess in ledger_entries_above_modelled_overhead(ledger, self.overheads, len(rows))[:1]
        ]
        ratios = {}
        analyses = {
            model: compute_response_time_bounds(system, self.overheads, model)
            for model in (KernelOverheadAccountingModel.WORST_TICK, KernelOverheadAccountingModel.SPLIT_TICK)
        }
        for seen in observed_response_times(system, trace):
            bound, worse = (
                analyses[model].find_response_bound(seen.name).response
                for model in (KernelOverheadAccountingModel.SPLIT_TICK, KernelOverheadAccountingModel.WORST_TICK)
            )
            if worse is not None and (bound is None or bound > worse):
                findings.append(f"{seen.name}: bound by the worst tick {worse}, below that by the split tick, {bound}")
            if seen.has_response_time_above_bound(bound):
                findings.append(f"{seen.name} took {seen.longest_response} cycles, its bound is {bound}")
            if bound is not None and seen.ended:
                ratios[seen.name] = bound / max(seen.ended)
        nearest = min(ratios.values(), default=inf)
        return BoundSearchResult(shape, seed, system, starts, len(trace.jobs), nearest, ratios, tuple(findings))

    def has_response_time_bounds(self, system: IntegerTimeTaskSet) -> bool:
        """Whether a task of the set has a bound, so that the search can learn something from it. Always true on one
        core, where most tasks have a bound. On several cores, one task without a bound leaves most others without one.
        """
        if self.firmware.core_count == 1:
            return True
        return any(bound.response is not None for bound in compute_response_time_bounds(system, self.overheads).tasks)

    def does_run_violate_bounds_or_overheads(self, system: IntegerTimeTaskSet, starts: tuple[int, ...]) -> bool:
        """Whether a run of a task set contradicts its bounds or overheads. False if it cannot be run."""
        try:
            return bool(self.run_task_set_against_bounds(system, starts).findings)
        except TaskSetCheckError:
            return False


def search_violated_bounds(
    bench: TaskSetTestBench, set_count: int, seed: int, shapes: tuple[str, ...] = tuple(SHAPES)
) -> Iterator[BoundSearchResult]:
    """Runs random task sets of every shape and variations of those nearest their bound. Yields their results."""
    tick = bench.firmware.tick_cycles
    near: list[BoundSearchResult] = []
    tried = number = 0
    while tried < set_count:
        random = Random(f"{seed} {number}")  # noqa: S311 (seeded on purpose)
        shape, system = _generate_random_task_set(bench, random, shapes[number % len(shapes)])
        number += 1
        if not bench.has_response_time_bounds(system):
            continue
        starts = tuple(
            random.randrange(task.period // tick + 1) if random.random() < 0.2 else 0 for task in system.tasks_of_image
        )
        phases = tuple(random.randrange(3 * tick) if random.random() < 0.7 else 0 for _ in system.interrupts)
        results = _run_task_set_if_possible(bench, system, (*starts, *phases), shape, number - 1)
        for _ in range(min(_NEIGHBOURS, set_count - tried - 1) if number % _NEIGHBOURS == 0 and near else 0):
            origin = random.choice(near)
            neighbour, moved = vary_task_set_randomly(random, origin.system, origin.starts, tick)
            results += _run_task_set_if_possible(
                bench, neighbour, moved, f"near: {origin.shape.removeprefix('near: ')}", origin.seed
            )
        tried += len(results)
        near = sorted([*near, *results], key=lambda attempt: attempt.least_ratio)[: 2 * _NEIGHBOURS]
        yield from results


def _generate_random_task_set(bench: TaskSetTestBench, random: Random, shape: str) -> tuple[str, IntegerTimeTaskSet]:
    """Returns the name of a shape and a random task set of this shape.
    With the image that has events every set has some.
    """
    firmware = bench.firmware
    if firmware.core_count > 1 and not firmware.can_interrupts_release_tasks:
        bus = bench.overheads.smp.contention_permille
        return shape, random_multicore_task_set(random, SHAPES[shape], firmware, bus)
    if firmware.can_tasks_release_several_tasks:
        return "fans", random_fan_in_fan_out_task_set(random, firmware)
    if firmware.supports_kernel_timers:
        return "timers", random_timer_task_set(random, firmware)
    if firmware.supports_task_releases:
        return "sends", random_task_set_with_release_chains(random, firmware)
    if firmware.can_interrupts_release_tasks:
        return "events", random_event_task_set(random, firmware)
    return shape, random_task_set_in_ranges(random, SHAPES[shape], firmware.clock_hz, firmware.tick_cycles)


def _run_task_set_if_possible(
    bench: TaskSetTestBench, system: IntegerTimeTaskSet, starts: tuple[int, ...], shape: str, seed: int
) -> list[BoundSearchResult]:
    """Returns a list with the result of a task set. It is empty if the board cannot run the set."""
    try:
        return [bench.run_task_set_against_bounds(system, starts, shape, seed)]
    except TaskSetCheckError:
        return []


def shrink_violating_task_set(
    bench: TaskSetTestBench, system: IntegerTimeTaskSet, starts: tuple[int, ...]
) -> tuple[IntegerTimeTaskSet, tuple[int, ...]]:
    """Returns the smallest task set, made from the given one, that still contradicts its bound."""
    shorter = True
    while shorter:
        shorter = False
        for candidate in _one_step_smaller_task_sets(system, starts):
            if bench.does_run_violate_bounds_or_overheads(*candidate):
                system, starts = candidate
                shorter = True
                break
    return system, starts


def _one_step_smaller_task_sets(
    system: IntegerTimeTaskSet, starts: tuple[int, ...]
) -> Iterator[tuple[IntegerTimeTaskSet, tuple[int, ...]]]:
    """Yields task sets that are one step smaller or simpler."""
    tasks, interrupts, count = system.tasks, system.interrupts, len(system.tasks)
    if any(task.base_name for task in tasks):
        return  # a task for each of several senders cannot be changed alone
    for at, task in enumerate(tasks if count > 1 else ()):
        numbers = [number for number, item in enumerate(interrupts) if item.gives != task.name]
        yield (
            replace(
                system,
                tasks=_remove_task_and_relink_releases(tasks, at),
                interrupts=tuple(interrupts[item] for item in numbers),
            ),
            (*starts[:at], *starts[at + 1 : count], *(starts[count + item] for item in numbers)),
        )
    for at, item in enumerate(interrupts):
        if not item.gives:
            rest = interrupts[:at] + interrupts[at + 1 :]
            yield replace(system, interrupts=rest), starts[: count + at] + starts[count + at + 1 :]
    if any(starts):
        yield system, (0,) * len(starts)
    yield from ((simpler, starts) for simpler in _task_sets_with_simpler_releases(system))
    cuts: tuple[Callable[[int], int], ...] = (lambda wcet: wcet // 2, lambda wcet: wcet - wcet % 1000)
    for at, task in enumerate(tasks):
        if task.kernel_call_count:
            yield _system_with_replaced_task(system, at, replace(task, sections=task.sections[1:], masked=0)), starts
            continue
        for cut in cuts:
            wcet = cut(task.wcet)
            if 0 < wcet < task.wcet:
                yield _system_with_replaced_task(system, at, replace(task, wcet=wcet)), starts


def _task_sets_with_simpler_releases(system: IntegerTimeTaskSet) -> Iterator[IntegerTimeTaskSet]:
    """Yields the system with one task less late, or released in a simpler way."""
    for at, task in enumerate(system.tasks):
        if task.jitter and task.is_tick_released:
            yield _system_with_replaced_task(system, at, replace(task, jitter=0))
        if task.gives_by != "semaphore":
            yield _system_with_replaced_task(system, at, replace(task, gives_by="semaphore"))


def _remove_task_and_relink_releases(tasks: Sequence[IntegerTimeTask], at: int) -> tuple[IntegerTimeTask, ...]:
    """Returns the tasks without one. Its sender, or the tick, then releases its receiver."""
    removed = tasks[at]
    linked = []
    for task in (*tasks[:at], *tasks[at + 1 :]):
        if removed.name in task.gives:
            others = tuple(name for name in task.gives if name != removed.name)
            task = replace(task, gives=(*others, *removed.gives))  # noqa: PLW2901 (one of two links)
        if task.sender == removed.name:
            task = replace(task, sender=removed.sender)  # noqa: PLW2901
        linked.append(task)
    return tuple(linked)


def _system_with_replaced_task(system: IntegerTimeTaskSet, at: int, task: IntegerTimeTask) -> IntegerTimeTaskSet:
    """Returns the system with the task at this index replaced."""
    return replace(system, tasks=(*system.tasks[:at], task, *system.tasks[at + 1 :]))
