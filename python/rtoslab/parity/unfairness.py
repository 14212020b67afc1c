"""Finds points of the same benchmark on the same board that were not measured alike, concept by concept."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any, Final

from rtoslab.base import count_with_noun
from rtoslab.catalogue import Catalogue, Kernel
from rtoslab.parity.board_settings import (
    board_settings_by_condition,
    default_of_unread_board_setting,
    fairness_condition_of_board_setting,
    manifest_fairness_condition_id,
)
from rtoslab.parity.concepts import (
    CONCEPTS,
    FIXED_BY_BUILD_FILES,
    FairnessCondition,
    catalogue_kernel_of_measurement,
    config_key_for_fairness_condition,
    fairness_condition_as_config_value,
    fairness_condition_values_of_point,
)
from rtoslab.parity.costs import AS_USUAL, ConfigurationChangeCost, find_configuration_change_cost
from rtoslab.reference import REFERENCE_MARK
from rtoslab.results import PointId

MOST_NAMES = 3
_LEAST_PERCENT: Final = 0.1
"""The smallest change of a time that the text of a cost shows."""


@dataclass(frozen=True, slots=True)
class ComparedMeasuredPoint:
    """One point that takes part in a comparison, with its name and settings."""

    side: str
    """The side that it represents: a kernel, a run, a configuration."""
    point: PointId
    manifest: dict[str, Any]
    state: Mapping[str, str | int] = field(default_factory=dict)
    """The board's settings (`MeasuredPoint.state`). Empty if they were not read."""


@dataclass(frozen=True, slots=True)
class UnfairDifference:
    """A condition that differs between compared points, with all benchmarks that it affects."""

    concept: FairnessCondition
    board: str
    values: dict[str, tuple[str, ...]]
    """A reader's text of each value -> the sides that have it."""
    benchmarks: tuple[str, ...]
    costs: tuple[tuple[str, ConfigurationChangeCost], ...]
    """Kernel and change as a text, and the measured cost. Empty if nobody measured it."""

    @property
    def sentence(self) -> str:
        """Returns the unfair difference in one sentence."""
        sides = "; ".join(f"{words} for {_first_names_text(who)}" for words, who in self.values.items())
        return f"{self.concept.title}: {sides}. Unfair because {self.concept.why_unfair}."

    @property
    def unfair_difference_cost_text(self) -> str:
        """Returns what the difference is known to cost, as text. If it was not measured, the text says how to measure
        it."""
        costs_text = [f"{change}: {_percent_text(item, self.benchmarks)}" for change, item in self.costs]
        if self.concept.is_board_setting:
            unknown = "set it to the same value and measure again"
        elif self.concept.id in FIXED_BY_BUILD_FILES:
            unknown = "only the build files of a kernel can change it"
        else:
            unknown = "a sweep over this option measures it"
        return "; ".join(costs_text) or f"not measured; {unknown}"


def group_comparable_measurements(subjects: Iterable[ComparedMeasuredPoint]) -> list[list[ComparedMeasuredPoint]]:
    """Returns the points in groups that a reader would compare: of one benchmark, board and number of cores."""
    groups: dict[tuple[str, str, int], list[ComparedMeasuredPoint]] = {}
    for subject in subjects:
        groups.setdefault((subject.point.benchmark, subject.point.board, subject.point.cores), []).append(subject)
    return list(groups.values())


def unfair_differences_in_groups(
    catalogue: Catalogue,
    groups: Iterable[Sequence[ComparedMeasuredPoint]],
    costs: Sequence[ConfigurationChangeCost] = (),
) -> list[UnfairDifference]:
    """Returns the conditions that were not equal within each group of points. Equal findings of several benchmarks
    become one."""
    merged: dict[tuple[str, str, str], UnfairDifference] = {}
    for group in groups:
        benchmark, board = group[0].point.benchmark, group[0].point.board
        for unfairnesses in _unfair_differences_in_group(catalogue, group, board, benchmark, costs):
            key = (unfairnesses.concept.id, board, str(unfairnesses.values))
            known = merged.get(key)
            names = tuple(dict.fromkeys([*(known.benchmarks if known else ()), benchmark]))
            merged[key] = UnfairDifference(
                unfairnesses.concept, board, unfairnesses.values, names, known.costs if known else unfairnesses.costs
            )
    order = {item.id: at for at, item in enumerate(CONCEPTS)}
    return sorted(
        merged.values(),
        key=lambda unfairness: (order.get(unfairness.concept.id, len(order)), unfairness.concept.id, unfairness.board),
    )


