"""The tables of a study, for terminal and report alike, and the study as one JSON object."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

from rtoslab.base import count_with_noun
from rtoslab.reports import TableData
from rtoslab.rta.arrival_curves import ArrivalCurve
from rtoslab.rta.bounds import ResponseBound
from rtoslab.rta.charges import MODEL_NAMES, MODEL_TITLES, KernelOverheadAccountingModel
from rtoslab.rta.overheads import KernelOverheads
from rtoslab.rta.sensitivity import STEPS_PER_BOUND, WcetGrowthMargin
from rtoslab.rta.system import IntegerTimeInterrupt, IntegerTimeTask, exact_utilisation
from rtoslab.rta.task_set_study import TaskSetStudy
from rtoslab.rta.units import WHOLE_FROM_US, microseconds_with_decimals, number_with_decimals

_DASH: Final = "-"


def response_bounds_table(study: TaskSetStudy) -> TableData:
    """Returns a table of each task's parameters, its bound by every model, and its slack."""
    models = tuple(study.analyses)
    columns = (
        "task",
        ">prio",
        ">period",
        ">WCET",
        ">deadline",
        *(f">{MODEL_NAMES[item]}" for item in models),
        ">slack",
        "met",
    )
    rows = []
    for task in study.system.tasks:
        bound = study.analysis_of_schedulability_answer.find_response_bound(task.name)
        rows.append([
            task.name, str(task.priority), _arrivals_text(study, task), _microseconds_text(study, task.wcet),
            _microseconds_text(study, task.deadline),
            *(
                _response_bound_text(study, study.analyses[model].find_response_bound(task.name))
                for model in models
            ),
            _microseconds_text(study, bound.slack_until_deadline), "yes" if bound.is_deadline_met else "NO",
        ])  # fmt: skip
    for one in (interrupt for interrupt in study.system.interrupts if not interrupt.implied):
        bound = study.analysis_of_schedulability_answer.find_response_bound(one.name)
        rows.append([
            one.name, "interrupt", _arrivals_text(study, one), _microseconds_text(study, one.wcet),
            _microseconds_text(study, one.deadline),
            *(
                _response_bound_text(study, study.analyses[model].find_response_bound(one.name))
                for model in models
            ),
            _microseconds_text(study, bound.slack_until_deadline), "yes" if bound.is_deadline_met else "NO",
        ])  # fmt: skip
    meaning = "; ".join(f"{MODEL_NAMES[model]}: {MODEL_TITLES[model]}" for model in models)
    note = f"{_utilisation_sentences(study)} Overhead models: {meaning}.{_arrival_curve_sentences(study)}"
    return TableData("Bounds of the worst-case response time (WCRT), us", columns, rows, note)


def _arrivals_text(study: TaskSetStudy, item: IntegerTimeTask | IntegerTimeInterrupt) -> str:
    """Returns a period in microseconds, or a word for an arrival curve, as text."""
    return "bursts" if item.curve else _microseconds_text(study, item.period)


def _arrival_curve_sentences(study: TaskSetStudy) -> str:
    """Returns a sentence for each arrival curve, with the tasks and interrupts that arrive by it. Empty if none is."""
    names: dict[ArrivalCurve, list[str]] = {}
    for curve, name in (
        *((task.curve, task.name) for task in study.system.tasks),
        *((one.curve, one.name) for one in study.system.interrupts if not one.implied),
    ):
        names.setdefault(curve, []).append(name)
    names.pop((), None)
    sentences = []
    for curve, arriving in names.items():
        limits = ", ".join(f"{count} in {_microseconds_text(study, window)} us" for count, window in curve)
        sentences.append(f" Bursts of {', '.join(arriving)}: at most {limits}.")
    return "".join(sentences)


def _utilisation_sentences(study: TaskSetStudy) -> str:
    """Returns a sentence for each core: the utilisation by tasks and interrupts, and with the kernel's overheads."""
    parts, system = [], study.system
    for core in system.used_core_numbers:
        loads = [task.long_run_load(task.wcet) for task in system.tasks if task.core == core]
        loads += [interrupt.long_run_load(interrupt.wcet) for interrupt in system.interrupts if interrupt.core == core]
        bounds = [
            study.analysis_of_schedulability_answer.find_response_bound(task.name)
            for task in system.tasks
            if task.core == core
        ]
        own, whole = float(exact_utilisation(loads)), max((bound.utilisation for bound in bounds), default=0.0)
        where = f"Utilisation of core {core}" if len(system.used_core_numbers) > 1 else "Utilisation"
        parts.append(f"{where}: {own:.3f} by tasks and interrupts, {max(whole, own):.3f} with the kernel's overheads.")
    return " ".join(parts)


