"""Checks that the undisturbed case is undisturbed: every call found its object free, and the firmware never saw it
taken."""

from rtoslab.proofs.evidence import BenchmarkProofEvidence, make_judged_proof_finding, make_unjudged_proof_finding
from rtoslab.proofs.rules import collisions
from rtoslab.results import BenchmarkProofFinding

NoCollisionsParameters = collisions.CollisionsParameters
find_watched_services = collisions.find_watched_services


def judge_evidence(params: NoCollisionsParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that no call of a service collided: each found its object free."""
    demands = f"no call of {params.service} collides"
    text, probed, collisions_found = collisions.count_collisions(params, evidence)
    if probed is None and collisions_found is None:
        return make_unjudged_proof_finding(params.rule, demands)
    return make_judged_proof_finding(params.rule, demands, [text] if probed or collisions_found else [], [text])
