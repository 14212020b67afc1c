"""rtoslab as a library: the same stages as the command, with values instead of tables."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from rtoslab.base import (
    PlanError,
    UnknownNameError,
    default_runs_folder,
    file_contents_cache,
    find_checkout_root,
    to_canonical_json,
)
from rtoslab.catalogue import Catalogue
from rtoslab.conformance import conformance_verdict_input_digest
from rtoslab.images import build_measurement_point_image, image_inputs_digest
from rtoslab.instruments import ImageObservationOptions, Profile, Timeline, find_observed_image, profile_image
from rtoslab.instruments import record_timeline as timeline_of_subject
from rtoslab.measure import Listener, MeasurementPointOutcome, MeasureOptions, identity_of_point, measure_points_of_plan
from rtoslab.plan import MeasurementPlan, PlanOptions, make_measurement_plan
from rtoslab.store import RunDirectory, StoredMeasurementPoint
from rtoslab.targets import VirtualBoard, simulator_sources_digest
from rtoslab.worst_case import (
    WINDOW_MS,
    WorstCaseLatencyResult,
    default_interrupt_sweep_benchmark,
    find_worst_case_interrupt_latency,
    inject_interrupt_at_every_cycle,
    kernel_services_of_background_task,
    parse_sweep_cycle_range,
    prepare_benchmark_sweep_scenario,
    settings_for_background_service_calls,
)


def run(
    *names: str,
    kernels: Sequence[str] | None = None,
    boards: Sequence[str] | None = None,
    cores: Sequence[int] | None = None,
    window_ms: int | None = None,
    config: Mapping[str, str] | None = None,
    full: bool = False,
    out: Path | str | None = None,
    jobs: int = 2,
    listener: Listener = lambda _: None,
    fresh: bool = False,
) -> list[MeasurementPointOutcome]:
    """Measures suites and benchmarks on virtual boards. Returns one outcome per point, in the plan's order.

    `window_ms` is in milliseconds of the board's time. `config` holds what `plan.PlanOptions` lists: `opt`, `clock_hz`,
    `param.NAME`, macros of the kernel; `full` takes a paper's own durations. `out` is the run directory (resumed if it
    exists), by default `runs/<names>-<hash>`. `fresh` measures what is known too, and demands the same bytes.
    Raises RtoslabError. A point that fails is an outcome with a `FailedMeasurement` as its result, not an exception.
    """
    root = find_checkout_root()
    options = PlanOptions(kernels, boards, cores, window_ms, config or {}, full)
    plan = make_measurement_plan(Catalogue(root), names, options)
    folder = Path(out) if out else default_run_directory(root, plan, names)
    return measure_points_of_plan(root, plan, folder, jobs=jobs, listener=listener, options=MeasureOptions(again=fresh))


def default_run_directory(root: Path, plan: MeasurementPlan, names: Iterable[str]) -> Path:
    """Returns the default run directory, `runs/<names>-<hash>`: the same for the same request on the same sources."""
    catalogue = Catalogue(root)
    with file_contents_cache():
        points = [
            [
                identity_of_point(catalogue, point).model_dump(mode="json"),
                [point.not_applicable]
                if point.not_applicable is not None
                else [image_inputs_digest(catalogue, point), conformance_verdict_input_digest(catalogue, point)],
            ]
            for point in plan.points
        ]
    digest = hashlib.sha256(to_canonical_json([points, simulator_sources_digest(root)]).encode()).hexdigest()
    return default_runs_folder() / f"{'-'.join(names)[:60]}-{digest[:8]}"


def board(name: str, image: Path | str | None = None, *, cores: int | None = None, **settings: int) -> VirtualBoard:
    """Returns a virtual board by its name (`rtoslab list`), with an image loaded if one is given: see `virtual_board`.

    `cores`: all of the board's by default; `settings`: timing parameters, with `__` for a dot (`flash__wait_states=5`).
    Raises UnknownNameError, SettingError, ImageFileError.
    """
    facts = Catalogue(find_checkout_root()).find_board(name).facts
    board_ = VirtualBoard.of(facts, cores, {key.replace("__", "."): value for key, value in settings.items()})
    return board_.load(image) if image is not None else board_


def build_image(
    benchmark: str,
    *,
    kernel: str,
    board: str,
    cores: int = 1,
    window_ms: int | None = None,
    config: Mapping[str, str] | None = None,
) -> Path:
    """Builds a benchmark's image if it does not exist yet, and returns the path of the ELF file.

    Raises PlanError if it is n/a (not applicable), BuildError.
    """
    catalogue = Catalogue(find_checkout_root())
    points = make_measurement_plan(
        catalogue, [benchmark], PlanOptions([kernel], [board], [cores], window_ms, config or {})
    ).points
    if len(points) != 1:
        raise PlanError(f"{benchmark} needs {len(points)} images; give one benchmark, and one instrument in config.")
    if points[0].not_applicable is not None:
        raise PlanError(f"{benchmark} is n/a on {board} with {kernel}: {points[0].not_applicable}.")
    return build_measurement_point_image(catalogue, points[0]).elf_path


def sweep_phases(
    service: str,
    *,
    kernel: str,
    board: str,
    span: str = "period",
    samples: int | None = None,
    seed: int = 1,
    earlier: int = 0,
) -> tuple[WorstCaseLatencyResult, NDArray[np.void]]:
    """Sweeps an interrupt over all phases of a kernel service, as `rtoslab worst-case` does.
    Returns what was found, and every arrival.

    The interrupt arrives `earlier` times before the sweep begins, so that a cache can hold its code.

    Raises PlanError, BuildError, ConformanceError, RunError.
    """
    catalogue = Catalogue(find_checkout_root())
    name = default_interrupt_sweep_benchmark(catalogue)
    facts = catalogue.find_benchmark(name).facts
    picked = settings_for_background_service_calls(facts, service)
    if not picked:
        raise UnknownNameError("service", service, kernel_services_of_background_task(facts))
    options = PlanOptions([kernel], [board], [1], WINDOW_MS, picked)
    scenario = prepare_benchmark_sweep_scenario(catalogue, name, options, earlier_arrivals=earlier)
    chosen = parse_sweep_cycle_range(scenario, span, samples, seed)
    arrivals = inject_interrupt_at_every_cycle(scenario, chosen)
    return find_worst_case_interrupt_latency(scenario, chosen, arrivals), arrivals


def profile(name: str, **choice: Unpack[ImageObservationOptions]) -> Profile:
    """Returns what each cycle of a benchmark's measurement window, or of a `stretch` of an image, was used for:
    `rtoslab profile`.

    Raises PlanError, BuildError, RunError, ImageFileError, SymbolError.
    """
    return profile_image(find_observed_image(Catalogue(find_checkout_root()), name, **choice))


def timeline(name: str, **choice: Unpack[ImageObservationOptions]) -> Timeline:
    """Returns what ran when in a benchmark's measurement window or in an image: `rtoslab trace`. Raises as `profile`
    does."""
    return timeline_of_subject(find_observed_image(Catalogue(find_checkout_root()), name, **choice))


def load(*runs: Path | str) -> list[StoredMeasurementPoint]:
    """Returns the stored points of one or more run directories. Raises StoreError."""
    return [point for path in runs for point in RunDirectory.open_run_directory(Path(path)).read_measured_points()]
