"""The opening paragraph: what was found."""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Final

from rtoslab.analyses import Band, Gain, Places, Ratio, lock_waits, shares, short_test
from rtoslab.base import counted
from rtoslab.reports.proof_words import proof_words
from rtoslab.reports.table import banded
from rtoslab.results import Failed, Measured, NotApplicable

_SHARE: Final = "{:.0%}".format


def summary(
    measured: Sequence[Measured],
    places: Places,
    pairs: list[Gain],
    failed: Sequence[Failed],
    missing: Sequence[NotApplicable],
) -> str:
    """One paragraph: what was found. `pairs` are of the points that stand for all their placements."""
    tests = list(dict.fromkeys(each.point.title for each in measured))
    sentences = ["No point was measured."]
    if measured:
        done = f"{counted(len(measured), 'point')} of {counted(len(tests), 'test', 'was', 'were')} measured"
        sentences = [f"{done}; {proof_words(measured, ' that the tests did what their names say')}."]
    if pairs:
        sentences += [_gain_sentence(pairs, places), _lock_sentence(pairs, places), _heap_sentence(pairs, places)]
    if failed:
        sentences.append(f"{counted(len(failed), 'point', 'failed and gives', 'failed and give')} no number.")
    if missing:
        sentences.append(f"{counted(len(missing), 'point', 'does', 'do')} not apply.")
    return " ".join(sentence for sentence in sentences if sentence)


def _gain_sentence(pairs: list[Gain], places: Places) -> str:
    found = [(short_test(each.many.point.point), places.gain(each)) for each in pairs]
    verbs = {
        "raises": [(test, gain) for test, gain in found if gain.is_claimed and gain.value > 1],
        "lowers": [(test, gain) for test, gain in found if gain.is_claimed and gain.value < 1],
        "changes by no more than the place of the code does": [each for each in found if each[1].is_placement],
        "leaves as it was": [each for each in found if each[1].value == 1],
    }
    told = [(verb, each) for verb, each in verbs.items() if each]
    parts = [
        f"{verb} the total throughput of {', '.join(f'{test} ({_times(gain)})' for test, gain in each)}"
        for verb, each in told
    ]
    alone = "" if places.are_several else ", in one placement each"
    return f"The second core {' and '.join(parts)}{alone}."


def _times(gain: Ratio) -> str:
    return banded(gain, "x {:.2f}".format).replace(" (", ", ").removesuffix(")")


def _lock_sentence(pairs: list[Gain], places: Places) -> str:
    cores = [(each.many.point, share.core) for each in pairs for share in shares(each.many.point)]
    waiting = [(_part(lock_waits, point, core, places), point, core) for point, core in cores]
    worst = max(waiting, key=lambda each: each[0].median, default=None)
    if worst is None or worst[0].median < 0.01:
        return ""
    part, point, core = worst
    bus = _part(itemgetter("bus wait"), point, core, places)
    return (
        f"Most waiting for locks is seen in {short_test(point.point)}, where core {core} spends "
        f"{banded(part, _SHARE)} of its cycles waiting for them and {banded(bus, _SHARE)} waiting for the bus."
    )


def _part(of_parts: Callable[[Mapping[str, float]], float], point: Measured, core: int, places: Places) -> Band:
    def of(placed: Measured) -> float:
        share = next(each for each in shares(placed) if each.core == core)
        return of_parts(share.parts) / share.cycles

    return places.band(point, of)


def _heap_sentence(pairs: list[Gain], places: Places) -> str:
    heaps = [
        [places.band(one.point, lambda each: each.heap.peak_bytes if each.heap else 0) for one in (pair.many, pair.one)]
        for pair in pairs
        if pair.one.point.heap and pair.many.point.heap
    ]
    all_grown = [many.less(one) for many, one in heaps]
    grown = [each for each in all_grown if each.least == each.most or not each.least <= 0 <= each.most]
    if not grown:
        return ""
    least, most = min(each.least for each in grown), max(each.most for each in grown)
    by = f"{least:,.0f}" if least == most else f"{least:,.0f} to {most:,.0f}"
    return f"The heap's peak grows by {by} bytes with the second core."
