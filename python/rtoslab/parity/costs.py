"""The cost of a difference, from points that differ in nothing else, and a small file that stores it.

baselines/costs.toml     [[cost]] kernel, board, key, before, after, and percent of each benchmark's time. A cost
                         from several placements also has its band, and names the benchmarks where some choice would
                         undo it and those measured in one placement

The file is sealed as a baseline is: an edited cost would be a wrong answer of every report that tells it."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from pydantic import Field

from rtoslab.analyses import PlacedTime, Ratio, mean_ratio, placed_times
from rtoslab.base import PlanError, Strict, content_seal, make_folder, toml_lines, write_whole
from rtoslab.catalogue import read_toml
from rtoslab.plan import with_usual
from rtoslab.results import MeasuredPoint

COSTS_FILE = Path("baselines") / "costs.toml"
FORMAT: Final = 2
UNSEALED: Final = 1
"""The format of files without a seal."""


class Cost(Strict):
    """The effect on benchmarks' time of changing one key from one value to another."""

    kernel: str
    board: str
    key: str
    before: str
    after: str
    percent: dict[str, float] = Field(default_factory=dict)
    """Keyed by benchmark: mean over all pairs of points that differ in this key alone, each the median of its
    placements."""
    band: dict[str, tuple[float, float]] = Field(default_factory=dict)
    """Keyed by benchmark, where its points are in several placements: the least and the most that the change is."""
    placement: tuple[str, ...] = ()
    """Benchmarks where the change is no more than what the place of the code is worth."""
    one_placement: tuple[str, ...] = ()
    """Benchmarks whose points are in one placement each, where the place matters: what of it that is nobody knows."""

    def reverse(self) -> "Cost":
        """The other way round."""
        back = {name: _reverse(value) for name, value in self.percent.items()}
        band = {name: (_reverse(most), _reverse(least)) for name, (least, most) in self.band.items()}
        return self.model_copy(update={"before": self.after, "after": self.before, "percent": back, "band": band})


def _reverse(percent: float) -> float:
    return 100 * (100 / (100 + percent) - 1)


class CostFile(Strict):
    """The file as a whole."""

    format: int = UNSEALED
    seal: str = ""
    """Digest of the costs."""
    cost: tuple[Cost, ...] = ()

    @property
    def digest(self) -> str:
        """The seal that its content has."""
        return content_seal(self.model_dump(mode="json", exclude={"seal"}))


def read_costs(root: Path) -> tuple[Cost, ...]:
    """Returns what the working directory keeps, then what the checkout does. Raises as `read_cost_file` does."""
    paths = dict.fromkeys([Path.cwd() / COSTS_FILE, root.resolve() / COSTS_FILE])
    return tuple(cost for path in paths for cost in read_cost_file(path))


def read_cost_file(path: Path) -> tuple[Cost, ...]:
    """Returns the costs of a file whose seal holds, or none where there is no file. Raises CatalogueError naming file
    and key, PlanError for costs that are not those that were written."""
    if not path.is_file():
        return ()
    costs = read_toml(path, CostFile)
    again = "remove it, and `rtoslab sweep PLAN.toml --costs` writes it anew"
    if costs.format not in {UNSEALED, FORMAT}:
        raise PlanError(f"{path} has format {costs.format}, this version reads {FORMAT}; {again}.")
    if not costs.seal:
        raise PlanError(f"{path} has no seal: an earlier version wrote it, or a hand did; {again}.")
    if costs.seal != costs.digest:
        raise PlanError(f"{path} is not what was written: a value was edited; {again}.")
    return costs.cost


