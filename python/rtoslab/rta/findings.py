"""The findings of a search for a broken bound: as a line of text, as JSON, and as files from which a test repeats
them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, cast

from rtoslab.base import TaskSetError, count_with_noun, make_folder, write_file_atomically
from rtoslab.intake import read_toml_table
from rtoslab.reports import MARK, deviation_footnote
from rtoslab.rta.arrival_curves import ArrivalCurve
from rtoslab.rta.bound_search import BoundSearchResult, TaskSetTestBench
from rtoslab.rta.overheads import table_as_toml
from rtoslab.rta.system import IntegerTimeInterrupt, IntegerTimeTask, IntegerTimeTaskSet, split_tasks_by_releasing_task
from rtoslab.rta.taskset import Carrier, Protocol


@dataclass(frozen=True, slots=True)
class BoundViolationSearchSummary:
    """The figures of one search for a broken bound."""

    kernel: str
    board: str
    cores: int
    config: Mapping[str, str]
    sets: int
    jobs: int
    findings: int
    median: float | None
    """The median ratio of the bound (split tick) to the longest response, over all tasks of all sets. None if no task
    has both."""
    least: float | None
    largest: float | None
    deviations: Mapping[str, str]
    """The deviations of the kernel from the port contract, as it declares."""

    def bound_search_statistics_as_line(self) -> str:
        """Returns the figures of the search as one line."""
        config = "".join(f", {name}={value}" for name, value in self.config.items())
        cores = f", {self.cores} cores" if self.cores > 1 else ""
        marked = {self.kernel: self.deviations} if self.deviations else {}
        note = f"\n{deviation_footnote(marked)}" if marked else ""
        where = f"{self.kernel}{MARK if marked else ''} on {self.board}{cores}{config}"
        counts = ", ".join(
            [
                f"{where}: {count_with_noun(self.sets, 'set')}",
                count_with_noun(self.jobs, "job"),
                count_with_noun(self.findings, "finding"),
            ]
        )
        if self.least is None or self.median is None or self.largest is None:
            return f"{counts}; no task has both a bound and a response{note}"
        ratio = f"least {self.least:.4f}, median {self.median:.4f}, largest {self.largest:.4f}"
        return f"{counts}; bound / longest response: {ratio}{note}"

    def search_statistics_as_json(self) -> dict[str, Any]:
        """Returns the figures of the search as a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


def summarise_bound_violation_search(
    bench: TaskSetTestBench, results: Sequence[BoundSearchResult]
) -> BoundViolationSearchSummary:
    """Returns the figures of a search for a broken bound."""
    point = bench.firmware.point
    ratios = [ratio for attempt in results for ratio in attempt.ratios.values()]
    return BoundViolationSearchSummary(
        kernel=bench.firmware.kernel_name,
        board=point.board,
        cores=point.cores,
        config={**point.kernel_config, **({"opt": point.opt} if point.opt else {})},
        sets=len(results),
        jobs=sum(attempt.jobs for attempt in results),
        findings=sum(bool(attempt.findings) for attempt in results),
        median=median(ratios) if ratios else None,
        least=min(ratios, default=None),
        largest=max(ratios, default=None),
        deviations=bench.firmware.deviations,
    )


def write_bound_violation(bench: TaskSetTestBench, result: BoundSearchResult, path: Path) -> None:
    """Writes a task set that contradicts its bound to a file. Raises StoreError."""
    summary = summarise_bound_violation_search(bench, [result])
    system, tick = result.system, bench.firmware.tick_cycles
    count = len(system.tasks_of_image)
    firmware = bench.firmware
    table = {
        "kernel": summary.kernel,
        "board": summary.board,
        "events": firmware.supported_feature_level
        if firmware.supports_task_releases
        else firmware.can_interrupts_release_tasks,
        "cores": bench.firmware.core_count,
        "protocol": system.protocol,
        "found": "; ".join(result.findings),
        "config": dict(summary.config),
        "task": [
            _task_as_finding_file_table(task, system, start, tick)
            for task, start in zip(system.tasks_of_image, result.starts[:count], strict=True)
        ],
        "interrupt": [
            {"name": item.name, "period_cycles": item.period, "wcet_cycles": item.wcet, "jitter_cycles": item.jitter,
             "gives": item.gives, "implied": item.implied, "first_cycle": start,
             **({"core": item.core} if item.core else {}),
             **({"arrivals": _arrival_curve_texts(item.curve)} if item.curve else {})}
            for item, start in zip(system.interrupts, result.starts[count:], strict=True)
        ],
    }  # fmt: skip
    make_folder(path.parent)
    write_file_atomically(path, table_as_toml(table), "the finding")


def _arrival_curve_texts(curve: ArrivalCurve) -> list[str]:
    """Returns an arrival curve as texts of the form `count:window`."""
    return [f"{count}:{window}" for count, window in curve]


def _parse_arrival_curve(row: Mapping[str, Any]) -> ArrivalCurve:
    """Returns the arrival curve in a TOML table of a finding's file. Empty if there is none."""
    pairs = [str(text).partition(":") for text in row.get("arrivals", ())]
    return tuple((int(count), int(window)) for count, _, window in pairs)


