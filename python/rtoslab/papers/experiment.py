"""A paper's experiments as a plan: the points of all its suites, without those of missing benchmarks."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from rtoslab.base import UnknownNameError
from rtoslab.catalogue import Catalogue, Experiment, PaperFirmwareConfiguration, PaperFolder
from rtoslab.papers.setups import measurement_points_of_paper_setup
from rtoslab.plan import MeasurementPlan, PlannedPoint, PlanOptions, experiment_points


def plan_paper_experiments(
    catalogue: Catalogue,
    paper: PaperFolder,
    options: PlanOptions,
    setups: Sequence[str] | None = None,
    referenced_kernels: Collection[str] = (),
) -> MeasurementPlan:
    """Returns the plan with all points (benchmark, kernel, board, settings) of a paper's experiments and set-ups, each
    once."""
    experiments = [
        _limit_experiment_to_catalogue(catalogue, paper, experiment)
        for suite in paper.suites
        for experiment in suite.experiments
    ]
    points = chain(
        *(experiment_points(catalogue, experiment, options) for experiment in experiments),
        *(
            measurement_points_of_paper_setup(catalogue, paper, experiments, setup, options, referenced_kernels)
            for setup in select_paper_setups(paper, setups)
        ),
    )
    # Mappings in a point have no hash.
    distinct = list({repr(point): point for point in points}.values())
    return MeasurementPlan(tuple(_skip_points_of_redundant_kernel_trees(paper, distinct)), paper.key)


def _skip_points_of_redundant_kernel_trees(
    paper: PaperFolder, points: Sequence[PlannedPoint]
) -> Iterator[PlannedPoint]:
    """Yields the points without those of a second source tree of the same kernel version."""
    order = {tree: place for version in paper.facts.version for place, tree in enumerate(version.trees)}
    able = {
        (order[point.kernel], paper.facts.paper_kernel_by_source_tree[point.kernel], repr(replace(point, kernel="")))
        for point in points
        if point.kernel in order and point.not_applicable is None
    }
    for point in points:
        earlier = range(order.get(point.kernel, 0))
        role = paper.facts.paper_kernel_by_source_tree.get(point.kernel, "")
        if not any((place, role, repr(replace(point, kernel="", not_applicable=None))) in able for place in earlier):
            yield point


def select_paper_setups(paper: PaperFolder, requested: Sequence[str] | None) -> list[PaperFirmwareConfiguration]:
    """Returns the paper's set-ups (other configurations that its authors may have used) with these ids. None returns
    all. Raises UnknownNameError."""
    known = {setup.id: setup for setup in paper.facts.setup}
    for name in requested or ():
        if name not in known:
            raise UnknownNameError("set-up", name, known)
    return [setup for setup in known.values() if requested is None or setup.id in requested]


def _limit_experiment_to_catalogue(catalogue: Catalogue, paper: PaperFolder, experiment: Experiment) -> Experiment:
    """Returns the experiment without benchmarks that do not exist, and with the paper's versions of its kernels."""
    present = tuple(benchmark for benchmark in experiment.benchmarks if benchmark in catalogue.benchmarks)
    kernels = (*experiment.kernels, *experiment.bring_your_own)
    versions = (
        tree
        for tree, kernel in paper.facts.paper_kernel_by_source_tree.items()
        if kernel in kernels and tree not in kernels
    )
    external = (*experiment.bring_your_own, *versions)
    return experiment.model_copy(update={"benchmarks": present, "bring_your_own": external})


def benchmarks_missing_for_paper(catalogue: Catalogue, paper: PaperFolder) -> list[str]:
    """Returns the benchmarks that the paper's suites name but that do not exist."""
    named = [name for suite in paper.suites for experiment in suite.experiments for name in experiment.benchmarks]
    return [name for name in dict.fromkeys(named) if name not in catalogue.benchmarks]
