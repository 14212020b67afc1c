"""A paper's set-ups: the same experiments as its authors may have built them, and which point of a run is of which.

A point of a set-up stands for the point of the suites that it would be without what the set-up changes: that is
where published figures and statements look for it.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from rtoslab.analyses import ClaimVerdict, Value
from rtoslab.catalogue import Catalogue, Experiment, PaperFolder, Setup
from rtoslab.papers.compare import Compared
from rtoslab.plan import USUAL, Options, Point, experiment_points, with_usual
from rtoslab.results import PointId


@dataclass(frozen=True)
class InSetup:
    """The paper's figures and statements in a set-up of its authors."""

    setup: Setup
    run_ids: frozenset[str]
    """Points of the set-up; what it does not change is as in the suites."""
    compared: dict[int, Compared]
    """By id of the published row."""
    verdicts: tuple[ClaimVerdict, ...]
    values: tuple[Value, ...] = ()
    """Of the points of the set-up, each with the point of the suites that it stands for."""

    def own(self) -> dict[int, Compared]:
        """Figures whose value is of a point of the set-up."""
        return {
            ident: each
            for ident, each in self.compared.items()
            if each.value is not None and each.value.run_id in self.run_ids
        }


def setup_points(
    catalogue: Catalogue, experiments: Iterable[Experiment], setup: Setup, options: Options
) -> Iterator[Point]:
    """The points of the suites' experiments with what the set-up changes. Raises UnknownNameError, PlanError."""
    for experiment in experiments:
        for kernel, name in _changed(setup, experiment, catalogue.kernels_here).items():
            config = {**experiment.config, **setup.changes(kernel)}
            benchmarks = tuple(each for each in experiment.benchmarks if each in (setup.benchmarks or (each,)))
            boards = tuple(each for each in experiment.boards if each in (setup.boards or (each,)))
            cores = tuple(each for each in experiment.cores if each in (setup.cores or (each,)))
            only = {"benchmarks": benchmarks, "boards": boards, "cores": cores}
            only |= {"kernels": (name,), "bring_your_own": ()}
            yield from experiment_points(catalogue, experiment.model_copy(update={**only, "config": config}), options)


def stands_for(paper: PaperFolder, setup: Setup, point: PointId) -> PointId | None:
    """The point of the suites that this one of the set-up stands for; None if it is not of the set-up."""
    versions = {name: kernel for kernel, name in setup.instead.items()}
    kernel = versions.get(point.kernel, point.kernel)
    changes = setup.changes(kernel)
    experiment = _experiment(paper, point, kernel)
    meant = all(
        not wanted or one in wanted
        for one, wanted in (
            (point.benchmark, setup.benchmarks),
            (point.board, setup.boards),
            (point.cores, setup.cores),
        )
    )
    if experiment is None or not meant or not (changes or point.kernel in versions):
        return None
    here, there = with_usual(point.config), with_usual(experiment.config)
    if any(here.get(key) != value for key, value in changes.items()):
        return None
    # A version may be in several set-ups: what the others change is here as in the experiment.
    others = (
        {key for each in paper.facts.setup for key in each.changes(kernel)} - changes.keys() - experiment.sweep.keys()
    )
    if any(here.get(key, there.get(key)) != there.get(key) for key in others):
        return None
    before = {key: there.get(key) for key in changes}
    if kernel == point.kernel and all(here.get(key) == value for key, value in before.items()):
        return None
    config = {key: value for key, value in point.config.items() if key not in changes}
    config |= {key: value for key, value in before.items() if value not in {None, USUAL.get(key)}}
    return point.model_copy(update={"kernel": kernel, "config": dict(sorted(config.items()))})


def but_for_length(paper: PaperFolder, point: PointId) -> str:
    """The point's axes without how long it is measured, which --full and reference results have of their own."""
    experiments = [each for suite in paper.suites for each in suite.experiments]
    longer = {"samples"}.union(*(each.full_config.keys() - each.sweep.keys() for each in experiments))
    config = {key: value for key, value in point.config.items() if key not in longer}
    return point.model_copy(update={"window_ms": 0, "config": config}).model_dump_json()


def _experiment(paper: PaperFolder, point: PointId, kernel: str) -> Experiment | None:
    """The first experiment of the suites that has the point's benchmark with the kernel on the board."""
    for suite in paper.suites:
        for each in suite.experiments:
            kernels = (*each.kernels, *each.bring_your_own)
            if point.benchmark in each.benchmarks and point.board in each.boards and kernel in kernels:
                return each
    return None


def _changed(setup: Setup, experiment: Experiment, here: Collection[str]) -> dict[str, str]:
    """The experiment's kernels that the set-up builds otherwise, by what is built: a version of it, if that is here."""
    brought = [each for each in experiment.bring_your_own if each in here]
    found = {}
    for kernel in (*experiment.kernels, *brought):
        version = setup.instead.get(kernel, kernel)
        name = version if version in here else kernel
        if name != kernel or setup.changes(kernel):
            found[kernel] = name
    return found
