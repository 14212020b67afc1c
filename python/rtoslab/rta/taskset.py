"""A task set as a person writes it: TOML with `[[task]]` tables, or CSV with one line a task."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import IntEnum
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

from rtoslab.base import TaskSetError
from rtoslab.intake import ROWS, escape_to_one_line, printable_path, quote_text, read_text, read_toml_table
from rtoslab.rta.chainspec import ChainSpec, parse_task_chain
from rtoslab.rta.senderspec import require_valid_senders, task_tables_with_inherited_periods
from rtoslab.rta.taskcsv import parse_task_set_csv
from rtoslab.rta.units import ZERO_DURATION, Duration, parse_duration_key, parse_nonnegative_number

Protocol = Literal["inheritance", "ceiling", "immediate_ceiling"]
"""How a resource's holder avoids preemption: it inherits a waiter's priority, follows the priority ceiling protocol, or
runs at the ceiling from the lock on (highest locker, stack resource policy)."""

Equals = Literal["fifo", "slices", "any"]
"""The order of ready tasks with the same priority: in the order of their releases, in turns by the tick, or any."""

Release = Literal["tick", "interrupt", "timer"]
"""What releases a task: the kernel's tick, as the task sleeps until its period begins, or an interrupt of its own. A
timer of the kernel is no task: the kernel's timer task calls its function, at the priority of all timers."""

Carrier = Literal["semaphore", "message", "notification"]
"""How a task releases another one: it gives a semaphore, sends a message to a queue, or notifies the task."""

_TIMES: Final = ("period", "wcet", "deadline", "jitter", "offset", "masked")
_TASK_KEYS: Final = ("name", "priority", "core", "section", "release", "gives", "gives_by", "arrivals", *_TIMES)
_INTERRUPT_KEYS: Final = ("name", "period", "wcet", "deadline", "jitter", "core", "gives", "arrivals")
_ARRIVAL_KEYS: Final = ("count", "window")
MAX_ARRIVAL_COUNT: Final = 1_000
"""The largest count of an arrival curve's pair."""
_MIGRATING: Final = ("any", "all", "global", "*")
MAX_CORES: Final = 64
_SECTION_KEYS: Final = ("resource", "length")
MAX_NAME_CHARS: Final = 120
"""The most characters in the name of a task, interrupt or resource, and in a title."""
_TOP_KEYS: Final = ("title", "policy", "protocol", "equals", "task", "interrupt", "chain")
_POLICY: Final = "fixed_priorities"
"""The scheduling policy of all kernels here."""
_CHAIN_KEYS: Final = ("name", "tasks", "deadline")


class TaskSetFeatureLevel(IntEnum):
    """The features of an image for task sets. The numbers are those of the parameter `events` of `table_of_tasks`. Each
    level contains those before it."""

    TICKS = 0
    """Only the tick releases tasks."""
    INTERRUPTS = 1
    """Interrupts, critical sections and masks."""
    SENDS = 2
    """Tasks that other tasks release, and late releases by the tick."""
    TIMERS = 3
    """Timers of the kernel."""
    FANS = 4
    """Tasks that release several tasks, and tasks that several tasks release."""


@dataclass(frozen=True, slots=True)
class CriticalSectionSpec:
    """A critical section of a task, as the file states it."""

    resource: str
    length: Duration


@dataclass(frozen=True, slots=True)
class JobArrivalLimit:
    """The most arrivals in any window of a length, as the file states it."""

    count: int
    window: Duration


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """A periodic or sporadic task, as the file states it. A higher priority number is more urgent."""

    name: str
    period: Duration
    """The period, or the least time between two arrivals."""
    wcet: Duration
    deadline: Duration
    priority: int
    has_own_deadline: bool = True
    """Whether the file states the deadline. It is the period otherwise."""
    jitter: Duration = ZERO_DURATION
    """The longest time from the arrival to the release."""
    offset: Duration | None = None
    """The offset of the first arrival from a common start. None: unknown."""
    masked: Duration = ZERO_DURATION
    """The longest section of its wcet in which it cannot be preempted."""
    sections: tuple[CriticalSectionSpec, ...] = ()
    core: int = 0
    release: Release = "tick"
    gives: tuple[str, ...] = ()
    """The tasks that each job releases with its last actions, in this order."""
    gives_by: Carrier = "semaphore"
    arrivals: tuple[JobArrivalLimit, ...] = ()
    """The limits of its arrivals, instead of a period. `period` is then the shortest window."""


