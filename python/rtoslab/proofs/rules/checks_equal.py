"""Figures that the firmware keeps in different places agree: the named checks of a core are all equal, and not zero."""

from rtoslab.proofs.evidence import Evidence, RuleParams, finding
from rtoslab.results import Finding


class Params(RuleParams):
    """Keys of `rule = "checks_equal"`."""

    checks: tuple[str, ...]
    tolerance: int = 0


def judge(params: Params, evidence: Evidence) -> Finding:
    """From the firmware's check records."""
    problems: list[str] = []
    seen: list[str] = []
    for core in evidence.cores:
        values = evidence.checks(core)
        missing = [name for name in params.checks if name not in values]
        if missing:
            problems.append(f"core {core}: {', '.join(missing)} not reported")
            continue
        found = {name: values[name] for name in params.checks}
        text = f"core {core}: " + ", ".join(f"{name} = {value}" for name, value in found.items())
        agrees = max(found.values()) - min(found.values()) <= params.tolerance and min(found.values()) > 0
        (seen if agrees else problems).append(text)
    return finding(params.rule, f"{' and '.join(params.checks)} are equal", problems, seen)
