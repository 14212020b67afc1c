"""Compares new figures of a project with its baseline: which became worse, and whether its code changed.

| cause | what it means |
|---|---|
| changed | instructions that take the figure's cycles are others |
| other setting | they are the same, but the board's settings (caches, wait states, clocks, MPU) are not |
| other code | they are the same, but other code that ran since reset is not: it may have set up memories or data |
| other data | all code that ran is the same, but an object has another first content, or is in another memory |
| other work | all code that ran is the same, but it executed other numbers of instructions |
| moved | all code that ran, the data and the settings are the same, but the code lies elsewhere |
| same code | they are the same and lie where they lay: what they worked on, or what ran beside them, is other |
| unknown | some of what ran has no symbol with a size, or the baseline does not have the settings |
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rtoslab.analyses import BYTES, CYCLES, INSTRUCTIONS, CodePlacementValueRange, NamedMetricValue
from rtoslab.base import count_with_noun
from rtoslab.compare import CALLS, MeasuredValueLimits, MetricGrowthLimit, shorten_clause_list_to_three
from rtoslab.project.measuring import COUNTS, ImageMeasuredValues, median_over_code_placements

CHANGED: Final = "changed"
OTHER_SETTING: Final = "other setting"
OTHER_CODE: Final = "other code"
OTHER_DATA: Final = "other data"
OTHER_WORK: Final = "other work"
MOVED: Final = "moved"
SAME_CODE: Final = "same code"
UNKNOWN: Final = "unknown"
NOTHING_MEASURED: Final = "nothing was measured, because no function was called and no interval ended"
MOST_NAMES: Final = 3
PLACEMENT: Final = "placement"
"""A verdict: the bands of both sides' placements overlap, so that another placement may make the difference."""


@dataclass(frozen=True, slots=True)
class FigureChange:
    """One figure of a user's project in the baseline and now."""

    image: str
    item: str
    figure: str
    before: NamedMetricValue
    after: NamedMetricValue
    cause: str
    functions: tuple[str, ...] = ()
    """The functions whose code differs, the settings or the objects, where these are the cause."""
    overlap: bool = False
    """For figures in several placements: whether some placement of one side is as good as some placement of the
    other."""

    @property
    def change_in_unit(self) -> float:
        """Returns by how much the figure became worse, in its unit. Negative if it became better.

        For a number of calls it is the distance.
        """
        moved = self.after.value - self.before.value
        return abs(moved) if self.before.unit == CALLS else moved

    @property
    def change_in_percent(self) -> float:
        """Returns by how much the figure became worse, in percent of its earlier value."""
        if not self.change_in_unit:
            return 0.0
        return 100 * self.change_in_unit / self.before.value if self.before.value else float("inf")

    @property
    def name_of_measured_value(self) -> str:
        """Returns the figure's name, as limits and messages have it."""
        return self.before.id

    @property
    def value_change_cause_text(self) -> str:
        """Returns why the figure changed, with the names of what differs, as text."""
        more = f" and {len(self.functions) - MOST_NAMES} more" if len(self.functions) > MOST_NAMES else ""
        return f"{self.cause}: {', '.join(self.functions[:MOST_NAMES])}{more}" if self.functions else self.cause


@dataclass(frozen=True, slots=True)
class ProjectRegressionGateResult:
    """The result of the gate for a user's project."""

    changes: tuple[FigureChange, ...]
    """The changes of every figure that both sides have."""
    regressions: tuple[tuple[FigureChange, MetricGrowthLimit], ...]
    """The changes beyond their limit, the largest share first."""
    passed_moves: tuple[tuple[FigureChange, MetricGrowthLimit], ...]
    """Changes beyond their limit where the code only moved, which the project lets pass."""
    exceeded_budgets: tuple[str, ...]
    """A line for each exceeded budget."""
    unanswered: tuple[str, ...]
    """The reasons why there is no answer, a clause each."""
    notes: tuple[str, ...]
    other_compiler: tuple[str, str] | None = None
    """The compilers of the baseline and the project, of the first image where they differ."""

    @property
    def has_regression_or_exceeded_budget(self) -> bool:
        """Whether a figure became worse, or exceeds its budget."""
        return bool(self.regressions or self.exceeded_budgets)


