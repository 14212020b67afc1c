"""Which single change of how a paper's programs were built brings our figures closest to the published ones.

The change applies to the authors' version if a tree of it is named, else to today's. Candidates are what the paper's
own set-ups name, one thing at a time, and what most projects differ in: optimisation, assertions and other switches
that a kernel's parity table names, caches and prefetch. Each is measured alone. Then the best of each option together,
one more at a time, and the paper's own set-ups as they are: what does nothing alone may do much with others. A small
distance is no proof: several causes may look alike."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rtoslab.base import PlanError
from rtoslab.catalogue import Catalogue, PaperFolder, Setup
from rtoslab.images import require_settings
from rtoslab.measure import point_id
from rtoslab.papers.compare import ComparedRow
from rtoslab.papers.experiment import paper_plan
from rtoslab.papers.in_setup import InSetup
from rtoslab.papers.reproduction import reproduce
from rtoslab.papers.setup_report import distance, with_ratio
from rtoslab.plan import Options, Plan, Point
from rtoslab.store import StoredPoint

_LEVELS: Final = ("-O0", "-O1", "-O2", "-O3", "-Os")
_SWITCHES: Final = ("assertions", "stack_checking", "trace_hooks", "time_slicing", "task_selection")
"""Concepts of the parity tables that are on or off."""
_ANY: Final = "any kernel"
_Macros = frozenset[tuple[str, frozenset[str]]]
"""Names of macros, with the kernel whose they would be."""
MOST_TOGETHER: Final = 4
"""So many changes are tried at once."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One change, or several together, and how far the paper is then."""

    setup: Setup
    figures: int
    """So many published figures change."""
    before: float
    """Distance of these figures as the suites have them. See `setup_report.distance`."""
    after: float
    whole: float
    """Distance of all figures of the paper, with these changed."""


def candidates(catalogue: Catalogue, paper: PaperFolder) -> list[Setup]:
    """Every single change, each once. Only benchmarks and boards with figures in the paper count."""
    points = paper_plan(catalogue, _only(paper, ()), Options()).points
    points = tuple(point for point in points if _is_published(paper, point))
    boards, benchmarks = (
        tuple(dict.fromkeys(getattr(point, axis) for point in points)) for axis in ("board", "benchmark")
    )
    kernels = tuple(dict.fromkeys(paper.facts.kernel_by_tree.get(point.kernel, point.kernel) for point in points))
    swept = {key for suite in paper.suites for experiment in suite.experiments for key in experiment.sweep}
    setups: dict[str, Setup] = {}
    for title, change in _changes(catalogue, paper, kernels, boards):
        key = title.partition("=")[0]
        changed = tuple(benchmark for benchmark in benchmarks if _has(catalogue, benchmark, key))
        if key in swept or not changed:
            continue  # the paper's own question. Or no benchmark with such a parameter has a published figure
        setup = Setup(id=f"change_{len(setups)}", title=title, evidence="", benchmarks=changed, boards=boards)
        setups.setdefault(title, setup.model_copy(update=dict(change)))
    known: dict[_Macros, bool] = {}
    return [item for item in setups.values() if _is_possible(catalogue, paper, item, known)]


def _has(catalogue: Catalogue, benchmark: str, key: str) -> bool:
    """Whether a benchmark has the parameter that `key` sets. All have what is none."""
    name = key.removeprefix("param.")
    return name == key or name in catalogue.benchmark(benchmark).facts.params


def _is_possible(catalogue: Catalogue, paper: PaperFolder, setup: Setup, known: dict[_Macros, bool]) -> bool:
    """Whether the kernels have what the change sets. Some ports fix what others leave open. `known` are the answers so
    far. Each of them takes CMake, and the value of a macro changes none."""
    try:
        points = paper_plan(catalogue, _only(paper, (setup,)), Options()).points
    except PlanError:
        return False
    settings = frozenset(
        (point.kernel, frozenset(point.kernel_config)) for point in points if point.not_applicable is None
    )
    if settings not in known:
        known[settings] = _have_settings(catalogue, points)
    return known[settings]


def _have_settings(catalogue: Catalogue, points: Sequence[Point]) -> bool:
    try:
        require_settings(catalogue, points)
    except PlanError:
        return False
    return True


Change = Mapping[str, object]
"""Fields of a set-up."""


def _changes(
    catalogue: Catalogue, paper: PaperFolder, kernels: Sequence[str], boards: Sequence[str]
) -> Iterator[tuple[str, Change]]:
    for setup in paper.facts.setup:
        for kernel, options in setup.kernel.items():
            who = _ANY if tuple(kernels) == (kernel,) else kernel
            yield from (_option(who, *item) for item in options.items())
        yield from (_option(_ANY, *item) for item in setup.config.items())
    yield from (_option(_ANY, "opt", level) for level in _LEVELS)
    yield _option(_ANY, "lto", "1")
    for kernel in kernels:
        parity = catalogue.kernels[kernel].facts.parity
        macros = [parity[switch] for switch in _SWITCHES if switch in parity and not parity[switch].startswith("=")]
        who = _ANY if tuple(kernels) == (kernel,) else kernel
        yield from (_option(who, macro, value) for macro in macros for value in ("0", "1"))
    for name in ("icache", "dcache", "prefetch"):
        having = tuple(board for board in boards if name in catalogue.board(board).facts.features)
        if having:
            title, change = _option(_ANY, f"feature.{name}", "0")
            yield title, {**change, "boards": having}


