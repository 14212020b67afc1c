"""Reads `rtoslab.toml`: the images of a user's project, and the budgets of their functions and intervals."""

from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from rtoslab.base import PROJECT_FILE, CatalogueError, StrictFileSchemaModel
from rtoslab.catalogue import read_validated_toml
from rtoslab.intake import quote_text

BASELINE_FILE: Final = "rtoslab.baseline.toml"
Positive = Annotated[int, Field(gt=0, lt=2**63)]


class ProjectImage(StrictFileSchemaModel):
    """An image of a user's project, and how it is built and run."""

    elf: Annotated[str, Field(min_length=1)]
    """The path of the ELF file, relative to the project file's folder."""
    board: str
    cores: Positive | None = None
    """The cores released from reset. All of the board's by default."""
    build: tuple[str, ...] = ()
    """A program and its arguments, run in the project file's folder before the measurement. No shell."""
    for_ms: Positive = 1000
    """The longest time to run, at the board's usual clock."""
    start: str | None = None
    """A symbol, an address or a cycle, as `--from`."""
    until: str | None = None
    """Likewise, as `--until`."""
    kernel: str | None = None
    """The kernel whose tasks, services and locks have names in `trace` and `profile`. By default found by the image's
    symbols."""
    attach: tuple[str, ...] = ()
    """Devices on buses, ports and pins, as `--attach`. Files of devices are relative to the project file's folder."""
    placements: Annotated[int, Field(gt=0, le=64)] = 1
    """The number of placements that the gate measures. `build` is run for each, with its number in
    RTOSLAB_PLACEMENT."""


class MeasuredProjectFunction(StrictFileSchemaModel):
    """A function of a user's project to measure, with its budget."""

    image: str
    name: Annotated[str, Field(min_length=1)]
    """A symbol, an address, or file.c:line."""
    max_cycles: Positive | None = None
    by: Literal["inclusive", "undisturbed", "exclusive"] = "inclusive"
    """The kind of cycles that `max_cycles` bounds."""
    max_stack_bytes: Annotated[int, Field(ge=0, lt=2**32)] | None = None


class ProjectIntervalBudget(StrictFileSchemaModel):
    """An interval between two instructions of a user's project, with its budget."""

    image: str
    name: Annotated[str, Field(min_length=1)]
    """Its name in tables and in the baseline."""
    start: Annotated[str, Field(min_length=1)]
    """A symbol, an address, or file.c:line."""
    until: Annotated[str, Field(min_length=1)]
    """Likewise."""
    max_cycles: Positive | None = None


class RegressionGateSettings(StrictFileSchemaModel):
    """The settings of `rtoslab gate` in a project file."""

    baseline: Annotated[str, Field(min_length=1)] = BASELINE_FILE
    """The file with the baseline, relative to the project file's folder."""
    limits: dict[str, str] = Field(default_factory=dict)
    """How much worse figures may become, by patterns of their names: `"*.p99" = "+10 cycles|+2 %"`."""
    moved: Literal["fail", "pass"] = "fail"
    """Whether a figure fails or passes that became worse while its code only moved."""
    other_compiler: Literal["refuse", "skip", "compare"] = "refuse"
    """What to do where the baseline was measured with another compiler."""


DiagnoseKind = Literal[
    "fault", "unhandled", "deadlock", "stack", "inversion", "starvation", "storm", "lost interrupt", "missed period",
    "queue", "masked", "late interrupt", "repeated handler", "lost wake-up", "ignored store", "reset", "warning",
]  # fmt: skip
"""What `rtoslab diagnose` looks for, as `--json` names it."""


class ProjectDiagnosisLimits(StrictFileSchemaModel):
    """The limits of `rtoslab diagnose` in a project file. A finding beyond them ends the command with exit code 3."""

    masked_us: Annotated[float, Field(ge=0)] = 100.0
    """Interrupts masked after start-up, at a time."""
    late_us: Annotated[float, Field(ge=0)] = 100.0
    """From when a periodic interrupt was due to the begin of its handler."""
    inversion_us: Annotated[float, Field(ge=0)] = 0.0
    """By which a third task lengthens a wait for a lock."""
    starvation_ms: Annotated[float, Field(gt=0)] = 100.0
    """For which a task that could run does not."""
    stack_percent: Annotated[float, Field(gt=0, le=100)] = 90.0
    """Of its stack that a task may use."""
    ignore: tuple[DiagnoseKind, ...] = ()
    """Kinds of findings that do not count."""


class Project(StrictFileSchemaModel):
    """The content of a user's rtoslab.toml."""

    image: dict[str, ProjectImage]
    function: tuple[MeasuredProjectFunction, ...] = ()
    interval: tuple[ProjectIntervalBudget, ...] = ()
    gate: RegressionGateSettings = Field(default_factory=RegressionGateSettings)
    diagnose: ProjectDiagnosisLimits | None = None


def read_project(folder: Path, *, to_measure: bool = True) -> Project:
    """Returns the content of the rtoslab.toml in a folder. Raises CatalogueError, which names file and key.

    `to_measure`: the command measures functions and intervals, so each image needs one. An image that is only diagnosed
    needs none.
    """
    project: Project = read_validated_toml(folder / PROJECT_FILE, Project)
    require_project_items_name_images(project)
    if to_measure:
        _require_measured_images(project)
    return project


def require_project_items_name_images(project: Project) -> None:
    """Raises CatalogueError if functions and intervals name no image, or two of them have the same name."""
    images = [("function", function) for function in project.function] + [
        ("interval", interval) for interval in project.interval
    ]
    names = set()
    for kind, item in images:
        if item.image not in project.image:
            known = ", ".join(map(quote_text, sorted(project.image)[:10])) or "none"
            raise CatalogueError(
                f"{PROJECT_FILE}, {kind} {quote_text(item.name)}: no image is named {quote_text(item.image)}; known: "
                f"{known}."
            )
        by = item.by if isinstance(item, MeasuredProjectFunction) else ""
        if (item.image, item.name, by) in names:
            raise CatalogueError(
                f"{PROJECT_FILE}: {quote_text(item.name)} of {quote_text(item.image)} is there twice; remove one."
            )
        names.add((item.image, item.name, by))
    for name, image in project.image.items():
        if image.placements > 1 and not image.build:
            raise CatalogueError(
                f"{PROJECT_FILE}, image {quote_text(name)}: placements need a `build` command that "
                "builds them; add `build` or remove `placements`."
            )


def _require_measured_images(project: Project) -> None:
    """Raises CatalogueError if an image has no function and no interval to measure."""
    measured = {function.image for function in project.function} | {interval.image for interval in project.interval}
    unused = sorted(set(project.image) - measured)
    if unused and project.diagnose is None:
        raise CatalogueError(
            f"{PROJECT_FILE}: no [[function]] and no [[interval]] uses the image {quote_text(unused[0])}; add one or "
            "remove the image."
        )
