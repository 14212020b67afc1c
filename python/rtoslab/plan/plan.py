"""Stage 1: turns a suite or benchmarks and the user's options into a list of points.

A point is one image on one target: kernel x board x benchmark x cores x configuration. A point that cannot exist (the
kernel lacks a service, the board a core) stays in the list with its reason, so that no gap is silent."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from rtoslab.base import PlanError, UnknownNameError, count_with_noun
from rtoslab.catalogue import (
    DEFAULT_BOARD,
    DEFAULT_CODE,
    DEFAULT_KERNEL,
    DEFAULT_OPT,
    INSTRUMENTS,
    SHOWN_IF_UNUSUAL,
    Benchmark,
    Board,
    Catalogue,
    CatalogueEntry,
    Experiment,
    Kernel,
)
from rtoslab.intake import POINTS
from rtoslab.plan.configuration import require_valid_config
from rtoslab.plan.kernel_pairs import (
    PAIR_EXAMPLE,
    PAIR_KEYS,
    reason_kernel_pair_cannot_run,
    require_known_sram_division_name,
    split_kernel_pair_name,
)
from rtoslab.plan.obstacles import (
    code_placement_from_settings,
    find_measurement_obstacle,
    optional_integer_setting,
    parse_integer_setting,
)
from rtoslab.plan.point_options import BANKS, DEFAULT_COMPILER, DEFAULT_RAM, POINT_KEYS

DEFAULT_WINDOW_MS = 250
SAMPLE_BYTES = 4
SHARED = "shared"
"""The parameter of benchmarks that may have one object for all cores."""


@dataclass(frozen=True, slots=True)
class PlannedPoint:
    """One measurement to make: benchmark, kernel, board, cores and settings."""

    benchmark: str
    kernel: str
    board: str
    cores: int
    window_ms: int
    warmup_ms: int | None = None
    opt: str = DEFAULT_OPT
    compiler: str = DEFAULT_COMPILER
    lto: bool = False
    """Whether the linker optimises the kernel across its files. Its services stay calls."""
    placement: int = 0
    """The order of code and data: 0 is the linker's, any other number gives one of its own."""
    code: str = DEFAULT_CODE
    data: str | None = None
    """The memory of data and stacks. None: the one in board.toml. The same holds for the next two."""
    clock_hz: int | None = None
    wait_states: int | None = None
    features: Mapping[str, int] = field(default_factory=dict)
    """Caches and prefetchers set other than in board.toml, 0 or 1."""
    kernel_config: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    timing: Mapping[str, int] = field(default_factory=dict)
    instrument: str | None = None
    """The instrument of latencies. None: the benchmark counts. The same holds for the next one."""
    samples: int | None = None
    """The samples of each series."""
    beside: str | None = None
    """The kernel in an image of its own on the other core. None: there is no second kernel. The same holds for the
    next one."""
    core: int | None = None
    """The core of this kernel, of the two."""
    ram: str = DEFAULT_RAM
    """How two kernels divide the SRAM, by the board's map."""
    not_applicable: str | None = None
    """The reason why this point cannot be measured. None if it can."""

    @property
    def label(self) -> str:
        """Returns a short text on the point for progress lines and errors."""
        where = count_with_noun(self.cores, "core") if self.beside is None else f"core {self.core} beside {self.beside}"
        return f"{self.benchmark} {self.kernel} {self.board} {where}" + (
            f" by {self.instrument}" if self.instrument else ""
        )

    def measurement_on_other_core(self) -> "PlannedPoint":
        """Returns the point of the kernel on the other core, which is measured at the same time."""
        assert self.beside is not None
        assert self.core is not None
        return replace(self, kernel=self.beside, beside=self.kernel, core=1 - self.core)


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """The user's options for every point of a plan. None means the suite's value, else the default."""

    kernels: Sequence[str] | None = None
    boards: Sequence[str] | None = None
    cores: Sequence[int] | None = None
    window_ms: int | None = None
    config: Mapping[str, str] = field(default_factory=dict)
    """Keyed by the keys of `point_options`. Instruments separated by commas if several."""
    full: bool = False
    """Whether to take the papers' own durations and numbers of samples, not the short ones."""


@dataclass(frozen=True, slots=True)
class MeasurementPlan:
    """The points to measure, in the order of the report, and the suite that they come from, if any."""

    points: tuple[PlannedPoint, ...]
    suite: str | None