def _unfair_differences_in_group(
    catalogue: Catalogue,
    group: Sequence[ComparedMeasuredPoint],
    board: str,
    benchmark: str,
    costs: Sequence[ConfigurationChangeCost],
) -> Iterable[UnfairDifference]:
    """Yields the conditions that were not equal within one group of points."""
    kernels = {
        _kernel_name(item): catalogue_kernel_of_measurement(catalogue, item.manifest, _kernel_name(item))
        for item in group
    }
    facts = [fairness_condition_values_of_point(item.manifest, kernels[_kernel_name(item)]) for item in group]
    states = _comparable_board_settings(group)
    facts = [known | state for known, state in zip(facts, states, strict=True)]
    reported: set[str] = set()
    for concept in (
        *CONCEPTS,
        *(fairness_condition_of_board_setting(item) for item in sorted({key for state in states for key in state})),
    ):
        holders: dict[str, list[ComparedMeasuredPoint]] = {}
        for subject, known in zip(group, facts, strict=True):
            if concept.id in known:
                holders.setdefault(concept.condition_value_text(known[concept.id]), []).append(subject)
        if len(holders) < 2 or (concept.is_board_setting and manifest_fairness_condition_id(concept.id) in reported):
            continue
        reported.add(concept.id)
        values = {words: tuple(dict.fromkeys(item.side for item in who)) for words, who in holders.items()}
        sides = [(who[0], facts[group.index(who[0])][concept.id]) for who in holders.values()]
        costs_ = tuple(_costs_of_unfair_condition_difference(concept, kernels, sides, costs))
        yield UnfairDifference(concept, board, values, (benchmark,), costs_)


def _comparable_board_settings(group: Sequence[ComparedMeasuredPoint]) -> list[dict[str, str]]:
    """Returns the settings of each point's board that can be compared, by condition."""
    one_kernel = len({_kernel_name(subject) for subject in group}) == 1
    states = [board_settings_by_condition(subject.state, one_kernel=one_kernel) for subject in group]
    meanings = {key: default_of_unread_board_setting(key) for state in states for key in state}
    absent = {key: words for key, words in meanings.items() if words is not None}
    return [{**absent, **state} if state else {} for state in states]


def _kernel_name(subject: ComparedMeasuredPoint) -> str:
    """Returns the name of a point's kernel, without the mark of a reference result."""
    return subject.point.kernel.removesuffix(REFERENCE_MARK).rstrip()


def _costs_of_unfair_condition_difference(
    concept: FairnessCondition,
    kernels: Mapping[str, Kernel | None],
    sides: Sequence[tuple[ComparedMeasuredPoint, str]],
    costs: Sequence[ConfigurationChangeCost],
) -> Iterable[tuple[str, ConfigurationChangeCost]]:
    """Yields the known cost of a difference for each kernel, with a text that names kernel and change. `sides`: points
    with their values."""
    for kernel, facts in kernels.items():
        key = "" if facts is None else config_key_for_fairness_condition(concept, facts)
        for (first, before), (second, after) in combinations(sides, 2):
            spellings = product(
                _config_value_spellings(first, kernel, key, fairness_condition_as_config_value(concept, before)),
                _config_value_spellings(second, kernel, key, fairness_condition_as_config_value(concept, after)),
            )
            board = first.point.board
            known = (find_configuration_change_cost(costs, kernel, board, key, pair) for pair in spellings)
            cost = next(filter(None, known), None)
            if cost is not None:
                yield (
                    f"{kernel}, from {concept.condition_value_text(before)} to {concept.condition_value_text(after)}",
                    cost,
                )


def _config_value_spellings(subject: ComparedMeasuredPoint, kernel: str, key: str, value: str) -> tuple[str, ...]:
    """Returns the forms in which a sweep may have written the value of a configuration key."""
    unsaid = _kernel_name(subject) == kernel and key not in subject.point.config
    return (value, AS_USUAL) if unsaid else (value,)


def _percent_text(cost: ConfigurationChangeCost, benchmarks: Sequence[str]) -> str:
    """Returns the largest changes in percent as text, with the names of their benchmarks."""
    compared = {name: value for name, value in cost.percent.items() if name in benchmarks}
    ordered = sorted((compared or cost.percent).items(), key=lambda item: -abs(item[1]))
    if len(ordered) > 1 and all(_is_effect_on_benchmark_negligible(cost, name, value) for name, value in ordered):
        return f"less than {_LEAST_PERCENT} % in each of {count_with_noun(len(ordered), 'benchmark')}"
    shown = ", ".join(
        f"{name} {_signed_number_text(value)} %{_change_range_over_placements_text(cost, name)}"
        for name, value in ordered[:MOST_NAMES]
    )
    return shown + (f" and {len(ordered) - MOST_NAMES} smaller" if len(ordered) > MOST_NAMES else "")


def _is_effect_on_benchmark_negligible(cost: ConfigurationChangeCost, name: str, value: float) -> bool:
    """Whether a change of a benchmark's time, and its whole range over placements, is too small to be shown."""
    least, most = cost.band.get(name, (value, value))
    return max(abs(value), abs(least), abs(most)) < _LEAST_PERCENT


def _change_range_over_placements_text(cost: ConfigurationChangeCost, name: str) -> str:
    """Returns the range of a benchmark's change over placements of the code, as text in brackets. Empty if there is
    nothing to say."""
    least, most = map(_signed_number_text, cost.band.get(name, (0.0, 0.0)))
    band = [] if least == most else [f"{least} to {most}"]
    bands = [*band, *["placement"] * (name in cost.placement), *["one placement"] * (name in cost.one_placement)]
    return f" ({'; '.join(bands)})" if bands else ""


def _signed_number_text(value: float) -> str:
    """Returns a number as text with its sign and one decimal."""
    return f"{round(value, 1) + 0.0:+.1f}"


def _first_names_text(sides: Sequence[str]) -> str:
    """Returns the first names as text, with the number of further ones."""
    return ", ".join(sides[:MOST_NAMES]) + (f" and {len(sides) - MOST_NAMES} more" if len(sides) > MOST_NAMES else "")
