"""The data of a study's charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import numpy as np

from rtoslab.reports import ChartData
from rtoslab.rta.board_check import Check
from rtoslab.rta.charges import MODEL_NAMES, Model
from rtoslab.rta.entries import Interruption
from rtoslab.rta.prices import Prices
from rtoslab.rta.record import IDLE, Trace
from rtoslab.rta.task_set_study import Study
from rtoslab.targets import SYSTICK

_BINS: Final = 40
_MOST_TICKS: Final = 400
_SHOWN_TICKS: Final = 24
"""The longest part of the schedule that is shown."""


def distribution(study: Study, check: Check) -> ChartData:
    """Responses of every task, with the bounds drawn in. The deadline only where it does not squeeze the rest."""
    us = study.system.microseconds
    rows: list[dict[str, Any]] = []
    for task in check.tasks:
        if not task.responses:
            continue
        counts, edges = np.histogram([us(one) for one in task.responses], bins=min(_BINS, len(set(task.responses)) + 1))
        rows += [
            {"task": task.name, "low": float(low), "high": float(high), "count": int(count)}
            for count, (low, high) in zip(counts, pairwise(edges), strict=True)
            if count
        ]
        lines = {"longest observed": task.longest}
        for model, analysis in study.analyses.items():
            response = analysis.find_bound(task.name).response
            lines |= {f"bound, {MODEL_NAMES[model]}": response} if response is not None else {}
        if task.deadline <= 1.5 * max(lines.values()):
            lines["deadline"] = task.deadline
        rows += [{"task": task.name, "line": name, "at": us(value)} for name, value in lines.items()]
    caption = "Response times observed, by task, with their bounds by each overhead model."
    return ChartData("responses", rows, caption, x_title="response, us")


def timeline(study: Study, check: Check) -> ChartData:
    """The running task over time, from the critical instant to the end of the longest first response."""
    trace, us = check.trace, study.system.microseconds_of_cycles
    firsts = [job.end for job in trace.jobs if job.number == 0]
    end = min(max(firsts, default=trace.end), trace.origin + _SHOWN_TICKS * trace.tick_cycles) + trace.tick_cycles // 10
    names = [item.name for item in study.system.tasks]
    order = sorted(range(len(names)), key=lambda at: -trace.rows[at].priority)
    rows: list[dict[str, Any]] = []
    for task in order:
        releases = _releases(trace, task, end)
        rows += [{"row": names[task], "release": us(release - trace.origin)} for release in releases]
        rows += [
            {
                "row": names[task],
                "from": us(start - trace.origin),
                "to": us(min(stop, end) - trace.origin),
                "what": what,
            }
            for start, stop, what in _pieces(trace, task)
            if start < end
        ]
    rows += [
        {
            "row": "kernel",
            "from": us(handler.start - trace.origin),
            "to": us(handler.end - trace.origin),
            "what": "interrupt" if handler.line else "tick" if handler.exception == SYSTICK else "switch",
        }
        for handler in trace.handlers
        if handler.start < end
    ]
    return ChartData(
        "timeline", rows, "The schedule from the critical instant on; upright marks are releases.", x_title="us"
    )


def _releases(trace: Trace, task: int, end: int) -> Sequence[int]:
    row = trace.rows[task]
    if row.line:
        raised = (trace.origin + cycle for cycle in trace.lines[row.line - 1].raised)
        return [cycle for cycle in raised if cycle < end]
    first = trace.origin + row.offset_ticks * trace.tick_cycles
    return range(first, end, row.period_ticks * trace.tick_cycles)


def _pieces(trace: Trace, task: int) -> list[tuple[int, int, str]]:
    """Returns where a task ran: (from, to, "work" inside its job's work, else "kernel for it")."""
    ran = [
        (one.end, next_.start)
        for one, next_ in pairwise(trace.handlers)
        if one.after == task and one.after != IDLE and next_.start > one.end
    ]
    works = [(job.begin, job.end) for job in trace.jobs if job.task == task]
    pieces: list[tuple[int, int, str]] = []
    for start, stop in ran:
        at = start
        for begin, end in works:
            if end <= at or begin >= stop:
                continue
            if begin > at:
                pieces.append((at, begin, "kernel for it"))
            pieces.append((max(at, begin), min(stop, end), "work"))
            at = min(stop, end)
        if at < stop:
            pieces.append((at, stop, "kernel for it"))
    return pieces


def ticks(study: Study, check: Check) -> ChartData | None:
    """Returns what every tick's handler took, beside what the models charge for it. None without overheads."""
    if study.overheads is None:
        return None
    us = study.system.microseconds_of_cycles
    shown, prices = check.plain_ticks[:_MOST_TICKS], Prices(study.overheads)
    series = {
        "observed": [interruption.cycles for interruption in shown],
        MODEL_NAMES[Model.WORST_TICK]: [
            worst_tick(prices, interruption, len(study.system.tasks)) for interruption in shown
        ],
        MODEL_NAMES[Model.PARTITION]: [prices.interruption(interruption) for interruption in shown],
    }
    rows = [
        {"x": at, "y": round(us(value), 3), "series": name}
        for name, values in series.items()
        for at, value in enumerate(values)
    ]
    caption = "The tick's handlers, with the switch where they hand over, tick by tick."
    return ChartData("ticks", rows, caption, x_title="tick", y_title="handlers, us")


def worst_tick(prices: Prices, interruption: Interruption, tasks: int) -> int:
    """Returns what the model of the worst tick charges one with, in cycles: a release of every task."""
    return prices.interruption(replace(interruption, released=tasks))


def pessimism(study: Study) -> ChartData | None:
    """Returns what the models with overheads add to the bound without overheads, in percent. None without overheads."""
    if study.overheads is None:
        return None
    rows = []
    for model in (Model.WORST_TICK, Model.PARTITION):
        for task in study.analyses[Model.NOTHING].tasks:
            more = study.analyses[model].find_bound(task.name).response
            if task.response and more is not None:
                percent = 100 * (more / task.response - 1)
                rows.append(
                    {
                        "x": task.name,
                        "y": round(percent, 3),
                        "series": MODEL_NAMES[model],
                        "text": f"{percent:.1f}",
                    }
                )
    caption = "What the kernel's overhead adds to each bound, by the two ways to charge for the tick."
    return (
        ChartData("bars", rows, caption, x_title="task", y_title="above the bound without overhead, %")
        if rows
        else None
    )


def charts(*chart: ChartData | None) -> Sequence[ChartData]:
    """Those that there are."""
    return tuple(data for data in chart if data is not None and data.rows)
