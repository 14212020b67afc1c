"""Checks the firmware's own counts of errors: each named check was reported by every core, and is zero."""

from rtoslab.proofs.evidence import BenchmarkProofEvidence, BenchmarkProofParameters, make_judged_proof_finding
from rtoslab.results import BenchmarkProofFinding


class ChecksZeroParameters(BenchmarkProofParameters):
    """The parameters of the proof `checks_zero` in benchmark.toml. The proof checks that the named self-checks of the
    firmware (counts of errors) are zero on every core."""

    checks: tuple[str, ...]


def judge_evidence(params: ChecksZeroParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that the named self-checks of the firmware (counts of errors) are zero on every core."""
    problems = []
    for core in evidence.cores:
        values = evidence.firmware_self_check_values(core)
        for name in params.checks:
            if name not in values:
                problems.append(f"core {core}: {name} was not reported")
            elif values[name] != 0:
                problems.append(f"core {core}: {name} = {values[name]}")
    seen = [f"{', '.join(params.checks)} = 0 on {len(evidence.cores)} core(s)"]
    return make_judged_proof_finding(params.rule, f"{' and '.join(params.checks)} are zero", problems, seen)
