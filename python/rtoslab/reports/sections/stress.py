"""The speed that a task keeps under stress from another core, and the collisions that the stress causes."""

from collections.abc import Sequence

from rtoslab.analyses import (
    SEED_PARAMETER,
    STRESS_PARAMETER,
    StressLevelRunGroup,
    StressRun,
    compare_stress_runs,
    counts_per_second_of_point,
    distinct_point_names,
    group_runs_by_stress_level,
)
from rtoslab.base import all_items_phrase, count_with_noun
from rtoslab.reports.sections.naming import kernel_and_board_chart_entries
from rtoslab.reports.table import ChartData, ReportSection, TableData
from rtoslab.results import MeasuredPoint

STARVES = 100
"""A call with this many failed attempts or more is said to starve."""
_PROSE = (
    "The target task, pinned to core 0, takes and gives a semaphore without pause. The stress task, pinned to the "
    "other core, draws a random number in each iteration and accesses the same semaphore in the stated percentage "
    "of iterations. A collision is an attempt to take the semaphore while it is taken. It is counted from outside "
    "the image, at the kernel's functions."
)
_NOTE = (
    "Runs with the same percentage differ only in the seed of the random numbers. Accesses: of the stress task, per "
    "second. Busy: the share of the stress core's cycles for these accesses, including waits. Failed attempts: per "
    "second, with the number of calls in brackets. Busiest lock: the share of the window in which a core held it. A "
    "dash: not counted, because rtoslab does not know in which functions this kernel waits."
)


def stress_section(points: Sequence[MeasuredPoint]) -> ReportSection | None:
    """Returns the report section on how fast a task uses a semaphore while another core uses the same one, and how
    often they collide.

    None if no point was measured so.
    """
    steps_ = group_runs_by_stress_level(compare_stress_runs(points))
    if not steps_:
        return None
    names = _stress_series_names(steps_)
    marks = [
        {
            "x": step.percent,
            "series": name,
            "y": 100 * step.rate_range_relative_to_unstressed_run[1],
            "text": f"{100 * step.rate_range_relative_to_unstressed_run[1]:.0f}",
            **kernel_and_board_chart_entries(step.series.point),
        }
        for step, name in zip(steps_, names, strict=True)
        if step.rate_range_relative_to_unstressed_run
    ]
    chart = ChartData(
        "lines",
        marks,
        "Throughput of the target task by stress frequency, median of the runs, no stress = 100 %.",
        "iterations of the stress task that access the semaphore, %",
        "throughput of the target task, % of no stress",
    )
    charts = (chart,) if marks else ()
    return ReportSection(
        "stress",
        "One semaphore under stress",
        (_PROSE, *_paragraphs_on_stress_level_findings(steps_, names)),
        charts,
        (_stress_table(steps_, names),),
    )


def _stress_series_names(steps_: Sequence[StressLevelRunGroup]) -> list[str]:
    """Returns a name for the series of each level of stress: kernel, board and configuration, as far as they differ."""
    hidden = {f"param.{STRESS_PARAMETER}", f"param.{SEED_PARAMETER}"}
    identities = [step.series.point for step in steps_]
    plain = [
        identity.model_copy(
            update={"config": {key: value for key, value in identity.config.items() if key not in hidden}}
        )
        for identity in identities
    ]
    return distinct_point_names(plain)


def _paragraphs_on_stress_level_findings(steps_: Sequence[StressLevelRunGroup], names: Sequence[str]) -> list[str]:
    """Returns a paragraph of findings for each series of stress levels. It begins with the series' name if there are
    several."""
    several = len(set(names)) > 1
    outcome = []
    for name in dict.fromkeys(names):
        sentences = _stress_effect_sentences([step for step, one in zip(steps_, names, strict=True) if one == name])
        if sentences:
            outcome.append(f"{name}: {sentences}" if several else sentences)
    return outcome