def _task_as_finding_file_table(
    task: IntegerTimeTask, system: IntegerTimeTaskSet, start: int, tick: int
) -> dict[str, Any]:
    """Returns a task as a TOML table of a finding's file. A period of whole ticks is in ticks, another in cycles."""
    period = {"period_ticks": task.period // tick} if task.is_tick_released else {"period_cycles": task.period}
    facts = {"name": task.task_name, **period, "first_tick": start, "wcet_cycles": task.wcet, "priority": task.priority}
    if task.released_by:
        facts |= {"released_by": task.released_by, "jitter_cycles": task.jitter}
    elif task.jitter:
        facts |= {"jitter_cycles": task.jitter}
    if task.curve:
        facts |= {"arrivals": _arrival_curve_texts(task.curve)}
    if task.is_timer:
        facts |= {"is_timer": True}
    if task.sender:
        facts |= {"sender": task.sender}
    if task.gives:
        names = {other.name: other.task_name for other in system.tasks}
        facts |= {"gives": [names[name] for name in task.gives], "gives_by": task.gives_by}
    if task.core:
        facts |= {"core": task.core}
    if task.kernel_call_count:
        facts |= {"masked_cycles": task.masked, "sections": [f"{name}:{length}" for name, length in task.sections]}
    return facts


@dataclass(frozen=True, slots=True)
class BoundViolation:
    """A task set that contradicted its bound, read from a file, with its kernel, board and configuration."""

    kernel: str
    board: str
    config: Mapping[str, str]
    events: int
    """The event level of the image."""
    cores: int
    protocol: Protocol
    tasks: tuple[Mapping[str, Any], ...]
    interrupts: tuple[Mapping[str, Any], ...]

    def task_set_and_first_start_times(self, bench: TaskSetTestBench) -> tuple[IntegerTimeTaskSet, tuple[int, ...]]:
        """Returns the task set as a system, and when each task and interrupt starts."""
        parsed = [_parse_task_of_finding_file(task, bench.firmware.tick_cycles) for task in self.tasks]
        tasks = split_tasks_by_releasing_task(parsed, "the finding")
        handlers = tuple(
            IntegerTimeInterrupt(
                name=str(interrupt["name"]),
                period=int(interrupt["period_cycles"]),
                wcet=int(interrupt["wcet_cycles"]),
                deadline=int(interrupt["period_cycles"]),
                jitter=int(interrupt["jitter_cycles"]),
                gives=str(interrupt["gives"]),
                implied=bool(interrupt["implied"]),
                core=int(interrupt.get("core", 0)),
                curve=_parse_arrival_curve(interrupt),
            )
            for interrupt in self.interrupts
        )
        starts = tuple(int(task["first_tick"]) for task in self.tasks)
        raised = tuple(int(interrupt["first_cycle"]) for interrupt in self.interrupts)
        return IntegerTimeTaskSet(tasks, handlers, self.protocol, units_per_second=bench.firmware.clock_hz), (
            *starts,
            *raised,
        )


def _parse_task_of_finding_file(row: Mapping[str, Any], tick: int) -> IntegerTimeTask:
    """Returns the task of one TOML table of a finding's file."""
    period = int(row["period_cycles"]) if "period_cycles" in row else int(row["period_ticks"]) * tick
    parts = [str(section).partition(":") for section in row.get("sections", ())]
    return IntegerTimeTask(
        name=str(row["name"]),
        period=period,
        wcet=int(row["wcet_cycles"]),
        deadline=period,
        priority=int(row["priority"]),
        jitter=int(row.get("jitter_cycles", 0)),
        masked=int(row.get("masked_cycles", 0)),
        sections=tuple((name, int(length)) for name, _, length in parts),
        released_by=str(row.get("released_by", "")),
        is_timer=bool(row.get("is_timer", False)),
        curve=_parse_arrival_curve(row),
        gives=_names_of_released_tasks_in_finding(row),
        gives_by=cast("Carrier", row.get("gives_by", "semaphore")),
        core=int(row.get("core", 0)),
    )


def _names_of_released_tasks_in_finding(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the tasks that a task of a finding's file releases. Older files have one name."""
    names = row.get("gives", ())
    return (names,) if isinstance(names, str) else tuple(map(str, names))


def read_response_bound_violation_file(path: Path) -> BoundViolation:
    """Reads a file that `write_bound_violation` wrote. Raises TaskSetError."""
    table = read_toml_table(path, "the finding", TaskSetError)
    return BoundViolation(
        kernel=str(table["kernel"]),
        board=str(table["board"]),
        config={str(key): str(value) for key, value in table["config"].items()},
        events=int(table.get("events", 0)),
        cores=int(table.get("cores", 1)),
        protocol=cast("Protocol", table.get("protocol", "inheritance")),
        tasks=tuple(table["task"]),
        interrupts=tuple(table.get("interrupt", ())),
    )
