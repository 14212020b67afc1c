"""`rtoslab kernel conformance`: checks that a kernel's port behaves as the port contract promises."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from rtoslab.base import EXIT_OK, EXIT_POINT_FAILED, BuildError, PlanError, count_with_noun, find_checkout_root
from rtoslab.catalogue import Catalogue
from rtoslab.cli.choices import boards_option, config_option, kernels_option
from rtoslab.cli.console import PlainConsole, colour_text
from rtoslab.cli.early_end import print_json_answer, report_if_interrupted
from rtoslab.cli.image_options import board_and_timing_settings_of_image
from rtoslab.cli.names import CoreCountsParam, FrequencyParam, split_names
from rtoslab.conformance import CheckOutcome, ConformanceVerdict, check_image_conformance, check_whole_port_conformance
from rtoslab.plan import PlannedPoint, PlanOptions, points_of_conformance_suite
from rtoslab.targets import read_external_image

_COLOURS = {
    CheckOutcome.HOLDS: "green",
    CheckOutcome.FAILS: "red",
    CheckOutcome.DEVIATES: "yellow",
    CheckOutcome.UNSEEN: "yellow",
}


@click.command("conformance", short_help="Check a port against the port contract.")
@kernels_option()
@boards_option()
@click.option("--cores", type=CoreCountsParam(), help="Numbers of cores to run with.  [default: 1]")
@click.option("--clock", type=FrequencyParam(), help="The boards' clock, one of those in board.toml.")
@config_option
@click.option(
    "--image", type=click.Path(path_type=Path), metavar="ELF", help="An image of the suite that you built yourself."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON list on stdout.")
def kernel_conformance_command(
    kernels: tuple[str, ...],
    boards: tuple[str, ...],
    cores: tuple[int, ...] | None,
    clock: int | None,
    config: tuple[tuple[str, str], ...],
    image: Path | None,
    as_json: bool,
) -> int:
    """Run the conformance suite on virtual boards and show every check: what it requires and what was observed.

    `rtoslab run` does the same before it measures, and does not measure if a check fails. Exit code 3 if a check fails,
    if no suite can run, or if one of several suites cannot be built. The other suites still run.

    With --image, runs a conformance suite that you built yourself with any kernel. Checks whose test program is not in
    the image are not observed.
    """
    catalogue = Catalogue(find_checkout_root())
    if image is not None:
        if kernels or cores or clock:
            raise PlanError(
                "The image contains its kernel and benchmark; with --image, give only --board and --config."
            )
        board, timing = board_and_timing_settings_of_image(catalogue, boards, dict(config))
        verdict = check_image_conformance(catalogue, read_external_image(catalogue, image, board, timing), timing)
        if as_json:
            print_json_answer(_conformance_as_json([verdict]), indent=2)
        else:
            _print_conformance_checks(PlainConsole(), verdict)
        return EXIT_OK if verdict.is_kernel_port_conformant else EXIT_POINT_FAILED
    chosen = dict(config) if clock is None else {**dict(config), "clock_hz": str(clock)}
    kernel_names, board_names = split_names(kernels, catalogue.buildable_kernels), split_names(boards, catalogue.boards)
    points = points_of_conformance_suite(catalogue, PlanOptions(kernel_names, board_names, cores, config=chosen))
    verdicts: list[ConformanceVerdict] = []
    with report_if_interrupted(lambda: {"conformance": _conformance_as_json(verdicts)}):
        built = _run_conformance_suite_for_points(catalogue, points, verdicts, None if as_json else PlainConsole())
    if as_json:
        print_json_answer(_conformance_as_json(verdicts), indent=2)
    elif len(verdicts) > 1:
        PlainConsole().print(_conformance_summary_table(verdicts))
    if not verdicts:
        click.echo(
            "No port was checked, because none of the suites can run; the lines above give the reasons.", err=True
        )
    return (
        EXIT_OK
        if built and verdicts and all(conformance.is_kernel_port_conformant for conformance in verdicts)
        else EXIT_POINT_FAILED
    )


def _conformance_as_json(verdicts: Sequence[ConformanceVerdict]) -> list[dict[str, Any]]:
    """Returns the results of conformance suites as JSON objects."""
    return [{**verdict.model_dump(mode="json"), "holds": verdict.is_kernel_port_conformant} for verdict in verdicts]


def _run_conformance_suite_for_points(
    catalogue: Catalogue,
    points: Sequence[PlannedPoint],
    verdicts: list[ConformanceVerdict],
    console: PlainConsole | None,
) -> bool:
    """Runs the conformance suite for some points and appends each verdict. Returns False if a suite could not be built.

    Without a console only points without a verdict are reported, on stderr. Raises RtoslabError, and BuildError for a
    single suite.
    """
    built = True
    for point in points:
        if point.not_applicable is not None:
            click.echo(f"n/a {point.label}: {point.not_applicable}", err=console is None)
            continue
        try:
            verdict = check_whole_port_conformance(catalogue, point)
        except BuildError as cause:
            if len(points) == 1:
                raise
            click.echo(str(cause), err=console is None)
            built = False
            continue
        verdicts.append(verdict)
        if console is not None:
            _print_conformance_checks(console, verdict)
    return built


def _conformance_summary_table(verdicts: Sequence[ConformanceVerdict]) -> Table:
    """Returns a table of all conformance suites, with those that failed first."""
    table = Table("kernel", "board", "cores", "checks", "", title="All suites", title_justify="left")
    for conformance in sorted(verdicts, key=lambda verdict: verdict.is_kernel_port_conformant):
        failing = [finding.title for finding in conformance.findings if finding.outcome is CheckOutcome.FAILS]
        words = (
            "holds"
            if conformance.is_kernel_port_conformant
            else f"fails: {', '.join(failing) or conformance.failure or 'nothing was checked'}"
        )
        colour = "green" if conformance.is_kernel_port_conformant else "red"
        table.add_row(
            conformance.kernel,
            conformance.board,
            str(conformance.cores),
            conformance.conformance_outcome_counts_text,
            colour_text(words, colour),
        )
    return table


def _print_conformance_checks(console: PlainConsole, verdict: ConformanceVerdict) -> None:
    """Prints every check of one conformance suite, and how many hold."""
    name = f"{verdict.kernel} on {verdict.board}, {count_with_noun(verdict.cores, 'core')}"
    table = Table("check", "core", "seen", "", title=name, title_justify="left")
    absent: dict[str, list[str]] = {}
    for finding in verdict.findings:
        if finding.outcome is CheckOutcome.NOT_APPLICABLE:
            absent.setdefault(finding.saw, []).append(finding.title)
            continue
        saw = (
            f"{finding.demands}: {finding.saw}"
            if finding.outcome in (CheckOutcome.FAILS, CheckOutcome.DEVIATES)
            else finding.saw
        )
        table.add_row(
            finding.title, str(finding.core), saw, colour_text(finding.outcome.value, _COLOURS[finding.outcome])
        )
    console.print(table)
    for reason, titles in absent.items():
        console.print(f"n/a {', '.join(titles)}: {reason}", markup=False)
    if verdict.failure is not None:
        console.print(f"The suite stopped before its end: {verdict.failure}", markup=False)
    console.print(f"{name}: {verdict.conformance_outcome_counts_text}.", markup=False)
