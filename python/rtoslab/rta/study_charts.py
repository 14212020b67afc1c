"""The charts of a task set's study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import numpy as np

from rtoslab.reports import ChartData
from rtoslab.rta.board_check import TaskSetBoardCheck
from rtoslab.rta.charges import MODEL_NAMES, KernelOverheadAccountingModel
from rtoslab.rta.entries import TaskInterruption
from rtoslab.rta.prices import CycleLedgerEntryCosts
from rtoslab.rta.record import IDLE, TaskSetTrace
from rtoslab.rta.task_set_study import TaskSetStudy
from rtoslab.targets import SYSTICK

_BINS: Final = 40
_MOST_TICKS: Final = 400
_SHOWN_TICKS: Final = 24
"""The longest part of the schedule that is shown."""


def response_time_chart(study: TaskSetStudy, check: TaskSetBoardCheck) -> ChartData:
    """Returns a chart with a histogram of every task's response times, with the bounds.
    It shows the deadline only if that does not squeeze the rest.
    """
    us = study.system.to_microseconds
    rows: list[dict[str, Any]] = []
    for task in check.tasks:
        if not task.response_times:
            continue
        counts, edges = np.histogram(
            [us(response) for response in task.response_times], bins=min(_BINS, len(set(task.response_times)) + 1)
        )
        rows += [
            {"task": task.name, "low": float(low), "high": float(high), "count": int(count)}
            for count, (low, high) in zip(counts, pairwise(edges), strict=True)
            if count
        ]
        lines = {"longest observed": task.longest_response}
        for model, analysis in study.analyses.items():
            response = analysis.find_response_bound(task.name).response
            lines |= {f"bound, {MODEL_NAMES[model]}": response} if response is not None else {}
        if task.deadline <= 1.5 * max(lines.values()):
            lines["deadline"] = task.deadline
        rows += [{"task": task.name, "line": name, "at": us(value)} for name, value in lines.items()]
    caption = "Response times observed, by task, with their bounds by each overhead model."
    return ChartData("responses", rows, caption, x_title="response, us")


def running_task_chart(study: TaskSetStudy, check: TaskSetBoardCheck) -> ChartData:
    """Returns a chart of the running task over time, from the critical instant on."""
    trace, us = check.trace, study.system.microseconds_of_cycles
    firsts = [job.end for job in trace.jobs if job.number == 0]
    end = min(max(firsts, default=trace.end), trace.origin + _SHOWN_TICKS * trace.tick_cycles) + trace.tick_cycles // 10
    names = list(study.system.task_names)
    order = sorted(range(len(names)), key=lambda at: -trace.rows[at].priority)
    rows: list[dict[str, Any]] = []
    for task in order:
        releases = _task_release_cycles_before(trace, task, end)
        rows += [{"row": names[task], "release": us(release - trace.origin)} for release in releases]
        rows += [
            {
                "row": names[task],
                "from": us(start - trace.origin),
                "to": us(min(stop, end) - trace.origin),
                "what": what,
            }
            for start, stop, what in _running_spans_of_task(trace, task)
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
        "timeline", rows, "The schedule from the critical instant. Vertical marks are releases.", x_title="us"
    )


def _task_release_cycles_before(trace: TaskSetTrace, task: int, end: int) -> Sequence[int]:
    """Returns the cycles at which a task is released before `end`."""
    row = trace.rows[task]
    if row.line:
        raised = (trace.origin + cycle for cycle in trace.lines[row.line - 1].raised)
        return [cycle for cycle in raised if cycle < end]
    if not row.is_tick_released:
        return [cycle for cycle in trace.return_cycles_of_release_calls(task) if cycle < end]
    last = row.last_released_job((end - trace.origin - 1) // trace.tick_cycles)
    return [
        trace.origin + row.job_arrival_and_release_ticks(number)[1] * trace.tick_cycles for number in range(last + 1)
    ]


def _running_spans_of_task(trace: TaskSetTrace, task: int) -> list[tuple[int, int, str]]:
    """Returns the spans in which a task ran: (from, to, "work" inside its job's work, else "kernel for it")."""
    executing = trace.index_of_task_that_executes_jobs(task)
    ran = [
        (one.end, next_.start)
        for one, next_ in pairwise(trace.handlers)
        if one.task_after == executing and one.task_after != IDLE and next_.start > one.end
    ]
    work_spans = [(job.begin, job.end) for job in trace.jobs if job.task == task]
    pieces: list[tuple[int, int, str]] = []
    for start, stop in ran:
        at = start
        for begin, end in work_spans:
            if end <= at or begin >= stop:
                continue
            if begin > at:
                pieces.append((at, begin, "kernel for it"))
            pieces.append((max(at, begin), min(stop, end), "work"))
            at = min(stop, end)
        if at < stop:
            pieces.append((at, stop, "kernel for it"))
    # The timer task executes all timers: only the functions show which of them it works for.
    return [piece for piece in pieces if piece[2] == "work"] if trace.rows[task].is_timer else pieces


def tick_cycles_chart(study: TaskSetStudy, check: TaskSetBoardCheck) -> ChartData | None:
    """Returns a chart of every tick's cycles beside the models' charges. None without overheads."""
    if study.overheads is None:
        return None
    us = study.system.microseconds_of_cycles
    shown, prices = check.tick_interruptions_of_work_or_idle[:_MOST_TICKS], CycleLedgerEntryCosts(study.overheads)
    series = {
        "observed": [interruption.cycles for interruption in shown],
        MODEL_NAMES[KernelOverheadAccountingModel.WORST_TICK]: [
            interruption_cycles_in_worst_tick_model(prices, interruption, len(study.system.tasks))
            for interruption in shown
        ],
        MODEL_NAMES[KernelOverheadAccountingModel.SPLIT_TICK]: [
            prices.overhead_cycles_of_interruption(interruption) for interruption in shown
        ],
    }
    rows = [
        {"x": at, "y": round(us(value), 3), "series": name}
        for name, values in series.items()
        for at, value in enumerate(values)
    ]
    caption = "Cycles of the tick's handlers, including the switch if there is one, tick by tick."
    return ChartData("ticks", rows, caption, x_title="tick", y_title="handlers, us")


def interruption_cycles_in_worst_tick_model(
    prices: CycleLedgerEntryCosts, interruption: TaskInterruption, tasks: int
) -> int:
    """Returns the cycles that the worst-tick model charges for an interruption, with a release of every task."""
    return prices.overhead_cycles_of_interruption(replace(interruption, released=tasks))


def model_pessimism_chart(study: TaskSetStudy) -> ChartData | None:
    """Returns a chart with the increase of the bounds by each overhead model, in percent. None without overheads."""
    if study.overheads is None:
        return None
    rows = []
    for model in (KernelOverheadAccountingModel.WORST_TICK, KernelOverheadAccountingModel.SPLIT_TICK):
        for task in study.analyses[KernelOverheadAccountingModel.NO_OVERHEAD].tasks:
            more = study.analyses[model].find_response_bound(task.name).response
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
    caption = "Increase of each bound by the kernel's overhead, in the two models of the tick."
    return (
        ChartData("bars", rows, caption, x_title="task", y_title="above the bound without overhead, %")
        if rows
        else None
    )


def charts_with_data(*chart: ChartData | None) -> Sequence[ChartData]:
    """Returns those of the charts that have data."""
    return tuple(data for data in chart if data is not None and data.rows)
