"""A user's project on the command line: `rtoslab gate` in or below a folder with rtoslab.toml."""

import json
import os
from dataclasses import replace
from pathlib import Path

import click

from rtoslab.base import (
    EXIT_ERROR,
    EXIT_OK,
    EXIT_REGRESSION,
    PROJECT_FILE,
    PlanError,
    count_with_noun,
    find_checkout_root,
    find_project_folder,
    write_file_atomically,
)
from rtoslab.catalogue import Catalogue
from rtoslab.cli.console import PlainConsole
from rtoslab.cli.early_end import print_json_answer
from rtoslab.cli.names import file_format_by_suffix, options_given_on_command_line
from rtoslab.compare import MeasuredValueLimits
from rtoslab.instruments import table_for_terminal
from rtoslab.intake import printable_path
from rtoslab.project import (
    NOTHING_MEASURED,
    Project,
    ProjectRegressionGateResult,
    changes_not_exceeding_limits_table,
    judge_project_against_baseline,
    judgement_as_json,
    judgement_as_junit,
    judgement_as_markdown,
    measure_project,
    performance_regression_table,
    project_result_sentences,
    read_project,
    read_project_baseline,
    write_project_baseline,
)
from rtoslab.targets import simulator_sources_digest

_ROWS = 40
_SHORT = 12


def nearest_project_folder() -> Path | None:
    """Returns the nearest folder, from the working directory upwards, that contains an rtoslab.toml. None if there is
    none.

    The path is relative to the working directory. Raises PlanError for a file of another user in a parent folder,
    because its build would be run.
    """
    folder, here = find_project_folder(), Path.cwd()
    if folder is None:
        return None
    _require_project_of_same_user(folder, here)
    return Path(os.path.relpath(folder, here))


def require_project_folder() -> Path:
    """Returns the folder with the nearest rtoslab.toml, as `nearest_project_folder`. Raises PlanError if there is
    none."""
    folder = nearest_project_folder()
    if folder is None:
        raise PlanError(
            f"There is no {PROJECT_FILE} in this folder or above it, so there is nothing to compare; write one "
            "(docs/own-project.md), or name a baseline of points with --baseline."
        )
    return folder


def _require_project_of_same_user(folder: Path, here: Path) -> None:
    """Raises PlanError if an rtoslab.toml in a parent folder belongs to another user. `here`: the working directory."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 (never raises)
    if folder != here and _file_owner_user_id(folder / PROJECT_FILE) not in {
        _file_owner_user_id(here),
        _file_owner_user_id(home),
    }:
        raise PlanError(
            f"{printable_path(folder / PROJECT_FILE)} belongs to another user and contains a build command, which "
            "would be run; change into that folder if you trust it."
        )


def _file_owner_user_id(path: Path) -> int | None:
    """Returns the user id of a file's owner. None for a missing file."""
    return path.stat().st_uid if path.exists() else None


def require_options_not_in_project(context: click.Context, *options: str) -> None:
    """Raises PlanError if the user gave one of these options, which a project says itself."""
    wrong = options_given_on_command_line(context, *options)
    if wrong:
        option = {"name": "NAME", "out": "--out", "jobs": "--jobs"}.get(wrong[0], f"--{wrong[0].replace('_', '-')}")
        raise PlanError(
            f"{option} cannot be used with {PROJECT_FILE}; leave it out, or run the command in another folder."
        )


def compare_project_with_baseline(
    folder: Path, limits: tuple[str, ...], other_compiler: str | None, moved: str | None, outputs: tuple[Path, ...], *,
    as_json: bool, dry_run: bool,
) -> int:  # fmt: skip
    """Measures a user's project and compares its figures with the stored baseline. Returns the exit code.

    The arguments override the settings of the project.
    """
    project = read_project(folder)
    rules = MeasuredValueLimits.merge_baseline_and_requested_limits(project.gate.limits, limits)
    if dry_run:
        return _print_project_plan(project)
    baseline = read_project_baseline(folder / project.gate.baseline)
    root = find_checkout_root()
    figures = measure_project(Catalogue(root), project, folder, _print_on_stderr)
    judged = judge_project_against_baseline(
        baseline.values_by_measured_image(), figures, rules, moved=moved or project.gate.moved
    )
    if baseline.simulator != simulator_sources_digest(root)[:_SHORT]:
        judged = replace(judged, notes=(*judged.notes, "the baseline was measured with another virtual board"))
    for output in outputs:
        write_file_atomically(output, _render_project_gate_report(judged, output), "the report")
    unequal = _baseline_compiler_mismatch_action(judged, other_compiler or project.gate.other_compiler)
    code = (
        EXIT_OK
        if unequal == "skip"
        else EXIT_ERROR
        if judged.unanswered or unequal
        else _baseline_comparison_exit_code(judged)
    )
    if as_json:
        print_json_answer({**judgement_as_json(judged), "exit_code": code})
        return code
    _print_project_gate_result(judged)
    if unequal == "skip":
        click.echo(f"The gate gives no verdict. {_other_compiler_clause(judged)}.")
    elif unequal:
        raise PlanError(f"{_other_compiler_clause(judged)}; use the same compiler, or write the baseline again.")
    else:
        click.echo(project_result_sentences(judged))
        if judged.has_regression_or_exceeded_budget and not judged.unanswered:
            click.echo("If the change is intended, run `rtoslab gate --store` to store the new figures.")
    return code