def judge_project_against_baseline(
    before: Mapping[str, ImageMeasuredValues],
    after: Mapping[str, ImageMeasuredValues],
    rules: MeasuredValueLimits,
    *,
    moved: str,
) -> ProjectRegressionGateResult:
    """Returns which figures of a project became worse than its baseline (`before`) by more than their limits.

    `moved`: "pass" lets figures pass whose code only moved.
    """
    changes: list[FigureChange] = []
    lost = _clause_if_nothing_was_measured(after)
    notes: list[str] = []
    for name, now in after.items():
        lost += [f"{name}: {now.cut_reason}"] if now.cut_reason else []
        notes += [f"{name}: measured in one placement only, because {now.problem}"] if now.problem else []
        then = before.get(name)
        if then is None:
            lost.append(f"{name}: not in the baseline; `rtoslab gate --store` adds it")
            continue
        unlike = _first_different_condition_clause(then, now)
        if unlike:
            lost.append(f"{name}: {unlike}; `rtoslab gate --store` writes it again")
            continue
        lost += _figures_without_pair(name, then, now)
        changes += [
            change
            for key in then.items
            if key in now.items
            for change in _value_changes_of_project_item(name, key, then, now)
        ]
    lost += [
        f"{name}: in the baseline, but no longer in the project; `rtoslab gate --store` removes it"
        for name in before
        if name not in after
    ]
    judged = [
        figure_change
        for figure_change in changes
        if not figure_change.overlap and _is_compared_with_limit(figure_change)
    ]
    worse = [
        (figure_change, limit)
        for figure_change in judged
        if (limit := rules.first_exceeded_limit(figure_change)) is not None
    ]
    worse.sort(key=lambda pair: (-pair[0].change_in_percent, pair[0].name_of_measured_value))
    passing = [item for item in worse if moved == "pass" and item[0].cause == MOVED]
    return ProjectRegressionGateResult(
        changes=tuple(changes),
        regressions=tuple(item for item in worse if item not in passing),
        passed_moves=tuple(passing),
        exceeded_budgets=tuple(line for figures in after.values() for line in figures.exceeded_budgets),
        unanswered=tuple(lost),
        notes=tuple(notes),
        other_compiler=_differing_compilers(before, after),
    )


def _is_compared_with_limit(change: FigureChange) -> bool:
    """Whether the change of a figure is compared with the figure's limit.

    Instructions are compared only where code changed: the same code may wait in a loop a turn longer in another
    placement.
    """
    return change.before.unit != INSTRUCTIONS or change.cause == CHANGED


def _clause_if_nothing_was_measured(after: Mapping[str, ImageMeasuredValues]) -> list[str]:
    """Returns a clause if nothing was measured: no function of any image was called and no interval ended. Otherwise
    empty."""
    if any(figures.is_any_call_or_interval_measured for figures in after.values()):
        return []
    return [NOTHING_MEASURED]


def _first_different_condition_clause(then: ImageMeasuredValues, now: ImageMeasuredValues) -> str:
    """Returns a clause on the first condition (such as the board) in which baseline and project differ. Empty if they
    are alike."""
    for condition, first, second in (
        ("board", then.board, now.board),
        ("cores", then.cores, now.cores),
        ("placements", then.placements, now.placements),
    ):
        if first != second:
            return f"the baseline has {condition} {first}, the project {second}"
    if then.run and now.run and then.run != now.run:
        key = next(key for key in (*then.run, *now.run) if then.run.get(key) != now.run.get(key))
        return f"the baseline has {key} {then.run.get(key, 'unset')}, the project {now.run.get(key, 'unset')}"
    return ""


def _figures_without_pair(name: str, then: ImageMeasuredValues, now: ImageMeasuredValues) -> list[str]:
    """Returns a clause for each figure that only the baseline or only the project has."""
    result = []
    for key, item in then.items.items():
        if key not in now.items:
            result.append(
                f"{name}: {key} is in the baseline, but no longer in the project; `rtoslab gate --store` removes it"
            )
            continue
        figures = now.items[key].figures
        gone = [figure for figure in item.figures if figure not in figures]
        fresh = [figure for figure in figures if figure not in item.figures]
        result += [f"{name}: {key} no longer has {', '.join(gone)}"] if gone else []
        result += (
            [f"{name}: {', '.join(fresh)} of {key} not in the baseline; `rtoslab gate --store` adds it"]
            if fresh
            else []
        )
    fresh = [key for key in now.items if key not in then.items]
    return result + [f"{name}: {key} is not in the baseline; `rtoslab gate --store` adds it" for key in fresh]


def _value_changes_of_project_item(
    image: str, key: str, then: ImageMeasuredValues, now: ImageMeasuredValues
) -> list[FigureChange]:
    """Returns the changes of all figures of one item: a function, an interval or an image's sizes. `key`: its name."""
    first, second = then.items[key], now.items[key]
    cause, functions = _cause_of_cycle_change(then, now, key)
    changes = []
    for figure, before in first.figures.items():
        after = second.figures.get(figure)
        if after is not None:
            unit = _unit_of_project_value(figure)
            label = f"{image}/{key}.{figure}"
            overlap = len(before) > 1 and min(after) <= max(before) and min(before) <= max(after)
            old, new = (_make_value_over_code_placements(label, unit, values) for values in (before, after))
            why = (cause, functions) if unit in {CYCLES, INSTRUCTIONS} else ("", ())
            changes.append(FigureChange(image, key, figure, old, new, *why, overlap and unit == CYCLES))
    return changes


def _unit_of_project_value(figure: str) -> str:
    """Returns the unit of a figure, which its name shows."""
    if figure in COUNTS:
        return CALLS
    if figure.startswith(INSTRUCTIONS):
        return INSTRUCTIONS
    return BYTES if figure.endswith("_bytes") else CYCLES


