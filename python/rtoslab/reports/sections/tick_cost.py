"""The kernel's own handlers: the tick by what it releases, the search for the next task by its steps."""

from collections.abc import Sequence
from itertools import chain

from rtoslab.analyses import (
    TickCostModel,
    cycles_by_released_tasks,
    distinct_point_names,
    fit_tick_cost_model,
    sample_statistics,
    scheduler_search_duration_samples,
)
from rtoslab.reports.table import ReportSection, TableData
from rtoslab.results import MeasuredPoint

_TICK = (
    "A model of the cycles that the tick's handler takes from its first cycle to its return. The cycles are a base "
    "plus an amount for each task that the tick releases: a straight line, fitted to all samples. Left over: "
    "measured cycles minus those of the model. The entry of the exception comes before the handler and is a separate "
    "series."
)
_SEARCH = (
    "The cycles of the function that chooses the next task, by the number of priorities that its search goes down. It "
    "never searches upwards, because a task that becomes ready raises the priority at which the search starts."
)


def tick_cost_section(points: Sequence[MeasuredPoint]) -> ReportSection | None:
    """Returns the report section on how many cycles the tick's handler takes, by the tasks it releases. None if no
    point shows it."""
    shown = [(point, fit_tick_cost_model(cycles_by_released_tasks(point))) for point in points]
    models = [(item, model) for item, model in shown if model is not None]
    if not models:
        return None
    names = distinct_point_names([item.point for item, _ in models], with_cores=False)
    rows = [
        _tick_model_row(name or "-", model, item.clock_hz) for name, (item, model) in zip(names, models, strict=True)
    ]
    columns = ("run with", ">ticks", ">base", ">each task", ">each task, us", ">RMS of the rest", ">longest tick",
               ">it released", ">share of each", ">share, us")  # fmt: skip
    left = chain.from_iterable(
        _residual_rows(name or "-", model) for name, (_, model) in zip(names, models, strict=True)
    )
    tables = (
        TableData("The tick as base and tasks, cycles", columns, rows),
        TableData(
            "Rest after the fit, cycles",
            ("run with", ">tasks released", ">ticks", ">predicted", ">least", ">mean", ">most"),
            list(left),
        ),
    )
    return ReportSection("tick", "The tick by tasks released", (_TICK,), (), tables)


def _tick_model_row(name: str, model: TickCostModel, clock_hz: int) -> list[str]:
    """Returns the table row of one kernel's cost model of the tick."""
    microseconds = 1e6 / clock_hz
    return [
        name,
        f"{model.n:,}",
        f"{model.base:,.1f}",
        f"{model.per_task:,.1f}",
        f"{model.per_task * microseconds:,.3f}",
        f"{model.rms:,.1f}",
        f"{model.worst:,}",
        str(model.worst_count),
        *(
            ("-", "-")
            if model.cycles_per_released_task is None
            else (f"{model.cycles_per_released_task:,.1f}", f"{model.cycles_per_released_task * microseconds:,.3f}")
        ),
    ]


def _residual_rows(name: str, model: TickCostModel) -> list[list[str]]:
    """Returns a table row for each number of released tasks, with how far the model's prediction is from the
    samples."""
    return [
        [
            name,
            str(residual.count),
            f"{residual.n:,}",
            f"{residual.predicted:,.1f}",
            *_format_numbers_with_sign(residual.least, residual.mean, residual.most),
        ]
        for residual in model.residuals
    ]


def _format_numbers_with_sign(*values: float) -> list[str]:
    """Returns each number as text with its sign and one decimal."""
    return [f"{value:+,.1f}" for value in values]


def next_task_search_report_section(points: Sequence[MeasuredPoint]) -> ReportSection | None:
    """Returns the report section on the function in which a kernel searches for the next task. None if no kernel
    does."""
    searching = [point for point in points if scheduler_search_duration_samples(point)]
    if not searching:
        return None
    names = distinct_point_names([item.point for item in searching], with_cores=False)
    rows = [
        row
        for name, item in zip(names, searching, strict=True)
        for row in _task_search_step_table_rows(name or "-", item)
    ]
    columns = ("run with", ">steps", "choice", ">n", ">min", ">max", ">max, us")
    table = TableData("The choice of the next task by steps of the search, cycles", columns, rows)
    return ReportSection("search", "The search for the next task", (_SEARCH,), (), (table,), folded=True)


def _number_text_without_decimals(value: float) -> str:
    """Returns a number as text, without decimals."""
    return f"{value:,.0f}"


def _task_search_step_table_rows(name: str, point: MeasuredPoint) -> list[list[str]]:
    """Returns a table row for each number of steps that the search for the next task took. `name`: that of the kernel
    and its conditions."""
    rows = []
    for samples in sorted(
        chain.from_iterable(scheduler_search_duration_samples(point).values()),
        key=lambda samples: (samples.steps or 0, samples.id),
    ):
        figures = sample_statistics(samples.cycles)
        ends = (
            _number_text_without_decimals(figures.minimum),
            _number_text_without_decimals(figures.maximum),
            f"{figures.maximum * 1e6 / point.clock_hz:.3f}",
        )
        rows.append([name, str(samples.steps), samples.title, str(figures.n), *ends])
    return rows
