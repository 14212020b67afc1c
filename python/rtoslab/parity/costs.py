"""The cost of a difference, from points that differ in nothing else, and a small file that stores it.

baselines/costs.toml     [[cost]] kernel, board, key, before, after, and percent of each benchmark's time. A cost
                         from several placements also has its band, and names the benchmarks where some choice would
                         undo it and those measured in one placement

The file is sealed as a baseline is, for every report that shows an edited cost would be wrong."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from pydantic import Field

from rtoslab.analyses import (
    MeasuredTimeInCodePlacements,
    MeasuredValueRatio,
    geometric_mean_ratio,
    main_point_times_in_code_placements,
)
from rtoslab.base import (
    PlanError,
    StrictFileSchemaModel,
    digest_of_values,
    make_folder,
    toml_lines,
    write_file_atomically,
)
from rtoslab.catalogue import read_validated_toml
from rtoslab.plan import config_with_defaults
from rtoslab.results import MeasuredPoint

COSTS_FILE = Path("baselines") / "costs.toml"
FORMAT: Final = 2
UNSEALED: Final = 1
"""The format of files without a seal."""


class ConfigurationChangeCost(StrictFileSchemaModel):
    """The measured effect on benchmarks' time of changing one configuration key from one value to another."""

    kernel: str
    board: str
    key: str
    before: str
    after: str
    percent: dict[str, float] = Field(default_factory=dict)
    """Keyed by benchmark: mean over all pairs of points that differ in this key alone, each the median of its
    placements."""
    band: dict[str, tuple[float, float]] = Field(default_factory=dict)
    """Keyed by benchmark, where its points are in several placements: the smallest and the largest change."""
    placement: tuple[str, ...] = ()
    """Benchmarks where the change is no larger than the effect of the code's place."""
    one_placement: tuple[str, ...] = ()
    """Benchmarks whose points are in one placement each, where the place matters: the place's share is not known."""

    def cost_of_reverse_configuration_change(self) -> "ConfigurationChangeCost":
        """Returns the cost of the opposite change, from `after` to `before`."""
        back = {name: _percent_to_undo_change(value) for name, value in self.percent.items()}
        band = {
            name: (_percent_to_undo_change(most), _percent_to_undo_change(least))
            for name, (least, most) in self.band.items()
        }
        return self.model_copy(update={"before": self.after, "after": self.before, "percent": back, "band": band})


def _percent_to_undo_change(percent: float) -> float:
    """Returns the change in percent that undoes a change of `percent`."""
    return 100 * (100 / (100 + percent) - 1)


class ConfigurationCostFile(StrictFileSchemaModel):
    """The content of a file of measured costs."""

    format: int = UNSEALED
    seal: str = ""
    """Digest of the costs."""
    cost: tuple[ConfigurationChangeCost, ...] = ()

    @property
    def content_digest(self) -> str:
        """Returns the digest that `seal` must have: that of all other content."""
        return digest_of_values(self.model_dump(mode="json", exclude={"seal"}))


def read_configuration_change_costs(root: Path) -> tuple[ConfigurationChangeCost, ...]:
    """Returns the stored costs of configuration changes: the working directory's, then the checkout's.

    Raises CatalogueError or PlanError, as `read_cost_file` does.
    """
    paths = dict.fromkeys([Path.cwd() / COSTS_FILE, root.resolve() / COSTS_FILE])
    return tuple(cost for path in paths for cost in read_cost_file(path))


def read_cost_file(path: Path) -> tuple[ConfigurationChangeCost, ...]:
    """Returns the costs of configuration changes that a file stores. Empty if there is no file.
    Raises CatalogueError naming file and key, PlanError for costs that were edited.
    """
    if not path.is_file():
        return ()
    costs = read_validated_toml(path, ConfigurationCostFile)
    again = "remove it, and `rtoslab sweep PLAN.toml --costs` writes it again"
    if costs.format not in {UNSEALED, FORMAT}:
        raise PlanError(f"{path} has format {costs.format}, but this version reads format {FORMAT}; {again}.")
    if not costs.seal:
        raise PlanError(f"{path} has no seal, so it was written by an earlier version or by hand; {again}.")
    if costs.seal != costs.content_digest:
        raise PlanError(f"{path} was edited; {again}.")
    return costs.cost


