"""The plan and the progress that commands show, and how they name a folder."""

import dataclasses
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

from rtoslab.base import count_with_noun
from rtoslab.catalogue import Catalogue
from rtoslab.cli.console import PlainConsole, path_from_working_directory
from rtoslab.cli.early_end import print_json_answer, report_if_interrupted
from rtoslab.images import require_known_macros
from rtoslab.measure import DurationEstimate, MeasurementPointOutcome, MeasurementPointProgress, estimate_duration
from rtoslab.plan import MeasurementPlan, PlannedPoint, labels_by_differing_settings


def print_plan_before_measuring(
    catalogue: Catalogue, plan: MeasurementPlan, folder: Path, jobs: int, *, dry_run: bool, as_json: bool
) -> bool:
    """Prints a plan before it is measured. Returns whether the command must end then (`dry_run`).

    Raises PlanError for a macro that no kernel has.
    """
    require_known_macros(catalogue, plan.points)
    if as_json and not dry_run:
        return False
    estimate = estimate_duration(catalogue, plan, jobs)
    if not dry_run:
        _print_measurement_plan_size(plan, estimate)
    elif as_json:
        print_json_answer(_dry_run_as_json(plan, estimate, folder))
    else:
        _print_dry_run(plan, estimate, folder)
    return dry_run


def _print_measurement_plan_size(plan: MeasurementPlan, estimate: DurationEstimate) -> None:
    """Prints how large a plan is, on stderr: points, images to build, estimated time."""
    absent = f", {estimate.not_applicable} of them n/a" if estimate.not_applicable else ""
    shared = _common_coordinates_text(plan.points)
    click.echo(
        f"Plan: {count_with_noun(estimate.points, 'point')}{absent}{f' ({shared})' if shared else ''}; "
        f"{count_with_noun(estimate.images, 'image')} to build; {_duration_text(estimate.seconds)}.",
        err=True,
    )


def _print_dry_run(plan: MeasurementPlan, estimate: DurationEstimate, folder: Path) -> None:
    """Prints each point of a plan that is not measured, for `--dry-run`."""
    for label, point in zip(labels_by_differing_settings(plan.points), plan.points, strict=True):
        click.echo(label if point.not_applicable is None else f"{label}: n/a, {point.not_applicable}")
    _print_measurement_plan_size(plan, estimate)
    click.echo(
        f"Nothing was measured. A run would store its results in {path_from_working_directory(folder)}.", err=True
    )


def _dry_run_as_json(plan: MeasurementPlan, estimate: DurationEstimate, folder: Path) -> dict[str, Any]:
    """Returns a plan that is not measured as a JSON object, for `--dry-run`."""
    points = [dataclasses.asdict(point) for point in plan.points]
    return {"run": str(folder), "plan": points, "images_to_build": estimate.images, "seconds": round(estimate.seconds)}


def _common_coordinates_text(points: Sequence[PlannedPoint]) -> str:
    """Returns kernel, board and number of cores as text. Those that differ between the points are left out."""
    values = (
        {point.kernel for point in points},
        {point.board for point in points},
        {count_with_noun(point.cores, "core") for point in points},
    )
    return ", ".join(next(iter(value)) for value in values if len(value) == 1)


def _duration_text(seconds: float) -> str:
    """Returns a duration as text, rounded, such as `at most about 5 min`."""
    minutes = seconds / 60
    if minutes < 1:
        return f"at most about {max(5, round(seconds / 5) * 5)} s"
    return f"at most about {minutes:.0f} min" if minutes < 90 else f"at most about {minutes / 60:.1f} h"


def print_reused_points(outcomes: Sequence[MeasurementPointOutcome]) -> None:
    """Prints on stderr how many points were not measured because their results were stored or cached."""
    for note in dict.fromkeys(outcome.note for outcome in outcomes if outcome.note):
        click.echo(note, err=True)
    resumed = sum(not outcome.fresh and not outcome.cached for outcome in outcomes)
    if resumed:
        click.echo(
            f"{resumed} of {count_with_noun(len(outcomes), 'point', 'was', 'were')} already in the folder.",
            err=True,
        )
    cached = sum(outcome.cached for outcome in outcomes)
    if cached:
        known = f"{cached} of {count_with_noun(len(outcomes), 'point', 'was', 'were')} measured before"
        click.echo(f"{known} under the same manifest and taken from the cache; --fresh measures them again.", err=True)


LONG_PLAN = 20
"""From this number of points on, each line shows the progress of the plan."""


class ProgressDisplay:
    """Shows the progress of measurements on stderr."""

    def __init__(self, points: Sequence[PlannedPoint], *, quiet: bool) -> None:
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
        self._all = self._bars.add_task("points", total=len(points))
        self._tasks: dict[int, TaskID] = {}
        self._points = len(points)
        self._labels = labels_by_differing_settings(points)
        self.outcomes: list[MeasurementPointOutcome] = []
        """The outcomes of the points that are finished, in that order."""
        self._done = 0
        self._measure = 0
        self._start = time.monotonic()

    def __enter__(self) -> "ProgressDisplay":
        """Starts to show the progress."""
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the display."""
        self._bars.stop()

    def _progress_and_remaining_time_text(self, note: MeasurementPointProgress) -> str:
        """Returns how many points are done and how long the rest may take, as text. Empty for a short plan. Counts the
        point of `note`."""
        if self._points < LONG_PLAN:
            return ""
        self._done += 1
        if note.outcome is not None and note.outcome.fresh:
            self._measure += 1
        rest = self._points - self._done
        spent_s = time.monotonic() - self._start
        left_min = spent_s / self._measure * rest / 60 if self._measure else None
        return f" ({self._done} of {self._points}" + (")" if left_min is None else f", {left_min:.0f} min left)")

    def show_measurement_point_progress(self, note: MeasurementPointProgress) -> None:
        """Shows in which phase one point is, or how it ended."""
        if note.outcome is not None:
            self.outcomes.append(note.outcome)
            if note.index in self._tasks:
                self._bars.remove_task(self._tasks.pop(note.index))
            self._bars.advance(self._all)
            if not self._quiet and not self._console.is_terminal:
                self._console.print(
                    f"{self._labels[note.index]}: "
                    f"{note.outcome.result.status}{self._progress_and_remaining_time_text(note)}",
                    soft_wrap=True,
                )
            return
        if note.index not in self._tasks:
            self._tasks[note.index] = self._bars.add_task(self._labels[note.index], total=100)
        self._bars.update(
            self._tasks[note.index],
            description=f"{self._labels[note.index]}: {note.phase}",
            completed=int(100 * note.done),
        )


@contextmanager
def show_progress(points: Sequence[PlannedPoint], folder: Path, *, quiet: bool) -> Iterator[ProgressDisplay]:
    """Shows the progress of points that the block measures into a run directory. If interrupted, it reports the
    finished ones."""
    display = ProgressDisplay(points, quiet=quiet)
    with report_if_interrupted(lambda: measurement_run_as_json(folder, display.outcomes)), display:
        yield display


def measurement_run_as_json(folder: Path, outcomes: Sequence[MeasurementPointOutcome]) -> dict[str, Any]:
    """Returns the results of a run, with its directory, as a JSON object."""
    return {"run": str(folder), "points": [outcome.result.model_dump(mode="json") for outcome in outcomes]}