@dataclass(frozen=True, slots=True)
class InterruptSpec:
    """An interrupt's handler, as the file states it.
    The first in the file is the most urgent, and all are more urgent than any task.
    """

    name: str
    period: Duration
    wcet: Duration
    deadline: Duration
    jitter: Duration = ZERO_DURATION
    core: int = 0
    gives: str = ""
    """The task waiting for the semaphore that the handler gives at its end. Empty: it gives none."""
    arrivals: tuple[JobArrivalLimit, ...] = ()
    """The limits of its arrivals, instead of a period. `period` is then the shortest window."""


@dataclass(frozen=True, slots=True)
class TaskSet:
    """The content of a task set's file."""

    title: str
    tasks: tuple[TaskSpec, ...]
    interrupts: tuple[InterruptSpec, ...] = ()
    protocol: Protocol = "inheritance"
    equals: Equals = "any"
    chains: tuple[ChainSpec, ...] = ()
    source: str = field(default="", compare=False)

    @property
    def required_feature_level(self) -> TaskSetFeatureLevel:
        """Returns which image the task set needs."""
        receivers = [name for task in self.tasks for name in task.gives]
        if len(set(receivers)) < len(receivers) or any(len(task.gives) > 1 for task in self.tasks):
            return TaskSetFeatureLevel.FANS
        if any(task.release == "timer" for task in self.tasks):
            return TaskSetFeatureLevel.TIMERS
        released = {interrupt.gives for interrupt in self.interrupts if interrupt.gives}
        one_core = len({task.core for task in self.tasks}) == 1
        late = (task.jitter.value and task.release == "tick" and task.name not in released for task in self.tasks)
        if any(task.gives for task in self.tasks) or (one_core and any(late)):
            return TaskSetFeatureLevel.SENDS
        events = bool(self.interrupts) or any(
            task.sections or task.masked.value or task.release != "tick" for task in self.tasks
        )
        return TaskSetFeatureLevel.INTERRUPTS if events else TaskSetFeatureLevel.TICKS


def read_task_set(path: Path) -> TaskSet:
    """Reads a task set from a TOML or CSV file, by its suffix. Raises TaskSetError naming file, task and key."""
    if path.suffix.lower() == ".csv":
        table = parse_task_set_csv(read_text(path, "the task set", TaskSetError), printable_path(path))
    else:
        table = read_toml_table(path, "the task set", TaskSetError, exact=True)
    return parse_task_set(table, printable_path(path), title=escape_to_one_line(path.stem))


def parse_task_set(table: Mapping[str, Any], source: str, title: str = "") -> TaskSet:
    """Returns the task set of a parsed TOML table. Raises TaskSetError."""
    _require_known_keys(table, _TOP_KEYS, source)
    if str(table.get("policy", _POLICY)) != _POLICY:
        raise TaskSetError(
            f"{source}: policy {quote_text(str(table['policy']))} is not supported, because all kernels schedule by "
            f"fixed priorities; "
            f'write policy = "{_POLICY}" or nothing, and a priority for each task.'
        )
    interrupt_rows = _toml_tables_under_key(table, "interrupt", source)
    task_rows = task_tables_with_inherited_periods(_toml_tables_under_key(table, "task", source), interrupt_rows)
    interrupts = tuple(_parse_interrupt_table(row, number, source) for number, row in enumerate(interrupt_rows, 1))
    tasks = tuple(_parse_task_table(row, number, source) for number, row in enumerate(task_rows, 1))
    if len(tasks) + len(interrupts) + sum(len(task.sections) for task in tasks) > ROWS:
        raise TaskSetError(f"{source} contains more than {ROWS:,} tasks, interrupts and sections; split it.")
    if not tasks:
        raise TaskSetError(f"{source} contains no task; write a [[task]] with name, period_us, wcet_us and priority.")
    names = [task.name for task in tasks] + [interrupt.name for interrupt in interrupts]
    for name in names:
        if names.count(name) > 1:
            raise TaskSetError(f"{source} names {quote_text(name)} twice; give each task and interrupt another name.")
    _require_valid_released_tasks(tasks, interrupts, source)
    require_valid_senders(tasks, interrupts, source)
    _require_valid_timers(tasks, source)
    _require_usable_arrival_curves(tasks, interrupts, source)
    return TaskSet(
        title=_parse_single_line_string(table, "title", title, source),
        tasks=tasks,
        interrupts=interrupts,
        protocol=cast(
            "Protocol", _parse_word_from_choices(table, "protocol", get_args(Protocol), "inheritance", source)
        ),
        equals=cast("Equals", _parse_word_from_choices(table, "equals", get_args(Equals), "any", source)),
        chains=tuple(
            _parse_task_chain(row, number, tasks, source)
            for number, row in enumerate(_toml_tables_under_key(table, "chain", source), 1)
        ),
        source=source,
    )


