"""Finds the single change of a paper's builds that brings our figures closest to the published ones.

The change applies to the authors' version if a tree of it is named, else to today's. Candidates are the single
changes of the paper's own set-ups, and common differences between projects: optimisation, assertions and other
switches of a kernel's parity table, caches and prefetch. Each is measured alone. Then the best changes of each
option are combined, one more at a time, and the paper's own set-ups are measured as they are: a change without an
effect alone may have one with others. A small distance is no proof, for several causes may look alike."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rtoslab.base import PlanError
from rtoslab.catalogue import Catalogue, PaperFirmwareConfiguration, PaperFolder
from rtoslab.images import require_known_macros
from rtoslab.measure import identity_of_point
from rtoslab.papers.compare import ComparedFigure
from rtoslab.papers.experiment import plan_paper_experiments
from rtoslab.papers.in_setup import PaperSetupResults
from rtoslab.papers.reproduction import reproduce_paper
from rtoslab.papers.setup_report import count_values_with_ratio_to_paper, mean_deviation_factor_from_paper
from rtoslab.plan import MeasurementPlan, PlannedPoint, PlanOptions
from rtoslab.store import StoredMeasurementPoint

_LEVELS: Final = ("-O0", "-O1", "-O2", "-O3", "-Os")
_SWITCHES: Final = ("assertions", "stack_checking", "trace_hooks", "time_slicing", "task_selection")
"""Concepts of the parity tables that are on or off."""
_ANY: Final = "any kernel"
_Macros = frozenset[tuple[str, frozenset[str]]]
"""Names of macros, with the kernel that they are set for."""
MOST_TOGETHER: Final = 4
"""The most changes that are combined."""


@dataclass(frozen=True, slots=True)
class ConfigurationChangeTrial:
    """How far our figures are from the paper's with one change of the configuration, or several together."""

    setup: PaperFirmwareConfiguration
    changed_figures: int
    """The number of published figures that change."""
    distance_before: float
    """Distance of these figures without the change. See `setup_report.mean_deviation_factor_from_paper`."""
    distance_after: float
    """Distance of these figures with the change."""
    overall_distance: float
    """Distance of all figures of the paper, with these changed."""


def single_change_setups(catalogue: Catalogue, paper: PaperFolder) -> list[PaperFirmwareConfiguration]:
    """Returns every single change of the build or board settings that may explain a paper's figures. Only benchmarks
    and boards with published figures count."""
    points = plan_paper_experiments(catalogue, _paper_with_setups(paper, ()), PlanOptions()).points
    points = tuple(point for point in points if _has_paper_value_for_point(paper, point))
    boards, benchmarks = (
        tuple(dict.fromkeys(getattr(point, axis) for point in points)) for axis in ("board", "benchmark")
    )
    kernels = tuple(
        dict.fromkeys(paper.facts.paper_kernel_by_source_tree.get(point.kernel, point.kernel) for point in points)
    )
    swept = {key for suite in paper.suites for experiment in suite.experiments for key in experiment.sweep}
    setups: dict[str, PaperFirmwareConfiguration] = {}
    for title, change in _single_configuration_changes(catalogue, paper, kernels, boards):
        key = title.partition("=")[0]
        changed = tuple(benchmark for benchmark in benchmarks if _has_parameter(catalogue, benchmark, key))
        if key in swept or not changed:
            continue  # the paper's own question. Or no benchmark with such a parameter has a published figure
        setup = PaperFirmwareConfiguration(
            id=f"change_{len(setups)}", title=title, evidence="", benchmarks=changed, boards=boards
        )
        setups.setdefault(title, setup.model_copy(update=dict(change)))
    known: dict[_Macros, bool] = {}
    return [item for item in setups.values() if _can_kernels_be_built(catalogue, paper, item, known)]


def _has_parameter(catalogue: Catalogue, benchmark: str, key: str) -> bool:
    """Whether a benchmark has the parameter that the settings key sets. True for a key that is no parameter
    (`param.`)."""
    name = key.removeprefix("param.")
    return name == key or name in catalogue.find_benchmark(benchmark).facts.params


def _can_kernels_be_built(
    catalogue: Catalogue, paper: PaperFolder, setup: PaperFirmwareConfiguration, known: dict[_Macros, bool]
) -> bool:
    """Whether the kernels can be built with the change of a set-up. `known` has the answers so far, because each takes
    a run of CMake."""
    try:
        points = plan_paper_experiments(catalogue, _paper_with_setups(paper, (setup,)), PlanOptions()).points
    except PlanError:
        return False
    settings = frozenset(
        (point.kernel, frozenset(point.kernel_config)) for point in points if point.not_applicable is None
    )
    if settings not in known:
        known[settings] = _do_kernels_have_config_macros(catalogue, points)
    return known[settings]


