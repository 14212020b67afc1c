"""A paper's set-ups: the same experiments as its authors may have built them. Assigns a run's points to them.

A point of a set-up represents the point of the suites that it would be without the set-up's changes: published
figures and statements select that one."""

from collections.abc import Collection, Iterable, Iterator

from rtoslab.catalogue import Catalogue, Experiment, PaperFirmwareConfiguration, PaperFolder
from rtoslab.plan import DEFAULTS, PlannedPoint, PlanOptions, config_with_defaults, experiment_points
from rtoslab.results import PointId


def measurement_points_of_paper_setup(
    catalogue: Catalogue,
    paper: PaperFolder,
    experiments: Iterable[Experiment],
    setup: PaperFirmwareConfiguration,
    options: PlanOptions,
    known: Collection[str] = (),
) -> Iterator[PlannedPoint]:
    """Yields the points of a paper's experiments under one set-up (another configuration). Raises UnknownNameError,
    PlanError.

    They are of the kernel version that the paper measured, if it is here. Today's version is used only if the paper's
    version is not among `known`, the kernels with reference results.
    """
    for experiment in experiments:
        for kernel, name in _kernels_changed_by_configuration(
            paper, setup, experiment, catalogue.buildable_kernels, known
        ).items():
            config = {**experiment.config, **setup.kernel_config_changes_of_setup(kernel)}
            benchmarks = tuple(
                benchmark for benchmark in experiment.benchmarks if benchmark in (setup.benchmarks or (benchmark,))
            )
            boards = tuple(board for board in experiment.boards if board in (setup.boards or (board,)))
            cores = tuple(core for core in experiment.cores if core in (setup.cores or (core,)))
            only = {"benchmarks": benchmarks, "boards": boards, "cores": cores}
            only |= {"kernels": (name,), "bring_your_own": ()}
            yield from experiment_points(catalogue, experiment.model_copy(update={**only, "config": config}), options)


def original_point_of_paper_setup_point(
    paper: PaperFolder, setup: PaperFirmwareConfiguration, point: PointId
) -> PointId | None:
    """Returns the point without a set-up's changes that a point of the set-up replaces. None if the point is not of the
    set-up."""
    changes = setup.kernel_config_changes_of_setup(point.kernel)
    experiment = _find_experiment(paper, point, point.kernel)
    meant = all(
        not axis or one in axis
        for one, axis in (
            (point.benchmark, setup.benchmarks),
            (point.board, setup.boards),
            (point.cores, setup.cores),
        )
    )
    if experiment is None or not meant or not changes:
        return None
    here, configs = config_with_defaults(point.config), config_with_defaults(experiment.config)
    if any(here.get(key) != value for key, value in changes.items()):
        return None
    # What other set-ups change is here as in the experiment.
    others = (
        {key for item in paper.facts.setup for key in item.kernel_config_changes_of_setup(point.kernel)}
        - changes.keys()
        - experiment.sweep.keys()
    )
    if any(here.get(key, configs.get(key)) != configs.get(key) for key in others):
        return None
    before = {key: configs.get(key) for key in changes}
    if all(here.get(key) == value for key, value in before.items()):
        return None
    config = {key: value for key, value in point.config.items() if key not in changes}
    config |= {key: value for key, value in before.items() if value not in {None, DEFAULTS.get(key)}}
    return point.model_copy(update={"config": dict(sorted(config.items()))})


def point_key_without_window_and_samples(paper: PaperFolder, point: PointId) -> str:
    """Returns a point's identity as text, without the window or number of samples."""
    experiments = [experiment for suite in paper.suites for experiment in suite.experiments]
    longer = {"samples"}.union(*(experiment.full_config.keys() - experiment.sweep.keys() for experiment in experiments))
    config = {key: value for key, value in point.config.items() if key not in longer}
    return point.model_copy(update={"window_ms": 0, "config": config}).model_dump_json()


def _find_experiment(paper: PaperFolder, point: PointId, kernel: str) -> Experiment | None:
    """Returns the first of a paper's experiments with the point's benchmark, kernel and board."""
    for suite in paper.suites:
        for experiment in suite.experiments:
            kernels = (*experiment.kernels, *experiment.bring_your_own)
            if point.benchmark in experiment.benchmarks and point.board in experiment.boards and kernel in kernels:
                return experiment
    return None


def _kernels_changed_by_configuration(
    paper: PaperFolder,
    setup: PaperFirmwareConfiguration,
    experiment: Experiment,
    here: Collection[str],
    known: Collection[str],
) -> dict[str, str]:
    """Returns the kernels that a set-up changes, each with the source tree or kernel that is built for it. `here` can
    be built, `known` have reference results."""
    trees = {version.kernel: version.trees for version in paper.facts.version}
    changes = {}
    for kernel in (*experiment.kernels, *experiment.bring_your_own):
        own = [tree for tree in trees.get(kernel, ()) if tree in here]
        lent = [tree for tree in trees.get(kernel, ()) if tree in known]
        name = own[0] if own else "" if lent else kernel if kernel in here else ""
        if name and setup.kernel_config_changes_of_setup(kernel):
            changes[kernel] = name
    return changes
