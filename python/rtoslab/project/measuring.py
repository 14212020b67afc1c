"""Measures the figures of a project: the size of each image, and the durations of each function and interval, in every
placement.

A function's code is identified by a digest of all instructions that may have taken its cycles, wherever they are, and
their addresses by another digest. So a figure that changed while its code did not differs from one whose code
changed."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Final

from rtoslab.analyses import INSTRUCTIONS
from rtoslab.catalogue import Catalogue
from rtoslab.images import berkeley_sizes, compilers_named_in_elf, data_object_digests, function_code_digests, read_elf
from rtoslab.instruments import (
    CallStatistics,
    MeasuredCalls,
    MeasuredFunction,
    MeasuredInterval,
    MeasuredRunIntervals,
    ObservedImage,
    ObservedRunSection,
    find_observed_image,
    measure_function_calls,
    measure_intervals,
)
from rtoslab.project.budgets import exceeded_budgets, exceeded_interval_budget
from rtoslab.project.building import build_project_image, temporary_padding_source_folder
from rtoslab.project.project_file import MeasuredProjectFunction, Project, ProjectImage
from rtoslab.targets import parse_device_request

DIGITS: Final = 12
COUNTS: Final = frozenset({"calls", "count"})
"""The figures with the number of calls or intervals."""
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ProjectValuesByCodePlacement:
    """The figures of a function, an interval or an image's sizes, with a value for each placement."""

    figures: Mapping[str, tuple[float, ...]]
    code: str = ""
    """Digest of its instructions, wherever they are. Empty where a function has no symbol, or where there is no code (a
    size)."""
    places: str = ""
    """Digest of the addresses of its code, in the first placement."""
    functions: frozenset[str] = frozenset()
    """The functions of that code. Empty: all that ran."""


@dataclass(frozen=True, slots=True)
class ImageMeasuredValues:
    """The figures of one image of a project, and the conditions of the measurement."""

    board: str
    cores: int
    compiler: str
    """The compiler that the ELF file names. Empty if it names none."""
    placements: int
    items: Mapping[str, ProjectValuesByCodePlacement]
    """Keyed by name. `image` is its size."""
    functions: Mapping[str, str] = field(default_factory=dict)
    """By name, the digest of the instructions of each function that ran since reset and has a symbol of its own."""
    state: Mapping[str, int | str] = field(default_factory=dict)
    """The board's settings at the end of the run, and a digest of its description. Empty if they are unknown."""
    data: Mapping[str, str] = field(default_factory=dict)
    """By name, the digest of each object's first content and memory. Empty if they are unknown."""
    run: Mapping[str, int | str] = field(default_factory=dict)
    """What the image ran for and with, by the keys of the project file. Empty if it is unknown."""
    problem: str = ""
    """Why it was not measured in as many placements as the project requests. Empty if it was."""
    exceeded_budgets: tuple[str, ...] = ()
    """A line for each exceeded budget."""
    cut_reason: str = ""
    """Why the measured part is not the requested one. Empty if it is."""

    @property
    def is_any_call_or_interval_measured(self) -> bool:
        """Whether the image called a measured function, or ended a measured interval."""
        return any(value for item in self.items.values() for key in COUNTS for value in item.figures.get(key, ()))


IMAGE: Final = "image"


@dataclass(frozen=True, slots=True)
class _MeasuredImagePlacement:
    """An image of a project in one placement, with its measurements."""

    subject: ObservedImage
    calls: MeasuredCalls | None
    intervals: MeasuredRunIntervals | None
    items: Mapping[str, ProjectValuesByCodePlacement]
    functions: Mapping[str, str]
    data: Mapping[str, str]

    @property
    def state(self) -> dict[str, int | str]:
        """Returns the board's settings at the end of the run, and a digest of its description."""
        measured = self.calls or self.intervals
        board = _digest_of_names_and_values([("board", self.subject.board.model_dump_json())])
        return {"board.toml": board, **measured.state} if measured else {}


def measure_project(
    catalogue: Catalogue, project: Project, folder: Path, progress: Progress
) -> dict[str, ImageMeasuredValues]:
    """Builds all images of a project and measures their figures. Returns these by image. Raises BuildError,
    ImageFileError, SymbolError, RunError."""
    return {name: _measure_project_image(catalogue, project, name, folder, progress) for name in project.image}


def measured_function_label(function: MeasuredProjectFunction) -> str:
    """Returns the name of a function in tables and the baseline, with the kind of cycles if that is not the usual
    one."""
    return function.name if function.by == "inclusive" else f"{function.name}, {function.by}"