def _option(kernel: str, key: str, value: str) -> tuple[str, Change]:
    if kernel == _ANY:
        return f"{key}={value}", {"config": {key: value}}
    return f"{key}={value} ({kernel})", {"kernel": {kernel: {key: value}}}


def explain_plan(catalogue: Catalogue, paper: PaperFolder, setups: Sequence[Setup], options: Options) -> Plan:
    """The points of the suites that have published figures, and those of every change, each once.

    Raises PlanError for a paper without such figures.
    """
    plain = {repr(point): point for point in paper_plan(catalogue, _only(paper, ()), options).points}
    plain = {
        key: item for key, item in plain.items() if _is_published(paper, item) and _is_main(catalogue, paper, item)
    }
    changed: dict[str, Point] = {}
    for setup in setups:
        changed |= {repr(point): point for point in paper_plan(catalogue, _only(paper, (setup,)), options).points}
    changed = {key: item for key, item in changed.items() if _is_published(paper, item)}
    if not plain:
        raise PlanError(f"{paper.key} has no figure that one of ours stands beside, so no distance can be told.")
    return Plan(tuple({**plain, **changed}.values()), paper.key)


def _is_published(paper: PaperFolder, point: Point) -> bool:
    """Whether the paper has a figure of the point's benchmark and kernel there."""
    return any(
        row.lab_benchmark == point.benchmark
        and row.lab_board in {"", point.board}
        and row.lab_kernel in {"", paper.facts.kernel_by_tree.get(point.kernel, point.kernel)}
        for row in paper.published_rows.values()
    )


def _is_main(catalogue: Catalogue, paper: PaperFolder, point: Point) -> bool:
    """Whether the point is of the authors' version, or no tree of that version is here."""
    trees = next((version.trees for version in paper.facts.version if version.kernel == point.kernel), ())
    return point.kernel in trees or not set(trees) & set(catalogue.buildable_kernels)


def try_changes(
    catalogue: Catalogue, paper: PaperFolder, setups: Iterable[Setup], points: Sequence[StoredPoint], options: Options
) -> list[Trial]:
    """Returns what each change does to the figures, the closest to the paper first. Not a change without figures."""
    plain = _ids(catalogue, _only(paper, ()), options)
    trials = []
    for setup in setups:
        single = _only(paper, (setup,))
        ids = plain | _ids(catalogue, single, options)
        mine = [point for point in points if point.result.point.model_dump_json() in ids]
        done = reproduce(catalogue, single, mine)
        trials += [_make_trial(in_setup, done.compared) for in_setup in done.setups if with_ratio(in_setup.own())]
    return sorted(trials, key=lambda trial: (trial.whole, trial.setup.title))


def _make_trial(changed: InSetup, plain: Mapping[int, ComparedRow]) -> Trial:
    own = changed.own()
    before, after = distance({ident: plain[ident] for ident in own}), distance(own)
    whole = distance({**plain, **own})
    return Trial(changed.setup, with_ratio(own), before or 0.0, after or 0.0, whole or 0.0)


def plain_distance(catalogue: Catalogue, paper: PaperFolder, points: Sequence[StoredPoint], options: Options) -> float:
    """Distance of all the paper's figures as the suites have them. 0 without any."""
    single = _only(paper, ())
    plain = _ids(catalogue, single, options)
    mine = [point for point in points if point.result.point.model_dump_json() in plain]
    return distance(reproduce(catalogue, single, mine).compared) or 0.0


def together(paper_distance: float, singles: Sequence[Trial]) -> list[Setup]:
    """The best change of each option with the next best of another one, and so on. Only what helps alone."""
    chosen: list[Setup] = []
    options: set[str] = set()
    combined = []
    for single in singles:
        option = single.setup.title.partition("=")[0]
        if single.whole >= paper_distance or option in options or len(chosen) == MOST_TOGETHER:
            continue
        options.add(option)
        chosen.append(single.setup)
        if len(chosen) > 1:
            combined.append(_join(f"together_{len(chosen)}", chosen))
    return combined


def own_setups(paper: PaperFolder) -> list[Setup]:
    """The paper's own set-ups as they are."""
    return list(paper.facts.setup)


def _join(ident: str, setups: Sequence[Setup]) -> Setup:
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


def _only(paper: PaperFolder, setups: tuple[Setup, ...]) -> PaperFolder:
    return replace(paper, facts=paper.facts.model_copy(update={"setup": setups}))


def _ids(catalogue: Catalogue, paper: PaperFolder, options: Options) -> set[str]:
    return {point_id(catalogue, point).model_dump_json() for point in paper_plan(catalogue, paper, options).points}