def observed_responses_table(study: TaskSetStudy) -> TableData | None:
    """Returns a table of the observed response times beside the bounds. None if nothing was run."""
    check = study.check
    if check is None:
        return None
    models = tuple(study.analyses)
    tightness = {model: check.ratio_of_bound_to_response(analysis) for model, analysis in study.analyses.items()}
    rows = [
        [
            task.name,
            f"{task.job_count:,}",
            _microseconds_text(study, round(task.median_response)),
            _microseconds_text(study, task.longest_response or None),
            _response_bound_text(study, study.analysis_of_schedulability_answer.find_response_bound(task.name)),
            *(_ratio_as_text(tightness[model].get(task.name)) for model in models),
            str(task.misses),
        ]
        for task in (*check.tasks, *check.interrupts)
    ]
    ratios = (f">{MODEL_NAMES[model]} / max" for model in models)
    columns = ("task", ">jobs", ">median", ">max", ">bound", *ratios, ">missed")
    tick_us = check.trace.tick_cycles * 1e6 / study.system.clock_hz
    times = check.ticks / check.hyperperiod_ticks
    part = "the hyperperiod" if times == 1 else f"{times:.3g} times the hyperperiod"
    ticks, jobs = count_with_noun(check.ticks, "tick"), count_with_noun(check.job_count, "job")
    note = (
        f"From the critical instant on, {part}: {ticks} of {tick_us:g} us, {jobs}. `/ max`: the bound of each "
        "model divided by the longest response. A value below 1 would mean that the bound is wrong."
    )
    return TableData("Responses observed on the virtual board, us", columns, rows, note)


def chain_latencies_table(study: TaskSetStudy) -> TableData | None:
    """Returns a table of the latency bounds of the chains of tasks. None if the file names no chain."""
    if not study.task_chain_latency_bounds:
        return None
    observed = study.observed_chain_latencies
    rows = [
        [chain.name, _microseconds_text(study, chain.deadline), _microseconds_text_rounded_up(study, chain.latency),
         _microseconds_text(study, observed.get(chain.name)), "yes" if chain.is_deadline_met else "NO"]
        for chain in study.task_chain_latency_bounds
    ]  # fmt: skip
    released = any(task.sender for task in study.system.tasks)
    paths = "; ".join(f"{chain.name}: {' > '.join(chain.tasks)}" for chain in study.system.chains)
    note = (
        "From the input of the first task to the output of the last one. Each task uses the data in its next "
        f"job{', or in the job that the task before it releases' if released else ''}. {paths}."
    )
    return TableData("End-to-end latencies of chains, us", ("chain", ">deadline", ">bound", ">max", "met"), rows, note)


def response_bound_parts_table(study: TaskSetStudy) -> TableData:
    """Returns a table with the parts of each task's bound, by cause."""
    causes = list(dict.fromkeys(name for task in study.analysis_of_schedulability_answer.tasks for name in task.parts))
    rows = [
        [
            task.name,
            *(_microseconds_text(study, task.parts.get(name)) for name in causes),
            _response_bound_text(study, task),
        ]
        for task in study.analysis_of_schedulability_answer.tasks
    ]
    note = (
        "`waiting` is work that arrived before the worst job, and is subtracted. The other parts add up to the bound."
    )
    return TableData(
        f"Parts of the bounds ({MODEL_NAMES[study.overhead_model_of_schedulability_answer]}), us",
        ("task", *(f">{name}" for name in causes), ">bound"),
        rows,
        note if "waiting" in causes else "",
    )


def overhead_costs_table(study: TaskSetStudy) -> TableData | None:
    """Returns a table with the costs of the kernel's overhead for each task, by component. None without overheads."""
    if not study.costs:
        return None
    parts = list(dict.fromkeys(name for cost in study.costs.values() for name in cost))
    rows = [
        [task, *(_microseconds_text(study, costs.get(name)) for name in parts)] for task, costs in study.costs.items()
    ]
    return TableData(
        "Cost of each overhead: how much lower the bound would be without it, us",
        ("task", *(f">{name}" for name in parts)),
        rows,
    )


def sensitivity_table(study: TaskSetStudy) -> TableData | None:
    """Returns a table of how much each WCET may grow alone. None if the sensitivity was not computed."""
    grown = study.sensitivity
    if grown is None:
        return None
    rows = []
    for task in study.system.tasks_of_image:
        name = task.task_name
        growth = grown.growth.get(name)
        if growth is None:
            rows.append([name, _microseconds_text(study, task.wcet), _DASH, _DASH, _DASH])
            continue
        sign = "+" if growth >= 0 else ""
        percent = f"{sign}{number_with_decimals(100 * growth / task.wcet, 1, math.floor)} %"
        limit = _wcet_text_after_growth(study, task.wcet, growth)
        rows.append(
            [name, _microseconds_text(study, task.wcet), _microseconds_text_rounded_down(study, growth), limit, percent]
        )
    load = float(grown.utilisation)
    note = (
        f"All WCETs together may grow by a factor of {_factor_text_rounded_down(grown.factor)}, to the breakdown "
        f"utilisation of {load:.3f}.{_sensitivity_lower_limits_sentence(grown)}"
    )
    columns = ("task", ">WCET", ">margin", ">new WCET", ">change")
    return TableData("Sensitivity to each WCET alone, us", columns, rows, note)


