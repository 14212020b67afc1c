"""What a paper says of its figures, computed again from a run: same, different, or not to be told, and why.

Two families of rules: on one core against several (by benchmark), and on values picked by their axes.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from rtoslab.analyses.throughput import Gain, gains
from rtoslab.analyses.value_claims import RULES, Picked
from rtoslab.analyses.values import Value, select, values
from rtoslab.results import Measured
from rtoslab.suites import Claim

Outcome = Literal["same", "different", "not computed", "bring your own"]


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """One statement of a paper against this run."""

    claim: Claim
    outcome: Outcome
    seen: str


def judge_claims(
    claims: Iterable[Claim],
    points: Iterable[Measured],
    kernels: Collection[str] | None = None,
    further: Sequence[Value] = (),
) -> list[ClaimVerdict]:
    """One verdict per claim. `kernels` are those this checkout has; None: no claim waits for one.

    `further` are values that are of no point.
    """
    measured = list(points)
    pairs = gains(measured)
    found = [*values(measured), *further]
    return [_judge(claim, pairs, found, kernels) for claim in claims]


def _judge(claim: Claim, pairs: list[Gain], found: list[Value], kernels: Collection[str] | None) -> ClaimVerdict:
    lacking = [each for each in claim.needs if kernels is not None and each not in kernels]
    if lacking:
        return ClaimVerdict(claim, "bring your own", f"needs {', '.join(lacking)}, not in firmware/kernels/")
    if claim.kind in RULES:
        picked = [Picked(where, select(found, {**claim.where, **where})) for where in claim.of or ({},)]
        holds, seen = RULES[claim.kind](claim, picked)
    else:
        holds, seen = _by_cores(claim, pairs)
    if holds is None:
        return ClaimVerdict(claim, "not computed", seen)
    return ClaimVerdict(claim, "same" if holds else "different", seen)


def _by_cores(claim: Claim, every: list[Gain]) -> tuple[bool | None, str]:
    pairs = [each for each in every if each.benchmark in claim.benchmarks and _lies(each, claim)]
    if {each.benchmark for each in pairs} != set(claim.benchmarks):
        return None, "one core and two were not both measured"
    return _RULES[claim.kind](claim, pairs)


def _lies(pair: Gain, claim: Claim) -> bool:
    """Whether the pair was measured as `where` says, by keys of `--config`."""
    params, config = pair.many.point.params, pair.many.point.point.config
    return all(
        config.get(key, params.get(key.removeprefix("param."))) == str(wanted) for key, wanted in claim.where.items()
    )


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
