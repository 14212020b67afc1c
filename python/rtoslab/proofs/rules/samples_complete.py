"""Every series has as many samples as were asked for, and the image's intervals came in order, one sample each."""

from rtoslab.proofs.evidence import Evidence, RuleParams, finding, unseen
from rtoslab.results import Finding, readings, series_facts


class Params(RuleParams):
    """No keys; the rule holds for every latency benchmark."""


def judge(params: Params, evidence: Evidence) -> Finding:
    """From the instrument's samples and the observed marks."""
    demands = f"each series has {evidence.samples} samples, from intervals that do not overlap"
    observed = evidence.observed
    intervals = observed.intervals if observed else None
    if intervals is None and evidence.decoded.params.get("instrument") != "counter":
        return unseen(params.rule, demands)
    problems: list[str] = list(intervals.disorder[:3]) if intervals else []
    numbered = list(enumerate(series_facts(evidence.benchmark)))
    if intervals and evidence.decoded.params.get("instrument") == "pin":
        missing = len(intervals.intervals) - len(intervals.pulses)
        if not 0 <= missing <= 1:  # the window may close between the last interval's end and its edge
            problems.append(f"{len(intervals.pulses)} pulses of the pin for {len(intervals.intervals)} intervals")
    for number, facts in numbered:
        found = len(readings(evidence.decoded, observed, number, facts.id, evidence.samples))
        marked = min(len(intervals.of(number)), evidence.samples) if intervals else found
        if not found == marked == evidence.samples:
            problems.append(f"{facts.id}: {found} samples, {marked} intervals between marks")
    return finding(params.rule, demands, problems, [f"{len(numbered)} series of {evidence.samples} samples"])
