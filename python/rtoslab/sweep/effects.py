"""Computes the effect of each option, from points that differ in nothing else.

The effect of a level is the ratio of times between it and the option's first level, taken over every two points that
are alike in all other options, and averaged as ratios are (geometrically): for each benchmark, then over benchmarks. A
point that was measured in several placements counts by its median. An effect that some choice of placements would undo
is not claimed, nor is one of points in one placement each, where the placement matters. Two options interact if both
together change the time otherwise than the product of their single effects."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rtoslab.analyses import (
    COUNTS,
    PLACEMENT,
    MeasuredTimeInCodePlacements,
    MeasuredValueRatio,
    geometric_mean_ratio,
    main_point_times_in_code_placements,
)
from rtoslab.base import count_with_noun
from rtoslab.parity import AS_USUAL
from rtoslab.plan import DEFAULTS
from rtoslab.results import MeasuredPoint, PointId

Config = tuple[str, ...]
"""Levels of all options, in the options' order."""


@dataclass(frozen=True, slots=True)
class OptionValueEffect:
    """The effect of one level (value) of an option on the times of all benchmarks, compared with the option's first
    level."""

    option: str
    reference: str
    level: str
    ratios: Mapping[str, MeasuredValueRatio]
    """The mean ratio by target."""
    pairs: int
    """The number of compared pairs of points."""

    @property
    def time_ratios_by_benchmark(self) -> Mapping[str, float]:
        """Returns the ratio of the times (this level to the first) for each benchmark."""
        return {target: item.value for target, item in self.ratios.items()}

    @property
    def benchmarks_with_clear_effect(self) -> Sequence[str]:
        """Returns the benchmarks on which the effect is larger than that of the code's placement."""
        return [target for target, item in self.ratios.items() if item.differs_in_all_code_placements]

    @property
    def benchmarks_with_unproven_option_effect(self) -> Sequence[str]:
        """Returns the benchmarks that were measured in one placement only, so that the placement may cause the
        effect."""
        return [target for target, item in self.ratios.items() if item.is_undecided_with_one_code_placement]

    @property
    def mean_time_ratio(self) -> MeasuredValueRatio:
        """Returns the mean ratio of the times (this level to the first) over all benchmarks."""
        return geometric_mean_ratio(list(self.ratios.values()))

    @property
    def mean_effect_as_log_ratio(self) -> float:
        """Returns the size of the effect on an average benchmark, in either direction, as a natural logarithm of the
        ratio."""
        return sum(abs(math.log(ratio)) for ratio in self.time_ratios_by_benchmark.values()) / len(
            self.time_ratios_by_benchmark
        )

    @property
    def option_change_label(self) -> str:
        """Returns the name of the effect, such as `opt -O2 to -Os`."""
        return f"{self.option} {self.reference} to {self.level}"


@dataclass(frozen=True, slots=True)
class OptionChangeInteraction:
    """How two changes influence each other: the time with both, divided by the product of both effects alone."""

    first: tuple[str, str, str]
    """Option, its first level, the other level."""
    second: tuple[str, str, str]
    target: str
    ratio: MeasuredValueRatio
    squares: int
    """The number of times that four points could be compared."""


