"""The undisturbed case is undisturbed: every call found its object free, the firmware never saw the object taken."""

from rtoslab.proofs.evidence import Evidence, finding, unseen
from rtoslab.proofs.rules import collisions
from rtoslab.results import Finding

Params = collisions.Params
watched = collisions.watched


def judge(params: Params, evidence: Evidence) -> Finding:
    """Judges like `collisions`, but demands none. `calls_per_count` proves that something was called at all."""
    demands = f"no call of {params.service} collides"
    text, probed, collisions_found = collisions.count_collisions(params, evidence)
    if probed is None and collisions_found is None:
        return unseen(params.rule, demands)
    return finding(params.rule, demands, [text] if probed or collisions_found else [], [text])
