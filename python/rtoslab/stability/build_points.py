"""The points of one build: those of a paper's suites that a statement needs, with what the build changes.

A point of a build stands for the point of the suites that it would be without the changes. That is where the
statements look for its values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rtoslab.analyses import Selector
from rtoslab.base import PlanError
from rtoslab.catalogue import Catalogue, Claim, Experiment, PaperFolder
from rtoslab.images import require_settings
from rtoslab.measure import point_id
from rtoslab.papers import paper_plan, place_may_matter
from rtoslab.plan import Options, Plan, Point, experiment_points, in_placements
from rtoslab.results import PointId
from rtoslab.stability.builds import (
    TODAYS,
    VERSION,
    Build,
    Factor,
    kernel_changes,
    level_of,
    paper_builds,
    paper_factors,
)

_OF_POINTS = ("benchmark", "kernel", "board", "cores")


@dataclass(frozen=True)
class Row:
    """One point of the suites in one configuration: what is measured, and the point that it stands for."""

    stands_for: PointId
    """Its kernel is named as in the paper."""
    points: tuple[Point, ...]
    """Ordered by placement. One where the place does not matter."""


@dataclass(frozen=True)
class StabilityPlan:
    """Everything to measure, and which of it belongs to each build."""

    factors: tuple[Factor, ...]
    builds: tuple[Build, ...]
    rows: tuple[Row, ...]
    members: tuple[tuple[int, ...], ...]
    """For each build the numbers of its rows. Builds that do not differ for a kernel share rows."""

    @property
    def points(self) -> tuple[Point, ...]:
        """All points."""
        return tuple(point for row in self.rows for point in row.points)


def stability_plan(catalogue: Catalogue, paper: PaperFolder, placements: int) -> StabilityPlan:
    """Returns the points of every build, each in `placements` placements if its place may matter. Raises PlanError.

    A kernel that cannot be built as a build says has no point in it. The same holds for a macro that a kernel's
    configuration does not have.
    """
    factors = paper_factors(catalogue, paper)
    builds = tuple(paper_builds(factors))
    suites = {authors: suite_points(catalogue, paper, authors=authors) for authors in (True, False)}
    maker = _Rows(catalogue, paper, placements)
    members = []
    for build in builds:
        plain = suites[level_of(build, factors, VERSION) != TODAYS]
        changed = ((point, maker.changes(build, factors, point)) for point in plain)
        numbers = (maker.number(change, changes) for change, changes in changed if changes is not None)
        members.append(tuple(number for number in numbers if number is not None))
    return StabilityPlan(factors, builds, tuple(maker.rows), tuple(members))


class _Rows:
    """Rows, each made once."""

    def __init__(self, catalogue: Catalogue, paper: PaperFolder, placements: int) -> None:
        self.rows: list[Row] = []
        self._catalogue = catalogue
        self._roles = paper.facts.kernel_by_tree
        self._placements = placements
        self._numbers: dict[str, int | None] = {}
        self._known: dict[tuple[str, frozenset[str]], bool] = {}

    def changes(self, build: Build, factors: Sequence[Factor], plain: Point) -> dict[str, str] | None:
        role = self._roles.get(plain.kernel, plain.kernel)
        return kernel_changes(self._catalogue, build, factors, plain.kernel, role)

    def number(self, plain: Point, changes: Mapping[str, str]) -> int | None:
        """Returns the row of a point of the suites with further configuration. None if it cannot be built so."""
        key = f"{plain!r} {sorted(changes.items())}"
        if key not in self._numbers:
            row = self._row(plain, changes)
            self._numbers[key] = None if row is None else len(self.rows)
            self.rows += [] if row is None else [row]
        return self._numbers[key]

    def _row(self, plain: Point, changes: Mapping[str, str]) -> Row | None:
        point = _with_change(self._catalogue, plain, changes)
        if point is None or point.not_applicable is not None or not self._has_settings(point):
            return None
        count = self._placements if place_may_matter(self._catalogue, point) else 1
        role = self._roles.get(plain.kernel, plain.kernel)
        replaces = point_id(self._catalogue, plain).model_copy(update={"kernel": role})
        return Row(replaces, in_placements(self._catalogue, Plan((point,), None), count).points)

    def _has_settings(self, point: Point) -> bool:
        """Whether the kernel has the macros. Asking takes CMake, and what a macro is set to changes no answer."""
        settings = (point.kernel, frozenset(point.kernel_config))
        if settings not in self._known:
            try:
                require_settings(self._catalogue, (point,))
                self._known[settings] = True
            except PlanError:
                self._known[settings] = False
        return self._known[settings]


def suite_points(catalogue: Catalogue, paper: PaperFolder, *, authors: bool) -> list[Point]:
    """Returns the points of the suites that a statement needs, without those that cannot be measured.

    `authors`: of each kernel the version that the paper measured, else today's, where both are here.
    """
    plain = replace(paper, facts=paper.facts.model_copy(update={"setup": ()}))
    places = statement_places(paper)
    able = [
        item
        for item in paper_plan(catalogue, plain, Options()).points
        if item.not_applicable is None and any(_fits(catalogue, paper, item, place) for place in places)
    ]
    roles = paper.facts.kernel_by_tree
    chosen: dict[tuple[str, str], Point] = {}
    for item in sorted(able, key=lambda point: (point.kernel in roles) != authors):
        role = roles.get(item.kernel, item.kernel)
        chosen.setdefault((role, repr(replace(item, kernel=""))), item)
    return [item for item in able if item in chosen.values()]


def _with_change(catalogue: Catalogue, plain: Point, changes: Mapping[str, str]) -> Point | None:
    """The point with further configuration. None if the configuration is not possible."""
    if not changes:
        return plain
    experiment = Experiment(
        benchmarks=(plain.benchmark,),
        kernels=(plain.kernel,),
        boards=(plain.board,),
        cores=(plain.cores,),
        window_ms=plain.window_ms,
        config={**point_id(catalogue, plain).config, **changes},
    )
    try:
        (point,) = experiment_points(catalogue, experiment, Options())
    except PlanError:
        return None
    return point


def statement_places(paper: PaperFolder) -> list[Selector]:
    """Returns the places of all values that the statements need. Substitutes of values are among them."""
    places: list[Selector] = []
    for claim in paper.claims:
        if claim.kind != "not computed":
            places += claim_places(claim)
    for substitute in paper.facts.substitute:
        metrics = {str(metric) for place in places for metric in _several(place.get("metric"))}
        if substitute.metric in metrics:
            places.append({"kernel": substitute.kernel, **substitute.by})
    return places


def claim_places(claim: Claim) -> list[Selector]:
    """Returns where the values of a statement lie, a place for each case and member, and what each is a share of."""
    places: list[Selector] = []
    for case in claim.cases:
        for of in claim.of or ({},):
            place = {**claim.where, **case, **of}
            places += [place, {**place, **claim.over}] if claim.over else [place]
    return places


def _fits(catalogue: Catalogue, paper: PaperFolder, point: Point, place: Selector) -> bool:
    """Whether the point may have a value at the place."""
    role = paper.facts.kernel_by_tree.get(point.kernel, point.kernel)
    axes = {"benchmark": point.benchmark, "kernel": role, "board": point.board, "cores": str(point.cores)}
    if any(axis in place and axes[axis] not in _several(place[axis]) for axis in _OF_POINTS):
        return False
    if point.instrument is None:
        return "instrument" not in place
    if "instrument" in place and point.instrument not in _several(place["instrument"]):
        return False
    series = set(catalogue.benchmark(point.benchmark).facts.series_ids)
    metrics = _several(place.get("metric"))
    return not metrics or any(metric in series or metric.startswith(("tick.", "select.")) for metric in metrics)


def _several(named: object) -> list[str]:
    if named is None:
        return []
    return [str(point) for point in named] if isinstance(named, list | tuple) else [str(named)]
