"""`rtoslab calibrate`: which timing rules silicon confirms, which it refutes, and what it says instead."""

from pathlib import Path
from typing import Any

import click

from rtoslab.api import targets_of
from rtoslab.base import EXIT_OK, PlanError, Table, find_root
from rtoslab.calibrate import (
    Fit,
    Readings,
    calibration_image,
    figures_table,
    findings_table,
    fit,
    grades,
    of_fit,
    read_board,
    read_silicon,
    read_table_of,
    rows_table,
    unexplained,
    virtual_runs,
    write_silicon,
)
from rtoslab.catalogue import Catalogue
from rtoslab.cli.choices import bench_option, jobs_option, kernel_option, out_option, target_option
from rtoslab.cli.ended import answer
from rtoslab.cli.kernel_figures import asked_again, asked_for, figures_as_json, on_silicon, set_beside
from rtoslab.cli.names import CatalogueName, Duration
from rtoslab.cli.plain import PlainConsole
from rtoslab.hardware import shown_commands
from rtoslab.instruments import rich_table
from rtoslab.targets import timing_settings

BOARD = "nucleo-f446re"


@click.command("calibrate")
@click.option("--board", type=CatalogueName("boards"), help=f"The board, which must be named, for example {BOARD}.")
@target_option
@bench_option
@click.option("--port", metavar="DEVICE", help="Its serial port, if the probe has none.")
@click.option("--from", "kept", type=click.Path(path_type=Path), metavar="FILE", help="Fit a kept calibration anew.")
@click.option(
    "--figures",
    metavar="all|BENCHMARK,...",
    help="Kernel figures, too; all: T1 to T8, single calls, switches, interrupts.",
)
@kernel_option
@click.option("--window", type=Duration(), help="Length of a kernel figure's measured window.")
@click.option(
    "--repeats",
    type=click.IntRange(1, 100),
    default=3,
    show_default=True,
    help="Runs of each kernel figure on silicon.",
)
@out_option
@jobs_option
@click.option("--about", default="", help="Whose board, revision and marking, for the file.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write, to contribute: silicon.json.")
@click.option("--dry-run", is_flag=True, help="Show the commands and measure nothing.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def command(
    board: str | None,
    target: str | None,
    bench: Path | None,
    port: str | None,
    kept: Path | None,
    figures: str | None,
    kernel: str,
    window: int | None,
    repeats: int,
    out: Path | None,
    jobs: int,
    about: str,
    output: Path | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Run micro-benchmarks on a real board and on the virtual one; find the timing rules that differ.

    Every rule with a setting (timing.*) gets the value that fits silicon best, and which others fit as well
    (docs/calibrate.md). With --figures, figures of a kernel are measured on both as well. Nothing is flashed without
    --board.
    """
    if (target is None) == (kept is None):
        raise PlanError("Name the real board with --target, or a kept calibration with --from.")
    catalogue = Catalogue(find_root())
    silicon = None if kept is None else read_silicon(kept)
    name = board or (silicon.board if silicon else None)
    on_desk = {} if target is None else targets_of(catalogue, [name] if name else [], target, port, bench)
    assert name is not None
    name = catalogue.board(name).id
    table = read_table_of(catalogue)
    built = calibration_image(catalogue, table, name, None)
    if dry_run:
        for each in on_desk.values():
            click.echo("\n".join(shown_commands(each, built.elf)))
        return EXIT_OK
    asked = None
    if figures is not None:
        asked = asked_for(figures, name, kernel, window, repeats, jobs, out)
        asked = asked if silicon is None else asked_again(asked, silicon)
    if silicon is None:
        seen = read_board(catalogue, table, built, on_desk[name], _say)
        kernel_figures = on_silicon(asked, on_desk) if asked else None
    else:
        _demand_same(silicon.image_sha256, built.elf_sha256)
        seen, kernel_figures = silicon.readings(), silicon.kernel_figures
    runs = virtual_runs(catalogue, table, built, name)
    facts = catalogue.board(name).facts
    defaults = {key: each for key, each, _, _ in timing_settings(facts.chip) if key.startswith("timing.")}
    found = fit(table, seen, runs, defaults, _say)
    before, after = runs({}), runs(found.settings)
    tables = [findings_table(found, grades(catalogue, name)), rows_table(table, seen, before, after)]
    compared = set_beside(asked, kernel_figures, found.settings) if asked and kernel_figures else []
    if compared:
        tables.append(figures_table(compared))
    if output is not None:
        sha256 = built.elf_sha256
        write_silicon(output, of_fit(catalogue, name, facts.clock.sys_hz, sha256, about, seen, found, kernel_figures))
    missing = kernel_figures.missing if asked and kernel_figures else {}
    if as_json:
        answer({**_as_json(name, found, tables, seen, after), **figures_as_json(compared, missing)})
    else:
        _show(found, tables, unexplained(seen, after))
        for benchmark, reason in missing.items():
            click.echo(f"No figure of {benchmark}: {reason}")
    return EXIT_OK


def _demand_same(kept: str, built: str) -> None:
    """Another image's rows lie elsewhere and take other times."""
    if kept != built:
        raise PlanError("The calibration was made with another image than today's; calibrate again.")


def _as_json(board: str, found: Fit, tables: list[Table], seen: Readings, after: Readings) -> dict[str, Any]:
    return {
        "board": board,
        "settings": dict(found.settings),
        "differs": [finding.key for finding in found.findings if finding.differs],
        "together": [{"rules": list(group.keys), "differs": group.differs} for group in found.groups],
        "before_cycles": found.before_cycles,
        "after_cycles": found.after_cycles,
        "slack_cycles": found.slack_cycles,
        "unexplained": unexplained(seen, after),
        **{table.name: table.as_json() for table in tables},
    }


def _show(found: Fit, tables: list[Table], left: dict[str, float]) -> None:
    console = PlainConsole()
    for table in tables:
        console.print(rich_table(table))
    if found.settings:
        words = " ".join(f"--config {key}={value}" for key, value in sorted(found.settings.items()))
        click.echo(f"As this board: rtoslab run ... {words}")
    for group in found.groups:
        rules = ", ".join(group.keys[:-1]) + " and " + group.keys[-1]
        says = "silicon refutes their defaults" if group.differs else "their defaults fit"
        click.echo(f"The rows tell {rules} apart only together: {says}.")
    if left:
        rows = ", ".join(f"{row} ({cycles:g})" for row, cycles in sorted(left.items()))
        click.echo(f"What no setting explains, in cycles: {rows}.")


def _say(text: str) -> None:
    click.echo(text, err=True)
