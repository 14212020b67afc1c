"""The figures of a project: of each image its size, of each function and interval how long it took, in every placement.

A function's code is named by a digest of the instructions of all that may have taken its cycles, wherever they lie, and
where it lies by another. So a figure that changed while its code did not is told from one whose code did.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Final

from rtoslab.analyses import INSTRUCTIONS
from rtoslab.catalogue import Catalogue
from rtoslab.images import berkeley_sizes, code_digests, compiler_names, read_elf
from rtoslab.instruments import (
    MeasuredCalls,
    MeasuredFunction,
    MeasuredInterval,
    MeasuredIntervals,
    Spread,
    Stretch,
    Subject,
    make_subject,
    measure_calls,
    measure_intervals,
)
from rtoslab.project.budgets import interval_over_budget, over_budget
from rtoslab.project.building import build_image, placing
from rtoslab.project.project_file import Project, ProjectFunction, ProjectImage

DIGITS: Final = 12
COUNTS: Final = frozenset({"calls", "count"})
"""Figures that say how often something was measured."""
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Item:
    """A function, an interval, or an image's sizes: figures by name, a value for each placement."""

    figures: Mapping[str, tuple[float, ...]]
    code: str = ""
    """Digest of its instructions, wherever they lie. Empty where no symbol tells, or where there is none (a size)."""
    places: str = ""
    """Digest of where they lie, in the first placement."""
    functions: frozenset[str] = frozenset()
    """Whose instructions those are. Of none: all that ran."""


@dataclass(frozen=True, slots=True)
class ImageFigures:
    """One image."""

    board: str
    cores: int
    compiler: str
    """As the ELF file says. Empty if it does not."""
    placements: int
    items: Mapping[str, Item]
    """Keyed by name. `image` is its size."""
    functions: Mapping[str, str] = field(default_factory=dict)
    """Functions that ran since reset and that have a symbol of their own: digest of each one's instructions."""
    problem: str = ""
    """Why it was not measured in as many placements as the project asks for. Empty if it was."""
    over: tuple[str, ...] = ()
    """Budgets exceeded, a line each."""
    cut: str = ""
    """Why the measured part is not the one asked for. Empty if it is."""

    @property
    def is_measured(self) -> bool:
        """Whether a function was called, or an interval ended."""
        return any(value for item in self.items.values() for key in COUNTS for value in item.figures.get(key, ()))


IMAGE: Final = "image"


@dataclass(frozen=True, slots=True)
class _PlacedImage:
    """An image in one placement."""

    subject: Subject
    calls: MeasuredCalls | None
    intervals: MeasuredIntervals | None
    items: Mapping[str, Item]
    functions: Mapping[str, str]


def figures_of(catalogue: Catalogue, project: Project, folder: Path, say: Say) -> dict[str, ImageFigures]:
    """Builds and measures all of a project. Raises BuildError, ImageFileError, SymbolError, RunError."""
    return {name: _image(catalogue, project, name, folder, say) for name in project.image}


def function_name(function: ProjectFunction) -> str:
    """Returns what a function's figures are called: by its usual cycles its name alone."""
    return function.name if function.by == "inclusive" else f"{function.name}, {function.by}"


def _image(catalogue: Catalogue, project: Project, name: str, folder: Path, say: Say) -> ImageFigures:
    image = project.image[name]
    placed: list[_PlacedImage] = []
    with placing() as place:
        for number in reversed(range(image.placements)):  # the usual one last, so that it is what stays
            several = image.placements > 1
            say(f"{name}: building and measuring" + (f" placement {number}" if several else ""))
            build_image(name, image, folder, (number, place) if several else None)
            placed.insert(0, _measure(catalogue, project, name, image, folder))
    problem = _why_not_placed(placed)
    used = placed[:1] if problem else placed
    first = placed[0]
    over, cut = _over(project, name, first)
    return ImageFigures(
        board=image.board,
        cores=first.subject.cores,
        compiler=compiler_names(first.subject.elf),
        placements=len(used),
        items={key: _together([(first if key == IMAGE else item).items[key] for item in used]) for key in first.items},
        functions=first.functions,
        problem=problem,
        over=tuple(f"{item} (in placement 0, the image as it is built)" if len(used) > 1 else item for item in over),
        cut=cut,
    )


def project_subject(catalogue: Catalogue, image: ProjectImage, folder: Path) -> Subject:
    """Returns what is run of a project's image. Raises ImageFileError, PlanError."""
    stretch = Stretch(start=image.start, end=image.until)
    path = str(folder / image.elf)
    return make_subject(catalogue, path, board=image.board, cores=image.cores, window_ms=image.for_ms, stretch=stretch)


def _measure(catalogue: Catalogue, project: Project, name: str, image: ProjectImage, folder: Path) -> _PlacedImage:
    subject = project_subject(catalogue, image, folder)
    functions = [project_function for project_function in project.function if project_function.image == name]
    required = [interval for interval in project.interval if interval.image == name]
    calls = measure_calls(subject, [function.name for function in functions]) if functions else None
    intervals = (
        measure_intervals(subject, [(interval.start, interval.until) for interval in required]) if required else None
    )
    elf = read_elf(subject.elf)
    ran = (calls.ran if calls else frozenset[str]()) | (intervals.ran if intervals else frozenset[str]())
    digests = code_digests(subject.elf, ran)
    sizes = {symbol.name: symbol.size for symbol in elf.symbols if symbol.is_function}
    items = {IMAGE: Item({f"{key}_bytes": (value,) for key, value in berkeley_sizes(elf.sections).items()})}
    for function in functions:
        assert calls is not None
        items[function_name(function)] = _function(function, calls, find_function(calls, function), digests, sizes)
    for number, item in enumerate(required):
        assert intervals is not None
        items[item.name] = _interval(intervals.intervals[number], intervals.ran, digests)
    codes = {name: digest[:DIGITS] for name, (digest, _) in sorted(digests.items())}
    return _PlacedImage(subject, calls, intervals, items, codes)