def _factor_text_rounded_down(factor: Fraction) -> str:
    """Returns a factor as text, rounded down. A value other than 1 does not read as 1."""
    if factor < 1:
        return number_with_decimals(factor, 3, math.floor)
    decimals = 3
    while factor > 1 and math.floor(factor * 10**decimals) == 10**decimals:
        decimals += 1
    return number_with_decimals(factor, decimals, math.floor)


def _wcet_text_after_growth(study: TaskSetStudy, wcet: int, growth: Fraction) -> str:
    """Returns a grown WCET as text, rounded down."""
    exact, now = (study.system.exact_microseconds(value) for value in (wcet + growth, wcet))
    decimals = 0 if exact >= WHOLE_FROM_US else study.system.printed_decimals
    while exact != now and math.floor(exact * 10**decimals) == round(now * 10**decimals):
        decimals += 1
    return number_with_decimals(exact, decimals, math.floor)


def _sensitivity_lower_limits_sentence(grown: WcetGrowthMargin) -> str:
    """Returns a sentence that names the figures of the sensitivity that are only lower limits. Empty if none is."""
    names = [*(["the factor"] if grown.factor_bounded else []), *grown.bounded_tasks]
    if not names:
        return ""
    return (
        f" The search was limited to {count_with_noun(STEPS_PER_BOUND, 'step')} per bound and reached this limit for "
        f"{', '.join(names)}: more growth than shown may be possible."
    )


def fitted_overheads_table(overheads: KernelOverheads) -> TableData:
    """Returns a table of the fitted overheads with their residuals."""
    rows = [
        [fit.name, fit.model, f"{fit.samples:,}", f"{fit.base:,.1f}", f"{fit.slope:,.1f}", f"{fit.rms:,.1f}",
         f"{fit.largest_above:+,.1f}", f"{fit.largest_observed:,}"]
        for fit in overheads.fit
    ]  # fmt: skip
    columns = (
        "overhead",
        "model",
        ">samples",
        ">base",
        ">slope",
        ">RMS of the rest",
        ">largest above",
        ">largest seen",
    )
    note = "The analysis uses values that no sample exceeds instead of the fit."
    return TableData("Fitted overheads, cycles", columns, rows, note)


def overheads_comparison_table(study: TaskSetStudy, other: KernelOverheads) -> TableData:
    """Returns a table of the study's overheads beside those of another source, in microseconds."""
    own, count = study.overheads, len(study.system.tasks)
    assert own is not None
    rows = []
    for name, figure in _COMPARED_FIGURES.items():
        here, figures = (1e6 * figure(overheads, count) / overheads.clock_hz for overheads in (own, other))
        rows.append(
            [name.format(count), f"{figures:,.3f}", f"{here:,.3f}", f"{here / figures:.2f}" if figures else _DASH]
        )
    note = f"There: {other.note}." if other.note else ""
    return TableData("Overheads side by side, us", ("overhead", ">there", ">here", ">here / there"), rows, note)


_COMPARED_FIGURES: Final[Mapping[str, Callable[[KernelOverheads, int], int]]] = {
    "tick that releases no task": lambda overheads, _: overheads.tick.base_cycles,
    "each task released": lambda overheads, _: overheads.tick.per_task_cycles,
    "tick that releases all {}": lambda overheads, count: (
        overheads.tick.base_cycles + count * overheads.tick.per_task_cycles
    ),
    "switch to a more urgent task": lambda overheads, _: overheads.switch.up_cycles,
    "switch to a less urgent task": lambda overheads, _: overheads.switch.down_cycles,
    "switch to the idle task": lambda overheads, _: overheads.switch.to_idle_cycles,
    "switch from the idle task": lambda overheads, _: overheads.switch.from_idle_cycles,
}


