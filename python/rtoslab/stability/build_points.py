"""The points of one build: those of a paper's suites that a statement needs, with the changes of the build.

A point of a build represents the point of the suites that it would be without the changes. Statements look up its
values there."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from rtoslab.analyses import Selector
from rtoslab.base import PlanError
from rtoslab.catalogue import Catalogue, Experiment, PaperClaim, PaperFolder
from rtoslab.images import require_known_macros
from rtoslab.measure import identity_of_point
from rtoslab.papers import may_depend_on_code_addresses, plan_paper_experiments
from rtoslab.plan import MeasurementPlan, PlannedPoint, PlanOptions, experiment_points, repeat_plan_in_code_placements
from rtoslab.results import PointId
from rtoslab.stability.builds import (
    SWITCH,
    TODAYS,
    VERSION,
    BuildVariationFactor,
    KernelBuild,
    config_changes_of_kernel_build,
    factor_level_of_build,
    kernel_builds_for_claim_stability,
    varied_build_factors_of_paper,
)


@dataclass(frozen=True)
class PlannedBuildInCodePlacements:
    """One benchmark with one kernel, board and build, in all placements of its code that are measured."""

    stands_for: PointId
    """The point of the suites. Its kernel is named as in the paper."""
    points: tuple[PlannedPoint, ...]
    """One point for each placement. Only one where the placement does not matter."""


@dataclass(frozen=True)
class StatementStabilityPlan:
    """All points to measure for the stability of a paper's statements, and the builds that they belong to."""

    factors: tuple[BuildVariationFactor, ...]
    builds: tuple[KernelBuild, ...]
    rows: tuple[PlannedBuildInCodePlacements, ...]
    rows_by_build: tuple[tuple[int, ...], ...]
    """The numbers of each build's rows. Builds that do not differ for a kernel share rows."""

    @property
    def points(self) -> tuple[PlannedPoint, ...]:
        """Returns all points (benchmark, kernel, board, settings) to measure."""
        return tuple(point for row in self.rows for point in row.points)


def plan_paper_claim_stability_points(
    catalogue: Catalogue,
    paper: PaperFolder,
    placements: int,
    kernels: Collection[str] = (),
    *,
    with_switches: bool = True,
) -> StatementStabilityPlan:
    """Returns the points of every build of a paper's kernels, each in several placements if that may matter.
    Raises PlanError. `kernels`: only these of the paper's kernels have points. Without switches, the builds are the
    combinations of the other factors alone.

    A kernel that cannot be built as a build says has no point in it. The same holds for a macro that a kernel's
    configuration does not have.
    """
    factors = varied_build_factors_of_paper(catalogue, paper)
    factors = tuple(factor for factor in factors if with_switches or factor.name != SWITCH)
    builds = tuple(kernel_builds_for_claim_stability(factors))
    suites = {authors: points_of_paper_suites(catalogue, paper, authors=authors) for authors in (True, False)}
    maker = _BuildMeasurementPlanner(catalogue, paper, placements)
    members = []
    for build in builds:
        plain = [
            point
            for point in suites[factor_level_of_build(build, factors, VERSION) != TODAYS]
            if not kernels or maker.kernel_name_in_paper(point) in kernels
        ]
        changed = ((point, maker.config_keys_changed_by_build(build, factors, point)) for point in plain)
        numbers = (maker.row_number_of_point(change, changes) for change, changes in changed if changes is not None)
        members.append(tuple(number for number in numbers if number is not None))
    return StatementStabilityPlan(factors, builds, tuple(maker.rows), tuple(members))


class _BuildMeasurementPlanner:
    """Makes the points of builds, each point only once."""

    def __init__(self, catalogue: Catalogue, paper: PaperFolder, placements: int) -> None:
        self.rows: list[PlannedBuildInCodePlacements] = []
        self._catalogue = catalogue
        self._roles = paper.facts.paper_kernel_by_source_tree
        self._placements = placements
        self._numbers: dict[str, int | None] = {}
        self._known: dict[tuple[str, frozenset[str]], bool] = {}

    def kernel_name_in_paper(self, point: PlannedPoint) -> str:
        """Returns the kernel of a point, named as in the paper."""
        return self._roles.get(point.kernel, point.kernel)

    def config_keys_changed_by_build(
        self, build: KernelBuild, factors: Sequence[BuildVariationFactor], plain: PlannedPoint
    ) -> dict[str, str] | None:
        """Returns the configuration keys that a build sets for a point's kernel. None if the kernel cannot be built
        so."""
        return config_changes_of_kernel_build(
            self._catalogue, build, factors, plain.kernel, self.kernel_name_in_paper(plain)
        )

    def row_number_of_point(self, plain: PlannedPoint, changes: Mapping[str, str]) -> int | None:
        """Returns the number of the row for a point with changed settings. None if it cannot be built so."""
        key = f"{plain!r} {sorted(changes.items())}"
        if key not in self._numbers:
            row = self._plan_build_over_code_placements(plain, changes)
            self._numbers[key] = None if row is None else len(self.rows)
            self.rows += [] if row is None else [row]
        return self._numbers[key]

    def _plan_build_over_code_placements(
        self, plain: PlannedPoint, changes: Mapping[str, str]
    ) -> PlannedBuildInCodePlacements | None:
        """Returns a point with changed settings in all its placements. None if it cannot be built so."""
        point = _plan_measurement_with_settings(self._catalogue, plain, changes)
        if point is None or point.not_applicable is not None or not self._has_kernel_all_macros(point):
            return None
        count = self._placements if may_depend_on_code_addresses(self._catalogue, point) else 1
        replaces = identity_of_point(self._catalogue, plain).model_copy(
            update={"kernel": self.kernel_name_in_paper(plain)}
        )
        return PlannedBuildInCodePlacements(
            replaces, repeat_plan_in_code_placements(self._catalogue, MeasurementPlan((point,), None), count).points
        )

    def _has_kernel_all_macros(self, point: PlannedPoint) -> bool:
        """Whether the kernel's configuration has all macros that the point sets."""
        settings = (point.kernel, frozenset(point.kernel_config))
        if settings not in self._known:
            try:
                require_known_macros(self._catalogue, (point,))
                self._known[settings] = True
            except PlanError:
                self._known[settings] = False
        return self._known[settings]


