"""`rtoslab lint`: where a comparison is unfair."""

from collections.abc import Sequence
from pathlib import Path

import click

from rtoslab.analyses import results_depending_on_addresses
from rtoslab.api import load
from rtoslab.base import EXIT_OK, EXIT_REGRESSION, StoreError, find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli.early_end import print_json_answer
from rtoslab.parity import (
    UnfairDifference,
    configuration_costs_from_points,
    group_comparable_measurements,
    label_points_for_comparison,
    read_configuration_change_costs,
    unfair_differences_in_groups,
)
from rtoslab.reference import reference_points_for_unmeasured_kernels
from rtoslab.results import MeasuredPoint


@click.command("lint")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option(
    "--costs",
    "sweeps",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Run directory of a sweep. Its figures show how much time each difference costs.",
)
@click.option(
    "--reference", is_flag=True, help="Include the reference results that a report of these points would show."
)
@click.option("--strict", is_flag=True, help="Exit with code 3 if a condition differs.")
@click.option("--json", "as_json", is_flag=True, help="One JSON list of findings on stdout.")
def lint_command(runs: tuple[Path, ...], sweeps: tuple[Path, ...], reference: bool, strict: bool, as_json: bool) -> int:
    """Show where a comparison is unfair: points of one run, or of several RUNs, that were measured under different
    conditions.

    With --reference, also compares them with the reference results of other kernels.

    Checks assertions, stack checking, trace hooks, run-time statistics, tick rate, priorities, time slicing, tickless
    idle, memory protection, task selection, compiler and flags, clock, wait states, caches, and the placement of code
    and data. Also compares the board's registers at the beginning of the window.
    """
    catalogue = Catalogue(find_checkout_root())
    stored = {path: load(path) for path in runs}
    subjects = [
        subject
        for path, points in stored.items()
        for subject in label_points_for_comparison(points, path.name if len(runs) > 1 else "")
    ]
    if reference:
        subjects += label_points_for_comparison(
            reference_points_for_unmeasured_kernels(
                catalogue.root, [point for points in stored.values() for point in points]
            )
        )
    if not subjects:
        raise StoreError(f"{runs[0]} contains no measured point, so nothing can be compared; run `rtoslab run` first.")
    known = [*load(*sweeps)] if sweeps else []
    every = [point for points in (*stored.values(), known) for point in points]
    costs = configuration_costs_from_points(
        [stored_point.result for stored_point in every if isinstance(stored_point.result, MeasuredPoint)],
        results_depending_on_addresses(every),
    )
    findings = unfair_differences_in_groups(
        catalogue, group_comparable_measurements(subjects), [*costs, *read_configuration_change_costs(catalogue.root)]
    )
    if as_json:
        print_json_answer(
            [
                {
                    "concept": finding.concept.id,
                    "board": finding.board,
                    "values": finding.values,
                    "benchmarks": finding.benchmarks,
                    "cost": finding.unfair_difference_cost_text,
                }
                for finding in findings
            ]
        )
    else:
        _print_unfair_conditions(findings)
    return EXIT_REGRESSION if strict and findings else EXIT_OK


def _print_unfair_conditions(findings: Sequence[UnfairDifference]) -> None:
    """Prints each condition in which compared points differ, with what it is known to cost."""
    if not findings:
        click.echo("The comparison is fair: all compared points were measured under equal conditions.")
    for finding in findings:
        click.echo(f"{finding.sentence}")
        click.echo(f"    cost: {finding.unfair_difference_cost_text}")
        click.echo(f"    on {finding.board}: {', '.join(finding.benchmarks)}")
