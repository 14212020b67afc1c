"""`rtoslab list`: what can be measured."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from rtoslab.base import PlanError, find_checkout_root
from rtoslab.catalogue import RESULT_KINDS, Catalogue, CatalogueEntry, Kernel, SourceTree
from rtoslab.cli.choices import bench_option
from rtoslab.cli.console import PlainConsole
from rtoslab.cli.early_end import print_json_answer

KINDS = ("kernels", "boards", "benchmarks", "suites")
_TARGETS = "targets"


@click.command("list")
@click.argument("kinds", nargs=-1, type=click.Choice((*KINDS, _TARGETS)))
@bench_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def list_command(kinds: tuple[str, ...], bench: Path | None, as_json: bool) -> None:
    """List kernels, boards, benchmarks and suites, or only those that you name.

    `rtoslab list kernels` also shows the services that each kernel lacks, and why. `rtoslab list boards` also shows how
    well the timing rules of each virtual board are confirmed (docs/accuracy.md).

    `rtoslab list targets` shows the connected probes and real boards, and the installed programs that can flash through
    them. With --bench, it shows whether each target of the hardware map is connected. Nothing is flashed or reset.
    """
    if _TARGETS in kinds or bench is not None:
        if kinds != (_TARGETS,):
            raise PlanError("Connected boards are listed alone; run `rtoslab list targets`.")
        from rtoslab.cli.list_targets import print_connected_targets  # noqa: PLC0415 (other lists need no real board)

        print_connected_targets(Catalogue(find_checkout_root()), bench, as_json=as_json)
        return
    catalogue = Catalogue(find_checkout_root())
    listing: dict[str, list[dict[str, Any]]] = {}
    for kind in kinds or KINDS:
        entries = getattr(catalogue, kind).values()
        listing[kind] = [_catalogue_entry_as_json(entry) for entry in entries]
    if "boards" in kinds:
        from rtoslab.calibrate import timing_setting_confidence_grades  # noqa: PLC0415 (half of the time that other lists take)

        for row in listing["boards"]:
            row["grades"] = dict(timing_setting_confidence_grades(catalogue, row["id"]))
    if as_json:
        print_json_answer(listing, indent=2)
        return
    _print_catalogue_lists(catalogue, listing, lacking=bool(kinds))


def _print_catalogue_lists(catalogue: Catalogue, listing: Mapping[str, list[dict[str, Any]]], *, lacking: bool) -> None:
    """Prints the lists of kernels, boards, benchmarks and suites.
    `lacking`: also the services that each kernel lacks.
    """
    console = PlainConsole()
    for kind, rows in listing.items():
        table = Table("id", "title", "about", title=kind, title_justify="left")
        for row in rows:
            table.add_row(row["id"], row["title"], row["about"])
        console.print(table if rows else f"{kind}: none found")
        if kind == "suites":
            console.print(_benchmark_group_names_table(catalogue))
        if rows and "grades" in rows[0]:
            console.print(_timing_setting_confidence_table(rows))
        for row in rows if lacking else ():
            if row.get("lacks"):
                console.print(_missing_services_table(row))


def _benchmark_group_names_table(catalogue: Catalogue) -> Table:
    """Returns a table of the names that stand for a group of benchmarks, with their members."""
    table = Table("id", "benchmarks", title="groups", title_justify="left")
    for kind in RESULT_KINDS:
        names = [benchmark.id for benchmark in catalogue.benchmarks.values() if benchmark.facts.kind == kind]
        table.add_row(kind, f"all with {kind}: {', '.join(names)}")
    return table


def _timing_setting_confidence_table(rows: list[dict[str, Any]]) -> Table:
    """Returns a table of how many timing settings of each board are known how well (by grade).

    A board without silicon.json has none graded `silicon`.
    """
    counts = {row["id"]: Counter(row["grades"].values()) for row in rows}
    names = sorted({"silicon", *(grade for count in counts.values() for grade in count)})
    table = Table("board", *names, title="timing settings by grade", title_justify="left")
    for ident, item in counts.items():
        table.add_row(ident, *(str(item[name]) for name in names))
    return table


def _missing_services_table(row: dict[str, Any]) -> Table:
    """Returns a table of the services that a kernel does not have, with the reasons. `row`: the kernel's JSON
    object."""
    table = Table("service", "reason", title=f"{row['title']} lacks", title_justify="left")
    for service, why in row["lacks"].items():
        table.add_row(service, why)
    return table


def _catalogue_entry_as_json(entry: CatalogueEntry[Any]) -> dict[str, Any]:
    """Returns a kernel, board, benchmark or suite as a JSON object."""
    facts = entry.facts
    if isinstance(facts, Kernel):
        return {
            "id": entry.id,
            "title": facts.title,
            "about": _kernel_source_origin(facts, entry.tree),
            "lacks": facts.reasons_by_missing_kernel_service(),
        }
    return {"id": entry.id, "title": facts.title, "about": _catalogue_entry_summary(facts)}


def _catalogue_entry_summary(facts: Any) -> str:
    """Returns what a benchmark asks, which paper a suite follows, or which chip a board has. Empty for others."""
    for name in ("question", "paper", "chip"):
        value = getattr(facts, name, None)
        if value:
            return str(value)
    return ""


def _kernel_source_origin(facts: Kernel, tree: SourceTree | None) -> str:
    """Returns where a kernel's sources come from, as a phrase."""
    if tree is not None:
        return f"tree {tree.path}"
    if facts.package:
        return f"package {facts.package} {facts.version}"
    if facts.export:
        return "an export of its own build system (rtoslab kernel files)"
    return "a source tree that you add (rtoslab kernel tree add)" if facts.tree else "its own folder"
