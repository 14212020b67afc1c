"""`rtoslab paper --explain`: single changes, the best of them together and the paper's own set-ups, by distance."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from rtoslab.api import default_run_directory, load
from rtoslab.base import EXIT_OK, count_with_noun
from rtoslab.catalogue import Catalogue, PaperFirmwareConfiguration, PaperFolder
from rtoslab.cli.console import PlainConsole
from rtoslab.cli.display import print_plan_before_measuring, show_progress
from rtoslab.cli.early_end import print_json_answer
from rtoslab.cli.failures import exit_code_of_points, print_failed_measurements
from rtoslab.cli.sections import print_report_section
from rtoslab.measure import MeasureOptions, measure_points_of_plan
from rtoslab.papers import (
    ConfigurationChangeTrial,
    alternative_configurations_of_paper,
    combine_best_changes,
    evaluate_configuration_changes,
    paper_deviation_without_setting_change,
    plan_paper_points_with_setup_changes,
    single_change_setups,
)
from rtoslab.plan import PlanOptions
from rtoslab.reports import ReportSection, TableData, measured_point_label
from rtoslab.results import FailedMeasurement
from rtoslab.store import AnyResult, StoredMeasurementPoint


def explain_distance_from_paper(
    catalogue: Catalogue, paper: PaperFolder, out: Path | None, jobs: int, *, full: bool, dry_run: bool, as_json: bool
) -> int:
    """Measures changes of a paper's builds, single and combined. Prints which bring our figures closest to the paper's.

    Returns the exit code. Raises as `measure_points_of_plan` and `reproduce_paper` do.
    """
    options = PlanOptions(full=full)
    singles = single_change_setups(catalogue, paper)
    folder = out or default_run_directory(
        catalogue.root, plan_paper_points_with_setup_changes(catalogue, paper, singles, options), [paper.key, "explain"]
    )

    results: list[AnyResult] = []
    failed: dict[str, FailedMeasurement] = {}

    def measure_changed_builds(
        setups: Sequence[PaperFirmwareConfiguration], place: Path, *, dry: bool
    ) -> list[StoredMeasurementPoint] | None:
        """Measures the points of these changes into a folder, and returns them. None if only the plan was shown."""
        plan = plan_paper_points_with_setup_changes(catalogue, paper, setups, options)
        if print_plan_before_measuring(catalogue, plan, place, jobs, dry_run=dry, as_json=as_json):
            return None
        with show_progress(plan.points, place, quiet=as_json) as display:
            options_ = MeasureOptions(skip_refused=True)
            outcomes = measure_points_of_plan(
                catalogue.root,
                plan,
                place,
                jobs=jobs,
                listener=display.show_measurement_point_progress,
                options=options_,
            )
        results.extend(outcome.result for outcome in outcomes)
        lost = [outcome.result for outcome in outcomes if isinstance(outcome.result, FailedMeasurement)]
        failed.update((point.point.model_dump_json(), point) for point in lost)
        return load(place)

    points = measure_changed_builds(singles, folder / "alone", dry=dry_run)
    if points is None:
        return EXIT_OK
    single_changes = evaluate_configuration_changes(catalogue, paper, singles, points, options)
    plain = paper_deviation_without_setting_change(catalogue, paper, points, options)
    joined = [*combine_best_changes(plain, single_changes), *alternative_configurations_of_paper(paper)]
    seen = measure_changed_builds(joined, folder / "together", dry=False) if joined else None
    both = evaluate_configuration_changes(catalogue, paper, joined, seen, options) if seen else []
    code = exit_code_of_points(results)
    if as_json:
        print_json_answer(
            _paper_changes_as_json(folder, plain, single_changes, both)
            | {"failed": [_failed_point_as_json(failure) for failure in failed.values()]}
        )
        return code
    print_report_section(_build_changes_section(paper, plain, single_changes, both), PlainConsole())
    if failed:
        click.echo(
            "Where a point failed, the row of its change lacks the point's figures. The column `all figures` uses the "
            "figures of the suites in their place."
        )
        print_failed_measurements(failed.values())
    click.echo(best_setting_change_sentence(plain, single_changes, both))
    return code


def _build_changes_section(
    paper: PaperFolder,
    plain: float,
    single_changes: Sequence[ConfigurationChangeTrial],
    both: Sequence[ConfigurationChangeTrial],
) -> ReportSection:
    """Returns the report section with tables of single and combined changes. `plain`: the distance without a change."""
    prose = (
        "The distance compares our figures with the paper's. For each figure, it is the larger value divided by the "
        "smaller one. Columns show the geometric mean over several figures, so 1 means that all are equal. "
        f"Without a change, it is {plain:.3f} over all figures. A change with a small distance is a candidate, not a "
        "proof: every point is measured in one placement, and a change also moves the code."
    )
    columns = ("change", ">figures", ">before", ">after", ">all figures")
    moving = [trial for trial in single_changes if trial.distance_after != trial.distance_before]
    note = f"{count_with_noun(len(single_changes) - len(moving), 'other change')} tried, without effect on any figure."
    tables = [
        TableData("Single changes", columns, [_paper_deviation_change_table_row(trial) for trial in moving], note)
    ]
    tables += (
        [TableData("Several together", columns, [_paper_deviation_change_table_row(trial) for trial in both])]
        if both
        else []
    )
    return ReportSection("explain", f"Which change brings our figures closer to {paper.key}", (prose,), (), tables)


def _paper_deviation_change_table_row(trial: ConfigurationChangeTrial) -> list[str]:
    """Returns a table row with how far our figures are from the paper's before and after a change."""
    return [
        trial.setup.title,
        str(trial.changed_figures),
        f"{trial.distance_before:.3f}",
        f"{trial.distance_after:.3f}",
        f"{trial.overall_distance:.3f}",
    ]