def _do_kernels_have_config_macros(catalogue: Catalogue, points: Sequence[PlannedPoint]) -> bool:
    """Whether the kernels of the points have all configuration macros that the points set."""
    try:
        require_known_macros(catalogue, points)
    except PlanError:
        return False
    return True


Change = Mapping[str, object]
"""Fields of a set-up."""


def _single_configuration_changes(
    catalogue: Catalogue, paper: PaperFolder, kernels: Sequence[str], boards: Sequence[str]
) -> Iterator[tuple[str, Change]]:
    """Yields the title and the settings of every single change of a paper's configuration."""
    for setup in paper.facts.setup:
        for kernel, options in setup.kernel.items():
            who = _ANY if tuple(kernels) == (kernel,) else kernel
            yield from (_single_option_change(who, *item) for item in options.items())
        yield from (_single_option_change(_ANY, *item) for item in setup.config.items())
    yield from (_single_option_change(_ANY, "opt", level) for level in _LEVELS)
    yield _single_option_change(_ANY, "lto", "1")
    for kernel in kernels:
        parity = catalogue.kernels[kernel].facts.parity
        macros = [parity[switch] for switch in _SWITCHES if switch in parity and not parity[switch].startswith("=")]
        who = _ANY if tuple(kernels) == (kernel,) else kernel
        yield from (_single_option_change(who, macro, value) for macro in macros for value in ("0", "1"))
    for name in ("icache", "dcache", "prefetch"):
        having = tuple(board for board in boards if name in catalogue.find_board(board).facts.features)
        if having:
            title, change = _single_option_change(_ANY, f"feature.{name}", "0")
            yield title, {**change, "boards": having}


def _single_option_change(kernel: str, key: str, value: str) -> tuple[str, Change]:
    """Returns the title and the settings of the change that sets one option, for one kernel or for `any kernel`."""
    if kernel == _ANY:
        return f"{key}={value}", {"config": {key: value}}
    return f"{key}={value} ({kernel})", {"kernel": {kernel: {key: value}}}


def plan_paper_points_with_setup_changes(
    catalogue: Catalogue, paper: PaperFolder, setups: Sequence[PaperFirmwareConfiguration], options: PlanOptions
) -> MeasurementPlan:
    """Returns the plan with the points that have published figures: those of the paper's suites, and those of every
    change."""
    plain = {
        repr(point): point for point in plan_paper_experiments(catalogue, _paper_with_setups(paper, ()), options).points
    }
    plain = {
        key: item
        for key, item in plain.items()
        if _has_paper_value_for_point(paper, item) and _is_authors_version(catalogue, paper, item)
    }
    changed: dict[str, PlannedPoint] = {}
    for setup in setups:
        changed |= {
            repr(point): point
            for point in plan_paper_experiments(catalogue, _paper_with_setups(paper, (setup,)), options).points
        }
    changed = {key: item for key, item in changed.items() if _has_paper_value_for_point(paper, item)}
    if not plain:
        raise PlanError(
            f"{paper.key} has no figure that can be compared with one of ours, so there is no "
            "distance; `rtoslab paper` shows what is missing."
        )
    return MeasurementPlan(tuple({**plain, **changed}.values()), paper.key)


def _has_paper_value_for_point(paper: PaperFolder, point: PlannedPoint) -> bool:
    """Whether the paper has published a figure of the point's benchmark and kernel on its board."""
    return any(
        row.lab_benchmark == point.benchmark
        and row.lab_board in {"", point.board}
        and row.lab_kernel in {"", paper.facts.paper_kernel_by_source_tree.get(point.kernel, point.kernel)}
        for row in paper.paper_values_by_row_id.values()
    )


def _is_authors_version(catalogue: Catalogue, paper: PaperFolder, point: PlannedPoint) -> bool:
    """Whether the point's kernel is in the version that the paper measured, or no sources of that version are here."""
    trees = next((version.trees for version in paper.facts.version if version.kernel == point.kernel), ())
    return point.kernel in trees or not set(trees) & set(catalogue.buildable_kernels)