def configuration_costs_from_points(
    points: Iterable[MeasuredPoint], place_bound_ids: Collection[int] = ()
) -> list[ConfigurationChangeCost]:
    """Returns the cost of each configuration key that is the only difference between some of the points.

    A value that is not set is `as usual`. `place_bound_ids`: the identities (`id`) of points whose figures may depend
    on the place of their code.
    """
    groups: dict[tuple[str, ...], list[tuple[dict[str, str], MeasuredTimeInCodePlacements]]] = {}
    for time in main_point_times_in_code_placements(points, place_bound_ids):
        who = (time.point.kernel, time.point.board, time.point.benchmark, str(time.point.cores))
        place = (*who, str(time.point.window_ms), time.metric)
        groups.setdefault(place, []).append((config_with_defaults(time.point.config), time))
    ratios: dict[tuple[str, str, str, str, str], dict[str, list[MeasuredValueRatio]]] = {}
    for (kernel, board, benchmark, *_), rows in groups.items():
        for key, before, after, ratio in _cost_ratios_of_single_setting_changes(rows):
            by_benchmark = ratios.setdefault((kernel, board, key, before, after), {})
            by_benchmark.setdefault(benchmark, []).append(ratio)
    means = {
        change: [(name, geometric_mean_ratio(item)) for name, item in sorted(group.items())]
        for change, group in sorted(ratios.items())
    }
    return [
        ConfigurationChangeCost(
            kernel=kernel,
            board=board,
            key=key,
            before=before,
            after=after,
            percent={name: _ratio_to_percent(item.value) for name, item in group},
            band={
                name: (_ratio_to_percent(item.smallest), _ratio_to_percent(item.largest))
                for name, item in group
                if item.smallest < item.largest
            },
            placement=tuple(name for name, item in group if item.may_code_placement_reverse_value_order),
            one_placement=tuple(name for name, item in group if item.is_undecided_with_one_code_placement),
        )
        for (kernel, board, key, before, after), group in means.items()
    ]


def _ratio_to_percent(ratio: float) -> float:
    """Returns a ratio of times as a change in percent, with two decimals."""
    return round(100 * (ratio - 1), 2) + 0.0


def _cost_ratios_of_single_setting_changes(
    rows: Sequence[tuple[dict[str, str], MeasuredTimeInCodePlacements]],
) -> Iterable[tuple[str, str, str, MeasuredValueRatio]]:
    """Yields (key, value before, value after, ratio of the times) for each two points that differ in one configuration
    key only.

    The first of the two in `rows` is `before`.
    """
    for key in dict.fromkeys(name for config, _ in rows for name in config):
        others: dict[tuple[tuple[str, str], ...], list[tuple[str, MeasuredTimeInCodePlacements]]] = {}
        for config, value in rows:
            rest = tuple(sorted((name, text) for name, text in config.items() if name != key))
            others.setdefault(rest, []).append((config.get(key, AS_USUAL), value))
        for alike in others.values():
            for index, (before, first) in enumerate(alike):
                for after, second in alike[index + 1 :]:
                    if before != after:
                        yield key, before, after, second.ratio_to(first)


AS_USUAL = "as usual"


def find_configuration_change_cost(
    costs: Iterable[ConfigurationChangeCost], kernel: str, board: str, key: str, values: tuple[str, str]
) -> ConfigurationChangeCost | None:
    """Returns the measured cost of changing a key from the first to the second of `values`. None if it was not
    measured.

    The cost of the opposite change also serves.
    """
    for cost in costs:
        if (cost.kernel, cost.board, cost.key) != (kernel, board, key):
            continue
        if (cost.before, cost.after) == values:
            return cost
        if (cost.after, cost.before) == values:
            return cost.cost_of_reverse_configuration_change()
    return None


def update_configuration_cost_file(costs: Sequence[ConfigurationChangeCost], path: Path) -> None:
    """Writes these costs to a file, where they replace those of the same kernel, board and key. Other costs stay.

    Raises as `read_cost_file`.
    """
    stored = read_cost_file(path)
    fresh = {(cost.kernel, cost.board, cost.key) for cost in costs}
    merged = [*(item for item in stored if (item.kernel, item.board, item.key) not in fresh), *costs]
    merged.sort(key=lambda one: (one.kernel, one.board, one.key, one.before, one.after))
    seal = ConfigurationCostFile(format=FORMAT, cost=tuple(merged)).content_digest
    lines = ["# What a difference costs, in percent of each benchmark's time; written by `rtoslab sweep --costs`."]
    lines += toml_lines({"format": FORMAT, "seal": seal})
    for item in merged:
        texts = item.model_dump(exclude={"percent", "band", "placement", "one_placement"})
        lines += ["", "[[cost]]", *(f"{name} = {json.dumps(text)}" for name, text in texts.items())]
        lines.append(f"percent = {{ {', '.join(_toml_inline_items(item.percent))} }}")
        lines += [f"band = {{ {', '.join(_toml_inline_items(item.band))} }}"] if item.band else []
        for name, benchmarks in (("placement", item.placement), ("one_placement", item.one_placement)):
            lines += [f"{name} = {json.dumps(benchmarks)}"] if benchmarks else []
    make_folder(path.parent)
    write_file_atomically(path, "\n".join(lines) + "\n", "the costs")


def _toml_inline_items(table: Mapping[str, float | tuple[float, float]]) -> list[str]:
    """Returns the items of a table as they are written in an inline TOML table."""
    return [f"{name} = {list(value) if isinstance(value, tuple) else value!r}" for name, value in table.items()]