def make_measurement_plan(catalogue: Catalogue, names: Iterable[str], options: PlanOptions) -> MeasurementPlan:
    """Returns the plan (the points to measure) of suites and benchmarks. Raises UnknownNameError, PlanError."""
    points: list[PlannedPoint] = []
    suites: list[str] = []
    seen: set[str] = set()
    for name in names:
        suite, experiments = catalogue.find_experiments_of_suite_or_benchmark(name)
        if suite:
            suites.append(suite.id)
        for experiment in experiments:
            for point in experiment_points(catalogue, experiment, options):
                if repr(point) not in seen:
                    seen.add(repr(point))
                    points.append(point)
    if not points:
        raise PlanError("There is nothing to measure; name a suite or a benchmark (`rtoslab list` shows them).")
    return MeasurementPlan(tuple(points), suites[0] if len(suites) == 1 else None)


def experiment_points(catalogue: Catalogue, experiment: Experiment, options: PlanOptions) -> list[PlannedPoint]:
    """Returns the points to measure of one experiment. The user's options override its own. Raises UnknownNameError,
    PlanError."""
    require_measurement_count_within_limit(
        experiment.benchmarks, options.kernels or experiment.kernels, options.boards or experiment.boards,
        options.cores or experiment.cores, *experiment.sweep.values(),
    )  # fmt: skip
    _require_known_board_features(catalogue, {**experiment.config, **options.config})
    external = [item for item in experiment.bring_your_own if item in catalogue.buildable_kernels]
    full = options.full and experiment.paper_window_ms
    window_ms = options.window_ms or full or experiment.window_ms
    given = {**experiment.config, **(experiment.full_config if options.full else {})}
    return [
        _make_single_kernel_point(catalogue, point)
        if beside is None
        else add_second_kernel_to_measurement(catalogue, point, beside, core)
        for benchmark in experiment.benchmarks
        for name in options.kernels or (*experiment.kernels, *external)
        for kernel, beside, core in split_kernel_pair_name(catalogue, name)
        for board in options.boards or experiment.boards
        for cores in ((1,) if beside else options.cores or experiment.cores)
        for config in (
            {**given, **swept, **options.config} for swept in _sweep_combinations(experiment.sweep, options.config)
        )
        for point in _plan_measurements_of_benchmark(
            catalogue.find_benchmark(benchmark),
            kernel,
            catalogue.find_board(board),
            cores,
            (window_ms, options),
            config,
        )
    ]


def _reason_pair_option_is_impossible(point: PlannedPoint) -> str | None:
    """Returns why an option of a point is not possible with two kernels on one board, as a clause. None if all are
    possible."""
    if point.params.get(SHARED) == "1":
        return "each of two kernels has objects of its own"
    if point.ram == BANKS and point.code != DEFAULT_CODE:
        return "the virtual board executes no code from the addresses that show the SRAM by banks"
    return None


def _make_single_kernel_point(catalogue: Catalogue, point: PlannedPoint) -> PlannedPoint:
    """Returns the point for a single kernel: without a divided SRAM, or with the reason why the benchmark needs two
    kernels."""
    facts = catalogue.find_benchmark(point.benchmark).facts
    point = replace(point, ram=DEFAULT_RAM)
    if not facts.pair or point.not_applicable is not None:
        return point
    return replace(point, not_applicable=f"{facts.title} is a test of two kernels: {PAIR_EXAMPLE}")


def add_second_kernel_to_measurement(
    catalogue: Catalogue, point: PlannedPoint, beside: str, core: int | None
) -> PlannedPoint:
    """Returns the point with the kernel `beside` on the other core, or with the reason why that is impossible."""
    benchmark, board = catalogue.find_benchmark(point.benchmark), catalogue.find_board(point.board)
    kernels = [catalogue.find_kernel(name) for name in (point.kernel, beside)]
    configured = bool(point.kernel_config) and point.kernel != beside
    reasons = [
        reason_kernel_pair_cannot_run(catalogue, benchmark, kernel, board, configured=configured) for kernel in kernels
    ]
    config = {f"param.{name}": value for name, value in point.params.items()}
    lack = find_measurement_obstacle(
        benchmark, kernels[1], board, 1, {**config, "opt": point.opt, "compiler": point.compiler}
    )
    why = point.not_applicable or next(filter(None, reasons), None) or lack or _reason_pair_option_is_impossible(point)
    return replace(point, beside=beside, core=core, not_applicable=why)