def _parse_task_chain(row: Mapping[str, Any], number_: int, tasks: tuple[TaskSpec, ...], source: str) -> ChainSpec:
    """Returns the chain of tasks of one `[[chain]]` table."""
    where = f"{source}, {_table_name_for_errors(row, 'chain', number_)}"
    _require_known_keys(row, _CHAIN_KEYS, where)
    named: list[object] = row["tasks"] if isinstance(row.get("tasks"), list) else []
    curved = next((task.name for task in tasks if task.arrivals and task.name in named), None)
    if curved is not None:
        raise TaskSetError(
            f"{where}: {curved} has arrivals without a period, so data may wait for it for any time; remove it from "
            "the chain."
        )
    return parse_task_chain(row, _parse_table_name(row, where), [task.name for task in tasks], where)


def _require_valid_released_tasks(
    tasks: tuple[TaskSpec, ...], interrupts: tuple[InterruptSpec, ...], source: str
) -> None:
    """Raises TaskSetError if the interrupts that release tasks do not fit the tasks."""
    by_name = {spec.name: spec for spec in tasks}
    given: set[str] = set()
    for interrupt in interrupts:
        if not interrupt.gives:
            continue
        task = by_name.get(interrupt.gives)
        where = f"{source}, interrupt {interrupt.name}"
        if task is None:
            raise TaskSetError(
                f"{where} gives to {quote_text(interrupt.gives)}, which is not a task of this file; name one."
            )
        if interrupt.gives in given:
            raise TaskSetError(f"{where}: {task.name} is released by another interrupt already; keep one of them.")
        if (task.period, task.jitter, task.core, task.arrivals) != (
            interrupt.period,
            interrupt.jitter,
            interrupt.core,
            interrupt.arrivals,
        ) or task.offset is not None:
            raise TaskSetError(
                f"{where}: {task.name}, which it releases, has an offset or another period, jitter or core; give "
                "both the same values and no offset."
            )
        given.add(interrupt.gives)


def _require_usable_arrival_curves(
    tasks: tuple[TaskSpec, ...], interrupts: tuple[InterruptSpec, ...], source: str
) -> None:
    """Raises TaskSetError for limits of arrivals of a task that no interrupt releases."""
    given = {item.gives for item in interrupts} | {name for item in tasks for name in item.gives}
    for task in tasks:
        if task.arrivals and task.release != "interrupt" and task.name not in given:
            raise TaskSetError(
                f"{source}, task {task.name} has arrivals, but the {task.release} releases it periodically; give it a "
                'period, or write release = "interrupt".'
            )
        if task.arrivals and task.offset is not None:
            raise TaskSetError(f"{source}, task {task.name} has arrivals and an offset; remove the offset.")


def _require_valid_timers(tasks: tuple[TaskSpec, ...], source: str) -> None:
    """Raises TaskSetError if the timers of the kernel do not fit one timer task."""
    timers = [task for task in tasks if task.release == "timer"]
    for timer in timers:
        where = f"{source}, timer {timer.name}"
        first = next(other for other in timers if other.core == timer.core)
        if timer.priority != first.priority:
            raise TaskSetError(
                f"{where} has another priority than {first.name}, but one task of the kernel calls all timers; "
                "give both the same."
            )
        if timer.sections or timer.masked.value or timer.jitter.value:
            raise TaskSetError(
                f"{where} has a section, a masked section or a jitter, which this analysis does not support for "
                "timers; remove it."
            )