def _baseline_comparison_exit_code(judged: ProjectRegressionGateResult) -> int:
    """Returns the exit code of a comparison with a baseline: 3 for a regression, else 0."""
    return EXIT_REGRESSION if judged.has_regression_or_exceeded_budget else EXIT_OK


def _baseline_compiler_mismatch_action(judged: ProjectRegressionGateResult, other_compiler: str) -> str:
    """Returns what is done (`refuse`, `skip`) because the baseline was measured with another compiler.

    Empty if the compiler is the same, or the figures are compared all the same.
    """
    return "" if judged.other_compiler is None or other_compiler == "compare" else other_compiler


def _other_compiler_clause(judged: ProjectRegressionGateResult) -> str:
    """Returns a clause on which compilers the baseline and the new figures were measured with."""
    before, after = judged.other_compiler or ("", "")
    return (
        f"The baseline was measured with {before}, the new figures with {after}, so the compiler alone can "
        "change the cycles"
    )


def _print_project_gate_result(judged: ProjectRegressionGateResult) -> None:
    """Prints regressions, changes, exceeded budgets and notes."""
    console = PlainConsole()
    for table in (performance_regression_table(judged), changes_not_exceeding_limits_table(judged)):
        if table.rows:
            console.print(table_for_terminal(table, _ROWS))
            if len(table.rows) > _ROWS:
                console.print(f"... and {len(table.rows) - _ROWS} more; a report (-o) shows all.")
    for line in (*judged.exceeded_budgets, *judged.notes):
        click.echo(line)


def _render_project_gate_report(judged: ProjectRegressionGateResult, output: Path) -> str:
    """Returns the report on a comparison with a baseline, in the format that the output's suffix names. Raises
    PlanError."""
    kind = file_format_by_suffix(output)
    if kind == "json":
        return json.dumps(judgement_as_json(judged), indent=1) + "\n"
    if kind == "xml":
        return judgement_as_junit(judged)
    if kind == "md":
        return judgement_as_markdown(judged)
    raise PlanError(f"The gate of a project writes .md, .json or .xml, not .{kind}.")


def store_project_baseline(folder: Path, *, dry_run: bool) -> int:
    """Measures a user's project and stores its figures as the baseline. Returns the exit code."""
    project = read_project(folder)
    if dry_run:
        return _print_project_plan(project)
    root = find_checkout_root()
    result = measure_project(Catalogue(root), project, folder, _print_on_stderr)
    cut = [f"{name}: {figure.cut_reason}" for name, figure in result.items() if figure.cut_reason]
    if cut:
        raise PlanError(f"No baseline was written, because the part to be measured was not executed: {'; '.join(cut)}.")
    if not any(
        values_by_measured_image.is_any_call_or_interval_measured for values_by_measured_image in result.values()
    ):
        raise PlanError(
            f"No baseline was written, because {NOTHING_MEASURED}; check `for_ms`, `start` and `until` of the image."
        )
    path = folder / project.gate.baseline
    write_project_baseline(result, simulator_sources_digest(root)[:_SHORT], path)
    for name, figure in result.items():
        if figure.problem:
            click.echo(f"{name}: measured in one placement only, because {figure.problem}")
    figures = sum(
        len(item.figures)
        for values_by_measured_image in result.values()
        for item in values_by_measured_image.items.values()
    )
    click.echo(f"{count_with_noun(figures, 'figure')} of {count_with_noun(len(result), 'image')}: {path}.")
    return EXIT_OK


def _print_project_plan(project: Project) -> int:
    """Prints what would be measured of a project. Returns the exit code."""
    for name, image in project.image.items():
        functions = [function.name for function in project.function if function.image == name]
        functions += [interval.name for interval in project.interval if interval.image == name]
        times = f", {image.placements} placements" if image.placements > 1 else ""
        click.echo(f"{name}: {image.elf} on {image.board}, {image.for_ms} ms{times}")
        for item in functions:
            click.echo(f"  {item}")
    return EXIT_OK


def _print_on_stderr(line: str) -> None:
    """Prints a line on stderr."""
    click.echo(line, err=True)