def _measure_project_image(
    catalogue: Catalogue, project: Project, name: str, folder: Path, progress: Progress
) -> ImageMeasuredValues:
    """Builds one image in all its placements and measures its figures."""
    image = project.image[name]
    placed: list[_MeasuredImagePlacement] = []
    with temporary_padding_source_folder() as source_folder:
        for number in reversed(range(image.placements)):  # the usual one last, so that it is what stays
            several = image.placements > 1
            progress(f"{name}: building and measuring" + (f" placement {number}" if several else ""))
            build_project_image(name, image, folder, (number, source_folder) if several else None)
            placed.insert(0, _measure_image_placement(catalogue, project, name, image, folder))
    problem = _incomparable_placements_reason(placed)
    used = placed[:1] if problem else placed
    first = placed[0]
    over, cut = _find_exceeded_budgets(project, name, first)
    return ImageMeasuredValues(
        board=image.board,
        cores=first.subject.cores,
        compiler=compilers_named_in_elf(first.subject.elf),
        placements=len(used),
        items={
            key: _merge_project_values_over_placements([(first if key == IMAGE else item).items[key] for item in used])
            for key in first.items
        },
        functions=first.functions,
        state=first.state,
        data=first.data,
        run=_image_run_settings(image),
        problem=problem,
        exceeded_budgets=tuple(
            f"{item} (in placement 0, the image as it is built)" if len(used) > 1 else item for item in over
        ),
        cut_reason=cut,
    )


def _image_run_settings(image: ProjectImage) -> dict[str, int | str]:
    """Returns what an image runs for and with, by the keys of the project file."""
    keys = {"start": image.start, "until": image.until, "attach": " ".join(image.attach), "for_ms": image.for_ms}
    return {key: value for key, value in keys.items() if value}


def project_image_run_to_observe(catalogue: Catalogue, image: ProjectImage, folder: Path) -> ObservedImage:
    """Returns the run of a project's image that is to be observed. Raises ImageFileError, PlanError."""
    stretch = ObservedRunSection(start=image.start, end=image.until)
    path = str(folder / image.elf)
    devices = [parse_device_request(text, folder) for text in image.attach]
    return find_observed_image(
        catalogue, path, board=image.board, cores=image.cores, window_ms=image.for_ms, stretch=stretch, devices=devices
    )


def _measure_image_placement(
    catalogue: Catalogue, project: Project, name: str, image: ProjectImage, folder: Path
) -> _MeasuredImagePlacement:
    """Measures the figures of one image as it is built now."""
    subject = project_image_run_to_observe(catalogue, image, folder)
    functions = [project_function for project_function in project.function if project_function.image == name]
    required = [interval for interval in project.interval if interval.image == name]
    calls = measure_function_calls(subject, [function.name for function in functions]) if functions else None
    intervals = (
        measure_intervals(subject, [(interval.start, interval.until) for interval in required]) if required else None
    )
    elf = read_elf(subject.elf)
    ran = (calls.ran if calls else frozenset[str]()) | (intervals.ran if intervals else frozenset[str]())
    digests = function_code_digests(subject.elf, ran)
    sizes = {symbol.name: symbol.size for symbol in elf.symbols if symbol.is_function}
    items = {
        IMAGE: ProjectValuesByCodePlacement(
            {f"{key}_bytes": (value,) for key, value in berkeley_sizes(elf.sections).items()}
        )
    }
    for function in functions:
        assert calls is not None
        items[measured_function_label(function)] = _values_of_measured_function(
            function, calls, find_measured_function(calls, function), digests, sizes
        )
    for number, item in enumerate(required):
        assert intervals is not None
        items[item.name] = _values_of_measured_interval(intervals.intervals[number], intervals.ran, digests)
    codes = {name: digest[:DIGITS] for name, (digest, _) in sorted(digests.items())}
    return _MeasuredImagePlacement(subject, calls, intervals, items, codes, data_object_digests(subject.elf))


def find_measured_function(calls: MeasuredCalls, required: MeasuredProjectFunction) -> MeasuredFunction:
    """Returns the measured function that the project file names."""
    return next(function for function in calls.functions if required.name in function.function.requested)


def _values_of_measured_function(
    function: MeasuredProjectFunction,
    calls: MeasuredCalls,
    measured: MeasuredFunction,
    digests: Mapping[str, tuple[str, int]],
    sizes: Mapping[str, int],
) -> ProjectValuesByCodePlacement:
    """Returns a function's figures, with digests of the code that took its cycles. `sizes`: the functions' sizes in
    bytes."""
    spread, tally = measured.cycles.get(function.by), measured.tally
    figures: dict[str, tuple[float, ...]] = {"calls": (tally.calls,)}
    figures |= _cycle_statistics_as_named_values(spread)
    counted = measured.instructions.get("exclusive" if function.by == "exclusive" else "inclusive")
    figures |= _instruction_count_statistics(counted, ("min", "median", "max"))
    depths = [tally.stack_bytes, *(call.stack_bytes for call in measured.open)]
    known = [depth for depth in depths if depth is not None]
    figures |= {"stack_bytes": (max(known),)} if known else {}
    size = sizes.get(measured.function.name)
    figures |= {"size_bytes": (size,)} if size else {}
    responsible = _functions_in_measured_cycles(function, calls, measured)
    functions = frozenset[str]() if responsible == calls.ran else responsible
    return ProjectValuesByCodePlacement(figures, *_code_digests(responsible, digests), functions)


