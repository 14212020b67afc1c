"""`rtoslab.toml`: the images of anybody's project, and what their functions and intervals may take at most."""

from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from rtoslab.base import PROJECT_FILE, CatalogueError, Strict
from rtoslab.catalogue import read_toml
from rtoslab.intake import quote

BASELINE_FILE: Final = "rtoslab.baseline.toml"
Positive = Annotated[int, Field(gt=0, lt=2**63)]


class ProjectImage(Strict):
    """An image and how to make it."""

    elf: Annotated[str, Field(min_length=1)]
    """The ELF file, from the project file's folder on."""
    board: str
    cores: Positive | None = None
    """Released from reset. All of the board's if it is not said."""
    build: tuple[str, ...] = ()
    """A program and its arguments, run in the project file's folder before anything is measured. No shell."""
    for_ms: Positive = 1000
    """At most so long, at the board's usual clock."""
    start: str | None = None
    """A symbol, an address or a cycle, as `--from`."""
    until: str | None = None
    """Likewise, as `--until`."""
    kernel: str | None = None
    """Whose tasks, services and locks have names in `trace` and `profile`. Found by the image's symbols if not said."""
    placements: Annotated[int, Field(gt=0, le=64)] = 1
    """The gate measures so many: `build` is run for each, and told by RTOSLAB_PLACEMENT which."""


class ProjectFunction(Strict):
    """A function of interest, with what a call of it may take."""

    image: str
    name: Annotated[str, Field(min_length=1)]
    """A symbol, an address, or file.c:line."""
    max_cycles: Positive | None = None
    by: Literal["inclusive", "undisturbed", "exclusive"] = "inclusive"
    """Which cycles `max_cycles` bounds."""
    max_stack_bytes: Annotated[int, Field(ge=0, lt=2**32)] | None = None


class ProjectInterval(Strict):
    """An interval from one instruction to another, with what may be between."""

    image: str
    name: Annotated[str, Field(min_length=1)]
    """What it is called in tables and in the baseline."""
    start: Annotated[str, Field(min_length=1)]
    """A symbol, an address, or file.c:line."""
    until: Annotated[str, Field(min_length=1)]
    """Likewise."""
    max_cycles: Positive | None = None


class ProjectGate(Strict):
    """How `rtoslab gate` judges."""

    baseline: Annotated[str, Field(min_length=1)] = BASELINE_FILE
    """Where its figures are kept, from the project file's folder on."""
    limits: dict[str, str] = Field(default_factory=dict)
    """How much worse figures may become, by patterns of their names: `"*.p99" = "+10 cycles|+2 %"`."""
    moved: Literal["fail", "pass"] = "fail"
    """What a figure counts as that became worse while its code only moved."""
    other_compiler: Literal["refuse", "skip", "compare"] = "refuse"
    """Where the baseline was measured with another one."""


class Project(Strict):
    """A project of anybody's: rtoslab.toml."""

    image: dict[str, ProjectImage]
    function: tuple[ProjectFunction, ...] = ()
    interval: tuple[ProjectInterval, ...] = ()
    gate: ProjectGate = Field(default_factory=ProjectGate)


def read_project(folder: Path) -> Project:
    """The project of a folder. Raises CatalogueError naming file and key."""
    project = read_toml(folder / PROJECT_FILE, Project)
    require_images(project)
    return project


def require_images(project: Project) -> None:
    """Functions, intervals and images name each other, and each has a name of its own. Raises CatalogueError."""
    images = [("function", function) for function in project.function] + [
        ("interval", interval) for interval in project.interval
    ]
    names = set()
    for kind, item in images:
        if item.image not in project.image:
            known = ", ".join(map(quote, sorted(project.image)[:10])) or "none"
            raise CatalogueError(
                f"{PROJECT_FILE}, {kind} {quote(item.name)}: no image is named {quote(item.image)}; known: {known}."
            )
        by = item.by if isinstance(item, ProjectFunction) else ""
        if (item.image, item.name, by) in names:
            raise CatalogueError(f"{PROJECT_FILE}: {quote(item.name)} of {quote(item.image)} stands twice; remove one.")
        names.add((item.image, item.name, by))
    unused = sorted(set(project.image) - {item.image for _, item in images})
    if unused:
        raise CatalogueError(
            f"{PROJECT_FILE}: no [[function]] and no [[interval]] names the image {quote(unused[0])}; "
            "name one or remove it."
        )
    for name, image in project.image.items():
        if image.placements > 1 and not image.build:
            raise CatalogueError(f"{PROJECT_FILE}, image {quote(name)}: placements need a `build` that makes them.")
