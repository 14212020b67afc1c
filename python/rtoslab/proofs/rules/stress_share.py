"""Checks that the stress is as requested: the stated share of the stress tasks' iterations accessed the object."""

from math import sqrt

from rtoslab.proofs.evidence import ProofEvidence, ProofParameters, make_proof_finding
from rtoslab.results import ProofFinding


class StressShareParameters(ProofParameters):
    """The parameters of the proof `stress_share` in benchmark.toml. The proof checks that the stress tasks accessed
    the object in the requested share of their iterations."""

    percent: str
    """The parameter with the requested share."""
    accesses: str
    """The check record with the accesses of a stress task in the window."""
    service: str
    """The service that an access calls once."""
    deviations: float = 4
    """By how many standard deviations of independent draws the share may be missed."""
    tolerance: int = 2
    """Accesses on the edges of the window."""


def judge_evidence(params: StressShareParameters, evidence: ProofEvidence) -> ProofFinding:
    """Checks that the stress tasks accessed the object in the requested share of their iterations, by the firmware's
    counters, and by calls if there are probes."""
    required = int(evidence.decoded.params[params.percent])
    demands = f"{required} % of the stress iterations, and nothing else there, call {params.service}"
    problems: list[str] = []
    seen: list[str] = []
    for core in set(evidence.cores) - set(evidence.metric_cores):
        draws = sum(count.count_in_window for count in evidence.decoded.counts if count.core == core)
        accesses = evidence.check_values(core).get(params.accesses)
        if accesses is None:
            problems.append(f"core {core}: {params.accesses} was not reported")
            continue
        text = f"core {core}: {accesses} accesses in {draws} iterations ({accesses / max(draws, 1):.2%})"
        spread = sqrt(draws * required * (100 - required)) / 100
        good = abs(accesses - draws * required / 100) <= params.deviations * spread + (
            params.tolerance if required else 0
        )
        if evidence.observed is not None:
            calls = evidence.observed.calls[core, params.service]
            text += f", {calls} calls"
            good = good and abs(calls - accesses) <= (params.tolerance if required else 0)
        (seen if good else problems).append(text)
    return make_proof_finding(params.rule, demands, problems, seen)
