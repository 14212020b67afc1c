"""`rtoslab list`: what can be measured."""

import json
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from rtoslab.catalogue import Catalogue
from rtoslab.paths import find_root

KINDS = ("kernels", "boards", "benchmarks", "suites")


@click.command("list")
@click.argument("kinds", nargs=-1, type=click.Choice(KINDS))
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def command(kinds: tuple[str, ...], as_json: bool) -> None:
    """List kernels, boards, benchmarks and suites (all of them, or the KINDS named)."""
    catalogue = Catalogue(find_root())
    found: dict[str, list[dict[str, Any]]] = {}
    for kind in kinds or KINDS:
        entries = getattr(catalogue, kind).values()
        found[kind] = [{"id": entry.id, "title": entry.facts.title, "about": _about(entry.facts)} for entry in entries]
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    console = Console(highlight=False)
    for kind, rows in found.items():
        table = Table("id", "title", "about", title=kind, title_justify="left")
        for row in rows:
            table.add_row(row["id"], row["title"], row["about"])
        console.print(table if rows else f"{kind}: none found")


def _about(facts: Any) -> str:
    for name in ("question", "paper", "chip", "package"):
        value = getattr(facts, name, None)
        if value:
            return str(value)
    return ""
