"""A paper's published orderings, computed again from a run: same, different, or not to be told."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from rtoslab.analyses.throughput import Gain, gains
from rtoslab.results import Measured
from rtoslab.suites import Claim

Outcome = Literal["same", "different", "not computed"]


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """One published ordering against this run."""

    claim: Claim
    outcome: Outcome
    seen: str


def judge_claims(claims: Iterable[Claim], points: Iterable[Measured]) -> list[ClaimVerdict]:
    """One verdict per claim and, if the run has several kernels or boards, for each of them together."""
    measured = list(points)
    pairs = gains(measured)
    return [_judge(claim, [each for each in pairs if each.benchmark in claim.benchmarks]) for claim in claims]


def _judge(claim: Claim, pairs: list[Gain]) -> ClaimVerdict:
    if {each.benchmark for each in pairs} != set(claim.benchmarks):
        return ClaimVerdict(claim, "not computed", "one core and two were not both measured")
    holds, seen = _RULES[claim.kind](claim, pairs)
    if holds is None:
        return ClaimVerdict(claim, "not computed", seen)
    return ClaimVerdict(claim, "same" if holds else "different", seen)


def _name(pair: Gain) -> str:
    return pair.title.split()[0]


def _throughput_drops(_claim: Claim, pairs: list[Gain]) -> tuple[bool | None, str]:
    return all(each.gain < 1 for each in pairs), ", ".join(
        f"{_name(each)} x {each.gain:.2f} in total" for each in pairs
    )


def _per_core_drops(_claim: Claim, pairs: list[Gain]) -> tuple[bool | None, str]:
    sharp = 0.8  # the paper says "sharp" without a figure; a fifth less per core is taken for it
    seen = ", ".join(f"{_name(each)} {each.per_core:.0%} of the single core's rate per core" for each in pairs)
    return all(each.per_core < sharp for each in pairs), seen


def _gains_less(claim: Claim, pairs: list[Gain]) -> tuple[bool | None, str]:
    by_name = {each.benchmark: each for each in pairs}
    first, second = (by_name[name] for name in claim.benchmarks)
    return first.gain < second.gain, f"{_name(first)} x {first.gain:.2f}, {_name(second)} x {second.gain:.2f}"


def _heap_grows(_claim: Claim, pairs: list[Gain]) -> tuple[bool | None, str]:
    peaks = []
    for each in pairs:
        one, many = each.one.point.heap, each.many.point.heap
        if one is None or many is None:
            return None, f"{_name(each)} reports no heap"
        peaks.append((_name(each), one.peak_bytes, many.peak_bytes))
    smaller = [name for name, one, many in peaks if many <= one]
    low, high = min(many - one for _, one, many in peaks), max(many - one for _, one, many in peaks)
    seen = f"not in {', '.join(smaller)}" if smaller else f"{low:+,} to {high:+,} bytes in all {len(peaks)} tests"
    return not smaller, seen


_RULES = {
    "throughput_drops": _throughput_drops,
    "per_core_drops": _per_core_drops,
    "gains_less": _gains_less,
    "heap_grows": _heap_grows,
}
