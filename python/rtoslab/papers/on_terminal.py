"""Paper beside here in the terminal: one line per published figure, one per statement."""

import textwrap
from collections import Counter
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rtoslab.analyses import OUTCOMES
from rtoslab.base import count_with_noun
from rtoslab.papers.in_setup import PaperSetupResults
from rtoslab.papers.over_placements import single_code_placement_note
from rtoslab.papers.reproduction import PaperReproduction
from rtoslab.papers.setup_report import (
    count_values_with_ratio_to_paper,
    setup_deviation_factors_from_paper,
    unmeasured_versions_sentences,
    verdict_changes_caused_by_setup,
)
from rtoslab.papers.tables import NONE, REFERENCE, REFERENCE_NOTE, ratio_to_paper_value_text, text_of_reproduced_value
from rtoslab.reports import contract_deviations_by_kernel, deviation_footnote

_SEEN_CHARS: Final = 180
"""The most characters of a statement's numbers that are shown. The report has all."""
_COLOURS = {"same": "green", "different": "red", "not computed": "dim"}
"""All others are yellow: open."""


def print_paper_reproduction(reproduction: PaperReproduction, console: Console) -> None:
    """Prints a paper's figures beside ours, and the verdicts on its statements."""
    here = [item for item in reproduction.compared.values() if item.state != "bring your own"]
    today = reproduction.today.compared if reproduction.today is not None else {}
    waiting = Counter(
        item.published.kernel for item in reproduction.compared.values() if item.state == "bring your own"
    )
    if here:
        names = {
            ident: name
            for part in reproduction.paper.facts.part
            for table in part.table
            for ident, name in table.names.items()
        }
        kernels = {item.published.kernel for item in here}
        table = Table("figure", title="The paper's figures and ours", title_justify="left")
        narrow = not any(item.band is not None or item.no_ratio for item in here)
        for name in ("paper", "here"):
            table.add_column(name, justify="right", no_wrap=narrow)
        table.add_column("unit", no_wrap=True)
        table.add_column("ratio", justify="right", no_wrap=narrow)
        if today:
            table.add_column("today", justify="right", no_wrap=narrow)
        for item in here:
            row = item.published
            name = (
                names.get(str(row.id), row.metric)
                + (f", {row.kernel}" if len(kernels) > 1 else "")
                + (f", {row.stat}" if row.stat else "")
            )
            today_row = today.get(row.id)
            further = (
                [
                    text_of_reproduced_value(today_row)
                    if today_row is not None and today_row.value != item.value
                    else NONE
                ]
                if today
                else []
            )
            table.add_row(
                name, row.value, text_of_reproduced_value(item), row.unit, ratio_to_paper_value_text(item), *further
            )
        console.print(table)
        if any(item.state == "reference" for item in here):
            console.print(f"{REFERENCE} {REFERENCE_NOTE}")
        if any(item.deviates for item in here):
            console.print(
                Text(deviation_footnote(contract_deviations_by_kernel(reproduction.list_measured_points))),
                soft_wrap=True,
            )
    for kernel, count in waiting.items():
        console.print(
            f"n/a: {count_with_noun(count, 'figure')} of {kernel}; add its sources with `rtoslab kernel tree add`."
        )
    _print_paper_statements(reproduction, console)
    _print_paper_setups(reproduction, console)


def _print_paper_statements(reproduction: PaperReproduction, console: Console) -> None:
    """Prints the paper's statements with our verdicts."""
    if reproduction.verdicts:
        claims = Table("the paper says", "here", "seen", title="Its statements", title_justify="left")
        for verdict in sorted(
            reproduction.verdicts, key=lambda verdict: OUTCOMES.index(verdict.outcome_of_all_statement_cases)
        ):
            outcome = Text(
                verdict.claim_outcome_with_count_text,
                style=_COLOURS.get(verdict.outcome_of_all_statement_cases, "yellow"),
            )
            seen = textwrap.shorten(verdict.text_of_compared_claim_numbers, _SEEN_CHARS, placeholder=" …")
            claims.add_row(f"{verdict.claim.says} ({verdict.claim.section})", outcome, seen)
        console.print(claims)
        console.print("report.html shows every case with its figures and thresholds.")
        if note := single_code_placement_note(reproduction.values):
            console.print(note)


def _print_paper_setups(reproduction: PaperReproduction, console: Console) -> None:
    """Prints a line for each set-up (other configuration) of the paper, with the statements that it changes."""
    for setup in (*([reproduction.today] if reproduction.today is not None else []), *reproduction.setups):
        console.print(_configuration_effect_sentence(reproduction, setup))
        for above, change in verdict_changes_caused_by_setup(reproduction, setup):
            seen = textwrap.shorten(change.text_of_compared_claim_numbers, _SEEN_CHARS, placeholder=" …")
            console.print(
                f"  {change.claim_outcome_with_count_text} instead of {above.claim_outcome_with_count_text}: "
                f"{above.claim.says} "
                f"({seen})"
            )
    for sentence in unmeasured_versions_sentences(reproduction):
        console.print(sentence, soft_wrap=True)


def _configuration_effect_sentence(reproduction: PaperReproduction, setup: PaperSetupResults) -> str:
    """Returns a sentence on how a set-up changes the paper's statements and figures."""
    text = f"Set-up {setup.setup.id} ({setup.setup.title}): "
    text += (
        f"{count_with_noun(len(verdict_changes_caused_by_setup(reproduction, setup)), 'statement')} with another result"
    )
    far = setup_deviation_factors_from_paper(reproduction, setup)
    if far is None:
        return f"{text}."
    before, after = far
    figures = count_with_noun(count_values_with_ratio_to_paper(setup.paper_values_changed_by_configuration()), "figure")
    factor = f"a factor of {after:.2f} instead of {before:.2f} (geometric mean)"
    return f"{text}; {figures} changed, which now differ from the paper's by {factor}."
