"""The opening paragraph: what was found."""

from collections.abc import Sequence

from rtoslab.analyses import Gain, gains, shares, short_test
from rtoslab.base import counted
from rtoslab.reports.proof_words import proof_words
from rtoslab.results import Failed, Measured, NotApplicable


def summary(measured: Sequence[Measured], failed: Sequence[Failed], missing: Sequence[NotApplicable]) -> str:
    """One paragraph: what was found."""
    tests = list(dict.fromkeys(each.point.title for each in measured))
    sentences = ["No point was measured."]
    if measured:
        done = f"{counted(len(measured), 'point')} of {counted(len(tests), 'test', 'was', 'were')} measured"
        sentences = [f"{done}; {proof_words(measured, ' that the tests did what their names say')}."]
    pairs = gains(measured)
    if pairs:
        sentences.append(_gain_sentence(pairs))
        sentences.append(_lock_sentence(pairs))
    grown = [
        (each.many.point.heap.peak_bytes - each.one.point.heap.peak_bytes)
        for each in pairs
        if each.one.point.heap and each.many.point.heap
    ]
    if grown:
        sentences.append(
            f"The heap's peak grows by {min(grown):,} to {max(grown):,} bytes with the second core."
            if min(grown) != max(grown)
            else f"The heap's peak grows by {min(grown):,} bytes with the second core."
        )
    if failed:
        sentences.append(f"{counted(len(failed), 'point', 'failed and gives', 'failed and give')} no number.")
    if missing:
        sentences.append(f"{counted(len(missing), 'point', 'does', 'do')} not apply.")
    return " ".join(sentence for sentence in sentences if sentence)


def _gain_sentence(pairs: list[Gain]) -> str:
    up = [each for each in pairs if each.gain > 1]
    down = [each for each in pairs if each.gain <= 1]
    parts = []
    if up:
        parts.append(
            "the second core raises the total throughput of "
            + ", ".join(f"{short_test(each.many.point.point)} (x {each.gain:.2f})" for each in up)
        )
    if down:
        parts.append(
            ("lowers" if up else "the second core lowers")
            + " the total throughput of "
            + ", ".join(f"{short_test(each.many.point.point)} (x {each.gain:.2f})" for each in down)
        )
    text = " and ".join(parts) + "."
    return text[0].upper() + text[1:]


def _lock_sentence(pairs: list[Gain]) -> str:
    worst = None
    for each in pairs:
        for share in shares(each.many.point):
            part = share.parts["spinlock wait"] / share.cycles
            if worst is None or part > worst[0]:
                worst = (part, share)
    if worst is None or worst[0] < 0.01:
        return ""
    part, share = worst
    bus = share.parts["bus wait"] / share.cycles
    return (
        f"Most waiting for spinlocks is seen in {short_test(share.point.point)}, where core {share.core} spends "
        f"{part:.0%} of its cycles spinning and {bus:.0%} waiting for the bus."
    )