def costs_from_runs(points: Iterable[MeasuredPoint], bound: Collection[int] = ()) -> list[Cost]:
    """Returns the costs of every key in which some points alone differ. Values that are not asked for are `as usual`.

    `bound`: which points' figures may depend on where their code lies, by identity."""
    groups: dict[tuple[str, ...], list[tuple[dict[str, str], PlacedTime]]] = {}
    for time in placed_times(points, bound):
        who = (time.point.kernel, time.point.board, time.point.benchmark, str(time.point.cores))
        place = (*who, str(time.point.window_ms), time.metric)
        groups.setdefault(place, []).append((with_usual(time.point.config), time))
    ratios: dict[tuple[str, str, str, str, str], dict[str, list[Ratio]]] = {}
    for (kernel, board, benchmark, *_), rows in groups.items():
        for key, before, after, ratio in _lone_changes(rows):
            by_benchmark = ratios.setdefault((kernel, board, key, before, after), {})
            by_benchmark.setdefault(benchmark, []).append(ratio)
    means = {
        change: [(name, mean_ratio(item)) for name, item in sorted(group.items())]
        for change, group in sorted(ratios.items())
    }
    return [
        Cost(
            kernel=kernel,
            board=board,
            key=key,
            before=before,
            after=after,
            percent={name: _percent(item.value) for name, item in group},
            band={name: (_percent(item.least), _percent(item.most)) for name, item in group if item.least < item.most},
            placement=tuple(name for name, item in group if item.is_within_placement),
            one_placement=tuple(name for name, item in group if item.is_undecided),
        )
        for (kernel, board, key, before, after), group in means.items()
    ]


def _percent(ratio: float) -> float:
    return round(100 * (ratio - 1), 2) + 0.0


def _lone_changes(rows: Sequence[tuple[dict[str, str], PlacedTime]]) -> Iterable[tuple[str, str, str, Ratio]]:
    """(key, from, to, ratio of the values) of every two rows that differ in one key. The first in order is `from`."""
    for key in dict.fromkeys(name for config, _ in rows for name in config):
        others: dict[tuple[tuple[str, str], ...], list[tuple[str, PlacedTime]]] = {}
        for config, value in rows:
            rest = tuple(sorted((name, text) for name, text in config.items() if name != key))
            others.setdefault(rest, []).append((config.get(key, AS_USUAL), value))
        for alike in others.values():
            for index, (before, first) in enumerate(alike):
                for after, second in alike[index + 1 :]:
                    if before != after:
                        yield key, before, after, second.ratio_to(first)


AS_USUAL = "as usual"


def cost_of(costs: Iterable[Cost], kernel: str, board: str, key: str, values: tuple[str, str]) -> Cost | None:
    """The cost of a change in either direction. None if nobody measured it."""
    for cost in costs:
        if (cost.kernel, cost.board, cost.key) != (kernel, board, key):
            continue
        if (cost.before, cost.after) == values:
            return cost
        if (cost.after, cost.before) == values:
            return cost.reverse()
    return None


def write_costs(costs: Sequence[Cost], path: Path) -> None:
    """Replaces those of the same kernel, board and key. Keeps the others. Raises as `read_cost_file`."""
    stored = read_cost_file(path)
    fresh = {(cost.kernel, cost.board, cost.key) for cost in costs}
    every = [*(item for item in stored if (item.kernel, item.board, item.key) not in fresh), *costs]
    every.sort(key=lambda one: (one.kernel, one.board, one.key, one.before, one.after))
    seal = CostFile(format=FORMAT, cost=tuple(every)).digest
    lines = ["# What a difference costs, in percent of each benchmark's time; written by `rtoslab sweep --costs`."]
    lines += toml_lines({"format": FORMAT, "seal": seal})
    for item in every:
        texts = item.model_dump(exclude={"percent", "band", "placement", "one_placement"})
        lines += ["", "[[cost]]", *(f"{name} = {json.dumps(text)}" for name, text in texts.items())]
        lines.append(f"percent = {{ {', '.join(_pairs(item.percent))} }}")
        lines += [f"band = {{ {', '.join(_pairs(item.band))} }}"] if item.band else []
        for name, benchmarks in (("placement", item.placement), ("one_placement", item.one_placement)):
            lines += [f"{name} = {json.dumps(benchmarks)}"] if benchmarks else []
    make_folder(path.parent)
    write_whole(path, "\n".join(lines) + "\n", "the costs")


def _pairs(table: Mapping[str, float | tuple[float, float]]) -> list[str]:
    return [f"{name} = {list(value) if isinstance(value, tuple) else value!r}" for name, value in table.items()]
