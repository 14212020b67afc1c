"""What a report rests on: how much was measured, what was proved, what has no number."""

from collections.abc import Sequence

from rtoslab.base import counted
from rtoslab.reports.proof_words import proof_words
from rtoslab.results import Failed, Measured, NotApplicable


def summary(measured: Sequence[Measured], failed: Sequence[Failed], missing: Sequence[NotApplicable]) -> str:
    """One paragraph."""
    tests = list(dict.fromkeys(result.point.title for result in measured))
    sentences = ["No point was measured."]
    if measured:
        done = f"{counted(len(measured), 'point')} of {counted(len(tests), 'test', 'was', 'were')} measured"
        sentences = [f"{done}; {proof_words(measured, ' that the tests did what their names say')}."]
    if failed:
        sentences.append(f"{counted(len(failed), 'point', 'failed and gives', 'failed and give')} no number.")
    if missing:
        sentences.append(f"{counted(len(missing), 'point', 'does', 'do')} not apply.")
    return " ".join(sentences)
