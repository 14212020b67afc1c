"""Checks that figures which the firmware stores in different places agree: the named checks of a core are all equal,
and not zero."""

from rtoslab.proofs.evidence import BenchmarkProofEvidence, BenchmarkProofParameters, make_judged_proof_finding
from rtoslab.results import BenchmarkProofFinding


class EqualSelfChecksProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `checks_equal` in benchmark.toml. The proof checks that the named self-checks of the
    firmware have the same value on a core, and that it is not zero."""

    checks: tuple[str, ...]
    tolerance: int = 0


def judge_evidence(params: EqualSelfChecksProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that the named self-checks of the firmware have the same value on a core, and that it is not zero."""
    problems: list[str] = []
    seen: list[str] = []
    for core in evidence.cores:
        values = evidence.firmware_self_check_values(core)
        missing = [name for name in params.checks if name not in values]
        if missing:
            problems.append(f"core {core}: {', '.join(missing)} not reported")
            continue
        checks = {name: values[name] for name in params.checks}
        text = f"core {core}: " + ", ".join(f"{name} = {value}" for name, value in checks.items())
        agrees = max(checks.values()) - min(checks.values()) <= params.tolerance and min(checks.values()) > 0
        (seen if agrees else problems).append(text)
    return make_judged_proof_finding(params.rule, f"{' and '.join(params.checks)} are equal", problems, seen)