class SweepObservations:
    """The measured points of a sweep: the varied options, and the times of each benchmark."""

    def __init__(self, points: Iterable[MeasuredPoint], bound: Collection[int] = ()) -> None:
        """`bound`: which points' figures may depend on where their code lies, by identity."""
        measured = list(points)
        rows = [_point_settings_as_texts(item.point) for item in measured]
        names = dict.fromkeys(key for axes in rows for key in axes if key != PLACEMENT)
        levels = {name: list(dict.fromkeys(axes.get(name, AS_USUAL) for axes in rows)) for name in names}
        self.levels = {name: item for name, item in levels.items() if len(item) > 1}
        """The levels of each option, the first one being the reference."""
        self.options = list(self.levels)
        self.times: dict[str, dict[Config, float]] = {}
        """By target and configuration, in nanoseconds."""
        self._placed: dict[str, dict[Config, MeasuredTimeInCodePlacements]] = {}
        for time in main_point_times_in_code_placements(measured, bound):
            axes = _point_settings_as_texts(time.point)
            config = tuple(axes.get(name, AS_USUAL) for name in self.options)
            target = time.point.benchmark + ("" if time.metric == COUNTS else f" {time.metric}")
            self.times.setdefault(target, {})[config] = time.seconds.median * 1e9
            self._placed.setdefault(target, {})[config] = time
        counts = [len(placed_time.seconds.values) for row in self._placed.values() for placed_time in row.values()]
        self.max_placements = max(counts, default=1)
        """The most placements in which a point was measured."""

    def effects_of_option_values(self) -> list[OptionValueEffect]:
        """Returns the effect of every level (value) of every varied option, the strongest first."""
        effects = []
        for place, option in enumerate(self.options):
            reference, *others = self.levels[option]
            for level in others:
                ratios = {
                    target: item
                    for target in self.times
                    if (item := self._time_ratios_between_option_values(target, place, reference, level))
                }
                if ratios:
                    means = {target: geometric_mean_ratio(item) for target, item in ratios.items()}
                    effects.append(OptionValueEffect(option, reference, level, means, sum(map(len, ratios.values()))))
        return sorted(effects, key=lambda effect: (-effect.mean_effect_as_log_ratio, effect.option_change_label))

    def rank_options_by_effect(self) -> list[str]:
        """Returns the varied options, the one with the strongest effect first."""
        return list(dict.fromkeys(effect.option for effect in self.effects_of_option_values()))

    def interactions_of_option_changes(self) -> list[OptionChangeInteraction]:
        """Returns how every two changes of options influence each other on every benchmark, the largest influence
        first."""
        interactions: list[OptionChangeInteraction] = []
        for one, other in combinations(range(len(self.options)), 2):
            for level in self.levels[self.options[one]][1:]:
                for other_level in self.levels[self.options[other]][1:]:
                    interactions += self._option_pair_interactions_by_benchmark(one, level, other, other_level)
        return sorted(
            interactions,
            key=lambda interaction: (
                -abs(math.log(interaction.ratio.value)),
                interaction.target,
                interaction.first,
                interaction.second,
            ),
        )

    def quickest_configuration(self, target: str) -> tuple[dict[str, str], MeasuredTimeInCodePlacements]:
        """Returns the options' values with which a benchmark is quickest, and its time."""
        config, _ = min(self.times[target].items(), key=lambda item: (item[1], item[0]))
        return dict(zip(self.options, config, strict=True)), self._placed[target][config]

    def count_equally_quick_configurations(self, target: str) -> int:
        """Returns the number of configurations of a benchmark that are not slower than the quickest one in every
        placement of the code."""
        _, best = self.quickest_configuration(target)
        others = [time for time in self._placed[target].values() if time is not best]
        return sum(not other.ratio_to(best).differs_in_all_code_placements for other in others)

    def benchmark_time_at_first_option_values(self, target: str) -> MeasuredTimeInCodePlacements | None:
        """Returns a benchmark's time with every option at its first level. None if that was not measured."""
        return self._placed[target].get(tuple(self.levels[name][0] for name in self.options))

    def benchmark_times_by_configuration(self, target: str) -> Mapping[Config, MeasuredTimeInCodePlacements]:
        """Returns the times of a benchmark by configuration (the values of the varied options)."""
        return self._placed[target]

    def _time_ratios_between_option_values(
        self, target: str, place: int, reference: str, level: str
    ) -> list[MeasuredValueRatio]:
        """Returns the ratios of times between two levels of an option, with all other options equal. `place` is the
        option's index."""
        times = self._placed[target]
        return [
            times[other].ratio_to(first)
            for config, first in times.items()
            if config[place] == reference and (other := _configuration_with_option_value(config, place, level)) in times
        ]

    def _option_pair_interactions_by_benchmark(
        self, one: int, level: str, other: int, other_level: str
    ) -> Iterable[OptionChangeInteraction]:
        """Yields how two changes of options influence each other on each benchmark. `one` and `other` are the options'
        indexes."""
        usual, also_usual = self.levels[self.options[one]][0], self.levels[self.options[other]][0]
        for target, times in self._placed.items():
            ratios = []
            for config, first in times.items():
                if config[one] != usual or config[other] != also_usual:
                    continue
                left, right = (
                    _configuration_with_option_value(config, one, level),
                    _configuration_with_option_value(config, other, other_level),
                )
                both = _configuration_with_option_value(left, other, other_level)
                if left in times and right in times and both in times:
                    ratios.append(times[both].ratio_to(times[left]).ratio_to(times[right].ratio_to(first)))
            if ratios:
                change, beside = (self.options[one], usual, level), (self.options[other], also_usual, other_level)
                yield OptionChangeInteraction(change, beside, target, geometric_mean_ratio(ratios), len(ratios))


def _point_settings_as_texts(identity: PointId) -> dict[str, str]:
    """Returns the settings of a measured point as texts, with defaults filled in."""
    return {
        "kernel": identity.kernel,
        "board": identity.board,
        "cores": count_with_noun(identity.cores, "core"),
        **DEFAULTS,
        **identity.config,
    }


def _configuration_with_option_value(config: Config, place: int, level: str) -> Config:
    """Returns the configuration with another level of the option at index `place`."""
    return (*config[:place], level, *config[place + 1 :])


def settings_common_to_points(points: Sequence[MeasuredPoint]) -> dict[str, str]:
    """Returns the settings that have the same value in all points, with these values."""
    rows = [_point_settings_as_texts(point.point) for point in points]
    counts = Counter((key, row.get(key, AS_USUAL)) for row in rows for key in row)
    return {key: value for (key, value), count in counts.items() if count == len(rows)}
