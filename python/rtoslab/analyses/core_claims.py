"""Rules for claims on one core against several, benchmark by benchmark. Each gives an outcome and the numbers seen."""

from collections.abc import Callable, Sequence
from typing import Final

from rtoslab.analyses.counts_per_second import Gain
from rtoslab.analyses.value_claims import Judged, larger, worst
from rtoslab.base import all_of
from rtoslab.catalogue import Claim


def _name(pair: Gain) -> str:
    return pair.title.split()[0]


def _throughput_drops(_: Claim, pairs: Sequence[Gain]) -> Judged:
    """Less in total with the second core."""
    seen = ", ".join(f"{_name(each)} x {each.gain:.2f} in total" for each in pairs)
    return worst([larger(1, each.gain, 0) for each in pairs]), seen


def _per_core_drops(claim: Claim, pairs: Sequence[Gain]) -> Judged:
    """Less than `bound` of the single core's rate on each core."""
    seen = ", ".join(f"{_name(each)} {each.per_core:.0%} of the single core's rate per core" for each in pairs)
    return "same" if all(each.per_core < claim.bound for each in pairs) else "different", seen


def _gains_less(claim: Claim, pairs: Sequence[Gain]) -> Judged:
    """The first benchmark gains less than the second."""
    by_name = {each.benchmark: each for each in pairs}
    first, second = (by_name[name] for name in claim.benchmarks)
    seen = f"{_name(first)} x {first.gain:.2f}, {_name(second)} x {second.gain:.2f}"
    return larger(second.gain, first.gain, 0), seen


def _heap_grows(_: Claim, pairs: Sequence[Gain]) -> Judged:
    """The peak of the heap is higher with the second core."""
    peaks = []
    for each in pairs:
        one, many = each.one.point.heap, each.many.point.heap
        if one is None or many is None:
            return None, f"{_name(each)} reports no heap"
        peaks.append((_name(each), one.peak_bytes, many.peak_bytes))
    not_higher = [name for name, one, many in peaks if many <= one]
    low, high = min(many - one for _, one, many in peaks), max(many - one for _, one, many in peaks)
    seen = (
        f"not in {', '.join(not_higher)}"
        if not_higher
        else f"{low:+,} to {high:+,} bytes in {all_of(len(peaks), 'test')}"
    )
    return worst([larger(many, one, 0) for _, one, many in peaks]), seen


RULES: Final[dict[str, Callable[[Claim, Sequence[Gain]], Judged]]] = {
    "throughput_drops": _throughput_drops,
    "per_core_drops": _per_core_drops,
    "gains_less": _gains_less,
    "heap_grows": _heap_grows,
}