def _require_known_board_features(catalogue: Catalogue, config: Mapping[str, str]) -> None:
    """Raises UnknownNameError for a `feature.` key in the settings that no board has."""
    known = {name for board in catalogue.boards.values() for name in board.facts.features}
    for key in config:
        group, _, name = key.partition(".")
        if group == "feature" and name not in known:
            raise UnknownNameError("feature of a board", name, known)


def require_measurement_count_within_limit(*axes: Sequence[object]) -> None:
    """Raises PlanError if the axes have more combinations than one experiment may contain."""
    count = math.prod(map(len, axes))
    if count > POINTS:
        raise PlanError(
            f"The experiment would have {count:,} points, but at most {POINTS:,} are allowed; leave some out."
        )


def _plan_measurements_of_benchmark(
    benchmark: CatalogueEntry[Benchmark],
    kernel: CatalogueEntry[Kernel],
    board: CatalogueEntry[Board],
    cores: int,
    request: tuple[int, PlanOptions],
    config: Mapping[str, str],
) -> list[PlannedPoint]:
    """Returns the points of a benchmark: one for counts, or for latencies one for each instrument. `request` has the
    window in ms and the user's options."""
    window_ms, options = request
    if benchmark.facts.kind == "counts":
        long_enough_ms = options.window_ms or max(window_ms, benchmark.facts.window_ms)
        return [make_planned_point(benchmark, kernel, board, cores, long_enough_ms, config)]
    limit_ms = options.window_ms or benchmark.facts.limit_ms
    plain = make_planned_point(benchmark, kernel, board, cores, limit_ms, config)
    samples, lack = _sample_count_per_series(
        benchmark.facts.restrict_to_kernel_services(kernel.facts), board.facts, config, full=options.full
    )
    several = cores > 1 and benchmark.facts.min_cores == 1
    reason = plain.not_applicable or _reason_latency_cannot_be_measured(kernel.facts, several=several) or lack
    instruments = benchmark.facts.usable_instruments
    names = _parse_instruments(config.get("instrument")) or instruments
    unsupported = f"{benchmark.facts.title} can be measured by {', '.join(instruments)} only"
    return [
        replace(
            plain,
            instrument=name,
            samples=samples,
            not_applicable=reason or (None if name in instruments else unsupported),
        )
        for name in names
    ]


def _parse_instruments(instrument: str | None) -> list[str]:
    """Returns the instruments in the user's text, such as `counter,pin`. Empty if there is none. Raises
    UnknownNameError."""
    names = list(dict.fromkeys(instrument.split(","))) if instrument is not None else []
    for name in names:
        if name not in INSTRUMENTS:
            raise UnknownNameError("instrument", name, INSTRUMENTS)
    return names


def _sample_count_per_series(
    benchmark: Benchmark, board: Board, config: Mapping[str, str], *, full: bool
) -> tuple[int, str | None]:
    """Returns how many samples to take of each series, and why that is impossible, as a clause or None. It is the
    requested number, else the benchmark's, which shrinks to what the board's memory holds unless `full` asks for the
    paper's number."""
    room = board.limits.sample_bytes
    most = room // (SAMPLE_BYTES * len(benchmark.latency_series_ids)) if room is not None else None
    samples = optional_integer_setting("samples", config)
    if samples is not None and samples < 1:
        raise PlanError(f"samples={samples} is not possible; measure at least one sample.")
    required = samples or (benchmark.full_samples if full else 0) or benchmark.samples
    multiple = benchmark.samples_multiple
    if required % multiple:
        below = required - required % multiple
        nearest = f"{below} or {below + multiple}" if below else f"{multiple}"
        return (
            required,
            f"the number of samples must be a multiple of {multiple}, for example {nearest}, not {required}",
        )
    if most is None or required <= most:
        return required, None
    if samples is None and not full:
        return most - most % multiple, None
    return required, f"{board.title} has memory for {most} samples of each series, not for {required}"


def _reason_latency_cannot_be_measured(kernel: Kernel, *, several: bool) -> str | None:
    """Returns why latencies cannot be measured with this kernel, as a clause. None if they can be. `several` tells that
    more cores run than the benchmark is for."""
    if several:
        return "latencies are measured on one core"
    if kernel.services.get("tasks", False) and not kernel.services.get("timeout", False):
        reason = kernel.why_service_lacking("timeout")
        return f"{kernel.title} has no timeout service, which the end of a latency run needs: {reason}"
    return None


