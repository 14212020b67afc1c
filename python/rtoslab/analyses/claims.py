"""What a paper says of its figures, computed again from a run: same, different, a tie, or not to be told, and why.

Two families of rules: on one core against several (`core_claims`), and on values picked by their axes
(`value_claims`). Every verdict says what it was judged by.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from rtoslab.analyses import core_claims, value_claims
from rtoslab.analyses.axis_values import Value, axis_of_point, select, values
from rtoslab.analyses.counts_per_second import Gain, gains
from rtoslab.analyses.value_claims import Judged, Picked, worst
from rtoslab.catalogue import TIMED, Claim, Resolution
from rtoslab.results import Measured

Outcome = Literal["same", "different", "placement", "tie", "not computed", "bring your own"]
"""placement: some placements of the code bear the statement out, others do not."""
TOLD: tuple[Outcome, ...] = ("different", "placement", "tie", "same")
"""Outcomes of what this run could tell, the contradicted first."""


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """One statement of a paper against this run."""

    claim: Claim
    outcome: Outcome
    seen: str
    threshold: str = ""
    """What it was judged by, and where that comes from; empty: nothing but the order of the numbers."""


def judge_claims(
    claims: Iterable[Claim],
    points: Iterable[Measured],
    kernels: Collection[str] | None = None,
    further: Sequence[Value] = (),
    resolution: Resolution | None = None,
) -> list[ClaimVerdict]:
    """One verdict per claim. `kernels` are those this checkout has; None: no claim waits for one.

    `further` are values that are of no point; `resolution` is that of the paper's instrument, None: exact.
    """
    measured = list(points)
    pairs = gains(measured)
    found = [*values(measured), *further]
    exact = resolution or Resolution(seconds=0, source="")
    return [_judge(claim, pairs, found, kernels, exact) for claim in claims]


def _judge(
    claim: Claim, pairs: list[Gain], found: list[Value], kernels: Collection[str] | None, resolution: Resolution
) -> ClaimVerdict:
    threshold = _threshold(claim, resolution)
    lacking = [each for each in claim.needs if kernels is not None and each not in kernels]
    if lacking:
        why = f"needs {', '.join(lacking)}: no tree of it is named here"
        return ClaimVerdict(claim, "bring your own", why, threshold)
    if claim.kind in value_claims.RULES:
        told, seen = _everywhere(claim, found, resolution.seconds)
    else:
        told, seen = _by_cores(claim, pairs)
    return ClaimVerdict(claim, told or "not computed", seen, threshold)


def _everywhere(claim: Claim, found: list[Value], resolution_s: float) -> Judged:
    """At every place of `at`, and together."""
    judged: list[Judged] = []
    for place in claim.at or ({},):
        common = {**claim.where, **place}
        picked = [Picked(where, select(found, {**common, **where})) for where in claim.of or ({},)]
        told, seen = value_claims.RULES[claim.kind](claim, picked, resolution_s)
        if told is None:
            return None, seen
        judged.append((told, f"{', '.join(str(each) for each in place.values())}: {seen}" if place else seen))
    return worst([told for told, _ in judged if told is not None]), "; ".join(seen for _, seen in judged)


def _threshold(claim: Claim, resolution: Resolution) -> str:
    words = [f"{claim.bound:g}: {claim.bound_from}"] if claim.bound_from else []
    if claim.kind in TIMED and resolution.seconds:
        words.append(f"no difference up to {resolution.seconds * 1e9:g} ns: {resolution.source}")
    return "; ".join(words)


def _by_cores(claim: Claim, every: list[Gain]) -> Judged:
    pairs = [each for each in every if each.benchmark in claim.benchmarks and _lies(each, claim)]
    if {each.benchmark for each in pairs} != set(claim.benchmarks):
        return None, "one core and two were not both measured"
    return core_claims.RULES[claim.kind](claim, pairs)


def _lies(pair: Gain, claim: Claim) -> bool:
    """Whether the pair was measured as `where` says, by the kernel and keys of `--config`."""
    point = pair.many.point
    return all(axis_of_point(point.point, point.params, key) == str(wanted) for key, wanted in claim.where.items())