def _stress_effect_sentences(steps_: Sequence[StressLevelRunGroup]) -> str:
    """Returns sentences on how stress changes the target task's rate, and on calls that starve (nearly all attempts
    fail). `steps_`: of one series."""
    sentences = []
    first = next((item for item in steps_ if item.percent > 0 and item.rate_range_relative_to_unstressed_run), None)
    last = steps_[-1]
    if (
        first
        and first.rate_range_relative_to_unstressed_run
        and last.rate_range_relative_to_unstressed_run
        and last is not first
    ):
        sentences.append(
            f"At {first.percent} % the target keeps "
            f"{first.rate_range_relative_to_unstressed_run[1]:.0%} of its rate without "
            f"stress, and at {last.percent} % {last.rate_range_relative_to_unstressed_run[1]:.0%}."
        )
    stressed = [run for step in steps_ if step.percent for run in step.runs]
    starving = [run for run in stressed if _starving_cores(run)]
    if starving:
        run = max(starving, key=lambda level: (level.percent, max(level.failed_attempts.values())))
        core = _starving_cores(run)[0]
        pairs = counts_per_second_of_point(run.point).total_hz * run.point.window_s
        calls = count_with_noun(run.collided_calls[core], "call")
        tries = count_with_noun(run.failed_attempts[core], "attempt", f"of core {core} fails", f"of core {core} fail")
        runs = f"{len(starving)} of {count_with_noun(len(stressed), 'run')}"
        where = all_items_phrase(len(stressed), "run") if len(starving) == len(stressed) else runs
        sentences.append(
            f"In {where} with stress, one core's calls starve. At {run.percent} %, for instance, {tries} in {calls}. "
            f"These are {run.failed_attempts[core] / pairs:.2f} attempts for each take and give of the target. "
            + (
                (
                    f"{run.busiest_lock.contended_part:.0%} of all attempts to take the {run.busiest_lock.name} find "
                    "it taken. "
                )
                if run.busiest_lock
                else ""
            )
            + "So the cores alternate in a fixed rhythm, and every attempt falls between the other core's take and "
            "give. The frequency of the stress task hardly matters. The target loses the time of the failed attempts, "
            "because they hold the same lock."
        )
    return " ".join(sentences)


def _starving_cores(run: StressRun) -> list[int]:
    """Returns the cores on which calls starve: an average call fails very often before it takes the semaphore. The
    worst core is first."""
    worst = sorted(run.failed_attempts, key=lambda core: -run.failed_attempts[core])
    return [core for core in worst if run.failed_attempts[core] >= STARVES * max(1, run.collided_calls[core])]


def _stress_table(steps_: Sequence[StressLevelRunGroup], names: Sequence[str]) -> TableData:
    """Returns the table of the runs at each level of stress. `names`: that of each level's series."""
    several = len(set(names)) > 1
    rows = []
    for step, name in zip(steps_, names, strict=True):
        rows += [[*([name] if several else []), f"{step.percent}", *_stress_run_cells(run)] for run in step.runs]
    columns = (
        *(["run with"] if several else []),
        ">stress, %",
        ">seed",
        ">target, pairs/s",
        ">of no stress",
        ">accesses/s",
        ">stress core busy",
        ">failed attempts/s, target",
        ">failed attempts/s, stress",
        ">target waits for spinlocks",
        ">busiest lock held",
    )
    return TableData("Target, stress and collisions", columns, rows, _NOTE)


def _stress_run_cells(run: StressRun) -> list[str]:
    """Returns the table's cells of one run at a level of stress."""
    seconds = run.point.window_s
    target = set(run.point.metric_cores)
    return [
        run.point.params.get(SEED_PARAMETER, "-"),
        f"{run.rate_hz:,.0f}",
        _percent_text(run.normalised),
        f"{run.accesses / seconds:,.0f}",
        _percent_text(run.stress_busy),
        _failed_attempts_text(run, [core for core in run.failed_attempts if core in target]),
        _failed_attempts_text(run, [core for core in run.failed_attempts if core not in target]),
        _percent_text(run.wait_part),
        _percent_text(run.busiest_lock.held_part if run.busiest_lock else None),
    ]


def _failed_attempts_text(run: StressRun, cores: Sequence[int]) -> str:
    """Returns the failed attempts per second on these cores as text, with the number of calls that had them in
    brackets. A dash without cores."""
    if not cores:
        return "-"
    failed, calls = sum(run.failed_attempts[core] for core in cores), sum(run.collided_calls[core] for core in cores)
    return f"{failed / run.point.window_s:,.0f} ({calls:,})"


def _percent_text(value: float | None) -> str:
    """Returns a share in percent as text. A dash for None."""
    return "-" if value is None else f"{value:.1%}"