def _sweep_combinations(axes: Mapping[str, Sequence[str | int]], config: Mapping[str, str]) -> list[dict[str, str]]:
    """Returns every combination of the swept values, the last key fastest. A key that the user sets is not swept."""
    free = {key: values for key, values in axes.items() if key not in config}
    return [{key: str(value) for key, value in zip(free, values, strict=True)} for values in product(*free.values())]


def points_of_conformance_suite(catalogue: Catalogue, options: PlanOptions) -> tuple[PlannedPoint, ...]:
    """Returns the points at which the conformance suite must run for these options. They have no window and no
    parameters."""
    suite = catalogue.conformance_suite
    nothing = Benchmark.model_validate(
        {
            **suite.model_dump(include={"id", "title", "tasks_per_core", "stack_bytes", "services"}),
            **dict.fromkeys(("question", "inside", "outside"), ""),
            "metric": {"id": suite.id, "unit": "", "tasks": ()},
        }
    )
    program = CatalogueEntry(suite.id, catalogue.root / "firmware" / suite.id, nothing)
    return tuple(
        make_planned_point(
            program,
            catalogue.find_kernel(kernel),
            catalogue.find_board(board),
            cores,
            DEFAULT_WINDOW_MS,
            options.config,
        )
        for kernel in options.kernels or (DEFAULT_KERNEL,)
        for board in options.boards or (DEFAULT_BOARD,)
        for cores in options.cores or (1,)
    )


def _parse_benchmark_parameter(key: str, value: str) -> int:
    """Returns the value of a benchmark's parameter, or raises PlanError: it is a C constant of 0 or more."""
    number = parse_integer_setting(key, value)
    if number < 0:
        raise PlanError(f"--config {key}={value} must be 0 or more.")
    return number


def make_planned_point(
    benchmark: CatalogueEntry[Benchmark],
    kernel: CatalogueEntry[Kernel],
    board: CatalogueEntry[Board],
    cores: int,
    window_ms: int,
    config: Mapping[str, str],
) -> PlannedPoint:
    """Returns the point of one benchmark with these settings. If it cannot be measured, the point has the reason."""
    require_valid_config(config)
    for key in PAIR_KEYS:
        if key in config:
            raise PlanError(f"--config {key}={config[key]} is not possible. Name two kernels instead: {PAIR_EXAMPLE}.")
    params = {key.removeprefix("param."): value for key, value in sorted(config.items()) if key.startswith("param.")}
    for name, value in params.items():
        if name not in benchmark.facts.params:
            raise UnknownNameError(f"parameter of {benchmark.id}", name, benchmark.facts.params)
        params[name] = str(_parse_benchmark_parameter(f"param.{name}", value))
    # A benchmark whose tasks are not pinned says so in each result, as if the user had asked for it.
    unusual = {name: str(value) for name, value in benchmark.facts.params.items() if name in SHOWN_IF_UNUSUAL}
    params = {**{name: value for name, value in unusual.items() if value == "0"}, **params}
    features = {
        key: parse_integer_setting(key, value) for key, value in sorted(config.items()) if key.startswith("feature.")
    }
    return PlannedPoint(
        benchmark=benchmark.id,
        kernel=kernel.id,
        board=board.id,
        cores=cores,
        window_ms=window_ms,
        warmup_ms=optional_integer_setting("warmup_ms", config),
        opt=config.get("opt", DEFAULT_OPT),
        compiler=config.get("compiler", DEFAULT_COMPILER),
        lto=bool(optional_integer_setting("lto", config)),
        placement=code_placement_from_settings(config),
        code=config.get("code", DEFAULT_CODE),
        data=config.get("data"),
        clock_hz=optional_integer_setting("clock_hz", config),
        wait_states=optional_integer_setting("wait_states", config),
        ram=require_known_sram_division_name(config.get("ram", DEFAULT_RAM)),
        features={key.removeprefix("feature."): value for key, value in features.items()},
        kernel_config={key: value for key, value in sorted(config.items()) if "." not in key and key not in POINT_KEYS},
        params=params,
        timing={
            key: parse_integer_setting(key, value) for key, value in sorted(config.items()) if key.startswith("timing.")
        },
        not_applicable=find_measurement_obstacle(benchmark, kernel, board, cores, config),
    )