def study_as_json(study: TaskSetStudy) -> dict[str, Any]:
    """Returns a study as a JSON object. Times are in microseconds.
    Names that end in `_units` are in units of the system.
    """
    check, longest = study.check, study.observed_chain_latencies
    return {
        "title": study.task_set.title,
        "units_per_second": study.system.units_per_second,
        "model": study.overhead_model_of_schedulability_answer.value,
        "holds": study.is_schedulable,
        "answer": study.schedulability_answer_sentences(),
        "notes": [*study.notes, *(check.notes if check is not None else ())],
        "overheads": study.overheads.model_dump(mode="json") if study.overheads is not None else None,
        "bounds": {
            model.value: {
                bound.name: _response_time_bound_as_json(study, bound) for bound in (*item.tasks, *item.interrupts)
            }
            for model, item in study.analyses.items()
        },
        "costs_us": {task: {name: study.system.to_microseconds(value) for name, value in item.items()}
                     for task, item in study.costs.items()},
        **_schedulability_sensitivity_as_json(study),
        "chains": {
            chain.name: {
                "latency_us": None if chain.latency is None else study.system.to_microseconds(chain.latency),
                "deadline_us": study.system.to_microseconds(chain.deadline),
                "meets": chain.is_deadline_met,
                "longest_us": _system_units_to_microseconds(study, longest.get(chain.name)),
            }
            for chain in study.task_chain_latency_bounds
        },
        "check": _observed_run_as_json(study),
    }  # fmt: skip


def _schedulability_sensitivity_as_json(study: TaskSetStudy) -> dict[str, Any]:
    """Returns the sensitivity of a study as a JSON object."""
    grown = study.sensitivity
    if grown is None:
        return {}
    return {
        "breakdown": {"factor": float(grown.factor), "utilisation": float(grown.utilisation)},
        "growth_us": {name: float(study.system.exact_microseconds(value)) for name, value in grown.growth.items()},
        "growth_bounded": {"factor": grown.factor_bounded, "tasks": list(grown.bounded_tasks)},
    }


def _system_units_to_microseconds(study: TaskSetStudy, units: int | None) -> float | None:
    """Returns units of the system as microseconds, or None."""
    return None if units is None else study.system.to_microseconds(units)


def _response_time_bound_as_json(study: TaskSetStudy, bound: ResponseBound) -> dict[str, Any]:
    """Returns a response-time bound as a JSON object."""
    us = study.system.to_microseconds
    return {
        "response_units": bound.response,
        "response_us": None if bound.response is None else us(bound.response),
        "deadline_us": us(bound.deadline),
        "slack_us": None if bound.slack_until_deadline is None else us(bound.slack_until_deadline),
        "meets": bound.is_deadline_met,
        "reason": bound.reason,
        "parts_us": {name: us(value) for name, value in bound.parts.items()},
    }


def _observed_run_as_json(study: TaskSetStudy) -> dict[str, Any] | None:
    """Returns the observed run of a study as a JSON object, or None."""
    check = study.check
    if check is None:
        return None
    ratios: Mapping[KernelOverheadAccountingModel, Mapping[str, float]] = {
        model: check.ratio_of_bound_to_response(item) for model, item in study.analyses.items()
    }
    return {
        "ticks": check.ticks,
        "hyperperiod_ticks": check.hyperperiod_ticks,
        "jobs": check.job_count,
        "misses": check.missed_deadlines,
        "exceeded": study.tasks_over_bound,
        "uncovered": [
            {
                "what": excess.event,
                "took_cycles": excess.took_cycles,
                "charged_cycles": excess.charged_cycles,
                "at_cycle": excess.ended_at,
            }
            for excess in study.kernel_entries_above_charge
        ],
        "tasks": {
            task.name: {
                "jobs": task.job_count,
                "longest_us": study.system.to_microseconds(task.longest_response),
                "longest_units": task.longest_response,
                "misses": task.misses,
                "tightness": {model.value: item.get(task.name) for model, item in ratios.items()},
            }
            for task in (*check.tasks, *check.interrupts)
        },
    }


def _microseconds_text(study: TaskSetStudy, units: int | None) -> str:
    """Returns units of the system in microseconds, as text."""
    if units is None:
        return _DASH
    exact = study.system.exact_microseconds(units)
    return microseconds_with_decimals(exact, decimals=study.system.printed_decimals)


def _microseconds_text_rounded_down(study: TaskSetStudy, units: Fraction) -> str:
    """Returns units of the system in microseconds, as text, rounded down: growth must not exceed what is printed."""
    exact = study.system.exact_microseconds(units)
    return microseconds_with_decimals(exact, decimals=study.system.printed_decimals, rounding=math.floor)


def _response_bound_text(study: TaskSetStudy, bound: ResponseBound) -> str:
    """Returns a response-time bound in microseconds, as text, rounded up."""
    return _microseconds_text_rounded_up(study, bound.response)


def _microseconds_text_rounded_up(study: TaskSetStudy, units: int | None) -> str:
    """Returns units of the system in microseconds, as text, rounded up."""
    if units is None:
        return "none"
    exact = study.system.exact_microseconds(units)
    return microseconds_with_decimals(exact, decimals=study.system.printed_decimals, rounding=math.ceil)


def _ratio_as_text(value: float | None) -> str:
    return _DASH if value is None else f"{value:.3f}"
