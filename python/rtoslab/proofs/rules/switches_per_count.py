"""The context switches that the test is named for really happened: so many per count, no more and no fewer."""

from rtoslab.proofs.evidence import Evidence, RuleParams, compare, finding, unseen
from rtoslab.results import Finding


class Params(RuleParams):
    """Keys of `rule = "switches_per_count"`."""

    ratio: float
    tolerance: int = 0


def judge(params: Params, evidence: Evidence) -> Finding:
    """Judges from the observed switches, those of the control task left out."""
    demands = f"{params.ratio:g} context switches per count"
    if evidence.observed is None:
        return unseen(params.rule, demands)
    problems: list[str] = []
    seen: list[str] = []
    for where, cores in evidence.parties:
        total = sum(evidence.switches(core).total() for core in cores)
        required = sum(map(evidence.count, cores)) * params.ratio
        text, agrees = compare(
            where, "context switches", total, required, params.tolerance * len(cores), evidence.slices
        )
        (seen if agrees else problems).append(text)
    return finding(params.rule, demands, problems, seen)