def points_of_paper_suites(catalogue: Catalogue, paper: PaperFolder, *, authors: bool) -> list[PlannedPoint]:
    """Returns the points of a paper's suites that its statements need and that can be measured. With `authors`, each
    kernel is taken in the version that the paper measured, else in today's, if both are available."""
    plain = replace(paper, facts=paper.facts.model_copy(update={"setup": ()}))
    selectors = selectors_of_paper_statements(paper)
    measurable = [
        item
        for item in plan_paper_experiments(catalogue, plain, PlanOptions()).points
        if item.not_applicable is None
        and any(_may_point_provide_selected_value(catalogue, paper, item, place) for place in selectors)
    ]
    roles = paper.facts.paper_kernel_by_source_tree
    chosen: dict[tuple[str, str], PlannedPoint] = {}
    for item in sorted(measurable, key=lambda point: (point.kernel in roles) != authors):
        role = roles.get(item.kernel, item.kernel)
        chosen.setdefault((role, repr(replace(item, kernel=""))), item)
    return [item for item in measurable if item in chosen.values()]


def _plan_measurement_with_settings(
    catalogue: Catalogue, plain: PlannedPoint, changes: Mapping[str, str]
) -> PlannedPoint | None:
    """Returns the point with changed settings. None if the settings are not possible."""
    if not changes:
        return plain
    experiment = Experiment(
        benchmarks=(plain.benchmark,),
        kernels=(plain.kernel,),
        boards=(plain.board,),
        cores=(plain.cores,),
        window_ms=plain.window_ms,
        config={**identity_of_point(catalogue, plain).config, **changes},
    )
    try:
        (point,) = experiment_points(catalogue, experiment, PlanOptions())
    except PlanError:
        return None
    return point


def selectors_of_paper_statements(paper: PaperFolder) -> list[Selector]:
    """Returns the coordinates (such as benchmark, kernel, cores) of all values that a paper's statements need."""
    selectors: list[Selector] = []
    for claim in paper.claims:
        if claim.kind != "not computed":
            selectors += value_selectors_of_paper_claim(claim)
    for substitute in paper.facts.substitute:
        metrics = {str(metric) for place in selectors for metric in _names_as_list(place.get("metric"))}
        if substitute.metric in metrics:
            selectors.append({"kernel": substitute.kernel, **substitute.by})
    return selectors


def value_selectors_of_paper_claim(claim: PaperClaim) -> list[Selector]:
    """Returns the coordinates of the values that one statement of a paper needs."""
    selectors: list[Selector] = []
    for case in claim.cases:
        for of in claim.of or ({},):
            selector = {**claim.where, **case, **of}
            selectors += [selector, {**selector, **claim.over}] if claim.over else [selector]
    return selectors


def _may_point_provide_selected_value(
    catalogue: Catalogue, paper: PaperFolder, point: PlannedPoint, selector: Selector
) -> bool:
    """Whether a measured point may give a value with these coordinates."""
    role = paper.facts.paper_kernel_by_source_tree.get(point.kernel, point.kernel)
    axes = {"benchmark": point.benchmark, "kernel": role, "board": point.board, "cores": str(point.cores)}
    axes |= {f"param.{name}": value for name, value in point.params.items()}
    if any(axis in selector and value not in _names_as_list(selector[axis]) for axis, value in axes.items()):
        return False
    if point.instrument is None:
        return "instrument" not in selector
    if "instrument" in selector and point.instrument not in _names_as_list(selector["instrument"]):
        return False
    series = set(catalogue.find_benchmark(point.benchmark).facts.latency_series_ids)
    metrics = _names_as_list(selector.get("metric"))
    return not metrics or any(metric in series or metric.startswith(("tick.", "select.")) for metric in metrics)


def _names_as_list(value: object) -> list[str]:
    """Returns one name or several names as a list of texts. Empty for None."""
    if value is None:
        return []
    return [str(point) for point in value] if isinstance(value, list | tuple) else [str(value)]