def _functions_in_measured_cycles(
    function: MeasuredProjectFunction, calls: MeasuredCalls, measured: MeasuredFunction
) -> frozenset[str]:
    """Returns all functions whose instructions may have taken the function's cycles."""
    tally, cycles = measured.tally, measured.cycles
    by_jump = tally.entered_by_jump or tally.went_on  # what a tail call leads to is beside it on call paths
    others = function.by == "inclusive" and "other tasks" in cycles and cycles["other tasks"].maximum
    if by_jump or others or calls.cores > 1:
        return calls.ran
    disturbed = function.by == "inclusive" and "interrupts" in cycles and cycles["interrupts"].maximum
    return measured.ran | calls.handled if disturbed else measured.ran


def _values_of_measured_interval(
    measured: MeasuredInterval, ran: frozenset[str], digests: Mapping[str, tuple[str, int]]
) -> ProjectValuesByCodePlacement:
    """Returns an interval's figures, with digests of the code that may have run in it. `ran`: all functions that
    ran."""
    figures: dict[str, tuple[float, ...]] = {"count": (measured.count,)}
    figures |= _cycle_statistics_as_named_values(measured.cycles)
    figures |= _instruction_count_statistics(measured.instructions, ("min",))  # others may have an interrupt in them
    return ProjectValuesByCodePlacement(figures, *_code_digests(ran, digests))


def _cycle_statistics_as_named_values(spread: CallStatistics | None) -> dict[str, tuple[float, ...]]:
    """Returns the statistics of cycles as figures by name. Empty for None. Calls that never ended do not count."""
    if spread is None:
        return {}
    return {"min": (spread.minimum,), "median": (spread.median,), "p99": (spread.p99,), "max": (spread.maximum,)}


def _instruction_count_statistics(spread: CallStatistics | None, kinds: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Returns these statistics (`min`, `median`, `max`) of instructions as figures by name. Empty for None."""
    if spread is None:
        return {}
    values = {"min": spread.minimum, "median": spread.median, "max": spread.maximum}
    return {f"{INSTRUCTIONS}_{kind}": (values[kind],) for kind in kinds}


def _code_digests(names: Iterable[str], digests: Mapping[str, tuple[str, int]]) -> tuple[str, str]:
    """Returns the digest of these functions' code, and that of their addresses. Both are empty if a function is
    unknown."""
    sorted_names = sorted(names)
    if not sorted_names or not all(name in digests for name in sorted_names):
        return "", ""
    code, places = ([(name, digests[name][part]) for name in sorted_names] for part in (0, 1))
    return _digest_of_names_and_values(code), _digest_of_names_and_values(places)


def _digest_of_names_and_values(rows: Sequence[tuple[str, str | int]]) -> str:
    """Returns a digest of names and values, 12 hex digits."""
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:DIGITS]


def _incomparable_placements_reason(placed: Sequence[_MeasuredImagePlacement]) -> str:
    """Returns why placements of an image cannot be compared: the code did not move, or is not the same.
    Empty if they are valid.
    """
    if len(placed) == 1:
        return ""
    keys = [key for key in placed[0].items if key != IMAGE]
    if any(placed_figures.items[key].code != placed[0].items[key].code for placed_figures in placed for key in keys):
        return "the build changes instructions with RTOSLAB_PLACEMENT, which may only move functions"
    if all(
        placed_figures.items[key].places == placed[0].items[key].places for placed_figures in placed for key in keys
    ):
        return "the build ignores RTOSLAB_PLACEMENT: another value moves no function"
    return ""


def _merge_project_values_over_placements(
    items: Sequence[ProjectValuesByCodePlacement],
) -> ProjectValuesByCodePlacement:
    """Returns one item with the values of its figures in all placements. Figures that a placement lacks are left
    out."""
    shared = [key for key in items[0].figures if all(key in item.figures for item in items)]
    figures = {key: tuple(item.figures[key][0] for item in items) for key in shared}
    return replace(items[0], figures=figures)


def _find_exceeded_budgets(project: Project, name: str, placed: _MeasuredImagePlacement) -> tuple[list[str], str]:
    """Returns a line for each budget that an image exceeds, and why the measurement ended early (or an empty text)."""
    lines: list[str] = []
    cut = next(
        (item.cut_reason for item in (placed.calls, placed.intervals) if item is not None and item.cut_reason), ""
    )
    for function in project.function:
        if function.image == name and placed.calls is not None:
            lines += exceeded_budgets(function, placed.calls, find_measured_function(placed.calls, function))
    intervals = [project_interval for project_interval in project.interval if project_interval.image == name]
    if placed.intervals is not None:
        for interval, measured in zip(intervals, placed.intervals.intervals, strict=True):
            lines += exceeded_interval_budget(interval, measured, placed.intervals.cut_reason)
    return lines, cut


def median_over_code_placements(values: Sequence[float]) -> float:
    """Returns the median of a figure's values over placements, which stands for the figure."""
    return median(values)