def evaluate_configuration_changes(
    catalogue: Catalogue,
    paper: PaperFolder,
    setups: Iterable[PaperFirmwareConfiguration],
    points: Sequence[StoredMeasurementPoint],
    options: PlanOptions,
) -> list[ConfigurationChangeTrial]:
    """Returns how far our figures are from the paper's with each change of the configuration, the closest first.
    Changes without figures are left out."""
    plain = _ids_of_planned_paper_measurements(catalogue, _paper_with_setups(paper, ()), options)
    trials = []
    for setup in setups:
        single = _paper_with_setups(paper, (setup,))
        ids = plain | _ids_of_planned_paper_measurements(catalogue, single, options)
        mine = [point for point in points if point.result.point.model_dump_json() in ids]
        done = reproduce_paper(catalogue, single, mine)
        trials += [
            _make_setup_change_trial(in_setup, done.compared)
            for in_setup in done.setups
            if count_values_with_ratio_to_paper(in_setup.paper_values_changed_by_configuration())
        ]
    return sorted(trials, key=lambda trial: (trial.overall_distance, trial.setup.title))


def _make_setup_change_trial(
    changed: PaperSetupResults, plain: Mapping[int, ComparedFigure]
) -> ConfigurationChangeTrial:
    """Returns how far our figures are from the paper's with one change. `plain` are the figures without it."""
    own = changed.paper_values_changed_by_configuration()
    before, after = (
        mean_deviation_factor_from_paper({ident: plain[ident] for ident in own}),
        mean_deviation_factor_from_paper(own),
    )
    whole = mean_deviation_factor_from_paper({**plain, **own})
    return ConfigurationChangeTrial(
        changed.setup, count_values_with_ratio_to_paper(own), before or 0.0, after or 0.0, whole or 0.0
    )


def paper_deviation_without_setting_change(
    catalogue: Catalogue, paper: PaperFolder, points: Sequence[StoredMeasurementPoint], options: PlanOptions
) -> float:
    """Returns how far our figures are from the paper's without a change, as a factor. 0 if there are none."""
    single = _paper_with_setups(paper, ())
    plain = _ids_of_planned_paper_measurements(catalogue, single, options)
    mine = [point for point in points if point.result.point.model_dump_json() in plain]
    return mean_deviation_factor_from_paper(reproduce_paper(catalogue, single, mine).compared) or 0.0


def combine_best_changes(
    paper_distance: float, singles: Sequence[ConfigurationChangeTrial]
) -> list[PaperFirmwareConfiguration]:
    """Returns combinations of the best changes: two, then three, and so on. Only changes that alone bring our figures
    closer to the paper's are combined."""
    chosen: list[PaperFirmwareConfiguration] = []
    options: set[str] = set()
    combined = []
    for single in singles:
        option = single.setup.title.partition("=")[0]
        if single.overall_distance >= paper_distance or option in options or len(chosen) == MOST_TOGETHER:
            continue
        options.add(option)
        chosen.append(single.setup)
        if len(chosen) > 1:
            combined.append(_combine_paper_setups(f"together_{len(chosen)}", chosen))
    return combined


def alternative_configurations_of_paper(paper: PaperFolder) -> list[PaperFirmwareConfiguration]:
    """Returns the paper's own set-ups: other configurations that its authors may have used."""
    return list(paper.facts.setup)


def _combine_paper_setups(ident: str, setups: Sequence[PaperFirmwareConfiguration]) -> PaperFirmwareConfiguration:
    """Returns one set-up with the changes of several set-ups. `ident` is its id."""
    config: dict[str, str] = {}
    kernels: dict[str, dict[str, str]] = {}
    for setup in setups:
        config |= setup.config
        for kernel, options in setup.kernel.items():
            kernels[kernel] = {**kernels.get(kernel, {}), **options}
    boards = set(setups[0].boards).intersection(*(setup.boards for setup in setups))
    return setups[0].model_copy(
        update={
            "id": ident,
            "title": ", ".join(setup.title for setup in setups),
            "config": config,
            "kernel": kernels,
            "boards": tuple(board for board in setups[0].boards if board in boards),
        }
    )


def _paper_with_setups(paper: PaperFolder, setups: tuple[PaperFirmwareConfiguration, ...]) -> PaperFolder:
    """Returns the paper with these set-ups in place of its own."""
    return replace(paper, facts=paper.facts.model_copy(update={"setup": setups}))


def _ids_of_planned_paper_measurements(catalogue: Catalogue, paper: PaperFolder, options: PlanOptions) -> set[str]:
    """Returns the identities of the points of the paper's plan, as JSON texts."""
    return {
        identity_of_point(catalogue, point).model_dump_json()
        for point in plan_paper_experiments(catalogue, paper, options).points
    }