def find_function(calls: MeasuredCalls, required: ProjectFunction) -> MeasuredFunction:
    """A project's function among those measured."""
    return next(function for function in calls.functions if required.name in function.function.requested)


def _function(
    function: ProjectFunction,
    calls: MeasuredCalls,
    measured: MeasuredFunction,
    digests: Mapping[str, tuple[str, int]],
    sizes: Mapping[str, int],
) -> Item:
    spread, tally = measured.cycles.get(function.by), measured.tally
    figures: dict[str, tuple[float, ...]] = {"calls": (tally.calls,)}
    figures |= _spread_figures(spread)
    counted = measured.instructions.get("exclusive" if function.by == "exclusive" else "inclusive")
    figures |= _instruction_figures(counted, ("min", "median", "max"))
    depths = [tally.stack_bytes, *(call.stack_bytes for call in measured.open)]
    known = [depth for depth in depths if depth is not None]
    figures |= {"stack_bytes": (max(known),)} if known else {}
    size = sizes.get(measured.function.name)
    figures |= {"size_bytes": (size,)} if size else {}
    responsible = _responsible(function, calls, measured)
    functions = frozenset[str]() if responsible == calls.ran else responsible
    return Item(figures, *_code(responsible, digests), functions)


def _responsible(function: ProjectFunction, calls: MeasuredCalls, measured: MeasuredFunction) -> frozenset[str]:
    """All whose instructions may have taken the function's cycles."""
    tally, cycles = measured.tally, measured.cycles
    by_jump = tally.entered_by_jump or tally.went_on  # what a tail call leads to is beside it on call paths
    others = function.by == "inclusive" and "other tasks" in cycles and cycles["other tasks"].maximum
    if by_jump or others or calls.cores > 1:
        return calls.ran
    disturbed = function.by == "inclusive" and "interrupts" in cycles and cycles["interrupts"].maximum
    return measured.ran | calls.handled if disturbed else measured.ran


def _interval(measured: MeasuredInterval, ran: frozenset[str], digests: Mapping[str, tuple[str, int]]) -> Item:
    figures: dict[str, tuple[float, ...]] = {"count": (measured.count,)}
    figures |= _spread_figures(measured.cycles)
    figures |= _instruction_figures(measured.instructions, ("min",))  # others may have an interrupt in them
    return Item(figures, *_code(ran, digests))


def _spread_figures(spread: Spread | None) -> dict[str, tuple[float, ...]]:
    """Calls that never ended do not count."""
    if spread is None:
        return {}
    return {"min": (spread.minimum,), "median": (spread.median,), "p99": (spread.p99,), "max": (spread.maximum,)}


def _instruction_figures(spread: Spread | None, kinds: Sequence[str]) -> dict[str, tuple[float, ...]]:
    if spread is None:
        return {}
    values = {"min": spread.minimum, "median": spread.median, "max": spread.maximum}
    return {f"{INSTRUCTIONS}_{kind}": (values[kind],) for kind in kinds}


def _code(names: Iterable[str], digests: Mapping[str, tuple[str, int]]) -> tuple[str, str]:
    """Digests of instructions and of places. Empty where one of the functions has none."""
    sorted_names = sorted(names)
    if not sorted_names or not all(name in digests for name in sorted_names):
        return "", ""
    code, places = ([(name, digests[name][part]) for name in sorted_names] for part in (0, 1))
    return _digest(code), _digest(places)


def _digest(rows: Sequence[tuple[str, str | int]]) -> str:
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:DIGITS]


def _why_not_placed(placed: Sequence[_PlacedImage]) -> str:
    """Why placements are none: the code did not move, or is not the same."""
    if len(placed) == 1:
        return ""
    keys = [key for key in placed[0].items if key != IMAGE]
    if any(placed_figures.items[key].code != placed[0].items[key].code for placed_figures in placed for key in keys):
        return "the build gives other instructions for another RTOSLAB_PLACEMENT"
    if all(
        placed_figures.items[key].places == placed[0].items[key].places for placed_figures in placed for key in keys
    ):
        return "the build takes no placement: no function lies elsewhere for another RTOSLAB_PLACEMENT"
    return ""


def _together(items: Sequence[Item]) -> Item:
    shared = [key for key in items[0].figures if all(key in item.figures for item in items)]
    figures = {key: tuple(item.figures[key][0] for item in items) for key in shared}
    return replace(items[0], figures=figures)


def _over(project: Project, name: str, placed: _PlacedImage) -> tuple[list[str], str]:
    lines: list[str] = []
    cut = next(
        (item.cut_reason for item in (placed.calls, placed.intervals) if item is not None and item.cut_reason), ""
    )
    for function in project.function:
        if function.image == name and placed.calls is not None:
            lines += over_budget(function, placed.calls, find_function(placed.calls, function))
    intervals = [project_interval for project_interval in project.interval if project_interval.image == name]
    if placed.intervals is not None:
        for interval, measured in zip(intervals, placed.intervals.intervals, strict=True):
            lines += interval_over_budget(interval, measured, placed.intervals.cut_reason)
    return lines, cut


def middle(values: Sequence[float]) -> float:
    """Returns what a figure in several placements stands as."""
    return median(values)
