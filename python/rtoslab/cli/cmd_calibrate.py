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
from rtoslab.cli.choices import bench_option, target_option
from rtoslab.cli.ended import answer
from rtoslab.cli.names import CatalogueName
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
    about: str,
    output: Path | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Run micro-benchmarks on a real board and on the virtual one; find the timing rules that differ.

    Every rule with a setting (timing.*) gets the value that fits silicon best, and which others fit as well
    (docs/calibrate.md). Nothing is flashed without --board.
    """
    if (target is None) == (kept is None):
        raise PlanError("Name the real board with --target, or a kept calibration with --from.")
    catalogue = Catalogue(find_root())
    silicon = None if kept is None else read_silicon(kept)
    name = board or (silicon.board if silicon else None)
    table = read_table_of(catalogue)
    on_desk = {} if target is None else targets_of(catalogue, [name] if name else [], target, port, bench)
    assert name is not None
    facts = catalogue.board(name).facts
    built = calibration_image(catalogue, table, name, None)
    if dry_run:
        for each in on_desk.values():
            click.echo("\n".join(shown_commands(each, built.elf)))
        return EXIT_OK
    if silicon is None:
        seen = read_board(catalogue, table, built, on_desk[facts.id], _say)
    else:
        _demand_same(silicon.image_sha256, built.elf_sha256)
        seen = silicon.readings()
    runs = virtual_runs(catalogue, table, built, name)
    defaults = {key: each for key, each, _, _ in timing_settings(facts.chip) if key.startswith("timing.")}
    found = fit(table, seen, runs, defaults, _say)
    before, after = runs({}), runs(found.settings)
    tables = [findings_table(found, grades(catalogue, name)), rows_table(table, seen, before, after)]
    if output is not None:
        write_silicon(output, of_fit(catalogue, name, facts.clock.sys_hz, built.elf_sha256, about, seen, found))
    if as_json:
        answer(_as_json(name, found, tables, seen, after))
    else:
        _show(found, tables, unexplained(seen, after))
    return EXIT_OK


def _demand_same(kept: str, built: str) -> None:
    """Another image's rows lie elsewhere and take other times."""
    if kept != built:
        raise PlanError("The calibration was made with another image than today's; calibrate again.")


def _as_json(board: str, found: Fit, tables: list[Table], seen: Readings, after: Readings) -> dict[str, Any]:
    return {
        "board": board,
        "settings": dict(found.settings),
        "differs": [each.key for each in found.findings if each.differs],
        "together": [{"rules": list(each.keys), "differs": each.differs} for each in found.groups],
        "before_cycles": found.before_cycles,
        "after_cycles": found.after_cycles,
        "slack_cycles": found.slack_cycles,
        "unexplained": unexplained(seen, after),
        **{each.name: each.as_json() for each in tables},
    }


def _show(found: Fit, tables: list[Table], left: dict[str, float]) -> None:
    console = PlainConsole()
    for each in tables:
        console.print(rich_table(each))
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
