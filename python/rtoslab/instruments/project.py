"""`rtoslab.toml`: the images of anybody's project, and what their functions may take at most."""

import shlex
import subprocess
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from rtoslab.base import BuildError, CatalogueError, Strict
from rtoslab.catalogue import read_toml
from rtoslab.instruments.measured_calls import MeasuredCalls, MeasuredFunction
from rtoslab.intake import shown

PROJECT_FILE: Final = "rtoslab.toml"
Positive = Annotated[int, Field(gt=0, lt=2**63)]


class ProjectImage(Strict):
    """An image and how to make it."""

    elf: Annotated[str, Field(min_length=1)]
    """The ELF file, from the project file's folder on."""
    board: str
    cores: Positive | None = None
    """Released from reset; all of the board's if it is not said."""
    build: tuple[str, ...] = ()
    """A program and its arguments, run in the project file's folder before anything is measured; no shell."""
    for_ms: Positive = 1000
    """At most so long, at the board's usual clock."""
    start: str | None = None
    """A symbol, an address or a cycle, as `--from`."""
    until: str | None = None
    """Likewise, as `--until`."""


class ProjectFunction(Strict):
    """A function of interest, with what a call of it may take."""

    image: str
    name: Annotated[str, Field(min_length=1)]
    """A symbol, an address, or file.c:line."""
    max_cycles: Positive | None = None
    by: Literal["inclusive", "undisturbed", "exclusive"] = "inclusive"
    """Which cycles `max_cycles` bounds."""
    max_stack_bytes: Annotated[int, Field(ge=0, lt=2**32)] | None = None


class Project(Strict):
    """A project whose functions `rtoslab measure` watches: rtoslab.toml."""

    image: dict[str, ProjectImage]
    function: Annotated[tuple[ProjectFunction, ...], Field(min_length=1)]


def read_project(folder: Path) -> Project:
    """The project of a folder. Raises CatalogueError naming file and key."""
    project = read_toml(folder / PROJECT_FILE, Project)
    demand_images(project)
    return project


def demand_images(project: Project) -> None:
    """Functions and images name each other. Raises CatalogueError."""
    for each in project.function:
        if each.image not in project.image:
            known = ", ".join(map(shown, sorted(project.image)[:10])) or "none"
            raise CatalogueError(
                f"{PROJECT_FILE}, function {shown(each.name)}: no image is named {shown(each.image)}; known: {known}."
            )
    unused = sorted(set(project.image) - {each.image for each in project.function})
    if unused:
        raise CatalogueError(
            f"{PROJECT_FILE}: no [[function]] names the image {shown(unused[0])}; name one or remove it."
        )


def build_image(name: str, image: ProjectImage, folder: Path) -> None:
    """Runs an image's build command, whose output goes to standard error. Raises BuildError."""
    if not image.build:
        return
    told = shlex.join(image.build)
    try:
        done = subprocess.run(image.build, cwd=folder, stdin=subprocess.DEVNULL, stdout=2, check=False)
    except OSError as cause:
        raise BuildError(f"The image {name!r} cannot be built by `{told}` ({cause.strerror}); check `build`.") from None
    if done.returncode:
        raise BuildError(f"The image {name!r} was not built: `{told}` ended with {done.returncode}; see its output.")


def over_budget(wanted: ProjectFunction, found: MeasuredCalls, measured: MeasuredFunction) -> list[str]:
    """A line for each budget that the function exceeds, or that it cannot be held against."""
    name, where = f"{wanted.image}: {wanted.name}", found.cut and f" ({found.cut})"
    if wanted.max_cycles is None and wanted.max_stack_bytes is None:
        return []
    if not measured.tally.calls and not (measured.open and wanted.max_cycles is None):
        return [f"{name}: no call returned{where}, so that its budget is not held"]
    lines = []
    if wanted.max_cycles is not None:
        begun = next((f", begun in cycle {each.start:,}" for each in measured.greatest if wanted.by in each.by), "")
        seen = [(measured.cycles[wanted.by].maximum, begun)]
        # One that goes on may have taken more already.
        seen += [(each.cycles[wanted.by], f", begun in cycle {each.start:,}, not over") for each in measured.open]
        most, begun = max(seen, key=lambda each: each[0])
        if most > wanted.max_cycles:
            lines.append(f"{name}: {most:,} cycles {wanted.by}, {wanted.max_cycles:,} allowed{begun}")
    depths = [each.stack_bytes for each in measured.open]
    if wanted.max_stack_bytes is not None and None in depths:
        return [*lines, f"{name}: its stack cannot be told, for it sets the stack pointer itself"]
    stack = max([measured.tally.stack_bytes or 0, *(each or 0 for each in depths)])
    if wanted.max_stack_bytes is not None and stack > wanted.max_stack_bytes:
        lines.append(f"{name}: {stack:,} bytes of stack, {wanted.max_stack_bytes:,} allowed")
    return lines