def best_setting_change_sentence(
    plain: float, single_changes: Sequence[ConfigurationChangeTrial], both: Sequence[ConfigurationChangeTrial]
) -> str:
    """Returns a sentence on the single change that helps most, and on a combination that comes still closer."""
    best = min(
        (trial for trial in single_changes if trial.overall_distance < plain),
        key=lambda trial: trial.overall_distance,
        default=None,
    )
    if best is None:
        text, reached = f"No single change reduces the distance, which is {plain:.3f}", plain
    else:
        text = f"{best.setup.title} alone reduces the distance most, from {plain:.3f} to {best.overall_distance:.3f}"
        reached = best.overall_distance
    most = min(both, key=lambda trial: trial.overall_distance, default=None)
    return (
        f"{text}."
        if most is None or most.overall_distance >= reached
        else f"{text}. With {most.setup.title}, it is {most.overall_distance:.3f}."
    )


def _failed_point_as_json(failed: FailedMeasurement) -> dict[str, str]:
    """Returns a failed point as a JSON object."""
    return {"point": measured_point_label(failed), "stage": failed.stage, "message": failed.message}


def _paper_changes_as_json(
    folder: Path,
    plain: float,
    single_changes: Sequence[ConfigurationChangeTrial],
    both: Sequence[ConfigurationChangeTrial],
) -> dict[str, Any]:
    """Returns all changes, with how far our figures are from the paper's, as a JSON object. `folder`: the run
    directory."""

    def setting_change_trials_as_json(trials: Sequence[ConfigurationChangeTrial]) -> list[dict[str, Any]]:
        """Returns a JSON object for each change."""
        return [
            {"change": trial.setup.title, "figures": trial.changed_figures, "before": trial.distance_before,
             "after": trial.distance_after, "all_figures": trial.overall_distance}
            for trial in trials
        ]  # fmt: skip

    return {
        "run": str(folder),
        "distance": plain,
        "alone": setting_change_trials_as_json(single_changes),
        "together": setting_change_trials_as_json(both),
    }