def _make_value_over_code_placements(label: str, unit: str, values: Sequence[float]) -> NamedMetricValue:
    """Returns a figure from its value in each placement of the code."""
    return NamedMetricValue(
        label,
        unit,
        median_over_code_placements(values),
        band=CodePlacementValueRange(values) if len(values) > 1 else None,
    )


def _cause_of_cycle_change(
    then: ImageMeasuredValues, now: ImageMeasuredValues, key: str
) -> tuple[str, tuple[str, ...]]:
    """Returns why the cycles of a function or interval changed, and the functions, settings or objects that differ if
    that is why."""
    before, after = then.items[key], now.items[key]
    if not before.code or not after.code:
        return UNKNOWN, ()
    names = {*then.functions, *now.functions}
    others = _names_with_differing_values(then.functions, now.functions)
    settings = tuple(
        f"{name} {then.state.get(name, 'none')} to {now.state.get(name, 'none')}"
        for name in _names_with_differing_values(then.state, now.state)
        if then.state and now.state
    )
    if before.code != after.code:
        own = before.functions | after.functions if before.functions and after.functions else names
        return CHANGED, (*settings, *(name for name in others if name in own))
    # No code that ran refers to an object that only one image has: its digest would be another one.
    objects = tuple(
        name for name in _names_with_differing_values(then.data, now.data) if name in then.data and name in now.data
    )
    named = {OTHER_SETTING: settings, OTHER_CODE: others, OTHER_DATA: objects}
    return next(
        ((cause, names) for cause, names in named.items() if names),
        (_cause_of_unexplained_cycle_change(then, now, key), ()),
    )


def _cause_of_unexplained_cycle_change(then: ImageMeasuredValues, now: ImageMeasuredValues, key: str) -> str:
    """Returns why the cycles of a function or interval changed, although code, settings and data are the same."""
    before, after = then.items[key], now.items[key]
    counted = [name for name in before.figures if name.startswith(INSTRUCTIONS)]
    if any(set(before.figures[name]) != set(after.figures.get(name, ())) for name in counted):
        return OTHER_WORK
    if before.places == after.places:
        return SAME_CODE
    is_known = all((then.state, now.state, then.data, now.data))
    return MOVED if is_known else UNKNOWN


def _names_with_differing_values(first: Mapping[str, object], second: Mapping[str, object]) -> tuple[str, ...]:
    """Returns the sorted names whose values differ in two mappings, or that only one of them has."""
    return tuple(name for name in sorted({*first, *second}) if first.get(name) != second.get(name))


def _differing_compilers(
    before: Mapping[str, ImageMeasuredValues], after: Mapping[str, ImageMeasuredValues]
) -> tuple[str, str] | None:
    """Returns both compilers of the first image that was built with another one than in the baseline. None if there is
    none."""
    for name, now in after.items():
        then = before.get(name)
        if then is not None and then.compiler != now.compiler:
            return then.compiler or "one that it does not name", now.compiler or "one that the image does not name"
    return None


def _changed_code_sentence(change: FigureChange) -> str:
    """Returns a sentence on the functions whose code changed, or on what else is the cause. Empty if the code only
    moved, or lies where it lay."""
    if change.functions:
        subject = "code" if change.cause in {CHANGED, OTHER_CODE} else "cause"
        return f" The {subject}: {change.value_change_cause_text}."
    return f" The cause: {change.cause}." if change.cause in {OTHER_WORK, UNKNOWN} else ""


def project_result_sentences(judged: ProjectRegressionGateResult) -> str:
    """Returns the result of comparing a project with its baseline, in sentences."""
    figures = count_with_noun(len(judged.changes), "figure")
    if judged.unanswered:
        return f"The gate has no result: {shorten_clause_list_to_three(judged.unanswered)}."
    parts = []
    if judged.regressions:
        change, limit = judged.regressions[0]
        moved = sum(regression.cause == MOVED for regression, _ in judged.regressions)
        by_place = (
            f" {moved} of them only because the code moved: it is the same, but at other addresses." if moved else ""
        )
        parts.append(
            f"Regression: {len(judged.regressions)} of {figures} exceeded their limits; the largest: "
            f"{change.name_of_measured_value}: {change.change_in_unit:+g} {change.before.unit} "
            f"({change.change_in_percent:+.2f} %), allowed "
            f"{limit}.{_changed_code_sentence(change)}{by_place}"
        )
    if judged.exceeded_budgets:
        parts.append(f"Over budget: {'; '.join(judged.exceeded_budgets[:3])}.")
    if parts:
        return " ".join(parts)
    better = sum(figure_change.change_in_unit < 0 and not figure_change.overlap for figure_change in judged.changes)
    passing = (
        f"; {len(judged.passed_moves)} worse only because the code moved, which the project allows"
        if judged.passed_moves
        else ""
    )
    return f"Same or better: {figures} within their limits, {better} of them better{passing}."
