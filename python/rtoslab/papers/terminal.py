"""Paper beside here in the terminal: one line per published figure, one per statement."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rtoslab.papers.reproduction import Reproduction
from rtoslab.papers.tables import here_text, ratio_text

_COLOURS = {"same": "green", "different": "red", "not computed": "yellow", "bring your own": "yellow"}


def show(done: Reproduction, console: Console) -> None:
    """Prints both tables; one that is empty is left out."""
    compared, verdicts = done.compared, done.verdicts
    if compared:
        figures = Table("figure", "kernel", "board", title="The paper's figures and ours", title_justify="left")
        for name in ("paper", "here", "ratio"):
            figures.add_column(name, justify="right", no_wrap=name != "here")
        figures.add_column("unit")
        for each in compared.values():
            row = each.published
            name = ", ".join(part for part in (row.metric, row.stat) if part)
            figures.add_row(
                escape(name), row.kernel, row.lab_board, row.value, here_text(each), ratio_text(each), row.unit
            )
        console.print(figures)
    if verdicts:
        claims = Table("section", "the paper says", "here", "seen", title="Its statements", title_justify="left")
        for verdict in verdicts:
            outcome = f"[{_COLOURS[verdict.outcome]}]{verdict.outcome}[/]"
            claims.add_row(verdict.claim.section, escape(verdict.claim.says), outcome, escape(verdict.seen))
        console.print(claims)
