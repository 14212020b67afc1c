"""The subject of an observation: a benchmark's window, or a section of any image's run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypedDict

from rtoslab.base import ImageFileError, PlanError, count_with_noun
from rtoslab.catalogue import DEFAULT_BOARD, DEFAULT_KERNEL, Board, Catalogue, Kernel
from rtoslab.images import build_measurement_point_image
from rtoslab.instruments.image_kernel import find_image_kernel
from rtoslab.intake import is_file_or_pipe, read_program_image
from rtoslab.plan import DEFAULT_WINDOW_MS as LATENCY_WINDOW_MS
from rtoslab.plan import PlanOptions, make_measurement_plan, parse_integer_setting
from rtoslab.records import ExpectedImageIdentity
from rtoslab.targets import BusDeviceRequest, require_board_has_cores

DEFAULT_WINDOW_MS = 20
DEFAULT_CYCLES = 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedRunSection:
    """The section of an image's run that is observed. By default from reset, for `cycles`."""

    start: str | None = None
    """A symbol, a 0x address or a decimal number of cycles since reset."""
    end: str | None = None
    """Likewise."""
    cycles: int = DEFAULT_CYCLES
    """The most cycles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedImage:
    """An image to observe on a virtual board, with the section of its run that is observed."""

    label: str
    elf: Path
    image: bytes
    board: Board
    cores: int
    kernel: Kernel | None = None
    """The kernel that names services, classes of functions and tasks."""
    expected: ExpectedImageIdentity | None = None
    """The identity that a benchmark's image sends. Then its window is observed."""
    stretch: ObservedRunSection = field(default_factory=ObservedRunSection)
    settings: Mapping[str, int] = field(default_factory=dict)
    devices: Sequence[BusDeviceRequest] = ()
    """Devices on buses, ports and pins of an image's board."""
    axes: Mapping[str, str] = field(default_factory=dict)
    """Benchmark, kernel, board, cores and configuration, for readers."""


class ImageObservationOptions(TypedDict, total=False):
    """The options of `find_observed_image` besides the name. A missing one has its default."""

    kernel: str | None
    """By default the usual kernel. For an image, the kernel whose functions it has."""
    board: str | None
    cores: int | None
    config: Mapping[str, str] | None
    """As `plan.PlanOptions` lists."""
    window_ms: int | None
    """Length of a benchmark's window, or of an image's run at the board's usual clock."""
    stretch: ObservedRunSection | None
    """The observed section of an image's run."""
    devices: Sequence[BusDeviceRequest]
    """Devices on buses, ports and pins of an image's board."""


def find_observed_image(
    catalogue: Catalogue,
    name: str,
    *,
    kernel: str | None = None,
    board: str | None = None,
    cores: int | None = None,
    config: Mapping[str, str] | None = None,
    window_ms: int | None = None,
    stretch: ObservedRunSection | None = None,
    devices: Sequence[BusDeviceRequest] = (),
) -> ObservedImage:
    """Returns the image to observe: the file with this path, or a benchmark, which is built."""
    if is_file_or_pipe(Path(name)):
        stretch = stretch or ObservedRunSection()
        if window_ms is not None:
            hz = catalogue.find_board(board or DEFAULT_BOARD).facts.clock.sys_hz
            stretch = replace(stretch, cycles=window_ms * hz // 1000)
        return _observed_user_image(catalogue, Path(name), kernel, board, cores, config or {}, stretch, devices)
    if "/" in name or name.endswith(".elf"):
        raise ImageFileError(f"There is no image {name}; check the path, or name a benchmark (`rtoslab list`).")
    if stretch is not None:
        raise PlanError(
            "A benchmark is observed in its window; use --from, --until and --max-cycles only with an image."
        )
    if devices:
        raise PlanError("A benchmark uses no device; give --attach only with an image.")
    return _build_benchmark_to_observe(catalogue, name, kernel, board, cores, config or {}, window_ms)


def _observed_user_image(
    catalogue: Catalogue,
    path: Path,
    kernel: str | None,
    board: str | None,
    cores: int | None,
    config: Mapping[str, str],
    stretch: ObservedRunSection,
    devices: Sequence[BusDeviceRequest],
) -> ObservedImage:
    """Returns a user's image as the image to observe. Raises PlanError for options that an image cannot have."""
    facts = catalogue.find_board(board or DEFAULT_BOARD).facts
    if config.keys() - {key for key in config if key.startswith("timing.")}:
        raise PlanError("An image is already built, so only timing.KEY=N of --config can be set; leave the rest out.")
    require_board_has_cores(facts, cores)
    count = cores or facts.cores
    known = (
        catalogue.find_kernel(kernel).facts.kernel_facts_for_architecture(facts.cpu)
        if kernel
        else find_image_kernel(catalogue, path, facts.cpu)
    )
    return ObservedImage(
        label=path.name,
        elf=path,
        image=read_program_image(path),
        board=facts,
        cores=count,
        kernel=known,
        stretch=stretch,
        devices=devices,
        settings={key: parse_integer_setting(key, value) for key, value in config.items()},
        axes={"image": path.name, "board": facts.id, "cores": str(count), **({"kernel": known.id} if known else {})},
    )


def _build_benchmark_to_observe(
    catalogue: Catalogue,
    name: str,
    kernel: str | None,
    board: str | None,
    cores: int | None,
    config: Mapping[str, str],
    window_ms: int | None,
) -> ObservedImage:
    """Builds a benchmark and returns its image to observe. Raises PlanError if the options do not select one possible
    point."""
    facts = catalogue.find_benchmark(name).facts
    # A window for samples ends with the last of them.
    window_ms = window_ms or (LATENCY_WINDOW_MS if facts.series else DEFAULT_WINDOW_MS)
    options = PlanOptions([kernel or DEFAULT_KERNEL], [board or DEFAULT_BOARD], [cores or 1], window_ms, dict(config))
    points = make_measurement_plan(catalogue, [name], options).points
    if facts.series and "instrument" not in config:  # one will do: the marks of all are in the image, at a cost
        possible = [item for item in points if item.not_applicable is None]
        points = tuple(sorted(possible or points, key=lambda point: point.instrument != "probe")[:1])
    if len(points) != 1:
        raise PlanError(f"{name} has {len(points)} points with these options; choose one with --config.")
    point = points[0]
    if point.not_applicable is not None:
        raise PlanError(f"{point.label} cannot be observed: {point.not_applicable}.")
    built = build_measurement_point_image(catalogue, point)
    where = catalogue.find_board(point.board).facts
    return ObservedImage(
        label=f"{facts.id} {point.kernel} {point.board} {count_with_noun(point.cores, 'core')}",
        elf=built.elf_path,
        image=built.elf_path.read_bytes(),
        board=where,
        cores=point.cores,
        kernel=catalogue.find_kernel(point.kernel).facts.kernel_facts_for_architecture(where.cpu),
        expected=built.expected,
        settings=point.timing,
        axes={
            "benchmark": facts.id, "kernel": point.kernel, "board": point.board, "cores": str(point.cores), **config,
        },
    )  # fmt: skip
