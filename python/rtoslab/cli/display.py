"""What commands that measure show while they do, and how they call a folder."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from rtoslab.cli.ended import keeping
from rtoslab.cli.plain import PlainConsole
from rtoslab.measure import Note, Outcome


def short_path(folder: Path) -> Path:
    """Seen from the working directory, if it lies below it."""
    try:
        return folder.resolve().relative_to(Path.cwd())
    except ValueError:
        return folder


def say_known(outcomes: Sequence[Outcome]) -> None:
    """How many points needed no measuring, on stderr."""
    for note in dict.fromkeys(each.note for each in outcomes if each.note):
        click.echo(note, err=True)
    kept = sum(not each.fresh and not each.cached for each in outcomes)
    if kept:
        click.echo(f"{kept} of {len(outcomes)} points were there already and were kept.", err=True)
    cached = sum(each.cached for each in outcomes)
    if cached:
        click.echo(
            f"{cached} of {len(outcomes)} points were measured before under the same manifest and were taken from the "
            "cache; --fresh measures them again.",
            err=True,
        )


LONG_PLAN = 20
"""From so many points on, each line says how far the plan has come."""


class Display:
    """Progress on stderr: bars on a terminal, one line per finished point elsewhere, nothing if quiet."""

    def __init__(self, points: int, *, quiet: bool) -> None:
        console = PlainConsole(stderr=True)
        self._quiet = quiet
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self._console = console
        self._all = self._bars.add_task("points", total=points)
        self._tasks: dict[int, TaskID] = {}
        self._points = points
        self.outcomes: list[Outcome] = []
        """Of the points that are finished, in that order."""
        self._done = 0
        self._measured = 0
        self._start = time.monotonic()

    def __enter__(self) -> "Display":
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def _outlook(self, note: Note) -> str:
        """How far a long plan has come, and how long the rest may take if it goes on as it did."""
        if self._points < LONG_PLAN:
            return ""
        self._done += 1
        if note.outcome is not None and note.outcome.fresh:
            self._measured += 1
        rest = self._points - self._done
        spent_s = time.monotonic() - self._start
        left_min = spent_s / self._measured * rest / 60 if self._measured else None
        return f" ({self._done} of {self._points}" + (")" if left_min is None else f", {left_min:.0f} min left)")

    def note(self, note: Note) -> None:
        """Takes news of a point: a phase with its progress, or the outcome."""
        if note.outcome is not None:
            self.outcomes.append(note.outcome)
            if note.index in self._tasks:
                self._bars.remove_task(self._tasks.pop(note.index))
            self._bars.advance(self._all)
            if not self._quiet and not self._console.is_terminal:
                self._console.print(
                    f"{note.point.label}: {note.outcome.result.status}{self._outlook(note)}", soft_wrap=True
                )
            return
        if note.index not in self._tasks:
            self._tasks[note.index] = self._bars.add_task(note.point.label, total=100)
        self._bars.update(
            self._tasks[note.index], description=f"{note.point.label}: {note.phase}", completed=int(100 * note.done)
        )


@contextmanager
def displayed(points: int, folder: Path, *, quiet: bool) -> Iterator[Display]:
    """The display of points that are measured into a run directory. Ended meanwhile, the finished ones are told."""
    display = Display(points, quiet=quiet)
    with keeping(lambda: run_as_json(folder, display.outcomes)), display:
        yield display


def run_as_json(folder: Path, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """What `--json` tells of a run directory."""
    return {"run": str(folder), "points": [each.result.model_dump(mode="json") for each in outcomes]}