def _toml_tables_under_key(table: Mapping[str, Any], name: str, source: str) -> list[Mapping[str, Any]]:
    """Returns the tables under a key such as `[[task]]`. Raises TaskSetError if they are no list of tables."""
    rows = table.get(name, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise TaskSetError(f"{source}: {name} is not a list of tables; write [[{name}]] before each.")
    return rows


def _parse_task_table(row: Mapping[str, Any], number_: int, source: str) -> TaskSpec:
    """Returns the task of one `[[task]]` table. Raises TaskSetError."""
    where = f"{source}, {_table_name_for_errors(row, 'task', number_)}"
    _require_known_keys(row, _TASK_KEYS, where)
    arrivals = _parse_arrival_limits(row, where)
    period, wcet, deadline = _parse_task_times(row, where, arrivals)
    times = {
        name: value
        for name in ("jitter", "offset", "masked")
        if (value := parse_duration_key(row, name, where)) is not None
    }
    sections = tuple(_parse_critical_section(table, where) for table in _toml_tables_under_key(row, "section", where))
    return TaskSpec(
        name=_parse_table_name(row, where),
        period=period,
        wcet=wcet,
        deadline=deadline,
        priority=_parse_whole_number(row, "priority", where, None),
        has_own_deadline=parse_duration_key(row, "deadline", where) is not None,
        sections=sections,
        core=_parse_core_number(row, where),
        release=cast("Release", _parse_word_from_choices(row, "release", get_args(Release), "tick", where)),
        gives=_parse_released_task_names(row, where),
        gives_by=cast("Carrier", _parse_word_from_choices(row, "gives_by", get_args(Carrier), "semaphore", where)),
        arrivals=arrivals,
        **times,
    )


def _parse_released_task_names(row: Mapping[str, Any], where: str) -> tuple[str, ...]:
    """Returns the names of the tasks that a task releases: one, or a list of them. Raises TaskSetError."""
    if not isinstance(row.get("gives"), list):
        name = _parse_single_line_string(row, "gives", "", where)
        return (name,) if name else ()
    names = tuple(_parse_single_line_string({"gives": name}, "gives", "", where) for name in row["gives"])
    if len(set(names)) < len(names) or not all(names):
        raise TaskSetError(f"{where} gives to a task twice, or to one without a name; name each task once.")
    return names


def _parse_interrupt_table(row: Mapping[str, Any], number_: int, source: str) -> InterruptSpec:
    """Returns the interrupt of one `[[interrupt]]` table. Raises TaskSetError."""
    where = f"{source}, {_table_name_for_errors(row, 'interrupt', number_)}"
    _require_known_keys(row, _INTERRUPT_KEYS, where)
    arrivals = _parse_arrival_limits(row, where)
    period, wcet, deadline = _parse_task_times(row, where, arrivals)
    jitter = parse_duration_key(row, "jitter", where) or ZERO_DURATION
    gives = _parse_single_line_string(row, "gives", "", where)
    core = _parse_core_number(row, where)
    return InterruptSpec(_parse_table_name(row, where), period, wcet, deadline, jitter, core, gives, arrivals)


def _parse_arrival_limits(row: Mapping[str, Any], where: str) -> tuple[JobArrivalLimit, ...]:
    """Returns the limits of arrivals of one table, the shortest window first. Raises TaskSetError."""
    limits = []
    for table in _toml_tables_under_key(row, "arrivals", where):
        _require_known_keys(table, _ARRIVAL_KEYS, f"{where}, arrivals")
        window = parse_duration_key(table, "window", f"{where}, arrivals")
        if window is None or not window.value or "count" not in table:
            raise TaskSetError(f"{where}: arrivals need count and window_us, neither of them 0; add what is missing.")
        count = _parse_whole_number(table, "count", f"{where}, arrivals", None)
        if not 0 < count <= MAX_ARRIVAL_COUNT:
            raise TaskSetError(f"{where}: a count of arrivals is {count}; it must be from 1 to {MAX_ARRIVAL_COUNT:,}.")
        limits.append(JobArrivalLimit(count, window))
    if len({limit.window.in_cycles for limit in limits}) > 1:
        raise TaskSetError(f"{where}: some windows of its arrivals are in cycles and some are not; use one of both.")
    return tuple(sorted(limits, key=lambda limit: limit.window.value))


def _parse_core_number(row: Mapping[str, Any], where: str) -> int:
    """Returns the number of the core on which a task runs."""
    requested = row.get("core", 0)
    if isinstance(requested, list) or (isinstance(requested, str) and requested.lower() in _MIGRATING):
        raise TaskSetError(
            f"{where}: core is {quote_text(str(requested))}: this analysis does not support tasks that run on several "
            "cores (global scheduling); give each task one core."
        )
    core = _parse_whole_number(row, "core", where, 0)
    if core >= MAX_CORES:
        raise TaskSetError(f"{where}: core is {core}; cores are numbered from 0 to {MAX_CORES - 1}.")
    return core


def _parse_critical_section(row: Mapping[str, Any], where: str) -> CriticalSectionSpec:
    """Returns the critical section of one table. Raises TaskSetError."""
    _require_known_keys(row, _SECTION_KEYS, f"{where}, section")
    length = parse_duration_key(row, "length", f"{where}, section")
    if length is None or "resource" not in row:
        raise TaskSetError(f"{where}: a section needs resource and length_us; add what is missing.")
    return CriticalSectionSpec(_parse_single_line_string(row, "resource", "", where), length)


def _parse_task_times(
    row: Mapping[str, Any], where: str, arrivals: tuple[JobArrivalLimit, ...] = ()
) -> tuple[Duration, Duration, Duration]:
    """Returns period, WCET and deadline of a task. The deadline is the period unless it is given.
    With limits of arrivals, the period is their shortest window.
    """
    period, wcet = parse_duration_key(row, "period", where), parse_duration_key(row, "wcet", where)
    if arrivals and period is not None:
        raise TaskSetError(f"{where} has a period and arrivals; keep one of them.")
    period = arrivals[0].window if arrivals else period
    for name, times in (("period", period), ("wcet", wcet)):
        if times is None:
            raise TaskSetError(f"{where} has no {name}; add {name}_us.")
        if times.value == 0:
            raise TaskSetError(f"{where}: {name} is 0; give a longer time.")
    assert period is not None
    assert wcet is not None
    deadline = parse_duration_key(row, "deadline", where) or period
    if deadline.value == 0:
        raise TaskSetError(f"{where}: deadline is 0; give a longer time.")
    return period, wcet, deadline


def _require_known_keys(row: Mapping[str, Any], known_keys: tuple[str, ...], where: str) -> None:
    """Raises TaskSetError for a key that is not known, with the nearest known one."""
    for key in row:
        stem = next(
            (name for name in known_keys if key == name or (name in _KEYS_WITH_UNIT and key.startswith(f"{name}_"))),
            None,
        )
        if stem is None:
            stem = key.rsplit("_", 1)[0]
            longer = [known for known in known_keys if known.startswith(stem)]
            near = longer if len(longer) == 1 else difflib.get_close_matches(stem, known_keys, n=1, cutoff=0.6)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known_keys)}."
            raise TaskSetError(f"{where}: there is no key {quote_text(key)}; {hint}")


