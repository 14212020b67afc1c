"""Checks that the stress between two kernels is as requested: each image took the lock as often as its role says, and
sometimes both wanted it at the same time.

The target on core 0 takes it in each round, the stress task on core 1 in the stated share of its iterations. The
records of both images are evidence for each of them: a target beside a stress task that did nothing shows nothing."""

from math import sqrt

from rtoslab.proofs.draws import is_access_count_plausible
from rtoslab.proofs.evidence import (
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.records import DecodedRun
from rtoslab.results import BenchmarkProofFinding

_EDGE = 2
"""Accesses at the edges of the window."""


class KernelPairStressProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `pair_stress` in benchmark.toml. The proof checks that, of two kernels on two cores,
    the target took the shared lock in each round and the stress task in the requested share of its iterations."""

    percent: str
    """The parameter with the requested share."""
    accesses: str
    """The check record with the accesses of an image in its window."""
    found: str
    """The check record with the accesses that did not get the lock at once."""
    seed: str | None = None
    """The parameter from which the stress task draws. None: the draws are not computed again."""
    deviations: float = 4
    """By how many standard deviations of independent draws the share may be missed."""


def judge_evidence(params: KernelPairStressProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that, of two kernels on two cores, the target took the shared lock in each round and the stress task in
    the requested share of its iterations."""
    required = int(evidence.decoded.params[params.percent])
    demands = f"the target takes the lock in each round, and the stress task in {required} % of its iterations"
    if evidence.beside is None:
        return make_unjudged_proof_finding(params.rule, demands, "no other kernel ran")
    runs = [evidence.decoded, evidence.beside]
    target, stress = runs if evidence.settings.get("core") == "0" else runs[::-1]
    problems: list[str] = []
    seen: list[str] = []
    for name, run, percent in (("target", target, 100), ("stress task", stress, required)):
        draws = sum(count.count_in_window for count in run.counts)
        accesses = _value_of_firmware_self_check(run, params.accesses)
        text = f"{name}: {accesses} accesses in {draws} rounds"
        spread = sqrt(draws * percent * (100 - percent)) / 100
        good = abs(accesses - draws * percent / 100) <= params.deviations * spread + _EDGE
        if params.seed is not None:
            good = good and is_access_count_plausible(int(run.params[params.seed]), percent, draws, accesses, _EDGE)
        (seen if good and draws else problems).append(text)
    collisions = sum(_value_of_firmware_self_check(run, params.found) for run in runs)
    text = f"{collisions} found the lock taken"
    (seen if bool(collisions) == bool(required) else problems).append(text)
    return make_judged_proof_finding(params.rule, demands, problems, seen)


def _value_of_firmware_self_check(run: DecodedRun, name: str) -> int:
    """Returns the value of a self-check that an image reported, -1 if it did not."""
    return next((check.value for check in run.checks if check.name == name), -1)
