"""The basis of a report: how much was measured, which proofs hold, which points have no number."""

from collections.abc import Sequence

from rtoslab.base import count_with_noun
from rtoslab.reports.proof_words import successful_proof_count_clause
from rtoslab.results import FailedMeasurement, MeasuredPoint, NotApplicableMeasurement


def measurement_report_summary_text(
    measured: Sequence[MeasuredPoint], failed: Sequence[FailedMeasurement], missing: Sequence[NotApplicableMeasurement]
) -> str:
    """Returns the report's summary: how much was measured, which proofs hold, which points have no number."""
    tests = list(dict.fromkeys(result.point.title for result in measured))
    sentences = ["No point was measured."]
    if measured:
        verb = "was" if len(measured) == 1 else "were"
        done = f"{count_with_noun(len(measured), 'point')} of {count_with_noun(len(tests), 'test')} {verb} measured"
        sentences = [f"{done}; {successful_proof_count_clause(measured, ' that the tests did what their names say')}."]
    if failed:
        sentences.append(f"{count_with_noun(len(failed), 'point', 'failed and gives', 'failed and give')} no figure.")
    if missing:
        sentences.append(f"{count_with_noun(len(missing), 'point', 'does', 'do')} not apply.")
    return " ".join(sentences)