_KEYS_WITH_UNIT: Final = (*_TIMES, "length", "window")


def _table_name_for_errors(row: Mapping[str, Any], kind: str, number_: int) -> str:
    """Returns the name of a table in error messages: its own name, or its number."""
    return f"{kind} {escape_to_one_line(str(row['name'])[:MAX_NAME_CHARS])}" if row.get("name") else f"{kind} {number_}"


def _parse_table_name(row: Mapping[str, Any], where: str) -> str:
    """Returns the name in a table. Raises TaskSetError if there is none."""
    name = _parse_single_line_string(row, "name", "", where)
    if not name:
        raise TaskSetError(f"{where} has no name; add one.")
    return name


def _parse_single_line_string(row: Mapping[str, Any], key: str, default: str, where: str) -> str:
    """Returns a name or title of a table, on one line and no longer than a table can show."""
    value = row.get(key, default)
    if not isinstance(value, str | int | Decimal) or len(str(value)) > MAX_NAME_CHARS or not str(value).isprintable():
        raise TaskSetError(
            f"{where}: its {key} is not a text of up to {MAX_NAME_CHARS} printable characters; correct it."
        )
    return str(value)


def _parse_whole_number(row: Mapping[str, Any], key: str, where: str, default: int | None) -> int:
    """Returns the whole number under a key of a table.
    Raises TaskSetError for any other value, or a missing one without a default.
    """
    value = row.get(key, default)
    if value is None:
        raise TaskSetError(f"{where} has no {key}; add one, a whole number (a higher priority is more urgent).")
    result = parse_nonnegative_number(value, f"{where}, {key}", "write a whole number from 0 on, such as 1 or 12")
    if result.denominator != 1:
        raise TaskSetError(f"{where}: {key} is {value}; it must be a whole number.")
    return int(result)


def _parse_word_from_choices(
    table: Mapping[str, Any], key: str, known: tuple[str, ...], default: str, source: str
) -> str:
    """Returns the word under a key of a table, which must be a known one. Raises TaskSetError."""
    value = str(table.get(key, default))
    if value not in known:
        raise TaskSetError(f"{source}: {key} is {quote_text(value)}; known: {', '.join(known)}.")
    return value
