"""Paper beside here in the terminal: one line per published figure, one per statement."""

from collections import Counter

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rtoslab.base import counted
from rtoslab.papers.over_placements import one_placement
from rtoslab.papers.reproduction import Reproduction
from rtoslab.papers.setup_report import changed, distances, missing_trees, with_ratio
from rtoslab.papers.setups import InSetup
from rtoslab.papers.tables import REFERENCE, REFERENCE_NOTE, here_text, ratio_text
from rtoslab.reports import deviating, footnote

_COLOURS = {"same": "green", "different": "red"}
"""All others are yellow: open."""


def show_paper(done: Reproduction, console: Console) -> None:
    """Prints the figures we have a kernel for, and the statements; says how many wait for a kernel of your own."""
    here = [each for each in done.compared.values() if each.state != "bring your own"]
    waiting = Counter(each.published.kernel for each in done.compared.values() if each.state == "bring your own")
    if here:
        names = {
            ident: name for part in done.paper.facts.part for table in part.table for ident, name in table.names.items()
        }
        kernels = {each.published.kernel for each in here}
        table = Table("figure", title="The paper's figures and ours", title_justify="left")
        narrow = not any(each.band is not None or each.no_ratio for each in here)
        for name in ("paper", "here"):
            table.add_column(name, justify="right", no_wrap=narrow)
        table.add_column("unit", no_wrap=True)
        table.add_column("ratio", justify="right", no_wrap=narrow)
        for each in here:
            row = each.published
            name = (
                names.get(str(row.id), row.metric)
                + (f", {row.kernel}" if len(kernels) > 1 else "")
                + (f", {row.stat}" if row.stat else "")
            )
            table.add_row(name, row.value, here_text(each), row.unit, ratio_text(each))
        console.print(table)
        if any(each.state == "reference" for each in here):
            console.print(f"{REFERENCE} {REFERENCE_NOTE}")
        if any(each.deviates for each in here):
            console.print(Text(footnote(deviating(done.measured))), soft_wrap=True)
    for kernel, count in waiting.items():
        console.print(
            f"n/a: {counted(count, 'figure')} of {kernel}; name a tree or an export of it by `rtoslab tree add`."
        )
    if done.verdicts:
        claims = Table("section", "the paper says", "here", "seen", title="Its statements", title_justify="left")
        for verdict in done.verdicts:
            outcome = Text(verdict.outcome, style=_COLOURS.get(verdict.outcome, "yellow"))
            by = f" ({verdict.threshold})" if verdict.threshold else ""
            claims.add_row(verdict.claim.section, verdict.claim.says + by, outcome, verdict.seen)
        console.print(claims)
        if note := one_placement(done.values):
            console.print(note)
    _show_setups(done, console)


def _show_setups(done: Reproduction, console: Console) -> None:
    for setup in done.setups:
        console.print(_setup_line(done, setup))
        for above, there in changed(done, setup):
            console.print(f"  {there.outcome}, above {above.outcome}: {above.claim.says} ({there.seen})")
    for sentence in missing_trees(done):
        console.print(f"Set-up {sentence}", soft_wrap=True)


def _setup_line(done: Reproduction, setup: InSetup) -> str:
    said = f"Set-up {setup.setup.id} ({setup.setup.title}): "
    said += f"{counted(len(changed(done, setup)), 'statement')} judged otherwise"
    far = distances(done, setup)
    if far is None:
        return f"{said}."
    before, after = far
    figures = counted(with_ratio(setup.own()), "figure")
    return f"{said}; {figures}, a factor of {after:.2f} from the paper's, above {before:.2f} (geometric mean)."
