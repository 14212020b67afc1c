"""`rtoslab compare`: runs against a reference run."""

from collections.abc import Sequence
from pathlib import Path

import click

from rtoslab.base import EXIT_OK, EXIT_POINT_FAILED, find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli.cmd_report import write_report
from rtoslab.cli.console import PlainConsole
from rtoslab.cli.names import file_format_by_suffix, report_file_option
from rtoslab.cli.sections import print_report_document
from rtoslab.compare import (
    ComparedMeasurementSet,
    MeasurementRunComparison,
    compare_runs_or_baselines,
    comparison_document,
    comparisons_as_json,
    comparisons_as_junit,
    fastest_and_slowest_sentence,
    merge_measurements_over_code_placements,
    read_runs_for_comparison,
)
from rtoslab.parity import ComparedMeasuredPoint, read_configuration_change_costs, unfair_differences_in_groups
from rtoslab.reports import ReportSection, measurement_fairness_report_section, report_formats

FORMS = ("html", "md", "json", "xml")


@click.command("compare")
@click.argument("reference", metavar="REFERENCE")
@click.argument("others", nargs=-1, required=True, metavar="RUN...")
@report_file_option(*FORMS, xml="JUnit")
@click.option(
    "--format", "form", type=click.Choice(FORMS[1:]), help="Print this format on stdout instead of the tables."
)
def compare_command(reference: str, others: tuple[str, ...], outputs: tuple[Path, ...], form: str | None) -> int:
    """Compare runs with a REFERENCE run: which figures differ, by how much, and in which functions.

    On virtual boards, differences are exact and are attributed to functions. Points in several placements (`run
    --placements`) are compared by their medians. A difference counts as better or worse only if it exceeds their bands.
    Times in one placement each are not judged on boards where the placement matters. On real boards, medians are
    compared with a confidence interval and a rank test. Join directories that repeat the same measurement by commas
    (A1,A2,A3). Differences between the manifests are listed after the figures.

    To compare two kernels or options, make two runs with different --out. Exit code 3 if the runs have no figure in
    common.
    """
    base = _read_runs_as_comparison_side(reference)
    comparisons = [compare_runs_or_baselines(base, _read_runs_as_comparison_side(other)) for other in others]
    document = comparison_document(comparisons, _unequal_condition_report_sections(comparisons))

    def render_comparison(kind: str) -> str:
        """Returns the report of the comparison in this format."""
        if kind == "json":
            return comparisons_as_json(comparisons)
        return comparisons_as_junit(comparisons) if kind == "xml" else report_formats()[kind](document)

    for output in outputs:
        write_report(render_comparison(file_format_by_suffix(output)), output)
    if form is not None:
        click.echo(render_comparison(form), nl=False)
    elif not outputs:
        print_report_document(document, PlainConsole())
        for comparison in comparisons:
            click.echo(fastest_and_slowest_sentence(comparison))
    if any(comparison.changes for comparison in comparisons):
        return EXIT_OK
    click.echo("Nothing was compared, because the runs have no measured point in common.", err=True)
    return EXIT_POINT_FAILED


def _read_runs_as_comparison_side(text: str) -> ComparedMeasurementSet:
    """Returns the figures in run directories, whose paths are separated by commas, as one side of a comparison."""
    return merge_measurements_over_code_placements(
        read_runs_for_comparison([Path(part) for part in text.split(",") if part])
    )


def _unequal_condition_report_sections(comparisons: Sequence[MeasurementRunComparison]) -> list[ReportSection]:
    """Returns the report section on conditions in which the compared points differ. Empty if there is nothing to
    say."""
    catalogue = Catalogue(find_checkout_root())
    groups = [
        [
            ComparedMeasuredPoint(side.name, figures.point, dict(figures.manifest_tree), figures.state)
            for side, figures in sides
        ]
        for comparison in comparisons
        for pair in comparison.matching.pairs
        for sides in [((comparison.before, pair.before), (comparison.after, pair.after))]
    ]
    section = measurement_fairness_report_section(
        unfair_differences_in_groups(catalogue, groups, read_configuration_change_costs(catalogue.root)),
        several=bool(groups),
    )
    return [section] if section else []
