"""`rtoslab list`: what can be measured."""

from typing import Any

import click
from rich.table import Table

from rtoslab.base import find_root
from rtoslab.catalogue import Catalogue, Kernel
from rtoslab.cli.ended import answer
from rtoslab.cli.plain import PlainConsole

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
        found[kind] = [_row(entry.id, entry.facts) for entry in entries]
    if as_json:
        answer(found, indent=2)
        return
    console = PlainConsole()
    for kind, rows in found.items():
        lacking = any("lacks" in row for row in rows)
        table = Table("id", "title", "about", *(["n/a"] if lacking else []), title=kind, title_justify="left")
        for row in rows:
            lacks = [f"{what}: {why}" for what, why in row.get("lacks", {}).items()]
            table.add_row(row["id"], row["title"], row["about"], *(["\n".join(lacks)] if lacking else []))
        console.print(table if rows else f"{kind}: none found")


def _row(ident: str, facts: Any) -> dict[str, Any]:
    row = {"id": ident, "title": facts.title, "about": _about(facts)}
    return {**row, "lacks": facts.lacks()} if isinstance(facts, Kernel) else row


def _about(facts: Any) -> str:
    for name in ("question", "paper", "chip", "package"):
        value = getattr(facts, name, None)
        if value:
            return str(value)
    return ""
